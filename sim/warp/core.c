#include <assert.h>
#include <string.h>

#include "warp/machine.h"

/* Cycles from a BAR's issue until its warp stands at the barrier: an instruction that follows it at once still issues
 * (Nsight Compute's samples of k_bar and k_mix: none at four cycles, all at six). */
enum { BARRIER_REACHED = 5 };

static inline uint64_t bit(int slot)
{
    return (uint64_t)1 << slot;
}

static inline wt_cycle sooner(wt_cycle a, wt_cycle b)
{
    return a < b ? a : b;
}

/* ---- Waking ---- */

static inline wt_cycle next_on_wheel(const struct wt_subcore *subcore, wt_cycle now)
{
    if (!subcore->wheel_used)
        return WT_NEVER;
    int turn = (int)(now % WT_WHEEL);
    uint64_t ahead = turn ? subcore->wheel_used >> turn | subcore->wheel_used << (WT_WHEEL - turn) : subcore->wheel_used;
    return now + (wt_cycle)__builtin_ctzll(ahead);
}

/* `now_counted` is the sub-core's present: nothing on the wheel lies before it, nor a full turn after it. */
void wt_core_wake(struct wt_subcore *subcore, int slot, wt_cycle cycle)
{
    assert(cycle >= subcore->now_counted);
    subcore->warps[slot].wake = cycle;
    if (cycle - subcore->now_counted < WT_WHEEL) {
        subcore->wheel[cycle % WT_WHEEL] |= bit(slot);
        subcore->wheel_used |= bit((int)(cycle % WT_WHEEL));
    } else {
        subcore->far |= bit(slot);
        subcore->far_next = sooner(subcore->far_next, cycle);
    }
    subcore->next = sooner(subcore->next, cycle);
}

/* Sleeps for the rest of its stall count; `stall` is from `now`, the present cycle. */
static inline void count_down(struct wt_subcore *subcore, int slot, wt_cycle now, int stall)
{
    struct wt_one_warp *warp = &subcore->warps[slot];
    int at = (int)((now - subcore->frozen + (wt_cycle)stall) % WT_STALL_WHEEL);
    warp->since = now + 1;
    warp->state = WT_STALL_WAIT;
    warp->wake = 0;
    subcore->stalls[at] |= bit(slot);
    subcore->stalls_used |= 1u << at;
}

static inline wt_cycle next_stall(const struct wt_subcore *subcore, wt_cycle now)
{
    if (!subcore->stalls_used)
        return WT_NEVER;
    int turn = (int)((now - subcore->frozen) % WT_STALL_WHEEL);
    uint64_t ahead = (uint64_t)subcore->stalls_used >> turn | (uint64_t)subcore->stalls_used << (WT_STALL_WHEEL - turn);
    return now + (wt_cycle)__builtin_ctzll(ahead);
}

static uint64_t far_due(struct wt_subcore *subcore, wt_cycle now)
{
    uint64_t due = 0;
    wt_cycle next = WT_NEVER;
    for (uint64_t rest = subcore->far; rest; rest &= rest - 1) {
        int slot = __builtin_ctzll(rest);
        if (subcore->warps[slot].wake <= now)
            due |= bit(slot);
        else
            next = sooner(next, subcore->warps[slot].wake);
    }
    subcore->far &= ~due;
    subcore->far_next = next;
    return due;
}

/* The warps whose time is `now`, taken off the wheel. */
static inline uint64_t take_due(struct wt_subcore *subcore, wt_cycle now)
{
    int at = (int)(now % WT_WHEEL);
    uint64_t due = subcore->wheel[at];
    subcore->wheel[at] = 0;
    subcore->wheel_used &= ~bit(at);
    int counted = (int)((now - subcore->frozen) % WT_STALL_WHEEL);
    due |= subcore->stalls[counted];
    subcore->stalls[counted] = 0;
    subcore->stalls_used &= ~(1u << counted);
    return subcore->far_next <= now ? due | far_due(subcore, now) : due;
}

/* ---- What a warp waits for ---- */

