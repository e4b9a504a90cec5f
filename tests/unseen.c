/* Does a trace tell how long its blocks stay beyond their clock reads? */
#include <math.h>

#include "study/let_in.h"
#include "study/replay.h"
#include "study/unseen.h"
#include "replayed.h"
#include "suites.h"

enum { DURATION = 5000 };

/* One block at a time on each of the first `sms` TPCs' even SMs, `rounds` of them; an SM's next block starts the
 * GPU's own release time after the last one's end, give or take the wait for the group's turn (0 to 28 cycles, all
 * equally often), and `unseen` later still. SM k's blocks are k * `apart` cycles late. */
static struct wt_timeline *rounds_of_blocks(const struct wt_gpu *gpu, int sms, int rounds, int unseen, int apart)
{
    const struct wt_rates *rates = &gpu->rates;
    struct wt_timeline *timeline = wt_timeline_new("made", gpu->name, gpu->topology.sm_count);
    struct wt_timeline_launch launch = {.name = "k", .grid_blocks = (uint64_t)(sms * rounds)};
    wt_timeline_add_launch(timeline, &launch);
    for (int k = 0; k < sms; k++) {
        double start = 1000 + k * apart;
        for (int r = 0; r < rounds; r++) {
            struct wt_block_run run = {.block = (uint64_t)(r * sms + k), .sm = (uint16_t)(2 * k),
                                       .start = wt_from_cycles(start), .end = wt_from_cycles(start + DURATION)};
            wt_timeline_add(timeline, &run);
            start += DURATION + rates->release_cycles + rates->launch_offset_cycles.values[k] +
                     rates->report_offset_cycles.values[k] + unseen + (r * 7 + k * 11) % 29 - 14;
        }
    }
    return timeline;
}

static struct wt_unseen unseen_of(int sms, int rounds, int unseen, int apart)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load("h200", &gpu, &err) == WT_OK, "%s", err.text);
    struct wt_timeline *timeline = rounds_of_blocks(gpu, sms, rounds, unseen, apart);
    struct wt_unseen found = wt_unseen_time(timeline, 0, (uint64_t)sms, true, NULL, gpu);
    wt_timeline_free(timeline);
    wt_gpu_free(gpu);
    return found;
}

/* TPCs 0 to 7 lie in eight GPCs, so that every release is quiet. */
START_TEST(the_time_beyond_the_reads_is_found)
{
    static const int unseen[] = {0, 60, 18778, -40};
    struct wt_unseen found = unseen_of(8, 30, unseen[_i], 0);
    ck_assert_uint_eq(found.samples, 8 * 29);
    ck_assert_double_le(fabs(found.cycles - unseen[_i]), 2);
}
END_TEST

/* On another part other TPCs are far from the distributor: here each of the 66 is as far as its mirror image on the config's. */
START_TEST(another_parts_tpcs_do_not_look_unseen)
{
    struct wt_gpu *gpu, *there;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load("h200", &gpu, &err) == WT_OK && wt_gpu_load("h200", &there, &err) == WT_OK, "%s", err.text);
    struct wt_numbers *offsets = &there->rates.report_offset_cycles;
    for (int i = 0; i < offsets->count; i++)
        offsets->values[i] = gpu->rates.report_offset_cycles.values[offsets->count - 1 - i];
    struct wt_timeline *timeline = rounds_of_blocks(there, there->topology.tpc_count, 30, 60, 80);
    struct wt_unseen found = wt_unseen_time(timeline, 0, (uint64_t)there->topology.tpc_count, true, NULL, gpu);
    ck_assert_double_le(fabs(found.cycles - 60), 5);
    wt_timeline_free(timeline);
    wt_gpu_free(there);
    wt_gpu_free(gpu);
}
END_TEST

/* One release fewer than blocks. With few, the least is taken: up to 14 cycles below the median, half the wait. */
START_TEST(a_few_quiet_releases_are_needed)
{
    ck_assert_double_eq(unseen_of(1, WT_UNSEEN_SAMPLES, 60, 0).cycles, 0);
    double few = unseen_of(1, WT_UNSEEN_SAMPLES + 1, 60, 0).cycles;
    ck_assert(few > 60 - 15 && few <= 60);
    ck_assert_double_le(fabs(unseen_of(1, 13, 60, 0).cycles - 60), 5);
}
END_TEST

/* TPCs 0 and 8 share a GPC. A block that ends 100 cycles after another one of its GPC may have waited for the port;
 * one that ends 2,000 cycles after it has not. */
