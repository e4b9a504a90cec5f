/* Policies that place one block at a time. */
#include <stdlib.h>

#include "core/mem.h"
#include "core/random.h"
#include "dispatch/policy.h"

struct simple {
    int sm_count;
    int next; /* round-robin: the SM to try first */
    uint64_t first_wave_left; /* blocks for which there was room when the launch began */
    struct wt_random random;
};

static void *create(const struct wt_policy_start *start)
{
    struct simple *simple = wt_alloc(1, sizeof *simple);
    simple->sm_count = start->topology->sm_count;
    simple->random = wt_random_stream(start->seed, "placement", 0);
    return simple;
}

static void launch(void *state, const struct wt_room *room, uint64_t blocks, bool cooperative)
{
    (void)blocks, (void)cooperative;
    struct simple *simple = state;
    simple->first_wave_left = 0;
    for (int sm = 0; sm < simple->sm_count; sm++)
        if (wt_room_is_open(room, sm))
            simple->first_wave_left += (uint64_t)wt_room_blocks(room, sm);
}

static void one(struct simple *simple, int sm, struct wt_visit *visit)
{
    visit->count = 1;
    visit->first_wave = simple->first_wave_left > 0;
    visit->sms[0] = (uint16_t)sm;
    simple->first_wave_left -= visit->first_wave;
}

static void most_room(void *state, const struct wt_room *room, uint64_t remaining, struct wt_visit *visit)
{
    (void)remaining;
    struct simple *simple = state;
    int best = -1, most = -1;
    for (int sm = 0; sm < simple->sm_count; sm++) {
        if (!wt_room_is_open(room, sm))
            continue;
        int fits = wt_room_blocks(room, sm);
        if (fits > most) {
            most = fits;
            best = sm;
        }
    }
    one(simple, best, visit);
}

static int next_open(const struct simple *simple, const struct wt_room *room, int from)
{
    int sm = from;
    while (!wt_room_is_open(room, sm))
        sm = (sm + 1) % simple->sm_count;
    return sm;
}

static void round_robin(void *state, const struct wt_room *room, uint64_t remaining, struct wt_visit *visit)
{
    (void)remaining;
    struct simple *simple = state;
    int sm = next_open(simple, room, simple->next);
    simple->next = (sm + 1) % simple->sm_count;
    one(simple, sm, visit);
}

/* Every open SM is as likely as any other. */
static void shuffle(void *state, const struct wt_room *room, uint64_t remaining, struct wt_visit *visit)
{
    (void)remaining;
    struct simple *simple = state;
    int sm;
    do
        sm = (int)wt_random_below(&simple->random, (uint32_t)simple->sm_count);
    while (!wt_room_is_open(room, sm));
    one(simple, sm, visit);
}

const struct wt_policy wt_policy_most_room = {
    .name = "most-room",
    .standing = "published",
    .summary = "the SM with room for most further blocks of the kernel, lowest id first among equals",
    .source = "Gilman et al., Demystifying the Placement Policies of the NVIDIA GPU Thread Block Scheduler, 2021",
    .create = create,
    .destroy = free,
    .launch = launch,
    .visit = most_room,
};

const struct wt_policy wt_policy_round_robin = {
    .name = "round-robin",
    .standing = "assumed",
    .summary = "the next SM with room, by id",
    .source = "the textbooks' picture of the distributor",
    .create = create,
    .destroy = free,
    .launch = launch,
    .visit = round_robin,
};

const struct wt_policy wt_policy_shuffle = {
    .name = "shuffle",
    .standing = "assumed",
    .summary = "any SM with room, at random: shows which conclusions depend on the order",
    .source = "CUDA promises no order of blocks",
    .create = create,
    .destroy = free,
    .launch = launch,
    .visit = shuffle,
};
