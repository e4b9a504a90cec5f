#include "observe/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "observe/result_bytes.h"

enum {
    MAGIC = 8,
    VERSION = 1,
    NAME = 4,
    SPAN_BYTES = 32,
    SPANS_PER_CHUNK = 1 << 16,
    READ_STEP = 1 << 20, /* a damaged length must not make us reserve terabytes */
    NEED_BYTES = 28,
    LAUNCH_BYTES = 40,   /* at least: an unnamed launch */
    MOST_SLOT = 1024,
    MOST_COUNT = 1 << 20 /* threads, warps, blocks: more makes no sense */
};

static const wt_time latest = (wt_time)1 << 63; /* 9e15 cycles */

enum kind { SIMULATED, MEASURED };

static const char magic[MAGIC + 1] = "WAVETAIL";
static const char damaged[] = "the result file is damaged (%s); make it again with --save";

struct reader {
    FILE *stream;
    const char *name;
    struct wt_error *err;
    struct wt_result *result;
    struct wt_timeline *current; /* the timeline spans belong to */
    uint64_t spans;
    bool done;
    uint8_t *payload;
    size_t payload_capacity;
};

struct chunk {
    char name[NAME + 1];
    uint64_t length;
};

/* Payload readers, by chunk name. */
struct chunk_reader {
    const char *name;
    enum wt_code (*read)(struct reader *reader, struct wt_cursor *payload);
};

/* --- writing --- */

static void write_chunk(FILE *stream, const char *name, const struct wt_bytes *payload)
{
    struct wt_bytes head = {0}, foot = {0};
    for (int i = 0; i < NAME; i++)
        wt_put_uint(&head, (uint8_t)name[i], 1);
    wt_put_uint(&head, payload->count, 8);
    uint32_t crc = wt_crc32(wt_crc32(0, head.data, head.count), payload->data, payload->count);
    wt_put_uint(&foot, crc, 4);
    fwrite(head.data, 1, head.count, stream);
    fwrite(payload->data, 1, payload->count, stream);
    fwrite(foot.data, 1, foot.count, stream);
    free(head.data);
    free(foot.data);
}

static void put_launch(struct wt_bytes *bytes, const struct wt_timeline_launch *launch)
{
    wt_put_text(bytes, launch->name);
    wt_put_uint(bytes, (uint64_t)launch->number, 8);
    wt_put_uint(bytes, launch->grid_blocks, 8);
    wt_put_uint(bytes, (uint64_t)launch->threads_per_block, 4);
    wt_put_uint(bytes, (uint64_t)launch->warps_per_block, 4);
    wt_put_uint(bytes, (uint64_t)launch->blocks_per_sm, 4);
    wt_put_uint(bytes, launch->queue_empty, 8);
}

static void write_description(FILE *stream, const struct wt_timeline *timeline, enum kind kind)
{
    struct wt_bytes bytes = {0};
    wt_put_uint(&bytes, kind, 1);
    wt_put_text(&bytes, timeline->title);
    wt_put_text(&bytes, timeline->gpu_name);
    wt_put_double(&bytes, timeline->clock_mhz);
    wt_put_uint(&bytes, (uint64_t)timeline->sm_count, 4);
    wt_put_uint(&bytes, (uint64_t)timeline->warps_per_sm, 4);
    for (int i = 0; i < timeline->sm_count; i++)
        wt_put_uint(&bytes, timeline->gpc_of_sm[i], 2);
    wt_put_uint(&bytes, timeline->launch_count, 4);
    for (size_t i = 0; i < timeline->launch_count; i++)
        put_launch(&bytes, &timeline->launches[i]);
    write_chunk(stream, "TIME", &bytes);
    free(bytes.data);
}

/* Unknown registers and carve-outs are -1: one more is written. */
static void put_needs(struct wt_bytes *bytes, const struct wt_timeline_launch *launch)
{
    const struct wt_launch_needs *needs = &launch->needs;
    wt_put_uint(bytes, (uint64_t)needs->threads, 4);
    wt_put_uint(bytes, (uint64_t)(needs->registers_per_thread + 1), 4);
    wt_put_uint(bytes, (uint64_t)needs->static_shared_bytes, 4);
    wt_put_uint(bytes, (uint64_t)needs->dynamic_shared_bytes, 4);
    wt_put_uint(bytes, (uint64_t)(needs->carveout_kb + 1), 4);
    wt_put_uint(bytes, (uint64_t)needs->barriers, 4);
    wt_put_uint(bytes, (uint64_t)launch->stream, 4);
}

