#include "fit/replays.h"

#include <math.h>
#include <stdlib.h>

#include "dispatch/simulate.h"
#include "fit/statistics.h"

struct replay {
    const struct wt_stretch *stretch;
    double first_start; /* measured */
    struct wt_sample errors;
};

static wt_time measured_duration(void *context, uint64_t block)
{
    const struct replay *replay = context;
    const struct wt_stay *stay = &replay->stretch->launch->stays[block];
    return wt_from_cycles(fmax(1, stay->end - stay->start));
}

static void compare(void *context, const struct wt_block_run *run)
{
    struct replay *replay = context;
    if (run->block < replay->stretch->first || run->block >= replay->stretch->end)
        return;
    double measured = replay->stretch->launch->stays[run->block].start - replay->first_start;
    wt_sample_add(&replay->errors, fabs(wt_to_cycles(run->start) - measured));
}

double wt_replayed_error(const struct wt_evidence *evidence, const struct wt_stretch *stretch, const struct wt_gpu *gpu)
{
    const struct wt_launch_evidence *launch = stretch->launch;
    struct replay replay = {.stretch = stretch, .first_start = INFINITY};
    for (size_t b = 0; b < launch->blocks; b++)
        replay.first_start = fmin(replay.first_start, launch->stays[b].start);
    struct wt_kernel kernel = {.name = "replay", .grid_blocks = launch->blocks, .shape = launch->shape,
                               .cost = {measured_duration, &replay}};
    bool *used_tpcs = wt_evidence_used_tpcs(launch, gpu);
    struct wt_observer observer = {.context = &replay, .block_done = compare};
    struct wt_simulation simulation = {.gpu = gpu, .kernels = &kernel, .kernel_count = 1, .seed = 1, .first_group = -1,
                                       .first_extra_sm = -1, .used_tpcs = used_tpcs, .observers = &observer, .observer_count = 1};
    wt_first_wave_start(evidence->traces[launch->trace].trace, launch->launch, gpu, &simulation.first_group,
                        &simulation.first_extra_sm);
    bool done = wt_simulate(&simulation, NULL) == WT_OK && replay.errors.count > 0;
    free(used_tpcs);
    wt_sample_sort(&replay.errors);
    double median = done ? wt_sample_quantile(&replay.errors, 0.5) : INFINITY;
    wt_sample_free(&replay.errors);
    return median;
}
