/* One clock domain's clock as a function of time, from readings that each bound the time.
 *
 * GPC clocks are not steady: under load they slow down by up to 3 % within microseconds, each GPC in its own
 * way (measured: stream_b256 loses 2,000 to 5,500 cycles in 240 us). So the relation is a line with knots, as
 * straight as the readings allow. */
#ifndef WT_TRACE_CLOCK_CURVE_H
#define WT_TRACE_CLOCK_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At `clock` the time was between `low` and `high`. */
struct wt_reading {
    double clock;     /* cycles from the domain's base */
    int64_t stamp;    /* what globaltimer showed */
    double low, high; /* ns from the trace's origin */
    bool is_end;      /* a block's end: the timer was read before the clock; otherwise after it */
};

/* A domain's readings, sorted by clock. */
struct wt_readings {
    struct wt_reading *at;
    size_t count;
};

struct wt_clock_curve {
    double cycles_per_ns; /* nominal; the slope outside the knots */
    size_t count;         /* knots, >= 1 */
    double *clock;        /* ascending; cycles from the domain's base */
    double *time_ns;      /* ascending; from the trace's origin */
    double cost;          /* -log of the likelihood of the readings it was fitted to and of the prior */
};

/* Fits to `readings`, count >= 1. `delay`: cycles between the two reads of a block's start or end.
 * The curve maximises the likelihood of the readings under a small read noise and outliers, with a prior for
 * slowly changing rates. */
struct wt_clock_curve wt_clock_curve_fit(const struct wt_readings *readings, double cycles_per_ns,
                                         double delay);
void wt_clock_curve_free(struct wt_clock_curve *curve);

double wt_clock_curve_time(const struct wt_clock_curve *curve, double clock);

/* -log likelihood of the readings given the curve. */
double wt_clock_curve_misfit(const struct wt_clock_curve *curve, const struct wt_readings *readings,
                             double delay);

/* The clock at which the timer was read. */
static inline double wt_reading_clock(const struct wt_reading *reading, double delay)
{
    return reading->is_end ? reading->clock - delay : reading->clock + delay;
}

/* The value that the intervals [low[i], high[i]] admit best (least total distance; the middle of such
 * values). */
double wt_interval_consensus(const double *low, const double *high, size_t count);

#endif