static void write_needs(FILE *stream, const struct wt_timeline *timeline)
{
    struct wt_bytes bytes = {0};
    for (size_t i = 0; i < timeline->launch_count; i++)
        put_needs(&bytes, &timeline->launches[i]);
    write_chunk(stream, "NEED", &bytes);
    free(bytes.data);
}

static void put_span(struct wt_bytes *bytes, const struct wt_block_run *span)
{
    wt_put_uint(bytes, span->block, 8);
    wt_put_uint(bytes, span->start, 8);
    wt_put_uint(bytes, span->end, 8);
    wt_put_uint(bytes, span->launch, 4);
    wt_put_uint(bytes, span->sm, 2);
    wt_put_uint(bytes, span->slot, 2);
}

static void write_spans(FILE *stream, const struct wt_timeline *timeline)
{
    struct wt_bytes bytes = {0};
    for (size_t i = 0; i < timeline->span_count; i++) {
        put_span(&bytes, &timeline->spans[i]);
        if (bytes.count < SPANS_PER_CHUNK * SPAN_BYTES && i + 1 < timeline->span_count)
            continue;
        write_chunk(stream, "SPAN", &bytes);
        bytes.count = 0;
    }
    free(bytes.data);
}

static bool has_tasks(const struct wt_timeline *timeline)
{
    for (size_t i = 0; i < timeline->launch_count; i++)
        if (timeline->launches[i].tasks > 0)
            return true;
    return false;
}

static void write_tasks(FILE *stream, const struct wt_timeline *timeline)
{
    struct wt_bytes bytes = {0};
    if (!has_tasks(timeline))
        return;
    for (size_t i = 0; i < timeline->launch_count; i++)
        wt_put_uint(&bytes, timeline->launches[i].tasks, 8);
    for (size_t i = 0; i < timeline->span_count; i++)
        wt_put_uint(&bytes, timeline->spans[i].task, 8);
    write_chunk(stream, "TASK", &bytes);
    free(bytes.data);
}

static void write_deadlock(FILE *stream, const struct wt_timeline *timeline)
{
    struct wt_bytes bytes = {0};
    if (!timeline->stuck)
        return;
    wt_put_uint(&bytes, timeline->stuck_since, 8);
    wt_put_text(&bytes, timeline->stuck);
    write_chunk(stream, "HELD", &bytes);
    free(bytes.data);
}

static void put_host_span(struct wt_bytes *bytes, const struct wt_host_span *span)
{
    wt_put_uint(bytes, span->kind, 1);
    wt_put_uint(bytes, span->track, 4);
    wt_put_uint(bytes, span->stream, 4);
    wt_put_uint(bytes, span->name, 4);
    wt_put_uint(bytes, span->begin, 8);
    wt_put_uint(bytes, span->end, 8);
    wt_put_uint(bytes, span->waited, 8);
    wt_put_uint(bytes, span->bytes, 8);
    wt_put_uint(bytes, span->direction, 1);
    wt_put_uint(bytes, span->pageable, 1);
    wt_put_uint(bytes, span->launch, 4);
}

static void write_host(FILE *stream, const struct wt_host_timeline *host)
{
    struct wt_bytes bytes = {0};
    if (!host)
        return;
    wt_put_uint(&bytes, host->lead, 8);
    wt_put_uint(&bytes, host->thread_count, 4);
    wt_put_uint(&bytes, host->stream_count, 4);
    for (size_t i = 0; i < host->track_count; i++)
        wt_put_text(&bytes, host->tracks[i].name);
    wt_put_uint(&bytes, host->name_count, 4);
    for (size_t i = 0; i < host->name_count; i++)
        wt_put_text(&bytes, host->names[i]);
    wt_put_uint(&bytes, host->span_count, 8);
    for (size_t i = 0; i < host->span_count; i++)
        put_host_span(&bytes, &host->spans[i]);
    write_chunk(stream, "HOST", &bytes);
    free(bytes.data);
}

