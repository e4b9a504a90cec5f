/* Do clocks of different GPCs end up on one axis?
 *
 * The oracle is a made-up GPU whose true times are known: domains with offsets of their own, rates that
 * wander, a globaltimer with steps that is driven by a slower clock, and noise between the two reads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lines.h"
#include "core/mem.h"
#include "core/random.h"
#include "suites.h"
#include "trace/clocks.h"
#include "trace/domains.h"

enum { DOMAINS = 8, SMS = 128 };

struct world {
    int waves;       /* blocks per SM, one after another */
    double block_ns; /* mean duration */
    double mhz;      /* mean clock rate */
    double wander;   /* relative amplitude of the rate, period 40 us, another phase in each domain */
    double step_ns, driver_ns; /* globaltimer: step, and period of its driving clock (0: none) */
    double offset_cycles;      /* domain d's clock is d * offset ahead */
    double stated_khz;
    uint64_t seed;
};

static const struct world usual = {.waves = 8,
                                   .block_ns = 3000,
                                   .mhz = 1980,
                                   .wander = 0.01,
                                   .step_ns = 32,
                                   .driver_ns = 9.259114,
                                   .offset_cycles = 12345.6,
                                   .stated_khz = 1980000,
                                   .seed = 1};

static double true_clock(const struct world *w, int domain, double time_ns)
{
    double phase = 2.1 * domain, period = 40000 / (2 * M_PI);
    double wandered = w->wander * period * (sin(time_ns / period + phase) - sin(phase));
    return domain * w->offset_cycles + w->mhz * 1e-3 * (time_ns + wandered);
}

static int64_t stamp(const struct world *w, double time_ns)
{
    if (w->driver_ns > 0)
        time_ns = 3.3 + w->driver_ns * floor((time_ns - 3.3) / w->driver_ns);
    return (int64_t)(w->step_ns * floor(time_ns / w->step_ns));
}

static double noise(struct wt_random *random, double most)
{
    return most * wt_random_unit(random);
}

/* A trace of it, and every row's true start. SM s is of domain s / 2 % DOMAINS. */
static struct wt_trace *captured(const struct world *w, double **truth)
{
    struct wt_random random = wt_random_stream(w->seed, "world", 0);
    struct wt_trace *trace = wt_alloc(1, sizeof *trace);
    trace->path = wt_strdup("made up");
    trace->device = wt_strdup("");
    trace->sm_count = SMS;
    trace->clock_khz = w->stated_khz;
    trace->has_clocks = trace->has_times = true;
    trace->launches = wt_alloc(1, sizeof *trace->launches);
    trace->launch_count = 1;
    trace->row_count = (size_t)w->waves * SMS;
    trace->rows = wt_alloc(trace->row_count, sizeof *trace->rows);
    *truth = wt_alloc(trace->row_count, sizeof **truth);
    for (int s = 0; s < SMS; s++) {
        double time = 5000 + noise(&random, 60), cycle = 1e3 / w->mhz;
        for (int k = 0; k < w->waves; k++) {
            size_t i = (size_t)k * SMS + (size_t)s;
            struct wt_trace_row *row = &trace->rows[i];
            double end = time + w->block_ns * (0.7 + 0.6 * wt_random_unit(&random));
            *row = (struct wt_trace_row){.block = i, .sm = (uint16_t)s, .line = (uint32_t)i, .warp_slot = -1};
            (*truth)[i] = time;
            row->clock_start = (int64_t)true_clock(w, s / 2 % DOMAINS, time) + 1000000;
            row->time_start_ns = stamp(w, time + cycle * (3 + noise(&random, 3))) + 1700000000000000000;
            row->clock_end = (int64_t)true_clock(w, s / 2 % DOMAINS, end) + 1000000;
            row->time_end_ns = stamp(w, end - cycle * (3 + noise(&random, 3))) + 1700000000000000000;
            time = end + 170 + noise(&random, 200);
        }
    }
    return trace;
}

static struct wt_clocks *fitted(const struct wt_trace *trace)
{
    struct wt_clocks *clocks;
    struct wt_error err = {0};
    ck_assert_msg(wt_clocks_fit(trace, &clocks, &err) == WT_OK, "%s", err.text);
    return clocks;
}

