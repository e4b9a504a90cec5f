/* The host's side over the rows: a row each for its threads, the streams and the copy engines. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "observe/picture.h"

enum { ROW = 17, BAR = 13, SPACE_BELOW = 8, MOST_ROWS = 32, SIDE = 18 };

static const struct wt_colour call_colour = {0.80, 0.80, 0.80}, wait_colour = {0.93, 0.93, 0.93};
static const struct wt_colour copy_colours[WT_DIRECTIONS] = {{0.30, 0.30, 0.34}, {0.56, 0.56, 0.60}, {0.72, 0.68, 0.62}};

struct wt_colour wt_copy_colour(int direction)
{
    return copy_colours[direction];
}

static bool is_used(const struct wt_host_timeline *host, size_t track)
{
    for (size_t i = 0; i < host->span_count; i++)
        if (wt_host_span_lies_on(host, &host->spans[i], track))
            return true;
    return false;
}

double wt_picture_tracks_height(const struct wt_picture_side *side)
{
    const struct wt_host_timeline *host = side->timeline->host;
    int rows = 0;
    for (size_t i = 0; host && i < host->track_count && rows < MOST_ROWS; i++)
        rows += is_used(host, i);
    return rows > 0 ? rows * ROW + SPACE_BELOW : 0;
}

static struct wt_colour colour_of(const struct wt_host_span *span)
{
    if (span->kind == WT_ACTIVITY_CALL)
        return call_colour;
    return span->kind == WT_ACTIVITY_COPY ? wt_copy_colour(span->direction) : wt_launch_colour(span->launch, false);
}

static void fill(cairo_t *cr, double x0, double x1, double y, struct wt_colour colour)
{
    cairo_rectangle(cr, x0, y, fmax(x1 - x0, 0.4), BAR);
    wt_set_colour(cr, colour, 1);
    cairo_fill(cr);
}

/* An event's record: a small flag. */
static void draw_record(cairo_t *cr, double x, double y)
{
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x + 5, y + 3);
    cairo_line_to(cr, x, y + 6);
    cairo_close_path(cr);
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x, y + BAR);
    wt_set_colour(cr, wt_accent, 1);
    cairo_set_line_width(cr, 1);
    cairo_stroke_preserve(cr);
    cairo_fill(cr);
}

static void draw_span(cairo_t *cr, const struct wt_picture *picture, const struct wt_host_timeline *host,
                      const struct wt_host_span *span, double y)
{
    double x0 = wt_picture_x(picture, span->begin), x1 = wt_picture_x(picture, span->end);
    double waits = wt_picture_x(picture, span->end - span->waited);
    if (span->kind == WT_ACTIVITY_RECORD) {
        draw_record(cr, x0, y);
        return;
    }
    fill(cr, x0, waits - (waits - x0 > 3 ? 0.5 : 0), y, colour_of(span));
    if (x1 > waits)
        fill(cr, waits, x1, y, wait_colour);
    if (x1 - x0 < 26)
        return;
    bool dark = span->kind != WT_ACTIVITY_CALL && wt_luminance(colour_of(span)) < 0.5;
    wt_set_font(cr, 10, false);
    wt_set_colour(cr, dark ? (struct wt_colour){1, 1, 1} : wt_ink, 1);
    wt_text_within(cr, x0 + 3, y + BAR - 3, x1 - x0 - 6, host->names[span->name]);
}

static void label_track(cairo_t *cr, const struct wt_picture *picture, const struct wt_track *track, double y)
{
    char text[WT_PICTURE_LINE];
    bool numbered = track->kind == WT_TRACK_STREAM && track->name[0] >= '0' && track->name[0] <= '9';
    snprintf(text, sizeof text, "%s%.100s", numbered ? "stream " : "", track->name);
    const char *shown = !strncmp(text, "copies ", 7) ? text + 7 : text;
    wt_set_font(cr, 10, false);
    wt_set_colour(cr, wt_grey, 1);
    double room = picture->x - 6 - SIDE, width = wt_text_width(cr, shown);
    wt_text_within(cr, picture->x - 6 - fmin(width, room), y + BAR - 3, room + 1, shown);
}

void wt_picture_draw_tracks(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    const struct wt_host_timeline *host = side->timeline->host;
    double y = side->tracks.y;
    int rows = 0;
    for (size_t track = 0; host && track < host->track_count && rows < MOST_ROWS; track++) {
        if (!is_used(host, track))
            continue;
        label_track(cr, picture, &host->tracks[track], y);
        cairo_rectangle(cr, picture->x, y, picture->plot_width, BAR);
        wt_set_colour(cr, wt_faint, 0.5);
        cairo_fill(cr);
        for (size_t i = 0; i < host->span_count; i++)
            if (wt_host_span_lies_on(host, &host->spans[i], track))
                draw_span(cr, picture, host, &host->spans[i], y);
        y += ROW;
        rows++;
    }
}
