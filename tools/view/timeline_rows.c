/* The timeline's rows: blocks in their real slots where there is room, exact densities where there is not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "timeline.h"

enum { LEAST_ROW = 1, LEAST_OVERLAID = 5, LANE_LEAST = 3, DETAIL_LEAST = 4 /* pixels */, MOST_FIT = 96 /* points */ };

/* ---- Where rows are ---- */

static bool is_collapsed(const struct view *view, int gpc, bool crowded)
{
    return crowded || view->axis.collapsed[gpc % WT_MAX_GROUPS];
}

static int row_count(const struct view *view, const int *runs, int run_count, bool crowded, int *gaps)
{
    int count = 0;
    *gaps = 0;
    for (int i = 0; i < run_count; i++) {
        const struct run *run = view->runs[runs[i]];
        for (int gpc = 0; gpc < run->gpcs; gpc++)
            count += is_collapsed(view, gpc, crowded);
        for (int sm = 0; sm < run->sms; sm++)
            count += !is_collapsed(view, run->timeline->gpc_of_sm[sm], crowded);
        *gaps += run->gpcs;
    }
    return count;
}

/* Over the rows of each of two runs: its name. */
static int heading_of(const struct view *view, int run_count)
{
    return run_count > 1 ? ui_px(&view->ui, 16) : 0;
}

static bool overlays(const struct view *view)
{
    return view->compare == COMPARE_OVERLAY && view->run_count > 1;
}

/* Between GPCs. */
static int gap_of(const struct view *view)
{
    return ui_px(&view->ui, 2);
}

static double row_height(const struct view *view, const int *runs, int run_count, int room)
{
    int gaps, count = row_count(view, runs, run_count, view->axis.crowded, &gaps);
    double least = overlays(view) ? LEAST_OVERLAID : LEAST_ROW;
    double fitting = (double)(room - gaps * gap_of(view)) / (count ? count : 1);
    if (view->axis.row_points > 0)
        return fmax(view->axis.row_points * view->ui.scale, least);
    return fmin(fmax(fitting, least), ui_px(&view->ui, MOST_FIT));
}

int timeline_least_height(const struct view *view, const int *runs, int run_count)
{
    int gaps, count = row_count(view, runs, run_count, false, &gaps);
    return count * (overlays(view) ? LEAST_OVERLAID : LEAST_ROW) + gaps * gap_of(view) + run_count * heading_of(view, run_count);
}

/* Rows end on whole pixels, so that fractions of a pixel add up to no gap. */
static void add_row(struct rows *rows, struct row row, double height)
{
    if (rows->count == MOST_ROWS)
        return;
    row.y = (int)lround(rows->exact_height);
    rows->exact_height += height;
    row.h = (int)lround(rows->exact_height) - row.y;
    rows->row[rows->count++] = row;
}

static void add_gpc(const struct view *view, struct rows *rows, int run, int gpc, double height, bool first_of_run)
{
    const struct run *shown = view->runs[run];
    bool first = true;
    if (is_collapsed(view, gpc, view->axis.crowded)) {
        double tall = fmax(height, ui_px(&view->ui, view->axis.crowded ? 10 : 16));
        add_row(rows, (struct row){.run = run, .gpc = gpc, .sm = -1, .first_of_gpc = true, .first_of_run = first_of_run},
                tall);
        return;
    }
    for (int sm = 0; sm < shown->sms; sm++) {
        if (shown->timeline->gpc_of_sm[sm] != gpc)
            continue;
        add_row(rows, (struct row){.run = run, .gpc = gpc, .sm = sm, .first_of_gpc = first,
                                   .first_of_run = first && first_of_run}, height);
        first = false;
    }
}

void timeline_lay_rows(struct view *view, const int *runs, int run_count, int room, struct rows *rows)
{
    view->axis.crowded = view->axis.row_points == 0 && timeline_least_height(view, runs, run_count) > room;
    double height = row_height(view, runs, run_count, room - run_count * heading_of(view, run_count));
    rows->count = 0;
    rows->exact_height = 0;
    for (int i = 0; i < run_count; i++) {
        rows->exact_height += heading_of(view, run_count);
        for (int gpc = 0; gpc < view->runs[runs[i]]->gpcs; gpc++) {
            add_gpc(view, rows, runs[i], gpc, height, gpc == 0);
            rows->exact_height += gap_of(view);
        }
    }
    rows->height = (int)floor(rows->exact_height);
    int hidden = rows->height - room;
    view->axis.scroll = view->axis.scroll > hidden ? hidden : view->axis.scroll;
    view->axis.scroll = view->axis.scroll < 0 ? 0 : view->axis.scroll;
}

