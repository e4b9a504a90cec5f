/* Do the course's studies (configs/studies) show what the course says? Each is run by the command, and what it concludes is
 * read off its table. How well the models behind them agree with hardware is another suite's question. */
#include "scratch.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "study/table.h"

/* A test's tables, freed after it. */
static struct wt_table *tables[2];
static size_t table_count;

static void free_tables(void)
{
    while (table_count > 0)
        wt_table_free(tables[--table_count]);
}

/* The table of configs/studies/NAME.cfg, no point of which has failed but for `failures`. */
static const struct wt_table *study(const char *name, size_t failures)
{
    char *line = wt_format("$WAVETAIL sweep %s/configs/studies/%s.cfg --quiet >t.csv", WT_SOURCE_ROOT, name), *path = scratch_path("t.csv");
    ck_assert_int_eq(scratch_shell(line), 0);
    struct wt_table *table = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_table_read(path, &table, &err) == WT_OK, "%s", err.text);
    free(line);
    free(path);
    size_t failed = 0;
    for (size_t row = 0; row < table->rows; row++)
        failed += *wt_table_cell(table, row, wt_table_column(table, "error")) != '\0';
    ck_assert_uint_eq(failed, failures);
    ck_assert_uint_lt(table_count, sizeof tables / sizeof *tables);
    tables[table_count++] = table;
    return table;
}

static double at(const struct wt_table *table, size_t row, const char *column)
{
    ck_assert_uint_lt(row, table->rows);
    ck_assert_uint_lt(wt_table_column(table, column), table->columns);
    return wt_table_number(table, row, wt_table_column(table, column));
}

/* The row with the least. */
static size_t least(const struct wt_table *table, const char *column)
{
    size_t best = 0;
    for (size_t row = 1; row < table->rows; row++)
        if (at(table, row, column) < at(table, best, column))
            best = row;
    return best;
}

/* ---- Waves and tails ---- */

/* L1f, L1g: the makespan of g blocks on four SMs is 1,000 for each round begun, and of the SMs' time 1 - g / (4 rounds) is lost. */
START_TEST(rounds_are_whole)
{
    const struct wt_table *t = study("waves", 0);
    for (size_t row = 0; row < 24; row++) {
        double grid = at(t, row, "grid"), rounds = ceil(grid / 4);
        ck_assert_double_eq(at(t, row, "makespan"), 1000 * rounds);
        ck_assert_double_eq_tol(at(t, row, "busy"), grid / (4 * rounds), 1e-8);
    }
}
END_TEST

/* L1h, worked out in tests/remedies.c; longest first and in tenths, the 490 hundreds of cycles spread to 123 at most. */
START_TEST(order_and_finer_blocks_shorten_a_tail)
{
    const struct wt_table *t = study("remedies", 0);
    ck_assert_double_eq(at(t, 0, "makespan"), 19000);
    ck_assert_double_eq(at(t, 3, "makespan"), 12700);
    ck_assert_double_eq(at(t, 4, "makespan"), 13000);
    ck_assert_double_eq(at(t, 7, "makespan"), 12300);
}
END_TEST

/* L2c: 80 blocks leave more than half of the SMs' time idle; 640 with the same work are done at least 30 % sooner, whatever the draw. */
START_TEST(small_blocks_balance)
{
    const struct wt_table *t = study("small-blocks", 0);
    for (size_t seed = 0; seed < 10; seed++) {
        ck_assert_double_lt(at(t, 5 * seed, "busy"), 0.5);
        ck_assert_double_lt(at(t, 5 * seed + 3, "makespan"), 0.7 * at(t, 5 * seed, "makespan"));
    }
}
END_TEST

