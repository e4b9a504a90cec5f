#include "study/whatif.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "core/random.h"
#include "cost/fluid.h"
#include "dispatch/simulate.h"
#include "study/stays.h"

enum { STEPS = 15, EXPLANATIONS = 2 * STEPS };

/* Warps per SM that saturate a stage. Beyond the most that are resident there is no limit. */
static const double tried[STEPS] = {1, 2, 3, 4, 6, 8, 11, 16, 22, 28, 34, 42, 50, 58, 64};

/* Where the traces do not tell, an SM is taken to be saturated by as many warps as saturated most kernels that were captured at
 * several residencies (8 to 28), or by half of those that are resident where that is less: a kernel that leaves room for few
 * warps gives each of them much to do at once. Every octave from there counts as so much misfit, with one trace and with several; and
 * explanations within so much of the least are kept. */
static const double TYPICAL_SATURATION = 16;
static const double ONE_TRACE_OCTAVE = 0.01, ONE_TRACE_KEEP = 0.012, SEVERAL_OCTAVE = 0.001, SEVERAL_KEEP = 0.008;

/* How far measured makespans lie from predictions that all explanations agree on (traces/h200/whatif): always; for every
 * doubling or halving of the block, whose own costs a trace of one size does not tell; for every doubling or halving of
 * the residency; and on another GPU, which nothing was compared with. */
static const double NOISE = 0.01, PER_SIZE_OCTAVE = 0.012, PER_RESIDENCY_OCTAVE = 0.03, OTHER_GPU = 0.3;

/* Stages saturate gradually, not at once: where a changed residency lies within an octave of saturation. */
static const double NEAR_SATURATION = 0.12;

struct explanation {
    bool gpu_limits;
    double saturation;
    double misfit;
    double base; /* simulated makespan of the measured launch */
    double *work; /* by measured block; owned; NULL: not kept */
};

struct wt_whatif {
    struct wt_gpu *gpu;
    struct wt_stays *stays;
    struct explanation best[EXPLANATIONS]; /* kept ones, the best first */
    int count;
};

/* ---- One simulation ---- */

struct run {
    const struct wt_whatif *whatif;
    const struct explanation *explanation;
    const struct wt_whatif_point *point;
    const struct wt_gpu *gpu;
    struct wt_shape shape;
    uint64_t blocks;
    uint64_t *order; /* NULL: as it is; owned */
    double makespan, queue_empty, warp_cycles;
};

/* The block's warps by the measured blocks they come from. */
static int parts_of(void *context, uint64_t block, struct wt_fluid_part parts[WT_FLUID_PARTS])
{
    const struct run *run = context;
    const struct wt_stays *stays = run->whatif->stays;
    int split = run->point->split, count = 0;
    block = run->order ? run->order[block] : block;
    uint64_t warps = (uint64_t)run->shape.warps, warp = block / (uint64_t)split * warps, own = (uint64_t)stays->warps;
    for (uint64_t end = warp + warps; warp < end && warp / own < stays->count;) {
        uint64_t from = warp / own, next = (from + 1) * own < end ? (from + 1) * own : end;
        parts[count++] = (struct wt_fluid_part){(int)(next - warp), run->explanation->work[from] / split};
        warp = next;
    }
    if (count == 0)
        parts[count++] = (struct wt_fluid_part){run->shape.warps, 0};
    return count;
}

static void note_block(void *context, const struct wt_block_run *block)
{
    struct run *run = context;
    double end = wt_to_cycles(block->end);
    run->makespan = end > run->makespan ? end : run->makespan;
    run->warp_cycles += wt_to_cycles(block->end - block->start) * run->shape.warps;
}

static void note_end(void *context, uint32_t launch, wt_time queue_empty, wt_time end)
{
    (void)launch;
    (void)end;
    ((struct run *)context)->queue_empty = wt_to_cycles(queue_empty);
}

/* DRAM's bytes per cycle of one SM's clock, against the measured GPU's, all SMs together; 1 where unknown. */
static double memory_ratio(const struct wt_gpu *measured, const struct wt_gpu *other)
{
    if (measured->memory_gbs <= 0 || other->memory_gbs <= 0 || measured->clock_mhz <= 0 || other->clock_mhz <= 0)
        return 1;
    return other->memory_gbs / other->clock_mhz / (measured->memory_gbs / measured->clock_mhz);
}

