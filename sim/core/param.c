#include "core/param.h"

#include <assert.h>
#include <limits.h>
#include <libconfig.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/param_types.h"
#include "core/text.h"

enum { LONGEST_KEY = 96, FEW_CANDIDATES = 32, MOST_CANDIDATES = 64 };

/* A setting being read into one field. */
struct slot {
    const struct wt_param *param;
    void *field;
    const struct wt_config *config;
    struct wt_error *err;
};

static void *field_of(const struct wt_param *param, void *object)
{
    return (char *)object + param->offset;
}

static enum wt_code wrong_type(const struct slot *slot, const config_setting_t *setting)
{
    const struct wt_param_kind *kind = wt_param_kind(slot->param->type);
    return wt_config_fail(slot->config, setting, slot->err, "'%s' must be %s; write e.g. %s%s%s;",
                          slot->param->key, kind->what, slot->param->key, " = ", kind->example);
}

static enum wt_code check_range(const struct slot *slot, const config_setting_t *setting, double value)
{
    const struct wt_param *p = slot->param;
    bool bounded = p->low != 0 || p->high != 0;
    if (isfinite(value) && (!bounded || (value >= p->low && value <= p->high)))
        return WT_OK;
    char *range = wt_param_range(p);
    enum wt_code code = wt_config_fail(slot->config, setting, slot->err,
                                       "'%s' = %.10g is out of range; give %s", p->key, value, range);
    free(range);
    return code;
}

static enum wt_code read_int64(const struct slot *slot, const config_setting_t *setting, int64_t *out)
{
    if (config_setting_type(setting) == CONFIG_TYPE_FLOAT) {
        double value = config_setting_get_float(setting);
        if (!(fabs(value) <= 9e18) || value != floor(value))
            return wrong_type(slot, setting);
        *out = (int64_t)value;
    } else if (config_setting_type(setting) == CONFIG_TYPE_INT ||
               config_setting_type(setting) == CONFIG_TYPE_INT64) {
        *out = config_setting_get_int64(setting);
    } else {
        return wrong_type(slot, setting);
    }
    return check_range(slot, setting, (double)*out);
}

static enum wt_code read_int(const struct slot *slot, const config_setting_t *setting, int *out)
{
    int64_t value = 0;
    WT_TRY(read_int64(slot, setting, &value));
    if (value < INT_MIN || value > INT_MAX)
        return wt_config_fail(slot->config, setting, slot->err, "'%s' is too large; give at most %d",
                              slot->param->key, INT_MAX);
    *out = (int)value;
    return WT_OK;
}

static enum wt_code read_number(const struct slot *slot, const config_setting_t *setting, double *out)
{
    if (!config_setting_is_number(setting))
        return wrong_type(slot, setting);
    bool whole = config_setting_type(setting) != CONFIG_TYPE_FLOAT;
    *out = whole ? (double)config_setting_get_int64(setting) : config_setting_get_float(setting);
    return check_range(slot, setting, *out);
}

static enum wt_code read_choice(const struct slot *slot, const config_setting_t *setting, int *out)
{
    if (config_setting_type(setting) != CONFIG_TYPE_STRING)
        return wrong_type(slot, setting);
    const char *text = config_setting_get_string(setting);
    size_t count = 0;
    for (; slot->param->choices[count]; count++) {
        if (strcmp(slot->param->choices[count], text))
            continue;
        *out = (int)count;
        return WT_OK;
    }
    char *range = wt_param_range(slot->param);
    enum wt_code code = wt_config_fail(slot->config, setting, slot->err, "'%s' cannot be \"%s\"; give %s",
                                       slot->param->key, text, range);
    free(range);
    return code;
}

/* Checks that `setting` is a list or array within the declared size, and gives its length. */
static enum wt_code list_length(const struct slot *slot, const config_setting_t *setting, int *count)
{
    if (!config_setting_is_list(setting) && !config_setting_is_array(setting))
        return wrong_type(slot, setting);
    *count = config_setting_length(setting);
    if (slot->param->most > 0 && *count > slot->param->most)
        return wt_config_fail(slot->config, setting, slot->err, "'%s' has %d elements; give at most %d",
                              slot->param->key, *count, slot->param->most);
    return WT_OK;
}

