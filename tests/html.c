/* Does the exported page hold the run, and nothing from elsewhere? The script itself runs where Node.js is. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "core/mem.h"
#include "observe/exporter.h"
#include "suites.h"
#include "synthetic.h"

static char *page_with(const struct wt_export *what)
{
    struct wt_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_msg(wt_exporters[WT_EXPORTER_html]->write(what, stream, &err) == WT_OK, "%s", err.text);
    fclose(stream);
    return text;
}

static char *page_of(struct wt_timeline *simulated, struct wt_timeline *measured, const char *title)
{
    struct wt_export what = {.simulated = simulated, .measured = measured, .title = title};
    return page_with(&what);
}

/* The text of the script element with this id; the caller's. */
static char *element(const char *page, const char *id)
{
    char *mark = wt_format("id=\"%s\">", id);
    const char *begin = strstr(page, mark);
    ck_assert_msg(begin != NULL, "no element %s", id);
    begin += strlen(mark);
    free(mark);
    return wt_format("%.*s", (int)(strstr(begin, "</script>") - begin), begin);
}

/* A reader of its own: bytes of base64, numbers of seven bits a byte. */
struct packed {
    unsigned char *bytes;
    size_t size, at;
};

static struct packed unpacked(const char *text)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct packed packed = {wt_alloc(strlen(text), 1), 0, 0};
    uint32_t bits = 0;
    int held = 0;
    ck_assert_uint_eq(strlen(text) % 4, 0);
    for (; *text && *text != '='; text++) {
        const char *digit = strchr(alphabet, *text);
        ck_assert_msg(digit != NULL, "'%c' is no digit", *text);
        bits = (bits << 6 | (uint32_t)(digit - alphabet)) & 0xffff;
        if ((held += 6) >= 8)
            packed.bytes[packed.size++] = (unsigned char)(bits >> (held -= 8));
    }
    return packed;
}

static uint64_t number(struct packed *packed)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        ck_assert_uint_lt(packed->at, packed->size);
        unsigned char byte = packed->bytes[packed->at++];
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

static uint64_t change(struct packed *packed)
{
    uint64_t value = number(packed);
    return value & 1 ? -(value / 2 + 1) : value / 2;
}

static const struct wt_block_run *span_at(const struct wt_timeline *timeline, int sm, int slot, wt_time start)
{
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        if (span->sm == sm && span->slot == slot && span->start == start)
            return span;
    }
    ck_abort_msg("no block on SM %d, slot %d at %llu", sm, slot, (unsigned long long)start);
}

static void check_blocks(const struct wt_timeline *timeline, struct packed *packed)
{
    size_t seen = 0;
    for (int sm = 0; sm < timeline->sm_count; sm++)
        for (int slot = 0; slot < wt_timeline_slots(timeline); slot++) {
            wt_time time = wt_timeline_begin(timeline);
            uint64_t block = 0, launch = 0;
            for (uint64_t left = number(packed); left > 0; left--, seen++) {
                time += number(packed);
                const struct wt_block_run *span = span_at(timeline, sm, slot, time);
                time += number(packed);
                ck_assert_uint_eq(time, span->end);
                ck_assert_uint_eq(block += change(packed), span->block);
                ck_assert_uint_eq(launch += change(packed), span->launch);
            }
        }
    ck_assert_uint_eq(seen, timeline->span_count);
    ck_assert_uint_eq(packed->at, packed->size);
}

START_TEST(page_holds_every_block)
{
    struct synthetic how = {.sms = 6, .gpcs = 2, .slots = 3, .warps_per_block = 4, .warps_per_sm = 64, .launches = 2,
                            .blocks = 300, .least = 1, .most = 20000, .gap = 40, .seed = 7};
    struct wt_timeline *timeline = synthetic_timeline(&how);
    char *page = page_of(timeline, NULL, NULL), *text = element(page, "blocks1");
    struct packed packed = unpacked(text);
    check_blocks(timeline, &packed);
    free(packed.bytes);
    free(text);
    free(page);
    wt_timeline_free(timeline);
}
END_TEST

