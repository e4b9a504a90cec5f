#include "study/workload.h"

#include <inttypes.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "study/host_calls.h"
#include "trace/trace.h"
#include "warp/text.h"

/* ---- The file's keys ---- */

struct file_values {
    char *title, *gpu, *placement;
    int64_t seed;
};

struct kernel_values {
    char *name, *program;
    struct wt_ints grid, block, cluster, after;
    int registers, static_shared, dynamic_shared, carveout_kb, barriers, repeat, stream, priority, programmatic, order, split, model;
    bool cooperative;
    double split_overhead;
};

/* The distribution "trace" is known here and not to the cost model, which reads no files. */
struct trace_values {
    char *distribution, *file;
    int launch;
};

const char *const wt_model_names[] = {[WT_MODEL_FIXED] = "fixed", [WT_MODEL_FLUID] = "fluid", [WT_MODEL_WARP] = "warp", NULL};

#define FIELD(field) offsetof(struct kernel_values, field)

static const struct wt_param kernel_params[] = {
    {"name", WT_PARAM_STRING, FIELD(name), .help = "shown in tables and pictures; default kernel0, kernel1, …"},
    {"grid", WT_PARAM_INTS, FIELD(grid), .unit = "blocks", .low = 1, .high = 2147483647, .most = 3,
     .help = "size of the grid: x, [x, y] or [x, y, z]"},
    {"block", WT_PARAM_INTS, FIELD(block), .unit = "threads", .low = 1, .high = 1024, .most = 3,
     .help = "size of a block: x, [x, y] or [x, y, z]"},
    {"registers", WT_PARAM_INT, FIELD(registers), .low = 0, .high = 255, .fallback = "32", .help = "registers per thread"},
    {"static_shared", WT_PARAM_INT, FIELD(static_shared), .unit = "bytes", .low = 0, .high = 1 << 20,
     .help = "shared memory declared in the kernel, per block"},
    {"dynamic_shared", WT_PARAM_INT, FIELD(dynamic_shared), .unit = "bytes", .low = 0, .high = 1 << 20,
     .help = "shared memory asked for at launch, per block"},
    {"carveout_kb", WT_PARAM_INT, FIELD(carveout_kb), .unit = "KB", .low = -1, .high = 1024, .fallback = "-1",
     .help = "preferred shared-memory configuration of the SM; -1: the driver's choice"},
    {"barriers", WT_PARAM_INT, FIELD(barriers), .low = 0, .high = 16, .help = "named barriers a block uses"},
    {"repeat", WT_PARAM_INT, FIELD(repeat), .low = 1, .high = WT_MOST_REPEATS, .fallback = "1",
     .help = "launches of this kernel, one after another"},
    {"model", WT_PARAM_CHOICE, FIELD(model), .choices = wt_model_names,
     .help = "fixed: blocks last as 'duration' says; fluid: longer, the more is asked of what they share, by 'demand'; warp: as their "
             "'program' takes; default: by which of these keys there is"},
    {"duration", WT_PARAM_GROUP, .help = "how long each block lasts; fluid: alone on the GPU"},
    {"demand", WT_PARAM_GROUP, .groups = wt_demand_params, .help = "fluid: what one warp asks for when nothing slows it down"},
    {"program", WT_PARAM_STRING, FIELD(program),
     .help = "instead of duration: the instructions of its warps, a file found from the workload's folder"},
    {"work", WT_PARAM_GROUP,
     .help = "with program: each block's `work`, given like a duration (its cycles are the work; a trace gives the work it states)"},
    {"stream", WT_PARAM_INT, FIELD(stream), .low = 0, .high = WT_MOST_STREAMS - 1,
     .help = "its stream, where there is no 'host'"},
    {"after", WT_PARAM_INTS, FIELD(after), .low = 0, .high = 1e6,
     .help = "kernels of other streams that it waits for, by position from 0, where there is no 'host'"},
    {"programmatic", WT_PARAM_CHOICE, FIELD(programmatic), .choices = wt_triggers,
     .help = "programmatic dependent launch after the kernel before it in the stream, where there is no 'host'"},
    {"priority", WT_PARAM_INT, FIELD(priority), .low = -5, .high = 0,
     .help = "its stream's, the lower the more urgent, where there is no 'host'"},
    {"cluster", WT_PARAM_INTS, FIELD(cluster), .unit = "blocks", .low = 1, .high = 16, .most = 3,
     .help = "size of a thread block cluster, x, [x, y] or [x, y, z]; the grid is a multiple of it"},
    {"cooperative", WT_PARAM_BOOL, FIELD(cooperative), .help = "refused unless the whole grid has room at once"},
    {"persistent", WT_PARAM_GROUP, .groups = wt_persistent_params, .help = "blocks stay and take tasks"},
    {"waiting", WT_PARAM_GROUP, .groups = wt_waits_params, .help = "blocks wait for each other"},
    {"order", WT_PARAM_CHOICE, FIELD(order), .choices = wt_order_names, .help = "in which order blocks (or tasks) stand"},
    {"split", WT_PARAM_INT, FIELD(split), .low = 1, .high = 100000, .fallback = "1",
     .help = "equal parts that each block (or task) is cut into"},
    {"split_overhead", WT_PARAM_NUMBER, FIELD(split_overhead), .unit = "cycles", .low = 0, .high = 1e9,
     .help = "what each part takes besides its share, where split is more than 1"},
    {0}};

