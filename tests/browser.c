/* Does the exported page work in a real browser, and look as it should? Needs chromium, chromedriver and Node.js; where one of them is
 * missing, says so and checks nothing. WT_REFRESH=1 makes the pictures anew. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "pixels.h"
#include "scratch.h"
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

static void run(const char *what)
{
    char *line = wt_format("ROOT='%s' && %s", WT_SOURCE_ROOT, what);
    ck_assert_msg(scratch_shell(line) == 0, "%s", what);
    free(line);
}

static void compare(const char *shot)
{
    char *golden = wt_format("%s/tests/golden/%s.png", WT_SOURCE_ROOT, shot), *made = wt_format("%s/%s.png", scratch, shot);
    if (getenv("WT_REFRESH")) {
        char *copy = wt_format("cp %s.png '%s'", shot, golden);
        run(copy);
        free(copy);
    }
    cairo_surface_t *expected = pixels_read(golden), *actual = pixels_read(made);
    double share = pixels_differing(expected, actual, VISIBLE);
    ck_assert_msg(share <= tolerated, "%s: %.2f %% of the pixels differ; look at the picture, and if it is right run WT_REFRESH=1",
                  golden, 100 * share);
    cairo_surface_destroy(expected);
    cairo_surface_destroy(actual);
    free(golden);
    free(made);
}

START_TEST(page_works_and_looks_as_it_should)
{
    if (!can_run())
        return;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        char *command = wt_format("\"$WAVETAIL\" %s >/dev/null", pages[i]);
        run(command);
        free(command);
    }
    run("node \"$ROOT/tests/page/chromium.js\" . .");
    for (size_t i = 0; i < COUNT; i++)
        compare(shots[i]);
}
END_TEST

Suite *browser_suite(void)
{
    Suite *suite = suite_create("browser");
    TCase *tcase = tcase_create("browser");
    tcase_add_checked_fixture(tcase, scratch_enter, scratch_leave);
    tcase_add_test(tcase, page_works_and_looks_as_it_should);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return suite;
}
