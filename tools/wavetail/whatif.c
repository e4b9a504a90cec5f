#include "command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "progress.h"
#include "study/whatif.h"
#include "whatif_points.h"

enum { BLOCK = 256, REGS, SMEM, GPUS, ORDER, SPLIT, SUGGEST, MODEL, PERSISTENT, SPILL, LOADS, WORK, SVG, MOST_VALUES = 64 };

struct list {
    int values[MOST_VALUES], count;
};

struct arguments {
    struct common common;
    struct list blocks, registers, shared, splits, orders;
    struct wt_gpu *gpus[MOST_VALUES];
    int gpu_count;
    const char *gpu_names;
    bool suggest, persistent, fixed, shared_work;
    double spill_cost, shared_loads;
    const char *svg;
    const char **traces;
    size_t count, capacity;
};

/* ---- Options ---- */

typedef long long parse_number(struct argp_state *state, const char *option, const char *text, long long low, long long high);

static void add_numbers(struct argp_state *state, const char *option, const char *text, parse_number *number, int low, int high,
                        struct list *list)
{
    char *copy = wt_strdup(text), *rest = copy;
    for (char *word; (word = strsep(&rest, ","));) {
        if (list->count == MOST_VALUES)
            argp_error(state, "--%s: more than %d values", option, MOST_VALUES);
        list->values[list->count++] = (int)number(state, option, word, low, high);
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

static void parse_model(struct argp_state *state, struct arguments *a, const char *text)
{
    if (!strcmp(text, "warp"))
        argp_error(state, "--model: a trace does not state instructions, which 'warp' needs; `wavetail run` simulates a program");
    if (strcmp(text, "fluid") && strcmp(text, "fixed"))
        argp_error(state, "--model: '%s' is neither fluid nor fixed", text);
    a->fixed = !strcmp(text, "fixed");
}

static void parse_work(struct argp_state *state, struct arguments *a, const char *text)
{
    if (strcmp(text, "threads") && strcmp(text, "block"))
        argp_error(state, "--work: '%s' is neither threads nor block", text);
    a->shared_work = !strcmp(text, "block");
}

/* Per cent. */
static double parse_part(struct argp_state *state, const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value <= 100))
        argp_error(state, "%s: '%s' is not a number from 0 to 100", option, text);
    return value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case BLOCK: add_numbers(state, "block", text, parse_integer, 1, 1024, &a->blocks); return 0;
    case REGS: add_numbers(state, "regs", text, parse_integer, 0, 255, &a->registers); return 0;
    case SMEM: add_numbers(state, "smem", text, parse_bytes, 0, 1 << 20, &a->shared); return 0;
    case SPLIT: add_numbers(state, "split", text, parse_integer, 1, 1024, &a->splits); return 0;
    case ORDER: add_orders(state, text, &a->orders); return 0;
    case GPUS: a->gpu_names = text; return 0;
    case SUGGEST: a->suggest = true; return 0;
    case MODEL: parse_model(state, a, text); return 0;
    case PERSISTENT: a->persistent = true; return 0;
    case SPILL: a->spill_cost = parse_part(state, "--spill-cost", text) / 100; return 0;
    case LOADS: a->shared_loads = parse_part(state, "--tile-loads", text) / 100; return 0;
    case WORK: parse_work(state, a, text); return 0;
    case SVG: a->svg = text; return 0;
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
    {"smem", SMEM, "LIST", 0, "bytes of dynamic shared memory per block; 20480 or 20K", 1},
    {"order", ORDER, "LIST", 0, "of the blocks: asis, longest-first, shuffle, reversed", 1},
    {"split", SPLIT, "LIST", 0, "each block becomes so many, with an equal share of its work", 1},
    {"gpus", GPUS, "LIST", 0, "other GPUs", 1},
    {"suggest", SUGGEST, NULL, 0, "try all block sizes, and orders", 1},
    {"persistent", PERSISTENT, NULL, 0, "also with as many blocks as fit at once, which take the work from a counter", 1},
    {"spill-cost", SPILL, "PERCENT", 0, "more work for each register per thread that is cut (default 0)", 1},
    {"tile-loads", LOADS, "PERCENT", 0, "the part of the work that is loads which the threads of a block share as a square tile: it falls "
     "with the tile's side (default 0)", 1},
    {"work", WORK, "OF", 0, "whose a larger block's work is, where blocks are unequal: threads, who keep what they had, so that it "
     "lasts as long as its longest part; block, whose threads do equal parts of all (default threads; a trace of one size does not "
     "tell)", 1},
    {"model", MODEL, "NAME", 0, "fluid: blocks share what saturates; fixed: they take as long as they did (default fluid)", 1},
    {"svg", SVG, "FILE.svg", 0, "draw the makespans with their ranges over the setting that varies most", 1},
    {0}};
