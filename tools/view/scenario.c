#include "scenario.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "dispatch/simulate.h"
#include "observe/standing.h"
#include "origin.h"
#include "study/launches.h"

const char *const order_names[ORDERS] = {"as is", "longest first", "shuffled"};

/* A kernel as it is simulated. */
struct prepared {
    const struct scenario_kernel *kernel;
    struct wt_launch_needs needs;
    uint64_t blocks;
    uint32_t *order; /* queue position -> block; NULL: as is; owned */
    uint64_t old_threads, new_threads;
};

struct recorder {
    struct wt_timeline *timeline;
    const struct prepared *prepared;
};

struct changes changes_none(void)
{
    return (struct changes){.threads = -1, .registers = -1, .dynamic_shared = -1};
}

/* ---- From a workload ---- */

static void take_kernel(struct scenario_kernel *kernel, const struct wt_kernel *from, const struct wt_launch_needs *needs)
{
    kernel->name = wt_strdup(from->name);
    kernel->needs = *needs;
    kernel->needs_known = true;
    kernel->blocks = from->grid_blocks;
    kernel->durations = wt_alloc(from->grid_blocks, sizeof *kernel->durations);
    for (uint64_t i = 0; i < from->grid_blocks; i++)
        kernel->durations[i] = from->cost.duration(from->cost.context, i);
}

/* What the panel needs to know of kernels that are simulated from their file. */
static void take_needs(struct scenario *scenario, const struct wt_workload *workload)
{
    scenario->programs = workload->kernels[0].program != NULL;
    scenario->workload = wt_strdup(workload->path);
    scenario->kernels = wt_alloc(workload->kernel_count, sizeof *scenario->kernels);
    scenario->count = workload->kernel_count;
    for (size_t i = 0; i < scenario->count; i++)
        scenario->kernels[i] = (struct scenario_kernel){.name = wt_strdup(workload->kernels[i].name),
                                                        .needs = workload->kernels[i].needs, .needs_known = true};
}

static bool needs_the_file(const struct wt_workload *workload, const struct wt_launches *launches)
{
    bool clusters = false;
    for (size_t i = 0; i < workload->kernel_count; i++)
        clusters |= workload->kernels[i].cluster > 1;
    return clusters || launches->sharing || launches->program;
}

static struct scenario *take_launches(const struct wt_workload *workload, const struct wt_launches *launches,
                                      const char *gpu, uint64_t seed)
{
    struct scenario *scenario = wt_alloc(1, sizeof *scenario);
    scenario->title = wt_strdup(workload->title);
    scenario->gpu = wt_strdup(gpu);
    scenario->placement = workload->placement ? wt_strdup(workload->placement) : NULL;
    scenario->seed = seed;
    if (needs_the_file(workload, launches)) {
        take_needs(scenario, workload);
        return scenario;
    }
    scenario->kernels = wt_alloc(launches->count, sizeof *scenario->kernels);
    for (size_t k = 0; k < workload->kernel_count; k++)
        for (int i = 0; i < workload->kernels[k].repeat; i++) {
            take_kernel(&scenario->kernels[scenario->count], &launches->kernels[scenario->count],
                        &workload->kernels[k].needs);
            scenario->count++;
        }
    return scenario;
}

static enum wt_code launch_on(const struct wt_workload *workload, const char *gpu_name, uint64_t seed,
                              struct scenario **out, struct wt_error *err)
{
    struct wt_gpu *gpu;
    WT_TRY(wt_gpu_load(gpu_name, &gpu, err));
    struct wt_launches *launches;
    enum wt_code code = wt_launches_new(workload, gpu, seed, false, &launches, err);
    if (code == WT_OK)
        *out = take_launches(workload, launches, gpu_name, seed);
    wt_launches_free(launches);
    wt_gpu_free(gpu);
    return code;
}

enum wt_code scenario_from_workload(const char *path, const char *gpu, uint64_t seed, bool seed_given,
                                    struct scenario **out, struct wt_error *err)
{
    struct wt_workload *workload;
    *out = NULL;
    WT_TRY(wt_workload_read(path, &workload, err));
    const char *name = gpu ? gpu : workload->gpu ? workload->gpu : "h200";
    enum wt_code code = launch_on(workload, name, seed_given ? seed : workload->seed, out, err);
    wt_workload_free(workload);
    return code;
}

