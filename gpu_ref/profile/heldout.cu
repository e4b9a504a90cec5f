/* Sixteen more, written apart from the model and captured before anybody who worked on it had seen them: a second test that
 * nothing was tuned on. Kernels as libraries and courses have them; block sizes from 64 to 1024. */
#include "kernels.h"

#define LAUNCH(...) [](const Buffers &b) { __VA_ARGS__; }

/* A row per block, kept in shared memory: mean, variance, scale and shift. */
static __global__ void layer_norm(const float4 *in, const float4 *scale, const float4 *shift, float4 *out, int quads)
{
    extern __shared__ float4 row[];
    __shared__ float sums[32], squares[32];
    const float4 *mine = in + (size_t)blockIdx.x * quads;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 x = row[i] = mine[i];
        sum += x.x + x.y + x.z + x.w;
        square += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    }
    for (int width = 16; width; width /= 2) {
        sum += __shfl_xor_sync(~0u, sum, width);
        square += __shfl_xor_sync(~0u, square, width);
    }
    if (!(threadIdx.x & 31))
        sums[threadIdx.x >> 5] = sum, squares[threadIdx.x >> 5] = square;
    __syncthreads();
    sum = square = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++)
        sum += sums[w], square += squares[w];
    float mean = sum / (4 * quads), inverse = rsqrtf(square / (4 * quads) - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 x = row[i], a = scale[i], b = shift[i];
        out[(size_t)blockIdx.x * quads + i] =
            make_float4((x.x - mean) * inverse * a.x + b.x, (x.y - mean) * inverse * a.y + b.y,
                        (x.z - mean) * inverse * a.z + b.z, (x.w - mean) * inverse * a.w + b.w);
    }
}

/* Seven points; a block walks along z with its plane in shared memory and the planes before and after in registers. */
static __global__ void stencil_3d(const float *in, float *out, int nx, int ny, int depth)
{
    __shared__ float plane[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z * depth, tx = threadIdx.x + 1,
        ty = threadIdx.y + 1;
    size_t layer = (size_t)nx * ny, at = z * layer + (size_t)y * nx + x;
    float below = z ? in[at - layer] : 0, here = in[at];
    for (int k = 0; k < depth; k++, at += layer) {
        float above = in[at + layer];
        plane[ty][tx] = here;
        if (threadIdx.x == 0)
            plane[ty][0] = x ? in[at - 1] : 0;
        if (threadIdx.x == 31)
            plane[ty][33] = x < nx - 1 ? in[at + 1] : 0;
        if (threadIdx.y == 0)
            plane[0][tx] = y ? in[at - nx] : 0;
        if (threadIdx.y == 7)
            plane[9][tx] = y < ny - 1 ? in[at + nx] : 0;
        __syncthreads();
        out[at] = 0.4f * here + 0.1f * (below + above + plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx]);
        __syncthreads();
        below = here, here = above;
    }
}

enum { RADIUS = 8 };
static __constant__ float weights[2 * RADIUS + 1];

/* Four outputs a thread, 128 apart. */
static __global__ void convolve_rows(const float *in, float *out, int width)
{
    __shared__ float line[512 + 2 * RADIUS];
    int first = blockIdx.x * 512;
    const float *row = in + (size_t)blockIdx.y * width;
    for (int i = threadIdx.x; i < 512 + 2 * RADIUS; i += 128) {
        int x = first + i - RADIUS;
        line[i] = x >= 0 && x < width ? row[x] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < 4; part++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k <= 2 * RADIUS; k++)
            sum += weights[k] * line[part * 128 + threadIdx.x + k];
        out[(size_t)blockIdx.y * width + first + part * 128 + threadIdx.x] = sum;
    }
}

