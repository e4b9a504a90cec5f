/* Kernels of different kinds in one run: each kernel's blocks go to a cost model of its own, and the engine sees one. */
#ifndef WT_COST_BY_KERNEL_H
#define WT_COST_BY_KERNEL_H

#include <stddef.h>

#include "dispatch/simulate.h"

struct wt_by_kernel;

/* Every block lasts as long as its kernel's `cost` says until a model is set. `kernels` must outlive the result; owned by
 * the caller, released with wt_by_kernel_free. */
struct wt_by_kernel *wt_by_kernel_new(const struct wt_gpu *gpu, const struct wt_kernel *kernels, size_t count);

/* NULL is allowed. Models that were set are the caller's. */
void wt_by_kernel_free(struct wt_by_kernel *all);

/* Blocks of `kernel` go to `model`, which must outlive the run; it may serve several, but no kernels of another run. */
void wt_by_kernel_set(struct wt_by_kernel *all, size_t kernel, const struct wt_sharing *model);

/* For wt_simulation.sharing; valid as long as `all`. */
struct wt_sharing wt_by_kernel_sharing(struct wt_by_kernel *all);

#endif
