/* What tracing costs: the same kernels with and without it, in turn. */
#include <algorithm>
#include <cstdio>

#include "capture.h"
#include "kernels.h"

namespace
{

enum { REPETITIONS = 21, FEW = 300, MANY = 1300 /* blocks of each SM where one follows another */ };

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

/* Does what nearly every kernel does: reads its indices and parameters, and stores something. */
template <typename Probe> __global__ void cost_small(Params p)
{
    Probe probe;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    p.data[(i & (p.mask >> 1)) + (p.mask >> 1)] = (float)i;
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

/* A block's first warp where the kernel goes on after the end; its cycles into data, as an int per block. */
template <typename Probe> __global__ void cost_cycles(Params p)
{
    long long before = clock64();
    Probe probe;
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

struct Events {
    cudaEvent_t begin, end;
    Events()
    {
        stop_on(cudaEventCreate(&begin), "events");
        stop_on(cudaEventCreate(&end), "events");
    }
    ~Events()
    {
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
    }
};

/* us, between events around the launch. */
float run_once(const void *function, const char *name, int grid, int block, int shared_bytes, Params params, const Events &events)
{
    void *arguments[] = {&params};
    float ms = 0;
    stop_on(cudaEventRecord(events.begin), "events");
    stop_on(cudaLaunchKernel(function, dim3((unsigned)grid), dim3((unsigned)block), arguments, (size_t)shared_bytes, 0), name);
    stop_on(cudaEventRecord(events.end), "events");
    stop_on(cudaEventSynchronize(events.end), name);
    stop_on(cudaEventElapsedTime(&ms, events.begin, events.end), "events");
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
    Events events;
    params.constant = one.work;
    std::vector<float> without, with;
    for (int i = 0; i < REPETITIONS + 3; i++) { /* three to warm up */
        float plain = run_once(one.untraced, one.name, one.grid, one.block, 0, params, events);
        float traced = run_once(one.traced, one.name, one.grid, one.block, 0, params, events);
        if (i >= 3) {
            without.push_back(plain);
            with.push_back(traced);
        }
    }
    float plain = median(without), traced = median(with);
    std::printf("%s,%d,%d,%d,%d,%.2f,%.2f,%.2f,\n", one.name, one.grid, one.block, registers(one.untraced),
                registers(one.traced), plain, traced, 100 * (traced - plain) / plain);
}

double clock_ghz()
{
    enum { PAIRS = 2000 };
    std::vector<SyncPair> pairs = take_sync_pairs(PAIRS);
    const SyncPair &first = pairs[0], &last = pairs[PAIRS - 1];
    return (double)(last.clock - first.clock) / (double)(last.time_ns - first.time_ns);
}

/* ns from one block's start to the next one's on the same SM, which has room for one. The difference of a long and a short
 * launch leaves launching out. */
double period_ns(const void *function, const char *name, Params params, int block, int sms)
{
    Events events;
    int shared_bytes = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 2048; /* more than half of an SM's */
    stop_on(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), name);
    std::vector<float> differences;
    for (int i = 0; i < REPETITIONS + 1; i++) {
        float few = run_once(function, name, FEW * sms, block, shared_bytes, params, events);
        float many = run_once(function, name, MANY * sms, block, shared_bytes, params, events);
        if (i > 0)
            differences.push_back(many - few);
    }
    return median(differences) * 1000 / (MANY - FEW);
}

void compare_periods(const char *name, const void *untraced, const void *traced, Params params, int block)
{
    int sms = device_attribute(cudaDevAttrMultiProcessorCount);
    double extra_ns = period_ns(traced, name, params, block, sms) - period_ns(untraced, name, params, block, sms);
    std::printf("%s,%d,%d,%d,%d,,,,%.0f\n", name, sms, block, registers(untraced), registers(traced), extra_ns * clock_ghz());
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
    params.trace.capacity = params.trace.flat = (unsigned)(MANY * sms);
    stop_on(cudaMalloc(&params.trace.slots, params.trace.capacity * sizeof(wavetail::Slot)), "memory for records");

    std::printf("kernel,grid,block,regs,regs_traced,makespan_us,makespan_traced_us,change_percent,extra_cycles\n");
#define CASE(name, kernel, threads, work) \
    compare({name, (const void *)kernel<Untraced>, (const void *)kernel<Traced>, grid, threads, work}, params)
    CASE("empty", cost_empty, 32, 0);
    CASE("empty", cost_empty, 256, 0);
    CASE("compute", cost_compute, 256, 2000);
    CASE("memory", cost_memory, 256, 8);
#undef CASE
#define PERIODS(name, kernel) \
    for (int threads : {32, 256, 1024}) \
    compare_periods(name, (const void *)kernel<Untraced>, (const void *)kernel<Traced>, params, threads)
    PERIODS("empty: one block after another", cost_empty);
    PERIODS("small: one block after another", cost_small);
#undef PERIODS
#define CYCLES(name, blocks, threads) \
    compare_cycles(name, (const void *)cost_cycles<Untraced>, (const void *)cost_cycles<Traced>, params, blocks, threads)
    CYCLES("goes on after the end: first blocks", sms, 32);
    CYCLES("goes on after the end: first blocks", sms, 256);
    CYCLES("goes on after the end: full SMs", grid, 32);
    CYCLES("goes on after the end: full SMs", grid, 256);
#undef CYCLES
    cudaFree(params.data);
    cudaFree(params.trace.slots);
}
