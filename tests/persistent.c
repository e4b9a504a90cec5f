/* Which block takes which task, and when? Closed formulas on ideal SMs; makespans measured on an H200. */
#include "ran.h"
#include "replayed.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "study/replay.h"
#include "trace/trace.h"

#define IDEAL "block = 256; dynamic_shared = 120000; " /* one block to an SM */

static void assert_task(const struct ran *r, uint64_t task, uint64_t block, double start, double end)
{
    for (size_t i = 0; i < r->task_count; i++) {
        const struct wt_block_run *run = &r->tasks[i];
        if (run->task != task)
            continue;
        ck_assert_msg(run->block == block && wt_to_cycles(run->start) == start && wt_to_cycles(run->end) == end,
                      "task %llu: block %llu, %g to %g", (unsigned long long)task, (unsigned long long)run->block,
                      wt_to_cycles(run->start), wt_to_cycles(run->end));
        return;
    }
    ck_abort_msg("task %llu never ran", (unsigned long long)task);
}

/* ---- Order ---- */

/* A counter that takes no time: whoever is free first takes the next task, as by hand. */
START_TEST(the_block_that_is_free_takes_the_next_task)
{
    struct ran r = ran_well("four-sms", "{ " IDEAL LIST("70.0, 20.0, 30.0, 40.0, 50.0, 10.0, 60.0")
                                        "persistent = { tasks = 7; overhead = 5; }; }");
    ck_assert_uint_eq(r.run_count, 4); /* as many blocks as fit */
    ck_assert_uint_eq(r.task_count, 7);
    assert_task(&r, 0, 0, 5, 75);
    assert_task(&r, 1, 1, 5, 25);
    assert_task(&r, 2, 2, 5, 35);
    assert_task(&r, 3, 3, 5, 45);
    assert_task(&r, 4, 1, 30, 80);
    assert_task(&r, 5, 2, 40, 50);
    assert_task(&r, 6, 3, 50, 110);
    ck_assert_double_eq(wt_to_cycles(ran_block(&r, 2)->end), 60 - 5); /* learns that nothing is left */
    ck_assert_double_eq(r.makespan, 115);
    ran_clear(&r);
}
END_TEST

START_TEST(fixed_shares_ask_nobody)
{
    struct ran r = ran_well("four-sms", "{ grid = 2; " IDEAL LIST("70.0, 20.0, 30.0, 40.0, 50.0")
                                        "persistent = { tasks = 5; queue = \"static\"; overhead = 5; }; }");
    assert_task(&r, 0, 0, 5, 75);
    assert_task(&r, 2, 0, 80, 110);
    assert_task(&r, 4, 0, 115, 165);
    assert_task(&r, 1, 1, 5, 25);
    assert_task(&r, 3, 1, 30, 70);
    ck_assert_double_eq(r.makespan, 165);
    ran_clear(&r);
}
END_TEST

/* More blocks than tasks, and more blocks than fit: each learns that there is none, and ends. */
START_TEST(blocks_without_a_task_end)
{
    struct ran r = ran_well("four-sms", "{ grid = 9; " IDEAL LIST("70.0, 20.0") "persistent = { tasks = 2; }; }");
    ck_assert_uint_eq(r.run_count, 9);
    ck_assert_uint_eq(r.task_count, 2);
    ran_clear(&r);
}
END_TEST

static void check_each_once(const struct ran *r, uint64_t tasks)
{
    bool *seen = wt_alloc(tasks, sizeof *seen);
    ck_assert_uint_eq(r->task_count, tasks);
    for (size_t i = 0; i < r->task_count; i++) {
        const struct wt_block_run *task = &r->tasks[i], *block = ran_block(r, task->block);
        ck_assert(!seen[task->task]);
        seen[task->task] = true;
        ck_assert(task->sm == block->sm && task->slot == block->slot);
        ck_assert(task->start >= block->start && task->end <= block->end);
        if (i > 0 && r->tasks[i - 1].block == task->block)
            ck_assert(task->start > r->tasks[i - 1].end);
    }
    free(seen);
}

START_TEST(every_task_runs_once_inside_its_block)
{
    static const char *const kernels[] = {
        "{ block = 256; duration = { distribution = \"lognormal\"; mean = 4000.0; sigma = 0.8; }; persistent = { tasks = "
        "5000; }; }",
        "{ block = 1024; " CONSTANT("1.0") "persistent = { tasks = 300; }; }",
        "{ block = 64; grid = 5000; " CONSTANT("500.0") "persistent = { tasks = 5000; }; "
        "}"};
    static const uint64_t tasks[] = {5000, 300, 5000};
    struct ran r = ran_well("h200", kernels[_i]);
    check_each_once(&r, tasks[_i]);
    ran_clear(&r);
}
END_TEST

/* ---- The counter ---- */

/* Requests one each `service`: with tasks shorter than grid * service the counter is all there is. */
START_TEST(a_busy_counter_sets_the_pace)
{
    struct wt_gpu *gpu;
    ck_assert_int_eq(wt_gpu_load("h200", &gpu, NULL), WT_OK);
    double service = gpu->rates.counter_service_cycles;
    wt_gpu_free(gpu);
    struct ran r = ran_well("h200", "{ block = 256; " CONSTANT("100.0") "persistent = { "
                                    "tasks = 40000; }; }");
    ck_assert_double_ge(r.makespan, 40000 * service);
    ck_assert_double_le(r.makespan, 40000 * service + 4000);
    ran_clear(&r);
}
END_TEST

/* 40,000 tasks of `work` cycles on an H200, untraced, one thread per block that waits and the others at a barrier; the
 * least of nine launches, in microseconds between events (tests/data/persistent.csv). */
