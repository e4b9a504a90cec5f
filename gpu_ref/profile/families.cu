/* Twelve kernel families as users write them, each in one or two shapes. */
#include "kernels.h"

/* 64 × 64 of C per block of 16 × 16 threads, 4 × 4 in registers, tiles of 16 in shared memory. */
static __global__ void __launch_bounds__(256) matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[16][64 + 4], tile_b[16][64];
    int tx = threadIdx.x & 15, ty = threadIdx.x >> 4, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            tile_a[i & 15][i >> 4] = a[(row + (i >> 4)) * n + k + (i & 15)];
            tile_b[i >> 6][i & 63] = b[(k + (i >> 6)) * n + column + (i & 63)];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) {
            float4 x = *(const float4 *)&tile_a[j][ty * 4], y = *(const float4 *)&tile_b[j][tx * 4];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++)
                    sum[p][q] += xs[p] * ys[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        *(float4 *)&c[(row + ty * 4 + p) * n + column + tx * 4] = *(float4 *)sum[p];
}

static __global__ void reduce(const float *in, float *out, int per_thread)
{
    __shared__ float part[32];
    size_t at = (size_t)blockIdx.x * blockDim.x * per_thread + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < per_thread; i++)
        sum += in[(at + (size_t)i * blockDim.x) & (ELEMENTS - 1)];
    for (int width = 16; width; width /= 2)
        sum += __shfl_down_sync(~0u, sum, width);
    if (!(threadIdx.x & 31))
        part[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int width = 16; width; width /= 2)
            sum += __shfl_down_sync(~0u, sum, width);
        if (!threadIdx.x)
            out[blockIdx.x] = sum;
    }
}

/* Steps of the Collatz sequence: threads of a warp leave the loop at different times. */
static __global__ void collatz(float *out, unsigned first)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    unsigned long long x = first + thread;
    while (x != 1 && steps < 400) {
        if (x & 1)
            x = 3 * x + 1;
        else
            x /= 2;
        steps++;
    }
    out[thread] = (float)steps;
}

/* Four bodies of a switch, chosen by data. */
static __global__ void branchy(const float *in, float *out, int rounds)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[thread];
    unsigned bits = __float_as_uint(x) * 2654435761u;
    for (int i = 0; i < rounds; i++) {
        switch (bits >> 30) {
        case 0:
            x = sqrtf(x + 1.5f);
            break;
        case 1:
            x = __sinf(x) * 3 + 1;
            break;
        case 2:
            x = x / (x + 2);
            break;
        default:
            for (int j = 0; j < 6; j++)
                x = fmaf(x, 0.99f, 0.1f);
        }
        bits = bits * 1664525u + 1013904223u;
    }
    out[thread] = x;
}

static __global__ void transpose_naive(const float *in, float *out, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(size_t)x * n + y + j] = in[(size_t)(y + j) * n + x];
}

template <int PITCH> static __global__ void transpose_tiled(const float *in, float *out, int n)
{
    __shared__ float tile[32][PITCH];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(size_t)(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

static __global__ void histogram(const unsigned *in, unsigned *counts, int per_thread)
{
    __shared__ unsigned bins[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    size_t at = (size_t)blockIdx.x * blockDim.x * per_thread + threadIdx.x;
    for (int i = 0; i < per_thread; i++)
        atomicAdd(&bins[in[(at + (size_t)i * blockDim.x) & (ELEMENTS - 1)] * 2654435761u >> 24], 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&counts[i], bins[i]);
}

static __global__ void scatter(unsigned *counts, int rounds)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        x = x * 1664525u + 1013904223u;
        atomicAdd(&counts[x >> 16], 1);
    }
}

static __global__ void double_series(const float *in, float *out, int rounds)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[thread], sum = 0, term = 1;
    for (int i = 1; i <= rounds; i++) {
        term *= x * 0.5;
        sum += term;
        if (i % 16 == 0)
            term = 1 / (sum + 2);
    }
    out[thread] = (float)sum;
}

/* All pairs: shared memory read by all lanes at one address, one reciprocal root each. */
static __global__ void nbody(const float4 *bodies, float4 *forces, int tiles)
{
    extern __shared__ float4 tile[];
    float4 me = bodies[blockIdx.x * blockDim.x + threadIdx.x];
    float x = 0, y = 0, z = 0;
    for (int t = 0; t < tiles; t++) {
        tile[threadIdx.x] = bodies[t * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < blockDim.x; i++) {
            float4 other = tile[i];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), s = other.w * inverse * inverse * inverse;
            x += dx * s, y += dy * s, z += dz * s;
        }
        __syncthreads();
    }
    forces[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(x, y, z, 0);
}

