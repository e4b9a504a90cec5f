/* Everything around rows and curve: words, labels, bars, the time axis, the legend. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "observe/picture.h"
#include "observe/words.h"

enum { MARGIN = 18, TICK_SPACE = 90, LABEL_SPACE = 11, SWATCH = 13 };

static void draw_words(cairo_t *cr, const struct wt_picture *picture)
{
    double room = picture->width - 2 * MARGIN;
    wt_set_font(cr, 16, true);
    wt_set_colour(cr, wt_ink, 1);
    wt_text_within(cr, MARGIN, 31, room, picture->title);
    wt_set_font(cr, 12, false);
    wt_set_colour(cr, wt_grey, 1);
    for (int i = 0; i < picture->line_count; i++)
        wt_text_within(cr, MARGIN, picture->lines_y + 13 + 17 * i, room, picture->lines[i]);
}

/* --- left of the rows --- */

static void label_group(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side, int first,
                        int last)
{
    char text[32];
    double top = side->row_y[first], bottom = side->row_y[last - 1] + picture->pitch - picture->gap;
    snprintf(text, sizeof text, "GPC %d", side->timeline->gpc_of_sm[side->sm_of_row[first]]);
    wt_set_colour(cr, wt_grey, 1);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, MARGIN + 44.5, top + 0.5);
    cairo_line_to(cr, MARGIN + 44.5, bottom - 0.5);
    cairo_stroke(cr);
    if (bottom - top < 9)
        return;
    wt_set_font(cr, 11, false);
    wt_text(cr, MARGIN, (top + bottom) / 2 + 4, 0, text);
}

static void label_groups(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    int first = 0, count = side->timeline->sm_count;
    for (int row = 1; row <= count; row++) {
        if (row < count && !wt_picture_new_group(side, row))
            continue;
        label_group(cr, picture, side, first, row);
        first = row;
    }
}

/* Is there room for the row's label before the next GPC's first? */
static bool label_fits(const struct wt_picture_side *side, int row)
{
    int next = row + 1;
    while (next < side->timeline->sm_count && !wt_picture_new_group(side, next))
        next++;
    return next == side->timeline->sm_count || side->row_y[next] - side->row_y[row] >= LABEL_SPACE - 1;
}

/* Every SM where there is room, else every k-th of its GPC. */
static void label_sms(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    char text[32];
    int every = picture->pitch >= LABEL_SPACE ? 1 : (int)ceil(LABEL_SPACE / picture->pitch), since = 0;
    double size = picture->pitch >= 14 ? 11 : 9;
    wt_set_font(cr, size, false);
    wt_set_colour(cr, wt_grey, 1);
    for (int row = 0; row < side->timeline->sm_count; row++) {
        since = row == 0 || wt_picture_new_group(side, row) ? 0 : since + 1;
        if (since % every || (since && !label_fits(side, row)))
            continue;
        snprintf(text, sizeof text, picture->pitch >= 14 ? "SM %d" : "%d", side->sm_of_row[row]);
        double middle = side->row_y[row] + (picture->pitch - picture->gap) / 2;
        wt_text(cr, picture->x - 6, middle + size * 0.36, 1, text);
    }
    if (picture->pitch < 14)
        wt_text(cr, picture->x - 6, side->rows.y - 6, 1, "SM");
}

/* --- above the rows --- */

/* The tail's extent with its share: beside the bracket where it is too narrow for the words. */
static void draw_bracket(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side,
                         const struct wt_metrics_part *part, double *free_from)
{
    char text[64];
    double x0 = wt_picture_x(picture, part->tail.start - side->origin);
    double x1 = wt_picture_x(picture, part->end - side->origin), y = side->band.y + side->band.height - 5.5;
    snprintf(text, sizeof text, "tail %.1f %%", 100 * part->tail.fraction);
    wt_set_font(cr, 11, true);
    wt_set_colour(cr, wt_accent, 1);
    cairo_set_line_width(cr, 1.2);
    cairo_move_to(cr, x0, y + 4);
    cairo_line_to(cr, x0, y);
    cairo_line_to(cr, x1, y);
    cairo_line_to(cr, x1, y + 4);
    cairo_stroke(cr);
    double width = wt_text_width(cr, text), left = (x0 + x1 - width) / 2;
    double rightmost = picture->x + picture->plot_width - width;
    left = fmax(picture->x, fmin(left, rightmost));
    if (left < *free_from)
        return;
    wt_text(cr, left, y - 3, 0, text);
    *free_from = left + width + 8;
}

