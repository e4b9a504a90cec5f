/* Options that `replay` and `validate` share: how a trace is replayed. */
#ifndef WT_REPLAYING_H
#define WT_REPLAYING_H

#include "command.h"
#include "study/replay.h"

/* Put `replaying_argp` among the argp children with a `struct replaying *` as its input. */
struct replaying {
    const char *placement; /* NULL: the GPU's */
    double unseen;         /* cycles; NaN: auto */
};

extern const struct argp replaying_argp;

struct wt_replay_setup replaying_setup(const struct replaying *replaying, const struct common *common);

#endif
