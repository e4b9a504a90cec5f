#include "fit/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fit/statistics.h"
#include "sm/occupancy.h"
#include "trace/used_tpcs.h"

/* After so long without an end none of the GPC's reports waits: forty take that long on an H200 whose GPCs all report. */
static const double QUIET_CYCLES = 400;

/* Quartiles of the TPCs' first lags. Empty kernels on an H200: 1; kernels fetched from memory: 16 and more. */
static const double CALM_CYCLES = 4;

/* ---- Reading ---- */

static char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = wt_strdup(slash ? slash + 1 : path);
    static const char *const endings[] = {".zst", ".csv"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(name), tail = strlen(endings[i]);
        if (length > tail && !strcmp(name + length - tail, endings[i]))
            name[length - tail] = '\0';
    }
    return name;
}

static int by_name(const void *left, const void *right)
{
    const struct wt_trace_evidence *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->path, b->path);
}

static enum wt_code refuse_kinds(const struct wt_trace *trace, struct wt_error *err)
{
    const char *special = wt_trace_special_kind(trace, 0);
    if (!special)
        return WT_OK;
    return wt_fail_at(err, trace->path, 0, "has %s, from which no rates are told; leave it out and give traces "
                      "of ordinary launches one after another", special);
}

static enum wt_code read_one(struct wt_trace_evidence *evidence, struct wt_error *err)
{
    WT_TRY(wt_trace_read(evidence->path, &evidence->trace, err));
    WT_TRY(refuse_kinds(evidence->trace, err));
    WT_TRY(wt_clocks_fit(evidence->trace, &evidence->clocks, err));
    const struct wt_trace *trace = evidence->trace;
    evidence->discovery = wt_discover_topology(trace, evidence->clocks);
    evidence->stays = wt_alloc(trace->row_count, sizeof *evidence->stays);
    for (size_t i = 0; i < trace->row_count; i++)
        evidence->stays[i] = (struct wt_stay){.start = wt_clocks_start(evidence->clocks, &trace->rows[i]),
                                              .end = wt_clocks_end(evidence->clocks, &trace->rows[i]),
                                              .sm = trace->rows[i].sm};
    return WT_OK;
}

/* The first one's device is what all must come from. */
static enum wt_code compare_devices(const struct wt_evidence *evidence, struct wt_error *err)
{
    const struct wt_trace *first = evidence->traces[0].trace;
    for (size_t i = 1; i < evidence->trace_count; i++) {
        const struct wt_trace *other = evidence->traces[i].trace;
        if (strcmp(first->device, other->device) || first->cc_major != other->cc_major ||
            first->cc_minor != other->cc_minor)
            return wt_fail_at(err, other->path, 0, "comes from '%s' (cc %d.%d), but %s from '%s' (cc %d.%d); calibrate one "
                              "GPU at a time", other->device, other->cc_major, other->cc_minor, first->path,
                              first->device, first->cc_major, first->cc_minor);
    }
    return WT_OK;
}

static enum wt_code first_failure(const enum wt_code *codes, const struct wt_error *errors, size_t count,
                                  struct wt_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (codes[i] != WT_OK)
            return wt_fail(err, codes[i], "%s", errors[i].text);
    return WT_OK;
}

enum wt_code wt_evidence_read(const char *const *paths, size_t count, struct wt_evidence *out, struct wt_error *err)
{
    *out = (struct wt_evidence){.traces = wt_alloc(count, sizeof *out->traces), .trace_count = count};
    enum wt_code *codes = wt_alloc(count, sizeof *codes);
    struct wt_error *errors = wt_alloc(count, sizeof *errors);
    for (size_t i = 0; i < count; i++)
        out->traces[i] = (struct wt_trace_evidence){.path = paths[i], .name = short_name(paths[i])};
    qsort(out->traces, count, sizeof *out->traces, by_name);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < count; i++)
        codes[i] = read_one(&out->traces[i], &errors[i]);
    enum wt_code code = first_failure(codes, errors, count, err);
    if (code == WT_OK)
        code = compare_devices(out, err);
    free(codes);
    free(errors);
    if (code != WT_OK)
        wt_evidence_free(out);
    return code;
}

/* ---- Launches ---- */

const struct wt_stay *wt_stay_of(const struct wt_launch_evidence *launch, int sm, int k)
{
    return &launch->stays[launch->of_sm[launch->begin[sm] + (size_t)k]];
}