static enum wt_code read_ints(const struct slot *slot, const config_setting_t *setting, struct wt_ints *out)
{
    int count = 0;
    WT_TRY(list_length(slot, setting, &count));
    out->values = count ? wt_alloc((size_t)count, sizeof *out->values) : NULL;
    out->count = count;
    for (int i = 0; i < out->count; i++)
        WT_TRY(read_int(slot, config_setting_get_elem(setting, (unsigned)i), &out->values[i]));
    return WT_OK;
}

static enum wt_code read_ints_or_one(const struct slot *slot, const config_setting_t *setting,
                                     struct wt_ints *out)
{
    if (!config_setting_is_number(setting))
        return read_ints(slot, setting, out);
    out->values = wt_alloc(1, sizeof *out->values);
    out->count = 1;
    return read_int(slot, setting, &out->values[0]);
}

static enum wt_code read_numbers(const struct slot *slot, const config_setting_t *setting,
                                 struct wt_numbers *out)
{
    int count = 0;
    WT_TRY(list_length(slot, setting, &count));
    out->values = count ? wt_alloc((size_t)count, sizeof *out->values) : NULL;
    out->count = count;
    for (int i = 0; i < out->count; i++)
        WT_TRY(read_number(slot, config_setting_get_elem(setting, (unsigned)i), &out->values[i]));
    return WT_OK;
}

static enum wt_code read_int_lists(const struct slot *slot, const config_setting_t *setting,
                                   struct wt_int_lists *out)
{
    int count = 0;
    WT_TRY(list_length(slot, setting, &count));
    out->lists = count ? wt_alloc((size_t)count, sizeof *out->lists) : NULL;
    out->count = count;
    struct wt_param inner = *slot->param;
    inner.most = 0;
    struct slot inner_slot = {&inner, NULL, slot->config, slot->err};
    for (int i = 0; i < out->count; i++)
        WT_TRY(read_ints(&inner_slot, config_setting_get_elem(setting, (unsigned)i), &out->lists[i]));
    return WT_OK;
}

static enum wt_code read_point(const struct slot *slot, const config_setting_t *pair, struct wt_curve *out)
{
    bool is_pair =
        (config_setting_is_list(pair) || config_setting_is_array(pair)) && config_setting_length(pair) == 2;
    const config_setting_t *x = is_pair ? config_setting_get_elem(pair, 0) : NULL;
    if (!x || !config_setting_is_number(x))
        return wrong_type(slot, pair);
    bool whole = config_setting_type(x) != CONFIG_TYPE_FLOAT;
    out->x[out->count] = whole ? (double)config_setting_get_int64(x) : config_setting_get_float(x);
    bool rises = out->count == 0 || out->x[out->count] > out->x[out->count - 1];
    if (!rises || !isfinite(out->x[out->count]))
        return wt_config_fail(slot->config, pair, slot->err, "'%s': the first numbers of the pairs must rise",
                              slot->param->key);
    WT_TRY(read_number(slot, config_setting_get_elem(pair, 1), &out->y[out->count]));
    out->count++;
    return WT_OK;
}

static enum wt_code read_curve(const struct slot *slot, const config_setting_t *setting, struct wt_curve *out)
{
    if (config_setting_is_number(setting)) {
        out->count = 1;
        return read_number(slot, setting, &out->y[0]);
    }
    int count = 0;
    WT_TRY(list_length(slot, setting, &count));
    if (count < 1 || count > WT_MAX_CURVE)
        return wt_config_fail(slot->config, setting, slot->err, "'%s' has %d points; give 1 to %d",
                              slot->param->key, count, WT_MAX_CURVE);
    for (int i = 0; i < count; i++)
        WT_TRY(read_point(slot, config_setting_get_elem(setting, (unsigned)i), out));
    return WT_OK;
}

static enum wt_code check_list(const struct slot *slot, const config_setting_t *setting)
{
    int count = 0;
    WT_TRY(list_length(slot, setting, &count));
    for (int i = 0; i < count; i++)
        if (config_setting_is_group(config_setting_get_elem(setting, (unsigned)i)))
            return wrong_type(slot, config_setting_get_elem(setting, (unsigned)i));
    return WT_OK;
}

