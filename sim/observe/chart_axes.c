/* A chart's axes: ticks, grid, titles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/chart_parts.h"
#include "observe/words.h"

enum { TICK_SIZE = 11, TITLE_SIZE = 12, APART = 8, X_APART = 80, Y_APART = 48 };

/* ---- Words ---- */

static void power_words(char *text, double value)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    int power = (int)floor(log10(fabs(value)) + 1e-9);
    char factor[WT_WORDS], raised[32] = "";
    for (int rest = abs(power), begun = 0, unit = 100; unit > 0; rest %= unit, unit /= 10) {
        begun |= rest / unit > 0 || unit == 1;
        if (begun)
            strcat(raised, digits[rest / unit % 10]);
    }
    wt_words_number(factor, value / pow(10, power));
    bool one = !strcmp(factor, "1");
    snprintf(text, WT_CHART_TICK_TEXT, "%.8s%s10%s%s", one ? "" : factor, one ? "" : "×", power < 0 ? "⁻" : "", raised);
}

/* At most four digits behind the zeros. */
static void small_words(char *text, double value)
{
    int places = 3 - (int)floor(log10(value) + 1e-9);
    snprintf(text, WT_CHART_TICK_TEXT, "%.*f", places, value);
    for (char *c = text; *c; c++)
        *c = *c == ',' ? '.' : *c;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '0')
        text[--length] = '\0';
    if (length > 0 && text[length - 1] == '.')
        text[length - 1] = '\0';
}

void wt_chart_words(char *text, double value)
{
    static const struct {
        double from;
        const char *unit;
    } large[] = {{1e9, "G"}, {1e6, "M"}};
    char number[WT_WORDS];
    if (value == 0 || !isfinite(value)) {
        snprintf(text, WT_CHART_TICK_TEXT, value == 0 ? "0" : "–");
    } else if (value < 0) {
        strcpy(text, "−");
        wt_chart_words(text + strlen("−"), -value);
    } else if (value < 0.99e-4 || value >= 1e12) {
        power_words(text, value);
    } else if (value < 10) {
        small_words(text, value);
    } else if (value < 1e6) {
        snprintf(text, WT_CHART_TICK_TEXT, "%.40s", wt_words_number(number, value));
    } else {
        size_t i = value < large[0].from;
        snprintf(text, WT_CHART_TICK_TEXT, "%.40s %s", wt_words_number(number, value / large[i].from), large[i].unit);
    }
}

/* ---- Ticks ---- */

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    return least <= power ? power : least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
}

static int linear_ticks(const struct wt_chart_axis *axis, int most, double *ticks)
{
    double step = round_step((axis->high - axis->low) / most * (1 - 1e-9));
    int count = 0;
    for (double i = ceil(axis->low / step - 1e-9); i * step <= axis->high * (1 + 1e-9) && count < most + 1; i++)
        ticks[count++] = i * step;
    return count;
}

/* Powers of ten, each `every`-th; with 2 and 5 where there are few. */
static int log_ticks(const struct wt_chart_axis *axis, int most, double *ticks)
{
    double decades = log10(axis->high / axis->low);
    int every = (int)ceil(decades / most), count = 0;
    bool between = 3 * decades <= most;
    static const double factors[] = {1, 2, 5};
    for (int power = (int)floor(log10(axis->low)); power <= log10(axis->high) + 1e-9; power++)
        for (int i = 0; i < (between ? 3 : 1); i++) {
            double tick = factors[i] * pow(10, power);
            if (power % (every > 0 ? every : 1) == 0 && tick >= axis->low * (1 - 1e-9) && tick <= axis->high * (1 + 1e-9) &&
                count < WT_CHART_TICKS)
                ticks[count++] = tick;
        }
    return count;
}

int wt_chart_round_ticks(const struct wt_chart_axis *axis, int most, double *ticks)
{
    most = most < 2 ? 2 : most > WT_CHART_TICKS - 1 ? WT_CHART_TICKS - 1 : most;
    int count = axis->log ? log_ticks(axis, most, ticks) : 0;
    if (count >= 2)
        return count;
    return linear_ticks(axis, most, ticks);
}

/* The axis's own where it has some. */
static int ticks_of(const struct wt_chart_axis *axis, double length, double apart, double *ticks)
{
    if (!axis->ticks)
        return wt_chart_round_ticks(axis, (int)(length / apart), ticks);
    int count = axis->tick_count < WT_CHART_TICKS ? (int)axis->tick_count : WT_CHART_TICKS;
    memcpy(ticks, axis->ticks, (size_t)count * sizeof *ticks);
    return count;
}

/* ---- Room ---- */

double wt_chart_y_room(cairo_t *cr, const struct wt_chart *chart, double height)
{
    double ticks[WT_CHART_TICKS], room = 0;
    char text[WT_CHART_TICK_TEXT];
    wt_set_font(cr, TICK_SIZE, false);
    for (size_t i = 0; i < chart->y.name_count; i++)
        room = fmax(room, wt_text_width(cr, chart->y.names[i]));
    if (chart->y.names)
        return fmin(room, 160);
    int count = ticks_of(&chart->y, height, Y_APART, ticks);
    for (int i = 0; i < count; i++) {
        wt_chart_words(text, ticks[i]);
        room = fmax(room, wt_text_width(cr, text));
    }
    return room;
}

/* ---- Drawing ---- */

