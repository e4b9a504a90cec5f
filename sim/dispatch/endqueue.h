/* The blocks that are running, by the time they end: a calendar (Brown 1988, "Calendar queues") whose days are
 * heaps. Ends of the present day, and overdue ones, lie in a heap; later ones in a ring of unsorted buckets, one a
 * day, which becomes the heap when its day comes. The length of a day follows the rate of ends, so that few days have
 * several; where many blocks end at once, the heap keeps the cost logarithmic.
 *
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

struct wt_endqueue_entry; /* of a bucket's list */

struct wt_endqueue {
    size_t count;    /* blocks in the queue */
    size_t capacity;
    struct wt_running *heap; /* today's and overdue ends; never empty unless the queue is */
    size_t heap_count;
    struct wt_endqueue_entry *entries; /* `capacity` of them */
    uint32_t free_entry;
    uint32_t *buckets;  /* by day modulo the ring's size: first entry */
    uint64_t *occupied; /* one bit per bucket */
    uint64_t ring_mask; /* ring's size - 1 */
    uint64_t today;     /* end >> day_shift, of the heap's latest */
    int day_shift;
    uint32_t pops;      /* since the day's length was last looked at */
    wt_time looked_at;
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
