/* Which SM gets the next block, by which policy? And what the distributor knows of room. */
#include <stdlib.h>
#include <string.h>

#include "dispatch/policy.h"
#include "simulated.h"
#include "suites.h"

#define FOUR "sm_count = 4; sms_per_tpc = 1; groups = ([0], [1], [2], [3]);"

static int policy_count(void)
{
    int count = 0;
    while (wt_policies[count])
        count++;
    return count;
}

/* ---- Room ---- */

/* One group of 132 SMs: three words. */
START_TEST(room_is_counted_once)
{
    struct wt_gpu *gpu = gpu_of(1, "sm_count = 132; sms_per_tpc = 2; group_sizes = [132];", "");
    struct wt_room room;
    wt_room_init(&room, &gpu->topology, NULL);
    ck_assert_int_eq(gpu->topology.group_count, 1);
    ck_assert_uint_eq(room.open_groups, 0);
    static const int sms[] = {0, 63, 64, 127, 128, 131};
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < 6; i++)
            wt_room_open(&room, sms[i]);
    ck_assert_int_eq(room.open_in_group[0], 6);
    ck_assert_uint_eq(room.open_groups, 1);
    int open = 0;
    for (int sm = 0; sm < 132; sm++)
        open += wt_room_is_open(&room, sm);
    ck_assert_int_eq(open, 6);
    for (int i = 0; i < 6; i++) {
        ck_assert(wt_room_is_open(&room, sms[i]));
        wt_room_close(&room, sms[i]);
        wt_room_close(&room, sms[i]);
        ck_assert(!wt_room_is_open(&room, sms[i]));
        ck_assert_int_eq(room.open_in_group[0], 5 - i);
    }
    ck_assert_uint_eq(room.open_groups, 0);
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(room_is_kept_by_group)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_room room;
    wt_room_init(&room, &gpu->topology, NULL);
    for (int sm = 0; sm < 132; sm++)
        wt_room_open(&room, sm);
    ck_assert_uint_eq(room.open_groups, 0x1ff);
    for (int sm = 124; sm < 132; sm++)
        wt_room_close(&room, sm);
    ck_assert_uint_eq(room.open_groups, 0xff);
    static const int open[] = {8, 16, 16, 16, 16, 16, 18, 18, 0};
    for (int g = 0; g < 9; g++)
        ck_assert_int_eq(room.open_in_group[g], open[g]);
    wt_gpu_free(gpu);
}
END_TEST

/* ---- What every policy promises ---- */

/* The distributor's side: SMs of a GPU that hold 2 blocks each. */
struct stage {
    struct wt_gpu *gpu;
    struct wt_sm *sms[132];
    struct wt_shape shape;
    struct wt_room room;
    const struct wt_policy *policy;
    void *state;
    wt_time now; /* goes on only where the policy wants a pause */
};

static void set_stage(struct stage *stage, const struct wt_policy *policy)
{
    struct wt_launch_needs needs = {.threads = 1024, .carveout_kb = WT_CARVEOUT_DEFAULT};
    *stage = (struct stage){.gpu = gpu_named("h200"), .policy = policy};
    ck_assert_int_eq(wt_shape_make(&stage->gpu->limits, &needs, &stage->shape, NULL), WT_OK);
    wt_room_init(&stage->room, &stage->gpu->topology, stage->sms);
    stage->room.shape = &stage->shape;
    for (int sm = 0; sm < 132; sm++) {
        stage->sms[sm] = wt_sm_new(&stage->gpu->limits);
        wt_room_open(&stage->room, sm);
    }
    struct wt_policy_start start = {&stage->gpu->topology, &stage->gpu->rates, 1, -1, -1};
    stage->state = policy->create(&start);
}

static void clear_stage(struct stage *stage)
{
    stage->policy->destroy(stage->state);
    for (int sm = 0; sm < 132; sm++)
        wt_sm_free(stage->sms[sm]);
    wt_gpu_free(stage->gpu);
}

/* Returns the blocks given out: to open SMs, none twice, no more than `remaining`. */
static int make_visit(struct stage *stage, int remaining, bool first_wave)
{
    struct wt_visit visit = {.count = 0};
    while (visit.count == 0) {
        visit.now = stage->now;
        stage->policy->visit(stage->state, &stage->room, (uint64_t)remaining, &visit);
        ck_assert(visit.count > 0 || visit.pause > 0);
        stage->now += visit.count > 0 ? 0 : visit.pause;
    }
    ck_assert_int_le(visit.count, remaining);
    ck_assert(visit.first_wave == first_wave);
    bool seen[132] = {false};
    for (int i = 0; i < visit.count; i++) {
        int sm = visit.sms[i];
        ck_assert(!seen[sm] && wt_room_is_open(&stage->room, sm));
        seen[sm] = true;
        ck_assert_int_ge(wt_sm_admit(stage->sms[sm], &stage->shape), 0);
        if (wt_sm_room(stage->sms[sm], &stage->shape) == 0)
            wt_room_close(&stage->room, sm);
    }
    return visit.count;
}

