#include "study/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* A start so soon after an end, or after another kernel's last start, was waiting for it. Twice the release of a slot
 * and more, since reports queue. */
static const double WINDOW_CYCLES = 1500;

/* From one launch by a host thread to its next, back to back: 3.3 us (gap, small, three). */
static const double LAUNCH_INTERVAL_US = 3.3;

struct search {
    const struct wt_trace *trace;
    const struct wt_timeline *measured;
    const struct wt_launch_extent *extents;
    double clock_mhz;
};

static bool within_window(wt_time earlier, wt_time at)
{
    return earlier <= at && at - earlier <= wt_from_cycles(WINDOW_CYCLES);
}

/* The launch of the same stream that ended last before this one started; -1 when there is none. */
static int predecessor(const struct search *s, size_t launch)
{
    int found = -1;
    for (size_t i = 0; i < s->measured->launch_count; i++) {
        const struct wt_launch_extent *other = &s->extents[i];
        if (i == launch || s->trace->launches[i].stream != s->trace->launches[launch].stream ||
            other->first_start == WT_NEVER || other->last_end >= s->extents[launch].first_start)
            continue;
        if (found < 0 || other->last_end > s->extents[found].last_end)
            found = (int)i;
    }
    return found;
}

/* The last start, before the launch's first, of a block less urgent; 0 when there is none. */
static wt_time last_outranked_start(const struct search *s, size_t launch)
{
    wt_time first = s->extents[launch].first_start, latest = 0;
    for (size_t i = 0; i < s->measured->span_count; i++) {
        const struct wt_block_run *span = &s->measured->spans[i];
        if (s->trace->launches[span->launch].priority > s->trace->launches[launch].priority && span->start < first &&
            span->start > latest)
            latest = span->start;
    }
    return latest;
}

static bool waited(const struct search *s, size_t launch)
{
    wt_time first = s->extents[launch].first_start;
    for (size_t i = 0; i < s->measured->launch_count; i++)
        if (i != launch && s->extents[i].first_start != WT_NEVER && within_window(s->extents[i].last_start, first))
            return true;
    for (size_t i = 0; i < s->measured->span_count; i++) {
        const struct wt_block_run *span = &s->measured->spans[i];
        if (span->launch != launch && within_window(span->end, first))
            return true;
    }
    return false;
}

static bool follows_another_stream(const struct search *s, size_t launch)
{
    const struct wt_launch_extent *its = &s->extents[launch];
    for (size_t i = 0; i < s->measured->launch_count; i++)
        if (s->trace->launches[i].stream != s->trace->launches[launch].stream && s->extents[i].first_start < its->first_start &&
            within_window(s->extents[i].last_end, its->first_start))
            return true;
    return false;
}

bool wt_arrivals_interact(const struct wt_trace *trace, const struct wt_timeline *measured)
{
    bool interact = wt_trace_kinds(trace) & WT_TRACE_CONCURRENT;
    struct wt_launch_extent *extents = wt_timeline_extents(measured);
    struct search search = {.trace = trace, .measured = measured, .extents = extents};
    for (size_t i = 0; i < measured->launch_count && !interact; i++)
        interact = extents[i].first_start != WT_NEVER && follows_another_stream(&search, i);
    free(extents);
    return interact;
}

/* `previous`: the arrival before, in order of first starts. */
static wt_time find_arrival(const struct search *s, wt_time previous, size_t launch)
{
    wt_time first = s->extents[launch].first_start;
    wt_time outranked = last_outranked_start(s, launch);
    if (outranked > 0)
        return outranked;
    wt_time launched = previous + wt_from_cycles(LAUNCH_INTERVAL_US * s->clock_mhz);
    return waited(s, launch) && launched < first ? launched : first;
}

static struct wt_arrival follow(const struct search *s, size_t launch, int before, wt_time latency)
{
    wt_time first = s->extents[launch].first_start, end = s->extents[before].last_end + latency;
    return (struct wt_arrival){.at = first, .after = before, .gap = first > end ? first - end : 0};
}

/* The launch that started first of those not yet dealt with; -1 when there is none left. */
static int next_by_start(const struct search *s, const struct wt_arrivals *arrivals)
{
    int found = -1;
    for (size_t i = 0; i < arrivals->count; i++)
        if (!arrivals->list[i].ready && (found < 0 || s->extents[i].first_start < s->extents[found].first_start))
            found = (int)i;
    return found;
}

