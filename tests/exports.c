/* Are the exported files what other programs need, and do they survive? */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "core/mem.h"
#include "observe/blocks.h"
#include "observe/exporter.h"
#include "observe/result.h"
#include "suites.h"
#include "synthetic.h"

struct text {
    char *data;
    size_t size;
};

static struct text exported(int exporter, struct wt_timeline *simulated, struct wt_timeline *measured)
{
    struct wt_export what = {.simulated = simulated, .measured = measured};
    struct wt_error err = {0};
    struct text text = {0};
    FILE *stream = open_memstream(&text.data, &text.size);
    ck_assert_msg(wt_exporters[exporter]->write(&what, stream, &err) == WT_OK, "%s", err.text);
    fclose(stream);
    return text;
}

static struct wt_timeline *random_run(uint64_t seed)
{
    struct synthetic how = {.sms = 6, .gpcs = 2, .slots = 3, .warps_per_block = 4, .warps_per_sm = 64, .launches = 2,
                            .blocks = 300, .least = 0, .most = 20000, .gap = 40, .seed = seed};
    return synthetic_timeline(&how);
}

/* Two blocks of launch 7: 1/1024 cycle = 0.0009765625; times count from the first start. */
static struct wt_timeline *two_blocks(void)
{
    struct wt_timeline *timeline = wt_timeline_new("", "", 2);
    struct wt_timeline_launch launch = {.name = "k, \"x\"", .number = 7, .warps_per_block = 1};
    wt_timeline_add_launch(timeline, &launch);
    struct wt_block_run late = {
        .block = 1234567890123456789, .sm = 1, .slot = 3, .start = 5 * 1024 + 1, .end = 7 * 1024};
    struct wt_block_run early = {.block = 0, .sm = 0, .slot = 0, .start = 2 * 1024, .end = 4 * 1024 + 512};
    wt_timeline_add(timeline, &late);
    wt_timeline_add(timeline, &early);
    wt_timeline_find_queue_empty(timeline);
    return timeline;
}

START_TEST(block_rows_are_exact)
{
    struct wt_timeline *timeline = two_blocks();
    struct text text = exported(WT_EXPORTER_blocks, NULL, timeline);
    ck_assert_str_eq(text.data, "launch,block,sm,slot,start,end\n"
                                "7,0,0,0,0,2.5\n"
                                "7,1234567890123456789,1,3,3.0009765625,5\n");
    free(text.data);
    wt_timeline_free(timeline);
}
END_TEST

/* Ten decimals are enough for every fraction, and reading the text back gives the very time. */
START_TEST(cycles_text_is_exact)
{
    for (wt_time t = 0; t < 2048; t++) {
        char text[WT_CYCLES_TEXT];
        ck_assert_int_eq(wt_cycles_text(text, t), (int)strlen(text));
        ck_assert(strtod(text, NULL) * 1024 == (double)t);
        ck_assert(!strchr(text, '.') || text[strlen(text) - 1] != '0');
    }
    char text[WT_CYCLES_TEXT];
    wt_cycles_text(text, WT_NEVER); /* 2^64 - 1 = 2^54 cycles less one unit */
    ck_assert_str_eq(text, "18014398509481983.9990234375");
}
END_TEST

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static char *sorted_lines(const char *text)
{
    char *copy = wt_strdup(text), *result = wt_strdup(""), *lines[4096], *save = NULL;
    size_t count = 0;
    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        char *longer = wt_format("%s%s\n", result, lines[i]);
        free(result);
        result = longer;
    }
    free(copy);
    return result;
}

/* The stream's rows are the timeline's rows in another order. */
START_TEST(streamed_blocks_are_the_same)
{
    struct wt_timeline *timeline = random_run(1);
    struct wt_blocks blocks;
    struct wt_error err = {0};
    char path[] = "/tmp/wavetail-blocks-XXXXXX", streamed[1 << 16] = "";
    ck_assert_int_ge(close(mkstemp(path)), 0);
    ck_assert_int_eq(wt_blocks_open(&blocks, path, timeline, &err), WT_OK);
    struct wt_observer observer = wt_blocks_observer(&blocks);
    synthetic_play(timeline, &observer);
    ck_assert_int_eq(wt_blocks_commit(&blocks, &err), WT_OK);
    FILE *stream = fopen(path, "r");
    ck_assert_uint_gt(fread(streamed, 1, sizeof streamed - 1, stream), 0);
    fclose(stream);
    unlink(path);
    struct text whole = exported(WT_EXPORTER_blocks, timeline, NULL);
    char *a = sorted_lines(streamed), *b = sorted_lines(whole.data);
    ck_assert_str_eq(a, b);
    free(a);
    free(b);
    free(whole.data);
    wt_timeline_free(timeline);
}
END_TEST

