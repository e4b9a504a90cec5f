/* The queue beside the floor, and blocks on their way from it to an SM and out again. */
#include <math.h>
#include <stdio.h>

#include "floor.h"
#include "observe/words.h"

static const double flight_seconds = 0.5;
enum { MOST_FLIGHTS = 96, FEW_FLIGHTS = 24, MOST_CHIPS = 256, CHIP = 17, CHIP_GAP = 3 };

static struct rect chip_rect(const struct ui *ui, struct rect rect, int place)
{
    int height = ui_px(ui, CHIP), step = height + ui_px(ui, CHIP_GAP);
    return (struct rect){rect.x, rect.y + place * step, rect.w, height};
}

static void draw_chip(struct view *view, struct rect chip, int run, uint32_t index)
{
    char text[24];
    struct colouring colouring = view_colouring(view, run);
    colour full = view_matches(view, view->runs[run], index) ? block_colour(&colouring, index) : view->ui.theme->edge;
    canvas_round(&view->canvas, chip, ui_px(&view->ui, 3), full, 255);
    if (view->hatching)
        canvas_hatch(&view->canvas, chip, block_hatch(&colouring, index), ui_px(&view->ui, 6), palette_text_on(full), 60);
    snprintf(text, sizeof text, "%llu", (unsigned long long)run_number(view->runs[run], index));
    ui_text(&view->ui, chip, ALIGN_MIDDLE, FONT_PLAIN, TEXT_SMALL, palette_text_on(full), text);
    if (ui_over(&view->ui, chip)) {
        view->hover = (struct pick){run, index};
        canvas_frame(&view->canvas, chip, ui_px(&view->ui, 1), view->ui.theme->ink);
        if (view->ui.in.pressed)
            view_pin(view, view->hover);
    }
}

/* Blocks done, running, waiting as one bar. */
static void draw_progress(struct view *view, struct rect rect, int index)
{
    const struct run *run = view->runs[index];
    const struct theme *theme = view->ui.theme;
    double all = (double)run->grid_blocks, begun = (double)density_started(&run->blocks, view_now(view));
    double done = (double)density_ended(&run->blocks, view_now(view));
    char text[128], a[WT_WORDS], b[WT_WORDS];
    struct rect bar = ui_cut_top(&view->ui, &rect, 8);
    canvas_fill(&view->canvas, bar, theme->well);
    canvas_span(&view->canvas, bar.x, bar.x + bar.w * begun / all, bar.y, bar.h, theme->focus, 255);
    canvas_span(&view->canvas, bar.x, bar.x + bar.w * done / all, bar.y, bar.h, theme->soft, 255);
    snprintf(text, sizeof text, "%s running", wt_words_count(a, (uint64_t)(begun - done)));
    ui_text(&view->ui, ui_cut_top(&view->ui, &rect, 15), ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, theme->focus, text);
    snprintf(text, sizeof text, "%s done", wt_words_count(b, (uint64_t)done));
    ui_text(&view->ui, ui_cut_top(&view->ui, &rect, 15), ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, theme->soft, text);
}

static void draw_empty(struct view *view, struct rect rect, bool over)
{
    const struct theme *theme = view->ui.theme;
    struct rect note = ui_cut_top(&view->ui, &rect, 44);
    canvas_round(&view->canvas, note, ui_px(&view->ui, 4), colour_mix(theme->surface, theme->accent, over ? 0 : 0.15), 255);
    ui_text(&view->ui, note, ALIGN_MIDDLE, FONT_BOLD, TEXT_BODY, over ? theme->soft : theme->accent,
            over ? "all done" : "empty");
}

/* Blocks that never start, after a deadlock: the launch that came to a standstill hands out no more. */
static void draw_stranded(struct view *view, struct rect rect, int index, size_t first, size_t places)
{
    const struct run *run = view->runs[index];
    struct ui *ui = &view->ui;
    size_t launch = run->timeline->launch_count;
    while (launch > 1 && run->metrics->launches[launch - 1].blocks == 0)
        launch--;
    uint64_t begun = run->metrics->launches[launch - 1].blocks, grid = run->timeline->launches[launch - 1].grid_blocks;
    for (size_t i = first; i < places && begun + i - first < grid; i++) {
        char text[24];
        struct rect chip = chip_rect(ui, rect, (int)i);
        canvas_round(ui->canvas, chip, ui_px(ui, 3), ui->theme->accent, 255);
        snprintf(text, sizeof text, "%llu", (unsigned long long)(begun + i - first));
        ui_text(ui, chip, ALIGN_MIDDLE, FONT_PLAIN, TEXT_SMALL, palette_text_on(ui->theme->accent), text);
        ui_set_tip(ui, chip, "it never starts: the blocks on the SMs wait for ever");
    }
}

/* How far ahead of the head blocks are on their way; 0: none flies. */
static wt_time flight_reach(const struct view *view, const struct run *run)
{
    wt_time now = view_now(view), reach = wt_from_cycles(fmax(view->playback.speed * flight_seconds, 1));
    if (!view->playback.playing || density_started(&run->blocks, now + reach) - density_started(&run->blocks, now) > 4 * MOST_FLIGHTS)
        return 0;
    return reach;
}

