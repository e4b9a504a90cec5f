/* wavetail run --sass: one launch of a kernel given by its SASS, warp by warp. */
#include "run_sass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/outfile.h"
#include "dispatch/simulate.h"
#include "observe/warps.h"
#include "sm/occupancy.h"
#include "sm/shape.h"
#include "warp/classes.h"
#include "warp/from_sass.h"
#include "warp/warp.h"

enum { MOST_TRIPS = 64 };

struct options {
    struct common common;
    const char *sass, *source, *metrics, *kernel, *warps, *compare, *scheduler;
    long long grid[3], block[3];
    int registers, static_shared, dynamic_shared;
    double l1_hit, l2_hit;
    struct wt_trip trips[MOST_TRIPS];
    size_t trip_count;
    double work;
    long long interval;
};

struct run {
    const struct options *options;
    struct wt_sass *sass;
    const struct wt_sass_function *function;
    struct wt_ncu_source *source;
    struct wt_gpu *gpu;
    struct wt_program *program;
    struct wt_sass_report report;
    struct wt_launch_needs needs;
    struct wt_shape shape;
    struct wt_occupancy occupancy;
    uint64_t blocks;
    struct wt_warp_result result;
    struct wt_outfile warps;
};

/* ---- Command line ---- */

enum {
    KEY_SASS = 0x3101, KEY_SOURCE, KEY_KERNEL, KEY_GRID, KEY_BLOCK, KEY_REGS, KEY_SMEM, KEY_DYNAMIC, KEY_TRIP, KEY_WORK,
    KEY_L1, KEY_L2, KEY_WARPS, KEY_INTERVAL, KEY_COMPARE, KEY_SCHEDULER
};

static void parse_extent(struct argp_state *state, const char *option, const char *text, long long extent[3])
{
    char *copy = wt_strdup(text), *rest = copy;
    extent[0] = extent[1] = extent[2] = 1;
    for (int i = 0; i < 3 && rest; i++) {
        char *number = rest;
        rest = strchr(rest, 'x');
        if (rest)
            *rest++ = '\0';
        extent[i] = parse_integer(state, option, number, 1, 1LL << 31);
    }
    if (rest)
        argp_error(state, "%s takes N, NxN or NxNxN, not '%s'", option, text);
    free(copy);
}

static double parse_share(struct argp_state *state, const char *option, const char *text)
{
    char *rest;
    double value = strtod(text, &rest);
    if (rest == text || *rest || !(value >= 0 && value <= 1))
        argp_error(state, "%s takes a number from 0 to 1, not '%s'", option, text);
    return value;
}

static double parse_work(struct argp_state *state, const char *text)
{
    char *rest;
    double value = strtod(text, &rest);
    if (rest == text || *rest || !(value >= 0 && value <= 1e9))
        argp_error(state, "--work takes a number from 0 to 1e9, not '%s'", text);
    return value;
}

static void parse_trip(struct argp_state *state, const char *text, struct options *o)
{
    if (o->trip_count == MOST_TRIPS)
        argp_error(state, "at most %d --trip", MOST_TRIPS);
    if (!wt_trip_parse(text, &o->trips[o->trip_count++]))
        argp_error(state, "--trip takes ADDRESS=N, ADDRESS=work or ADDRESS=N*work, as in 0x820=16; not '%s'", text);
}

static error_t parse_shape(int key, char *text, struct argp_state *state, struct options *o)
{
    switch (key) {
    case KEY_GRID:
        parse_extent(state, "--grid", text, o->grid);
        return 0;
    case KEY_BLOCK:
        parse_extent(state, "--block", text, o->block);
        return 0;
    case KEY_REGS:
        o->registers = (int)parse_integer(state, "--regs", text, 0, 255);
        return 0;
    case KEY_SMEM:
        o->static_shared = (int)parse_integer(state, "--smem", text, 0, 1 << 20);
        return 0;
    case KEY_DYNAMIC:
        o->dynamic_shared = (int)parse_integer(state, "--dynamic-smem", text, 0, 1 << 20);
        return 0;
    case KEY_TRIP:
        parse_trip(state, text, o);
        return 0;
    case KEY_WORK:
        o->work = parse_work(state, text);
        return 0;
    case KEY_L1:
        o->l1_hit = parse_share(state, "--l1-hit", text);
        return 0;
    case KEY_L2:
        o->l2_hit = parse_share(state, "--l2-hit", text);
        return 0;
    case KEY_INTERVAL:
        o->interval = parse_integer(state, "--interval", text, 1, 1000000000);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    const struct {
        int key;
        const char **to;
    } texts[] = {{KEY_SASS, &o->sass},       {KEY_SOURCE, &o->source},   {KEY_KERNEL, &o->kernel},
                 {KEY_WARPS, &o->warps},     {KEY_COMPARE, &o->compare}, {KEY_SCHEDULER, &o->scheduler}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].key == key) {
            *texts[i].to = text;
            return 0;
        }
    switch (key) {
    case ARGP_KEY_ARG:
        argp_error(state, "--sass takes no workload beside it, not '%s'", text);
        return 0;
    case ARGP_KEY_END:
        if (!o->grid[0] || !o->block[0])
            argp_error(state, "give the launch: --grid N --block N");
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->common;
        return 0;
    default:
        return parse_shape(key, text, state, o);
    }
}

