/* What one block asks of an SM, worked out once per kernel. */
#ifndef WT_SM_SHAPE_H
#define WT_SM_SHAPE_H

#include "core/status.h"
#include "gpu/gpu.h"

enum { WT_CARVEOUT_DEFAULT = -1 };

/* What a launch states, in the user's terms. */
struct wt_launch_needs {
    int threads;              /* per block, >= 1 */
    int registers_per_thread; /* 0..255 */
    int static_shared_bytes;
    int dynamic_shared_bytes;
    int carveout_kb;          /* preferred shared-memory configuration, KB; WT_CARVEOUT_DEFAULT = driver's choice */
    int barriers;             /* named barriers the block uses, >= 0 */
};

/* The same in the SM's allocation units. */
struct wt_shape {
    int threads;
    int warps;
    int register_units_per_warp; /* units of limits.register_unit, from one sub-core's file */
    int shared_bytes;            /* with the reserve, rounded up to the unit: what is taken from the SM */
    int carveout_kb;             /* smallest configuration of the SM that holds one block, or the preferred one */
    int barriers;
};

/* Fails (WT_BAD_INPUT) with the reason when such a block can never be launched on this GPU. */
enum wt_code wt_shape_make(const struct wt_limits *limits, const struct wt_launch_needs *needs, struct wt_shape *out,
                           struct wt_error *err);

#endif
