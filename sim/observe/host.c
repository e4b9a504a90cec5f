#include "observe/host.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct wt_host_timeline *wt_host_timeline_empty(size_t threads, size_t streams)
{
    struct wt_host_timeline *host = wt_alloc(1, sizeof *host);
    host->thread_count = threads;
    host->stream_count = streams;
    host->tracks = wt_alloc(threads + streams + WT_DIRECTIONS, sizeof *host->tracks);
    return host;
}

void wt_host_timeline_add_track(struct wt_host_timeline *host, const char *name)
{
    size_t index = host->track_count++, streams = host->thread_count + host->stream_count;
    enum wt_track_kind kind = index < host->thread_count ? WT_TRACK_THREAD : index < streams ? WT_TRACK_STREAM : WT_TRACK_ENGINE;
    assert(index < streams + WT_DIRECTIONS);
    host->tracks[index] = (struct wt_track){kind, wt_strdup(name)};
}

struct wt_host_timeline *wt_host_timeline_new(const struct wt_host_program *program, int engines)
{
    struct wt_host_timeline *host = wt_host_timeline_empty(program->thread_count, program->stream_count);
    for (size_t i = 0; i < program->thread_count; i++)
        wt_host_timeline_add_track(host, program->threads[i].name);
    for (size_t i = 0; i < program->stream_count; i++)
        wt_host_timeline_add_track(host, program->streams[i]);
    wt_host_timeline_add_track(host, engines == 1 ? "copies both ways" : "copies to the device");
    wt_host_timeline_add_track(host, "copies to the host");
    wt_host_timeline_add_track(host, "copies within the device");
    return host;
}

void wt_host_timeline_free(struct wt_host_timeline *host)
{
    if (!host)
        return;
    for (size_t i = 0; i < host->track_count; i++)
        free(host->tracks[i].name);
    for (size_t i = 0; i < host->name_count; i++)
        free(host->names[i]);
    free(host->tracks);
    free(host->spans);
    free(host->names);
    free(host);
}

uint32_t wt_host_timeline_name(struct wt_host_timeline *host, const char *name)
{
    for (size_t i = 0; i < host->name_count; i++)
        if (!strcmp(host->names[i], name))
            return (uint32_t)i;
    host->names = wt_grow(host->names, &host->name_capacity, host->name_count + 1, sizeof *host->names);
    host->names[host->name_count] = wt_strdup(name);
    return (uint32_t)host->name_count++;
}

struct wt_host_span *wt_host_timeline_add(struct wt_host_timeline *host, const struct wt_host_span *span)
{
    host->spans = wt_grow(host->spans, &host->span_capacity, host->span_count + 1, sizeof *host->spans);
    host->spans[host->span_count] = *span;
    host->end = span->end > host->end ? span->end : host->end;
    return &host->spans[host->span_count++];
}

static uint32_t track_of(const struct wt_host_timeline *host, const struct wt_activity *activity)
{
    if (activity->kind == WT_ACTIVITY_CALL)
        return activity->thread;
    if (activity->kind == WT_ACTIVITY_COPY)
        return (uint32_t)(host->thread_count + host->stream_count) + (uint32_t)activity->engine;
    return (uint32_t)host->thread_count + activity->call->stream;
}

static bool has_stream(const struct wt_call *call)
{
    return call->kind <= WT_CALL_SYNC_STREAM;
}

static void on_activity(void *context, const struct wt_activity *activity)
{
    struct wt_host_timeline *host = context;
    struct wt_host_span span = {.kind = activity->kind, .track = track_of(host, activity),
                                .stream = has_stream(activity->call) ? activity->call->stream : UINT32_MAX,
                                .name = wt_host_timeline_name(host, activity->name), .begin = activity->begin,
                                .end = activity->end, .waited = activity->waited, .launch = activity->kernel};
    if (activity->copy) {
        span.bytes = activity->copy->bytes;
        span.direction = (uint8_t)activity->copy->direction;
        span.pageable = activity->copy->pageable;
    }
    wt_host_timeline_add(host, &span);
}

struct wt_host_observer wt_host_timeline_observer(struct wt_host_timeline *host)
{
    return (struct wt_host_observer){host, on_activity};
}

static int compare(const void *left, const void *right)
{
    const struct wt_host_span *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->track != b->track ? (a->track < b->track ? -1 : 1) : (int)a->kind - (int)b->kind;
}

void wt_host_timeline_sort(struct wt_host_timeline *host)
{
    if (host->span_count > 1) /* no array where there are none */
        qsort(host->spans, host->span_count, sizeof *host->spans, compare);
}

bool wt_host_span_lies_on(const struct wt_host_timeline *host, const struct wt_host_span *span, size_t track)
{
    if (span->track == track)
        return true;
    bool is_stream = host->tracks[track].kind == WT_TRACK_STREAM;
    return is_stream && span->kind == WT_ACTIVITY_COPY && host->thread_count + span->stream == track;
}

/* ---- Overlap ---- */

struct change {
    wt_time at;
    int kernels, copies; /* more, or fewer */
};

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

struct wt_host_use wt_host_timeline_use(const struct wt_host_timeline *host)
{
    struct wt_host_use use = {0};
    struct change *changes = wt_alloc(2 * host->span_count, sizeof *changes);
    size_t count = 0;
    for (size_t i = 0; i < host->span_count; i++) {
        const struct wt_host_span *span = &host->spans[i];
        int kernel = span->kind == WT_ACTIVITY_KERNEL, copy = span->kind == WT_ACTIVITY_COPY;
        changes[count++] = (struct change){span->begin, kernel, copy};
        changes[count++] = (struct change){span->end, -kernel, -copy};
    }
    qsort(changes, count, sizeof *changes, compare_changes);
    int kernels = 0, copies = 0;
    for (size_t i = 0; i < count; i++) {
        wt_time past = i > 0 ? changes[i].at - changes[i - 1].at : 0;
        use.kernels += kernels > 0 ? past : 0;
        use.copies += copies > 0 ? past : 0;
        use.both += kernels > 0 && copies > 0 ? past : 0;
        kernels += changes[i].kernels;
        copies += changes[i].copies;
    }
    free(changes);
    return use;
}

const char *wt_direction_name(int direction)
{
    static const char *const names[WT_DIRECTIONS] = {"h2d", "d2h", "d2d"};
    return names[direction];
}
