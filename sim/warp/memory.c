#include <math.h>

#include "warp/machine.h"

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

static inline double taken_by(struct wt_channel *channel, double from, double bytes)
{
    channel->demand += bytes;
    channel->free = later(channel->free, from) + bytes / channel->rate;
    return channel->free;
}

wt_cycle wt_queue_pass(struct wt_queue *queue, double *unit, double interval, wt_cycle now)
{
    double leave = later(later((double)now, (double)queue->last), *unit);
    *unit = leave + interval;
    wt_cycle left = (wt_cycle)leave + 1;
    queue->leaves[queue->entered++ % WT_MOST_QUEUE] = left;
    queue->last = left;
    return left;
}

/* ---- Shared memory ---- */

static bool is_atomic(const struct wt_access *access)
{
    return access->kind == WT_ACCESS_ATOMIC || access->kind == WT_ACCESS_REDUCE;
}

static wt_cycle shared_access(struct wt_core *core, struct wt_subcore *subcore, const struct wt_access *access,
                              wt_cycle now, wt_cycle *read)
{
    const struct wt_memory_rates *rates = &core->machine->gpu->memory;
    bool store = access->kind == WT_ACCESS_STORE;
    double passes = access->wavefronts * (128 / rates->shared_bytes);
    double busy = passes + (is_atomic(access) ? (access->wavefronts - 1) * (rates->shared_atomic_interval - 1) : 0);
    if (store != core->banks_stored)
        core->banks_free += rates->shared_turn;
    core->banks_stored = store;
    wt_cycle left = wt_queue_pass(&subcore->mio, &core->banks_free, busy, now);
    core->counters.shared_wavefronts += (uint64_t)(access->wavefronts + 0.5f);
    *read = left + 4;
    return left - 1 + (wt_cycle)(rates->shared_latency + busy - 1);
}

/* ---- Global memory ---- */

/* `mean` sectors as a whole number, right on average. */
static uint64_t whole(double mean, struct wt_random *random)
{
    double floor_of = floor(mean);
    return (uint64_t)floor_of + (mean > floor_of && wt_random_unit(random) < mean - floor_of);
}

/* Of `count` sectors those that miss, each with the same probability; lines hit or miss together. */
static double missing(double count, double lines, double hit, struct wt_random *random)
{
    if (hit >= 1)
        return 0;
    if (hit <= 0)
        return count;
    if (lines > 4)
        return count * (1 - hit);
    double misses = 0;
    for (int line = 0; line < (int)(lines + 0.5) || line == 0; line++)
        misses += wt_random_unit(random) >= hit;
    return count * misses / later(1, floor(lines + 0.5));
}

/* The same for L1, where a warp's accesses miss at even intervals: neighbours are fetched by one of them. */
static double missing_in_l1(const struct wt_access *access, double hit, struct wt_one_warp *warp)
{
    if (hit >= 1)
        return 0;
    if (hit <= 0)
        return access->sectors;
    double lines = later(1, floor(access->lines + 0.5f));
    if (warp->l1_due <= 0)
        warp->l1_due = (float)wt_random_unit(&warp->random);
    double due = warp->l1_due + lines * (1 - hit), missed = floor(due);
    warp->l1_due = (float)(due - missed) + 1e-6f;
    return access->sectors * missed / lines;
}

static double estimated_l1(const struct wt_access *access)
{
    return access->l1_hit >= 0 ? access->l1_hit : access->space == WT_SPACE_LOCAL ? 1 : 0;
}

static double estimated_l2(const struct wt_gpu *gpu, const struct wt_access *access)
{
    if (access->l2_hit >= 0)
        return access->l2_hit;
    if (access->footprint_mib <= 0)
        return 0;
    return access->footprint_mib <= gpu->l2_mib ? 1 : gpu->l2_mib / access->footprint_mib;
}

/* One level's latency, to a slice that is near or far. */
static double latency_to(const struct wt_machine *machine, double latency, struct wt_random *random)
{
    return latency * (1 + machine->spread * (2 * wt_random_unit(random) - 1));
}

static double dram_cost(const struct wt_memory_rates *rates, const struct wt_access *access, double sectors, double lines)
{
    if (!access->scattered)
        return 32 * sectors / rates->dram_efficiency;
    return later(32 * sectors, rates->dram_granule_bytes * lines) / rates->dram_scattered;
}

/* Sectors that miss in L2, too. Returns when the last of them is there, less the latency. */
static double from_dram(struct wt_core *core, struct wt_one_warp *warp, const struct wt_access *access, double sectors,
                        double lines, double from)
{
    const struct wt_memory_rates *rates = &core->machine->gpu->memory;
    double bytes = access->scattered ? later(32 * sectors, rates->dram_granule_bytes * lines) : 32 * sectors;
    core->counters.dram_bytes += whole(bytes, &warp->random);
    double done = taken_by(&core->dram, from, dram_cost(rates, access, sectors, lines));
    double luck = wt_random_unit(&warp->random);
    return done + 3 * luck * luck * core->machine->dram_wait;
}