static inline void sleep_until(struct wt_subcore *subcore, int slot, enum wt_stall_reason reason, wt_cycle until)
{
    subcore->warps[slot].state = (uint8_t)reason;
    if (until == WT_NEVER)
        subcore->warps[slot].wake = WT_NEVER;
    else
        wt_core_wake(subcore, slot, until);
}

/* Waits other than for scoreboards and barriers: rare. Returns whether there is one. */
static bool waits_aside(struct wt_core *core, struct wt_subcore *subcore, int slot, struct wt_one_warp *warp, wt_cycle now)
{
    if (warp->leaving)
        wt_block_leave(core, subcore, slot, now);
    else if (warp->sleep_until > now)
        sleep_until(subcore, slot, WT_STALL_SLEEPING, warp->sleep_until);
    else if (warp->fence_until > now)
        sleep_until(subcore, slot, WT_STALL_MEMBAR, warp->fence_until);
    else if (warp->await_until > now)
        sleep_until(subcore, slot, WT_STALL_LONG_SCOREBOARD, warp->await_until);
    else if (warp->resolved > now)
        sleep_until(subcore, slot, WT_STALL_BRANCH_RESOLVING, warp->resolved);
    else if (warp->fetched > now)
        sleep_until(subcore, slot, WT_STALL_NO_INSTRUCTION, warp->fetched);
    else
        return false;
    return true;
}

/* When the last of the scoreboards is released, and by whom. */
static inline wt_cycle released(const struct wt_one_warp *warp, uint8_t boards, bool *is_long)
{
    wt_cycle last = 0;
    for (unsigned rest = boards; rest; rest &= rest - 1) {
        int board = __builtin_ctz(rest);
        if (warp->boards[board] > last) {
            last = warp->boards[board];
            *is_long = warp->long_boards >> board & 1;
        }
    }
    return last;
}

/* What the warp waits for in `now`: it goes to sleep, or is ready for its pipe. `since` is set. */
static inline void look_at(struct wt_core *core, struct wt_subcore *subcore, int slot, wt_cycle now)
{
    struct wt_one_warp *warp = &subcore->warps[slot];
    const struct wt_step *step = warp->next;
    warp->since = now;
    if (warp->aside && waits_aside(core, subcore, slot, warp, now))
        return;
    if (step->wait_boards) {
        bool is_long = false;
        wt_cycle until = released(warp, step->wait_boards, &is_long);
        if (until > now) {
            sleep_until(subcore, slot, is_long ? WT_STALL_LONG_SCOREBOARD : WT_STALL_SHORT_SCOREBOARD, until);
            return;
        }
    }
    if (warp->aside && warp->barrier_until > now && (now >= warp->blocked_from || step->op == WT_OP_BARRIER)) {
        sleep_until(subcore, slot, WT_STALL_BARRIER, warp->barrier_until);
        return;
    }
    subcore->ready[step->pipe] |= bit(slot);
    subcore->waiting_pipes |= 1u << step->pipe;
    subcore->ready_since[slot] = now;
    warp->state = WT_STALL_SELECTED;
}

/* ---- Issuing ---- */

static inline void book(struct wt_one_warp *warp, int board, wt_cycle until, bool is_long)
{
    if (board >= WT_SCOREBOARDS)
        return;
    uint8_t mask = (uint8_t)(1u << board);
    if (until > warp->boards[board]) {
        warp->boards[board] = until;
        warp->long_boards = (uint8_t)(is_long ? warp->long_boards | mask : warp->long_boards & ~mask);
    }
}

static void use_halves(struct wt_subcore *subcore, const struct wt_step *step, wt_cycle now)
{
    wt_cycle *halves = subcore->halves;
    if (step->op == WT_OP_IMAD)
        halves[1] = now + step->interval;
    else
        halves[halves[0] <= now ? 0 : 1] = now + 2 * (wt_cycle)step->interval;
    subcore->free[WT_PIPE_FMA] = sooner(halves[0], halves[1]);
    subcore->free[WT_PIPE_HEAVY] = halves[1];
}