/* 264 blocks fill the GPU, then 40 SMs get one more each. */
START_TEST(visits_name_open_sms_and_tell_the_first_wave)
{
    struct stage stage;
    set_stage(&stage, wt_policies[_i]);
    int left = 264 + 40;
    stage.policy->launch(stage.state, &stage.room, (uint64_t)left, false);
    while (left > 40)
        left -= make_visit(&stage, left, true);
    ck_assert_int_eq(left, 40);
    ck_assert_uint_eq(stage.room.open_groups, 0);
    for (int sm = 3; sm < 123; sm += 3) {
        wt_sm_release(stage.sms[sm], 0);
        wt_room_open(&stage.room, sm);
    }
    while (left > 0)
        left -= make_visit(&stage, left, false);
    ck_assert_int_eq(left, 0);
    clear_stage(&stage);
}
END_TEST

/* Of the last visit only what remains: 100 blocks, fewer than SMs. */
START_TEST(visits_end_with_the_grid)
{
    struct stage stage;
    set_stage(&stage, wt_policies[_i]);
    int left = 100;
    stage.policy->launch(stage.state, &stage.room, (uint64_t)left, false);
    while (left > 0)
        left -= make_visit(&stage, left, true);
    ck_assert_int_eq(left, 0);
    clear_stage(&stage);
}
END_TEST

/* ---- Which SM ---- */

/* Four SMs for 2 blocks each are filled in turn. Then, at 50, SM 1 has room for one block and SM 2 for two. */
static void check_refills(const struct wt_policy *policy, const int *sms)
{
    struct wt_gpu *gpu = gpu_of(2, FOUR, "");
    struct start start = {.policy = policy, .first_group = -1, .first_extra_sm = -1};
    struct grid grid = {.blocks = 11, .cycles = {9000, 50, 50, 9000, 9000, 9000, 50, 9000}};
    struct wt_block_run *runs = simulated(gpu, &start, &grid, 1);
    assert_sms(runs, 8, (int[]){0, 1, 2, 3, 0, 1, 2, 3});
    assert_sms(runs + 8, 3, sms);
    free(runs);
    wt_gpu_free(gpu);
}

/* SM 2, and then the lower of two equal ones. */
START_TEST(most_room_first_and_the_lowest_id_among_equals)
{
    check_refills(&wt_policy_most_room, (int[]){2, 1, 2});
}
END_TEST

START_TEST(round_robin_goes_by_id_and_skips_full_sms)
{
    check_refills(&wt_policy_round_robin, (int[]){1, 2, 2});
}
END_TEST

/* Four slots, 228 KB: SM 0 holds a block of 98 KB, SM 1 two small ones. Of large blocks SM 1 takes two more and SM 0
 * one; of small ones SM 0 takes three and SM 1 two. */
START_TEST(most_room_means_room_for_this_kernel)
{
    struct wt_gpu *gpu = gpu_of(4, "sm_count = 2; sms_per_tpc = 1; groups = ([0], [1]);", "");
    struct wt_launch_needs needs = {.threads = 32, .dynamic_shared_bytes = 100000, .carveout_kb = 228};
    struct wt_shape large, small;
    ck_assert_int_eq(wt_shape_make(&gpu->limits, &needs, &large, NULL), WT_OK);
    needs.dynamic_shared_bytes = 0;
    ck_assert_int_eq(wt_shape_make(&gpu->limits, &needs, &small, NULL), WT_OK);
    struct wt_sm *sms[2] = {wt_sm_new(&gpu->limits), wt_sm_new(&gpu->limits)};
    wt_sm_admit(sms[0], &large);
    wt_sm_admit(sms[1], &small);
    wt_sm_admit(sms[1], &small);
    struct wt_room room;
    wt_room_init(&room, &gpu->topology, sms);
    wt_room_open(&room, 0);
    wt_room_open(&room, 1);
    struct wt_policy_start start = {&gpu->topology, &gpu->rates, 1, -1, -1};
    void *state = wt_policy_most_room.create(&start);
    struct wt_visit visit;
    room.shape = &large;
    wt_policy_most_room.visit(state, &room, 9, &visit);
    ck_assert_int_eq(visit.sms[0], 1);
    room.shape = &small;
    wt_policy_most_room.visit(state, &room, 9, &visit);
    ck_assert_int_eq(visit.sms[0], 0);
    wt_policy_most_room.destroy(state);
    wt_sm_free(sms[0]);
    wt_sm_free(sms[1]);
    wt_gpu_free(gpu);
}
END_TEST

