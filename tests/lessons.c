/* Do the lessons say what is so? Expected figures are worked out by hand or the course material's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "study/lesson.h"
#include "suites.h"

struct shown {
    struct wt_lesson *lesson;
    struct wt_lesson_run runs[2];
};

static struct shown shown(const char *name)
{
    struct shown shown = {0};
    struct wt_error err = {0};
    ck_assert_msg(wt_lesson_read(name, &shown.lesson, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_lesson_simulate(shown.lesson->workload, &shown.runs[0], &err) == WT_OK, "%s", err.text);
    if (shown.lesson->second)
        ck_assert_msg(wt_lesson_simulate(shown.lesson->second, &shown.runs[1], &err) == WT_OK, "%s", err.text);
    return shown;
}

static void clear(struct shown *shown)
{
    wt_lesson_free(shown->lesson);
    wt_lesson_run_clear(&shown->runs[0]);
    wt_lesson_run_clear(&shown->runs[1]);
}

/* The caller's. */
static char *filled(const struct shown *shown, const char *text)
{
    char *out;
    struct wt_error err = {0};
    ck_assert_msg(wt_lesson_fill(shown->lesson, text, shown->runs, &out, &err) == WT_OK, "%s", err.text);
    return out;
}

/* Every text of every lesson can be filled, and there are at least ten. */
START_TEST(all_lessons_can_be_given)
{
    char **names;
    size_t count;
    struct wt_error err = {0};
    ck_assert_msg(wt_lesson_list(&names, &count, &err) == WT_OK, "%s", err.text);
    ck_assert_uint_ge(count, 10);
    for (size_t i = 0; i < count; i++) {
        struct shown s = shown(names[i]);
        free(filled(&s, s.lesson->scenario));
        free(filled(&s, s.lesson->question));
        free(filled(&s, s.lesson->answer));
        ck_assert_uint_ge(s.lesson->caption_count, 1);
        for (size_t k = 0; k < s.lesson->caption_count; k++)
            free(filled(&s, s.lesson->captions[k].text));
        clear(&s);
        free(names[i]);
    }
    free(names);
}
END_TEST

/* What each lesson's answer rests on. residency: 64/8, 65,536/(256 x 64), 227 KB/65 KB. granularity: 16,384 registers of a file hold
 * 12 warps of 1,280, 10 of 1,536. waves: L1f. small-grid: L1g. imbalance: as in remedies.c. fragmentation: holes
 * of 51 and 75 KB until 50,000, one of 126 from 10,000. clusters: as many as traces/h200/max_clusters.csv has, 132 and 7 of 16. */
START_TEST(figures_are_right)
{
    static const struct {
        const char *lesson, *text, *expected;
    } cases[] = {
        {"residency", "{0:blocks_per_sm} {1:blocks_per_sm} {2:blocks_per_sm}", "8 4 3"},
        {"residency", "{0:occupancy} {1:occupancy} {2:occupancy}", "100.0 % 50.0 % 37.5 %"},
        {"residency", "{0:makespan} {1:makespan} {2:makespan}", "1,000 cycles 2,000 cycles 3,000 cycles"},
        {"granularity", "{0:blocks_per_sm} {1:blocks_per_sm}", "6 5"},
        {"granularity", "{0:makespan} {1:makespan}", "1,000 cycles 2,000 cycles"},
        {"tail", "{makespan} {waves} {tail} {tail_share} {tail_idle}", "3,000 cycles 2.50 1,000 cycles 33.3 % 50.0 %"},
        {"small-grid", "{sms} {blocks} {idle_sms}", "120 30 90"},
        {"imbalance", "{0:makespan} {1:makespan} {2:makespan}", "19,000 cycles 13,000 cycles 12,700 cycles"},
        {"imbalance", "{3:makespan} {4:makespan} {5:makespan}", "19,000 cycles 19,000 cycles 12,300 cycles"},
        {"one-more", "{sms} {0:blocks} {0:waves} {1:blocks} {1:waves}", "132 132 1.00 133 1.01"},
        {"balance", "{sms} {blocks} {second:blocks}", "80 80 640"},
        {"deadlock", "{deadlock}", "no deadlock"},
        {"fragmentation", "{1:begin} {second:1:begin} {makespan} {second:makespan}",
         "50,000 cycles 10,000 cycles 70,000 cycles 50,000 cycles"},
        {"clusters", "{resident} {second:resident}", "132 112"},
        {"eligible", "{0:blocks_per_sm} {1:blocks_per_sm} {2:blocks_per_sm} {3:blocks_per_sm} {4:blocks_per_sm}", "1 2 4 8 16"},
        {"barriers", "{0:occupancy} {1:occupancy} {2:occupancy} {3:occupancy}", "50.0 % 50.0 % 50.0 % 50.0 %"},
    };
    struct shown s = shown(cases[_i].lesson);
    char *text = filled(&s, cases[_i].text);
    ck_assert_str_eq(text, cases[_i].expected);
    free(text);
    clear(&s);
}
END_TEST

