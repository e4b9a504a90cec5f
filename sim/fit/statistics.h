/* Small robust statistics. All are deterministic; arrays are sorted in place. */
#ifndef WT_FIT_STATISTICS_H
#define WT_FIT_STATISTICS_H

#include <stddef.h>

/* Numbers being collected; zero-initialise. */
struct wt_sample {
    double *values; /* owned */
    size_t count, capacity;
};

void wt_sample_add(struct wt_sample *sample, double value);
void wt_sample_free(struct wt_sample *sample); /* leaves it empty */
void wt_sample_sort(struct wt_sample *sample);

/* Of a sorted sample; `part` in [0, 1], the value at the nearest lower rank. 0 when empty. */
double wt_sample_quantile(const struct wt_sample *sorted, double part);

/* The mean of a sorted sample's middle half: as deaf to outliers as the quartiles, but not bound to the whole cycles
 * in which clocks count. */
double wt_mid_mean(const struct wt_sample *sorted);

/* The distance of its quartiles. */
double wt_quartile_range(const struct wt_sample *sorted);

/* Standard error of the mid-mean, from the quartiles as those of a normal distribution. 0 when empty. */
double wt_standard_error(const struct wt_sample *sorted);

#endif
