#include "study/sampled.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

/* A launch's program on the part, whose block j stands for the whole grid's block at the same part of it. */
struct standing_in {
    const struct wt_warp_kernel *of;
    uint64_t blocks, grid;
};

struct sampling {
    const struct wt_launches *launches;
    struct wt_gpu part;
    int sms;
    struct wt_kernel *kernels;      /* by launch, on the part */
    struct wt_warp_kernel *programs;
    struct standing_in *standing_in;
    double *sums, *counts; /* by launch and SM: of block durations, of blocks */
    struct wt_sampled *sample;
};

enum { LEAST_FOR_THREADS = 16 /* SMs: with fewer, threads wait for each other longer than they work */ };

/* ---- The part of a GPU ---- */

static uint16_t *numbers(int count, int divisor)
{
    uint16_t *list = wt_alloc((size_t)count, sizeof *list);
    for (int i = 0; i < count; i++)
        list[i] = (uint16_t)(i / divisor);
    return list;
}

/* Ways to L2, which have equal shares of it (warp/machine.h), and how far SMs' shares differ for it: their variance about 1. */
struct ports {
    int count, largest;
    double uneven;
};

/* Each GPC's SMs, `most` to a way; the last one of a GPC may serve fewer. */
static struct ports ports_of(const int *gpc_sizes, int gpcs, int most)
{
    struct ports ports = {0};
    double sms = 0, sum = 0;
    for (int gpc = 0; gpc < gpcs; gpc++) {
        int size = gpc_sizes[gpc], full = size / most, rest = size % most;
        ports.count += full + (rest > 0);
        ports.largest = full > 0 ? most : rest > ports.largest ? rest : ports.largest;
        sum += (double)full / most + (rest > 0 ? 1.0 / rest : 0);
        sms += size;
    }
    ports.uneven = sms * sum / ports.count / ports.count - 1;
    return ports;
}

static struct ports ports_of_gpu(const struct wt_gpu *gpu)
{
    const struct wt_topology *topology = &gpu->topology;
    int sizes[WT_MAX_SMS] = {0};
    for (int sm = 0; sm < topology->sm_count; sm++)
        sizes[topology->gpc_of_sm[sm]]++;
    return ports_of(sizes, topology->gpc_count, gpu->memory.l2_write_port_sms >= 1 ? (int)gpu->memory.l2_write_port_sms : WT_MAX_SMS);
}

/* Ways that are as uneven as the GPU's, and as wide for each SM of the larger ones, which are the last to be done. */
static void share_ports(struct wt_gpu *part, const struct wt_gpu *gpu, int sms)
{
    struct ports whole = ports_of_gpu(gpu);
    int best = sms;
    double least = INFINITY;
    for (int most = sms < 2 ? sms : 2; most <= sms && most <= gpu->topology.sm_count / whole.count + 1; most++) {
        double miss = fabs(ports_of(&sms, 1, most).uneven - whole.uneven);
        if (miss <= least) {
            least = miss;
            best = most;
        }
    }
    part->memory.l2_write_port_sms = best;
    part->memory.l2_write_port_bytes *= (double)ports_of(&sms, 1, best).largest / whole.largest;
}

/* One group and one GPC of `sms` SMs, in TPCs of two. Strings and curves stay the GPU's. */
static struct wt_gpu part_of(const struct wt_gpu *gpu, int sms)
{
    struct wt_gpu part = *gpu;
    double share = (double)sms / gpu->topology.sm_count;
    part.topology = (struct wt_topology){.sm_count = sms, .group_count = 1, .tpc_count = (sms + 1) / 2, .gpc_count = 1, .extra_group = -1,
                                         .group_of_sm = numbers(sms, sms), .rank_in_group = numbers(sms, 1),
                                         .tpc_of_sm = numbers(sms, 2), .gpc_of_sm = numbers(sms, sms)};
    part.topology.groups[0] = (struct wt_group){sms, numbers(sms, 1)};
    part.rates.launch_offset_cycles = part.rates.report_offset_cycles = (struct wt_numbers){0};
    part.rates.report_cycles /= share;
    part.memory_gbs *= share;
    part.memory.l2_gpu_bytes *= share;
    part.memory.l2_fabric_bytes *= share;
    part.memory.l2_slice_request /= share;
    part.memory.l2_dirty_mib *= share;
    part.memory.atomic_interval /= share;
    share_ports(&part, gpu, sms);
    return part;
}

