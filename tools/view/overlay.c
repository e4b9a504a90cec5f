/* What lies over the views: the keys, going to a time or block, messages. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

static struct rect centred(const struct view *view, double width, double height)
{
    int w = ui_px(&view->ui, width), h = ui_px(&view->ui, height);
    w = w < view->canvas.width - 20 ? w : view->canvas.width - 20;
    h = h < view->canvas.height - 20 ? h : view->canvas.height - 20;
    return (struct rect){(view->canvas.width - w) / 2, (view->canvas.height - h) / 2, w, h};
}

static void draw_sheet(struct view *view, struct rect box)
{
    canvas_blend(&view->canvas, (struct rect){0, 0, view->canvas.width, view->canvas.height}, view->ui.theme->page, 150);
    canvas_round(&view->canvas, box, ui_px(&view->ui, 8), view->ui.theme->edge, 255);
    canvas_round(&view->canvas, rect_inset(box, ui_px(&view->ui, 1)), ui_px(&view->ui, 8), view->ui.theme->surface, 255);
}

/* ---- The keys, from their table ---- */

/* A click does what the key does, so that all of it can be had by mouse. Returns whether it was clicked. */
static bool draw_key(struct view *view, struct rect line, const struct binding *binding)
{
    struct ui *ui = &view->ui;
    char first[16], second[16], keys[64];
    bool clicked = ui_clicked(ui, line);
    if (ui_over(ui, line))
        canvas_round(ui->canvas, line, ui_px(ui, 3), colour_mix(ui->theme->surface, ui->theme->focus, 0.15), 255);
    struct rect box = ui_cut_left(ui, &line, 78);
    snprintf(keys, sizeof keys, "%s", key_text(binding->key, first));
    if (binding->second)
        snprintf(keys, sizeof keys, "%s %s", key_text(binding->key, first), key_text(binding->second, second));
    ui_cut_left(ui, &line, 8);
    canvas_round(ui->canvas, rect_inset(box, ui_px(ui, 1)), ui_px(ui, 3), ui->theme->raised, 255);
    ui_text(ui, box, ALIGN_MIDDLE, FONT_BOLD, TEXT_SMALL, ui->theme->ink, keys);
    ui_text(ui, line, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->ink, binding->help);
    return clicked;
}

static double help_height(int first, int last)
{
    double height = 0;
    for (int i = first; i < last; i++)
        height += 19 + (i == first || strcmp(bindings[i].group, bindings[i - 1].group) ? 27 : 0);
    return height;
}

/* Where the second column begins: groups stay together, and the columns are about equally long. */
static int second_column(void)
{
    int best = ACTIONS;
    for (int i = 1; i < ACTIONS; i++)
        if (strcmp(bindings[i].group, bindings[i - 1].group) &&
            fabs(help_height(0, i) - help_height(i, ACTIONS)) < fabs(help_height(0, best) - help_height(best, ACTIONS)))
            best = i;
    return best;
}

/* Returns the action that was clicked, or ACTIONS. */
static int draw_column(struct view *view, struct rect rect, int first, int last, double squeeze)
{
    int clicked = ACTIONS;
    for (int i = first; i < last; i++) {
        if (i == first || strcmp(bindings[i].group, bindings[i - 1].group)) {
            ui_cut_top(&view->ui, &rect, 7 * squeeze);
            ui_text(&view->ui, ui_cut_top(&view->ui, &rect, 20 * squeeze), ALIGN_LEFT, FONT_BOLD, TEXT_BODY, view->ui.theme->focus,
                    bindings[i].group);
        }
        struct rect line = ui_cut_top(&view->ui, &rect, 19 * squeeze);
        if (line.h < ui_px(&view->ui, 19 * squeeze) - 1)
            break;
        clicked = draw_key(view, line, &bindings[i]) ? i : clicked;
    }
    return clicked;
}

static void draw_help(struct view *view)
{
    int middle = second_column();
    double height = fmax(help_height(0, middle), help_height(middle, ACTIONS));
    struct rect box = centred(view, 1080, height + 62), inner = rect_inset(box, ui_px(&view->ui, 14));
    draw_sheet(view, box);
    ui_text(&view->ui, ui_cut_top(&view->ui, &inner, 24), ALIGN_LEFT, FONT_BOLD, TEXT_TITLE, view->ui.theme->ink,
            "Keys   (a click on a line does the same; Esc closes)");
    struct rect left = {inner.x, inner.y, inner.w / 2 - ui_px(&view->ui, 8), inner.h};
    struct rect right = {inner.x + inner.w / 2 + ui_px(&view->ui, 8), inner.y, left.w, inner.h};
    double squeeze = fmax(fmin(inner.h / view->ui.scale / (height + 24), 1), 0.65); /* in low windows; rounding takes some */
    int clicked = draw_column(view, left, 0, middle, squeeze), of_right = draw_column(view, right, middle, ACTIONS, squeeze);
    clicked = clicked < ACTIONS ? clicked : of_right;
    if (!view->ui.in.pressed)
        return;
    view->help_open = false;
    if (clicked < ACTIONS && clicked != ACTION_help && clicked != ACTION_escape)
        view_act(view, (enum action)clicked);
}

