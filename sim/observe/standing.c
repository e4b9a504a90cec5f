#include "observe/standing.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const wt_time shown_least = 100 * WT_CYCLE;

struct place {
    bool taken;
    uint32_t launch;
    uint64_t block;
    wt_time start; /* on the engine's axis */
};

struct wt_standing {
    int sm_count;
    struct place *places; /* by SM * WT_MAX_SLOTS + slot; owned */
    wt_time origin;       /* the first start */
};

struct wt_standing *wt_standing_new(int sm_count)
{
    struct wt_standing *standing = wt_alloc(1, sizeof *standing);
    *standing = (struct wt_standing){.sm_count = sm_count, .origin = WT_NEVER};
    standing->places = wt_alloc((size_t)sm_count * WT_MAX_SLOTS, sizeof *standing->places);
    return standing;
}

void wt_standing_free(struct wt_standing *standing)
{
    if (!standing)
        return;
    free(standing->places);
    free(standing);
}

static void ended(void *context, uint16_t sm, uint16_t slot, wt_time end)
{
    struct wt_standing *standing = context;
    (void)end;
    standing->places[sm * WT_MAX_SLOTS + slot].taken = false;
}

static void started(void *context, const struct wt_started *started)
{
    struct wt_standing *standing = context;
    standing->origin = started->start < standing->origin ? started->start : standing->origin;
    standing->places[started->sm * WT_MAX_SLOTS + started->slot] =
        (struct place){true, started->launch, started->block, started->start};
}

struct wt_watch wt_standing_watch(struct wt_standing *standing)
{
    return (struct wt_watch){.context = standing, .ended = ended, .started = started};
}

/* After the first start; 0 would say that there is no deadlock. */
static wt_time stuck_since(const struct wt_standing *standing, wt_time since, const struct wt_timeline *timeline)
{
    if (since == WT_NEVER)
        since = wt_timeline_end(timeline);
    else
        since -= since < standing->origin ? since : standing->origin;
    return since > 0 ? since : 1;
}

void wt_standing_add(const struct wt_standing *standing, wt_time since, const char *message, struct wt_timeline *timeline)
{
    const char *text = strstr(message, "deadlock: ");
    free(timeline->stuck);
    timeline->stuck = text ? wt_strdup(text) : wt_format("deadlock: %s", message);
    timeline->stuck_since = since = stuck_since(standing, since, timeline);
    wt_time until = since + (2 * since > shown_least ? 2 * since : shown_least);
    for (int i = 0; i < standing->sm_count * WT_MAX_SLOTS; i++) {
        const struct place *place = &standing->places[i];
        if (!place->taken)
            continue;
        struct wt_block_run run = {.block = place->block, .start = place->start - standing->origin, .end = until,
                                   .launch = place->launch, .sm = (uint16_t)(i / WT_MAX_SLOTS), .slot = (uint16_t)(i % WT_MAX_SLOTS)};
        wt_timeline_add(timeline, &run);
        timeline->launches[place->launch].queue_empty = until; /* what waits does so to the end */
    }
    wt_timeline_sort(timeline);
}

wt_time wt_standing_first_start(const struct wt_standing *standing)
{
    return standing->origin == WT_NEVER ? 0 : standing->origin;
}