static void draw_brackets(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    double free_from = picture->x;
    for (size_t i = 0; i < wt_picture_tail_count(side); i++) {
        const struct wt_metrics_part *part = wt_picture_tail(picture, side, i);
        if (part)
            draw_bracket(cr, picture, side, part, &free_from);
    }
}

/* With its number, which a lesson does without. */
static void name_launch(char text[WT_PICTURE_LINE], const struct wt_picture *picture, const struct wt_timeline_launch *launch)
{
    if (picture->what->story)
        snprintf(text, WT_PICTURE_LINE, "%.200s", launch->name);
    else
        snprintf(text, WT_PICTURE_LINE, "%ld  %.200s", launch->number, launch->name);
}

static void draw_bar(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side, size_t launch)
{
    const struct wt_metrics_part *part = &side->metrics->launches[launch];
    double x0 = wt_picture_x(picture, part->begin - side->origin),
           x1 = wt_picture_x(picture, part->end - side->origin);
    double y = side->bars.y + 15 * wt_picture_bar_level(side, launch);
    char text[WT_PICTURE_LINE];
    if (!part->blocks)
        return;
    cairo_rectangle(cr, x0, y, fmax(x1 - x0, 0.5), 3);
    wt_set_colour(cr, wt_launch_colour(launch, false), 1);
    cairo_fill(cr);
    name_launch(text, picture, &side->timeline->launches[launch]);
    wt_set_font(cr, 10, false);
    wt_set_colour(cr, wt_ink, 1);
    if (x1 - x0 > 24)
        wt_text_within(cr, x0 + (side->marks.height > 0 ? 3 : 0), y + 12.5, x1 - x0 - 4, text);
}

static void draw_side(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    if (side->caption[0]) {
        wt_set_font(cr, 12, true);
        wt_set_colour(cr, wt_ink, 1);
        wt_text_within(cr, MARGIN, side->caption_y, picture->width - 2 * MARGIN, side->caption);
    }
    if (side->tracks.height > 0)
        wt_picture_draw_tracks(cr, picture, side);
    if (side->bars.height > 0)
        for (size_t i = 0; i < side->timeline->launch_count; i++)
            draw_bar(cr, picture, side, i);
    if (side->marks.height > 0)
        wt_picture_draw_marks(cr, picture, side);
    if (side->space)
        return;
    draw_brackets(cr, picture, side);
    if (picture->has_gpcs)
        label_groups(cr, picture, side);
    label_sms(cr, picture, side);
}

/* --- the time axis --- */

/* 1, 2 or 5 times a power of ten, so that at least TICK_SPACE pixels lie between two ticks. */
static double tick_step(double length, double width)
{
    double least = length * TICK_SPACE / width, power = 1;
    while (power < least / 10)
        power *= 10;
    while (power > least)
        power /= 10;
    return least <= power ? power : least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
}

static void draw_ticks(cairo_t *cr, const struct wt_picture *picture, double length, double y, const char *unit)
{
    double step = tick_step(length, picture->plot_width);
    double right = picture->x + picture->plot_width;
    char text[WT_WORDS];
    wt_set_font(cr, 10, false);
    wt_set_colour(cr, wt_grey, 1);
    wt_text(cr, picture->x - 12, y + 14, 1, unit);
    for (int i = 0; i * step <= length * (1 + 1e-9); i++) {
        double x = picture->x + picture->plot_width * (i * step / length);
        wt_words_number(text, i * step);
        double half = wt_text_width(cr, text) / 2;
        cairo_move_to(cr, wt_sharp(x), y + 1);
        cairo_line_to(cr, wt_sharp(x), y + 4);
        cairo_set_line_width(cr, 1);
        cairo_stroke(cr);
        wt_text(cr, fmin(x, right + MARGIN - 4 - half), y + 14, 0.5, text);
    }
}

