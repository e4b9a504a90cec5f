#include "study/whatif_run.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/random.h"
#include "cost/fluid.h"
#include "dispatch/simulate.h"
#include "sm/occupancy.h"

static const double VARIANT_CYCLES = 37;
enum { APART = 1009 }; /* in the list of chances: variants of a block */

/* How many blocks of a shape are simulated. A launch of LARGE takes so much longer to fit that half as many are. Further parts of a block
 * with works of their own count as so much of a block each. */
static const double SIMULATED_BLOCKS = 100000, LARGE = 10000, FURTHER_PART = 0.1;

/* What a block does besides its work, which its parts each do again: cycles of a warp at full speed, in which its warps take no more than
 * so many of an SM's issue slots, as cycles of an SM per warp, and nothing of the GPU's memory. Blocks of 8 warps with one FMA chain, cut
 * into 2, 4 and 8, took 190 to 210 cycles of an SM more for each further block, and 15 warps saturate it; with four chains, of which 5 do,
 * 170 to 190, and 180 to 220 with conflicts in shared memory. */
static const double START_CYCLES = 370, START_SM_CYCLES = 24;

/* How blocks come to the counter. Its latency is 290 to 514 cycles by how far an SM is from it (counter_g132). With the other two, tasks
 * of a first wave of 8 blocks per SM go to young and old blocks as they did on an H200: of each 132 tasks the mean age is the 1.3rd to
 * 6.0th (1.5th to 6.5th), the first 14 have the 1.1st (1.1st), the first 264 are on 74 SMs (74); fma1_const_q8 of remedies.txt. */
static const struct wt_fluid_counter COUNTER = {.used = true, .wait = 60, .far = 224, .jitter = 30};

const struct wt_whatif_point wt_whatif_as_measured = {.registers_per_thread = -1, .dynamic_shared_bytes = -1, .split = 1};

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

enum wt_code wt_whatif_begin(struct wt_whatif_run *run, const struct wt_whatif *whatif, const struct wt_whatif_point *point,
                             struct wt_error *err)
{
    const struct wt_stays *stays = whatif->stays;
    *run = (struct wt_whatif_run){.whatif = whatif, .point = point, .gpu = point->gpu ? point->gpu : whatif->gpu,
                                  .needs = needs_of(stays, point)};
    WT_TRY(wt_shape_make(&run->gpu->limits, &run->needs, &run->shape, err));
    uint64_t warps = stays->count * (uint64_t)stays->warps, each = (uint64_t)run->shape.warps;
    run->blocks = (warps + each - 1) / each * (uint64_t)point->split;
    return WT_OK;
}

/* What becomes of a warp's work: registers that are spilled, loads that fewer or more threads share, less cache. */
static double work_factor(const struct wt_whatif_run *run)
{
    const struct wt_whatif_point *point = run->point;
    const struct wt_launch_needs *before = &run->whatif->stays->needs;
    double factor = 1, cut = before->registers_per_thread - run->needs.registers_per_thread;
    if (cut > 0)
        factor += point->spill_cost * cut;
    if (point->shared_loads > 0)
        factor *= 1 - point->shared_loads + point->shared_loads * sqrt((double)before->threads / run->needs.threads);
    if (run->needs.dynamic_shared_bytes > before->dynamic_shared_bytes)
        factor *= run->explanation->cache;
    return factor;
}

