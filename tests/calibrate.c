/* Are a GPU's rates found again in traces that were made with them? */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/random.h"
#include "dispatch/simulate.h"
#include "fit/calibrate.h"
#include "suites.h"

enum { STEP_NS = 32, MOST_KERNELS = 3, TPCS = 66 };

static const double GHZ = 1.98;

/* ---- A GPU with other rates than an H200's ---- */

static double launch_offsets[TPCS], report_offsets[TPCS];

/* Two groups out of nine lie further away; the way back differs from TPC to TPC. */
static struct wt_gpu with_other_rates(const struct wt_gpu *h200)
{
    struct wt_gpu gpu = *h200;
    const struct wt_topology *t = &h200->topology;
    for (int sm = 0; sm < t->sm_count; sm++) {
        launch_offsets[t->tpc_of_sm[sm]] = t->group_of_sm[sm] == 2 ? 20 : t->group_of_sm[sm] == 5 ? 44 : 0;
        report_offsets[t->tpc_of_sm[sm]] = t->tpc_of_sm[sm] * 7 % 40;
    }
    gpu.rates.visit_cycles = 2;
    gpu.rates.release_cycles = 420;
    gpu.rates.report_cycles = 1.55;
    gpu.rates.drain_cycles = 140;
    gpu.rates.kernel_gap_cycles = 5200;
    gpu.rates.launch_cycles = (struct wt_curve){4, {1, 4, 8, 32}, {30, 36, 44, 120}};
    gpu.rates.tpc_lag_cycles = (struct wt_curve){4, {1, 4, 8, 32}, {9, 13, 19, 55}};
    gpu.rates.launch_offset_cycles = (struct wt_numbers){launch_offsets, TPCS};
    gpu.rates.report_offset_cycles = (struct wt_numbers){report_offsets, TPCS};
    return gpu;
}

/* ---- Traces of it ---- */

/* Kernels one after another, of blocks that last `shortest` to `longest` cycles. */
struct made {
    const char *name;
    int kernels, blocks, threads;
    double shortest, longest;
    int first_group;
};

static const struct made suite[] = {
    {"empty_b32", 1, 13000, 32, 60, 60, 0},         {"empty_b128", 1, 8000, 128, 60, 60, 3},
    {"empty_b256", 1, 8000, 256, 60, 60, 6},        {"empty_b1024", 1, 8000, 1024, 60, 60, 1},
    {"empty_g132", 1, 132, 128, 60, 60, 4},         {"empty_g264", 1, 264, 128, 60, 60, 7},
    {"long_b512", 1, 4000, 512, 20000, 90000, 2},   {"long_b1024", 1, 3000, 1024, 20000, 90000, 5},
    {"queued", 3, 528, 512, 3000, 3000, 0},
};

enum { MADE = sizeof suite / sizeof *suite };

struct recording {
    struct wt_trace *trace;
    const struct wt_topology *topology;
};

static double any_length(const struct made *made, uint64_t block)
{
    struct wt_random random = wt_random_stream(7, made->name, block);
    return floor(made->shortest + (made->longest - made->shortest) * wt_random_unit(&random));
}

static wt_time duration(void *context, uint64_t block)
{
    return wt_from_cycles(any_length(context, block));
}

/* GPCs' clocks are millions of cycles apart; globaltimer advances in steps. */
static void record(void *context, const struct wt_block_run *run)
{
    struct recording *recording = context;
    struct wt_trace *trace = recording->trace;
    double start = wt_to_cycles(run->start) + 5000, end = wt_to_cycles(run->end) + 5000;
    int64_t offset = 1000003 * (int64_t)recording->topology->gpc_of_sm[run->sm];
    size_t row = run->launch * (size_t)trace->launches[0].grid[0] + run->block;
    trace->rows[row] = (struct wt_trace_row){
        .block = run->block, .launch = run->launch, .sm = run->sm, .warp_slot = -1,
        .clock_start = offset + (int64_t)floor(start), .clock_end = offset + (int64_t)floor(end),
        .time_start_ns = (int64_t)floor(start / GHZ / STEP_NS) * STEP_NS,
        .time_end_ns = (int64_t)floor(end / GHZ / STEP_NS) * STEP_NS};
}

