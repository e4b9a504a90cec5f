/* What explains the traces. First, from the measured launch alone: whom an SM favours, and how many warps it takes to saturate
 * it. Simulated with the right values, the k-th end on each SM comes when the k-th end was measured. Where the oldest are favoured ends
 * come one after another from the start, otherwise all resident blocks end together; and the last blocks, that have an SM to
 * themselves, show how fast few warps are. Then other traces: their makespans must come out right. */
#include "study/whatif_run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "sm/occupancy.h"

/* What is tried: saturations from 4 warps per SM, one of each sub-core, upwards; parts that the oldest block takes. */
static const double LEAST_SATURATION = 4, FIRST_STEP = 1.25, STEP = 1.1;
enum { STEPS = 31, MOST_TRIED = 32 };

/* Warps whose requests come together: each of the four sub-cores is a queue of its own. Fits the throughput of 17 kernels at
 * eight residencies within 2 % (median; traces/h200/whatif/truth.csv). */
static const double GRAIN = 4;

/* Explanations are kept that come as near the trace as the nearest one times the first plus the second, of the makespan. A
 * memory that all SMs share is preferred to one of each SM where both are kept. */
static const double KEPT_DISTANCE = 1.25, DISTANCE_NOISE = 0.0005;

/* An explanation may miss the other traces' makespans by so much more than the best one does. A distance from the first trace that
 * is twice the least counts as so much, and at most so much. One that misses by AS_LIKELY more is 0.6 times as likely. */
static const double KEEP = 0.012, AS_LIKELY = 0.004, FAR_OFF = 0.15, TWICE_AS_FAR = 0.04, MOST_FAR = 0.06;
/* Slower for want of cache: where that explains more than so much. It is preferred to a lack of warps where that would take
 * a saturation more than an octave from what the first trace says, in a kernel without shared memory of its own, which
 * relies on the cache alone. The traces themselves do not tell. */
/* Where an SM favours nobody its warps wait for memory, more likely that of all SMs than its own; where it does, its own units. */
static const double LESS_LIKELY = 0.005;
static const double LEAST_CACHE = 1.05, CACHE_MISFIT = 0.006, UNLIKELY_CACHE = 0.02;

/* Durations that differ less than this (standard deviation of the logarithm) are taken for those of equal blocks where the
 * trace does not state works: where the oldest are favoured, so much comes from being served or not. */
static const double EQUAL_BLOCKS = 0.35, TYPICAL_FAVOUR = 0.5, TYPICAL_SATURATION = 10,
                    TYPICAL_MEMORY = 16, TYPICAL_OCTAVE = 0.0003;
/* But not where one block in so many has more than so many times the work of half of them. (19 kernels of equal blocks: none has; one or two
 * of `atomic_spread`'s 4,096 blocks have three times as much.) */
static const double FEW_BLOCKS = 0.001, MUCH_MORE = 4;
/* An SM's shortest block still shares with others: so many times as many warps as saturate the SM are what it would take if
 * it did not (1.2 to 2.3; 14 kernels). */
static const double SHORTEST_SHARES = 1.75;

/* Where works are drawn, saturations further than this from the nearest are not looked at: ends that differ by chance do not tell how much
 * worse they are. */
static const double DRAWN_OCTAVES = 1;

/* With fewer blocks at once on an SM a trace shows little of whom it favours. */
enum { FAVOUR_BLOCKS = 4 };

/* SMs whose numbers of equal blocks differ more than this (standard deviation, of the mean) were not held up by limits of their own, which
 * are the same for all: atomics and chains of loads 0.10 to 0.16, whatever the size of blocks; loads and stores 0.02 to 0.03; pipes,
 * barriers and shared memory 0.01. */
static const double UNEQUAL_SMS = 0.07;

/* ---- Each block's part of the work ---- */

static struct wt_bound bound_of(const struct wt_whatif *whatif, enum wt_whatif_mode mode, double saturation, double favour)
{
    if (mode == WT_MODE_GPU && whatif->unit)
        return (struct wt_bound){.gpu = true, .saturation = saturation, .crowding = WT_CROWDING};
    return (struct wt_bound){.gpu = mode == WT_MODE_GPU, .favour = mode == WT_MODE_GPU ? 0 : favour, .saturation = saturation,
                             .grain = GRAIN};
}

static double octaves(double a, double b)
{
    return fabs(log2(a / b));
}

