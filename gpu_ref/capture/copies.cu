/* Copies between host and device: latency and bandwidth, what runs beside what, and the three-stage pipeline as a whole. */
#include <cstdlib>
#include <cstring>

#include "capture.h"
#include "measure.h"

namespace
{

enum { REPETITIONS = 11, CHAIN = 8, LANES = 4, SMS_BLOCK = 256 };
const size_t largest = (size_t)256 << 20;

enum Direction { H2D, D2H, D2D };
const char *const direction_names[] = {"h2d", "d2h", "d2d"};

/* LANES copies of each kind can be under way at once, each with memory of its own. */
struct Memory {
    char *pinned[LANES], *pageable, *device[LANES], *device_to[LANES];
    size_t lane_bytes = largest;

    Memory()
    {
        for (int i = 0; i < LANES; i++) {
            stop_on(cudaMallocHost(&pinned[i], lane_bytes), "pinned memory");
            stop_on(cudaMalloc(&device[i], lane_bytes), "memory");
            stop_on(cudaMalloc(&device_to[i], lane_bytes), "memory");
            std::memset(pinned[i], 1, lane_bytes);
        }
        pageable = (char *)std::malloc(lane_bytes);
        std::memset(pageable, 1, lane_bytes);
    }
    ~Memory()
    {
        for (int i = 0; i < LANES; i++) {
            cudaFreeHost(pinned[i]);
            cudaFree(device[i]);
            cudaFree(device_to[i]);
        }
        std::free(pageable);
    }
};

void copy(const Memory &memory, Direction direction, bool paged, int lane, size_t at, size_t bytes, cudaStream_t stream)
{
    char *host = (paged ? memory.pageable : memory.pinned[lane]) + at, *device = memory.device[lane] + at;
    if (direction == H2D)
        stop_on(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "a copy");
    else if (direction == D2H)
        stop_on(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "a copy");
    else
        stop_on(cudaMemcpyAsync(memory.device_to[lane] + at, device, bytes, cudaMemcpyDeviceToDevice, stream), "a copy");
}

const size_t sizes[] = {4096, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20};

int repetitions(size_t bytes)
{
    return bytes > 16 << 20 ? 5 : REPETITIONS;
}

/* ---- One copy ---- */

/* From the call to the return of synchronising, and the call alone. */
void print_call(const Memory &memory, Direction direction, bool paged, size_t bytes, cudaStream_t stream)
{
    std::vector<double> whole, call;
    for (int rep = 0; rep <= repetitions(bytes); rep++) {
        double begin = now_us();
        copy(memory, direction, paged, 0, 0, bytes, stream);
        double called = now_us();
        stop_on(cudaStreamSynchronize(stream), "a copy");
        if (rep > 0) {
            whole.push_back(now_us() - begin);
            call.push_back(called - begin);
        }
    }
    std::string detail = std::string(direction_names[direction]) + (paged ? " pageable" : " pinned");
    print_row("copy: call to synchronised", detail, (long long)bytes, whole);
    print_row("copy: call", detail, (long long)bytes, call);
}

/* From the end of a kernel to the start of the next, with `count` copies between them in the stream. */
double between_kernels(const Memory &memory, Direction direction, size_t bytes, int count, cudaStream_t stream)
{
    Stamps stamps(2, 1, 20000);
    Gate gate;
    gate.close(stream);
    stamps.launch(0, stream);
    for (int i = 0; i < count; i++)
        copy(memory, direction, false, i % LANES, 0, bytes, stream);
    stamps.launch(1, stream);
    gate.open();
    stop_on(cudaDeviceSynchronize(), "copies");
    std::vector<Stamps::Span> spans = stamps.read();
    return spans[1].first_start - spans[0].end;
}

void print_between(const Memory &memory, Direction direction, size_t bytes, cudaStream_t stream)
{
    std::vector<double> one, each;
    for (int rep = 0; rep <= repetitions(bytes); rep++) {
        double single = between_kernels(memory, direction, bytes, 1, stream);
        double chain = between_kernels(memory, direction, bytes, CHAIN, stream);
        if (rep > 0) {
            one.push_back(single);
            each.push_back((chain - single) / (CHAIN - 1));
        }
    }
    std::string detail = std::string(direction_names[direction]) + " pinned";
    print_row("copy: between kernels of the stream", detail, (long long)bytes, one);
    print_row("copy: each further one in the stream", detail, (long long)bytes, each);
}

/* ---- Several at once ---- */

struct Copy {
    Direction direction;
    size_t bytes;
};

/* All begin together, each in its stream, in this order; when each is over, from the begin. */
void print_together(const Memory &memory, const char *name, const std::vector<Copy> &copies)
{
    std::vector<cudaStream_t> streams = make_streams((int)copies.size() + 1);
    cudaStream_t first = streams.back();
    std::vector<cudaEvent_t> ends(copies.size());
    cudaEvent_t begin;
    stop_on(cudaEventCreate(&begin), "an event");
    for (cudaEvent_t &end : ends)
        stop_on(cudaEventCreate(&end), "an event");
    std::vector<std::vector<double>> us(copies.size());
    Gate gate;
    for (int rep = 0; rep <= REPETITIONS; rep++) {
        gate.close(first);
        stop_on(cudaEventRecord(begin, first), name);
        for (size_t i = 0; i < copies.size(); i++) {
            stop_on(cudaStreamWaitEvent(streams[i], begin, 0), name);
            copy(memory, copies[i].direction, false, (int)i, 0, copies[i].bytes, streams[i]);
            stop_on(cudaEventRecord(ends[i], streams[i]), name);
        }
        gate.open();
        stop_on(cudaDeviceSynchronize(), name);
        for (size_t i = 0; rep > 0 && i < copies.size(); i++) {
            float ms = 0;
            stop_on(cudaEventElapsedTime(&ms, begin, ends[i]), name);
            us[i].push_back(ms * 1e3);
        }
    }
    for (size_t i = 0; i < copies.size(); i++)
        print_row("together: " + std::string(name), std::to_string(i) + " " + direction_names[copies[i].direction],
                  (long long)copies[i].bytes, us[i]);
    for (cudaEvent_t end : ends)
        cudaEventDestroy(end);
    cudaEventDestroy(begin);
    free_streams(streams);
}

void print_all_together(const Memory &memory)
{
    const size_t mb = 1 << 20;
    for (Direction d : {H2D, D2H, D2D}) {
        std::string name = direction_names[d];
        print_together(memory, (name + " alone").c_str(), {{d, 64 * mb}});
        print_together(memory, ("two " + name).c_str(), {{d, 64 * mb}, {d, 64 * mb}});
        print_together(memory, ("four " + name).c_str(), {{d, 64 * mb}, {d, 64 * mb}, {d, 64 * mb}, {d, 64 * mb}});
        print_together(memory, ("small " + name + " after large").c_str(), {{d, 64 * mb}, {d, mb}, {d, 4096}});
    }
    print_together(memory, "h2d and d2h", {{H2D, 64 * mb}, {D2H, 64 * mb}});
    print_together(memory, "h2d and d2h small", {{H2D, mb}, {D2H, mb}});
    print_together(memory, "h2d and d2d", {{H2D, 64 * mb}, {D2D, 256 * mb}});
    print_together(memory, "d2h and d2d", {{D2H, 64 * mb}, {D2D, 256 * mb}});
    print_together(memory, "h2d d2h and d2d", {{H2D, 64 * mb}, {D2H, 64 * mb}, {D2D, 256 * mb}});
}

/* ---- Beside kernels ---- */

__global__ void move(const float4 *from, float4 *to, size_t count, int rounds)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (int n = 0; n < rounds; n++)
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step)
            to[i] = from[i];
}