/* 32 columns and 64 rows per block of 32 × 16. */
static __global__ void convolve_columns(const float *in, float *out, int width, int height)
{
    __shared__ float tile[64 + 2 * RADIUS][32];
    int x = blockIdx.x * 32 + threadIdx.x, top = blockIdx.y * 64;
    for (int i = threadIdx.y; i < 64 + 2 * RADIUS; i += 16) {
        int y = top + i - RADIUS;
        tile[i][threadIdx.x] = y >= 0 && y < height ? in[(size_t)y * width + x] : 0;
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 64; i += 16) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k <= 2 * RADIUS; k++)
            sum += weights[k] * tile[i + k][threadIdx.x];
        out[(size_t)(top + i) * width + x] = sum;
    }
}

/* The nearest of the centroids, which are in shared memory; eight dimensions, one array each. */
static __global__ void kmeans_assign(const float *points, const float *centroids, int *nearest, int count, int clusters)
{
    extern __shared__ float centres[];
    for (int i = threadIdx.x; i < clusters * 8; i += blockDim.x)
        centres[i] = centroids[i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float point[8], least = 1e30f;
#pragma unroll
    for (int d = 0; d < 8; d++)
        point[d] = points[(size_t)d * count + i];
    int best = 0;
    for (int c = 0; c < clusters; c++) {
        float distance = 0;
#pragma unroll
        for (int d = 0; d < 8; d++) {
            float gap = point[d] - centres[c * 8 + d];
            distance += gap * gap;
        }
        if (distance < least)
            least = distance, best = c;
    }
    nearest[i] = best;
}

/* Column indices near the diagonal, as a mesh has them. */
static __global__ void fill_band(int *columns, int rows, int width)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * width; i += gridDim.x * blockDim.x) {
        unsigned x = i * 0x9e3779b1u;
        x = (x ^ x >> 15) * 0x85ebca6bu;
        int column = i % rows + (int)(x >> 21) - 1024;
        columns[i] = min(max(column, 0), rows - 1);
    }
}

static __global__ void ell_multiply(const int *columns, const float *values, const float *vector, float *out, int rows, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = 0; i < width; i++)
        sum += values[i * rows + row] * vector[columns[i * rows + row]];
    out[row] = sum;
}

/* An RGBA image made larger. */
static __global__ void resize_bilinear(const uchar4 *in, uchar4 *out, int from_width, int from_height, int width, int height)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float fx = fmaxf((x + 0.5f) * from_width / width - 0.5f, 0), fy = fmaxf((y + 0.5f) * from_height / height - 0.5f, 0);
    int x0 = (int)fx, y0 = (int)fy, x1 = min(x0 + 1, from_width - 1), y1 = min(y0 + 1, from_height - 1);
    float u = fx - x0, v = fy - y0;
    uchar4 a = in[y0 * from_width + x0], b = in[y0 * from_width + x1], c = in[y1 * from_width + x0], d = in[y1 * from_width + x1];
#define BETWEEN(part) (unsigned char)((a.part * (1 - u) + b.part * u) * (1 - v) + (c.part * (1 - u) + d.part * u) * v + 0.5f)
    out[y * width + x] = make_uchar4(BETWEEN(x), BETWEEN(y), BETWEEN(z), BETWEEN(w));
#undef BETWEEN
}

/* Philox 4×32-10 and Box and Muller's transform. */
static __global__ void philox_normal(float4 *out, int per_thread, unsigned seed)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = 0; i < per_thread; i++) {
        unsigned c0 = i, c1 = 0, c2 = thread, c3 = 0, k0 = seed, k1 = ~seed;
#pragma unroll
        for (int round = 0; round < 10; round++) {
            unsigned high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0, high1 = __umulhi(0xCD9E8D57u, c2),
                     low1 = 0xCD9E8D57u * c2;
            c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
            k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
        }
        float r0 = sqrtf(-2 * logf((c0 + 1.0f) * 2.3283064e-10f)), r1 = sqrtf(-2 * logf((c2 + 1.0f) * 2.3283064e-10f)), s0, n0, s1, n1;
        sincospif(c1 * 4.6566129e-10f, &s0, &n0);
        sincospif(c3 * 4.6566129e-10f, &s1, &n1);
        out[(size_t)i * threads + thread] = make_float4(r0 * s0, r0 * n0, r1 * s1, r1 * n1);
    }
}

