/* Does what gpu_ref does without a GPU hold: the header's trace files, experiment lists, ways to give out work?
 * Runs build/CONF/capture-host (tests/capture_host.cpp). What happens on a GPU is not pinned here. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "scratch.h"
#include "suites.h"
#include "trace/trace.h"

static FILE *host(const char *arguments, const char *mode)
{
    char *command = wt_format("cd %s && '%s' %s", scratch, getenv("CAPTURE_HOST"), arguments);
    FILE *pipe = popen(command, mode);
    ck_assert_ptr_nonnull(pipe);
    free(command);
    return pipe;
}

/* What the program prints (stderr, too, where arguments say so), its status checked. */
static char *output(const char *arguments, int status)
{
    FILE *pipe = host(arguments, "r");
    char *text = text_of(pipe);
    int ended = pclose(pipe);
    ck_assert_msg(WIFEXITED(ended) && WEXITSTATUS(ended) == status, "%s: %s", arguments, text);
    return text;
}

static void assert_output(const char *arguments, int status, const char *expected)
{
    char *text = output(arguments, status);
    ck_assert_str_eq(text, expected);
    free(text);
}

static struct wt_trace *read_trace(const char *name)
{
    struct wt_trace *trace;
    struct wt_error err = {0};
    char *path = name[0] == '/' ? wt_strdup(name) : wt_format("%s/%s", scratch, name);
    ck_assert_msg(wt_trace_read(path, &trace, &err) == WT_OK, "%s", err.text);
    free(path);
    return trace;
}

