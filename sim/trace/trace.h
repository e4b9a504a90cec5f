/* A captured trace in memory (file format version 1; plain or zstd, recognised by content).
 *
 * The file: comment lines "# wavetail-trace 1", "# key = value" (the device) and "# launch K: key=value …"
 * (one per launch; a value with spaces or quotes is "quoted", inner quotes doubled), then a CSV header and a
 * row per block. Columns are found by name, in any order: block, sm, and clock_start with clock_end or
 * time_start_ns with time_end_ns (or all four); launch, work and warp_slot may be missing. Unknown keys and
 * columns are ignored; rows may come in any order; comment lines may be missing altogether. */
#ifndef WT_TRACE_TRACE_H
#define WT_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "sm/shape.h"

enum { WT_TRACE_MAX_LAUNCH = (1 << 20) - 1 }; /* highest launch number */

/* A "# launch K: …" line. Missing keys take the value given here. */
struct wt_trace_launch {
    long number;  /* K, as rows refer to it */
    char *name;   /* "" when missing */
    char *kernel; /* "" when missing */
    char *work;   /* how work was given out, e.g. "const:20000"; "" when missing */
    int grid[3], block[3],
        cluster[3];           /* when missing: grid highest block + 1 (x only); block 0,0,0; cluster 1,1,1 */
    int registers_per_thread; /* -1 when missing */
    int static_shared_bytes, dynamic_shared_bytes; /* 0 */
    int carveout_kb;      /* preferred configuration (key carveout_kb); -1 when missing */
    int stream, priority; /* 0 */
    bool cooperative;     /* false */
    long tasks;           /* persistent launches: number of tasks (rows are tasks); 0 otherwise */
    long work_seed;       /* 0 when missing */
    int occupancy_blocks; /* what the runtime's occupancy API gave; 0 when missing */
    long line;            /* in the file, for messages; 0 when no line describes the launch */
    size_t row_count;     /* may be 0, or less than the grid (an incomplete capture) */
};

/* One row: a block (or, in a persistent launch, a task and the block that ran it). Absent columns are 0; see
 * the trace's has_* fields. Clocks, times and work are within ±2^62, ends are never before starts. */
struct wt_trace_row {
    uint64_t block;                     /* linear index, below the launch's grid */
    int64_t clock_start, clock_end;     /* clock64 of the block's SM, cycles */
    int64_t time_start_ns, time_end_ns; /* globaltimer */
    int64_t work;
    uint32_t launch; /* index into the trace's launches */
    uint32_t line;   /* in the file, for messages */
    uint16_t sm;
    int16_t warp_slot; /* -1 when absent */
};

struct wt_trace {
    char *path;
    char *device;            /* "" when missing */
    int cc_major, cc_minor;  /* 0 when missing */
    int sm_count;            /* stated, or highest SM + 1 */
    bool sm_count_stated;
    double clock_khz;        /* stated; 0 when missing */
    int globaltimer_step_ns; /* stated; 0 when missing */
    bool has_clocks, has_times, has_work, has_warp_slots;
    struct wt_trace_launch *launches;
    size_t launch_count;
    struct wt_trace_row
        *rows;        /* sorted by (launch, block, start); a block occurs once unless its launch has tasks */
    size_t row_count; /* >= 1 */
};

/* Streams the file in. On failure *out is NULL and `err` has "FILE:LINE: what, and what to do". */
enum wt_code wt_trace_read(const char *path, struct wt_trace **out, struct wt_error *err);

/* The same from the file's bytes in memory; `name` stands for the path. */
enum wt_code wt_trace_read_memory(const char *name, const void *data, size_t size, struct wt_trace **out,
                                  struct wt_error *err);
void wt_trace_free(struct wt_trace *trace);

/* Writes the trace as a file of version 1; zstd-compressed when the name ends in ".zst". Reading it gives the
 * same trace. */
enum wt_code wt_trace_write(const char *path, const struct wt_trace *trace, struct wt_error *err);

/* The description of the GPU that the trace names; the caller's, to wt_gpu_free. Fails where it names none, or one unknown. */
enum wt_code wt_trace_gpu(const struct wt_trace *trace, struct wt_gpu **out, struct wt_error *err);

/* Number of blocks in the launch's grid. */
uint64_t wt_trace_grid_blocks(const struct wt_trace_launch *launch);
/* Threads of one block; 0 = not stated. */
int wt_trace_block_threads(const struct wt_trace_launch *launch);
/* Where the rows of a launch begin; there are its row_count of them. */
const struct wt_trace_row *wt_trace_rows_of(const struct wt_trace *trace, size_t launch);

/* What kind of launches a trace holds; bit set. Launches without rows count for their shape only. */
enum {
    WT_TRACE_CONCURRENT = 1, /* two launches were on the GPU at once */
    WT_TRACE_CLUSTERED = 2,
    WT_TRACE_COOPERATIVE = 4,
    WT_TRACE_PERSISTENT = 8,
    WT_TRACE_SEVERAL = 16 /* more than one launch, one after another */
};
unsigned wt_trace_kinds(const struct wt_trace *trace);

/* What a trace holds besides ordinary launches one after another, e.g. "thread block clusters": the first of
 * concurrent, clustered, cooperative, persistent that is not in `besides` (WT_TRACE_… bits). NULL when nothing. */
const char *wt_trace_special_kind(const struct wt_trace *trace, unsigned besides);

/* What a block of the launch asks of an SM. Threads are 0 and registers -1 when the trace does not state them. */
struct wt_launch_needs wt_trace_needs(const struct wt_trace_launch *launch);

#endif
