/* The timeline: ruler, rows, counters, and the mouse on them. */
#include "timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

wt_time timeline_edge(const struct view *view, struct rect rect, int x)
{
    double cycles = axis_cycles(view, rect, x);
    return cycles > 0 ? wt_from_cycles(cycles) : 0;
}

/* ---- The ruler ---- */

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double nice_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (steps[i] * power >= least * 0.999)
            return steps[i] * power;
    return 10 * power;
}

/* Cycles for one unit of what is shown. */
static double unit_of(const struct view *view)
{
    double mhz = view_run(view)->timeline->clock_mhz;
    return view->microseconds && mhz > 0 ? mhz : 1;
}

static void draw_ticks(struct view *view, struct rect rect)
{
    struct ui *ui = &view->ui;
    double unit = unit_of(view), step = nice_step((view->axis.t1 - view->axis.t0) / rect.w * ui_px(ui, 110) / unit) * unit;
    for (double t = ceil(fmax(view->axis.t0, 0) / step) * step; t <= view->axis.t1 && t <= view->playback.end * 1.001; t += step) {
        char text[64];
        int x = (int)axis_x(view, rect, t);
        canvas_fill(ui->canvas, (struct rect){x, rect.y + rect.h - ui_px(ui, 6), 1, ui_px(ui, 6)}, ui->theme->soft);
        struct rect label = {x + ui_px(ui, 4), rect.y, ui_px(ui, 104), rect.h};
        ui_text(ui, label, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, view_time_text(view, t, text));
    }
}

static void draw_selection(struct view *view, struct rect rect, int alpha)
{
    double t0, t1;
    if (!view_range(view, &t0, &t1))
        return;
    double x0 = axis_x(view, rect, t0), x1 = axis_x(view, rect, t1);
    canvas_span(&view->canvas, x0, x1, rect.y, rect.h, view->ui.theme->focus, alpha);
    canvas_fill(&view->canvas, (struct rect){(int)x0, rect.y, 1, rect.h}, view->ui.theme->focus);
    canvas_fill(&view->canvas, (struct rect){(int)x1, rect.y, 1, rect.h}, view->ui.theme->focus);
}

static void select_range(struct view *view, struct rect rect)
{
    struct axis *axis = &view->axis;
    double at = fmin(fmax(axis_cycles(view, rect, view->ui.in.x), 0), view->playback.end);
    bool was = axis->selecting;
    axis->selecting = ui_dragged(&view->ui, &axis->select0, rect);
    if (axis->selecting && !was) {
        axis->select0 = axis->select1 = at;
        axis->grab_x = view->ui.in.x;
    } else if (axis->selecting && abs(view->ui.in.x - axis->grab_x) > ui_px(&view->ui, 3)) {
        axis->select1 = at;
    } else if (was && !axis->selecting && axis->select0 == axis->select1) {
        playback_go(&view->playback, at);
    } else if (was && !axis->selecting) {
        view_set_panel(view, PANEL_RANGE);
    }
}

static void draw_ruler(struct view *view, struct rect rect)
{
    struct rect old = canvas_clip_to(&view->canvas, rect);
    canvas_fill(&view->canvas, rect, view->ui.theme->surface);
    draw_selection(view, rect, 60);
    draw_ticks(view, rect);
    canvas_set_clip(&view->canvas, old);
    ui_set_tip(&view->ui, rect, "click: go there; drag: select a range");
    select_range(view, rect);
}

/* ---- Waves: as many blocks as the GPU holds, in the order in which they were handed out ---- */

static void draw_wave(struct view *view, struct rect rect, double t0, double t1, int number)
{
    char text[32];
    double x0 = fmax(axis_x(view, rect, t0), rect.x), x1 = fmin(axis_x(view, rect, t1), rect.x + rect.w);
    const struct theme *theme = view->ui.theme;
    if (x1 <= x0)
        return;
    canvas_span(&view->canvas, x0, x1, rect.y, rect.h - 1, colour_mix(theme->surface, theme->ink, number % 2 ? 0.12 : 0.24), 255);
    snprintf(text, sizeof text, x1 - x0 > ui_px(&view->ui, 60) ? "wave %d" : "%d", number);
    if (x1 - x0 > ui_px(&view->ui, 18))
        ui_text(&view->ui, (struct rect){(int)x0, rect.y, (int)(x1 - x0), rect.h}, ALIGN_MIDDLE, FONT_PLAIN, TEXT_SMALL,
                theme->ink, text);
}