static void draw_axis(cairo_t *cr, const struct wt_picture *picture)
{
    double cycles = wt_to_cycles(picture->length), clock = picture->sides[0].timeline->clock_mhz;
    double y = wt_sharp(picture->axis_y);
    wt_set_colour(cr, wt_grey, 1);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, picture->x, y);
    cairo_line_to(cr, picture->x + picture->plot_width, y);
    cairo_stroke(cr);
    draw_ticks(cr, picture, cycles, y, "cycles");
    if (clock <= 0)
        return;
    bool in_ns = cycles / clock < 2;
    draw_ticks(cr, picture, in_ns ? 1000 * cycles / clock : cycles / clock, y + 15, in_ns ? "ns" : "µs");
}

/* --- legend --- */

struct legend {
    cairo_t *cr;
    double x, y, right;
};

/* Room for a swatch and its text; false when the line is full. */
static bool begin_entry(struct legend *legend, double swatch, const char *text)
{
    wt_set_font(legend->cr, 11, false);
    return legend->x + swatch + 6 + wt_text_width(legend->cr, text) <= legend->right;
}

static void end_entry(struct legend *legend, double swatch, const char *text)
{
    wt_set_colour(legend->cr, wt_ink, 1);
    wt_text(legend->cr, legend->x + swatch + 6, legend->y + SWATCH - 2.5, 0, text);
    legend->x += swatch + 6 + wt_text_width(legend->cr, text) + 18;
}

static void fill_swatch(struct legend *legend, double x, double width, struct wt_colour colour)
{
    cairo_rectangle(legend->cr, x, legend->y, width, SWATCH);
    wt_set_colour(legend->cr, colour, 1);
    cairo_fill(legend->cr);
}

static void shades_entry(struct legend *legend, size_t launch, const char *text)
{
    if (!begin_entry(legend, 2 * SWATCH, text))
        return;
    fill_swatch(legend, legend->x, SWATCH, wt_launch_colour(launch, false));
    fill_swatch(legend, legend->x + SWATCH, SWATCH, wt_launch_colour(launch, true));
    end_entry(legend, 2 * SWATCH, text);
}

static bool shows_tail(const struct wt_picture *picture)
{
    for (const struct wt_picture_side *side = picture->sides; side < picture->sides + picture->side_count; side++)
        for (size_t i = 0; i < wt_picture_tail_count(side) && !side->space; i++)
            if (wt_picture_tail(picture, side, i))
                return true;
    return false;
}

static void tail_entry(struct legend *legend, const struct wt_picture *picture)
{
    static const char text[] = "free slot in the tail (queue empty)";
    if (!shows_tail(picture) || !begin_entry(legend, 2 * SWATCH, text))
        return;
    wt_tail_background(legend->cr, (struct wt_box){legend->x, legend->y, 2 * SWATCH, SWATCH});
    end_entry(legend, 2 * SWATCH, text);
}

static void free_entry(struct legend *legend)
{
    if (!begin_entry(legend, 2 * SWATCH, "free slot"))
        return;
    fill_swatch(legend, legend->x, 2 * SWATCH, wt_faint);
    end_entry(legend, 2 * SWATCH, "free slot");
}

static void line_entry(struct legend *legend, struct wt_colour colour, bool dashed, const char *text)
{
    double y = legend->y + SWATCH / 2.0;
    if (!begin_entry(legend, 2 * SWATCH, text))
        return;
    wt_set_colour(legend->cr, colour, 1);
    cairo_set_line_width(legend->cr, 1.6);
    if (dashed) {
        wt_dashed_line(legend->cr, legend->x, y, legend->x + 2 * SWATCH, y);
    } else {
        cairo_move_to(legend->cr, legend->x, y);
        cairo_line_to(legend->cr, legend->x + 2 * SWATCH, y);
        cairo_stroke(legend->cr);
    }
    end_entry(legend, 2 * SWATCH, text);
}

