/* Chrome's trace-event JSON, which ui.perfetto.dev opens. One process per SM, one thread per block slot, since
 * slices of one track must nest; counters live in a process of their own, and so does the host's side: one thread per host
 * thread, stream and copy engine (several where a graph's kernels or copies overlap).
 *
 * Times are multiples of 1/1024 µs and each duration is the difference of two such times: binary fractions, so
 * that a reader's ts + dur in floating point is exact, and rounding ts and dur down to nanoseconds one by one
 * (as the viewer does) cannot make neighbours overlap either. Where no clock is known, one cycle is shown as
 * 1 µs. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/json.h"
#include "core/mem.h"
#include "observe/blocks.h"
#include "observe/exporter.h"
#include "observe/warp_series.h"

/* Process and thread ids: 0 means the idle task to the viewer, and a thread whose id is its process's is shown as
 * the main thread. */
enum { PIDS_PER_TIMELINE = 2000, HOST_PID = 1500, TIDS_PER_PROCESS = 1 << 16, MOST_LANES = 16 };

struct writer {
    FILE *stream;
    const struct wt_timeline *timeline;
    const char *label; /* "measured ", … or "" */
    wt_time origin;
    int64_t pid; /* of the counters; SM k has pid + 1 + k */
    int64_t order, order_step; /* sort index of the counters' process; the next process follows order_step later */
    char **names; /* per launch: quoted */
    bool *begun;  /* per launch: some block has started */
    uint64_t *left; /* per launch: blocks not started */
    int64_t blocks, warps, queued;
    bool *first; /* no event has been written */
};

/* Something starts or ends. */
struct change {
    wt_time at;
    const struct wt_block_run *run;
    bool starts;
};

static char *quoted(const char *text)
{
    char *result = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&result, &length);
    if (!stream)
        abort();
    struct wt_json json = wt_json_begin(stream, true);
    wt_json_string(&json, NULL, text);
    fclose(stream);
    return result;
}

/* In 1/1024 µs. */
static wt_time shown(const struct writer *w, wt_time t)
{
    double clock = w->timeline->clock_mhz;
    return clock > 0 ? (wt_time)((double)(t - w->origin) / clock + 0.5) : t - w->origin;
}

static void begin_event(struct writer *w)
{
    fputs(*w->first ? "\n" : ",\n", w->stream);
    *w->first = false;
}

static void name_process(struct writer *w, int64_t pid, const char *name, int64_t order)
{
    char *quoted_name = quoted(name);
    begin_event(w);
    fprintf(w->stream, "{\"ph\":\"M\",\"pid\":%" PRId64 ",\"name\":\"process_name\",\"args\":{\"name\":%s}}", pid,
            quoted_name);
    begin_event(w);
    fprintf(w->stream,
            "{\"ph\":\"M\",\"pid\":%" PRId64
            ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRId64 "}}",
            pid, order);
    free(quoted_name);
}

static void name_thread(struct writer *w, int64_t pid, int64_t tid, const char *name, int64_t order)
{
    char *quoted_name = quoted(name);
    begin_event(w);
    fprintf(w->stream,
            "{\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"name\":\"thread_name\",\"args\":{\"name\":%s}}", pid, tid,
            quoted_name);
    begin_event(w);
    fprintf(w->stream,
            "{\"ph\":\"M\",\"pid\":%" PRId64 ",\"tid\":%" PRId64
            ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRId64 "}}",
            pid, tid, order);
    free(quoted_name);
}

static int64_t pid_of(const struct writer *w, int sm)
{
    return w->pid + 1 + sm;
}

static int64_t tid_of(const struct writer *w, int sm, int slot)
{
    return pid_of(w, sm) * TIDS_PER_PROCESS + slot;
}

static bool gpcs_known(const struct wt_timeline *timeline)
{
    for (int sm = 1; sm < timeline->sm_count; sm++)
        if (timeline->gpc_of_sm[sm] != timeline->gpc_of_sm[0])
            return true;
    return false;
}

