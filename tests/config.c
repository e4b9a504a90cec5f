/* Does a config file mean what its table says, and does a wrong one say where and what to do? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/param.h"
#include "suites.h"

struct sample {
    int threads;
    int64_t blocks;
    double mean;
    char *name;
    bool cooperative;
    int kind;
    struct wt_ints order;
    struct wt_numbers weights;
    struct wt_int_lists groups;
    struct wt_curve curve;
};

static const char *const kinds[] = {"constant", "uniform", "list", NULL};

static const struct wt_param sample_params[] = {
    {"threads", WT_PARAM_INT, offsetof(struct sample, threads), .low = 1, .high = 1024, .required = true,
     .help = "threads per block"},
    {"blocks", WT_PARAM_INT64, offsetof(struct sample, blocks), .fallback = "3000000000", .help = "blocks"},
    {"name", WT_PARAM_STRING, offsetof(struct sample, name), .fallback = "unnamed", .help = "name"},
    {"cooperative", WT_PARAM_BOOL, offsetof(struct sample, cooperative), .fallback = "true",
     .help = "together"},
    {"work.mean", WT_PARAM_NUMBER, offsetof(struct sample, mean), .unit = "cycles", .low = 0, .high = 1e6,
     .fallback = "1.5", .help = "mean duration"},
    {"work.kind", WT_PARAM_CHOICE, offsetof(struct sample, kind), .choices = kinds, .fallback = "uniform",
     .help = "distribution"},
    {"work.curve", WT_PARAM_CURVE, offsetof(struct sample, curve), .fallback = "([1, 24], [8, 31])",
     .help = "curve"},
    {"order", WT_PARAM_INTS, offsetof(struct sample, order), .most = 4, .fallback = "[3, 1]",
     .help = "order"},
    {"weights", WT_PARAM_NUMBERS, offsetof(struct sample, weights), .help = "weights"},
    {"groups", WT_PARAM_INT_LISTS, offsetof(struct sample, groups), .low = 0, .high = 9, .most = 3,
     .help = "groups"},
    {"parts", WT_PARAM_GROUPS, .help = "parts"},
    {"inner", WT_PARAM_GROUP, .help = "inner"},
    {0}};

static enum wt_code read_text(const char *text, struct sample *sample, struct wt_error *err)
{
    struct wt_config *config;
    WT_TRY(wt_config_parse(text, strlen(text), "a.cfg", &config, err));
    enum wt_code code = wt_params_read(sample_params, config, wt_config_root(config), sample, err);
    wt_config_free(config);
    return code;
}

static void assert_fails(const char *text, const char *message)
{
    struct sample sample;
    struct wt_error err = {0};
    ck_assert_msg(read_text(text, &sample, &err) == WT_BAD_INPUT, "accepted: %s", text);
    ck_assert_str_eq(err.text, message);
}

START_TEST(defaults_are_those_of_the_table)
{
    struct sample s;
    struct wt_error err = {0};
    ck_assert_msg(read_text("threads = 32;", &s, &err) == WT_OK, "%s", err.text);
    ck_assert_int_eq(s.threads, 32);
    ck_assert_int_eq(s.blocks, 3000000000);
    ck_assert_double_eq(s.mean, 1.5);
    ck_assert_str_eq(s.name, "unnamed");
    ck_assert(s.cooperative);
    ck_assert_int_eq(s.kind, 1);
    ck_assert_int_eq(s.order.count, 2);
    ck_assert_int_eq(s.order.values[0], 3);
    ck_assert_int_eq(s.weights.count, 0);
    ck_assert_int_eq(s.curve.count, 2);
    ck_assert_double_eq(s.curve.y[1], 31);
    wt_params_free(sample_params, &s);
}
END_TEST

START_TEST(every_type_is_read_plain_and_with_a_source)
{
    struct sample s;
    struct wt_error err = {0};
    const char *text = "threads = { value = 64; source = \"measured: x\"; spread = \"1\"; error = \"2\"; };\n"
                       "blocks = 5e9; name = \"a\" \"b\"; cooperative = false;\n"
                       "work = { mean = 7; kind = { value = \"list\"; }; curve = ([1.5, 2], (3, -0.5)); };\n"
                       "order = (1, 0x10); weights = [0.5, 2.0]; groups = { value = ([0, 1], (), [2]); };\n"
                       "parts = ({ a = 1; }, { b = 2; });";
    ck_assert_msg(read_text(text, &s, &err) == WT_OK, "%s", err.text);
    ck_assert_int_eq(s.threads, 64);
    ck_assert_int_eq(s.blocks, 5000000000);
    ck_assert_str_eq(s.name, "ab");
    ck_assert(!s.cooperative);
    ck_assert_double_eq(s.mean, 7);
    ck_assert_int_eq(s.kind, 2);
    ck_assert_double_eq(s.curve.x[0], 1.5);
    ck_assert_double_eq(s.curve.y[1], -0.5);
    ck_assert_int_eq(s.order.values[1], 16);
    ck_assert_double_eq(s.weights.values[1], 2.0);
    ck_assert_int_eq(s.groups.count, 3);
    ck_assert_int_eq(s.groups.lists[1].count, 0);
    ck_assert_int_eq(s.groups.lists[2].values[0], 2);
    wt_params_free(sample_params, &s);
}
END_TEST

START_TEST(other_line_ends_and_a_byte_order_mark_are_read)
{
    struct sample s;
    struct wt_error err = {0};
    ck_assert_msg(read_text("\xef\xbb\xbfthreads = 5; # five\r\n\r\nname = \"n\";\r\n", &s, &err) == WT_OK, "%s",
                  err.text);
    ck_assert_int_eq(s.threads, 5);
    ck_assert_str_eq(s.name, "n");
    wt_params_free(sample_params, &s);
    assert_fails("threads = 5;\r\n\r\nnam = 1;", "a.cfg:3: unknown key 'nam'; did you mean 'name'?");
}
END_TEST

/* libconfig alone cuts 3000000000 to -1294967296 without a word. */
START_TEST(large_integers_keep_their_value)
{
    struct sample s;
    struct wt_error err = {0};
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"2147483647", 2147483647},     {"2147483648", 2147483648},
                 {"-2147483648", -2147483648LL}, {"-2147483649", -2147483649LL},
                 {"0x80000000", 2147483648},     {"9223372036854775807", INT64_MAX},
                 {"3000000000L", 3000000000},    {"12e3", 12000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200]; /* digits in names, strings and comments stay as they are */
        snprintf(text, sizeof text,
                 "/* 3000000000 */ threads = 1; # 3000000000\n name = \"\\\"3000000000\"; blocks = %s;",
                 cases[i].text);
        ck_assert_msg(read_text(text, &s, &err) == WT_OK, "%s", err.text);
        ck_assert_int_eq(s.blocks, cases[i].value);
        ck_assert_str_eq(s.name, "\"3000000000");
        wt_params_free(sample_params, &s);
    }
    assert_fails("threads = 1;\nblocks = 9223372036854775808;",
                 "a.cfg:2: this whole number does not fit 64 bits; write a smaller one");
}
END_TEST