void wt_arrivals_find(const struct wt_trace *trace, const struct wt_timeline *measured, const struct wt_gpu *gpu,
                      struct wt_arrivals *out)
{
    struct wt_launch_extent *extents = wt_timeline_extents(measured);
    struct search search = {trace, measured, extents, measured->clock_mhz > 0 ? measured->clock_mhz : gpu->clock_mhz};
    wt_time latency = wt_from_cycles(gpu->rates.launch_latency_cycles), previous = 0;
    *out = (struct wt_arrivals){wt_alloc(measured->launch_count, sizeof *out->list), measured->launch_count};
    for (int i = 0; (i = next_by_start(&search, out)) >= 0;) {
        struct wt_arrival *arrival = &out->list[i];
        int before = predecessor(&search, (size_t)i);
        if (before >= 0)
            *arrival = follow(&search, (size_t)i, before, latency);
        else
            *arrival = (struct wt_arrival){.at = find_arrival(&search, previous, (size_t)i), .after = -1};
        arrival->ready = true;
        arrival->taken = extents[i].first_start == WT_NEVER;
        previous = arrival->at;
    }
    for (size_t i = 0; i < out->count; i++)
        out->list[i].ready = out->list[i].after < 0;
    free(extents);
}

/* Most of the time that it is supposed to have waited is not explained; less may be the simulation's error. */
static bool came_later(const struct wt_arrival *arrival, wt_time simulated, wt_time measured)
{
    if (arrival->after >= 0 || simulated == WT_NEVER || simulated + wt_from_cycles(WINDOW_CYCLES) >= measured)
        return false;
    return arrival->at < measured && measured - simulated > (measured - arrival->at) / 2;
}

bool wt_arrivals_delay(struct wt_arrivals *arrivals, const struct wt_launch_extent *measured, const wt_time *first_starts)
{
    struct wt_arrival *delayed = NULL;
    wt_time first = WT_NEVER;
    for (size_t i = 0; i < arrivals->count; i++)
        if (measured[i].first_start < first && came_later(&arrivals->list[i], first_starts[i], measured[i].first_start)) {
            delayed = &arrivals->list[i];
            first = measured[i].first_start;
        }
    if (delayed)
        delayed->at = first;
    return delayed != NULL;
}

struct wt_arrivals wt_arrivals_copy(const struct wt_arrivals *arrivals)
{
    struct wt_arrivals copy = {wt_alloc(arrivals->count, sizeof *copy.list), arrivals->count};
    memcpy(copy.list, arrivals->list, arrivals->count * sizeof *copy.list);
    return copy;
}

void wt_arrivals_free(struct wt_arrivals *arrivals)
{
    free(arrivals->list);
}

/* ---- The front end ---- */

static wt_time when(const struct wt_arrival *arrival)
{
    return arrival->taken || !arrival->ready ? WT_NEVER : arrival->at;
}

static size_t earliest(const struct wt_arrivals *arrivals)
{
    size_t found = 0;
    for (size_t i = 1; i < arrivals->count; i++)
        if (when(&arrivals->list[i]) < when(&arrivals->list[found]))
            found = i;
    return found;
}

static wt_time next(void *context)
{
    const struct wt_arrivals *arrivals = context;
    return when(&arrivals->list[earliest(arrivals)]);
}

static uint32_t take(void *context)
{
    struct wt_arrivals *arrivals = context;
    size_t found = earliest(arrivals);
    arrivals->list[found].taken = true;
    return (uint32_t)found;
}

static void done(void *context, uint32_t kernel, wt_time end)
{
    struct wt_arrivals *arrivals = context;
    for (size_t i = 0; i < arrivals->count; i++) {
        struct wt_arrival *arrival = &arrivals->list[i];
        if (arrival->after != (int)kernel)
            continue;
        arrival->ready = true;
        arrival->at = end + arrival->gap;
    }
}

struct wt_front_end wt_arrivals_front_end(struct wt_arrivals *arrivals)
{
    return (struct wt_front_end){.context = arrivals, .next = next, .take = take, .done = done};
}
