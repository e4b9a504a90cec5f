/* Does every simulation keep the rules, whatever the kernels? Random workloads on several GPUs under every policy, their
 * kernels one after another or overlapping, are simulated, and the block runs are recounted here from the launch's own figures,
 * without the simulator's help. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "dispatch/policy.h"
#include "dispatch/simulate.h"
#include "sm/occupancy.h"
#include "suites.h"

enum { WORLDS = 150, MOST_KERNELS = 3, MOST_GRID = 3000 };

/* ---- Random workloads ---- */

struct launch {
    struct wt_launch_needs needs;
    struct wt_occupancy occupancy;
    uint64_t grid_blocks;
    wt_time *durations; /* by block */
    uint64_t asked;     /* blocks whose duration has been asked for */
    bool in_order;      /* they were asked for in index order, each once */
    /* What the observer was told. */
    bool begun, ended;
    wt_time first_start, queue_empty, end;
    uint64_t done;
    struct wt_block_run *runs; /* in the order of the calls */
};

struct world {
    struct wt_gpu *gpu;
    const struct wt_policy *policy;
    struct launch launches[MOST_KERNELS];
    struct wt_kernel kernels[MOST_KERNELS];
    size_t count;
    uint64_t seed;
    /* The front end of kernels that overlap. */
    bool overlapping;
    wt_time arrivals[MOST_KERNELS]; /* ascending */
    uint32_t arrived;
};

static uint32_t pick(struct wt_random *r, uint32_t low, uint32_t high)
{
    return low + wt_random_below(r, high - low + 1);
}

static wt_time duration(void *context, uint64_t block)
{
    struct launch *launch = context;
    launch->in_order &= block == launch->asked;
    launch->asked++;
    return launch->durations[block];
}

/* From nearly nothing, where the distributor is the bottleneck, to long and uneven. */
static void draw_durations(struct launch *launch, struct wt_random *r)
{
    uint32_t kind = pick(r, 0, 3);
    launch->durations = wt_alloc(launch->grid_blocks, sizeof *launch->durations);
    for (uint64_t i = 0; i < launch->grid_blocks; i++) {
        wt_time *d = &launch->durations[i];
        if (kind == 0)
            *d = pick(r, 1, 3 * WT_CYCLE);
        else if (kind == 1)
            *d = 5000 * WT_CYCLE;
        else if (kind == 2)
            *d = pick(r, 100 * WT_CYCLE, 3000 * WT_CYCLE);
        else
            *d = pick(r, 0, 50) ? 1000 * WT_CYCLE : 40000 * WT_CYCLE;
    }
}

/* What some SM can hold; fails where the GPU cannot. */
static enum wt_code draw_needs(const struct wt_limits *limits, struct wt_random *r, struct launch *launch)
{
    uint32_t largest = pick(r, 0, 1) ? 1024 : 128;
    launch->needs = (struct wt_launch_needs){.threads = (int)pick(r, 1, largest),
                                             .registers_per_thread = (int)pick(r, 0, 128),
                                             .carveout_kb = WT_CARVEOUT_DEFAULT};
    if (pick(r, 0, 2) == 0)
        launch->needs.static_shared_bytes = (int)pick(r, 0, 48 * 1024);
    if (pick(r, 0, 3) == 0)
        launch->needs.barriers = (int)pick(r, 0, 16);
    if (pick(r, 0, 3) == 0)
        launch->needs.carveout_kb = (int)pick(r, 0, 228);
    return wt_occupancy(limits, &launch->needs, &launch->occupancy, NULL);
}

static void draw_launch(struct world *world, struct wt_random *r, size_t index)
{
    struct launch *launch = &world->launches[index];
    struct wt_kernel *kernel = &world->kernels[index];
    while (draw_needs(&world->gpu->limits, r, launch) != WT_OK)
        continue;
    launch->grid_blocks = pick(r, 0, 4) ? pick(r, 1, MOST_GRID) : pick(r, 1, 140);
    launch->runs = wt_alloc(launch->grid_blocks, sizeof *launch->runs);
    launch->in_order = true;
    draw_durations(launch, r);
    *kernel = (struct wt_kernel){
        .name = "random", .grid_blocks = launch->grid_blocks, .cost = {.duration = duration, .context = launch}};
    ck_assert_int_eq(wt_shape_make(&world->gpu->limits, &launch->needs, &kernel->shape, NULL), WT_OK);
}