static void name_sm(struct writer *w, int sm, int slots)
{
    const struct wt_timeline *timeline = w->timeline;
    int gpc = timeline->gpc_of_sm[sm];
    char *name = gpcs_known(timeline) ? wt_format("%sGPC %d SM %d", w->label, gpc, sm)
                                      : wt_format("%sSM %d", w->label, sm);
    name_process(w, pid_of(w, sm), name, w->order + w->order_step * (1 + (int64_t)gpc * timeline->sm_count + sm));
    for (int slot = 0; slot < slots; slot++) {
        char slot_name[32];
        snprintf(slot_name, sizeof slot_name, "slot %d", slot);
        name_thread(w, pid_of(w, sm), tid_of(w, sm, slot), slot_name, slot);
    }
    free(name);
}

static void name_tracks(struct writer *w)
{
    const struct wt_timeline *timeline = w->timeline;
    char *name = wt_format("%s%s", w->label, timeline->gpu_name[0] ? timeline->gpu_name : "GPU");
    name_process(w, w->pid, name, w->order);
    free(name);
    int *slots = wt_alloc((size_t)timeline->sm_count, sizeof *slots);
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        slots[span->sm] = span->slot >= slots[span->sm] ? span->slot + 1 : slots[span->sm];
    }
    for (int sm = 0; sm < timeline->sm_count; sm++)
        if (slots[sm])
            name_sm(w, sm, slots[sm]);
    free(slots);
}

/* A slice that begins and has no end is drawn to the end of everything, as one that did not end. */
static void write_slice(struct writer *w, const struct wt_block_run *span)
{
    char ts[WT_CYCLES_TEXT], dur[WT_CYCLES_TEXT], cycles[WT_CYCLES_TEXT];
    wt_time start = shown(w, span->start);
    bool ends = !wt_timeline_never_ends(w->timeline, span);
    wt_cycles_text(ts, start);
    wt_cycles_text(dur, shown(w, span->end) - start);
    wt_cycles_text(cycles, span->end - span->start);
    begin_event(w);
    fprintf(w->stream, "{\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"ts\":%s,", ends ? "X" : "B",
            pid_of(w, span->sm), tid_of(w, span->sm, span->slot), ts);
    if (ends)
        fprintf(w->stream, "\"dur\":%s,", dur);
    fprintf(w->stream, "\"name\":%s,\"args\":{\"launch\":%ld,\"block\":%" PRIu64, w->names[span->launch],
            w->timeline->launches[span->launch].number, span->block);
    if (ends)
        fprintf(w->stream, ",\"cycles\":%s", cycles);
    fputs("}}", w->stream);
}

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->run > b->run) - (a->run < b->run);
}

static struct change *changes_of(const struct wt_timeline *timeline, size_t *count)
{
    struct change *changes = wt_alloc(2 * timeline->span_count, sizeof *changes);
    *count = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        changes[(*count)++] = (struct change){span->start, span, true};
        if (!wt_timeline_never_ends(timeline, span))
            changes[(*count)++] = (struct change){span->end, span, false};
    }
    qsort(changes, *count, sizeof *changes, compare_changes);
    return changes;
}

/* A launch's blocks count as queued from its first start on: when it was issued is not known. */
static void apply(struct writer *w, const struct change *change)
{
    uint32_t launch = change->run->launch;
    int sign = change->starts ? 1 : -1;
    w->blocks += sign;
    w->warps += sign * w->timeline->launches[launch].warps_per_block;
    if (!change->starts)
        return;
    if (!w->begun[launch])
        w->queued += (int64_t)w->left[launch];
    w->begun[launch] = true;
    w->queued--;
}

static void write_counters(struct writer *w, wt_time at)
{
    char ts[WT_CYCLES_TEXT];
    wt_cycles_text(ts, at);
    begin_event(w);
    fprintf(w->stream,
            "{\"ph\":\"C\",\"pid\":%" PRId64 ",\"ts\":%s,\"name\":\"resident\",\"args\":{\"blocks\":%" PRId64
            ",\"warps\":%" PRId64 "}}",
            w->pid, ts, w->blocks, w->warps);
    begin_event(w);
    fprintf(w->stream,
            "{\"ph\":\"C\",\"pid\":%" PRId64 ",\"ts\":%s,\"name\":\"queued\",\"args\":{\"blocks\":%" PRId64
            "}}",
            w->pid, ts, w->queued);
}

