#include "observe/warp_states.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum { LEAST_SAMPLES = 256 };

/* Sample i is of cycle i * every. When there is room for no more, every other one goes. */
struct of_sm {
    struct wt_warp_sample *slots; /* owned */
    size_t count;    /* samples */
    size_t capacity; /* of `slots` */
    wt_time every;
};

struct wt_warp_states {
    int sm_count, slots;
    size_t most; /* samples of an SM; even */
    wt_time first_start;
    struct of_sm *sms; /* owned */
};

struct wt_warp_states *wt_warp_states_new(const struct wt_gpu *gpu, size_t bytes)
{
    struct wt_warp_states *states = wt_alloc(1, sizeof *states);
    int sms = gpu->topology.sm_count, slots = gpu->limits.warps_per_sm / gpu->limits.subcores * gpu->limits.subcores;
    size_t most = bytes / ((size_t)sms * (size_t)slots * sizeof(struct wt_warp_sample)) / 2 * 2;
    *states = (struct wt_warp_states){.sm_count = sms, .slots = slots, .most = most < LEAST_SAMPLES ? LEAST_SAMPLES : most};
    states->sms = wt_alloc((size_t)sms, sizeof *states->sms);
    for (int i = 0; i < sms; i++)
        states->sms[i].every = WT_CYCLE;
    return states;
}

void wt_warp_states_free(struct wt_warp_states *states)
{
    if (!states)
        return;
    for (int i = 0; i < states->sm_count; i++)
        free(states->sms[i].slots);
    free(states->sms);
    free(states);
}

/* ---- Recording ---- */

static void thin_out(const struct wt_warp_states *states, struct of_sm *sm)
{
    size_t bytes = (size_t)states->slots * sizeof *sm->slots;
    for (size_t i = 1; 2 * i < sm->count; i++)
        memcpy(sm->slots + i * (size_t)states->slots, sm->slots + 2 * i * (size_t)states->slots, bytes);
    sm->count = (sm->count + 1) / 2;
    sm->every *= 2;
}

static void make_room(const struct wt_warp_states *states, struct of_sm *sm)
{
    if (sm->count == states->most)
        thin_out(states, sm);
    sm->slots = wt_grow(sm->slots, &sm->capacity, (sm->count + 1) * (size_t)states->slots, sizeof *sm->slots);
}

static wt_time take(void *context, int index, wt_time at, const struct wt_warp_sample *slots, int count)
{
    const struct wt_warp_states *states = context;
    struct of_sm *sm = &states->sms[index];
    make_room(states, sm);
    if (at == sm->count * sm->every) { /* not thinned out just now */
        memcpy(sm->slots + sm->count * (size_t)states->slots, slots, (size_t)count * sizeof *slots);
        sm->count++;
    }
    return sm->count * sm->every;
}

struct wt_warp_observer wt_warp_states_observer(struct wt_warp_states *states)
{
    return (struct wt_warp_observer){.context = states, .sample = take};
}

void wt_warp_states_finish(struct wt_warp_states *states, wt_time first_start)
{
    states->first_start = first_start;
}

/* ---- Asking ---- */

int wt_warp_states_slots(const struct wt_warp_states *states)
{
    return states->slots;
}

const struct wt_warp_sample *wt_warp_states_at(const struct wt_warp_states *states, int sm, wt_time t, wt_time *sampled,
                                               wt_time *every)
{
    const struct of_sm *of = &states->sms[sm];
    if (of->count == 0)
        return NULL;
    size_t i = (t + states->first_start) / of->every;
    i = i < of->count ? i : of->count - 1;
    wt_time at = i * of->every;
    if (sampled)
        *sampled = at > states->first_start ? at - states->first_start : 0;
    if (every)
        *every = of->every;
    return of->slots + i * (size_t)states->slots;
}

static void add(const struct wt_warp_states *states, const struct wt_warp_sample *slots, double warps[WT_STALL_COUNT])
{
    for (int i = 0; i < states->slots; i++)
        if (slots[i].state < WT_STALL_COUNT)
            warps[slots[i].state]++;
}

void wt_warp_states_mean(const struct wt_warp_states *states, int sm, wt_time t0, wt_time t1, double warps[WT_STALL_COUNT])
{
    const struct of_sm *of = &states->sms[sm];
    memset(warps, 0, WT_STALL_COUNT * sizeof *warps);
    if (of->count == 0)
        return;
    size_t first = (t0 + states->first_start) / of->every, last = (t1 + states->first_start + of->every - 1) / of->every;
    first = first < of->count ? first : of->count - 1;
    last = last < of->count ? last : of->count;
    last = last > first ? last : first + 1;
    for (size_t i = first; i < last; i++)
        add(states, of->slots + i * (size_t)states->slots, warps);
    for (int i = 0; i < WT_STALL_COUNT; i++)
        warps[i] /= (double)(last - first);
}
