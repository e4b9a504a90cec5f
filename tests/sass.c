/* Does the text of cuobjdump -sass become the program that the hardware ran?
 *
 * The files are those of an H200's kernels; how often their instructions were executed is Nsight Compute's count, which a
 * program of them must reach. Not pinned: in which order a warp takes its paths. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "suites.h"
#include "warp/classes.h"
#include "warp/from_sass.h"
#include "warp/operands.h"
#include "warp/opcodes.h"
#include "warp_part.h"

#define TRACES WT_SOURCE_ROOT "/traces/ncu/"

/* A function's instruction line and the line below it. */
#define LINE(address, text, lower, upper) "        /*" address "*/    " text " ;    /* " lower " */\n    /* " upper " */\n"
#define HEAD "\tcode for sm_90\n\t\tFunction : k\n"

static struct wt_sass *read_sass(const char *path)
{
    struct wt_sass *sass = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_sass_read(path, &sass, &err) == WT_OK, "%s", err.text);
    return sass;
}

static struct wt_sass *sass_of(const char *text)
{
    struct wt_sass *sass = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_sass_read_memory("k.sass", text, strlen(text), &sass, &err) == WT_OK, "%s", err.text);
    return sass;
}

static struct wt_program *program_of(const struct wt_sass_setup *setup, struct wt_sass_report *report)
{
    struct wt_program *program = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_program_from_sass(setup, &program, report, &err) == WT_OK, "%s", err.text);
    return program;
}

/* ---- Control bits ---- */

static const char *const files[] = {"h200/k_fma.sass.zst", "h200/k_fma4.sass.zst",   "h200/k_stream.sass.zst",
                                    "h200/k_mix.sass.zst", "h200/k_bar.sass.zst",    "h200/k_chase.sass.zst",
                                    "families/families.sass.zst",
                                    "architectures/families.sm_75.sass.zst", "architectures/families.sm_80.sass.zst",
                                    "architectures/families.sm_100.sass.zst", "architectures/families.sm_120.sass.zst"};

/* What the compiler promises: a load is booked on a scoreboard, itself or by a later one of its kind (they return in order), and
 * nobody waits for a scoreboard that nothing is booked on. Other bits than these would break both. */
static void check_boards(const struct wt_sass_function *function)
{
    unsigned booked = 0, awaited = 0;
    const char *open = "";
    for (size_t i = 0; i < function->count; i++) {
        const struct wt_sass_instruction *instruction = &function->instructions[i];
        const struct wt_sass_control *control = &instruction->control;
        bool known, is_booked = control->write_board < WT_SCOREBOARDS;
        enum wt_op op = wt_opcode_class(instruction, &known);
        bool loads = !strcmp(instruction->opcode, "LDG") || !strcmp(instruction->opcode, "LDS") || op == WT_OP_SFU;
        ck_assert_msg(known, "%s", instruction->opcode);
        booked |= is_booked ? 1u << control->write_board : 0;
        booked |= control->read_board < WT_SCOREBOARDS ? 1u << control->read_board : 0;
        awaited |= control->wait_boards;
        ck_assert_msg(!open[0] || strcmp(instruction->opcode, "BRA"), "%s: %s before 0x%x is booked on nothing", function->name,
                      open, (unsigned)instruction->address);
        if (loads)
            open = is_booked ? "" : instruction->opcode;
    }
    ck_assert_uint_eq(awaited & ~booked, 0);
}

START_TEST(loads_are_booked_and_only_what_is_booked_is_waited_for)
{
    char path[512];
    snprintf(path, sizeof path, TRACES "%s", files[_i]);
    struct wt_sass *sass = read_sass(path);
    for (size_t i = 0; i < sass->count; i++)
        check_boards(&sass->functions[i]);
    wt_sass_free(sass);
}
END_TEST

