/* `wavetail whatif`: the points that are predicted, and how they are shown. */
#ifndef WT_WHATIF_POINTS_H
#define WT_WHATIF_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "study/whatif.h"

enum whatif_setting { WHATIF_BLOCK, WHATIF_SMEM, WHATIF_REGS, WHATIF_SPLIT, WHATIF_ORDER, WHATIF_GPU, WHATIF_PERSISTENT, WHATIF_SETTINGS };

struct whatif_outcome {
    size_t index; /* among all combinations */
    struct wt_whatif_point point;
    struct wt_whatif_result result;
    struct wt_error error; /* why there is no result */
};

/* The outcomes, ranked: the fastest first, those that cannot be launched last. */
struct whatif_report {
    struct wt_whatif_measured measured;
    const struct whatif_outcome *outcomes;
    size_t count;
};

/* A setting's value at a point, as measured where the point leaves it; an index for orders and GPUs (by first appearance). */
double whatif_value(const struct whatif_report *report, const struct whatif_outcome *outcome, enum whatif_setting setting);

/* How many values of a setting the points have. */
size_t whatif_values(const struct whatif_report *report, enum whatif_setting setting);

const char *whatif_limiter(const struct whatif_outcome *outcome);

void whatif_print_table(const struct whatif_report *report);
void whatif_print_json(const struct whatif_report *report);

/* Makespan, with what it may be, over the setting that varies most; a line for each value of another. */
enum wt_code whatif_draw(const struct whatif_report *report, const char *path, struct wt_error *err);

#endif
