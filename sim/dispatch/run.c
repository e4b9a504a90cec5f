#include "dispatch/engine.h"

#include <assert.h>

#include "dispatch/tell.h"
#include "sm/occupancy.h"

/* ---- Running blocks ---- */

/* Exact up to `until`. */
static inline wt_time next_end(const struct wt_engine *e, wt_time until)
{
    return e->sharing ? e->sharing->next_end(e->sharing->context, until) : wt_endqueue_next(&e->ends);
}

static inline struct wt_running take_end(struct wt_engine *e)
{
    if (!e->sharing)
        return wt_endqueue_pop(&e->ends);
    wt_time end = e->sharing->next_end(e->sharing->context, WT_NEVER);
    return (struct wt_running){end, e->sharing->take_end(e->sharing->context)};
}

static inline void begin_block(struct wt_engine *e, uint32_t id, wt_time start, wt_time length)
{
    struct wt_resident *resident = &e->residents[id];
    struct wt_grid *grid = resident->grid;
    resident->start = start += grid->wait;
    if (e->sharing)
        e->sharing->begin(e->sharing->context, id, grid->index, resident->block, start);
    else
        wt_endqueue_push(&e->ends, (struct wt_running){start + length, id});
    grid->first_start = wt_sooner(grid->first_start, start);
    if (resident->block + 1 == grid->kernel->grid_blocks)
        grid->last_start = start;
    if (e->watched)
        wt_tell_started(e, id);
}

/* ---- Ends ---- */

/* The first start of all, which is known once a block has ended: whatever is handed out from then on starts later. */
static void fix_origin(struct wt_engine *e)
{
    for (int i = 0; i < e->simulation->gpu->limits.resident_grids; i++)
        e->origin = wt_sooner(e->origin, e->grids[i].first_start);
}

/* The first start of its kernel is known for the same reason. */
static void end_first(struct wt_engine *e, const struct wt_grid *grid)
{
    if (e->origin == WT_NEVER)
        fix_origin(e);
    wt_tell_begin(e, grid);
}

/* When a block that ended at `end` is over; not so early that its report would be ready before its end. */
static inline wt_time over_at(const struct wt_engine *e, const struct wt_resident *resident, wt_time end)
{
    wt_time over = wt_later(end, resident->start + resident->grid->shortest);
    int64_t earliest = (int64_t)over - (int64_t)e->ready_time, shifted = (int64_t)over + resident->grid->outlast;
    return (wt_time)(shifted > earliest ? shifted : earliest);
}

static inline struct wt_leaving *leaving_at(struct wt_launcher *launcher, uint32_t place)
{
    return &launcher->leaving[(launcher->leaving_head + place) % WT_MAX_SLOTS];
}

/* The running block that ends first ends. */
static void end_block(struct wt_engine *e)
{
    struct wt_running running = take_end(e);
    int sm = wt_sm_of(running.id), slot = wt_slot_of(running.id);
    const struct wt_resident *resident = &e->residents[running.id];
    struct wt_grid *grid = resident->grid;
    struct wt_launcher *launcher = &e->launchers[sm];
    if (grid->last_end == 0)
        end_first(e, grid);
    grid->last_end = running.end;
    grid->running--;
    wt_tell_block(e, running.id, running.end);
    if (e->watched)
        wt_tell_ended(e, running.id, running.end);
    assert(e->leaving[sm] < WT_MAX_SLOTS);
    wt_time over = over_at(e, resident, running.end);
    *leaving_at(launcher, e->leaving[sm]++) =
        (struct wt_leaving){resident->start, over, grid->number, (uint8_t)slot};
    wt_links_end(e->links, sm, over, &grid->report);
}

/* ---- Reports ---- */

static inline bool has_clusters(const struct wt_grid *grid)
{
    return grid->kernel->cluster > 1;
}

/* Whether the SM would admit another block of the head now. */
static inline bool has_room(const struct wt_engine *e, int sm)
{
    struct wt_refusal why;
    if (has_clusters(e->head) && e->launchers[sm].clustered >= WT_MOST_CLUSTER_BLOCKS)
        return false;
    if (e->room.counted)
        return e->room.blocks[sm] > 0;
    return !wt_sm_refusal(e->sms[sm], &e->head->kernel->shape, &why);
}

/* Where only the head's blocks are resident, they fill all sub-cores alike and each SM takes as many in all as an empty one (by
 * its configuration and the holes in its shared memory), counting them tells who has room. */
