#include "cost/fixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Random numbers set aside for a batch: enough for two or three to a draw, and odd, so that the batches' first
 * numbers are not a power of two apart, where the generator's low bits repeat. */
enum { STRETCH = 4 * WT_FIXED_BATCH - 1 };

struct wt_fixed {
    const struct wt_distribution *distribution;
    const void *values;
    struct wt_random stream;
    bool mean_only; /* every block lasts durations[0] */
    uint64_t first; /* of the blocks in `durations` */
    uint64_t grid_blocks;
    wt_time durations[WT_FIXED_BATCH];
};

const struct wt_distribution *wt_distribution_find(const char *name)
{
    for (size_t i = 0; wt_distributions[i]; i++)
        if (!strcmp(wt_distributions[i]->name, name))
            return wt_distributions[i];
    return NULL;
}

static wt_time to_duration(double cycles)
{
    cycles = cycles < 1 ? 1 : cycles;
    cycles = cycles > WT_FIXED_MOST ? WT_FIXED_MOST : cycles;
    return (wt_time)(int64_t)(cycles * (double)WT_CYCLE + 0.5);
}

static void load_batch(struct wt_fixed *fixed, uint64_t block)
{
    struct wt_fixed_batch batch = {.first = block - block % WT_FIXED_BATCH,
                                   .grid_blocks = fixed->grid_blocks,
                                   .random = fixed->stream};
    wt_random_advance(&batch.random, batch.first / WT_FIXED_BATCH * STRETCH);
    fixed->distribution->fill(fixed->values, &batch);
    for (int i = 0; i < WT_FIXED_BATCH; i++)
        fixed->durations[i] = to_duration(batch.cycles[i]);
    fixed->first = batch.first;
}

static wt_time duration(void *context, uint64_t block)
{
    struct wt_fixed *fixed = context;
    if (block - fixed->first >= WT_FIXED_BATCH)
        load_batch(fixed, block);
    return fixed->durations[block - fixed->first];
}

static wt_time mean_duration(void *context, uint64_t block)
{
    (void)block;
    const struct wt_fixed *fixed = context;
    return fixed->durations[0];
}

enum wt_code wt_fixed_new(const struct wt_fixed_setup *setup, struct wt_fixed **out, struct wt_error *err)
{
    *out = NULL;
    const struct wt_distribution *distribution = setup->distribution;
    if (distribution->check)
        WT_TRY(distribution->check(setup->values, setup->grid_blocks, err));
    bool mean_only = setup->mean_only && distribution->mean;
    double mean = mean_only ? distribution->mean(setup->values) : 0;
    if (isinf(mean))
        return wt_fail(err, WT_BAD_INPUT, "%s has no mean with these parameters, so its randomness cannot be turned "
                       "off; give a cap, or other parameters", distribution->name);
    struct wt_fixed *fixed = wt_alloc(1, sizeof *fixed);
    *fixed = (struct wt_fixed){.distribution = distribution,
                               .values = setup->values,
                               .stream = wt_random_stream(setup->seed, "durations", setup->kernel),
                               .mean_only = mean_only,
                               .grid_blocks = setup->grid_blocks};
    if (mean_only)
        fixed->durations[0] = to_duration(mean);
    else
        load_batch(fixed, 0);
    *out = fixed;
    return WT_OK;
}

void wt_fixed_free(struct wt_fixed *fixed)
{
    free(fixed);
}

struct wt_cost wt_fixed_cost(struct wt_fixed *fixed)
{
    return (struct wt_cost){.duration = fixed->mean_only ? mean_duration : duration, .context = fixed};
}
