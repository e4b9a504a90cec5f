/* Workloads written in a few lines, run to their end. */
#ifndef WT_TESTS_RAN_H
#define WT_TESTS_RAN_H

#include "dispatch/simulate.h"

/* How long a kernel's blocks last, in cycles: "100.0"; "100, 200". */
#define CONSTANT(cycles) "duration = { distribution = \"constant\"; cycles = " cycles "; }; "
#define LIST(...) "duration = { distribution = \"list\"; cycles = [" __VA_ARGS__ "]; }; "

struct ran {
    enum wt_code code;
    struct wt_error error;      /* without the file's folder: "w.cfg:LINE: …" */
    double makespan;            /* cycles, over blocks of all launches */
    struct wt_block_run *runs;  /* owned; blocks in the order of their ends */
    size_t run_count;
    struct wt_block_run *tasks; /* owned; of persistent launches, block by block */
    size_t task_count;
};

/* `kernels`: what stands between "kernels = (" and ");". On a GPU without a clock there is no host, and kernels of several
 * streams run one after another. */
struct ran ran(const char *gpu, const char *kernels);
/* The same, and it must have gone well. */
struct ran ran_well(const char *gpu, const char *kernels);
void ran_clear(struct ran *ran);

/* The run of a block (launch 0). */
const struct wt_block_run *ran_block(const struct ran *ran, uint64_t block);

#endif
