#include "dispatch/simulate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "dispatch/endqueue.h"
#include "dispatch/room.h"

/* A block that is running or whose report is under way. */
struct resident {
    uint64_t block;
    wt_time start;
};

struct report {
    wt_time ready; /* would be at the distributor if the port let it through at once */
    uint32_t id;   /* as in the end queue */
};

/* The port of one GPC: reports under way, in the order in which they go through. A ring as large as the GPC's block
 * slots. */
struct port {
    struct report *ring;
    uint32_t size, head, count;
    wt_time free_at;
    wt_time held_until;
};

/* What one SM's launches obey. */
struct launcher {
    wt_time ready;          /* no block may start before */
    wt_time launch_latency; /* distributor to first instruction */
    wt_time report_latency; /* over to known */
    uint16_t partner;       /* the TPC's other SM, or the SM itself */
    uint16_t gpc;
    int32_t credit;         /* blocks that surely fit, as far as known */
};

/* Of the kernel being dispatched. */
struct current {
    const struct wt_kernel *kernel;
    uint32_t index;
    uint64_t next_block, remaining, running;
    wt_time interval, lag, shortest;
    bool uniform; /* an SM that was full has exactly as much room as blocks have left since */
    wt_time first_start, last_start, last_end;
};

struct engine {
    const struct wt_simulation *simulation;
    const struct wt_policy *policy;
    void *policy_state;
    int sm_count, gpc_count;
    struct wt_sm **sms;
    struct launcher *launchers;   /* by SM */
    struct resident *residents;   /* by id */
    struct port *ports;           /* by GPC */
    wt_time *next_report;         /* by GPC: arrival of the head report, WT_NEVER when none */
    int soonest;                  /* the GPC whose next report is the earliest */
    struct wt_endqueue ends;
    struct wt_room room;
    struct wt_visit visit;
    struct current current;
    wt_time now;                  /* the distributor's */
    wt_time origin;               /* WT_NEVER until the first block has ended */
    wt_time visit_time, report_time, hold_time, launch_latency;
};

/* ---- Observers ---- */

static void tell_begin(struct engine *e)
{
    const struct wt_simulation *s = e->simulation;
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].launch_begins)
            s->observers[i].launch_begins(s->observers[i].context, e->current.index,
                                          e->current.first_start - e->origin);
}

static void tell_block(struct engine *e, uint32_t id, wt_time end)
{
    const struct wt_simulation *s = e->simulation;
    const struct resident *resident = &e->residents[id];
    struct wt_block_run run = {.block = resident->block, .start = resident->start - e->origin, .end = end - e->origin,
                               .launch = e->current.index, .sm = (uint16_t)(id / WT_MAX_SLOTS),
                               .slot = (uint16_t)(id % WT_MAX_SLOTS)};
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].block_done)
            s->observers[i].block_done(s->observers[i].context, &run);
}

static void tell_end(struct engine *e)
{
    const struct wt_simulation *s = e->simulation;
    for (size_t i = 0; i < s->observer_count; i++)
        if (s->observers[i].launch_ends)
            s->observers[i].launch_ends(s->observers[i].context, e->current.index,
                                        e->current.last_start - e->origin, e->current.last_end - e->origin);
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
    const struct wt_cost *cost = &e->current.kernel->cost;
    if (sharing)
        sharing->begin(sharing->context, id, e->current.index, e->current.next_block, start);
    else
        wt_endqueue_push(&e->ends, (struct wt_running){start + cost->duration(cost->context, e->current.next_block), id});
}

/* ---- Ends and reports ---- */

static inline wt_time later(wt_time a, wt_time b)
{
    return a > b ? a : b;
}

/* When the head report reaches the distributor; WT_NEVER when there is none. */
static inline wt_time head_arrival(const struct port *port)
{
    if (port->count == 0)
        return WT_NEVER;
    return later(port->ring[port->head].ready, later(port->free_at, port->held_until));
}

