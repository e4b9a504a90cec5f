/* Estimators: how each dispatch rate is told from traces. One const descriptor each, one line in the table
 * (wt_estimators). */
#ifndef WT_FIT_ESTIMATE_H
#define WT_FIT_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/curve.h"
#include "core/param.h"
#include "fit/evidence.h"
#include "gpu/gpu.h"

/* What estimators work on. */
struct wt_fit {
    const struct wt_evidence *evidence;
    const struct wt_gpu *gpu; /* with the topology found, and the rates of estimators that came before in the table */
};

/* What an estimator found. Which of value, curve and per_tpc counts, the estimator's kind says. */
struct wt_estimate {
    size_t samples; /* fewer than the estimator's least: nothing was told, and the rest is meaningless */
    double value;
    struct wt_curve curve;
    struct wt_numbers per_tpc; /* owned */
    bool *used;                /* by trace of the evidence: those that told; the caller's, zeroed */
    char *spread, *error;      /* for people; owned; NULL when there is none to speak of */
    char *unclear;             /* without samples: why launches that could have told did not; owned; NULL: there were none */
};

enum wt_rate_kind { WT_RATE_NUMBER, WT_RATE_CURVE, WT_RATE_PER_TPC };

struct wt_estimator {
    const char *key; /* in the config */
    enum wt_rate_kind kind;
    size_t offset;      /* of the double, wt_curve or wt_numbers in struct wt_rates */
    const char *method; /* one phrase: how it is measured */
    const char *needs;  /* which traces can tell it */
    const char *unit;   /* what is counted as a sample, in the plural */
    size_t least;       /* samples */
    void (*fit)(const struct wt_fit *fit, struct wt_estimate *out);
};

extern const struct wt_estimator wt_fit_launch, wt_fit_tpc_lag, wt_fit_used_tpc, wt_fit_visit, wt_fit_launch_offset, wt_fit_release,
    wt_fit_report_offset, wt_fit_report, wt_fit_kernel_gap, wt_fit_drain;

/* In an order in which each finds what it builds on; NULL ends the table. */
extern const struct wt_estimator *const wt_estimators[];

/* The rate that the estimator is about, in `rates`. */
void *wt_rate_of(const struct wt_estimator *estimator, struct wt_rates *rates);

#endif
