/* How many blocks (or warps) were resident, exactly, over any stretch of time, in constant time: sorted starts and
 * ends with prefix sums, and a table that says where each stretch of the run begins in them. This is what makes far
 * zoomed-out timelines truthful: a pixel is the mean over its time, however many blocks it covers. */
#ifndef VIEW_DENSITY_H
#define VIEW_DENSITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

/* One side of the stays: their starts, or their ends. All arrays owned. */
struct density_side {
    wt_time *at;           /* `count`, ascending */
    uint64_t *weights;     /* count + 1: sum of the weights before entry i; NULL: every weight is 1 */
    uint64_t *moments;     /* count + 1: the same of weight * time, modulo 2^64 */
    uint32_t *first_of;    /* per bucket: entries before the bucket's begin; one more at the end */
};

struct density {
    size_t count;
    int shift;      /* a bucket lasts 2^shift time units */
    size_t buckets;
    struct density_side starts, ends;
};

/* `count` stays, sorted by start; `weights` may be NULL (1 each). The arrays are copied. */
struct density density_new(const wt_time *starts, const wt_time *ends, const uint32_t *weights, size_t count);
void density_free(struct density *density);

/* Stays that began at or before t; that ended at or before t. */
size_t density_started(const struct density *density, wt_time t);
size_t density_ended(const struct density *density, wt_time t);

/* Weight resident at t. */
uint64_t density_resident(const struct density *density, wt_time t);

/* Integral of the resident weight from 0 to t, weight * time units modulo 2^64: for differences. *began (may be NULL)
 * as density_started. */
uint64_t density_integral(const struct density *density, wt_time t, size_t *began);

/* Mean resident weight over [t0, t1); t1 > t0. */
double density_mean(const struct density *density, wt_time t0, wt_time t1);

/* The start (end) of entry i in ascending order. */
static inline wt_time density_start(const struct density *density, size_t i)
{
    return density->starts.at[i];
}

static inline wt_time density_end(const struct density *density, size_t i)
{
    return density->ends.at[i];
}

#endif
