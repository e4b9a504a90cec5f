/* A workload's kernel in other shapes: its durations are the works, and its demand is the bound. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "study/launches.h"
#include "study/whatif_run.h"
#include "study/workload.h"

static enum wt_code check(const struct wt_workload *workload, struct wt_error *err)
{
    const struct wt_workload_kernel *k = &workload->kernels[0];
    const char *what = k->model == WT_MODEL_WARP ? "has a program; durations or a demand are needed (`wavetail run` simulates it)"
                       : k->behaviour.persistent.line > 0 ? "is persistent; describe it as an ordinary one and give --persistent"
                       : k->behaviour.waits.line > 0 ? "has blocks that wait for others, which other shapes would change"
                       : k->cooperative ? "is cooperative: all of its blocks must be resident, in any shape"
                       : k->cluster > 1 ? "has clusters, of which other shapes are not modelled"
                                        : NULL;
    return what ? wt_fail_at(err, workload->path, k->line, "kernel '%s' %s", k->name, what) : WT_OK;
}

static void take_durations(struct wt_stays *stays, const struct wt_kernel *kernel)
{
    for (uint64_t i = 0; i < stays->count; i++)
        stays->list[i] = (struct wt_stay){.work = wt_to_cycles(kernel->cost.duration(kernel->cost.context, i))};
}

static enum wt_code make_stays(struct wt_workload *workload, const struct wt_gpu *gpu, struct wt_stays **out, struct wt_error *err)
{
    struct wt_workload_kernel *described = &workload->kernels[0];
    struct wt_launches *launches;
    enum wt_model model = described->model;
    described->model = WT_MODEL_FIXED;
    enum wt_code code = wt_launches_new(workload, gpu, workload->seed, false, &launches, err);
    described->model = model;
    if (code != WT_OK)
        return code;
    const struct wt_kernel *kernel = &launches->kernels[0];
    struct wt_stays *stays = *out = wt_alloc(1, sizeof *stays);
    *stays = (struct wt_stays){.name = wt_strdup(described->name), .kernel = wt_strdup(""),
                               .needs = described->needs, .warps = kernel->shape.warps,
                               .count = kernel->grid_blocks, .sm_count = gpu->topology.sm_count, .works_stated = true};
    stays->list = wt_alloc(stays->count, sizeof *stays->list);
    take_durations(stays, kernel);
    wt_launches_free(launches);
    return WT_OK;
}

/* Of an SM and the GPU what the demand fills first. */
static enum wt_code bound_of(const struct wt_workload *workload, const struct wt_whatif *whatif, struct wt_bound *bound,
                             struct wt_error *err)
{
    const struct wt_workload_kernel *k = &workload->kernels[0];
    struct wt_fluid_kernel demand = {0};
    struct wt_error inner = {0};
    *bound = (struct wt_bound){.saturation = INFINITY};
    if (whatif->fixed || k->model != WT_MODEL_FLUID)
        return WT_OK;
    if (wt_demand_on(&k->demand, whatif->gpu, &demand, &inner) != WT_OK)
        return wt_fail_at(err, workload->path, k->demand.line, "kernel '%s': %s", k->name, inner.text);
    double gpu = demand.gpu_demand * whatif->gpu->topology.sm_count;
    bound->gpu = gpu > demand.sm_demand;
    bound->saturation = 1 / fmax(gpu, demand.sm_demand);
    return WT_OK;
}

static enum wt_code fill(struct wt_whatif *whatif, struct wt_workload *workload, struct wt_error *err)
{
    struct wt_explanation *why = &whatif->list[0];
    struct wt_whatif_run run;
    WT_TRY(check(workload, err));
    WT_TRY(make_stays(workload, whatif->gpu, &whatif->stays, err));
    WT_TRY(wt_occupancy(&whatif->gpu->limits, &whatif->stays->needs, &whatif->occupancy, err));
    *why = (struct wt_explanation){.cache = 1, .scale = 1};
    WT_TRY(bound_of(workload, whatif, &why->bound, err));
    why->mode = why->bound.gpu ? WT_MODE_GPU : WT_MODE_SM;
    whatif->parts[why->mode] = wt_alloc(whatif->stays->count, sizeof(double));
    for (uint64_t i = 0; i < whatif->stays->count; i++)
        whatif->parts[why->mode][i] = whatif->stays->list[i].work;
    WT_TRY(wt_whatif_begin(&run, whatif, &wt_whatif_as_measured, err));
    run.explanation = why;
    WT_TRY(wt_whatif_simulate(&run, err));
    why->base = whatif->stays->makespan = run.makespan;
    whatif->count = 1;
    return WT_OK;
}

enum wt_code wt_whatif_of_workload(const char *path, const char *gpu, bool fixed, struct wt_whatif **out, struct wt_error *err)
{
    struct wt_workload *workload;
    *out = NULL;
    WT_TRY(wt_workload_read(path, &workload, err));
    struct wt_whatif *whatif = wt_alloc(1, sizeof *whatif);
    *whatif = (struct wt_whatif){.fixed = fixed, .simulated = true, .variants = 1};
    const char *name = gpu ? gpu : workload->gpu;
    enum wt_code code = name ? wt_gpu_load(name, &whatif->gpu, err)
                             : wt_fail_at(err, path, 0, "names no GPU; add gpu = \"NAME\"; or give --gpu (`wavetail gpus` lists them)");
    if (code == WT_OK)
        code = fill(whatif, workload, err);
    wt_workload_free(workload);
    if (code == WT_OK)
        *out = whatif;
    else
        wt_whatif_free(whatif);
    return code;
}