static enum wt_code check_groups(const struct slot *slot, const config_setting_t *setting)
{
    int count = 0;
    WT_TRY(list_length(slot, setting, &count));
    for (int i = 0; i < count; i++)
        if (!config_setting_is_group(config_setting_get_elem(setting, (unsigned)i)))
            return wrong_type(slot, config_setting_get_elem(setting, (unsigned)i));
    return WT_OK;
}

/* `field` holds nothing that is owned. */
static enum wt_code convert(const struct slot *slot, const config_setting_t *setting)
{
    switch (slot->param->type) {
    case WT_PARAM_INT:
        return read_int(slot, setting, slot->field);
    case WT_PARAM_INT64:
        return read_int64(slot, setting, slot->field);
    case WT_PARAM_NUMBER:
        return read_number(slot, setting, slot->field);
    case WT_PARAM_STRING:
        if (config_setting_type(setting) != CONFIG_TYPE_STRING)
            return wrong_type(slot, setting);
        *(char **)slot->field = wt_strdup(config_setting_get_string(setting));
        return WT_OK;
    case WT_PARAM_BOOL:
        if (config_setting_type(setting) != CONFIG_TYPE_BOOL)
            return wrong_type(slot, setting);
        *(bool *)slot->field = config_setting_get_bool(setting);
        return WT_OK;
    case WT_PARAM_CHOICE:
        return read_choice(slot, setting, slot->field);
    case WT_PARAM_INTS:
        return read_ints_or_one(slot, setting, slot->field);
    case WT_PARAM_NUMBERS:
        return read_numbers(slot, setting, slot->field);
    case WT_PARAM_INT_LISTS:
        return read_int_lists(slot, setting, slot->field);
    case WT_PARAM_CURVE:
        return read_curve(slot, setting, slot->field);
    case WT_PARAM_LIST:
        return check_list(slot, setting);
    case WT_PARAM_GROUPS:
        return check_groups(slot, setting);
    case WT_PARAM_GROUP:
        return config_setting_is_group(setting) ? WT_OK : wrong_type(slot, setting);
    }
    return WT_BAD_INPUT;
}

/* Frees and clears the field. */
static void clear_field(const struct wt_param *param, void *object)
{
    void *field = field_of(param, object);
    struct wt_int_lists *lists = field;
    if (param->type == WT_PARAM_STRING)
        free(*(char **)field);
    else if (param->type == WT_PARAM_INTS)
        free(((struct wt_ints *)field)->values);
    else if (param->type == WT_PARAM_NUMBERS)
        free(((struct wt_numbers *)field)->values);
    for (int i = 0; param->type == WT_PARAM_INT_LISTS && i < lists->count; i++)
        free(lists->lists[i].values);
    if (param->type == WT_PARAM_INT_LISTS)
        free(lists->lists);
    memset(field, 0, wt_param_kind(param->type)->size);
}

/* The declared default; a table with a wrong one is a bug. */
static void set_default(const struct wt_param *param, void *object)
{
    memset(field_of(param, object), 0, wt_param_kind(param->type)->size);
    if (!param->fallback)
        return;
    const char *quote = param->type == WT_PARAM_STRING || param->type == WT_PARAM_CHOICE ? "\"" : "";
    char *text = wt_format("value = %s%s%s;", quote, param->fallback, quote);
    struct wt_config *config = NULL;
    enum wt_code code = wt_config_parse(text, strlen(text), "default", &config, NULL);
    if (code == WT_OK) {
        struct slot slot = {param, field_of(param, object), config, NULL};
        code = convert(&slot, config_setting_get_elem((config_setting_t *)wt_config_root(config), 0));
    }
    assert(code == WT_OK);
    (void)code;
    wt_config_free(config);
    free(text);
}

static void clear_origin(struct wt_origin *origin)
{
    free(origin->file);
    free(origin->source);
    free(origin->spread);
    free(origin->error);
    *origin = (struct wt_origin){0};
}

/* ---- Reading a group ---- */

struct reading {
    struct wt_record *record;
    const struct wt_config *config;
    struct wt_error *err;
};

