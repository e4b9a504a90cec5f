/* The floor: GPCs as districts, SMs as cells, the queue at the side. */
#include "floor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int sms_of_gpc(const struct run *run, int gpc)
{
    int count = 0;
    for (int sm = 0; sm < run->sms; sm++)
        count += run->timeline->gpc_of_sm[sm] == gpc;
    return count;
}

struct grid {
    int across;        /* districts side by side */
    int columns;       /* cells side by side in a district */
    double score;
};

/* The best number of cells side by side in districts of w by h pixels. */
static void try_columns(struct grid *best, int across, double w, double h, int cells)
{
    for (int columns = 1; columns <= cells; columns++) {
        int rows = (cells + columns - 1) / columns;
        double score = fmin(w / columns, 1.25 * h / rows);
        /* the two SMs of a TPC side by side */
        if (columns % 2 == 0)
            score *= 1.08;
        if (score > best->score)
            *best = (struct grid){across, columns, score};
    }
}

static struct grid choose_grid(const struct ui *ui, struct rect area, int districts, int cells)
{
    struct grid best = {1, 1, 0};
    int gap = ui_px(ui, 8), head = ui_px(ui, DISTRICT_HEAD);
    for (int across = 1; across <= districts; across++) {
        int down = (districts + across - 1) / across;
        double w = (double)area.w / across - 2 * gap, h = (double)area.h / down - 2 * gap - head;
        if (w > 0 && h > 0)
            try_columns(&best, across, w, h, cells);
    }
    return best;
}

static struct rect part(struct rect area, int across, int down, int index)
{
    int column = index % across, row = index / across;
    int x0 = area.x + area.w * column / across, x1 = area.x + area.w * (column + 1) / across;
    int y0 = area.y + area.h * row / down, y1 = area.y + area.h * (row + 1) / down;
    return (struct rect){x0, y0, x1 - x0, y1 - y0};
}

static void place_cells(const struct ui *ui, struct floor_map *map, int gpc, const struct grid *grid, int rows)
{
    struct rect inner = rect_inset(map->district[gpc], ui_px(ui, 4));
    ui_cut_top(ui, &inner, DISTRICT_HEAD);
    map->cell_w = inner.w / grid->columns;
    map->cell_h = inner.h / (rows ? rows : 1);
    int gap = map->cell_w > ui_px(ui, 26) ? ui_px(ui, 2) : 1, index = 0;
    for (int sm = 0; sm < map->run->sms; sm++) {
        if (map->run->timeline->gpc_of_sm[sm] != gpc)
            continue;
        struct rect cell = {inner.x + index % grid->columns * map->cell_w, inner.y + index / grid->columns * map->cell_h,
                            map->cell_w, map->cell_h};
        map->cell[sm] = rect_inset(cell, gap);
        index++;
    }
}

void floor_plan(const struct ui *ui, const struct run *run, struct rect area, struct floor_map *map)
{
    int most = 1;
    map->run = run;
    map->districts = run->gpcs < WT_MAX_GROUPS ? run->gpcs : WT_MAX_GROUPS;
    for (int gpc = 0; gpc < map->districts; gpc++)
        most = sms_of_gpc(run, gpc) > most ? sms_of_gpc(run, gpc) : most;
    struct grid grid = choose_grid(ui, area, map->districts, most);
    int down = (map->districts + grid.across - 1) / grid.across, rows = (most + grid.columns - 1) / grid.columns;
    for (int gpc = 0; gpc < map->districts; gpc++) {
        map->district[gpc] = rect_inset(part(area, grid.across, down, gpc), ui_px(ui, 3));
        place_cells(ui, map, gpc, &grid, rows);
    }
}

