/* Random streams: PCG32 (O'Neill 2014, XSH-RR 64/32). One seed gives every component a stream of its own by
 * name, so that adding a component changes no other component's numbers. */
#ifndef WT_CORE_RANDOM_H
#define WT_CORE_RANDOM_H

#include <stdint.h>

struct wt_random {
    uint64_t state;
    uint64_t increment; /* odd; selects the stream */
};

/* The stream `name`, number `index`, of `seed`. */
struct wt_random wt_random_stream(uint64_t seed, const char *name, uint64_t index);

static inline uint32_t wt_random_u32(struct wt_random *r)
{
    uint64_t old = r->state;
    r->state = old * 6364136223846793005ULL + r->increment;
    uint32_t xorshifted = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return (xorshifted >> turn) | (xorshifted << ((32 - turn) & 31));
}

/* As `steps` calls of wt_random_u32, in logarithmic time (Brown 1994, "Random Number Generation with Arbitrary
 * Strides"). */
void wt_random_advance(struct wt_random *r, uint64_t steps);

/* Uniform in [0, bound), unbiased. bound >= 1. */
uint32_t wt_random_below(struct wt_random *r, uint32_t bound);

/* Uniform in the open interval (0, 1): never 0, never 1. */
static inline double wt_random_unit(struct wt_random *r)
{
    return ((double)wt_random_u32(r) + 0.5) * (1.0 / 4294967296.0);
}

#endif
