#include "cost/tasks.h"

#include <stdlib.h>

#include "core/mem.h"
#include "dispatch/endqueue.h"

static const uint64_t NONE = UINT64_MAX;

/* How one SM reaches the counter. */
struct path {
    wt_time there, back; /* back: to the task's first instruction */
};

struct task {
    wt_time start, end;
    uint64_t next; /* of the same block */
};

struct member {
    wt_time begin;
    uint64_t first, last; /* tasks */
};

struct wt_tasks {
    struct wt_tasks_setup setup;
    struct path *paths;      /* by SM */
    uint64_t *block_at;      /* by place */
    struct member *members;  /* by block */
    struct task *tasks;
    uint64_t next_task;
    wt_time service, overhead, free_at;
    struct wt_endqueue requests; /* by arrival at the counter */
    struct wt_endqueue ends;
};

static void set_paths(struct wt_tasks *t)
{
    const struct wt_gpu *gpu = t->setup.gpu;
    for (int sm = 0; sm < gpu->topology.sm_count; sm++) {
        double latency = gpu->rates.counter_latency_cycles;
        double whole = t->setup.turnaround_cycles ? t->setup.turnaround_cycles[sm] : latency + t->setup.overhead_cycles;
        double there = whole < latency ? whole / 2 : latency / 2;
        wt_time rest = wt_from_cycles(whole - there);
        t->paths[sm] = (struct path){wt_from_cycles(there), rest > t->service ? rest - t->service : 0};
    }
}

struct wt_tasks *wt_tasks_new(const struct wt_tasks_setup *setup)
{
    const struct wt_gpu *gpu = setup->gpu;
    size_t sms = (size_t)gpu->topology.sm_count, places = sms * (size_t)gpu->limits.blocks_per_sm;
    struct wt_tasks *t = wt_alloc(1, sizeof *t);
    t->setup = *setup;
    t->service = wt_from_cycles(gpu->rates.counter_service_cycles);
    t->overhead = wt_from_cycles(setup->overhead_cycles);
    t->paths = wt_alloc(sms, sizeof *t->paths);
    t->block_at = wt_alloc(sms * WT_MAX_SLOTS, sizeof *t->block_at);
    t->members = wt_alloc(setup->grid_blocks, sizeof *t->members);
    t->tasks = wt_alloc(setup->tasks, sizeof *t->tasks);
    wt_endqueue_init(&t->requests, places);
    wt_endqueue_init(&t->ends, places);
    set_paths(t);
    return t;
}

void wt_tasks_free(struct wt_tasks *t)
{
    if (!t)
        return;
    wt_endqueue_free(&t->requests);
    wt_endqueue_free(&t->ends);
    free(t->paths);
    free(t->block_at);
    free(t->members);
    free(t->tasks);
    free(t);
}

/* Returns the task's end. */
static wt_time run_task(struct wt_tasks *t, uint64_t block, uint64_t task, wt_time start)
{
    struct member *m = &t->members[block];
    wt_time end = start + t->setup.cost.duration(t->setup.cost.context, task);
    t->tasks[task] = (struct task){start, end, NONE};
    if (m->last == NONE)
        m->first = task;
    else
        t->tasks[m->last].next = task;
    m->last = task;
    return end;
}

static void run_share(struct wt_tasks *t, uint32_t id, uint64_t block, wt_time start)
{
    wt_time now = start;
    for (uint64_t task = block; task < t->setup.tasks; task += t->setup.grid_blocks)
        now = run_task(t, block, task, now + t->overhead);
    wt_endqueue_push(&t->ends, (struct wt_running){now, id});
}

static void ask(struct wt_tasks *t, uint32_t id, wt_time now)
{
    wt_endqueue_push(&t->requests, (struct wt_running){now + t->paths[id / WT_MAX_SLOTS].there, id});
}

/* The counter serves the request that came first. */
static void serve(struct wt_tasks *t)
{
    struct wt_running request = wt_endqueue_pop(&t->requests);
    t->free_at = (request.end > t->free_at ? request.end : t->free_at) + t->service;
    wt_time known = t->free_at + t->paths[request.id / WT_MAX_SLOTS].back;
    if (t->next_task == t->setup.tasks)
        wt_endqueue_push(&t->ends, (struct wt_running){known, request.id});
    else
        ask(t, request.id, run_task(t, t->block_at[request.id], t->next_task++, known));
}

static void begin(void *context, uint32_t id, uint32_t kernel, uint64_t block, wt_time start)
{
    struct wt_tasks *t = context;
    (void)kernel;
    t->block_at[id] = block;
    t->members[block] = (struct member){start, NONE, NONE};
    if (t->setup.fixed_shares)
        run_share(t, id, block, start);
    else
        ask(t, id, start);
}

/* Requests later than `until` stay: blocks that have not begun may ask before. */
static wt_time next_end(void *context, wt_time until)
{
    struct wt_tasks *t = context;
    while (t->requests.count > 0 && wt_endqueue_next(&t->requests) <= until &&
           wt_endqueue_next(&t->requests) < wt_endqueue_next(&t->ends))
        serve(t);
    wt_time end = wt_endqueue_next(&t->ends);
    return end == WT_NEVER && t->requests.count > 0 ? wt_endqueue_next(&t->requests) : end;
}

static uint32_t take_end(void *context)
{
    return wt_endqueue_pop(&((struct wt_tasks *)context)->ends).id;
}

struct wt_sharing wt_tasks_sharing(struct wt_tasks *t)
{
    return (struct wt_sharing){.context = t, .begin = begin, .next_end = next_end, .take_end = take_end};
}

void wt_tasks_tell(const struct wt_tasks *t, const struct wt_block_run *run, const struct wt_observer *observers,
                   size_t count)
{
    const struct member *m = &t->members[run->block];
    struct wt_block_run told = *run;
    for (uint64_t task = m->first; task != NONE; task = t->tasks[task].next) {
        told.task = task;
        told.start = run->start + (t->tasks[task].start - m->begin);
        told.end = run->start + (t->tasks[task].end - m->begin);
        for (size_t i = 0; i < count; i++)
            if (observers[i].task_done)
                observers[i].task_done(observers[i].context, &told);
    }
}
