/* A line on standard error for anything that takes more than a second. */
#ifndef WT_PROGRESS_H
#define WT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "dispatch/observer.h"

struct progress {
    uint64_t done, total; /* blocks, or things called `things` */
    const char *things;   /* NULL: blocks */
    uint64_t look;        /* the clock is looked at when this many are done */
    double begun, shown;  /* seconds */
    bool rewrites; /* standard error is a terminal: one line, rewritten; otherwise now and then a new line */
};

/* `total` blocks lie ahead. */
struct progress progress_begin(uint64_t total, bool quiet);

/* `total` things lie ahead, e.g. "traces"; progress_step when one is done. */
struct progress progress_begin_things(uint64_t total, const char *things, bool quiet);
void progress_step(struct progress *progress);

/* Counts the blocks of a simulation; `progress` must outlive it. */
struct wt_observer progress_observer(struct progress *progress);

/* Clears the line. */
void progress_end(struct progress *progress);

/* For what cannot count how far it is, on a terminal: a line with what is being done, e.g. "fitting", and for how long. `doing` must
 * outlive it. */
struct progress_wait *progress_wait_begin(const char *doing, bool quiet);
/* Clears the line, frees. */
void progress_wait_end(struct progress_wait *wait);

#endif
