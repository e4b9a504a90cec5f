/* The pictures that `sweep` leaves: options, and drawing a table. */
#ifndef WT_SWEEP_PLOT_H
#define WT_SWEEP_PLOT_H

#include <argp.h>

#include "core/status.h"
#include "study/plot.h"

enum { SWEEP_PICTURES = 3 };

/* What the user asked for. Put `sweep_plot_argp` among the argp children with a `struct sweep_plot *` as its input. */
struct sweep_plot {
    const char *path[SWEEP_PICTURES]; /* of the SVG, PNG and PDF; NULL: not asked for */
    int width, height;                /* 0: chosen */
    struct wt_plot_setup setup;       /* texts are the command line's; NULL and 0 leave it to the study */
    bool kind_given;
};

/* --svg, --png, --pdf FILE, --size WxH, --plot KIND, --x, --y, --by COLUMN. */
extern const struct argp sweep_plot_argp;

bool sweep_plot_any(const struct sweep_plot *plot);
bool sweep_plot_takes_stdout(const struct sweep_plot *plot);

/* Draws the table into all files asked for. `study`: what holds where the user said nothing. `path` names the table in messages. */
enum wt_code sweep_plot_draw(const struct sweep_plot *plot, const struct wt_table *table, const struct wt_plot_setup *study,
                             const char *title, const char *path, struct wt_error *err);

#endif
