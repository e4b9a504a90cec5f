#include "dispatch/simulate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "dispatch/clusters.h"
#include "dispatch/endqueue.h"
#include "dispatch/ports.h"
#include "dispatch/room.h"
#include "sm/occupancy.h"

/* A block that is running or whose report is under way. */
struct resident {
    uint64_t block;
    wt_time start;
    struct grid *grid;
};

/* What one SM's launches obey. */
struct launcher {
    wt_time ready;          /* no block may start before */
    wt_time launch_latency; /* distributor to first instruction */
    wt_time report_latency; /* over to known */
    uint16_t partner;       /* the TPC's other SM, or the SM itself */
    uint16_t gpc;
    int32_t clustered;      /* resident blocks of clusters */
    int32_t credit;         /* blocks of the head that surely fit, as far as known; kept while `counted` */
};

/* A kernel that has reached the grid scheduler and is not over. */
struct grid {
    struct grid *next; /* the one after it in the queue, or in the list of free ones */
    const struct wt_kernel *kernel;
    uint32_t index;
    uint64_t next_block, remaining;
    uint64_t running;    /* blocks that have started and not ended */
    uint64_t unreported; /* blocks that have started and are not known to be over */
    wt_time interval, lag, shortest;
    int64_t outlast;
    bool by_tpc; /* an SM takes several blocks of the clusters, which then go to whole TPCs */
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
    struct wt_ports ports;
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
    bool counted;               /* credits hold: only blocks of the head are on the SMs, and they fill sub-cores alike */
    wt_time next_arrival;       /* of a kernel at the grid scheduler */
    wt_time now;                /* the distributor's */
    wt_time origin;             /* WT_NEVER until the first block has ended */
    wt_time visit_time, hold_time, launch_latency;
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

static void tell_known(const struct engine *e, const struct wt_report *report, wt_time at)
{
    const struct resident *resident = &e->residents[report->id];
    if (!e->simulation->watch_count)
        return;
    struct wt_known_end end = {.launch = resident->grid->index,
                               .block = resident->block,
                               .sm = (uint16_t)(report->id / WT_MAX_SLOTS),
                               .slot = (uint16_t)(report->id % WT_MAX_SLOTS),
                               .ready = report->ready,
                               .at = at};
    TELL(e, known, &end);
}

static void tell_handout(const struct engine *e, uint32_t id, wt_time earliest, wt_time start)
{
    if (!e->simulation->watch_count)
        return;
    struct wt_handout handout = {.launch = e->head->index,
                                 .block = e->head->next_block,
                                 .sm = (uint16_t)(id / WT_MAX_SLOTS),
                                 .slot = (uint16_t)(id % WT_MAX_SLOTS),
                                 .place = e->sms[id / WT_MAX_SLOTS],
                                 .at = e->now,
                                 .earliest = earliest,
                                 .start = start};
    TELL(e, handed_out, &handout);
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

static void begin_block(struct engine *e, uint32_t id, wt_time start)
{
    const struct wt_sharing *sharing = e->simulation->sharing;
    const struct wt_cost *cost = &e->head->kernel->cost;
    if (sharing)
        sharing->begin(sharing->context, id, e->head->index, e->head->next_block, start);
    else
        wt_endqueue_push(&e->ends, (struct wt_running){start + cost->duration(cost->context, e->head->next_block), id});
}

/* ---- Ends and reports ---- */

static inline wt_time later(wt_time a, wt_time b)
{
    return a > b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline wt_time sooner(wt_time a, wt_time b)
{
    return a < b ? a : b;
}

/* The first start of all, which is known once a block has ended: whatever is handed out from then on starts later. */
static void fix_origin(struct engine *e)
{
    for (int i = 0; i < e->simulation->gpu->limits.resident_grids; i++)
        e->origin = sooner(e->origin, e->grids[i].first_start);
}

/* The running block that ends first ends. For the same reason its kernel's first start is known by now. */
static void end_block(struct engine *e)
{
    struct wt_running running = take_end(e);
    const struct resident *resident = &e->residents[running.id];
    const struct launcher *launcher = &e->launchers[running.id / WT_MAX_SLOTS];
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
    wt_time over = later(running.end, resident->start + grid->shortest);
    wt_time latency = (wt_time)most(0, (int64_t)launcher->report_latency + grid->outlast);
    wt_ports_push(&e->ports, launcher->gpc, (struct wt_report){over + latency, running.id});
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

/* Where only the head's blocks are resident and they fill all sub-cores alike, counting them tells who has room. */
static void count_room(struct engine *e)
{
    const struct wt_shape *shape = &e->head->kernel->shape;
    e->counted = shape->warps % e->simulation->gpu->limits.subcores == 0 && e->unreported == e->head->unreported;
    for (int sm = 0; e->counted && sm < e->sm_count; sm++)
        e->launchers[sm].credit = wt_sm_room(e->sms[sm], shape);
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

/* The earliest report reaches the distributor. */
static void take_report(struct engine *e)
{
    wt_time at = wt_ports_next(&e->ports);
    struct wt_report report = wt_ports_take(&e->ports);
    uint32_t id = report.id;
    tell_known(e, &report, at);
    int sm = (int)(id / WT_MAX_SLOTS);
    struct grid *grid = e->residents[id].grid;
    wt_sm_release(e->sms[sm], (int)(id % WT_MAX_SLOTS));
    e->launchers[sm].credit++;
    e->launchers[sm].clustered -= has_clusters(grid);
    e->unreported--;
    if (--grid->unreported == 0 && grid->remaining == 0)
        finish_grid(e, grid);
    if (!e->head)
        return;
    if (grid != e->head && e->unreported == e->head->unreported)
        count_room(e);
    if (has_room(e, sm))
        wt_room_open(&e->room, sm);
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
        .lag = wt_from_cycles(wt_curve_at(&rates->tpc_lag_cycles, kernel->shape.warps)),
        .shortest = wt_from_cycles(interval + rates->drain_cycles),
        .outlast = (int64_t)(kernel->outlast_cycles * WT_CYCLE),
        .by_tpc = kernel->cluster > 1 && wt_sm_room(e->spare, &kernel->shape) > 1,
        .first_start = WT_NEVER,
    };
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

/* Everything that has reached the distributor by now. A report never arrives before its block's end. */
static void catch_up(struct engine *e)
{
    while (next_end(e, e->now) <= e->now)
        end_block(e);
    while (wt_ports_next(&e->ports) <= e->now)
        take_report(e);
    while (arrival(e) <= e->now)
        take_arrival(e);
}

/* Moves on to the next report or arrival. False: there is none and will be none. */
static bool wait(struct engine *e)
{
    tell_wait(e);
    wt_time until = sooner(wt_ports_next(&e->ports), arrival(e));
    while (next_end(e, until) < until) {
        end_block(e);
        until = sooner(wt_ports_next(&e->ports), arrival(e));
    }
    if (until == WT_NEVER)
        return false;
    e->now = later(e->now, until);
    return true;
}

/* ---- Launching ---- */

static void start_block(struct engine *e, int sm, int slot)
{
    struct launcher *launcher = &e->launchers[sm];
    struct grid *grid = e->head;
    wt_time earliest = e->now + launcher->launch_latency, start = later(earliest, launcher->ready);
    struct launcher *partner = &e->launchers[launcher->partner];
    partner->ready = later(partner->ready, start + grid->lag);
    launcher->ready = start + grid->interval;
    uint32_t id = (uint32_t)sm * WT_MAX_SLOTS + (uint32_t)slot;
    e->residents[id] = (struct resident){grid->next_block, start, grid};
    tell_handout(e, id, earliest, start);
    begin_block(e, id, start);
    if (e->visit.first_wave)
        wt_ports_hold(&e->ports, launcher->gpc, start + e->hold_time - e->launch_latency);
    if (start < grid->first_start)
        grid->first_start = start;
    grid->last_start = start;
    grid->next_block++;
    grid->remaining--;
    grid->running++;
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
    wt_time report = wt_from_cycles(gpu->rates.release_cycles) - e->launch_latency;
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
            .report_latency = report + offset_of(&gpu->rates.report_offset_cycles, tpc),
            .partner = (uint16_t)partner,
            .gpc = t->gpc_of_sm[sm],
        };
    }
}

static void set_up_ports(struct engine *e)
{
    const struct wt_gpu *gpu = e->simulation->gpu;
    uint32_t *sizes = wt_alloc((size_t)gpu->topology.gpc_count, sizeof *sizes);
    for (int sm = 0; sm < e->sm_count; sm++)
        sizes[gpu->topology.gpc_of_sm[sm]] += (uint32_t)gpu->limits.blocks_per_sm;
    wt_ports_init(&e->ports, gpu->topology.gpc_count, sizes, wt_from_cycles(gpu->rates.report_cycles));
    free(sizes);
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
                                           later(gap, e->launch_latency) - e->launch_latency);
}

static void set_up(struct engine *e)
{
    const struct wt_gpu *gpu = e->simulation->gpu;
    e->sm_count = gpu->topology.sm_count;
    e->origin = WT_NEVER;
    e->visit_time = wt_from_cycles(gpu->rates.visit_cycles);
    e->hold_time = wt_from_cycles(gpu->rates.report_hold_cycles);
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
    set_up_ports(e);
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
    wt_ports_free(&e->ports);
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
