/* What the time after the first wave tells: releases that nothing delays, ports that are never idle, and the gaps
 * between kernels. */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "fit/estimate.h"
#include "fit/statistics.h"

enum {
    LEAST_PER_TRACE = 12, /* quiet releases from which a launch's own level is told */
    LEAST_PER_TPC = 6,    /* quiet releases from which a TPC's is */
    STRETCH = 60          /* starts of a GPC over which its port's pace is taken */
};

/* Blocks stay on their SM for a while after their last clock read, and that depends on the kernel. It only ever adds:
 * kernels whose level is beyond the lowest by more than this are left out. */
static const double SAME_LEVEL_CYCLES = 40;

/* A port is saturated when nine in ten of its releases take this much longer than unloaded ones: with some ten reports
 * waiting, the different ways that they come never leave it idle. Its state is steady when the paces of neighbouring
 * stretches differ by less than this share. */
static const double SATURATED_CYCLES = 100, STEADY_SHARE = 0.03;

/* Launches that are slower than the fastest by more than this are not limited by their reports. An H200's differ by 7 %. */
static const double SAME_PACE = 1.15;

/* ---- Releases ---- */

/* The median of a launch's quiet releases; infinite when they are too few. */
static double level_of(const struct wt_launch_evidence *launch)
{
    struct wt_sample waits = {0};
    for (size_t i = 0; i < launch->release_count; i++)
        if (launch->releases[i].quiet)
            wt_sample_add(&waits, launch->releases[i].wait);
    wt_sample_sort(&waits);
    double level = waits.count >= LEAST_PER_TRACE ? wt_sample_quantile(&waits, 0.5) : INFINITY;
    wt_sample_free(&waits);
    return level;
}

/* Quiet releases by TPC, of the launches with the lowest level. */
static struct wt_sample *quiet_by_tpc(const struct wt_fit *fit, bool *used)
{
    const struct wt_evidence *evidence = fit->evidence;
    const struct wt_topology *t = &fit->gpu->topology;
    struct wt_sample *waits = wt_alloc((size_t)t->tpc_count, sizeof *waits);
    double lowest = INFINITY;
    for (size_t i = 0; i < evidence->launch_count; i++)
        lowest = fmin(lowest, level_of(&evidence->launches[i]));
    for (size_t i = 0; i < evidence->launch_count; i++) {
        const struct wt_launch_evidence *launch = &evidence->launches[i];
        double level = level_of(launch);
        if (!(level <= lowest + SAME_LEVEL_CYCLES) || isinf(level))
            continue;
        used[launch->trace] = true;
        for (size_t r = 0; r < launch->release_count; r++)
            if (launch->releases[r].quiet)
                wt_sample_add(&waits[t->tpc_of_sm[launch->releases[r].sm]], launch->releases[r].wait);
    }
    for (int tpc = 0; tpc < t->tpc_count; tpc++)
        wt_sample_sort(&waits[tpc]);
    return waits;
}

static void free_samples(struct wt_sample *samples, int count)
{
    for (int i = 0; i < count; i++)
        wt_sample_free(&samples[i]);
    free(samples);
}

/* Medians by TPC: a quiet release takes the way there and back, and 0 to 28 cycles (H200) until it is the group's
 * turn; the median is the way with the mean turn, which the simulation does not make blocks wait for. What is left
 * when the way there (launch_offset_cycles) is taken off is the way back: of the nearest TPC with the distributor's
 * own time (release_cycles), of others as more than that (report_offset_cycles). */
static double nearest_release(const struct wt_fit *fit, const struct wt_sample *waits)
{
    double nearest = INFINITY;
    for (int tpc = 0; tpc < fit->gpu->topology.tpc_count; tpc++)
        nearest = fmin(nearest, wt_mid_mean(&waits[tpc]) - wt_of_tpc(&fit->gpu->rates.launch_offset_cycles, tpc));
    return round(nearest);
}

static size_t fewest(const struct wt_sample *samples, int count)
{
    size_t least = SIZE_MAX;
    for (int i = 0; i < count; i++)
        least = samples[i].count < least ? samples[i].count : least;
    return least;
}

static void fit_release(const struct wt_fit *fit, struct wt_estimate *out)
{
    int tpcs = fit->gpu->topology.tpc_count;
    struct wt_sample *waits = quiet_by_tpc(fit, out->used);
    struct wt_sample turns = {0};
    out->samples = fewest(waits, tpcs);
    out->value = nearest_release(fit, waits);
    for (int tpc = 0; tpc < tpcs; tpc++)
        for (size_t i = 0; i < waits[tpc].count; i++)
            wt_sample_add(&turns, waits[tpc].values[i] - wt_mid_mean(&waits[tpc]));
    wt_sample_sort(&turns);
    out->spread = wt_format("%.0f to %+.0f about a TPC's own (90 %% of %zu releases)", wt_sample_quantile(&turns, 0.05),
                            wt_sample_quantile(&turns, 0.95), turns.count);
    wt_sample_free(&turns);
    free_samples(waits, tpcs);
}

