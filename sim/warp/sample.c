/* What an SM's warps do in single cycles. */
#include "warp/machine.h"

/* Of a warp that waits for its pipe and its turn. */
static enum wt_stall_reason ready_state(const struct wt_subcore *subcore, int slot, wt_cycle cycle)
{
    if (subcore->issued_at != cycle && subcore->blocked_until > cycle)
        return WT_STALL_DISPATCH;
    for (int pipe = 0; pipe < WT_PIPE_COUNT; pipe++)
        if (subcore->ready[pipe] >> slot & 1)
            return subcore->free[pipe] > cycle ? wt_pipe_stalls[pipe] : WT_STALL_NOT_SELECTED;
    return WT_STALL_NOT_SELECTED;
}

/* In the cycle that has just been simulated. What issued is in its next state already, unless it has ended. */
static enum wt_stall_reason state_of(const struct wt_subcore *subcore, int slot, wt_cycle cycle)
{
    if (subcore->issued_at == cycle && subcore->choice.last == slot)
        return WT_STALL_SELECTED;
    if (subcore->issued_at == cycle && subcore->choice.eligible >> slot & 1)
        return WT_STALL_NOT_SELECTED;
    enum wt_stall_reason state = (enum wt_stall_reason)subcore->warps[slot].state;
    return state == WT_STALL_SELECTED ? ready_state(subcore, slot, cycle) : state;
}

static wt_cycle tell(const struct wt_core *core, wt_cycle cycle)
{
    const struct wt_warp_observer *observer = core->machine->setup->observer;
    struct wt_warp_sample slots[WT_MAX_SUBCORES * WT_MOST_SUBCORE_WARPS];
    int count = 0;
    for (int s = 0; s < core->machine->subcore_count; s++) {
        const struct wt_subcore *subcore = &core->subcores[s];
        for (int slot = 0; slot < core->machine->slots; slot++) {
            const struct wt_one_warp *warp = &subcore->warps[slot];
            struct wt_warp_sample none = {.state = WT_STALL_COUNT};
            bool leaves = subcore->issued_at == cycle && subcore->choice.last == slot;
            slots[count++] = leaves || subcore->resident >> slot & 1
                                 ? (struct wt_warp_sample){(uint8_t)state_of(subcore, slot, cycle), (uint8_t)warp->block, warp->number}
                                 : none;
        }
    }
    return observer->sample(observer->context, core->index, cycle * WT_CYCLE, slots, count) / WT_CYCLE;
}

void wt_core_run_sampled(struct wt_core *core, wt_cycle until)
{
    while (core->next_sample < until) {
        wt_core_run(core, core->next_sample + 1);
        core->next_sample = tell(core, core->next_sample);
    }
    wt_core_run(core, until);
}
