/* How many blocks of a launch fit one SM, and what limits them. */
#ifndef WT_SM_OCCUPANCY_H
#define WT_SM_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/sm.h"

enum { WT_UNLIMITED = 1 << 30 };

struct wt_occupancy {
    int blocks_per_sm;          /* minimum of `limits` */
    int limits[WT_RES_COUNT];   /* blocks each resource alone would allow; WT_UNLIMITED when it does not limit
                                 */
    bool limiter[WT_RES_COUNT]; /* the resources whose limit equals blocks_per_sm */
    int warps_per_sm;           /* resident warps = blocks_per_sm * warps per block */
    double occupancy;           /* warps_per_sm / the SM's warps */
    int carveout_kb;            /* shared-memory configuration assumed for the shared-memory limit */
};

/* Real allocation granularity: what the hardware does, by the arithmetic of NVIDIA's cuda_occupancy.h.
 * Without a preference, the shared-memory limit assumes the largest configuration, as NVIDIA's does. A launch
 * that cannot happen fails with the reason; `out` is filled all the same, with 0 for the resource that is
 * short. */
enum wt_code wt_occupancy(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                          struct wt_occupancy *out, struct wt_error *err);

/* No granularity and no reserve: limits are plain quotients, as in textbooks; only warps stay whole. Fails
 * and fills `out` as above. */
enum wt_code wt_occupancy_idealised(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                                    struct wt_occupancy *out, struct wt_error *err);

/* Blocks that `resource` alone would allow, real granularity: 0 = not even one, WT_UNLIMITED = does not
 * limit. */
int wt_occupancy_limit(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                       enum wt_resource resource);

/* Warps of a block of `threads`. */
int wt_warps_of(int threads);

/* Warps an SM holds: its warp limit, or what its thread limit amounts to where that is less. */
int wt_warps_per_sm(const struct wt_limits *limits);

/* Registers per thread a launch may state, at most. */
int wt_most_registers(const struct wt_limits *limits);

/* Measured on the H200; see wt_active_clusters. */
enum {
    WT_MOST_CLUSTER_BLOCKS = 8, /* of clusters on an SM */
    WT_EXTRA_GROUP_CLUSTER = 2  /* blocks of a cluster in the extra group */
};

/* Clusters of `size` blocks (>= 2) that can be on the GPU at once, when one SM holds `blocks_per_sm` of their
 * blocks: the sum over groups of at least `size` SMs of blocks per SM * SMs / size, rounded down. Measured on
 * the H200: the extra group takes none larger than 2, and an SM no more than 8 blocks of clusters (seen with
 * 128-thread blocks, of which 16 would fit; whether blocks or their 32 warps are the limit is not known).
 * *usable_sms (may be NULL): SMs of the groups that take such clusters. */
int wt_active_clusters(const struct wt_topology *topology, int size, int blocks_per_sm, int *usable_sms);

/* grid blocks / (sm_count * blocks_per_sm): full waves and a fraction. 0 when no block fits. */
double wt_waves(uint64_t grid_blocks, int sm_count, int blocks_per_sm);

#endif
