#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/param.h"
#include "core/text.h"
#include "gpu/gpu.h"

enum { KEY_ALL = 0x2001, KEY_KEYS, WIDTH = 100, VALUE_WIDTH = 18 };

struct arguments {
    struct common common;
    const char *name; /* NULL: the table of all */
    bool all, keys;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_ALL:
        arguments->all = true;
        return 0;
    case KEY_KEYS:
        arguments->keys = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->name)
            argp_error(state, "one GPU at a time: '%s' or '%s'", arguments->name, text);
        arguments->name = text;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"all", KEY_ALL, 0, 0, "also the bare compute capabilities (cc5.0 to cc12.1), for their limits", 0},
    {"keys", KEY_KEYS, 0, 0, "print every key a GPU file can have, with type, range and default", 0},
    {0}};

static const struct argp_child children[] = {{&common_argp, 0, "Common options:", 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[NAME|FILE.cfg]",
    .doc = "Lists the known GPUs, or everything known of one GPU and where each value comes from.",
    .children = children};

/* ---- The table ---- */

/* Group sizes with repeats counted, the extra group last: "8 16x5 18x2 +8"; "-" when nothing is known. */
static char *group_sizes(const struct wt_gpu *gpu)
{
    const struct wt_topology *t = &gpu->topology;
    char *text = wt_strdup(t->group_count == 1 ? "-" : "");
    for (int g = 0, run; g < t->group_count && t->group_count > 1; g += run) {
        int size = t->groups[g].sm_count;
        for (run = 1; g + run < t->group_count && t->groups[g + run].sm_count == size &&
                      g != t->extra_group && g + run != t->extra_group;
             run++)
            ;
        char *times = run > 1 ? wt_format("x%d", run) : wt_strdup("");
        char *longer =
            wt_format("%s%s%s%d%s", text, *text ? " " : "", g == t->extra_group ? "+" : "", size, times);
        free(times);
        free(text);
        text = longer;
    }
    return text;
}

static void print_known(double value, int width)
{
    if (value > 0)
        printf(" %*.10g", width, value);
    else
        printf(" %*s", width, "-");
}

static void print_row(const struct wt_gpu *gpu)
{
    char *sizes = group_sizes(gpu);
    printf("%-14s %-30s %2d.%d %4d", gpu->key, gpu->name, gpu->cc_major, gpu->cc_minor,
           gpu->topology.sm_count);
    print_known(gpu->clock_mhz, 6);
    print_known(gpu->l2_mib, 7);
    print_known(gpu->memory_gbs, 6);
    printf("  %s\n", sizes);
    free(sizes);
}

static void json_known(struct wt_json *json, const char *key, double value)
{
    wt_json_number(json, key, value > 0 ? value : NAN, 15);
}

static void json_row(struct wt_json *json, const struct wt_gpu *gpu)
{
    wt_json_object(json, NULL);
    wt_json_string(json, "key", gpu->key);
    wt_json_string(json, "name", gpu->name);
    char *capability = wt_format("%d.%d", gpu->cc_major, gpu->cc_minor);
    wt_json_string(json, "compute_capability", capability);
    free(capability);
    wt_json_int(json, "sm_count", gpu->topology.sm_count);
    json_known(json, "clock_mhz", gpu->clock_mhz);
    json_known(json, "l2_mib", gpu->l2_mib);
    json_known(json, "memory_gbs", gpu->memory_gbs);
    wt_json_array(json, "group_sizes");
    for (int g = 0; g < gpu->topology.group_count; g++)
        wt_json_int(json, NULL, gpu->topology.groups[g].sm_count);
    wt_json_close(json);
    wt_json_close(json);
}

/* A file that does not load is reported and left out; the others are still listed. */
static enum wt_code list_gpus(const struct arguments *arguments, struct wt_error *err)
{
    char **names;
    size_t count;
    WT_TRY(wt_gpu_list(arguments->all, &names, &count, err));
    struct wt_json json = wt_json_begin(stdout, false);
    if (arguments->common.json) {
        wt_json_object(&json, NULL);
        wt_json_array(&json, "gpus");
    } else {
        puts("key            name                             cc  SMs    MHz  L2 MiB   GB/s  groups (SMs; + "
             "extra)");
    }
    enum wt_code code = WT_OK;
    for (size_t i = 0; i < count; i++) {
        struct wt_gpu *gpu;
        struct wt_error problem = {0};
        if (wt_gpu_load(names[i], &gpu, &problem) != WT_OK) {
            fprintf(stderr, "%s\n", problem.text);
            code = WT_BAD_INPUT;
        } else if (arguments->common.json) {
            json_row(&json, gpu);
        } else {
            print_row(gpu);
        }
        wt_gpu_free(gpu);
        free(names[i]);
    }
    free(names);
    if (arguments->common.json) {
        wt_json_close(&json);
        wt_json_close(&json);
        wt_json_end(&json);
    }
    return code;
}

/* ---- One GPU ---- */

struct sources {
    char **texts; /* owned, with its strings */
    size_t count, capacity;
};

/* What to print as the source of a value, owned by the caller. */
static char *describe(const struct wt_origin *origin)
{
    if (!origin->given)
        return wt_strdup("default");
    char *base = origin->source ? wt_strdup(origin->source) : wt_format("%s:%ld", origin->file, origin->line);
    char *text =
        wt_format("%s%s%s%s%s", base, origin->spread ? "; spread " : "", origin->spread ? origin->spread : "",
                  origin->error ? "; error " : "", origin->error ? origin->error : "");
    free(base);
    return text;
}

/* The number, from 1, of a source in the list; takes `text`. */
static size_t number_of(struct sources *sources, char *text)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (strcmp(sources->texts[i], text))
            continue;
        free(text);
        return i + 1;
    }
    sources->texts = wt_grow(sources->texts, &sources->capacity, sources->count + 1, sizeof *sources->texts);
    sources->texts[sources->count++] = text;
    return sources->count;
}

