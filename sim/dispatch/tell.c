#include "dispatch/tell.h"

/* ---- Observers ---- */

void wt_tell_begin(const struct wt_engine *e, const struct wt_grid *grid)
{
    const struct wt_simulation *s = e->simulation;
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].launch_begins)
            s->observers[i].launch_begins(s->observers[i].context, grid->index, grid->first_start - e->origin);
}

void wt_tell_block(const struct wt_engine *e, uint32_t id, wt_time end)
{
    const struct wt_simulation *s = e->simulation;
    const struct wt_resident *resident = &e->residents[id];
    struct wt_block_run run = {.block = resident->block, .start = resident->start - e->origin, .end = end - e->origin,
                               .launch = resident->grid->index, .sm = (uint16_t)wt_sm_of(id), .slot = (uint16_t)wt_slot_of(id)};
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].block_done)
            s->observers[i].block_done(s->observers[i].context, &run);
}

void wt_tell_end(const struct wt_engine *e, const struct wt_grid *grid)
{
    const struct wt_simulation *s = e->simulation;
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].launch_ends)
            s->observers[i].launch_ends(s->observers[i].context, grid->index, grid->last_start - e->origin,
                                        grid->last_end - e->origin);
}

/* ---- Whoever asks why ---- */

#define TELL(engine, call, ...)                                                                                          \
    for (size_t i_ = 0; i_ < (engine)->simulation->watch_count; i_++)                                                    \
        if ((engine)->simulation->watches[i_].call)                                                                      \
            (engine)->simulation->watches[i_].call((engine)->simulation->watches[i_].context, __VA_ARGS__)

void wt_tell_arrived(const struct wt_engine *e, uint32_t launch)
{
    TELL(e, arrived, launch, e->now);
}

void wt_tell_heads(const struct wt_engine *e)
{
    TELL(e, heads, e->head->index, e->now);
}

void wt_tell_waits(const struct wt_engine *e)
{
    const struct wt_grid *head = e->head;
    if (!head)
        return;
    struct wt_wait wait = {.launch = head->index,
                           .block = head->next_block,
                           .at = e->now,
                           .cluster = head->kernel->cluster,
                           .shape = &head->kernel->shape,
                           .sms = e->sms,
                           .sm_count = e->sm_count};
    TELL(e, waits, &wait);
}

void wt_tell_ended(const struct wt_engine *e, uint32_t id, wt_time end)
{
    TELL(e, ended, (uint16_t)wt_sm_of(id), (uint16_t)wt_slot_of(id), end);
}

void wt_tell_known(const struct wt_engine *e, uint32_t id, wt_time ready)
{
    const struct wt_resident *resident = &e->residents[id];
    struct wt_known_end end = {.launch = resident->grid->index,
                               .block = resident->block,
                               .sm = (uint16_t)wt_sm_of(id),
                               .slot = (uint16_t)wt_slot_of(id),
                               .ready = ready,
                               .at = e->now};
    TELL(e, known, &end);
}

void wt_tell_handed_out(const struct wt_engine *e, uint32_t id, wt_time earliest)
{
    struct wt_handout handout = {.launch = e->head->index,
                                 .block = e->head->next_block,
                                 .sm = (uint16_t)wt_sm_of(id),
                                 .slot = (uint16_t)wt_slot_of(id),
                                 .place = e->sms[wt_sm_of(id)],
                                 .at = e->now,
                                 .earliest = earliest};
    TELL(e, handed_out, &handout);
}

void wt_tell_started(const struct wt_engine *e, uint32_t id)
{
    const struct wt_resident *resident = &e->residents[id];
    struct wt_started started = {.launch = resident->grid->index,
                                 .block = resident->block,
                                 .sm = (uint16_t)wt_sm_of(id),
                                 .slot = (uint16_t)wt_slot_of(id),
                                 .start = resident->start};
    TELL(e, started, &started);
}