static struct wt_trace *empty_trace(const struct made *made)
{
    struct wt_trace *trace = wt_alloc(1, sizeof *trace);
    *trace = (struct wt_trace){.path = wt_strdup(made->name), .device = wt_strdup("NVIDIA H200"), .cc_major = 9,
                               .sm_count = 132, .clock_khz = 1980000, .globaltimer_step_ns = STEP_NS,
                               .has_clocks = true, .has_times = true, .launch_count = (size_t)made->kernels,
                               .row_count = (size_t)made->kernels * (size_t)made->blocks};
    trace->rows = wt_alloc(trace->row_count, sizeof *trace->rows);
    trace->launches = wt_alloc(trace->launch_count, sizeof *trace->launches);
    for (int k = 0; k < made->kernels; k++)
        trace->launches[k] = (struct wt_trace_launch){
            .number = k, .name = wt_strdup("k"), .kernel = wt_strdup("k"), .work = wt_strdup(""),
            .grid = {made->blocks, 1, 1}, .block = {made->threads, 1, 1}, .cluster = {1, 1, 1},
            .registers_per_thread = 16, .carveout_kb = -1, .row_count = (size_t)made->blocks};
    return trace;
}

static void simulate(const struct made *made, const struct wt_gpu *gpu, struct recording *recording)
{
    struct wt_launch_needs needs = {.threads = made->threads, .registers_per_thread = 16,
                                    .carveout_kb = WT_CARVEOUT_DEFAULT};
    struct wt_kernel kernels[MOST_KERNELS];
    struct wt_error err = {0};
    for (int k = 0; k < made->kernels; k++) {
        kernels[k] = (struct wt_kernel){.name = "k", .grid_blocks = (uint64_t)made->blocks,
                                        .cost = {duration, (void *)made}};
        ck_assert_int_eq(wt_shape_make(&gpu->limits, &needs, &kernels[k].shape, &err), WT_OK);
    }
    struct wt_observer observer = {.context = recording, .block_done = record};
    struct wt_simulation simulation = {.gpu = gpu, .kernels = kernels, .kernel_count = (size_t)made->kernels, .seed = 1,
                                       .first_group = made->first_group, .first_extra_sm = -1,
                                       .observers = &observer, .observer_count = 1};
    ck_assert_msg(wt_simulate(&simulation, &err) == WT_OK, "%s", err.text);
}

static void make_trace(const struct made *made, const struct wt_gpu *gpu, const char *path)
{
    struct recording recording = {empty_trace(made), &gpu->topology};
    struct wt_error err = {0};
    simulate(made, gpu, &recording);
    ck_assert_msg(wt_trace_write(path, recording.trace, &err) == WT_OK, "%s", err.text);
    wt_trace_free(recording.trace);
}

struct set {
    char folder[32];
    char *paths[MADE];
    size_t count;
};

static struct set make_set(const struct wt_gpu *gpu, size_t from, size_t to)
{
    struct set set = {.folder = "/tmp/wavetail-test-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(set.folder));
    for (size_t i = from; i < to; i++) {
        set.paths[set.count] = wt_format("%s/%s.csv", set.folder, suite[i].name);
        make_trace(&suite[i], gpu, set.paths[set.count++]);
    }
    return set;
}

static void remove_set(struct set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        unlink(set->paths[i]);
        free(set->paths[i]);
    }
    rmdir(set->folder);
}

static struct wt_calibration *calibrated(const char *const *paths, size_t count, const char *base)
{
    struct wt_calibration *calibration;
    struct wt_error err = {0};
    ck_assert_msg(wt_calibrate(paths, count, base, &calibration, &err) == WT_OK, "%s", err.text);
    return calibration;
}

static char *config_of(const struct wt_calibration *calibration)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    wt_calibration_print(calibration, stream);
    fclose(stream);
    return text;
}

static struct wt_gpu *h200(void)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load("h200", &gpu, &err) == WT_OK, "%s", err.text);
    return gpu;
}

static struct wt_gpu *parsed(const char *config)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_parse(config, strlen(config), "/tmp/calibrated.cfg", &gpu, &err) == WT_OK, "%s", err.text);
    return gpu;
}

static const char *const all_keys[] = {"rates.launch_cycles", "rates.tpc_lag_cycles", "rates.visit_cycles",
                                       "rates.launch_offset_cycles", "rates.release_cycles",
                                       "rates.report_offset_cycles", "rates.report_cycles", "rates.drain_cycles",
                                       "rates.kernel_gap_cycles"};

enum { KEYS = sizeof all_keys / sizeof *all_keys };

/* ---- Tests ---- */

static void assert_same_arrangement(const struct wt_topology *found, const struct wt_topology *known)
{
    ck_assert_int_eq(found->sm_count, known->sm_count);
    ck_assert_int_eq(found->group_count, known->group_count);
    ck_assert_int_eq(found->extra_group, known->extra_group);
    ck_assert_int_eq(found->gpc_count, known->gpc_count);
    for (int sm = 0; sm < known->sm_count; sm++) {
        ck_assert_int_eq(found->group_of_sm[sm], known->group_of_sm[sm]);
        ck_assert_int_eq(found->rank_in_group[sm], known->rank_in_group[sm]);
        ck_assert_int_eq(found->gpc_of_sm[sm], known->gpc_of_sm[sm]);
        ck_assert_int_eq(found->tpc_of_sm[sm], known->tpc_of_sm[sm]);
    }
}

