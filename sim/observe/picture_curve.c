/* Resident blocks or warps over time, under the rows. */
#include <math.h>
#include <stdio.h>

#include "observe/picture.h"
#include "observe/words.h"

static double curve_y(const struct wt_picture *picture, double value)
{
    return picture->curve.y + picture->curve.height * (1 - value / picture->curve_most);
}

static const double *values_of(const struct wt_picture *picture, const struct wt_picture_side *side)
{
    return picture->curve_in_warps ? side->metrics->residency.warps : side->metrics->residency.blocks;
}

/* Steps at bucket bounds; equal neighbours make one step. The path begins and ends at zero. */
static void trace_curve(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    const struct wt_residency_curve *curve = &side->metrics->residency;
    const double *values = values_of(picture, side);
    double last = 0;
    cairo_move_to(cr, wt_picture_x(picture, side->lead), curve_y(picture, 0));
    for (size_t i = 0; i < curve->count; i++) {
        if (i > 0 && fabs(values[i] - last) < 1e-9 * picture->curve_most)
            continue;
        double x = wt_picture_x(picture, side->lead + i * curve->width);
        cairo_line_to(cr, x, curve_y(picture, last));
        cairo_line_to(cr, x, curve_y(picture, values[i]));
        last = values[i];
    }
    double x = wt_picture_x(picture, side->lead + wt_metrics_makespan(&side->metrics->whole));
    cairo_line_to(cr, x, curve_y(picture, last));
    cairo_line_to(cr, x, curve_y(picture, 0));
}

static struct wt_colour line_colour(const struct wt_picture *picture, const struct wt_picture_side *side)
{
    return picture->side_count > 1 && !side->is_prediction ? wt_measured : wt_predicted;
}

static void draw_line(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    static const double dashes[] = {6, 3};
    bool dashed = picture->side_count > 1 && side->is_prediction;
    if (!dashed) {
        trace_curve(cr, picture, side);
        wt_set_colour(cr, line_colour(picture, side), 0.16);
        cairo_fill(cr);
    }
    trace_curve(cr, picture, side);
    wt_set_colour(cr, line_colour(picture, side), 1);
    cairo_set_line_width(cr, 1.4);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_BEVEL);
    cairo_set_dash(cr, dashes, dashed ? 2 : 0, 0);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

static void value_label(cairo_t *cr, const struct wt_picture *picture, double value)
{
    char text[WT_WORDS];
    double y = curve_y(picture, value);
    wt_set_font(cr, 10, false);
    wt_set_colour(cr, wt_grey, 1);
    wt_text(cr, picture->x - 6, y + 3.5, 1, wt_words_number(text, value));
    cairo_move_to(cr, picture->x - 3, wt_sharp(y));
    cairo_line_to(cr, picture->x, wt_sharp(y));
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
}

static void draw_capacity(cairo_t *cr, const struct wt_picture *picture)
{
    double y = wt_sharp(curve_y(picture, picture->capacity));
    wt_set_colour(cr, wt_grey, 1);
    cairo_set_line_width(cr, 1);
    wt_dashed_line(cr, picture->x, y, picture->x + picture->plot_width, y);
}

/* A dashed line, and left of it (right where there is no room) the words, unless they would run into others. */
static void mark_queue_empty(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side,
                             const struct wt_metrics_part *part, double *free_from)
{
    static const char words[] = "queue empty";
    double x = wt_sharp(wt_picture_x(picture, part->tail.start - side->origin));
    wt_set_colour(cr, wt_accent, 1);
    cairo_set_line_width(cr, 1.2);
    wt_dashed_line(cr, x, picture->curve.y, x, picture->curve.y + picture->curve.height);
    if (picture->curve.height < 60)
        return;
    wt_set_font(cr, 10, false);
    double width = wt_text_width(cr, words), left = x - width - 5;
    left = left < picture->x ? x + 5 : left;
    if (left < *free_from || left + width > picture->x + picture->plot_width)
        return;
    wt_text(cr, left, picture->curve.y + 11, 0, words);
    *free_from = left + width + 8;
}

static void draw_caption(cairo_t *cr, const struct wt_picture *picture)
{
    char text[WT_PICTURE_LINE], count[WT_WORDS];
    const char *of = picture->curve_in_warps ? "Resident warps" : "Resident blocks";
    if (picture->capacity > 0)
        snprintf(text, sizeof text, "%s (capacity %s, dashed)", of, wt_words_number(count, picture->capacity));
    else
        snprintf(text, sizeof text, "%s", of);
    wt_set_font(cr, 11, true);
    wt_set_colour(cr, wt_ink, 1);
    wt_text_within(cr, picture->x, picture->curve.y - 5, picture->plot_width, text);
}

static void draw_values(cairo_t *cr, const struct wt_picture *picture)
{
    double top = picture->capacity > 0 ? picture->capacity : picture->curve_most / 1.25;
    value_label(cr, picture, 0);
    value_label(cr, picture, top);
    if (picture->curve.height >= 70)
        value_label(cr, picture, top / 2);
}

static void draw_marks(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    double free_from = picture->x;
    for (size_t i = 0; i < wt_picture_tail_count(side); i++) {
        const struct wt_metrics_part *part = wt_picture_tail(picture, side, i);
        if (part)
            mark_queue_empty(cr, picture, side, part, &free_from);
    }
}

static void shade_tail(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side,
                       const struct wt_metrics_part *part)
{
    double x0 = wt_picture_x(picture, part->tail.start - side->origin);
    double x1 = wt_picture_x(picture, part->end - side->origin);
    wt_tail_background(cr, (struct wt_box){x0, picture->curve.y, x1 - x0, picture->curve.height});
}

/* The first side's tail is shaded; the other's queue-empty mark alone would clutter. */

void wt_picture_draw_curve(cairo_t *cr, const struct wt_picture *picture)
{
    if (picture->curve.height <= 0)
        return;
    const struct wt_picture_side *last = &picture->sides[picture->side_count - 1];
    const struct wt_picture_side *first = &picture->sides[0];
    for (size_t i = 0; i < wt_picture_tail_count(first); i++)
        if (wt_picture_tail(picture, first, i))
            shade_tail(cr, picture, first, wt_picture_tail(picture, first, i));
    if (picture->capacity > 0)
        draw_capacity(cr, picture);
    for (const struct wt_picture_side *side = first; side <= last; side++)
        draw_line(cr, picture, side);
    draw_marks(cr, picture, first);
    draw_caption(cr, picture);
    draw_values(cr, picture);
}
