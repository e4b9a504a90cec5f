/* wavetail run: simulates the kernels that a workload file describes. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "dispatch/policy.h"
#include "observe/standing.h"
#include "asking.h"
#include "outputs.h"
#include "progress.h"
#include "sass_launch.h"
#include "study/launches.h"
#include "study/workload.h"
#include "warp/text.h"
#include "warp_outputs.h"

static const char default_gpu[] = "h200"; /* the one whose dispatch is measured */

struct options {
    struct common common;
    struct outputs outputs;
    struct asking asking;
    struct sass_launch sass;
    struct warp_outputs warps;
    const char *workload, *policy;
    bool deterministic;
};

/* What one run works with. */
struct run {
    const struct options *options;
    struct wt_workload *workload;
    struct wt_gpu *gpu;
    const struct wt_policy *policy;
    uint64_t seed;
    struct wt_launches *launches;
    struct wt_metrics *metrics;
    struct outputs_run outputs;
    bool has_outputs;
    const struct wt_host_timeline *host; /* the outputs'; NULL: the workload has none */
    struct wt_why *why;                  /* NULL: nothing was asked */
    struct wt_address_space *space;      /* the same */
    struct wt_standing *standing;        /* NULL: no file would show a deadlock */
    struct sass_kernel sass;
    struct warp_run warps;
};

/* ---- Command line ---- */

enum { KEY_POLICY = 0x3001, KEY_DETERMINISTIC, KEY_KEYS, KEY_POLICIES, KEY_PROGRAMS };

static void print_policies(void)
{
    for (size_t i = 0; wt_policies[i]; i++)
        printf("%-12s %-10s %s\n%-24s(%s)\n", wt_policies[i]->name, wt_policies[i]->standing, wt_policies[i]->summary,
               "", wt_policies[i]->source);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_POLICY:
        o->policy = text;
        return 0;
    case KEY_DETERMINISTIC:
        o->deterministic = true;
        return 0;
    case KEY_KEYS:
        wt_workload_print_keys(stdout);
        exit(WT_OK);
    case KEY_PROGRAMS:
        wt_text_print_reference(stdout);
        exit(WT_OK);
    case KEY_POLICIES:
        print_policies();
        exit(WT_OK);
    case ARGP_KEY_ARG:
        if (o->workload)
            argp_error(state, "one workload at a time, not also '%s'", text);
        o->workload = text;
        return 0;
    case ARGP_KEY_END:
        if (o->workload && o->sass.sass)
            argp_error(state, "--sass takes no workload beside it, not '%s'", o->workload);
        if (!o->workload && !o->sass.sass)
            argp_error(state, "which workload? Give a file, e.g. one of configs/workloads, or --sass FILE");
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->outputs;
        state->child_inputs[1] = &o->common;
        state->child_inputs[2] = &o->asking;
        state->child_inputs[3] = &o->sass;
        state->child_inputs[4] = &o->warps;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"policy", KEY_POLICY, "NAME", 0, "placement policy, instead of the workload's or the GPU's", 1},
    {"policies", KEY_POLICIES, 0, 0, "print the placement policies and what each rests on, and stop", 1},
    {"deterministic", KEY_DETERMINISTIC, 0, 0, "no randomness: every random duration is its mean", 1},
    {"keys", KEY_KEYS, 0, 0, "print every key a workload file may have, and stop", 1},
    {"programs", KEY_PROGRAMS, 0, 0, "print the language of kernel programs, and stop", 1},
    {0}};

static const struct argp_child children[] = {{&outputs_argp, 0, NULL, 0},     {&common_argp, 0, NULL, 0},
                                             {&asking_argp, 0, NULL, 0},      {&sass_launch_argp, 0, NULL, 0},
                                             {&warp_outputs_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .args_doc = "WORKLOAD.cfg\n--sass FILE --grid N --block N",
                                 .doc = "Simulates the kernels that a workload file describes and prints what the run "
                                        "was like: makespan, occupancy, busy SMs, the tail. Kernels given by their "
                                        "instructions (a program, or SASS) are issued warp by warp; what is said of their warps "
                                        "carries Nsight Compute's names.\v"
                                        "Where blocks or streams wait for each other for ever, the exit status is 3 and the message says "
                                        "who waits for whom; all files but the table of blocks show how far it came.",
                                 .children = children};

/* ---- Simulating ---- */

static enum wt_code choose_policy(struct run *run, struct wt_error *err)
{
    const char *name = run->options->policy ? run->options->policy : run->workload->placement;
    return name ? wt_policy_find(name, &run->policy, err) : WT_OK;
}

static enum wt_code read_workload(struct run *run, struct wt_error *err)
{
    const struct options *o = run->options;
    if (!o->sass.sass)
        return wt_workload_read(o->workload, &run->workload, err);
    WT_TRY(sass_launch_workload(&o->sass, &run->sass, &run->workload, err));
    if (!o->common.quiet)
        sass_kernel_warn(stderr, "", &run->sass);
    return WT_OK;
}

static enum wt_code prepare(struct run *run, struct wt_error *err)
{
    const struct options *o = run->options;
    WT_TRY(read_workload(run, err));
    const char *gpu = o->common.gpu ? o->common.gpu : run->workload->gpu;
    WT_TRY(wt_gpu_load(gpu ? gpu : default_gpu, &run->gpu, err));
    WT_TRY(choose_policy(run, err));
    run->seed = o->common.seed_given ? o->common.seed : run->workload->seed;
    WT_TRY(wt_launches_new(run->workload, run->gpu, run->seed, o->deterministic, &run->launches, err));
    return warp_run_begin(&run->warps, &o->warps, run->launches, run->gpu, run->workload->path, run->seed,
                          o->outputs.path[WT_EXPORTER_perfetto] != NULL, err);
}

static uint64_t count_blocks(const struct wt_launches *launches)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < launches->count; i++)
        blocks += launches->kernels[i].grid_blocks;
    return blocks;
}

