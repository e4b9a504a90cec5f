#include "warp/warp.h"

#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "dispatch/endqueue.h"
#include "warp/machine.h"

enum { SHORTEST_EPOCH = 16, LONGEST_EPOCH = 512, SMOOTHING = 16 /* epochs */ };

/* Beyond this use of DRAM's bandwidth its queue says how long an access waits. */
#define MOST_USE 0.93

/* One launch's figures while it runs. */
struct launch {
    struct wt_warp_counters at_begin; /* of all SMs */
    struct wt_warp_counters total;
    wt_time first_start, last_end;
    size_t running; /* blocks */
    bool begun, ended;
};

struct wt_warp {
    struct wt_machine machine;
    struct wt_warp_setup setup;
    struct wt_core *cores;
    int core_count;
    struct wt_endqueue ends; /* of blocks, known so far */
    size_t running;
    wt_cycle horizon; /* every SM has been simulated up to here */
    wt_cycle epoch;   /* cycles */
    double dram_use;  /* of its bandwidth, smoothed */
    double dram_bytes, l2_bytes, fabric_bytes; /* per cycle, all SMs */
    double l2_in_bytes;          /* the same of a port's SMs */
    uint16_t *by_port;           /* SMs, those that share a port to L2 side by side */
    int *port_begin, port_count; /* places in by_port; one more at the end */
    double dram_writes; /* part of DRAM's traffic, smoothed */
    double stored;      /* bytes, by all SMs so far */
    double *wishes, *shares; /* scratch: one per SM, as by_port has them */
    struct launch *launches;
    uint32_t *launch_of_place;
    struct wt_warp_counters *reported; /* per SM: at the beginning of the interval */
    wt_cycle interval_begin;
};

/* ---- Sharing bandwidth ---- */

/* The level up to which each of the wishes is granted, so that all of `capacity` is used: max-min fairness. */
static double fair_level(double *wishes, int count, double capacity)
{
    wt_sort_numbers(wishes, (size_t)count);
    for (int i = 0; i < count; i++) {
        double level = capacity / (count - i);
        if (wishes[i] >= level)
            return level;
        capacity -= wishes[i];
    }
    return INFINITY;
}

enum channel { L2, L2_IN, FABRIC, SLICES, DRAM };

static struct wt_channel *channel_of(struct wt_core *core, enum channel which)
{
    switch (which) {
    case L2:
        return &core->l2;
    case L2_IN:
        return &core->l2_in;
    case FABRIC:
        return &core->fabric;
    case SLICES:
        return &core->slices;
    default:
        return &core->dram;
    }
}

/* An SM wishes for what it has waiting and as much again as it asked for in this epoch, per cycle. Returns all SMs' wishes. */
static double note_wishes(struct wt_warp *w, enum channel which)
{
    double sum = 0;
    for (int i = 0; i < w->core_count; i++) {
        struct wt_channel *channel = channel_of(&w->cores[w->by_port[i]], which);
        double waiting = (channel->free - (double)w->horizon) * channel->rate;
        w->wishes[i] = (channel->demand + (waiting > 0 ? waiting : 0)) / (double)w->epoch;
        channel->demand = 0;
        sum += w->wishes[i];
    }
    return sum;
}

/* An SM of those at [first, end) gets its fair share of what all ask for, or `most` where there is enough for all. */
static void share_among(struct wt_warp *w, enum channel which, int first, int end, double capacity, double most)
{
    int asking = 0;
    for (int i = first; i < end; i++)
        if (w->wishes[i] > 0)
            w->shares[asking++] = w->wishes[i];
    double level = asking ? fair_level(w->shares, asking, capacity) : most;
    for (int i = first; i < end; i++)
        channel_of(&w->cores[w->by_port[i]], which)->rate = level < most ? level : most;
}

/* The same of what all SMs share: first among their ports, then among each port's SMs. */
static void share_by_port(struct wt_warp *w, enum channel which, double capacity, double most)
{
    int asking = 0;
    if (isinf(w->l2_in_bytes)) {
        share_among(w, which, 0, w->core_count, capacity, most);
        return;
    }
    for (int port = 0; port < w->port_count; port++) {
        double wish = 0;
        for (int i = w->port_begin[port]; i < w->port_begin[port + 1]; i++)
            wish += w->wishes[i];
        if (wish > 0)
            w->shares[asking++] = wish;
    }
    double level = asking ? fair_level(w->shares, asking, capacity) : INFINITY;
    for (int port = 0; port < w->port_count; port++)
        share_among(w, which, w->port_begin[port], w->port_begin[port + 1], level, most);
}

