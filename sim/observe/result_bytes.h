/* Little-endian bytes in and out, and the checksum of result files. Private to sim/observe. */
#ifndef WT_OBSERVE_RESULT_BYTES_H
#define WT_OBSERVE_RESULT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing buffer for writing. Zero-initialise; free `data`. */
struct wt_bytes {
    uint8_t *data;
    size_t count, capacity;
};

/* The low `width` bytes (1..8) of `value`. */
void wt_put_uint(struct wt_bytes *bytes, uint64_t value, int width);
void wt_put_double(struct wt_bytes *bytes, double value);
/* Length in four bytes, then the text. */
void wt_put_text(struct wt_bytes *bytes, const char *text);

/* A cursor over bytes someone else owns. Reading past the end gives zeros and sets `failed`. */
struct wt_cursor {
    const uint8_t *data;
    size_t count, at;
    bool failed;
};

uint64_t wt_get_uint(struct wt_cursor *cursor, int width);
double wt_get_double(struct wt_cursor *cursor);
/* A copy for the caller to free; "" after a failure. A NUL inside the text, or more than 1 MiB
 * of it, is a failure. */
char *wt_get_text(struct wt_cursor *cursor);

/* CRC-32 (ISO 3309, polynomial 0x04C11DB7 reflected), continued from `crc`; begin with 0. */
uint32_t wt_crc32(uint32_t crc, const void *data, size_t count);

#endif
