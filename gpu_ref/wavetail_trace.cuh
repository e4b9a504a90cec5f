/* Records when and where each block of a kernel runs, and writes it as a wavetail trace (version 1).
 *
 *     __global__ void scale(float *x, int n, wavetail::Trace trace)
 *     {
 *         WT_TRACE_BEGIN(trace);                              // before everything else
 *         int i = blockIdx.x * blockDim.x + threadIdx.x;
 *         if (i < n)
 *             x[i] *= 2;
 *         WT_TRACE_END(trace);                                // after everything else
 *     }
 *
 *     wavetail::Tracer tracer;
 *     wavetail::Trace trace = tracer.launch("scale", scale, grid, block);
 *     scale<<<grid, block>>>(x, n, trace);
 *     tracer.write("scale.csv");                              // then: wavetail replay scale.csv
 *
 * This file alone is enough: CUDA runtime, compute capability 7.0 and up, C++14.
 *
 * What is measured. Every thread reads clock64 and then %globaltimer at BEGIN; of those with threadIdx.x = 0 the block's thread
 * (0,0,0) reads them again at END, the timer first, where all others are done at once, and leaves 32 bytes (48 with a number
 * to keep), all but 16 of them before it reads. A row therefore tells when the block's first warp began and ended. Between BEGIN
 * and END four registers hold the start.
 *
 * What it costs, on an H200 (`capture --overhead`, three runs). From one block's start to the next one's in its place: 139 cycles
 * for an empty block of 32 threads, 125 of 256, 82 of 1,024; 113, 86 and 12 for one that stores a value; with a number to keep 20
 * more; 200 to 350 where grid or block extend along y or z. Makespans get up to 0.6 % longer for kernels bound by arithmetic or
 * memory, up to 6 % for empty blocks. A first warp that goes on after END has spent 164 to 177 cycles, 320 to 350 in an SM's first
 * blocks, whose parameters must come from memory first. A kernel of 10 registers gets 18 to 20 (22), one of 32 keeps 32.
 * Less would take fewer waits; an empty block's one after another: threadIdx.x 23 cycles, a branch 18 and 8 more as one thread
 * goes on alone, block, SM and warp slot 30, the comparison with the room 13; stamps and stores take 20.
 *
 * Early exits. A block is recorded if its thread (0,0,0) reaches END. Where threads return early, put END
 * before each return, or turn `if (done) return;` into a condition around the work, as above.
 *
 * Persistent kernels record tasks instead of blocks: WT_TRACE_BEGIN and WT_TRACE_END_TASK inside the task loop,
 * and Tracer::add with `launch.tasks` = the number of tasks. A row is then a task; the column `work` is its number.
 *
 * Bounds. A Tracer holds a fixed number of records. Blocks for which there is no room are never written out of
 * bounds; they run unrecorded, and write() says how many.
 *
 * Without CUDA (plain C++) this file still gives the writer: Record, Launch, Device, File.
 * With WAVETAIL_TRACE_ZSTD defined (link with -lzstd) names that end in ".zst" are written compressed;
 * otherwise write ".csv" and run `zstd FILE.csv`, if a smaller file is wanted. */
#ifndef WAVETAIL_TRACE_CUH
#define WAVETAIL_TRACE_CUH

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#ifdef WAVETAIL_TRACE_ZSTD
#include <zstd.h>
#endif

namespace wavetail
{

/* What is written of one block (or task). */
struct Record {
    int64_t clock_start, clock_end;     /* clock64 of the SM, cycles */
    int64_t time_start_ns, time_end_ns; /* %globaltimer */
    int64_t work;                       /* as given to WT_TRACE_END_WORK, or the task's number; 0 otherwise */
    uint32_t block;                     /* linear: x + gridDim.x * (y + gridDim.y * z) */
    uint16_t sm, warp_slot;             /* %smid and %warpid of thread (0,0,0) */

