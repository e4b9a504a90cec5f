/* Does the warp level do what closed formulas, measurements and Nsight Compute's counters say?
 *
 * Counters are those of an H200 (one launch each, per scheduler). Not pinned: cycle-exact times of single instructions. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "warp/text.h"
#include "warp_part.h"

/* `blocks` of `threads` on the part of an H200. */
static struct wt_warp_result run_text(const char *text, int threads, uint64_t blocks)
{
    struct warp_part_run run = {.gpu = part_of_h200(), .program = parsed_program(text), .threads = threads, .blocks = blocks};
    simulate_part(&run);
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
    return run.result;
}

static double cycles_of(const char *text, int threads)
{
    return run_text(text, threads, 1).elapsed_cycles;
}

/* ---- Latencies and intervals (clock64 around 1024 instructions, H200) ---- */

/* What an instruction takes, in a loop so that all lines of instructions are met only once. */
static double each_in_loop(const char *one, int per_round, int threads)
{
    char *twice, *once;
    ck_assert_int_gt(asprintf(&twice, "loop 40 { repeat %d { %s } }\nexit\n", per_round, one), 0);
    ck_assert_int_gt(asprintf(&once, "loop 20 { repeat %d { %s } }\nexit\n", per_round, one), 0);
    double cycles = (cycles_of(twice, threads) - cycles_of(once, threads)) / 20;
    free(twice);
    free(once);
    return (cycles - 11) / per_round; /* the loop's branch: 5 stalled, 3 resolved, 3 fetched */
}

START_TEST(dependent_instructions_follow_at_their_latency)
{
    check_within(each_in_loop("ffma r1, r1, r1", 64, 32), 4.17, 0.06);
    check_within(each_in_loop("imad r1, r1, r1", 64, 32), 4.17, 0.25); /* the dispatcher's cycle comes on top */
    check_within(each_in_loop("mufu r1, r1", 64, 32), 17.06, 0.06);
    check_within(each_in_loop("dfma r2, r2, r2", 64, 32), 8.11, 0.06);
    check_within(each_in_loop("shfl r1, r1", 64, 32), 24.05, 0.06);
}
END_TEST

START_TEST(many_warps_issue_at_the_pipes_interval)
{
    check_within(each_in_loop("ffma r1, r1, r1", 64, 1024) / 8, 1.07, 0.08);
    check_within(each_in_loop("imad r1, r1, r1", 64, 1024) / 8, 2.03, 0.08);
    check_within(each_in_loop("lop3 r1, r1, r1", 64, 1024) / 8, 2.08, 0.08);
    check_within(each_in_loop("mufu r1, r1", 64, 1024) / 8, 8.01, 0.08);
    check_within(each_in_loop("dfma r2, r2, r2", 64, 1024) / 8, 2.02, 0.08);
    check_within(each_in_loop("shfl r1, r1", 64, 1024) / 8, 4.01, 0.08);
}
END_TEST

/* FFMA of three different registers: 1.50 cycles each with four warps per scheduler, 1.05 with the loop where one of them is
 * kept for reuse. */
START_TEST(each_bank_of_registers_delivers_one_operand_a_cycle)
{
    static const char three[] = "ffma r4, r5 even=2 odd=1\nffma r6, r7 even=1 odd=2";
    static const char two[] = "ffma r4, r5 even=1 odd=1\nffma r6, r7 even=1 odd=1";
    check_within(each_in_loop(three, 32, 512) / 4, 2 * 1.50, 0.05);
    check_within(each_in_loop(two, 32, 512) / 4, 2, 0.05);
}
END_TEST

/* Six independent ones: the first is taken at once, two wait in the places, the other three for those, 8 cycles each, of which they
 * issue in one; the first of them has come two cycles later. */
START_TEST(special_functions_hold_up_those_behind_them)
{
    static const char six[] = "mufu r4, r2\nmufu r5, r2\nmufu r6, r2\nmufu r7, r2\nmufu r8, r2\nmufu r9, r2\nexit\n";
    check_within((double)run_text(six, 32, 1).total.warp_cycles[WT_STALL_MIO_THROTTLE], 3 * (8 - 1) - 1, 0.1);
}
END_TEST

