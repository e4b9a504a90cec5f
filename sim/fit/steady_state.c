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
    LEAST_PER_GPC = 60    /* starts from which a port's pace is told */
};

/* Blocks stay on their SM for a while after their last clock read, and that depends on the kernel. It only ever adds:
 * kernels whose level is beyond the lowest by more than this are left out. */
static const double SAME_LEVEL_CYCLES = 40;

/* A port is saturated when nine in ten of its releases take this much longer than unloaded ones: with some ten reports
 * waiting, the different ways that they come never leave it idle. Its state is steady when the paces of the two halves
 * differ by less than this share. */
static const double SATURATED_CYCLES = 100, STEADY_SHARE = 0.04;

/* Launches that are slower than the fastest by more than this are not limited by the ports. An H200's differ by 7 %. */
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

/* The mean interval of starts beyond the first wave in the middle four fifths of them; 0 when it is not one and the
 * same all the time. */
static double steady_pace(const struct wt_sample *starts)
{
    if (starts->count < LEAST_PER_GPC)
        return 0;
    size_t from = starts->count / 10, middle = starts->count / 2, to = starts->count - 1 - from;
    double pace = pace_between(starts, from, to);
    double change = pace_between(starts, from, middle) - pace_between(starts, middle, to);
    return fabs(change) < STEADY_SHARE * pace ? pace : 0;
}

/* The pace of a GPC's port that is never idle; 0 when it is, or the pace is not steady. */
static double pace_of_port(const struct wt_launch_evidence *launch, const struct wt_gpu *gpu, int gpc)
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
    double pace = wt_sample_quantile(&delays, 0.1) > SATURATED_CYCLES ? steady_pace(&starts) : 0;
    wt_sample_free(&starts);
    wt_sample_free(&delays);
    return pace;
}

/* The mean pace of the launch's saturated ports; 0 when none is. */
static double pace_of_ports(const struct wt_launch_evidence *launch, const struct wt_gpu *gpu)
{
    struct wt_sample ports = {0};
    for (int gpc = 0; gpc < gpu->topology.gpc_count; gpc++) {
        double pace = pace_of_port(launch, gpu, gpc);
        if (pace > 0)
            wt_sample_add(&ports, pace);
    }
    wt_sample_sort(&ports);
    double pace = wt_mid_mean(&ports);
    wt_sample_free(&ports);
    return pace;
}

/* 0 also for a launch that did not replace its first wave's blocks at least once: that is all beginning and end. */
static double *paces_of_launches(const struct wt_fit *fit, double *fastest)
{
    const struct wt_evidence *evidence = fit->evidence;
    double *paces = wt_alloc(evidence->launch_count, sizeof *paces);
    *fastest = INFINITY;
    for (size_t i = 0; i < evidence->launch_count; i++) {
        const struct wt_launch_evidence *launch = &evidence->launches[i];
        paces[i] = launch->release_count >= launch->first_wave ? pace_of_ports(launch, fit->gpu) : 0;
        if (paces[i] > 0)
            *fastest = fmin(*fastest, paces[i]);
    }
    return paces;
}

/* A port that always has reports waiting passes one each report_cycles, and each makes room for one start. Releases may
 * also be late because blocks drain; a launch whose starts come much more slowly than the fastest one's did not saturate
 * its ports. Paces differ a little between kernels; the median, in which a launch counts once for each time that its
 * first wave's blocks were replaced: so long was the steady state seen. */
static void fit_report(const struct wt_fit *fit, struct wt_estimate *out)
{
    const struct wt_evidence *evidence = fit->evidence;
    struct wt_sample sample = {0};
    double fastest, *paces = paces_of_launches(fit, &fastest);
    for (size_t i = 0; i < evidence->launch_count; i++) {
        const struct wt_launch_evidence *launch = &evidence->launches[i];
        if (paces[i] <= 0 || paces[i] > SAME_PACE * fastest)
            continue;
        out->used[launch->trace] = true;
        out->samples++;
        for (size_t wave = 0; wave < launch->release_count / launch->first_wave; wave++)
            wt_sample_add(&sample, paces[i]);
    }
    wt_sample_sort(&sample);
    out->value = round(100 * wt_sample_quantile(&sample, 0.5)) / 100;
    out->spread = wt_format("%.2f to %.2f over launches", wt_sample_quantile(&sample, 0), wt_sample_quantile(&sample, 1));
    wt_sample_free(&sample);
    free(paces);
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
        wt_sample_add(&gaps, start - end);
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
    .method = "starts per GPC in steady states in which reports always wait",
    .needs = "launches of many short blocks, several times what the GPU holds",
    .unit = "launches",
    .least = 1,
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
