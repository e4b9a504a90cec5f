/* What a lesson's workload does. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "observe/standing.h"
#include "study/launches.h"
#include "study/lesson.h"
#include "study/workload.h"

static const char default_gpu[] = "h200";

static void take_warps(const struct wt_launches *launches, struct wt_lesson_run *out)
{
    out->warps = wt_alloc(launches->count, sizeof *out->warps);
    for (size_t i = 0; i < launches->count; i++)
        out->warps[i] = wt_warp_result(launches->warp, (uint32_t)i);
}

static enum wt_code simulate(struct wt_launches *launches, const struct wt_workload *workload, const struct wt_gpu *gpu,
                             struct wt_lesson_run *out, struct wt_error *err)
{
    out->timeline = launches->about;
    out->space = wt_address_space_new(0);
    launches->about = NULL;
    struct wt_standing *standing = wt_standing_new(gpu->topology.sm_count);
    struct wt_metrics_stream *metrics = wt_metrics_stream_new(out->timeline);
    struct wt_observer observers[3] = {wt_metrics_stream_observer(metrics), wt_timeline_observer(out->timeline)};
    struct wt_task_teller teller = {launches, observers, 2};
    observers[2] = wt_task_teller_observer(&teller);
    struct wt_watch watches[2] = {wt_standing_watch(standing), wt_address_space_watch(out->space)};
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
        wt_standing_add(standing, wt_launches_stuck_since(launches), stuck.text, out->timeline);
        code = WT_OK;
    }
    wt_standing_free(standing);
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
    return run->timeline->stuck_since ? wt_timeline_end(run->timeline) - wt_timeline_begin(run->timeline)
                         : wt_metrics_makespan(&run->metrics->whole);
}
