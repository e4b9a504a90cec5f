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

/* ---- Pace of visits and distances of groups ---- */

/* When each group was first visited, by number of visits, and when its SMs then started. Arrays [launch * groups +
 * group]; only launches that visited every group are listed. */
struct first_visits {
    int groups;
    size_t launches;
    double *position, *start;
    int beginnings; /* different first groups of rotations */
};

/* Block after block of a launch; a visit ends where the group changes. False when some group was never visited. */
static bool look_at_visits(const struct wt_launch_evidence *launch, const struct wt_topology *t, double *position,
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
            wt_sample_add(&starts[group], launch->stays[b].start);
    }
    for (int g = 0; g < t->group_count; g++) {
        wt_sample_sort(&starts[g]);
        start[g] = wt_mid_mean(&starts[g]);
        wt_sample_free(&starts[g]);
    }
    return seen >= t->group_count;
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
                             .start = wt_alloc(most, sizeof(double))};
    bool begun[WT_MAX_GROUPS] = {false};
    for (size_t i = 0; i < evidence->launch_count; i++) {
        const struct wt_launch_evidence *launch = &evidence->launches[i];
        double *position = &v.position[v.launches * groups];
        if (evidence->traces[launch->trace].trace->row_count < LEAST_ROWS || !launch->calm ||
            !look_at_visits(launch, t, position, &v.start[v.launches * groups]))
            continue;
        begun[first_ordinary(&v, position, t->extra_group)] = true;
        used[launch->trace] = true;
        v.launches++;
    }
    for (int g = 0; g < v.groups; g++)
        v.beginnings += begun[g];
    return v;
}

static void free_visits(struct first_visits *v)
{
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
    free_visits(&v);
}

/* What the group's first starts are later than the launch's by, less the visits before it. The distance of groups (the
 * same for their TPCs): inside a group first starts differ by less than the clocks tell. The nearest group is 0. */
static void fit_launch_offset(const struct wt_fit *fit, struct wt_estimate *out)
{
    const struct wt_topology *t = &fit->gpu->topology;
    struct first_visits v = find_visits(fit, out->used);
    double distance[WT_MAX_GROUPS] = {0}, nearest = INFINITY, worst = 0;
    for (size_t i = 0; i < v.launches * (size_t)v.groups; i++)
        v.start[i] -= fit->gpu->rates.visit_cycles * v.position[i];
    for (size_t l = 0; l < v.launches; l++) {
        double mean = 0, *start = &v.start[l * (size_t)v.groups];
        for (int g = 0; g < v.groups; g++)
            mean += start[g] / v.groups;
        for (int g = 0; g < v.groups; g++)
            distance[g] += (start[g] - mean) / (double)v.launches;
    }
    for (int g = 0; g < v.groups; g++)
        nearest = fmin(nearest, distance[g]);
    out->samples = v.launches;
    out->per_tpc = (struct wt_numbers){wt_alloc((size_t)t->tpc_count, sizeof(double)), t->tpc_count};
    for (int sm = 0; sm < t->sm_count && v.launches; sm++)
        out->per_tpc.values[t->tpc_of_sm[sm]] = round(10 * (distance[t->group_of_sm[sm]] - nearest)) / 10;
    centre(&v, v.start);
    for (size_t i = 0; i < v.launches * (size_t)v.groups; i++)
        worst = fmax(worst, fabs(v.start[i]));
    out->spread = wt_format("by group; a launch's first starts lie up to %.1f beside it", worst);
    free_visits(&v);
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
    .method = "first starts of each group less the visits before it, in calm first waves; of this part",
    .needs = CALM "of 1,000 blocks or more",
    .unit = "launches",
    .least = 1,
    .fit = fit_launch_offset,
};