static const struct wt_param file_params[] = {
    {"title", WT_PARAM_STRING, offsetof(struct file_values, title), .help = "shown in summaries and pictures"},
    {"gpu", WT_PARAM_STRING, offsetof(struct file_values, gpu),
     .help = "a name from `wavetail gpus`, or a config file, found from the workload's folder"},
    {"placement", WT_PARAM_STRING, offsetof(struct file_values, placement),
     .help = "placement policy; default: the GPU's own"},
    {"seed", WT_PARAM_INT64, offsetof(struct file_values, seed), .low = 0, .high = 9e18, .fallback = "1",
     .help = "seed of all random streams"},
    {"kernels", WT_PARAM_GROUPS, .required = true, .groups = kernel_params,
     .help = "the kernels, which run one after another, or as 'host' says"},
    {"host", WT_PARAM_GROUPS, .groups = wt_thread_params,
     .help = "threads that submit kernels, copies and events to streams"},
    {"streams", WT_PARAM_GROUPS, .groups = wt_stream_params, .help = "the streams from 0 on; default: those that are named"},
    {"graphs", WT_PARAM_GROUPS, .groups = wt_graph_params, .help = "graphs for the host to launch"},
    {0}};

static const struct wt_param trace_params[] = {
    {"distribution", WT_PARAM_STRING, offsetof(struct trace_values, distribution), .required = true,
     .help = "the distribution's name"},
    {"file", WT_PARAM_STRING, offsetof(struct trace_values, file), .required = true,
     .help = "trace file, found from the workload's folder"},
    {"launch", WT_PARAM_INT, offsetof(struct trace_values, launch), .low = -1, .high = WT_TRACE_MAX_LAUNCH,
     .fallback = "-1", .help = "number of the launch in the file; -1: the first"},
    {0}};

/* A kernel being read. */
struct reading {
    const struct wt_config *config;
    const config_setting_t *group; /* the kernel's */
    struct wt_record record;
    struct kernel_values values;
    struct wt_workload_kernel *kernel; /* what becomes of it */
    struct wt_error *err;
};

static bool is_given(const struct reading *r, const char *key)
{
    return wt_record_origin(&r->record, key)->given;
}

/* The group that says how much each block has to do. */
static const char *duration_key(const struct reading *r)
{
    return r->values.program ? "work" : "duration";
}

static bool names_trace(const struct reading *r)
{
    const char *name = NULL;
    const config_setting_t *duration = wt_config_group(r->group, duration_key(r));
    return duration && config_setting_lookup_string(duration, "distribution", &name) && !strcmp(name, "trace");
}

/* ---- Paths ---- */

/* `file` as seen from the folder of `beside`; owned by the caller. */
static char *path_beside(const char *beside, const char *file)
{
    const char *slash = strrchr(beside, '/');
    if (!slash || file[0] == '/')
        return wt_strdup(file);
    return wt_format("%.*s/%s", (int)(slash - beside), beside, file);
}