/* --- Perfetto --- */

struct slice {
    json_int_t pid, tid;
    double ts, dur;
};

static int compare_slices(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    return (a->dur > b->dur) - (a->dur < b->dur);
}

static double number(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

static json_t *events_of(struct text text, json_t **root)
{
    json_error_t error;
    *root = json_loads(text.data, 0, &error);
    ck_assert_msg(*root != NULL, "line %d: %s", error.line, error.text);
    return json_object_get(*root, "traceEvents");
}

static bool is_phase(const json_t *event, const char *phase)
{
    return !strcmp(json_string_value(json_object_get(event, "ph")), phase);
}

static size_t slices_of(const json_t *events, struct slice *slices)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (!is_phase(event, "X"))
            continue;
        slices[count++] = (struct slice){json_integer_value(json_object_get(event, "pid")),
                                         json_integer_value(json_object_get(event, "tid")), number(event, "ts"),
                                         number(event, "dur")};
    }
    qsort(slices, count, sizeof *slices, compare_slices);
    return count;
}

/* As the viewer reads them, too: nanoseconds, rounded down one by one. */
static void check_no_overlap(const struct slice *slices, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct slice *a = &slices[i - 1], *b = &slices[i];
        if (a->tid != b->tid)
            continue;
        ck_assert_int_eq(a->pid, b->pid);
        ck_assert(a->ts + a->dur <= b->ts);
        ck_assert_int_le((int64_t)(a->ts * 1000.0) + (int64_t)(a->dur * 1000.0), (int64_t)(b->ts * 1000.0));
    }
}

/* A thread belongs to one process, no id is 0 and no thread is its process's main thread. */
static void check_ids(const struct slice *slices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_gt(slices[i].pid, 0);
        ck_assert_int_gt(slices[i].tid, 0);
        ck_assert_int_lt(slices[i].tid, INT32_MAX);
        ck_assert_int_ne(slices[i].pid, slices[i].tid);
    }
}

/* Clocks that make µs fractions awkward, and none at all. */
START_TEST(perfetto_slices_never_overlap)
{
    static const double clocks[] = {0, 1980, 1755.5, 333.3333, 2520};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct wt_timeline *simulated = random_run(i), *measured = random_run(i + 100);
        simulated->clock_mhz = measured->clock_mhz = clocks[i];
        struct text text = exported(WT_EXPORTER_perfetto, simulated, measured);
        json_t *root, *events = events_of(text, &root);
        struct slice *slices = wt_alloc(json_array_size(events), sizeof *slices);
        size_t count = slices_of(events, slices);
        ck_assert_uint_eq(count, 1200);
        check_no_overlap(slices, count);
        check_ids(slices, count);
        free(slices);
        json_decref(root);
        free(text.data);
        wt_timeline_free(simulated);
        wt_timeline_free(measured);
    }
}
END_TEST

/* Names, and counters that begin with the first block and end at nothing resident, nothing queued. */
START_TEST(perfetto_names_and_counters)
{
    struct wt_timeline *timeline = two_blocks();
    struct text text = exported(WT_EXPORTER_perfetto, timeline, NULL);
    json_t *root, *events = events_of(text, &root);
    int processes = 0, threads = 0;
    json_int_t blocks[8], queued[8];
    size_t resident_count = 0, queued_count = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *args = json_object_get(event, "args");
        const char *name = json_string_value(json_object_get(event, "name"));
        processes += !strcmp(name, "process_name");
        threads += !strcmp(name, "thread_name");
        if (is_phase(event, "X"))
            ck_assert_str_eq(name, "k, \"x\"");
        if (!strcmp(name, "resident"))
            blocks[resident_count++] = json_integer_value(json_object_get(args, "blocks"));
        if (!strcmp(name, "queued"))
            queued[queued_count++] = json_integer_value(json_object_get(args, "blocks"));
    }
    ck_assert_int_eq(processes, 3); /* the GPU and two SMs */
    ck_assert_int_eq(threads, 5);   /* slots up to the highest used */
    static const json_int_t expected_blocks[] = {1, 0, 1, 0}, expected_queued[] = {1, 1, 0, 0};
    ck_assert_uint_eq(resident_count, 4);
    ck_assert_mem_eq(blocks, expected_blocks, sizeof expected_blocks);
    ck_assert_uint_eq(queued_count, 4);
    ck_assert_mem_eq(queued, expected_queued, sizeof expected_queued);
    json_decref(root);
    free(text.data);
    wt_timeline_free(timeline);
}
END_TEST

