/* Are the metrics what they say they are? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/mem.h"
#include "observe/metrics.h"
#include "suites.h"
#include "synthetic.h"

static const struct synthetic textbook = {.sms = 4,
                                          .slots = 1,
                                          .warps_per_block = 8,
                                          .warps_per_sm = 64,
                                          .launches = 1,
                                          .blocks = 10,
                                          .least = 1000 * WT_CYCLE,
                                          .most = 1000 * WT_CYCLE};

static struct wt_metrics *streamed(const struct wt_timeline *timeline)
{
    struct wt_timeline *about = wt_timeline_copy_description(timeline);
    for (size_t i = 0; i < about->launch_count; i++)
        about->launches[i].queue_empty = 0; /* known only at the end */
    struct wt_metrics_stream *stream = wt_metrics_stream_new(about);
    struct wt_observer observer = wt_metrics_stream_observer(stream);
    synthetic_play(timeline, &observer);
    wt_timeline_free(about);
    return wt_metrics_stream_finish(stream);
}

static void near(double got, double expected)
{
    if (isnan(expected))
        ck_assert(isnan(got));
    else
        ck_assert_double_eq_tol(got, expected, 1e-12 * (fabs(expected) + 1));
}

/* 10 blocks of T on 4 SMs with one slot: 4 + 4 + 2, so 3T, and half the GPU idles in the last T. */
static void check_textbook(const struct wt_metrics *metrics)
{
    const struct wt_metrics_part *part = &metrics->whole;
    ck_assert_uint_eq(part->blocks, 10);
    ck_assert_uint_eq(wt_metrics_makespan(part), 3000 * WT_CYCLE);
    near(part->waves, 2.5);
    near(part->theoretical_occupancy, 8.0 / 64);
    near(part->occupancy_active, 8.0 / 64);
    near(part->occupancy_elapsed, 10 * 8.0 / (3 * 4 * 64));
    near(part->mean_resident_blocks, 10.0 / 3);
    near(part->blocks_per_cycle, 10.0 / 3000);
    near(part->busy.least, 2.0 / 3);
    near(part->busy.median, 5.0 / 6);
    near(part->busy.mean, 10.0 / 12);
    near(part->busy.most, 1);
    near(part->duration.least, 1000);
    near(part->duration.median, 1000);
    near(part->duration.mean, 1000);
    near(part->duration.most, 1000);
    ck_assert_uint_eq(part->tail.start, 2000 * WT_CYCLE);
    ck_assert_uint_eq(part->tail.length, 1000 * WT_CYCLE);
    near(part->tail.fraction, 1.0 / 3);
    near(part->tail.sm_idle, 0.5);
    near(part->tail.slot_idle, 0.5);
    for (int i = 0; i < 4; i++)
        near(metrics->sm_busy[i], i < 2 ? 1 : 2.0 / 3);
}

START_TEST(ten_blocks_on_four_sms)
{
    struct wt_timeline *timeline = synthetic_timeline(&textbook);
    struct wt_metrics *exact = wt_metrics_of_timeline(timeline), *stream = streamed(timeline);
    check_textbook(exact);
    check_textbook(stream);
    wt_metrics_free(exact);
    wt_metrics_free(stream);
    wt_timeline_free(timeline);
}
END_TEST

/* Recount of a part, cycle by cycle, for spans on whole cycles. */
struct recount {
    uint64_t blocks, active_sm_cycles, warp_cycles, tail_idle_sm_cycles, tail_block_cycles;
    uint64_t begin, end;
    uint64_t sm_busy[16];
    double median, sum;
};