static void write_end(FILE *stream, uint64_t spans)
{
    struct wt_bytes bytes = {0};
    wt_put_uint(&bytes, spans, 8);
    write_chunk(stream, "DONE", &bytes);
    free(bytes.data);
}

static enum wt_code write_result(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    const struct wt_timeline *timelines[] = {[SIMULATED] = what->simulated, [MEASURED] = what->measured};
    struct wt_bytes version = {0};
    uint64_t spans = 0;
    (void)err;
    wt_put_uint(&version, VERSION, 4);
    fwrite(magic, 1, MAGIC, stream);
    fwrite(version.data, 1, version.count, stream);
    free(version.data);
    for (enum kind kind = SIMULATED; kind <= MEASURED; kind++) {
        if (!timelines[kind])
            continue;
        write_description(stream, timelines[kind], kind);
        write_needs(stream, timelines[kind]);
        write_spans(stream, timelines[kind]);
        write_tasks(stream, timelines[kind]);
        write_deadlock(stream, timelines[kind]);
        write_host(stream, timelines[kind]->host);
        spans += timelines[kind]->span_count;
    }
    write_end(stream, spans);
    return WT_OK;
}

/* --- reading --- */

static enum wt_code fail_damaged(struct reader *reader, const char *what)
{
    return wt_fail_at(reader->err, reader->name, 0, damaged, what);
}

static enum wt_code fail_truncated(struct reader *reader)
{
    if (ferror(reader->stream))
        return wt_fail_at(reader->err, reader->name, 0, "cannot be read (%s)", strerror(errno));
    return fail_damaged(reader, "it ends too early");
}

static enum wt_code read_exactly(struct reader *reader, void *data, size_t count)
{
    return fread(data, 1, count, reader->stream) == count ? WT_OK : fail_truncated(reader);
}

static enum wt_code read_payload(struct reader *reader, uint64_t length)
{
    for (uint64_t at = 0; at < length;) {
        size_t step = length - at < READ_STEP ? (size_t)(length - at) : READ_STEP;
        reader->payload = wt_grow(reader->payload, &reader->payload_capacity, (size_t)at + step, 1);
        WT_TRY(read_exactly(reader, reader->payload + at, step));
        at += step;
    }
    return WT_OK;
}

static enum wt_code read_chunk(struct reader *reader, struct chunk *chunk)
{
    uint8_t head[NAME + 8], foot[4];
    WT_TRY(read_exactly(reader, head, sizeof head));
    struct wt_cursor cursor = {head + NAME, 8, 0, false};
    memcpy(chunk->name, head, NAME);
    chunk->name[NAME] = '\0';
    chunk->length = wt_get_uint(&cursor, 8);
    WT_TRY(read_payload(reader, chunk->length));
    WT_TRY(read_exactly(reader, foot, sizeof foot));
    cursor = (struct wt_cursor){foot, sizeof foot, 0, false};
    uint32_t crc = wt_crc32(wt_crc32(0, head, sizeof head), reader->payload, (size_t)chunk->length);
    if (wt_get_uint(&cursor, 4) != crc)
        return fail_damaged(reader, "a checksum does not match");
    return WT_OK;
}

static int get_count(struct wt_cursor *payload)
{
    uint64_t value = wt_get_uint(payload, 4);
    payload->failed |= value > MOST_COUNT;
    return payload->failed ? 0 : (int)value;
}

static void get_launch(struct wt_timeline *timeline, struct wt_cursor *payload)
{
    struct wt_timeline_launch launch = {.name = wt_get_text(payload)};
    launch.number = (long)wt_get_uint(payload, 8);
    launch.grid_blocks = wt_get_uint(payload, 8);
    launch.threads_per_block = get_count(payload);
    launch.warps_per_block = get_count(payload);
    launch.blocks_per_sm = get_count(payload);
    launch.queue_empty = wt_get_uint(payload, 8);
    payload->failed |= launch.queue_empty >= latest;
    wt_timeline_add_launch(timeline, &launch);
    free(launch.name);
}