/* A polynomial of degree nine times an exponential, in double precision. */
static __global__ void hermite_double(const double *in, double *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    double x = in[i] * 64, square = x * x;
    double odd = ((((square - 36) * square + 378) * square - 1260) * square + 945) * x;
    out[i] = odd * exp(-0.5 * square);
}

/* LU without pivots; a matrix of 16 × 16 per block, an entry per thread. */
static __global__ void lu_batched(const float *in, float *out)
{
    __shared__ float a[16][17];
    int row = threadIdx.x >> 4, column = threadIdx.x & 15;
    size_t at = (size_t)blockIdx.x * 256 + threadIdx.x;
    a[row][column] = in[at] + (row == column ? 16 : 0);
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (column == k && row > k)
            a[row][k] /= a[k][k];
        __syncthreads();
        if (row > k && column > k)
            a[row][column] -= a[row][k] * a[k][column];
        __syncthreads();
    }
    out[at] = a[row][column];
}

/* Starts of words in a text: sixteen characters at a time. */
static __global__ void count_words(const uint4 *text, unsigned *total, int quads)
{
    __shared__ unsigned sums[16];
    unsigned words = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        uint4 t = text[i];
        unsigned part[4] = {t.x, t.y, t.z, t.w}, before = 0;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned letters = __vcmpgtu4(part[j], 0x40404040u);
            words += __popc(letters & ~(letters << 8 | before >> 24) & 0x01010101u);
            before = letters;
        }
    }
    for (int width = 16; width; width /= 2)
        words += __shfl_down_sync(~0u, words, width);
    if (!(threadIdx.x & 31))
        sums[threadIdx.x >> 5] = words;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; w++)
            words += sums[w];
        atomicAdd(total, words);
    }
}

static __device__ void adam_one(float &w, float &m, float &v, float g)
{
    m = 0.9f * m + 0.1f * g;
    v = 0.999f * v + 0.001f * g * g;
    w -= 0.001f * (m / 0.19f) / (sqrtf(v / 0.001999f) + 1e-8f);
}

static __global__ void adam_step(float4 *weight, const float4 *gradient, float4 *momentum, float4 *variance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 w = weight[i], g = gradient[i], m = momentum[i], v = variance[i];
    adam_one(w.x, m.x, v.x, g.x);
    adam_one(w.y, m.y, v.y, g.y);
    adam_one(w.z, m.z, v.z, g.z);
    adam_one(w.w, m.w, v.w, g.w);
    weight[i] = w, momentum[i] = m, variance[i] = v;
}

/* Cholesky's factor of a matrix of 6 × 6 per thread, all of it in registers; each of its 21 entries is an array. */
static __global__ void cholesky_6(const float *in, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float a[21];
#pragma unroll
    for (int e = 0; e < 21; e++)
        a[e] = in[(size_t)e * count + i];
#pragma unroll
    for (int k = 0; k < 6; k++) {
        int kk = k * (k + 1) / 2 + k;
        a[kk] = sqrtf(a[kk] + 8);
        float inverse = 1 / a[kk];
#pragma unroll
        for (int row = k + 1; row < 6; row++)
            a[row * (row + 1) / 2 + k] *= inverse;
#pragma unroll
        for (int row = k + 1; row < 6; row++)
#pragma unroll
            for (int column = k + 1; column <= row; column++)
                a[row * (row + 1) / 2 + column] -= a[row * (row + 1) / 2 + k] * a[column * (column + 1) / 2 + k];
    }
#pragma unroll
    for (int e = 0; e < 21; e++)
        out[(size_t)e * count + i] = a[e];
}

static __constant__ float4 spheres[64];

