/* Writes a GPU config for the CUDA device in this machine to standard output: what the runtime tells, on top of the
 * compute capability's own limits. Groups and clock domains come from a trace (`wavetail topology`).
 *
 *     build/gpu/devicequery [DEVICE] >mygpu.cfg && wavetail gpus mygpu.cfg */
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

static void stop_on(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "devicequery: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

static int attribute(cudaDeviceAttr which, int device)
{
    int value = 0;
    stop_on(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

static void number(const char *key, double value, const char *call)
{
    std::printf("%s = { value = %.10g; source = \"measured: %s\"; };\n", key, value, call);
}

int main(int argc, char **argv)
{
    int device = argc > 1 ? std::atoi(argv[1]) : 0;
    cudaDeviceProp properties;
    stop_on(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    double bus_bytes = attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8.0;
    double memory_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate, device);

    std::printf("base = \"cc%d.%d\";\nname = \"%s\";\n", properties.major, properties.minor, properties.name);
    std::printf("compute_capability = { value = \"%d.%d\"; source = \"measured: cudaGetDeviceProperties\"; };\n",
                properties.major, properties.minor);
    number("clock_mhz", attribute(cudaDevAttrClockRate, device) / 1e3, "cudaDevAttrClockRate");
    number("l2_mib", properties.l2CacheSize / 1048576.0, "cudaGetDeviceProperties, l2CacheSize");
    number("memory_gbs", 2 * bus_bytes * memory_hz / 1e9, "cudaDevAttrMemoryClockRate, double data rate, and bus width");
    std::printf("topology = {\n    ");
    number("sm_count", properties.multiProcessorCount, "cudaGetDeviceProperties, multiProcessorCount");
    std::printf("};\n");
    return 0;
}