START_TEST(releases_soon_after_another_end_do_not_count)
{
    ck_assert_uint_eq(unseen_of(9, 4, 60, 100 / 8).samples, 24);
    ck_assert_uint_eq(unseen_of(9, 4, 60, 2000 / 8).samples, 27);
}
END_TEST

/* SM 16 is in SM 0's GPC. `count` first-wave blocks from `start` to `end` there beside SM 0's 30 blocks, the first of
 * which ends at 1000 + DURATION. */
static size_t samples_beside(int count, int start, int end)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load("h200", &gpu, &err) == WT_OK, "%s", err.text);
    struct wt_timeline *timeline = rounds_of_blocks(gpu, 1, 30, 60, 0);
    struct wt_block_run run = {.sm = 16, .start = wt_from_cycles(start), .end = wt_from_cycles(end)};
    for (int i = 0; i < count; i++)
        wt_timeline_add(timeline, &run);
    size_t samples = wt_unseen_time(timeline, 0, 1, true, NULL, gpu).samples;
    wt_timeline_free(timeline);
    wt_gpu_free(gpu);
    return samples;
}

/* Of a GPC's reports that wait one is taken each 9.51 cycles, if the others' wait, too: 450 cycles later 2 are through for certain, of 60
 * the last is not. */
START_TEST(releases_behind_a_backlog_do_not_count)
{
    ck_assert_uint_eq(samples_beside(2, 500, 1000 + DURATION - 450), 29);
    ck_assert_uint_eq(samples_beside(60, 500, 1000 + DURATION - 450), 28);
}
END_TEST

enum { ALONE = 20 };

/* SM 0 runs two blocks at a time. Of nine ends, four pairs come 2,000 cycles apart: the first one's room does not suit the next
 * block, which starts after the second end, and another one 40 cycles later. The ninth block ends alone and is replaced. Each
 * release takes 60 cycles longer than the GPU's own. */
static struct wt_unseen unseen_where_some_wait(int warps)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load("h200", &gpu, &err) == WT_OK, "%s", err.text);
    double release = wt_gpu_unloaded_release(gpu, 0) + 60;
    struct wt_timeline *timeline = wt_timeline_new("made", gpu->name, gpu->topology.sm_count);
    struct wt_timeline_launch launch = {.name = "k", .grid_blocks = 9 * ALONE, .warps_per_block = warps};
    wt_timeline_add_launch(timeline, &launch);
    double end[9 * ALONE], start[9 * ALONE + 2] = {0};
    for (int i = 0; i < 9 * ALONE; i++) {
        bool alone = i % 9 == 8, second = i % 9 % 2;
        end[i] = 10000 + i / 9 * 50000 + i % 9 / 2 * 10000 + second * 2000;
        start[i + 2] = alone ? end[i] + release : end[i] + release + (second ? 40 : 2000);
    }
    for (int i = 0; i < 9 * ALONE; i++) {
        struct wt_block_run run = {.block = (uint64_t)i, .start = wt_from_cycles(start[i]), .end = wt_from_cycles(end[i])};
        wt_timeline_add(timeline, &run);
    }
    struct wt_unseen found = wt_unseen_time(timeline, 0, 2, true, NULL, gpu);
    wt_timeline_free(timeline);
    wt_gpu_free(gpu);
    return found;
}

/* Two warps may wait for their sub-cores, four fit wherever four ended. The last two ends have no start to go with. */
START_TEST(where_blocks_wait_for_a_sub_core_only_sure_pairs_count)
{
    struct wt_unseen sure = unseen_where_some_wait(2);
    ck_assert_uint_eq(sure.samples, ALONE - 1);
    ck_assert_double_le(fabs(sure.cycles - 60), 0.01);
    ck_assert_uint_eq(unseen_where_some_wait(4).samples, 9 * ALONE - 2);
}
END_TEST

/* One SM, blocks of one warp with half of a sub-core's registers: two on each sub-core, in turn. Block 1 ends first, on the second sub-
 * core, while the next block is to go to the first one, where block 0 ends 2,000 cycles later and lets in two. `start` of the first of
 * these. */
