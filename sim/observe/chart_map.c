/* A map: cells coloured by value, the darker the more, with a colour bar. */
#include <math.h>

#include "observe/chart_parts.h"

enum { BAR = 16, BAR_TICKS = 6, MOST_BAR = 280 };

/* From almost white by sky blue and blue to night: lightness falls all the way, so that it does without colours. */
static struct wt_colour shade(double share)
{
    static const struct wt_colour stops[] = {
        {0.94, 0.97, 0.99}, {0.62, 0.82, 0.94}, {0.22, 0.59, 0.83}, {0.00, 0.40, 0.65}, {0.02, 0.17, 0.33}};
    double at = fmax(0, fmin(1, share)) * 4;
    int i = at >= 4 ? 3 : (int)at;
    double part = at - i;
    return (struct wt_colour){stops[i].red + part * (stops[i + 1].red - stops[i].red),
                              stops[i].green + part * (stops[i + 1].green - stops[i].green),
                              stops[i].blue + part * (stops[i + 1].blue - stops[i].blue)};
}

static double share_of(const struct wt_chart_axis *axis, double value)
{
    if (axis->log)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}

static struct wt_box cell_box(const struct wt_chart_page *page, size_t cell)
{
    const struct wt_chart *chart = page->chart;
    size_t column = cell % chart->x.name_count, row = cell / chart->x.name_count;
    double width = page->plot.width / (double)chart->x.name_count, height = page->plot.height / (double)chart->y.name_count;
    double gap = fmin(width, height) > 12 ? 1 : 0;
    return (struct wt_box){page->plot.x + width * (double)column + gap / 2,
                           page->plot.y + page->plot.height - height * (double)(row + 1) + gap / 2, width - gap, height - gap};
}

/* To four digits. */
static double rounded(double value)
{
    if (value == 0 || !isfinite(value))
        return value;
    double unit = pow(10, floor(log10(fabs(value))) - 3);
    return floor(value / unit + 0.5) * unit;
}

static void write_value(const struct wt_chart_page *page, struct wt_box box, double value, struct wt_colour under)
{
    char text[WT_CHART_TICK_TEXT];
    wt_chart_words(text, rounded(value));
    wt_set_font(page->cr, 11, false);
    if (box.height < 14 || wt_text_width(page->cr, text) > box.width - 6)
        return;
    if (wt_luminance(under) < 0.45)
        cairo_set_source_rgb(page->cr, 1, 1, 1);
    else
        wt_set_colour(page->cr, wt_ink, 1);
    wt_text(page->cr, box.x + box.width / 2, box.y + box.height / 2 + 4, 0.5, text);
}

static void draw_cell(const struct wt_chart_page *page, size_t cell)
{
    struct wt_box box = cell_box(page, cell);
    double value = page->chart->cells[cell];
    struct wt_colour colour = isnan(value) ? (struct wt_colour){0.88, 0.88, 0.88} : shade(share_of(&page->chart->value, value));
    cairo_rectangle(page->cr, box.x, box.y, box.width, box.height);
    wt_set_colour(page->cr, colour, 1);
    cairo_fill(page->cr);
    write_value(page, box, value, colour);
}

static void outline(cairo_t *cr, struct wt_box box)
{
    cairo_rectangle(cr, box.x + 1, box.y + 1, box.width - 2, box.height - 2);
    wt_set_colour(cr, wt_accent, 1);
    cairo_set_line_width(cr, 2.5);
    cairo_stroke(cr);
}

double wt_chart_map_room(cairo_t *cr, const struct wt_chart *chart)
{
    double ticks[WT_CHART_TICKS], room = 0;
    char text[WT_CHART_TICK_TEXT];
    int count = wt_chart_round_ticks(&chart->value, BAR_TICKS, ticks);
    wt_set_font(cr, 11, false);
    for (int i = 0; i < count; i++) {
        wt_chart_words(text, ticks[i]);
        room = fmax(room, BAR + 8 + wt_text_width(cr, text));
    }
    return fmin(fmax(room, wt_chart_title_room(cr, chart->value.title)), 220);
}

static void draw_bar_ticks(const struct wt_chart_page *page, struct wt_box bar)
{
    double ticks[WT_CHART_TICKS];
    char text[WT_CHART_TICK_TEXT];
    int count = wt_chart_round_ticks(&page->chart->value, BAR_TICKS, ticks);
    wt_set_font(page->cr, 11, false);
    wt_set_colour(page->cr, wt_grey, 1);
    for (int i = 0; i < count; i++) {
        double y = bar.y + bar.height * (1 - share_of(&page->chart->value, ticks[i]));
        wt_chart_words(text, ticks[i]);
        wt_text(page->cr, bar.x + bar.width + 8, y + 4, 0, text);
        cairo_move_to(page->cr, bar.x + bar.width, wt_sharp(y));
        cairo_line_to(page->cr, bar.x + bar.width + 4, wt_sharp(y));
        cairo_set_line_width(page->cr, 1);
        cairo_stroke(page->cr);
    }
}

static void draw_bar(const struct wt_chart_page *page)
{
    double second_line = wt_chart_draw_title(page, page->chart->value.title, page->plot.y + 11);
    struct wt_box bar = {page->legend_x, page->plot.y + 24 + second_line, BAR, fmin(page->plot.height - 64 - second_line, MOST_BAR)};
    for (double y = 0; y < bar.height; y++) {
        cairo_rectangle(page->cr, bar.x, bar.y + y, bar.width, fmin(1, bar.height - y));
        wt_set_colour(page->cr, shade(1 - y / bar.height), 1);
        cairo_fill(page->cr);
    }
    draw_bar_ticks(page, bar);
    if (page->chart->best < 0)
        return;
    double y = bar.y + bar.height + 20;
    outline(page->cr, (struct wt_box){bar.x, y, BAR, BAR});
    wt_set_font(page->cr, 11, false);
    wt_set_colour(page->cr, wt_ink, 1);
    wt_text(page->cr, bar.x + BAR + 8, y + 12, 0, "best");
}

void wt_chart_draw_map(const struct wt_chart_page *page)
{
    size_t count = page->chart->x.name_count * page->chart->y.name_count;
    for (size_t i = 0; i < count; i++)
        draw_cell(page, i);
    if (page->chart->best >= 0)
        outline(page->cr, cell_box(page, (size_t)page->chart->best));
    draw_bar(page);
}
