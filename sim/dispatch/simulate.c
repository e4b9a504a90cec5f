#include "dispatch/simulate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "dispatch/clusters.h"
#include "dispatch/endqueue.h"
#include "dispatch/links.h"
#include "dispatch/room.h"
#include "sm/occupancy.h"

/* A block on its way to its SM, or running there. */
struct resident {
    uint64_t block;
    wt_time start;
    struct grid *grid;
    bool first_wave;
};

/* A block that has ended and is not reported. */
struct leaving {
    uint64_t block;
    wt_time over;
    struct grid *grid;
    uint16_t slot;
    bool first_wave;
};

/* What the distributor knows of one SM. */
struct launcher {
    wt_time launch_latency; /* distributor to first instruction */
    uint16_t partner;       /* the TPC's other SM, or the SM itself */
    uint16_t leaving_head, leaving_count;
    uint16_t early;         /* of the first ones leaving the room is known to be free */
    struct leaving leaving[WT_MAX_SLOTS]; /* a ring, in the order of the ends */
    int32_t clustered;      /* resident blocks of clusters */
    int32_t credit;         /* blocks of the head that fit; kept while `counted` */
};

/* A kernel that has reached the grid scheduler and is not over. */
struct grid {
    struct grid *next; /* the one after it in the queue, or in the list of free ones */
    const struct wt_kernel *kernel;
    uint32_t index;
    uint64_t next_block, remaining;
    uint64_t running;    /* blocks that have started and not ended */
    uint64_t unreported; /* blocks that have started and are not known to be over */
    wt_time interval, lag, send, shortest;
    int64_t outlast;
    bool by_tpc; /* an SM takes several blocks of the clusters, which then go to whole TPCs */
    int spare_warps; /* of an SM full of its blocks, wherever the sub-cores' pointer is */
    uint64_t first_wave; /* blocks of it that are not reported */
    int most_early;  /* blocks whose room may be known before their report; 0 where warps are not what an SM runs out of */
    wt_time first_start, last_start, last_end;
};

struct engine {
    const struct wt_simulation *simulation;
    const struct wt_policy *policy;
    struct wt_front_end front_end;
    struct wt_serial serial; /* behind front_end when the simulation has none */
    void *policy_state;
    int sm_count;
    struct wt_sm **sms;
    struct launcher *launchers; /* by SM */
    struct resident *residents; /* by id */
    struct wt_links *links;
    const wt_time *next_link; /* when something happens on them */
    struct wt_endqueue ends;
    struct wt_room room;        /* for the head */
    struct wt_visit visit;
    struct wt_clusters clusters;
    int *cluster_room;          /* by SM; of the head, when it has clusters */
    struct wt_sm *spare;        /* an SM that stays empty */
    struct grid *grids;         /* limits.resident_grids of them */
    struct grid *free_grids;
    struct grid *head;          /* of the queue: whose blocks are being handed out; NULL: none waits */
    uint64_t grid_count;
    uint64_t unreported;        /* of all grids */
    bool counted;               /* credits hold */
    wt_time next_arrival;       /* of a kernel at the grid scheduler */
    wt_time now;                /* the distributor's */
    wt_time origin;             /* WT_NEVER until the first block has ended */
    wt_time visit_time, ready_time, launch_latency;
};

/* ---- Observers ---- */

static void tell_begin(struct engine *e, const struct grid *grid)
{
    const struct wt_simulation *s = e->simulation;
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].launch_begins)
            s->observers[i].launch_begins(s->observers[i].context, grid->index, grid->first_start - e->origin);
}

static void tell_block(struct engine *e, uint32_t id, wt_time end)
{
    const struct wt_simulation *s = e->simulation;
    const struct resident *resident = &e->residents[id];
    struct wt_block_run run = {.block = resident->block, .start = resident->start - e->origin, .end = end - e->origin,
                               .launch = resident->grid->index, .sm = (uint16_t)(id / WT_MAX_SLOTS),
                               .slot = (uint16_t)(id % WT_MAX_SLOTS)};
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].block_done)
            s->observers[i].block_done(s->observers[i].context, &run);
}

static void tell_end(struct engine *e, const struct grid *grid)
{
    const struct wt_simulation *s = e->simulation;
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].launch_ends)
            s->observers[i].launch_ends(s->observers[i].context, grid->index, grid->last_start - e->origin,
                                        grid->last_end - e->origin);
}

