/* Resident blocks and warps over time, in a fixed number of buckets: memory does not depend on how many blocks
 * run or how long. The bucket width is a power of two of time units and doubles whenever the run outgrows the
 * buckets; the mean of every bucket stays exact. */
#ifndef WT_OBSERVE_RESIDENCY_H
#define WT_OBSERVE_RESIDENCY_H

#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

enum { WT_RESIDENCY_BUCKETS = 4096 };

/* Changes of the resident number at starts and ends. Arithmetic is modulo 2^64 on purpose: starts add, ends
 * subtract, and only the sums are read. */
struct wt_residency_bucket {
    uint64_t blocks, warps;           /* starts minus ends in the bucket */
    uint64_t block_time, warp_time;   /* what they add to this bucket's resident time */
};

struct wt_residency {
    wt_time origin;
    int shift; /* bucket width = 2^shift units */
    struct wt_residency_bucket *buckets; /* WT_RESIDENCY_BUCKETS, owned */
};

/* The curve as read: bucket i covers [origin + i*width, origin + (i+1)*width), the last one cut at the end. */
struct wt_residency_curve {
    wt_time origin, width, end;
    size_t count;
    double *blocks, *warps; /* mean resident number in the bucket; `count` each, owned */
};

struct wt_residency wt_residency_new(wt_time origin);
void wt_residency_free(struct wt_residency *residency);

/* Widens the buckets until one holds origin + t. */
void wt_residency_grow(struct wt_residency *residency, wt_time t);

static inline void wt_residency_event(struct wt_residency *r, wt_time at, uint64_t blocks, uint64_t warps)
{
    wt_time t = at > r->origin ? at - r->origin : 0;
    if (t >> r->shift >= WT_RESIDENCY_BUCKETS)
        wt_residency_grow(r, t);
    struct wt_residency_bucket *bucket = &r->buckets[t >> r->shift];
    uint64_t left = (((t >> r->shift) + 1) << r->shift) - t;
    bucket->blocks += blocks;
    bucket->warps += warps;
    bucket->block_time += blocks * left;
    bucket->warp_time += warps * left;
}

/* One block of `warps` warps is resident in [start, end). What lies before the origin is left out. */
static inline void wt_residency_add(struct wt_residency *residency, wt_time start, wt_time end, uint64_t warps)
{
    wt_residency_event(residency, end, -(uint64_t)1, -warps);
    wt_residency_event(residency, start, 1, warps);
}

/* At most `most` buckets (>= 1) of equal width up to `end`. */
struct wt_residency_curve wt_residency_read(const struct wt_residency *residency, wt_time end, size_t most);
void wt_residency_curve_free(struct wt_residency_curve *curve);

#endif
