/* Placement policies: which SMs get the next blocks. One const descriptor each, one line in the table.
 *
 * The distributor asks for visits. A visit names SMs that each get one block, in order, at the same moment. */
#ifndef WT_DISPATCH_POLICY_H
#define WT_DISPATCH_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/time.h"
#include "dispatch/room.h"

struct wt_visit {
    wt_time now;   /* the policy is told: when it would be made */
    wt_time pause; /* given as 0; where count is 0: after how long to ask again, or as soon as something happens */
    int count;
    bool first_wave; /* hands out room that was free when the launch began */
    uint16_t sms[WT_MAX_SMS];
};

/* What a policy may start from; see struct wt_simulation. */
struct wt_policy_start {
    const struct wt_topology *topology;
    const struct wt_rates *rates;
    uint64_t seed;
    int first_group;
    int first_extra_sm;
};

struct wt_policy {
    const char *name;
    const char *standing; /* "measured", "published" or "assumed" */
    const char *summary;
    const char *source; /* of the rule */
    /* The state lives over all launches of a run. Owned by the caller, released with destroy. */
    void *(*create)(const struct wt_policy_start *start);
    void (*destroy)(void *state);
    /* A launch of `blocks` blocks begins; the SMs that have room are open. A cooperative one may be placed by other
     * rules. */
    void (*launch)(void *state, const struct wt_room *room, uint64_t blocks, bool cooperative);
    /* The next visit, for at most `remaining` blocks; at least one SM is open. On return visit->count >= 1 and all its SMs are
     * open, or it is 0 and visit->pause > 0. */
    void (*visit)(void *state, const struct wt_room *room, uint64_t remaining, struct wt_visit *visit);
};

extern const struct wt_policy wt_policy_h200, wt_policy_most_room, wt_policy_round_robin, wt_policy_shuffle;

/* All policies; NULL ends the table. */
extern const struct wt_policy *const wt_policies[];

/* Fails naming the policies there are. */
enum wt_code wt_policy_find(const char *name, const struct wt_policy **out, struct wt_error *err);

#endif