    bool written() const { return clock_end != -1; }
};

/* What a block (or task) leaves in the GPU's memory: two stores of 16 bytes, and a third one if there is more to say than that
 * block i left slot i. All bytes 0xff: nothing was left. */
struct alignas(16) Slot {
    uint64_t clock_start_and_sm;  /* from bit 0: 48 bits of clock64, 16 of %smid */
    uint64_t time_start_and_slot; /* from bit 0: 48 bits of %globaltimer, 16 of %warpid */
    int64_t clock_end, time_end_ns;
    int64_t work;
    uint32_t block, unused;

    /* The upper 16 bits of a start are its end's, or one less: no block runs for 2^48 cycles or ns, which are 39 or 78 hours. */
    static int64_t before(int64_t end, uint64_t start)
    {
        return (int64_t)((uint64_t)end - (((uint64_t)end - start) & 0xffffffffffffu));
    }

    Record record(uint32_t slot) const
    {
        if (clock_end == -1)
            return {-1, -1, -1, -1, -1, UINT32_MAX, UINT16_MAX, UINT16_MAX};
        bool more = block != UINT32_MAX;
        return {before(clock_end, clock_start_and_sm), clock_end, before(time_end_ns, time_start_and_slot), time_end_ns,
                more ? work : 0, more ? block : slot, (uint16_t)(clock_start_and_sm >> 48), (uint16_t)(time_start_and_slot >> 48)};
    }
};
static_assert(sizeof(Slot) == 48, "three stores of 16 bytes");

/* The GPU, as the trace's first lines state it. Zero or empty: not stated. */
struct Device {
    std::string name, driver;
    int major = 0, minor = 0, sm_count = 0, clock_khz = 0, globaltimer_step_ns = 0;
};

/* One kernel launch, as its line in the trace states it. */
struct Launch {
    std::string name, kernel; /* kernel: "" = same as name */
    unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
    int registers = -1; /* per thread; -1 = not stated */
    int static_shared_bytes = 0, dynamic_shared_bytes = 0;
    int carveout_kb = -1; /* preferred shared memory; -1 = the default */
    int stream = -1;      /* -1 = Tracer numbers streams in order of first use */
    int priority = 0;
    bool cooperative = false;
    int occupancy_blocks = 0; /* per SM, as the runtime says; 0 = not stated */
    int64_t tasks = 0;        /* persistent kernels: number of tasks */
    std::string work;         /* how work was given out; "" = not stated */
    int64_t work_seed = 0;

    uint64_t blocks() const { return (uint64_t)grid[0] * grid[1] * grid[2]; }
    uint64_t wanted() const { return tasks > 0 ? (uint64_t)tasks : blocks(); } /* records */
};

/* A trace file being written: under a temporary name, which close() turns into `path`. */
class File
{
  public:
    explicit File(const std::string &path) : path_(path), temporary_(path + ".part")
    {
        compressed_ = path.size() > 4 && path.compare(path.size() - 4, 4, ".zst") == 0;
#ifndef WAVETAIL_TRACE_ZSTD
        if (compressed_) {
            fail("built without zstd; define WAVETAIL_TRACE_ZSTD and link with -lzstd, or write .csv");
            return;
        }
#else
        zstd_ = compressed_ ? ZSTD_createCStream() : nullptr;
        if (zstd_)
            ZSTD_CCtx_setParameter(zstd_, ZSTD_c_checksumFlag, 1);
#endif
        file_ = std::fopen(temporary_.c_str(), "wb");
        if (!file_)
            fail("cannot be written; choose another folder");
    }

    File(const File &) = delete;
    File &operator=(const File &) = delete;

    ~File() { close(false); }

    void device(const Device &device)
    {
        text("# wavetail-trace 1\n");
        if (!device.name.empty())
            text("# device = " + device.name + "\n");
        if (device.major > 0)
            text("# compute_capability = " + std::to_string(device.major) + "." + std::to_string(device.minor) + "\n");
        number("sm_count", device.sm_count);
        number("clock_khz", device.clock_khz);
        number("globaltimer_step_ns", device.globaltimer_step_ns);
        if (!device.driver.empty())
            text("# driver = " + device.driver + "\n");
    }

