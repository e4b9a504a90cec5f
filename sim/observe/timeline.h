/* A timeline: which block was where, from when to when. Simulated runs and measured traces both become one, and
 * every metric, table and picture is made from it. */
#ifndef WT_OBSERVE_TIMELINE_H
#define WT_OBSERVE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "core/time.h"
#include "dispatch/observer.h"

struct wt_timeline_launch {
    char *name;              /* kernel name, owned */
    long number;             /* the trace's launch number */
    uint64_t grid_blocks;
    int threads_per_block;
    int warps_per_block;
    int blocks_per_sm;       /* theoretical occupancy; 0 = unknown */
    wt_time queue_empty;     /* the launch's last block was handed out (its start) */
};

struct wt_timeline {
    char *title;      /* file or workload name, owned */
    char *gpu_name;   /* owned */
    double clock_mhz; /* 0 = unknown: outputs then give cycles only */
    int sm_count;
    int warps_per_sm; /* the SM's limit, for achieved occupancy; 0 = unknown */
    uint16_t *gpc_of_sm; /* sm_count entries, for grouping rows; owned */
    struct wt_timeline_launch *launches; /* owned */
    size_t launch_count, launch_capacity;
    struct wt_block_run *spans; /* owned; no two of one (sm, slot) overlap */
    size_t span_count, span_capacity;
};

struct wt_timeline *wt_timeline_new(const char *title, const char *gpu_name, int sm_count);
void wt_timeline_free(struct wt_timeline *timeline);

/* Appends. `launch` is copied, with its name. Returns the launch's index. */
size_t wt_timeline_add_launch(struct wt_timeline *timeline, const struct wt_timeline_launch *launch);
void wt_timeline_add(struct wt_timeline *timeline, const struct wt_block_run *span);

/* Orders spans by (start, launch, block). */
void wt_timeline_sort(struct wt_timeline *timeline);

/* Gives each span the lowest slot free on its SM at its start (for measured spans, whose slots are unknown).
 * Sorts first. A measured successor may start up to `slack` before its predecessor's recorded end (clock
 * misalignment); it then still takes that slot and its start is moved to the predecessor's end. */
void wt_timeline_assign_slots(struct wt_timeline *timeline, wt_time slack);

/* Latest end; 0 for an empty timeline. */
wt_time wt_timeline_end(const struct wt_timeline *timeline);

#endif
