#include "study/replay_tasks.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "cost/tasks.h"
#include "trace/topology.h"

/* A gap this much longer than the SM's lower quartile, or its own, is no jitter: on an H200 the gaps of one SM lie within 40 cycles. */
static const double OUTLIVED_CYCLES = 100;

/* From task to task besides the addition, in gpu_ref's traced kernel on an H200 (persist_w*_g132: gaps of 808 in the
 * median): what a turnaround is taken for where waiting for a busy counter hides it. */
static const double TRACED_OVERHEAD_CYCLES = 406;

struct task {
    double start, end; /* measured, cycles from the origin */
    double hold;       /* how much longer its block was held */
    uint64_t block;
    uint16_t sm;
    struct wt_block_run run; /* predicted */
};

struct launch {
    const struct wt_task_replay *what;
    const struct wt_trace_launch *trace;
    const struct wt_trace_row *rows;
    uint64_t count; /* tasks */
    struct task *tasks;
    double *turnaround; /* by SM */
    double usual_turnaround; /* of all SMs */
    double begin, end;  /* of all tasks, measured */
    const struct wt_tasks *model;
};

/* ---- What was measured ---- */

static enum wt_code fail(const struct launch *l, struct wt_error *err, const char *what)
{
    return wt_fail_at(err, l->what->replay->trace->path, l->trace->line, "launch %ld: %s", l->trace->number, what);
}

static enum wt_code take_tasks(struct launch *l, struct wt_error *err)
{
    const struct wt_clocks *clocks = l->what->replay->clocks;
    if (!l->what->replay->trace->has_work)
        return fail(l, err, "its rows do not say which task they are; number the tasks in a column 'work'");
    for (uint64_t i = 0; i < l->count; i++)
        l->tasks[i].end = NAN;
    l->begin = INFINITY;
    for (uint64_t i = 0; i < l->count; i++) {
        const struct wt_trace_row *row = &l->rows[i];
        if (row->work < 0 || (uint64_t)row->work >= l->count || !isnan(l->tasks[row->work].end))
            return fail(l, err, "the column 'work' does not number the tasks from 0, each once; capture again with "
                                "WT_TRACE_END_TASK");
        double start = wt_clocks_start(clocks, row) - l->what->origin, end = wt_clocks_end(clocks, row) - l->what->origin;
        l->tasks[row->work] = (struct task){.start = start, .end = fmax(start, end), .block = row->block, .sm = row->sm};
        l->begin = fmin(l->begin, start);
        l->end = fmax(l->end, end);
    }
    return WT_OK;
}

static bool follows(const struct launch *l, uint64_t row)
{
    return row > 0 && l->rows[row].block == l->rows[row - 1].block;
}

/* From the end of the row before to this one's start, on one SM's clock. */
static double gap(const struct launch *l, uint64_t row)
{
    return l->tasks[l->rows[row].work].start - l->tasks[l->rows[row - 1].work].end;
}

struct gap {
    double cycles;
    uint16_t sm;
};

static int by_sm_and_length(const void *left, const void *right)
{
    const struct gap *a = left, *b = right;
    if (a->sm != b->sm)
        return a->sm < b->sm ? -1 : 1;
    return (a->cycles > b->cycles) - (a->cycles < b->cycles);
}

/* Of one SM's gaps, ascending: the mean of those that nothing held up. */
static double undisturbed(const struct gap *gaps, size_t count)
{
    double limit = gaps[(count - 1) / 4].cycles + OUTLIVED_CYCLES, sum = 0;
    size_t used = 0;
    for (; used < count && gaps[used].cycles <= limit; used++)
        sum += gaps[used].cycles;
    return sum / (double)used;
}

/* Of each SM; the lower quartile of all gaps where it has none. */
static void find_turnarounds(struct launch *l)
{
    struct gap *gaps = wt_alloc(l->count, sizeof *gaps);
    double *all = wt_alloc(l->count, sizeof *all);
    size_t count = 0;
    for (uint64_t i = 0; i < l->count; i++)
        if (follows(l, i)) {
            all[count] = fmax(gap(l, i), 0);
            gaps[count++] = (struct gap){fmax(gap(l, i), 0), l->rows[i].sm};
        }
    wt_sort_numbers(all, count);
    qsort(gaps, count, sizeof *gaps, by_sm_and_length);
    l->usual_turnaround = count > 0 ? wt_quantile(all, count, 25) : l->what->gpu->rates.counter_latency_cycles;
    for (int sm = 0; sm < l->what->gpu->topology.sm_count; sm++)
        l->turnaround[sm] = l->usual_turnaround;
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && gaps[next].sm == gaps[i].sm;)
            next++;
        l->turnaround[gaps[i].sm] = undisturbed(&gaps[i], next - i);
    }
    free(all);
    free(gaps);
}

