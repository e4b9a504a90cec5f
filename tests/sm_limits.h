/* SM limits for tests that are about arithmetic, not about config files. */
#ifndef WT_TESTS_SM_LIMITS_H
#define WT_TESTS_SM_LIMITS_H

#include "gpu/gpu.h"

/* Compute capability 9.0 (CUDA C++ Programming Guide, cuda_occupancy.h). */
static const struct wt_limits limits_cc90 = {
    .threads_per_sm = 2048, .warps_per_sm = 64, .blocks_per_sm = 32, .threads_per_block = 1024,
    .registers_per_sm = 65536, .registers_per_block = 65536, .registers_per_thread = 255, .register_unit = 256,
    .subcores = 4, .warp_granularity = 4,
    .shared_bytes_per_sm = 233472, .shared_bytes_per_block = 49152, .shared_bytes_per_block_opt_in = 232448,
    .shared_unit_bytes = 128, .shared_reserved_bytes = 1024,
    .carveouts_kb = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}, .carveout_count = 10,
    .carveout_headroom = true,
    .resident_grids = 128, .barriers_per_sm = 64,
};

/* Compute capability 6.0: two sub-cores, no reserve, 256-byte units, no carve-out. */
static const struct wt_limits limits_cc60 = {
    .threads_per_sm = 2048, .warps_per_sm = 64, .blocks_per_sm = 32, .threads_per_block = 1024,
    .registers_per_sm = 65536, .registers_per_block = 65536, .registers_per_thread = 255, .register_unit = 256,
    .subcores = 2, .warp_granularity = 2,
    .shared_bytes_per_sm = 65536, .shared_bytes_per_block = 49152, .shared_bytes_per_block_opt_in = 49152,
    .shared_unit_bytes = 256, .shared_reserved_bytes = 0,
    .resident_grids = 128,
};

#endif
