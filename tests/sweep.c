/* Is a sweep complete, the same whoever works on it, and can it be taken up again? */
#include "scratch.h"
#include "suites.h"

#include <math.h>
#include <pty.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"

/* Four SMs, one block to an SM, blocks of 1,000 cycles: the makespan is 1,000 for each round of four. */
static const char rounds_study[] =
    "study = { axes = ( { key = \"grid\"; values = [4, 5, 8, 10]; }, { key = \"duration.cycles\"; values = [1000.0, 500.0]; } ); };\n"
    "gpu = \"four-sms\";\n"
    "kernels = ( { grid = 1; block = 256; dynamic_shared = 120000; duration = { distribution = \"constant\"; cycles = 1.0; }; } );\n";

/* The cell of column `name` in row `row` (from 0), as a number. Cells hold no commas. */
static double cell(const char *table, size_t row, const char *name)
{
    size_t column = 0;
    const char *at = table, *end = strchr(table, '\n');
    for (; at < end; column++) {
        size_t length = strcspn(at, ",\n");
        if (length == strlen(name) && !strncmp(at, name, length))
            break;
        at += length + 1;
    }
    ck_assert_msg(at < end, "no column '%s'", name);
    for (size_t i = 0; i <= row; i++) {
        ck_assert_ptr_nonnull(end);
        at = end + 1;
        end = strchr(at, '\n');
    }
    for (; column > 0; column--)
        at += strcspn(at, ",\n") + 1;
    return strtod(at, NULL);
}

START_TEST(a_product_has_every_pair_in_order)
{
    static const double rounds[] = {1, 2, 2, 3}, cycles[] = {1000, 500};
    scratch_write("s.cfg", rounds_study);
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet --out t.csv"), 0);
    char *table = scratch_text("t.csv");
    ck_assert_ptr_nonnull(table);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_double_eq(cell(table, i, "point"), (double)i);
        ck_assert_double_eq(cell(table, i, "makespan"), rounds[i / 2] * cycles[i % 2]);
    }
    free(table);
}
END_TEST

/* The values of column `name` in rows 0, 1, … */
static void assert_column(const char *table, const char *name, size_t count, const double *values)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_double_eq_tol(cell(table, i, name), values[i], 1e-9 * values[i]);
}

/* A list, whole steps, fractions, equal ratios; derived: 4,096 threads in blocks of these sizes, rounded up. */
START_TEST(values_are_as_written)
{
    scratch_write("s.cfg", "study = { combine = \"zip\"; axes = (\n"
                        "{ key = \"block\"; values = [96, 1000, 32, 512]; },\n"
                        "{ key = \"registers\"; from = 16; to = 28; step = 4; },\n"
                        "{ key = \"duration.cycles\"; from = 1.5; to = 3.0; count = 4; },\n"
                        "{ key = \"dynamic_shared\"; from = 10; to = 10000; count = 4; scale = \"log\"; } );\n"
                        "derived = ( { key = \"grid\"; value = 4096; over = \"block\"; round = \"up\"; } ); };\n"
                        "kernels = ( { grid = 1; block = 1; duration = { distribution = \"constant\"; cycles = 1.0; }; } );");
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet --out t.csv && test $(wc -l <t.csv) = 5"), 0);
    char *table = scratch_text("t.csv");
    assert_column(table, "block", 4, (const double[]){96, 1000, 32, 512});
    assert_column(table, "registers", 4, (const double[]){16, 20, 24, 28});
    assert_column(table, "duration.cycles", 4, (const double[]){1.5, 2, 2.5, 3});
    assert_column(table, "dynamic_shared", 4, (const double[]){10, 100, 1000, 10000});
    assert_column(table, "grid", 4, (const double[]){43, 5, 128, 8});
    free(table);
}
END_TEST

