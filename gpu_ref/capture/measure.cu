#include "measure.h"

#include <algorithm>
#include <cstdio>

#include "capture.h"

namespace
{

enum { BLOCK = 256, STAMPS = 3 };

__global__ void wait_for(volatile const int *flag, int value)
{
    while (*flag < value)
        ;
}

__device__ long long globaltimer()
{
    long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* mode as in Stamps; a dependency needs compute capability 9.0. */
__global__ void stamp(long long *stamps, long long cycles, int mode)
{
    long long start = globaltimer();
#if __CUDA_ARCH__ >= 900
    if (mode == Stamps::EARLY)
        asm volatile("griddepcontrol.launch_dependents;");
    if (mode != Stamps::ORDINARY)
        asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    long long go = globaltimer(), end_clock = clock64() + cycles;
    while (clock64() < end_clock)
        ;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    stamps[blockIdx.x * STAMPS] = start;
    stamps[blockIdx.x * STAMPS + 1] = go;
    stamps[blockIdx.x * STAMPS + 2] = globaltimer();
}

__global__ void nothing()
{
}

void launch(const void *function, int grid, int block, void **arguments, cudaStream_t stream, Stamps::Mode mode)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)grid);
    config.blockDim = dim3((unsigned)block);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = mode == Stamps::ORDINARY ? 0 : 1;
    stop_on(cudaLaunchKernelExC(&config, function, arguments), "a launch");
}

} // namespace

void print_table_header()
{
    std::printf("what,detail,bytes,median_us,low_us,high_us\n");
}

void print_row(const std::string &what, const std::string &detail, long long bytes, std::vector<double> us)
{
    std::sort(us.begin(), us.end());
    size_t last = us.size() - 1;
    std::printf("%s,%s,%lld,%.3f,%.3f,%.3f\n", what.c_str(), detail.c_str(), bytes, us[last / 2], us[last / 10],
                us[last - last / 10]);
    std::fflush(stdout);
}

Gate::Gate()
{
    stop_on(cudaHostAlloc((void **)&flag_, sizeof *flag_, cudaHostAllocMapped), "a gate");
    *flag_ = 0;
    stop_on(cudaHostGetDevicePointer((void **)&on_device_, (void *)flag_, 0), "a gate");
}

Gate::~Gate()
{
    cudaFreeHost((void *)flag_);
}

void Gate::close(cudaStream_t stream)
{
    wait_for<<<1, 1, 0, stream>>>(on_device_, ++closed_);
    stop_on(cudaGetLastError(), "a gate");
}

void Gate::open()
{
    *flag_ = closed_;
}

Stamps::Stamps(int kernels, int grid, long long cycles) : kernels_(kernels), grid_(grid), cycles_(cycles)
{
    stop_on(cudaMalloc(&stamps_, sizeof *stamps_ * STAMPS * (size_t)kernels * (size_t)grid), "memory for stamps");
}

Stamps::~Stamps()
{
    cudaFree(stamps_);
}

void Stamps::launch(int kernel, cudaStream_t stream, Mode mode)
{
    long long *to = stamps_ + (size_t)kernel * (size_t)grid_ * STAMPS;
    int how = mode;
    void *arguments[] = {&to, &cycles_, &how};
    ::launch((const void *)stamp, grid_, BLOCK, arguments, stream, mode);
}

std::vector<Stamps::Span> Stamps::read() const
{
    std::vector<long long> all((size_t)kernels_ * (size_t)grid_ * STAMPS);
    stop_on(cudaMemcpy(all.data(), stamps_, all.size() * sizeof all[0], cudaMemcpyDeviceToHost), "stamps");
    long long origin = all[0];
    std::vector<Span> spans;
    for (int k = 0; k < kernels_; k++) {
        const long long *of = &all[(size_t)k * (size_t)grid_ * STAMPS];
        long long first = of[0], last = of[0], go = of[1], end = of[2];
        for (int b = 1; b < grid_; b++) {
            first = std::min(first, of[b * STAMPS]);
            last = std::max(last, of[b * STAMPS]);
            go = std::min(go, of[b * STAMPS + 1]);
            end = std::max(end, of[b * STAMPS + 2]);
        }
        spans.push_back({(double)(first - origin) / 1e3, (double)(last - origin) / 1e3, (double)(go - origin) / 1e3,
                         (double)(end - origin) / 1e3});
    }
    return spans;
}

void launch_empty(cudaStream_t stream, Stamps::Mode mode)
{
    ::launch((const void *)nothing, 1, 32, nullptr, stream, mode);
}

std::vector<cudaStream_t> make_streams(int count)
{
    std::vector<cudaStream_t> streams((size_t)count);
    for (cudaStream_t &stream : streams)
        stop_on(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    return streams;
}

void free_streams(std::vector<cudaStream_t> &streams)
{
    for (cudaStream_t stream : streams)
        cudaStreamDestroy(stream);
    streams.clear();
}
