#include "standing.h"

#include <stdlib.h>

#include "core/mem.h"

struct place {
    bool taken;
    uint32_t launch;
    uint64_t block;
    wt_time start; /* on the engine's axis */
};

struct standing {
    int sm_count;
    struct place *places; /* by SM * WT_MAX_SLOTS + slot; owned */
    wt_time origin;       /* the first start */
};

struct standing *standing_new(int sm_count)
{
    struct standing *standing = wt_alloc(1, sizeof *standing);
    *standing = (struct standing){.sm_count = sm_count, .origin = WT_NEVER};
    standing->places = wt_alloc((size_t)sm_count * WT_MAX_SLOTS, sizeof *standing->places);
    return standing;
}

void standing_free(struct standing *standing)
{
    if (!standing)
        return;
    free(standing->places);
    free(standing);
}

static void no_launch(void *context, uint32_t launch, wt_time at)
{
    (void)context, (void)launch, (void)at;
}

static void no_wait(void *context, const struct wt_wait *wait)
{
    (void)context, (void)wait;
}

static void no_report(void *context, const struct wt_known_end *end)
{
    (void)context, (void)end;
}

static void ended(void *context, uint16_t sm, uint16_t slot, wt_time end)
{
    struct standing *standing = context;
    (void)end;
    standing->places[sm * WT_MAX_SLOTS + slot].taken = false;
}

static void handed_out(void *context, const struct wt_handout *handout)
{
    struct standing *standing = context;
    standing->origin = handout->start < standing->origin ? handout->start : standing->origin;
    standing->places[handout->sm * WT_MAX_SLOTS + handout->slot] =
        (struct place){true, handout->launch, handout->block, handout->start};
}

struct wt_watch standing_watch(struct standing *standing)
{
    return (struct wt_watch){standing, no_launch, no_launch, no_wait, ended, no_report, handed_out};
}

static wt_time last_event(const struct standing *standing, const struct wt_timeline *timeline)
{
    wt_time last = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        last = timeline->spans[i].end > last ? timeline->spans[i].end : last;
    for (int i = 0; i < standing->sm_count * WT_MAX_SLOTS; i++)
        if (standing->places[i].taken && standing->places[i].start - standing->origin > last)
            last = standing->places[i].start - standing->origin;
    return last;
}

wt_time standing_add(const struct standing *standing, struct wt_timeline *timeline)
{
    wt_time last = last_event(standing, timeline), end = 0;
    wt_time until = last < 1000 * WT_CYCLE ? last + 2000 * WT_CYCLE : 3 * last;
    for (int i = 0; i < standing->sm_count * WT_MAX_SLOTS; i++) {
        const struct place *place = &standing->places[i];
        if (!place->taken)
            continue;
        struct wt_block_run run = {.block = place->block, .start = place->start - standing->origin, .end = until,
                                   .launch = place->launch, .sm = (uint16_t)(i / WT_MAX_SLOTS), .slot = (uint16_t)(i % WT_MAX_SLOTS)};
        wt_timeline_add(timeline, &run);
        timeline->launches[place->launch].queue_empty = until; /* what waits does so to the end */
        end = until;
    }
    return end;
}

wt_time standing_first_start(const struct standing *standing)
{
    return standing->origin == WT_NEVER ? 0 : standing->origin;
}
