#include "study/stays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "sm/occupancy.h"
#include "trace/clocks.h"
#include "trace/trace.h"

/* ---- Reading ---- */

enum wt_code wt_stays_gpu(const char *path, const char *name, struct wt_gpu **out, struct wt_error *err)
{
    if (name)
        return wt_gpu_load(name, out, err);
    struct wt_trace *trace;
    WT_TRY(wt_trace_read(path, &trace, err));
    enum wt_code code = wt_trace_gpu(trace, out, err);
    wt_trace_free(trace);
    return code;
}

static enum wt_code check(const struct wt_trace *trace, const struct wt_gpu *gpu, struct wt_error *err)
{
    const struct wt_trace_launch *launch = &trace->launches[0];
    if (wt_trace_block_threads(launch) < 1 || launch->registers_per_thread < 0)
        return wt_fail_at(err, trace->path, launch->line, "does not state the threads of a block and their registers; add "
                          "block=X,Y,Z and regs=N to a '# launch %ld:' line", launch->number);
    if (launch->tasks > 0 || launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1)
        return wt_fail_at(err, trace->path, launch->line, "is a %s launch, of which other shapes are not modelled; give a trace "
                          "of an ordinary one", launch->tasks > 0 ? "persistent" : "clustered");
    if (wt_trace_kinds(trace) & WT_TRACE_CONCURRENT)
        return wt_fail_at(err, trace->path, launch->line, "launches were on the GPU at once, and what one took from another is not told; "
                          "give a trace of one alone");
    if (launch->row_count != wt_trace_grid_blocks(launch))
        return wt_fail_at(err, trace->path, launch->line, "%zu of the grid's %llu blocks have a row; capture again with a "
                          "larger buffer", launch->row_count, (unsigned long long)wt_trace_grid_blocks(launch));
    if (trace->sm_count > gpu->topology.sm_count)
        return wt_fail_at(err, trace->path, 0, "was captured on %d SMs, but %s has %d; name the right GPU with --gpu",
                          trace->sm_count, gpu->name, gpu->topology.sm_count);
    return WT_OK;
}

static int by_start(const void *left, const void *right)
{
    const struct wt_stay *a = *(struct wt_stay *const *)left, *b = *(struct wt_stay *const *)right;
    return a->start != b->start ? (a->start > b->start) - (a->start < b->start) : (a > b) - (a < b);
}

static int by_end(const void *left, const void *right)
{
    const struct wt_stay *a = *(struct wt_stay *const *)left, *b = *(struct wt_stay *const *)right;
    return a->end != b->end ? (a->end > b->end) - (a->end < b->end) : (a > b) - (a < b);
}

/* Gives an SM's blocks their real ends: the k-th that ends is replaced by the k-th that found no room at first. Returns by how
 * much all stays of replaced blocks grow together, and their sum. */
static void replace(struct wt_stay **by_starts, struct wt_stay **by_ends, uint64_t count, uint64_t room, double release,
                    double *durations, double *stays)
{
    for (uint64_t k = 0; k + room < count; k++) {
        struct wt_stay *stay = by_ends[k];
        double freed = by_starts[k + room]->start - release;
        stay->replaced = true;
        *durations += stay->end - stay->start;
        if (freed > stay->end)
            stay->end = freed;
        *stays += stay->end - stay->start;
    }
}

/* Blocks without a replacement: as much longer as the others are. */
static void stretch(struct wt_stay **by_ends, uint64_t count, uint64_t room, double factor)
{
    for (uint64_t k = count > room ? count - room : 0; k < count; k++)
        by_ends[k]->end = by_ends[k]->start + factor * (by_ends[k]->end - by_ends[k]->start);
}

