/* Does what other tools print become the same thing in this project's files?
 *
 * SASS for ten compute capabilities and both tables of resources come from NVIDIA's tools (traces/ncu/architectures); how many
 * registers and bytes the hardware took is Nsight Compute's figure for the same kernels. */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "suites.h"
#include "warp/from_sass.h"
#include "warp/resources.h"
#include "warp/text.h"
#include "warp_part.h"

#define TRACES WT_SOURCE_ROOT "/traces/ncu/"

/* ---- Programs as text ---- */

static void check_instructions(const struct wt_program *a, const struct wt_program *b)
{
    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct wt_instruction *x = &a->instructions[i], *y = &b->instructions[i];
        bool same = x->op == y->op && x->branch == y->branch && x->index == y->index && x->stall == y->stall &&
                    x->write_board == y->write_board && x->read_board == y->read_board && x->wait_boards == y->wait_boards &&
                    x->yield == y->yield && x->blocks == y->blocks && x->latency == y->latency && x->interval == y->interval &&
                    x->active == y->active &&
                    x->chance == y->chance && x->drift == y->drift && !memcmp(x->reads, y->reads, sizeof x->reads) &&
                    (x->target == y->target || x->op != WT_OP_BRANCH);
        ck_assert_msg(same, "%s: instruction %zu, %s", a->name, i, a->texts[i] ? a->texts[i] : "");
        if (x->op != WT_OP_MEMORY)
            continue;
        const struct wt_access *m = &a->accesses[x->access], *n = &b->accesses[y->access];
        same = m->space == n->space && m->kind == n->kind && m->width_bytes == n->width_bytes && m->lines == n->lines &&
               m->sectors == n->sectors && m->bytes == n->bytes && m->wavefronts == n->wavefronts &&
               m->l1_hit == n->l1_hit && m->l2_hit == n->l2_hit && m->footprint_mib == n->footprint_mib && m->scattered == n->scattered;
        ck_assert_msg(same, "%s: access of instruction %zu, %s", a->name, i, a->texts[i] ? a->texts[i] : "");
    }
}

static void check_same(const struct wt_program *a, const struct wt_program *b)
{
    check_instructions(a, b);
    ck_assert_double_eq(a->work, b->work);
    ck_assert_uint_eq(a->loop_count, b->loop_count);
    for (size_t i = 0; i < a->loop_count; i++) {
        const struct wt_count *x = &a->loops[i], *y = &b->loops[i];
        ck_assert(x->draw == y->draw && x->base == y->base && x->per_work == y->per_work && x->spread == y->spread &&
                  x->per_block == y->per_block);
    }
    ck_assert_uint_eq(a->split_count, b->split_count);
    for (size_t i = 0; i < a->split_count; i++)
        ck_assert(a->splits[i].both == b->splits[i].both);
}

static struct wt_program *written_and_read(const struct wt_program *program)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    wt_text_write(program, true, stream);
    fclose(stream);
    struct wt_program *again = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_text_parse(text, size, "again.wtp", &again, &err) == WT_OK, "%s", err.text);
    free(text);
    return again;
}

