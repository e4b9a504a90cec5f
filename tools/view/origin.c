#include "origin.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "study/replay.h"

struct origin {
    const struct scenario *scenario; /* NULL: a replay */
    struct changes changes;
    char *trace, *gpu; /* owned */
    uint64_t seed;
};

struct origin *origin_scenario(const struct scenario *scenario, const struct changes *changes)
{
    struct origin *origin = wt_alloc(1, sizeof *origin);
    *origin = (struct origin){.scenario = scenario, .changes = *changes};
    return origin;
}

struct origin *origin_replay(const char *trace, const char *gpu, uint64_t seed)
{
    struct origin *origin = wt_alloc(1, sizeof *origin);
    *origin = (struct origin){.trace = wt_strdup(trace), .gpu = gpu ? wt_strdup(gpu) : NULL, .seed = seed};
    return origin;
}

void origin_free(struct origin *origin)
{
    if (!origin)
        return;
    free(origin->trace);
    free(origin->gpu);
    free(origin);
}

bool origin_can_tell(const struct origin *origin)
{
    return origin && (!origin->scenario || origin->scenario->workload || origin->changes.order == ORDER_AS_IS);
}

static enum wt_code ask_replay(void *context, const struct wt_timeline *launches, struct wt_replay_questions *out,
                               struct wt_error *err)
{
    (void)err;
    out->why = wt_why_new(context, launches->sm_count);
    return WT_OK;
}

enum wt_code origin_ask(const struct origin *origin, const struct wt_why_question *question, struct wt_why **out,
                        struct wt_error *err)
{
    if (origin->scenario)
        return scenario_ask(origin->scenario, &origin->changes, question, out, err);
    struct wt_why_question copy = *question;
    struct wt_replay_asker asker = {&copy, ask_replay};
    struct wt_replay_setup setup = {.gpu = origin->gpu, .seed = origin->seed, .unseen_cycles = NAN, .asker = &asker};
    struct wt_replay *replay;
    *out = NULL;
    WT_TRY(wt_replay_trace(origin->trace, &setup, &replay, err));
    *out = replay->questions.why;
    replay->questions.why = NULL;
    wt_replay_free(replay);
    return WT_OK;
}