/* From when on the queues take more; arrivals at barriers also need a place in the MIO's. */
static void open_queues(struct wt_subcore *subcore)
{
    wt_cycle barriers = wt_queue_open(&subcore->barriers);
    subcore->free[WT_PIPE_MIO] = wt_queue_open(&subcore->mio);
    subcore->free[WT_PIPE_LG] = wt_queue_open(&subcore->lg);
    wt_cycle special = wt_queue_open(&subcore->special);
    subcore->free[WT_PIPE_BARRIER] = barriers > subcore->free[WT_PIPE_MIO] ? barriers : subcore->free[WT_PIPE_MIO];
    subcore->free[WT_PIPE_XU] = special > subcore->free[WT_PIPE_MIO] ? special : subcore->free[WT_PIPE_MIO];
}

static void use_mio(struct wt_core *core, struct wt_subcore *subcore, struct wt_one_warp *warp, const struct wt_step *step,
                    wt_cycle now)
{
    double *unit = &subcore->registers_free, interval = step->interval;
    if (step->op == WT_OP_SFU || step->op == WT_OP_CONVERT)
        unit = &subcore->special_free;
    if (step->op == WT_OP_SHUFFLE) {
        unit = &core->banks_free;
        interval /= core->machine->subcore_count;
    }
    wt_cycle left = wt_queue_pass(&subcore->mio, unit, interval, now);
    if (step->pipe == WT_PIPE_XU)
        subcore->special.leaves[subcore->special.entered++ % WT_MOST_QUEUE] = left;
    open_queues(subcore);
    book(warp, step->read_board, left + 2, false);
    book(warp, step->write_board, left - 1 + step->latency, false);
}

static void use_memory(struct wt_core *core, struct wt_subcore *subcore, struct wt_one_warp *warp,
                       const struct wt_step *step, wt_cycle now)
{
    wt_cycle read = 0;
    wt_cycle done = wt_memory_access(core, subcore, warp, step->access, now, &read);
    bool is_long = step->pipe == WT_PIPE_LG;
    if (is_long && step->access->kind == WT_ACCESS_LOAD && step->write_board == WT_NO_SCOREBOARD && done > warp->copied)
        warp->copied = done;
    open_queues(subcore);
    book(warp, step->read_board, read, is_long);
    book(warp, step->write_board, done, is_long);
}

static void use_barrier(struct wt_core *core, struct wt_subcore *subcore, struct wt_one_warp *warp, wt_cycle now)
{
    double interval = core->machine->gpu->warp.barrier_interval;
    wt_cycle taken = wt_queue_pass(&subcore->barriers, &core->barrier_free, interval, now);
    open_queues(subcore);
    warp->barrier_until = WT_NEVER;
    warp->blocked_from = now + BARRIER_REACHED;
    warp->aside = true;
    wt_block_arrive(core, &core->blocks[warp->block], taken, now);
}

static void delay(struct wt_one_warp *warp, wt_cycle from, double resolving, double fetching)
{
    warp->resolved = from + (wt_cycle)resolving;
    warp->fetched = warp->resolved + (wt_cycle)fetching;
    warp->aside = true;
}

/* The line that holds the warp's next instruction, if the SM has not got it yet. */
static inline void fetch(struct wt_core *core, struct wt_one_warp *warp, wt_cycle from)
{
    wt_cycle *ready = &core->lines_ready[warp->next->line];
    if (*ready && *ready <= from)
        return;
    if (!*ready)
        *ready = (warp->fetched > from ? warp->fetched : from) + (wt_cycle)core->machine->gpu->warp.cold_cycles;
    if (*ready > warp->fetched)
        warp->fetched = *ready;
    warp->aside = true;
}

/* The warp ends, once its stores are under way. */
static void leave(struct wt_core *core, struct wt_subcore *subcore, int slot, wt_cycle now)
{
    struct wt_one_warp *warp = &subcore->warps[slot];
    if (warp->drained <= now + 1) {
        wt_block_leave(core, subcore, slot, now);
        return;
    }
    warp->leaving = warp->aside = true;
    warp->since = now + 1;
    sleep_until(subcore, slot, WT_STALL_DRAIN, warp->drained);
}

