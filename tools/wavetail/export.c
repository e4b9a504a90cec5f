#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "observe/measured.h"
#include "observe/result.h"
#include "observe/words.h"
#include "outputs.h"

struct arguments {
    struct common common;
    struct outputs outputs;
    const char *inputs[2]; /* the second may be NULL */
};

static void refuse_tables(struct argp_state *state, const struct outputs *outputs)
{
    for (int i = 0; i < WT_EXPORTERS; i++)
        if (outputs->path[i] && !outputs_shows_two(i))
            argp_error(state, "two files can be compared in pictures and pages, not with --%s", wt_exporters[i]->name);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "one file, or two to compare, but not also '%s'", text);
        arguments->inputs[state->arg_num] = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which trace or result file?");
        return 0;
    case ARGP_KEY_END:
        if (arguments->inputs[1])
            refuse_tables(state, &arguments->outputs);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        state->child_inputs[1] = &arguments->outputs;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&common_argp, 0, "Common options:", 1}, {&outputs_argp, 0, 0, 2}, {0}};

static const struct argp argp = {
    .parser = parse,
    .args_doc = "TRACE|RESULT [SECOND]",
    .doc = "Makes pictures and other files from a captured trace, or from a result file that --save left; of two of them, a "
           "picture or a page that shows both on one clock.\v"
           "Without a file to write, or with --json, prints the metrics; of a deadlock, who waits for whom. Occupancy in per cent needs "
           "the GPU's limits: the GPU is the one the trace names unless --gpu names another.",
    .children = children};

/* What a trace does not tell: how many warps an SM can hold. An unknown GPU is no failure. */
static enum wt_code add_limits(struct wt_timeline *timeline, const char *gpu_name, struct wt_error *err)
{
    struct wt_gpu *gpu = NULL;
    if (gpu_name)
        WT_TRY(wt_gpu_load(gpu_name, &gpu, err));
    else
        gpu = wt_gpu_of_device(timeline->gpu_name);
    if (gpu)
        timeline->warps_per_sm = gpu->limits.warps_per_sm;
    wt_gpu_free(gpu);
    return WT_OK;
}

static enum wt_code align(const struct wt_trace *trace, struct wt_timeline **out, struct wt_error *err)
{
    struct wt_clocks *clocks;
    WT_TRY(wt_clocks_fit(trace, &clocks, err));
    enum wt_code code = wt_timeline_from_trace(trace, clocks, out, err);
    wt_clocks_free(clocks);
    return code;
}

static enum wt_code load_trace(const char *path, const char *gpu_name, struct wt_timeline **out, struct wt_error *err)
{
    struct wt_trace *trace;
    WT_TRY(wt_trace_read(path, &trace, err));
    enum wt_code code = align(trace, out, err);
    wt_trace_free(trace);
    return code == WT_OK ? add_limits(*out, gpu_name, err) : code;
}

/* A deadlock has no makespan to tell. */
static void print_deadlock(const char *heading, const struct wt_timeline *timeline)
{
    char since[WT_WORDS];
    printf("%s %s: nothing happens any more from %s on; %s\n", heading, timeline->title,
           wt_words_cycles(since, wt_to_cycles(wt_timeline_stuck_after(timeline))), timeline->stuck);
}

static void print_one(const char *heading, struct wt_timeline *timeline)
{
    if (!timeline)
        return;
    if (timeline->stuck) {
        print_deadlock(heading, timeline);
        return;
    }
    struct wt_metrics *metrics = wt_metrics_of_timeline(timeline);
    printf("%s ", heading);
    wt_metrics_print(stdout, metrics);
    wt_metrics_free(metrics);
}

static void json_deadlock(struct wt_json *json, const char *key, const struct wt_timeline *timeline)
{
    wt_json_object(json, key);
    wt_json_string(json, "deadlock", timeline->stuck + strlen("deadlock: "));
    wt_json_number(json, "stuck_since", wt_to_cycles(wt_timeline_stuck_after(timeline)), 12);
    wt_json_close(json);
}