static bool counts(const struct wt_block_run *span, long launch)
{
    return launch < 0 || span->launch == (uint32_t)launch;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void recount_durations(const struct wt_timeline *timeline, long launch, struct recount *r)
{
    double *all = wt_alloc(timeline->span_count, sizeof *all);
    for (size_t i = 0; i < timeline->span_count; i++)
        if (counts(&timeline->spans[i], launch)) {
            all[r->blocks++] = wt_to_cycles(timeline->spans[i].end - timeline->spans[i].start);
            r->sum += all[r->blocks - 1];
        }
    qsort(all, r->blocks, sizeof *all, compare_doubles);
    r->median = all[(r->blocks - 1) / 2];
    free(all);
}

static struct recount recounted(const struct wt_timeline *timeline, long launch, uint64_t queue_empty)
{
    struct recount r = {.begin = UINT64_MAX};
    recount_durations(timeline, launch, &r);
    uint64_t end = wt_timeline_end(timeline) / WT_CYCLE;
    unsigned *blocks = wt_alloc(end * 16, sizeof *blocks);
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        if (!counts(span, launch))
            continue;
        r.begin = span->start / WT_CYCLE < r.begin ? span->start / WT_CYCLE : r.begin;
        r.end = span->end / WT_CYCLE > r.end ? span->end / WT_CYCLE : r.end;
        for (uint64_t t = span->start / WT_CYCLE; t < span->end / WT_CYCLE; t++) {
            blocks[t * 16 + span->sm]++;
            r.warp_cycles += (uint64_t)timeline->launches[span->launch].warps_per_block;
        }
    }
    for (uint64_t t = r.begin; t < r.end; t++)
        for (int sm = 0; sm < timeline->sm_count; sm++) {
            unsigned resident = blocks[t * 16 + (uint64_t)sm];
            r.sm_busy[sm] += resident > 0;
            r.active_sm_cycles += resident > 0;
            r.tail_idle_sm_cycles += t >= queue_empty && resident == 0;
            r.tail_block_cycles += t >= queue_empty ? resident : 0;
        }
    free(blocks);
    return r;
}

static void compare_part(const struct wt_metrics_part *part, const struct recount *r, const struct wt_timeline *about,
                         uint64_t queue_empty, double median_tolerance)
{
    double makespan = (double)(r->end - r->begin), sms = about->sm_count, tail = (double)(r->end - queue_empty);
    ck_assert_uint_eq(part->blocks, r->blocks);
    ck_assert_uint_eq(wt_metrics_makespan(part), (r->end - r->begin) * WT_CYCLE);
    near(part->occupancy_active, (double)r->warp_cycles / ((double)r->active_sm_cycles * about->warps_per_sm));
    near(part->occupancy_elapsed, (double)r->warp_cycles / (makespan * sms * about->warps_per_sm));
    near(part->busy.mean, (double)r->active_sm_cycles / (makespan * sms));
    near(part->duration.mean, r->sum / (double)r->blocks);
    ck_assert_double_eq_tol(part->duration.median, r->median, median_tolerance * r->median + 1e-9);
    near(part->tail.fraction, tail / makespan);
    near(part->tail.sm_idle, tail > 0 ? (double)r->tail_idle_sm_cycles / (tail * sms) : 0);
    near(part->tail.slot_idle,
         tail > 0 ? 1 - (double)r->tail_block_cycles / (tail * sms * about->launches[0].blocks_per_sm) : 0);
}

static void compare(const struct wt_metrics *metrics, const struct wt_timeline *timeline, double median_tolerance)
{
    uint64_t last = 0;
    for (size_t i = 0; i < timeline->launch_count; i++) {
        uint64_t empty = timeline->launches[i].queue_empty / WT_CYCLE;
        struct recount r = recounted(timeline, (long)i, empty);
        compare_part(&metrics->launches[i], &r, timeline, empty, median_tolerance);
        last = empty > last ? empty : last;
    }
    struct recount r = recounted(timeline, -1, last);
    compare_part(&metrics->whole, &r, timeline, last, median_tolerance);
    for (int sm = 0; sm < timeline->sm_count; sm++)
        near(metrics->sm_busy[sm], (double)r.sm_busy[sm] / (double)(r.end - r.begin));
}

static wt_time whole(struct wt_random *random, uint32_t below)
{
    return wt_random_below(random, below) * WT_CYCLE;
}

/* Rounds all times to whole cycles; spans of one slot still do not overlap. */
static void round_times(struct wt_timeline *timeline)
{
    for (size_t i = 0; i < timeline->span_count; i++) {
        timeline->spans[i].start -= timeline->spans[i].start % WT_CYCLE;
        timeline->spans[i].end -= timeline->spans[i].end % WT_CYCLE;
    }
    wt_timeline_find_queue_empty(timeline);
}

