/* Blocks that share an SM and the GPU's memory: how long does each take, and is the work that is given all done? Driven by
 * hand, without an engine: block i starts at its time on its SM. The oracle knows rates only and takes one step from event to
 * event over all parts. */
#include "suites.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/random.h"
#include "cost/fluid.h"

enum { SMS = 4, MOST_RUNS = 400 };

struct run {
    double start, end; /* cycles */
    uint32_t sm, kernel;
    int parts;
    struct wt_fluid_part part[WT_FLUID_PARTS];
};

static struct run runs[MOST_RUNS];
static int run_count;

static int parts_of(void *context, uint64_t block, struct wt_fluid_part parts[WT_FLUID_PARTS])
{
    (void)context;
    for (int i = 0; i < runs[block].parts; i++)
        parts[i] = runs[block].part[i];
    return runs[block].parts;
}

static void add(double start, uint32_t sm, uint32_t kernel, int warps, double work)
{
    runs[run_count++] = (struct run){.start = start, .sm = sm, .kernel = kernel, .parts = 1, .part = {{warps, work}}};
}

static uint32_t free_slot(const bool *used, uint32_t sm)
{
    uint32_t slot = 0;
    while (used[sm * WT_MAX_SLOTS + slot])
        slot++;
    ck_assert_uint_lt(slot, WT_MAX_SLOTS);
    return sm * WT_MAX_SLOTS + slot;
}

/* Starts lie in order. The ends go into the runs. */
static struct wt_fluid_sums drive(const struct wt_fluid_kernel *kernels, size_t count)
{
    struct wt_fluid *fluid = wt_fluid_new(kernels, count, SMS);
    struct wt_sharing sharing = wt_fluid_sharing(fluid);
    bool used[SMS * WT_MAX_SLOTS] = {false};
    int block_of[SMS * WT_MAX_SLOTS], told = 0;
    for (int ended = 0; ended < run_count;) {
        wt_time next = told < run_count ? wt_from_cycles(runs[told].start) : WT_NEVER;
        wt_time end = sharing.next_end(sharing.context, next);
        if (end <= next) {
            uint32_t id = sharing.take_end(sharing.context);
            runs[block_of[id]].end = wt_to_cycles(end);
            used[id] = false;
            ended++;
            continue;
        }
        uint32_t id = free_slot(used, runs[told].sm);
        used[id] = true;
        block_of[id] = told;
        sharing.begin(sharing.context, id, runs[told].kernel, (uint64_t)told, next);
        told++;
    }
    ck_assert(sharing.next_end(sharing.context, WT_NEVER) == WT_NEVER);
    struct wt_fluid_sums sums = wt_fluid_sums(fluid);
    wt_fluid_free(fluid);
    return sums;
}

static void assert_ends(const double *ends)
{
    for (int i = 0; i < run_count; i++)
        ck_assert_msg(fabs(runs[i].end - ends[i]) < 0.01, "block %d ends at %g, not at %g", i, runs[i].end, ends[i]);
}

#define DRIVE(...)                                                                                                     \
    drive((struct wt_fluid_kernel[]){__VA_ARGS__}, sizeof((struct wt_fluid_kernel[]){__VA_ARGS__}) /                   \
                                                       sizeof(struct wt_fluid_kernel))

static void nothing(void)
{
    run_count = 0;
}

/* ---- One stage ---- */

/* min(n r, R) with R = 8 r: 8 warps take their work, 16 twice that. The third block comes when half is done. */
START_TEST(an_sm_serves_its_warps_up_to_its_limit)
{
    add(0, 0, 0, 8, 1000);
    add(0, 1, 0, 8, 1000);
    add(0, 1, 0, 8, 1000);
    add(500, 0, 0, 8, 1000);
    DRIVE({.sm_demand = 1 / 8.0, .parts = parts_of});
    assert_ends((double[]){1500, 2000, 2000, 2000});
}
END_TEST

