/* Do the building blocks keep their promises? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <jansson.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/outfile.h"
#include "core/quantile.h"
#include "core/random.h"
#include "core/text.h"
#include "suites.h"

/* The reference generator's published demo: seed 42, sequence 54 (pcg-random.org, pcg32_srandom(42, 54)). */
START_TEST(random_is_pcg32)
{
    struct wt_random r = {0, (54u << 1) | 1};
    wt_random_u32(&r);
    r.state += 42;
    wt_random_u32(&r);
    static const uint32_t published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e};
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(wt_random_u32(&r), published[i]);
}
END_TEST

START_TEST(streams_differ_by_name_index_and_seed)
{
    struct wt_random base = wt_random_stream(1, "durations", 0);
    struct wt_random same = wt_random_stream(1, "durations", 0);
    ck_assert_uint_eq(wt_random_u32(&base), wt_random_u32(&same));
    struct wt_random others[] = {wt_random_stream(1, "duration", 0), wt_random_stream(1, "durations", 1),
                                 wt_random_stream(2, "durations", 0)};
    for (size_t i = 0; i < 3; i++) {
        struct wt_random a = wt_random_stream(1, "durations", 0);
        int equal = 0;
        for (int k = 0; k < 1000; k++)
            equal += wt_random_u32(&a) == wt_random_u32(&others[i]);
        ck_assert_int_le(equal, 1);
    }
}
END_TEST

START_TEST(below_is_in_range_and_even)
{
    struct wt_random r = wt_random_stream(7, "test", 0);
    int count[6] = {0};
    for (int i = 0; i < 60000; i++)
        count[wt_random_below(&r, 6)]++;
    for (int i = 0; i < 6; i++) /* 10000 ± 5 sigma (sigma = 91) */
        ck_assert(count[i] > 9540 && count[i] < 10460);
}
END_TEST

/* Nearest rank, on paper: of 20 values the 19th is the 95th percentile, of 21 the 20th. */
START_TEST(quantiles_are_of_nearest_rank)
{
    double values[100];
    for (int i = 0; i < 100; i++)
        values[i] = (i * 37 + 11) % 100 + 1;
    wt_sort_numbers(values, 100);
    for (unsigned percent = 1; percent <= 100; percent++)
        ck_assert_double_eq(wt_quantile(values, 100, percent), percent);
    ck_assert_double_eq(wt_quantile(values, 20, 95), 19);
    ck_assert_double_eq(wt_quantile(values, 21, 95), 20);
    ck_assert_double_eq(wt_quantile(values, 2, 50), 1);
    ck_assert_double_eq(wt_quantile(values, 2, 95), 2);
    ck_assert_double_eq(wt_quantile(values, 3, 50), 2);
    ck_assert_double_eq(wt_quantile(values, 1, 1), 1);
    ck_assert(isnan(wt_quantile(values, 0, 50)));
}
END_TEST

START_TEST(first_error_is_kept)
{
    struct wt_error err = {0};
    ck_assert_int_eq(wt_fail_at(&err, "a.cfg", 7, "%s", "bad"), WT_BAD_INPUT);
    wt_fail(&err, WT_BAD_USAGE, "later");
    ck_assert_str_eq(err.text, "a.cfg:7: bad");
    ck_assert_int_eq(err.code, WT_BAD_INPUT);
}
END_TEST

START_TEST(nearest_name)
{
    static const char *const names[] = {"replay", "run", "validate"};
    ck_assert_str_eq(wt_nearest("repaly", names, 3), "replay");
    ck_assert_str_eq(wt_nearest("runn", names, 3), "run");
    ck_assert_ptr_null(wt_nearest("zebra", names, 3));
}
END_TEST

START_TEST(json_is_valid_and_escaped)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct wt_json json = wt_json_begin(stream, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "name", "a\"b\\c\n\xff\xc3\xa9");
    wt_json_array(&json, "list");
    wt_json_int(&json, NULL, -5);
    wt_json_number(&json, NULL, 0.1, 10);
    wt_json_number(&json, NULL, 0.0 / 0.0, 10);
    wt_json_bool(&json, NULL, true);
    wt_json_close(&json);
    wt_json_object(&json, "empty");
    wt_json_close(&json);
    wt_json_close(&json);
    wt_json_end(&json);
    fclose(stream);
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    ck_assert_msg(root != NULL, "%s in %s", error.text, text);
    ck_assert_str_eq(json_string_value(json_object_get(root, "name")), "a\"b\\c\n\xef\xbf\xbd\xc3\xa9");
    json_t *list = json_object_get(root, "list");
    ck_assert_int_eq(json_integer_value(json_array_get(list, 0)), -5);
    ck_assert_double_eq(json_real_value(json_array_get(list, 1)), 0.1);
    ck_assert(json_is_null(json_array_get(list, 2)));
    json_decref(root);
    free(text);
}
END_TEST