static struct wt_timeline *get_header(struct wt_cursor *payload)
{
    char *title = wt_get_text(payload), *gpu = wt_get_text(payload);
    double clock_mhz = wt_get_double(payload);
    int sms = get_count(payload);
    payload->failed |= sms < 1 || sms > WT_MAX_SMS || !(clock_mhz == 0 || (clock_mhz >= 1 && clock_mhz < 1e6));
    struct wt_timeline *timeline = payload->failed ? NULL : wt_timeline_new(title, gpu, sms);
    free(title);
    free(gpu);
    if (timeline)
        timeline->clock_mhz = clock_mhz;
    return timeline;
}

static struct wt_timeline *get_description(struct wt_cursor *payload)
{
    struct wt_timeline *timeline = get_header(payload);
    if (!timeline)
        return NULL;
    timeline->warps_per_sm = get_count(payload);
    for (int i = 0; i < timeline->sm_count; i++)
        timeline->gpc_of_sm[i] = (uint16_t)wt_get_uint(payload, 2);
    size_t launches = (size_t)wt_get_uint(payload, 4);
    payload->failed |= launches > payload->count / LAUNCH_BYTES;
    for (size_t i = 0; i < launches && !payload->failed; i++)
        get_launch(timeline, payload);
    return timeline;
}

static enum wt_code read_description(struct reader *reader, struct wt_cursor *payload)
{
    uint64_t kind = wt_get_uint(payload, 1);
    struct wt_timeline **place = kind == SIMULATED ? &reader->result->simulated : &reader->result->measured;
    if (kind > MEASURED || *place)
        return fail_damaged(reader, "it holds a timeline that should not be there");
    *place = get_description(payload);
    reader->current = *place;
    return payload->failed ? fail_damaged(reader, "a timeline's description makes no sense") : WT_OK;
}

static int get_need(struct wt_cursor *payload)
{
    uint64_t value = wt_get_uint(payload, 4);
    payload->failed |= value > INT32_MAX;
    return payload->failed ? 0 : (int)value;
}

static void get_needs(struct wt_cursor *payload, struct wt_timeline_launch *launch)
{
    launch->needs = (struct wt_launch_needs){.threads = get_need(payload)};
    launch->needs.registers_per_thread = get_need(payload) - 1;
    launch->needs.static_shared_bytes = get_need(payload);
    launch->needs.dynamic_shared_bytes = get_need(payload);
    launch->needs.carveout_kb = get_need(payload) - 1;
    launch->needs.barriers = get_need(payload);
    launch->stream = get_need(payload);
}

static enum wt_code read_needs(struct reader *reader, struct wt_cursor *payload)
{
    struct wt_timeline *timeline = reader->current;
    if (!timeline || payload->count != timeline->launch_count * NEED_BYTES)
        return fail_damaged(reader, "a table of what launches need makes no sense");
    for (size_t i = 0; i < timeline->launch_count; i++)
        get_needs(payload, &timeline->launches[i]);
    return payload->failed ? fail_damaged(reader, "a launch's needs make no sense") : WT_OK;
}

static struct wt_block_run get_span(struct wt_cursor *payload)
{
    struct wt_block_run span = {.block = wt_get_uint(payload, 8)};
    span.start = wt_get_uint(payload, 8);
    span.end = wt_get_uint(payload, 8);
    span.launch = (uint32_t)wt_get_uint(payload, 4);
    span.sm = (uint16_t)wt_get_uint(payload, 2);
    span.slot = (uint16_t)wt_get_uint(payload, 2);
    return span;
}

static bool belongs(const struct wt_timeline *timeline, const struct wt_block_run *span)
{
    return span->launch < timeline->launch_count && span->sm < timeline->sm_count && span->start <= span->end &&
           span->end < latest && span->slot < MOST_SLOT;
}

static enum wt_code read_spans(struct reader *reader, struct wt_cursor *payload)
{
    if (!reader->current || payload->count % SPAN_BYTES)
        return fail_damaged(reader, "a table of blocks makes no sense");
    while (payload->at < payload->count) {
        struct wt_block_run span = get_span(payload);
        if (!belongs(reader->current, &span))
            return fail_damaged(reader, "a block is on an SM or of a launch that does not exist");
        wt_timeline_add(reader->current, &span);
        reader->spans++;
    }
    return WT_OK;
}

