/* The warp level on some of a GPU's SMs, for all of them: SMs that run the same kernels do nearly the same.
 *
 * A machine of `sms` SMs, with its share of the bandwidth of L2, DRAM, atomics and reports and of each grid, and with ways to
 * L2 that are as unequal as the GPU's, is simulated warp by warp. The whole GPU is then dispatched with blocks that last as the
 * sample's did: block b as long as the sample's block at the same part of the grid. Sums are scaled by the grids' ratio. How
 * far sampled SMs differ among themselves tells the error. */
#ifndef WT_STUDY_SAMPLED_H
#define WT_STUDY_SAMPLED_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "study/launches.h"

enum { WT_SAMPLE_SMS = 22 }; /* by default: a sixth of an H200, with ways to L2 of six, six, six and four SMs as there */

struct wt_sampled_launch {
    wt_time *durations; /* by block of the sample; owned */
    uint64_t blocks;    /* of the sample */
    uint64_t grid;      /* of the launch */
    struct wt_warp_result result; /* scaled to the launch; elapsed_cycles the sample's */
    double standard_error; /* of a block's mean duration, by the sampled SMs' own means: a fraction of it; NaN with one SM */
};

struct wt_sampled {
    int sms, of; /* simulated, of the GPU's */
    struct wt_sampled_launch *launches; /* owned */
    size_t count;
};

/* Simulates the sample of `launches`, all of which have programs. Fails where kernels are submitted by a host program or have
 * clusters, or what is simulated fails. On failure *out is NULL. */
enum wt_code wt_sampled_run(const struct wt_launches *launches, const struct wt_gpu *gpu, int sms, uint64_t seed,
                            const struct wt_scheduler *scheduler, struct wt_sampled **out, struct wt_error *err);

/* NULL is allowed. */
void wt_sampled_free(struct wt_sampled *sample);

/* From now on the launches' blocks last as the sample says; it must outlive them. */
void wt_sampled_use(struct wt_sampled *sample, struct wt_launches *launches);

#endif
