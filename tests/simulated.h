/* Small simulations for tests: GPUs written in a few lines, grids whose blocks last given cycles. */
#ifndef WT_TESTS_SIMULATED_H
#define WT_TESTS_SIMULATED_H

#include "dispatch/simulate.h"

enum { MOST_LISTED = 16 };

/* A grid of blocks of one warp (or `threads`). Block i lasts cycles[i]; the last one given holds for all that
 * follow. */
struct grid {
    uint64_t blocks;
    double cycles[MOST_LISTED];
    int threads;   /* 0: 32 */
    int registers; /* per thread; 0: 16 */
    int dynamic_shared_bytes;
    bool cooperative;
    int cluster; /* 0: none */
};

struct start {
    const struct wt_policy *policy; /* NULL: the GPU's */
    int first_group, first_extra_sm;
    uint64_t seed;
};

/* Where nothing is known beforehand. */
extern const struct start from_anew;

/* The GPU `name`. */
struct wt_gpu *gpu_named(const char *name);

/* A GPU after "four-sms" (SMs like an H100's that take no time for anything) with these keys of its groups
 * `topology` and `rates`, and `slots` blocks to an SM. */
struct wt_gpu *gpu_of(int slots, const char *topology, const char *rates);

/* Simulates the grids in one stream. The runs of all blocks, by grid and block, in an array that the caller frees. */
struct wt_block_run *simulated(const struct wt_gpu *gpu, const struct start *start, const struct grid *grids,
                               size_t count);

/* The start of each of `count` blocks is cycles[i], exactly. */
void assert_starts(const struct wt_block_run *runs, size_t count, const double *cycles);
void assert_sms(const struct wt_block_run *runs, size_t count, const int *sms);

/* The distributor's group of an SM of an H200, told from hardware: SM ids go round eight by TPC until one has its 8 and two
 * go on to 18; 124 to 131 are out of turn, group 8. */
int h200_group_of(int sm);

#endif
