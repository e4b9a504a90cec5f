/* A captured trace in memory (file format version 1; plain or zstd, recognised by content). */
#ifndef WT_TRACE_TRACE_H
#define WT_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* A "# launch K: …" line. Missing keys take the value given here. */
struct wt_trace_launch {
    long number;          /* K, as rows refer to it */
    char *name;           /* "" when missing */
    char *kernel;         /* "" when missing */
    char *work;           /* how work was given out, e.g. "const:20000"; "" when missing */
    int grid[3], block[3], cluster[3]; /* 1,1,1 when missing; block 0,0,0 when missing */
    int registers_per_thread;          /* -1 when missing */
    int static_shared_bytes, dynamic_shared_bytes; /* 0 */
    int carveout_kb;      /* preferred configuration; -1 when missing */
    int stream, priority; /* 0 */
    bool cooperative;     /* false */
    long tasks;           /* persistent launches: number of tasks; 0 otherwise */
    int occupancy_blocks; /* what the runtime's occupancy API gave; 0 when missing */
    long line;            /* in the file, for messages */
    size_t row_count;
};

/* One row: a block (or, in a persistent launch, a task). Absent columns are 0; see the trace's has_* fields. */
struct wt_trace_row {
    uint64_t block;
    int64_t clock_start, clock_end;     /* clock64 of the block's SM, cycles */
    int64_t time_start_ns, time_end_ns; /* globaltimer */
    int64_t work;
    uint32_t launch; /* index into the trace's launches */
    uint16_t sm;
    int16_t warp_slot; /* -1 when absent */
};

struct wt_trace {
    char *path;
    char *device;           /* "" when missing */
    int cc_major, cc_minor; /* 0 when missing */
    int sm_count;           /* stated, or highest SM + 1 */
    double clock_khz;       /* stated; 0 when missing */
    int globaltimer_step_ns; /* stated; 0 when missing */
    bool has_clocks, has_times, has_work, has_warp_slots;
    struct wt_trace_launch *launches;
    size_t launch_count;
    struct wt_trace_row *rows; /* sorted by (launch, block, clock_start) */
    size_t row_count;
};

/* Streams the file in. On failure *out is NULL and `err` has "FILE:LINE: what, and what to do". */
enum wt_code wt_trace_read(const char *path, struct wt_trace **out, struct wt_error *err);
void wt_trace_free(struct wt_trace *trace);

/* What kind of launches a trace holds; bit set. */
enum {
    WT_TRACE_CONCURRENT = 1, /* two launches were on the GPU at once */
    WT_TRACE_CLUSTERED = 2,
    WT_TRACE_COOPERATIVE = 4,
    WT_TRACE_PERSISTENT = 8,
    WT_TRACE_SEVERAL = 16 /* more than one launch, one after another */
};
unsigned wt_trace_kinds(const struct wt_trace *trace);

#endif
