/* Is a workload file read as written, and put on a GPU as described? */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "study/launches.h"
#include "study/workload.h"
#include "scratch.h"
#include "suites.h"

/* ---- Files ---- */

static struct wt_workload *read_text(const char *text)
{
    struct wt_workload *workload = NULL;
    struct wt_error err = {0};
    char *path = scratch_put("w.cfg", text);
    ck_assert_msg(wt_workload_read(path, &workload, &err) == WT_OK, "%s", err.text);
    free(path);
    return workload;
}

/* `message` follows the file's path. */
static void assert_fails(const char *text, const char *message)
{
    struct wt_workload *workload = NULL;
    struct wt_error err = {0};
    char *path = scratch_put("w.cfg", text);
    ck_assert_msg(wt_workload_read(path, &workload, &err) == WT_BAD_INPUT, "accepted: %s", text);
    ck_assert_ptr_null(workload);
    char *expected = wt_format("%s%s", path, message);
    ck_assert_str_eq(err.text, expected);
    free(expected);
    free(path);
}

static struct wt_gpu *load_gpu(const char *name)
{
    struct wt_gpu *gpu = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load(name, &gpu, &err) == WT_OK, "%s", err.text);
    return gpu;
}

static struct wt_launches *launch(const struct wt_workload *workload, const struct wt_gpu *gpu, bool mean_only)
{
    struct wt_launches *launches = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_launches_new(workload, gpu, workload->seed, mean_only, &launches, &err) == WT_OK, "%s", err.text);
    return launches;
}

static double cycles_of(const struct wt_launches *launches, size_t kernel, uint64_t block)
{
    const struct wt_cost *cost = &launches->kernels[kernel].cost;
    return wt_to_cycles(cost->duration(cost->context, block));
}

/* ---- Reading ---- */

#define CONSTANT "duration = { distribution = \"constant\"; cycles = 1000; };"

START_TEST(every_key_arrives)
{
    struct wt_workload *w = read_text("title = \"two\"; gpu = \"t4\"; placement = \"shuffle\"; seed = 77;\n"
                                      "kernels = (\n"
                                      "{ name = \"a\"; grid = [10, 20, 30]; block = [16, 8, 2]; registers = 40;\n"
                                      "  static_shared = 1000; dynamic_shared = 2000; carveout_kb = 64; barriers = 3;\n"
                                      "  repeat = 5; " CONSTANT " },\n"
                                      "{ grid = 2000000000; block = 96; " CONSTANT " });");
    ck_assert_str_eq(w->title, "two");
    ck_assert_str_eq(w->gpu, "t4");
    ck_assert_str_eq(w->placement, "shuffle");
    ck_assert_uint_eq(w->seed, 77);
    ck_assert_uint_eq(w->kernel_count, 2);
    const struct wt_workload_kernel *a = &w->kernels[0], *b = &w->kernels[1];
    ck_assert_str_eq(a->name, "a");
    ck_assert_uint_eq(a->grid_blocks, 6000);
    ck_assert_int_eq(a->needs.threads, 256);
    ck_assert_int_eq(a->needs.registers_per_thread, 40);
    ck_assert_int_eq(a->needs.static_shared_bytes, 1000);
    ck_assert_int_eq(a->needs.dynamic_shared_bytes, 2000);
    ck_assert_int_eq(a->needs.carveout_kb, 64);
    ck_assert_int_eq(a->needs.barriers, 3);
    ck_assert_int_eq(a->repeat, 5);
    ck_assert_int_eq(a->line, 3);
    ck_assert_str_eq(a->distribution->name, "constant");
    ck_assert_str_eq(b->name, "kernel1");
    ck_assert_uint_eq(b->grid_blocks, 2000000000);
    ck_assert_int_eq(b->needs.threads, 96);
    ck_assert_int_eq(b->needs.carveout_kb, WT_CARVEOUT_DEFAULT);
    ck_assert_int_eq(b->repeat, 1);
    wt_workload_free(w);
}
END_TEST

START_TEST(defaults_need_no_more_than_a_kernel)
{
    struct wt_workload *w = read_text("kernels = ({ grid = 1; block = 32; " CONSTANT " });");
    ck_assert_str_eq(w->title, "w");
    ck_assert_ptr_null(w->gpu);
    ck_assert_ptr_null(w->placement);
    ck_assert_uint_eq(w->seed, 1);
    wt_workload_free(w);
}
END_TEST