static double inequality(const double *work, const struct wt_stays *stays, bool stated)
{
    double sum = 0, squares = 0, count = 0;
    for (uint64_t i = 0; i < stays->count; i++) {
        double beside = stated ? stays->list[i].work : 1;
        if (!stays->list[i].replaced || work[i] <= 0 || beside <= 0)
            continue;
        double x = log(work[i] / beside);
        sum += x;
        squares += x * x;
        count++;
    }
    return count > 0 ? sqrt(fmax(0, squares / count - sum / count * (sum / count))) : 0;
}

/* The works under the bound that makes them least unequal, of some that differ in whom an SM favours. */
static void invert(const struct wt_whatif *whatif, enum wt_whatif_mode mode, double saturation, double *parts)
{
    const struct wt_stays *stays = whatif->stays;
    static const double favours[] = {0, 0.12, 0.3, 0.6};
    double *tried = wt_alloc(stays->count, sizeof *tried), least = INFINITY;
    for (size_t i = 0; i < (isinf(saturation) ? 1 : sizeof favours / sizeof *favours); i++) { /* nobody is favoured where all is there */
        struct wt_bound bound = bound_of(whatif, mode, saturation, favours[i]);
        wt_stays_work(stays, &bound, tried);
        double unequal = inequality(tried, stays, false);
        if (unequal < least || i == 0)
            memcpy(parts, tried, stays->count * sizeof *parts);
        least = fmin(least, unequal);
    }
    free(tried);
}

/* A few blocks with several times the work of most hardly show in the mean inequality. */
static bool have_few_more(const double *parts, uint64_t count)
{
    double *sorted = wt_alloc(count, sizeof *sorted);
    memcpy(sorted, parts, count * sizeof *sorted);
    wt_sort_numbers(sorted, count);
    double median = sorted[count / 2], nearly_most = sorted[(uint64_t)((double)(count - 1) * (1 - FEW_BLOCKS))];
    free(sorted);
    return nearly_most > MUCH_MORE * median;
}

static void find_parts(struct wt_whatif *whatif, enum wt_whatif_mode mode)
{
    const struct wt_stays *stays = whatif->stays;
    double *parts = whatif->parts[mode] = wt_alloc(stays->count, sizeof *parts);
    invert(whatif, mode, whatif->fixed ? INFINITY : TYPICAL_SATURATION, parts);
    if (whatif->fixed)
        return;
    double equal = inequality(parts, stays, false), stated = inequality(parts, stays, true);
    if (stays->works_stated && stated <= equal + 0.02)
        for (uint64_t i = 0; i < stays->count; i++)
            parts[i] = stays->list[i].work;
    else if (equal < EQUAL_BLOCKS && !have_few_more(parts, stays->count))
        for (uint64_t i = 0; i < stays->count; i++)
            parts[i] = 1;
}

static double mean_part(const struct wt_whatif *whatif, enum wt_whatif_mode mode)
{
    double sum = 0;
    for (uint64_t i = 0; i < whatif->stays->count; i++)
        sum += whatif->parts[mode][i];
    return sum / (double)whatif->stays->count;
}

/* ---- Against the trace ---- */

/* Numbers that differ by one are equal: those differ by half from the mean, at most. */
static bool are_sms_unequal(const struct wt_whatif *whatif)
{
    const struct wt_stays *stays = whatif->stays;
    double *done = wt_alloc((size_t)stays->sm_count, sizeof *done), mean = (double)stays->count / stays->sm_count, squares = 0;
    bool equal = true;
    for (uint64_t i = 0; i < stays->count; i++) {
        done[stays->list[i].sm]++;
        equal &= whatif->parts[WT_MODE_SM][i] == whatif->parts[WT_MODE_SM][0];
    }
    for (int sm = 0; sm < stays->sm_count; sm++)
        squares += (done[sm] - mean) * (done[sm] - mean);
    free(done);
    return equal && squares / stays->sm_count > UNEQUAL_SMS * UNEQUAL_SMS * mean * mean + 0.25;
}

static double first_scale(const struct wt_whatif *whatif, const struct wt_explanation *why)
{
    const struct wt_stays *stays = whatif->stays;
    double resident = whatif->occupancy.warps_per_sm, blocks = (double)stays->count / whatif->gpu->topology.sm_count;
    double served = wt_bound_served(&why->bound, fmin(resident, fmax(1, blocks) * stays->warps)) / stays->warps;
    return stays->makespan / fmax(1, blocks) * served / mean_part(whatif, why->mode);
}

