#include "smstate.h"

#include <stdlib.h>

#include "core/mem.h"

static void forget(struct sm_state *state)
{
    wt_sm_free(state->model);
    state->model = wt_sm_new(&state->run->gpu->limits);
    state->now = 0;
    state->refused = 0;
    state->next_start = state->run->sm_first[state->sm];
    for (int slot = 0; slot < WT_MAX_SLOTS; slot++)
        state->held[slot].span = NO_SPAN;
}

static int first_to_end(const struct sm_state *state, wt_time *end)
{
    int first = -1;
    *end = WT_NEVER;
    for (int slot = 0; slot < WT_MAX_SLOTS; slot++) {
        if (state->held[slot].span == NO_SPAN)
            continue;
        wt_time its = run_span(state->run, state->held[slot].span)->end;
        if (its < *end) {
            *end = its;
            first = slot;
        }
    }
    return first;
}

static void admit(struct sm_state *state, uint32_t span)
{
    const struct wt_shape *shape = &state->run->launches[run_span(state->run, span)->launch].shape;
    int pointer = wt_sm_subcore_pointer(state->model);
    int slot = wt_sm_admit(state->model, shape);
    if (slot < 0) {
        state->refused++;
        return;
    }
    struct held_block *held = &state->held[slot];
    *held = (struct held_block){span, shape->warp_lanes[pointer], shape->register_lanes[pointer], 0, 0};
    wt_sm_shared_range(state->model, slot, &held->shared_offset, &held->shared_bytes);
}

/* The next event up to t; ends before starts at the same time. */
static bool step(struct sm_state *state, wt_time t)
{
    wt_time end, start = WT_NEVER;
    int ending = first_to_end(state, &end);
    if (state->next_start < state->run->sm_first[state->sm + 1])
        start = run_span(state->run, state->run->sm_spans[state->next_start])->start;
    if (end > t && start > t)
        return false;
    if (end <= start) {
        wt_sm_release(state->model, ending);
        state->held[ending].span = NO_SPAN;
    } else {
        admit(state, state->run->sm_spans[state->next_start++]);
    }
    return true;
}

struct sm_state *sm_state_new(const struct run *run, int sm)
{
    if (!run->shapes_known || sm >= run->sms)
        return NULL;
    struct sm_state *state = wt_alloc(1, sizeof *state);
    state->run = run;
    state->sm = sm;
    forget(state);
    return state;
}

void sm_state_free(struct sm_state *state)
{
    if (!state)
        return;
    wt_sm_free(state->model);
    free(state);
}

void sm_state_seek(struct sm_state *state, wt_time t)
{
    if (t < state->now)
        forget(state);
    while (step(state, t))
        ;
    state->now = t;
}

static bool uses_shared(const struct run *run)
{
    for (size_t i = 0; run->shapes_known && i < run->timeline->launch_count; i++)
        if (run->timeline->launches[i].needs.static_shared_bytes + run->timeline->launches[i].needs.dynamic_shared_bytes > 0)
            return true;
    return false;
}

bool sm_shared_curve(const struct run *run, size_t count, double **free_bytes, double **largest_hole)
{
    if (!uses_shared(run))
        return false;
    *free_bytes = wt_alloc(count, sizeof **free_bytes);
    *largest_hole = wt_alloc(count, sizeof **largest_hole);
    for (int sm = 0; sm < run->sms; sm++) {
        struct sm_state *state = sm_state_new(run, sm);
        for (size_t i = 0; i < count; i++) {
            sm_state_seek(state, (wt_time)((double)run->end * ((double)i + 0.5) / (double)count));
            struct wt_shared_use use = wt_sm_shared_use(state->model);
            (*free_bytes)[i] += use.free_bytes / (double)run->sms;
            (*largest_hole)[i] += use.largest_hole_bytes / (double)run->sms;
        }
        sm_state_free(state);
    }
    return true;
}