START_TEST(programs_of_the_language_survive_being_written)
{
    glob_t files;
    ck_assert_int_eq(glob(WT_SOURCE_CONFIGS "/workloads/programs/*.wtp", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct wt_program *program = NULL;
        struct wt_error err = {0};
        ck_assert_msg(wt_text_read(files.gl_pathv[i], &program, &err) == WT_OK, "%s", err.text);
        struct wt_program *again = written_and_read(program);
        check_same(program, again);
        wt_program_free(again);
        wt_program_free(program);
    }
    globfree(&files);
}
END_TEST

static const char everything[] =
    "work 3.5\nloop 0.25 * work + 2 per block {\n loop uniform 1 7 { loop geometric 3.25 { nop } }\n"
    " if 0.3 both=0.4 { ldg.64 r4, [r2] l1=0.1 l2=0.7 footprint=12 } else { stg [r2], r4 stride=256 }\n"
    " first-warp { atomg r1, [r2] ways=7.5\n red [r2], r1 }\n lds r1, [r3] stride=8\n atoms r1, [r2]\n ldl r1, [r2]\n stl [r2], r1\n}\n"
    "stas [r1], r2\nredas [r1], r2\ntex r1, r2\nsust r1\nsuatom r1, r2\nsured r1\nexit chance=0.125\nexit never\nexit later-warps\n"
    "ffma r1, r2 active=0.3 latency=9 interval=3 yield\nbra end chance=0.75\nbssy\nbsync\nmembar\nnanosleep\nvote r1\nend:\n";

START_TEST(every_statement_survives_being_written)
{
    struct wt_program *program = parsed_program(everything), *again = written_and_read(program);
    check_same(program, again);
    wt_program_free(again);
    wt_program_free(program);
}
END_TEST

/* ---- SASS ---- */

static struct wt_program *program_of(const struct wt_sass_function *function, const struct wt_ncu_source *source)
{
    struct wt_sass_setup setup = {.path = "k.sass", .function = function, .source = source, .threads_per_block = 256,
                                  .hits = WT_HITS_UNKNOWN};
    struct wt_program *program = NULL;
    struct wt_sass_report report;
    struct wt_error err = {0};
    ck_assert_msg(wt_program_from_sass(&setup, &program, &report, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(report.unknown_count == 0, "%s: %s", function->name, report.unknown[0].name);
    return program;
}

static const char *const sass_files[] = {
    "architectures/families.sm_75.sass.zst",  "architectures/families.sm_80.sass.zst",  "architectures/families.sm_86.sass.zst",
    "architectures/families.sm_89.sass.zst",  "families/families.sass.zst",             "architectures/families.sm_100.sass.zst",
    "architectures/families.sm_103.sass.zst", "architectures/families.sm_110.sass.zst", "architectures/families.sm_120.sass.zst"};
static const int architectures[] = {75, 80, 86, 89, 90, 100, 103, 110, 120};

START_TEST(sass_of_every_architecture_survives_being_written)
{
    char *path = wt_format(TRACES "%s", sass_files[_i]);
    struct wt_sass *sass = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_sass_read(path, &sass, &err) == WT_OK, "%s", err.text);
    ck_assert_int_eq(sass->architecture, architectures[_i]);
    ck_assert_uint_eq(sass->count, 15);
    for (size_t i = 0; i < sass->count; i++) {
        struct wt_program *program = program_of(&sass->functions[i], NULL), *again = written_and_read(program);
        check_same(program, again);
        wt_program_free(again);
        wt_program_free(program);
    }
    wt_sass_free(sass);
    free(path);
}
END_TEST

static struct wt_warp_result result_of(struct wt_program *program)
{
    struct warp_part_run run = {.gpu = part_of_h200(), .program = program, .threads = 256, .blocks = 40};
    simulate_part(&run);
    wt_gpu_free(run.gpu);
    return run.result;
}

static const char *const counted[] = {"bar_b256", "chase_b256", "mix_b256"}, *const counted_sass[] = {"k_bar", "k_chase", "k_mix"};

START_TEST(an_imported_program_runs_as_the_sass_does)
{
    char *sass_path = wt_format(TRACES "h200/%s.sass.zst", counted_sass[_i]);
    char *source_path = wt_format(TRACES "h200/%s.source.csv.zst", counted[_i]);
    struct wt_sass *sass = NULL;
    struct wt_ncu_source *source = NULL;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_sass_read(sass_path, &sass, &err), WT_OK);
    ck_assert_int_eq(wt_ncu_source_read(source_path, NULL, &source, &err), WT_OK);
    struct wt_program *program = program_of(&sass->functions[0], source), *again = written_and_read(program);
    check_same(program, again);
    struct wt_warp_result a = result_of(program), b = result_of(again);
    ck_assert_mem_eq(&a.total, &b.total, sizeof a.total);
    ck_assert_double_eq(a.elapsed_cycles, b.elapsed_cycles);
    wt_program_free(again);
    wt_program_free(program);
    wt_ncu_source_free(source);
    wt_sass_free(sass);
    free(source_path);
    free(sass_path);
}
END_TEST

/* ---- Counts ---- */

START_TEST(counts_survive_being_written)
{
    struct wt_ncu_source *source = NULL, *again = NULL;
    struct wt_error err = {0};
    char *text = NULL;
    size_t size = 0;
    ck_assert_int_eq(wt_ncu_source_read(TRACES "families/branchy.source.csv.zst", NULL, &source, &err), WT_OK);
    FILE *stream = open_memstream(&text, &size);
    wt_ncu_source_write(source, stream);
    fclose(stream);
    ck_assert_msg(wt_ncu_source_read_memory("again", text, size, "branchy", &again, &err) == WT_OK, "%s", err.text);
    ck_assert_uint_eq(source->count, again->count);
    ck_assert_str_eq(source->kernel, again->kernel);
    ck_assert_mem_eq(source->rows, again->rows, source->count * sizeof *source->rows);
    wt_ncu_source_free(again);
    wt_ncu_source_free(source);
    free(text);
}
END_TEST

/* ---- Resources ---- */

static struct wt_resources *resources_of(const char *file)
{
    char *path = wt_format(TRACES "architectures/%s", file);
    struct wt_resources *all = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_resources_read(path, &all, &err) == WT_OK, "%s", err.text);
    free(path);
    return all;
}