/* L2f: the finest tasks take as long as the counter serves their requests, 1.446 cycles each; the best size is neither end. */
START_TEST(tasks_can_be_too_coarse_and_too_fine)
{
    const struct wt_table *t = study("task-size", 0);
    double coarsest = at(t, 0, "makespan"), middle = at(t, 3, "makespan"), finest = at(t, 6, "makespan");
    ck_assert_double_gt(coarsest, 2 * middle);
    ck_assert_double_gt(finest, 2 * middle);
    ck_assert_double_ge(finest, 1056000 * 1.446);
    ck_assert_double_lt(finest, 1056000 * 1.446 * 1.05);
}
END_TEST

/* L5d: up to a full GPU throughput comes for nothing, beyond it only latency grows. */
START_TEST(batches_trade_throughput_against_latency)
{
    const struct wt_table *t = study("batch-size", 0);
    double first = at(t, 0, "makespan"), most = at(t, 9, "blocks_per_cycle");
    ck_assert_double_lt(at(t, 2, "blocks_per_cycle"), 0.15 * most);
    ck_assert_double_lt(at(t, 5, "makespan"), 1.1 * first);
    ck_assert_double_gt(at(t, 5, "blocks_per_cycle"), 0.9 * most);
    ck_assert_double_gt(at(t, 9, "makespan"), 39 * first);
}
END_TEST

/* ---- Occupancy ---- */

/* L5a and L5b: 32, 48, 64, 80 registers with 16, 24, 40 KB. Quotients: registers 8, 5, 4, 3; shared memory 6, 4, 2. */
START_TEST(the_scarcest_resource_decides)
{
    static const int registers[] = {8, 5, 4, 3}, shared[] = {6, 4, 2};
    const struct wt_table *t = study("registers-and-shared", 0);
    for (size_t i = 0; i < 12; i++) {
        int fewest = registers[i / 3] < shared[i % 3] ? registers[i / 3] : shared[i % 3];
        ck_assert_double_eq(at(t, i, "idealised_blocks_per_sm"), fewest);
        ck_assert_double_le(at(t, i, "blocks_per_sm"), fewest);
    }
}
END_TEST

/* L3b: sizes of equal, full occupancy differ in time; 768 threads, of which two blocks fit, take the longest. */
START_TEST(equal_occupancy_is_not_equal_time)
{
    const struct wt_table *t = study("block-sizes", 0);
    double worst = at(t, 7, "makespan");
    for (size_t i = 0; i < 9; i++)
        ck_assert(i == 7 || at(t, i, "makespan") < worst);
    ck_assert_double_eq(at(t, 0, "occupancy"), 1);
    ck_assert_double_eq(at(t, 2, "occupancy"), 1);
    ck_assert_double_gt(at(t, 0, "makespan"), 1.04 * at(t, 2, "makespan"));
}
END_TEST

/* L3a. Not tested: the T4's own times, which the model misses. */
START_TEST(a_t4_is_full_at_every_block_size)
{
    const struct wt_table *t = study("t4-block-sizes", 0);
    double low = INFINITY, high = 0;
    for (size_t row = 0; row < 5; row++) {
        ck_assert_double_eq(at(t, row, "occupancy"), 1);
        low = fmin(low, at(t, row, "makespan"));
        high = fmax(high, at(t, row, "makespan"));
    }
    ck_assert_double_gt(high, 1.05 * low);
}
END_TEST

/* L1n: 24 and 32 registers fill the SM; fewer warps without so many spills are faster, far fewer are not. */
START_TEST(spills_cost_more_than_occupancy_gives)
{
    const struct wt_table *t = study("spills", 0);
    size_t best = least(t, "makespan");
    ck_assert_double_eq(at(t, 1, "registers"), 32);
    ck_assert_double_eq(at(t, 1, "occupancy"), 1);
    ck_assert_double_lt(at(t, best, "occupancy"), 0.75);
    ck_assert_double_ge(at(t, best, "occupancy"), 0.5);
    ck_assert_double_gt(at(t, 1, "makespan"), 1.2 * at(t, best, "makespan"));
    ck_assert_double_gt(at(t, t->rows - 1, "makespan"), 1.5 * at(t, best, "makespan"));
}
END_TEST