bool wt_is_second_of_tpc(const struct wt_topology *topology, int sm)
{
    return sm > 0 && topology->tpc_of_sm[sm] == topology->tpc_of_sm[sm - 1];
}

static void list_by_sm(struct wt_launch_evidence *launch, int sm_count)
{
    launch->of_sm = wt_alloc(launch->blocks, sizeof *launch->of_sm);
    launch->begin = wt_alloc((size_t)sm_count + 1, sizeof *launch->begin);
    for (size_t b = 0; b < launch->blocks; b++)
        launch->begin[launch->stays[b].sm + 1]++;
    for (int s = 0; s < sm_count; s++)
        launch->begin[s + 1] += launch->begin[s];
    size_t *next = wt_alloc((size_t)sm_count, sizeof *next);
    memcpy(next, launch->begin, (size_t)sm_count * sizeof *next);
    for (size_t b = 0; b < launch->blocks; b++)
        launch->of_sm[next[launch->stays[b].sm]++] = (uint32_t)b;
    free(next);
}

static int by_end(const void *left, const void *right)
{
    const struct wt_release *a = left, *b = right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->sm > b->sm) - (a->sm < b->sm);
}

/* One SM's ends paired with its starts beyond the first wave. An end without a start is kept with wait -1: it may
 * still disturb others. */
static void pair_off(struct wt_launch_evidence *launch, int sm)
{
    struct wt_sample ends = {0}, starts = {0};
    for (size_t i = launch->begin[sm]; i < launch->begin[sm + 1]; i++) {
        const struct wt_stay *stay = &launch->stays[launch->of_sm[i]];
        wt_sample_add(&ends, stay->end);
        if (launch->of_sm[i] >= launch->first_wave)
            wt_sample_add(&starts, stay->start);
    }
    wt_sample_sort(&ends);
    wt_sample_sort(&starts);
    for (size_t i = 0; i < ends.count; i++)
        launch->releases[launch->release_count++] =
            (struct wt_release){.end = ends.values[i], .sm = (uint16_t)sm,
                                .wait = i < starts.count ? starts.values[i] - ends.values[i] : -1};
    wt_sample_free(&ends);
    wt_sample_free(&starts);
}

/* By GPC: from when on a release can be quiet. Reports wait while the first wave is handed out. */
static double *after_first_wave(const struct wt_launch_evidence *launch, const struct wt_topology *t)
{
    double *from = wt_alloc((size_t)t->gpc_count, sizeof *from);
    for (int g = 0; g < t->gpc_count; g++)
        from[g] = -1e300;
    for (size_t b = 0; b < launch->first_wave; b++) {
        double *gpc = &from[t->gpc_of_sm[launch->stays[b].sm]];
        *gpc = fmax(*gpc, launch->stays[b].start + QUIET_CYCLES);
    }
    return from;
}

static void find_releases(struct wt_launch_evidence *launch, const struct wt_topology *t)
{
    launch->releases = wt_alloc(launch->blocks, sizeof *launch->releases);
    for (int sm = 0; sm < t->sm_count; sm++)
        pair_off(launch, sm);
    qsort(launch->releases, launch->release_count, sizeof *launch->releases, by_end);
    double *quiet_from = after_first_wave(launch, t);
    size_t kept = 0;
    for (size_t i = 0; i < launch->release_count; i++) {
        struct wt_release release = launch->releases[i];
        double *from = &quiet_from[t->gpc_of_sm[release.sm]];
        release.quiet = release.end >= *from;
        *from = release.end + QUIET_CYCLES;
        if (release.wait > 0)
            launch->releases[kept++] = release;
    }
    launch->release_count = kept;
    free(quiet_from);
}

static bool is_calm(const struct wt_launch_evidence *launch, const struct wt_topology *t)
{
    struct wt_sample lags = {0};
    for (int sm = 1; sm < t->sm_count && launch->rounds > 0; sm++)
        if (wt_is_second_of_tpc(t, sm))
            wt_sample_add(&lags, wt_stay_of(launch, sm, 0)->start - wt_stay_of(launch, sm - 1, 0)->start);
    wt_sample_sort(&lags);
    bool calm = lags.count > 1 && wt_quartile_range(&lags) <= CALM_CYCLES;
    wt_sample_free(&lags);
    return calm;
}

static double median_duration(const struct wt_launch_evidence *launch)
{
    struct wt_sample durations = {0};
    for (size_t b = 0; b < launch->blocks; b++)
        wt_sample_add(&durations, launch->stays[b].end - launch->stays[b].start);
    wt_sample_sort(&durations);
    double median = wt_sample_quantile(&durations, 0.5);
    wt_sample_free(&durations);
    return median;
}