/* Where there is enough of the slices' time, what is left goes to those that ask for atomics, too; an SM that begins gets no
 * more than if all that are at work began with it. */
static void share_slices(struct wt_warp *w)
{
    double wished = note_wishes(w, SLICES);
    if (wished > 1) {
        share_by_port(w, SLICES, 1, 1);
        return;
    }
    int asking = 0, working = 0;
    for (int i = 0; i < w->core_count; i++) {
        asking += w->wishes[i] > 0;
        working += w->cores[i].resident_blocks > 0;
    }
    for (int i = 0; i < w->core_count; i++)
        w->cores[w->by_port[i]].slices.rate = w->wishes[i] > 0 ? w->wishes[i] + (1 - wished) / asking : 1 / fmax(working, 1);
}

/* Part of DRAM's bandwidth that is left where reads and writes take turns. */
static double turn(const struct wt_warp *w)
{
    return 1 - 4 * w->setup.gpu->memory.dram_turn * w->dram_writes * (1 - w->dram_writes);
}

/* Accesses meet in channels and banks long before the bandwidth is used up. */
static void update_wait(struct wt_warp *w)
{
    const struct wt_memory_rates *rates = &w->setup.gpu->memory;
    double bytes = 0, written = 0;
    for (int i = 0; i < w->core_count; i++) {
        bytes += w->cores[i].dram.demand;
        written += w->cores[i].written;
        w->stored += w->cores[i].stored;
        w->cores[i].written = w->cores[i].stored = 0;
    }
    w->machine.writes_back = w->stored > rates->l2_dirty_mib * 1048576;
    if (bytes > 0)
        w->dram_writes += (written / bytes - w->dram_writes) / SMOOTHING;
    double now = bytes / (w->dram_bytes * turn(w) * (double)w->epoch);
    w->dram_use += (now - w->dram_use) / SMOOTHING;
    double use = w->dram_use < MOST_USE ? w->dram_use : MOST_USE;
    w->machine.dram_wait = rates->dram_contention * pow(use / (1 - use), 0.75);
}

/* One SM's, whole lines with what their requests take. */
static double port_of(const struct wt_memory_rates *rates)
{
    return rates->l2_bytes * (1 + rates->l2_request_bytes / 128);
}

static void share_bandwidth(struct wt_warp *w)
{
    update_wait(w);
    const struct wt_memory_rates *rates = &w->setup.gpu->memory;
    note_wishes(w, L2);
    share_by_port(w, L2, w->l2_bytes, port_of(rates));
    note_wishes(w, FABRIC);
    share_by_port(w, FABRIC, w->fabric_bytes, rates->l2_bytes);
    share_slices(w);
    note_wishes(w, DRAM);
    share_by_port(w, DRAM, w->dram_bytes * turn(w), rates->l2_bytes);
    note_wishes(w, L2_IN);
    for (int i = 0; i < w->port_count; i++)
        share_among(w, L2_IN, w->port_begin[i], w->port_begin[i + 1], w->l2_in_bytes, fmin(port_of(rates), w->l2_in_bytes));
}

/* ---- Epochs ---- */

static void collect_ends(struct wt_warp *w)
{
    for (int i = 0; i < w->core_count; i++) {
        struct wt_core *core = &w->cores[i];
        for (int e = 0; e < core->end_count; e++)
            wt_endqueue_push(&w->ends, (struct wt_running){core->ends[e].time * WT_CYCLE,
                                                           (uint32_t)(i * WT_MAX_SLOTS + core->ends[e].slot)});
        core->end_count = 0;
    }
}

static bool wants_intervals(const struct wt_warp *w)
{
    return w->setup.observer && w->setup.observer->interval;
}

/* What has been done since the last report. */
static void report_interval(struct wt_warp *w)
{
    const struct wt_warp_observer *observer = w->setup.observer;
    wt_time origin = w->machine.origin, from = w->interval_begin * WT_CYCLE, to = w->horizon * WT_CYCLE;
    from = from > origin ? from - origin : 0;
    for (int i = 0; i < w->core_count; i++) {
        struct wt_core *core = &w->cores[i];
        wt_core_settle(core, w->horizon);
        struct wt_warp_counters since = wt_warp_counters_since(&core->counters, &w->reported[i]);
        w->reported[i] = core->counters;
        observer->interval(observer->context, i, from, to - origin, &since);
    }
    w->interval_begin = w->horizon;
}

static wt_cycle next_of_all(const struct wt_warp *w)
{
    wt_cycle next = WT_NEVER;
    for (int i = 0; i < w->core_count; i++) {
        wt_cycle own = wt_core_next(&w->cores[i]);
        next = own < next ? own : next;
    }
    return next;
}