static void count_room(struct wt_engine *e)
{
    const struct wt_shape *shape = &e->head->kernel->shape;
    e->room.counted = shape->warps % e->simulation->gpu->limits.subcores == 0 && e->unreported == e->head->unreported;
    int most = e->room.counted ? wt_sm_room(e->spare, shape) : 0;
    for (int sm = 0; e->room.counted && sm < e->sm_count; sm++) {
        e->room.blocks[sm] = wt_sm_room(e->sms[sm], shape);
        e->room.counted = e->room.blocks[sm] + wt_sm_resident_blocks(e->sms[sm]) == most;
    }
}

static void finish_grid(struct wt_engine *e, struct wt_grid *grid)
{
    wt_tell_end(e, grid);
    e->front_end.done(e->front_end.context, grid->index, grid->last_end);
    e->next_arrival = e->front_end.next(e->front_end.context);
    e->grid_count--;
    grid->first_start = WT_NEVER;
    grid->next = e->free_grids;
    e->free_grids = grid;
}

/* The room of a block that has ended is known to be free. */
static void release(struct wt_engine *e, int sm, const struct wt_leaving *block, wt_time ready)
{
    struct wt_launcher *launcher = &e->launchers[sm];
    if (e->watched)
        wt_tell_known(e, wt_place_id(sm, block->slot), ready);
    wt_sm_release(e->sms[sm], block->slot);
    e->room.blocks[sm]++;
    launcher->clustered -= has_clusters(&e->grids[block->grid]);
    if (e->head && has_room(e, sm))
        wt_room_open(&e->room, sm);
}

/* Blocks that ran when the series began and were over by `seen`: all of their warps but one each make room, as far as there are
 * block slots besides. */
static void release_early(struct wt_engine *e, int sm, wt_time series, wt_time seen)
{
    struct wt_launcher *launcher = &e->launchers[sm];
    const struct wt_grid *head = e->head;
    int ended = launcher->early, warps = head->kernel->shape.warps;
    while (ended < e->leaving[sm]) {
        const struct wt_leaving *block = leaving_at(launcher, (uint32_t)ended);
        if (&e->grids[block->grid] != head || block->start > series || block->over > seen)
            break;
        ended++;
    }
    int early = (head->spare_warps + (warps - 1) * ended) / warps;
    early = early < ended ? early : ended;
    early = early < head->most_early ? early : head->most_early;
    for (; launcher->early < early; launcher->early++)
        release(e, sm, leaving_at(launcher, launcher->early), e->now);
}

/* A report reaches the distributor. */
static void take_report(struct wt_engine *e, const struct wt_link_event *report)
{
    struct wt_launcher *launcher = &e->launchers[report->sm];
    struct wt_leaving block = *leaving_at(launcher, 0);
    struct wt_grid *grid = &e->grids[block.grid];
    launcher->leaving_head = --e->leaving[report->sm] > 0 ? (launcher->leaving_head + 1U) % WT_MAX_SLOTS : 0;
    e->unreported--;
    grid->unreported--;
    if (launcher->early > 0)
        launcher->early--;
    else
        release(e, report->sm, &block, report->ready);
    if (e->head && grid != e->head && e->unreported == e->head->unreported)
        count_room(e);
    if (e->head && e->head->most_early > 0) {
        wt_time seen = block.over + e->view_time;
        if (e->leaving[report->sm] >= e->head->least_leaving)
            release_early(e, report->sm, report->series, seen);
        if (launcher->partner != report->sm && e->leaving[launcher->partner] >= e->head->least_leaving)
            release_early(e, launcher->partner, report->series, seen);
    }
    if (grid->unreported == 0 && grid->remaining == 0)
        finish_grid(e, grid);
}

/* Whatever happens next on the links. Returns whether the distributor heard of it. */
static bool step_links(struct wt_engine *e)
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
static void turn_to_head(struct wt_engine *e)
{
    struct wt_grid *head = e->head;
    if (!head)
        return;
    head->turn = head->turn == 0 ? ++e->turns : head->turn;
    if (e->watched)
        wt_tell_heads(e);
    e->room.shape = &head->kernel->shape;
    e->unplaced = head->kernel->shape;
    e->unplaced.shared_units = 0;
    count_room(e);
    for (int sm = 0; sm < e->sm_count; sm++)
        if (has_room(e, sm))
            wt_room_open(&e->room, sm);
        else
            wt_room_close(&e->room, sm);
    e->policy->launch(e->policy_state, &e->room, head->remaining, head->kernel->cooperative);
}