/* ---- Going to … ---- */

static bool go_to_block(struct view *view, const char *text)
{
    char *end;
    unsigned long long block = strtoull(text, &end, 10);
    uint32_t span = end == text || *end ? NO_SPAN : run_find_block(view_run(view), 0, block);
    for (size_t launch = 1; span == NO_SPAN && launch < view_run(view)->timeline->launch_count; launch++)
        span = run_find_block(view_run(view), launch, block);
    if (end == text || *end || span == NO_SPAN)
        return false;
    view_pin(view, (struct pick){view->shown, span});
    playback_go(&view->playback, wt_to_cycles(run_span(view_run(view), span)->start));
    return true;
}

static bool go_to_time(struct view *view, const char *text)
{
    char *end;
    double mhz = view_run(view)->timeline->clock_mhz, number = strtod(text, &end);
    while (*end == ' ')
        end++;
    if (end == text)
        return false;
    if (!strcmp(end, "%"))
        number *= view->playback.end / 100;
    else if (!strcmp(end, "us") || !strcmp(end, "µs"))
        number *= mhz;
    else if (!strcmp(end, "ms"))
        number *= mhz * 1000;
    else if (*end)
        return false;
    if (mhz == 0 && (*end == 'u' || *end == 'm'))
        return false;
    playback_go(&view->playback, number);
    return true;
}

static void show_head(struct view *view)
{
    double now = view->playback.now, half = (view->axis.t1 - view->axis.t0) / 2;
    if (now >= view->axis.t0 && now <= view->axis.t1)
        return;
    view->axis.t0 = now - half;
    view->axis.t1 = now + half;
    axis_pan(view, 0);
}

bool view_go_to(struct view *view, const char *text)
{
    while (*text == ' ')
        text++;
    return *text == '#' ? go_to_block(view, text + 1) : go_to_time(view, text);
}

static void go(struct view *view)
{
    if (!view_go_to(view, view->go_text))
        view_say(view, "'%s' is no time or block of this run: 12000, 6.5us, 40%%, #128", view->go_text);
    show_head(view);
    view->go_open = false;
    ui_leave_field(&view->ui, false);
}

static void draw_go(struct view *view)
{
    struct rect box = centred(view, 380, 92), inner = rect_inset(box, ui_px(&view->ui, 14));
    draw_sheet(view, box);
    ui_text(&view->ui, ui_cut_top(&view->ui, &inner, 26), ALIGN_LEFT, FONT_BOLD, TEXT_BODY, view->ui.theme->ink,
            "Go to a time or a block");
    struct rect line = ui_cut_top(&view->ui, &inner, 30), button = ui_cut_right(&view->ui, &line, 56);
    line.w -= ui_px(&view->ui, 6);
    bool entered = ui_field(&view->ui, line, view->go_text, sizeof view->go_text, "12000   6.5us   40%   #128");
    if (ui_button(&view->ui, button, "Go", true, NULL) || entered)
        go(view);
    else if (view->ui.in.pressed && !rect_holds(box, view->ui.in.x, view->ui.in.y))
        view_act(view, ACTION_escape);
}

/* ---- Messages ---- */

static void draw_message(struct view *view)
{
    struct ui *ui = &view->ui;
    int width = ui_text_width(ui, FONT_PLAIN, TEXT_BODY, view->message) + ui_px(ui, 28);
    width = width < view->canvas.width - 40 ? width : view->canvas.width - 40;
    struct rect box = {(view->canvas.width - width) / 2, view->canvas.height - ui_px(ui, 132), width, ui_px(ui, 30)};
    canvas_round(ui->canvas, box, ui_px(ui, 6), ui->theme->ink, 235);
    ui_text(ui, rect_inset(box, ui_px(ui, 6)), ALIGN_MIDDLE, FONT_PLAIN, TEXT_BODY, ui->theme->surface, view->message);
}

static void draw_recording(struct view *view)
{
    struct ui *ui = &view->ui;
    canvas_disc(ui->canvas, view->canvas.width - ui_px(ui, 18), ui_px(ui, 58), ui_px(ui, 6), 0xd00000);
}

void overlay_draw(struct view *view)
{
    if (view->help_open)
        draw_help(view);
    if (view->go_open)
        draw_go(view);
    if (view->message_left > 0)
        draw_message(view);
    if (view->recorder)
        draw_recording(view);
}