/* A kernel that is bound by memory, about 1 ms long, and copies: each alone, then together. */
void print_beside_kernel(const Memory &memory, Direction direction)
{
    std::vector<cudaStream_t> streams = make_streams(2);
    cudaEvent_t events[4];
    for (cudaEvent_t &event : events)
        stop_on(cudaEventCreate(&event), "an event");
    int grid = device_attribute(cudaDevAttrMultiProcessorCount) * 8;
    size_t count = largest / sizeof(float4);
    for (int which : {1, 2, 3}) {
        std::vector<double> us[2];
        for (int rep = 0; rep <= REPETITIONS; rep++) {
            stop_on(cudaDeviceSynchronize(), "beside a kernel");
            if (which & 1) {
                cudaEventRecord(events[0], streams[0]);
                move<<<grid, SMS_BLOCK, 0, streams[0]>>>((const float4 *)memory.device[2], (float4 *)memory.device[3], count, 16);
                cudaEventRecord(events[1], streams[0]);
            }
            if (which & 2) {
                cudaEventRecord(events[2], streams[1]);
                copy(memory, direction, false, 0, 0, 64 << 20, streams[1]);
                cudaEventRecord(events[3], streams[1]);
            }
            stop_on(cudaDeviceSynchronize(), "beside a kernel");
            for (int i = 0; rep > 0 && i < 2; i++) {
                float ms = 0;
                if (which & 1 << i) {
                    stop_on(cudaEventElapsedTime(&ms, events[2 * i], events[2 * i + 1]), "beside a kernel");
                    us[i].push_back(ms * 1e3);
                }
            }
        }
        std::string detail = std::string(direction_names[direction]) + (which == 3 ? " together" : " alone");
        if (which & 1)
            print_row("beside a memory-bound kernel: kernel", detail, (long long)largest * 32, us[0]);
        if (which & 2)
            print_row("beside a memory-bound kernel: copy", detail, 64 << 20, us[1]);
    }
    for (cudaEvent_t event : events)
        cudaEventDestroy(event);
    free_streams(streams);
}