/* Behind all that are as urgent or more urgent. */
static void enqueue(struct wt_engine *e, struct wt_grid *grid)
{
    struct wt_grid **place = &e->head;
    while (*place && (*place)->kernel->priority <= grid->kernel->priority)
        place = &(*place)->next;
    grid->next = *place;
    *place = grid;
    if (e->head == grid)
        turn_to_head(e);
}

/* Where an SM full of the grid's blocks has block slots left and shared memory for one more, it is out of warps or
 * registers. */
static void count_early(const struct wt_engine *e, struct wt_grid *grid)
{
    const struct wt_limits *limits = &e->simulation->gpu->limits;
    const struct wt_shape *shape = &grid->kernel->shape;
    int most = wt_sm_room(e->spare, shape);
    if (most >= limits->blocks_per_sm || (most + 1) * shape->shared_bytes > limits->shared_bytes_per_sm)
        return;
    grid->most_early = limits->blocks_per_sm - most;
    int spare = limits->warps_per_sm - most * shape->warps - (limits->subcores - 1);
    grid->spare_warps = spare > 0 ? spare : 0;
    grid->least_leaving = shape->warps > 1 ? (shape->warps - grid->spare_warps + shape->warps - 2) / (shape->warps - 1) : 1;
}

/* Curves go on straight beyond their ends, but not below 0. */
static wt_time time_of(const struct wt_curve *cycles, const struct wt_kernel *kernel)
{
    double value = wt_curve_at(cycles, kernel->shape.warps);
    return wt_from_cycles(value > 0 ? value : 0);
}

static uint32_t parts_of(const struct wt_curve *count, const struct wt_kernel *kernel)
{
    return (uint32_t)(wt_curve_at(count, kernel->shape.warps) * WT_PARTS);
}

/* A kernel reaches the grid scheduler, or something else happens at the front end. */
static void take_arrival(struct wt_engine *e)
{
    const struct wt_rates *rates = &e->simulation->gpu->rates;
    uint32_t index = e->front_end.take(e->front_end.context);
    if (index == WT_NO_KERNEL) {
        e->next_arrival = e->front_end.next(e->front_end.context);
        return;
    }
    const struct wt_kernel *kernel = &e->simulation->kernels[index];
    double interval = wt_curve_at(&rates->launch_cycles, kernel->shape.warps);
    wt_time lag = time_of(&rates->tpc_lag_cycles, kernel), again = lag + time_of(&rates->replacement_lag_cycles, kernel);
    struct wt_grid *grid = e->free_grids;
    e->free_grids = grid->next;
    e->grid_count++;
    *grid = (struct wt_grid){
        .kernel = kernel,
        .index = index,
        .number = grid->number,
        .remaining = kernel->grid_blocks,
        .first = {.first_wave = true, .interval = wt_from_cycles(interval), .lag = lag,
                  .hold = time_of(&rates->report_held_cycles, kernel)},
        .replacement = {.interval = again, .lag = again, .hold = time_of(&rates->replacement_held_cycles, kernel),
                        .places = parts_of(&rates->replacement_places, kernel)},
        .report = {.lead = wt_sooner(time_of(&rates->report_lead_cycles, kernel), e->ready_time),
                   .send = time_of(&rates->report_send_cycles, kernel),
                   .starts = parts_of(&rates->starts_per_report, kernel),
                   .slips = parts_of(&rates->starts_while_sending, kernel)},
        .shortest = wt_from_cycles(interval + rates->drain_cycles),
        .outlast = (int64_t)(kernel->outlast_cycles * WT_CYCLE),
        .wait = kernel->cluster > 1 ? wt_from_cycles(interval + rates->cluster_start_cycles) : 0,
        .by_tpc = kernel->cluster > 1 && wt_sm_room(e->spare, &kernel->shape) > 1,
        .first_start = WT_NEVER,
    };
    count_early(e, grid);
    if (e->watched)
        wt_tell_arrived(e, index);
    e->next_arrival = e->front_end.next(e->front_end.context);
    enqueue(e, grid);
}

/* The head's last block has been handed out. */
static void leave_queue(struct wt_engine *e)
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
static inline wt_time arrival(const struct wt_engine *e)
{
    return e->free_grids ? e->next_arrival : WT_NEVER;
}