/* A load's sectors that L1 does not have. Returns when the last of them is there. */
static double load_beyond_l1(struct wt_core *core, struct wt_one_warp *warp, const struct wt_access *access, double sectors,
                             double from)
{
    const struct wt_machine *machine = core->machine;
    const struct wt_memory_rates *rates = &machine->gpu->memory;
    double lines = access->sectors > 0 ? access->lines * sectors / access->sectors : 0;
    double misses = missing(sectors, lines, estimated_l2(machine->gpu, access), &warp->random);
    core->port_free = later(core->port_free, from) + 32 * sectors / rates->l2_bytes;
    double looked_up = sectors > 0 ? 1 + misses / sectors / 2 : 1; /* in the half of L2 that is nearer, and where DRAM is */
    double sent = (32 * sectors + rates->l2_request_bytes * lines) * looked_up;
    double done = later(core->port_free, taken_by(&core->l2, from, sent));
    double latency = rates->l2_latency;
    core->counters.l2_sectors += whole(sectors, &warp->random);
    core->counters.l2_hits += whole(sectors - misses, &warp->random);
    if (misses > 0) {
        done = later(done, from_dram(core, warp, access, misses, lines * misses / sectors, from));
        done = later(done, taken_by(&core->fabric, from, 32 * misses));
        latency = rates->dram_latency;
    }
    return done + latency_to(machine, latency, &warp->random);
}

/* What is stored displaces what was stored earlier, and sectors written in part have to be fetched where L2 lacks them. A
 * sector alone in its line takes DRAM for a granule and L2 a line, unless other stores have filled its neighbours meanwhile. */
static void make_dirty(struct wt_core *core, struct wt_one_warp *warp, const struct wt_access *access, double from)
{
    const struct wt_memory_rates *rates = &core->machine->gpu->memory;
    double whole_sectors = 32 * access->sectors, fetched = 0;
    double bytes = access->bytes > 0 && access->bytes < whole_sectors ? access->bytes : whole_sectors;
    if (access->l2_hit >= 0 && bytes < whole_sectors)
        fetched = whole_sectors * (1 - access->l2_hit);
    double written = access->dirty >= 0 ? whole_sectors * access->dirty : later(bytes, fetched);
    double alone = access->scattered ? written / whole_sectors : 0;
    double cost = (1 + alone * (rates->dram_granule_bytes / 32 - 1)) / rates->dram_efficiency;
    core->stored += written * (1 + alone * (4 * access->lines / access->sectors - 1));
    if (!core->machine->writes_back)
        written = 0;
    if (fetched + written <= 0)
        return;
    core->written += written * cost;
    core->counters.dram_bytes += whole(fetched + written, &warp->random);
    taken_by(&core->dram, from, (fetched + written) * cost);
}

/* From when on L1 takes more: those on their way to L2, and what L2 then has to write back, have room in the buffer. */
static double buffer_free(const struct wt_core *core)
{
    const struct wt_memory_rates *rates = &core->machine->gpu->memory;
    double sent = core->l2_in.free - rates->store_buffer_bytes / core->l2_in.rate;
    sent = later(sent, core->slices.free - (double)core->machine->epoch);
    double taken = core->fabric.free - rates->dram_buffer_bytes / core->fabric.rate;
    return later(later(sent, taken), core->dram.free - rates->dram_buffer_bytes / core->dram.rate);
}

/* Slices of L2, all of which have as much to do, among which the access's words lie. */
static double slices_of(const struct wt_memory_rates *rates, const struct wt_access *access)
{
    if (access->words <= 0 || rates->l2_slices <= 0) {
        bool meet = access->wavefronts > 1 || access->bytes <= access->width_bytes;
        return meet || rates->l2_slices <= 0 ? 1 : rates->l2_slices;
    }
    double pieces = ceil(access->words * access->width_bytes / rates->l2_slice_bytes);
    return pieces / ceil(pieces / rates->l2_slices);
}

/* An atomic keeps its slices' arithmetic busy for each sector, or each of the threads that meet in a word, and their tags for
 * each line; half of the lines come by way of another slice. Returns from when on the slices are free again; what an SM asks
 * for within an epoch is served at once. */
static double through_slices(struct wt_core *core, const struct wt_access *access, double from)
{
    const struct wt_memory_rates *rates = &core->machine->gpu->memory;
    if (rates->l2_slices <= 0 && access->wavefronts <= 1)
        return from;
    double slices = slices_of(rates, access), others = rates->l2_slices > 0 ? slices / rates->l2_slices / 2 : 0;
    double busy = later(access->sectors * access->wavefronts * rates->atomic_interval,
                        access->lines * rates->l2_slice_request * (1 + others));
    return taken_by(&core->slices, from, busy / slices) - (double)core->machine->epoch;
}

/* Part of the stores to a line or two that the next one fills before they are sent (lts__t_sectors_op_write, store_2_filled;
 * none with eight lines, store_8_filled). */