/* ---- The pipeline ---- */

struct Pipeline {
    size_t bytes; /* of all chunks, each way */
    int chunks, streams;
    double kernel_us; /* each chunk's kernel: one block per SM */
    bool paged, breadth_first;
};

std::string describe(const Pipeline &p)
{
    return std::string(p.paged ? "pageable" : "pinned") + (p.breadth_first ? " breadth-first" : " depth-first") + "; chunks " +
           std::to_string(p.chunks) + "; streams " + std::to_string(p.streams) + "; kernel us " +
           std::to_string((int)p.kernel_us);
}

void print_pipeline(const Memory &memory, const Pipeline &p)
{
    std::vector<cudaStream_t> streams = make_streams(p.streams);
    Stamps stamps(p.chunks, device_attribute(cudaDevAttrMultiProcessorCount),
                  (long long)(p.kernel_us * device_attribute(cudaDevAttrClockRate) / 1e3));
    size_t chunk = p.bytes / (size_t)p.chunks;
    auto stage = [&](int which, int i) {
        cudaStream_t stream = streams[(size_t)(i % p.streams)];
        if (which == 1)
            stamps.launch(i, stream);
        else
            copy(memory, which == 0 ? H2D : D2H, p.paged, 0, (size_t)i * chunk, chunk, stream);
    };
    std::vector<double> us, calls;
    for (int rep = 0; rep <= REPETITIONS; rep++) {
        stop_on(cudaDeviceSynchronize(), "a pipeline");
        double begin = now_us();
        for (int n = 0; n < 3 * p.chunks; n++)
            p.breadth_first ? stage(n / p.chunks, n % p.chunks) : stage(n % 3, n / 3);
        double called = now_us();
        stop_on(cudaDeviceSynchronize(), "a pipeline");
        if (rep > 0) {
            us.push_back(now_us() - begin);
            calls.push_back(called - begin);
        }
    }
    print_row("pipeline", describe(p), (long long)p.bytes, us);
    print_row("pipeline: calls", describe(p), (long long)p.bytes, calls);
    free_streams(streams);
}

void print_pipelines(const Memory &memory)
{
    const size_t mb = 1 << 20;
    for (bool breadth_first : {false, true})
        for (int streams : {1, 2, 3, 4, 8})
            print_pipeline(memory, {64 * mb, 8, streams, 150, false, breadth_first});
    for (int streams : {1, 2, 4}) {
        print_pipeline(memory, {64 * mb, 8, streams, 40, false, false});
        print_pipeline(memory, {64 * mb, 8, streams, 600, false, false});
        print_pipeline(memory, {64 * mb, 4, streams, 150, false, false});
        print_pipeline(memory, {64 * mb, 16, streams, 150, false, false});
        print_pipeline(memory, {8 * mb, 32, streams, 10, false, false});
        print_pipeline(memory, {64 * mb, 8, streams, 150, true, false});
    }
}

} // namespace

void print_copies()
{
    Memory memory;
    std::vector<cudaStream_t> streams = make_streams(1);
    print_table_header();
    print_row("copy engines", "cudaDevAttrAsyncEngineCount", 0, {(double)device_attribute(cudaDevAttrAsyncEngineCount)});
    for (size_t bytes : sizes)
        for (Direction direction : {H2D, D2H, D2D}) {
            print_call(memory, direction, false, bytes, streams[0]);
            if (direction != D2D)
                print_call(memory, direction, true, bytes, streams[0]);
            print_between(memory, direction, bytes, streams[0]);
        }
    print_all_together(memory);
    for (Direction direction : {H2D, D2H})
        print_beside_kernel(memory, direction);
    print_pipelines(memory);
    free_streams(streams);
}
