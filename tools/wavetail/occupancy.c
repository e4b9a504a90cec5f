#include "occupancy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum key {
    KEY_BLOCK = 0x3001,
    KEY_REGS,
    KEY_SMEM,
    KEY_DYNAMIC,
    KEY_CARVEOUT,
    KEY_CLUSTER,
    KEY_GRID,
    KEY_BARRIERS,
    KEY_VARY,
    KEY_SVG,
    KEY_MAX_BLOCKS,
    KEY_MAX_WARPS,
    KEY_MAX_THREADS,
    KEY_MAX_REGS,
    KEY_MAX_SMEM,
    KEY_MAX_BARRIERS,
    KEY_MAX_THREADS_BLOCK,
    KEY_MAX_REGS_BLOCK,
    KEY_MAX_SMEM_BLOCK,
    KEY_END
};

enum { MOST_BYTES = 1 << 30 };

struct arguments {
    struct common common;
    struct occ_question question;
    int limit[KEY_END - KEY_MAX_BLOCKS]; /* overrides, 0 = not given */
    bool block_given;
    enum occ_axis vary; /* OCC_AXES: none */
    const char *svg;
};

static void parse_block(struct argp_state *state, const char *text, int *block)
{
    char extra;
    block[0] = block[1] = block[2] = 1;
    int parts = sscanf(text, "%d x %d x %d%c", &block[0], &block[1], &block[2], &extra);
    char normal[64];
    int used = snprintf(normal, sizeof normal, "%d", block[0]);
    for (int i = 1; i < 3 && i < parts; i++)
        used += snprintf(normal + used, sizeof normal - (size_t)used, "x%d", block[i]);
    long long threads = (long long)block[0] * block[1];
    if (parts < 1 || parts > 3 || strcmp(normal, text) || block[0] < 0 || block[1] < 0 || block[2] < 0 ||
        threads > MOST_BYTES || threads * block[2] > MOST_BYTES)
        argp_error(state, "--block: '%s' is not a block size (256, 16x16 or 8x8x4)", text);
}

static void parse_vary(struct argp_state *state, struct arguments *arguments, const char *text)
{
    arguments->vary = occ_axis_of(text);
    if (arguments->vary == OCC_AXES)
        argp_error(state, "--vary: '%s' is none of block, regs, smem", text);
}

/* The options that override a limit. */
static error_t parse_limit(int key, char *text, struct argp_state *state)
{
    static const struct {
        const char *name;
        bool bytes;
        int most;
    } limits[] = {{"max-blocks", false, 1024},
                  {"max-warps", false, 1 << 20},
                  {"max-threads", false, 1 << 25},
                  {"max-regs", false, MOST_BYTES},
                  {"max-smem", true, 0},
                  {"max-barriers", false, 1 << 20},
                  {"max-threads-block", false, 1 << 25},
                  {"max-regs-block", false, MOST_BYTES},
                  {"max-smem-block", true, 0}};
    struct arguments *arguments = state->input;
    int index = key - KEY_MAX_BLOCKS;
    if (index < 0 || key >= KEY_END)
        return ARGP_ERR_UNKNOWN;
    arguments->limit[index] =
        limits[index].bytes ? (int)parse_bytes(state, limits[index].name, text, 1, MOST_BYTES)
                            : (int)parse_integer(state, limits[index].name, text, 1, limits[index].most);
    arguments->question.overridden = true;
    return 0;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct occ_question *q = &arguments->question;
    switch (key) {
    case KEY_BLOCK:
        parse_block(state, text, q->block);
        arguments->block_given = true;
        return 0;
    case KEY_REGS:
        q->needs.registers_per_thread = (int)parse_integer(state, "regs", text, 0, 65536);
        q->registers_given = true;
        return 0;
    case KEY_SMEM:
        q->needs.static_shared_bytes = (int)parse_bytes(state, "smem", text, 0, MOST_BYTES);
        return 0;
    case KEY_DYNAMIC:
        q->needs.dynamic_shared_bytes = (int)parse_bytes(state, "dynamic-smem", text, 0, MOST_BYTES);
        return 0;
    case KEY_CARVEOUT:
        q->needs.carveout_kb = (int)parse_integer(state, "carveout", text, 0, 65536);
        return 0;
    case KEY_CLUSTER:
        q->cluster = (int)parse_integer(state, "cluster", text, 1, WT_MAX_SMS);
        return 0;
    case KEY_GRID:
        q->grid = (uint64_t)parse_integer(state, "grid", text, 1, INT64_MAX);
        return 0;
    case KEY_BARRIERS:
        q->needs.barriers = (int)parse_integer(state, "barriers", text, 0, 65536);
        return 0;
    case KEY_VARY:
        parse_vary(state, arguments, text);
        return 0;
    case KEY_SVG:
        arguments->svg = text;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': no files are read here", text);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->block_given)
            argp_error(state, "give the block size: --block 256");
        return 0;
    default:
        return parse_limit(key, text, state);
    }
}

