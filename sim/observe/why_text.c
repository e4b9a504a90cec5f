/* The answers of observe/why.h, in words and as JSON. */
#include <inttypes.h>
#include <math.h>

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

static void step(FILE *stream, const struct wt_why *why, double at)
{
    fprintf(stream, "%12.0f  ", at + why->shown_from);
}

static void name_launch(FILE *stream, const struct wt_why *why, uint32_t launch, const struct wt_timeline *about)
{
    const struct wt_timeline_launch *of = &about->launches[launch + why->first_launch];
    fprintf(stream, "launch %ld (%s)", of->number, of->name);
}

static void print_reasons(FILE *stream, const struct wt_why *why)
{
    char text[200];
    for (int i = 0; i < why->reason_count; i++) {
        wt_why_describe(&why->reasons[i].example, text, sizeof text);
        fprintf(stream, "%14s%d SM%s: %s%s\n", "", why->reasons[i].sms, why->reasons[i].sms == 1 ? "" : "s", text,
                why->reasons[i].sms == 1 ? "" : " (on the first of them)");
    }
}

static void print_wait(FILE *stream, const struct wt_why *why)
{
    if (isnan(why->waited_from))
        return;
    step(stream, why, why->waited_from);
    if (why->cluster > 1)
        fprintf(stream, "no group of SMs had room for a cluster of %d blocks; %d SMs had room for one\n", why->cluster,
                why->sms_with_room);
    else
        fputs("no SM had room for it\n", stream);
    print_reasons(stream, why);
}

static void print_arrival(FILE *stream, const struct wt_why *why, const struct wt_timeline *about)
{
    step(stream, why, why->arrived);
    fputs("its kernel reached the grid scheduler", stream);
    bool waited = why->behind >= 0 && why->headed > why->arrived;
    if (waited) {
        fputs(", behind ", stream);
        name_launch(stream, why, (uint32_t)why->behind, about);
    }
    putc('\n', stream);
    if (!waited)
        return;
    step(stream, why, why->headed);
    fputs("its kernel's turn\n", stream);
}

static void print_release(FILE *stream, const struct wt_why *why, const struct wt_timeline *about)
{
    if (!why->freed)
        return;
    step(stream, why, why->ended);
    fprintf(stream, "block %" PRIu64 " of ", why->freed_block);
    name_launch(stream, why, why->freed_launch, about);
    fprintf(stream, " ended on SM %d\n", why->sm);
    step(stream, why, why->known);
    fputs("the distributor knew", stream);
    if (why->known > why->ready)
        fprintf(stream, "; the report had waited %.0f cycles in the GPC's port", why->known - why->ready);
    putc('\n', stream);
}

static void print_handout(FILE *stream, const struct wt_why *why)
{
    step(stream, why, why->visited);
    fprintf(stream, "handed out to SM %d\n", why->sm);
    step(stream, why, why->start);
    fprintf(stream, "started in slot %d", why->slot);
    if (why->start > why->earliest)
        fprintf(stream, "; the TPC's launcher had been busy for %.0f cycles", why->start - why->earliest);
    putc('\n', stream);
}

static void print_block(FILE *stream, const struct wt_why *why, const struct wt_timeline *about)
{
    fprintf(stream, "why block %" PRIu64 " of ", why->block);
    name_launch(stream, why, why->launch, about);
    if (!why->found) {
        fputs(" did not start: it was never handed out\n", stream);
        print_wait(stream, why);
        return;
    }
    fprintf(stream, " did not start before cycle %.0f:\n", why->start + why->shown_from);
    print_arrival(stream, why, about);
    if (!isnan(why->previous)) {
        step(stream, why, why->previous);
        fprintf(stream, "block %" PRIu64 ", which goes before it, was handed out\n", why->block - 1);
    }
    print_wait(stream, why);
    print_release(stream, why, about);
    print_handout(stream, why);
}

static void print_moment(FILE *stream, const struct wt_why *why, const struct wt_timeline *about)
{
    fprintf(stream, "what the distributor did at cycle %.0f: ", why->question.cycles + why->shown_from);
    if (!why->found) {
        fputs("no block waited", stream);
        if (!isnan(why->next_arrival))
            fprintf(stream, "; the next kernel arrives at cycle %.0f", why->next_arrival + why->shown_from);
        putc('\n', stream);
        return;
    }
    fprintf(stream, "block %" PRIu64 " of ", why->block);
    name_launch(stream, why, why->launch, about);
    fputs(" waited\n", stream);
    print_wait(stream, why);
    if (why->launches_behind > 0)
        fprintf(stream, "%14s%d %s waited behind it\n", "", why->launches_behind,
                why->launches_behind == 1 ? "kernel" : "kernels");
}

void wt_why_print(FILE *stream, const struct wt_why *why, const struct wt_timeline *about)
{
    (why->question.moment ? print_moment : print_block)(stream, why, about);
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
