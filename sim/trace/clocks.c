#include "trace/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "trace/domains.h"
#include "trace/driver.h"

enum {
    SAMPLE = 100000,          /* rows that tell the step and the residuals */
    CONTRADICTION_CYCLES = 1000, /* more than any coarse clock explains */
    READINGS = 1 << 14,       /* kept per domain */
    DELAY_READINGS = 1 << 11, /* per domain, for the read delay */
    DELAY_ROUNDS = 8
};
/* H200, CS2R after CS2R: 2 to 4 cycles in every trace that tells (the misfit of spin_logn_b256_ds0 by delay:
 * 0: 1173, 4: 937, 8: 1113). Used as a prior, since a single wave does not tell. */
static const double USUAL_DELAY = 3, DELAY_SPREAD = 1, LEAST_DELAY = -12, MOST_DELAY = 24;
static const double TRUSTED = 0.005; /* relative half-width from which the fitted rate is used */

struct fit {
    const struct wt_trace *trace;
    struct wt_clocks *clocks;
    struct wt_readings *domains;
    double cycles_per_ns; /* nominal */
};

static int by_clock(const void *left, const void *right)
{
    const struct wt_reading *a = left, *b = right;
    if (a->clock != b->clock)
        return a->clock < b->clock ? -1 : 1;
    if (a->stamp != b->stamp)
        return a->stamp < b->stamp ? -1 : 1;
    return a->is_end - b->is_end;
}

static int by_number(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(double *numbers, size_t count, double share)
{
    qsort(numbers, count, sizeof *numbers, by_number);
    return count ? numbers[(size_t)(share * (double)(count - 1) + 0.5)] : 0;
}

static int find_step(const struct wt_trace *trace)
{
    size_t stride = trace->row_count / SAMPLE + 1, count = 0;
    int64_t *stamps = wt_alloc(2 * (trace->row_count / stride + 1), sizeof *stamps);
    for (size_t i = 0; i < trace->row_count; i += stride) {
        stamps[count++] = trace->rows[i].time_start_ns;
        stamps[count++] = trace->rows[i].time_end_ns;
    }
    int step = wt_ticks_step(stamps, count, trace->globaltimer_step_ns);
    free(stamps);
    return step;
}

static int64_t earliest(const struct wt_trace *trace)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < trace->row_count; i++) {
        int64_t start = trace->has_times ? trace->rows[i].time_start_ns : trace->rows[i].clock_start;
        first = start < first ? start : first;
    }
    return first;
}

/* Each SM's earliest start and latest end by its clock; SMs without rows keep line 0. */
static struct wt_trace_row *sm_extents(const struct wt_trace *trace)
{
    struct wt_trace_row *extents = wt_alloc((size_t)trace->sm_count, sizeof *extents);
    for (size_t i = 0; i < trace->row_count; i++) {
        const struct wt_trace_row *row = &trace->rows[i];
        struct wt_trace_row *extent = &extents[row->sm];
        if (extent->line == 0 || row->clock_start < extent->clock_start) {
            extent->clock_start = row->clock_start;
            extent->time_start_ns = row->time_start_ns;
        }
        if (extent->line == 0 || row->clock_end > extent->clock_end) {
            extent->clock_end = row->clock_end;
            extent->time_end_ns = row->time_end_ns;
        }
        extent->line = 1;
    }
    return extents;
}

/* Median over SMs of the rate from first start to last end; *error: its relative half-width. */
static double rate_over_extents(const struct wt_trace *trace, int step_ns, double *error)
{
    struct wt_trace_row *extents = sm_extents(trace);
    double *rates = wt_alloc((size_t)trace->sm_count, sizeof *rates), longest = 0;
    size_t count = 0;
    for (int s = 0; s < trace->sm_count; s++) {
        double span = (double)(extents[s].time_end_ns - extents[s].time_start_ns);
        if (extents[s].line && span > 0)
            rates[count++] = (double)(extents[s].clock_end - extents[s].clock_start) / span;
        longest = fmax(longest, span);
    }
    double rate = quantile(rates, count, 0.5);
    *error = longest > 0 ? step_ns / longest : 1;
    free(extents);
    free(rates);
    return rate;
}

static enum wt_code first_rate(struct fit *fit, struct wt_error *err)
{
    const struct wt_trace *trace = fit->trace;
    double error, rate = rate_over_extents(trace, fit->clocks->step_ns, &error),
                  stated = trace->clock_khz * 1e-6;
    if (error > 0.01 && stated > 0)
        rate = stated;
    else if (error > 0.1 || !(rate > 1e-3 && rate < 100))
        return wt_fail_at(err, trace->path, 0,
                          "is too short to tell the clock rate; state it in a line '# clock_khz = ...'");
    fit->cycles_per_ns = rate;
    return WT_OK;
}