/* By how much to stretch a simulation: so that its makespan is the measured one, or where that is up to chance so that half of
 * the blocks have ended when they did. `ends` are sorted. */
static double stretch(const struct wt_whatif *whatif, const double *ends)
{
    uint64_t last = whatif->stays->count - 1, which = whatif->chance ? last / 2 : last;
    return whatif->ends[which] / ends[which];
}

/* Simulates the measured launch and makes the scale right, nearly; the ends, sorted, as they then are. */
static enum wt_code calibrate(const struct wt_whatif *whatif, struct wt_explanation *why, bool coarse, double *ends,
                              struct wt_error *err)
{
    struct wt_whatif_run run;
    WT_TRY(wt_whatif_begin(&run, whatif, &wt_whatif_as_measured, err));
    run.explanation = why;
    run.coarse = coarse;
    run.ends = ends;
    WT_TRY(wt_whatif_simulate(&run, err));
    wt_sort_numbers(ends, run.end_count);
    double factor = stretch(whatif, ends);
    why->scale *= factor;
    for (uint64_t i = 0; i < run.end_count; i++)
        ends[i] *= factor;
    return WT_OK;
}

/* How far the k-th of all ends is from the measured one, on average; of the makespan. Not SM by SM: where blocks are unequal, one
 * that goes elsewhere sends all later ones elsewhere. `ends` are sorted. */
static double distance(const struct wt_whatif *whatif, const double *ends)
{
    const struct wt_stays *stays = whatif->stays;
    double sum = 0;
    for (uint64_t i = 0; i < stays->count; i++)
        sum += fabs(whatif->ends[i] - ends[i]);
    return sum / (double)stays->count / stays->makespan;
}

/* Simulates it, and fills scale and distance. */
static enum wt_code look(const struct wt_whatif *whatif, struct wt_explanation *why, bool coarse, struct wt_error *err)
{
    double *ends = wt_alloc(whatif->stays->count, sizeof *ends);
    why->scale = first_scale(whatif, why);
    enum wt_code code = calibrate(whatif, why, coarse, ends, err);
    if (code == WT_OK)
        why->distance = distance(whatif, ends);
    free(ends);
    return code;
}

/* As many warps as together are served as one block after another ends, if the shortest block had been alone. */
static double most_saturation(const struct wt_whatif *whatif)
{
    const struct wt_stays *stays = whatif->stays;
    const double *parts = whatif->parts[WT_MODE_SM];
    double mean = mean_part(whatif, WT_MODE_SM), shortest = INFINITY;
    for (uint64_t i = 0; i < stays->count; i++)
        if (parts[i] > 0.2 * mean)
            shortest = fmin(shortest, (stays->list[i].read - stays->list[i].start) * mean / parts[i]);
    double each = stays->makespan / (double)stays->count * whatif->gpu->topology.sm_count;
    return stays->warps * shortest / each;
}

/* ---- Whom an SM favours, and what saturates it ---- */

/* Where the trace tells nothing, what is typical: so much of the makespan for each octave, and for favour. */
static double far_from_typical(const struct wt_whatif *whatif, const struct wt_bound *bound)
{
    double typical = bound->gpu ? TYPICAL_MEMORY : whatif->typical;
    return TYPICAL_OCTAVE * fabs(log2(bound->saturation / typical)) + TYPICAL_OCTAVE * fabs(bound->favour - TYPICAL_FAVOUR);
}

/* Looks at explanations of one mode, in parallel. The distances say what is typical where the trace tells nothing. */
static enum wt_code find_distances(const struct wt_whatif *whatif, enum wt_whatif_mode mode, const struct wt_bound *bounds,
                                   int count, struct wt_explanation *tried, double *distances, struct wt_error *err)
{
    struct wt_error *errors = wt_alloc((size_t)count, sizeof *errors);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < count; i++) {
        tried[i] = (struct wt_explanation){.mode = mode, .bound = bounds[i], .cache = 1};
        distances[i] = INFINITY;
        if (look(whatif, &tried[i], true, &errors[i]) == WT_OK)
            distances[i] = tried[i].distance + far_from_typical(whatif, &bounds[i]);
    }
    enum wt_code code = WT_OK;
    for (int i = 0; i < count && code == WT_OK; i++)
        if ((code = errors[i].code) != WT_OK)
            *err = errors[i];
    free(errors);
    return code;
}

