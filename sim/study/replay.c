#include "study/replay.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "dispatch/simulate.h"
#include "observe/measured.h"
#include "sm/occupancy.h"
#include "study/arrivals.h"
#include "study/part.h"
#include "study/replay_tasks.h"
#include "study/unseen.h"
#include "trace/topology.h"
#include "trace/used_tpcs.h"

/* What is tried where no release tells what blocks stay beyond their clock reads. */
enum { MOST_UNSEEN_CYCLES = 240, UNSEEN_STEP_CYCLES = 8 };

struct measurement {
    wt_time start, duration;
    uint16_t sm;
};

/* One launch under way: what was measured, and where the prediction goes. */
struct launch {
    const struct wt_trace_launch *trace;
    size_t index;
    uint64_t blocks;
    struct measurement *measured; /* by block; owned */
    wt_time first_start;          /* measured */
    bool *used_tpcs;              /* by TPC: whether the launch before it ran there; NULL: not told; owned */
    struct wt_shape shape;
    int blocks_per_sm;
    double unseen_cycles;
    bool unseen_untold; /* by single releases: replays may tell */
    double *start_errors; /* by block, cycles */
    uint64_t first_wave_hits;
    uint64_t first_wave_blocks;
};

/* Launches that are simulated together. */
struct batch {
    struct wt_replay *replay;
    struct launch *launches;
    size_t count;
    wt_time begin; /* measured first start of all: the simulation's 0 */
    double origin; /* time 0 of the measured timeline on the clocks' axis */
};

/* ---- What cannot be replayed ---- */

static enum wt_code refuse_kinds(const struct wt_trace *trace, struct wt_error *err)
{
    unsigned besides = WT_TRACE_COOPERATIVE | WT_TRACE_CONCURRENT | WT_TRACE_CLUSTERED;
    if (!(wt_trace_kinds(trace) & WT_TRACE_CONCURRENT))
        besides |= WT_TRACE_PERSISTENT;
    const char *special = wt_trace_special_kind(trace, besides);
    if (!special)
        return WT_OK;
    return wt_fail_at(err, trace->path, 0,
                      "has %s, which are not modelled beside others; give a trace of launches one after another",
                      special);
}

static enum wt_code check_launch(const struct wt_trace *trace, const struct wt_trace_launch *launch,
                                 struct wt_error *err)
{
    if (wt_trace_block_threads(launch) < 1 || launch->registers_per_thread < 0)
        return wt_fail_at(err, trace->path, launch->line,
                          "launch %ld: the threads of a block and their registers are not stated; add block=X,Y,Z and "
                          "regs=N to a '# launch %ld:' line", launch->number, launch->number);
    uint64_t blocks = wt_trace_grid_blocks(launch);
    if (launch->tasks == 0 && launch->row_count != blocks)
        return wt_fail_at(err, trace->path, launch->line,
                          "launch %ld: %zu of the grid's %llu blocks have a row; capture again with a larger buffer",
                          launch->number, launch->row_count, (unsigned long long)blocks);
    return WT_OK;
}

/* ---- The GPU ---- */

static enum wt_code load_gpu(const struct wt_trace *trace, const char *name, struct wt_gpu **out,
                             struct wt_error *err)
{
    if (name)
        WT_TRY(wt_gpu_load(name, out, err));
    else
        WT_TRY(wt_trace_gpu(trace, out, err));
    int sms = (*out)->topology.sm_count;
    if (trace->sm_count == sms || (trace->sm_count < sms && !trace->sm_count_stated))
        return WT_OK;
    enum wt_code code = wt_fail_at(err, trace->path, 0, "was captured on %d SMs, but %s has %d; name the right GPU with "
                                   "--gpu", trace->sm_count, (*out)->name, sms);
    wt_gpu_free(*out);
    *out = NULL;
    return code;
}

/* ---- One launch ---- */

static int cluster_of(const struct wt_trace_launch *launch)
{
    return launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
}

/* Blocks are handed out cluster by cluster, in each in index order: the index of the one that is `place`-th. */
static uint64_t block_at(const struct wt_trace_launch *launch, uint64_t place)
{
    const int *cluster = launch->cluster;
    if (cluster[1] * cluster[2] < 2) /* index order */
        return place;
    uint64_t size = (uint64_t)cluster_of(launch), which = place / size, within = place % size, block = 0, stride = 1;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t side = (uint64_t)cluster[axis], clusters = (uint64_t)launch->grid[axis] / side;
        block += (which % clusters * side + within % side) * stride;
        which /= clusters;
        within /= side;
        stride *= (uint64_t)launch->grid[axis];
    }
    return block;
}

static uint64_t place_of(const struct wt_trace_launch *launch, uint64_t block)
{
    uint64_t place = block, count = wt_trace_grid_blocks(launch);
    if (launch->cluster[1] * launch->cluster[2] >= 2)
        for (place = 0; place < count && block_at(launch, place) != block;)
            place++;
    return place;
}