/* ---- From a run ---- */

static bool take_durations(const struct run *run, size_t launch, struct scenario_kernel *kernel)
{
    for (uint64_t i = 0; i < kernel->blocks; i++) {
        uint32_t span = run_find_block(run, launch, i);
        if (span == NO_SPAN)
            return false;
        wt_time duration = run_span(run, span)->end - run_span(run, span)->start;
        kernel->durations[i] = duration > WT_CYCLE ? duration : WT_CYCLE;
    }
    return true;
}

static bool take_launch(const struct run *run, size_t index, struct scenario_kernel *kernel)
{
    const struct wt_timeline_launch *launch = &run->timeline->launches[index];
    kernel->name = wt_strdup(launch->name);
    kernel->blocks = launch->grid_blocks;
    kernel->needs_known = run->launches[index].needs_known;
    kernel->needs = launch->needs;
    if (!kernel->needs_known)
        kernel->needs = (struct wt_launch_needs){.threads = launch->threads_per_block, .carveout_kb = WT_CARVEOUT_DEFAULT};
    if (kernel->needs.threads < 1 || kernel->blocks < 1 || kernel->blocks > run->timeline->span_count)
        return false;
    kernel->durations = wt_alloc(kernel->blocks, sizeof *kernel->durations);
    return take_durations(run, index, kernel);
}

struct scenario *scenario_from_run(const struct run *run)
{
    struct scenario *scenario = wt_alloc(1, sizeof *scenario);
    scenario->title = wt_strdup(run->timeline->title);
    scenario->gpu = wt_strdup(run->gpu ? run->gpu->path : "h200");
    scenario->seed = 1;
    scenario->count = run->timeline->launch_count;
    scenario->kernels = wt_alloc(scenario->count, sizeof *scenario->kernels);
    for (size_t i = 0; i < scenario->count; i++)
        if (!take_launch(run, i, &scenario->kernels[i])) {
            scenario_free(scenario);
            return NULL;
        }
    return scenario;
}

void scenario_free(struct scenario *scenario)
{
    if (!scenario)
        return;
    for (size_t i = 0; i < scenario->count; i++) {
        free(scenario->kernels[i].name);
        free(scenario->kernels[i].durations);
    }
    free(scenario->kernels);
    free(scenario->title);
    free(scenario->gpu);
    free(scenario->placement);
    free(scenario->workload);
    free(scenario);
}

/* ---- Simulating ---- */

static wt_time duration_of(const struct prepared *prepared, uint64_t block)
{
    uint64_t old = block * prepared->new_threads / prepared->old_threads;
    return prepared->kernel->durations[old < prepared->kernel->blocks ? old : prepared->kernel->blocks - 1];
}

static wt_time queued_duration(void *context, uint64_t position)
{
    const struct prepared *prepared = context;
    return duration_of(prepared, prepared->order ? prepared->order[position] : position);
}

struct sortable {
    wt_time duration;
    uint32_t block;
};

static int compare_longest_first(const void *left, const void *right)
{
    const struct sortable *a = left, *b = right;
    if (a->duration != b->duration)
        return a->duration < b->duration ? 1 : -1;
    return (a->block > b->block) - (a->block < b->block);
}

static void sort_longest_first(struct prepared *prepared)
{
    struct sortable *blocks = wt_alloc(prepared->blocks, sizeof *blocks);
    for (uint64_t i = 0; i < prepared->blocks; i++)
        blocks[i] = (struct sortable){duration_of(prepared, i), (uint32_t)i};
    qsort(blocks, prepared->blocks, sizeof *blocks, compare_longest_first);
    for (uint64_t i = 0; i < prepared->blocks; i++)
        prepared->order[i] = blocks[i].block;
    free(blocks);
}

static void shuffle(struct prepared *prepared, uint64_t seed)
{
    struct wt_random random = wt_random_stream(seed, "view shuffle", 0);
    for (uint32_t i = 0; i < prepared->blocks; i++)
        prepared->order[i] = i;
    for (uint32_t i = (uint32_t)prepared->blocks; i > 1; i--) {
        uint32_t other = wt_random_below(&random, i), swap = prepared->order[i - 1];
        prepared->order[i - 1] = prepared->order[other];
        prepared->order[other] = swap;
    }
}

