/* Plain kernels, without tracing, for Nsight Compute: the families of families.cu are the warp level's test, the
 * probes of probes.cu and mixes.cu are what its latencies and rates are read from; unseen.cu, heldout.cu and further.cu are
 * tests that came later. */
#ifndef PROFILE_KERNELS_H
#define PROFILE_KERNELS_H

#include <cuda_runtime.h>

enum : unsigned { ELEMENTS = 1u << 25 }; /* 128 MB of 4-byte elements: more than any L2 */

struct Buffers {
    float *in, *out;     /* ELEMENTS each */
    unsigned *ring;      /* ELEMENTS indices; a probe fills as many as it follows */
    unsigned *counts;    /* 65536 */
};

struct Profiled {
    const char *name;
    void (*launch)(const Buffers &buffers);
};

/* End with a NULL name. */
extern const Profiled families[], probes[], mixes[], unseen[], heldout[], further[];

#endif
