/* How many blocks of a launch fit one SM, and what limits them. */
#ifndef WT_SM_OCCUPANCY_H
#define WT_SM_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/sm.h"

enum { WT_UNLIMITED = 1 << 30 };

struct wt_occupancy {
    int blocks_per_sm;           /* minimum of `limits` */
    int limits[WT_RES_COUNT];    /* blocks each resource alone would allow; WT_UNLIMITED when it does not limit */
    bool limiter[WT_RES_COUNT];  /* the resources whose limit equals blocks_per_sm */
    int warps_per_sm;            /* resident warps = blocks_per_sm * warps per block */
    double occupancy;            /* warps_per_sm / limits.warps_per_sm */
    int carveout_kb;             /* shared-memory configuration assumed for the shared-memory limit */
};

/* Real allocation granularity: what the hardware does. A launch that cannot happen fails with the reason. */
enum wt_code wt_occupancy(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                          struct wt_occupancy *out, struct wt_error *err);

/* No granularity and no reserve: limits are plain quotients, as in textbooks. */
enum wt_code wt_occupancy_idealised(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                    struct wt_occupancy *out, struct wt_error *err);

/* grid blocks / (sm_count * blocks_per_sm): full waves and a fraction. */
double wt_waves(uint64_t grid_blocks, int sm_count, int blocks_per_sm);

#endif