static __global__ void stencil(const float *in, float *out, int n, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * rows + 1;
    if (x >= n - 1)
        return;
    float north = in[(y - 1) * n + x], here = in[y * n + x];
    for (int i = 0; i < rows; i++, y++) {
        float south = in[(y + 1) * n + x];
        out[y * n + x] = 0.2f * (here + north + south + in[y * n + x - 1] + in[y * n + x + 1]);
        north = here, here = south;
    }
}

/* A row per block: maximum, sum of exponentials, division. */
static __global__ void softmax(const float *in, float *out, int columns)
{
    __shared__ float part[32];
    const float *row = in + (size_t)blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        most = fmaxf(most, row[i]);
    for (int width = 16; width; width /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, width));
    if (!(threadIdx.x & 31))
        part[threadIdx.x >> 5] = most;
    __syncthreads();
    for (unsigned i = 0; i < blockDim.x / 32; i++)
        most = fmaxf(most, part[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += __expf(row[i] - most);
    for (int width = 16; width; width /= 2)
        sum += __shfl_xor_sync(~0u, sum, width);
    if (!(threadIdx.x & 31))
        part[threadIdx.x >> 5] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned i = 0; i < blockDim.x / 32; i++)
        sum += part[i];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[(size_t)blockIdx.x * columns + i] = __expf(row[i] - most) / sum;
}

/* Integer mixing alone. */
static __global__ void hash(float *out, int rounds)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, a = thread, b = ~thread;
    for (int i = 0; i < rounds; i++) {
        a ^= b << 13 | b >> 19;
        b += a * 0x9e3779b1u;
        a = (a ^ a >> 15) * 0x85ebca6bu;
        b = __byte_perm(a, b, 0x2541) ^ i;
    }
    out[thread] = (float)(a ^ b);
}

/* Hillis and Steele's scan of a block in shared memory: two barriers a step. */
static __global__ void scan(const float *in, float *out)
{
    __shared__ float values[1024];
    unsigned thread = threadIdx.x;
    size_t at = (size_t)blockIdx.x * blockDim.x + thread;
    float mine = in[at];
    values[thread] = mine;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        float other = thread >= step ? values[thread - step] : 0;
        __syncthreads();
        mine += other;
        values[thread] = mine;
        __syncthreads();
    }
    out[at] = mine;
}

#define LAUNCH(...) [](const Buffers &b) { __VA_ARGS__; }

const Profiled families[] = {
    {"matmul", LAUNCH(matmul<<<dim3(16, 16), 256>>>(b.in, b.in + (1 << 20), b.out, 1024))},
    {"reduce_b256", LAUNCH(reduce<<<4096, 256>>>(b.in, b.out, 32))},
    {"reduce_b1024", LAUNCH(reduce<<<1024, 1024>>>(b.in, b.out, 32))},
    {"collatz", LAUNCH(collatz<<<4096, 128>>>(b.out, 1000000))},
    {"branchy", LAUNCH(branchy<<<2048, 256>>>(b.in, b.out, 64))},
    {"transpose_naive", LAUNCH(transpose_naive<<<dim3(64, 64), dim3(32, 8)>>>(b.in, b.out, 2048))},
    {"transpose_conflict", LAUNCH(transpose_tiled<32><<<dim3(128, 128), dim3(32, 8)>>>(b.in, b.out, 4096))},
    {"transpose_padded", LAUNCH(transpose_tiled<33><<<dim3(128, 128), dim3(32, 8)>>>(b.in, b.out, 4096))},
    {"histogram", LAUNCH(histogram<<<1024, 256>>>((const unsigned *)b.in, b.counts, 64))},
    {"scatter", LAUNCH(scatter<<<1024, 256>>>(b.counts, 16))},
    {"double_series", LAUNCH(double_series<<<1024, 128>>>(b.in, b.out, 256))},
    {"nbody", LAUNCH(nbody<<<264, 256, 256 * 16>>>((const float4 *)b.in, (float4 *)b.out, 16))},
    {"stencil", LAUNCH(stencil<<<dim3(32, 256), 128>>>(b.in, b.out, 4098, 16))},
    {"softmax", LAUNCH(softmax<<<4096, 256>>>(b.in, b.out, 4096))},
    {"hash_b64", LAUNCH(hash<<<8192, 64>>>(b.out, 300))},
    {"hash_small_grid", LAUNCH(hash<<<200, 512>>>(b.out, 2000))},
    {"scan", LAUNCH(scan<<<4096, 512>>>(b.in, b.out))},
    {nullptr, nullptr},
};
