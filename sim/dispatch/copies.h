/* Copy engines. Each serves one copy at a time: the next of the stream that it has just served, where that is there by then;
 * else in the order in which they come. Copies to the device have engine 0, copies to
 * the host engine 1 where there are two, copies within the device (which a kernel of the driver carries out) an engine 2 of
 * their own.
 *
 * A copy holds its engine for rates.setup_us and then until its bytes have passed, at its direction's bandwidth; it begins
 * rates.after_same_us after one of the same stream that it follows at once, rates.switch_us after one of another. While
 * copies go both ways at once, each has rates.both_ways of its bandwidth. */
#ifndef WT_DISPATCH_COPIES_H
#define WT_DISPATCH_COPIES_H

#include "core/time.h"
#include "dispatch/program.h"
#include "gpu/gpu.h"

enum { WT_NO_COPY = -1 };

struct wt_copy_wanted {
    uint32_t id; /* the caller's */
    uint32_t stream;
    struct wt_copy copy;
};

struct wt_copy_engine {
    struct wt_copy_wanted *queue; /* those that wait, in the order in which they came */
    size_t count, capacity;
    bool busy;
    struct wt_copy_wanted current; /* while busy; else the last */
    bool served;           /* there has been one */
    wt_time begun, end;    /* of the current one; of the last */
    double setup_left;     /* cycles */
    double bytes_left;
};

struct wt_copies {
    const struct wt_copy_rates *rates;
    double cycles_per_us;
    struct wt_copy_engine engines[WT_DIRECTIONS];
    wt_time now;
};

/* A copy that is over. */
struct wt_copy_done {
    uint32_t id;
    int engine;
    wt_time begun, end; /* on the engine */
};

/* `rates` must outlive it; clock_mhz > 0. */
void wt_copies_init(struct wt_copies *copies, const struct wt_copy_rates *rates, double clock_mhz);
void wt_copies_free(struct wt_copies *copies);

/* At `now`, not before anything told so far and not after wt_copies_next. */
void wt_copies_submit(struct wt_copies *copies, uint32_t id, uint32_t stream, const struct wt_copy *copy, wt_time now);

/* Free engines take what waits. Call it when all that came by now has been submitted. */
void wt_copies_go_on(struct wt_copies *copies);

/* When the next copy is over, by what has been submitted; WT_NEVER: none is under way. */
wt_time wt_copies_next(const struct wt_copies *copies);

/* The copy that is over at wt_copies_next; its engine is free until wt_copies_go_on. */
struct wt_copy_done wt_copies_take(struct wt_copies *copies);

#endif
