/* The project's result file (`--save`): the timelines of a run, with everything needed to draw and measure them
 * again.
 *
 * Layout, little-endian: "WAVETAIL", the version (4 bytes), then chunks: a name of four letters, the payload's
 * length (8 bytes), the payload, and the CRC-32 of all three (4 bytes). Readers skip chunks whose names they do
 * not know, so that later versions can add some without a new version number.
 *   TIME  begins a timeline: kind (1 byte: 0 simulated, 1 measured), title, GPU name (texts: length in 4 bytes,
 *         bytes), clock in MHz (IEEE double), SM count (4), warps per SM (4), the GPC of every SM (2 each),
 *         launch count (4), launches (name; number 8; grid blocks 8; threads 4, warps 4, blocks per SM 4; queue
 *         empty 8)
 *   NEED  what the timeline's launches need, for each: threads of a block, registers of a thread + 1, static and dynamic
 *         shared memory in bytes, carve-out in KB + 1, barriers, stream (4 each); threads and registers 0: unknown
 *   SPAN  spans of the timeline before it: block 8, start 8, end 8, launch 4, SM 2, slot 2
 *   TASK  where launches are persistent, in the timeline before it: the tasks of each launch (8 each; 0: an ordinary one), then the
 *         task that each span is (8 each)
 *   HELD  of a deadlock, in the timeline before it: since when nothing happens (8), who waits for whom (text, after "deadlock: ").
 *         Blocks that end later never do; their ends are where a picture ends
 *   HOST  the host's side of the timeline before it, if known: lead 8, threads 4, streams 4, the names of these and of three
 *         engines, number of names 4, names, number of spans 8, spans (kind 1, track 4, stream 4, name 4, begin 8, end 8,
 *         waited 8, bytes 8, direction 1, pageable 1, launch 4)
 *   DONE  the last chunk: number of spans in the file (8) */
#ifndef WT_OBSERVE_RESULT_H
#define WT_OBSERVE_RESULT_H

#include <stdbool.h>
#include <stdio.h>

#include "observe/exporter.h"

struct wt_result {
    struct wt_timeline *simulated; /* NULL when the file holds none; owned */
    struct wt_timeline *measured;
};

/* Does the file begin like a result file? false also when it cannot be read. */
bool wt_result_recognise(const char *path);

/* On failure (not a result file, another version, truncated, damaged) `out` is zeroed. */
enum wt_code wt_result_load(const char *path, struct wt_result *out, struct wt_error *err);
/* The same from a stream; `name` is for messages. */
enum wt_code wt_result_read(FILE *stream, const char *name, struct wt_result *out, struct wt_error *err);
void wt_result_clear(struct wt_result *result);

extern const struct wt_exporter wt_save_exporter;

#endif
