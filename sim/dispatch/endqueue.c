#include "dispatch/endqueue.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/mem.h"

static inline bool before(struct wt_running a, struct wt_running b)
{
    return a.end < b.end || (a.end == b.end && a.id < b.id);
}

void wt_endqueue_init(struct wt_endqueue *queue, size_t capacity)
{
    *queue = (struct wt_endqueue){.heap = wt_alloc(capacity, sizeof *queue->heap), .capacity = capacity};
}

void wt_endqueue_free(struct wt_endqueue *queue)
{
    free(queue->heap);
    *queue = (struct wt_endqueue){0};
}

void wt_endqueue_push(struct wt_endqueue *queue, struct wt_running running)
{
    assert(queue->count < queue->capacity);
    struct wt_running *heap = queue->heap;
    size_t i = queue->count++;
    while (i > 0) {
        size_t parent = (i - 1) / 4;
        if (!before(running, heap[parent]))
            break;
        heap[i] = heap[parent];
        i = parent;
    }
    heap[i] = running;
}

static inline size_t earliest_child(const struct wt_running *heap, size_t first, size_t count)
{
    size_t best = first;
    size_t end = first + 4 < count ? first + 4 : count;
    for (size_t c = first + 1; c < end; c++)
        best = before(heap[c], heap[best]) ? c : best;
    return best;
}

struct wt_running wt_endqueue_pop(struct wt_endqueue *queue)
{
    assert(queue->count > 0);
    struct wt_running *heap = queue->heap;
    struct wt_running top = heap[0];
    struct wt_running last = heap[--queue->count];
    size_t i = 0;
    for (size_t first = 1; first < queue->count; first = 4 * i + 1) {
        size_t child = earliest_child(heap, first, queue->count);
        if (!before(heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}