static double makespan(const struct wt_lesson_run *run, size_t launch)
{
    return wt_to_cycles(wt_metrics_makespan(&run->metrics->launches[launch]));
}

/* A block more takes a wave of 20,000 cycles more, less what handing out overlaps; rising work has the longest block at its end. */
START_TEST(comparisons_come_out_as_told)
{
    struct shown s = shown("one-more");
    double more = makespan(&s.runs[0], 1) - makespan(&s.runs[0], 0);
    ck_assert_double_gt(more, 19000);
    ck_assert_double_lt(more, 21000);
    clear(&s);
    s = shown("order");
    ck_assert_uint_ge(s.runs[0].metrics->launches[1].tail.length, 60000 * WT_CYCLE);
    ck_assert_uint_lt(s.runs[0].metrics->launches[0].tail.length, 10000 * WT_CYCLE);
    ck_assert_double_gt(makespan(&s.runs[0], 1), makespan(&s.runs[0], 0));
    clear(&s);
    s = shown("balance");
    ck_assert_double_lt(makespan(&s.runs[1], 0), makespan(&s.runs[0], 0) / 2);
    clear(&s);
}
END_TEST

/* The fifth block has no room, and the message names it; the others arrive at half of their 1,000 cycles and stay. */
START_TEST(deadlock_names_the_missing_block)
{
    struct shown s = shown("deadlock");
    ck_assert_ptr_null(s.runs[0].timeline->stuck);
    ck_assert_ptr_nonnull(s.runs[1].timeline->stuck);
    ck_assert_ptr_nonnull(strstr(s.runs[1].timeline->stuck, "4 blocks wait at a barrier of the grid for block 4,"));
    const struct wt_timeline *stuck = s.runs[1].timeline;
    ck_assert_uint_eq(stuck->stuck_since, 500 * WT_CYCLE);
    ck_assert_uint_eq(stuck->span_count, 4);
    for (size_t i = 0; i < stuck->span_count; i++) {
        ck_assert_uint_eq(stuck->spans[i].block, i);
        ck_assert_uint_eq(stuck->spans[i].start, 0);
        ck_assert_uint_gt(stuck->spans[i].end, stuck->stuck_since);
    }
    clear(&s);
}
END_TEST

/* Measured on an H200 (configs/workloads/task-size.cfg): 30.0 and 31.9 us; the counter rules below 917 cycles a task. */
START_TEST(small_tasks_wait_for_the_counter)
{
    struct shown s = shown("persistent");
    double clock = s.runs[0].timeline->clock_mhz;
    ck_assert_double_eq(makespan(&s.runs[0], 0), makespan(&s.runs[0], 2));
    ck_assert_double_eq_tol(makespan(&s.runs[0], 0) / clock, 30.0, 0.05 * 30.0);
    ck_assert_double_eq_tol(makespan(&s.runs[0], 3) / clock, 31.9, 0.05 * 31.9);
    clear(&s);
}
END_TEST