static wt_time measured_duration(void *context, uint64_t place)
{
    const struct launch *launch = context;
    wt_time duration = launch->measured[block_at(launch->trace, place)].duration;
    return duration > WT_CYCLE ? duration : WT_CYCLE;
}

static void compare(void *context, const struct wt_block_run *run)
{
    struct batch *batch = context;
    struct launch *launch = &batch->launches[run->launch];
    struct wt_block_run moved = *run;
    moved.block = block_at(launch->trace, run->block);
    const struct measurement *measured = &launch->measured[moved.block];
    moved.launch = (uint32_t)launch->index;
    moved.start += batch->begin;
    moved.end += batch->begin;
    wt_timeline_add(batch->replay->predicted, &moved);
    launch->start_errors[run->block] = fabs(wt_to_cycles(moved.start) - wt_to_cycles(measured->start));
    if (run->block < launch->first_wave_blocks)
        launch->first_wave_hits += measured->sm == run->sm;
}

static void note_queue_empty(void *context, uint32_t index, wt_time queue_empty, wt_time end)
{
    (void)end;
    struct batch *batch = context;
    batch->replay->predicted->launches[batch->launches[index].index].queue_empty = queue_empty + batch->begin;
}

static double earliest_start(const struct wt_trace *trace, const struct wt_clocks *clocks)
{
    double earliest = INFINITY;
    for (size_t i = 0; i < trace->row_count; i++)
        earliest = fmin(earliest, wt_clocks_start(clocks, &trace->rows[i]));
    return earliest;
}

/* From the rows themselves: in the timeline a start may have been moved so that slots do not overlap. `origin` is the
 * timeline's, on the clocks' axis. The launch has a row for each block. */
static void take_measurements(struct launch *launch, const struct wt_replay *replay, double origin)
{
    const struct wt_trace_row *rows = wt_trace_rows_of(replay->trace, launch->index);
    launch->measured = wt_alloc(launch->blocks, sizeof *launch->measured);
    for (uint64_t i = 0; i < launch->blocks; i++) {
        double start = wt_clocks_start(replay->clocks, &rows[i]), end = wt_clocks_end(replay->clocks, &rows[i]);
        struct measurement *measured = &launch->measured[rows[i].block];
        measured->start = wt_from_cycles(start - origin);
        measured->duration = wt_from_cycles(end - origin) - measured->start;
        measured->sm = rows[i].sm;
        launch->first_start = measured->start < launch->first_start ? measured->start : launch->first_start;
    }
}

/* By the first wave. */
static void find_used_tpcs(struct launch *launch, const struct wt_gpu *gpu)
{
    struct wt_block_start *starts = wt_alloc(launch->first_wave_blocks, sizeof *starts);
    for (uint64_t i = 0; i < launch->first_wave_blocks; i++) {
        const struct measurement *measured = &launch->measured[block_at(launch->trace, i)];
        starts[i] = (struct wt_block_start){wt_to_cycles(measured->start - launch->first_start), measured->sm};
    }
    if (!launch->used_tpcs)
        launch->used_tpcs = wt_alloc((size_t)gpu->topology.tpc_count, sizeof *launch->used_tpcs);
    wt_used_tpcs(gpu, starts, launch->first_wave_blocks, launch->used_tpcs);
    free(starts);
}

/* Sorts. */
static void quantiles(double *values, uint64_t count, double *p50, double *p95)
{
    wt_sort_numbers(values, count);
    *p50 = wt_quantile(values, count, 50);
    *p95 = wt_quantile(values, count, 95);
}

static double difference(wt_time predicted, wt_time measured)
{
    return wt_to_cycles(predicted) - wt_to_cycles(measured);
}

static double relative(double predicted, double measured)
{
    return measured > 0 ? (predicted - measured) / measured : 0;
}

/* `measured` and `predicted`: its extents. */
static void assess(struct launch *launch, struct wt_replay *replay, const struct wt_launch_extent *measured,
                   const struct wt_launch_extent *predicted)
{
    struct wt_replay_part *part = &replay->launches[launch->index];
    part->blocks = launch->blocks;
    part->makespan_measured = wt_to_cycles(measured->last_end - measured->first_start);
    part->makespan_predicted = wt_to_cycles(predicted->last_end - predicted->first_start);
    part->first_start_error = difference(predicted->first_start, measured->first_start);
    part->last_start_error = difference(predicted->last_start, measured->last_start);
    part->makespan_error = relative(part->makespan_predicted, part->makespan_measured);
    part->occupancy_blocks = launch->blocks_per_sm;
    part->unseen_cycles = launch->unseen_cycles;
    part->first_wave_blocks = launch->first_wave_blocks;
    part->first_wave_placement_match = (double)launch->first_wave_hits / (double)launch->first_wave_blocks;
    quantiles(launch->start_errors, launch->blocks, &part->start_error_p50, &part->start_error_p95);
}