static const struct argp_option options[] = {
    {0, 0, 0, 0, "The launch:", 1},
    {"block", KEY_BLOCK, "N[xNxN]", 0, "threads per block", 1},
    {"regs", KEY_REGS, "N", 0,
     "registers per thread (as ptxas -v reports them); not given: they do not limit", 1},
    {"smem", KEY_SMEM, "BYTES", 0, "static shared memory per block; 20480 or 20K", 1},
    {"dynamic-smem", KEY_DYNAMIC, "BYTES", 0, "dynamic shared memory per block", 1},
    {"carveout", KEY_CARVEOUT, "KB", 0,
     "preferred shared-memory configuration of the SM; not given: the largest", 1},
    {"barriers", KEY_BARRIERS, "N", 0, "barriers per block (default 1, as Nsight Compute counts)", 1},
    {"cluster", KEY_CLUSTER, "N", 0, "blocks per cluster", 1},
    {"grid", KEY_GRID, "N", 0, "blocks in the grid: gives the waves", 1},
    {0, 0, 0, 0, "Limits other than the GPU's:", 2},
    {"max-blocks", KEY_MAX_BLOCKS, "N", 0, "blocks per SM", 2},
    {"max-warps", KEY_MAX_WARPS, "N", 0, "warps per SM (with --max-threads N: N/32)", 2},
    {"max-threads", KEY_MAX_THREADS, "N", 0, "threads per SM (with --max-warps N: 32 N)", 2},
    {"max-regs", KEY_MAX_REGS, "N", 0, "registers per SM", 2},
    {"max-smem", KEY_MAX_SMEM, "BYTES", 0, "shared memory per SM, in one fixed configuration", 2},
    {"max-barriers", KEY_MAX_BARRIERS, "N", 0, "barriers per SM", 2},
    {"max-threads-block", KEY_MAX_THREADS_BLOCK, "N", 0, "threads per block", 2},
    {"max-regs-block", KEY_MAX_REGS_BLOCK, "N", 0, "registers per block", 2},
    {"max-smem-block", KEY_MAX_SMEM_BLOCK, "BYTES", 0, "shared memory per block", 2},
    {0, 0, 0, 0, "Curves:", 3},
    {"vary", KEY_VARY, "block|regs|smem", 0, "also print the occupancy over this quantity", 3},
    {"svg", KEY_SVG, "FILE", 0, "draw it (without --vary: over all three)", 3},
    {0}};

static const struct argp_child children[] = {{&common_argp, 0, "Common options:", 4}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "How many blocks of a launch fit one SM, what limits them, and what that makes of a grid. Real "
           "values follow "
           "the hardware's allocation units; idealised ones are plain quotients, as in textbooks.\v"
           "Example: wavetail occupancy --block 256 --regs 92 --smem 20K --grid 1000\n\n"
           "A launch that cannot happen is an error: exit status 1, and with --json blocks_per_sm 0 and the "
           "reason in "
           "`error`. The default GPU is h200.",
    .children = children};

