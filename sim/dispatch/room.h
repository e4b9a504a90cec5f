/* Which SMs would take another block of the kernel being dispatched: what the distributor knows when it chooses.
 *
 * `open` has one bit per SM, by group and rank in the group. */
#ifndef WT_DISPATCH_ROOM_H
#define WT_DISPATCH_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/gpu.h"
#include "sm/sm.h"

enum { WT_ROOM_WORDS = WT_MAX_SMS / 64 + WT_MAX_GROUPS };

struct wt_room {
    const struct wt_topology *topology;
    struct wt_sm *const *sms;     /* by SM id */
    const struct wt_shape *shape; /* of the kernel being dispatched */
    uint16_t first_word[WT_MAX_GROUPS];
    uint64_t open[WT_ROOM_WORDS];
    int open_in_group[WT_MAX_GROUPS];
    uint64_t open_groups; /* bit g: group g has an open SM */
};

/* All SMs closed. `topology` and `sms` must outlive the room. */
void wt_room_init(struct wt_room *room, const struct wt_topology *topology, struct wt_sm *const *sms);

static inline bool wt_room_is_open(const struct wt_room *room, int sm)
{
    int rank = room->topology->rank_in_group[sm];
    return room->open[room->first_word[room->topology->group_of_sm[sm]] + rank / 64] >> (rank % 64) & 1;
}

static inline void wt_room_open(struct wt_room *room, int sm)
{
    int group = room->topology->group_of_sm[sm], rank = room->topology->rank_in_group[sm];
    uint64_t *word = &room->open[room->first_word[group] + rank / 64];
    uint64_t bit = UINT64_C(1) << (rank % 64);
    if (*word & bit)
        return;
    *word |= bit;
    room->open_in_group[group]++;
    room->open_groups |= UINT64_C(1) << group;
}

static inline void wt_room_close(struct wt_room *room, int sm)
{
    int group = room->topology->group_of_sm[sm], rank = room->topology->rank_in_group[sm];
    uint64_t *word = &room->open[room->first_word[group] + rank / 64];
    uint64_t bit = UINT64_C(1) << (rank % 64);
    if (!(*word & bit))
        return;
    *word &= ~bit;
    if (--room->open_in_group[group] == 0)
        room->open_groups &= ~(UINT64_C(1) << group);
}

#endif
