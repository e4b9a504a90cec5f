/* An axis's values: a list, a range, a range of equal ratios, or random samples. */
#include <inttypes.h>
#include <libconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/param.h"
#include "core/portable.h"
#include "core/random.h"
#include "study/sweep_state.h"

enum scale { LINEAR, LOG };

struct axis_group {
    char *key, *with;
    int kernel, scale, count, samples;
    double from, to, step;
};

static const char *const scales[] = {"linear", "log", NULL};

#define FIELD(field) offsetof(struct axis_group, field)

const struct wt_param wt_sweep_axis_params[] = {
    {"key", WT_PARAM_STRING, FIELD(key), .required = true, .help = "key of the workload, dotted where groups nest"},
    {"kernel", WT_PARAM_INT, FIELD(kernel), .low = -1, .high = 1e5, .fallback = "-1",
     .help = "the kernel whose key it is, by position from 0; -1: all of them"},
    {"with", WT_PARAM_STRING, FIELD(with), .help = "key of another axis, with whose n-th value this one's n-th goes"},
    {"values", WT_PARAM_LIST, .help = "a list; else a range:"},
    {"from", WT_PARAM_NUMBER, FIELD(from), .help = "first value of a range, least of random samples"},
    {"to", WT_PARAM_NUMBER, FIELD(to), .help = "last value, or most"},
    {"step", WT_PARAM_NUMBER, FIELD(step), .low = 1e-9, .high = 1e15, .fallback = "1",
     .help = "from value to value, where there is no count"},
    {"count", WT_PARAM_INT, FIELD(count), .low = 0, .high = WT_SWEEP_POINTS, .help = "values of the range"},
    {"scale", WT_PARAM_CHOICE, FIELD(scale), .choices = scales, .help = "equal steps, or equal ratios"},
    {"samples", WT_PARAM_INT, FIELD(samples), .low = 0, .high = WT_SWEEP_POINTS,
     .help = "random values between from and to, instead of a range; whole where from and to are"},
    {0}};

struct range {
    struct axis_group group;
    bool whole; /* only whole numbers */
    struct wt_random random;
};

static double at_share(const struct range *r, double share)
{
    double from = r->group.from, to = r->group.to;
    double value = r->group.scale == LOG ? from * wt_exp(share * wt_ln(to / from)) : from + share * (to - from);
    return r->whole ? floor(value + 0.5) : value;
}

/* Each whole number of a range is as likely as any other. */
static double sample(struct range *r)
{
    double unit = wt_random_unit(&r->random);
    if (!r->whole || r->group.scale == LOG)
        return at_share(r, unit);
    return r->group.from + floor(unit * (r->group.to - r->group.from + 1));
}

static size_t count_of(const struct range *r)
{
    if (r->group.samples > 0)
        return (size_t)r->group.samples;
    if (r->group.count > 0)
        return (size_t)r->group.count;
    double steps = floor((r->group.to - r->group.from) / r->group.step + 1e-9) + 1;
    return steps > WT_SWEEP_POINTS ? WT_SWEEP_POINTS + 1 : (size_t)steps;
}

static double nth(struct range *r, size_t i, size_t count)
{
    if (r->group.samples > 0)
        return sample(r);
    if (r->group.count > 0)
        return i + 1 == count && count > 1 ? r->group.to : at_share(r, count > 1 ? (double)i / (double)(count - 1) : 0);
    return r->group.from + (double)i * r->group.step;
}

/* Equal ratios, rounded, may come to the same number twice. */
static void fill(struct range *r, struct wt_sweep_axis *axis)
{
    size_t count = count_of(r);
    axis->values = wt_alloc(count, sizeof *axis->values);
    for (size_t i = 0; i < count; i++) {
        double value = nth(r, i, count);
        if (r->group.samples == 0 && axis->count > 0 && axis->values[axis->count - 1].number == value)
            continue;
        axis->values[axis->count++].number = value;
    }
}