static void draw_world(struct world *world, int number)
{
    static const char *const gpus[] = {"h200", "t4", "four-sms", "a100-sxm-80gb"};
    struct wt_random r = wt_random_stream(2026, "invariants", (uint64_t)number);
    struct wt_error err = {0};
    *world = (struct world){.seed = pick(&r, 0, 1000)};
    ck_assert_msg(wt_gpu_load(gpus[pick(&r, 0, 3)], &world->gpu, &err) == WT_OK, "%s", err.text);
    size_t policies = 0;
    while (wt_policies[policies])
        policies++;
    world->policy = wt_policies[(size_t)number % policies];
    world->count = pick(&r, 1, MOST_KERNELS);
    world->overlapping = pick(&r, 0, 1);
    for (size_t i = 0; i < world->count; i++) {
        draw_launch(world, &r, i);
        world->arrivals[i] = (i > 0 ? world->arrivals[i - 1] : 0) + pick(&r, 0, 10000 * WT_CYCLE);
    }
}

static void free_world(struct world *world)
{
    for (size_t i = 0; i < world->count; i++) {
        free(world->launches[i].durations);
        free(world->launches[i].runs);
    }
    wt_gpu_free(world->gpu);
}

/* ---- Simulating ---- */

static wt_time next_arrival(void *context)
{
    const struct world *world = context;
    return world->arrived < world->count ? world->arrivals[world->arrived] : WT_NEVER;
}

static uint32_t take_arrival(void *context)
{
    return ((struct world *)context)->arrived++;
}

static void kernel_done(void *context, uint32_t kernel, wt_time end)
{
    (void)context, (void)kernel, (void)end;
}

static void begins(void *context, uint32_t launch, wt_time first_start)
{
    struct world *world = context;
    struct launch *l = &world->launches[launch];
    ck_assert(launch < world->count && !l->begun);
    l->begun = true;
    l->first_start = first_start;
}

static void done(void *context, const struct wt_block_run *run)
{
    struct world *world = context;
    struct launch *l = &world->launches[run->launch];
    ck_assert(run->launch < world->count && l->begun && !l->ended);
    ck_assert_uint_lt(l->done, l->grid_blocks);
    l->runs[l->done++] = *run;
}

static void ends(void *context, uint32_t launch, wt_time queue_empty, wt_time end)
{
    struct launch *l = &((struct world *)context)->launches[launch];
    ck_assert(l->begun && !l->ended);
    l->ended = true;
    l->queue_empty = queue_empty;
    l->end = end;
}

static void simulate(struct world *world)
{
    struct wt_observer observer = {.context = world, .launch_begins = begins, .block_done = done, .launch_ends = ends};
    struct wt_front_end overlapping = {.context = world, .next = next_arrival, .take = take_arrival, .done = kernel_done};
    struct wt_simulation simulation = {.gpu = world->gpu,
                                       .policy = world->policy,
                                       .kernels = world->kernels,
                                       .kernel_count = world->count,
                                       .seed = world->seed,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .front_end = world->overlapping ? &overlapping : NULL,
                                       .observers = &observer,
                                       .observer_count = 1};
    struct wt_error err = {0};
    ck_assert_msg(wt_simulate(&simulation, &err) == WT_OK, "%s", err.text);
}

/* ---- Rules of one launch ---- */

