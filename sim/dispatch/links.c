#include "dispatch/links.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"

/* Where links are not idle: apart from the common ways, which are the shorter for it. */
#define OUT_OF_THE_WAY __attribute__((noinline))

enum { TURN_STEP = 3 }; /* of a GPC's TPCs every third one is served, then those after them, and again */

/* Which places of an array hold a queue; whoever has one adds no more than `size`. */
struct ring {
    uint32_t size, head, count;
};

/* A block that is over, before its report leaves the TPC. */
struct ended {
    wt_time ready;
    const struct wt_report *report;
    uint16_t sm;
};

struct message {
    wt_time at;      /* earliest arrival at the distributor */
    wt_time series;  /* when its first report left */
    uint32_t waited; /* to be sent */
    uint16_t sm;
    uint16_t tpc;
};

/* A block that has to wait on its way. */
struct pending {
    struct wt_launch launch;
    int which; /* of the TPC's SMs */
};

/* Its rings have as many places as it has block slots. */
struct tpc {
    wt_time busy_from, busy_until; /* sends a report; before, unless it begins only then, others */
    wt_time free_at[2]; /* no block starts before on that SM */
    wt_time travel; /* of a report to the distributor */
    wt_time series; /* when the first of the latest reports left */
    uint32_t sent, limit; /* reports on their way; sends while they are fewer, */
    uint32_t crowding; /* with places that launches take, in 1/WT_PARTS */
    uint16_t gpc;
    uint16_t rank; /* in its GPC's order of turns */
    uint16_t first_sm; /* the other may be any */
    bool waiting; /* the first report, for room on the way */
    bool granted; /* may leave all the same: another one has been taken */
    uint32_t allowed; /* starts while it waits, in 1/WT_PARTS, */
    uint32_t slips; /* and while it sends */
    struct ring reports; /* to be sent */
    struct ring launches; /* what is to start, in the order in which it was handed out */
    struct ended *ended;
    struct pending *pending;
    int sm_count;
};

/* The reports of a GPC that are on their way, by arrival; as many places as it has block slots. */
struct gpc {
    struct ring ring;
    struct message *messages;
    int turn; /* the rank of the TPC to be served first */
    int waiting; /* TPCs */
    int tpc_count;
};

/* When something next happens at a TPC. They are in a tournament, where of equals the lower number wins. */
struct turn {
    wt_time time;
    uint32_t tpc;
};

struct wt_links {
    wt_time soonest; /* event */
    wt_time hub_next;
    wt_time now;     /* of the latest event */
    wt_time hub_free_at;
    wt_time ready_time, report_time, pause_time;
    int hub_turn;    /* the GPC to be served first */
    int hub_soonest; /* the one whose first report is due first */
    int tpc_count, gpc_count;
    uint32_t few; /* reports of a TPC on their way: so long a first wave's blocks slip in */
    struct tpc *tpcs;
    struct gpc *gpcs;
    uint16_t *tpc_of_sm;
    wt_time *heads;    /* by GPC: when its first report arrives, WT_NEVER without any */
    uint32_t leaf_count;
    struct turn *turns; /* [leaf_count + tpc]: that TPC's; [1]: the first of all */
};

/* ---- Rings ---- */

static inline uint32_t place_after(const struct ring *ring, uint32_t place)
{
    return place + 1 == ring->size ? 0 : place + 1;
}

static inline uint32_t place_before(const struct ring *ring, uint32_t place)
{
    return (place > 0 ? place : ring->size) - 1;
}

/* A new last place. */
static inline uint32_t append(struct ring *ring)
{
    assert(ring->count < ring->size);
    uint32_t place = ring->head + ring->count++;
    return place < ring->size ? place : place - ring->size;
}

static inline void drop_first(struct ring *ring)
{
    ring->head = place_after(ring, ring->head);
    ring->count--;
}

/* ---- Who is next ---- */

/* Without branches on who wins, which nobody foresees. */
static void set_next(struct wt_links *links, int tpc, wt_time time)
{
    struct turn winner = {time, (uint32_t)tpc};
    uint32_t node = links->leaf_count + (uint32_t)tpc;
    if (links->turns[node].time == time)
        return;
    for (; node > 1; node /= 2) {
        struct turn other = links->turns[node ^ 1];
        links->turns[node] = winner;
        bool loses = (other.time < winner.time) | ((other.time == winner.time) & node);
        winner.time = loses ? other.time : winner.time;
        winner.tpc = loses ? other.tpc : winner.tpc;
    }
    links->turns[1] = winner;
}