static void put_in_order(struct prepared *prepared, enum block_order order, uint64_t seed)
{
    if (order == ORDER_AS_IS || prepared->blocks > UINT32_MAX)
        return;
    prepared->order = wt_alloc(prepared->blocks, sizeof *prepared->order);
    if (order == ORDER_LONGEST_FIRST)
        sort_longest_first(prepared);
    else
        shuffle(prepared, seed);
}

static struct prepared prepare(const struct scenario_kernel *kernel, const struct changes *changes, uint64_t seed)
{
    struct prepared p = {.kernel = kernel, .needs = kernel->needs};
    p.old_threads = (uint64_t)kernel->needs.threads;
    p.needs.threads = changes->threads > 0 ? changes->threads : p.needs.threads;
    p.needs.registers_per_thread = changes->registers >= 0 ? changes->registers : p.needs.registers_per_thread;
    p.needs.dynamic_shared_bytes = changes->dynamic_shared >= 0 ? changes->dynamic_shared : p.needs.dynamic_shared_bytes;
    p.new_threads = (uint64_t)p.needs.threads;
    p.blocks = (kernel->blocks * p.old_threads + p.new_threads - 1) / p.new_threads;
    put_in_order(&p, changes->order, seed);
    return p;
}

static enum wt_code fit(const struct prepared *p, const struct wt_gpu *gpu, struct wt_kernel *kernel,
                        struct wt_timeline *timeline, struct wt_error *err)
{
    struct wt_occupancy occupancy;
    WT_TRY(wt_launch_check(&gpu->limits, &p->needs, err));
    WT_TRY(wt_shape_make(&gpu->limits, &p->needs, &kernel->shape, err));
    WT_TRY(wt_occupancy(&gpu->limits, &p->needs, &occupancy, err));
    kernel->name = p->kernel->name;
    kernel->grid_blocks = p->blocks;
    kernel->cost = (struct wt_cost){queued_duration, (void *)(uintptr_t)p};
    struct wt_timeline_launch launch = {.name = p->kernel->name,
                                        .number = (long)timeline->launch_count,
                                        .grid_blocks = p->blocks,
                                        .threads_per_block = kernel->shape.threads,
                                        .warps_per_block = kernel->shape.warps,
                                        .blocks_per_sm = occupancy.blocks_per_sm,
                                        .needs = p->needs};
    wt_timeline_add_launch(timeline, &launch);
    return WT_OK;
}

/* Blocks keep their own numbers whatever the order in which they were queued. */
static void record_block(void *context, const struct wt_block_run *run)
{
    const struct recorder *recorder = context;
    const uint32_t *order = recorder->prepared[run->launch].order;
    struct wt_block_run named = *run;
    named.block = order ? order[run->block] : run->block;
    wt_timeline_add(recorder->timeline, &named);
}

static void record_end(void *context, uint32_t launch, wt_time queue_empty, wt_time end)
{
    const struct recorder *recorder = context;
    (void)end;
    recorder->timeline->launches[launch].queue_empty = queue_empty;
}

/* Who sees what the simulation does. */
struct watchers {
    struct wt_why *why;        /* NULL: nothing is asked */
    struct wt_standing *standing; /* NULL: nothing can come to a standstill */
    struct wt_watch list[2];
};

static void watch(struct watchers *watchers, struct wt_simulation *simulation)
{
    simulation->watches = watchers->list;
    if (watchers->why)
        watchers->list[simulation->watch_count++] = wt_why_watch(watchers->why);
    if (watchers->standing)
        watchers->list[simulation->watch_count++] = wt_standing_watch(watchers->standing);
}

static enum wt_code simulate_on(const struct scenario *scenario, const struct prepared *prepared, const struct wt_gpu *gpu,
                                struct watchers *watchers, struct wt_timeline *timeline, struct wt_error *err)
{
    const struct wt_policy *policy = NULL;
    if (scenario->placement)
        WT_TRY(wt_policy_find(scenario->placement, &policy, err));
    struct wt_kernel *kernels = wt_alloc(scenario->count, sizeof *kernels);
    enum wt_code code = WT_OK;
    for (size_t i = 0; code == WT_OK && i < scenario->count; i++)
        code = fit(&prepared[i], gpu, &kernels[i], timeline, err);
    struct recorder recorder = {timeline, prepared};
    struct wt_observer observer = {.context = &recorder, .block_done = record_block, .launch_ends = record_end};
    struct wt_simulation simulation = {.gpu = gpu, .policy = policy, .kernels = kernels, .kernel_count = scenario->count,
                                       .seed = scenario->seed, .first_group = -1, .first_extra_sm = -1,
                                       .observers = &observer, .observer_count = 1};
    watch(watchers, &simulation);
    if (code == WT_OK)
        code = wt_simulate(&simulation, err);
    free(kernels);
    return code;
}

