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
    double l2;      /* of loads that miss in L1 */
    double l2_part; /* of those among them that touch parts of what others bring, so that the others miss first */
    double atomic; /* in L2 */
    double store;  /* in L2: need not be fetched before they can be written in part */
    double dirty;  /* stored, that wait to be written to DRAM for the first time */
    double slice_bytes; /* that atomics meet in, as if they filled one slice of L2 after the other; 0: not known, or all slices */
    double meet;        /* threads of a warp that meet in a word of an atomic, on average; 0: not known */
};

#define WT_HITS_UNKNOWN ((struct wt_hit_rates){.l1 = -1, .l1_random = -1, .l2 = -1, .l2_part = -1, .atomic = -1, .store = -1, \
                                               .dirty = -1})

/* `row` of the raw page belongs to the launch of which `source` is the source page. What DRAM was read for
 * (dram__bytes_read) is taken to be loads, those that touch parts of what others bring last, then atomics, then stores: L2's
 * own hit rates count what goes from one half of it to the other twice. Where only dram__bytes is there, it is taken to be
 * loads. What was stored and not written to DRAM (dram__bytes_write) is taken to have met in L2 save for what L2 keeps. Over
 * how many slices of L2 atomics spread is told by lts__d_atomic_input_cycles_active, average over maximum. */
struct wt_hit_rates wt_hit_rates_of(const struct wt_ncu_metrics *metrics, size_t row, const struct wt_sass_function *function,
                                    const struct wt_ncu_source *source);

/* Whether the load's addresses depend on data: its number of lines changes from execution to execution. */
bool wt_ncu_is_random(const struct wt_ncu_row *row);

/* Whether a load touches parts of sectors that others are likely to bring: its threads take less than half of each, as at a tile's
 * edge, or share words; always the same number of lines, so that its addresses do not depend on data. `width`: bytes of a thread. */
bool wt_ncu_touches_parts(const struct wt_ncu_row *row, int width);

/* Whether so many lines and sectors of an execution are words far apart: DRAM opens a row for each. */
bool wt_ncu_is_scattered(double lines, double sectors);

#endif
