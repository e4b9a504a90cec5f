/* What calm first waves tell: the launchers' intervals and lags, the visits' pace and the groups' distances. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fit/estimate.h"
#include "fit/statistics.h"

enum {
    MOST_WARPS = 64,
    LEAST_PER_POINT = 16,  /* intervals or lags that make a point of a curve */
    LEAST_ROWS = 1000,     /* of a trace whose clock domains are aligned to less than the distances looked for */
    LEAST_STEP = 4,        /* cycles that used TPCs are later by, to be told from distances within a group */
    LEAST_STARTS = 2       /* different groups that rotations must begin with to tell pace from distance */
};

/* ---- Curves over the warps of a block ---- */

typedef double middle_of(const struct wt_sample *sorted);
typedef void collect(const struct wt_launch_evidence *launch, const struct wt_topology *t, struct wt_sample *sample);

/* Starts of one SM's blocks in the first wave, as long as none of its blocks has ended: nothing but the launcher
 * stands between them. */
static void collect_intervals(const struct wt_launch_evidence *launch, const struct wt_topology *t,
                              struct wt_sample *sample)
{
    for (int sm = 0; sm < t->sm_count; sm++) {
        double first_end = INFINITY;
        for (int k = 0; k < launch->rounds; k++)
            first_end = fmin(first_end, wt_stay_of(launch, sm, k)->end);
        for (int k = 1; k < launch->rounds && wt_stay_of(launch, sm, k)->start < first_end; k++)
            wt_sample_add(sample, wt_stay_of(launch, sm, k)->start - wt_stay_of(launch, sm, k - 1)->start);
    }
}

/* The first blocks of a TPC's SMs are handed out in one visit, so their starts differ by the launcher's lag alone. */
static void collect_lags(const struct wt_launch_evidence *launch, const struct wt_topology *t, struct wt_sample *sample)
{
    for (int sm = 1; sm < t->sm_count && launch->rounds > 0; sm++)
        if (wt_is_second_of_tpc(t, sm))
            wt_sample_add(sample, wt_stay_of(launch, sm, 0)->start - wt_stay_of(launch, sm - 1, 0)->start);
}

static void add_point(struct wt_estimate *out, int warps, middle_of *middle, struct wt_sample *sample)
{
    struct wt_curve *curve = &out->curve;
    if (sample->count < LEAST_PER_POINT || curve->count == WT_MAX_CURVE)
        return;
    wt_sample_sort(sample);
    curve->x[curve->count] = warps;
    curve->y[curve->count++] = round(10 * middle(sample)) / 10;
    char *longer = wt_format("%s%s%d: %.0f to %.0f", out->spread ? out->spread : "quartiles by warps ",
                             out->spread ? ", " : "", warps, wt_sample_quantile(sample, 0.25), wt_sample_quantile(sample, 0.75));
    free(out->spread);
    out->spread = longer;
}

/* A point for each number of warps that calm launches have; a sample is a point. */
static void fit_curve(const struct wt_fit *fit, collect *from, middle_of *middle, struct wt_estimate *out)
{
    const struct wt_evidence *evidence = fit->evidence;
    double worst = 0;
    for (int warps = 1; warps <= MOST_WARPS; warps++) {
        struct wt_sample sample = {0};
        for (size_t i = 0; i < evidence->launch_count; i++) {
            const struct wt_launch_evidence *launch = &evidence->launches[i];
            size_t before = sample.count;
            if (launch->calm && launch->shape.warps == warps)
                from(launch, &fit->gpu->topology, &sample);
            out->used[launch->trace] |= sample.count > before;
        }
        add_point(out, warps, middle, &sample);
        worst = fmax(worst, wt_standard_error(&sample));
        wt_sample_free(&sample);
    }
    out->samples = (size_t)out->curve.count;
    out->error = wt_format("standard error at most %.2f", worst);
}

static double median(const struct wt_sample *sorted)
{
    return wt_sample_quantile(sorted, 0.5);
}

/* The median: some starts are late for other reasons, none is early. */
static void fit_launch(const struct wt_fit *fit, struct wt_estimate *out)
{
    fit_curve(fit, collect_intervals, median, out);
}

/* The mid-mean: lags are a whole number of cycles or the next. */
static void fit_tpc_lag(const struct wt_fit *fit, struct wt_estimate *out)
{
    fit_curve(fit, collect_lags, wt_mid_mean, out);
}

/* ---- TPCs that the launch before had used ---- */

