/* wavetail import ncu: Nsight Compute's source page as the counts that --ncu-source needs, its raw page as a workload. */
#include "import.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/outfile.h"
#include "warp/ncu.h"

/* ---- Source page ---- */

static void print_counts_json(const struct import_options *o, const struct wt_ncu_source *source)
{
    double executed = 0;
    for (size_t i = 0; i < source->count; i++)
        executed += source->rows[i].executed;
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "kernel", source->kernel);
    wt_json_string(&json, "output", o->out);
    wt_json_int(&json, "instructions", (int64_t)source->count);
    wt_json_number(&json, "warps", source->rows[0].executed, 15);
    wt_json_number(&json, "executed", executed, 15);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code write_counts(const struct import_options *o, const struct wt_ncu_source *source, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, o->out, err));
    wt_ncu_source_write(source, out.stream);
    WT_TRY(wt_outfile_commit(&out, err));
    if (o->common.json)
        print_counts_json(o, source);
    return WT_OK;
}

static enum wt_code import_source(const struct import_options *o, struct wt_error *err)
{
    struct wt_ncu_source *source;
    WT_TRY(wt_ncu_source_read(o->file, o->sass.kernel, &source, err));
    enum wt_code code = write_counts(o, source, err);
    wt_ncu_source_free(source);
    return code;
}

/* ---- Raw page ---- */

struct launch_row {
    const struct wt_ncu_metrics *metrics;
    size_t row;
    const char *path;
};

static enum wt_code number(const struct launch_row *l, const char *column, double low, double high, double *value,
                           struct wt_error *err)
{
    long line = l->metrics->lines[l->row];
    if (!wt_ncu_number(l->metrics, l->row, column, value))
        return wt_fail_at(err, l->path, line, "lacks %s; profile with --set full", column);
    if (*value < low || *value > high)
        return wt_fail_at(err, l->path, line, "%s is %g, not from %g to %g; copy the page again", column, *value, low, high);
    return WT_OK;
}

static double number_or_none(const struct launch_row *l, const char *column)
{
    double value;
    return wt_ncu_number(l->metrics, l->row, column, &value) && value >= 0 && value < 1 << 20 ? value : 0;
}

/* How long warps were there, all together, over how many there were: a block's mean duration, where its warps end together. */
static enum wt_code mean_cycles(const struct launch_row *l, double warps, double *cycles, struct wt_error *err)
{
    double resident, active;
    WT_TRY(number(l, "smsp__warps_active.avg.per_cycle_active", 0, 64, &resident, err));
    WT_TRY(number(l, "smsp__cycles_active.sum", 0, 1e18, &active, err));
    *cycles = resident * active / warps;
    return WT_OK;
}

static enum wt_code take_launch(const struct launch_row *l, struct import_kernel *kernel, struct wt_error *err)
{
    double grid, block, registers, cycles;
    WT_TRY(number(l, "launch__grid_size", 1, 2147483647, &grid, err));
    WT_TRY(number(l, "launch__block_size", 1, 1024, &block, err));
    WT_TRY(number(l, "launch__registers_per_thread", 0, 255, &registers, err));
    WT_TRY(mean_cycles(l, grid * (double)(((int)block + 31) / 32), &cycles, err));
    const char *name = wt_ncu_text(l->metrics, l->row, "Kernel Name");
    *kernel = (struct import_kernel){.name = name ? name : "kernel",
                                     .grid = (long long)grid,
                                     .block = (long long)block,
                                     .registers = (int)registers,
                                     .static_shared = (int)number_or_none(l, "launch__shared_mem_per_block_static"),
                                     .dynamic_shared = (int)number_or_none(l, "launch__shared_mem_per_block_dynamic"),
                                     .barriers = -1,
                                     .cycles = cycles};
    return WT_OK;
}

static bool is_wanted(const struct import_options *o, const struct wt_ncu_metrics *metrics, size_t row)
{
    const char *name = wt_ncu_text(metrics, row, "Kernel Name");
    return !o->sass.kernel || (name && strstr(name, o->sass.kernel));
}

static void print_launches_json(const struct import_kernel *kernels, size_t count)
{
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_array(&json, "launches");
    for (size_t i = 0; i < count; i++) {
        wt_json_object(&json, NULL);
        wt_json_string(&json, "name", kernels[i].name);
        wt_json_int(&json, "grid", kernels[i].grid);
        wt_json_int(&json, "block", kernels[i].block);
        wt_json_int(&json, "registers", kernels[i].registers);
        wt_json_int(&json, "static_shared", kernels[i].static_shared);
        wt_json_int(&json, "dynamic_shared", kernels[i].dynamic_shared);
        wt_json_number(&json, "block_cycles", kernels[i].cycles, 8);
        wt_json_close(&json);
    }
    wt_json_close(&json);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code write_launches(const struct import_options *o, const struct import_kernel *kernels, size_t count,
                                   struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, o->out, err));
    char *head = wt_format("Launches of %s, one after another. Each block lasts as long as one was resident on average\n"
                           "(smsp__warps_active x smsp__cycles_active / warps).", o->file);
    import_write_workload(out.stream, head, o->common.gpu, kernels, count);
    free(head);
    return wt_outfile_commit(&out, err);
}

static enum wt_code take_launches(const struct import_options *o, const struct wt_ncu_metrics *metrics,
                                  struct import_kernel *kernels, struct wt_error *err)
{
    size_t count = 0;
    for (size_t row = 0; row < metrics->rows; row++)
        if (is_wanted(o, metrics, row))
            WT_TRY(take_launch(&(struct launch_row){metrics, row, o->file}, &kernels[count++], err));
    if (count == 0)
        return wt_fail_at(err, o->file, 0, "has no launch of a kernel whose name holds '%s'", o->sass.kernel);
    if (!o->common.json || strcmp(o->out, "-"))
        WT_TRY(write_launches(o, kernels, count, err));
    if (o->common.json)
        print_launches_json(kernels, count);
    return WT_OK;
}

static enum wt_code import_raw(const struct import_options *o, struct wt_error *err)
{
    struct wt_ncu_metrics *metrics;
    WT_TRY(wt_ncu_metrics_read(o->file, &metrics, err));
    struct import_kernel *kernels = wt_alloc(metrics->rows, sizeof *kernels);
    enum wt_code code = take_launches(o, metrics, kernels, err);
    free(kernels);
    wt_ncu_metrics_free(metrics);
    return code;
}

/* ---- Both ---- */

static enum wt_code run(const struct import_options *o, struct wt_error *err)
{
    bool is_source;
    WT_TRY(wt_ncu_is_source(o->file, &is_source, err));
    if (is_source && o->common.json && !strcmp(o->out, "-"))
        return wt_fail(err, WT_BAD_USAGE, "wavetail import: --json takes standard output; give -o FILE, too");
    return is_source ? import_source(o, err) : import_raw(o, err);
}

const struct import_kind import_ncu = {.name = "ncu", .summary = "ncu --page source|raw --csv", .import = run};
