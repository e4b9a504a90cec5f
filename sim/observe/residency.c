#include "observe/residency.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Two neighbours as one bucket of twice the width. What started in the left one is there for the right one's
 * whole width as well. */
static struct wt_residency_bucket joined(const struct wt_residency_bucket *left,
                                         const struct wt_residency_bucket *right, int shift)
{
    return (struct wt_residency_bucket){
        .blocks = left->blocks + right->blocks,
        .warps = left->warps + right->warps,
        .block_time = left->block_time + (left->blocks << shift) + right->block_time,
        .warp_time = left->warp_time + (left->warps << shift) + right->warp_time,
    };
}

static void halve(struct wt_residency_bucket *buckets, size_t count, int shift)
{
    for (size_t i = 0; i < count / 2; i++)
        buckets[i] = joined(&buckets[2 * i], &buckets[2 * i + 1], shift);
    memset(buckets + count / 2, 0, (count - count / 2) * sizeof *buckets);
}

struct wt_residency wt_residency_new(wt_time origin)
{
    return (struct wt_residency){
        .origin = origin,
        .shift = 10, /* one cycle */
        .buckets = wt_alloc(WT_RESIDENCY_BUCKETS, sizeof(struct wt_residency_bucket)),
    };
}

void wt_residency_free(struct wt_residency *residency)
{
    free(residency->buckets);
    residency->buckets = NULL;
}

void wt_residency_grow(struct wt_residency *residency, wt_time t)
{
    while (t >> residency->shift >= WT_RESIDENCY_BUCKETS) {
        halve(residency->buckets, WT_RESIDENCY_BUCKETS, residency->shift);
        residency->shift++;
    }
}

static size_t buckets_until(wt_time length, int shift)
{
    return (size_t)((length + ((wt_time)1 << shift) - 1) >> shift);
}

static struct wt_residency_curve new_curve(wt_time origin, wt_time end, int shift)
{
    size_t count = buckets_until(end - origin, shift);
    return (struct wt_residency_curve){
        .origin = origin,
        .width = (wt_time)1 << shift,
        .end = end,
        .count = count,
        .blocks = wt_alloc(count, sizeof(double)),
        .warps = wt_alloc(count, sizeof(double)),
    };
}

static void read_means(struct wt_residency_curve *curve, const struct wt_residency_bucket *buckets)
{
    uint64_t blocks = 0, warps = 0; /* resident when the bucket begins */
    for (size_t i = 0; i < curve->count; i++) {
        wt_time begin = curve->origin + i * curve->width;
        wt_time span = curve->end - begin < curve->width ? curve->end - begin : curve->width;
        curve->blocks[i] = (double)(blocks * curve->width + buckets[i].block_time) / (double)span;
        curve->warps[i] = (double)(warps * curve->width + buckets[i].warp_time) / (double)span;
        blocks += buckets[i].blocks;
        warps += buckets[i].warps;
    }
}

struct wt_residency_curve wt_residency_read(const struct wt_residency *residency, wt_time end, size_t most)
{
    assert(most >= 1);
    most = most < WT_RESIDENCY_BUCKETS ? most : WT_RESIDENCY_BUCKETS;
    size_t bytes = WT_RESIDENCY_BUCKETS * sizeof *residency->buckets;
    struct wt_residency_bucket *buckets = wt_alloc(1, bytes);
    memcpy(buckets, residency->buckets, bytes);
    wt_time length = end > residency->origin ? end - residency->origin : 0;
    int shift = residency->shift;
    for (; buckets_until(length, shift) > most; shift++)
        halve(buckets, WT_RESIDENCY_BUCKETS, shift);
    struct wt_residency_curve curve = new_curve(residency->origin, residency->origin + length, shift);
    read_means(&curve, buckets);
    free(buckets);
    return curve;
}

void wt_residency_curve_free(struct wt_residency_curve *curve)
{
    free(curve->blocks);
    free(curve->warps);
    *curve = (struct wt_residency_curve){0};
}
