/* How long does `wavetail whatif` take for 20 block sizes? Fitting and predicting launches of 10,000 blocks, as a trace has them: each is
 * first simulated (cost/fluid.h) and its trace written to build/bench-whatif. Processor time of one thread, beside that of a bare list
 * scheduler on a binary heap for so many simulations of the launch. Targets are printed with what was reached; the exit code is 0 unless
 * something fails to run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <omp.h>

#include "core/draw.h"
#include "core/mem.h"
#include "core/random.h"
#include "dispatch/simulate.h"
#include "measure.h"
#include "study/stays.h"
#include "study/whatif.h"

enum { BLOCKS = 10000, THREADS = 256, WARPS = THREADS / 32, POINTS = 20, REPEATS = 3, SCHEDULES = 100, SLOTS = 132 * 8 };

static const double target_seconds = 1;

#define FOLDER "build/bench-whatif"

/* ---- Launches ---- */

struct launch {
    const char *name;
    double sigma; /* works: lognormal; 0: all the same */
    int unit;     /* warps that share one */
    bool stated;
    struct wt_bound bound;
};

static const struct launch launches[] = {
    {"equal", 0, WARPS, false, {.saturation = 14, .favour = 0.6, .grain = 4}},
    {"equal, served alike", 0, WARPS, false, {.gpu = true, .saturation = 14, .grain = 4}},
    {"unequal, not stated", 0.8, WARPS, false, {.saturation = 14, .favour = 0.5, .grain = 4, .hindered = 0.7}},
    {"unequal", 0.8, WARPS, true, {.saturation = 14, .favour = 0.5, .grain = 4, .hindered = 0.7}},
    {"unequal, served alike", 0.8, WARPS, true, {.gpu = true, .saturation = 14, .grain = 4}},
    {"unequal warps", 0.8, 1, true, {.saturation = 20, .favour = 0.3, .grain = 4, .apart = true}},
    {"unequal warps, served alike", 0.8, 1, true, {.gpu = true, .saturation = 14, .grain = 4}},
};

struct capture {
    const struct launch *launch;
    double *works; /* by unit of warps */
    FILE *stream;
};

static double work_at(const struct capture *c, uint64_t block, int part)
{
    return c->works[block * WARPS / (uint64_t)c->launch->unit + (uint64_t)part];
}

static int parts(void *context, uint64_t block, struct wt_fluid_part list[WT_FLUID_PARTS])
{
    const struct capture *c = context;
    int count = WARPS / c->launch->unit;
    for (int i = 0; i < count; i++)
        list[i] = (struct wt_fluid_part){c->launch->unit, work_at(c, block, i)};
    return count;
}

/* The first warp is the one that reads the clock. */
static void write_row(void *context, const struct wt_block_run *run)
{
    struct capture *c = context;
    double longest = 0, start = wt_to_cycles(run->start), end = wt_to_cycles(run->end), first = work_at(c, run->block, 0);
    for (int i = 0; i < WARPS / c->launch->unit; i++)
        longest = fmax(longest, work_at(c, run->block, i));
    long long read = llround((start + (end - start) * first / longest) / 1.98), begun = llround(start / 1.98);
    fprintf(c->stream, "0,%llu,%d,%lld,%lld", (unsigned long long)run->block, (int)run->sm, begun / 32 * 32, read / 32 * 32 + 32);
    fprintf(c->stream, c->launch->stated ? ",%.0f\n" : "\n", first);
}

static void write_head(const struct capture *c)
{
    fprintf(c->stream, "# wavetail-trace 1\n# device = NVIDIA H200\n# compute_capability = 9.0\n# sm_count = 132\n# clock_khz = 1980000\n"
            "# globaltimer_step_ns = 32\n# launch 0: name=bench grid=%d,1,1 block=%d,1,1 regs=32 static_smem=0 dynamic_smem=0", BLOCKS,
            THREADS);
    if (c->launch->stated)
        fprintf(c->stream, " work=lognormal:8000:%g/%d", c->launch->sigma, 32 * c->launch->unit);
    fprintf(c->stream, "\nlaunch,block,sm,time_start_ns,time_end_ns%s\n", c->launch->stated ? ",work" : "");
}

static enum wt_code simulate(struct capture *c, const struct wt_gpu *gpu, struct wt_error *err)
{
    struct wt_launch_needs needs = {.threads = THREADS, .registers_per_thread = 32, .carveout_kb = WT_CARVEOUT_DEFAULT};
    struct wt_kernel kernel = {.name = "bench", .grid_blocks = BLOCKS};
    WT_TRY(wt_shape_make(&gpu->limits, &needs, &kernel.shape, err));
    struct wt_fluid_kernel sharer = wt_bound_kernel(&c->launch->bound, gpu->topology.sm_count);
    sharer.sub_cores &= c->launch->unit == 1;
    sharer.favour = wt_bound_favour(&c->launch->bound, c->launch->bound.apart ? 4 : WARPS);
    sharer.parts = parts;
    sharer.context = c;
    struct wt_fluid *fluid = wt_fluid_new(&sharer, 1, gpu->topology.sm_count);
    struct wt_sharing sharing = wt_fluid_sharing(fluid);
    struct wt_observer observer = {.context = c, .block_done = write_row};
    struct wt_simulation simulation = {.gpu = gpu, .kernels = &kernel, .kernel_count = 1, .seed = 1, .first_group = -1,
                                       .first_extra_sm = -1, .sharing = &sharing, .observers = &observer, .observer_count = 1};
    enum wt_code code = wt_simulate(&simulation, err);
    wt_fluid_free(fluid);
    return code;
}