/* L1o: the smallest tile is held to the L2's bandwidth: 4,096 * 4,096 results of 2 * 4,096 / 16 loads of 4 bytes. Whole lines of
 * 128 bytes and 38 for a request come at 5,640 bytes a cycle. Of the largest one block is on an SM. */
START_TEST(tiles_can_be_too_small_and_too_large)
{
    const struct wt_table *t = study("tile-size", 0);
    double cycles = 4096.0 * 4096 * (2 * 4096 / 16) * 4 * (1 + 38 / 128.0) / 5640, best = at(t, least(t, "makespan"), "makespan");
    ck_assert_double_eq_tol(at(t, 0, "makespan"), cycles, 0.01 * cycles);
    ck_assert_double_gt(at(t, 0, "makespan"), 1.4 * best);
    ck_assert_double_eq(at(t, t->rows - 1, "blocks_per_sm"), 1);
    ck_assert_double_gt(at(t, t->rows - 1, "makespan"), 1.4 * best);
}
END_TEST

/* L1q: among 62 settings the fastest has neither full occupancy nor the largest blocks, and a tenth are within 8 % of it. */
START_TEST(good_settings_are_found_by_trying)
{
    const struct wt_table *t = study("tuning", 1); /* 1,024 threads of 80 registers are more than an SM has */
    size_t best = least(t, "makespan"), good = 0;
    ck_assert_double_lt(at(t, best, "occupancy"), 0.75);
    ck_assert_double_lt(at(t, best, "block"), 512);
    for (size_t row = 0; row < t->rows; row++) {
        good += at(t, row, "makespan") < 1.08 * at(t, best, "makespan");
        if (at(t, row, "occupancy") == 1)
            ck_assert_double_gt(at(t, row, "makespan"), 1.3 * at(t, best, "makespan"));
    }
    ck_assert_uint_ge(good, 6);
}
END_TEST

/* ---- Warps ---- */

/* L1i, L1j: 64 resident warps of which hardly one is eligible against 16 of which several are. */
START_TEST(resident_is_not_eligible)
{
    const struct wt_table *t = study("eligible-warps", 0);
    ck_assert_double_eq(at(t, 0, "occupancy"), 1);
    ck_assert_double_gt(at(t, 0, "warps_active"), 14);
    ck_assert_double_lt(at(t, 0, "warps_eligible"), 0.05);
    ck_assert_double_lt(at(t, 0, "issue_active"), 0.05);
    ck_assert_str_eq(wt_table_cell(t, 0, wt_table_column(t, "stall")), "long_scoreboard");
    ck_assert_double_eq(at(t, 7, "occupancy"), 0.25);
    ck_assert_double_gt(at(t, 7, "warps_eligible"), 1);
    ck_assert_double_gt(at(t, 7, "issue_active"), 0.9);
}
END_TEST

/* L1l: from 128 threads on, the larger the block the more is waited. With 64, loads from shared memory take longer than barriers, as
 * Nsight Compute has it of bar. */
START_TEST(one_large_block_hides_a_barrier_worst)
{
    const struct wt_table *t = study("barriers", 0);
    for (size_t row = 0; row < 5; row++) {
        ck_assert_double_eq(at(t, row, "occupancy"), 1);
        ck_assert_str_eq(wt_table_cell(t, row, wt_table_column(t, "stall")), row ? "barrier" : "short_scoreboard");
        if (row > 1)
            ck_assert_double_lt(at(t, row, "issue_active"), at(t, row - 1, "issue_active"));
    }
    ck_assert_double_lt(at(t, 4, "issue_active"), 0.92 * at(t, 1, "issue_active"));
}
END_TEST

