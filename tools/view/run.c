#include "run.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "origin.h"

/* From the first start or, where it is known, from the host's first call, which is `lead` before. */
static void count_from_zero(struct wt_timeline *timeline)
{
    wt_time begin = wt_timeline_begin(timeline), lead = timeline->host ? timeline->host->lead : 0;
    for (size_t i = 0; begin != lead && i < timeline->span_count; i++) {
        timeline->spans[i].start += lead - begin;
        timeline->spans[i].end += lead - begin;
    }
    timeline->stuck_since += timeline->stuck_since ? lead - begin : 0;
    for (size_t i = 0; i < timeline->launch_count; i++) {
        wt_time empty = timeline->launches[i].queue_empty;
        timeline->launches[i].queue_empty = empty < begin ? lead : empty + lead - begin;
    }
}

/* ---- The host's side ---- */

static void index_tracks(struct run *run)
{
    struct wt_host_timeline *host = run->timeline->host;
    run->whole = run->end;
    if (!host)
        return;
    wt_host_timeline_sort(host);
    run->whole = host->end > run->end ? host->end : run->end;
    run->track_first = wt_alloc(host->track_count + 2, sizeof *run->track_first);
    run->track_spans = wt_alloc(host->span_count, sizeof *run->track_spans);
    for (size_t i = 0; i < host->span_count; i++)
        run->track_first[host->spans[i].track + 2]++;
    for (size_t i = 2; i < host->track_count + 2; i++)
        run->track_first[i] += run->track_first[i - 1];
    for (size_t i = 0; i < host->span_count; i++)
        run->track_spans[run->track_first[host->spans[i].track + 1]++] = (uint32_t)i;
}

/* Which stream a launch ran in. */
static void take_streams(struct wt_timeline *timeline)
{
    for (size_t i = 0; timeline->host && i < timeline->host->span_count; i++) {
        const struct wt_host_span *span = &timeline->host->spans[i];
        if (span->kind == WT_ACTIVITY_KERNEL && span->launch < timeline->launch_count)
            timeline->launches[span->launch].stream = (int)span->stream;
    }
}

/* ---- Lanes and SMs: counting sorts that keep the order of starts ---- */

static uint32_t bin_of(const struct run *run, const struct wt_block_run *span, bool by_lane)
{
    return by_lane ? (uint32_t)run_lane(run, span->sm, span->slot) : span->sm;
}

static void group_spans(const struct run *run, size_t bins, bool by_lane, uint32_t **first, uint32_t **spans)
{
    const struct wt_timeline *timeline = run->timeline;
    uint32_t *begin = wt_alloc(bins + 2, sizeof *begin), *order = wt_alloc(timeline->span_count, sizeof *order);
    for (size_t i = 0; i < timeline->span_count; i++)
        begin[bin_of(run, &timeline->spans[i], by_lane) + 2]++;
    for (size_t i = 2; i < bins + 2; i++)
        begin[i] += begin[i - 1];
    for (size_t i = 0; i < timeline->span_count; i++)
        order[begin[bin_of(run, &timeline->spans[i], by_lane) + 1]++] = (uint32_t)i;
    *first = begin;
    *spans = order;
}

static void copy_stays(struct run *run)
{
    size_t count = run->timeline->span_count;
    run->lane_stays = wt_alloc(count, sizeof *run->lane_stays);
    for (size_t i = 0; i < count; i++) {
        const struct wt_block_run *span = run_span(run, run->lane_spans[i]);
        run->lane_stays[i] = (struct stay){span->start, span->end};
    }
}

/* ---- Densities ---- */

struct stays {
    wt_time *starts, *ends;
    uint32_t *warps;
};

static void fill_stays(const struct run *run, const uint32_t *spans, size_t count, struct stays *stays)
{
    for (size_t i = 0; i < count; i++) {
        const struct wt_block_run *span = run_span(run, spans ? spans[i] : (uint32_t)i);
        stays->starts[i] = span->start;
        stays->ends[i] = span->end;
        stays->warps[i] = (uint32_t)run->timeline->launches[span->launch].warps_per_block;
    }
}