static double member(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "%s is no number", key);
    return json_number_value(value);
}

/* One SM with two slots, blocks from 0 to 10 and from 0 to 30 cycles: the queue is empty at 0. */
static struct wt_timeline *two_blocks(const char *name)
{
    struct wt_timeline *timeline = wt_timeline_new("", "", 1);
    struct wt_timeline_launch launch = {.name = (char *)(uintptr_t)name, .number = 3, .grid_blocks = 2, .warps_per_block = 1};
    wt_timeline_add_launch(timeline, &launch);
    for (unsigned i = 0; i < 2; i++) {
        struct wt_block_run run = {.block = i, .slot = (uint16_t)i, .end = (i ? 30 : 10) * WT_CYCLE};
        wt_timeline_add(timeline, &run);
    }
    wt_timeline_find_queue_empty(timeline);
    return timeline;
}

/* Names come from files: none may end an element. */
START_TEST(page_describes_the_run)
{
    static const char name[] = "</script><b>&\"x\"";
    struct wt_timeline *timeline = two_blocks(name);
    char *page = page_of(NULL, timeline, name), *text = element(page, "run");
    ck_assert_ptr_null(strstr(page, "<b>"));
    ck_assert_ptr_nonnull(strstr(page, "<title>&lt;/script>&lt;b>&amp;\"x\"</title>"));
    json_t *root = json_loads(text, 0, NULL), *side = json_array_get(json_object_get(root, "sides"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(root, "title")), name);
    ck_assert_str_eq(json_string_value(json_object_get(side, "label")), "measured");
    ck_assert_double_eq(member(side, "blocks"), 2);
    ck_assert_double_eq(member(side, "slots"), 2);
    ck_assert_double_eq(member(json_object_get(side, "metrics"), "makespan"), 30);
    ck_assert_double_eq(member(json_object_get(side, "metrics"), "tail"), 30);
    json_t *launch = json_array_get(json_object_get(side, "launches"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(launch, "name")), name);
    ck_assert_double_eq(member(launch, "number"), 3);
    json_decref(root);
    free(text);
    free(page);
    wt_timeline_free(timeline);
}
END_TEST

static const char *string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Of a lesson: words, two runs under names of their own, and what waits for ever since 20 cycles. */
START_TEST(page_tells_a_lesson)
{
    static const struct wt_remark remarks[] = {{0, 10 * WT_CYCLE, "a </script>"}, {1, 20 * WT_CYCLE, "b"}};
    static const struct wt_story story = {"s", "q?", "a.", remarks, 2, true};
    struct wt_timeline *first = two_blocks("k"), *second = two_blocks("k");
    second->stuck_since = 20 * WT_CYCLE;
    struct wt_export what = {.measured = first, .simulated = second, .labels = {"one", "two"}, .story = &story, .title = "t"};
    char *page = page_with(&what), *text = element(page, "run");
    json_t *root = json_loads(text, 0, NULL), *told = json_object_get(root, "story"), *sides = json_object_get(root, "sides");
    ck_assert(json_is_false(json_object_get(root, "prediction")));
    ck_assert_str_eq(string(json_array_get(sides, 0), "label"), "one");
    ck_assert_str_eq(string(json_array_get(sides, 1), "label"), "two");
    ck_assert_double_eq(member(json_array_get(sides, 1), "stuck"), 20);
    ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(sides, 1), "tails")), 0);
    ck_assert_str_eq(string(told, "question"), "q?");
    ck_assert(json_is_false(json_object_get(told, "tails")));
    json_t *remark = json_array_get(json_object_get(told, "remarks"), 0);
    ck_assert_str_eq(string(remark, "text"), "a </script>");
    ck_assert_double_eq(member(remark, "at"), 10);
    json_decref(root);
    free(text);
    free(page);
    wt_timeline_free(first);
    wt_timeline_free(second);
}
END_TEST

static double item(const json_t *array, size_t i)
{
    return json_number_value(json_array_get(array, i));
}

