/* What explains traces that state very unequal works. When such blocks end is up to chance: a long one that goes to another SM
 * sends all later ones elsewhere, so that simulated ends say little. But each block tells how fast it was: its work, and who was
 * resident beside it while it ran, are known. Under the right bound all blocks' works come out in proportion to the
 * stated ones. That does not depend on where blocks went, nor on when the last one ended. */
#include "study/whatif_run.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/random.h"
#include "sm/occupancy.h"

/* Even the oldest block of an SM is kept to so much of its full speed by those beside it: 0.6 to 0.8 where works of 256-thread
 * blocks differ (fma1, r64, diverge; block by block, as above), whatever saturates the SM. */
static const double HINDERED = 0.7;

/* What is tried, in warps per SM; more of the GPU than an SM's four sub-cores may be short. */
static const double GRAIN = 4, LEAST_SATURATION = 4, LEAST_GPU_SATURATION = 0.25, MOST_SATURATION = 64, LEAST_FAVOUR = 0.1,
                    MOST_FAVOUR = 0.95;
enum { MOST_TRIED = 256 };

/* Simulations of a shape under each explanation; of the measured one as many as tell how far launches differ. */
enum { LEAST_BASES = 3, MOST_SIMULATIONS = 6 };

/* Stated works explain the launch where the misfit is less than so much of what it would be if blocks' speeds had nothing to do
 * with them. Bounds are kept whose misfit is at most so many times the least. */
static const double EXPLAINS = 0.75, KEPT = 1.04;

/* Each of a block's warps has a work of its own where the misfit is more than the first, and more than the second times what it then
 * would be: 0.71 to 1.07 (6 kernels, 3 distributions), and at most 0.53 where blocks have the works (19, 3 or 4). */
static const double OWN_MISFIT = 0.6, OWN_PART = 0.75;

/* Simulated makespans of 39 measured launches were so far off (root mean square), besides chance. */
static const double BASE_ERROR = 0.05;

struct tried {
    struct wt_bound bounds[MOST_TRIED];
    double misfits[MOST_TRIED], scales[MOST_TRIED];
    int count;
};

/* ---- Trying bounds ---- */

static void add(struct tried *t, bool gpu, double saturation, double favour)
{
    if (!isinf(saturation)) /* infinite: blocks take as long, whoever runs beside them */
        saturation = fmax(gpu ? LEAST_GPU_SATURATION : LEAST_SATURATION, fmin(MOST_SATURATION, saturation));
    if (favour > 0)
        favour = fmax(LEAST_FAVOUR, fmin(MOST_FAVOUR, favour));
    if (t->count < MOST_TRIED)
        t->bounds[t->count++] = (struct wt_bound){.gpu = gpu, .saturation = saturation, .favour = favour, .grain = GRAIN,
                                                  .hindered = favour > 0 ? HINDERED : 0};
}

/* Of all traces together: blocks differ within each, and the traces differ among each other. */
static void judge(const struct wt_stays *first, struct wt_stays *const *others, size_t others_count, struct tried *t, int from)
{
    int count = t->count - from;
    struct wt_stays_match *matches = wt_alloc((size_t)count * (others_count + 1), sizeof *matches);
    for (size_t k = 0; k <= others_count; k++)
        wt_stays_match(k == 0 ? first : others[k - 1], t->bounds + from, count, matches + k * (size_t)count);
    for (int i = 0; i < count; i++) {
        double sum = 0, squares = 0, within = 0, traces = (double)others_count + 1;
        for (size_t k = 0; k <= others_count; k++) {
            const struct wt_stays_match *match = &matches[k * (size_t)count + (size_t)i];
            double x = log(match->scale);
            sum += x;
            squares += x * x;
            within += match->misfit * match->misfit;
        }
        double among = fmax(0, squares / traces - sum / traces * (sum / traces));
        t->misfits[from + i] = sqrt(within / traces + among);
        t->scales[from + i] = exp(sum / traces);
    }
    free(matches);
}