void floor_draw_queue(struct view *view, struct rect rect, int index)
{
    const struct run *run = view->runs[index];
    struct ui *ui = &view->ui;
    char text[96], count[WT_WORDS];
    uint64_t waiting = run_waiting(run, view_now(view));
    rect.w -= ui_px(ui, 10);
    ui_text(ui, ui_cut_top(ui, &rect, 16), ALIGN_LEFT, FONT_BOLD, TEXT_BODY, ui->theme->ink, "Queue");
    snprintf(text, sizeof text, "%s waiting", wt_words_count(count, waiting));
    ui_text(ui, ui_cut_top(ui, &rect, 16), ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, text);
    draw_progress(view, ui_cut_bottom(ui, &rect, 42), index);
    ui_cut_top(ui, &rect, 4);
    if (waiting == 0) {
        draw_empty(view, rect, view_now(view) >= run->end);
        return;
    }
    uint32_t next[MOST_CHIPS];
    size_t places = (size_t)(rect.h / ui_px(ui, CHIP + CHIP_GAP));
    places = places < MOST_CHIPS ? places : MOST_CHIPS;
    size_t chips = run_queue(run, view_now(view) + flight_reach(view, run), next, places);
    for (size_t i = 0; i < chips; i++)
        draw_chip(view, chip_rect(ui, rect, (int)i), index, next[i]);
    if (run->timeline->stuck)
        draw_stranded(view, rect, index, chips, places);
}

/* ---- On the way ---- */

static double eased(double share)
{
    return share * share * (3 - 2 * share);
}

/* What flies: few are drawn as in the queue, with their numbers, many as small boxes. */
struct flight {
    struct view *view;
    const struct floor_map *map;
    struct rect queue;
    int run;
    bool small;
};

static void draw_flying(const struct flight *f, uint32_t index, double x, double y, double size, int alpha, bool outlined)
{
    struct ui *ui = &f->view->ui;
    struct colouring colouring = view_colouring(f->view, f->run);
    colour full = view_matches(f->view, f->map->run, index) ? block_colour(&colouring, index) : ui->theme->edge;
    double w = ui_px(ui, f->small ? 14 : 38) * size, h = ui_px(ui, f->small ? 10 : CHIP) * size;
    struct rect box = {(int)lround(x - w / 2), (int)lround(y - h / 2), (int)lround(w), (int)lround(h)};
    char text[24];
    if (outlined)
        canvas_round(ui->canvas, (struct rect){box.x - 2, box.y - 2, box.w + 4, box.h + 4}, ui_px(ui, 4), ui->theme->ink, alpha);
    canvas_round(ui->canvas, box, ui_px(ui, 3), full, alpha);
    snprintf(text, sizeof text, "%llu", (unsigned long long)run_number(f->map->run, index));
    if (!f->small && outlined)
        ui_text(ui, box, ALIGN_MIDDLE, FONT_BOLD, TEXT_SMALL, palette_text_on(full), text);
}

/* From the queue's head to the middle of its SM. */
static void draw_arriving(const struct flight *f, uint32_t index, double share)
{
    struct rect cell = f->map->cell[run_span(f->map->run, index)->sm];
    double from_x = f->queue.x + f->queue.w / 2.0, from_y = f->queue.y + ui_px(&f->view->ui, 45);
    double x = from_x + (cell.x + cell.w / 2.0 - from_x) * eased(share), y = from_y + (cell.y + cell.h / 2.0 - from_y) * eased(share);
    draw_flying(f, index, x, y, 1, 255, true);
}

/* Up and out of its SM, fading. */
static void draw_leaving(const struct flight *f, uint32_t index, double share)
{
    struct rect cell = f->map->cell[run_span(f->map->run, index)->sm];
    double y = cell.y + cell.h / 2.0 - fmin(cell.h, ui_px(&f->view->ui, 90)) * eased(share);
    draw_flying(f, index, cell.x + cell.w / 2.0, y, 1 - 0.4 * share, (int)(230 * (1 - share)), false);
}

static void draw_arrivals(struct flight *f, wt_time reach)
{
    const struct run *run = f->map->run;
    wt_time now = view_now(f->view);
    size_t first = density_started(&run->blocks, now), last = density_started(&run->blocks, now + reach);
    f->small = last - first > FEW_FLIGHTS;
    last = last - first > MOST_FLIGHTS ? first + MOST_FLIGHTS : last;
    for (size_t i = last; i-- > first;)
        draw_arriving(f, (uint32_t)i, 1 - (double)(run_span(run, (uint32_t)i)->start - now) / (double)reach);
}

/* The last block that ended in each lane, if that was just now. */
static void draw_departures(struct flight *f, wt_time reach)
{
    const struct run *run = f->map->run;
    wt_time now = view_now(f->view), since = now > reach ? now - reach : 0;
    size_t count = density_ended(&run->blocks, now) - density_ended(&run->blocks, since);
    f->small = count > FEW_FLIGHTS;
    for (int lane = 0; count <= 2 * MOST_FLIGHTS && lane < run->sms * run->slots; lane++) {
        uint32_t at = run_lane_from(run, lane, since);
        if (at == run->lane_first[lane + 1] || run->lane_stays[at].end > now)
            continue;
        draw_leaving(f, run->lane_spans[at], (double)(now - run->lane_stays[at].end) / (double)reach);
    }
}

void floor_draw_flights(struct view *view, const struct floor_map *map, struct rect queue, int run)
{
    wt_time reach = wt_from_cycles(fmax(view->playback.speed * flight_seconds, 1));
    struct flight flight = {view, map, queue, run, false};
    if (!view->playback.playing)
        return;
    draw_departures(&flight, reach);
    if (flight_reach(view, map->run) > 0)
        draw_arrivals(&flight, reach);
}