static const struct argp_child children[] = {{&common_argp, 0, "Common options:", 2}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACE...\nWORKLOAD.cfg",
    .doc = "Predicts how long a measured launch would take in other shapes, ranked.\vThe first trace is the launch; more traces "
           "of the same kernel at other residencies (shared memory), with as many threads, make predictions surer. Of a trace the "
           "first launch, of a workload the first kernel counts, alone. All combinations of the lists are tried. A range holds what was measured in four of five cases.",
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
    lists *= (size_t)times(&a->splits) * (size_t)times(&a->orders) * (size_t)(a->gpu_count > 0 ? a->gpu_count : 1);
    return lists * (a->persistent ? 2 : 1);
}

static struct wt_whatif_point point_at(const struct arguments *a, size_t index)
{
    struct wt_whatif_point point = {.threads = value(&a->blocks, &index, 0)};
    point.registers_per_thread = value(&a->registers, &index, -1);
    point.dynamic_shared_bytes = value(&a->shared, &index, -1);
    point.split = value(&a->splits, &index, 1);
    point.order = (enum wt_order)value(&a->orders, &index, WT_ORDER_ASIS);
    point.spill_cost = a->spill_cost;
    point.shared_loads = a->shared_loads;
    point.shared_work = a->shared_work;
    point.gpu = a->gpu_count > 0 ? a->gpus[index % (size_t)a->gpu_count] : NULL;
    point.persistent = index / (size_t)(a->gpu_count > 0 ? a->gpu_count : 1) > 0;
    return point;
}

static int faster_first(const void *left, const void *right)
{
    const struct whatif_outcome *a = left, *b = right;
    if (a->result.speedup != b->result.speedup)
        return a->result.speedup < b->result.speedup ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Ranked; those that cannot be launched last. */
static struct whatif_outcome *predict(const struct arguments *a, const struct wt_whatif *whatif, size_t count)
{
    struct whatif_outcome *outcomes = wt_alloc(count, sizeof *outcomes);
    struct progress progress = progress_begin_things(count, "points", a->common.quiet || !isatty(STDERR_FILENO));
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < count; i++) {
        outcomes[i].index = i;
        outcomes[i].point = point_at(a, i);
        wt_whatif_predict(whatif, &outcomes[i].point, &outcomes[i].result, &outcomes[i].error);
#pragma omp critical(whatif_progress)
        progress_step(&progress);
    }
    progress_end(&progress);
    qsort(outcomes, count, sizeof *outcomes, faster_first);
    return outcomes;
}

/* ---- The command ---- */

static bool is_workload(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".cfg");
}

static enum wt_code fit(const struct arguments *a, struct wt_whatif **out, struct wt_error *err)
{
    if (is_workload(a->traces[0])) {
        if (a->count > 1)
            return wt_fail_at(err, a->traces[1], 0, "comes after a workload, which is predicted alone; give one workload or traces");
        return wt_whatif_of_workload(a->traces[0], a->common.gpu, a->fixed, out, err);
    }
    struct progress_wait *wait = progress_wait_begin("finding what explains the trace", a->common.quiet);
    enum wt_code code = wt_whatif_fit(a->traces, a->count, a->common.gpu, a->fixed, out, err);
    progress_wait_end(wait);
    return code;
}

static enum wt_code answer(struct arguments *a, struct wt_error *err)
{
    struct wt_whatif *whatif;
    WT_TRY(load_gpus(a, err));
    WT_TRY(fit(a, &whatif, err));
    if (a->suggest)
        suggest(a);
    size_t count = count_points(a);
    struct whatif_outcome *outcomes = predict(a, whatif, count);
    struct whatif_report report = {wt_whatif_measured(whatif), outcomes, count};
    enum wt_code code = a->svg ? whatif_draw(&report, a->svg, err) : WT_OK;
    if (code == WT_OK && a->common.json)
        whatif_print_json(&report);
    else if (code == WT_OK)
        whatif_print_table(&report);
    free(outcomes);
    wt_whatif_free(whatif);
    return code;
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
