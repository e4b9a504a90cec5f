/* Blocks as fluids: each carries work, and what runs beside it decides how fast that is done.
 *
 * Work is counted in cycles that it takes at full speed, with nobody else around: the latency-bound rate r of a warp. An SM
 * serves n warps at min(n·r, R), and all SMs share a stage of the whole GPU (L2, DRAM) that serves at most G. Both limits are
 * stated as demands: the part r/R of an SM's, and r/G of the GPU's capacity that one warp takes at full speed. Where the
 * demands on a stage exceed 1, all who use it are slowed down alike, whatever kernel they are of, as by a queue of requests.
 *
 * So an SM has one clock of its own that runs slower the more it is loaded, and the GPU has one that slows down all SMs': a
 * block of work w ends when its SM's clock has advanced by w. Starts and ends cost O(log n), and between them nothing is
 * computed. All work that is given is done: the clocks' advances are what the blocks receive. */
#ifndef WT_COST_FLUID_H
#define WT_COST_FLUID_H

#include <stddef.h>
#include <stdint.h>

#include "dispatch/simulate.h"

enum { WT_FLUID_PARTS = 32 }; /* most parts of a block */

/* Some of a block's warps, which have equally much to do. The block ends with its last part; until then it keeps its room,
 * but warps that are through no longer ask for anything. */
struct wt_fluid_part {
    int warps;   /* >= 1 */
    double work; /* cycles at full speed, >= 0 */
};

struct wt_fluid_kernel {
    double sm_demand;  /* r/R, >= 0; 0: an SM never limits it */
    double gpu_demand; /* r/G, >= 0; 0: the GPU never limits it */
    double start_cycles; /* from a block's start until it asks for anything, >= 0: what its start and end cost */
    /* The parts of a block; returns how many. Called once a block, at its start. The warps of all parts together are at
     * most the block's. */
    int (*parts)(void *context, uint64_t block, struct wt_fluid_part parts[WT_FLUID_PARTS]);
    void *context;
};

/* Warps times work. */
struct wt_fluid_sums {
    double given; /* to blocks that started */
    double done;  /* what the stages served, summed over time from their rates */
};

struct wt_fluid;

/* The kernels, in the simulation's order, must outlive it. Owned by the caller. */
struct wt_fluid *wt_fluid_new(const struct wt_fluid_kernel *kernels, size_t count, int sm_count);
/* NULL is allowed. */
void wt_fluid_free(struct wt_fluid *fluid);

/* For one simulation; valid as long as `fluid`. */
struct wt_sharing wt_fluid_sharing(struct wt_fluid *fluid);

/* So far. */
struct wt_fluid_sums wt_fluid_sums(const struct wt_fluid *fluid);

#endif
