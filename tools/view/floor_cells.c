/* One SM on the floor: its resident blocks, stacked by what they take of it. */
#include "floor.h"

#include <math.h>
#include <stdio.h>

const char *const fill_names[FILLS] = {"block slots", "warps", "registers", "shared memory"};

static double slots_of(const struct run *run, uint32_t launch)
{
    int known = run->timeline->launches[launch].blocks_per_sm;
    return known > run->slots ? known : run->slots;
}

bool floor_fill_known(const struct run *run, enum fill fill)
{
    if (fill == FILL_WARPS)
        return run->timeline->warps_per_sm > 0;
    return fill == FILL_SLOTS || run->shapes_known;
}

double floor_block_share(const struct run *run, uint32_t launch, enum fill fill)
{
    const struct run_launch *known = &run->launches[launch];
    if (fill == FILL_WARPS && run->timeline->warps_per_sm > 0)
        return run->timeline->launches[launch].warps_per_block / (double)run->timeline->warps_per_sm;
    if (fill == FILL_REGISTERS && known->needs_known)
        return (double)known->shape.register_units_per_warp * known->shape.warps * run->gpu->limits.register_unit /
               run->gpu->limits.registers_per_sm;
    if (fill == FILL_SHARED && known->needs_known)
        return known->shape.shared_bytes / (double)run->gpu->limits.shared_bytes_per_sm;
    return 1 / slots_of(run, launch);
}

/* What is drawn of one cell. */
struct cell {
    struct view *view;
    const struct run *run;
    struct colouring colouring;
    int index; /* of the run */
    struct rect well;
    double stacked; /* share used by the blocks drawn so far */
};

static struct rect bar_of(const struct cell *cell, const struct wt_block_run *span)
{
    double share = floor_block_share(cell->run, span->launch, cell->view->fill);
    double from = cell->view->fill == FILL_SLOTS ? span->slot * share : cell->stacked;
    int y0 = cell->well.y + (int)lround(cell->well.h * (1 - fmin(from + share, 1)));
    int y1 = cell->well.y + (int)lround(cell->well.h * (1 - fmin(from, 1)));
    return (struct rect){cell->well.x, y0, cell->well.w, y1 - y0 > 2 ? y1 - y0 - 1 : y1 - y0};
}

static colour colour_in(const struct cell *cell, uint32_t index)
{
    return view_matches(cell->view, cell->run, index) ? block_colour(&cell->colouring, index) : cell->view->ui.theme->edge;
}

/* What is still to do is pale. */
static colour pale(const struct cell *cell, colour full)
{
    return colour_mix(cell->view->ui.theme->well, full, 0.55);
}

static int width_done(const struct cell *cell, struct rect bar, uint32_t index)
{
    const struct wt_block_run *span = run_span(cell->run, index);
    double length = (double)(span->end - span->start), done = length > 0 ? (double)(view_now(cell->view) - span->start) / length : 1;
    return (int)lround(bar.w * fmin(done, 1));
}

/* The part that is done in full colour, the rest pale: a block's bar fills as it runs. */
static void draw_bar(const struct cell *cell, struct rect bar, uint32_t index)
{
    struct view *view = cell->view;
    colour full = colour_in(cell, index);
    canvas_fill(&view->canvas, bar, pale(cell, full));
    canvas_fill(&view->canvas, (struct rect){bar.x, bar.y, width_done(cell, bar, index), bar.h}, full);
    if (view->hatching && view_matches(view, cell->run, index) && bar.h >= 5)
        canvas_hatch(&view->canvas, bar, block_hatch(&cell->colouring, index), ui_px(&view->ui, 6), palette_text_on(full), 70);
}

static void label_bar(const struct cell *cell, struct rect bar, uint32_t index)
{
    char text[24];
    const struct ui *ui = &cell->view->ui;
    if (bar.h < ui_px(ui, 12) || bar.w < ui_px(ui, 26))
        return;
    enum text_size size = bar.h > ui_px(ui, 60) && bar.w > ui_px(ui, 80) ? TEXT_LARGE : TEXT_SMALL;
    snprintf(text, sizeof text, "%llu", (unsigned long long)run_span(cell->run, index)->block);
    if (ui_text_width(ui, FONT_PLAIN, size, text) >= bar.w - 2)
        return;
    colour full = colour_in(cell, index);
    const colour inks[] = {palette_text_on(full), palette_text_on(pale(cell, full))};
    ui_text_over(ui, bar, ALIGN_MIDDLE, size, bar.x + width_done(cell, bar, index), inks, text);
}

