/* What the distributor does and why, for whoever asks (observe/why.h). Times are on the engine's own axis, which begins
 * before the first block's start; calls come in the order of the distributor's decisions, except that ends are told when
 * the simulation comes to them. */
#ifndef WT_DISPATCH_WATCH_H
#define WT_DISPATCH_WATCH_H

#include <stdint.h>

#include "core/time.h"
#include "sm/sm.h"

struct wt_handout {
    uint32_t launch;
    uint64_t block;
    uint16_t sm, slot;
    const struct wt_sm *place; /* the SM with the block on it */
    wt_time at;       /* the distributor's visit */
    wt_time earliest; /* when the block could start if the TPC were free */
};

/* A block's start is sure; it may be still ahead. */
struct wt_started {
    uint32_t launch;
    uint64_t block;
    uint16_t sm, slot;
    wt_time start;
};

struct wt_known_end {
    uint32_t launch;
    uint64_t block;
    uint16_t sm, slot;
    wt_time ready; /* when the report would have come through an idle port */
    wt_time at;    /* when it came: from now on the room is known to be free */
};

/* The head's next block finds no SM. */
struct wt_wait {
    uint32_t launch;
    uint64_t block;
    wt_time at;
    int cluster; /* blocks that must find room together; 0 or 1: it is alone */
    const struct wt_shape *shape;
    struct wt_sm *const *sms; /* as the distributor knows them now; by SM id */
    int sm_count;
};

/* A callback may be NULL. */
struct wt_watch {
    void *context;
    void (*arrived)(void *context, uint32_t launch, wt_time at); /* at the grid scheduler */
    void (*heads)(void *context, uint32_t launch, wt_time at);   /* its blocks are handed out from now on */
    void (*waits)(void *context, const struct wt_wait *wait);
    void (*ended)(void *context, uint16_t sm, uint16_t slot, wt_time end);
    void (*known)(void *context, const struct wt_known_end *end);
    void (*handed_out)(void *context, const struct wt_handout *handout);
    void (*started)(void *context, const struct wt_started *started);
};

#endif
