/* Do the view's tables tell what the timeline says, whatever is asked of them? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "keys.h"
#include "playback.h"
#include "run.h"
#include "origin.h"
#include "scenario.h"
#include "smstate.h"
#include "suites.h"
#include "synthetic.h"

static const struct synthetic several = {.sms = 6, .gpcs = 2, .slots = 3, .warps_per_block = 4, .warps_per_sm = 64, .launches = 2,
                                         .blocks = 200, .least = 900 * WT_CYCLE, .most = 4000 * WT_CYCLE, .gap = 300};

/* Resident time in [t0, t1), block by block. */
static double mean_by_hand(const struct wt_timeline *timeline, int sm, wt_time t0, wt_time t1)
{
    double sum = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        wt_time from = span->start > t0 ? span->start : t0, to = span->end < t1 ? span->end : t1;
        if (to > from && (sm < 0 || span->sm == sm))
            sum += (double)(to - from);
    }
    return sum / (double)(t1 - t0);
}

static struct run *synthetic_run(void)
{
    return run_new("test", synthetic_timeline(&several), NULL);
}

START_TEST(densities_are_exact_at_any_width)
{
    struct run *run = synthetic_run();
    struct wt_random random = wt_random_stream(1, "density", 0);
    for (int i = 0; i < 2000; i++) {
        wt_time t0 = wt_random_below(&random, (uint32_t)run->end), width = 1 + wt_random_below(&random, 1u << (i % 24));
        int sm = (int)wt_random_below(&random, (uint32_t)run->sms);
        ck_assert_double_eq_tol(density_mean(&run->sm_density[sm], t0, t0 + width), mean_by_hand(run->timeline, sm, t0, t0 + width),
                                1e-9);
        ck_assert_double_eq_tol(density_mean(&run->blocks, t0, t0 + width), mean_by_hand(run->timeline, -1, t0, t0 + width), 1e-9);
    }
    ck_assert_double_eq_tol(run_mean_warps(run, 0, run->end), 4 * mean_by_hand(run->timeline, -1, 0, run->end), 1e-9);
    run_free(run);
}
END_TEST

/* A start counts from its own moment on, an end no longer at its own. */
START_TEST(a_block_is_there_from_its_start_to_just_before_its_end)
{
    struct run *run = synthetic_run();
    for (uint32_t i = 0; i < run->timeline->span_count; i++) {
        const struct wt_block_run *span = run_span(run, i);
        int lane = run_lane(run, span->sm, span->slot);
        ck_assert_uint_eq(run_resident(run, lane, span->start), i);
        ck_assert_uint_eq(run_resident(run, lane, span->end - 1), i);
        ck_assert_uint_ne(run_resident(run, lane, span->end), i);
        ck_assert(span->start == 0 || run_resident(run, lane, span->start - 1) != i);
        ck_assert_uint_eq(run_find_block(run, span->launch, span->block), i);
    }
    ck_assert_uint_eq(run_find_block(run, 0, 200), NO_SPAN);
    ck_assert_uint_eq(run_find_block(run, 2, 0), NO_SPAN);
    run_free(run);
}
END_TEST

START_TEST(events_follow_one_another)
{
    struct run *run = synthetic_run();
    wt_time t = 0;
    size_t events = 0;
    for (wt_time next; (next = run_next_event(run, t)) != WT_NEVER; t = next, events++) {
        ck_assert_uint_gt(next, t);
        ck_assert_uint_eq(run_previous_event(run, next), t);
    }
    ck_assert_uint_eq(t, run->end);
    ck_assert_uint_gt(events, 400);
    ck_assert_uint_eq(run_previous_event(run, 0), WT_NEVER);
    ck_assert_uint_eq(run_waiting(run, run->end), 0);
    run_free(run);
}
END_TEST

/* ---- What if: the textbook's ten blocks on four SMs ---- */