static void add_readings(struct fit *fit, const struct wt_trace_row *row)
{
    int d = fit->clocks->domain_of_sm[row->sm];
    struct wt_readings *domain = &fit->domains[d];
    for (int is_end = 0; is_end < 2; is_end++)
        domain->at[domain->count++] = (struct wt_reading){
            .clock = (double)((is_end ? row->clock_end : row->clock_start) - fit->clocks->base_clock[d]),
            .stamp = is_end ? row->time_end_ns : row->time_start_ns,
            .is_end = is_end};
}

static void gather(struct fit *fit)
{
    struct wt_clocks *clocks = fit->clocks;
    const struct wt_trace *trace = fit->trace;
    size_t domains = (size_t)clocks->domain_count;
    size_t *rows = wt_alloc(domains, sizeof *rows), *seen = wt_alloc(domains, sizeof *seen);
    for (size_t i = 0; i < trace->row_count; i++) {
        int d = clocks->domain_of_sm[trace->rows[i].sm];
        if (rows[d]++ == 0 || trace->rows[i].clock_start < clocks->base_clock[d])
            clocks->base_clock[d] = trace->rows[i].clock_start;
    }
    for (size_t d = 0; d < domains; d++)
        fit->domains[d].at =
            wt_alloc(2 * (rows[d] < READINGS ? rows[d] : READINGS), sizeof(struct wt_reading));
    for (size_t i = 0; i < trace->row_count; i++) {
        int d = clocks->domain_of_sm[trace->rows[i].sm];
        size_t stride = (rows[d] + READINGS - 1) / READINGS;
        if (seen[d]++ % stride == 0)
            add_readings(fit, &trace->rows[i]);
    }
    for (size_t d = 0; d < domains; d++)
        qsort(fit->domains[d].at, fit->domains[d].count, sizeof(struct wt_reading), by_clock);
    free(rows);
    free(seen);
}

/* How badly curves fit, with that delay, to the first readings of every domain. */
static double delay_misfit(const struct fit *fit, double delay)
{
    double away = (delay - USUAL_DELAY) / DELAY_SPREAD, sum = 0.5 * away * away;
    for (int d = 0; d < fit->clocks->domain_count; d++) {
        struct wt_readings some = fit->domains[d];
        some.count = some.count < DELAY_READINGS ? some.count : DELAY_READINGS;
        struct wt_clock_curve curve = wt_clock_curve_fit(&some, fit->cycles_per_ns, delay);
        sum += wt_clock_curve_misfit(&curve, &some, delay);
        wt_clock_curve_free(&curve);
    }
    return sum;
}

/* Golden-section search. */
static double find_delay(const struct fit *fit)
{
    const double ratio = 0.6180339887498949;
    double low = LEAST_DELAY, high = MOST_DELAY;
    double a = high - ratio * (high - low), b = low + ratio * (high - low);
    double at_a = delay_misfit(fit, a), at_b = delay_misfit(fit, b);
    for (int round = 0; round < DELAY_ROUNDS; round++) {
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - ratio * (high - low);
            at_a = delay_misfit(fit, a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + ratio * (high - low);
            at_b = delay_misfit(fit, b);
        }
    }
    return 0.5 * (low + high);
}

/* The mean rate of each domain, weighted by the time it covers. */
static void mean_rate(struct fit *fit)
{
    struct wt_clocks *clocks = fit->clocks;
    double cycles = 0, time = 0, longest = 0, stated = fit->trace->clock_khz * 1e-3;
    for (int d = 0; d < clocks->domain_count; d++) {
        const struct wt_clock_curve *curve = &clocks->curves[d];
        double span = curve->time_ns[curve->count - 1] - curve->time_ns[0];
        cycles += curve->clock[curve->count - 1] - curve->clock[0];
        time += span;
        longest = fmax(longest, span);
    }
    double rate = time > 0 ? cycles / time : fit->cycles_per_ns;
    double halfwidth = longest > 0 ? 0.5 * clocks->step_ns / longest : 1;
    clocks->mhz_is_stated = halfwidth > TRUSTED && stated > 0;
    clocks->mhz = clocks->mhz_is_stated ? stated : rate * 1e3;
    clocks->mhz_uncertainty = fmin(halfwidth, 1) * clocks->mhz;
    for (int d = 0; d < clocks->domain_count && !clocks->mhz_is_stated; d++) {
        const struct wt_clock_curve *curve = &clocks->curves[d];
        double span = curve->time_ns[curve->count - 1] - curve->time_ns[0];
        if (span > 0.5 * longest)
            clocks->mhz_spread =
                fmax(clocks->mhz_spread,
                     fabs((curve->clock[curve->count - 1] - curve->clock[0]) / span * 1e3 - clocks->mhz));
    }
}