    void launch(size_t number, const Launch &launch)
    {
        const std::string &kernel = launch.kernel.empty() ? launch.name : launch.kernel;
        text("# launch " + std::to_string(number) + ": name=" + quoted(launch.name) + " kernel=" + quoted(kernel));
        dimensions("grid", launch.grid);
        dimensions("block", launch.block);
        dimensions("cluster", launch.cluster);
        if (launch.registers >= 0)
            pair("regs", launch.registers);
        pair("static_smem", launch.static_shared_bytes);
        pair("dynamic_smem", launch.dynamic_shared_bytes);
        if (launch.carveout_kb >= 0)
            pair("carveout_kb", launch.carveout_kb);
        pair("stream", launch.stream < 0 ? 0 : launch.stream);
        pair("priority", launch.priority);
        pair("cooperative", launch.cooperative);
        if (launch.tasks > 0)
            pair("tasks", launch.tasks);
        if (!launch.work.empty())
            text(" work=" + quoted(launch.work) + " work_seed=" + std::to_string(launch.work_seed));
        if (launch.occupancy_blocks > 0)
            pair("occupancy_api_blocks", launch.occupancy_blocks);
        text("\n");
    }

    void header() { text("launch,block,sm,clock_start,clock_end,time_start_ns,time_end_ns,work,warp_slot\n"); }

    /* One row for each written record. Returns how many were not written. */
    size_t rows(size_t launch, const Record *records, size_t count)
    {
        size_t missing = 0;
        char row[192];
        for (const Record *r = records; r < records + count; r++) {
            missing += !r->written();
            if (!r->written())
                continue;
            std::snprintf(row, sizeof row, "%zu,%u,%u,%lld,%lld,%lld,%lld,%lld,%u\n", launch, (unsigned)r->block,
                          (unsigned)r->sm, (long long)r->clock_start, (long long)r->clock_end,
                          (long long)r->time_start_ns, (long long)r->time_end_ns, (long long)r->work,
                          (unsigned)r->warp_slot);
            text(row);
        }
        return missing;
    }

    void text(const std::string &piece)
    {
        buffer_ += piece;
        if (buffer_.size() > (1 << 16))
            flush(false);
    }

    /* With `keep`, the file appears under its name; without, nothing is left. False: not written, see error(). */
    bool close(bool keep = true)
    {
        if (!file_)
            return closed_well_;
        if (keep)
            flush(true);
        if (std::fclose(file_) != 0)
            fail("cannot be written completely; free some space");
        file_ = nullptr;
#ifdef WAVETAIL_TRACE_ZSTD
        ZSTD_freeCStream(zstd_);
#endif
        closed_well_ = keep && error_.empty() && std::rename(temporary_.c_str(), path_.c_str()) == 0;
        if (keep && !closed_well_)
            fail("cannot be replaced; choose another name");
        if (!closed_well_)
            std::remove(temporary_.c_str());
        return closed_well_;
    }

    const std::string &error() const { return error_; } /* "" = none */

  private:
    /* A value with spaces or quotes is quoted, inner quotes doubled. Line ends become spaces. */
    static std::string quoted(const std::string &value)
    {
        std::string inner;
        for (char c : value)
            inner += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
        return !value.empty() && value.find_first_of(" \t\"\n\r") == std::string::npos ? value : "\"" + inner + "\"";
    }

    void number(const char *key, long long value)
    {
        if (value > 0)
            text(std::string("# ") + key + " = " + std::to_string(value) + "\n");
    }

    void pair(const char *key, long long value) { text(std::string(" ") + key + "=" + std::to_string(value)); }

    void dimensions(const char *key, const unsigned value[3])
    {
        text(std::string(" ") + key + "=" + std::to_string(value[0]) + "," + std::to_string(value[1]) + "," +
             std::to_string(value[2]));
    }

    void fail(const std::string &what)
    {
        if (error_.empty())
            error_ = path_ + ": " + what;
    }

    void put(const void *data, size_t size)
    {
        if (std::fwrite(data, 1, size, file_) != size)
            fail("cannot be written completely; free some space");
    }

