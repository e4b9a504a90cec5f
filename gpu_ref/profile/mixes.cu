/* What pipes deliver side by side, and what L2 and DRAM make of accesses that are not whole lines: the fit beside h200/.
 * Each launch is a kernel of its own name, so that one file holds all their source pages. */
#include "kernels.h"

#define LAUNCH(...) [](const Buffers &b) { __VA_ARGS__; }

#define FFMA(x) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(f[x]));
#define IMAD(x) asm volatile("mad.lo.u32 %0, %0, %1, %0;" : "+r"(u[x]) : "r"(s));
#define LOP3(x) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(v[x]) : "r"(s), "r"(t));
#define SHFT(x) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(v[x]) : "r"(s), "r"(t));
#define IADD(x) asm volatile("add.u32 %0, %0, %1;" : "+r"(v[x]) : "r"(s));

/* Four bodies of eight instructions a round. */
#define MIX(name, a, b, c, d, e, f_, g, h)                                                                            \
    static __global__ void name(float *out, int rounds, unsigned s, unsigned t)                                       \
    {                                                                                                                 \
        float f[4];                                                                                                   \
        unsigned u[4], v[4];                                                                                          \
        for (int i = 0; i < 4; i++)                                                                                   \
            f[i] = (float)threadIdx.x + i, u[i] = threadIdx.x + i, v[i] = u[i] * 3;                                   \
        _Pragma("unroll 1") for (int i = 0; i < rounds; i++)                                                          \
        {                                                                                                             \
            a(0) b(1) c(2) d(3) e(0) f_(1) g(2) h(3) a(0) b(1) c(2) d(3) e(0) f_(1) g(2) h(3)                         \
            a(0) b(1) c(2) d(3) e(0) f_(1) g(2) h(3) a(0) b(1) c(2) d(3) e(0) f_(1) g(2) h(3)                         \
        }                                                                                                             \
        out[blockIdx.x * blockDim.x + threadIdx.x] = f[0] + f[1] + f[2] + f[3] + (float)(u[0] + u[1] + u[2] + u[3]) + \
                                                     (float)(v[0] + v[1] + v[2] + v[3]);                              \
    }

MIX(mix_imad, IMAD, IMAD, IMAD, IMAD, IMAD, IMAD, IMAD, IMAD)
MIX(mix_lop3, LOP3, LOP3, LOP3, LOP3, LOP3, LOP3, LOP3, LOP3)
MIX(mix_ffma_imad, FFMA, IMAD, FFMA, IMAD, FFMA, IMAD, FFMA, IMAD)
MIX(mix_ffma3_imad, FFMA, FFMA, FFMA, IMAD, FFMA, FFMA, FFMA, IMAD)
MIX(mix_ffma_lop3, FFMA, LOP3, FFMA, LOP3, FFMA, LOP3, FFMA, LOP3)
MIX(mix_imad_lop3, IMAD, LOP3, IMAD, LOP3, IMAD, LOP3, IMAD, LOP3)
MIX(mix_imad_lop33, IMAD, LOP3, LOP3, LOP3, IMAD, LOP3, LOP3, LOP3)
MIX(mix_imad_shift, IMAD, SHFT, LOP3, SHFT, IMAD, SHFT, LOP3, SHFT)
MIX(mix_iadd, IADD, IADD, IADD, IADD, IADD, IADD, IADD, IADD)
MIX(mix_three, FFMA, IMAD, LOP3, FFMA, FFMA, LOP3, IMAD, LOP3)

/* One dependent chain over three pipes, few warps: latencies from pipe to pipe. */
static __global__ void mix_chain(float *out, int rounds, unsigned s)
{
    unsigned x = threadIdx.x;
#pragma unroll 4
    for (int i = 0; i < rounds; i++) {
        asm volatile("mad.lo.u32 %0, %0, %1, %0;" : "+r"(x) : "r"(s));
        asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(x) : "r"(s));
        asm volatile("shf.l.wrap.b32 %0, %0, %0, %1;" : "+r"(x) : "r"(s));
        asm volatile("mad.lo.u32 %0, %0, %1, %0;" : "+r"(x) : "r"(s));
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = (float)x;
}

/* Lanes `STRIDE` elements apart; the block's later stores fill what lies between (FILL) or nothing does. */
#define STORES(name, STRIDE, FILL)                                                                       \
    static __global__ void name(float *out, int rounds)                                                  \
    {                                                                                                    \
        unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;           \
        size_t at = (size_t)warp * rounds * 32 * (FILL ? 1 : STRIDE);                                    \
        for (int i = 0; i < rounds; i++)                                                                 \
            out[(at + lane * (STRIDE) + (FILL ? i % (STRIDE) + (i / (STRIDE)) * 32 * (STRIDE)            \
                                              : i * 32 * (STRIDE))) & (ELEMENTS - 1)] = (float)i;        \
    }

