/* Runs the kernels to profile: `ncu … build/gpu/profile [families|probes|mixes|unseen|heldout|further|NAME…]`; each is launched
 * once. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels.h"

static void check(cudaError_t result, const char *what)
{
    if (result == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
    std::exit(1);
}

static __global__ void fill_random(unsigned *words, unsigned count)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned x = i * 0x9e3779b1u;
        x = (x ^ x >> 15) * 0x85ebca6bu;
        words[i] = 0x3f800000u | (x ^ x >> 13) >> 9; /* floats from 1 to 2 */
    }
}

static Buffers allocate()
{
    Buffers b;
    check(cudaMalloc(&b.in, ELEMENTS * sizeof *b.in), "cudaMalloc");
    check(cudaMalloc(&b.out, ELEMENTS * sizeof *b.out), "cudaMalloc");
    check(cudaMalloc(&b.ring, ELEMENTS * sizeof *b.ring), "cudaMalloc");
    check(cudaMalloc(&b.counts, 65536 * sizeof *b.counts), "cudaMalloc");
    check(cudaMemset(b.counts, 0, 65536 * sizeof *b.counts), "cudaMemset");
    fill_random<<<1024, 256>>>((unsigned *)b.in, ELEMENTS);
    check(cudaDeviceSynchronize(), "fill_random");
    return b;
}

static bool wanted(int argc, char **argv, const char *set, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (!std::strcmp(argv[i], set) || !std::strcmp(argv[i], name))
            return true;
    return argc == 1;
}

static void run(int argc, char **argv, const Profiled *set, const char *set_name, const Buffers &buffers)
{
    for (; set->name; set++) {
        if (!wanted(argc, argv, set_name, set->name))
            continue;
        std::printf("%s\n", set->name);
        set->launch(buffers);
        check(cudaDeviceSynchronize(), set->name);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !std::strcmp(argv[1], "--help")) {
        std::puts("profile [families|probes|mixes|unseen|heldout|further|NAME...]: launches each of the named kernels once, "
                  "for Nsight Compute");
        return 0;
    }
    Buffers buffers = allocate();
    run(argc, argv, families, "families", buffers);
    run(argc, argv, probes, "probes", buffers);
    run(argc, argv, mixes, "mixes", buffers);
    run(argc, argv, unseen, "unseen", buffers);
    run(argc, argv, heldout, "heldout", buffers);
    run(argc, argv, further, "further", buffers);
    return 0;
}
