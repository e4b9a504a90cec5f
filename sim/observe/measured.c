#include "observe/measured.h"

#include <math.h>

#include "gpu/gpu.h"

static const double LONGEST_CYCLES = 9007199254740992.0; /* 2^53, see wt_from_cycles */
static const wt_time SLACK = 16 * WT_CYCLE;              /* an SM's starts and ends are read off one clock */

struct extent {
    double first, last;
};

static struct extent find_extent(const struct wt_trace *trace, const struct wt_clocks *clocks)
{
    struct extent extent = {INFINITY, -INFINITY};
    for (size_t i = 0; i < trace->row_count; i++) {
        extent.first = fmin(extent.first, wt_clocks_start(clocks, &trace->rows[i]));
        extent.last = fmax(extent.last, wt_clocks_end(clocks, &trace->rows[i]));
    }
    return extent;
}

static void add_launches(struct wt_timeline *timeline, const struct wt_trace *trace)
{
    for (size_t i = 0; i < trace->launch_count; i++) {
        const struct wt_trace_launch *launch = &trace->launches[i];
        int threads = wt_trace_block_threads(launch);
        struct wt_timeline_launch copy = {.name = *launch->kernel ? launch->kernel : launch->name,
                                          .number = launch->number,
                                          .grid_blocks = wt_trace_grid_blocks(launch),
                                          .tasks = (uint64_t)launch->tasks,
                                          .threads_per_block = threads,
                                          .warps_per_block = (threads + WT_WARP_SIZE - 1) / WT_WARP_SIZE,
                                          .blocks_per_sm = launch->occupancy_blocks,
                                          .needs = wt_trace_needs(launch),
                                          .stream = launch->stream};
        wt_timeline_add_launch(timeline, &copy);
    }
}

static void add_spans(struct wt_timeline *timeline, const struct wt_trace *trace,
                      const struct wt_clocks *clocks, double first)
{
    for (size_t i = 0; i < trace->row_count; i++) {
        const struct wt_trace_row *row = &trace->rows[i];
        double start = wt_clocks_start(clocks, row) - first, end = wt_clocks_end(clocks, row) - first;
        struct wt_block_run span = {.block = row->block,
                                    .start = wt_from_cycles(start),
                                    .end = wt_from_cycles(fmax(start, end)),
                                    .launch = row->launch,
                                    .sm = row->sm,
                                    .task = trace->launches[row->launch].tasks > 0 ? (uint64_t)row->work : 0};
        struct wt_timeline_launch *launch = &timeline->launches[row->launch];
        launch->queue_empty = span.start > launch->queue_empty ? span.start : launch->queue_empty;
        wt_timeline_add(timeline, &span);
    }
}

enum wt_code wt_timeline_from_trace(const struct wt_trace *trace, const struct wt_clocks *clocks,
                                    struct wt_timeline **out, struct wt_error *err)
{
    *out = NULL;
    struct extent extent = find_extent(trace, clocks);
    if (!(extent.last - extent.first < LONGEST_CYCLES))
        return wt_fail_at(err, trace->path, 0,
                          "lasts longer than 2^53 cycles; its clocks or times cannot be right");
    struct wt_timeline *timeline = wt_timeline_new(trace->path, trace->device, trace->sm_count);
    timeline->clock_mhz = clocks->mhz;
    for (int sm = 0; sm < trace->sm_count; sm++)
        timeline->gpc_of_sm[sm] = clocks->domain_of_sm[sm] > 0 ? (uint16_t)clocks->domain_of_sm[sm] : 0;
    add_launches(timeline, trace);
    add_spans(timeline, trace, clocks, extent.first);
    wt_timeline_assign_slots(timeline, SLACK);
    *out = timeline;
    return WT_OK;
}
