#include "observe/result_bytes.h"

#include <string.h>

#include "core/mem.h"

enum { TEXT_MOST = 1 << 20 };

void wt_put_uint(struct wt_bytes *bytes, uint64_t value, int width)
{
    bytes->data = wt_grow(bytes->data, &bytes->capacity, bytes->count + 8, 1);
    for (int i = 0; i < width; i++)
        bytes->data[bytes->count++] = (uint8_t)(value >> (8 * i));
}

void wt_put_double(struct wt_bytes *bytes, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    wt_put_uint(bytes, bits, 8);
}

void wt_put_text(struct wt_bytes *bytes, const char *text)
{
    size_t length = strlen(text);
    wt_put_uint(bytes, length, 4);
    bytes->data = wt_grow(bytes->data, &bytes->capacity, bytes->count + length, 1);
    memcpy(bytes->data + bytes->count, text, length);
    bytes->count += length;
}

uint64_t wt_get_uint(struct wt_cursor *cursor, int width)
{
    if (cursor->failed || cursor->count - cursor->at < (size_t)width) {
        cursor->failed = true;
        return 0;
    }
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (uint64_t)cursor->data[cursor->at++] << (8 * i);
    return value;
}

double wt_get_double(struct wt_cursor *cursor)
{
    uint64_t bits = wt_get_uint(cursor, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

char *wt_get_text(struct wt_cursor *cursor)
{
    size_t length = (size_t)wt_get_uint(cursor, 4);
    const uint8_t *text = cursor->data + cursor->at;
    if (cursor->failed || length > TEXT_MOST || length > cursor->count - cursor->at || memchr(text, 0, length)) {
        cursor->failed = true;
        return wt_strdup("");
    }
    cursor->at += length;
    return wt_format("%.*s", (int)length, (const char *)text);
}

uint32_t wt_crc32(uint32_t crc, const void *data, size_t count)
{
    static const uint32_t half[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t *byte = data;
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc = half[(crc ^ byte[i]) & 15] ^ crc >> 4;
        crc = half[(crc ^ byte[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}
