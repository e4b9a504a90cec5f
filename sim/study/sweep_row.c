/* A point simulated, and its row: axes, derived keys, resolved settings, results. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "observe/metrics.h"
#include "sm/occupancy.h"
#include "study/launches.h"
#include "study/sweep_state.h"
#include "study/workload.h"

/* ---- GPUs ---- */

struct loaded {
    char *name;
    struct wt_gpu *gpu;
};

struct wt_sweep_gpus {
    struct loaded *list;
    size_t count, capacity;
};

struct wt_sweep_gpus *wt_sweep_gpus_new(void)
{
    return wt_alloc(1, sizeof(struct wt_sweep_gpus));
}

void wt_sweep_gpus_free(struct wt_sweep_gpus *gpus)
{
    for (size_t i = 0; i < gpus->count; i++) {
        free(gpus->list[i].name);
        wt_gpu_free(gpus->list[i].gpu);
    }
    free(gpus->list);
    free(gpus);
}

static enum wt_code find_gpu(struct wt_sweep_gpus *gpus, const char *name, const struct wt_gpu **out, struct wt_error *err)
{
    for (size_t i = 0; i < gpus->count; i++)
        if (!strcmp(gpus->list[i].name, name)) {
            *out = gpus->list[i].gpu;
            return WT_OK;
        }
    struct wt_gpu *gpu = NULL;
    WT_TRY(wt_gpu_load(name, &gpu, err));
    gpus->list = wt_grow(gpus->list, &gpus->capacity, gpus->count + 1, sizeof *gpus->list);
    gpus->list[gpus->count++] = (struct loaded){wt_strdup(name), gpu};
    *out = gpu;
    return WT_OK;
}

/* Each is read once, whoever asks; they stay where they are. */
static enum wt_code gpu_named(struct wt_sweep_gpus *gpus, const char *name, const struct wt_gpu **out, struct wt_error *err)
{
    enum wt_code code;
#pragma omp critical(wt_sweep_gpus)
    code = find_gpu(gpus, name, out, err);
    return code;
}

/* ---- A point ---- */

struct point {
    const struct wt_sweep *sweep;
    size_t number;
    struct wt_workload *workload;
    const struct wt_gpu *gpu;
    const struct wt_policy *policy; /* NULL: the GPU's */
    struct wt_launches *launches;
    struct wt_metrics *metrics; /* NULL: it failed */
    struct wt_occupancy occupancy, idealised; /* of the first kernel */
};

static bool has_axis(const struct wt_sweep *sweep, const char *key)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (!strcmp(sweep->axes[i].key, key))
            return true;
    for (size_t i = 0; i < sweep->derived_count; i++)
        if (!strcmp(sweep->derived[i].key, key))
            return true;
    return false;
}

static enum wt_code run(struct point *p, struct wt_error *err)
{
    struct wt_metrics_stream *stream = wt_metrics_stream_new(p->launches->about);
    struct wt_observer observers[2] = {wt_metrics_stream_observer(stream)};
    struct wt_task_teller teller = {p->launches, observers, 1};
    observers[1] = wt_task_teller_observer(&teller);
    struct wt_simulation simulation = {.gpu = p->gpu,
                                       .policy = p->policy,
                                       .kernels = p->launches->kernels,
                                       .kernel_count = p->launches->count,
                                       .seed = p->workload->seed,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .sharing = p->launches->sharing,
                                       .observers = observers,
                                       .observer_count = 2};
    enum wt_code code = wt_launches_simulate(p->launches, &simulation, p->launches->about, err);
    struct wt_metrics *metrics = wt_metrics_stream_finish(stream);
    if (code == WT_OK)
        p->metrics = metrics;
    else
        wt_metrics_free(metrics);
    return code;
}

static enum wt_code prepare(struct point *p, const struct wt_config *tree, struct wt_error *err)
{
    WT_TRY(wt_workload_from(tree, &p->workload, err));
    const char *gpu = p->sweep->gpu && !has_axis(p->sweep, "gpu") ? p->sweep->gpu : p->workload->gpu;
    WT_TRY(gpu_named(p->sweep->gpus, gpu ? gpu : "h200", &p->gpu, err));
    wt_occupancy(&p->gpu->limits, &p->workload->kernels[0].needs, &p->occupancy, NULL);
    wt_occupancy_idealised(&p->gpu->limits, &p->workload->kernels[0].needs, &p->idealised, NULL);
    if (p->workload->placement)
        WT_TRY(wt_policy_find(p->workload->placement, &p->policy, err));
    return wt_launches_new(p->workload, p->gpu, p->workload->seed, false, &p->launches, err);
}