/* A copy of string member `key` of a value's group; *out stays NULL when absent. */
static enum wt_code note(const struct reading *r, const config_setting_t *group, const char *key, char **out)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (!member)
        return WT_OK;
    if (config_setting_type(member) != CONFIG_TYPE_STRING)
        return wt_config_fail(r->config, member, r->err, "'%s' must be a string; write %s = \"…\";", key,
                              key);
    free(*out);
    *out = wt_strdup(config_setting_get_string(member));
    return WT_OK;
}

static enum wt_code unknown_key(const struct reading *r, const config_setting_t *setting, const char *key,
                                const char *nearest)
{
    if (nearest)
        return wt_config_fail(r->config, setting, r->err, "unknown key '%s'; did you mean '%s'?", key,
                              nearest);
    return wt_config_fail(r->config, setting, r->err, "unknown key '%s'; remove it", key);
}

/* { value = …; source = …; spread = …; error = …; } → its value and notes. */
static enum wt_code unwrap(const struct reading *r, const config_setting_t *group, const char *key,
                           struct wt_origin *origin, const config_setting_t **value)
{
    static const char *const members[] = {"value", "source", "spread", "error"};
    for (unsigned i = 0; i < (unsigned)config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, i);
        const char *nearest = wt_nearest(config_setting_name(member), members, 4);
        if (!nearest || strcmp(nearest, config_setting_name(member)))
            return unknown_key(r, member, config_setting_name(member), nearest);
    }
    WT_TRY(note(r, group, "source", &origin->source));
    WT_TRY(note(r, group, "spread", &origin->spread));
    WT_TRY(note(r, group, "error", &origin->error));
    *value = config_setting_get_member(group, "value");
    if (!*value)
        return wt_config_fail(r->config, group, r->err, "'%s' has no value; write %s = { value = …; … };",
                              key, key);
    return WT_OK;
}

static enum wt_code read_value(const struct reading *r, const struct wt_param *param,
                               const config_setting_t *setting, const char *group_source)
{
    struct wt_origin *origin = &r->record->origins[param - r->record->table];
    clear_origin(origin);
    clear_field(param, r->record->object);
    origin->given = true;
    origin->file = wt_strdup(wt_config_path(r->config));
    origin->line = wt_config_line(setting);
    origin->source = group_source ? wt_strdup(group_source) : NULL;
    const config_setting_t *value = setting;
    if (config_setting_is_group(setting) && !wt_param_is_left_to_caller(param))
        WT_TRY(unwrap(r, setting, param->key, origin, &value));
    struct slot slot = {param, field_of(param, r->record->object), r->config, r->err};
    return convert(&slot, value);
}

static const struct wt_param *find(const struct wt_param *table, const char *key)
{
    for (; table->key; table++)
        if (!strcmp(table->key, key))
            return table;
    return NULL;
}

/* Whether `key` followed by a dot begins a key of the table. */
static bool is_group_name(const struct wt_param *table, const char *key)
{
    size_t n = strlen(key);
    for (; table->key; table++)
        if (!strncmp(table->key, key, n) && table->key[n] == '.')
            return true;
    return false;
}

/* The most likely intended key: one of the same group, or the same name in another group. */
static enum wt_code suggest(const struct reading *r, const config_setting_t *setting, const char *prefix)
{
    char names[MOST_CANDIDATES][LONGEST_KEY];
    const char *candidates[MOST_CANDIDATES] = {0};
    size_t count = 0, skip = strlen(prefix);
    const char *name = config_setting_name(setting);
    for (const struct wt_param *p = r->record->table; p->key; p++) {
        const char *last = strrchr(p->key, '.');
        if (last && !strcmp(last + 1, name))
            return unknown_key(r, setting, name, p->key);
        if (strncmp(p->key, prefix, skip) || count == MOST_CANDIDATES)
            continue;
        size_t length = strcspn(p->key + skip, ".");
        snprintf(names[count], LONGEST_KEY, "%.*s", (int)length, p->key + skip);
        candidates[count] = names[count];
        if (count == 0 || strcmp(names[count], names[count - 1])) /* a group's keys stand together */
            count++;
    }
    const char *nearest = wt_nearest(name, candidates, count);
    if (nearest || count > FEW_CANDIDATES || count == 0)
        return unknown_key(r, setting, name, nearest);
    char list[FEW_CANDIDATES * (LONGEST_KEY + 2)] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? ", " : "", candidates[i]);
    return wt_config_fail(r->config, setting, r->err, "unknown key '%s'; remove it, or write one of: %s", name, list);
}

