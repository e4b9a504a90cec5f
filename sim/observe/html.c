/* One self-contained page: page.html with page.js, the run's description as JSON, and the blocks as text.
 *
 * A side's blocks, base64 of variable-length integers (7 bits a byte, low bits first, the high bit says that more
 * follow): for every lane (SM by SM, slot by slot) the number of its blocks, then for each in the order of their starts
 *   gap since the end before it in the lane (the first: since the side's origin), duration, both in 1/1024 cycle,
 *   block less the block before it in the lane, launch less the launch before it (zigzag: 0, -1, 1, -2, …),
 *   and, only where some launch is persistent, the task, likewise.
 * Most blocks take eight to ten bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "observe/exporter.h"
#include "observe/html_page.h"
#include "observe/metrics.h"

enum { DIGITS = 12 };

/* ---- The blocks ---- */

struct base64 {
    FILE *stream;
    uint32_t bits;
    int bytes; /* in `bits`: 0, 1, 2 */
};

static void put_group(struct base64 *out, int digits)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 4; i++)
        fputc(i < digits ? alphabet[out->bits >> (18 - 6 * i) & 63] : '=', out->stream);
    out->bits = 0;
    out->bytes = 0;
}

static void put_byte(struct base64 *out, unsigned byte)
{
    out->bits |= byte << (16 - 8 * out->bytes);
    if (++out->bytes == 3)
        put_group(out, 4);
}

static void put_end(struct base64 *out)
{
    if (out->bytes > 0)
        put_group(out, out->bytes + 1);
}

static void put_number(struct base64 *out, uint64_t value)
{
    for (; value > 127; value >>= 7)
        put_byte(out, (unsigned)(value & 127) | 128);
    put_byte(out, (unsigned)value);
}

static void put_change(struct base64 *out, uint64_t from, uint64_t to)
{
    uint64_t up = to - from, down = from - to;
    put_number(out, to >= from ? 2 * up : 2 * down - 1);
}

/* Spans by lane, each lane's in the order of their starts: `first` has one entry more than there are lanes. */
struct lanes {
    const struct wt_block_run **spans;
    size_t *first;
    size_t count;
};

static size_t lane_of(const struct wt_block_run *span, int slots)
{
    return (size_t)span->sm * (size_t)slots + span->slot;
}

/* The timeline is sorted by time; counting keeps that order within each lane. */
static struct lanes lanes_of(const struct wt_timeline *timeline, int slots)
{
    struct lanes lanes = {.count = (size_t)timeline->sm_count * (size_t)slots};
    size_t *next = wt_alloc(lanes.count + 1, sizeof *next);
    lanes.spans = wt_alloc(timeline->span_count, sizeof *lanes.spans);
    lanes.first = wt_alloc(lanes.count + 1, sizeof *lanes.first);
    for (size_t i = 0; i < timeline->span_count; i++)
        lanes.first[lane_of(&timeline->spans[i], slots) + 1]++;
    for (size_t i = 0; i < lanes.count; i++)
        lanes.first[i + 1] += lanes.first[i];
    memcpy(next, lanes.first, (lanes.count + 1) * sizeof *next);
    for (size_t i = 0; i < timeline->span_count; i++)
        lanes.spans[next[lane_of(&timeline->spans[i], slots)]++] = &timeline->spans[i];
    free(next);
    return lanes;
}

static void put_lane(struct base64 *out, const struct wt_block_run *const *spans, size_t count, wt_time origin, bool tasks)
{
    struct wt_block_run before = {.end = origin};
    put_number(out, count);
    for (size_t i = 0; i < count; i++) {
        put_number(out, spans[i]->start - before.end);
        put_number(out, spans[i]->end - spans[i]->start);
        put_change(out, before.block, spans[i]->block);
        put_change(out, before.launch, spans[i]->launch);
        if (tasks)
            put_change(out, before.task, spans[i]->task);
        before = *spans[i];
    }
}

static bool has_tasks(const struct wt_timeline *timeline)
{
    for (size_t i = 0; i < timeline->launch_count; i++)
        if (timeline->launches[i].tasks > 0)
            return true;
    return false;
}

static void write_blocks(FILE *stream, const struct wt_timeline *timeline)
{
    struct base64 out = {.stream = stream};
    struct lanes lanes = lanes_of(timeline, wt_timeline_slots(timeline));
    for (size_t i = 0; i < lanes.count; i++)
        put_lane(&out, lanes.spans + lanes.first[i], lanes.first[i + 1] - lanes.first[i], wt_timeline_begin(timeline),
                 has_tasks(timeline));
    put_end(&out);
    free(lanes.spans);
    free(lanes.first);
}

/* ---- The description ---- */