static void grid_line(const struct wt_chart_page *page, bool upright, double at)
{
    const struct wt_box *plot = &page->plot;
    wt_set_colour(page->cr, wt_faint, 1);
    cairo_set_line_width(page->cr, 1);
    cairo_move_to(page->cr, upright ? wt_sharp(at) : plot->x, upright ? plot->y : wt_sharp(at));
    cairo_line_to(page->cr, upright ? wt_sharp(at) : plot->x + plot->width, upright ? plot->y + plot->height : wt_sharp(at));
    cairo_stroke(page->cr);
}

static void tick_mark(const struct wt_chart_page *page, double x)
{
    double y = page->plot.y + page->plot.height;
    wt_set_colour(page->cr, wt_grey, 1);
    cairo_set_line_width(page->cr, 1);
    cairo_move_to(page->cr, wt_sharp(x), y);
    cairo_line_to(page->cr, wt_sharp(x), y + 4);
    cairo_stroke(page->cr);
}

/* A label only where it leaves its neighbours room. */
static void draw_x_ticks(const struct wt_chart_page *page)
{
    double ticks[WT_CHART_TICKS], free_from = -INFINITY;
    int count = ticks_of(&page->chart->x, page->plot.width, X_APART, ticks);
    char text[WT_CHART_TICK_TEXT];
    wt_set_font(page->cr, TICK_SIZE, false);
    for (int i = 0; i < count; i++) {
        double x = wt_chart_x(page, ticks[i]);
        grid_line(page, true, x);
        tick_mark(page, x);
        wt_chart_words(text, ticks[i]);
        double half = wt_text_width(page->cr, text) / 2;
        if (x - half < free_from)
            continue;
        wt_text(page->cr, x, page->plot.y + page->plot.height + 18, 0.5, text);
        free_from = x + half + APART;
    }
}

static void draw_x_names(const struct wt_chart_page *page)
{
    double band = page->plot.width / (double)page->chart->x.name_count, free_from = -INFINITY;
    wt_set_font(page->cr, TICK_SIZE, false);
    wt_set_colour(page->cr, wt_grey, 1);
    for (size_t i = 0; i < page->chart->x.name_count; i++) {
        const char *name = page->chart->x.names[i];
        double middle = page->plot.x + band * ((double)i + 0.5), width = wt_text_width(page->cr, name);
        double left = middle - fmin(width, 3 * band) / 2;
        if (left < free_from)
            continue;
        wt_text_within(page->cr, left, page->plot.y + page->plot.height + 18, 3 * band, name);
        free_from = left + fmin(width, 3 * band) + APART;
    }
}

static void draw_y_ticks(const struct wt_chart_page *page)
{
    double ticks[WT_CHART_TICKS];
    int count = ticks_of(&page->chart->y, page->plot.height, Y_APART, ticks);
    char text[WT_CHART_TICK_TEXT];
    wt_set_font(page->cr, TICK_SIZE, false);
    for (int i = 0; i < count; i++) {
        double y = wt_chart_y(page, ticks[i]);
        grid_line(page, false, y);
        wt_chart_words(text, ticks[i]);
        wt_set_colour(page->cr, wt_grey, 1);
        wt_text(page->cr, page->plot.x - 8, y + 4, 1, text);
    }
}

static void draw_y_names(const struct wt_chart_page *page)
{
    double band = page->plot.height / (double)page->chart->y.name_count, free_above = INFINITY;
    wt_set_font(page->cr, TICK_SIZE, false);
    wt_set_colour(page->cr, wt_grey, 1);
    for (size_t i = 0; i < page->chart->y.name_count; i++) {
        double y = page->plot.y + page->plot.height - band * ((double)i + 0.5) + 4;
        double width = fmin(wt_text_width(page->cr, page->chart->y.names[i]), 160);
        if (y > free_above)
            continue;
        wt_text_within(page->cr, page->plot.x - 8 - width, y, 160, page->chart->y.names[i]);
        free_above = y - TICK_SIZE - 2;
    }
}

static void draw_titles(const struct wt_chart_page *page)
{
    cairo_t *cr = page->cr;
    wt_set_font(cr, TITLE_SIZE, true);
    wt_set_colour(cr, wt_ink, 1);
    wt_text(cr, page->plot.x + page->plot.width / 2, page->plot.y + page->plot.height + 42, 0.5, page->chart->x.title);
    cairo_save(cr);
    cairo_translate(cr, WT_CHART_MARGIN + 10, page->plot.y + page->plot.height / 2);
    cairo_rotate(cr, -M_PI / 2);
    wt_text(cr, 0, 0, 0.5, page->chart->y.title);
    cairo_restore(cr);
}

void wt_chart_draw_axes(const struct wt_chart_page *page)
{
    if (page->chart->x.names)
        draw_x_names(page);
    else
        draw_x_ticks(page);
    if (page->chart->y.names)
        draw_y_names(page);
    else
        draw_y_ticks(page);
    draw_titles(page);
    if (page->chart->kind == WT_CHART_MAP)
        return;
    double bottom = wt_sharp(page->plot.y + page->plot.height);
    wt_set_colour(page->cr, wt_grey, 1);
    cairo_set_line_width(page->cr, 1);
    cairo_move_to(page->cr, page->plot.x, bottom);
    cairo_line_to(page->cr, page->plot.x + page->plot.width, bottom);
    cairo_stroke(page->cr);
}
