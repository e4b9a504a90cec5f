#include "cost/waiting.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"
#include "dispatch/endqueue.h"

enum state { AHEAD, ARRIVED, GONE_ON };

struct member {
    wt_time arrival;
    wt_time signal; /* when others may go on for its sake; WT_NEVER: not known yet */
    wt_time rest;   /* work after the waiting */
    uint32_t id;
    enum state state;
};

struct wt_waiting {
    struct wt_waiting_setup setup;
    wt_time latency;
    struct member *members;  /* by block */
    uint64_t *fresh;         /* blocks whose signal has just become known; room for all */
    uint64_t fresh_count;
    uint64_t begun;
    wt_time last_arrival;
    struct wt_endqueue ends;
};

struct wt_waiting *wt_waiting_new(const struct wt_waiting_setup *setup)
{
    assert(!(setup->chained && setup->pattern == WT_WAIT_ALL));
    struct wt_waiting *w = wt_alloc(1, sizeof *w);
    w->setup = *setup;
    w->latency = wt_from_cycles(setup->latency_cycles);
    w->members = wt_alloc(setup->grid_blocks, sizeof *w->members);
    w->fresh = wt_alloc(setup->grid_blocks, sizeof *w->fresh);
    for (uint64_t i = 0; i < setup->grid_blocks; i++)
        w->members[i].signal = WT_NEVER;
    wt_endqueue_init(&w->ends, (size_t)setup->gpu->topology.sm_count * (size_t)setup->gpu->limits.blocks_per_sm);
    return w;
}

void wt_waiting_free(struct wt_waiting *w)
{
    if (!w)
        return;
    wt_endqueue_free(&w->ends);
    free(w->members);
    free(w->fresh);
    free(w);
}

/* The k-th block that `block` waits for; grid_blocks: there are no more. May be `block` itself, which it never misses. */
static uint64_t awaited(const struct wt_waiting *w, uint64_t block, uint64_t k)
{
    uint64_t none = w->setup.grid_blocks;
    switch (w->setup.pattern) {
    case WT_WAIT_PREVIOUS:
        return k == 0 && block > 0 ? block - 1 : none;
    case WT_WAIT_NEXT:
        return k == 0 ? block + 1 : none;
    case WT_WAIT_FIRST:
        return k == 0 ? 0 : none;
    case WT_WAIT_LIST:
        return k < (uint64_t)w->setup.list_count ? (uint64_t)w->setup.list[k] : none;
    case WT_WAIT_ALL:
        return k;
    }
    return none;
}

static void learn_signal(struct wt_waiting *w, uint64_t block, wt_time time)
{
    w->members[block].signal = time;
    w->fresh[w->fresh_count++] = block;
}

/* `last`: the last signal it waited for; WT_NEVER: for none. */
static void go_on(struct wt_waiting *w, uint64_t block, wt_time last)
{
    struct member *m = &w->members[block];
    wt_time time = m->arrival;
    if (last != WT_NEVER && last + w->latency > time)
        time = last + w->latency;
    m->state = GONE_ON;
    wt_endqueue_push(&w->ends, (struct wt_running){time + m->rest, m->id});
    if (w->setup.chained)
        learn_signal(w, block, time);
}

/* The first block that `block` misses; grid_blocks: none, and *last is the last signal (WT_NEVER: it waits
 * for nobody). */
static uint64_t missed(const struct wt_waiting *w, uint64_t block, wt_time *last)
{
    uint64_t none = w->setup.grid_blocks, other;
    *last = WT_NEVER;
    for (uint64_t k = 0; (other = awaited(w, block, k)) < none; k++) {
        if (other == block)
            continue;
        wt_time signal = w->members[other].signal;
        if (signal == WT_NEVER)
            return other;
        *last = *last == WT_NEVER || signal > *last ? signal : *last;
    }
    return none;
}

static void try_to_go_on(struct wt_waiting *w, uint64_t block)
{
    wt_time last;
    if (w->members[block].state != ARRIVED || missed(w, block, &last) < w->setup.grid_blocks)
        return;
    go_on(w, block, last);
}

