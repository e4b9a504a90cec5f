#include "study/table.h"

#include <csv.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/mem.h"

struct reading {
    struct wt_table *table;
    char **fields; /* of all rows, names first */
    size_t count, capacity;
    size_t row_begin; /* in fields */
    size_t bad_row;   /* from 1; 0: none */
};

static void take_field(void *data, size_t length, void *context)
{
    struct reading *r = context;
    r->fields = wt_grow(r->fields, &r->capacity, r->count + 1, sizeof *r->fields);
    r->fields[r->count++] = wt_format("%.*s", (int)length, (const char *)data);
}

static void end_row(int last, void *context)
{
    struct reading *r = context;
    (void)last;
    size_t cells = r->count - r->row_begin;
    if (r->table->columns == 0)
        r->table->columns = cells;
    else
        r->table->rows++;
    if (cells != r->table->columns && r->bad_row == 0)
        r->bad_row = r->table->rows + 1;
    r->row_begin = r->count;
}

/* The fields become the table's, or are freed. */
static enum wt_code finish(struct reading *r, const char *path, const char *trouble, struct wt_error *err)
{
    struct wt_table *table = r->table;
    enum wt_code code = WT_OK;
    if (trouble)
        code = wt_fail_at(err, path, (long)table->rows + 1, "is not a table of comma-separated values (%s)", trouble);
    else if (table->columns == 0)
        code = wt_fail_at(err, path, 1, "is empty; give a table that `wavetail sweep` wrote");
    else if (r->bad_row > 0)
        code = wt_fail_at(err, path, (long)r->bad_row, "has not the %zu cells that line 1 names; the table is damaged or cut off",
                          table->columns);
    size_t kept = code == WT_OK ? r->count : 0;
    for (size_t i = kept; i < r->count; i++)
        free(r->fields[i]);
    size_t names = kept < table->columns ? 0 : table->columns;
    table->names = wt_alloc(names, sizeof *table->names);
    table->cells = wt_alloc(kept - names, sizeof *table->cells);
    for (size_t i = 0; i < kept; i++)
        *(i < names ? &table->names[i] : &table->cells[i - names]) = r->fields[i];
    if (code != WT_OK)
        table->columns = table->rows = 0;
    free(r->fields);
    return code;
}

enum wt_code wt_table_parse(const char *text, size_t size, const char *path, struct wt_table **out, struct wt_error *err)
{
    struct reading r = {.table = wt_alloc(1, sizeof *r.table)};
    struct csv_parser csv;
    *out = NULL;
    csv_init(&csv, CSV_STRICT | CSV_STRICT_FINI);
    bool whole = csv_parse(&csv, text, size, take_field, end_row, &r) == size && csv_fini(&csv, take_field, end_row, &r) == 0;
    enum wt_code code = finish(&r, path, whole ? NULL : csv_strerror(csv_error(&csv)), err);
    csv_free(&csv);
    if (code == WT_OK)
        *out = r.table;
    else
        wt_table_free(r.table);
    return code;
}

enum wt_code wt_table_read(const char *path, struct wt_table **out, struct wt_error *err)
{
    char *text;
    size_t size;
    *out = NULL;
    WT_TRY(wt_config_load(path, &text, &size, err));
    enum wt_code code = wt_table_parse(text, size, path, out, err);
    free(text);
    return code;
}

void wt_table_free(struct wt_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->columns; i++)
        free(table->names[i]);
    for (size_t i = 0; i < table->rows * table->columns; i++)
        free(table->cells[i]);
    free(table->names);
    free(table->cells);
    free(table);
}

size_t wt_table_column(const struct wt_table *table, const char *name)
{
    size_t column = 0;
    while (column < table->columns && strcmp(table->names[column], name))
        column++;
    return column;
}

const char *wt_table_cell(const struct wt_table *table, size_t row, size_t column)
{
    return table->cells[row * table->columns + column];
}

double wt_table_number(const struct wt_table *table, size_t row, size_t column)
{
    const char *cell = wt_table_cell(table, row, column);
    char *end;
    double value = strtod(cell, &end);
    return *cell && !*end && isfinite(value) ? value : NAN;
}
