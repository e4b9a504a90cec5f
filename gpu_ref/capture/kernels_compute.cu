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
    long long work = work_of(p, wavetail::trace_block());
    wait_until(wt_trace_start_.clock + work);
    WT_TRACE_END_WORK(p.trace, work);
}

template <int ILP> __global__ void fma_chains(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
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
    WT_TRACE_END_WORK(p.trace, work);
}

static __global__ void bar(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    float chain = (float)threadIdx.x;
    for (int n = 0; n < (int)work; n++) {
        chain = fmaf(chain, 0.999f, 0.5f);
        __syncthreads();
    }
    keep(p, chain);
    WT_TRACE_END_WORK(p.trace, work);
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

static __global__ void diverge(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    float x = 1;
    for (int n = 0; n < (int)work; n++)
        x = fabsf(path((int)threadIdx.x & 7, x));
    keep(p, x);
    WT_TRACE_END_WORK(p.trace, work);
}

static __global__ void persist(Params p)
{
    __shared__ unsigned next;
    bool first = (threadIdx.x | threadIdx.y | threadIdx.z) == 0;
    for (;;) {
        if (first)
            next = atomicAdd(p.counter, 1);
        __syncthreads();
        long long task = next;
        __syncthreads();
        if (task >= p.tasks)
            return;
        WT_TRACE_BEGIN(p.trace);
        wait_until(wt_trace_start_.clock + work_of(p, (unsigned long long)task));
        WT_TRACE_END_TASK(p.trace, task);
    }
}

#define KERNEL(name, function) {name, (const void *)(void (*)(Params))function}

const NamedKernel compute_kernels[] = {
    KERNEL("empty", empty),
    KERNEL("spin", spin),
    KERNEL("fma1", fma_chains<1>),
    KERNEL("fma2", fma_chains<2>),
    KERNEL("fma4", fma_chains<4>),
    KERNEL("bar", bar),
    KERNEL("diverge", diverge),
    KERNEL("persist", persist),
    {nullptr, nullptr},
};