    void flush(bool last)
    {
        if (file_ && !compressed_)
            put(buffer_.data(), buffer_.size());
#ifdef WAVETAIL_TRACE_ZSTD
        if (file_ && compressed_)
            compress(last);
#endif
        (void)last;
        buffer_.clear();
    }

#ifdef WAVETAIL_TRACE_ZSTD
    void compress(bool last)
    {
        ZSTD_inBuffer input = {buffer_.data(), buffer_.size(), 0};
        std::vector<char> packed(1 << 16);
        size_t left;
        do {
            ZSTD_outBuffer output = {packed.data(), packed.size(), 0};
            left = ZSTD_compressStream2(zstd_, &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
            put(packed.data(), output.pos);
        } while (error_.empty() && (last ? left > 0 : input.pos < input.size));
    }

    ZSTD_CStream *zstd_ = nullptr;
#endif
    std::string path_, temporary_, buffer_, error_;
    std::FILE *file_ = nullptr;
    bool compressed_ = false, closed_well_ = false;
};

} // namespace wavetail

#ifdef __CUDACC__
#include <cuda_runtime.h>

namespace wavetail
{

/* What a traced kernel gets as an argument. */
struct Trace {
    Slot *slots = nullptr;
    unsigned capacity = 0; /* slots of this launch; blocks (or tasks) from here on are not recorded */
    unsigned flat = 0;     /* the same where grid and block extend along x alone; otherwise 0 */
};

struct Start {
    long long clock, time_ns;
    unsigned other; /* not 0: not thread (0,0,0), since threadIdx.x is not 0 */
};

/* The clock comes first. Then there must be a branch, which the compiler cannot know is never taken: it leaves the kernel's
 * loads of parameters behind it. In front of the clock, where it would have them, each SM's first blocks wait some hundred
 * cycles for them to come from memory, and begin later than they did. The branch waits for threadIdx.x, for which
 * nearly every kernel must wait anyway, and what END must know of it is found out meanwhile. */
__device__ __forceinline__ Start trace_begin()
{
    Start start;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(start.clock)::"memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start.time_ns)::"memory");
    asm volatile("{ .reg .pred other, never;\n\t"
                 "setp.ne.u32 other, %1, 0; selp.u32 %0, 1, 0, other;\n\t"
                 "setp.eq.u32 never, %1, 0xffffffff; @never exit; }"
                 : "=r"(start.other)
                 : "r"(threadIdx.x)
                 : "memory");
    return start;
}

/* Linear index. A grid of more than 2^32 blocks is not recorded, so 32 bits do. */
__device__ __forceinline__ unsigned trace_block()
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

/* The first 16 bytes of a slot: the start and the place. */
struct Start48 {
    long long clock_and_sm, time_and_slot;
};

__device__ __forceinline__ long long trace_upper16(long long low, unsigned upper)
{
    return (long long)((unsigned long long)__byte_perm((unsigned)(low >> 32), upper, 0x5410) << 32 | (unsigned)low);
}

/* Nothing if `index` is not below `room`. What is known goes first; the timer and the clock are read when it has gone, so that
 * only one store is left to do and the block is gone soon after. */
template <bool more>
__device__ __forceinline__ void trace_write(Slot *slots, unsigned index, unsigned room, const Start48 &start, long long work,
                                            unsigned block)
{
    Slot *to = slots + index;
    if (more)
        asm volatile("{ .reg .pred in; setp.lt.u32 in, %3, %4; @in st.global.v2.b64 [%0+32], {%1, %2}; }" ::"l"(to), "l"(work),
                     "l"((long long)block), "r"(index), "r"(room)
                     : "memory");
    asm volatile("{ .reg .pred in; .reg .b64 time, clock; setp.lt.u32 in, %3, %4;\n\t"
                 "@in st.global.v2.b64 [%0], {%1, %2};\n\t"
                 "mov.u64 time, %%globaltimer;\n\t"
                 "mov.u64 clock, %%clock64;\n\t"
                 "@in st.global.v2.b64 [%0+16], {clock, time}; }" ::"l"(to), "l"(start.clock_and_sm), "l"(start.time_and_slot),
                 "r"(index), "r"(room)
                 : "memory");
}

/* `task` < 0: the record is the block's own. `more`: store also `work` and the block's number. Threads that cannot be (0,0,0)
 * leave first: %tid.x and %warpid come at once, but %ctaid, %smid and the other %tid one by one for all of an SM's warps, every
 * 4 cycles; where those of a large block read what only one needs, it stays some hundred cycles longer. All that a flat block
 * needs are asked for before any is awaited. */
template <bool more> __device__ __forceinline__ void trace_end(const Trace &trace, const Start &start, long long task, long long work)
{
    if (start.other != 0)
        return;
    unsigned block, sm, warp_slot, lanes;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp_slot));
    unsigned index = task < 0 ? block : (unsigned)task;
    Start48 known = {trace_upper16(start.clock, sm), trace_upper16(start.time_ns, warp_slot)};
    trace_write<more>(trace.slots, index, trace.flat, known, work, block);
    if (index < trace.flat)
        return;
    asm volatile("activemask.b32 %0;" : "=r"(lanes)); /* is not moved: else flat blocks would wait for y and z, too */
    if (((threadIdx.y | threadIdx.z) != 0) | (lanes == 0))
        return;
    block = trace_block();
    trace_write<more>(trace.slots, task < 0 ? block : (unsigned)task, trace.capacity, known, work, block);
}

