/* Short replays: measured durations through the simulated distributor, to see how well a GPU's rates tell starts. */
#ifndef WT_FIT_REPLAYS_H
#define WT_FIT_REPLAYS_H

#include "fit/evidence.h"

/* A stretch of a launch's blocks whose starts are compared. */
struct wt_stretch {
    const struct wt_launch_evidence *launch;
    size_t first, end; /* blocks [first, end) */
};

/* The median absolute difference of predicted and measured starts, cycles, each counted from the launch's first
 * start. Infinite when the launch cannot be simulated. */
double wt_replayed_error(const struct wt_evidence *evidence, const struct wt_stretch *stretch, const struct wt_gpu *gpu);

#endif