static int least(const struct tried *t)
{
    int best = 0;
    for (int i = 1; i < t->count; i++)
        if (t->misfits[i] < t->misfits[best])
            best = i;
    return best;
}

static void try_all(const struct wt_stays *first, struct wt_stays *const *others, size_t others_count, struct tried *t)
{
    add(t, false, INFINITY, 0);
    for (double saturation = LEAST_GPU_SATURATION; saturation <= MOST_SATURATION; saturation *= 1.4)
        add(t, true, saturation, 0);
    for (double saturation = LEAST_SATURATION; saturation <= MOST_SATURATION; saturation *= 1.4) {
        add(t, false, saturation, 0);
        for (double favour = 0.2; favour < MOST_FAVOUR; favour += 0.15)
            add(t, false, saturation, favour);
    }
    judge(first, others, others_count, t, 0);
    for (double step = 0.5; step > 0.1; step /= 2) {
        struct wt_bound best = t->bounds[least(t)];
        int from = t->count;
        for (int s = -1; s <= 1; s++)
            for (int f = -1; f <= 1; f++)
                if ((s != 0 || f != 0) && (best.favour > 0 || f == 0))
                    add(t, best.gpu, best.saturation * pow(1.4, s * step), best.favour + 0.15 * f * step);
        judge(first, others, others_count, t, from);
    }
}

/* ---- What is kept ---- */

/* The misfit if each block's speed had nothing to do with its work, and the works' inequality: the same number. */
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

/* The misfit if each warp had a work of its own, as unequal as the stated ones, which are those of blocks' first warps: a block takes as
 * long as the longest. */
static double misfit_of_own(const struct wt_stays *stays)
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
static int unit_of(const struct wt_stays *stays, double misfit)
{
    if (stays->work_warps > 0)
        return stays->work_warps < stays->warps ? stays->work_warps : 0;
    return misfit > OWN_MISFIT && misfit > OWN_PART * misfit_of_own(stays) ? 1 : 0;
}

static void keep(struct wt_whatif *whatif, const struct tried *t, int which)
{
    for (int i = 0; i < whatif->count; i++)
        if (whatif->list[i].bound.saturation == t->bounds[which].saturation && whatif->list[i].mode == (int)t->bounds[which].gpu &&
            whatif->list[i].bound.favour == t->bounds[which].favour)
            return;
    whatif->list[whatif->count++] = (struct wt_explanation){.mode = t->bounds[which].gpu ? WT_MODE_GPU : WT_MODE_SM,
                                                            .bound = t->bounds[which], .cache = 1, .scale = t->scales[which],
                                                            .misfit = t->misfits[which]};
}

/* The best, the best that says otherwise what limits, and those with the lowest and the highest saturation. */
static void keep_nearest(struct wt_whatif *whatif, const struct tried *t)
{
    int best = least(t), other = -1, low = best, high = best;
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

enum wt_code wt_whatif_explain_stated(struct wt_whatif *whatif, struct wt_stays *const *others, size_t count, struct wt_error *err)
{
    double spread = spread_of_works(whatif->stays);
    bool stated = whatif->stays->works_stated && spread > WT_UNEQUAL;
    for (size_t i = 0; i < count; i++)
        stated &= others[i]->works_stated;
    if (!stated)
        return WT_OK;
    struct tried *tried = wt_alloc(1, sizeof *tried);
    try_all(whatif->stays, others, count, tried);
    double misfit = tried->misfits[least(tried)];
    whatif->unit = unit_of(whatif->stays, misfit);
    whatif->by_work = !whatif->unit && misfit < EXPLAINS * spread;
    for (int mode = 0; mode < WT_MODE_COUNT && (whatif->by_work || whatif->unit); mode++)
        for (uint64_t i = 0; i < whatif->stays->count; i++)
            whatif->parts[mode][i] = whatif->stays->list[i].work;
    if (whatif->by_work) {
        keep_nearest(whatif, tried);
        whatif->variants = wt_whatif_simulations(whatif, LEAST_BASES, MOST_SIMULATIONS);
    }
    free(tried);
    return whatif->by_work ? find_bases(whatif, err) : WT_OK;
}