#define WT_TRACE_BEGIN(trace) const ::wavetail::Start wt_trace_start_ = ::wavetail::trace_begin()
#define WT_TRACE_END(trace) ::wavetail::trace_end<false>(trace, wt_trace_start_, -1, 0)
/* The same with a number to keep in the column `work`, e.g. the block's loop count. */
#define WT_TRACE_END_WORK(trace, work) ::wavetail::trace_end<true>(trace, wt_trace_start_, -1, work)
/* In a persistent kernel's loop: the record is that of the task; `task` from 0 and below launch.tasks. */
#define WT_TRACE_END_TASK(trace, task) ::wavetail::trace_end<true>(trace, wt_trace_start_, task, task)

/* Gives launches their records and writes the file. Not for use from several threads at once. After a CUDA
 * error, or without room, kernels still run: their Trace then records nothing, and write() says so. */
class Tracer
{
  public:
    /* Takes capacity × 48 bytes of the current device's memory. */
    explicit Tracer(size_t capacity = 1 << 20) : capacity_(capacity)
    {
        check(cudaGetDevice(&number_), "cudaGetDevice");
        check(cudaMalloc(&slots_, capacity * sizeof(Slot)), "cudaMalloc");
        reset();
        describe_device();
    }

    Tracer(const Tracer &) = delete;
    Tracer &operator=(const Tracer &) = delete;

    ~Tracer() { cudaFree(slots_); }

    /* Call right before kernel<<<grid, block, dynamic_shared_bytes, stream>>>(…), with the same values. */
    template <typename Kernel>
    Trace launch(const char *name, Kernel *kernel, dim3 grid, dim3 block, size_t dynamic_shared_bytes = 0,
                 cudaStream_t stream = 0)
    {
        Launch launch;
        launch.name = name;
        shape(&launch, grid, block, dynamic_shared_bytes);
        check(cudaStreamGetPriority(stream, &launch.priority), "cudaStreamGetPriority");
        return reserve(launch, (const void *)kernel, stream);
    }

#if CUDART_VERSION >= 12000
    /* The same for cudaLaunchKernelEx: cluster, priority, cooperative and carve-out come from the attributes. */
    template <typename Kernel> Trace launch(const char *name, Kernel *kernel, const cudaLaunchConfig_t &config)
    {
        Launch launch;
        launch.name = name;
        return add(launch, (const void *)kernel, config);
    }

    /* The same with what the caller fills in himself: name, kernel, work, work_seed, tasks, stream, carveout_kb. */
    Trace add(Launch launch, const void *kernel, const cudaLaunchConfig_t &config)
    {
        shape(&launch, config.gridDim, config.blockDim, config.dynamicSmemBytes);
        check(cudaStreamGetPriority(config.stream, &launch.priority), "cudaStreamGetPriority");
        for (unsigned i = 0; i < config.numAttrs; i++)
            attribute(&launch, config.attrs[i]);
        return reserve(launch, kernel, config.stream);
    }
#endif

