/* The H200's distributor, as measured: it visits groups of SMs in turn, and a visit gives one block to every SM of
 * the group that has room.
 *
 * First wave: as many complete rounds as every SM has room and the grid has blocks for. One group, the extra one, is
 * out of turn: first of all, then after rates.extra_first_gap visits to others, then after every rates.extra_gap. In a
 * cooperative launch the extra group gets all its blocks first (coop_*: all of 53 captures).
 * What is left of a grid that does not fill the room is spread evenly: the extra group's visit first, then one block
 * per group in ascending group order until none is left, TPCs before second SMs of TPCs.
 * These visits come share_cycles later for each of the blocks that are left: 132 and 50 to 128 blocks, 264 and 84 or 101,
 * 396 and 79 of empty_b128 to empty_b384; it shows where SMs would start them sooner.
 *
 * Afterwards visits go on in the same rotation, to groups where blocks have ended. Where an SM has room for several blocks
 * groups get them in rounds, a visit each in round_cycles, as many rounds as the most that the first round's SMs have room for;
 * then there are none for rounds_gap_cycles. (empty blocks of 160 to 768 threads, 64 launches: the SMs that report first get
 * their 2, 3, 4 or 5 blocks each before others get any, 38, 49, 59 and 70 cycles later. In spin2000_b256 others join the next
 * round, as here, where all do; what decides it is not known.)
 *
 * The next launch goes on where this one stopped: at the group after the last one that got a block, and in the extra
 * group at the half that got its last one (questions/rotation_*: 1,587 of 1,587 launches). */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "dispatch/policy.h"

struct rotation {
    const struct wt_topology *topology;
    int extra;       /* group number or -1 */
    int first_gap, gap;
    int next;        /* ordinary group to be visited next */
    uint8_t following[WT_MAX_GROUPS]; /* the ordinary group after each */
    bool cooperative;
    int extra_start; /* rank at which the extra group's visits of this launch begin */
    int extra_next;  /* the next launch's: the half that got the last block */
    int since_extra; /* visits to others since the extra group's last */
    bool extra_seen_once; /* in this launch: the shorter first gap is behind */

    /* the first wave of the launch */
    uint64_t rounds;                      /* complete rounds */
    uint64_t rounds_left[WT_MAX_GROUPS];
    uint64_t wave_left;                   /* blocks of complete rounds not yet handed out */
    int share[WT_MAX_GROUPS];             /* the incomplete round, blocks per group */
    int share_left;
    double share_cycles;
    wt_time shared;                       /* when the shares are known; 0: not asked for yet */

    /* after it */
    wt_time round_time, rest_time;
    uint64_t series;  /* rounds to come, this one included; 0: groups are visited as soon as they have room */
    bool first_round; /* of a series: it tells how many there will be */
    wt_time until;    /* the end of the round; without a series, no visit before */
    uint64_t visited; /* groups, in this round */
};

static int following(const struct wt_topology *t, int extra, int group)
{
    do
        group = group + 1 == t->group_count ? 0 : group + 1;
    while (group == extra && t->group_count > 1);
    return group;
}

static void *create(const struct wt_policy_start *start)
{
    struct rotation *r = wt_alloc(1, sizeof *r);
    const struct wt_topology *t = start->topology;
    r->topology = t;
    r->extra = t->extra_group;
    r->first_gap = start->rates->extra_first_gap;
    r->gap = start->rates->extra_gap;
    r->round_time = wt_from_cycles(start->rates->round_cycles);
    r->rest_time = wt_from_cycles(start->rates->rounds_gap_cycles);
    r->share_cycles = start->rates->share_cycles;
    bool given = start->first_group >= 0 && start->first_group < t->group_count && start->first_group != r->extra;
    r->next = given ? start->first_group : r->extra == 0;
    if (r->next >= t->group_count)
        r->next = 0;
    for (int g = 0; g < t->group_count; g++)
        r->following[g] = (uint8_t)following(t, r->extra, g);
    if (r->extra >= 0 && start->first_extra_sm > 0 && start->first_extra_sm < t->groups[r->extra].sm_count)
        r->extra_next = start->first_extra_sm;
    return r;
}

/* The group of `open` (bits; not empty) that comes first when the rotation goes on. */
static int first_from_next(const struct rotation *r, uint64_t open)
{
    uint64_t ahead = open >> r->next << r->next;
    return __builtin_ctzll(ahead ? ahead : open);
}

/* Whether the SM at `rank` is the first of its TPC in the group's order. */
static bool leads_tpc(const struct rotation *r, int group, int rank)
{
    const struct wt_group *g = &r->topology->groups[group];
    return rank == 0 || r->topology->tpc_of_sm[g->sms[rank]] != r->topology->tpc_of_sm[g->sms[rank - 1]];
}

