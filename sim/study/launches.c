#include "study/launches.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "sm/occupancy.h"

static size_t count_launches(const struct wt_workload *workload)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->kernel_count; i++)
        count += (size_t)workload->kernels[i].repeat;
    return count;
}

static struct wt_timeline *describe_gpu(const struct wt_workload *workload, const struct wt_gpu *gpu)
{
    struct wt_timeline *about = wt_timeline_new(workload->title, gpu->name, gpu->topology.sm_count);
    about->clock_mhz = gpu->clock_mhz;
    about->warps_per_sm = gpu->limits.warps_per_sm;
    memcpy(about->gpc_of_sm, gpu->topology.gpc_of_sm, (size_t)about->sm_count * sizeof *about->gpc_of_sm);
    return about;
}

/* What is the same for all launches of a kernel. */
static enum wt_code fit_kernel(const struct wt_workload *workload, const struct wt_workload_kernel *kernel,
                               const struct wt_gpu *gpu, struct wt_shape *shape, struct wt_occupancy *occupancy,
                               struct wt_error *err)
{
    struct wt_error inner = {0};
    enum wt_code code = wt_shape_make(&gpu->limits, &kernel->needs, shape, &inner);
    if (code == WT_OK)
        code = wt_occupancy(&gpu->limits, &kernel->needs, occupancy, &inner);
    if (code != WT_OK)
        return wt_fail_at(err, workload->path, kernel->line, "kernel '%s' on %s: %s", kernel->name, gpu->name, inner.text);
    return WT_OK;
}

static void describe_launch(struct wt_timeline *about, const struct wt_workload_kernel *kernel,
                            const struct wt_shape *shape, const struct wt_occupancy *occupancy)
{
    struct wt_timeline_launch launch = {.name = kernel->name,
                                        .number = (long)about->launch_count,
                                        .grid_blocks = kernel->grid_blocks,
                                        .threads_per_block = shape->threads,
                                        .warps_per_block = shape->warps,
                                        .blocks_per_sm = occupancy->blocks_per_sm};
    wt_timeline_add_launch(about, &launch);
}

struct filling {
    const struct wt_workload *workload;
    const struct wt_gpu *gpu;
    uint64_t seed;
    bool mean_only;
    struct wt_launches *launches;
    struct wt_error *err;
};

static enum wt_code add_launch(const struct filling *f, const struct wt_workload_kernel *kernel,
                               const struct wt_shape *shape)
{
    size_t index = f->launches->count;
    struct wt_fixed_setup setup = {.distribution = kernel->distribution,
                                   .values = kernel->duration,
                                   .grid_blocks = kernel->grid_blocks,
                                   .seed = f->seed,
                                   .kernel = index,
                                   .mean_only = f->mean_only};
    struct wt_error inner = {0};
    struct wt_fixed *cost = NULL;
    if (wt_fixed_new(&setup, &cost, &inner) != WT_OK)
        return wt_fail_at(f->err, f->workload->path, kernel->duration_line, "kernel '%s': %s", kernel->name, inner.text);
    f->launches->costs[index] = cost;
    f->launches->kernels[index] = (struct wt_kernel){
        .name = kernel->name, .grid_blocks = kernel->grid_blocks, .shape = *shape, .cost = wt_fixed_cost(cost)};
    f->launches->count++;
    return WT_OK;
}

static enum wt_code add_kernel(const struct filling *f, const struct wt_workload_kernel *kernel)
{
    struct wt_shape shape;
    struct wt_occupancy occupancy;
    WT_TRY(fit_kernel(f->workload, kernel, f->gpu, &shape, &occupancy, f->err));
    for (int i = 0; i < kernel->repeat; i++) {
        describe_launch(f->launches->about, kernel, &shape, &occupancy);
        WT_TRY(add_launch(f, kernel, &shape));
    }
    return WT_OK;
}

enum wt_code wt_launches_new(const struct wt_workload *workload, const struct wt_gpu *gpu, uint64_t seed,
                             bool mean_only, struct wt_launches **out, struct wt_error *err)
{
    *out = NULL;
    size_t count = count_launches(workload);
    struct wt_launches *launches = wt_alloc(1, sizeof *launches);
    launches->kernels = wt_alloc(count, sizeof *launches->kernels);
    launches->costs = wt_alloc(count, sizeof(struct wt_fixed *));
    launches->about = describe_gpu(workload, gpu);
    struct filling filling = {workload, gpu, seed, mean_only, launches, err};
    enum wt_code code = WT_OK;
    for (size_t i = 0; code == WT_OK && i < workload->kernel_count; i++)
        code = add_kernel(&filling, &workload->kernels[i]);
    if (code == WT_OK)
        *out = launches;
    else
        wt_launches_free(launches);
    return code;
}

void wt_launches_free(struct wt_launches *launches)
{
    if (!launches)
        return;
    for (size_t i = 0; i < launches->count; i++)
        wt_fixed_free(launches->costs[i]);
    free(launches->costs);
    free(launches->kernels);
    wt_timeline_free(launches->about);
    free(launches);
}