static void cycles(struct wt_json *json, const char *key, wt_time t)
{
    wt_json_number(json, key, wt_to_cycles(t), DIGITS + 4);
}

static void describe_part(struct wt_json *json, const struct wt_metrics_part *part)
{
    wt_json_object(json, "metrics");
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
    if (part->blocks == 0)
        return;
    wt_json_array(json, NULL);
    cycles(json, NULL, part->tail.start - origin);
    cycles(json, NULL, part->tail.start - origin + part->tail.length);
    wt_json_close(json);
}

/* Of each launch where they follow one another, else of the whole. */
static void describe_tails(struct wt_json *json, const struct wt_metrics *metrics, wt_time origin)
{
    wt_json_array(json, "tails");
    if (!one_after_another(metrics))
        describe_tail(json, &metrics->whole, origin);
    else
        for (size_t i = 0; i < metrics->about->launch_count; i++)
            describe_tail(json, &metrics->launches[i], origin);
    wt_json_close(json);
}

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

static void describe_side(struct wt_json *json, const char *label, struct wt_timeline *timeline)
{
    struct wt_metrics *metrics = wt_metrics_of_timeline(timeline);
    wt_json_object(json, NULL);
    wt_json_string(json, "label", label);
    wt_json_string(json, "gpu", timeline->gpu_name);
    wt_json_number(json, "clock_mhz", timeline->clock_mhz, DIGITS);
    wt_json_int(json, "sms", timeline->sm_count);
    wt_json_int(json, "slots", wt_timeline_slots(timeline));
    wt_json_int(json, "blocks", (int64_t)timeline->span_count);
    wt_json_bool(json, "tasks", has_tasks(timeline));
    wt_json_array(json, "gpc");
    for (int i = 0; i < timeline->sm_count; i++)
        wt_json_int(json, NULL, timeline->gpc_of_sm[i]);
    wt_json_close(json);
    describe_launches(json, timeline);
    describe_tails(json, metrics, wt_timeline_begin(timeline));
    describe_part(json, &metrics->whole);
    wt_json_close(json);
    wt_metrics_free(metrics);
}

/* Without '<', which could end the script element; owned by the caller. */
static char *description(const char *title, struct wt_timeline *const *sides, const char *const *labels)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        abort();
    struct wt_json json = wt_json_begin(stream, true);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "title", title);
    wt_json_array(&json, "sides");
    for (int i = 0; i < 2; i++)
        if (sides[i])
            describe_side(&json, labels[i], sides[i]);
    wt_json_close(&json);
    wt_json_close(&json);
    wt_json_end(&json);
    fclose(stream);
    return text;
}

/* ---- The page ---- */

static void write_escaped(FILE *stream, const char *text, const char *less)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs(less, stream);
        else
            fputc(*text, stream);
    }
}

/* & first: the name may hold one. */
static void write_html_text(FILE *stream, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            fputs("&amp;", stream);
        else if (*text == '<')
            fputs("&lt;", stream);
        else
            fputc(*text, stream);
    }
}

static char *title_of(const struct wt_export *what)
{
    const struct wt_timeline *timeline = what->measured ? what->measured : what->simulated;
    const char *slash = strrchr(timeline->title, '/');
    const char *name = slash ? slash + 1 : timeline->title;
    if (what->title)
        return wt_strdup(what->title);
    return wt_format("%s%s%s", *name ? name : "Timeline", timeline->gpu_name[0] ? " on " : "", timeline->gpu_name);
}

static void write_data(FILE *stream, struct wt_timeline *const *sides, const char *const *labels)
{
    for (int i = 0; i < 2; i++) {
        if (!sides[i])
            continue;
        fprintf(stream, "<script type=\"application/octet-stream\" id=\"%s\">", labels[i]);
        write_blocks(stream, sides[i]);
        fputs("</script>\n", stream);
    }
}

static enum wt_code write_html(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    static const char *const labels[2] = {"measured", "predicted"}, *const alone[2] = {"measured", "simulated"};
    struct wt_timeline *const sides[2] = {what->measured, what->simulated};
    const char *const *names = sides[0] && sides[1] ? labels : alone;
    char *title = title_of(what), *text = description(title, sides, names);
    (void)err;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", stream);
    write_html_text(stream, title);
    fputs("</title>\n", stream);
    fputs(wt_html_body, stream);
    fputs("<script type=\"application/json\" id=\"run\">", stream);
    write_escaped(stream, text, "\\u003c");
    fputs("</script>\n", stream);
    write_data(stream, sides, names);
    fputs("<script>\n", stream);
    fputs(wt_html_script, stream);
    fputs("</script>\n</body>\n</html>\n", stream);
    free(title);
    free(text);
    return WT_OK;
}

const struct wt_exporter wt_html_exporter = {.name = "html", .write = write_html};
