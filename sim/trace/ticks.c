#include "trace/ticks.h"

#include <math.h>
#include <stdlib.h>

enum {
    FEW = 12
}; /* distinct stamps from which the common divisor is trusted alone: 2^-12 to be a multiple */

static int by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* The residue that most stamps share modulo `step`, and how many do not have it. */
static size_t strangers(const int64_t *stamps, size_t count, int64_t step)
{
    int64_t candidate = 0;
    size_t votes = 0, others = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t residue = ((stamps[i] % step) + step) % step;
        if (votes == 0)
            candidate = residue;
        votes += residue == candidate ? 1 : (size_t)-1;
    }
    for (size_t i = 0; i < count; i++)
        others += ((stamps[i] % step) + step) % step != candidate;
    return others;
}

static size_t drop_equal(int64_t *stamps, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || stamps[i] != stamps[kept - 1])
            stamps[kept++] = stamps[i];
    return kept;
}

/* Common divisors of the gaps between neighbours, from the 1st, 2nd, ... gap on: an outlier spoils those
 * whose run contains it, and the best of several runs survives. */
static int64_t divisor(const int64_t *stamps, size_t count)
{
    size_t allowed = count / 100, run = 2 * FEW;
    int64_t best = 1;
    for (size_t start = 0; start + 1 < count; start += run) {
        int64_t step = 0;
        for (size_t i = start + 1; i < count && i <= start + run; i++)
            step = gcd(step, stamps[i] - stamps[start]);
        if (step > best && strangers(stamps, count, step) <= allowed)
            best = step;
    }
    return best;
}

int wt_ticks_step(int64_t *stamps, size_t count, int stated)
{
    qsort(stamps, count, sizeof *stamps, by_value);
    count = drop_equal(stamps, count);
    if (count < 2)
        return stated;
    int64_t step = divisor(stamps, count);
    if (count < FEW && stated > 0 && step % stated == 0)
        return stated;
    if (count < FEW) /* the timer's low bits are likely zero: then the stamps themselves share the step */
        step = gcd(step, stamps[0]) > 1 ? gcd(step, stamps[0]) : step;
    return step > 1000000000 ? stated : (int)step;
}

/* How late the counter passes origin + after. */
static double lag(const struct wt_ticks *ticks, double after)
{
    if (ticks->period_ns == 0)
        return 0;
    double rest = ticks->phase_ns - after;
    return rest - ticks->period_ns * floor(rest / ticks->period_ns);
}

void wt_ticks_interval(const struct wt_ticks *ticks, int64_t stamp, double *low, double *high)
{
    double after = (double)(stamp - ticks->origin_ns);
    *low = after + lag(ticks, after);
    *high = after + ticks->step_ns + lag(ticks, after + ticks->step_ns);
}