static struct run *simulated(const char *workload, const struct changes *changes)
{
    struct wt_error err = {0};
    struct scenario *scenario;
    struct run *run;
    char *path = wt_format("%s/configs/workloads/%s.cfg", WT_SOURCE_ROOT, workload);
    ck_assert_msg(scenario_from_workload(path, NULL, 1, false, &scenario, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(scenario_simulate(scenario, changes, "test", &run, &err) == WT_OK, "%s", err.text);
    scenario_free(scenario);
    free(path);
    return run;
}

/* Half the threads and no shared memory: 20 blocks, of which all are resident at once: one round. */
START_TEST(smaller_blocks_need_more_of_them)
{
    struct changes changes = changes_none();
    struct run *before = simulated("rounds", &changes);
    ck_assert_uint_eq(before->timeline->span_count, 10);
    ck_assert_double_eq(wt_to_cycles(before->end), 3000);
    changes.threads = 128;
    changes.dynamic_shared = 0;
    struct run *after = simulated("rounds", &changes);
    ck_assert_uint_eq(after->timeline->span_count, 20);
    ck_assert_double_eq(wt_to_cycles(after->end), 1000);
    run_free(before);
    run_free(after);
}
END_TEST

/* One block of 10,000 cycles among 39 of 1,000, handed out last: 9 rounds before it, or beside it. */
START_TEST(longest_first_hides_the_long_block)
{
    struct changes changes = changes_none();
    struct run *before = simulated("imbalance", &changes);
    changes.order = ORDER_LONGEST_FIRST;
    struct run *after = simulated("imbalance", &changes);
    const struct wt_metrics_part *last = &before->metrics->launches[1], *first = &after->metrics->launches[1];
    ck_assert_double_eq(wt_to_cycles(last->end - last->begin), 19000);
    ck_assert_double_eq(wt_to_cycles(first->end - first->begin), 13000);
    uint32_t longest = run_find_block(after, 1, 39); /* keeps its number */
    ck_assert_double_eq(wt_to_cycles(run_span(after, longest)->end - run_span(after, longest)->start), 10000);
    ck_assert_uint_eq(run_span(after, longest)->start, first->begin);
    run_free(before);
    run_free(after);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    struct wt_error err = {0};
    struct scenario *scenario;
    struct run *run;
    struct changes changes = changes_none();
    changes.threads = 1025;
    ck_assert_int_eq(scenario_from_workload(WT_SOURCE_ROOT "/configs/workloads/rounds.cfg", NULL, 1, false, &scenario, &err), WT_OK);
    ck_assert_int_eq(scenario_simulate(scenario, &changes, "test", &run, &err), WT_BAD_INPUT);
    ck_assert_ptr_null(run);
    ck_assert_ptr_nonnull(strstr(err.text, "1024"));
    scenario_free(scenario);
}
END_TEST

/* ---- What a simulation is asked ---- */

static struct scenario *opened(const char *workload, struct run **run)
{
    struct wt_error err = {0};
    struct scenario *scenario;
    struct changes none = changes_none();
    char *path = wt_format("%s/configs/%s.cfg", WT_SOURCE_ROOT, workload);
    ck_assert_msg(scenario_from_workload(path, NULL, 1, false, &scenario, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(scenario_simulate(scenario, &none, "test", run, &err) == WT_OK, "%s", err.text);
    free(path);
    return scenario;
}

/* One block to an SM: block 4, the first of the second round, waits for the end of one of the first, at 1,000 cycles. */
START_TEST(a_run_tells_why_a_block_waited)
{
    struct run *run;
    struct scenario *scenario = opened("workloads/rounds", &run);
    struct wt_why_question question = {.launch = 0, .block = 4};
    struct wt_error err = {0};
    struct wt_why *why;
    ck_assert(origin_can_tell(run->origin));
    ck_assert_int_eq(origin_ask(run->origin, &question, &why, &err), WT_OK);
    ck_assert(why->found && why->freed);
    ck_assert_int_eq(why->reason_count, 1);
    ck_assert_int_eq(why->reasons[0].sms, 4);
    ck_assert_double_eq(why->ended, 1000);
    ck_assert_double_eq(why->start, 1000);
    wt_why_free(why);
    run_free(run);
    scenario_free(scenario);
}
END_TEST

/* 2,112 blocks start at once, a TPC's second SM later than its first; they leave the queue by number all the same. */
START_TEST(the_queue_stands_in_the_order_of_numbers)
{
    struct run *run;
    struct scenario *scenario = opened("workloads/waves", &run);
    uint32_t next[8];
    wt_time between = run->metrics->launches[0].end; /* the second kernel's blocks wait */
    ck_assert_uint_eq(run_queue(run, between, next, 8), 8);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(run_span(run, next[i])->launch, 1);
        ck_assert_uint_eq(run_span(run, next[i])->block, i);
        ck_assert_uint_eq(run_queue_place(run, between, next[i]), i);
    }
    run_free(run);
    scenario_free(scenario);
}
END_TEST

/* Five blocks meet at a barrier on four SMs of one place each. */
START_TEST(a_deadlock_leaves_its_blocks_standing)
{
    struct run *run;
    struct scenario *scenario = opened("lessons/workloads/stuck", &run);
    ck_assert_ptr_nonnull(run->timeline->stuck);
    ck_assert_uint_eq(run->timeline->span_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(run_span(run, i)->end, run->end);
    ck_assert_uint_eq(run_waiting(run, run->end - 1), 1);
    ck_assert(!run_in_tail(run, run->end / 2));
    run_free(run);
    scenario_free(scenario);
}
END_TEST

/* Going back and forth ends in the same state as going there at once. */
START_TEST(an_sm_can_be_sought_at_any_time)
{
    struct changes changes = changes_none();
    struct run *run = simulated("waves", &changes);
    struct sm_state *there = sm_state_new(run, 1), *wandering = sm_state_new(run, 1);
    ck_assert_ptr_nonnull(there);
    sm_state_seek(wandering, run->end);
    ck_assert_int_eq(wt_sm_resident_blocks(wandering->model), 0);
    for (int i = 0; i < 20; i++) {
        wt_time t = run->end * (wt_time)((i * 7) % 20) / 20;
        sm_state_seek(wandering, t);
        sm_state_free(there);
        there = sm_state_new(run, 1);
        sm_state_seek(there, t);
        ck_assert_int_eq(wt_sm_resident_blocks(there->model), wt_sm_resident_blocks(wandering->model));
        ck_assert_uint_eq(density_resident(&run->sm_density[1], t), (unsigned)wt_sm_resident_blocks(there->model));
        ck_assert_int_eq(wt_sm_subcore_pointer(there->model), wt_sm_subcore_pointer(wandering->model));
    }
    ck_assert_uint_eq(there->refused, 0);
    sm_state_free(there);
    sm_state_free(wandering);
    run_free(run);
}
END_TEST

/* ---- Time ---- */

START_TEST(speeds_go_from_one_cycle_to_real_time)
{
    struct playback playback = playback_new(100000, 1980, 20);
    ck_assert_double_eq(playback.speed, 5000);
    for (int i = 0; i < 100; i++)
        playback_change_speed(&playback, -1);
    ck_assert_double_eq(playback.speed, 1);
    playback_change_speed(&playback, 1);
    ck_assert_double_eq(playback.speed, 2);
    for (int i = 0; i < 100; i++)
        playback_change_speed(&playback, 1);
    ck_assert_double_eq(playback.speed, 1980e6);
    playback_change_speed(&playback, -1);
    ck_assert_double_eq(playback.speed, 1e9);
}
END_TEST

START_TEST(playing_stops_at_the_end_and_begins_anew)
{
    struct playback playback = playback_new(1000, 1000, 10);
    playback_toggle(&playback);
    playback_advance(&playback, 9);
    ck_assert_double_eq(playback.now, 900);
    ck_assert(playback.playing);
    playback_advance(&playback, 1);
    ck_assert_double_eq(playback.now, 1000);
    ck_assert(!playback.playing);
    playback_toggle(&playback);
    ck_assert_double_eq(playback.now, 0);
}
END_TEST

/* ---- Keys ---- */

START_TEST(every_key_means_one_thing)
{
    for (int i = 0; i < ACTIONS; i++) {
        ck_assert_int_eq(key_action(bindings[i].key), i);
        ck_assert_int_eq(action_by_name(bindings[i].name), i);
        if (bindings[i].second)
            ck_assert_int_eq(key_action(bindings[i].second), i);
        ck_assert_uint_gt(strlen(bindings[i].help), 0);
    }
    ck_assert_int_eq(key_by_name("Space"), ' ');
    ck_assert_int_eq(key_by_name("W"), 'w');
    ck_assert_int_eq(key_by_name("nothing"), 0);
}
END_TEST

Suite *view_model_suite(void)
{
    Suite *suite = suite_create("view_model");
    TCase *tcase = tcase_create("view_model");
    tcase_add_test(tcase, densities_are_exact_at_any_width);
    tcase_add_test(tcase, a_block_is_there_from_its_start_to_just_before_its_end);
    tcase_add_test(tcase, events_follow_one_another);
    tcase_add_test(tcase, smaller_blocks_need_more_of_them);
    tcase_add_test(tcase, longest_first_hides_the_long_block);
    tcase_add_test(tcase, what_does_not_fit_is_refused);
    tcase_add_test(tcase, a_run_tells_why_a_block_waited);
    tcase_add_test(tcase, the_queue_stands_in_the_order_of_numbers);
    tcase_add_test(tcase, a_deadlock_leaves_its_blocks_standing);
    tcase_add_test(tcase, an_sm_can_be_sought_at_any_time);
    tcase_add_test(tcase, speeds_go_from_one_cycle_to_real_time);
    tcase_add_test(tcase, playing_stops_at_the_end_and_begins_anew);
    tcase_add_test(tcase, every_key_means_one_thing);
    suite_add_tcase(suite, tcase);
    return suite;
}
