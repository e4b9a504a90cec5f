/* The parts of gpu_ref that need no GPU, as a program for tests/capture.c:
 *
 *     capture-host copy OUT        rows "block,sm,clocks and times,work,warp_slot" from stdin become a trace like
 *                                  traces/h200/spin20k_b256.r0
 *                                  and pass through the form they have in the GPU's memory
 *     capture-host slot START END SM WARP_SLOT WORK BLOCK   the same for one, at half of START and END in ns, which is printed;
 *                                  BLOCK 4294967295: two stores
 *     capture-host strange OUT     two launches with awkward names, missing blocks and unstated values
 *     capture-host list FILE       reads an experiment list; prints it, or the message and exits 1
 *     capture-host share UNIT BLOCKS THREADS VALUE...
 *     capture-host rework SPLIT ORDER SEED VALUE...
 *     capture-host work SPEC SEED COUNT ROUND */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "capture/catalog.h"
#include "capture/list.h"
#include "capture/work.h"
#include "wavetail_trace.cuh"

using wavetail::Record;
using wavetail::Slot;

static int finish(wavetail::File *file)
{
    if (file->close())
        return 0;
    std::fprintf(stderr, "%s\n", file->error().c_str());
    return 1;
}

static wavetail::Device h200()
{
    wavetail::Device device;
    device.name = "NVIDIA H200";
    device.driver = "CUDA 13.0";
    device.major = 9;
    device.sm_count = 132;
    device.clock_khz = 1980000;
    device.globaltimer_step_ns = 32;
    return device;
}

/* As WT_TRACE_END leaves it. */
static Slot packed(const Record &r)
{
    const uint64_t low = 0xffffffffffffu;
    return {((uint64_t)r.clock_start & low) | (uint64_t)r.sm << 48, ((uint64_t)r.time_start_ns & low) | (uint64_t)r.warp_slot << 48,
            r.clock_end, r.time_end_ns, r.work, r.block, 0};
}

static int slot(char **argv)
{
    long long start = std::atoll(argv[2]), end = std::atoll(argv[3]);
    Record in = {start, end, start / 2, end / 2, std::atoll(argv[6]), (uint32_t)std::atoll(argv[7]), (uint16_t)std::atoi(argv[4]),
                 (uint16_t)std::atoi(argv[5])};
    Record r = packed(in).record(7);
    std::printf("%lld %lld %lld %lld %d %d %lld %u\n", (long long)r.clock_start, (long long)r.clock_end, (long long)r.time_start_ns,
                (long long)r.time_end_ns, r.sm, r.warp_slot, (long long)r.work, r.block);
    return r.written() ? 0 : 1;
}

