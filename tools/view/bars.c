/* The bars above and below the views: what is open and how it is shown; time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "floor.h"
#include "observe/words.h"
#include "view.h"

static bool action_button(struct view *view, struct rect rect, enum action action, const char *label, bool on)
{
    char tip[UI_TIP];
    if (!ui_button(&view->ui, rect, label, on, action_tip(action, tip, sizeof tip)))
        return false;
    view_act(view, action);
    return true;
}

/* As wide as its label, from the right end of *bar; left out where there is no room. */
static void button_right(struct view *view, struct rect *bar, enum action action, const char *label, bool on)
{
    double width = ui_text_width(&view->ui, FONT_PLAIN, TEXT_BODY, label) / view->ui.scale + 16;
    if (bar->w < ui_px(&view->ui, width))
        return;
    struct rect rect = ui_cut_right(&view->ui, bar, width);
    action_button(view, rect, action, label, on);
    ui_cut_right(&view->ui, bar, 5);
}

static void button_left(struct view *view, struct rect *bar, enum action action, const char *label, bool on)
{
    double width = ui_text_width(&view->ui, FONT_PLAIN, TEXT_BODY, label) / view->ui.scale + 16;
    struct rect rect = ui_cut_left(&view->ui, bar, width);
    action_button(view, rect, action, label, on);
    ui_cut_left(&view->ui, bar, 4);
}

/* ---- Above ---- */

static void draw_pages(struct view *view, struct rect *bar)
{
    button_left(view, bar, ACTION_page_overview, "Overview", view->page == PAGE_OVERVIEW);
    button_left(view, bar, ACTION_page_floor, "Floor", view->page == PAGE_FLOOR);
    button_left(view, bar, ACTION_page_timeline, "Timeline", view->page == PAGE_TIMELINE);
    button_left(view, bar, ACTION_page_sm, "SM", view->page == PAGE_SM);
    ui_cut_left(&view->ui, bar, 10);
}

static void draw_runs(struct view *view, struct rect *bar)
{
    static const char *const modes[COMPARES] = {"one run", "side by side", "overlaid"};
    if (view->run_count < 2)
        return;
    char label[64];
    snprintf(label, sizeof label, "%.40s", view_run(view)->label);
    button_left(view, bar, ACTION_swap_run, label, false);
    button_left(view, bar, ACTION_compare, modes[view->compare], view->compare != COMPARE_OFF);
    ui_cut_left(&view->ui, bar, 10);
}

static void draw_title(struct view *view, struct rect bar)
{
    char text[640];
    const struct run *run = view_run(view);
    const char *slash = strrchr(view->title, '/');
    snprintf(text, sizeof text, "%s  ·  %s", slash ? slash + 1 : view->title, run->timeline->gpu_name);
    ui_text(&view->ui, bar, ALIGN_LEFT, FONT_BOLD, TEXT_BODY, view->ui.theme->ink, text);
}

void bars_draw_top(struct view *view, struct rect rect)
{
    struct ui *ui = &view->ui;
    char label[64];
    canvas_fill(ui->canvas, rect, ui->theme->surface);
    canvas_fill(ui->canvas, (struct rect){rect.x, rect.y + rect.h - 1, rect.w, 1}, ui->theme->edge);
    struct rect bar = rect_inset(rect, ui_px(ui, 6));
    draw_pages(view, &bar);
    draw_runs(view, &bar);
    button_right(view, &bar, ACTION_help, "?", view->help_open);
    button_right(view, &bar, ACTION_panel, "Panel", view->panel_open);
    button_right(view, &bar, ACTION_theme, view->dark ? "Light" : "Dark", false);
    button_right(view, &bar, ACTION_larger, "A+", false);
    button_right(view, &bar, ACTION_smaller, "A−", false);
    button_right(view, &bar, ACTION_hatching, "Hatch", view->hatching);
    snprintf(label, sizeof label, "Fill: %s", fill_names[view->fill]);
    button_right(view, &bar, ACTION_resource, label, false);
    snprintf(label, sizeof label, "Colour: %s", colour_mode_names[view->colours]);
    button_right(view, &bar, ACTION_colour, label, false);
    draw_title(view, bar);
}

