#include "cost/by_kernel.h"

#include <stdlib.h>

#include "core/mem.h"
#include "dispatch/endqueue.h"

struct wt_by_kernel {
    const struct wt_kernel *kernels;
    const struct wt_sharing **of_kernel; /* NULL: its cost */
    const struct wt_sharing **models;    /* those that have begun a block */
    size_t model_count;
    struct wt_endqueue plain; /* of kernels without a model */
};

struct wt_by_kernel *wt_by_kernel_new(const struct wt_gpu *gpu, const struct wt_kernel *kernels, size_t count)
{
    struct wt_by_kernel *all = wt_alloc(1, sizeof *all);
    all->kernels = kernels;
    all->of_kernel = wt_alloc(count, sizeof(const struct wt_sharing *));
    all->models = wt_alloc(count, sizeof(const struct wt_sharing *));
    wt_endqueue_init(&all->plain, (size_t)gpu->topology.sm_count * (size_t)gpu->limits.blocks_per_sm);
    return all;
}

void wt_by_kernel_free(struct wt_by_kernel *all)
{
    if (!all)
        return;
    wt_endqueue_free(&all->plain);
    free(all->of_kernel);
    free(all->models);
    free(all);
}

void wt_by_kernel_set(struct wt_by_kernel *all, size_t kernel, const struct wt_sharing *model)
{
    all->of_kernel[kernel] = model;
}

static void take_in(struct wt_by_kernel *all, const struct wt_sharing *model)
{
    for (size_t i = 0; i < all->model_count; i++)
        if (all->models[i] == model)
            return;
    all->models[all->model_count++] = model;
}

static void begin(void *context, uint32_t id, uint32_t kernel, uint64_t block, wt_time start)
{
    struct wt_by_kernel *all = context;
    const struct wt_sharing *model = all->of_kernel[kernel];
    const struct wt_cost *cost = &all->kernels[kernel].cost;
    if (!model) {
        wt_endqueue_push(&all->plain, (struct wt_running){start + cost->duration(cost->context, block), id});
        return;
    }
    take_in(all, model);
    model->begin(model->context, id, kernel, block, start);
}

/* NULL: the plain ones. Of equal ends a plain block's comes first, then in the order in which kernels began. */
static wt_time soonest(const struct wt_by_kernel *all, wt_time until, const struct wt_sharing **model)
{
    wt_time first = wt_endqueue_next(&all->plain);
    *model = NULL;
    for (size_t i = 0; i < all->model_count; i++) {
        wt_time end = all->models[i]->next_end(all->models[i]->context, first < until ? first : until);
        if (end >= first)
            continue;
        first = end;
        *model = all->models[i];
    }
    return first;
}

static wt_time next_end(void *context, wt_time until)
{
    const struct wt_sharing *model;
    return soonest(context, until, &model);
}

static uint32_t take_end(void *context)
{
    struct wt_by_kernel *all = context;
    const struct wt_sharing *model;
    soonest(all, WT_NEVER, &model);
    return model ? model->take_end(model->context) : wt_endqueue_pop(&all->plain).id;
}

struct wt_sharing wt_by_kernel_sharing(struct wt_by_kernel *all)
{
    return (struct wt_sharing){.context = all, .begin = begin, .next_end = next_end, .take_end = take_end};
}
