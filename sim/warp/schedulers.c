#include "warp/schedulers.h"

#include <stddef.h>
#include <string.h>

static inline int lowest(uint64_t mask)
{
    return __builtin_ctzll(mask);
}

static inline uint64_t bit(int slot)
{
    return (uint64_t)1 << slot;
}

static int oldest(const struct wt_choice *choice, uint64_t among)
{
    int best = lowest(among);
    for (uint64_t rest = among & (among - 1); rest; rest &= rest - 1)
        if (choice->age[lowest(rest)] < choice->age[best])
            best = lowest(rest);
    return best;
}

static int youngest(const struct wt_choice *choice, uint64_t among)
{
    int best = lowest(among);
    for (uint64_t rest = among & (among - 1); rest; rest &= rest - 1)
        if (choice->age[lowest(rest)] > choice->age[best])
            best = lowest(rest);
    return best;
}

/* The next eligible slot after the last one, round the circle. */
static int next_round(const struct wt_choice *choice)
{
    uint64_t later = choice->last >= 0 && choice->last < 63 ? choice->eligible >> (choice->last + 1) << (choice->last + 1)
                                                            : choice->last < 0 ? choice->eligible : 0;
    return lowest(later ? later : choice->eligible);
}

static int loose_round_robin(struct wt_choice *choice)
{
    return next_round(choice);
}

static int greedy_then_oldest(struct wt_choice *choice)
{
    if (choice->last >= 0 && choice->eligible & bit(choice->last))
        return choice->last;
    return oldest(choice, choice->eligible);
}

/* Huerta, Abaie Shoushtary, Cruz, González 2025, "Analyzing Modern NVIDIA GPU cores": the warp that issued last goes on
 * while it can and the compiler has not set the yield bit; else the youngest. */
static int greedy_then_youngest(struct wt_choice *choice)
{
    uint64_t among = choice->eligible;
    if (choice->last >= 0 && among & bit(choice->last)) {
        if (!choice->yielded || among == bit(choice->last))
            return choice->last;
        among &= ~bit(choice->last);
    }
    return youngest(choice, among);
}

/* Narasiman et al. 2011, "Improving GPU performance via large warps and two-level warp scheduling": a few warps are
 * active and take turns; one that stalls makes room for another. */
static int two_level(struct wt_choice *choice)
{
    enum { ACTIVE = 8 };
    choice->active &= choice->eligible;
    for (uint64_t rest = choice->eligible & ~choice->active; rest && __builtin_popcountll(choice->active) < ACTIVE;
         rest &= rest - 1)
        choice->active |= rest & -rest;
    struct wt_choice inner = *choice;
    inner.eligible = choice->active;
    return next_round(&inner);
}

const struct wt_scheduler wt_schedulers[] = {
    {"cggty", "the last warp while it can and its instruction does not yield, then the youngest", greedy_then_youngest},
    {"gto", "the last warp while it can, then the oldest", greedy_then_oldest},
    {"lrr", "loose round robin: the next eligible warp after the last", loose_round_robin},
    {"two-level", "eight active warps in turn; a stalled one makes room for another", two_level},
    {NULL, NULL, NULL}};

const struct wt_scheduler *wt_scheduler_find(const char *name)
{
    for (const struct wt_scheduler *s = wt_schedulers; s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return NULL;
}
