/* How long each block of a measured launch held its room on an SM. */
#ifndef WT_STUDY_STAYS_H
#define WT_STUDY_STAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "cost/fluid.h"
#include "gpu/gpu.h"
#include "sm/shape.h"

struct wt_stay {
    double start, end; /* cycles from the first start */
    double read;       /* when its first thread was through, likewise */
    double work;       /* as the trace states it; 1 where it does not */
    uint16_t sm;
    bool replaced; /* another block took its room, which tells the end */
};

struct wt_stays {
    char *name; /* owned */
    char *kernel; /* "" where the trace does not state it; owned */
    struct wt_launch_needs needs;
    int warps;       /* of a block */
    double makespan; /* cycles: from the first start to the last end that was read */
    struct wt_stay *list; /* by block; owned */
    uint64_t count;
    int sm_count;
    bool works_stated; /* by the trace */
    int work_warps;    /* a stated work is given to so many warps, by the trace; 0: it does not say */
};

/* The GPU of a trace, by name (as for wt_gpu_load) or, when NULL, as the trace says. */
enum wt_code wt_stays_gpu(const char *trace, const char *name, struct wt_gpu **out, struct wt_error *err);

/* Of a trace's first launch. Fails when it is clustered or persistent, when blocks are missing, or when threads or registers
 * are not stated. On failure *out is NULL. */
enum wt_code wt_stays_read(const char *trace, const struct wt_gpu *gpu, struct wt_stays **out, struct wt_error *err);
/* Fails where `other`, of the trace `path`, is of another kernel than `first`, or of a grid with other threads. */
enum wt_code wt_stays_alike(const struct wt_stays *first, const struct wt_stays *other, const char *path, struct wt_error *err);
/* NULL is allowed. */
void wt_stays_free(struct wt_stays *stays);

/* What limits a kernel, and who is served then (cost/fluid.h). */
struct wt_bound {
    bool gpu;          /* the GPU's memory; otherwise each SM */
    double favour;     /* of an SM's oldest eight warps; 0: all are served alike */
    bool apart;        /* warps of a block go each at their own pace, the oldest first; otherwise they share alike */
    double hindered;   /* 0: nobody is */
    double saturation; /* warps per SM (on average, if it is the GPU) whose demands reach what limits */
    double grain;      /* warps per SM that are one customer of it */
    double crowding;   /* of the GPU's memory (cost/fluid.h); 0: it has a grain */
    double start;      /* what a warp does besides its stated work, in the trace's unit; blocks with very unequal works only, otherwise 0 */
};

/* What part of what so many warps of an SM ask for is served; of the GPU's memory, if all SMs have as many. */
double wt_bound_part(const struct wt_bound *bound, double warps);

/* Of the oldest `warps` warps: the same favour of each warp. FMA chains in blocks of 64 to 512 threads: 0.53 to 0.65 of eight warps. */
double wt_bound_favour(const struct wt_bound *bound, int warps);

/* The speed, of full speed, of each of an SM's blocks of so many warps, for all numbers of blocks up to `most`, 1 to WT_MAX_SLOTS:
 * [count * (WT_MAX_SLOTS + 1) + age], the oldest's age 0. Owned by the caller. */
double *wt_bound_speeds(const struct wt_bound *bound, int warps, int most);

/* `favour` is that of eight warps. */
struct wt_fluid_kernel wt_bound_kernel(const struct wt_bound *bound, int sm_count);

/* Each block's work in cycles at full speed under that bound; of blocks without a replacement in proportion to the others where
 * works are stated. Returns how unequal blocks come out: the standard deviation of the logarithm of work / stated work, over
 * blocks that were replaced. */
double wt_stays_work(const struct wt_stays *stays, const struct wt_bound *bound, double *work);

/* How a bound explains stated works, block by block, by the ends that were read. A block that was served as the bound says has done
 * its work when it ends. */
struct wt_stays_match {
    double misfit; /* standard deviation of the logarithm of work done / stated, weighted by the stated; INFINITY: none is stated */
    double scale;  /* the mean of work done / stated, likewise; cycles at full speed */
};

/* Of `count` bounds, in parallel. */
void wt_stays_match(const struct wt_stays *stays, const struct wt_bound *bounds, int count, struct wt_stays_match *matches);

#endif
