/* What explains traces that state very unequal works. When such blocks end is up to chance: a long one that goes to another SM
 * sends all later ones elsewhere, so that the simulated ends of a whole launch say little. But which blocks each SM ran is known: following
 * it through these, the right bound lets them end when they did (study/follow.h), to 0.3 to 3 % of the makespan. */
#include "study/whatif_run.h"

#include <math.h>
#include <stdlib.h>

#include "core/draw.h"
#include "core/mem.h"
#include "core/random.h"
#include "sm/occupancy.h"
#include "study/follow.h"

/* What is tried, in warps per SM; more of the GPU than an SM's four sub-cores may be short. Of blocks of eight warps a trace does not tell
 * saturations below eight apart. */
static const double LEAST_SATURATION = 2, LEAST_GPU_SATURATION = 0.25, MOST_SATURATION = 64, LEAST_FAVOUR = 0.1, MOST_FAVOUR = 0.98,
                    LEAST_HINDERED = 0.3;
static const double GRAINS[] = {4, 1, 0};
enum { MOST_TRIED = 1024 };
/* What blocks have to share: who is served alike, who is favoured, the GPU's memory, nothing. */
enum kind { ALIKE, FAVOURED, MEMORY, NOTHING, KINDS };
/* What a warp does besides its stated work is found in steps of this, of the mean work: 7 to 10 % where blocks fill 16 KB first and
 * then load from them (conflict1), 2 % in FMA chains. */
static const double START_STEP = 0.1;
/* Kinds of bounds are looked at more closely whose misfit is at most so many times the least. */
static const double NEAR = 2;

/* Where ends miss by more than this, nothing tells how they come about: atomics 0.12 to 0.2 (7 kernels), all others 0.003 to 0.06
 * (74). As likely as the best is then that what all SMs share, which gives them unequal parts, is short whoever asks. */
static const double UNEXPLAINED = 0.08;

/* From launch to launch blocks last so much longer or shorter (standard deviation), where ends do not tell less: enough for each to come
 * out differently, as launches do. Five times as much changes no mean. */
static const double MOST_CHANCE = 0.01;

/* Simulations of a shape under each explanation; of the measured one as many as tell how far launches differ. */
enum { LEAST_BASES = 6, MOST_SIMULATIONS = 16 };

/* Stated works explain the launch where the trace says whose they are, or blocks' speeds differ by less than so much of what they would if
 * works had nothing to do with them. Bounds are kept whose misfit is at most so many times the least. */
static const double EXPLAINS = 0.75, KEPT = 1.15;

/* Each of a block's warps has a work of its own where speeds differ by more than the first, and more than the second times what they then
 * would: 0.71 to 1.07 (6 kernels, 3 distributions), and at most 0.53 where blocks have the works (19, 3 or 4). */
static const double OWN_SPREAD = 0.6, OWN_PART = 0.75;

/* Besides chance, simulated makespans of 117 measured launches are so far off. */
static const double BASE_ERROR = 0.015;

struct tried {
    struct wt_bound bounds[MOST_TRIED];
    double misfits[MOST_TRIED], scales[MOST_TRIED], chances[MOST_TRIED];
    int count;
};

/* ---- Trying bounds ---- */

static void follow(const struct wt_whatif *whatif, const struct wt_stays *stays, const struct wt_bound *bounds, int count,
                   struct wt_followed *followed)
{
    struct wt_occupancy occupancy;
    double release = 0;
    wt_occupancy(&whatif->gpu->limits, &stays->needs, &occupancy, NULL);
    for (int sm = 0; sm < stays->sm_count; sm++)
        release += wt_gpu_unloaded_release(whatif->gpu, sm) / stays->sm_count;
    wt_follow(stays, occupancy.blocks_per_sm, release, WT_FIRST_LOAD_CYCLES, bounds, count, followed);
}

static bool are_same(const struct wt_bound *a, const struct wt_bound *b)
{
    return a->gpu == b->gpu && a->saturation == b->saturation && a->favour == b->favour && a->hindered == b->hindered &&
           a->grain == b->grain && a->crowding == b->crowding && a->start == b->start;
}