/* G = 16 r: 32 warps on four SMs take twice as long as alone, though no SM is at its limit. */
START_TEST(the_gpu_serves_its_sms_up_to_its_limit)
{
    for (uint32_t sm = 0; sm < SMS; sm++)
        add(0, sm, 0, 8, 1000);
    DRIVE({.sm_demand = 1 / 8.0, .gpu_demand = 1 / 16.0, .parts = parts_of});
    assert_ends((double[]){2000, 2000, 2000, 2000});
}
END_TEST

/* A kernel that asks for nothing shared is slowed down by one that does, on its SM alone. */
START_TEST(kernels_slow_each_other_down_where_they_meet)
{
    add(0, 0, 0, 16, 1000);
    add(0, 0, 1, 4, 1000);
    add(0, 1, 1, 4, 1000);
    DRIVE({.sm_demand = 1 / 8.0, .parts = parts_of}, {.sm_demand = 0, .parts = parts_of});
    assert_ends((double[]){2000, 2000, 1000});
}
END_TEST

START_TEST(what_a_start_costs_asks_for_nothing)
{
    add(0, 0, 0, 8, 1000);
    add(0, 0, 0, 8, 1000);
    add(600, 0, 0, 8, 0);
    DRIVE({.sm_demand = 1 / 8.0, .start_cycles = 300, .parts = parts_of});
    assert_ends((double[]){2300, 2300, 900});
}
END_TEST

/* 4 warps with 1,000 and 12 with 2,000: at half speed until 2,000, then 12 of 8 have 1,000 left. */
START_TEST(a_block_ends_with_its_last_warps)
{
    runs[run_count++] = (struct run){.parts = 2, .part = {{4, 1000}, {12, 2000}}};
    DRIVE({.sm_demand = 1 / 8.0, .parts = parts_of});
    assert_ends((double[]){3500});
}
END_TEST

/* ---- How a stage comes to its limit, and who is served ---- */

/* Two customers of four warps saturate it, so each thinks as long as it is served: Erlang's B(N, 1) is 1/2, 1/5, 1/65 for 1, 2, 4. */
START_TEST(a_knee_is_a_machine_repairmans)
{
    ck_assert_double_eq_tol(wt_fluid_served(0.25, 0.5), 1, 1e-12);
    ck_assert_double_eq_tol(wt_fluid_served(0.5, 0.5), 1, 1e-12);
    ck_assert_double_eq_tol(wt_fluid_served(1, 0.5), 4 / 5.0, 1e-12);
    ck_assert_double_eq_tol(wt_fluid_served(2, 0.5), 64 / 65.0 / 2, 1e-12);
    ck_assert_double_eq_tol(wt_fluid_served(50, 0.5), 1 / 50.0, 1e-12);
    ck_assert_double_eq_tol(wt_fluid_served(3, 1), 1 / 3.0, 1e-12);
    for (double crowding = 0.1; crowding < 2; crowding += 0.3)
        for (double busy = 0.1; busy < 0.95; busy += 0.2) {
            double load = busy * (1 + crowding * busy / (1 - busy)); /* latency, as that of an idle stage, times throughput */
            ck_assert_double_eq_tol(load * wt_fluid_crowded(load, crowding), busy, 1e-12);
        }
    add(0, 0, 0, 8, 1000);
    DRIVE({.sm_demand = 1 / 8.0, .sm_grain = 4, .parts = parts_of});
    assert_ends((double[]){1250});
}
END_TEST

/* Never more than asked for or than there is, and never less than with fewer. */
START_TEST(more_load_is_served_more)
{
    for (double grain = 0.01; grain < 1; grain *= 1.7)
        for (double load = 0.01, before = 0; load < 20; load += 0.01) {
            double all = load * wt_fluid_served(load, grain);
            ck_assert_msg(all >= before - 1e-12 && all <= fmin(load, 1) + 1e-12, "load %g grain %g: %g after %g", load, grain, all, before);
            before = all;
        }
}
END_TEST

