#include "dispatch/endqueue.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum { WORD = 64, POPS_BETWEEN_LOOKS = 4096, FIRST_DAY_SHIFT = 10, LONGEST_DAY_SHIFT = 56,
       DAYS_SHIFT = 3 };

#define NONE UINT32_MAX

struct wt_endqueue_entry {
    wt_time end;
    uint32_t id, next;
};

void wt_endqueue_init(struct wt_endqueue *queue, size_t capacity)
{
    size_t ring = WORD;
    while (ring < 2 * capacity)
        ring *= 2;
    *queue = (struct wt_endqueue){.capacity = capacity,
                                  .heap = wt_alloc(capacity, sizeof *queue->heap),
                                  .entries = wt_alloc(capacity, sizeof *queue->entries),
                                  .buckets = wt_alloc(ring, sizeof *queue->buckets),
                                  .occupied = wt_alloc(ring / WORD, sizeof *queue->occupied),
                                  .ring_mask = ring - 1,
                                  .day_shift = FIRST_DAY_SHIFT};
    for (size_t i = 0; i < ring; i++)
        queue->buckets[i] = NONE;
    for (size_t i = 0; i < capacity; i++)
        queue->entries[i].next = i + 1 < capacity ? (uint32_t)i + 1 : NONE;
}

void wt_endqueue_free(struct wt_endqueue *queue)
{
    free(queue->heap);
    free(queue->entries);
    free(queue->buckets);
    free(queue->occupied);
    *queue = (struct wt_endqueue){0};
}

/* ---- The heap (binary) ---- */

static inline bool before(struct wt_running a, struct wt_running b)
{
    return a.end < b.end || (a.end == b.end && a.id < b.id);
}

