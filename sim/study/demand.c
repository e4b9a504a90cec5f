#include "study/demand.h"

#include <math.h>
#include <stddef.h>

#define FIELD(field) offsetof(struct wt_demand, field)

const struct wt_param wt_demand_params[] = {
    {"issue", WT_PARAM_NUMBER, FIELD(issue), .unit = "instructions/cycle", .low = 0, .high = 1,
     .help = "what a warp issues; a sub-core issues 1"},
    {"l2_bytes", WT_PARAM_NUMBER, FIELD(l2_bytes), .unit = "bytes/cycle", .low = 0, .high = 1e6,
     .help = "what a warp moves between its SM and the L2, in whole lines"},
    {"dram_bytes", WT_PARAM_NUMBER, FIELD(dram_bytes), .unit = "bytes/cycle", .low = 0, .high = 1e6,
     .help = "what a warp moves between the L2 and DRAM"},
    {"sm_saturation", WT_PARAM_NUMBER, FIELD(sm_saturation), .unit = "warps", .low = 0, .high = 1e9,
     .help = "as many use up an SM, where that is known and rates are not; 0: no such limit"},
    {"gpu_saturation", WT_PARAM_NUMBER, FIELD(gpu_saturation), .unit = "warps", .low = 0, .high = 1e9,
     .help = "as many use up what all SMs share; 0: no such limit"},
    {"sm_grain", WT_PARAM_NUMBER, FIELD(sm_grain), .unit = "warps", .low = 0, .high = 64,
     .help = "as many ask an SM at once, so that it saturates gradually; 0: sharply"},
    {"gpu_grain", WT_PARAM_NUMBER, FIELD(gpu_grain), .unit = "warps", .low = 0, .high = 1e6,
     .help = "as many ask the GPU's memory at once"},
    {"favour", WT_PARAM_NUMBER, FIELD(favour), .low = 0, .high = 1,
     .help = "part of an SM that its oldest block takes, the next one of the rest, and so on; 0: all are served alike; where all kernels "
             "state one"},
    {"sub_cores", WT_PARAM_BOOL, FIELD(sub_cores), .help = "each sub-core serves only its own warps; where all kernels say so"},
    {"start", WT_PARAM_NUMBER, FIELD(start_cycles), .unit = "cycles", .low = 0, .high = 1e9,
     .help = "from a block's start until its warps ask for anything, besides its duration"},
    {0}};

enum wt_code wt_demand_read(const struct wt_config *config, const struct config_setting_t *kernel, struct wt_demand *out,
                            struct wt_error *err)
{
    const struct config_setting_t *group = wt_config_group(kernel, "demand");
    *out = (struct wt_demand){0};
    if (!group)
        return WT_OK;
    WT_TRY(wt_params_read(wt_demand_params, config, group, out, err));
    out->line = wt_config_line(group);
    return WT_OK;
}

/* The part of a capacity that a warp takes; nothing of one that is not there. */
static double part(double asked, double capacity)
{
    return capacity > 0 ? asked / capacity : 0;
}

/* Bytes per cycle of the SM clock; 0: unknown. */
static double dram_capacity(const struct wt_gpu *gpu)
{
    return gpu->clock_mhz > 0 ? gpu->memory_gbs * 1e3 / gpu->clock_mhz * gpu->memory.dram_efficiency : 0;
}

/* Of all SMs together, in whole lines, each of which is a request; 0: not limited. */
static double l2_capacity(const struct wt_gpu *gpu)
{
    return gpu->memory.l2_gpu_bytes / (1 + gpu->memory.l2_request_bytes / 128);
}

enum wt_code wt_demand_on(const struct wt_demand *demand, const struct wt_gpu *gpu, struct wt_fluid_kernel *out,
                          struct wt_error *err)
{
    double dram = dram_capacity(gpu);
    if (demand->dram_bytes > 0 && dram <= 0)
        return wt_fail(err, WT_BAD_INPUT, "'demand.dram_bytes' needs the DRAM bandwidth of %s, which is not known; add 'memory_gbs' "
                       "and 'clock_mhz' to its config, or give 'gpu_saturation' instead", gpu->name);
    double issue = part(demand->issue, gpu->limits.subcores), port = part(demand->l2_bytes, gpu->memory.l2_bytes);
    double l2 = part(demand->l2_bytes, l2_capacity(gpu));
    out->sm_demand = fmax(fmax(issue, port), part(1, demand->sm_saturation));
    out->gpu_demand = fmax(fmax(l2, part(demand->dram_bytes, dram)), part(1, demand->gpu_saturation));
    out->sm_grain = demand->sm_grain;
    out->gpu_grain = demand->gpu_grain;
    out->favour = demand->favour;
    out->sub_cores = demand->sub_cores;
    out->start_cycles = demand->start_cycles;
    return WT_OK;
}