/* k_fma: a load whose result is compared eleven instructions later, and a chain of FFMAs that need four cycles each. */
START_TEST(control_bits_are_where_the_hardware_has_them)
{
    struct wt_sass *sass = read_sass(TRACES "h200/k_fma.sass.zst");
    const struct wt_sass_function *function = &sass->functions[0];
    const struct wt_sass_instruction *load = &function->instructions[7], *compare = &function->instructions[11];
    ck_assert_str_eq(load->text, "LDG.E R3, desc[UR6][R8.64]");
    ck_assert_str_eq(compare->text, "ISETP.NE.AND P0, PT, R3, RZ, PT");
    ck_assert_int_eq(compare->control.wait_boards, 1 << load->control.write_board);
    ck_assert_int_eq(load->control.read_board, 7);
    ck_assert_int_eq(compare->control.stall, 13);
    int chained = 0;
    for (size_t i = 0; i + 1 < function->count; i++) {
        bool both = !strncmp(function->instructions[i].text, "FFMA R10, R10", 13) &&
                    !strncmp(function->instructions[i + 1].text, "FFMA R10, R10", 13);
        chained += both;
        if (both)
            ck_assert_int_eq(function->instructions[i].control.stall, 4);
    }
    ck_assert_int_gt(chained, 10);
    ck_assert_uint_eq(function->instructions[12].target, 0x4a0);
    ck_assert(function->instructions[12].guarded && !function->instructions[11].guarded);
    wt_sass_free(sass);
}
END_TEST

/* ---- Programs ---- */

struct launch {
    const char *folder, *function, *source, *sass;
    int threads;
    double instructions; /* per warp: smsp__inst_executed.sum / warps, metrics.csv */
    double within;       /* where chance decides how long a warp runs */
};

static const struct launch launches[] = {
    {"h200", "k_fma", "fma_b256", "k_fma", 256, 79204352.0 / 32768, 0.001},
    {"h200", "k_fma", "fma_ds56000", "k_fma", 128, 79273984.0 / 32768, 0.001},
    {"h200", "k_fma4", "fma4_b256", "k_fma4", 256, 280039424.0 / 32768, 0.001},
    {"h200", "k_stream", "stream_b256", "k_stream", 256, 80474112.0 / 32768, 0.001},
    {"h200", "k_mix", "mix_b256", "k_mix", 256, 141795328.0 / 32768, 0.001},
    {"h200", "k_bar", "bar_b256", "k_bar", 256, 53841920.0 / 32768, 0.001},
    {"h200", "k_chase", "chase_b256", "k_chase", 256, 6721536.0 / 32768, 0.001},
    {"families", "reduce", "reduce_b256", "families", 256, 9744384.0 / 32768, 0.01},
    {"families", "branchy", "branchy", "families", 256, 84053386.0 / 16384, 0.04},
    {"families", "collatz", "collatz", "families", 128, 69317906.0 / 16384, 0.05},
    {"families", "histogram", "histogram", "families", 256, 764, 0.01},
    {"families", "stencil", "stencil", "families", 128, 302, 0.01},
    {"families", "softmax", "softmax", "families", 256, 983, 0.01},
    {"families", "scan", "scan", "families", 512, 135, 0.01},
    {"families", "double_series", "double_series", "families", 128, 1733, 0.01},
};

static double simulated_per_warp(struct wt_program *program, int threads, uint64_t blocks)
{
    struct warp_part_run run = {.gpu = part_of_h200(), .program = program, .threads = threads, .blocks = blocks};
    simulate_part(&run);
    wt_gpu_free(run.gpu);
    return (double)run.result.total.issued / (double)run.result.total.warps;
}

START_TEST(a_warp_executes_as_many_instructions_as_on_the_hardware)
{
    const struct launch *l = &launches[_i];
    char *sass_path = wt_format(TRACES "%s/%s.sass.zst", l->folder, l->sass);
    char *source_path = wt_format(TRACES "%s/%s.source.csv.zst", l->folder, l->source);
    struct wt_sass *sass = read_sass(sass_path);
    struct wt_ncu_source *source = NULL;
    struct wt_sass_report report;
    struct wt_error err = {0};
    struct wt_sass_setup setup = {.path = sass_path, .threads_per_block = l->threads, .hits = WT_HITS_UNKNOWN};
    ck_assert_msg(wt_sass_find(sass, sass_path, l->function, &setup.function, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_ncu_source_read(source_path, l->function, &source, &err) == WT_OK, "%s", err.text);
    setup.source = source;
    struct wt_program *program = program_of(&setup, &report);
    check_within(report.executed / report.warps, l->instructions, 1e-6);
    check_within(simulated_per_warp(program, l->threads, 40), l->instructions, l->within);
    ck_assert_int_eq(report.unknown_count, 0);
    ck_assert_int_eq(report.assumed_loops, 0);
    wt_program_free(program);
    wt_ncu_source_free(source);
    wt_sass_free(sass);
    free(sass_path);
    free(source_path);
}
END_TEST

static const struct wt_instruction *at_place(const struct wt_program *program, uint32_t address)
{
    for (size_t i = 0; i < program->count; i++)
        if (program->places[i] == address)
            return &program->instructions[i];
    ck_abort_msg("nothing stands at 0x%x", (unsigned)address);
}

static struct wt_program *profiled_program(const char *sass_path, const char *source_path, const char *kernel, int threads)
{
    struct wt_sass *sass = read_sass(sass_path);
    struct wt_ncu_source *source = NULL;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_ncu_source_read(source_path, kernel, &source, &err), WT_OK);
    struct wt_sass_report report;
    struct wt_sass_setup setup = {.path = sass_path, .source = source, .threads_per_block = threads, .hits = WT_HITS_UNKNOWN};
    ck_assert_int_eq(wt_sass_find(sass, sass_path, kernel, &setup.function, &err), WT_OK);
    struct wt_program *program = program_of(&setup, &report);
    wt_ncu_source_free(source);
    wt_sass_free(sass);
    return program;
}