/* Blocks that can be on the GPU at once. */
static uint64_t room_on(const struct wt_gpu *gpu, int cluster, struct wt_occupancy *occupancy)
{
    if (cluster < 2)
        return (uint64_t)occupancy->blocks_per_sm * (uint64_t)gpu->topology.sm_count;
    if (occupancy->blocks_per_sm > WT_MOST_CLUSTER_BLOCKS)
        occupancy->blocks_per_sm = WT_MOST_CLUSTER_BLOCKS;
    return (uint64_t)(wt_active_clusters(&gpu->topology, cluster, occupancy->blocks_per_sm, NULL) * cluster);
}

static enum wt_code fit_launch(struct launch *launch, const struct wt_replay *replay, const struct wt_gpu *gpu,
                               struct wt_error *err)
{
    struct wt_launch_needs needs = wt_trace_needs(launch->trace);
    struct wt_occupancy occupancy;
    struct wt_error inner = {0};
    if (wt_shape_make(&gpu->limits, &needs, &launch->shape, &inner) != WT_OK ||
        wt_occupancy(&gpu->limits, &needs, &occupancy, &inner) != WT_OK)
        return wt_fail_at(err, replay->trace->path, launch->trace->line, "launch %ld does not fit %s: %s",
                          launch->trace->number, gpu->name, inner.text);
    uint64_t room = room_on(gpu, cluster_of(launch->trace), &occupancy);
    launch->blocks_per_sm = occupancy.blocks_per_sm;
    launch->first_wave_blocks = launch->blocks < room ? launch->blocks : room;
    return WT_OK;
}

/* Blocks that replaced no other of their launch: beside other launches fewer may find room at once than fit an SM. */
static uint64_t started_before_first_end(const struct launch *launch)
{
    wt_time first_end = WT_NEVER;
    for (uint64_t i = 0; i < launch->blocks; i++) {
        wt_time end = launch->measured[i].start + launch->measured[i].duration;
        first_end = end < first_end ? end : first_end;
    }
    uint64_t count = 0;
    for (uint64_t i = 0; i < launch->blocks; i++)
        count += launch->measured[i].start < first_end;
    return count;
}

static uint64_t at_once(const struct launch *launch, bool together)
{
    uint64_t started = together ? started_before_first_end(launch) : launch->first_wave_blocks;
    return started < launch->first_wave_blocks ? started : launch->first_wave_blocks;
}

static enum wt_code prepare(struct launch *launch, const struct wt_replay *replay, const struct wt_gpu *gpu, double origin,
                            struct wt_error *err)
{
    if (launch->blocks == 0)
        return WT_OK; /* refused by the runtime: it never ran */
    WT_TRY(check_launch(replay->trace, launch->trace, err));
    WT_TRY(fit_launch(launch, replay, gpu, err));
    if (launch->trace->tasks > 0)
        return WT_OK; /* see replay_tasks.h */
    take_measurements(launch, replay, origin);
    find_used_tpcs(launch, gpu);
    return WT_OK;
}

/* The GPU is as this part is. */
static void take_unseen(struct launch *launch, const struct wt_replay *replay, const struct wt_gpu *gpu,
                        const struct wt_replay_setup *setup)
{
    if (!launch->measured)
        return;
    if (!isnan(setup->unseen_cycles)) {
        launch->unseen_cycles = setup->unseen_cycles;
    } else if (cluster_of(launch->trace) < 2) { /* of clusters it is not told: a freed slot also waits for those of other SMs */
        struct wt_unseen unseen = wt_unseen_time(replay->measured, launch->index, at_once(launch, replay->together),
                                                 !replay->together, &launch->shape, gpu);
        launch->unseen_cycles = unseen.cycles;
        launch->unseen_untold = unseen.samples < WT_UNSEEN_SAMPLES;
    }
}

static struct wt_kernel kernel_of(struct launch *launch)
{
    return (struct wt_kernel){.name = launch->trace->name,
                              .grid_blocks = launch->blocks,
                              .shape = launch->shape,
                              .cluster = cluster_of(launch->trace),
                              .cooperative = launch->trace->cooperative,
                              .priority = launch->trace->priority,
                              .outlast_cycles = launch->unseen_cycles,
                              .cost = {measured_duration, launch}};
}

/* Whether the question is about the batch, which begins at batch->begin: its launch, or the time from its first start to its
 * last end. */
static bool is_asked(const struct batch *batch, const struct wt_why *why)
{
    if (!why)
        return false;
    if (!why->question.moment)
        return why->question.launch >= batch->launches[0].index &&
               why->question.launch <= batch->launches[batch->count - 1].index;
    struct wt_launch_extent *extents = wt_timeline_extents(batch->replay->measured);
    wt_time end = 0;
    for (size_t i = 0; i < batch->count; i++) {
        wt_time its = extents[batch->launches[i].index].last_end;
        end = its > end ? its : end;
    }
    free(extents);
    double at = why->question.cycles + why->shown_from;
    return at >= wt_to_cycles(batch->begin) && at <= wt_to_cycles(end);
}