static struct wt_timeline *describe(const struct scenario *scenario, const struct wt_gpu *gpu)
{
    struct wt_timeline *timeline = wt_timeline_new(scenario->title, gpu->name, gpu->topology.sm_count);
    timeline->clock_mhz = gpu->clock_mhz;
    timeline->warps_per_sm = gpu->limits.warps_per_sm;
    memcpy(timeline->gpc_of_sm, gpu->topology.gpc_of_sm, (size_t)timeline->sm_count * sizeof *timeline->gpc_of_sm);
    return timeline;
}

/* ---- Simulating from the workload's file ---- */

static void change_kernel(struct wt_workload_kernel *kernel, const struct changes *changes)
{
    static const int orders[ORDERS] = {WT_ORDER_ASIS, WT_ORDER_LONGEST_FIRST, WT_ORDER_SHUFFLE};
    if (changes->threads > 0) {
        uint64_t threads = kernel->grid_blocks * (uint64_t)kernel->needs.threads;
        kernel->grid_blocks = (threads + (uint64_t)changes->threads - 1) / (uint64_t)changes->threads;
        kernel->needs.threads = changes->threads;
    }
    kernel->needs.registers_per_thread = changes->registers >= 0 ? changes->registers : kernel->needs.registers_per_thread;
    kernel->needs.dynamic_shared_bytes =
        changes->dynamic_shared >= 0 ? changes->dynamic_shared : kernel->needs.dynamic_shared_bytes;
    kernel->order = changes->order == ORDER_AS_IS || kernel->program ? kernel->order : orders[changes->order];
}

static enum wt_code simulate_launches(const struct scenario *scenario, const struct wt_launches *launches, const struct wt_gpu *gpu,
                                      struct watchers *watchers, struct wt_timeline *timeline, struct wt_error *err)
{
    const struct wt_policy *policy = NULL;
    if (scenario->placement)
        WT_TRY(wt_policy_find(scenario->placement, &policy, err));
    struct wt_observer observers[2] = {wt_timeline_observer(timeline)};
    struct wt_task_teller teller = {launches, observers, 1};
    observers[1] = wt_task_teller_observer(&teller);
    struct wt_simulation simulation = {.gpu = gpu, .policy = policy, .kernels = launches->kernels, .kernel_count = launches->count,
                                       .seed = scenario->seed, .first_group = -1, .first_extra_sm = -1,
                                       .sharing = launches->sharing, .observers = observers, .observer_count = 2};
    watch(watchers, &simulation);
    return wt_launches_simulate(launches, &simulation, timeline, err);
}

/* All are the caller's, also when it fails; NULL: it did not come to that. */
struct outcome {
    struct wt_gpu *gpu;
    struct wt_timeline *timeline;
    struct wt_why *why; /* NULL: nothing was asked */
    struct wt_warp_states *warps; /* NULL: no kernel has a program */
};

enum { WARP_STATE_BYTES = 64 << 20 };

/* Warps are watched where there are any. */
static enum wt_code watch_warps(const struct scenario *scenario, struct wt_launches *launches, struct outcome *out,
                                struct wt_warp_observer *observer, struct wt_error *err)
{
    if (!launches->warp || out->why)
        return WT_OK;
    out->warps = wt_warp_states_new(out->gpu, WARP_STATE_BYTES);
    *observer = wt_warp_states_observer(out->warps);
    struct wt_warp_setup setup = {.observer = observer};
    return wt_launches_set_warps(launches, &setup, scenario->seed, err);
}

/* A deadlock is worth seeing, too: its blocks stay on their SMs. */
static enum wt_code note_deadlock(const struct wt_standing *standing, const struct wt_launches *launches, const char *message,
                                  struct outcome *out, struct wt_error *err)
{
    wt_standing_add(standing, wt_launches_stuck_since(launches), message, out->timeline);
    return out->timeline->span_count > 0 ? WT_OK : wt_fail(err, WT_DEADLOCK, "%s", message);
}