static double clock_at_origin(const struct wt_clock_curve *curve)
{
    return curve->clock[0] - curve->time_ns[0] * curve->cycles_per_ns;
}

static void find_offsets(struct wt_clocks *clocks)
{
    for (int d = 0; d < clocks->domain_count; d++)
        clocks->offset_cycles[d] = (double)(clocks->base_clock[d] - clocks->base_clock[0]) +
                                   clock_at_origin(&clocks->curves[d]) - clock_at_origin(&clocks->curves[0]);
}

static double row_time(const struct wt_clocks *clocks, const struct wt_trace_row *row, bool is_end,
                       double delay)
{
    int d = clocks->domain_of_sm[row->sm];
    int64_t clock = (is_end ? row->clock_end : row->clock_start) - clocks->base_clock[d];
    return wt_clock_curve_time(&clocks->curves[d], (double)clock + (is_end ? -delay : delay));
}

static void find_residuals(const struct wt_trace *trace, struct wt_clocks *clocks)
{
    size_t stride = trace->row_count / SAMPLE + 1, count = 0;
    double *residuals = wt_alloc(2 * (trace->row_count / stride + 1), sizeof *residuals);
    for (size_t i = 0; i < trace->row_count; i += stride)
        for (int is_end = 0; is_end < 2; is_end++) {
            const struct wt_trace_row *row = &trace->rows[i];
            double low, high, time = row_time(clocks, row, is_end, clocks->read_delay_cycles);
            wt_ticks_interval(&clocks->ticks, is_end ? row->time_end_ns : row->time_start_ns, &low, &high);
            residuals[count++] = fmax(fmax(low - time, time - high), 0) * clocks->mhz * 1e-3;
        }
    clocks->residual_p50_cycles = quantile(residuals, count, 0.5);
    clocks->residual_p95_cycles = quantile(residuals, count, 0.95);
    free(residuals);
}

static void align(struct fit *fit)
{
    struct wt_clocks *clocks = fit->clocks;
    size_t domains = (size_t)clocks->domain_count;
    clocks->offset_cycles = wt_alloc(domains, sizeof *clocks->offset_cycles);
    clocks->base_clock = wt_alloc(domains, sizeof *clocks->base_clock);
    clocks->curves = wt_alloc(domains, sizeof *clocks->curves);
    fit->domains = wt_alloc(domains, sizeof *fit->domains);
    gather(fit);
    wt_ticks_find_driver(&clocks->ticks, fit->domains, clocks->domain_count, fit->cycles_per_ns, USUAL_DELAY);
    wt_ticks_bound(&clocks->ticks, fit->domains, clocks->domain_count);
    clocks->read_delay_cycles = find_delay(fit);
    for (size_t d = 0; d < domains; d++)
        clocks->curves[d] =
            wt_clock_curve_fit(&fit->domains[d], fit->cycles_per_ns, clocks->read_delay_cycles);
    mean_rate(fit);
    find_offsets(clocks);
    find_residuals(fit->trace, clocks);
    for (size_t d = 0; d < domains; d++)
        free(fit->domains[d].at);
    free(fit->domains);
}

/* Readings lie within tens of cycles of one axis. Where half of them are off by a tenth of all that the trace lasts, the columns
 * are not of one run, or garbled. */
static enum wt_code check_residuals(const struct wt_trace *trace, const struct wt_clocks *clocks, struct wt_error *err)
{
    double first = INFINITY, last = -INFINITY, off = clocks->residual_p50_cycles;
    for (size_t i = 0; i < trace->row_count; i++) {
        first = fmin(first, wt_clocks_start(clocks, &trace->rows[i]));
        last = fmax(last, wt_clocks_end(clocks, &trace->rows[i]));
    }
    if (off <= CONTRADICTION_CYCLES || off <= (last - first) / 10)
        return WT_OK;
    return wt_fail_at(err, trace->path, 0, "its clocks and its times contradict each other, by %.0f cycles in the median; correct the "
                      "columns, or capture again", off);
}