static void build_densities(struct run *run)
{
    size_t count = run->timeline->span_count;
    struct stays stays = {wt_alloc(count, sizeof(wt_time)), wt_alloc(count, sizeof(wt_time)),
                          wt_alloc(count, sizeof(uint32_t))};
    run->sm_density = wt_alloc((size_t)run->sms, sizeof *run->sm_density);
    for (int sm = 0; sm < run->sms; sm++) {
        size_t first = run->sm_first[sm], of_sm = run->sm_first[sm + 1] - first;
        fill_stays(run, run->sm_spans + first, of_sm, &stays);
        run->sm_density[sm] = density_new(stays.starts, stays.ends, NULL, of_sm);
    }
    fill_stays(run, NULL, count, &stays);
    run->blocks = density_new(stays.starts, stays.ends, NULL, count);
    if (run->warps_per_block == 0)
        run->warps = density_new(stays.starts, stays.ends, stays.warps, count);
    free(stays.starts);
    free(stays.ends);
    free(stays.warps);
}

/* ---- Blocks by number ---- */

/* Grids as stated; where a file states one that is implausibly large for its rows, blocks are not indexed. */
static uint64_t indexed_blocks(const struct run *run, size_t launch)
{
    uint64_t grid = run->timeline->launches[launch].grid_blocks;
    return grid > 64 * (uint64_t)run->timeline->span_count + 65536 ? 0 : grid;
}

static void index_blocks(struct run *run)
{
    const struct wt_timeline *timeline = run->timeline;
    run->launch_first = wt_alloc(timeline->launch_count + 1, sizeof *run->launch_first);
    for (size_t i = 0; i < timeline->launch_count; i++) {
        run->launch_first[i + 1] = run->launch_first[i] + indexed_blocks(run, i);
        run->grid_blocks += timeline->launches[i].tasks ? timeline->launches[i].tasks : timeline->launches[i].grid_blocks;
    }
    uint64_t blocks = run->launch_first[timeline->launch_count];
    run->span_of_block = wt_alloc(blocks, sizeof *run->span_of_block);
    memset(run->span_of_block, 0xff, blocks * sizeof *run->span_of_block);
    for (size_t i = timeline->span_count; i-- > 0;) {
        const struct wt_block_run *span = &timeline->spans[i];
        if (span->block < run->launch_first[span->launch + 1] - run->launch_first[span->launch])
            run->span_of_block[run->launch_first[span->launch] + span->block] = (uint32_t)i;
    }
    run->grid_blocks = run->grid_blocks < timeline->span_count ? timeline->span_count : run->grid_blocks;
}

/* ---- Launches ---- */

static bool all_known(const struct run *run)
{
    for (size_t i = 0; i < run->timeline->launch_count; i++)
        if (!run->launches[i].needs_known)
            return false;
    return run->gpu != NULL;
}

static void fit_launch(struct run *run, size_t index)
{
    struct run_launch *launch = &run->launches[index];
    const struct wt_launch_needs *needs = &run->timeline->launches[index].needs;
    if (needs->threads < 1 || needs->registers_per_thread < 0 || !run->gpu)
        return;
    launch->needs_known = wt_shape_make(&run->gpu->limits, needs, &launch->shape, NULL) == WT_OK &&
                          wt_occupancy(&run->gpu->limits, needs, &launch->occupancy, NULL) == WT_OK;
}

static void describe_launches(struct run *run)
{
    struct wt_timeline *timeline = run->timeline;
    run->launches = wt_alloc(timeline->launch_count, sizeof *run->launches);
    run->warps_per_block = timeline->launches[0].warps_per_block;
    for (size_t i = 0; i < timeline->launch_count; i++) {
        struct wt_timeline_launch *launch = &timeline->launches[i];
        fit_launch(run, i);
        if (launch->blocks_per_sm == 0 && run->launches[i].needs_known)
            launch->blocks_per_sm = run->launches[i].occupancy.blocks_per_sm;
        run->warps_per_block = launch->warps_per_block == run->warps_per_block ? run->warps_per_block : 0;
        run->queue_empty = launch->queue_empty > run->queue_empty ? launch->queue_empty : run->queue_empty;
    }
    run->shapes_known = all_known(run);
}

