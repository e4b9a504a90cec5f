/* A timeline: which block was where, from when to when. Simulated runs and measured traces both become one, and
 * every metric, table and picture is made from it. */
#ifndef WT_OBSERVE_TIMELINE_H
#define WT_OBSERVE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"
#include "dispatch/observer.h"
#include "observe/host.h"
#include "sm/shape.h"

struct wt_warp_series;

struct wt_timeline_launch {
    char *name;              /* kernel name, owned */
    long number;             /* the trace's launch number */
    uint64_t grid_blocks;
    uint64_t tasks;          /* of a persistent launch, whose spans are its tasks; 0: an ordinary one */
    int threads_per_block;   /* 0 = unknown */
    int warps_per_block;     /* 0 = unknown */
    int blocks_per_sm;       /* theoretical occupancy; 0 = unknown */
    wt_time queue_empty;     /* the launch's last block (of a persistent one the last task) was handed out (its start) */
    struct wt_launch_needs needs; /* of a block; threads 0, registers -1 where unknown */
    int stream;
};

struct wt_timeline {
    char *title;      /* file or workload name, owned */
    char *gpu_name;   /* owned */
    double clock_mhz; /* 0 = unknown: outputs then give cycles only */
    int sm_count;
    int warps_per_sm; /* the SM's limit, for achieved occupancy; 0 = unknown */
    uint16_t *gpc_of_sm; /* sm_count entries, for grouping rows; all 0 = unknown; owned */
    struct wt_timeline_launch *launches; /* owned */
    size_t launch_count, launch_capacity;
    struct wt_block_run *spans; /* owned; no two of one (sm, slot) overlap */
    size_t span_count, span_capacity;
    wt_time stuck_since; /* a deadlock: from then on nothing happens, and ends after it are only where a picture ends; 0: none */
    char *stuck; /* who waits for whom then, after "deadlock: "; NULL: there is no deadlock, or nobody said; owned */
    struct wt_host_timeline *host; /* NULL: nothing is known of it; owned */
    struct wt_warp_series *warps;  /* what warps did; NULL: nothing is known of them; owned */
};

/* A timeline without spans also serves to describe a run whose blocks are not kept (metrics.h, blocks.h). NULL
 * texts become "". sm_count >= 1. */
struct wt_timeline *wt_timeline_new(const char *title, const char *gpu_name, int sm_count);
/* NULL is allowed. */
void wt_timeline_free(struct wt_timeline *timeline);
/* Everything but the spans, a deadlock and the host. */
struct wt_timeline *wt_timeline_copy_description(const struct wt_timeline *timeline);

/* Appends. `launch` is copied, with its name (NULL becomes ""). Returns the launch's index. */
size_t wt_timeline_add_launch(struct wt_timeline *timeline, const struct wt_timeline_launch *launch);
/* span->sm < sm_count. */
void wt_timeline_add(struct wt_timeline *timeline, const struct wt_block_run *span);

/* Adds every block of a simulation (of persistent launches every task) and sets each launch's queue_empty. The launches must
 * have been added before, in the simulation's order. The timeline must outlive the observer. */
struct wt_observer wt_timeline_observer(struct wt_timeline *timeline);

/* A block that a deadlock holds: it has no end. */
static inline bool wt_timeline_never_ends(const struct wt_timeline *timeline, const struct wt_block_run *span)
{
    return timeline->stuck_since > 0 && span->end > timeline->stuck_since;
}

/* For observers. A task moves its launch's queue_empty; a launch that ends has none but its blocks', unless it has tasks. */
void wt_timeline_note_task(struct wt_timeline *timeline, const struct wt_block_run *run);
void wt_timeline_note_queue_empty(struct wt_timeline *timeline, uint32_t launch, wt_time blocks_handed_out);

/* Orders spans by (start, launch, block). */
void wt_timeline_sort(struct wt_timeline *timeline);

/* Gives each span the lowest slot free on its SM at its start (for measured spans, whose slots are unknown).
 * Sorts first. A measured successor may start up to `slack` before its predecessor's recorded end (clock
 * misalignment); when no slot used before is free it then still takes the one that ends first, and its start is
 * moved to the predecessor's end. The spans end up sorted. */
void wt_timeline_assign_slots(struct wt_timeline *timeline, wt_time slack);

/* Sets every launch's queue_empty to the start of its block that started last (for measured spans). */
void wt_timeline_find_queue_empty(struct wt_timeline *timeline);

/* When a deadlock began, as outputs count: after the first start or, where the host's side is known, its first call. 0: there is none. */
wt_time wt_timeline_stuck_after(const struct wt_timeline *timeline);

/* Earliest start and latest end; 0 for a timeline without spans. */
wt_time wt_timeline_begin(const struct wt_timeline *timeline);
wt_time wt_timeline_end(const struct wt_timeline *timeline);

/* Block slots per SM that any span uses: highest slot + 1; 0 without spans. */
int wt_timeline_slots(const struct wt_timeline *timeline);

/* When a launch's blocks began and ended. */
struct wt_launch_extent {
    wt_time first_start, last_start, last_end; /* WT_NEVER, 0, 0 without spans */
};

/* By launch; owned by the caller. */
struct wt_launch_extent *wt_timeline_extents(const struct wt_timeline *timeline);

#endif
