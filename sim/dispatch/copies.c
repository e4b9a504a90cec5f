#include "dispatch/copies.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

static struct wt_copy_engine *engine_of(struct wt_copies *copies, enum wt_direction direction)
{
    return &copies->engines[direction == WT_D2H && copies->rates->engines == 1 ? WT_H2D : direction];
}

static double bytes_per_cycle(const struct wt_copy_rates *rates, const struct wt_copy *copy, double clock_mhz)
{
    double gbs = copy->pageable ? rates->pageable_gbs[copy->direction] : rates->gbs[copy->direction];
    return gbs * 1e3 / clock_mhz;
}

static bool under_way(const struct wt_copies *copies, enum wt_direction direction)
{
    for (int i = 0; i < WT_DIRECTIONS; i++)
        if (copies->engines[i].busy && copies->engines[i].current.copy.direction == direction)
            return true;
    return false;
}

static double rate_of(const struct wt_copies *copies, const struct wt_copy *copy)
{
    double rate = bytes_per_cycle(copies->rates, copy, copies->cycles_per_us);
    bool shared = (copy->direction == WT_H2D && under_way(copies, WT_D2H)) ||
                  (copy->direction == WT_D2H && under_way(copies, WT_H2D));
    return shared ? rate * copies->rates->both_ways[copy->direction] : rate;
}

static wt_time end_of(const struct wt_copies *copies, const struct wt_copy_engine *engine)
{
    double cycles = engine->setup_left + engine->bytes_left / rate_of(copies, &engine->current.copy);
    return copies->now + wt_from_cycles(fmax(cycles, 0));
}

/* Since `now`, everything under way has gone on at unchanged rates. */
static void advance(struct wt_copies *copies, wt_time now)
{
    double rates[WT_DIRECTIONS], cycles = wt_to_cycles(now - copies->now);
    for (int i = 0; i < WT_DIRECTIONS; i++)
        if (copies->engines[i].busy)
            rates[i] = rate_of(copies, &copies->engines[i].current.copy);
    for (int i = 0; i < WT_DIRECTIONS; i++) {
        struct wt_copy_engine *engine = &copies->engines[i];
        if (!engine->busy)
            continue;
        double setup = fmin(engine->setup_left, cycles);
        engine->setup_left -= setup;
        engine->bytes_left -= (cycles - setup) * rates[i];
    }
    copies->now = now;
}

/* How long the engine takes before it begins. */
static double turn_us(const struct wt_copies *copies, const struct wt_copy_engine *engine, const struct wt_copy_wanted *next)
{
    if (!engine->served || engine->end < copies->now)
        return 0;
    return next->stream == engine->current.stream ? copies->rates->after_same_us : copies->rates->switch_us;
}

static void begin(struct wt_copies *copies, struct wt_copy_engine *engine, const struct wt_copy_wanted *next)
{
    const struct wt_copy_rates *rates = copies->rates;
    double turn = turn_us(copies, engine, next);
    double setup = rates->setup_us[next->copy.direction] + (next->copy.pageable ? rates->pageable_setup_us : 0);
    engine->begun = copies->now + wt_from_cycles(turn * copies->cycles_per_us);
    engine->setup_left = (turn + setup) * copies->cycles_per_us;
    engine->bytes_left = (double)next->copy.bytes;
    engine->current = *next;
    engine->busy = engine->served = true;
}

static void take_next(struct wt_copies *copies, struct wt_copy_engine *engine)
{
    size_t chosen = 0;
    for (size_t i = engine->count; i-- > 0 && engine->served;)
        chosen = engine->queue[i].stream == engine->current.stream ? i : chosen;
    struct wt_copy_wanted next = engine->queue[chosen];
    engine->count--;
    for (size_t i = chosen; i < engine->count; i++)
        engine->queue[i] = engine->queue[i + 1];
    begin(copies, engine, &next);
}

void wt_copies_init(struct wt_copies *copies, const struct wt_copy_rates *rates, double clock_mhz)
{
    assert(clock_mhz > 0);
    *copies = (struct wt_copies){.rates = rates, .cycles_per_us = clock_mhz};
}

void wt_copies_free(struct wt_copies *copies)
{
    for (int i = 0; i < WT_DIRECTIONS; i++)
        free(copies->engines[i].queue);
}

void wt_copies_submit(struct wt_copies *copies, uint32_t id, uint32_t stream, const struct wt_copy *copy, wt_time now)
{
    advance(copies, now);
    struct wt_copy_engine *engine = engine_of(copies, copy->direction);
    engine->queue = wt_grow(engine->queue, &engine->capacity, engine->count + 1, sizeof *engine->queue);
    engine->queue[engine->count++] = (struct wt_copy_wanted){id, stream, *copy};
}

void wt_copies_go_on(struct wt_copies *copies)
{
    for (int i = 0; i < WT_DIRECTIONS; i++)
        if (!copies->engines[i].busy && copies->engines[i].count > 0)
            take_next(copies, &copies->engines[i]);
}

static int first_to_end(const struct wt_copies *copies)
{
    int first = WT_NO_COPY;
    for (int i = 0; i < WT_DIRECTIONS; i++) {
        const struct wt_copy_engine *engine = &copies->engines[i];
        if (!engine->busy)
            continue;
        if (first == WT_NO_COPY || end_of(copies, engine) < end_of(copies, &copies->engines[first]))
            first = i;
    }
    return first;
}

wt_time wt_copies_next(const struct wt_copies *copies)
{
    int first = first_to_end(copies);
    return first == WT_NO_COPY ? WT_NEVER : end_of(copies, &copies->engines[first]);
}

struct wt_copy_done wt_copies_take(struct wt_copies *copies)
{
    int first = first_to_end(copies);
    assert(first != WT_NO_COPY);
    struct wt_copy_engine *engine = &copies->engines[first];
    advance(copies, end_of(copies, engine));
    engine->busy = false;
    engine->end = copies->now;
    return (struct wt_copy_done){engine->current.id, first, engine->begun, copies->now};
}
