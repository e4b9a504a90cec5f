/* The page's description of its runs, as JSON: times in cycles, from a side's first block or, where the host's side is known, from
 * its first call (then blocks begin `lead` later). */
#include <stdlib.h>

#include "core/json.h"
#include "observe/address_space.h"
#include "observe/html_page.h"
#include "observe/metrics.h"

enum { DIGITS = 12 };

int wt_html_slots(const struct wt_timeline *timeline)
{
    int slots = wt_timeline_slots(timeline);
    for (size_t i = 0; i < timeline->launch_count; i++)
        if (timeline->launches[i].blocks_per_sm > slots)
            slots = timeline->launches[i].blocks_per_sm;
    return slots < WT_MAX_SLOTS ? slots : WT_MAX_SLOTS; /* files may claim anything */
}

bool wt_html_has_tasks(const struct wt_timeline *timeline)
{
    for (size_t i = 0; i < timeline->launch_count; i++)
        if (timeline->launches[i].tasks > 0)
            return true;
    return false;
}

static void cycles(struct wt_json *json, const char *key, wt_time t)
{
    wt_json_number(json, key, wt_to_cycles(t), DIGITS + 4);
}

static void describe_part(struct wt_json *json, const struct wt_metrics_part *part, bool has_tail)
{
    wt_json_object(json, "metrics");
    wt_json_bool(json, "has_tail", has_tail);
    wt_json_int(json, "blocks", (int64_t)part->blocks);
    cycles(json, "makespan", wt_metrics_makespan(part));
    cycles(json, "tail", part->tail.length);
    wt_json_number(json, "tail_fraction", part->tail.fraction, DIGITS);
    wt_json_number(json, "tail_sm_idle", part->tail.sm_idle, DIGITS);
    wt_json_number(json, "tail_slot_idle", part->tail.slot_idle, DIGITS);
    wt_json_number(json, "occupancy_theoretical", part->theoretical_occupancy, DIGITS);
    wt_json_number(json, "occupancy_achieved", part->occupancy_active, DIGITS);
    wt_json_number(json, "occupancy_elapsed", part->occupancy_elapsed, DIGITS);
    wt_json_number(json, "sm_busy", part->busy.mean, DIGITS);
    wt_json_number(json, "waves", part->waves, DIGITS);
    wt_json_number(json, "block_median", part->duration.median, DIGITS);
    wt_json_number(json, "block_most", part->duration.most, DIGITS);
    wt_json_close(json);
}

static bool one_after_another(const struct wt_metrics *metrics)
{
    for (size_t i = 1; i < metrics->about->launch_count; i++)
        if (metrics->launches[i].begin < metrics->launches[i - 1].end)
            return false;
    return true;
}

static void describe_tail(struct wt_json *json, const struct wt_metrics_part *part, wt_time origin)
{
    wt_json_array(json, NULL);
    cycles(json, NULL, part->tail.start - origin);
    cycles(json, NULL, part->tail.start - origin + part->tail.length);
    wt_json_close(json);
}

/* Of each launch where they follow one another, else of the whole; not of one wave. */
static void describe_tails(struct wt_json *json, const struct wt_timeline *timeline, const struct wt_metrics *metrics, wt_time origin)
{
    const struct wt_timeline *about = metrics->about;
    bool apart = one_after_another(metrics);
    wt_json_array(json, "tails");
    for (size_t i = 0; apart && i < about->launch_count && !timeline->stuck_since; i++)
        if (metrics->launches[i].blocks > 0 && !wt_metrics_one_wave(&metrics->launches[i], &about->launches[i]))
            describe_tail(json, &metrics->launches[i], origin);
    if (!apart && wt_metrics_has_tail(metrics))
        describe_tail(json, &metrics->whole, origin);
    wt_json_close(json);
}

/* ---- The host's side ---- */

/* The other track that the span lies on, too; -1: none. */
static int64_t second_track(const struct wt_host_timeline *host, const struct wt_host_span *span)
{
    for (size_t track = 0; track < host->track_count; track++)
        if (track != span->track && wt_host_span_lies_on(host, span, track))
            return (int64_t)track;
    return -1;
}