static int by_number(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, by_number);
    return numbers[count / 2];
}

/* Median and 95th percentile of |aligned start - true start|, cycles, apart from what all have in common. */
static void errors(const struct wt_trace *trace, const struct wt_clocks *clocks, const double *truth,
                   double *p50, double *p95)
{
    size_t n = trace->row_count;
    double *error = wt_alloc(n, sizeof *error);
    for (size_t i = 0; i < n; i++)
        error[i] = wt_clocks_start(clocks, &trace->rows[i]) - truth[i] * clocks->mhz * 1e-3;
    double *copy = wt_alloc(n, sizeof *copy);
    memcpy(copy, error, n * sizeof *copy);
    double common = median(copy, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = fabs(error[i] - common);
    *p50 = median(copy, n);
    *p95 = copy[n * 95 / 100];
    free(copy);
    free(error);
}

static void assert_aligned(const struct world *w, double most_p50, double most_p95)
{
    double *truth, p50, p95;
    struct wt_trace *trace = captured(w, &truth);
    struct wt_clocks *clocks = fitted(trace);
    errors(trace, clocks, truth, &p50, &p95);
    ck_assert_msg(p50 <= most_p50 && p95 <= most_p95, "%d waves, seed %d: errors %.1f, %.1f", w->waves,
                  (int)w->seed, p50, p95);
    ck_assert_int_eq(clocks->domain_count, DOMAINS);
    for (int s = 0; s < SMS; s++)
        ck_assert_int_eq(clocks->domain_of_sm[s], s / 2 % DOMAINS);
    ck_assert_int_eq(clocks->step_ns, (int)w->step_ns);
    ck_assert(clocks->residual_p50_cycles <= 15);
    wt_clocks_free(clocks);
    wt_trace_free(trace);
    free(truth);
}

START_TEST(wandering_clocks_are_aligned_to_a_few_cycles)
{
    struct world w = usual;
    for (w.seed = 1; w.seed <= 3; w.seed++)
        assert_aligned(&w, 3, 8);
}
END_TEST

/* As many blocks as SMs: 16 readings of a domain's start and 16 of its end. */
START_TEST(one_wave_is_enough)
{
    struct world w = usual;
    w.waves = 1;
    for (w.seed = 1; w.seed <= 5; w.seed++)
        assert_aligned(&w, 4, 10);
}
END_TEST

/* 1024 ns is 2,028 cycles: what remains is what 16 SMs with 16 blocks can tell. */
START_TEST(coarse_steps_and_steps_without_a_driving_clock)
{
    struct world w = usual;
    w.driver_ns = 0;
    assert_aligned(&w, 3, 8);
    w.step_ns = 1;
    assert_aligned(&w, 1, 3);
    w.step_ns = 1000;
    w.waves = 16;
    w.wander = 0;
    assert_aligned(&w, 20, 60);
}
END_TEST

/* Measured clocks go by what they show, not by what the file says. */
START_TEST(a_cold_clock_is_found_out)
{
    struct world w = usual;
    double *truth;
    w.mhz = 1215;
    struct wt_trace *trace = captured(&w, &truth);
    struct wt_clocks *clocks = fitted(trace);
    ck_assert(!clocks->mhz_is_stated);
    ck_assert_double_eq_tol(clocks->mhz, 1215, 10);
    wt_clocks_free(clocks);
    wt_trace_free(trace);
    free(truth);
}
END_TEST

START_TEST(a_short_trace_falls_back_on_the_stated_rate)
{
    struct world w = usual;
    double *truth;
    w.waves = 1;
    w.block_ns = 100;
    struct wt_trace *trace = captured(&w, &truth);
    struct wt_clocks *clocks = fitted(trace);
    ck_assert(clocks->mhz_is_stated);
    ck_assert_double_eq(clocks->mhz, 1980);
    ck_assert(clocks->mhz_uncertainty > 50);
    wt_clocks_free(clocks);
    trace->clock_khz = 0;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_clocks_fit(trace, &clocks, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "made up: is too short to tell the clock rate; state it"));
    ck_assert_ptr_null(clocks);
    wt_trace_free(trace);
    free(truth);
}
END_TEST