/* The first sphere that a ray through each pixel meets, and how light it is there. */
static __global__ void ray_spheres(float *out, int width, int height, int count)
{
    int px = blockIdx.x * 8 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
    float dx = (px - width / 2) / (float)height, dy = (py - height / 2) / (float)height, scale = rsqrtf(dx * dx + dy * dy + 1);
    dx *= scale, dy *= scale;
    float dz = scale, nearest = 1e30f, light = 0;
    for (int i = 0; i < count; i++) {
        float4 s = spheres[i];
        float along = s.x * dx + s.y * dy + s.z * dz, inside = s.w - (s.x * s.x + s.y * s.y + s.z * s.z) + along * along;
        if (inside > 0) {
            float t = along - sqrtf(inside);
            if (t > 0 && t < nearest) {
                nearest = t;
                light = fmaxf((dx * t - s.x) * 0.5f + (dy * t - s.y) * 0.5f - (dz * t - s.z) * 0.7f, 0) * rsqrtf(s.w);
            }
        }
    }
    out[py * width + px] = light;
}

/* A tridiagonal system per thread, neighbours side by side. */
static __global__ void thomas(const float *lower, const float *diagonal, const float *upper, const float *right, float *work, float *x,
                              int systems, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float c = 0, d = 0;
    for (int row = 0; row < rows; row++) {
        int at = row * systems + i;
        float a = lower[at], inverse = 1 / (diagonal[at] + 4 - a * c);
        c = upper[at] * inverse;
        d = (right[at] - a * d) * inverse;
        work[at] = c;
        x[at] = d;
    }
    for (int row = rows - 2; row >= 0; row--) {
        int at = row * systems + i;
        d = x[at] - work[at] * d;
        x[at] = d;
    }
}

static __device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

static __device__ void radix2(float2 &a, float2 &b)
{
    float2 sum = make_float2(a.x + b.x, a.y + b.y);
    b = make_float2(a.x - b.x, a.y - b.y);
    a = sum;
}

static __device__ void radix8(float2 *a)
{
    const float half = 0.70710678f;
    for (int i = 0; i < 4; i++)
        radix2(a[i], a[i + 4]);
    a[5] = times(a[5], make_float2(half, -half));
    a[6] = make_float2(a[6].y, -a[6].x);
    a[7] = times(a[7], make_float2(-half, -half));
    for (int i = 0; i < 8; i += 4) {
        radix2(a[i], a[i + 2]);
        radix2(a[i + 1], a[i + 3]);
        a[i + 3] = make_float2(a[i + 3].y, -a[i + 3].x);
        radix2(a[i], a[i + 1]);
        radix2(a[i + 2], a[i + 3]);
    }
}

static __device__ void twiddle8(float2 *a, int index, int length)
{
#pragma unroll
    for (int i = 1; i < 8; i++) {
        float2 w;
        __sincosf(-6.2831853f * (float)(i * index) / (float)length, &w.y, &w.x);
        const int reversed[8] = {0, 4, 2, 6, 1, 5, 3, 7};
        a[reversed[i]] = times(a[reversed[i]], w);
    }
}

/* A transform of 512 points per block of 64 threads: three stages of radix 8, exchanged through shared memory. */
static __global__ void transform_512(const float2 *in, float2 *out)
{
    __shared__ float2 points[8 * 72];
    int thread = threadIdx.x, high = thread >> 3, low = thread & 7;
    in += (size_t)blockIdx.x * 512 + thread;
    out += (size_t)blockIdx.x * 512 + thread;
    const int reversed[8] = {0, 4, 2, 6, 1, 5, 3, 7};
    float2 a[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        a[i] = in[i * 64];
    radix8(a);
    twiddle8(a, thread, 512);
#pragma unroll
    for (int i = 0; i < 8; i++)
        points[i * 72 + thread] = a[reversed[i]];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        a[i] = points[high * 72 + i * 8 + low];
    radix8(a);
    twiddle8(a, low, 64);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        points[high * 72 + i * 9 + low] = a[reversed[i]];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
        a[i] = points[high * 72 + low * 9 + i];
    radix8(a);
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i * 64] = a[reversed[i]];
}

