/* Simulated time: unsigned 64-bit, in units of 1/1024 SM-clock cycle (the distributor's service time is a
 * fraction of a cycle). 2^54 cycles fit: about 100 days at 2 GHz. */
#ifndef WT_CORE_TIME_H
#define WT_CORE_TIME_H

#include <stdint.h>

typedef uint64_t wt_time;

#define WT_CYCLE ((wt_time)1024)
#define WT_NEVER UINT64_MAX

/* Rounds to the nearest unit; `cycles` in [0, 2^53]. */
static inline wt_time wt_from_cycles(double cycles)
{
    return (wt_time)(cycles * 1024.0 + 0.5);
}

static inline double wt_to_cycles(wt_time t)
{
    return (double)t / 1024.0;
}

static inline wt_time wt_later(wt_time a, wt_time b)
{
    return a > b ? a : b;
}

static inline wt_time wt_sooner(wt_time a, wt_time b)
{
    return a < b ? a : b;
}

#endif
