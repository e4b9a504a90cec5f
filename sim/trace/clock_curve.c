#include "trace/clock_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* The curve is t(c) = c / rate + z(c) with z linear between knots. Minimised over the z of the knots:
 *   sum over readings of -log(P + OUTLIER), P = chance that t plus noise lies within the reading's bounds
 *   + PULL: each reading draws weakly to its middle (decides where the bounds leave room)
 *   + rate changes, as a random walk, and rate itself, as a normal variable around the nominal one, less at first.
 * Newton's method; the second derivatives form a band of five diagonals. */
static const double KNOT_NS = 400; /* readings closer than this share a knot, but all of them have two */
static const double NOISE_NS = 2; /* skew inside a GPC and jitter between the two reads, standard deviation */
static const double OUTLIER = 1e-3;
static const double PULL = 0.01;
static const double RATE_SPREAD = 0.02; /* of a domain's mean rate around the nominal one, relative */
static const double RATE_WALK = 1e-4;   /* change of rate within sqrt(1 ns), relative: 0.3 % within 1 us */
/* What clocks lose when many blocks start at once. (H200, starts of 16,896 blocks of 32 to 128 threads within the first 700 cycles: GPCs'
 * rates are 1.2 to 2.5 % below 1.98 GHz in the mean of a launch, 0.6 % within the next 1,300, and then come back.) */
static const double DROOP = 0.02, DROOP_NS = 350;
static const double LEAST_RATE = 0.1;   /* no clock runs faster than 10 times its nominal rate */
enum { ROUNDS = 40 };

struct problem {
    size_t knots, count;
    double *at;         /* knots: clock / rate, ns */
    size_t *left;       /* per reading: the knot before it */
    double *weight;     /* of the knot after it */
    double *low, *high; /* bounds on z */
    double *chance;     /* of the reading's bounds, where cost was last asked */
};

struct system { /* symmetric, five diagonals: main, first, second; all of length knots */
    double *main, *first, *second, *gradient;
};

/* Of the normal distribution less lies beyond than any digit of OUTLIER shows. Most readings have one bound there. */
static const double BEYOND = 9.5;

static double density(double x)
{
    return fabs(x) < BEYOND ? exp(-0.5 * x * x) * 0.3989422804014327 : 0;
}

/* Twice the chance that a standard normal variable is more than x. */
static double above(double x)
{
    return x >= BEYOND ? 0 : x <= -BEYOND ? 2 : erfc(x * M_SQRT1_2);
}

/* Chance that a standard normal variable lies in [a, b], exact in the tails. */
static double chance(double a, double b)
{
    return 0.5 * (a > 0 ? above(a) - above(b) : above(-b) - above(-a));
}

/* Chance of the bounds, where the value is z. */
static double within(double low, double high, double z)
{
    return chance((low - z) / NOISE_NS, (high - z) / NOISE_NS);
}

double wt_interval_consensus(const double *low, const double *high, size_t count)
{
    double least = low[0], most = high[0];
    for (size_t i = 1; i < count; i++) {
        least = low[i] < least ? low[i] : least;
        most = high[i] > most ? high[i] : most;
    }
    double edge[2];
    for (int side = 0; side < 2; side++) {
        double a = least, b = most;
        for (int round = 0; round < 24; round++) {
            double middle = 0.5 * (a + b);
            long balance = 0;
            for (size_t i = 0; i < count; i++)
                balance += (low[i] > middle) - (high[i] < middle);
            if (side ? balance >= 0 : balance > 0)
                a = middle;
            else
                b = middle;
        }
        edge[side] = 0.5 * (a + b);
    }
    return 0.5 * (edge[0] + edge[1]);
}

static void locate(struct problem *p, size_t reading, size_t *knot, double u)
{
    while (*knot + 2 < p->knots && u > p->at[*knot + 1])
        ++*knot;
    while (*knot > 0 && u < p->at[*knot])
        --*knot;
    p->left[reading] = *knot;
    double span = p->knots > 1 ? p->at[*knot + 1] - p->at[*knot] : 1;
    double weight = p->knots > 1 ? (u - p->at[*knot]) / span : 0;
    p->weight[reading] = weight < 0 ? 0 : weight > 1 ? 1 : weight;
}

