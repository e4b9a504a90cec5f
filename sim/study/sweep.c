/* Reading a study, and the workload of each of its points. */
#include "study/sweep.h"

#include <inttypes.h>
#include <libconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/param.h"
#include "core/text.h"
#include "gpu/gpu.h"
#include "study/sweep_state.h"
#include "study/workload.h"

/* ---- The file's keys ---- */

struct study_values {
    char *title, *workload, *trace;
    int combine;
    int64_t seed;
};

struct derived_values {
    char *key, *times, *over;
    int kernel, round;
    double value;
};

enum rounding { ROUND_NO, ROUND_UP, ROUND_NEAREST };
static const char *const roundings[] = {[ROUND_NO] = "no", [ROUND_UP] = "up", [ROUND_NEAREST] = "nearest", NULL};
static const char *const combinations[] = {"product", "zip", NULL};

#define DERIVED(field) offsetof(struct derived_values, field)
#define STUDY(field) offsetof(struct study_values, field)

static const struct wt_param derived_params[] = {
    {"key", WT_PARAM_STRING, DERIVED(key), .required = true, .help = "key of the workload"},
    {"kernel", WT_PARAM_INT, DERIVED(kernel), .low = -1, .high = 1e5, .fallback = "-1",
     .help = "the kernel whose key it is; -1: all of them"},
    {"value", WT_PARAM_NUMBER, DERIVED(value), .fallback = "1", .help = "it becomes this, multiplied and divided:"},
    {"times", WT_PARAM_STRING, DERIVED(times), .help = "by the value of this axis"},
    {"over", WT_PARAM_STRING, DERIVED(over), .help = "by the value of this axis"},
    {"round", WT_PARAM_CHOICE, DERIVED(round), .choices = roundings, .help = "to a whole number"},
    {0}};

static const struct wt_param study_params[] = {
    {"title", WT_PARAM_STRING, STUDY(title), .help = "of the study; default: the file's name"},
    {"workload", WT_PARAM_STRING, STUDY(workload),
     .help = "workload file, found from the study's folder; default: the study file itself, less the group `study`"},
    {"trace", WT_PARAM_STRING, STUDY(trace), .help = "instead: a trace, whose blocks last as measured"},
    {"combine", WT_PARAM_CHOICE, STUDY(combine), .choices = combinations,
     .help = "product: each value with each of the other axes (the last axis varies fastest); zip: the n-th values together"},
    {"seed", WT_PARAM_INT64, STUDY(seed), .low = 0, .high = 9e18, .fallback = "1", .help = "seed of random samples"},
    {"axes", WT_PARAM_GROUPS, .groups = wt_sweep_axis_params, .help = "what varies"},
    {"derived", WT_PARAM_GROUPS, .groups = derived_params, .help = "keys that follow from axes, e.g. to keep the work the same"},
    {"plot", WT_PARAM_GROUP, .groups = wt_plot_params, .help = "how the table is drawn, where a picture is asked for"},
    {0}};

static const struct wt_param file_params[] = {
    {"study", WT_PARAM_GROUP, .required = true, .groups = study_params, .help = "the study; the rest of the file is a workload"},
    {0}};

/* ---- Points ---- */

static size_t choice_index(const struct wt_sweep *sweep, size_t point, size_t axis)
{
    if (sweep->zip)
        return point;
    if (sweep->axes[axis].leader >= 0)
        axis = (size_t)sweep->axes[axis].leader;
    for (size_t later = sweep->axis_count - 1; later > axis; later--)
        point /= sweep->axes[later].leader < 0 ? sweep->axes[later].count : 1;
    return point % sweep->axes[axis].count;
}

const struct wt_config_value *wt_sweep_choice(const struct wt_sweep *sweep, size_t point, size_t axis)
{
    return &sweep->axes[axis].values[choice_index(sweep, point, axis)];
}

static double number_of(const struct wt_config_value *value)
{
    const config_setting_t *setting = value->setting;
    if (!setting)
        return value->number;
    return config_setting_type(setting) == CONFIG_TYPE_FLOAT ? config_setting_get_float(setting)
                                                             : (double)config_setting_get_int64(setting);
}

static size_t find_axis(const struct wt_sweep *sweep, const char *key)
{
    size_t axis = 0;
    while (axis < sweep->axis_count && strcmp(sweep->axes[axis].key, key))
        axis++;
    return axis;
}

