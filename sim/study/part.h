/* Which part captured a trace: parts of one GPU differ in which of their GPCs lie far from the distributor, by up to some 75 cycles (H200: GPCs
 * that come 35 cycles later than others on one part come 40 sooner than they on another; the same to 2 cycles in all launches of a
 * part). A config holds the distances of the part that it was calibrated on. */
#ifndef WT_STUDY_PART_H
#define WT_STUDY_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/gpu.h"

/* An SM's first block of a launch's first wave: cycles from the launch's first start. */
struct wt_first_start {
    double measured, predicted;
    uint16_t sm;
};

/* Moves each GPC as far from the distributor, there and back, as its first starts are late, the nearest as near as on the config's part,
 * and returns by how many cycles GPCs differ, farthest from nearest. Returns 0, and leaves the GPU as it is, where that is less than
 * alignment and chance make it, or where a GPC has too few starts or its own differ. Reorders `starts`. */
double wt_part_adopt(struct wt_gpu *gpu, struct wt_first_start *starts, size_t count);

#endif
