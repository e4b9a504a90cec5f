/* What a table's columns mean, and what they hold. Private to sim/study/plot*.c. */
#ifndef WT_STUDY_PLOT_COLUMNS_H
#define WT_STUDY_PLOT_COLUMNS_H

#include <stdbool.h>

#include "study/table.h"

struct wt_column_meaning {
    const char *title; /* with the unit */
    double scale;      /* of what is shown to what the table has */
    bool result;       /* else a setting */
    int better;        /* 1: more is, -1: less is, 0: neither */
};

/* Of keys that are not known the title is the key. */
struct wt_column_meaning wt_column_meaning(const char *name);

/* The distinct values of a column in rows that have results, ascending if they are numbers, else as they come. */
struct wt_distinct {
    size_t count;
    bool numbers;
    double *values;     /* by value; NULL unless numbers */
    const char **texts; /* by value; in the table */
    size_t *of_row;     /* value of a row */
};

/* The caller clears it. `scale`: of numbers. */
struct wt_distinct wt_distinct(const struct wt_table *table, const bool *use, size_t column, double scale);
void wt_distinct_clear(struct wt_distinct *distinct);

#endif