/* All lanes of kmeans_assign's LDS.128 read one address: 2 wavefronts each, not 4. Pages have them per execution or as a sum. */
START_TEST(ways_tell_wavefronts_where_a_page_has_no_sum)
{
    struct wt_program *program =
        profiled_program(TRACES "heldout/heldout.sass.zst", TRACES "heldout/heldout.source.csv.zst", "kmeans_assign", 192);
    int found = 0;
    for (size_t i = 0; i < program->count; i++) {
        const struct wt_instruction *instruction = &program->instructions[i];
        if (instruction->op != WT_OP_MEMORY || strncmp(program->texts[i], "LDS.128 R16, [UR4", 17) != 0)
            continue;
        ck_assert_double_eq((double)program->accesses[instruction->access].wavefronts, 2);
        found++;
    }
    ck_assert_int_eq(found, 2);
    wt_program_free(program);
}
END_TEST

/* double_series divides where i % 16 == 0: of the four rounds in its loop's body one goes there each fourth time, with all warps,
 * of which a block has four. */
START_TEST(rounds_are_not_taken_for_warps)
{
    struct wt_program *program = profiled_program(TRACES "families/families.sass.zst", TRACES "families/double_series.source.csv.zst",
                                                  "double_series", 128);
    const struct wt_instruction *over = at_place(program, 0x670);
    ck_assert_uint_eq(over->branch, WT_BRANCH_LOOP);
    ck_assert_double_eq(program->loops[over->index].base, 4);
    ck_assert_uint_eq(at_place(program, 0x220)->branch, WT_BRANCH_CHANCE);
    ck_assert_double_eq((double)at_place(program, 0x220)->chance, 1);
    wt_program_free(program);
}
END_TEST

static double barrier_stall(const char *kernel, int threads, uint64_t blocks)
{
    char *sass = wt_format(TRACES "h200/%s.sass.zst", kernel), *source = wt_format(TRACES "h200/%s_b256.source.csv.zst", kernel + 2);
    struct warp_part_run run = {.gpu = part_of_h200(), .program = profiled_program(sass, source, kernel, threads), .threads = threads,
                                .blocks = blocks};
    simulate_part(&run);
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
    free(sass);
    free(source);
    return (double)run.result.total.warp_cycles[WT_STALL_BARRIER] / (double)run.result.total.issued;
}

/* In front of the barrier at their end warps of one block wait for those that fell behind: those whose rounds are long
 * (smsp__average_warps_issue_stalled_barrier, metrics.csv). */
START_TEST(long_rounds_drive_warps_of_a_block_apart)
{
    check_within(barrier_stall("k_fma4", 1024, 31), 2.72, 0.15);
    check_within(barrier_stall("k_fma4", 512, 62), 0.95, 0.25);
    ck_assert_double_lt(barrier_stall("k_fma", 1024, 31), 0.21 + 0.15);
    ck_assert_double_lt(barrier_stall("k_fma", 512, 62), 0.12 + 0.15);
}
END_TEST

/* mandelbrot's early steps: 497 of 32768 warps are divided, and 975 of 29804, where threads on their own would divide nearly all. In
 * its late ones, where 46 of 269276 threads leave, 44 of 9407 warps: as many as those threads make. */
START_TEST(few_divided_warps_tell_of_like_neighbours)
{
    struct wt_program *program =
        profiled_program(TRACES "unseen/unseen.sass.zst", TRACES "unseen/unseen.source.csv.zst", "mandelbrot", 128);
    check_within((double)at_place(program, 0x330)->drift, 497.0 / 32768 / 1.6, 1e-5);
    check_within((double)at_place(program, 0x470)->drift, 975.0 / 29804 / 1.6, 1e-5);
    ck_assert_double_eq((double)at_place(program, 0x4ed0)->drift, 0);
    ck_assert_uint_eq(at_place(program, 0x4ed0)->branch, WT_BRANCH_CHANCE);
    wt_program_free(program);
}
END_TEST

