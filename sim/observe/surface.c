/* Cairo's surfaces, writing into memory first. */
#include "observe/surface.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>

#include "core/mem.h"
#include "observe/picture.h"

/* What cairo wrote. */
struct output {
    char *data;
    size_t size, capacity;
};

/* Always ends with a NUL beyond `size`. */
static cairo_status_t keep(void *closure, const unsigned char *data, unsigned int length)
{
    struct output *output = closure;
    output->data = wt_grow(output->data, &output->capacity, output->size + length + 1, 1);
    memcpy(output->data + output->size, data, length);
    output->size += length;
    output->data[output->size] = '\0';
    return CAIRO_STATUS_SUCCESS;
}

/* Text must come out the same whatever the surface. */
void wt_surface_fonts(cairo_t *cr)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
}

static cairo_status_t draw(cairo_surface_t *surface, const struct wt_drawing *drawing)
{
    cairo_t *cr = cairo_create(surface);
    wt_surface_fonts(cr);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    drawing->draw(cr, drawing->context);
    cairo_show_page(cr);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    return status;
}

static enum wt_code finish(cairo_surface_t *surface, cairo_status_t status, struct wt_error *err)
{
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        return WT_OK;
    return wt_fail(err, WT_BAD_INPUT, "the picture cannot be drawn (%s); try another --size",
                   cairo_status_to_string(status));
}

static void write_out(struct output *output, FILE *stream)
{
    fwrite(output->data, 1, output->size, stream);
    free(output->data);
}

/* Where a number that follows `mark` begins at `at`, or NULL. */
static const char *number_after(const char *at, const char *end, const char *mark)
{
    size_t length = strlen(mark);
    bool matches = (size_t)(end - at) > length && !memcmp(at, mark, length);
    return matches && at[length] >= '0' && at[length] <= '9' ? at + length : NULL;
}

/* Cairo numbers surfaces and images through the life of the process; the same picture must be the same file, so
 * they are counted from the page's own surface. */
static void write_renumbered(const struct output *output, FILE *stream)
{
    static const char *const marks[] = {"id=\"surface", "id=\"image", "#image"};
    const char *end = output->data + output->size, *done = output->data;
    const char *own = output->size ? memmem(output->data, output->size, marks[0], strlen(marks[0])) : NULL;
    long base = own ? strtol(own + strlen(marks[0]), NULL, 10) : 0;
    for (const char *at = output->data; at < end; at++) {
        const char *digits = NULL;
        for (size_t i = 0; i < sizeof marks / sizeof *marks && !digits; i++)
            digits = number_after(at, end, marks[i]);
        if (!digits)
            continue;
        char *rest;
        long number = strtol(digits, &rest, 10);
        fwrite(done, 1, (size_t)(digits - done), stream);
        fprintf(stream, "%ld", number - base);
        done = at = rest;
    }
    fwrite(done, 1, (size_t)(end - done), stream);
}

enum wt_code wt_surface_svg(const struct wt_drawing *drawing, FILE *stream, struct wt_error *err)
{
    struct output output = {0};
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(keep, &output, drawing->width, drawing->height);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    enum wt_code code = finish(surface, draw(surface, drawing), err);
    write_renumbered(&output, stream);
    free(output.data);
    return code;
}

enum wt_code wt_surface_png(const struct wt_drawing *drawing, FILE *stream, struct wt_error *err)
{
    struct output output = {0};
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)drawing->width, (int)drawing->height);
    cairo_status_t status = draw(surface, drawing);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, keep, &output);
    enum wt_code code = finish(surface, status, err);
    write_out(&output, stream);
    return code;
}

enum wt_code wt_surface_pdf(const struct wt_drawing *drawing, FILE *stream, struct wt_error *err)
{
    struct output output = {0};
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(keep, &output, drawing->width, drawing->height);
    char title[WT_PRINTABLE];
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, wt_printable(title, drawing->title));
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z"); /* not today's */
    enum wt_code code = finish(surface, draw(surface, drawing), err);
    write_out(&output, stream);
    return code;
}
