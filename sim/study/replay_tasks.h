/* Replay of a persistent launch, whose rows are tasks: each task gets its measured duration, and blocks take them through
 * the simulated counter.
 *
 * Two things are read off the trace itself, since they depend on the kernel and on where the counter's address lies in
 * the L2: what passes on an SM from one task to the next with nothing in the way (its shorter gaps), and
 * how much longer a task holds its block than the thread that reads the clocks sees (a gap that lies clearly above the
 * SM's own: other warps were still at work). Where the counter is busy, gaps are waiting for it and tell neither. */
#ifndef WT_STUDY_REPLAY_TASKS_H
#define WT_STUDY_REPLAY_TASKS_H

#include "core/status.h"
#include "dispatch/simulate.h"
#include "study/replay.h"

struct wt_task_replay {
    const struct wt_replay *replay;   /* trace, clocks and measured timeline */
    size_t index;                     /* of the launch */
    const struct wt_gpu *gpu;
    const struct wt_policy *policy;   /* NULL: the GPU's */
    const struct wt_replay_setup *setup; /* unseen_cycles given: each task holds its block so much longer */
    const struct wt_shape *shape;
    double origin;                    /* time 0 of the measured timeline on the clocks' axis */
};

/* Adds the tasks to replay->predicted, so that the first one starts when it really did, and fills *part but for the
 * occupancy. `start_errors` has room for each task; sorted on return. Fails with FILE:LINE where the rows are not all
 * tasks, once each, numbered in the column `work`. */
enum wt_code wt_replay_tasks(const struct wt_task_replay *what, struct wt_replay_part *part, double *start_errors,
                             struct wt_error *err);

#endif
