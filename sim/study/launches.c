#include "study/launches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "cost/by_kernel.h"
#include "cost/fluid.h"
#include "cost/tasks.h"
#include "dispatch/host.h"
#include "observe/why.h"
#include "sm/occupancy.h"
#include "study/host_calls.h"

static size_t count_calls(const struct wt_workload_host *host, const struct wt_thread *thread)
{
    size_t count = 0;
    for (size_t i = 0; i < thread->call_count; i++) {
        const struct wt_call *call = &thread->calls[i];
        count += call->kind == WT_CALL_LAUNCH ? 1 : call->kind == WT_CALL_GRAPH ? host->graphs[call->kernel].kernel_count : 0;
    }
    return count;
}

/* What one launch's durations come from; NULL where it has no such thing. */
struct launch_model {
    const struct wt_workload_kernel *kernel;
    struct wt_fixed *fixed;
    struct wt_rework *rework;
    struct wt_tasks *tasks;
    struct wt_waiting *waiting;
    struct wt_cost cost;       /* of a block that shares, alone */
    int warps;                 /* of such a block */
    struct wt_sharing sharing; /* of tasks or waiting */
};

struct wt_launch_models {
    const struct wt_workload *workload;
    const struct wt_gpu *gpu;
    struct launch_model *list;      /* by launch */
    struct wt_by_kernel *by_kernel; /* NULL: every launch has only a cost */
    struct wt_warp_kernel *programs; /* by launch */
    struct wt_fluid_kernel *sharers; /* by launch; those that do share have `parts` */
    struct wt_fluid *fluid;          /* NULL: none does */
    struct wt_sharing fluid_sharing, sharing;
};

static size_t count_launches(const struct wt_workload *workload)
{
    size_t count = 0;
    if (!workload->host)
        for (size_t i = 0; i < workload->kernel_count; i++)
            count += (size_t)workload->kernels[i].repeat;
    else
        for (size_t i = 0; i < workload->host->program.thread_count; i++)
            count += count_calls(workload->host, &workload->host->program.threads[i]);
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
    if (code == WT_OK && kernel->cluster > 1 && gpu->cc_major < 9)
        code = wt_fail(&inner, WT_BAD_INPUT, "clusters need compute capability 9.0 or higher, and it has %d.%d", gpu->cc_major,
                       gpu->cc_minor);
    if (code != WT_OK)
        return wt_fail_at(err, workload->path, kernel->line, "kernel '%s' on %s: %s", kernel->name, gpu->name, inner.text);
    return WT_OK;
}

static void describe_launch(struct wt_timeline *about, const struct wt_workload_kernel *kernel, uint64_t grid_blocks,
                            const struct wt_shape *shape, const struct wt_occupancy *occupancy)
{
    struct wt_timeline_launch launch = {.name = kernel->name,
                                        .number = (long)about->launch_count,
                                        .grid_blocks = grid_blocks,
                                        .threads_per_block = shape->threads,
                                        .warps_per_block = shape->warps,
                                        .blocks_per_sm = occupancy->blocks_per_sm,
                                        .needs = kernel->needs};
    wt_timeline_add_launch(about, &launch);
}

/* A kernel on the GPU. */
struct fitted {
    struct wt_shape shape;
    struct wt_occupancy occupancy;
};

struct filling {
    const struct wt_workload *workload;
    const struct wt_gpu *gpu;
    uint64_t seed;
    bool mean_only;
    struct fitted *fitted; /* by kernel of the workload */
    struct wt_launches *launches;
    struct wt_error *err;
};

/* Units that durations are given to: blocks, or the tasks of a persistent kernel. */
static uint64_t units_of(const struct wt_workload_kernel *kernel)
{
    const struct wt_persistent *persistent = &kernel->behaviour.persistent;
    return persistent->line > 0 ? (uint64_t)persistent->tasks : kernel->grid_blocks;
}

