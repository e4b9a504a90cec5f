/* From a table to a chart. */
#include "study/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "core/text.h"
#include "study/plot_columns.h"

enum { MAP_FROM = 7, MOST_CELLS_ASIDE = 200, MOST_TICKS_GIVEN = 16 };
enum { NONE = -1 };

#define FIELD(field) offsetof(struct wt_plot_setup, field)

const char *const wt_plot_kinds[] = {
    [WT_PLOT_AUTO] = "auto", [WT_PLOT_LINES] = "lines", [WT_PLOT_POINTS] = "points",
    [WT_PLOT_MAP] = "map",   [WT_PLOT_FRONT] = "front", NULL};
static const char *const scales[] = {[WT_SCALE_AUTO] = "auto", [WT_SCALE_LINEAR] = "linear", [WT_SCALE_LOG] = "log", NULL};

const struct wt_param wt_plot_params[] = {
    {"kind", WT_PARAM_CHOICE, FIELD(kind), .choices = wt_plot_kinds,
     .help = "lines over a key, points, a map over two keys, or the front of two results; auto: what suits the table"},
    {"x", WT_PARAM_STRING, FIELD(x), .help = "column from left to right; default: the key with the most values; front: the makespan"},
    {"y", WT_PARAM_STRING, FIELD(y), .help = "column upwards (map: in the cells); default: the makespan; front: the throughput"},
    {"by", WT_PARAM_STRING, FIELD(by), .help = "column whose values become series (map: rows); default: the next key that varies; "
                                               "\"\": none"},
    {"title", WT_PARAM_STRING, FIELD(title), .help = "over the picture; default: the study's"},
    {"x_title", WT_PARAM_STRING, FIELD(x_title), .help = "of the axis, with its unit"},
    {"y_title", WT_PARAM_STRING, FIELD(y_title), .help = "of the axis, with its unit"},
    {"x_scale", WT_PARAM_CHOICE, FIELD(x_scale), .choices = scales, .help = "of the axis"},
    {"y_scale", WT_PARAM_CHOICE, FIELD(y_scale), .choices = scales, .help = "of the axis (map: of the colours)"},
    {0}};

struct wt_plot {
    struct wt_chart chart;
    char **texts; /* all that was made; owned */
    size_t text_count, text_capacity;
    const char **x_names, **y_names;
    double *ticks, *cells;
    struct wt_chart_series *series;
    struct wt_chart_point *points; /* of all series */
};

/* A plot being made. */
struct making {
    const struct wt_table *table;
    const struct wt_plot_setup *setup;
    struct wt_plot *plot;
    enum wt_plot_kind kind;
    bool *use;     /* rows that have what is shown */
    size_t used;
    int key, by;   /* columns: of x (front: of labels) and of series; NONE */
    int x, y;      /* columns of what is shown; x is the key but for a front */
    struct wt_distinct keys, groups;
    struct wt_error *err;
};

static const char *keep_text(struct wt_plot *plot, char *text)
{
    plot->texts = wt_grow(plot->texts, &plot->text_capacity, plot->text_count + 1, sizeof *plot->texts);
    return plot->texts[plot->text_count++] = text;
}

/* ---- Columns ---- */

static enum wt_code find_column(const struct making *m, const char *name, int *out)
{
    size_t column = wt_table_column(m->table, name);
    *out = (int)column;
    if (column < m->table->columns)
        return WT_OK;
    const char *nearest = wt_nearest(name, (const char *const *)m->table->names, m->table->columns);
    return nearest ? wt_fail(m->err, WT_BAD_INPUT, "there is no column '%s'; did you mean '%s'?", name, nearest)
                   : wt_fail(m->err, WT_BAD_INPUT, "there is no column '%s'; name one of the table's first line", name);
}

