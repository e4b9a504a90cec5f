/* What if a measured launch had another shape: do predictions hold what was then measured? Truths are captures. Not pinned:
 * grid orders and other GPUs, for which there is no capture here; the other sizes (make whatif-table). */
#include "suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "study/whatif.h"

#define FOLDER WT_SOURCE_ROOT "/traces/h200/whatif/"

static const struct wt_whatif_point as_measured = {.registers_per_thread = -1, .dynamic_shared_bytes = -1, .split = 1};

static struct wt_whatif *fit(const char *first, const char *second)
{
    struct wt_whatif *whatif;
    struct wt_error err = {0};
    char *traces[] = {wt_format(FOLDER "%s.csv.zst", first), second ? wt_format(FOLDER "%s.csv.zst", second) : NULL};
    enum wt_code code = wt_whatif_fit((const char *const *)traces, second ? 2 : 1, NULL, false, &whatif, &err);
    ck_assert_msg(code == WT_OK, "%s", err.text);
    free(traces[0]);
    free(traces[1]);
    return whatif;
}

static struct wt_whatif_result predict(const struct wt_whatif *whatif, struct wt_whatif_point point)
{
    struct wt_whatif_result result;
    struct wt_error err = {0};
    ck_assert_msg(wt_whatif_predict(whatif, &point, &result, &err) == WT_OK, "%s", err.text);
    ck_assert_double_le(result.low, result.makespan);
    ck_assert_double_ge(result.high, result.makespan);
    return result;
}

START_TEST(a_launch_as_measured_takes_what_was_measured)
{
    struct wt_whatif *whatif = fit("fma1_b256", NULL);
    struct wt_whatif_result result = predict(whatif, as_measured);
    ck_assert_double_eq_tol(result.speedup, 1, 1e-12);
    ck_assert_double_eq_tol(result.makespan, wt_whatif_measured(whatif).makespan, 1e-6);
    ck_assert_int_eq(result.occupancy.blocks_per_sm, 8);
    wt_whatif_free(whatif);
}
END_TEST

/* Measured: 1.000, 1.001, 1.008 of the makespan with 5, 4, 3 blocks on an SM, 1.875 with one (traces/h200/whatif/truth.csv). */
START_TEST(a_second_residency_tells_the_others)
{
    static const struct { int shared; double measured; double within; } cases[] = {
        {45000, 1.001, 0.02}, {56000, 1.001, 0.03}, {75000, 1.008, 0.03}, {200000, 1.875, 0.15}};
    struct wt_whatif *whatif = fit("fma1_b256", "fma1_ds113000");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wt_whatif_point point = as_measured;
        point.dynamic_shared_bytes = cases[i].shared;
        double ratio = 1 / predict(whatif, point).speedup;
        ck_assert_msg(fabs(ratio / cases[i].measured - 1) <= cases[i].within, "%d bytes: %g, not %g", cases[i].shared, ratio,
                      cases[i].measured);
    }
    wt_whatif_free(whatif);
}
END_TEST

static struct wt_whatif_result with_shared(const struct wt_whatif *whatif, int bytes)
{
    struct wt_whatif_point point = as_measured;
    point.dynamic_shared_bytes = bytes;
    return predict(whatif, point);
}

/* How the last blocks fare that have an SM to themselves tells it. Measured with one block per SM: 1.875, 3.245 and 2.104 times as
 * long (traces/h200/whatif/truth.csv). */
START_TEST(one_trace_tells_what_few_warps_would_do)
{
    static const struct { const char *kernel; double measured; } cases[] = {{"fma1_b256", 1.875}, {"diverge_b256", 3.245},
                                                                            {"bar_b256", 2.104}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wt_whatif *whatif = fit(cases[i].kernel, NULL);
        struct wt_whatif_result result = with_shared(whatif, 200000);
        ck_assert_msg(fabs(1 / result.speedup / cases[i].measured - 1) < 0.2, "%s: %g", cases[i].kernel, 1 / result.speedup);
        wt_whatif_free(whatif);
    }
}
END_TEST

/* Chains of loads from anywhere: all resident blocks end together and none is ever alone, so that the trace tells nothing of few
 * warps. Measured with one block per SM: 1.680 times as long. */
START_TEST(what_a_trace_does_not_tell_has_a_wide_range)
{
    struct wt_whatif *whatif = fit("chase_b256", NULL);
    struct wt_whatif_result result = with_shared(whatif, 200000);
    double measured = wt_whatif_measured(whatif).makespan;
    ck_assert_double_gt(result.high / result.low, 2);
    ck_assert_double_le(result.low, 1.68 * measured);
    ck_assert_double_ge(result.high, 1.68 * measured);
    ck_assert_ptr_nonnull(strstr(result.why, "not told"));
    wt_whatif_free(whatif);
}
END_TEST

