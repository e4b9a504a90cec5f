/* Are Nsight Compute's two pages read as they are meant?
 *
 * Both were captured from the same launches: what one counts per instruction, the other counts as a whole. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/warps.h"
#include "suites.h"

#define TRACES WT_SOURCE_ROOT "/traces/ncu/"

static struct wt_ncu_metrics *read_metrics(const char *folder)
{
    char *path = wt_format(TRACES "%s/metrics.csv", folder);
    struct wt_ncu_metrics *metrics = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_ncu_metrics_read(path, &metrics, &err) == WT_OK, "%s", err.text);
    free(path);
    return metrics;
}

static struct wt_ncu_source *read_source(const char *path, const char *kernel)
{
    struct wt_ncu_source *source = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_ncu_source_read(path, kernel, &source, &err) == WT_OK, "%s", err.text);
    return source;
}

static double executed_in_all(const struct wt_ncu_source *source)
{
    double sum = 0;
    for (size_t i = 0; i < source->count; i++)
        sum += source->rows[i].executed;
    return sum;
}

/* ---- The same launch on both pages ---- */

struct launch {
    char name[32], function[64], source[64], sass[64];
    unsigned long blocks, threads, static_bytes, dynamic_bytes;
};

static bool next_launch(FILE *list, struct launch *l)
{
    char line[512];
    while (fgets(line, sizeof line, list))
        if (sscanf(line, "%31s %63s %63s %63s %lu %lu %*d %lu %lu", l->name, l->function, l->source, l->sass, &l->blocks,
                   &l->threads, &l->static_bytes, &l->dynamic_bytes) == 8 && line[0] != '#')
            return true;
    return false;
}

/* The source page names its launch in front of the first dot. */
static bool is_its_own(const struct launch *l)
{
    size_t length = strlen(l->name);
    return !strncmp(l->source, l->name, length) && l->source[length] == '.';
}

static void check_launch(const char *folder, const struct wt_ncu_metrics *metrics, const struct launch *l)
{
    double counted = 0;
    char *path = wt_format(TRACES "%s/%s", folder, l->source);
    struct wt_ncu_source *source = read_source(path, l->function);
    long row = wt_ncu_launch(metrics, l->function, l->blocks, l->threads, l->static_bytes, l->dynamic_bytes);
    ck_assert_msg(row >= 0, "%s", l->name);
    ck_assert(wt_ncu_number(metrics, (size_t)row, "smsp__inst_executed.sum", &counted));
    ck_assert_msg(counted == executed_in_all(source), "%s: %.0f and %.0f", l->name, counted, executed_in_all(source));
    ck_assert_double_eq(source->rows[0].executed, (double)(l->blocks * ((l->threads + 31) / 32)));
    ck_assert_double_eq(source->rows[0].threads, (double)(l->blocks * l->threads));
    wt_ncu_source_free(source);
    free(path);
}

static const struct {
    const char *folder;
    int launches;
} folders[] = {{"h200", 15}, {"families", 17}};

START_TEST(both_pages_count_the_same_instructions)
{
    char *path = wt_format(TRACES "%s/kernels.txt", folders[_i].folder);
    FILE *list = fopen(path, "r");
    ck_assert_ptr_nonnull(list);
    struct wt_ncu_metrics *metrics = read_metrics(folders[_i].folder);
    struct launch l;
    int checked = 0;
    while (next_launch(list, &l))
        if (is_its_own(&l)) {
            check_launch(folders[_i].folder, metrics, &l);
            checked++;
        }
    ck_assert_int_eq(checked, folders[_i].launches);
    wt_ncu_metrics_free(metrics);
    fclose(list);
    free(path);
}
END_TEST

/* ---- Source page ---- */

#define COLUMNS "\"Address\",\"Source\",\"Instructions Executed\",\"Thread Instructions Executed\"," \
                "\"Predicated-On Thread Instructions Executed\",\"Divergent Branches\",\"# Samples\"\n"
#define PAGE(kernel) "\"Kernel Name\",\"" kernel "\"\n" COLUMNS
static struct wt_ncu_source *page_of(const char *text, const char *kernel)
{
    struct wt_ncu_source *source = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_ncu_source_read_memory("s.csv", text, strlen(text), kernel, &source, &err) == WT_OK, "%s", err.text);
    return source;
}

START_TEST(pages_are_told_apart_by_kernel)
{
    static const char *const firsts[] = {"first", "_Z5firstILi4EEvPfi", NULL}, *const seconds[] = {"second", "second(float *)"};
    static const char text[] = PAGE("void first<(int)4>(float *, int)") "\"0x7f00\",\"NOP\",\"1,024\",\"32768\",\"32768\",\"0\",\"3\",\n"
                               PAGE("second(float *)") "\"0x7f10\",\"NOP\",\"7\",\"8\",\"9\",\"1\",\"2\",\n"
                               "\"0x7f20\",\"EXIT\",\"1\",\"2\",\"\",\"\",\"\",\n";
    for (int i = 0; i < 3; i++) {
        struct wt_ncu_source *source = page_of(text, firsts[i]);
        ck_assert_uint_eq(source->count, 1);
        ck_assert_double_eq(source->rows[0].executed, 1024);
        ck_assert_double_eq(source->rows[0].samples, 3);
        wt_ncu_source_free(source);
    }
    for (int i = 0; i < 2; i++) {
        struct wt_ncu_source *source = page_of(text, seconds[i]);
        ck_assert_uint_eq(source->count, 2);
        ck_assert_uint_eq(source->rows[1].address, 0x10);
        ck_assert_double_eq(source->rows[0].divergent, 1);
        ck_assert_double_eq(source->rows[1].threads_on, 0);
        wt_ncu_source_free(source);
    }
}
END_TEST

