/* What is known of one GPU: the limits of its SMs, how its SMs are arranged, and how fast blocks are handed out.
 *
 * A GPU is read from a config file (configs/gpus/NAME.cfg). Every value carries where it comes from; the text
 * starts with "measured", "documented" or "assumed". After loading, a wt_gpu is read-only and may be shared by
 * threads. */
#ifndef WT_GPU_GPU_H
#define WT_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/curve.h"
#include "core/param.h"
#include "core/status.h"

enum {
    WT_MAX_SMS = 1024,
    WT_MAX_SUBCORES = 4,
    WT_MAX_SLOTS = 64, /* block slots of an SM */
    WT_MAX_GROUPS = 64,
    WT_MAX_CARVEOUTS = 16,
    WT_WARP_SIZE = 32
};

/* Limits of one SM and of one block (CUDA C++ Programming Guide, "Compute Capabilities", and
 * cuda_occupancy.h). Counts unless named otherwise; 0 means "no such limit" where a field says so. */
struct wt_limits {
    int threads_per_sm;
    int warps_per_sm;
    int blocks_per_sm;
    int threads_per_block;
    int registers_per_sm;     /* 32-bit registers of all sub-cores together */
    int registers_per_block;  /* most registers one block may hold */
    int registers_per_thread; /* most the compiler may give one thread */
    int launch_registers_per_thread; /* most a launch may state; 0: registers_per_thread */
    int register_unit;        /* registers are given to a warp in multiples of this */
    int subcores;             /* sub-partitions of an SM; each has its own register file and warp slots */
    int warp_granularity;     /* a block's warps are rounded up to this for the register limit */
    int shared_bytes_per_sm;
    int shared_bytes_per_block;        /* without opting in */
    int shared_bytes_per_block_opt_in; /* with cudaFuncAttributeMaxDynamicSharedMemorySize */
    int shared_unit_bytes;
    int shared_reserved_bytes; /* taken by the system from every block's SM share; 1024 from cc 8.0 */
    int carveouts_kb[WT_MAX_CARVEOUTS]; /* shared-memory configurations an SM can take, ascending */
    int carveout_count;                 /* 0: the split is fixed at shared_bytes_per_sm */
    bool carveout_headroom; /* the driver picks a larger configuration than a kernel can fill (see sm/shape.h) */
    int resident_grids;
    int barriers_per_sm; /* 0: not limited */
};

/* SMs in the order in which a visit of the distributor serves them. */
struct wt_group {
    int sm_count;
    uint16_t *sms; /* owned by the wt_gpu */
};

/* The arrangement of SMs. `group` is what the distributor sees (logical); `gpc` is the clock domain (physical);
 * they need not agree: see configs/gpus/h200.cfg. All arrays have sm_count elements. */
struct wt_topology {
    int sm_count;
    int group_count;
    struct wt_group groups[WT_MAX_GROUPS];
    uint16_t *group_of_sm;
    uint16_t *rank_in_group; /* index of the SM in its group's `sms` */
    uint16_t *tpc_of_sm;
    uint16_t *gpc_of_sm;
    int tpc_count;
    int gpc_count;
    int extra_group; /* the group on the distributor's privileged cadence, or -1 */
};

/* How fast blocks are handed out. Cycles of the SM clock; curves are over the warps of a block (wt_curve_at). What
 * each stands for is told in dispatch/simulate.h. */