static const struct wt_kernel_resources *find(const struct wt_resources *all, const char *name, int architecture)
{
    for (size_t i = 0; i < all->count; i++)
        if (strstr(all->kernels[i].name, name) && all->kernels[i].architecture == architecture)
            return &all->kernels[i];
    ck_abort_msg("no %s", name);
    return NULL;
}

/* A register fewer or a byte more in that table is a launch that the hardware did otherwise. It gives 16 registers at least. */
START_TEST(resources_are_what_the_hardware_took)
{
    struct wt_resources *all = resources_of("families.sm_90.res-usage.txt");
    FILE *list = fopen(TRACES "families/kernels.txt", "r");
    char line[512], function[128];
    int registers, static_bytes, checked = 0;
    ck_assert_ptr_nonnull(list);
    ck_assert(all->reserved_taken_off);
    while (fgets(line, sizeof line, list)) {
        if (sscanf(line, "%*s %127s %*s %*s %*s %*s %d %d", function, &registers, &static_bytes) != 3)
            continue;
        const struct wt_kernel_resources *kernel = find(all, function, 0);
        ck_assert_int_eq(kernel->registers < 16 ? 16 : kernel->registers, registers);
        ck_assert_int_eq(kernel->static_shared_bytes, static_bytes);
        checked++;
    }
    ck_assert_int_eq(checked, 17);
    fclose(list);
    wt_resources_free(all);
}
END_TEST

static const struct wt_kernel_resources ptxas[] = {
    {.name = "spills", .architecture = 75, .registers = 64, .stack_bytes = 144,
     .spill_store_bytes = 408, .spill_load_bytes = 404, .barriers = 1},
    {.name = "spills", .architecture = 90, .registers = 32, .stack_bytes = 736,
     .spill_store_bytes = 1576, .spill_load_bytes = 1632, .barriers = 1},
    {.name = "calls", .architecture = 120, .registers = 16, .stack_bytes = 32, .barriers = 0},
    {.name = "tile", .architecture = 75, .registers = 12, .static_shared_bytes = 4224, .barriers = 1},
    {.name = "tile", .architecture = 120, .registers = 14, .static_shared_bytes = 4224, .barriers = 1},
    {.name = "plain", .architecture = 100, .registers = 8, .barriers = 0},
};