static void find_ends(struct wt_stays *s, const struct wt_gpu *gpu)
{
    struct wt_occupancy occupancy;
    wt_occupancy(&gpu->limits, &s->needs, &occupancy, NULL);
    uint64_t room = (uint64_t)occupancy.blocks_per_sm, *first = wt_alloc((size_t)s->sm_count + 1, sizeof *first);
    struct wt_stay **starts = wt_alloc(s->count, sizeof *starts), **ends = wt_alloc(s->count, sizeof *ends);
    for (uint64_t i = 0; i < s->count; i++)
        first[s->list[i].sm + 1]++;
    for (int sm = 0; sm < s->sm_count; sm++)
        first[sm + 1] += first[sm];
    uint64_t *next = wt_alloc((size_t)s->sm_count, sizeof *next);
    for (uint64_t i = 0; i < s->count; i++) {
        uint16_t sm = s->list[i].sm;
        starts[first[sm] + next[sm]] = ends[first[sm] + next[sm]] = &s->list[i];
        next[sm]++;
    }
    double durations = 0, stays = 0;
    for (int sm = 0; sm < s->sm_count; sm++) {
        uint64_t count = first[sm + 1] - first[sm];
        qsort(starts + first[sm], count, sizeof *starts, by_start);
        qsort(ends + first[sm], count, sizeof *ends, by_end);
        replace(starts + first[sm], ends + first[sm], count, room, wt_gpu_unloaded_release(gpu, sm), &durations, &stays);
    }
    for (int sm = 0; durations > 0 && sm < s->sm_count; sm++)
        stretch(ends + first[sm], first[sm + 1] - first[sm], room, stays / durations);
    free(first);
    free(next);
    free(starts);
    free(ends);
}

/* Empty kernels state a work of 0. */
static bool any_work(const struct wt_trace *trace, uint64_t count)
{
    const struct wt_trace_row *rows = wt_trace_rows_of(trace, 0);
    for (uint64_t i = 0; trace->has_work && i < count; i++)
        if (rows[i].work > 0)
            return true;
    return false;
}

static void take_rows(struct wt_stays *s, const struct wt_trace *trace, const struct wt_clocks *clocks)
{
    const struct wt_trace_row *rows = wt_trace_rows_of(trace, 0);
    double first = INFINITY, last = -INFINITY;
    for (uint64_t i = 0; i < s->count; i++) {
        struct wt_stay *stay = &s->list[rows[i].block];
        *stay = (struct wt_stay){.start = wt_clocks_start(clocks, &rows[i]), .end = wt_clocks_end(clocks, &rows[i]),
                                 .work = s->works_stated ? (double)rows[i].work : 1, .sm = rows[i].sm};
        first = fmin(first, stay->start);
        last = fmax(last, stay->end);
    }
    for (uint64_t i = 0; i < s->count; i++) {
        s->list[i].start -= first;
        s->list[i].end -= first;
        s->list[i].read = s->list[i].end;
    }
    s->makespan = last - first;
}

/* Of "lognormal:24:0.8/32" one; 0: not stated, or shared by the threads of a block ("lognormal:24:0.8/32/shared"). */
static int work_warps(const char *work)
{
    char *end = "";
    const char *slash = strchr(work, '/');
    long threads = slash ? strtol(slash + 1, &end, 10) : 0;
    return !*end && threads > 0 && threads <= 1024 && threads % 32 == 0 ? (int)threads / 32 : 0;
}

enum wt_code wt_stays_read(const char *path, const struct wt_gpu *gpu, struct wt_stays **out, struct wt_error *err)
{
    struct wt_trace *trace;
    struct wt_clocks *clocks = NULL;
    *out = NULL;
    WT_TRY(wt_trace_read(path, &trace, err));
    enum wt_code code = check(trace, gpu, err);
    if (code == WT_OK) {
        struct wt_launch_needs needs = wt_trace_needs(&trace->launches[0]);
        struct wt_error inner = {0};
        code = wt_launch_check(&gpu->limits, &needs, &inner);
        if (code != WT_OK)
            wt_fail_at(err, path, trace->launches[0].line, "does not fit %s: %s", gpu->name, inner.text);
    }
    if (code == WT_OK)
        code = wt_clocks_fit(trace, &clocks, err);
    if (code == WT_OK) {
        struct wt_stays *s = wt_alloc(1, sizeof *s);
        s->name = wt_strdup(*trace->launches[0].name ? trace->launches[0].name : path);
        s->kernel = wt_strdup(trace->launches[0].kernel);
        s->needs = wt_trace_needs(&trace->launches[0]);
        s->warps = wt_warps_of(s->needs.threads);
        s->count = trace->launches[0].row_count;
        s->list = wt_alloc(s->count, sizeof *s->list);
        s->sm_count = gpu->topology.sm_count;
        s->works_stated = any_work(trace, s->count);
        s->work_warps = work_warps(trace->launches[0].work);
        take_rows(s, trace, clocks);
        find_ends(s, gpu);
        *out = s;
    }
    wt_clocks_free(clocks);
    wt_trace_free(trace);
    return code;
}

