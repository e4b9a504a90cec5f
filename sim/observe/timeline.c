#include "observe/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/warp_series.h"

/* Ends of the last span in each slot of one SM. */
struct slots {
    wt_time *end;
    size_t count, capacity;
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_spans(const void *left, const void *right)
{
    const struct wt_block_run *a = left, *b = right;
    int order = compare_u64(a->start, b->start);
    order = order ? order : compare_u64(a->launch, b->launch);
    order = order ? order : compare_u64(a->block, b->block);
    order = order ? order : compare_u64(a->end, b->end); /* a persistent block's empty tasks */
    return order ? order : compare_u64((uint32_t)a->sm << 16 | a->slot, (uint32_t)b->sm << 16 | b->slot);
}

static bool is_sorted(const struct wt_timeline *timeline)
{
    for (size_t i = 1; i < timeline->span_count; i++)
        if (compare_spans(&timeline->spans[i - 1], &timeline->spans[i]) > 0)
            return false;
    return true;
}

static size_t open_slot(struct slots *slots)
{
    slots->end = wt_grow(slots->end, &slots->capacity, slots->count + 1, sizeof *slots->end);
    slots->end[slots->count] = 0;
    return slots->count++;
}

/* The lowest slot free at `start`; else the one that ends first, if within `slack`; else a new one. */
static size_t choose_slot(struct slots *slots, wt_time start, wt_time slack)
{
    size_t first = 0;
    for (size_t i = 0; i < slots->count; i++) {
        if (slots->end[i] <= start)
            return i;
        if (slots->end[i] < slots->end[first])
            first = i;
    }
    bool near = slots->count > 0 && slots->end[first] - start <= slack;
    return near ? first : open_slot(slots);
}

static void place(struct wt_block_run *span, struct slots *slots, wt_time slack)
{
    size_t slot = choose_slot(slots, span->start, slack);
    assert(slot <= UINT16_MAX);
    span->slot = (uint16_t)slot;
    if (span->start < slots->end[slot])
        span->start = slots->end[slot];
    if (span->end < span->start)
        span->end = span->start;
    slots->end[slot] = span->end;
}

static void on_block(void *context, const struct wt_block_run *run)
{
    struct wt_timeline *timeline = context;
    if (timeline->launches[run->launch].tasks == 0)
        wt_timeline_add(timeline, run);
}

void wt_timeline_note_task(struct wt_timeline *timeline, const struct wt_block_run *run)
{
    wt_time *empty = &timeline->launches[run->launch].queue_empty;
    *empty = run->start > *empty ? run->start : *empty;
}

void wt_timeline_note_queue_empty(struct wt_timeline *timeline, uint32_t launch, wt_time blocks_handed_out)
{
    assert(launch < timeline->launch_count);
    if (timeline->launches[launch].tasks == 0)
        timeline->launches[launch].queue_empty = blocks_handed_out;
}

static void on_task(void *context, const struct wt_block_run *run)
{
    wt_timeline_note_task(context, run);
    wt_timeline_add(context, run);
}

static void on_launch_end(void *context, uint32_t launch, wt_time queue_empty, wt_time end)
{
    (void)end;
    wt_timeline_note_queue_empty(context, launch, queue_empty);
}

struct wt_timeline *wt_timeline_new(const char *title, const char *gpu_name, int sm_count)
{
    assert(sm_count >= 1);
    struct wt_timeline *timeline = wt_alloc(1, sizeof *timeline);
    timeline->title = wt_strdup(title ? title : "");
    timeline->gpu_name = wt_strdup(gpu_name ? gpu_name : "");
    timeline->sm_count = sm_count;
    timeline->gpc_of_sm = wt_alloc((size_t)sm_count, sizeof *timeline->gpc_of_sm);
    return timeline;
}

void wt_timeline_free(struct wt_timeline *timeline)
{
    if (!timeline)
        return;
    for (size_t i = 0; i < timeline->launch_count; i++)
        free(timeline->launches[i].name);
    wt_host_timeline_free(timeline->host);
    wt_warp_series_free(timeline->warps);
    free(timeline->launches);
    free(timeline->spans);
    free(timeline->gpc_of_sm);
    free(timeline->gpu_name);
    free(timeline->stuck);
    free(timeline->title);
    free(timeline);
}

struct wt_timeline *wt_timeline_copy_description(const struct wt_timeline *timeline)
{
    struct wt_timeline *copy = wt_timeline_new(timeline->title, timeline->gpu_name, timeline->sm_count);
    copy->clock_mhz = timeline->clock_mhz;
    copy->warps_per_sm = timeline->warps_per_sm;
    memcpy(copy->gpc_of_sm, timeline->gpc_of_sm, (size_t)timeline->sm_count * sizeof *copy->gpc_of_sm);
    for (size_t i = 0; i < timeline->launch_count; i++)
        wt_timeline_add_launch(copy, &timeline->launches[i]);
    return copy;
}

size_t wt_timeline_add_launch(struct wt_timeline *timeline, const struct wt_timeline_launch *launch)
{
    timeline->launches = wt_grow(timeline->launches, &timeline->launch_capacity, timeline->launch_count + 1,
                                 sizeof *timeline->launches);
    struct wt_timeline_launch *added = &timeline->launches[timeline->launch_count];
    *added = *launch;
    added->name = wt_strdup(launch->name ? launch->name : "");
    return timeline->launch_count++;
}

void wt_timeline_add(struct wt_timeline *timeline, const struct wt_block_run *span)
{
    assert(span->sm < timeline->sm_count && span->end >= span->start);
    if (timeline->span_count == timeline->span_capacity)
        timeline->spans = wt_grow(timeline->spans, &timeline->span_capacity, timeline->span_count + 1,
                                  sizeof *timeline->spans);
    timeline->spans[timeline->span_count++] = *span;
}

struct wt_observer wt_timeline_observer(struct wt_timeline *timeline)
{
    return (struct wt_observer){.context = timeline, .block_done = on_block, .task_done = on_task,
                                .launch_ends = on_launch_end};
}

void wt_timeline_sort(struct wt_timeline *timeline)
{
    if (!is_sorted(timeline))
        qsort(timeline->spans, timeline->span_count, sizeof *timeline->spans, compare_spans);
}

void wt_timeline_assign_slots(struct wt_timeline *timeline, wt_time slack)
{
    struct slots *slots = wt_alloc((size_t)timeline->sm_count, sizeof *slots);
    wt_timeline_sort(timeline);
    for (size_t i = 0; i < timeline->span_count; i++)
        place(&timeline->spans[i], &slots[timeline->spans[i].sm], slack);
    wt_timeline_sort(timeline); /* starts may have moved */
    for (int i = 0; i < timeline->sm_count; i++)
        free(slots[i].end);
    free(slots);
}

void wt_timeline_find_queue_empty(struct wt_timeline *timeline)
{
    for (size_t i = 0; i < timeline->launch_count; i++)
        timeline->launches[i].queue_empty = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        assert(span->launch < timeline->launch_count);
        wt_time *last = &timeline->launches[span->launch].queue_empty;
        if (span->start > *last)
            *last = span->start;
    }
}