static int find_soonest(const struct engine *e)
{
    int soonest = 0;
    for (int g = 1; g < e->gpc_count; g++)
        soonest = e->next_report[g] < e->next_report[soonest] ? g : soonest;
    return soonest;
}

static inline void queue_report(struct engine *e, uint32_t id, wt_time over)
{
    const struct launcher *launcher = &e->launchers[id / WT_MAX_SLOTS];
    struct port *port = &e->ports[launcher->gpc];
    assert(port->count < port->size);
    uint32_t tail = port->head + port->count;
    port->ring[tail < port->size ? tail : tail - port->size] =
        (struct report){over + launcher->report_latency, id};
    if (port->count++ > 0)
        return;
    e->next_report[launcher->gpc] = head_arrival(port);
    if (e->next_report[launcher->gpc] < e->next_report[e->soonest])
        e->soonest = launcher->gpc;
}

/* Reports of the GPC wait for a first-wave launch that starts at `start`. */
static void hold_reports(struct engine *e, int gpc, wt_time start)
{
    struct port *port = &e->ports[gpc];
    port->held_until = later(port->held_until, start + e->hold_time - e->launch_latency);
    if (port->count == 0)
        return;
    e->next_report[gpc] = head_arrival(port);
    e->soonest = find_soonest(e);
}

/* The running block that ends first ends. The first end of a kernel fixes when it began, since whatever is handed
 * out from now on starts later. */
static void end_block(struct engine *e)
{
    struct wt_running running = take_end(e);
    if (e->current.last_end == 0) {
        if (e->origin == WT_NEVER)
            e->origin = e->current.first_start;
        tell_begin(e);
    }
    e->current.last_end = running.end;
    e->current.running--;
    tell_block(e, running.id, running.end);
    queue_report(e, running.id, later(running.end, e->residents[running.id].start + e->current.shortest));
}

/* Whether the SM would admit another block now. Where blocks fill all sub-cores alike, counting them tells. */
static inline bool has_room(const struct engine *e, int sm)
{
    struct wt_refusal why;
    if (e->current.uniform)
        return e->launchers[sm].credit > 0;
    return !wt_sm_refusal(e->sms[sm], &e->current.kernel->shape, &why);
}

/* The earliest report reaches the distributor. */
static void take_report(struct engine *e)
{
    struct port *port = &e->ports[e->soonest];
    uint32_t id = port->ring[port->head].id;
    int sm = (int)(id / WT_MAX_SLOTS);
    if (++port->head == port->size)
        port->head = 0;
    port->count--;
    port->free_at = e->next_report[e->soonest] + e->report_time;
    e->next_report[e->soonest] = head_arrival(port);
    e->soonest = find_soonest(e);
    wt_sm_release(e->sms[sm], (int)(id % WT_MAX_SLOTS));
    e->launchers[sm].credit++;
    if (has_room(e, sm))
        wt_room_open(&e->room, sm);
}

/* Everything that has reached the distributor by now. A report never arrives before its block's end. */
static void catch_up(struct engine *e)
{
    while (next_end(e, e->now) <= e->now)
        end_block(e);
    while (e->next_report[e->soonest] <= e->now)
        take_report(e);
}

/* Moves on to the next report. False: there is none and will be none. */
static bool wait_for_report(struct engine *e)
{
    while (next_end(e, e->next_report[e->soonest]) < e->next_report[e->soonest])
        end_block(e);
    if (e->next_report[e->soonest] == WT_NEVER)
        return false;
    e->now = e->next_report[e->soonest];
    return true;
}

/* ---- Launching ---- */

