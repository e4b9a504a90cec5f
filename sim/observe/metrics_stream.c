/* Metrics of a stream of block runs in the order of their ends, in constant memory.
 *
 * An SM's idle gaps are known only once no running block can still cover them, and a block is delivered when it
 * ends. So each SM keeps its gaps, newest last; a block covers those after its start. When there are too many,
 * the older half is joined pairwise into ranges that remember how much of them was idle: exact when later covered
 * entirely or not at all. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "observe/metrics.h"
#include "observe/tally.h"

enum { GAPS = 32, STEPS = 64, STEP_BITS = 6, HISTOGRAM = STEPS * (64 - STEP_BITS + 1) };

struct gap {
    wt_time begin, end;
    wt_time idle; /* <= end - begin */
};

struct sm_track {
    wt_time first_start; /* WT_NEVER before the first block */
    wt_time last_end;
    size_t gap_count;
    struct gap gaps[GAPS];
};

struct stay {
    wt_time start, end;
};

struct bucket {
    uint64_t blocks;
    double sum; /* of durations: what they have in common comes back exactly */
};

/* The whole run, or one launch. */
struct part {
    struct wt_tally tally;
    struct sm_track *sm;
    struct stay *recent; /* ring of the newest stays: more than can be resident when the queue is empty */
    uint64_t recent_mask;
    struct bucket histogram[HISTOGRAM]; /* of durations: logarithmic, STEPS buckets per octave */
};

struct wt_metrics_stream {
    struct wt_metrics *metrics;
    struct wt_residency residency;
    bool begun;
    struct part *whole;
    struct part **running; /* per launch; NULL before and after, and always when there is only one launch */
};

static size_t histogram_index(wt_time duration)
{
    if (duration < STEPS)
        return (size_t)duration;
    int shift = 63 - __builtin_clzll(duration) - STEP_BITS;
    return (size_t)STEPS * (size_t)shift + (size_t)(duration >> shift);
}

/* The mean of the middle one's bucket. */
static double histogram_median(const struct part *part)
{
    uint64_t rank = (part->tally.blocks - 1) / 2, below = 0;
    size_t i = 0;
    while (below + part->histogram[i].blocks <= rank)
        below += part->histogram[i++].blocks;
    return part->histogram[i].sum / (double)part->histogram[i].blocks;
}

static wt_time idle_within(const struct gap *gap, wt_time begin, wt_time end)
{
    wt_time from = gap->begin > begin ? gap->begin : begin, to = gap->end < end ? gap->end : end;
    if (from >= to)
        return 0;
    return (wt_time)((wt_time_sum)gap->idle * (to - from) / (gap->end - gap->begin));
}

static void join_older_half(struct sm_track *sm)
{
    for (size_t i = 0; i < GAPS / 4; i++) {
        const struct gap *a = &sm->gaps[2 * i], *b = &sm->gaps[2 * i + 1];
        sm->gaps[i] = (struct gap){a->begin, b->end, a->idle + b->idle};
    }
    memmove(&sm->gaps[GAPS / 4], &sm->gaps[GAPS / 2], (GAPS / 2) * sizeof *sm->gaps);
    sm->gap_count -= GAPS / 4;
}

static void add_gap(struct sm_track *sm, wt_time begin, wt_time end)
{
    if (sm->gap_count == GAPS)
        join_older_half(sm);
    sm->gaps[sm->gap_count++] = (struct gap){begin, end, end - begin};
}

/* No idle time after `start`. */
static void cover(struct sm_track *sm, wt_time start)
{
    while (sm->gap_count && sm->gaps[sm->gap_count - 1].end > start) {
        struct gap *gap = &sm->gaps[sm->gap_count - 1];
        if (gap->begin < start) {
            gap->idle = idle_within(gap, 0, start);
            gap->end = start;
            return;
        }
        sm->gap_count--;
    }
}

static void track(struct sm_track *sm, const struct wt_block_run *run)
{
    if (run->start == run->end)
        return;
    if (run->start < sm->last_end)
        cover(sm, run->start);
    else if (run->start > sm->last_end && sm->first_start != WT_NEVER)
        add_gap(sm, sm->last_end, run->start);
    sm->first_start = run->start < sm->first_start ? run->start : sm->first_start;
    sm->last_end = run->end;
}

static wt_time idle_of(const struct sm_track *sm, wt_time begin, wt_time end)
{
    const struct gap whole = {begin, end, end - begin};
    if (sm->first_start == WT_NEVER)
        return whole.idle;
    wt_time idle = idle_within(&whole, 0, sm->first_start) + idle_within(&whole, sm->last_end, WT_NEVER);
    for (size_t i = 0; i < sm->gap_count; i++)
        idle += idle_within(&sm->gaps[i], begin, end);
    return idle;
}

static void count(struct part *part, const struct wt_block_run *run, uint64_t warps)
{
    part->recent[part->tally.blocks & part->recent_mask] = (struct stay){run->start, run->end};
    struct bucket *bucket = &part->histogram[histogram_index(run->end - run->start)];
    bucket->blocks++;
    bucket->sum += (double)(run->end - run->start);
    wt_tally_block(&part->tally, run, warps);
    track(&part->sm[run->sm], run);
}

static struct part *new_part(const struct wt_timeline *about, int blocks_per_sm)
{
    struct part *part = wt_alloc(1, sizeof *part);
    bool known = blocks_per_sm > 0 && blocks_per_sm <= WT_MAX_SLOTS;
    size_t resident = (size_t)about->sm_count * (size_t)(known ? blocks_per_sm : WT_MAX_SLOTS), room = 64;
    while (room < 2 * resident)
        room *= 2;
    part->tally = wt_tally_new();
    part->sm = wt_alloc((size_t)about->sm_count, sizeof *part->sm);
    for (int i = 0; i < about->sm_count; i++)
        part->sm[i].first_start = WT_NEVER;
    part->recent = wt_alloc(room, sizeof *part->recent);
    part->recent_mask = room - 1;
    return part;
}

