#include "cost/fluid.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/mem.h"
#include "dispatch/endqueue.h"

enum { MOST_PARTS = 2 * WT_MAX_SLOTS }; /* on an SM: each has a warp */

/* A part that is being served. */
struct served {
    double finish; /* on its SM's clock */
    uint32_t kernel;
    uint8_t slot, warps;
};

struct sm {
    double clock;     /* its own, at `seen` */
    double seen;      /* the GPU's clock when it was last looked at */
    double speed;     /* of its clock, against the GPU's */
    double load;      /* demands on it */
    double asks;      /* demands on the GPU at full speed */
    double warps;     /* being served */
    double next;      /* on the GPU's clock: its first part is through; INFINITY */
    int count;
    uint16_t place;   /* in the GPU's heap */
    struct served *heap; /* by finish */
};

struct block {
    uint64_t number;
    uint32_t kernel;
    uint8_t parts; /* not yet through */
};

struct wt_fluid {
    const struct wt_fluid_kernel *kernels;
    size_t kernel_count;
    int sm_count;
    double now;    /* cycles */
    double clock;  /* the GPU's, at `now` */
    double speed;  /* of the GPU's clock */
    double load;   /* demands on the GPU */
    double serving; /* warps times the speed of their SM's clock, all SMs */
    struct sm *sms;
    uint16_t *heap; /* all SMs, by next */
    struct block *blocks; /* by id */
    struct wt_endqueue starting;
    struct wt_fluid_sums sums;
};

/* ---- SMs by their next event ---- */

static void put(struct wt_fluid *f, int place, uint16_t sm)
{
    f->heap[place] = sm;
    f->sms[sm].place = (uint16_t)place;
}

static bool sooner(const struct wt_fluid *f, uint16_t a, uint16_t b)
{
    return f->sms[a].next < f->sms[b].next || (f->sms[a].next == f->sms[b].next && a < b);
}