START_TEST(unknown_keys_name_the_nearest)
{
    assert_fails("threads = 1;\nthread = 2;", "a.cfg:2: unknown key 'thread'; did you mean 'threads'?");
    assert_fails("threads = 1;\n\nwork = {\n men = 2.0;\n};",
                 "a.cfg:4: unknown key 'men'; did you mean 'mean'?");
    assert_fails("threads = 1;\nmean = 2.0;", "a.cfg:2: unknown key 'mean'; did you mean 'work.mean'?");
    assert_fails("zzzzzzzz = 1;", "a.cfg:1: unknown key 'zzzzzzzz'; remove it, or write one of: threads, blocks, name, cooperative, work, "
                 "order, weights, groups, parts, inner");
    assert_fails("threads = { value = 1;\n sorce = \"x\"; };",
                 "a.cfg:2: unknown key 'sorce'; did you mean 'source'?");
}
END_TEST

START_TEST(wrong_values_say_where_and_what_to_do)
{
    assert_fails("\nthreads = 1025;", "a.cfg:2: 'threads' = 1025 is out of range; give 1 to 1024");
    assert_fails("threads = 0;", "a.cfg:1: 'threads' = 0 is out of range; give 1 to 1024");
    assert_fails("threads = \"x\";", "a.cfg:1: 'threads' must be a whole number; write e.g. threads = 1;");
    assert_fails("threads = 1.5;", "a.cfg:1: 'threads' must be a whole number; write e.g. threads = 1;");
    assert_fails("blocks = 1;\n", "a.cfg: 'threads' is missing (threads per block); write e.g. threads = 1;");
    assert_fails("threads = { source = \"x\"; };",
                 "a.cfg:1: 'threads' has no value; write threads = { value = …; … };");
    assert_fails("threads = 1;\nwork = 5;", "a.cfg:2: 'work' is a group; write work = { … };");
    assert_fails("threads = 1; work = { mean = 1e999; };",
                 "a.cfg:1: 'work.mean' = inf is out of range; give 0 to 1000000 cycles");
    assert_fails("threads = 1; work = { kind = \"lost\"; };",
                 "a.cfg:1: 'work.kind' cannot be \"lost\"; give \"constant\", \"uniform\" or \"list\"");
    assert_fails("threads = 1; order = [1, 2, 3,\n 4, 5];",
                 "a.cfg:1: 'order' has 5 elements; give at most 4");
    assert_fails("threads = 1; groups = ([1],\n [10]);",
                 "a.cfg:2: 'groups' = 10 is out of range; give 0 to 9");
    assert_fails("threads = 1; groups = ([1], [1], [1], [1]);",
                 "a.cfg:1: 'groups' has 4 elements; give at most 3");
    assert_fails("threads = 1; work = { curve = ([2, 1],\n [2, 1]); };",
                 "a.cfg:2: 'work.curve': the first numbers of the pairs must rise");
    assert_fails("threads = 1; inner = 1;", "a.cfg:1: 'inner' must be a group; write e.g. inner = { … };");
    assert_fails("threads = 1; parts = (1);", "a.cfg:1: 'parts' must be a list of groups; write e.g. parts = "
                                              "( { … }, { … } );");
}
END_TEST