static bool in_list(const struct wt_waiting *w, uint64_t block)
{
    for (int i = 0; i < w->setup.list_count; i++)
        if ((uint64_t)w->setup.list[i] == block)
            return true;
    return false;
}

static void try_all(struct wt_waiting *w)
{
    for (uint64_t i = 0; i < w->setup.grid_blocks; i++)
        try_to_go_on(w, i);
}

/* Those who wait for `block` may be able to go on. */
static void pass_on(struct wt_waiting *w, uint64_t block)
{
    switch (w->setup.pattern) {
    case WT_WAIT_PREVIOUS:
        if (block + 1 < w->setup.grid_blocks)
            try_to_go_on(w, block + 1);
        return;
    case WT_WAIT_NEXT:
        if (block > 0)
            try_to_go_on(w, block - 1);
        return;
    case WT_WAIT_FIRST:
        if (block == 0)
            try_all(w);
        return;
    case WT_WAIT_LIST:
        if (in_list(w, block))
            try_all(w);
        return;
    case WT_WAIT_ALL:
        return;
    }
}

/* The barrier opens for all at once: looking at every pair would take the grid's square. */
static void open_barrier(struct wt_waiting *w)
{
    for (uint64_t i = 0; i < w->setup.grid_blocks; i++)
        go_on(w, i, w->last_arrival);
}

static void begin(void *context, uint32_t id, uint32_t kernel, uint64_t block, wt_time start)
{
    struct wt_waiting *w = context;
    struct member *m = &w->members[block];
    wt_time duration = w->setup.cost.duration(w->setup.cost.context, block);
    wt_time before = (wt_time)((double)duration * w->setup.at + 0.5);
    (void)kernel;
    *m = (struct member){.arrival = start + before, .signal = WT_NEVER, .rest = duration - before, .id = id, .state = ARRIVED};
    w->last_arrival = m->arrival > w->last_arrival ? m->arrival : w->last_arrival;
    w->begun++;
    if (!w->setup.chained)
        learn_signal(w, block, m->arrival);
    if (w->setup.pattern != WT_WAIT_ALL)
        try_to_go_on(w, block);
    else if (w->begun == w->setup.grid_blocks)
        open_barrier(w);
    while (w->fresh_count > 0)
        pass_on(w, w->fresh[--w->fresh_count]);
}

static wt_time next_end(void *context, wt_time until)
{
    (void)until;
    return wt_endqueue_next(&((const struct wt_waiting *)context)->ends);
}

static uint32_t take_end(void *context)
{
    return wt_endqueue_pop(&((struct wt_waiting *)context)->ends).id;
}

struct wt_sharing wt_waiting_sharing(struct wt_waiting *w)
{
    return (struct wt_sharing){.context = w, .begin = begin, .next_end = next_end, .take_end = take_end};
}

/* Follows blocks that wait for blocks that wait; no chain is longer than the grid without being a circle. */
static uint64_t first_missing(const struct wt_waiting *w, uint64_t block)
{
    wt_time last;
    for (uint64_t steps = 0; steps <= w->setup.grid_blocks; steps++) {
        if (w->members[block].state == AHEAD)
            return block;
        block = missed(w, block, &last);
        if (block == w->setup.grid_blocks)
            break;
    }
    return w->setup.grid_blocks;
}

bool wt_waiting_standstill(const struct wt_waiting *w, struct wt_standstill *out)
{
    wt_time last;
    *out = (struct wt_standstill){0};
    for (uint64_t i = 0; i < w->setup.grid_blocks; i++) {
        if (w->members[i].state != ARRIVED)
            continue;
        out->since = w->members[i].arrival > out->since ? w->members[i].arrival : out->since;
        if (out->waiting++ > 0)
            continue;
        out->block = i;
        out->awaited = missed(w, i, &last);
        out->awaited_started = w->members[out->awaited].state != AHEAD;
        out->missing = first_missing(w, out->awaited);
    }
    return out->waiting > 0;
}