static enum wt_code make_durations(const struct filling *f, const struct wt_workload_kernel *kernel, size_t index,
                                   struct launch_model *model)
{
    struct wt_fixed_setup setup = {.distribution = kernel->distribution,
                                   .values = kernel->duration,
                                   .grid_blocks = units_of(kernel),
                                   .seed = f->seed,
                                   .kernel = index,
                                   .mean_only = f->mean_only};
    struct wt_error inner = {0};
    if (!kernel->distribution)
        return WT_OK;
    if (wt_fixed_new(&setup, &model->fixed, &inner) != WT_OK)
        return wt_fail_at(f->err, f->workload->path, kernel->duration_line, "kernel '%s': %s", kernel->name, inner.text);
    return WT_OK;
}

/* *units is how many there are then. */
static enum wt_code rework(const struct filling *f, const struct wt_workload_kernel *kernel, size_t index,
                           struct launch_model *model, uint64_t *units, struct wt_cost *cost)
{
    if (kernel->order == WT_ORDER_ASIS && kernel->split == 1)
        return WT_OK;
    if (*units > WT_REWORK_MOST / (uint64_t)kernel->split)
        return wt_fail_at(f->err, f->workload->path, kernel->rework_line, "kernel '%s': %" PRIu64 " blocks in %d parts each "
                          "are more than the %" PRIu64 " that can be put in order; give fewer", kernel->name, *units,
                          kernel->split, WT_REWORK_MOST);
    struct wt_rework_setup setup = {.order = (enum wt_order)kernel->order,
                                    .split = kernel->split,
                                    .split_overhead_cycles = kernel->split_overhead_cycles,
                                    .seed = f->seed,
                                    .kernel = index};
    model->rework = wt_rework_new(cost, *units, &setup);
    *cost = wt_rework_cost(model->rework);
    *units = wt_rework_count(model->rework);
    return WT_OK;
}

static void make_tasks(const struct filling *f, struct launch_model *model, const struct wt_cost *cost, uint64_t tasks,
                       uint64_t grid_blocks)
{
    const struct wt_persistent *persistent = &model->kernel->behaviour.persistent;
    struct wt_tasks_setup setup = {.gpu = f->gpu,
                                   .grid_blocks = grid_blocks,
                                   .tasks = tasks,
                                   .cost = *cost,
                                   .overhead_cycles = persistent->overhead_cycles,
                                   .fixed_shares = persistent->queue == WT_QUEUE_STATIC};
    model->tasks = wt_tasks_new(&setup);
    model->sharing = wt_tasks_sharing(model->tasks);
}

static void make_waiting(const struct filling *f, struct launch_model *model, const struct wt_cost *cost,
                         uint64_t grid_blocks)
{
    const struct wt_waits *waits = &model->kernel->behaviour.waits;
    struct wt_waiting_setup setup = {.gpu = f->gpu,
                                     .grid_blocks = grid_blocks,
                                     .cost = *cost,
                                     .pattern = (enum wt_waiting_for)waits->pattern,
                                     .list = waits->blocks.values,
                                     .list_count = waits->blocks.count,
                                     .at = waits->at,
                                     .latency_cycles = waits->latency_cycles,
                                     .chained = waits->chained};
    model->waiting = wt_waiting_new(&setup);
    model->sharing = wt_waiting_sharing(model->waiting);
}

static uint64_t capacity_of(const struct filling *f, const struct wt_occupancy *occupancy)
{
    return (uint64_t)occupancy->blocks_per_sm * (uint64_t)f->gpu->topology.sm_count;
}

static enum wt_code check_cooperative(const struct filling *f, const struct wt_workload_kernel *kernel,
                                      const struct wt_occupancy *occupancy, uint64_t grid_blocks)
{
    uint64_t capacity = capacity_of(f, occupancy);
    if (!kernel->cooperative || grid_blocks <= capacity)
        return WT_OK;
    return wt_fail_at(f->err, f->workload->path, kernel->cooperative_line, "kernel '%s': too many blocks in cooperative "
                      "launch: %" PRIu64 ", but %s has room for %" PRIu64 " at once (%d SMs x %d blocks); give a smaller grid",
                      kernel->name, grid_blocks, f->gpu->name, capacity, f->gpu->topology.sm_count, occupancy->blocks_per_sm);
}

/* A block's work comes from the distribution that else gives durations. */
static double work_of(void *context, uint64_t block)
{
    struct wt_cost cost = wt_fixed_cost(((const struct launch_model *)context)->fixed);
    return wt_to_cycles(cost.duration(cost.context, block));
}