/* A copy of 4,096 bytes from 5 to 15, on its engine's track and on its stream's; the blocks begin 20 after the first call. */
START_TEST(page_describes_the_hosts_side)
{
    static const char *const tracks[] = {"main", "0", "copies to the device", "copies to the host", "copies within the device"};
    struct wt_timeline *timeline = two_blocks("k");
    timeline->host = wt_host_timeline_empty(1, 1);
    for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++)
        wt_host_timeline_add_track(timeline->host, tracks[i]);
    struct wt_host_span copy = {.kind = WT_ACTIVITY_COPY, .track = 2, .begin = 5 * WT_CYCLE, .end = 15 * WT_CYCLE, .bytes = 4096,
                                .name = wt_host_timeline_name(timeline->host, "in")};
    wt_host_timeline_add(timeline->host, &copy);
    timeline->host->lead = 20 * WT_CYCLE;
    timeline->host->end = 55 * WT_CYCLE;
    char *page = page_of(timeline, NULL, NULL), *text = element(page, "run");
    json_t *root = json_loads(text, 0, NULL), *side = json_array_get(json_object_get(root, "sides"), 0);
    json_t *host = json_object_get(side, "host"), *span = json_array_get(json_object_get(host, "spans"), 0);
    ck_assert_double_eq(member(side, "lead"), 20);
    ck_assert_double_eq(member(host, "end"), 55);
    ck_assert_uint_eq(json_array_size(json_object_get(host, "tracks")), 5);
    ck_assert_str_eq(json_string_value(json_array_get(span, 0)), "copy");
    ck_assert_double_eq(item(span, 1), 2);
    ck_assert_double_eq(item(span, 2), 1);
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(host, "names"), (size_t)item(span, 3))), "in");
    ck_assert_double_eq(item(span, 4), 5);
    ck_assert_double_eq(item(span, 5), 15);
    ck_assert_double_eq(item(span, 7), 4096);
    json_decref(root);
    free(text);
    free(page);
    wt_timeline_free(timeline);
}
END_TEST

/* Also of an empty timeline a page can be made. */
START_TEST(page_needs_no_network)
{
    static const char *const foreign[] = {"http:", "https:", "src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("};
    struct wt_timeline *timeline = wt_timeline_new("", "", 1);
    char *page = page_of(timeline, NULL, NULL);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        ck_assert_msg(!strstr(page, foreign[i]), "the page holds %s", foreign[i]);
    ck_assert_ptr_nonnull(strstr(page, "</html>"));
    free(page);
    wt_timeline_free(timeline);
}
END_TEST

static void run_script(const char *script, const char *arguments)
{
    char path[] = "/tmp/wavetail-page-XXXXXX";
    ck_assert_int_ge(close(mkstemp(path)), 0);
    char *command = wt_format("$WAVETAIL %s --html %s >/dev/null && node %s/tests/page/%s %s", arguments, path, WT_SOURCE_ROOT, script,
                              path);
    int status = system(command);
    unlink(path);
    free(command);
    ck_assert_int_eq(status, 0);
}

START_TEST(script_draws_and_tells)
{
    if (system("node --version >/dev/null 2>&1") != 0) {
        puts("html: Node.js not found, the page's script is not run");
        return;
    }
    run_script("rounds.js", "run " WT_SOURCE_ROOT "/configs/workloads/rounds.cfg");
    run_script("density.js", "replay " WT_SOURCE_ROOT "/traces/h200/spin_uni_b256_ds0.r0.csv.zst");
}
END_TEST

Suite *html_suite(void)
{
    Suite *suite = suite_create("html");
    TCase *tcase = tcase_create("html");
    tcase_add_test(tcase, page_holds_every_block);
    tcase_add_test(tcase, page_describes_the_run);
    tcase_add_test(tcase, page_tells_a_lesson);
    tcase_add_test(tcase, page_describes_the_hosts_side);
    tcase_add_test(tcase, page_needs_no_network);
    tcase_add_test(tcase, script_draws_and_tells);
    tcase_set_timeout(tcase, 30);
    suite_add_tcase(suite, tcase);
    return suite;
}
