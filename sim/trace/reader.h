/* What the parts of the trace reader share; private to sim/trace. */
#ifndef WT_TRACE_READER_H
#define WT_TRACE_READER_H

#include <stdio.h>

#include "core/lines.h"
#include "trace/trace.h"

struct wt_trace_reader {
    struct wt_trace *trace;
    uint32_t *index_of_number; /* launch number -> index + 1; 0 = unknown */
    size_t number_capacity;
    size_t launch_capacity, row_capacity;
    bool launches_stated; /* there was a "# launch" line: rows may name no other launch */
};

/* Text from a file made fit for a message: cut to 40 bytes, unprintable bytes shown as '?'. */
struct wt_excerpt {
    char text[48];
};
struct wt_excerpt wt_excerpt_of(const char *text, size_t length);

/* Takes in a comment line (starts with '#'). Plain comments and unknown keys are ignored. */
enum wt_code wt_trace_comment(struct wt_trace_reader *reader, const struct wt_line *line,
                              struct wt_error *err);

/* The launch's index, or -1. */
long wt_trace_find_launch(const struct wt_trace_reader *reader, int64_t number);

/* Adds a launch with everything "missing"; `number` in [0, WT_TRACE_MAX_LAUNCH], not there yet. The pointer
 * is valid until the next one is added. */
struct wt_trace_launch *wt_trace_add_launch(struct wt_trace_reader *reader, long number, long line);

/* Writes "# …" lines for the whole header to `stream`. */
void wt_trace_print_header(FILE *stream, const struct wt_trace *trace);

#endif