struct wt_rates {
    double visit_cycles;           /* distributor: from one visit of a group to the next */
    double share_cycles;           /* a first wave's incomplete round begins so much later for each of its blocks */
    double round_cycles;           /* where SMs have room for several blocks: from one round of visits to the next, */
    double rounds_gap_cycles;      /* and from the last one's end to the next visit */
    double launch_latency_cycles;  /* distributor -> a block's first instruction, on the nearest SM */
    double release_cycles;         /* a block's last instruction -> first instruction of its replacement, unloaded,
                                      nearest SM; includes launch_latency_cycles */
    double report_ready_cycles;    /* a block's last instruction -> its report waits to leave its TPC */
    double report_view_cycles;     /* a report tells also of blocks that end up to so long after its own */
    double report_pause_cycles;    /* and only of blocks that ran when its series began: its TPC's reports without a longer pause */
    double report_cycles;          /* the distributor takes one report each this long */
    double report_queue;           /* with so many reports on their way a GPC's nearest TPC's next one waits, */
    double report_queue_per_tpc;   /* with so many more that of the next TPC, and so on */
    struct wt_curve replacement_places; /* replacements that have not started count for so many */
    struct wt_curve starts_per_report; /* between two reports that wait a TPC starts so many blocks on average */
    struct wt_curve starts_while_sending; /* and so many between two that do not, while fewer than report_queue are on their way */
    struct wt_curve report_lead_cycles; /* so long before a report can leave its TPC starts nothing any more */
    struct wt_curve report_send_cycles; /* a TPC sends reports one after another, one each this long, */
    struct wt_curve report_held_cycles; /* and so much longer while blocks of a first wave wait behind it, */
    struct wt_curve replacement_held_cycles; /* or other blocks */
    double drain_cycles;           /* a block is not over earlier than launch_cycles plus this after its start */
    double kernel_gap_cycles;      /* a kernel's last end -> first start of the next one in its stream */
    struct wt_curve launch_cycles; /* interval between two blocks started on one SM */
    struct wt_curve tpc_lag_cycles; /* the TPC's other SM starts a block at least this much later */
    struct wt_curve replacement_lag_cycles; /* after a replacement the TPC's next one starts so much later than that */
    double used_tpc_cycles;        /* a launch starts on a TPC so much later where the launch before it has run */
    double cluster_start_cycles;    /* blocks of a cluster start launch_cycles and so much later than single ones would */
    int extra_first_gap;           /* visits to other groups after the extra group's first visit */
    int extra_gap;                 /* visits to other groups between its later visits */
    double counter_service_cycles; /* atomic additions to one address are served one each this long */
    double counter_latency_cycles; /* such an addition with no other about, until its answer is there; mean over SMs */
    struct wt_numbers launch_offset_cycles; /* per TPC: how much later its launches arrive; empty: 0 */
    struct wt_numbers report_offset_cycles; /* per TPC: how much later its reports arrive; empty: 0 */
};

/* What the host's calls take, and how long it takes from one thing to the next. Microseconds. What each stands for is told
 * in dispatch/host.h. */
struct wt_host_rates {
    double launch_call_us, graph_call_us, graph_node_call_us, record_call_us, wait_call_us, copy_call_us, synchronize_call_us;
    double submit_us;  /* a call's end -> the first block it launched, on an idle GPU */
    double return_us;  /* the end of what a call waits for -> its return */
    double event_us;   /* what an event on the way adds between two streams */
    double graph_gap_us;              /* a kernel's last end -> first start of one that follows it in a graph */
    double programmatic_end_gap_us;   /* the same with programmatic dependent launch, triggered by the end */
    double programmatic_start_gap_us; /* the same, triggered as soon as the kernel before has started: end -> work goes on */
    double carveout_us;               /* more where the shared-memory configuration changes */
    int queue_depth;   /* commands that a stream holds */
};

/* Copy engines; arrays by enum wt_direction (dispatch/program.h): to the device, to the host, within the device. */
struct wt_copy_rates {
    int engines;             /* 1: both directions share one; 2: one each. Copies within the device have their own way. */
    double gbs[3];           /* pinned memory; GB/s */
    double pageable_gbs[2];
    double setup_us[3];      /* a copy holds its engine this long besides its bytes */
    double pageable_setup_us; /* more of it where the memory is pageable */
    double both_ways[2];     /* of its bandwidth, while the other direction copies, too */
    double after_kernel_us;  /* a kernel's last end -> a copy begins */
    double after_copy_us;    /* the end of a copy -> one the other way begins, in the same stream */
    double after_same_us;    /* the end of a copy -> its engine begins the next of that stream, */
    double switch_us;        /* or of another that waits */
    double before_kernel_us; /* the end of a copy -> first start of a kernel that waits for it, at least */
    double look_first_us;    /* a kernel that waits for a copy: from when it began to wait to the first start possible, */
    double look_us;          /* and from one possible start to the next */
};

