/* Cost model `fixed`: a block lasts as long as a distribution, a list or a trace says, whatever runs beside it.
 *
 * The duration of a block is a function of (seed, kernel, block) alone, so it does not depend on the order in
 * which blocks are handed out. All durations are from 1 to WT_FIXED_MOST cycles; draws beyond are set to the
 * bound. */
#ifndef WT_COST_FIXED_H
#define WT_COST_FIXED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/param.h"
#include "core/random.h"
#include "core/status.h"
#include "dispatch/simulate.h"

#define WT_FIXED_MOST 1e12 /* cycles; ten minutes at 1.7 GHz */

/* Draws are made this many at a time. */
enum { WT_FIXED_BATCH = 128 };

/* The blocks [first, first + WT_FIXED_BATCH) of a grid of `grid_blocks`; the last batch may reach beyond it. */
struct wt_fixed_batch {
    uint64_t first, grid_blocks;
    struct wt_random random; /* the batch's own stretch of the kernel's stream */
    double cycles[WT_FIXED_BATCH];
};

/* `values` below is the struct that `params` describe. */
struct wt_distribution {
    const char *name; /* as in a workload file's `distribution = "…"` */
    const char *help;
    const struct wt_param *params; /* the first is `distribution` itself */
    size_t size;                   /* bytes of the values */
    /* What the parameters' ranges cannot say. NULL: nothing. */
    enum wt_code (*check)(const void *values, uint64_t grid_blocks, struct wt_error *err);
    /* Cycles; infinite where there is no mean. NULL: nothing is random. */
    double (*mean)(const void *values);
    void (*fill)(const void *values, struct wt_fixed_batch *batch);
};

/* Ends with a NULL. */
extern const struct wt_distribution *const wt_distributions[];

/* NULL when there is none of that name. */
const struct wt_distribution *wt_distribution_find(const char *name);

/* The values of the distribution "list", which is also how a trace's measured durations are given. */
struct wt_list_values {
    char *distribution;
    struct wt_numbers cycles; /* by block index */
    bool cycle;               /* false: exactly one for each block of the grid */
};

struct wt_fixed_setup {
    const struct wt_distribution *distribution;
    const void *values; /* must outlive the wt_fixed; may be shared by several */
    uint64_t grid_blocks;
    uint64_t seed;
    uint64_t kernel; /* index in the run: each has a stream of its own */
    bool mean_only;  /* randomness off: every block lasts the mean */
};

struct wt_fixed;

/* The durations of one kernel. Fails where the distribution's check does, and where the mean is asked for and
 * infinite; the message has no place in front. On failure *out is NULL. */
enum wt_code wt_fixed_new(const struct wt_fixed_setup *setup, struct wt_fixed **out, struct wt_error *err);

/* NULL is allowed. */
void wt_fixed_free(struct wt_fixed *fixed);

/* For wt_kernel.cost; valid as long as `fixed`. Cheapest when blocks come in index order. */
struct wt_cost wt_fixed_cost(struct wt_fixed *fixed);

#endif
