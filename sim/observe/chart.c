/* Where a chart's parts are, and its words. */
#include "observe/chart.h"

#include <math.h>

#include "observe/chart_parts.h"
#include "observe/surface.h"

enum { WIDTH = 960, HEIGHT = 600, TOP = 50, BELOW = 58, MOST_CELL = 64, LEAST_MAP = 300 };

struct wt_colour wt_chart_colour(size_t series)
{
    bool pale = series % WT_LAUNCH_COLOURS == 5; /* yellow lines cannot be seen on white */
    return wt_launch_colour(series, pale);
}

bool wt_chart_dashed(size_t series)
{
    return series >= WT_LAUNCH_COLOURS;
}

static double share(const struct wt_chart_axis *axis, double value)
{
    if (axis->log)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}

double wt_chart_x(const struct wt_chart_page *page, double value)
{
    return page->plot.x + page->plot.width * share(&page->chart->x, value);
}

double wt_chart_y(const struct wt_chart_page *page, double value)
{
    return page->plot.y + page->plot.height * (1 - share(&page->chart->y, value));
}

/* Of the whole picture; a map is as high as its rows need. */
static double height_of(const struct wt_chart *chart)
{
    if (chart->height > 0)
        return chart->height;
    if (chart->kind != WT_CHART_MAP)
        return HEIGHT;
    double rows = fmax(LEAST_MAP, fmin(HEIGHT, (double)chart->y.name_count * MOST_CELL));
    return TOP + 34 + rows + BELOW;
}

static void plan(struct wt_chart_page *page)
{
    const struct wt_chart *chart = page->chart;
    double top = TOP + (chart->note ? 20 : 4), bottom = page->height - BELOW;
    double left = WT_CHART_MARGIN + 22 + wt_chart_y_room(page->cr, chart, bottom - top) + 8;
    double room = chart->kind == WT_CHART_MAP ? wt_chart_map_room(page->cr, chart) : wt_chart_legend_room(page->cr, chart);
    double right = page->width - WT_CHART_MARGIN - (room > 0 ? room + 18 : 8);
    page->plot = (struct wt_box){left, top, fmax(right - left, 40), fmax(bottom - top, 40)};
    page->legend_x = right + 18;
}

static void draw_words(const struct wt_chart_page *page)
{
    double room = page->width - 2 * WT_CHART_MARGIN;
    wt_set_font(page->cr, 16, true);
    wt_set_colour(page->cr, wt_ink, 1);
    wt_text_within(page->cr, WT_CHART_MARGIN, 31, room, page->chart->title);
    if (!page->chart->note)
        return;
    wt_set_font(page->cr, 12, false);
    wt_set_colour(page->cr, wt_grey, 1);
    wt_text_within(page->cr, WT_CHART_MARGIN, 51, room, page->chart->note);
}

static void draw(cairo_t *cr, const void *context)
{
    const struct wt_chart *chart = context;
    struct wt_chart_page page = {.cr = cr, .chart = chart, .width = chart->width > 0 ? chart->width : WIDTH,
                                 .height = height_of(chart)};
    plan(&page);
    draw_words(&page);
    wt_chart_draw_axes(&page);
    if (chart->kind == WT_CHART_MAP)
        wt_chart_draw_map(&page);
    else if (chart->kind == WT_CHART_FRONT)
        wt_chart_draw_front(&page);
    else
        wt_chart_draw_series(&page);
}

static struct wt_drawing drawing_of(const struct wt_chart *chart)
{
    return (struct wt_drawing){chart->width > 0 ? chart->width : WIDTH, height_of(chart), chart->title, draw, chart};
}

enum wt_code wt_chart_svg(const struct wt_chart *chart, FILE *stream, struct wt_error *err)
{
    struct wt_drawing drawing = drawing_of(chart);
    return wt_surface_svg(&drawing, stream, err);
}

enum wt_code wt_chart_png(const struct wt_chart *chart, FILE *stream, struct wt_error *err)
{
    struct wt_drawing drawing = drawing_of(chart);
    return wt_surface_png(&drawing, stream, err);
}

enum wt_code wt_chart_pdf(const struct wt_chart *chart, FILE *stream, struct wt_error *err)
{
    struct wt_drawing drawing = drawing_of(chart);
    return wt_surface_pdf(&drawing, stream, err);
}
