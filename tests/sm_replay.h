/* Replays a measured trace on model SMs: every block is admitted when the hardware started it, and released
 * when it ended there. Two questions are asked: does the model admit what the hardware admitted, and does it
 * refuse what the hardware left waiting? */
#ifndef WT_TESTS_SM_REPLAY_H
#define WT_TESTS_SM_REPLAY_H

#include "gpu/gpu.h"
#include "trace/trace.h"

struct sm_replay {
    /* in */
    const struct wt_limits *limits;
    int first_carveout_kb; /* preference of launch 0, which traces do not state */
    /* out */
    long starts;        /* blocks the hardware started */
    long refused;       /* of these, the model refused (the SM's replay ends there) */
    long wrong_subcore; /* warp_slot says another sub-core than the pointer */
    long waits;         /* quiet moments of an SM at which a block waited for room */
    long early;         /* of these, the model would have admitted it */
    long lagging;       /* SMs explained only by admissions some cycles after an end */
    char first_problem[256];
};

void sm_replay_trace(struct sm_replay *replay, const struct wt_trace *trace);

#endif