static bool is_known_everywhere(const struct making *m, const char *name)
{
    size_t column = wt_table_column(m->table, name), fallback = wt_table_column(m->table, "makespan");
    for (size_t row = 0; row < m->table->rows; row++)
        if (column == m->table->columns || (isnan(wt_table_number(m->table, row, column)) && fallback < m->table->columns &&
                                            !isnan(wt_table_number(m->table, row, fallback))))
            return false;
    return true;
}

static const char *makespan_column(const struct making *m)
{
    return is_known_everywhere(m, "makespan_us") ? "makespan_us" : "makespan";
}

static void use_rows(struct making *m)
{
    m->used = 0;
    for (size_t row = 0; row < m->table->rows; row++) {
        bool has = !isnan(wt_table_number(m->table, row, (size_t)m->y));
        if (m->kind == WT_PLOT_FRONT)
            has = has && !isnan(wt_table_number(m->table, row, (size_t)m->x));
        m->use[row] = has;
        m->used += has;
    }
}

/* Of rows without results, too: that there is none is shown. */
static struct wt_distinct distinct(const struct making *m, int column)
{
    bool *known = wt_alloc(m->table->rows, sizeof *known);
    for (size_t row = 0; row < m->table->rows; row++)
        known[row] = m->use[row] || *wt_table_cell(m->table, row, (size_t)column);
    struct wt_distinct d = wt_distinct(m->table, known, (size_t)column, wt_column_meaning(m->table->names[column]).scale);
    free(known);
    return d;
}

static bool is_key(const struct making *m, int column)
{
    return !wt_column_meaning(m->table->names[column]).result && strcmp(m->table->names[column], "seed");
}

/* Numbers before texts, and of these the one with the most; NONE: no key varies. */
static int richest_key(const struct making *m)
{
    int best = NONE;
    size_t most = 1;
    bool numbers = false;
    for (int c = 0; c < (int)m->table->columns; c++) {
        if (!is_key(m, c) || c == m->by)
            continue;
        struct wt_distinct d = distinct(m, c);
        if (d.count > 1 && (d.numbers > numbers || (d.numbers == numbers && d.count > most))) {
            best = c;
            most = d.count;
            numbers = d.numbers;
        }
        wt_distinct_clear(&d);
    }
    int seed = (int)wt_table_column(m->table, "seed");
    return best != NONE || seed == (int)m->table->columns || seed == m->by ? best : seed;
}

/* Does the column vary between rows of the same key? */
static bool is_free(const struct making *m, int column)
{
    struct wt_distinct d = distinct(m, column);
    size_t *first = wt_alloc(m->keys.count, sizeof *first);
    bool free_there = false;
    for (size_t row = 0; row < m->table->rows; row++) {
        if (!m->use[row])
            continue;
        size_t *seen = &first[m->keys.of_row[row]], value = d.of_row[row] + 1;
        free_there |= *seen > 0 && *seen != value;
        *seen = *seen > 0 ? *seen : value;
    }
    free(first);
    wt_distinct_clear(&d);
    return free_there;
}

static int next_key(const struct making *m)
{
    for (int c = 0; c < (int)m->table->columns; c++)
        if (c != m->key && is_key(m, c) && is_free(m, c))
            return c;
    return NONE;
}

struct pair {
    size_t key, value;
};

static int by_key(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->value > b->value) - (a->value < b->value);
}

/* Does a key that is not shown go up and down from x to x, unlike one that is derived from x? Lines would then mean nothing. */
static bool jumps(const struct making *m, int column)
{
    struct wt_distinct d = distinct(m, column);
    struct pair *pairs = wt_alloc(m->used, sizeof *pairs);
    size_t count = 0, ups = 0, downs = 0;
    for (size_t row = 0; row < m->table->rows; row++)
        if (m->use[row])
            pairs[count++] = (struct pair){m->keys.of_row[row], d.of_row[row]};
    qsort(pairs, count, sizeof *pairs, by_key);
    for (size_t i = 1; i < count; i++) {
        ups += pairs[i].value > pairs[i - 1].value;
        downs += pairs[i].value < pairs[i - 1].value;
    }
    free(pairs);
    wt_distinct_clear(&d);
    return ups > 0 && downs > 0;
}

