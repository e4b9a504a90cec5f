#include "command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "sm/occupancy.h"
#include "study/whatif.h"

enum { BLOCK = 256, REGS, SMEM, GPUS, ORDER, SPLIT, SUGGEST, MODEL, MOST_VALUES = 64 };

struct list {
    int values[MOST_VALUES], count;
};

struct arguments {
    struct common common;
    struct list blocks, registers, shared, splits, orders;
    struct wt_gpu *gpus[MOST_VALUES];
    int gpu_count;
    const char *gpu_names;
    bool suggest;
    const char **traces;
    size_t count, capacity;
};

struct outcome {
    struct wt_whatif_point point;
    struct wt_whatif_result result;
    struct wt_error error; /* why there is no result */
};

/* ---- Options ---- */

static void add_numbers(struct argp_state *state, const char *option, const char *text, int low, int high, struct list *list)
{
    char *copy = wt_strdup(text), *rest = copy;
    for (char *word; (word = strsep(&rest, ","));) {
        if (list->count == MOST_VALUES)
            argp_error(state, "%s: more than %d values", option, MOST_VALUES);
        list->values[list->count++] = (int)parse_integer(state, option, word, low, high);
    }
    free(copy);
}

static int find_order(struct argp_state *state, const char *word)
{
    for (int i = 0; wt_order_names[i]; i++)
        if (!strcmp(word, wt_order_names[i]))
            return i;
    argp_error(state, "--order: '%s' is none of asis, longest-first, shuffle, reversed", word);
    return 0;
}

static void add_orders(struct argp_state *state, const char *text, struct list *list)
{
    char *copy = wt_strdup(text), *rest = copy;
    for (char *word; (word = strsep(&rest, ",")) && list->count < MOST_VALUES;)
        list->values[list->count++] = find_order(state, word);
    free(copy);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case BLOCK: add_numbers(state, "--block", text, 1, 1024, &a->blocks); return 0;
    case REGS: add_numbers(state, "--regs", text, 0, 255, &a->registers); return 0;
    case SMEM: add_numbers(state, "--smem", text, 0, 1 << 20, &a->shared); return 0;
    case SPLIT: add_numbers(state, "--split", text, 1, 1024, &a->splits); return 0;
    case ORDER: add_orders(state, text, &a->orders); return 0;
    case GPUS: a->gpu_names = text; return 0;
    case SUGGEST: a->suggest = true; return 0;
    case MODEL:
        if (strcmp(text, "fluid"))
            argp_error(state, "--model: '%s' is not there; fluid is", text);
        return 0;
    case ARGP_KEY_ARG:
        a->traces = wt_grow(a->traces, &a->capacity, a->count + 1, sizeof(char *));
        a->traces[a->count++] = text;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which trace?"); return 0;
    case ARGP_KEY_INIT: state->child_inputs[0] = &a->common; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"block", BLOCK, "LIST", 0, "threads per block, e.g. 64,128,512; the threads of the grid stay as many", 1},
    {"regs", REGS, "LIST", 0, "registers per thread", 1},
    {"smem", SMEM, "LIST", 0, "bytes of dynamic shared memory per block", 1},
    {"order", ORDER, "LIST", 0, "of the blocks: asis, longest-first, shuffle, reversed", 1},
    {"split", SPLIT, "LIST", 0, "each block becomes so many, with an equal share of its work", 1},
    {"gpus", GPUS, "LIST", 0, "other GPUs", 1},
    {"suggest", SUGGEST, NULL, 0, "try all block sizes, and orders", 1},
    {"model", MODEL, "fluid", 0, "what gives the durations", 1},
    {0}};
static const struct argp_child children[] = {{&common_argp, 0, "Common options:", 2}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE...",
    .doc = "Predicts how long a measured launch would take in other shapes, ranked.\vThe first trace is the launch; more traces "
           "of the same kernel at other residencies (shared memory), with as many threads, make predictions surer. All "
           "combinations of the lists are tried. A range holds what was measured in four of five cases.",
    .children = children};

static enum wt_code load_gpus(struct arguments *a, struct wt_error *err)
{
    if (!a->gpu_names)
        return WT_OK;
    char *copy = wt_strdup(a->gpu_names), *rest = copy;
    enum wt_code code = WT_OK;
    for (char *word; code == WT_OK && (word = strsep(&rest, ",")) && a->gpu_count < MOST_VALUES;)
        if ((code = wt_gpu_load(word, &a->gpus[a->gpu_count], err)) == WT_OK)
            a->gpu_count++;
    free(copy);
    return code;
}

