/* What tracing costs: the same kernels with and without it, in turn. */
#include <algorithm>
#include <cstdio>

#include "capture.h"
#include "kernels.h"

namespace
{

enum { REPETITIONS = 21 };

struct Untraced {
    __device__ Untraced() {}
    __device__ void end(const Params &) {}
};

struct Traced {
    wavetail::Start start;
    __device__ Traced() : start(wavetail::trace_begin()) {}
    __device__ void end(const Params &p) { wavetail::trace_end<false>(p.trace, start, -1, 0); }
};

template <typename Probe> __global__ void cost_empty(Params p)
{
    Probe probe;
    probe.end(p);
}

template <typename Probe> __global__ void cost_compute(Params p)
{
    Probe probe;
    float x = (float)threadIdx.x;
#pragma unroll 8
    for (int n = 0; n < (int)p.constant; n++)
        x = fmaf(x, 0.999f, 0.5f);
    keep(p, x);
    probe.end(p);
}

template <typename Probe> __global__ void cost_memory(Params p)
{
    Probe probe;
    unsigned long long half = (p.mask >> 3) + 1;
    const float4 *from = (const float4 *)p.data;
    float4 *to = (float4 *)p.data + half;
    for (int n = 0; n < (int)p.constant; n++) {
        unsigned long long i = (((unsigned long long)n * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x) & (half - 1);
        to[i] = from[i];
    }
    probe.end(p);
}

/* The first warp's cycles in a block that does nothing else; into data, as an int per block. */
template <typename Probe> __global__ void cost_cycles(Params p)
{
    long long before = clock64();
    Probe probe;
    probe.end(p);
    long long after = clock64();
    if (threadIdx.x == 0)
        ((int *)p.data)[blockIdx.x] = (int)(after - before);
}

/* The same where the kernel does what nearly every one does: reads its indices and parameters, and stores something. */
template <typename Probe> __global__ void cost_small(Params p)
{
    long long before = clock64();
    Probe probe;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    p.data[(i & (p.mask >> 1)) + (p.mask >> 1)] = (float)i;
    probe.end(p);
    long long after = clock64();
    if (threadIdx.x == 0)
        ((int *)p.data)[blockIdx.x] = (int)(after - before);
}

struct Case {
    const char *name;
    const void *untraced, *traced;
    int grid, block;
    long long work;
};

float run_once(const void *function, const Case &one, Params params, cudaEvent_t begin, cudaEvent_t end)
{
    void *arguments[] = {&params};
    float ms = 0;
    stop_on(cudaEventRecord(begin), "events");
    stop_on(cudaLaunchKernel(function, dim3((unsigned)one.grid), dim3((unsigned)one.block), arguments, 0, 0), one.name);
    stop_on(cudaEventRecord(end), "events");
    stop_on(cudaEventSynchronize(end), one.name);
    stop_on(cudaEventElapsedTime(&ms, begin, end), "events");
    return ms * 1000;
}

template <typename T> T median(std::vector<T> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int registers(const void *function)
{
    cudaFuncAttributes attributes;
    stop_on(cudaFuncGetAttributes(&attributes, function), "cudaFuncGetAttributes");
    return attributes.numRegs;
}

void compare(const Case &one, Params params)
{
    cudaEvent_t begin, end;
    stop_on(cudaEventCreate(&begin), "events");
    stop_on(cudaEventCreate(&end), "events");
    params.constant = one.work;
    std::vector<float> without, with;
    for (int i = 0; i < REPETITIONS + 3; i++) { /* three to warm up */
        float plain = run_once(one.untraced, one, params, begin, end);
        float traced = run_once(one.traced, one, params, begin, end);
        if (i >= 3) {
            without.push_back(plain);
            with.push_back(traced);
        }
    }
    float plain = median(without), traced = median(with);
    std::printf("%s,%d,%d,%d,%d,%.2f,%.2f,%.2f,\n", one.name, one.grid, one.block, registers(one.untraced),
                registers(one.traced), plain, traced, 100 * (traced - plain) / plain);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}

int cycles(const void *function, const char *name, Params params, int grid, int block)
{
    void *arguments[] = {&params};
    std::vector<int> values((size_t)grid);
    for (int i = 0; i < 3; i++) /* the last one is kept: code and constants are in the caches */
        stop_on(cudaLaunchKernel(function, dim3((unsigned)grid), dim3((unsigned)block), arguments, 0, 0), name);
    stop_on(cudaMemcpy(values.data(), params.data, values.size() * sizeof(int), cudaMemcpyDeviceToHost), name);
    return median(values);
}

void compare_cycles(const char *name, const void *untraced, const void *traced, Params params, int grid, int block)
{
    int extra = cycles(traced, name, params, grid, block) - cycles(untraced, name, params, grid, block);
    std::printf("%s,%d,%d,%d,%d,,,,%d\n", name, grid, block, registers(untraced), registers(traced), extra);
}

} // namespace

/* makespans: medians, by events around the launch, so they include about 2 us of launching. */
void print_overhead()
{
    int sms = device_attribute(cudaDevAttrMultiProcessorCount), grid = 60 * sms;
    Params params = {};
    size_t elements = 1 << 26;
    params.mask = elements - 1;
    stop_on(cudaMalloc(&params.data, elements * sizeof(float)), "data");
    stop_on(cudaMemset(params.data, 0, elements * sizeof(float)), "data");
    params.trace.capacity = params.trace.flat = (unsigned)grid;
    stop_on(cudaMalloc(&params.trace.slots, (size_t)grid * sizeof(wavetail::Slot)), "memory for records");

    std::printf("kernel,grid,block,regs,regs_traced,makespan_us,makespan_traced_us,change_percent,extra_cycles\n");
#define CASE(name, kernel, threads, work) \
    compare({name, (const void *)kernel<Untraced>, (const void *)kernel<Traced>, grid, threads, work}, params)
    CASE("empty", cost_empty, 32, 0);
    CASE("empty", cost_empty, 256, 0);
    CASE("compute", cost_compute, 256, 2000);
    CASE("memory", cost_memory, 256, 8);
#undef CASE
#define CYCLES(name, kernel, blocks, threads) \
    compare_cycles(name, (const void *)kernel<Untraced>, (const void *)kernel<Traced>, params, blocks, threads)
    CYCLES("empty: one block per SM", cost_cycles, sms, 32);
    CYCLES("empty: one block per SM", cost_cycles, sms, 256);
    CYCLES("empty: full SMs", cost_cycles, grid, 32);
    CYCLES("empty: full SMs", cost_cycles, grid, 256);
    CYCLES("small: one block per SM", cost_small, sms, 32);
    CYCLES("small: one block per SM", cost_small, sms, 256);
    CYCLES("small: full SMs", cost_small, grid, 32);
    CYCLES("small: full SMs", cost_small, grid, 256);
#undef CYCLES
    cudaFree(params.data);
    cudaFree(params.trace.slots);
}
