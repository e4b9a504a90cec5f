/* A kernel from SASS: the options that `run --sass` and `import sass` share, and reading what they name. */
#ifndef WT_SASS_INPUT_H
#define WT_SASS_INPUT_H

#include <argp.h>
#include <stdio.h>

#include "core/json.h"
#include "trace/trace.h"
#include "warp/from_sass.h"

enum { MOST_TRIPS = 64 };

/* Put `sass_input_argp` among the argp children with a `struct sass_input *` as its input. */
struct sass_input {
    const char *kernel, *source, *metrics, *trace; /* NULL: not given */
    struct wt_trip trips[MOST_TRIPS];
    size_t trip_count;
    struct wt_atomic_words words[MOST_TRIPS];
    size_t words_count;
    double work;     /* negative: not given */
    double l1_hit, l2_hit; /* negative: not given */
};

/* --kernel, --ncu-source, --ncu-metrics, --trip, --atomic-words, --work, --trace, --l1-hit, --l2-hit. */
extern const struct argp sass_input_argp;

struct sass_kernel {
    struct wt_sass *sass;
    const struct wt_sass_function *function; /* in sass */
    struct wt_ncu_source *source; /* NULL: none given */
    struct wt_trace *trace;       /* the same */
    struct wt_program *program;   /* its `work` is the option's, or the trace's mean */
    struct wt_sass_report report;
};

/* What tells the launch among those of the raw page. */
struct sass_shape {
    uint64_t blocks; /* 0: the first of this kernel */
    int threads;     /* of a block */
    int static_shared, dynamic_shared;
};

/* Reads the SASS in `path` and what the options name. Give *kernel to sass_kernel_clear in any case. */
enum wt_code sass_kernel_read(const char *path, const struct sass_input *input, const struct sass_shape *shape,
                              struct sass_kernel *kernel, struct wt_error *err);
void sass_kernel_clear(struct sass_kernel *kernel);

/* The trace's blocks' work, by block; owned by the caller. NULL: no trace was given. */
double *sass_kernel_work(const struct sass_kernel *kernel, size_t *count);

/* Members of the object that is open: what had to be assumed. */
void sass_kernel_json(const struct sass_kernel *kernel, struct wt_json *json);

/* The same, a line each, behind `prefix`. */
void sass_kernel_warn(FILE *stream, const char *prefix, const struct sass_kernel *kernel);

#endif