/* Two keys that go together are one axis: 2 x 2 points, not 2 x 2 x 2. */
START_TEST(a_key_goes_with_another)
{
    scratch_write("s.cfg", "study = { axes = ( { key = \"registers\"; values = [32, 64]; }, { key = \"block\"; values = [96, 128]; },\n"
                        "{ key = \"duration.cycles\"; values = [500, 400]; with = \"registers\"; } ); };\n"
                        "kernels = ( { grid = 1; block = 32; duration = { distribution = \"constant\"; cycles = 1; }; } );");
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet --out t.csv && test $(wc -l <t.csv) = 5"), 0);
    char *table = scratch_text("t.csv");
    assert_column(table, "registers", 4, (const double[]){32, 32, 64, 64});
    assert_column(table, "block", 4, (const double[]){96, 128, 96, 128});
    assert_column(table, "duration.cycles", 4, (const double[]){500, 500, 400, 400});
    assert_column(table, "makespan", 4, (const double[]){500, 500, 400, 400});
    free(table);
    ck_assert_int_eq(scratch_shell("sed -i 's/500, 400/500/' s.cfg && ! $WAVETAIL sweep s.cfg 2>log && grep -qx \"s.cfg:2: axis "
                           "'duration.cycles' has 1 values and 'registers', with which it goes, 2; give as many\" log"), 0);
    ck_assert_int_eq(scratch_shell("sed -i 's/with = .registers/with = \\\"regs/' s.cfg && ! $WAVETAIL sweep s.cfg 2>log && "
                           "grep -q 'no axis of its own' log"), 0);
}
END_TEST

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The quartiles of 400 samples: within three standard errors (0.065 of the probability) of the uniform's and the log-uniform's. */
static void assert_quartiles(const char *table, const char *name, double low, double high, bool is_log)
{
    enum { SAMPLES = 400 };
    double values[SAMPLES];
    for (size_t i = 0; i < SAMPLES; i++)
        values[i] = cell(table, i, name);
    qsort(values, SAMPLES, sizeof *values, ascending);
    ck_assert_double_ge(values[0], low);
    ck_assert_double_le(values[SAMPLES - 1], high);
    for (int quarter = 1; quarter < 4; quarter++) {
        double v = values[quarter * SAMPLES / 4];
        double share = is_log ? log(v / low) / log(high / low) : (v - low) / (high - low);
        ck_assert_double_eq_tol(share, 0.25 * quarter, 0.075);
    }
}

START_TEST(samples_are_spread_as_asked)
{
    scratch_write("s.cfg", "study = { combine = \"zip\"; axes = (\n"
                        "{ key = \"grid\"; from = 1; to = 1000; samples = 400; },\n"
                        "{ key = \"duration.cycles\"; from = 10.0; to = 1e4; samples = 400; scale = \"log\"; } ); };\n"
                        "kernels = ( { grid = 1; block = 32; duration = { distribution = \"constant\"; cycles = 1.0; }; } );");
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet --out t.csv"), 0);
    char *table = scratch_text("t.csv");
    for (size_t i = 0; i < 400; i++)
        ck_assert_double_eq(cell(table, i, "grid"), floor(cell(table, i, "grid")));
    assert_quartiles(table, "grid", 1, 1000, false);
    assert_quartiles(table, "duration.cycles", 10, 1e4, true);
    free(table);
}
END_TEST

/* What a finished run left is one file. A journal with its last line torn, as a kill leaves it, is taken up; a row in it counts
 * and is not done again: here it is a forged one. */
START_TEST(a_stopped_run_is_taken_up)
{
    scratch_write("s.cfg", rounds_study);
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet --out whole.csv && test ! -e whole.csv.journal"), 0);
    /* A full disk stops the run before the table is there, when the journal is complete. */
    ck_assert_int_eq(scratch_shell("mkdir t.csv && ! $WAVETAIL sweep s.cfg -j1 --quiet --out t.csv 2>/dev/null && rmdir t.csv"), 0);
    ck_assert_int_eq(scratch_shell("test $(wc -l <t.csv.journal) = 9"), 0);
    ck_assert_int_eq(scratch_shell("head -5 t.csv.journal | sed '2s/,$/,forged/' >j && sed -n 6p t.csv.journal | head -c 30 >>j"), 0);
    ck_assert_int_eq(scratch_shell("mv j t.csv.journal"), 0);
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --out t.csv 2>notes && grep -q '^4 of 8 points' notes"), 0);
    ck_assert_int_eq(scratch_shell("grep -q ,forged t.csv && sed 's/,forged/,/' t.csv | cmp - whole.csv"), 0);
}
END_TEST