/* The file's name without folder and ".cfg". */
static char *default_title(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return wt_format("%.*s", (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name)), name);
}

/* ---- Durations from a trace ---- */

static enum wt_code find_launch(const struct reading *r, const config_setting_t *group, const struct wt_trace *trace,
                                const struct trace_values *values, size_t *out)
{
    for (size_t i = 0; i < trace->launch_count; i++) {
        bool wanted = values->launch < 0 || trace->launches[i].number == values->launch;
        if (!wanted || trace->launches[i].row_count == 0)
            continue;
        *out = i;
        return WT_OK;
    }
    return wt_config_fail(r->config, group, r->err, "%s has no blocks of launch %d; give another launch", trace->path,
                          values->launch);
}

static double measured_cycles(const struct wt_trace *trace, const struct wt_trace_row *row)
{
    if (trace->has_clocks)
        return (double)(row->clock_end - row->clock_start);
    return (double)(row->time_end_ns - row->time_start_ns) * trace->clock_khz * 1e-6;
}

static enum wt_code take_durations(const struct reading *r, const config_setting_t *group,
                                   const struct wt_trace *trace, size_t launch, struct wt_list_values *list)
{
    const struct wt_trace_launch *of = &trace->launches[launch];
    if (of->tasks || of->row_count != wt_trace_grid_blocks(of))
        return wt_config_fail(r->config, group, r->err, "%s: launch %ld has not exactly one row for each of its %" PRIu64
                              " blocks; take a complete capture of an ordinary launch", trace->path, of->number,
                              wt_trace_grid_blocks(of));
    if (r->values.program && !trace->has_work)
        return wt_config_fail(r->config, group, r->err, "%s does not tell its blocks' work; give another distribution", trace->path);
    if (!r->values.program && !trace->has_clocks && trace->clock_khz <= 0)
        return wt_config_fail(r->config, group, r->err, "%s has times but no clock rate; add '# clock_khz = …' to it",
                              trace->path);
    const struct wt_trace_row *rows = wt_trace_rows_of(trace, launch);
    list->cycles.values = wt_alloc(of->row_count, sizeof *list->cycles.values);
    list->cycles.count = (int)of->row_count;
    for (size_t i = 0; i < of->row_count; i++)
        list->cycles.values[i] = r->values.program ? (double)rows[i].work : measured_cycles(trace, &rows[i]);
    return WT_OK;
}

/* What the file leaves open is as it was when the trace was taken. */
static void take_shape(struct reading *r, const struct wt_trace_launch *launch)
{
    struct wt_workload_kernel *k = r->kernel;
    if (!is_given(r, "grid"))
        memcpy(k->grid, launch->grid, sizeof k->grid);
    if (!is_given(r, "block"))
        memcpy(k->block, launch->block, sizeof k->block);
    if (!is_given(r, "registers") && launch->registers_per_thread >= 0)
        k->needs.registers_per_thread = launch->registers_per_thread;
    if (!is_given(r, "static_shared"))
        k->needs.static_shared_bytes = launch->static_shared_bytes;
    if (!is_given(r, "dynamic_shared"))
        k->needs.dynamic_shared_bytes = launch->dynamic_shared_bytes;
    if (!is_given(r, "carveout_kb"))
        k->needs.carveout_kb = launch->carveout_kb;
    if (is_given(r, "name") || !launch->name[0])
        return;
    free(k->name);
    k->name = wt_strdup(launch->name);
}

static enum wt_code read_trace_duration(struct reading *r, const config_setting_t *group)
{
    struct trace_values values;
    WT_TRY(wt_params_read(trace_params, r->config, group, &values, r->err));
    char *path = path_beside(wt_config_path(r->config), values.file);
    struct wt_trace *trace = NULL;
    size_t launch = 0;
    struct wt_list_values *list = wt_alloc(1, sizeof *list);
    r->kernel->distribution = wt_distribution_find("list");
    r->kernel->duration = list;
    enum wt_code code = wt_trace_read(path, &trace, r->err);
    if (code == WT_OK)
        code = find_launch(r, group, trace, &values, &launch);
    if (code == WT_OK)
        code = take_durations(r, group, trace, launch, list);
    if (code == WT_OK)
        take_shape(r, &trace->launches[launch]);
    wt_trace_free(trace);
    free(path);
    wt_params_free(trace_params, &values);
    return code;
}

