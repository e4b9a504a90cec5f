/* One time axis for a trace: clock64 differs between clock domains (GPCs), globaltimer is common but coarse. */
#ifndef WT_TRACE_CLOCKS_H
#define WT_TRACE_CLOCKS_H

#include "trace/trace.h"

struct wt_clocks {
    int sm_count;
    int domain_count;
    int16_t *domain_of_sm;       /* -1: the SM has no rows */
    double *offset_cycles;       /* per domain: clock - rate * (time - time_origin_ns) */
    int64_t time_origin_ns;
    double mhz;                  /* fitted clock rate */
    double mhz_uncertainty;      /* half-width of what the data allow */
    int step_ns;                 /* detected step of globaltimer; 0 = unknown */
    double residual_p50_cycles;  /* |aligned - globaltimer| beyond what the step explains, median over rows */
    double residual_p95_cycles;
};

/* Fails when the trace has too little to align (says what). A trace with times only gives step-sized resolution;
 * with clocks only, all SMs must share a domain (otherwise it fails and says so). */
enum wt_code wt_clocks_fit(const struct wt_trace *trace, struct wt_clocks **out, struct wt_error *err);
void wt_clocks_free(struct wt_clocks *clocks);

/* Start and end of a row on the common axis, in cycles; the origin is arbitrary but the same for all rows. */
double wt_clocks_start(const struct wt_clocks *clocks, const struct wt_trace_row *row);
double wt_clocks_end(const struct wt_clocks *clocks, const struct wt_trace_row *row);

#endif