static int tpcs_in(const struct rotation *r, int group)
{
    int count = 0;
    for (int rank = 0; rank < r->topology->groups[group].sm_count; rank++)
        count += leads_tpc(r, group, rank);
    return count;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* One block per group and pass, up to each group's `cap`. Returns the blocks that found no place. */
static int deal(struct rotation *r, const int *cap, int blocks)
{
    for (bool progress = true; progress && blocks > 0;) {
        progress = false;
        for (int g = 0; g < r->topology->group_count && blocks > 0; g++) {
            if (g == r->extra || r->share[g] >= cap[g])
                continue;
            r->share[g]++;
            blocks--;
            progress = true;
        }
    }
    return blocks;
}

static void plan_incomplete_round(struct rotation *r, int blocks)
{
    int tpcs[WT_MAX_GROUPS], sms[WT_MAX_GROUPS];
    memset(r->share, 0, sizeof r->share);
    r->share_left = blocks;
    for (int g = 0; g < r->topology->group_count; g++) {
        tpcs[g] = tpcs_in(r, g);
        sms[g] = r->topology->groups[g].sm_count;
    }
    if (r->extra >= 0) {
        r->share[r->extra] = least(blocks, sms[r->extra]);
        blocks -= r->share[r->extra];
    }
    deal(r, sms, deal(r, tpcs, blocks));
}

/* Blocks every SM has room for. */
static uint64_t common_room(const struct wt_room *room)
{
    int fewest = WT_MAX_SLOTS;
    for (int sm = 0; sm < room->topology->sm_count && fewest > 0; sm++)
        fewest = least(fewest, wt_room_is_open(room, sm) ? wt_room_blocks(room, sm) : 0);
    return (uint64_t)fewest;
}

static void launch(void *state, const struct wt_room *room, uint64_t blocks, bool cooperative)
{
    struct rotation *r = state;
    r->cooperative = cooperative;
    r->extra_start = r->extra_next;
    uint64_t sms = (uint64_t)r->topology->sm_count;
    uint64_t common = common_room(room);
    uint64_t whole = blocks / sms;
    r->rounds = whole < common ? whole : common;
    r->wave_left = r->rounds * sms;
    for (int g = 0; g < r->topology->group_count; g++)
        r->rounds_left[g] = r->rounds;
    r->share_left = 0;
    if (whole < common)
        plan_incomplete_round(r, (int)(blocks - r->wave_left));
    r->since_extra = -1;
    r->extra_seen_once = false;
    r->shared = r->until = 0;
    r->series = r->visited = 0;
    r->first_round = false;
}

static bool extra_is_due(const struct rotation *r)
{
    if (r->since_extra < 0 || r->cooperative)
        return true;
    return r->since_extra >= (r->extra_seen_once ? r->gap : r->first_gap);
}

static void turn_of_extra(struct rotation *r)
{
    r->extra_seen_once = r->since_extra >= 0;
    r->since_extra = 0;
}

static void turn_of_other(struct rotation *r, int group)
{
    r->next = r->following[group];
    if (r->since_extra >= 0)
        r->since_extra++;
}

static void list_range(const struct rotation *r, int group, int from, int to, struct wt_visit *visit)
{
    for (int rank = from; rank < to; rank++)
        visit->sms[visit->count++] = r->topology->groups[group].sms[rank];
}

static void list_all(const struct rotation *r, int group, struct wt_visit *visit)
{
    int start = group == r->extra ? r->extra_start : 0;
    list_range(r, group, start, r->topology->groups[group].sm_count, visit);
    list_range(r, group, 0, start, visit);
}

/* Keeps `blocks` of the listed SMs: by rank those that lead their TPC, then others, wherever the visit begins. */
static void keep(const struct rotation *r, int group, int blocks, struct wt_visit *visit)
{
    int leaders = least(blocks, tpcs_in(r, group)), seconds = blocks - leaders, kept = 0;
    bool chosen[WT_MAX_SMS];
    for (int rank = 0; rank < r->topology->groups[group].sm_count; rank++) {
        int *left = leads_tpc(r, group, rank) ? &leaders : &seconds;
        chosen[rank] = (*left)-- > 0;
    }
    for (int i = 0; i < visit->count; i++)
        if (chosen[r->topology->rank_in_group[visit->sms[i]]])
            visit->sms[kept++] = visit->sms[i];
    visit->count = kept;
}

/* The visits return their group, -1 for a pause. */

static int pause(struct wt_visit *visit, wt_time until)
{
    visit->pause = until - visit->now;
    return -1;
}

static int visit_complete_round(struct rotation *r, struct wt_visit *visit)
{
    bool extra_left = r->extra >= 0 && r->rounds_left[r->extra] > 0;
    bool others_left = r->wave_left > (extra_left ? r->rounds_left[r->extra] *
                                                        (uint64_t)r->topology->groups[r->extra].sm_count : 0);
    int group = r->extra;
    if (extra_left && (extra_is_due(r) || !others_left)) {
        turn_of_extra(r);
    } else {
        group = r->next;
        turn_of_other(r, group);
    }
    list_all(r, group, visit);
    r->rounds_left[group]--;
    r->wave_left -= (uint64_t)visit->count;
    return group;
}

static int visit_incomplete_round(struct rotation *r, struct wt_visit *visit)
{
    int group = r->extra;
    if (r->shared == 0)
        r->shared = visit->now + wt_from_cycles(r->share_cycles * r->share_left);
    if (visit->now < r->shared)
        return pause(visit, r->shared);
    if (group < 0 || r->share[group] == 0) {
        group = r->next;
        while (r->share[group] == 0)
            group = r->following[group];
        turn_of_other(r, group);
    } else {
        turn_of_extra(r);
    }
    list_all(r, group, visit);
    keep(r, group, r->share[group], visit);
    r->share[group] = 0;
    r->share_left -= visit->count;
    return group;
}

static void list_open(const struct rotation *r, const struct wt_room *room, int group, struct wt_visit *visit)
{
    const struct wt_group *g = &r->topology->groups[group];
    const uint64_t *words = &room->open[room->first_word[group]];
    int count = 0;
    for (int first = 0; first < g->sm_count; first += 64)
        for (uint64_t bits = *words++; bits; bits &= bits - 1)
            visit->sms[count++] = g->sms[first + __builtin_ctzll(bits)];
    visit->count = count;
}

/* Rounds that are over by now. */
static void end_rounds(struct rotation *r, wt_time now)
{
    while (r->series > 0 && now >= r->until) {
        r->first_round = false;
        r->visited = 0;
        r->until += --r->series > 0 ? r->round_time : r->rest_time;
    }
}

/* How many rounds the SMs of a visit have room for. */
static uint64_t rounds_for(const struct wt_room *room, const struct wt_visit *visit)
{
    int most = 1;
    for (int i = 0; i < visit->count; i++) {
        int blocks = wt_room_blocks(room, visit->sms[i]);
        most = blocks > most ? blocks : most;
    }
    return (uint64_t)most;
}

/* Of a visit before a series or in its first round. */
static void count_rounds(struct rotation *r, const struct wt_room *room, const struct wt_visit *visit)
{
    uint64_t rounds = rounds_for(room, visit);
    if (rounds == 1)
        return;
    if (r->series == 0) {
        r->first_round = true;
        r->until = visit->now + r->round_time;
    }
    r->series = rounds > r->series ? rounds : r->series;
}

static int visit_open(struct rotation *r, const struct wt_room *room, struct wt_visit *visit)
{
    uint64_t extra = r->extra >= 0 ? UINT64_C(1) << r->extra : 0;
    end_rounds(r, visit->now);
    uint64_t due = room->open_groups & ~r->visited, others = due & ~extra;
    if (visit->now < r->until && (r->series == 0 || due == 0))
        return pause(visit, r->until);
    int group = r->extra;
    if ((due & extra) && (extra_is_due(r) || !others)) {
        turn_of_extra(r);
    } else {
        group = first_from_next(r, others);
        turn_of_other(r, group);
    }
    list_open(r, room, group, visit);
    if (r->series == 0 || r->first_round)
        count_rounds(r, room, visit);
    if (r->series > 0)
        r->visited |= UINT64_C(1) << group;
    return group;
}

/* A cooperative launch gives the extra group also its part of the incomplete round before others get any. */
static bool extra_finishes_first(const struct rotation *r)
{
    return r->cooperative && r->extra >= 0 && r->rounds_left[r->extra] == 0 && r->share[r->extra] > 0;
}

static void note_half(struct rotation *r, int last_sm)
{
    int half = r->topology->groups[r->extra].sm_count / 2;
    r->extra_next = half > 0 ? r->topology->rank_in_group[last_sm] / half * half : 0;
}

static void visit_next(void *state, const struct wt_room *room, uint64_t remaining, struct wt_visit *visit)
{
    struct rotation *r = state;
    int group;
    visit->count = 0;
    visit->first_wave = r->wave_left > 0 || r->share_left > 0;
    if (!visit->first_wave)
        group = visit_open(r, room, visit);
    else if (r->wave_left > 0 && !(r->share_left > 0 && extra_finishes_first(r)))
        group = visit_complete_round(r, visit);
    else
        group = visit_incomplete_round(r, visit);
    if ((uint64_t)visit->count > remaining)
        visit->count = (int)remaining;
    if (visit->count > 0 && group == r->extra)
        note_half(r, visit->sms[visit->count - 1]);
}

const struct wt_policy wt_policy_h200 = {
    .name = "h200",
    .standing = "measured",
    .summary = "groups of SMs in rotation, one block per SM with room and visit, one group out of turn",
    .source = "first waves of 517 of 518 launches on two H200s (traces/h200)",
    .create = create,
    .destroy = free,
    .launch = launch,
    .visit = visit_next,
};