static bool is_scattered(const struct making *m)
{
    if (m->by != NONE || !m->keys.numbers || m->keys.count < m->used)
        return false;
    for (int c = 0; c < (int)m->table->columns; c++)
        if (c != m->key && is_key(m, c) && jumps(m, c))
            return true;
    return false;
}

static enum wt_code choose_results(struct making *m)
{
    const struct wt_plot_setup *s = m->setup;
    bool front = s->kind == WT_PLOT_FRONT;
    WT_TRY(find_column(m, s->y ? s->y : front ? "blocks_per_cycle" : makespan_column(m), &m->y));
    if (front)
        WT_TRY(find_column(m, s->x ? s->x : makespan_column(m), &m->x));
    use_rows(m);
    if (m->used == 0)
        return wt_fail(m->err, WT_BAD_INPUT, "no row has a number in column '%s'; name another with 'y'", m->table->names[m->y]);
    return WT_OK;
}

static enum wt_code choose_keys(struct making *m)
{
    const struct wt_plot_setup *s = m->setup;
    if (s->by && *s->by)
        WT_TRY(find_column(m, s->by, &m->by));
    if (s->x && s->kind != WT_PLOT_FRONT)
        WT_TRY(find_column(m, s->x, &m->key));
    else
        m->key = richest_key(m);
    if (m->key == NONE)
        return wt_fail(m->err, WT_BAD_INPUT, "no key varies, so there is nothing to be drawn over; name a column with 'x'");
    m->keys = distinct(m, m->key);
    if (!s->by)
        m->by = next_key(m);
    if (m->by != NONE)
        m->groups = distinct(m, m->by);
    return WT_OK;
}

/* ---- Kind ---- */

static enum wt_code choose_kind(struct making *m)
{
    bool given = m->setup->by != NULL;
    m->kind = (enum wt_plot_kind)m->setup->kind;
    bool many = m->groups.count > WT_CHART_SERIES;
    if (m->kind == WT_PLOT_AUTO)
        m->kind = m->by != NONE && m->keys.numbers && m->groups.numbers && m->keys.count >= MAP_FROM && m->groups.count >= MAP_FROM &&
                          m->keys.count * m->groups.count <= 2 * m->used ? WT_PLOT_MAP
                  : (many && !given && m->keys.numbers) || is_scattered(m) ? WT_PLOT_POINTS : WT_PLOT_LINES;
    if (m->kind == WT_PLOT_MAP) {
        if (m->by == NONE)
            return wt_fail(m->err, WT_BAD_INPUT, "a map needs two keys that vary; name the second with 'by'");
        if (m->keys.count > MOST_CELLS_ASIDE || m->groups.count > MOST_CELLS_ASIDE)
            return wt_fail(m->err, WT_BAD_INPUT, "a map has at most %d values each way, not %zu and %zu; draw lines or points",
                           MOST_CELLS_ASIDE, m->keys.count, m->groups.count);
        return WT_OK;
    }
    if (many && given)
        return wt_fail(m->err, WT_BAD_INPUT, "'%s' has %zu values, of which at most %d can be told apart; name another key with 'by', or "
                       "draw a map", m->table->names[m->by], m->groups.count, WT_CHART_SERIES);
    if (m->kind == WT_PLOT_POINTS && !m->keys.numbers)
        return wt_fail(m->err, WT_BAD_INPUT, "points need numbers, which '%s' has not; draw lines", m->table->names[m->key]);
    if (many) {
        wt_distinct_clear(&m->groups);
        m->by = NONE;
    }
    return WT_OK;
}

static double scale_of(const struct making *m, int column)
{
    return wt_column_meaning(m->table->names[column]).scale;
}

