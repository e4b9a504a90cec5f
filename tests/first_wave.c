/* Do a grid's first blocks go to the SMs to which the hardware gave them? Against every captured launch. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "simulated.h"
#include "suites.h"
#include "trace/topology.h"

enum { SMS = 132, TPCS = 66, GROUPS = 9, EXTRA = 8 };

static struct wt_trace *trace_of(const char *path)
{
    struct wt_trace *trace;
    struct wt_error err = {0};
    ck_assert_msg(wt_trace_read(path, &trace, &err) == WT_OK, "%s", err.text);
    return trace;
}

static struct wt_trace *shipped(const char *name)
{
    char *path = wt_format("%s/traces/h200/%s.csv.zst", WT_SOURCE_ROOT, name);
    struct wt_trace *trace = trace_of(path);
    free(path);
    return trace;
}

/* What fits at once, by the runtime's occupancy API as the trace has it. */
static uint64_t wave_of(const struct wt_trace_launch *launch)
{
    uint64_t room = (uint64_t)launch->occupancy_blocks * SMS;
    return launch->row_count < room ? launch->row_count : room;
}

/* Blocks that never end, in the launch's shape. */
static struct grid endless(const struct wt_trace_launch *launch)
{
    return (struct grid){.blocks = wave_of(launch),
                         .cycles = {1e9},
                         .threads = wt_trace_block_threads(launch),
                         .registers = launch->registers_per_thread,
                         .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                         .cooperative = launch->cooperative};
}

static uint64_t matches(const struct wt_trace *trace, size_t launch, const struct wt_block_run *runs)
{
    const struct wt_trace_row *rows = wt_trace_rows_of(trace, launch);
    uint64_t same = 0, wave = wave_of(&trace->launches[launch]);
    for (uint64_t block = 0; block < wave; block++)
        same += rows[block].block == block && rows[block].sm == runs[block].sm;
    return same;
}

/* ---- All captures ---- */

static void check_launch(const struct wt_gpu *gpu, const struct wt_trace *trace, size_t launch)
{
    struct start start = from_anew;
    wt_first_wave_start(trace, launch, gpu, &start.first_group, &start.first_extra_sm);
    struct grid grid = endless(&trace->launches[launch]);
    if (grid.blocks == 0)
        return; /* a launch that was refused */
    struct wt_block_run *runs = simulated(gpu, &start, &grid, 1);
    uint64_t same = matches(trace, launch, runs);
    ck_assert_msg(same == grid.blocks, "%s, launch %ld: %llu of %llu", trace->path, trace->launches[launch].number,
                  (unsigned long long)same, (unsigned long long)grid.blocks);
    free(runs);
}

/* Launches alone on the GPU. Returns their number. */
static size_t check_trace(const struct wt_gpu *gpu, const char *path)
{
    if (strstr(path, "clock_sync"))
        return 0;
    struct wt_trace *trace = trace_of(path);
    size_t count = 0;
    if (!(wt_trace_kinds(trace) & ~(unsigned)(WT_TRACE_SEVERAL | WT_TRACE_COOPERATIVE)))
        for (; count < trace->launch_count; count++)
            check_launch(gpu, trace, count);
    wt_trace_free(trace);
    return count;
}

static void check_all(const char *pattern, size_t at_least)
{
    struct wt_gpu *gpu = gpu_named("h200");
    char *where = wt_format("%s/traces/h200/%s", WT_SOURCE_ROOT, pattern);
    glob_t files;
    ck_assert_int_eq(glob(where, 0, NULL, &files), 0);
    size_t count = 0;
    for (size_t i = 0; i < files.gl_pathc; i++)
        count += check_trace(gpu, files.gl_pathv[i]);
    ck_assert_uint_ge(count, at_least);
    globfree(&files);
    free(where);
    wt_gpu_free(gpu);
}

START_TEST(every_first_wave_block_is_on_the_very_sm)
{
    check_all("*.zst", 90);
    check_all("mechanisms/partial_*.zst", 20);
    check_all("cooperative/*.zst", 14);
}
END_TEST

/* ---- Several launches ---- */

/* All launches of a trace in one simulation that is told only where the first one began; returns how many in a row
 * then are all where they were. */