static void note(struct legend *legend, const char *text)
{
    if (begin_entry(legend, -6, text))
        end_entry(legend, -6, text);
}

/* The fuller the darker. */
static void density_entry(struct legend *legend, size_t launch, const char *text)
{
    enum { STEPS = 4 };
    if (!begin_entry(legend, 2 * SWATCH, text))
        return;
    for (int i = 0; i < STEPS; i++) {
        cairo_rectangle(legend->cr, legend->x + i * 2.0 * SWATCH / STEPS, legend->y, 2.0 * SWATCH / STEPS, SWATCH);
        wt_set_colour(legend->cr, wt_launch_colour(launch, false), (i + 1.0) / STEPS);
        cairo_fill(legend->cr);
    }
    end_entry(legend, 2 * SWATCH, text);
}

static void many_entry(struct legend *legend, size_t count)
{
    char text[64];
    double width = 2.0 * SWATCH / WT_LAUNCH_COLOURS;
    snprintf(text, sizeof text, "%zu launches; their colours repeat", count);
    if (!begin_entry(legend, 2 * SWATCH, text))
        return;
    for (int i = 0; i < WT_LAUNCH_COLOURS; i++)
        fill_swatch(legend, legend->x + i * width, width, wt_launch_colour((size_t)i, false));
    end_entry(legend, 2 * SWATCH, text);
}

static void launch_entries(struct legend *legend, const struct wt_picture *picture,
                           const struct wt_picture_side *side)
{
    const struct wt_timeline *timeline = side->timeline;
    bool averaged = side->detail == WT_AVERAGED;
    void (*entry)(struct legend *, size_t, const char *) = averaged ? density_entry : shades_entry;
    size_t count = timeline->launch_count;
    if (count <= 1) {
        entry(legend, 0, averaged ? "share of the SM's slots taken" : "blocks; shades alternate within a slot");
        return;
    }
    if (count > WT_LAUNCH_COLOURS) {
        many_entry(legend, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        char text[WT_PICTURE_LINE];
        name_launch(text, picture, &timeline->launches[i]);
        entry(legend, i, text);
    }
    if (averaged)
        note(legend, picture->curve_in_warps ? "(darker: more of the SM's warps)"
                                             : "(darker: more of the SM's slots)");
}

/* Of the directions that occur. */
static void copy_entries(struct legend *legend, const struct wt_host_timeline *host)
{
    static const char *const texts[WT_DIRECTIONS] = {"copy to the device", "copy to the host", "copy within the device"};
    bool occurs[WT_DIRECTIONS] = {false};
    for (size_t i = 0; host && i < host->span_count; i++)
        if (host->spans[i].kind == WT_ACTIVITY_COPY)
            occurs[host->spans[i].direction] = true;
    for (int i = 0; i < WT_DIRECTIONS; i++) {
        if (!occurs[i] || !begin_entry(legend, SWATCH, texts[i]))
            continue;
        fill_swatch(legend, legend->x, SWATCH, wt_copy_colour(i));
        end_entry(legend, SWATCH, texts[i]);
    }
}

static void draw_legend(cairo_t *cr, const struct wt_picture *picture)
{
    struct legend legend = {cr, picture->x, picture->legend_y + 14, picture->width - MARGIN};
    if (picture->legend_y <= 0)
        return;
    if (picture->side_count > 1) {
        bool own = picture->what->labels[0] != NULL;
        line_entry(&legend, wt_measured, false, own ? "first" : "measured");
        line_entry(&legend, wt_predicted, true, own ? "second" : "predicted");
    }
    launch_entries(&legend, picture, &picture->sides[0]);
    copy_entries(&legend, picture->sides[0].timeline->host);
    free_entry(&legend);
    tail_entry(&legend, picture);
}

void wt_picture_draw_frame(cairo_t *cr, const struct wt_picture *picture)
{
    draw_words(cr, picture);
    for (int i = 0; i < picture->side_count; i++)
        draw_side(cr, picture, &picture->sides[i]);
    draw_axis(cr, picture);
    draw_legend(cr, picture);
    wt_picture_draw_story(cr, picture);
}