/* ---- Durations from a distribution ---- */

static enum wt_code unknown_distribution(const struct reading *r, const config_setting_t *group, const char *name)
{
    enum { MOST = 32 };
    const char *names[MOST] = {"trace"};
    char *all = wt_strdup("trace");
    size_t count = 1;
    for (; wt_distributions[count - 1] && count < MOST; count++) {
        names[count] = wt_distributions[count - 1]->name;
        char *longer = wt_format("%s, %s", all, names[count]);
        free(all);
        all = longer;
    }
    const char *nearest = wt_nearest(name, names, count);
    const config_setting_t *place = config_setting_get_member(group, "distribution");
    enum wt_code code =
        nearest ? wt_config_fail(r->config, place, r->err, "no distribution '%s'; did you mean '%s'?", name, nearest)
                : wt_config_fail(r->config, place, r->err, "no distribution '%s'; there are %s", name, all);
    free(all);
    return code;
}

static enum wt_code read_program(struct reading *r)
{
    char *path = path_beside(wt_config_path(r->config), r->values.program);
    enum wt_code code = wt_text_read(path, &r->kernel->program, r->err);
    free(path);
    return code;
}

static enum wt_code read_duration(struct reading *r)
{
    const config_setting_t *group = wt_config_group(r->group, duration_key(r));
    if (r->values.program)
        WT_TRY(read_program(r));
    if (!group)
        return WT_OK;
    r->kernel->duration_line = wt_config_line(group);
    const char *name = NULL;
    if (!config_setting_lookup_string(group, "distribution", &name))
        return wt_config_fail(r->config, group, r->err,
                              "'%s' names no distribution; write e.g. distribution = \"constant\"; cycles = 1000;",
                              duration_key(r));
    if (names_trace(r))
        return read_trace_duration(r, group);
    const struct wt_distribution *distribution = wt_distribution_find(name);
    if (!distribution)
        return unknown_distribution(r, group, name);
    void *values = wt_alloc(1, distribution->size);
    r->kernel->distribution = distribution;
    r->kernel->duration = values;
    return wt_params_read(distribution->params, r->config, group, values, r->err);
}

/* ---- Kernels ---- */

/* At the key's line, or at the kernel's where the key is not given. */
static enum wt_code fail_at_key(const struct reading *r, const char *key, const char *what)
{
    if (!is_given(r, key))
        return wt_config_fail(r->config, r->group, r->err, "'%s': %s", key, what);
    return wt_record_fail(&r->record, key, wt_config_path(r->config), r->err, "'%s': %s", key, what);
}

static int cluster_of(const struct kernel_values *v)
{
    int blocks = 1;
    for (int i = 0; i < v->cluster.count; i++)
        blocks *= v->cluster.values[i];
    return blocks;
}

/* What is not simulated is refused by name rather than simulated wrongly. */
static enum wt_code refuse_unsupported(const struct reading *r)
{
    const struct kernel_values *v = &r->values;
    static const char *const not_with_cluster[] = {"persistent", "cooperative", "split"};
    for (size_t i = 0; cluster_of(v) > 1 && i < sizeof not_with_cluster / sizeof *not_with_cluster; i++)
        if (is_given(r, not_with_cluster[i]))
            return fail_at_key(r, not_with_cluster[i], "not simulated for clusters; remove it");
    static const char *const not_with_program[] = {"persistent", "waiting", "order", "split", "demand"};
    for (size_t i = 0; v->program && i < sizeof not_with_program / sizeof *not_with_program; i++)
        if (is_given(r, not_with_program[i]))
            return fail_at_key(r, not_with_program[i], "not simulated for programs with warps; remove it");
    for (size_t i = 0; r->kernel->model == WT_MODEL_FLUID && i < 2; i++)
        if (is_given(r, not_with_program[i]))
            return fail_at_key(r, not_with_program[i], "not simulated with the model \"fluid\"; remove it, or give model = \"fixed\"");
    return WT_OK;
}