/* ---- Whoever asks why ---- */

#define TELL(engine, call, ...)                                                                                          \
    for (size_t i_ = 0; i_ < (engine)->simulation->watch_count; i_++)                                                    \
        if ((engine)->simulation->watches[i_].call)                                                                      \
            (engine)->simulation->watches[i_].call((engine)->simulation->watches[i_].context, __VA_ARGS__)

static void tell_wait(const struct engine *e)
{
    const struct grid *head = e->head;
    if (!e->simulation->watch_count || !head)
        return;
    struct wt_wait wait = {.launch = head->index,
                           .block = head->next_block,
                           .at = e->now,
                           .cluster = head->kernel->cluster,
                           .shape = &head->kernel->shape,
                           .sms = e->sms,
                           .sm_count = e->sm_count};
    TELL(e, waits, &wait);
}

static void tell_known(const struct engine *e, int sm, const struct leaving *block, wt_time ready)
{
    if (!e->simulation->watch_count)
        return;
    struct wt_known_end end = {.launch = block->grid->index,
                               .block = block->block,
                               .sm = (uint16_t)sm,
                               .slot = block->slot,
                               .ready = ready,
                               .at = e->now};
    TELL(e, known, &end);
}

static void tell_handout(const struct engine *e, uint32_t id, wt_time earliest)
{
    if (!e->simulation->watch_count)
        return;
    struct wt_handout handout = {.launch = e->head->index,
                                 .block = e->head->next_block,
                                 .sm = (uint16_t)(id / WT_MAX_SLOTS),
                                 .slot = (uint16_t)(id % WT_MAX_SLOTS),
                                 .place = e->sms[id / WT_MAX_SLOTS],
                                 .at = e->now,
                                 .earliest = earliest};
    TELL(e, handed_out, &handout);
}

static void tell_started(const struct engine *e, uint32_t id)
{
    if (!e->simulation->watch_count)
        return;
    const struct resident *resident = &e->residents[id];
    struct wt_started started = {.launch = resident->grid->index,
                                 .block = resident->block,
                                 .sm = (uint16_t)(id / WT_MAX_SLOTS),
                                 .slot = (uint16_t)(id % WT_MAX_SLOTS),
                                 .start = resident->start};
    TELL(e, started, &started);
}

/* ---- Running blocks ---- */

/* Exact up to `until`. */
static inline wt_time next_end(const struct engine *e, wt_time until)
{
    const struct wt_sharing *sharing = e->simulation->sharing;
    return sharing ? sharing->next_end(sharing->context, until) : wt_endqueue_next(&e->ends);
}

static struct wt_running take_end(struct engine *e)
{
    const struct wt_sharing *sharing = e->simulation->sharing;
    if (!sharing)
        return wt_endqueue_pop(&e->ends);
    wt_time end = sharing->next_end(sharing->context, WT_NEVER);
    return (struct wt_running){end, sharing->take_end(sharing->context)};
}

/* ---- Ends and reports ---- */

static inline int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void begin_block(struct engine *e, uint32_t id, wt_time start, wt_time length)
{
    const struct wt_sharing *sharing = e->simulation->sharing;
    struct resident *resident = &e->residents[id];
    struct grid *grid = resident->grid;
    resident->start = start;
    if (sharing)
        sharing->begin(sharing->context, id, grid->index, resident->block, start);
    else
        wt_endqueue_push(&e->ends, (struct wt_running){start + length, id});
    grid->first_start = wt_sooner(grid->first_start, start);
    if (resident->block + 1 == grid->kernel->grid_blocks)
        grid->last_start = start;
    tell_started(e, id);
}

/* The first start of all, which is known once a block has ended: whatever is handed out from then on starts later. */
static void fix_origin(struct engine *e)
{
    for (int i = 0; i < e->simulation->gpu->limits.resident_grids; i++)
        e->origin = wt_sooner(e->origin, e->grids[i].first_start);
}