/* Knots in the middle of runs of readings, and a first value for each. */
static void place_knots(struct problem *p, const struct wt_reading *readings, double rate, double delay,
                        double *z)
{
    double run = fmin(KNOT_NS * rate, 0.5 * (readings[p->count - 1].clock - readings[0].clock));
    for (size_t begin = 0, end; begin < p->count; begin = end) {
        double sum = 0;
        for (end = begin; end < p->count && readings[end].clock - readings[begin].clock <= run; end++)
            sum += wt_reading_clock(&readings[end], delay) / rate;
        p->at[p->knots] = sum / (double)(end - begin);
        if (p->knots > 0 && p->at[p->knots] < p->at[p->knots - 1] + 1)
            p->at[p->knots] = p->at[p->knots - 1] + 1;
        z[p->knots++] = wt_interval_consensus(p->low + begin, p->high + begin, end - begin);
    }
    p->at[0] = fmin(p->at[0], wt_reading_clock(&readings[0], delay) / rate);
    p->at[p->knots - 1] = fmax(p->at[p->knots - 1], wt_reading_clock(&readings[p->count - 1], delay) / rate);
}

static void set_up(struct problem *p, const struct wt_reading *readings, size_t count, double rate,
                   double delay, double *z)
{
    size_t knot = 0;
    p->count = count;
    for (size_t i = 0; i < count; i++) {
        double u = wt_reading_clock(&readings[i], delay) / rate;
        p->low[i] = readings[i].low - u;
        p->high[i] = readings[i].high - u;
    }
    place_knots(p, readings, rate, delay, z);
    for (size_t i = 0; i < count; i++)
        locate(p, i, &knot, wt_reading_clock(&readings[i], delay) / rate);
}

static double value(const struct problem *p, const double *z, size_t reading)
{
    size_t k = p->left[reading];
    return p->knots > 1 ? z[k] + p->weight[reading] * (z[k + 1] - z[k]) : z[0];
}

static double slope(const struct problem *p, const double *z, size_t k)
{
    return (z[k + 1] - z[k]) / (p->at[k + 1] - p->at[k]);
}

/* Of piece k, before any reading. */
static double usual_slope(const struct problem *p, size_t k)
{
    double slow = fmin(p->at[k + 1], p->at[0] + DROOP_NS) - p->at[k];
    return slow > 0 ? DROOP * slow / (p->at[k + 1] - p->at[k]) : 0;
}

/* Inverse variance of the slope of piece k, so that all pieces together count as one observation. */
static double slope_weight(const struct problem *p, size_t k)
{
    return (p->at[k + 1] - p->at[k]) / (p->at[p->knots - 1] - p->at[0]) / (RATE_SPREAD * RATE_SPREAD);
}

/* Inverse variance of the change of slope at knot k. */
static double walk_weight(const struct problem *p, size_t k)
{
    return 1 / (RATE_WALK * RATE_WALK * 0.5 * (p->at[k + 1] - p->at[k - 1]));
}

static double pull_weight(const struct problem *p, size_t reading)
{
    double width = p->high[reading] - p->low[reading];
    return PULL / (width * width / 12 + NOISE_NS * NOISE_NS);
}

static double cost(const struct problem *p, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        double v = value(p, z, i), away = v - 0.5 * (p->low[i] + p->high[i]);
        p->chance[i] = within(p->low[i], p->high[i], v);
        sum += -log(p->chance[i] + OUTLIER) + 0.5 * pull_weight(p, i) * away * away;
    }
    for (size_t k = 0; k + 1 < p->knots; k++) {
        double unusual = slope(p, z, k) - usual_slope(p, k);
        sum += 0.5 * slope_weight(p, k) * unusual * unusual;
    }
    for (size_t k = 1; k + 1 < p->knots; k++) {
        double change = slope(p, z, k) - slope(p, z, k - 1);
        sum += 0.5 * walk_weight(p, k) * change * change;
    }
    return sum;
}

