/* The rows, with blocks as shapes, and what lies behind them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "observe/picture.h"

enum { NUMBER_LEAST = 9, NUMBER_MOST = 13, NUMBERS = 4000, FRAMED_LEAST = 5 };

/* Does something to one block of a row. */
typedef void block_action(cairo_t *cr, const struct wt_picture *picture, const struct wt_lane_block *block,
                          struct wt_box box);

bool wt_next_in_lane(const struct wt_picture_side *side, struct wt_lane_block *block)
{
    const struct wt_block_run *before = block->span;
    if (block->left == 0)
        return false;
    block->left--;
    block->span = &side->timeline->spans[*block->index++];
    block->second_shade = before && before->launch == block->span->launch && !block->second_shade;
    return true;
}

struct wt_lane_block wt_first_in_lane(const struct wt_picture_side *side, int row, int slot)
{
    size_t lane = (size_t)side->sm_of_row[row] * (size_t)side->slots + (size_t)slot;
    return (struct wt_lane_block){.index = &side->lane_spans[side->lane_first[lane]],
                                  .left = side->lane_first[lane + 1] - side->lane_first[lane]};
}

/* Coordinates in eighths keep SVG files small. */
static double snapped(double at)
{
    return floor(at * 8 + 0.5) / 8;
}

/* Where a neighbour follows at once, the block ends a little early so that the two can be told apart. */
static struct wt_box block_box(const struct wt_picture *picture, const struct wt_picture_side *side,
                               const struct wt_lane_block *block, int row)
{
    double lane = wt_picture_lane_height(picture, side), space = lane >= 8 ? 1 : lane >= 4 ? 0.5 : 0;
    double x0 = wt_picture_x(picture, block->span->start - side->origin);
    double x1 = wt_picture_x(picture, block->span->end - side->origin);
    double separator = x1 - x0 >= 24 ? 1.5 : x1 - x0 >= 5 ? 0.75 : x1 - x0 >= 2.5 ? 0.35 : 0;
    if (block->left > 0)
        x1 = fmin(x1, wt_picture_x(picture, side->timeline->spans[*block->index].start - side->origin) - separator);
    x0 = snapped(x0);
    return (struct wt_box){x0, snapped(side->row_y[row] + block->span->slot * lane), fmax(snapped(x1) - x0, 0.125),
                           snapped(lane - space)};
}

static void for_each_block(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side,
                           block_action *action)
{
    for (int row = 0; row < side->timeline->sm_count; row++)
        for (int slot = 0; slot < side->slots; slot++) {
            struct wt_lane_block block = wt_first_in_lane(side, row, slot);
            while (wt_next_in_lane(side, &block))
                action(cr, picture, &block, block_box(picture, side, &block, row));
        }
}

/* All blocks of one colour and shade are one path: SVG then stays small. */
static void fill_blocks(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side,
                        size_t colour, bool second_shade)
{
    for (int row = 0; row < side->timeline->sm_count; row++)
        for (int slot = 0; slot < side->slots; slot++) {
            struct wt_lane_block block = wt_first_in_lane(side, row, slot);
            while (wt_next_in_lane(side, &block)) {
                if (block.span->launch % WT_LAUNCH_COLOURS != colour || block.second_shade != second_shade)
                    continue;
                struct wt_box box = block_box(picture, side, &block, row);
                cairo_rectangle(cr, box.x, box.y, box.width, box.height);
            }
        }
    wt_set_colour(cr, wt_launch_colour(colour, second_shade), 1);
    cairo_fill(cr);
}

static const struct wt_picture_side *side_of(const struct wt_picture *picture, const struct wt_lane_block *block)
{
    const struct wt_picture_side *side = picture->sides;
    while (block->span < side->timeline->spans || block->span >= side->timeline->spans + side->timeline->span_count)
        side++;
    return side;
}

/* Right end of the part in which the block does something: those who wait for ever do so from stuck_since on. */
static double busy_until(const struct wt_picture *picture, const struct wt_lane_block *block, struct wt_box box)
{
    const struct wt_picture_side *side = side_of(picture, block);
    if (!wt_timeline_never_ends(side->timeline, block->span))
        return box.x + box.width;
    return fmax(box.x, wt_picture_x(picture, side->timeline->stuck_since - side->origin));
}