START_TEST(broken_files_say_where)
{
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"threads = ;", "1: syntax error; look for a missing ';', '=' or ',' here or just before"},
        {"threads = 1;\nwork mean",
         "2: syntax error; look for a missing ';', '=' or ',' here or just before"},
        {"threads = 1;\nthreads = 2;", "2: duplicate setting name; remove one of the two"},
        {"threads = 1;\nwork = {\n\n", "2: this '{' is not closed; add the closing bracket"},
        {"order = [1,\n 2);", "2: ')' does not close the '[' of line 1; write ']'"},
        {"work = { };\n};", "2: '}' closes nothing; remove it"},
        {"\nname = \"open\n\n", "2: this string does not end; add the closing quote"},
        {"\nname \"open\"", "2: a string cannot stand here; look for a missing name, '=', ';' or ','"},
        {"threads = 1, \"x\"", "1: a string cannot stand here; look for a missing name, '=', ';' or ','"},
        {"@include \"/dev/zero\"", "1: @include is not supported; name the other file as base instead"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[256];
        snprintf(message, sizeof message, "a.cfg:%s", cases[i].what);
        assert_fails(cases[i].text, message);
    }
}
END_TEST

/* A limit on the depth, at it and one beyond; an unlimited one would exhaust the stack. */
START_TEST(nesting_is_bounded)
{
    char text[256] = "parts = ";
    for (int depth = 64; depth <= 65; depth++) {
        char *end = text + strlen("parts = ");
        memset(end, '[', (size_t)depth);
        memset(end + depth, ']', (size_t)depth);
        end[2 * depth] = '\0';
        assert_fails(text,
                     depth == 64
                         ? "a.cfg:1: 'parts' must be a list of groups; write e.g. parts = ( { … }, { … } );"
                         : "a.cfg:1: nested deeper than 64 brackets; flatten it");
    }
}
END_TEST

START_TEST(files_that_are_no_text_are_refused)
{
    struct wt_config *config;
    struct wt_error nul = {0}, missing = {0}, folder = {0};
    ck_assert_int_eq(wt_config_parse("a = 1;\0b", 8, "a.cfg", &config, &nul), WT_BAD_INPUT);
    ck_assert_str_eq(nul.text, "a.cfg: holds a NUL byte, so it is not text; give a config file");
    ck_assert_int_eq(wt_config_read("/nowhere/a.cfg", &config, &missing), WT_BAD_INPUT);
    ck_assert_str_eq(missing.text, "/nowhere/a.cfg: cannot open: No such file or directory; check the name");
    ck_assert_int_eq(wt_config_read("/", &config, &folder), WT_BAD_INPUT);
    ck_assert_str_eq(folder.text, "/: cannot read: Is a directory; give a config file");
    ck_assert_ptr_null(config);
}
END_TEST

