/* How often a launch's accesses hit, from Nsight Compute's counters; they say it for all loads together. */
#ifndef WT_WARP_HITS_H
#define WT_WARP_HITS_H

#include <stdbool.h>
#include <stddef.h>

#include "warp/ncu.h"
#include "warp/sass.h"

/* Parts of the sectors, 0 … 1; negative: not known. */
struct wt_hit_rates {
    double l1, l1_random; /* of loads; those at random addresses hit in lines that others fetched, so that the others miss first */
    double l2;     /* of loads that miss in L1 */
    double atomic; /* in L2 */
    double store;  /* in L2: need not be fetched before they can be written in part */
};

#define WT_HITS_UNKNOWN ((struct wt_hit_rates){-1, -1, -1, -1, -1})

/* `row` of the raw page belongs to the launch of which `source` is the source page. What DRAM was read for (dram__bytes_read)
 * is taken to be loads, then atomics, then stores: L2's own hit rates count what goes from one half of it to the other
 * twice. Where only dram__bytes is there, it is taken to be loads. */
struct wt_hit_rates wt_hit_rates_of(const struct wt_ncu_metrics *metrics, size_t row, const struct wt_sass_function *function,
                                    const struct wt_ncu_source *source);

/* Whether the load's addresses depend on data: its number of lines changes from execution to execution. */
bool wt_ncu_is_random(const struct wt_ncu_row *row);

#endif
