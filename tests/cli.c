/* Does the command line do what its tests say? Each tests/cli/NAME.test is one test:
 *
 *     # What this pins.
 *     run: $WAVETAIL occupancy --gpu h200 --block 256
 *     exit: 0
 *     match: stderr
 *     --- stdout
 *     exact lines
 *     --- stderr
 *     extended regular expressions, one for each line
 *
 * Several `run:` lines make one script, run by sh in an empty scratch folder with $WAVETAIL = the binary and
 * $ROOT = the source tree. `exit:` is 0 when missing. A section that is missing expects nothing. In a section
 * named by `match:` each line is an extended regular expression for the whole line; otherwise lines are exact,
 * with the source tree's path written as $ROOT. WT_REFRESH=1 rewrites exit codes and exact sections. */
#include <glob.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/outfile.h"
#include "scratch.h"
#include "suites.h"

enum { STDOUT, STDERR, STREAMS };

static const char *const stream_names[STREAMS] = {"stdout", "stderr"};

struct cli_test {
    char *head;   /* everything before the first section, without `exit:` */
    char *script;
    int exit_code;
    bool is_pattern[STREAMS];
    char *expected[STREAMS]; /* "" when missing */
};

static glob_t files;

/* `text` with `more` at its end; frees `text`. */
static char *append(char *text, const char *more)
{
    char *joined = wt_format("%s%s", text, more);
    free(text);
    return joined;
}

static char *read_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    ck_assert_msg(stream != NULL, "%s cannot be read", path);
    char *text = text_of(stream);
    fclose(stream);
    return text;
}

static void write_file(const char *path, const char *text)
{
    struct wt_outfile out;
    struct wt_error err = {0};
    ck_assert_msg(wt_outfile_open(&out, path, &err) == WT_OK, "%s", err.text);
    fputs(text, out.stream);
    ck_assert_msg(wt_outfile_commit(&out, &err) == WT_OK, "%s", err.text);
}

/* Every `from` in `text` becomes `to`; frees `text`. */
static char *replace_all(char *text, const char *from, const char *to)
{
    char *result = wt_strdup("");
    char *rest = text;
    for (char *found; (found = strstr(rest, from)); rest = found + strlen(from)) {
        *found = '\0';
        result = append(append(result, rest), to);
    }
    result = append(result, rest);
    free(text);
    return result;
}

static int stream_by_name(const char *name)
{
    for (int s = 0; s < STREAMS; s++)
        if (!strncmp(name, stream_names[s], strlen(stream_names[s])))
            return s;
    return -1;
}

/* A line before the sections. */
static void parse_head(struct cli_test *test, const char *line, const char *path)
{
    if (sscanf(line, "exit: %d", &test->exit_code) == 1)
        return;
    test->head = append(test->head, line);
    if (!strncmp(line, "run: ", 5))
        test->script = append(test->script, line + 5);
    else if (!strncmp(line, "match: ", 7) && stream_by_name(line + 7) >= 0)
        test->is_pattern[stream_by_name(line + 7)] = true;
    else
        ck_assert_msg(line[0] == '#' || line[0] == '\n', "%s: not understood: %s", path, line);
}

static struct cli_test read_test(const char *path)
{
    struct cli_test test = {.head = wt_strdup(""), .script = wt_strdup("")};
    for (int s = 0; s < STREAMS; s++)
        test.expected[s] = wt_strdup("");
    FILE *stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s cannot be read", path);
    char *line = NULL;
    size_t size = 0;
    int section = -1;
    while (getline(&line, &size, stream) > 0) {
        if (!strncmp(line, "--- ", 4)) {
            section = stream_by_name(line + 4);
            ck_assert_msg(section >= 0, "%s: no section may be called: %s", path, line + 4);
        } else if (section < 0) {
            parse_head(&test, line, path);
        } else {
            test.expected[section] = append(test.expected[section], line);
        }
    }
    free(line);
    fclose(stream);
    ck_assert_msg(test.script[0], "%s has no run: line", path);
    return test;
}

static void free_test(struct cli_test *test)
{
    free(test->head);
    free(test->script);
    for (int s = 0; s < STREAMS; s++)
        free(test->expected[s]);
}

/* Runs the script in the present folder; output goes to ../actual.stdout and ../actual.stderr. */
static int run_script(const char *script)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        setenv("ROOT", WT_SOURCE_ROOT, 1);
        setenv("LC_ALL", "C", 1);
        unsetenv("WAVETAIL_CONFIGS");
        if (freopen("/dev/null", "r", stdin) && freopen("../actual.stdout", "w", stdout) &&
            freopen("../actual.stderr", "w", stderr))
            execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *shell_output(const char *command)
{
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    char *text = text_of(pipe);
    pclose(pipe);
    return text;
}