/* Whether the counter cannot serve every block while one runs a task of mean length: then gaps are waiting for it, and
 * what lies behind them is not seen. */
static bool counter_is_busy(const struct launch *l)
{
    double sum = 0;
    for (uint64_t i = 0; i < l->count; i++)
        sum += l->tasks[i].end - l->tasks[i].start;
    double round = (double)wt_trace_grid_blocks(l->trace) * l->what->gpu->rates.counter_service_cycles;
    return round > sum / (double)l->count + l->usual_turnaround;
}

static void assume_turnarounds(struct launch *l)
{
    for (int sm = 0; sm < l->what->gpu->topology.sm_count; sm++)
        l->turnaround[sm] = fmin(l->turnaround[sm], l->what->gpu->rates.counter_latency_cycles + TRACED_OVERHEAD_CYCLES);
}

/* How much longer than it took the task in `row` was the block's last business: until the next task's start, or, since a
 * free block would have taken one, until the last task of all had been handed out. */
static double outlived(const struct launch *l, uint64_t row)
{
    const struct task *t = &l->tasks[l->rows[row].work];
    double next = l->tasks[l->count - 1].start;
    if (row + 1 < l->count && follows(l, row + 1))
        next = l->tasks[l->rows[row + 1].work].start;
    return next - t->end - l->turnaround[t->sm];
}

static void find_holds(struct launch *l)
{
    for (uint64_t row = 0; row < l->count; row++) {
        double over = outlived(l, row);
        if (over > OUTLIVED_CYCLES)
            l->tasks[l->rows[row].work].hold = over;
    }
}

/* Turnarounds and holds. Returns the mean hold. */
static double find_unseen(struct launch *l)
{
    double given = l->what->setup->unseen_cycles, sum = 0;
    find_turnarounds(l);
    bool busy = counter_is_busy(l);
    if (busy)
        assume_turnarounds(l);
    for (uint64_t i = 0; i < l->count; i++)
        l->tasks[i].hold = isnan(given) ? 0 : given;
    if (isnan(given) && !busy)
        find_holds(l);
    for (uint64_t i = 0; i < l->count; i++)
        sum += l->tasks[i].hold;
    return sum / (double)l->count;
}

/* ---- The simulation ---- */

static wt_time stay(void *context, uint64_t task)
{
    const struct task *t = &((const struct launch *)context)->tasks[task];
    return wt_from_cycles(fmax(t->end - t->start + t->hold, 1));
}

static void keep_task(void *context, const struct wt_block_run *run)
{
    ((struct launch *)context)->tasks[run->task].run = *run;
}

static void tell_tasks(void *context, const struct wt_block_run *run)
{
    struct launch *l = context;
    struct wt_observer observer = {.context = l, .task_done = keep_task};
    wt_tasks_tell(l->model, run, &observer, 1);
}

static enum wt_code simulate(struct launch *l, struct wt_error *err)
{
    const struct wt_task_replay *what = l->what;
    struct wt_tasks_setup tasks = {.gpu = what->gpu,
                                   .grid_blocks = wt_trace_grid_blocks(l->trace),
                                   .tasks = l->count,
                                   .cost = {stay, l},
                                   .turnaround_cycles = l->turnaround};
    struct wt_tasks *model = wt_tasks_new(&tasks);
    struct wt_sharing sharing = wt_tasks_sharing(model);
    struct wt_kernel kernel = {.name = l->trace->name, .grid_blocks = tasks.grid_blocks, .shape = *what->shape,
                               .cooperative = l->trace->cooperative};
    struct wt_observer observer = {.context = l, .block_done = tell_tasks};
    struct wt_simulation simulation = {.gpu = what->gpu, .policy = what->policy, .kernels = &kernel, .kernel_count = 1,
                                       .seed = what->setup->seed, .first_group = -1, .first_extra_sm = -1,
                                       .sharing = &sharing, .observers = &observer, .observer_count = 1};
    l->model = model;
    wt_first_wave_start(what->replay->trace, what->index, what->gpu, &simulation.first_group, &simulation.first_extra_sm);
    enum wt_code code = wt_simulate(&simulation, err);
    wt_tasks_free(model);
    return code;
}

/* ---- The comparison ---- */

