/* Which SMs would take another block of the kernel being dispatched, and how many: what the distributor knows when it chooses.
 *
 * `open` has one bit per SM, by group and rank in the group. */
#ifndef WT_DISPATCH_ROOM_H
#define WT_DISPATCH_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/gpu.h"
#include "sm/sm.h"

enum { WT_ROOM_WORDS = WT_MAX_SMS / 64 + WT_MAX_GROUPS };

/* Where an SM's bit is. */
struct wt_room_place {
    uint16_t word;
    uint8_t bit, group;
};

struct wt_room {
    const struct wt_topology *topology;
    struct wt_sm *const *sms;     /* by SM id */
    const struct wt_shape *shape; /* of the kernel being dispatched */
    uint64_t open_groups; /* bit g: group g has an open SM */
    bool counted;         /* `blocks` holds */
    uint16_t first_word[WT_MAX_GROUPS];
    int open_in_group[WT_MAX_GROUPS];
    uint64_t open[WT_ROOM_WORDS];
    struct wt_room_place places[WT_MAX_SMS]; /* by SM id */
    int32_t blocks[WT_MAX_SMS]; /* by SM id: how many more it would take, kept by counting them */
};

/* All SMs closed. `topology` and `sms` must outlive the room. */
void wt_room_init(struct wt_room *room, const struct wt_topology *topology, struct wt_sm *const *sms);

/* How many more blocks of the kernel the SM's resources would do for. */
static inline int wt_room_blocks(const struct wt_room *room, int sm)
{
    return room->counted ? room->blocks[sm] : wt_sm_room(room->sms[sm], room->shape);
}

static inline bool wt_room_is_open(const struct wt_room *room, int sm)
{
    struct wt_room_place place = room->places[sm];
    return room->open[place.word] >> place.bit & 1;
}

static inline void wt_room_open(struct wt_room *room, int sm)
{
    struct wt_room_place place = room->places[sm];
    uint64_t bit = UINT64_C(1) << place.bit;
    if (room->open[place.word] & bit)
        return;
    room->open[place.word] |= bit;
    room->open_in_group[place.group]++;
    room->open_groups |= UINT64_C(1) << place.group;
}

static inline void wt_room_close(struct wt_room *room, int sm)
{
    struct wt_room_place place = room->places[sm];
    uint64_t bit = UINT64_C(1) << place.bit;
    if (!(room->open[place.word] & bit))
        return;
    room->open[place.word] &= ~bit;
    if (--room->open_in_group[place.group] == 0)
        room->open_groups &= ~(UINT64_C(1) << place.group);
}

#endif
