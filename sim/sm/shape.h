/* What one block asks of an SM, worked out once per kernel. */
#ifndef WT_SM_SHAPE_H
#define WT_SM_SHAPE_H

#include <stdint.h>

#include "core/status.h"
#include "gpu/gpu.h"

enum { WT_CARVEOUT_DEFAULT = -1 };

/* What a launch states, in the user's terms. */
struct wt_launch_needs {
    int threads;              /* per block, >= 1 */
    int registers_per_thread; /* 0..255 */
    int static_shared_bytes;
    int dynamic_shared_bytes;
    int carveout_kb;          /* preferred shared-memory configuration, KB, rounded up to one the SM has;
                                 WT_CARVEOUT_DEFAULT = the driver's choice */
    int barriers;             /* barriers the block uses, >= 0. Nsight Compute reports 1 even for kernels that
                                 use none, and cuda_occupancy.h takes 1 for its default. */
};

/* The same in the SM's allocation units. */
struct wt_shape {
    int threads;
    int warps;
    int register_units_per_warp; /* units of limits.register_unit, from one sub-core's file */
    int shared_bytes;            /* with the reserve, rounded up to the unit: what is taken from the SM */
    int carveout_kb;             /* the shared-memory configuration the SM must have, at least */
    int barriers;
    /* [pointer][sub-core]: how many of the block's warps go to that sub-core when the SM's pointer stands there. */
    uint8_t subcore_warps[WT_MAX_SUBCORES][WT_MAX_SUBCORES];
};

/* Fails (WT_BAD_INPUT) with the reason when such a block can never be launched on this GPU. */
enum wt_code wt_shape_make(const struct wt_limits *limits, const struct wt_launch_needs *needs, struct wt_shape *out,
                           struct wt_error *err);

/* Shared memory one block takes from its SM: with the reserve, rounded up to the unit. Bytes. */
int wt_shape_shared_bytes(const struct wt_limits *limits, const struct wt_launch_needs *needs);

/* Registers one warp takes from its sub-core's file, in limits.register_unit. */
int wt_shape_register_units(const struct wt_limits *limits, const struct wt_launch_needs *needs);

/* The SM's smallest shared-memory configuration of at least `bytes`, KB; 0 bytes may give 0. The largest when none
 * is that large; the whole SM where the split is fixed. */
int wt_configuration_kb(const struct wt_limits *limits, int bytes);

/* The configuration the driver gives a kernel whose blocks take `shared_bytes` each, KB.
 *
 * Measured (Nsight Compute, launch__shared_mem_config_size, on the H200): it ignores registers, and holds more blocks
 * than warps and block slots let in: 2, 4, 8, 16, 32 blocks -> room for 2, 10, 18, 26, 32, as far as all ten measured
 * configurations tell; between them: assumed. Where not even the largest configuration holds that many: assumed to be
 * the smallest that holds as many as all limits together allow (`blocks_by_all`). */
int wt_default_configuration_kb(const struct wt_limits *limits, int shared_bytes, int blocks_by_warps,
                                int blocks_by_all);

#endif
