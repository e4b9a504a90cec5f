/* What a warp-level run gives, with Nsight Compute's names and definitions.
 *
 * Every resident warp is in exactly one state each cycle; the states are Nsight Compute's warp stall reasons
 * (Nsight Compute, Kernel Profiling Guide, "Warp Stall Reasons"). "Selected" and "not selected" together are the
 * eligible warps. Sums are exact; averages are made on output. */
#ifndef WT_WARP_METRICS_H
#define WT_WARP_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* In the order of Nsight Compute's list. */
enum wt_stall_reason {
    WT_STALL_BARRIER,          /* waits for the block's other warps at a barrier */
    WT_STALL_BRANCH_RESOLVING, /* a branch's target is being computed and the program counter updated */
    WT_STALL_DISPATCH,         /* the dispatcher holds the instruction back: register ports, unavailable resources */
    WT_STALL_DRAIN,            /* after EXIT: stores have still to leave */
    WT_STALL_IMC_MISS,         /* immediate constant cache miss */
    WT_STALL_LG_THROTTLE,      /* the load-store unit's queue for local and global memory is full */
    WT_STALL_LONG_SCOREBOARD,  /* a result from L1TEX: global, local, texture, surface */
    WT_STALL_MATH_PIPE_THROTTLE, /* the pipe is busy */
    WT_STALL_MEMBAR,           /* memory barrier */
    WT_STALL_MIO_THROTTLE,     /* the MIO's instruction queue is full: shared memory, special functions, barriers */
    WT_STALL_MISC,
    WT_STALL_NO_INSTRUCTION,   /* instruction fetch: cache miss, after a jump, start of a block */
    WT_STALL_NOT_SELECTED,     /* eligible; another warp was issued */
    WT_STALL_SELECTED,         /* issued */
    WT_STALL_SHORT_SCOREBOARD, /* a result from the MIO: shared memory, special functions, special registers */
    WT_STALL_SLEEPING,
    WT_STALL_TEX_THROTTLE,
    WT_STALL_WAIT,             /* the fixed number of cycles before the next instruction */
    WT_STALL_COUNT
};

/* Sums over schedulers and cycles. A scheduler is active in the cycles in which it has a warp. */
struct wt_warp_counters {
    uint64_t scheduler_cycles; /* cycles of active schedulers: smsp__cycles_active.sum */
    uint64_t sm_cycles;        /* cycles of SMs with a block: sm__cycles_active.sum */
    uint64_t warp_cycles[WT_STALL_COUNT];
    uint64_t issued;           /* smsp__inst_executed.sum */
    uint64_t l1_sectors, l1_hits; /* l1tex__t_sectors; global and local loads, stores, atomics */
    uint64_t l2_sectors, l2_hits;
    uint64_t dram_bytes;
    uint64_t shared_wavefronts;
    uint64_t blocks, warps;    /* begun */
};

/* One launch, and what ran beside it meanwhile. */
struct wt_warp_result {
    struct wt_warp_counters total; /* of all SMs */
    double elapsed_cycles;         /* first start to last end, as Nsight Compute's gpc__cycles_elapsed without its
                                      launch overhead */
    int sms; /* that had blocks */
};

/* Averages per scheduler; 0 where nothing ran. */
double wt_warps_active(const struct wt_warp_counters *counters);   /* smsp__warps_active.avg.per_cycle_active */
double wt_warps_eligible(const struct wt_warp_counters *counters); /* smsp__warps_eligible.avg.per_cycle_active */
double wt_issue_active(const struct wt_warp_counters *counters);   /* smsp__issue_active.avg.per_cycle_active */
/* smsp__average_warps_issue_stalled_REASON_per_issue_active.ratio */
double wt_stalled_per_issue(const struct wt_warp_counters *counters, enum wt_stall_reason reason);

/* a += b; and a - b, where b was taken from the same run earlier. */
void wt_warp_counters_add(struct wt_warp_counters *a, const struct wt_warp_counters *b);
struct wt_warp_counters wt_warp_counters_since(const struct wt_warp_counters *a, const struct wt_warp_counters *b);

/* "barrier", "branch_resolving", …: as inside Nsight Compute's metric names. */
const char *wt_stall_name(enum wt_stall_reason reason);

/* In words, for help and pictures: "waits at a barrier for the block's other warps". */
const char *wt_stall_help(enum wt_stall_reason reason);

#endif