static enum wt_code simulate(const struct run *run, struct wt_error *err)
{
    const struct outputs_run *outputs = &run->outputs;
    struct progress progress = progress_begin(count_blocks(run->launches), run->options->common.quiet);
    struct wt_observer observers[sizeof outputs->observers / sizeof *outputs->observers + 2];
    size_t count = 0;
    for (; count < outputs->observer_count; count++)
        observers[count] = outputs->observers[count];
    struct wt_task_teller teller = {run->launches, observers, count};
    observers[count++] = progress_observer(&progress);
    observers[count++] = wt_task_teller_observer(&teller);
    struct wt_simulation simulation = {.gpu = run->gpu,
                                       .policy = run->policy,
                                       .kernels = run->launches->kernels,
                                       .kernel_count = run->launches->count,
                                       .seed = run->seed,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .sharing = run->launches->sharing,
                                       .observers = observers,
                                       .observer_count = count};
    struct wt_watch watches[3];
    simulation.watches = watches;
    if (run->standing)
        watches[simulation.watch_count++] = wt_standing_watch(run->standing);
    if (run->why)
        watches[simulation.watch_count++] = wt_why_watch(run->why);
    if (run->space)
        watches[simulation.watch_count++] = wt_address_space_watch(run->space);
    enum wt_code code = wt_launches_simulate(run->launches, &simulation, outputs->timeline, err);
    if (run->why)
        wt_why_finish(run->why);
    progress_end(&progress);
    return code;
}

/* A run that came to a standstill is shown as far as it came. */
static enum wt_code show_deadlock(struct run *run, struct wt_error *err)
{
    struct wt_error failure = {0};
    enum wt_code code = WT_OK;
    if (run->standing) {
        wt_standing_add(run->standing, wt_launches_stuck_since(run->launches), err->text, run->outputs.timeline);
        code = outputs_finish_stuck(&run->outputs, &failure);
    }
    if (code == WT_OK)
        code = asking_finish(&run->options->asking, run->space, run->outputs.timeline, &failure);
    if (code != WT_OK)
        fprintf(stderr, "%s\n", failure.text);
    return WT_DEADLOCK;
}

/* Files as asked for, and run->metrics. */
static enum wt_code simulate_with_outputs(struct run *run, struct wt_error *err)
{
    struct wt_timeline *about = run->launches->about;
    WT_TRY(asking_begin(&run->options->asking, about, run->workload->path, &run->why, &run->space, err));
    run->launches->about = NULL;
    WT_TRY(outputs_begin(&run->outputs, &run->options->outputs, about, false, err));
    run->has_outputs = true;
    run->standing = run->outputs.keeps_timeline ? wt_standing_new(run->gpu->topology.sm_count) : NULL;
    enum wt_code code = simulate(run, err);
    if (code == WT_DEADLOCK)
        return show_deadlock(run, err);
    WT_TRY(code);
    run->host = run->outputs.timeline->host;
    WT_TRY(warp_run_finish(&run->warps, run->outputs.timeline, err));
    WT_TRY(outputs_finish(&run->outputs, NULL, &run->metrics, err));
    return asking_finish(&run->options->asking, run->space, run->outputs.timeline, err);
}

/* ---- Reporting ---- */

static void print_extent(struct wt_json *json, const char *key, const int extent[3])
{
    wt_json_array(json, key);
    for (int i = 0; i < 3; i++)
        wt_json_int(json, NULL, extent[i]);
    wt_json_close(json);
}

/* Lists, which may be as long as the grid, are left out. */
static void print_duration(struct wt_json *json, const struct wt_workload_kernel *kernel)
{
    if (kernel->program)
        wt_json_string(json, "program", kernel->program->name);
    if (!kernel->distribution)
        return;
    wt_json_object(json, "duration");
    if (kernel->distribution == wt_distribution_find("list"))
        wt_json_string(json, "distribution", "list");
    else
        wt_params_json(kernel->distribution->params, kernel->duration, json);
    wt_json_close(json);
}

