/* The picture of a timeline: one drawing, three formats. */
#include "observe/exporter.h"

static enum wt_code write_svg(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    (void)what, (void)stream;
    return wt_fail(err, WT_BAD_INPUT, "pictures cannot be drawn yet; use --perfetto or --blocks");
}

const struct wt_exporter wt_svg_exporter = {.name = "svg", .write = write_svg};
const struct wt_exporter wt_png_exporter = {.name = "png", .write = write_svg};
const struct wt_exporter wt_pdf_exporter = {.name = "pdf", .write = write_svg};