struct point {
    int grid, block, tasks;
    double work, measured_us;
};

static bool read_point(FILE *file, struct point *p)
{
    return fscanf(file, "%d,%d,%d,%lf,%lf\n", &p->grid, &p->block, &p->tasks, &p->work, &p->measured_us) == 5;
}

static double predicted_us(const struct point *p)
{
    char *kernel = wt_format("{ grid = %d; block = %d; duration = { distribution = \"constant\"; cycles = %.1f; }; persistent = "
                             "{ tasks = %d; }; }", p->grid, p->block, p->work, p->tasks);
    struct ran r = ran_well("h200", kernel);
    double cycles = r.makespan;
    ran_clear(&r);
    free(kernel);
    return cycles / 1980;
}

/* Events around a launch take this much longer than the kernel; the one number taken from the points themselves, from
 * those where the counter alone decides (1,056 blocks, tasks of 200 cycles). */
static const double EVENTS_US = 36.192 - 30.32;

/* Grids of 132 to 4,224 blocks, tasks of 100 to 20,000 cycles: where the counter rules and where it does not. */
START_TEST(makespans_are_those_measured)
{
    char *path = wt_format("%s/tests/data/persistent.csv", WT_SOURCE_ROOT), line[200];
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    struct point p;
    int count = 0;
    for (; read_point(file, &p); count++) {
        double measured = p.measured_us - EVENTS_US, error = predicted_us(&p) / measured - 1;
        ck_assert_msg(fabs(error) <= 0.02, "grid %d, block %d, work %g: %.1f %% off %.1f us", p.grid, p.block, p.work,
                      100 * error, measured);
    }
    ck_assert_int_eq(count, 42);
    fclose(file);
    free(path);
}
END_TEST

/* ---- The hardware's ---- */

static char *captured(const char *name)
{
    return wt_format("%s/traces/h200/%s.csv.zst", WT_SOURCE_ROOT, name);
}

/* Chains of 200 additions per block, by 1,056 blocks at once: tasks of no length. The service time was taken from 528 and
 * 4,224 blocks. */
START_TEST(a_counter_under_load_is_as_fast_as_measured)
{
    char *path = captured("persistent/counter_g1056.r0");
    struct wt_trace *trace;
    ck_assert_int_eq(wt_trace_read(path, &trace, NULL), WT_OK);
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = 0; i < trace->row_count; i++) {
        first = trace->rows[i].time_start_ns < first ? trace->rows[i].time_start_ns : first;
        last = trace->rows[i].time_end_ns > last ? trace->rows[i].time_end_ns : last;
    }
    struct ran r = ran_well("h200", "{ grid = 1056; block = 32; " CONSTANT("1.0")
                                    "persistent = { tasks = 211200; overhead = 0; }; }");
    ck_assert_double_eq_tol(r.makespan / ((double)(last - first) * 1.98), 1, 0.005);
    ran_clear(&r);
    wt_trace_free(trace);
    free(path);
}
END_TEST

/* Makespan within `error`; the median of tasks per block within 5 %. Full SMs (1,056 blocks of 256 threads) are lognormal
 * ones, whose waiting warps starve each other less than those that all wait equally long. */
static const struct {
    const char *trace;
    double error;
} replays[] = {{"persist_g132.r0", 0.01},
               {"persist_g264.r0", 0.01},
               {"persist_g1056.r0", 0.01},
               {"persistent/persist_w0_g132.r1", 0.01},
               {"persistent/persist_w500_g264.r0", 0.01},
               {"persistent/persist_w2000_g528.r0", 0.015},
               {"persistent/persist_ln2000_g264.r0", 0.01},
               {"persistent/persist_ln2000_g264.r1", 0.01},
               {"persistent/persist_b32_ln8000_g528.r0", 0.01},
               {"persistent/persist_b32_ln2000_g4224.r0", 0.01},
               /* the counter alone decides, and the stores of the trace slow it down */
               {"persistent/persist_w0_g1056.r0", 0.07}};

START_TEST(replays_end_when_the_hardware_did)
{
    struct wt_replay *replay = replayed(replays[_i].trace);
    const struct wt_replay_part *part = &replay->whole;
    ck_assert_uint_eq(part->tasks, replay->trace->row_count);
    ck_assert_uint_eq(replay->predicted->span_count, replay->trace->row_count);
    ck_assert_msg(fabs(part->makespan_error) <= replays[_i].error, "%s: %.2f %%", replays[_i].trace, 100 * part->makespan_error);
    ck_assert_double_eq_tol(part->tasks_per_block_predicted / part->tasks_per_block_measured, 1, 0.05);
    ck_assert_double_eq(part->first_wave_placement_match, 1);
    wt_replay_free(replay);
}
END_TEST

Suite *persistent_suite(void)
{
    Suite *suite = suite_create("persistent");
    TCase *tcase = tcase_create("persistent");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, the_block_that_is_free_takes_the_next_task);
    tcase_add_test(tcase, fixed_shares_ask_nobody);
    tcase_add_test(tcase, blocks_without_a_task_end);
    tcase_add_loop_test(tcase, every_task_runs_once_inside_its_block, 0, 3);
    tcase_add_test(tcase, a_busy_counter_sets_the_pace);
    tcase_add_test(tcase, makespans_are_those_measured);
    tcase_add_test(tcase, a_counter_under_load_is_as_fast_as_measured);
    tcase_add_loop_test(tcase, replays_end_when_the_hardware_did, 0, (int)(sizeof replays / sizeof *replays));
    suite_add_tcase(suite, tcase);
    return suite;
}
