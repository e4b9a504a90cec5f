#include "command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "progress.h"
#include "replaying.h"
#include "study/validate.h"

struct arguments {
    struct common common;
    struct replaying replaying;
    const char **traces;
    size_t count, capacity;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        arguments->traces = wt_grow(arguments->traces, &arguments->capacity, arguments->count + 1, sizeof(char *));
        arguments->traces[arguments->count++] = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which traces?");
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->replaying;
        state->child_inputs[1] = &arguments->common;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&replaying_argp, 0, NULL, 0}, {&common_argp, 0, "Common options:", 1}, {0}};

static const struct argp argp = {
    .parser = parse,
    .args_doc = "TRACE...",
    .doc = "Replays each trace and prints a table of errors, one row per trace, and the medians.\v"
           "Traces named NAME.r0…, NAME.r1… are repetitions of one launch: the difference between them, which is the "
           "hardware's own noise, stands beside the errors. Traces of several folders get the medians of each folder too. "
           "Exits with 1 when a trace could not be replayed; the others are still in the table.",
    .children = children};

static const char *short_name(const char *path)
{
    const char *base = strrchr(path, '/');
    return base ? base + 1 : path;
}

static void print_row(const struct wt_validation_row *row, int width)
{
    if (!row->replay) {
        printf("%-*s  not replayed\n", width, short_name(row->path));
        return;
    }
    const struct wt_replay_part *whole = &row->replay->whole;
    printf("%-*s %8llu %11.0f %11.0f %+9.3f %7.0f %7.0f %8.2f", width, short_name(row->path),
           (unsigned long long)whole->blocks, whole->makespan_measured, whole->makespan_predicted,
           100 * whole->makespan_error, whole->start_error_p50, whole->start_error_p95,
           100 * whole->first_wave_placement_match);
    if (!isnan(row->repeat_start_p50))
        printf(" %8.3f %8.0f", 100 * row->repeat_makespan, row->repeat_start_p50);
    putchar('\n');
}

static void print_summary(const struct wt_validation_summary *summary)
{
    printf("\n%zu trace%s replayed", summary->replayed, summary->replayed == 1 ? "" : "s");
    if (summary->failed)
        printf(", %zu not", summary->failed);
    putchar('\n');
    if (summary->replayed == 0)
        return;
    printf("makespan error   median %.3f %%, 95th percentile %.3f %%\n", 100 * summary->makespan_error_p50,
           100 * summary->makespan_error_p95);
    printf("start error      median of medians %.0f cycles, of 95th percentiles %.0f\n", summary->start_error_p50,
           summary->start_error_p95);
    printf("first-wave match median %.2f %%\n", 100 * summary->first_wave_match_p50);
    if (summary->repeated)
        printf("hardware's noise median makespan difference %.3f %%, start difference %.0f cycles (%zu repetition%s)\n",
               100 * summary->repeat_makespan_p50, summary->repeat_start_p50, summary->repeated,
               summary->repeated == 1 ? "" : "s");
}

/* The rows' folders, each once, in order of appearance; owned by the caller. Returns how many. */
static size_t list_folders(const struct wt_validation_row *rows, size_t count, char **folders)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        char *folder = wt_validation_folder(rows[i].path);
        size_t k = 0;
        while (k < found && strcmp(folders[k], folder))
            k++;
        if (k == found)
            folders[found++] = folder;
        else
            free(folder);
    }
    return found;
}

static void print_folder(const struct wt_validation_row *rows, size_t count, const char *folder, int width)
{
    struct wt_validation_summary s = wt_validation_of_folder(rows, count, folder);
    printf("%-*s %8zu %9.3f %9.3f %7.0f %7.0f %8.2f", width, *folder ? short_name(folder) : ".", s.replayed, 100 * s.makespan_error_p50,
           100 * s.makespan_error_p95, s.start_error_p50, s.start_error_p95, 100 * s.first_wave_match_p50);
    if (s.repeated)
        printf(" %8.3f %8.0f", 100 * s.repeat_makespan_p50, s.repeat_start_p50);
    putchar('\n');
}

/* What is in one folder belongs together: its medians in a line. */
static void print_folders(const struct wt_validation_row *rows, size_t count)
{
    char **folders = wt_alloc(count, sizeof *folders);
    size_t found = list_folders(rows, count, folders);
    int width = 6;
    for (size_t i = 0; i < found; i++)
        width = (int)strlen(short_name(folders[i])) > width ? (int)strlen(short_name(folders[i])) : width;
    if (found > 1) {
        printf("\n%-*s %8s %19s %15s %8s %17s\n", width, "", "", "makespan error, %", "start error", "1st wave",
               "repetition");
        printf("%-*s %8s %9s %9s %7s %7s %8s %8s %8s\n", width, "folder", "traces", "p50", "p95", "p50", "p95", "match %",
               "span %", "start");
    }
    for (size_t i = 0; i < found; i++) {
        if (found > 1)
            print_folder(rows, count, folders[i], width);
        free(folders[i]);
    }
    free(folders);
}