START_TEST(shared_memory_serves_one_pass_a_cycle)
{
    check_within(each_in_loop("lds r1, [r2]", 64, 1024) / 32, 1.0, 0.08);
    check_within(each_in_loop("lds r1, [r2] stride=8", 64, 1024) / 32, 2.0, 0.08);
    check_within(each_in_loop("lds r1, [r2] stride=128", 64, 1024) / 32, 32.0, 0.08);
    check_within(each_in_loop("lds.128 r4, [r2]", 64, 1024) / 32, 4.02, 0.08);
}
END_TEST

/* 13.5 cycles and 2 for each warp (bar.sync in a loop, 1 to 32 warps). */
START_TEST(a_barrier_takes_longer_with_every_warp)
{
    check_within(each_in_loop("bar", 16, 32), 15.5, 0.1);
    check_within(each_in_loop("bar", 16, 256), 29.5, 0.1);
    check_within(each_in_loop("bar", 16, 1024), 77.5, 0.1);
}
END_TEST

START_TEST(memory_answers_after_its_levels_latency)
{
    check_within(each_in_loop("ldg r2, [r2] stride=0 l1=1", 16, 32), 36.2, 0.1);
    check_within(each_in_loop("ldg r2, [r2] stride=0 l1=0 l2=1", 16, 32), 280, 0.1);
    check_within(each_in_loop("ldg r2, [r2] stride=0 l1=0 l2=0", 16, 32), 690, 0.1);
}
END_TEST

/* A slice of L2 holds 512 bytes in a row, and takes a sector of an atomic every 1.446 cycles: every 47.7 on a 33rd of the GPU. */
START_TEST(atomics_on_few_words_wait_for_the_slices_that_hold_them)
{
    check_within(cycles_of("loop 100 { red [r2] words=128 }\nexit\n", 32), 100 * 4 * 47.7, 0.05);
    check_within(cycles_of("loop 800 { red [r2] words=1024 }\nexit\n", 32), 800 * 4 * 47.7 / 8, 0.05);
    check_within(cycles_of("loop 25 { red [r2] lanes=16 stride=0 ways=16 }\nexit\n", 32), 25 * 16 * 47.7, 0.05);
    ck_assert_double_lt(cycles_of("loop 100 { red [r2] }\nexit\n", 32), 100 * 4 * 47.7 / 10);
}
END_TEST

/* ---- Nsight Compute's counters ---- */

struct counters {
    const char *program;
    int threads, shared;
    uint64_t blocks;
    double active, eligible, issued;
    enum wt_stall_reason largest;
    double per_issue;
};

static const struct counters measured[] = {
    {"fma", 256, 0, 124, 14.15, 10.73, 0.973, WT_STALL_NOT_SELECTED, 10.03},
    {"fma", 128, 113000, 60, 1.95, 0.50, 0.475, WT_STALL_WAIT, 2.50},
    {"fma4", 128, 0, 248, 14.34, 13.40, 0.972, WT_STALL_NOT_SELECTED, 12.79},
    {"bar", 256, 0, 124, 14.79, 0.96, 0.333, WT_STALL_BARRIER, 23.97},
    {"chase", 256, 0, 124, 15.50, 0.005, 0.0042, WT_STALL_LONG_SCOREBOARD, 3791},
};

static enum wt_stall_reason largest_stall(const struct wt_warp_counters *c)
{
    enum wt_stall_reason best = WT_STALL_WAIT;
    for (int i = 0; i < WT_STALL_COUNT; i++)
        if (i != WT_STALL_SELECTED && c->warp_cycles[i] > c->warp_cycles[best])
            best = (enum wt_stall_reason)i;
    return best;
}

START_TEST(averages_are_nsight_computes)
{
    const struct counters *m = &measured[_i];
    char path[512];
    snprintf(path, sizeof path, WT_SOURCE_CONFIGS "/workloads/programs/%s.wtp", m->program);
    struct warp_part_run run = {.gpu = part_of_h200(), .threads = m->threads, .shared = m->shared, .blocks = m->blocks};
    struct wt_error err = {0};
    ck_assert_msg(wt_text_read(path, &run.program, &err) == WT_OK, "%s", err.text);
    simulate_part(&run);
    const struct wt_warp_counters *c = &run.result.total;
    check_within(wt_warps_active(c), m->active, 0.055);
    check_within(wt_warps_eligible(c), m->eligible, 0.2);
    check_within(wt_issue_active(c), m->issued, 0.08);
    ck_assert_str_eq(wt_stall_name(largest_stall(c)), wt_stall_name(m->largest));
    check_within(wt_stalled_per_issue(c, m->largest), m->per_issue, 0.25);
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
}
END_TEST