/* From the file's launches and axis to the batch's. */
static struct wt_watch ask_about(const struct batch *batch, struct wt_why *why)
{
    why->first_launch = (uint32_t)batch->launches[0].index;
    why->block = why->question.block = place_of(batch->replay->trace->launches + why->question.launch, why->question.block);
    why->shown_from = wt_to_cycles(batch->begin);
    why->question.cycles -= why->shown_from;
    why->question.launch -= why->first_launch;
    why->launch = why->question.launch;
    return wt_why_watch(why);
}

/* The first launch of a batch tells where the rotation begins and which TPCs were in use before; of later ones the policy and the engine
 * know. `kernels`: room for each launch. */
static struct wt_simulation simulation_of(struct batch *batch, const struct wt_gpu *gpu, const struct wt_policy *policy,
                                          const struct wt_replay_setup *setup, const struct wt_front_end *front_end,
                                          struct wt_kernel *kernels)
{
    size_t first = 0;
    for (size_t i = 0; i < batch->count; i++) {
        kernels[i] = kernel_of(&batch->launches[i]);
        if (batch->launches[first].blocks == 0 || batch->launches[i].first_start < batch->launches[first].first_start)
            first = i;
    }
    batch->begin = batch->launches[first].first_start;
    struct wt_simulation simulation = {.gpu = gpu, .policy = policy, .kernels = kernels, .kernel_count = batch->count,
                                       .seed = setup->seed, .first_group = -1, .first_extra_sm = -1,
                                       .used_tpcs = batch->launches[first].used_tpcs, .front_end = front_end};
    wt_first_wave_start(batch->replay->trace, batch->launches[first].index, gpu, &simulation.first_group,
                        &simulation.first_extra_sm);
    return simulation;
}

static enum wt_code simulate(struct batch *batch, const struct wt_gpu *gpu, const struct wt_policy *policy,
                             const struct wt_replay_setup *setup, const struct wt_front_end *front_end,
                             struct wt_error *err)
{
    struct wt_kernel *kernels = wt_alloc(batch->count, sizeof *kernels);
    struct wt_simulation simulation = simulation_of(batch, gpu, policy, setup, front_end, kernels);
    struct wt_observer observer = {.context = batch, .block_done = compare, .launch_ends = note_queue_empty};
    simulation.observers = &observer;
    simulation.observer_count = 1;
    struct wt_watch watches[2];
    simulation.watches = watches;
    struct wt_why *why = batch->replay->questions.why;
    bool asked = is_asked(batch, why);
    if (asked)
        watches[simulation.watch_count++] = ask_about(batch, why);
    if (batch->replay->questions.space && batch->launches[0].index == 0) /* of several batches the first */
        watches[simulation.watch_count++] = wt_address_space_watch(batch->replay->questions.space);
    enum wt_code code = wt_simulate(&simulation, err);
    if (asked)
        wt_why_finish(why);
    free(kernels);
    return code;
}

/* Of the blocks that replaced others. */
static void note_error(void *context, const struct wt_block_run *run)
{
    struct batch *batch = context;
    struct launch *launch = batch->launches;
    wt_time measured = launch->measured[block_at(launch->trace, run->block)].start;
    if (run->block >= launch->first_wave_blocks)
        launch->start_errors[run->block] = fabs(wt_to_cycles(run->start + batch->begin) - wt_to_cycles(measured));
}

/* Their median. */
static enum wt_code replacement_error(struct batch *one, const struct wt_gpu *gpu, const struct wt_policy *policy,
                                      const struct wt_replay_setup *setup, double *error, struct wt_error *err)
{
    struct launch *launch = one->launches;
    struct wt_kernel kernel;
    struct wt_simulation simulation = simulation_of(one, gpu, policy, setup, NULL, &kernel);
    struct wt_observer observer = {.context = one, .block_done = note_error};
    simulation.observers = &observer;
    simulation.observer_count = 1;
    WT_TRY(wt_simulate(&simulation, err));
    double *errors = launch->start_errors + launch->first_wave_blocks;
    uint64_t count = launch->blocks - launch->first_wave_blocks;
    wt_sort_numbers(errors, count);
    *error = wt_quantile(errors, count, 50);
    return WT_OK;
}

/* Where no single release tells what blocks stay beyond their clock reads: with what stay their replacements start nearest. It is
 * believed if it is more than twice what they are then still off by. */
static enum wt_code try_unseen(struct batch *one, const struct wt_gpu *gpu, const struct wt_policy *policy,
                               const struct wt_replay_setup *setup, struct wt_error *err)
{
    struct launch *launch = one->launches;
    double best = 0, least = INFINITY, error = 0;
    for (int tried = 0; tried <= MOST_UNSEEN_CYCLES; tried += UNSEEN_STEP_CYCLES) {
        launch->unseen_cycles = tried;
        WT_TRY(replacement_error(one, gpu, policy, setup, &error, err));
        best = error < least ? tried : best;
        least = fmin(least, error);
    }
    launch->unseen_cycles = best > 2 * least ? best : 0;
    return WT_OK;
}