static double value_at(const struct making *m, size_t row, int column)
{
    return scale_of(m, column) * wt_table_number(m->table, row, (size_t)column);
}

/* ---- Points ---- */

static size_t group_of(const struct making *m, size_t row)
{
    return m->by == NONE ? 0 : m->groups.of_row[row];
}

/* A file without folder and ending; anything else as it is. Owned by the caller. */
static char *short_name(const char *text)
{
    const char *slash = strrchr(text, '/');
    const char *dot = slash ? strrchr(slash, '.') : NULL;
    return slash ? wt_format("%.*s", (int)(dot ? dot - slash - 1 : (ptrdiff_t)strlen(slash + 1)), slash + 1) : wt_strdup(text);
}

static const char *value_name(const struct making *m, const struct wt_distinct *d, size_t i)
{
    char text[WT_CHART_TICK_TEXT];
    if (!d->numbers)
        return keep_text(m->plot, short_name(d->texts[i]));
    wt_chart_words(text, d->values[i]);
    return keep_text(m->plot, wt_strdup(text));
}

/* Rows sorted by (group, key), so that those which have both in common stand together. */
struct placed_row {
    size_t group, key;
    double x, y;
};

static int by_place(const void *left, const void *right)
{
    const struct placed_row *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->y != b->y ? (a->y > b->y) - (a->y < b->y) : (a->x > b->x) - (a->x < b->x);
}

static struct placed_row *placed_rows(const struct making *m)
{
    struct placed_row *rows = wt_alloc(m->used, sizeof *rows);
    size_t count = 0;
    for (size_t row = 0; row < m->table->rows; row++)
        if (m->use[row])
            rows[count++] = (struct placed_row){group_of(m, row), m->keys.of_row[row],
                                                m->kind == WT_PLOT_FRONT ? value_at(m, row, m->x) : 0, value_at(m, row, m->y)};
    qsort(rows, count, sizeof *rows, by_place);
    return rows;
}

static double median_of(const struct placed_row *rows, size_t count, bool of_x)
{
    double *values = wt_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = of_x ? rows[i].x : rows[i].y;
    wt_sort_numbers(values, count);
    double median = wt_quantile(values, count, 50);
    free(values);
    return median;
}

/* The same place's rows become a point. */
static struct wt_chart_point point_of(const struct making *m, const struct placed_row *rows, size_t count)
{
    struct wt_chart_point p = {.y = median_of(rows, count, false), .low = rows[0].y, .high = rows[count - 1].y};
    p.x = m->kind == WT_PLOT_FRONT ? median_of(rows, count, true) : m->keys.numbers ? m->keys.values[rows[0].key] : (double)rows[0].key;
    if (m->kind == WT_PLOT_FRONT)
        p.label = value_name(m, &m->keys, rows[0].key);
    return p;
}

static bool starts_point(const struct making *m, const struct placed_row *rows, size_t i)
{
    return i == 0 || m->kind == WT_PLOT_POINTS || rows[i].group != rows[i - 1].group || rows[i].key != rows[i - 1].key;
}

static void make_series(struct making *m)
{
    struct wt_plot *plot = m->plot;
    struct placed_row *rows = placed_rows(m);
    size_t count = 0;
    plot->points = wt_alloc(m->used, sizeof *plot->points);
    plot->series = wt_alloc(WT_CHART_SERIES, sizeof *plot->series);
    for (size_t i = 0, next; i < m->used; i = next) {
        for (next = i + 1; next < m->used && !starts_point(m, rows, next);)
            next++;
        if (i == 0 || rows[i].group != rows[i - 1].group)
            plot->series[plot->chart.series_count++] = (struct wt_chart_series){
                m->by == NONE ? "" : value_name(m, &m->groups, rows[i].group), &plot->points[count], 0};
        plot->series[plot->chart.series_count - 1].count++;
        plot->points[count++] = point_of(m, &rows[i], next - i);
    }
    plot->chart.series = plot->series;
    if (m->by != NONE)
        plot->chart.series_title = keep_text(plot, wt_strdup(wt_column_meaning(m->table->names[m->by]).title));
    free(rows);
}

