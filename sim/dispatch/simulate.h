/* The block-level simulation: kernels in, block runs out through observers.
 *
 * The queue hands out a grid's blocks in index order. The distributor makes visits (dispatch/policy.h), one each rates.visit_cycles,
 * but for pauses that the policy makes (share_cycles, round_cycles and rounds_gap_cycles: policy_h200.c); a visit gives one block to
 * each SM it names, all of which have room for it (sm/sm.h). The block reaches its SM rates.launch_latency_cycles later (plus its
 * TPC's launch offset) and starts when its TPC is free (dispatch/links.h). Blocks of a cluster start only when all of its warps are
 * there and know of each other, launch_cycles and cluster_start_cycles later.
 *
 * A block is over when its last warp is: at its end, but not sooner than launch_cycles + drain_cycles after its start. Its
 * report is at the distributor release_cycles - launch_latency_cycles later (plus its TPC's report offset) when the links are
 * idle, and only then is its room known to be free. A freed slot is thus refilled on its own SM.
 *
 * Except that room is known sooner where warps or registers are what an SM runs out of. A report tells how both SMs of its TPC
 * stand: of each block that is over report_view_cycles after its own, all warps but one are free. They make room as far as the SM
 * has block slots besides those of blocks that are not reported. But only blocks that ran when the first report of the series left
 * (links.h). (spin20k_b256: 7 of an SM's 8 blocks are replaced at once, the last one after some 1,000 cycles. empty_b448: the
 * same in every wave, 300 cycles after the reports of the one before. spin300_b128: so it is for all blocks of the first wave, each
 * report adding those that ended since; the second wave's end while the first's reports are still sent, and one is handed out for
 * each report. So it is in the steady state of empty_b96 and empty_b128, too.)
 *
 * Kernels reach the grid scheduler when a front end says so (dispatch/front_end.h); limits.resident_grids fit into it.
 * It hands out the blocks of one at a time, the most urgent, and of equals the one that came first: another gets its
 * first block when all of that one's have been handed out. No block makes way for another. A block that no SM has room
 * for holds back whatever is behind it.
 */
#ifndef WT_DISPATCH_SIMULATE_H
#define WT_DISPATCH_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/time.h"
#include "dispatch/front_end.h"
#include "dispatch/observer.h"
#include "dispatch/policy.h"
#include "dispatch/watch.h"
#include "gpu/gpu.h"
#include "sm/shape.h"
#include "sm/sm.h"

/* Where a block's duration comes from. `duration` is called once per block, in index order; > 0. */
struct wt_cost {
    wt_time (*duration)(void *context, uint64_t block);
    void *context;
};

/* Blocks whose durations depend on what runs beside them: a cost model that keeps the running blocks itself. The engine
 * tells it of every start, in the order in which blocks are handed out, and takes the ends one by one. A start it is told of
 * is never before an end it has already given away. `id` names the block's place: SM * WT_MAX_SLOTS + slot. */
struct wt_sharing {
    void *context;
    void (*begin)(void *context, uint32_t id, uint32_t kernel, uint64_t block, wt_time start);
    /* By what has been told so far; WT_NEVER: nothing that runs will ever end. Of no interest beyond `until`: where there
     * is no end until then, any later time will do, so that a model need not look further ahead. */
    wt_time (*next_end)(void *context, wt_time until);
    uint32_t (*take_end)(void *context); /* the place of the block that ends at next_end */
};

struct wt_kernel {
    const char *name;
    uint64_t grid_blocks; /* >= 1 */
    struct wt_shape shape;
    struct wt_cost cost; /* not used with a wt_sharing */
    int cluster;         /* blocks of a thread block cluster, of which grid_blocks is a multiple; 0 and 1: none */
    bool cooperative;    /* the whole grid must have room at once */
    int priority;        /* as in CUDA: the lower, the more urgent */
    double outlast_cycles; /* its blocks stay on the SM so much longer than their ends say; may be negative */
};

/* How things stood when nothing that runs would ever end (WT_DEADLOCK). */
struct wt_stall {
    uint32_t kernel;     /* being dispatched or run */
    uint64_t next_block; /* its first that has not started; grid_blocks: all have */
    uint64_t running;    /* its blocks that started and have not ended */
    struct wt_refusal why; /* what keeps next_block out of most SMs */
    int sms;               /* how many; 0 when all blocks have started */
};

struct wt_simulation {
    const struct wt_gpu *gpu;
    const struct wt_policy *policy;  /* NULL: the GPU's own (gpu->placement) */
    const struct wt_kernel *kernels;
    size_t kernel_count;
    uint64_t seed; /* of the placement policy, where it draws */
    /* Where the rotation starts for the first kernel: group number, or -1 for the first ordinary one; and the extra
     * group's first SM as an index into its visit order, or -1 for 0. For the other kernels the policy knows. */
    int first_group;
    int first_extra_sm;
    const bool *used_tpcs; /* by TPC: whether the launch before the first kernel ran there (rates.used_tpc_cycles); NULL: nowhere */
    const struct wt_front_end *front_end; /* NULL: one stream, each kernel rates.kernel_gap_cycles after the one before */
    const struct wt_sharing *sharing; /* NULL: each kernel's cost gives the durations */
    struct wt_stall *stall; /* filled on WT_DEADLOCK; may be NULL */
    wt_time *first_start; /* filled: the first block's start on the simulation's axis, which observers call 0; may be NULL */
    const struct wt_watch *watches; /* whoever asks why */
    size_t watch_count;
    const struct wt_observer *observers;
    size_t observer_count;
};

/* Fails, before any observer is called, when a kernel's block can never be admitted or the GPU's placement policy does not
 * exist; and with WT_DEADLOCK when nothing that runs will ever end, as a `sharing` says. Time 0 of what the observers see is
 * the first block's start. Needs memory for the GPU's block slots only. */
enum wt_code wt_simulate(const struct wt_simulation *simulation, struct wt_error *err);

#endif