static inline void set_hub_next(struct wt_links *links, int gpc, wt_time first)
{
    links->hub_soonest = gpc;
    links->hub_next = first == WT_NEVER ? WT_NEVER : wt_later(first, links->hub_free_at);
}

static inline void find_hub_next(struct wt_links *links)
{
    const wt_time *heads = links->heads;
    wt_time first = heads[0];
    int soonest = 0;
    for (int g = 1; g < links->gpc_count; g++) {
        soonest = heads[g] < first ? g : soonest;
        first = wt_sooner(first, heads[g]);
    }
    set_hub_next(links, soonest, first);
}

static inline void find_soonest(struct wt_links *links)
{
    links->soonest = wt_sooner(links->hub_next, links->turns[1].time);
}

const wt_time *wt_links_next(const struct wt_links *links)
{
    return &links->soonest;
}

/* ---- The TPC ---- */

/* While a report waits the TPC may start only so many. */
static bool may_start(const struct tpc *tpc)
{
    return !tpc->waiting || tpc->allowed >= WT_PARTS;
}

static wt_time past_report(const struct tpc *tpc, wt_time time)
{
    return wt_later(time, time >= tpc->busy_from ? tpc->busy_until : 0);
}

/* From when on the first report that is to be sent keeps others from starting: before it is ready where none is on its way. */
static wt_time stop_of(const struct tpc *tpc)
{
    const struct ended *ended = &tpc->ended[tpc->reports.head];
    if (tpc->reports.count == 0 || tpc->waiting)
        return WT_NEVER;
    return ended->ready - (tpc->sent == 0 ? ended->report->lead : 0);
}

/* The first pending block may start between two reports. */
static bool may_slip(const struct wt_links *links, const struct tpc *tpc)
{
    if (tpc->waiting || tpc->slips < WT_PARTS || tpc->launches.count == 0)
        return false;
    return tpc->sent < links->few || !tpc->pending[tpc->launches.head].launch.kind->first_wave;
}

/* When the first pending block could start; WT_NEVER: not before a report has left. */
static wt_time start_of(const struct wt_links *links, const struct tpc *tpc)
{
    const struct pending *pending = &tpc->pending[tpc->launches.head];
    if (tpc->launches.count == 0 || !may_start(tpc))
        return WT_NEVER;
    wt_time start = past_report(tpc, wt_later(wt_later(pending->launch.arrival, tpc->free_at[pending->which]), links->now));
    return start < stop_of(tpc) || may_slip(links, tpc) ? start : WT_NEVER;
}

static bool is_full(const struct tpc *tpc)
{
    return tpc->sent > 0 && !tpc->granted && tpc->sent + tpc->crowding / WT_PARTS >= tpc->limit;
}

static wt_time send_of(const struct tpc *tpc)
{
    if (tpc->reports.count == 0 || (tpc->waiting && is_full(tpc)))
        return WT_NEVER;
    return wt_later(tpc->ended[tpc->reports.head].ready, tpc->busy_until);
}

static void plan(struct wt_links *links, int number)
{
    const struct tpc *tpc = &links->tpcs[number];
    wt_time next = wt_sooner(send_of(tpc), start_of(links, tpc));
    set_next(links, number, next == WT_NEVER ? next : wt_later(next, links->now));
}

/* By arrival; of equals, the one that left first. */
static inline void insert(struct wt_links *links, int g, const struct message *message)
{
    struct gpc *gpc = &links->gpcs[g];
    struct ring *ring = &gpc->ring;
    uint32_t place = append(ring);
    while (place != ring->head) {
        uint32_t before = place_before(ring, place);
        if (gpc->messages[before].at <= message->at)
            break;
        gpc->messages[place] = gpc->messages[before];
        place = before;
    }
    gpc->messages[place] = *message;
    if (place != ring->head)
        return;
    bool soonest = message->at < links->heads[links->hub_soonest];
    links->heads[g] = message->at;
    if (soonest)
        set_hub_next(links, g, message->at);
}

/* How much longer a report takes for what waits behind it: any block of a first wave, others that came before the reports. */
static inline wt_time held_by(const struct tpc *tpc)
{
    const struct wt_launch *launch = &tpc->pending[tpc->launches.head].launch;
    bool waits = tpc->launches.count > 0 && (launch->kind->first_wave || launch->arrival <= tpc->busy_from);
    return waits ? launch->kind->hold : 0;
}

