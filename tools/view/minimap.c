/* The whole run in a strip: residency, tails, markers; the timeline's window and the head can be dragged. */
#include <math.h>

#include "view.h"

static double x_of(const struct view *view, struct rect rect, double cycles)
{
    return rect.x + cycles / fmax(view->playback.end, 1) * rect.w;
}

static void draw_tails(struct view *view, struct rect rect, const struct run *run)
{
    for (size_t i = 0; i < run->timeline->launch_count && i < 64; i++) {
        const struct wt_tail *tail = &run->metrics->launches[i].tail;
        int x0 = (int)x_of(view, rect, wt_to_cycles(tail->start));
        int x1 = (int)x_of(view, rect, wt_to_cycles(tail->start + tail->length));
        canvas_blend(&view->canvas, (struct rect){x0, rect.y, x1 - x0, rect.h}, view->ui.theme->accent, 60);
    }
}

static void draw_curve(struct view *view, struct rect rect, const struct run *run, bool line)
{
    double most = (double)run->slots * run->sms;
    for (int i = 0; i < rect.w; i++) {
        wt_time t0 = wt_from_cycles(view->playback.end * i / rect.w), t1 = wt_from_cycles(view->playback.end * (i + 1) / rect.w);
        double share = t1 > t0 ? density_mean(&run->blocks, t0, t1) / most : 0;
        int h = (int)lround(share * (rect.h - 2));
        struct rect bar = {rect.x + i, rect.y + rect.h - h, 1, line ? (h ? ui_px(&view->ui, 1) : 0) : h};
        canvas_fill(&view->canvas, bar, line ? view->ui.theme->ink : colour_mix(view->ui.theme->well, view->ui.theme->soft, 0.6));
    }
}

/* Outside the timeline's window it is dimmed. */
static void draw_window(struct view *view, struct rect rect)
{
    int x0 = (int)fmax(x_of(view, rect, view->axis.t0), rect.x);
    int x1 = (int)fmin(x_of(view, rect, view->axis.t1), rect.x + rect.w);
    canvas_blend(&view->canvas, (struct rect){rect.x, rect.y, x0 - rect.x, rect.h}, view->ui.theme->page, 150);
    canvas_blend(&view->canvas, (struct rect){x1, rect.y, rect.x + rect.w - x1, rect.h}, view->ui.theme->page, 150);
    canvas_frame(&view->canvas, (struct rect){x0, rect.y, x1 - x0 > 2 ? x1 - x0 : 2, rect.h}, ui_px(&view->ui, 1.5),
                 view->ui.theme->focus);
}

static void draw_mark(struct view *view, struct rect rect, double cycles, colour value)
{
    if (cycles >= 0)
        canvas_fill(&view->canvas, (struct rect){(int)x_of(view, rect, cycles), rect.y, ui_px(&view->ui, 2), rect.h}, value);
}

/* Centres the timeline's window. */
static void act_on_map(struct view *view, struct rect rect)
{
    const struct input *in = &view->ui.in;
    double at = (in->x - rect.x) / (double)rect.w * view->playback.end, half = (view->axis.t1 - view->axis.t0) / 2;
    if (ui_dragged(&view->ui, &view->axis, rect)) {
        view->axis.follow = false;
        view->axis.t0 = at - half;
        view->axis.t1 = at + half;
        axis_pan(view, 0);
    }
    if (ui_over(&view->ui, rect) && in->wheel != 0)
        axis_zoom(view, pow(1.25, in->wheel), at);
    ui_set_tip(&view->ui, rect, "the whole run: drag to move the timeline's window, wheel to zoom");
}

/* The head's own rail. */
static void draw_scrubber(struct view *view, struct rect rect)
{
    struct ui *ui = &view->ui;
    double x = x_of(view, rect, view->playback.now), y = rect.y + rect.h / 2.0;
    struct rect rail = {rect.x, (int)y - ui_px(ui, 1), rect.w, ui_px(ui, 3)};
    canvas_fill(ui->canvas, rail, ui->theme->edge);
    canvas_fill(ui->canvas, (struct rect){rail.x, rail.y, (int)x - rail.x, rail.h}, ui->theme->playhead);
    canvas_disc(ui->canvas, x, y + 0.5, ui_px(ui, 5), ui->theme->playhead);
    struct rect grip = {rect.x - ui_px(ui, 6), rect.y, rect.w + ui_px(ui, 12), rect.h};
    if (ui_dragged(ui, &view->playback, grip))
        playback_go(&view->playback, (ui->in.x - rect.x) / (double)rect.w * view->playback.end);
    ui_set_tip(ui, grip, "drag: go there");
}

void minimap_draw(struct view *view, struct rect rect)
{
    draw_scrubber(view, ui_cut_bottom(&view->ui, &rect, 13));
    struct rect old = canvas_clip_to(&view->canvas, rect);
    canvas_fill(&view->canvas, rect, view->ui.theme->well);
    draw_tails(view, rect, view_run(view));
    draw_curve(view, rect, view_run(view), false);
    if (view->compare != COMPARE_OFF && view_other(view))
        draw_curve(view, rect, view_other(view), true);
    if (lesson_hides_future(view)) {
        int x = (int)x_of(view, rect, view->playback.now);
        canvas_fill(&view->canvas, (struct rect){x, rect.y, rect.x + rect.w - x, rect.h}, view->ui.theme->well);
    }
    draw_window(view, rect);
    draw_mark(view, rect, view->marker[0], view->ui.theme->marker_a);
    draw_mark(view, rect, view->marker[1], view->ui.theme->marker_b);
    draw_mark(view, rect, view->playback.now, view->ui.theme->playhead);
    canvas_set_clip(&view->canvas, old);
    act_on_map(view, rect);
}