static enum wt_code simulate(struct run *run, int first_group, struct wt_error *err)
{
    const struct explanation *why = run->explanation;
    double all = why->saturation * run->whatif->gpu->topology.sm_count * memory_ratio(run->whatif->gpu, run->gpu);
    struct wt_fluid_kernel fluid_kernel = {.sm_demand = why->gpu_limits ? 0 : 1 / why->saturation,
                                           .gpu_demand = why->gpu_limits ? 1 / all : 0,
                                           .parts = parts_of, .context = run};
    struct wt_fluid *fluid = wt_fluid_new(&fluid_kernel, 1, run->gpu->topology.sm_count);
    struct wt_sharing sharing = wt_fluid_sharing(fluid);
    struct wt_kernel kernel = {.name = "whatif", .grid_blocks = run->blocks, .shape = run->shape};
    struct wt_observer observer = {.context = run, .block_done = note_block, .launch_ends = note_end};
    struct wt_simulation simulation = {.gpu = run->gpu, .kernels = &kernel, .kernel_count = 1, .seed = 1,
                                       .first_group = first_group, .first_extra_sm = -1, .sharing = &sharing,
                                       .observers = &observer, .observer_count = 1};
    run->makespan = run->warp_cycles = 0;
    enum wt_code code = wt_simulate(&simulation, err);
    wt_fluid_free(fluid);
    return code;
}

/* ---- Shapes ---- */

static struct wt_launch_needs needs_of(const struct wt_stays *stays, const struct wt_whatif_point *point)
{
    struct wt_launch_needs needs = stays->needs;
    if (point->threads > 0)
        needs.threads = point->threads;
    if (point->registers_per_thread >= 0)
        needs.registers_per_thread = point->registers_per_thread;
    if (point->dynamic_shared_bytes >= 0)
        needs.dynamic_shared_bytes = point->dynamic_shared_bytes;
    return needs;
}

struct weighed {
    double work;
    uint64_t block;
};

static int longest_first(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;
    if (a->work != b->work)
        return a->work > b->work ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

static double work_of(struct run *run, uint64_t block)
{
    struct wt_fluid_part parts[WT_FLUID_PARTS];
    double work = 0;
    for (int i = parts_of(run, block, parts) - 1; i >= 0; i--)
        work += parts[i].work * parts[i].warps;
    return work;
}

static uint64_t *order_of(struct run *run)
{
    enum wt_order order = run->point->order;
    if (order == WT_ORDER_ASIS)
        return NULL;
    struct wt_random random = wt_random_stream(1, "whatif order", 0);
    struct weighed *list = wt_alloc(run->blocks, sizeof *list);
    for (uint64_t i = 0; i < run->blocks; i++) {
        double key = order == WT_ORDER_REVERSED ? (double)i : wt_random_unit(&random);
        list[i] = (struct weighed){order == WT_ORDER_LONGEST_FIRST ? work_of(run, i) : key, i};
    }
    qsort(list, run->blocks, sizeof *list, longest_first);
    uint64_t *blocks = wt_alloc(run->blocks, sizeof *blocks);
    for (uint64_t i = 0; i < run->blocks; i++)
        blocks[i] = list[i].block;
    free(list);
    return blocks;
}

static enum wt_code begin_run(struct run *run, const struct wt_launch_needs *needs, struct wt_error *err)
{
    WT_TRY(wt_shape_make(&run->gpu->limits, needs, &run->shape, err));
    const struct wt_stays *stays = run->whatif->stays;
    uint64_t warps = stays->count * (uint64_t)stays->warps, each = (uint64_t)run->shape.warps;
    run->blocks = (warps + each - 1) / each * (uint64_t)run->point->split;
    return WT_OK;
}

/* ---- Fitting ---- */

static double octaves(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log2(a / b)) : 0;
}

static const struct wt_whatif_point as_measured = {.registers_per_thread = -1, .dynamic_shared_bytes = -1, .split = 1};

static enum wt_code simulate_as(const struct wt_whatif *whatif, const struct explanation *why,
                                const struct wt_launch_needs *needs, double *makespan, struct wt_error *err)
{
    struct run run = {.whatif = whatif, .explanation = why, .point = &as_measured, .gpu = whatif->gpu};
    WT_TRY(begin_run(&run, needs, err));
    WT_TRY(simulate(&run, -1, err));
    *makespan = run.makespan;
    return WT_OK;
}