static int nearest(const double *distances, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (distances[i] < distances[best])
            best = i;
    return best;
}

/* Of `count` bounds the nearest, if it is nearer than what the mode has. `tried`: room for as many explanations. */
static enum wt_code take_nearest(struct wt_whatif *whatif, enum wt_whatif_mode mode, const struct wt_bound *bounds, int count,
                                 struct wt_explanation *tried, struct wt_error *err)
{
    double distances[MOST_TRIED];
    assert(count <= MOST_TRIED);
    WT_TRY(find_distances(whatif, mode, bounds, count, tried, distances, err));
    int best = nearest(distances, count);
    if (distances[best] < whatif->distance[mode]) {
        whatif->distance[mode] = distances[best];
        whatif->favour[mode] = bounds[best].favour;
        whatif->saturation[mode] = bounds[best].saturation;
    }
    return WT_OK;
}

/* Steps beyond what is possible come back to where others are. */
static bool is_new(const struct wt_whatif *whatif, const struct wt_bound *bounds, int count)
{
    const struct wt_bound *last = &bounds[count];
    if (last->saturation == whatif->saturation[WT_MODE_SM] && last->favour == whatif->favour[WT_MODE_SM])
        return false;
    for (int i = 0; i < count; i++)
        if (bounds[i].saturation == last->saturation && bounds[i].favour == last->favour)
            return false;
    return true;
}

/* Both together, since a higher saturation and less favour look alike: from a coarse grid, then in ever smaller steps. */
static enum wt_code find_sm_bound(struct wt_whatif *whatif, struct wt_error *err)
{
    static const double favours[] = {0, 0.12, 0.3, 0.5, 0.7}, saturations[] = {5, 9, 16, 29};
    struct wt_bound bounds[MOST_TRIED];
    struct wt_explanation tried[MOST_TRIED];
    int count = 0;
    for (size_t f = 0; f < sizeof favours / sizeof *favours; f++)
        for (size_t s = 0; s < sizeof saturations / sizeof *saturations; s++)
            bounds[count++] = bound_of(whatif, WT_MODE_SM, saturations[s], favours[f]);
    WT_TRY(take_nearest(whatif, WT_MODE_SM, bounds, count, tried, err));
    for (double step = 1; step > 0.2; step /= 2) {
        double favour = whatif->favour[WT_MODE_SM], saturation = whatif->saturation[WT_MODE_SM];
        count = 0;
        for (int f = -1; f <= 1; f++)
            for (int s = -1; s <= 1; s++) {
                bounds[count] = bound_of(whatif, WT_MODE_SM, fmax(LEAST_SATURATION, saturation * pow(1.4, s * step)),
                                         fmin(0.95, fmax(0, favour + 0.1 * f * step)));
                count += is_new(whatif, bounds, count);
            }
        WT_TRY(take_nearest(whatif, WT_MODE_SM, bounds, count, tried, err));
    }
    return WT_OK;
}

static enum wt_code find_bounds(struct wt_whatif *whatif, struct wt_error *err)
{
    struct wt_bound bounds[MOST_TRIED];
    double saturation = LEAST_SATURATION;
    for (int mode = 0; mode < WT_MODE_COUNT; mode++)
        whatif->distance[mode] = INFINITY;
    whatif->most_saturation = most_saturation(whatif);
    whatif->typical = fmax(LEAST_SATURATION, fmin(TYPICAL_SATURATION, whatif->most_saturation / SHORTEST_SHARES));
    WT_TRY(find_sm_bound(whatif, err));
    for (int i = 0; i < WT_WHATIF_STEPS; i++, saturation *= FIRST_STEP)
        bounds[i] = bound_of(whatif, WT_MODE_GPU, saturation, 0);
    return take_nearest(whatif, WT_MODE_GPU, bounds, WT_WHATIF_STEPS, whatif->by_memory, err);
}

static double most_distance(const struct wt_whatif *whatif)
{
    return KEPT_DISTANCE * fmin(whatif->distance[WT_MODE_SM], whatif->distance[WT_MODE_GPU]) + DISTANCE_NOISE;
}

/* One trace alone does not tell which memory warps wait for. */
static bool may_explain(const struct wt_whatif *whatif, enum wt_whatif_mode mode)
{
    if (whatif->unequal_sms)
        return mode == WT_MODE_GPU;
    bool either = whatif->others == 0 && whatif->favour[WT_MODE_SM] < WT_FAVOURED;
    return either || whatif->distance[mode] <= most_distance(whatif);
}

