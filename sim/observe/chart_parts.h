/* A chart's parts. Private to sim/observe/chart*.c. Pixels; y grows downwards. */
#ifndef WT_OBSERVE_CHART_PARTS_H
#define WT_OBSERVE_CHART_PARTS_H

#include "observe/chart.h"
#include "observe/picture.h"

enum { WT_CHART_MARGIN = 18, WT_CHART_TICKS = 64 };

struct wt_chart_page {
    cairo_t *cr;
    const struct wt_chart *chart;
    double width, height;
    struct wt_box plot;  /* what the axes enclose */
    double legend_x;     /* left end of legend or colour bar */
};

struct wt_colour wt_chart_colour(size_t series);
/* Dashed, so that a seventh series is told from the first. */
bool wt_chart_dashed(size_t series);

/* Pixels of a value. */
double wt_chart_x(const struct wt_chart_page *page, double value);
double wt_chart_y(const struct wt_chart_page *page, double value);

/* chart_axes.c. Round values within the axis, at most `most` (>= 2, <= WT_CHART_TICKS); returns how many. */
int wt_chart_round_ticks(const struct wt_chart_axis *axis, int most, double *ticks);
/* Widest label of the y axis in pixels. */
double wt_chart_y_room(cairo_t *cr, const struct wt_chart *chart, double height);
void wt_chart_draw_axes(const struct wt_chart_page *page);

/* chart_series.c, chart_map.c */
/* The title beside the plot at baseline y, in two lines where it is long; returns the second's height. And the width that it takes. */
double wt_chart_draw_title(const struct wt_chart_page *page, const char *title, double y);
double wt_chart_title_room(cairo_t *cr, const char *title);
double wt_chart_legend_room(cairo_t *cr, const struct wt_chart *chart);
void wt_chart_draw_series(const struct wt_chart_page *page);
void wt_chart_draw_front(const struct wt_chart_page *page);
double wt_chart_map_room(cairo_t *cr, const struct wt_chart *chart);
void wt_chart_draw_map(const struct wt_chart_page *page);

#endif