/* ---- Pixels of one lane or SM ---- */

/* What is drawn in one strip: a colour and how much of each pixel's time is taken. */
struct strip {
    struct canvas *canvas;
    struct view *view;
    const struct run *run;
    int run_index;
    struct colouring colouring;
    struct rect rect; /* the plot, for the time axis */
    float *taken;
    colour *colours;
    uint8_t *alphas;
    wt_time *edges; /* rect.w + 1 */
    const struct tint *tint; /* NULL: colours are asked for one by one */
};

static colour colour_of(const struct strip *strip, uint32_t span)
{
    if (!view_matches(strip->view, strip->run, span))
        return strip->view->ui.theme->edge;
    return block_colour(&strip->colouring, span);
}

static void take(struct strip *strip, int column, double share, colour value)
{
    if (column < 0 || column >= strip->rect.w || share <= 0)
        return;
    if (share > strip->taken[column])
        strip->colours[column] = value;
    strip->taken[column] += (float)share;
}

/* A block of the lane from x0 to x1, as columns of the strip. */
static void take_block(struct strip *strip, double x0, double x1, colour value)
{
    x0 = fmax(x0, 0);
    x1 = fmin(x1, strip->rect.w);
    int first = (int)x0, last = (int)x1;
    if (first == last) {
        take(strip, first, x1 - x0, value);
        return;
    }
    take(strip, first, first + 1 - x0, value);
    for (int column = first + 1; column < last; column++) {
        strip->colours[column] = value;
        strip->taken[column] = 1;
    }
    take(strip, last, x1 - last, value);
}

static void put_strip(struct strip *strip, int y, int h)
{
    for (int i = 0; i < strip->rect.w; i++)
        strip->alphas[i] = (uint8_t)(fminf(strip->taken[i], 1) * 255 + 0.5f);
    canvas_columns(strip->canvas, strip->rect.x, y, h, strip->colours, strip->alphas, strip->rect.w);
}

/* ---- Lanes ---- */

/* Edges, patterns and numbers of blocks wide enough for them. */
static void detail_block(struct strip *strip, uint32_t index, double x0, double x1, int y, int h)
{
    struct view *view = strip->view;
    const struct ui *ui = &view->ui;
    char text[24];
    colour full = colour_of(strip, index);
    int left = (int)fmax(x0, strip->rect.x), right = (int)fmin(x1, strip->rect.x + strip->rect.w);
    if (view->hatching && h >= 4)
        canvas_hatch(&view->canvas, (struct rect){left, y, right - left, h}, block_hatch(&strip->colouring, index),
                     ui_px(ui, 6), palette_text_on(full), 70);
    if (x0 >= strip->rect.x)
        canvas_blend(&view->canvas, (struct rect){(int)x0, y, 1, h}, ui->theme->well, 200);
    snprintf(text, sizeof text, "%llu", (unsigned long long)run_span(strip->run, index)->block);
    if (h >= ui_px(ui, 12) && ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, text) + ui_px(ui, 6) < right - left)
        ui_text(ui, (struct rect){left, y, right - left, h}, ALIGN_MIDDLE, FONT_PLAIN, TEXT_SMALL, palette_text_on(full), text);
}

static void draw_lane(struct strip *strip, int lane, int y, int h)
{
    const struct run *run = strip->run;
    uint32_t first = run_lane_from(run, lane, strip->edges[0]), last = run->lane_first[lane + 1], at;
    wt_time end = strip->edges[strip->rect.w];
    double scale = strip->rect.w / (strip->view->axis.t1 - strip->view->axis.t0) / (double)WT_CYCLE;
    double origin = -strip->view->axis.t0 * (double)WT_CYCLE, widest = 0;
    memset(strip->taken, 0, (size_t)strip->rect.w * sizeof *strip->taken);
    for (at = first; at < last && run->lane_stays[at].start < end; at++) {
        double x0 = ((double)run->lane_stays[at].start + origin) * scale, x1 = ((double)run->lane_stays[at].end + origin) * scale;
        take_block(strip, x0, x1, strip->tint ? strip->tint->of_lanes[at] : colour_of(strip, run->lane_spans[at]));
        widest = fmax(widest, x1 - x0);
    }
    put_strip(strip, y, h);
    for (uint32_t i = first; widest >= DETAIL_LEAST && i < at; i++) {
        double x0 = ((double)run->lane_stays[i].start + origin) * scale, x1 = ((double)run->lane_stays[i].end + origin) * scale;
        if (x1 - x0 >= DETAIL_LEAST)
            detail_block(strip, run->lane_spans[i], strip->rect.x + x0, strip->rect.x + x1, y, h);
    }
}