static void mark_bar(const struct cell *cell, struct rect bar, uint32_t index)
{
    struct view *view = cell->view;
    struct pick pick = {cell->index, index};
    bool pinned = view->pinned.run == pick.run && view->pinned.span == index;
    if (ui_over(&view->ui, bar))
        view->hover = pick;
    if (pinned || ui_over(&view->ui, bar))
        canvas_frame(&view->canvas, bar, ui_px(&view->ui, pinned ? 2 : 1), view->ui.theme->ink);
}

static void draw_block(struct cell *cell, uint32_t index)
{
    const struct wt_block_run *span = run_span(cell->run, index);
    struct rect bar = bar_of(cell, span);
    draw_bar(cell, bar, index);
    label_bar(cell, bar, index);
    mark_bar(cell, bar, index);
    cell->stacked += floor_block_share(cell->run, span->launch, cell->view->fill);
}

/* Idle in the tail: nothing will come any more. */
static void draw_idle(struct view *view, struct rect cell)
{
    const struct theme *theme = view->ui.theme;
    canvas_fill(&view->canvas, cell, colour_mix(theme->surface, theme->accent, 0.16));
    canvas_hatch(&view->canvas, cell, HATCH_RISING, ui_px(&view->ui, 7), theme->accent, 110);
    canvas_frame(&view->canvas, cell, ui_px(&view->ui, 1), theme->accent);
}

/* Where the other run's blocks would reach to. */
static void draw_ghost(struct view *view, struct rect well, const struct run *other, int sm)
{
    double share = 0;
    for (int slot = 0; sm < other->sms && slot < other->slots; slot++) {
        uint32_t span = run_resident(other, run_lane(other, sm, slot), view_now(view));
        if (span != NO_SPAN)
            share += floor_block_share(other, run_span(other, span)->launch, view->fill);
    }
    if (share == 0)
        return;
    int y = well.y + (int)lround(well.h * (1 - fmin(share, 1)));
    canvas_dashed_frame(&view->canvas, (struct rect){well.x, y, well.w, well.y + well.h - y}, ui_px(&view->ui, 1),
                        ui_px(&view->ui, 3), view->ui.theme->ink);
}

static void draw_number(struct view *view, struct rect *cell, int sm, bool idle_in_tail)
{
    char text[16];
    const struct ui *ui = &view->ui;
    if (cell->w < ui_px(ui, 22) || cell->h < ui_px(ui, 30))
        return;
    struct rect line = ui_cut_top(ui, cell, 13);
    snprintf(text, sizeof text, cell->w > ui_px(ui, 44) ? "SM %d" : "%d", sm);
    ui_text(ui, line, ALIGN_MIDDLE, idle_in_tail ? FONT_BOLD : FONT_PLAIN, TEXT_SMALL,
            idle_in_tail ? ui->theme->ink : ui->theme->soft, text);
}

void floor_draw_cell(struct view *view, const struct floor_map *map, int index, int sm)
{
    struct rect rect = map->cell[sm];
    const struct run *run = map->run;
    bool idle = density_resident(&run->sm_density[sm], view_now(view)) == 0;
    bool tail = idle && map->in_tail;
    struct cell cell = {view, run, view_colouring(view, index), index, rect, 0};
    if (tail)
        draw_idle(view, rect);
    draw_number(view, &cell.well, sm, tail);
    if (!tail)
        canvas_fill(&view->canvas, cell.well, view->ui.theme->well);
    for (int slot = 0; !idle && slot < run->slots; slot++) {
        uint32_t span = run_resident(run, run_lane(run, sm, slot), view_now(view));
        if (span != NO_SPAN)
            draw_block(&cell, span);
    }
    if (view->compare == COMPARE_OVERLAY && view_other_of(view, index))
        draw_ghost(view, cell.well, view_other_of(view, index), sm);
    if (sm == view->sm)
        canvas_frame(&view->canvas, rect, ui_px(&view->ui, 1), view->ui.theme->focus);
}
