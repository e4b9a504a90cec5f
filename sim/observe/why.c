#include "observe/why.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

/* A moment's reasons are looked for this long before it; a wait that began earlier shows none. */
static const double LOOK_BACK_CYCLES = 1e6;

struct known {
    bool any;
    struct wt_known_end end;
    wt_time ended;
};

struct wt_why_state {
    int sm_count;
    wt_time origin;  /* first start so far: exact once the first visits are over */
    wt_time *ends;   /* by SM * WT_MAX_SLOTS + slot */
    struct known *known; /* by SM: the last */
    bool over;       /* the moment has passed */
    /* raw times, as in struct wt_why; WT_NEVER where it has NaN */
    wt_time arrived, headed, previous, waited_from, next_arrival;
    wt_time ready, known_at, visited, earliest, start, ended;
    uint32_t head;   /* launch; UINT32_MAX: none yet */
    uint64_t handed_out_of_head;
    int arrivals, heads;
};

struct wt_why *wt_why_new(const struct wt_why_question *question, int sm_count)
{
    struct wt_why *why = wt_alloc(1, sizeof *why);
    struct wt_why_state *s = wt_alloc(1, sizeof *s);
    *why = (struct wt_why){.question = *question, .launch = question->launch, .block = question->block, .behind = -1,
                           .arrived = NAN, .headed = NAN, .previous = NAN, .waited_from = NAN, .next_arrival = NAN, .state = s};
    *s = (struct wt_why_state){.sm_count = sm_count, .origin = WT_NEVER, .head = UINT32_MAX};
    s->ends = wt_alloc((size_t)sm_count * WT_MAX_SLOTS, sizeof *s->ends);
    s->known = wt_alloc((size_t)sm_count, sizeof *s->known);
    s->arrived = s->headed = s->previous = s->waited_from = s->next_arrival = WT_NEVER;
    s->ready = s->known_at = s->visited = s->earliest = s->start = s->ended = WT_NEVER;
    return why;
}

void wt_why_free(struct wt_why *why)
{
    if (!why)
        return;
    free(why->state->ends);
    free(why->state->known);
    free(why->state);
    free(why);
}

/* ---- Recording ---- */

static double since_origin(const struct wt_why_state *s, wt_time at)
{
    return at == WT_NEVER ? NAN : wt_to_cycles(at) - wt_to_cycles(s->origin == WT_NEVER ? 0 : s->origin);
}

/* Whether what happens at `at` is still of interest. */
static bool in_time(struct wt_why *why, wt_time at)
{
    struct wt_why_state *s = why->state;
    if (why->question.moment && s->origin != WT_NEVER && since_origin(s, at) > why->question.cycles)
        s->over = true;
    return !s->over;
}

static void arrived(void *context, uint32_t launch, wt_time at)
{
    struct wt_why *why = context;
    struct wt_why_state *s = why->state;
    if (!in_time(why, at)) {
        s->next_arrival = s->next_arrival == WT_NEVER ? at : s->next_arrival;
        return;
    }
    s->arrivals++;
    if (why->question.moment || launch != why->launch)
        return;
    s->arrived = at;
    why->behind = s->head == UINT32_MAX ? -1 : (int)s->head;
}

static void heads(void *context, uint32_t launch, wt_time at)
{
    struct wt_why *why = context;
    struct wt_why_state *s = why->state;
    if (!in_time(why, at))
        return;
    s->heads++;
    s->head = launch;
    s->waited_from = why->question.moment ? WT_NEVER : s->waited_from;
    if (why->question.moment || (launch == why->launch && s->headed == WT_NEVER))
        s->headed = at;
}

static void find_reasons(struct wt_why *why, const struct wt_wait *wait)
{
    why->cluster = wait->cluster;
    why->reason_count = wt_sm_refusal_kinds(wait->sms, wait->sm_count, wait->shape, why->reasons);
    why->sms_with_room = wait->sm_count;
    for (int i = 0; i < why->reason_count; i++)
        why->sms_with_room -= why->reasons[i].sms;
}

