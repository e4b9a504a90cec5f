/* Two ways. Few readings: a clock curve is fitted to each domain's with every phase, and the likeliest phase wins. (18 H200
 * captures of 132 to 400 empty blocks: GPCs' first starts, against the simulated ones, scatter by 2.3 cycles; by 3.4 the other way.)
 *
 * Many: readings of one clock domain within a window of 150 ns differ by known clock differences (a rate wrong by 3
 * % makes 4 ns at most), so one offset must fit all their intervals. How far it does not is summed over
 * windows; the phase that makes least of it wins. Starts and ends are in windows of their own, since the
 * delay between the two reads is not known yet. */
#include "trace/driver.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

enum {
    FEW = 2000, /* readings; more take long, and are not needed */
    WINDOW = 16,
    WINDOWS = 1000,
    COARSE = 50,
    FINE = 8
};
static const double ALIKE = 0.5; /* -log of how likely one phase is against another */
static const double WINDOW_NS = 150;
/* What chance may do to a misfit, as a share of the range over all phases: between equally good phases, and
 * between the best phase and no driving clock at all. */
static const double EQUAL = 0.01, BETTER = 0.05, LEAST_MARGIN_NS = 0.5;
static const double OUTLIER_NS = 8; /* no reading counts for more */

/* H200: 108 MHz would gain 250/27 = 9.25926 ns per cycle. The captures that last over 0.2 ms (chase_*,
 * stream_*, fma4_*, bar_*) put it 15.6 +- 0.4 ppm lower. */
static const double PERIOD_NS = 250.0 / 27 * (1 - 15.6e-6);
static const double PERIOD_DOUBT = 8e-6; /* relative; fitted within this where the trace is long enough */

struct window {
    int count;
    int64_t stamp[WINDOW];
    double u[WINDOW]; /* time by the clock, ns */
};

struct windows {
    struct window *at;
    size_t count, capacity;
};

static struct window *add_window(struct windows *all)
{
    all->at = wt_grow(all->at, &all->capacity, all->count + 1, sizeof *all->at);
    all->at[all->count].count = 0;
    return &all->at[all->count++];
}

static void drop_small(struct windows *all)
{
    if (all->count > 0 && all->at[all->count - 1].count < 3)
        all->count--;
}

static void cut_windows(struct windows *all, const struct wt_readings *domain, bool is_end,
                        double cycles_per_ns)
{
    struct window *window = NULL;
    for (size_t i = 0; i < domain->count; i++) {
        const struct wt_reading *reading = &domain->at[i];
        double u = reading->clock / cycles_per_ns;
        if (reading->is_end != is_end)
            continue;
        if (!window || window->count == WINDOW || u - window->u[0] > WINDOW_NS) {
            drop_small(all);
            window = add_window(all);
        }
        window->stamp[window->count] = reading->stamp;
        window->u[window->count++] = u;
    }
    if (window)
        drop_small(all);
}

/* At most WINDOWS of them, evenly chosen. */
static void thin_out(struct windows *all)
{
    size_t stride = all->count / WINDOWS + 1, kept = 0;
    for (size_t i = 0; i < all->count; i += stride)
        all->at[kept++] = all->at[i];
    all->count = kept;
}

/* Distance to the offset that the intervals admit best. Drops the highest low and the lowest high, in pairs,
 * until the rest meet: any offset between them is best. */
static double least_distance(const double low[], const double high[], int count)
{
    double lows[WINDOW], highs[WINDOW], sum = 0, z = 0;
    for (int i = 0; i < count; i++) {
        lows[i] = low[i];
        highs[i] = high[i];
    }
    for (int left = count; left > 0; left--) {
        int top = 0, bottom = 0;
        for (int i = 1; i < left; i++) {
            top = lows[i] > lows[top] ? i : top;
            bottom = highs[i] < highs[bottom] ? i : bottom;
        }
        z = 0.5 * (lows[top] + highs[bottom]);
        if (lows[top] <= highs[bottom])
            break;
        lows[top] = lows[left - 1];
        highs[bottom] = highs[left - 1];
    }
    for (int i = 0; i < count; i++)
        sum += fmin(fmax(fmax(low[i] - z, z - high[i]), 0), OUTLIER_NS);
    return sum;
}

static double misfit(const struct windows *all, const struct wt_ticks *ticks)
{
    double sum = 0;
    for (size_t w = 0; w < all->count; w++) {
        const struct window *window = &all->at[w];
        double low[WINDOW], high[WINDOW];
        for (int i = 0; i < window->count; i++) {
            wt_ticks_interval(ticks, window->stamp[i], &low[i], &high[i]);
            low[i] -= window->u[i];
            high[i] -= window->u[i];
        }
        sum += least_distance(low, high, window->count);
    }
    return sum;
}

static int extreme(const double by_phase[COARSE], int sign)
{
    int found = 0;
    for (int i = 1; i < COARSE; i++)
        found = sign * by_phase[i] > sign * by_phase[found] ? i : found;
    return found;
}

/* The middle of the run of phases with a misfit of `good` at most, around the best; *others: how many besides it. */
static int middle_of_good(const double by_phase[COARSE], double good, int *others)
{
    int best = extreme(by_phase, -1), before = 0, after = 0;
    while (before < COARSE / 2 && by_phase[(best + COARSE - before - 1) % COARSE] <= good)
        before++;
    while (after < COARSE / 2 && by_phase[(best + after + 1) % COARSE] <= good)
        after++;
    *others = before + after;
    return (best + COARSE + (after - before) / 2) % COARSE;
}

