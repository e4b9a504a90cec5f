#include "warp/metrics.h"

static const struct {
    const char *name, *help;
} stalls[WT_STALL_COUNT] = {
    [WT_STALL_BARRIER] = {"barrier", "waits at a barrier for the block's other warps"},
    [WT_STALL_BRANCH_RESOLVING] = {"branch_resolving", "waits for a branch's target"},
    [WT_STALL_DISPATCH] = {"dispatch_stall", "held back by the dispatcher: register ports or other resources"},
    [WT_STALL_DRAIN] = {"drain", "has exited, and its stores have still to leave"},
    [WT_STALL_IMC_MISS] = {"imc_miss", "waits for the immediate constant cache"},
    [WT_STALL_LG_THROTTLE] = {"lg_throttle", "the queue for local and global memory is full"},
    [WT_STALL_LONG_SCOREBOARD] = {"long_scoreboard", "waits for global, local or texture memory"},
    [WT_STALL_MATH_PIPE_THROTTLE] = {"math_pipe_throttle", "its pipe is busy"},
    [WT_STALL_MEMBAR] = {"membar", "waits at a memory fence"},
    [WT_STALL_MIO_THROTTLE] = {"mio_throttle", "the queue for shared memory, special functions and barriers is full"},
    [WT_STALL_MISC] = {"misc", "waits for another reason"},
    [WT_STALL_NO_INSTRUCTION] = {"no_instruction", "waits for its next instruction to be fetched"},
    [WT_STALL_NOT_SELECTED] = {"not_selected", "eligible, but another warp was issued"},
    [WT_STALL_SELECTED] = {"selected", "issued an instruction"},
    [WT_STALL_SHORT_SCOREBOARD] = {"short_scoreboard", "waits for shared memory, a special function or register"},
    [WT_STALL_SLEEPING] = {"sleeping", "sleeps"},
    [WT_STALL_TEX_THROTTLE] = {"tex_throttle", "the queue for textures is full"},
    [WT_STALL_WAIT] = {"wait", "waits the fixed number of cycles that its last instruction asked for"},
};

static double ratio(double of, double to)
{
    return to > 0 ? of / to : 0;
}

double wt_warps_active(const struct wt_warp_counters *counters)
{
    uint64_t sum = 0;
    for (int i = 0; i < WT_STALL_COUNT; i++)
        sum += counters->warp_cycles[i];
    return ratio((double)sum, (double)counters->scheduler_cycles);
}

double wt_warps_eligible(const struct wt_warp_counters *counters)
{
    uint64_t sum = counters->warp_cycles[WT_STALL_SELECTED] + counters->warp_cycles[WT_STALL_NOT_SELECTED];
    return ratio((double)sum, (double)counters->scheduler_cycles);
}

double wt_issue_active(const struct wt_warp_counters *counters)
{
    return ratio((double)counters->issued, (double)counters->scheduler_cycles);
}

double wt_stalled_per_issue(const struct wt_warp_counters *counters, enum wt_stall_reason reason)
{
    return ratio((double)counters->warp_cycles[reason], (double)counters->issued);
}

/* The counters are uint64_t throughout. */
enum { FIELDS = sizeof(struct wt_warp_counters) / sizeof(uint64_t) };

union fields {
    struct wt_warp_counters counters;
    uint64_t values[FIELDS];
};

void wt_warp_counters_add(struct wt_warp_counters *a, const struct wt_warp_counters *b)
{
    union fields sum = {*a}, more = {*b};
    for (int i = 0; i < FIELDS; i++)
        sum.values[i] += more.values[i];
    *a = sum.counters;
}

struct wt_warp_counters wt_warp_counters_since(const struct wt_warp_counters *a, const struct wt_warp_counters *b)
{
    union fields difference = {*a}, less = {*b};
    for (int i = 0; i < FIELDS; i++)
        difference.values[i] -= less.values[i];
    return difference.counters;
}

const char *wt_stall_name(enum wt_stall_reason reason)
{
    return stalls[reason].name;
}

const char *wt_stall_help(enum wt_stall_reason reason)
{
    return stalls[reason].help;
}