/* What a kernel gives says which model it is for. */
static enum wt_code take_model(struct reading *r)
{
    static const char *const needs[] = {[WT_MODEL_FIXED] = "duration", [WT_MODEL_FLUID] = "demand", [WT_MODEL_WARP] = "program"};
    bool demand = is_given(r, "demand"), program = r->values.program != NULL;
    enum wt_model model = program ? WT_MODEL_WARP : demand ? WT_MODEL_FLUID : WT_MODEL_FIXED;
    r->kernel->model = model;
    if (!is_given(r, "model") || (int)model == r->values.model)
        return WT_OK;
    r->kernel->model = (enum wt_model)r->values.model;
    if (program)
        return fail_at_key(r, "model", "a kernel with a program has the model \"warp\"; remove one of them");
    if (!is_given(r, needs[r->kernel->model]))
        return wt_record_fail(&r->record, "model", wt_config_path(r->config), r->err, "the model \"%s\" needs '%s'; give it",
                              wt_model_names[r->kernel->model], needs[r->kernel->model]);
    return WT_OK;
}

static void take_extent(int extent[3], const struct wt_ints *list)
{
    for (int i = 0; i < 3; i++)
        extent[i] = i < list->count ? list->values[i] : 1;
}

/* The key's line, or the kernel's where it is not given. */
static long line_of(const struct reading *r, const char *key)
{
    return is_given(r, key) ? wt_record_origin(&r->record, key)->line : wt_config_line(r->group);
}

static void take_values(struct reading *r, size_t index)
{
    struct kernel_values *v = &r->values;
    struct wt_workload_kernel *k = r->kernel;
    take_extent(k->grid, &v->grid);
    take_extent(k->block, &v->block);
    k->name = v->name ? wt_strdup(v->name) : wt_format("kernel%zu", index);
    k->repeat = v->repeat;
    k->cluster = cluster_of(v);
    k->cooperative = v->cooperative;
    k->cooperative_line = line_of(r, "cooperative");
    k->order = v->order;
    k->split = v->split;
    k->split_overhead_cycles = v->split_overhead;
    k->rework_line = line_of(r, v->split > 1 ? "split" : "order");
    k->stream = v->stream;
    k->priority = v->priority;
    k->programmatic = (enum wt_programmatic)v->programmatic;
    k->after = v->after.values; /* taken over */
    k->after_count = v->after.count;
    v->after = (struct wt_ints){0};
    k->line = wt_config_line(r->group);
    k->needs = (struct wt_launch_needs){.registers_per_thread = v->registers,
                                        .static_shared_bytes = v->static_shared,
                                        .dynamic_shared_bytes = v->dynamic_shared,
                                        .carveout_kb = v->carveout_kb,
                                        .barriers = v->barriers};
}

/* Whether the GPU decides how many blocks a persistent kernel has. */
static bool fills_gpu(const struct reading *r)
{
    return r->kernel->behaviour.persistent.line > 0 && !is_given(r, "grid");
}

static enum wt_code check_cluster(const struct reading *r)
{
    int extent[3];
    take_extent(extent, &r->values.cluster);
    if (r->kernel->cluster > WT_MOST_CLUSTER)
        return fail_at_key(r, "cluster", "a cluster has at most 16 blocks");
    for (int i = 0; i < 3; i++)
        if (r->kernel->grid[i] % extent[i])
            return fail_at_key(r, "cluster", "the grid is no multiple of it; make each dimension one");
    return WT_OK;
}

/* Of the sizes as given or as taken from a trace (CUDA C++ Programming Guide, "Technical Specifications"). */
static enum wt_code check_extents(struct reading *r)
{
    struct wt_workload_kernel *k = r->kernel;
    if (k->block[0] == 0)
        return fail_at_key(r, "block", "the trace does not state it; give the threads of a block");
    if (k->grid[1] > 65535 || k->grid[2] > 65535)
        return fail_at_key(r, "grid", "y and z are at most 65535");
    if (k->block[2] > 64)
        return fail_at_key(r, "block", "z is at most 64");
    WT_TRY(check_cluster(r));
    k->grid_blocks = (uint64_t)k->grid[0] * (uint64_t)k->grid[1] * (uint64_t)k->grid[2];
    k->needs.threads = k->block[0] * k->block[1] * k->block[2];
    if (fills_gpu(r))
        k->grid_blocks = 0;
    else
        WT_TRY(wt_behaviour_check(&k->behaviour, k->grid_blocks, wt_config_path(r->config), r->err));
    return WT_OK;
}

