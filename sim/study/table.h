/* A table of comma-separated values with a line of column names, such as a sweep leaves. */
#ifndef WT_STUDY_TABLE_H
#define WT_STUDY_TABLE_H

#include <stddef.h>

#include "core/status.h"

struct wt_table {
    size_t columns, rows;
    char **names; /* of the columns; owned */
    char **cells; /* row by row; owned */
};

/* From a file, or from its bytes (`path` names them in messages). Fails with FILE:LINE where a row has not as many cells as there
 * are names. On failure *out is NULL. */
enum wt_code wt_table_read(const char *path, struct wt_table **out, struct wt_error *err);
enum wt_code wt_table_parse(const char *text, size_t size, const char *path, struct wt_table **out, struct wt_error *err);
/* NULL is allowed. */
void wt_table_free(struct wt_table *table);

/* The column's index, or table->columns. */
size_t wt_table_column(const struct wt_table *table, const char *name);
const char *wt_table_cell(const struct wt_table *table, size_t row, size_t column);
/* NaN where the cell is no number. */
double wt_table_number(const struct wt_table *table, size_t row, size_t column);

#endif