/* Bytes that all threads' atomics meet in, from the kernels' sources (gpu_ref/profile). A word alone is in a slice of 512. */
static const struct {
    const char *folder, *kernel, *metrics, *source;
    double bytes;
    int row;
} counted[] = {
    {"families", "_Z9histogramPKjPji", "metrics.csv", "histogram", 256 * 4, 8},
    {"mixes", "_Z13red_random_4kPji", "metrics.csv.zst", "mixes", 1024 * 4, 15},
    {"unseen", "_Z11monte_carloPji", "metrics.csv.zst", "unseen", 512, 11},
};

/* Of the launch in the metrics' `row`. */
static struct wt_hit_rates hits_in(const char *folder, const char *metrics_name, const char *source_name, const char *kernel, long row)
{
    char *path = wt_format(TRACES "%s/%s", folder, metrics_name);
    char *sass_path = wt_format(TRACES "%s/%s.sass.zst", folder, folder);
    char *source_path = wt_format(TRACES "%s/%s.source.csv.zst", folder, source_name);
    struct wt_sass *sass = read_sass(sass_path);
    const struct wt_sass_function *function = NULL;
    struct wt_ncu_metrics *metrics = NULL;
    struct wt_ncu_source *source = NULL;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_sass_find(sass, sass_path, kernel, &function, &err), WT_OK);
    ck_assert_int_eq(wt_ncu_source_read(source_path, kernel, &source, &err), WT_OK);
    ck_assert_int_eq(wt_ncu_metrics_read(path, &metrics, &err), WT_OK);
    struct wt_hit_rates hits = wt_hit_rates_of(metrics, (size_t)row, function, source);
    wt_ncu_metrics_free(metrics);
    wt_ncu_source_free(source);
    wt_sass_free(sass);
    free(path);
    free(sass_path);
    free(source_path);
    return hits;
}

START_TEST(counters_tell_how_many_words_atomics_meet_in)
{
    struct wt_hit_rates hits = hits_in(counted[_i].folder, counted[_i].metrics, counted[_i].source, counted[_i].kernel, counted[_i].row);
    check_within(hits.slice_bytes, counted[_i].bytes, 0.05);
    check_within(hits.meet, 1, 0.15);
}
END_TEST

/* A thread in a sector, a word that all share, four bytes of every second thread; then all of them, of two widths, and loads whose
 * lines differ from one execution to the next. Ten executions each. */
static const struct {
    struct wt_ncu_row row;
    int width;
    bool parts;
} touching[] = {
    {{.executed = 10, .threads_on = 10, .tags = 10, .sectors = 10}, 4, true},
    {{.executed = 10, .threads_on = 320, .tags = 10, .sectors = 10}, 4, true},
    {{.executed = 10, .threads_on = 160, .tags = 20, .sectors = 80}, 4, true},
    {{.executed = 10, .threads_on = 320, .tags = 10, .sectors = 40}, 4, false},
    {{.executed = 10, .threads_on = 160, .tags = 20, .sectors = 80}, 16, false},
    {{.executed = 10, .threads_on = 320, .tags = 301, .sectors = 310}, 4, false},
};

START_TEST(edges_touch_parts_of_what_others_bring)
{
    ck_assert_int_eq(wt_ncu_touches_parts(&touching[_i].row, touching[_i].width), touching[_i].parts);
}
END_TEST

/* stencil_3d's blocks read 241 planes of 512 x 256 floats, of which DRAM brings each once; its loads of whole sectors touch
 * 5,130,240 (gpu_ref/profile/heldout.cu, the source page). The single threads at a tile's sides hit in what those brought. */
START_TEST(edges_hit_and_the_others_miss_first)
{
    struct wt_hit_rates hits = hits_in("heldout", "metrics.csv.zst", "heldout", "_Z10stencil_3dPKfPfiii", 1);
    ck_assert_double_eq_tol(hits.l2, 1 - 241.0 * 512 * 256 * 4 / (5130240.0 * 32), 0.03);
    ck_assert_double_eq(hits.l2_part, 1);
}
END_TEST

