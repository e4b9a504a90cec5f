/* Why is this block not running? Where it stands in its queue and what the SMs lack at this moment, by the run's own blocks; and,
 * where the run is a simulation, the distributor's own answer (observe/why.h), in the words of `wavetail run --why`. */
#include <math.h>
#include <stdio.h>

#include "core/mem.h"
#include "observe/words.h"
#include "origin.h"
#include "panels.h"

enum { ASKED_AT_ONCE = 300000 /* blocks; of more, a button asks */ };

void asked_clear(struct asked *asked)
{
    wt_why_free(asked->why);
    for (int i = 0; i < WT_MAX_SMS; i++)
        sm_state_free(asked->sms[i]);
    *asked = (struct asked){.pick = {0, NO_SPAN}};
}

/* ---- What the SMs lack ---- */

static void say_shortages(struct view *view, struct rect *rect, const struct run *run, size_t launch, wt_time t)
{
    struct asked *asked = &view->asked;
    struct wt_sm *models[WT_MAX_SMS];
    struct wt_refusal_kind kinds[WT_REFUSAL_KINDS];
    char text[256];
    if (asked->run != run)
        asked_clear(asked);
    asked->run = run;
    for (int sm = 0; sm < run->sms; sm++) {
        if (!asked->sms[sm])
            asked->sms[sm] = sm_state_new(run, sm);
        sm_state_seek(asked->sms[sm], t);
        models[sm] = asked->sms[sm]->model;
    }
    int count = wt_sm_refusal_kinds(models, run->sms, &run->launches[launch].shape, kinds), with_room = run->sms;
    for (int i = 0; i < count; i++) {
        wt_why_describe_kind(&kinds[i], text, sizeof text);
        panel_words(view, rect, true, "%s", text);
        with_room -= kinds[i].sms;
    }
    if (with_room > 0)
        panel_words(view, rect, true, "%d SM%s: room for it; what was freed there is on its way to the distributor, or the block on "
                    "its way to the SM", with_room, with_room == 1 ? "" : "s");
}

static void say_now(struct view *view, struct rect *rect, const struct run *run, size_t launch, wt_time t)
{
    panel_heading(view, rect, "What the SMs lack now");
    if (run->shapes_known) {
        say_shortages(view, rect, run, launch, t);
        return;
    }
    const struct wt_timeline_launch *about = &run->timeline->launches[launch];
    double resident = (double)density_resident(&run->blocks, t);
    panel_words(view, rect, true, "%.0f blocks are resident on %d SMs%s.", resident, run->sms,
                about->blocks_per_sm > 0 && resident >= (double)about->blocks_per_sm * run->sms ? ": every SM is full" : "");
    panel_words(view, rect, false, "Which resource is short is not known: this file does not tell registers and shared memory.");
}

/* ---- Where it stands ---- */

static bool earlier_launch_runs(const struct run *run, size_t launch, wt_time t)
{
    for (size_t i = 0; i < launch; i++)
        if (run->timeline->launches[i].stream == run->timeline->launches[launch].stream && run->metrics->launches[i].end > t)
            return true;
    return false;
}

static void say_waiting(struct view *view, struct rect *rect, const struct run *run, uint32_t index)
{
    const struct wt_block_run *span = run_span(run, index);
    char count[WT_WORDS], text[64];
    wt_time now = view_now(view);
    panel_fact(view, rect, "starts in", "%s", view_time_text(view, wt_to_cycles(span->start) - view->playback.now, text));
    if (earlier_launch_runs(run, span->launch, now)) {
        panel_words(view, rect, true, "Its kernel has not begun: a kernel before it in the same stream still has blocks that run or "
                    "wait. Kernels of one stream run one after another.");
        return;
    }
    if (run->timeline->launches[span->launch].tasks) {
        panel_words(view, rect, true, "The blocks of a persistent kernel take its tasks: this one waits until the block that takes it has "
                    "ended the task before it.");
        return;
    }
    size_t before = run_queue_place(run, now, index);
    panel_fact(view, rect, "before it", "%s in the queue", wt_words_count(count, before));
    if (before > 0)
        panel_words(view, rect, true, "Blocks leave the queue in order, so all those before it must find room first.");
    say_now(view, rect, run, span->launch, now);
}

/* ---- What the simulation did ---- */

struct telling {
    struct view *view;
    struct rect *rect;
    double begin; /* cycles: the answer counts from the first block's start, the run from here */
};

