/* Does a kernel that Nsight Compute profiled take as long as it took there, with as many warps, issuing as often?
 *
 * The figures are those of traces/ncu's metrics.csv; each row bounds what was found to be wrong with the mechanism it is here
 * for. `make warp-table` has all kernels. */
#include <check.h>
#include <stdlib.h>

#include "core/mem.h"
#include "observe/warps.h"
#include "sm/shape.h"
#include "suites.h"
#include "warp/from_sass.h"
#include "warp_part.h"

static const struct {
    const char *folder, *function, *sass, *source, *metrics;
    uint64_t blocks;
    int threads, registers, shared;
    double cycles, active, issued; /* most that each may be off by */
} launches[] = {
    /* barriers and shared memory */
    {"families", "_Z4scanPKfPf", "families", "scan", "metrics.csv", 4096, 512, 16, 4096, 0.1, 0.05, 0.05},
    /* 64-bit arithmetic, cold instructions */
    {"families", "_Z13double_seriesPKfPfi", "families", "double_series", "metrics.csv", 1024, 128, 22, 0, 0.15, 0.25, 0.05},
    /* atomics on the way to L2, whose ports serve six SMs or four */
    {"mixes", "_Z14red_random_16mPji", "mixes", "mixes", "metrics.csv.zst", 1024, 256, 18, 0, 0.1, 0.15, 0.15},
    /* atomics on the 256 words of two slices of L2 */
    {"families", "_Z9histogramPKjPji", "families", "histogram", "metrics.csv", 1024, 256, 24, 1024, 0.12, 0.15, 0.15},
    /* two words of each sector stored, which were read before */
    {"unseen", "_Z12axpy_stridedPKfPff", "unseen", "unseen", "metrics.csv.zst", 16384, 256, 16, 0, 0.1, 0.1, 0.1},
    /* single sectors stored */
    {"mixes", "_Z13store_columnsPfi", "mixes", "mixes", "metrics.csv.zst", 4096, 256, 22, 0, 0.15, 0.25, 0.15},
    /* as many bytes written back to DRAM as read */
    {"mixes", "_Z10copy_linesPKfPf", "mixes", "mixes", "metrics.csv.zst", 16384, 256, 22, 0, 0.1, 0.1, 0.1},
    /* integer multiplication beside shifts */
    {"mixes", "_Z14mix_imad_shiftPfijj", "mixes", "mixes", "metrics.csv.zst", 264, 1024, 16, 0, 0.05, 0.05, 0.06},
};

static struct wt_ncu_metrics *read_metrics(int i)
{
    char *path = wt_format(WT_SOURCE_ROOT "/traces/ncu/%s/%s", launches[i].folder, launches[i].metrics);
    struct wt_ncu_metrics *metrics = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_ncu_metrics_read(path, &metrics, &err) == WT_OK, "%s", err.text);
    free(path);
    return metrics;
}

static struct wt_program *read_program(int i, const struct wt_ncu_metrics *metrics, long row)
{
    char *sass_path = wt_format(WT_SOURCE_ROOT "/traces/ncu/%s/%s.sass.zst", launches[i].folder, launches[i].sass);
    char *source_path = wt_format(WT_SOURCE_ROOT "/traces/ncu/%s/%s.source.csv.zst", launches[i].folder, launches[i].source);
    struct wt_sass *sass = NULL;
    struct wt_ncu_source *source = NULL;
    struct wt_program *program = NULL;
    struct wt_sass_report report;
    struct wt_error err = {0};
    struct wt_sass_setup setup = {.path = sass_path, .threads_per_block = launches[i].threads};
    ck_assert_msg(wt_sass_read(sass_path, &sass, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_sass_find(sass, sass_path, launches[i].function, &setup.function, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_ncu_source_read(source_path, launches[i].function, &source, &err) == WT_OK, "%s", err.text);
    setup.source = source;
    setup.hits = wt_hit_rates_of(metrics, (size_t)row, setup.function, source);
    ck_assert_msg(wt_program_from_sass(&setup, &program, &report, &err) == WT_OK, "%s", err.text);
    wt_ncu_source_free(source);
    wt_sass_free(sass);
    free(sass_path);
    free(source_path);
    return program;
}

static double measured(const struct wt_ncu_metrics *metrics, long row, const char *name)
{
    double value = 0;
    ck_assert_msg(wt_ncu_number(metrics, (size_t)row, name, &value), "%s", name);
    return value;
}

START_TEST(a_profiled_kernel_takes_as_long_as_on_the_hardware)
{
    struct wt_error err = {0};
    struct wt_ncu_metrics *metrics = read_metrics(_i);
    long row = wt_ncu_launch(metrics, launches[_i].function, launches[_i].blocks, (uint64_t)launches[_i].threads,
                             (uint64_t)launches[_i].shared, 0);
    ck_assert_int_ge(row, 0);
    struct warp_part_run run = {.program = read_program(_i, metrics, row),
                                .threads = launches[_i].threads,
                                .shared = launches[_i].shared,
                                .registers = launches[_i].registers,
                                .blocks = launches[_i].blocks};
    ck_assert_msg(wt_gpu_load("h200", &run.gpu, &err) == WT_OK, "%s", err.text);
    simulate_part(&run);
    check_within(wt_warp_elapsed(&run.result, run.gpu), measured(metrics, row, "sm__cycles_elapsed.avg"), launches[_i].cycles);
    check_within(wt_warps_active(&run.result.total), measured(metrics, row, "smsp__warps_active.avg.per_cycle_active"),
                 launches[_i].active);
    double executed = measured(metrics, row, "smsp__inst_executed.sum"), cycles = measured(metrics, row, "smsp__cycles_active.sum");
    check_within(wt_issue_active(&run.result.total), executed / cycles, launches[_i].issued);
    check_within((double)run.result.total.issued, executed, 0.01);
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
    wt_ncu_metrics_free(metrics);
}
END_TEST

Suite *profiled_suite(void)
{
    Suite *suite = suite_create("profiled");
    TCase *launch = tcase_create("launches");
    tcase_set_timeout(launch, 120);
    tcase_add_loop_test(launch, a_profiled_kernel_takes_as_long_as_on_the_hardware, 0, sizeof launches / sizeof *launches);
    suite_add_tcase(suite, launch);
    return suite;
}
