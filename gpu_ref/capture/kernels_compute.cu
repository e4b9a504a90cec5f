/* Kernels that wait, calculate or synchronise. */
#include "kernels.h"

static __global__ void empty(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    WT_TRACE_END(p.trace);
}

static __global__ void spin(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    if (p.work_threads > 0) {
        long long work = work_of(p, wavetail::trace_block());
        wait_until(wt_trace_start_.clock + work);
        END_WORK(p, work);
    } else {
        long long work = wait_cycles(p, wt_trace_start_.clock, -1);
        WT_TRACE_END_WORK(p.trace, work);
    }
}

template <int ILP> static __device__ __forceinline__ void fma_chains(const Params &p, const Place &, long long work)
{
    float chain[ILP], sum = 0;
#pragma unroll
    for (int c = 0; c < ILP; c++)
        chain[c] = (float)(threadIdx.x + c);
#pragma unroll 8
    for (int n = 0; n < (int)work; n++)
#pragma unroll
        for (int c = 0; c < ILP; c++)
            chain[c] = fmaf(chain[c], 0.999f, 0.5f);
#pragma unroll
    for (int c = 0; c < ILP; c++)
        sum += chain[c];
    keep(p, sum);
}

static __device__ __forceinline__ void bar(const Params &p, const Place &, long long work)
{
    float chain = (float)threadIdx.x;
    for (int n = 0; n < (int)work; n++) {
        chain = fmaf(chain, 0.999f, 0.5f);
        __syncthreads();
    }
    keep(p, chain);
}

/* Eight paths; different operations, so that they cannot be merged. */
static __device__ __noinline__ float path(int which, float x)
{
    switch (which) {
    case 0:
        return sinf(x);
    case 1:
        return cosf(x) + 1;
    case 2:
        return expf(-x);
    case 3:
        return logf(x + 2);
    case 4:
        return sqrtf(x + 1);
    case 5:
        return atanf(x);
    case 6:
        return tanhf(x);
    default:
        return cbrtf(x);
    }
}

static __device__ __forceinline__ void diverge(const Params &p, const Place &, long long work)
{
    float x = 1;
    for (int n = 0; n < (int)work; n++)
        x = fabsf(path((int)threadIdx.x & 7, x));
    keep(p, x);
}

static __global__ void persist(Params p)
{
    for (long long task; (task = take_task(p)) < p.tasks;) {
        WT_TRACE_BEGIN(p.trace);
        wait_cycles(p, wt_trace_start_.clock, task);
        WT_TRACE_END_TASK(p.trace, task);
    }
}

/* Each addition needs the one before: latency, and under contention the counter's throughput. */
static __global__ void counter(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    unsigned last = 0;
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0)
        for (int n = 0; n < (int)work; n++)
            last = atomicAdd(p.counter + (last & (unsigned)p.never), 1);
    keep(p, (float)last);
    WT_TRACE_END_WORK(p.trace, work);
}

/* Long enough for any block that can still come; then a block gives up, since a deadlock would hang the GPU. */
static __device__ const long long PATIENCE = 20000000;

/* A barrier of the whole grid, which an ordinary launch passes when all its blocks are resident at once. */
static __global__ void gridsync(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long passed = 0;
    wait_cycles(p, wt_trace_start_.clock, -1);
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
        unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        long long until = clock64() + PATIENCE;
        atomicAdd(p.counter, 1);
        while (!passed && clock64() < until)
            passed = *(volatile unsigned *)p.counter >= blocks;
    }
    __syncthreads();
    WT_TRACE_END_WORK(p.trace, passed);
}

const NamedKernel compute_kernels[] = {
    KERNEL("empty", empty),
    {"spin", (const void *)spin, (const void *)persist},
    WITH_QUEUE("fma1", fma_chains<1>),
    WITH_QUEUE("fma2", fma_chains<2>),
    WITH_QUEUE("fma4", fma_chains<4>),
    WITH_QUEUE("bar", bar),
    WITH_QUEUE("diverge", diverge),
    KERNEL("persist", persist),
    KERNEL("counter", counter),
    KERNEL("gridsync", gridsync),
    {nullptr, nullptr, nullptr},
};
