/* One drawing, three formats: what is drawn is the same, byte for byte, wherever and however often. Private to sim/observe. */
#ifndef WT_OBSERVE_SURFACE_H
#define WT_OBSERVE_SURFACE_H

#include <cairo.h>
#include <stdio.h>

#include "core/status.h"

struct wt_drawing {
    double width, height; /* pixels; points for PDF */
    const char *title;    /* of a PDF */
    void (*draw)(cairo_t *cr, const void *context); /* on white, with wt_surface_fonts */
    const void *context;
};

/* Fail where cairo does, e.g. for a size that it cannot do. */
enum wt_code wt_surface_svg(const struct wt_drawing *drawing, FILE *stream, struct wt_error *err);
enum wt_code wt_surface_png(const struct wt_drawing *drawing, FILE *stream, struct wt_error *err);
enum wt_code wt_surface_pdf(const struct wt_drawing *drawing, FILE *stream, struct wt_error *err);

/* Fixed font options, so that text is as wide on every surface. */
void wt_surface_fonts(cairo_t *cr);

#endif
