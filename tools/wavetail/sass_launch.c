#include "sass_launch.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "core/mem.h"

enum { KEY_SASS = 0x3101, KEY_GRID, KEY_BLOCK, KEY_REGS, KEY_SMEM, KEY_DYNAMIC, GROUP = 5, MOST_SHARED = 1 << 20 };

static void parse_extent(struct argp_state *state, const char *option, const char *text, int extent[3])
{
    char *copy = wt_strdup(text), *rest = copy;
    extent[0] = extent[1] = extent[2] = 1;
    for (int i = 0; i < 3 && rest; i++) {
        char *number = rest;
        rest = strchr(rest, 'x');
        if (rest)
            *rest++ = '\0';
        extent[i] = (int)parse_integer(state, option, number, 1, 2147483647);
    }
    if (rest)
        argp_error(state, "--%s takes N, NxN or NxNxN, not '%s'", option, text);
    free(copy);
}

static void check_given(struct argp_state *state, const struct sass_launch *launch)
{
    const struct sass_input *input = &launch->input;
    if (launch->sass && (!launch->grid[0] || !launch->block[0]))
        argp_error(state, "give the launch: --grid N --block N");
    bool others = launch->grid[0] || launch->block[0] || launch->static_shared || launch->dynamic_shared || input->kernel ||
                  input->source || input->metrics || input->trip_count || input->trace || input->work >= 0;
    if (!launch->sass && others)
        argp_error(state, "options of a kernel from SASS come with --sass FILE; a workload file says the same itself");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct sass_launch *launch = state->input;
    switch (key) {
    case KEY_SASS:
        launch->sass = text;
        return 0;
    case KEY_GRID:
        parse_extent(state, "grid", text, launch->grid);
        return 0;
    case KEY_BLOCK:
        parse_extent(state, "block", text, launch->block);
        return 0;
    case KEY_REGS:
        launch->registers = (int)parse_integer(state, "regs", text, 0, 255);
        return 0;
    case KEY_SMEM:
        launch->static_shared = (int)parse_bytes(state, "smem", text, 0, MOST_SHARED);
        return 0;
    case KEY_DYNAMIC:
        launch->dynamic_shared = (int)parse_bytes(state, "dynamic-smem", text, 0, MOST_SHARED);
        return 0;
    case ARGP_KEY_INIT:
        launch->registers = 32;
        state->child_inputs[0] = &launch->input;
        return 0;
    case ARGP_KEY_END:
        check_given(state, launch);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {0, 0, 0, 0, "One launch of a kernel from SASS, instead of a workload:", GROUP},
    {"sass", KEY_SASS, "FILE", 0, "the kernel: output of cuobjdump -sass", GROUP},
    {"grid", KEY_GRID, "N[xNxN]", 0, "blocks", GROUP},
    {"block", KEY_BLOCK, "N[xNxN]", 0, "threads of a block", GROUP},
    {"regs", KEY_REGS, "N", 0, "registers per thread (default 32)", GROUP},
    {"smem", KEY_SMEM, "BYTES", 0, "static shared memory of a block", GROUP},
    {"dynamic-smem", KEY_DYNAMIC, "BYTES", 0, "dynamic shared memory of a block", GROUP},
    {0}};

static const struct argp_child children[] = {{&sass_input_argp, 0, NULL, 0}, {0}};

const struct argp sass_launch_argp = {.options = options, .parser = parse, .children = children};

enum wt_code sass_launch_workload(const struct sass_launch *launch, struct sass_kernel *kernel, struct wt_workload **out,
                                  struct wt_error *err)
{
    int64_t threads = (int64_t)launch->block[0] * launch->block[1];
    threads = threads > MOST_SHARED ? threads : threads * launch->block[2];
    *out = NULL;
    *kernel = (struct sass_kernel){0};
    if (threads > MOST_SHARED)
        return wt_fail(err, WT_BAD_INPUT, "--block: a block has at most 1024 threads");
    struct sass_shape shape = {.blocks = (uint64_t)launch->grid[0] * (uint64_t)launch->grid[1] * (uint64_t)launch->grid[2],
                               .threads = (int)threads,
                               .static_shared = launch->static_shared,
                               .dynamic_shared = launch->dynamic_shared};
    WT_TRY(sass_kernel_read(launch->sass, &launch->input, &shape, kernel, err));
    size_t work_count = 0;
    double *work = sass_kernel_work(kernel, &work_count);
    struct wt_workload_launch made = {.name = kernel->function->name,
                                      .program = kernel->program,
                                      .needs = {.registers_per_thread = launch->registers,
                                                .static_shared_bytes = launch->static_shared,
                                                .dynamic_shared_bytes = launch->dynamic_shared,
                                                .carveout_kb = WT_CARVEOUT_DEFAULT,
                                                .barriers = 1},
                                      .work = work,
                                      .work_count = work_count};
    memcpy(made.grid, launch->grid, sizeof made.grid);
    memcpy(made.block, launch->block, sizeof made.block);
    *out = wt_workload_of_program(launch->sass, &made);
    kernel->program = NULL;
    free(work);
    return WT_OK;
}