static std::vector<Record> read_records()
{
    std::vector<Record> records;
    long long v[8];
    while (std::scanf("%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7) == 8)
        records.push_back(packed({v[2], v[3], v[4], v[5], v[6], (uint32_t)v[0], (uint16_t)v[1], (uint16_t)v[7]}).record(0));
    return records;
}

static int copy(const char *out)
{
    wavetail::File file(out);
    wavetail::Launch launch;
    launch.name = "spin20k_b256";
    launch.kernel = "spin";
    launch.grid[0] = 2169;
    launch.block[0] = 256;
    launch.registers = 18;
    launch.work = "const:20000";
    launch.work_seed = 1;
    launch.occupancy_blocks = 8;
    std::vector<Record> records = read_records();
    file.device(h200());
    file.launch(0, launch);
    file.header();
    size_t missing = file.rows(0, records.data(), records.size());
    std::printf("%zu\n", missing);
    return finish(&file);
}

static int strange(const char *out)
{
    wavetail::File file(out);
    wavetail::Launch first, second;
    first.name = "void scale<float, 4>(float *, int)";
    first.grid[1] = 3;
    second.name = "say \"hi\" key=1\nnext";
    second.kernel = "k";
    second.tasks = 2;
    second.cluster[0] = second.grid[0] = 2;
    second.stream = 3;
    second.priority = -5;
    second.cooperative = true;
    second.carveout_kb = 0;
    second.static_shared_bytes = 4;
    second.dynamic_shared_bytes = 100000;
    std::vector<Record> records(5);
    std::memset((void *)records.data(), 0xff, records.size() * sizeof(Record));
    records[0] = {10, 20, 32, 64, 0, 0, 5, 1};
    records[2] = {11, 21, 32, 64, 0, 2, 6, 65535 - 65000};
    records[4] = {5, 9, 64, 64, 1, 1, 7, 0};
    file.device(h200());
    file.launch(0, first);
    file.launch(1, second);
    file.header();
    size_t missing = file.rows(0, &records[0], 3);
    missing += file.rows(1, &records[3], 2);
    std::printf("%zu\n", missing);
    return finish(&file);
}

static void print_launch(const LaunchSpec &l)
{
    std::printf("%s %s %ldx%ldx%ld %ldx%ldx%ld c%ldx%ldx%ld smem=%ld carveout=%ld work=%s seed=%ld stream=%ld "
                "priority=%ld cooperative=%ld tasks=%ld queue=%ld count=%ld wait=%ld pdl=%ld after=%s\n",
                l.name.c_str(), catalog[l.kernel].name, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2],
                l.cluster[0], l.cluster[1], l.cluster[2], l.dynamic_smem, l.carveout_kb, l.work_text().c_str(), l.seed, l.stream,
                l.priority, l.cooperative, l.tasks, l.queue, l.count, l.wait_us, l.pdl, l.after.c_str());
}

static int list(const char *path)
{
    std::vector<Experiment> experiments;
    std::string wrong = read_list(path, &experiments);
    if (!wrong.empty()) {
        std::printf("%s\n", wrong.c_str());
        return 1;
    }
    for (const Experiment &experiment : experiments) {
        std::printf("[%s reps=%ld warmup=%ld sync=%ld graph=%ld]\n", experiment.name.c_str(), experiment.reps, experiment.warmup,
                    experiment.sync, experiment.graph);
        if (experiment.traces < experiment.reps)
            std::printf("traces of %ld\n", experiment.traces);
        for (const LaunchSpec &launch : experiment.launches)
            print_launch(launch);
    }
    return 0;
}

static int work(char **argv)
{
    Work parsed;
    std::string wrong = parse_work(argv[2], &parsed);
    if (!wrong.empty()) {
        std::printf("%s\n", wrong.c_str());
        return 1;
    }
    for (long long value : draw_work(parsed, std::strtoull(argv[4], nullptr, 10), std::strtoull(argv[3], nullptr, 10),
                                     std::atoi(argv[5])))
        std::printf("%lld\n", value);
    return 0;
}

/* share UNIT BLOCKS THREADS VALUE... */
static int share(int argc, char **argv)
{
    std::vector<long long> values;
    for (int i = 5; i < argc; i++)
        values.push_back(std::atoll(argv[i]));
    for (long long value : share_work(values, (uint64_t)std::atoi(argv[2]), (uint64_t)std::atoi(argv[3]), (uint64_t)std::atoi(argv[4])))
        std::printf("%lld\n", value);
    return 0;
}

/* rework SPLIT ORDER SEED VALUE... */
static int rework(int argc, char **argv)
{
    std::vector<long long> values;
    for (int i = 5; i < argc; i++)
        values.push_back(std::atoll(argv[i]));
    values = split_work(values, (uint64_t)std::atoi(argv[2]));
    for (int order = 0; order < 4; order++)
        if (std::string(argv[3]) == work_orders[order])
            order_work(&values, (WorkOrder)order, (uint64_t)std::atoi(argv[4]));
    for (long long value : values)
        std::printf("%lld ", value);
    std::printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    std::string action = argc > 2 ? argv[1] : "";
    if (action == "copy")
        return copy(argv[2]);
    if (action == "strange")
        return strange(argv[2]);
    if (action == "list")
        return list(argv[2]);
    if (action == "slot" && argc == 8)
        return slot(argv);
    if (action == "share" && argc > 5)
        return share(argc, argv);
    if (action == "rework" && argc > 5)
        return rework(argc, argv);
    return action == "work" && argc == 6 ? work(argv) : 2;
}
