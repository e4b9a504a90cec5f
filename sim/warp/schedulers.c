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

/* Those of the block that came first (or last, with `flip` all ones). */
static uint64_t of_block(const struct wt_choice *choice, uint64_t among, uint64_t flip)
{
    uint64_t best = 0, least = UINT64_MAX;
    for (uint64_t rest = among; rest; rest &= rest - 1) {
        uint64_t age = choice->age[lowest(rest)] ^ flip;
        if (age < least)
            best = 0;
        if (age <= least) {
            least = age;
            best |= rest & -rest;
        }
    }
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

static int next_of(const struct wt_choice *choice, uint64_t among)
{
    struct wt_choice inner = *choice;
    inner.eligible = among;
    return next_round(&inner);
}

static bool goes_on(const struct wt_choice *choice)
{
    return choice->last >= 0 && choice->eligible & bit(choice->last);
}

/* What an H200 does: long runs of one warp, whole blocks one before the other. Warps of one block that run for a few instructions keep
 * side by side; where each runs for 64 or more, those with higher numbers are ahead, by half in blocks of 32 (clock64 in rounds of
 * such loops; barrier stalls of fma and fma4). Both come of a wait that is counted to no more than MOST_WAIT. A warp that its pipe
 * keeps waiting for a cycle has had its turn (active warps of mix_imad, whose pipe takes one instruction in two cycles). */
static int greedy_then_oldest(struct wt_choice *choice)
{
    enum { MOST_WAIT = 32 };
    if (choice->follows && goes_on(choice))
        return choice->last;
    uint64_t oldest = UINT64_MAX, longest = 0;
    int best = 0;
    for (uint64_t rest = choice->eligible; rest; rest &= rest - 1) {
        int slot = lowest(rest);
        uint64_t age = choice->age[slot], wait = choice->now - choice->ready[slot];
        wait = wait < MOST_WAIT ? wait : MOST_WAIT;
        if (age < oldest || (age == oldest && wait >= longest)) {
            oldest = age;
            longest = wait;
            best = slot;
        }
    }
    return best;
}

/* Huerta, Abaie Shoushtary, Cruz, Gonzalez 2025, "Analyzing Modern NVIDIA GPU cores": the warp that issued last goes on
 * while it can and the compiler has not set the yield bit; else the youngest. */
static int greedy_then_youngest(struct wt_choice *choice)
{
    uint64_t others = choice->last >= 0 ? choice->eligible & ~bit(choice->last) : choice->eligible;
    if (goes_on(choice) && (!choice->yielded || !others))
        return choice->last;
    return next_of(choice, of_block(choice, others, UINT64_MAX));
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
    return next_of(choice, choice->active);
}

const struct wt_scheduler wt_schedulers[] = {
    {"gto", "the last warp while it issues each cycle, then of the oldest block's that which has waited longest", greedy_then_oldest},
    {"cggty", "the last warp while it can and does not yield, then the youngest block's warps in turn", greedy_then_youngest},
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
