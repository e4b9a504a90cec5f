/* How a run came about, so that its simulation can be asked why it did what it did. */
#ifndef VIEW_ORIGIN_H
#define VIEW_ORIGIN_H

#include "scenario.h"

struct origin; /* opaque */

/* The scenario must outlive it, as must the names in `changes`. */
struct origin *origin_scenario(const struct scenario *scenario, const struct changes *changes);
/* The replay of a trace; `gpu` may be NULL, as for wt_replay_trace. */
struct origin *origin_replay(const char *trace, const char *gpu, uint64_t seed);
/* NULL is allowed. */
void origin_free(struct origin *origin);

/* Can it be asked about blocks by the numbers that the run has for them? NULL: no. */
bool origin_can_tell(const struct origin *origin);

/* Simulates again and asks. The answer is the caller's; on failure *out is NULL. */
enum wt_code origin_ask(const struct origin *origin, const struct wt_why_question *question, struct wt_why **out,
                        struct wt_error *err);

#endif