static void write_all_counters(struct writer *w)
{
    size_t count;
    struct change *changes = changes_of(w->timeline, &count);
    for (size_t i = 0; i < w->timeline->span_count; i++)
        w->left[w->timeline->spans[i].launch]++;
    for (size_t i = 0; i < count; i++) {
        apply(w, &changes[i]);
        wt_time at = shown(w, changes[i].at);
        if (i + 1 == count || shown(w, changes[i + 1].at) != at)
            write_counters(w, at);
    }
    free(changes);
}

/* ---- The host's side ---- */

static wt_time shown_host(const struct writer *w, wt_time t)
{
    return (wt_time)((double)t / w->timeline->clock_mhz + 0.5);
}

/* The first lane that is free by then; the last one takes what is left. */
static int lane_of(wt_time ends[MOST_LANES], const struct wt_host_span *span)
{
    int lane = 0;
    while (lane < MOST_LANES - 1 && ends[lane] > span->begin)
        lane++;
    ends[lane] = span->end;
    return lane;
}

static void write_host_span(struct writer *w, const struct wt_host_span *span, int64_t tid)
{
    char ts[WT_CYCLES_TEXT], dur[WT_CYCLES_TEXT], *name = quoted(w->timeline->host->names[span->name]);
    wt_time begin = shown_host(w, span->begin);
    wt_cycles_text(ts, begin);
    wt_cycles_text(dur, shown_host(w, span->end) - begin);
    begin_event(w);
    if (span->kind == WT_ACTIVITY_RECORD)
        fprintf(w->stream, "{\"ph\":\"i\",\"s\":\"t\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"ts\":%s,\"name\":%s}",
                w->pid + HOST_PID, tid, ts, name);
    else
        fprintf(w->stream,
                "{\"ph\":\"X\",\"pid\":%" PRId64 ",\"tid\":%" PRId64 ",\"ts\":%s,\"dur\":%s,\"name\":%s,\"args\":{\"bytes\":%" PRIu64
                "}}",
                w->pid + HOST_PID, tid, ts, dur, name, span->bytes);
    free(name);
}

/* The spans are sorted by time. */
static void write_track(struct writer *w, uint32_t track)
{
    static const char *const kinds[] = {"thread ", "stream ", ""};
    const struct wt_host_timeline *host = w->timeline->host;
    wt_time ends[MOST_LANES] = {0};
    int64_t pid = w->pid + HOST_PID, first = pid * TIDS_PER_PROCESS + 1 + (int64_t)track * MOST_LANES;
    int lanes = 0;
    for (size_t i = 0; i < host->span_count; i++) {
        if (!wt_host_span_lies_on(host, &host->spans[i], track))
            continue;
        int lane = host->spans[i].kind == WT_ACTIVITY_RECORD ? 0 : lane_of(ends, &host->spans[i]);
        lanes = lane + 1 > lanes ? lane + 1 : lanes;
        write_host_span(w, &host->spans[i], first + lane);
    }
    for (int lane = 0; lane < lanes; lane++) {
        char *name = wt_format("%s%s", kinds[host->tracks[track].kind], host->tracks[track].name);
        name_thread(w, pid, first + lane, name, (int64_t)track * MOST_LANES + lane);
        free(name);
    }
}

static void write_host(struct writer *w)
{
    const struct wt_host_timeline *host = w->timeline->host;
    if (!host)
        return;
    char *name = wt_format("%shost, streams, copy engines", w->label);
    name_process(w, w->pid + HOST_PID, name, w->order - w->order_step);
    free(name);
    for (uint32_t i = 0; i < host->track_count; i++)
        write_track(w, i);
}

/* ---- Warps ---- */

static wt_time shown_since_start(const struct writer *w, wt_time t)
{
    return shown(w, wt_timeline_begin(w->timeline) + t);
}

static void begin_counter(struct writer *w, int64_t pid, wt_time at, const char *name)
{
    char ts[WT_CYCLES_TEXT];
    wt_cycles_text(ts, at);
    begin_event(w);
    fprintf(w->stream, "{\"ph\":\"C\",\"pid\":%" PRId64 ",\"ts\":%s,\"name\":\"%s\",\"args\":{", pid, ts, name);
}

