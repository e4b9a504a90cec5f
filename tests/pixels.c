#include "pixels.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

cairo_surface_t *pixels_read(const char *path)
{
    cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
    ck_assert_msg(cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, "%s cannot be read; WT_REFRESH=1 makes it", path);
    return surface;
}

static bool differ(uint32_t a, uint32_t b, int visible)
{
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > visible)
            return true;
    return false;
}

static const uint32_t *row_of(cairo_surface_t *surface, int y)
{
    return (const void *)(cairo_image_surface_get_data(surface) + (size_t)y * (size_t)cairo_image_surface_get_stride(surface));
}

double pixels_differing(cairo_surface_t *a, cairo_surface_t *b, int visible)
{
    int width = cairo_image_surface_get_width(a), height = cairo_image_surface_get_height(a), count = 0;
    ck_assert_int_eq(width, cairo_image_surface_get_width(b));
    ck_assert_int_eq(height, cairo_image_surface_get_height(b));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            count += differ(row_of(a, y)[x], row_of(b, y)[x], visible);
    return (double)count / width / height;
}
