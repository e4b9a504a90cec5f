/* Does the view do what a user asks of it, look as it should, and say what is wrong when it cannot?
 *
 * tests/view/NAME.script are played without a display. tests/golden/view-NAME.png are pictures to compare with: letters may
 * be rasterised a little differently, so a few pixels may differ. WT_REFRESH=1 makes them anew; look at them then. */
#include <cairo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "study/lesson.h"
#include "pixels.h"
#include "scratch.h"
#include "suites.h"

/* Runs in an empty folder, which is kept for what is looked at afterwards. Returns the exit status; the output is in
 * `scratch`/output. */
static int run(const char *environment, const char *arguments)
{
    char *command = wt_format("cd '%s' && ROOT='%s' && exec env %s \"$WAVETAIL_VIEW\" %s > output 2>&1 < /dev/null", scratch,
                              WT_SOURCE_ROOT, environment, arguments);
    int status = system(command);
    free(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void succeeds(const char *environment, const char *arguments)
{
    int status = run(environment, arguments);
    char *text = scratch_text("output");
    ck_assert_msg(status == 0, "%s: exit status %d: %s", arguments, status, text);
    free(text);
}

static void fails_saying(const char *environment, const char *arguments, int expected, const char *part)
{
    int status = run(environment, arguments);
    char *text = scratch_text("output");
    ck_assert_msg(status == expected && strstr(text, part), "%s: exit status %d: %s", arguments, status, text);
    free(text);
}

static bool exists(const char *name)
{
    char *path = wt_format("%s/%s", scratch, name);
    bool there = access(path, R_OK) == 0;
    free(path);
    return there;
}

/* ---- Scripts ---- */

#define ROUNDS "$ROOT/configs/workloads/rounds.cfg "
#define TRACE "$ROOT/traces/h200/spin_uni_b256_ds0.r0.csv.zst "

START_TEST(scripts_do_what_they_say)
{
    static const char *const scripts[] = {
        ROUNDS "--script $ROOT/tests/view/look.script",
        TRACE "--script $ROOT/tests/view/compare.script",
        TRACE "--script $ROOT/tests/view/whatif.script",
        ROUNDS "--captions $ROOT/tests/view/lesson.cfg --script $ROOT/tests/view/lesson.script",
        "$ROOT/tests/view/overlap.cfg --script $ROOT/tests/view/overlap.script",
        TRACE "--script $ROOT/tests/view/why.script",
        "--lesson tail --script $ROOT/tests/view/tail.script",
        "$ROOT/configs/lessons/workloads/barriers.cfg --script $ROOT/tests/view/warps.script",
        "--lesson tail --script $ROOT/tests/view/explore.script",
        "--lesson imbalance --script $ROOT/tests/view/tasks.script",
        "--lesson deadlock --script $ROOT/tests/view/deadlock.script",
    };
    succeeds("", scripts[_i]);
}
END_TEST

enum { SCRIPTS = 11 };

/* The same in a window, on a display that shows nothing. */
START_TEST(scripts_play_in_a_window)
{
    succeeds("SDL_VIDEODRIVER=dummy", ROUNDS "--window --script $ROOT/tests/view/look.script");
}
END_TEST

START_TEST(videos_and_pictures_are_left)
{
    succeeds("PATH=/nowhere", ROUNDS "--record run.mp4 --script $ROOT/tests/view/record.script");
    ck_assert(exists("wavetail-001.png"));
    ck_assert(exists("run-00015.png"));
    ck_assert(!exists("run.mp4"));
    if (system("command -v ffmpeg > /dev/null") != 0)
        return;
    succeeds("", ROUNDS "--record run.mp4 --script $ROOT/tests/view/record.script");
    ck_assert(exists("run.mp4"));
    succeeds("", ROUNDS "--record run.gif --seconds 0.2 --size 320x200");
    ck_assert(exists("run.gif"));
}
END_TEST

/* What a saved result tells is enough to open up an SM and to simulate again. */
START_TEST(results_tell_what_traces_tell)
{
    char *command = wt_format("cd '%s' && \"$WAVETAIL\" replay '%s/traces/h200/spin20k_ds40000.r0.csv.zst' --save r.wt > /dev/null && "
                              "printf 'key 4\\nexpect register file\\nkey 2\\nkey x\\npress shuffled\\nexpect Before\\n' > s.script",
                              scratch, WT_SOURCE_ROOT);
    ck_assert_int_eq(system(command), 0);
    free(command);
    succeeds("", "r.wt --at 50% --script s.script");
    succeeds("", "r.wt " TRACE "--compare side --render two.png");
}
END_TEST

/* So is what a run came to that never ends. */
START_TEST(results_tell_of_a_deadlock)
{
    char *command = wt_format("cd '%s' && ! \"$WAVETAIL\" run '%s/configs/lessons/workloads/stuck.cfg' --save r.wt 2> /dev/null && "
                              "printf 'expect Deadlock\nexpect block 4\nkey End\nrefuse the queue is empty\n' > s.script",
                              scratch, WT_SOURCE_ROOT);
    ck_assert_int_eq(system(command), 0);
    free(command);
    succeeds("", "r.wt --script s.script");
}
END_TEST

/* ---- What cannot be ---- */

START_TEST(problems_are_said)
{
    fails_saying("SDL_VIDEODRIVER=none-such", ROUNDS, 1, "there is no display");
    fails_saying("env -u DISPLAY -u WAYLAND_DISPLAY -u SDL_VIDEODRIVER timeout 20", ROUNDS, 1, "neither X nor Wayland");
    fails_saying("WAVETAIL_FONTS=/nowhere", ROUNDS "--render a.png", 1, "install fonts-dejavu-core");
    fails_saying("", "/nowhere/a.csv --render a.png", 1, "/nowhere/a.csv: ");
    fails_saying("", "$ROOT/README.md --render a.png", 1, "README.md:");
    fails_saying("", ROUNDS "--render /nowhere/a.png", 1, "/nowhere/a.png");
    fails_saying("", ROUNDS "--record a.avi", 1, "ends in .mp4 or .gif");
    fails_saying("", ROUNDS "--script $ROOT/LICENSE", 1, "LICENSE:1: ");
    fails_saying("", ROUNDS "--captions $ROOT/configs/workloads/rounds.cfg", 1, "rounds.cfg:");
    fails_saying("", ROUNDS "--at sideways --render a.png", 2, "no time or block");
    fails_saying("", ROUNDS "--page sideways", 2, "overview, floor, timeline, sm");
    fails_saying("", "", 2, "which trace");
    fails_saying("", "--lesson nonsense --render a.png", 1, "no lesson 'nonsense'");
    fails_saying("", "--lesson tail " ROUNDS, 2, "brings its own workloads");
    fails_saying("SDL_VIDEODRIVER=none-such", "--lesson tail", 1, "NAME --text");
    ck_assert(!exists("a.png"));
    succeeds("", TRACE "$ROOT/traces/h200/cluster2_ds200k.r0.csv.zst --render b.png");
}
END_TEST

/* `wavetail lesson NAME` opens the window; here it cannot. */
START_TEST(a_lesson_opens_the_window)
{
    char *command = wt_format("cd '%s' && SDL_VIDEODRIVER=none-such \"$WAVETAIL\" lesson tail > output 2>&1; test $? = 1", scratch);
    ck_assert_int_eq(system(command), 0);
    char *text = scratch_text("output");
    ck_assert_msg(strstr(text, "there is no display") && strstr(text, "--text") && strstr(text, "--svg"), "%s", text);
    free(text);
    free(command);
}
END_TEST

/* ---- Pictures ---- */

/* A script takes the picture itself; the others are drawn with --render. */
static const struct {
    const char *name, *arguments;
    int by; /* the golden picture is so much smaller; 0: it is not */
} pictures[] = {
    {"floor-shared-side", TRACE "--page floor --compare side --fill shared --colour block --at 60% --hatch", 2},
    {"floor-overlaid", "$ROOT/configs/workloads/imbalance.cfg " ROUNDS "--page floor --compare overlay --at 2500", 2},
    {"host-side", "$ROOT/configs/workloads/pipeline-one-stream.cfg $ROOT/configs/workloads/pipeline-streams.cfg --page timeline "
                  "--compare side", 2},
    {"sm-side-dark", "$ROOT/configs/lessons/workloads/holes-alternating.cfg $ROOT/configs/lessons/workloads/holes-together.cfg "
                     "--page sm --compare side --at 12000 --dark", 2},
    {"search", TRACE "--script $ROOT/tests/view/search.script", 2},
    {"whatif-ghost", "$ROOT/configs/workloads/imbalance.cfg --script $ROOT/tests/view/ghost.script", 2},
    {"help", ROUNDS "--script $ROOT/tests/view/help.script", 2},
    {"overview", TRACE "--at 70%"},
    {"floor-dark", ROUNDS "--page floor --at 1700 --dark"},
    {"timeline-start-error", TRACE "--page timeline --compare side --colour start-error --hatch"},
    {"timeline-overlaid", "$ROOT/configs/workloads/imbalance.cfg " ROUNDS "--page timeline --compare overlay --dark"},
    {"sm", "$ROOT/traces/h200/spin_bim_b128_ds56000.r0.csv.zst --page sm --at 30% --fill shared --hatch"},
    {"sm-warps", "$ROOT/configs/lessons/workloads/barriers.cfg --page sm --at 8000 --hatch"},
    {"sm-warps-dark", "$ROOT/configs/lessons/workloads/barriers.cfg --page sm --at 90000 --dark"},
    {"range", "$ROOT/traces/h200/seq_A.r0.csv.zst --at 25% --panel range --colour limiter"},
    {"why", "$ROOT/configs/workloads/waves.cfg --at 20% --panel why --letters 1.2"},
    {"whatif", ROUNDS "--panel whatif --page timeline"},
    {"lesson", ROUNDS "--captions $ROOT/tests/view/lesson.cfg --at 2600"},
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

/* Every `by` x `by` pixels become one, their mean: small files that still show where something moved or changed colour. */
static cairo_surface_t *shrunk(cairo_surface_t *from, int by)
{
    int width = cairo_image_surface_get_width(from) / by, height = cairo_image_surface_get_height(from) / by;
    cairo_surface_t *to = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    size_t from_stride = (size_t)cairo_image_surface_get_stride(from), to_stride = (size_t)cairo_image_surface_get_stride(to);
    for (int i = 0; i < width * height; i++) {
        unsigned sums[3] = {0};
        for (int j = 0; j < by * by; j++) {
            size_t x = (size_t)(i % width * by + j % by), y = (size_t)(i / width * by + j / by);
            uint32_t pixel = ((const uint32_t *)(const void *)(cairo_image_surface_get_data(from) + y * from_stride))[x];
            for (int c = 0; c < 3; c++)
                sums[c] += pixel >> 8 * c & 255;
        }
        uint32_t *row = (void *)(cairo_image_surface_get_data(to) + (size_t)(i / width) * to_stride);
        unsigned count = (unsigned)(by * by);
        row[i % width] = sums[2] / count << 16 | sums[1] / count << 8 | sums[0] / count;
    }
    cairo_surface_mark_dirty(to);
    cairo_surface_destroy(from);
    return to;
}

/* Compares the picture `made` in the folder, shrunk, with tests/golden/NAME.png, or makes that anew. `tolerance`: share of pixels. */
static void check_picture(const char *name, const char *made, int by, double tolerance)
{
    char *golden = wt_format("%s/tests/golden/%s.png", WT_SOURCE_ROOT, name), *path = wt_format("%s/%s", scratch, made);
    cairo_surface_t *actual = shrunk(pixels_read(path), by);
    if (getenv("WT_REFRESH")) {
        ck_assert_int_eq(cairo_surface_write_to_png(actual, golden), CAIRO_STATUS_SUCCESS);
    } else {
        cairo_surface_t *expected = pixels_read(golden);
        double share = pixels_differing(expected, actual, by > 1 ? 16 : 32);
        ck_assert_msg(share < tolerance, "%s: %.2f %% of the pixels differ; look at it, and if it is right run WT_REFRESH=1 make check "
                      "SUITE=view", golden, 100 * share);
        cairo_surface_destroy(expected);
    }
    cairo_surface_destroy(actual);
    free(golden);
    free(path);
}

START_TEST(pictures_look_as_they_should)
{
    char *name = wt_format("view-%s", pictures[_i].name);
    bool by_script = strstr(pictures[_i].arguments, "--script");
    char *arguments = wt_format("%s --size 960x600 %s", pictures[_i].arguments, by_script ? "" : "--render made.png");
    succeeds("", arguments);
    check_picture(name, "made.png", pictures[_i].by ? pictures[_i].by : 1, 0.004);
    free(name);
    free(arguments);
}
END_TEST

static const double a_few_words = 0.012;

/* The question, and the answer; in colours that are told apart, and at the right moment. */
static void check_lesson(const char *name)
{
    struct wt_lesson *lesson;
    struct wt_error err = {0};
    ck_assert_msg(wt_lesson_read(name, &lesson, &err) == WT_OK, "%s", err.text);
    char *command = wt_format("cd '%s' && printf 'size 1200x720\\nscreenshot first.png\\n%saction lesson_next\\naction lesson_next\\n"
                              "screenshot last.png\\n' > s.script", scratch, lesson->second ? "action lesson_next\\n" : "");
    ck_assert_int_eq(system(command), 0);
    free(command);
    char *arguments = wt_format("--lesson %s --script s.script", name);
    succeeds("", arguments);
    static const char *const moments[] = {"first", "last"};
    for (int m = 0; m < 2; m++) {
        char *golden = wt_format("lesson-%s-%s", name, moments[m]), *made = wt_format("%s.png", moments[m]);
        check_picture(golden, made, 3, a_few_words);
        free(golden);
        free(made);
    }
    free(arguments);
    wt_lesson_free(lesson);
}

/* Each lesson's first and last frame. */
START_TEST(lessons_look_as_they_should)
{
    char **names;
    size_t count;
    struct wt_error err = {0};
    ck_assert_msg(wt_lesson_list(&names, &count, &err) == WT_OK, "%s", err.text);
    for (size_t i = 0; i < count; i++) {
        check_lesson(names[i]);
        free(names[i]);
    }
    free(names);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, scratch_enter, scratch_leave);
    suite_add_tcase(suite, tcase);
    return tcase;
}

Suite *view_suite(void)
{
    Suite *suite = suite_create("view");
    TCase *scripts = add_case(suite, "view"), *pictures_case = add_case(suite, "view pictures"), *lessons = add_case(suite, "view lessons");
    if (!getenv("WAVETAIL_VIEW"))
        return suite; /* not built: no SDL */
    tcase_add_loop_test(scripts, scripts_do_what_they_say, 0, SCRIPTS);
    tcase_add_test(scripts, scripts_play_in_a_window);
    tcase_add_test(scripts, videos_and_pictures_are_left);
    tcase_add_test(scripts, results_tell_what_traces_tell);
    tcase_add_test(scripts, results_tell_of_a_deadlock);
    tcase_add_test(scripts, problems_are_said);
    tcase_add_test(scripts, a_lesson_opens_the_window);
    tcase_add_loop_test(pictures_case, pictures_look_as_they_should, 0, PICTURES);
    tcase_add_test(lessons, lessons_look_as_they_should);
    return suite;
}
