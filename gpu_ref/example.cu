/* A kernel traced with wavetail_trace.cuh: y = a·x + y, where every 50th block has eight times the work.
 *
 *     build/gpu/example && build/release/wavetail replay example.csv */
#include <cstdio>

#include "wavetail_trace.cuh"

static __global__ void saxpy(int n, int rounds, float a, const float *x, float *y, wavetail::Trace trace)
{
    WT_TRACE_BEGIN(trace);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = blockIdx.x % 50 == 0 ? 8 * rounds : rounds;
    if (i < n)
        for (int round = 0; round < mine; round++)
            y[i] = a * x[i] + y[i];
    WT_TRACE_END(trace);
}

int main()
{
    const int n = 1000000, block = 256, grid = (n + block - 1) / block;
    float *x = nullptr, *y = nullptr;
    if (cudaMalloc(&x, n * sizeof *x) != cudaSuccess || cudaMalloc(&y, n * sizeof *y) != cudaSuccess) {
        std::fprintf(stderr, "example: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    cudaMemset(x, 0, n * sizeof *x);
    cudaMemset(y, 0, n * sizeof *y);

    saxpy<<<grid, block>>>(n, 200, 2, x, y, wavetail::Trace()); // warms up; an empty Trace records nothing

    wavetail::Tracer tracer;
    wavetail::Trace trace = tracer.launch("saxpy", saxpy, grid, block);
    saxpy<<<grid, block>>>(n, 200, 2, x, y, trace);
    bool written = tracer.write("example.csv");
    cudaFree(x);
    cudaFree(y);
    return written ? 0 : 1;
}
