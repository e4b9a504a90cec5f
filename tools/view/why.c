/* Why is this block not running? What the run itself tells: where the block stands in its queue, whether an SM has
 * room for it at this moment, and what the fullest and the emptiest SM lack. */
#include <stdio.h>

#include "observe/words.h"
#include "panels.h"

/* ---- Which SM could take it ---- */

struct room {
    int with_room;               /* SMs that would admit the block now */
    int first_sm;                /* one of them */
    int refusals[WT_RES_COUNT][WT_SHORT_CARVEOUT + 1]; /* SMs by what they lack */
    struct wt_refusal example;   /* of the most frequent reason */
};

static bool lacks(const struct sm_state *state, const struct wt_shape *shape, struct wt_refusal *refusal)
{
    return wt_sm_refusal(state->model, shape, refusal);
}

static struct room look_at_sms(const struct run *run, size_t launch, wt_time t)
{
    struct room room = {.first_sm = -1};
    int most = 0;
    for (int sm = 0; sm < run->sms; sm++) {
        struct wt_refusal refusal;
        struct sm_state *state = sm_state_new(run, sm);
        sm_state_seek(state, t);
        if (!lacks(state, &run->launches[launch].shape, &refusal)) {
            room.first_sm = room.with_room++ ? room.first_sm : sm;
        } else if (++room.refusals[refusal.resource][refusal.shortage] > most) {
            most = room.refusals[refusal.resource][refusal.shortage];
            room.example = refusal;
        }
        sm_state_free(state);
    }
    return room;
}

static void say_refusal(struct view *view, struct rect *rect, const struct run *run, const struct room *room)
{
    const struct wt_refusal *r = &room->example;
    char wanted[WT_WORDS], available[WT_WORDS], name[32];
    snprintf(name, sizeof name, "%s", r->resource == WT_RES_SHARED_MEMORY ? "bytes of shared memory" : wt_resource_name(r->resource));
    wt_words_count(wanted, (uint64_t)r->wanted);
    wt_words_count(available, (uint64_t)r->available);
    int sms = room->refusals[r->resource][r->shortage];
    switch (r->shortage) {
    case WT_SHORT_TOTAL:
        panel_words(view, rect, true, "%d of %d SMs lack %s: the block needs %s, there are %s.", sms, run->sms, name, wanted,
                    available);
        break;
    case WT_SHORT_FRAGMENTED:
        panel_words(view, rect, true, "%d of %d SMs have enough shared memory, but not in one piece: the block needs %s bytes, the "
                    "largest hole has %s.", sms, run->sms, wanted, available);
        break;
    case WT_SHORT_SUBCORE:
        panel_words(view, rect, true, "%d of %d SMs have enough %s in total, but not in the sub-core where the block would begin: its "
                    "share there is %s, there are %s.", sms, run->sms, name, wanted, available);
        break;
    case WT_SHORT_CARVEOUT:
        panel_words(view, rect, true, "%d of %d SMs are configured for less shared memory than this kernel's %s bytes; an SM changes "
                    "that only when it is empty.", sms, run->sms, wanted);
        break;
    }
}

static void say_room(struct view *view, struct rect *rect, const struct run *run, size_t launch, wt_time t)
{
    if (!run->shapes_known) {
        const struct wt_timeline_launch *about = &run->timeline->launches[launch];
        double resident = (double)density_resident(&run->blocks, t);
        panel_words(view, rect, true, "%.0f blocks are resident on %d SMs%s.", resident, run->sms,
                    about->blocks_per_sm > 0 && resident >= (double)about->blocks_per_sm * run->sms
                        ? ": every SM is full" : "");
        panel_words(view, rect, false, "Which resource is short is not known: this file does not tell registers and shared memory.");
        return;
    }
    struct room room = look_at_sms(run, launch, t);
    if (room.with_room < run->sms)
        say_refusal(view, rect, run, &room);
    if (room.with_room > 0)
        panel_words(view, rect, true, "%d SMs have room, SM %d for one; what is freed there is on its way to the distributor, or "
                    "the block on its way to the SM.", room.with_room, room.first_sm);
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
    size_t before = index - density_started(&run->blocks, now);
    panel_fact(view, rect, "before it", "%s in the queue", wt_words_count(count, before));
    if (before > 0)
        panel_words(view, rect, true, "Blocks leave the queue in order, so all those before it must find room first.");
    say_room(view, rect, run, span->launch, now);
}

/* The first block that waits, where none is chosen. */
static struct pick subject(const struct view *view)
{
    struct pick pick = panel_subject(view);
    size_t next = density_started(&view_run(view)->blocks, view_now(view));
    if (pick.span == NO_SPAN && next < view_run(view)->timeline->span_count)
        pick = (struct pick){view->shown, (uint32_t)next};
    return pick;
}

void panel_why(struct view *view, struct rect rect)
{
    struct pick pick = subject(view);
    char text[96];
    if (pick.span == NO_SPAN) {
        panel_heading(view, &rect, "Why is this block not running?");
        panel_words(view, &rect, true, "No block waits any more: the queue is empty.");
        return;
    }
    const struct run *run = view->runs[pick.run];
    const struct wt_block_run *span = run_span(run, pick.span);
    snprintf(text, sizeof text, "Why is block %llu not running?", (unsigned long long)span->block);
    panel_heading(view, &rect, text);
    panel_fact(view, &rect, "now", "%s", view_time_text(view, view->playback.now, text));
    if (span->start > view_now(view))
        say_waiting(view, &rect, run, pick.span);
    else if (span->end > view_now(view))
        panel_words(view, &rect, true, "It is running, on SM %d.", span->sm);
    else
        panel_words(view, &rect, true, "It has ended, on SM %d, %s ago.", span->sm,
                    view_time_text(view, view->playback.now - wt_to_cycles(span->end), text));
    panel_words(view, &rect, false, "Pin a block, in the queue or on the timeline, to ask about it; without one, the next in the "
                "queue is meant.");
}
