#include "command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "outputs.h"
#include "study/replay.h"

struct arguments {
    struct common common;
    struct outputs outputs;
    const char *placement;
    double unseen; /* cycles; NaN: auto */
    const char *trace;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'p':
        arguments->placement = text;
        return 0;
    case KEY_UNSEEN:
        arguments->unseen = parse_unseen(state, text);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->trace)
            argp_error(state, "one trace at a time: '%s' or '%s'; `wavetail validate` takes many", arguments->trace,
                       text);
        arguments->trace = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which trace?");
        return 0;
    case ARGP_KEY_INIT:
        arguments->unseen = NAN;
        state->child_inputs[0] = &arguments->common;
        state->child_inputs[1] = &arguments->outputs;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"policy", 'p', "NAME", 0, "placement policy instead of the GPU's: h200, most-room, round-robin, shuffle", 0},
    {"unseen", KEY_UNSEEN, "CYCLES|auto", 0,
     "what a block stays on its SM beyond its clock reads; auto (the default): as the trace's own releases tell", 0},
    {0}};

static const struct argp_child children[] = {
    {&common_argp, 0, "Common options:", 1}, {&outputs_argp, 0, "Files to write:", 2}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE",
    .doc = "Takes each block's measured duration, simulates the dispatch, and compares with the measured starts.\v"
           "Pictures show the measured run over the predicted one. The GPU is the one the trace names unless --gpu "
           "names another.",
    .children = children};

static void print_part(const struct wt_replay_part *part, double mhz)
{
    printf("  makespan    measured %.0f cycles", part->makespan_measured);
    if (mhz > 0)
        printf(" (%.2f us)", part->makespan_measured / mhz);
    printf(", predicted %.0f: %+.3f %%\n", part->makespan_predicted, 100 * part->makespan_error);
    printf("  starts      off by %.0f cycles in the median, %.0f at the 95th percentile\n", part->start_error_p50,
           part->start_error_p95);
    printf("  unseen      %+.0f cycles per block beyond its clock reads\n", part->unseen_cycles);
    printf("  first wave  %.2f %% of %llu blocks on the very SM; %d blocks per SM\n",
           100 * part->first_wave_placement_match, (unsigned long long)part->first_wave_blocks,
           part->occupancy_blocks);
}

static void print_clocks(const struct wt_clocks *clocks)
{
    printf("  clocks      %d domains, %.2f MHz%s, aligned to %.1f cycles in the median\n", clocks->domain_count,
           clocks->mhz, clocks->mhz_is_stated ? " (as stated)" : "", clocks->residual_p50_cycles);
}

static void print_replay(const struct wt_replay *replay)
{
    const struct wt_trace *trace = replay->trace;
    printf("%s on %s: %llu blocks in %zu launch%s\n", trace->path, replay->predicted->gpu_name,
           (unsigned long long)replay->whole.blocks, trace->launch_count, trace->launch_count > 1 ? "es" : "");
    print_clocks(replay->clocks);
    print_part(&replay->whole, replay->clocks->mhz);
    for (size_t i = 0; trace->launch_count > 1 && i < trace->launch_count; i++) {
        printf("launch %ld (%s): %llu blocks\n", trace->launches[i].number, trace->launches[i].name,
               (unsigned long long)replay->launches[i].blocks);
        print_part(&replay->launches[i], replay->clocks->mhz);
    }
}

static void print_tail(const char *which, const struct wt_metrics *metrics)
{
    const struct wt_tail *tail = &metrics->whole.tail;
    printf("  tail        %s %.0f cycles, %.1f %% of the makespan; %.1f %% of the SM-time in it is idle\n", which,
           wt_to_cycles(tail->length), 100 * tail->fraction, 100 * tail->sm_idle);
}

static void report(const struct wt_replay *replay, bool json)
{
    struct wt_metrics *measured = wt_metrics_of_timeline(replay->measured);
    struct wt_metrics *predicted = wt_metrics_of_timeline(replay->predicted);
    if (json) {
        struct wt_json out = wt_json_begin(stdout, false);
        wt_json_object(&out, NULL);
        wt_replay_json(&out, replay);
        wt_metrics_json(&out, "measured", measured);
        wt_metrics_json(&out, "predicted", predicted);
        wt_json_close(&out);
        wt_json_end(&out);
    } else {
        print_replay(replay);
        print_tail("measured ", measured);
        print_tail("predicted", predicted);
    }
    wt_metrics_free(measured);
    wt_metrics_free(predicted);
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    struct wt_replay_setup setup = {arguments.common.gpu, arguments.placement, arguments.common.seed, arguments.unseen};
    struct wt_replay *replay;
    WT_TRY(wt_replay_trace(arguments.trace, &setup, &replay, err));
    enum wt_code code = outputs_write(&arguments.outputs, replay->predicted, replay->measured, err);
    if (code == WT_OK)
        report(replay, arguments.common.json);
    wt_replay_free(replay);
    return code;
}

const struct command replay_command = {
    .name = "replay", .summary = "simulate a trace's dispatch and compare with what was measured", .run = run};