/* The urgent kernel is launched 50 us after the background one, starts then and ends before it. */
START_TEST(urgent_blocks_go_first)
{
    struct shown s = shown("priorities");
    const struct wt_metrics_part *launches = s.runs[0].metrics->launches;
    double clock = s.runs[0].timeline->clock_mhz, begin = wt_to_cycles(launches[1].begin - launches[0].begin) / clock;
    ck_assert_double_gt(begin, 45);
    ck_assert_double_lt(begin, 60);
    ck_assert_uint_lt(launches[1].end, launches[0].begin + (launches[0].end - launches[0].begin) / 2);
    clear(&s);
}
END_TEST

/* Measured on an H200: 3,786 and 1,659 us (traces/h200/host/copies.csv). */
START_TEST(streams_overlap_copies)
{
    struct shown s = shown("copies");
    double clock = s.runs[0].timeline->clock_mhz;
    ck_assert_double_eq_tol(wt_to_cycles(s.runs[0].timeline->host->end) / clock, 3786, 0.05 * 3786);
    ck_assert_double_eq_tol(wt_to_cycles(s.runs[1].timeline->host->end) / clock, 1659, 0.05 * 1659);
    clear(&s);
}
END_TEST

/* Dependent multiply-adds follow at 4.17 cycles and a scheduler issues one in 1.07 (measured; see warp.c). With n warps, 640
 * take 16/n turns of the greater of 4.17 and 1.07 n cycles each; at most two instructions and a branch of 11 cycles more for each 16 of
 * them, and up to 1,000 cycles for a block to begin, whose first instructions come from far, and to end. */
START_TEST(occupancy_pays_until_a_warp_is_always_eligible)
{
    enum { WORK = 640, BLOCKS = 16, LAUNCHES = 5 };
    struct shown s = shown("eligible");
    const struct wt_lesson_run *one = &s.runs[0], *four = &s.runs[1];
    for (size_t i = 0; i < LAUNCHES; i++) {
        double warps = (double)(1 << i), least = BLOCKS / warps * WORK * fmax(4.17, 1.07 * warps);
        ck_assert_double_ge(makespan(one, i), least);
        ck_assert_double_le(makespan(one, i), least * 1.15 + BLOCKS / warps * (WORK / 16 * 11 + 1000));
        ck_assert_double_ge(makespan(four, i), BLOCKS * WORK * 1.07);
    }
    ck_assert_double_eq_tol(makespan(one, 0) / makespan(one, 1), 2, 0.1);
    ck_assert_double_eq_tol(makespan(one, 4) / makespan(one, 3), 1, 0.05);
    ck_assert_double_eq_tol(makespan(four, 4) / makespan(four, 2), 1, 0.06);
    ck_assert_double_gt(wt_warps_eligible(&one->warps[4].total), 1.5 * wt_warps_eligible(&one->warps[3].total));
    ck_assert_double_lt(wt_warps_eligible(&one->warps[0].total), 0.3);
    clear(&s);
}
END_TEST

/* 64 rounds of 16 multiply-adds, two blocks of 32 warps one after the other: 8 x 16 x 1.07 cycles issuing, then 13.5 + 2 x 32 at
 * the barrier (measured; see warp.c). Smaller blocks issue meanwhile. */
START_TEST(one_large_block_waits_at_its_barrier)
{
    enum { ROUNDS = 2 * 64 };
    double issuing = ROUNDS * 8 * 16 * 1.07, waiting = ROUNDS * (13.5 + 2 * 32);
    struct shown s = shown("barriers");
    ck_assert_double_eq_tol(makespan(&s.runs[0], 3), issuing + waiting, 0.05 * (issuing + waiting));
    ck_assert_double_ge(makespan(&s.runs[0], 0), issuing);
    ck_assert_double_le(makespan(&s.runs[0], 0), issuing + waiting / 2);
    for (size_t i = 1; i < 4; i++)
        ck_assert_double_gt(makespan(&s.runs[0], i), makespan(&s.runs[0], i - 1));
    clear(&s);
}
END_TEST

