#include "dispatch/links.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"

/* Where links are not idle: apart from the common ways, which are the shorter for it. */
#define OUT_OF_THE_WAY __attribute__((noinline))

/* Which places of an array hold a queue; whoever has one adds no more than `size`. */
struct ring {
    uint32_t size, head, count;
};

/* A block that is over, before its report leaves the TPC. */
struct ended {
    wt_time ready, send;
    uint16_t sm;
};

struct message {
    wt_time at;      /* earliest arrival at the distributor */
    uint32_t waited; /* to be sent */
    uint16_t sm;
    bool whole;
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
    uint32_t limit; /* sends while the queue is shorter */
    uint16_t gpc;
    uint16_t first_sm; /* the other may be any */
    bool waiting; /* the first report, for the GPC's queue */
    bool granted; /* may send it all the same */
    int started;  /* blocks since its last report */
    struct ring reports; /* to be sent */
    struct ring launches; /* what is to start, in the order in which it was handed out */
    struct ended *ended;
    struct pending *pending;
    wt_time waiting_since;
    int sm_count;
};

/* A GPC's queue; as many places as the GPC has block slots. */
struct queue {
    struct ring ring;
    uint32_t launches; /* replacements that have not started */
    int waiting; /* TPCs */
    struct message *messages;
    int tpc_count;
    uint16_t *tpcs;
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
    wt_time ready_time, report_time;
    int hub_turn;    /* the GPC to be served first */
    int hub_soonest; /* the one whose first report is due first */
    int tpc_count, gpc_count;
    struct tpc *tpcs;
    struct queue *queues;
    uint16_t *tpc_of_sm;
    wt_time *heads;    /* by GPC: arrival of its queue's first report, WT_NEVER when empty */
    uint32_t leaf_count;
    struct turn *turns; /* [leaf_count + tpc]: that TPC's; [1]: the first of all */
};

enum { FIRST_WAVE_STARTS = 1, OTHER_STARTS = 2 };

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
static bool may_start(const struct tpc *tpc, const struct wt_launch *launch)
{
    return !tpc->waiting || tpc->started < (launch->first_wave ? FIRST_WAVE_STARTS : OTHER_STARTS);
}

static wt_time past_report(const struct tpc *tpc, wt_time time)
{
    return wt_later(time, time >= tpc->busy_from ? tpc->busy_until : 0);
}

/* When the first pending block could start; WT_NEVER: not before a report has left. */
static wt_time start_of(const struct wt_links *links, const struct tpc *tpc)
{
    const struct pending *pending = &tpc->pending[tpc->launches.head];
    if (tpc->launches.count == 0 || !may_start(tpc, &pending->launch))
        return WT_NEVER;
    return past_report(tpc, wt_later(wt_later(pending->launch.arrival, tpc->free_at[pending->which]), links->now));
}

/* Never without a report in it, which would let nobody send when it is taken. */
static bool is_full(const struct queue *queue, const struct tpc *tpc)
{
    return queue->ring.count > 0 && queue->ring.count + queue->launches >= tpc->limit;
}

static wt_time send_of(const struct wt_links *links, const struct tpc *tpc)
{
    if (tpc->reports.count == 0 || (tpc->waiting && !tpc->granted && is_full(&links->queues[tpc->gpc], tpc)))
        return WT_NEVER;
    return wt_later(tpc->ended[tpc->reports.head].ready, tpc->busy_until);
}

static void plan(struct wt_links *links, int number)
{
    const struct tpc *tpc = &links->tpcs[number];
    wt_time next = wt_sooner(send_of(links, tpc), start_of(links, tpc));
    set_next(links, number, next == WT_NEVER ? next : wt_later(next, links->now));
}

/* By arrival; of equals, the one that left first. */
static inline void insert(struct wt_links *links, int gpc, const struct message *message)
{
    struct queue *queue = &links->queues[gpc];
    struct ring *ring = &queue->ring;
    uint32_t place = append(ring);
    while (place != ring->head) {
        uint32_t before = place_before(ring, place);
        if (queue->messages[before].at <= message->at)
            break;
        queue->messages[place] = queue->messages[before];
        place = before;
    }
    queue->messages[place] = *message;
    if (place != ring->head)
        return;
    bool soonest = message->at < links->heads[links->hub_soonest];
    links->heads[gpc] = message->at;
    if (soonest)
        set_hub_next(links, gpc, message->at);
}

/* How much longer a report takes for what waits behind it. */
static inline wt_time held_by(const struct tpc *tpc)
{
    const struct wt_launch *launch = &tpc->pending[tpc->launches.head].launch;
    return tpc->launches.count > 0 && launch->first_wave ? launch->hold : 0;
}