/* A GPU's file is found from the workload's folder, a GPU's name is left as it is. */
START_TEST(gpu_file_is_beside_the_workload)
{
    struct wt_workload *w = read_text("gpu = \"mine.cfg\"; kernels = ({ grid = 1; block = 32; " CONSTANT " });");
    char *expected = wt_format("%s/mine.cfg", scratch);
    ck_assert_str_eq(w->gpu, expected);
    free(expected);
    wt_workload_free(w);
    w = read_text("gpu = \"/a/b.cfg\"; kernels = ({ grid = 1; block = 32; " CONSTANT " });");
    ck_assert_str_eq(w->gpu, "/a/b.cfg");
    wt_workload_free(w);
}
END_TEST

START_TEST(mistakes_are_named_with_their_line)
{
    assert_fails("seed = 1;", ": 'kernels' is missing (the kernels, which run one after another, or as 'host' says); write e.g. kernels = "
                              "( { … }, { … } );");
    assert_fails("kernels = ();", ": 'kernels' is empty; describe at least one");
    assert_fails("sed = 1;\nkernels = ();", ":1: unknown key 'sed'; did you mean 'seed'?");
    assert_fails("kernels = (\n{ grid = 1; blok = 32; " CONSTANT " });", ":2: unknown key 'blok'; did you mean 'block'?");
    assert_fails("kernels = (\n{ block = 32; " CONSTANT " });", ":2: 'grid' is missing; write e.g. grid = 256;");
    assert_fails("kernels = (\n{ grid = 1; block = []; " CONSTANT " });", ":2: 'block' is missing; write e.g. block = 256;");
    assert_fails("kernels = (\n{ grid = 1; block = 32; });",
                 ":2: 'duration' is missing (how long each block lasts); write e.g. duration = { … };");
    assert_fails("kernels = ({ grid = 1; block = 32;\nduration = { cycles = 4; }; });",
                 ":2: 'duration' names no distribution; write e.g. distribution = \"constant\"; cycles = 1000;");
    assert_fails("kernels = ({ grid = 1; block = 32;\nduration = { distribution = \"lognorml\"; }; });",
                 ":2: no distribution 'lognorml'; did you mean 'lognormal'?");
    assert_fails("kernels = ({ grid = 1; block = 32;\nduration = { distribution = \"zipf\"; }; });",
                 ":2: no distribution 'zipf'; there are trace, constant, uniform, normal, lognormal, exponential, pareto, "
                 "bimodal, outlier, ramp, list");
    assert_fails("kernels = ({ grid = 1; block = 32; duration = {\ndistribution = \"constant\";\ncycle = 1; }; });",
                 ":3: unknown key 'cycle'; did you mean 'cycles'?");
    assert_fails("kernels = (\n{ grid = [1, 70000]; block = 32; " CONSTANT " });", ":2: 'grid': y and z are at most 65535");
    assert_fails("kernels = (\n{ grid = 1; block = [1, 1, 65]; " CONSTANT " });", ":2: 'block': z is at most 64");
    assert_fails("kernels = (\n{ grid = 1; block = 32; " CONSTANT "\n repeat = 0; });",
                 ":3: 'repeat' = 0 is out of range; give 1 to 10000");
}
END_TEST

START_TEST(too_many_launches_are_refused)
{
    char *kernels = wt_strdup("kernels = (");
    for (int i = 0; i < 11; i++) {
        char *more = wt_format("%s%s{ grid = 1; block = 32; repeat = 10000; " CONSTANT " }", kernels, i ? "," : "");
        free(kernels);
        kernels = more;
    }
    char *text = wt_format("%s);", kernels);
    assert_fails(text, ": 110000 launches; give at most 100000");
    free(kernels);
    free(text);
}
END_TEST

