#include "dispatch/simulate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/mem.h"
#include "dispatch/engine.h"

/* ---- Deadlock ---- */

/* What keeps the next block out of most SMs. */
static void find_reason(const struct wt_engine *e, struct wt_stall *stall)
{
    struct wt_refusal_kind kinds[WT_REFUSAL_KINDS];
    if (wt_sm_refusal_kinds(e->sms, e->sm_count, &e->head->kernel->shape, kinds) == 0)
        return;
    stall->sms = kinds[0].sms;
    stall->why = kinds[0].example;
}

/* The head, or else the first in the list that is not over. There is one. */
static const struct wt_grid *stalled_grid(const struct wt_engine *e)
{
    const struct wt_grid *grid = e->head ? e->head : e->grids;
    while (grid->running == 0 && grid->remaining == 0)
        grid++;
    return grid;
}

static enum wt_code stall(const struct wt_engine *e, struct wt_error *err)
{
    const struct wt_grid *grid = stalled_grid(e);
    struct wt_stall stall = {.kernel = grid->index, .next_block = grid->next_block, .running = grid->running};
    if (e->head)
        find_reason(e, &stall);
    if (e->simulation->stall)
        *e->simulation->stall = stall;
    return wt_fail(err, WT_DEADLOCK, "deadlock: kernel '%s': none of its %" PRIu64 " running blocks will ever end",
                   grid->kernel->name, stall.running);
}

/* ---- The engine ---- */

static wt_time offset_of(const struct wt_numbers *offsets, int tpc)
{
    return wt_from_cycles(wt_of_tpc(offsets, tpc));
}

static void set_up_launchers(struct wt_engine *e)
{
    const struct wt_gpu *gpu = e->simulation->gpu;
    const struct wt_topology *t = &gpu->topology;
    e->launchers = wt_alloc_lines((size_t)e->sm_count, sizeof *e->launchers);
    for (int sm = 0; sm < e->sm_count; sm++) {
        int tpc = t->tpc_of_sm[sm];
        int partner = sm;
        if (sm > 0 && t->tpc_of_sm[sm - 1] == tpc)
            partner = sm - 1;
        else if (sm + 1 < e->sm_count && t->tpc_of_sm[sm + 1] == tpc)
            partner = sm + 1;
        e->launchers[sm] = (struct wt_launcher){
            .launch_latency = e->launch_latency + offset_of(&gpu->rates.launch_offset_cycles, tpc),
            .turn = e->simulation->used_tpcs && e->simulation->used_tpcs[tpc],
            .partner = (uint16_t)partner,
        };
    }
}

static void set_up_grids(struct wt_engine *e)
{
    size_t count = (size_t)e->simulation->gpu->limits.resident_grids;
    e->grids = wt_alloc(count, sizeof *e->grids);
    for (size_t i = count; i-- > 0;) {
        e->grids[i].first_start = WT_NEVER;
        e->grids[i].number = (uint16_t)i;
        e->grids[i].next = e->free_grids;
        e->free_grids = &e->grids[i];
    }
}

static void set_up_front_end(struct wt_engine *e)
{
    wt_time gap = wt_from_cycles(e->simulation->gpu->rates.kernel_gap_cycles);
    if (e->simulation->front_end)
        e->front_end = *e->simulation->front_end;
    else
        e->front_end = wt_serial_front_end(&e->serial, e->simulation->kernel_count,
                                           wt_later(gap, e->launch_latency) - e->launch_latency);
}

static void set_up(struct wt_engine *e)
{
    const struct wt_gpu *gpu = e->simulation->gpu;
    e->sm_count = gpu->topology.sm_count;
    e->origin = WT_NEVER;
    e->visit_time = wt_from_cycles(gpu->rates.visit_cycles);
    e->ready_time = wt_from_cycles(gpu->rates.report_ready_cycles);
    e->view_time = wt_from_cycles(gpu->rates.report_view_cycles);
    e->launch_latency = wt_from_cycles(gpu->rates.launch_latency_cycles);
    e->used_time = wt_from_cycles(gpu->rates.used_tpc_cycles);
    e->turns = 1;
    e->sms = wt_alloc((size_t)e->sm_count, sizeof *e->sms);
    for (int sm = 0; sm < e->sm_count; sm++)
        e->sms[sm] = wt_sm_new(&gpu->limits);
    e->leaving = wt_alloc((size_t)e->sm_count, sizeof *e->leaving);
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

static void tear_down(struct wt_engine *e)
{
    e->policy->destroy(e->policy_state);
    for (int sm = 0; sm < e->sm_count; sm++)
        wt_sm_free(e->sms[sm]);
    wt_endqueue_free(&e->ends);
    wt_links_free(e->links);
    free(e->sms);
    free(e->launchers);
    free(e->leaving);
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
static enum wt_code refuse_misfits(const struct wt_engine *e, struct wt_error *err)
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
    struct wt_engine *e = wt_alloc(1, sizeof *e);
    e->simulation = simulation;
    e->sharing = simulation->sharing;
    e->watched = simulation->watch_count > 0;
    e->placed = (simulation->front_end && simulation->kernel_count > 1) || e->watched || e->sharing;
    e->policy = simulation->policy;
    enum wt_code code = find_policy(simulation->gpu, &e->policy, err);
    if (code == WT_OK) {
        set_up(e);
        code = refuse_misfits(e, err);
        if (code == WT_OK) {
            wt_engine_run(e);
            code = e->grid_count ? stall(e, err) : WT_OK;
        }
        if (simulation->first_start)
            *simulation->first_start = e->origin == WT_NEVER ? 0 : e->origin;
        tear_down(e);
    }
    free(e);
    return code;
}
