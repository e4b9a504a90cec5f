/* Do the SM's rules hold on the hardware? Traces of an H200 are replayed on model SMs (sm_replay.h); a rule
 * that is wrong either refuses what the hardware admitted or lets in what it left waiting. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "sm/occupancy.h"
#include "sm_replay.h"
#include "suites.h"

static struct wt_gpu *h200;

static void load_gpu(void)
{
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load("h200", &h200, &err) == WT_OK, "%s", err.text);
}

static void free_gpu(void)
{
    wt_gpu_free(h200);
}

static struct wt_trace *read_trace(const char *name)
{
    char *path = wt_format("%s/traces/h200/%s.r0.csv.zst", WT_SOURCE_ROOT, name);
    struct wt_error err = {0};
    struct wt_trace *trace;
    ck_assert_msg(wt_trace_read(path, &trace, &err) == WT_OK, "%s", err.text);
    free(path);
    return trace;
}

static struct sm_replay replay(const char *name, const struct wt_limits *limits, int first_carveout_kb)
{
    struct sm_replay result = {.limits = limits, .first_carveout_kb = first_carveout_kb};
    struct wt_trace *trace = read_trace(name);
    sm_replay_trace(&result, trace);
    ck_assert_uint_eq(result.starts + result.refused > 0, 1);
    if (!result.refused)
        ck_assert_int_eq(result.starts, (long)trace->row_count);
    wt_trace_free(trace);
    return result;
}

/* Each row: a trace, and at least how often an SM in it was seen to leave a block waiting. */
static const struct {
    const char *name;
    long waits;
} experiments[] = {
    /* four register files, not contiguous */
    {"mechanisms/fragreg64_A", 0},
    {"mechanisms/fragreg128_A", 60},
    {"mechanisms/fragreg128r_A", 0},
    {"mechanisms/fragreg256_A", 50},
    {"mechanisms/regpat_ls_A", 100},
    {"mechanisms/regpat_half_A", 100},
    {"mechanisms/regpat_halfr_A", 100},
    {"mechanisms/regpat_pair_A", 100},
    {"mechanisms/regpat_mid2_A", 100},
    {"mechanisms/regpat_ends_A", 100},
    {"mechanisms/regpat8_ls_A", 100},
    {"mechanisms/regpat8_half_A", 100},
    {"mechanisms/regpat2_a_A", 100},
    {"mechanisms/regpat2_b_A", 100},
    {"mechanisms/regpat2_c_A", 100},
    /* the sub-core pointer */
    {"mechanisms/subcore1_A", 100},
    {"mechanisms/subcore1b_A", 100},
    {"mechanisms/subcore1c_A", 100},
    {"mechanisms/odd3_A", 100},
    {"mechanisms/odd6_A", 100},
    {"mechanisms/wslot_ls_A", 1},
    {"mechanisms/wslot_half_A", 1},
    {"empty_b32", 0},
    {"spin_odd_b33", 0},
    {"spin_odd_b96", 0},
    {"spin_odd_b160", 0},
    {"spin_odd_b224", 0},
    {"spin_odd_b352", 0},
    /* circular first fit */
    {"mechanisms/fragsmem20_A", 0},
    {"mechanisms/fragsmem60_A", 100},
    {"mechanisms/fragsmem100_A", 0},
    {"mechanisms/fragsmem_seq60_A", 100},
    {"mechanisms/smfit_bf_A", 100},
    {"mechanisms/smfit_ff_A", 100},
    {"mechanisms/smring_first4_A", 100},
    {"mechanisms/smring_last4_A", 100},
    {"mechanisms/smring_split_A", 100},
    {"mechanisms/smring_gap_A", 100},
    {"mechanisms/smnf_low3_A", 100},
    {"mechanisms/smnext_low2_A", 100},
    {"mechanisms/smnext_low3_A", 100},
    {"mechanisms/smpat_bot_A", 50},
    {"mechanisms/smpat_top_A", 50},
    {"mechanisms/smpat_ff_A", 50},
    {"mechanisms/smrefill_A", 100},
    {"mechanisms/smreset_first4_A", 100},
    {"mechanisms/smrot_A", 100},
    /* the configuration; 132 = the second kernel waited on every SM */
    {"mechanisms/carve_0", 132},
    {"mechanisms/carve2_A", 132},
    {"mechanisms/carve3_A", 132},
    {"mechanisms/carvehold_small_A", 132},
    {"mechanisms/hol_A", 132},
    {"mechanisms/place1_A", 0},
    {"mechanisms/place2_A", 0},
};

enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

START_TEST(the_model_admits_and_refuses_as_the_hardware)
{
    struct sm_replay result = replay(experiments[_i].name, &h200->limits, WT_CARVEOUT_DEFAULT);
    ck_assert_msg(result.refused + result.wrong_subcore + result.early == 0,
                  "%s: %ld refused, %ld in another sub-core, %ld left waiting that fit; first: %s",
                  experiments[_i].name, result.refused, result.wrong_subcore, result.early,
                  result.first_problem);
    ck_assert_msg(result.waits >= experiments[_i].waits, "%s: only %ld waits were seen", experiments[_i].name,
                  result.waits);
    ck_assert_int_le(result.lagging, 3); /* SMs whose history needs an admission some cycles after an end */
}
END_TEST

/* With the largest configuration preferred for the first kernel (which the trace does not state) the second
 * one starts at once; with the driver's choice it would have to wait. */
START_TEST(a_preferred_configuration_lets_the_next_kernel_in)
{
    struct sm_replay result = replay("mechanisms/carvehold_max_A", &h200->limits, 228);
    ck_assert_int_eq(result.refused + result.early, 0);
    result = replay("mechanisms/carvehold_max_A", &h200->limits, WT_CARVEOUT_DEFAULT);
    ck_assert_int_eq(result.refused, 132);
}
END_TEST