/* Four rounds of 20,000 cycles, and five. */
START_TEST(clusters_leave_sms_idle)
{
    struct shown s = shown("clusters");
    ck_assert_double_eq_tol(makespan(&s.runs[0], 0), 4 * 20000, 2000);
    ck_assert_double_eq_tol(makespan(&s.runs[1], 0), 5 * 20000, 2500);
    clear(&s);
}
END_TEST

/* Captions of a launch count from its first start, others from the run's. A deadlock is shown for twice as long as it took. */
START_TEST(captions_have_their_moments)
{
    struct shown s = shown("tail");
    struct wt_caption caption = {.at = 0.5, .launch = -1};
    ck_assert_uint_eq(wt_lesson_moment(&caption, s.runs), 1500 * WT_CYCLE);
    clear(&s);
    s = shown("residency");
    caption.launch = 2;
    ck_assert_uint_eq(wt_lesson_moment(&caption, s.runs), (1000 + 2000 + 1500) * WT_CYCLE);
    clear(&s);
    s = shown("deadlock");
    caption = (struct wt_caption){.at = 0.5, .second = true, .launch = -1};
    ck_assert_uint_eq(wt_lesson_moment(&caption, s.runs), (500 + 2 * 500) / 2 * WT_CYCLE);
    clear(&s);
}
END_TEST

START_TEST(mistakes_are_told)
{
    static const char *const wrong[] = {"{makespam}", "{second:makespan}", "{1:makespan}", "{makespan", "{}", "{0:}", "{0makespan}"};
    struct shown s = shown("tail");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct wt_error err = {0};
        char *out;
        ck_assert_int_eq(wt_lesson_fill(s.lesson, wrong[i], s.runs, &out, &err), WT_BAD_INPUT);
        ck_assert_ptr_null(out);
        ck_assert_ptr_nonnull(strstr(err.text, "tail.cfg: no figure"));
    }
    clear(&s);
}
END_TEST

/* By a word of the title, a name's nearest, a word of the text, the same beginning, nothing. */
START_TEST(near_names_are_suggested)
{
    static const struct {
        const char *name, *meant;
    } cases[] = {
        {"wave", "; did you mean 'one-more' or 'tail'?"}, {"streams", "; did you mean 'priorities'?"},
        {"pipelines", "; did you mean 'copies'?"},        {"priority", "; did you mean 'priorities'?"},
        {"occupancy", "; did you mean 'barriers' or 'eligible'?"},
        {"copy", "; did you mean 'copies'?"},             {"xylophone", ""},
    };
    struct wt_lesson *lesson;
    struct wt_error err = {0};
    char *expected = wt_format("no lesson '%s'%s; `wavetail lesson` lists them", cases[_i].name, cases[_i].meant);
    ck_assert_int_eq(wt_lesson_read(cases[_i].name, &lesson, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, expected);
    free(expected);
}
END_TEST

Suite *lessons_suite(void)
{
    Suite *suite = suite_create("lessons");
    TCase *tcase = tcase_create("lessons");
    tcase_add_test(tcase, all_lessons_can_be_given);
    tcase_add_loop_test(tcase, figures_are_right, 0, 16);
    tcase_add_test(tcase, comparisons_come_out_as_told);
    tcase_add_test(tcase, deadlock_names_the_missing_block);
    tcase_add_test(tcase, small_tasks_wait_for_the_counter);
    tcase_add_test(tcase, urgent_blocks_go_first);
    tcase_add_test(tcase, streams_overlap_copies);
    tcase_add_test(tcase, occupancy_pays_until_a_warp_is_always_eligible);
    tcase_add_test(tcase, one_large_block_waits_at_its_barrier);
    tcase_add_test(tcase, clusters_leave_sms_idle);
    tcase_add_test(tcase, captions_have_their_moments);
    tcase_add_test(tcase, mistakes_are_told);
    tcase_add_loop_test(tcase, near_names_are_suggested, 0, 7);
    tcase_set_timeout(tcase, 30);
    suite_add_tcase(suite, tcase);
    return suite;
}
