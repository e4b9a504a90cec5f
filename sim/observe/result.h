/* The project's result file (`--save`): the timelines of a run, with everything needed to draw and measure them
 * again. Layout: the eight bytes "WAVETAIL", a version, then chunks, each a four-letter name, a length, that many
 * bytes, and a checksum; readers skip chunks whose names they do not know. Little-endian. */
#ifndef WT_OBSERVE_RESULT_H
#define WT_OBSERVE_RESULT_H

#include <stdbool.h>

#include "observe/exporter.h"

struct wt_result {
    struct wt_timeline *simulated; /* NULL when the file holds none; owned */
    struct wt_timeline *measured;
};

/* Does the file begin like a result file? false also when it cannot be read. */
bool wt_result_recognise(const char *path);

/* On failure (not a result file, another version, truncated, damaged) `out` is zeroed. */
enum wt_code wt_result_load(const char *path, struct wt_result *out, struct wt_error *err);
void wt_result_clear(struct wt_result *result);

extern const struct wt_exporter wt_result_exporter;

#endif
