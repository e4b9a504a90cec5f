/* How long do the blocks of a workload take that share SMs and memory (model = "fluid")? Closed forms, on four SMs that take
 * no time for anything else, and on an H200's bandwidth. */
#include "ran.h"
#include "suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "gpu/gpu.h"

#define MAKESPAN(gpu, cycles, tolerance, ...) assert_makespan(gpu, cycles, tolerance, wt_format(__VA_ARGS__))

/* Frees `kernels`. */
static void assert_makespan(const char *gpu, double cycles, double tolerance, char *kernels)
{
    struct ran r = ran_well(gpu, kernels);
    ck_assert_msg(fabs(r.makespan - cycles) <= tolerance, "%g cycles, not %g: %s", r.makespan, cycles, kernels);
    ran_clear(&r);
    free(kernels);
}

/* ---- An SM ---- */

/* min(n·r, R): n blocks of 8 warps on each SM, which 16 warps use up. */
START_TEST(an_sm_is_shared_by_its_blocks)
{
    for (int n = 1; n <= 8; n++)
        MAKESPAN("four-sms", 1000 * fmax(1, n / 2.0), 0.01,
                 "{ grid = %d; block = 256; " CONSTANT("1000") "demand = { sm_saturation = 16; }; }", 4 * n);
}
END_TEST

/* A warp that issues every other cycle: eight of them use up four sub-cores. */
START_TEST(a_sub_core_issues_one_instruction_a_cycle)
{
    static const char kernel[] = "{ grid = %d; block = 256; " CONSTANT("1000") "demand = { issue = 0.5; }; }";
    MAKESPAN("four-sms", 1000, 0.01, kernel, 4);
    MAKESPAN("four-sms", 3000, 0.01, kernel, 12);
}
END_TEST

/* Of issue slots and port the larger part counts: 8 warps take 1 of 4 slots and 8 * 16 of 64 bytes (assumed of this GPU). */
START_TEST(an_sm_is_held_to_what_it_needs_most_of)
{
    MAKESPAN("four-sms", 2000, 0.01, "{ grid = 4; block = 256; " CONSTANT("1000") "demand = { issue = 0.125; l2_bytes = 16.0; }; }");
}
END_TEST

START_TEST(a_start_costs_whatever_else_is_asked)
{
    MAKESPAN("four-sms", 2300, 0.01, "{ grid = 8; block = 256; " CONSTANT("1000") "demand = { sm_saturation = 8; start = 300; }; }");
}
END_TEST

/* Of two blocks each of which uses up the SM, the older one takes half, and half of the other half: weights 1 and 1/2. It is through
 * with its 1,000 at 1,500, when the younger has done 500, and the whole at 2,000. */
START_TEST(the_oldest_is_favoured)
{
    struct ran r = ran_well("four-sms", "{ grid = 8; block = 256; " CONSTANT("1000") "demand = { sm_saturation = 8; favour = 0.5; }; }");
    for (size_t i = 0; i < r.run_count; i++)
        ck_assert_double_eq_tol(wt_to_cycles(r.runs[i].end), r.runs[i].block < 4 ? 1500 : 2000, 0.1);
    ran_clear(&r);
}
END_TEST

/* Two warps use up an SM, and two blocks of one warp are on each: as one stage it serves both at full speed; sub-core by sub-core
 * each warp has a quarter of the SM, half of what it asks for. */
START_TEST(a_sub_core_is_for_its_own_warps)
{
    static const char kernel[] = "{ grid = 8; block = 32; " CONSTANT("1000") "demand = { sm_saturation = 2; %s }; }";
    MAKESPAN("four-sms", 1000, 0.1, kernel, "");
    MAKESPAN("four-sms", 2000, 0.1, kernel, "sub_cores = true;");
}
END_TEST

/* ---- Kernels ---- */

static char clocked[64]; /* four-sms with a clock, so that there is a host */