static inline void send(struct wt_links *links, struct tpc *tpc, const struct ended *ended, wt_time now)
{
    tpc->series = now > tpc->busy_until + links->pause_time ? now : tpc->series;
    struct message message = {.at = now + tpc->travel,
                              .series = tpc->series,
                              .waited = (uint32_t)wt_sooner(now - ended->ready, UINT32_MAX),
                              .sm = ended->sm,
                              .tpc = (uint16_t)(tpc - links->tpcs)};
    bool first = now > tpc->busy_until;
    uint32_t left = tpc->slips < WT_PARTS ? tpc->slips : WT_PARTS;
    tpc->slips = ended->report->slips > 0 ? (first ? WT_PARTS / 2 : left) + ended->report->slips : 0;
    tpc->busy_from = first ? now - ended->report->lead : tpc->busy_from;
    tpc->busy_until = now + ended->report->send + held_by(tpc);
    tpc->allowed = (tpc->allowed < WT_PARTS ? tpc->allowed : WT_PARTS - 1) + ended->report->starts;
    links->gpcs[tpc->gpc].waiting -= tpc->waiting;
    tpc->waiting = tpc->granted = false;
    tpc->sent++;
    insert(links, tpc->gpc, &message);
}

static void occupy(struct tpc *tpc, int which, const struct wt_launch *launch, wt_time start)
{
    tpc->free_at[which] = start + launch->kind->interval;
    tpc->free_at[1 - which] = wt_later(tpc->free_at[1 - which], start + launch->kind->lag);
}

static void start_first(struct tpc *tpc, wt_time now, struct wt_link_event *event)
{
    struct pending pending = tpc->pending[tpc->launches.head];
    if (now >= stop_of(tpc)) {
        tpc->slips -= WT_PARTS;
        tpc->busy_until = wt_later(tpc->busy_until, now + pending.launch.kind->lag);
    }
    drop_first(&tpc->launches);
    tpc->crowding -= pending.launch.kind->places;
    tpc->allowed = tpc->allowed > WT_PARTS ? tpc->allowed - WT_PARTS : 0;
    occupy(tpc, pending.which, &pending.launch, now);
    event->kind = WT_LINK_STARTED;
    event->id = pending.launch.id;
    event->length = pending.launch.length;
}

/* Reports go before launches, but for those that slip in. */
static OUT_OF_THE_WAY void step_tpc(struct wt_links *links, int number, struct wt_link_event *event)
{
    struct tpc *tpc = &links->tpcs[number];
    wt_time now = event->at;
    bool report = tpc->reports.count > 0 && tpc->ended[tpc->reports.head].ready <= now && tpc->busy_until <= now;
    bool slip = report && may_slip(links, tpc) && start_of(links, tpc) <= now;
    if (report && !slip && !is_full(tpc)) {
        send(links, tpc, &tpc->ended[tpc->reports.head], now);
        drop_first(&tpc->reports);
    } else {
        bool waits = report && !slip && !tpc->waiting;
        links->gpcs[tpc->gpc].waiting += waits;
        tpc->waiting |= waits;
        if (start_of(links, tpc) <= now)
            start_first(tpc, now, event);
    }
    plan(links, number);
}

/* No report waits, and no block that was sent off before has to start first. */
static inline bool is_clear(const struct tpc *tpc)
{
    return tpc->reports.count + tpc->launches.count == 0;
}

static OUT_OF_THE_WAY void hold_launch(struct wt_links *links, int number, const struct pending *pending)
{
    struct tpc *tpc = &links->tpcs[number];
    tpc->pending[append(&tpc->launches)] = *pending;
    tpc->crowding += pending->launch.kind->places;
    plan(links, number);
    find_soonest(links);
}

wt_time wt_links_launch(struct wt_links *links, int sm, const struct wt_launch *launch, wt_time now)
{
    int number = links->tpc_of_sm[sm];
    struct tpc *tpc = &links->tpcs[number];
    int which = tpc->first_sm != sm;
    wt_time start = past_report(tpc, wt_later(launch->arrival, tpc->free_at[which]));
    links->now = wt_later(links->now, now);
    if (is_clear(tpc) && start <= now + links->ready_time) {
        occupy(tpc, which, launch, start);
        return start;
    }
    hold_launch(links, number, &(struct pending){*launch, which});
    return WT_NEVER;
}

static OUT_OF_THE_WAY void hold_report(struct wt_links *links, int number, const struct ended *ended)
{
    struct tpc *tpc = &links->tpcs[number];
    tpc->ended[append(&tpc->reports)] = *ended;
    if (tpc->reports.count == 1)
        plan(links, number);
    find_soonest(links);
}

