/* A GPU's arrangement and dispatch rates from traces alone. What the traces do not tell keeps the base's value. */
#ifndef WT_FIT_CALIBRATE_H
#define WT_FIT_CALIBRATE_H

#include <stdio.h>

#include "core/json.h"
#include "fit/arrangement.h"
#include "fit/estimate.h"
#include "fit/evidence.h"

/* One rate. */
struct wt_fitted {
    const struct wt_estimator *estimator;
    struct wt_estimate estimate; /* meaningless unless told */
    bool told;                   /* false: the base's value holds */
};

struct wt_calibration {
    struct wt_evidence evidence;
    struct wt_arrangement arrangement;
    char *base;            /* as it stands in the config: a name, or an absolute path; owned */
    struct wt_gpu *base_gpu; /* owned */
    struct wt_gpu *gpu;    /* the base with the arrangement found; owned */
    struct wt_gpu fitted;  /* the same with the rates found; borrows everything */
    struct wt_fitted *rates; /* in order of wt_estimators; owned */
    size_t rate_count;
};

/* `base`: a GPU's name or config file; NULL: the limits of the traces' compute capability. The result does not depend
 * on the order of `paths` nor on the number of threads. On failure *out is NULL and `err` says which trace or file and
 * what to do. */
enum wt_code wt_calibrate(const char *const *paths, size_t count, const char *base, struct wt_calibration **out,
                          struct wt_error *err);
void wt_calibration_free(struct wt_calibration *calibration);

/* The GPU config: each value that the traces told with source, spread and error; comments say what kept the base's
 * value and why. */
void wt_calibration_print(const struct wt_calibration *calibration, FILE *stream);

/* Writes the config to `path`. */
enum wt_code wt_calibration_write(const struct wt_calibration *calibration, const char *path, struct wt_error *err);

/* Members of the open JSON object. */
void wt_calibration_json(const struct wt_calibration *calibration, struct wt_json *json);

/* The rate's value as it stands in the config, owned by the caller. */
char *wt_fitted_text(const struct wt_fitted *fitted);

/* What is written of the arrangement alone (name, clock, topology, gaps). */
void wt_calibration_print_arrangement(const struct wt_calibration *calibration, FILE *stream);

#endif
