#include <stdlib.h>
#include <string.h>

#include "core/lines.h"
#include "core/mem.h"
#include "warp/ncu.h"
#include "warp/ncu_csv.h"

struct reader {
    const char *path;
    struct wt_ncu_metrics *metrics;
    struct wt_csv_line csv;
    size_t cell_capacity, line_capacity;
};

static void take_header(struct reader *reader)
{
    struct wt_ncu_metrics *metrics = reader->metrics;
    metrics->columns = reader->csv.count;
    metrics->names = wt_alloc(metrics->columns, sizeof *metrics->names);
    for (size_t i = 0; i < metrics->columns; i++)
        metrics->names[i] = wt_strdup(reader->csv.fields[i]);
}

static bool is_header(const struct wt_csv_line *csv)
{
    for (size_t i = 0; i < csv->count; i++)
        if (!strcmp(csv->fields[i], "Kernel Name"))
            return true;
    return false;
}

/* The line below the header: units, and nothing where a launch has its name. */
static bool is_units(const struct reader *reader)
{
    for (size_t i = 0; i < reader->csv.count; i++)
        if (!strcmp(reader->metrics->names[i], "Kernel Name"))
            return !reader->csv.fields[i][0];
    return true;
}

static enum wt_code take_row(struct reader *reader, const struct wt_line *line, struct wt_error *err)
{
    struct wt_ncu_metrics *metrics = reader->metrics;
    if (reader->csv.count > metrics->columns)
        return wt_fail_at(err, reader->path, line->number, "has %zu columns, the header %zu; copy the page again",
                          reader->csv.count, metrics->columns);
    if (is_units(reader))
        return WT_OK;
    metrics->lines = wt_grow(metrics->lines, &reader->line_capacity, metrics->rows + 1, sizeof *metrics->lines);
    metrics->lines[metrics->rows] = line->number;
    size_t first = metrics->rows++ * metrics->columns;
    metrics->cells = wt_grow(metrics->cells, &reader->cell_capacity, first + metrics->columns, sizeof *metrics->cells);
    for (size_t i = 0; i < metrics->columns; i++)
        metrics->cells[first + i] = i < reader->csv.count && reader->csv.fields[i][0] ? wt_strdup(reader->csv.fields[i]) : NULL;
    return WT_OK;
}

static enum wt_code read_lines(struct reader *reader, struct wt_lines *lines, struct wt_error *err)
{
    for (bool more = true;;) {
        struct wt_line line;
        WT_TRY(wt_lines_next(lines, &line, &more, err));
        if (!more)
            break;
        if (!line.length || !memcmp(line.text, "==", line.length > 1 ? 2 : line.length))
            continue;
        WT_TRY(wt_csv_split(&reader->csv, reader->path, &line, err));
        if (reader->metrics->names)
            WT_TRY(take_row(reader, &line, err));
        else if (is_header(&reader->csv))
            take_header(reader);
    }
    if (reader->metrics->rows == 0)
        return wt_fail_at(err, reader->path, 0, "has no launch; give the output of ncu --page raw --csv");
    return WT_OK;
}

static enum wt_code read_all(const char *path, struct wt_lines *lines, struct wt_ncu_metrics **out, struct wt_error *err)
{
    struct reader reader = {.path = path, .metrics = wt_alloc(1, sizeof *reader.metrics)};
    enum wt_code code = read_lines(&reader, lines, err);
    wt_lines_close(lines);
    wt_csv_clear(&reader.csv);
    if (code == WT_OK)
        *out = reader.metrics;
    else
        wt_ncu_metrics_free(reader.metrics);
    return code;
}

enum wt_code wt_ncu_metrics_read(const char *path, struct wt_ncu_metrics **out, struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open(path, &lines, err));
    return read_all(path, lines, out, err);
}

enum wt_code wt_ncu_metrics_read_memory(const char *name, const void *data, size_t size, struct wt_ncu_metrics **out,
                                        struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open_memory(name, data, size, &lines, err));
    return read_all(name, lines, out, err);
}

void wt_ncu_metrics_free(struct wt_ncu_metrics *metrics)
{
    if (!metrics)
        return;
    for (size_t i = 0; i < metrics->columns; i++)
        free(metrics->names[i]);
    for (size_t i = 0; i < metrics->rows * metrics->columns; i++)
        free(metrics->cells[i]);
    free(metrics->names);
    free(metrics->cells);
    free(metrics->lines);
    free(metrics);
}

const char *wt_ncu_text(const struct wt_ncu_metrics *metrics, size_t row, const char *column)
{
    for (size_t i = 0; i < metrics->columns; i++)
        if (!strcmp(metrics->names[i], column))
            return metrics->cells[row * metrics->columns + i];
    return NULL;
}

bool wt_ncu_number(const struct wt_ncu_metrics *metrics, size_t row, const char *column, double *value)
{
    const char *text = wt_ncu_text(metrics, row, column);
    return text && wt_csv_number(text, value);
}
