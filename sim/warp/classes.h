/* The classes of instructions (enum wt_op): name, pipe, and which of the GPU's rates are theirs. */
#ifndef WT_WARP_CLASSES_H
#define WT_WARP_CLASSES_H

#include <stdbool.h>

#include "gpu/gpu.h"
#include "warp/metrics.h"
#include "warp/program.h"

/* What an instruction needs to be free before it can issue: the warps that are ready for it wait together. */
enum wt_pipe {
    WT_PIPE_FMA,   /* either half */
    WT_PIPE_HEAVY, /* the half that also multiplies integers */
    WT_PIPE_ALU,
    WT_PIPE_HALF,
    WT_PIPE_FP64,
    WT_PIPE_TENSOR,
    WT_PIPE_UNIFORM,
    WT_PIPE_BRANCH,
    WT_PIPE_MIO, /* the queue to shared memory, special functions and registers, constants, shuffles */
    WT_PIPE_XU,  /* the same queue, and the places in front of special functions and conversions */
    WT_PIPE_LG,  /* the queue to local and global memory */
    WT_PIPE_BARRIER,
    WT_PIPE_COUNT
};

struct wt_class {
    const char *name; /* in program files */
    const char *help;
    enum wt_pipe pipe;
    bool variable; /* its result comes on a scoreboard, not after a fixed number of cycles */
    int rate;      /* index into struct wt_class_rates; -1: none */
};

/* By enum wt_op. */
extern const struct wt_class wt_classes[WT_OP_COUNT];

extern const enum wt_stall_reason wt_pipe_stalls[WT_PIPE_COUNT];

/* The class's place in a GPU's intervals or latencies; 0 where the class has none. */
static inline double wt_class_rate(const struct wt_class_rates *rates, enum wt_op op)
{
    int index = wt_classes[op].rate;
    return index < 0 ? 0 : ((const double *)rates)[index];
}

#endif
