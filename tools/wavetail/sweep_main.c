/* wavetail sweep: many points of a study. */
#include "sweep.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "sweep_plot.h"

struct options {
    struct common common;
    struct sweep_plot plot;
    const char *study, *out;
    int threads;
    const struct sweep_workers *workers;
};

enum { KEY_OUT = 0x4001, KEY_KEYS };

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'j':
        o->threads = (int)parse_integer(state, "jobs", text, 1, 1024);
        return 0;
    case KEY_OUT:
        o->out = text;
        return 0;
    case KEY_KEYS:
        wt_sweep_print_keys(stdout);
        exit(WT_OK);
    case ARGP_KEY_ARG:
        if (o->study)
            argp_error(state, "one study at a time, not also '%s'", text);
        o->study = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which study? Give a file, e.g. one of configs/studies");
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->common;
        state->child_inputs[1] = &o->plot;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"jobs", 'j', "N", 0, "threads; default: one for each core, under mpirun one for each process", 1},
    {"out", KEY_OUT, "FILE.csv", 0, "the table, instead of standard output; what is finished is kept in FILE.csv.journal until "
     "all is, so that the same command again does only what is missing", 1},
    {"keys", KEY_KEYS, 0, 0, "print every key a study may have, and stop", 1},
    {0}};

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {&sweep_plot_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "STUDY.cfg|TABLE.csv",
    .doc = "Simulates the points of a study, and writes a table: a row for each, in order, with its settings and results. "
           "The table is the same, byte for byte, however many threads and processes work on it.\v"
           "`mpirun --enable-recovery -n N wavetail sweep STUDY.cfg --out FILE.csv` spreads the points over N processes, of which the "
           "first hands them out. When another one dies, the rest do its points. Without --enable-recovery mpirun then ends them all; "
           "the same command again goes on with what is missing, so that only the points being worked on are lost.\n"
           "\n`wavetail sweep TABLE.csv --svg FILE.svg` draws a table that is there already.",
    .children = children};

void sweep_rows(const struct wt_sweep *sweep, const size_t *points, size_t count, int threads, char **rows)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t i = 0; i < count; i++)
        rows[i] = wt_sweep_row(sweep, points[i]);
}

static enum wt_code table_of(const struct options *o, const struct wt_sweep_book *book, struct wt_table **out, struct wt_error *err)
{
    size_t size;
    char *text = wt_sweep_book_text(book, &size);
    enum wt_code code = wt_table_parse(text, size, o->study, out, err);
    free(text);
    return code;
}

static void json_cell(struct wt_json *json, const struct wt_table *table, size_t row, size_t column)
{
    const char *text = wt_table_cell(table, row, column), *name = table->names[column];
    double number = wt_table_number(table, row, column);
    if (isnan(number))
        wt_json_string(json, name, *text ? text : NULL);
    else
        wt_json_number(json, name, number, 15);
}

static void json_rows(struct wt_json *json, const struct wt_table *table)
{
    wt_json_array(json, "rows");
    for (size_t row = 0; row < table->rows; row++) {
        wt_json_object(json, NULL);
        for (size_t column = 0; column < table->columns; column++)
            json_cell(json, table, row, column);
        wt_json_close(json);
    }
    wt_json_close(json);
}

/* With the table, where it is in no file. */
static enum wt_code report(const struct options *o, const struct wt_sweep *sweep, const struct wt_sweep_book *book, size_t reused,
                           struct wt_error *err)
{
    struct wt_table *table = NULL;
    if (!o->out)
        WT_TRY(table_of(o, book, &table, err));
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "study", o->study);
    wt_json_string(&json, "title", wt_sweep_title(sweep));
    wt_json_string(&json, "out", o->out);
    wt_json_int(&json, "points", (int64_t)wt_sweep_count(sweep));
    wt_json_int(&json, "points_from_journal", (int64_t)reused);
    if (table)
        json_rows(&json, table);
    wt_json_close(&json);
    wt_json_end(&json);
    wt_table_free(table);
    return WT_OK;
}

static enum wt_code draw(const struct options *o, const struct wt_sweep *sweep, const struct wt_sweep_book *book, struct wt_error *err)
{
    struct wt_table *table = NULL;
    WT_TRY(table_of(o, book, &table, err));
    enum wt_code code = sweep_plot_draw(&o->plot, table, wt_sweep_plot(sweep), wt_sweep_title(sweep), o->study, err);
    wt_table_free(table);
    return code;
}

/* A table without its study: the title is the file's name. */
static enum wt_code draw_table(const struct options *o, struct wt_error *err)
{
    const char *slash = strrchr(o->study, '/');
    struct wt_table *table = NULL;
    if (!sweep_plot_any(&o->plot))
        return wt_fail_at(err, o->study, 0, "is a table, which can only be drawn: give --svg, --png or --pdf, or name a study");
    WT_TRY(wt_table_read(o->study, &table, err));
    enum wt_code code = sweep_plot_draw(&o->plot, table, NULL, slash ? slash + 1 : o->study, o->study, err);
    wt_table_free(table);
    return code;
}

static bool is_table(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".csv");
}

static enum wt_code lead(const struct options *o, const struct wt_sweep *sweep, struct sweep_work *work, struct wt_error *err)
{
    WT_TRY(wt_sweep_book_open(sweep, o->out, &work->book, err));
    size_t reused = wt_sweep_book_done(work->book);
    if (reused > 0 && !o->common.quiet)
        fprintf(stderr, "%zu of %zu points are in %s.journal\n", reused, wt_sweep_count(sweep), o->out);
    struct progress progress = progress_begin_things(wt_sweep_count(sweep) - reused, "points", o->common.quiet);
    work->progress = &progress;
    enum wt_code code = o->workers->work(work, err);
    progress_end(&progress);
    WT_TRY(code);
    bool taken = sweep_plot_takes_stdout(&o->plot), json = o->common.json && !taken;
    if (o->out || !(taken || json))
        WT_TRY(wt_sweep_book_finish(work->book, err));
    if (sweep_plot_any(&o->plot))
        WT_TRY(draw(o, sweep, work->book, err));
    return json ? report(o, sweep, work->book, reused, err) : WT_OK;
}

enum wt_code sweep_main(int argc, char **argv, const struct sweep_workers *workers, struct wt_error *err)
{
    struct options o = {.workers = workers};
    WT_TRY(parse_arguments(&argp, argc, argv, &o));
    if (is_table(o.study))
        return workers->rank == 0 ? draw_table(&o, err) : WT_OK;
    struct wt_sweep_setup setup = {o.common.gpu, o.common.seed, o.common.seed_given};
    struct wt_sweep *sweep = NULL;
    WT_TRY(wt_sweep_read(o.study, &setup, &sweep, err));
    int threads = o.threads ? o.threads : workers->default_threads ? workers->default_threads : omp_get_max_threads();
    struct sweep_work work = {.sweep = sweep, .threads = threads};
    enum wt_code code = workers->rank == 0 ? lead(&o, sweep, &work, err) : workers->work(&work, err);
    wt_sweep_book_free(work.book);
    wt_sweep_free(sweep);
    return code;
}