/* A TPC's value in one of the lists above. */
static inline double wt_of_tpc(const struct wt_numbers *list, int tpc)
{
    return list->count ? list->values[tpc] : 0;
}

/* One value for each class of instructions (warp/program.h). Cycles; latencies from issue to result. */
struct wt_class_rates {
    double fma, imad, alu, half, fp64, sfu, convert, tensor, uniform, special, clock, constant, shuffle, vote, branch;
};

/* How an SM's sub-cores issue. Cycles unless named otherwise; what each stands for is told in warp/machine.h. */
struct wt_warp_rates {
    char *scheduler;                /* name of the scheduling policy (warp/schedulers.h) */
    struct wt_class_rates interval; /* a sub-core's pipe takes one warp instruction each this long */
    struct wt_class_rates latency;
    double compare_latency; /* from a compare to the branch or predicated instruction that uses it */
    double block_cycles;    /* the dispatcher is held up by an IMAD.WIDE or IMAD.HI */
    double operand_slack;   /* an instruction's operands may be under way so long before the dispatcher waits for them */
    double branch_cycles;   /* a taken branch's target is known this long after the branch's stall */
    double converge_cycles; /* the same of the end of a diverged region */
    double diverge_cycles;  /* the same where a warp's threads go both ways: one part's after the other's */
    double fetch_cycles;    /* then the first instruction at the target arrives */
    double cold_cycles;     /* an SM fetches a 128-byte line of instructions it does not hold; 0: none are missed */
    double first_fetch_cycles; /* the same of a kernel's first line */
    double mio_queue, lg_queue;   /* entries of a sub-core's queues: shared memory and special units; global memory */
    double barrier_interval;      /* an SM takes a warp's arrival at a barrier each this long */
    double barrier_latency;       /* the last arrival to the first instruction behind the barrier */
    double barrier_release, barrier_release_warp; /* which keeps shared memory's path busy this long, plus per warp */
    double special_queue;         /* entries in front of special functions and conversions */
    double barrier_queue;         /* entries of a sub-core's queue of arrivals */
    double launch_overhead_cycles; /* counted as elapsed before a launch's first block and after its last */
};

/* How memory answers. Cycles and bytes per cycle of the SM clock; per SM unless named otherwise. */
struct wt_memory_rates {
    double shared_latency, shared_bytes; /* bytes: width of the banks together */
    double shared_turn;    /* the banks lose this long between loads and stores */
    double shared_atomic_interval; /* per thread that meets others in one address */
    double l1_latency, l1_bytes, l1_lines; /* lines: tag look-ups per cycle */
    double l2_latency, l2_bytes;   /* bytes: of one SM's port */
    double l2_gpu_bytes;           /* of all SMs together */
    double l2_request_bytes;       /* a load's line takes as much of it as so many bytes more */
    double l2_write_port_sms;      /* SMs of a GPC that send to L2 through one port */
    double l2_write_port_bytes;    /* what a port carries: stores and atomics */
    double l2_write_request_bytes; /* a line stored in part takes as much of it as so many bytes more */
    double l2_reduce_bytes, l2_atomic_bytes; /* a sector of atomics without and with a result takes as much of it as so many */
    double l2_fabric_bytes;        /* what L2 takes in from DRAM, stores and atomics together; half of it crosses between its halves */
    double l2_slices;              /* 0: not known */
    double l2_slice_bytes;         /* consecutive addresses that one of them holds */
    double l2_slice_request;       /* a slice takes an atomic's line each this long */
    double l2_dirty_mib;           /* L2 keeps so much from DRAM before it writes back */
    double store_buffer_bytes;     /* an SM's stores and atomics on their way to L2 */
    double dram_buffer_bytes;      /* an SM's share of what L2 has to write back before stores wait for that */
    double dram_latency;
    double dram_contention;        /* an access waits this long, times (u / (1 - u))^0.75, where DRAM is used to u */
    double dram_efficiency;        /* part of memory_gbs that streams reach */
    double dram_scattered;         /* part of memory_gbs that scattered accesses reach */
    double dram_granule_bytes;     /* least that a scattered access transfers */
    double dram_turn;              /* part of the bandwidth that is lost where half of the traffic is writes */
    double atomic_latency;
    double atomic_interval;        /* a slice of L2 takes an atomic's sector, or one of its threads on one address, each this long */
    double spread;                 /* L2 and DRAM latencies vary by this fraction from slice to slice, to either side */
};

