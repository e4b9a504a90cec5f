/* Warp level: blocks whose durations come from issuing their warps' instructions, SM by SM.
 *
 * Each SM has four sub-cores; each holds its share of the warps and issues at most one instruction a cycle. SMs meet in
 * two places only: the distributor, and the bandwidth of L2 and DRAM. Both are slower than an epoch (the distributor's
 * launch latency), so within one epoch every SM runs alone, on its share of the bandwidth that the last epoch's demand
 * gave it; SMs are spread over threads, and the result does not depend on how many.
 *
 *     struct wt_warp_kernel kernel = {.program = program, .warps = 8};
 *     struct wt_warp_setup setup = {.gpu = gpu, .kernels = &kernel, .kernel_count = 1, .seed = 1};
 *     WT_TRY(wt_warp_new(&setup, &warp, err));
 *     struct wt_sharing sharing = wt_warp_sharing(warp);
 *     … wt_simulate with .sharing = &sharing …
 *     struct wt_warp_result result = wt_warp_result(warp, 0); */
#ifndef WT_WARP_WARP_H
#define WT_WARP_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"
#include "dispatch/simulate.h"
#include "gpu/gpu.h"
#include "warp/metrics.h"
#include "warp/program.h"
#include "warp/schedulers.h"

/* What a launch's blocks execute. */
struct wt_warp_kernel {
    const struct wt_program *program; /* must outlive the wt_warp */
    int warps;                        /* of a block */
    double (*work)(void *context, uint64_t block); /* the block's `work` (loop counts refer to it); NULL: program->work */
    void *context;
};

/* One instruction issued. */
struct wt_warp_issue {
    wt_time time;
    uint64_t block;
    uint32_t launch;
    uint32_t instruction; /* index in its program */
    uint16_t warp;        /* within its block */
    uint8_t subcore;
    uint8_t slot; /* warp slot in its sub-core */
};

/* What the warp in a slot of a sub-core does from `from` to `to`. */
struct wt_warp_span {
    wt_time from, to;
    uint64_t block;
    uint32_t launch;
    uint16_t warp; /* within its block */
    uint8_t slot, state; /* enum wt_stall_reason */
};

/* What a warp slot held in one cycle. */
struct wt_warp_sample {
    uint8_t state;      /* enum wt_stall_reason; WT_STALL_COUNT: no warp */
    uint8_t block_slot; /* of its SM */
    uint16_t warp;      /* within its block */
};

/* Called from one thread at a time, in a fixed order, but for `sample`. Times are from the first block's start on. */
struct wt_warp_observer {
    void *context;
    /* What an SM did in [from, to): the counters of that interval. NULL: not wanted. */
    void (*interval)(void *context, int sm, wt_time from, wt_time to, const struct wt_warp_counters *counters);
    wt_time interval_length; /* asked for; rounded up to whole epochs */
    /* An instruction issued on SM `issue_sm`, sub-core 0 … 3, of warp `warp` of `block`. NULL: not wanted. */
    void (*issue)(void *context, const struct wt_warp_issue *issue);
    int issue_sm;
    /* Every state of every warp of sub-core `watched_subcore` of that SM; a warp's spans follow each other without gaps, those of
     * different warps are ordered by their ends. NULL: not wanted. */
    void (*state)(void *context, const struct wt_warp_span *span);
    int watched_subcore;
    /* What SM `sm` held in cycle `at`, a whole cycle of the simulation's own axis: by sub-core and warp slot, `count` in all.
     * Returns the next cycle to be told of, later than `at`; the first is 0, and none is told of after the last block's end.
     * Called for one SM from one thread at a time, for several SMs from several threads at once. NULL: not wanted. */
    wt_time (*sample)(void *context, int sm, wt_time at, const struct wt_warp_sample *slots, int count);
};

struct wt_warp_setup {
    const struct wt_gpu *gpu;              /* must outlive the wt_warp, as must the kernels */
    const struct wt_warp_kernel *kernels;  /* by wt_simulation's kernel index */
    size_t kernel_count;
    uint64_t seed;
    const struct wt_scheduler *scheduler;  /* NULL: the GPU's (`warp.scheduler`) */
    int threads;     /* 0: as OpenMP has it, but at least 8 SMs for each */
    const struct wt_warp_observer *observer; /* NULL: none */
};

struct wt_warp;

/* Fails when a program cannot be run (wt_program_check) or a kernel has more warps than a block may. On failure *out is
 * NULL. */
enum wt_code wt_warp_new(const struct wt_warp_setup *setup, struct wt_warp **out, struct wt_error *err);

/* NULL is allowed. */
void wt_warp_free(struct wt_warp *warp);

/* For wt_simulation.sharing; valid as long as `warp`. */
struct wt_sharing wt_warp_sharing(struct wt_warp *warp);

/* After wt_simulate: reports the last interval, which may be a short one, to the observer. */
void wt_warp_finish(struct wt_warp *warp);

/* What launch `kernel` did; after wt_simulate. */
struct wt_warp_result wt_warp_result(const struct wt_warp *warp, uint32_t kernel);

#endif