START_TEST(threads_make_no_difference)
{
    scratch_write("s.cfg", "study = { axes = ( { key = \"seed\"; from = 1; to = 1000; samples = 40; },\n"
                        "{ key = \"grid\"; from = 10; to = 3000; count = 40; scale = \"log\"; } ); combine = \"zip\"; };\n"
                        "kernels = ( { block = 128; duration = { distribution = \"lognormal\"; mean = 5000.0; sigma = 1.0; }; } );");
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet -j1 --out one.csv"), 0);
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet -j4 --out four.csv"), 0);
    ck_assert_int_eq(scratch_shell("cmp one.csv four.csv && test $(wc -l <one.csv) = 41"), 0);
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet --seed 2 | cmp -s - one.csv; test $? = 1"), 0);
}
END_TEST

/* Blocks of 2,048 threads do not exist: that row says why, the others are there. */
START_TEST(a_point_that_cannot_be_launched_says_why)
{
    scratch_write("s.cfg", "study = { axes = ( { key = \"dynamic_shared\"; values = [1000, 300000, 2000]; } ); };\n"
                        "kernels = ( { grid = 10; block = 128; duration = { distribution = \"constant\"; cycles = 100.0; }; } );");
    ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet --out t.csv"), 0);
    ck_assert_int_eq(scratch_shell("test $(grep -c 'shared memory' t.csv) = 1 && grep -q '^1,300000,.*shared memory' t.csv"), 0);
}
END_TEST

/* ---- Progress ---- */

/* What `command` writes to a terminal; owned by the caller. */
static char *on_terminal(const char *command)
{
    char *text = NULL, buffer[4096];
    size_t size = 0;
    int terminal, status;
    FILE *kept = open_memstream(&text, &size);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(scratch_shell(command));
    for (ssize_t length; (length = read(terminal, buffer, sizeof buffer)) > 0;) /* fails when the other side is closed */
        fwrite(buffer, 1, (size_t)length, kept);
    waitpid(child, &status, 0);
    close(terminal);
    fclose(kept);
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    return text;
}

/* One line, rewritten, with the time that is left, and cleared in the end. */
START_TEST(progress_is_shown_on_a_terminal)
{
    scratch_write("s.cfg", "study = { axes = ( { key = \"seed\"; from = 1; to = 30; } ); };\ngpu = \"four-sms\";\n"
                        "kernels = ( { grid = 500000; block = 256;"
                        " duration = { distribution = \"lognormal\"; mean = 5000.0; sigma = 1.0; }; } );\n");
    char *text = on_terminal("$WAVETAIL sweep s.cfg -j1 --out t.csv");
    regex_t line;
    ck_assert_int_eq(regcomp(&line, "^(\r\\[#* *\\] [0-9]+ of 30 points, [0-9]+ s left\033\\[K)+\r\033\\[K$", REG_EXTENDED), 0);
    ck_assert_msg(regexec(&line, text, 0, NULL, 0) == 0, "%s", text);
    regfree(&line);
    free(text);
}
END_TEST

/* ---- Several processes ---- */

/* Without Open MPI nothing is to be tested. */
static bool has_mpi(void)
{
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    return scratch_shell("command -v mpirun >/dev/null && test -x \"$(dirname $WAVETAIL)/wavetail-sweep-mpi\"") == 0;
}

static const char many_points[] =
    "study = { axes = ( { key = \"seed\"; from = 1; to = 60; } ); };\ngpu = \"four-sms\";\n"
    "kernels = ( { grid = 150000; block = 256; duration = { distribution = \"lognormal\"; mean = 5000.0; sigma = 1.0; }; } );\n";

/* Asan's leak check sees Open MPI's own. */
#define MPIRUN "ASAN_OPTIONS=detect_leaks=0 timeout 100 mpirun --oversubscribe "

static char one_csv[64]; /* the table of many_points by one process */

static void make_one(void)
{
    scratch_enter();
    if (has_mpi()) {
        scratch_write("s.cfg", many_points);
        ck_assert_int_eq(scratch_shell("$WAVETAIL sweep s.cfg --quiet --out one.csv"), 0);
        strcpy(one_csv, "/tmp/wavetail-sweep-one-XXXXXX");
        int file = mkstemp(one_csv);
        ck_assert_int_ge(file, 0);
        close(file);
        setenv("ONE", one_csv, 1);
        ck_assert_int_eq(scratch_shell("mv one.csv $ONE"), 0);
    }
    scratch_leave();
}

static void remove_one(void)
{
    unlink(one_csv);
}

