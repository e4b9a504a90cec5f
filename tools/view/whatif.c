/* What if: other launch settings, simulated at once; the run before stays as a ghost to compare with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "panels.h"

static const struct scenario_kernel *first_kernel(const struct view *view)
{
    return &view->scenario->kernels[0];
}

static void fill_fields(struct view *view)
{
    struct whatif *w = &view->whatif;
    const struct wt_launch_needs *needs = &first_kernel(view)->needs;
    w->changes = changes_none();
    w->gpu_index = -1;
    snprintf(w->block, sizeof w->block, "%d", needs->threads);
    snprintf(w->registers, sizeof w->registers, "%d", needs->registers_per_thread);
    snprintf(w->shared, sizeof w->shared, "%d", needs->dynamic_shared_bytes);
}

void whatif_open(struct view *view)
{
    struct wt_error err = {0};
    if (!view->scenario || view->whatif.gpus)
        return;
    fill_fields(view);
    wt_gpu_list(false, &view->whatif.gpus, &view->whatif.gpu_count, &err);
}

void whatif_clear(struct whatif *w)
{
    for (size_t i = 0; i < w->gpu_count; i++)
        free(w->gpus[i]);
    free(w->gpus);
    *w = (struct whatif){0};
}

/* ---- Simulating ---- */

static bool read_field(const char *text, const char *name, int low, int high, int *value, char *problem, size_t size)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < low || number > high) {
        snprintf(problem, size, "%s: '%s' is not a whole number from %d to %d", name, text, low, high);
        return false;
    }
    *value = (int)number;
    return true;
}

/* What is left as the first kernel has it stays as each kernel has it. */
static void keep_unchanged(struct changes *c, const struct wt_launch_needs *own)
{
    c->threads = c->threads == own->threads ? -1 : c->threads;
    c->registers = c->registers == own->registers_per_thread ? -1 : c->registers;
    c->dynamic_shared = c->dynamic_shared == own->dynamic_shared_bytes ? -1 : c->dynamic_shared;
}

static bool read_changes(struct view *view)
{
    struct whatif *w = &view->whatif;
    struct changes *c = &w->changes;
    w->problem[0] = '\0';
    c->gpu = w->gpu_index >= 0 ? w->gpus[w->gpu_index] : NULL;
    bool read = read_field(w->block, "block size", 1, 1024, &c->threads, w->problem, sizeof w->problem) &&
                read_field(w->registers, "registers", 0, 255, &c->registers, w->problem, sizeof w->problem) &&
                read_field(w->shared, "shared memory", 0, 1 << 20, &c->dynamic_shared, w->problem, sizeof w->problem);
    keep_unchanged(c, &first_kernel(view)->needs);
    return read;
}

/* The ghost is the run with nothing changed, so that what is compared is the change alone. */
static bool make_ghost(struct view *view, struct wt_error *err)
{
    struct changes none = changes_none();
    struct run *before;
    if (view->whatif.ran)
        return true;
    if (scenario_simulate(view->scenario, &none, "before", &before, err) != WT_OK)
        return false;
    view_replace_run(view, 0, before);
    return true;
}

static double speed_up(const struct view *view)
{
    return wt_to_cycles(view->runs[0]->whole) / wt_to_cycles(view->runs[1]->whole);
}

static void simulate(struct view *view)
{
    struct whatif *w = &view->whatif;
    struct wt_error err = {0};
    struct run *after;
    if (!read_changes(view))
        return;
    if (scenario_simulate(view->scenario, &w->changes, "what if", &after, &err) != WT_OK || !make_ghost(view, &err)) {
        snprintf(w->problem, sizeof w->problem, "%.250s", err.text);
        return;
    }
    lesson_clear(&view->lesson); /* its cases are these runs no more */
    captions_clear(&view->captions);
    view_replace_run(view, 1, after);
    w->ran = true;
    view->shown = 1;
    view->compare = view->compare == COMPARE_OFF ? COMPARE_SIDE : view->compare;
    view_say(view, "Simulated again: %.2f times as fast", speed_up(view));
}

/* ---- The panel ---- */

static bool number_row(struct view *view, struct rect *rect, const char *name, char *text, size_t size, int least, int step)
{
    struct ui *ui = &view->ui;
    struct rect line = ui_cut_top(ui, rect, 30);
    ui_text(ui, ui_cut_left(ui, &line, 118), ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, name);
    line.h -= ui_px(ui, 4);
    struct rect more = ui_cut_right(ui, &line, 26), less = ui_cut_right(ui, &line, 30);
    less.w -= ui_px(ui, 4);
    int value = atoi(text), by = ui_button(ui, more, "+", false, NULL) - ui_button(ui, less, "−", false, NULL);
    line.w -= ui_px(ui, 4);
    if (by != 0)
        snprintf(text, size, "%d", value + by * step < least ? least : value + by * step);
    return ui_field(ui, line, text, size, "") || by != 0;
}

