#include "study/whatif.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "study/whatif_run.h"

/* How far measured makespans lie from predictions that all explanations agree on: always; for every doubling or halving of the
 * block, whose own costs a trace of one size does not tell; for every doubling or halving of the residency; where blocks are very
 * unequal; and on another GPU, which nothing was compared with. The second numbers: where warps wait for memory, as what
 * blocks find in caches and DRAM's pages depends on their size and number as well, and shared memory takes from the L1 cache.
 * Chosen so that four of five makespans of ten kernels lie within (traces/h200/whatif); tests/whatif_table.sh shows the others. */
static const double NOISE[] = {0.012, 0.012}, PER_SIZE_OCTAVE[] = {0.014, 0.03}, PER_RESIDENCY_OCTAVE[] = {0.03, 0.03},
                    UNEQUAL[] = {0.12, 0.35}, LESS_CACHE[] = {0, 0.02}, OTHER_GPU = 0.3,
                    PERSISTENT = 0.03;

/* What a further block may cost an SM besides its warps' work, unseen while there was one size: up to so many cycles. */
static const double BLOCK_CYCLES = 200;

/* What barriers cost depends on the size of blocks: for every halving up to so much more. */
static const double PER_HALVING = 0.14;

/* Blocks of 256 threads that share works given to every 64: 0 to 40 % longer for each halving (traces/h200/whatif/unequal.csv). */
static const double PARTS_PER_HALVING = 0.4;

/* Where works that are very unequal are stated: so many standard deviations of repeated launches, as simulated, and so much of what the
 * blocks' ends miss by, SM by SM. Sizes and residencies add nothing then, as a trace shows few warps as well as many. Launches of other
 * sizes lie within in 93 % (imbalance2.txt) and 87 % (imbalance.txt). */
static const double CHANCE = 1.1, UNEXPLAINED_ENDS = 0.5;

static enum wt_code read_others(const struct wt_whatif *whatif, const char *const *traces, size_t count,
                                struct wt_stays **others, struct wt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        WT_TRY(wt_stays_read(traces[i], whatif->gpu, &others[i], err));
        WT_TRY(wt_stays_alike(whatif->stays, others[i], traces[i], err));
    }
    return WT_OK;
}

enum wt_code wt_whatif_fit(const char *const *traces, size_t count, const char *gpu, bool fixed, struct wt_whatif **out,
                           struct wt_error *err)
{
    struct wt_whatif *whatif = wt_alloc(1, sizeof *whatif);
    whatif->fixed = fixed;
    struct wt_stays **others = wt_alloc(count, sizeof(struct wt_stays *));
    *out = NULL;
    enum wt_code code = wt_stays_gpu(traces[0], gpu, &whatif->gpu, err);
    if (code == WT_OK)
        code = wt_stays_read(traces[0], whatif->gpu, &whatif->stays, err);
    if (code == WT_OK)
        code = read_others(whatif, traces + 1, count - 1, others, err);
    if (code == WT_OK)
        code = wt_whatif_explain(whatif, others, count - 1, err);
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
    for (int mode = 0; mode < WT_MODE_COUNT; mode++)
        free(whatif->parts[mode]);
    for (int i = 0; i < WT_WHATIF_VARIANTS; i++)
        free(whatif->drawn[i]);
    free(whatif->ends);
    free(whatif->chances);
    wt_stays_free(whatif->stays);
    wt_gpu_free(whatif->gpu);
    free(whatif);
}

static int enough_warps(const struct wt_whatif *whatif)
{
    const struct wt_bound *bound = &whatif->list[0].bound;
    int all = wt_warps_per_sm(&whatif->gpu->limits), warps = 1;
    if (isinf(bound->saturation))
        return 0;
    while (warps < all && wt_bound_served(bound, warps) < 0.99 * wt_bound_served(bound, all))
        warps++;
    return warps;
}

