/* A sweep: the points of a study file, and what each gives. A study names a workload (or holds it itself, or a trace, whose
 * blocks then last as measured), axes over its keys, and keys derived from them:
 *
 *     study = {
 *         workload = "../workloads/lognormal.cfg";
 *         axes = ( { key = "block"; values = [64, 128, 256]; },
 *                  { key = "grid"; from = 100; to = 100000; count = 31; scale = "log"; } );
 *         derived = ( { key = "duration.mean"; value = 1e8; over = "grid"; } );
 *         plot = { x = "grid"; y = "tail_fraction"; by = "block"; };
 *     };
 *
 * A point is one choice on each axis (or the n-th on all, combine = "zip"). It is simulated as `wavetail run` would, and
 * becomes a row of a table: a pure function of the study and the point's number. */
#ifndef WT_STUDY_SWEEP_H
#define WT_STUDY_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"
#include "study/plot.h"

enum { WT_SWEEP_AXES = 16, WT_SWEEP_POINTS = 10000000 };

struct wt_sweep;

struct wt_sweep_setup {
    const char *gpu; /* NULL: the workload's, or h200 */
    uint64_t seed;   /* of samples and, unless an axis says otherwise, of the simulations */
    bool seed_given; /* else the study's and the workload's */
};

/* Fails with FILE:LINE: a key that the workload cannot have, too, with the nearest one. On failure *out is NULL. */
enum wt_code wt_sweep_read(const char *path, const struct wt_sweep_setup *setup, struct wt_sweep **out, struct wt_error *err);
/* The same of `size` bytes; files are looked for from the folder of `path`, which names them in messages. */
enum wt_code wt_sweep_parse(const char *text, size_t size, const char *path, const struct wt_sweep_setup *setup,
                            struct wt_sweep **out, struct wt_error *err);
/* NULL is allowed. */
void wt_sweep_free(struct wt_sweep *sweep);

const char *wt_sweep_title(const struct wt_sweep *sweep);
size_t wt_sweep_count(const struct wt_sweep *sweep);
/* How the study wants its table drawn. */
const struct wt_plot_setup *wt_sweep_plot(const struct wt_sweep *sweep);

/* What names a point among all studies with the same workload: a hash of both. */
uint64_t wt_sweep_key(const struct wt_sweep *sweep, size_t point);

/* The table's first line, and a point's row less its first cell, which is the point's number. Both owned by the caller,
 * without line ends. A point that cannot be launched has its reason in the column `error`, and no results. Many
 * threads may ask at once. */
char *wt_sweep_header(const struct wt_sweep *sweep);
char *wt_sweep_row(const struct wt_sweep *sweep, size_t point);

/* The reference of a study file's keys. */
void wt_sweep_print_keys(FILE *stream);

#endif
