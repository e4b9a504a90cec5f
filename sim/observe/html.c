/* One self-contained page: page.html with page.js, the run's description as JSON, and the blocks as text.
 *
 * A side's blocks, base64 of variable-length integers (7 bits a byte, low bits first, the high bit says that more
 * follow): for every lane (SM by SM, slot by slot) the number of its blocks, then for each in the order of their starts
 *   gap since the end before it in the lane (the first: since the side's origin), duration, both in 1/1024 cycle,
 *   block less the block before it in the lane, launch less the launch before it (zigzag: 0, -1, 1, -2, …),
 *   and, only where some launch is persistent, the task, likewise.
 * Most blocks take eight to ten bytes. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/exporter.h"
#include "observe/html_page.h"

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

static void write_blocks(FILE *stream, const struct wt_timeline *timeline)
{
    struct base64 out = {.stream = stream};
    struct lanes lanes = lanes_of(timeline, wt_html_slots(timeline));
    for (size_t i = 0; i < lanes.count; i++)
        put_lane(&out, lanes.spans + lanes.first[i], lanes.first[i + 1] - lanes.first[i], wt_timeline_begin(timeline),
                 wt_html_has_tasks(timeline));
    put_end(&out);
    free(lanes.spans);
    free(lanes.first);
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

static void write_data(FILE *stream, struct wt_timeline *const *sides)
{
    for (int i = 0; i < 2; i++) {
        if (!sides[i])
            continue;
        fprintf(stream, "<script type=\"application/octet-stream\" id=\"blocks%d\">", i);
        write_blocks(stream, sides[i]);
        fputs("</script>\n", stream);
    }
}

static enum wt_code write_html(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    struct wt_timeline *const sides[2] = {what->measured, what->simulated};
    char *title = title_of(what), *text = wt_html_description(what, title);
    (void)err;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", stream);
    write_html_text(stream, title);
    fputs("</title>\n", stream);
    fputs(wt_html_body, stream);
    fputs("<script type=\"application/json\" id=\"run\">", stream);
    write_escaped(stream, text, "\\u003c");
    fputs("</script>\n", stream);
    write_data(stream, sides);
    fputs("<script>\n", stream);
    for (size_t i = 0; i < WT_HTML_SCRIPTS; i++)
        fputs(wt_html_scripts[i], stream);
    fputs("</script>\n</body>\n</html>\n", stream);
    free(title);
    free(text);
    return WT_OK;
}

const struct wt_exporter wt_html_exporter = {.name = "html", .write = write_html};
