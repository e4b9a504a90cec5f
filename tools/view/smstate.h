/* What one SM's allocators hold at a moment: the run's blocks of this SM, in their order, through the model of an SM
 * (sm/sm.h). Sub-core pointers and holes depend on all that came before, so it is replayed from the beginning; going
 * forwards is cheap. */
#ifndef VIEW_SMSTATE_H
#define VIEW_SMSTATE_H

#include "run.h"
#include "sm/sm.h"

struct held_block {
    uint32_t span;
    uint64_t warp_lanes, register_lanes; /* as in wt_shape, for the pointer it met */
    int shared_offset, shared_bytes;     /* bytes 0: none */
};

struct sm_state {
    const struct run *run;
    int sm;
    wt_time now;
    struct wt_sm *model; /* owned */
    struct held_block held[WT_MAX_SLOTS]; /* by the model's slot; span NO_SPAN: empty */
    uint64_t refused; /* blocks that the model would not have admitted beside the others (clocks off, or the model) */
    uint32_t next_start; /* index into run->sm_spans */
};

/* NULL when the run does not tell what its blocks need (run->shapes_known). Owned by the caller. */
struct sm_state *sm_state_new(const struct run *run, int sm);
/* NULL is allowed. */
void sm_state_free(struct sm_state *state);
/* The state just after all that happens at t. */
void sm_state_seek(struct sm_state *state, wt_time t);

/* Mean over the SMs, in bytes, of free shared memory and of the largest hole, at `count` moments evenly over the run;
 * both arrays are the caller's. False when shapes are not known or no launch uses shared memory. */
bool sm_shared_curve(const struct run *run, size_t count, double **free_bytes, double **largest_hole);

#endif
