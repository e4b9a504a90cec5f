/* One SM opened up: sub-cores with their warp slots and register files, shared memory with its holes, block slots. */
#include <math.h>
#include <stdio.h>

#include "observe/words.h"
#include "smview.h"

void smview_heading(const struct opened *o, struct rect *rect, const char *text, const char *figure)
{
    struct rect line = ui_cut_top(&o->view->ui, rect, 17);
    ui_text(&o->view->ui, line, ALIGN_LEFT, FONT_BOLD, TEXT_SMALL, o->view->ui.theme->ink, text);
    int used = ui_text_width(&o->view->ui, FONT_BOLD, TEXT_SMALL, text) + ui_px(&o->view->ui, 10);
    used = used < line.w ? used : line.w;
    line.x += used;
    line.w -= used;
    ui_text(&o->view->ui, line, ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL, o->view->ui.theme->soft, figure);
}

/* Blocks of one kernel have one colour: the shade tells neighbours apart. */
static colour colour_of(const struct opened *o, uint32_t span)
{
    const struct theme *theme = o->view->ui.theme;
    colour full = view_matches(o->view, o->run, span) ? block_colour(&o->colouring, span) : theme->edge;
    if (!colour_is_category(o->colouring.mode))
        return full;
    return colour_mix(full, theme->surface, run_span(o->run, span)->slot % 3 * 0.22);
}

static void label_piece(const struct opened *o, struct rect piece, uint32_t span)
{
    char text[24];
    struct ui *ui = &o->view->ui;
    snprintf(text, sizeof text, "%llu", (unsigned long long)run_span(o->run, span)->block);
    if (piece.h >= ui_px(ui, 12) && ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, text) + ui_px(ui, 2) <= piece.w)
        ui_text(ui, piece, ALIGN_MIDDLE, FONT_PLAIN, TEXT_SMALL, palette_text_on(colour_of(o, span)), text);
}

void smview_touch_piece(const struct opened *o, struct rect piece, uint32_t span)
{
    struct view *view = o->view;
    struct pick pick = {o->index, span};
    bool pinned = view->pinned.run == o->index && view->pinned.span == span;
    bool hovered = view->hover.run == o->index && view->hover.span == span;
    if (ui_over(&view->ui, piece)) {
        view->hover = pick;
        if (view->ui.in.pressed)
            view_pin(view, pick);
    }
    if (pinned || hovered)
        canvas_frame(&view->canvas, piece, ui_px(&view->ui, 2), view->ui.theme->ink);
}

/* A piece of a resource that a block holds: colour, pattern, the mouse. */
static void draw_piece(const struct opened *o, struct rect piece, uint32_t span)
{
    colour full = colour_of(o, span);
    canvas_fill(&o->view->canvas, piece, full);
    if (o->view->hatching)
        canvas_hatch(&o->view->canvas, piece, block_hatch(&o->colouring, span), ui_px(&o->view->ui, 6), palette_text_on(full), 70);
    smview_touch_piece(o, piece, span);
}

static void draw_labelled(const struct opened *o, struct rect piece, uint32_t span)
{
    draw_piece(o, piece, span);
    label_piece(o, piece, span);
}

/* ---- Sub-cores ---- */

struct rect smview_warp_cell(const struct opened *o, struct rect rect, int slots, int slot)
{
    int columns = 1;
    for (int even = 1; even <= slots; even++) /* full rows, about square */
        if (slots % even == 0 && rect.w / even >= rect.h * even / slots)
            columns = even;
    int rows = (slots + columns - 1) / columns, w = rect.w / columns, h = rect.h / (rows ? rows : 1);
    struct rect cell = {rect.x + slot % columns * w, rect.y + slot / columns * h, w, h};
    return rect_inset(cell, ui_px(&o->view->ui, 1));
}