/* Simulates one epoch, or skips to the next event where that is further away. */
static void run_epoch(struct wt_warp *w)
{
    wt_cycle until = w->horizon + w->epoch, next = next_of_all(w);
    if (next >= until) {
        w->horizon = next == WT_NEVER ? until : next / w->epoch * w->epoch;
        return;
    }
#pragma omp parallel for schedule(dynamic, 4) num_threads(w->setup.threads)
    for (int i = 0; i < w->core_count; i++)
        wt_core_run_sampled(&w->cores[i], until);
    w->horizon = until;
    collect_ends(w);
    share_bandwidth(w);
    if (wants_intervals(w) && (w->horizon - w->interval_begin) * WT_CYCLE >= w->setup.observer->interval_length)
        report_interval(w);
}

/* Goes on until the first end is known that lies at or before `until`, or that there is none. Blocks begun later start no
 * sooner than a launch latency, which is no less than an epoch, after `until`. */
static wt_time next_end(void *context, wt_time until)
{
    struct wt_warp *w = context;
    while (w->running > 0 && w->horizon * WT_CYCLE <= until && wt_endqueue_next(&w->ends) > w->horizon * WT_CYCLE) {
        if (next_of_all(w) == WT_NEVER)
            break;
        run_epoch(w);
    }
    return wt_endqueue_next(&w->ends);
}

/* ---- Launches ---- */

static struct wt_warp_counters sum_of_all(const struct wt_warp *w)
{
    struct wt_warp_counters sum = {0};
    for (int i = 0; i < w->core_count; i++)
        wt_warp_counters_add(&sum, &w->cores[i].counters);
    return sum;
}

static void end_launch(struct wt_warp *w, struct launch *launch)
{
    for (int i = 0; i < w->core_count; i++)
        wt_core_settle(&w->cores[i], w->horizon);
    struct wt_warp_counters now = sum_of_all(w);
    launch->total = wt_warp_counters_since(&now, &launch->at_begin);
    launch->ended = true;
}

static void begin_launch(struct wt_warp *w, uint32_t kernel, wt_time start)
{
    struct launch *launch = &w->launches[kernel];
    if (launch->begun)
        return;
    for (size_t i = 0; i < w->setup.kernel_count; i++)
        if (w->launches[i].begun && !w->launches[i].ended && w->launches[i].running == 0)
            end_launch(w, &w->launches[i]);
    *launch = (struct launch){.at_begin = sum_of_all(w), .first_start = start, .begun = true};
}

/* ---- For the dispatcher ---- */

static void begin(void *context, uint32_t id, uint32_t kernel, uint64_t block, wt_time start)
{
    struct wt_warp *w = context;
    w->machine.origin = start < w->machine.origin ? start : w->machine.origin;
    begin_launch(w, kernel, start);
    wt_cycle cycle = (start + WT_CYCLE - 1) / WT_CYCLE;
    wt_core_announce(&w->cores[id / WT_MAX_SLOTS], (int)(id % WT_MAX_SLOTS), kernel, block,
                     cycle < w->horizon ? w->horizon : cycle);
    w->launch_of_place[id] = kernel;
    w->launches[kernel].running++;
    w->running++;
}

static uint32_t take_end(void *context)
{
    struct wt_warp *w = context;
    struct wt_running ended = wt_endqueue_pop(&w->ends);
    w->running--;
    struct launch *launch = &w->launches[w->launch_of_place[ended.id]];
    launch->running--;
    if (ended.end > launch->last_end)
        launch->last_end = ended.end;
    return ended.id;
}

struct wt_sharing wt_warp_sharing(struct wt_warp *w)
{
    return (struct wt_sharing){.context = w, .begin = begin, .next_end = next_end, .take_end = take_end};
}

/* ---- Setting up ---- */

static void set_up_subcore(const struct wt_warp *w, struct wt_subcore *subcore)
{
    const struct wt_warp_rates *rates = &w->setup.gpu->warp;
    subcore->next = subcore->far_next = subcore->issued_at = WT_NEVER;
    subcore->mio.depth = (uint32_t)rates->mio_queue;
    subcore->lg.depth = (uint32_t)rates->lg_queue;
    subcore->special.depth = (uint32_t)rates->special_queue;
    subcore->barriers.depth = (uint32_t)rates->barrier_queue;
    subcore->choice.last = -1;
    subcore->choice.age = subcore->ages;
    subcore->choice.ready = subcore->ready_since;
    subcore->warps = wt_alloc((size_t)w->machine.slots, sizeof *subcore->warps);
}