/* Of two blocks that never end: they begin, and stay resident. */
START_TEST(perfetto_leaves_a_deadlock_open)
{
    struct wt_timeline *timeline = two_blocks();
    for (size_t i = 0; i < 2; i++)
        timeline->spans[i].end = 4000 * WT_CYCLE;
    timeline->stuck_since = 3000 * WT_CYCLE;
    struct text text = exported(WT_EXPORTER_perfetto, timeline, NULL);
    json_t *root, *events = events_of(text, &root);
    json_int_t begun = 0, resident = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        ck_assert(!is_phase(event, "X") && !is_phase(event, "E"));
        begun += is_phase(event, "B");
        if (!strcmp(json_string_value(json_object_get(event, "name")), "resident"))
            resident = json_integer_value(json_object_get(json_object_get(event, "args"), "blocks"));
    }
    ck_assert_int_eq(begun, 2);
    ck_assert_int_eq(resident, 2);
    json_decref(root);
    free(text.data);
    wt_timeline_free(timeline);
}
END_TEST

/* --- result files --- */

static enum wt_code read_result(const char *data, size_t size, struct wt_result *result, struct wt_error *err)
{
    char *exact = wt_alloc(size, 1); /* so that the sanitiser sees a read past the end */
    memcpy(exact, data, size);
    FILE *stream = fmemopen(exact, size, "rb");
    enum wt_code code = wt_result_read(stream, "test.wt", result, err);
    fclose(stream);
    free(exact);
    return code;
}

static void same_timeline(const struct wt_timeline *a, const struct wt_timeline *b)
{
    ck_assert_str_eq(a->title, b->title);
    ck_assert_str_eq(a->gpu_name, b->gpu_name);
    ck_assert(a->clock_mhz == b->clock_mhz);
    ck_assert_int_eq(a->sm_count, b->sm_count);
    ck_assert_int_eq(a->warps_per_sm, b->warps_per_sm);
    ck_assert_mem_eq(a->gpc_of_sm, b->gpc_of_sm, (size_t)a->sm_count * sizeof *a->gpc_of_sm);
    ck_assert_uint_eq(a->launch_count, b->launch_count);
    for (size_t i = 0; i < a->launch_count; i++) {
        struct wt_timeline_launch left = a->launches[i], right = b->launches[i];
        ck_assert_str_eq(left.name, right.name);
        left.name = right.name = NULL;
        ck_assert_mem_eq(&left, &right, sizeof left);
    }
    ck_assert_uint_eq(a->span_count, b->span_count);
    ck_assert_mem_eq(a->spans, b->spans, a->span_count * sizeof *a->spans);
    ck_assert_uint_eq(a->stuck_since, b->stuck_since);
    ck_assert_pstr_eq(a->stuck, b->stuck);
}

static void deadlock(struct wt_timeline *timeline, const char *text)
{
    timeline->stuck_since = 50 * WT_CYCLE;
    timeline->stuck = wt_strdup(text);
}

static void make_persistent(struct wt_timeline *timeline)
{
    timeline->launches[0].tasks = timeline->span_count;
    for (size_t i = 0; i < timeline->span_count; i++)
        timeline->spans[i].task = 3 * i;
}

START_TEST(results_come_back)
{
    struct wt_timeline *simulated = random_run(1), *measured = random_run(2);
    deadlock(simulated, "deadlock: block 3 waits for block 4");
    make_persistent(simulated);
    struct text both = exported(WT_EXPORTER_save, simulated, measured);
    struct text one = exported(WT_EXPORTER_save, NULL, measured);
    struct wt_result result;
    struct wt_error err = {0};
    ck_assert_int_eq(read_result(both.data, both.size, &result, &err), WT_OK);
    same_timeline(result.simulated, simulated);
    same_timeline(result.measured, measured);
    wt_result_clear(&result);
    ck_assert_int_eq(read_result(one.data, one.size, &result, &err), WT_OK);
    ck_assert_ptr_null(result.simulated);
    same_timeline(result.measured, measured);
    wt_result_clear(&result);
    free(both.data);
    free(one.data);
    wt_timeline_free(simulated);
    wt_timeline_free(measured);
}
END_TEST

static struct text small_result(void)
{
    struct wt_timeline *timeline = two_blocks();
    deadlock(timeline, "deadlock: block 1 waits for block 2");
    struct text text = exported(WT_EXPORTER_save, timeline, NULL);
    wt_timeline_free(timeline);
    return text;
}

static void refused(const char *data, size_t size)
{
    struct wt_result result;
    struct wt_error err = {0};
    ck_assert_int_eq(read_result(data, size, &result, &err), WT_BAD_INPUT);
    ck_assert_ptr_null(result.simulated);
    ck_assert_int_eq(strncmp(err.text, "test.wt: ", 9), 0);
}

/* Whoever shows it may rely on how it begins. */
START_TEST(a_deadlock_says_that_it_is_one)
{
    struct wt_timeline *timeline = two_blocks();
    deadlock(timeline, "block 1 waits for block 2");
    struct text text = exported(WT_EXPORTER_save, timeline, NULL);
    refused(text.data, text.size);
    free(text.data);
    wt_timeline_free(timeline);
}
END_TEST

