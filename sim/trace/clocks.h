/* One time axis for a trace: clock64 differs between clock domains (GPCs) and their rates wander; globaltimer
 * is common but coarse. The axis is globaltimer's time, resolved by the clocks, in cycles of the mean clock
 * rate.
 *
 * Measured over the 277 H200 captures in which all 132 SMs have blocks: axes fitted to one half of each GPC's
 * SMs and to the other half differ by 2.1 cycles (median over captures of the median over blocks; the worst
 * capture 7.8). One constant offset for each GPC at 1.98 GHz differs from this axis by 24 (worst 1,284). */
#ifndef WT_TRACE_CLOCKS_H
#define WT_TRACE_CLOCKS_H

#include "trace/clock_curve.h"
#include "trace/ticks.h"
#include "trace/trace.h"

struct wt_clocks {
    int sm_count;
    int domain_count;      /* 0 without clocks */
    int16_t *domain_of_sm; /* -1: the SM has no rows, or there are no clocks */
    double
        *offset_cycles; /* per domain: its clock at time_origin_ns, relative to domain 0's; 0 without times */
    int64_t *base_clock;           /* per domain: the clock that its curve counts from */
    struct wt_clock_curve *curves; /* per domain; NULL without clocks or without times */
    int64_t time_origin_ns;        /* without times: the lowest clock */
    double mhz; /* mean clock rate over domains and time: an axis cycle is 1/mhz us; 0 = unknown */
    double mhz_uncertainty;   /* half-width of what the data allow */
    double mhz_spread;        /* largest deviation of a domain's own mean rate from mhz */
    bool mhz_is_stated;       /* the data allow more than 0.5 % to either side: mhz is the file's clock_khz */
    int step_ns;              /* detected step of globaltimer; 0 = unknown */
    struct wt_ticks ticks;    /* how globaltimer advances; period_ns 0: no driving clock seen */
    double read_delay_cycles; /* between the two clock reads of a start or an end */
    double residual_p50_cycles; /* |aligned - globaltimer| beyond what the step explains, median over starts
                                   and ends */
    double residual_p95_cycles;
};

/* Fails when the trace has too little to align (says what). A trace with times only gives step-sized
 * resolution; with clocks only, all SMs must share a domain (otherwise it fails and says so). */
enum wt_code wt_clocks_fit(const struct wt_trace *trace, struct wt_clocks **out, struct wt_error *err);
void wt_clocks_free(struct wt_clocks *clocks);

/* Start and end (never before the start) of a row of that trace on the common axis, in cycles; the origin is
 * arbitrary but the same for all rows. Exact to a few cycles within a domain, and between domains to what the
 * readings near in time tell. */
double wt_clocks_start(const struct wt_clocks *clocks, const struct wt_trace_row *row);
double wt_clocks_end(const struct wt_clocks *clocks, const struct wt_trace_row *row);

#endif