/* [kind, track, second track, name, begin, end, of that waiting at the end, bytes, direction, launch] */
static void describe_span(struct wt_json *json, const struct wt_host_timeline *host, const struct wt_host_span *span)
{
    static const char *const kinds[] = {[WT_ACTIVITY_CALL] = "call", [WT_ACTIVITY_KERNEL] = "kernel", [WT_ACTIVITY_COPY] = "copy",
                                        [WT_ACTIVITY_RECORD] = "record"};
    wt_json_array(json, NULL);
    wt_json_string(json, NULL, kinds[span->kind]);
    wt_json_int(json, NULL, span->track);
    wt_json_int(json, NULL, second_track(host, span));
    wt_json_int(json, NULL, span->name);
    cycles(json, NULL, span->begin);
    cycles(json, NULL, span->end);
    cycles(json, NULL, span->waited);
    wt_json_int(json, NULL, (int64_t)span->bytes);
    wt_json_int(json, NULL, span->direction);
    wt_json_int(json, NULL, span->launch);
    wt_json_close(json);
}

static void describe_host(struct wt_json *json, const struct wt_host_timeline *host)
{
    static const char *const kinds[] = {[WT_TRACK_THREAD] = "thread", [WT_TRACK_STREAM] = "stream", [WT_TRACK_ENGINE] = "engine"};
    wt_json_object(json, "host");
    cycles(json, "end", host->end);
    wt_json_array(json, "tracks");
    for (size_t i = 0; i < host->track_count; i++) {
        wt_json_array(json, NULL);
        wt_json_string(json, NULL, kinds[host->tracks[i].kind]);
        wt_json_string(json, NULL, host->tracks[i].name);
        wt_json_close(json);
    }
    wt_json_close(json);
    wt_json_array(json, "names");
    for (size_t i = 0; i < host->name_count; i++)
        wt_json_string(json, NULL, host->names[i]);
    wt_json_close(json);
    wt_json_array(json, "spans");
    for (size_t i = 0; i < host->span_count; i++)
        describe_span(json, host, &host->spans[i]);
    wt_json_close(json);
    wt_json_close(json);
}

/* ---- Shared memory ---- */

/* Of what was not over by the end of the simulation: the end. */
static void cycles_after(struct wt_json *json, const struct wt_address_space *space, wt_time at, wt_time end)
{
    wt_json_number(json, NULL, wt_to_cycles(at == WT_NEVER ? end : at) - (at == WT_NEVER ? 0 : wt_to_cycles(space->origin)), DIGITS + 4);
}

/* [launch, block, offset, bytes, held, start, end, known]: cycles after the first start of any block. */
static void describe_range(struct wt_json *json, const struct wt_address_space *space, const struct wt_held_range *range, wt_time end)
{
    wt_json_array(json, NULL);
    wt_json_int(json, NULL, range->launch);
    wt_json_int(json, NULL, (int64_t)range->block);
    wt_json_int(json, NULL, range->offset);
    wt_json_int(json, NULL, range->bytes);
    cycles_after(json, space, range->held, end);
    cycles_after(json, space, range->start, end);
    cycles_after(json, space, range->end, end);
    cycles_after(json, space, range->known, end);
    wt_json_close(json);
}

/* `end`: the makespan. */
static void describe_space(struct wt_json *json, const struct wt_address_space *space, wt_time end)
{
    int total = 1;
    for (size_t i = 0; i < space->count; i++)
        total = space->ranges[i].total > total ? space->ranges[i].total : total;
    wt_json_object(json, "space");
    wt_json_int(json, "total", total);
    wt_json_array(json, "ranges");
    for (size_t i = 0; i < space->count; i++)
        describe_range(json, space, &space->ranges[i], end);
    wt_json_close(json);
    wt_json_close(json);
}

/* ---- A side ---- */

