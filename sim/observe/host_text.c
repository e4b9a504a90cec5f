/* The host's side of a run as a summary for people and as JSON. */
#include "observe/host.h"
#include "observe/words.h"

enum { LABEL = 12, DIGITS = 10 };

/* What happened on one track. */
struct use {
    size_t calls, kernels, copies, events;
    wt_time busy, waited;
    uint64_t bytes;
};

static struct use use_of_track(const struct wt_host_timeline *host, uint32_t track)
{
    struct use use = {0};
    for (size_t i = 0; i < host->span_count; i++) {
        const struct wt_host_span *span = &host->spans[i];
        if (span->track != track)
            continue;
        use.calls += span->kind == WT_ACTIVITY_CALL;
        use.kernels += span->kind == WT_ACTIVITY_KERNEL;
        use.copies += span->kind == WT_ACTIVITY_COPY;
        use.events += span->kind == WT_ACTIVITY_RECORD;
        use.busy += span->end - span->begin - span->waited;
        use.waited += span->waited;
        use.bytes += span->bytes;
    }
    return use;
}

static size_t copies_of_stream(const struct wt_host_timeline *host, uint32_t stream)
{
    size_t count = 0;
    for (size_t i = 0; i < host->span_count; i++)
        count += host->spans[i].kind == WT_ACTIVITY_COPY && host->spans[i].stream == stream;
    return count;
}

static double us(wt_time t, double clock_mhz)
{
    return wt_to_cycles(t) / clock_mhz;
}

static void print_time(FILE *stream, wt_time t, double clock_mhz)
{
    char text[WT_WORDS];
    fputs(wt_words_us(text, us(t, clock_mhz)), stream);
}

static void print_count(FILE *stream, size_t count, const char *one, const char *many)
{
    char text[WT_WORDS];
    fprintf(stream, "%s %s", wt_words_count(text, count), count == 1 ? one : many);
}

static void print_thread(FILE *stream, const struct wt_track *track, const struct use *use, double clock_mhz)
{
    fprintf(stream, "    thread %s: ", track->name);
    print_count(stream, use->calls, "call", "calls");
    fputs(", ", stream);
    print_time(stream, use->busy, clock_mhz);
    fputs(" in them, then ", stream);
    print_time(stream, use->waited, clock_mhz);
    fputs(" waiting\n", stream);
}

static void print_stream(FILE *stream, const struct wt_track *track, const struct use *use, size_t copies)
{
    fprintf(stream, "    stream %s: ", track->name);
    print_count(stream, use->kernels, "kernel", "kernels");
    fputs(", ", stream);
    print_count(stream, copies, "copy", "copies");
    fputs(", ", stream);
    print_count(stream, use->events, "event\n", "events\n");
}

static void print_engine(FILE *stream, const struct wt_host_timeline *host, const struct wt_track *track,
                         const struct use *use, double clock_mhz)
{
    char bytes[WT_WORDS];
    if (use->copies == 0)
        return;
    fprintf(stream, "    %s: %zu, %s bytes in ", track->name, use->copies, wt_words_count(bytes, use->bytes));
    print_time(stream, use->busy, clock_mhz);
    fprintf(stream, ", %.1f %% of the whole", 100 * (double)use->busy / (double)host->end);
    fprintf(stream, ", %.4g GB/s\n", (double)use->bytes / us(use->busy, clock_mhz) / 1e3);
}

static void print_overlap(FILE *stream, const struct wt_host_timeline *host, double clock_mhz)
{
    struct wt_host_use use = wt_host_timeline_use(host);
    fputs("    kernels ", stream);
    print_time(stream, use.kernels, clock_mhz);
    fputs(", copies ", stream);
    print_time(stream, use.copies, clock_mhz);
    fputs(", both at once ", stream);
    print_time(stream, use.both, clock_mhz);
    putc('\n', stream);
}

void wt_host_timeline_print(FILE *stream, const struct wt_host_timeline *host, double clock_mhz)
{
    fprintf(stream, "  %-*s", LABEL, "host");
    print_time(stream, host->end, clock_mhz);
    fputs(" from the first call to the end of everything; first block after ", stream);
    print_time(stream, host->lead, clock_mhz);
    putc('\n', stream);
    for (uint32_t i = 0; i < host->track_count; i++) {
        const struct wt_track *track = &host->tracks[i];
        struct use use = use_of_track(host, i);
        if (track->kind == WT_TRACK_THREAD)
            print_thread(stream, track, &use, clock_mhz);
        else if (track->kind == WT_TRACK_STREAM)
            print_stream(stream, track, &use, copies_of_stream(host, i - (uint32_t)host->thread_count));
        else
            print_engine(stream, host, track, &use, clock_mhz);
    }
    print_overlap(stream, host, clock_mhz);
}