START_TEST(list_elements_are_read_against_a_table)
{
    const char *text = "parts = ( { threads = 1; },\n { threads = 2;\n threds = 3; } );";
    struct wt_config *config;
    struct wt_error err = {0};
    struct sample s;
    ck_assert_int_eq(wt_config_parse(text, strlen(text), "a.cfg", &config, &err), WT_OK);
    const struct config_setting_t *root = wt_config_root(config);
    ck_assert_uint_eq(wt_config_count(root, "parts"), 2);
    ck_assert_int_eq(wt_params_read(sample_params, config, wt_config_element(root, "parts", 0), &s, &err),
                     WT_OK);
    ck_assert_int_eq(s.threads, 1);
    wt_params_free(sample_params, &s);
    ck_assert_int_eq(wt_params_read(sample_params, config, wt_config_element(root, "parts", 1), &s, &err),
                     WT_BAD_INPUT);
    ck_assert_str_eq(err.text, "a.cfg:3: unknown key 'threds'; did you mean 'threads'?");
    ck_assert_ptr_null(wt_config_element(root, "parts", 2));
    wt_config_free(config);
}
END_TEST

START_TEST(plain_number_is_a_list_of_one)
{
    struct sample s;
    struct wt_error err = {0};
    ck_assert_msg(read_text("threads = 32; order = 17;", &s, &err) == WT_OK, "%s", err.text);
    ck_assert_int_eq(s.order.count, 1);
    ck_assert_int_eq(s.order.values[0], 17);
    wt_params_free(sample_params, &s);
    assert_fails("threads = 1; order = \"x\";",
                 "a.cfg:1: 'order' must be a list of whole numbers; write e.g. order = [1, 2, 3];");
}
END_TEST

START_TEST(inner_group_is_read_against_its_own_table)
{
    const char *text = "threads = 1; inner = { threads = 7; }; parts = ();";
    struct wt_config *config;
    struct wt_error err = {0};
    struct sample s;
    ck_assert_int_eq(wt_config_parse(text, strlen(text), "a.cfg", &config, &err), WT_OK);
    const struct config_setting_t *root = wt_config_root(config);
    ck_assert_int_eq(wt_params_read(sample_params, config, root, &s, &err), WT_OK);
    wt_params_free(sample_params, &s);
    ck_assert_int_eq(wt_params_read(sample_params, config, wt_config_group(root, "inner"), &s, &err), WT_OK);
    ck_assert_int_eq(s.threads, 7);
    wt_params_free(sample_params, &s);
    ck_assert_ptr_null(wt_config_group(root, "threads"));
    ck_assert_ptr_null(wt_config_group(root, "parts"));
    ck_assert_ptr_null(wt_config_group(root, "none"));
    wt_config_free(config);
}
END_TEST

static void read_more(struct wt_record *record, const char *text, const char *path)
{
    struct wt_config *config;
    struct wt_error err = {0};
    ck_assert_msg(wt_config_parse(text, strlen(text), path, &config, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_record_read(record, config, wt_config_root(config), &err) == WT_OK, "%s", err.text);
    wt_config_free(config);
}

/* A later file's value replaces the earlier one together with its source. */
START_TEST(sources_follow_their_values)
{
    struct sample s;
    struct wt_record r = wt_record_begin(sample_params, &s);
    read_more(
        &r,
        "source = \"documented: all\";\nthreads = 7;\nname = { value = \"n\"; source = \"assumed: n\"; };\n"
        "work = { source = \"measured: w\"; mean = 2.0; kind = \"list\"; };",
        "a.cfg");
    read_more(&r, "\n\nwork = { kind = \"uniform\"; };", "b.cfg");
    ck_assert_str_eq(wt_record_origin(&r, "threads")->source, "documented: all");
    ck_assert_str_eq(wt_record_origin(&r, "name")->source, "assumed: n");
    ck_assert_str_eq(wt_record_origin(&r, "work.mean")->source, "measured: w");
    ck_assert_ptr_null(wt_record_origin(&r, "work.kind")->source);
    ck_assert_str_eq(wt_record_origin(&r, "work.kind")->file, "b.cfg");
    ck_assert_int_eq(wt_record_origin(&r, "work.kind")->line, 3);
    ck_assert(!wt_record_origin(&r, "order")->given);
    ck_assert_ptr_null(wt_record_origin(&r, "nothing"));
    struct wt_error err = {0};
    wt_record_fail(&r, "work.mean", "c.cfg", &err, "too %s", "slow");
    ck_assert_str_eq(err.text, "a.cfg:4: too slow");
    wt_record_free(&r);
    wt_params_free(sample_params, &s);
}
END_TEST

static json_t *echo(const struct wt_record *record, bool with_sources)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct wt_json json = wt_json_begin(stream, false);
    wt_json_object(&json, NULL);
    if (with_sources)
        wt_record_json(record, &json);
    else
        wt_params_json(record->table, record->object, &json);
    wt_json_close(&json);
    wt_json_end(&json);
    fclose(stream);
    json_error_t problem;
    json_t *tree = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
    ck_assert_msg(tree != NULL, "%s in %s", problem.text, text);
    free(text);
    return tree;
}

