/* Replays for tests: of shipped captures, or of files. A trace that cannot be replayed fails the test. */
#ifndef WT_TESTS_REPLAYED_H
#define WT_TESTS_REPLAYED_H

#include "study/replay.h"

/* What the command line does without options. */
extern const struct wt_replay_setup as_captured;

struct wt_replay *replayed_file(const char *path, const struct wt_replay_setup *setup);

/* traces/h200/NAME.csv.zst. */
struct wt_replay *replayed_with(const char *name, const struct wt_replay_setup *setup);
struct wt_replay *replayed(const char *name);

#endif