static void take_program(const struct filling *f, const struct wt_workload_kernel *kernel, size_t index,
                         const struct wt_shape *shape)
{
    struct launch_model *model = &f->launches->models->list[index];
    f->launches->models->programs[index] = (struct wt_warp_kernel){.program = kernel->program,
                                                                   .warps = shape->warps,
                                                                   .work = model->fixed ? work_of : NULL,
                                                                   .context = model};
}

/* All of a block's warps have as much to do as its duration says. */
static int parts_of(void *context, uint64_t block, struct wt_fluid_part parts[WT_FLUID_PARTS])
{
    const struct launch_model *model = context;
    parts[0] = (struct wt_fluid_part){.warps = model->warps, .work = wt_to_cycles(model->cost.duration(model->cost.context, block))};
    return 1;
}

static enum wt_code make_sharer(const struct filling *f, struct launch_model *model, size_t index, const struct wt_shape *shape,
                                const struct wt_cost *cost)
{
    struct wt_fluid_kernel *sharer = &f->launches->models->sharers[index];
    struct wt_error inner = {0};
    if (wt_demand_on(&model->kernel->demand, f->gpu, sharer, &inner) != WT_OK)
        return wt_fail_at(f->err, f->workload->path, model->kernel->demand.line, "kernel '%s': %s", model->kernel->name, inner.text);
    model->cost = *cost;
    model->warps = shape->warps;
    sharer->parts = parts_of;
    sharer->context = model;
    return WT_OK;
}

static enum wt_code add_launch(const struct filling *f, size_t which, int stream, int priority)
{
    const struct wt_workload_kernel *kernel = &f->workload->kernels[which];
    const struct wt_shape *shape = &f->fitted[which].shape;
    const struct wt_occupancy *occupancy = &f->fitted[which].occupancy;
    size_t index = f->launches->count;
    struct launch_model *model = &f->launches->models->list[index];
    model->kernel = kernel;
    f->launches->count++;
    WT_TRY(make_durations(f, kernel, index, model));
    struct wt_cost cost = {0};
    if (model->fixed)
        cost = wt_fixed_cost(model->fixed);
    if (kernel->program)
        take_program(f, kernel, index, shape);
    uint64_t units = units_of(kernel), grid_blocks;
    WT_TRY(rework(f, kernel, index, model, &units, &cost));
    bool persistent = kernel->behaviour.persistent.line > 0;
    grid_blocks = !persistent ? units : kernel->grid_blocks > 0 ? kernel->grid_blocks : capacity_of(f, occupancy);
    WT_TRY(check_cooperative(f, kernel, occupancy, grid_blocks));
    if (persistent)
        make_tasks(f, model, &cost, units, grid_blocks);
    else if (kernel->behaviour.waits.line > 0)
        make_waiting(f, model, &cost, grid_blocks);
    else if (kernel->model == WT_MODEL_FLUID)
        WT_TRY(make_sharer(f, model, index, shape, &cost));
    f->launches->kernels[index] = (struct wt_kernel){
        .name = kernel->name, .grid_blocks = grid_blocks, .shape = *shape, .cost = cost, .cluster = kernel->cluster,
        .cooperative = kernel->cooperative, .priority = priority};
    describe_launch(f->launches->about, kernel, grid_blocks, shape, occupancy);
    f->launches->about->launches[index].stream = stream;
    f->launches->about->launches[index].tasks = persistent ? units : 0;
    return WT_OK;
}

static enum wt_code add_in_order(const struct filling *f)
{
    for (size_t k = 0; k < f->workload->kernel_count; k++)
        for (int i = 0; i < f->workload->kernels[k].repeat; i++)
            WT_TRY(add_launch(f, k, 0, f->workload->kernels[k].priority));
    return WT_OK;
}