/* Two thirds of the SM and one third: the younger one has done 500 when the older ends, and then goes at full speed. */
START_TEST(the_oldest_block_is_served_first)
{
    add(0, 0, 0, 8, 1000);
    add(0, 0, 0, 8, 1000);
    DRIVE({.sm_demand = 1 / 8.0, .favour = 0.5, .parts = parts_of});
    assert_ends((double[]){1500, 2000});
}
END_TEST

/* The oldest takes all. Of blocks the second is the oldest once the first has ended; a task that the first block takes then is as old as
 * that, and the second block still waits. */
START_TEST(a_task_is_as_old_as_its_block)
{
    add(0, 0, 0, 8, 1000);
    add(0, 0, 0, 8, 1000);
    add(1001, 0, 0, 8, 1000);
    DRIVE({.sm_demand = 1 / 8.0, .favour = 1, .parts = parts_of});
    assert_ends((double[]){1000, 2000, 3000});
    DRIVE({.sm_demand = 1 / 8.0, .favour = 1, .parts = parts_of, .counter = {.used = true}});
    assert_ends((double[]){1000, 3000, 2001});
}
END_TEST

/* Nobody limits anybody. The SM's first block gets its parameters after 60 cycles, and so does the one that starts at 50; the other SM's
 * is sooner, so that it has the first task, of 100. */
START_TEST(tasks_are_taken_as_blocks_come)
{
    add(0, 0, 0, 1, 100);
    add(0, 1, 0, 1, 200);
    add(50, 1, 0, 1, 400);
    add(100, 1, 0, 1, 800);
    DRIVE({.parts = parts_of, .counter = {.used = true, .wait = 60}});
    assert_ends((double[]){160, 260, 460, 900});
    runs[0].start = 40;
    DRIVE({.parts = parts_of, .counter = {.used = true, .wait = 60}});
    assert_ends((double[]){500, 160, 260, 900});
}
END_TEST

/* Two warps cannot use more than a quarter of the SM; the younger eight have the rest. */
START_TEST(what_the_oldest_cannot_use_others_get)
{
    add(0, 0, 0, 2, 1000);
    add(0, 0, 0, 8, 1000);
    DRIVE({.sm_demand = 1 / 8.0, .favour = 0.5, .parts = parts_of});
    assert_ends((double[]){1000, 1250});
    DRIVE({.sm_demand = 1 / 8.0, .favour = 1, .parts = parts_of});
    assert_ends((double[]){1000, 1250});
}
END_TEST

/* Six warps saturate the SM. Parts that share alike get 3/4 of full speed each; apart, the older is through at 1000, when the younger
 * has done half. */
START_TEST(parts_of_a_block_share_alike_or_go_apart)
{
    runs[run_count++] = (struct run){.parts = 2, .part = {{4, 1000}, {4, 1000}}};
    DRIVE({.sm_demand = 1 / 6.0, .favour = 1, .parts = parts_of});
    assert_ends((double[]){4000 / 3.0});
    DRIVE({.sm_demand = 1 / 6.0, .favour = 1, .apart = true, .parts = parts_of});
    assert_ends((double[]){1500});
}
END_TEST

/* Eight warps are all that an SM serves. Of two such blocks the older is kept to 0.6, as a part of 0.75 is more; of the 0.4 that
 * are left the younger takes 0.3, and of the last 0.1 each gets by what he lacks: 0.4 / 1.1 and 0.7 / 1.1. So 0.636 and 0.364 until
 * the older has done 1000, at 1571.4; the younger has then done 571.4. */
START_TEST(even_the_oldest_block_is_hindered)
{
    add(0, 0, 0, 8, 1000);
    add(0, 0, 0, 8, 1000);
    DRIVE({.sm_demand = 1 / 8.0, .favour = 0.75, .hindered = 0.6, .parts = parts_of});
    assert_ends((double[]){1000 / (0.6 + 0.04 / 1.1), 2000});
}
END_TEST

/* Nobody waits: full speed for both, whatever hinders. */
START_TEST(who_is_not_kept_waiting_is_not_hindered)
{
    add(0, 0, 0, 4, 1000);
    add(0, 0, 0, 4, 500);
    DRIVE({.sm_demand = 1 / 8.0, .favour = 0.5, .hindered = 0.6, .parts = parts_of});
    assert_ends((double[]){1000, 500});
}
END_TEST