/* A group's first TPCs start late where the last ones do not: by how much, if both are of one mind. NaN: they do not. */
static double step_in(const double *start, int count)
{
    for (int late = 1; late < count; late++) {
        struct wt_sample before = {0}, after = {0};
        for (int i = 0; i < count; i++)
            wt_sample_add(i < late ? &before : &after, start[i]);
        wt_sample_sort(&before);
        wt_sample_sort(&after);
        double step = wt_mid_mean(&before) - wt_mid_mean(&after);
        double range = fmax(before.values[before.count - 1] - before.values[0], after.values[after.count - 1] - after.values[0]);
        wt_sample_free(&before);
        wt_sample_free(&after);
        if (step >= LEAST_STEP && range < step / 2)
            return step;
    }
    return NAN;
}

/* One sample for each group of a launch of which part of the TPCs are late. */
static void fit_used_tpc(const struct wt_fit *fit, struct wt_estimate *out)
{
    const struct wt_topology *t = &fit->gpu->topology;
    struct wt_sample steps = {0};
    double *start = wt_alloc((size_t)t->sm_count, sizeof *start);
    for (size_t i = 0; i < fit->evidence->launch_count; i++) {
        const struct wt_launch_evidence *launch = &fit->evidence->launches[i];
        for (int g = 0; g < t->group_count && launch->calm; g++) {
            int tpcs = 0;
            for (int k = 0; k < t->groups[g].sm_count; k++)
                if (!wt_is_second_of_tpc(t, t->groups[g].sms[k]))
                    start[tpcs++] = wt_stay_of(launch, t->groups[g].sms[k], 0)->start;
            double step = step_in(start, tpcs);
            if (!isnan(step))
                wt_sample_add(&steps, step);
            out->used[launch->trace] |= !isnan(step);
        }
    }
    wt_sample_sort(&steps);
    out->samples = steps.count;
    out->value = round(10 * wt_mid_mean(&steps)) / 10;
    out->spread = wt_format("quartiles %.1f to %.1f", wt_sample_quantile(&steps, 0.25), wt_sample_quantile(&steps, 0.75));
    out->error = wt_format("standard error %.2f", wt_standard_error(&steps));
    wt_sample_free(&steps);
    free(start);
}

/* By TPC: how much later it starts for that. The caller frees. */
static double *delays_of(const struct wt_launch_evidence *launch, const struct wt_gpu *gpu)
{
    size_t tpcs = (size_t)gpu->topology.tpc_count;
    bool *used = wt_evidence_used_tpcs(launch, gpu);
    double *delays = wt_alloc(tpcs, sizeof *delays);
    for (size_t i = 0; i < tpcs; i++)
        delays[i] = used[i] ? gpu->rates.used_tpc_cycles : 0;
    free(used);
    return delays;
}

/* ---- Pace of visits and distances of groups ---- */

/* When each group was first visited, by number of visits, and when its SMs then started, less the delay of used TPCs. Arrays
 * [launch * groups + group]; only launches that visited every group are listed. */
struct first_visits {
    int groups;
    size_t launches;
    double *position, *start;
    struct wt_sample *beside; /* by TPC: its first starts beside its group's */
    int beginnings; /* different first groups of rotations */
};

/* Block after block of a launch; a visit ends where the group changes. False when some group was never visited. */
static bool look_at_visits(const struct wt_launch_evidence *launch, const struct wt_topology *t, const double *delays, double *position,
                           double *start)
{
    struct wt_sample starts[WT_MAX_GROUPS] = {0};
    int visits = -1, seen = 0, group = -1;
    for (int g = 0; g < t->group_count; g++)
        position[g] = -1;
    for (size_t b = 0; b < launch->first_wave && seen <= t->group_count; b++) {
        int sm = launch->stays[b].sm;
        if (t->group_of_sm[sm] != group) {
            group = t->group_of_sm[sm];
            visits++;
            seen += position[group] < 0;
            if (position[group] < 0)
                position[group] = visits;
        }
        if (position[group] == visits && !wt_is_second_of_tpc(t, sm))
            wt_sample_add(&starts[group], launch->stays[b].start - delays[t->tpc_of_sm[sm]]);
    }
    for (int g = 0; g < t->group_count; g++) {
        wt_sample_sort(&starts[g]);
        start[g] = wt_mid_mean(&starts[g]);
        wt_sample_free(&starts[g]);
    }
    return seen >= t->group_count;
}

/* `start`: by group, where each was first visited. */
static void compare_tpcs(const struct wt_launch_evidence *launch, const struct wt_topology *t, const double *delays, const double *start,
                         struct wt_sample *beside)
{
    for (int sm = 0; sm < t->sm_count && launch->rounds > 0; sm++)
        if (!wt_is_second_of_tpc(t, sm))
            wt_sample_add(&beside[t->tpc_of_sm[sm]],
                          wt_stay_of(launch, sm, 0)->start - delays[t->tpc_of_sm[sm]] - start[t->group_of_sm[sm]]);
}

