#include "study/validate.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"

/* The length of "FOLDER/NAME" in "FOLDER/NAME.rN.csv.zst", or 0 without ".rN.". */
static size_t repeated_name(const char *path)
{
    const char *base = strrchr(path, '/');
    for (const char *c = base ? base : path; *c; c++) {
        if (c[0] != '.' || c[1] != 'r' || !isdigit((unsigned char)c[2]))
            continue;
        const char *end = c + 2;
        while (isdigit((unsigned char)*end))
            end++;
        if (*end == '.' || *end == '\0')
            return (size_t)(c - path);
    }
    return 0;
}

/* The first row of which `row` is another repetition, or NULL. */
static const struct wt_validation_row *first_repetition(const struct wt_validation_row *rows, size_t row)
{
    size_t length = repeated_name(rows[row].path);
    for (size_t i = 0; length > 0 && i < row; i++)
        if (rows[i].replay && repeated_name(rows[i].path) == length &&
            !strncmp(rows[i].path, rows[row].path, length))
            return &rows[i];
    return NULL;
}

/* Sorts. NaN when empty. */
static double quantile(double *values, size_t count, unsigned percent)
{
    wt_sort_numbers(values, count);
    return wt_quantile(values, count, percent);
}

/* Tasks by their own number. */
static int by_launch_and_block(const void *left, const void *right)
{
    const struct wt_block_run *a = left, *b = right;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

static struct wt_block_run *spans_by_block(const struct wt_timeline *timeline)
{
    struct wt_block_run *spans = wt_alloc(timeline->span_count, sizeof *spans);
    memcpy(spans, timeline->spans, timeline->span_count * sizeof *spans);
    qsort(spans, timeline->span_count, sizeof *spans, by_launch_and_block);
    return spans;
}

static double start_difference(const struct wt_timeline *a, const struct wt_timeline *b)
{
    size_t count = a->span_count;
    if (count != b->span_count)
        return NAN;
    struct wt_block_run *left = spans_by_block(a), *right = spans_by_block(b);
    double *differences = wt_alloc(count, sizeof *differences);
    for (size_t i = 0; i < count; i++)
        differences[i] = fabs(wt_to_cycles(left[i].start) - wt_to_cycles(right[i].start));
    double median = quantile(differences, count, 50);
    free(differences);
    free(left);
    free(right);
    return median;
}

static void compare_repetition(struct wt_validation_row *rows, size_t row)
{
    rows[row].repeat_start_p50 = rows[row].repeat_makespan = NAN;
    const struct wt_validation_row *first = rows[row].replay ? first_repetition(rows, row) : NULL;
    if (!first)
        return;
    const struct wt_replay *a = first->replay, *b = rows[row].replay;
    rows[row].repeat_start_p50 = start_difference(a->measured, b->measured);
    rows[row].repeat_makespan = fabs(b->whole.makespan_measured - a->whole.makespan_measured) / a->whole.makespan_measured;
}

struct columns {
    double *makespan, *p50, *p95, *match, *repeat_start, *repeat_makespan;
    size_t count, repeated;
};

static void collect(const struct wt_validation_row *row, struct columns *columns)
{
    if (!row->replay)
        return;
    const struct wt_replay_part *whole = &row->replay->whole;
    size_t i = columns->count++;
    columns->makespan[i] = fabs(whole->makespan_error);
    columns->p50[i] = whole->start_error_p50;
    columns->p95[i] = whole->start_error_p95;
    columns->match[i] = whole->first_wave_placement_match;
    if (isnan(row->repeat_start_p50))
        return;
    columns->repeat_start[columns->repeated] = row->repeat_start_p50;
    columns->repeat_makespan[columns->repeated++] = row->repeat_makespan;
}

char *wt_validation_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? wt_format("%.*s", (int)(slash - path), path) : wt_strdup("");
}

static bool is_in(const struct wt_validation_row *row, const char *folder)
{
    char *its = wt_validation_folder(row->path);
    bool same = !strcmp(its, folder);
    free(its);
    return same;
}

/* `folder` NULL: all rows. */
static struct wt_validation_summary sum_up(const struct wt_validation_row *rows, size_t count, const char *folder)
{
    double *room = wt_alloc(6 * count, sizeof *room);
    struct columns c = {room, room + count, room + 2 * count, room + 3 * count, room + 4 * count, room + 5 * count, 0, 0};
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (folder && !is_in(&rows[i], folder))
            continue;
        failed += !rows[i].replay;
        collect(&rows[i], &c);
    }
    struct wt_validation_summary summary = {
        .replayed = c.count,
        .failed = failed,
        .makespan_error_p50 = quantile(c.makespan, c.count, 50),
        .makespan_error_p95 = quantile(c.makespan, c.count, 95),
        .start_error_p50 = quantile(c.p50, c.count, 50),
        .start_error_p95 = quantile(c.p95, c.count, 50),
        .first_wave_match_p50 = quantile(c.match, c.count, 50),
        .repeated = c.repeated,
        .repeat_start_p50 = quantile(c.repeat_start, c.repeated, 50),
        .repeat_makespan_p50 = quantile(c.repeat_makespan, c.repeated, 50),
    };
    free(room);
    return summary;
}

struct wt_validation_summary wt_validation_of_folder(const struct wt_validation_row *rows, size_t count, const char *folder)
{
    return sum_up(rows, count, folder);
}

void wt_validate(const char *const *paths, size_t count, const struct wt_replay_setup *setup,
                 const struct wt_validation_progress *progress, struct wt_validation_row *rows,
                 struct wt_validation_summary *summary)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct wt_validation_row){.path = paths[i]};
        wt_replay_trace(paths[i], setup, &rows[i].replay, &rows[i].error);
        if (progress) {
#pragma omp critical(wt_validation_progress)
            progress->trace_done(progress->context);
        }
    }
    for (size_t i = 0; i < count; i++)
        compare_repetition(rows, i);
    *summary = sum_up(rows, count, NULL);
}

void wt_validation_clear(struct wt_validation_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wt_replay_free(rows[i].replay);
}