START_TEST(output_appears_only_when_complete)
{
    char folder[] = "/tmp/wavetail-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char *path = wt_format("%s/out.txt", folder);
    struct wt_outfile out;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_outfile_open(&out, path, &err), WT_OK);
    fputs("half", out.stream);
    ck_assert_int_ne(access(path, F_OK), 0);
    wt_outfile_discard(&out);
    ck_assert_int_eq(wt_outfile_open(&out, path, &err), WT_OK);
    fputs("whole", out.stream);
    ck_assert_int_eq(wt_outfile_commit(&out, &err), WT_OK);
    ck_assert_int_eq(access(path, F_OK), 0);
    unlink(path);
    ck_assert_msg(rmdir(folder) == 0, "a temporary file was left behind");
    char *nowhere = wt_format("%s/none/out.txt", folder);
    ck_assert_int_eq(wt_outfile_open(&out, nowhere, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, nowhere));
    free(path);
    free(nowhere);
}
END_TEST

/* Replacing /dev/null or a link by a file would be a nasty surprise. */
START_TEST(output_replaces_neither_devices_nor_links)
{
    char folder[] = "/tmp/wavetail-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char *file = wt_format("%s/file", folder), *link = wt_format("%s/link", folder);
    char *null = wt_format("%s/null", folder);
    ck_assert_int_eq(symlink("/dev/null", null), 0);
    FILE *old = fopen(file, "w");
    fclose(old);
    ck_assert_int_eq(chmod(file, 0600), 0);
    ck_assert_int_eq(symlink(file, link), 0);
    const char *targets[] = {link, null};
    for (int i = 0; i < 2; i++) {
        struct wt_outfile out;
        ck_assert_int_eq(wt_outfile_open(&out, targets[i], NULL), WT_OK);
        fputs("text", out.stream);
        ck_assert_int_eq(wt_outfile_commit(&out, NULL), WT_OK);
        struct stat st;
        ck_assert_int_eq(lstat(targets[i], &st), 0);
        ck_assert(S_ISLNK(st.st_mode));
    }
    struct stat st;
    ck_assert_int_eq(stat(file, &st), 0);
    ck_assert_int_eq(st.st_size, 4);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
    unlink(link);
    unlink(null);
    unlink(file);
    ck_assert_int_eq(rmdir(folder), 0);
    free(file);
    free(link);
    free(null);
}
END_TEST

/* Each block is written to before it is freed, so that later ones may get used memory. */
START_TEST(lines_are_aligned_and_zero)
{
    static const size_t counts[] = {0, 1, 3, 1000, 3, 1000};
    for (size_t i = 0; i < 6; i++) {
        unsigned char *block = wt_alloc_lines(counts[i], 40);
        ck_assert_uint_eq((uintptr_t)block % WT_LINE_BYTES, 0);
        for (size_t byte = 0; byte < counts[i] * 40; byte++)
            ck_assert_uint_eq(block[byte], 0);
        memset(block, 0xff, counts[i] * 40);
        free(block);
    }
}
END_TEST

Suite *core_suite(void)
{
    Suite *suite = suite_create("core");
    TCase *tcase = tcase_create("core");
    tcase_add_test(tcase, random_is_pcg32);
    tcase_add_test(tcase, streams_differ_by_name_index_and_seed);
    tcase_add_test(tcase, below_is_in_range_and_even);
    tcase_add_test(tcase, quantiles_are_of_nearest_rank);
    tcase_add_test(tcase, first_error_is_kept);
    tcase_add_test(tcase, nearest_name);
    tcase_add_test(tcase, json_is_valid_and_escaped);
    tcase_add_test(tcase, lines_are_aligned_and_zero);
    tcase_add_test(tcase, output_appears_only_when_complete);
    tcase_add_test(tcase, output_replaces_neither_devices_nor_links);
    suite_add_tcase(suite, tcase);
    return suite;
}