/* Until all groups of copies but the latest `left` are there; of more than can be told apart none is waited for. */
static void await_groups(struct wt_one_warp *warp, uint32_t left)
{
    if (warp->group_count <= left || left >= WT_MOST_GROUPS)
        return;
    warp->await_until = warp->groups[(warp->group_count - 1 - left) % WT_MOST_GROUPS];
    warp->aside = true;
}

/* What the instruction does to the machine, its pipe excepted. Returns false when the warp has ended. */
static bool execute(struct wt_core *core, struct wt_subcore *subcore, int slot, const struct wt_step *step, wt_cycle now)
{
    struct wt_one_warp *warp = &subcore->warps[slot];
    const struct wt_warp_rates *rates = &core->machine->gpu->warp;
    wt_cycle after = now + step->stall;
    switch (step->op) {
    case WT_OP_MEMORY:
        use_memory(core, subcore, warp, step, now);
        break;
    case WT_OP_BARRIER:
        use_barrier(core, subcore, warp, now);
        break;
    case WT_OP_BRANCH:
        if (!wt_control_taken(core, warp, step->of)) {
            if (step->of->branch == WT_BRANCH_SPLIT && warp->diverged >> step->of->index & 1)
                delay(warp, after, rates->diverge_cycles, rates->fetch_cycles);
            break;
        }
        warp->next = step->target;
        delay(warp, after, rates->branch_cycles, rates->fetch_cycles);
        fetch(core, warp, after);
        break;
    case WT_OP_CONVERGE:
        if (step->waits_behind)
            delay(warp, after, rates->converge_cycles, 0);
        break;
    case WT_OP_EXIT:
        if (!wt_control_taken(core, warp, step->of))
            break;
        leave(core, subcore, slot, now);
        return false;
    case WT_OP_FENCE:
        warp->fence_until = warp->stores_until;
        warp->aside = true;
        break;
    case WT_OP_COMMIT:
        warp->groups[warp->group_count++ % WT_MOST_GROUPS] = warp->copied;
        break;
    case WT_OP_AWAIT:
        await_groups(warp, step->of->index);
        break;
    case WT_OP_SLEEP:
        warp->sleep_until = now + step->latency;
        warp->aside = true;
        break;
    default:
        if (step->pipe == WT_PIPE_MIO || step->pipe == WT_PIPE_XU)
            use_mio(core, subcore, warp, step, now);
        else
            book(warp, step->write_board, now + step->latency, false);
    }
    return true;
}

static inline void use_pipe(struct wt_subcore *subcore, const struct wt_step *step, wt_cycle now)
{
    if (step->pipe == WT_PIPE_FMA || step->pipe == WT_PIPE_HEAVY)
        use_halves(subcore, step, now);
    else if (step->pipe < WT_PIPE_BRANCH)
        subcore->free[step->pipe] = now + step->interval;
}

/* Each bank of the registers delivers one operand a cycle. Returns for how long the dispatcher waits for those that are behind. */
static inline wt_cycle take_operands(const struct wt_core *core, struct wt_subcore *subcore, const struct wt_step *step, wt_cycle now)
{
    wt_cycle in_time = now + 1 + (wt_cycle)core->machine->gpu->warp.operand_slack, wait = 0;
    for (int bank = 0; bank < 2; bank++) {
        wt_cycle *read = &subcore->operands[bank];
        *read = (*read > now ? *read : now) + step->reads[bank];
        if (*read > in_time + wait)
            wait = *read - in_time;
    }
    return wait;
}

/* The dispatcher is held up from the next cycle on. */
static inline void hold_up(const struct wt_core *core, struct wt_subcore *subcore, const struct wt_step *step, wt_cycle now)
{
    wt_cycle cycles = step->reads[0] | step->reads[1] ? take_operands(core, subcore, step, now) : 0;
    if (step->blocks && cycles < (wt_cycle)core->machine->gpu->warp.block_cycles)
        cycles = (wt_cycle)core->machine->gpu->warp.block_cycles;
    if (cycles == 0)
        return;
    subcore->blocked_until = now + 1 + cycles;
    subcore->frozen += cycles;
}

