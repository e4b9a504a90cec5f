/* Every warp's state over time, on every SM, in bounded memory: samples at regular times, which become rarer as the run becomes
 * longer. */
#ifndef WT_OBSERVE_WARP_STATES_H
#define WT_OBSERVE_WARP_STATES_H

#include <stddef.h>

#include "gpu/gpu.h"
#include "warp/warp.h"

struct wt_warp_states; /* opaque */

/* About `bytes` are used at most. Released with wt_warp_states_free. */
struct wt_warp_states *wt_warp_states_new(const struct wt_gpu *gpu, size_t bytes);
void wt_warp_states_free(struct wt_warp_states *states); /* NULL is allowed */

/* For the warp level; valid as long as `states`. */
struct wt_warp_observer wt_warp_states_observer(struct wt_warp_states *states);

/* When the simulation is over: the first block's start on its axis (wt_simulation.first_start), from which times count below. */
void wt_warp_states_finish(struct wt_warp_states *states, wt_time first_start);

/* Warp slots of an SM, all sub-cores. */
int wt_warp_states_slots(const struct wt_warp_states *states);

/* The last sample of the SM at or before t: as many as it has slots, by sub-core; NULL: there is none. *sampled (may be NULL) is
 * its time, 0 where that lies before the first start; *every (may be NULL) how far samples lie apart. */
const struct wt_warp_sample *wt_warp_states_at(const struct wt_warp_states *states, int sm, wt_time t, wt_time *sampled,
                                               wt_time *every);

/* Warps of the SM by state, mean over the samples in [t0, t1), or at t0 where none lies there. */
void wt_warp_states_mean(const struct wt_warp_states *states, int sm, wt_time t0, wt_time t1, double warps[WT_STALL_COUNT]);

#endif