/* ---- Densities ---- */

/* Of the blocks that began in a pixel, or else of the last one before it. Ages change all the time: of the last one. */
static colour mean_colour(const struct strip *strip, int sm, size_t before, size_t until)
{
    size_t first = strip->run->sm_first[sm];
    if (until == 0)
        return 0;
    if (!strip->tint)
        return colour_of(strip, strip->run->sm_spans[first + until - 1]);
    return tint_mean(strip->tint, first + (before < until ? before : until - 1), first + until);
}

/* Blocks that an SM holds of the kernel whose block began last. */
static double capacity(const struct strip *strip, int sm, size_t until)
{
    const struct run *run = strip->run;
    uint32_t launch = until > 0 ? run_span(run, run->sm_spans[run->sm_first[sm] + until - 1])->launch : 0;
    int its = run->timeline->launches[launch].blocks_per_sm;
    return its > 0 && its < run->slots ? its : run->slots;
}

/* The SM's mean share of its capacity, times `weight`, onto each pixel. */
static void add_density(struct strip *strip, int sm, double weight)
{
    const struct density *density = &strip->run->sm_density[sm];
    bool alike = strip->run->timeline->launch_count == 1;
    double scale = weight / capacity(strip, sm, 0);
    size_t before, until;
    uint64_t left = density_integral(density, strip->edges[0], &before), right;
    for (int i = 0; i < strip->rect.w; i++, left = right, before = until) {
        wt_time width = strip->edges[i + 1] - strip->edges[i];
        right = density_integral(density, strip->edges[i + 1], &until);
        if (width == 0 || right == left)
            continue;
        double share = (double)(right - left) / (double)width * (alike ? scale : weight / capacity(strip, sm, until));
        if (share > strip->taken[i])
            strip->colours[i] = mean_colour(strip, sm, before, until);
        strip->taken[i] += (float)share;
    }
}

static void draw_sm(struct strip *strip, int sm, int y, int h)
{
    int slots = strip->run->slots;
    if (h >= slots * LANE_LEAST) {
        for (int slot = 0; slot < slots; slot++) {
            int top = y + h * slot / slots, bottom = y + h * (slot + 1) / slots;
            draw_lane(strip, run_lane(strip->run, sm, slot), top, bottom - top > 3 ? bottom - top - 1 : bottom - top);
        }
        return;
    }
    if (slots == 1) {
        draw_lane(strip, run_lane(strip->run, sm, 0), y, h > 3 ? h - 1 : h);
        return;
    }
    memset(strip->taken, 0, (size_t)strip->rect.w * sizeof *strip->taken);
    add_density(strip, sm, 1);
    put_strip(strip, y, h > 3 ? h - 1 : h);
}

static void draw_gpc(struct strip *strip, int gpc, int y, int h)
{
    int sms = 0;
    memset(strip->taken, 0, (size_t)strip->rect.w * sizeof *strip->taken);
    for (int sm = 0; sm < strip->run->sms; sm++)
        sms += strip->run->timeline->gpc_of_sm[sm] == gpc;
    for (int sm = 0; sm < strip->run->sms; sm++)
        if (strip->run->timeline->gpc_of_sm[sm] == gpc)
            add_density(strip, sm, 1.0 / sms);
    put_strip(strip, y, h - 1);
}

static void draw_row(struct strip *strip, const struct row *row, int y, int h)
{
    if (row->sm < 0)
        draw_gpc(strip, row->gpc, y, h);
    else if (row->sm < strip->run->sms)
        draw_sm(strip, row->sm, y, h);
}

/* ---- All rows ---- */

static void set_run(struct strip *strip, struct view *view, int run)
{
    strip->run = view->runs[run];
    strip->run_index = run;
    strip->colouring = view_colouring(view, run);
    strip->tint = NULL;
    if (strip->colouring.mode == COLOUR_AGE)
        return;
    const uint8_t *matches = view->search.of == strip->run ? view->search.matches : NULL;
    tint_update(&view->tints[run], &strip->colouring, matches, view->ui.theme->edge, view->search.generation);
    strip->tint = &view->tints[run];
}

