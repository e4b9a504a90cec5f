/* Does the exported page work in a real browser, and look as it should? Needs chromium, chromedriver and Node.js; where one of them is
 * missing, says so and checks nothing. WT_REFRESH=1 makes the pictures anew. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cairo.h>

#include "core/mem.h"
#include "suites.h"

static const char *const pages[] = {
    "run $ROOT/configs/workloads/rounds.cfg --html rounds.html",
    "replay $ROOT/traces/h200/spin_uni_b256_ds0.r0.csv.zst --html replay.html",
    "run $ROOT/configs/workloads/pipeline-streams.cfg --html streams.html",
    "lesson deadlock --html lesson.html",
    "lesson fragmentation --html space.html",
};

/* Fonts and the browser's version make a difference to letters, but to few pixels. */
static const char *const shots[] = {"page-rounds", "page-zoomed", "page-replay-dark", "page-streams", "page-lesson"};
static const double tolerated = 0.02;

enum { VISIBLE = 48, COUNT = sizeof shots / sizeof *shots };

static bool is_there(const char *program)
{
    char *command = wt_format("command -v %s >/dev/null 2>&1", program);
    bool there = system(command) == 0;
    free(command);
    return there;
}

static bool can_run(void)
{
    static const char *const needed[] = {"chromium", "chromedriver", "node"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!is_there(needed[i])) {
            printf("browser: skipped, there is no %s (tools/setup.sh --tests installs it)\n", needed[i]);
            return false;
        }
    return true;
}

static void run(const char *folder, const char *what)
{
    char *command = wt_format("cd '%s' && ROOT='%s' && %s", folder, WT_SOURCE_ROOT, what);
    int status = system(command);
    ck_assert_msg(status == 0, "%s", what);
    free(command);
}

static cairo_surface_t *load(const char *path)
{
    cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
    ck_assert_msg(cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, "%s cannot be read; WT_REFRESH=1 makes it", path);
    return surface;
}

static bool differ(uint32_t a, uint32_t b)
{
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > VISIBLE)
            return true;
    return false;
}

static const uint32_t *row_of(cairo_surface_t *surface, int y)
{
    return (const void *)(cairo_image_surface_get_data(surface) + (size_t)y * (size_t)cairo_image_surface_get_stride(surface));
}

/* Share of pixels that differ visibly. */
static double difference(cairo_surface_t *a, cairo_surface_t *b)
{
    int width = cairo_image_surface_get_width(a), height = cairo_image_surface_get_height(a), count = 0;
    ck_assert_int_eq(width, cairo_image_surface_get_width(b));
    ck_assert_int_eq(height, cairo_image_surface_get_height(b));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            count += differ(row_of(a, y)[x], row_of(b, y)[x]);
    return (double)count / width / height;
}

static void compare(const char *folder, const char *shot)
{
    char *golden = wt_format("%s/tests/golden/%s.png", WT_SOURCE_ROOT, shot), *made = wt_format("%s/%s.png", folder, shot);
    if (getenv("WT_REFRESH")) {
        char *copy = wt_format("cp %s.png '%s'", shot, golden);
        run(folder, copy);
        free(copy);
    }
    cairo_surface_t *expected = load(golden), *actual = load(made);
    double share = difference(expected, actual);
    ck_assert_msg(share <= tolerated, "%s: %.2f %% of the pixels differ; look at the picture, and if it is right run WT_REFRESH=1",
                  golden, 100 * share);
    cairo_surface_destroy(expected);
    cairo_surface_destroy(actual);
    free(golden);
    free(made);
}

START_TEST(page_works_and_looks_as_it_should)
{
    char folder[] = "/tmp/wavetail-browser-XXXXXX";
    if (!can_run())
        return;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        char *command = wt_format("\"$WAVETAIL\" %s >/dev/null", pages[i]);
        run(folder, command);
        free(command);
    }
    run(folder, "node \"$ROOT/tests/page/chromium.js\" . .");
    for (size_t i = 0; i < COUNT; i++)
        compare(folder, shots[i]);
    run(folder, "rm -f ./*.html ./*.png ./*.pdf && rmdir \"$PWD\"");
}
END_TEST

Suite *browser_suite(void)
{
    Suite *suite = suite_create("browser");
    TCase *tcase = tcase_create("browser");
    tcase_add_test(tcase, page_works_and_looks_as_it_should);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return suite;
}