static int first_sm(const struct wt_gpu *gpu, uint64_t seed)
{
    struct start start = {&wt_policy_shuffle, -1, -1, seed};
    struct grid grid = {.blocks = 1, .cycles = {10}};
    struct wt_block_run *runs = simulated(gpu, &start, &grid, 1);
    int sm = runs[0].sm;
    free(runs);
    return sm;
}

/* 1,000 seeds: a fair draw gives each of four SMs 250, within 70 (five standard deviations). */
START_TEST(shuffle_is_as_likely_to_take_any_sm)
{
    struct wt_gpu *gpu = gpu_of(2, FOUR, "");
    int count[4] = {0};
    for (uint64_t seed = 0; seed < 1000; seed++)
        count[first_sm(gpu, seed)]++;
    for (int sm = 0; sm < 4; sm++)
        ck_assert_msg(abs(count[sm] - 250) <= 70, "SM %d: %d times", sm, count[sm]);
    wt_gpu_free(gpu);
}
END_TEST

static bool same_sms(uint64_t seed, uint64_t other)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct grid grid = {.blocks = 400, .cycles = {1000, 700, 900}};
    struct wt_block_run *runs[2];
    for (int i = 0; i < 2; i++) {
        struct start start = {&wt_policy_shuffle, -1, -1, i ? other : seed};
        runs[i] = simulated(gpu, &start, &grid, 1);
    }
    bool same = true;
    for (uint64_t i = 0; i < grid.blocks; i++)
        same &= runs[0][i].sm == runs[1][i].sm && runs[0][i].start == runs[1][i].start;
    free(runs[0]);
    free(runs[1]);
    wt_gpu_free(gpu);
    return same;
}

START_TEST(shuffle_follows_its_seed)
{
    ck_assert(same_sms(7, 7));
    ck_assert(!same_sms(7, 8));
}
END_TEST

/* ---- The table ---- */

START_TEST(policies_are_found_by_name_and_say_what_they_rest_on)
{
    for (int i = 0; wt_policies[i]; i++) {
        const struct wt_policy *policy = wt_policies[i], *found = NULL;
        struct wt_error err = {0};
        ck_assert_int_eq(wt_policy_find(policy->name, &found, &err), WT_OK);
        ck_assert_ptr_eq(found, policy);
        ck_assert(!strcmp(policy->standing, "measured") || !strcmp(policy->standing, "published") ||
                  !strcmp(policy->standing, "assumed"));
        ck_assert_uint_gt(strlen(policy->summary), 10);
        ck_assert_uint_gt(strlen(policy->source), 10);
    }
    ck_assert_str_eq(wt_policy_h200.standing, "measured");
    ck_assert_str_eq(wt_policy_most_room.standing, "published");
}
END_TEST

START_TEST(an_unknown_policy_names_those_there_are)
{
    static const char *const wrong[] = {"", "h20", "H200", "h200 ", "most room"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct wt_policy *found = &wt_policy_h200;
        struct wt_error err = {0};
        char message[200];
        snprintf(message, sizeof message, "no placement policy '%s'; there are: h200, most-room, round-robin, shuffle",
                 wrong[i]);
        ck_assert_int_eq(wt_policy_find(wrong[i], &found, &err), WT_BAD_INPUT);
        ck_assert_ptr_null(found);
        ck_assert_str_eq(err.text, message);
    }
}
END_TEST

Suite *policies_suite(void)
{
    Suite *suite = suite_create("policies");
    TCase *tcase = tcase_create("policies");
    tcase_add_test(tcase, room_is_counted_once);
    tcase_add_test(tcase, room_is_kept_by_group);
    tcase_add_loop_test(tcase, visits_name_open_sms_and_tell_the_first_wave, 0, policy_count());
    tcase_add_loop_test(tcase, visits_end_with_the_grid, 0, policy_count());
    tcase_add_test(tcase, most_room_first_and_the_lowest_id_among_equals);
    tcase_add_test(tcase, round_robin_goes_by_id_and_skips_full_sms);
    tcase_add_test(tcase, most_room_means_room_for_this_kernel);
    tcase_add_test(tcase, shuffle_is_as_likely_to_take_any_sm);
    tcase_add_test(tcase, shuffle_follows_its_seed);
    tcase_add_test(tcase, policies_are_found_by_name_and_say_what_they_rest_on);
    tcase_add_test(tcase, an_unknown_policy_names_those_there_are);
    suite_add_tcase(suite, tcase);
    return suite;
}
