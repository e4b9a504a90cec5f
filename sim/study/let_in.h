/* Whose end let a block in? On each SM by the rules of admission, from measured starts and ends: a block does not fit wherever one
 * ended, as where its warps do not fill the sub-cores alike, and then waits for a later end. */
#ifndef WT_STUDY_LET_IN_H
#define WT_STUDY_LET_IN_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/gpu.h"
#include "observe/timeline.h"
#include "sm/shape.h"

/* Of a launch that was alone. `waits`, by block: cycles from its end to the start of the block that it let in, the first one if there are
 * several; NaN: none. False where the rules do not say so, as one start in twenty comes before there is room. */
bool wt_let_in(const struct wt_timeline *measured, size_t launch, const struct wt_shape *shape, const struct wt_gpu *gpu,
               double *waits);

#endif