static void set_up_core(struct wt_warp *w, int index)
{
    struct wt_core *core = &w->cores[index];
    const struct wt_warp_observer *observer = w->setup.observer;
    core->machine = &w->machine;
    core->index = index;
    core->coming_next = WT_NEVER;
    core->next_sample = observer && observer->sample ? 0 : WT_NEVER;
    core->reports_issues = observer && observer->issue && observer->issue_sm == index;
    if (observer && observer->state && observer->issue_sm == index) {
        core->watched = wt_alloc(1, sizeof *core->watched);
        core->watched->subcore = &core->subcores[observer->watched_subcore];
    }
    core->lines_ready = wt_alloc(w->machine.line_count, sizeof *core->lines_ready);
    core->l2.rate = port_of(&w->setup.gpu->memory);
    core->l2_in.rate = fmin(core->l2.rate, w->l2_in_bytes);
    core->dram.rate = core->fabric.rate = w->setup.gpu->memory.l2_bytes;
    core->slices.rate = 1.0 / w->core_count;
    for (int i = 0; i < WT_MAX_SLOTS; i++)
        core->blocks[i].loop_counts = wt_alloc(WT_MOST_LOOPS, sizeof *core->blocks[i].loop_counts);
    for (int s = 0; s < w->machine.subcore_count; s++)
        set_up_subcore(w, &core->subcores[s]);
}

static void set_up_machine(struct wt_warp *w)
{
    const struct wt_gpu *gpu = w->setup.gpu;
    struct wt_machine *machine = &w->machine;
    machine->gpu = gpu;
    machine->setup = &w->setup;
    machine->subcore_count = gpu->limits.subcores;
    machine->slots = gpu->limits.warps_per_sm / gpu->limits.subcores;
    machine->spread = gpu->memory.spread;
    machine->origin = WT_NEVER;
    machine->steps = wt_alloc(w->setup.kernel_count, sizeof(struct wt_step *));
    for (size_t i = 0; i < w->setup.kernel_count; i++)
        machine->steps[i] = wt_steps_make(w->setup.kernels[i].program, gpu, &machine->line_count);
}

/* Bytes per cycle; a GPU of which nothing is known has an H200's for each SM. */
static double dram_rate(const struct wt_gpu *gpu)
{
    if (gpu->memory_gbs <= 0 || gpu->clock_mhz <= 0)
        return 18.4 * gpu->topology.sm_count;
    return gpu->memory_gbs * 1e3 / gpu->clock_mhz;
}

/* The SMs of a GPC send to L2 through ports, so many through each; the last one may serve fewer. */
static void set_up_ports(struct wt_warp *w)
{
    const struct wt_topology *topology = &w->setup.gpu->topology;
    const struct wt_memory_rates *rates = &w->setup.gpu->memory;
    w->l2_in_bytes = rates->l2_write_port_bytes > 0 ? rates->l2_write_port_bytes : INFINITY;
    w->by_port = wt_alloc((size_t)w->core_count, sizeof *w->by_port);
    w->port_begin = wt_alloc((size_t)w->core_count + 1, sizeof *w->port_begin);
    int most = rates->l2_write_port_sms > 0 ? (int)rates->l2_write_port_sms : w->core_count, placed = 0;
    for (int gpc = 0; gpc < topology->gpc_count; gpc++) {
        int in_port = 0;
        for (int sm = 0; sm < w->core_count; sm++) {
            if (topology->gpc_of_sm[sm] != gpc)
                continue;
            if (in_port++ % most == 0)
                w->port_begin[w->port_count++] = placed;
            w->by_port[placed++] = (uint16_t)sm;
        }
    }
    w->port_begin[w->port_count] = placed;
}

static void set_up(struct wt_warp *w)
{
    const struct wt_gpu *gpu = w->setup.gpu;
    set_up_machine(w);
    double latency = gpu->rates.launch_latency_cycles;
    w->epoch = w->machine.epoch = (wt_cycle)(latency < SHORTEST_EPOCH ? SHORTEST_EPOCH : latency > LONGEST_EPOCH ? LONGEST_EPOCH : latency);
    w->dram_bytes = dram_rate(gpu);
    w->l2_bytes = gpu->memory.l2_gpu_bytes > 0 ? gpu->memory.l2_gpu_bytes : INFINITY;
    w->fabric_bytes = gpu->memory.l2_fabric_bytes > 0 ? gpu->memory.l2_fabric_bytes : INFINITY;
    w->core_count = gpu->topology.sm_count;
    set_up_ports(w);
    w->cores = wt_alloc((size_t)w->core_count, sizeof *w->cores);
    w->shares = wt_alloc((size_t)w->core_count, sizeof *w->shares);
    w->wishes = wt_alloc((size_t)w->core_count, sizeof *w->wishes);
    w->reported = wt_alloc((size_t)w->core_count, sizeof *w->reported);
    w->launches = wt_alloc(w->setup.kernel_count, sizeof *w->launches);
    w->launch_of_place = wt_alloc((size_t)w->core_count * WT_MAX_SLOTS, sizeof *w->launch_of_place);
    wt_endqueue_init(&w->ends, (size_t)w->core_count * WT_MAX_SLOTS);
    for (int i = 0; i < w->core_count; i++)
        set_up_core(w, i);
}

