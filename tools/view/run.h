/* One run as the views read it: a timeline, and tables that find any block, lane or moment of a million blocks at
 * once. Times count from the run's first start or, where the host's side is known, from its first call. Read-only after run_new. */
#ifndef VIEW_RUN_H
#define VIEW_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "density.h"
#include "gpu/gpu.h"
#include "observe/metrics.h"
#include "observe/timeline.h"
#include "observe/warp_states.h"
#include "sm/occupancy.h"
#include "sm/shape.h"

struct origin;

/* No block. */
#define NO_SPAN UINT32_MAX

struct stay {
    wt_time start, end;
};

struct run_launch {
    bool needs_known; /* the rest is valid only then: result files and some traces do not tell */
    struct wt_shape shape;
    struct wt_occupancy occupancy;
};

struct run {
    char *label;                  /* "measured", "simulated", "before", …; owned */
    struct wt_timeline *timeline; /* sorted by start; owned */
    struct wt_metrics *metrics;   /* owned */
    struct wt_gpu *gpu;           /* NULL: unknown; owned */
    struct run_launch *launches;  /* timeline->launch_count; owned */
    bool shapes_known;            /* needs_known of all launches, and the GPU */
    wt_time begin, end;           /* the first start, the last end; begin is 0 unless the host's side is known */
    wt_time whole;                /* the end of everything, the host's side included */
    uint32_t *track_first;        /* per track of timeline->host and one more: its first entry in track_spans; owned; NULL: no host */
    uint32_t *track_spans;        /* indices of the host's spans, by track, then by begin; owned */
    wt_time queue_empty;          /* the last block is handed out; the tail begins */
    int sms, slots, gpcs;         /* slots: highest used + 1, at least 1; gpcs >= 1 */
    uint32_t *lane_first;         /* per lane (SM * slots + slot) and one more: its first entry in lane_spans; owned */
    uint32_t *lane_spans;         /* span indices, by lane, then by start; owned */
    struct stay *lane_stays;      /* when those are, side by side in memory; owned */
    uint32_t *sm_first, *sm_spans; /* the same per SM; owned */
    struct density *sm_density;   /* resident blocks, per SM; owned */
    struct density blocks;        /* of the whole GPU */
    struct density warps;         /* weighted; count 0 when all launches have equally many warps */
    int warps_per_block;          /* of all launches; 0 when they differ */
    uint64_t *launch_first;       /* per launch and one more: its first entry in span_of_block; owned */
    uint32_t *span_of_block;      /* NO_SPAN: no row; owned */
    wt_time *sorted_durations;    /* owned */
    uint64_t grid_blocks;         /* of all launches */
    struct origin *origin;        /* of a simulation (origin.h); NULL: it cannot be asked; owned; set after run_new */
    struct wt_warp_states *warp_states; /* of warp-level simulations; NULL: it was none; owned */
};

/* Takes over the timeline (at least one launch and one span) and the GPU (NULL: looked up by the timeline's device
 * name). */
struct run *run_new(const char *label, struct wt_timeline *timeline, struct wt_gpu *gpu);
/* NULL is allowed. */
void run_free(struct run *run);

static inline const struct wt_block_run *run_span(const struct run *run, uint32_t span)
{
    return &run->timeline->spans[span];
}

/* What the queue hands out: the block or, of a persistent launch, the task. */
static inline uint64_t run_number(const struct run *run, uint32_t span)
{
    const struct wt_block_run *of = run_span(run, span);
    return run->timeline->launches[of->launch].tasks ? of->task : of->block;
}

static inline int run_lane(const struct run *run, int sm, int slot)
{
    return sm * run->slots + slot;
}

static inline wt_time run_makespan(const struct run *run)
{
    return run->end - run->begin;
}

/* The block resident in the lane at t, or NO_SPAN. */
uint32_t run_resident(const struct run *run, int lane, wt_time t);
/* First entry of the lane (as an index into lane_spans) whose block ends after t; lane_first[lane + 1] if none. */
uint32_t run_lane_from(const struct run *run, int lane, wt_time t);
/* The span of a launch's block, or NO_SPAN. */
uint32_t run_find_block(const struct run *run, size_t launch, uint64_t block);

/* Blocks of the whole grid not yet started, as far as launches are known, and started or ended, at t. */
uint64_t run_waiting(const struct run *run, wt_time t);

/* The blocks that are handed out next after t, in the queue's order: by number within a kernel, whatever the order in which they
 * then start. Fills at most `count` span indices; returns how many. */
size_t run_queue(const struct run *run, wt_time t, uint32_t *spans, size_t count);
/* Blocks that wait at t and stand in the queue before the span's, which waits, too. */
size_t run_queue_place(const struct run *run, wt_time t, uint32_t span);

/* Latest event (start or end) before t; earliest after t. WT_NEVER: none. */
wt_time run_previous_event(const struct run *run, wt_time t);
wt_time run_next_event(const struct run *run, wt_time t);

/* Number of resident warps on the GPU, mean over [t0, t1). */
double run_mean_warps(const struct run *run, wt_time t0, wt_time t1);

/* The share of blocks that are shorter, 0..1. */
double run_duration_rank(const struct run *run, wt_time duration);

/* The resource that limits the launch's blocks per SM, or WT_RES_COUNT when that is unknown. */
enum wt_resource run_limiter(const struct run *run, size_t launch);

/* SMs with no block at t. */
int run_idle_sms(const struct run *run, wt_time t);

/* Nothing is handed out any more, but blocks still run: the tail of the whole run, or, while later launches wait for it,
 * of a launch (only the first 64 are looked at). */
bool run_in_tail(const struct run *run, wt_time t);

#endif
