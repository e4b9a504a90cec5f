/* Blocks as an image: every pixel shows exactly the share of its slots' time that was taken, so that where blocks
 * are too many or too narrow for shapes nothing is dropped and nothing exaggerated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/picture.h"

enum { FINE_BLOCKS = 50000 /* up to so many, images for SVG and PDF have twice the resolution */ };

/* Sum of colour * cover, and of cover. */
struct cell {
    float red, green, blue, cover;
};

/* One GPC's rows. */
struct raster {
    cairo_surface_t *surface;
    int columns, rows, rows_per_sm;
    double x_scale, y_scale; /* image pixels per picture pixel */
    struct cell *cells;      /* one SM's: `cell_rows` of `columns` */
    int cell_rows;
};

static void add_cover(struct cell *cell, struct wt_colour colour, double cover)
{
    cell->red += (float)(colour.red * cover);
    cell->green += (float)(colour.green * cover);
    cell->blue += (float)(colour.blue * cover);
    cell->cover += (float)cover;
}

static double overlap(double a0, double a1, double b0, double b1)
{
    return fmax(0, fmin(a1, b1) - fmax(a0, b0));
}

/* Adds a block that covers [x0, x1) of the columns and [y0, y1) of the SM's cells. */
static void cover_box(struct raster *raster, double x0, double x1, double y0, double y1, struct wt_colour colour)
{
    int last_row = (int)fmin(ceil(y1), raster->cell_rows), last_column = (int)fmin(ceil(x1), raster->columns);
    for (int row = (int)y0; row < last_row; row++) {
        double tall = overlap(y0, y1, row, row + 1);
        for (int column = (int)x0; column < last_column; column++)
            add_cover(&raster->cells[row * raster->columns + column], colour,
                      tall * overlap(x0, x1, column, column + 1));
    }
}

/* What one block takes of an SM: warps where launches differ in shape, else slots. */
static double share_of_sm(const struct wt_picture *picture, const struct wt_picture_side *side,
                          const struct wt_block_run *span)
{
    const struct wt_timeline *timeline = side->timeline;
    if (picture->curve_in_warps)
        return fmin(1, (double)timeline->launches[span->launch].warps_per_block / timeline->warps_per_sm);
    return 1.0 / side->full;
}

static void cover_lane(struct raster *raster, const struct wt_picture *picture, const struct wt_picture_side *side,
                       int row, int slot)
{
    bool averaged = side->detail == WT_AVERAGED;
    double height = wt_picture_lane_height(picture, side) * raster->y_scale, top = averaged ? 0 : slot * height;
    struct wt_lane_block block = wt_first_in_lane(side, row, slot);
    while (wt_next_in_lane(side, &block)) {
        double x0 = (wt_picture_x(picture, block.span->start - side->origin) - picture->x) * raster->x_scale;
        double x1 = (wt_picture_x(picture, block.span->end - side->origin) - picture->x) * raster->x_scale;
        struct wt_colour colour = wt_launch_colour(block.span->launch, block.second_shade && !averaged);
        cover_box(raster, x0, x1, top, top + (averaged ? share_of_sm(picture, side, block.span) : height), colour);
    }
}

static uint32_t byte_of(double value, uint32_t most)
{
    uint32_t byte = (uint32_t)(fmin(fmax(value, 0), 1) * 255 + 0.5);
    return byte < most ? byte : most;
}

/* Cairo's ARGB32: premultiplied, in native order. More than all is all. */
static uint32_t pixel_of(const struct cell *cell, double share)
{
    share /= fmax(cell->cover, 1);
    uint32_t alpha = byte_of(cell->cover * share, 255);
    return alpha << 24 | byte_of(cell->red * share, alpha) << 16 | byte_of(cell->green * share, alpha) << 8 |
           byte_of(cell->blue * share, alpha);
}

/* `used`: height of the SM's slots without the gap below them, in image pixels. */
static void put_cells(struct raster *raster, int first_row, double used)
{
    unsigned char *data = cairo_image_surface_get_data(raster->surface);
    int stride = cairo_image_surface_get_stride(raster->surface);
    for (int row = 0; row < raster->rows_per_sm; row++) {
        uint32_t *pixel = (uint32_t *)(void *)(data + (size_t)(first_row + row) * (size_t)stride);
        bool averaged = raster->cell_rows < raster->rows_per_sm;
        const struct cell *cells = raster->cells + (averaged ? 0 : (size_t)row * (size_t)raster->columns);
        double share = averaged ? overlap(0, used, row, row + 1) : 1;
        for (int column = 0; column < raster->columns; column++)
            pixel[column] = pixel_of(&cells[column], share);
    }
}

static void paint(cairo_t *cr, const struct raster *raster, double x, double y)
{
    bool exact = raster->x_scale == 1 && raster->y_scale == 1;
    cairo_surface_mark_dirty(raster->surface);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, 1 / raster->x_scale, 1 / raster->y_scale);
    cairo_set_source_surface(cr, raster->surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), exact ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    cairo_paint(cr);
    cairo_restore(cr);
}

static struct raster new_raster(const struct wt_picture *picture, const struct wt_picture_side *side, int sms)
{
    double detail = picture->pixels || picture->blocks > FINE_BLOCKS ? 1 : 2;
    struct raster raster = {
        .columns = (int)floor(picture->plot_width * detail + 0.5),
        .rows_per_sm = (int)fmax(1, floor(picture->pitch * detail + 0.5)),
    };
    raster.rows = raster.rows_per_sm * sms;
    raster.cell_rows = side->detail == WT_AVERAGED ? 1 : raster.rows_per_sm;
    raster.x_scale = raster.columns / picture->plot_width;
    raster.y_scale = raster.rows_per_sm / picture->pitch;
    raster.surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, raster.columns, raster.rows);
    raster.cells = wt_alloc((size_t)raster.columns * (size_t)raster.cell_rows, sizeof *raster.cells);
    return raster;
}

/* Rows [first, last) of one GPC. */
static void draw_group(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side, int first,
                       int last)
{
    struct raster raster = new_raster(picture, side, last - first);
    size_t bytes = (size_t)raster.columns * (size_t)raster.cell_rows * sizeof *raster.cells;
    bool drawable = cairo_surface_status(raster.surface) == CAIRO_STATUS_SUCCESS;
    for (int row = first; row < last && drawable; row++) {
        memset(raster.cells, 0, bytes);
        for (int slot = 0; slot < side->slots; slot++)
            cover_lane(&raster, picture, side, row, slot);
        put_cells(&raster, (row - first) * raster.rows_per_sm, (picture->pitch - picture->gap) * raster.y_scale);
    }
    paint(cr, &raster, picture->x, side->row_y[first]);
    free(raster.cells);
    cairo_surface_destroy(raster.surface);
}

void wt_picture_draw_raster(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    int first = 0;
    for (int row = 1; row <= side->timeline->sm_count; row++) {
        if (row < side->timeline->sm_count && !wt_picture_new_group(side, row))
            continue;
        draw_group(cr, picture, side, first, row);
        first = row;
    }
}