static const struct argp_option options[] = {
    {"sass", KEY_SASS, "FILE", 0, "the kernel: output of cuobjdump -sass", 1},
    {"kernel", KEY_KERNEL, "NAME", 0, "which function, where the files hold several", 1},
    {"ncu-source", KEY_SOURCE, "FILE.csv", 0, "its counts: output of ncu -i REPORT --page source --csv", 1},
    {"trip", KEY_TRIP, "ADDR=N|work|N*work", 0, "how often the loop runs whose branch back stands at ADDR (repeatable)", 1},
    {"work", KEY_WORK, "N", 0, "the `work` of --trip", 1},
    {"grid", KEY_GRID, "N[xNxN]", 0, "blocks", 2},
    {"block", KEY_BLOCK, "N[xNxN]", 0, "threads of a block", 2},
    {"regs", KEY_REGS, "N", 0, "registers per thread (default 32)", 2},
    {"smem", KEY_SMEM, "BYTES", 0, "static shared memory of a block", 2},
    {"dynamic-smem", KEY_DYNAMIC, "BYTES", 0, "dynamic shared memory of a block", 2},
    {"l1-hit", KEY_L1, "0..1", 0, "part of global sectors that hit in L1", 3},
    {"l2-hit", KEY_L2, "0..1", 0, "part of L1's misses that hit in L2", 3},
    {"scheduler", KEY_SCHEDULER, "NAME", 0, "warp scheduler, instead of the GPU's", 3},
    {"compare", KEY_COMPARE, "metrics.csv", 0,
     "print a launch's figures of ncu --page raw --csv beside these: the row with this kernel, grid and block", 4},
    {"warps", KEY_WARPS, "FILE.csv", 0, "per SM and interval: resident, eligible, issued, stalled by reason", 4},
    {"interval", KEY_INTERVAL, "CYCLES", 0, "of --warps (default 1000)", 4},
    {0}};

static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Simulates one launch of a kernel given by its SASS, warp by warp; what it reports carries Nsight Compute's names.",
    .children = children};

/* ---- Preparing ---- */

static enum wt_code read_inputs(struct run *run, struct wt_error *err)
{
    const struct options *o = run->options;
    WT_TRY(wt_gpu_load(o->common.gpu ? o->common.gpu : "h200", &run->gpu, err));
    WT_TRY(wt_sass_read(o->sass, &run->sass, err));
    WT_TRY(wt_sass_find(run->sass, o->sass, o->kernel, &run->function, err));
    if (o->source)
        WT_TRY(wt_ncu_source_read(o->source, o->kernel, &run->source, err));
    return WT_OK;
}

static enum wt_code fit_launch(struct run *run, struct wt_error *err)
{
    const struct options *o = run->options;
    run->blocks = (uint64_t)o->grid[0] * (uint64_t)o->grid[1] * (uint64_t)o->grid[2];
    long long threads = o->block[0] * o->block[1] * o->block[2];
    run->needs = (struct wt_launch_needs){.threads = threads > 1 << 20 ? 1 << 20 : (int)threads,
                                          .registers_per_thread = o->registers,
                                          .static_shared_bytes = o->static_shared,
                                          .dynamic_shared_bytes = o->dynamic_shared,
                                          .carveout_kb = WT_CARVEOUT_DEFAULT,
                                          .barriers = 1};
    WT_TRY(wt_shape_make(&run->gpu->limits, &run->needs, &run->shape, err));
    return wt_occupancy(&run->gpu->limits, &run->needs, &run->occupancy, err);
}

static enum wt_code make_program(struct run *run, struct wt_error *err)
{
    const struct options *o = run->options;
    struct wt_sass_setup setup = {.path = o->sass,
                                  .function = run->function,
                                  .source = run->source,
                                  .trips = o->trips,
                                  .trip_count = o->trip_count,
                                  .threads_per_block = run->needs.threads,
                                  .l1_hit = o->l1_hit,
                                  .l2_hit = o->l2_hit};
    WT_TRY(wt_program_from_sass(&setup, &run->program, &run->report, err));
    run->program->work = o->work;
    return WT_OK;
}

static void warn(const struct run *run)
{
    const struct wt_sass_report *report = &run->report;
    for (int i = 0; i < report->unknown_names; i++)
        fprintf(stderr, "%s: opcode %s is not known (%d times); taken as '%s'\n", run->options->sass, report->unknown[i].name,
                report->unknown[i].count, wt_classes[report->unknown[i].op].name);
    if (report->assumed_loops)
        fprintf(stderr, "%s: %d loops run once, since nothing says how often; give --ncu-source or --trip ADDR=N\n",
                run->options->sass, report->assumed_loops);
}

/* ---- Simulating ---- */

