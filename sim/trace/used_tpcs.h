/* Which TPCs the launch before had run on. There a launch starts its first wave some cycles later than on the others
 * (rates.used_tpc_cycles): 11 on the H200, at any block size. After a small launch, such as the memset that clears a buffer, part of
 * the TPCs are late: the first ones in the order in which a grid of less than a wave is spread. After one that filled the machine all
 * are, which nobody sees. */
#ifndef WT_TRACE_USED_TPCS_H
#define WT_TRACE_USED_TPCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/gpu.h"

/* Of a block of a launch's first wave. */
struct wt_block_start {
    double cycles; /* on any axis */
    uint16_t sm;
};

/* How many, told by `starts`, which are in the order of blocks; `used`, by TPC, is filled. Groups of SMs, which one visit serves, are
 * compared in themselves, and with each other where rates.launch_offset_cycles tells their distances. 0 where nothing tells: all or
 * none. */
int wt_used_tpcs(const struct wt_gpu *gpu, const struct wt_block_start *starts, size_t count, bool *used);

#endif