/* Root mean square of how far the other traces' makespans are off, as logarithms. */
static enum wt_code misfit_of_others(const struct wt_whatif *whatif, struct explanation *why, struct wt_stays *const *others,
                                     size_t count, struct wt_error *err)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double makespan;
        WT_TRY(simulate_as(whatif, why, &others[i]->needs, &makespan, err));
        double off = log(makespan / why->base / (others[i]->makespan / whatif->stays->makespan));
        sum += off * off;
    }
    if (count > 0)
        why->misfit = sqrt(sum / (double)count);
    return WT_OK;
}

static int by_misfit(const void *left, const void *right)
{
    const struct explanation *a = left, *b = right;
    if (a->misfit != b->misfit)
        return a->misfit < b->misfit ? -1 : 1;
    return a->gpu_limits != b->gpu_limits ? (a->gpu_limits > b->gpu_limits) - (a->gpu_limits < b->gpu_limits)
                                          : (a->saturation > b->saturation) - (a->saturation < b->saturation);
}

static double typical_saturation(const struct wt_whatif *whatif)
{
    struct wt_occupancy occupancy;
    wt_occupancy(&whatif->gpu->limits, &whatif->stays->needs, &occupancy, NULL);
    return fmin(TYPICAL_SATURATION, occupancy.warps_per_sm / 2.0);
}

static enum wt_code explain(struct wt_whatif *whatif, struct wt_stays *const *others, size_t count, struct wt_error *err)
{
    const struct wt_stays *stays = whatif->stays;
    for (int i = 0; i < EXPLANATIONS; i++) {
        struct explanation *why = &whatif->best[whatif->count++];
        *why = (struct explanation){.gpu_limits = i >= STEPS, .saturation = tried[i % STEPS]};
        why->work = wt_alloc(stays->count, sizeof *why->work);
        why->misfit = wt_stays_work(stays, why->gpu_limits, why->saturation, why->work);
        WT_TRY(simulate_as(whatif, why, &stays->needs, &why->base, err));
        WT_TRY(misfit_of_others(whatif, why, others, count, err));
        why->misfit += (count > 0 ? SEVERAL_OCTAVE : ONE_TRACE_OCTAVE) * octaves(why->saturation, typical_saturation(whatif));
    }
    qsort(whatif->best, EXPLANATIONS, sizeof *whatif->best, by_misfit);
    double most = whatif->best[0].misfit + (count > 0 ? SEVERAL_KEEP : ONE_TRACE_KEEP);
    while (whatif->count > 1 && whatif->best[whatif->count - 1].misfit > most)
        free(whatif->best[--whatif->count].work);
    return WT_OK;
}

static enum wt_code read_others(const struct wt_whatif *whatif, const char *const *traces, size_t count,
                                struct wt_stays **others, struct wt_error *err)
{
    for (size_t i = 0; i < count; i++)
        WT_TRY(wt_stays_read(traces[i], whatif->gpu, &others[i], err));
    return WT_OK;
}

enum wt_code wt_whatif_fit(const char *const *traces, size_t count, const char *gpu, struct wt_whatif **out,
                           struct wt_error *err)
{
    struct wt_whatif *whatif = wt_alloc(1, sizeof *whatif);
    struct wt_stays **others = wt_alloc(count, sizeof(struct wt_stays *));
    *out = NULL;
    enum wt_code code = wt_stays_gpu(traces[0], gpu, &whatif->gpu, err);
    if (code == WT_OK)
        code = wt_stays_read(traces[0], whatif->gpu, &whatif->stays, err);
    if (code == WT_OK)
        code = read_others(whatif, traces + 1, count - 1, others, err);
    if (code == WT_OK)
        code = explain(whatif, others, count - 1, err);
    for (size_t i = 0; i + 1 < count; i++)
        wt_stays_free(others[i]);
    free(others);
    if (code == WT_OK)
        *out = whatif;
    else
        wt_whatif_free(whatif);
    return code;
}

void wt_whatif_free(struct wt_whatif *whatif)
{
    if (!whatif)
        return;
    for (int i = 0; i < whatif->count; i++)
        free(whatif->best[i].work);
    wt_stays_free(whatif->stays);
    wt_gpu_free(whatif->gpu);
    free(whatif);
}

struct wt_whatif_measured wt_whatif_measured(const struct wt_whatif *whatif)
{
    const struct wt_stays *stays = whatif->stays;
    struct wt_whatif_measured m = {.name = stays->name, .makespan = stays->makespan, .clock_mhz = whatif->gpu->clock_mhz,
                                   .needs = stays->needs, .blocks = stays->count, .gpu_limits = whatif->best[0].gpu_limits,
                                   .saturation = whatif->best[0].saturation, .saturation_low = INFINITY};
    for (int i = 0; i < whatif->count; i++) {
        m.saturation_low = fmin(m.saturation_low, whatif->best[i].saturation);
        m.saturation_high = fmax(m.saturation_high, whatif->best[i].saturation);
    }
    return m;
}