static enum wt_code read_tasks(struct reader *reader, struct wt_cursor *payload)
{
    struct wt_timeline *timeline = reader->current;
    if (!timeline || payload->count != 8 * (timeline->launch_count + timeline->span_count))
        return fail_damaged(reader, "a table of tasks makes no sense");
    for (size_t i = 0; i < timeline->launch_count; i++)
        timeline->launches[i].tasks = wt_get_uint(payload, 8);
    for (size_t i = 0; i < timeline->span_count; i++)
        timeline->spans[i].task = wt_get_uint(payload, 8);
    return WT_OK;
}

static enum wt_code read_deadlock(struct reader *reader, struct wt_cursor *payload)
{
    struct wt_timeline *timeline = reader->current;
    if (!timeline || timeline->stuck)
        return fail_damaged(reader, "it holds a deadlock that should not be there");
    timeline->stuck_since = wt_get_uint(payload, 8);
    timeline->stuck = wt_get_text(payload);
    bool sound = !payload->failed && payload->at == payload->count && timeline->stuck_since > 0 && timeline->stuck_since < latest &&
                 !strncmp(timeline->stuck, "deadlock: ", 10);
    return sound ? WT_OK : fail_damaged(reader, "its deadlock makes no sense");
}

static struct wt_host_span get_host_span(struct wt_cursor *payload)
{
    struct wt_host_span span = {.kind = (enum wt_activity_kind)wt_get_uint(payload, 1)};
    span.track = (uint32_t)wt_get_uint(payload, 4);
    span.stream = (uint32_t)wt_get_uint(payload, 4);
    span.name = (uint32_t)wt_get_uint(payload, 4);
    span.begin = wt_get_uint(payload, 8);
    span.end = wt_get_uint(payload, 8);
    span.waited = wt_get_uint(payload, 8);
    span.bytes = wt_get_uint(payload, 8);
    span.direction = (uint8_t)wt_get_uint(payload, 1);
    span.pageable = (uint8_t)wt_get_uint(payload, 1);
    span.launch = (uint32_t)wt_get_uint(payload, 4);
    return span;
}

static bool host_span_makes_sense(const struct wt_host_timeline *host, const struct wt_timeline *timeline,
                                  const struct wt_host_span *span)
{
    if (span->kind > WT_ACTIVITY_KERNEL || span->track >= host->track_count || span->name >= host->name_count)
        return false;
    if (span->stream != UINT32_MAX && span->stream >= host->stream_count)
        return false;
    if (span->begin > span->end || span->end >= latest || span->waited > span->end - span->begin)
        return false;
    if (span->kind == WT_ACTIVITY_KERNEL && span->launch >= timeline->launch_count)
        return false;
    return span->direction < WT_DIRECTIONS && span->bytes < latest && span->pageable <= 1;
}

/* The tracks' names, then the spans'. */
static struct wt_host_timeline *get_host_names(struct wt_cursor *payload)
{
    wt_time lead = wt_get_uint(payload, 8);
    size_t threads = (size_t)wt_get_uint(payload, 4), streams = (size_t)wt_get_uint(payload, 4);
    payload->failed |= lead >= latest || threads > payload->count || streams > payload->count;
    struct wt_host_timeline *host = wt_host_timeline_empty(payload->failed ? 0 : threads, payload->failed ? 0 : streams);
    host->lead = lead;
    while (host->track_count < host->thread_count + host->stream_count + WT_DIRECTIONS) {
        char *name = wt_get_text(payload);
        wt_host_timeline_add_track(host, name);
        free(name);
    }
    size_t names = (size_t)wt_get_uint(payload, 4);
    for (size_t i = 0; i < names && !payload->failed; i++) {
        char *name = wt_get_text(payload);
        payload->failed |= wt_host_timeline_name(host, name) != i;
        free(name);
    }
    return host;
}

