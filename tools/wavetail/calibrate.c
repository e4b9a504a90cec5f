#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fit/calibrate.h"
#include "progress.h"

struct arguments {
    struct common common;
    const char *base, *out;
    const char **traces;
    size_t count, capacity;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'b':
        arguments->base = text;
        return 0;
    case 'o':
        arguments->out = text;
        return 0;
    case ARGP_KEY_ARG:
        arguments->traces = wt_grow(arguments->traces, &arguments->capacity, arguments->count + 1, sizeof(char *));
        arguments->traces[arguments->count++] = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which traces?");
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        return 0;
    case ARGP_KEY_END:
        if (arguments->common.gpu)
            argp_error(state, "--gpu is not for calibrate; what the traces do not tell comes from --base");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"base", 'b', "NAME|FILE.cfg", 0,
     "the GPU that what is not measured comes from (default: the limits of the traces' compute capability)", 0},
    {"output", 'o', "FILE.cfg", 0, "write the config there and print a summary (default: print the config)", 0},
    {0}};

static const struct argp_child children[] = {{&common_argp, 0, "Common options:", 1}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE...",
    .doc = "Fits a GPU's arrangement of SMs and its dispatch rates to traces, and writes a GPU config in which each value "
           "stands with its source, spread and error.\v"
           "Takes traces of ordinary launches, one after another, all of one GPU. A full set has, each in several "
           "repetitions: empty kernels of 32 to 1,024 threads, thousands of blocks; empty kernels of one and two blocks "
           "per SM; blocks of one length of 200 to 2,000 cycles; long blocks of different lengths; launches queued in one "
           "stream. What a smaller set does not tell keeps the base's value, and the config says so. The result does not "
           "depend on the order of the traces.",
    .children = children};

static void print_summary(const struct wt_calibration *c)
{
    printf("%zu %s of %s\n", c->evidence.trace_count, c->evidence.trace_count == 1 ? "trace" : "traces", c->fitted.name);
    for (int q = 0; q < WT_QUESTIONS; q++) {
        size_t agree = 0, otherwise = 0;
        for (size_t i = 0; i < c->evidence.trace_count; i++) {
            agree += c->arrangement.votes[q].agrees[i];
            otherwise += c->arrangement.votes[q].dissents[i];
        }
        printf("%-22s agreeing traces %zu, dissenting %zu%s\n", wt_question_name((enum wt_question)q), agree, otherwise,
               agree ? "" : "; kept from the base");
    }
    for (size_t i = 0; i < c->rate_count; i++) {
        const struct wt_fitted *rate = &c->rates[i];
        const char *key = strchr(rate->estimator->key, '.') + 1;
        char *text = rate->told ? wt_fitted_text(rate) : NULL;
        if (rate->estimate.unclear)
            printf("%-22s kept from the base: %s\n", key, rate->estimate.unclear);
        else if (!text)
            printf("%-22s kept from the base: %zu of %zu %s; it takes %s\n", key, rate->estimate.samples,
                   rate->estimator->least, rate->estimator->unit, rate->estimator->needs);
        else if (rate->estimator->kind == WT_RATE_PER_TPC)
            printf("%-22s %d values\n", key, rate->estimate.per_tpc.count);
        else
            printf("%-22s %s\n", key, text);
        free(text);
    }
}

static enum wt_code report(const struct arguments *arguments, const struct wt_calibration *c, struct wt_error *err)
{
    if (arguments->out)
        WT_TRY(wt_calibration_write(c, arguments->out, err));
    if (arguments->common.json) {
        struct wt_json json = wt_json_begin(stdout, false);
        wt_json_object(&json, NULL);
        wt_calibration_json(c, &json);
        wt_json_close(&json);
        wt_json_end(&json);
    } else if (!arguments->out) {
        wt_calibration_print(c, stdout);
    } else if (strcmp(arguments->out, "-") && !arguments->common.quiet) {
        print_summary(c);
    }
    return WT_OK;
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    struct wt_calibration *c;
    struct progress_wait *wait = progress_wait_begin("fitting", arguments.common.quiet);
    enum wt_code code = wt_calibrate(arguments.traces, arguments.count, arguments.base, &c, err);
    progress_wait_end(wait);
    if (code == WT_OK) {
        code = report(&arguments, c, err);
        wt_calibration_free(c);
    }
    free(arguments.traces);
    return code;
}

const struct command calibrate_command = {
    .name = "calibrate", .summary = "fit a GPU's arrangement and dispatch rates to traces", .run = run};