static enum wt_code choose(const struct options *o, struct wt_warp_setup *setup, struct wt_error *err)
{
    if (o->scheduler && !(setup->scheduler = wt_scheduler_find(o->scheduler)))
        return wt_fail(err, WT_BAD_USAGE, "there is no scheduler '%s'", o->scheduler);
    return WT_OK;
}

static enum wt_code simulate_with(struct run *run, struct wt_warp *warp, struct wt_error *err)
{
    struct wt_kernel kernel = {.name = run->function->name, .grid_blocks = run->blocks, .shape = run->shape};
    struct wt_sharing sharing = wt_warp_sharing(warp);
    struct wt_simulation simulation = {.gpu = run->gpu,
                                       .kernels = &kernel,
                                       .kernel_count = 1,
                                       .seed = run->options->common.seed,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .sharing = &sharing};
    WT_TRY(wt_simulate(&simulation, err));
    wt_warp_finish(warp);
    run->result = wt_warp_result(warp, 0);
    return WT_OK;
}

static enum wt_code simulate(struct run *run, struct wt_error *err)
{
    struct wt_warp_kernel kernel = {.program = run->program, .warps = run->shape.warps};
    struct wt_warp_setup setup = {.gpu = run->gpu, .kernels = &kernel, .kernel_count = 1, .seed = run->options->common.seed};
    struct wt_warp_observer observer = {0};
    WT_TRY(choose(run->options, &setup, err));
    if (run->options->warps) {
        WT_TRY(wt_outfile_open(&run->warps, run->options->warps, err));
        observer = wt_warps_csv(run->warps.stream, (wt_time)run->options->interval << 10);
        setup.observer = &observer;
    }
    struct wt_warp *warp;
    WT_TRY(wt_warp_new(&setup, &warp, err));
    enum wt_code code = simulate_with(run, warp, err);
    wt_warp_free(warp);
    return code == WT_OK && run->options->warps ? wt_outfile_commit(&run->warps, err) : code;
}

/* ---- Reporting ---- */

static void print_json(const struct run *run, const struct wt_ncu_metrics *metrics, long row)
{
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "kernel", run->function->name);
    wt_json_string(&json, "gpu", run->gpu->name);
    wt_json_int(&json, "grid", (int64_t)run->blocks);
    wt_json_int(&json, "block", run->needs.threads);
    wt_json_int(&json, "occupancy_blocks", run->occupancy.blocks_per_sm);
    wt_warp_json(&json, &run->result, run->gpu);
    if (row >= 0)
        wt_warp_measured_json(&json, metrics, (size_t)row);
    wt_json_array(&json, "unknown_opcodes");
    for (int i = 0; i < run->report.unknown_names; i++)
        wt_json_string(&json, NULL, run->report.unknown[i].name);
    wt_json_close(&json);
    wt_json_int(&json, "unknown_instructions", run->report.unknown_count);
    wt_json_int(&json, "assumed_loops", run->report.assumed_loops);
    wt_json_int(&json, "assumed_branches", run->report.assumed_branches);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code report(const struct run *run, struct wt_error *err)
{
    const struct options *o = run->options;
    struct wt_ncu_metrics *metrics = NULL;
    if (o->compare)
        WT_TRY(wt_ncu_metrics_read(o->compare, &metrics, err));
    long row = metrics ? wt_ncu_launch(metrics, run->function->name, run->blocks, (uint64_t)run->needs.threads,
                                       (uint64_t)run->needs.static_shared_bytes,
                                       (uint64_t)run->needs.dynamic_shared_bytes) : -1;
    if (o->common.json)
        print_json(run, metrics, row);
    else
        wt_warp_print(stdout, &run->result, run->gpu, row < 0 ? NULL : metrics, row < 0 ? 0 : (size_t)row);
    wt_ncu_metrics_free(metrics);
    if (metrics && row < 0)
        return wt_fail_at(err, o->compare, 0, "has no launch of %s with grid %llu, block %d and this shared memory",
                          run->function->name, (unsigned long long)run->blocks, run->needs.threads);
    return WT_OK;
}

static enum wt_code carry_out(struct run *run, struct wt_error *err)
{
    WT_TRY(read_inputs(run, err));
    WT_TRY(fit_launch(run, err));
    WT_TRY(make_program(run, err));
    if (!run->options->common.quiet)
        warn(run);
    WT_TRY(simulate(run, err));
    return report(run, err);
}

bool asks_for_sass(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--sass") || !strncmp(argv[i], "--sass=", 7))
            return true;
    return false;
}

enum wt_code run_sass(int argc, char **argv, struct wt_error *err)
{
    struct options o = {.registers = 32, .l1_hit = -1, .l2_hit = -1, .interval = 1000};
    WT_TRY(parse_arguments(&argp, argc, argv, &o));
    struct run run = {.options = &o};
    enum wt_code code = carry_out(&run, err);
    wt_outfile_discard(&run.warps);
    wt_program_free(run.program);
    wt_ncu_source_free(run.source);
    wt_sass_free(run.sass);
    wt_gpu_free(run.gpu);
    return code;
}