/* What has no default must be there; grid and block unless a trace may supply them. */
static enum wt_code check_given(const struct reading *r)
{
    bool duration = is_given(r, "duration"), work = is_given(r, "work");
    if (r->values.program ? duration : !duration)
        return wt_config_fail(r->config, r->group, r->err, r->values.program
                              ? "'program' and 'duration' exclude each other; remove one of them"
                              : "'duration' is missing (how long each block lasts); write e.g. duration = { … };");
    if (work && !r->values.program)
        return fail_at_key(r, "work", "only a program has work; give 'program', too");
    static const char *const needed[] = {"grid", "block"};
    const struct wt_ints *lists[] = {&r->values.grid, &r->values.block};
    for (int i = 0; i < 2; i++)
        if (is_given(r, needed[i]) ? lists[i]->count == 0 : !names_trace(r) && (i > 0 || !fills_gpu(r)))
            return wt_config_fail(r->config, r->group, r->err, "'%s' is missing; write e.g. %s = 256;", needed[i],
                                  needed[i]);
    return WT_OK;
}

static enum wt_code read_recorded(struct reading *r, size_t index)
{
    WT_TRY(wt_record_read(&r->record, r->config, r->group, r->err));
    WT_TRY(wt_record_check(&r->record, wt_config_path(r->config), wt_config_line(r->group), r->err));
    WT_TRY(wt_behaviour_read(r->config, r->group, &r->kernel->behaviour, r->err));
    WT_TRY(wt_demand_read(r->config, r->group, &r->kernel->demand, r->err));
    WT_TRY(check_given(r));
    WT_TRY(take_model(r));
    WT_TRY(refuse_unsupported(r));
    for (int i = 0; i < r->values.after.count; i++)
        if ((size_t)r->values.after.values[i] >= index)
            return fail_at_key(r, "after", "a kernel can only come after kernels before it in the file; order them");
    take_values(r, index);
    WT_TRY(read_duration(r));
    return check_extents(r);
}

static enum wt_code read_kernel(const struct wt_config *config, size_t index, struct wt_workload_kernel *kernel,
                                struct wt_error *err)
{
    struct reading r = {.config = config,
                        .group = wt_config_element(wt_config_root(config), "kernels", index),
                        .kernel = kernel,
                        .err = err};
    r.record = wt_record_begin(kernel_params, &r.values);
    enum wt_code code = read_recorded(&r, index);
    wt_record_free(&r.record);
    wt_params_free(kernel_params, &r.values);
    return code;
}

/* ---- The file ---- */

static void take_file_values(struct wt_workload *workload, struct file_values *values)
{
    workload->title = values->title ? wt_strdup(values->title) : default_title(workload->path);
    workload->placement = values->placement ? wt_strdup(values->placement) : NULL;
    workload->seed = (uint64_t)values->seed;
    if (values->gpu && wt_gpu_is_path(values->gpu))
        workload->gpu = path_beside(workload->path, values->gpu);
    else
        workload->gpu = values->gpu ? wt_strdup(values->gpu) : NULL;
}

static enum wt_code check_launches(const struct wt_workload *workload, struct wt_error *err)
{
    long launches = 0;
    for (size_t i = 0; i < workload->kernel_count; i++)
        launches += workload->kernels[i].repeat;
    if (launches > WT_MOST_LAUNCHES)
        return wt_fail_at(err, workload->path, 0, "%ld launches; give at most %d", launches, WT_MOST_LAUNCHES);
    return WT_OK;
}

