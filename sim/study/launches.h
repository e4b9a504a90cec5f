/* A workload on a GPU: the launches that wt_simulate runs, in order, with their durations. */
#ifndef WT_STUDY_LAUNCHES_H
#define WT_STUDY_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "dispatch/program.h"
#include "dispatch/simulate.h"
#include "gpu/gpu.h"
#include "observe/timeline.h"
#include "study/workload.h"
#include "warp/warp.h"

struct wt_launches {
    struct wt_kernel *kernels; /* owned; repeated kernels stand as often as they are launched */
    size_t count;
    const struct wt_sharing *sharing; /* for the simulation; NULL: no kernel is persistent, waits, shares or has a program */
    struct wt_warp *warp; /* the warp level; owned; NULL: no kernel has a program */
    struct wt_host_program *program; /* that launches them; NULL: one after another; owned */
    struct wt_timeline *about; /* describes GPU and launches, without spans; owned */
    struct wt_launch_models *models; /* behind the costs; owned */
};

/* The workload and the GPU must outlive the launches. With `mean_only` every random duration is its mean. Fails
 * with FILE:LINE where a block can never be launched on this GPU, a cooperative grid has no room, or a duration cannot be
 * had. */
enum wt_code wt_launches_new(const struct wt_workload *workload, const struct wt_gpu *gpu, uint64_t seed,
                             bool mean_only, struct wt_launches **out, struct wt_error *err);

/* Tells `observers` of the tasks of persistent launches, when they have been told of their blocks: must stand behind them
 * among the simulation's. Both arguments must outlive the observer. */
struct wt_task_teller {
    const struct wt_launches *launches;
    const struct wt_observer *observers;
    size_t count;
};
struct wt_observer wt_task_teller_observer(const struct wt_task_teller *teller);

/* After WT_DEADLOCK: `err`, which the simulation has filled, then says FILE:LINE, who waits for whom, and what keeps the missing block
 * out. Returns WT_DEADLOCK. */
enum wt_code wt_launches_explain(const struct wt_launches *launches, const struct wt_stall *stall, struct wt_error *err);
/* After WT_DEADLOCK: since when nothing happens, on the engine's axis. WT_NEVER: no blocks wait for each other; streams do. */
wt_time wt_launches_stuck_since(const struct wt_launches *launches);
/* Simulates them: wt_simulate, with the program as its front end where there is one; then the timeline `about` (the launches'
 * or what became of it) knows the host's side, too. WT_DEADLOCK comes explained, be it of blocks or of streams. */
enum wt_code wt_launches_simulate(const struct wt_launches *launches, struct wt_simulation *simulation,
                                  struct wt_timeline *about, struct wt_error *err);

/* Before the simulation, with kernels that have programs: the warp level anew with `setup`'s scheduler, threads and
 * observer (its other fields are ignored). */
enum wt_code wt_launches_set_warps(struct wt_launches *launches, const struct wt_warp_setup *setup, uint64_t seed,
                                   struct wt_error *err);

/* By launch; only where launches->warp is not NULL. */
const struct wt_warp_kernel *wt_launches_programs(const struct wt_launches *launches);

/* Without the warp level: blocks last as the kernels' costs say. */
void wt_launches_drop_warps(struct wt_launches *launches);

/* NULL is allowed. */
void wt_launches_free(struct wt_launches *launches);

#endif