START_TEST(clusters_divide_the_grid)
{
    static const struct {
        const char *keys, *what;
    } cases[] = {
        {"cluster = 2;", "'cluster': the grid is no multiple of it; make each dimension one"},
        {"cluster = [1, 2, 2];", "'cluster': the grid is no multiple of it; make each dimension one"},
        {"cluster = [5, 5];", "'cluster': a cluster has at most 16 blocks"},
        {"cluster = [5, 3]; split = 2;", "'split': not simulated for clusters; remove it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = wt_format("kernels = ({ grid = [15, 15, 1]; block = 32; " CONSTANT "\n%s });", cases[i].keys);
        char *expected = wt_format("%s/w.cfg:2: %s", scratch, cases[i].what), *path = scratch_put("w.cfg", text);
        struct wt_workload *workload = NULL;
        struct wt_error err = {0};
        ck_assert_int_eq(wt_workload_read(path, &workload, &err), WT_BAD_INPUT);
        ck_assert_str_eq(err.text, expected);
        free(text);
        free(expected);
        free(path);
    }
    struct wt_workload *workload = read_text("kernels = ({ grid = [15, 6]; block = 32; " CONSTANT " cluster = [5, 3]; },"
                                             "{ grid = 1; block = 32; " CONSTANT " stream = 0; cluster = [1, 1, 1]; });");
    ck_assert_int_eq(workload->kernels[0].cluster, 15);
    ck_assert_int_eq(workload->kernels[1].cluster, 1);
    wt_workload_free(workload);
}
END_TEST

START_TEST(missing_file_is_named)
{
    struct wt_workload *workload = NULL;
    struct wt_error err = {0};
    char *path = wt_format("%s/none.cfg", scratch);
    ck_assert_int_eq(wt_workload_read(path, &workload, &err), WT_BAD_INPUT);
    ck_assert_msg(!strncmp(err.text, path, strlen(path)), "%s", err.text);
    free(path);
}
END_TEST

/* ---- Durations from a trace ---- */

static const char trace_text[] = "# wavetail-trace 1\n"
                                 "# device = test\n"
                                 "# sm_count = 2\n"
                                 "# launch 4: name=first grid=3,1,1 block=64,2,1 regs=24 static_smem=512 dynamic_smem=1024\n"
                                 "# launch 7: name=second grid=2,1,1 block=32,1,1\n"
                                 "launch,block,sm,clock_start,clock_end,time_start_ns,time_end_ns,work,warp_slot\n"
                                 "4,0,0,1000,1500,0,256,0,0\n"
                                 "4,2,0,2000,2900,512,960,0,0\n"
                                 "4,1,1,1000,1700,0,352,0,0\n"
                                 "7,0,0,9000,9010,4000,4005,0,0\n"
                                 "7,1,1,9000,9020,4000,4010,0,0\n";

#define KERNEL_OF_TRACE(more) "kernels = ({ " more " duration = { distribution = \"trace\"; file = \"t.csv\"; }; });"

START_TEST(trace_gives_durations_and_shape)
{
    scratch_write("t.csv", trace_text);
    struct wt_workload *w = read_text(KERNEL_OF_TRACE(""));
    const struct wt_workload_kernel *k = &w->kernels[0];
    ck_assert_str_eq(k->name, "first");
    ck_assert_uint_eq(k->grid_blocks, 3);
    ck_assert_int_eq(k->needs.threads, 128);
    ck_assert_int_eq(k->needs.registers_per_thread, 24);
    ck_assert_int_eq(k->needs.static_shared_bytes, 512);
    ck_assert_int_eq(k->needs.dynamic_shared_bytes, 1024);
    struct wt_gpu *gpu = load_gpu("h200");
    struct wt_launches *launches = launch(w, gpu, false);
    static const double measured[] = {500, 700, 900};
    for (uint64_t block = 0; block < 3; block++)
        ck_assert_double_eq(cycles_of(launches, 0, block), measured[block]);
    wt_launches_free(launches);
    wt_gpu_free(gpu);
    wt_workload_free(w);
}
END_TEST

START_TEST(file_overrides_the_traces_shape_and_chooses_the_launch)
{
    scratch_write("t.csv", trace_text);
    struct wt_workload *w = read_text("kernels = ({ name = \"mine\"; block = 1024; registers = 64; duration = "
                                      "{ distribution = \"trace\"; file = \"t.csv\"; launch = 7; }; });");
    const struct wt_workload_kernel *k = &w->kernels[0];
    ck_assert_str_eq(k->name, "mine");
    ck_assert_uint_eq(k->grid_blocks, 2);
    ck_assert_int_eq(k->needs.threads, 1024);
    ck_assert_int_eq(k->needs.registers_per_thread, 64);
    wt_workload_free(w);
}
END_TEST

START_TEST(unsuitable_traces_are_refused)
{
    char *message = wt_format(":1: %s/t.csv has no blocks of launch 5; give another launch", scratch);
    scratch_write("t.csv", trace_text);
    assert_fails("kernels = ({ duration = { distribution = \"trace\"; file = \"t.csv\"; launch = 5; }; });", message);
    free(message);
    scratch_write("t.csv", "# launch 0: grid=3,1,1 block=64,2,1\nlaunch,block,sm,clock_start,clock_end\n0,0,0,1,5\n0,2,0,1,5\n");
    message = wt_format(":1: %s/t.csv: launch 0 has not exactly one row for each of its 3 blocks; take a complete capture "
                        "of an ordinary launch", scratch);
    assert_fails(KERNEL_OF_TRACE(""), message);
    free(message);
    scratch_write("t.csv", "launch,block,sm,clock_start,clock_end\n0,0,0,1,5\n");
    assert_fails(KERNEL_OF_TRACE(""), ":1: 'block': the trace does not state it; give the threads of a block");
    scratch_write("t.csv", "launch,block,sm,time_start_ns,time_end_ns\n0,0,0,1,5\n");
    message = wt_format(":1: %s/t.csv has times but no clock rate; add '# clock_khz = …' to it", scratch);
    assert_fails(KERNEL_OF_TRACE("block = 32;"), message);
    free(message);
}
END_TEST

/* ---- On a GPU ---- */

START_TEST(repeats_become_launches_with_draws_of_their_own)
{
    struct wt_workload *w = read_text(
        "kernels = ({ name = \"a\"; grid = 100; block = 64; repeat = 3;\n"
        "  duration = { distribution = \"lognormal\"; mean = 5000; sigma = 1; }; }, { grid = 5; block = 32; " CONSTANT " });");
    struct wt_gpu *gpu = load_gpu("h200");
    struct wt_launches *launches = launch(w, gpu, false);
    ck_assert_uint_eq(launches->count, 4);
    ck_assert_uint_eq(launches->about->launch_count, 4);
    ck_assert_str_eq(launches->kernels[2].name, "a");
    ck_assert_uint_eq(launches->kernels[3].grid_blocks, 5);
    ck_assert_uint_eq(launches->about->launches[3].grid_blocks, 5);
    ck_assert_int_eq(launches->about->launches[0].warps_per_block, 2);
    ck_assert_int_eq(launches->about->launches[0].blocks_per_sm, 32); /* 2048 threads / 64, at 32 registers */
    ck_assert_double_ne(cycles_of(launches, 0, 0), cycles_of(launches, 1, 0));
    wt_launches_free(launches);
    launches = launch(w, gpu, true);
    for (uint64_t block = 0; block < 100; block++)
        ck_assert_double_eq(cycles_of(launches, 1, block), 5000);
    wt_launches_free(launches);
    wt_gpu_free(gpu);
    wt_workload_free(w);
}
END_TEST

/* Failures that only a GPU or the grid's size can bring still say where the file is wrong. */
START_TEST(impossible_launches_name_their_line)
{
    static const struct {
        const char *text, *place;
    } cases[] = {
        {"kernels = (\n{ grid = 1; block = 1024; registers = 255; " CONSTANT " });", "w.cfg:2: kernel 'kernel0' on "},
        {"kernels = (\n{ grid = 1; block = [1024, 2]; " CONSTANT " });", "w.cfg:2: kernel 'kernel0' on "},
        {"kernels = ({ grid = 3; block = 32;\nduration = { distribution = \"list\"; cycles = [1.0, 2.0]; }; });",
         "w.cfg:2: kernel 'kernel0': 2 durations for a grid of 3 blocks"},
    };
    struct wt_gpu *gpu = load_gpu("h200");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wt_workload *w = read_text(cases[i].text);
        struct wt_launches *launches = NULL;
        struct wt_error err = {0};
        ck_assert_int_eq(wt_launches_new(w, gpu, 1, false, &launches, &err), WT_BAD_INPUT);
        ck_assert_ptr_null(launches);
        ck_assert_msg(strstr(err.text, cases[i].place) != NULL, "%s", err.text);
        wt_workload_free(w);
    }
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(shipped_workloads_fit_their_gpus)
{
    glob_t files;
    ck_assert_int_eq(glob(WT_SOURCE_CONFIGS "/workloads/*.cfg", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct wt_workload *w = NULL;
        struct wt_error err = {0};
        ck_assert_msg(wt_workload_read(files.gl_pathv[i], &w, &err) == WT_OK, "%s", err.text);
        ck_assert_msg(w->gpu != NULL, "%s names no GPU", files.gl_pathv[i]);
        struct wt_gpu *gpu = load_gpu(w->gpu);
        wt_launches_free(launch(w, gpu, false));
        wt_gpu_free(gpu);
        wt_workload_free(w);
    }
    globfree(&files);
}
END_TEST

Suite *workload_suite(void)
{
    Suite *suite = suite_create("workload");
    TCase *tcase = tcase_create("workload");
    tcase_add_checked_fixture(tcase, scratch_enter, scratch_leave);
    tcase_add_test(tcase, every_key_arrives);
    tcase_add_test(tcase, defaults_need_no_more_than_a_kernel);
    tcase_add_test(tcase, gpu_file_is_beside_the_workload);
    tcase_add_test(tcase, mistakes_are_named_with_their_line);
    tcase_add_test(tcase, too_many_launches_are_refused);
    tcase_add_test(tcase, clusters_divide_the_grid);
    tcase_add_test(tcase, missing_file_is_named);
    tcase_add_test(tcase, trace_gives_durations_and_shape);
    tcase_add_test(tcase, file_overrides_the_traces_shape_and_chooses_the_launch);
    tcase_add_test(tcase, unsuitable_traces_are_refused);
    tcase_add_test(tcase, repeats_become_launches_with_draws_of_their_own);
    tcase_add_test(tcase, impossible_launches_name_their_line);
    tcase_add_test(tcase, shipped_workloads_fit_their_gpus);
    suite_add_tcase(suite, tcase);
    return suite;
}
