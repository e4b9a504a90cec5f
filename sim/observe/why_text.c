/* The answers of observe/why.h, in words and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "observe/why.h"

static const char *resource_words(enum wt_resource resource)
{
    static const char *const words[] = {[WT_RES_BLOCKS] = "block slots",
                                        [WT_RES_WARPS] = "warp slots",
                                        [WT_RES_REGISTERS] = "registers",
                                        [WT_RES_SHARED_MEMORY] = "bytes of shared memory",
                                        [WT_RES_BARRIERS] = "barriers"};
    return words[resource];
}

void wt_why_describe(const struct wt_refusal *refusal, char *text, size_t size)
{
    const char *what = resource_words(refusal->resource);
    switch (refusal->shortage) {
    case WT_SHORT_FRAGMENTED:
        snprintf(text, size, "%d %s wanted: they fit in total but not contiguously, the largest hole has %d", refusal->wanted,
                 what, refusal->available);
        return;
    case WT_SHORT_SUBCORE:
        snprintf(text, size, "%d %s wanted in sub-core %d: they fit in total but not in this sub-core, which has %d",
                 refusal->wanted, what, refusal->subcore, refusal->available);
        return;
    case WT_SHORT_CARVEOUT:
        snprintf(text, size, "a shared-memory configuration of %d KB wanted: it has %d KB, which changes only when it is empty",
                 refusal->wanted / 1024, refusal->available / 1024);
        return;
    case WT_SHORT_TOTAL:
        snprintf(text, size, "%d %s wanted, %d free", refusal->wanted, what, refusal->available);
        return;
    }
}

void wt_why_describe_kind(const struct wt_refusal_kind *kind, char *text, size_t size)
{
    char lacking[200];
    wt_why_describe(&kind->example, lacking, sizeof lacking);
    snprintf(text, size, "%d SM%s: %s%s", kind->sms, kind->sms == 1 ? "" : "s", lacking,
             kind->sms == 1 ? "" : " (on the first of them)");
}

/* ---- Line by line ---- */

struct telling {
    const struct wt_why *why;
    const struct wt_timeline *about;
    void (*line)(void *context, const struct wt_why_line *line);
    void *context;
};

static void say(const struct telling *t, int kind, double at, const char *format, ...) __attribute__((format(printf, 4, 5)));
static void say(const struct telling *t, int kind, double at, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    struct wt_why_line line = {.kind = kind, .at = at + t->why->shown_from, .text = text};
    t->line(t->context, &line);
}

static const struct wt_timeline_launch *launch_of(const struct telling *t, uint32_t launch)
{
    return &t->about->launches[launch + t->why->first_launch];
}

static void tell_reasons(const struct telling *t)
{
    char text[256];
    for (int i = 0; i < t->why->reason_count; i++) {
        wt_why_describe_kind(&t->why->reasons[i], text, sizeof text);
        say(t, WT_WHY_DETAIL, NAN, "%s", text);
    }
}

static void tell_wait(const struct telling *t)
{
    const struct wt_why *why = t->why;
    if (isnan(why->waited_from))
        return;
    if (why->cluster > 1)
        say(t, WT_WHY_STEP, why->waited_from, "no group of SMs had room for a cluster of %d blocks; %d SMs had room for one",
            why->cluster, why->sms_with_room);
    else
        say(t, WT_WHY_STEP, why->waited_from, "no SM had room for it");
    tell_reasons(t);
}

static void tell_arrival(const struct telling *t)
{
    const struct wt_why *why = t->why;
    if (why->behind < 0 || why->headed <= why->arrived) {
        say(t, WT_WHY_STEP, why->arrived, "its kernel reached the grid scheduler");
        return;
    }
    const struct wt_timeline_launch *behind = launch_of(t, (uint32_t)why->behind);
    say(t, WT_WHY_STEP, why->arrived, "its kernel reached the grid scheduler, behind launch %ld (%.200s)", behind->number,
        behind->name);
    say(t, WT_WHY_STEP, why->headed, "its kernel's turn");
}

static void tell_release(const struct telling *t)
{
    const struct wt_why *why = t->why;
    if (!why->freed)
        return;
    const struct wt_timeline_launch *launch = launch_of(t, why->freed_launch);
    say(t, WT_WHY_STEP, why->ended, "block %" PRIu64 " of launch %ld (%.200s) ended on SM %d", why->freed_block, launch->number,
        launch->name, why->sm);
    if (why->known > why->ready)
        say(t, WT_WHY_STEP, why->known, "the distributor knew; the report had waited %.0f cycles on its way",
            why->known - why->ready);
    else
        say(t, WT_WHY_STEP, why->known, "the distributor knew");
}

static void tell_handout(const struct telling *t)
{
    const struct wt_why *why = t->why;
    say(t, WT_WHY_STEP, why->visited, "handed out to SM %d", why->sm);
    if (why->start > why->earliest)
        say(t, WT_WHY_STEP, why->start, "started in slot %d; the TPC had been busy for %.0f cycles", why->slot,
            why->start - why->earliest);
    else
        say(t, WT_WHY_STEP, why->start, "started in slot %d", why->slot);
}