static double factor(const struct wt_sweep *sweep, size_t point, const char *key)
{
    return key ? number_of(wt_sweep_choice(sweep, point, find_axis(sweep, key))) : 1;
}

double wt_sweep_derive(const struct wt_sweep *sweep, size_t point, size_t derived)
{
    const struct wt_sweep_derived *d = &sweep->derived[derived];
    double value = d->value * factor(sweep, point, d->times) / factor(sweep, point, d->over);
    return d->round == ROUND_UP ? ceil(value - 1e-9 * fabs(value)) : d->round == ROUND_NEAREST ? floor(value + 0.5) : value;
}

static enum wt_code put_value(const struct wt_sweep *sweep, struct wt_config *tree, const char *key, int kernel, long line,
                        const struct wt_config_value *value, struct wt_error *err)
{
    const config_setting_t *root = wt_config_root(tree);
    if (wt_workload_is_file_key(key))
        return wt_config_set(tree, root, key, value, err);
    size_t count = wt_config_count(root, "kernels");
    if (kernel >= 0 && (size_t)kernel >= count)
        return wt_fail_at(err, sweep->path, line, "'%s': there is no kernel %d; the workload has %zu", key, kernel, count);
    for (size_t i = kernel < 0 ? 0 : (size_t)kernel; i < (kernel < 0 ? count : (size_t)kernel + 1); i++)
        WT_TRY(wt_config_set(tree, wt_config_element(root, "kernels", i), key, value, err));
    return WT_OK;
}

static enum wt_code put_choices(const struct wt_sweep *sweep, size_t point, struct wt_config *tree, struct wt_error *err)
{
    struct wt_config_value seed = {.number = (double)sweep->seed};
    if (sweep->seed_given)
        WT_TRY(wt_config_set(tree, wt_config_root(tree), "seed", &seed, err));
    for (size_t a = 0; a < sweep->axis_count; a++) {
        const struct wt_sweep_axis *axis = &sweep->axes[a];
        WT_TRY(put_value(sweep, tree, axis->key, axis->kernel, axis->line, wt_sweep_choice(sweep, point, a), err));
    }
    for (size_t d = 0; d < sweep->derived_count; d++) {
        const struct wt_sweep_derived *derived = &sweep->derived[d];
        struct wt_config_value value = {.number = wt_sweep_derive(sweep, point, d)};
        WT_TRY(put_value(sweep, tree, derived->key, derived->kernel, derived->line, &value, err));
    }
    return WT_OK;
}

enum wt_code wt_sweep_tree(const struct wt_sweep *sweep, size_t point, struct wt_config **out, struct wt_error *err)
{
    WT_TRY(wt_config_parse(sweep->base, sweep->base_size, sweep->base_path, out, err));
    wt_config_remove(*out, "study");
    enum wt_code code = put_choices(sweep, point, *out, err);
    if (code == WT_OK)
        return WT_OK;
    wt_config_free(*out);
    *out = NULL;
    return code;
}