/* If it is a new one. */
static void add(struct tried *t, struct wt_bound bound)
{
    if (!isinf(bound.saturation)) /* infinite: blocks take as long, whoever runs beside them */
        bound.saturation = fmax(bound.gpu ? LEAST_GPU_SATURATION : LEAST_SATURATION, fmin(MOST_SATURATION, bound.saturation));
    if (bound.hindered > 0) {
        bound.favour = fmax(LEAST_FAVOUR, fmin(MOST_FAVOUR, bound.favour));
        bound.hindered = fmax(LEAST_HINDERED, fmin(1, bound.hindered));
    }
    for (int i = 0; i < t->count; i++)
        if (are_same(&t->bounds[i], &bound))
            return;
    if (t->count < MOST_TRIED)
        t->bounds[t->count++] = bound;
}

/* Of all traces together: blocks differ within each, and the traces differ among each other. */
static void judge(const struct wt_whatif *whatif, struct wt_stays *const *others, size_t others_count, struct tried *t, int from)
{
    int count = t->count - from;
    struct wt_followed *followed = wt_alloc((size_t)count * (others_count + 1), sizeof *followed);
    for (size_t k = 0; k <= others_count; k++)
        follow(whatif, k == 0 ? whatif->stays : others[k - 1], t->bounds + from, count, followed + k * (size_t)count);
    for (int i = 0; i < count; i++) {
        double sum = 0, squares = 0, within = 0, traces = (double)others_count + 1;
        for (size_t k = 0; k <= others_count; k++) {
            const struct wt_followed *one = &followed[k * (size_t)count + (size_t)i];
            double x = log(one->scale);
            sum += x;
            squares += x * x;
            within += one->misfit * one->misfit;
        }
        double among = fmax(0, squares / traces - sum / traces * (sum / traces));
        t->misfits[from + i] = sqrt(within / traces + among);
        t->scales[from + i] = exp(sum / traces);
        t->chances[from + i] = followed[i].chance;
    }
    free(followed);
}

static int least(const struct tried *t)
{
    int best = 0;
    for (int i = 1; i < t->count; i++)
        if (t->misfits[i] < t->misfits[best])
            best = i;
    return best;
}

/* From a coarse grid: whatever grain, and whom an SM favours as well. */
static void try_grid(struct tried *t)
{
    add(t, (struct wt_bound){.saturation = INFINITY, .grain = GRAINS[0]});
    for (double saturation = LEAST_GPU_SATURATION; saturation <= MOST_SATURATION; saturation *= 1.4)
        add(t, (struct wt_bound){.gpu = true, .saturation = saturation, .crowding = WT_CROWDING});
    for (double saturation = LEAST_SATURATION; saturation <= MOST_SATURATION; saturation *= 1.5) {
        add(t, (struct wt_bound){.saturation = saturation, .grain = GRAINS[0]});
        for (double favour = 0.35; favour < MOST_FAVOUR; favour += 0.2)
            for (double hindered = 0.6; hindered <= 1; hindered += 0.2)
                add(t, (struct wt_bound){.saturation = saturation, .favour = favour, .hindered = hindered, .grain = GRAINS[1]});
    }
}

static enum kind kind_of(const struct wt_bound *bound)
{
    if (isinf(bound->saturation))
        return NOTHING;
    return bound->gpu ? MEMORY : bound->favour > 0 ? FAVOURED : ALIKE;
}

static int least_of_kind(const struct tried *t, enum kind kind)
{
    int best = -1;
    for (int i = 0; i < t->count; i++)
        if (kind_of(&t->bounds[i]) == kind && (best < 0 || t->misfits[i] < t->misfits[best]))
            best = i;
    return best;
}

/* Steps to one side of the bound, in all but saturation and grain. `mean`: work. */
static void step_aside(struct tried *t, struct wt_bound bound, double mean, double step)
{
    struct wt_bound start = bound, favour = bound, hindered = bound;
    start.start = fmax(0, bound.start + START_STEP * mean * step);
    add(t, start);
    if (bound.hindered <= 0)
        return;
    favour.favour = 1 - (1 - bound.favour) * pow(2, step);
    hindered.hindered += 0.15 * step;
    add(t, favour);
    add(t, hindered);
}

/* Steps around the bound. */
static void refine(struct tried *t, struct wt_bound best, double mean, double step)
{
    bool grained = best.crowding <= 0 && !isinf(best.saturation);
    for (int s = isinf(best.saturation) ? 1 : -1; s <= 1; s++)
        for (size_t g = 0; g < (grained ? sizeof GRAINS / sizeof *GRAINS : 1); g++) {
            struct wt_bound bound = best;
            bound.saturation *= pow(1.5, s * step);
            bound.grain = grained ? GRAINS[g] : best.grain;
            add(t, bound);
            step_aside(t, bound, mean, -step);
            step_aside(t, bound, mean, step);
        }
}