static void say_line(void *context, const struct wt_why_line *line)
{
    const struct telling *t = context;
    struct ui *ui = &t->view->ui;
    char time[64];
    if (line->kind == WT_WHY_HEADING)
        return;
    struct rect words = *t->rect, left = ui_cut_left(ui, &words, 78);
    ui_cut_left(ui, &words, 8);
    if (line->kind == WT_WHY_STEP) {
        view_time_text(t->view, fmax(line->at + t->begin, 0), time);
        time[view_without_unit(time, time)] = '\0';
        ui_text(ui, (struct rect){left.x, left.y, left.w, ui_line_height(ui, TEXT_SMALL)}, ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL,
                ui->theme->soft, time);
    }
    int used = ui_paragraph(ui, words, FONT_PLAIN, TEXT_SMALL, line->kind == WT_WHY_STEP ? ui->theme->ink : ui->theme->soft,
                            line->text);
    ui_cut_top(ui, t->rect, used / ui->scale + 3);
}

static void ask(struct view *view, struct pick pick)
{
    struct asked *asked = &view->asked;
    const struct run *run = view->runs[pick.run];
    const struct wt_block_run *span = run_span(run, pick.span);
    struct wt_why_question question = {.launch = span->launch, .block = span->block};
    struct wt_error err = {0};
    wt_why_free(asked->why);
    asked->pick = pick;
    asked->problem[0] = '\0';
    if (origin_ask(run->origin, &question, &asked->why, &err) != WT_OK)
        snprintf(asked->problem, sizeof asked->problem, "%.250s", err.text);
}

static void say_story(struct view *view, struct rect *rect, struct pick pick)
{
    struct asked *asked = &view->asked;
    const struct run *run = view->runs[pick.run];
    if (!origin_can_tell(run->origin))
        return;
    bool known = asked->pick.run == pick.run && asked->pick.span == pick.span;
    bool free_to_ask = !view->playback.playing && run->timeline->span_count <= ASKED_AT_ONCE;
    panel_heading(view, rect, "What the distributor did");
    if (!known) {
        static const char *const button[] = {"Ask the simulation"};
        if (free_to_ask || panel_choice(view, rect, button, 1, -1) == 0)
            ask(view, pick);
        else
            return;
    }
    if (asked->problem[0])
        panel_words(view, rect, true, "%s", asked->problem);
    if (!asked->why)
        return;
    struct telling telling = {view, rect, wt_to_cycles(run->begin)};
    wt_why_tell(asked->why, run->timeline, say_line, &telling);
}

/* ---- The panel ---- */

/* The first block that waits, where none is chosen. */
static struct pick subject(const struct view *view)
{
    struct pick pick = panel_subject(view);
    uint32_t next;
    if (pick.span == NO_SPAN && run_queue(view_run(view), view_now(view), &next, 1) == 1)
        pick = (struct pick){view->shown, next};
    return pick;
}

void panel_why(struct view *view, struct rect rect)
{
    struct pick pick = subject(view);
    char text[96];
    if (pick.span == NO_SPAN) {
        panel_heading(view, &rect, "Why is this block not running?");
        panel_words(view, &rect, true, "%s", view_run(view)->timeline->stuck ? view_run(view)->timeline->stuck
                                                                       : "No block waits any more: the queue is empty.");
        return;
    }
    const struct run *run = view->runs[pick.run];
    const struct wt_block_run *span = run_span(run, pick.span);
    bool task = run->timeline->launches[span->launch].tasks > 0;
    snprintf(text, sizeof text, "Why is %s %llu not running?", task ? "task" : "block", (unsigned long long)run_number(run, pick.span));
    panel_heading(view, &rect, text);
    panel_fact(view, &rect, "now", "%s", view_time_text(view, view->playback.now, text));
    if (span->start > view_now(view))
        say_waiting(view, &rect, run, pick.span);
    else if (span->end > view_now(view))
        panel_words(view, &rect, true, "It is running, on SM %d.", span->sm);
    else
        panel_words(view, &rect, true, "It has ended, on SM %d, %s ago.", span->sm,
                    view_time_text(view, view->playback.now - wt_to_cycles(span->end), text));
    if (!task && (view->hover.span == NO_SPAN || view->hover.span == view->pinned.span))
        say_story(view, &rect, pick);
    ui_cut_top(&view->ui, &rect, 4);
    panel_words(view, &rect, false, "Pin a block, in the queue or on the timeline, to ask about it; without one, the next in the "
                "queue is meant.");
}
