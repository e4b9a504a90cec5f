#include "view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/words.h"

static const struct pick no_pick = {0, NO_SPAN};

/* ---- Opening and closing ---- */

/* One clock for all runs: as long as the longest. */
static void set_length(struct view *view)
{
    double end = 0, now = view->playback.now, speed = view->playback.speed;
    bool first = view->playback.end == 0;
    for (int i = 0; i < view->run_count; i++)
        end = fmax(end, wt_to_cycles(view->runs[i]->whole));
    view->playback = playback_new(end, view->runs[0]->timeline->clock_mhz, 20);
    if (!first) {
        view->playback.speed = speed;
        playback_go(&view->playback, now);
    }
    axis_reset(view);
}

static void compare_runs(struct view *view)
{
    view->error_scale = view->run_count > 1 ? start_difference_scale(view->runs[0], view->runs[1]) : 0;
}

void view_open(struct view *view, struct fonts *fonts, struct loaded *loaded)
{
    *view = (struct view){.fonts = fonts, .dots = 1, .letters = 1, .panel_open = true, .marker = {-1, -1}, .hover = no_pick,
                          .pinned = no_pick, .sm = -1, .run_count = loaded->count, .scenario = loaded->scenario,
                          .second = loaded->second, .asked = {.pick = {0, NO_SPAN}}};
    for (int i = 0; i < loaded->count; i++)
        view->runs[i] = loaded->runs[i];
    snprintf(view->title, sizeof view->title, "%s", view->runs[0]->timeline->title);
    set_length(view);
    compare_runs(view);
    if (loaded->note[0])
        view_say(view, "%s", loaded->note);
    view->captions = loaded->captions;
    view->lesson = loaded->lesson;
    if (view->lesson.title)
        snprintf(view->title, sizeof view->title, "%s", view->lesson.title);
    *loaded = (struct loaded){0};
}

static void forget_run(struct view *view, int index)
{
    sm_state_free(view->sm_states[index]);
    view->sm_states[index] = NULL;
    free(view->shared[index].free_bytes);
    free(view->shared[index].largest_hole);
    view->shared[index] = (struct shared_curve){0};
    tint_free(&view->tints[index]);
    asked_clear(&view->asked);
    run_free(view->runs[index]);
    view->runs[index] = NULL;
}

void view_close(struct view *view)
{
    struct wt_error err = {0};
    recorder_finish(view->recorder, NULL, &err);
    search_clear(view);
    whatif_clear(&view->whatif);
    for (int i = 0; i < 2; i++)
        forget_run(view, i);
    scenario_free(view->scenario);
    scenario_free(view->second);
    captions_clear(&view->captions);
    lesson_clear(&view->lesson);
    canvas_free(&view->canvas);
    *view = (struct view){0};
}

void view_resize(struct view *view, int width, int height)
{
    width = width < 64 ? 64 : width;
    height = height < 64 ? 64 : height;
    if (view->canvas.pixels && view->canvas.width == width && view->canvas.height == height)
        return;
    canvas_free(&view->canvas);
    view->canvas = canvas_new(width, height);
}

void view_replace_run(struct view *view, int index, struct run *run)
{
    search_clear(view);
    view->hover = view->pinned = no_pick;
    forget_run(view, index);
    view->runs[index] = run;
    view->run_count = view->run_count > index ? view->run_count : index + 1;
    int sm = view->sm;
    view->sm = -1;
    set_length(view);
    compare_runs(view);
    if (sm >= 0)
        view_show_sm(view, sm);
}

/* ---- Small questions ---- */

wt_time view_now(const struct view *view)
{
    return wt_from_cycles(view->playback.now);
}

void view_say(struct view *view, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(view->message, sizeof view->message, format, list);
    va_end(list);
    view->message_left = 4;
}

struct colouring view_colouring(const struct view *view, int run)
{
    struct colouring colouring = colouring_new(view->ui.theme, view->colours, view->runs[run], view_other_of(view, run), view_now(view));
    colouring.error_scale = view->error_scale > 0 ? view->error_scale : 1;
    return colouring;
}

bool view_matches(const struct view *view, const struct run *run, uint32_t span)
{
    return !view->search.matches || view->search.of != run || view->search.matches[span];
}

const char *view_time_text(const struct view *view, double cycles, char *text)
{
    double mhz = view_run(view)->timeline->clock_mhz;
    if (view->microseconds && mhz > 0)
        return wt_words_us(text, cycles / mhz);
    return wt_words_cycles(text, floor(cycles * 100 + 0.5) / 100);
}

int view_without_unit(const char *a, const char *b)
{
    const char *unit = strrchr(a, ' '), *its = strrchr(b, ' ');
    return unit && its && !strcmp(unit, its) ? (int)(unit - a) : (int)strlen(a);
}

void view_pin(struct view *view, struct pick pick)
{
    view->pinned = pick;
}

