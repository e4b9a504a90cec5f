/* When the launches of a trace reached the grid scheduler, and a front end that lets them arrive so in a replay.
 *
 * A trace shows when a kernel's first block started, not when the kernel arrived: it may have waited. Which it was is
 * read off the measured starts and ends:
 * - after an earlier kernel of its own stream: when that one is done, plus the measured gap;
 * - more urgent than a kernel being dispatched: after that one's last start before its own first;
 * - otherwise, where another kernel's last block had started or a block had ended just before: it waited, and the host
 *   launched it right after the kernel that started before it;
 * - otherwise it found room at once and arrived then.
 * Where that would let it start sooner than it did, it had not arrived yet (wt_arrivals_delay). */
#ifndef WT_STUDY_ARRIVALS_H
#define WT_STUDY_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>

#include "dispatch/front_end.h"
#include "gpu/gpu.h"
#include "observe/timeline.h"
#include "trace/trace.h"

struct wt_arrival {
    wt_time at;    /* counted from the first arrival; `after` not yet considered */
    wt_time gap;   /* with `after`: from that one's end */
    int after;     /* launch of the same stream that must be done before; -1: none */
    bool ready;    /* that one is done */
    bool taken;
};

struct wt_arrivals {
    struct wt_arrival *list; /* by launch; owned */
    size_t count;
};

/* Whether launches of the trace had to do with each other: they were on the GPU at once, or one began so soon after the end
 * of another stream's that it must have waited for it. */
bool wt_arrivals_interact(const struct wt_trace *trace, const struct wt_timeline *measured);

/* `measured` is the trace's timeline. Launches without blocks are never taken. */
void wt_arrivals_find(const struct wt_trace *trace, const struct wt_timeline *measured, const struct wt_gpu *gpu,
                      struct wt_arrivals *out);
/* `first_starts`: of each launch, simulated with these arrivals, on the axis of `measured`. The first launch (as measured) that does not
 * follow another one and would have started clearly sooner than it did, most of its supposed wait unexplained, arrives when it started.
 * Whether there was one. */
bool wt_arrivals_delay(struct wt_arrivals *arrivals, const struct wt_launch_extent *measured, const wt_time *first_starts);

/* Owned by the caller; of arrivals not yet taken. */
struct wt_arrivals wt_arrivals_copy(const struct wt_arrivals *arrivals);
void wt_arrivals_free(struct wt_arrivals *arrivals);

/* Lets each launch arrive in its turn, once. `arrivals` must outlive what is returned. */
struct wt_front_end wt_arrivals_front_end(struct wt_arrivals *arrivals);

#endif