static double distance_misfit(const struct wt_whatif *whatif, const struct wt_explanation *why, double distance)
{
    double least = fmin(whatif->distance[WT_MODE_SM], whatif->distance[WT_MODE_GPU]) + DISTANCE_NOISE;
    return fmin(MOST_FAR, TWICE_AS_FAR * fmax(0, (distance + DISTANCE_NOISE) / least - 1)) +
           ((why->mode == WT_MODE_SM) == (whatif->favour[WT_MODE_SM] < WT_FAVOURED) ? LESS_LIKELY : 0);
}

/* ---- One trace ---- */

/* Fills scale, and adds to the misfit how far its ends are from the trace's. */
static enum wt_code measure(const struct wt_whatif *whatif, struct wt_explanation *why, struct wt_error *err)
{
    struct wt_explanation uncached = *why;
    uncached.cache = 1;
    if (isnan(why->distance))
        WT_TRY(look(whatif, &uncached, false, err));
    why->scale = uncached.scale;
    why->distance = uncached.distance;
    if (!whatif->unequal_sms)
        why->misfit += distance_misfit(whatif, why, why->distance);
    return WT_OK;
}

static enum wt_code find_base(const struct wt_whatif *whatif, struct wt_explanation *why, struct wt_error *err)
{
    struct wt_explanation uncached = *why;
    struct wt_whatif_run run;
    uncached.cache = 1;
    WT_TRY(wt_whatif_begin(&run, whatif, &wt_whatif_as_measured, err));
    run.explanation = &uncached;
    WT_TRY(wt_whatif_mean(&run, &why->base, err));
    why->spread = run.spread;
    return WT_OK;
}

/* Whether a block's warps end apart. Where they wait for each other or for memory they do, and the block keeps its room until the
 * last is through; where only pipes are short they end together (first warps 1 % before their block's room is free, FMA chains;
 * 3 to 18 % where they diverge or meet at barriers). */
static bool goes_apart(const struct wt_whatif *whatif)
{
    double favour = whatif->favour[WT_MODE_SM];
    return favour >= WT_FAVOURED && favour < WT_WAITING && whatif->occupancy.blocks_per_sm >= FAVOUR_BLOCKS;
}

/* Where few blocks show it, at least what is typical. */
static double favour_of(const struct wt_whatif *whatif, enum wt_whatif_mode mode)
{
    double favour = whatif->favour[mode];
    bool shown = whatif->occupancy.blocks_per_sm >= FAVOUR_BLOCKS || favour < WT_FAVOURED;
    return shown ? favour : fmax(favour, TYPICAL_FAVOUR);
}

static struct wt_explanation *append(struct wt_whatif *whatif, enum wt_whatif_mode mode, double saturation)
{
    assert(whatif->count < WT_WHATIF_MOST);
    struct wt_explanation *why = &whatif->list[whatif->count++];
    *why = (struct wt_explanation){.mode = mode, .bound = bound_of(whatif, mode, saturation, favour_of(whatif, mode)), .cache = 1,
                                   .distance = NAN};
    why->bound.apart = mode == WT_MODE_SM && goes_apart(whatif);
    return why;
}

/* All in parallel. */
static enum wt_code for_all(struct wt_whatif *whatif,
                            enum wt_code (*what)(const struct wt_whatif *, struct wt_explanation *, struct wt_error *),
                            struct wt_error *err)
{
    struct wt_error *errors = wt_alloc((size_t)whatif->count, sizeof *errors);
    enum wt_code code = WT_OK;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < whatif->count; i++)
        what(whatif, &whatif->list[i], &errors[i]);
    for (int i = 0; i < whatif->count && code == WT_OK; i++)
        if ((code = errors[i].code) != WT_OK)
            *err = errors[i];
    free(errors);
    return code;
}

static enum wt_code explain_one(struct wt_whatif *whatif, struct wt_error *err)
{
    for (int mode = 0; mode < WT_MODE_COUNT; mode++) {
        double saturation = LEAST_SATURATION;
        if (!may_explain(whatif, (enum wt_whatif_mode)mode))
            continue;
        for (int i = 0; i < WT_WHATIF_STEPS; i++, saturation *= FIRST_STEP) {
            if (whatif->unit && octaves(saturation, whatif->saturation[mode]) > DRAWN_OCTAVES)
                continue;
            struct wt_explanation *why = append(whatif, (enum wt_whatif_mode)mode, saturation);
            if (mode == WT_MODE_GPU) /* the SMs' sub-cores make no difference */
                *why = whatif->by_memory[i];
        }
    }
    return for_all(whatif, measure, err);
}