/* ---- Accounting ---- */

static const char mixed[] = "work 20\nloop uniform 5 30 {\n ldg r4, [r2] l1=0.3 l2=0.5\n if 0.3 both=0.4 { mufu r5, r4 } else "
                            "{ lds r5, [r4] }\n imad r5, r5, r4\n bar\n}\nfirst-warp { stg [r2], r5 }\nexit\n";

struct seen {
    struct wt_warp_counters sum;
    uint64_t resident; /* warp cycles */
};

static void add_interval(void *context, int sm, wt_time from, wt_time to, const struct wt_warp_counters *c)
{
    struct seen *seen = context;
    (void)sm;
    ck_assert_uint_lt(from, to);
    uint64_t states = 0;
    for (int i = 0; i < WT_STALL_COUNT; i++)
        states += c->warp_cycles[i];
    ck_assert_uint_le(states, (to - from) / WT_CYCLE * 64);
    ck_assert_uint_eq(c->warp_cycles[WT_STALL_SELECTED], c->issued);
    wt_warp_counters_add(&seen->sum, c);
}

/* The only way in is a warp's first cycle and the only way out its last: each is in one state in between, so the states'
 * sum is the time warps were there, which intervals of any length add up to. */
START_TEST(every_warp_is_in_one_state_each_cycle)
{
    struct seen seen = {0};
    struct wt_warp_observer observer = {.context = &seen, .interval = add_interval, .interval_length = 1};
    struct warp_part_run run = {.gpu = part_of_h200(), .program = parsed_program(mixed),
                                .threads = 192, .blocks = 60, .observer = &observer};
    simulate_part(&run);
    const struct wt_warp_counters *total = &run.result.total;
    uint64_t states = 0, interval_states = 0;
    for (int i = 0; i < WT_STALL_COUNT; i++) {
        states += total->warp_cycles[i];
        interval_states += seen.sum.warp_cycles[i];
    }
    ck_assert_uint_eq(total->warps, 360);
    ck_assert_uint_eq(total->warp_cycles[WT_STALL_SELECTED], total->issued);
    ck_assert_uint_eq(interval_states, states);
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
}
END_TEST

START_TEST(threads_change_nothing)
{
    struct warp_part_run run = {.gpu = part_of_h200(), .program = parsed_program(mixed),
                                .threads = 192, .blocks = 60, .workers = 1};
    simulate_part(&run);
    struct wt_warp_result one = run.result;
    run.workers = 4;
    simulate_part(&run);
    ck_assert_mem_eq(&one.total, &run.result.total, sizeof one.total);
    ck_assert_double_eq(one.elapsed_cycles, run.result.elapsed_cycles);
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
}
END_TEST

/* ---- Control ---- */

START_TEST(loops_run_as_often_as_their_count_says)
{
    ck_assert_uint_eq(run_text("loop 0 { nop }\nexit\n", 32, 1).total.issued, 1 + 1);
    ck_assert_uint_eq(run_text("loop 7 { nop }\nexit\n", 32, 1).total.issued, 1 + 7 * 2 + 1);
    ck_assert_uint_eq(run_text("work 12\nloop work / 4 + 2 { loop 3 { nop } }\nexit\n", 32, 1).total.issued,
                      1 + 5 * (1 + 3 * 2 + 1) + 1);
    static const char every[] = "count 0 4\nloop 40 {\nnop\nbra over every=0\nnop\nover:\n}\nexit\n";
    ck_assert_uint_eq(run_text(every, 32, 1).total.issued, 1 + 40 * 3 + 30 + 1);
    struct wt_warp_counters half = run_text("loop 0.5 { nop }\nexit\n", 32, 4000).total;
    check_within((double)half.issued / 4000, 1 + 0.5 * 2 + 1, 0.03);
}
END_TEST

/* Two paths cost both (course material): twice the instructions and about twice the time. */
START_TEST(divergence_costs_both_paths)
{
    static const char uniform[] = "loop 50 { if 0.5 { repeat 32 { ffma r4, r4 } } else { repeat 32 { ffma r4, r4 } } }\nexit\n";
    static const char diverged[] = "loop 50 { if 0 both=1 { repeat 32 { ffma r4, r4 } } else { repeat 32 { ffma r4, r4 } } }\nexit\n";
    double ratio = cycles_of(diverged, 32) / cycles_of(uniform, 32);
    ck_assert_double_gt(ratio, 1.8);
    ck_assert_double_lt(ratio, 2.3);
}
END_TEST

