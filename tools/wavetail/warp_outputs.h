/* What `run` says of kernels with programs, warp by warp: options, files, Nsight Compute's figures. */
#ifndef WT_WARP_OUTPUTS_H
#define WT_WARP_OUTPUTS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/json.h"
#include "core/outfile.h"
#include "observe/issue.h"
#include "observe/metrics.h"
#include "observe/warp_series.h"
#include "observe/warps.h"
#include "study/launches.h"
#include "study/sampled.h"
#include "study/workload.h"

/* Put `warp_outputs_argp` among the argp children with a `struct warp_outputs *` as its input. */
struct warp_outputs {
    const char *warps, *compare, *scheduler, *stalls, *issue; /* NULL: not asked for */
    long long interval; /* cycles */
    int issue_sm, issue_subcore;
    double issue_from, issue_to; /* cycles */
    int sampled_sms; /* 0: all are simulated */
};

extern const struct argp warp_outputs_argp;

/* One run's; give it to warp_run_clear in any case. */
struct warp_run {
    const struct warp_outputs *asked;
    const struct wt_launches *launches;
    bool has_programs; /* else nothing is done */
    struct wt_sampled *sample; /* NULL: all SMs are simulated */
    const struct wt_gpu *gpu;
    const struct wt_timeline *about; /* once finished */
    struct wt_outfile table;
    struct wt_warp_series *series; /* for the timeline, which takes it over; NULL: not wanted */
    struct wt_issue_record *record; /* NULL: not asked for */
    struct wt_warp_observer observer; /* its context is this */
    struct wt_ncu_metrics *metrics; /* NULL: nothing to compare with */
    long *rows; /* per launch: the metrics' row, -1: none */
};

/* Before the simulation; *run must stay where it is. Fails where an option is of programs only and no kernel has one; `path` names
 * the workload. `series`: the timeline shall have what warps did. */
enum wt_code warp_run_begin(struct warp_run *run, const struct warp_outputs *asked, struct wt_launches *launches,
                            const struct wt_gpu *gpu, const char *path, uint64_t seed, bool series, struct wt_error *err);

/* After it: completes the files, and finds what to compare with. `about` describes the launches, takes the series, and must outlive
 * the run. */
enum wt_code warp_run_finish(struct warp_run *run, struct wt_timeline *about, struct wt_error *err);

/* Nothing where no kernel has a program; `metrics` are the run's blocks'. JSON: of a single launch the figures themselves, else
 * an array "warp_launches". */
void warp_run_print(const struct warp_run *run, const struct wt_metrics *metrics, FILE *stream);
void warp_run_json(const struct warp_run *run, const struct wt_metrics *metrics, struct wt_json *json);

void warp_run_clear(struct warp_run *run);

#endif