/* Adds weight * (c . z - usual)^2 / 2, c having three entries from knot k on. */
static void add_square(struct system *s, size_t k, const double c[3], const double *z, double usual, double weight)
{
    double product = -usual;
    for (int i = 0; i < 3; i++)
        if (c[i] != 0)
            product += c[i] * z[k + (size_t)i];
    for (int i = 0; i < 3; i++) {
        if (c[i] == 0)
            continue;
        s->gradient[k + (size_t)i] += weight * product * c[i];
        s->main[k + (size_t)i] += weight * c[i] * c[i];
        if (i < 2)
            s->first[k + (size_t)i] += weight * c[i] * c[i + 1];
    }
    s->second[k] += weight * c[0] * c[2];
}

static void add_reading(struct system *s, const struct problem *p, const double *z, size_t i)
{
    double v = value(p, z, i), a = (p->low[i] - v) / NOISE_NS, b = (p->high[i] - v) / NOISE_NS;
    double whole = p->chance[i] + OUTLIER, da = density(a), db = density(b);
    double score = (da - db) / NOISE_NS / whole;
    double curvature = score * score - (a * da - b * db) / (NOISE_NS * NOISE_NS) / whole;
    double pull = pull_weight(p, i), w = p->weight[i];
    double gradient = -score + pull * (v - 0.5 * (p->low[i] + p->high[i]));
    double hessian = (curvature > 0 ? curvature : 0) + pull;
    size_t k = p->left[i];
    s->gradient[k] += gradient * (1 - w);
    s->main[k] += hessian * (1 - w) * (1 - w);
    if (p->knots > 1) {
        s->gradient[k + 1] += gradient * w;
        s->main[k + 1] += hessian * w * w;
        s->first[k] += hessian * w * (1 - w);
    }
}

static void assemble(struct system *s, const struct problem *p, const double *z)
{
    memset(s->main, 0, 4 * p->knots * sizeof *s->main);
    for (size_t i = 0; i < p->count; i++)
        add_reading(s, p, z, i);
    for (size_t k = 0; k + 1 < p->knots; k++) {
        double h = p->at[k + 1] - p->at[k];
        add_square(s, k, (double[3]){-1 / h, 1 / h, 0}, z, usual_slope(p, k), slope_weight(p, k));
    }
    for (size_t k = 1; k + 1 < p->knots; k++) {
        double h = p->at[k] - p->at[k - 1], g = p->at[k + 1] - p->at[k];
        add_square(s, k - 1, (double[3]){1 / h, -1 / h - 1 / g, 1 / g}, z, 0, walk_weight(p, k));
    }
}

/* Solves system * x = gradient in place (L D L^T); the result replaces the gradient. */
static void solve(struct system *s, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double f = s->first[k] / s->main[k], g = s->second[k] / s->main[k];
        if (k + 1 < n) {
            s->main[k + 1] -= f * s->first[k];
            s->first[k + 1] -= f * s->second[k];
            s->gradient[k + 1] -= f * s->gradient[k];
        }
        if (k + 2 < n) {
            s->main[k + 2] -= g * s->second[k];
            s->gradient[k + 2] -= g * s->gradient[k];
        }
        s->gradient[k] /= s->main[k];
        s->first[k] = f;
        s->second[k] = g;
    }
    for (size_t k = n; k-- > 0;) {
        if (k + 1 < n)
            s->gradient[k] -= s->first[k] * s->gradient[k + 1];
        if (k + 2 < n)
            s->gradient[k] -= s->second[k] * s->gradient[k + 2];
    }
}