static void report_issue(const struct wt_core *core, const struct wt_subcore *subcore, int slot, wt_cycle now)
{
    const struct wt_warp_observer *observer = core->machine->setup->observer;
    const struct wt_one_warp *warp = &subcore->warps[slot];
    const struct wt_block *block = &core->blocks[warp->block];
    struct wt_warp_issue issue = {.time = now * WT_CYCLE - core->machine->origin,
                                  .block = block->number,
                                  .launch = block->kernel,
                                  .instruction = (uint32_t)(warp->next - core->machine->steps[block->kernel]),
                                  .warp = warp->number,
                                  .subcore = (uint8_t)(subcore - core->subcores),
                                  .slot = (uint8_t)slot};
    observer->issue(observer->context, &issue);
}

static inline void issue(struct wt_core *core, struct wt_subcore *subcore, int slot, wt_cycle now)
{
    struct wt_one_warp *warp = &subcore->warps[slot];
    const struct wt_step *step = warp->next;
    if (core->reports_issues)
        report_issue(core, subcore, slot, now);
    subcore->ready[step->pipe] &= ~bit(slot);
    if (!subcore->ready[step->pipe])
        subcore->waiting_pipes &= ~(1u << step->pipe);
    use_pipe(subcore, step, now);
    warp->next = step + 1;
    bool acts = !step->sometimes || wt_random_unit(&warp->random) < (double)step->of->active;
    if (acts && (step->op > WT_OP_UNIFORM || step->pipe == WT_PIPE_MIO || step->pipe == WT_PIPE_XU ||
                 step->write_board != WT_NO_SCOREBOARD) &&
        !execute(core, subcore, slot, step, now))
        return;
    if (warp->next->line_begins)
        fetch(core, warp, now + step->stall);
    if (step->stall == 1)
        look_at(core, subcore, slot, now + 1);
    else
        count_down(subcore, slot, now, step->stall);
    hold_up(core, subcore, step, now);
}

/* ---- A cycle ---- */

/* Ready warps have stood at busy pipes since the sub-core was last looked at. */
static inline void count_gap(struct wt_core *core, struct wt_subcore *subcore, wt_cycle now)
{
    wt_cycle gap = now - subcore->now_counted;
    if (gap == 0)
        return;
    for (uint32_t pipes = subcore->waiting_pipes; pipes; pipes &= pipes - 1) {
        int pipe = __builtin_ctz(pipes);
        core->counters.warp_cycles[wt_pipe_stalls[pipe]] += gap * (uint64_t)__builtin_popcountll(subcore->ready[pipe]);
    }
}

static inline void wake_due(struct wt_core *core, struct wt_subcore *subcore, wt_cycle now)
{
    for (uint64_t due = take_due(subcore, now); due; due &= due - 1) {
        int slot = __builtin_ctzll(due);
        struct wt_one_warp *warp = &subcore->warps[slot];
        core->counters.warp_cycles[warp->state] += now - warp->since;
        look_at(core, subcore, slot, now);
    }
}

static void choose_and_issue(struct wt_core *core, struct wt_subcore *subcore, uint64_t eligible, wt_cycle now)
{
    struct wt_choice *choice = &subcore->choice;
    choice->eligible = eligible;
    choice->now = now;
    choice->follows = subcore->issued_at + 1 == now;
    subcore->issued_at = now;
    int slot = core->machine->scheduler->choose(choice);
    choice->last = slot;
    choice->yielded = subcore->warps[slot].next->yield;
    core->counters.warp_cycles[WT_STALL_SELECTED]++;
    core->counters.warp_cycles[WT_STALL_NOT_SELECTED] += (uint64_t)__builtin_popcountll(eligible) - 1;
    core->counters.issued++;
    issue(core, subcore, slot, now);
}

