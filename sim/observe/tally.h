/* What both producers of metrics count, and how it becomes figures. Private to sim/observe. */
#ifndef WT_OBSERVE_TALLY_H
#define WT_OBSERVE_TALLY_H

#include "observe/metrics.h"

/* Block-time sums of long runs exceed 64 bits. */
typedef unsigned __int128 wt_time_sum;

struct wt_tally {
    uint64_t blocks;
    wt_time begin, end; /* begin is WT_NEVER before the first block */
    wt_time queue_empty;
    wt_time least, most;         /* durations */
    double median;               /* duration, units */
    wt_time_sum block_time;      /* sum of durations */
    wt_time_sum warp_time;       /* the same times the block's warps */
    wt_time_sum tail_block_time; /* the part of block_time after queue_empty */
    wt_time_sum tail_sm_idle;    /* sum over SMs of the time after queue_empty without a block */
};

static inline struct wt_tally wt_tally_new(void)
{
    return (struct wt_tally){.begin = WT_NEVER, .least = WT_NEVER};
}

/* Everything a single block adds, tail and median aside. */
static inline void wt_tally_block(struct wt_tally *tally, const struct wt_block_run *run, uint64_t warps)
{
    wt_time duration = run->end - run->start;
    tally->blocks++;
    tally->begin = run->start < tally->begin ? run->start : tally->begin;
    tally->end = run->end > tally->end ? run->end : tally->end;
    tally->least = duration < tally->least ? duration : tally->least;
    tally->most = duration > tally->most ? duration : tally->most;
    tally->block_time += duration;
    tally->warp_time += (wt_time_sum)duration * warps;
}

/* `launch` is NULL for the whole run; busy_of_sm (per SM, time with a block) is sorted in place. */
struct wt_metrics_part wt_tally_finish(const struct wt_tally *tally, const struct wt_timeline *about,
                                       const struct wt_timeline_launch *launch, wt_time *busy_of_sm);

/* An empty result for a copy of `about`; `whole`, `residency` and the parts are still to be set. */
struct wt_metrics *wt_metrics_new(const struct wt_timeline *about);

/* Sets sm_busy from `busy_of_sm`, as fractions of `makespan`. */
void wt_metrics_set_busy(struct wt_metrics *metrics, const wt_time *busy_of_sm, wt_time makespan);

#endif