static int first_ordinary(const struct first_visits *v, const double *position, int extra)
{
    int first = -1;
    for (int g = 0; g < v->groups; g++)
        if (g != extra && (first < 0 || position[g] < position[first]))
            first = g;
    return first;
}

/* Takes the launch's and the group's mean out of each value: what is left is what neither of them explains. */
static void centre(const struct first_visits *v, double *values)
{
    size_t groups = (size_t)v->groups;
    for (size_t l = 0; l < v->launches; l++) {
        double mean = 0;
        for (size_t g = 0; g < groups; g++)
            mean += values[l * groups + g] / (double)groups;
        for (size_t g = 0; g < groups; g++)
            values[l * groups + g] -= mean;
    }
    for (size_t g = 0; g < groups; g++) {
        double mean = 0;
        for (size_t l = 0; l < v->launches; l++)
            mean += values[l * groups + g] / (double)v->launches;
        for (size_t l = 0; l < v->launches; l++)
            values[l * groups + g] -= mean;
    }
}

static struct first_visits find_visits(const struct wt_fit *fit, bool *used)
{
    const struct wt_evidence *evidence = fit->evidence;
    const struct wt_topology *t = &fit->gpu->topology;
    size_t groups = (size_t)t->group_count, most = evidence->launch_count * groups;
    struct first_visits v = {.groups = t->group_count, .position = wt_alloc(most, sizeof(double)),
                             .start = wt_alloc(most, sizeof(double)), .beside = wt_alloc((size_t)t->tpc_count, sizeof *v.beside)};
    bool begun[WT_MAX_GROUPS] = {false};
    for (size_t i = 0; i < evidence->launch_count; i++) {
        const struct wt_launch_evidence *launch = &evidence->launches[i];
        double *position = &v.position[v.launches * groups], *start = &v.start[v.launches * groups];
        if (evidence->traces[launch->trace].trace->row_count < LEAST_ROWS || !launch->calm)
            continue;
        double *delays = delays_of(launch, fit->gpu);
        bool all = look_at_visits(launch, t, delays, position, start);
        if (all)
            compare_tpcs(launch, t, delays, start, v.beside);
        free(delays);
        if (!all)
            continue;
        begun[first_ordinary(&v, position, t->extra_group)] = true;
        used[launch->trace] = true;
        v.launches++;
    }
    for (int g = 0; g < v.groups; g++)
        v.beginnings += begun[g];
    return v;
}

static void free_visits(struct first_visits *v, const struct wt_topology *t)
{
    for (int i = 0; i < t->tpc_count; i++)
        wt_sample_free(&v->beside[i]);
    free(v->beside);
    free(v->position);
    free(v->start);
}

/* Least squares of start = launch + group + visit_cycles * position: every launch visits every group once, so the
 * launch's and the group's parts are taken out of starts and positions by centring, and the slope of what is left is
 * the pace. It takes rotations that begin at different groups: with one beginning the pace is part of the distance. */
static void fit_visit(const struct wt_fit *fit, struct wt_estimate *out)
{
    struct first_visits v = find_visits(fit, out->used);
    size_t count = v.launches * (size_t)v.groups;
    double xx = 0, xy = 0, rest = 0;
    centre(&v, v.position);
    centre(&v, v.start);
    for (size_t i = 0; i < count; i++) {
        xx += v.position[i] * v.position[i];
        xy += v.position[i] * v.start[i];
    }
    if (v.beginnings >= LEAST_STARTS && xx > 0) {
        out->samples = v.launches;
        out->value = fmax(0, round(100 * xy / xx) / 100);
        for (size_t i = 0; i < count; i++) {
            double residual = v.start[i] - xy / xx * v.position[i];
            rest += residual * residual;
        }
        out->error = wt_format("standard error %.2f", sqrt(rest / (double)count / xx));
    }
    free_visits(&v, &fit->gpu->topology);
}

/* What the group's first starts are later than the launch's by, less the visits before it: the middle over the launches. */
static void distances_of(const struct first_visits *v, double visit_cycles, double *distance)
{
    size_t groups = (size_t)v->groups;
    struct wt_sample later[WT_MAX_GROUPS] = {0};
    for (size_t i = 0; i < v->launches * groups; i++)
        v->start[i] -= visit_cycles * v->position[i];
    for (size_t l = 0; l < v->launches; l++) {
        double mean = 0;
        for (size_t g = 0; g < groups; g++)
            mean += v->start[l * groups + g] / (double)groups;
        for (size_t g = 0; g < groups; g++)
            wt_sample_add(&later[g], v->start[l * groups + g] - mean);
    }
    for (size_t g = 0; g < groups; g++) {
        wt_sample_sort(&later[g]);
        distance[g] = wt_mid_mean(&later[g]);
        wt_sample_free(&later[g]);
    }
}