static void write_gpu(void)
{
    strcpy(clocked, "/tmp/wavetail-sharing-XXXXXX.cfg");
    int file = mkstemps(clocked, 4);
    ck_assert_int_ge(file, 0);
    dprintf(file, "base = \"four-sms\";\nclock_mhz = 1000;\n");
    close(file);
}

static void remove_gpu(void)
{
    unlink(clocked);
}

static double start_of(const struct ran *r, uint32_t launch)
{
    for (size_t i = 0; i < r->run_count; i++)
        if (r->runs[i].launch == launch)
            return wt_to_cycles(r->runs[i].start);
    ck_abort_msg("launch %u never ran", launch);
}

static void assert_ends(const struct ran *r, double first, double second)
{
    ck_assert_uint_eq(r->run_count, 8);
    for (size_t i = 0; i < 8; i++)
        ck_assert_double_eq_tol(wt_to_cycles(r->runs[i].end), r->runs[i].launch == 0 ? first : second, 0.01);
}

/* One block of each to an SM, which a block uses up. B comes when the host has launched it, soon after A; at half speed it takes twice
 * its time. A then has the SM to itself again, and ends when the work of both is done. */
START_TEST(kernels_share)
{
    struct ran r = ran_well(clocked,
                            "{ grid = 4; block = 256; " CONSTANT("1e5") "demand = { sm_saturation = 8; }; },"
                            "{ grid = 4; block = 256; stream = 1; " CONSTANT("5e4") "demand = { sm_saturation = 8; }; }");
    double start = start_of(&r, 1);
    ck_assert_double_lt(start, 4e4);
    assert_ends(&r, 1.5e5, start + 1e5);
    ran_clear(&r);
}
END_TEST

/* Beside a kernel of fixed durations nobody is slowed down. */
START_TEST(fixed_durations_take_no_part)
{
    struct ran r = ran_well(clocked,
                            "{ grid = 4; block = 256; " CONSTANT("1e5") "demand = { sm_saturation = 8; }; },"
                            "{ grid = 4; block = 256; stream = 1; " CONSTANT("5e4") "}");
    double start = start_of(&r, 1);
    ck_assert_double_lt(start, 4e4);
    assert_ends(&r, 1e5, start + 5e4);
    ran_clear(&r);
}
END_TEST

START_TEST(the_model_can_be_chosen)
{
    static const char kernel[] = "{ grid = 8; block = 256; %s " CONSTANT("1000") "demand = { sm_saturation = 8; }; }";
    MAKESPAN("four-sms", 2000, 0.01, kernel, "model = \"fluid\";");
    MAKESPAN("four-sms", 1000, 0.01, kernel, "model = \"fixed\";");
}
END_TEST

/* ---- The GPU ---- */

/* 1,056 warps, one block to an SM, that move 4 bytes a cycle each: 4,224 of the 4,800 GB/s * 0.976 at 1.98 GHz, 2,366 a cycle. */
START_TEST(dram_is_shared_by_all_sms)
{
    double capacity = 4800e9 * 0.976 / 1.98e9;
    MAKESPAN("h200", 1e6 * 132 * 8 * 4 / capacity, 1500,
             "{ grid = 132; block = 256; " CONSTANT("1e6") "demand = { dram_bytes = 4.0; }; }");
}
END_TEST

/* Twice as many warps as use up the GPU, on SMs that are not used up. */
START_TEST(the_gpu_is_shared_by_all_sms)
{
    MAKESPAN("four-sms", 2000, 0.01, "{ grid = 8; block = 256; " CONSTANT("1000")
                                     "demand = { sm_saturation = 1000; gpu_saturation = 32; }; }");
}
END_TEST

/* ---- Work ---- */

/* 100, 200, … 1,000 cycles, over and over. */
#define TENS "duration = { distribution = \"list\"; cycle = true; cycles = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]; }; "

/* One block uses up an SM, so an SM is done when it has taken as long as its blocks' durations add up to, however many
 * share it and whatever comes when. */