static struct strip strip_new(struct view *view, struct rect rect)
{
    size_t width = (size_t)rect.w;
    struct strip strip = {.view = view, .canvas = &view->canvas, .rect = rect, .taken = wt_alloc(width + 1, sizeof(float)),
                          .colours = wt_alloc(width + 1, sizeof(colour)), .alphas = wt_alloc(width + 1, 1),
                          .edges = wt_alloc(width + 1, sizeof(wt_time))};
    for (int x = 0; x <= rect.w; x++)
        strip.edges[x] = timeline_edge(view, rect, rect.x + x);
    return strip;
}

static void strip_free(struct strip *strip)
{
    free(strip->taken);
    free(strip->colours);
    free(strip->alphas);
    free(strip->edges);
}

/* Overlaid: the shown run above, the other one pale below it in the same row. */
static void draw_overlaid(struct strip *strip, struct view *view, const struct row *row, int y)
{
    int upper = row->h * 3 / 5;
    set_run(strip, view, row->run);
    draw_row(strip, row, y, upper);
    set_run(strip, view, 1 - row->run);
    draw_row(strip, row, y + upper, row->h - upper);
    canvas_blend(&view->canvas, (struct rect){strip->rect.x, y + upper, strip->rect.w, row->h - upper}, view->ui.theme->well,
                 120);
}

static void draw_background(struct view *view, struct rect rect, const struct rows *rows)
{
    canvas_fill(&view->canvas, rect, view->ui.theme->page);
    for (int i = 0; i < rows->count; i++) {
        struct rect row = {rect.x, rect.y + rows->row[i].y - view->axis.scroll, rect.w, rows->row[i].h};
        canvas_fill(&view->canvas, row, view->ui.theme->well);
    }
    for (int i = 0; i < rows->count; i++) {
        const struct row *first = &rows->row[i];
        if (!first->first_of_run)
            continue;
        int last = i;
        while (last + 1 < rows->count && !rows->row[last + 1].first_of_run)
            last++;
        struct rect of_run = {rect.x, rect.y + first->y - view->axis.scroll, rect.w,
                              rows->row[last].y + rows->row[last].h - first->y};
        timeline_draw_tails(view, of_run, view->runs[first->run]);
    }
}

void timeline_draw_rows(struct view *view, struct rect rect, const struct rows *rows)
{
    struct strip strip = strip_new(view, rect);
    struct rect old = canvas_clip_to(&view->canvas, rect);
    draw_background(view, rect, rows);
    for (int i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        int y = rect.y + row->y - view->axis.scroll;
        if (y + row->h <= rect.y || y >= rect.y + rect.h)
            continue;
        if (overlays(view)) {
            draw_overlaid(&strip, view, row, y);
            continue;
        }
        set_run(&strip, view, row->run);
        draw_row(&strip, row, y, row->h);
    }
    canvas_set_clip(&view->canvas, old);
    strip_free(&strip);
}

/* ---- Names ---- */

/* What was shown as collapsed for want of room becomes so, and rows get a height of the user's own. */
static void collapse_others(struct view *view)
{
    for (int gpc = 0; gpc < WT_MAX_GROUPS; gpc++)
        view->axis.collapsed[gpc] = true;
    view->axis.row_points = 6;
}

static void draw_gpc_name(struct view *view, struct rect gutter, const struct row *row, int y, int room)
{
    struct ui *ui = &view->ui;
    char text[48];
    bool collapsed = row->sm < 0;
    int height = ui_px(ui, 15);
    if (view->runs[row->run]->gpcs < 2 || room < ui_px(ui, 8))
        return;
    struct rect name = {gutter.x, y, ui_px(ui, 62), room < height ? room : height};
    struct rect arrow = {name.x + ui_px(ui, 3), name.y + ui_px(ui, 4), ui_px(ui, 7), ui_px(ui, 7)};
    canvas_arrow(ui->canvas, arrow, collapsed ? 0 : 1, ui->theme->soft);
    snprintf(text, sizeof text, "GPC %d", row->gpc);
    struct rect words = {name.x + ui_px(ui, 14), name.y, name.w - ui_px(ui, 14), name.h};
    ui_text(ui, words, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui_over(ui, name) ? ui->theme->ink : ui->theme->soft, text);
    ui_set_tip(ui, name, collapsed ? "open this GPC" : "collapse this GPC into one row (H: all)");
    if (ui_clicked(ui, name)) {
        if (view->axis.crowded)
            collapse_others(view);
        view->axis.collapsed[row->gpc % WT_MAX_GROUPS] = !collapsed;
        view->ui.in.pressed = false;
    }
}

