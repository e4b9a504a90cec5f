/* Validation: many traces replayed, in parallel, and their errors summed up. */
#ifndef WT_STUDY_VALIDATE_H
#define WT_STUDY_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "study/replay.h"

struct wt_validation_row {
    const char *path;         /* the caller's */
    struct wt_replay *replay; /* NULL when it failed; owned */
    struct wt_error error;    /* why */
    /* Repetitions (NAME.rN.… of the same NAME): median over blocks of |start - start in the first repetition|, and
     * relative difference of the makespans. NaN for the first repetition and for traces without one. */
    double repeat_start_p50, repeat_makespan;
};

/* Over the rows that were replayed; NaN when there are none. Absolute values; quantiles by nearest rank. */
struct wt_validation_summary {
    size_t replayed, failed;
    double makespan_error_p50, makespan_error_p95;
    double start_error_p50; /* median of the rows' medians */
    double start_error_p95; /* median of the rows' 95th percentiles */
    double first_wave_match_p50;
    size_t repeated; /* rows with a repetition to compare with */
    double repeat_start_p50, repeat_makespan_p50;
};

struct wt_validation_progress {
    void (*trace_done)(void *context); /* after each trace; from any thread, one call at a time */
    void *context;
};

/* `rows` are in the order of `paths` whatever the number of threads. `progress` may be NULL. */
void wt_validate(const char *const *paths, size_t count, const struct wt_replay_setup *setup,
                 const struct wt_validation_progress *progress, struct wt_validation_row *rows,
                 struct wt_validation_summary *summary);

/* The same sums over the rows whose path begins with `folder`/ and has no further slash. "" stands for paths without one. */
struct wt_validation_summary wt_validation_of_folder(const struct wt_validation_row *rows, size_t count, const char *folder);

/* The part of the path before its last slash; owned by the caller. */
char *wt_validation_folder(const char *path);

void wt_validation_clear(struct wt_validation_row *rows, size_t count);

#endif
