/* Order statistics. */
#ifndef WT_CORE_QUANTILE_H
#define WT_CORE_QUANTILE_H

#include <stddef.h>

/* Sorts `values`, none of them NaN. */
void wt_sort_numbers(double *values, size_t count);

/* The smallest of ascending `sorted` that is no less than `percent` (1..100) per cent of them: always one of the
 * values (nearest rank). NaN when there are none. */
double wt_quantile(const double *sorted, size_t count, unsigned percent);

#endif