static inline void send(struct wt_links *links, struct tpc *tpc, const struct ended *ended, wt_time now)
{
    bool idle = now > tpc->busy_until;
    struct message message = {.at = now + tpc->travel,
                              .waited = (uint32_t)wt_sooner(now - ended->ready, UINT32_MAX),
                              .sm = ended->sm,
                              .whole = tpc->granted || idle};
    tpc->busy_from = idle ? now : tpc->busy_from;
    tpc->busy_until = now + ended->send + held_by(tpc);
    tpc->started = 0;
    insert(links, tpc->gpc, &message);
}

static void send_first(struct wt_links *links, struct tpc *tpc, wt_time now)
{
    send(links, tpc, &tpc->ended[tpc->reports.head], now);
    links->queues[tpc->gpc].waiting -= tpc->waiting;
    tpc->waiting = tpc->granted = false;
    drop_first(&tpc->reports);
}

static void wait_for_queue(struct wt_links *links, struct tpc *tpc, wt_time now)
{
    tpc->waiting = true;
    tpc->waiting_since = now;
    links->queues[tpc->gpc].waiting++;
}

/* An entry has left the queue. Lets one TPC of the GPC send: the one that has waited longest. Others may have room now. */
static void let_send(struct wt_links *links, struct queue *queue)
{
    struct tpc *longest = NULL;
    for (int i = 0; i < queue->tpc_count; i++) {
        struct tpc *tpc = &links->tpcs[queue->tpcs[i]];
        if (tpc->waiting && !tpc->granted && (!longest || tpc->waiting_since < longest->waiting_since))
            longest = tpc;
    }
    if (longest)
        longest->granted = true;
    for (int i = 0; i < queue->tpc_count; i++) {
        const struct tpc *tpc = &links->tpcs[queue->tpcs[i]];
        if (tpc->waiting && (tpc->granted || !is_full(queue, tpc)))
            plan(links, queue->tpcs[i]);
    }
}

static void occupy(struct tpc *tpc, int which, const struct wt_launch *launch, wt_time start)
{
    tpc->free_at[which] = start + (launch->first_wave ? launch->interval : launch->lag);
    tpc->free_at[1 - which] = wt_later(tpc->free_at[1 - which], start + launch->lag);
}

static void start_first(struct wt_links *links, struct tpc *tpc, wt_time now, struct wt_link_event *event)
{
    struct pending pending = tpc->pending[tpc->launches.head];
    drop_first(&tpc->launches);
    tpc->started++;
    occupy(tpc, pending.which, &pending.launch, now);
    if (!pending.launch.first_wave) {
        struct queue *queue = &links->queues[tpc->gpc];
        queue->launches--;
        if (queue->waiting > 0)
            let_send(links, queue);
    }
    event->kind = WT_LINK_STARTED;
    event->id = pending.launch.id;
    event->length = pending.launch.length;
}