/* ---- The front ---- */

struct ranked {
    double x, y; /* the less, the better */
    struct wt_chart_point *point;
};

static int by_rank(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->y > b->y) - (a->y < b->y);
}

static double cost(const struct making *m, int column, double value, int otherwise)
{
    int better = wt_column_meaning(m->table->names[column]).better;
    return (better ? better : otherwise) > 0 ? -value : value;
}

static void find_front(struct making *m)
{
    size_t count = 0;
    double least = INFINITY;
    for (size_t s = 0; s < m->plot->chart.series_count; s++)
        count += m->plot->series[s].count;
    struct ranked *ranked = wt_alloc(count, sizeof *ranked);
    for (size_t i = 0; i < count; i++) {
        struct wt_chart_point *p = &m->plot->points[i];
        ranked[i] = (struct ranked){cost(m, m->x, p->x, -1), cost(m, m->y, p->y, 1), p};
        p->low = p->high = p->y;
    }
    qsort(ranked, count, sizeof *ranked, by_rank);
    for (size_t i = 0; i < count; i++) {
        ranked[i].point->on_front = ranked[i].y < least;
        least = fmin(least, ranked[i].y);
    }
    free(ranked);
}

/* ---- The map ---- */

static void make_map(struct making *m)
{
    struct wt_plot *plot = m->plot;
    struct placed_row *rows = placed_rows(m);
    size_t columns = m->keys.count, cells = columns * m->groups.count;
    int better = wt_column_meaning(m->table->names[m->y]).better;
    plot->cells = wt_alloc(cells, sizeof *plot->cells);
    for (size_t i = 0; i < cells; i++)
        plot->cells[i] = NAN;
    double least = INFINITY, most = -INFINITY;
    plot->chart.best = -1;
    for (size_t i = 0, next; i < m->used; i = next) {
        for (next = i + 1; next < m->used && !starts_point(m, rows, next);)
            next++;
        size_t cell = rows[i].group * columns + rows[i].key;
        double value = plot->cells[cell] = median_of(&rows[i], next - i, false);
        if (better && (plot->chart.best < 0 || better * value > better * plot->cells[plot->chart.best]))
            plot->chart.best = (ptrdiff_t)cell;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    plot->chart.best = least < most ? plot->chart.best : -1;
    plot->chart.cells = plot->cells;
    plot->chart.value = (struct wt_chart_axis){.low = least, .high = most};
    free(rows);
}

static const char **names_of(const struct making *m, const struct wt_distinct *d)
{
    const char **names = wt_alloc(d->count, sizeof *names);
    for (size_t i = 0; i < d->count; i++)
        names[i] = value_name(m, d, i);
    return names;
}

/* ---- Axes ---- */

/* Is the middle one of the numbers nearer to the bounds' geometric mean? */
static bool spread_by_ratios(const double *values, size_t count)
{
    if (count < 3 || values[0] <= 0 || values[count - 1] < 8 * values[0])
        return false;
    double middle = values[count / 2];
    return fabs(middle - sqrt(values[0] * values[count - 1])) < fabs(middle - 0.5 * (values[0] + values[count - 1]));
}

static bool takes_log(const struct making *m, int scale, bool suits, double least, const char *name, enum wt_code *code)
{
    if (scale != WT_SCALE_LOG)
        return scale == WT_SCALE_AUTO && suits;
    if (least > 0)
        return true;
    *code = wt_fail(m->err, WT_BAD_INPUT, "'%s' is not above 0 everywhere, as a logarithmic scale needs; make it linear", name);
    return false;
}

/* Some room around; from 0 on where that is not far. */
static void widen(struct wt_chart_axis *axis, bool from_zero)
{
    if (axis->log) {
        double room = pow(fmax(axis->high / axis->low, 1.2), 0.04);
        axis->low /= room;
        axis->high *= room;
        return;
    }
    double room = axis->high > axis->low ? axis->high - axis->low : fabs(axis->high) > 0 ? fabs(axis->high) : 1;
    bool zero = from_zero && axis->low >= 0 && (axis->low < 0.6 * axis->high || axis->low == axis->high);
    axis->low = zero ? 0 : axis->low - 0.06 * room;
    axis->high += 0.06 * room;
}

static void extent(const struct wt_plot *plot, bool of_x, double *least, double *most)
{
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t s = 0; s < plot->chart.series_count; s++)
        for (size_t i = 0; i < plot->series[s].count; i++) {
            const struct wt_chart_point *p = &plot->series[s].points[i];
            *least = fmin(*least, of_x ? p->x : p->low);
            *most = fmax(*most, of_x ? p->x : p->high);
        }
}

