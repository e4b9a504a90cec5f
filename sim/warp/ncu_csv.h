/* A line of comma-separated values as Nsight Compute writes them; private to sim/warp. */
#ifndef WT_WARP_NCU_CSV_H
#define WT_WARP_NCU_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "core/lines.h"

struct wt_csv_line {
    char *text;     /* owned; the fields lie in it */
    size_t capacity;
    char **fields;  /* owned */
    size_t count, field_capacity;
};

/* Takes the line apart; quotes may enclose a field and are doubled inside one. Fails when a quote is not closed or there are
 * more than WT_NCU_MOST_COLUMNS fields. */
enum wt_code wt_csv_split(struct wt_csv_line *csv, const char *path, const struct wt_line *line, struct wt_error *err);

void wt_csv_clear(struct wt_csv_line *csv);

/* A number, with or without commas between its digits; false when the field is none or not finite. */
bool wt_csv_number(const char *field, double *value);

#endif