static double mean_work(const struct wt_stays *stays)
{
    double sum = 0;
    for (uint64_t i = 0; i < stays->count; i++)
        sum += stays->list[i].work;
    return sum / (double)stays->count;
}

static void try_all(const struct wt_whatif *whatif, struct wt_stays *const *others, size_t others_count, struct tried *t)
{
    double mean = mean_work(whatif->stays);
    try_grid(t);
    judge(whatif, others, others_count, t, 0);
    for (double step = 1; step > 0.1; step /= 2) {
        int from = t->count;
        double near = NEAR * t->misfits[least(t)];
        for (enum kind kind = 0; kind < KINDS; kind++) {
            int best = least_of_kind(t, kind);
            if (t->misfits[best] <= near)
                refine(t, t->bounds[best], mean, step);
        }
        judge(whatif, others, others_count, t, from);
    }
}

/* ---- What is kept ---- */

/* How much blocks' speeds differ, as their works say, under the bound of some that makes them differ least. */
static double spread_of_speeds(const struct wt_stays *stays)
{
    struct tried *t = wt_alloc(1, sizeof *t);
    struct wt_stays_match matches[MOST_TRIED];
    double least_spread = INFINITY;
    add(t, (struct wt_bound){.saturation = INFINITY});
    for (double saturation = LEAST_GPU_SATURATION; saturation <= MOST_SATURATION; saturation *= 2)
        add(t, (struct wt_bound){.gpu = true, .saturation = saturation, .grain = GRAINS[0]});
    for (double saturation = LEAST_SATURATION; saturation <= MOST_SATURATION; saturation *= 1.5)
        for (double favour = 0; favour < MOST_FAVOUR; favour += 0.3)
            add(t, (struct wt_bound){.saturation = saturation, .favour = favour, .hindered = favour > 0 ? 0.7 : 0, .grain = GRAINS[0]});
    wt_stays_match(stays, t->bounds, t->count, matches);
    for (int i = 0; i < t->count; i++)
        least_spread = fmin(least_spread, matches[i].misfit);
    free(t);
    return least_spread;
}

/* The same if each block's speed had nothing to do with its work: as much as works differ. */
static double spread_of_works(const struct wt_stays *stays)
{
    double weight = 0, sum = 0, squares = 0;
    for (uint64_t i = 0; i < stays->count; i++) {
        double work = stays->list[i].work;
        if (work <= 0)
            continue;
        weight += work;
        sum += work * log(work);
        squares += work * log(work) * log(work);
    }
    return weight > 0 ? sqrt(fmax(0, squares / weight - sum / weight * (sum / weight))) : 0;
}

/* The same if each warp had a work of its own, as unequal as the stated ones, which are those of blocks' first warps: a block takes as
 * long as the longest. */
static double spread_of_own(const struct wt_stays *stays)
{
    struct wt_random random = wt_random_stream(1, "works of warps", 0);
    double weight = 0, sum = 0, squares = 0;
    for (uint64_t i = 0; i < stays->count; i++) {
        double first = stays->list[i].work, most = first;
        if (first <= 0)
            continue;
        for (int warp = 1; warp < stays->warps; warp++)
            most = fmax(most, stays->list[wt_random_below(&random, (uint32_t)stays->count)].work);
        double x = log(most / first);
        weight += first;
        sum += first * x;
        squares += first * x * x;
    }
    return weight > 0 ? sqrt(fmax(0, squares / weight - sum / weight * (sum / weight))) : 0;
}

/* How many warps have a work of their own; 0: those of a block together. */
static int unit_of(const struct wt_stays *stays, double spread)
{
    if (stays->work_warps > 0)
        return stays->work_warps < stays->warps ? stays->work_warps : 0;
    return spread > OWN_SPREAD && spread > OWN_PART * spread_of_own(stays) ? 1 : 0;
}

static void keep(struct wt_whatif *whatif, const struct tried *t, int which)
{
    for (int i = 0; i < whatif->count; i++)
        if (whatif->list[i].bound.saturation == t->bounds[which].saturation && whatif->list[i].mode == (int)t->bounds[which].gpu &&
            whatif->list[i].bound.favour == t->bounds[which].favour && whatif->list[i].bound.start == t->bounds[which].start)
            return;
    whatif->list[whatif->count++] = (struct wt_explanation){.mode = t->bounds[which].gpu ? WT_MODE_GPU : WT_MODE_SM,
                                                            .bound = t->bounds[which], .cache = 1, .scale = t->scales[which],
                                                            .misfit = t->misfits[which], .chance = fmin(MOST_CHANCE, t->chances[which])};
}

