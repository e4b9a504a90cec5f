/* Kernels that load, store and share. */
#include "kernels.h"

/* The index of this thread's n-th 16-byte element, from the lower half of the data: blocks lie one after
 * another, all of them again for each n, so that neighbours read neighbouring memory. */
static __device__ __forceinline__ unsigned long long element(const Params &p, const Place &here, long long n)
{
    unsigned long long i = (here.block + (unsigned long long)n * here.blocks) * threads_of_block() + thread_of_block();
    return i & (p.mask >> 3);
}

static __device__ __forceinline__ void stream(const Params &p, const Place &here, long long work)
{
    const float4 *from = (const float4 *)p.data;
    float4 *to = (float4 *)p.data + ((p.mask >> 3) + 1);
    for (int n = 0; n < (int)work; n++) {
        unsigned long long i = element(p, here, n);
        to[i] = from[i];
    }
}

static __device__ __forceinline__ void chase(const Params &p, const Place &here, long long work)
{
    unsigned at = (unsigned)(here.block * threads_of_block() + thread_of_block()) * 2654435761u;
    at &= RING_ENTRIES - 1;
    for (int n = 0; n < (int)work; n++)
        at = p.ring[at];
    keep(p, (float)at);
}

static __device__ __forceinline__ void mix(const Params &p, const Place &here, long long work)
{
    const float4 *from = (const float4 *)p.data;
    float sum = 0;
    for (int n = 0; n < (int)work; n++) {
        float4 x = from[element(p, here, n)];
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
}

/* Lanes STRIDE words apart: STRIDE of them meet in a bank. */
template <int STRIDE> static __device__ __forceinline__ void conflict(const Params &p, const Place &, long long work)
{
    __shared__ unsigned words[4096];
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
}

static __device__ __forceinline__ void atomic(const Params &p, const Place &, long long work)
{
    for (int n = 0; n < (int)work; n++)
        atomicAdd(p.data, 1.0f);
}

static __device__ __forceinline__ void atomic_spread(const Params &p, const Place &here, long long work)
{
    float *to = p.data + ((here.block * threads_of_block() + thread_of_block()) & p.mask);
    for (int n = 0; n < (int)work; n++)
        atomicAdd(to, 1.0f);
}

static __device__ __forceinline__ void reduce(const Params &p, const Place &here, long long work)
{
    __shared__ float part[1024];
    unsigned thread = (unsigned)thread_of_block(), threads = (unsigned)threads_of_block();
    unsigned long long first = here.block * threads * (unsigned long long)work + thread;
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
}

template <int TILE> static __device__ __forceinline__ void matmul(const Params &p, const Place &here, long long work)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    unsigned long long inner = (unsigned long long)work * TILE, columns = here.columns * TILE;
    unsigned long long row = here.y * TILE + threadIdx.y, column = here.x * TILE + threadIdx.x;
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
}

static __device__ __forceinline__ void course_fma(const Params &p, const Place &here, long long work)
{
    float *at = p.data + ((here.block * threads_of_block() + thread_of_block()) & p.mask);
    float x = *at;
#pragma unroll 8
    for (int n = 0; n < (int)work; n++)
        x = fmaf(x, 0.999f, 0.5f);
    *at = x;
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
    WITH_QUEUE("stream", stream),
    WITH_QUEUE("chase", chase),
    WITH_QUEUE("mix", mix),
    WITH_QUEUE("conflict1", conflict<1>),
    WITH_QUEUE("conflict4", conflict<4>),
    WITH_QUEUE("conflict32", conflict<32>),
    WITH_QUEUE("atomic", atomic),
    WITH_QUEUE("atomic_spread", atomic_spread),
    WITH_QUEUE("reduce", reduce),
    WITH_QUEUE("matmul16", matmul<16>),
    WITH_QUEUE("matmul32", matmul<32>),
    WITH_QUEUE("course_fma", course_fma),
    {nullptr, nullptr, nullptr},
};
