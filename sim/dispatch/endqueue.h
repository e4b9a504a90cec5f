/* The blocks that are running, by the time they end: a 4-ary heap whose size never exceeds the GPU's block slots.
 * Equal times come out by ascending id, so the order never depends on history. */
#ifndef WT_DISPATCH_ENDQUEUE_H
#define WT_DISPATCH_ENDQUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

struct wt_running {
    wt_time end;
    uint32_t id; /* sm * WT_MAX_SLOTS + slot */
};

struct wt_endqueue {
    struct wt_running *heap; /* owned; room for `capacity` */
    size_t count, capacity;
};

/* Room for `capacity` blocks at once. */
void wt_endqueue_init(struct wt_endqueue *queue, size_t capacity);
void wt_endqueue_free(struct wt_endqueue *queue);

/* The queue must not be full. */
void wt_endqueue_push(struct wt_endqueue *queue, struct wt_running running);

/* Removes the earliest. The queue must not be empty. */
struct wt_running wt_endqueue_pop(struct wt_endqueue *queue);

/* WT_NEVER when empty. */
static inline wt_time wt_endqueue_next(const struct wt_endqueue *queue)
{
    return queue->count ? queue->heap[0].end : WT_NEVER;
}

#endif