/* Clocks count whole cycles, and clock domains can be aligned to a few. */
static void assert_near_rates(const struct wt_rates *found, const struct wt_rates *known)
{
    static const int warps[] = {1, 4, 8, 32};
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(wt_curve_at(&found->launch_cycles, warps[i]),
                                wt_curve_at(&known->launch_cycles, warps[i]), 0.6);
        ck_assert_double_eq_tol(wt_curve_at(&found->tpc_lag_cycles, warps[i]),
                                wt_curve_at(&known->tpc_lag_cycles, warps[i]), 0.6);
    }
    ck_assert_double_eq_tol(found->visit_cycles, known->visit_cycles, 0.4);
    for (int tpc = 0; tpc < TPCS; tpc++) {
        ck_assert_double_eq_tol(found->launch_offset_cycles.values[tpc], launch_offsets[tpc], 7);
        double there_and_back = found->launch_offset_cycles.values[tpc] + found->report_offset_cycles.values[tpc];
        ck_assert_double_eq_tol(found->release_cycles + there_and_back,
                                known->release_cycles + launch_offsets[tpc] + report_offsets[tpc], 3);
    }
    ck_assert_double_eq_tol(found->release_cycles, known->release_cycles, 8);
    ck_assert_double_eq_tol(found->report_cycles, known->report_cycles, 0.015);
    ck_assert_double_eq_tol(found->drain_cycles, known->drain_cycles, 8);
    ck_assert_double_eq_tol(found->kernel_gap_cycles, known->kernel_gap_cycles, 20);
}

START_TEST(known_rates_are_found_again)
{
    struct wt_gpu *base = h200(), known = with_other_rates(base);
    struct set set = make_set(&known, 0, MADE);
    struct wt_calibration *calibration = calibrated((const char *const *)set.paths, set.count, "_h200-base");
    char *config = config_of(calibration);
    struct wt_gpu *found = parsed(config);
    for (size_t i = 0; i < KEYS; i++) {
        const char *source = wt_gpu_source(found, all_keys[i]);
        ck_assert_msg(source && !strncmp(source, "measured: ", 10), "%s: %s", all_keys[i], source);
        ck_assert_ptr_nonnull(wt_record_origin(wt_gpu_record(found), all_keys[i])->error);
    }
    assert_same_arrangement(&found->topology, &known.topology);
    assert_near_rates(&found->rates, &known.rates);
    ck_assert_double_eq_tol(found->clock_mhz, 1980, 1);
    ck_assert_int_eq(found->rates.extra_first_gap, known.rates.extra_first_gap);
    ck_assert_int_eq(found->rates.extra_gap, known.rates.extra_gap);
    wt_gpu_free(found);
    free(config);
    wt_calibration_free(calibration);
    remove_set(&set);
    wt_gpu_free(base);
}
END_TEST

/* One trace of long blocks: the arrangement, the groups' distance and the releases are told; nothing about blocks of
 * other sizes, the pace of visits, ports or gaps. */
START_TEST(a_small_set_keeps_the_rest_and_says_so)
{
    static const bool told[KEYS] = {[3] = true, [4] = true, [5] = true};
    struct wt_gpu *base = h200(), known = with_other_rates(base);
    struct set set = make_set(&known, 6, 7);
    struct wt_calibration *calibration = calibrated((const char *const *)set.paths, set.count, "h200");
    char *config = config_of(calibration);
    struct wt_gpu *found = parsed(config);
    for (size_t i = 0; i < KEYS; i++) {
        char *remark = wt_format("# %s is the base's", all_keys[i]);
        ck_assert_msg(!strstr(config, remark) == told[i], "%s", all_keys[i]);
        free(remark);
        if (!told[i])
            ck_assert_str_eq(wt_gpu_source(found, all_keys[i]), wt_gpu_source(base, all_keys[i]));
        else
            ck_assert_ptr_nonnull(strstr(wt_gpu_source(found, all_keys[i]), "long_b512"));
    }
    ck_assert_double_eq(found->rates.visit_cycles, base->rates.visit_cycles);
    ck_assert_double_eq(found->rates.report_cycles, base->rates.report_cycles);
    wt_gpu_free(found);
    free(config);
    wt_calibration_free(calibration);
    remove_set(&set);
    wt_gpu_free(base);
}
END_TEST