static void free_part(struct wt_gpu *part)
{
    struct wt_topology *t = &part->topology;
    free(t->group_of_sm);
    free(t->rank_in_group);
    free(t->tpc_of_sm);
    free(t->gpc_of_sm);
    free(t->groups[0].sms);
}

/* ---- The sample ---- */

static double work_of(void *context, uint64_t block)
{
    const struct standing_in *in = context;
    return in->of->work(in->of->context, (uint64_t)((double)block / (double)in->blocks * (double)in->grid));
}

static void prepare_launch(struct sampling *s, size_t i, int of)
{
    const struct wt_kernel *kernel = &s->launches->kernels[i];
    const struct wt_warp_kernel *program = &wt_launches_programs(s->launches)[i];
    double blocks = round((double)kernel->grid_blocks * s->sms / of);
    s->standing_in[i] = (struct standing_in){program, blocks < 1 ? 1 : (uint64_t)blocks, kernel->grid_blocks};
    s->kernels[i] = *kernel;
    s->kernels[i].grid_blocks = s->standing_in[i].blocks;
    s->programs[i] = *program;
    if (program->work) {
        s->programs[i].work = work_of;
        s->programs[i].context = &s->standing_in[i];
    }
    struct wt_sampled_launch *launch = &s->sample->launches[i];
    launch->blocks = s->standing_in[i].blocks;
    launch->grid = kernel->grid_blocks;
    launch->durations = wt_alloc(launch->blocks, sizeof *launch->durations);
}

static void take_block(void *context, const struct wt_block_run *run)
{
    struct sampling *s = context;
    s->sample->launches[run->launch].durations[run->block] = run->end - run->start;
    size_t at = (size_t)run->launch * (size_t)s->sms + run->sm;
    s->sums[at] += wt_to_cycles(run->end - run->start);
    s->counts[at]++;
}

/* Of the mean over SMs. */
static double standard_error(const struct sampling *s, size_t launch)
{
    double sum = 0, squares = 0;
    int used = 0;
    for (int sm = 0; sm < s->sms; sm++) {
        size_t at = launch * (size_t)s->sms + (size_t)sm;
        if (s->counts[at] == 0)
            continue;
        double mean = s->sums[at] / s->counts[at];
        sum += mean;
        squares += mean * mean;
        used++;
    }
    if (used < 2)
        return NAN;
    double variance = (squares - sum * sum / used) / (used - 1);
    return sqrt(variance > 0 ? variance / used : 0) / (sum / used);
}

static uint64_t scaled(uint64_t value, double factor)
{
    return (uint64_t)((double)value * factor + 0.5);
}

static struct wt_warp_result scale(struct wt_warp_result result, double factor, int of)
{
    struct wt_warp_counters *c = &result.total;
    uint64_t *values[] = {&c->scheduler_cycles, &c->sm_cycles, &c->issued,     &c->l1_sectors,        &c->l1_hits, &c->l2_sectors,
                          &c->l2_hits,          &c->dram_bytes, &c->shared_wavefronts, &c->blocks, &c->warps};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i] = scaled(*values[i], factor);
    for (int i = 0; i < WT_STALL_COUNT; i++)
        c->warp_cycles[i] = scaled(c->warp_cycles[i], factor);
    result.sms = result.sms * factor < of ? (int)(result.sms * factor + 0.5) : of;
    return result;
}

static enum wt_code simulate(struct sampling *s, struct wt_warp *warp, uint64_t seed, int of, struct wt_error *err)
{
    struct wt_sharing sharing = wt_warp_sharing(warp);
    struct wt_observer observer = {.context = s, .block_done = take_block};
    struct wt_simulation simulation = {.gpu = &s->part,
                                       .kernels = s->kernels,
                                       .kernel_count = s->launches->count,
                                       .seed = seed,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .sharing = &sharing,
                                       .observers = &observer,
                                       .observer_count = 1};
    WT_TRY(wt_simulate(&simulation, err));
    for (size_t i = 0; i < s->launches->count; i++) {
        struct wt_sampled_launch *launch = &s->sample->launches[i];
        launch->result = scale(wt_warp_result(warp, (uint32_t)i), (double)launch->grid / (double)launch->blocks, of);
        launch->standard_error = standard_error(s, i);
    }
    return WT_OK;
}

