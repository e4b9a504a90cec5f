/* The timeline's parts. Private to its files. */
#ifndef VIEW_TIMELINE_H
#define VIEW_TIMELINE_H

#include "view.h"

enum { GUTTER = 92, RULER = 22, YARDSTICK = 14, COUNTER = 34, /* points */
       MOST_ROWS = 2 * (WT_MAX_SMS + WT_MAX_GROUPS) };

/* One SM's row, or a collapsed GPC's. */
struct row {
    int run, gpc;
    int sm;   /* -1: the whole GPC */
    int y, h; /* pixels, from the top of all rows, unscrolled */
    bool first_of_gpc, first_of_run;
};

struct rows {
    struct row row[MOST_ROWS];
    int count, height; /* of all rows, pixels */
    double exact_height;
};

/* Lays the rows out for a window `room` pixels high. */
void timeline_lay_rows(struct view *view, const int *runs, int run_count, int room, struct rows *rows);
/* Pixels that the rows take at their flattest. */
int timeline_least_height(const struct view *view, const int *runs, int run_count);
void timeline_draw_rows(struct view *view, struct rect rect, const struct rows *rows);
void timeline_draw_gutter(struct view *view, struct rect rect, const struct rows *rows);

/* The block under the mouse; span NO_SPAN when there is none. */
struct pick timeline_pick(const struct view *view, struct rect rect, const struct rows *rows, int *sm);

/* timeline_counters.c: their total height in points, and drawing them; `gutter` and `rect` are side by side. */
int counters_height(const struct view *view, const int *runs, int run_count);
void counters_draw(struct view *view, struct rect gutter, struct rect rect, const int *runs, int run_count);

/* timeline_host.c: the host's threads, streams and copy engines, a row each, of one run under the other; height in points, 0 when
 * nothing is known of any. `room`: the whole timeline, of which they take less than half. */
int hosts_height(const struct view *view, struct rect room, const int *runs, int run_count);
/* `gutter` and `rect` are side by side, and as high as that. */
void hosts_draw(struct view *view, struct rect gutter, struct rect rect, const int *runs, int run_count);

/* The background of nothing waiting: the tails of the run's launches, over the rectangle's time axis. */
void timeline_draw_tails(struct view *view, struct rect rect, const struct run *run);

/* Time at a pixel's left edge, as wt_time, 0 before the beginning. */
wt_time timeline_edge(const struct view *view, struct rect rect, int x);

#endif
