/* A binary heap in an array of the caller's: its first element is before all others. Inline, so that sizes and comparisons are known
 * where it is used. */
#ifndef WT_CORE_HEAP_H
#define WT_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether `a` comes before `b`; of equals neither does. */
typedef bool wt_before(const void *a, const void *b);

/* `list` has room for one more than *count elements of `size` bytes; `item` is not in it. */
static inline void wt_heap_push(void *list, size_t *count, size_t size, const void *item, wt_before *before)
{
    char *heap = list;
    size_t at = (*count)++;
    for (; at > 0 && before(item, heap + (at - 1) / 2 * size); at = (at - 1) / 2)
        memcpy(heap + at * size, heap + (at - 1) / 2 * size, size);
    memcpy(heap + at * size, item, size);
}

/* Takes the first element, to `first`. *count > 0. */
static inline void wt_heap_pop(void *list, size_t *count, size_t size, void *first, wt_before *before)
{
    char *heap = list;
    const char *last = heap + --*count * size;
    size_t at = 0;
    memcpy(first, heap, size);
    for (size_t child = 1; child < *count; child = 2 * at + 1) {
        if (child + 1 < *count && before(heap + (child + 1) * size, heap + child * size))
            child++;
        if (!before(heap + child * size, last))
            break;
        memcpy(heap + at * size, heap + child * size, size);
        at = child;
    }
    if (at < *count)
        memcpy(heap + at * size, last, size);
}

#endif