/* ---- Predicting ---- */

static double unknown_part(const struct wt_whatif *whatif, const struct run *run, const struct wt_occupancy *now)
{
    struct wt_occupancy before;
    wt_occupancy(&whatif->gpu->limits, &whatif->stays->needs, &before, NULL);
    double moved = octaves(now->warps_per_sm, before.warps_per_sm);
    bool near = moved > 0.3 && octaves(now->warps_per_sm, whatif->best[0].saturation) < 1;
    return NOISE + (near ? NEAR_SATURATION : 0) + PER_SIZE_OCTAVE * octaves(run->shape.warps, whatif->stays->warps) +
           PER_RESIDENCY_OCTAVE * moved +
           (run->gpu != whatif->gpu ? OTHER_GPU : 0);
}

static void say_why(const struct wt_whatif *whatif, const struct wt_whatif_result *r, char *text, size_t size)
{
    const struct explanation *best = &whatif->best[0];
    double wide = (r->high - r->low) / r->makespan / 2;
    if (r->waves < 1)
        snprintf(text, size, "the grid does not fill the GPU: %.0f %% of one wave", 100 * r->waves);
    else if (wide > 0.1)
        snprintf(text, size, "not told by the trace: what a block costs at this size or residency; a second trace would tell");
    else if (r->tail_fraction > 0.2)
        snprintf(text, size, "the tail takes %.0f %%: few blocks, or very unequal ones", 100 * r->tail_fraction);
    else if (r->occupancy.warps_per_sm >= best->saturation)
        snprintf(text, size, "%d warps per SM, of which %.0f saturate the %s: occupancy does not matter here",
                 r->occupancy.warps_per_sm, best->saturation, best->gpu_limits ? "GPU's memory" : "SM");
    else
        snprintf(text, size, "%d warps per SM, too few to saturate the %s, which takes %.0f", r->occupancy.warps_per_sm,
                 best->gpu_limits ? "GPU's memory" : "SM", best->saturation);
}

static enum wt_code predict_with(struct run *run, const struct explanation *why, double *ratio, struct wt_error *err)
{
    run->explanation = why;
    run->order = order_of(run);
    enum wt_code code = simulate(run, -1, err);
    free(run->order);
    run->order = NULL;
    *ratio = run->makespan / why->base;
    return code;
}

/* What only the best explanation's simulation tells. */
static void describe(const struct run *run, struct wt_whatif_result *result)
{
    const struct wt_gpu *gpu = run->gpu;
    result->waves = wt_waves(run->blocks, gpu->topology.sm_count, result->occupancy.blocks_per_sm);
    result->tail_fraction = 1 - run->queue_empty / run->makespan;
    result->achieved_occupancy = run->warp_cycles / run->makespan / gpu->topology.sm_count / wt_warps_per_sm(&gpu->limits);
}

enum wt_code wt_whatif_predict(const struct wt_whatif *whatif, const struct wt_whatif_point *point,
                               struct wt_whatif_result *result, struct wt_error *err)
{
    struct run run = {.whatif = whatif, .point = point, .gpu = point->gpu ? point->gpu : whatif->gpu};
    struct wt_launch_needs needs = needs_of(whatif->stays, point);
    *result = (struct wt_whatif_result){0};
    WT_TRY(wt_occupancy(&run.gpu->limits, &needs, &result->occupancy, err));
    WT_TRY(begin_run(&run, &needs, err));
    double ratio = 0, least = INFINITY, most = 0;
    for (int i = whatif->count - 1; i >= 0; i--) {
        WT_TRY(predict_with(&run, &whatif->best[i], &ratio, err));
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    describe(&run, result);
    double beside = unknown_part(whatif, &run, &result->occupancy), measured = whatif->stays->makespan;
    result->makespan = measured * ratio;
    result->low = measured * least / (1 + beside);
    result->high = measured * most * (1 + beside);
    double clocks = run.gpu->clock_mhz > 0 && whatif->gpu->clock_mhz > 0 ? run.gpu->clock_mhz / whatif->gpu->clock_mhz : 1;
    result->speedup = clocks / ratio;
    say_why(whatif, result, result->why, sizeof result->why);
    return WT_OK;
}
