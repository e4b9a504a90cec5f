/* What the runtime says about the GPU: properties, clusters, occupancy. */
#include <cstdio>

#include "capture.h"
#include "catalog.h"
#include "kernels.h"

static void number(const char *key, double value, const char *call)
{
    std::printf("%s = { value = %.10g; source = \"measured: %s\"; };\n", key, value, call);
}

/* Groups and clock domains come from a trace (`wavetail topology`). */
void print_device_config()
{
    int device = 0;
    cudaDeviceProp properties;
    stop_on(cudaGetDevice(&device), "cudaGetDevice");
    stop_on(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    double bus_bytes = device_attribute(cudaDevAttrGlobalMemoryBusWidth) / 8.0;
    double memory_hz = 1e3 * device_attribute(cudaDevAttrMemoryClockRate);

    std::printf("base = \"cc%d.%d\";\nname = \"%s\";\n", properties.major, properties.minor, properties.name);
    std::printf("compute_capability = { value = \"%d.%d\"; source = \"measured: cudaGetDeviceProperties\"; };\n",
                properties.major, properties.minor);
    number("clock_mhz", device_attribute(cudaDevAttrClockRate) / 1e3, "cudaDevAttrClockRate");
    number("l2_mib", properties.l2CacheSize / 1048576.0, "cudaGetDeviceProperties, l2CacheSize");
    number("memory_gbs", 2 * bus_bytes * memory_hz / 1e9, "cudaDevAttrMemoryClockRate, double data rate, and bus width");
    std::printf("topology = {\n    ");
    number("sm_count", properties.multiProcessorCount, "cudaGetDeviceProperties, multiProcessorCount");
    std::printf("};\n");
}

/* -1: the runtime refuses such clusters. */
static int max_clusters(const void *function, int cluster, int block, int dynamic_smem)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(cluster * device_attribute(cudaDevAttrMultiProcessorCount)));
    config.blockDim = dim3((unsigned)block);
    config.dynamicSmemBytes = (size_t)dynamic_smem;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, function, &config) == cudaSuccess)
        return clusters;
    cudaGetLastError();
    return -1;
}

void print_max_clusters()
{
    if (device_attribute(cudaDevAttrComputeCapabilityMajor) < 9)
        stop("--max-clusters: clusters need compute capability 9.0");
    const void *function = named_kernel("spin")->function;
    int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    stop_on(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most), "shared memory");
    stop_on(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "large clusters");
    std::printf("cluster,block,dynamic_smem,max_active_clusters\n");
    for (int cluster = 1; cluster <= 16; cluster++)
        for (int block : {32, 128, 256, 1024})
            for (int dynamic_smem : {0, 50000, 100000, 200000})
                if (dynamic_smem <= most)
                    std::printf("%d,%d,%d,%d\n", cluster, block, dynamic_smem,
                                max_clusters(function, cluster, block, dynamic_smem));
}

static void print_kernel_occupancy(const KernelInfo &kernel, int most)
{
    const void *function = named_kernel(kernel.name)->function;
    cudaFuncAttributes attributes;
    stop_on(cudaFuncGetAttributes(&attributes, function), kernel.name);
    int room = most - (int)attributes.sharedSizeBytes;
    stop_on(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, room), kernel.name);
    for (int block : {1, 32, 33, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 608, 640, 672, 736,
                      768, 896, 992, 1024})
        for (int dynamic_smem : {0, 1, 1000, 5000, 10000, 20000, 40000, 56000, 75000, 100000, 112000, 164000, 200000,
                                 232448}) {
            int blocks = 0;
            if (block > kernel.max_threads || dynamic_smem > room)
                continue;
            stop_on(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, block, (size_t)dynamic_smem),
                    kernel.name);
            std::printf("%s,%d,%zu,%d,%d,%d\n", kernel.name, attributes.numRegs, attributes.sharedSizeBytes, block,
                        dynamic_smem, blocks);
        }
}

void print_occupancy()
{
    int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    std::printf("kernel,regs,static_smem,block,dynamic_smem,blocks_per_sm\n");
    for (int i = 0; i < catalog_size; i++)
        if (catalog[i].tile == 0)
            print_kernel_occupancy(catalog[i], most);
}