    /* Waits for the device and writes all launches since the last reset(). Says on stderr what is missing. */
    bool write(const std::string &path)
    {
        File file(path);
        std::vector<Slot> slots(used_);
        check(cudaDeviceSynchronize(), "a kernel or cudaDeviceSynchronize");
        check(cudaMemcpy(slots.data(), slots_, used_ * sizeof(Slot), cudaMemcpyDeviceToHost), "cudaMemcpy");
        if (!error_.empty()) {
            std::fprintf(stderr, "%s: not written: %s\n", path.c_str(), error_.c_str());
            return false;
        }
        file.device(device_);
        for (size_t i = 0; i < launches_.size(); i++)
            file.launch(i, launches_[i]);
        file.header();
        for (size_t i = 0; i < launches_.size(); i++)
            write_rows(&file, path, i, slots.data());
        if (file.close())
            return true;
        std::fprintf(stderr, "%s\n", file.error().c_str());
        return false;
    }

    /* Waits for the device; from the first start to the last end recorded since the last reset(), ns. 0: there are none. */
    long long span_ns()
    {
        std::vector<Slot> slots(used_);
        long long first = 0, last = 0;
        check(cudaDeviceSynchronize(), "a kernel or cudaDeviceSynchronize");
        check(cudaMemcpy(slots.data(), slots_, used_ * sizeof(Slot), cudaMemcpyDeviceToHost), "cudaMemcpy");
        for (const Slot &slot : slots) {
            Record record = slot.record(0);
            if (!record.written())
                continue;
            first = first == 0 || record.time_start_ns < first ? record.time_start_ns : first;
            last = record.time_end_ns > last ? record.time_end_ns : last;
        }
        return last - first;
    }