static void find_gpu(struct run *run, struct wt_gpu *gpu)
{
    struct wt_timeline *timeline = run->timeline;
    run->gpu = gpu ? gpu : wt_gpu_of_device(timeline->gpu_name);
    if (run->gpu && timeline->warps_per_sm == 0)
        timeline->warps_per_sm = run->gpu->limits.warps_per_sm;
    run->gpcs = 1;
    for (int sm = 0; sm < timeline->sm_count; sm++)
        run->gpcs = timeline->gpc_of_sm[sm] >= run->gpcs ? timeline->gpc_of_sm[sm] + 1 : run->gpcs;
}

static int compare_times(const void *left, const void *right)
{
    wt_time a = *(const wt_time *)left, b = *(const wt_time *)right;
    return (a > b) - (a < b);
}

/* Equal durations, the most frequent case, need no sorting. */
static void sort_durations(struct run *run)
{
    size_t count = run->timeline->span_count;
    bool sorted = true;
    run->sorted_durations = wt_alloc(count, sizeof *run->sorted_durations);
    for (size_t i = 0; i < count; i++) {
        run->sorted_durations[i] = run_span(run, (uint32_t)i)->end - run_span(run, (uint32_t)i)->start;
        sorted &= i == 0 || run->sorted_durations[i] >= run->sorted_durations[i - 1];
    }
    if (!sorted)
        qsort(run->sorted_durations, count, sizeof *run->sorted_durations, compare_times);
}

struct run *run_new(const char *label, struct wt_timeline *timeline, struct wt_gpu *gpu)
{
    struct run *run = wt_alloc(1, sizeof *run);
    run->label = wt_strdup(label);
    run->timeline = timeline;
    count_from_zero(timeline);
    wt_timeline_sort(timeline);
    take_streams(timeline);
    find_gpu(run, gpu);
    describe_launches(run);
    run->metrics = wt_metrics_of_timeline(timeline);
    run->begin = wt_timeline_begin(timeline);
    run->end = wt_timeline_end(timeline);
    index_tracks(run);
    run->sms = timeline->sm_count;
    run->slots = wt_timeline_slots(timeline);
    group_spans(run, (size_t)run->sms * (size_t)run->slots, true, &run->lane_first, &run->lane_spans);
    group_spans(run, (size_t)run->sms, false, &run->sm_first, &run->sm_spans);
    copy_stays(run);
    build_densities(run);
    index_blocks(run);
    sort_durations(run);
    return run;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    for (int sm = 0; sm < run->sms; sm++)
        density_free(&run->sm_density[sm]);
    density_free(&run->blocks);
    density_free(&run->warps);
    free(run->sm_density);
    free(run->lane_first);
    free(run->lane_spans);
    free(run->lane_stays);
    free(run->sm_first);
    free(run->sm_spans);
    free(run->launch_first);
    free(run->track_first);
    free(run->track_spans);
    free(run->span_of_block);
    free(run->sorted_durations);
    free(run->launches);
    free(run->label);
    origin_free(run->origin);
    wt_warp_states_free(run->warp_states);
    wt_metrics_free(run->metrics);
    wt_gpu_free(run->gpu);
    wt_timeline_free(run->timeline);
    free(run);
}