/* Reads truth.csv: the makespan, ns, of a kernel at a size or residency; 0: not captured. */
static double truth(const char *kernel, int block, int shared)
{
    FILE *file = fopen(FOLDER "truth.csv", "r");
    char line[200], name[64];
    int threads, bytes;
    double span, found = 0;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%63[^,],%d,%d,%lf", name, &threads, &bytes, &span) == 4 && !strcmp(name, kernel) && threads == block &&
            bytes == shared)
            found = span;
    fclose(file);
    return found;
}

/* Kernels that are held up by an SM's pipes; blocks of 96 to 768 threads, most of which do not divide an SM. */
START_TEST(sizes_that_do_not_divide_an_sm_are_predicted)
{
    static const char *const kernels[] = {"fma1", "fma4", "r64", "r80", "r168"};
    static const int sizes[] = {96, 160, 192, 320, 384, 640, 768};
    double off = 0, unchanged = 0, worst = 0, count = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        char *trace = wt_format("%s_b256", kernels[k]);
        struct wt_whatif *whatif = fit(trace, NULL);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            double measured = truth(kernels[k], sizes[i], 0) / truth(kernels[k], 256, 0);
            struct wt_whatif_point point = as_measured;
            point.threads = sizes[i];
            if (measured <= 0)
                continue;
            double error = fabs(1 / predict(whatif, point).speedup / measured - 1);
            off += error;
            unchanged += fabs(1 / measured - 1);
            worst = fmax(worst, error);
            count++;
        }
        wt_whatif_free(whatif);
        free(trace);
    }
    ck_assert_msg(off / count < 0.007 && worst < 0.03, "%g off on average, %g at worst", off / count, worst);
    ck_assert_double_lt(off, unchanged / 2);
}
END_TEST

/* Warps that diverge end apart, and so do those of the captures mix_b64 to mix_b1024, which load and calculate: 0.976, 0.974, 1.020 and
 * 1.045 of mix_b256's makespan. The larger a block the longer its room waits for its last warps. */
START_TEST(large_blocks_wait_for_their_last_warps)
{
    static const struct { const char *trace; int size; double measured; } cases[] = {
        {"diverge_b256", 64, 0}, {"diverge_b256", 128, 0}, {"diverge_b256", 512, 0}, {"diverge_b256", 768, 0}, {"diverge_b256", 1024, 0},
        {"../mix_b256.r0", 64, 0.976}, {"../mix_b256.r0", 128, 0.974}, {"../mix_b256.r0", 512, 1.020}, {"../mix_b256.r0", 1024, 1.045}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wt_whatif *whatif = fit(cases[i].trace, NULL);
        struct wt_whatif_point point = as_measured;
        point.threads = cases[i].size;
        double measured = cases[i].measured > 0 ? cases[i].measured : truth("diverge", point.threads, 0) / truth("diverge", 256, 0);
        double error = fabs(1 / predict(whatif, point).speedup / measured - 1);
        ck_assert_msg(error < 0.016, "%s, %d threads: %g off", cases[i].trace, point.threads, error);
        wt_whatif_free(whatif);
    }
}
END_TEST

/* Additions to one word, and to words that lie apart: SMs did 25 to 41 of their 31 blocks, so that what all of them share is the limit.
 * Nothing that an SM has more or less of then matters: with 10 blocks for some and 11 for others, or one at a time, the makespan stays. */
START_TEST(what_all_sms_share_knows_no_waves)
{
    static const struct { const char *one, *two; int size, shared; double within; } cases[] = {
        {"atomic", NULL, 96, 0, 0.005}, {"atomic", NULL, 640, 0, 0.02}, {"atomic", NULL, 768, 0, 0.02},
        {"atomic_spread", "atomic_spread_ds113000", 256, 200000, 0.08}, {"atomic", "atomic_ds113000", 256, 200000, 0.08}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *trace = wt_format("%s_b256", cases[i].one);
        struct wt_whatif *whatif = fit(trace, cases[i].two);
        struct wt_whatif_point point = as_measured;
        point.threads = cases[i].size;
        point.dynamic_shared_bytes = cases[i].shared;
        double measured = truth(cases[i].one, cases[i].size, cases[i].shared) / truth(cases[i].one, 256, 0);
        double error = fabs(1 / predict(whatif, point).speedup / measured - 1);
        ck_assert(wt_whatif_measured(whatif).gpu_limits);
        ck_assert_msg(error < cases[i].within, "%s, %d threads, %d bytes: %g off", trace, cases[i].size, cases[i].shared, error);
        wt_whatif_free(whatif);
        free(trace);
    }
}
END_TEST