static enum wt_code read_file(const struct wt_config *config, struct wt_workload *workload, struct wt_error *err)
{
    struct file_values values;
    WT_TRY(wt_params_read(file_params, config, wt_config_root(config), &values, err));
    take_file_values(workload, &values);
    wt_params_free(file_params, &values);
    size_t count = wt_config_count(wt_config_root(config), "kernels");
    if (count == 0)
        return wt_fail_at(err, workload->path, 0, "'kernels' is empty; describe at least one");
    workload->kernels = wt_alloc(count, sizeof *workload->kernels);
    workload->kernel_count = count;
    for (size_t i = 0; i < count; i++)
        WT_TRY(read_kernel(config, i, &workload->kernels[i], err));
    WT_TRY(check_launches(workload, err));
    return wt_host_calls_read(config, workload, &workload->host, err);
}

enum wt_code wt_workload_from(const struct wt_config *config, struct wt_workload **out, struct wt_error *err)
{
    *out = NULL;
    struct wt_workload *workload = wt_alloc(1, sizeof *workload);
    workload->path = wt_strdup(wt_config_path(config));
    enum wt_code code = read_file(config, workload, err);
    if (code == WT_OK)
        *out = workload;
    else
        wt_workload_free(workload);
    return code;
}

enum wt_code wt_workload_read(const char *path, struct wt_workload **out, struct wt_error *err)
{
    *out = NULL;
    struct wt_config *config = NULL;
    WT_TRY(wt_config_read(path, &config, err));
    enum wt_code code = wt_workload_from(config, out, err);
    wt_config_free(config);
    return code;
}

static void give_work(struct wt_workload_kernel *kernel, const double *work, size_t count)
{
    struct wt_list_values *list = wt_alloc(1, sizeof *list);
    list->cycles.values = wt_alloc(count, sizeof *list->cycles.values);
    list->cycles.count = (int)count;
    memcpy(list->cycles.values, work, count * sizeof *work);
    kernel->distribution = wt_distribution_find("list");
    kernel->duration = list;
}

struct wt_workload *wt_workload_of_program(const char *path, const struct wt_workload_launch *launch)
{
    struct wt_workload *workload = wt_alloc(1, sizeof *workload);
    struct wt_workload_kernel *kernel = wt_alloc(1, sizeof *kernel);
    *workload = (struct wt_workload){
        .path = wt_strdup(path), .title = wt_strdup(launch->name), .seed = 1, .kernels = kernel, .kernel_count = 1};
    *kernel = (struct wt_workload_kernel){.name = wt_strdup(launch->name), .model = WT_MODEL_WARP, .needs = launch->needs,
                                          .cluster = 1, .split = 1, .repeat = 1, .program = launch->program};
    memcpy(kernel->grid, launch->grid, sizeof kernel->grid);
    memcpy(kernel->block, launch->block, sizeof kernel->block);
    kernel->grid_blocks = (uint64_t)launch->grid[0] * (uint64_t)launch->grid[1] * (uint64_t)launch->grid[2];
    kernel->needs.threads = launch->block[0] * launch->block[1] * launch->block[2];
    if (launch->work)
        give_work(kernel, launch->work, launch->work_count);
    return workload;
}

bool wt_workload_is_file_key(const char *key)
{
    for (const struct wt_param *p = file_params; p->key; p++)
        if (!strcmp(p->key, key))
            return true;
    return false;
}

void wt_workload_free(struct wt_workload *workload)
{
    if (!workload)
        return;
    for (size_t i = 0; i < workload->kernel_count; i++) {
        struct wt_workload_kernel *k = &workload->kernels[i];
        free(k->name);
        wt_behaviour_clear(&k->behaviour);
        free(k->after);
        wt_program_free(k->program);
        if (k->duration)
            wt_params_free(k->distribution->params, k->duration);
        free(k->duration);
    }
    wt_host_calls_free(workload->host);
    free(workload->kernels);
    free(workload->path);
    free(workload->title);
    free(workload->gpu);
    free(workload->placement);
    free(workload);
}

void wt_workload_print_keys(FILE *stream)
{
    wt_params_print(file_params, stream);
    for (size_t i = 0; wt_distributions[i]; i++) {
        fprintf(stream, "\nduration: %s (%s)\n", wt_distributions[i]->name, wt_distributions[i]->help);
        wt_params_print(wt_distributions[i]->params + 1, stream);
    }
    fprintf(stream, "\nduration: trace (each block as long as it was measured)\n");
    wt_params_print(trace_params + 1, stream);
}
