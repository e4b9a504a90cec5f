/* Questions about a whole trace. */
#include <stdlib.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "trace/trace.h"

struct interval {
    int64_t start, end;
};

uint64_t wt_trace_grid_blocks(const struct wt_trace_launch *launch)
{
    return (uint64_t)launch->grid[0] * (uint64_t)launch->grid[1] * (uint64_t)launch->grid[2];
}

int wt_trace_block_threads(const struct wt_trace_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

const struct wt_trace_row *wt_trace_rows_of(const struct wt_trace *trace, size_t launch)
{
    size_t low = 0, high = trace->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->rows[middle].launch < launch)
            low = middle + 1;
        else
            high = middle;
    }
    return trace->rows + low;
}

static int by_start(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* First start and last end: by globaltimer where there is one, since clocks differ between SMs. */
static struct interval extent(const struct wt_trace *trace, const struct wt_trace_row *rows, size_t count)
{
    struct interval all = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < count; i++) {
        int64_t start = trace->has_times ? rows[i].time_start_ns : rows[i].clock_start;
        int64_t end = trace->has_times ? rows[i].time_end_ns : rows[i].clock_end;
        all.start = start < all.start ? start : all.start;
        all.end = end > all.end ? end : all.end;
    }
    return all;
}

/* Extents of the launches that have rows, in order of their starts. */
static size_t extents(const struct wt_trace *trace, struct interval *out)
{
    size_t count = 0;
    const struct wt_trace_row *rows = trace->rows;
    for (size_t i = 0; i < trace->launch_count; i++) {
        if (trace->launches[i].row_count > 0)
            out[count++] = extent(trace, rows, trace->launches[i].row_count);
        rows += trace->launches[i].row_count;
    }
    qsort(out, count, sizeof *out, by_start);
    return count;
}

static unsigned coexistence(const struct wt_trace *trace)
{
    struct interval *launches = wt_alloc(trace->launch_count, sizeof *launches);
    size_t count = extents(trace, launches);
    unsigned kind = count > 1 ? WT_TRACE_SEVERAL : 0;
    int64_t last_end = count ? launches[0].end : 0;
    for (size_t i = 1; i < count; i++) {
        if (launches[i].start < last_end)
            kind = WT_TRACE_CONCURRENT;
        last_end = launches[i].end > last_end ? launches[i].end : last_end;
    }
    free(launches);
    return kind;
}

unsigned wt_trace_kinds(const struct wt_trace *trace)
{
    unsigned kinds = coexistence(trace);
    for (size_t i = 0; i < trace->launch_count; i++) {
        const struct wt_trace_launch *launch = &trace->launches[i];
        if ((int64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1)
            kinds |= WT_TRACE_CLUSTERED;
        if (launch->cooperative)
            kinds |= WT_TRACE_COOPERATIVE;
        if (launch->tasks > 0)
            kinds |= WT_TRACE_PERSISTENT;
    }
    return kinds;
}

const char *wt_trace_special_kind(const struct wt_trace *trace, unsigned besides)
{
    static const struct {
        unsigned kind;
        const char *what;
    } special[] = {{WT_TRACE_CONCURRENT, "concurrent launches"},
                   {WT_TRACE_CLUSTERED, "thread block clusters"},
                   {WT_TRACE_COOPERATIVE, "cooperative launches"},
                   {WT_TRACE_PERSISTENT, "persistent launches"}};
    unsigned kinds = wt_trace_kinds(trace) & ~besides;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (kinds & special[i].kind)
            return special[i].what;
    return NULL;
}

enum wt_code wt_trace_gpu(const struct wt_trace *trace, struct wt_gpu **out, struct wt_error *err)
{
    *out = wt_gpu_of_device(trace->device);
    if (*out)
        return WT_OK;
    if (!*trace->device)
        return wt_fail_at(err, trace->path, 0, "names no device; name the GPU with --gpu (`wavetail gpus` lists them)");
    return wt_fail_at(err, trace->path, 0, "comes from '%s', of which no description is known; name a GPU with --gpu "
                      "(`wavetail gpus` lists them)", trace->device);
}

struct wt_launch_needs wt_trace_needs(const struct wt_trace_launch *launch)
{
    return (struct wt_launch_needs){.threads = wt_trace_block_threads(launch),
                                    .registers_per_thread = launch->registers_per_thread,
                                    .static_shared_bytes = launch->static_shared_bytes,
                                    .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                                    .carveout_kb = launch->carveout_kb};
}
