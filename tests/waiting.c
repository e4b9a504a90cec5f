/* Blocks that wait for each other: when do they go on, and when never? Ideal SMs with one block each where a closed
 * formula is to decide (120,000 bytes of shared memory); an H200 for what launches really are. */
#include "ran.h"
#include "suites.h"

#include <stdlib.h>

#include "core/mem.h"
#include "trace/trace.h"

#define ONE_PER_SM "block = 256; dynamic_shared = 120000; "

static void assert_ends(const struct ran *r, size_t count, const double *ends)
{
    ck_assert_uint_eq(r->run_count, count);
    for (size_t i = 0; i < count; i++) {
        double end = wt_to_cycles(ran_block(r, i)->end);
        ck_assert_msg(end == ends[i], "block %zu ends at %g, not at %g", i, end, ends[i]);
    }
}

static void check_ends(const char *keys, size_t count, const double *ends)
{
    char *kernel = wt_format("{ " ONE_PER_SM "grid = %zu; %s }", count, keys);
    struct ran r = ran_well("four-sms", kernel);
    assert_ends(&r, count, ends);
    ran_clear(&r);
    free(kernel);
}

#define CHECK_ENDS(keys, ...)                                                                                          \
    check_ends(keys, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

/* ---- Going on ---- */

/* Four at once; arrivals at half time: 50, 200, 100, 150. The barrier opens at 200, then each has half its work left. */
START_TEST(a_barrier_opens_with_the_last_arrival)
{
    CHECK_ENDS(LIST("100.0, 400.0, 200.0, 300.0") "waiting = { pattern = \"all\"; at = 0.5; };", 250, 400, 300, 350);
    CHECK_ENDS(LIST("100.0, 400.0, 200.0, 300.0") "waiting = { pattern = \"all\"; at = 0.5; latency = 7; };", 257, 407, 307,
               357);
    CHECK_ENDS(LIST("100.0, 400.0, 200.0, 300.0") "waiting = { pattern = \"all\"; at = 0.0; };", 100, 400, 200, 300);
    CHECK_ENDS(LIST("100.0, 400.0, 200.0, 300.0") "waiting = { pattern = \"all\"; };", 400, 400, 400, 400);
}
END_TEST

/* Arrived by itself: block i goes on when i - 1 has arrived. Chained: when it has gone on. */
START_TEST(neighbours_are_waited_for)
{
    CHECK_ENDS(LIST("400.0, 100.0, 200.0, 300.0") "waiting = { pattern = \"previous\"; };", 400, 400, 200, 300);
    CHECK_ENDS(LIST("400.0, 100.0, 200.0, 300.0") "waiting = { pattern = \"next\"; };", 400, 200, 300, 300);
    CHECK_ENDS(LIST("400.0, 100.0, 200.0, 300.0") "waiting = { pattern = \"previous\"; chained = true; };", 400, 400, 400,
               400);
    CHECK_ENDS(LIST("100.0, 100.0, 100.0, 100.0") "waiting = { pattern = \"previous\"; chained = true; latency = 10; };",
               100, 110, 120, 130);
    CHECK_ENDS(LIST("400.0, 100.0, 200.0, 300.0") "waiting = { pattern = \"next\"; chained = true; };", 400, 300, 300, 300);
}
END_TEST

START_TEST(chosen_blocks_are_waited_for)
{
    CHECK_ENDS(LIST("250.0, 100.0, 200.0, 300.0") "waiting = { pattern = \"first\"; };", 250, 250, 250, 300);
    CHECK_ENDS(LIST("100.0, 150.0, 350.0, 300.0") "waiting = { pattern = \"blocks\"; blocks = [1, 2]; };", 350, 350, 350,
               350);
}
END_TEST

/* One that has long arrived is not waited for, and latency counts from its arrival. */
START_TEST(who_comes_late_does_not_wait)
{
    CHECK_ENDS(LIST("100.0, 150.0, 500.0, 300.0") "waiting = { pattern = \"first\"; latency = 100; };", 100, 200, 500, 300);
}
END_TEST

/* Eight blocks on four SMs: a waiting block keeps its SM. Block 3 lasts 1,000, and 0 to 2 wait for it. */
START_TEST(a_waiting_block_holds_its_sm)
{
    CHECK_ENDS(LIST("100.0, 100.0, 100.0, 1000.0, 50.0, 50.0, 50.0, 50.0")
               "waiting = { pattern = \"blocks\"; blocks = [3]; };", 1000, 1000, 1000, 1000, 1050, 1050, 1050, 1050);
}
END_TEST

/* Block 3 waits for block 4, which starts at 100 in the place of one of 0 to 2; block 6 likewise for 7. */
START_TEST(waiting_for_the_next_block_moves_on)
{
    CHECK_ENDS(CONSTANT("100.0") "waiting = { pattern = \"next\"; };", 100, 100, 100, 200, 200, 200, 300, 300, 300);
}
END_TEST

/* ---- Never ---- */

static void check_stop(const char *gpu, const char *kernels, enum wt_code code, const char *message)
{
    struct ran r = ran(gpu, kernels);
    ck_assert_int_eq(r.code, code);
    ck_assert_str_eq(r.error.text, message);
    ran_clear(&r);
}

static char *barrier(uint64_t grid, int threads, const char *more)
{
    return wt_format("{ name = \"b\"; grid = %llu; block = %d; " CONSTANT("1000.0") "%s }", (unsigned long long)grid, threads,
                     more);
}

/* The capacity is what NVIDIA's occupancy arithmetic gives: 2,048 threads on each of 132 SMs. */
START_TEST(a_barrier_passes_at_capacity_and_deadlocks_beyond)
{
    for (int threads = 1024; threads >= 128; threads /= 2) {
        uint64_t capacity = 132u * (2048u / (unsigned)threads);
        char *fits = barrier(capacity, threads, "waiting = { pattern = \"all\"; };");
        char *exceeds = barrier(capacity + 1, threads, "waiting = { pattern = \"all\"; };");
        struct ran r = ran_well("h200", fits);
        ck_assert_uint_eq(r.run_count, capacity);
        ran_clear(&r);
        r = ran("h200", exceeds);
        ck_assert_int_eq(r.code, WT_DEADLOCK);
        ck_assert_uint_eq(r.run_count, 0);
        ran_clear(&r);
        free(fits);
        free(exceeds);
    }
}
END_TEST

/* The same on an H200, in blocks that give up after 20 million cycles: all of 1,056 passed, most of 1,057 gave up. */
static size_t blocks_that_passed(const char *name)
{
    char *path = wt_format("%s/traces/h200/persistent/%s.csv.zst", WT_SOURCE_ROOT, name);
    struct wt_trace *trace;
    ck_assert_int_eq(wt_trace_read(path, &trace, NULL), WT_OK);
    size_t passed = 0;
    for (size_t i = 0; i < trace->row_count; i++)
        passed += trace->rows[i].work == 1;
    wt_trace_free(trace);
    free(path);
    return passed;
}

START_TEST(so_it_is_on_the_hardware)
{
    ck_assert_uint_eq(blocks_that_passed("sync_g1056.r0"), 1056);
    ck_assert_uint_lt(blocks_that_passed("sync_g1057.r0"), 100);
}
END_TEST

START_TEST(the_missing_block_and_what_keeps_it_out_are_named)
{
    check_stop("four-sms", "{ name = \"b\"; grid = 6; " ONE_PER_SM CONSTANT("9.0") "waiting = { pattern = \"all\"; }; }",
               WT_DEADLOCK, "w.cfg:1: deadlock: kernel 'b': 4 blocks wait at a barrier of the grid for block 4, which cannot "
               "start on 4 of 4 SMs: 121088 bytes of shared memory wanted, 14080 free; launch "
               "at most 4 blocks, or wait only for blocks of lower number");
    check_stop("four-sms", "{ name = \"b\"; grid = 6; " ONE_PER_SM CONSTANT("9.0")
               "waiting = { pattern = \"next\"; chained = true; }; }",
               WT_DEADLOCK, "w.cfg:1: deadlock: kernel 'b': 4 blocks wait, block 0 for block 1, which waits in turn, in the end "
               "for block 4, which cannot start on 4 of 4 SMs: 121088 bytes of shared memory wanted, 14080 free; "
               "launch at most 4 blocks, or wait only for blocks of lower number");
    check_stop("four-sms", "{ name = \"b\"; grid = 6; " ONE_PER_SM CONSTANT("9.0")
               "waiting = { pattern = \"blocks\"; blocks = [5]; }; }",
               WT_DEADLOCK, "w.cfg:1: deadlock: kernel 'b': 4 blocks wait, block 0 for block 5, which stands in the queue behind "
               "block 4 and cannot start on 4 of 4 SMs: 121088 bytes of shared memory wanted, 14080 free; "
               "launch at most 4 blocks, or wait only for blocks of lower number");
}
END_TEST

START_TEST(a_circle_is_named_too)
{
    check_stop("four-sms", "{ name = \"c\"; grid = 3; " ONE_PER_SM CONSTANT("9.0")
               "waiting = { pattern = \"blocks\"; blocks = [0, 2]; chained = true; }; }",
               WT_DEADLOCK, "w.cfg:1: deadlock: kernel 'c': 3 blocks wait, block 0 for block 2, and they wait for each other in "
               "a circle; let one go first");
}
END_TEST

/* A guest in another stream holds one of the four SMs for 5,000 cycles: no deadlock, the barrier opens after it has left. */
START_TEST(room_that_will_come_is_waited_for)
{
    struct ran r = ran_well("four-sms", "{ grid = 1; stream = 0; " ONE_PER_SM CONSTANT("5000.0") "}, { grid = 4; stream = 1; "
                                        ONE_PER_SM CONSTANT("100.0") "waiting = { pattern = \"all\"; }; }");
    ck_assert_uint_eq(r.run_count, 5);
    ck_assert_uint_eq(r.runs[0].launch, 0);
    for (size_t i = 1; i < 5; i++)
        ck_assert_double_eq(wt_to_cycles(r.runs[i].end), wt_to_cycles(r.runs[0].end) + 100);
    ran_clear(&r);
}
END_TEST

/* ---- Cooperative ---- */

/* What the hardware said of these very launches: 1056 ran, 1057 was "too many blocks in cooperative launch". */
START_TEST(cooperative_launches_need_room_for_all)
{
    struct ran r = ran_well("h200", "{ grid = 1056; block = 256; cooperative = true; " CONSTANT("20000.0") "}");
    ck_assert_uint_eq(r.run_count, 1056);
    ran_clear(&r);
    check_stop("h200", "{ name = \"c\"; grid = 1057; block = 256;\n cooperative = true; " CONSTANT("20000.0") "}", WT_BAD_INPUT,
               "w.cfg:2: kernel 'c': too many blocks in cooperative launch: 1057, but NVIDIA H200 has room for 1056 at once (132 "
               "SMs x 8 blocks); give a smaller grid");
}
END_TEST

/* ---- What the file may say ---- */

START_TEST(keys_that_do_not_go_together)
{
#define KERNEL "{ grid = 4; block = 32; " CONSTANT("9.0")
    check_stop("h200", KERNEL "\nwaiting = { pattern = \"blocks\"; }; }", WT_BAD_INPUT,
               "w.cfg:2: 'blocks' belongs to pattern = \"blocks\", which needs at least one");
    check_stop("h200", KERNEL "\nwaiting = { pattern = \"next\"; blocks = [1]; }; }", WT_BAD_INPUT,
               "w.cfg:2: 'blocks' belongs to pattern = \"blocks\", which needs at least one");
    check_stop("h200", KERNEL "\nwaiting = { pattern = \"blocks\"; blocks = [4]; }; }", WT_BAD_INPUT,
               "w.cfg:2: block 4 is waited for, but the grid's last block is 3; give a block of the grid");
    check_stop("h200", KERNEL "\nwaiting = { pattern = \"all\"; chained = true; }; }", WT_BAD_INPUT,
               "w.cfg:2: a chained barrier never opens, since every block waits for every other; remove 'chained'");
    check_stop("h200", KERNEL "persistent = { tasks = 9; };\nwaiting = { pattern = \"all\"; }; }", WT_BAD_INPUT,
               "w.cfg:2: blocks of a persistent kernel that wait for each other are not simulated; remove 'waiting' or "
               "'persistent'");
}
END_TEST

Suite *waiting_suite(void)
{
    Suite *suite = suite_create("waiting");
    TCase *tcase = tcase_create("waiting");
    tcase_add_test(tcase, a_barrier_opens_with_the_last_arrival);
    tcase_add_test(tcase, neighbours_are_waited_for);
    tcase_add_test(tcase, chosen_blocks_are_waited_for);
    tcase_add_test(tcase, who_comes_late_does_not_wait);
    tcase_add_test(tcase, a_waiting_block_holds_its_sm);
    tcase_add_test(tcase, waiting_for_the_next_block_moves_on);
    tcase_add_test(tcase, a_barrier_passes_at_capacity_and_deadlocks_beyond);
    tcase_add_test(tcase, so_it_is_on_the_hardware);
    tcase_add_test(tcase, the_missing_block_and_what_keeps_it_out_are_named);
    tcase_add_test(tcase, a_circle_is_named_too);
    tcase_add_test(tcase, room_that_will_come_is_waited_for);
    tcase_add_test(tcase, cooperative_launches_need_room_for_all);
    tcase_add_test(tcase, keys_that_do_not_go_together);
    suite_add_tcase(suite, tcase);
    return suite;
}
