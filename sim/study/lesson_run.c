/* What a lesson's workload does. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "dispatch/watch.h"
#include "gpu/gpu.h"
#include "study/launches.h"
#include "study/lesson.h"
#include "study/workload.h"

static const char default_gpu[] = "h200";

/* The blocks on the SMs, for the timeline of a deadlock. */
struct residents {
    struct wt_block_run *runs; /* by SM and slot; times on the engine's axis; owned */
    bool *present;             /* owned */
    size_t places;
    wt_time origin; /* first start of any block */
};

static size_t place_of(uint16_t sm, uint16_t slot)
{
    return (size_t)sm * WT_MAX_SLOTS + slot;
}

static void ignore_launch(void *context, uint32_t launch, wt_time at)
{
    (void)context, (void)launch, (void)at;
}

static void ignore_wait(void *context, const struct wt_wait *wait)
{
    (void)context, (void)wait;
}

static void ignore_known(void *context, const struct wt_known_end *end)
{
    (void)context, (void)end;
}

static void note_start(void *context, const struct wt_handout *handout)
{
    struct residents *residents = context;
    size_t place = place_of(handout->sm, handout->slot);
    residents->present[place] = true;
    residents->runs[place] = (struct wt_block_run){
        .block = handout->block, .launch = handout->launch, .sm = handout->sm, .slot = handout->slot, .start = handout->start};
    residents->origin = handout->start < residents->origin ? handout->start : residents->origin;
}

static void note_end(void *context, uint16_t sm, uint16_t slot, wt_time end)
{
    (void)end;
    ((struct residents *)context)->present[place_of(sm, slot)] = false;
}

static struct residents residents_on(const struct wt_gpu *gpu)
{
    size_t places = (size_t)gpu->topology.sm_count * WT_MAX_SLOTS;
    return (struct residents){wt_alloc(places, sizeof(struct wt_block_run)), wt_alloc(places, sizeof(bool)), places, WT_NEVER};
}

static void free_residents(struct residents *residents)
{
    free(residents->runs);
    free(residents->present);
}

/* Those who wait for ever are shown for a while. */
static void add_stuck(const struct wt_launches *launches, const struct residents *residents, struct wt_timeline *timeline)
{
    wt_time since;
    if (!wt_launches_stuck_since(launches, &since))
        return;
    timeline->stuck_since = since - residents->origin;
    for (size_t i = 0; i < residents->places; i++) {
        struct wt_block_run run = residents->runs[i];
        if (!residents->present[i])
            continue;
        run.start -= residents->origin;
        run.end = 2 * timeline->stuck_since;
        wt_timeline_add(timeline, &run);
    }
    wt_timeline_sort(timeline);
    wt_timeline_find_queue_empty(timeline);
}

static void take_warps(const struct wt_launches *launches, struct wt_lesson_run *out)
{
    out->warps = wt_alloc(launches->count, sizeof *out->warps);
    for (size_t i = 0; i < launches->count; i++)
        out->warps[i] = wt_warp_result(launches->warp, (uint32_t)i);
}

/* A deadlock's message without its place. */
static char *deadlock_of(const struct wt_error *stuck)
{
    const char *text = strstr(stuck->text, "deadlock: ");
    return wt_strdup(text ? text : stuck->text);
}

static enum wt_code simulate(struct wt_launches *launches, const struct wt_workload *workload, const struct wt_gpu *gpu,
                             struct wt_lesson_run *out, struct wt_error *err)
{
    out->timeline = launches->about;
    out->space = wt_address_space_new(0);
    launches->about = NULL;
    struct residents residents = residents_on(gpu);
    struct wt_metrics_stream *metrics = wt_metrics_stream_new(out->timeline);
    struct wt_observer observers[3] = {wt_metrics_stream_observer(metrics), wt_timeline_observer(out->timeline)};
    struct wt_task_teller teller = {launches, observers, 2};
    observers[2] = wt_task_teller_observer(&teller);
    struct wt_watch watches[2] = {{&residents, ignore_launch, ignore_launch, ignore_wait, note_end, ignore_known, note_start},
                                  wt_address_space_watch(out->space)};
    struct wt_simulation simulation = {.gpu = gpu, .kernels = launches->kernels, .kernel_count = launches->count,
                                       .seed = workload->seed, .first_group = -1, .first_extra_sm = -1,
                                       .sharing = launches->sharing, .observers = observers, .observer_count = 3,
                                       .watches = watches, .watch_count = 2};
    struct wt_error stuck = {0};
    enum wt_code code = wt_launches_simulate(launches, &simulation, out->timeline, &stuck);
    out->metrics = wt_metrics_stream_finish(metrics);
    if (launches->warp)
        take_warps(launches, out);
    if (code == WT_DEADLOCK) {
        out->deadlock = deadlock_of(&stuck);
        add_stuck(launches, &residents, out->timeline);
        code = WT_OK;
    }
    free_residents(&residents);
    return code == WT_OK ? WT_OK : wt_fail(err, code, "%s", stuck.text);
}

static enum wt_code simulate_on(const struct wt_workload *workload, struct wt_lesson_run *out, struct wt_error *err)
{
    struct wt_gpu *gpu;
    struct wt_launches *launches = NULL;
    WT_TRY(wt_gpu_load(workload->gpu ? workload->gpu : default_gpu, &gpu, err));
    enum wt_code code = wt_launches_new(workload, gpu, workload->seed, false, &launches, err);
    if (code == WT_OK)
        code = simulate(launches, workload, gpu, out, err);
    wt_launches_free(launches);
    wt_gpu_free(gpu);
    return code;
}

enum wt_code wt_lesson_simulate(const char *path, struct wt_lesson_run *out, struct wt_error *err)
{
    struct wt_workload *workload;
    *out = (struct wt_lesson_run){0};
    WT_TRY(wt_workload_read(path, &workload, err));
    enum wt_code code = simulate_on(workload, out, err);
    wt_workload_free(workload);
    if (code != WT_OK)
        wt_lesson_run_clear(out);
    return code;
}

void wt_lesson_run_clear(struct wt_lesson_run *run)
{
    wt_timeline_free(run->timeline);
    wt_address_space_free(run->space);
    wt_metrics_free(run->metrics);
    free(run->warps);
    free(run->deadlock);
    *run = (struct wt_lesson_run){0};
}

wt_time wt_lesson_moment(const struct wt_caption *caption, const struct wt_lesson_run runs[2])
{
    const struct wt_lesson_run *run = &runs[caption->second];
    if (caption->launch < 0 || (size_t)caption->launch >= run->metrics->about->launch_count)
        return (wt_time)(caption->at * (double)wt_lesson_length(run));
    const struct wt_metrics_part *part = &run->metrics->launches[caption->launch];
    return part->begin - run->metrics->whole.begin + (wt_time)(caption->at * (double)wt_metrics_makespan(part));
}

wt_time wt_lesson_length(const struct wt_lesson_run *run)
{
    return run->deadlock ? wt_timeline_end(run->timeline) - wt_timeline_begin(run->timeline)
                         : wt_metrics_makespan(&run->metrics->whole);
}
