/* A lesson's words around the picture, and the numbers that tie its remarks to their moments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/picture.h"
#include "observe/surface.h"

enum { MARGIN = 18, LINE = 20, SPACE = 8, SIZE = 14, INDENT = 28, ROUND = 8, NUMBER_SIZE = 10, MARK_STEP = 2 * ROUND + 3 };

/* ---- Lines ---- */

struct words {
    struct wt_picture *picture;
    struct wt_story_lines *lines;
    cairo_t *cr;
};

static struct wt_story_line *new_line(const struct words *w, double indent, bool bold)
{
    struct wt_story_lines *lines = w->lines;
    lines->list = wt_grow(lines->list, &lines->capacity, lines->count + 1, sizeof *lines->list);
    lines->list[lines->count] = (struct wt_story_line){.indent = indent, .bold = bold};
    return &lines->list[lines->count++];
}

/* As many words as fit; at least one. Returns their bytes. */
static size_t fitting(cairo_t *cr, const char *text, double room)
{
    char line[WT_PICTURE_LINE];
    size_t fits = 0, next;
    for (size_t at = strspn(text, " "); text[at]; at = next + strspn(text + next, " ")) {
        next = at + strcspn(text + at, " ");
        if (next >= sizeof line)
            break;
        memcpy(line, text, next);
        line[next] = '\0';
        if (fits > 0 && wt_text_width(cr, line) > room)
            break;
        fits = next;
    }
    return fits > 0 ? fits : strnlen(text, sizeof line - 1);
}

/* `number`: of a remark, before its first line; 0: none. */
static void add_text(const struct words *w, const char *text, double indent, bool bold, int number)
{
    double room = w->picture->width - 2 * MARGIN - indent;
    wt_set_font(w->cr, SIZE, bold);
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t bytes = fitting(w->cr, text, room);
        struct wt_story_line *line = new_line(w, indent, bold);
        snprintf(line->text, sizeof line->text, "%.*s", (int)bytes, text);
        line->number = number;
        number = 0;
        text += bytes;
    }
}

void wt_picture_write_story(struct wt_picture *picture)
{
    const struct wt_story *story = picture->what->story;
    if (!story)
        return;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1); /* to measure with */
    struct words w = {picture, &picture->above, cairo_create(surface)};
    wt_surface_fonts(w.cr);
    add_text(&w, story->scenario, 0, false, 0);
    add_text(&w, story->question, 0, true, 0);
    w.lines = &picture->below;
    for (size_t i = 0; i < story->remark_count; i++)
        add_text(&w, story->remarks[i].text, INDENT, false, (int)i + 1);
    add_text(&w, story->answer, 0, true, 0);
    cairo_destroy(w.cr);
    cairo_surface_destroy(surface);
}

void wt_picture_clear_story(struct wt_picture *picture)
{
    free(picture->above.list);
    free(picture->below.list);
}

double wt_story_height(const struct wt_story_lines *lines)
{
    return lines->count ? lines->count * LINE + SPACE : 0;
}

/* ---- Drawing ---- */

static void draw_number(cairo_t *cr, double x, double y, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    cairo_arc(cr, x, y, ROUND, 0, 2 * M_PI);
    wt_set_colour(cr, wt_ink, 1);
    cairo_fill(cr);
    wt_set_font(cr, NUMBER_SIZE, true);
    cairo_set_source_rgb(cr, 1, 1, 1);
    wt_text(cr, x, y + 3.6, 0.5, text);
}

static void draw_lines(cairo_t *cr, const struct wt_story_lines *lines, double y)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct wt_story_line *line = &lines->list[i];
        double baseline = y + LINE * (double)(i + 1) - 5;
        if (line->number > 0)
            draw_number(cr, MARGIN + ROUND, baseline - 5, line->number);
        wt_set_font(cr, SIZE, line->bold);
        wt_set_colour(cr, wt_ink, 1);
        wt_text(cr, MARGIN + line->indent, baseline, 0, line->text);
    }
}

void wt_picture_draw_story(cairo_t *cr, const struct wt_picture *picture)
{
    draw_lines(cr, &picture->above, picture->above_y);
    draw_lines(cr, &picture->below, picture->below_y);
}

bool wt_picture_has_marks(const struct wt_picture *picture, const struct wt_picture_side *side)
{
    const struct wt_story *story = picture->what->story;
    for (size_t i = 0; story && i < story->remark_count; i++)
        if (story->remarks[i].side == side - picture->sides)
            return true;
    return false;
}

/* A number over its moment, beside the one before it where they would overlap, and a line down through the rows. */
void wt_picture_draw_marks(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    const struct wt_story *story = picture->what->story;
    double free_from = 0, bottom = side->rows.y + side->rows.height, middle = side->marks.y + side->marks.height / 2;
    for (size_t i = 0; story && i < story->remark_count; i++) {
        if (story->remarks[i].side != side - picture->sides)
            continue;
        double x = wt_picture_x(picture, side->lead + story->remarks[i].at), shown = fmax(x, free_from);
        wt_set_colour(cr, wt_ink, 0.7);
        cairo_set_line_width(cr, 1);
        wt_dashed_line(cr, wt_sharp(x), middle, wt_sharp(x), bottom);
        draw_number(cr, shown, middle, (int)i + 1);
        free_from = shown + MARK_STEP;
    }
}