/* `prefix` is "" or ends in a dot. Its length, and so the recursion, is bounded by the table's keys. */
static enum wt_code read_group(const struct reading *r, const config_setting_t *group, const char *prefix,
                               const char *outer_source)
{
    char key[LONGEST_KEY];
    snprintf(key, sizeof key, "%ssource", prefix);
    char *source = outer_source ? wt_strdup(outer_source) : NULL;
    bool source_is_key = find(r->record->table, key);
    enum wt_code code = source_is_key ? WT_OK : note(r, group, "source", &source);
    for (unsigned i = 0; code == WT_OK && i < (unsigned)config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, i);
        int length = snprintf(key, sizeof key, "%s%s", prefix, config_setting_name(member));
        const struct wt_param *param = length < LONGEST_KEY ? find(r->record->table, key) : NULL;
        if (param)
            code = read_value(r, param, member, source);
        else if (length < LONGEST_KEY - 1 && is_group_name(r->record->table, key)) {
            if (config_setting_is_group(member))
                code = read_group(r, member, strcat(key, "."), source);
            else
                code =
                    wt_config_fail(r->config, member, r->err, "'%s' is a group; write %s = { … };", key, key);
        } else if (source_is_key || strcmp(config_setting_name(member), "source"))
            code = suggest(r, member, prefix);
    }
    free(source);
    return code;
}

/* ---- Public ---- */

struct wt_record wt_record_begin(const struct wt_param *table, void *object)
{
    struct wt_record record = {.table = table, .object = object};
    for (; table[record.count].key; record.count++)
        set_default(&table[record.count], object);
    record.origins = wt_alloc(record.count, sizeof *record.origins);
    return record;
}

enum wt_code wt_record_read(struct wt_record *record, const struct wt_config *config,
                            const config_setting_t *group, struct wt_error *err)
{
    struct reading r = {record, config, err};
    if (!config_setting_is_group(group))
        return wt_config_fail(config, group, err, "a group is wanted here; write { key = value; … }");
    return read_group(&r, group, "", NULL);
}

enum wt_code wt_record_check(const struct wt_record *record, const char *file, long line,
                             struct wt_error *err)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct wt_param *p = &record->table[i];
        if (p->required && !record->origins[i].given)
            return wt_fail_at(err, file, line, "'%s' is missing (%s); write e.g. %s = %s;", p->key, p->help,
                              p->key, wt_param_kind(p->type)->example);
    }
    return WT_OK;
}

void wt_record_free(struct wt_record *record)
{
    for (size_t i = 0; i < record->count; i++)
        clear_origin(&record->origins[i]);
    free(record->origins);
    *record = (struct wt_record){0};
}

const struct wt_origin *wt_record_origin(const struct wt_record *record, const char *key)
{
    const struct wt_param *param = find(record->table, key);
    return param ? &record->origins[param - record->table] : NULL;
}

enum wt_code wt_record_fail(const struct wt_record *record, const char *key, const char *file,
                            struct wt_error *err, const char *format, ...)
{
    char what[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const struct wt_origin *origin = wt_record_origin(record, key);
    bool given = origin && origin->given;
    return wt_fail_at(err, given ? origin->file : file, given ? origin->line : 0, "%s", what);
}

enum wt_code wt_params_read(const struct wt_param *table, const struct wt_config *config,
                            const config_setting_t *group, void *object, struct wt_error *err)
{
    struct wt_record record = wt_record_begin(table, object);
    enum wt_code code = wt_record_read(&record, config, group, err);
    if (code == WT_OK)
        code = wt_record_check(&record, wt_config_path(config), wt_config_line(group), err);
    wt_record_free(&record);
    if (code != WT_OK)
        wt_params_free(table, object);
    return code;
}

void wt_params_free(const struct wt_param *table, void *object)
{
    for (; table->key; table++)
        clear_field(table, object);
}
