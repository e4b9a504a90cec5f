#include <math.h>
#include <string.h>

#include "core/text.h"
#include "observe/picture.h"

enum { HATCH_STEP = 8 };

/* Okabe and Ito's palette less vermillion, which marks the tail, and black, which is text. */
static const struct wt_colour launch_colours[WT_LAUNCH_COLOURS] = {
    {0x00 / 255.0, 0x72 / 255.0, 0xb2 / 255.0}, /* blue */
    {0xe6 / 255.0, 0x9f / 255.0, 0x00 / 255.0}, /* orange */
    {0x00 / 255.0, 0x9e / 255.0, 0x73 / 255.0}, /* bluish green */
    {0xcc / 255.0, 0x79 / 255.0, 0xa7 / 255.0}, /* reddish purple */
    {0x56 / 255.0, 0xb4 / 255.0, 0xe9 / 255.0}, /* sky blue */
    {0xf0 / 255.0, 0xe4 / 255.0, 0x42 / 255.0}, /* yellow */
};

const struct wt_colour wt_ink = {0.13, 0.13, 0.15};
const struct wt_colour wt_grey = {0.40, 0.41, 0.43};
const struct wt_colour wt_faint = {0.925, 0.93, 0.94};
const struct wt_colour wt_accent = {0xd5 / 255.0, 0x5e / 255.0, 0x00 / 255.0}; /* vermillion */
const struct wt_colour wt_measured = {0.13, 0.13, 0.15};
const struct wt_colour wt_predicted = {0x00 / 255.0, 0x72 / 255.0, 0xb2 / 255.0};

static struct wt_colour mixed(struct wt_colour a, double white, double share)
{
    return (struct wt_colour){a.red + (white - a.red) * share, a.green + (white - a.green) * share,
                              a.blue + (white - a.blue) * share};
}

double wt_luminance(struct wt_colour colour)
{
    return 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue;
}

/* The shades of one launch differ in lightness, so they do without colour. */
struct wt_colour wt_launch_colour(size_t launch, bool second_shade)
{
    struct wt_colour colour = launch_colours[launch % WT_LAUNCH_COLOURS];
    if (!second_shade)
        return colour;
    return wt_luminance(colour) > 0.6 ? mixed(colour, 0, 0.3) : mixed(colour, 1, 0.5);
}

void wt_set_colour(cairo_t *cr, struct wt_colour colour, double alpha)
{
    cairo_set_source_rgba(cr, colour.red, colour.green, colour.blue, alpha);
}

void wt_set_font(cairo_t *cr, double size, bool bold)
{
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

/* Kernel names come from files; cairo refuses text that is not UTF-8, and lines are single. */
const char *wt_printable(char *clean, const char *text)
{
    size_t at = 0;
    while (*text && at < WT_PICTURE_LINE) {
        size_t length = wt_utf8_length(text);
        if (length == 0 || (unsigned char)*text < ' ' || *text == 0x7f) {
            clean[at++] = '?';
            text++;
            continue;
        }
        for (; length > 0; length--)
            clean[at++] = *text++;
    }
    clean[at] = '\0';
    return clean;
}

double wt_text_width(cairo_t *cr, const char *text)
{
    char clean[WT_PRINTABLE];
    cairo_text_extents_t extents;
    cairo_text_extents(cr, wt_printable(clean, text), &extents);
    return extents.x_advance;
}

void wt_text(cairo_t *cr, double x, double y, double align, const char *text)
{
    char clean[WT_PRINTABLE];
    cairo_move_to(cr, x - align * wt_text_width(cr, text), y);
    cairo_show_text(cr, wt_printable(clean, text));
    cairo_new_path(cr);
}

/* The last byte of a UTF-8 sequence has no continuation byte after it. */
static size_t shorter(const char *text, size_t length)
{
    do
        length--;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80);
    return length;
}

void wt_text_within(cairo_t *cr, double x, double y, double room, const char *text)
{
    char cut[WT_PICTURE_LINE + 4];
    size_t length = strlen(text);
    length = length < WT_PICTURE_LINE ? length : WT_PICTURE_LINE;
    memcpy(cut, text, length);
    cut[length] = '\0';
    while (wt_text_width(cr, cut) > room && length > 0) {
        length = shorter(text, length);
        memcpy(cut + length, "…", sizeof "…");
    }
    wt_text(cr, x, y, 0, cut);
}

/* Lines x - y = c, cut to the box. */
static void hatch(cairo_t *cr, struct wt_box box)
{
    double right = box.x + box.width, bottom = box.y + box.height;
    double first = ceil((box.x - bottom) / HATCH_STEP) * HATCH_STEP;
    for (double c = first; c < right - box.y; c += HATCH_STEP) {
        double x0 = fmax(box.x, box.y + c), x1 = fmin(right, bottom + c);
        if (x1 <= x0)
            continue;
        cairo_move_to(cr, x0, x0 - c);
        cairo_line_to(cr, x1, x1 - c);
    }
    cairo_set_line_width(cr, 0.7);
    wt_set_colour(cr, mixed(wt_accent, 1, 0.6), 1);
    cairo_stroke(cr);
}

void wt_tail_background(cairo_t *cr, struct wt_box box)
{
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    wt_set_colour(cr, mixed(wt_accent, 1, 0.88), 1);
    cairo_fill(cr);
    hatch(cr, box);
}

void wt_dashed_line(cairo_t *cr, double x0, double y0, double x1, double y1)
{
    static const double dashes[] = {4, 3};
    cairo_set_dash(cr, dashes, 2, 0);
    cairo_move_to(cr, x0, y0);
    cairo_line_to(cr, x1, y1);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

double wt_sharp(double at)
{
    return floor(at) + 0.5;
}