static void tell_block(const struct telling *t)
{
    const struct wt_why *why = t->why;
    const struct wt_timeline_launch *launch = launch_of(t, why->launch);
    if (!why->found) {
        say(t, WT_WHY_HEADING, NAN, "why block %" PRIu64 " of launch %ld (%.200s) did not start: it was never handed out",
            why->block, launch->number, launch->name);
        tell_wait(t);
        return;
    }
    say(t, WT_WHY_HEADING, NAN, "why block %" PRIu64 " of launch %ld (%.200s) did not start before cycle %.0f:", why->block,
        launch->number, launch->name, why->start + why->shown_from);
    tell_arrival(t);
    if (!isnan(why->previous))
        say(t, WT_WHY_STEP, why->previous, "block %" PRIu64 ", which goes before it, was handed out", why->block - 1);
    tell_wait(t);
    tell_release(t);
    tell_handout(t);
}

static void tell_moment(const struct telling *t)
{
    const struct wt_why *why = t->why;
    double moment = why->question.cycles + why->shown_from;
    if (!why->found && isnan(why->next_arrival)) {
        say(t, WT_WHY_HEADING, NAN, "what the distributor did at cycle %.0f: no block waited for room", moment);
        return;
    }
    if (!why->found) {
        say(t, WT_WHY_HEADING, NAN, "what the distributor did at cycle %.0f: no block waited for room; the next kernel arrives at cycle %.0f",
            moment, why->next_arrival + why->shown_from);
        return;
    }
    const struct wt_timeline_launch *launch = launch_of(t, why->launch);
    say(t, WT_WHY_HEADING, NAN, "what the distributor did at cycle %.0f: block %" PRIu64 " of launch %ld (%.200s) waited", moment,
        why->block, launch->number, launch->name);
    tell_wait(t);
    if (why->launches_behind > 0)
        say(t, WT_WHY_DETAIL, NAN, "%d %s waited behind it", why->launches_behind,
            why->launches_behind == 1 ? "kernel" : "kernels");
}

void wt_why_tell(const struct wt_why *why, const struct wt_timeline *about,
                 void (*line)(void *context, const struct wt_why_line *line), void *context)
{
    struct telling telling = {why, about, line, context};
    (why->question.moment ? tell_moment : tell_block)(&telling);
}

static void print_line(void *context, const struct wt_why_line *line)
{
    FILE *stream = context;
    if (line->kind == WT_WHY_HEADING)
        fprintf(stream, "%s\n", line->text);
    else if (line->kind == WT_WHY_STEP)
        fprintf(stream, "%12.0f  %s\n", line->at, line->text);
    else
        fprintf(stream, "%14s%s\n", "", line->text);
}

void wt_why_print(FILE *stream, const struct wt_why *why, const struct wt_timeline *about)
{
    wt_why_tell(why, about, print_line, stream);
}

/* ---- JSON ---- */

static void time_json(struct wt_json *json, const char *key, const struct wt_why *why, double at)
{
    if (!isnan(at))
        wt_json_number(json, key, at + why->shown_from, 12);
}

static void reasons_json(struct wt_json *json, const struct wt_why *why)
{
    wt_json_array(json, "reasons");
    for (int i = 0; i < why->reason_count; i++) {
        const struct wt_refusal *example = &why->reasons[i].example;
        wt_json_object(json, NULL);
        wt_json_int(json, "sms", why->reasons[i].sms);
        wt_json_string(json, "resource", wt_resource_name(example->resource));
        wt_json_string(json, "shortage", wt_shortage_name(example->shortage));
        wt_json_int(json, "wanted", example->wanted);
        wt_json_int(json, "available", example->available);
        wt_json_close(json);
    }
    wt_json_close(json);
}

static long number_of(const struct wt_why *why, uint32_t launch, const struct wt_timeline *about)
{
    return about->launches[launch + why->first_launch].number;
}

static void handout_json(struct wt_json *json, const struct wt_why *why, const struct wt_timeline *about)
{
    if (why->freed) {
        wt_json_int(json, "freed_by_launch", number_of(why, why->freed_launch, about));
        wt_json_int(json, "freed_by_block", (int64_t)why->freed_block);
        time_json(json, "freed_by_end", why, why->ended);
        time_json(json, "reported", why, why->known);
        wt_json_number(json, "port_wait", why->known - why->ready, 12);
    }
    wt_json_int(json, "sm", why->sm);
    wt_json_int(json, "slot", why->slot);
    time_json(json, "handed_out", why, why->visited);
    time_json(json, "start", why, why->start);
    wt_json_number(json, "launcher_wait", why->start - why->earliest, 12);
}

void wt_why_json(struct wt_json *json, const char *key, const struct wt_why *why, const struct wt_timeline *about)
{
    wt_json_object(json, key);
    wt_json_bool(json, why->question.moment ? "waiting" : "started", why->found);
    if (why->found || !why->question.moment) {
        wt_json_int(json, "launch", number_of(why, why->launch, about));
        wt_json_int(json, "block", (int64_t)why->block);
    }
    time_json(json, "arrived", why, why->arrived);
    if (why->behind >= 0)
        wt_json_int(json, "behind_launch", number_of(why, (uint32_t)why->behind, about));
    time_json(json, "turn", why, why->headed);
    time_json(json, "previous_block", why, why->previous);
    time_json(json, "waited_from", why, why->waited_from);
    reasons_json(json, why);
    if (why->found && !why->question.moment)
        handout_json(json, why, about);
    wt_json_close(json);
}