static void print_value(const struct wt_record *record, size_t index, struct sources *sources)
{
    const struct wt_param *param = &record->table[index];
    char *text = wt_param_text(param, record->object);
    char *value = param->unit ? wt_format("%s %s", text, param->unit) : wt_strdup(text);
    size_t source = number_of(sources, describe(&record->origins[index]));
    if (strlen(value) <= VALUE_WIDTH) {
        printf("%-38s %-*s [%zu]\n", param->key, VALUE_WIDTH, value, source);
    } else {
        printf("%-38s %*s [%zu]\n", param->key, VALUE_WIDTH, "", source);
        wt_print_wrapped(stdout, 4, WIDTH, value);
    }
    free(value);
    free(text);
}

static void print_gpu(const struct wt_gpu *gpu)
{
    const struct wt_record *record = wt_gpu_record(gpu);
    struct sources sources = {0};
    char *sizes = group_sizes(gpu);
    printf("%s: %d SMs, %d TPCs; groups %s; %d clock domains\n%s\n\n", gpu->name, gpu->topology.sm_count,
           gpu->topology.tpc_count, sizes, gpu->topology.gpc_count, gpu->path);
    free(sizes);
    for (size_t i = 0; i < record->count; i++)
        print_value(record, i, &sources);
    puts("\nSources:");
    for (size_t i = 0; i < sources.count; i++) {
        char *text = wt_format("[%zu] %s", i + 1, sources.texts[i]);
        wt_print_wrapped(stdout, 2, WIDTH, text);
        free(text);
        free(sources.texts[i]);
    }
    free(sources.texts);
}

static void json_topology(const struct wt_gpu *gpu, struct wt_json *json)
{
    const struct wt_topology *t = &gpu->topology;
    wt_json_object(json, "resolved");
    wt_json_int(json, "tpc_count", t->tpc_count);
    wt_json_int(json, "gpc_count", t->gpc_count);
    wt_json_array(json, "groups");
    for (int g = 0; g < t->group_count; g++) {
        wt_json_array(json, NULL);
        for (int k = 0; k < t->groups[g].sm_count; k++)
            wt_json_int(json, NULL, t->groups[g].sms[k]);
        wt_json_close(json);
    }
    wt_json_close(json);
    wt_json_array(json, "gpc_of_sm");
    for (int sm = 0; sm < t->sm_count; sm++)
        wt_json_int(json, NULL, t->gpc_of_sm[sm]);
    wt_json_close(json);
    wt_json_close(json);
}

static enum wt_code show_gpu(const struct arguments *arguments, const char *name, struct wt_error *err)
{
    struct wt_gpu *gpu;
    WT_TRY(wt_gpu_load(name, &gpu, err));
    if (arguments->common.json) {
        struct wt_json json = wt_json_begin(stdout, false);
        wt_json_object(&json, NULL);
        wt_json_string(&json, "key", gpu->key);
        wt_json_string(&json, "path", gpu->path);
        wt_record_json(wt_gpu_record(gpu), &json);
        json_topology(gpu, &json);
        wt_json_close(&json);
        wt_json_end(&json);
    } else {
        print_gpu(gpu);
    }
    wt_gpu_free(gpu);
    return WT_OK;
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    const char *name = arguments.name ? arguments.name : arguments.common.gpu;
    if (arguments.keys) {
        wt_params_print(wt_gpu_params(), stdout);
        return WT_OK;
    }
    return name ? show_gpu(&arguments, name, err) : list_gpus(&arguments, err);
}

const struct command gpus_command = {
    .name = "gpus", .summary = "list known GPUs and their limits", .run = run};