/* The running block that ends first ends. For the same reason its kernel's first start is known by now. */
static void end_block(struct engine *e)
{
    struct wt_running running = take_end(e);
    const struct resident *resident = &e->residents[running.id];
    struct grid *grid = resident->grid;
    if (grid->last_end == 0) {
        if (e->origin == WT_NEVER)
            fix_origin(e);
        tell_begin(e, grid);
    }
    grid->last_end = running.end;
    grid->running--;
    tell_block(e, running.id, running.end);
    TELL(e, ended, (uint16_t)(running.id / WT_MAX_SLOTS), (uint16_t)(running.id % WT_MAX_SLOTS), running.end);
    wt_time over = wt_later(running.end, resident->start + grid->shortest);
    over = (wt_time)most((int64_t)over + grid->outlast, (int64_t)over - (int64_t)e->ready_time);
    struct launcher *launcher = &e->launchers[running.id / WT_MAX_SLOTS];
    assert(launcher->leaving_count < WT_MAX_SLOTS);
    launcher->leaving[(launcher->leaving_head + launcher->leaving_count++) % WT_MAX_SLOTS] =
        (struct leaving){resident->block, over, grid, (uint16_t)(running.id % WT_MAX_SLOTS), resident->first_wave};
    wt_links_end(e->links, (int)(running.id / WT_MAX_SLOTS), over, grid->send);
}

static inline bool has_clusters(const struct grid *grid)
{
    return grid->kernel->cluster > 1;
}

/* Whether the SM would admit another block of the head now. */
static inline bool has_room(const struct engine *e, int sm)
{
    struct wt_refusal why;
    if (has_clusters(e->head) && e->launchers[sm].clustered >= WT_MOST_CLUSTER_BLOCKS)
        return false;
    if (e->counted)
        return e->launchers[sm].credit > 0;
    return !wt_sm_refusal(e->sms[sm], &e->head->kernel->shape, &why);
}

/* Where only the head's blocks are resident, they fill all sub-cores alike and each SM takes as many in all as an empty one (by
 * its configuration and the holes in its shared memory), counting them tells who has room. */
static void count_room(struct engine *e)
{
    const struct wt_shape *shape = &e->head->kernel->shape;
    e->counted = shape->warps % e->simulation->gpu->limits.subcores == 0 && e->unreported == e->head->unreported;
    int most = e->counted ? wt_sm_room(e->spare, shape) : 0;
    for (int sm = 0; e->counted && sm < e->sm_count; sm++) {
        e->launchers[sm].credit = wt_sm_room(e->sms[sm], shape);
        e->counted = e->launchers[sm].credit + wt_sm_resident_blocks(e->sms[sm]) == most;
    }
}

static void finish_grid(struct engine *e, struct grid *grid)
{
    tell_end(e, grid);
    e->front_end.done(e->front_end.context, grid->index, grid->last_end);
    e->next_arrival = e->front_end.next(e->front_end.context);
    e->grid_count--;
    grid->first_start = WT_NEVER;
    grid->next = e->free_grids;
    e->free_grids = grid;
}

/* The room of a block that has ended is known to be free. */
static void release(struct engine *e, int sm, const struct leaving *block, wt_time ready)
{
    struct launcher *launcher = &e->launchers[sm];
    tell_known(e, sm, block, ready);
    wt_sm_release(e->sms[sm], block->slot);
    launcher->credit++;
    launcher->clustered -= has_clusters(block->grid);
    if (e->head && has_room(e, sm))
        wt_room_open(&e->room, sm);
}

/* Blocks that were over by `left`: all of their warps but one each make room, as far as there are block slots besides. */
static void release_early(struct engine *e, int sm, wt_time left)
{
    struct launcher *launcher = &e->launchers[sm];
    const struct grid *head = e->head;
    int ended = 0, warps = head->kernel->shape.warps;
    while (ended < launcher->leaving_count) {
        const struct leaving *block = &launcher->leaving[(launcher->leaving_head + ended) % WT_MAX_SLOTS];
        if (block->grid != head || !block->first_wave || block->over > left)
            break;
        ended++;
    }
    int early = (head->spare_warps + (warps - 1) * ended) / warps;
    early = early < ended ? early : ended;
    early = early < head->most_early ? early : head->most_early;
    for (; launcher->early < early; launcher->early++)
        release(e, sm, &launcher->leaving[(launcher->leaving_head + launcher->early) % WT_MAX_SLOTS], e->now);
}

