/* `wavetail run --sass`: a kernel given by its SASS, without a workload file. */
#ifndef WT_RUN_SASS_H
#define WT_RUN_SASS_H

#include <stdbool.h>

#include "core/status.h"

/* Whether the command line of `run` asks for it. */
bool asks_for_sass(int argc, char **argv);

enum wt_code run_sass(int argc, char **argv, struct wt_error *err);

#endif
