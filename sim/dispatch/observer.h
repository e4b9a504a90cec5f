/* How results leave a simulation. */
#ifndef WT_DISPATCH_OBSERVER_H
#define WT_DISPATCH_OBSERVER_H

#include <stdint.h>

#include "core/time.h"

/* One block's stay on an SM, or of a persistent launch a task's. 40 bytes, since a timeline may hold tens of millions. */
struct wt_block_run {
    uint64_t block; /* linear index in its launch */
    wt_time start;  /* first instruction, from the run's origin */
    wt_time end;    /* last instruction; >= start */
    uint32_t launch; /* index of the kernel */
    uint16_t sm;
    uint16_t slot; /* block slot of the SM: no two runs of one (sm, slot) overlap */
    uint64_t task; /* 0 where the run is a block's */
};

/* Any callback may be NULL. Calls come in a fixed order: a launch's first, then its blocks in the order of
 * their ends (ties by start order), then its last. */
struct wt_observer {
    void *context;
    void (*launch_begins)(void *context, uint32_t launch, wt_time first_start);
    void (*block_done)(void *context, const struct wt_block_run *run);
    /* Of persistent launches: what the block did that has just been told of, in order. */
    void (*task_done)(void *context, const struct wt_block_run *run);
    /* The launch's last block has been handed out: it started at `queue_empty`. */
    void (*launch_ends)(void *context, uint32_t launch, wt_time queue_empty, wt_time end);
};

#endif