static void draw_warp_slots(const struct opened *o, struct rect rect, int subcore)
{
    const struct wt_limits *limits = &o->run->gpu->limits;
    int slots = wt_warps_per_sm(limits) / limits->subcores, at = 0;
    for (int i = 0; i < slots; i++)
        canvas_fill(&o->view->canvas, smview_warp_cell(o, rect, slots, i), o->view->ui.theme->well);
    for (int slot = 0; slot < WT_MAX_SLOTS; slot++) {
        const struct held_block *held = &o->state->held[slot];
        int warps = held->span == NO_SPAN ? 0 : wt_lane(held->warp_lanes, subcore);
        for (int i = 0; i < warps && at < slots; i++, at++)
            draw_labelled(o, smview_warp_cell(o, rect, slots, at), held->span);
    }
}

static void draw_registers(const struct opened *o, struct rect rect, int subcore)
{
    const struct wt_limits *limits = &o->run->gpu->limits;
    double all = (double)limits->registers_per_sm / limits->subcores, from = 0;
    canvas_fill(&o->view->canvas, rect, o->view->ui.theme->well);
    for (int slot = 0; slot < WT_MAX_SLOTS; slot++) {
        const struct held_block *held = &o->state->held[slot];
        if (held->span == NO_SPAN)
            continue;
        double to = from + (double)wt_lane(held->register_lanes, subcore) * limits->register_unit;
        int x0 = rect.x + (int)lround(rect.w * from / all), x1 = rect.x + (int)lround(rect.w * to / all);
        draw_labelled(o, (struct rect){x0, rect.y, x1 - x0 > 2 ? x1 - x0 - 1 : x1 - x0, rect.h}, held->span);
        from = to;
    }
}

static void draw_subcore(const struct opened *o, struct rect rect, int subcore)
{
    struct ui *ui = &o->view->ui;
    const struct wt_limits *limits = &o->run->gpu->limits;
    char name[64], figure[96], number[WT_WORDS];
    canvas_round(ui->canvas, rect, ui_px(ui, 6), ui->theme->surface, 255);
    rect = rect_inset(rect, ui_px(ui, 8));
    bool next = wt_sm_subcore_pointer(o->state->model) == subcore;
    snprintf(name, sizeof name, "Sub-core %d%s", subcore, next ? " ◂ next" : "");
    int slots = wt_warps_per_sm(limits) / limits->subcores, free_slots = wt_sm_free_warp_slots(o->state->model, subcore);
    snprintf(figure, sizeof figure, "%d of %d warps", slots - free_slots, slots);
    smview_heading(o, &rect, name, figure);
    struct rect file = ui_cut_bottom(ui, &rect, 18);
    snprintf(figure, sizeof figure, "%s registers free", wt_words_count(number, (uint64_t)wt_sm_free_registers(o->state->model, subcore)));
    struct rect label = ui_cut_bottom(ui, &rect, 17);
    if (ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, figure) + ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, "register file ") < label.w)
        ui_text(ui, label, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, "register file");
    ui_text(ui, label, ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, figure);
    draw_registers(o, file, subcore);
    (o->run->warp_states ? smview_draw_warps : draw_warp_slots)(o, rect, subcore);
}

/* ---- Shared memory ---- */

static void draw_range(const struct opened *o, struct rect rect, int offset, int bytes, int total, uint32_t span)
{
    int from = offset % total, left = bytes;
    while (left > 0) { /* around the end of the address range */
        int now = from + left > total ? total - from : left;
        int x0 = rect.x + (int)lround((double)rect.w * from / total);
        int x1 = rect.x + (int)lround((double)rect.w * (from + now) / total);
        draw_labelled(o, (struct rect){x0, rect.y, x1 - x0 > 2 ? x1 - x0 - 1 : x1 - x0, rect.h}, span);
        left -= now;
        from = 0;
    }
}

