/* wavetail import KIND FILE: what other tools print becomes this project's files. */
#ifndef WT_IMPORT_H
#define WT_IMPORT_H

#include "command.h"
#include "sass_input.h"

struct import_options {
    struct common common;
    struct sass_input sass;
    const char *file, *out; /* out: "-" is standard output */
    long long grid, block;
    int architecture; /* 0: not given */
};

/* What a run of it gives. */
struct import_kind {
    const char *name, *summary;
    enum wt_code (*import)(const struct import_options *options, struct wt_error *err);
};

extern const struct import_kind import_sass, import_ncu, import_ptxas;

/* One kernel of a workload file that is written by hand, so that a user can go on editing it. */
struct import_kernel {
    const char *name;
    long long grid, block;
    int registers, static_shared, dynamic_shared, barriers; /* barriers negative: not known */
    double cycles; /* of each block */
    const char *comment; /* behind the first line; NULL: none */
};

/* `head` is a comment of one line or more, without `#`. Needs `gpu` unless NULL. */
void import_write_workload(FILE *stream, const char *head, const char *gpu, const struct import_kernel *kernels, size_t count);

#endif
