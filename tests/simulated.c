#include "simulated.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "suites.h"

const struct start from_anew = {.first_group = -1, .first_extra_sm = -1};

struct wt_gpu *gpu_named(const char *name)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load(name, &gpu, &err) == WT_OK, "%s", err.text);
    return gpu;
}

struct wt_gpu *gpu_of(int slots, const char *topology, const char *rates)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    char *text = wt_format("base = \"four-sms\"; name = \"made up\";\n"
                           "limits = { source = \"assumed: a test\"; blocks_per_sm = %d; };\n"
                           "topology = { source = \"assumed: a test\"; %s };\n"
                           "rates = { source = \"assumed: a test\"; %s };\n",
                           slots, topology, rates);
    ck_assert_msg(wt_gpu_parse(text, strlen(text), "test.cfg", &gpu, &err) == WT_OK, "%s", err.text);
    free(text);
    return gpu;
}

static wt_time duration(void *context, uint64_t block)
{
    const struct grid *grid = context;
    size_t listed = 0;
    while (listed < MOST_LISTED && grid->cycles[listed] > 0)
        listed++;
    return wt_from_cycles(grid->cycles[block < listed ? block : listed - 1]);
}

static struct wt_kernel kernel_of(const struct wt_gpu *gpu, const struct grid *grid)
{
    struct wt_launch_needs needs = {.threads = grid->threads ? grid->threads : 32,
                                    .registers_per_thread = grid->registers ? grid->registers : 16,
                                    .dynamic_shared_bytes = grid->dynamic_shared_bytes,
                                    .carveout_kb = WT_CARVEOUT_DEFAULT};
    struct wt_kernel kernel = {.name = "test", .grid_blocks = grid->blocks, .cooperative = grid->cooperative,
                               .cluster = grid->cluster};
    struct wt_error err = {0};
    kernel.cost = (struct wt_cost){duration, (void *)(uintptr_t)grid};
    ck_assert_msg(wt_shape_make(&gpu->limits, &needs, &kernel.shape, &err) == WT_OK, "%s", err.text);
    return kernel;
}

struct collection {
    struct wt_block_run *runs;
    uint64_t *first_of_launch;
};

static void keep(void *context, const struct wt_block_run *run)
{
    struct collection *kept = context;
    kept->runs[kept->first_of_launch[run->launch] + run->block] = *run;
}

struct wt_block_run *simulated(const struct wt_gpu *gpu, const struct start *start, const struct grid *grids,
                               size_t count)
{
    struct wt_kernel *kernels = wt_alloc(count, sizeof *kernels);
    struct collection kept = {.first_of_launch = wt_alloc(count, sizeof *kept.first_of_launch)};
    uint64_t blocks = 0;
    for (size_t i = 0; i < count; i++) {
        kernels[i] = kernel_of(gpu, &grids[i]);
        kept.first_of_launch[i] = blocks;
        blocks += grids[i].blocks;
    }
    kept.runs = wt_alloc(blocks, sizeof *kept.runs);
    struct wt_observer observer = {.context = &kept, .block_done = keep};
    struct wt_simulation simulation = {.gpu = gpu,
                                       .policy = start->policy,
                                       .kernels = kernels,
                                       .kernel_count = count,
                                       .seed = start->seed,
                                       .first_group = start->first_group,
                                       .first_extra_sm = start->first_extra_sm,
                                       .observers = &observer,
                                       .observer_count = 1};
    struct wt_error err = {0};
    ck_assert_msg(wt_simulate(&simulation, &err) == WT_OK, "%s", err.text);
    free(kernels);
    free(kept.first_of_launch);
    return kept.runs;
}

void assert_starts(const struct wt_block_run *runs, size_t count, const double *cycles)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(wt_to_cycles(runs[i].start) == cycles[i], "block %zu starts at %g, not at %g", i,
                      wt_to_cycles(runs[i].start), cycles[i]);
}

void assert_sms(const struct wt_block_run *runs, size_t count, const int *sms)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(runs[i].sm == sms[i], "block %zu is on SM %d, not on %d", i, runs[i].sm, sms[i]);
}

int h200_group_of(int sm)
{
    int tpc = sm / 2;
    return sm >= 124 ? 8 : sm >= 120 ? 6 + (sm - 120) / 2 : tpc < 32 ? tpc % 8 : 1 + (tpc - 32) % 7;
}