static enum wt_code simulate_part(struct sampling *s, const struct wt_scheduler *scheduler, uint64_t seed, int of, struct wt_error *err)
{
    struct wt_warp_setup setup = {.gpu = &s->part, .kernels = s->programs, .kernel_count = s->launches->count, .seed = seed,
                                  .scheduler = scheduler, .threads = s->sms < LEAST_FOR_THREADS ? 1 : 0};
    struct wt_warp *warp;
    WT_TRY(wt_warp_new(&setup, &warp, err));
    enum wt_code code = simulate(s, warp, seed, of, err);
    wt_warp_free(warp);
    return code;
}

static enum wt_code check(const struct wt_launches *launches, const struct wt_gpu *gpu, int sms, struct wt_error *err)
{
    if (launches->program)
        return wt_fail(err, WT_BAD_INPUT, "--detail sampled is of kernels one after another, and this workload has a host program; "
                       "take --detail full");
    if (sms < 1 || sms > gpu->topology.sm_count)
        return wt_fail(err, WT_BAD_INPUT, "--detail sampled: %s has %d SMs to sample, not %d", gpu->name, gpu->topology.sm_count, sms);
    for (size_t i = 0; i < launches->count; i++)
        if (launches->kernels[i].cluster > 1)
            return wt_fail(err, WT_BAD_INPUT, "--detail sampled: kernel '%s' has clusters, which a part of a GPU would place otherwise; "
                           "take --detail full", launches->kernels[i].name);
    return WT_OK;
}

enum wt_code wt_sampled_run(const struct wt_launches *launches, const struct wt_gpu *gpu, int sms, uint64_t seed,
                            const struct wt_scheduler *scheduler, struct wt_sampled **out, struct wt_error *err)
{
    size_t count = launches->count;
    *out = NULL;
    WT_TRY(check(launches, gpu, sms, err));
    struct wt_sampled *sample = wt_alloc(1, sizeof *sample);
    *sample = (struct wt_sampled){.sms = sms, .of = gpu->topology.sm_count, .count = count};
    sample->launches = wt_alloc(count, sizeof *sample->launches);
    struct sampling s = {.launches = launches,
                         .part = part_of(gpu, sms),
                         .sms = sms,
                         .kernels = wt_alloc(count, sizeof *s.kernels),
                         .programs = wt_alloc(count, sizeof *s.programs),
                         .standing_in = wt_alloc(count, sizeof *s.standing_in),
                         .sums = wt_alloc(count * (size_t)sms, sizeof *s.sums),
                         .counts = wt_alloc(count * (size_t)sms, sizeof *s.counts),
                         .sample = sample};
    for (size_t i = 0; i < count; i++)
        prepare_launch(&s, i, gpu->topology.sm_count);
    enum wt_code code = simulate_part(&s, scheduler, seed, gpu->topology.sm_count, err);
    free_part(&s.part);
    free(s.kernels);
    free(s.programs);
    free(s.standing_in);
    free(s.sums);
    free(s.counts);
    if (code == WT_OK)
        *out = sample;
    else
        wt_sampled_free(sample);
    return code;
}

void wt_sampled_free(struct wt_sampled *sample)
{
    if (!sample)
        return;
    for (size_t i = 0; i < sample->count; i++)
        free(sample->launches[i].durations);
    free(sample->launches);
    free(sample);
}

/* ---- For the whole GPU ---- */

static wt_time duration_of(void *context, uint64_t block)
{
    const struct wt_sampled_launch *launch = context;
    return launch->durations[(uint64_t)((double)block / (double)launch->grid * (double)launch->blocks)];
}

void wt_sampled_use(struct wt_sampled *sample, struct wt_launches *launches)
{
    for (size_t i = 0; i < sample->count; i++)
        launches->kernels[i].cost = (struct wt_cost){.duration = duration_of, .context = &sample->launches[i]};
    wt_launches_drop_warps(launches);
}