static void fit_report_offset(const struct wt_fit *fit, struct wt_estimate *out)
{
    int tpcs = fit->gpu->topology.tpc_count;
    struct wt_sample *waits = quiet_by_tpc(fit, out->used);
    double worst = 0;
    out->samples = fewest(waits, tpcs);
    out->per_tpc = (struct wt_numbers){wt_alloc((size_t)tpcs, sizeof(double)), tpcs};
    for (int tpc = 0; tpc < tpcs; tpc++) {
        double more = wt_mid_mean(&waits[tpc]) - wt_of_tpc(&fit->gpu->rates.launch_offset_cycles, tpc) - fit->gpu->rates.release_cycles;
        out->per_tpc.values[tpc] = fmax(0, round(10 * more) / 10);
        worst = fmax(worst, wt_standard_error(&waits[tpc]));
    }
    out->error = wt_format("standard error at most %.1f", worst);
    free_samples(waits, tpcs);
}

/* ---- Ports ---- */

static double pace_between(const struct wt_sample *starts, size_t from, size_t to)
{
    return (starts->values[to] - starts->values[from]) / (double)(to - from);
}

/* The paces of stretches of STRETCH starts that are the same, but for STEADY_SHARE, as those of the stretches before and
 * after. After the first wave blocks come back in surges that die down over several waves; as long as they last, even the
 * mean over a whole launch is off by a few per cent. */
static void add_steady_paces(const struct wt_sample *starts, struct wt_sample *paces)
{
    size_t stretches = starts->count > 0 ? (starts->count - 1) / STRETCH : 0;
    for (size_t i = 1; i + 1 < stretches; i++) {
        double before = pace_between(starts, (i - 1) * STRETCH, i * STRETCH);
        double pace = pace_between(starts, i * STRETCH, (i + 1) * STRETCH);
        double after = pace_between(starts, (i + 1) * STRETCH, (i + 2) * STRETCH);
        if (fabs(before - pace) < STEADY_SHARE * pace && fabs(after - pace) < STEADY_SHARE * pace)
            wt_sample_add(paces, pace);
    }
}

/* Those of a GPC whose port is never idle. */
static void add_paces_of_port(const struct wt_launch_evidence *launch, const struct wt_gpu *gpu, int gpc, struct wt_sample *paces)
{
    struct wt_sample starts = {0}, delays = {0};
    for (size_t i = 0; i < launch->release_count; i++) {
        const struct wt_release *release = &launch->releases[i];
        if (gpu->topology.gpc_of_sm[release->sm] != gpc)
            continue;
        wt_sample_add(&starts, release->end + release->wait);
        wt_sample_add(&delays, release->wait - wt_gpu_unloaded_release(gpu, release->sm));
    }
    wt_sample_sort(&starts);
    wt_sample_sort(&delays);
    if (wt_sample_quantile(&delays, 0.1) > SATURATED_CYCLES)
        add_steady_paces(&starts, paces);
    wt_sample_free(&starts);
    wt_sample_free(&delays);
}

/* By launch; a launch that did not replace its first wave's blocks at least once is all beginning and end. */
static struct wt_sample *paces_of_launches(const struct wt_fit *fit, double *fastest)
{
    const struct wt_evidence *evidence = fit->evidence;
    struct wt_sample *paces = wt_alloc(evidence->launch_count, sizeof *paces);
    *fastest = INFINITY;
    for (size_t i = 0; i < evidence->launch_count; i++) {
        const struct wt_launch_evidence *launch = &evidence->launches[i];
        for (int gpc = 0; launch->release_count >= launch->first_wave && gpc < fit->gpu->topology.gpc_count; gpc++)
            add_paces_of_port(launch, fit->gpu, gpc, &paces[i]);
        wt_sample_sort(&paces[i]);
        if (paces[i].count > 0)
            *fastest = fmin(*fastest, wt_sample_quantile(&paces[i], 0.5));
    }
    return paces;
}

/* Where reports always wait the distributor takes one each report_cycles, of each GPC in turn, and each makes room for one
 * start. Releases may also be late because blocks drain; a launch whose starts come much more slowly than the fastest one's
 * did not keep it busy. All steady stretches count alike. */
