/* Tells an observer what each warp of one sub-core does. The accounting (core.c) counts the same states as sums. */
#include "warp/machine.h"

static wt_time time_of(const struct wt_core *core, wt_cycle cycle)
{
    wt_time time = cycle * WT_CYCLE, origin = core->machine->origin;
    return time > origin ? time - origin : 0;
}

static struct wt_warp_span span_of(const struct wt_core *core, const struct wt_subcore *subcore, int slot, int state)
{
    const struct wt_one_warp *warp = &subcore->warps[slot];
    const struct wt_block *block = &core->blocks[warp->block];
    return (struct wt_warp_span){.block = block->number, .launch = block->kernel, .warp = warp->number, .slot = (uint8_t)slot,
                                 .state = (uint8_t)state};
}

/* The pipe that a warp is ready for; -1: it is not ready. */
static int pipe_of(const struct wt_subcore *subcore, int slot)
{
    for (uint32_t pipes = subcore->waiting_pipes; pipes; pipes &= pipes - 1)
        if (subcore->ready[__builtin_ctz(pipes)] >> slot & 1)
            return __builtin_ctz(pipes);
    return -1;
}

static void report(const struct wt_core *core, struct wt_warp_span span, wt_cycle from, wt_cycle to)
{
    const struct wt_warp_observer *observer = core->machine->setup->observer;
    span.from = time_of(core, from);
    span.to = time_of(core, to);
    observer->state(observer->context, &span);
}

void wt_watch_gap(struct wt_core *core, const struct wt_subcore *subcore, wt_cycle now)
{
    if (now <= subcore->now_counted)
        return;
    for (uint64_t rest = subcore->resident; rest; rest &= rest - 1) {
        int slot = __builtin_ctzll(rest), pipe = pipe_of(subcore, slot);
        const struct wt_one_warp *warp = &subcore->warps[slot];
        wt_cycle from = pipe < 0 && warp->since > subcore->now_counted ? warp->since : subcore->now_counted;
        if (from < now)
            report(core, span_of(core, subcore, slot, pipe < 0 ? warp->state : (int)wt_pipe_stalls[pipe]), from, now);
    }
}

static int state_in(const struct wt_subcore *subcore, int slot, wt_cycle now)
{
    int pipe = pipe_of(subcore, slot);
    if (pipe < 0)
        return subcore->warps[slot].state;
    if (subcore->blocked_until > now)
        return WT_STALL_DISPATCH;
    return subcore->free[pipe] <= now ? WT_STALL_NOT_SELECTED : (int)wt_pipe_stalls[pipe];
}

void wt_watch_cycle(struct wt_core *core, const struct wt_subcore *subcore, wt_cycle now)
{
    struct wt_watched *watched = core->watched;
    watched->present = subcore->resident;
    for (uint64_t rest = subcore->resident; rest; rest &= rest - 1) {
        int slot = __builtin_ctzll(rest);
        watched->spans[slot] = span_of(core, subcore, slot, state_in(subcore, slot, now));
        watched->spans[slot].from = now;
    }
}

void wt_watch_chosen(struct wt_core *core, int slot)
{
    struct wt_watched *watched = core->watched;
    if (slot >= 0)
        watched->spans[slot].state = WT_STALL_SELECTED;
    for (uint64_t rest = watched->present; rest; rest &= rest - 1) {
        struct wt_warp_span *span = &watched->spans[__builtin_ctzll(rest)];
        report(core, *span, span->from, span->from + 1);
    }
}