START_TEST(the_echo_holds_every_value)
{
    struct sample s;
    struct wt_record r = wt_record_begin(sample_params, &s);
    read_more(&r, "threads = { value = 7; source = \"measured: \\\"x\\\"\"; }; groups = ([1], [2, 3]);",
              "a.cfg");
    json_t *plain = echo(&r, false), *full = echo(&r, true);
    ck_assert_int_eq(json_integer_value(json_object_get(plain, "threads")), 7);
    ck_assert_double_eq(json_real_value(json_object_get(json_object_get(plain, "work"), "mean")), 1.5);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(plain, "work"), "kind")), "uniform");
    json_t *groups = json_object_get(plain, "groups");
    ck_assert_int_eq(json_integer_value(json_array_get(json_array_get(groups, 1), 1)), 3);
    json_t *threads = json_object_get(full, "threads"),
           *mean = json_object_get(json_object_get(full, "work"), "mean");
    ck_assert_str_eq(json_string_value(json_object_get(threads, "source")), "measured: \"x\"");
    ck_assert_str_eq(json_string_value(json_object_get(mean, "unit")), "cycles");
    ck_assert_ptr_null(json_object_get(mean, "source"));
    json_decref(plain);
    json_decref(full);
    wt_record_free(&r);
    wt_params_free(sample_params, &s);
}
END_TEST

START_TEST(the_reference_names_every_key)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    wt_params_print(sample_params, stream);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "threads: integer, 1 to 1024, required\n"));
    ck_assert_ptr_nonnull(strstr(text, "work.mean: number, 0 to 1000000 cycles, default 1.5\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "work.kind: choice, \"constant\", \"uniform\" or \"list\", default uniform\n"));
    for (const struct wt_param *p = sample_params; p->key; p++)
        ck_assert_ptr_nonnull(strstr(text, p->key));
    free(text);
}
END_TEST

START_TEST(curves_are_straight_between_points_and_beyond)
{
    struct wt_curve c = {.count = 3, .x = {1, 8, 16}, .y = {24, 31, 47}}, one = {.count = 1, .y = {5}},
                    none = {0};
    ck_assert_double_eq_tol(wt_curve_at(&c, 1), 24, 1e-12);
    ck_assert_double_eq_tol(wt_curve_at(&c, 4.5), 27.5, 1e-12);
    ck_assert_double_eq_tol(wt_curve_at(&c, 8), 31, 1e-12);
    ck_assert_double_eq_tol(wt_curve_at(&c, 12), 39, 1e-12);
    ck_assert_double_eq_tol(wt_curve_at(&c, 20), 55, 1e-12);
    ck_assert_double_eq_tol(wt_curve_at(&c, 0), 23, 1e-12);
    ck_assert_double_eq(wt_curve_at(&one, 9), 5);
    ck_assert_double_eq(wt_curve_at(&none, 9), 0);
}
END_TEST

Suite *config_suite(void)
{
    Suite *suite = suite_create("config");
    TCase *tcase = tcase_create("config");
    tcase_add_test(tcase, defaults_are_those_of_the_table);
    tcase_add_test(tcase, every_type_is_read_plain_and_with_a_source);
    tcase_add_test(tcase, other_line_ends_and_a_byte_order_mark_are_read);
    tcase_add_test(tcase, large_integers_keep_their_value);
    tcase_add_test(tcase, unknown_keys_name_the_nearest);
    tcase_add_test(tcase, wrong_values_say_where_and_what_to_do);
    tcase_add_test(tcase, broken_files_say_where);
    tcase_add_test(tcase, nesting_is_bounded);
    tcase_add_test(tcase, files_that_are_no_text_are_refused);
    tcase_add_test(tcase, list_elements_are_read_against_a_table);
    tcase_add_test(tcase, plain_number_is_a_list_of_one);
    tcase_add_test(tcase, inner_group_is_read_against_its_own_table);
    tcase_add_test(tcase, sources_follow_their_values);
    tcase_add_test(tcase, the_echo_holds_every_value);
    tcase_add_test(tcase, the_reference_names_every_key);
    tcase_add_test(tcase, curves_are_straight_between_points_and_beyond);
    suite_add_tcase(suite, tcase);
    return suite;
}