static size_t launches_foretold(const char *name)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_trace *trace = shipped(name);
    struct start start = from_anew;
    wt_first_wave_start(trace, 0, gpu, &start.first_group, &start.first_extra_sm);
    struct grid *grids = wt_alloc(trace->launch_count, sizeof *grids);
    for (size_t i = 0; i < trace->launch_count; i++)
        grids[i] = endless(&trace->launches[i]);
    struct wt_block_run *runs = simulated(gpu, &start, grids, trace->launch_count);
    size_t launch = 0;
    for (size_t at = 0; launch < trace->launch_count; at += grids[launch++].blocks)
        if (matches(trace, launch, runs + at) < grids[launch].blocks)
            break;
    free(runs);
    free(grids);
    wt_trace_free(trace);
    wt_gpu_free(gpu);
    return launch;
}

/* Twelve launches of one block to an SM. Of carve_0 the second launch has a second wave, which leaves the rotation
 * somewhere else. */
START_TEST(where_the_rotation_is_carries_over)
{
    ck_assert_uint_eq(launches_foretold("mechanisms/gap_0.r0"), 12);
    ck_assert_uint_eq(launches_foretold("mechanisms/carve_0.r0"), 2);
    ck_assert_uint_eq(launches_foretold("questions/rotation_held.r0"), 39);
}
END_TEST

/* ---- The cadence ---- */

/* Visits to other groups between those to the extra group, read off the SMs of blocks in index order. */
struct cadence {
    int visits; /* to the extra group */
    int gaps[64];
};

static struct cadence cadence_of(const int *sms, size_t count)
{
    struct cadence cadence = {0};
    for (size_t i = 0; i < count; i++) {
        int group = h200_group_of(sms[i]);
        bool begins = i == 0 || h200_group_of(sms[i - 1]) != group;
        ck_assert(i > 0 || group == EXTRA);
        if (begins && group == EXTRA)
            cadence.visits++;
        else if (begins)
            cadence.gaps[cadence.visits - 1]++;
    }
    return cadence;
}

/* All 32 visits out of turn: 5, 6, 6, …; after the last one the other groups are alone. */
static void check_cadence(const int *sms)
{
    struct cadence cadence = cadence_of(sms, 32 * SMS);
    ck_assert_int_eq(cadence.visits, 32);
    for (int i = 0; i < 31; i++)
        ck_assert_int_eq(cadence.gaps[i], i == 0 ? 5 : 6);
    ck_assert_int_eq(cadence.gaps[31], 8 * 32 - 5 - 30 * 6);
}

START_TEST(the_extra_group_comes_after_5_then_every_6_visits)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_trace *trace = shipped("spin20k_b32.r0");
    struct grid grid = endless(&trace->launches[0]);
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    int measured[32 * SMS], predicted[32 * SMS];
    ck_assert_uint_eq(grid.blocks, 32 * SMS);
    for (size_t i = 0; i < grid.blocks; i++) {
        measured[i] = wt_trace_rows_of(trace, 0)[i].sm;
        predicted[i] = runs[i].sm;
    }
    check_cadence(measured);
    check_cadence(predicted);
    free(runs);
    wt_trace_free(trace);
    wt_gpu_free(gpu);
}
END_TEST

/* A small GPU on paper: groups 0 to 2 of one SM, and SMs 3 and 4 out of turn, from 4 on, after 2 visits and then after
 * each. */
