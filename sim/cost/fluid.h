/* Blocks as fluids: each carries work, and what runs beside it decides how fast that is done.
 *
 * Work is counted in cycles that it takes at full speed, with nobody else around: the latency-bound rate r of a warp. An SM
 * serves its warps until its capacity R is reached, and all SMs share a stage of the whole GPU (L2, DRAM) with capacity G. Both
 * limits are stated as demands: the part r/R of an SM's, and r/G of the GPU's capacity that one warp takes at full speed.
 *
 * How a stage comes to its limit: warps whose requests come together are one customer of the stage, and the more customers
 * it takes to saturate it, the sharper the knee of min(n r, R). A stage with K such customers at a demand of 1 is a closed
 * network of one exponential server and thinking customers (the machine repairman): N of them keep it busy for 1 - B(N, K - 1) of
 * the time, B being Erlang's loss formula.
 *
 * Who is served on an SM whose demands exceed what it serves: all alike, as by a queue of requests; or the oldest blocks
 * first, as warp schedulers do it: the oldest takes a part of what there is, the next one the same part of the rest, and so on;
 * nobody more than his full speed, and what is left goes to the oldest that can use it. Or, as where a warp waits for
 * what another one has begun: nobody takes more than a part of his full speed, and what is left goes to all, to each by what he lacks
 * to full speed. Warps of a block share alike, or each of its parts competes as a block does.
 *
 * Served alike, an SM has one clock of its own that runs slower the more it is loaded, and the GPU has one that slows down all
 * SMs': a block of work w ends when its SM's clock has advanced by w, and starts and ends cost O(log n). Oldest first, they
 * cost O(n) of the SM. Between them nothing is computed. All work that is given is done. */
#ifndef WT_COST_FLUID_H
#define WT_COST_FLUID_H

#include <stdbool.h>
#include <stddef.h>

#include "dispatch/simulate.h"

enum { WT_FLUID_PARTS = 32 }; /* most parts of a block */

/* Some of a block's warps, which have equally much to do. The block ends with its last part; until then it keeps its room,
 * but warps that are through no longer ask for anything. */
struct wt_fluid_part {
    int warps;   /* >= 1 */
    double work; /* cycles at full speed, >= 0 */
};

/* Blocks that stay and take tasks from a counter. Whoever takes an ended one's place is as old as that one: the same block. Numbers go to
 * tasks in the order in which their blocks come to the counter: start_cycles after their starts, and more. All in cycles, >= 0. */
struct wt_fluid_counter {
    bool used;      /* false: ordinary blocks, and the rest is not looked at */
    double wait;    /* no block of an SM comes sooner after its first one's start: that waits for the kernel's parameters */
    double far;     /* of an SM, from 0 to so many, by lot: the way */
    double jitter;  /* of each task, likewise */
    uint64_t seed;  /* of the lots */
};

struct wt_fluid_kernel {
    double sm_demand;  /* r/R, >= 0; 0: an SM never limits it */
    double gpu_demand; /* r/G, >= 0; 0: the GPU never limits it */
    double sm_grain;   /* warps that are one customer of an SM, >= 0; 0: a sharp knee */
    double gpu_grain;  /* warps that are one customer of the GPU, likewise */
    double gpu_crowding; /* >= 0; more than 0: what the GPU serves takes the longer the busier it is, instead of a grain. Holds where all
                            kernels state one, the least */
    double favour;     /* 0 to 1: of what an SM has left the oldest block takes such a part, then the next; 0: all are served
                          alike. Holds where all kernels state one. */
    bool apart;        /* each part of a block is favoured over younger ones; otherwise a block's parts share alike */
    double hindered;   /* 0 to 1: the part of full speed that even the oldest is kept to while others wait; 0: to all of it */
    bool sub_cores;    /* an SM's capacity is that of its four sub-cores, each for its own warps; where all kernels say so */
    double start_cycles; /* from a block's start until it asks for anything, >= 0: what its start and end cost */
    struct wt_fluid_counter counter;
    /* The parts of a block; returns how many. Called once a block, at its start. The warps of all parts together are at
     * most the block's. */
    int (*parts)(void *context, uint64_t block, struct wt_fluid_part parts[WT_FLUID_PARTS]);
    void *context;
};

/* What part of what is asked for a stage serves, 0 < x <= 1. `load`: the demands on it; `grain`: one customer's demand (the
 * mean over those who ask), 0: a sharp knee. */
double wt_fluid_served(double load, double grain);

/* The same of a stage that takes 1 + crowding x / (1 - x) times as long as when it is idle while it is busy for x of the time, as the
 * latency of a loaded memory grows: throughput comes near its limit late. `crowding`: > 0. */
double wt_fluid_crowded(double load, double crowding);

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
