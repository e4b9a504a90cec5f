/* The part of a block's stay on its SM that its clock reads do not see: before the first read, after the last one,
 * and warps that outlive the thread that reads. It depends on the kernel and on how it was instrumented, not on the
 * GPU, so it is read off the trace itself. */
#ifndef WT_STUDY_UNSEEN_H
#define WT_STUDY_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/gpu.h"
#include "observe/timeline.h"
#include "sm/shape.h"

struct wt_unseen {
    double cycles;  /* how much longer a release takes than the GPU's own; may be negative; 0 when not told */
    size_t samples; /* quiet releases it was found from; fewer than WT_UNSEEN_SAMPLES tell nothing */
};

enum { WT_UNSEEN_SAMPLES = 8 };

/* Of launch `launch` in a measured timeline. `first_wave_blocks`: blocks that found room at once. `alone`: no other launch had blocks on
 * the GPU, which could fill an SM or take its room. A release is quiet when no other block of the GPC ended shortly before and its first
 * wave is out, so that nothing but the way there and back takes time; nor are more reports of its TPC to be sent meanwhile. Where a
 * block's warps do not fill the sub-cores alike, it may not fit where another one ended and waits for the next end: then a release also
 * needs an SM that was full before, and no other end there until the start. Where nearly all are so long that this is rare, the rules of admission tell which end let a block in (let_in.h), if the
 * launch was alone and `shape`, its blocks', is not NULL. */
struct wt_unseen wt_unseen_time(const struct wt_timeline *measured, size_t launch, uint64_t first_wave_blocks,
                                bool alone, const struct wt_shape *shape, const struct wt_gpu *gpu);

#endif