/* Two domains 250 cycles apart are two (a step is 63), 20 apart one. Pins no more than these. */
START_TEST(domains_close_together)
{
    struct world w = usual;
    double *truth;
    int16_t domains[SMS];
    w.wander = 0;
    w.offset_cycles = 250;
    struct wt_trace *trace = captured(&w, &truth);
    ck_assert_int_eq(wt_domains_find(trace, 1980000, 32, domains), DOMAINS);
    wt_trace_free(trace);
    free(truth);
    w.offset_cycles = 20.0 / DOMAINS;
    trace = captured(&w, &truth);
    ck_assert_int_eq(wt_domains_find(trace, 1980000, 32, domains), 1);
    wt_trace_free(trace);
    free(truth);
}
END_TEST

START_TEST(steps_are_found_in_stamps)
{
    int64_t regular[200], few[] = {1024, 1088, 1152}, one[] = {77, 77};
    for (int i = 0; i < 200; i++)
        regular[i] = 1700000000000000000 + 32 * (i * i % 997);
    ck_assert_int_eq(wt_ticks_step(regular, 200, 0), 32);
    regular[17] += 5; /* one reading in 200 is off */
    ck_assert_int_eq(wt_ticks_step(regular, 200, 0), 32);
    ck_assert_int_eq(wt_ticks_step(few, 3, 32), 32);
    ck_assert_int_eq(wt_ticks_step(few, 3, 48), 64);
    ck_assert_int_eq(wt_ticks_step(one, 2, 32), 32);
    ck_assert_int_eq(wt_ticks_step(one, 2, 0), 0);
}
END_TEST

/* A counter that gains 9.25 ns every 9.25 ns, with an edge at 3 ns: it shows 32 from the edge at 40 on, 64
 * from the one at 67.75 on. */
START_TEST(a_driving_clock_makes_steps_late)
{
    struct wt_ticks ticks = {.origin_ns = 1000, .step_ns = 32, .period_ns = 9.25, .phase_ns = 3};
    double low, high;
    wt_ticks_interval(&ticks, 1032, &low, &high);
    ck_assert_double_eq_tol(low, 40, 1e-9);
    ck_assert_double_eq_tol(high, 67.75, 1e-9);
    ticks.period_ns = 0;
    wt_ticks_interval(&ticks, 1032, &low, &high);
    ck_assert_double_eq(low, 32);
    ck_assert_double_eq(high, 64);
}
END_TEST

/* ---- The H200 ---- */

static struct wt_trace *shipped(const char *name)
{
    char *path = wt_format("%s/traces/h200/%s.csv.zst", WT_SOURCE_ROOT, name);
    struct wt_trace *trace;
    struct wt_error err = {0};
    ck_assert_msg(wt_trace_read(path, &trace, &err) == WT_OK, "%s", err.text);
    free(path);
    return trace;
}

/* GPC sizes 16,16,16,16,16,16,18,18; 124 to 131 share the clock of 0, 1, 16, ... */
static void assert_h200_domains(const struct wt_clocks *clocks)
{
    int size[DOMAINS] = {0};
    ck_assert_int_eq(clocks->domain_count, 8);
    for (int s = 0; s < 132; s++) {
        int tpc = s / 2;
        int expected = s >= 124 ? 0 : s >= 120 ? 6 + (s - 120) / 2 : tpc < 32 ? tpc % 8 : 1 + (tpc - 32) % 7;
        ck_assert_msg(clocks->domain_of_sm[s] == expected, "SM %d in domain %d", s, clocks->domain_of_sm[s]);
        size[expected]++;
    }
    for (int d = 0; d < DOMAINS; d++)
        ck_assert_int_eq(size[d], d < 6 ? 16 : 18);
}