/* The first of red_random_4k's four. */
START_TEST(words_say_what_counters_would)
{
    struct wt_sass *sass = read_sass(TRACES "mixes/mixes.sass.zst");
    struct wt_atomic_words words;
    struct wt_sass_report report;
    ck_assert(!wt_atomic_words_parse("0x180", &words) && !wt_atomic_words_parse("0x180=0", &words));
    ck_assert(!wt_atomic_words_parse("0x180=many", &words) && !wt_atomic_words_parse("=3", &words));
    ck_assert(wt_atomic_words_parse("0x400=1024", &words));
    struct wt_sass_setup setup = {.path = "mixes.sass", .words = &words, .words_count = 1, .threads_per_block = 256,
                                  .hits = WT_HITS_UNKNOWN};
    struct wt_error err = {0};
    ck_assert_int_eq(wt_sass_find(sass, "mixes.sass", "_Z13red_random_4kPji", &setup.function, &err), WT_OK);
    struct wt_program *program = program_of(&setup, &report);
    ck_assert_double_eq((double)program->accesses[at_place(program, words.address)->access].words, 1024);
    wt_program_free(program);
    wt_sass_free(sass);
}
END_TEST

/* k_fma's loop is unrolled 16 times; its blocks' work was 2000. Without counts the rest runs once. */
START_TEST(trips_say_what_counts_would)
{
    struct wt_sass *sass = read_sass(TRACES "h200/k_fma.sass.zst");
    struct wt_trip trip;
    struct wt_sass_report report;
    ck_assert(wt_trip_parse("0x2b0=0.0625*work", &trip));
    struct wt_sass_setup setup = {.path = "k_fma.sass", .function = &sass->functions[0], .trips = &trip, .trip_count = 1,
                                  .threads_per_block = 256, .hits = WT_HITS_UNKNOWN};
    struct wt_program *program = program_of(&setup, &report);
    program->work = 2000;
    check_within(simulated_per_warp(program, 256, 8), 79204352.0 / 32768, 0.02);
    ck_assert_int_eq(report.assumed_loops, 2);
    wt_program_free(program);
    wt_sass_free(sass);
}
END_TEST

static const struct {
    const char *text;
    double base, per_work; /* base negative: refused */
    uint32_t address;
    enum wt_draw draw;
    double spread;
} trips[] = {
    {"0x820=16", 16, 0, 0x820},     {"820=work", 0, 1, 0x820},        {"0x820=0.25*work", 0, 0.25, 0x820},
    {"820=4+2*work", 4, 2, 0x820},  {"820=2*work+4", 4, 2, 0x820},    {"0x820", -1, 0, 0},
    {"0x820=", -1, 0, 0},           {"0x820=often", -1, 0, 0},        {"=16", -1, 0, 0},
    {"0x820=16x", -1, 0, 0},        {"0x820=2*", -1, 0, 0},           {"0x820=1e99", -1, 0, 0},
    {"0x820=-3", -1, 0, 0},
    {"0x820=4..67", 4, 0, 0x820, WT_DRAW_UNIFORM, 63}, {"0x820=7..7", 7, 0, 0x820, WT_DRAW_UNIFORM, 0},
    {"0x820=~12.5", 12.5, 0, 0x820, WT_DRAW_GEOMETRIC, 0},
    {"0x820=67..4", -1, 0, 0}, {"0x820=..4", -1, 0, 0}, {"0x820=4..", -1, 0, 0}, {"0x820=4..7x", -1, 0, 0},
    {"0x820=1.5..7", -1, 0, 0}, {"0x820=~", -1, 0, 0}, {"0x820=~0.5", -1, 0, 0}, {"0x820=~2x", -1, 0, 0},
};

START_TEST(trips_are_numbers_and_work)
{
    struct wt_trip trip;
    ck_assert_int_eq(wt_trip_parse(trips[_i].text, &trip), trips[_i].base >= 0);
    if (trips[_i].base < 0)
        return;
    ck_assert_uint_eq(trip.address, trips[_i].address);
    ck_assert_double_eq(trip.count.base, trips[_i].base);
    ck_assert_double_eq(trip.count.per_work, trips[_i].per_work);
    ck_assert_double_eq(trip.count.spread, trips[_i].spread);
    ck_assert_int_eq(trip.count.draw, trips[_i].draw);
}
END_TEST

/* ---- Operands ---- */

/* One after the other: what one keeps, the next need not read. Encodings of cc 9.0 mark FADD's second operand in the third place, which
 * IADD3's second is not (clock64: IADD3 and FADD in turn 1.06 cycles each, IADD3 and FFMA 1.55). */
