/* What a deadlock leaves on the SMs: blocks that have been handed out and never end. */
#ifndef WT_OBSERVE_STANDING_H
#define WT_OBSERVE_STANDING_H

#include "dispatch/watch.h"
#include "observe/timeline.h"

struct wt_standing; /* opaque */

struct wt_standing *wt_standing_new(int sm_count);
/* NULL is allowed. */
void wt_standing_free(struct wt_standing *standing);

/* For the simulation; valid as long as `standing`. */
struct wt_watch wt_standing_watch(struct wt_standing *standing);

/* After a deadlock: adds the blocks to the timeline, sorts it and sets stuck_since and `stuck`. `since` is on the engine's axis,
 * WT_NEVER: with the last end; `message` is the simulation's, which may have a place before "deadlock: ". The blocks end
 * together, and their kernels' queues are empty, twice as long after `since` as that is after the first start, but at least
 * 100 cycles. */
void wt_standing_add(const struct wt_standing *standing, wt_time since, const char *message, struct wt_timeline *timeline);

/* The first block's start on the simulation's axis; 0 when no block started. */
wt_time wt_standing_first_start(const struct wt_standing *standing);

#endif