START_TEST(the_gpcs_of_an_h200)
{
    static const char *const names[] = {
        "spin20k_b256.r0",    "empty_g132.r0",   "empty_b32.r0", "stream_b256.r0",
        "fma_b128.r0",        "persist_g264.r0", "conc_A.r0",    "mechanisms/partial_140.r0",
        "mechanisms/gap_0.r0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct wt_trace *trace = shipped(names[i]);
        struct wt_clocks *clocks = fitted(trace);
        assert_h200_domains(clocks);
        ck_assert_int_eq(clocks->step_ns, 32);
        ck_assert_double_eq_tol(clocks->mhz, 1975, 12); /* 1.98 GHz; less under load */
        ck_assert_msg(clocks->residual_p50_cycles <= 1 && clocks->residual_p95_cycles <= 15, "%s: %.1f %.1f",
                      names[i], clocks->residual_p50_cycles, clocks->residual_p95_cycles);
        wt_clocks_free(clocks);
        wt_trace_free(trace);
    }
}
END_TEST

/* A reading of one block with another's time is no better than none. */
START_TEST(clocks_and_times_of_different_blocks_are_refused)
{
    struct wt_trace *trace = shipped("spin_uni_b256_ds0.r0");
    for (size_t i = 0; i < trace->row_count / 2; i++) {
        struct wt_trace_row *a = &trace->rows[i], *b = &trace->rows[trace->row_count / 2 + i];
        int64_t start = a->time_start_ns, end = a->time_end_ns;
        a->time_start_ns = b->time_start_ns;
        a->time_end_ns = b->time_end_ns;
        b->time_start_ns = start;
        b->time_end_ns = end;
    }
    struct wt_clocks *clocks;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_clocks_fit(trace, &clocks, &err), WT_BAD_INPUT);
    ck_assert_ptr_null(clocks);
    ck_assert_msg(strstr(err.text, "clocks and its times contradict") != NULL, "%s", err.text);
    wt_trace_free(trace);
}
END_TEST

/* The pairs of clock_sync as blocks that end as they start. */
static struct wt_trace *clock_sync(void)
{
    char *path = wt_format("%s/traces/h200/clock_sync.csv.zst", WT_SOURCE_ROOT), *text = NULL;
    struct wt_lines *lines;
    struct wt_line line;
    size_t size = 0;
    long block = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_int_eq(wt_lines_open(path, &lines, NULL), WT_OK);
    fputs("block,sm,clock_start,time_start_ns,clock_end,time_end_ns\n", stream);
    for (bool more = true; more;) {
        int sm;
        long clock, time;
        ck_assert_int_eq(wt_lines_next(lines, &line, &more, NULL), WT_OK);
        char *copy = wt_format("%.*s", more ? (int)line.length : 0, line.text);
        if (sscanf(copy, "%d,%ld,%ld", &sm, &clock, &time) == 3)
            fprintf(stream, "%ld,%d,%ld,%ld,%ld,%ld\n", block++, sm, clock, time, clock, time);
        free(copy);
    }
    fclose(stream);
    wt_lines_close(lines);
    struct wt_trace *trace;
    ck_assert_int_eq(wt_trace_read_memory(path, text, size, &trace, NULL), WT_OK);
    free(text);
    free(path);
    return trace;
}

/* 200 pairs of every SM, taken within 10 us by idle SMs: nothing may stand out, beyond the skew inside a GPC
 * (6 cycles between an SM and its GPC's mean). Without the driving clock's lag, 18 cycles remain. */
START_TEST(clock_and_timer_read_in_a_loop)
{
    struct wt_trace *trace = clock_sync();
    ck_assert_uint_eq(trace->row_count, 26400);
    struct wt_clocks *clocks = fitted(trace);
    assert_h200_domains(clocks);
    ck_assert_int_eq(clocks->step_ns, 32);
    ck_assert(clocks->ticks.period_ns > 0);
    ck_assert_msg(clocks->residual_p50_cycles == 0 && clocks->residual_p95_cycles < 3, "%.2f, %.2f",
                  clocks->residual_p50_cycles, clocks->residual_p95_cycles);
    ck_assert_double_eq_tol(clocks->mhz, 1978, 2); /* of the loop's 94 cycles per 47.525 ns */
    wt_clocks_free(clocks);
    wt_trace_free(trace);
}
END_TEST

