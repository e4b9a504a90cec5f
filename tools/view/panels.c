/* The panel at the right: its tabs, the facts of a block or of the run, the figures of a range. */
#include "panels.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "observe/words.h"

static const struct {
    const char *label;
    enum action action;
    void (*draw)(struct view *view, struct rect rect);
} tabs[PANELS] = {[PANEL_FACTS] = {"Facts", ACTION_facts, panel_facts},
                  [PANEL_RANGE] = {"Range", ACTION_range, panel_range},
                  [PANEL_SEARCH] = {"Search", ACTION_search, panel_search},
                  [PANEL_WHY] = {"Why?", ACTION_why, panel_why},
                  [PANEL_WHATIF] = {"What if", ACTION_whatif, panel_whatif}};

/* ---- Lines ---- */

void panel_heading(struct view *view, struct rect *rect, const char *text)
{
    ui_cut_top(&view->ui, rect, 8);
    struct rect line = ui_cut_top(&view->ui, rect, 20);
    if (line.h >= ui_px(&view->ui, 20))
        ui_text(&view->ui, line, ALIGN_LEFT, FONT_BOLD, TEXT_BODY, view->ui.theme->ink, text);
}

void panel_fact(struct view *view, struct rect *rect, const char *name, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    struct rect line = ui_cut_top(&view->ui, rect, 18);
    struct rect left = ui_cut_left(&view->ui, &line, 108);
    if (line.h < ui_px(&view->ui, 18))
        return;
    ui_text(&view->ui, left, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, view->ui.theme->soft, name);
    ui_text(&view->ui, line, ALIGN_RIGHT, FONT_PLAIN, TEXT_BODY, view->ui.theme->ink, text);
}