/* FNV-1a. */
static uint64_t hash(uint64_t so_far, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        so_far = (so_far ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return so_far;
}

static uint64_t hash_text(uint64_t so_far, const char *text)
{
    return hash(so_far, text, strlen(text) + 1);
}

static uint64_t hash_value(uint64_t so_far, const char *key, int kernel, const struct wt_config_value *value)
{
    char *text = wt_sweep_value_text(value);
    so_far = hash_text(hash(hash_text(so_far, key), &kernel, sizeof kernel), text);
    free(text);
    return so_far;
}

uint64_t wt_sweep_key(const struct wt_sweep *sweep, size_t point)
{
    uint64_t key = sweep->base_hash;
    for (size_t a = 0; a < sweep->axis_count; a++)
        key = hash_value(key, sweep->axes[a].key, sweep->axes[a].kernel, wt_sweep_choice(sweep, point, a));
    for (size_t d = 0; d < sweep->derived_count; d++) {
        struct wt_config_value value = {.number = wt_sweep_derive(sweep, point, d)};
        key = hash_value(key, sweep->derived[d].key, sweep->derived[d].kernel, &value);
    }
    return key;
}

/* ---- Reading ---- */

static char *path_beside(const char *beside, const char *file)
{
    const char *slash = strrchr(beside, '/');
    if (!slash || file[0] == '/')
        return wt_strdup(file);
    return wt_format("%.*s/%s", (int)(slash - beside), beside, file);
}

/* The base is the study's own text until another one takes its place. */
static enum wt_code read_base(struct wt_sweep *sweep, const struct study_values *values, struct wt_error *err)
{
    const config_setting_t *root = wt_config_root(sweep->own);
    bool inside = config_setting_length(root) > 1;
    if ((values->workload != NULL) + (values->trace != NULL) + inside != 1)
        return wt_fail_at(err, sweep->path, wt_config_line(wt_config_group(root, "study")),
                          "a study has one workload; give it as 'workload' or 'trace', or in the same file beside 'study'");
    sweep->base_path = values->workload ? path_beside(sweep->path, values->workload) : wt_strdup(sweep->path);
    if (values->workload) {
        free(sweep->base);
        sweep->base = NULL;
        return wt_config_load(sweep->base_path, &sweep->base, &sweep->base_size, err);
    }
    if (!values->trace)
        return WT_OK;
    free(sweep->base);
    sweep->base = wt_format("kernels = ( { duration = { distribution = \"trace\"; file = \"%s\"; }; } );", values->trace);
    sweep->base_size = strlen(sweep->base);
    return WT_OK;
}

static enum wt_code find_leader(const struct wt_sweep *sweep, struct wt_sweep_axis *axis, struct wt_error *err)
{
    if (!axis->with)
        return WT_OK;
    size_t leader = find_axis(sweep, axis->with);
    if (leader == sweep->axis_count || sweep->axes[leader].with)
        return wt_fail_at(err, sweep->path, axis->line, "axis '%s' goes with '%s', which is no axis of its own; name one that is",
                          axis->key, axis->with);
    if (axis->count != sweep->axes[leader].count)
        return wt_fail_at(err, sweep->path, axis->line, "axis '%s' has %zu values and '%s', with which it goes, %zu; give as many",
                          axis->key, axis->count, axis->with, sweep->axes[leader].count);
    axis->leader = (int)leader;
    return WT_OK;
}

static enum wt_code read_axes(struct wt_sweep *sweep, const config_setting_t *study, uint64_t seed, struct wt_error *err)
{
    size_t count = wt_config_count(study, "axes");
    if (count == 0 || count > WT_SWEEP_AXES)
        return wt_config_fail(sweep->own, study, err, "%zu axes; give 1 to %d", count, WT_SWEEP_AXES);
    sweep->axes = wt_alloc(count, sizeof *sweep->axes);
    for (size_t i = 0; i < count; i++) {
        const config_setting_t *group = wt_config_element(study, "axes", i);
        sweep->axis_count++;
        sweep->axes[i].leader = -1;
        WT_TRY(wt_sweep_values(sweep->own, group, seed, i, &sweep->axes[i], err));
    }
    for (size_t i = 0; i < count; i++)
        WT_TRY(find_leader(sweep, &sweep->axes[i], err));
    return WT_OK;
}

static enum wt_code count_points(struct wt_sweep *sweep, const config_setting_t *study, struct wt_error *err)
{
    double points = 1;
    for (size_t i = 0; i < sweep->axis_count; i++) {
        const struct wt_sweep_axis *axis = &sweep->axes[i];
        if (sweep->zip && axis->count != sweep->axes[0].count)
            return wt_fail_at(err, sweep->path, axis->line, "axis '%s' has %zu values and '%s' %zu; zipped axes need as many",
                              axis->key, axis->count, sweep->axes[0].key, sweep->axes[0].count);
        points = sweep->zip ? (double)axis->count : points * (double)(axis->leader < 0 ? axis->count : 1);
    }
    if (points > WT_SWEEP_POINTS)
        return wt_config_fail(sweep->own, study, err, "%.0f points; give at most %d", points, WT_SWEEP_POINTS);
    sweep->count = (size_t)points;
    return WT_OK;
}

static enum wt_code check_factor(const struct wt_sweep *sweep, const struct wt_sweep_derived *derived, const char *key,
                                 struct wt_error *err)
{
    if (!key)
        return WT_OK;
    size_t axis = find_axis(sweep, key);
    if (axis == sweep->axis_count)
        return wt_fail_at(err, sweep->path, derived->line, "'%s' is derived from '%s', which is no axis; name one", derived->key,
                          key);
    for (size_t i = 0; i < sweep->axes[axis].count; i++) {
        const config_setting_t *value = sweep->axes[axis].values[i].setting;
        if (value && !config_setting_is_number(value))
            return wt_fail_at(err, sweep->path, sweep->axes[axis].line, "'%s' is derived from '%s', whose values must be numbers",
                              derived->key, key);
    }
    return WT_OK;
}

static enum wt_code read_derived(struct wt_sweep *sweep, const config_setting_t *study, struct wt_error *err)
{
    size_t count = wt_config_count(study, "derived");
    sweep->derived = wt_alloc(count, sizeof *sweep->derived);
    for (size_t i = 0; i < count; i++) {
        struct derived_values v;
        const config_setting_t *group = wt_config_element(study, "derived", i);
        WT_TRY(wt_params_read(derived_params, sweep->own, group, &v, err));
        struct wt_sweep_derived *derived = &sweep->derived[sweep->derived_count++];
        *derived = (struct wt_sweep_derived){v.key, v.kernel, v.round, v.value, v.times, v.over, wt_config_line(group)};
        WT_TRY(check_factor(sweep, derived, derived->times, err));
        WT_TRY(check_factor(sweep, derived, derived->over, err));
    }
    return WT_OK;
}

/* The message less the workload's place, which knows nothing of the study. */
static const char *bare(const struct wt_sweep *sweep, const char *text)
{
    size_t length = strlen(sweep->base_path);
    const char *end = strncmp(text, sweep->base_path, length) ? NULL : strstr(text + length, ": ");
    return end ? end + 2 : text;
}

/* With each axis's first value: the base alone may lack what an axis gives. Who is to blame is found by leaving axes out. */
static enum wt_code check_keys(struct wt_sweep *sweep, struct wt_error *err)
{
    size_t axes = sweep->axis_count, derived = sweep->derived_count;
    struct wt_error inner = {0}, first = {0};
    for (int fewer = 0; fewer <= (int)(axes + derived); fewer++) {
        struct wt_config *tree = NULL;
        struct wt_workload *workload = NULL;
        sweep->derived_count = (size_t)fewer < derived ? derived - (size_t)fewer : 0;
        sweep->axis_count = (size_t)fewer < derived ? axes : axes + derived - (size_t)fewer;
        inner = (struct wt_error){0};
        enum wt_code code = wt_sweep_tree(sweep, 0, &tree, &inner);
        if (code == WT_OK)
            code = wt_workload_from(tree, &workload, &inner);
        if (code == WT_OK) {
            sweep->has_warps = workload->kernels[0].model == WT_MODEL_WARP;
            sweep->has_host = workload->host != NULL;
        }
        wt_workload_free(workload);
        wt_config_free(tree);
        bool same = fewer == 0 || !strcmp(inner.text, first.text);
        size_t blamed_axis = sweep->axis_count, blamed_derived = sweep->derived_count;
        sweep->axis_count = axes;
        sweep->derived_count = derived;
        if (fewer == 0 && code == WT_OK)
            return WT_OK;
        first = fewer == 0 ? inner : first;
        if (same)
            continue;
        bool of_axis = blamed_axis < axes;
        return wt_fail_at(err, sweep->path, of_axis ? sweep->axes[blamed_axis].line : sweep->derived[blamed_derived].line, "%s",
                          bare(sweep, first.text));
    }
    return wt_fail(err, WT_BAD_INPUT, "%s", first.text);
}

/* One that no point could use is no point's fault. */
static enum wt_code check_gpu(const char *name, struct wt_error *err)
{
    struct wt_gpu *gpu = NULL;
    if (name)
        WT_TRY(wt_gpu_load(name, &gpu, err));
    wt_gpu_free(gpu);
    return WT_OK;
}

static enum wt_code read_study(struct wt_sweep *sweep, const struct wt_sweep_setup *setup, struct wt_error *err)
{
    struct study_values values;
    WT_TRY(check_gpu(setup->gpu, err));
    const config_setting_t *study = wt_config_group(wt_config_root(sweep->own), "study");
    if (!study)
        return wt_fail_at(err, sweep->path, 0, "there is no group 'study' with axes; see wavetail sweep --keys");
    WT_TRY(wt_params_read(study_params, sweep->own, study, &values, err));
    sweep->zip = values.combine == 1;
    sweep->gpu = setup->gpu ? wt_strdup(setup->gpu) : NULL;
    sweep->seed = setup->seed;
    sweep->seed_given = setup->seed_given;
    enum wt_code code = read_base(sweep, &values, err);
    if (code == WT_OK)
        code = read_axes(sweep, study, setup->seed_given ? setup->seed : (uint64_t)values.seed, err);
    sweep->title = values.title;
    values.title = NULL;
    wt_params_free(study_params, &values);
    WT_TRY(code);
    const config_setting_t *plot = wt_config_group(study, "plot");
    if (plot)
        WT_TRY(wt_params_read(wt_plot_params, sweep->own, plot, &sweep->plot, err));
    WT_TRY(count_points(sweep, study, err));
    WT_TRY(read_derived(sweep, study, err));
    return check_keys(sweep, err);
}

/* Everything besides the axes that rows depend on, but for the GPU files and the program. */
static uint64_t hash_base(const struct wt_sweep *sweep)
{
    uint64_t so_far = 14695981039346656037u;
    so_far = hash_text(so_far, sweep->base_path);
    so_far = hash(so_far, sweep->base, sweep->base_size);
    so_far = hash_text(so_far, sweep->gpu ? sweep->gpu : "");
    return hash(so_far, &sweep->seed, sizeof sweep->seed);
}

/* Takes the text over. */
static enum wt_code parse(char *text, size_t size, const char *path, const struct wt_sweep_setup *setup, struct wt_sweep **out,
                          struct wt_error *err)
{
    struct wt_sweep *sweep = wt_alloc(1, sizeof *sweep);
    *sweep = (struct wt_sweep){.path = wt_strdup(path), .base = text, .base_size = size, .gpus = wt_sweep_gpus_new()};
    enum wt_code code = wt_config_parse(text, size, path, &sweep->own, err);
    if (code == WT_OK)
        code = read_study(sweep, setup, err);
    if (code != WT_OK) {
        wt_sweep_free(sweep);
        return code;
    }
    sweep->base_hash = hash_base(sweep);
    *out = sweep;
    return WT_OK;
}

enum wt_code wt_sweep_parse(const char *text, size_t size, const char *path, const struct wt_sweep_setup *setup,
                            struct wt_sweep **out, struct wt_error *err)
{
    *out = NULL;
    char *copy = wt_alloc(size + 1, 1);
    memcpy(copy, text, size);
    return parse(copy, size, path, setup, out, err);
}

enum wt_code wt_sweep_read(const char *path, const struct wt_sweep_setup *setup, struct wt_sweep **out, struct wt_error *err)
{
    char *text;
    size_t size;
    *out = NULL;
    WT_TRY(wt_config_load(path, &text, &size, err));
    return parse(text, size, path, setup, out, err);
}

void wt_sweep_free(struct wt_sweep *sweep)
{
    if (!sweep)
        return;
    for (size_t i = 0; i < sweep->axis_count; i++) {
        free(sweep->axes[i].key);
        free(sweep->axes[i].with);
        free(sweep->axes[i].values);
    }
    for (size_t i = 0; i < sweep->derived_count; i++) {
        free(sweep->derived[i].key);
        free(sweep->derived[i].times);
        free(sweep->derived[i].over);
    }
    wt_params_free(wt_plot_params, &sweep->plot);
    wt_sweep_gpus_free(sweep->gpus);
    wt_config_free(sweep->own);
    free(sweep->axes);
    free(sweep->derived);
    free(sweep->path);
    free(sweep->base_path);
    free(sweep->base);
    free(sweep->title);
    free(sweep->gpu);
    free(sweep);
}

/* ---- Answers ---- */

const char *wt_sweep_title(const struct wt_sweep *sweep)
{
    if (sweep->title)
        return sweep->title;
    const char *slash = strrchr(sweep->path, '/');
    return slash ? slash + 1 : sweep->path;
}

size_t wt_sweep_count(const struct wt_sweep *sweep)
{
    return sweep->count;
}

const struct wt_plot_setup *wt_sweep_plot(const struct wt_sweep *sweep)
{
    return &sweep->plot;
}

void wt_sweep_print_keys(FILE *stream)
{
    wt_params_print(file_params, stream);
}