/* The rows on every other TPC of each domain, beginning with the first or the second. */
static struct wt_trace half_of(const struct wt_trace *trace, const struct wt_clocks *whole, int which,
                               uint16_t stand_in[])
{
    struct wt_trace half = *trace;
    int seen[DOMAINS] = {0}, part[132];
    for (int s = 0; s < 132; s++)
        part[s] = seen[whole->domain_of_sm[s]]++ / 2 % 2;
    half.rows = wt_alloc(trace->row_count, sizeof *half.rows);
    half.row_count = 0;
    for (size_t i = 0; i < trace->row_count; i++)
        if (part[trace->rows[i].sm] == which)
            half.rows[half.row_count++] = trace->rows[i];
    for (int s = 0; s < 132; s++)
        if (part[s] == which)
            stand_in[whole->domain_of_sm[s]] = (uint16_t)s;
    return half;
}

/* Starts of all rows as the clocks of that half's SMs put them, at 1980 MHz. */
static double *starts_by_half(const struct wt_trace *trace, const struct wt_clocks *whole, int which)
{
    uint16_t stand_in[DOMAINS];
    struct wt_trace half = half_of(trace, whole, which, stand_in);
    struct wt_clocks *clocks = fitted(&half);
    double *starts = wt_alloc(trace->row_count, sizeof *starts);
    for (size_t i = 0; i < trace->row_count; i++) {
        struct wt_trace_row row = trace->rows[i];
        row.sm = stand_in[whole->domain_of_sm[row.sm]];
        starts[i] = wt_clocks_start(clocks, &row) * 1980 / clocks->mhz;
    }
    wt_clocks_free(clocks);
    free(half.rows);
    return starts;
}

/* What one half of each GPC's SMs say of when blocks started, the other half confirms. Pins no skew common to
 * all SMs of a GPC. */
START_TEST(half_the_sms_tell_the_same)
{
    static const struct {
        const char *name;
        double most_p50, most_p95; /* cycles */
    } cases[] = {{"spin20k_b256.r0", 4, 12},
                 {"spin_logn_b256_ds0.r0", 4, 12},
                 {"stream_b256.r0", 4, 15},
                 {"empty_b256.r0", 4, 12},
                 {"mechanisms/partial_132.r0", 8, 30}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct wt_trace *trace = shipped(cases[c].name);
        struct wt_clocks *whole = fitted(trace);
        size_t n = trace->row_count;
        double *a = starts_by_half(trace, whole, 0), *b = starts_by_half(trace, whole, 1),
               *d = wt_alloc(n, sizeof *d);
        for (size_t i = 0; i < n; i++)
            d[i] = a[i] - b[i];
        double common = median(d, n);
        for (size_t i = 0; i < n; i++)
            d[i] = fabs(a[i] - b[i] - common);
        double p50 = median(d, n), p95 = d[n * 95 / 100];
        ck_assert_msg(p50 <= cases[c].most_p50 && p95 <= cases[c].most_p95, "%s: %.1f, %.1f cycles",
                      cases[c].name, p50, p95);
        free(a);
        free(b);
        free(d);
        wt_clocks_free(whole);
        wt_trace_free(trace);
    }
}
END_TEST

Suite *clocks_suite(void)
{
    Suite *suite = suite_create("clocks");
    TCase *tcase = tcase_create("clocks");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, wandering_clocks_are_aligned_to_a_few_cycles);
    tcase_add_test(tcase, one_wave_is_enough);
    tcase_add_test(tcase, coarse_steps_and_steps_without_a_driving_clock);
    tcase_add_test(tcase, a_cold_clock_is_found_out);
    tcase_add_test(tcase, a_short_trace_falls_back_on_the_stated_rate);
    tcase_add_test(tcase, domains_close_together);
    tcase_add_test(tcase, steps_are_found_in_stamps);
    tcase_add_test(tcase, a_driving_clock_makes_steps_late);
    tcase_add_test(tcase, the_gpcs_of_an_h200);
    tcase_add_test(tcase, clocks_and_times_of_different_blocks_are_refused);
    tcase_add_test(tcase, clock_and_timer_read_in_a_loop);
    tcase_add_test(tcase, half_the_sms_tell_the_same);
    suite_add_tcase(suite, tcase);
    return suite;
}