static void number_block(cairo_t *cr, const struct wt_picture *picture, const struct wt_lane_block *block,
                         struct wt_box box)
{
    char text[32];
    box.width = busy_until(picture, block, box) - box.x;
    bool is_task = side_of(picture, block)->timeline->launches[block->span->launch].tasks > 0;
    snprintf(text, sizeof text, "%" PRIu64, is_task ? block->span->task : block->span->block);
    double size = fmin(NUMBER_MOST, box.height * 0.72);
    if (box.width < size * 0.64 * (double)strlen(text) + 4)
        return;
    bool dark = wt_luminance(wt_launch_colour(block->span->launch, block->second_shade)) < 0.5;
    wt_set_font(cr, size, false);
    wt_set_colour(cr, dark ? (struct wt_colour){1, 1, 1} : wt_ink, 1);
    wt_text(cr, box.x + box.width / 2, box.y + box.height / 2 + size * 0.36, 0.5, text);
}

static void pale_stuck(cairo_t *cr, const struct wt_picture *picture, const struct wt_lane_block *block, struct wt_box box)
{
    double x = busy_until(picture, block, box);
    struct wt_box waits = {x, box.y, box.x + box.width - x, box.height};
    if (waits.width <= 0)
        return;
    cairo_rectangle(cr, waits.x, waits.y, waits.width, waits.height);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_fill_preserve(cr);
    wt_set_colour(cr, wt_launch_colour(block->span->launch, block->second_shade), 0.2);
    cairo_fill(cr);
    if (waits.height < FRAMED_LEAST)
        return;
    cairo_rectangle(cr, waits.x, waits.y + 0.75, waits.width - 0.75, waits.height - 1.5);
    wt_set_colour(cr, wt_launch_colour(block->span->launch, block->second_shade), 1);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
    wt_set_font(cr, fmin(NUMBER_MOST, box.height * 0.72), false);
    wt_set_colour(cr, wt_ink, 1);
    if (waits.width > 60 && box.height >= NUMBER_LEAST)
        wt_text(cr, waits.x + waits.width / 2, box.y + box.height / 2 + 4.5, 0.5, "waits");
}

static void draw_one_by_one(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    for (size_t colour = 0; colour < WT_LAUNCH_COLOURS && colour < side->timeline->launch_count; colour++) {
        fill_blocks(cr, picture, side, colour, false);
        fill_blocks(cr, picture, side, colour, true);
    }
    if (wt_picture_lane_height(picture, side) >= NUMBER_LEAST && side->timeline->span_count <= NUMBERS)
        for_each_block(cr, picture, side, number_block);
    if (side->timeline->stuck_since)
        for_each_block(cr, picture, side, pale_stuck);
}

static void draw_free_slots(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    double end = wt_picture_x(picture, side->timeline->host ? picture->length : wt_metrics_makespan(&side->metrics->whole));
    cairo_rectangle(cr, picture->x, side->rows.y, end - picture->x, side->rows.height);
    wt_set_colour(cr, wt_faint, 1);
    cairo_fill(cr);
}

static void draw_tails(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    for (size_t i = 0; i < wt_picture_tail_count(side); i++) {
        const struct wt_metrics_part *part = wt_picture_tail(picture, side, i);
        if (!part)
            continue;
        double x0 = wt_picture_x(picture, part->tail.start - side->origin);
        double x1 = wt_picture_x(picture, part->end - side->origin);
        wt_tail_background(cr, (struct wt_box){x0, side->rows.y, x1 - x0, side->rows.height});
    }
}

/* White between the rows. */
static void draw_gaps(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    for (int row = 0; row + 1 < side->timeline->sm_count; row++) {
        double y = side->row_y[row] + picture->pitch - picture->gap;
        if (side->row_y[row + 1] > y)
            cairo_rectangle(cr, picture->x, y, picture->plot_width, side->row_y[row + 1] - y);
    }
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_fill(cr);
}

void wt_picture_draw_rows(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    if (side->space) {
        double begin = -wt_to_cycles(side->lead);
        wt_address_space_draw(cr, side->space, side->rows, begin, begin + wt_to_cycles(picture->length));
        return;
    }
    draw_free_slots(cr, picture, side);
    draw_tails(cr, picture, side);
    draw_gaps(cr, picture, side);
    if (side->detail == WT_ONE_BY_ONE)
        draw_one_by_one(cr, picture, side);
    else
        wt_picture_draw_raster(cr, picture, side);
}
