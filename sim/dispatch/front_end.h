/* What feeds the distributor: which kernels reach the grid scheduler, and when. */
#ifndef WT_DISPATCH_FRONT_END_H
#define WT_DISPATCH_FRONT_END_H

#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

#define WT_NO_KERNEL UINT32_MAX

/* Times are on the simulation's own axis, from 0. Each kernel of the simulation is taken at most once; one that never
 * is does not run. */
struct wt_front_end {
    void *context;
    /* When something next happens there, by what has been told so far; WT_NEVER: nothing before another kernel is done,
     * or nothing at all. */
    wt_time (*next)(void *context);
    /* It happens. The kernel that reaches the grid scheduler by it (its index in the simulation), or WT_NO_KERNEL: what
     * happened is the front end's own business. */
    uint32_t (*take)(void *context);
    /* All its blocks have been handed out. May be NULL. */
    void (*dispatched)(void *context, uint32_t kernel, wt_time at);
    /* Its last block ended at `end`, and the distributor knows. */
    void (*done)(void *context, uint32_t kernel, wt_time end);
};

/* One stream: each kernel follows the one before. */
struct wt_serial {
    uint32_t next, count;
    wt_time ready; /* of the next; WT_NEVER while one runs */
    wt_time gap;   /* a kernel's last end to the next one's arrival at the grid scheduler */
};

/* `serial` must outlive what is returned. */
struct wt_front_end wt_serial_front_end(struct wt_serial *serial, size_t kernel_count, wt_time gap);

#endif