/* Far from a full queue it is sure when the report leaves, but for blocks that slip in before it where several wait. */
void wt_links_end(struct wt_links *links, int sm, wt_time over, const struct wt_report *report)
{
    int number = links->tpc_of_sm[sm];
    struct tpc *tpc = &links->tpcs[number];
    struct ended ended = {.ready = over + links->ready_time, .report = report, .sm = (uint16_t)sm};
    bool held = report->slips > 0 && ended.ready + report->send < tpc->busy_until;
    if (is_clear(tpc) && 2 * tpc->sent < tpc->limit && !held) {
        send(links, tpc, &ended, wt_later(ended.ready, tpc->busy_until));
        links->soonest = wt_sooner(links->soonest, links->hub_next);
        return;
    }
    hold_report(links, number, &ended);
}

/* ---- The distributor's end ---- */

/* Whose first report is taken now: where several wait, the GPC whose turn it is. */
static inline int turn_of(const struct wt_links *links, wt_time now)
{
    int g = links->hub_soonest;
    if (links->heads[g] == now)
        return g;
    for (g = links->hub_turn; links->heads[g] > now;)
        g = g + 1 == links->gpc_count ? 0 : g + 1;
    return g;
}

/* How many turns the TPC is away. */
static inline int turns_to(const struct gpc *gpc, const struct tpc *tpc)
{
    return tpc->rank - gpc->turn + (tpc->rank < gpc->turn ? gpc->tpc_count : 0);
}

/* Several reports have arrived: puts that of the TPC whose turn it is first. */
static OUT_OF_THE_WAY void put_turn_first(const struct wt_links *links, struct gpc *gpc, wt_time now)
{
    const struct ring *ring = &gpc->ring;
    struct message *messages = gpc->messages;
    uint32_t best = ring->head;
    int fewest = gpc->tpc_count;
    for (uint32_t i = 0, place = ring->head; i < ring->count && messages[place].at <= now && fewest > 0; i++) {
        int turns = turns_to(gpc, &links->tpcs[messages[place].tpc]);
        best = turns < fewest ? place : best;
        fewest = turns < fewest ? turns : fewest;
        place = place_after(ring, place);
    }
    struct message first = messages[best];
    for (uint32_t place = best; place != ring->head; place = place_before(ring, place))
        messages[place] = messages[place_before(ring, place)];
    messages[ring->head] = first;
}

static inline void step_hub(struct wt_links *links, struct wt_link_event *event)
{
    int g = turn_of(links, event->at);
    struct gpc *gpc = &links->gpcs[g];
    struct ring *ring = &gpc->ring;
    if (gpc->waiting > 0 && ring->count > 1 && gpc->messages[place_after(ring, ring->head)].at <= event->at)
        put_turn_first(links, gpc, event->at);
    const struct message *message = &gpc->messages[ring->head];
    struct tpc *tpc = &links->tpcs[message->tpc];
    event->kind = WT_LINK_REPORT;
    event->sm = message->sm;
    event->ready = message->at - message->waited;
    event->series = message->series;
    gpc->turn = tpc->rank + 1 == gpc->tpc_count ? 0 : tpc->rank + 1;
    drop_first(ring);
    links->heads[g] = ring->count > 0 ? gpc->messages[ring->head].at : WT_NEVER;
    links->hub_turn = g + 1 == links->gpc_count ? 0 : g + 1;
    links->hub_free_at = event->at + links->report_time;
    tpc->sent--;
    find_hub_next(links);
    if (tpc->waiting) {
        tpc->granted = true;
        plan(links, (int)(tpc - links->tpcs));
    }
}

void wt_links_step(struct wt_links *links, struct wt_link_event *event)
{
    event->kind = WT_LINK_NOTHING;
    event->at = links->now = links->soonest;
    if (links->hub_next <= links->turns[1].time)
        step_hub(links, event);
    else
        step_tpc(links, (int)links->turns[1].tpc, event);
    find_soonest(links);
}

/* ---- Setting up ---- */

static void add_sm(struct wt_links *links, const struct wt_gpu *gpu, int sm)
{
    int number = gpu->topology.tpc_of_sm[sm];
    struct tpc *tpc = &links->tpcs[number];
    assert(tpc->sm_count < 2);
    links->tpc_of_sm[sm] = (uint16_t)number;
    if (tpc->sm_count++ == 0) {
        tpc->first_sm = (uint16_t)sm;
        tpc->gpc = gpu->topology.gpc_of_sm[sm];
        links->gpcs[tpc->gpc].tpc_count++;
    }
    tpc->reports.size += (uint32_t)gpu->limits.blocks_per_sm;
    tpc->launches.size = tpc->reports.size;
    links->gpcs[tpc->gpc].ring.size += (uint32_t)gpu->limits.blocks_per_sm;
}