void view_show_sm(struct view *view, int sm)
{
    if (sm == view->sm)
        return;
    view->sm = sm;
    for (int i = 0; i < view->run_count; i++) {
        sm_state_free(view->sm_states[i]);
        view->sm_states[i] = sm_state_new(view->runs[i], sm);
    }
}

void view_set_panel(struct view *view, enum panel panel)
{
    view->panel = panel;
    view->panel_open = true;
    if (panel == PANEL_WHATIF)
        whatif_open(view);
}

/* ---- A frame ---- */

static void advance(struct view *view, double seconds)
{
    double before = view->playback.now;
    playback_advance(&view->playback, seconds);
    lesson_stop(view, before);
    if (view->playback.playing)
        axis_follow(view);
    view->message_left -= seconds;
    view->ui.blink += seconds;
}

/* What the views show: one run or both. */
static int shown_runs(const struct view *view, int runs[2])
{
    bool both = view->compare == COMPARE_SIDE && view->run_count > 1;
    runs[0] = both ? 0 : view->shown;
    runs[1] = 1;
    return both ? 2 : 1;
}

typedef void draw_one(struct view *view, struct rect rect, int run);

static void draw_side_by_side(struct view *view, struct rect rect, draw_one *draw)
{
    int runs[2], count = shown_runs(view, runs);
    for (int i = 0; i < count; i++)
        draw(view, (struct rect){rect.x + rect.w * i / count, rect.y, rect.w / count - (count > 1 ? 1 : 0), rect.h}, runs[i]);
}

static void draw_page(struct view *view, struct rect rect)
{
    int runs[2], count = shown_runs(view, runs);
    struct rect upper;
    switch (view->page) {
    case PAGE_FLOOR:
        draw_side_by_side(view, rect, floor_draw);
        break;
    case PAGE_TIMELINE:
        timeline_draw(view, rect, runs, count);
        break;
    case PAGE_SM:
        draw_side_by_side(view, rect, smview_draw);
        break;
    default:
        upper = ui_cut_top(&view->ui, &rect, rect.h * (count > 1 ? 0.42 : 0.5) / view->ui.scale);
        draw_side_by_side(view, upper, floor_draw);
        timeline_draw(view, rect, runs, count);
    }
}

static void prepare(struct view *view)
{
    struct ui *ui = &view->ui;
    ui->canvas = &view->canvas;
    ui->fonts = view->fonts;
    ui->theme = view->dark ? &theme_dark : &theme_light;
    ui->scale = view->dots * view->letters;
    ui->tip[0] = '\0';
    ui->covered = view->help_open || view->go_open;
    if (!ui->in.down && !ui->in.pressed && !ui->in.released)
        ui->active = NULL;
    view->hover = no_pick;
    text_log_clear(view->fonts);
}

static void draw_all(struct view *view)
{
    struct ui *ui = &view->ui;
    struct rect rect = {0, 0, view->canvas.width, view->canvas.height};
    canvas_set_clip(&view->canvas, rect);
    canvas_fill(&view->canvas, rect, ui->theme->page);
    struct rect top = ui_cut_top(ui, &rect, 38), bottom = ui_cut_bottom(ui, &rect, 90);
    struct rect panel = {0}, caption = {0};
    if (view->panel_open && view->canvas.width > ui_px(ui, 560))
        panel = ui_cut_right(ui, &rect, 300);
    double words = lesson_height(view, rect.w);
    if (words > 0)
        caption = ui_cut_bottom(ui, &rect, fmin(words, 0.66 * rect.h / ui->scale));
    draw_page(view, rect);
    if (panel.w)
        panels_draw(view, panel);
    if (words > 0)
        lesson_draw(view, caption);
    bars_draw_bottom(view, bottom);
    bars_draw_top(view, top);
    ui->covered = false;
    overlay_draw(view);
    ui_finish(ui);
}

static void record_frame(struct view *view, double seconds)
{
    struct wt_error err = {0};
    if (!view->recorder || recorder_add(view->recorder, &view->canvas, seconds, &err) == WT_OK)
        return;
    recorder_finish(view->recorder, NULL, &err);
    view->recorder = NULL;
    view_say(view, "%.200s", err.text);
}

static void take_screenshot(struct view *view)
{
    static int number;
    struct wt_error err = {0};
    char name[64];
    snprintf(name, sizeof name, "wavetail-%03d.png", ++number);
    view->wants_screenshot = false;
    if (canvas_save_png(&view->canvas, name, &err) == WT_OK)
        view_say(view, "Saved %s", name);
    else
        view_say(view, "%.200s", err.text);
}

void view_frame(struct view *view, double seconds)
{
    advance(view, seconds);
    prepare(view);
    draw_all(view);
    if (view->wants_screenshot)
        take_screenshot(view);
    record_frame(view, seconds);
    struct input *in = &view->ui.in;
    in->pressed = in->released = in->right_pressed = in->double_click = false;
    in->wheel = 0;
}
