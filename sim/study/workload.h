/* A workload: kernels that run one after another in one stream, or as host threads submit them to several (study/host_calls.h),
 * as a config file describes them (configs/workloads/NAME.cfg). Reading needs no GPU; study/launches.h puts a workload on one. */
#ifndef WT_STUDY_WORKLOAD_H
#define WT_STUDY_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/config.h"
#include "core/status.h"
#include "cost/fixed.h"
#include "dispatch/program.h"
#include "sm/shape.h"
#include "study/behaviour.h"
#include "study/demand.h"
#include "warp/program.h"

enum { WT_MOST_REPEATS = 10000, WT_MOST_LAUNCHES = 100000, WT_MOST_CLUSTER = 16 };

enum wt_model { WT_MODEL_FIXED, WT_MODEL_FLUID, WT_MODEL_WARP };
/* "fixed", "fluid", "warp"; NULL ends the list. */
extern const char *const wt_model_names[];

struct wt_workload_kernel {
    char *name;          /* owned */
    enum wt_model model; /* where its blocks' durations come from; WARP where there is a program, and only there */
    struct wt_demand demand; /* FLUID */
    int grid[3], block[3];
    uint64_t grid_blocks; /* product of `grid`; 0: as many as fit at once (persistent kernels only) */
    struct wt_launch_needs needs;
    int cluster; /* blocks; 1: no clusters */
    bool cooperative;
    struct wt_behaviour behaviour;
    int order; /* enum wt_order */
    int split;
    double split_overhead_cycles;
    int repeat; /* launches of it, one after another; at least 1 */
    int stream, priority;
    enum wt_programmatic programmatic;
    int *after; /* kernels before it that it waits for; owned */
    int after_count;
    struct wt_program *program; /* its warps' instructions give the durations; owned; NULL: the distribution gives them */
    const struct wt_distribution *distribution; /* of durations, or of a program's `work`; NULL: that is the program's own */
    void *duration; /* the distribution's values; owned. FLUID: of durations alone on the GPU */
    long line;          /* where the file describes it, for messages */
    long duration_line, cooperative_line, rework_line;
};

struct wt_workload {
    char *path;
    char *title;     /* shown in summaries and pictures; the file's name when not given */
    char *gpu;       /* for wt_gpu_load; NULL when not given */
    char *placement; /* name of the placement policy; NULL: the GPU's default */
    uint64_t seed;
    struct wt_workload_kernel *kernels; /* owned; at least one */
    size_t kernel_count;
    struct wt_workload_host *host; /* NULL: the kernels run one after another */
};

/* On failure *out is NULL and `err` says FILE:LINE, what, and what to do. A kernel whose duration is a trace's takes
 * what it does not state (grid, block, registers, shared memory, carve-out, name) from the trace's launch. */
enum wt_code wt_workload_read(const char *path, struct wt_workload **out, struct wt_error *err);

/* The same from a tree whose path names it in messages and is where its files are looked for. */
enum wt_code wt_workload_from(const struct wt_config *config, struct wt_workload **out, struct wt_error *err);

/* One launch of a program, made rather than read: the kernel as a file would give it with this grid, block and needs
 * (`threads` apart), the defaults otherwise. Takes the program over; `path` names it in messages. `work` (may be NULL): each
 * block's, copied. */
struct wt_workload_launch {
    const char *name;
    struct wt_program *program;
    int grid[3], block[3];
    struct wt_launch_needs needs;
    const double *work;
    size_t work_count;
};
struct wt_workload *wt_workload_of_program(const char *path, const struct wt_workload_launch *launch);

/* Whether a key is the file's, such as "seed", and not a kernel's. */
bool wt_workload_is_file_key(const char *key);

/* NULL is allowed. */
void wt_workload_free(struct wt_workload *workload);

/* The reference of all keys, distributions included. */
void wt_workload_print_keys(FILE *stream);

#endif