static void draw_sm_name(struct view *view, struct rect gutter, const struct row *row, int y)
{
    struct ui *ui = &view->ui;
    char text[32];
    struct rect name = {gutter.x, y, gutter.w - ui_px(ui, 4), row->h};
    if (row->sm == view->sm)
        canvas_fill(ui->canvas, (struct rect){gutter.x + gutter.w - ui_px(ui, 3), y, ui_px(ui, 3), row->h}, ui->theme->focus);
    if (row->h >= ui_px(ui, 10)) {
        snprintf(text, sizeof text, row->h >= ui_px(ui, 14) ? "SM %d" : "%d", row->sm);
        ui_text(ui, name, ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL, row->sm == view->sm ? ui->theme->ink : ui->theme->soft, text);
    }
    if (!ui_over(ui, name))
        return;
    snprintf(text, sizeof text, "SM %d: double click opens it", row->sm);
    ui_set_tip(ui, name, text);
    if (ui->in.pressed)
        view_show_sm(view, row->sm);
    if (ui->in.double_click)
        view->page = PAGE_SM;
}

static int gpc_room(const struct rows *rows, int index)
{
    int last = index;
    while (last + 1 < rows->count && !rows->row[last + 1].first_of_gpc)
        last++;
    return rows->row[last].y + rows->row[last].h - rows->row[index].y;
}

static void draw_run_name(struct view *view, struct rect gutter, const struct row *row, int y)
{
    struct rect name = {gutter.x + ui_px(&view->ui, 3), y - ui_px(&view->ui, 16), gutter.w, ui_px(&view->ui, 16)};
    ui_text(&view->ui, name, ALIGN_LEFT, FONT_BOLD, TEXT_SMALL, view->ui.theme->ink, view->runs[row->run]->label);
}

void timeline_draw_gutter(struct view *view, struct rect rect, const struct rows *rows)
{
    struct rect old = canvas_clip_to(&view->canvas, rect);
    canvas_fill(&view->canvas, rect, view->ui.theme->page);
    for (int i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        int y = rect.y + row->y - view->axis.scroll;
        if (row->first_of_run && view->compare == COMPARE_SIDE && view->run_count > 1)
            draw_run_name(view, rect, row, y);
        if (y + gpc_room(rows, i) <= rect.y || y >= rect.y + rect.h)
            continue;
        if (row->first_of_gpc)
            draw_gpc_name(view, rect, row, y, gpc_room(rows, i));
        if (row->sm >= 0)
            draw_sm_name(view, rect, row, y);
    }
    canvas_set_clip(&view->canvas, old);
}

/* ---- What is under the mouse ---- */

static uint32_t pick_in_row(const struct run *run, const struct row *row, int y, wt_time t)
{
    int slots = run->slots, h = row->h;
    if (row->sm < 0 || row->sm >= run->sms)
        return NO_SPAN;
    if (h >= slots * LANE_LEAST || slots == 1) {
        int slot = slots == 1 ? 0 : y * slots / (h ? h : 1);
        return run_resident(run, run_lane(run, row->sm, slot < slots ? slot : slots - 1), t);
    }
    for (int slot = 0; slot < slots; slot++) {
        uint32_t span = run_resident(run, run_lane(run, row->sm, slot), t);
        if (span != NO_SPAN)
            return span;
    }
    return NO_SPAN;
}

struct pick timeline_pick(const struct view *view, struct rect rect, const struct rows *rows, int *sm)
{
    struct pick none = {0, NO_SPAN};
    *sm = -1;
    if (!ui_over(&view->ui, rect))
        return none;
    int y = view->ui.in.y - rect.y + view->axis.scroll;
    double cycles = axis_cycles(view, rect, view->ui.in.x + 0.5);
    for (int i = 0; cycles >= 0 && i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (y < row->y || y >= row->y + row->h)
            continue;
        *sm = row->sm;
        bool lower = overlays(view) && y - row->y >= row->h * 3 / 5;
        int run = lower ? 1 - row->run : row->run, upper = row->h * 3 / 5;
        struct row part = *row;
        if (overlays(view))
            part.h = lower ? row->h - upper : upper;
        uint32_t span = pick_in_row(view->runs[run], &part, y - row->y - (lower ? upper : 0), wt_from_cycles(cycles));
        return (struct pick){run, span};
    }
    return none;
}
