/* One property of the hardware each: latencies by pointer chase, rates by many warps, few warps, one warp. */
#include "kernels.h"

/* One thread follows a ring of `length` entries, `stride` apart. */
static __global__ void fill(unsigned *ring, unsigned length, unsigned stride)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x)
        ring[i * stride] = (i + 1) % length * stride;
}

static __global__ void chase_one(const unsigned *ring, float *out, int steps)
{
    unsigned at = 0;
    for (int i = 0; i < steps; i++)
        at = ring[at];
    out[threadIdx.x] = (float)at;
}

static __global__ void chase_past_l1(const unsigned *ring, float *out, int steps)
{
    unsigned at = 0;
    for (int i = 0; i < steps; i++)
        at = __ldcg(&ring[at]);
    out[threadIdx.x] = (float)at;
}

static __global__ void chase_shared(float *out, int steps)
{
    __shared__ unsigned ring[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
        ring[i] = (i + 33) & 1023;
    __syncthreads();
    unsigned at = threadIdx.x;
    for (int i = 0; i < steps; i++)
        at = ring[at];
    out[threadIdx.x] = (float)at;
}

/* Four independent loads a step: what shared memory delivers, with STRIDE lanes to a bank. */
template <int STRIDE> static __global__ void shared_rate(float *out, int steps)
{
    __shared__ float words[4096];
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x)
        words[i] = (float)i;
    __syncthreads();
    float sum[4] = {};
    unsigned at = threadIdx.x * STRIDE & 1023;
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[j] += ((volatile float *)words)[at + 1024 * j];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

template <typename T> static __device__ T step(T x, int);
template <> __device__ double step(double x, int) { return fma(x, 0.999, 0.5); }
template <> __device__ float step(float x, int) { return __sinf(x); }
template <> __device__ unsigned step(unsigned x, int i) { return x * 1664525u + i; }
template <> __device__ int step(int x, int i) { return x ^ i ^ x >> 3; }

/* CHAINS independent chains of one operation. */
template <typename T, int CHAINS> static __global__ void rate(float *out, int steps)
{
    T x[CHAINS], sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        x[c] = (T)(threadIdx.x + c);
#pragma unroll 4
    for (int i = 0; i < steps; i++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            x[c] = step(x[c], i);
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum += x[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = (float)sum;
}

static __global__ void shuffle_rate(float *out, int steps)
{
    float x = (float)threadIdx.x, y = x + 1;
    for (int i = 0; i < steps; i++) {
        x += __shfl_xor_sync(~0u, x, 1);
        y += __shfl_xor_sync(~0u, y, 2);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}

/* Lanes STRIDE elements apart, all from a small range: what L1 and L2 deliver. */
template <int STRIDE> static __global__ void load_rate(const float *in, float *out, int steps, unsigned mask)
{
    float sum[4] = {};
    unsigned at = threadIdx.x * STRIDE;
    for (int i = 0; i < steps; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[j] += __ldca(&in[(at + j * 32 * STRIDE) & mask]);
        at += 128 * STRIDE;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

static __global__ void store_rate(float *out, int steps)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < steps; i++)
        out[(at + (size_t)i * gridDim.x * blockDim.x) & (ELEMENTS - 1)] = (float)i;
}

/* SPREAD addresses for all threads; in shared memory. */
template <int SPREAD> static __global__ void shared_atomics(unsigned *counts, int steps)
{
    __shared__ unsigned bins[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    for (int i = 0; i < steps; i++)
        atomicAdd(&bins[(threadIdx.x + i) & (SPREAD - 1)], i);
    __syncthreads();
    counts[threadIdx.x] = bins[threadIdx.x];
}

static __global__ void global_atomics(unsigned *counts, int steps, unsigned mask)
{
    unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) & mask;
    for (int i = 0; i < steps; i++)
        atomicAdd(&counts[at], i);
}

static __global__ void barrier_rate(float *out, int steps)
{
    float x = threadIdx.x;
    for (int i = 0; i < steps; i++) {
        x = fmaf(x, 0.999f, 0.5f);
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static void chase(const Buffers &b, unsigned length, unsigned stride, int steps, bool past_l1)
{
    fill<<<128, 256>>>(b.ring, length, stride);
    if (past_l1)
        chase_past_l1<<<1, 1>>>(b.ring, b.out, steps);
    else
        chase_one<<<1, 1>>>(b.ring, b.out, steps);
}

#define LAUNCH(...) [](const Buffers &b) { __VA_ARGS__; }

const Profiled probes[] = {
    {"chase_l1", LAUNCH(chase(b, 256, 8, 20000, false))},
    {"chase_l2", LAUNCH(chase(b, 1 << 16, 32, 262144, true))},
    {"chase_dram", LAUNCH(chase(b, 1 << 20, 32, 65536, true))},
    {"chase_shared", LAUNCH(chase_shared<<<1, 32>>>(b.out, 20000))},
    {"shared_rate_1", LAUNCH(shared_rate<1><<<264, 1024>>>(b.out, 500))},
    {"shared_rate_2", LAUNCH(shared_rate<2><<<264, 1024>>>(b.out, 500))},
    {"shared_rate_8", LAUNCH(shared_rate<8><<<264, 1024>>>(b.out, 200))},
    {"shared_rate_32", LAUNCH(shared_rate<32><<<264, 1024>>>(b.out, 100))},
    {"shared_rate_1_b128", LAUNCH(shared_rate<1><<<132, 128>>>(b.out, 2000))},
    {"fp64_1", LAUNCH(rate<double, 1><<<132, 128>>>(b.out, 4000))},
    {"fp64_4", LAUNCH(rate<double, 4><<<264, 1024>>>(b.out, 300))},
    {"sfu_1", LAUNCH(rate<float, 1><<<132, 128>>>(b.out, 4000))},
    {"sfu_4", LAUNCH(rate<float, 4><<<264, 1024>>>(b.out, 300))},
    {"imad_1", LAUNCH(rate<unsigned, 1><<<132, 128>>>(b.out, 8000))},
    {"imad_4", LAUNCH(rate<unsigned, 4><<<264, 1024>>>(b.out, 600))},
    {"alu_1", LAUNCH(rate<int, 1><<<132, 128>>>(b.out, 8000))},
    {"alu_4", LAUNCH(rate<int, 4><<<264, 1024>>>(b.out, 600))},
    {"shuffle_b128", LAUNCH(shuffle_rate<<<132, 128>>>(b.out, 2000))},
    {"shuffle_b1024", LAUNCH(shuffle_rate<<<264, 1024>>>(b.out, 500))},
    {"load_l1", LAUNCH(load_rate<1><<<264, 1024>>>(b.in, b.out, 500, 4095))},
    {"load_l1_strided", LAUNCH(load_rate<8><<<264, 1024>>>(b.in, b.out, 100, 32767))},
    {"load_l2", LAUNCH(load_rate<1><<<264, 1024>>>(b.in, b.out, 300, (1 << 21) - 1))},
    {"load_dram", LAUNCH(load_rate<1><<<264, 1024>>>(b.in, b.out, 300, ELEMENTS - 1))},
    {"store_dram", LAUNCH(store_rate<<<4096, 256>>>(b.out, 32))},
    {"shared_atomics_1", LAUNCH(shared_atomics<1><<<264, 512>>>(b.counts, 100))},
    {"shared_atomics_8", LAUNCH(shared_atomics<8><<<264, 512>>>(b.counts, 200))},
    {"shared_atomics_1024", LAUNCH(shared_atomics<1024><<<264, 512>>>(b.counts, 400))},
    {"global_atomics_1", LAUNCH(global_atomics<<<264, 256>>>(b.counts, 16, 0))},
    {"global_atomics_64k", LAUNCH(global_atomics<<<264, 1024>>>(b.counts, 32, 65535))},
    {"barrier_b1024", LAUNCH(barrier_rate<<<264, 1024>>>(b.out, 500))},
    {"barrier_b128", LAUNCH(barrier_rate<<<2112, 128>>>(b.out, 500))},
    {nullptr, nullptr},
};
