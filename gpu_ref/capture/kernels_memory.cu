/* Kernels that load, store and share. */
#include "kernels.h"

/* The index of this thread's n-th 16-byte element, from the lower half of the data: blocks lie one after
 * another, all of them again for each n, so that neighbours read neighbouring memory. */
static __device__ __forceinline__ unsigned long long element(const Params &p, long long n)
{
    unsigned long long blocks = (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    unsigned long long i =
        (wavetail::trace_block() + (unsigned long long)n * blocks) * threads_of_block() + thread_of_block();
    return i & (p.mask >> 3);
}

static __global__ void stream(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    const float4 *from = (const float4 *)p.data;
    float4 *to = (float4 *)p.data + ((p.mask >> 3) + 1);
    for (int n = 0; n < (int)work; n++) {
        unsigned long long i = element(p, n);
        to[i] = from[i];
    }
    END_WORK(p, work);
}

static __global__ void chase(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    unsigned at = (unsigned)(wavetail::trace_block() * threads_of_block() + thread_of_block()) * 2654435761u;
    at &= RING_ENTRIES - 1;
    for (int n = 0; n < (int)work; n++)
        at = p.ring[at];
    keep(p, (float)at);
    END_WORK(p, work);
}

static __global__ void mix(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    const float4 *from = (const float4 *)p.data;
    float sum = 0;
    for (int n = 0; n < (int)work; n++) {
        float4 x = from[element(p, n)];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            x.x = fmaf(x.x, 0.999f, 0.5f);
            x.y = fmaf(x.y, 0.999f, 0.5f);
            x.z = fmaf(x.z, 0.999f, 0.5f);
            x.w = fmaf(x.w, 0.999f, 0.5f);
        }
        sum += x.x + x.y + x.z + x.w;
    }
    keep(p, sum);
    END_WORK(p, work);
}

/* Lanes STRIDE words apart: STRIDE of them meet in a bank. */
template <int STRIDE> __global__ void conflict(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    __shared__ unsigned words[4096];
    long long work = work_of(p, wavetail::trace_block());
    unsigned thread = (unsigned)thread_of_block();
    for (unsigned i = thread; i < 4096; i += (unsigned)threads_of_block())
        words[i] = (i + 1) * 32 & 4095;
    __syncthreads();
    unsigned at = thread * STRIDE & 4095, sum = 0;
    for (int n = 0; n < (int)work; n++) {
        sum += ((volatile unsigned *)words)[at];
        at = (at + 1) & 4095;
    }
    keep(p, (float)sum);
    END_WORK(p, work);
}

static __global__ void atomic(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    for (int n = 0; n < (int)work; n++)
        atomicAdd(p.data, 1.0f);
    END_WORK(p, work);
}

static __global__ void atomic_spread(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    float *to = p.data + ((wavetail::trace_block() * threads_of_block() + thread_of_block()) & p.mask);
    for (int n = 0; n < (int)work; n++)
        atomicAdd(to, 1.0f);
    END_WORK(p, work);
}

static __global__ void reduce(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    __shared__ float part[1024];
    long long work = work_of(p, wavetail::trace_block());
    unsigned thread = (unsigned)thread_of_block(), threads = (unsigned)threads_of_block();
    unsigned long long first = wavetail::trace_block() * threads * (unsigned long long)work + thread;
    float sum = 0;
    for (int n = 0; n < (int)work; n++)
        sum += p.data[(first + (unsigned long long)n * threads) & p.mask];
    part[thread] = sum;
    for (unsigned width = 512; width > 0; width /= 2) {
        __syncthreads();
        if (thread < width && thread + width < threads)
            part[thread] += part[thread + width];
    }
    if (thread == 0)
        keep(p, part[0]);
    END_WORK(p, work);
}

template <int TILE> __global__ void __launch_bounds__(TILE *TILE) matmul(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    long long work = work_of(p, wavetail::trace_block());
    unsigned long long inner = (unsigned long long)work * TILE, columns = (unsigned long long)gridDim.x * TILE;
    unsigned long long row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (unsigned n = 0; n < (unsigned)work; n++) {
        a[threadIdx.y][threadIdx.x] = p.data[(row * inner + n * TILE + threadIdx.x) & p.mask];
        b[threadIdx.y][threadIdx.x] = p.data[((n * TILE + threadIdx.y) * columns + column) & p.mask];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum = fmaf(a[threadIdx.y][k], b[k][threadIdx.x], sum);
        __syncthreads();
    }
    keep(p, sum);
    END_WORK(p, work);
}

static __global__ void course_fma(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    float *at = p.data + ((wavetail::trace_block() * threads_of_block() + thread_of_block()) & p.mask);
    float x = *at;
#pragma unroll 8
    for (int n = 0; n < (int)work; n++)
        x = fmaf(x, 0.999f, 0.5f);
    *at = x;
    END_WORK(p, work);
}

/* A linear congruential step with multiplier 1 mod 4 and odd increment: one cycle through all entries. */
static __global__ void fill(unsigned *ring)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    ring[i] = (i * 1664525u + 1013904223u) & (RING_ENTRIES - 1);
}

void fill_ring(unsigned *ring)
{
    fill<<<RING_ENTRIES / 256, 256>>>(ring);
}

const NamedKernel memory_kernels[] = {
    KERNEL("stream", stream),
    KERNEL("chase", chase),
    KERNEL("mix", mix),
    KERNEL("conflict1", conflict<1>),
    KERNEL("conflict4", conflict<4>),
    KERNEL("conflict32", conflict<32>),
    KERNEL("atomic", atomic),
    KERNEL("atomic_spread", atomic_spread),
    KERNEL("reduce", reduce),
    KERNEL("matmul16", matmul<16>),
    KERNEL("matmul32", matmul<32>),
    KERNEL("course_fma", course_fma),
    {nullptr, nullptr},
};