/* L1m: one chain of latency 4 issues n / 4 with n warps; four chains are within 15 % of the peak with two, 12.5 % occupancy. */
START_TEST(parallel_instructions_stand_in_for_warps)
{
    const struct wt_table *t = study("parallelism", 0);
    ck_assert_double_eq_tol(at(t, 5, "issue_active"), 1 / 4.0, 0.01);
    ck_assert_double_eq_tol(at(t, 4, "issue_active"), 2 / 4.0, 0.02);
    ck_assert_double_eq(at(t, 10, "occupancy"), 0.125);
    ck_assert_double_gt(at(t, 10, "issue_active"), 0.85);
    ck_assert_double_gt(at(t, 9, "issue_active"), 0.9);
}
END_TEST

/* L5c: loads of 4, 8, 16, 32, 32, 32 sectors in 1, 2, 4, 8, 16, 32 lines. With 64 warps the time follows 32 bytes for each sector and 38
 * for each line from the second on, since bandwidth limits; the first is short of warps even so. */
START_TEST(scattered_loads_cost_their_sectors)
{
    static const double bytes[] = {0, 8 * 32 + 2 * 38, 16 * 32 + 4 * 38, 32 * 32 + 8 * 38, 32 * 32 + 16 * 38, 32 * 32 + 32 * 38};
    const struct wt_table *t = study("coalescing", 0);
    ck_assert_double_gt(at(t, 10, "makespan"), 10 * at(t, 0, "makespan"));
    for (size_t i = 1; i < 6; i++)
        ck_assert_double_eq_tol(at(t, 2 * i, "makespan") / at(t, 2, "makespan"), bytes[i] / bytes[1], 0.05 * bytes[i] / bytes[1]);
}
END_TEST

/* ---- Copies ---- */

/* L1p: in turn, eight kernels add eight times what each takes longer; with streams they are hidden behind the copies for long. */
START_TEST(streams_hide_copies_behind_kernels)
{
    const struct wt_table *turn = study("copies-in-turn", 0), *overlapped = study("copies-overlapped", 0);
    for (size_t row = 1; row < 7; row++) {
        double longer = at(turn, row, "duration.cycles") - at(turn, 0, "duration.cycles");
        ck_assert_double_eq_tol(at(turn, row, "elapsed") - at(turn, 0, "elapsed"), 8 * longer, 0.01 * 8 * longer);
        ck_assert_double_lt(at(overlapped, row, "elapsed"), 0.6 * at(turn, row, "elapsed"));
    }
    ck_assert_double_lt(at(overlapped, 3, "elapsed"), 1.1 * at(overlapped, 0, "elapsed"));
}
END_TEST

Suite *studies_suite(void)
{
    Suite *suite = suite_create("studies");
    TCase *tests = tcase_create("studies");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    tcase_add_checked_fixture(tests, NULL, free_tables);
    tcase_add_test(tests, rounds_are_whole);
    tcase_add_test(tests, order_and_finer_blocks_shorten_a_tail);
    tcase_add_test(tests, small_blocks_balance);
    tcase_add_test(tests, tasks_can_be_too_coarse_and_too_fine);
    tcase_add_test(tests, batches_trade_throughput_against_latency);
    tcase_add_test(tests, the_scarcest_resource_decides);
    tcase_add_test(tests, equal_occupancy_is_not_equal_time);
    tcase_add_test(tests, a_t4_is_full_at_every_block_size);
    tcase_add_test(tests, spills_cost_more_than_occupancy_gives);
    tcase_add_test(tests, tiles_can_be_too_small_and_too_large);
    tcase_add_test(tests, good_settings_are_found_by_trying);
    tcase_add_test(tests, resident_is_not_eligible);
    tcase_add_test(tests, one_large_block_hides_a_barrier_worst);
    tcase_add_test(tests, parallel_instructions_stand_in_for_warps);
    tcase_add_test(tests, scattered_loads_cost_their_sectors);
    tcase_add_test(tests, streams_hide_copies_behind_kernels);
    suite_add_tcase(suite, tests);
    return suite;
}
