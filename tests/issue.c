/* Is what a warp does in each cycle told as the counters count it, and does the picture show it? */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/issue.h"
#include "observe/stalls.h"
#include "suites.h"
#include "warp_part.h"

enum { SM = 1, WARPS = 64 };

static const char mixed[] = "work 20\nloop uniform 5 30 {\n ldg r4, [r2] l1=0.3 l2=0.5\n if 0.3 both=0.4 { mufu r5, r4 } else "
                            "{ lds r5, [r4] }\n imad.wide r5, r5, r4\n imad r6, r5, r4\n bar\n}\nfirst-warp { stg [r2], r5 }\nexit\n";

/* Spans of one sub-core, and the SM's counters. */
struct told {
    uint64_t cycles[WT_STALL_COUNT];
    wt_time until[WARPS]; /* by slot: end of its latest span */
    uint64_t block[WARPS];
    wt_time latest;
    uint64_t faults, issues, changes_of_block, last_block, last_issue;
    struct wt_warp_counters counters;
};

/* Faults are counted rather than asserted: there are millions of spans. */
static void take_span(void *context, const struct wt_warp_span *span)
{
    struct told *told = context;
    bool goes_on = told->until[span->slot] > 0 && told->block[span->slot] == span->block;
    told->faults += span->from >= span->to || span->to < told->latest;
    told->faults += goes_on && told->until[span->slot] != span->from; /* a gap or an overlap */
    told->latest = span->to;
    told->until[span->slot] = span->to;
    told->block[span->slot] = span->block;
    told->cycles[span->state] += (span->to - span->from) / WT_CYCLE;
    if (span->state != WT_STALL_SELECTED)
        return;
    told->faults += span->to - span->from != WT_CYCLE || (told->issues > 0 && span->from <= told->last_issue); /* one a cycle */
    told->changes_of_block += told->issues > 0 && span->block != told->last_block;
    told->issues++;
    told->last_issue = span->from;
    told->last_block = span->block;
}

static void take_interval(void *context, int sm, wt_time from, wt_time to, const struct wt_warp_counters *counters)
{
    struct told *told = context;
    (void)from, (void)to;
    if (sm == SM)
        wt_warp_counters_add(&told->counters, counters);
}

static struct told tell(const char *text, int subcore)
{
    struct told told = {0};
    struct wt_warp_observer observer = {.context = &told, .interval = take_interval, .interval_length = 1, .state = take_span,
                                        .issue_sm = SM, .watched_subcore = subcore};
    struct warp_part_run run = {.gpu = part_of_h200(), .program = parsed_program(text), .threads = 192, .blocks = 60,
                                .observer = &observer};
    simulate_part(&run);
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
    ck_assert_uint_eq(told.faults, 0);
    return told;
}

/* Four runs, each of which watches another sub-core of the same SM. */
START_TEST(states_cycle_by_cycle_are_those_that_are_counted)
{
    uint64_t sum[WT_STALL_COUNT] = {0};
    struct told told = {0};
    for (int subcore = 0; subcore < 4; subcore++) {
        told = tell(mixed, subcore);
        for (int i = 0; i < WT_STALL_COUNT; i++)
            sum[i] += told.cycles[i];
    }
    for (int i = 0; i < WT_STALL_COUNT; i++)
        ck_assert_msg(sum[i] == told.counters.warp_cycles[i], "%s: %lu told, %lu counted", wt_stall_name((enum wt_stall_reason)i),
                      (unsigned long)sum[i], (unsigned long)told.counters.warp_cycles[i]);
    ck_assert_uint_gt(told.counters.warp_cycles[WT_STALL_BARRIER], 0);
    ck_assert_uint_gt(told.counters.warp_cycles[WT_STALL_DISPATCH], 0);
}
END_TEST

/* The scheduler interleaves warps of different blocks cycle by cycle (course material). */
START_TEST(warps_of_different_blocks_are_interleaved)
{
    struct told told = tell("loop 40 { repeat 16 { ffma r1, r1, r2 } }\nexit\n", 0);
    ck_assert_uint_gt(told.issues, 5000);
    ck_assert_uint_gt(told.changes_of_block * 2, told.issues);
}
END_TEST

/* ---- Pictures ---- */

static struct wt_timeline *about_one(void)
{
    struct wt_timeline *about = wt_timeline_new("k", "part of an H200", 4);
    struct wt_timeline_launch launch = {.name = (char *)"k", .grid_blocks = 60};
    wt_timeline_add_launch(about, &launch);
    return about;
}

static struct wt_issue_record *recorded(wt_time from, wt_time to)
{
    struct wt_issue_record *record = wt_issue_record_new(SM, 2, from, to);
    struct wt_warp_observer observer = {.context = record, .state = wt_issue_record_add, .issue_sm = SM, .watched_subcore = 2};
    struct warp_part_run run = {.gpu = part_of_h200(), .program = parsed_program(mixed), .threads = 192, .blocks = 60,
                                .observer = &observer};
    simulate_part(&run);
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
    return record;
}

START_TEST(a_window_holds_what_lies_in_it)
{
    wt_time from = 500 * WT_CYCLE, to = 700 * WT_CYCLE, spans = 0, outside = 0;
    struct wt_issue_record *record = recorded(from, to);
    for (size_t i = 0; i < record->count; i++) {
        outside += record->spans[i].from < from || record->spans[i].to > to;
        spans += record->spans[i].to - record->spans[i].from;
    }
    ck_assert_uint_eq(outside, 0);
    /* 10 blocks of 6 warps are 15 a sub-core. */
    ck_assert_uint_eq(spans, 15 * (to - from));
    char *svg = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&svg, &size);
    struct wt_timeline *about = about_one();
    struct wt_error err = {0};
    ck_assert_msg(wt_issue_svg(record, about, stream, &err) == WT_OK, "%s", err.text);
    fclose(stream);
    ck_assert(size > 5000 && strstr(svg, "</svg>"));
    wt_timeline_free(about);
    wt_issue_record_free(record);
    free(svg);
}
END_TEST

START_TEST(a_window_without_warps_is_refused)
{
    struct wt_issue_record *record = recorded(900000 * WT_CYCLE, 900100 * WT_CYCLE);
    struct wt_timeline *about = about_one();
    struct wt_error err = {0};
    ck_assert_int_eq(wt_issue_svg(record, about, stdout, &err), WT_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "no warp was on SM 1, sub-core 2 between cycles 900000 and 900100") != NULL, "%s", err.text);
    wt_timeline_free(about);
    wt_issue_record_free(record);
}
END_TEST

Suite *issue_suite(void)
{
    Suite *suite = suite_create("issue");
    TCase *tcase = tcase_create("issue");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, states_cycle_by_cycle_are_those_that_are_counted);
    tcase_add_test(tcase, warps_of_different_blocks_are_interleaved);
    tcase_add_test(tcase, a_window_holds_what_lies_in_it);
    tcase_add_test(tcase, a_window_without_warps_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