/* A report reaches the distributor. */
static void take_report(struct engine *e, const struct wt_link_event *report)
{
    struct launcher *launcher = &e->launchers[report->sm];
    struct leaving block = launcher->leaving[launcher->leaving_head];
    launcher->leaving_head = --launcher->leaving_count > 0 ? (launcher->leaving_head + 1) % WT_MAX_SLOTS : 0;
    e->unreported--;
    block.grid->unreported--;
    if (launcher->early > 0)
        launcher->early--;
    else
        release(e, report->sm, &block, report->ready);
    if (e->head && block.grid != e->head && e->unreported == e->head->unreported)
        count_room(e);
    block.grid->first_wave -= block.first_wave;
    if (report->whole && e->head && e->head->most_early > 0 && e->head->first_wave > 0) {
        wt_time left = wt_links_left(e->links, report);
        release_early(e, report->sm, left);
        if (launcher->partner != report->sm)
            release_early(e, launcher->partner, left);
    }
    if (block.grid->unreported == 0 && block.grid->remaining == 0)
        finish_grid(e, block.grid);
}

/* Whatever happens next on the links. Returns whether the distributor heard of it. */
static bool step_links(struct engine *e)
{
    struct wt_link_event event;
    wt_links_step(e->links, &event);
    if (event.kind == WT_LINK_STARTED)
        begin_block(e, event.id, event.at, event.length);
    if (event.kind != WT_LINK_REPORT)
        return false;
    e->now = wt_later(e->now, event.at);
    take_report(e, &event);
    return true;
}

/* ---- The grid scheduler ---- */

/* The head of the queue has changed. */
static void turn_to_head(struct engine *e)
{
    struct grid *head = e->head;
    if (!head)
        return;
    TELL(e, heads, head->index, e->now);
    e->room.shape = &head->kernel->shape;
    count_room(e);
    for (int sm = 0; sm < e->sm_count; sm++)
        if (has_room(e, sm))
            wt_room_open(&e->room, sm);
        else
            wt_room_close(&e->room, sm);
    e->policy->launch(e->policy_state, &e->room, head->remaining, head->kernel->cooperative);
}

/* Behind all that are as urgent or more urgent. */
static void enqueue(struct engine *e, struct grid *grid)
{
    struct grid **place = &e->head;
    while (*place && (*place)->kernel->priority <= grid->kernel->priority)
        place = &(*place)->next;
    grid->next = *place;
    *place = grid;
    if (e->head == grid)
        turn_to_head(e);
}

/* Where an SM full of the grid's blocks has block slots left and shared memory for one more, it is out of warps or
 * registers. */
static void count_early(const struct engine *e, struct grid *grid)
{
    const struct wt_limits *limits = &e->simulation->gpu->limits;
    const struct wt_shape *shape = &grid->kernel->shape;
    int most = wt_sm_room(e->spare, shape);
    if (most >= limits->blocks_per_sm || (most + 1) * shape->shared_bytes > limits->shared_bytes_per_sm)
        return;
    grid->most_early = limits->blocks_per_sm - most;
    int spare = limits->warps_per_sm - most * shape->warps - (limits->subcores - 1);
    grid->spare_warps = spare > 0 ? spare : 0;
}

/* Curves go on straight beyond their ends, but not below 0. */
static wt_time time_of(const struct wt_curve *cycles, const struct wt_kernel *kernel)
{
    double value = wt_curve_at(cycles, kernel->shape.warps);
    return wt_from_cycles(value > 0 ? value : 0);
}

/* A kernel reaches the grid scheduler, or something else happens at the front end. */
static void take_arrival(struct engine *e)
{
    const struct wt_rates *rates = &e->simulation->gpu->rates;
    uint32_t index = e->front_end.take(e->front_end.context);
    if (index == WT_NO_KERNEL) {
        e->next_arrival = e->front_end.next(e->front_end.context);
        return;
    }
    const struct wt_kernel *kernel = &e->simulation->kernels[index];
    double interval = wt_curve_at(&rates->launch_cycles, kernel->shape.warps);
    struct grid *grid = e->free_grids;
    e->free_grids = grid->next;
    e->grid_count++;
    *grid = (struct grid){
        .kernel = kernel,
        .index = index,
        .remaining = kernel->grid_blocks,
        .interval = wt_from_cycles(interval),
        .lag = time_of(&rates->tpc_lag_cycles, kernel),
        .send = time_of(&rates->report_send_cycles, kernel),
        .shortest = wt_from_cycles(interval + rates->drain_cycles),
        .outlast = (int64_t)(kernel->outlast_cycles * WT_CYCLE),
        .by_tpc = kernel->cluster > 1 && wt_sm_room(e->spare, &kernel->shape) > 1,
        .first_start = WT_NEVER,
    };
    count_early(e, grid);
    TELL(e, arrived, index, e->now);
    e->next_arrival = e->front_end.next(e->front_end.context);
    enqueue(e, grid);
}