/* ---- Below ---- */

enum icon { ICON_PLAY, ICON_PAUSE, ICON_NEXT, ICON_PREVIOUS, ICON_BEGIN, ICON_END };

static void draw_icon(struct view *view, struct rect rect, enum icon icon, colour ink)
{
    struct ui *ui = &view->ui;
    int size = ui_px(ui, 11), x = rect.x + (rect.w - size) / 2, y = rect.y + (rect.h - size) / 2, bar = ui_px(ui, 3);
    bool back = icon == ICON_PREVIOUS || icon == ICON_BEGIN;
    if (icon == ICON_PAUSE) {
        canvas_fill(ui->canvas, (struct rect){x + 1, y, bar, size}, ink);
        canvas_fill(ui->canvas, (struct rect){x + size - bar - 1, y, bar, size}, ink);
        return;
    }
    canvas_arrow(ui->canvas, (struct rect){x, y, size, size}, back ? 2 : 0, ink);
    if (icon == ICON_BEGIN || icon == ICON_PREVIOUS)
        canvas_fill(ui->canvas, (struct rect){icon == ICON_BEGIN ? x - bar : x + size, y, bar, size}, ink);
    if (icon == ICON_END || icon == ICON_NEXT)
        canvas_fill(ui->canvas, (struct rect){icon == ICON_END ? x + size : x - bar, y, bar, size}, ink);
}

static void icon_button(struct view *view, struct rect *bar, enum action action, enum icon icon, bool on)
{
    char tip[UI_TIP];
    struct rect rect = ui_cut_left(&view->ui, bar, 32);
    bool clicked = ui_blank_button(&view->ui, rect, on, action_tip(action, tip, sizeof tip));
    draw_icon(view, rect, icon, on ? view->ui.theme->on_focus : view->ui.theme->ink);
    ui_cut_left(&view->ui, bar, 4);
    if (clicked)
        view_act(view, action);
}

static void draw_speed(struct view *view, struct rect *bar)
{
    char text[96], number[WT_WORDS];
    struct ui *ui = &view->ui;
    button_left(view, bar, ACTION_slower, "−", false);
    bool real = view->playback.speed >= view->playback.real_time;
    snprintf(text, sizeof text, "%s cycles/s", wt_words_count(number, (uint64_t)view->playback.speed));
    ui_text(ui, ui_cut_left(ui, bar, 140), ALIGN_MIDDLE, FONT_PLAIN, TEXT_BODY, ui->theme->ink, real ? "real time" : text);
    button_left(view, bar, ACTION_faster, "+", false);
    ui_cut_left(ui, bar, 8);
}

/* "1,800 of 3,000 cycles": the unit once, unless the two differ in theirs. */
static void draw_now(struct view *view, struct rect *bar)
{
    char text[200], now[64], end[64];
    struct ui *ui = &view->ui;
    struct rect box = ui_cut_left(ui, bar, 250);
    view_time_text(view, view->playback.now, now);
    view_time_text(view, view->playback.end, end);
    if (lesson_hides_future(view))
        snprintf(text, sizeof text, "%s", now);
    else
        snprintf(text, sizeof text, "%.*s of %s", view_without_unit(now, end), now, end);
    ui_text(ui, box, ALIGN_LEFT, FONT_BOLD, TEXT_BODY, ui->theme->ink, text);
    ui_set_tip(ui, box, "click: go to a time or block (G)");
    if (ui_clicked(ui, box))
        view_act(view, ACTION_go_to);
}

static void draw_markers(struct view *view, struct rect bar)
{
    char text[256], a[64], b[64], difference[64];
    struct ui *ui = &view->ui;
    if (view->marker[0] < 0)
        return;
    if (view->marker[1] < 0)
        snprintf(text, sizeof text, "A %s", view_time_text(view, view->marker[0], a));
    else
        snprintf(text, sizeof text, "A %s   B %s   B − A %s%s", view_time_text(view, view->marker[0], a),
                 view_time_text(view, view->marker[1], b), view->marker[1] < view->marker[0] ? "−" : "",
                 view_time_text(view, fabs(view->marker[1] - view->marker[0]), difference));
    ui_text(ui, bar, ALIGN_LEFT, FONT_PLAIN, TEXT_BODY, ui->theme->ink, text);
}

