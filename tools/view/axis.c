/* The timeline's window in time: zoom, pan, fit. */
#include <math.h>

#include "view.h"

static const double least_window = 16; /* cycles */

static double whole(const struct view *view)
{
    return fmax(view->playback.end, 1);
}

/* Keeps some of the run in sight and the window between 16 cycles and twice the run. */
static void set_window(struct view *view, double t0, double t1)
{
    double width = fmin(fmax(t1 - t0, least_window), 1.25 * whole(view)), middle = (t0 + t1) / 2;
    double margin = width * 0.03;
    t0 = middle - width / 2;
    if (width >= whole(view))
        t0 = fmin(fmax(t0, whole(view) - width), 0);
    else
        t0 = fmin(fmax(t0, -margin), whole(view) - width + margin);
    view->axis.t0 = t0;
    view->axis.t1 = t0 + width;
}

void axis_reset(struct view *view)
{
    set_window(view, -0.01 * whole(view), 1.01 * whole(view));
}

void axis_zoom(struct view *view, double factor, double at)
{
    struct axis *axis = &view->axis;
    double width = fmin(fmax((axis->t1 - axis->t0) / factor, least_window), 1.25 * whole(view));
    double share = (at - axis->t0) / (axis->t1 - axis->t0);
    set_window(view, at - share * width, at + (1 - share) * width);
}

void axis_pan(struct view *view, double share)
{
    double by = share * (view->axis.t1 - view->axis.t0);
    set_window(view, view->axis.t0 + by, view->axis.t1 + by);
}

void axis_fit(struct view *view)
{
    double t0, t1;
    if (view_range(view, &t0, &t1)) {
        set_window(view, t0 - 0.02 * (t1 - t0), t1 + 0.02 * (t1 - t0));
    } else if (view->pinned.span != NO_SPAN) {
        const struct wt_block_run *span = run_span(view->runs[view->pinned.run], view->pinned.span);
        double start = wt_to_cycles(span->start), length = wt_to_cycles(span->end) - start;
        set_window(view, start - length, start + 2 * length);
    } else {
        axis_reset(view);
        view->axis.row_points = 0;
        view->axis.scroll = 0;
    }
}

void axis_follow(struct view *view)
{
    double width = view->axis.t1 - view->axis.t0;
    if (view->axis.follow && width < whole(view))
        set_window(view, view->playback.now - width / 2, view->playback.now + width / 2);
}

double axis_x(const struct view *view, struct rect rect, double cycles)
{
    return rect.x + (cycles - view->axis.t0) / (view->axis.t1 - view->axis.t0) * rect.w;
}

double axis_cycles(const struct view *view, struct rect rect, double x)
{
    return view->axis.t0 + (x - rect.x) / fmax(rect.w, 1) * (view->axis.t1 - view->axis.t0);
}

double axis_focus(const struct view *view)
{
    struct rect rect = view->axis_rect;
    if (view->ui.in.x >= rect.x && view->ui.in.x < rect.x + rect.w && rect.w > 0)
        return axis_cycles(view, rect, view->ui.in.x);
    double now = view->playback.now;
    return now >= view->axis.t0 && now <= view->axis.t1 ? now : (view->axis.t0 + view->axis.t1) / 2;
}

bool view_range(const struct view *view, double *t0, double *t1)
{
    const struct axis *axis = &view->axis;
    if (axis->select0 != axis->select1) {
        *t0 = fmin(axis->select0, axis->select1);
        *t1 = fmax(axis->select0, axis->select1);
        return true;
    }
    *t0 = fmin(view->marker[0], view->marker[1]);
    *t1 = fmax(view->marker[0], view->marker[1]);
    return *t0 >= 0 && *t1 > *t0;
}
