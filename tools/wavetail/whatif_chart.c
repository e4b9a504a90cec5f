#include "whatif_points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/outfile.h"
#include "observe/chart.h"

enum { MOST_NAMES = 64 };

static const char *const titles[WHATIF_SETTINGS] = {
    [WHATIF_BLOCK] = "threads per block", [WHATIF_SMEM] = "dynamic shared memory per block (bytes)",
    [WHATIF_REGS] = "registers per thread", [WHATIF_SPLIT] = "parts of each block", [WHATIF_ORDER] = "order of blocks",
    [WHATIF_GPU] = "GPU", [WHATIF_PERSISTENT] = "launch"};

struct drawing {
    const struct whatif_report *report;
    enum whatif_setting across, by; /* by == across: one series */
    struct wt_chart chart;
    struct wt_chart_series series[WT_CHART_SERIES];
    char names[WT_CHART_SERIES][64];
    struct wt_chart_point *points;
    double ticks[MOST_NAMES];
    const char *categories[MOST_NAMES];
    char title[200], note[200];
};

static bool is_category(enum whatif_setting setting)
{
    return setting == WHATIF_ORDER || setting == WHATIF_GPU || setting == WHATIF_PERSISTENT;
}

static const char *category(const struct whatif_outcome *o, enum whatif_setting setting)
{
    if (setting == WHATIF_ORDER)
        return wt_order_names[o->point.order];
    if (setting == WHATIF_GPU)
        return o->point.gpu ? o->point.gpu->key : "as measured";
    return o->point.persistent ? "persistent" : "ordinary";
}

/* The setting with most values; of equals the first. */
static enum whatif_setting most_varied(const struct whatif_report *report, int without)
{
    int best = -1;
    for (int s = 0; s < WHATIF_SETTINGS; s++)
        if (s != without && (best < 0 || whatif_values(report, (enum whatif_setting)s) > whatif_values(report, (enum whatif_setting)best)))
            best = s;
    return (enum whatif_setting)best;
}

static int by_x(const void *left, const void *right)
{
    const struct wt_chart_point *a = left, *b = right;
    return (a->x > b->x) - (a->x < b->x);
}

/* Points of one series: of several that share an x (a third setting varies, too) the fastest, which comes first. */
static size_t fill_series(struct drawing *d, double value, struct wt_chart_point *points)
{
    size_t count = 0;
    for (size_t i = 0; i < d->report->count; i++) {
        const struct whatif_outcome *o = &d->report->outcomes[i];
        double x = whatif_value(d->report, o, d->across);
        bool taken = o->error.code || (d->by != d->across && whatif_value(d->report, o, d->by) != value);
        for (size_t k = 0; k < count; k++)
            taken |= points[k].x == x;
        if (!taken)
            points[count++] = (struct wt_chart_point){x, o->result.makespan, o->result.low, o->result.high, NULL, false};
    }
    qsort(points, count, sizeof *points, by_x);
    return count;
}

static void name_series(struct drawing *d, size_t index, const struct whatif_outcome *o, double value)
{
    if (d->by == d->across)
        snprintf(d->names[index], sizeof d->names[index], "predicted");
    else if (is_category(d->by))
        snprintf(d->names[index], sizeof d->names[index], "%s", category(o, d->by));
    else
        snprintf(d->names[index], sizeof d->names[index], "%.0f", value);
}

static void add_series(struct drawing *d)
{
    struct wt_chart_point *next = d->points;
    for (size_t i = 0; i < d->report->count && d->chart.series_count < WT_CHART_SERIES; i++) {
        const struct whatif_outcome *o = &d->report->outcomes[i];
        double value = whatif_value(d->report, o, d->by);
        bool seen = d->by == d->across && i > 0;
        for (size_t k = 0; k < i && d->by != d->across; k++)
            seen |= whatif_value(d->report, &d->report->outcomes[k], d->by) == value;
        if (seen)
            continue;
        size_t index = d->chart.series_count++;
        name_series(d, index, o, value);
        d->series[index] = (struct wt_chart_series){d->names[index], next, fill_series(d, value, next)};
        next += d->series[index].count;
    }
}

static void make_axes(struct drawing *d)
{
    struct wt_chart_axis *x = &d->chart.x, *y = &d->chart.y;
    double low = INFINITY, high = -INFINITY, least = INFINITY, most = 0;
    for (size_t s = 0; s < d->chart.series_count; s++)
        for (size_t i = 0; i < d->series[s].count; i++) {
            const struct wt_chart_point *p = &d->series[s].points[i];
            low = fmin(low, p->x);
            high = fmax(high, p->x);
            least = fmin(least, p->low);
            most = fmax(most, p->high);
        }
    *x = (struct wt_chart_axis){.title = titles[d->across], .low = low, .high = high > low ? high : low + 1,
                                .log = (d->across == WHATIF_BLOCK || d->across == WHATIF_SPLIT) && low > 0};
    *y = (struct wt_chart_axis){.title = "makespan (cycles)", .low = least > 0.6 * most ? least - 0.2 * (most - least) : 0,
                                .high = most + 0.1 * (most - least)};
    if (d->series[0].count <= MOST_NAMES && !is_category(d->across)) {
        for (size_t i = 0; i < d->series[0].count; i++)
            d->ticks[x->tick_count++] = d->series[0].points[i].x;
        x->ticks = d->ticks;
    }
    if (is_category(d->across)) {
        for (size_t i = 0; i < d->report->count; i++)
            d->categories[(size_t)whatif_value(d->report, &d->report->outcomes[i], d->across) % MOST_NAMES] =
                category(&d->report->outcomes[i], d->across);
        for (size_t i = 0; i <= (size_t)high && i < MOST_NAMES; i++)
            d->categories[i] = d->categories[i] ? d->categories[i] : "";
        x->names = d->categories;
        x->name_count = (size_t)high + 1;
        x->low = -0.5;
        x->high = high + 0.5;
        y->low = 0;
    }
}

enum wt_code whatif_draw(const struct whatif_report *report, const char *path, struct wt_error *err)
{
    struct drawing *d = wt_alloc(1, sizeof *d);
    struct wt_outfile out = {0};
    const struct wt_whatif_measured *m = &report->measured;
    d->report = report;
    d->across = most_varied(report, -1);
    d->by = most_varied(report, (int)d->across);
    if (whatif_values(report, d->by) < 2)
        d->by = d->across;
    d->points = wt_alloc(report->count * WT_CHART_SERIES, sizeof *d->points);
    snprintf(d->title, sizeof d->title, "%s in other shapes", m->name);
    snprintf(d->note, sizeof d->note, "%s: %.0f cycles in blocks of %d threads; the band is where four of five measured makespans lie",
             m->simulated ? "as described" : "measured", m->makespan, m->needs.threads);
    d->chart = (struct wt_chart){.kind = WT_CHART_LINES, .title = d->title, .note = d->note, .series = d->series, .best = -1,
                                 .series_title = d->by == d->across ? NULL : titles[d->by]};
    add_series(d);
    enum wt_code code = WT_OK;
    if (d->series[0].count == 0)
        code = wt_fail(err, WT_BAD_INPUT, "nothing to draw: no point can be launched");
    else
        make_axes(d);
    if (code == WT_OK && (code = wt_outfile_open(&out, path, err)) == WT_OK &&
        (code = wt_chart_svg(&d->chart, out.stream, err)) == WT_OK)
        code = wt_outfile_commit(&out, err);
    wt_outfile_discard(&out);
    free(d->points);
    free(d);
    return code;
}