static int given_or(const struct arguments *arguments, enum key key, int otherwise)
{
    int value = arguments->limit[key - KEY_MAX_BLOCKS];
    return value ? value : otherwise;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* A limit per SM that is lowered lowers what a block may have; one that is raised does not raise it. */
static void override_limits(const struct arguments *a, struct wt_limits *l)
{
    int warps = given_or(a, KEY_MAX_WARPS, 0), threads = given_or(a, KEY_MAX_THREADS, 0);
    l->blocks_per_sm = given_or(a, KEY_MAX_BLOCKS, l->blocks_per_sm);
    l->barriers_per_sm = given_or(a, KEY_MAX_BARRIERS, l->barriers_per_sm);
    l->warps_per_sm = warps ? warps : threads ? threads / WT_WARP_SIZE : l->warps_per_sm;
    l->threads_per_sm = threads ? threads : warps ? warps * WT_WARP_SIZE : l->threads_per_sm;
    l->threads_per_block = given_or(a, KEY_MAX_THREADS_BLOCK, least(l->threads_per_block, l->threads_per_sm));
    l->registers_per_sm = given_or(a, KEY_MAX_REGS, l->registers_per_sm);
    l->registers_per_block =
        given_or(a, KEY_MAX_REGS_BLOCK, least(l->registers_per_block, l->registers_per_sm));
    int shared = given_or(a, KEY_MAX_SMEM, 0);
    if (shared) {
        l->shared_bytes_per_sm = shared;
        l->carveout_count = 0;
    }
    l->shared_bytes_per_block_opt_in =
        given_or(a, KEY_MAX_SMEM_BLOCK, least(l->shared_bytes_per_block_opt_in, l->shared_bytes_per_sm));
    l->shared_bytes_per_block = least(l->shared_bytes_per_block, l->shared_bytes_per_block_opt_in);
}

/* What is asked for beyond the SM's limits. */
static enum wt_code check_question(const struct occ_question *q, struct wt_error *err)
{
    if (q->block[2] > 64)
        return wt_fail(err, WT_BAD_INPUT, "a block of %d in z: at most 64; put more of it in x or y",
                       q->block[2]);
    if (q->cluster > 1 && q->gpu->cc_major < 9)
        return wt_fail(err, WT_BAD_INPUT, "clusters need compute capability 9.0 or higher; %s has %d.%d",
                       q->gpu->name, q->gpu->cc_major, q->gpu->cc_minor);
    if (q->cluster > 16)
        return wt_fail(err, WT_BAD_INPUT, "a cluster of %d blocks: at most 16 (8 without opting in)",
                       q->cluster);
    if (q->cluster > 1 && q->grid % (uint64_t)q->cluster)
        return wt_fail(err, WT_BAD_INPUT, "a grid of %llu blocks is no whole number of clusters of %d",
                       (unsigned long long)q->grid, q->cluster);
    return WT_OK;
}

struct occ_answer occ_solve(const struct occ_question *q)
{
    struct occ_answer answer = {0};
    wt_occupancy_idealised(&q->limits, &q->needs, &answer.idealised, &answer.idealised_error);
    if (check_question(q, &answer.real_error) != WT_OK)
        wt_occupancy(&q->limits, &q->needs, &answer.real, NULL), answer.real.blocks_per_sm = 0;
    else
        wt_occupancy(&q->limits, &q->needs, &answer.real, &answer.real_error);
    return answer;
}

static void print_json(const struct occ_question *q, const struct occ_answer *answer,
                       const struct occ_curve *curves, int count)
{
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    occ_json(q, answer, &json);
    if (count) {
        wt_json_array(&json, "curves");
        for (int i = 0; i < count; i++)
            occ_curve_json(&curves[i], &json);
        wt_json_close(&json);
    }
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code report(const struct arguments *arguments, struct wt_error *err)
{
    const struct occ_question *q = &arguments->question;
    struct occ_answer answer = occ_solve(q);
    struct occ_curve curves[OCC_AXES];
    int count = 0;
    for (enum occ_axis axis = 0; axis < OCC_AXES; axis++)
        if (arguments->vary == axis || (arguments->svg && arguments->vary == OCC_AXES))
            curves[count++] = occ_curve_make(q, axis);
    int printed = arguments->vary == OCC_AXES ? 0 : count;
    if (arguments->common.json)
        print_json(q, &answer, curves, printed);
    else
        occ_print(q, &answer);
    for (int i = 0; i < printed && !arguments->common.json; i++)
        occ_curve_print(&curves[i]);
    enum wt_code code = answer.real_error.code;
    if (code != WT_OK)
        *err = answer.real_error;
    if (arguments->svg && code == WT_OK)
        code = occ_draw(q, &answer, curves, count, arguments->svg, err);
    for (int i = 0; i < count; i++)
        occ_curve_free(&curves[i]);
    return code;
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {.vary = OCC_AXES};
    struct occ_question *q = &arguments.question;
    q->cluster = 1;
    q->needs = (struct wt_launch_needs){.carveout_kb = WT_CARVEOUT_DEFAULT, .barriers = 1};
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    struct wt_gpu *gpu;
    WT_TRY(wt_gpu_load(arguments.common.gpu ? arguments.common.gpu : "h200", &gpu, err));
    q->gpu = gpu;
    q->limits = gpu->limits;
    override_limits(&arguments, &q->limits);
    q->needs.threads = q->block[0] * q->block[1] * q->block[2];
    enum wt_code code = report(&arguments, err);
    wt_gpu_free(gpu);
    return code;
}

const struct command occupancy_command = {
    .name = "occupancy", .summary = "blocks per SM, what limits them, waves", .run = run};