static bool line_matches(const char *pattern, const char *line, const char *path)
{
    char *whole = wt_format("^(%s)$", pattern);
    regex_t regex;
    ck_assert_msg(regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB) == 0, "%s: bad pattern: %s", path, pattern);
    bool matches = regexec(&regex, line, 0, NULL, 0) == 0;
    regfree(&regex);
    free(whole);
    return matches;
}

/* `actual` with each line that its pattern matches replaced by the pattern, so that a diff shows only the rest. */
static char *fold_patterns(const char *patterns, const char *actual, const char *path)
{
    char *left = wt_strdup(patterns), *right = wt_strdup(actual), *result = wt_strdup("");
    char *left_rest = left, *right_rest = right, *line;
    while ((line = strsep(&right_rest, "\n")) && (right_rest || *line)) {
        char *pattern = strsep(&left_rest, "\n");
        bool matches = pattern && line_matches(pattern, line, path);
        result = append(append(result, matches ? pattern : line), right_rest ? "\n" : "");
    }
    free(left);
    free(right);
    return result;
}

/* What a stream printed, in the form in which it is compared. */
static char *actual_output(const struct cli_test *test, int stream, const char *path)
{
    char *name = wt_format("../actual.%s", stream_names[stream]);
    char *text = replace_all(read_file(name), WT_SOURCE_ROOT, "$ROOT");
    free(name);
    if (!test->is_pattern[stream])
        return text;
    char *folded = fold_patterns(test->expected[stream], text, path);
    free(text);
    return folded;
}

/* NULL when equal, otherwise the difference as `diff -u` shows it. */
static char *difference(const char *expected, const char *actual, const char *name)
{
    if (!strcmp(expected, actual))
        return NULL;
    write_file("../expected.txt", expected);
    write_file("../actual.txt", actual);
    char *command = wt_format("diff -u --label 'expected %s' --label 'actual %s' ../expected.txt ../actual.txt",
                              name, name);
    char *text = shell_output(command);
    free(command);
    return text;
}

static void refresh(const struct cli_test *test, const char *path, int exit_code, char *const actual[STREAMS])
{
    char *text = exit_code ? wt_format("%sexit: %d\n", test->head, exit_code) : wt_strdup(test->head);
    for (int s = 0; s < STREAMS; s++) {
        const char *body = test->is_pattern[s] ? test->expected[s] : actual[s];
        if (!body[0])
            continue;
        char *section = wt_format("--- %s\n%s%s", stream_names[s], body, body[strlen(body) - 1] == '\n' ? "" : "\n");
        text = append(text, section);
        free(section);
    }
    write_file(path, text);
    free(text);
}

/* Everything that differs, as one message; "" when nothing does. */
static char *report(const struct cli_test *test, int exit_code, char *const actual[STREAMS])
{
    char *text = wt_strdup("");
    for (int s = 0; s < STREAMS; s++) {
        char *diff = difference(test->expected[s], actual[s], stream_names[s]);
        text = append(text, diff ? diff : "");
        free(diff);
    }
    if (exit_code == test->exit_code)
        return text;
    char *codes = wt_format("exit code %d, expected %d\n", exit_code, test->exit_code);
    text = append(text, codes);
    free(codes);
    return text;
}

/* One folder further in: what the script prints is kept beside its files. */
static void enter_folder(void)
{
    char *inner = scratch_path("work");
    ck_assert_int_eq(mkdir(inner, 0777), 0);
    ck_assert_int_eq(chdir(inner), 0);
    free(inner);
}

START_TEST(command_line)
{
    const char *path = files.gl_pathv[_i];
    ck_assert_msg(getenv("WAVETAIL") != NULL, "WAVETAIL is not set; `make check` sets it");
    struct cli_test test = read_test(path);
    enter_folder();
    int exit_code = run_script(test.script);
    char *actual[STREAMS];
    for (int s = 0; s < STREAMS; s++)
        actual[s] = actual_output(&test, s, path);
    char *failure = report(&test, exit_code, actual);
    if (failure[0] && getenv("WT_REFRESH"))
        refresh(&test, path, exit_code, actual);
    ck_assert_int_eq(chdir(WT_SOURCE_ROOT), 0);
    ck_assert_msg(!failure[0] || getenv("WT_REFRESH"), "%s: %s\n%s", strrchr(path, '/') + 1, test.script, failure);
    free(failure);
    for (int s = 0; s < STREAMS; s++)
        free(actual[s]);
    free_test(&test);
}
END_TEST

Suite *cli_suite(void)
{
    Suite *suite = suite_create("cli");
    TCase *tcase = tcase_create("cli");
    tcase_set_timeout(tcase, 180);
    tcase_add_checked_fixture(tcase, scratch_enter, scratch_leave);
    glob(WT_SOURCE_ROOT "/tests/cli/*.test", 0, NULL, &files);
    tcase_add_loop_test(tcase, command_line, 0, (int)files.gl_pathc);
    suite_add_tcase(suite, tcase);
    return suite;
}