enum wt_code wt_stays_alike(const struct wt_stays *first, const struct wt_stays *other, const char *path, struct wt_error *err)
{
    if (*first->kernel && *other->kernel && strcmp(first->kernel, other->kernel))
        return wt_fail_at(err, path, 0, "is of kernel '%s', but the first trace of '%s'; give traces of one kernel", other->kernel,
                          first->kernel);
    uint64_t threads = first->count * (uint64_t)first->needs.threads, others = other->count * (uint64_t)other->needs.threads;
    if (threads + 1024 <= others || others + 1024 <= threads) /* the last block may be filled up */
        return wt_fail_at(err, path, 0, "has %llu threads, but the first trace %llu; give launches of as many", (unsigned long long)others,
                          (unsigned long long)threads);
    return WT_OK;
}

void wt_stays_free(struct wt_stays *stays)
{
    if (!stays)
        return;
    free(stays->name);
    free(stays->kernel);
    free(stays->list);
    free(stays);
}

/* ---- Work ---- */

struct event {
    double time;
    uint32_t block;
    bool end;
};

static int by_time(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->block != b->block ? (a->block > b->block) - (a->block < b->block) : a->end - b->end;
}

/* `read`: a block ends when its first thread was through. */
static struct event *events_of(const struct wt_stays *stays, bool read)
{
    struct event *events = wt_alloc(2 * stays->count, sizeof *events);
    for (uint64_t i = 0; i < stays->count; i++) {
        events[2 * i] = (struct event){stays->list[i].start, (uint32_t)i, false};
        events[2 * i + 1] = (struct event){read ? stays->list[i].read : stays->list[i].end, (uint32_t)i, true};
    }
    qsort(events, 2 * stays->count, sizeof *events, by_time);
    return events;
}

/* A block without a replacement is known by its first warps alone, which the schedulers may favour: its work is that
 * of the others, in proportion to what the trace states. */
static void complete(const struct wt_stays *stays, double *work)
{
    double sum = 0, stated = 0;
    for (uint64_t i = 0; i < stays->count; i++)
        if (stays->list[i].replaced) {
            sum += work[i];
            stated += stays->list[i].work;
        }
    for (uint64_t i = 0; i < stays->count && stays->works_stated && stated > 0; i++)
        if (!stays->list[i].replaced)
            work[i] = sum / stated * stays->list[i].work;
}

static double inequality(const struct wt_stays *stays, const double *work)
{
    double sum = 0, squares = 0, count = 0;
    for (uint64_t i = 0; i < stays->count; i++) {
        if (!stays->list[i].replaced || stays->list[i].work <= 0 || work[i] <= 0)
            continue;
        double x = log(work[i] / stays->list[i].work);
        sum += x;
        squares += x * x;
        count++;
    }
    return count > 0 ? sqrt(fmax(0, squares / count - sum / count * (sum / count))) : 0;
}

double wt_bound_favour(const struct wt_bound *bound, int warps)
{
    return 1 - pow(1 - bound->favour, warps / 8.0);
}

double wt_bound_part(const struct wt_bound *bound, double warps)
{
    double load = warps / bound->saturation;
    return bound->crowding > 0 ? wt_fluid_crowded(load, bound->crowding) : wt_fluid_served(load, bound->grain / bound->saturation);
}

struct wt_fluid_kernel wt_bound_kernel(const struct wt_bound *bound, int sm_count)
{
    double demand = 1 / bound->saturation;
    if (bound->gpu)
        return (struct wt_fluid_kernel){.gpu_demand = demand / sm_count, .gpu_grain = bound->grain * sm_count,
                                        .gpu_crowding = bound->crowding};
    return (struct wt_fluid_kernel){.sm_demand = demand, .sm_grain = bound->grain, .favour = bound->favour, .apart = bound->apart,
                                    .hindered = bound->hindered, .sub_cores = true};
}

/* By how many blocks ran on it, an SM as it was when last looked at. */
struct resident {
    double seen;
    int count;
    uint32_t blocks[WT_MAX_SLOTS]; /* the oldest first */
};

/* As cost/fluid.c shares out. */
static void hinder(const struct wt_bound *bound, double favour, int count, double left, double *speeds)
{
    double lacking = 0;
    for (int age = 0; age < count; age++) {
        speeds[age] = fmin(bound->hindered, favour * left);
        left -= speeds[age];
        lacking += 1 - speeds[age];
    }
    for (int age = 0; age < count && lacking > 0; age++)
        speeds[age] += fmin(1, left / lacking) * (1 - speeds[age]);
}

