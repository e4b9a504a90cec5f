/* The lines of a text file, plain or zstd-compressed (recognised by content), one at a time: memory does not
 * grow with the file. */
#ifndef WT_CORE_LINES_H
#define WT_CORE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum { WT_LINE_MAX = 1 << 20 }; /* bytes; a longer line is an error */

struct wt_lines;

struct wt_line {
    const char *text; /* without its end ("\n", "\r\n"); not terminated by NUL; valid until the next call */
    size_t length;
    long number; /* from 1 */
};

/* Fails when the file cannot be read, is a directory, is empty, or is compressed in a way other than zstd. */
enum wt_code wt_lines_open(const char *path, struct wt_lines **out, struct wt_error *err);

/* The same from memory; `data` must outlive the result. `name` stands for the file in messages. */
enum wt_code wt_lines_open_memory(const char *name, const void *data, size_t size, struct wt_lines **out,
                                  struct wt_error *err);

/* The next line; *more is false after the last one. Fails on a damaged or cut-off zstd frame, a NUL byte (the
 * file is not text) and an overlong line. */
enum wt_code wt_lines_next(struct wt_lines *lines, struct wt_line *line, bool *more, struct wt_error *err);

void wt_lines_close(struct wt_lines *lines);

#endif