struct wt_whatif_measured wt_whatif_measured(const struct wt_whatif *whatif)
{
    const struct wt_stays *stays = whatif->stays;
    struct wt_whatif_measured m = {.name = stays->name, .makespan = stays->makespan, .clock_mhz = whatif->gpu->clock_mhz,
                                   .needs = stays->needs, .blocks = stays->count, .gpu_limits = whatif->list[0].bound.gpu,
                                   .saturation = whatif->list[0].bound.saturation, .saturation_low = INFINITY,
                                   .favour = whatif->list[0].bound.favour, .enough_warps = enough_warps(whatif),
                                   .simulated = whatif->simulated, .fixed = isinf(whatif->list[0].bound.saturation),
                                   .cached = whatif->cached, .work_warps = whatif->by_work ? stays->warps : whatif->unit};
    for (int i = 0; i < whatif->count; i++) {
        m.saturation_low = fmin(m.saturation_low, whatif->list[i].bound.saturation);
        m.saturation_high = fmax(m.saturation_high, whatif->list[i].bound.saturation);
    }
    return m;
}

/* ---- Predicting ---- */

static double octaves(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log2(a / b)) : 0;
}

static bool waits_for_memory(const struct wt_explanation *why)
{
    return why->bound.gpu || why->bound.favour < WT_FAVOURED;
}

/* Besides what the explanations disagree on, of the makespan. */
static double unknown_part(const struct wt_whatif *whatif, const struct wt_whatif_run *run, const struct wt_occupancy *now)
{
    bool memory = waits_for_memory(&whatif->list[0]);
    double moved = octaves(now->warps_per_sm, whatif->occupancy.warps_per_sm);
    double sized = octaves(run->shape.warps, whatif->stays->warps), part = NOISE[memory];
    if (!whatif->by_work && !whatif->unit)
        part += PER_SIZE_OCTAVE[memory] * sized + PER_RESIDENCY_OCTAVE[memory] * moved;
    if (whatif->by_work)
        part += UNEXPLAINED_ENDS * whatif->list[0].misfit;
    else if (whatif->chance && !whatif->unit && (sized > 0 || moved > 0 || run->point->order != WT_ORDER_ASIS || run->point->split > 1))
        part += UNEQUAL[memory];
    if (run->needs.dynamic_shared_bytes > whatif->stays->needs.dynamic_shared_bytes)
        part += LESS_CACHE[memory];
    return part + (run->gpu != whatif->gpu ? OTHER_GPU : 0) + (run->point->persistent ? PERSISTENT : 0);
}

/* How much longer it may take because warps wait for each other, of the makespan. */
static double unknown_waits(const struct wt_whatif *whatif, const struct wt_whatif_run *run)
{
    const struct wt_explanation *best = &whatif->list[0];
    if (whatif->simulated || waits_for_memory(best) || best->bound.favour >= WT_WAITING ||
        run->shape.warps >= whatif->stays->warps)
        return 0;
    return PER_HALVING * octaves(run->shape.warps, whatif->stays->warps);
}

/* How much longer it may take because the parts of a block whose threads shared its work are unequal themselves. */
static double unknown_parts(const struct wt_whatif *whatif, const struct wt_whatif_run *run)
{
    bool cut = run->point->shared_work && whatif->chance && run->shape.warps < whatif->stays->warps;
    return cut ? PARTS_PER_HALVING * octaves(run->shape.warps, whatif->stays->warps) : 0;
}

/* What more blocks may cost, of the makespan. */
static double unknown_starts(const struct wt_whatif *whatif, const struct wt_whatif_run *run)
{
    double more = whatif->simulated ? 0 : (double)run->blocks - (double)whatif->stays->count;
    return fmax(0, more) / run->gpu->topology.sm_count * BLOCK_CYCLES / whatif->stays->makespan;
}

static const char *what_is_unknown(const struct wt_whatif *whatif, const struct wt_whatif_run *run)
{
    if (run->gpu != whatif->gpu)
        return "another GPU: its limits, SMs, clock and bandwidth are known, its pipes and caches taken for the same";
    if (whatif->cached && run->needs.dynamic_shared_bytes > whatif->stays->needs.dynamic_shared_bytes)
        return "not told by the traces: whether fewer warps or less L1 cache beside the shared memory makes it slower";
    if (unknown_waits(whatif, run) > 0.1)
        return "not told by the trace: warps of a block wait for each other, and smaller blocks may do so for longer";
    if (unknown_parts(whatif, run) > 0.1)
        return "not told by the trace: how unequal the parts of a block are, which smaller blocks have for themselves";
    if (whatif->unit)
        return "not told by the trace: what each warp of a block had to do, besides the first";
    if (whatif->chance)
        return "blocks are very unequal: when the longest ones start decides, and repeated launches differ as well";
    return "not told by the trace: what few warps, or blocks of this size, cost; a second trace at another residency would tell";
}