static uint32_t states_that_occur(const struct wt_warp_series *series)
{
    uint32_t states = 0;
    for (size_t i = 0; i < series->count; i++)
        for (int s = 0; s < WT_STALL_COUNT; s++)
            states |= (uint32_t)(series->intervals[i].states[s] > 0) << s;
    return states;
}

/* All counters of one moment, of the SMs that were used; `interval` NULL: they are 0 from then on. */
static void write_warp_counters(struct writer *w, wt_time at, const struct wt_warp_interval *interval, uint32_t states,
                                const bool *used)
{
    bool more = false;
    begin_counter(w, w->pid, at, "warps per scheduler");
    for (int s = 0; s < WT_STALL_COUNT; s++)
        if (states >> s & 1) {
            fprintf(w->stream, "%s\"%s\":%.4g", more ? "," : "", wt_stall_name((enum wt_stall_reason)s),
                    interval ? (double)interval->states[s] : 0);
            more = true;
        }
    fputs("}}", w->stream);
    for (int sm = 0; sm < w->timeline->warps->sm_count; sm++) {
        if (!used[sm])
            continue;
        struct wt_warp_short value = interval ? interval->sms[sm] : (struct wt_warp_short){0};
        begin_counter(w, pid_of(w, sm), at, "warps per scheduler");
        fprintf(w->stream, "\"resident\":%.4g,\"eligible\":%.4g,\"issued\":%.4g}}", (double)value.resident,
                (double)value.eligible, (double)value.issued);
    }
}

static void write_warps(struct writer *w)
{
    const struct wt_warp_series *series = w->timeline->warps;
    if (!series || series->count == 0)
        return;
    uint32_t states = states_that_occur(series);
    bool *used = wt_alloc((size_t)series->sm_count, sizeof *used);
    for (size_t i = 0; i < w->timeline->span_count; i++)
        used[w->timeline->spans[i].sm] = true;
    for (size_t i = 0; i < series->count; i++)
        write_warp_counters(w, shown_since_start(w, series->intervals[i].from), &series->intervals[i], states, used);
    write_warp_counters(w, shown_since_start(w, series->intervals[series->count - 1].to), NULL, states, used);
    free(used);
}

static void write_timeline(struct writer *w)
{
    const struct wt_timeline *timeline = w->timeline;
    w->names = wt_alloc(timeline->launch_count, sizeof *w->names);
    w->begun = wt_alloc(timeline->launch_count, sizeof *w->begun);
    w->left = wt_alloc(timeline->launch_count, sizeof *w->left);
    for (size_t i = 0; i < timeline->launch_count; i++)
        w->names[i] = quoted(timeline->launches[i].name[0] ? timeline->launches[i].name : "kernel");
    name_tracks(w);
    write_host(w);
    for (size_t i = 0; i < timeline->span_count; i++)
        write_slice(w, &timeline->spans[i]);
    write_all_counters(w);
    write_warps(w);
    for (size_t i = 0; i < timeline->launch_count; i++)
        free(w->names[i]);
    free(w->names);
    free(w->begun);
    free(w->left);
}

/* Both: each SM's predicted tracks follow its measured ones. */
static enum wt_code write_perfetto(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    bool both = what->simulated && what->measured, first = true;
    struct wt_timeline *timelines[2] = {what->measured, what->simulated};
    static const char *const labels[2] = {"measured ", "predicted "};
    (void)err;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", stream);
    for (int i = 0; i < 2; i++) {
        if (!timelines[i])
            continue;
        wt_timeline_sort(timelines[i]);
        wt_time lead = timelines[i]->host ? timelines[i]->host->lead : 0; /* less than nothing wraps, and back again */
        struct writer w = {.stream = stream, .timeline = timelines[i], .label = both ? labels[i] : "", .order = i,
                           .order_step = 2, .origin = wt_timeline_begin(timelines[i]) - lead, .first = &first,
                           .pid = 1 + i * (int64_t)PIDS_PER_TIMELINE};
        write_timeline(&w);
    }
    fputs("\n]}\n", stream);
    return WT_OK;
}

const struct wt_exporter wt_perfetto_exporter = {.name = "perfetto", .write = write_perfetto};