wt_time wt_timeline_begin(const struct wt_timeline *timeline)
{
    wt_time begin = timeline->span_count ? timeline->spans[0].start : 0;
    for (size_t i = 1; i < timeline->span_count; i++)
        if (timeline->spans[i].start < begin)
            begin = timeline->spans[i].start;
    return begin;
}

wt_time wt_timeline_end(const struct wt_timeline *timeline)
{
    wt_time end = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        if (timeline->spans[i].end > end)
            end = timeline->spans[i].end;
    return end;
}

wt_time wt_timeline_stuck_after(const struct wt_timeline *timeline)
{
    wt_time since = timeline->stuck_since, begin = wt_timeline_begin(timeline);
    if (since == 0)
        return 0;
    return since - (begin < since ? begin : since) + (timeline->host ? timeline->host->lead : 0);
}

int wt_timeline_slots(const struct wt_timeline *timeline)
{
    int slots = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        if (timeline->spans[i].slot >= slots)
            slots = timeline->spans[i].slot + 1;
    return slots;
}

static void note_span(struct wt_launch_extent *extent, const struct wt_block_run *span)
{
    extent->first_start = span->start < extent->first_start ? span->start : extent->first_start;
    extent->last_start = span->start > extent->last_start ? span->start : extent->last_start;
    extent->last_end = span->end > extent->last_end ? span->end : extent->last_end;
}

struct wt_launch_extent *wt_timeline_extents(const struct wt_timeline *timeline)
{
    struct wt_launch_extent *extents = wt_alloc(timeline->launch_count, sizeof *extents);
    for (size_t i = 0; i < timeline->launch_count; i++)
        extents[i].first_start = WT_NEVER;
    for (size_t i = 0; i < timeline->span_count; i++)
        note_span(&extents[timeline->spans[i].launch], &timeline->spans[i]);
    return extents;
}
