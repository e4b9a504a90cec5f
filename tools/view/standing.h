/* What a deadlock leaves on the SMs: blocks that have been handed out and never end. */
#ifndef VIEW_STANDING_H
#define VIEW_STANDING_H

#include "dispatch/watch.h"
#include "observe/timeline.h"

struct standing; /* opaque */

struct standing *standing_new(int sm_count);
/* NULL is allowed. */
void standing_free(struct standing *standing);

/* For the simulation; valid as long as `standing`. */
struct wt_watch standing_watch(struct standing *standing);

/* After a deadlock: adds the blocks to the timeline, with an end a good while (twice the time so far, at least 2,000 cycles)
 * after the last thing that happened. Returns that end, 0 when no block stands. */
wt_time standing_add(const struct standing *standing, struct wt_timeline *timeline);

/* The first block's start on the simulation's axis; 0 when no block started. */
wt_time standing_first_start(const struct standing *standing);

#endif
