#include "load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/measured.h"
#include "observe/result.h"
#include "origin.h"
#include "study/replay.h"

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

static enum wt_code refuse_empty(const char *path, const struct wt_timeline *timeline, struct wt_error *err)
{
    if (timeline->span_count > 0 && timeline->launch_count > 0)
        return WT_OK;
    return wt_fail_at(err, path, 0, "holds no blocks, so there is nothing to show");
}

static void add_run(struct loaded *out, struct run *run)
{
    out->runs[out->count++] = run;
}

/* A deadlock is said at once. */
static void add_and_say(struct loaded *out, struct run *run)
{
    if (run->timeline->stuck)
        snprintf(out->note, sizeof out->note, "%s", run->timeline->stuck);
    add_run(out, run);
}

/* ---- Result files ---- */

/* Takes the timeline over, also when it fails; NULL: nothing. */
static enum wt_code add_timeline(struct loaded *out, const char *path, const char *label, const char *gpu_name,
                                 struct wt_timeline *timeline, struct wt_error *err)
{
    struct wt_gpu *gpu = NULL;
    if (!timeline)
        return WT_OK;
    enum wt_code code = refuse_empty(path, timeline, err);
    if (code == WT_OK && gpu_name)
        code = wt_gpu_load(gpu_name, &gpu, err);
    if (code == WT_OK)
        add_and_say(out, run_new(label, timeline, gpu));
    else
        wt_timeline_free(timeline);
    return code;
}

static enum wt_code load_result(const char *path, const struct load_setup *setup, struct loaded *out, struct wt_error *err)
{
    struct wt_result result;
    WT_TRY(wt_result_load(path, &result, err));
    enum wt_code code = add_timeline(out, path, "measured", setup->gpu, result.measured, err);
    result.measured = NULL;
    if (code == WT_OK) {
        code = add_timeline(out, path, "simulated", setup->gpu, result.simulated, err);
        result.simulated = NULL;
    }
    wt_result_clear(&result);
    return code;
}

/* ---- Traces ---- */

static enum wt_code show_alone(const char *path, const struct load_setup *setup, struct loaded *out, struct wt_error *err)
{
    struct wt_trace *trace;
    WT_TRY(wt_trace_read(path, &trace, err));
    struct wt_clocks *clocks = NULL;
    struct wt_timeline *timeline = NULL;
    enum wt_code code = wt_clocks_fit(trace, &clocks, err);
    if (code == WT_OK)
        code = wt_timeline_from_trace(trace, clocks, &timeline, err);
    if (code == WT_OK)
        code = add_timeline(out, path, "measured", setup->gpu, timeline, err);
    wt_clocks_free(clocks);
    wt_trace_free(trace);
    return code;
}

static enum wt_code add_replay(struct wt_replay *replay, const char *path, const struct load_setup *setup,
                               struct loaded *out, struct wt_error *err)
{
    struct wt_timeline *predicted = replay->predicted;
    enum wt_code code = add_timeline(out, path, "measured", setup->gpu, replay->measured, err);
    replay->measured = replay->predicted = NULL;
    if (code != WT_OK) {
        wt_timeline_free(predicted);
        return code;
    }
    WT_TRY(add_timeline(out, path, "simulated", setup->gpu, predicted, err));
    out->runs[1]->origin = origin_replay(path, setup->gpu, setup->seed);
    return WT_OK;
}

/* A trace that cannot be replayed is shown all the same, with the reason. */
static enum wt_code load_trace(const char *path, const struct load_setup *setup, struct loaded *out, struct wt_error *err)
{
    struct wt_replay_setup replaying = {.gpu = setup->gpu, .seed = setup->seed, .unseen_cycles = NAN};
    struct wt_replay *replay = NULL;
    struct wt_error why = {0};
    if (setup->no_replay || wt_replay_trace(path, &replaying, &replay, &why) != WT_OK) {
        WT_TRY(show_alone(path, setup, out, err));
        if (why.text[0])
            snprintf(out->note, sizeof out->note, "Not replayed: %s", why.text);
        return WT_OK;
    }
    enum wt_code code = add_replay(replay, path, setup, out, err);
    wt_replay_free(replay);
    return code;
}

/* ---- Workloads ---- */

static enum wt_code load_workload(const char *path, const struct load_setup *setup, struct loaded *out,
                                  struct wt_error *err)
{
    WT_TRY(scenario_from_workload(path, setup->gpu, setup->seed, setup->seed_given, &out->scenario, err));
    struct run *run;
    struct changes none = changes_none();
    WT_TRY(scenario_simulate(out->scenario, &none, "simulated", &run, err));
    add_and_say(out, run);
    return WT_OK;
}

enum wt_code load_input(const char *path, const struct load_setup *setup, struct loaded *out, struct wt_error *err)
{
    *out = (struct loaded){0};
    enum wt_code code = wt_result_recognise(path) ? load_result(path, setup, out, err)
                        : ends_in(path, ".cfg")   ? load_workload(path, setup, out, err)
                                                  : load_trace(path, setup, out, err);
    if (code == WT_OK && !out->scenario)
        out->scenario = scenario_from_run(out->runs[0]);
    if (code != WT_OK)
        loaded_clear(out);
    return code;
}

/* ---- Lessons ---- */

/* As a workload is opened, so that it can be asked and changed. */
static enum wt_code load_case(const char *path, const struct load_setup *setup, struct loaded *out, struct wt_error *err)
{
    struct loaded one = {0};
    enum wt_code code = load_workload(path, setup, &one, err);
    if (code != WT_OK) {
        loaded_clear(&one);
        return code;
    }
    free(one.runs[0]->label);
    one.runs[0]->label = wt_strdup(one.runs[0]->timeline->title);
    *(out->count ? &out->second : &out->scenario) = one.scenario;
    add_run(out, one.runs[0]);
    return WT_OK;
}

static enum wt_code load_cases(const struct wt_lesson *lesson, const struct load_setup *setup, struct loaded *out, struct wt_error *err)
{
    WT_TRY(load_case(lesson->workload, setup, out, err));
    if (lesson->second)
        WT_TRY(load_case(lesson->second, setup, out, err));
    return lesson_words(lesson, out->runs, &out->lesson, &out->captions, err);
}

enum wt_code load_lesson(const char *name, const struct load_setup *setup, struct loaded *out, struct wt_error *err)
{
    struct wt_lesson *lesson;
    *out = (struct loaded){0};
    WT_TRY(wt_lesson_read(name, &lesson, err));
    enum wt_code code = load_cases(lesson, setup, out, err);
    wt_lesson_free(lesson);
    if (code != WT_OK)
        loaded_clear(out);
    return code;
}

void loaded_clear(struct loaded *loaded)
{
    for (int i = 0; i < loaded->count; i++)
        run_free(loaded->runs[i]);
    scenario_free(loaded->scenario);
    scenario_free(loaded->second);
    captions_clear(&loaded->captions);
    lesson_clear(&loaded->lesson);
    *loaded = (struct loaded){0};
}