double *wt_bound_speeds(const struct wt_bound *bound, int warps, int most)
{
    double *speeds = wt_alloc((WT_MAX_SLOTS + 1) * (WT_MAX_SLOTS + 1), sizeof *speeds);
    double favour = wt_bound_favour(bound, warps);
    for (int count = 1; count <= most; count++) {
        double served = wt_bound_part(bound, count * warps), left = count * served;
        if (bound->hindered > 0) {
            hinder(bound, favour, count, left, &speeds[count * (WT_MAX_SLOTS + 1)]);
            continue;
        }
        for (int age = 0; age < count; age++) {
            double *speed = &speeds[count * (WT_MAX_SLOTS + 1) + age];
            *speed = favour > 0 ? fmin(1, age + 1 < count ? favour * left : left) : served;
            left -= *speed;
        }
    }
    return speeds;
}

static void pass_time(struct resident *sm, double time, const double *speeds, double *work)
{
    for (int i = 0; i < sm->count; i++)
        work[sm->blocks[i]] += (time - sm->seen) * speeds[sm->count * (WT_MAX_SLOTS + 1) + i];
    sm->seen = time;
}

static void remove_block(struct resident *sm, uint32_t block)
{
    int kept = 0;
    for (int i = 0; i < sm->count; i++)
        if (sm->blocks[i] != block)
            sm->blocks[kept++] = sm->blocks[i];
    sm->count = kept;
}

static void work_of_sms(const struct wt_stays *stays, const struct wt_bound *bound, const struct event *events, double *work)
{
    struct resident *sms = wt_alloc((size_t)stays->sm_count, sizeof *sms);
    double *speeds = wt_bound_speeds(bound, stays->warps, WT_MAX_SLOTS);
    for (uint64_t i = 0; i < stays->count; i++)
        work[i] = 0;
    for (uint64_t i = 0; i < 2 * stays->count; i++) {
        struct resident *sm = &sms[stays->list[events[i].block].sm];
        pass_time(sm, events[i].time, speeds, work);
        if (events[i].end)
            remove_block(sm, events[i].block);
        else if (sm->count < WT_MAX_SLOTS)
            sm->blocks[sm->count++] = events[i].block;
    }
    free(speeds);
    free(sms);
}

static void work_of_gpu(const struct wt_stays *stays, const struct wt_bound *bound, const struct event *events, double *work)
{
    double clock = 0, seen = 0, warps = 0;
    for (uint64_t i = 0; i < 2 * stays->count; i++) {
        uint32_t block = events[i].block;
        clock += (events[i].time - seen) * wt_bound_part(bound, warps / stays->sm_count);
        seen = events[i].time;
        warps += events[i].end ? -stays->warps : stays->warps;
        work[block] = events[i].end ? clock - work[block] : clock;
    }
}

static void work_of(const struct wt_stays *stays, const struct wt_bound *bound, const struct event *events, double *work)
{
    if (bound->gpu)
        work_of_gpu(stays, bound, events, work);
    else
        work_of_sms(stays, bound, events, work);
}

double wt_stays_work(const struct wt_stays *stays, const struct wt_bound *bound, double *work)
{
    struct event *events = events_of(stays, false);
    work_of(stays, bound, events, work);
    free(events);
    complete(stays, work);
    return inequality(stays, work);
}

static struct wt_stays_match match_of(const struct wt_stays *stays, const double *work)
{
    double weight = 0, sum = 0, squares = 0;
    for (uint64_t i = 0; i < stays->count; i++) {
        double stated = stays->list[i].work;
        if (stated <= 0 || work[i] <= 0)
            continue;
        double x = log(work[i] / stated);
        weight += stated;
        sum += stated * x;
        squares += stated * x * x;
    }
    if (weight <= 0)
        return (struct wt_stays_match){INFINITY, 1};
    sum /= weight;
    return (struct wt_stays_match){sqrt(fmax(0, squares / weight - sum * sum)), exp(sum)};
}

void wt_stays_match(const struct wt_stays *stays, const struct wt_bound *bounds, int count, struct wt_stays_match *matches)
{
    struct event *events = events_of(stays, true);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < count; i++) {
        double *work = wt_alloc(stays->count, sizeof *work);
        work_of(stays, &bounds[i], events, work);
        matches[i] = match_of(stays, work);
        free(work);
    }
    free(events);
}