static void start_block(struct engine *e, int sm, int slot)
{
    struct launcher *launcher = &e->launchers[sm];
    struct current *current = &e->current;
    wt_time start = later(e->now + launcher->launch_latency, launcher->ready);
    struct launcher *partner = &e->launchers[launcher->partner];
    partner->ready = later(partner->ready, start + current->lag);
    launcher->ready = start + current->interval;
    uint32_t id = (uint32_t)sm * WT_MAX_SLOTS + (uint32_t)slot;
    e->residents[id] = (struct resident){current->next_block, start};
    begin_block(e, id, start);
    if (e->visit.first_wave)
        hold_reports(e, launcher->gpc, start);
    if (start < current->first_start)
        current->first_start = start;
    current->last_start = start;
    current->next_block++;
    current->remaining--;
    current->running++;
}

static void offer(struct engine *e, int sm)
{
    if (!wt_room_is_open(&e->room, sm))
        return;
    int slot = wt_sm_admit(e->sms[sm], &e->current.kernel->shape);
    assert(slot >= 0);
    start_block(e, sm, slot);
    e->launchers[sm].credit--;
    if (!has_room(e, sm))
        wt_room_close(&e->room, sm);
}

static void make_visit(struct engine *e)
{
    e->policy->visit(e->policy_state, &e->room, e->current.remaining, &e->visit);
    for (int i = 0; i < e->visit.count; i++)
        offer(e, e->visit.sms[i]);
    e->now += e->visit_time;
}

/* ---- One kernel ---- */

static void begin_kernel(struct engine *e, size_t index)
{
    const struct wt_kernel *kernel = &e->simulation->kernels[index];
    const struct wt_rates *rates = &e->simulation->gpu->rates;
    double interval = wt_curve_at(&rates->launch_cycles, kernel->shape.warps);
    e->current = (struct current){
        .kernel = kernel,
        .index = (uint32_t)index,
        .remaining = kernel->grid_blocks,
        .interval = wt_from_cycles(interval),
        .lag = wt_from_cycles(wt_curve_at(&rates->tpc_lag_cycles, kernel->shape.warps)),
        .shortest = wt_from_cycles(interval + rates->drain_cycles),
        .uniform = kernel->shape.warps % e->simulation->gpu->limits.subcores == 0,
        .first_start = WT_NEVER,
    };
    e->room.shape = &kernel->shape;
    for (int sm = 0; sm < e->sm_count; sm++) {
        e->launchers[sm].credit = wt_sm_room(e->sms[sm], &kernel->shape);
        wt_room_open(&e->room, sm);
    }
    e->policy->launch(e->policy_state, &e->room, kernel->grid_blocks, kernel->cooperative);
}

static bool same_reason(const struct wt_refusal *a, const struct wt_refusal *b)
{
    return a->resource == b->resource && a->shortage == b->shortage;
}

/* What keeps the next block out of most SMs. */
static void find_reason(const struct engine *e, struct wt_stall *stall)
{
    for (int sm = 0; sm < e->sm_count; sm++) {
        struct wt_refusal why, other;
        if (!wt_sm_refusal(e->sms[sm], &e->current.kernel->shape, &why))
            continue;
        int alike = 0;
        for (int i = 0; i < e->sm_count; i++)
            alike += wt_sm_refusal(e->sms[i], &e->current.kernel->shape, &other) && same_reason(&why, &other);
        if (alike > stall->sms) {
            stall->sms = alike;
            stall->why = why;
        }
    }
}

static enum wt_code stall(const struct engine *e, struct wt_error *err)
{
    struct wt_stall stall = {.kernel = e->current.index, .next_block = e->current.next_block, .running = e->current.running};
    if (e->current.remaining > 0)
        find_reason(e, &stall);
    if (e->simulation->stall)
        *e->simulation->stall = stall;
    return wt_fail(err, WT_DEADLOCK, "deadlock: kernel '%s': none of its %" PRIu64 " running blocks will ever end",
                   e->current.kernel->name, stall.running);
}

