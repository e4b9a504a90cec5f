#include "sm/shape.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "sm/occupancy.h"

/* Blocks by warps and block slots -> blocks the driver's configuration has room for, where measured. */
static const struct {
    int blocks, room;
} driver_room[] = {{1, 1}, {2, 2}, {4, 10}, {8, 18}, {16, 26}, {32, 32}};

enum { DRIVER_POINTS = sizeof driver_room / sizeof *driver_room };

static int round_up(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int room_for(const struct wt_limits *limits, int blocks)
{
    int room = blocks;
    for (int i = 1; i < DRIVER_POINTS; i++) {
        int low = driver_room[i - 1].blocks, high = driver_room[i].blocks;
        if (blocks > low && blocks <= high)
            room = driver_room[i - 1].room +
                   (driver_room[i].room - driver_room[i - 1].room) * (blocks - low) / (high - low);
    }
    return least(room, limits->blocks_per_sm);
}

int wt_configuration_kb(const struct wt_limits *limits, int bytes)
{
    if (limits->carveout_count == 0)
        return limits->shared_bytes_per_sm / 1024;
    for (int i = 0; i < limits->carveout_count; i++)
        if (limits->carveouts_kb[i] * 1024 >= bytes)
            return limits->carveouts_kb[i];
    return limits->carveouts_kb[limits->carveout_count - 1];
}

int wt_launch_shared_bytes(const struct wt_limits *limits, const struct wt_launch_needs *needs)
{
    long long asked = (long long)needs->static_shared_bytes + needs->dynamic_shared_bytes;
    if (asked > INT_MAX / 2)
        return INT_MAX / 2;
    return round_up((int)asked + limits->shared_reserved_bytes, limits->shared_unit_bytes);
}

int wt_launch_register_units(const struct wt_limits *limits, const struct wt_launch_needs *needs)
{
    return (needs->registers_per_thread * WT_WARP_SIZE + limits->register_unit - 1) / limits->register_unit;
}

static enum wt_code check_threads(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                  struct wt_error *err)
{
    if (needs->threads < 1)
        return wt_fail(err, WT_BAD_INPUT, "a block of %d threads: a block has at least 1", needs->threads);
    if (needs->threads > limits->threads_per_block)
        return wt_fail(err, WT_BAD_INPUT, "a block of %d threads: this GPU allows %d; use smaller blocks",
                       needs->threads, limits->threads_per_block);
    if (wt_warps_of(needs->threads) > wt_warps_per_sm(limits))
        return wt_fail(err, WT_BAD_INPUT, "a block of %d warps: an SM holds %d; use smaller blocks",
                       wt_warps_of(needs->threads), wt_warps_per_sm(limits));
    return WT_OK;
}

static enum wt_code check_registers(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                    struct wt_error *err)
{
    int registers = needs->registers_per_thread;
    if (registers < 0 || registers > wt_most_registers(limits))
        return wt_fail(err, WT_BAD_INPUT, "%d registers per thread: a launch may state 0 to %d", registers,
                       wt_most_registers(limits));
    if (wt_occupancy_limit(limits, needs, WT_RES_REGISTERS) > 0)
        return WT_OK;
    int warps = wt_warps_of(needs->threads), counted = round_up(warps, limits->warp_granularity);
    int per_warp = wt_launch_register_units(limits, needs) * limits->register_unit;
    char rounded[40] = "";
    if (counted != warps)
        snprintf(rounded, sizeof rounded, " (counted as %d)", counted);
    return wt_fail(
        err, WT_BAD_INPUT,
        "a block of %d warps%s with %d registers each (%d per thread after rounding) needs %d registers: a "
        "block may have %d; use fewer threads per block, or cap registers with __launch_bounds__ or "
        "-maxrregcount",
        warps, rounded, per_warp, per_warp / WT_WARP_SIZE, counted * per_warp, limits->registers_per_block);
}

static enum wt_code check_shared(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                 struct wt_error *err)
{
    if (needs->static_shared_bytes < 0 || needs->dynamic_shared_bytes < 0)
        return wt_fail(err, WT_BAD_INPUT, "shared memory cannot be negative");
    long long asked = (long long)needs->static_shared_bytes + needs->dynamic_shared_bytes;
    if (asked > limits->shared_bytes_per_block_opt_in)
        return wt_fail(
            err, WT_BAD_INPUT,
            "%lld bytes of shared memory per block: this GPU allows %d (%d without opting in); use "
            "smaller tiles",
            asked, limits->shared_bytes_per_block_opt_in, limits->shared_bytes_per_block);
    if (wt_launch_shared_bytes(limits, needs) > limits->shared_bytes_per_sm)
        return wt_fail(err, WT_BAD_INPUT,
                       "%d bytes of shared memory per block: an SM has %d; use smaller tiles",
                       wt_launch_shared_bytes(limits, needs), limits->shared_bytes_per_sm);
    return WT_OK;
}

static enum wt_code check_barriers(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                   struct wt_error *err)
{
    if (needs->barriers < 0)
        return wt_fail(err, WT_BAD_INPUT, "%d barriers: cannot be negative", needs->barriers);
    if (limits->barriers_per_sm > 0 && needs->barriers > limits->barriers_per_sm)
        return wt_fail(err, WT_BAD_INPUT, "%d barriers per block: an SM has %d", needs->barriers,
                       limits->barriers_per_sm);
    return WT_OK;
}

static enum wt_code check_carveout(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                   struct wt_error *err)
{
    int largest = limits->carveout_count ? limits->carveouts_kb[limits->carveout_count - 1]
                                         : limits->shared_bytes_per_sm / 1024;
    if (needs->carveout_kb < WT_CARVEOUT_DEFAULT || needs->carveout_kb > largest)
        return wt_fail(err, WT_BAD_INPUT, "a shared-memory configuration of %d KB: this GPU has up to %d KB",
                       needs->carveout_kb, largest);
    return WT_OK;
}

enum wt_code wt_launch_check(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                             struct wt_error *err)
{
    WT_TRY(check_threads(limits, needs, err));
    WT_TRY(check_registers(limits, needs, err));
    WT_TRY(check_shared(limits, needs, err));
    WT_TRY(check_barriers(limits, needs, err));
    return check_carveout(limits, needs, err);
}

static int driver_configuration_kb(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                   int shared_bytes)
{
    int by_warps = least(limits->blocks_per_sm, wt_occupancy_limit(limits, needs, WT_RES_WARPS));
    int by_all = by_warps;
    for (int r = 0; r < WT_RES_COUNT; r++)
        by_all = least(by_all, wt_occupancy_limit(limits, needs, r));
    long long roomy = (long long)room_for(limits, by_warps) * shared_bytes;
    if (limits->carveout_headroom && roomy <= limits->shared_bytes_per_sm)
        return wt_configuration_kb(limits, (int)roomy);
    return wt_configuration_kb(limits, by_all * shared_bytes);
}

int wt_launch_configuration_kb(const struct wt_limits *limits, const struct wt_launch_needs *needs)
{
    int shared_bytes = wt_launch_shared_bytes(limits, needs);
    if (needs->carveout_kb == WT_CARVEOUT_DEFAULT)
        return driver_configuration_kb(limits, needs, shared_bytes);
    int preferred = needs->carveout_kb * 1024;
    return wt_configuration_kb(limits, preferred > shared_bytes ? preferred : shared_bytes);
}

/* What an SM keeps in 15-bit lanes must fit there. */
static enum wt_code check_model(const struct wt_limits *limits, struct wt_error *err)
{
    int subcores = limits->subcores;
    if (subcores != 1 && subcores != 2 && subcores != 4)
        return wt_fail(err, WT_BAD_INPUT, "SMs of %d sub-cores cannot be simulated; use 1, 2 or 4", subcores);
    if (limits->registers_per_sm / subcores / limits->register_unit >= 0x8000)
        return wt_fail(err, WT_BAD_INPUT,
                       "register files of %d units cannot be simulated (at most 32767); use a larger "
                       "register_unit",
                       limits->registers_per_sm / subcores / limits->register_unit);
    int largest_kb = wt_configuration_kb(limits, INT_MAX);
    if ((long long)largest_kb * 1024 / limits->shared_unit_bytes >= 0x8000)
        return wt_fail(err, WT_BAD_INPUT,
                       "%d KB of shared memory in units of %d bytes cannot be simulated (at most 32767 "
                       "units); use a larger shared_unit_bytes",
                       largest_kb, limits->shared_unit_bytes);
    return WT_OK;
}

/* Warp j of a block goes to sub-core (pointer + j) mod sub-cores. */
static void spread_warps(struct wt_shape *shape, int subcores)
{
    for (int pointer = 0; pointer < subcores; pointer++)
        for (int j = 0; j < shape->warps; j++) {
            int shift = 16 * ((pointer + j) % subcores);
            shape->warp_lanes[pointer] += UINT64_C(1) << shift;
            shape->register_lanes[pointer] += (uint64_t)shape->register_units_per_warp << shift;
        }
}

enum wt_code wt_shape_make(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                           struct wt_shape *out, struct wt_error *err)
{
    WT_TRY(check_model(limits, err));
    WT_TRY(wt_launch_check(limits, needs, err));
    int shared_bytes = wt_launch_shared_bytes(limits, needs);
    *out = (struct wt_shape){
        .threads = needs->threads,
        .warps = wt_warps_of(needs->threads),
        .register_units_per_warp = wt_launch_register_units(limits, needs),
        .shared_bytes = shared_bytes,
        .shared_units = shared_bytes / limits->shared_unit_bytes,
        .carveout_kb = wt_launch_configuration_kb(limits, needs),
        .barriers = limits->barriers_per_sm > 0 ? needs->barriers : 0,
    };
    spread_warps(out, limits->subcores);
    return WT_OK;
}