START_TEST(ptxas_tells_registers_stack_spills_and_barriers)
{
    struct wt_resources *all = resources_of("ptxas.txt");
    const struct wt_kernel_resources *expected = &ptxas[_i], *kernel = find(all, expected->name, expected->architecture);
    ck_assert_uint_eq(all->count, 4 * 5);
    ck_assert_int_eq(kernel->registers, expected->registers);
    ck_assert_int_eq(kernel->static_shared_bytes, expected->static_shared_bytes);
    ck_assert_int_eq(kernel->stack_bytes, expected->stack_bytes);
    ck_assert_int_eq(kernel->spill_store_bytes, expected->spill_store_bytes);
    ck_assert_int_eq(kernel->spill_load_bytes, expected->spill_load_bytes);
    ck_assert_int_eq(kernel->barriers, expected->barriers);
    wt_resources_free(all);
}
END_TEST

#define ENTRY "ptxas info    : Compiling entry function '_Z1k' for 'sm_80'\n"

/* Lines of older compilers, as their documentation shows them. */
START_TEST(older_forms_are_read)
{
    static const char text[] = ENTRY "ptxas info    : Used 20 registers, 4096+16 bytes smem, 40 bytes cmem[0]\n"
                               "Fatbin elf code:\n================\narch = sm_86\nResource usage:\n Common:\n  GLOBAL:0\n Function _Z2k2:\n"
                               "  REG:22 STACK:8 SHARED:5248 LOCAL:0 CONSTANT[0]:548 TEXTURE:0 SURFACE:0 SAMPLER:0\n";
    struct wt_resources *all = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_resources_read_memory("r", text, strlen(text), &all, &err) == WT_OK, "%s", err.text);
    ck_assert_uint_eq(all->count, 2);
    ck_assert_int_eq(all->kernels[0].static_shared_bytes, 4112);
    ck_assert_int_eq(all->kernels[0].barriers, -1);
    ck_assert_int_eq(all->kernels[1].architecture, 86);
    ck_assert_int_eq(all->kernels[1].static_shared_bytes, 5248); /* the reserved bytes count from 9.0 on */
    ck_assert_int_eq(all->kernels[1].stack_bytes, 8);
    wt_resources_free(all);
}
END_TEST

static const struct {
    const char *text, *message;
} damages[] = {
    {"nothing\n", "r.txt: tells no kernel's registers; give what nvcc -Xptxas -v or cuobjdump -res-usage prints"},
    {ENTRY, "r.txt:1: '_Z1k' has no line that tells its registers; the file is cut off"},
    {ENTRY ENTRY, "r.txt:1: '_Z1k' has no line that tells its registers; the file is cut off"},
    {ENTRY "ptxas info    : Used many registers\n", "r.txt:2: tells no number of registers from 0 to 255; the line is damaged"},
    {"ptxas info    : Compiling entry function '_Z1k' for sm_80\n", "r.txt:1: names no kernel and architecture; the line is damaged"},
    {" Function k:\n  REG:3000 SHARED:0\n", "r.txt:2: tells no REG: from 0 to 255 and SHARED:; the line is damaged"},
};

START_TEST(damage_is_named_with_its_line)
{
    struct wt_resources *all = NULL;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_resources_read_memory("r.txt", damages[_i].text, strlen(damages[_i].text), &all, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, damages[_i].message);
    ck_assert_ptr_null(all);
}
END_TEST

Suite *import_suite(void)
{
    Suite *suite = suite_create("import");
    TCase *tcase = tcase_create("import");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, programs_of_the_language_survive_being_written);
    tcase_add_test(tcase, every_statement_survives_being_written);
    tcase_add_loop_test(tcase, sass_of_every_architecture_survives_being_written, 0, sizeof sass_files / sizeof *sass_files);
    tcase_add_loop_test(tcase, an_imported_program_runs_as_the_sass_does, 0, sizeof counted / sizeof *counted);
    tcase_add_test(tcase, counts_survive_being_written);
    tcase_add_test(tcase, resources_are_what_the_hardware_took);
    tcase_add_loop_test(tcase, ptxas_tells_registers_stack_spills_and_barriers, 0, sizeof ptxas / sizeof *ptxas);
    tcase_add_test(tcase, older_forms_are_read);
    tcase_add_loop_test(tcase, damage_is_named_with_its_line, 0, sizeof damages / sizeof *damages);
    suite_add_tcase(suite, tcase);
    return suite;
}
