/* What Nsight Compute prints: `ncu -i REPORT --page source --csv` (per instruction) and `--page raw --csv` (per launch). */
#ifndef WT_WARP_NCU_H
#define WT_WARP_NCU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"

enum { WT_NCU_MOST_COLUMNS = 8192 };

/* An instruction of the source page. Counts are sums over the launch; a column that is not there leaves 0. */
struct wt_ncu_row {
    uint32_t address;      /* bytes from the kernel's first instruction */
    double executed;       /* "Instructions Executed": warps */
    double threads;        /* "Thread Instructions Executed" */
    double threads_on;     /* "Predicated-On Thread Instructions Executed"; of a branch: that take it */
    double divergent;      /* "Divergent Branches": executions after which the warp's threads went both ways */
    double tags;           /* "L1 Tag Requests Global" */
    double sectors;        /* "L2 Theoretical Sectors Global" */
    double wavefronts;     /* "L1 Wavefronts Shared" */
    double ways;           /* "L1 Conflicts Shared N-Way": wavefronts of an execution, where those are not there */
    double samples;        /* "# Samples" */
};

struct wt_ncu_source {
    char *kernel; /* "k_fma(Arg)"; owned; "" when the page does not say */
    struct wt_ncu_row *rows; /* by address; owned; at least one */
    size_t count, capacity;
};

/* Streams the file, plain or zstd, up to the end of the first page that fits: `kernel` is the function's name, as in
 * "matmul" or "matmul(float *)"; NULL: the first page. On failure *out is NULL. */
enum wt_code wt_ncu_source_read(const char *path, const char *kernel, struct wt_ncu_source **out, struct wt_error *err);
enum wt_code wt_ncu_source_read_memory(const char *name, const void *data, size_t size, const char *kernel,
                                       struct wt_ncu_source **out, struct wt_error *err);

/* Whether the file begins as a source page does, rather than a raw page. Fails where it cannot be read. */
enum wt_code wt_ncu_is_source(const char *path, bool *is_source, struct wt_error *err);

/* The page with the columns above alone: read again, it is the same. */
void wt_ncu_source_write(const struct wt_ncu_source *source, FILE *stream);

/* NULL is allowed. */
void wt_ncu_source_free(struct wt_ncu_source *source);

/* The raw page: a row per launch. */
struct wt_ncu_metrics {
    char **names;  /* of the columns; owned */
    size_t columns;
    char **cells;  /* rows × columns, owned; NULL: empty */
    long *lines;   /* of each row, in the file; owned */
    size_t rows;
};

/* At least one row. On failure *out is NULL. */
enum wt_code wt_ncu_metrics_read(const char *path, struct wt_ncu_metrics **out, struct wt_error *err);
enum wt_code wt_ncu_metrics_read_memory(const char *name, const void *data, size_t size, struct wt_ncu_metrics **out,
                                        struct wt_error *err);

/* NULL is allowed. */
void wt_ncu_metrics_free(struct wt_ncu_metrics *metrics);

/* The cell, or NULL when it is empty or there is no such column. */
const char *wt_ncu_text(const struct wt_ncu_metrics *metrics, size_t row, const char *column);

/* The cell's number ("3,265" is 3265); false when there is none. */
bool wt_ncu_number(const struct wt_ncu_metrics *metrics, size_t row, const char *column, double *value);

#endif
