/* Metrics of a timeline: spans come sorted by start, so an SM's busy time is one pass over its spans. */
#include "observe/metrics.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"
#include "observe/tally.h"

struct sm_time {
    wt_time last_end; /* of the spans so far */
    wt_time busy;
    wt_time tail_busy; /* after the queue is empty */
};

/* The whole run, or one launch. */
struct part {
    struct wt_tally tally;
    struct sm_time *sm;
};

struct duration {
    uint32_t launch;
    wt_time length;
};

static wt_time later(wt_time a, wt_time b)
{
    return a > b ? a : b;
}

static struct part new_part(int sms, wt_time queue_empty)
{
    struct part part = {.tally = wt_tally_new(), .sm = wt_alloc((size_t)sms, sizeof *part.sm)};
    part.tally.queue_empty = queue_empty;
    return part;
}

static wt_time length_after(wt_time start, wt_time end, wt_time moment)
{
    return end > moment ? end - later(start, moment) : 0;
}

static void count(struct part *part, const struct wt_block_run *span, uint64_t warps)
{
    struct sm_time *sm = &part->sm[span->sm];
    wt_time moment = part->tally.queue_empty, fresh = later(span->start, sm->last_end);
    wt_tally_block(&part->tally, span, warps);
    part->tally.tail_block_time += length_after(span->start, span->end, moment);
    if (span->end <= fresh)
        return;
    sm->busy += span->end - fresh;
    sm->tail_busy += length_after(fresh, span->end, moment);
    sm->last_end = span->end;
}

/* The tail ends with the part, so the idle time is what its SMs are not busy. */
static void finish_tail(struct part *part, int sms)
{
    wt_time tail = length_after(part->tally.begin, part->tally.end, part->tally.queue_empty);
    for (int i = 0; i < sms; i++)
        part->tally.tail_sm_idle += tail - part->sm[i].tail_busy;
}

static struct wt_metrics_part finish_part(struct part *part, const struct wt_timeline *timeline,
                                          const struct wt_timeline_launch *launch, wt_time *busy)
{
    for (int i = 0; i < timeline->sm_count; i++)
        busy[i] = part->sm[i].busy;
    if (part->tally.blocks)
        finish_tail(part, timeline->sm_count);
    return wt_tally_finish(&part->tally, timeline, launch, busy);
}

static int compare_durations(const void *left, const void *right)
{
    const struct duration *a = left, *b = right;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    return (a->length > b->length) - (a->length < b->length);
}

/* Medians of parts whose durations lie sorted by (launch, length); all launches equal means the whole run. */
static void set_medians(struct part *parts, struct duration *durations, size_t count)
{
    qsort(durations, count, sizeof *durations, compare_durations);
    for (size_t first = 0; first < count;) {
        struct wt_tally *tally = &parts[durations[first].launch].tally;
        tally->median = (double)durations[first + (tally->blocks - 1) / 2].length;
        first += tally->blocks;
    }
}

static void find_medians(const struct wt_timeline *timeline, struct part *whole, struct part *launches)
{
    struct duration *durations = wt_alloc(timeline->span_count, sizeof *durations);
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        durations[i] = (struct duration){span->launch, span->end - span->start};
    }
    set_medians(launches, durations, timeline->span_count);
    for (size_t i = 0; i < timeline->span_count; i++)
        durations[i].launch = 0;
    set_medians(whole, durations, timeline->span_count);
    free(durations);
}

static void count_all(const struct wt_timeline *timeline, struct part *whole, struct part *launches,
                      struct wt_residency *residency)
{
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        assert(span->launch < timeline->launch_count);
        uint64_t warps = (uint64_t)timeline->launches[span->launch].warps_per_block;
        count(whole, span, warps);
        count(&launches[span->launch], span, warps);
        wt_residency_add(residency, span->start, span->end, warps);
    }
}

static wt_time last_queue_empty(const struct wt_timeline *timeline)
{
    wt_time last = 0;
    for (size_t i = 0; i < timeline->launch_count; i++)
        last = later(last, timeline->launches[i].queue_empty);
    return last;
}

static void finish(struct wt_metrics *metrics, struct part *whole, struct part *launches)
{
    const struct wt_timeline *about = metrics->about;
    wt_time *busy = wt_alloc((size_t)about->sm_count, sizeof *busy);
    for (size_t i = 0; i < about->launch_count; i++)
        metrics->launches[i] = finish_part(&launches[i], about, &about->launches[i], busy);
    metrics->whole = finish_part(whole, about, NULL, busy);
    for (int i = 0; i < about->sm_count; i++)
        busy[i] = whole->sm[i].busy;
    wt_metrics_set_busy(metrics, busy, wt_metrics_makespan(&metrics->whole));
    free(busy);
}

struct wt_metrics *wt_metrics_of_timeline(struct wt_timeline *timeline)
{
    wt_timeline_sort(timeline);
    struct wt_metrics *metrics = wt_metrics_new(timeline);
    struct part whole = new_part(timeline->sm_count, last_queue_empty(timeline));
    struct part *launches = wt_alloc(timeline->launch_count, sizeof *launches);
    for (size_t i = 0; i < timeline->launch_count; i++)
        launches[i] = new_part(timeline->sm_count, timeline->launches[i].queue_empty);
    struct wt_residency residency = wt_residency_new(wt_timeline_begin(timeline));
    count_all(timeline, &whole, launches, &residency);
    find_medians(timeline, &whole, launches);
    finish(metrics, &whole, launches);
    metrics->residency = wt_residency_read(&residency, metrics->whole.end, WT_RESIDENCY_BUCKETS);
    wt_residency_free(&residency);
    for (size_t i = 0; i < timeline->launch_count; i++)
        free(launches[i].sm);
    free(launches);
    free(whole.sm);
    return metrics;
}
