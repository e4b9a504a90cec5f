/* Cost model `waiting`: blocks of one kernel that wait for each other while they hold their place on an SM.
 *
 * A block works for a fraction `at` of its duration, then it has arrived. It goes on when all blocks it waits for have arrived
 * too (chained: have gone on) since `latency` cycles, and works for the rest. In an ordinary launch nothing promises that the
 * awaited block ever starts: where it cannot, this model answers that nothing will ever end, and wt_waiting_standstill tells
 * who waits for whom. */
#ifndef WT_COST_WAITING_H
#define WT_COST_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch/simulate.h"

enum wt_waiting_for {
    WT_WAIT_PREVIOUS, /* the block before; the first waits for none */
    WT_WAIT_NEXT,     /* the block after; the last waits for none */
    WT_WAIT_FIRST,    /* block 0 */
    WT_WAIT_LIST,     /* every block of a list */
    WT_WAIT_ALL       /* all blocks: a barrier of the grid */
};

struct wt_waiting_setup {
    const struct wt_gpu *gpu;
    uint64_t grid_blocks;
    struct wt_cost cost; /* durations without any waiting */
    enum wt_waiting_for pattern;
    const int *list; /* WT_WAIT_LIST: block numbers below grid_blocks; must outlive the model */
    int list_count;
    double at;             /* 0 to 1 */
    double latency_cycles; /* >= 0 */
    bool chained;          /* not with WT_WAIT_ALL */
};

struct wt_waiting;

/* Owned by the caller, released with wt_waiting_free. */
struct wt_waiting *wt_waiting_new(const struct wt_waiting_setup *setup);
/* NULL is allowed. */
void wt_waiting_free(struct wt_waiting *waiting);

/* For one kernel of a run (wt_by_kernel_set, or wt_simulation.sharing where it is alone); valid as long as `waiting`. */
struct wt_sharing wt_waiting_sharing(struct wt_waiting *waiting);

struct wt_standstill {
    uint64_t waiting;     /* blocks that have arrived and cannot go on */
    uint64_t block;       /* the first of them */
    uint64_t awaited;     /* the first it misses */
    bool awaited_started; /* it waits too: in a circle, or for one that has not started */
    wt_time since;        /* the last of them arrived */
    uint64_t missing;     /* where `awaited` leads to, block by block: the first that has not started; grid_blocks: a circle */
};

/* By what the model has been told so far. False: no block waits. */
bool wt_waiting_standstill(const struct wt_waiting *waiting, struct wt_standstill *out);

#endif
