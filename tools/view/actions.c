/* What each action does, and the keyboard. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "floor.h"
#include "view.h"

static const double zoom_step = 1.35, pan_step = 0.15;

/* ---- Time ---- */

/* Of a pinned block's SM, else of the whole GPU. */
static wt_time neighbour(const struct view *view, bool forwards)
{
    const struct run *run = view_run(view);
    wt_time now = view_now(view);
    if (view->pinned.span == NO_SPAN || view->pinned.run != view->shown)
        return forwards ? run_next_event(run, now) : run_previous_event(run, now);
    const struct density *of_sm = &run->sm_density[run_span(run, view->pinned.span)->sm];
    if (forwards) {
        size_t began = density_started(of_sm, now), ended = density_ended(of_sm, now);
        wt_time start = began < of_sm->count ? density_start(of_sm, began) : WT_NEVER;
        wt_time end = ended < of_sm->count ? density_end(of_sm, ended) : WT_NEVER;
        return start < end ? start : end;
    }
    size_t began = now ? density_started(of_sm, now - 1) : 0, ended = now ? density_ended(of_sm, now - 1) : 0;
    wt_time start = began ? density_start(of_sm, began - 1) : 0, end = ended ? density_end(of_sm, ended - 1) : 0;
    return began || ended ? (start > end ? start : end) : WT_NEVER;
}

static void step_event(struct view *view, bool forwards)
{
    wt_time event = neighbour(view, forwards);
    view->playback.playing = false;
    if (event != WT_NEVER)
        playback_go(&view->playback, wt_to_cycles(event));
}

static void set_marker(struct view *view)
{
    if (view->marker[0] < 0 || view->marker[1] >= 0) {
        view->marker[0] = view->playback.now;
        view->marker[1] = -1;
    } else {
        view->marker[1] = view->playback.now;
    }
}

static void open_go(struct view *view)
{
    view->go_open = true;
    view->go_text[0] = '\0';
    ui_focus_field(&view->ui, view->go_text, sizeof view->go_text);
}

static void act_on_time(struct view *view, enum action action)
{
    switch (action) {
    case ACTION_play:
        if (!lesson_begin(view))
            playback_toggle(&view->playback);
        break;
    case ACTION_next_event:
    case ACTION_previous_event:
        step_event(view, action == ACTION_next_event);
        break;
    case ACTION_faster:
    case ACTION_slower:
        playback_change_speed(&view->playback, action == ACTION_faster ? 1 : -1);
        break;
    case ACTION_to_begin:
        playback_go(&view->playback, 0);
        break;
    case ACTION_to_end:
        playback_go(&view->playback, view->playback.end);
        break;
    case ACTION_to_tail:
        playback_go(&view->playback, wt_to_cycles(view_run(view)->queue_empty));
        break;
    case ACTION_go_to:
        open_go(view);
        break;
    default:
        set_marker(view);
    }
}

/* ---- The timeline ---- */

static void change_row_height(struct view *view, double factor)
{
    double now = view->axis.row_points > 0 ? view->axis.row_points : 6;
    view->axis.row_points = fmin(fmax(now * factor, 2), 400);
}

static void collapse_all(struct view *view)
{
    bool any = false;
    for (int i = 0; i < view_run(view)->gpcs && i < WT_MAX_GROUPS; i++)
        any |= view->axis.collapsed[i];
    for (int i = 0; i < WT_MAX_GROUPS; i++)
        view->axis.collapsed[i] = !any;
}

static void act_on_timeline(struct view *view, enum action action)
{
    switch (action) {
    case ACTION_zoom_in:
        axis_zoom(view, zoom_step, axis_focus(view));
        break;
    case ACTION_zoom_out:
        axis_zoom(view, 1 / zoom_step, axis_focus(view));
        break;
    case ACTION_pan_left:
        axis_pan(view, -pan_step);
        break;
    case ACTION_pan_right:
        axis_pan(view, pan_step);
        break;
    case ACTION_fit:
        axis_fit(view);
        break;
    case ACTION_taller:
        change_row_height(view, 1.25);
        break;
    case ACTION_flatter:
        change_row_height(view, 0.8);
        break;
    case ACTION_collapse:
        collapse_all(view);
        break;
    default:
        view->axis.follow = !view->axis.follow;
        view_say(view, view->axis.follow ? "The timeline follows the playing head" : "The timeline stays where it is");
    }
}

/* ---- Views ---- */

static void change_sm(struct view *view, int by)
{
    int sms = view_run(view)->sms;
    view_show_sm(view, ((view->sm < 0 ? 0 : view->sm + by) + sms) % sms);
}

static void change_colours(struct view *view)
{
    view->colours = (view->colours + 1) % COLOUR_MODES;
    if (view->colours == COLOUR_START_ERROR && view->run_count < 2)
        view->colours = 0;
}

static void change_compare(struct view *view)
{
    if (view->run_count < 2)
        view_say(view, "Only one run is open: give a second file, or use What if (X)");
    else
        view->compare = (view->compare + 1) % COMPARES;
}

