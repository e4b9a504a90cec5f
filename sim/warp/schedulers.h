/* Warp schedulers: which of a sub-core's eligible warps issues next. Adding one: a row in schedulers.c. */
#ifndef WT_WARP_SCHEDULERS_H
#define WT_WARP_SCHEDULERS_H

#include <stdbool.h>
#include <stdint.h>

/* What a policy decides on. Bits of the masks are warp slots of the sub-core. */
struct wt_choice {
    uint64_t eligible;   /* not 0 */
    uint64_t active;     /* two-level: the group that is preferred; kept by the policy */
    const uint64_t *age; /* per slot: when the warp's block came, smaller = older */
    const uint64_t *ready; /* per slot: cycle from which the warp has waited for nothing but its pipe and its turn */
    uint64_t now;        /* the cycle */
    int last;            /* slot that issued last, -1: none */
    bool follows;        /* it did so in the cycle before */
    bool yielded;        /* its last instruction asked to prefer another warp */
};

struct wt_scheduler {
    const char *name; /* in config files and on the command line */
    const char *help;
    int (*choose)(struct wt_choice *choice); /* one of the eligible slots */
};

/* Ends with an entry without name. */
extern const struct wt_scheduler wt_schedulers[];

/* NULL when there is none of that name. */
const struct wt_scheduler *wt_scheduler_find(const char *name);

#endif