static const struct {
    const char *text;
    int even, odd;
} reading[] = {
    {"FFMA R23, R5, R14, R4", 2, 1},
    {"FFMA R20, R20, R2.reuse, R3.reuse", 2, 1},
    {"FFMA R18, R18, R2.reuse, R3", 1, 0},
    {"FFMA R16, R16, R2, R3", 1, 1},
    {"IADD3 R8, R9, R4.reuse, R8", 2, 1},
    {"FADD R16, R5, R16", 1, 1},
    {"IADD3 R10, R7, R4.reuse, R10", 1, 1},
    {"FFMA R25, R5, R25, R6", 1, 2},
    {"IADD3 R10, R7, R4.reuse, R10", 2, 1},
    {"FFMA R13, R13, R13, R13", 0, 1},
    {"FFMA R7, R4, UR6, -R7", 1, 1},
    {"IADD3 R17, P0, R14, R2, RZ", 2, 0},
    {"ISETP.NE.AND P0, PT, R7, 0x1, PT", 0, 1},
    {"FMUL R10, |R10|, 4096", 1, 0},
    {"MOV R9, 0x3f800008", 0, 0},
    {"FADD R4, R9.reuse, 1", 0, 1},
    {"FADD R9, R9, 2", 0, 0},
    {"FADD R4, R9, 3", 0, 1},
};

START_TEST(operands_are_read_once_and_kept_where_they_are_marked)
{
    struct wt_reuse reuse = wt_reuse_begin();
    for (size_t i = 0; i < sizeof reading / sizeof *reading; i++) {
        struct wt_sass_instruction instruction = {.text = (char *)reading[i].text};
        uint8_t reads[2];
        memcpy(instruction.opcode, reading[i].text, strcspn(reading[i].text, ". "));
        wt_reuse_reads(&reuse, &instruction, reads);
        ck_assert_msg(reads[0] == reading[i].even && reads[1] == reading[i].odd, "%s: %d even, %d odd", reading[i].text, reads[0],
                      reads[1]);
    }
}
END_TEST

/* ---- Opcodes ---- */

#define UPPER "0x000fe20000000800"
#define LOWER "0x0000000000000000"

START_TEST(unknown_opcodes_are_named_counted_and_given_a_class)
{
    struct wt_sass *sass = sass_of(HEAD LINE("0000", "UZORK UR4, UR5", LOWER, UPPER) LINE("0010", "FZORK R1, R2", LOWER, UPPER)
                                   LINE("0020", "@P0 FZORK R1, R2", LOWER, UPPER) LINE("0030", "EXIT", LOWER, UPPER));
    struct wt_sass_report report;
    struct wt_sass_setup setup = {.path = "k.sass", .function = &sass->functions[0], .threads_per_block = 32};
    struct wt_program *program = program_of(&setup, &report);
    ck_assert_int_eq(report.unknown_names, 2);
    ck_assert_int_eq(report.unknown_count, 3);
    ck_assert_str_eq(report.unknown[0].name, "UZORK");
    ck_assert_int_eq(report.unknown[0].op, WT_OP_UNIFORM);
    ck_assert_str_eq(report.unknown[1].name, "FZORK");
    ck_assert_int_eq(report.unknown[1].count, 2);
    ck_assert_int_eq(report.unknown[1].op, WT_OP_FMA);
    ck_assert_uint_eq(program->count, 4);
    wt_program_free(program);
    wt_sass_free(sass);
}
END_TEST

/* ---- Names ---- */

/* Without counts a function is called where control comes by, and not where a branch leads past it, as to a division's rare cases. */
START_TEST(calls_are_followed_unless_jumped_over)
{
    struct wt_sass *sass = sass_of(HEAD LINE("0000", "CALL.REL.NOINC 0x60", LOWER, UPPER) LINE("0010", "@P0 BRA 0x40", LOWER, UPPER)
                                   LINE("0020", "MOV R8, 0x40", LOWER, UPPER) LINE("0030", "CALL.REL.NOINC 0x60", LOWER, UPPER)
                                   LINE("0040", "EXIT", LOWER, UPPER) LINE("0050", "BRA 0x50", LOWER, UPPER)
                                   LINE("0060", "FADD R1, R2, R3", LOWER, UPPER) LINE("0070", "RET.REL.NODEC R20 0x0", LOWER, UPPER));
    struct wt_sass_report report;
    struct wt_sass_setup setup = {.path = "k.sass", .function = &sass->functions[0], .threads_per_block = 32, .hits = WT_HITS_UNKNOWN};
    struct wt_program *program = program_of(&setup, &report);
    ck_assert_double_eq(simulated_per_warp(program, 32, 4), 5 + 2);
    wt_program_free(program);
    wt_sass_free(sass);
}
END_TEST