/* 200 random runs, one to three launches, against a cycle-by-cycle recount. */
START_TEST(random_runs_recounted)
{
    struct wt_random random = wt_random_stream(11, "runs", 0);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct synthetic how = {.sms = 1 + (int)wt_random_below(&random, 6),
                                .slots = 1 + (int)wt_random_below(&random, 4),
                                .warps_per_block = 1 + (int)wt_random_below(&random, 8),
                                .warps_per_sm = 48,
                                .launches = 1 + wt_random_below(&random, 3),
                                .blocks = 1 + wt_random_below(&random, 60),
                                .least = whole(&random, 3),
                                .most = (5 + wt_random_below(&random, 300)) * WT_CYCLE,
                                .gap = whole(&random, 60),
                                .seed = seed};
        struct wt_timeline *timeline = synthetic_timeline(&how);
        round_times(timeline);
        struct wt_metrics *exact = wt_metrics_of_timeline(timeline), *stream = streamed(timeline);
        compare(exact, timeline, 0);
        compare(stream, timeline, 0.01);
        wt_metrics_free(exact);
        wt_metrics_free(stream);
        wt_timeline_free(timeline);
    }
}
END_TEST

/* Mean of the bucket by adding up overlaps. */
static double overlap_mean(const struct wt_timeline *timeline, wt_time begin, wt_time end, bool warps)
{
    double sum = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        wt_time from = span->start > begin ? span->start : begin, to = span->end < end ? span->end : end;
        int weight = warps ? timeline->launches[span->launch].warps_per_block : 1;
        sum += to > from ? weight * (double)(to - from) : 0;
    }
    return sum / (double)(end - begin);
}

/* The buckets double several times on the way; their means stay exact, and the two producers' are the same. */
START_TEST(residency_is_exact_in_every_bucket)
{
    struct synthetic how = {.sms = 3,
                            .slots = 2,
                            .warps_per_block = 5,
                            .warps_per_sm = 64,
                            .launches = 2,
                            .blocks = 400,
                            .least = 1,
                            .most = 3000 * WT_CYCLE,
                            .gap = 500,
                            .seed = 5};
    struct wt_timeline *timeline = synthetic_timeline(&how);
    struct wt_metrics *exact = wt_metrics_of_timeline(timeline), *stream = streamed(timeline);
    const struct wt_residency_curve *curve = &exact->residency;
    ck_assert_uint_ge(curve->count, WT_RESIDENCY_BUCKETS / 2);
    ck_assert_uint_le(curve->count, WT_RESIDENCY_BUCKETS);
    ck_assert_uint_gt(curve->width, 16 * WT_CYCLE);
    ck_assert_uint_eq(curve->count, stream->residency.count);
    for (size_t i = 0; i < curve->count; i++) {
        wt_time begin = curve->origin + i * curve->width, end = begin + curve->width;
        end = end < curve->end ? end : curve->end;
        ck_assert_double_eq_tol(curve->blocks[i], overlap_mean(timeline, begin, end, false), 1e-9);
        ck_assert_double_eq_tol(curve->warps[i], overlap_mean(timeline, begin, end, true), 1e-9);
        ck_assert(curve->blocks[i] == stream->residency.blocks[i] && curve->warps[i] == stream->residency.warps[i]);
    }
    wt_metrics_free(exact);
    wt_metrics_free(stream);
    wt_timeline_free(timeline);
}
END_TEST

/* 1000 blocks with gaps between them in one slot, one block until `long_end` in the other. */
static double stream_busy(wt_time long_end, double *exact_busy)
{
    struct wt_timeline *timeline = wt_timeline_new("", "", 1);
    struct wt_timeline_launch launch = {.name = "k", .warps_per_block = 1, .blocks_per_sm = 2};
    wt_timeline_add_launch(timeline, &launch);
    struct wt_block_run lasting = {.start = 0, .end = long_end, .slot = 1};
    wt_timeline_add(timeline, &lasting);
    for (wt_time i = 0; i < 1000; i++) {
        struct wt_block_run run = {.block = i + 1, .start = i * 1000, .end = i * 1000 + 600};
        wt_timeline_add(timeline, &run);
    }
    wt_timeline_find_queue_empty(timeline);
    wt_timeline_sort(timeline);
    struct wt_metrics *exact = wt_metrics_of_timeline(timeline), *stream = streamed(timeline);
    double busy = stream->whole.busy.mean;
    *exact_busy = exact->whole.busy.mean;
    wt_metrics_free(exact);
    wt_metrics_free(stream);
    wt_timeline_free(timeline);
    return busy;
}