static void take_turns(struct wt_links *links, int g)
{
    uint16_t rank = 0;
    for (int first = 0; first < TURN_STEP; first++)
        for (int i = 0, place = 0; i < links->tpc_count; i++)
            if (links->tpcs[i].gpc == g && place++ % TURN_STEP == first)
                links->tpcs[i].rank = rank++;
}

/* How many TPCs of the GPC are nearer to the distributor. */
static int nearer(const struct wt_links *links, const struct wt_gpu *gpu, int number)
{
    const struct wt_numbers *offsets = &gpu->rates.report_offset_cycles;
    int count = 0;
    for (int i = 0; i < links->tpc_count; i++) {
        double own = wt_of_tpc(offsets, number), others = wt_of_tpc(offsets, i);
        count += links->tpcs[i].gpc == links->tpcs[number].gpc && (others < own || (others == own && i < number));
    }
    return count;
}

static void set_up_tpc(struct wt_links *links, const struct wt_gpu *gpu, int number)
{
    const struct wt_rates *rates = &gpu->rates;
    struct tpc *tpc = &links->tpcs[number];
    double way = rates->release_cycles - rates->launch_latency_cycles - rates->report_ready_cycles;
    double limit = rates->report_queue + rates->report_queue_per_tpc * nearer(links, gpu, number);
    tpc->ended = wt_alloc(tpc->reports.size, sizeof *tpc->ended);
    tpc->pending = wt_alloc(tpc->launches.size, sizeof *tpc->pending);
    tpc->travel = wt_from_cycles((way > 0 ? way : 0) + wt_of_tpc(&rates->report_offset_cycles, number));
    tpc->limit = (uint32_t)(limit < 1 ? 1 : limit);
}

static void allocate(struct wt_links *links, const struct wt_topology *t)
{
    links->tpcs = wt_alloc((size_t)t->tpc_count, sizeof *links->tpcs);
    links->gpcs = wt_alloc((size_t)t->gpc_count, sizeof *links->gpcs);
    links->tpc_of_sm = wt_alloc((size_t)t->sm_count, sizeof *links->tpc_of_sm);
    links->turns = wt_alloc(2 * (size_t)links->leaf_count, sizeof *links->turns);
    links->heads = wt_alloc((size_t)t->gpc_count, sizeof *links->heads);
}

struct wt_links *wt_links_new(const struct wt_gpu *gpu)
{
    const struct wt_topology *t = &gpu->topology;
    struct wt_links *links = wt_alloc(1, sizeof *links);
    *links = (struct wt_links){.tpc_count = t->tpc_count, .gpc_count = t->gpc_count, .leaf_count = 2,
                               .soonest = WT_NEVER, .hub_next = WT_NEVER,
                               .ready_time = wt_from_cycles(gpu->rates.report_ready_cycles),
                               .report_time = wt_from_cycles(gpu->rates.report_cycles),
                               .pause_time = wt_from_cycles(gpu->rates.report_pause_cycles),
                               .few = (uint32_t)gpu->rates.report_queue};
    while (links->leaf_count < (uint32_t)t->tpc_count)
        links->leaf_count *= 2;
    allocate(links, t);
    for (int sm = 0; sm < t->sm_count; sm++)
        add_sm(links, gpu, sm);
    for (int g = 0; g < t->gpc_count; g++) {
        links->heads[g] = WT_NEVER;
        take_turns(links, g);
        links->gpcs[g].messages = wt_alloc(links->gpcs[g].ring.size, sizeof *links->gpcs[g].messages);
    }
    for (uint32_t node = 0; node < 2 * links->leaf_count; node++)
        links->turns[node].time = WT_NEVER;
    for (int i = 0; i < t->tpc_count; i++)
        set_up_tpc(links, gpu, i);
    return links;
}

void wt_links_free(struct wt_links *links)
{
    for (int i = 0; i < links->tpc_count; i++) {
        free(links->tpcs[i].ended);
        free(links->tpcs[i].pending);
    }
    for (int g = 0; g < links->gpc_count; g++)
        free(links->gpcs[g].messages);
    free(links->tpcs);
    free(links->gpcs);
    free(links->tpc_of_sm);
    free(links->heads);
    free(links->turns);
    free(links);
}