static bool gpu_row(struct view *view, struct rect *rect)
{
    struct whatif *w = &view->whatif;
    struct ui *ui = &view->ui;
    struct rect line = ui_cut_top(ui, rect, 30);
    ui_text(ui, ui_cut_left(ui, &line, 118), ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, "GPU");
    line.h -= ui_px(ui, 4);
    struct rect more = ui_cut_right(ui, &line, 26), less = ui_cut_right(ui, &line, 30);
    less.w -= ui_px(ui, 4);
    int by = ui_button(ui, more, "▸", false, "next GPU") - ui_button(ui, less, "◂", false, "previous GPU");
    int last = (int)w->gpu_count - 1;
    w->gpu_index = w->gpu_index + by < -1 ? last : w->gpu_index + by > last ? -1 : w->gpu_index + by;
    const char *own = strrchr(view->scenario->gpu, '/'), *name = own ? own + 1 : view->scenario->gpu;
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(name, "."), name);
    ui_text(ui, line, ALIGN_MIDDLE, FONT_PLAIN, TEXT_BODY, ui->theme->ink, w->gpu_index < 0 ? text : w->gpus[w->gpu_index]);
    return by != 0;
}

static bool order_row(struct view *view, struct rect *rect)
{
    ui_text(&view->ui, ui_cut_top(&view->ui, rect, 20), ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, view->ui.theme->soft,
            "order of the blocks");
    int clicked = panel_choice(view, rect, order_names, ORDERS, (int)view->whatif.changes.order);
    if (clicked >= 0)
        view->whatif.changes.order = (enum block_order)clicked;
    return clicked >= 0;
}

static void report(struct view *view, struct rect *rect)
{
    char a[64], b[64];
    const struct run *before = view->runs[0], *after = view->runs[1];
    if (!view->whatif.ran)
        return;
    const struct wt_metrics_part *old = &before->metrics->whole, *new = &after->metrics->whole;
    panel_heading(view, rect, "Before → now");
    view_time_text(view, wt_to_cycles(before->whole), a);
    view_time_text(view, wt_to_cycles(after->whole), b);
    int length = view_without_unit(a, b);
    panel_fact(view, rect, "makespan", "%.*s → %s", length, a, b);
    panel_fact(view, rect, "speed-up", "%.3f", speed_up(view));
    panel_fact(view, rect, "blocks per SM", "%d → %d", old->blocks_per_sm, new->blocks_per_sm);
    panel_fact(view, rect, "occupancy", "%.0f %% → %.0f %%", 100 * old->occupancy_elapsed, 100 * new->occupancy_elapsed);
    panel_fact(view, rect, "tail", "%.1f %% → %.1f %%", 100 * old->tail.fraction, 100 * new->tail.fraction);
    panel_fact(view, rect, "waves", "%.2f → %.2f", old->waves, new->waves);
}

static void show_settings(struct view *view, struct rect *rect)
{
    static const char *const buttons[] = {"Simulate", "Reset"};
    struct whatif *w = &view->whatif;
    bool changed = number_row(view, rect, "threads of a block", w->block, sizeof w->block, 32, 32);
    changed |= number_row(view, rect, "registers a thread", w->registers, sizeof w->registers, 0, 8);
    changed |= number_row(view, rect, "dynamic shared (B)", w->shared, sizeof w->shared, 0, 4096);
    changed |= gpu_row(view, rect);
    if (!view->scenario->programs)
        changed |= order_row(view, rect);
    ui_cut_top(&view->ui, rect, 8);
    int clicked = panel_choice(view, rect, buttons, 2, 0);
    if (clicked == 1)
        fill_fields(view);
    if (clicked >= 0 || changed)
        simulate(view);
}

void panel_whatif(struct view *view, struct rect rect)
{
    panel_heading(view, &rect, "What if …");
    if (!view->scenario) {
        panel_words(view, &rect, true, "This run cannot be simulated again: blocks of the grid are missing, or the file does not tell "
                    "the threads of a block.");
        return;
    }
    whatif_open(view);
    show_settings(view, &rect);
    if (view->whatif.problem[0])
        panel_words(view, &rect, true, "%s", view->whatif.problem);
    report(view, &rect);
    if (!first_kernel(view)->needs_known)
        panel_words(view, &rect, false, "Result files do not tell registers and shared memory: both are taken as 0 until you set them.");
    if (view->scenario->programs)
        panel_words(view, &rect, false, "What you change holds for all kernels; their warps' instructions are simulated anew, so a "
                    "change shows in their durations, too.");
    else
        panel_words(view, &rect, false, "What you change holds for all kernels. A block lasts as long as it did, whatever runs beside it; "
                    "with another block size each thread's work stays the same. `wavetail whatif` models what blocks share.");
}