static void write_list(const char *text)
{
    char *path = wt_format("%s/l.txt", scratch);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

static const char *const trace_names[] = {"copy.csv", "copy.csv.zst"};

static void assert_same_launch(const struct wt_trace_launch *a, const struct wt_trace_launch *b)
{
    ck_assert_str_eq(a->name, b->name);
    ck_assert_str_eq(a->kernel, b->kernel);
    ck_assert_str_eq(a->work, b->work);
    ck_assert(!memcmp(a->grid, b->grid, sizeof a->grid) && !memcmp(a->block, b->block, sizeof a->block) &&
              !memcmp(a->cluster, b->cluster, sizeof a->cluster));
    ck_assert_int_eq(a->registers_per_thread, b->registers_per_thread);
    ck_assert_int_eq(a->work_seed, b->work_seed);
    ck_assert_int_eq(a->occupancy_blocks, b->occupancy_blocks);
    ck_assert_int_eq(a->carveout_kb, b->carveout_kb);
}

static void assert_same_rows(const struct wt_trace *a, const struct wt_trace *b)
{
    ck_assert_uint_eq(a->row_count, b->row_count);
    for (size_t i = 0; i < a->row_count; i++) {
        struct wt_trace_row l = a->rows[i], r = b->rows[i];
        ck_assert_msg(l.block == r.block && l.sm == r.sm && l.warp_slot == r.warp_slot && l.work == r.work &&
                          l.clock_start == r.clock_start && l.clock_end == r.clock_end &&
                          l.time_start_ns == r.time_start_ns && l.time_end_ns == r.time_end_ns,
                      "row %zu differs", i);
    }
}

/* Records of a captured trace, written by the header's writer, are the captured trace again, plain and compressed. */
START_TEST(records_become_the_trace)
{
    struct wt_trace *captured = read_trace(WT_SOURCE_ROOT "/traces/h200/spin20k_b256.r0.csv.zst");
    char *arguments = wt_format("copy %s >/dev/null", trace_names[_i]);
    FILE *pipe = host(arguments, "w");
    for (size_t i = 0; i < captured->row_count; i++) {
        const struct wt_trace_row *r = &captured->rows[i];
        fprintf(pipe, "%llu,%d,%lld,%lld,%lld,%lld,%lld,%d\n", (unsigned long long)r->block, r->sm,
                (long long)r->clock_start, (long long)r->clock_end, (long long)r->time_start_ns,
                (long long)r->time_end_ns, (long long)r->work, r->warp_slot);
    }
    ck_assert_int_eq(pclose(pipe), 0);
    struct wt_trace *copy = read_trace(trace_names[_i]);
    ck_assert_str_eq(copy->device, captured->device);
    ck_assert(copy->cc_major == 9 && copy->cc_minor == 0 && copy->sm_count == 132);
    ck_assert(copy->clock_khz == captured->clock_khz && copy->globaltimer_step_ns == 32);
    ck_assert_uint_eq(copy->launch_count, 1);
    assert_same_launch(&copy->launches[0], &captured->launches[0]);
    assert_same_rows(copy, captured);
    wt_trace_free(copy);
    wt_trace_free(captured);
    free(arguments);
}
END_TEST

/* Quotes, line ends and " key=" in names, launches without all their rows, keys that most traces lack. */
START_TEST(awkward_launches_survive)
{
    assert_output("strange s.csv", 0, "2\n");
    struct wt_trace *trace = read_trace("s.csv");
    ck_assert_uint_eq(trace->launch_count, 2);
    ck_assert_uint_eq(trace->row_count, 3);
    const struct wt_trace_launch *first = &trace->launches[0], *second = &trace->launches[1];
    ck_assert_str_eq(first->name, "void scale<float, 4>(float *, int)");
    ck_assert_str_eq(first->kernel, first->name);
    ck_assert(first->grid[1] == 3 && first->registers_per_thread == -1 && first->carveout_kb == -1);
    ck_assert_uint_eq(first->row_count, 2);
    ck_assert_str_eq(second->name, "say \"hi\" key=1 next");
    ck_assert(second->tasks == 2 && second->cluster[0] == 2 && second->stream == 3 && second->priority == -5);
    ck_assert(second->cooperative && second->carveout_kb == 0);
    ck_assert(second->static_shared_bytes == 4 && second->dynamic_shared_bytes == 100000);
    ck_assert_uint_eq(second->row_count, 1);
    wt_trace_free(trace);
}
END_TEST

/* A clock and a timer that pass a multiple of 2^48, the largest place, two stores or three, none at all (clocks of -1). */
START_TEST(what_a_block_leaves_is_read_back)
{
    assert_output("slot 281474976710646 281474976710661 65535 65535 5 9", 0,
                  "281474976710646 281474976710661 140737488355323 140737488355330 65535 65535 5 9\n");
    assert_output("slot 562949953421302 562949953421322 0 63 5 9", 0,
                  "562949953421302 562949953421322 281474976710651 281474976710661 0 63 5 9\n");
    assert_output("slot 844424930131000 844424930132000 131 40 5 4294967295", 0,
                  "844424930131000 844424930132000 422212465065500 422212465066000 131 40 0 7\n");
    assert_output("slot -1 -1 65535 65535 -1 4294967295", 1, "-1 -1 -1 -1 65535 65535 -1 4294967295\n");
}
END_TEST

START_TEST(an_unwritable_file_is_said)
{
    assert_output("strange no/such.csv 2>&1", 1, "no/such.csv: cannot be written; choose another folder\n2\n");
}
END_TEST

START_TEST(a_list_says_all)
{
    write_list("# comment\n"
               "defaults reps=5 block=128\n"
               "a kernel=spin grid=10x20x5 work=round:5:3:132 seed=9 dynamic_smem=1000 carveout_kb=100 # more\n"
               "\n"
               "b kernel=persist reps=1 warmup=0 sync=7 tasks=100 block=32x2 cooperative=1\n"
               "\t+ c kernel=empty grid=32 cluster=4 stream=1 priority=-1 count=3 wait_us=20 after=b\r\n"
               "d kernel=empty graph=1\n"
               "+ e kernel=empty pdl=1\n"
               "f kernel=fma1 work=const:3 work_threads=64 work_shared=1 traces=2\n"
               "g kernel=stream grid=30x2 queue=5 work=exponential:20:3 split=2 order=longest-first\n");
    assert_output("list l.txt", 0,
                  "[a reps=5 warmup=2 sync=0 graph=0]\n"
                  "a spin 10x20x5 128x1x1 c1x1x1 smem=1000 carveout=100 work=round:5:3:132 seed=9 stream=0 priority=0 "
                  "cooperative=0 tasks=0 queue=0 count=1 wait=0 pdl=0 after=\n"
                  "[b reps=1 warmup=0 sync=7 graph=0]\n"
                  "b persist 1x1x1 32x2x1 c1x1x1 smem=0 carveout=-1 work=none seed=1 stream=0 priority=0 cooperative=1 "
                  "tasks=100 queue=0 count=1 wait=0 pdl=0 after=\n"
                  "c empty 32x1x1 128x1x1 c4x1x1 smem=0 carveout=-1 work=none seed=1 stream=1 priority=-1 cooperative=0 "
                  "tasks=0 queue=0 count=3 wait=20 pdl=0 after=b\n"
                  "[d reps=5 warmup=2 sync=0 graph=1]\n"
                  "d empty 1x1x1 128x1x1 c1x1x1 smem=0 carveout=-1 work=none seed=1 stream=0 priority=0 cooperative=0 "
                  "tasks=0 queue=0 count=1 wait=0 pdl=0 after=\n"
                  "e empty 1x1x1 128x1x1 c1x1x1 smem=0 carveout=-1 work=none seed=1 stream=0 priority=0 cooperative=0 "
                  "tasks=0 queue=0 count=1 wait=0 pdl=1 after=\n"
                  "[f reps=5 warmup=2 sync=0 graph=0]\n"
                  "traces of 2\n"
                  "f fma1 1x1x1 128x1x1 c1x1x1 smem=0 carveout=-1 work=const:3/64/shared seed=1 stream=0 priority=0 "
                  "cooperative=0 tasks=0 queue=0 count=1 wait=0 pdl=0 after=\n"
                  "[g reps=5 warmup=2 sync=0 graph=0]\n"
                  "g stream 30x2x1 128x1x1 c1x1x1 smem=0 carveout=-1 work=exponential:20:3 split 2 longest-first seed=1 stream=0 "
                  "priority=0 cooperative=0 tasks=0 queue=5 count=1 wait=0 pdl=0 after=\n");
}
END_TEST

static const struct {
    const char *list, *message;
} bad_lists[] = {
    {"a kernel=spin\nb kernel=spon\n", "l.txt:2: unknown kernel 'spon'; `capture --kernels` lists them\n"},
    {"a grid=5\n", "l.txt:1: kernel= is missing; `capture --kernels` lists them\n"},
    {"a kernel=spin grid=0\n", "l.txt:1: grid=0: expected N, NxN or NxNxN, up to 2147483647x65535x65535\n"},
    {"a kernel=spin grid=1x2x3x4\n",
     "l.txt:1: grid=1x2x3x4: expected N, NxN or NxNxN, up to 2147483647x65535x65535\n"},
    {"a kernel=spin grid=2147483647x2\n", "l.txt:1: the grid has more than 2147483647 blocks; make it smaller\n"},
    {"a kernel=spin block=33x32\n", "l.txt:1: block has 1056 threads; spin takes up to 1024\n"},
    {"a kernel=r232 block=257\n", "l.txt:1: block has 257 threads; r232 takes up to 256\n"},
    {"a kernel=matmul16\n", "l.txt:1: matmul16 needs block=16x16\n"},
    {"a kernel=persist\n", "l.txt:1: persist needs tasks=N\n"},
    {"a kernel=spin tasks=5\n", "l.txt:1: spin is no persistent kernel; remove tasks=\n"},
    {"a kernel=spin grid=10 cluster=4\n", "l.txt:1: the grid is no multiple of the cluster; make each dimension one\n"},
    {"a kernel=spin grid=16x16 cluster=8x4\n", "l.txt:1: a cluster has at most 16 blocks\n"},
    {"a kernel=spin reps=0\n", "l.txt:1: reps=0: expected a whole number from 1 to 1000\n"},
    {"a kernel=spin seed=1x\n", "l.txt:1: seed=1x: expected a whole number from 0 to 9223372036854775807\n"},
    {"a kernel=spin work=const\n", "l.txt:1: work=const: expected const:N\n"},
    {"a kernel=spin work=pat:1:2:LsX\n", "l.txt:1: work=pat:1:2:LsX: expected pat:S:L:LETTERS[:N], letters s and L\n"},
    {"a kernel=spin work=uniform:5:4\n", "l.txt:1: work=uniform:5:4: expected uniform:A:B with A <= B\n"},
    {"a kernel=spin work=gauss:5:4\n", "l.txt:1: work=gauss:5:4: known are none, const, uniform, lognormal, exponential, "
                                       "pareto, bimodal, ramp, round and pat\n"},
    {"+ a kernel=spin\n", "l.txt:1: + adds a launch to the experiment above, but there is none\n"},
    {"a kernel=spin\n+ kernel=spin\n", "l.txt:2: expected '+ NAME key=value ...'\n"},
    {"a kernel=spin\n+ b kernel=spin reps=2\n",
     "l.txt:2: reps belongs on the experiment's first line; move it there\n"},
    {"a kernel=spin\n+ b kernel=spin priority=-1\n",
     "l.txt:2: stream 0 already has priority 0; use another stream\n"},
    {"a kernel=spin\n+ b kernel=spin stream=1 after=c\n", "l.txt:2: after=c: no launch above has that name in this experiment\n"},
    {"a kernel=spin\n+ b kernel=spin after=a\n",
     "l.txt:2: after=a: launches of one stream follow each other anyway; remove it, or use another stream\n"},
    {"a kernel=spin graph=1\n+ b kernel=spin stream=1\n",
     "l.txt:2: a graph's launches are in one stream; give all the same\n"},
    {"a kernel=spin\na kernel=spin\n", "l.txt:2: experiment 'a' is there already; choose another name\n"},
    {"../a kernel=spin\n", "l.txt:1: '../a' is no name for an experiment; use letters, digits, _, - and .\n"},
    {"a kernel=spin fast\n", "l.txt:1: 'fast' is not key=value\n"},
    {"a kernel=fma1 work_shared=1\n", "l.txt:1: work_shared is for work that is given to threads; state work_threads=\n"},
    {"a kernel=fma1 order=longest\n", "l.txt:1: order=longest: known are asis, longest-first, reversed and shuffle\n"},
    {"a kernel=fma1 grid=9 split=2\n",
     "l.txt:1: split is for work that is given to blocks, and the grid must be a multiple of it\n"},
    {"a kernel=fma1 work_threads=64 order=reversed\n", "l.txt:1: order is for work that is given to blocks; remove work_threads=\n"},
    {"a kernel=empty queue=9\n", "l.txt:1: empty cannot be given out by a counter; remove queue=\n"},
    {"a kernel=fma1 queue=9 cluster=2 grid=4\n", "l.txt:1: the grid is no multiple of the cluster; make each dimension one\n"},
    {"# nothing\n", "l.txt:1: no experiment; add one\n"},
};

START_TEST(a_bad_list_is_refused)
{
    write_list(bad_lists[_i].list);
    assert_output("list l.txt", 1, bad_lists[_i].message);
}
END_TEST

START_TEST(shipped_lists_are_good)
{
    glob_t lists;
    ck_assert_int_eq(glob(WT_SOURCE_ROOT "/gpu_ref/experiments/*.txt", 0, NULL, &lists), 0);
    for (size_t i = 0; i < lists.gl_pathc; i++) {
        char *arguments = wt_format("list '%s'", lists.gl_pathv[i]);
        free(output(arguments, 0));
        free(arguments);
    }
    globfree(&lists);
}
END_TEST

/* Values that the specification fixes. */
START_TEST(fixed_work)
{
    assert_output("work none 1 2 132", 0, "0\n0\n");
    assert_output("work const:20000 1 2 132", 0, "20000\n20000\n");
    assert_output("work ramp:100:20 1 4 132", 0, "100\n80\n60\n40\n");
    assert_output("work round:7:3:2 1 6 132", 0, "7\n7\n3\n3\n7\n7\n");
    assert_output("work pat:3:7:LsL 1 8 2", 0, "7\n7\n3\n3\n7\n7\n7\n7\n");
    assert_output("work pat:3:7:Ls:1 1 3 2", 0, "7\n3\n7\n");
}
END_TEST

/* 96 threads: one unit of 64 and half of the next; the other half and the third. Blocks smaller than a unit have its work. */
START_TEST(shared_work)
{
    assert_output("share 64 2 96 30 60 120", 0, "40\n100\n");
    assert_output("share 64 1 128 30 61", 0, "46\n");
    assert_output("share 64 4 32 30 61", 0, "30\n30\n61\n61\n");
}
END_TEST

/* The remainder goes to the first parts; equal values keep their order, which nothing shows; a shuffle loses none. */
START_TEST(reworked_work)
{
    assert_output("rework 3 asis 1 7 3", 0, "3 2 2 1 1 1 \n");
    assert_output("rework 2 longest-first 1 7 9 2", 0, "5 4 4 3 1 1 \n");
    assert_output("rework 1 reversed 1 7 9 2", 0, "2 9 7 \n");
    char *text = output("rework 1 shuffle 5 1 10 100 1000 10000 100000", 0), *at = text;
    long sum = 0;
    for (int i = 0; i < 6; i++)
        sum += strtol(at, &at, 10);
    ck_assert_int_eq(sum, 111111);
    ck_assert_str_ne(text, "1 10 100 1000 10000 100000 \n");
    free(text);
}
END_TEST

enum { DRAWS = 20000 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* DRAWS values in ascending order. */
static void draws(const char *specification, double *values)
{
    char *arguments = wt_format("work %s 7 %d 132", specification, DRAWS);
    char *text = output(arguments, 0), *at = text;
    for (int i = 0; i < DRAWS; i++)
        values[i] = strtod(at, &at);
    qsort(values, DRAWS, sizeof *values, ascending);
    free(text);
    free(arguments);
}

static double share_up_to(const double *values, double limit)
{
    int count = 0;
    while (count < DRAWS && values[count] <= limit)
        count++;
    return (double)count / DRAWS;
}

/* Shares that the distribution functions give, within five standard deviations of 20,000 draws. */
START_TEST(drawn_work)
{
    static double v[DRAWS];
    draws("uniform:5000:5009", v);
    ck_assert(v[0] == 5000 && v[DRAWS - 1] == 5009);
    ck_assert_double_eq_tol(share_up_to(v, 5003), 0.4, 0.018);
    draws("exponential:1000:100", v);
    ck_assert(v[0] == 100);
    ck_assert_double_eq_tol(share_up_to(v, 100), 1 - exp(-0.1), 0.011);
    ck_assert_double_eq_tol(share_up_to(v, 1000), 1 - exp(-1), 0.017);
    draws("lognormal:15000:0.8", v);
    ck_assert_double_eq_tol(share_up_to(v, 15000), 0.5, 0.018);
    ck_assert_double_eq_tol(share_up_to(v, 15000 * exp(0.8)), 0.841345, 0.014);
    ck_assert_double_eq_tol(share_up_to(v, 15000 * exp(-1.6)), 0.022750, 0.006);
    draws("pareto:4000:1.5", v);
    ck_assert(v[0] == 4000 && v[DRAWS - 1] <= 400000);
    ck_assert_double_eq_tol(share_up_to(v, 8000), 1 - pow(2, -1.5), 0.018);
    draws("pareto:4000:1.5:8000", v);
    ck_assert_double_eq(v[DRAWS - 1], 8000);
    draws("bimodal:4:40:0.1", v);
    ck_assert_double_eq_tol(share_up_to(v, 4), 0.9, 0.011);
    ck_assert_double_eq(v[DRAWS - 1], 40);
}
END_TEST

START_TEST(seeds_decide)
{
    char *one = output("work uniform:1:1000000 1 50 132", 0), *again = output("work uniform:1:1000000 1 50 132", 0);
    char *other = output("work uniform:1:1000000 2 50 132", 0);
    ck_assert_str_eq(one, again);
    ck_assert_str_ne(one, other);
    free(one);
    free(again);
    free(other);
}
END_TEST

Suite *capture_suite(void)
{
    Suite *suite = suite_create("capture");
    if (!getenv("CAPTURE_HOST")) {
        puts("capture: no C++ compiler, skipped");
        return suite;
    }
    TCase *tcase = tcase_create("capture");
    tcase_add_checked_fixture(tcase, scratch_enter, scratch_leave);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, records_become_the_trace, 0, 2);
    tcase_add_test(tcase, awkward_launches_survive);
    tcase_add_test(tcase, what_a_block_leaves_is_read_back);
    tcase_add_test(tcase, an_unwritable_file_is_said);
    tcase_add_test(tcase, a_list_says_all);
    tcase_add_loop_test(tcase, a_bad_list_is_refused, 0, sizeof bad_lists / sizeof *bad_lists);
    tcase_add_test(tcase, shipped_lists_are_good);
    tcase_add_test(tcase, fixed_work);
    tcase_add_test(tcase, shared_work);
    tcase_add_test(tcase, reworked_work);
    tcase_add_test(tcase, drawn_work);
    tcase_add_test(tcase, seeds_decide);
    suite_add_tcase(suite, tcase);
    return suite;
}