/* Each sub-core serves one warp at full speed. Five warps are 2, 1, 1, 1; the next block's 1, 2, 1, 1. */
START_TEST(warps_share_their_own_sub_core)
{
    add(0, 0, 0, 5, 1000);
    DRIVE({.sm_demand = 1 / 4.0, .sub_cores = true, .parts = parts_of});
    assert_ends((double[]){2000});
    add(0, 0, 0, 5, 1000);
    DRIVE({.sm_demand = 1 / 4.0, .sub_cores = true, .parts = parts_of});
    assert_ends((double[]){3000, 3000});
}
END_TEST

/* ---- Everything at once ---- */

static double slowed(double load)
{
    return load > 1 ? 1 / load : 1;
}

struct oracle {
    const struct wt_fluid_kernel *kernels;
    double left[MOST_RUNS][WT_FLUID_PARTS], rate[MOST_RUNS];
    double now;
};

static bool runs_part(const struct oracle *o, int i, int p)
{
    return o->left[i][p] > 0 && runs[i].start + o->kernels[runs[i].kernel].start_cycles <= o->now;
}

static int running_warps(const struct oracle *o, int i)
{
    int warps = 0;
    for (int p = 0; p < runs[i].parts; p++)
        warps += runs_part(o, i, p) ? runs[i].part[p].warps : 0;
    return warps;
}

static void find_rates(struct oracle *o)
{
    double sm[SMS] = {0}, gpu = 0;
    for (int i = 0; i < run_count; i++)
        sm[runs[i].sm] += running_warps(o, i) * o->kernels[runs[i].kernel].sm_demand;
    for (int i = 0; i < run_count; i++)
        gpu += running_warps(o, i) * slowed(sm[runs[i].sm]) * o->kernels[runs[i].kernel].gpu_demand;
    for (int i = 0; i < run_count; i++)
        o->rate[i] = slowed(sm[runs[i].sm]) * slowed(gpu);
}

static double next_event(const struct oracle *o)
{
    double next = INFINITY;
    for (int i = 0; i < run_count; i++) {
        double start = runs[i].start + o->kernels[runs[i].kernel].start_cycles;
        if (start > o->now)
            next = fmin(next, start);
        for (int p = 0; p < runs[i].parts; p++)
            if (runs_part(o, i, p))
                next = fmin(next, o->now + o->left[i][p] / o->rate[i]);
    }
    return next;
}

static void oracle_ends(const struct wt_fluid_kernel *kernels, double *ends)
{
    static struct oracle o;
    o = (struct oracle){.kernels = kernels, .now = -1};
    for (int i = 0; i < run_count; i++)
        for (int p = 0; p < runs[i].parts; p++)
            o.left[i][p] = runs[i].part[p].work;
    for (double next = next_event(&o); next < INFINITY; next = next_event(&o)) {
        for (int i = 0; i < run_count; i++)
            for (int p = 0; p < runs[i].parts; p++)
                if (runs_part(&o, i, p)) {
                    o.left[i][p] -= (next - o.now) * o.rate[i];
                    o.left[i][p] = o.left[i][p] < 1e-7 ? 0 : o.left[i][p];
                    ends[i] = next;
                }
        o.now = next;
        find_rates(&o);
    }
}

static void draw_runs(struct wt_random *random, int count)
{
    double start = 0;
    for (int i = 0; i < count; i++) {
        start += 60 * wt_random_unit(random);
        struct run run = {.start = floor(start), .sm = (uint32_t)(wt_random_unit(random) * SMS),
                          .kernel = (uint32_t)(wt_random_unit(random) * 2), .parts = 1 + (int)(wt_random_unit(random) * 3)};
        for (int p = 0; p < run.parts; p++)
            run.part[p] = (struct wt_fluid_part){1 + (int)(wt_random_unit(random) * 2), 1 + 500 * wt_random_unit(random)};
        runs[run_count++] = run;
    }
}