static void draw_waves_of_launch(struct view *view, struct rect rect, const struct run *run, size_t launch, size_t first)
{
    const struct wt_timeline_launch *about = &run->timeline->launches[launch];
    uint64_t wave = (uint64_t)about->blocks_per_sm * (uint64_t)run->sms;
    enum { MOST_WAVES = 2000 };
    if (wave == 0 || about->grid_blocks / wave > MOST_WAVES)
        return;
    for (uint64_t k = 0; k * wave < about->grid_blocks; k++) {
        size_t begin = first + k * wave, end = first + (k + 1) * wave;
        double t0 = wt_to_cycles(density_start(&run->blocks, begin));
        double t1 = (k + 1) * wave < about->grid_blocks ? wt_to_cycles(density_start(&run->blocks, end))
                                                         : wt_to_cycles(run->metrics->launches[launch].end);
        draw_wave(view, rect, t0, t1, (int)k + 1);
    }
}

/* Launches one after another: the blocks of each are a stretch of all starts. */
static void draw_yardstick(struct view *view, struct rect rect, int index)
{
    const struct run *run = view->runs[index];
    struct rect old = canvas_clip_to(&view->canvas, rect);
    size_t first = 0;
    canvas_fill(&view->canvas, rect, view->ui.theme->surface);
    for (size_t i = 0; i < run->timeline->launch_count && i < 256; i++) {
        size_t blocks = run->timeline->launches[i].grid_blocks;
        if (first + blocks > run->timeline->span_count || run_span(run, (uint32_t)first)->launch != i)
            break;
        draw_waves_of_launch(view, rect, run, i, first);
        first += blocks;
    }
    canvas_set_clip(&view->canvas, old);
    ui_set_tip(&view->ui, rect, "waves as a yardstick: as many blocks as the GPU holds; the hardware knows no waves");
}

/* ---- Lines over everything ---- */

static void draw_line_at(struct view *view, struct rect rect, double cycles, colour value, const char *name)
{
    int x = (int)lround(axis_x(view, rect, cycles));
    if (x < rect.x || x >= rect.x + rect.w)
        return;
    canvas_fill(&view->canvas, (struct rect){x, rect.y, ui_px(&view->ui, 1.5), rect.h}, value);
    if (!name)
        return;
    struct rect flag = {x, rect.y, ui_px(&view->ui, 14), ui_px(&view->ui, 14)};
    canvas_fill(&view->canvas, flag, value);
    ui_text(&view->ui, flag, ALIGN_MIDDLE, FONT_BOLD, TEXT_SMALL, palette_text_on(value), name);
}

static void draw_pinned(struct view *view, struct rect rect, const struct rows *rows)
{
    if (view->pinned.span == NO_SPAN)
        return;
    const struct run *run = view->runs[view->pinned.run];
    const struct wt_block_run *span = run_span(run, view->pinned.span);
    for (int i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (row->sm != span->sm || row->run != view->pinned.run)
            continue;
        int y = rect.y + row->y - view->axis.scroll, h = row->h;
        if (h >= run->slots * 3 && view->compare != COMPARE_OVERLAY) {
            y += row->h * span->slot / run->slots;
            h = row->h / run->slots;
        }
        double x0 = axis_x(view, rect, wt_to_cycles(span->start)), x1 = axis_x(view, rect, wt_to_cycles(span->end));
        int t = ui_px(&view->ui, 2), w = (int)fmax(x1 - x0, 3);
        canvas_frame(&view->canvas, (struct rect){(int)x0 - t, y - t, w + 2 * t, h + 2 * t}, t, view->ui.theme->ink);
    }
}

