/* Pairs of clock64 and %globaltimer: they tie the clocks of all SMs to one timer. */
#include <numeric>

#include "../wavetail_trace.cuh"
#include "capture.h"

static __device__ __forceinline__ long long timer()
{
    long long time_ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_ns)::"memory");
    return time_ns;
}

static __global__ void sync_pairs(SyncPair *pairs, int count)
{
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    SyncPair *to = pairs + (size_t)blockIdx.x * count;
    long long last = timer();
    for (int i = 0; i < count; i++) {
        long long now = last;
        while (now == last)
            now = timer();
        to[i] = SyncPair{clock64(), now, (int)sm};
        last = now;
    }
}

/* Blocks that take all of an SM's shared memory, so that each SM gets one. */
std::vector<SyncPair> take_sync_pairs(int count)
{
    int blocks = device_attribute(cudaDevAttrMultiProcessorCount);
    int shared = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    std::vector<SyncPair> pairs((size_t)blocks * (size_t)count);
    SyncPair *on_device = nullptr;
    stop_on(cudaMalloc(&on_device, pairs.size() * sizeof(SyncPair)), "memory for clock pairs");
    stop_on(cudaFuncSetAttribute(sync_pairs, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
    sync_pairs<<<blocks, 1, shared>>>(on_device, count);
    stop_on(cudaGetLastError(), "clock pairs");
    stop_on(cudaMemcpy(pairs.data(), on_device, pairs.size() * sizeof(SyncPair), cudaMemcpyDeviceToHost),
            "clock pairs");
    cudaFree(on_device);
    return pairs;
}

void write_sync_pairs(const std::string &path, const std::vector<SyncPair> &pairs)
{
    wavetail::File file(path);
    file.text("sm,clock64,globaltimer_ns\n");
    for (const SyncPair &pair : pairs)
        file.text(std::to_string(pair.sm) + "," + std::to_string(pair.clock) + "," + std::to_string(pair.time_ns) +
                  "\n");
    if (!file.close())
        stop(file.error());
}

int globaltimer_step_ns()
{
    std::vector<SyncPair> pairs = take_sync_pairs(64);
    long long step = 0;
    for (size_t i = 1; i < 64; i++)
        step = std::gcd(step, pairs[i].time_ns - pairs[i - 1].time_ns);
    return (int)step;
}