START_TEST(random_blocks_end_as_the_rates_say_and_all_work_is_done)
{
    struct wt_random random = wt_random_stream((uint64_t)_i, "fluid test", 0);
    const struct wt_fluid_kernel kernels[] = {
        {.sm_demand = 0.2 * wt_random_unit(&random), .gpu_demand = 0.05 * wt_random_unit(&random), .parts = parts_of},
        {.sm_demand = 0.2 * wt_random_unit(&random), .gpu_demand = 0.05, .start_cycles = 25, .parts = parts_of}};
    double ends[MOST_RUNS], given = 0;
    draw_runs(&random, 150);
    struct wt_fluid_sums sums = drive(kernels, 2);
    oracle_ends(kernels, ends);
    assert_ends(ends);
    for (int i = 0; i < run_count; i++)
        for (int p = 0; p < runs[i].parts; p++)
            given += runs[i].part[p].warps * runs[i].part[p].work;
    ck_assert_double_eq_tol(sums.given, given, 1e-9 * given);
    ck_assert_double_eq_tol(sums.done, given, 1e-9 * given);
}
END_TEST

/* No oracle for the ends: that all work is done is what it pins. */
START_TEST(favoured_blocks_do_all_their_work)
{
    struct wt_random random = wt_random_stream((uint64_t)_i, "fluid test", 1);
    const struct wt_fluid_kernel kernel = {.sm_demand = 0.2 * wt_random_unit(&random), .gpu_demand = 0.02, .gpu_grain = 8,
                                           .sm_grain = 4, .favour = 0.9 * wt_random_unit(&random) + 0.01,
                                           .hindered = _i % 3 == 0 ? 0.7 : 0, .sub_cores = _i % 2 == 0, .parts = parts_of};
    double given = 0;
    draw_runs(&random, 150);
    for (int i = 0; i < run_count; i++)
        runs[i].kernel = 0;
    struct wt_fluid_sums sums = drive(&kernel, 1);
    for (int i = 0; i < run_count; i++)
        for (int p = 0; p < runs[i].parts; p++)
            given += runs[i].part[p].warps * runs[i].part[p].work;
    ck_assert_double_eq_tol(sums.given, given, 1e-9 * given);
    ck_assert_double_eq_tol(sums.done, given, 1e-7 * given);
}
END_TEST

Suite *fluid_suite(void)
{
    Suite *suite = suite_create("fluid");
    TCase *stages = tcase_create("stages");
    tcase_add_checked_fixture(stages, nothing, NULL);
    tcase_add_test(stages, an_sm_serves_its_warps_up_to_its_limit);
    tcase_add_test(stages, the_gpu_serves_its_sms_up_to_its_limit);
    tcase_add_test(stages, kernels_slow_each_other_down_where_they_meet);
    tcase_add_test(stages, what_a_start_costs_asks_for_nothing);
    tcase_add_test(stages, a_block_ends_with_its_last_warps);
    tcase_add_test(stages, a_knee_is_a_machine_repairmans);
    tcase_add_test(stages, more_load_is_served_more);
    tcase_add_test(stages, the_oldest_block_is_served_first);
    tcase_add_test(stages, a_task_is_as_old_as_its_block);
    tcase_add_test(stages, tasks_are_taken_as_blocks_come);
    tcase_add_test(stages, what_the_oldest_cannot_use_others_get);
    tcase_add_test(stages, parts_of_a_block_share_alike_or_go_apart);
    tcase_add_test(stages, even_the_oldest_block_is_hindered);
    tcase_add_test(stages, who_is_not_kept_waiting_is_not_hindered);
    tcase_add_test(stages, warps_share_their_own_sub_core);
    tcase_add_loop_test(stages, random_blocks_end_as_the_rates_say_and_all_work_is_done, 0, 20);
    tcase_add_loop_test(stages, favoured_blocks_do_all_their_work, 0, 20);
    suite_add_tcase(suite, stages);
    return suite;
}
