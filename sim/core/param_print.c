/* Parameters on the way out: the reference, JSON, and the text of a value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/param.h"
#include "core/param_types.h"
#include "core/text.h"

static const struct wt_param_kind kinds[] = {
    [WT_PARAM_INT] = {"integer", "a whole number", "1", sizeof(int)},
    [WT_PARAM_INT64] = {"integer", "a whole number", "1", sizeof(int64_t)},
    [WT_PARAM_NUMBER] = {"number", "a number", "1.5", sizeof(double)},
    [WT_PARAM_STRING] = {"string", "a string", "\"text\"", sizeof(char *)},
    [WT_PARAM_BOOL] = {"boolean", "true or false", "true", sizeof(bool)},
    [WT_PARAM_CHOICE] = {"choice", "a string", "\"name\"", sizeof(int)},
    [WT_PARAM_INTS] = {"integers", "a list of whole numbers", "[1, 2, 3]", sizeof(struct wt_ints)},
    [WT_PARAM_NUMBERS] = {"numbers", "a list of numbers", "[1.0, 2.5]", sizeof(struct wt_numbers)},
    [WT_PARAM_INT_LISTS] = {"lists of integers", "a list of lists of whole numbers", "([0, 1], [2, 3])",
                            sizeof(struct wt_int_lists)},
    [WT_PARAM_CURVE] = {"curve", "a list of pairs of numbers", "([1, 24], [8, 31])", sizeof(struct wt_curve)},
    [WT_PARAM_GROUPS] = {"groups", "a list of groups", "( { … }, { … } )", 0},
    [WT_PARAM_LIST] = {"list", "a list of plain values", "[1, 2]", 0},
    [WT_PARAM_GROUP] = {"group", "a group", "{ … }", 0},
};

const struct wt_param_kind *wt_param_kind(enum wt_param_type type)
{
    return &kinds[type];
}

static char *choice_names(const struct wt_param *param)
{
    char *text = wt_strdup("");
    for (size_t i = 0; param->choices[i]; i++) {
        const char *join = i == 0 ? "" : param->choices[i + 1] ? ", " : " or ";
        char *longer = wt_format("%s%s\"%s\"", text, join, param->choices[i]);
        free(text);
        text = longer;
    }
    return text;
}

char *wt_param_range(const struct wt_param *param)
{
    if (param->type == WT_PARAM_CHOICE)
        return choice_names(param);
    const char *space = param->unit ? " " : "", *unit = param->unit ? param->unit : "";
    if (param->low == 0 && param->high == 0)
        return wt_format("any finite number%s%s", param->unit ? " of " : "", unit);
    if (param->high == HUGE_VAL)
        return wt_format("at least %.10g%s%s", param->low, space, unit);
    return wt_format("%.10g to %.10g%s%s", param->low, param->high, space, unit);
}

/* ---- Reference ---- */

enum { WIDTH = 100, INDENT = 6 };

static bool has_range(const struct wt_param *param)
{
    bool numeric =
        param->type != WT_PARAM_STRING && param->type != WT_PARAM_BOOL && !wt_param_is_left_to_caller(param);
    return param->type == WT_PARAM_CHOICE || (numeric && (param->low != 0 || param->high != 0));
}

static void print_table(const struct wt_param *table, FILE *stream, int indent)
{
    for (const struct wt_param *p = table; p->key; p++) {
        fprintf(stream, "%*s%s: %s", indent, "", p->key, wt_param_kind(p->type)->name);
        char *range = wt_param_range(p);
        if (has_range(p))
            fprintf(stream, ", %s", range);
        else if (p->unit)
            fprintf(stream, ", %s", p->unit);
        free(range);
        if (p->most > 0)
            fprintf(stream, ", at most %d", p->most);
        if (p->required)
            fputs(", required", stream);
        else if (p->fallback)
            fprintf(stream, ", default %s", p->fallback);
        fputc('\n', stream);
        wt_print_wrapped(stream, indent + INDENT, WIDTH, p->help);
        if (p->groups)
            print_table(p->groups, stream, indent + INDENT);
    }
}

void wt_params_print(const struct wt_param *table, FILE *stream)
{
    print_table(table, stream, 0);
}

/* ---- JSON ---- */

static void json_ints(struct wt_json *json, const char *key, const struct wt_ints *ints)
{
    wt_json_array(json, key);
    for (int i = 0; i < ints->count; i++)
        wt_json_int(json, NULL, ints->values[i]);
    wt_json_close(json);
}

static void json_numbers(struct wt_json *json, const char *key, const double *values, int count)
{
    wt_json_array(json, key);
    for (int i = 0; i < count; i++)
        wt_json_number(json, NULL, values[i], 15);
    wt_json_close(json);
}

static void json_curve(struct wt_json *json, const char *key, const struct wt_curve *curve)
{
    wt_json_array(json, key);
    for (int i = 0; i < curve->count; i++)
        json_numbers(json, NULL, (double[]){curve->x[i], curve->y[i]}, 2);
    wt_json_close(json);
}

static void json_int_lists(struct wt_json *json, const char *key, const struct wt_int_lists *lists)
{
    wt_json_array(json, key);
    for (int i = 0; i < lists->count; i++)
        json_ints(json, NULL, &lists->lists[i]);
    wt_json_close(json);
}