static void say_why(const struct wt_whatif *whatif, const struct wt_whatif_run *run, struct wt_whatif_result *r)
{
    const struct wt_bound *bound = &whatif->list[0].bound;
    const char *what = bound->gpu ? "GPU's memory" : "SM";
    int warps = r->occupancy.warps_per_sm;
    double wide = (r->high - r->low) / r->makespan / 2;
    bool sized = run->shape.warps != whatif->stays->warps && run->point->shared_work == false;
    if (whatif->unit && sized && fabs(r->makespan / whatif->stays->makespan - 1) > 0.05)
        snprintf(r->why, sizeof r->why, "warps have very unequal works: a block keeps its room until its longest warp is through, the "
                 "longer the more warps it has");
    else if (wide > 0.1)
        snprintf(r->why, sizeof r->why, "%s", what_is_unknown(whatif, run));
    else if (r->waves < 1)
        snprintf(r->why, sizeof r->why, "the grid does not fill the GPU: %.0f %% of one wave", 100 * r->waves);
    else if (r->tail_fraction > 0.2 && r->achieved_occupancy < 0.75 * r->occupancy.occupancy)
        snprintf(r->why, sizeof r->why, "the tail takes %.0f %%: few blocks, or very unequal ones", 100 * r->tail_fraction);
    else if (isinf(bound->saturation))
        snprintf(r->why, sizeof r->why, "blocks take as long as they do, whatever runs beside them: %d at once on an SM",
                 r->occupancy.blocks_per_sm);
    else if (warps >= enough_warps(whatif))
        snprintf(r->why, sizeof r->why, "%d warps per SM, and %d saturate the %s: more would not help", warps,
                 enough_warps(whatif), what);
    else
        snprintf(r->why, sizeof r->why, "%d warps per SM give %.0f %% of what the %s can do", warps,
                 100 * fmin(1, wt_bound_served(bound, warps) / bound->saturation), what);
}

/* How much longer or shorter one launch may take than the mean of many, as simulations tell; of the makespan. */
static double unknown_chance(const struct wt_whatif *whatif, double spread)
{
    return whatif->by_work || whatif->unit ? CHANCE * sqrt(spread) : 0;
}

/* Where works are not stated and chance decides: one launch is as good as another. */
static const double TRUSTED_CHANCE = 0.5;

/* How far the measured makespan is trusted, against the simulated one. Wholly where works are drawn: their sum is another than
 * the launch's. */
static double trust(const struct wt_whatif *whatif)
{
    if (whatif->by_work)
        return whatif->trust;
    return whatif->chance && !whatif->unit ? TRUSTED_CHANCE : 1;
}

static enum wt_code predict_with(struct wt_whatif_run *run, const struct wt_explanation *why, double *ratio, struct wt_error *err)
{
    run->explanation = why;
    run->order = wt_whatif_order(run);
    double makespan, measured = run->whatif->stays->makespan;
    enum wt_code code = wt_whatif_mean(run, &makespan, err);
    free(run->order);
    run->order = NULL;
    double trusted = trust(run->whatif);
    *ratio = makespan / (pow(why->base, trusted) * pow(measured, 1 - trusted));
    return code;
}

/* An explanation whose ends lie further from the trace's than this, of the makespan, is believed so much less: the rest of the
 * prediction is that nothing changes. Of 19 kernels 15 are nearer. */
static const double BELIEVED_DISTANCE = 0.015;
/* And of one where chance decides, half. */
static const double BELIEVED_CHANCE = 0.5;

static double belief(const struct wt_whatif *whatif, const struct wt_whatif_run *run)
{
    double distance = fmin(whatif->distance[WT_MODE_SM], whatif->distance[WT_MODE_GPU]);
    bool all = whatif->others > 0 || whatif->simulated || whatif->fixed || run->gpu != whatif->gpu;
    return all ? 1 : fmin(1, BELIEVED_DISTANCE / distance);
}

