/* Do thread block clusters go where the hardware put them, and do as many fit as the runtime says? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "sm/occupancy.h"
#include "study/replay.h"
#include "simulated.h"
#include "replayed.h"
#include "suites.h"

enum { SMS = 132 };

static const struct {
    const char *name;
    int size;
} captures[] = {
    {"cluster2_b128.r0", 2},       {"cluster2_ds200k.r0", 2},     {"cluster4_ds200k.r0", 4},     {"cluster8_b128.r0", 8},
    {"cluster8_ds100k.r0", 8},     {"cluster16_ds200k.r0", 16},   {"mechanisms/clpack_3.r0", 3}, {"mechanisms/clpack_6.r0", 6},
    {"mechanisms/clpack_9.r0", 9}, {"mechanisms/clpack_12.r0", 12},
};
enum { CAPTURES = sizeof captures / sizeof *captures, USE_ALL_THEY_CAN = 5 };

static int sms_used(const struct wt_timeline *timeline)
{
    bool used[SMS] = {false};
    int count = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        count += !used[timeline->spans[i].sm];
        used[timeline->spans[i].sm] = true;
    }
    return count;
}

START_TEST(the_first_wave_is_on_the_very_sms)
{
    struct wt_replay *replay = replayed(captures[_i].name);
    ck_assert_double_eq(replay->whole.first_wave_placement_match, 1);
    wt_replay_free(replay);
}
END_TEST

/* A cluster of 2 x 2 blocks is in two rows of the grid, which has 50 blocks to a row; none goes to the group of eight. Not pinned: that a
 * ninth block fits an SM. */
START_TEST(clusters_of_two_rows_are_on_the_very_sms)
{
    struct wt_replay *replay = replayed("questions/cluster_2x2.r0");
    ck_assert_uint_eq(replay->whole.first_wave_blocks, 8 * 124);
    ck_assert_double_eq(replay->whole.first_wave_placement_match, 1);
    ck_assert_double_le(fabs(replay->whole.makespan_error), 0.01);
    bool there[3000] = {false};
    ck_assert_uint_eq(replay->predicted->span_count, 3000);
    for (size_t i = 0; i < 3000; i++)
        there[replay->predicted->spans[i].block] = true;
    ck_assert_ptr_null(memchr(there, false, sizeof there));
    wt_replay_free(replay);
}
END_TEST

START_TEST(makespans_are_those_measured)
{
    struct wt_replay *replay = replayed(captures[_i].name);
    ck_assert_double_le(fabs(replay->whole.makespan_error), 0.01);
    wt_replay_free(replay);
}
END_TEST

/* On distinct SMs of one group. */
START_TEST(clusters_stay_together)
{
    int size = captures[_i].size;
    struct wt_replay *replay = replayed(captures[_i].name);
    const struct wt_timeline *predicted = replay->predicted;
    uint16_t *sm_of = wt_alloc(predicted->span_count, sizeof *sm_of);
    for (size_t i = 0; i < predicted->span_count; i++)
        sm_of[predicted->spans[i].block] = predicted->spans[i].sm;
    for (size_t block = 0; block < predicted->span_count; block++)
        for (size_t other = block / (size_t)size * (size_t)size; other < block; other++) {
            ck_assert_int_ne(sm_of[block], sm_of[other]);
            ck_assert_int_eq(h200_group_of(sm_of[block]), h200_group_of(sm_of[other]));
        }
    free(sm_of);
    wt_replay_free(replay);
}
END_TEST

/* Of captures long enough that every SM that can has its turn. */
START_TEST(as_many_sms_are_used)
{
    struct wt_replay *replay = replayed(captures[_i].name);
    ck_assert_int_eq(sms_used(replay->measured), captures[_i].size == 2 ? SMS : SMS - 8);
    ck_assert_int_eq(sms_used(replay->predicted), sms_used(replay->measured));
    wt_replay_free(replay);
}
END_TEST

/* cudaOccupancyMaxActiveClusters on an H200: cluster, block, dynamic_smem, max_active_clusters; -1: refused. */
START_TEST(as_many_fit_as_the_runtime_says)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_gpu_load("h200", &gpu, &err), WT_OK);
    FILE *file = fopen(WT_SOURCE_ROOT "/traces/h200/max_clusters.csv", "r");
    ck_assert_ptr_nonnull(file);
    int size, threads, shared, expected, rows = 0;
    ck_assert_int_eq(fscanf(file, "%*[^\n]\n"), 0);
    while (fscanf(file, "%d,%d,%d,%d\n", &size, &threads, &shared, &expected) == 4) {
        rows++;
        if (size < 2)
            continue;
        struct wt_launch_needs needs = {.threads = threads, .registers_per_thread = 32, .dynamic_shared_bytes = shared,
                                        .carveout_kb = WT_CARVEOUT_DEFAULT};
        struct wt_occupancy occupancy;
        ck_assert_msg(wt_occupancy(&gpu->limits, &needs, &occupancy, &err) == WT_OK, "%s", err.text);
        int clusters = wt_active_clusters(&gpu->topology, size, occupancy.blocks_per_sm, NULL);
        ck_assert_msg(clusters == expected, "size %d, %d threads, %d bytes: %d, the runtime says %d", size, threads, shared,
                      clusters, expected);
    }
    fclose(file);
    ck_assert_int_ge(rows, 256);
    wt_gpu_free(gpu);
}
END_TEST

Suite *clusters_suite(void)
{
    Suite *suite = suite_create("clusters");
    TCase *tcase = tcase_create("clusters");
    tcase_add_loop_test(tcase, the_first_wave_is_on_the_very_sms, 0, CAPTURES);
    tcase_add_test(tcase, clusters_of_two_rows_are_on_the_very_sms);
    tcase_add_loop_test(tcase, makespans_are_those_measured, 0, CAPTURES);
    tcase_add_loop_test(tcase, clusters_stay_together, 0, CAPTURES);
    tcase_add_loop_test(tcase, as_many_sms_are_used, 0, USE_ALL_THEY_CAN);
    tcase_add_test(tcase, as_many_fit_as_the_runtime_says);
    suite_add_tcase(suite, tcase);
    return suite;
}