static int by_block(const void *a, const void *b)
{
    const struct wt_block_run *x = a, *y = b;
    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

/* The calls: all blocks between the launch's first and last call, in the order of their ends. */
static void check_calls(const struct launch *l)
{
    ck_assert(l->begun && l->ended);
    ck_assert_uint_eq(l->done, l->grid_blocks);
    wt_time first = WT_NEVER, last_block = 0, last_end = 0;
    for (uint64_t i = 0; i < l->done; i++) {
        const struct wt_block_run *run = &l->runs[i];
        ck_assert_uint_ge(run->end, last_end);
        last_end = run->end;
        first = run->start < first ? run->start : first;
        last_block = run->block + 1 == l->grid_blocks ? run->start : last_block;
    }
    ck_assert_uint_eq(l->first_start, first);
    ck_assert_uint_eq(l->end, last_end);
    ck_assert_uint_eq(l->queue_empty, last_block);
}

/* Each block ran once, for as long as it should; durations were asked for in index order: blocks are dispatched so.
 * Leaves the runs in index order. */
static void check_blocks(struct launch *l)
{
    ck_assert(l->in_order);
    ck_assert_uint_eq(l->asked, l->grid_blocks);
    qsort(l->runs, l->done, sizeof *l->runs, by_block);
    for (uint64_t i = 0; i < l->done; i++) {
        ck_assert_uint_eq(l->runs[i].block, i);
        ck_assert_uint_eq(l->runs[i].end - l->runs[i].start, l->durations[i]);
    }
}

/* On one SM blocks start in the order of their indices. */
static void check_order(const struct launch *l, int sm_count)
{
    wt_time *latest = wt_alloc((size_t)sm_count, sizeof *latest);
    for (uint64_t i = 0; i < l->done; i++) {
        const struct wt_block_run *run = &l->runs[i];
        ck_assert_int_lt(run->sm, sm_count);
        ck_assert_uint_ge(run->start, latest[run->sm]);
        latest[run->sm] = run->start;
    }
    free(latest);
}

/* No schedule beats the longest block, nor the work spread evenly over `slots` of each SM. */
static void check_bounds(const struct launch *l, int sm_count, int slots)
{
    wt_time makespan = l->end - l->first_start, longest = 0;
    double work = 0;
    for (uint64_t i = 0; i < l->grid_blocks; i++) {
        longest = l->durations[i] > longest ? l->durations[i] : longest;
        work += (double)l->durations[i];
    }
    ck_assert_uint_ge(makespan, longest);
    ck_assert_double_ge((double)makespan, work / ((double)sm_count * slots));
}

/* ---- Rules of one SM over the whole run ---- */

/* What one block takes, from the launch's figures and the GPU's limits (register rounding to the unit is part of the
 * hardware; shared memory is counted without rounding, which can only be too mild). */
struct need {
    int warps, registers_per_warp, shared_bytes, barriers;
};

static struct need need_of(const struct wt_limits *limits, const struct wt_launch_needs *n)
{
    int registers = n->registers_per_thread * 32;
    return (struct need){.warps = (n->threads + 31) / 32,
                         .registers_per_warp = (registers + limits->register_unit - 1) / limits->register_unit *
                                               limits->register_unit,
                         .shared_bytes = n->static_shared_bytes + n->dynamic_shared_bytes + limits->shared_reserved_bytes,
                         .barriers = n->barriers};
}

struct tally {
    int blocks, warps, shared_bytes, barriers;
    int warps_of[WT_MAX_SUBCORES], registers_of[WT_MAX_SUBCORES];
};

/* A block arrives on the SM or leaves it. */
struct event {
    wt_time at;
    bool arrives;
    const struct wt_block_run *run;
    int pointer; /* sub-core of its first warp */
};

/* Leaving comes before arriving at the same moment. */
static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->arrives != y->arrives)
        return x->arrives ? 1 : -1;
    return by_block(x->run, y->run);
}

static void apply(struct tally *t, const struct wt_limits *limits, const struct need *need, const struct event *e)
{
    int sign = e->arrives ? 1 : -1;
    t->blocks += sign;
    t->warps += sign * need->warps;
    t->shared_bytes += sign * need->shared_bytes;
    t->barriers += sign * need->barriers;
    for (int j = 0; j < need->warps; j++) {
        int subcore = (e->pointer + j) % limits->subcores;
        t->warps_of[subcore] += sign;
        t->registers_of[subcore] += sign * need->registers_per_warp;
    }
}

static void check_tally(const struct tally *t, const struct wt_limits *limits)
{
    ck_assert_int_le(t->blocks, limits->blocks_per_sm);
    ck_assert_int_le(t->warps, limits->warps_per_sm);
    ck_assert_int_le(t->warps * 32, limits->threads_per_sm);
    ck_assert_int_le(t->shared_bytes, limits->shared_bytes_per_sm);
    if (limits->barriers_per_sm)
        ck_assert_int_le(t->barriers, limits->barriers_per_sm);
    for (int s = 0; s < limits->subcores; s++) {
        ck_assert_int_le(t->warps_of[s], limits->warps_per_sm / limits->subcores);
        ck_assert_int_le(t->registers_of[s], limits->registers_per_sm / limits->subcores);
    }
}

/* All arrivals and departures of one SM, in order of time; the sub-core pointer moves on at each arrival. Where it
 * starts makes no difference to what fits. */
static size_t events_of(const struct world *world, int sm, struct event *events)
{
    size_t count = 0;
    for (size_t k = 0; k < world->count; k++)
        for (uint64_t i = 0; i < world->launches[k].done; i++) {
            const struct wt_block_run *run = &world->launches[k].runs[i];
            if (run->sm != sm)
                continue;
            events[count++] = (struct event){.at = run->start, .arrives = true, .run = run};
            events[count++] = (struct event){.at = run->end, .run = run};
        }
    qsort(events, count, sizeof *events, by_time);
    return count;
}