/* By launch. */
static void note_first_start(void *context, const struct wt_block_run *run)
{
    wt_time *first = (wt_time *)context + run->launch;
    *first = run->start < *first ? run->start : *first;
}

/* When each launch would start its first block if they arrived so, on the measured axis; WT_NEVER: it has none. */
static enum wt_code first_starts(struct batch *all, const struct wt_gpu *gpu, const struct wt_policy *policy,
                                 const struct wt_replay_setup *setup, const struct wt_arrivals *arrivals, wt_time *first,
                                 struct wt_error *err)
{
    struct wt_kernel *kernels = wt_alloc(all->count, sizeof *kernels);
    struct wt_arrivals copy = wt_arrivals_copy(arrivals);
    struct wt_front_end front_end = wt_arrivals_front_end(&copy);
    struct wt_simulation simulation = simulation_of(all, gpu, policy, setup, &front_end, kernels);
    struct wt_observer observer = {.context = first, .block_done = note_first_start};
    simulation.observers = &observer;
    simulation.observer_count = 1;
    for (size_t i = 0; i < all->count; i++)
        first[i] = WT_NEVER;
    enum wt_code code = wt_simulate(&simulation, err);
    for (size_t i = 0; i < all->count; i++)
        first[i] += first[i] == WT_NEVER ? 0 : all->begin;
    wt_arrivals_free(&copy);
    free(kernels);
    return code;
}

/* ---- The whole file ---- */

static void describe_prediction(struct wt_replay *replay, const struct wt_gpu *gpu)
{
    const struct wt_topology *t = &gpu->topology;
    replay->predicted = wt_timeline_new(replay->measured->title, gpu->name, t->sm_count);
    replay->predicted->clock_mhz = replay->measured->clock_mhz;
    replay->predicted->warps_per_sm = gpu->limits.warps_per_sm;
    replay->measured->warps_per_sm = gpu->limits.warps_per_sm;
    memcpy(replay->predicted->gpc_of_sm, t->gpc_of_sm, (size_t)t->sm_count * sizeof *t->gpc_of_sm);
    for (size_t i = 0; i < replay->measured->launch_count; i++)
        wt_timeline_add_launch(replay->predicted, &replay->measured->launches[i]);
}

/* `start_errors`: of all rows. */
static void sum_up(struct wt_replay *replay, double *start_errors)
{
    struct wt_replay_part *whole = &replay->whole;
    *whole = replay->launches[0];
    if (replay->trace->launch_count == 1)
        return;
    double hits = 0;
    uint64_t starts = 0;
    whole->blocks = whole->tasks = whole->first_wave_blocks = 0;
    for (size_t i = 0; i < replay->trace->launch_count; i++) {
        const struct wt_replay_part *part = &replay->launches[i];
        whole->blocks += part->blocks;
        whole->tasks += part->tasks;
        starts += replay->trace->launches[i].row_count;
        whole->first_wave_blocks += part->first_wave_blocks;
        hits += part->first_wave_placement_match * (double)part->first_wave_blocks;
    }
    quantiles(start_errors, starts, &whole->start_error_p50, &whole->start_error_p95);
    whole->last_start_error = replay->launches[replay->trace->launch_count - 1].last_start_error;
    whole->first_wave_placement_match = hits / (double)whole->first_wave_blocks;
    whole->makespan_measured = wt_to_cycles(wt_timeline_end(replay->measured));
    whole->makespan_predicted = wt_to_cycles(wt_timeline_end(replay->predicted));
    whole->makespan_error = relative(whole->makespan_predicted, whole->makespan_measured);
}

static enum wt_code replay_tasks(struct batch *one, const struct wt_gpu *gpu, const struct wt_policy *policy,
                                 const struct wt_replay_setup *setup, struct wt_error *err)
{
    struct launch *launch = one->launches;
    struct wt_task_replay what = {one->replay, launch->index, gpu, policy, setup, &launch->shape, one->origin};
    one->replay->launches[launch->index].occupancy_blocks = launch->blocks_per_sm;
    return wt_replay_tasks(&what, &one->replay->launches[launch->index], launch->start_errors, err);
}

/* One after another: each on its own, beginning when it really began. */
static enum wt_code replay_apart(struct batch *all, const struct wt_gpu *gpu, const struct wt_policy *policy,
                                 const struct wt_replay_setup *setup, struct wt_error *err)
{
    for (size_t i = 0; i < all->count; i++) {
        struct batch one = {all->replay, &all->launches[i], 1, 0, all->origin};
        if (all->launches[i].trace->tasks > 0)
            WT_TRY(replay_tasks(&one, gpu, policy, setup, err));
        if (all->launches[i].unseen_untold && all->launches[i].blocks > all->launches[i].first_wave_blocks)
            WT_TRY(try_unseen(&one, gpu, policy, setup, err));
        if (all->launches[i].trace->tasks == 0 && all->launches[i].blocks > 0)
            WT_TRY(simulate(&one, gpu, policy, setup, NULL, err));
    }
    return WT_OK;
}

