#include "core/random.h"

/* FNV-1a then a splitmix64 finaliser: names differ in every bit of the stream. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

struct wt_random wt_random_stream(uint64_t seed, const char *name, uint64_t index)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3ULL;
    struct wt_random r = {.state = 0, .increment = (mix(hash + index * 0x9e3779b97f4a7c15ULL) << 1) | 1};
    wt_random_u32(&r);
    r.state += mix(seed);
    wt_random_u32(&r);
    return r;
}

void wt_random_advance(struct wt_random *r, uint64_t steps)
{
    uint64_t multiplier = 6364136223846793005ULL, increment = r->increment;
    uint64_t total_multiplier = 1, total_increment = 0;
    for (; steps; steps >>= 1) {
        if (steps & 1) {
            total_multiplier *= multiplier;
            total_increment = total_increment * multiplier + increment;
        }
        increment *= multiplier + 1;
        multiplier *= multiplier;
    }
    r->state = total_multiplier * r->state + total_increment;
}

uint32_t wt_random_below(struct wt_random *r, uint32_t bound)
{
    uint32_t threshold = (uint32_t)(-bound) % bound;
    for (;;) {
        uint32_t x = wt_random_u32(r);
        if (x >= threshold)
            return x % bound;
    }
}