static void describe_launches(struct wt_json *json, const struct wt_timeline *timeline)
{
    wt_json_array(json, "launches");
    for (size_t i = 0; i < timeline->launch_count; i++) {
        const struct wt_timeline_launch *launch = &timeline->launches[i];
        wt_json_object(json, NULL);
        wt_json_string(json, "name", launch->name[0] ? launch->name : "kernel");
        wt_json_int(json, "number", launch->number);
        wt_json_int(json, "grid", (int64_t)launch->grid_blocks);
        wt_json_int(json, "threads", launch->threads_per_block);
        wt_json_int(json, "blocks_per_sm", launch->blocks_per_sm);
        wt_json_bool(json, "persistent", launch->tasks > 0);
        wt_json_close(json);
    }
    wt_json_close(json);
}

static void describe_side(struct wt_json *json, int number, const char *label, const struct wt_address_space *space,
                          struct wt_timeline *timeline)
{
    struct wt_metrics *metrics = wt_metrics_of_timeline(timeline);
    wt_json_object(json, NULL);
    wt_json_int(json, "number", number);
    wt_json_string(json, "label", label);
    cycles(json, "lead", timeline->host ? timeline->host->lead : 0);
    cycles(json, "stuck", wt_timeline_stuck_after(timeline));
    wt_json_string(json, "gpu", timeline->gpu_name);
    wt_json_number(json, "clock_mhz", timeline->clock_mhz, DIGITS);
    wt_json_int(json, "sms", timeline->sm_count);
    wt_json_int(json, "slots", wt_html_slots(timeline));
    wt_json_int(json, "blocks", (int64_t)timeline->span_count);
    wt_json_bool(json, "tasks", wt_html_has_tasks(timeline));
    wt_json_array(json, "gpc");
    for (int i = 0; i < timeline->sm_count; i++)
        wt_json_int(json, NULL, timeline->gpc_of_sm[i]);
    wt_json_close(json);
    describe_launches(json, timeline);
    describe_tails(json, timeline, metrics, wt_timeline_begin(timeline) - (timeline->host ? timeline->host->lead : 0));
    describe_part(json, &metrics->whole, wt_metrics_has_tail(metrics));
    if (timeline->host)
        describe_host(json, timeline->host);
    if (space)
        describe_space(json, space, wt_metrics_makespan(&metrics->whole));
    wt_json_close(json);
    wt_metrics_free(metrics);
}

/* ---- Everything ---- */

static void describe_story(struct wt_json *json, const struct wt_story *story)
{
    wt_json_object(json, "story");
    wt_json_string(json, "scenario", story->scenario);
    wt_json_string(json, "question", story->question);
    wt_json_string(json, "answer", story->answer);
    wt_json_bool(json, "tails", !story->without_tails);
    wt_json_array(json, "remarks");
    for (size_t i = 0; i < story->remark_count; i++) {
        wt_json_object(json, NULL);
        wt_json_int(json, "side", story->remarks[i].side);
        cycles(json, "at", story->remarks[i].at);
        wt_json_string(json, "text", story->remarks[i].text);
        wt_json_close(json);
    }
    wt_json_close(json);
    wt_json_close(json);
}

/* `measured` and `simulated` where they stand together or alone. */
static const char *label_of(const struct wt_export *what, int side)
{
    if (!what->measured || !what->simulated)
        return side == 0 ? "measured" : "simulated";
    if (what->labels[side])
        return what->labels[side];
    return side == 0 ? "measured" : "predicted";
}

char *wt_html_description(const struct wt_export *what, const char *title)
{
    struct wt_timeline *const sides[2] = {what->measured, what->simulated};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        abort();
    struct wt_json json = wt_json_begin(stream, true);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "title", title);
    wt_json_bool(&json, "prediction", sides[0] && sides[1] && !what->labels[0]);
    wt_json_array(&json, "sides");
    for (int i = 0; i < 2; i++)
        if (sides[i])
            describe_side(&json, i, label_of(what, i), what->spaces[i], sides[i]);
    wt_json_close(&json);
    if (what->story)
        describe_story(&json, what->story);
    wt_json_close(&json);
    wt_json_end(&json);
    fclose(stream);
    return text;
}