static void print_table(const struct wt_validation_row *rows, size_t count, const struct wt_validation_summary *summary)
{
    int width = 5;
    for (size_t i = 0; i < count; i++) {
        int length = (int)strlen(short_name(rows[i].path));
        width = length > width ? length : width;
    }
    printf("%-*s %8s %11s %11s %9s %15s %8s %17s\n", width, "", "", "makespan,", "cycles", "error", "start error",
           "1st wave", "repetition");
    printf("%-*s %8s %11s %11s %9s %7s %7s %8s %8s %8s\n", width, "trace", "blocks", "measured", "predicted", "%",
           "p50", "p95", "match %", "span %", "start");
    for (size_t i = 0; i < count; i++)
        print_row(&rows[i], width);
    print_folders(rows, count);
    print_summary(summary);
}

static void row_json(struct wt_json *json, const struct wt_validation_row *row)
{
    wt_json_object(json, NULL);
    if (row->replay) {
        wt_replay_json(json, row->replay);
        wt_json_number(json, "repeat_start_p50", row->repeat_start_p50, 6);
        wt_json_number(json, "repeat_makespan", row->repeat_makespan, 6);
    } else {
        wt_json_string(json, "file", row->path);
        wt_json_string(json, "error", row->error.text);
    }
    wt_json_close(json);
}

static void summary_json(struct wt_json *json, const struct wt_validation_summary *summary)
{
    wt_json_int(json, "replayed", (int64_t)summary->replayed);
    wt_json_int(json, "failed", (int64_t)summary->failed);
    wt_json_number(json, "makespan_error_p50", summary->makespan_error_p50, 6);
    wt_json_number(json, "makespan_error_p95", summary->makespan_error_p95, 6);
    wt_json_number(json, "start_error_p50", summary->start_error_p50, 6);
    wt_json_number(json, "start_error_p95", summary->start_error_p95, 6);
    wt_json_number(json, "first_wave_placement_match", summary->first_wave_match_p50, 6);
    wt_json_number(json, "repeat_start_p50", summary->repeat_start_p50, 6);
    wt_json_number(json, "repeat_makespan", summary->repeat_makespan_p50, 6);
}

static void folders_json(struct wt_json *json, const struct wt_validation_row *rows, size_t count)
{
    char **folders = wt_alloc(count, sizeof *folders);
    size_t found = list_folders(rows, count, folders);
    if (found > 1)
        wt_json_array(json, "folders");
    for (size_t i = 0; found > 1 && i < found; i++) {
        struct wt_validation_summary summary = wt_validation_of_folder(rows, count, folders[i]);
        wt_json_object(json, NULL);
        wt_json_string(json, "folder", folders[i]);
        summary_json(json, &summary);
        wt_json_close(json);
    }
    if (found > 1)
        wt_json_close(json);
    for (size_t i = 0; i < found; i++)
        free(folders[i]);
    free(folders);
}

static void print_json(const struct wt_validation_row *rows, size_t count, const struct wt_validation_summary *summary)
{
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_array(&json, "files");
    for (size_t i = 0; i < count; i++)
        row_json(&json, &rows[i]);
    wt_json_close(&json);
    folders_json(&json, rows, count);
    wt_json_object(&json, "summary");
    summary_json(&json, summary);
    wt_json_close(&json);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code finish(const struct wt_validation_row *rows, size_t count, struct wt_error *err)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].replay)
            continue;
        fprintf(stderr, "%s\n", rows[i].error.text);
        failed++;
    }
    return failed ? wt_fail(err, WT_BAD_INPUT, "%zu of %zu trace%s could not be replayed", failed, count,
                            count == 1 ? "" : "s") : WT_OK;
}

/* What is wrong with the options is said once, not for every trace. */
static enum wt_code check_setup(const struct wt_replay_setup *setup, struct wt_error *err)
{
    const struct wt_policy *policy;
    struct wt_gpu *gpu;
    if (setup->placement)
        WT_TRY(wt_policy_find(setup->placement, &policy, err));
    if (setup->gpu) {
        WT_TRY(wt_gpu_load(setup->gpu, &gpu, err));
        wt_gpu_free(gpu);
    }
    return WT_OK;
}

static void trace_done(void *context)
{
    progress_step(context);
}

static enum wt_code validate(const struct arguments *arguments, const struct wt_replay_setup *setup,
                             struct wt_error *err)
{
    struct wt_validation_row *rows = wt_alloc(arguments->count, sizeof *rows);
    struct wt_validation_summary summary;
    struct progress progress = progress_begin_things(arguments->count, "traces", arguments->common.quiet);
    struct wt_validation_progress report = {trace_done, &progress};
    wt_validate(arguments->traces, arguments->count, setup, &report, rows, &summary);
    progress_end(&progress);
    if (arguments->common.json)
        print_json(rows, arguments->count, &summary);
    else
        print_table(rows, arguments->count, &summary);
    fflush(stdout);
    enum wt_code code = finish(rows, arguments->count, err);
    wt_validation_clear(rows, arguments->count);
    free(rows);
    return code;
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    struct wt_replay_setup setup = replaying_setup(&arguments.replaying, &arguments.common);
    enum wt_code code = check_setup(&setup, err);
    if (code == WT_OK)
        code = validate(&arguments, &setup, err);
    free(arguments.traces);
    return code;
}

const struct command validate_command = {
    .name = "validate", .summary = "replay many traces and print a table of errors", .run = run};
