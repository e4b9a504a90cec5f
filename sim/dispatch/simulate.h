/* The block-level simulation: kernels in, block runs out through observers. */
#ifndef WT_DISPATCH_SIMULATE_H
#define WT_DISPATCH_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/time.h"
#include "dispatch/observer.h"
#include "gpu/gpu.h"
#include "sm/shape.h"

/* Where a block's duration comes from. `duration` is called once per block, in dispatch order, which for one
 * kernel is index order. > 0. */
struct wt_cost {
    wt_time (*duration)(void *context, uint64_t block);
    void *context;
};

struct wt_kernel {
    const char *name;
    uint64_t grid_blocks; /* >= 1 */
    struct wt_shape shape;
    struct wt_cost cost;
};

struct wt_policy; /* dispatch/policy.h */

struct wt_simulation {
    const struct wt_gpu *gpu;
    const struct wt_policy *policy; /* NULL: the GPU's default */
    const struct wt_kernel *kernels; /* run one after another, in one stream */
    size_t kernel_count;
    uint64_t seed;
    /* Where the rotation starts for the first kernel: group index, or -1 for the GPU's own start; and the extra
     * group's first SM as an index into its visit order, or -1. */
    int first_group;
    int first_extra_sm;
    const struct wt_observer *observers;
    size_t observer_count;
};

enum wt_code wt_simulate(const struct wt_simulation *simulation, struct wt_error *err);

#endif
