#include "command.h"

#include <stdio.h>

#include "gpu/gpu.h"
#include "observe/measured.h"
#include "observe/result.h"
#include "outputs.h"

struct arguments {
    struct common common;
    struct outputs outputs;
    const char *input;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (arguments->input)
            argp_error(state, "one file at a time: '%s' or '%s'", arguments->input, text);
        arguments->input = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which trace or result file?");
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
    .args_doc = "TRACE|RESULT",
    .doc = "Makes pictures and other files from a captured trace, or from a result file that --save left.\v"
           "Without a file to write, or with --json, prints the metrics. Occupancy in per cent needs the GPU's "
           "limits: the GPU is the one the trace names unless --gpu names another.",
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

static void print_one(const char *heading, struct wt_timeline *timeline)
{
    if (!timeline)
        return;
    struct wt_metrics *metrics = wt_metrics_of_timeline(timeline);
    printf("%s ", heading);
    wt_metrics_print(stdout, metrics);
    wt_metrics_free(metrics);
}

static void json_one(struct wt_json *json, const char *key, struct wt_timeline *timeline)
{
    if (!timeline)
        return;
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

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    struct wt_result result = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    enum wt_code code = wt_result_recognise(arguments.input)
                            ? wt_result_load(arguments.input, &result, err)
                            : load_trace(arguments.input, arguments.common.gpu, &result.measured, err);
    if (code == WT_OK)
        code = outputs_write(&arguments.outputs, result.simulated, result.measured, err);
    if (code == WT_OK && (arguments.common.json || !outputs_any(&arguments.outputs)))
        report(&result, arguments.common.json);
    wt_result_clear(&result);
    return code;
}

const struct command export_command = {
    .name = "export", .summary = "make pictures and other files from a trace or a result", .run = run};
