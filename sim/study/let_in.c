#include "study/let_in.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/mem.h"
#include "sm/sm.h"

/* Starts that come too soon, of all. */
static const double TOO_SOON = 0.05;

enum { LATER = 1 };

struct event {
    wt_time time; /* of ends a little later, so that none comes before its block's start */
    uint64_t block;
    uint16_t sm;
    bool start;
};

/* By SM; ends before starts. */
static int in_order(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->sm != b->sm)
        return a->sm < b->sm ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->start - b->start;
}

static struct event *events_of(const struct wt_timeline *measured, size_t launch, size_t *count)
{
    struct event *events = wt_alloc(2 * measured->span_count, sizeof *events);
    *count = 0;
    for (size_t i = 0; i < measured->span_count; i++) {
        const struct wt_block_run *span = &measured->spans[i];
        if (span->launch != launch)
            continue;
        events[(*count)++] = (struct event){span->start, span->block, span->sm, true};
        events[(*count)++] = (struct event){span->end + LATER, span->block, span->sm, false};
    }
    qsort(events, *count, sizeof *events, in_order);
    return events;
}

/* A block that was let in and has not been seen to start. */
struct expected {
    int slot;
    const struct event *end; /* that let it in; NULL: there was room */
};

struct room {
    struct wt_sm *sm;
    const struct wt_shape *shape;
    struct expected queue[WT_MAX_SLOTS];
    int first, count;
};

static void let_in(struct room *room, const struct event *end)
{
    for (int slot; (slot = wt_sm_admit(room->sm, room->shape)) >= 0; room->count++)
        room->queue[(room->first + room->count) % WT_MAX_SLOTS] = (struct expected){slot, end};
}

static struct expected next(struct room *room)
{
    struct expected found = room->queue[room->first];
    room->first = (room->first + 1) % WT_MAX_SLOTS;
    room->count--;
    return found;
}

/* One SM's events. Returns how many starts come too soon. */
static size_t follow(const struct event *events, size_t count, const struct wt_limits *limits, const struct wt_shape *shape,
                     int *slots, double *waits)
{
    struct room room = {.sm = wt_sm_new(limits), .shape = shape};
    size_t too_soon = 0;
    let_in(&room, NULL);
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        if (!event->start && slots[event->block] >= 0) {
            wt_sm_release(room.sm, slots[event->block]);
            let_in(&room, event);
        }
        if (!event->start)
            continue;
        slots[event->block] = -1;
        if (room.count == 0) {
            too_soon++;
            continue;
        }
        struct expected found = next(&room);
        slots[event->block] = found.slot;
        if (found.end && isnan(waits[found.end->block]))
            waits[found.end->block] = wt_to_cycles(event->time - (found.end->time - LATER));
    }
    wt_sm_free(room.sm);
    return too_soon;
}

bool wt_let_in(const struct wt_timeline *measured, size_t launch, const struct wt_shape *shape, const struct wt_gpu *gpu,
               double *waits)
{
    size_t count, too_soon = 0;
    struct event *events = events_of(measured, launch, &count);
    uint64_t blocks = measured->launches[launch].grid_blocks;
    int *slots = wt_alloc(blocks, sizeof *slots);
    for (uint64_t i = 0; i < blocks; i++)
        waits[i] = NAN;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && events[end].sm == events[i].sm;)
            end++;
        too_soon += follow(&events[i], end - i, &gpu->limits, shape, slots, waits);
    }
    free(slots);
    free(events);
    return (double)too_soon <= TOO_SOON * (double)blocks;
}
