/* Warps in the colours of their states: eligible, issued, each reason to stall. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "observe/warp_style.h"
#include "observe/words.h"
#include "smview.h"

/* With the colour, so that common states differ without it. */
static const enum hatch hatches[WT_STALL_COUNT] = {
    [WT_STALL_SELECTED] = HATCH_NONE,           [WT_STALL_NOT_SELECTED] = HATCH_RISING,
    [WT_STALL_LONG_SCOREBOARD] = HATCH_FALLING, [WT_STALL_SHORT_SCOREBOARD] = HATCH_LEVEL,
    [WT_STALL_BARRIER] = HATCH_UPRIGHT,         [WT_STALL_WAIT] = HATCH_DOTS,
    [WT_STALL_MATH_PIPE_THROTTLE] = HATCH_CROSSED, [WT_STALL_MIO_THROTTLE] = HATCH_RISING,
    [WT_STALL_LG_THROTTLE] = HATCH_LEVEL,       [WT_STALL_TEX_THROTTLE] = HATCH_DOTS,
    [WT_STALL_NO_INSTRUCTION] = HATCH_FALLING,  [WT_STALL_BRANCH_RESOLVING] = HATCH_RISING,
    [WT_STALL_DISPATCH] = HATCH_UPRIGHT,        [WT_STALL_MEMBAR] = HATCH_DOTS,
    [WT_STALL_SLEEPING] = HATCH_LEVEL,          [WT_STALL_DRAIN] = HATCH_CROSSED,
    [WT_STALL_IMC_MISS] = HATCH_UPRIGHT,        [WT_STALL_MISC] = HATCH_DOTS,
};

/* The pictures' colours. */
static colour colour_of(enum wt_stall_reason state)
{
    struct wt_colour c = wt_state_colour(state);
    return (colour)lround(255 * c.red) << 16 | (colour)lround(255 * c.green) << 8 | (colour)lround(255 * c.blue);
}

/* From the bottom of the chart upwards: first what gets on. */
static const enum wt_stall_reason order[WT_STALL_COUNT] = {
    WT_STALL_SELECTED, WT_STALL_NOT_SELECTED, WT_STALL_WAIT, WT_STALL_MATH_PIPE_THROTTLE, WT_STALL_DISPATCH, WT_STALL_BARRIER,
    WT_STALL_SHORT_SCOREBOARD, WT_STALL_MIO_THROTTLE, WT_STALL_LONG_SCOREBOARD, WT_STALL_LG_THROTTLE, WT_STALL_TEX_THROTTLE,
    WT_STALL_NO_INSTRUCTION, WT_STALL_BRANCH_RESOLVING, WT_STALL_MEMBAR, WT_STALL_SLEEPING, WT_STALL_DRAIN, WT_STALL_IMC_MISS,
    WT_STALL_MISC};

static const char *name_of(enum wt_stall_reason state, char text[32])
{
    if (state == WT_STALL_SELECTED || state == WT_STALL_NOT_SELECTED)
        return state == WT_STALL_SELECTED ? "issued" : "eligible";
    return wt_state_words(state, text);
}

/* The warp level counts from the first block's start. */
static wt_time recorded(const struct opened *o, wt_time t)
{
    return t > o->run->begin ? t - o->run->begin : 0;
}

static void fill_state(const struct opened *o, struct rect piece, enum wt_stall_reason state)
{
    colour value = colour_of(state);
    canvas_fill(&o->view->canvas, piece, value);
    if (o->view->hatching)
        canvas_hatch(&o->view->canvas, piece, hatches[state], ui_px(&o->view->ui, 6), palette_text_on(value), 80);
}

/* ---- A sub-core ---- */

static void draw_warp(const struct opened *o, struct rect cell, const struct wt_warp_sample *sample, wt_time at)
{
    struct ui *ui = &o->view->ui;
    char tip[UI_TIP], name[32], text[24];
    enum wt_stall_reason state = (enum wt_stall_reason)sample->state;
    uint32_t span = sample->block_slot < o->run->slots
                        ? run_resident(o->run, run_lane(o->run, o->view->sm, sample->block_slot), at + o->run->begin) : NO_SPAN;
    fill_state(o, cell, state);
    if (span == NO_SPAN)
        return;
    unsigned long long block = run_span(o->run, span)->block;
    snprintf(text, sizeof text, "%llu", block);
    if (cell.h >= ui_px(ui, 12) && ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, text) + ui_px(ui, 2) <= cell.w)
        ui_text(ui, cell, ALIGN_MIDDLE, FONT_PLAIN, TEXT_SMALL, palette_text_on(colour_of(state)), text);
    snprintf(tip, sizeof tip, "warp %d of block %llu: %s: %s", sample->warp, block, name_of(state, name), wt_stall_help(state));
    ui_set_tip(ui, cell, tip);
    smview_touch_piece(o, cell, span);
}

void smview_draw_warps(const struct opened *o, struct rect rect, int subcore)
{
    int slots = wt_warp_states_slots(o->run->warp_states) / o->run->gpu->limits.subcores;
    wt_time at;
    const struct wt_warp_sample *samples = wt_warp_states_at(o->run->warp_states, o->view->sm, recorded(o, view_now(o->view)), &at, NULL);
    bool over = view_now(o->view) >= o->run->end;
    for (int i = 0; i < slots; i++) {
        struct rect cell = smview_warp_cell(o, rect, slots, i);
        canvas_fill(&o->view->canvas, cell, o->view->ui.theme->well);
        if (samples && !over && samples[subcore * slots + i].state < WT_STALL_COUNT)
            draw_warp(o, cell, &samples[subcore * slots + i], at);
    }
}