/* With one beginning of the rotation, pace and distance of groups cannot be told apart. */
START_TEST(one_rotation_does_not_tell_the_pace)
{
    struct wt_gpu *base = h200(), known = with_other_rates(base);
    struct set set = make_set(&known, 1, 2);
    const char *paths[] = {set.paths[0], set.paths[0], set.paths[0], set.paths[0]};
    struct wt_calibration *calibration = calibrated(paths, 4, "h200");
    char *config = config_of(calibration);
    ck_assert_ptr_nonnull(strstr(config, "# rates.visit_cycles is the base's"));
    ck_assert_ptr_null(strstr(config, "# rates.launch_offset_cycles is the base's"));
    free(config);
    wt_calibration_free(calibration);
    remove_set(&set);
    wt_gpu_free(base);
}
END_TEST

static char *shipped(const char *name)
{
    return wt_format("%s/traces/h200/%s.csv.zst", WT_SOURCE_ROOT, name);
}

static char *config_from(const char *const *names, size_t count, int threads)
{
    const char *paths[8];
    int before = omp_get_max_threads();
    for (size_t i = 0; i < count; i++)
        paths[i] = shipped(names[i]);
    omp_set_num_threads(threads);
    struct wt_calibration *calibration = calibrated(paths, count, "_h200-base");
    omp_set_num_threads(before);
    char *config = config_of(calibration);
    wt_calibration_free(calibration);
    for (size_t i = 0; i < count; i++)
        free((char *)paths[i]);
    return config;
}

START_TEST(the_same_bytes_in_any_order_on_any_number_of_threads)
{
    static const char *const names[] = {"empty_b1024.r0", "empty_b128.r0", "empty_g264.r0", "empty_g264.r1",
                                        "spin_uni_b1024_ds0.r0"};
    static const char *const backwards[] = {"spin_uni_b1024_ds0.r0", "empty_g264.r1", "empty_g264.r0",
                                            "empty_b128.r0", "empty_b1024.r0"};
    char *once = config_from(names, 5, 1), *again = config_from(backwards, 5, 4);
    ck_assert_str_eq(once, again);
    ck_assert_ptr_nonnull(strstr(once, "empty_g264.r0/r1"));
    free(once);
    free(again);
}
END_TEST

START_TEST(what_tells_nothing_is_refused)
{
    static const struct {
        const char *name, *why;
    } cases[] = {{"conc_A.r0", "has concurrent launches"},
                 {"cluster8_ds100k.r0", "has thread block clusters"},
                 {"coop_ok.r0", "has cooperative launches"},
                 {"persist_g264.r0", "has persistent launches"},
                 {"no_such_trace", "no_such_trace"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *good = shipped("empty_g264.r0"), *bad = shipped(cases[i].name);
        const char *const paths[] = {good, bad};
        struct wt_calibration *calibration;
        struct wt_error err = {0};
        ck_assert_int_eq(wt_calibrate(paths, 2, NULL, &calibration, &err), WT_BAD_INPUT);
        ck_assert_ptr_null(calibration);
        ck_assert_msg(strstr(err.text, cases[i].why) && strstr(err.text, bad), "%s", err.text);
        free(good);
        free(bad);
    }
}
END_TEST

/* Of one repetition, as far as clocks allow: all say the same groups, one says other clock domains. */
START_TEST(the_majority_arranges_the_sms)
{
    struct wt_gpu *base = h200(), known = with_other_rates(base), other = known;
    uint16_t gpc_of_sm[WT_MAX_SMS];
    memcpy(gpc_of_sm, known.topology.gpc_of_sm, 132 * sizeof *gpc_of_sm);
    gpc_of_sm[130] = gpc_of_sm[131] = 3;
    other.topology.gpc_of_sm = gpc_of_sm;
    struct set set = make_set(&known, 1, 3), dissent = make_set(&other, 3, 4);
    const char *const paths[] = {dissent.paths[0], set.paths[0], set.paths[1]};
    struct wt_calibration *calibration = calibrated(paths, 3, "_h200-base");
    char *config = config_of(calibration);
    struct wt_gpu *found = parsed(config);
    assert_same_arrangement(&found->topology, &known.topology);
    ck_assert_ptr_nonnull(strstr(config, "# Not all traces agree on the clock domains; otherwise: empty_b1024."));
    wt_gpu_free(found);
    free(config);
    wt_calibration_free(calibration);
    remove_set(&set);
    remove_set(&dissent);
    wt_gpu_free(base);
}
END_TEST

Suite *calibrate_suite(void)
{
    Suite *suite_ = suite_create("calibrate");
    TCase *tcase = tcase_create("calibrate");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, known_rates_are_found_again);
    tcase_add_test(tcase, a_small_set_keeps_the_rest_and_says_so);
    tcase_add_test(tcase, one_rotation_does_not_tell_the_pace);
    tcase_add_test(tcase, the_same_bytes_in_any_order_on_any_number_of_threads);
    tcase_add_test(tcase, what_tells_nothing_is_refused);
    tcase_add_test(tcase, the_majority_arranges_the_sms);
    suite_add_tcase(suite_, tcase);
    return suite_;
}