/* The SM's next event has changed. */
static void move(struct wt_fluid *f, uint16_t sm)
{
    int place = f->sms[sm].place;
    while (place > 0 && sooner(f, sm, f->heap[(place - 1) / 2])) {
        put(f, place, f->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (int child = 2 * place + 1; child < f->sm_count; child = 2 * place + 1) {
        if (child + 1 < f->sm_count && sooner(f, f->heap[child + 1], f->heap[child]))
            child++;
        if (!sooner(f, f->heap[child], sm))
            break;
        put(f, place, f->heap[child]);
        place = child;
    }
    put(f, place, sm);
}

/* ---- The parts on an SM ---- */

static bool before(const struct served *a, const struct served *b)
{
    return a->finish < b->finish || (a->finish == b->finish && a->slot < b->slot);
}

static void push(struct sm *sm, struct served part)
{
    assert(sm->count < MOST_PARTS);
    int place = sm->count++;
    while (place > 0 && before(&part, &sm->heap[(place - 1) / 2])) {
        sm->heap[place] = sm->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    sm->heap[place] = part;
}

static struct served pop(struct sm *sm)
{
    struct served first = sm->heap[0], last = sm->heap[--sm->count];
    int place = 0;
    for (int child = 1; child < sm->count; child = 2 * place + 1) {
        if (child + 1 < sm->count && before(&sm->heap[child + 1], &sm->heap[child]))
            child++;
        if (!before(&sm->heap[child], &last))
            break;
        sm->heap[place] = sm->heap[child];
        place = child;
    }
    sm->heap[place] = last;
    return first;
}

/* ---- Clocks ---- */

static double slowed(double load)
{
    return load > 1 ? 1 / load : 1;
}

static void advance(struct wt_fluid *f, double time)
{
    if (time <= f->now)
        return;
    double step = (time - f->now) * f->speed;
    f->sums.done += step * f->serving;
    f->clock += step;
    f->now = time;
}

static void look_at(const struct wt_fluid *f, struct sm *sm)
{
    sm->clock += (f->clock - sm->seen) * sm->speed;
    sm->seen = f->clock;
}

/* `warps` more of a kernel, or fewer, ask on an SM that was just looked at. */
static void ask(struct wt_fluid *f, struct sm *sm, const struct wt_fluid_kernel *kernel, double warps)
{
    f->load -= sm->asks * sm->speed;
    f->serving -= sm->warps * sm->speed;
    bool idle = sm->count == 0;
    sm->load = idle ? 0 : sm->load + warps * kernel->sm_demand;
    sm->asks = idle ? 0 : sm->asks + warps * kernel->gpu_demand;
    sm->warps = idle ? 0 : sm->warps + warps;
    sm->speed = slowed(sm->load);
    f->load += sm->asks * sm->speed;
    f->serving += sm->warps * sm->speed;
    f->speed = slowed(f->load);
    sm->next = idle ? INFINITY : sm->seen + (sm->heap[0].finish - sm->clock) / sm->speed;
    move(f, (uint16_t)(sm - f->sms));
}

/* ---- Starts and ends ---- */

/* The first of those that are starting asks for service. */
static void admit(struct wt_fluid *f)
{
    struct wt_running starting = wt_endqueue_pop(&f->starting);
    struct block *block = &f->blocks[starting.id];
    struct sm *sm = &f->sms[starting.id / WT_MAX_SLOTS];
    const struct wt_fluid_kernel *kernel = &f->kernels[block->kernel];
    struct wt_fluid_part parts[WT_FLUID_PARTS];
    int count = kernel->parts(kernel->context, block->number, parts), warps = 0;
    advance(f, wt_to_cycles(starting.end));
    look_at(f, sm);
    block->parts = (uint8_t)count;
    for (int i = 0; i < count; i++) {
        push(sm, (struct served){.finish = sm->clock + parts[i].work, .kernel = block->kernel,
                                 .slot = (uint8_t)(starting.id % WT_MAX_SLOTS), .warps = (uint8_t)parts[i].warps});
        f->sums.given += parts[i].work * parts[i].warps;
        warps += parts[i].warps;
    }
    ask(f, sm, kernel, warps);
}

static double next_finish(const struct wt_fluid *f)
{
    double next = f->sms[f->heap[0]].next;
    return isinf(next) ? INFINITY : f->now + fmax(0, next - f->clock) / f->speed;
}

/* The part that is through first leaves; returns its block's id. */
static uint32_t leave(struct wt_fluid *f)
{
    struct sm *sm = &f->sms[f->heap[0]];
    advance(f, next_finish(f));
    look_at(f, sm);
    struct served part = pop(sm);
    sm->clock = part.finish;
    ask(f, sm, &f->kernels[part.kernel], -(double)part.warps);
    uint32_t id = (uint32_t)(sm - f->sms) * WT_MAX_SLOTS + part.slot;
    f->blocks[id].parts--;
    return id;
}

static bool ends_block(const struct wt_fluid *f)
{
    uint32_t sm = f->heap[0];
    return f->blocks[sm * WT_MAX_SLOTS + f->sms[sm].heap[0].slot].parts == 1;
}

/* ---- The engine's side ---- */

static void begin(void *context, uint32_t id, uint32_t kernel, uint64_t number, wt_time start)
{
    struct wt_fluid *f = context;
    assert(kernel < f->kernel_count);
    f->blocks[id] = (struct block){.number = number, .kernel = kernel};
    wt_endqueue_push(&f->starting, (struct wt_running){start + wt_from_cycles(f->kernels[kernel].start_cycles), id});
}

static wt_time next_end(void *context, wt_time until)
{
    struct wt_fluid *f = context;
    for (;;) {
        wt_time starting = wt_endqueue_next(&f->starting);
        double finish = next_finish(f);
        wt_time end = isinf(finish) ? WT_NEVER : (wt_time)ceil(finish * (double)WT_CYCLE);
        if ((starting < end ? starting : end) > until || (end <= starting && (end == WT_NEVER || ends_block(f))))
            return starting < end ? starting : end;
        if (end <= starting)
            leave(f);
        else
            admit(f);
    }
}

static uint32_t take_end(void *context)
{
    return leave(context);
}

struct wt_sharing wt_fluid_sharing(struct wt_fluid *fluid)
{
    return (struct wt_sharing){.context = fluid, .begin = begin, .next_end = next_end, .take_end = take_end};
}

struct wt_fluid_sums wt_fluid_sums(const struct wt_fluid *fluid)
{
    return fluid->sums;
}

struct wt_fluid *wt_fluid_new(const struct wt_fluid_kernel *kernels, size_t count, int sm_count)
{
    struct wt_fluid *f = wt_alloc(1, sizeof *f);
    f->kernels = kernels;
    f->kernel_count = count;
    f->sm_count = sm_count;
    f->speed = 1;
    f->sms = wt_alloc((size_t)sm_count, sizeof *f->sms);
    f->heap = wt_alloc((size_t)sm_count, sizeof *f->heap);
    f->blocks = wt_alloc((size_t)sm_count * WT_MAX_SLOTS, sizeof *f->blocks);
    struct served *parts = wt_alloc((size_t)sm_count * MOST_PARTS, sizeof *parts);
    for (int i = 0; i < sm_count; i++) {
        f->sms[i].speed = 1;
        f->sms[i].next = INFINITY;
        f->sms[i].heap = parts + (size_t)i * MOST_PARTS;
        put(f, i, (uint16_t)i);
    }
    wt_endqueue_init(&f->starting, (size_t)sm_count * WT_MAX_SLOTS);
    return f;
}

void wt_fluid_free(struct wt_fluid *fluid)
{
    if (!fluid)
        return;
    wt_endqueue_free(&fluid->starting);
    free(fluid->sms[0].heap);
    free(fluid->sms);
    free(fluid->heap);
    free(fluid->blocks);
    free(fluid);
}