START_TEST(covered_gaps_are_not_idle)
{
    double exact, stream = stream_busy(1000000, &exact);
    near(exact, 1);
    near(stream, 1);
    stream = stream_busy(1, &exact); /* nothing covered: the gaps were joined, not lost */
    near(exact, 600000.0 / 999600);
    near(stream, exact);
    stream = stream_busy(500000, &exact); /* ends while only some gaps are known */
    near(exact, (500000 + 500 * 600.0) / 999600);
    near(stream, exact);
}
END_TEST

/* A range of joined gaps that is covered in part keeps a share of its idle time: an error, but a bounded one. */
START_TEST(partly_covered_ranges_are_close)
{
    struct wt_timeline *timeline = wt_timeline_new("", "", 1);
    struct wt_timeline_launch launch = {.name = "k", .warps_per_block = 1, .blocks_per_sm = 2};
    wt_timeline_add_launch(timeline, &launch);
    for (wt_time i = 0; i < 1000; i++) {
        struct wt_block_run run = {.block = i, .start = i * 1000, .end = i * 1000 + 600};
        wt_timeline_add(timeline, &run);
    }
    struct wt_block_run lasting = {.block = 1000, .start = 300700, .end = 1000000, .slot = 1};
    wt_timeline_add(timeline, &lasting);
    wt_timeline_find_queue_empty(timeline);
    struct wt_metrics *exact = wt_metrics_of_timeline(timeline), *stream = streamed(timeline);
    near(exact->whole.busy.mean, (301 * 600 + 699300) / 1e6);
    ck_assert_double_eq_tol(stream->whole.busy.mean, exact->whole.busy.mean, 0.001);
    wt_metrics_free(exact);
    wt_metrics_free(stream);
    wt_timeline_free(timeline);
}
END_TEST

/* Logarithmic steps: lognormal-like spread over 2^5..2^40 units stays within the promised 1 %. */
START_TEST(streamed_median_is_within_one_percent)
{
    for (int bits = 5; bits <= 40; bits++) {
        struct synthetic how = {.sms = 2, .slots = 2, .warps_per_block = 1, .warps_per_sm = 64, .launches = 1,
                                .blocks = 301, .least = 1, .seed = (uint64_t)bits};
        how.most = bits < 31 ? (wt_time)1 << bits : 1u << 31;
        struct wt_timeline *timeline = synthetic_timeline(&how);
        struct wt_metrics *exact = wt_metrics_of_timeline(timeline), *stream = streamed(timeline);
        ck_assert_double_eq_tol(stream->whole.duration.median, exact->whole.duration.median,
                                0.01 * exact->whole.duration.median);
        wt_metrics_free(exact);
        wt_metrics_free(stream);
        wt_timeline_free(timeline);
    }
}
END_TEST

START_TEST(unknown_things_are_said_to_be_unknown)
{
    struct wt_timeline *timeline = synthetic_timeline(&textbook);
    timeline->warps_per_sm = 0;
    timeline->clock_mhz = 0;
    timeline->launches[0].blocks_per_sm = 0;
    struct wt_metrics *metrics = wt_metrics_of_timeline(timeline);
    ck_assert(isnan(metrics->whole.occupancy_active) && isnan(metrics->whole.occupancy_elapsed));
    ck_assert(isnan(metrics->whole.waves) && isnan(metrics->whole.tail.slot_idle));
    near(metrics->whole.tail.sm_idle, 0.5);
    wt_metrics_free(metrics);
    wt_timeline_free(timeline);
}
END_TEST

/* No blocks, or blocks that take no time: no division by zero. */
START_TEST(nothing_and_no_time)
{
    struct wt_timeline *timeline = wt_timeline_new("", "", 2);
    struct wt_metrics *none = wt_metrics_of_timeline(timeline), *stream = streamed(timeline);
    ck_assert_uint_eq(wt_metrics_makespan(&none->whole), 0);
    ck_assert_uint_eq(stream->whole.blocks, 0);
    wt_metrics_free(none);
    wt_metrics_free(stream);
    struct wt_timeline_launch launch = {.name = "k", .warps_per_block = 1, .blocks_per_sm = 1};
    struct wt_block_run run = {.start = 5, .end = 5};
    timeline->warps_per_sm = 64;
    wt_timeline_add_launch(timeline, &launch);
    wt_timeline_add(timeline, &run);
    wt_timeline_find_queue_empty(timeline);
    struct wt_metrics *zero = wt_metrics_of_timeline(timeline);
    stream = streamed(timeline);
    ck_assert(zero->whole.occupancy_active == 0 && stream->whole.occupancy_active == 0);
    ck_assert(zero->whole.tail.fraction == 0 && stream->whole.tail.sm_idle == 0);
    wt_metrics_free(zero);
    wt_metrics_free(stream);
    wt_timeline_free(timeline);
}
END_TEST

