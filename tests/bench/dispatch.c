/* How fast is the simulation? Blocks per second of `wavetail run` (the workload lognormal.cfg: 10 M blocks, summary
 * metrics only) beside those of a bare list scheduler on a binary heap, which knows finish times and nothing else.
 * Both take their durations from the same draws, in turn within one run. BENCH_BILLION=1 adds a grid of a billion
 * blocks. Targets are printed with what was reached; the exit code is 0 unless something fails to run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "measure.h"
#include "observe/metrics.h"
#include "study/launches.h"

enum { REPEATS = 5 };

static const double target_rate = 10e6, target_ratio = 0.5, target_mb = 64;

/* ---- The list scheduler ---- */

/* The slot that is free first takes the next block; `finish` is a binary heap, the earliest on top. */
static void replace_top(wt_time *finish, size_t count, wt_time with)
{
    size_t hole = 0;
    for (size_t child = 1; child < count; child = 2 * hole + 1) {
        if (child + 1 < count && finish[child + 1] < finish[child])
            child++;
        if (with <= finish[child])
            break;
        finish[hole] = finish[child];
        hole = child;
    }
    finish[hole] = with;
}

static wt_time latest(const wt_time *finish, size_t count)
{
    wt_time end = 0;
    for (size_t i = 0; i < count; i++)
        end = finish[i] > end ? finish[i] : end;
    return end;
}

/* The makespan; `slots` of the whole GPU. */
static wt_time list_schedule(const struct wt_kernel *kernel, size_t slots)
{
    wt_time *finish = wt_alloc(slots, sizeof *finish);
    for (uint64_t block = 0; block < kernel->grid_blocks; block++)
        replace_top(finish, slots, finish[0] + kernel->cost.duration(kernel->cost.context, block));
    wt_time end = latest(finish, slots);
    free(finish);
    return end;
}

/* ---- The simulation, as `run` has it when only a summary is wanted ---- */

static enum wt_code simulate(const struct wt_gpu *gpu, const struct wt_launches *launches, wt_time *makespan,
                             struct wt_error *err)
{
    struct wt_metrics_stream *stream = wt_metrics_stream_new(launches->about);
    struct wt_observer observer = wt_metrics_stream_observer(stream);
    struct wt_simulation simulation = {.gpu = gpu,
                                       .kernels = launches->kernels,
                                       .kernel_count = launches->count,
                                       .seed = 1,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .observers = &observer,
                                       .observer_count = 1};
    enum wt_code code = wt_simulate(&simulation, err);
    struct wt_metrics *metrics = wt_metrics_stream_finish(stream);
    *makespan = wt_metrics_makespan(&metrics->whole);
    wt_metrics_free(metrics);
    return code;
}

/* ---- Measuring ---- */

struct bench {
    struct wt_workload *workload;
    struct wt_gpu *gpu;
    struct wt_launches *launches;
};

static enum wt_code load(struct bench *bench, uint64_t grid_blocks, struct wt_error *err)
{
    WT_TRY(wt_workload_read(WT_SOURCE_CONFIGS "/workloads/lognormal.cfg", &bench->workload, err));
    if (grid_blocks)
        bench->workload->kernels[0].grid_blocks = grid_blocks;
    WT_TRY(wt_gpu_load(bench->workload->gpu, &bench->gpu, err));
    return wt_launches_new(bench->workload, bench->gpu, bench->workload->seed, false, &bench->launches, err);
}

static void unload(struct bench *bench)
{
    wt_launches_free(bench->launches);
    wt_gpu_free(bench->gpu);
    wt_workload_free(bench->workload);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

static const char *verdict(bool met)
{
    return met ? "met" : "MISSED";
}

static enum wt_code compare(struct wt_error *err)
{
    struct bench bench = {0};
    enum wt_code code = load(&bench, 0, err);
    double simulated[REPEATS], listed[REPEATS], ratios[REPEATS];
    wt_time makespan = 0, list_makespan = 0;
    for (int i = 0; code == WT_OK && i < REPEATS; i++) {
        const struct wt_kernel *kernel = &bench.launches->kernels[0];
        size_t slots = (size_t)bench.gpu->topology.sm_count * (size_t)bench.launches->about->launches[0].blocks_per_sm;
        double begun = now();
        code = simulate(bench.gpu, bench.launches, &makespan, err);
        double half = now();
        list_makespan = list_schedule(kernel, slots);
        simulated[i] = (double)kernel->grid_blocks / (half - begun);
        listed[i] = (double)kernel->grid_blocks / (now() - half);
        ratios[i] = simulated[i] / listed[i];
    }
    if (code == WT_OK) {
        double rate = median(simulated, REPEATS), ratio = median(ratios, REPEATS), mb = peak_mb();
        printf("dispatch: %" PRIu64 " blocks of %d threads on %s, lognormal durations, medians of %d runs each\n",
               bench.launches->kernels[0].grid_blocks, bench.launches->about->launches[0].threads_per_block,
               bench.gpu->name, REPEATS);
        printf("  simulated, summary metrics   %6.2f M blocks/s  (target >= %.0f: %s)  makespan %.0f cycles\n", rate * 1e-6,
               target_rate * 1e-6, verdict(rate >= target_rate), wt_to_cycles(makespan));
        printf("  bare list scheduler (heap)   %6.2f M blocks/s  makespan %.0f cycles\n", median(listed, REPEATS) * 1e-6,
               wt_to_cycles(list_makespan));
        printf("  ratio                        %6.2f  (target >= %.1f: %s)\n", ratio, target_ratio,
               verdict(ratio >= target_ratio));
        printf("  peak memory                  %6.1f MB  (target <= %.0f: %s)\n", mb, target_mb, verdict(mb <= target_mb));
    }
    unload(&bench);
    return code;
}

static enum wt_code run_billion(struct wt_error *err)
{
    struct bench bench = {0};
    wt_time makespan = 0;
    enum wt_code code = load(&bench, 1000000000, err);
    double begun = now();
    if (code == WT_OK)
        code = simulate(bench.gpu, bench.launches, &makespan, err);
    double seconds = now() - begun, mb = peak_mb();
    if (code == WT_OK)
        printf("dispatch: 1000000000 blocks in %.0f s, %.2f M blocks/s, makespan %.0f cycles, peak memory %.1f MB "
               "(target <= %.0f: %s)\n", seconds, 1e3 / seconds, wt_to_cycles(makespan), mb, target_mb,
               verdict(mb <= target_mb));
    unload(&bench);
    return code;
}

int main(void)
{
    struct wt_error err = {0};
    enum wt_code code = compare(&err);
    if (code == WT_OK && getenv("BENCH_BILLION"))
        code = run_billion(&err);
    if (code != WT_OK)
        fprintf(stderr, "%s\n", err.text);
    return (int)code;
}