static void simulate(struct point *p, struct wt_error *err)
{
    struct wt_config *tree = NULL;
    if (wt_sweep_tree(p->sweep, p->number, &tree, err) == WT_OK && prepare(p, tree, err) == WT_OK)
        run(p, err);
    wt_config_free(tree);
}

static void clear(struct point *p)
{
    wt_metrics_free(p->metrics);
    wt_launches_free(p->launches);
    wt_workload_free(p->workload);
}

/* ---- Columns ---- */

static void put_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
    fputc('"', out);
}

/* Nothing where it is unknown. */
static void put_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.9g", value);
}

static void put_extent(FILE *out, const int extent[3])
{
    int dimensions = extent[2] > 1 ? 3 : extent[1] > 1 ? 2 : 1;
    for (int i = 0; i < dimensions; i++)
        fprintf(out, "%s%d", i ? "x" : "", extent[i]);
}

static const struct wt_workload_kernel *first_kernel(const struct point *p)
{
    return &p->workload->kernels[0];
}

/* Settings as resolved; of several kernels the first one's. */
static void gpu_cell(const struct point *p, FILE *out) { put_text(out, p->gpu ? p->gpu->name : ""); }
static void placement_cell(const struct point *p, FILE *out)
{
    put_text(out, p->policy ? p->policy->name : p->gpu ? p->gpu->placement : "");
}
static void seed_cell(const struct point *p, FILE *out) { fprintf(out, "%" PRIu64, p->workload->seed); }
static void kernels_cell(const struct point *p, FILE *out) { fprintf(out, "%zu", p->workload->kernel_count); }
static void grid_cell(const struct point *p, FILE *out)
{
    if (first_kernel(p)->grid_blocks > 0)
        put_extent(out, first_kernel(p)->grid);
    else if (p->launches)
        fprintf(out, "%" PRIu64, p->launches->kernels[0].grid_blocks);
}
static void block_cell(const struct point *p, FILE *out) { put_extent(out, first_kernel(p)->block); }
static void registers_cell(const struct point *p, FILE *out) { fprintf(out, "%d", first_kernel(p)->needs.registers_per_thread); }
static void static_cell(const struct point *p, FILE *out) { fprintf(out, "%d", first_kernel(p)->needs.static_shared_bytes); }
static void dynamic_cell(const struct point *p, FILE *out) { fprintf(out, "%d", first_kernel(p)->needs.dynamic_shared_bytes); }
static void order_cell(const struct point *p, FILE *out) { put_text(out, wt_order_names[first_kernel(p)->order]); }
static void split_cell(const struct point *p, FILE *out) { fprintf(out, "%d", first_kernel(p)->split); }

static const struct setting {
    const char *name;
    void (*put)(const struct point *p, FILE *out);
} settings[] = {{"gpu", gpu_cell}, {"placement", placement_cell}, {"seed", seed_cell}, {"kernels", kernels_cell},
                {"grid", grid_cell}, {"block", block_cell}, {"registers", registers_cell}, {"static_shared", static_cell},
                {"dynamic_shared", dynamic_cell}, {"order", order_cell}, {"split", split_cell}};

enum { SETTINGS = sizeof settings / sizeof *settings };

static void put_limiters(FILE *out, const struct wt_occupancy *occupancy)
{
    const char *join = "";
    for (int r = 0; r < WT_RES_COUNT; r++) {
        if (!occupancy->limiter[r])
            continue;
        fprintf(out, "%s%s", join, wt_resource_name((enum wt_resource)r));
        join = "+";
    }
}

static const char occupancy_columns[] = "blocks_per_sm,occupancy,limiter,idealised_blocks_per_sm,idealised_occupancy";
static const char result_columns[] = "blocks,waves,makespan,makespan_us,blocks_per_cycle,achieved_occupancy,busy,tail,"
                                     "tail_fraction";
enum { RESULTS = 9 };

static void put_occupancy(const struct point *p, FILE *out)
{
    if (!p->gpu) {
        fputs(",,,,", out);
        return;
    }
    fprintf(out, "%d,", p->occupancy.blocks_per_sm);
    put_number(out, p->occupancy.occupancy);
    fputc(',', out);
    put_limiters(out, &p->occupancy);
    fprintf(out, ",%d,", p->idealised.blocks_per_sm);
    put_number(out, p->idealised.occupancy);
}

