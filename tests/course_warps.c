/* Do the workloads of the course's studies of warps show what the course concludes?
 *
 * Each conclusion is a test on a file of configs/workloads. Four SMs stand for the GPU (study/sampled.h). Not pinned: how large
 * an effect is where the course does not say. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "study/launches.h"
#include "study/sampled.h"
#include "study/workload.h"
#include "suites.h"
#include "warp_part.h"

enum { MOST = 4, SMS = 4 };

/* What a workload's launches gave. */
struct course {
    struct wt_warp_result of[MOST];
    int blocks_per_sm[MOST];
};

static struct course run(const char *name)
{
    struct course course = {0};
    char *path = wt_format(WT_SOURCE_CONFIGS "/workloads/%s.cfg", name);
    struct wt_workload *workload = NULL;
    struct wt_gpu *gpu = NULL;
    struct wt_launches *launches = NULL;
    struct wt_sampled *sampled = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_workload_read(path, &workload, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_gpu_load(workload->gpu, &gpu, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_launches_new(workload, gpu, 1, false, &launches, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_sampled_run(launches, gpu, SMS, 1, NULL, &sampled, &err) == WT_OK, "%s", err.text);
    ck_assert_uint_le(sampled->count, MOST);
    for (size_t i = 0; i < sampled->count; i++) {
        course.of[i] = sampled->launches[i].result;
        course.blocks_per_sm[i] = launches->about->launches[i].blocks_per_sm;
    }
    wt_sampled_free(sampled);
    wt_launches_free(launches);
    wt_gpu_free(gpu);
    wt_workload_free(workload);
    free(path);
    return course;
}

/* Of the time that warps are there. */
static double share(const struct wt_warp_result *result, enum wt_stall_reason state)
{
    double all = wt_warps_active(&result->total) / wt_issue_active(&result->total);
    return wt_stalled_per_issue(&result->total, state) / all;
}

/* L1i. 64 resident warps of which hardly one is eligible are slower than 16 that always have work. */
START_TEST(resident_is_not_eligible)
{
    struct course c = run("warps-eligible");
    ck_assert_double_gt(wt_warps_active(&c.of[0].total), 3 * wt_warps_active(&c.of[1].total));
    ck_assert_double_lt(wt_warps_eligible(&c.of[0].total), 1);
    ck_assert_double_gt(wt_warps_eligible(&c.of[1].total), 2);
    ck_assert_double_gt(wt_issue_active(&c.of[1].total), 10 * wt_issue_active(&c.of[0].total));
}
END_TEST

/* L1j. All warps wait for one long load: the SM is full and idle. */
START_TEST(a_full_sm_can_be_idle)
{
    struct course c = run("warps-eligible");
    ck_assert_int_eq(c.blocks_per_sm[0] * 8, 64);
    ck_assert_double_gt(share(&c.of[0], WT_STALL_LONG_SCOREBOARD), 0.9);
    ck_assert_double_lt(wt_issue_active(&c.of[0].total), 0.02);
}
END_TEST

/* L1l. Warps wait at barriers; other blocks fill in, and one big block hides it worst. */
START_TEST(a_barrier_is_hidden_by_other_blocks)
{
    struct course c = run("warps-barrier");
    check_within((double)c.of[1].total.issued, (double)c.of[0].total.issued, 0.01);
    ck_assert_int_eq(c.blocks_per_sm[0], 16);
    ck_assert_int_eq(c.blocks_per_sm[1], 2);
    ck_assert_double_gt(share(&c.of[1], WT_STALL_BARRIER), share(&c.of[0], WT_STALL_BARRIER));
    ck_assert_double_gt(c.of[1].elapsed_cycles, 1.05 * c.of[0].elapsed_cycles);
}
END_TEST

/* L1m. A quarter of the warps is near the peak with four independent chains, and far from it with one: an instruction of a
 * chain every 4 cycles. */
START_TEST(parallel_instructions_need_few_warps)
{
    struct course c = run("warps-ilp");
    ck_assert_double_gt(wt_issue_active(&c.of[3].total), 0.9);
    check_within(c.of[3].elapsed_cycles, c.of[2].elapsed_cycles, 0.05);
    ck_assert_double_gt(c.of[1].elapsed_cycles, 1.25 * c.of[0].elapsed_cycles);
    ck_assert_double_lt(wt_issue_active(&c.of[1].total), wt_warps_active(&c.of[1].total) / 4);
}
END_TEST

/* L1n. Half the registers: twice the warps, spills, more traffic, more time. */
START_TEST(spills_cost_more_than_warps_gain)
{
    struct course c = run("warps-spills");
    ck_assert_int_eq(c.blocks_per_sm[0], 4);
    ck_assert_int_eq(c.blocks_per_sm[1], 8);
    ck_assert_double_gt(wt_warps_active(&c.of[1].total), 1.7 * wt_warps_active(&c.of[0].total));
    ck_assert_uint_gt(c.of[1].total.l2_sectors, 2 * c.of[0].total.l2_sectors);
    ck_assert_double_gt(c.of[1].elapsed_cycles, 1.2 * c.of[0].elapsed_cycles);
}
END_TEST

/* L1o. Twice the tile: half the loads for each result, fewer resident blocks. 512 / T loads of two values, of 4 bytes in sectors of 32;
 * and the result itself. */
START_TEST(larger_tiles_load_less_and_leave_fewer_blocks)
{
    struct course c = run("warps-tiles");
    double results = 2112.0 * 512;
    for (int i = 0, tile = 16; i < 3; i++, tile *= 2)
        check_within((double)c.of[i].total.l1_sectors, results * (2 * 512.0 / tile + 1) * 4 / 32, 0.001);
    ck_assert_int_eq(c.blocks_per_sm[0], 8);
    ck_assert_int_eq(c.blocks_per_sm[1], 6);
    ck_assert_int_eq(c.blocks_per_sm[2], 2);
    ck_assert_double_lt(c.of[1].elapsed_cycles, c.of[0].elapsed_cycles);
    ck_assert_double_lt(c.of[2].elapsed_cycles, c.of[1].elapsed_cycles);
}
END_TEST

/* L4d. Two paths cost both, three cost three. */
START_TEST(divergence_costs_every_path)
{
    struct course c = run("warps-divergence");
    check_within(c.of[1].elapsed_cycles / c.of[0].elapsed_cycles, 2, 0.1);
    check_within(c.of[2].elapsed_cycles / c.of[0].elapsed_cycles, 3, 0.1);
    check_within((double)c.of[2].total.issued / (double)c.of[0].total.issued, 3, 0.1);
}
END_TEST

/* L5c. Shared memory 20 to 30 cycles, L2 about 200, DRAM 400 to 800; 1,000 loads. */
START_TEST(each_level_of_memory_has_its_latency)
{
    struct course c = run("warps-latency");
    check_within(c.of[0].elapsed_cycles / 1000, 25, 0.2);
    check_within(c.of[1].elapsed_cycles / 1000, 200, 0.1);
    check_within(c.of[2].elapsed_cycles / 1000, 600, 0.33);
}
END_TEST

/* L5c. A warp's access is one line of four sectors, scattered 32 lines with a sector each. */
START_TEST(scattered_threads_take_a_transaction_each)
{
    struct course c = run("warps-coalescing");
    double loads = 1056 * 8 * 100.0;
    check_within((double)c.of[0].total.l1_sectors, 4 * loads, 0.001);
    check_within((double)c.of[1].total.l1_sectors, 32 * loads, 0.001);
    ck_assert_double_gt(c.of[1].elapsed_cycles, 4 * c.of[0].elapsed_cycles);
}
END_TEST

Suite *course_warps_suite(void)
{
    Suite *suite = suite_create("course_warps");
    TCase *tcase = tcase_create("course_warps");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, resident_is_not_eligible);
    tcase_add_test(tcase, a_full_sm_can_be_idle);
    tcase_add_test(tcase, a_barrier_is_hidden_by_other_blocks);
    tcase_add_test(tcase, parallel_instructions_need_few_warps);
    tcase_add_test(tcase, spills_cost_more_than_warps_gain);
    tcase_add_test(tcase, larger_tiles_load_less_and_leave_fewer_blocks);
    tcase_add_test(tcase, divergence_costs_every_path);
    tcase_add_test(tcase, each_level_of_memory_has_its_latency);
    tcase_add_test(tcase, scattered_threads_take_a_transaction_each);
    suite_add_tcase(suite, tcase);
    return suite;
}