static int fewest_in_first_wave(const struct wt_launch_evidence *launch, int sm_count)
{
    int fewest = WT_MAX_SLOTS;
    for (int sm = 0; sm < sm_count; sm++) {
        int count = 0;
        for (size_t i = launch->begin[sm]; i < launch->begin[sm + 1]; i++)
            count += launch->of_sm[i] < launch->first_wave;
        fewest = count < fewest ? count : fewest;
    }
    return fewest;
}

static bool has_all_blocks(const struct wt_trace *trace, size_t launch)
{
    return trace->launches[launch].row_count > 0 &&
           trace->launches[launch].row_count == wt_trace_grid_blocks(&trace->launches[launch]);
}

/* False when the launch cannot be used. */
static bool shape_launch(struct wt_launch_evidence *launch, const struct wt_trace_launch *trace, const struct wt_gpu *gpu)
{
    struct wt_launch_needs needs = wt_trace_needs(trace);
    struct wt_occupancy occupancy;
    if (needs.threads < 1 || needs.registers_per_thread < 0 ||
        wt_shape_make(&gpu->limits, &needs, &launch->shape, NULL) != WT_OK ||
        wt_occupancy(&gpu->limits, &needs, &occupancy, NULL) != WT_OK)
        return false;
    size_t room = (size_t)occupancy.blocks_per_sm * (size_t)gpu->topology.sm_count;
    launch->first_wave = launch->blocks < room ? launch->blocks : room;
    return true;
}

static void prepare_launch(struct wt_evidence *evidence, size_t trace, size_t index, const struct wt_stay *stays,
                           const struct wt_gpu *gpu)
{
    const struct wt_trace *t = evidence->traces[trace].trace;
    struct wt_launch_evidence launch = {.trace = trace, .launch = index, .blocks = t->launches[index].row_count,
                                        .stays = stays};
    if (!has_all_blocks(t, index) || t->sm_count > gpu->topology.sm_count ||
        !shape_launch(&launch, &t->launches[index], gpu))
        return;
    list_by_sm(&launch, gpu->topology.sm_count);
    launch.rounds = fewest_in_first_wave(&launch, gpu->topology.sm_count);
    find_releases(&launch, &gpu->topology);
    launch.calm = is_calm(&launch, &gpu->topology);
    launch.median_duration = median_duration(&launch);
    evidence->launches[evidence->launch_count++] = launch;
}

void wt_evidence_prepare(struct wt_evidence *evidence, const struct wt_gpu *gpu)
{
    size_t most = 0;
    for (size_t i = 0; i < evidence->trace_count; i++)
        most += evidence->traces[i].trace->launch_count;
    evidence->launches = wt_alloc(most, sizeof *evidence->launches);
    for (size_t i = 0; i < evidence->trace_count; i++) {
        const struct wt_trace *trace = evidence->traces[i].trace;
        for (size_t l = 0; l < trace->launch_count; l++)
            prepare_launch(evidence, i, l, evidence->traces[i].stays + (wt_trace_rows_of(trace, l) - trace->rows), gpu);
    }
}

bool *wt_evidence_used_tpcs(const struct wt_launch_evidence *launch, const struct wt_gpu *gpu)
{
    struct wt_block_start *starts = wt_alloc(launch->first_wave, sizeof *starts);
    bool *used = wt_alloc((size_t)gpu->topology.tpc_count, sizeof *used);
    for (size_t b = 0; b < launch->first_wave; b++)
        starts[b] = (struct wt_block_start){launch->stays[b].start, launch->stays[b].sm};
    wt_used_tpcs(gpu, starts, launch->first_wave, used);
    free(starts);
    return used;
}

void wt_evidence_free(struct wt_evidence *evidence)
{
    for (size_t i = 0; i < evidence->launch_count; i++) {
        free(evidence->launches[i].of_sm);
        free(evidence->launches[i].begin);
        free(evidence->launches[i].releases);
    }
    for (size_t i = 0; i < evidence->trace_count; i++) {
        wt_discovery_free(&evidence->traces[i].discovery);
        wt_clocks_free(evidence->traces[i].clocks);
        wt_trace_free(evidence->traces[i].trace);
        free(evidence->traces[i].name);
        free(evidence->traces[i].stays);
    }
    free(evidence->launches);
    free(evidence->traces);
    *evidence = (struct wt_evidence){0};
}
