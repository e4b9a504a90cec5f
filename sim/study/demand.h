/* What the warps of a kernel with the cost model `fluid` (cost/fluid.h) ask for at full speed, alone on the GPU. Read from the
 * kernel's key `demand`; its `duration` is then how long a block takes alone, and what runs beside it makes that longer.
 *
 * An SM serves n warps at min(n·r, R). R comes from the GPU: a sub-core issues one instruction a cycle, the SM's port to the L2
 * moves memory.l2_bytes, the L2 memory.l2_gpu_bytes for all SMs less what each line's request takes, the DRAM memory_gbs times
 * memory.dram_efficiency.
 * Simplified: an SM is one stage and so is what all SMs share; of issue slots and port, and of L2 and DRAM, a kernel counts
 * with the one that it needs the larger part of. A stage that is asked for too much slows down all that it holds alike, also
 * a kernel beside that asks for little. */
#ifndef WT_STUDY_DEMAND_H
#define WT_STUDY_DEMAND_H

#include <stdbool.h>

#include "core/config.h"
#include "core/param.h"
#include "core/status.h"
#include "cost/fluid.h"
#include "gpu/gpu.h"

/* As the keys of the group have it. `line`: the group's; 0 where there is none, and then nothing else holds. */
struct wt_demand {
    long line;
    double issue;                         /* instructions a warp issues per cycle */
    double l2_bytes, dram_bytes;          /* bytes a warp moves per cycle */
    double sm_saturation, gpu_saturation; /* warps that use up an SM, or the GPU, whatever it has; 0: no such limit */
    double sm_grain, gpu_grain;           /* warps whose requests come together, which makes saturation gradual; 0: sharp */
    double favour;                        /* of what an SM has, the oldest block takes such a part, then the next; 0: all alike */
    bool sub_cores;                       /* each sub-core serves its own warps; where all kernels say so */
    double start_cycles;
};

extern const struct wt_param wt_demand_params[];

/* From the kernel's group; owns nothing. Fails with FILE:LINE. */
enum wt_code wt_demand_read(const struct wt_config *config, const struct config_setting_t *kernel, struct wt_demand *out,
                            struct wt_error *err);

/* Fills all of `out` but the parts. Fails, without a place in front, where the GPU's DRAM bandwidth is asked for but not known. */
enum wt_code wt_demand_on(const struct wt_demand *demand, const struct wt_gpu *gpu, struct wt_fluid_kernel *out,
                          struct wt_error *err);

#endif
