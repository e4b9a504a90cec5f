#include "catalog.h"

const KernelInfo catalog[] = {
    {"empty", "nothing", 1024, 0, false, false},
    {"spin", "waits work cycles", 1024, 0, false, true},
    {"fma1", "work FMAs per thread in 1 dependent chain", 1024, 0, false, true},
    {"fma2", "work FMAs per chain, 2 chains per thread", 1024, 0, false, true},
    {"fma4", "work FMAs per chain, 4 chains per thread", 1024, 0, false, true},
    {"stream", "copies work x 16 bytes per thread", 1024, 0, false, true},
    {"chase", "work dependent loads per thread, at random addresses", 1024, 0, false, true},
    {"mix", "work rounds of a 16-byte load and 32 FMAs", 1024, 0, false, true},
    {"bar", "work rounds of an FMA and a barrier", 1024, 0, false, true},
    {"conflict1", "work shared-memory loads without conflicts", 1024, 0, false, true},
    {"conflict4", "work shared-memory loads with 4-way conflicts", 1024, 0, false, true},
    {"conflict32", "work shared-memory loads with 32-way conflicts", 1024, 0, false, true},
    {"atomic", "work atomic additions per thread to one address", 1024, 0, false, true},
    {"atomic_spread", "work atomic additions per thread to addresses of its own", 1024, 0, false, true},
    {"diverge", "work rounds in which the lanes of a warp take 8 paths", 1024, 0, false, true},
    {"reduce", "sums work elements per thread, then over the block", 1024, 0, false, true},
    {"matmul16", "matrix product, work tiles of 16 x 16 along the inner dimension", 256, 16, false, true},
    {"matmul32", "matrix product, work tiles of 32 x 32 along the inner dimension", 1024, 32, false, true},
    {"persist", "blocks take tasks from a queue; each waits work cycles", 1024, 0, true, false},
    {"counter", "work atomic additions of the first thread to one counter, each after the one before", 1024, 0, false, false},
    {"gridsync", "waits work cycles, then until all blocks have; records 1, or 0 where it gave up", 1024, 0, false, false},
    {"course_fma", "one element per thread: load, work FMAs, store (the course uses 256)", 1024, 0, false, true},
    {"r32", "work rounds over as many FMA chains as fill 32 registers", 1024, 0, false, false},
    {"r64", "the same, 64 registers", 1024, 0, false, false},
    {"r80", "the same, 80 registers", 768, 0, false, false},
    {"r128", "the same, 128 registers", 512, 0, false, false},
    {"r144", "the same, 144 registers", 384, 0, false, false},
    {"r168", "the same, 168 registers", 384, 0, false, false},
    {"r232", "the same, 232 registers", 256, 0, false, false},
    {"spinr32", "waits work cycles, holding 32 registers", 1024, 0, false, false},
    {"spinr64", "the same, 64 registers", 1024, 0, false, false},
    {"spinr80", "the same, 80 registers", 768, 0, false, false},
    {"spinr128", "the same, 128 registers", 512, 0, false, false},
    {"spinr144", "the same, 144 registers", 384, 0, false, false},
    {"spinr168", "the same, 168 registers", 384, 0, false, false},
    {"spinr232", "the same, 232 registers", 256, 0, false, false},
    {"stagger", "waits work cycles; of each eight warps the last four a tenth of that", 1024, 0, false, false},
    {"staggerr128", "the same, holding 128 registers", 512, 0, false, false},
};
const int catalog_size = sizeof catalog / sizeof *catalog;

int find_kernel(const std::string &name)
{
    for (int i = 0; i < catalog_size; i++)
        if (name == catalog[i].name)
            return i;
    return -1;
}