static enum wt_code simulate_watched(const struct scenario *scenario, struct wt_launches *launches, const struct wt_gpu *gpu,
                                     struct outcome *out, struct wt_error *err)
{
    struct watchers watchers = {.why = out->why, .standing = wt_standing_new(gpu->topology.sm_count)};
    struct wt_error inner = {0};
    struct wt_warp_observer observer;
    enum wt_code code = watch_warps(scenario, launches, out, &observer, &inner);
    if (code == WT_OK)
        code = simulate_launches(scenario, launches, gpu, &watchers, out->timeline, &inner);
    if (out->warps)
        wt_warp_states_finish(out->warps, wt_standing_first_start(watchers.standing));
    if (code == WT_DEADLOCK)
        code = note_deadlock(watchers.standing, launches, inner.text, out, err);
    else if (code != WT_OK)
        wt_fail(err, code, "%s", inner.text);
    wt_standing_free(watchers.standing);
    return code;
}

static enum wt_code simulate_workload(const struct scenario *scenario, const struct changes *changes, const struct wt_gpu *gpu,
                                      struct outcome *out, struct wt_error *err)
{
    struct wt_workload *workload;
    struct wt_launches *launches;
    WT_TRY(wt_workload_read(scenario->workload, &workload, err));
    for (size_t i = 0; i < workload->kernel_count; i++)
        change_kernel(&workload->kernels[i], changes);
    enum wt_code code = wt_launches_new(workload, gpu, scenario->seed, false, &launches, err);
    if (code == WT_OK) {
        out->timeline = launches->about;
        launches->about = NULL;
        code = simulate_watched(scenario, launches, gpu, out, err);
    }
    wt_launches_free(launches);
    wt_workload_free(workload);
    return code;
}

static enum wt_code simulate_kernels(const struct scenario *scenario, const struct changes *changes, const struct wt_gpu *gpu,
                                     struct outcome *out, struct wt_error *err)
{
    struct prepared *prepared = wt_alloc(scenario->count, sizeof *prepared);
    for (size_t i = 0; i < scenario->count; i++)
        prepared[i] = prepare(&scenario->kernels[i], changes, scenario->seed);
    struct watchers watchers = {.why = out->why};
    out->timeline = describe(scenario, gpu);
    enum wt_code code = simulate_on(scenario, prepared, gpu, &watchers, out->timeline, err);
    for (size_t i = 0; i < scenario->count; i++)
        free(prepared[i].order);
    free(prepared);
    return code;
}

static enum wt_code simulate(const struct scenario *scenario, const struct changes *changes, const struct wt_why_question *question,
                             struct outcome *out, struct wt_error *err)
{
    *out = (struct outcome){0};
    WT_TRY(wt_gpu_load(changes->gpu ? changes->gpu : scenario->gpu, &out->gpu, err));
    if (question)
        out->why = wt_why_new(question, out->gpu->topology.sm_count);
    return (scenario->workload ? simulate_workload : simulate_kernels)(scenario, changes, out->gpu, out, err);
}

enum wt_code scenario_simulate(const struct scenario *scenario, const struct changes *changes, const char *label,
                               struct run **out, struct wt_error *err)
{
    struct outcome outcome;
    *out = NULL;
    enum wt_code code = simulate(scenario, changes, NULL, &outcome, err);
    if (code == WT_OK) {
        *out = run_new(label, outcome.timeline, outcome.gpu);
        (*out)->origin = origin_scenario(scenario, changes);
        (*out)->warp_states = outcome.warps;
        return WT_OK;
    }
    wt_warp_states_free(outcome.warps);
    wt_timeline_free(outcome.timeline);
    wt_gpu_free(outcome.gpu);
    return code;
}

enum wt_code scenario_ask(const struct scenario *scenario, const struct changes *changes, const struct wt_why_question *question,
                          struct wt_why **out, struct wt_error *err)
{
    struct outcome outcome;
    enum wt_code code = simulate(scenario, changes, question, &outcome, err);
    wt_timeline_free(outcome.timeline);
    wt_gpu_free(outcome.gpu);
    wt_warp_states_free(outcome.warps);
    *out = NULL;
    if (code == WT_OK) {
        wt_why_finish(outcome.why);
        *out = outcome.why;
    } else {
        wt_why_free(outcome.why);
    }
    return code;
}
