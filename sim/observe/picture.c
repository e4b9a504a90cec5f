/* The picture of timelines: one drawing, three formats. */
#include "observe/picture.h"

#include "observe/surface.h"

static void draw(cairo_t *cr, const void *context)
{
    const struct wt_picture *picture = context;
    for (int i = 0; i < picture->side_count; i++)
        wt_picture_draw_rows(cr, picture, &picture->sides[i]);
    wt_picture_draw_curve(cr, picture);
    wt_picture_draw_frame(cr, picture);
}

static enum wt_code write_picture(const struct wt_export *what, bool pixels, FILE *stream, struct wt_error *err,
                                  enum wt_code (*write)(const struct wt_drawing *, FILE *, struct wt_error *))
{
    struct wt_picture picture;
    wt_picture_plan(&picture, what, pixels);
    struct wt_drawing drawing = {picture.width, picture.height, picture.title, draw, &picture};
    enum wt_code code = write(&drawing, stream, err);
    wt_picture_clear(&picture);
    return code;
}

static enum wt_code write_svg(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    return write_picture(what, false, stream, err, wt_surface_svg);
}

static enum wt_code write_png(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    return write_picture(what, true, stream, err, wt_surface_png);
}

static enum wt_code write_pdf(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    return write_picture(what, false, stream, err, wt_surface_pdf);
}

const struct wt_exporter wt_svg_exporter = {.name = "svg", .write = write_svg};
const struct wt_exporter wt_png_exporter = {.name = "png", .write = write_png};
const struct wt_exporter wt_pdf_exporter = {.name = "pdf", .write = write_pdf};
