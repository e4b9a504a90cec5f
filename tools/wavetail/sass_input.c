#include "sass_input.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/warps.h"
#include "warp/classes.h"

enum { KEY_KERNEL = 0x3201, KEY_SOURCE, KEY_METRICS, KEY_TRIP, KEY_WORDS, KEY_WORK, KEY_TRACE, KEY_L1, KEY_L2, GROUP = 6 };

/* ---- Command line ---- */

static double parse_number(struct argp_state *state, const char *option, const char *text, double most)
{
    char *rest;
    double value = strtod(text, &rest);
    if (rest == text || *rest || !(value >= 0 && value <= most))
        argp_error(state, "%s takes a number from 0 to %g, not '%s'", option, most, text);
    return value;
}

static void parse_trip(struct argp_state *state, const char *text, struct sass_input *input)
{
    if (input->trip_count == MOST_TRIPS)
        argp_error(state, "at most %d --trip", MOST_TRIPS);
    else if (!wt_trip_parse(text, &input->trips[input->trip_count++]))
        argp_error(state, "--trip takes ADDRESS=N, =work, =N*work, =A..B or =~N, as in 0x820=16; not '%s'", text);
}

static void parse_words(struct argp_state *state, const char *text, struct sass_input *input)
{
    if (input->words_count == MOST_TRIPS)
        argp_error(state, "at most %d --atomic-words", MOST_TRIPS);
    else if (!wt_atomic_words_parse(text, &input->words[input->words_count++]))
        argp_error(state, "--atomic-words takes ADDRESS=N, as in 0x820=256; not '%s'", text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct sass_input *input = state->input;
    switch (key) {
    case KEY_KERNEL:
        input->kernel = text;
        return 0;
    case KEY_SOURCE:
        input->source = text;
        return 0;
    case KEY_METRICS:
        input->metrics = text;
        return 0;
    case KEY_TRIP:
        parse_trip(state, text, input);
        return 0;
    case KEY_WORDS:
        parse_words(state, text, input);
        return 0;
    case KEY_WORK:
        input->work = parse_number(state, "--work", text, 1e9);
        return 0;
    case KEY_TRACE:
        input->trace = text;
        return 0;
    case KEY_L1:
        input->l1_hit = parse_number(state, "--l1-hit", text, 1);
        return 0;
    case KEY_L2:
        input->l2_hit = parse_number(state, "--l2-hit", text, 1);
        return 0;
    case ARGP_KEY_END:
        if (input->metrics && !input->source)
            argp_error(state, "--ncu-metrics takes --ncu-source, too: it says what the loads are");
        return 0;
    case ARGP_KEY_INIT:
        input->work = input->l1_hit = input->l2_hit = -1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {0, 0, 0, 0, "A kernel from SASS:", GROUP},
    {"kernel", KEY_KERNEL, "NAME", 0, "which function, where the files hold several", GROUP},
    {"ncu-source", KEY_SOURCE, "FILE.csv", 0, "its counts: output of ncu -i REPORT --page source --csv", GROUP},
    {"ncu-metrics", KEY_METRICS, "FILE.csv", 0, "its hit rates in L1 and L2: output of ncu -i REPORT --page raw --csv", GROUP},
    {"trip", KEY_TRIP, "ADDR=N|work|N*work|A..B|~N", 0,
     "how often the loop runs whose branch back stands at ADDR (repeatable); A..B: each warp "
     "draws one of these, ~N: geometric, N on average", GROUP},
    {"atomic-words", KEY_WORDS, "ADDR=N", 0,
     "how many words all of the grid's executions of the atomic at ADDR meet in (repeatable)", GROUP},
    {"work", KEY_WORK, "N", 0, "the `work` of --trip", GROUP},
    {"trace", KEY_TRACE, "TRACE", 0, "its blocks' `work` is that of this trace's first launch", GROUP},
    {"l1-hit", KEY_L1, "0..1", 0, "part of global sectors that hit in L1", GROUP},
    {"l2-hit", KEY_L2, "0..1", 0, "part of L1's misses that hit in L2", GROUP},
    {0}};

const struct argp sass_input_argp = {.options = options, .parser = parse};

/* ---- Reading ---- */

double *sass_kernel_work(const struct sass_kernel *kernel, size_t *count)
{
    if (!kernel->trace)
        return NULL;
    const struct wt_trace_row *rows = wt_trace_rows_of(kernel->trace, 0);
    *count = kernel->trace->launches[0].row_count;
    double *work = wt_alloc(*count, sizeof *work);
    for (size_t i = 0; i < *count; i++)
        work[i] = (double)rows[i].work;
    return work;
}

static double mean_work(const struct sass_kernel *kernel)
{
    size_t count = 0;
    double sum = 0, *work = sass_kernel_work(kernel, &count);
    for (size_t i = 0; i < count; i++)
        sum += work[i];
    free(work);
    return count > 0 ? sum / (double)count : 0;
}

static enum wt_code read_trace(const char *path, struct sass_kernel *kernel, struct wt_error *err)
{
    WT_TRY(wt_trace_read(path, &kernel->trace, err));
    if (!kernel->trace->has_work)
        return wt_fail_at(err, path, 0, "does not tell its blocks' work; give --work N instead");
    if (kernel->trace->launches[0].tasks || kernel->trace->launches[0].row_count == 0)
        return wt_fail_at(err, path, 0, "its first launch has no rows of its blocks alone; take a trace of an ordinary launch");
    return WT_OK;
}

/* The launch's row; -1: none. */
static long row_of(const struct wt_ncu_metrics *metrics, const struct sass_kernel *kernel, const struct sass_shape *shape)
{
    return wt_ncu_launch(metrics, kernel->function->name, shape->blocks, (uint64_t)shape->threads,
                         (uint64_t)shape->static_shared, (uint64_t)shape->dynamic_shared);
}

/* What the user gave goes before what the counters say. */
static enum wt_code find_hits(const struct sass_input *input, const struct sass_kernel *kernel, const struct sass_shape *shape,
                              struct wt_hit_rates *hits, struct wt_error *err)
{
    *hits = WT_HITS_UNKNOWN;
    if (input->metrics) {
        struct wt_ncu_metrics *metrics;
        WT_TRY(wt_ncu_metrics_read(input->metrics, &metrics, err));
        long row = row_of(metrics, kernel, shape);
        if (row >= 0)
            *hits = wt_hit_rates_of(metrics, (size_t)row, kernel->function, kernel->source);
        wt_ncu_metrics_free(metrics);
        if (row < 0)
            return wt_fail_at(err, input->metrics, 0, "has no launch of %s with this grid, block and shared memory",
                              kernel->function->name);
    }
    if (input->l1_hit >= 0)
        hits->l1 = hits->l1_random = input->l1_hit;
    if (input->l2_hit >= 0)
        hits->l2 = hits->l2_part = input->l2_hit;
    return WT_OK;
}

enum wt_code sass_kernel_read(const char *path, const struct sass_input *input, const struct sass_shape *shape,
                              struct sass_kernel *kernel, struct wt_error *err)
{
    *kernel = (struct sass_kernel){0};
    WT_TRY(wt_sass_read(path, &kernel->sass, err));
    WT_TRY(wt_sass_find(kernel->sass, path, input->kernel, &kernel->function, err));
    if (input->source)
        WT_TRY(wt_ncu_source_read(input->source, input->kernel, &kernel->source, err));
    if (input->trace)
        WT_TRY(read_trace(input->trace, kernel, err));
    struct wt_sass_setup setup = {.path = path,
                                  .function = kernel->function,
                                  .source = kernel->source,
                                  .trips = input->trips,
                                  .trip_count = input->trip_count,
                                  .words = input->words,
                                  .words_count = input->words_count,
                                  .threads_per_block = shape->threads};
    WT_TRY(find_hits(input, kernel, shape, &setup.hits, err));
    WT_TRY(wt_program_from_sass(&setup, &kernel->program, &kernel->report, err));
    kernel->program->work = input->work >= 0 ? input->work : mean_work(kernel);
    return WT_OK;
}

void sass_kernel_clear(struct sass_kernel *kernel)
{
    wt_program_free(kernel->program);
    wt_trace_free(kernel->trace);
    wt_ncu_source_free(kernel->source);
    wt_sass_free(kernel->sass);
    *kernel = (struct sass_kernel){0};
}

void sass_kernel_json(const struct sass_kernel *kernel, struct wt_json *json)
{
    const struct wt_sass_report *report = &kernel->report;
    wt_json_int(json, "assumed_loops", report->assumed_loops);
    wt_json_int(json, "assumed_branches", report->assumed_branches);
    wt_json_int(json, "unknown_instructions", report->unknown_count);
    wt_json_array(json, "unknown_opcodes");
    for (int i = 0; i < report->unknown_names; i++) {
        wt_json_object(json, NULL);
        wt_json_string(json, "opcode", report->unknown[i].name);
        wt_json_int(json, "count", report->unknown[i].count);
        wt_json_string(json, "class", wt_classes[report->unknown[i].op].name);
        wt_json_close(json);
    }
    wt_json_close(json);
}

void sass_kernel_warn(FILE *stream, const char *prefix, const struct sass_kernel *kernel)
{
    const struct wt_sass_report *report = &kernel->report;
    int named = 0;
    for (int i = 0; i < report->unknown_names; i++) {
        fprintf(stream, "%sopcode %s is not known (%d times); taken as '%s'\n", prefix, report->unknown[i].name,
                report->unknown[i].count, wt_classes[report->unknown[i].op].name);
        named += report->unknown[i].count;
    }
    if (report->unknown_count > named)
        fprintf(stream, "%s%d more instructions of unknown opcodes\n", prefix, report->unknown_count - named);
    if (report->assumed_loops)
        fprintf(stream, "%s%d loops run once, since nothing says how often; give --ncu-source or --trip ADDR=N\n", prefix,
                report->assumed_loops);
    if (report->assumed_branches)
        fprintf(stream, "%s%d branches are not taken, since nothing says how often; give --ncu-source\n", prefix,
                report->assumed_branches);
}