struct wt_gpu {
    char *name;  /* as in the config, e.g. "NVIDIA H200" */
    char *path;  /* file it was read from */
    char *key;   /* the file's name without folder and ".cfg", e.g. "h200" */
    int cc_major, cc_minor;
    double clock_mhz; /* SM clock under load; 0 = unknown */
    double l2_mib;    /* 0 = unknown */
    double memory_gbs; /* DRAM bandwidth, GB/s; 0 = unknown */
    char *placement;  /* name of the default placement policy */
    struct wt_limits limits;
    struct wt_topology topology;
    struct wt_rates rates;
    struct wt_warp_rates warp;
    struct wt_memory_rates memory;
    struct wt_host_rates host;
    struct wt_copy_rates copy;
};

struct wt_param;
struct wt_record;

/* Loads `name_or_path`: a path when it contains '/' or ends in ".cfg", otherwise a name looked up as NAME.cfg in
 * $WAVETAIL_CONFIGS/gpus, $WAVETAIL_CONFIGS, the source tree's configs/gpus, the installed share folder.
 * A file may name another as `base`, which is read first and then overridden; a base that is a path is relative to
 * the file that names it. On failure `err` says which file and line and what to do, and *out is NULL. */
enum wt_code wt_gpu_load(const char *name_or_path, struct wt_gpu **out, struct wt_error *err);

/* The same from `size` bytes in memory; `path` names them in messages. */
enum wt_code wt_gpu_parse(const char *text, size_t size, const char *path, struct wt_gpu **out,
                          struct wt_error *err);

/* Whether wt_gpu_load takes the text for a path rather than a name. */
bool wt_gpu_is_path(const char *name_or_path);

/* The GPU whose `name` is a device's own (e.g. a trace's "NVIDIA H200"), owned by the caller; NULL: none is known. */
struct wt_gpu *wt_gpu_of_device(const char *device);

/* NULL is allowed. */
void wt_gpu_free(struct wt_gpu *gpu);

/* Names of all GPUs that can be loaded by name, sorted, without duplicates. Bare compute capabilities (cc5.0, …: one
 * SM, for its limits) only when `with_bare`; files whose name begins with '_' never: they are parts of others. The
 * array (*names, *count) and its strings are the caller's. */
enum wt_code wt_gpu_list(bool with_bare, char ***names, size_t *count, struct wt_error *err);

/* Where the value of config key `key` (dotted, e.g. "rates.report_cycles") comes from; NULL if not stated. */
const char *wt_gpu_source(const struct wt_gpu *gpu, const char *key);

/* All values as read, with their origins (core/param.h). Lives as long as the GPU. */
const struct wt_record *wt_gpu_record(const struct wt_gpu *gpu);

/* The config keys of a GPU. */
const struct wt_param *wt_gpu_params(void);

/* From the end of a block on `sm` to its replacement's start with nothing else waiting, by the GPU's rates. Cycles. */
double wt_gpu_unloaded_release(const struct wt_gpu *gpu, int sm);

#endif
