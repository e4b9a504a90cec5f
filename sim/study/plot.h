/* A sweep's table as a chart (observe/chart.h). What is not asked for is chosen to suit the table:
 *
 *  - x: the key with the most numbers (else the first that varies); `by`: the next key that varies at equal x, in a series each;
 *  - rows that have all of these in common (several seeds) become their median, with a band from the least to the most;
 *  - kind: a map where both keys have more than six numbers, points where samples leave nothing to join, else lines;
 *  - scales: logarithmic where the numbers are spread by ratios.
 *
 * The front shows two results against each other: nothing else is better in both. */
#ifndef WT_STUDY_PLOT_H
#define WT_STUDY_PLOT_H

#include "core/param.h"
#include "core/status.h"
#include "observe/chart.h"
#include "study/table.h"

enum wt_plot_kind { WT_PLOT_AUTO, WT_PLOT_LINES, WT_PLOT_POINTS, WT_PLOT_MAP, WT_PLOT_FRONT };
enum wt_plot_scale { WT_SCALE_AUTO, WT_SCALE_LINEAR, WT_SCALE_LOG };
extern const char *const wt_plot_kinds[]; /* their names; NULL ends the list */

/* As the keys of a study's group `plot` have it. NULL: chosen. */
struct wt_plot_setup {
    int kind;    /* enum wt_plot_kind */
    char *x, *y, *by, *title, *x_title, *y_title;
    int x_scale, y_scale; /* enum wt_plot_scale */
};
extern const struct wt_param wt_plot_params[];

struct wt_plot; /* a chart with all that it points to */

/* `title` where the setup has none. Fails, without a place in front, where a column does not exist, nothing varies, or there is
 * nothing to be seen. The table may be freed before the plot. On failure *out is NULL. */
enum wt_code wt_plot_new(const struct wt_table *table, const struct wt_plot_setup *setup, const char *title, struct wt_plot **out,
                         struct wt_error *err);
/* NULL is allowed. */
void wt_plot_free(struct wt_plot *plot);

/* Its width and height may be set. */
struct wt_chart *wt_plot_chart(struct wt_plot *plot);

#endif