static bool is_whole(const config_setting_t *group, const char *key)
{
    const config_setting_t *setting = config_setting_get_member(group, key);
    return setting && config_setting_type(setting) != CONFIG_TYPE_FLOAT;
}

static enum wt_code check_range(const struct wt_config *config, const config_setting_t *group, const struct range *r,
                                struct wt_error *err)
{
    const struct axis_group *g = &r->group;
    if (!config_setting_get_member(group, "from") || !config_setting_get_member(group, "to"))
        return wt_config_fail(config, group, err, "axis '%s' has no values; give 'values', or 'from' and 'to'", g->key);
    if (g->to < g->from)
        return wt_config_fail(config, group, err, "axis '%s': 'to' is less than 'from'; exchange them", g->key);
    if (g->scale == LOG && (g->from <= 0 || (g->count == 0 && g->samples == 0)))
        return wt_config_fail(config, group, err, "axis '%s': scale = \"log\" needs 'from' above 0, and 'count' or 'samples'",
                              g->key);
    if (count_of(r) > WT_SWEEP_POINTS)
        return wt_config_fail(config, group, err, "axis '%s' has more than %d values; give a larger step", g->key,
                              WT_SWEEP_POINTS);
    return WT_OK;
}

static enum wt_code take_list(const struct wt_config *config, const config_setting_t *list, struct wt_sweep_axis *axis,
                              struct wt_error *err)
{
    axis->count = (size_t)config_setting_length(list);
    if (axis->count == 0)
        return wt_config_fail(config, list, err, "axis '%s' has no values; give at least one", axis->key);
    axis->values = wt_alloc(axis->count, sizeof *axis->values);
    for (size_t i = 0; i < axis->count; i++)
        axis->values[i].setting = config_setting_get_elem(list, (unsigned)i);
    return WT_OK;
}

enum wt_code wt_sweep_values(const struct wt_config *config, const config_setting_t *group, uint64_t seed, size_t index,
                             struct wt_sweep_axis *axis, struct wt_error *err)
{
    struct range r = {.whole = is_whole(group, "from") && is_whole(group, "to"),
                      .random = wt_random_stream(seed, "sweep", index)};
    WT_TRY(wt_params_read(wt_sweep_axis_params, config, group, &r.group, err));
    r.whole = r.whole && (!config_setting_get_member(group, "step") || is_whole(group, "step"));
    axis->key = wt_strdup(r.group.key);
    axis->with = r.group.with ? wt_strdup(r.group.with) : NULL;
    axis->kernel = r.group.kernel;
    axis->line = wt_config_line(group);
    const config_setting_t *list = config_setting_get_member(group, "values");
    enum wt_code code = list ? take_list(config, list, axis, err) : check_range(config, group, &r, err);
    if (code == WT_OK && !list)
        fill(&r, axis);
    wt_params_free(wt_sweep_axis_params, &r.group);
    return code;
}

/* ---- Values as text ---- */

static char *plain_text(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_STRING:
        return wt_strdup(config_setting_get_string(setting));
    case CONFIG_TYPE_BOOL:
        return wt_strdup(config_setting_get_bool(setting) ? "true" : "false");
    case CONFIG_TYPE_FLOAT:
        return wt_format("%.12g", config_setting_get_float(setting));
    default:
        return wt_format("%lld", (long long)config_setting_get_int64(setting));
    }
}

/* A list as 16x8. */
char *wt_sweep_value_text(const struct wt_config_value *value)
{
    if (!value->setting)
        return wt_format("%.12g", value->number);
    if (!config_setting_is_aggregate(value->setting))
        return plain_text(value->setting);
    char *text = wt_strdup("");
    for (int i = 0; i < config_setting_length(value->setting); i++) {
        char *part = plain_text(config_setting_get_elem(value->setting, (unsigned)i));
        char *longer = wt_format("%s%s%s", text, i ? "x" : "", part);
        free(text);
        free(part);
        text = longer;
    }
    return text;
}