static enum wt_code make_x_axis(struct making *m)
{
    struct wt_plot *plot = m->plot;
    struct wt_chart_axis *axis = &plot->chart.x;
    enum wt_code code = WT_OK;
    bool front = m->kind == WT_PLOT_FRONT;
    const char *name = m->table->names[front ? m->x : m->key];
    axis->title = keep_text(plot, wt_strdup(m->setup->x_title ? m->setup->x_title : wt_column_meaning(name).title));
    if (m->kind == WT_PLOT_MAP || (!front && !m->keys.numbers)) {
        axis->names = plot->x_names = names_of(m, &m->keys);
        axis->name_count = m->keys.count;
        return WT_OK;
    }
    extent(plot, true, &axis->low, &axis->high);
    bool suits = front ? axis->low > 0 && axis->high > 30 * axis->low : spread_by_ratios(m->keys.values, m->keys.count);
    axis->log = takes_log(m, m->setup->x_scale, suits, axis->low, name, &code);
    if (!front && !wt_column_meaning(name).result && m->keys.count <= MOST_TICKS_GIVEN) {
        axis->ticks = plot->ticks = wt_alloc(m->keys.count, sizeof *plot->ticks);
        for (size_t i = 0; i < m->keys.count; i++)
            if (m->keys.values[i] >= axis->low && m->keys.values[i] <= axis->high)
                plot->ticks[axis->tick_count++] = m->keys.values[i];
    }
    widen(axis, front);
    return code;
}

static enum wt_code make_y_axis(struct making *m)
{
    struct wt_plot *plot = m->plot;
    bool map = m->kind == WT_PLOT_MAP, bars = !map && m->kind != WT_PLOT_FRONT && !m->keys.numbers;
    struct wt_chart_axis *axis = map ? &plot->chart.value : &plot->chart.y;
    enum wt_code code = WT_OK;
    if (map) {
        plot->chart.y.title = keep_text(plot, wt_strdup(wt_column_meaning(m->table->names[m->by]).title));
        plot->chart.y.names = plot->y_names = names_of(m, &m->groups);
        plot->chart.y.name_count = m->groups.count;
    } else {
        extent(plot, false, &axis->low, &axis->high);
    }
    const char *name = m->table->names[m->y];
    axis->title = keep_text(plot, wt_strdup(m->setup->y_title ? m->setup->y_title : wt_column_meaning(name).title));
    axis->log = !bars && takes_log(m, m->setup->y_scale, axis->low > 0 && axis->high > 30 * axis->low, axis->low, name, &code);
    if (bars)
        axis->low = fmin(axis->low, 0);
    if (!map)
        widen(axis, true);
    else if (axis->low == axis->high)
        axis->high = axis->low + (axis->low != 0 ? fabs(axis->low) : 1);
    return code;
}

/* ---- Words ---- */