/* A loop of ten rounds that one warp in a hundred leaves in each: 1000 warps come to its first branch 1000 * (1 - 0.99^10) / 0.01 times,
 * and 904 of them to its end. */
START_TEST(a_loop_that_few_leave_early_keeps_its_count)
{
    struct wt_sass *sass = sass_of(HEAD LINE("0000", "NOP", LOWER, UPPER) LINE("0010", "@P0 BRA 0x40", LOWER, UPPER)
                                   LINE("0020", "NOP", LOWER, UPPER) LINE("0030", "@P1 BRA 0x10", LOWER, UPPER)
                                   LINE("0040", "EXIT", LOWER, UPPER));
    static const double executed[] = {1000, 9561.8, 9466.2, 9466.2, 1000}, taken[] = {1, 0.01, 1, 8561.8 / 9466.2, 1};
    struct wt_ncu_row rows[5];
    for (uint32_t i = 0; i < 5; i++)
        rows[i] = (struct wt_ncu_row){.address = 16 * i, .executed = executed[i], .threads = 32 * executed[i],
                                      .threads_on = 32 * executed[i] * taken[i]};
    struct wt_ncu_source source = {.kernel = (char *)"k", .rows = rows, .count = 5};
    struct wt_sass_report report;
    struct wt_sass_setup setup = {.path = "k.sass", .function = &sass->functions[0], .source = &source, .threads_per_block = 32,
                                  .hits = WT_HITS_UNKNOWN};
    struct wt_program *program = program_of(&setup, &report);
    ck_assert_uint_eq(program->instructions[3].branch, WT_BRANCH_LOOP);
    check_within(program->loops[program->instructions[3].index].base, 10, 0.001);
    wt_program_free(program);
    wt_sass_free(sass);
}
END_TEST

START_TEST(functions_are_found_by_mangled_and_plain_name)
{
    struct wt_sass *sass = read_sass(TRACES "families/families.sass.zst");
    const struct wt_sass_function *plain = NULL, *mangled = NULL;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_sass_find(sass, "f.sass", "matmul", &plain, &err), WT_OK);
    ck_assert_int_eq(wt_sass_find(sass, "f.sass", "_Z6matmulPKfS0_Pfi", &mangled, &err), WT_OK);
    ck_assert_ptr_eq(plain, mangled);
    ck_assert_int_eq(wt_sass_find(sass, "f.sass", "transpose_tiled", &plain, &err), WT_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "several functions of name transpose_tiled; choose one with --kernel") != NULL, "%s", err.text);
    ck_assert_ptr_null(strstr(err.text, "matmul"));
    err = (struct wt_error){0};
    ck_assert_int_eq(wt_sass_find(sass, "f.sass", "mat", &plain, &err), WT_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "no function of name mat") != NULL, "%s", err.text);
    ck_assert_int_eq(sass->architecture, 90);
    wt_sass_free(sass);
}
END_TEST

/* ---- Damage ---- */

#define FIRST LINE("0000", "NOP", LOWER, UPPER)

static const struct {
    const char *text, *message;
} damages[] = {
    {"hello\n", "k.sass: has no function with instructions; give the output of cuobjdump -sass"},
    {"\tcode for sm_61\n", "k.sass:1: is for sm_61; code for 7.0 and later can be read: compile with -arch=sm_75 or later"},
    {FIRST, "k.sass:1: is an instruction before any 'Function :' line; the start is missing"},
    {HEAD FIRST FIRST, "k.sass:5: is address 0x0, where 0x10 comes next; lines are missing, or the code is older than compute "
                       "capability 7.0"},
    {HEAD FIRST "        /*0010*/  EXIT ;  /* 0x01 */\n", "k.sass:5: ends in the middle of an instruction; the file is cut off"},
    {HEAD FIRST "        /*0010*/  EXIT ;\n",
     "k.sass:5: lacks the encoding behind the instruction; give the output of cuobjdump -sass, not of nvdisasm"},
    {HEAD FIRST "        /*0010*/  EXIT\n", "k.sass:5: is no instruction; give the output of cuobjdump -sass as it is"},
    {HEAD FIRST "        /*0010*/  EXIT ;  /* 0x01 */\n nothing\n",
     "k.sass:6: should be the upper half of the instruction's encoding, as in /* 0x000fe20000000800 */; copy the file again"},
    {HEAD FIRST "        /*0010*/  ABCDEFGHIJKLMNOPQ R1 ;  /* 0x01 */\n",
     "k.sass:5: has no opcode of at most 15 letters; the line is damaged"},
};