START_TEST(processes_make_no_difference)
{
    if (!has_mpi())
        return;
    scratch_write("s.cfg", many_points);
    ck_assert_int_eq(scratch_shell(MPIRUN "-n 4 $WAVETAIL sweep s.cfg --quiet --out four.csv 2>log"), 0);
    ck_assert_int_eq(scratch_shell("cmp $ONE four.csv"), 0);
    ck_assert_int_eq(scratch_shell(MPIRUN "-n 3 $WAVETAIL sweep none.cfg --quiet 2>&1 | grep -c 'none.cfg: cannot open' | grep -qx 1"), 0);
}
END_TEST

/* Rank 2 of four is killed when the first rows are there. Where the machine was so busy that most were by then, once more. The
 * exit status of mpirun goes to the file `status`. */
static void lose_a_rank(const char *option)
{
    scratch_write("s.cfg", many_points);
    scratch_write("rank.sh", "echo $$ >pid.$OMPI_COMM_WORLD_RANK\nexec $WAVETAIL sweep s.cfg --quiet --out four.csv\n");
    scratch_write("kill.sh", "for try in 1 2 3 4 5; do rm -f pid.* four.csv*\n" MPIRUN "$1 -n 4 sh rank.sh >log 2>&1 & run=$!; n=0\n"
                          "until test -s pid.2 && test -e four.csv.journal && test $(wc -l <four.csv.journal) -gt 3\n"
                          "do sleep 0.02; n=$((n + 1)); test $n -lt 2000 || break; done; kill -9 $(cat pid.2)\n"
                          "test -e four.csv; late=$?; wait $run; echo $? >status; test $late = 0 || exit 0; done; exit 1\n");
    char *command = wt_format("sh kill.sh %s", option);
    ck_assert_int_eq(scratch_shell(command), 0);
    free(command);
}

/* As it comes, mpirun then ends the others, sooner or later: the table is whole, or is not there and the journal is, with whose help
 * it becomes whole. */
START_TEST(a_killed_ranks_sweep_is_taken_up)
{
    if (!has_mpi())
        return;
    lose_a_rank("");
    ck_assert_int_eq(scratch_shell("test $(cat status) != 0 && { test -e four.csv || test -e four.csv.journal; }"), 0);
    ck_assert_int_eq(scratch_shell("test -e four.csv || " MPIRUN "-n 4 $WAVETAIL sweep s.cfg --out four.csv 2>log2"), 0);
    ck_assert_int_eq(scratch_shell("test ! -e log2 || grep -q 'of 60 points are in' log2"), 0);
    ck_assert_int_eq(scratch_shell("cmp $ONE four.csv"), 0);
}
END_TEST

/* With Open MPI's option to go on, the very run that loses a rank writes the table. */
START_TEST(others_do_a_killed_ranks_points)
{
    if (!has_mpi() || scratch_shell("mpirun --version | grep -q 'Open MPI'") != 0)
        return;
    lose_a_rank("--enable-recovery");
    ck_assert_int_eq(scratch_shell("cmp $ONE four.csv && test ! -e four.csv.journal"), 0);
    ck_assert_int_eq(scratch_shell("grep -q '^1 of 4 processes died; the others did their points' log"), 0);
}
END_TEST

Suite *sweep_suite(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tests = tcase_create("sweep");
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_product_has_every_pair_in_order);
    tcase_add_test(tests, values_are_as_written);
    tcase_add_test(tests, a_key_goes_with_another);
    tcase_add_test(tests, samples_are_spread_as_asked);
    tcase_add_test(tests, progress_is_shown_on_a_terminal);
    tcase_add_test(tests, a_stopped_run_is_taken_up);
    tcase_add_test(tests, threads_make_no_difference);
    tcase_add_test(tests, a_point_that_cannot_be_launched_says_why);
    suite_add_tcase(suite, tests);
    TCase *processes = tcase_create("processes");
    tcase_add_unchecked_fixture(processes, make_one, remove_one);
    tcase_add_checked_fixture(processes, scratch_enter, scratch_leave);
    tcase_set_timeout(processes, 120);
    tcase_add_test(processes, processes_make_no_difference);
    tcase_add_test(processes, a_killed_ranks_sweep_is_taken_up);
    tcase_add_test(processes, others_do_a_killed_ranks_points);
    suite_add_tcase(suite, processes);
    return suite;
}
