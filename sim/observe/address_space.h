/* One SM's shared memory over time: which block held which addresses, from its handing out until the distributor knew of its
 * end; and the picture of it. */
#ifndef WT_OBSERVE_ADDRESS_SPACE_H
#define WT_OBSERVE_ADDRESS_SPACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"
#include "dispatch/watch.h"
#include "observe/timeline.h"

/* Addresses [offset, offset + bytes) modulo `total`, the configuration's size then. Times are on the engine's axis. */
struct wt_held_range {
    uint32_t launch;
    uint64_t block;
    int slot, offset, bytes, total;
    wt_time held, start, end, known; /* WT_NEVER: not by the end of the simulation */
};

struct wt_address_space {
    int sm;
    struct wt_held_range *ranges; /* in the order of handing out; owned */
    size_t count, capacity;
    long *present; /* by slot: index in `ranges`, -1: none; owned */
    wt_time origin; /* first start of any block */
};

/* Records SM `sm`. Released with wt_address_space_free. */
struct wt_address_space *wt_address_space_new(int sm);
void wt_address_space_free(struct wt_address_space *space); /* NULL is allowed */

/* For the simulation; valid as long as `space`. */
struct wt_watch wt_address_space_watch(struct wt_address_space *space);

/* Time against addresses as SVG. `first_launch` is added to launches to find them in `about`. Fails where no block was on
 * the SM. */
enum wt_code wt_address_space_svg(const struct wt_address_space *space, const struct wt_timeline *about,
                                  uint32_t first_launch, FILE *stream, struct wt_error *err);

#endif