static inline void heap_push(struct wt_endqueue *queue, struct wt_running running)
{
    struct wt_running *heap = queue->heap;
    size_t i = queue->heap_count++;
    while (i > 0 && before(running, heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = running;
}

static void heap_pop(struct wt_endqueue *queue)
{
    struct wt_running *heap = queue->heap;
    struct wt_running last = heap[--queue->heap_count];
    size_t i = 0;
    for (size_t child = 1; child < queue->heap_count; child = 2 * i + 1) {
        if (child + 1 < queue->heap_count && before(heap[child + 1], heap[child]))
            child++;
        if (!before(heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
}

/* ---- The ring ---- */

static inline uint64_t day_of(const struct wt_endqueue *queue, wt_time t)
{
    return t >> queue->day_shift;
}

static inline void ring_push(struct wt_endqueue *queue, struct wt_running running)
{
    uint64_t bucket = day_of(queue, running.end) & queue->ring_mask;
    uint32_t index = queue->free_entry;
    struct wt_endqueue_entry *entry = &queue->entries[index];
    queue->free_entry = entry->next;
    *entry = (struct wt_endqueue_entry){running.end, running.id, queue->buckets[bucket]};
    queue->buckets[bucket] = index;
    queue->occupied[bucket / WORD] |= UINT64_C(1) << (bucket % WORD);
}

/* The first day from `day` on whose bucket is occupied, by any year's ends. The ring must not be empty. */
static uint64_t next_occupied_day(const struct wt_endqueue *queue, uint64_t day)
{
    uint64_t bucket = day & queue->ring_mask;
    uint64_t bits = queue->occupied[bucket / WORD] >> (bucket % WORD);
    if (bits)
        return day + (uint64_t)__builtin_ctzll(bits);
    day += WORD - bucket % WORD;
    for (;; day += WORD) {
        bits = queue->occupied[(day & queue->ring_mask) / WORD];
        if (bits)
            return day + (uint64_t)__builtin_ctzll(bits);
    }
}

/* Moves today's ends from their bucket to the heap. */
static void open_day(struct wt_endqueue *queue)
{
    uint64_t bucket = queue->today & queue->ring_mask;
    uint32_t left = NONE; /* those of later years */
    for (uint32_t index = queue->buckets[bucket], next; index != NONE; index = next) {
        struct wt_endqueue_entry *entry = &queue->entries[index];
        bool today = day_of(queue, entry->end) <= queue->today;
        uint32_t *list = today ? &queue->free_entry : &left;
        if (today)
            heap_push(queue, (struct wt_running){entry->end, entry->id});
        next = entry->next;
        entry->next = *list;
        *list = index;
    }
    queue->buckets[bucket] = left;
    if (left == NONE)
        queue->occupied[bucket / WORD] &= ~(UINT64_C(1) << (bucket % WORD));
}

static uint64_t earliest_day(const struct wt_endqueue *queue)
{
    wt_time earliest = WT_NEVER;
    for (uint64_t bucket = 0; bucket <= queue->ring_mask; bucket++)
        for (uint32_t i = queue->buckets[bucket]; i != NONE; i = queue->entries[i].next)
            earliest = wt_sooner(earliest, queue->entries[i].end);
    return day_of(queue, earliest);
}

/* Goes on to the next day with ends, leaping over empty years. */
static void next_day(struct wt_endqueue *queue)
{
    uint64_t year_ends = queue->today + queue->ring_mask + 1;
    do {
        queue->today = next_occupied_day(queue, queue->today + 1);
        if (queue->today > year_ends)
            queue->today = earliest_day(queue);
        open_day(queue);
    } while (queue->heap_count == 0);
}

static void place(struct wt_endqueue *queue, struct wt_running running)
{
    if (day_of(queue, running.end) <= queue->today)
        heap_push(queue, running);
    else
        ring_push(queue, running);
}

/* ---- The day's length ---- */

static void empty_ring(struct wt_endqueue *queue)
{
    for (uint64_t bucket = 0; bucket <= queue->ring_mask; bucket++) {
        for (uint32_t i = queue->buckets[bucket], next; i != NONE; i = next) {
            heap_push(queue, (struct wt_running){queue->entries[i].end, queue->entries[i].id});
            next = queue->entries[i].next;
            queue->entries[i].next = queue->free_entry;
            queue->free_entry = i;
        }
        queue->buckets[bucket] = NONE;
    }
    memset(queue->occupied, 0, (queue->ring_mask + 1) / 8);
}

/* Everything goes into the heap and out again by the new length; writing never overtakes reading. */
static void change_days(struct wt_endqueue *queue, int day_shift)
{
    empty_ring(queue);
    queue->day_shift = day_shift;
    queue->today = day_of(queue, queue->heap[0].end);
    queue->heap_count = 0;
    for (size_t i = 0; i < queue->count; i++)
        place(queue, queue->heap[i]);
}

/* Few days should have more than one end: 2^(DAYS_SHIFT - 1) to 2^DAYS_SHIFT days for each. Empty days are leapt over. */
static void look_at_rate(struct wt_endqueue *queue, wt_time now)
{
    wt_time gap = (now - queue->looked_at) / POPS_BETWEEN_LOOKS;
    int shift = gap >> DAYS_SHIFT ? WORD - __builtin_clzll(gap) - DAYS_SHIFT : 0;
    shift = shift > LONGEST_DAY_SHIFT ? LONGEST_DAY_SHIFT : shift;
    queue->pops = 0;
    queue->looked_at = now;
    if (abs(shift - queue->day_shift) > 1 && queue->count > 0)
        change_days(queue, shift);
}

/* ---- Public ---- */

void wt_endqueue_push(struct wt_endqueue *queue, struct wt_running running)
{
    assert(queue->count < queue->capacity);
    if (queue->count++ == 0)
        queue->today = day_of(queue, running.end);
    place(queue, running);
}

struct wt_running wt_endqueue_pop(struct wt_endqueue *queue)
{
    assert(queue->count > 0);
    struct wt_running top = queue->heap[0];
    queue->count--;
    if (queue->heap_count > 1)
        heap_pop(queue);
    else if (--queue->heap_count == 0 && queue->count > 0)
        next_day(queue);
    if (++queue->pops == POPS_BETWEEN_LOOKS)
        look_at_rate(queue, top.end);
    return top;
}
