/* A chart of many runs: one quantity against another in lines, bars or points, over two of them as a map, or two quantities
 * against each other with the front of what nothing else beats. The chart says what is shown; all values are in the
 * units that its titles name. */
#ifndef WT_OBSERVE_CHART_H
#define WT_OBSERVE_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/status.h"

enum wt_chart_kind {
    WT_CHART_LINES,  /* each series' points joined, in order of x; bars where x has names */
    WT_CHART_POINTS, /* not joined */
    WT_CHART_MAP,    /* a cell for each pair of names of x and y, coloured by `cells` */
    WT_CHART_FRONT   /* points with a label each; those on the front are joined */
};

enum { WT_CHART_SERIES = 12 };

struct wt_chart_axis {
    const char *title;        /* with the unit */
    double low, high;         /* shown; low < high, and 0 < low where log */
    bool log;
    const char *const *names; /* of the values 0, 1, …, which are categories; NULL: a number's axis */
    size_t name_count;
    const double *ticks;      /* ascending values to be labelled, as far as there is room; NULL: round ones */
    size_t tick_count;
};

struct wt_chart_point {
    double x, y;
    double low, high;  /* around y: a band; equal to y where there is none */
    const char *label; /* FRONT; NULL: none */
    bool on_front;     /* FRONT */
};

struct wt_chart_series {
    const char *name;
    const struct wt_chart_point *points; /* by ascending x */
    size_t count;
};

struct wt_chart {
    enum wt_chart_kind kind;
    const char *title, *note; /* note: the line below the title; NULL: none */
    struct wt_chart_axis x, y;
    const char *series_title; /* over the legend; NULL: none */
    const struct wt_chart_series *series; /* at most WT_CHART_SERIES */
    size_t series_count;
    /* MAP: y.name_count rows of x.name_count values; NaN: there is none. `value` is the colours' axis. */
    const double *cells;
    struct wt_chart_axis value;
    ptrdiff_t best; /* cell that is marked; -1: none */
    double width, height; /* 0: 960 x 600, or what suits the map */
};

/* A number as the axes have it, short: "0.5", "12,000", "2.5 M", "5×10⁻⁵" (WT_CHART_TICK_TEXT bytes). */
enum { WT_CHART_TICK_TEXT = 48 };
void wt_chart_words(char *text, double value);

enum wt_code wt_chart_svg(const struct wt_chart *chart, FILE *stream, struct wt_error *err);
enum wt_code wt_chart_png(const struct wt_chart *chart, FILE *stream, struct wt_error *err);
enum wt_code wt_chart_pdf(const struct wt_chart *chart, FILE *stream, struct wt_error *err);

#endif
