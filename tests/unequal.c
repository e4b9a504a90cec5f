/* Blocks of very unequal work in other sizes: do predictions hold what was then measured? Truths are medians of five launches whose works
 * belong to threads in index order (gpu_ref/experiments/imbalance.txt and imbalance2.txt). Not pinned: kernels whose makespans differ by
 * more than 4 % from launch to launch; make whatif-table shows all whose trace is here. */
#include "suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "study/follow.h"
#include "study/stays.h"
#include "study/whatif.h"
#include "trace/trace.h"

#define FOLDER WT_SOURCE_ROOT "/traces/h200/whatif/"

enum { SIZES = 12 };
static const int sizes[SIZES] = {64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024};

static struct wt_whatif *fit_path(const char *path)
{
    struct wt_whatif *whatif;
    struct wt_error err = {0};
    ck_assert_msg(wt_whatif_fit(&path, 1, NULL, false, &whatif, &err) == WT_OK, "%s", err.text);
    return whatif;
}

static struct wt_whatif *fit(const char *kernel)
{
    char *path = wt_format(FOLDER "unequal_%s.csv.zst", kernel);
    struct wt_whatif *whatif = fit_path(path);
    free(path);
    return whatif;
}

static struct wt_whatif_result predict(const struct wt_whatif *whatif, int threads, bool shared_work)
{
    struct wt_whatif_point point = {.threads = threads, .registers_per_thread = -1, .dynamic_shared_bytes = -1, .split = 1,
                                    .shared_work = shared_work};
    struct wt_whatif_result result;
    struct wt_error err = {0};
    ck_assert_msg(wt_whatif_predict(whatif, &point, &result, &err) == WT_OK, "%s", err.text);
    return result;
}

/* Reads unequal.csv: cycles of a kernel's makespan at each size. */
static void truth(const char *kernel, const struct wt_whatif *whatif, double cycles[SIZES])
{
    FILE *file = fopen(FOLDER "unequal.csv", "r");
    char line[400];
    bool found = false;
    ck_assert_ptr_nonnull(file);
    while (!found && fgets(line, sizeof line, file)) {
        char *rest = line;
        found = !strcmp(strsep(&rest, ","), kernel);
        strsep(&rest, ",");
        for (int i = 0; found && i < SIZES; i++)
            cycles[i] = atof(strsep(&rest, ",")) * wt_whatif_measured(whatif).clock_mhz / 1e3;
    }
    fclose(file);
    ck_assert_msg(found, "%s", kernel);
}

/* Errors, on average and at worst; and on average if nothing changed. */
struct errors {
    double mean, worst, unchanged;
    int inside, count;
};

static struct errors errors_of(const char *kernel, bool shared_work, int least)
{
    struct errors e = {0};
    double measured[SIZES];
    struct wt_whatif *whatif = fit(kernel);
    truth(kernel, whatif, measured);
    for (int i = 0; i < SIZES; i++) {
        if (sizes[i] == 256 || sizes[i] < least)
            continue;
        struct wt_whatif_result result = predict(whatif, sizes[i], shared_work);
        double error = fabs(result.makespan / measured[i] - 1);
        e.mean += error;
        e.unchanged += fabs(wt_whatif_measured(whatif).makespan / measured[i] - 1);
        e.worst = fmax(e.worst, error);
        e.inside += result.low <= measured[i] && measured[i] <= result.high;
        e.count++;
    }
    e.mean /= e.count;
    e.unchanged /= e.count;
    wt_whatif_free(whatif);
    return e;
}

/* Neither kernel was looked at when the model was made. No change: 5.3 and 7.0 % off on average, at worst 18 and 15 %. */
START_TEST(larger_blocks_last_as_long_as_their_longest_part)
{
    static const char *const kernels[] = {"stream_bim3", "diverge_uni"};
    for (size_t i = 0; i < 2; i++) {
        struct errors e = errors_of(kernels[i], false, 64);
        ck_assert_msg(e.mean < 0.04 && e.worst < 0.08, "%s: %g, at worst %g", kernels[i], e.mean, e.worst);
        ck_assert_msg(e.mean < 0.8 * e.unchanged, "%s: %g, no change %g", kernels[i], e.mean, e.unchanged);
        ck_assert_int_ge(e.inside, (e.count * 4 + 4) / 5);
    }
}
END_TEST