/* Tries 2 * FINE + 1 variants around the best so far: the phase changes by `phase_step` from one to the next,
 * the period by `period_step` with the lag at `pivot_ns` after the origin unchanged. */
static double refine(const struct windows *all, struct wt_ticks *ticks, double best, double phase_step,
                     double period_step, double pivot_ns)
{
    struct wt_ticks centre = *ticks;
    for (int i = -FINE; i <= FINE; i++) {
        struct wt_ticks trial = centre;
        trial.period_ns = centre.period_ns + i * period_step;
        trial.phase_ns = centre.phase_ns + i * phase_step - pivot_ns / centre.period_ns * (i * period_step);
        trial.phase_ns -= trial.period_ns * floor(trial.phase_ns / trial.period_ns);
        double reached = misfit(all, &trial);
        if (reached < best) {
            best = reached;
            *ticks = trial;
        }
    }
    return best;
}

/* Times from the first to the last stamp in the windows, after the origin. */
static void extent(const struct windows *all, int64_t origin, double *first, double *last)
{
    *first = INFINITY;
    *last = -INFINITY;
    for (size_t w = 0; w < all->count; w++) {
        *first = fmin(*first, (double)(all->at[w].stamp[0] - origin));
        *last = fmax(*last, (double)(all->at[w].stamp[0] - origin));
    }
}

static void search(const struct windows *all, struct wt_ticks *ticks)
{
    struct wt_ticks trial = *ticks;
    double without = misfit(all, ticks), by_phase[COARSE], first, last;
    trial.period_ns = PERIOD_NS;
    extent(all, ticks->origin_ns, &first, &last);
    for (int i = 0; i < COARSE; i++) {
        trial.phase_ns =
            fmod(PERIOD_NS * i / COARSE + 0.5 * (first + last), PERIOD_NS); /* lag in the middle */
        by_phase[i] = misfit(all, &trial);
    }
    double least = by_phase[extreme(by_phase, -1)], range = by_phase[extreme(by_phase, 1)] - least;
    int others, chosen = middle_of_good(by_phase, least + EQUAL * range + LEAST_MARGIN_NS, &others);
    if (others >= COARSE / 2) /* half of all phases: undecided */
        return;
    trial.phase_ns = fmod(PERIOD_NS * chosen / COARSE + 0.5 * (first + last), PERIOD_NS);
    double best = by_phase[chosen];
    if ((last - first) * PERIOD_DOUBT > 0.5)
        best = refine(all, &trial, best, 0, PERIOD_NS * PERIOD_DOUBT / FINE, 0.5 * (first + last));
    best = refine(all, &trial, best, PERIOD_NS / COARSE / FINE, 0, 0);
    if (best < without - BETTER * range - LEAST_MARGIN_NS)
        *ticks = trial;
}

void wt_ticks_bound(const struct wt_ticks *ticks, struct wt_readings *domains, int domain_count)
{
    for (int d = 0; d < domain_count; d++)
        for (size_t i = 0; i < domains[d].count; i++) {
            struct wt_reading *reading = &domains[d].at[i];
            wt_ticks_interval(ticks, reading->stamp, &reading->low, &reading->high);
        }
}

/* -log of the chance of all readings, curves fitted. */
static double cost_of_curves(const struct wt_ticks *ticks, struct wt_readings *domains, int domain_count, double cycles_per_ns,
                             double delay)
{
    double sum = 0;
    wt_ticks_bound(ticks, domains, domain_count);
    for (int d = 0; d < domain_count; d++) {
        struct wt_clock_curve curve = wt_clock_curve_fit(&domains[d], cycles_per_ns, delay);
        sum += curve.cost;
        wt_clock_curve_free(&curve);
    }
    return sum;
}

/* A driving clock of any phase against none. */
static void search_curves(struct wt_ticks *ticks, struct wt_readings *domains, int domain_count, double cycles_per_ns,
                          double delay)
{
    struct wt_ticks trial = *ticks;
    double without = cost_of_curves(ticks, domains, domain_count, cycles_per_ns, delay), cost[COARSE], chance = 0;
    trial.period_ns = PERIOD_NS;
    for (int i = 0; i < COARSE; i++) {
        trial.phase_ns = PERIOD_NS * i / COARSE;
        cost[i] = cost_of_curves(&trial, domains, domain_count, cycles_per_ns, delay);
        chance += exp(without - cost[i]) / COARSE;
    }
    if (!(chance > 1))
        return;
    int others;
    trial.phase_ns = PERIOD_NS * middle_of_good(cost, cost[extreme(cost, -1)] + ALIKE, &others) / COARSE;
    *ticks = trial;
}

void wt_ticks_find_driver(struct wt_ticks *ticks, struct wt_readings *domains, int domain_count,
                          double cycles_per_ns, double delay)
{
    struct windows all = {0};
    size_t count = 0;
    for (int d = 0; d < domain_count; d++)
        count += domains[d].count;
    if (count <= FEW) {
        search_curves(ticks, domains, domain_count, cycles_per_ns, delay);
        return;
    }
    for (int d = 0; d < domain_count; d++)
        for (int is_end = 0; is_end < 2; is_end++)
            cut_windows(&all, &domains[d], is_end, cycles_per_ns);
    thin_out(&all);
    search(&all, ticks);
    free(all.at);
}