uint32_t run_lane_from(const struct run *run, int lane, wt_time t)
{
    uint32_t low = run->lane_first[lane], high = run->lane_first[lane + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (run->lane_stays[middle].end <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t run_resident(const struct run *run, int lane, wt_time t)
{
    uint32_t at = run_lane_from(run, lane, t);
    if (at == run->lane_first[lane + 1] || run->lane_stays[at].start > t)
        return NO_SPAN;
    return run->lane_spans[at];
}

uint32_t run_find_block(const struct run *run, size_t launch, uint64_t block)
{
    if (launch >= run->timeline->launch_count || block >= run->launch_first[launch + 1] - run->launch_first[launch])
        return NO_SPAN;
    return run->span_of_block[run->launch_first[launch] + block];
}

uint64_t run_waiting(const struct run *run, wt_time t)
{
    return run->grid_blocks - density_started(&run->blocks, t);
}

struct queued {
    uint64_t number;
    uint32_t span;
};

static int compare_queued(const void *left, const void *right)
{
    const struct queued *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Blocks of one kernel leave the queue by number, but TPCs start them at different speeds: of those that start soonest, the
 * first by number are the queue's head. */
size_t run_queue(const struct run *run, wt_time t, uint32_t *spans, size_t count)
{
    enum { WINDOW = 1024 };
    struct queued queued[WINDOW];
    size_t first = density_started(&run->blocks, t), found = 0;
    bool by_number = !run->origin || origin_can_tell(run->origin); /* not in an order that a change made */
    for (size_t i = first; i < run->timeline->span_count && found < WINDOW; i++, found++) {
        const struct wt_block_run *span = run_span(run, (uint32_t)i);
        if (span->launch != run_span(run, (uint32_t)first)->launch)
            break;
        queued[found] = (struct queued){run_number(run, (uint32_t)i), (uint32_t)i};
    }
    if (by_number)
        qsort(queued, found, sizeof *queued, compare_queued);
    count = count < found ? count : found;
    for (size_t i = 0; i < count; i++)
        spans[i] = queued[i].span;
    return count;
}

size_t run_queue_place(const struct run *run, wt_time t, uint32_t span)
{
    const struct wt_block_run *own = run_span(run, span);
    size_t before = 0;
    if (run->origin && !origin_can_tell(run->origin))
        return span - density_started(&run->blocks, t);
    for (size_t i = density_started(&run->blocks, t); i < run->timeline->span_count; i++) {
        const struct wt_block_run *other = run_span(run, (uint32_t)i);
        before += other->launch == own->launch ? run_number(run, (uint32_t)i) < run_number(run, span) : i < span;
    }
    return before;
}

wt_time run_previous_event(const struct run *run, wt_time t)
{
    if (t == 0)
        return WT_NEVER;
    size_t began = density_started(&run->blocks, t - 1), ended = density_ended(&run->blocks, t - 1);
    wt_time start = began ? density_start(&run->blocks, began - 1) : 0;
    wt_time end = ended ? density_end(&run->blocks, ended - 1) : 0;
    return began || ended ? (start > end ? start : end) : WT_NEVER;
}

wt_time run_next_event(const struct run *run, wt_time t)
{
    size_t began = density_started(&run->blocks, t), ended = density_ended(&run->blocks, t);
    wt_time start = began < run->blocks.count ? density_start(&run->blocks, began) : WT_NEVER;
    wt_time end = ended < run->blocks.count ? density_end(&run->blocks, ended) : WT_NEVER;
    return start < end ? start : end;
}

double run_mean_warps(const struct run *run, wt_time t0, wt_time t1)
{
    if (run->warps.count)
        return density_mean(&run->warps, t0, t1);
    return run->warps_per_block * density_mean(&run->blocks, t0, t1);
}

double run_duration_rank(const struct run *run, wt_time duration)
{
    size_t low = 0, high = run->timeline->span_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->sorted_durations[middle] < duration)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low / (double)run->timeline->span_count;
}

enum wt_resource run_limiter(const struct run *run, size_t launch)
{
    const struct run_launch *known = &run->launches[launch];
    for (int i = 0; known->needs_known && i < WT_RES_COUNT; i++)
        if (known->occupancy.limiter[i])
            return (enum wt_resource)i;
    return WT_RES_COUNT;
}

int run_idle_sms(const struct run *run, wt_time t)
{
    int idle = 0;
    for (int sm = 0; sm < run->sms; sm++)
        idle += density_resident(&run->sm_density[sm], t) == 0;
    return idle;
}

bool run_in_tail(const struct run *run, wt_time t)
{
    bool tail = false;
    for (size_t i = 0; i < run->timeline->launch_count && i < 64; i++) {
        const struct wt_metrics_part *part = &run->metrics->launches[i];
        if (part->blocks == 0 || t < part->begin || t >= part->end)
            continue;
        if (t < part->tail.start)
            return false;
        tail = true;
    }
    return tail || (t >= run->queue_empty && t < run->end);
}
