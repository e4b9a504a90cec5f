/* Pictures to compare with. */
#ifndef WT_TESTS_PIXELS_H
#define WT_TESTS_PIXELS_H

#include <cairo.h>

/* A PNG file that must be there; destroy it. */
cairo_surface_t *pixels_read(const char *path);

/* The share of pixels that differ by more than `visible` (of 255) in a channel, 0 to 1. Both must be equally large. */
double pixels_differing(cairo_surface_t *a, cairo_surface_t *b, int visible);

#endif