    /* Forgets all launches and waits for them; the device's memory is used again. */
    void reset()
    {
        launches_.clear();
        first_.clear();
        streams_.clear();
        used_ = 0;
        check(cudaDeviceSynchronize(), "a kernel or cudaDeviceSynchronize");
        check(cudaMemset(slots_, 0xff, capacity_ * sizeof(Slot)), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaMemset");
    }

    /* Blocks or tasks for which there was no room since the last reset(). */
    uint64_t overflow() const
    {
        uint64_t wanted = 0;
        for (const Launch &launch : launches_)
            wanted += launch.wanted();
        return wanted - used_;
    }

    Device &device() { return device_; }
    const std::string &error() const { return error_; } /* the first CUDA error; "" = none */

  private:
    Trace reserve(Launch launch, const void *kernel, cudaStream_t stream)
    {
        from_runtime(&launch, kernel);
        if (launch.stream < 0)
            launch.stream = stream_number(stream);
        uint64_t room = capacity_ - used_, wanted = launch.wanted();
        Trace trace;
        trace.capacity = (unsigned)(wanted < room ? wanted : room);
        trace.slots = slots_ + used_;
        if (!error_.empty() || launch.blocks() > 0xffffffffu)
            trace.capacity = 0;
        trace.flat = is_flat(launch) ? trace.capacity : 0;
        first_.push_back(used_);
        used_ += trace.capacity;
        launches_.push_back(launch);
        return trace;
    }

    static bool is_flat(const Launch &launch)
    {
        return launch.grid[1] * launch.grid[2] * launch.block[1] * launch.block[2] == 1;
    }

    static void shape(Launch *launch, dim3 grid, dim3 block, size_t dynamic_shared_bytes)
    {
        const unsigned sizes[6] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
        for (int i = 0; i < 3; i++) {
            launch->grid[i] = sizes[i];
            launch->block[i] = sizes[3 + i];
        }
        launch->dynamic_shared_bytes = (int)dynamic_shared_bytes;
    }

    void check(cudaError_t error, const char *what)
    {
        if (error != cudaSuccess && error_.empty())
            error_ = std::string(what) + ": " + cudaGetErrorString(error);
    }

    int attribute_of(cudaDeviceAttr which)
    {
        int value = 0;
        check(cudaDeviceGetAttribute(&value, which, number_), "cudaDeviceGetAttribute");
        return value;
    }

    void describe_device()
    {
        cudaDeviceProp properties;
        int driver = 0;
        check(cudaGetDeviceProperties(&properties, number_), "cudaGetDeviceProperties");
        check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
        if (!error_.empty())
            return;
        device_.name = properties.name;
        device_.major = properties.major;
        device_.minor = properties.minor;
        device_.sm_count = properties.multiProcessorCount;
        device_.clock_khz = attribute_of(cudaDevAttrClockRate);
        device_.driver = "CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
    }

    /* The runtime picks the configuration from a percentage of the SM's largest. */
    int carveout_kb(int percent)
    {
        return percent * (attribute_of(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 1024) / 100;
    }

    void from_runtime(Launch *launch, const void *kernel)
    {
        cudaFuncAttributes attributes = {};
        int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
        check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&launch->occupancy_blocks, kernel, threads,
                                                            (size_t)launch->dynamic_shared_bytes),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        launch->registers = attributes.numRegs;
        launch->static_shared_bytes = (int)attributes.sharedSizeBytes;
        if (launch->carveout_kb < 0 && attributes.preferredShmemCarveout >= 0)
            launch->carveout_kb = carveout_kb(attributes.preferredShmemCarveout);
#if CUDART_VERSION >= 12000
        const int required[3] = {attributes.requiredClusterWidth, attributes.requiredClusterHeight,
                                 attributes.requiredClusterDepth};
        for (int i = 0; i < 3; i++)
            if (required[i] > 0)
                launch->cluster[i] = (unsigned)required[i];
#endif
    }

#if CUDART_VERSION >= 12000
    void attribute(Launch *launch, const cudaLaunchAttribute &attribute)
    {
        const cudaLaunchAttributeValue &value = attribute.val;
        if (attribute.id == cudaLaunchAttributeClusterDimension) {
            launch->cluster[0] = value.clusterDim.x;
            launch->cluster[1] = value.clusterDim.y;
            launch->cluster[2] = value.clusterDim.z;
        } else if (attribute.id == cudaLaunchAttributeCooperative) {
            launch->cooperative = value.cooperative != 0;
        } else if (attribute.id == cudaLaunchAttributePriority) {
            launch->priority = value.priority;
        }
#if CUDART_VERSION >= 12050
        if (attribute.id == cudaLaunchAttributePreferredSharedMemoryCarveout && launch->carveout_kb < 0)
            launch->carveout_kb = carveout_kb((int)value.sharedMemCarveout);
#endif
    }
#endif

    int stream_number(cudaStream_t stream)
    {
        for (size_t i = 0; i < streams_.size(); i++)
            if (streams_[i] == stream)
                return (int)i;
        streams_.push_back(stream);
        return (int)streams_.size() - 1;
    }

    void write_rows(File *file, const std::string &path, size_t i, const Slot *slots)
    {
        size_t end = i + 1 < first_.size() ? first_[i + 1] : used_, room = end - first_[i];
        std::vector<Record> records(room);
        for (size_t k = 0; k < room; k++)
            records[k] = slots[first_[i] + k].record((uint32_t)k);
        size_t silent = file->rows(i, records.data(), room);
        uint64_t wanted = launches_[i].wanted();
        if (wanted > room)
            std::fprintf(stderr, "%s: launch %zu (%s): no room for %llu of %llu; give Tracer a larger capacity\n",
                         path.c_str(), i, launches_[i].name.c_str(), (unsigned long long)(wanted - room),
                         (unsigned long long)wanted);
        if (silent > 0)
            std::fprintf(stderr, "%s: launch %zu (%s): %zu blocks never reached WT_TRACE_END in thread (0,0,0)\n",
                         path.c_str(), i, launches_[i].name.c_str(), silent);
    }

    Slot *slots_ = nullptr;
    size_t capacity_, used_ = 0;
    int number_ = 0;
    Device device_;
    std::vector<Launch> launches_;
    std::vector<size_t> first_; /* record of each launch */
    std::vector<cudaStream_t> streams_;
    std::string error_;
};

} // namespace wavetail
#endif
#endif