/* On the GPU at once: all in one simulation, arriving as the trace tells. */
static enum wt_code replay_together(struct batch *all, const struct wt_gpu *gpu, const struct wt_policy *policy,
                                    const struct wt_replay_setup *setup, struct wt_error *err)
{
    struct wt_arrivals arrivals;
    wt_arrivals_find(all->replay->trace, all->replay->measured, gpu, &arrivals);
    struct wt_launch_extent *measured = wt_timeline_extents(all->replay->measured);
    wt_time *first = wt_alloc(all->count, sizeof *first);
    enum wt_code code = WT_OK;
    bool wrong = true;
    for (size_t tries = 0; tries < all->count && wrong && code == WT_OK; tries++) {
        code = first_starts(all, gpu, policy, setup, &arrivals, first, err);
        wrong = code == WT_OK && wt_arrivals_delay(&arrivals, measured, first);
    }
    struct wt_front_end front_end = wt_arrivals_front_end(&arrivals);
    if (code == WT_OK)
        code = simulate(all, gpu, policy, setup, &front_end, err);
    free(first);
    free(measured);
    wt_arrivals_free(&arrivals);
    return code;
}

struct change {
    wt_time time;
    struct launch *launch;
    uint16_t sm;
    bool start;
};

/* Ends first. */
static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->start - b->start;
}

static struct change *changes_of(const struct batch *all, size_t *count)
{
    size_t rows = 0;
    for (size_t i = 0; i < all->count; i++)
        rows += all->launches[i].measured ? all->launches[i].blocks : 0;
    struct change *changes = wt_alloc(2 * rows, sizeof *changes);
    *count = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct launch *launch = &all->launches[i];
        for (uint64_t block = 0; launch->measured && block < launch->blocks; block++) {
            const struct measurement *m = &launch->measured[block];
            changes[(*count)++] = (struct change){m->start, launch, m->sm, true};
            changes[(*count)++] = (struct change){m->start + m->duration + 1, launch, m->sm, false};
        }
    }
    qsort(changes, *count, sizeof *changes, by_time);
    return changes;
}

/* Traces rarely state a preferred shared-memory configuration. An SM's changes only when it is empty: the kernel whose block was the first
 * on an SM, and beside which another that needs a larger one started, must have preferred that. */
static void infer_configurations(struct batch *all)
{
    struct {
        struct launch *opened; /* by a block of it */
        uint64_t blocks;
    } sms[WT_MAX_SMS] = {0};
    size_t count;
    struct change *changes = changes_of(all, &count);
    for (size_t i = 0; i < count; i++) {
        const struct change *change = &changes[i];
        if (!change->start) {
            sms[change->sm].blocks--;
            continue;
        }
        if (sms[change->sm].blocks++ == 0)
            sms[change->sm].opened = change->launch;
        struct launch *opened = sms[change->sm].opened;
        if (opened->trace->carveout_kb < 0 && opened->shape.carveout_kb < change->launch->shape.carveout_kb)
            opened->shape.carveout_kb = change->launch->shape.carveout_kb;
    }
    free(changes);
}

/* SMs' first blocks of a launch's first wave, by SM; measured: infinity without any. */
struct first_starts {
    struct launch *launch;
    struct wt_first_start *by_sm;
};

static void note_predicted(void *context, const struct wt_block_run *run)
{
    struct first_starts *first = context;
    const struct measurement *measured = &first->launch->measured[block_at(first->launch->trace, run->block)];
    struct wt_first_start *start = &first->by_sm[run->sm];
    double cycles = wt_to_cycles(measured->start - first->launch->first_start);
    if (measured->sm == run->sm && cycles < start->measured)
        *start = (struct wt_first_start){cycles, wt_to_cycles(run->start), run->sm};
}

/* The launch that came first, if its blocks start as those of a grid of their own do. */
static struct launch *calm_launch(const struct batch *all)
{
    struct launch *first = NULL;
    for (size_t i = 0; i < all->count; i++)
        if (all->launches[i].blocks > 0 && (!first || all->launches[i].first_start < first->first_start))
            first = &all->launches[i];
    return first && first->measured && cluster_of(first->trace) < 2 ? first : NULL;
}

static enum wt_code adopt_part(const struct batch *all, struct wt_gpu *gpu, const struct wt_policy *policy,
                               const struct wt_replay_setup *setup, struct wt_error *err)
{
    struct launch *launch = calm_launch(all);
    if (!launch)
        return WT_OK;
    struct batch one = {all->replay, launch, 1, 0, all->origin};
    struct first_starts first = {launch, wt_alloc((size_t)gpu->topology.sm_count, sizeof *first.by_sm)};
    for (int sm = 0; sm < gpu->topology.sm_count; sm++)
        first.by_sm[sm].measured = INFINITY;
    struct wt_kernel kernel;
    struct wt_simulation simulation = simulation_of(&one, gpu, policy, setup, NULL, &kernel);
    struct wt_observer observer = {.context = &first, .block_done = note_predicted};
    kernel.grid_blocks = launch->first_wave_blocks;
    simulation.observers = &observer;
    simulation.observer_count = 1;
    enum wt_code code = wt_simulate(&simulation, err);
    size_t count = 0;
    for (int sm = 0; sm < gpu->topology.sm_count; sm++)
        if (isfinite(first.by_sm[sm].measured))
            first.by_sm[count++] = first.by_sm[sm];
    if (code == WT_OK)
        all->replay->part_cycles = wt_part_adopt(gpu, all->replay->clocks, first.by_sm, count);
    memcpy(all->replay->predicted->gpc_of_sm, gpu->topology.gpc_of_sm, (size_t)gpu->topology.sm_count * sizeof *gpu->topology.gpc_of_sm);
    free(first.by_sm);
    return code;
}

