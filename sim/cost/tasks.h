/* Cost model of a persistent kernel: its blocks stay and take tasks, one after another, until none is left.
 *
 * Dynamic: the next task comes from a counter in the L2 (an atomic addition). A request travels there, waits until those
 * before it have been served, rates.counter_service_cycles each, and the answer travels back; without others in the way
 * that takes rates.counter_latency_cycles. Which part of it is the way there is not seen in a trace:
 * half is assumed. Static: block b runs tasks b, b + grid, b + 2 grid, … and asks nobody.
 * Either way `overhead` passes between a task's end and the next one's start besides (barriers, sharing the number). A
 * block that gets no task ends when it has learnt so.
 *
 * Measured on an H200 (traces/h200/counter, persist_w*): a served counter takes one addition each 1.446 cycles however
 * many SMs ask; not modelled is that then the SMs of small CPCs get more than their share, since CPCs take turns. */
#ifndef WT_COST_TASKS_H
#define WT_COST_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch/simulate.h"

struct wt_tasks_setup {
    const struct wt_gpu *gpu;
    uint64_t grid_blocks, tasks;
    struct wt_cost cost; /* of tasks; called once for each, in index order where the queue is dynamic */
    double overhead_cycles;
    bool fixed_shares;
    /* By SM, in place of latency and overhead: from a task's end to the next one's start, nobody in the way. NULL: the
     * GPU's and the overhead. Copied. */
    const double *turnaround_cycles;
};

struct wt_tasks;

/* Owned by the caller, released with wt_tasks_free. */
struct wt_tasks *wt_tasks_new(const struct wt_tasks_setup *setup);
/* NULL is allowed. */
void wt_tasks_free(struct wt_tasks *tasks);

/* For one kernel of a run; valid as long as `tasks`. */
struct wt_sharing wt_tasks_sharing(struct wt_tasks *tasks);

/* Tells observers (task_done) of the tasks that a block ran, in order, when the engine has told of the block's end. */
void wt_tasks_tell(const struct wt_tasks *tasks, const struct wt_block_run *run, const struct wt_observer *observers,
                   size_t count);

#endif
