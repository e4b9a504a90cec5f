#include "sm/occupancy.h"

#include "sm/shape.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

int wt_warps_of(int threads)
{
    return (threads + WT_WARP_SIZE - 1) / WT_WARP_SIZE;
}

int wt_warps_per_sm(const struct wt_limits *limits)
{
    return least(limits->warps_per_sm, limits->threads_per_sm / WT_WARP_SIZE);
}

int wt_most_registers(const struct wt_limits *limits)
{
    return limits->launch_registers_per_thread ? limits->launch_registers_per_thread
                                               : limits->registers_per_thread;
}

static int limit_by_warps(const struct wt_limits *limits, const struct wt_launch_needs *needs)
{
    if (needs->threads < 1 || needs->threads > limits->threads_per_block)
        return 0;
    return wt_warps_per_sm(limits) / wt_warps_of(needs->threads);
}

/* Registers belong to sub-cores. The hardware's check of a block against the per-block limit supposes that
 * all sub-cores take the same share, so it rounds the warps up. */
static int limit_by_registers_of(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                 int subcores, int granularity)
{
    int units = wt_launch_register_units(limits, needs);
    if (units == 0)
        return WT_UNLIMITED;
    int warps = wt_warps_of(needs->threads);
    long long counted_warps = (long long)(warps + granularity - 1) / granularity * granularity;
    if (counted_warps * units * limits->register_unit > limits->registers_per_block)
        return 0;
    int file = limits->registers_per_sm / subcores / limits->register_unit;
    return file / units * subcores / warps;
}

/* A kernel that cannot run on SMs of four sub-cores is run on no GPU of the family with two (cc 6.0), though
 * it would fit. */
static int limit_by_registers(const struct wt_limits *limits, const struct wt_launch_needs *needs)
{
    int registers = needs->registers_per_thread;
    if (registers < 0 || registers > wt_most_registers(limits) || needs->threads < 1)
        return 0;
    if (limits->subcores == 2 && limit_by_registers_of(limits, needs, 4, 4) == 0)
        return 0;
    return limit_by_registers_of(limits, needs, limits->subcores, limits->warp_granularity);
}

/* The configuration the shared-memory limit assumes: preferred, or the largest; at least one block's worth.
 */
static int assumed_configuration_kb(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                    int block_bytes)
{
    if (needs->carveout_kb == WT_CARVEOUT_DEFAULT)
        return limits->shared_bytes_per_sm / 1024;
    int preferred = wt_configuration_kb(limits, needs->carveout_kb * 1024);
    return preferred * 1024 >= block_bytes ? preferred : wt_configuration_kb(limits, block_bytes);
}

static int limit_by_shared(const struct wt_limits *limits, const struct wt_launch_needs *needs)
{
    int bytes = wt_launch_shared_bytes(limits, needs);
    if (needs->static_shared_bytes < 0 || needs->dynamic_shared_bytes < 0 ||
        bytes > limits->shared_bytes_per_block_opt_in + limits->shared_reserved_bytes)
        return 0;
    if (bytes == 0)
        return WT_UNLIMITED;
    int total = needs->carveout_kb == WT_CARVEOUT_DEFAULT
                    ? limits->shared_bytes_per_sm
                    : assumed_configuration_kb(limits, needs, bytes) * 1024;
    return total / bytes;
}

static int limit_by_barriers(const struct wt_limits *limits, const struct wt_launch_needs *needs)
{
    if (limits->barriers_per_sm == 0 || needs->barriers == 0)
        return WT_UNLIMITED;
    return needs->barriers < 0 ? 0 : limits->barriers_per_sm / needs->barriers;
}

int wt_occupancy_limit(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                       enum wt_resource resource)
{
    switch (resource) {
    case WT_RES_BLOCKS:
        return limits->blocks_per_sm;
    case WT_RES_WARPS:
        return limit_by_warps(limits, needs);
    case WT_RES_REGISTERS:
        return limit_by_registers(limits, needs);
    case WT_RES_SHARED_MEMORY:
        return limit_by_shared(limits, needs);
    case WT_RES_BARRIERS:
        return limit_by_barriers(limits, needs);
    case WT_RES_COUNT:
        break;
    }
    return WT_UNLIMITED;
}

/* Everything that follows from `limits`. */
static void conclude(struct wt_occupancy *out, const struct wt_limits *limits,
                     const struct wt_launch_needs *needs)
{
    out->blocks_per_sm = WT_UNLIMITED;
    for (int r = 0; r < WT_RES_COUNT; r++)
        out->blocks_per_sm = least(out->blocks_per_sm, out->limits[r]);
    for (int r = 0; r < WT_RES_COUNT; r++)
        out->limiter[r] = out->limits[r] == out->blocks_per_sm;
    out->warps_per_sm = out->blocks_per_sm * wt_warps_of(needs->threads);
    out->occupancy = (double)out->warps_per_sm / wt_warps_per_sm(limits);
}

enum wt_code wt_occupancy(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                          struct wt_occupancy *out, struct wt_error *err)
{
    *out = (struct wt_occupancy){0};
    for (int r = 0; r < WT_RES_COUNT; r++)
        out->limits[r] = wt_occupancy_limit(limits, needs, r);
    out->carveout_kb = assumed_configuration_kb(limits, needs, wt_launch_shared_bytes(limits, needs));
    conclude(out, limits, needs);
    return wt_launch_check(limits, needs, err);
}

enum wt_code wt_occupancy_idealised(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                    struct wt_occupancy *out, struct wt_error *err)
{
    struct wt_limits plain = *limits;
    plain.register_unit = 1;
    plain.subcores = 1;
    plain.warp_granularity = 1;
    plain.shared_unit_bytes = 1;
    plain.shared_reserved_bytes = 0;
    return wt_occupancy(&plain, needs, out, err);
}

int wt_active_clusters(const struct wt_topology *topology, int size, int blocks_per_sm, int *usable_sms)
{
    int blocks = least(blocks_per_sm, WT_MOST_CLUSTER_BLOCKS), clusters = 0, sms = 0;
    for (int g = 0; g < topology->group_count; g++) {
        int group_sms = topology->groups[g].sm_count;
        if (group_sms < size || (g == topology->extra_group && size > WT_EXTRA_GROUP_CLUSTER))
            continue;
        clusters += blocks * group_sms / size;
        sms += group_sms;
    }
    if (usable_sms)
        *usable_sms = sms;
    return clusters;
}

double wt_waves(uint64_t grid_blocks, int sm_count, int blocks_per_sm)
{
    if (sm_count <= 0 || blocks_per_sm <= 0)
        return 0;
    return (double)grid_blocks / ((double)sm_count * blocks_per_sm);
}