/* Behind four paths of branchy's switch the parts of a warp wait 74 cycles for each other, 9 of them for the last BSYNC alone: a second
 * path takes about 20 cycles more than its instructions, and is fetched. The warp that goes one way jumps over it instead; the other has
 * a BSSY and a BSYNC about it, of 5 cycles each. */
START_TEST(parts_of_a_warp_take_turns)
{
    static const char one[] = "loop 50 { if 1 { nop } else { repeat 8 { ffma r4, r4 } } }\nexit\n";
    static const char both[] = "loop 50 { if 0 both=1 { nop } else { repeat 8 { ffma r4, r4 } } }\nexit\n";
    double more = (cycles_of(both, 32) - cycles_of(one, 32)) / 50;
    check_within(more, 7 * 4 + 1 + 20 + 3 - (3 + 3) + 5 + 5 + 9, 0.05);
}
END_TEST

START_TEST(only_the_first_warp_goes_into_first_warp)
{
    struct wt_warp_counters c = run_text("first-warp { repeat 10 { nop } }\nexit\n", 128, 1).total;
    ck_assert_uint_eq(c.issued, 4 * 2 + 10);
}
END_TEST

/* cp.async: a load without a register is waited for by its group alone. 280 cycles of L2 and 35 of L1, near or far by a tenth. */
START_TEST(copies_are_awaited_by_groups)
{
    static const char text[] = "control given\nldg r4, [r2] l1=0 l2=1\nldgdepbar\nldg r4, [r2] l1=0 l2=1\nldgdepbar\n"
                               "depbar groups=%d\nexit\n";
    double cycles[3];
    for (int left = 0; left < 3; left++) {
        char *one = NULL;
        ck_assert_int_gt(asprintf(&one, text, left), 0);
        cycles[left] = cycles_of(one, 32);
        free(one);
    }
    check_within(cycles[0] - cycles[2], 280 + 35, 0.12);
    check_within(cycles[1] - cycles[2], 280 + 35, 0.12);
}
END_TEST

enum { MOST_BLOCKS = 4000, GO_ON = 1 };

static void note_warp(void *context, const struct wt_warp_issue *issue)
{
    uint8_t *went_on = context;
    if (issue->instruction == GO_ON)
        went_on[issue->block] |= (uint8_t)(1u << issue->warp);
}

/* Of `blocks` of 8 warps, the part of those on one SM in which some warps go on and some do not; *half is that of warps that do. */
static double mixed_blocks(const char *text, double *half)
{
    uint8_t went_on[MOST_BLOCKS] = {0};
    struct wt_warp_observer observer = {.context = went_on, .issue = note_warp};
    struct warp_part_run run = {.gpu = part_of_h200(), .program = parsed_program(text), .threads = 256, .blocks = MOST_BLOCKS,
                                .observer = &observer};
    simulate_part(&run);
    int unlike = 0, seen = 0;
    for (int i = 0; i < MOST_BLOCKS; i++) {
        seen += went_on[i] != 0;
        unlike += went_on[i] != 0 && went_on[i] != 0xff;
    }
    *half = ((double)run.result.total.issued / (8.0 * MOST_BLOCKS) - 1) / 2;
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
    return (double)unlike / seen;
}

/* Of a walk of 8 warps with steps of 0.02 the range is 0.064 wide on average (Spitzer: 0.798 times the step times the sum of
 * 1 / sqrt(k)): as many blocks are mixed, twice that of those in which a warp goes on. Each on its own, it is all but 1 in 255. */
START_TEST(neighbours_go_alike)
{
    double half;
    check_within(mixed_blocks("exit chance=0.5 drift=0.02\nnop\nexit\n", &half), 2 * 0.064 / 1.064, 0.3);
    check_within(half, 0.5, 0.06);
    ck_assert_double_gt(mixed_blocks("exit chance=0.5\nnop\nexit\n", &half), 0.98);
    check_within(half, 0.5, 0.02);
}
END_TEST

