/* The options of `run` that name a kernel's SASS and its launch instead of a workload file. */
#ifndef WT_SASS_LAUNCH_H
#define WT_SASS_LAUNCH_H

#include "sass_input.h"
#include "study/workload.h"

/* Put `sass_launch_argp` among the argp children with a `struct sass_launch *` as its input. */
struct sass_launch {
    struct sass_input input;
    const char *sass; /* NULL: not asked for */
    int grid[3], block[3]; /* grid[0], block[0] 0: not given */
    int registers, static_shared, dynamic_shared;
};

extern const struct argp sass_launch_argp;

/* A workload of that one launch. *kernel keeps what was read for the report, without the program, which the workload owns; give it
 * to sass_kernel_clear in any case. */
enum wt_code sass_launch_workload(const struct sass_launch *launch, struct sass_kernel *kernel, struct wt_workload **out,
                                  struct wt_error *err);

#endif