/* ---- Several traces ---- */

/* The mean logarithm of predicted / measured, over the other traces, and its root mean square in the misfit. */
static enum wt_code compare(const struct wt_whatif *whatif, struct wt_explanation *why, struct wt_stays *const *others,
                            size_t count, double *mean, struct wt_error *err)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        struct wt_whatif_point point = wt_whatif_as_measured;
        struct wt_whatif_run run;
        point.dynamic_shared_bytes = others[i]->needs.dynamic_shared_bytes;
        point.registers_per_thread = others[i]->needs.registers_per_thread;
        WT_TRY(wt_whatif_begin(&run, whatif, &point, err));
        run.explanation = why;
        double makespan;
        WT_TRY(wt_whatif_mean(&run, &makespan, err));
        double off = log(makespan / why->base / (others[i]->makespan / whatif->stays->makespan));
        sum += off;
        squares += off * off;
    }
    *mean = sum / (double)count;
    why->misfit += sqrt(squares / (double)count);
    return WT_OK;
}

static double resident_of(const struct wt_whatif *whatif, const struct wt_stays *stays)
{
    struct wt_occupancy occupancy;
    wt_occupancy(&whatif->gpu->limits, &stays->needs, &occupancy, NULL);
    return occupancy.warps_per_sm;
}

/* Without a simulation: whether a saturation is far from explaining one of the others. */
static bool is_far_off(const struct wt_whatif *whatif, const struct wt_bound *bound, struct wt_stays *const *others, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double now = wt_bound_served(bound, resident_of(whatif, others[i]));
        double before = wt_bound_served(bound, whatif->occupancy.warps_per_sm);
        if (fabs(log(before / now / (others[i]->makespan / whatif->stays->makespan))) > FAR_OFF)
            return true;
    }
    return false;
}

static const struct wt_explanation *least_misfit(const struct wt_whatif *whatif, enum wt_whatif_mode mode)
{
    const struct wt_explanation *best = NULL;
    for (int i = 0; i < whatif->count; i++)
        if (whatif->list[i].mode == mode && (!best || whatif->list[i].misfit < best->misfit))
            best = &whatif->list[i];
    return best;
}

/* Whatever saturates it, the others are slower for want of cache alone. */
static enum wt_code explain_by_cache(struct wt_whatif *whatif, enum wt_whatif_mode mode, struct wt_stays *const *others,
                                     size_t count, struct wt_error *err)
{
    double mean;
    double needed = least_misfit(whatif, mode)->bound.saturation;
    bool likely = whatif->stays->needs.static_shared_bytes == 0 && octaves(needed, whatif->saturation[mode]) > 1;
    for (size_t i = 0; i < count; i++)
        if (others[i]->needs.dynamic_shared_bytes <= whatif->stays->needs.dynamic_shared_bytes)
            return WT_OK;
    struct wt_explanation *added = append(whatif, mode, LEAST_SATURATION);
    WT_TRY(measure(whatif, added, err));
    WT_TRY(find_base(whatif, added, err));
    double misfit = added->misfit + (likely ? -CACHE_MISFIT : UNLIKELY_CACHE);
    WT_TRY(compare(whatif, added, others, count, &mean, err));
    added->cache = exp(-mean);
    if (added->cache < LEAST_CACHE) {
        whatif->count--;
        return WT_OK;
    }
    added->misfit = misfit;
    whatif->cached = true;
    return compare(whatif, added, others, count, &mean, err);
}

/* Adds an explanation that is compared with the others. Returns how far off it is in *mean. */
static enum wt_code try(struct wt_whatif *whatif, enum wt_whatif_mode mode, double saturation, struct wt_stays *const *others,
                        size_t count, double *mean, struct wt_error *err)
{
    struct wt_explanation *why = append(whatif, mode, saturation);
    WT_TRY(measure(whatif, why, err));
    WT_TRY(find_base(whatif, why, err));
    return compare(whatif, why, others, count, mean, err);
}