/* One step from where cost was last asked, shortened until the cost falls. Returns the largest change of a knot, 0 when no step helps. */
static double improve(const struct problem *p, struct system *s, double *z, double *trial, double *current)
{
    assemble(s, p, z);
    solve(s, p->knots);
    for (double length = 1; length > 1e-3; length *= 0.5) {
        double largest = 0;
        for (size_t k = 0; k < p->knots; k++) {
            trial[k] = z[k] - length * s->gradient[k];
            largest = fmax(largest, fabs(trial[k] - z[k]));
        }
        double reached = cost(p, trial);
        if (reached < *current) {
            *current = reached;
            memcpy(z, trial, p->knots * sizeof *z);
            return largest;
        }
    }
    return 0;
}

/* Returns the cost. */
static double optimise(const struct problem *p, double *z)
{
    double *room = wt_alloc(5 * p->knots, sizeof *room);
    struct system s = {room, room + p->knots, room + 2 * p->knots, room + 3 * p->knots};
    double current = cost(p, z);
    for (int round = 0; round < ROUNDS; round++)
        if (improve(p, &s, z, room + 4 * p->knots, &current) < 0.01)
            break;
    free(room);
    return current;
}

/* Readings that contradict each other must not make time run backwards. */
static void keep_ascending(struct wt_clock_curve *curve)
{
    for (size_t k = 1; k < curve->count; k++) {
        double least = LEAST_RATE * (curve->clock[k] - curve->clock[k - 1]) / curve->cycles_per_ns;
        curve->time_ns[k] = fmax(curve->time_ns[k], curve->time_ns[k - 1] + least);
    }
}

struct wt_clock_curve wt_clock_curve_fit(const struct wt_readings *readings, double cycles_per_ns,
                                         double delay)
{
    size_t count = readings->count;
    double *room = wt_alloc(6 * count, sizeof *room), *z = room;
    struct problem p = {.at = room + count,
                        .weight = room + 2 * count,
                        .low = room + 3 * count,
                        .high = room + 4 * count,
                        .chance = room + 5 * count,
                        .left = wt_alloc(count, sizeof *p.left)};
    set_up(&p, readings->at, count, cycles_per_ns, delay, z);
    struct wt_clock_curve curve = {.cycles_per_ns = cycles_per_ns, .cost = optimise(&p, z), .count = p.knots};
    curve.clock = wt_alloc(p.knots, sizeof *curve.clock);
    curve.time_ns = wt_alloc(p.knots, sizeof *curve.time_ns);
    for (size_t k = 0; k < p.knots; k++) {
        curve.clock[k] = p.at[k] * cycles_per_ns;
        curve.time_ns[k] = p.at[k] + z[k];
    }
    keep_ascending(&curve);
    free(p.left);
    free(room);
    return curve;
}

void wt_clock_curve_free(struct wt_clock_curve *curve)
{
    free(curve->clock);
    free(curve->time_ns);
    *curve = (struct wt_clock_curve){0};
}

double wt_clock_curve_time(const struct wt_clock_curve *curve, double clock)
{
    size_t low = 0, high = curve->count - 1;
    if (clock <= curve->clock[0])
        return curve->time_ns[0] + (clock - curve->clock[0]) / curve->cycles_per_ns;
    if (clock >= curve->clock[high])
        return curve->time_ns[high] + (clock - curve->clock[high]) / curve->cycles_per_ns;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (curve->clock[middle] <= clock)
            low = middle;
        else
            high = middle;
    }
    double share = (clock - curve->clock[low]) / (curve->clock[high] - curve->clock[low]);
    return curve->time_ns[low] + share * (curve->time_ns[high] - curve->time_ns[low]);
}

double wt_clock_curve_misfit(const struct wt_clock_curve *curve, const struct wt_readings *readings,
                             double delay)
{
    double sum = 0;
    for (size_t i = 0; i < readings->count; i++) {
        const struct wt_reading *reading = &readings->at[i];
        double time = wt_clock_curve_time(curve, wt_reading_clock(reading, delay));
        sum += -log(within(reading->low, reading->high, time) + OUTLIER);
    }
    return sum;
}