/* ---- The SM's warps by state ---- */

static void draw_legend(const struct opened *o, struct rect rect, const double now[WT_STALL_COUNT], const double mean[WT_STALL_COUNT])
{
    struct ui *ui = &o->view->ui;
    for (int i = 0; i < WT_STALL_COUNT; i++) {
        enum wt_stall_reason state = order[i];
        char text[64], name[32], tip[UI_TIP];
        if (mean[state] < 0.05 && now[state] < 0.5)
            continue;
        snprintf(text, sizeof text, "%s %.0f", name_of(state, name), now[state]);
        double width = ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, text) / ui->scale + 28;
        if (rect.w < ui_px(ui, width))
            return;
        struct rect entry = ui_cut_left(ui, &rect, width);
        snprintf(tip, sizeof tip, "%s: %s; %.1f warps on average in the timeline's window", name_of(state, name), wt_stall_help(state),
                 mean[state]);
        ui_set_tip(ui, entry, tip);
        struct rect box = ui_cut_left(ui, &entry, 14);
        box.y += (box.h - ui_px(ui, 12)) / 2;
        box.h = ui_px(ui, 12);
        fill_state(o, box, state);
        ui_cut_left(ui, &entry, 4);
        ui_text(ui, entry, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->ink, text);
    }
}

struct column {
    double warps[WT_STALL_COUNT], all;
};

/* A pixel is the mean over its time; as high as the most warps in the window need it. Returns those. */
static double fill_columns(const struct opened *o, struct column *columns, int count)
{
    const struct axis *axis = &o->view->axis;
    double step = (axis->t1 - axis->t0) / count, most = 1;
    for (int x = 0; x < count; x++) {
        double from = axis->t0 + x * step;
        if (from < 0 || wt_from_cycles(from) >= o->run->end || wt_from_cycles(from + step) <= o->run->begin)
            continue;
        wt_warp_states_mean(o->run->warp_states, o->view->sm, recorded(o, wt_from_cycles(from)),
                            recorded(o, wt_from_cycles(from + step)), columns[x].warps);
        for (int i = 0; i < WT_STALL_COUNT; i++)
            columns[x].all += columns[x].warps[i];
        most = fmax(most, columns[x].all);
    }
    return most;
}

static void draw_chart(const struct opened *o, struct rect plot)
{
    struct column *columns = wt_alloc((size_t)plot.w, sizeof *columns);
    double most = fill_columns(o, columns, plot.w);
    colour colours[WT_STALL_COUNT];
    for (int i = 0; i < WT_STALL_COUNT; i++)
        colours[i] = colour_of((enum wt_stall_reason)i);
    canvas_fill(&o->view->canvas, plot, o->view->ui.theme->well);
    for (int x = 0; x < plot.w; x++) {
        double height = 0;
        for (int i = 0; i < WT_STALL_COUNT && columns[x].all > 0; i++) {
            int y0 = (int)lround(plot.h * height / most), y1 = (int)lround(plot.h * (height += columns[x].warps[order[i]]) / most);
            canvas_fill(&o->view->canvas, (struct rect){plot.x + x, plot.y + plot.h - y1, 1, y1 - y0}, colours[order[i]]);
        }
    }
    free(columns);
}

static void draw_head(const struct opened *o, struct rect plot)
{
    double x = axis_x(o->view, plot, o->view->playback.now);
    if (x >= plot.x && x < plot.x + plot.w)
        canvas_fill(&o->view->canvas, (struct rect){(int)x, plot.y, ui_px(&o->view->ui, 2), plot.h}, o->view->ui.theme->playhead);
    if (lesson_hides_future(o->view))
        canvas_fill(&o->view->canvas, (struct rect){(int)x, plot.y, plot.x + plot.w - (int)x, plot.h}, o->view->ui.theme->well);
    if (ui_dragged(&o->view->ui, o->run->warp_states, plot))
        playback_go(&o->view->playback, axis_cycles(o->view, plot, o->view->ui.in.x));
    ui_set_tip(&o->view->ui, plot, "the SM's warps by state, over the timeline's window; drag: go there");
}

void smview_draw_states(const struct opened *o, struct rect rect)
{
    struct ui *ui = &o->view->ui;
    double now[WT_STALL_COUNT] = {0}, mean[WT_STALL_COUNT];
    wt_time at = 0, every = WT_CYCLE, t = recorded(o, view_now(o->view));
    char figure[160], cycle[64], distance[64];
    wt_warp_states_at(o->run->warp_states, o->view->sm, t, &at, &every);
    if (view_now(o->view) < o->run->end)
        wt_warp_states_mean(o->run->warp_states, o->view->sm, t, t, now);
    wt_warp_states_mean(o->run->warp_states, o->view->sm, recorded(o, wt_from_cycles(fmax(o->view->axis.t0, 0))),
                        recorded(o, wt_from_cycles(o->view->axis.t1)), mean);
    canvas_round(ui->canvas, rect, ui_px(ui, 6), ui->theme->surface, 255);
    rect = rect_inset(rect, ui_px(ui, 8));
    snprintf(figure, sizeof figure, "in cycle %s%s%s", wt_words_number(cycle, floor(wt_to_cycles(at + o->run->begin))),
             every > WT_CYCLE ? "; recorded every " : "", every > WT_CYCLE ? wt_words_cycles(distance, wt_to_cycles(every)) : "");
    smview_heading(o, &rect, "Warps by state", figure);
    draw_legend(o, ui_cut_top(ui, &rect, 18), now, mean);
    ui_cut_top(ui, &rect, 2);
    draw_chart(o, rect);
    draw_head(o, rect);
}