static void put_results(const struct point *p, FILE *out)
{
    if (!p->metrics) {
        for (int i = 1; i < RESULTS; i++)
            fputc(',', out);
        return;
    }
    const struct wt_metrics_part *w = &p->metrics->whole;
    double cycles = wt_to_cycles(wt_metrics_makespan(w));
    double mhz = p->gpu->clock_mhz;
    const double values[RESULTS] = {(double)w->blocks, w->waves, cycles, mhz > 0 ? cycles / mhz : NAN, w->blocks_per_cycle,
                                    w->occupancy_elapsed, w->busy.mean, wt_to_cycles(w->tail.length), w->tail.fraction};
    for (int i = 0; i < RESULTS; i++) {
        if (i > 0)
            fputc(',', out);
        put_number(out, values[i]);
    }
}

/* ---- Columns of some studies ---- */

static const char warp_columns[] = ",warps_active,warps_eligible,issue_active,stall";

static const char *worst_stall(const struct wt_warp_counters *counters)
{
    int worst = -1;
    for (int reason = 0; reason < WT_STALL_COUNT; reason++)
        if (reason != WT_STALL_SELECTED && reason != WT_STALL_NOT_SELECTED &&
            (worst < 0 || counters->warp_cycles[reason] > counters->warp_cycles[worst]))
            worst = reason;
    return wt_stall_name((enum wt_stall_reason)worst);
}

/* Averages per scheduler, of all launches, and the reason for most of the waiting. */
static void put_warps(const struct point *p, FILE *out)
{
    struct wt_warp_counters all = {0};
    if (!p->metrics || !p->launches->warp) {
        fputs(",,,,", out);
        return;
    }
    for (size_t i = 0; i < p->launches->count; i++) {
        struct wt_warp_result result = wt_warp_result(p->launches->warp, (uint32_t)i);
        wt_warp_counters_add(&all, &result.total);
    }
    const double values[] = {wt_warps_active(&all), wt_warps_eligible(&all), wt_issue_active(&all)};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        fputc(',', out);
        put_number(out, values[i]);
    }
    fprintf(out, ",%s", worst_stall(&all));
}

static const char host_columns[] = ",elapsed,elapsed_us";

/* From the host's first call to the end of all. */
static void put_host(const struct point *p, FILE *out)
{
    bool known = p->metrics && p->launches->about->host;
    double cycles = known ? wt_to_cycles(p->launches->about->host->end) : NAN;
    fputc(',', out);
    put_number(out, cycles);
    fputc(',', out);
    put_number(out, known && p->gpu->clock_mhz > 0 ? cycles / p->gpu->clock_mhz : NAN);
}

static void put_axes(const struct point *p, FILE *out)
{
    for (size_t a = 0; a < p->sweep->axis_count; a++) {
        char *text = wt_sweep_value_text(wt_sweep_choice(p->sweep, p->number, a));
        put_text(out, text);
        fputc(',', out);
        free(text);
    }
    for (size_t d = 0; d < p->sweep->derived_count; d++) {
        put_number(out, wt_sweep_derive(p->sweep, p->number, d));
        fputc(',', out);
    }
}

char *wt_sweep_header(const struct wt_sweep *sweep)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fputs("point,", out);
    for (size_t a = 0; a < sweep->axis_count; a++)
        fprintf(out, "%s,", sweep->axes[a].key);
    for (size_t d = 0; d < sweep->derived_count; d++)
        fprintf(out, "%s,", sweep->derived[d].key);
    for (int i = 0; i < SETTINGS; i++)
        if (!has_axis(sweep, settings[i].name))
            fprintf(out, "%s,", settings[i].name);
    fprintf(out, "%s,%s%s%s,error", occupancy_columns, result_columns, sweep->has_warps ? warp_columns : "",
            sweep->has_host ? host_columns : "");
    fclose(out);
    return text;
}

char *wt_sweep_row(const struct wt_sweep *sweep, size_t number)
{
    struct point p = {.sweep = sweep, .number = number};
    struct wt_error err = {0};
    simulate(&p, &err);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    put_axes(&p, out);
    for (int i = 0; i < SETTINGS; i++) {
        if (has_axis(sweep, settings[i].name))
            continue;
        if (p.workload)
            settings[i].put(&p, out);
        fputc(',', out);
    }
    put_occupancy(&p, out);
    fputc(',', out);
    put_results(&p, out);
    if (sweep->has_warps)
        put_warps(&p, out);
    if (sweep->has_host)
        put_host(&p, out);
    fputc(',', out);
    put_text(out, err.text);
    fclose(out);
    clear(&p);
    return text;
}