static enum wt_code capture(const struct launch *launch, const char *path, struct wt_error *err)
{
    struct capture c = {.launch = launch, .works = wt_alloc(BLOCKS * WARPS, sizeof *c.works), .stream = fopen(path, "w")};
    struct wt_random random = wt_random_stream(1, "bench", 0);
    struct wt_gpu *gpu = NULL;
    wt_draw_normal(&random, c.works, BLOCKS * WARPS);
    for (int i = 0; i < BLOCKS * WARPS; i++)
        c.works[i] = 8000 * exp(launch->sigma * c.works[i]);
    enum wt_code code = c.stream ? wt_gpu_load("h200", &gpu, err) : wt_fail_at(err, path, 0, "cannot be written");
    if (code == WT_OK) {
        write_head(&c);
        code = simulate(&c, gpu, err);
    }
    if (c.stream && fclose(c.stream) && code == WT_OK)
        code = wt_fail_at(err, path, 0, "cannot be written");
    wt_gpu_free(gpu);
    free(c.works);
    return code;
}

/* ---- What is measured ---- */

static enum wt_code answer(const char *path, double *fit_seconds, double *seconds, struct wt_error *err)
{
    static const int sizes[POINTS] = {32,  64,  96,  128, 160, 192, 224, 256, 288, 320,
                                      384, 448, 512, 576, 640, 704, 768, 832, 896, 1024};
    struct wt_whatif *whatif = NULL;
    double begun = now();
    enum wt_code code = wt_whatif_fit(&path, 1, NULL, false, &whatif, err);
    *fit_seconds = now() - begun;
    for (int i = 0; code == WT_OK && i < POINTS; i++) {
        struct wt_whatif_point point = {.threads = sizes[i], .registers_per_thread = -1, .dynamic_shared_bytes = -1, .split = 1};
        struct wt_whatif_result result;
        code = wt_whatif_predict(whatif, &point, &result, err);
    }
    *seconds = now() - begun;
    wt_whatif_free(whatif);
    return code;
}

/* Seconds of one core for SCHEDULES times BLOCKS blocks on SLOTS slots: the slot that is free first takes the next block. */
static double list_schedule(void)
{
    static double finish[SLOTS];
    struct wt_random random = wt_random_stream(1, "bench", 1);
    double begun = now();
    for (int i = 0; i < SCHEDULES * BLOCKS; i++) {
        double with = finish[0] - log(wt_random_unit(&random));
        size_t hole = 0;
        for (size_t child = 1; child < SLOTS; child = 2 * hole + 1) {
            child += child + 1 < SLOTS && finish[child + 1] < finish[child];
            if (with <= finish[child])
                break;
            finish[hole] = finish[child];
            hole = child;
        }
        finish[hole] = with;
    }
    return now() - begun;
}

static enum wt_code measure(const struct launch *launch, size_t number, struct wt_error *err)
{
    char path[80];
    double fit_seconds = INFINITY, seconds = INFINITY, listed = INFINITY;
    snprintf(path, sizeof path, FOLDER "/%zu.csv", number);
    WT_TRY(capture(launch, path, err));
    for (int i = 0; i < REPEATS; i++) {
        double fit, all;
        WT_TRY(answer(path, &fit, &all, err));
        fit_seconds = fmin(fit_seconds, fit);
        seconds = fmin(seconds, all);
        listed = fmin(listed, list_schedule());
    }
    printf("  %-28s %5.2f s, of which fitting %5.2f s  (target <= %.0f: %s)  as %4.0f bare schedules\n", launch->name, seconds,
           fit_seconds, target_seconds, seconds <= target_seconds ? "met" : "MISSED", seconds / listed * SCHEDULES);
    return WT_OK;
}

int main(void)
{
    struct wt_error err = {0};
    enum wt_code code = WT_OK;
    omp_set_num_threads(1);
    mkdir("build", 0777);
    mkdir(FOLDER, 0777);
    printf("whatif: %d block sizes of a trace of %d blocks, one core, the best of %d runs\n", POINTS, BLOCKS, REPEATS);
    for (size_t i = 0; code == WT_OK && i < sizeof launches / sizeof *launches; i++)
        code = measure(&launches[i], i, &err);
    if (code != WT_OK)
        fprintf(stderr, "%s\n", err.text);
    return (int)code;
}