static void draw_shared(const struct opened *o, struct rect rect)
{
    struct ui *ui = &o->view->ui;
    struct wt_shared_use use = wt_sm_shared_use(o->state->model);
    char figure[160];
    snprintf(figure, sizeof figure, "configuration %d KB · free %.1f KB · largest hole %.1f KB · fragmentation %.0f %%",
             wt_sm_carveout_kb(o->state->model), use.free_bytes / 1024.0, use.largest_hole_bytes / 1024.0,
             100 * use.fragmentation);
    canvas_round(ui->canvas, rect, ui_px(ui, 6), ui->theme->surface, 255);
    rect = rect_inset(rect, ui_px(ui, 8));
    smview_heading(o, &rect, "Shared memory, by address", figure);
    struct rect scale = ui_cut_bottom(ui, &rect, 14);
    char end[32];
    snprintf(end, sizeof end, "%d KB", use.total_bytes / 1024);
    ui_text(ui, scale, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, "0");
    ui_text(ui, scale, ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, end);
    canvas_fill(ui->canvas, rect, ui->theme->well);
    if (use.total_bytes > 0)
        canvas_hatch(ui->canvas, rect, HATCH_FALLING, ui_px(ui, 8), ui->theme->edge, 160);
    for (int slot = 0; slot < WT_MAX_SLOTS && use.total_bytes > 0; slot++) {
        const struct held_block *held = &o->state->held[slot];
        if (held->span != NO_SPAN && held->shared_bytes > 0)
            draw_range(o, rect, held->shared_offset, held->shared_bytes, use.total_bytes, held->span);
    }
}

/* ---- Block slots ---- */

static void draw_slot(const struct opened *o, struct rect line, int slot)
{
    struct ui *ui = &o->view->ui;
    char text[96], left[64];
    uint32_t index = run_resident(o->run, run_lane(o->run, o->view->sm, slot), view_now(o->view));
    struct rect bar = rect_inset(line, ui_px(ui, 1));
    canvas_fill(ui->canvas, bar, ui->theme->well);
    if (index == NO_SPAN) {
        snprintf(text, sizeof text, "slot %d: free", slot);
        bar.x += ui_px(ui, 6);
        ui_text(ui, bar, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, text);
        return;
    }
    const struct wt_block_run *span = run_span(o->run, index);
    double share = span->end > span->start ? (double)(view_now(o->view) - span->start) / (double)(span->end - span->start) : 1;
    colour full = colour_of(o, index);
    draw_piece(o, (struct rect){bar.x, bar.y, (int)lround(bar.w * share), bar.h}, index);
    if (ui_over(ui, bar)) {
        o->view->hover = (struct pick){o->index, index};
        if (ui->in.pressed)
            view_pin(o->view, o->view->hover);
    }
    double remaining = wt_to_cycles(span->end) - o->view->playback.now;
    snprintf(text, sizeof text, "slot %d: block %llu, ends in %s", slot, (unsigned long long)span->block,
             view_time_text(o->view, fmax(remaining, 0), left));
    const colour inks[] = {palette_text_on(full), ui->theme->ink};
    struct rect words = {bar.x + ui_px(ui, 6), bar.y, bar.w - ui_px(ui, 12), bar.h};
    ui_text_over(ui, words, ALIGN_LEFT, TEXT_SMALL, bar.x + (int)lround(bar.w * share), inks, text);
}

static void draw_slots(const struct opened *o, struct rect rect)
{
    struct ui *ui = &o->view->ui;
    char figure[64];
    canvas_round(ui->canvas, rect, ui_px(ui, 6), ui->theme->surface, 255);
    rect = rect_inset(rect, ui_px(ui, 8));
    int resident = (int)density_resident(&o->run->sm_density[o->view->sm], view_now(o->view));
    snprintf(figure, sizeof figure, "%d resident", resident);
    smview_heading(o, &rect, "Block slots", figure);
    int columns = o->run->slots > 8 ? 4 : 2, rows = (o->run->slots + columns - 1) / columns;
    int w = rect.w / columns, h = rect.h / rows;
    h = h > ui_px(ui, 26) ? ui_px(ui, 26) : h;
    for (int slot = 0; slot < o->run->slots; slot++)
        draw_slot(o, (struct rect){rect.x + slot / rows * w, rect.y + slot % rows * h, w, h}, slot);
}

/* ---- The whole ---- */

