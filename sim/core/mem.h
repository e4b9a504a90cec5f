/* Allocation that cannot fail: out of memory prints one line and aborts. */
#ifndef WT_CORE_MEM_H
#define WT_CORE_MEM_H

#include <stddef.h>

/* `count * size` zeroed bytes, owned by the caller, released with free(). Never NULL, even for 0. */
void *wt_alloc(size_t count, size_t size);

enum { WT_LINE_BYTES = 64 }; /* of the cache, on the machines that this runs on */

/* As wt_alloc, beginning with a cache line; for types aligned so. */
void *wt_alloc_lines(size_t count, size_t size);

/* Room for at least `need` elements of `size` bytes; *capacity is in elements and grows by doubling.
 * Returns the (possibly moved) block; added elements are not zeroed. */
void *wt_grow(void *block, size_t *capacity, size_t need, size_t size);

/* A copy of `text`, owned by the caller. */
char *wt_strdup(const char *text);

/* printf into a fresh string, owned by the caller. */
char *wt_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
