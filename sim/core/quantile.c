#include "core/quantile.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void wt_sort_numbers(double *values, size_t count)
{
    size_t sorted = 1;
    while (sorted < count && values[sorted - 1] <= values[sorted])
        sorted++;
    if (sorted < count)
        qsort(values, count, sizeof *values, compare);
}

double wt_quantile(const double *sorted, size_t count, unsigned percent)
{
    return count ? sorted[(count * percent + 99) / 100 - 1] : NAN;
}