/* The group's distance, and what its first starts are later than the group's by. The nearest TPC is 0. */
static void fit_launch_offset(const struct wt_fit *fit, struct wt_estimate *out)
{
    const struct wt_topology *t = &fit->gpu->topology;
    struct first_visits v = find_visits(fit, out->used);
    double distance[WT_MAX_GROUPS] = {0}, nearest = INFINITY, worst = 0;
    distances_of(&v, fit->gpu->rates.visit_cycles, distance);
    out->samples = v.launches;
    out->per_tpc = (struct wt_numbers){wt_alloc((size_t)t->tpc_count, sizeof(double)), t->tpc_count};
    double *of_tpc = out->per_tpc.values;
    for (int sm = 0; sm < t->sm_count && v.launches; sm++)
        if (!wt_is_second_of_tpc(t, sm)) {
            struct wt_sample *beside = &v.beside[t->tpc_of_sm[sm]];
            wt_sample_sort(beside);
            of_tpc[t->tpc_of_sm[sm]] = distance[t->group_of_sm[sm]] + (beside->count > 0 ? wt_mid_mean(beside) : 0);
        }
    for (int i = 0; i < t->tpc_count; i++)
        nearest = fmin(nearest, of_tpc[i]);
    for (int i = 0; i < t->tpc_count; i++)
        of_tpc[i] = round(10 * (of_tpc[i] - nearest)) / 10;
    centre(&v, v.start);
    for (size_t i = 0; i < v.launches * (size_t)v.groups; i++)
        worst = fmax(worst, fabs(v.start[i]));
    out->spread = wt_format("by group; a launch's first starts lie up to %.1f beside it", worst);
    free_visits(&v, t);
}

/* ---- Descriptors ---- */

#define CALM "launches whose first wave is calm (short kernels, warmed up) "

const struct wt_estimator wt_fit_launch = {
    .key = "rates.launch_cycles",
    .kind = WT_RATE_CURVE,
    .offset = offsetof(struct wt_rates, launch_cycles),
    .method = "intervals of one SM's starts in calm first waves, before any of its blocks ends",
    .needs = CALM "with blocks of at least 3 different numbers of warps",
    .unit = "numbers of warps",
    .least = 3,
    .fit = fit_launch,
};

const struct wt_estimator wt_fit_tpc_lag = {
    .key = "rates.tpc_lag_cycles",
    .kind = WT_RATE_CURVE,
    .offset = offsetof(struct wt_rates, tpc_lag_cycles),
    .method = "first starts of a TPC's second SM against its first, in calm first waves",
    .needs = CALM "with blocks of at least 3 different numbers of warps",
    .unit = "numbers of warps",
    .least = 3,
    .fit = fit_tpc_lag,
};

const struct wt_estimator wt_fit_used_tpc = {
    .key = "rates.used_tpc_cycles",
    .kind = WT_RATE_NUMBER,
    .offset = offsetof(struct wt_rates, used_tpc_cycles),
    .method = "first starts of a group's first TPCs against its last ones', where they differ by one step, in calm first waves",
    .needs = CALM "after a launch that used part of the TPCs, such as a memset",
    .unit = "groups of launches",
    .least = 10,
    .fit = fit_used_tpc,
};

const struct wt_estimator wt_fit_visit = {
    .key = "rates.visit_cycles",
    .kind = WT_RATE_NUMBER,
    .offset = offsetof(struct wt_rates, visit_cycles),
    .method = "order of groups against their first starts in calm first waves, least squares",
    .needs = CALM "of 1,000 blocks or more, with rotations that begin at different groups",
    .unit = "launches",
    .least = 4,
    .fit = fit_visit,
};

const struct wt_estimator wt_fit_launch_offset = {
    .key = "rates.launch_offset_cycles",
    .kind = WT_RATE_PER_TPC,
    .offset = offsetof(struct wt_rates, launch_offset_cycles),
    .method = "first starts of each TPC less the visits before it and used_tpc_cycles, in calm first waves; of this part",
    .needs = CALM "of 1,000 blocks or more",
    .unit = "launches",
    .least = 1,
    .fit = fit_launch_offset,
};
