/* Do timelines keep what the simulation says, and give measured spans sensible slots? */
#include <stdlib.h>

#include "core/random.h"
#include "observe/timeline.h"
#include "suites.h"

static void add(struct wt_timeline *timeline, uint64_t block, unsigned sm, wt_time start, wt_time end)
{
    struct wt_block_run span = {.block = block, .sm = (uint16_t)sm, .start = start, .end = end};
    wt_timeline_add(timeline, &span);
}

static struct wt_timeline *one_launch(int sms)
{
    struct wt_timeline *timeline = wt_timeline_new("t", "g", sms);
    struct wt_timeline_launch launch = {.name = "k", .grid_blocks = 1, .warps_per_block = 1};
    wt_timeline_add_launch(timeline, &launch);
    return timeline;
}

START_TEST(observer_fills_spans_and_queue_empty)
{
    struct wt_timeline *timeline = one_launch(4);
    struct wt_observer observer = wt_timeline_observer(timeline);
    struct wt_block_run run = {.block = 7, .sm = 3, .slot = 2, .start = 10, .end = 30};
    observer.block_done(observer.context, &run);
    observer.launch_ends(observer.context, 0, 10, 30);
    ck_assert_uint_eq(timeline->span_count, 1);
    ck_assert_mem_eq(&timeline->spans[0], &run, sizeof run);
    ck_assert_uint_eq(timeline->launches[0].queue_empty, 10);
    ck_assert_int_eq(wt_timeline_slots(timeline), 3);
    wt_timeline_free(timeline);
}
END_TEST

START_TEST(sort_is_by_start_launch_block)
{
    struct wt_timeline *timeline = one_launch(1);
    struct wt_block_run runs[] = {{.start = 5, .end = 6, .launch = 1, .block = 0},
                                  {.start = 5, .end = 9, .launch = 0, .block = 2},
                                  {.start = 5, .end = 7, .launch = 0, .block = 1},
                                  {.start = 1, .end = 9, .launch = 1, .block = 9}};
    for (int i = 0; i < 4; i++)
        wt_timeline_add(timeline, &runs[i]);
    wt_timeline_sort(timeline);
    static const uint64_t order[] = {9, 1, 2, 0};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(timeline->spans[i].block, order[i]);
    wt_timeline_free(timeline);
}
END_TEST

/* A slot is free from the very moment its span ends; the lowest free one is taken. */
START_TEST(lowest_free_slot_is_given)
{
    struct wt_timeline *timeline = one_launch(2);
    add(timeline, 0, 0, 0, 100);
    add(timeline, 1, 0, 0, 50);
    add(timeline, 2, 0, 49, 60);
    add(timeline, 3, 0, 50, 70);
    add(timeline, 4, 1, 49, 60);
    wt_timeline_assign_slots(timeline, 0);
    static const unsigned slot[5] = {0, 1, 2, 1, 0};
    for (size_t i = 0; i < 5; i++)
        ck_assert_uint_eq(timeline->spans[i].slot, slot[timeline->spans[i].block]);
    wt_timeline_free(timeline);
}
END_TEST

/* An overlap of exactly `slack` is taken for misalignment, one unit more is not. */
START_TEST(slack_is_inclusive)
{
    for (wt_time overlap = 9; overlap <= 11; overlap++) {
        struct wt_timeline *timeline = one_launch(1);
        add(timeline, 0, 0, 0, 100);
        add(timeline, 1, 0, 100 - overlap, 200);
        wt_timeline_assign_slots(timeline, 10);
        ck_assert_uint_eq(timeline->spans[1].slot, overlap > 10);
        ck_assert_uint_eq(timeline->spans[1].start, overlap > 10 ? 100 - overlap : 100);
        ck_assert_uint_eq(timeline->spans[1].end, 200);
        wt_timeline_free(timeline);
    }
}
END_TEST

/* Random spans, also ones shorter than the slack: no slot ever holds two at once, and order holds. */
START_TEST(assigned_slots_never_overlap)
{
    struct wt_random random = wt_random_stream(3, "spans", 0);
    struct wt_timeline *timeline = one_launch(3);
    for (uint64_t i = 0; i < 3000; i++) {
        wt_time start = wt_random_below(&random, 20000);
        add(timeline, i, wt_random_below(&random, 3), start, start + wt_random_below(&random, 60));
    }
    wt_timeline_assign_slots(timeline, 20);
    wt_time end[3][64] = {{0}}, start[3][64] = {{0}};
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *s = &timeline->spans[i];
        ck_assert_uint_lt(s->slot, 64);
        bool touches = s->start == s->end && s->start == start[s->sm][s->slot]; /* an empty span, sorted after */
        ck_assert(s->start >= end[s->sm][s->slot] || touches);
        ck_assert_uint_ge(s->end, s->start);
        ck_assert(i == 0 || s->start >= timeline->spans[i - 1].start);
        start[s->sm][s->slot] = s->start;
        if (s->end > end[s->sm][s->slot])
            end[s->sm][s->slot] = s->end;
    }
    wt_timeline_free(timeline);
}
END_TEST

START_TEST(begin_end_and_queue_empty_are_found)
{
    struct wt_timeline *timeline = one_launch(1);
    ck_assert_uint_eq(wt_timeline_begin(timeline), 0);
    ck_assert_uint_eq(wt_timeline_end(timeline), 0);
    add(timeline, 0, 0, 30, 100);
    add(timeline, 1, 0, 20, 25);
    add(timeline, 2, 0, 40, 50);
    wt_timeline_find_queue_empty(timeline);
    ck_assert_uint_eq(wt_timeline_begin(timeline), 20);
    ck_assert_uint_eq(wt_timeline_end(timeline), 100);
    ck_assert_uint_eq(timeline->launches[0].queue_empty, 40);
    wt_timeline_free(timeline);
}
END_TEST

/* Counted as pictures count: from the first start, or from the host's first call, 50 before it. */
START_TEST(a_deadlock_begins_when_outputs_say)
{
    struct wt_timeline *timeline = one_launch(1);
    add(timeline, 0, 0, 100, 900);
    ck_assert_uint_eq(wt_timeline_stuck_after(timeline), 0);
    timeline->stuck_since = 700;
    ck_assert_uint_eq(wt_timeline_stuck_after(timeline), 600);
    timeline->host = wt_host_timeline_empty(0, 0);
    timeline->host->lead = 50;
    ck_assert_uint_eq(wt_timeline_stuck_after(timeline), 650);
    ck_assert(wt_timeline_never_ends(timeline, &timeline->spans[0]));
    timeline->spans[0].end = 700;
    ck_assert(!wt_timeline_never_ends(timeline, &timeline->spans[0]));
    wt_timeline_free(timeline);
}
END_TEST

Suite *timeline_suite(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tcase = tcase_create("timeline");
    tcase_add_test(tcase, observer_fills_spans_and_queue_empty);
    tcase_add_test(tcase, sort_is_by_start_launch_block);
    tcase_add_test(tcase, lowest_free_slot_is_given);
    tcase_add_test(tcase, slack_is_inclusive);
    tcase_add_test(tcase, assigned_slots_never_overlap);
    tcase_add_test(tcase, begin_end_and_queue_empty_are_found);
    tcase_add_test(tcase, a_deadlock_begins_when_outputs_say);
    suite_add_tcase(suite, tcase);
    return suite;
}
