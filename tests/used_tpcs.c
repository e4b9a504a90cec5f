/* Which TPCs had the launch before run on, and what does it change? */
#include <stdlib.h>

#include "core/mem.h"
#include "fit/evidence.h"
#include "simulated.h"
#include "suites.h"
#include "trace/used_tpcs.h"

enum { TPCS = 66 };

/* An H200's TPCs in the order in which a grid of less than a wave comes to them: the extra group's, then one of each group in turn. */
static int place_in_order(int tpc)
{
    return tpc >= 62 ? tpc - 62 : tpc + 4;
}

/* Each SM's first start in the order of blocks: group after group, one visit each, with the first `used` TPCs late. */
static size_t starts_of(const struct wt_gpu *gpu, int used, double late, struct wt_block_start *starts)
{
    const struct wt_topology *t = &gpu->topology;
    size_t count = 0;
    for (int visit = 0; visit < t->group_count; visit++) {
        int group = (visit + t->group_count - 1) % t->group_count;
        for (int i = 0; i < t->groups[group].sm_count; i++) {
            int sm = t->groups[group].sms[i], tpc = t->tpc_of_sm[sm];
            double cycles = 1e6 + visit * gpu->rates.visit_cycles + wt_of_tpc(&gpu->rates.launch_offset_cycles, tpc) + sm % 2 * 10;
            starts[count++] = (struct wt_block_start){cycles + (place_in_order(tpc) < used ? late : 0), (uint16_t)sm};
        }
    }
    return count;
}

START_TEST(late_tpcs_are_found)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_block_start starts[132];
    bool used[TPCS];
    size_t count = starts_of(gpu, _i, 11, starts);
    ck_assert_int_eq(wt_used_tpcs(gpu, starts, count, used), _i);
    for (int tpc = 0; tpc < TPCS; tpc++)
        ck_assert_int_eq(used[tpc], place_in_order(tpc) < _i);
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(other_differences_are_not_taken_for_it)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_block_start starts[132];
    bool used[TPCS];
    ck_assert_int_eq(wt_used_tpcs(gpu, starts, starts_of(gpu, 30, 3, starts), used), 0);
    ck_assert_int_eq(wt_used_tpcs(gpu, starts, starts_of(gpu, 30, -11, starts), used), 0);
    ck_assert_int_eq(wt_used_tpcs(gpu, starts, starts_of(gpu, TPCS, 11, starts), used), 0); /* all: nobody sees it */
    ck_assert_int_eq(wt_used_tpcs(gpu, starts, 0, used), 0);
    wt_gpu_free(gpu);
}
END_TEST

/* Before each of these captures 24 bytes for each block were set by a memset, whose kernel has a block for each 4,096 bytes. An incomplete
 * round gives the extra group 8 blocks, two to a TPC, and then one to each other TPC. */
static int used_by_memset(size_t blocks)
{
    int grid = (int)(24 * blocks / 4096);
    return grid <= 4 ? grid : grid <= 8 ? 4 : grid - 4;
}

static const char *const after_a_memset[] = {
    "fit/empty_b32.r0", "fit/empty_b192.r1", "fit/empty_b384.r2", "fit/empty_b1024.r0", "test/short/empty_2d.r0",
    "test/short/empty_b160.r1", "test/short/empty_b448.r2", "test/short/empty_b640.r0", "test/short/empty_b64_g3000.r1",
    "test/short/empty_b256_big.r2", "test/short/empty_g2112.r0", "test/short/empty_g400.r1", "test/short/spin300_b128.r0",
    "test/short/spin600_b256.r1", "test/short/spin1500_b128.r2", "empty_b256.r0", "empty_g4224.r1"};

START_TEST(captures_tell_how_large_the_memset_before_them_was)
{
    char *path = wt_format("%s/traces/h200/%s.csv.zst", WT_SOURCE_ROOT, after_a_memset[_i]);
    const char *paths[] = {path};
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_evidence evidence;
    ck_assert_int_eq(wt_evidence_read(paths, 1, &evidence, NULL), WT_OK);
    wt_evidence_prepare(&evidence, gpu);
    ck_assert_uint_eq(evidence.launch_count, 1);
    bool *used = wt_evidence_used_tpcs(&evidence.launches[0], gpu);
    int count = 0;
    for (int tpc = 0; tpc < TPCS; tpc++)
        count += used[tpc];
    ck_assert_int_eq(count, used_by_memset(evidence.launches[0].blocks));
    free(used);
    free(path);
    wt_evidence_free(&evidence);
    wt_gpu_free(gpu);
}
END_TEST

/* Two launches of a block for each of four SMs; the first is of three blocks. The policy takes SM after SM. */
START_TEST(a_launch_starts_later_where_the_one_before_ran)
{
    struct wt_gpu *gpu = gpu_of(1, "sms_per_tpc = 1;", "used_tpc_cycles = 11; kernel_gap_cycles = 1000;");
    const struct grid grids[] = {{.blocks = 3, .cycles = {500}}, {.blocks = 4, .cycles = {500}}};
    struct wt_block_run *runs = simulated(gpu, &from_anew, grids, 2);
    int late = 0;
    for (int i = 3; i < 7; i++) {
        bool ran = false;
        for (int k = 0; k < 3; k++)
            ran |= runs[k].sm == runs[i].sm;
        late += ran;
        ck_assert_double_eq(wt_to_cycles(runs[i].start), 1500 + (ran ? 11 : 0));
    }
    ck_assert_int_eq(late, 3);
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

Suite *used_tpcs_suite(void)
{
    Suite *suite = suite_create("used_tpcs");
    TCase *tcase = tcase_create("used_tpcs");
    tcase_add_loop_test(tcase, late_tpcs_are_found, 0, TPCS);
    tcase_add_test(tcase, other_differences_are_not_taken_for_it);
    tcase_add_loop_test(tcase, captures_tell_how_large_the_memset_before_them_was, 0, sizeof after_a_memset / sizeof *after_a_memset);
    tcase_add_test(tcase, a_launch_starts_later_where_the_one_before_ran);
    suite_add_tcase(suite, tcase);
    return suite;
}