static void act_on_views(struct view *view, enum action action)
{
    switch (action) {
    case ACTION_page_overview:
    case ACTION_page_floor:
    case ACTION_page_timeline:
    case ACTION_page_sm:
        view->page = (enum page)(action - ACTION_page_overview);
        break;
    case ACTION_next_sm:
    case ACTION_previous_sm:
        change_sm(view, action == ACTION_next_sm ? 1 : -1);
        break;
    case ACTION_swap_run:
        view->shown = view->run_count > 1 ? 1 - view->shown : 0;
        break;
    case ACTION_compare:
        change_compare(view);
        break;
    case ACTION_colour:
        change_colours(view);
        break;
    default:
        view->fill = (view->fill + 1) % FILLS;
    }
}

/* ---- Looking closer ---- */

static void act_on_panels(struct view *view, enum action action)
{
    switch (action) {
    case ACTION_search:
        view_set_panel(view, PANEL_SEARCH);
        ui_focus_field(&view->ui, view->search.text, sizeof view->search.text);
        break;
    case ACTION_next_match:
    case ACTION_previous_match:
        search_step(view, action == ACTION_next_match ? 1 : -1);
        break;
    case ACTION_why:
        view_set_panel(view, PANEL_WHY);
        break;
    case ACTION_whatif:
        view_set_panel(view, PANEL_WHATIF);
        break;
    case ACTION_facts:
        view_set_panel(view, PANEL_FACTS);
        break;
    case ACTION_range:
        view_set_panel(view, PANEL_RANGE);
        break;
    default:
        view->panel_open = !view->panel_open;
    }
}

/* ---- The window ---- */

static void toggle_recording(struct view *view)
{
    struct wt_error err = {0};
    const char *path = view->record_path ? view->record_path : "wavetail.mp4";
    int pictures = 0;
    if (!view->recorder) {
        if (recorder_new(path, &view->recorder, &err) != WT_OK)
            view_say(view, "%.200s", err.text);
        return;
    }
    bool video = recorder_makes_video(view->recorder);
    enum wt_code code = recorder_finish(view->recorder, &pictures, &err);
    view->recorder = NULL;
    if (code != WT_OK)
        view_say(view, "%.200s", err.text);
    else
        view_say(view, video ? "Recorded %s, %d pictures" : "ffmpeg is not installed: %s became %d numbered PNG files", path,
                 pictures);
}

/* One thing at a time, the nearest first. */
static void escape(struct view *view)
{
    if (view->help_open)
        view->help_open = false;
    else if (view->go_open || view->ui.field) {
        view->go_open = false;
        ui_leave_field(&view->ui, false);
    } else if (view->pinned.span != NO_SPAN)
        view->pinned.span = NO_SPAN;
    else if (view->axis.select0 != view->axis.select1)
        view->axis.select0 = view->axis.select1 = 0;
    else if (view->marker[0] >= 0)
        view->marker[0] = view->marker[1] = -1;
    else
        search_clear(view);
}

static void act_on_window(struct view *view, enum action action)
{
    switch (action) {
    case ACTION_theme:
        view->dark = !view->dark;
        break;
    case ACTION_hatching:
        view->hatching = !view->hatching;
        break;
    case ACTION_larger:
    case ACTION_smaller:
        view->letters = fmin(fmax(view->letters * (action == ACTION_larger ? 1.1 : 1 / 1.1), 0.6), 3);
        break;
    case ACTION_units:
        view->microseconds = !view->microseconds;
        if (view_run(view)->timeline->clock_mhz <= 0)
            view_say(view, "The clock rate is not known, so there are only cycles");
        break;
    case ACTION_record:
        toggle_recording(view);
        break;
    case ACTION_fullscreen:
        view->wants_fullscreen = true;
        break;
    case ACTION_screenshot:
        view->wants_screenshot = true;
        break;
    case ACTION_escape:
        escape(view);
        break;
    case ACTION_help:
        view->help_open = !view->help_open;
        break;
    default:
        view->quitting = true;
    }
}

void view_act(struct view *view, enum action action)
{
    if (action <= ACTION_mark)
        act_on_time(view, action);
    else if (action <= ACTION_follow)
        act_on_timeline(view, action);
    else if (action <= ACTION_resource)
        act_on_views(view, action);
    else if (action <= ACTION_panel)
        act_on_panels(view, action);
    else if (action <= ACTION_lesson_back)
        lesson_step(view, action == ACTION_lesson_next ? 1 : -1);
    else if (action < ACTIONS)
        act_on_window(view, action);
}

/* ---- The keyboard ---- */

static bool key_for_field(struct view *view, int key)
{
    if (!view->ui.field)
        return false;
    if (key == KEY_BACKSPACE)
        return ui_erase(&view->ui);
    if (key == KEY_ENTER) {
        ui_leave_field(&view->ui, true);
        return true;
    }
    return key < 0x100;
}

void view_key(struct view *view, int key)
{
    if (!key_for_field(view, key))
        view_act(view, key_action(key));
}

/* Signs as the keyboard's layout gives them. */
void view_text(struct view *view, const char *text)
{
    if (ui_type(&view->ui, text))
        return;
    for (; *text; text++)
        if ((unsigned char)*text < 0x80) {
            int key = *text >= 'A' && *text <= 'Z' ? *text + 32 : *text;
            view_act(view, key_action(key));
            if (view->ui.field)
                return;
        }
}