static enum wt_code finish_kernel(struct engine *e, struct wt_error *err)
{
    while (next_end(e, WT_NEVER) < WT_NEVER)
        end_block(e);
    if (e->current.running > 0)
        return stall(e, err);
    while (e->next_report[e->soonest] < WT_NEVER)
        take_report(e);
    tell_end(e);
    wt_time gap = wt_from_cycles(e->simulation->gpu->rates.kernel_gap_cycles);
    e->now = later(e->current.last_end + gap, e->launch_latency) - e->launch_latency;
    return WT_OK;
}

/* An SM without blocks takes one of any kernel, so there is always room, or a report to wait for, or a block that
 * never ends. */
static enum wt_code run_kernel(struct engine *e, size_t index, struct wt_error *err)
{
    begin_kernel(e, index);
    while (e->current.remaining > 0) {
        catch_up(e);
        if (e->room.open_groups)
            make_visit(e);
        else if (!wait_for_report(e))
            return stall(e, err);
    }
    return finish_kernel(e, err);
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
    e->ports = wt_alloc((size_t)e->gpc_count, sizeof *e->ports);
    e->next_report = wt_alloc((size_t)e->gpc_count, sizeof *e->next_report);
    for (int sm = 0; sm < e->sm_count; sm++)
        e->ports[gpu->topology.gpc_of_sm[sm]].size += (uint32_t)gpu->limits.blocks_per_sm;
    for (int g = 0; g < e->gpc_count; g++) {
        e->ports[g].ring = wt_alloc(e->ports[g].size, sizeof *e->ports[g].ring);
        e->next_report[g] = WT_NEVER;
    }
}

static void set_up(struct engine *e)
{
    const struct wt_gpu *gpu = e->simulation->gpu;
    e->sm_count = gpu->topology.sm_count;
    e->gpc_count = gpu->topology.gpc_count;
    e->origin = WT_NEVER;
    e->visit_time = wt_from_cycles(gpu->rates.visit_cycles);
    e->report_time = wt_from_cycles(gpu->rates.report_cycles);
    e->hold_time = wt_from_cycles(gpu->rates.report_hold_cycles);
    e->launch_latency = wt_from_cycles(gpu->rates.launch_latency_cycles);
    e->sms = wt_alloc((size_t)e->sm_count, sizeof *e->sms);
    for (int sm = 0; sm < e->sm_count; sm++)
        e->sms[sm] = wt_sm_new(&gpu->limits);
    e->residents = wt_alloc((size_t)e->sm_count * WT_MAX_SLOTS, sizeof *e->residents);
    wt_endqueue_init(&e->ends, (size_t)e->sm_count * (size_t)gpu->limits.blocks_per_sm);
    wt_room_init(&e->room, &gpu->topology, e->sms);
    set_up_launchers(e);
    set_up_ports(e);
    struct wt_policy_start start = {&gpu->topology, &gpu->rates, e->simulation->seed, e->simulation->first_group,
                                    e->simulation->first_extra_sm};
    e->policy_state = e->policy->create(&start);
}

static void tear_down(struct engine *e)
{
    e->policy->destroy(e->policy_state);
    for (int g = 0; g < e->gpc_count; g++)
        free(e->ports[g].ring);
    for (int sm = 0; sm < e->sm_count; sm++)
        wt_sm_free(e->sms[sm]);
    wt_endqueue_free(&e->ends);
    free(e->sms);
    free(e->launchers);
    free(e->residents);
    free(e->ports);
    free(e->next_report);
}

/* On the empty SMs of the beginning. */
static enum wt_code refuse_misfits(const struct engine *e, struct wt_error *err)
{
    const struct wt_limits *limits = &e->simulation->gpu->limits;
    for (size_t k = 0; k < e->simulation->kernel_count; k++) {
        const struct wt_kernel *kernel = &e->simulation->kernels[k];
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
        for (size_t k = 0; k < simulation->kernel_count && code == WT_OK; k++)
            code = run_kernel(e, k, err);
        tear_down(e);
    }
    free(e);
    return code;
}