static void free_part(struct part *part)
{
    if (!part)
        return;
    free(part->sm);
    free(part->recent);
    free(part);
}

static void finish_tail(struct part *part, int sms)
{
    struct wt_tally *tally = &part->tally;
    uint64_t count_kept = tally->blocks < part->recent_mask + 1 ? tally->blocks : part->recent_mask + 1;
    for (uint64_t i = 0; i < count_kept; i++) {
        const struct stay *stay = &part->recent[i];
        wt_time from = stay->start > tally->queue_empty ? stay->start : tally->queue_empty;
        tally->tail_block_time += stay->end > from ? stay->end - from : 0;
    }
    wt_time from = tally->queue_empty > tally->begin ? tally->queue_empty : tally->begin;
    for (int i = 0; i < sms; i++)
        tally->tail_sm_idle += idle_of(&part->sm[i], from, tally->end);
}

/* busy_of_sm: room for one per SM; left sorted. */
static struct wt_metrics_part finish_part(struct part *part, const struct wt_timeline *about,
                                          const struct wt_timeline_launch *launch, wt_time *busy_of_sm)
{
    struct wt_tally *tally = &part->tally;
    if (tally->blocks) {
        tally->median = histogram_median(part);
        finish_tail(part, about->sm_count);
        for (int i = 0; i < about->sm_count; i++)
            busy_of_sm[i] = tally->end - tally->begin - idle_of(&part->sm[i], tally->begin, tally->end);
    }
    return wt_tally_finish(tally, about, launch, busy_of_sm);
}

static void on_launch_begin(void *context, uint32_t launch, wt_time first_start)
{
    struct wt_metrics_stream *stream = context;
    const struct wt_timeline *about = stream->metrics->about;
    assert(launch < about->launch_count);
    if (!stream->begun)
        stream->residency = wt_residency_new(first_start);
    stream->begun = true;
    if (about->launch_count > 1)
        stream->running[launch] = new_part(about, about->launches[launch].blocks_per_sm);
}

static void on_block(void *context, const struct wt_block_run *run)
{
    struct wt_metrics_stream *stream = context;
    uint64_t warps = (uint64_t)stream->metrics->about->launches[run->launch].warps_per_block;
    wt_residency_add(&stream->residency, run->start, run->end, warps);
    count(stream->whole, run, warps);
    if (stream->running[run->launch])
        count(stream->running[run->launch], run, warps);
}

static void on_task(void *context, const struct wt_block_run *run)
{
    wt_timeline_note_task(((struct wt_metrics_stream *)context)->metrics->about, run);
}

static void on_launch_end(void *context, uint32_t launch, wt_time queue_empty, wt_time end)
{
    struct wt_metrics_stream *stream = context;
    struct wt_timeline *about = stream->metrics->about;
    struct wt_tally *whole = &stream->whole->tally;
    struct part *part = stream->running[launch];
    (void)end;
    wt_timeline_note_queue_empty(about, launch, queue_empty);
    queue_empty = about->launches[launch].queue_empty;
    whole->queue_empty = queue_empty > whole->queue_empty ? queue_empty : whole->queue_empty;
    if (!part)
        return;
    wt_time *busy = wt_alloc((size_t)about->sm_count, sizeof *busy);
    part->tally.queue_empty = queue_empty;
    stream->metrics->launches[launch] = finish_part(part, about, &about->launches[launch], busy);
    free(busy);
    free_part(part);
    stream->running[launch] = NULL;
}

static void finish_whole(struct wt_metrics_stream *stream)
{
    struct wt_metrics *metrics = stream->metrics;
    int sms = metrics->about->sm_count;
    wt_time *busy = wt_alloc((size_t)sms, sizeof *busy);
    metrics->whole = finish_part(stream->whole, metrics->about, NULL, busy);
    if (metrics->about->launch_count == 1)
        metrics->launches[0] = metrics->whole;
    const struct wt_tally *tally = &stream->whole->tally;
    for (int i = 0; i < sms && tally->blocks; i++)
        busy[i] = tally->end - tally->begin - idle_of(&stream->whole->sm[i], tally->begin, tally->end);
    wt_metrics_set_busy(metrics, busy, wt_metrics_makespan(&metrics->whole));
    free(busy);
    if (stream->begun)
        metrics->residency = wt_residency_read(&stream->residency, metrics->whole.end, WT_RESIDENCY_BUCKETS);
}

struct wt_metrics_stream *wt_metrics_stream_new(const struct wt_timeline *about)
{
    struct wt_metrics_stream *stream = wt_alloc(1, sizeof *stream);
    stream->metrics = wt_metrics_new(about);
    stream->running = wt_alloc(about->launch_count, sizeof *stream->running);
    stream->whole = new_part(about, about->launch_count == 1 ? about->launches[0].blocks_per_sm : 0);
    return stream;
}

struct wt_observer wt_metrics_stream_observer(struct wt_metrics_stream *stream)
{
    return (struct wt_observer){.context = stream, .launch_begins = on_launch_begin, .block_done = on_block,
                                .task_done = on_task, .launch_ends = on_launch_end};
}

struct wt_metrics *wt_metrics_stream_finish(struct wt_metrics_stream *stream)
{
    struct wt_metrics *metrics = stream->metrics;
    finish_whole(stream);
    wt_residency_free(&stream->residency);
    for (size_t i = 0; i < metrics->about->launch_count; i++)
        free_part(stream->running[i]); /* a launch that was cut short */
    free_part(stream->whole);
    free(stream->running);
    free(stream);
    return metrics;
}
