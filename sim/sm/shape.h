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
    int carveout_kb; /* preferred shared-memory configuration, KB, rounded up to one the SM has;
                        WT_CARVEOUT_DEFAULT = the driver's choice */
    int barriers;    /* barriers the block uses, >= 0. Nsight Compute reports 1 even for kernels that
                        use none, and cuda_occupancy.h takes 1 for its default. */
};

/* The same in the SM's allocation units. */
struct wt_shape {
    int threads;
    int warps;
    int register_units_per_warp; /* units of limits.register_unit, from one sub-core's file */
    int shared_bytes;            /* with the reserve, rounded up to the unit: what is taken from the SM */
    int shared_units;            /* shared_bytes / limits.shared_unit_bytes */
    int carveout_kb;             /* the shared-memory configuration the SM must have, at least */
    int barriers;
    /* What each sub-core gives when the SM's pointer stands at [pointer]: sub-core s in bits 16 s … 16 s
     * + 14. */
    uint64_t warp_lanes[WT_MAX_SUBCORES];
    uint64_t register_lanes[WT_MAX_SUBCORES]; /* in limits.register_unit */
};

/* The lane of sub-core `subcore`. */
static inline int wt_lane(uint64_t lanes, int subcore)
{
    return (int)(lanes >> 16 * subcore & 0x7fff);
}

/* Fails (WT_BAD_INPUT) with the reason when such a block can never be launched on this GPU, or when the GPU's
 * SMs are beyond this model (not 1, 2 or 4 sub-cores; 2^15 or more units of registers or shared memory). */
enum wt_code wt_shape_make(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                           struct wt_shape *out, struct wt_error *err);

/* Whether such a block can be launched on this GPU; fails (WT_BAD_INPUT) with the reason and what to do. */
enum wt_code wt_launch_check(const struct wt_limits *limits, const struct wt_launch_needs *needs,
                             struct wt_error *err);

/* Shared memory one block takes from its SM: with the reserve, rounded up to the unit. Bytes. */
int wt_launch_shared_bytes(const struct wt_limits *limits, const struct wt_launch_needs *needs);

/* Registers one warp takes from its sub-core's file, in limits.register_unit. */
int wt_launch_register_units(const struct wt_limits *limits, const struct wt_launch_needs *needs);

/* The SM's smallest shared-memory configuration of at least `bytes`, KB; 0 bytes may give 0. The largest when
 * none is that large; the whole SM where the split is fixed. */
int wt_configuration_kb(const struct wt_limits *limits, int bytes);

/* The configuration an SM has while it runs this kernel, KB: the preferred one, or what the driver chooses.
 *
 * The driver's choice (Nsight Compute's launch__shared_mem_config_size): the smallest that holds as many
 * blocks as all limits let in. From cc 9.0 on (limits.carveout_headroom) it ignores registers and leaves
 * headroom: for the 2, 4, 8, 16, 32 blocks that warps and block slots let in it has room for 2, 10, 18,
 * 26, 32. Measured on the H200, ten different configurations; between these points, and that it falls back to
 * the smallest where not even the largest has so much room: assumed, in agreement with four configurations of
 * other GPUs. */
int wt_launch_configuration_kb(const struct wt_limits *limits, const struct wt_launch_needs *needs);

#endif