static void draw_lines(struct view *view, struct rect rect)
{
    const struct theme *theme = view->ui.theme;
    struct rect old = canvas_clip_to(&view->canvas, rect);
    draw_selection(view, rect, 26);
    if (view->marker[0] >= 0)
        draw_line_at(view, rect, view->marker[0], theme->marker_a, "A");
    if (view->marker[1] >= 0)
        draw_line_at(view, rect, view->marker[1], theme->marker_b, "B");
    if (ui_over(&view->ui, rect))
        canvas_blend(&view->canvas, (struct rect){view->ui.in.x, rect.y, 1, rect.h}, theme->ink, 90);
    draw_line_at(view, rect, view->playback.now, theme->playhead, NULL);
    canvas_set_clip(&view->canvas, old);
}

void timeline_draw_tails(struct view *view, struct rect rect, const struct run *run)
{
    const struct theme *theme = view->ui.theme;
    for (size_t i = 0; i < run->timeline->launch_count && i < 64; i++) {
        const struct wt_tail *tail = &run->metrics->launches[i].tail;
        double x0 = axis_x(view, rect, wt_to_cycles(tail->start));
        double x1 = axis_x(view, rect, wt_to_cycles(tail->start + tail->length));
        struct rect box = {(int)lround(x0), rect.y, (int)lround(x1) - (int)lround(x0), rect.h};
        canvas_blend(&view->canvas, box, theme->accent, 38);
        canvas_hatch(&view->canvas, box, HATCH_RISING, ui_px(&view->ui, 8), theme->accent, 90);
    }
}

/* ---- The mouse ---- */

static void act_on_wheel(struct view *view, struct rect rect, struct rect gutter)
{
    const struct input *in = &view->ui.in;
    if (in->wheel == 0)
        return;
    if (ui_over(&view->ui, gutter))
        view->axis.scroll -= (int)(in->wheel * ui_px(&view->ui, 60));
    else if (ui_over(&view->ui, rect) && in->ctrl)
        view_act(view, in->wheel > 0 ? ACTION_taller : ACTION_flatter);
    else if (ui_over(&view->ui, rect) && in->shift)
        axis_pan(view, -0.1 * in->wheel);
    else if (ui_over(&view->ui, rect))
        axis_zoom(view, pow(1.25, in->wheel), axis_cycles(view, rect, in->x));
}

static void begin_grab(struct view *view)
{
    struct axis *axis = &view->axis;
    axis->grab_x = view->ui.in.x;
    axis->grab_y = view->ui.in.y;
    axis->grab_scroll = axis->scroll;
    axis->grab_t0 = axis->t0;
    axis->grab_t1 = axis->t1;
    axis->grab_moved = false;
}

static void move_grab(struct view *view, struct rect rect)
{
    struct axis *axis = &view->axis;
    int dx = view->ui.in.x - axis->grab_x, dy = view->ui.in.y - axis->grab_y;
    axis->grab_moved |= abs(dx) + abs(dy) > ui_px(&view->ui, 4);
    if (!axis->grab_moved)
        return;
    axis->t0 = axis->grab_t0;
    axis->t1 = axis->grab_t1;
    axis_pan(view, -(double)dx / rect.w);
    axis->scroll = axis->grab_scroll - dy;
}

/* A drag moves the window; a click pins the block. */
static void act_on_rows(struct view *view, struct rect rect, const struct rows *rows)
{
    int sm;
    struct pick pick = timeline_pick(view, rect, rows, &sm);
    bool was = view->ui.active == &view->axis.grab_x;
    if (pick.span != NO_SPAN)
        view->hover = pick;
    if (ui_dragged(&view->ui, &view->axis.grab_x, rect)) {
        if (!was)
            begin_grab(view);
        move_grab(view, rect);
    }
    if (view->ui.in.released && was && !view->axis.grab_moved) {
        view_pin(view, pick);
        if (sm >= 0)
            view_show_sm(view, sm);
    }
    if (view->ui.in.double_click && sm >= 0 && ui_over(&view->ui, rect))
        view->page = PAGE_SM;
}