static enum wt_code check(const struct wt_warp_setup *setup, const struct wt_scheduler **scheduler, struct wt_error *err)
{
    const struct wt_limits *limits = &setup->gpu->limits;
    if (limits->warps_per_sm / limits->subcores > WT_MOST_SUBCORE_WARPS)
        return wt_fail(err, WT_BAD_INPUT, "%s: the warp level takes at most %d warps per sub-core", setup->gpu->name,
                       WT_MOST_SUBCORE_WARPS);
    *scheduler = setup->scheduler ? setup->scheduler : wt_scheduler_find(setup->gpu->warp.scheduler);
    if (!*scheduler)
        return wt_fail(err, WT_BAD_INPUT, "%s: there is no warp scheduler '%s'; there are gto, cggty, lrr, two-level",
                       setup->gpu->name, setup->gpu->warp.scheduler);
    for (size_t i = 0; i < setup->kernel_count; i++) {
        WT_TRY(wt_program_check(setup->kernels[i].program, err));
        if (setup->kernels[i].warps < 1 || setup->kernels[i].warps > limits->warps_per_sm)
            return wt_fail(err, WT_BAD_INPUT, "%s: a block has from 1 to %d warps", setup->kernels[i].program->name,
                           limits->warps_per_sm);
    }
    return WT_OK;
}

static int most_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* An epoch of a few SMs is over before other threads have woken up. */
static int useful_threads(int sms)
{
    enum { SMS_PER_THREAD = 8 };
    int most = most_threads(), useful = (sms + SMS_PER_THREAD - 1) / SMS_PER_THREAD;
    return most < useful ? most : useful;
}

enum wt_code wt_warp_new(const struct wt_warp_setup *setup, struct wt_warp **out, struct wt_error *err)
{
    *out = NULL;
    const struct wt_scheduler *scheduler = NULL;
    WT_TRY(check(setup, &scheduler, err));
    struct wt_warp *w = wt_alloc(1, sizeof *w);
    w->setup = *setup;
    if (w->setup.threads <= 0)
        w->setup.threads = useful_threads(setup->gpu->topology.sm_count);
    w->machine.scheduler = scheduler;
    set_up(w);
    *out = w;
    return WT_OK;
}

void wt_warp_finish(struct wt_warp *w)
{
    if (wants_intervals(w) && w->horizon > w->interval_begin)
        report_interval(w);
}

void wt_warp_free(struct wt_warp *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->core_count; i++) {
        for (int s = 0; s < w->machine.subcore_count; s++)
            free(w->cores[i].subcores[s].warps);
        for (int b = 0; b < WT_MAX_SLOTS; b++)
            free(w->cores[i].blocks[b].loop_counts);
        free(w->cores[i].lines_ready);
        free(w->cores[i].watched);
    }
    for (size_t i = 0; i < w->setup.kernel_count; i++)
        free(w->machine.steps[i]);
    free(w->machine.steps);
    wt_endqueue_free(&w->ends);
    free(w->cores);
    free(w->shares);
    free(w->wishes);
    free(w->by_port);
    free(w->port_begin);
    free(w->reported);
    free(w->launches);
    free(w->launch_of_place);
    free(w);
}

struct wt_warp_result wt_warp_result(const struct wt_warp *w, uint32_t kernel)
{
    const struct launch *launch = &w->launches[kernel];
    struct wt_warp_counters total = launch->total;
    if (launch->begun && !launch->ended) {
        total = sum_of_all(w);
        total = wt_warp_counters_since(&total, &launch->at_begin);
    }
    int used = 0;
    for (int i = 0; i < w->core_count; i++)
        used += w->cores[i].counters.blocks > 0;
    return (struct wt_warp_result){.total = total,
                                   .elapsed_cycles = launch->last_end > launch->first_start
                                                         ? wt_to_cycles(launch->last_end - launch->first_start)
                                                         : 0,
                                   .sms = used};
}
