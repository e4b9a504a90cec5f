#include "fit/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/quantile.h"

/* Quartiles of a normal distribution lie this many standard deviations apart. */
static const double QUARTILES_APART = 1.349;

void wt_sample_add(struct wt_sample *sample, double value)
{
    sample->values = wt_grow(sample->values, &sample->capacity, sample->count + 1, sizeof *sample->values);
    sample->values[sample->count++] = value;
}

void wt_sample_free(struct wt_sample *sample)
{
    free(sample->values);
    *sample = (struct wt_sample){0};
}

void wt_sample_sort(struct wt_sample *sample)
{
    if (sample->count > 0)
        wt_sort_numbers(sample->values, sample->count);
}

double wt_sample_quantile(const struct wt_sample *sorted, double part)
{
    return sorted->count ? sorted->values[(size_t)((double)(sorted->count - 1) * part)] : 0;
}

double wt_mid_mean(const struct wt_sample *sorted)
{
    size_t from = sorted->count / 4, to = sorted->count - from;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += sorted->values[i];
    return to > from ? sum / (double)(to - from) : 0;
}

double wt_quartile_range(const struct wt_sample *sorted)
{
    return wt_sample_quantile(sorted, 0.75) - wt_sample_quantile(sorted, 0.25);
}

double wt_standard_error(const struct wt_sample *sorted)
{
    return sorted->count ? wt_quartile_range(sorted) / QUARTILES_APART / sqrt((double)sorted->count) : 0;
}