/* Its kernels become launches, and it names them instead. */
static enum wt_code add_call(const struct filling *f, struct wt_call *call)
{
    const struct wt_workload_graph *graph = &f->workload->host->graphs[call->kernel];
    uint32_t which = call->kernel;
    if (call->kind != WT_CALL_LAUNCH && call->kind != WT_CALL_GRAPH)
        return WT_OK;
    int priority = f->workload->host->program.priorities[call->stream];
    call->kernel = (uint32_t)f->launches->count;
    if (call->kind == WT_CALL_LAUNCH)
        return add_launch(f, which, (int)call->stream, priority);
    call->nodes = graph->nodes;
    call->node_count = graph->node_count;
    for (size_t i = 0; i < graph->kernel_count; i++)
        WT_TRY(add_launch(f, graph->kernels[i], (int)call->stream, priority));
    return WT_OK;
}

static enum wt_code add_program(const struct filling *f)
{
    const struct wt_host_program *from = &f->workload->host->program;
    struct wt_host_program *to = f->launches->program = wt_alloc(1, sizeof *to);
    struct wt_thread *threads = wt_alloc(from->thread_count, sizeof *threads);
    *to = *from;
    to->threads = threads;
    for (size_t i = 0; i < from->thread_count; i++) {
        const struct wt_thread *thread = &from->threads[i];
        struct wt_call *calls = wt_alloc(thread->call_count, sizeof *calls);
        threads[i] = (struct wt_thread){thread->name, calls, thread->call_count};
        for (size_t c = 0; c < thread->call_count; c++)
            calls[c] = thread->calls[c];
    }
    for (size_t i = 0; i < from->thread_count; i++)
        for (size_t c = 0; c < threads[i].call_count; c++)
            WT_TRY(add_call(f, (struct wt_call *)&threads[i].calls[c]));
    return WT_OK;
}

static enum wt_code fill(const struct filling *f)
{
    for (size_t i = 0; i < f->workload->kernel_count; i++)
        WT_TRY(fit_kernel(f->workload, &f->workload->kernels[i], f->gpu, &f->fitted[i].shape, &f->fitted[i].occupancy,
                          f->err));
    return f->workload->host ? add_program(f) : add_in_order(f);
}

/* NULL: the launch's cost alone. Those that share SMs and memory do so in one model. */
static const struct wt_sharing *sharing_of(const struct wt_launches *launches, size_t launch)
{
    struct wt_launch_models *models = launches->models;
    if (!models->sharers[launch].parts)
        return models->list[launch].sharing.begin ? &models->list[launch].sharing : NULL;
    if (!models->fluid) {
        models->fluid = wt_fluid_new(models->sharers, launches->count, models->gpu->topology.sm_count);
        models->fluid_sharing = wt_fluid_sharing(models->fluid);
    }
    return &models->fluid_sharing;
}

/* One model for the engine, where any launch has one. */
static void join_models(struct wt_launches *launches)
{
    struct wt_launch_models *models = launches->models;
    for (size_t i = 0; i < launches->count; i++) {
        const struct wt_sharing *sharing = sharing_of(launches, i);
        if (!sharing)
            continue;
        if (!models->by_kernel)
            models->by_kernel = wt_by_kernel_new(models->gpu, launches->kernels, launches->count);
        wt_by_kernel_set(models->by_kernel, i, sharing);
    }
    if (!models->by_kernel)
        return;
    models->sharing = wt_by_kernel_sharing(models->by_kernel);
    launches->sharing = &models->sharing;
}

/* Programs run on a machine of their own, all on the same one. */
static enum wt_code start_warps(struct wt_launches *launches, const struct wt_warp_setup *asked, uint64_t seed,
                                struct wt_error *err)
{
    struct wt_launch_models *models = launches->models;
    size_t programs = 0;
    for (size_t i = 0; i < launches->count; i++)
        programs += models->programs[i].program != NULL;
    if (programs == 0)
        return WT_OK;
    if (programs < launches->count)
        return wt_fail_at(err, models->workload->path, 0, "some kernels have programs and some durations; that cannot be "
                          "simulated together: give all of them programs, or none");
    struct wt_warp_setup setup = asked ? *asked : (struct wt_warp_setup){0};
    setup.gpu = models->gpu;
    setup.kernels = models->programs;
    setup.kernel_count = launches->count;
    setup.seed = seed;
    struct wt_error inner = {0};
    if (wt_warp_new(&setup, &launches->warp, &inner) != WT_OK)
        return wt_fail_at(err, models->workload->path, 0, "%s", inner.text);
    models->sharing = wt_warp_sharing(launches->warp);
    launches->sharing = &models->sharing;
    return WT_OK;
}

