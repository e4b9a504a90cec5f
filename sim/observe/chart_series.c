/* Lines, bars, points and the front, with their legend. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/chart_parts.h"

enum { LEGEND_SIZE = 11, LEGEND_ROW = 19, SAMPLE = 26, MOST_MARKED = 80, MOST_LEGEND = 240, MOST_TITLE = 150 };

/* ---- Marks ---- */

/* A shape of its own for each series: told apart without colours. */
static void trace_mark(cairo_t *cr, size_t series, double x, double y, double r)
{
    static const double corners[4][4][2] = {{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
                                            {{0, -1.2}, {1.15, 0.9}, {-1.15, 0.9}, {0, -1.2}},
                                            {{0, -1.4}, {1.4, 0}, {0, 1.4}, {-1.4, 0}},
                                            {{0, 1.2}, {1.15, -0.9}, {-1.15, -0.9}, {0, 1.2}}};
    size_t shape = series % 5;
    cairo_new_path(cr);
    if (shape == 0) {
        cairo_arc(cr, x, y, r, 0, 2 * M_PI);
        return;
    }
    double size = shape == 1 ? 0.9 * r : r;
    for (int i = 0; i < 4; i++)
        cairo_line_to(cr, x + size * corners[shape - 1][i][0], y + size * corners[shape - 1][i][1]);
    cairo_close_path(cr);
}

static void draw_mark(cairo_t *cr, size_t series, double x, double y, double r)
{
    trace_mark(cr, series, x, y, r);
    wt_set_colour(cr, wt_chart_colour(series), 1);
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_set_line_width(cr, 0.8);
    cairo_stroke(cr);
}

static void set_line(cairo_t *cr, size_t series)
{
    static const double dashes[] = {6, 4};
    wt_set_colour(cr, wt_chart_colour(series), 1);
    cairo_set_line_width(cr, 2);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(cr, dashes, wt_chart_dashed(series) ? 2 : 0, 0);
}

static void stroke(cairo_t *cr)
{
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

/* ---- Legend ---- */

double wt_chart_title_room(cairo_t *cr, const char *title)
{
    wt_set_font(cr, LEGEND_SIZE, true);
    double width = wt_text_width(cr, title);
    return width > MOST_TITLE ? fmax(MOST_TITLE, 0.62 * width) : width;
}

/* The first line is the longer one. */
double wt_chart_draw_title(const struct wt_chart_page *page, const char *title, double y)
{
    char first[WT_PICTURE_LINE];
    wt_set_font(page->cr, LEGEND_SIZE, true);
    wt_set_colour(page->cr, wt_ink, 1);
    if (wt_text_width(page->cr, title) <= MOST_TITLE || !strchr(title, ' ')) {
        wt_text_within(page->cr, page->legend_x, y, MOST_LEGEND, title);
        return 0;
    }
    size_t length = strlen(title), cut = length / 2;
    while (cut < length && title[cut] != ' ')
        cut++;
    if (cut == length)
        cut = (size_t)(strrchr(title, ' ') - title);
    snprintf(first, sizeof first, "%.*s", (int)cut, title);
    wt_text_within(page->cr, page->legend_x, y, MOST_LEGEND, first);
    wt_text_within(page->cr, page->legend_x, y + 14, MOST_LEGEND, title + cut + 1);
    return 14;
}

double wt_chart_legend_room(cairo_t *cr, const struct wt_chart *chart)
{
    double room = 0;
    if (chart->series_count < 2)
        return 0;
    if (chart->series_title)
        room = wt_chart_title_room(cr, chart->series_title);
    wt_set_font(cr, LEGEND_SIZE, false);
    for (size_t i = 0; i < chart->series_count; i++)
        room = fmax(room, SAMPLE + 8 + wt_text_width(cr, chart->series[i].name));
    return fmin(room, MOST_LEGEND);
}

static void draw_sample(const struct wt_chart_page *page, size_t series, double y)
{
    bool bars = page->chart->kind == WT_CHART_LINES && page->chart->x.names;
    cairo_t *cr = page->cr;
    if (bars) {
        cairo_rectangle(cr, page->legend_x + SAMPLE - 13, y - 6, 13, 13);
        wt_set_colour(cr, wt_chart_colour(series), 1);
        cairo_fill(cr);
        return;
    }
    if (page->chart->kind != WT_CHART_POINTS) {
        cairo_move_to(cr, page->legend_x, y);
        cairo_line_to(cr, page->legend_x + SAMPLE, y);
        set_line(cr, series);
        stroke(cr);
    }
    draw_mark(cr, series, page->legend_x + SAMPLE / 2.0, y, 4);
}

static void draw_legend(const struct wt_chart_page *page)
{
    const struct wt_chart *chart = page->chart;
    double y = page->plot.y + 12;
    if (chart->series_count < 2)
        return;
    if (chart->series_title)
        y += wt_chart_draw_title(page, chart->series_title, y);
    for (size_t i = 0; i < chart->series_count; i++) {
        y += LEGEND_ROW;
        draw_sample(page, i, y - 4);
        wt_set_font(page->cr, LEGEND_SIZE, false);
        wt_set_colour(page->cr, wt_ink, 1);
        wt_text_within(page->cr, page->legend_x + SAMPLE + 8, y, MOST_LEGEND - SAMPLE - 8, chart->series[i].name);
    }
}

/* ---- Lines ---- */

static void draw_band(const struct wt_chart_page *page, const struct wt_chart_series *series, size_t index)
{
    bool wide = false;
    for (size_t i = 0; i < series->count; i++)
        wide |= series->points[i].low < series->points[i].high;
    if (!wide)
        return;
    cairo_new_path(page->cr);
    for (size_t i = 0; i < series->count; i++)
        cairo_line_to(page->cr, wt_chart_x(page, series->points[i].x), wt_chart_y(page, series->points[i].high));
    for (size_t i = series->count; i-- > 0;)
        cairo_line_to(page->cr, wt_chart_x(page, series->points[i].x), wt_chart_y(page, series->points[i].low));
    cairo_close_path(page->cr);
    wt_set_colour(page->cr, wt_chart_colour(index), 0.15);
    cairo_fill(page->cr);
}

static void draw_line(const struct wt_chart_page *page, const struct wt_chart_series *series, size_t index)
{
    cairo_new_path(page->cr);
    for (size_t i = 0; i < series->count; i++)
        cairo_line_to(page->cr, wt_chart_x(page, series->points[i].x), wt_chart_y(page, series->points[i].y));
    set_line(page->cr, index);
    stroke(page->cr);
}

static void draw_marks(const struct wt_chart_page *page, const struct wt_chart_series *series, size_t index)
{
    bool joined = page->chart->kind == WT_CHART_LINES;
    if (joined && series->count > MOST_MARKED)
        return;
    for (size_t i = 0; i < series->count; i++)
        draw_mark(page->cr, index, wt_chart_x(page, series->points[i].x), wt_chart_y(page, series->points[i].y),
                  joined || series->count < 400 ? 4 : 2.5);
}

/* ---- Bars ---- */

static void draw_bar(const struct wt_chart_page *page, const struct wt_chart_point *point, size_t series)
{
    char text[WT_CHART_TICK_TEXT];
    double band = page->plot.width / (double)page->chart->x.name_count, width = 0.76 * band / (double)page->chart->series_count;
    width = fmin(width, 90);
    double middle = page->plot.x + band * (point->x + 0.5);
    double left = middle + width * ((double)series - (double)page->chart->series_count / 2);
    double top = wt_chart_y(page, point->y), bottom = page->plot.y + page->plot.height;
    cairo_rectangle(page->cr, left + 1, top, fmax(width - 2, 1), bottom - top);
    wt_set_colour(page->cr, wt_chart_colour(series), 1);
    cairo_fill(page->cr);
    if (point->low < point->high) {
        cairo_move_to(page->cr, left + width / 2, wt_chart_y(page, point->low));
        cairo_line_to(page->cr, left + width / 2, wt_chart_y(page, point->high));
        wt_set_colour(page->cr, wt_ink, 1);
        cairo_set_line_width(page->cr, 1.2);
        cairo_stroke(page->cr);
    }
    wt_chart_words(text, point->y);
    wt_set_font(page->cr, 10, false);
    if (wt_text_width(page->cr, text) > width + 4)
        return;
    wt_set_colour(page->cr, wt_ink, 1);
    wt_text(page->cr, left + width / 2, fmin(top, wt_chart_y(page, point->high)) - 4, 0.5, text);
}

void wt_chart_draw_series(const struct wt_chart_page *page)
{
    const struct wt_chart *chart = page->chart;
    bool bars = chart->x.names != NULL;
    for (size_t s = 0; s < chart->series_count; s++) {
        for (size_t i = 0; bars && i < chart->series[s].count; i++)
            draw_bar(page, &chart->series[s].points[i], s);
        if (!bars && chart->kind == WT_CHART_LINES)
            draw_band(page, &chart->series[s], s);
    }
    for (size_t s = 0; !bars && s < chart->series_count; s++) {
        if (chart->kind == WT_CHART_LINES)
            draw_line(page, &chart->series[s], s);
        draw_marks(page, &chart->series[s], s);
    }
    draw_legend(page);
}

/* ---- The front ---- */

/* What labels must not cover. */
struct placed {
    struct wt_box *boxes;
    size_t count, capacity;
};

static void place(struct placed *placed, struct wt_box box)
{
    placed->boxes = wt_grow(placed->boxes, &placed->capacity, placed->count + 1, sizeof *placed->boxes);
    placed->boxes[placed->count++] = box;
}

static bool is_free(const struct wt_chart_page *page, const struct placed *placed, const struct wt_box *box)
{
    const struct wt_box *plot = &page->plot;
    if (box->x < plot->x || box->x + box->width > plot->x + plot->width || box->y < plot->y - 10 ||
        box->y + box->height > plot->y + plot->height)
        return false;
    for (size_t i = 0; i < placed->count; i++) {
        const struct wt_box *other = &placed->boxes[i];
        if (box->x < other->x + other->width && other->x < box->x + box->width && box->y < other->y + other->height &&
            other->y < box->y + box->height)
            return false;
    }
    return true;
}

/* Beside its point, where there is room: right, left, above, below, and between those. */
static void draw_label(const struct wt_chart_page *page, struct placed *placed, const struct wt_chart_point *point)
{
    static const double sides[][2] = {{1, 0.5}, {-1, -0.5}, {1, -0.5}, {-1, 0.5}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    double x = wt_chart_x(page, point->x), y = wt_chart_y(page, point->y);
    wt_set_font(page->cr, 10, false);
    double width = wt_text_width(page->cr, point->label), height = 11;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        struct wt_box box = {x + sides[i][0] * (8 + width / 2) - width / 2, y + sides[i][1] * 14 - height / 2, width, height};
        if (!is_free(page, placed, &box))
            continue;
        wt_set_colour(page->cr, point->on_front ? wt_ink : wt_grey, 1);
        wt_text(page->cr, box.x, box.y + 9, 0, point->label);
        place(placed, box);
        return;
    }
}

static int by_x(const void *left, const void *right)
{
    const struct wt_chart_point *a = *(const struct wt_chart_point *const *)left, *b = *(const struct wt_chart_point *const *)right;
    return (a->x > b->x) - (a->x < b->x);
}

static void draw_front_line(const struct wt_chart_page *page)
{
    const struct wt_chart *chart = page->chart;
    const struct wt_chart_point **front = NULL;
    size_t count = 0, capacity = 0;
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++)
            if (chart->series[s].points[i].on_front) {
                front = wt_grow(front, &capacity, count + 1, sizeof *front);
                front[count++] = &chart->series[s].points[i];
            }
    if (count > 0)
        qsort(front, count, sizeof *front, by_x);
    cairo_new_path(page->cr);
    for (size_t i = 0; i < count; i++)
        cairo_line_to(page->cr, wt_chart_x(page, front[i]->x), wt_chart_y(page, front[i]->y));
    wt_set_colour(page->cr, wt_accent, 0.9);
    cairo_set_line_width(page->cr, 1.6);
    cairo_stroke(page->cr);
    free(front);
}

static void draw_front_point(const struct wt_chart_page *page, size_t series, const struct wt_chart_point *point)
{
    double x = wt_chart_x(page, point->x), y = wt_chart_y(page, point->y);
    if (point->on_front) {
        draw_mark(page->cr, series, x, y, 5);
        return;
    }
    trace_mark(page->cr, series, x, y, 4);
    cairo_set_source_rgb(page->cr, 1, 1, 1);
    cairo_fill_preserve(page->cr);
    wt_set_colour(page->cr, wt_chart_colour(series), 0.8);
    cairo_set_line_width(page->cr, 1.4);
    cairo_stroke(page->cr);
}

/* Points first, so that no label covers one; labels of the front before others'. */
void wt_chart_draw_front(const struct wt_chart_page *page)
{
    const struct wt_chart *chart = page->chart;
    struct placed placed = {0};
    draw_front_line(page);
    for (int front = 0; front < 2; front++)
        for (size_t s = 0; s < chart->series_count; s++)
            for (size_t i = 0; i < chart->series[s].count; i++) {
                const struct wt_chart_point *point = &chart->series[s].points[i];
                if (point->on_front != (front == 1))
                    continue;
                draw_front_point(page, s, point);
                place(&placed, (struct wt_box){wt_chart_x(page, point->x) - 4, wt_chart_y(page, point->y) - 4, 8, 8});
            }
    for (int others = 0; others < 2; others++)
        for (size_t s = 0; s < chart->series_count; s++)
            for (size_t i = 0; i < chart->series[s].count; i++)
                if (chart->series[s].points[i].label && chart->series[s].points[i].on_front == (others == 0))
                    draw_label(page, &placed, &chart->series[s].points[i]);
    free(placed.boxes);
    draw_legend(page);
}