static enum wt_code read_host(struct reader *reader, struct wt_cursor *payload)
{
    static const char nonsense[] = "the host's side makes no sense";
    if (!reader->current || reader->current->host || reader->current->clock_mhz <= 0)
        return fail_damaged(reader, nonsense);
    struct wt_host_timeline *host = reader->current->host = get_host_names(payload);
    uint64_t spans = wt_get_uint(payload, 8);
    for (uint64_t i = 0; i < spans && !payload->failed; i++) {
        struct wt_host_span span = get_host_span(payload);
        if (payload->failed || !host_span_makes_sense(host, reader->current, &span))
            return fail_damaged(reader, nonsense);
        wt_host_timeline_add(host, &span);
    }
    wt_host_timeline_sort(host);
    return payload->failed || payload->at < payload->count ? fail_damaged(reader, nonsense) : WT_OK;
}

static enum wt_code read_end(struct reader *reader, struct wt_cursor *payload)
{
    reader->done = true;
    return wt_get_uint(payload, 8) == reader->spans ? WT_OK : fail_damaged(reader, "blocks are missing");
}

static const struct chunk_reader chunk_readers[] = {
    {"TIME", read_description},
    {"NEED", read_needs},
    {"SPAN", read_spans},
    {"TASK", read_tasks},
    {"HELD", read_deadlock},
    {"HOST", read_host},
    {"DONE", read_end},
};

static enum wt_code read_next(struct reader *reader)
{
    struct chunk chunk;
    WT_TRY(read_chunk(reader, &chunk));
    struct wt_cursor payload = {reader->payload, (size_t)chunk.length, 0, false};
    for (size_t i = 0; i < sizeof chunk_readers / sizeof *chunk_readers; i++)
        if (!memcmp(chunk.name, chunk_readers[i].name, NAME))
            return chunk_readers[i].read(reader, &payload);
    return WT_OK;
}

static enum wt_code read_head(struct reader *reader)
{
    uint8_t head[MAGIC + 4] = {0};
    size_t count = fread(head, 1, sizeof head, reader->stream);
    if (ferror(reader->stream) || (count >= MAGIC && count < sizeof head))
        return fail_truncated(reader);
    if (memcmp(head, magic, MAGIC))
        return wt_fail_at(reader->err, reader->name, 0,
                          "is not a wavetail result file; give a file made with --save");
    struct wt_cursor cursor = {head + MAGIC, 4, 0, false};
    unsigned version = (unsigned)wt_get_uint(&cursor, 4);
    if (version != VERSION)
        return wt_fail_at(
            reader->err, reader->name, 0,
            "is a result file of version %u, this program reads version %d; use the program that made it, "
            "or make the file again",
            version, VERSION);
    return WT_OK;
}

static enum wt_code read_all(struct reader *reader)
{
    WT_TRY(read_head(reader));
    while (!reader->done)
        WT_TRY(read_next(reader));
    if (getc(reader->stream) != EOF)
        return fail_damaged(reader, "there is more after its end");
    if (!reader->result->simulated && !reader->result->measured)
        return fail_damaged(reader, "it holds no timeline");
    return WT_OK;
}

bool wt_result_recognise(const char *path)
{
    char head[MAGIC];
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return false;
    bool matches = fread(head, 1, MAGIC, stream) == MAGIC && !memcmp(head, magic, MAGIC);
    fclose(stream);
    return matches;
}

enum wt_code wt_result_read(FILE *stream, const char *name, struct wt_result *out, struct wt_error *err)
{
    *out = (struct wt_result){0};
    struct reader reader = {.stream = stream, .name = name, .err = err, .result = out};
    reader.payload = wt_grow(NULL, &reader.payload_capacity, READ_STEP, 1);
    enum wt_code code = read_all(&reader);
    free(reader.payload);
    if (code != WT_OK)
        wt_result_clear(out);
    return code;
}

enum wt_code wt_result_load(const char *path, struct wt_result *out, struct wt_error *err)
{
    *out = (struct wt_result){0};
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return wt_fail_at(err, path, 0, "cannot be opened (%s)", strerror(errno));
    enum wt_code code = wt_result_read(stream, path, out, err);
    fclose(stream);
    return code;
}

void wt_result_clear(struct wt_result *result)
{
    wt_timeline_free(result->simulated);
    wt_timeline_free(result->measured);
    *result = (struct wt_result){0};
}

const struct wt_exporter wt_save_exporter = {.name = "save", .write = write_result};