enum wt_code wt_launches_set_warps(struct wt_launches *launches, const struct wt_warp_setup *setup, uint64_t seed,
                                   struct wt_error *err)
{
    wt_warp_free(launches->warp);
    launches->warp = NULL;
    return start_warps(launches, setup, seed, err);
}

const struct wt_warp_kernel *wt_launches_programs(const struct wt_launches *launches)
{
    return launches->models->programs;
}

void wt_launches_drop_warps(struct wt_launches *launches)
{
    wt_warp_free(launches->warp);
    launches->warp = NULL;
    launches->sharing = NULL;
}

enum wt_code wt_launches_new(const struct wt_workload *workload, const struct wt_gpu *gpu, uint64_t seed,
                             bool mean_only, struct wt_launches **out, struct wt_error *err)
{
    *out = NULL;
    size_t count = count_launches(workload);
    struct wt_launches *launches = wt_alloc(1, sizeof *launches);
    launches->kernels = wt_alloc(count, sizeof *launches->kernels);
    launches->models = wt_alloc(1, sizeof *launches->models);
    *launches->models = (struct wt_launch_models){.workload = workload, .gpu = gpu};
    launches->models->list = wt_alloc(count, sizeof *launches->models->list);
    launches->models->programs = wt_alloc(count, sizeof *launches->models->programs);
    launches->models->sharers = wt_alloc(count, sizeof *launches->models->sharers);
    launches->about = describe_gpu(workload, gpu);
    struct fitted *fitted = wt_alloc(workload->kernel_count, sizeof *fitted);
    struct filling filling = {workload, gpu, seed, mean_only, fitted, launches, err};
    enum wt_code code = fill(&filling);
    free(fitted);
    if (code == WT_OK)
        code = start_warps(launches, NULL, seed, err);
    if (code == WT_OK) {
        join_models(launches);
        *out = launches;
    } else {
        wt_launches_free(launches);
    }
    return code;
}

static enum wt_code simulate(const struct wt_launches *launches, struct wt_simulation *simulation, struct wt_error *err)
{
    struct wt_stall stall;
    simulation->stall = &stall;
    enum wt_code code = wt_simulate(simulation, err);
    simulation->stall = NULL;
    return code == WT_DEADLOCK ? wt_launches_explain(launches, &stall, err) : code;
}

static enum wt_code simulate_program(const struct wt_launches *launches, struct wt_simulation *simulation,
                                     struct wt_host_timeline *timeline, struct wt_error *err)
{
    struct wt_host *host;
    struct wt_host_observer observer = wt_host_timeline_observer(timeline);
    WT_TRY(wt_host_new(launches->program, simulation->gpu, simulation->kernels, simulation->kernel_count, &observer, &host,
                       err));
    struct wt_front_end front_end = wt_host_front_end(host);
    simulation->front_end = &front_end;
    simulation->first_start = &timeline->lead;
    enum wt_code code = simulate(launches, simulation, err);
    if (code == WT_OK)
        code = wt_host_finish(host, err);
    simulation->front_end = NULL;
    simulation->first_start = NULL;
    wt_host_free(host);
    wt_host_timeline_sort(timeline);
    return code;
}

enum wt_code wt_launches_simulate(const struct wt_launches *launches, struct wt_simulation *simulation,
                                  struct wt_timeline *about, struct wt_error *err)
{
    if (!launches->program)
        return simulate(launches, simulation, err);
    if (!about->host)
        about->host = wt_host_timeline_new(launches->program, simulation->gpu->copy.engines);
    return simulate_program(launches, simulation, about->host, err);
}

