/* Is a sweep complete, the same whoever works on it, and can it be taken up again? */
#include "suites.h"

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

static char folder[64];

static void enter_folder(void)
{
    strcpy(folder, "/tmp/wavetail-sweep-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void leave_folder(void)
{
    char *command = wt_format("rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    free(command);
}

static void write_file(const char *name, const char *text)
{
    char *path = wt_format("%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

/* Owned by the caller; NULL: there is no such file. */
static char *read_file(const char *name)
{
    char *path = wt_format("%s/%s", folder, name), *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    free(path);
    if (!file)
        return NULL;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = wt_strdup("");
    }
    fclose(file);
    return text;
}

/* In the folder; the exit status. */
static int shell(const char *command)
{
    char *line = wt_format("cd %s && %s", folder, command);
    int status = system(line);
    free(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

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
    write_file("s.cfg", rounds_study);
    ck_assert_int_eq(shell("$WAVETAIL sweep s.cfg --quiet --out t.csv"), 0);
    char *table = read_file("t.csv");
    ck_assert_ptr_nonnull(table);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_double_eq(cell(table, i, "point"), (double)i);
        ck_assert_double_eq(cell(table, i, "makespan"), rounds[i / 2] * cycles[i % 2]);
    }
    free(table);
}
END_TEST

/* What a finished run left is one file. A journal with its last line torn, as a kill leaves it, is taken up; a row in it counts
 * and is not done again: here it is a forged one. */
START_TEST(a_stopped_run_is_taken_up)
{
    write_file("s.cfg", rounds_study);
    ck_assert_int_eq(shell("$WAVETAIL sweep s.cfg --quiet --out whole.csv && test ! -e whole.csv.journal"), 0);
    /* A full disk stops the run before the table is there, when the journal is complete. */
    ck_assert_int_eq(shell("mkdir t.csv && ! $WAVETAIL sweep s.cfg -j1 --quiet --out t.csv 2>/dev/null && rmdir t.csv"), 0);
    ck_assert_int_eq(shell("test $(wc -l <t.csv.journal) = 9"), 0);
    ck_assert_int_eq(shell("head -5 t.csv.journal | sed '2s/,$/,forged/' >j && sed -n 6p t.csv.journal | head -c 30 >>j && mv j t.csv.journal"), 0);
    ck_assert_int_eq(shell("$WAVETAIL sweep s.cfg --out t.csv 2>notes && grep -q '^4 of 8 points' notes"), 0);
    ck_assert_int_eq(shell("grep -q ,forged t.csv && sed 's/,forged/,/' t.csv | cmp - whole.csv"), 0);
}
END_TEST

START_TEST(threads_make_no_difference)
{
    write_file("s.cfg", "study = { axes = ( { key = \"seed\"; from = 1; to = 1000; samples = 40; },\n"
                        "{ key = \"grid\"; from = 10; to = 3000; count = 40; scale = \"log\"; } ); combine = \"zip\"; };\n"
                        "kernels = ( { block = 128; duration = { distribution = \"lognormal\"; mean = 5000.0; sigma = 1.0; }; } );");
    ck_assert_int_eq(shell("$WAVETAIL sweep s.cfg --quiet -j1 --out one.csv && $WAVETAIL sweep s.cfg --quiet -j4 --out four.csv"), 0);
    ck_assert_int_eq(shell("cmp one.csv four.csv && test $(wc -l <one.csv) = 41"), 0);
    ck_assert_int_eq(shell("$WAVETAIL sweep s.cfg --quiet --seed 2 | cmp -s - one.csv; test $? = 1"), 0);
}
END_TEST

/* Blocks of 2,048 threads do not exist: that row says why, the others are there. */
START_TEST(a_point_that_cannot_be_launched_says_why)
{
    write_file("s.cfg", "study = { axes = ( { key = \"dynamic_shared\"; values = [1000, 300000, 2000]; } ); };\n"
                        "kernels = ( { grid = 10; block = 128; duration = { distribution = \"constant\"; cycles = 100.0; }; } );");
    ck_assert_int_eq(shell("$WAVETAIL sweep s.cfg --quiet --out t.csv"), 0);
    ck_assert_int_eq(shell("test $(grep -c 'shared memory' t.csv) = 1 && grep -q '^1,300000,.*shared memory' t.csv"), 0);
}
END_TEST

Suite *sweep_suite(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tests = tcase_create("sweep");
    tcase_add_checked_fixture(tests, enter_folder, leave_folder);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_product_has_every_pair_in_order);
    tcase_add_test(tests, a_stopped_run_is_taken_up);
    tcase_add_test(tests, threads_make_no_difference);
    tcase_add_test(tests, a_point_that_cannot_be_launched_says_why);
    suite_add_tcase(suite, tests);
    return suite;
}
