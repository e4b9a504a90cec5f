#include "core/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *block, size_t bytes)
{
    if (!block) {
        fprintf(stderr, "wavetail: out of memory (%zu bytes)\n", bytes);
        abort();
    }
    return block;
}

void *wt_alloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1), count * size);
}

void *wt_alloc_lines(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size - 1)
        checked(NULL, SIZE_MAX);
    size_t bytes = count && size ? count * size : 1;
    void *block = NULL;
    if (posix_memalign(&block, WT_LINE_BYTES, bytes))
        checked(NULL, bytes);
    return memset(block, 0, bytes);
}

void *wt_grow(void *block, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return block;
    size_t room = *capacity ? *capacity : 16;
    while (room < need && room <= SIZE_MAX / 2)
        room *= 2;
    if (room < need || room > SIZE_MAX / size)
        checked(NULL, SIZE_MAX);
    *capacity = room;
    return checked(realloc(block, room * size), room * size);
}

char *wt_strdup(const char *text)
{
    return checked(strdup(text), strlen(text) + 1);
}

char *wt_format(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return checked(length < 0 ? NULL : text, 0);
}