void wt_launches_free(struct wt_launches *launches)
{
    if (!launches)
        return;
    for (size_t i = 0; i < launches->count; i++) {
        struct launch_model *model = &launches->models->list[i];
        wt_tasks_free(model->tasks);
        wt_waiting_free(model->waiting);
        wt_rework_free(model->rework);
        wt_fixed_free(model->fixed);
    }
    wt_warp_free(launches->warp);
    wt_by_kernel_free(launches->models->by_kernel);
    wt_fluid_free(launches->models->fluid);
    free(launches->models->sharers);
    free(launches->models->programs);
    free(launches->models->list);
    free(launches->models);
    for (size_t i = 0; launches->program && i < launches->program->thread_count; i++)
        free((void *)launches->program->threads[i].calls);
    if (launches->program)
        free((void *)launches->program->threads);
    free(launches->program);
    free(launches->kernels);
    wt_timeline_free(launches->about);
    free(launches);
}

/* ---- Tasks ---- */

static void tell_tasks(void *context, const struct wt_block_run *run)
{
    const struct wt_task_teller *teller = context;
    const struct wt_tasks *tasks = teller->launches->models->list[run->launch].tasks;
    if (tasks)
        wt_tasks_tell(tasks, run, teller->observers, teller->count);
}

struct wt_observer wt_task_teller_observer(const struct wt_task_teller *teller)
{
    return (struct wt_observer){.context = (void *)(uintptr_t)teller, .block_done = tell_tasks};
}

/* ---- Deadlock ---- */

/* Owned by the caller. */
static char *waiting_text(const struct launch_model *model, const struct wt_standstill *s)
{
    const char *verb = s->waiting == 1 ? "block waits" : "blocks wait";
    if (model->kernel->behaviour.waits.pattern == WT_WAIT_ALL)
        return wt_format("%" PRIu64 " %s at a barrier of the grid for block %" PRIu64, s->waiting, verb, s->awaited);
    if (s->waiting == 1)
        return wt_format("block %" PRIu64 " waits for block %" PRIu64, s->block, s->awaited);
    return wt_format("%" PRIu64 " blocks wait, block %" PRIu64 " for block %" PRIu64, s->waiting, s->block, s->awaited);
}

/* What became of the block that the chain of waiting ends at. */
static char *missing_text(const struct wt_launches *launches, const struct wt_stall *stall, const struct wt_standstill *s)
{
    uint64_t grid_blocks = launches->kernels[stall->kernel].grid_blocks;
    if (s->missing == grid_blocks)
        return wt_strdup("and they wait for each other in a circle; let one go first");
    char *chain = s->awaited == s->missing ? wt_strdup("which")
                                           : wt_format("which waits in turn, in the end for block %" PRIu64 ", which", s->missing);
    char *queue = s->missing > stall->next_block ? wt_format(" stands in the queue behind block %" PRIu64 " and", stall->next_block)
                                                 : wt_strdup("");
    char lacking[200];
    wt_why_describe(&stall->why, lacking, sizeof lacking);
    char *text = wt_format("%s%s cannot start on %d of %d SMs: %s; launch at most %" PRIu64 " blocks, or wait only for blocks of "
                           "lower number", chain, queue, stall->sms, launches->models->gpu->topology.sm_count, lacking,
                           stall->running);
    free(chain);
    free(queue);
    return text;
}

enum wt_code wt_launches_explain(const struct wt_launches *launches, const struct wt_stall *stall, struct wt_error *err)
{
    const struct launch_model *model = &launches->models->list[stall->kernel];
    struct wt_standstill standstill;
    if (!model->waiting || !wt_waiting_standstill(model->waiting, &standstill))
        return WT_DEADLOCK;
    char *waiting = waiting_text(model, &standstill), *missing = missing_text(launches, stall, &standstill);
    struct wt_error placed = {0};
    wt_fail_at(&placed, launches->models->workload->path, model->kernel->behaviour.waits.line, "deadlock: kernel '%s': %s, %s",
               model->kernel->name, waiting, missing);
    if (err)
        *err = (struct wt_error){0};
    wt_fail(err, WT_DEADLOCK, "%s", placed.text);
    free(waiting);
    free(missing);
    return WT_DEADLOCK;
}

wt_time wt_launches_stuck_since(const struct wt_launches *launches)
{
    struct wt_standstill standstill;
    for (size_t i = 0; i < launches->count; i++) {
        const struct wt_waiting *waiting = launches->models->list[i].waiting;
        if (waiting && wt_waiting_standstill(waiting, &standstill))
            return standstill.since;
    }
    return WT_NEVER;
}
