/* Streamed JSON output: commas, quotes, escapes and nesting are taken care of; numbers do not depend on the
 * locale; NaN and infinities become null. */
#ifndef WT_CORE_JSON_H
#define WT_CORE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { WT_JSON_DEPTH = 32 };

struct wt_json {
    FILE *stream; /* not owned */
    int depth;
    struct {
        char closer;    /* '}' or ']' */
        bool has_items;
    } level[WT_JSON_DEPTH];
    bool compact; /* no line breaks */
};

struct wt_json wt_json_begin(FILE *stream, bool compact);
/* Final newline; everything opened must be closed. */
void wt_json_end(struct wt_json *json);

/* `key` is NULL inside an array and for the outermost value. */
void wt_json_object(struct wt_json *json, const char *key);
void wt_json_array(struct wt_json *json, const char *key);
/* Closes the innermost open object or array. */
void wt_json_close(struct wt_json *json);
/* A NULL value becomes null. Bytes that are not valid UTF-8 become U+FFFD. */
void wt_json_string(struct wt_json *json, const char *key, const char *value);
void wt_json_int(struct wt_json *json, const char *key, int64_t value);
/* At most `digits` significant digits, trailing zeros dropped. */
void wt_json_number(struct wt_json *json, const char *key, double value, int digits);
void wt_json_bool(struct wt_json *json, const char *key, bool value);

#endif