/* Each warp has a work of its own: 0.63 times as long in blocks of 64, 2.27 in blocks of 768. */
START_TEST(warps_with_works_of_their_own_idle_in_large_blocks)
{
    struct errors e = errors_of("mix_wbim", false, 64);
    ck_assert_msg(e.mean < 0.05 && e.worst < 0.13, "%g, at worst %g", e.mean, e.worst);
    ck_assert_double_gt(e.unchanged, 0.2);
    ck_assert_int_ge(e.inside, (e.count * 4 + 4) / 5);
}
END_TEST

/* The same trace as it would be of somebody whose program does not say whose the works are. */
static char *without_specification(const char *kernel)
{
    char *from = wt_format(FOLDER "unequal_%s.csv.zst", kernel), *to = wt_format("unequal_%s.csv", kernel);
    struct wt_trace *trace;
    struct wt_error err = {0};
    ck_assert_msg(wt_trace_read(from, &trace, &err) == WT_OK, "%s", err.text);
    const struct wt_trace_launch *launch = &trace->launches[0];
    const struct wt_trace_row *rows = wt_trace_rows_of(trace, 0);
    FILE *file = fopen(to, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "# wavetail-trace 1\n# device = NVIDIA H200\n# compute_capability = 9.0\n# sm_count = 132\n# clock_khz = 1980000\n"
            "# launch 0: name=x grid=%llu,1,1 block=256,1,1 regs=%d static_smem=0 dynamic_smem=0\n"
            "launch,block,sm,time_start_ns,time_end_ns,work\n", (unsigned long long)launch->row_count, launch->registers_per_thread);
    for (uint64_t i = 0; i < launch->row_count; i++)
        fprintf(file, "0,%u,%u,%lld,%lld,%lld\n", (unsigned)rows[i].block, (unsigned)rows[i].sm, (long long)rows[i].time_start_ns,
                (long long)rows[i].time_end_ns, (long long)rows[i].work);
    ck_assert_int_eq(fclose(file), 0);
    wt_trace_free(trace);
    free(from);
    return to;
}