static void launch_ell(const Buffers &b)
{
    int rows = 1000000, width = 24;
    fill_band<<<1024, 256>>>((int *)b.ring, rows, width);
    ell_multiply<<<(rows + 63) / 64, 64>>>((const int *)b.ring, b.in, b.in + (1 << 25) - (1 << 20), b.out, rows, width);
}

static void launch_spheres(const Buffers &b)
{
    float4 all[64];
    for (int i = 0; i < 64; i++)
        all[i] = make_float4((float)(i * 37 % 64) / 16 - 2, (float)(i * 23 % 64) / 32 - 1, 3 + (float)(i * 11 % 64) / 16, 0.06f);
    cudaMemcpyToSymbol(spheres, all, sizeof all);
    ray_spheres<<<dim3(320, 180), dim3(8, 8)>>>(b.out, 2560, 1440, 64);
}

static void launch_adam(const Buffers &b)
{
    cudaMemset(b.ring, 0, ELEMENTS * sizeof *b.ring);
    cudaMemset(b.out, 0, ELEMENTS * sizeof *b.out);
    adam_step<<<32768, 128>>>((float4 *)b.out, (const float4 *)b.in, (float4 *)(b.out + (1 << 24)), (float4 *)b.ring);
}

static void weigh()
{
    float all[2 * RADIUS + 1];
    for (int i = 0; i <= 2 * RADIUS; i++)
        all[i] = 1.0f / (2 + abs(i - RADIUS));
    cudaMemcpyToSymbol(weights, all, sizeof all);
}

#define PART(quarter) (b.in + (quarter) * (ELEMENTS / 4))

const Profiled heldout[] = {
    {"layer_norm", LAUNCH(layer_norm<<<4096, 1024, 32768>>>((const float4 *)b.in, (const float4 *)b.in, (const float4 *)b.in + 2048,
                                                           (float4 *)b.out, 2048))},
    {"stencil_3d", LAUNCH(stencil_3d<<<dim3(16, 32, 8), dim3(32, 8)>>>(b.in, b.out, 512, 256, 30))},
    {"convolve_rows", LAUNCH(weigh(), convolve_rows<<<dim3(8, 6000), 128>>>(b.in, b.out, 4096))},
    {"convolve_columns", LAUNCH(weigh(), convolve_columns<<<dim3(128, 96), dim3(32, 16)>>>(b.in, b.out, 4096, 6144))},
    {"kmeans_assign", LAUNCH(kmeans_assign<<<10417, 192, 2048>>>(b.in, b.in, (int *)b.out, 2000000, 64))},
    {"ell_multiply", launch_ell},
    {"resize_bilinear", LAUNCH(resize_bilinear<<<dim3(300, 250), dim3(16, 16)>>>((const uchar4 *)b.in, (uchar4 *)b.out, 3200, 2600,
                                                                                4800, 4000))},
    {"philox_normal", LAUNCH(philox_normal<<<1000, 384>>>((float4 *)b.out, 16, 2024))},
    {"hermite_double", LAUNCH(hermite_double<<<50000, 160>>>((const double *)b.in, (double *)b.out, 8000000))},
    {"lu_batched", LAUNCH(lu_batched<<<40000, 256>>>(b.in, b.out))},
    {"count_words", LAUNCH(count_words<<<528, 512>>>((const uint4 *)b.in, b.counts, ELEMENTS / 4))},
    {"adam_step", launch_adam},
    {"cholesky_6", LAUNCH(cholesky_6<<<6250, 224>>>(b.in, b.out, 1400000))},
    {"ray_spheres", launch_spheres},
    {"thomas", LAUNCH(thomas<<<512, 128>>>(PART(0), PART(1), PART(2), PART(3), b.out, b.out + (1 << 24), 65536, 128))},
    {"transform_512", LAUNCH(transform_512<<<20000, 64>>>((const float2 *)b.in, (float2 *)b.out))},
    {nullptr, nullptr},
};
