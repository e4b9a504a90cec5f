/* One SM's resources while blocks come and go.
 *
 * Rules, measured on the H200 (tests/sm_measured.c): all or nothing. Warp j of a block goes to sub-core
 * (pointer + j) mod 4, then the pointer advances by warps mod 4, or by 1 where that is 0. Each sub-core has its own
 * warp slots and register file, whose units need not be contiguous. Shared memory is contiguous in a circular
 * address range and never moved, first fit: the hole around address 0 comes first and is used from its beginning,
 * near the end of the range, then the others by address. A block of a kernel with a larger shared-memory
 * configuration than the SM's present one waits until the SM is empty; an empty SM takes the configuration of the
 * kernel whose block comes first, larger or smaller than the one it had.
 *
 * Assumed: that the hole around address 0 comes first only if it begins before the end of the range.
 * Not modelled: warp slots and registers come free warp by warp as a block's warps end (r80_b96 shows successors
 * that start before a block's first warp has ended); here they do with the block. */
#ifndef WT_SM_SM_H
#define WT_SM_SM_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/gpu.h"
#include "sm/shape.h"

enum wt_resource {
    WT_RES_BLOCKS,
    WT_RES_WARPS,
    WT_RES_REGISTERS,
    WT_RES_SHARED_MEMORY,
    WT_RES_BARRIERS,
    WT_RES_COUNT
};

enum wt_shortage {
    WT_SHORT_TOTAL,      /* not enough left on the whole SM */
    WT_SHORT_FRAGMENTED, /* enough in total, but no contiguous range */
    WT_SHORT_SUBCORE,    /* enough in total, but not in the sub-cores the pointer names */
    WT_SHORT_CARVEOUT    /* needs a larger shared-memory configuration, possible only when the SM is empty */
};

struct wt_refusal {
    enum wt_resource resource;
    enum wt_shortage shortage;
    int subcore; /* the lacking sub-core for WT_SHORT_SUBCORE, else -1 */
    int wanted; /* in the resource's own unit (blocks, warps, registers, bytes, barriers): of the whole block,
                   or of its share in `subcore`; for WT_SHORT_CARVEOUT the configuration's bytes */
    int available; /* what there is of it, same unit: in total, in `subcore`, in the largest hole, or in the
                      present configuration */
};

struct wt_shared_use {
    int total_bytes; /* the present configuration's size */
    int free_bytes;
    int largest_hole_bytes; /* contiguous, over the wrap-around */
    double fragmentation;   /* 1 - largest/free; 0 when nothing is free */
};

struct wt_sm; /* opaque */

/* "blocks", "warps", "registers", "shared_memory", "barriers". */
const char *wt_resource_name(enum wt_resource resource);
/* "total", "fragmented", "subcore", "carveout". */
const char *wt_shortage_name(enum wt_shortage shortage);

/* An empty SM; `limits` must outlive it. Owned by the caller, released with wt_sm_free. */
struct wt_sm *wt_sm_new(const struct wt_limits *limits);
void wt_sm_free(struct wt_sm *sm);

/* Takes the resources of one block and returns its slot (0-based, the lowest free one), or -1 with nothing
 * changed. The hot path: no allocation, no explanation. `shape` must outlive the block. */
int wt_sm_admit(struct wt_sm *sm, const struct wt_shape *shape);

/* Why wt_sm_admit would refuse now. Returns false when it would not. Of several reasons it gives the one that
 * takes longest to go away: the configuration, then a resource short in total, then a sub-core, then a hole;
 * within these in the order of wt_resource. */
bool wt_sm_refusal(const struct wt_sm *sm, const struct wt_shape *shape, struct wt_refusal *out);

/* SMs that refuse a block for the same resource and shortage. */
struct wt_refusal_kind {
    int sms;
    struct wt_refusal example; /* of the first of them */
};

enum { WT_REFUSAL_KINDS = WT_RES_COUNT * (WT_SHORT_CARVEOUT + 1) };

/* Why `count` SMs would refuse a block of `shape` now: fills `kinds`, the most frequent first, of equals the one met first;
 * returns how many. */
int wt_sm_refusal_kinds(struct wt_sm *const *sms, int count, const struct wt_shape *shape,
                        struct wt_refusal_kind kinds[WT_REFUSAL_KINDS]);

/* Gives back what the block in `slot` holds. */
void wt_sm_release(struct wt_sm *sm, int slot);

/* How many more blocks of `shape` would be admitted one after another now (0..WT_MAX_SLOTS). Changes nothing.
 */
int wt_sm_room(const struct wt_sm *sm, const struct wt_shape *shape);

int wt_sm_resident_blocks(const struct wt_sm *sm);
int wt_sm_resident_warps(const struct wt_sm *sm);
int wt_sm_free_registers(const struct wt_sm *sm, int subcore);
int wt_sm_free_warp_slots(const struct wt_sm *sm, int subcore);
int wt_sm_subcore_pointer(const struct wt_sm *sm);
int wt_sm_carveout_kb(const struct wt_sm *sm);
struct wt_shared_use wt_sm_shared_use(const struct wt_sm *sm);

/* The shared-memory range [*offset, *offset + *bytes) modulo the configuration's size of the block in `slot`.
 * Returns false when the slot is empty. */
bool wt_sm_shared_range(const struct wt_sm *sm, int slot, int *offset, int *bytes);

/* Sets the sub-core pointer (0..3): for replaying an SM whose history is known. The SM must be empty. */
void wt_sm_set_subcore_pointer(struct wt_sm *sm, int pointer);

#endif