static bool is_asked(const struct wt_why *why, uint32_t launch, uint64_t first, int count)
{
    return launch == why->launch && why->block >= first && why->block - first < (uint64_t)(count > 1 ? count : 1);
}

static void waits(void *context, const struct wt_wait *wait)
{
    struct wt_why *why = context;
    struct wt_why_state *s = why->state;
    if (!in_time(why, wait->at) || s->waited_from != WT_NEVER)
        return;
    if (why->question.moment ? since_origin(s, wait->at) + LOOK_BACK_CYCLES < why->question.cycles
                             : !is_asked(why, wait->launch, wait->block, wait->cluster))
        return;
    s->waited_from = wait->at;
    why->launch = wait->launch;
    why->block = why->question.moment ? wait->block : why->block;
    find_reasons(why, wait);
}

static void ended(void *context, uint16_t sm, uint16_t slot, wt_time end)
{
    struct wt_why *why = context;
    why->state->ends[sm * WT_MAX_SLOTS + slot] = end;
}

static void known(void *context, const struct wt_known_end *end)
{
    struct wt_why *why = context;
    struct wt_why_state *s = why->state;
    s->known[end->sm] = (struct known){true, *end, s->ends[end->sm * WT_MAX_SLOTS + end->slot]};
}

static void take_handout(struct wt_why *why, const struct wt_handout *handout)
{
    struct wt_why_state *s = why->state;
    const struct known *last = &s->known[handout->sm];
    why->found = true;
    why->sm = handout->sm;
    why->slot = handout->slot;
    s->visited = handout->at;
    s->earliest = handout->earliest;
    why->freed = last->any && s->waited_from != WT_NEVER && last->end.at >= s->waited_from;
    if (!why->freed)
        return;
    why->freed_launch = last->end.launch;
    why->freed_block = last->end.block;
    s->ended = last->ended;
    s->ready = last->end.ready;
    s->known_at = last->end.at;
}

static void handed_out(void *context, const struct wt_handout *handout)
{
    struct wt_why *why = context;
    struct wt_why_state *s = why->state;
    if (!in_time(why, handout->at))
        return;
    if (why->question.moment) {
        why->launch = handout->launch;
        why->block = handout->block + 1;
        s->previous = handout->at;
        s->waited_from = WT_NEVER;
    } else if (handout->launch == why->launch && handout->block + 1 == why->block) {
        s->previous = handout->at;
    } else if (is_asked(why, handout->launch, handout->block, 1)) {
        take_handout(why, handout);
    }
}

static void started(void *context, const struct wt_started *started)
{
    struct wt_why *why = context;
    struct wt_why_state *s = why->state;
    s->origin = started->start < s->origin ? started->start : s->origin;
    if (why->found && started->launch == why->launch && started->block == why->block)
        s->start = started->start;
}

struct wt_watch wt_why_watch(struct wt_why *why)
{
    return (struct wt_watch){why, arrived, heads, waits, ended, known, handed_out, started};
}

void wt_why_finish(struct wt_why *why)
{
    const struct wt_why_state *s = why->state;
    why->arrived = since_origin(s, s->arrived);
    why->headed = since_origin(s, s->headed);
    why->previous = since_origin(s, s->previous);
    why->waited_from = since_origin(s, s->waited_from);
    why->next_arrival = since_origin(s, s->next_arrival);
    why->ended = since_origin(s, s->ended);
    why->ready = since_origin(s, s->ready);
    why->known = since_origin(s, s->known_at);
    why->visited = since_origin(s, s->visited);
    why->earliest = since_origin(s, s->earliest);
    why->start = since_origin(s, s->start);
    why->launches_behind = s->arrivals - s->heads > 0 ? s->arrivals - s->heads : 0;
    if (why->question.moment)
        why->found = s->waited_from != WT_NEVER;
    if (isnan(why->waited_from))
        why->reason_count = 0;
}
