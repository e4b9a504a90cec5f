#include "core/draw.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#include "core/portable.h"

enum { LAYERS = 256 };

/* Under a falling density, LAYERS strips of equal area stacked on the x axis: strip i reaches from 0 to x[i] and
 * holds the density's values f[i]..f[i+1]; the lowest one's area includes the tail beyond x[1]. */
struct ziggurat {
    double x[LAYERS + 1];
    double f[LAYERS + 1];
};

/* Where the tail begins, and each strip's area: constants of the method for 256 layers. */
static const double normal_tail = 3.6541528853610088, normal_area = 0.0049286732339746519;
static const double exponential_tail = 7.6971174701310497, exponential_area = 0.0039496598225815572;

static struct ziggurat normal, exponential;
static once_flag built = ONCE_FLAG_INIT;

static double normal_density(double x)
{
    return wt_exp(-0.5 * x * x);
}

static double normal_inverse(double density)
{
    return sqrt(-2 * wt_ln(density));
}

static double exponential_density(double x)
{
    return wt_exp(-x);
}

static double exponential_inverse(double density)
{
    return -wt_ln(density);
}

static void build(struct ziggurat *z, double tail, double area, double (*density)(double), double (*inverse)(double))
{
    z->x[0] = area / density(tail);
    z->f[0] = 0;
    z->x[1] = tail;
    z->f[1] = density(tail);
    for (int i = 1; i < LAYERS - 1; i++) {
        z->f[i + 1] = z->f[i] + area / z->x[i];
        z->x[i + 1] = inverse(z->f[i + 1]);
    }
    z->x[LAYERS] = 0;
    z->f[LAYERS] = 1;
}

static void build_all(void)
{
    build(&normal, normal_tail, normal_area, normal_density, normal_inverse);
    build(&exponential, exponential_tail, exponential_area, exponential_density, exponential_inverse);
}

/* 64 random bits: the lowest choose the strip, the highest the place across it. */
static inline uint64_t draw_bits(struct wt_random *r)
{
    uint64_t low = wt_random_u32(r);
    return (uint64_t)wt_random_u32(r) << 32 | low;
}

static inline int strip_of(uint64_t bits)
{
    return (int)(bits % LAYERS);
}

/* Whether a point of strip `layer` at x, at a random height, lies under the density. */
static bool is_under(const struct ziggurat *z, int layer, double density, struct wt_random *r)
{
    return z->f[layer] + wt_random_unit(r) * (z->f[layer + 1] - z->f[layer]) < density;
}

static double draw_exponential(struct wt_random *r)
{
    for (double shift = 0;;) {
        uint64_t bits = draw_bits(r);
        int layer = strip_of(bits);
        double x = (double)(int64_t)(bits >> 11) * 0x1p-53 * exponential.x[layer];
        if (x < exponential.x[layer + 1])
            return shift + x;
        if (layer == 0) /* the tail is the same distribution again, moved */
            shift += exponential_tail;
        else if (is_under(&exponential, layer, exponential_density(x), r))
            return shift + x;
    }
}

/* Beyond normal_tail (Marsaglia 1964): accepted with probability exp(-x^2/2) where x is exponential. */
static double draw_normal_tail(struct wt_random *r)
{
    for (;;) {
        double x = draw_exponential(r) / normal_tail;
        if (2 * draw_exponential(r) >= x * x)
            return normal_tail + x;
    }
}

/* The place across a strip has a sign: no branch that a processor would guess wrongly half of the time. */
static double draw_normal(struct wt_random *r)
{
    for (;;) {
        uint64_t bits = draw_bits(r);
        int layer = strip_of(bits);
        double x = (double)((int64_t)bits >> 10) * 0x1p-53 * normal.x[layer];
        if (fabs(x) < normal.x[layer + 1])
            return x;
        if (layer == 0)
            return copysign(draw_normal_tail(r), x);
        if (is_under(&normal, layer, normal_density(x), r))
            return x;
    }
}

void wt_draw_normal(struct wt_random *r, double *out, int count)
{
    call_once(&built, build_all);
    for (int i = 0; i < count; i++)
        out[i] = draw_normal(r);
}

void wt_draw_exponential(struct wt_random *r, double *out, int count)
{
    call_once(&built, build_all);
    for (int i = 0; i < count; i++)
        out[i] = draw_exponential(r);
}