static void json_one(struct wt_json *json, const char *key, struct wt_timeline *timeline)
{
    if (!timeline)
        return;
    if (timeline->stuck) {
        json_deadlock(json, key, timeline);
        return;
    }
    struct wt_metrics *metrics = wt_metrics_of_timeline(timeline);
    wt_metrics_json(json, key, metrics);
    wt_metrics_free(metrics);
}

static void report(const struct wt_result *result, bool as_json)
{
    if (!as_json) {
        print_one("Measured", result->measured);
        print_one("Simulated", result->simulated);
        return;
    }
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    json_one(&json, "measured", result->measured);
    json_one(&json, "simulated", result->simulated);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code load(const char *path, const char *gpu_name, struct wt_result *out, struct wt_error *err)
{
    *out = (struct wt_result){0};
    return wt_result_recognise(path) ? wt_result_load(path, out, err) : load_trace(path, gpu_name, &out->measured, err);
}

static enum wt_code export_one(const struct arguments *arguments, struct wt_error *err)
{
    struct wt_result result;
    enum wt_code code = load(arguments->inputs[0], arguments->common.gpu, &result, err);
    if (code == WT_OK)
        code = outputs_write(&arguments->outputs, result.simulated, result.measured, err);
    if (code == WT_OK && (arguments->common.json || !outputs_any(&arguments->outputs)))
        report(&result, arguments->common.json);
    wt_result_clear(&result);
    return code;
}

/* ---- Two ---- */

/* The file's name, or all of the path where both are called alike. */
static const char *label_of(const char *const paths[2], int which)
{
    const char *names[2];
    for (int i = 0; i < 2; i++)
        names[i] = strrchr(paths[i], '/') ? strrchr(paths[i], '/') + 1 : paths[i];
    return strcmp(names[0], names[1]) ? names[which] : paths[which];
}

static void report_two(const char *const labels[2], struct wt_timeline *const timelines[2], bool as_json)
{
    if (!as_json) {
        for (int i = 0; i < 2; i++)
            print_one(labels[i], timelines[i]);
        return;
    }
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    json_one(&json, "first", timelines[0]);
    json_one(&json, "second", timelines[1]);
    wt_json_close(&json);
    wt_json_end(&json);
}

/* Of a result that holds both, the simulation. */
static struct wt_timeline *shown(const struct wt_result *result)
{
    return result->simulated ? result->simulated : result->measured;
}

static enum wt_code export_loaded(const struct arguments *arguments, const struct wt_result results[2], struct wt_error *err)
{
    struct wt_timeline *const timelines[2] = {shown(&results[0]), shown(&results[1])};
    const char *const labels[2] = {label_of(arguments->inputs, 0), label_of(arguments->inputs, 1)};
    char *title = wt_format("%s and %s", labels[0], labels[1]);
    struct wt_export what = {.measured = timelines[0], .simulated = timelines[1], .labels = {labels[0], labels[1]}, .title = title};
    enum wt_code code = outputs_write_all(&arguments->outputs, what, err);
    free(title);
    WT_TRY(code);
    if (arguments->common.json || !outputs_any(&arguments->outputs))
        report_two(labels, timelines, arguments->common.json);
    return WT_OK;
}

static enum wt_code export_two(const struct arguments *arguments, struct wt_error *err)
{
    struct wt_result results[2] = {{0}};
    enum wt_code code = WT_OK;
    for (int i = 0; i < 2 && code == WT_OK; i++)
        code = load(arguments->inputs[i], arguments->common.gpu, &results[i], err);
    if (code == WT_OK)
        code = export_loaded(arguments, results, err);
    for (int i = 0; i < 2; i++)
        wt_result_clear(&results[i]);
    return code;
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    return (arguments.inputs[1] ? export_two : export_one)(&arguments, err);
}

const struct command export_command = {
    .name = "export", .summary = "make pictures and other files from a trace or a result", .run = run};
