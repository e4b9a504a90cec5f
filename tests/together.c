/* Do kernels that share the GPU start when, and where, the hardware started them? Against captures of several
 * launches at once. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "study/replay.h"
#include "replayed.h"
#include "suites.h"

enum { SMS = 132, MOST_FILES = 100 };

/* An SM hosts a kernel early when it does so this soon after the kernel's first start anywhere. */
static const double EARLY_CYCLES = 12000;

static void each_of(const char *pattern, void (*check)(const struct wt_replay *replay), size_t at_least)
{
    char *where = wt_format("%s/traces/h200/%s", WT_SOURCE_ROOT, pattern);
    glob_t files;
    ck_assert_int_eq(glob(where, GLOB_BRACE, NULL, &files), 0);
    ck_assert_uint_ge(files.gl_pathc, at_least);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct wt_replay *replay = replayed_file(files.gl_pathv[i], &as_captured);
        check(replay);
        wt_replay_free(replay);
    }
    globfree(&files);
    free(where);
}

/* ---- When ---- */

static double makespan_errors[MOST_FILES];
static size_t makespan_count;

/* Within 2 % of the makespan or 500 cycles. */
static void check_times(const struct wt_replay *replay)
{
    double allowed = fmax(500, 0.02 * replay->whole.makespan_measured);
    for (size_t i = 0; i < replay->trace->launch_count; i++) {
        const struct wt_replay_part *part = &replay->launches[i];
        ck_assert_msg(fabs(part->first_start_error) <= allowed, "%s, launch %zu: first start off by %.0f", replay->trace->path,
                      i, part->first_start_error);
        ck_assert_msg(fabs(part->last_start_error) <= allowed, "%s, launch %zu: last start off by %.0f", replay->trace->path,
                      i, part->last_start_error);
    }
    ck_assert_msg(fabs(replay->whole.makespan_error) <= 0.02, "%s", replay->trace->path);
    makespan_errors[makespan_count++] = fabs(replay->whole.makespan_error);
}

/* Left out: smfit_bf, smpat_ff and clmix, which are told apart by which of many simultaneous ends is known first. */
START_TEST(kernels_start_and_end_when_they_did)
{
    makespan_count = 0;
    each_of("{conc_A,small_A,prio_lo,smem_A,seq_A}.r0.csv.zst", check_times, 5);
    each_of("mechanisms/{hol_A,place[12]_A,three_A,many_0,gap_0,carve_0,carve[23]_A,carvehold_*_A}.r0.csv.zst",
            check_times, 10);
    each_of("mechanisms/{frag*,subcore*,regpat*,odd*,smring*,smnf*,smnext*,smre*,smrot*,smfit_ff*}.r0.csv.zst", check_times,
            30);
    wt_sort_numbers(makespan_errors, makespan_count);
    ck_assert_double_le(wt_quantile(makespan_errors, makespan_count, 50), 0.005);
}
END_TEST

/* Launched 10 us after the first kernel and more urgent; it could have taken the room of many blocks before it came, 28,700 cycles after
 * the first one's start. That blocks ended shortly before, as unequal ones do all the time, does not tell that it waited for them. */
START_TEST(who_came_late_did_not_wait)
{
    struct wt_replay *replay = replayed("questions/prio_late.r0");
    struct wt_launch_extent *extents = wt_timeline_extents(replay->measured);
    ck_assert_double_gt(wt_to_cycles(extents[1].first_start), 20000);
    free(extents);
    check_times(replay);
    ck_assert_double_le(fabs(replay->launches[1].first_start_error), 500);
    wt_replay_free(replay);
}
END_TEST

/* Blocks of 736, 80 and 448 threads, each kernel more urgent than those before. The second needs more shared memory than SMs have while
 * the first is on them, whose blocks later share SMs that the second opened; it waits for SMs to empty, and uses 77 of them. */
START_TEST(the_most_urgent_waits_for_empty_sms)
{
    struct wt_replay *replay = replayed("questions/prio_three.r1");
    check_times(replay);
    ck_assert_double_le(fabs(replay->whole.makespan_error), 0.01);
    for (int i = 0; i < 3; i++)
        ck_assert_double_le(fabs(replay->launches[i].makespan_error), 0.04);
    wt_replay_free(replay);
}
END_TEST

/* ---- Where ---- */

struct hosts {
    double first[SMS]; /* first start of the launch there; INFINITY: none */
    double earliest;
};

static struct hosts hosts_of(const struct wt_timeline *timeline, size_t launch)
{
    struct hosts hosts = {.earliest = INFINITY};
    for (int sm = 0; sm < SMS; sm++)
        hosts.first[sm] = INFINITY;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        if (span->launch != launch)
            continue;
        double start = wt_to_cycles(span->start);
        hosts.first[span->sm] = fmin(hosts.first[span->sm], start);
        hosts.earliest = fmin(hosts.earliest, start);
    }
    return hosts;
}

static int same_hosts(const struct hosts *a, const struct hosts *b)
{
    int same = 0;
    for (int sm = 0; sm < SMS; sm++)
        same += (a->first[sm] < a->earliest + EARLY_CYCLES) == (b->first[sm] < b->earliest + EARLY_CYCLES);
    return same;
}

static double median_start(const struct wt_timeline *timeline, size_t launch)
{
    double *starts = wt_alloc(timeline->span_count, sizeof *starts);
    size_t count = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        if (timeline->spans[i].launch == launch)
            starts[count++] = wt_to_cycles(timeline->spans[i].start);
    wt_sort_numbers(starts, count);
    double median = wt_quantile(starts, count, 50);
    free(starts);
    return median;
}

/* Of every launch but the first: 94 % of the SMs, and the median start within 5 %. */
static void check_places(const struct wt_replay *replay)
{
    for (size_t launch = 1; launch < replay->trace->launch_count; launch++) {
        struct hosts measured = hosts_of(replay->measured, launch), predicted = hosts_of(replay->predicted, launch);
        int same = same_hosts(&measured, &predicted);
        ck_assert_msg(same >= 0.94 * SMS, "%s, launch %zu: %d SMs agree", replay->trace->path, launch, same);
        double median = median_start(replay->measured, launch);
        ck_assert_double_eq_tol(median_start(replay->predicted, launch), median, 0.05 * median);
    }
}

/* Left out: fragsmem100, smpat_*, smrefill and smrot, where all first blocks end at once and the hardware gives some SMs
 * several of the second kernel's blocks before others get one. */
START_TEST(second_kernels_go_where_they_went)
{
    each_of("mechanisms/{frag[rs]*[0-9]r,fragreg*,fragsmem[26]*,fragsmem_*}_A.r0.csv.zst", check_places, 6);
    each_of("mechanisms/{subcore*,regpat*,odd*,wslot*}.r0.csv.zst", check_places, 17);
    each_of("mechanisms/{smring*,smnf*,smnext*,smreset*,smfit_ff*}.r0.csv.zst", check_places, 9);
}
END_TEST

Suite *together_suite(void)
{
    Suite *suite = suite_create("together");
    TCase *tcase = tcase_create("together");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, kernels_start_and_end_when_they_did);
    tcase_add_test(tcase, who_came_late_did_not_wait);
    tcase_add_test(tcase, the_most_urgent_waits_for_empty_sms);
    tcase_add_test(tcase, second_kernels_go_where_they_went);
    suite_add_tcase(suite, tcase);
    return suite;
}
