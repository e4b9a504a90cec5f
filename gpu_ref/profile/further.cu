/* Ten more, written when the model stood: simulated once, and nothing was changed for them. */
#include "kernels.h"

#define LAUNCH(...) [](const Buffers &b) { __VA_ARGS__; }

static __global__ void gray(const uchar4 *in, unsigned char *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        uchar4 p = in[i];
        out[i] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
    }
}

/* Nine neighbours, from L1. */
static __global__ void box_blur(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += in[(size_t)min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
    out[(size_t)y * width + x] = sum / 9;
}

static __global__ void horner(const float *in, float *out, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float x = in[i], y = 0.1f;
#pragma unroll
        for (int k = 0; k < 96; k++)
            y = y * x + 0.01f * (k + 1);
        out[i] = y;
    }
}

static __global__ void dot(const float4 *a, const float4 *b, float *sum, int count)
{
    __shared__ float parts[8];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float4 x = a[i], y = b[i];
        mine += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    for (int width = 16; width; width /= 2)
        mine += __shfl_down_sync(~0u, mine, width);
    if (!(threadIdx.x & 31))
        parts[threadIdx.x >> 5] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; w++)
            mine += parts[w];
        atomicAdd(sum, mine);
    }
}

static __global__ void interleave(const float *x, const float *y, const float *z, float4 *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = make_float4(x[i], y[i], z[i], 1);
}

static __global__ void jacobi(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1)
        return;
    size_t at = (size_t)y * width + x;
    out[at] = 0.25f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}

/* A warp per row: running maximum. */
static __global__ void running_max(const float *in, float *out, int columns)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    float before = -1e30f;
    for (int c = lane; c < columns; c += 32) {
        float x = in[(size_t)row * columns + c];
        for (int d = 1; d < 32; d *= 2) {
            float y = __shfl_up_sync(~0u, x, d);
            x = lane >= d ? fmaxf(x, y) : x;
        }
        x = fmaxf(x, before);
        before = __shfl_sync(~0u, x, 31);
        out[(size_t)row * columns + c] = x;
    }
}

/* 4 x 4 matrices, a thread each product. */
static __global__ void multiply_4x4(const float4 *a, const float4 *b, float4 *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float4 m[4];
    for (int r = 0; r < 4; r++)
        m[r] = b[i * 4 + r];
    for (int r = 0; r < 4; r++) {
        float4 x = a[i * 4 + r];
        out[i * 4 + r] = make_float4(x.x * m[0].x + x.y * m[1].x + x.z * m[2].x + x.w * m[3].x,
                                     x.x * m[0].y + x.y * m[1].y + x.z * m[2].y + x.w * m[3].y,
                                     x.x * m[0].z + x.y * m[1].z + x.z * m[2].z + x.w * m[3].z,
                                     x.x * m[0].w + x.y * m[1].w + x.z * m[2].w + x.w * m[3].w);
    }
}

static __global__ void bias_gelu(const float4 *in, const float *bias, float4 *out, int quads, int columns)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        float4 x = in[i];
        const float *b = bias + 4 * (i % (columns / 4));
        float *v = &x.x;
        for (int k = 0; k < 4; k++) {
            float t = v[k] + b[k];
            v[k] = 0.5f * t * (1 + tanhf(0.79788456f * (t + 0.044715f * t * t * t)));
        }
        out[i] = x;
    }
}

/* Tiles of 16 x 16 of two matrices in shared memory, A times A transposed. */
static __global__ void gram(const float *a, float *out, int n, int depth)
{
    __shared__ float left[16][17], right[16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < depth; k += 16) {
        left[y][x] = a[(size_t)row * depth + k + x];
        right[y][x] = a[(size_t)(blockIdx.x * 16 + y) * depth + k + x];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += left[y][j] * right[x][j];
        __syncthreads();
    }
    out[(size_t)row * n + column] = sum;
}

const Profiled further[] = {
    {"gray", LAUNCH(gray<<<65536, 256>>>((const uchar4 *)b.in, (unsigned char *)b.out, 1 << 24))},
    {"box_blur", LAUNCH(box_blur<<<dim3(128, 512), dim3(32, 8)>>>(b.in, b.out, 4096, 4096))},
    {"horner", LAUNCH(horner<<<792, 384>>>(b.in, b.out, 1 << 24))},
    {"dot", LAUNCH(dot<<<1056, 256>>>((const float4 *)b.in, (const float4 *)b.out, (float *)b.counts, ELEMENTS / 4))},
    {"interleave", LAUNCH(interleave<<<16384, 512>>>(b.in, b.in + (1 << 23), b.in + (1 << 24), (float4 *)b.out, 1 << 23))},
    {"jacobi", LAUNCH(jacobi<<<dim3(64, 1024), dim3(64, 4)>>>(b.in, b.out, 4096, 4096))},
    {"running_max", LAUNCH(running_max<<<2048, 128>>>(b.in, b.out, 2048))},
    {"multiply_4x4", LAUNCH(multiply_4x4<<<4096, 128>>>((const float4 *)b.in, (const float4 *)b.in + (1 << 21), (float4 *)b.out, 1 << 19))},
    {"bias_gelu", LAUNCH(bias_gelu<<<528, 1024>>>((const float4 *)b.in, b.in, (float4 *)b.out, 1 << 22, 4096))},
    {"gram", LAUNCH(gram<<<dim3(64, 64), dim3(16, 16)>>>(b.in, b.out, 1024, 512))},
    {nullptr, nullptr},
};