/* Ranges were chosen on other kernels. At least four of five must hold. */
START_TEST(ranges_hold_what_was_measured)
{
    static const char *const kernels[] = {"conflict1", "conflict32", "stream", "r80", "r168"};
    static const int sizes[] = {64, 96, 160, 320, 384, 512, 640, 768, 1024};
    int inside = 0, count = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        char *trace = wt_format("%s_b256", kernels[k]);
        struct wt_whatif *whatif = fit(trace, NULL);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            double measured = truth(kernels[k], sizes[i], 0) / truth(kernels[k], 256, 0) * wt_whatif_measured(whatif).makespan;
            struct wt_whatif_point point = as_measured;
            point.threads = sizes[i];
            if (measured <= 0)
                continue;
            struct wt_whatif_result result = predict(whatif, point);
            inside += result.low <= measured && measured <= result.high;
            count++;
        }
        wt_whatif_free(whatif);
        free(trace);
    }
    ck_assert_msg(inside >= 0.8 * count, "%d of %d", inside, count);
}
END_TEST

/* Measured at 16 warps per SM: another residency follows for a kernel that waits for loads, 24 and 32 warps. */
START_TEST(residencies_of_kernels_that_wait_for_memory_are_predicted)
{
    static const struct { const char *kernel; int shared; } cases[] = {{"reduce", 70904}, {"reduce", 51904}, {"reduce", 195904},
                                                                       {"mix", 75000}, {"stream", 75000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *one = wt_format("%s_b256", cases[i].kernel), *two = wt_format("%s_ds113000", cases[i].kernel);
        struct wt_whatif *whatif = fit(one, two);
        double measured = truth(cases[i].kernel, 256, cases[i].shared) / truth(cases[i].kernel, 256, 0);
        ck_assert_double_gt(measured, 0);
        double ratio = 1 / with_shared(whatif, cases[i].shared).speedup;
        ck_assert_msg(fabs(ratio / measured - 1) < 0.06, "%s %d: %g, not %g", cases[i].kernel, cases[i].shared, ratio, measured);
        wt_whatif_free(whatif);
        free(one);
        free(two);
    }
}
END_TEST

/* A barrier after each FMA: blocks of 64 threads were 28 % slower in another capture of such a kernel. */
START_TEST(what_barriers_cost_in_small_blocks_is_not_told)
{
    struct wt_whatif *whatif = fit("bar_b256", NULL);
    struct wt_whatif_point point = as_measured;
    point.threads = 64;
    struct wt_whatif_result result = predict(whatif, point);
    ck_assert_double_ge(result.high, 1.28 * wt_whatif_measured(whatif).makespan);
    ck_assert_ptr_nonnull(strstr(result.why, "wait for each other"));
    wt_whatif_free(whatif);
}
END_TEST

/* With fixed durations, as much work again for a register that is cut makes blocks twice as long; loads that are all of
 * the work double where a tile's side is halved. */
START_TEST(spills_and_tiles_change_the_work)
{
    struct wt_whatif *whatif;
    struct wt_error err = {0};
    struct wt_whatif_point point = as_measured;
    const char *trace = FOLDER "r64_b256.csv.zst";
    ck_assert_int_eq(wt_whatif_fit(&trace, 1, NULL, true, &whatif, &err), WT_OK);
    int registers = wt_whatif_measured(whatif).needs.registers_per_thread;
    point.registers_per_thread = registers - 1; /* the same after rounding */
    double plain = predict(whatif, point).makespan;
    point.spill_cost = 1;
    ck_assert_double_eq_tol(predict(whatif, point).makespan / plain, 2, 0.02);
    point = as_measured;
    point.threads = 64;
    plain = predict(whatif, point).makespan;
    point.shared_loads = 1;
    ck_assert_double_eq_tol(predict(whatif, point).makespan / plain, 2, 0.02);
    wt_whatif_free(whatif);
}
END_TEST

/* Empty blocks state no work. Handing them out takes all the time: 8,000 of 128 threads took 7,755 cycles (empty_b128). */
START_TEST(an_empty_kernel_takes_as_long_as_its_blocks_are_handed_out)
{
    struct wt_whatif *whatif = fit("../empty_b256.r0", NULL);
    struct wt_whatif_point point = as_measured;
    point.threads = 128;
    ck_assert_double_eq_tol(predict(whatif, point).makespan, 2 * 7755, 0.25 * 2 * 7755);
    wt_whatif_free(whatif);
}
END_TEST

/* As many blocks as fit do as much work without handing blocks out anew; what that saves is less than a launch's part. */
START_TEST(a_persistent_grid_does_the_same_work)
{
    struct wt_whatif *whatif = fit("fma1_b256", NULL);
    struct wt_whatif_point point = as_measured;
    point.persistent = true;
    ck_assert_double_eq_tol(predict(whatif, point).speedup, 1, 0.02);
    wt_whatif_free(whatif);
}
END_TEST

/* 384 threads of 136 registers do not fit 65,536 of them twice, and 1,024 not once. */
START_TEST(a_block_that_cannot_be_launched_is_refused)
{
    struct wt_whatif *whatif = fit("fma1_b256", NULL);
    struct wt_whatif_point point = as_measured;
    struct wt_whatif_result result;
    struct wt_error err = {0};
    point.threads = 1024;
    point.registers_per_thread = 136;
    ck_assert_int_eq(wt_whatif_predict(whatif, &point, &result, &err), WT_BAD_INPUT);
    ck_assert_int_ne(err.text[0], 0);
    wt_whatif_free(whatif);
}
END_TEST

/* Splitting and merging give every thread the same work: with one warp per SM at full speed for all, a split grid's blocks are
 * half as long. */
/* The example's longest block lasts 481,088 cycles, and all of them 3,907 x 108,660, which is 402,000 for each of 1,056 places: the
 * longest first, the longest one decides. Its stay is at most 1 % longer than its clock reads. */
START_TEST(fixed_durations_put_in_order_take_as_long_as_the_longest)
{
    const char *trace = WT_SOURCE_ROOT "/traces/h200/example_saxpy.csv.zst";
    struct wt_whatif *whatif;
    struct wt_whatif_point point = as_measured;
    ck_assert_int_eq(wt_whatif_fit(&trace, 1, NULL, true, &whatif, NULL), WT_OK);
    point.order = WT_ORDER_LONGEST_FIRST;
    double makespan = predict(whatif, point).makespan;
    ck_assert_msg(makespan >= 481088 && makespan <= 481088 * 1.01, "%g", makespan);
    wt_whatif_free(whatif);
}
END_TEST

START_TEST(a_split_grid_has_as_much_work)
{
    struct wt_whatif *whatif = fit("fma1_b256", NULL);
    struct wt_whatif_point point = as_measured;
    point.split = 2;
    struct wt_whatif_result result = predict(whatif, point);
    ck_assert_double_eq_tol(result.waves, 2 * predict(whatif, as_measured).waves, 1e-9);
    ck_assert_double_gt(result.speedup, 0.9);
    ck_assert_double_lt(result.speedup, 1.2);
    wt_whatif_free(whatif);
}
END_TEST

Suite *whatif_suite(void)
{
    Suite *suite = suite_create("whatif");
    TCase *captures = tcase_create("captures");
    tcase_set_timeout(captures, 60);
    tcase_add_test(captures, a_launch_as_measured_takes_what_was_measured);
    tcase_add_test(captures, a_second_residency_tells_the_others);
    tcase_add_test(captures, one_trace_tells_what_few_warps_would_do);
    tcase_add_test(captures, what_a_trace_does_not_tell_has_a_wide_range);
    tcase_add_test(captures, sizes_that_do_not_divide_an_sm_are_predicted);
    tcase_add_test(captures, large_blocks_wait_for_their_last_warps);
    tcase_add_test(captures, what_all_sms_share_knows_no_waves);
    tcase_add_test(captures, ranges_hold_what_was_measured);
    tcase_add_test(captures, residencies_of_kernels_that_wait_for_memory_are_predicted);
    tcase_add_test(captures, what_barriers_cost_in_small_blocks_is_not_told);
    tcase_add_test(captures, spills_and_tiles_change_the_work);
    tcase_add_test(captures, an_empty_kernel_takes_as_long_as_its_blocks_are_handed_out);
    tcase_add_test(captures, a_persistent_grid_does_the_same_work);
    tcase_add_test(captures, a_block_that_cannot_be_launched_is_refused);
    tcase_add_test(captures, fixed_durations_put_in_order_take_as_long_as_the_longest);
    tcase_add_test(captures, a_split_grid_has_as_much_work);
    suite_add_tcase(suite, captures);
    return suite;
}