/* What is left of a warp's value decides the next branch: a quarter goes past both, and not half of it. */
START_TEST(a_value_decides_one_branch_after_the_other)
{
    double quarter;
    mixed_blocks("bra on chance=0.5 drift=0.02\nexit\non:\nexit chance=0.5 drift=0.02\nrepeat 2 { nop }\nexit\n", &quarter);
    check_within(quarter, (0.5 + 0.5 + 0.25 * 3) / 2, 0.06);
}
END_TEST

/* ---- Text ---- */

static const struct {
    const char *text, *message;
} mistakes[] = {
    {"ffma r1, r1\nffmb r1\n", "t.wtp:2: no instruction 'ffmb'; did you mean 'ffma'?"},
    {"ldg r1, [r2] strid=4\n", "t.wtp:1: no key 'strid'; did you mean 'stride'?"},
    {"ffma r1 l1=0.5\n", "t.wtp:1: 'l1' is of memory instructions only"},
    {"ldg r1 l1=1.5\n", "t.wtp:1: '1.5' is not a number from 0 to 1"},
    {"loop 3 {\nnop\n", "t.wtp:3: '}' is missing at the end of the file"},
    {"nop\n}\n", "t.wtp:2: '}' closes nothing"},
    {"loop often { nop }\n", "t.wtp:1: a number is expected instead of 'often'"},
    {"bra there\n", "t.wtp:1: no label 'there'"},
    {"a:\na:\n", "t.wtp:2: the label 'a' stands twice; labels do not go into a repeat"},
    {"ffma r1 wait=6\n", "t.wtp:1: 'wait=6': write e.g. wait=0+2"},
    {"ffma r1 loop=0\n", "t.wtp:1: 'loop' is of branches only"},
    {"count 0 5\na:\nnop\nbra a loop=1\n", "t.wtp:4: 'bra a loop=1': it belongs to no loop"},
    {"a:\nnop\nbra a\n", "t.wtp:3: 'bra a': it goes back for ever; give the loop a count"},
    {"count 1 5\nnop\n", "t.wtp:1: number 1 where 0 comes next; they count from 0"},
    {"control taken\n", "t.wtp:1: write `control given`"},
    {"# nothing\n", "t.wtp: a program has from 1 to 1048576 instructions"},
};

