/* The host's side of a timeline: what its threads called, what ran in each stream, what each copy engine copied.
 *
 * Times count from the first call; the blocks' time 0 is `lead` later. */
#ifndef WT_OBSERVE_HOST_H
#define WT_OBSERVE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/json.h"
#include "core/time.h"
#include "dispatch/host.h"

enum wt_track_kind { WT_TRACK_THREAD, WT_TRACK_STREAM, WT_TRACK_ENGINE };

struct wt_track {
    enum wt_track_kind kind;
    char *name; /* owned */
};

struct wt_host_span {
    enum wt_activity_kind kind; /* a CALL lies on its thread's track, a COPY on its engine's, the others on their stream's */
    uint32_t track;
    uint32_t stream; /* index among the streams; UINT32_MAX: none */
    uint32_t name;   /* in `names` */
    wt_time begin, end;
    wt_time waited;  /* CALL: time spent waiting at its end */
    uint64_t bytes;  /* COPY */
    uint8_t direction, pageable; /* COPY */
    uint32_t launch; /* KERNEL */
};

struct wt_host_timeline {
    struct wt_track *tracks; /* threads, then streams, then engines 0 to 2; owned */
    size_t track_count, thread_count, stream_count;
    struct wt_host_span *spans; /* owned */
    size_t span_count, span_capacity;
    char **names; /* owned */
    size_t name_count, name_capacity;
    wt_time lead;
    wt_time end; /* of everything */
};

/* For a GPU with so many copy engines between host and device. Names are copied. */
struct wt_host_timeline *wt_host_timeline_new(const struct wt_host_program *program, int engines);
/* The same in steps: one without tracks, then each of them in order. */
struct wt_host_timeline *wt_host_timeline_empty(size_t threads, size_t streams);
void wt_host_timeline_add_track(struct wt_host_timeline *host, const char *name);
/* NULL is allowed. */
void wt_host_timeline_free(struct wt_host_timeline *host);

/* Adds all that happens; must be outlived by `host`. */
struct wt_host_observer wt_host_timeline_observer(struct wt_host_timeline *host);

/* Orders spans by (begin, end, track, kind). */
void wt_host_timeline_sort(struct wt_host_timeline *host);

/* Whether the span is shown on the track: a copy on its engine's and on its stream's. */
bool wt_host_span_lies_on(const struct wt_host_timeline *host, const struct wt_host_span *span, size_t track);

/* Index of the name, which is added where it is new. */
uint32_t wt_host_timeline_name(struct wt_host_timeline *host, const char *name);
struct wt_host_span *wt_host_timeline_add(struct wt_host_timeline *host, const struct wt_host_span *span);

/* How long kernels ran, copies ran, and both at once. */
struct wt_host_use {
    wt_time kernels, copies, both;
};
struct wt_host_use wt_host_timeline_use(const struct wt_host_timeline *host);

/* "h2d", "d2h", "d2d". */
const char *wt_direction_name(int direction);

/* clock_mhz > 0. JSON: a member `host` of the open object; times in us from the first call. */
void wt_host_timeline_print(FILE *stream, const struct wt_host_timeline *host, double clock_mhz);
void wt_host_timeline_json(struct wt_json *json, const struct wt_host_timeline *host, double clock_mhz);

#endif
