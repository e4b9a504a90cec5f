/* A warp-level run on paper: Nsight Compute's figures as text and JSON, alone or beside the hardware's, and the table per SM
 * and interval. */
#ifndef WT_OBSERVE_WARPS_H
#define WT_OBSERVE_WARPS_H

#include <stdio.h>

#include "core/json.h"
#include "core/time.h"
#include "gpu/gpu.h"
#include "warp/ncu.h"
#include "warp/warp.h"

/* A figure under Nsight Compute's name. */
struct wt_warp_figure {
    const char *name; /* e.g. "smsp__warps_eligible.avg.per_cycle_active" */
    const char *label; /* for people */
    double (*of)(const struct wt_warp_result *result, const struct wt_gpu *gpu);
};

/* Ends with a NULL name. Without the stalls, which wt_stall_figure_name names. */
extern const struct wt_warp_figure wt_warp_figures[];

/* "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", in a buffer of the caller's. */
void wt_stall_figure_name(enum wt_stall_reason reason, char *name, size_t size);

/* sm__cycles_elapsed.avg: the hardware's figure holds the time to launch and to finish, measured with empty kernels. */
double wt_warp_elapsed(const struct wt_warp_result *result, const struct wt_gpu *gpu);

/* Members of the object that is open. */
void wt_warp_json(struct wt_json *json, const struct wt_warp_result *result, const struct wt_gpu *gpu);

/* An object "measured" with the same members, of those that the row has. */
void wt_warp_measured_json(struct wt_json *json, const struct wt_ncu_metrics *metrics, size_t row);

/* `metrics` may be NULL: nothing to compare with. */
void wt_warp_print(FILE *stream, const struct wt_warp_result *result, const struct wt_gpu *gpu,
                   const struct wt_ncu_metrics *metrics, size_t row);

/* The launch of the kernel (mangled name) with that many blocks, threads and bytes of shared memory; -1: none. A page that
 * does not tell a number fits any. Template arguments are not compared: a kernel's instances are told apart by the numbers.
 * No blocks: the kernel's first launch. */
long wt_ncu_launch(const struct wt_ncu_metrics *metrics, const char *kernel, uint64_t blocks, uint64_t threads,
                   uint64_t static_bytes, uint64_t dynamic_bytes);

/* The table's header: "sm,start,end,resident,eligible,issued,barrier,…"; and a row, as the `interval` of a wt_warp_observer tells
 * it: cycles, and averages over the interval's cycles and the SM's `schedulers`. */
void wt_warps_csv_header(FILE *stream);
void wt_warps_csv_row(FILE *stream, int schedulers, int sm, wt_time from, wt_time to, const struct wt_warp_counters *counters);

#endif