/* ---- Points ---- */

static void suggest(struct arguments *a)
{
    static const int sizes[] = {64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024};
    if (a->blocks.count == 0)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            a->blocks.values[a->blocks.count++] = sizes[i];
    if (a->orders.count == 0)
        a->orders = (struct list){{WT_ORDER_ASIS, WT_ORDER_LONGEST_FIRST}, 2};
}

static int times(const struct list *list)
{
    return list->count > 0 ? list->count : 1;
}

static int value(const struct list *list, size_t *index, int missing)
{
    int chosen = list->count > 0 ? list->values[*index % (size_t)list->count] : missing;
    *index /= (size_t)times(list);
    return chosen;
}

static size_t count_points(const struct arguments *a)
{
    size_t lists = (size_t)times(&a->blocks) * (size_t)times(&a->registers) * (size_t)times(&a->shared);
    return lists * (size_t)times(&a->splits) * (size_t)times(&a->orders) * (size_t)(a->gpu_count > 0 ? a->gpu_count : 1);
}

static struct wt_whatif_point point_at(const struct arguments *a, size_t index)
{
    struct wt_whatif_point point = {.threads = value(&a->blocks, &index, 0)};
    point.registers_per_thread = value(&a->registers, &index, -1);
    point.dynamic_shared_bytes = value(&a->shared, &index, -1);
    point.split = value(&a->splits, &index, 1);
    point.order = (enum wt_order)value(&a->orders, &index, WT_ORDER_ASIS);
    point.gpu = a->gpu_count > 0 ? a->gpus[index] : NULL;
    return point;
}

static int faster_first(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    return (a->result.speedup < b->result.speedup) - (a->result.speedup > b->result.speedup);
}

/* Ranked; those that cannot be launched last. */
static struct outcome *predict(const struct arguments *a, const struct wt_whatif *whatif, size_t count)
{
    struct outcome *outcomes = wt_alloc(count, sizeof *outcomes);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < count; i++) {
        outcomes[i].point = point_at(a, i);
        wt_whatif_predict(whatif, &outcomes[i].point, &outcomes[i].result, &outcomes[i].error);
    }
    qsort(outcomes, count, sizeof *outcomes, faster_first);
    return outcomes;
}

/* ---- Output ---- */

static const char *limiter_of(const struct outcome *o)
{
    for (int i = 0; i < WT_RES_COUNT; i++)
        if (o->result.occupancy.limiter[i])
            return wt_resource_name((enum wt_resource)i);
    return "none";
}

static void print_settings(const struct outcome *o, const struct wt_whatif_measured *m)
{
    const struct wt_whatif_point *p = &o->point;
    printf("%5d %4d %7d %-13s %5d %-8s", p->threads > 0 ? p->threads : m->needs.threads,
           p->registers_per_thread >= 0 ? p->registers_per_thread : m->needs.registers_per_thread,
           p->dynamic_shared_bytes >= 0 ? p->dynamic_shared_bytes : m->needs.dynamic_shared_bytes, wt_order_names[p->order],
           p->split, p->gpu ? p->gpu->key : "-");
}

static void print_row(const struct outcome *o, const struct wt_whatif_measured *m)
{
    const struct wt_whatif_result *r = &o->result;
    print_settings(o, m);
    if (o->error.code) {
        printf(" cannot be launched: %s\n", o->error.text);
        return;
    }
    printf(" %10.0f %10.0f…%-10.0f %7.3f %5.0f %5.0f %-13s %6.2f %5.1f  %s\n", r->makespan, r->low, r->high, r->speedup,
           100 * r->occupancy.occupancy, 100 * r->achieved_occupancy, limiter_of(o), r->waves, 100 * r->tail_fraction, r->why);
}

/* All points that may be as fast as the first. */
static void print_plateau(const struct outcome *outcomes, size_t count, const struct wt_whatif_measured *m)
{
    size_t alike = 1;
    while (alike < count && !outcomes[alike].error.code && outcomes[alike].result.speedup > 0.99 * outcomes[0].result.speedup)
        alike++;
    const struct wt_whatif_result *best = &outcomes[0].result;
    printf("\n%zu of %zu points lie within 1 %% of the fastest", alike, count);
    if (best->low <= m->makespan && best->high >= m->makespan && !outcomes[0].point.gpu)
        printf("; the launch as measured may be as fast as that");
    puts(".");
}

