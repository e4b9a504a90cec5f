#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "outputs.h"
#include "progress.h"
#include "replaying.h"
#include "study/replay.h"

struct arguments {
    struct common common;
    struct outputs outputs;
    struct replaying replaying;
    struct asking asking;
    const char *trace;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
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
        state->child_inputs[0] = &arguments->replaying;
        state->child_inputs[1] = &arguments->common;
        state->child_inputs[2] = &arguments->outputs;
        state->child_inputs[3] = &arguments->asking;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&replaying_argp, 0, NULL, 0},
    {&common_argp, 0, "Common options:", 1},
    {&outputs_argp, 0, "Files to write:", 2},
    {&asking_argp, 0, NULL, 0},
    {0}};

static const struct argp argp = {
    .parser = parse,
    .args_doc = "TRACE",
    .doc = "Takes each block's measured duration, simulates the dispatch, and compares with the measured starts.\v"
           "Pictures show the measured run over the predicted one. The GPU is the one the trace names unless --gpu "
           "names another.",
    .children = children};

static const char *plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void print_part(FILE *out, const struct wt_replay_part *part, double mhz)
{
    fprintf(out, "  makespan    measured %.0f cycles", part->makespan_measured);
    if (mhz > 0)
        fprintf(out, " (%.2f us)", part->makespan_measured / mhz);
    fprintf(out, ", predicted %.0f: %+.3f %%\n", part->makespan_predicted, 100 * part->makespan_error);
    fprintf(out, "  starts      off by %.0f cycles in the median, %.0f at the 95th percentile\n", part->start_error_p50,
            part->start_error_p95);
    if (part->tasks > 0)
        fprintf(out, "  tasks       %llu; %g per block in the median, predicted %g\n", (unsigned long long)part->tasks,
                part->tasks_per_block_measured, part->tasks_per_block_predicted);
    fprintf(out, "  unseen      %+.0f cycles per %s beyond its clock reads\n", part->unseen_cycles,
            part->tasks > 0 ? "task" : "block");
    fprintf(out, "  first wave  %.2f %% of %llu %s on the very SM; %d %s per SM\n",
            100 * part->first_wave_placement_match, (unsigned long long)part->first_wave_blocks,
            plural(part->first_wave_blocks, "block", "blocks"), part->occupancy_blocks,
            plural((uint64_t)part->occupancy_blocks, "block", "blocks"));
    if (part->resident_measured > part->occupancy_blocks)
        fprintf(out, "  beware      most SMs had %d blocks at once, more than fit by what is stated: is it this GPU, with these "
                "registers and this shared memory?\n", part->resident_measured);
}

static void print_clocks(FILE *out, const struct wt_clocks *clocks)
{
    fputs("  clocks      ", out);
    if (clocks->domain_count)
        fprintf(out, "%d %s, ", clocks->domain_count, plural((uint64_t)clocks->domain_count, "domain", "domains"));
    else
        fputs("none, times only, ", out);
    fprintf(out, "%.2f MHz%s, aligned to %.1f cycles in the median\n", clocks->mhz,
            clocks->mhz_is_stated ? " (as stated)" : "", clocks->residual_p50_cycles);
}

static void print_blocks(FILE *out, uint64_t blocks)
{
    fprintf(out, "%llu %s", (unsigned long long)blocks, plural(blocks, "block", "blocks"));
}

static void print_head(FILE *out, const struct wt_replay *replay)
{
    const struct wt_trace *trace = replay->trace;
    fprintf(out, "%s on %s", trace->path, replay->predicted->gpu_name);
    if (*trace->device && strcmp(trace->device, replay->predicted->gpu_name))
        fprintf(out, " (captured on %s)", trace->device);
    fputs(": ", out);
    print_blocks(out, replay->whole.blocks);
    fprintf(out, " in %zu %s\n", trace->launch_count, plural(trace->launch_count, "launch", "launches"));
}

static void print_replay(FILE *out, const struct wt_replay *replay)
{
    const struct wt_trace *trace = replay->trace;
    print_head(out, replay);
    print_clocks(out, replay->clocks);
    if (replay->part_cycles > 0)
        fprintf(out, "  part        another than the config's: its GPCs, by up to %.0f cycles nearer or farther, are taken from the trace\n",
                replay->part_cycles);
    print_part(out, &replay->whole, replay->clocks->mhz);
    for (size_t i = 0; trace->launch_count > 1 && i < trace->launch_count; i++) {
        fprintf(out, "launch %ld (%s): ", trace->launches[i].number, trace->launches[i].name);
        print_blocks(out, replay->launches[i].blocks);
        putc('\n', out);
        print_part(out, &replay->launches[i], replay->clocks->mhz);
    }
}

static void print_tail(FILE *out, const char *which, const struct wt_metrics *metrics)
{
    const struct wt_tail *tail = &metrics->whole.tail;
    if (metrics->about->launch_count == 1 && wt_metrics_one_wave(&metrics->whole, metrics->about->launches))
        fprintf(out, "  tail        %s none, the grid is one wave; %.1f %% of the SM-time is idle\n", which, 100 * tail->sm_idle);
    else
        fprintf(out, "  tail        %s %.0f cycles, %.1f %% of the makespan; %.1f %% of the SM-time in it is idle\n", which,
                wt_to_cycles(tail->length), 100 * tail->fraction, 100 * tail->sm_idle);
}

static void report(FILE *stream, const struct wt_replay *replay, bool json)
{
    struct wt_metrics *measured = wt_metrics_of_timeline(replay->measured);
    struct wt_metrics *predicted = wt_metrics_of_timeline(replay->predicted);
    if (json) {
        struct wt_json out = wt_json_begin(stream, false);
        wt_json_object(&out, NULL);
        wt_replay_json(&out, replay);
        wt_metrics_json(&out, "measured", measured);
        wt_metrics_json(&out, "predicted", predicted);
        if (replay->questions.why)
            wt_why_json(&out, "why", replay->questions.why, replay->predicted);
        wt_json_close(&out);
        wt_json_end(&out);
    } else {
        print_replay(stream, replay);
        print_tail(stream, "measured ", measured);
        print_tail(stream, "predicted", predicted);
        if (replay->questions.why)
            wt_why_print(stream, replay->questions.why, replay->predicted);
    }
    wt_metrics_free(measured);
    wt_metrics_free(predicted);
}

static enum wt_code ask(void *context, const struct wt_timeline *launches, struct wt_replay_questions *out,
                        struct wt_error *err)
{
    const struct arguments *arguments = context;
    return asking_begin(&arguments->asking, launches, arguments->trace, &out->why, &out->space, err);
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    struct wt_replay_setup setup = replaying_setup(&arguments.replaying, &arguments.common);
    struct wt_replay_asker asker = {&arguments, ask};
    setup.asker = &asker;
    struct wt_replay *replay;
    struct progress_wait *wait = progress_wait_begin("replaying", arguments.common.quiet);
    enum wt_code code = wt_replay_trace(arguments.trace, &setup, &replay, err);
    progress_wait_end(wait);
    WT_TRY(code);
    code = outputs_write(&arguments.outputs, replay->predicted, replay->measured, err);
    if (code == WT_OK)
        code = asking_finish(&arguments.asking, replay->questions.space, replay->predicted, err);
    if (code == WT_OK)
        report(outputs_summary_stream(&arguments.outputs), replay, arguments.common.json);
    wt_replay_free(replay);
    return code;
}

const struct command replay_command = {
    .name = "replay", .summary = "simulate a trace's dispatch and compare with what was measured", .run = run};
