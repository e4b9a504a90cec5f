/* Families limited by registers. HELD values live through each kernel; the compiler adds its own registers, so
 * what a kernel really has (the trace states it) is near its name, rounded up to 8 by the hardware. */
#include <cstdlib>
#include <cstring>

#include "kernels.h"

template <int HELD> static __device__ __forceinline__ void start_values(float (&held)[HELD])
{
#pragma unroll
    for (int i = 0; i < HELD; i++)
        held[i] = (float)(threadIdx.x + i);
}

template <int HELD> static __device__ __forceinline__ void advance(float (&held)[HELD])
{
#pragma unroll
    for (int i = 0; i < HELD; i++)
        held[i] = fmaf(held[i], 0.999f, 0.5f);
}

template <int HELD> static __device__ __forceinline__ float total(const float (&held)[HELD])
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < HELD; i++)
        sum += held[i] * (float)(i + 1);
    return sum;
}

template <int HELD, int THREADS> __global__ void __launch_bounds__(THREADS) fma_family(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    float held[HELD];
    start_values(held);
#pragma unroll 1
    for (int n = 0; n < (int)work; n++)
        advance(held);
    keep(p, total(held));
    END_WORK(p, work);
}

/* The values could change in the waiting loop, so they must stay in registers; they never do. */
template <int HELD, int THREADS> __global__ void __launch_bounds__(THREADS) spin_family(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    float held[HELD];
    start_values(held);
    long long until = wt_trace_start_.clock + work;
#pragma unroll 1
    while (clock64() < until)
        if (p.never)
            advance(held);
    keep(p, total(held));
    END_WORK(p, work);
}

/* Of each eight warps the last four are through after a tenth of the work, and exit. */
template <int HELD, int THREADS> __global__ void __launch_bounds__(THREADS) stagger_family(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    float held[HELD];
    start_values(held);
    long long until = wt_trace_start_.clock + (thread_of_block() / 32 % 8 < 4 ? work : work / 10);
#pragma unroll 1
    while (clock64() < until) {
        __nanosleep(100);
        if (p.never)
            advance(held);
    }
    keep(p, total(held));
    END_WORK(p, work);
}

const NamedKernel register_kernels[] = {
    KERNEL("r32", fma_family<16, 1024>),
    KERNEL("r64", fma_family<48, 1024>),
    KERNEL("r80", fma_family<64, 768>),
    KERNEL("r128", fma_family<112, 512>),
    KERNEL("r144", fma_family<128, 384>),
    KERNEL("r168", fma_family<152, 384>),
    KERNEL("r232", fma_family<216, 256>),
    KERNEL("spinr32", spin_family<16, 1024>),
    KERNEL("spinr64", spin_family<56, 1024>),
    KERNEL("spinr80", spin_family<72, 768>),
    KERNEL("spinr128", spin_family<120, 512>),
    KERNEL("spinr144", spin_family<128, 384>),
    KERNEL("spinr168", spin_family<160, 384>),
    KERNEL("spinr232", spin_family<216, 256>),
    KERNEL("stagger", stagger_family<16, 1024>),
    KERNEL("staggerr128", stagger_family<112, 512>),
    {nullptr, nullptr, nullptr},
};

const NamedKernel *named_kernel(const char *name)
{
    for (const NamedKernel *table : {compute_kernels, memory_kernels, register_kernels})
        for (const NamedKernel *kernel = table; kernel->name; kernel++)
            if (!std::strcmp(kernel->name, name))
                return kernel;
    std::abort();
}
