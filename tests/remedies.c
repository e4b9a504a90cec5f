/* What do other orders, smaller blocks and persistent kernels do to an imbalance? The transformation itself, makespans worked
 * out by hand, and the bounds of list scheduling. */
#include "ran.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "cost/rework.h"

/* ---- The transformation ---- */

static wt_time listed(void *context, uint64_t block)
{
    return ((const wt_time *)context)[block];
}

static void check_rework(const wt_time *before, uint64_t count, const struct wt_rework_setup *setup, const wt_time *after,
                         uint64_t after_count)
{
    struct wt_cost source = {listed, (void *)(uintptr_t)before};
    struct wt_rework *rework = wt_rework_new(&source, count, setup);
    struct wt_cost cost = wt_rework_cost(rework);
    ck_assert_uint_eq(wt_rework_count(rework), after_count);
    for (uint64_t i = 0; i < after_count; i++)
        ck_assert_msg(cost.duration(cost.context, i) == after[i], "block %llu lasts %llu, not %llu", (unsigned long long)i,
                      (unsigned long long)cost.duration(cost.context, i), (unsigned long long)after[i]);
    wt_rework_free(rework);
}

#define CHECK_REWORK(setup, ...)                                                                                       \
    check_rework((wt_time[]){30, 70, 30, 50}, 4, &(struct wt_rework_setup)setup, (wt_time[]){__VA_ARGS__},             \
                 sizeof((wt_time[]){__VA_ARGS__}) / sizeof(wt_time))
#define HOW(...) {__VA_ARGS__}

START_TEST(orders_are_what_they_are_called)
{
    CHECK_REWORK(HOW(.order = WT_ORDER_ASIS, .split = 1), 30, 70, 30, 50);
    CHECK_REWORK(HOW(.order = WT_ORDER_LONGEST_FIRST, .split = 1), 70, 50, 30, 30);
    CHECK_REWORK(HOW(.order = WT_ORDER_REVERSED, .split = 1), 50, 30, 70, 30);
}
END_TEST

/* Nothing is lost: 70 in three parts is 24 + 23 + 23. */
START_TEST(parts_add_up_to_their_block)
{
    CHECK_REWORK(HOW(.split = 3), 10, 10, 10, 24, 23, 23, 10, 10, 10, 17, 17, 16);
    CHECK_REWORK(HOW(.split = 2, .order = WT_ORDER_LONGEST_FIRST), 35, 35, 25, 25, 15, 15, 15, 15);
    CHECK_REWORK(HOW(.split = 2, .split_overhead_cycles = 1.0), 15 + 1024, 15 + 1024, 35 + 1024, 35 + 1024, 15 + 1024,
                 15 + 1024, 25 + 1024, 25 + 1024);
    CHECK_REWORK(HOW(.split = 1, .split_overhead_cycles = 1.0), 30, 70, 30, 50);
}
END_TEST

enum { MANY = 1000 };

static wt_time numbered(void *context, uint64_t block)
{
    (void)context;
    return block + 1;
}

static uint64_t places_kept(uint64_t seed, uint64_t other)
{
    struct wt_cost source = {numbered, NULL};
    struct wt_rework *rework[2];
    struct wt_cost cost[2];
    bool seen[MANY + 1] = {false};
    uint64_t same = 0;
    for (int i = 0; i < 2; i++) {
        struct wt_rework_setup setup = {.order = WT_ORDER_SHUFFLE, .split = 1, .seed = i ? other : seed};
        rework[i] = wt_rework_new(&source, MANY, &setup);
        cost[i] = wt_rework_cost(rework[i]);
    }
    for (uint64_t i = 0; i < MANY; i++) {
        wt_time duration = cost[0].duration(cost[0].context, i);
        ck_assert(!seen[duration]);
        seen[duration] = true;
        same += duration == cost[1].duration(cost[1].context, i);
    }
    wt_rework_free(rework[0]);
    wt_rework_free(rework[1]);
    return same;
}

/* Of two random orders one block is in the same place on average; 10 would be a wonder. */
START_TEST(shuffles_keep_every_block_and_follow_their_seed)
{
    ck_assert_uint_eq(places_kept(1, 1), MANY);
    ck_assert_uint_lt(places_kept(1, 2), 10);
}
END_TEST

/* ---- One long block ---- */

static double makespan(const char *gpu, const char *keys)
{
    char *kernel = wt_format("{ block = 256; dynamic_shared = 120000; %s }", keys);
    struct ran r = ran_well(gpu, kernel);
    double cycles = r.makespan;
    ran_clear(&r);
    free(kernel);
    return cycles;
}

/* 39 blocks of 1,000 cycles and then one of 10,000, one to an SM, on four SMs. */
#define ONE_LONG "duration = { distribution = \"outlier\"; usual = 1000.0; outlier = 10000.0; block = 39; }; "

/* As it is: nine rounds, then the long one. Longest first: the other three SMs take 13 rounds. Each cut in ten: 390 parts of
 * 100 on four SMs end at 9,700 and 9,800, then each of the two early SMs takes three parts of 1,000. Shares of every fourth
 * block: one SM has nine short ones and the long one. A queue in given order is what the distributor is already.
 * With 10 cycles from task to task the long one ends at 10,010, its SM takes three more, to 13,040, and learns that none is left. */
