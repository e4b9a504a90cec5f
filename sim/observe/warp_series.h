/* What the warps of a run did over time, kept for pictures and traces: per interval, the whole GPU by state and each SM in short. */
#ifndef WT_OBSERVE_WARP_SERIES_H
#define WT_OBSERVE_WARP_SERIES_H

#include <stddef.h>

#include "core/time.h"
#include "gpu/gpu.h"
#include "warp/metrics.h"

/* Averages over the interval's cycles and an SM's schedulers. */
struct wt_warp_short {
    float resident, eligible, issued;
};

struct wt_warp_interval {
    wt_time from, to; /* from the first block's start */
    float states[WT_STALL_COUNT]; /* warps in each, average over the interval's cycles and all the GPU's schedulers */
    struct wt_warp_short *sms; /* by SM; owned */
};

struct wt_warp_series {
    int sm_count, subcores;
    struct wt_warp_interval *intervals; /* in order; owned */
    size_t count, capacity;
};

struct wt_warp_series *wt_warp_series_new(const struct wt_gpu *gpu);
void wt_warp_series_free(struct wt_warp_series *series); /* NULL is allowed */

/* As the `interval` of a wt_warp_observer tells it. */
void wt_warp_series_add(struct wt_warp_series *series, int sm, wt_time from, wt_time to, const struct wt_warp_counters *counters);

#endif