#define MERGED 0.54

/* What a store sends: its sectors, and a mask with each line that it writes in part. */
static double stored_bytes(const struct wt_memory_rates *rates, const struct wt_access *access)
{
    double whole_sectors = 32 * access->sectors;
    if (access->bytes <= 0 || access->bytes > whole_sectors - 1)
        return whole_sectors;
    double sent = whole_sectors + rates->l2_write_request_bytes * access->lines;
    bool is_filled = access->lines <= 2 && access->bytes <= whole_sectors / 2 && access->dirty < 0.75f;
    return is_filled ? sent + MERGED * (whole_sectors / 2 - sent) : sent;
}

/* What an atomic sends: a word with its address, or its sectors and a mask with each line. */
static double atomic_bytes(const struct wt_memory_rates *rates, const struct wt_access *access)
{
    double sector = access->kind == WT_ACCESS_REDUCE ? rates->l2_reduce_bytes : rates->l2_atomic_bytes;
    return sector * access->sectors + (access->sectors > 1.5f * access->lines ? rates->l2_write_request_bytes * access->lines : 0);
}

/* Stores and atomics. Returns when they have been acknowledged, or their result is there. */
static double store_to_l2(struct wt_core *core, struct wt_one_warp *warp, const struct wt_access *access, double from)
{
    const struct wt_machine *machine = core->machine;
    const struct wt_memory_rates *rates = &machine->gpu->memory;
    bool store = access->kind == WT_ACCESS_STORE;
    double sent = store ? stored_bytes(rates, access) : atomic_bytes(rates, access);
    double done = taken_by(&core->l2_in, from, sent), latency = rates->l2_latency;
    double hit = store || access->l2_hit < 0 ? 1 : access->l2_hit;
    double misses = missing(access->sectors, access->lines, hit, &warp->random);
    core->counters.l2_sectors += whole(access->sectors, &warp->random);
    core->counters.l2_hits += whole(access->sectors - misses, &warp->random);
    if (store)
        make_dirty(core, warp, access, from);
    if (is_atomic(access)) {
        latency = rates->atomic_latency;
        if (misses > 0)
            done = later(done, from_dram(core, warp, access, misses, access->lines * misses / access->sectors, from));
        done = later(done, through_slices(core, access, from));
    }
    done = later(done, taken_by(&core->fabric, from, store ? sent : 32 * access->sectors));
    core->tags_free = later(core->tags_free, buffer_free(core));
    return done + latency_to(machine, latency, &warp->random);
}

/* Lines that L1 takes in a cycle from L2 while it serves words at random addresses (red_random_16m: 13 cycles for 32 sectors). */
#define L1_FILLS 2.4

static wt_cycle global_access(struct wt_core *core, struct wt_subcore *subcore, struct wt_one_warp *warp,
                              const struct wt_access *access, wt_cycle now, wt_cycle *read)
{
    const struct wt_memory_rates *rates = &core->machine->gpu->memory;
    bool load = access->kind == WT_ACCESS_LOAD;
    double sectors = access->sectors;
    double busy = later(later(access->lines / rates->l1_lines, 32 * sectors / rates->l1_bytes), 1);
    if (load && access->wavefronts > 1)
        busy = access->wavefronts + access->lines * (1 - later(estimated_l1(access), 0)) / L1_FILLS;
    core->tags_free = later(core->tags_free, core->banks_free);
    wt_cycle left = wt_queue_pass(&subcore->lg, &core->tags_free, busy, now);
    core->banks_free = later(core->banks_free, (double)left - 1) + (load && access->wavefronts > 1 ? busy : later(access->lines, 1));
    *read = left + 4;
    double misses = load ? missing_in_l1(access, estimated_l1(access), warp) : sectors;
    core->counters.l1_sectors += whole(sectors, &warp->random);
    core->counters.l1_hits += whole(sectors - misses, &warp->random);
    double looked_up = (double)left - 1 + busy - 1, done = looked_up + rates->l1_latency;
    if (!load) {
        warp->drained = left;
        done = later(done, store_to_l2(core, warp, access, looked_up));
    } else if (misses > 0) {
        done = later(done, load_beyond_l1(core, warp, access, misses, looked_up));
    }
    return (wt_cycle)done;
}

wt_cycle wt_memory_access(struct wt_core *core, struct wt_subcore *subcore, struct wt_one_warp *warp,
                          const struct wt_access *access, wt_cycle now, wt_cycle *read)
{
    bool shared = access->space == WT_SPACE_SHARED || access->space == WT_SPACE_CLUSTER;
    wt_cycle done = shared ? shared_access(core, subcore, access, now, read)
                           : global_access(core, subcore, warp, access, now, read);
    bool store = access->kind == WT_ACCESS_STORE || access->kind == WT_ACCESS_REDUCE;
    if (store && !shared && done > warp->stores_until)
        warp->stores_until = done;
    return done;
}