START_TEST(cadence_and_start_are_the_gpus_and_the_callers)
{
    struct wt_gpu *gpu = gpu_of(4, "sm_count = 5; sms_per_tpc = 1; groups = ([0], [1], [2], [3, 4]); extra_group = 3;",
                                "extra_first_gap = 2; extra_gap = 1;");
    struct start start = {.first_group = 1, .first_extra_sm = 1};
    struct grid grid = {.blocks = 20, .cycles = {9000}};
    struct wt_block_run *runs = simulated(gpu, &start, &grid, 1);
    assert_sms(runs, 20, (int[]){4, 3, 1, 2, 4, 3, 0, 4, 3, 1, 4, 3, 2, 0, 1, 2, 0, 1, 2, 0});
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* ---- Incomplete rounds ---- */

/* Blocks of a grid's last, incomplete round by group, as captured: first the TPCs of all groups are dealt out, so that
 * of 60 blocks group 0 with its 4 TPCs has 4. */
static const struct partial {
    const char *trace;
    int grid;
    int blocks[GROUPS];
} partials[] = {
    {"mechanisms/partial_1.r0", 1, {0, 0, 0, 0, 0, 0, 0, 0, 1}},
    {"mechanisms/partial_2.r0", 2, {0, 0, 0, 0, 0, 0, 0, 0, 2}},
    {"mechanisms/partial_8.r0", 8, {0, 0, 0, 0, 0, 0, 0, 0, 8}},
    {"empty_g16.r0", 16, {1, 1, 1, 1, 1, 1, 1, 1, 8}},
    {"mechanisms/many_0.r0", 20, {2, 2, 2, 2, 1, 1, 1, 1, 8}},
    {"mechanisms/partial_40.r0", 40, {4, 4, 4, 4, 4, 4, 4, 4, 8}},
    {"small_A.r0", 66, {4, 8, 8, 8, 8, 8, 7, 7, 8}},
    {"mechanisms/partial_131.r0", 131, {8, 16, 16, 16, 16, 16, 18, 17, 8}},
    {"mechanisms/partial_132.r0", 132, {0}},
    {"empty_g133.r0", 133, {0, 0, 0, 0, 0, 0, 0, 0, 1}},
    {"mechanisms/partial_140.r0", 140, {0, 0, 0, 0, 0, 0, 0, 0, 8}},
    {"mechanisms/partial_200.r0", 200, {4, 8, 8, 8, 8, 8, 8, 8, 8}},
    {"mechanisms/partial_264.r0", 264, {0}},
    {"mechanisms/partial_300.r0", 300, {4, 4, 4, 4, 3, 3, 3, 3, 8}},
};

/* Also: while a group has fewer blocks than TPCs, each has a TPC of its own. */
static void check_partial(const struct partial *partial, const int *sms)
{
    static const int tpcs[GROUPS] = {4, 8, 8, 8, 8, 8, 9, 9, 4};
    int blocks[GROUPS] = {0}, taken[GROUPS] = {0};
    bool seen[TPCS] = {false};
    for (int i = partial->grid / SMS * SMS; i < partial->grid; i++) {
        int group = h200_group_of(sms[i]);
        blocks[group]++;
        taken[group] += !seen[sms[i] / 2];
        seen[sms[i] / 2] = true;
    }
    for (int g = 0; g < GROUPS; g++) {
        ck_assert_msg(blocks[g] == partial->blocks[g], "grid %d, group %d: %d blocks", partial->grid, g, blocks[g]);
        ck_assert_int_eq(taken[g], blocks[g] < tpcs[g] ? blocks[g] : tpcs[g]);
    }
}

START_TEST(an_incomplete_round_is_spread_evenly)
{
    const struct partial *partial = &partials[_i];
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_trace *trace = shipped(partial->trace);
    struct grid grid = endless(&trace->launches[0]);
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    int measured[300], predicted[300];
    ck_assert_uint_eq(grid.blocks, (uint64_t)partial->grid);
    for (int i = 0; i < partial->grid; i++) {
        measured[i] = wt_trace_rows_of(trace, 0)[i].sm;
        predicted[i] = runs[i].sm;
    }
    check_partial(partial, measured);
    check_partial(partial, predicted);
    free(runs);
    wt_trace_free(trace);
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(two_blocks_go_to_two_tpcs_of_the_extra_group)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct grid grid = {.blocks = 2, .cycles = {9000}};
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    assert_sms(runs, 2, (int[]){124, 126});
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(up_to_132_blocks_have_an_sm_each)
{
    struct wt_gpu *gpu = gpu_named("h200");
    for (uint64_t blocks = 1; blocks <= SMS; blocks++) {
        struct grid grid = {.blocks = blocks, .cycles = {9000}};
        struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
        bool seen[SMS] = {false};
        for (uint64_t i = 0; i < blocks; i++) {
            ck_assert_msg(!seen[runs[i].sm], "grid %llu: two blocks on SM %d", (unsigned long long)blocks, runs[i].sm);
            seen[runs[i].sm] = true;
        }
        free(runs);
    }
    wt_gpu_free(gpu);
}
END_TEST

/* A grid that reaches only some groups moves the rotation too: 8 blocks to the extra group, 5 to groups 0 to 4. The 16
 * blocks of the next grid go on from group 5, after the extra group's half that had the last of the 8. */
START_TEST(the_rotation_goes_on_after_the_last_group_served)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct start start = {.first_group = 6, .first_extra_sm = -1};
    struct grid grids[] = {{.blocks = 13, .cycles = {9000}}, {.blocks = 16, .cycles = {9000}}};
    struct wt_block_run *runs = simulated(gpu, &start, grids, 2);
    assert_sms(runs, 13, (int[]){124, 125, 126, 127, 128, 129, 130, 131, 0, 2, 4, 6, 8});
    assert_sms(runs + 13, 16, (int[]){128, 129, 130, 131, 124, 125, 126, 127, 10, 12, 14, 0, 2, 4, 6, 8});
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* The same law read off hardware, whatever blocks were replaced in between: launch after launch begins at the group after
 * the last one served, or the next one that it has blocks for, and in the extra group at the half served last. */
static size_t check_succession(const char *name)
{
    struct wt_trace *trace = shipped(name);
    int group = -1, half = -1;
    size_t checked = 0;
    for (size_t l = 0; l < trace->launch_count; l++) {
        const struct wt_trace_row *rows = wt_trace_rows_of(trace, l);
        bool served[GROUPS] = {false};
        int first = -1, last = -1, first_half = -1, last_half = -1;
        bool both_halves = trace->launches[l].row_count >= 8;
        for (size_t i = 0; i < trace->launches[l].row_count; i++) {
            int g = h200_group_of(rows[i].sm);
            served[g] = true;
            *(g == EXTRA ? &last_half : &last) = g == EXTRA ? (rows[i].sm - 124) / 4 : g;
            first = first < 0 ? last : first;
            first_half = first_half < 0 ? last_half : first_half;
        }
        int expected = (group + 1) % EXTRA;
        while (first >= 0 && !served[expected])
            expected = (expected + 1) % EXTRA;
        ck_assert_msg(group < 0 || first < 0 || first == expected, "%s: launch %zu begins at %d, not %d", name, l, first, expected);
        ck_assert_msg(half < 0 || !both_halves || first_half == half, "%s: launch %zu, half %d, not %d", name, l, first_half, half);
        checked += group >= 0;
        group = last >= 0 ? last : group;
        half = last_half >= 0 ? last_half : half;
    }
    wt_trace_free(trace);
    return checked;
}

START_TEST(launches_succeed_one_another_as_captured)
{
    ck_assert_uint_eq(check_succession("questions/rotation_b1024.r0"), 26);
    ck_assert_uint_eq(check_succession("questions/rotation_same.r0"), 19);
    ck_assert_uint_eq(check_succession("questions/rotation_small.r0"), 39);
    ck_assert_uint_eq(check_succession("questions/rotation_held.r0"), 38);
}
END_TEST

Suite *first_wave_suite(void)
{
    Suite *suite = suite_create("first_wave");
    TCase *tcase = tcase_create("first_wave");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, every_first_wave_block_is_on_the_very_sm);
    tcase_add_test(tcase, where_the_rotation_is_carries_over);
    tcase_add_test(tcase, the_extra_group_comes_after_5_then_every_6_visits);
    tcase_add_test(tcase, cadence_and_start_are_the_gpus_and_the_callers);
    tcase_add_loop_test(tcase, an_incomplete_round_is_spread_evenly, 0, (int)(sizeof partials / sizeof *partials));
    tcase_add_test(tcase, two_blocks_go_to_two_tpcs_of_the_extra_group);
    tcase_add_test(tcase, up_to_132_blocks_have_an_sm_each);
    tcase_add_test(tcase, the_rotation_goes_on_after_the_last_group_served);
    tcase_add_test(tcase, launches_succeed_one_another_as_captured);
    suite_add_tcase(suite, tcase);
    return suite;
}