static void check_capacity(const struct world *world, struct event *events, size_t count)
{
    const struct wt_limits *limits = &world->gpu->limits;
    struct tally tally = {0};
    int pointer = 0;
    int pointer_of[WT_MAX_SLOTS];
    for (size_t i = 0; i < count; i++) {
        struct need need = need_of(limits, &world->launches[events[i].run->launch].needs);
        ck_assert_int_lt(events[i].run->slot, limits->blocks_per_sm);
        if (events[i].arrives) {
            pointer_of[events[i].run->slot] = pointer;
            pointer = (pointer + (need.warps % limits->subcores ? need.warps : 1)) % limits->subcores;
        }
        events[i].pointer = pointer_of[events[i].run->slot];
        apply(&tally, limits, &need, &events[i]);
        check_tally(&tally, limits);
    }
    ck_assert_int_eq(tally.blocks, 0);
}

/* Rounding of the latency's parts to time units. */
enum { ROUNDING = 4 };

/* From a block's end to its replacement's start at the least, on an SM of this TPC. */
static wt_time release_time(const struct wt_gpu *gpu, int sm)
{
    const struct wt_rates *rates = &gpu->rates;
    int tpc = gpu->topology.tpc_of_sm[sm];
    double cycles = rates->release_cycles;
    cycles += rates->launch_offset_cycles.count ? rates->launch_offset_cycles.values[tpc] : 0;
    cycles += rates->report_offset_cycles.count ? rates->report_offset_cycles.values[tpc] : 0;
    wt_time t = wt_from_cycles(cycles);
    return t > ROUNDING ? t - ROUNDING : 0;
}

/* A slot's next block starts no sooner than the release latency after its last one ended; as soon as the report of another
 * block of the TPC that leaves then, where that tells of its room. */
static void check_slots(const struct world *world, int sm, const struct event *events, size_t count)
{
    wt_time release = release_time(world->gpu, sm), ready = wt_from_cycles(world->gpu->rates.report_ready_cycles);
    release = release > ready ? release - ready : 0;
    wt_time free_at[WT_MAX_SLOTS] = {0};
    bool taken[WT_MAX_SLOTS] = {false};
    for (size_t i = 0; i < count; i++) {
        int slot = events[i].run->slot;
        ck_assert(taken[slot] != events[i].arrives);
        taken[slot] = events[i].arrives;
        if (events[i].arrives)
            ck_assert_uint_ge(events[i].at, free_at[slot]);
        else
            free_at[slot] = events[i].at + release;
    }
}

START_TEST(rules_hold)
{
    struct world world;
    draw_world(&world, _i);
    simulate(&world);
    int sm_count = world.gpu->topology.sm_count;
    size_t blocks = 0;
    for (size_t k = 0; k < world.count; k++) {
        struct launch *l = &world.launches[k];
        check_calls(l);
        check_blocks(l);
        check_order(l, sm_count);
        /* Beside others it may find a larger shared-memory configuration than its own. */
        check_bounds(l, sm_count, world.overlapping ? world.gpu->limits.blocks_per_sm : l->occupancy.blocks_per_sm);
        if (k > 0 && !world.overlapping)
            ck_assert_uint_ge(l->first_start,
                              world.launches[k - 1].end + wt_from_cycles(world.gpu->rates.kernel_gap_cycles));
        blocks += l->done;
    }
    struct event *events = wt_alloc(2 * blocks, sizeof *events);
    for (int sm = 0; sm < sm_count; sm++) {
        size_t count = events_of(&world, sm, events);
        check_capacity(&world, events, count);
        check_slots(&world, sm, events, count);
    }
    free(events);
    free_world(&world);
}
END_TEST

/* ---- Repetition ---- */

START_TEST(repeating_a_run_changes_nothing)
{
    struct world first, second;
    draw_world(&first, _i);
    draw_world(&second, _i);
    simulate(&first);
    simulate(&second);
    for (size_t k = 0; k < first.count; k++) {
        const struct launch *a = &first.launches[k], *b = &second.launches[k];
        ck_assert_uint_eq(a->done, b->done);
        ck_assert_mem_eq(a->runs, b->runs, a->done * sizeof *a->runs);
        ck_assert_uint_eq(a->queue_empty, b->queue_empty);
    }
    free_world(&first);
    free_world(&second);
}
END_TEST

Suite *invariants_suite(void)
{
    Suite *suite = suite_create("invariants");
    TCase *tcase = tcase_create("invariants");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, rules_hold, 0, WORLDS);
    tcase_add_loop_test(tcase, repeating_a_run_changes_nothing, 0, 20);
    suite_add_tcase(suite, tcase);
    return suite;
}