/* Everything that happened by now, ends before what comes of them. */
static void catch_up(struct wt_engine *e)
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
static bool wait(struct wt_engine *e)
{
    if (e->watched)
        wt_tell_waits(e);
    for (;;) {
        wt_time link = *e->next_link, until = wt_sooner(link, arrival(e)), end = next_end(e, until);
        if (end <= until) {
            if (end == WT_NEVER)
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

/* The grid's first block on the TPC. Returns how much later it starts there. */
static wt_time first_on_tpc(struct wt_engine *e, int sm, const struct wt_grid *grid)
{
    struct wt_launcher *launcher = &e->launchers[sm];
    bool used = launcher->turn + 1 == grid->turn && !has_clusters(grid);
    launcher->turn = e->launchers[launcher->partner].turn = grid->turn;
    return used ? e->used_time : 0;
}

static void start_block(struct wt_engine *e, int sm, int slot)
{
    struct wt_grid *grid = e->head;
    const struct wt_cost *cost = &grid->kernel->cost;
    uint32_t id = wt_place_id(sm, slot);
    wt_time length = e->sharing ? 0 : cost->duration(cost->context, grid->next_block);
    e->residents[id] = (struct wt_resident){.block = grid->next_block, .grid = grid};
    struct wt_launch launch = {id, e->now + e->launchers[sm].launch_latency, length,
                               e->visit.first_wave ? &grid->first : &grid->replacement};
    if (e->launchers[sm].turn != grid->turn)
        launch.arrival += first_on_tpc(e, sm, grid);
    if (e->watched)
        wt_tell_handed_out(e, id, launch.arrival);
    wt_time start = wt_links_launch(e->links, sm, &launch, e->now);
    if (start != WT_NEVER)
        begin_block(e, id, start, length);
    grid->next_block++;
    grid->remaining--;
    grid->running++;
    grid->unreported++;
    e->unreported++;
}

/* What the SMs are asked for. Where blocks lie in shared memory matters only to other kernels beside them and to whoever asks
 * why: where there are none and blocks are counted, they are not placed. */
static inline const struct wt_shape *admitted(const struct wt_engine *e)
{
    return e->room.counted && !e->placed ? &e->unplaced : &e->head->kernel->shape;
}

static void offer(struct wt_engine *e, int sm)
{
    if (!wt_room_is_open(&e->room, sm))
        return;
    int slot = wt_sm_admit(e->sms[sm], admitted(e));
    assert(slot >= 0);
    start_block(e, sm, slot);
    e->room.blocks[sm]--;
    e->launchers[sm].clustered += has_clusters(e->head);
    if (!has_room(e, sm))
        wt_room_close(&e->room, sm);
}

static int room_for_clusters(const struct wt_engine *e, int sm)
{
    if (!wt_room_is_open(&e->room, sm))
        return 0;
    int room = wt_room_blocks(&e->room, sm);
    int allowed = WT_MOST_CLUSTER_BLOCKS - e->launchers[sm].clustered;
    return room < allowed ? room : allowed;
}

static void visit_clusters(struct wt_engine *e)
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

/* Nobody is visited now: moves on to when somebody may be, or to whatever happens before. False: that is for a report to tell. */
static bool pause_visits(struct wt_engine *e)
{
    if (e->visit.pause == 0)
        return false;
    wt_time until = wt_sooner(wt_sooner(e->now + e->visit.pause, arrival(e)), *e->next_link);
    e->now = wt_later(e->now, wt_sooner(until, next_end(e, until)));
    return true;
}

/* False: the SMs with room take no cluster. */
static bool make_visit(struct wt_engine *e)
{
    e->visit.now = e->now;
    e->visit.pause = 0;
    if (has_clusters(e->head))
        visit_clusters(e);
    else
        e->policy->visit(e->policy_state, &e->room, e->head->remaining, &e->visit);
    if (e->visit.count == 0)
        return pause_visits(e);
    for (int i = 0; i < e->visit.count; i++)
        offer(e, e->visit.sms[i]);
    e->now += e->visit_time;
    if (e->head->remaining == 0)
        leave_queue(e);
    return true;
}

/* An SM without blocks takes one of any kernel, so there is always room, or a report to wait for, or a block that
 * never ends. */
void wt_engine_run(struct wt_engine *e)
{
    e->next_arrival = e->front_end.next(e->front_end.context);
    do {
        do
            catch_up(e);
        while (e->head && e->room.open_groups && make_visit(e));
    } while (wait(e));
}