/* The head's last block has been handed out. */
static void leave_queue(struct engine *e)
{
    uint32_t index = e->head->index;
    e->head = e->head->next;
    if (e->front_end.dispatched) {
        e->front_end.dispatched(e->front_end.context, index, e->now);
        e->next_arrival = e->front_end.next(e->front_end.context);
    }
    turn_to_head(e);
}

/* When the next kernel comes; a full grid scheduler lets it wait. */
static inline wt_time arrival(const struct engine *e)
{
    return e->free_grids ? e->next_arrival : WT_NEVER;
}

/* Everything that happened by now, ends before what comes of them. */
static void catch_up(struct engine *e)
{
    for (;;) {
        wt_time link = *e->next_link, until = wt_sooner(link, e->now);
        if (next_end(e, until) <= until)
            end_block(e);
        else if (link <= e->now)
            step_links(e);
        else
            break;
    }
    while (arrival(e) <= e->now)
        take_arrival(e);
}

/* Moves on to the next report or arrival. False: there is none and will be none. */
static bool wait(struct engine *e)
{
    tell_wait(e);
    for (;;) {
        wt_time link = *e->next_link, until = wt_sooner(link, arrival(e));
        if (next_end(e, until) <= until && until != WT_NEVER) {
            end_block(e);
        } else if (until == WT_NEVER) {
            if (next_end(e, WT_NEVER) == WT_NEVER)
                return false;
            end_block(e);
        } else if (arrival(e) <= link) {
            e->now = wt_later(e->now, until);
            return true;
        } else if (step_links(e)) {
            return true;
        }
    }
}

/* ---- Launching ---- */

static void start_block(struct engine *e, int sm, int slot)
{
    struct grid *grid = e->head;
    const struct wt_cost *cost = &grid->kernel->cost;
    uint32_t id = (uint32_t)sm * WT_MAX_SLOTS + (uint32_t)slot;
    wt_time length = e->simulation->sharing ? 0 : cost->duration(cost->context, grid->next_block);
    e->residents[id] = (struct resident){grid->next_block, 0, grid, e->visit.first_wave};
    struct wt_launch launch = {id, e->visit.first_wave, e->now + e->launchers[sm].launch_latency, grid->interval, grid->lag,
                               length};
    tell_handout(e, id, launch.arrival);
    wt_time start = wt_links_launch(e->links, sm, &launch, e->now);
    if (start != WT_NEVER)
        begin_block(e, id, start, length);
    grid->next_block++;
    grid->remaining--;
    grid->running++;
    grid->first_wave += e->visit.first_wave;
    grid->unreported++;
    e->unreported++;
}

static void offer(struct engine *e, int sm)
{
    if (!wt_room_is_open(&e->room, sm))
        return;
    int slot = wt_sm_admit(e->sms[sm], &e->head->kernel->shape);
    assert(slot >= 0);
    start_block(e, sm, slot);
    e->launchers[sm].credit--;
    e->launchers[sm].clustered += has_clusters(e->head);
    if (!has_room(e, sm))
        wt_room_close(&e->room, sm);
}

static int room_for_clusters(const struct engine *e, int sm)
{
    if (!wt_room_is_open(&e->room, sm))
        return 0;
    int room = e->counted ? e->launchers[sm].credit : wt_sm_room(e->sms[sm], &e->head->kernel->shape);
    int allowed = WT_MOST_CLUSTER_BLOCKS - e->launchers[sm].clustered;
    return room < allowed ? room : allowed;
}

static void visit_clusters(struct engine *e)
{
    for (int sm = 0; sm < e->sm_count; sm++)
        e->cluster_room[sm] = room_for_clusters(e, sm);
    for (int sm = 0; e->head->by_tpc && sm < e->sm_count; sm++) {
        int partner = e->launchers[sm].partner;
        if (e->cluster_room[partner] < e->cluster_room[sm])
            e->cluster_room[sm] = e->cluster_room[partner];
    }
    wt_clusters_visit(&e->clusters, e->cluster_room, e->head->kernel->cluster, e->head->remaining, &e->visit);
}

