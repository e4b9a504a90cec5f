/* How %globaltimer advances: in steps, and late by up to a period of the clock that drives it.
 *
 * The stamp T is read from the moment the counter passes T until it passes T + step. On the H200 (step 32 ns)
 * the counter gains 9.2591 ns per cycle of a 108 MHz clock, so it passes T up to that much late, by a lag
 * that depends on T and on one phase per capture. Measured on clock_sync: with the lag modelled, 99 % of the
 * readings agree with one clock per GPC within 3 cycles; without it they differ by up to 18. */
#ifndef WT_TRACE_TICKS_H
#define WT_TRACE_TICKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wt_ticks {
    int64_t origin_ns; /* stamps are returned relative to this */
    int step_ns;       /* >= 1 */
    double period_ns;  /* timer gained per cycle of the driving clock; 0 = no driving clock seen */
    double phase_ns;   /* lag at the origin, [0, period_ns) */
};

/* The largest step that explains the stamps: their common divisor, leaving out up to 1 % of them as outliers.
 * With few distinct stamps a multiple of the real step explains them as well; `stated` (0 = unknown) then
 * decides where it divides them. 0 when there are no two different stamps and nothing is stated. `stamps`
 * gets sorted. */
int wt_ticks_step(int64_t *stamps, size_t count, int stated);

/* When a reading of `stamp` was taken: from *low to *high, in ns after the origin. */
void wt_ticks_interval(const struct wt_ticks *ticks, int64_t stamp, double *low, double *high);

#endif