static void print_table(const struct outcome *outcomes, size_t count, const struct wt_whatif_measured *m)
{
    printf("%s: %llu blocks of %d threads, measured %.0f cycles\n", m->name, (unsigned long long)m->blocks, m->needs.threads,
           m->makespan);
    printf("limited by %s, saturated by about %.0f warps per SM (%.0f to %.0f would explain the traces as well)\n\n",
           m->gpu_limits ? "the GPU's memory" : "each SM", m->saturation, m->saturation_low, m->saturation_high);
    printf("%5s %4s %7s %-13s %5s %-8s %10s %21s %7s %11s %-13s %6s %5s\n", "block", "regs", "smem", "order", "split", "gpu",
           "cycles", "range         ", "speedup", "occupancy %", "limiter", "waves", "tail%");
    for (size_t i = 0; i < count; i++)
        print_row(&outcomes[i], m);
    if (count > 0 && !outcomes[0].error.code)
        print_plateau(outcomes, count, m);
}

static void point_json(struct wt_json *json, const struct outcome *o, const struct wt_whatif_measured *m)
{
    const struct wt_whatif_point *p = &o->point;
    const struct wt_whatif_result *r = &o->result;
    wt_json_object(json, NULL);
    wt_json_int(json, "block", p->threads > 0 ? p->threads : m->needs.threads);
    wt_json_int(json, "regs", p->registers_per_thread >= 0 ? p->registers_per_thread : m->needs.registers_per_thread);
    wt_json_int(json, "smem", p->dynamic_shared_bytes >= 0 ? p->dynamic_shared_bytes : m->needs.dynamic_shared_bytes);
    wt_json_string(json, "order", wt_order_names[p->order]);
    wt_json_int(json, "split", p->split);
    wt_json_string(json, "gpu", p->gpu ? p->gpu->key : NULL);
    if (o->error.code) {
        wt_json_string(json, "error", o->error.text);
        wt_json_close(json);
        return;
    }
    wt_json_number(json, "makespan", r->makespan, 9);
    wt_json_number(json, "makespan_low", r->low, 9);
    wt_json_number(json, "makespan_high", r->high, 9);
    wt_json_number(json, "speedup", r->speedup, 6);
    wt_json_number(json, "occupancy", r->occupancy.occupancy, 6);
    wt_json_number(json, "achieved_occupancy", r->achieved_occupancy, 6);
    wt_json_number(json, "waves", r->waves, 6);
    wt_json_number(json, "tail_fraction", r->tail_fraction, 6);
    wt_json_string(json, "limiter", limiter_of(o));
    wt_json_string(json, "why", r->why);
    wt_json_close(json);
}

static void print_json(const struct outcome *outcomes, size_t count, const struct wt_whatif_measured *m)
{
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "name", m->name);
    wt_json_number(&json, "makespan_measured", m->makespan, 9);
    wt_json_string(&json, "limited_by", m->gpu_limits ? "gpu" : "sm");
    wt_json_number(&json, "saturation_warps_per_sm", m->saturation, 6);
    wt_json_number(&json, "saturation_low", m->saturation_low, 6);
    wt_json_number(&json, "saturation_high", m->saturation_high, 6);
    wt_json_array(&json, "points");
    for (size_t i = 0; i < count; i++)
        point_json(&json, &outcomes[i], m);
    wt_json_close(&json);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code answer(struct arguments *a, struct wt_error *err)
{
    struct wt_whatif *whatif;
    WT_TRY(load_gpus(a, err));
    WT_TRY(wt_whatif_fit(a->traces, a->count, a->common.gpu, false, &whatif, err));
    if (a->suggest)
        suggest(a);
    size_t count = count_points(a);
    struct outcome *outcomes = predict(a, whatif, count);
    struct wt_whatif_measured measured = wt_whatif_measured(whatif);
    if (a->common.json)
        print_json(outcomes, count, &measured);
    else
        print_table(outcomes, count, &measured);
    free(outcomes);
    wt_whatif_free(whatif);
    return WT_OK;
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    enum wt_code code = answer(&arguments, err);
    for (int i = 0; i < arguments.gpu_count; i++)
        wt_gpu_free(arguments.gpus[i]);
    free(arguments.traces);
    return code;
}

const struct command whatif_command = {
    .name = "whatif", .summary = "predict a measured launch in other shapes, ranked", .run = run};