static void draw_district(struct view *view, const struct floor_map *map, int gpc)
{
    struct ui *ui = &view->ui;
    char text[64];
    int sms = sms_of_gpc(map->run, gpc), idle = 0;
    if (sms == 0)
        return;
    for (int sm = 0; sm < map->run->sms; sm++)
        idle += map->run->timeline->gpc_of_sm[sm] == gpc &&
                density_resident(&map->run->sm_density[sm], view_now(view)) == 0;
    canvas_round(ui->canvas, map->district[gpc], ui_px(ui, 6), ui->theme->surface, 255);
    struct rect inner = rect_inset(map->district[gpc], ui_px(ui, 4));
    struct rect head = ui_cut_top(ui, &inner, DISTRICT_HEAD - 2);
    head.x += ui_px(ui, 3);
    head.w -= ui_px(ui, 6);
    bool narrow = head.w < ui_px(ui, 110), tiny = head.w < ui_px(ui, 60);
    snprintf(text, sizeof text, map->districts < 2 ? "GPU" : tiny ? "%d" : "GPC %d", gpc);
    ui_text(ui, head, ALIGN_LEFT, FONT_BOLD, TEXT_SMALL, ui->theme->soft, text);
    int left = head.w - ui_text_width(ui, FONT_BOLD, TEXT_SMALL, text) - ui_px(ui, 6);
    if (idle > 0)
        snprintf(text, sizeof text, narrow ? "%d idle" : "%d of %d idle", idle, sms);
    else
        snprintf(text, sizeof text, narrow ? "" : "%d SMs", sms);
    if (tiny || ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, text) > left)
        return;
    ui_text(ui, head, ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL,
            idle && map->in_tail ? ui->theme->accent : ui->theme->soft, text);
}

static void draw_title(struct view *view, struct rect rect, int run)
{
    char text[256];
    const struct run *shown = view->runs[run];
    int idle = run_idle_sms(shown, view_now(view));
    bool tail = run_in_tail(shown, view_now(view));
    snprintf(text, sizeof text, "%s%sSMs filled by %s", view->run_count > 1 ? shown->label : "",
             view->run_count > 1 ? "  ·  " : "", fill_names[view->fill]);
    if (!floor_fill_known(shown, view->fill))
        snprintf(text + strlen(text), sizeof text - strlen(text), " (not in this file: slots are shown)");
    ui_text(&view->ui, rect, ALIGN_LEFT, FONT_BOLD, TEXT_BODY, view->ui.theme->ink, text);
    int left = rect.w - ui_text_width(&view->ui, FONT_BOLD, TEXT_BODY, text) - ui_px(&view->ui, 12);
    snprintf(text, sizeof text, "%s%d of %d SMs idle", tail ? "tail: " : "", idle, shown->sms);
    if (idle > 0 && ui_text_width(&view->ui, FONT_BOLD, TEXT_BODY, text) <= left)
        ui_text(&view->ui, rect, ALIGN_RIGHT, FONT_BOLD, TEXT_BODY, tail ? view->ui.theme->accent : view->ui.theme->soft,
                text);
}

static void act_on_cells(struct view *view, const struct floor_map *map)
{
    for (int sm = 0; sm < map->run->sms; sm++) {
        if (!ui_over(&view->ui, map->cell[sm]))
            continue;
        if (view->ui.in.double_click) {
            view_show_sm(view, sm);
            view->page = PAGE_SM;
        } else if (view->ui.in.pressed) {
            view_show_sm(view, sm);
            if (view->hover.span != NO_SPAN)
                view_pin(view, view->hover);
        }
    }
}

void floor_draw(struct view *view, struct rect rect, int run)
{
    struct floor_map map;
    struct rect old = canvas_clip_to(&view->canvas, rect), area = rect_inset(rect, ui_px(&view->ui, 6));
    canvas_fill(&view->canvas, rect, view->ui.theme->page);
    draw_title(view, ui_cut_top(&view->ui, &area, 20), run);
    struct rect queue = ui_cut_left(&view->ui, &area, area.w > ui_px(&view->ui, 520) ? 132 : 86);
    floor_plan(&view->ui, view->runs[run], area, &map);
    map.in_tail = run_in_tail(map.run, view_now(view));
    floor_draw_queue(view, queue, run);
    for (int gpc = 0; gpc < map.districts; gpc++)
        draw_district(view, &map, gpc);
    for (int sm = 0; sm < map.run->sms; sm++)
        floor_draw_cell(view, &map, run, sm);
    floor_draw_flights(view, &map, queue, run);
    act_on_cells(view, &map);
    canvas_set_clip(&view->canvas, old);
}