/* ---- JSON ---- */

static void number(struct wt_json *json, const char *key, wt_time t, double clock_mhz)
{
    wt_json_number(json, key, us(t, clock_mhz), DIGITS);
}

static void times(struct wt_json *json, const struct wt_host_span *span, double clock_mhz)
{
    number(json, "begin_us", span->begin, clock_mhz);
    number(json, "end_us", span->end, clock_mhz);
}

static void stream_name(struct wt_json *json, const struct wt_host_timeline *host, const struct wt_host_span *span)
{
    if (span->stream != UINT32_MAX)
        wt_json_string(json, "stream", host->tracks[host->thread_count + span->stream].name);
}

static void write_span(struct wt_json *json, const struct wt_host_timeline *host, const struct wt_host_span *span,
                       double clock_mhz)
{
    wt_json_object(json, NULL);
    wt_json_string(json, "name", host->names[span->name]);
    if (span->kind == WT_ACTIVITY_CALL)
        wt_json_string(json, "thread", host->tracks[span->track].name);
    stream_name(json, host, span);
    if (span->kind == WT_ACTIVITY_COPY) {
        wt_json_string(json, "direction", wt_direction_name(span->direction));
        wt_json_string(json, "memory", span->pageable ? "pageable" : "pinned");
        wt_json_int(json, "bytes", (int64_t)span->bytes);
        wt_json_string(json, "engine", host->tracks[span->track].name);
    }
    if (span->kind == WT_ACTIVITY_KERNEL)
        wt_json_int(json, "launch", span->launch);
    if (span->kind == WT_ACTIVITY_RECORD)
        number(json, "time_us", span->end, clock_mhz);
    else
        times(json, span, clock_mhz);
    if (span->kind == WT_ACTIVITY_CALL)
        number(json, "waited_us", span->waited, clock_mhz);
    wt_json_close(json);
}

static void write_spans(struct wt_json *json, const char *key, const struct wt_host_timeline *host,
                        enum wt_activity_kind kind, double clock_mhz)
{
    wt_json_array(json, key);
    for (size_t i = 0; i < host->span_count; i++)
        if (host->spans[i].kind == kind)
            write_span(json, host, &host->spans[i], clock_mhz);
    wt_json_close(json);
}

static void write_engine(struct wt_json *json, const struct wt_host_timeline *host, uint32_t track, double clock_mhz)
{
    struct use use = use_of_track(host, track);
    if (use.copies == 0)
        return;
    wt_json_object(json, NULL);
    wt_json_string(json, "name", host->tracks[track].name);
    wt_json_int(json, "copies", (int64_t)use.copies);
    wt_json_int(json, "bytes", (int64_t)use.bytes);
    number(json, "busy_us", use.busy, clock_mhz);
    wt_json_close(json);
}

void wt_host_timeline_json(struct wt_json *json, const struct wt_host_timeline *host, double clock_mhz)
{
    struct wt_host_use use = wt_host_timeline_use(host);
    wt_json_object(json, "host");
    number(json, "end_us", host->end, clock_mhz);
    number(json, "first_block_us", host->lead, clock_mhz);
    number(json, "kernels_busy_us", use.kernels, clock_mhz);
    number(json, "copies_busy_us", use.copies, clock_mhz);
    number(json, "overlap_us", use.both, clock_mhz);
    wt_json_array(json, "engines");
    for (uint32_t i = 0; i < host->track_count; i++)
        if (host->tracks[i].kind == WT_TRACK_ENGINE)
            write_engine(json, host, i, clock_mhz);
    wt_json_close(json);
    write_spans(json, "calls", host, WT_ACTIVITY_CALL, clock_mhz);
    write_spans(json, "kernels", host, WT_ACTIVITY_KERNEL, clock_mhz);
    write_spans(json, "copies", host, WT_ACTIVITY_COPY, clock_mhz);
    write_spans(json, "events", host, WT_ACTIVITY_RECORD, clock_mhz);
    wt_json_close(json);
}
