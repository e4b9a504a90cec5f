#include "core/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/text.h"

static void quote(FILE *stream, const char *text)
{
    putc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        size_t length = wt_utf8_length((const char *)c);
        if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(stream, "\\u%04x", *c);
        else if (length)
            fwrite(c, 1, length, stream);
        else
            fputs("\xef\xbf\xbd", stream);
        c += length ? length : 1;
    }
    putc('"', stream);
}

static void new_line(struct wt_json *json)
{
    if (json->compact)
        return;
    fprintf(json->stream, "\n%*s", 2 * json->depth, "");
}

/* Comma, line break and key: what comes before any value. */
static void lead(struct wt_json *json, const char *key)
{
    if (json->depth > 0) {
        if (json->level[json->depth - 1].has_items)
            putc(',', json->stream);
        json->level[json->depth - 1].has_items = true;
        new_line(json);
    }
    if (!key)
        return;
    quote(json->stream, key);
    fputs(json->compact ? ":" : ": ", json->stream);
}

static void open_level(struct wt_json *json, const char *key, char opener, char closer)
{
    assert(json->depth < WT_JSON_DEPTH);
    lead(json, key);
    putc(opener, json->stream);
    json->level[json->depth].closer = closer;
    json->level[json->depth].has_items = false;
    json->depth++;
}

struct wt_json wt_json_begin(FILE *stream, bool compact)
{
    return (struct wt_json){.stream = stream, .compact = compact};
}

void wt_json_end(struct wt_json *json)
{
    assert(json->depth == 0);
    putc('\n', json->stream);
}

void wt_json_object(struct wt_json *json, const char *key)
{
    open_level(json, key, '{', '}');
}

void wt_json_array(struct wt_json *json, const char *key)
{
    open_level(json, key, '[', ']');
}

void wt_json_close(struct wt_json *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->level[json->depth].has_items)
        new_line(json);
    putc(json->level[json->depth].closer, json->stream);
}

void wt_json_string(struct wt_json *json, const char *key, const char *value)
{
    lead(json, key);
    if (value)
        quote(json->stream, value);
    else
        fputs("null", json->stream);
}

void wt_json_int(struct wt_json *json, const char *key, int64_t value)
{
    lead(json, key);
    fprintf(json->stream, "%" PRId64, value);
}

void wt_json_number(struct wt_json *json, const char *key, double value, int digits)
{
    lead(json, key);
    if (!isfinite(value)) {
        fputs("null", json->stream);
        return;
    }
    char text[64];
    snprintf(text, sizeof text, "%.*g", digits, value == 0 ? 0.0 : value);
    for (char *c = text; *c; c++) /* a locale's decimal comma */
        if (*c == ',')
            *c = '.';
    fputs(text, json->stream);
}

void wt_json_bool(struct wt_json *json, const char *key, bool value)
{
    lead(json, key);
    fputs(value ? "true" : "false", json->stream);
}