static void draw_scrollbar(struct view *view, struct rect rect, const struct rows *rows)
{
    if (rows->height <= rect.h)
        return;
    struct rect bar = {rect.x + rect.w - ui_px(&view->ui, 8), rect.y, ui_px(&view->ui, 8), rect.h};
    int length = rect.h * rect.h / rows->height, room = rows->height - rect.h;
    if (ui_dragged(&view->ui, &view->axis.scroll, bar))
        view->axis.scroll = (view->ui.in.y - rect.y - length / 2) * room / (rect.h - length > 0 ? rect.h - length : 1);
    view->axis.scroll = view->axis.scroll < 0 ? 0 : view->axis.scroll > room ? room : view->axis.scroll;
    int y = rect.y + (rect.h - length) * view->axis.scroll / (room > 0 ? room : 1);
    canvas_blend(&view->canvas, bar, view->ui.theme->page, 180);
    canvas_round(&view->canvas, (struct rect){bar.x + 1, y, bar.w - 2, length}, ui_px(&view->ui, 3), view->ui.theme->soft, 200);
}

static void draw_corner(struct view *view, struct rect rect, int run)
{
    canvas_fill(&view->canvas, rect, view->ui.theme->surface);
    struct rect line = {rect.x + ui_px(&view->ui, 4), rect.y, rect.w - ui_px(&view->ui, 8), ui_px(&view->ui, RULER)};
    const char *name = view->run_count > 1 && view->compare == COMPARE_OFF ? view->runs[run]->label
                       : view->run_count > 1 && view->compare == COMPARE_OVERLAY ? "overlaid" : "time";
    ui_text(&view->ui, line, ALIGN_LEFT, FONT_BOLD, TEXT_SMALL, view->ui.theme->ink, name);
}

/* Counters give way where rows would not fit. */
static int counters_within(struct view *view, struct rect rect, const int *runs, int run_count)
{
    int wanted = counters_height(view, runs, run_count), room = (int)(rect.h / view->ui.scale) - RULER - YARDSTICK;
    room -= hosts_height(view, rect, runs, run_count);
    double rows = timeline_least_height(view, runs, run_count) / view->ui.scale;
    while (wanted > 0 && (wanted > room / 2 || (wanted > 2 * COUNTER && room - wanted < rows)))
        wanted -= COUNTER;
    return wanted;
}

static void hide_future(struct view *view, struct rect rect)
{
    double x = fmax(axis_x(view, rect, view->playback.now), rect.x);
    if (lesson_hides_future(view) && x < rect.x + rect.w)
        canvas_fill(&view->canvas, (struct rect){(int)x, rect.y, rect.x + rect.w - (int)x, rect.h}, view->ui.theme->well);
}

void timeline_draw(struct view *view, struct rect rect, const int *runs, int run_count)
{
    static struct rows rows; /* large; filled anew each time */
    struct ui *ui = &view->ui;
    struct rect old = canvas_clip_to(&view->canvas, rect);
    struct rect gutter = ui_cut_left(ui, &rect, GUTTER);
    int counters = counters_within(view, rect, runs, run_count);
    view->axis_rect = rect;
    draw_corner(view, ui_cut_top(ui, &gutter, RULER + YARDSTICK), runs[0]);
    struct rect all = rect;
    draw_ruler(view, ui_cut_top(ui, &rect, RULER));
    draw_yardstick(view, ui_cut_top(ui, &rect, YARDSTICK), runs[0]);
    int hosts = hosts_height(view, all, runs, run_count);
    struct rect host_names = ui_cut_top(ui, &gutter, hosts);
    hosts_draw(view, host_names, ui_cut_top(ui, &rect, hosts), runs, run_count);
    struct rect plots = ui_cut_bottom(ui, &rect, counters), names = ui_cut_bottom(ui, &gutter, counters);
    ui_cut_bottom(ui, &rect, 4);
    ui_cut_bottom(ui, &gutter, 4);
    timeline_lay_rows(view, runs, run_count, rect.h, &rows);
    draw_scrollbar(view, rect, &rows);
    act_on_wheel(view, all, gutter);
    act_on_rows(view, rect, &rows);
    timeline_draw_rows(view, rect, &rows);
    timeline_draw_gutter(view, gutter, &rows);
    draw_scrollbar(view, rect, &rows);
    counters_draw(view, names, plots, runs, run_count);
    struct rect clip = canvas_clip_to(&view->canvas, rect);
    draw_pinned(view, rect, &rows);
    canvas_set_clip(&view->canvas, clip);
    ui_cut_top(ui, &all, RULER);
    hide_future(view, all);
    ui_cut_top(ui, &all, YARDSTICK);
    draw_lines(view, all);
    canvas_set_clip(&view->canvas, old);
}
