/* Rates that show only in how they delay others: found as the value with which short replays of the launches that tell
 * them are the nearest to what was measured. A scan finds the valley, golden sections its floor; launches are replayed
 * in parallel, but their errors are added in one order. */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/portable.h"
#include "fit/estimate.h"
#include "fit/replays.h"

enum { SCAN = 25 };

/* Both rates found here lie below this; an H200's are about 100. */
static const double MOST_CYCLES = 360;

/* Golden sections end at this width. */
static const double FINE_CYCLES = 1;

/* The rate is told only if the worst value of the scan is worse than the best by at least this share. */
static const double TOLD_SHARE = 0.03;

/* Values that are worse than the best by at most this share are as good. */
static const double SAME_SHARE = 0.02;

/* Where values as good as the best lie further apart than this, none of them is told. */
static const double WIDE_CYCLES = 50;

/* Ports are idle for much of the time when starts are this much further apart than reports can be. */
static const double IDLE_SHARE = 1.4;

struct search {
    const struct wt_fit *fit;
    size_t rate; /* its offset in struct wt_rates */
    struct wt_stretch *stretches;
    size_t count;
};

/* The geometric mean over stretches of the replays' median errors: each launch counts for how much nearer a value comes
 * in it, also those that the model cannot tell well for other reasons. */
static double error_at(const struct search *search, double value)
{
    struct wt_gpu gpu = *search->fit->gpu;
    double *errors = wt_alloc(search->count, sizeof *errors), sum = 0;
    *(double *)((char *)&gpu.rates + search->rate) = value;
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < search->count; i++)
        errors[i] = wt_replayed_error(search->fit->evidence, &search->stretches[i], &gpu);
    for (size_t i = 0; i < search->count; i++)
        sum += wt_ln(1 + errors[i]) / (double)search->count;
    free(errors);
    return wt_exp(fmin(sum, 700));
}

static double golden_section(const struct search *search, double low, double high)
{
    static const double part = 0.6180339887498949;
    double a = high - part * (high - low), b = low + part * (high - low);
    double at_a = error_at(search, a), at_b = error_at(search, b);
    while (high - low > FINE_CYCLES) {
        if (at_a <= at_b) {
            high = b, b = a, at_b = at_a;
            a = high - part * (high - low);
            at_a = error_at(search, a);
        } else {
            low = a, a = b, at_a = at_b;
            b = low + part * (high - low);
            at_b = error_at(search, b);
        }
    }
    return (low + high) / 2;
}

/* The values of the scan on both sides of `best` that are as good, in words. *narrow: they lie close together. */
static char *as_good(const double *errors, int best, bool *narrow)
{
    double step = MOST_CYCLES / (SCAN - 1);
    int low = best, high = best;
    while (low > 0 && errors[low - 1] <= errors[best] * (1 + SAME_SHARE))
        low--;
    while (high < SCAN - 1 && errors[high + 1] <= errors[best] * (1 + SAME_SHARE))
        high++;
    *narrow = step * (high - low) <= WIDE_CYCLES;
    return wt_format("from %.0f to %.0f the replays' starts are as near, %.0f cycles off",
                     step * fmax(0, low - 1), step * (high + 1), errors[best]);
}

static void minimise(const struct search *search, struct wt_estimate *out)
{
    double errors[SCAN], worst = 0, step = MOST_CYCLES / (SCAN - 1);
    int best = 0;
    for (int i = 0; i < SCAN && search->count; i++) {
        errors[i] = error_at(search, step * i);
        worst = fmax(worst, errors[i]);
        best = errors[i] < errors[best] ? i : best;
    }
    if (search->count == 0 || !(worst > errors[best] * (1 + TOLD_SHARE)))
        return;
    bool narrow;
    char *words = as_good(errors, best, &narrow);
    *(narrow ? &out->error : &out->unclear) = words;
    if (!narrow)
        return;
    out->samples = search->count;
    out->value = round(golden_section(search, step * fmax(0, best - 1), step * fmin(SCAN - 1, best + 1)));
}

typedef bool choose(const struct wt_fit *fit, struct wt_stretch *stretch);

static void fit_by_replays(const struct wt_fit *fit, choose *tells, size_t rate, struct wt_estimate *out)
{
    const struct wt_evidence *evidence = fit->evidence;
    struct search search = {fit, rate, wt_alloc(evidence->launch_count, sizeof *search.stretches), 0};
    for (size_t i = 0; i < evidence->launch_count; i++) {
        const struct wt_launch_evidence *launch = &evidence->launches[i];
        struct wt_stretch stretch = {launch, 0, launch->blocks};
        if (evidence->traces[launch->trace].trace->launch_count > 1 || !tells(fit, &stretch))
            continue;
        search.stretches[search.count++] = stretch;
        out->used[launch->trace] = true;
    }
    minimise(&search, out);
    free(search.stretches);
}

/* ---- drain_cycles ---- */

/* The mean interval of starts beyond the first wave; 0 when there are none. */
static double mean_pace(const struct wt_launch_evidence *launch)
{
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < launch->release_count; i++) {
        double start = launch->releases[i].end + launch->releases[i].wait;
        first = fmin(first, start);
        last = fmax(last, start);
    }
    return launch->release_count ? (last - first) / (double)launch->release_count : 0;
}

/* A block that is shorter than its launcher's interval stays until that and the drain are over. It shows where nothing
 * else delays the release: the distributor is idle for much of the time. */
static bool tells_drain(const struct wt_fit *fit, struct wt_stretch *stretch)
{
    const struct wt_launch_evidence *launch = stretch->launch;
    const struct wt_rates *rates = &fit->gpu->rates;
    bool idle = mean_pace(launch) > IDLE_SHARE * rates->report_cycles;
    bool waves = launch->release_count >= launch->first_wave;
    return waves && idle && launch->median_duration < 2 * wt_curve_at(&rates->launch_cycles, launch->shape.warps);
}

static void fit_drain(const struct wt_fit *fit, struct wt_estimate *out)
{
    fit_by_replays(fit, tells_drain, offsetof(struct wt_rates, drain_cycles), out);
}

/* ---- Descriptors ---- */

const struct wt_estimator wt_fit_drain = {
    .key = "rates.drain_cycles",
    .kind = WT_RATE_NUMBER,
    .offset = offsetof(struct wt_rates, drain_cycles),
    .method = "replays of blocks shorter than their launcher's interval, with a distributor that has time",
    .needs = "launches of several waves of empty blocks of many warps (1,024 threads)",
    .unit = "launches",
    .least = 1,
    .fit = fit_drain,
};