START_TEST(remedies_for_one_long_block)
{
    static const struct {
        const char *keys;
        double cycles;
    } cases[] = {{"grid = 40; " ONE_LONG, 19000},
                 {"grid = 40; order = \"longest-first\"; " ONE_LONG, 13000},
                 {"grid = 40; order = \"reversed\"; " ONE_LONG, 13000},
                 {"grid = 40; split = 10; " ONE_LONG, 12700},
                 {"grid = 40; split = 10; order = \"longest-first\"; " ONE_LONG, 12300},
                 {"persistent = { tasks = 40; queue = \"static\"; overhead = 0; }; " ONE_LONG, 19000},
                 {"persistent = { tasks = 40; overhead = 0; }; " ONE_LONG, 19000},
                 {"persistent = { tasks = 40; overhead = 0; }; order = \"longest-first\"; " ONE_LONG, 13000},
                 {"persistent = { tasks = 40; overhead = 10; }; order = \"longest-first\"; " ONE_LONG, 13050}};
    ck_assert_double_eq(makespan("four-sms", cases[_i].keys), cases[_i].cycles);
}
END_TEST

/* ---- Bounds ---- */

enum { BLOCKS = 200, SMS = 4 };

struct load {
    double sum, longest;
};

static struct load load_of(const char *keys)
{
    char *kernel = wt_format("{ block = 256; dynamic_shared = 120000; grid = %d; %s }", BLOCKS, keys);
    struct ran r = ran_well("four-sms", kernel);
    struct load load = {0, 0};
    for (size_t i = 0; i < r.run_count; i++) {
        double cycles = wt_to_cycles(r.runs[i].end - r.runs[i].start);
        load.sum += cycles;
        load.longest = fmax(load.longest, cycles);
    }
    ran_clear(&r);
    free(kernel);
    return load;
}

#define UNEVEN "duration = { distribution = \"pareto\"; scale = 1000.0; alpha = 1.3; cap = 40000.0; }; "

/* Graham 1966: any order takes at most sum/m + longest (m-1)/m; 1969: longest first at most 4/3 - 1/(3m) of the best, which is
 * at least sum/m and the longest. */
START_TEST(bounds_of_list_scheduling_hold)
{
    static const char *const orders[] = {"asis", "shuffle", "reversed", "longest-first"};
    struct load load = load_of(UNEVEN);
    double best = fmax(load.sum / SMS, load.longest), by_order[4];
    for (int i = 0; i < 4; i++) {
        char *keys = wt_format("grid = %d; order = \"%s\"; " UNEVEN, BLOCKS, orders[i]);
        by_order[i] = makespan("four-sms", keys);
        free(keys);
        ck_assert_double_ge(by_order[i], best - 0.5);
        ck_assert_double_le(by_order[i], load.sum / SMS + load.longest * (SMS - 1) / SMS + 0.5);
    }
    ck_assert_double_le(by_order[3], best * (4.0 / 3 - 1.0 / (3 * SMS)) + 0.5);
    ck_assert_double_lt(by_order[3], by_order[0]);
}
END_TEST

/* 80 SMs: 80 uneven blocks last as long as the longest; cut in 8 they are 640, and no SM is busy longer than its even share and
 * one part. */
START_TEST(many_small_blocks_balance_better)
{
    struct load load = {0, 0};
    struct ran whole = ran_well("v100-sxm2", "{ grid = 80; block = 1024; registers = 64; " UNEVEN "}");
    for (size_t i = 0; i < whole.run_count; i++) {
        double cycles = wt_to_cycles(whole.runs[i].end - whole.runs[i].start);
        load.sum += cycles;
        load.longest = fmax(load.longest, cycles);
    }
    struct ran parts = ran_well("v100-sxm2", "{ grid = 80; split = 8; block = 1024; registers = 64; " UNEVEN "}");
    ck_assert_uint_eq(parts.run_count, 640);
    /* blocks start within 500 cycles, replacements up to 500 after an end, eight times */
    ck_assert_double_ge(whole.makespan, load.longest);
    ck_assert_double_le(whole.makespan, load.longest + 500);
    ck_assert_double_le(parts.makespan, load.sum / 80 + load.longest / 8 + 500 + 8 * 500);
    ck_assert_double_lt(parts.makespan, whole.makespan / 2);
    ran_clear(&whole);
    ran_clear(&parts);
}
END_TEST

Suite *remedies_suite(void)
{
    Suite *suite = suite_create("remedies");
    TCase *tcase = tcase_create("remedies");
    tcase_add_test(tcase, orders_are_what_they_are_called);
    tcase_add_test(tcase, parts_add_up_to_their_block);
    tcase_add_test(tcase, shuffles_keep_every_block_and_follow_their_seed);
    tcase_add_loop_test(tcase, remedies_for_one_long_block, 0, 9);
    tcase_add_test(tcase, bounds_of_list_scheduling_hold);
    tcase_add_test(tcase, many_small_blocks_balance_better);
    suite_add_tcase(suite, tcase);
    return suite;
}