/* False: the SMs with room take no cluster. */
static bool make_visit(struct engine *e)
{
    if (has_clusters(e->head))
        visit_clusters(e);
    else
        e->policy->visit(e->policy_state, &e->room, e->head->remaining, &e->visit);
    if (e->visit.count == 0)
        return false;
    for (int i = 0; i < e->visit.count; i++)
        offer(e, e->visit.sms[i]);
    e->now += e->visit_time;
    if (e->head->remaining == 0)
        leave_queue(e);
    return true;
}

/* ---- Deadlock ---- */

/* What keeps the next block out of most SMs. */
static void find_reason(const struct engine *e, struct wt_stall *stall)
{
    struct wt_refusal_kind kinds[WT_REFUSAL_KINDS];
    if (wt_sm_refusal_kinds(e->sms, e->sm_count, &e->head->kernel->shape, kinds) == 0)
        return;
    stall->sms = kinds[0].sms;
    stall->why = kinds[0].example;
}

/* The head, or else the first in the list that is not over. There is one. */
static const struct grid *stalled_grid(const struct engine *e)
{
    const struct grid *grid = e->head ? e->head : e->grids;
    while (grid->running == 0 && grid->remaining == 0)
        grid++;
    return grid;
}

static enum wt_code stall(const struct engine *e, struct wt_error *err)
{
    const struct grid *grid = stalled_grid(e);
    struct wt_stall stall = {.kernel = grid->index, .next_block = grid->next_block, .running = grid->running};
    if (e->head)
        find_reason(e, &stall);
    if (e->simulation->stall)
        *e->simulation->stall = stall;
    return wt_fail(err, WT_DEADLOCK, "deadlock: kernel '%s': none of its %" PRIu64 " running blocks will ever end",
                   grid->kernel->name, stall.running);
}

/* An SM without blocks takes one of any kernel, so there is always room, or a report to wait for, or a block that
 * never ends. */
static enum wt_code run(struct engine *e, struct wt_error *err)
{
    e->next_arrival = e->front_end.next(e->front_end.context);
    do {
        catch_up(e);
        while (e->head && e->room.open_groups && make_visit(e))
            catch_up(e);
    } while (wait(e));
    return e->grid_count ? stall(e, err) : WT_OK;
}

/* ---- The engine ---- */

static wt_time offset_of(const struct wt_numbers *offsets, int tpc)
{
    return wt_from_cycles(wt_of_tpc(offsets, tpc));
}

static void set_up_launchers(struct engine *e)
{
    const struct wt_gpu *gpu = e->simulation->gpu;
    const struct wt_topology *t = &gpu->topology;
    e->launchers = wt_alloc((size_t)e->sm_count, sizeof *e->launchers);
    for (int sm = 0; sm < e->sm_count; sm++) {
        int tpc = t->tpc_of_sm[sm];
        int partner = sm;
        if (sm > 0 && t->tpc_of_sm[sm - 1] == tpc)
            partner = sm - 1;
        else if (sm + 1 < e->sm_count && t->tpc_of_sm[sm + 1] == tpc)
            partner = sm + 1;
        e->launchers[sm] = (struct launcher){
            .launch_latency = e->launch_latency + offset_of(&gpu->rates.launch_offset_cycles, tpc),
            .partner = (uint16_t)partner,
        };
    }
}

static void set_up_grids(struct engine *e)
{
    size_t count = (size_t)e->simulation->gpu->limits.resident_grids;
    e->grids = wt_alloc(count, sizeof *e->grids);
    for (size_t i = count; i-- > 0;) {
        e->grids[i].first_start = WT_NEVER;
        e->grids[i].next = e->free_grids;
        e->free_grids = &e->grids[i];
    }
}

static void set_up_front_end(struct engine *e)
{
    wt_time gap = wt_from_cycles(e->simulation->gpu->rates.kernel_gap_cycles);
    if (e->simulation->front_end)
        e->front_end = *e->simulation->front_end;
    else
        e->front_end = wt_serial_front_end(&e->serial, e->simulation->kernel_count,
                                           wt_later(gap, e->launch_latency) - e->launch_latency);
}