static char *joined(char *text, char *item)
{
    char *longer = wt_format("%s%s%s", text, *text ? "  ·  " : "", item);
    free(text);
    free(item);
    return longer;
}

static bool has_bands(const struct making *m)
{
    bool bands = false;
    for (size_t s = 0; m->kind == WT_PLOT_LINES && s < m->plot->chart.series_count; s++)
        for (size_t i = 0; i < m->plot->series[s].count; i++)
            bands |= m->plot->series[s].points[i].low < m->plot->series[s].points[i].high;
    return bands;
}

static void make_words(struct making *m, const char *title)
{
    char *note = wt_strdup("");
    size_t gpu = wt_table_column(m->table, "gpu");
    struct wt_distinct gpus = {0};
    if (gpu < m->table->columns)
        gpus = distinct(m, (int)gpu);
    if (gpus.count == 1)
        note = joined(note, wt_strdup(gpus.texts[0]));
    wt_distinct_clear(&gpus);
    note = joined(note, wt_format("%zu point%s", m->used, m->used == 1 ? "" : "s"));
    if (m->used < m->table->rows)
        note = joined(note, wt_format("%zu more %s no result", m->table->rows - m->used, m->table->rows - m->used == 1 ? "has" : "have"));
    if (has_bands(m))
        note = joined(note, wt_strdup("median, and from the least to the most of what else varies"));
    if (m->kind == WT_PLOT_FRONT) {
        note = joined(note, wt_format("labels: %s", wt_column_meaning(m->table->names[m->key]).title));
        note = joined(note, wt_strdup("line: nothing is better in both"));
    }
    m->plot->chart.title = keep_text(m->plot, wt_strdup(m->setup->title ? m->setup->title : title));
    m->plot->chart.note = keep_text(m->plot, note);
}

/* ---- All of it ---- */

static enum wt_code make(struct making *m, const char *title)
{
    static const enum wt_chart_kind kinds[] = {[WT_PLOT_LINES] = WT_CHART_LINES, [WT_PLOT_POINTS] = WT_CHART_POINTS,
                                               [WT_PLOT_MAP] = WT_CHART_MAP, [WT_PLOT_FRONT] = WT_CHART_FRONT};
    m->kind = (enum wt_plot_kind)m->setup->kind;
    WT_TRY(choose_results(m));
    WT_TRY(choose_keys(m));
    WT_TRY(choose_kind(m));
    m->plot->chart.kind = kinds[m->kind];
    if (m->kind == WT_PLOT_MAP)
        make_map(m);
    else
        make_series(m);
    if (m->kind == WT_PLOT_FRONT)
        find_front(m);
    make_words(m, title);
    WT_TRY(make_x_axis(m));
    return make_y_axis(m);
}

enum wt_code wt_plot_new(const struct wt_table *table, const struct wt_plot_setup *setup, const char *title, struct wt_plot **out,
                         struct wt_error *err)
{
    struct making m = {.table = table, .setup = setup, .plot = wt_alloc(1, sizeof *m.plot), .key = NONE, .by = NONE, .x = NONE, .y = NONE,
                       .err = err};
    m.use = wt_alloc(table->rows, sizeof *m.use);
    *out = NULL;
    enum wt_code code = make(&m, title);
    wt_distinct_clear(&m.keys);
    wt_distinct_clear(&m.groups);
    free(m.use);
    if (code == WT_OK)
        *out = m.plot;
    else
        wt_plot_free(m.plot);
    return code;
}

void wt_plot_free(struct wt_plot *plot)
{
    if (!plot)
        return;
    for (size_t i = 0; i < plot->text_count; i++)
        free(plot->texts[i]);
    free(plot->texts);
    free(plot->x_names);
    free(plot->y_names);
    free(plot->ticks);
    free(plot->cells);
    free(plot->series);
    free(plot->points);
    free(plot);
}

struct wt_chart *wt_plot_chart(struct wt_plot *plot)
{
    return &plot->chart;
}