/* Only what differs from a plain kernel. */
static void print_behaviour(struct wt_json *json, const struct wt_workload_kernel *kernel)
{
    if (kernel->model == WT_MODEL_FLUID) {
        wt_json_string(json, "model", wt_model_names[kernel->model]);
        wt_json_object(json, "demand");
        wt_params_json(wt_demand_params, &kernel->demand, json);
        wt_json_close(json);
    }
    if (kernel->cooperative)
        wt_json_bool(json, "cooperative", true);
    if (kernel->order != WT_ORDER_ASIS)
        wt_json_string(json, "order", wt_order_names[kernel->order]);
    if (kernel->split > 1) {
        wt_json_int(json, "split", kernel->split);
        wt_json_number(json, "split_overhead", kernel->split_overhead_cycles, 12);
    }
    if (kernel->behaviour.persistent.line > 0) {
        wt_json_object(json, "persistent");
        wt_params_json(wt_persistent_params, &kernel->behaviour.persistent, json);
        wt_json_close(json);
    }
    if (kernel->behaviour.waits.line > 0) {
        wt_json_object(json, "waiting");
        wt_params_json(wt_waits_params, &kernel->behaviour.waits, json);
        wt_json_close(json);
    }
}

static void print_kernel(struct wt_json *json, const struct wt_workload_kernel *kernel)
{
    wt_json_object(json, NULL);
    wt_json_string(json, "name", kernel->name);
    print_extent(json, "grid", kernel->grid);
    print_extent(json, "block", kernel->block);
    wt_json_int(json, "registers", kernel->needs.registers_per_thread);
    wt_json_int(json, "static_shared", kernel->needs.static_shared_bytes);
    wt_json_int(json, "dynamic_shared", kernel->needs.dynamic_shared_bytes);
    wt_json_int(json, "carveout_kb", kernel->needs.carveout_kb);
    wt_json_int(json, "barriers", kernel->needs.barriers);
    wt_json_int(json, "repeat", kernel->repeat);
    print_behaviour(json, kernel);
    print_duration(json, kernel);
    wt_json_close(json);
}

/* `deadlock`: the message; NULL: there is none, but metrics. */
static void print_json(const struct run *run, const char *deadlock, FILE *stream)
{
    struct wt_json json = wt_json_begin(stream, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "workload", run->workload->path);
    wt_json_string(&json, "title", run->workload->title);
    wt_json_string(&json, "gpu", run->gpu->name);
    wt_json_string(&json, "placement", run->policy ? run->policy->name : run->gpu->placement);
    wt_json_int(&json, "seed", (int64_t)run->seed);
    wt_json_bool(&json, "deterministic", run->options->deterministic);
    wt_json_array(&json, "kernels");
    for (size_t i = 0; i < run->workload->kernel_count; i++)
        print_kernel(&json, &run->workload->kernels[i]);
    wt_json_close(&json);
    if (run->metrics)
        warp_run_json(&run->warps, run->metrics, &json);
    if (run->options->sass.sass)
        sass_kernel_json(&run->sass, &json);
    if (run->metrics)
        wt_metrics_json(&json, "metrics", run->metrics);
    if (deadlock)
        wt_json_string(&json, "deadlock", deadlock);
    if (run->host)
        wt_host_timeline_json(&json, run->host, run->gpu->clock_mhz);
    if (run->why)
        wt_why_json(&json, "why", run->why, run->outputs.timeline);
    wt_json_close(&json);
    wt_json_end(&json);
}

static void print_text(const struct run *run, FILE *stream)
{
    wt_metrics_print(stream, run->metrics);
    warp_run_print(&run->warps, run->metrics, stream);
    if (run->host)
        wt_host_timeline_print(stream, run->host, run->gpu->clock_mhz);
    if (run->why)
        wt_why_print(stream, run->why, run->outputs.timeline);
}

static void print_deadlock(const struct run *run, const char *message, FILE *stream)
{
    const char *deadlock = strstr(message, "deadlock: ");
    if (run->options->common.json)
        print_json(run, deadlock ? deadlock + strlen("deadlock: ") : message, stream);
    else if (run->why)
        wt_why_print(stream, run->why, run->outputs.timeline);
}

static enum wt_code carry_out(struct run *run, struct wt_error *err)
{
    WT_TRY(prepare(run, err));
    enum wt_code code = simulate_with_outputs(run, err);
    FILE *stream = outputs_summary_stream(&run->options->outputs);
    if (code == WT_DEADLOCK)
        print_deadlock(run, err->text, stream);
    WT_TRY(code);
    if (run->options->common.json)
        print_json(run, NULL, stream);
    else
        print_text(run, stream);
    return WT_OK;
}

static enum wt_code run_workload(int argc, char **argv, struct wt_error *err)
{
    struct options o = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &o));
    struct run run = {.options = &o};
    enum wt_code code = carry_out(&run, err);
    if (run.has_outputs)
        outputs_clear(&run.outputs);
    wt_why_free(run.why);
    wt_address_space_free(run.space);
    wt_standing_free(run.standing);
    wt_metrics_free(run.metrics);
    warp_run_clear(&run.warps);
    wt_launches_free(run.launches);
    wt_gpu_free(run.gpu);
    wt_workload_free(run.workload);
    sass_kernel_clear(&run.sass);
    return code;
}

const struct command run_command = {
    .name = "run", .summary = "simulate kernels described in a workload file", .run = run_workload};