static void set_up(struct engine *e)
{
    const struct wt_gpu *gpu = e->simulation->gpu;
    e->sm_count = gpu->topology.sm_count;
    e->origin = WT_NEVER;
    e->visit_time = wt_from_cycles(gpu->rates.visit_cycles);
    e->ready_time = wt_from_cycles(gpu->rates.report_ready_cycles);
    e->launch_latency = wt_from_cycles(gpu->rates.launch_latency_cycles);
    e->sms = wt_alloc((size_t)e->sm_count, sizeof *e->sms);
    for (int sm = 0; sm < e->sm_count; sm++)
        e->sms[sm] = wt_sm_new(&gpu->limits);
    e->residents = wt_alloc((size_t)e->sm_count * WT_MAX_SLOTS, sizeof *e->residents);
    wt_endqueue_init(&e->ends, (size_t)e->sm_count * (size_t)gpu->limits.blocks_per_sm);
    wt_room_init(&e->room, &gpu->topology, e->sms);
    e->cluster_room = wt_alloc((size_t)e->sm_count, sizeof *e->cluster_room);
    e->spare = wt_sm_new(&gpu->limits);
    wt_clusters_init(&e->clusters, &gpu->topology, e->simulation->first_group, e->simulation->first_extra_sm);
    set_up_launchers(e);
    e->links = wt_links_new(gpu);
    e->next_link = wt_links_next(e->links);
    set_up_grids(e);
    set_up_front_end(e);
    struct wt_policy_start start = {&gpu->topology, &gpu->rates, e->simulation->seed, e->simulation->first_group,
                                    e->simulation->first_extra_sm};
    e->policy_state = e->policy->create(&start);
}

static void tear_down(struct engine *e)
{
    e->policy->destroy(e->policy_state);
    for (int sm = 0; sm < e->sm_count; sm++)
        wt_sm_free(e->sms[sm]);
    wt_endqueue_free(&e->ends);
    wt_links_free(e->links);
    free(e->sms);
    free(e->launchers);
    free(e->residents);
    free(e->grids);
    free(e->cluster_room);
    wt_sm_free(e->spare);
}

static enum wt_code refuse_cluster(const struct wt_gpu *gpu, const struct wt_kernel *kernel, struct wt_error *err)
{
    int most = 1;
    for (int g = 0; g < gpu->topology.group_count; g++)
        if (wt_clusters_most(&gpu->topology, g) > most)
            most = wt_clusters_most(&gpu->topology, g);
    if (kernel->cluster > most)
        return wt_fail(err, WT_BAD_INPUT, "kernel '%s': a cluster of %d blocks fits no group of SMs of %s: the largest takes "
                       "%d", kernel->name, kernel->cluster, gpu->name, most);
    return WT_OK;
}

/* On the empty SMs of the beginning. */
static enum wt_code refuse_misfits(const struct engine *e, struct wt_error *err)
{
    const struct wt_limits *limits = &e->simulation->gpu->limits;
    for (size_t k = 0; k < e->simulation->kernel_count; k++) {
        const struct wt_kernel *kernel = &e->simulation->kernels[k];
        WT_TRY(refuse_cluster(e->simulation->gpu, kernel, err));
        struct wt_refusal why = {.resource = WT_RES_SHARED_MEMORY, .wanted = kernel->shape.shared_bytes,
                                 .available = limits->shared_bytes_per_sm};
        if (why.wanted > why.available || wt_sm_refusal(e->sms[0], &kernel->shape, &why))
            return wt_fail(err, WT_BAD_INPUT, "kernel '%s': a block fits no SM of %s: it needs %d of %s, an SM has %d",
                           kernel->name, e->simulation->gpu->name, why.wanted, wt_resource_name(why.resource),
                           why.available);
    }
    return WT_OK;
}

static enum wt_code find_policy(const struct wt_gpu *gpu, const struct wt_policy **policy, struct wt_error *err)
{
    struct wt_error unknown = {0};
    if (*policy || wt_policy_find(gpu->placement, policy, &unknown) == WT_OK)
        return WT_OK;
    return wt_fail_at(err, gpu->path, 0, "%s", unknown.text);
}

enum wt_code wt_simulate(const struct wt_simulation *simulation, struct wt_error *err)
{
    struct engine *e = wt_alloc(1, sizeof *e);
    e->simulation = simulation;
    e->policy = simulation->policy;
    enum wt_code code = find_policy(simulation->gpu, &e->policy, err);
    if (code == WT_OK) {
        set_up(e);
        code = refuse_misfits(e, err);
        if (code == WT_OK)
            code = run(e, err);
        if (simulation->first_start)
            *simulation->first_start = e->origin == WT_NEVER ? 0 : e->origin;
        tear_down(e);
    }
    free(e);
    return code;
}