static enum wt_code explain_several(struct wt_whatif *whatif, struct wt_stays *const *others, size_t count,
                                    struct wt_error *err)
{
    for (int mode = 0; mode < WT_MODE_COUNT; mode++) {
        double mean, before = 0, saturation = LEAST_SATURATION;
        int first = whatif->count;
        if (!may_explain(whatif, (enum wt_whatif_mode)mode))
            continue;
        for (int i = 0; i < STEPS; i++, saturation *= STEP) {
            struct wt_bound bound = bound_of(whatif, mode, saturation, whatif->favour[mode]);
            if (is_far_off(whatif, &bound, others, count) && (i + 1 < STEPS || first < whatif->count))
                continue;
            WT_TRY(try(whatif, mode, saturation, others, count, &mean, err));
            double last = whatif->list[whatif->count - 1].bound.saturation;
            if (whatif->count > first + 1 && before * mean < 0)
                WT_TRY(try(whatif, mode, last / pow(STEP, mean / (mean - before)), others, count, &before, err));
            before = mean;
        }
        if (whatif->favour[mode] < WT_FAVOURED)
            WT_TRY(explain_by_cache(whatif, mode, others, count, err));
    }
    return WT_OK;
}

static int by_misfit(const void *left, const void *right)
{
    const struct wt_explanation *a = left, *b = right;
    if (a->misfit != b->misfit)
        return a->misfit < b->misfit ? -1 : 1;
    return a->mode != b->mode ? (int)a->mode - (int)b->mode
                              : (a->bound.saturation > b->bound.saturation) - (a->bound.saturation < b->bound.saturation);
}

/* Whether one of the first `count` with the same mode and cache lies at least as far out, on either side of the best. */
static bool is_extreme(const struct wt_explanation *list, int index, int count)
{
    bool least = true, most = true;
    for (int i = 0; i < count; i++) {
        if (i == index || list[i].mode != list[index].mode || (list[i].cache > 1) != (list[index].cache > 1))
            continue;
        least &= list[i].bound.saturation > list[index].bound.saturation;
        most &= list[i].bound.saturation < list[index].bound.saturation;
    }
    return least || most;
}

static bool is_best_of_mode(const struct wt_explanation *list, int index)
{
    for (int i = 0; i < index; i++)
        if (list[i].mode == list[index].mode)
            return false;
    return true;
}

static int by_saturation(const void *left, const void *right)
{
    const struct wt_explanation *a = *(struct wt_explanation *const *)left, *b = *(struct wt_explanation *const *)right;
    return (a->bound.saturation > b->bound.saturation) - (a->bound.saturation < b->bound.saturation);
}

static void exchange(struct wt_explanation *a, struct wt_explanation *b)
{
    struct wt_explanation kept = *a;
    *a = *b;
    *b = kept;
}

/* Where half of the likelihood lies below it; all octaves are as likely before. `list` by saturation; `best`: the least misfit. */
static struct wt_explanation *median(struct wt_explanation *const *list, int count, double best)
{
    double likelihood[WT_WHATIF_MOST], sum = 0, below = 0;
    for (int i = 0; i < count; i++) {
        double before = list[i > 0 ? i - 1 : 0]->bound.saturation, after = list[i + 1 < count ? i + 1 : i]->bound.saturation;
        double off = (list[i]->misfit - best) / AS_LIKELY;
        sum += likelihood[i] = exp(-off * off / 2) * (count > 1 ? log(after / before) : 1);
    }
    for (int i = 0; i + 1 < count; i++)
        if ((below += likelihood[i]) >= sum / 2)
            return list[i];
    return list[count - 1];
}

/* Of explanations of one mode that differ in saturation the median becomes its first, not the nearest: where the traces tell nothing, the
 * nearest is chance. What the shortest block rules out is not counted. */
static void settle(struct wt_whatif *whatif, enum wt_whatif_mode mode)
{
    struct wt_explanation *same[WT_WHATIF_MOST], *best = NULL;
    int count = 0;
    for (int i = 0; i < whatif->count; i++) {
        struct wt_explanation *why = &whatif->list[i];
        if (why->mode != mode)
            continue;
        if (!best || (why->cache <= 1 && why->bound.saturation <= whatif->most_saturation))
            same[count++] = why;
        best = best ? best : why;
    }
    if (!best || best->cache > 1)
        return;
    double least = best->misfit;
    qsort(same, (size_t)count, sizeof *same, by_saturation);
    exchange(best, median(same, count, least));
}