START_TEST(all_work_is_done_and_no_more)
{
    double given[4] = {0}, ended[4] = {0};
    struct ran r = ran_well("four-sms", "{ grid = 400; block = 128; " TENS "demand = { sm_saturation = 4; }; }");
    for (size_t i = 0; i < r.run_count; i++) {
        given[r.runs[i].sm] += 100.0 * (double)(r.runs[i].block % 10 + 1);
        ended[r.runs[i].sm] = fmax(ended[r.runs[i].sm], wt_to_cycles(r.runs[i].end));
    }
    for (int sm = 0; sm < 4; sm++)
        ck_assert_double_eq_tol(ended[sm], given[sm], 1);
    ran_clear(&r);
}
END_TEST

/* Cut in ten and the longest first, an SM still has as much to do. */
START_TEST(order_and_split_apply_to_work)
{
    MAKESPAN("four-sms", 550 * 10, 1, "{ grid = 40; block = 128; order = \"longest-first\"; split = 10; " TENS
                                      "demand = { sm_saturation = 4; }; }");
}
END_TEST

/* ---- What is refused ---- */

static void assert_refused(const char *kernels, const char *message)
{
    struct ran r = ran("t4", kernels);
    ck_assert_int_eq(r.code, WT_BAD_INPUT);
    ck_assert_str_eq(r.error.text, message);
    ran_clear(&r);
}

#define KERNEL "{ grid = 4; block = 256; " CONSTANT("1000") "\n"

START_TEST(what_does_not_fit_together_is_refused)
{
    assert_refused(KERNEL "model = \"fluid\"; }", "w.cfg:2: the model \"fluid\" needs 'demand'; give it");
    assert_refused(KERNEL "model = \"warp\"; }", "w.cfg:2: the model \"warp\" needs 'program'; give it");
    assert_refused(KERNEL "demand = { isue = 1.0; }; }", "w.cfg:2: unknown key 'isue'; did you mean 'issue'?");
    assert_refused(KERNEL "demand = { issue = 1.0; };\nwaiting = { pattern = \"previous\"; }; }",
                   "w.cfg:3: 'waiting': not simulated with the model \"fluid\"; remove it, or give model = \"fixed\"");
}
END_TEST

START_TEST(unknown_bandwidth_is_refused)
{
    struct ran r = ran("cc9.0", KERNEL "demand = { dram_bytes = 1.0; }; }");
    ck_assert_int_eq(r.code, WT_BAD_INPUT);
    ck_assert_msg(!strncmp(r.error.text, "w.cfg:2: kernel 'kernel0': 'demand.dram_bytes' needs the DRAM bandwidth of ", 75), "%s",
                  r.error.text);
    ran_clear(&r);
}
END_TEST

Suite *sharing_suite(void)
{
    Suite *suite = suite_create("sharing");
    TCase *tests = tcase_create("sharing");
    tcase_add_checked_fixture(tests, write_gpu, remove_gpu);
    tcase_add_test(tests, an_sm_is_shared_by_its_blocks);
    tcase_add_test(tests, a_sub_core_issues_one_instruction_a_cycle);
    tcase_add_test(tests, an_sm_is_held_to_what_it_needs_most_of);
    tcase_add_test(tests, a_start_costs_whatever_else_is_asked);
    tcase_add_test(tests, the_oldest_is_favoured);
    tcase_add_test(tests, a_sub_core_is_for_its_own_warps);
    tcase_add_test(tests, kernels_share);
    tcase_add_test(tests, fixed_durations_take_no_part);
    tcase_add_test(tests, the_model_can_be_chosen);
    tcase_add_test(tests, dram_is_shared_by_all_sms);
    tcase_add_test(tests, the_gpu_is_shared_by_all_sms);
    tcase_add_test(tests, all_work_is_done_and_no_more);
    tcase_add_test(tests, order_and_split_apply_to_work);
    tcase_add_test(tests, what_does_not_fit_together_is_refused);
    tcase_add_test(tests, unknown_bandwidth_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