static const struct {
    const char *text, *kernel, *message;
} bad_sources[] = {
    {"a,b\n", NULL, "s.csv: has no source page; give the output of ncu --page source --csv"},
    {PAGE("k(int)") "0x10,NOP,1,1,1,0,0\n", "other", "s.csv: has no source page of kernel other; give the output of ncu --page "
                                                     "source --csv"},
    {"\"Kernel Name\",\"k\"\nAddress,Source,# Samples\n", NULL,
     "s.csv:2: lacks the column 'Instructions Executed'; profile with --section SourceCounters and print the SASS view"},
    {PAGE("k") "0x10,NOP,1,1,1,0,0\n0x30,NOP,1,1,1,0,0\n", NULL,
     "s.csv:4: is address 0x30, not 16 bytes after the line before; lines are missing"},
    {PAGE("k") "here,NOP,1,1,1,0,0\n", NULL, "s.csv:3: 'here' is no address; copy the page again"},
    {PAGE("k") "0x10,NOP,many,1,1,0,0\n", NULL, "s.csv:3: 'many' under 'Instructions Executed' is no count; copy the page again"},
    {PAGE("k") "0x10,NOP,-5,1,1,0,0\n", NULL, "s.csv:3: '-5' under 'Instructions Executed' is no count; copy the page again"},
    {PAGE("k") "0x10,\"NOP,1,1,1,0,0\n", NULL, "s.csv:3: has a quote that is not closed; the line is damaged or cut off"},
};

START_TEST(a_damaged_source_page_is_named_with_its_line)
{
    struct wt_ncu_source *source = NULL;
    struct wt_error err = {0};
    const char *text = bad_sources[_i].text;
    ck_assert_int_eq(wt_ncu_source_read_memory("s.csv", text, strlen(text), bad_sources[_i].kernel, &source, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, bad_sources[_i].message);
    ck_assert_ptr_null(source);
}
END_TEST

/* ---- Raw page ---- */

static const char raw[] = "==PROF== Connected to process 7\n==PROF== Disconnected\n"
                          "\"ID\",\"Kernel Name\",\"launch__grid_size\",\"launch__block_size\",\"dram__bytes.sum\"\n"
                          "\"\",\"\",\"\",\"\",\"byte\"\n"
                          "\"0\",\"void k<float, (int)2>(float *, int)\",\"1,024\",\"256\",\"12,345.5\"\n"
                          "\"1\",\"k2(int)\",\"1,024\",\"128\",\"\"\n\n";

START_TEST(the_raw_page_has_a_row_for_each_launch)
{
    struct wt_ncu_metrics *metrics = NULL;
    struct wt_error err = {0};
    double value = 0;
    ck_assert_msg(wt_ncu_metrics_read_memory("m.csv", raw, strlen(raw), &metrics, &err) == WT_OK, "%s", err.text);
    ck_assert_uint_eq(metrics->rows, 2);
    ck_assert_str_eq(wt_ncu_text(metrics, 0, "Kernel Name"), "void k<float, (int)2>(float *, int)");
    ck_assert(wt_ncu_number(metrics, 0, "dram__bytes.sum", &value));
    ck_assert_double_eq(value, 12345.5);
    ck_assert(!wt_ncu_number(metrics, 1, "dram__bytes.sum", &value));
    ck_assert(!wt_ncu_number(metrics, 1, "no such column", &value));
    ck_assert_int_eq(metrics->lines[1], 6);
    ck_assert_int_eq(wt_ncu_launch(metrics, "_Z1kIfLi2EEvPfi", 1024, 256, 0, 0), 0);
    ck_assert_int_eq(wt_ncu_launch(metrics, "_Z2k2i", 1024, 128, 0, 0), 1);
    ck_assert_int_eq(wt_ncu_launch(metrics, "_Z2k2i", 1024, 256, 0, 0), -1);
    wt_ncu_metrics_free(metrics);
}
END_TEST

static const struct {
    const char *text, *message;
} bad_metrics[] = {
    {"a,b\nc,d\n", "m.csv: has no launch; give the output of ncu --page raw --csv"},
    {"\"Kernel Name\",\"x\"\n\"\",\"byte\"\n", "m.csv: has no launch; give the output of ncu --page raw --csv"},
    {"\"Kernel Name\",\"x\"\n\"k\",\"1\",\"2\"\n", "m.csv:2: has 3 columns, the header 2; copy the page again"},
    {"\"Kernel Name\",\"x\"\n\"k,1\n", "m.csv:2: has a quote that is not closed; the line is damaged or cut off"},
};

START_TEST(a_damaged_raw_page_is_named_with_its_line)
{
    struct wt_ncu_metrics *metrics = NULL;
    struct wt_error err = {0};
    const char *text = bad_metrics[_i].text;
    ck_assert_int_eq(wt_ncu_metrics_read_memory("m.csv", text, strlen(text), &metrics, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, bad_metrics[_i].message);
    ck_assert_ptr_null(metrics);
}
END_TEST

Suite *ncu_suite(void)
{
    Suite *suite = suite_create("ncu");
    TCase *tcase = tcase_create("ncu");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, both_pages_count_the_same_instructions, 0, sizeof folders / sizeof *folders);
    tcase_add_test(tcase, pages_are_told_apart_by_kernel);
    tcase_add_loop_test(tcase, a_damaged_source_page_is_named_with_its_line, 0, sizeof bad_sources / sizeof *bad_sources);
    tcase_add_test(tcase, the_raw_page_has_a_row_for_each_launch);
    tcase_add_loop_test(tcase, a_damaged_raw_page_is_named_with_its_line, 0, sizeof bad_metrics / sizeof *bad_metrics);
    suite_add_tcase(suite, tcase);
    return suite;
}