void panel_words(struct view *view, struct rect *rect, bool strong, const char *format, ...)
{
    char text[1200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    int used = ui_paragraph(&view->ui, *rect, FONT_PLAIN, strong ? TEXT_BODY : TEXT_SMALL,
                            strong ? view->ui.theme->ink : view->ui.theme->soft, text);
    ui_cut_top(&view->ui, rect, used / view->ui.scale + 6);
}

int panel_choice(struct view *view, struct rect *rect, const char *const *labels, int count, int on)
{
    struct rect line = ui_cut_top(&view->ui, rect, 26);
    int clicked = -1, gap = ui_px(&view->ui, 3);
    for (int i = 0; i < count; i++) {
        int x0 = line.x + line.w * i / count, x1 = line.x + line.w * (i + 1) / count;
        if (ui_button(&view->ui, (struct rect){x0, line.y, x1 - x0 - gap, line.h - gap}, labels[i], i == on, NULL))
            clicked = i;
    }
    return clicked;
}

struct pick panel_subject(const struct view *view)
{
    return view->hover.span != NO_SPAN ? view->hover : view->pinned;
}

/* "shared memory" */
static const char *resource_words(enum wt_resource resource)
{
    return resource == WT_RES_SHARED_MEMORY ? "shared memory" : resource == WT_RES_BLOCKS ? "block slots" : wt_resource_name(resource);
}

/* ---- Facts of a block ---- */

/* The block before it in its slot left at …: how long the slot was free. */
static bool slot_gap(const struct run *run, uint32_t index, double *cycles)
{
    const struct wt_block_run *span = run_span(run, index);
    int lane = run_lane(run, span->sm, span->slot);
    uint32_t at = run_lane_from(run, lane, span->start);
    while (at > run->lane_first[lane] && (at == run->lane_first[lane + 1] || run->lane_spans[at] != index))
        at--;
    if (at == run->lane_first[lane])
        return false;
    *cycles = wt_to_cycles(span->start) - wt_to_cycles(run_span(run, run->lane_spans[at - 1])->end);
    return true;
}

static void facts_of_needs(struct view *view, struct rect *rect, const struct run *run, size_t launch)
{
    const struct run_launch *known = &run->launches[launch];
    const struct wt_timeline_launch *about = &run->timeline->launches[launch];
    if (about->threads_per_block > 0)
        panel_fact(view, rect, "threads, warps", "%d, %d", about->threads_per_block, about->warps_per_block);
    if (about->blocks_per_sm > 0)
        panel_fact(view, rect, "blocks per SM", "%d at most", about->blocks_per_sm);
    if (!known->needs_known)
        return;
    panel_fact(view, rect, "registers", "%d a thread", about->needs.registers_per_thread);
    int shared = about->needs.static_shared_bytes + about->needs.dynamic_shared_bytes;
    panel_fact(view, rect, "shared memory", shared ? "%.1f KB" : "none", shared / 1024.0);
    if (run_limiter(run, launch) != WT_RES_COUNT)
        panel_fact(view, rect, "limited by", "%s", resource_words(run_limiter(run, launch)));
}

static void compare_block(struct view *view, struct rect *rect, struct pick pick)
{
    const struct run *other = view_other_of(view, pick.run);
    char text[64];
    double cycles;
    if (!other || !start_difference(view->runs[pick.run], other, pick.span, &cycles))
        return;
    const struct wt_block_run *span = run_span(view->runs[pick.run], pick.span);
    const struct wt_block_run *match = run_span(other, run_find_block(other, span->launch, span->block));
    panel_heading(view, rect, "The same block in the other run");
    panel_fact(view, rect, other->label, "SM %d, slot %d", match->sm, match->slot);
    panel_fact(view, rect, "starts there", "%s", view_time_text(view, wt_to_cycles(match->start), text));
    panel_fact(view, rect, "here", "%s %s", view_time_text(view, fabs(cycles), text), cycles < 0 ? "earlier" : "later");
}

static void facts_of_block(struct view *view, struct rect rect, struct pick pick)
{
    const struct run *run = view->runs[pick.run];
    const struct wt_block_run *span = run_span(run, pick.span);
    const struct wt_timeline_launch *about = &run->timeline->launches[span->launch];
    double length = wt_to_cycles(span->end - span->start), gap;
    char text[64];
    bool pinned = view->pinned.span == pick.span && view->pinned.run == pick.run;
    if (about->tasks)
        snprintf(text, sizeof text, "Task %llu of block %llu%s", (unsigned long long)span->task, (unsigned long long)span->block,
                 pinned ? "  (pinned)" : "");
    else
        snprintf(text, sizeof text, "Block %llu%s", (unsigned long long)span->block, pinned ? "  (pinned)" : "");
    panel_heading(view, &rect, text);
    panel_fact(view, &rect, "kernel", "%s", about->name);
    panel_fact(view, &rect, "place", "SM %d, slot %d, GPC %d", span->sm, span->slot, run->timeline->gpc_of_sm[span->sm]);
    panel_fact(view, &rect, "starts", "%s", view_time_text(view, wt_to_cycles(span->start), text));
    if (wt_timeline_never_ends(run->timeline, span)) {
        panel_fact(view, &rect, "ends", "never");
    } else {
        panel_fact(view, &rect, "ends", "%s", view_time_text(view, wt_to_cycles(span->end), text));
        panel_fact(view, &rect, "lasts", "%s", view_time_text(view, length, text));
        panel_fact(view, &rect, "longer than", "%.0f %% of all", 100 * run_duration_rank(run, span->end - span->start));
    }
    if (slot_gap(run, pick.span, &gap))
        panel_fact(view, &rect, "slot was free", "%s", view_time_text(view, fmax(gap, 0), text));
    else
        panel_fact(view, &rect, "slot was free", "from the beginning");
    uint64_t wave = (uint64_t)about->blocks_per_sm * (uint64_t)run->sms;
    if (wave > 0)
        panel_fact(view, &rect, "wave", "%llu", (unsigned long long)(span->block / wave + 1));
    if (span->start >= about->queue_empty)
        panel_fact(view, &rect, "", "the last to be handed out");
    facts_of_needs(view, &rect, run, span->launch);
    compare_block(view, &rect, pick);
}

/* ---- Facts of the run ---- */

/* Name, and a value for each run side by side. */
struct figures {
    const struct run *runs[2];
    int count;
};

typedef void figure_text(const struct view *view, const struct run *run, char text[64]);

static void write_label(const struct view *view, const struct run *run, char text[64])
{
    (void)view;
    snprintf(text, 64, "%.60s", run->label);
}

static void write_blocks(const struct view *view, const struct run *run, char text[64])
{
    (void)view;
    wt_words_count(text, run->metrics->whole.blocks);
}

static void write_makespan(const struct view *view, const struct run *run, char text[64])
{
    view_time_text(view, wt_to_cycles(run_makespan(run)), text);
}

static void write_waves(const struct view *view, const struct run *run, char text[64])
{
    (void)view;
    if (!isnan(run->metrics->whole.waves))
        snprintf(text, 64, "%.2f", run->metrics->whole.waves);
}

static void write_occupancy(const struct view *view, const struct run *run, char text[64])
{
    (void)view;
    if (!isnan(run->metrics->whole.occupancy_elapsed))
        snprintf(text, 64, "%.0f %%", 100 * run->metrics->whole.occupancy_elapsed);
}

static void write_busy(const struct view *view, const struct run *run, char text[64])
{
    (void)view;
    snprintf(text, 64, "%.1f %%", 100 * run->metrics->whole.busy.mean);
}

static void write_tail(const struct view *view, const struct run *run, char text[64])
{
    if (wt_metrics_has_tail(run->metrics))
        view_time_text(view, wt_to_cycles(run->metrics->whole.tail.length), text);
    else
        snprintf(text, 64, "none: one wave");
}

static void write_tail_share(const struct view *view, const struct run *run, char text[64])
{
    (void)view;
    if (wt_metrics_has_tail(run->metrics))
        snprintf(text, 64, "%.1f %%", 100 * run->metrics->whole.tail.fraction);
}

static void write_tail_idle(const struct view *view, const struct run *run, char text[64])
{
    (void)view;
    snprintf(text, 64, "%.0f %% of SM time", 100 * run->metrics->whole.tail.sm_idle);
}

/* A deadlock has no makespan, nor what follows from it. */
static void figure_row(struct view *view, struct rect *rect, const struct figures *figures, const char *name, figure_text *write)
{
    struct ui *ui = &view->ui;
    struct rect line = ui_cut_top(ui, rect, 18), left = ui_cut_left(ui, &line, 84);
    if (line.h < ui_px(ui, 18))
        return;
    ui_text(ui, left, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, name);
    for (int i = 0; i < figures->count; i++) {
        char text[64] = "–";
        if (!figures->runs[i]->timeline->stuck || write == write_label || write == write_blocks)
            write(view, figures->runs[i], text);
        struct rect part = {line.x + line.w * i / figures->count, line.y, line.w / figures->count - ui_px(ui, 2), line.h};
        ui_text(ui, part, ALIGN_RIGHT, FONT_PLAIN, figures->count > 1 ? TEXT_SMALL : TEXT_BODY, ui->theme->ink, text);
    }
}

static const struct {
    const char *name;
    figure_text *write;
} run_figures[] = {{"blocks", write_blocks},          {"makespan", write_makespan},       {"waves", write_waves},
                   {"occupancy", write_occupancy},    {"busy SMs", write_busy},           {"tail", write_tail},
                   {"of makespan", write_tail_share}, {"idle in it", write_tail_idle}};

static void differences(struct view *view, struct rect *rect)
{
    const struct run *run = view_run(view), *other = view_other(view);
    char text[64];
    double mine = wt_to_cycles(run_makespan(run)), its = wt_to_cycles(run_makespan(other));
    double share = mine > 0 ? 100 * (its - mine) / mine : 0;
    panel_heading(view, rect, "Difference");
    panel_fact(view, rect, "makespan", "%+.2f %%", fabs(share) < 0.005 ? 0 : share);
    panel_fact(view, rect, "starts, 95 %", "within %s", view_time_text(view, view->error_scale, text));
}

/* The launch that is there for most of [t0, t1), of equals the first. */
static size_t main_launch(const struct run *run, wt_time t0, wt_time t1)
{
    size_t best = 0;
    wt_time most = 0;
    for (size_t i = 0; i < run->timeline->launch_count; i++) {
        const struct wt_metrics_part *part = &run->metrics->launches[i];
        wt_time from = part->begin > t0 ? part->begin : t0, to = part->end < t1 ? part->end : t1;
        if (part->blocks > 0 && to > from && to - from > most) {
            most = to - from;
            best = i;
        }
    }
    return best;
}

static void facts_of_run(struct view *view, struct rect rect)
{
    const struct run *run = view_run(view);
    struct figures figures = {{run, view_other(view)}, view->run_count};
    char text[64];
    if (run->timeline->stuck) {
        panel_heading(view, &rect, "Deadlock");
        panel_words(view, &rect, true, "%s", strchr(run->timeline->stuck, ' ') + 1);
        return;
    }
    panel_heading(view, &rect, "The run");
    if (view->run_count > 1)
        figure_row(view, &rect, &figures, "", write_label);
    for (size_t i = 0; i < sizeof run_figures / sizeof *run_figures; i++)
        figure_row(view, &rect, &figures, run_figures[i].name, run_figures[i].write);
    panel_fact(view, &rect, "SMs", "%d", run->sms);
    if (view_other(view) && !view_other(view)->timeline->stuck)
        differences(view, &rect);
    size_t launch = main_launch(run, view_now(view), view_now(view) + 1);
    snprintf(text, sizeof text, "Kernel %zu of %zu", launch + 1, run->timeline->launch_count);
    panel_heading(view, &rect, run->timeline->launch_count > 1 ? text : "The kernel");
    panel_fact(view, &rect, "name", "%s", run->timeline->launches[launch].name[0] ? run->timeline->launches[launch].name : "–");
    facts_of_needs(view, &rect, run, launch);
    ui_cut_top(&view->ui, &rect, 8);
    panel_words(view, &rect, false, "Point at a block for its facts; a click pins it. Drag on the ruler to measure a range. "
                "? shows all keys.");
}

void panel_facts(struct view *view, struct rect rect)
{
    struct pick pick = panel_subject(view);
    if (pick.span != NO_SPAN)
        facts_of_block(view, rect, pick);
    else
        facts_of_run(view, rect);
}

/* ---- Figures of a range ---- */

static double busy_share(const struct run *run, wt_time t0, wt_time t1)
{
    /* idle pixels of 1/512 of the range: exact to that */
    enum { STEPS = 512 };
    long busy = 0;
    for (int sm = 0; sm < run->sms; sm++)
        for (int i = 0; i < STEPS; i++)
            busy += density_resident(&run->sm_density[sm], t0 + (wt_time)((double)(t1 - t0) * (i + 0.5) / STEPS)) > 0;
    return (double)busy / STEPS / run->sms;
}

static void range_of_run(struct view *view, struct rect *rect, const struct run *run, wt_time t0, wt_time t1)
{
    char count[WT_WORDS];
    size_t began = density_started(&run->blocks, t1) - (t0 ? density_started(&run->blocks, t0 - 1) : 0);
    size_t ended = density_ended(&run->blocks, t1) - (t0 ? density_ended(&run->blocks, t0 - 1) : 0);
    double mean = density_mean(&run->blocks, t0, t1), cycles = wt_to_cycles(t1 - t0);
    panel_heading(view, rect, run->label);
    panel_fact(view, rect, "blocks began", "%s", wt_words_count(count, began));
    panel_fact(view, rect, "blocks ended", "%s", wt_words_count(count, ended));
    panel_fact(view, rect, "handed out", "%.3f a cycle", (double)began / cycles);
    panel_fact(view, rect, "resident", "%.1f blocks", mean);
    panel_fact(view, rect, "", "%.2f an SM", mean / run->sms);
    if (run->timeline->warps_per_sm > 0)
        panel_fact(view, rect, "occupancy", "%.1f %%",
                   100 * run_mean_warps(run, t0, t1) / ((double)run->timeline->warps_per_sm * run->sms));
    panel_fact(view, rect, "busy SMs", "%.1f %%", 100 * busy_share(run, t0, t1));
}

static void limiter_report(struct view *view, struct rect *rect, const struct run *run, size_t launch)
{
    const struct run_launch *known = &run->launches[launch];
    panel_heading(view, rect, "What limits the blocks of an SM");
    if (run->timeline->launch_count > 1)
        panel_fact(view, rect, "kernel", "%s", run->timeline->launches[launch].name);
    if (!known->needs_known) {
        panel_words(view, rect, false, "This file does not tell registers and shared memory.");
        return;
    }
    for (int i = 0; i < WT_RES_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", resource_words((enum wt_resource)i), known->occupancy.limiter[i] ? " ◂" : "");
        if (known->occupancy.limits[i] >= WT_UNLIMITED)
            panel_fact(view, rect, name, "no limit");
        else
            panel_fact(view, rect, name, "%d", known->occupancy.limits[i]);
    }
}

void panel_range(struct view *view, struct rect rect)
{
    char text[64];
    double t0, t1;
    if (view_range(view, &t0, &t1)) {
        panel_heading(view, &rect, "Selected range");
        panel_fact(view, &rect, "from", "%s", view_time_text(view, t0, text));
        panel_fact(view, &rect, "to", "%s", view_time_text(view, t1, text));
        panel_fact(view, &rect, "lasts", "%s", view_time_text(view, t1 - t0, text));
    } else {
        panel_heading(view, &rect, "The whole run");
        panel_words(view, &rect, false, "Drag on the ruler, or set two markers (M), to measure a part of it.");
        t0 = 0;
        t1 = fmax(view->playback.end, 1);
    }
    range_of_run(view, &rect, view_run(view), wt_from_cycles(t0), wt_from_cycles(t1));
    limiter_report(view, &rect, view_run(view), main_launch(view_run(view), wt_from_cycles(t0), wt_from_cycles(t1)));
    if (view_other(view))
        range_of_run(view, &rect, view_other(view), wt_from_cycles(t0), wt_from_cycles(t1));
}

/* ---- The panel ---- */

void panels_draw(struct view *view, struct rect rect)
{
    struct ui *ui = &view->ui;
    struct rect old = canvas_clip_to(ui->canvas, rect);
    canvas_fill(ui->canvas, rect, ui->theme->surface);
    canvas_fill(ui->canvas, (struct rect){rect.x, rect.y, 1, rect.h}, ui->theme->edge);
    rect = rect_inset(rect, ui_px(ui, 10));
    struct rect line = ui_cut_top(ui, &rect, 26);
    for (int i = 0; i < PANELS; i++) {
        char tip[UI_TIP];
        int x0 = line.x + line.w * i / PANELS, x1 = line.x + line.w * (i + 1) / PANELS;
        struct rect tab = {x0, line.y, x1 - x0 - ui_px(ui, 3), line.h - ui_px(ui, 2)};
        if (ui_button(ui, tab, tabs[i].label, view->panel == (enum panel)i, action_tip(tabs[i].action, tip, sizeof tip)))
            view_set_panel(view, (enum panel)i);
    }
    tabs[view->panel].draw(view, rect);
    canvas_set_clip(ui->canvas, old);
}
