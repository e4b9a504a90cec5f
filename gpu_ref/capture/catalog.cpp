#include "catalog.h"

const KernelInfo catalog[] = {
    {"empty", "nothing", 1024, 0, false},
    {"spin", "waits work cycles", 1024, 0, false},
    {"fma1", "work FMAs per thread in 1 dependent chain", 1024, 0, false},
    {"fma2", "work FMAs per chain, 2 chains per thread", 1024, 0, false},
    {"fma4", "work FMAs per chain, 4 chains per thread", 1024, 0, false},
    {"stream", "copies work x 16 bytes per thread", 1024, 0, false},
    {"chase", "work dependent loads per thread, at random addresses", 1024, 0, false},
    {"mix", "work rounds of a 16-byte load and 32 FMAs", 1024, 0, false},
    {"bar", "work rounds of an FMA and a barrier", 1024, 0, false},
    {"conflict1", "work shared-memory loads without conflicts", 1024, 0, false},
    {"conflict4", "work shared-memory loads with 4-way conflicts", 1024, 0, false},
    {"conflict32", "work shared-memory loads with 32-way conflicts", 1024, 0, false},
    {"atomic", "work atomic additions per thread to one address", 1024, 0, false},
    {"atomic_spread", "work atomic additions per thread to addresses of its own", 1024, 0, false},
    {"diverge", "work rounds in which the lanes of a warp take 8 paths", 1024, 0, false},
    {"reduce", "sums work elements per thread, then over the block", 1024, 0, false},
    {"matmul16", "matrix product, work tiles of 16 x 16 along the inner dimension", 256, 16, false},
    {"matmul32", "matrix product, work tiles of 32 x 32 along the inner dimension", 1024, 32, false},
    {"persist", "blocks take tasks from a queue; each waits work cycles", 1024, 0, true},
    {"counter", "work atomic additions of the first thread to one counter, each after the one before", 1024, 0, false},
    {"gridsync", "waits work cycles, then until all blocks have; records 1, or 0 where it gave up", 1024, 0, false},
    {"course_fma", "one element per thread: load, work FMAs, store (the course uses 256)", 1024, 0, false},
    {"r32", "work rounds over as many FMA chains as fill 32 registers", 1024, 0, false},
    {"r64", "the same, 64 registers", 1024, 0, false},
    {"r80", "the same, 80 registers", 768, 0, false},
    {"r128", "the same, 128 registers", 512, 0, false},
    {"r144", "the same, 144 registers", 384, 0, false},
    {"r168", "the same, 168 registers", 384, 0, false},
    {"r232", "the same, 232 registers", 256, 0, false},
    {"spinr32", "waits work cycles, holding 32 registers", 1024, 0, false},
    {"spinr64", "the same, 64 registers", 1024, 0, false},
    {"spinr80", "the same, 80 registers", 768, 0, false},
    {"spinr128", "the same, 128 registers", 512, 0, false},
    {"spinr144", "the same, 144 registers", 384, 0, false},
    {"spinr168", "the same, 168 registers", 384, 0, false},
    {"spinr232", "the same, 232 registers", 256, 0, false},
};
const int catalog_size = sizeof catalog / sizeof *catalog;

int find_kernel(const std::string &name)
{
    for (int i = 0; i < catalog_size; i++)
        if (name == catalog[i].name)
            return i;
    return -1;
}