static enum wt_code prepare_all(struct batch *all, struct wt_gpu *gpu, const struct wt_policy *policy,
                                const struct wt_replay_setup *setup, double *start_errors, struct wt_error *err)
{
    const struct wt_trace *trace = all->replay->trace;
    for (size_t i = 0; i < all->count; i++) {
        struct launch *launch = &all->launches[i];
        *launch = (struct launch){.trace = &trace->launches[i], .index = i, .blocks = trace->launches[i].row_count,
                                  .start_errors = start_errors, .first_start = WT_NEVER};
        WT_TRY(prepare(launch, all->replay, gpu, all->origin, err));
        start_errors += launch->blocks;
    }
    WT_TRY(adopt_part(all, gpu, policy, setup, err));
    for (size_t i = 0; i < all->count; i++) {
        if (all->replay->part_cycles > 0 && all->launches[i].measured)
            find_used_tpcs(&all->launches[i], gpu);
        take_unseen(&all->launches[i], all->replay, gpu, setup);
    }
    if (all->replay->together)
        infer_configurations(all);
    return WT_OK;
}

/* Blocks that started before the first of their launch ended on an SM. */
struct first {
    wt_time end; /* the first one so far; 0: none */
    int blocks;
};

static int by_blocks(const void *left, const void *right)
{
    return ((const struct first *)left)->blocks - ((const struct first *)right)->blocks;
}

/* Sorts. */
static int median_blocks(struct first *first, size_t sms)
{
    qsort(first, sms, sizeof *first, by_blocks);
    size_t without = 0;
    while (without < sms && first[without].blocks == 0)
        without++;
    return without < sms ? first[without + (sms - without - 1) / 2].blocks : 0;
}

/* Spans come in order of their starts: one that starts before all ends so far starts before the first. */
static void find_residents(struct wt_replay *replay)
{
    const struct wt_timeline *measured = replay->measured;
    size_t sms = (size_t)measured->sm_count;
    struct first *first = wt_alloc(measured->launch_count * sms, sizeof *first);
    for (size_t i = 0; i < measured->span_count; i++) {
        const struct wt_block_run *span = &measured->spans[i];
        struct first *here = &first[span->launch * sms + span->sm];
        if (here->end > 0 && span->start >= here->end)
            continue;
        here->end = here->end == 0 || span->end < here->end ? span->end : here->end;
        here->blocks++;
    }
    for (size_t i = 0; i < measured->launch_count; i++)
        if (replay->trace->launches[i].tasks == 0)
            replay->launches[i].resident_measured = median_blocks(&first[i * sms], sms);
    free(first);
}

static void assess_all(const struct batch *all)
{
    find_residents(all->replay);
    struct wt_launch_extent *measured = wt_timeline_extents(all->replay->measured);
    struct wt_launch_extent *predicted = wt_timeline_extents(all->replay->predicted);
    for (size_t i = 0; i < all->count; i++)
        if (all->launches[i].blocks > 0 && all->launches[i].trace->tasks == 0)
            assess(&all->launches[i], all->replay, &measured[i], &predicted[i]);
    free(measured);
    free(predicted);
}

static enum wt_code replay_launches(struct wt_replay *replay, struct wt_gpu *gpu, const struct wt_policy *policy,
                                    const struct wt_replay_setup *setup, double *start_errors, struct wt_error *err)
{
    size_t count = replay->trace->launch_count;
    struct batch all = {replay, wt_alloc(count, sizeof *all.launches), count, 0, earliest_start(replay->trace, replay->clocks)};
    enum wt_code code = prepare_all(&all, gpu, policy, setup, start_errors, err);
    if (code == WT_OK)
        code = (replay->together ? replay_together : replay_apart)(&all, gpu, policy, setup, err);
    if (code == WT_OK)
        assess_all(&all);
    for (size_t i = 0; i < all.count; i++) {
        free(all.launches[i].measured);
        free(all.launches[i].used_tpcs);
    }
    free(all.launches);
    return code;
}

