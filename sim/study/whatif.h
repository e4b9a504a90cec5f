/* What if a measured launch had another shape? From its trace, and others of the same kernel where there are some, the work of
 * each block and what limits the kernel are fitted; then the launch is simulated anew in another shape (cost/fluid.h).
 *
 * The fit. Simulated with the right bound (how many warps saturate an SM, or the memory of the GPU; how much an SM favours its
 * oldest blocks), blocks end when they were measured to end: one by one where the oldest are favoured, all residents together
 * where nobody is, and the last ones, beside few others, as fast as few warps are. Blocks have equal work unless the
 * trace states it or durations differ by far. Where stated works are very unequal each SM is followed through its blocks
 * (study/follow.h); where they do not explain how long blocks took, they are those of first warps, and the other warps have works of
 * their own, as unequal.
 * Other traces must come out with the right makespans. Where SMs did very different numbers of equal blocks, what they share
 * is the limit. Everything that explains the data nearly as well is kept, and a prediction's interval spans what all of it
 * predicts; its middle, by likelihood, is the prediction. */
#ifndef WT_STUDY_WHATIF_H
#define WT_STUDY_WHATIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "cost/rework.h"
#include "gpu/gpu.h"
#include "sm/occupancy.h"

/* Another shape of the launch. The threads stay as many: blocks take neighbours in, or are cut up, in index order. */
struct wt_whatif_point {
    int threads;              /* per block; 0: as measured */
    int registers_per_thread; /* -1: as measured */
    int dynamic_shared_bytes; /* -1: as measured */
    enum wt_order order;
    int split;                /* >= 1: each block becomes so many, with an equal share of its work */
    const struct wt_gpu *gpu; /* NULL: as measured */
    bool persistent;          /* as many blocks as fit at once, which take the others' work from a counter */
    double spill_cost;        /* >= 0: so much more work for each register per thread that is cut (0.01: 1 %) */
    bool shared_work;         /* threads of a block do equal parts of what theirs had to do; otherwise each keeps its own, and a block
                                 lasts as long as the longest */
    double shared_loads;      /* 0 to 1: the part of the work that is loads shared by a square tile of the block's threads */
};

struct wt_whatif_result {
    double makespan;   /* cycles of the point's GPU */
    double low, high;  /* of which 80 % or more of measured makespans are within */
    double speedup;    /* measured / predicted time; of cycles where a clock is unknown */
    struct wt_occupancy occupancy;
    double achieved_occupancy; /* resident warps over SMs and makespan / what an SM holds */
    double waves;
    double tail_fraction; /* of the makespan: after the last block was handed out */
    char why[240];        /* one sentence */
};

/* What one or several traces tell of a kernel. Read-only: predictions may be made in many threads at once. */
struct wt_whatif;

/* The first trace is the measured launch; the others are of the same kernel with as many threads and as much work. Of each file
 * the first launch counts. `gpu`: as for wt_gpu_load; NULL: the GPU that the trace names. `fixed`: blocks take as long as
 * measured, whatever runs beside them; one trace only. On failure *out is NULL. */
enum wt_code wt_whatif_fit(const char *const *traces, size_t count, const char *gpu, bool fixed, struct wt_whatif **out,
                           struct wt_error *err);
/* The same of a workload's first kernel, an ordinary one whose durations are fixed or shared by `demand` (study/workload.h). `fixed`: as
 * if it had no demand. What is called measured is then simulated, and nothing is unknown. */
enum wt_code wt_whatif_of_workload(const char *path, const char *gpu, bool fixed, struct wt_whatif **out, struct wt_error *err);

/* NULL is allowed. */
void wt_whatif_free(struct wt_whatif *whatif);

/* Fails when such blocks cannot be launched. */
enum wt_code wt_whatif_predict(const struct wt_whatif *whatif, const struct wt_whatif_point *point,
                               struct wt_whatif_result *result, struct wt_error *err);

/* The measured launch. */
struct wt_whatif_measured {
    const char *name;
    double makespan; /* cycles */
    double clock_mhz; /* 0: unknown */
    struct wt_launch_needs needs;
    uint64_t blocks;
    bool gpu_limits;       /* the best explanation: the GPU's memory is the limit, not each SM */
    double saturation;     /* warps per SM that saturate what limits; by the best explanation */
    double saturation_low, saturation_high; /* of all that are kept */
    double favour;      /* of an SM's oldest eight warps (cost/fluid.h) */
    int enough_warps;   /* per SM: more give less than 1 % more throughput; of the best explanation; 0: durations are fixed */
    bool simulated;     /* a workload: nothing was measured */
    bool fixed;
    int work_warps;     /* works are very unequal, and so many warps have one of their own; 0: they are not, or unknown */
    bool cached;        /* the other traces may be slower for want of L1 cache */
};
struct wt_whatif_measured wt_whatif_measured(const struct wt_whatif *whatif);

#endif