/* Issues if a warp is eligible. Returns when one may be next, of those that are ready. */
static wt_cycle try_to_issue(struct wt_core *core, struct wt_subcore *subcore, wt_cycle now)
{
    uint64_t eligible = 0;
    wt_cycle opens = WT_NEVER;
    for (uint32_t pipes = subcore->waiting_pipes; pipes; pipes &= pipes - 1) {
        int pipe = __builtin_ctz(pipes);
        if (subcore->free[pipe] <= now) {
            eligible |= subcore->ready[pipe];
            continue;
        }
        opens = sooner(opens, subcore->free[pipe]);
        core->counters.warp_cycles[wt_pipe_stalls[pipe]] += (uint64_t)__builtin_popcountll(subcore->ready[pipe]);
    }
    if (!eligible)
        return opens;
    choose_and_issue(core, subcore, eligible, now);
    return subcore->waiting_pipes ? now + 1 : WT_NEVER;
}

/* A cycle in which the dispatcher is held up. */
static void count_blocked(struct wt_core *core, struct wt_subcore *subcore)
{
    uint64_t ready = 0;
    for (uint32_t pipes = subcore->waiting_pipes; pipes; pipes &= pipes - 1)
        ready |= subcore->ready[__builtin_ctz(pipes)];
    core->counters.warp_cycles[WT_STALL_DISPATCH] += (uint64_t)__builtin_popcountll(ready);
}

static void step_subcore(struct wt_core *core, struct wt_subcore *subcore, wt_cycle now)
{
    bool watched = core->watched && core->watched->subcore == subcore;
    uint64_t issued = core->counters.issued;
    if (watched)
        wt_watch_gap(core, subcore, now);
    count_gap(core, subcore, now);
    subcore->now_counted = now;
    wake_due(core, subcore, now);
    if (watched)
        wt_watch_cycle(core, subcore, now);
    subcore->next = WT_NEVER;
    wt_cycle opens = WT_NEVER;
    if (subcore->blocked_until > now) {
        count_blocked(core, subcore);
        opens = subcore->waiting_pipes ? now + 1 : WT_NEVER;
    } else {
        opens = try_to_issue(core, subcore, now);
    }
    if (watched)
        wt_watch_chosen(core, core->counters.issued > issued ? subcore->choice.last : -1);
    subcore->now_counted = now + 1;
    wt_cycle next = sooner(next_on_wheel(subcore, now + 1), next_stall(subcore, now + 1));
    subcore->next = sooner(sooner(opens, subcore->far_next), next);
}

/* ---- The SM ---- */

wt_cycle wt_core_next(const struct wt_core *core)
{
    wt_cycle next = core->coming_next;
    for (int s = 0; s < core->machine->subcore_count; s++)
        next = sooner(next, core->subcores[s].next);
    return next;
}

void wt_core_run(struct wt_core *core, wt_cycle until)
{
    int count = core->machine->subcore_count;
    for (wt_cycle now = wt_core_next(core); now < until; now = wt_core_next(core)) {
        if (core->coming_next <= now)
            wt_core_admit(core, now);
        for (int s = 0; s < count; s++)
            if (core->subcores[s].next <= now)
                step_subcore(core, &core->subcores[s], now);
    }
}

void wt_core_settle(struct wt_core *core, wt_cycle cycle)
{
    for (int s = 0; s < core->machine->subcore_count; s++) {
        struct wt_subcore *subcore = &core->subcores[s];
        if (!subcore->resident)
            continue;
        if (core->watched && core->watched->subcore == subcore)
            wt_watch_gap(core, subcore, cycle);
        if (cycle > subcore->now_counted) {
            count_gap(core, subcore, cycle);
            subcore->now_counted = cycle;
        }
        for (uint64_t rest = subcore->resident; rest; rest &= rest - 1) {
            struct wt_one_warp *warp = &subcore->warps[__builtin_ctzll(rest)];
            if (warp->state == WT_STALL_SELECTED || warp->since >= cycle)
                continue;
            core->counters.warp_cycles[warp->state] += cycle - warp->since;
            warp->since = cycle;
        }
        core->counters.scheduler_cycles += cycle - subcore->active_since;
        subcore->active_since = cycle;
    }
    if (core->resident_blocks == 0)
        return;
    core->counters.sm_cycles += cycle - core->active_since;
    core->active_since = cycle;
}
