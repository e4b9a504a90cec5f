#include "density.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct entry {
    wt_time at;
    uint32_t weight;
};

/* One pass of a radix sort by the eight bits at `shift`; false when all entries share them. */
static bool sort_pass(const struct entry *from, struct entry *to, size_t count, int shift)
{
    size_t places[257] = {0};
    for (size_t i = 0; i < count; i++)
        places[(from[i].at >> shift & 255) + 1]++;
    for (int i = 1; i < 257; i++)
        if (places[i] == count)
            return false;
    for (int i = 1; i < 257; i++)
        places[i] += places[i - 1];
    for (size_t i = 0; i < count; i++)
        to[places[from[i].at >> shift & 255]++] = from[i];
    return true;
}

/* Returns which of the two arrays holds the result. */
static struct entry *sort_entries(struct entry *entries, struct entry *spare, size_t count)
{
    for (int shift = 0; shift < 64; shift += 8)
        if (sort_pass(entries, spare, count, shift)) {
            struct entry *swap = entries;
            entries = spare;
            spare = swap;
        }
    return entries;
}

static void sum_up(struct density_side *side, const struct entry *sorted, size_t count, bool weighted)
{
    side->at = wt_alloc(count, sizeof *side->at);
    side->moments = wt_alloc(count + 1, sizeof *side->moments);
    side->weights = weighted ? wt_alloc(count + 1, sizeof *side->weights) : NULL;
    for (size_t i = 0; i < count; i++) {
        side->at[i] = sorted[i].at;
        side->moments[i + 1] = side->moments[i] + sorted[i].weight * sorted[i].at;
        if (weighted)
            side->weights[i + 1] = side->weights[i] + sorted[i].weight;
    }
}

static void index_side(struct density_side *side, const struct density *density)
{
    side->first_of = wt_alloc(density->buckets + 1, sizeof *side->first_of);
    size_t at = 0;
    for (size_t bucket = 0; bucket <= density->buckets; bucket++) {
        while (at < density->count && side->at[at] < (wt_time)bucket << density->shift)
            at++;
        side->first_of[bucket] = (uint32_t)at;
    }
}

static void choose_buckets(struct density *density)
{
    wt_time last = density->count ? density->ends.at[density->count - 1] : 0;
    size_t wanted = density->count + 16;
    while (last >> density->shift >= wanted)
        density->shift++;
    density->buckets = (size_t)(last >> density->shift) + 1;
}

static void build_side(struct density_side *side, const wt_time *at, const uint32_t *weights, size_t count)
{
    struct entry *entries = wt_alloc(2 * count, sizeof *entries);
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct entry){at[i], weights ? weights[i] : 1};
    sum_up(side, sort_entries(entries, entries + count, count), count, weights != NULL);
    free(entries);
}

struct density density_new(const wt_time *starts, const wt_time *ends, const uint32_t *weights, size_t count)
{
    struct density density = {.count = count};
    build_side(&density.starts, starts, weights, count);
    build_side(&density.ends, ends, weights, count);
    choose_buckets(&density);
    index_side(&density.starts, &density);
    index_side(&density.ends, &density);
    return density;
}

static void free_side(struct density_side *side)
{
    free(side->at);
    free(side->weights);
    free(side->moments);
    free(side->first_of);
}

void density_free(struct density *density)
{
    free_side(&density->starts);
    free_side(&density->ends);
    *density = (struct density){0};
}

/* Entries at or before t. A bucket holds one or two on average, so that a walk is shortest; many equal times make
 * it long, and are searched. */
static size_t count_until(const struct density *density, const struct density_side *side, wt_time t)
{
    size_t bucket = (size_t)(t >> density->shift);
    if (bucket >= density->buckets)
        return density->count;
    size_t low = side->first_of[bucket], high = side->first_of[bucket + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (side->at[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t weight_of(const struct density_side *side, size_t entries)
{
    return side->weights ? side->weights[entries] : entries;
}

uint64_t density_integral(const struct density *density, wt_time t, size_t *began_out)
{
    size_t began = count_until(density, &density->starts, t), ended = count_until(density, &density->ends, t);
    uint64_t in = weight_of(&density->starts, began) * t - density->starts.moments[began];
    uint64_t out = weight_of(&density->ends, ended) * t - density->ends.moments[ended];
    if (began_out)
        *began_out = began;
    return in - out;
}

size_t density_started(const struct density *density, wt_time t)
{
    return count_until(density, &density->starts, t);
}

size_t density_ended(const struct density *density, wt_time t)
{
    return count_until(density, &density->ends, t);
}

uint64_t density_resident(const struct density *density, wt_time t)
{
    return weight_of(&density->starts, density_started(density, t)) - weight_of(&density->ends, density_ended(density, t));
}

double density_mean(const struct density *density, wt_time t0, wt_time t1)
{
    return (double)(density_integral(density, t1, NULL) - density_integral(density, t0, NULL)) / (double)(t1 - t0);
}
