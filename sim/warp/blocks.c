#include <math.h>

#include "warp/machine.h"

/* ---- Coming ---- */

static void draw_block_loops(const struct wt_core *core, struct wt_block *block)
{
    const struct wt_program *program = core->machine->setup->kernels[block->kernel].program;
    for (size_t i = 0; i < program->loop_count; i++) {
        if (!program->loops[i].per_block)
            continue;
        struct wt_random random = wt_random_stream(core->machine->setup->seed, "block loops",
                                                   block->number * WT_MOST_LOOPS + i + ((uint64_t)block->kernel << 48));
        block->loop_counts[i] = wt_count_draw(&program->loops[i], block->work, &random);
    }
}

/* The slope of the launcher's curve: what one more warp costs. */
static double spacing_of(const struct wt_gpu *gpu, int warps)
{
    const struct wt_curve *curve = &gpu->rates.launch_cycles;
    return warps < 2 ? 0 : (wt_curve_at(curve, warps) - wt_curve_at(curve, 1)) / (warps - 1);
}

void wt_core_announce(struct wt_core *core, int slot, uint32_t kernel, uint64_t number, wt_cycle start)
{
    const struct wt_warp_kernel *of = &core->machine->setup->kernels[kernel];
    struct wt_block *block = &core->blocks[slot];
    uint32_t *loop_counts = block->loop_counts;
    *block = (struct wt_block){.number = number,
                               .kernel = kernel,
                               .slot = (uint16_t)slot,
                               .warps = (uint16_t)of->warps,
                               .alive = (uint16_t)of->warps,
                               .work = of->work ? of->work(of->context, number) : of->program->work,
                               .age = core->arrivals++,
                               .loop_counts = loop_counts};
    draw_block_loops(core, block);
    core->coming[core->coming_count++] = (struct wt_coming){.start = start,
                                                            .spacing = spacing_of(core->machine->gpu, of->warps),
                                                            .slot = (uint16_t)slot,
                                                            .first_subcore = (uint16_t)core->pointer};
    int step = of->warps % core->machine->subcore_count;
    core->pointer = (core->pointer + (step ? step : 1)) % core->machine->subcore_count;
    if (start < core->coming_next)
        core->coming_next = start;
}

static wt_cycle warp_start(const struct wt_coming *coming)
{
    return coming->start + (wt_cycle)(coming->spacing * coming->begun);
}

/* The kernel's first line comes from far. */
static void fetch_first(struct wt_core *core, struct wt_one_warp *warp, wt_cycle now)
{
    wt_cycle *ready = &core->lines_ready[warp->next->line];
    if (!*ready)
        *ready = now + (wt_cycle)core->machine->gpu->warp.first_fetch_cycles;
    warp->fetched = *ready;
    warp->aside = *ready > now;
}

static void let_warp_in(struct wt_core *core, struct wt_block *block, const struct wt_coming *coming, wt_cycle now)
{
    const struct wt_machine *machine = core->machine;
    int number = coming->begun;
    struct wt_subcore *subcore = &core->subcores[(coming->first_subcore + number) % machine->subcore_count];
    int slot = __builtin_ctzll(~subcore->resident);
    if (!subcore->resident)
        subcore->active_since = now;
    subcore->resident |= (uint64_t)1 << slot;
    subcore->ages[slot] = block->age;
    block->members[subcore - core->subcores] |= (uint64_t)1 << slot;
    subcore->warps[slot] = (struct wt_one_warp){
        .next = machine->steps[block->kernel],
        .since = now,
        .state = WT_STALL_NO_INSTRUCTION,
        .number = (uint16_t)number,
        .block = block->slot,
        .likeness = -1,
        .random = wt_random_stream(machine->setup->seed, "warp",
                                   ((uint64_t)block->kernel << 56) ^ (block->number * block->warps + (uint64_t)number))};
    core->counters.warps++;
    fetch_first(core, &subcore->warps[slot], now);
    wt_core_wake(subcore, slot, now);
}

static void let_block_in(struct wt_core *core, struct wt_block *block, wt_cycle now)
{
    if (block->running)
        return;
    block->running = true;
    core->counters.blocks++;
    if (core->resident_blocks++ == 0)
        core->active_since = now;
}

void wt_core_admit(struct wt_core *core, wt_cycle now)
{
    core->coming_next = WT_NEVER;
    for (int i = 0; i < core->coming_count;) {
        struct wt_coming *coming = &core->coming[i];
        struct wt_block *block = &core->blocks[coming->slot];
        for (; coming->begun < block->warps && warp_start(coming) <= now; coming->begun++) {
            let_block_in(core, block, now);
            let_warp_in(core, block, coming, now);
        }
        if (coming->begun == block->warps) {
            *coming = core->coming[--core->coming_count];
            continue;
        }
        if (warp_start(coming) < core->coming_next)
            core->coming_next = warp_start(coming);
        i++;
    }
}

/* ---- Barriers ---- */

/* All warps that wait go on, past what is queued for shared memory; giving them the word occupies the path to it (short-scoreboard,
 * barrier and throttle stalls of bar with blocks of 64 threads, whose releases would else stand behind 30 accesses). */
static void release(struct wt_core *core, struct wt_block *block, wt_cycle taken, wt_cycle now)
{
    const struct wt_warp_rates *rates = &core->machine->gpu->warp;
    double free = core->banks_free > (double)taken ? core->banks_free : (double)taken;
    core->banks_free = free + rates->barrier_release + rates->barrier_release_warp * block->arrived;
    wt_cycle until = taken + (wt_cycle)rates->barrier_latency;
    if (until <= now)
        until = now + 1;
    block->arrived = 0;
    for (int s = 0; s < core->machine->subcore_count; s++) {
        struct wt_subcore *subcore = &core->subcores[s];
        for (uint64_t rest = block->members[s]; rest; rest &= rest - 1) {
            int slot = __builtin_ctzll(rest);
            struct wt_one_warp *warp = &subcore->warps[slot];
            warp->barrier_until = until;
            if (warp->wake == WT_NEVER)
                wt_core_wake(subcore, slot, until);
        }
    }
}

void wt_block_arrive(struct wt_core *core, struct wt_block *block, wt_cycle taken, wt_cycle now)
{
    if (++block->arrived >= block->alive)
        release(core, block, taken, now);
}

/* ---- Leaving ---- */

void wt_block_leave(struct wt_core *core, struct wt_subcore *subcore, int slot, wt_cycle now)
{
    struct wt_one_warp *warp = &subcore->warps[slot];
    struct wt_block *block = &core->blocks[warp->block];
    subcore->resident &= ~((uint64_t)1 << slot);
    block->members[subcore - core->subcores] &= ~((uint64_t)1 << slot);
    if (!subcore->resident)
        core->counters.scheduler_cycles += now + 1 - subcore->active_since;
    if (--block->alive > 0) {
        if (block->arrived > 0 && block->arrived >= block->alive)
            release(core, block, now, now);
        return;
    }
    block->running = false;
    core->ends[core->end_count++] = (struct wt_block_end){now + 1, block->slot};
    if (--core->resident_blocks == 0)
        core->counters.sm_cycles += now + 1 - core->active_since;
}