static void fit_report(const struct wt_fit *fit, struct wt_estimate *out)
{
    const struct wt_evidence *evidence = fit->evidence;
    struct wt_sample sample = {0};
    double fastest;
    struct wt_sample *paces = paces_of_launches(fit, &fastest);
    for (size_t i = 0; i < evidence->launch_count; i++) {
        bool counts = paces[i].count > 0 && wt_sample_quantile(&paces[i], 0.5) <= SAME_PACE * fastest;
        for (size_t k = 0; counts && k < paces[i].count; k++)
            wt_sample_add(&sample, paces[i].values[k]);
        out->used[evidence->launches[i].trace] |= counts;
    }
    wt_sample_sort(&sample);
    out->samples = sample.count;
    double gpcs = fit->gpu->topology.gpc_count;
    out->value = round(1000 * wt_mid_mean(&sample) / gpcs) / 1000;
    out->spread = wt_format("quartiles %.3f to %.3f", wt_sample_quantile(&sample, 0.25) / gpcs,
                            wt_sample_quantile(&sample, 0.75) / gpcs);
    out->error = wt_format("standard error %.3f; %zu stretches of %d starts", wt_standard_error(&sample) / gpcs, sample.count,
                           STRETCH);
    wt_sample_free(&sample);
    free_samples(paces, (int)evidence->launch_count);
}

/* ---- Kernels of one stream ---- */

/* From the last end to the next launch's first start; the middle, since a host that is late makes some gaps longer. A
 * host that is always late would make this the host's time: the trace's launches must have been queued up. */
static void fit_kernel_gap(const struct wt_fit *fit, struct wt_estimate *out)
{
    const struct wt_evidence *evidence = fit->evidence;
    struct wt_sample gaps = {0};
    for (size_t i = 1; i < evidence->launch_count; i++) {
        const struct wt_launch_evidence *before = &evidence->launches[i - 1], *after = &evidence->launches[i];
        const struct wt_trace_launch *launches = evidence->traces[after->trace].trace->launches;
        if (before->trace != after->trace || before->launch + 1 != after->launch ||
            launches[before->launch].stream != launches[after->launch].stream)
            continue;
        double end = -INFINITY, start = INFINITY;
        for (size_t b = 0; b < before->blocks; b++)
            end = fmax(end, before->stays[b].end);
        for (size_t b = 0; b < after->blocks; b++)
            start = fmin(start, after->stays[b].start);
        wt_sample_add(&gaps, start - end - (before->rounds > 0 ? fit->gpu->rates.used_tpc_cycles : 0));
        out->used[after->trace] = true;
    }
    wt_sample_sort(&gaps);
    out->samples = gaps.count;
    out->value = fmax(0, round(wt_mid_mean(&gaps)));
    out->spread = wt_format("%.0f to %.0f", wt_sample_quantile(&gaps, 0), wt_sample_quantile(&gaps, 1));
    wt_sample_free(&gaps);
}

/* ---- Descriptors ---- */

#define QUIET "launches of several waves whose blocks last long and differently (1,000 cycles and more)"

const struct wt_estimator wt_fit_release = {
    .key = "rates.release_cycles",
    .kind = WT_RATE_NUMBER,
    .offset = offsetof(struct wt_rates, release_cycles),
    .method = "releases with no other end in the GPC before, nearest TPC",
    .needs = QUIET,
    .unit = "releases of each TPC",
    .least = LEAST_PER_TPC,
    .fit = fit_release,
};

const struct wt_estimator wt_fit_report_offset = {
    .key = "rates.report_offset_cycles",
    .kind = WT_RATE_PER_TPC,
    .offset = offsetof(struct wt_rates, report_offset_cycles),
    .method = "releases with no other end in the GPC before, per TPC, less launch_offset_cycles; of this part",
    .needs = QUIET,
    .unit = "releases of each TPC",
    .least = LEAST_PER_TPC,
    .fit = fit_report_offset,
};

const struct wt_estimator wt_fit_report = {
    .key = "rates.report_cycles",
    .kind = WT_RATE_NUMBER,
    .offset = offsetof(struct wt_rates, report_cycles),
    .method = "starts per GPC, over the GPCs, in steady states in which reports always wait",
    .needs = "launches of many short blocks, several times what the GPU holds",
    .unit = "stretches",
    .least = 8,
    .fit = fit_report,
};

const struct wt_estimator wt_fit_kernel_gap = {
    .key = "rates.kernel_gap_cycles",
    .kind = WT_RATE_NUMBER,
    .offset = offsetof(struct wt_rates, kernel_gap_cycles),
    .method = "last end to first start of launches queued in one stream",
    .needs = "traces of launches queued one after another in one stream",
    .unit = "gaps",
    .least = 2,
    .fit = fit_kernel_gap,
};