static void draw_title(const struct opened *o, struct rect rect)
{
    struct ui *ui = &o->view->ui;
    char text[160], gpc[32];
    struct rect left = ui_cut_left(ui, &rect, 30), right = ui_cut_left(ui, &rect, 30);
    if (ui_button(ui, rect_inset(left, ui_px(ui, 2)), "◂", false, "previous SM ([)"))
        view_act(o->view, ACTION_previous_sm);
    if (ui_button(ui, rect_inset(right, ui_px(ui, 2)), "▸", false, "next SM (])"))
        view_act(o->view, ACTION_next_sm);
    snprintf(gpc, sizeof gpc, o->run->gpcs > 1 ? " of GPC %d" : "", o->run->timeline->gpc_of_sm[o->view->sm]);
    snprintf(text, sizeof text, "  SM %d%s%s%.80s", o->view->sm, gpc, o->view->run_count > 1 ? ", " : "",
             o->view->run_count > 1 ? o->run->label : "");
    ui_text(ui, rect, ALIGN_LEFT, FONT_BOLD, TEXT_TITLE, ui->theme->ink, text);
    if (o->state && o->state->refused > 0) {
        snprintf(text, sizeof text, "%llu blocks so far would not have fitted the modelled SM",
                 (unsigned long long)o->state->refused);
        ui_text(ui, rect, ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL, ui->theme->accent, text);
    }
}

static void draw_unknown(const struct opened *o, struct rect rect)
{
    struct ui *ui = &o->view->ui;
    canvas_round(ui->canvas, rect, ui_px(ui, 6), ui->theme->surface, 255);
    ui_paragraph(ui, rect_inset(rect, ui_px(ui, 12)), FONT_PLAIN, TEXT_BODY, ui->theme->soft,
                 "This file does not tell the registers and shared memory of its kernels, or its GPU is not known, so sub-cores, "
                 "register files and shared memory cannot be shown. Open the trace or the workload itself, or name the GPU with "
                 "--gpu.");
}

static void draw_inside(const struct opened *o, struct rect rect)
{
    struct ui *ui = &o->view->ui;
    int subcores = o->run->gpu->limits.subcores, across = rect.w > ui_px(ui, 760) ? subcores : (subcores + 1) / 2;
    int down = (subcores + across - 1) / across;
    if (o->run->warp_states)
        smview_draw_states(o, rect_inset(ui_cut_bottom(ui, &rect, rect.h > ui_px(ui, 420) ? 116 : 86), ui_px(ui, 3)));
    else
        ui_text(ui, ui_cut_bottom(ui, &rect, 18), ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, "Residency only: warp states "
                "(eligible, issued, stalled) are known where kernels are simulated from their program.");
    struct rect shared = ui_cut_bottom(ui, &rect, rect.h > ui_px(ui, 320) ? 84 : 64);
    for (int i = 0; i < subcores; i++) {
        struct rect part = {rect.x + rect.w * (i % across) / across, rect.y + rect.h * (i / across) / down, rect.w / across,
                            rect.h / down};
        draw_subcore(o, rect_inset(part, ui_px(ui, 3)), i);
    }
    draw_shared(o, rect_inset(shared, ui_px(ui, 3)));
}

void smview_draw(struct view *view, struct rect rect, int index)
{
    struct rect old = canvas_clip_to(&view->canvas, rect);
    canvas_fill(&view->canvas, rect, view->ui.theme->page);
    if (view->sm < 0 || view->sm >= view->runs[index]->sms)
        view_show_sm(view, 0);
    struct opened opened = {view, view->runs[index], index, view->sm_states[index], view_colouring(view, index)};
    if (opened.state)
        sm_state_seek(view->sm_states[index], view_now(view));
    rect = rect_inset(rect, ui_px(&view->ui, 6));
    draw_title(&opened, ui_cut_top(&view->ui, &rect, 28));
    bool low = rect.h < ui_px(&view->ui, opened.state ? 560 : 200);
    int rows = (opened.run->slots + 1) / 2;
    double slots_height = opened.run->slots > 8 ? 20.0 * ((opened.run->slots + 3) / 4) + 40 : 26.0 * rows + 40;
    if (!low) /* the blocks' shared memory and warps say as much */
        draw_slots(&opened, rect_inset(ui_cut_bottom(&view->ui, &rect, fmin(slots_height, 220)), ui_px(&view->ui, 3)));
    if (opened.state)
        draw_inside(&opened, rect);
    else
        draw_unknown(&opened, rect_inset(rect, ui_px(&view->ui, 3)));
    canvas_set_clip(&view->canvas, old);
}