START_TEST(durations_tell_whether_works_are_of_blocks_or_of_warps)
{
    static const struct { const char *kernel; int warps; } cases[] = {
        {"mix_wbim", 1}, {"stream_bim3", 8}, {"diverge_uni", 8}, {"chase_spar", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = without_specification(cases[i].kernel);
        struct wt_whatif *whatif = fit_path(path);
        ck_assert_msg(wt_whatif_measured(whatif).work_warps == cases[i].warps, "%s: %d", cases[i].kernel,
                      wt_whatif_measured(whatif).work_warps);
        wt_whatif_free(whatif);
        remove(path);
        free(path);
    }
}
END_TEST

/* Threads that do equal parts of their block's work are through sooner in larger blocks: 0.94 times as long with 320, 0.86 with 1024.
 * How unequal the parts of a block are is not known: with 64 it took 1.31 times as long. */
START_TEST(threads_that_share_work_even_it_out)
{
    struct errors e = errors_of("chase_spar", true, 256);
    ck_assert_msg(e.mean < 0.035 && e.worst < 0.08, "%g, at worst %g", e.mean, e.worst);
    ck_assert_double_gt(e.unchanged, 0.08);
    double measured[SIZES];
    struct wt_whatif *whatif = fit("chase_spar");
    truth("chase_spar", whatif, measured);
    struct wt_whatif_result cut = predict(whatif, 64, true);
    ck_assert_double_ge(cut.high, measured[0]);
    ck_assert_ptr_nonnull(strstr(cut.why, "how unequal the parts"));
    ck_assert_double_gt(predict(whatif, 1024, false).makespan, 1.08 * predict(whatif, 1024, true).makespan);
    wt_whatif_free(whatif);
}
END_TEST

static struct wt_stays *read_uniform(struct wt_gpu **gpu)
{
    struct wt_stays *stays;
    struct wt_error err = {0};
    const char *path = WT_SOURCE_ROOT "/traces/h200/fit/uniform_b1024.r0.csv.zst";
    ck_assert_msg(wt_stays_gpu(path, NULL, gpu, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_stays_read(path, *gpu, &stays, &err) == WT_OK, "%s", err.text);
    return stays;
}

/* Blocks that wait for so many cycles, whoever runs beside them: no sharing explains them as well as none. */
START_TEST(a_bound_is_known_by_the_works_it_makes)
{
    static const struct wt_bound bounds[] = {{.saturation = INFINITY}, {.saturation = 8, .grain = 4},
                                             {.saturation = 8, .grain = 4, .favour = 0.5}, {.gpu = true, .saturation = 8, .grain = 4}};
    struct wt_stays_match matches[4];
    struct wt_gpu *gpu;
    struct wt_stays *stays = read_uniform(&gpu);
    wt_stays_match(stays, bounds, 4, matches);
    ck_assert_double_lt(matches[0].misfit, 0.02);
    ck_assert_double_eq_tol(matches[0].scale, 1, 0.02);
    for (int i = 1; i < 4; i++)
        ck_assert_msg(matches[i].misfit > 2 * matches[0].misfit, "%d: %g", i, matches[i].misfit);
    wt_stays_free(stays);
    wt_gpu_free(gpu);
}
END_TEST

/* The same launch: its two resident blocks go by the times they are to last, which no sharing makes of them. */
START_TEST(a_bound_is_known_by_the_ends_it_makes)
{
    static const struct wt_bound bounds[] = {{.saturation = INFINITY}, {.saturation = 32, .grain = 4},
                                             {.saturation = 16, .grain = 4, .favour = 0.7, .hindered = 0.8},
                                             {.gpu = true, .saturation = 32, .grain = 4}, {.gpu = true, .saturation = 32, .crowding = 0.4}};
    enum { BOUNDS = sizeof bounds / sizeof *bounds };
    struct wt_followed followed[BOUNDS];
    struct wt_gpu *gpu;
    struct wt_stays *stays = read_uniform(&gpu);
    wt_follow(stays, 2, wt_gpu_unloaded_release(gpu, 0), 0, bounds, BOUNDS, followed);
    ck_assert_msg(followed[0].misfit < 0.01, "%g", followed[0].misfit);
    ck_assert_double_eq_tol(followed[0].scale, 1, 0.02);
    for (int i = 1; i < BOUNDS; i++)
        ck_assert_msg(followed[i].misfit > 2 * followed[0].misfit, "%d: %g, %g", i, followed[i].misfit, followed[0].misfit);
    wt_stays_free(stays);
    wt_gpu_free(gpu);
}
END_TEST

/* The same launch, whose trace states less than what each block does by the same for all: what is missing explains its ends. */
START_TEST(what_every_block_does_besides_is_known_by_the_ends)
{
    struct wt_gpu *gpu;
    struct wt_stays *stays = read_uniform(&gpu);
    double missing = INFINITY;
    for (uint64_t i = 0; i < stays->count; i++)
        missing = fmin(missing, stays->list[i].work / 2);
    for (uint64_t i = 0; i < stays->count; i++)
        stays->list[i].work -= missing;
    const struct wt_bound bounds[] = {{.saturation = INFINITY, .start = missing}, {.saturation = INFINITY},
                                      {.saturation = INFINITY, .start = 2 * missing}};
    struct wt_followed followed[3];
    wt_follow(stays, 2, wt_gpu_unloaded_release(gpu, 0), 0, bounds, 3, followed);
    ck_assert_double_gt(missing, 0);
    ck_assert_msg(followed[0].misfit < 0.01, "%g", followed[0].misfit);
    ck_assert_double_eq_tol(followed[0].scale, 1, 0.02);
    for (int i = 1; i < 3; i++)
        ck_assert_msg(followed[i].misfit > 2 * followed[0].misfit, "%d: %g, %g", i, followed[i].misfit, followed[0].misfit);
    wt_stays_free(stays);
    wt_gpu_free(gpu);
}
END_TEST

Suite *unequal_suite(void)
{
    Suite *suite = suite_create("unequal");
    TCase *captures = tcase_create("captures");
    tcase_set_timeout(captures, 60);
    tcase_add_test(captures, larger_blocks_last_as_long_as_their_longest_part);
    tcase_add_test(captures, warps_with_works_of_their_own_idle_in_large_blocks);
    tcase_add_test(captures, durations_tell_whether_works_are_of_blocks_or_of_warps);
    tcase_add_test(captures, threads_that_share_work_even_it_out);
    tcase_add_test(captures, a_bound_is_known_by_the_works_it_makes);
    tcase_add_test(captures, a_bound_is_known_by_the_ends_it_makes);
    tcase_add_test(captures, what_every_block_does_besides_is_known_by_the_ends);
    suite_add_tcase(suite, captures);
    return suite;
}
