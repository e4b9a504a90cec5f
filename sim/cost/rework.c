#include "cost/rework.h"

#include <stddef.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/random.h"

struct part {
    wt_time duration;
    uint64_t index;
};

struct wt_rework {
    wt_time *durations;
    uint64_t count;
};

const char *const wt_order_names[] = {[WT_ORDER_ASIS] = "asis",
                                      [WT_ORDER_LONGEST_FIRST] = "longest-first",
                                      [WT_ORDER_SHUFFLE] = "shuffle",
                                      [WT_ORDER_REVERSED] = "reversed",
                                      NULL};

static void cut_up(struct wt_rework *r, const struct wt_cost *source, uint64_t count, const struct wt_rework_setup *setup)
{
    uint64_t parts = (uint64_t)setup->split;
    wt_time overhead = parts > 1 ? wt_from_cycles(setup->split_overhead_cycles) : 0;
    for (uint64_t block = 0; block < count; block++) {
        wt_time duration = source->duration(source->context, block);
        for (uint64_t part = 0; part < parts; part++) {
            /* The remainder goes to the first parts, a unit each. */
            wt_time share = duration / parts + (part < duration % parts) + overhead;
            r->durations[r->count++] = share > 0 ? share : 1;
        }
    }
}

static int longest_first(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->duration != b->duration)
        return a->duration > b->duration ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void sort_by_length(struct wt_rework *r)
{
    struct part *parts = wt_alloc(r->count, sizeof *parts);
    for (uint64_t i = 0; i < r->count; i++)
        parts[i] = (struct part){r->durations[i], i};
    qsort(parts, r->count, sizeof *parts, longest_first);
    for (uint64_t i = 0; i < r->count; i++)
        r->durations[i] = parts[i].duration;
    free(parts);
}

static void swap(wt_time *a, wt_time *b)
{
    wt_time kept = *a;
    *a = *b;
    *b = kept;
}

/* Fisher and Yates. */
static void shuffle(struct wt_rework *r, const struct wt_rework_setup *setup)
{
    struct wt_random random = wt_random_stream(setup->seed, "order", setup->kernel);
    for (uint64_t left = r->count; left > 1; left--)
        swap(&r->durations[left - 1], &r->durations[wt_random_below(&random, (uint32_t)left)]);
}

static void reverse(struct wt_rework *r)
{
    for (uint64_t i = 0; i < r->count / 2; i++)
        swap(&r->durations[i], &r->durations[r->count - 1 - i]);
}

struct wt_rework *wt_rework_new(const struct wt_cost *source, uint64_t count, const struct wt_rework_setup *setup)
{
    struct wt_rework *r = wt_alloc(1, sizeof *r);
    r->durations = wt_alloc(count * (uint64_t)setup->split, sizeof *r->durations);
    cut_up(r, source, count, setup);
    switch (setup->order) {
    case WT_ORDER_ASIS:
        break;
    case WT_ORDER_LONGEST_FIRST:
        sort_by_length(r);
        break;
    case WT_ORDER_SHUFFLE:
        shuffle(r, setup);
        break;
    case WT_ORDER_REVERSED:
        reverse(r);
        break;
    }
    return r;
}

void wt_rework_free(struct wt_rework *r)
{
    if (!r)
        return;
    free(r->durations);
    free(r);
}

uint64_t wt_rework_count(const struct wt_rework *r)
{
    return r->count;
}

static wt_time duration(void *context, uint64_t block)
{
    return ((const struct wt_rework *)context)->durations[block];
}

struct wt_cost wt_rework_cost(struct wt_rework *r)
{
    return (struct wt_cost){.duration = duration, .context = r};
}