/* The task ended for the eyes of the clock reader; its block was held longer. */
static void place_predictions(struct launch *l)
{
    wt_time first = WT_NEVER, begin = wt_from_cycles(l->begin);
    for (uint64_t i = 0; i < l->count; i++)
        first = l->tasks[i].run.start < first ? l->tasks[i].run.start : first;
    for (uint64_t i = 0; i < l->count; i++) {
        struct task *t = &l->tasks[i];
        t->run.launch = (uint32_t)l->what->index;
        t->run.start = t->run.start - first + begin;
        t->run.end = t->run.start + wt_from_cycles(t->end - t->start);
        wt_timeline_add(l->what->replay->predicted, &t->run);
        wt_time *empty = &l->what->replay->predicted->launches[l->what->index].queue_empty;
        *empty = t->run.start > *empty ? t->run.start : *empty;
    }
}

/* Tasks per block, and the fraction of blocks with tasks that are on the very SM. */
static void compare_blocks(const struct launch *l, struct wt_replay_part *part)
{
    uint64_t blocks = wt_trace_grid_blocks(l->trace), known = 0, hits = 0;
    double *measured = wt_alloc(blocks, sizeof *measured), *predicted = wt_alloc(blocks, sizeof *predicted);
    double *differences = wt_alloc(blocks, sizeof *differences);
    int *sm = wt_alloc(blocks, sizeof *sm);
    for (uint64_t i = 0; i < l->count; i++) {
        predicted[l->tasks[i].run.block]++;
        sm[l->tasks[i].run.block] = l->tasks[i].run.sm;
    }
    for (uint64_t i = 0; i < l->count; i++)
        if (measured[l->tasks[i].block]++ == 0 && predicted[l->tasks[i].block] > 0) {
            known++;
            hits += sm[l->tasks[i].block] == l->tasks[i].sm;
        }
    for (uint64_t b = 0; b < blocks; b++)
        differences[b] = fabs(predicted[b] - measured[b]) / fmax(measured[b], 1);
    wt_sort_numbers(measured, blocks);
    wt_sort_numbers(predicted, blocks);
    wt_sort_numbers(differences, blocks);
    part->first_wave_blocks = known;
    part->first_wave_placement_match = known > 0 ? (double)hits / (double)known : 0;
    part->tasks_per_block_measured = wt_quantile(measured, blocks, 50);
    part->tasks_per_block_predicted = wt_quantile(predicted, blocks, 50);
    part->tasks_per_block_error_p50 = wt_quantile(differences, blocks, 50);
    free(measured);
    free(predicted);
    free(differences);
    free(sm);
}

static void assess(const struct launch *l, struct wt_replay_part *part, double *start_errors)
{
    wt_time end = 0;
    for (uint64_t i = 0; i < l->count; i++) {
        end = l->tasks[i].run.end > end ? l->tasks[i].run.end : end;
        start_errors[i] = fabs(wt_to_cycles(l->tasks[i].run.start) - l->tasks[i].start);
    }
    part->blocks = wt_trace_grid_blocks(l->trace);
    part->tasks = l->count;
    part->makespan_measured = l->end - l->begin;
    part->makespan_predicted = wt_to_cycles(end) - l->begin;
    part->makespan_error = part->makespan_predicted / fmax(part->makespan_measured, 1) - 1;
    wt_sort_numbers(start_errors, l->count);
    part->start_error_p50 = wt_quantile(start_errors, l->count, 50);
    part->start_error_p95 = wt_quantile(start_errors, l->count, 95);
    compare_blocks(l, part);
}

static enum wt_code replay(struct launch *l, struct wt_replay_part *part, double *start_errors, struct wt_error *err)
{
    WT_TRY(take_tasks(l, err));
    part->unseen_cycles = find_unseen(l);
    WT_TRY(simulate(l, err));
    place_predictions(l);
    assess(l, part, start_errors);
    return WT_OK;
}

enum wt_code wt_replay_tasks(const struct wt_task_replay *what, struct wt_replay_part *part, double *start_errors,
                             struct wt_error *err)
{
    struct launch l = {.what = what,
                       .trace = &what->replay->trace->launches[what->index],
                       .rows = wt_trace_rows_of(what->replay->trace, what->index)};
    l.count = l.trace->row_count;
    if (l.count != (uint64_t)l.trace->tasks)
        return fail(&l, err, "not every task has a row; capture again with a larger buffer");
    l.tasks = wt_alloc(l.count, sizeof *l.tasks);
    l.turnaround = wt_alloc((size_t)what->gpu->topology.sm_count, sizeof *l.turnaround);
    enum wt_code code = replay(&l, part, start_errors, err);
    free(l.tasks);
    free(l.turnaround);
    return code;
}