static bool changes_nothing(const struct wt_whatif *whatif, const struct wt_whatif_run *run)
{
    const struct wt_launch_needs *before = &whatif->stays->needs, *now = &run->needs;
    return run->gpu == whatif->gpu && now->threads == before->threads && now->registers_per_thread == before->registers_per_thread &&
           now->dynamic_shared_bytes == before->dynamic_shared_bytes && run->point->order == WT_ORDER_ASIS &&
           run->point->split == 1 && !run->point->persistent;
}

/* Geometric. */
static double mean_ratio(const struct wt_whatif *whatif, const double *ratios)
{
    double sum = 0;
    for (int i = 0; i < whatif->count; i++)
        sum += log(ratios[i]);
    return exp(sum / whatif->count);
}

/* Where it is up to chance, the mean of all. Where both may be what warps wait for, an SM's way to memory and the
 * GPU's memory, in the middle. */
static double best_ratio(const struct wt_whatif *whatif, const struct wt_whatif_run *run, const double *ratios)
{
    const struct wt_explanation *best = &whatif->list[0];
    double ratio = ratios[0];
    if (changes_nothing(whatif, run))
        return 1;
    if (whatif->by_work || whatif->unit)
        return mean_ratio(whatif, ratios);
    if (whatif->chance && run->gpu == whatif->gpu && !whatif->fixed)
        return pow(mean_ratio(whatif, ratios), whatif->others > 0 ? 1 : BELIEVED_CHANCE);
    if (whatif->others == 0 && waits_for_memory(best))
        for (int i = 1; i < whatif->count && ratio == ratios[0]; i++)
            if (whatif->list[i].mode != best->mode)
                ratio = sqrt(ratios[0] * ratios[i]);
    return pow(ratio, belief(whatif, run));
}

/* What only the best explanation's simulation tells. */
static void describe(const struct wt_whatif_run *run, struct wt_whatif_result *result)
{
    const struct wt_gpu *gpu = run->gpu;
    result->waves = wt_waves(run->blocks, gpu->topology.sm_count, result->occupancy.blocks_per_sm);
    result->tail_fraction = 1 - run->queue_empty / run->makespan;
    result->achieved_occupancy = run->warp_cycles / run->makespan / gpu->topology.sm_count / wt_warps_per_sm(&gpu->limits);
}

enum wt_code wt_whatif_predict(const struct wt_whatif *whatif, const struct wt_whatif_point *point,
                               struct wt_whatif_result *result, struct wt_error *err)
{
    struct wt_whatif_run run;
    *result = (struct wt_whatif_result){0};
    WT_TRY(wt_whatif_begin(&run, whatif, point, err));
    WT_TRY(wt_occupancy(&run.gpu->limits, &run.needs, &result->occupancy, err));
    double ratios[WT_WHATIF_MOST], least = INFINITY, most = 0, spread = 0;
    for (int i = whatif->count - 1; i >= 0; i--) {
        WT_TRY(predict_with(&run, &whatif->list[i], &ratios[i], err));
        spread += run.spread / whatif->count;
        least = fmin(least, ratios[i]);
        most = fmax(most, ratios[i]);
    }
    double ratio = best_ratio(whatif, &run, ratios);
    describe(&run, result);
    double beside = whatif->simulated ? 0 : unknown_part(whatif, &run, &result->occupancy), measured = whatif->stays->makespan;
    beside += unknown_chance(whatif, spread);
    result->makespan = measured * ratio;
    least = fmin(least, ratio);
    most = fmax(most, ratio);
    result->low = measured * least / (1 + beside);
    result->high = measured * most * (1 + beside + unknown_starts(whatif, &run) + unknown_waits(whatif, &run) +
                                       unknown_parts(whatif, &run));
    double clocks = run.gpu->clock_mhz > 0 && whatif->gpu->clock_mhz > 0 ? run.gpu->clock_mhz / whatif->gpu->clock_mhz : 1;
    result->speedup = clocks / ratio;
    say_why(whatif, &run, result);
    return WT_OK;
}
