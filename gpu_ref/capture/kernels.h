/* The reference kernels' common argument and their addresses. Kernels carry the names of catalog.cpp. */
#ifndef CAPTURE_KERNELS_H
#define CAPTURE_KERNELS_H

#include "../wavetail_trace.cuh"

enum : unsigned { RING_ENTRIES = 1u << 25 }; /* 128 MB: more than any L2 */

struct Params {
    wavetail::Trace trace;
    const long long *work; /* per block, task or work_threads threads; NULL: `constant` for each */
    unsigned work_threads; /* 0: work is given to blocks or tasks */
    long long constant;
    float *data;             /* elements 0 to mask */
    unsigned long long mask; /* number of elements - 1, a power of two - 1; >= 2^20 - 1 */
    const unsigned *ring;    /* RING_ENTRIES indices that form one cycle */
    unsigned *counter;       /* of this launch alone; 0 at its start */
    long long tasks;         /* that a queue gives out */
    unsigned columns;        /* where they are the blocks of a grid: of one row */
    int never; /* always 0, which the compiler cannot know */
};

struct NamedKernel {
    const char *name;
    const void *function;
    const void *from_queue; /* the same with blocks that take those of the grid from a queue; NULL: there is none */
};

/* Entries of the tables below: a kernel; what a block does, which becomes both. */
#define KERNEL(name, ...) {name, (const void *)(void (*)(Params))__VA_ARGS__, nullptr}
#define WITH_QUEUE(name, ...) \
    {name, (const void *)(void (*)(Params))ordinary<__VA_ARGS__>, (const void *)(void (*)(Params))from_queue<__VA_ARGS__>}

/* Tables that end with a NULL name. */
extern const NamedKernel compute_kernels[], memory_kernels[], register_kernels[];

/* The kernel of that name; a name of the catalog without one is a bug and aborts. */
const NamedKernel *named_kernel(const char *name);

/* Fills the ring on the current device. */
void fill_ring(unsigned *ring);

#ifdef __CUDACC__
__device__ __forceinline__ unsigned long long thread_of_block()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ __forceinline__ unsigned long long threads_of_block()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

/* `index`: the block's or task's. */
__device__ __forceinline__ long long work_of(const Params &p, unsigned long long index)
{
    if (p.work_threads > 0)
        index = (index * threads_of_block() + thread_of_block()) / p.work_threads;
    return p.work ? p.work[index] : p.constant;
}

/* Where the threads of a block have work of their own, its end is that of the last. */
#define END_WORK(p, work) \
    do { \
        if ((p).work_threads > 0) \
            __syncthreads(); \
        WT_TRACE_END_WORK((p).trace, work); \
    } while (0)

/* For threads that have work of their own. */
__device__ __forceinline__ void wait_until(long long clock)
{
    while (clock64() < clock)
        ;
}

/* Special registers come one by one for all of an SM's warps, and so late for a block that starts among many that each read
 * several: nothing is read that a flat block need not. */
__device__ __forceinline__ bool in_first_warp()
{
    if (blockDim.y * blockDim.z > 1 && (threadIdx.y | threadIdx.z) != 0)
        return thread_of_block() < 32;
    return threadIdx.x < 32;
}

/* All threads of the block, for as many cycles from `start` as are the work of the block, or of `task` unless that is negative.
 * Returns the work in the first warp, 0 in others. The first warp watches the clock and the others wait at a barrier, so
 * that blocks end at once and take no issue slots from each other: where all of an SM's 64 warps poll, some get none
 * for thousands of cycles. Far from the end the warp sleeps: __nanosleep(t) takes up to 2 t, so an eighth
 * of what is left, as ns, is at most half of it up to 2 GHz. */
__device__ __forceinline__ long long wait_cycles(const Params &p, long long start, long long task)
{
    long long work = 0, left;
    if (in_first_warp()) {
        work = work_of(p, task < 0 ? wavetail::trace_block() : (unsigned long long)task);
        while ((left = work - (clock64() - start)) > 0)
            if (left > 1600)
                __nanosleep((unsigned)(left < 4000000 ? left / 8 : 500000));
    }
    __syncthreads();
    return work;
}

/* Keeps the result of a calculation from being optimised away. */
__device__ __forceinline__ void keep(const Params &p, float value)
{
    if (p.never)
        p.data[threadIdx.x] = value;
}

/* A block's place in the grid. */
struct Place {
    unsigned block, x, y, columns;
    unsigned long long blocks;
};

using Body = void (*)(const Params &p, const Place &here, long long work);

template <Body BODY> __global__ void ordinary(Params p)
{
    WT_TRACE_BEGIN(p.trace);
    long long work = work_of(p, wavetail::trace_block());
    BODY(p, {wavetail::trace_block(), blockIdx.x, blockIdx.y, gridDim.x, (unsigned long long)gridDim.x * gridDim.y * gridDim.z}, work);
    END_WORK(p, work);
}

/* The next task for the whole block. */
__device__ __forceinline__ long long take_task(const Params &p)
{
    __shared__ unsigned next;
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0)
        next = atomicAdd(p.counter, 1);
    __syncthreads();
    long long task = next;
    __syncthreads();
    return task;
}

template <Body BODY> __global__ void from_queue(Params p)
{
    for (long long task; (task = take_task(p)) < p.tasks;) {
        unsigned block = (unsigned)task;
        WT_TRACE_BEGIN(p.trace);
        BODY(p, {block, block % p.columns, block / p.columns, p.columns, (unsigned long long)p.tasks}, work_of(p, block));
        WT_TRACE_END_TASK(p.trace, task);
    }
}
#endif

#endif
