/* Which part captured a trace: parts of one GPU differ in which TPCs make up a GPC, and in which GPCs lie far from the distributor, by
 * up to some 75 cycles (two H200s: SMs 124 to 131 belong to the GPC of SM 0 on one, two of them each to three GPCs on the other; GPCs
 * that come 35 cycles later than others on one come 40 sooner than they on the other; the same to 2 cycles in all launches of a part).
 * A config holds what the part has that it was calibrated on. */
#ifndef WT_STUDY_PART_H
#define WT_STUDY_PART_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/gpu.h"
#include "trace/clocks.h"

/* An SM's first block of a launch's first wave: cycles from the launch's first start. */
struct wt_first_start {
    double measured, predicted;
    uint16_t sm;
};

/* Takes over the part's GPCs, which are its clock domains, and moves each as far from the distributor, there and back, as its first
 * starts are late, the nearest as near as on the config's part. Returns by how many cycles GPCs are moved against each other. Returns 0,
 * and leaves the GPU as it is, where GPCs are the same and that is less than alignment and chance make it; or where a GPC has too few
 * starts or its own differ, or not all SMs have a clock domain. */
double wt_part_adopt(struct wt_gpu *gpu, const struct wt_clocks *clocks, const struct wt_first_start *starts, size_t count);

#endif