/* The replay can fail: with the wrong rules it does. */
START_TEST(wrong_rules_do_not_explain_the_traces)
{
    struct wt_limits pooled = h200->limits;
    pooled.subcores = 1;
    ck_assert_int_gt(replay("mechanisms/subcore1c_A", &pooled, WT_CARVEOUT_DEFAULT).early, 50);
    ck_assert_int_gt(replay("mechanisms/odd3_A", &pooled, WT_CARVEOUT_DEFAULT).early, 10);
    struct wt_limits reserving = h200->limits;
    reserving.shared_reserved_bytes = 2048;
    ck_assert_int_gt(replay("mechanisms/smring_gap_A", &reserving, WT_CARVEOUT_DEFAULT).refused, 100);
}
END_TEST

static int threads_of(const struct wt_trace *trace, int launch)
{
    return trace->launches[launch].block[0];
}

/* SMs that hold a block of the first kernel, and how many of these took a block of the second while it ran.
 */
static void count_shared_sms(const struct wt_trace *trace, int *held, int *shared)
{
    *held = *shared = 0;
    for (size_t i = 0; i < trace->row_count; i++) {
        const struct wt_trace_row *a = &trace->rows[i];
        bool both = false;
        for (size_t j = 0; a->launch == 0 && j < trace->row_count; j++) {
            const struct wt_trace_row *b = &trace->rows[j];
            both |= b->launch == 1 && b->sm == a->sm && b->clock_start < a->clock_end;
        }
        *held += a->launch == 0;
        *shared += both;
    }
}

/* place1 and place2: 66 SMs hold one block; a second kernel of 256-thread blocks follows. After 256-thread
 * blocks it uses these SMs like the others; after 1024-thread blocks, whose configuration is smaller (8 KB,
 * not 32), none, though half of each such SM is free. */
START_TEST(a_kernel_keeps_off_sms_of_a_smaller_configuration)
{
    static const char *const names[] = {"mechanisms/place1_A", "mechanisms/place2_A"};
    static const int first_threads[] = {256, 1024};
    for (int i = 0; i < 2; i++) {
        struct wt_trace *trace = read_trace(names[i]);
        int held, shared;
        count_shared_sms(trace, &held, &shared);
        ck_assert_int_eq(held, 66);
        ck_assert_int_eq(threads_of(trace, 0), first_threads[i]);
        struct wt_launch_needs needs = {.threads = first_threads[i],
                                        .registers_per_thread = 18,
                                        .barriers = 1,
                                        .carveout_kb = WT_CARVEOUT_DEFAULT};
        struct wt_shape first, second;
        struct wt_refusal refusal = {0};
        wt_shape_make(&h200->limits, &needs, &first, NULL);
        needs.threads = threads_of(trace, 1);
        wt_shape_make(&h200->limits, &needs, &second, NULL);
        struct wt_sm *sm = wt_sm_new(&h200->limits);
        wt_sm_admit(sm, &first);
        ck_assert_int_eq(wt_sm_refusal(sm, &second, &refusal), shared == 0);
        ck_assert_int_eq(shared, i == 0 ? 66 : 0);
        if (shared == 0)
            ck_assert_int_eq(refusal.shortage, WT_SHORT_CARVEOUT);
        wt_sm_free(sm);
        wt_trace_free(trace);
    }
}
END_TEST

/* launch__shared_mem_config_size, KB, of kernels on the H200 (18 to 30 registers: not a limit). */
START_TEST(the_driver_chooses_the_configuration_nsight_compute_reports)
{
    static const struct {
        int threads, registers, static_bytes, dynamic_bytes, expected_kb;
    } rows[] = {{64, 18, 0, 0, 32},       {128, 18, 0, 0, 32},      {256, 18, 0, 0, 32},
                {512, 18, 0, 0, 16},      {1024, 18, 0, 0, 8},      {64, 30, 0, 0, 32},
                {128, 30, 0, 0, 32},      {256, 30, 0, 0, 32},      {512, 30, 0, 0, 16},
                {1024, 30, 0, 0, 8},      {64, 23, 4096, 0, 164},   {128, 23, 4096, 0, 132},
                {256, 23, 4096, 0, 100},  {512, 23, 4096, 0, 64},   {1024, 23, 4096, 0, 16},
                {128, 18, 0, 28000, 228}, {128, 18, 0, 56000, 228}, {128, 18, 0, 113000, 228}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wt_launch_needs needs = {.threads = rows[i].threads,
                                        .registers_per_thread = rows[i].registers,
                                        .static_shared_bytes = rows[i].static_bytes,
                                        .barriers = 1,
                                        .dynamic_shared_bytes = rows[i].dynamic_bytes,
                                        .carveout_kb = WT_CARVEOUT_DEFAULT};
        ck_assert_int_eq(wt_launch_configuration_kb(&h200->limits, &needs), rows[i].expected_kb);
    }
}
END_TEST

Suite *sm_measured_suite(void)
{
    Suite *suite = suite_create("sm_measured");
    TCase *tcase = tcase_create("traces");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, load_gpu, free_gpu);
    tcase_add_loop_test(tcase, the_model_admits_and_refuses_as_the_hardware, 0, EXPERIMENTS);
    tcase_add_test(tcase, a_preferred_configuration_lets_the_next_kernel_in);
    tcase_add_test(tcase, wrong_rules_do_not_explain_the_traces);
    tcase_add_test(tcase, a_kernel_keeps_off_sms_of_a_smaller_configuration);
    tcase_add_test(tcase, the_driver_chooses_the_configuration_nsight_compute_reports);
    suite_add_tcase(suite, tcase);
    return suite;
}
