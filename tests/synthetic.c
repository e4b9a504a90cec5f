#include "synthetic.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static size_t first_free(const wt_time *free_at, size_t count)
{
    size_t first = 0;
    for (size_t i = 1; i < count; i++)
        if (free_at[i] < free_at[first])
            first = i;
    return first;
}

static wt_time between(struct wt_random *random, wt_time least, wt_time most)
{
    return least + (most > least ? wt_random_below(random, (uint32_t)(most - least + 1)) : 0);
}

/* Returns when the launch is over. */
static wt_time add_blocks(struct wt_timeline *timeline, const struct synthetic *how, uint32_t launch, wt_time from,
                          struct wt_random *random)
{
    size_t places = (size_t)how->sms * (size_t)how->slots;
    wt_time *free_at = wt_alloc(places, sizeof *free_at), over = from;
    for (size_t i = 0; i < places; i++)
        free_at[i] = from;
    for (uint64_t block = 0; block < how->blocks; block++) {
        size_t place = first_free(free_at, places);
        wt_time start = free_at[place] + (free_at[place] > from ? between(random, 0, how->gap) : 0);
        wt_time end = start + between(random, how->least, how->most);
        struct wt_block_run run = {.block = block,
                                   .start = start,
                                   .end = end,
                                   .launch = launch,
                                   .sm = (uint16_t)(place % (size_t)how->sms),
                                   .slot = (uint16_t)(place / (size_t)how->sms)};
        wt_timeline_add(timeline, &run);
        free_at[place] = end;
        over = end > over ? end : over;
    }
    free(free_at);
    return over;
}

struct wt_timeline *synthetic_timeline(const struct synthetic *how)
{
    struct wt_random random = wt_random_stream(how->seed, "synthetic", 0);
    struct wt_timeline *timeline = wt_timeline_new("synthetic", "Test GPU", how->sms);
    timeline->clock_mhz = 1980;
    timeline->warps_per_sm = how->warps_per_sm;
    for (int i = 0; i < how->sms; i++)
        timeline->gpc_of_sm[i] = (uint16_t)(how->gpcs ? i / 2 % how->gpcs : 0);
    wt_time from = 0;
    for (size_t i = 0; i < how->launches; i++) {
        char name[] = "kernel_a";
        name[7] = (char)('a' + i % 26);
        struct wt_timeline_launch launch = {.name = name, .number = (long)i, .grid_blocks = how->blocks,
                                            .threads_per_block = 32 * how->warps_per_block,
                                            .warps_per_block = how->warps_per_block, .blocks_per_sm = how->slots};
        wt_timeline_add_launch(timeline, &launch);
        from = add_blocks(timeline, how, (uint32_t)i, from, &random) + 3600 * WT_CYCLE;
    }
    wt_timeline_find_queue_empty(timeline);
    wt_timeline_sort(timeline);
    return timeline;
}

static int compare_ends(const void *left, const void *right)
{
    const struct wt_block_run *a = *(const struct wt_block_run *const *)left;
    const struct wt_block_run *b = *(const struct wt_block_run *const *)right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a > b) - (a < b);
}

void synthetic_play(const struct wt_timeline *timeline, const struct wt_observer *observer)
{
    size_t count = timeline->span_count;
    uint64_t *left = wt_alloc(timeline->launch_count, sizeof *left);
    const struct wt_block_run **order = wt_alloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        order[i] = &timeline->spans[i];
        if (left[order[i]->launch]++ == 0 && observer->launch_begins)
            observer->launch_begins(observer->context, order[i]->launch, order[i]->start);
    }
    qsort(order, count, sizeof *order, compare_ends);
    for (size_t i = 0; i < count; i++) {
        uint32_t launch = order[i]->launch;
        observer->block_done(observer->context, order[i]);
        if (--left[launch] == 0 && observer->launch_ends)
            observer->launch_ends(observer->context, launch, timeline->launches[launch].queue_empty, order[i]->end);
    }
    free(order);
    free(left);
}
