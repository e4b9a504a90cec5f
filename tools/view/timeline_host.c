/* The host's side of a run: what its threads called, what ran in each stream, what each copy engine copied. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "observe/words.h"
#include "timeline.h"

enum { TRACK = 15, MOST_TRACKS = 10 };

static bool has_spans(const struct run *run, size_t track)
{
    return run->track_first[track + 1] > run->track_first[track];
}

static int tracks_of(const struct run *run)
{
    int rows = 0;
    for (size_t i = 0; run->track_first && i < run->timeline->host->track_count && rows < MOST_TRACKS; i++)
        rows += has_spans(run, i);
    return rows;
}

/* Points; with a line for its name where there are two. */
static int own_height(const struct run *run, int run_count)
{
    int rows = tracks_of(run);
    return rows ? (rows + (run_count > 1)) * TRACK + 4 : 0;
}

static int all_heights(const struct view *view, const int *runs, int run_count)
{
    int height = 0;
    for (int i = 0; i < run_count; i++)
        height += own_height(view->runs[runs[i]], run_count);
    return height;
}

int hosts_height(const struct view *view, struct rect room, const int *runs, int run_count)
{
    int wanted = all_heights(view, runs, run_count), most = (int)(0.45 * room.h / view->ui.scale) / TRACK * TRACK + 4;
    return wanted < most ? wanted : most;
}

static colour span_colour(const struct view *view, const struct wt_host_span *span)
{
    const struct theme *theme = view->ui.theme;
    switch (span->kind) {
    case WT_ACTIVITY_KERNEL:
        return palette_category(theme, view->colours == COLOUR_STREAM ? span->stream : span->launch);
    case WT_ACTIVITY_COPY:
        return colour_mix(theme->soft, theme->marker_a, 0.35 + 0.3 * span->direction);
    default:
        return colour_mix(theme->well, theme->soft, 0.6);
    }
}

static void span_tip(struct view *view, struct rect box, const struct run *run, const struct wt_host_span *span)
{
    char tip[UI_TIP], lasts[64], bytes[WT_WORDS];
    const char *name = run->timeline->host->names[span->name];
    if (span->kind == WT_ACTIVITY_COPY)
        snprintf(tip, sizeof tip, "%.80s: %s bytes %s, %s", name, wt_words_count(bytes, span->bytes), wt_direction_name(span->direction),
                 view_time_text(view, wt_to_cycles(span->end - span->begin), lasts));
    else
        snprintf(tip, sizeof tip, "%.80s: %s", name, view_time_text(view, wt_to_cycles(span->end - span->begin), lasts));
    ui_set_tip(&view->ui, box, tip);
}

/* The time a call spends waiting is pale. */
static void draw_span(struct view *view, struct rect rect, const struct run *run, const struct wt_host_span *span)
{
    double x0 = axis_x(view, rect, wt_to_cycles(span->begin)), x1 = axis_x(view, rect, wt_to_cycles(span->end));
    double work = axis_x(view, rect, wt_to_cycles(span->end - span->waited));
    colour full = span_colour(view, span);
    const char *name = run->timeline->host->names[span->name];
    if (x1 < rect.x || x0 > rect.x + rect.w)
        return;
    x1 = fmax(x1, x0 + 1);
    canvas_span(&view->canvas, x0, x1, rect.y, rect.h, colour_mix(view->ui.theme->well, full, 0.4), 255);
    canvas_span(&view->canvas, x0, fmax(work, x0 + 1), rect.y, rect.h, full, 255);
    int left = (int)fmax(x0, rect.x), right = (int)fmin(x1, rect.x + rect.w);
    struct rect box = {left, rect.y, right - left, rect.h};
    if (x1 - x0 > 3)
        canvas_fill(&view->canvas, (struct rect){(int)x0, rect.y, 1, rect.h}, view->ui.theme->page);
    if (box.w > ui_text_width(&view->ui, FONT_PLAIN, TEXT_SMALL, name) + ui_px(&view->ui, 6))
        ui_text(&view->ui, box, ALIGN_MIDDLE, FONT_PLAIN, TEXT_SMALL, palette_text_on(full), name);
    span_tip(view, box, run, span);
}

/* "copies to the device" is too long for the gutter; "0" says too little. */
static void short_name(const struct wt_track *track, char *text, size_t size)
{
    static const char copies[] = "copies ";
    bool number = track->name[strspn(track->name, "0123456789")] == '\0';
    if (track->kind == WT_TRACK_STREAM && number)
        snprintf(text, size, "stream %s", track->name);
    else
        snprintf(text, size, "%s", track->name + (strncmp(track->name, copies, sizeof copies - 1) ? 0 : sizeof copies - 1));
}

static void draw_track(struct view *view, struct rect gutter, struct rect rect, const struct run *run, size_t track)
{
    const struct wt_host_timeline *host = run->timeline->host;
    char name[64];
    short_name(&host->tracks[track], name, sizeof name);
    gutter.x += ui_px(&view->ui, 3);
    gutter.w -= ui_px(&view->ui, 3);
    ui_text(&view->ui, gutter, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, view->ui.theme->soft, name);
    canvas_fill(&view->canvas, rect, view->ui.theme->well);
    for (uint32_t i = run->track_first[track]; i < run->track_first[track + 1]; i++)
        draw_span(view, rect, run, &host->spans[run->track_spans[i]]);
}

static void draw_tracks(struct view *view, struct rect gutter, struct rect rect, const struct run *run)
{
    for (size_t i = 0; i < run->timeline->host->track_count && rect.h >= ui_px(&view->ui, TRACK); i++) {
        if (!has_spans(run, i))
            continue;
        struct rect name = ui_cut_top(&view->ui, &gutter, TRACK), plot = ui_cut_top(&view->ui, &rect, TRACK);
        plot.h -= 1;
        struct rect clip = canvas_clip_to(&view->canvas, (struct rect){gutter.x, plot.y, gutter.w + plot.w, plot.h});
        draw_track(view, name, plot, run, i);
        canvas_set_clip(&view->canvas, clip);
    }
}

static void draw_label(struct view *view, struct rect line, const struct run *run)
{
    line.x += ui_px(&view->ui, 3);
    ui_text(&view->ui, line, ALIGN_LEFT, FONT_BOLD, TEXT_SMALL, view->ui.theme->ink, run->label);
}

void hosts_draw(struct view *view, struct rect gutter, struct rect rect, const int *runs, int run_count)
{
    struct ui *ui = &view->ui;
    struct rect both = {gutter.x, rect.y, gutter.w + rect.w, rect.h}, old = canvas_clip_to(&view->canvas, both);
    canvas_fill(&view->canvas, both, ui->theme->page);
    double room = both.h / ui->scale, share = room < all_heights(view, runs, run_count) ? room / run_count : room;
    for (int i = 0; i < run_count; i++) {
        const struct run *run = view->runs[runs[i]];
        double height = fmin(share, own_height(run, run_count));
        if (height == 0)
            continue;
        struct rect names = ui_cut_top(ui, &gutter, height), plots = ui_cut_top(ui, &rect, height);
        if (run_count > 1) {
            struct rect label = ui_cut_top(ui, &names, TRACK), beside = ui_cut_top(ui, &plots, TRACK);
            label.w += beside.w;
            draw_label(view, label, run);
        }
        draw_tracks(view, names, plots, run);
    }
    canvas_set_clip(&view->canvas, old);
}
