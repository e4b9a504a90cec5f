#include "dispatch/room.h"

void wt_room_init(struct wt_room *room, const struct wt_topology *topology, struct wt_sm *const *sms)
{
    *room = (struct wt_room){.topology = topology, .sms = sms};
    int word = 0;
    for (int g = 0; g < topology->group_count; g++) {
        const struct wt_group *group = &topology->groups[g];
        room->first_word[g] = (uint16_t)word;
        for (int rank = 0; rank < group->sm_count; rank++)
            room->places[group->sms[rank]] =
                (struct wt_room_place){(uint16_t)(word + rank / 64), (uint8_t)(rank % 64), (uint8_t)g};
        word += (group->sm_count + 63) / 64;
    }
}