/* What all SMs share is short, whoever asks. */
static int shortest(const struct tried *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->bounds[i].gpu && t->bounds[i].saturation <= LEAST_GPU_SATURATION)
            return i;
    return least(t);
}

/* That they share nothing where that explains ends nearly as well as anything: warps that wait for a time look only when they are let
 * through, as if they were slowed down (spin: 1.0 to 1.06 times the least misfit, all others 1.9 to 40). Otherwise the best, the best that
 * says otherwise what limits, and those with the lowest and the highest saturation, of all that explain ends nearly as well. */
static void keep_nearest(struct wt_whatif *whatif, const struct tried *t)
{
    int best = least(t), nothing = least_of_kind(t, NOTHING), other = -1, low = best, high = best;
    if (t->misfits[best] > UNEXPLAINED) {
        keep(whatif, t, best);
        keep(whatif, t, shortest(t));
        return;
    }
    if (t->misfits[nothing] <= KEPT * t->misfits[best]) {
        keep(whatif, t, nothing);
        return;
    }
    for (int i = 0; i < t->count; i++) {
        if (t->misfits[i] > KEPT * t->misfits[best] || isinf(t->bounds[i].saturation))
            continue;
        if (t->bounds[i].gpu != t->bounds[best].gpu) {
            other = other < 0 || t->misfits[i] < t->misfits[other] ? i : other;
            continue;
        }
        low = t->bounds[i].saturation < t->bounds[low].saturation ? i : low;
        high = t->bounds[i].saturation > t->bounds[high].saturation ? i : high;
    }
    keep(whatif, t, best);
    keep(whatif, t, low);
    keep(whatif, t, high);
    if (other >= 0)
        keep(whatif, t, other);
}

/* The measured makespan is one of many that the launch could have had, whose spread the simulations tell. */
static enum wt_code find_bases(struct wt_whatif *whatif, struct wt_error *err)
{
    double spread = 0;
    for (int i = 0; i < whatif->count; i++) {
        struct wt_whatif_run run;
        WT_TRY(wt_whatif_begin(&run, whatif, &wt_whatif_as_measured, err));
        run.explanation = &whatif->list[i];
        WT_TRY(wt_whatif_mean(&run, &whatif->list[i].base, err));
        whatif->list[i].spread = run.spread;
        spread += run.spread / whatif->count;
    }
    whatif->trust = BASE_ERROR * BASE_ERROR / (BASE_ERROR * BASE_ERROR + spread);
    whatif->variants = wt_whatif_simulations(whatif, 1, MOST_SIMULATIONS);
    return WT_OK;
}

/* By all traces. */
static bool are_stated(const struct wt_whatif *whatif, struct wt_stays *const *others, size_t count)
{
    bool stated = whatif->stays->works_stated;
    for (size_t i = 0; i < count; i++)
        stated &= others[i]->works_stated;
    return stated;
}

static void draw_chances(struct wt_whatif *whatif)
{
    struct wt_random random = wt_random_stream(1, "chance", 0);
    whatif->chances = wt_alloc(whatif->stays->count, sizeof *whatif->chances);
    wt_draw_normal(&random, whatif->chances, (int)whatif->stays->count);
}

enum wt_code wt_whatif_explain_stated(struct wt_whatif *whatif, struct wt_stays *const *others, size_t count, struct wt_error *err)
{
    double works = are_stated(whatif, others, count) ? spread_of_works(whatif->stays) : 0;
    if (works <= WT_UNEQUAL)
        return WT_OK;
    double spread = whatif->stays->work_warps > 0 ? 0 : spread_of_speeds(whatif->stays);
    whatif->unit = unit_of(whatif->stays, spread);
    whatif->by_work = !whatif->unit && spread < EXPLAINS * works;
    for (int mode = 0; mode < WT_MODE_COUNT && (whatif->by_work || whatif->unit); mode++)
        for (uint64_t i = 0; i < whatif->stays->count; i++)
            whatif->parts[mode][i] = whatif->stays->list[i].work;
    if (!whatif->by_work)
        return WT_OK;
    struct tried *tried = wt_alloc(1, sizeof *tried);
    try_all(whatif, others, count, tried);
    keep_nearest(whatif, tried);
    free(tried);
    draw_chances(whatif);
    whatif->variants = wt_whatif_simulations(whatif, LEAST_BASES, MOST_SIMULATIONS);
    return find_bases(whatif, err);
}
