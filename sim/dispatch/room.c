#include "dispatch/room.h"

void wt_room_init(struct wt_room *room, const struct wt_topology *topology, struct wt_sm *const *sms)
{
    *room = (struct wt_room){.topology = topology, .sms = sms};
    int word = 0;
    for (int g = 0; g < topology->group_count; g++) {
        room->first_word[g] = (uint16_t)word;
        word += (topology->groups[g].sm_count + 63) / 64;
    }
}
