/* What a run can be simulated again from: kernels with the duration of every block, on a GPU, and what the what-if
 * panel may change of it. */
#ifndef VIEW_SCENARIO_H
#define VIEW_SCENARIO_H

#include "core/status.h"
#include "observe/why.h"
#include "run.h"
#include "study/workload.h"

enum block_order { ORDER_AS_IS, ORDER_LONGEST_FIRST, ORDER_SHUFFLED, ORDERS };
extern const char *const order_names[ORDERS];

struct scenario_kernel {
    char *name;
    struct wt_launch_needs needs;
    bool needs_known; /* false: threads only; registers and shared memory are taken as 0 */
    uint64_t blocks;
    wt_time *durations; /* by block; >= 1 cycle; owned */
};

struct scenario {
    char *title;
    char *gpu; /* as for wt_gpu_load */
    char *placement; /* NULL: the GPU's */
    uint64_t seed;
    struct scenario_kernel *kernels; /* owned */
    size_t count;
    bool programs; /* the kernels are given by their instructions: their blocks have no order to choose */
    char *workload; /* file of a workload whose kernels overlap, take tasks, wait for each other or have clusters, which is simulated
                       from there each time, and whose kernels here have no durations; NULL: the kernels run one after another */
};

/* Changes to the scenario's kernels; negative numbers and NULL leave things as they are. */
struct changes {
    int threads;   /* of a block; the grid changes so that the threads stay, and a new block takes the time of the
                      old block that held its first thread: each thread's work is the same */
    int registers; /* per thread */
    int dynamic_shared; /* bytes */
    enum block_order order;
    const char *gpu;
};

/* No changes. */
struct changes changes_none(void);

/* From a workload file: what `wavetail run` would simulate. `gpu`: NULL = the workload's, or h200. */
enum wt_code scenario_from_workload(const char *path, const char *gpu, uint64_t seed, bool seed_given,
                                    struct scenario **out, struct wt_error *err);
/* From a run: its blocks' own durations. NULL when no launch states its threads, or blocks are missing. */
struct scenario *scenario_from_run(const struct run *run);
/* NULL is allowed. */
void scenario_free(struct scenario *scenario);

/* Simulates. On failure *out is NULL and `err` says why (e.g. a block that does not fit). */
enum wt_code scenario_simulate(const struct scenario *scenario, const struct changes *changes, const char *label,
                               struct run **out, struct wt_error *err);

/* Simulates again and asks about a launch's block or a moment. The answer is the caller's; on failure *out is NULL. Blocks that
 * the changes put in another order are known by their place in it, unless a file says the order. */
enum wt_code scenario_ask(const struct scenario *scenario, const struct changes *changes, const struct wt_why_question *question,
                          struct wt_why **out, struct wt_error *err);

#endif