STORES(store_2_filled, 2, 1)
STORES(store_8_filled, 8, 1)
STORES(store_32_filled, 32, 1)
STORES(store_8_thin, 8, 0)
STORES(store_32_thin, 32, 0)

/* Column by column: each store of a warp touches 32 lines, the block's warps fill their sectors. */
static __global__ void store_columns(float *out, int pitch)
{
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, column = blockIdx.x * 8 % pitch, row = blockIdx.x * 8 / pitch * 128;
    for (int i = 0; i < 4; i++)
        out[(size_t)(row + i * 32 + lane) * pitch + column + warp] = (float)i;
}

static __global__ void load_columns(const float *in, float *out, int pitch)
{
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, column = blockIdx.x * 8 % pitch, row = blockIdx.x * 8 / pitch * 128;
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += in[(size_t)(row + i * 32 + lane) * pitch + column + warp];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static __global__ void load_8_thin(const float *in, float *out, int rounds)
{
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < rounds; i++)
        sum += in[((size_t)(warp * rounds + i) * 32 + lane) * 8 & (ELEMENTS - 1)];
    out[warp * 32 + lane] = sum;
}

/* Read and written to halves. */
static __global__ void copy_lines(const float *in, float *out)
{
    unsigned i = blockIdx.x * 1024 + threadIdx.x;
    float x[4];
    for (int j = 0; j < 4; j++)
        x[j] = in[i + j * 256];
    for (int j = 0; j < 4; j++)
        out[i + j * 256] = x[j];
}

static __device__ unsigned hashed(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    return (x ^ x >> 15) * 0x846ca68bu >> 7;
}

#define REDUCTIONS(name, MASK)                                           \
    static __global__ void name(unsigned *counts, int rounds)            \
    {                                                                    \
        unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * rounds;   \
        for (int i = 0; i < rounds; i++)                                 \
            atomicAdd(&counts[hashed(x + i) & (MASK)], 1);               \
    }

REDUCTIONS(red_random_16m, (1u << 22) - 1)
REDUCTIONS(red_random_64k, (1u << 14) - 1)
REDUCTIONS(red_random_4k, (1u << 10) - 1)

static __global__ void red_lines(unsigned *counts, int rounds)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < rounds; i++)
        atomicAdd(&counts[(x + i * 4096) & 65535], 1);
}

static __global__ void atom_random(unsigned *counts, int rounds)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < rounds; i++)
        x = hashed(x) + atomicAdd(&counts[x & 65535], 1);
    if (x == 12345)
        counts[0] = 0;
}

const Profiled mixes[] = {
    {"mix_imad", LAUNCH(mix_imad<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_lop3", LAUNCH(mix_lop3<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_ffma_imad", LAUNCH(mix_ffma_imad<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_ffma3_imad", LAUNCH(mix_ffma3_imad<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_ffma_lop3", LAUNCH(mix_ffma_lop3<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_imad_lop3", LAUNCH(mix_imad_lop3<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_imad_lop33", LAUNCH(mix_imad_lop33<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_imad_shift", LAUNCH(mix_imad_shift<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_iadd", LAUNCH(mix_iadd<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_three", LAUNCH(mix_three<<<264, 1024>>>(b.out, 20, 3, 5))},
    {"mix_chain", LAUNCH(mix_chain<<<264, 256>>>(b.out, 400, 3))},
    {"store_2_filled", LAUNCH(store_2_filled<<<1024, 256>>>(b.out, 64))},
    {"store_8_filled", LAUNCH(store_8_filled<<<1024, 256>>>(b.out, 64))},
    {"store_32_filled", LAUNCH(store_32_filled<<<1024, 256>>>(b.out, 64))},
    {"store_8_thin", LAUNCH(store_8_thin<<<1024, 256>>>(b.out, 16))},
    {"store_32_thin", LAUNCH(store_32_thin<<<1024, 256>>>(b.out, 4))},
    {"store_columns", LAUNCH(store_columns<<<4096, 256>>>(b.out, 2048))},
    {"load_columns", LAUNCH(load_columns<<<4096, 256>>>(b.in, b.out, 2048))},
    {"load_8_thin", LAUNCH(load_8_thin<<<1024, 256>>>(b.in, b.out, 16))},
    {"copy_lines", LAUNCH(copy_lines<<<16384, 256>>>(b.in, b.out))},
    {"red_random_16m", LAUNCH(red_random_16m<<<1024, 256>>>(b.ring, 16))},
    {"red_random_64k", LAUNCH(red_random_64k<<<1024, 256>>>(b.counts, 16))},
    {"red_random_4k", LAUNCH(red_random_4k<<<1024, 256>>>(b.counts, 16))},
    {"red_lines", LAUNCH(red_lines<<<1024, 256>>>(b.counts, 16))},
    {"atom_random", LAUNCH(atom_random<<<1024, 256>>>(b.counts, 16))},
    {nullptr, nullptr},
};