/* The best, and of the others that explain it nearly as well those whose predictions lie furthest out. Where warps wait for memory one
 * trace does not tell whose: both are kept. */
static void keep_extremes(struct wt_whatif *whatif)
{
    struct wt_explanation near[WT_WHATIF_MOST];
    bool both = whatif->others == 0 && whatif->favour[WT_MODE_SM] < WT_FAVOURED;
    double least = INFINITY;
    int count = 0;
    for (int i = 0; i < whatif->count; i++)
        least = fmin(least, whatif->list[i].misfit);
    for (int i = 0; i < whatif->count; i++)
        if (i == 0 || whatif->list[i].misfit <= least + KEEP || (both && is_best_of_mode(whatif->list, i)))
            near[count++] = whatif->list[i];
    whatif->count = 1;
    for (int i = 1; i < count; i++)
        if ((both && is_best_of_mode(near, i)) || is_extreme(near, i, count))
            whatif->list[whatif->count++] = near[i];
}

static void sort_ends(struct wt_whatif *whatif)
{
    whatif->ends = wt_alloc(whatif->stays->count, sizeof *whatif->ends);
    for (uint64_t i = 0; i < whatif->stays->count; i++)
        whatif->ends[i] = whatif->stays->list[i].read;
    wt_sort_numbers(whatif->ends, whatif->stays->count);
}

static void draw_works(struct wt_whatif *whatif)
{
    whatif->variants = WT_WHATIF_VARIANTS;
    for (int i = 0; i < WT_WHATIF_VARIANTS; i++)
        whatif->drawn[i] = wt_whatif_draw(whatif, i);
}

/* By how the measured launch's blocks end. */
static enum wt_code explain_ends(struct wt_whatif *whatif, struct wt_stays *const *others, size_t count, struct wt_error *err)
{
    if (whatif->unit)
        draw_works(whatif);
    WT_TRY(find_bounds(whatif, err));
    whatif->unequal_sms = are_sms_unequal(whatif);
    if (whatif->unequal_sms) /* how blocks end tells nothing of it: the middle of what is possible */
        whatif->saturation[WT_MODE_GPU] = sqrt(LEAST_SATURATION * fmax(LEAST_SATURATION, whatif->most_saturation));
    if (count > 0)
        WT_TRY(explain_several(whatif, others, count, err));
    else
        WT_TRY(explain_one(whatif, err));
    qsort(whatif->list, (size_t)whatif->count, sizeof *whatif->list, by_misfit);
    for (int mode = 0; mode < WT_MODE_COUNT; mode++)
        settle(whatif, (enum wt_whatif_mode)mode);
    keep_extremes(whatif);
    if (count == 0)
        WT_TRY(for_all(whatif, find_base, err));
    if (whatif->chance)
        whatif->variants = wt_whatif_simulations(whatif, 1, WT_WHATIF_VARIANTS);
    return WT_OK;
}

enum wt_code wt_whatif_explain(struct wt_whatif *whatif, struct wt_stays *const *others, size_t count, struct wt_error *err)
{
    wt_occupancy(&whatif->gpu->limits, &whatif->stays->needs, &whatif->occupancy, NULL);
    whatif->others = (int)count;
    whatif->least_warps = whatif->most_warps = whatif->occupancy.warps_per_sm;
    for (size_t i = 0; i < count; i++) {
        whatif->least_warps = fmin(whatif->least_warps, resident_of(whatif, others[i]));
        whatif->most_warps = fmax(whatif->most_warps, resident_of(whatif, others[i]));
    }
    for (int mode = 0; mode < WT_MODE_COUNT; mode++)
        find_parts(whatif, mode);
    whatif->chance = !whatif->fixed && inequality(whatif->parts[WT_MODE_SM], whatif->stays, false) > WT_UNEQUAL;
    whatif->variants = whatif->chance ? WT_WHATIF_VARIANTS : 1;
    sort_ends(whatif);
    if (whatif->fixed) {
        WT_TRY(measure(whatif, append(whatif, WT_MODE_SM, INFINITY), err));
        return for_all(whatif, find_base, err);
    }
    WT_TRY(wt_whatif_explain_stated(whatif, others, count, err));
    whatif->chance |= whatif->by_work || whatif->unit;
    return whatif->by_work ? WT_OK : explain_ends(whatif, others, count, err);
}
