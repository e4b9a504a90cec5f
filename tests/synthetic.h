/* Timelines made by rule, for tests and pictures of what is not simulated. */
#ifndef WT_TESTS_SYNTHETIC_H
#define WT_TESTS_SYNTHETIC_H

#include "core/random.h"
#include "observe/timeline.h"

struct synthetic {
    int sms, gpcs, slots;
    int warps_per_block, warps_per_sm;
    size_t launches;
    uint64_t blocks;   /* per launch */
    wt_time least, most; /* duration */
    wt_time gap;       /* a slot is refilled up to this long after it was freed */
    uint64_t seed;
};

/* Blocks in index order to the slot that is free first (ties: lower slot, then lower SM); launches one after
 * another. */
struct wt_timeline *synthetic_timeline(const struct synthetic *how);

/* Plays a timeline to an observer as a simulation would: launches begin, blocks in the order of their ends, each
 * launch ends after its last block. */
void synthetic_play(const struct wt_timeline *timeline, const struct wt_observer *observer);

#endif