static double scale_of(const struct wt_whatif_run *run)
{
    return run->explanation->scale / run->point->split * work_factor(run);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint32_t *wt_whatif_draw(const struct wt_whatif *whatif, int variant)
{
    uint64_t own = (uint64_t)whatif->stays->warps, unit = (uint64_t)whatif->unit, count = (whatif->stays->count * own + unit - 1) / unit;
    uint32_t *drawn = wt_alloc(count, sizeof *drawn);
    for (uint64_t i = 0; i < count; i++) {
        struct wt_random random = wt_random_stream((uint64_t)variant, "work of warps", i);
        bool stated = i * unit % own == 0;
        drawn[i] = stated ? (uint32_t)(i * unit / own) : wt_random_below(&random, (uint32_t)whatif->stays->count);
    }
    return drawn;
}

/* How much longer or shorter than usual the measured block's work takes in this launch. */
static double chance(const struct wt_whatif_run *run, uint64_t block)
{
    const struct wt_whatif *whatif = run->whatif;
    if (!whatif->chances)
        return 1;
    return exp(run->explanation->chance * whatif->chances[(block + (uint64_t)run->variant * APART) % whatif->stays->count]);
}

/* All warps of the block do as much. */
static void share(struct wt_fluid_part *parts, int count)
{
    double work = 0, warps = 0;
    for (int i = 0; i < count; i++) {
        work += parts[i].work * parts[i].warps;
        warps += parts[i].warps;
    }
    for (int i = 0; i < count; i++)
        parts[i].work = work / warps;
}

/* Of a part of a block that is split, besides its share, which has a share of the whole's start in it. */
static double start_of_part(const struct wt_whatif_run *run)
{
    return run->whatif->simulated ? 0 : START_CYCLES * (1 - 1.0 / run->point->split);
}

/* The block's warps by the measured blocks they come from. */
static int parts_of(void *context, uint64_t block, struct wt_fluid_part parts[WT_FLUID_PARTS])
{
    const struct wt_whatif_run *run = context;
    const struct wt_stays *stays = run->whatif->stays;
    const double *measured = run->whatif->parts[run->explanation->mode];
    const struct wt_bound *bound = &run->explanation->bound;
    double own_start = bound->gpu ? 0 : start_of_part(run) * fmin(1, START_SM_CYCLES * bound->saturation / START_CYCLES);
    double each = run->scale;
    int count = 0;
    block = run->order ? run->order[block] : block;
    uint64_t own = (uint64_t)stays->warps, unit = run->whatif->unit ? (uint64_t)run->whatif->unit : own;
    uint64_t first = block / (uint64_t)run->point->split * (uint64_t)run->shape.warps, row = first, index = first / unit;
    uint64_t end = least(first + (uint64_t)run->shape.warps, stays->count * own);
    const uint32_t *drawn = run->whatif->unit ? run->whatif->drawn[run->variant] : NULL;
    for (uint64_t warp = first; warp < end; index++) {
        uint64_t like = drawn ? drawn[index] : index;
        double work = (measured[like] + bound->start) * each * chance(run, like) + own_start;
        for (uint64_t next, last = least((index + 1) * unit, end); warp < last; warp = next) {
            row += warp == row ? (uint64_t)run->gpu->limits.subcores : 0;
            next = bound->apart ? least(row, last) : last;
            parts[count++] = (struct wt_fluid_part){(int)(next - warp), work};
        }
    }
    if (count == 0)
        parts[count++] = (struct wt_fluid_part){run->shape.warps, 0};
    if (run->point->shared_work)
        share(parts, count);
    return count;
}

int wt_whatif_simulations(const struct wt_whatif *whatif, int least_count, int most)
{
    double parts = whatif->unit ? (double)whatif->stays->warps / whatif->unit : 1;
    double blocks = (double)whatif->stays->count * (1 + FURTHER_PART * (parts - 1));
    double simulated = SIMULATED_BLOCKS * (1 - fmin(1, (double)whatif->stays->count / LARGE) / 2);
    return (int)fmax(least_count, fmin(most, simulated / (blocks * whatif->count)));
}

/* ---- Order ---- */

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

static double work_of(const struct wt_whatif_run *run, uint64_t block)
{
    struct wt_fluid_part parts[WT_FLUID_PARTS];
    struct wt_whatif_run plain = *run;
    double work = 0;
    plain.order = NULL;
    plain.scale = scale_of(run);
    for (int i = parts_of(&plain, block, parts) - 1; i >= 0; i--)
        work += parts[i].work * parts[i].warps;
    return work;
}

uint64_t *wt_whatif_order(const struct wt_whatif_run *run)
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

/* ---- One simulation ---- */

static void note_block(void *context, const struct wt_block_run *block)
{
    struct wt_whatif_run *run = context;
    double end = wt_to_cycles(block->end);
    run->makespan = end > run->makespan ? end : run->makespan;
    run->warp_cycles += wt_to_cycles(block->end - block->start) * run->shape.warps;
    if (run->ends)
        run->ends[run->end_count++] = end;
}

static void note_end(void *context, uint32_t launch, wt_time queue_empty, wt_time end)
{
    (void)launch;
    (void)end;
    ((struct wt_whatif_run *)context)->queue_empty = wt_to_cycles(queue_empty);
}

/* DRAM's bytes per cycle of one SM's clock, against the measured GPU's, all SMs together; 1 where unknown. */
static double memory_ratio(const struct wt_gpu *measured, const struct wt_gpu *other)
{
    if (measured->memory_gbs <= 0 || other->memory_gbs <= 0 || measured->clock_mhz <= 0 || other->clock_mhz <= 0)
        return 1;
    return other->memory_gbs / other->clock_mhz / (measured->memory_gbs / measured->clock_mhz);
}

/* Blocks of equal works that share a pipe end together here, in hardware some hundred cycles apart: no report tells of others. */
static struct wt_gpu without_view(const struct wt_gpu *gpu)
{
    struct wt_gpu narrow = *gpu;
    narrow.rates.report_view_cycles = 0;
    return narrow;
}

/* A GPU whose blocks, after the first wave, are taken from a counter instead of handed out. What that costs besides the
 * counter's latency, a barrier and the block's own index, is within what a launch's first instructions take. */
static struct wt_gpu with_counter(const struct wt_gpu *gpu)
{
    struct wt_gpu counter = *gpu;
    struct wt_rates *rates = &counter.rates;
    rates->visit_cycles = rates->counter_service_cycles > 0 ? rates->counter_service_cycles : rates->visit_cycles;
    if (rates->counter_latency_cycles > 0)
        rates->release_cycles = fmax(0, rates->counter_latency_cycles - COUNTER.far / 2);
    rates->report_cycles = rates->report_ready_cycles = rates->drain_cycles = 0;
    rates->report_send_cycles = rates->report_held_cycles = rates->replacement_held_cycles = (struct wt_curve){0};
    rates->report_lead_cycles = rates->replacement_lag_cycles = rates->replacement_places = (struct wt_curve){0};
    rates->report_queue = 4 * WT_MAX_SLOTS; /* more than a TPC has */
    rates->report_offset_cycles.count = 0;
    return counter;
}

double wt_bound_served(const struct wt_bound *bound, double warps)
{
    return warps * wt_bound_part(bound, warps);
}

/* How many warps are favoured as one: a row of warps, one on each sub-core, or a block. Where the measured launch was simulated with SMs as
 * a whole, a warp of a block too small for a row is to its sub-core what a row was to the SM. */
static int favoured_together(const struct wt_whatif_run *run, const struct wt_fluid_kernel *sharer)
{
    const struct wt_whatif *whatif = run->whatif;
    int row = run->gpu->limits.subcores, warps = run->shape.warps;
    bool whole = whatif->stays->warps % row == 0 && whatif->unit % row == 0 && !whatif->by_work;
    return sharer->apart || (whole && warps < row) ? row : warps;
}

enum wt_code wt_whatif_simulate(struct wt_whatif_run *run, struct wt_error *err)
{
    const struct wt_whatif *whatif = run->whatif;
    struct wt_fluid_kernel sharer = wt_bound_kernel(&run->explanation->bound, whatif->gpu->topology.sm_count);
    sharer.gpu_demand /= memory_ratio(whatif->gpu, run->gpu);
    int subcores = run->gpu->limits.subcores;
    sharer.sub_cores &= !run->coarse && (run->shape.warps % subcores != 0 || whatif->unit % subcores != 0);
    sharer.favour = wt_bound_favour(&run->explanation->bound, favoured_together(run, &sharer));
    if (run->point->persistent)
        sharer.counter = COUNTER;
    sharer.counter.seed = (uint64_t)run->variant + 1;
    sharer.start_cycles = VARIANT_CYCLES * run->variant + (whatif->by_work ? WT_FIRST_LOAD_CYCLES : 0);
    if (run->explanation->bound.gpu)
        sharer.start_cycles += start_of_part(run);
    sharer.parts = parts_of;
    sharer.context = run;
    run->scale = scale_of(run);
    struct wt_fluid *fluid = wt_fluid_new(&sharer, 1, run->gpu->topology.sm_count);
    struct wt_sharing sharing = wt_fluid_sharing(fluid);
    struct wt_kernel kernel = {.name = "whatif", .grid_blocks = run->blocks, .shape = run->shape};
    struct wt_observer observer = {.context = run, .block_done = note_block, .launch_ends = note_end};
    struct wt_gpu simulated = run->point->persistent ? with_counter(run->gpu) : without_view(run->gpu);
    struct wt_simulation simulation = {.gpu = &simulated, .kernels = &kernel, .kernel_count = 1,
                                       .seed = 1, .first_group = -1,
                                       .first_extra_sm = -1, .sharing = &sharing, .observers = &observer, .observer_count = 1};
    run->makespan = run->warp_cycles = 0;
    run->end_count = 0;
    enum wt_code code = wt_simulate(&simulation, err);
    wt_fluid_free(fluid);
    return code;
}

enum wt_code wt_whatif_mean(struct wt_whatif_run *run, double *makespan, struct wt_error *err)
{
    double sum = 0, squares = 0, count = run->whatif->variants;
    for (run->variant = run->whatif->variants - 1; run->variant >= 0; run->variant--) {
        WT_TRY(wt_whatif_simulate(run, err));
        sum += run->makespan;
        squares += run->makespan * run->makespan;
    }
    run->variant = 0;
    *makespan = sum / count;
    run->spread = count > 1 ? fmax(0, squares * count / (sum * sum) - 1) * count / (count - 1) : run->explanation->spread;
    return WT_OK;
}