START_TEST(damage_is_named_with_its_line)
{
    struct wt_sass *sass = NULL;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_sass_read_memory("k.sass", damages[_i].text, strlen(damages[_i].text), &sass, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, damages[_i].message);
    ck_assert_ptr_null(sass);
}
END_TEST

START_TEST(what_does_not_fit_together_is_refused)
{
    struct wt_sass *sass = read_sass(TRACES "h200/k_fma.sass.zst");
    struct wt_ncu_source *source = NULL;
    struct wt_program *program = NULL;
    struct wt_sass_report report;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_ncu_source_read(TRACES "h200/bar_b256.source.csv.zst", NULL, &source, &err), WT_OK);
    struct wt_sass_setup setup = {.path = "k_fma.sass", .function = &sass->functions[0], .source = source,
                                  .threads_per_block = 256};
    ck_assert_int_eq(wt_program_from_sass(&setup, &program, &report, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, "k_fma.sass:1: '_Z5k_fma3Arg' has 112 instructions, the source page 248; give the SASS of the "
                               "binary that was profiled");
    struct wt_trip trip = {.address = 0x2a0, .count = {.base = 3}};
    setup.source = NULL;
    setup.trips = &trip;
    setup.trip_count = 1;
    err = (struct wt_error){0};
    ck_assert_int_eq(wt_program_from_sass(&setup, &program, &report, &err), WT_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "--trip 0x2a0: there is no branch at that address") != NULL, "%s", err.text);
    struct wt_atomic_words words = {.address = 0x2b0, .words = 3};
    setup.trip_count = 0;
    setup.words = &words;
    setup.words_count = 1;
    err = (struct wt_error){0};
    ck_assert_int_eq(wt_program_from_sass(&setup, &program, &report, &err), WT_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "--atomic-words 0x2b0: there is no global atomic at that address") != NULL, "%s", err.text);
    wt_ncu_source_free(source);
    wt_sass_free(sass);
}
END_TEST

Suite *sass_suite(void)
{
    Suite *suite = suite_create("sass");
    TCase *tcase = tcase_create("sass");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, loads_are_booked_and_only_what_is_booked_is_waited_for, 0, sizeof files / sizeof *files);
    tcase_add_test(tcase, control_bits_are_where_the_hardware_has_them);
    tcase_add_loop_test(tcase, a_warp_executes_as_many_instructions_as_on_the_hardware, 0, sizeof launches / sizeof *launches);
    tcase_add_test(tcase, ways_tell_wavefronts_where_a_page_has_no_sum);
    tcase_add_test(tcase, rounds_are_not_taken_for_warps);
    tcase_add_test(tcase, long_rounds_drive_warps_of_a_block_apart);
    tcase_add_test(tcase, few_divided_warps_tell_of_like_neighbours);
    tcase_add_test(tcase, trips_say_what_counts_would);
    tcase_add_loop_test(tcase, edges_touch_parts_of_what_others_bring, 0, sizeof touching / sizeof *touching);
    tcase_add_test(tcase, edges_hit_and_the_others_miss_first);
    tcase_add_loop_test(tcase, counters_tell_how_many_words_atomics_meet_in, 0, sizeof counted / sizeof *counted);
    tcase_add_test(tcase, words_say_what_counters_would);
    tcase_add_loop_test(tcase, trips_are_numbers_and_work, 0, sizeof trips / sizeof *trips);
    tcase_add_test(tcase, operands_are_read_once_and_kept_where_they_are_marked);
    tcase_add_test(tcase, unknown_opcodes_are_named_counted_and_given_a_class);
    tcase_add_test(tcase, a_loop_that_few_leave_early_keeps_its_count);
    tcase_add_test(tcase, calls_are_followed_unless_jumped_over);
    tcase_add_test(tcase, functions_are_found_by_mangled_and_plain_name);
    tcase_add_loop_test(tcase, damage_is_named_with_its_line, 0, sizeof damages / sizeof *damages);
    tcase_add_test(tcase, what_does_not_fit_together_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
