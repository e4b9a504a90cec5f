/* Remedies for imbalance: what a kernel's blocks (or tasks) become when they are cut up and put in another order. */
#ifndef WT_COST_REWORK_H
#define WT_COST_REWORK_H

#include <stdint.h>

#include "dispatch/simulate.h"

enum wt_order { WT_ORDER_ASIS, WT_ORDER_LONGEST_FIRST, WT_ORDER_SHUFFLE, WT_ORDER_REVERSED };

/* "asis", "longest-first", "shuffle", "reversed"; NULL ends the list. */
extern const char *const wt_order_names[];

#define WT_REWORK_MOST (UINT64_C(1) << 28) /* blocks after splitting; 8 bytes each */

struct wt_rework_setup {
    enum wt_order order; /* of the parts; equally long ones keep their order */
    int split;           /* >= 1: parts of each block, equally long, one after the other */
    double split_overhead_cycles; /* what each part takes besides its share; only where split > 1 */
    uint64_t seed, kernel;        /* of the shuffle */
};

struct wt_rework;

/* Asks `source` once for each of `count` blocks, in order. `count` * split is at most WT_REWORK_MOST. Owned by the caller,
 * released with wt_rework_free. */
struct wt_rework *wt_rework_new(const struct wt_cost *source, uint64_t count, const struct wt_rework_setup *setup);
/* NULL is allowed. */
void wt_rework_free(struct wt_rework *rework);

uint64_t wt_rework_count(const struct wt_rework *rework);

/* The durations of the blocks as they are now; valid as long as `rework`. */
struct wt_cost wt_rework_cost(struct wt_rework *rework);

#endif