static char *json_text(const struct wt_metrics *metrics)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    struct wt_json json = wt_json_begin(stream, true);
    wt_metrics_json(&json, NULL, metrics);
    wt_json_end(&json);
    fclose(stream);
    return text;
}

static double member(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

START_TEST(json_says_the_same)
{
    struct wt_timeline *timeline = synthetic_timeline(&textbook);
    struct wt_metrics *metrics = wt_metrics_of_timeline(timeline);
    char *text = json_text(metrics), *again = json_text(metrics);
    ck_assert_str_eq(text, again);
    json_t *root = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert_double_eq(member(root, "makespan_cycles"), 3000);
    near(member(root, "makespan_us"), 1.515151515);
    near(member(root, "tail_fraction"), 0.3333333333);
    near(member(root, "achieved_occupancy"), 0.125);
    const json_t *launch = json_array_get(json_object_get(root, "launches"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(launch, "kernel")), "kernel_a");
    ck_assert_double_eq(member(launch, "makespan_cycles"), 3000);
    const json_t *curve = json_object_get(root, "residency");
    const json_t *blocks = json_object_get(curve, "blocks");
    ck_assert_uint_le(json_array_size(blocks), 256);
    double area = 0, step = member(curve, "step_cycles");
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        double left = 3000 - step * (double)i;
        area += json_number_value(json_array_get(blocks, i)) * (left < step ? left : step);
    }
    ck_assert_double_eq_tol(area, 10000, 0.05); /* ten blocks of 1000 cycles; six digits per point */
    json_decref(root);
    free(text);
    free(again);
    wt_metrics_free(metrics);
    wt_timeline_free(timeline);
}
END_TEST

START_TEST(summary_reads_well)
{
    struct wt_timeline *timeline = synthetic_timeline(&textbook);
    struct wt_metrics *metrics = wt_metrics_of_timeline(timeline);
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    wt_metrics_print(stream, metrics);
    fclose(stream);
    ck_assert_str_eq(
        text,
        "kernel_a: 10 blocks x 256 threads on Test GPU (4 SMs, 1980 MHz)\n"
        "  makespan    3,000 cycles = 1.515 µs\n"
        "  blocks      10, 2.50 waves (1 per SM), 6.6 blocks/µs\n"
        "  block time  least 1,000, median 1,000, mean 1,000, most 1,000 cycles\n"
        "  occupancy   12.5 % achieved while an SM is busy, 10.4 % over the makespan; theoretical 12.5 %\n"
        "  SM busy     least 66.7 %, median 83.3 %, most 100.0 % of the makespan\n"
        "  tail        1,000 cycles = 505.1 ns, 33.3 % of the makespan; in it 50.0 % of SM time and"
        " 50.0 % of slot time idle\n");
    free(text);
    wt_metrics_free(metrics);
    wt_timeline_free(timeline);
}
END_TEST

Suite *metrics_suite(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tcase = tcase_create("metrics");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, ten_blocks_on_four_sms);
    tcase_add_test(tcase, random_runs_recounted);
    tcase_add_test(tcase, residency_is_exact_in_every_bucket);
    tcase_add_test(tcase, covered_gaps_are_not_idle);
    tcase_add_test(tcase, partly_covered_ranges_are_close);
    tcase_add_test(tcase, streamed_median_is_within_one_percent);
    tcase_add_test(tcase, unknown_things_are_said_to_be_unknown);
    tcase_add_test(tcase, nothing_and_no_time);
    tcase_add_test(tcase, json_says_the_same);
    tcase_add_test(tcase, summary_reads_well);
    suite_add_tcase(suite, tcase);
    return suite;
}