static enum wt_code replay_all(struct wt_replay *replay, struct wt_gpu *gpu, const struct wt_replay_setup *setup,
                               struct wt_error *err)
{
    const struct wt_policy *policy = NULL;
    if (setup->placement)
        WT_TRY(wt_policy_find(setup->placement, &policy, err));
    WT_TRY(wt_clocks_fit(replay->trace, &replay->clocks, err));
    WT_TRY(wt_timeline_from_trace(replay->trace, replay->clocks, &replay->measured, err));
    describe_prediction(replay, gpu);
    replay->together = wt_arrivals_interact(replay->trace, replay->measured);
    replay->launches = wt_alloc(replay->trace->launch_count, sizeof *replay->launches);
    if (setup->asker)
        WT_TRY(setup->asker->ask(setup->asker->context, replay->measured, &replay->questions, err));
    double *start_errors = wt_alloc(replay->trace->row_count, sizeof *start_errors);
    enum wt_code code = replay_launches(replay, gpu, policy, setup, start_errors, err);
    if (code == WT_OK) {
        wt_timeline_sort(replay->predicted);
        sum_up(replay, start_errors);
    }
    free(start_errors);
    return code;
}

static enum wt_code fill(struct wt_replay *replay, const char *path, const struct wt_replay_setup *setup,
                         struct wt_error *err)
{
    WT_TRY(wt_trace_read(path, &replay->trace, err));
    WT_TRY(refuse_kinds(replay->trace, err));
    struct wt_gpu *gpu = NULL;
    WT_TRY(load_gpu(replay->trace, setup->gpu, &gpu, err));
    enum wt_code code = replay_all(replay, gpu, setup, err);
    wt_gpu_free(gpu);
    return code;
}

enum wt_code wt_replay_trace(const char *path, const struct wt_replay_setup *setup, struct wt_replay **out,
                             struct wt_error *err)
{
    struct wt_replay *replay = wt_alloc(1, sizeof *replay);
    enum wt_code code = fill(replay, path, setup, err);
    *out = replay;
    if (code != WT_OK) {
        wt_replay_free(replay);
        *out = NULL;
    }
    return code;
}

void wt_replay_free(struct wt_replay *replay)
{
    if (!replay)
        return;
    wt_timeline_free(replay->measured);
    wt_timeline_free(replay->predicted);
    wt_clocks_free(replay->clocks);
    wt_trace_free(replay->trace);
    free(replay->launches);
    wt_why_free(replay->questions.why);
    wt_address_space_free(replay->questions.space);
    free(replay);
}

/* ---- JSON ---- */

static void part_json(struct wt_json *json, const struct wt_replay_part *part)
{
    wt_json_int(json, "blocks", (int64_t)part->blocks);
    if (part->tasks > 0) {
        wt_json_int(json, "tasks", (int64_t)part->tasks);
        wt_json_number(json, "tasks_per_block_measured", part->tasks_per_block_measured, 6);
        wt_json_number(json, "tasks_per_block_predicted", part->tasks_per_block_predicted, 6);
        wt_json_number(json, "tasks_per_block_error_p50", part->tasks_per_block_error_p50, 6);
    }
    wt_json_number(json, "makespan_measured", part->makespan_measured, 12);
    wt_json_number(json, "makespan_predicted", part->makespan_predicted, 12);
    wt_json_number(json, "makespan_error", part->makespan_error, 6);
    wt_json_number(json, "start_error_p50", part->start_error_p50, 6);
    wt_json_number(json, "start_error_p95", part->start_error_p95, 6);
    wt_json_number(json, "first_start_error", part->first_start_error, 8);
    wt_json_number(json, "last_start_error", part->last_start_error, 8);
    wt_json_int(json, "first_wave_blocks", (int64_t)part->first_wave_blocks);
    wt_json_number(json, "first_wave_placement_match", part->first_wave_placement_match, 6);
    wt_json_int(json, "occupancy_blocks", part->occupancy_blocks);
    wt_json_number(json, "resident_blocks_measured", part->resident_measured > 0 ? part->resident_measured : NAN, 6);
    wt_json_number(json, "unseen_cycles", part->unseen_cycles, 6);
}

void wt_replay_json(struct wt_json *json, const struct wt_replay *replay)
{
    wt_json_string(json, "file", replay->trace->path);
    wt_json_string(json, "device", replay->trace->device);
    wt_json_string(json, "gpu", replay->predicted->gpu_name);
    wt_json_number(json, "clock_mhz", replay->clocks->mhz, 8);
    wt_json_number(json, "alignment_residual_p50", replay->clocks->residual_p50_cycles, 4);
    wt_json_number(json, "part_cycles", replay->part_cycles, 4);
    part_json(json, &replay->whole);
    wt_json_array(json, "launches");
    for (size_t i = 0; i < replay->trace->launch_count; i++) {
        wt_json_object(json, NULL);
        wt_json_int(json, "launch", replay->trace->launches[i].number);
        wt_json_string(json, "name", replay->trace->launches[i].name);
        wt_json_number(json, "clock_mhz", replay->clocks->mhz, 8);
        part_json(json, &replay->launches[i]);
        wt_json_close(json);
    }
    wt_json_close(json);
}