static enum wt_code fit_both(const struct wt_trace *trace, struct wt_clocks *clocks, struct wt_error *err)
{
    struct fit fit = {.trace = trace, .clocks = clocks};
    WT_TRY(first_rate(&fit, err));
    clocks->domain_count =
        wt_domains_find(trace, fit.cycles_per_ns * 1e6, clocks->step_ns, clocks->domain_of_sm);
    align(&fit);
    return check_residuals(trace, clocks, err);
}

static enum wt_code fit_times_only(const struct wt_trace *trace, struct wt_clocks *clocks,
                                   struct wt_error *err)
{
    if (trace->clock_khz <= 0)
        return wt_fail_at(
            err, trace->path, 0,
            "has times but no clocks and no clock rate; state it in a line '# clock_khz = ...'");
    clocks->mhz = trace->clock_khz * 1e-3;
    clocks->mhz_is_stated = true;
    for (int s = 0; s < trace->sm_count; s++)
        clocks->domain_of_sm[s] = -1;
    return WT_OK;
}

/* Clocks of several domains are usually further apart than a launch lasts: then no SM's stay overlaps
 * another's. */
static enum wt_code fit_clocks_only(const struct wt_trace *trace, struct wt_clocks *clocks,
                                    struct wt_error *err)
{
    struct wt_trace_row *extents = sm_extents(trace);
    double low = INFINITY, high = -INFINITY, longest = 0;
    for (int s = 0; s < trace->sm_count; s++) {
        clocks->domain_of_sm[s] = extents[s].line ? 0 : -1;
        if (!extents[s].line)
            continue;
        low = fmin(low, (double)extents[s].clock_start);
        high = fmax(high, (double)extents[s].clock_start);
        longest = fmax(longest, (double)(extents[s].clock_end - extents[s].clock_start));
    }
    free(extents);
    if (high - low > longest)
        return wt_fail_at(
            err, trace->path, 0,
            "has clocks of SMs that do not share a clock domain, and no times to align them by; capture "
            "time_start_ns and time_end_ns (globaltimer) too");
    clocks->domain_count = 1;
    clocks->offset_cycles = wt_alloc(1, sizeof *clocks->offset_cycles);
    clocks->base_clock = wt_alloc(1, sizeof *clocks->base_clock);
    clocks->base_clock[0] = clocks->time_origin_ns;
    clocks->mhz = trace->clock_khz * 1e-3;
    clocks->mhz_is_stated = clocks->mhz > 0;
    return WT_OK;
}

enum wt_code wt_clocks_fit(const struct wt_trace *trace, struct wt_clocks **out, struct wt_error *err)
{
    struct wt_clocks *clocks = wt_alloc(1, sizeof *clocks);
    clocks->sm_count = trace->sm_count;
    clocks->domain_of_sm = wt_alloc((size_t)trace->sm_count, sizeof *clocks->domain_of_sm);
    clocks->time_origin_ns = earliest(trace);
    clocks->step_ns = trace->has_times ? find_step(trace) : 0;
    clocks->ticks = (struct wt_ticks){.origin_ns = clocks->time_origin_ns,
                                      .step_ns = clocks->step_ns > 0 ? clocks->step_ns : 1};
    enum wt_code code = !trace->has_clocks ? fit_times_only(trace, clocks, err)
                        : trace->has_times ? fit_both(trace, clocks, err)
                                           : fit_clocks_only(trace, clocks, err);
    if (code != WT_OK) {
        wt_clocks_free(clocks);
        clocks = NULL;
    }
    *out = clocks;
    return code;
}

void wt_clocks_free(struct wt_clocks *clocks)
{
    if (!clocks)
        return;
    for (int d = 0; d < clocks->domain_count && clocks->curves; d++)
        wt_clock_curve_free(&clocks->curves[d]);
    free(clocks->curves);
    free(clocks->base_clock);
    free(clocks->offset_cycles);
    free(clocks->domain_of_sm);
    free(clocks);
}

static double aligned(const struct wt_clocks *clocks, const struct wt_trace_row *row, bool is_end)
{
    if (clocks->curves)
        return row_time(clocks, row, is_end, 0) * clocks->mhz * 1e-3;
    if (clocks->domain_count > 0)
        return (double)((is_end ? row->clock_end : row->clock_start) - clocks->base_clock[0]);
    return (double)((is_end ? row->time_end_ns : row->time_start_ns) - clocks->time_origin_ns) * clocks->mhz *
           1e-3;
}

double wt_clocks_start(const struct wt_clocks *clocks, const struct wt_trace_row *row)
{
    return aligned(clocks, row, false);
}

double wt_clocks_end(const struct wt_clocks *clocks, const struct wt_trace_row *row)
{
    return aligned(clocks, row, true);
}