/* Reports go before launches. */
static OUT_OF_THE_WAY void step_tpc(struct wt_links *links, int number, struct wt_link_event *event)
{
    struct tpc *tpc = &links->tpcs[number];
    wt_time now = event->at;
    bool report = tpc->reports.count > 0 && tpc->ended[tpc->reports.head].ready <= now && tpc->busy_until <= now;
    if (report && (tpc->granted || !is_full(&links->queues[tpc->gpc], tpc))) {
        send_first(links, tpc, now);
    } else {
        if (report && !tpc->waiting)
            wait_for_queue(links, tpc, now);
        if (start_of(links, tpc) <= now)
            start_first(links, tpc, now, event);
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
    links->queues[tpc->gpc].launches += !pending->launch.first_wave;
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

/* Far from a full queue it is sure when the report leaves. */
void wt_links_end(struct wt_links *links, int sm, wt_time over, wt_time send_time)
{
    int number = links->tpc_of_sm[sm];
    struct tpc *tpc = &links->tpcs[number];
    const struct queue *queue = &links->queues[tpc->gpc];
    struct ended ended = {.ready = over + links->ready_time, .send = send_time, .sm = (uint16_t)sm};
    if (is_clear(tpc) && 2 * (queue->ring.count + queue->launches) < tpc->limit) {
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

static inline void step_hub(struct wt_links *links, struct wt_link_event *event)
{
    int g = turn_of(links, event->at);
    struct queue *queue = &links->queues[g];
    struct ring *ring = &queue->ring;
    const struct message *message = &queue->messages[ring->head];
    event->kind = WT_LINK_REPORT;
    event->sm = message->sm;
    event->ready = message->at - message->waited;
    event->whole = message->whole;
    event->due = message->at;
    drop_first(ring);
    links->heads[g] = ring->count > 0 ? queue->messages[ring->head].at : WT_NEVER;
    links->hub_turn = g + 1 == links->gpc_count ? 0 : g + 1;
    links->hub_free_at = event->at + links->report_time;
    find_hub_next(links);
    if (queue->waiting > 0)
        let_send(links, queue);
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

wt_time wt_links_left(const struct wt_links *links, const struct wt_link_event *report)
{
    return report->due - links->tpcs[links->tpc_of_sm[report->sm]].travel;
}

/* ---- Setting up ---- */

static void add_sm(struct wt_links *links, const struct wt_gpu *gpu, int sm)
{
    int number = gpu->topology.tpc_of_sm[sm];
    struct tpc *tpc = &links->tpcs[number];
    struct queue *queue = &links->queues[gpu->topology.gpc_of_sm[sm]];
    assert(tpc->sm_count < 2);
    links->tpc_of_sm[sm] = (uint16_t)number;
    if (tpc->sm_count++ == 0) {
        tpc->first_sm = (uint16_t)sm;
        tpc->gpc = gpu->topology.gpc_of_sm[sm];
        queue->tpcs[queue->tpc_count++] = (uint16_t)number;
    }
    tpc->reports.size += (uint32_t)gpu->limits.blocks_per_sm;
    tpc->launches.size = tpc->reports.size;
    queue->ring.size += (uint32_t)gpu->limits.blocks_per_sm;
}

/* How many TPCs of the GPC are nearer to the distributor. */
static int nearer(const struct wt_links *links, const struct wt_gpu *gpu, int number)
{
    const struct queue *queue = &links->queues[links->tpcs[number].gpc];
    const struct wt_numbers *offsets = &gpu->rates.report_offset_cycles;
    int count = 0;
    for (int i = 0; i < queue->tpc_count; i++) {
        double own = wt_of_tpc(offsets, number), others = wt_of_tpc(offsets, queue->tpcs[i]);
        count += others < own || (others == own && queue->tpcs[i] < number);
    }
    return count;
}

static void set_up_tpc(struct wt_links *links, const struct wt_gpu *gpu, int number)
{
    const struct wt_rates *rates = &gpu->rates;
    struct tpc *tpc = &links->tpcs[number];
    double way = rates->release_cycles - rates->launch_latency_cycles - rates->report_ready_cycles;
    tpc->ended = wt_alloc(tpc->reports.size, sizeof *tpc->ended);
    tpc->pending = wt_alloc(tpc->launches.size, sizeof *tpc->pending);
    tpc->travel = wt_from_cycles((way > 0 ? way : 0) + wt_of_tpc(&rates->report_offset_cycles, number));
    tpc->limit = (uint32_t)(rates->report_queue + rates->report_queue_per_tpc * nearer(links, gpu, number));
}

static void allocate(struct wt_links *links, const struct wt_topology *t)
{
    links->tpcs = wt_alloc((size_t)t->tpc_count, sizeof *links->tpcs);
    links->queues = wt_alloc((size_t)t->gpc_count, sizeof *links->queues);
    links->tpc_of_sm = wt_alloc((size_t)t->sm_count, sizeof *links->tpc_of_sm);
    links->turns = wt_alloc(2 * (size_t)links->leaf_count, sizeof *links->turns);
    links->heads = wt_alloc((size_t)t->gpc_count, sizeof *links->heads);
    for (int g = 0; g < t->gpc_count; g++)
        links->queues[g].tpcs = wt_alloc((size_t)t->tpc_count, sizeof *links->queues[g].tpcs);
}

struct wt_links *wt_links_new(const struct wt_gpu *gpu)
{
    const struct wt_topology *t = &gpu->topology;
    struct wt_links *links = wt_alloc(1, sizeof *links);
    *links = (struct wt_links){.tpc_count = t->tpc_count, .gpc_count = t->gpc_count, .leaf_count = 2,
                               .soonest = WT_NEVER, .hub_next = WT_NEVER,
                               .ready_time = wt_from_cycles(gpu->rates.report_ready_cycles),
                               .report_time = wt_from_cycles(gpu->rates.report_cycles)};
    while (links->leaf_count < (uint32_t)t->tpc_count)
        links->leaf_count *= 2;
    allocate(links, t);
    for (int sm = 0; sm < t->sm_count; sm++)
        add_sm(links, gpu, sm);
    for (int g = 0; g < t->gpc_count; g++) {
        links->heads[g] = WT_NEVER;
        links->queues[g].messages = wt_alloc(links->queues[g].ring.size, sizeof *links->queues[g].messages);
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
    for (int g = 0; g < links->gpc_count; g++) {
        free(links->queues[g].messages);
        free(links->queues[g].tpcs);
    }
    free(links->tpcs);
    free(links->queues);
    free(links->tpc_of_sm);
    free(links->heads);
    free(links->turns);
    free(links);
}