START_TEST(results_cut_anywhere_are_refused)
{
    struct text text = small_result();
    for (size_t size = 1; size < text.size; size++)
        refused(text.data, size);
    free(text.data);
}
END_TEST

START_TEST(results_with_any_bit_flipped_are_refused)
{
    struct text text = small_result();
    for (size_t bit = 0; bit < 8 * text.size; bit++) {
        text.data[bit / 8] ^= (char)(1 << bit % 8);
        refused(text.data, text.size);
        text.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(text.data);
}
END_TEST

START_TEST(more_after_the_end_is_refused)
{
    struct text text = small_result();
    char *longer = wt_alloc(text.size + 1, 1);
    memcpy(longer, text.data, text.size);
    refused(longer, text.size + 1);
    free(longer);
    free(text.data);
}
END_TEST

/* "ABCD", length 3, "xyz"; its CRC-32 is zlib's crc32 of all that. */
START_TEST(unknown_chunks_are_skipped)
{
    static const unsigned char chunk[] = {'A', 'B', 'C', 'D', 3,   0,    0,    0,    0,   0,
                                          0,   0,   'x', 'y', 'z', 0xb0, 0xe4, 0x0b, 0xba};
    struct text text = small_result();
    char *longer = wt_alloc(text.size + sizeof chunk, 1);
    memcpy(longer, text.data, 12);
    memcpy(longer + 12, chunk, sizeof chunk);
    memcpy(longer + 12 + sizeof chunk, text.data + 12, text.size - 12);
    struct wt_result result;
    struct wt_error err = {0};
    ck_assert_msg(read_result(longer, text.size + sizeof chunk, &result, &err) == WT_OK, "%s", err.text);
    ck_assert_uint_eq(result.simulated->span_count, 2);
    wt_result_clear(&result);
    free(longer);
    free(text.data);
}
END_TEST

/* A chunk of length 0, its checksum right. */
START_TEST(empty_descriptions_are_refused)
{
    static const unsigned char file[] = {'W', 'A', 'V', 'E', 'T', 'A', 'I', 'L', 1, 0, 0, 0, 'T', 'I',
                                         'M', 'E', 0,   0,   0,   0,   0,   0,   0, 0, 0x2e, 0x4a, 0xec, 0x16};
    struct wt_result result;
    struct wt_error err = {0};
    ck_assert_int_eq(read_result((const char *)file, sizeof file, &result, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "description makes no sense"));
}
END_TEST

START_TEST(other_versions_and_other_files_are_named)
{
    struct text text = small_result();
    struct wt_result result;
    struct wt_error err = {0}, other = {0};
    text.data[8] = 9;
    ck_assert_int_eq(read_result(text.data, text.size, &result, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "version 9"));
    ck_assert_int_eq(read_result("launch,block\n", 13, &result, &other), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(other.text, "is not a wavetail result file"));
    free(text.data);
}
END_TEST

START_TEST(repeated_exports_are_identical)
{
    for (int i = 0; i < WT_EXPORTERS; i++) {
        struct wt_timeline *simulated = random_run(1), *measured = random_run(2);
        struct text first = exported(i, simulated, measured), second = exported(i, simulated, measured);
        ck_assert_uint_eq(first.size, second.size);
        ck_assert_mem_eq(first.data, second.data, first.size);
        free(first.data);
        free(second.data);
        wt_timeline_free(simulated);
        wt_timeline_free(measured);
    }
}
END_TEST

Suite *exports_suite(void)
{
    Suite *suite = suite_create("exports");
    TCase *tcase = tcase_create("exports");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, block_rows_are_exact);
    tcase_add_test(tcase, cycles_text_is_exact);
    tcase_add_test(tcase, streamed_blocks_are_the_same);
    tcase_add_test(tcase, perfetto_slices_never_overlap);
    tcase_add_test(tcase, perfetto_names_and_counters);
    tcase_add_test(tcase, perfetto_leaves_a_deadlock_open);
    tcase_add_test(tcase, results_come_back);
    tcase_add_test(tcase, a_deadlock_says_that_it_is_one);
    tcase_add_test(tcase, results_cut_anywhere_are_refused);
    tcase_add_test(tcase, results_with_any_bit_flipped_are_refused);
    tcase_add_test(tcase, more_after_the_end_is_refused);
    tcase_add_test(tcase, unknown_chunks_are_skipped);
    tcase_add_test(tcase, empty_descriptions_are_refused);
    tcase_add_test(tcase, other_versions_and_other_files_are_named);
    tcase_add_test(tcase, repeated_exports_are_identical);
    suite_add_tcase(suite, tcase);
    return suite;
}