static bool who_let_in(double start, double *waits)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load("h200", &gpu, &err) == WT_OK, "%s", err.text);
    struct wt_launch_needs needs = {.threads = 32, .registers_per_thread = 255, .carveout_kb = WT_CARVEOUT_DEFAULT};
    struct wt_shape shape;
    ck_assert_int_eq(wt_shape_make(&gpu->limits, &needs, &shape, &err), WT_OK);
    struct wt_timeline *timeline = wt_timeline_new("made", gpu->name, gpu->topology.sm_count);
    struct wt_timeline_launch launch = {.name = "k", .grid_blocks = 10, .warps_per_block = 1};
    wt_timeline_add_launch(timeline, &launch);
    for (int i = 0; i < 10; i++) {
        double from = i < 8 ? 10 * i : i == 8 ? start : start + 10;
        double to = i == 1 ? 1000 : i == 0 ? 3000 : 9000 + i;
        struct wt_block_run run = {.block = (uint64_t)i, .start = wt_from_cycles(from), .end = wt_from_cycles(to)};
        wt_timeline_add(timeline, &run);
    }
    bool told = wt_let_in(timeline, 0, &shape, gpu, waits);
    wt_timeline_free(timeline);
    wt_gpu_free(gpu);
    return told;
}

/* From block 0's end, not from block 1's. A start before it is not what the rules say. */
START_TEST(admission_tells_whose_end_let_a_block_in)
{
    double waits[10];
    ck_assert(who_let_in(3300, waits));
    ck_assert_double_eq(waits[0], 300);
    for (int i = 1; i < 10; i++)
        ck_assert(isnan(waits[i]));
    ck_assert(!who_let_in(1300, waits));
}
END_TEST

static double unseen_in(const char *trace)
{
    struct wt_replay *replay = replayed(trace);
    double cycles = replay->whole.unseen_cycles;
    wt_replay_free(replay);
    return cycles;
}

/* One FMA chain of exponential lengths, seven warps a block: what the youngest wait before they read their start is half of all time, and
 * an SM's other blocks end meanwhile. Repetitions differ by 13 %. */
START_TEST(starving_blocks_are_told_their_usual_time)
{
    struct wt_replay *replay = replayed("questions/fma1_b224.r0");
    ck_assert_double_le(fabs(replay->whole.makespan_error), 0.03);
    ck_assert_double_le(replay->whole.start_error_p50, 2500);
    wt_replay_free(replay);
}
END_TEST

/* Blocks of lognormal lengths tell that those of the same program stay 4 cycles. Where a TPC's blocks end together starts wait for their
 * reports, up to 16 x 17 cycles, which is not the blocks' stay. */
START_TEST(a_tpcs_reports_do_not_look_unseen)
{
    ck_assert_double_le(fabs(unseen_in("test/long/lognormal_b256.r0") - 4), 1);
    ck_assert_double_le(fabs(unseen_in("test/long/spin20k_b256.r0")), 10);
    ck_assert_double_le(fabs(unseen_in("test/short/empty_g2112.r0")), 10);
}
END_TEST

/* Empty blocks end so close together that no release is quiet, but all of them are late by as much. Those of the earlier program stay
 * longer than they recorded, by about the same whatever their size; the present program's record what they stay. */
START_TEST(replays_tell_where_no_release_does)
{
    static const char *const earlier[] = {"empty_b128.r0", "empty_b256.r0", "empty_b512.r0"};
    static const char *const present[] = {"fit/empty_b128.r0", "fit/empty_b256.r0", "fit/empty_b512.r0"};
    for (int i = 0; i < 3; i++) {
        struct wt_replay *replay = replayed(earlier[i]);
        ck_assert_double_le(fabs(replay->whole.unseen_cycles - 160), 40);
        ck_assert_double_le(fabs(replay->whole.makespan_error), 0.01);
        ck_assert_double_le(replay->whole.start_error_p50, 60);
        wt_replay_free(replay);
        ck_assert_double_le(unseen_in(present[i]), 20);
    }
}
END_TEST

Suite *unseen_suite(void)
{
    Suite *suite = suite_create("unseen");
    TCase *tcase = tcase_create("unseen");
    tcase_add_loop_test(tcase, the_time_beyond_the_reads_is_found, 0, 4);
    tcase_add_test(tcase, another_parts_tpcs_do_not_look_unseen);
    tcase_add_test(tcase, a_few_quiet_releases_are_needed);
    tcase_add_test(tcase, releases_soon_after_another_end_do_not_count);
    tcase_add_test(tcase, releases_behind_a_backlog_do_not_count);
    tcase_add_test(tcase, where_blocks_wait_for_a_sub_core_only_sure_pairs_count);
    tcase_add_test(tcase, admission_tells_whose_end_let_a_block_in);
    tcase_add_test(tcase, starving_blocks_are_told_their_usual_time);
    tcase_add_test(tcase, a_tpcs_reports_do_not_look_unseen);
    tcase_add_test(tcase, replays_tell_where_no_release_does);
    suite_add_tcase(suite, tcase);
    return suite;
}