static void json_value(struct wt_json *json, const char *key, const struct wt_param *param,
                       const void *object)
{
    const void *field = (const char *)object + param->offset;
    const struct wt_numbers *numbers = field;
    switch (param->type) {
    case WT_PARAM_INT:
        wt_json_int(json, key, *(const int *)field);
        break;
    case WT_PARAM_INT64:
        wt_json_int(json, key, *(const int64_t *)field);
        break;
    case WT_PARAM_NUMBER:
        wt_json_number(json, key, *(const double *)field, 15);
        break;
    case WT_PARAM_STRING:
        wt_json_string(json, key, *(char *const *)field);
        break;
    case WT_PARAM_BOOL:
        wt_json_bool(json, key, *(const bool *)field);
        break;
    case WT_PARAM_CHOICE:
        wt_json_string(json, key, param->choices[*(const int *)field]);
        break;
    case WT_PARAM_INTS:
        json_ints(json, key, field);
        break;
    case WT_PARAM_NUMBERS:
        json_numbers(json, key, numbers->values, numbers->count);
        break;
    case WT_PARAM_INT_LISTS:
        json_int_lists(json, key, field);
        break;
    case WT_PARAM_CURVE:
        json_curve(json, key, field);
        break;
    case WT_PARAM_GROUPS:
    case WT_PARAM_LIST:
    case WT_PARAM_GROUP:
        break;
    }
}

/* Length of the common groups of two dotted keys: for "a.b.x" and "a.b.y" that of "a.b.". */
static size_t shared_groups(const char *a, const char *b)
{
    size_t shared = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '.')
            shared = i + 1;
    return shared;
}

/* Closes the groups of `before` that `key` is not in and opens those it adds; returns the key's last name. */
static const char *enter_groups(struct wt_json *json, const char *before, const char *key)
{
    size_t shared = shared_groups(before, key);
    for (const char *dot = strchr(before + shared, '.'); dot; dot = strchr(dot + 1, '.'))
        wt_json_close(json);
    const char *name = key + shared;
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(name, '.')) {
        char *group = wt_format("%.*s", (int)(dot - name), name);
        wt_json_object(json, group);
        free(group);
        name = dot + 1;
    }
    return name;
}

static void json_note(struct wt_json *json, const char *key, const char *text)
{
    if (text)
        wt_json_string(json, key, text);
}

static void json_table(const struct wt_param *table, const void *object, const struct wt_origin *origins,
                       struct wt_json *json)
{
    const char *before = "";
    for (const struct wt_param *p = table; p->key; p++) {
        if (wt_param_is_left_to_caller(p))
            continue;
        const char *name = enter_groups(json, before, p->key);
        before = p->key;
        if (!origins) {
            json_value(json, name, p, object);
            continue;
        }
        const struct wt_origin *origin = &origins[p - table];
        wt_json_object(json, name);
        json_value(json, "value", p, object);
        json_note(json, "unit", p->unit);
        json_note(json, "source", origin->source);
        json_note(json, "spread", origin->spread);
        json_note(json, "error", origin->error);
        wt_json_close(json);
    }
    enter_groups(json, before, "");
}

void wt_params_json(const struct wt_param *table, const void *object, struct wt_json *json)
{
    json_table(table, object, NULL, json);
}

void wt_record_json(const struct wt_record *record, struct wt_json *json)
{
    json_table(record->table, record->object, record->origins, json);
}

/* ---- Text ---- */

static void text_ints(FILE *stream, const struct wt_ints *ints)
{
    fputc('[', stream);
    for (int i = 0; i < ints->count; i++)
        fprintf(stream, "%s%d", i ? ", " : "", ints->values[i]);
    fputc(']', stream);
}

static void text_lists(FILE *stream, const struct wt_param *param, const void *field)
{
    const struct wt_numbers *numbers = field;
    const struct wt_int_lists *lists = field;
    const struct wt_curve *curve = field;
    if (param->type == WT_PARAM_INTS) {
        text_ints(stream, field);
        return;
    }
    fputc('(', stream);
    for (int i = 0; param->type == WT_PARAM_NUMBERS && i < numbers->count; i++)
        fprintf(stream, "%s%.10g", i ? ", " : "", numbers->values[i]);
    for (int i = 0; param->type == WT_PARAM_CURVE && i < curve->count; i++)
        fprintf(stream, "%s(%.10g, %.10g)", i ? ", " : "", curve->x[i], curve->y[i]);
    for (int i = 0; param->type == WT_PARAM_INT_LISTS && i < lists->count; i++) {
        fputs(i ? ", " : "", stream);
        text_ints(stream, &lists->lists[i]);
    }
    fputc(')', stream);
}

static char *text_list(const struct wt_param *param, const void *field)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return wt_strdup("");
    text_lists(stream, param, field);
    fclose(stream);
    return text;
}

char *wt_param_text(const struct wt_param *param, const void *object)
{
    const void *field = (const char *)object + param->offset;
    switch (param->type) {
    case WT_PARAM_INT:
        return wt_format("%d", *(const int *)field);
    case WT_PARAM_INT64:
        return wt_format("%lld", (long long)*(const int64_t *)field);
    case WT_PARAM_NUMBER:
        return wt_format("%.10g", *(const double *)field);
    case WT_PARAM_STRING:
        return *(char *const *)field ? wt_format("\"%s\"", *(char *const *)field) : wt_strdup("\"\"");
    case WT_PARAM_BOOL:
        return wt_strdup(*(const bool *)field ? "true" : "false");
    case WT_PARAM_CHOICE:
        return wt_format("\"%s\"", param->choices[*(const int *)field]);
    case WT_PARAM_GROUPS:
    case WT_PARAM_LIST:
    case WT_PARAM_GROUP:
        return wt_strdup("");
    default:
        return text_list(param, field);
    }
}