START_TEST(mistakes_are_named_with_their_line)
{
    struct wt_error err = {0};
    struct wt_program *program = NULL;
    ck_assert_int_eq(wt_text_parse(mistakes[_i].text, strlen(mistakes[_i].text), "t.wtp", &program, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, mistakes[_i].message);
    ck_assert_ptr_null(program);
}
END_TEST

/* As nvcc schedules it (gpu_ref's fma, SASS for cc 9.0): 4 cycles in a chain, 13 to a branch, a scoreboard for loads. */
START_TEST(registers_become_control_bits)
{
    struct wt_program *p = parsed_program("ffma r1, r1, r2\nffma r1, r1, r2\nisetp p0, r1\nl:\n@p0 bra l chance=0\nldg r4, [r2]\n"
                                  "fadd r5, r4, r1\nexit\n");
    ck_assert_int_eq(p->instructions[0].stall, 4);
    ck_assert_int_eq(p->instructions[1].stall, 5);
    ck_assert_int_eq(p->instructions[2].stall, 13);
    ck_assert_int_lt(p->instructions[4].write_board, WT_SCOREBOARDS);
    ck_assert_int_eq(p->instructions[5].wait_boards, 1 << p->instructions[4].write_board);
    wt_program_free(p);
}
END_TEST

/* CUDA C++ Best Practices Guide, "Coalesced Access": 32 threads' 4 bytes lie in four sectors; apart, in 32. */
START_TEST(accesses_fall_into_lines_sectors_and_banks)
{
    struct wt_access a = wt_access_strided(WT_SPACE_GLOBAL, WT_ACCESS_LOAD, 4, 4, 32);
    ck_assert(a.lines == 1 && a.sectors == 4 && !a.scattered);
    a = wt_access_strided(WT_SPACE_GLOBAL, WT_ACCESS_LOAD, 4, 128, 32);
    ck_assert(a.lines == 32 && a.sectors == 32 && a.scattered);
    a = wt_access_strided(WT_SPACE_GLOBAL, WT_ACCESS_LOAD, 16, 16, 32);
    ck_assert(a.lines == 4 && a.sectors == 16);
    a = wt_access_strided(WT_SPACE_GLOBAL, WT_ACCESS_LOAD, 4, 0, 32);
    ck_assert(a.lines == 1 && a.sectors == 1);
    ck_assert(wt_access_strided(WT_SPACE_SHARED, WT_ACCESS_LOAD, 4, 4, 32).wavefronts == 1);
    ck_assert(wt_access_strided(WT_SPACE_SHARED, WT_ACCESS_LOAD, 4, 8, 32).wavefronts == 2);
    ck_assert(wt_access_strided(WT_SPACE_SHARED, WT_ACCESS_LOAD, 4, 128, 32).wavefronts == 32);
    ck_assert(wt_access_strided(WT_SPACE_SHARED, WT_ACCESS_LOAD, 4, 0, 32).wavefronts == 1);
    ck_assert(wt_access_strided(WT_SPACE_SHARED, WT_ACCESS_LOAD, 16, 16, 32).wavefronts == 4);
}
END_TEST

/* ---- Schedulers ---- */

START_TEST(schedulers_choose_as_they_are_called)
{
    uint64_t age[64] = {[0] = 5, [1] = 5, [2] = 1, [3] = 1, [4] = 9};
    uint64_t ready[64] = {[2] = 90, [3] = 80};
    struct wt_choice choice = {.eligible = 0x1f, .age = age, .ready = ready, .now = 100, .last = 3};
    ck_assert_int_eq(wt_scheduler_find("gto")->choose(&choice), 3);
    ck_assert_int_eq(wt_scheduler_find("lrr")->choose(&choice), 4);
    choice.yielded = true;
    ck_assert_int_eq(wt_scheduler_find("cggty")->choose(&choice), 4);
    choice.eligible = 0x17;
    ck_assert_int_eq(wt_scheduler_find("gto")->choose(&choice), 2);
    choice.eligible = 0x0f;
    ck_assert_int_eq(wt_scheduler_find("cggty")->choose(&choice), 0);
    choice.eligible = 0x0c, choice.last = 0;
    ck_assert_int_eq(wt_scheduler_find("gto")->choose(&choice), 3);
    ready[2] = 70;
    ck_assert_int_eq(wt_scheduler_find("gto")->choose(&choice), 2);
    ready[2] = 50, ready[3] = 60;
    ck_assert_int_eq(wt_scheduler_find("gto")->choose(&choice), 3);
    ck_assert_ptr_null(wt_scheduler_find("none"));
}
END_TEST

Suite *warp_suite(void)
{
    Suite *suite = suite_create("warp");
    TCase *time = tcase_create("time");
    tcase_set_timeout(time, 60);
    tcase_add_test(time, dependent_instructions_follow_at_their_latency);
    tcase_add_test(time, many_warps_issue_at_the_pipes_interval);
    tcase_add_test(time, each_bank_of_registers_delivers_one_operand_a_cycle);
    tcase_add_test(time, special_functions_hold_up_those_behind_them);
    tcase_add_test(time, shared_memory_serves_one_pass_a_cycle);
    tcase_add_test(time, a_barrier_takes_longer_with_every_warp);
    tcase_add_test(time, memory_answers_after_its_levels_latency);
    tcase_add_test(time, atomics_on_few_words_wait_for_the_slices_that_hold_them);
    tcase_add_loop_test(time, averages_are_nsight_computes, 0, sizeof measured / sizeof *measured);
    suite_add_tcase(suite, time);
    TCase *rules = tcase_create("rules");
    tcase_set_timeout(rules, 60);
    tcase_add_test(rules, every_warp_is_in_one_state_each_cycle);
    tcase_add_test(rules, threads_change_nothing);
    tcase_add_test(rules, loops_run_as_often_as_their_count_says);
    tcase_add_test(rules, divergence_costs_both_paths);
    tcase_add_test(rules, parts_of_a_warp_take_turns);
    tcase_add_test(rules, only_the_first_warp_goes_into_first_warp);
    tcase_add_test(rules, copies_are_awaited_by_groups);
    tcase_add_test(rules, neighbours_go_alike);
    tcase_add_test(rules, a_value_decides_one_branch_after_the_other);
    tcase_add_loop_test(rules, mistakes_are_named_with_their_line, 0, sizeof mistakes / sizeof *mistakes);
    tcase_add_test(rules, registers_become_control_bits);
    tcase_add_test(rules, accesses_fall_into_lines_sectors_and_banks);
    tcase_add_test(rules, schedulers_choose_as_they_are_called);
    suite_add_tcase(suite, rules);
    return suite;
}