static void draw_legend_entries(struct view *view, struct rect bar, const struct legend *legend)
{
    struct ui *ui = &view->ui;
    for (int i = legend->count - 1; i >= 0; i--) {
        double width = ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, legend->texts[i]) / ui->scale + 8;
        ui_text(ui, ui_cut_right(ui, &bar, fmin(width, 150)), ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft,
                legend->texts[i]);
        struct rect box = rect_inset(ui_cut_right(ui, &bar, 18), ui_px(ui, 2));
        box.y += (box.h - ui_px(ui, 12)) / 2;
        box.h = ui_px(ui, 12);
        canvas_fill(ui->canvas, box, legend->colours[i]);
        if (view->hatching)
            canvas_hatch(ui->canvas, box, legend->hatches[i], ui_px(ui, 6), palette_text_on(legend->colours[i]), 70);
        ui_cut_right(ui, &bar, 6);
    }
}

static void draw_scale(struct view *view, struct rect bar, const struct colouring *colouring, const struct legend *legend)
{
    struct ui *ui = &view->ui;
    double width = ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, legend->texts[1]) / ui->scale + 4;
    ui_text(ui, ui_cut_right(ui, &bar, width), ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, legend->texts[1]);
    struct rect strip = ui_cut_right(ui, &bar, 90);
    strip = (struct rect){strip.x + ui_px(ui, 6), strip.y + (strip.h - ui_px(ui, 10)) / 2, strip.w - ui_px(ui, 12), ui_px(ui, 10)};
    for (int i = 0; i < strip.w; i++)
        canvas_fill(ui->canvas, (struct rect){strip.x + i, strip.y, 1, strip.h}, legend_colour(colouring, i / (double)strip.w));
    width = ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, legend->texts[0]) / ui->scale + 4;
    ui_text(ui, ui_cut_right(ui, &bar, width), ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, legend->texts[0]);
}

static void draw_legend(struct view *view, struct rect bar)
{
    struct colouring colouring = view_colouring(view, view->shown);
    struct legend legend = colouring_legend(&colouring);
    if (legend.is_scale)
        draw_scale(view, bar, &colouring, &legend);
    else
        draw_legend_entries(view, bar, &legend);
}

void bars_draw_bottom(struct view *view, struct rect rect)
{
    struct ui *ui = &view->ui;
    canvas_fill(ui->canvas, rect, ui->theme->surface);
    canvas_fill(ui->canvas, (struct rect){rect.x, rect.y, rect.w, 1}, ui->theme->edge);
    rect = rect_inset(rect, ui_px(ui, 6));
    struct rect map = ui_cut_top(ui, &rect, 46);
    map.x += ui_px(ui, 4);
    map.w -= ui_px(ui, 8);
    minimap_draw(view, map);
    ui_cut_top(ui, &rect, 3);
    icon_button(view, &rect, ACTION_to_begin, ICON_BEGIN, false);
    icon_button(view, &rect, ACTION_previous_event, ICON_PREVIOUS, false);
    icon_button(view, &rect, ACTION_play, view->playback.playing ? ICON_PAUSE : ICON_PLAY, view->playback.playing);
    icon_button(view, &rect, ACTION_next_event, ICON_NEXT, false);
    icon_button(view, &rect, ACTION_to_end, ICON_END, false);
    ui_cut_left(ui, &rect, 8);
    draw_speed(view, &rect);
    draw_now(view, &rect);
    button_left(view, &rect, ACTION_mark, "Mark", false);
    struct rect legend = rect;
    if (view->marker[0] >= 0) {
        double width = view->marker[1] >= 0 ? 400 : 150;
        draw_markers(view, ui_cut_left(ui, &legend, fmin(width, rect.w / ui->scale)));
    }
    struct rect clip = canvas_clip_to(ui->canvas, legend);
    draw_legend(view, legend);
    canvas_set_clip(ui->canvas, clip);
}
