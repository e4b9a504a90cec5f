#include <ctype.h>
#include <libgen.h>
#include <libconfig.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "gpu/file.h"

#define FILE_AT(member) offsetof(struct wt_gpu_file, member)
#define LIMIT(member) offsetof(struct wt_gpu_file, gpu.limits.member)
#define RATE(member) offsetof(struct wt_gpu_file, gpu.rates.member)
#define HOST_US(key, text) \
    {"host." #key, WT_PARAM_NUMBER, offsetof(struct wt_gpu_file, gpu.host.key), .unit = "us", .low = 0, .high = 1e6, \
     .required = true, .help = text}
#define COPY(key, field, units, least, most_, text) \
    {"copy." key, WT_PARAM_NUMBER, offsetof(struct wt_gpu_file, gpu.copy.field), .unit = units, .low = least, .high = most_, \
     .required = true, .help = text}

#define WARP(member, fallback_text, high_value, help_text)                                                     \
    {"warp." #member, WT_PARAM_NUMBER, offsetof(struct wt_gpu_file, gpu.warp.member), .unit = "cycles", .low = 0,  \
     .high = (high_value), .fallback = (fallback_text), .help = (help_text)}
#define CLASS(name, what, interval_text, latency_text)                                                           \
    WARP(interval.name, interval_text, 1e4, "pipe interval of a sub-core: " what),                                \
    WARP(latency.name, latency_text, 1e4, "issue to result: " what)
#define MEMORY(member, unit_text, fallback_text, help_text)                                                      \
    {"memory." #member, WT_PARAM_NUMBER, offsetof(struct wt_gpu_file, gpu.memory.member), .unit = (unit_text), .low = 0, \
     .high = 1e6, .fallback = (fallback_text), .help = (help_text)}

enum { LONGEST_CHAIN = 8, MOST_BYTES = 1 << 30 };

static const struct wt_param params[] = {
    {"base", WT_PARAM_STRING, FILE_AT(base),
     .help = "GPU or file whose values hold where this file gives none; a path is relative to this file"},
    {"name", WT_PARAM_STRING, FILE_AT(gpu.name), .required = true, .help = "the GPU's name"},
    {"compute_capability", WT_PARAM_STRING, FILE_AT(compute_capability), .required = true,
     .help = "for example \"9.0\""},
    {"clock_mhz", WT_PARAM_NUMBER, FILE_AT(gpu.clock_mhz), .unit = "MHz", .low = 0, .high = 1e5, .fallback = "0",
     .help = "SM clock under load; 0: unknown, and results are in cycles only"},
    {"l2_mib", WT_PARAM_NUMBER, FILE_AT(gpu.l2_mib), .unit = "MiB", .low = 0, .high = 1e6, .fallback = "0",
     .help = "size of the L2 cache; 0: unknown"},
    {"memory_gbs", WT_PARAM_NUMBER, FILE_AT(gpu.memory_gbs), .unit = "GB/s", .low = 0, .high = 1e6, .fallback = "0",
     .help = "DRAM bandwidth; 0: unknown"},
    {"placement", WT_PARAM_STRING, FILE_AT(gpu.placement), .fallback = "h200",
     .help = "default placement policy: which SM takes the next block"},

    {"limits.threads_per_sm", WT_PARAM_INT, LIMIT(threads_per_sm), .low = 32, .high = 8192, .required = true,
     .help = "resident threads of an SM"},
    {"limits.warps_per_sm", WT_PARAM_INT, LIMIT(warps_per_sm), .low = 1, .high = 256, .required = true,
     .help = "resident warps of an SM"},
    {"limits.blocks_per_sm", WT_PARAM_INT, LIMIT(blocks_per_sm), .low = 1, .high = WT_MAX_SLOTS, .required = true,
     .help = "resident blocks of an SM"},
    {"limits.threads_per_block", WT_PARAM_INT, LIMIT(threads_per_block), .low = 1, .high = 8192, .required = true,
     .help = "threads of a block"},
    {"limits.registers_per_sm", WT_PARAM_INT, LIMIT(registers_per_sm), .low = 1, .high = MOST_BYTES, .required = true,
     .help = "32-bit registers of an SM, all sub-cores together"},
    {"limits.registers_per_block", WT_PARAM_INT, LIMIT(registers_per_block), .low = 1, .high = MOST_BYTES,
     .required = true, .help = "registers a block may hold"},
    {"limits.registers_per_thread", WT_PARAM_INT, LIMIT(registers_per_thread), .low = 1, .high = 65536,
     .required = true, .help = "registers the compiler may give a thread"},
    {"limits.launch_registers_per_thread", WT_PARAM_INT, LIMIT(launch_registers_per_thread), .low = 0, .high = 65536,
     .fallback = "0", .help = "registers per thread a launch may state; 0: registers_per_thread"},
    {"limits.register_unit", WT_PARAM_INT, LIMIT(register_unit), .unit = "registers", .low = 1, .high = 65536,
     .required = true, .help = "a warp's registers are rounded up to a multiple of this"},
    {"limits.subcores", WT_PARAM_INT, LIMIT(subcores), .low = 1, .high = WT_MAX_SUBCORES, .required = true,
     .help = "sub-partitions of an SM, each with its own register file and warp slots"},
    {"limits.warp_granularity", WT_PARAM_INT, LIMIT(warp_granularity), .unit = "warps", .low = 1, .high = 64,
     .required = true, .help = "a block's warps are rounded up to a multiple of this for the register limit"},
    {"limits.shared_bytes_per_sm", WT_PARAM_INT, LIMIT(shared_bytes_per_sm), .unit = "bytes", .low = 1,
     .high = MOST_BYTES, .required = true, .help = "shared memory of an SM at its largest configuration"},
    {"limits.shared_bytes_per_block", WT_PARAM_INT, LIMIT(shared_bytes_per_block), .unit = "bytes", .low = 1,
     .high = MOST_BYTES, .required = true, .help = "shared memory of a block without opting in"},
    {"limits.shared_bytes_per_block_opt_in", WT_PARAM_INT, LIMIT(shared_bytes_per_block_opt_in), .unit = "bytes",
     .low = 1, .high = MOST_BYTES, .required = true, .help = "shared memory of a block that opts in to more"},
    {"limits.shared_unit_bytes", WT_PARAM_INT, LIMIT(shared_unit_bytes), .unit = "bytes", .low = 1, .high = 65536,
     .required = true, .help = "a block's shared memory is rounded up to a multiple of this"},
    {"limits.shared_reserved_bytes", WT_PARAM_INT, LIMIT(shared_reserved_bytes), .unit = "bytes", .low = 0,
     .high = 65536, .required = true, .help = "shared memory that the system adds to every block's"},
    {"limits.carveouts_kb", WT_PARAM_INTS, FILE_AT(carveouts_kb), .unit = "KB", .low = 0, .high = 65536,
     .most = WT_MAX_CARVEOUTS, .help = "shared-memory configurations of an SM, rising; []: only the largest"},
    {"limits.carveout_headroom", WT_PARAM_BOOL, LIMIT(carveout_headroom), .fallback = "false",
     .help = "the driver picks a larger shared-memory configuration than the kernel's blocks can fill"},
    {"limits.resident_grids", WT_PARAM_INT, LIMIT(resident_grids), .low = 1, .high = 65536, .required = true,
     .help = "grids that can be on the GPU at once"},
    {"limits.barriers_per_sm", WT_PARAM_INT, LIMIT(barriers_per_sm), .low = 0, .high = 65536, .fallback = "0",
     .help = "named barriers of an SM; 0: they do not limit"},

    {"topology.sm_count", WT_PARAM_INT, FILE_AT(sm_count), .low = 1, .high = WT_MAX_SMS, .required = true,
     .help = "SMs of the GPU"},
    {"topology.sms_per_tpc", WT_PARAM_INT, FILE_AT(sms_per_tpc), .low = 1, .high = 4, .fallback = "2",
     .help = "SMs of a TPC, which share a launcher; SM ids of a TPC follow each other"},
    {"topology.group_sizes", WT_PARAM_INTS, FILE_AT(group_sizes), .unit = "SMs", .low = 1, .high = WT_MAX_SMS,
     .most = WT_MAX_GROUPS, .help = "groups the distributor serves in turn; SM ids go round them TPC by TPC, and the "
     "extra group takes the last ones; []: even groups of at most 16 SMs, assumed"},
    {"topology.groups", WT_PARAM_INT_LISTS, FILE_AT(groups), .low = 0, .high = WT_MAX_SMS - 1, .most = WT_MAX_GROUPS,
     .help = "the same as explicit lists of SM ids, in the order in which a visit serves them"},
    {"topology.extra_group", WT_PARAM_INT, FILE_AT(extra_group), .low = -1, .high = WT_MAX_GROUPS - 1,
     .fallback = "-1", .help = "number of the group that is visited first and then out of turn; -1: none"},
    {"topology.gpc_sizes", WT_PARAM_INTS, FILE_AT(gpc_sizes), .unit = "SMs", .low = 1, .high = WT_MAX_SMS,
     .most = WT_MAX_GROUPS, .help = "clock domains (GPCs), SM ids going round them; []: the groups"},
    {"topology.gpcs", WT_PARAM_INT_LISTS, FILE_AT(gpcs), .low = 0, .high = WT_MAX_SMS - 1, .most = WT_MAX_GROUPS,
     .help = "clock domains as explicit lists of SM ids"},

    {"rates.visit_cycles", WT_PARAM_NUMBER, RATE(visit_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "distributor: from one visit of a group to the next"},
    {"rates.share_cycles", WT_PARAM_NUMBER, RATE(share_cycles), .unit = "cycles", .low = 0, .high = 1e6, .fallback = "0",
     .help = "a first wave's incomplete round begins so much later for each of its blocks"},
    {"rates.round_cycles", WT_PARAM_NUMBER, RATE(round_cycles), .unit = "cycles", .low = 0, .high = 1e6, .fallback = "0",
     .help = "where SMs have room for several blocks: from one round of visits to the next"},
    {"rates.rounds_gap_cycles", WT_PARAM_NUMBER, RATE(rounds_gap_cycles), .unit = "cycles", .low = 0, .high = 1e6, .fallback = "0",
     .help = "and from the last of these rounds to the next visit"},
    {"rates.launch_latency_cycles", WT_PARAM_NUMBER, RATE(launch_latency_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "distributor to a block's first instruction, nearest SM"},
    {"rates.release_cycles", WT_PARAM_NUMBER, RATE(release_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "a block's last instruction to the first of its replacement, nearest SM, unloaded"},
    {"rates.report_ready_cycles", WT_PARAM_NUMBER, RATE(report_ready_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "a block's last instruction until its report waits to leave its TPC"},
    {"rates.report_send_cycles", WT_PARAM_CURVE, RATE(report_send_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "over warps per block: a TPC sends reports one each this long and starts nothing meanwhile"},
    {"rates.report_held_cycles", WT_PARAM_CURVE, RATE(report_held_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "over warps per block: so much longer while blocks of a first wave wait behind it"},
    {"rates.replacement_held_cycles", WT_PARAM_CURVE, RATE(replacement_held_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .fallback = "0", .help = "over warps per block: so much longer while other blocks wait behind it"},
    {"rates.report_lead_cycles", WT_PARAM_CURVE, RATE(report_lead_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .fallback = "0", .help = "over warps per block: so long before its first report can leave a TPC starts nothing any more"},
    {"rates.report_view_cycles", WT_PARAM_NUMBER, RATE(report_view_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .fallback = "0", .help = "a report tells of the warps of blocks that end up to so long after its own"},
    {"rates.report_pause_cycles", WT_PARAM_NUMBER, RATE(report_pause_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .fallback = "0", .help = "a series of a TPC's reports ends with a longer pause; they tell of blocks that ran when it began"},
    {"rates.report_cycles", WT_PARAM_NUMBER, RATE(report_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "the distributor takes one report each this long"},
    {"rates.report_queue", WT_PARAM_NUMBER, RATE(report_queue), .unit = "reports", .low = 0, .high = 1e6,
     .required = true, .help = "with so many of its reports on their way the next one of a GPC's nearest TPC waits"},
    {"rates.report_queue_per_tpc", WT_PARAM_NUMBER, RATE(report_queue_per_tpc), .unit = "reports", .low = 0, .high = 1e6,
     .required = true, .help = "with so many more that of the next TPC by distance, and so on"},
    {"rates.replacement_places", WT_PARAM_CURVE, RATE(replacement_places), .unit = "reports", .low = 0, .high = 1000,
     .fallback = "0", .help = "over warps per block: there a replacement that has not started counts for so many"},
    {"rates.starts_per_report", WT_PARAM_CURVE, RATE(starts_per_report), .unit = "blocks", .low = 0, .high = 1000,
     .fallback = "2", .help = "over warps per block: between two reports that wait a TPC starts so many blocks on average"},
    {"rates.starts_while_sending", WT_PARAM_CURVE, RATE(starts_while_sending), .unit = "blocks", .low = 0, .high = 1,
     .fallback = "0", .help = "over warps per block: and so many between others, while few reports are on their way"},
    {"rates.drain_cycles", WT_PARAM_NUMBER, RATE(drain_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "a block is not over earlier than launch_cycles plus this after its start"},
    {"rates.kernel_gap_cycles", WT_PARAM_NUMBER, RATE(kernel_gap_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "a kernel's last end to the first start of the next one in its stream"},
    {"rates.launch_cycles", WT_PARAM_CURVE, RATE(launch_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "first wave, over warps per block: from one block's start to the next on the same SM"},
    {"rates.tpc_lag_cycles", WT_PARAM_CURVE, RATE(tpc_lag_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "first wave, over warps per block: the TPC's second SM starts this much later"},
    {"rates.replacement_lag_cycles", WT_PARAM_CURVE, RATE(replacement_lag_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .fallback = "0", .help = "over warps per block: after a replacement the TPC's next one starts tpc_lag_cycles and this later"},
    {"rates.used_tpc_cycles", WT_PARAM_NUMBER, RATE(used_tpc_cycles), .unit = "cycles", .low = 0, .high = 1e6, .fallback = "0",
     .help = "a launch's first wave starts so much later on TPCs on which the launch before it has run"},
    {"rates.cluster_start_cycles", WT_PARAM_NUMBER, RATE(cluster_start_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .fallback = "0", .help = "a cluster's blocks start launch_cycles and so much later than single ones: they wait for each other"},
    {"rates.extra_first_gap", WT_PARAM_INT, RATE(extra_first_gap), .unit = "visits", .low = 1, .high = 1000,
     .required = true, .help = "visits to other groups between the extra group's first and second"},
    {"rates.extra_gap", WT_PARAM_INT, RATE(extra_gap), .unit = "visits", .low = 1, .high = 1000, .required = true,
     .help = "visits to other groups between the extra group's later ones"},
    {"rates.counter_service_cycles", WT_PARAM_NUMBER, RATE(counter_service_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "atomic additions to one address are served one each this long"},
    {"rates.counter_latency_cycles", WT_PARAM_NUMBER, RATE(counter_latency_cycles), .unit = "cycles", .low = 0, .high = 1e6,
     .required = true, .help = "an atomic addition with no other about, until its answer is there"},
    {"rates.launch_offset_cycles", WT_PARAM_NUMBERS, RATE(launch_offset_cycles), .unit = "cycles", .low = 0,
     .high = 1e6, .most = WT_MAX_SMS, .help = "per TPC: how much later its launches arrive; []: no difference"},
    {"rates.report_offset_cycles", WT_PARAM_NUMBERS, RATE(report_offset_cycles), .unit = "cycles", .low = 0,
     .high = 1e6, .most = WT_MAX_SMS, .help = "per TPC: how much later its reports arrive; []: no difference"},

    {"warp.scheduler", WT_PARAM_STRING, FILE_AT(gpu.warp.scheduler), .fallback = "gto",
     .help = "which eligible warp of a sub-core issues next: gto, cggty, lrr, two-level"},
    CLASS(fma, "FP32 multiply-add, add, multiply", "1", "4"),
    CLASS(imad, "integer multiply-add", "2", "4"),
    CLASS(alu, "integer, logic, compare, move", "2", "4"),
    CLASS(half, "packed half precision", "2", "5"),
    CLASS(fp64, "double precision", "2", "8"),
    CLASS(sfu, "special functions", "8", "17"),
    CLASS(convert, "conversions and bit counts", "8", "17"),
    CLASS(tensor, "tensor cores, one HMMA.16816", "16", "33"),
    CLASS(uniform, "uniform datapath", "2", "6"),
    CLASS(special, "special registers", "4", "20"),
    CLASS(clock, "the clock register", "2", "14"),
    CLASS(constant, "indexed constants", "2", "30"),
    CLASS(shuffle, "shuffles", "4", "24"),
    CLASS(vote, "votes and reductions over a warp", "2", "12"),
    CLASS(branch, "branches", "1", "5"),
    WARP(compare_latency, "13", 1e4, "a compare to the branch that uses its predicate"),
    WARP(block_cycles, "2", 16, "an IMAD.WIDE or IMAD.HI holds up the dispatcher"),
    WARP(operand_slack, "1", 64, "operands may be under way from the registers before the dispatcher waits for them"),
    WARP(branch_cycles, "3", 1e4, "a taken branch's target is known this long after the branch's own stall"),
    WARP(converge_cycles, "9", 1e4, "the same for the end of a region that may diverge"),
    WARP(diverge_cycles, "20", 1e4, "the same for a branch of which a warp's threads go both ways, in turn"),
    WARP(fetch_cycles, "3", 1e4, "then the first instruction at the target arrives"),
    WARP(cold_cycles, "40", 1e5, "an SM fetches 128 bytes of instructions it does not hold yet; 0: never missed"),
    WARP(first_fetch_cycles, "0", 1e5, "the same for the first 128 bytes of a kernel"),
    {"warp.mio_queue", WT_PARAM_NUMBER, FILE_AT(gpu.warp.mio_queue), .low = 1, .high = 64, .fallback = "8",
     .help = "instructions a sub-core's queue to shared memory and special units holds"},
    {"warp.lg_queue", WT_PARAM_NUMBER, FILE_AT(gpu.warp.lg_queue), .low = 1, .high = 64, .fallback = "11",
     .help = "instructions a sub-core's queue to local and global memory holds"},
    WARP(barrier_interval, "2", 1e4, "an SM takes a warp's arrival at a barrier each this long"),
    WARP(barrier_latency, "14", 1e4, "the last warp's arrival to the first instruction behind the barrier"),
    WARP(barrier_release, "3.35", 1e4, "releasing a barrier keeps the path to shared memory busy"),
    WARP(barrier_release_warp, "0", 1e4, "and this long more for each of the block's warps"),
    {"warp.special_queue", WT_PARAM_NUMBER, FILE_AT(gpu.warp.special_queue), .low = 1, .high = 64, .fallback = "2",
     .help = "entries of a sub-core's queue of special functions and conversions"},
    {"warp.barrier_queue", WT_PARAM_NUMBER, FILE_AT(gpu.warp.barrier_queue), .low = 1, .high = 64, .fallback = "1",
     .help = "arrivals at barriers a sub-core's queue holds"},
    WARP(launch_overhead_cycles, "3100", 1e6, "counted as elapsed before a launch's first block and after its last"),

    MEMORY(shared_latency, "cycles", "29", "shared memory: issue to result"),
    MEMORY(shared_bytes, "bytes/cycle", "128", "shared memory: all banks of an SM"),
    MEMORY(shared_turn, "cycles", "0", "shared memory: lost when stores follow loads or loads stores"),
    MEMORY(shared_atomic_interval, "cycles", "1", "shared memory atomics: per thread that meets others in one address"),
    MEMORY(l1_latency, "cycles", "35", "a hit in L1: issue to result"),
    MEMORY(l1_bytes, "bytes/cycle", "128", "L1 to the register files of an SM"),
    MEMORY(l1_lines, "lines/cycle", "1", "tag look-ups of L1"),
    MEMORY(l2_latency, "cycles", "280", "a hit in L2: issue to result"),
    MEMORY(l2_bytes, "bytes/cycle", "110", "L2 to one SM"),
    MEMORY(l2_gpu_bytes, "bytes/cycle", "5640", "L2 to all SMs; 0: their ports alone limit"),
    MEMORY(l2_request_bytes, "bytes", "38", "a load's line takes as much of it as so many bytes more"),
    MEMORY(l2_write_port_sms, "SMs", "6", "those of a GPC that send stores and atomics to L2 through one port; 0: all of it"),
    MEMORY(l2_write_port_bytes, "bytes/cycle", "90", "what such a port carries; 0: no limit"),
    MEMORY(l2_write_request_bytes, "bytes", "32", "a line that is stored in part takes as much of it as so many bytes more"),
    MEMORY(l2_reduce_bytes, "bytes", "32", "a sector of atomics without result takes as much of it as so many"),
    MEMORY(l2_atomic_bytes, "bytes", "55", "a sector of atomics with result takes as much of it as so many"),
    MEMORY(l2_fabric_bytes, "bytes/cycle", "2420", "what L2 takes in from DRAM, stores and atomics; 0: no limit"),
    MEMORY(l2_slices, "slices", "94", "parts of L2 by address; 0: not known, atomics on many words never wait for one"),
    MEMORY(l2_slice_bytes, "bytes", "512", "consecutive addresses that one slice holds"),
    MEMORY(l2_slice_request, "cycles", "1.27", "a slice takes an atomic's line each this long; half as much again if all slices are used"),
    MEMORY(l2_dirty_mib, "MiB", "16", "what L2 keeps from DRAM before it writes back"),
    MEMORY(store_buffer_bytes, "bytes", "4096", "an SM's stores and atomics on their way to L2"),
    MEMORY(dram_buffer_bytes, "bytes", "65536", "an SM's share of what L2 may have waiting to be written back"),
    MEMORY(dram_latency, "cycles", "675", "a load from DRAM: issue to result"),
    MEMORY(dram_contention, "cycles", "112", "wait for others' accesses at half load; (u / (1 - u))^0.75 times this at load u"),
    MEMORY(dram_efficiency, "of memory_gbs", "0.976", "bandwidth that streams reach"),
    MEMORY(dram_scattered, "of memory_gbs", "0.5", "bandwidth that scattered accesses reach"),
    MEMORY(dram_turn, "of memory_gbs", "0.15", "bandwidth lost where half of the traffic is writes"),
    MEMORY(dram_granule_bytes, "bytes", "64", "least that a scattered access transfers"),
    MEMORY(atomic_latency, "cycles", "300", "a global atomic with a result, without contention"),
    MEMORY(atomic_interval, "cycles", "1.446", "a slice takes an atomic's sector, or a thread's on the same address, each this long"),
    MEMORY(spread, "fraction", "0.1", "L2 and DRAM latencies vary by this to either side, from slice to slice"),
    HOST_US(launch_call_us, "what launching a kernel costs the host thread"),
    HOST_US(graph_call_us, "what launching a graph costs the host thread"),
    HOST_US(graph_node_call_us, "and for each of its nodes"),
    HOST_US(record_call_us, "what recording an event costs the host thread"),
    HOST_US(wait_call_us, "what making a stream wait for an event costs the host thread"),
    HOST_US(copy_call_us, "what an asynchronous copy costs the host thread"),
    HOST_US(synchronize_call_us, "what synchronising costs the host thread where there is nothing to wait for"),
    HOST_US(submit_us, "a call's end to the first block it launched, on an idle GPU"),
    HOST_US(return_us, "the end of what a call waits for to its return"),
    HOST_US(event_us, "what an event on the way adds between kernels of two streams"),
    HOST_US(graph_gap_us, "a kernel's last end to the first start of one that follows it in a graph"),
    HOST_US(programmatic_end_gap_us, "the same with programmatic dependent launch, triggered by the end"),
    HOST_US(programmatic_start_gap_us, "the same, triggered as soon as the kernel before has started"),
    HOST_US(carveout_us, "what it adds that the next kernel has another shared-memory configuration"),
    {"host.queue_depth", WT_PARAM_INT, offsetof(struct wt_gpu_file, gpu.host.queue_depth), .unit = "commands", .low = 1,
     .high = 1000000, .required = true, .help = "commands that a stream holds before a call waits"},

    {"copy.engines", WT_PARAM_INT, offsetof(struct wt_gpu_file, gpu.copy.engines), .low = 1, .high = 2, .required = true,
     .help = "copy engines between host and device: 1 serves both directions, 2 one each"},
    COPY("h2d_gbs", gbs[0], "GB/s", 1e-3, 1e6, "bandwidth from pinned host memory to the device"),
    COPY("d2h_gbs", gbs[1], "GB/s", 1e-3, 1e6, "bandwidth from the device to pinned host memory"),
    COPY("d2d_gbs", gbs[2], "GB/s", 1e-3, 1e6, "bandwidth of copies within the device"),
    COPY("pageable_h2d_gbs", pageable_gbs[0], "GB/s", 1e-3, 1e6, "bandwidth from pageable host memory to the device"),
    COPY("pageable_d2h_gbs", pageable_gbs[1], "GB/s", 1e-3, 1e6, "bandwidth from the device to pageable host memory"),
    COPY("h2d_both_ways", both_ways[0], NULL, 0.01, 1, "of its bandwidth, while copies go the other way, too"),
    COPY("d2h_both_ways", both_ways[1], NULL, 0.01, 1, "of its bandwidth, while copies go the other way, too"),
    COPY("h2d_setup_us", setup_us[0], "us", 0, 1e6, "a copy to the device holds its engine this long besides its bytes"),
    COPY("d2h_setup_us", setup_us[1], "us", 0, 1e6, "a copy to the host holds its engine this long besides its bytes"),
    COPY("d2d_setup_us", setup_us[2], "us", 0, 1e6, "a copy within the device takes this long besides its bytes"),
    COPY("pageable_setup_us", pageable_setup_us, "us", 0, 1e6, "a copy of pageable memory takes this much longer"),
    COPY("after_kernel_us", after_kernel_us, "us", 0, 1e6, "a kernel's last end to the begin of a copy that waits for it"),
    COPY("after_copy_us", after_copy_us, "us", 0, 1e6, "the end of a copy to the begin of one the other way, in one stream"),
    COPY("after_same_us", after_same_us, "us", 0, 1e6, "the end of a copy to the begin of its stream's next the same way"),
    COPY("switch_us", switch_us, "us", 0, 1e6, "the end of a copy to the begin of another stream's that waits for the engine"),
    COPY("before_kernel_us", before_kernel_us, "us", 0, 1e6,
         "the end of a copy to the first start of a kernel that waits for it, at least"),
    COPY("look_first_us", look_first_us, "us", 0, 1e6,
         "a kernel that waits for a copy can start this long after it began to wait, …"),
    COPY("look_us", look_us, "us", 1e-3, 1e6, "… and again each time after this"),
    {0}};

/* The files a base chain has led through so far. */
struct chain {
    int length;
    struct {
        dev_t device;
        ino_t inode;
    } files[LONGEST_CHAIN];
};

static enum wt_code read_chain(struct wt_gpu_file *file, const struct wt_config *config, struct chain *chain,
                               struct wt_error *err);

/* `config` is the file that names the base, at `setting`. */
static enum wt_code enter(struct chain *chain, const char *path, const struct wt_config *config,
                          const struct config_setting_t *setting, struct wt_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return wt_config_fail(config, setting, err, "cannot open base '%s'; check the name", path);
    for (int i = 0; i < chain->length; i++)
        if (chain->files[i].device == st.st_dev && chain->files[i].inode == st.st_ino)
            return wt_config_fail(config, setting, err, "base '%s' leads in a circle; name another",
                                  config_setting_get_string(setting));
    if (chain->length == LONGEST_CHAIN)
        return wt_config_fail(config, setting, err, "more than %d bases one after another; name a nearer one",
                              LONGEST_CHAIN);
    chain->files[chain->length].device = st.st_dev;
    chain->files[chain->length++].inode = st.st_ino;
    return WT_OK;
}

/* Owned by the caller. */
static char *beside(const char *path, const char *other)
{
    char *copy = wt_strdup(path);
    char *joined = *other == '/' ? wt_strdup(other) : wt_format("%s/%s", dirname(copy), other);
    free(copy);
    return joined;
}

static enum wt_code find_base(const char *base, const struct wt_config *config,
                              const struct config_setting_t *setting, char **path, struct wt_error *err)
{
    if (wt_gpu_is_path(base)) {
        *path = beside(wt_config_path(config), base);
        return WT_OK;
    }
    struct wt_error inner = {0};
    if (wt_gpu_find(base, path, &inner) != WT_OK)
        return wt_config_fail(config, setting, err, "base: %s", inner.text);
    return WT_OK;
}

static enum wt_code read_base(struct wt_gpu_file *file, const struct wt_config *config,
                              const struct config_setting_t *setting, struct chain *chain, struct wt_error *err)
{
    char *path;
    WT_TRY(find_base(config_setting_get_string(setting), config, setting, &path, err));
    struct wt_config *base = NULL;
    enum wt_code code = enter(chain, path, config, setting, err);
    if (code == WT_OK)
        code = wt_config_read(path, &base, err);
    if (code == WT_OK)
        code = read_chain(file, base, chain, err);
    wt_config_free(base);
    free(path);
    return code;
}

/* The base first, then what this file says. A base that is no string is refused by the table. */
static enum wt_code read_chain(struct wt_gpu_file *file, const struct wt_config *config, struct chain *chain,
                               struct wt_error *err)
{
    const struct config_setting_t *root = wt_config_root(config);
    const struct config_setting_t *base = config_setting_get_member(root, "base");
    if (base && config_setting_type(base) == CONFIG_TYPE_STRING)
        WT_TRY(read_base(file, config, base, chain, err));
    return wt_record_read(&file->record, config, root, err);
}

static enum wt_code parse_capability(struct wt_gpu_file *file, struct wt_error *err)
{
    const char *text = file->compute_capability;
    int major, minor, used = 0;
    bool plain = strlen(text) <= 5 && isdigit((unsigned char)*text);
    if (!plain || sscanf(text, "%d.%d%n", &major, &minor, &used) != 2 || text[used] || minor < 0)
        return wt_record_fail(&file->record, "compute_capability", file->gpu.path, err,
                              "'compute_capability' is \"%s\"; give e.g. \"9.0\"", text);
    file->gpu.cc_major = major;
    file->gpu.cc_minor = minor;
    return WT_OK;
}

static enum wt_code build(struct wt_gpu_file *file, struct wt_error *err)
{
    WT_TRY(wt_record_check(&file->record, file->gpu.path, 0, err));
    WT_TRY(parse_capability(file, err));
    WT_TRY(wt_limits_build(file, err));
    return wt_topology_build(file, err);
}

static char *key_of(const char *path)
{
    char *copy = wt_strdup(path);
    char *key = wt_strdup(basename(copy));
    size_t length = strlen(key);
    if (length > 4 && !strcmp(key + length - 4, ".cfg"))
        key[length - 4] = '\0';
    free(copy);
    return key;
}

static enum wt_code load(const struct wt_config *config, struct wt_gpu **out, struct wt_error *err)
{
    struct wt_gpu_file *file = wt_alloc(1, sizeof *file);
    file->record = wt_record_begin(params, file);
    file->gpu.path = wt_strdup(wt_config_path(config));
    file->gpu.key = key_of(file->gpu.path);
    struct chain chain = {0};
    struct stat st;
    if (stat(file->gpu.path, &st) == 0) {
        chain.files[0].device = st.st_dev;
        chain.files[0].inode = st.st_ino;
        chain.length = 1;
    }
    enum wt_code code = read_chain(file, config, &chain, err);
    if (code == WT_OK)
        code = build(file, err);
    *out = &file->gpu;
    if (code != WT_OK) {
        wt_gpu_free(*out);
        *out = NULL;
    }
    return code;
}

enum wt_code wt_gpu_load(const char *name_or_path, struct wt_gpu **out, struct wt_error *err)
{
    char *path = NULL;
    *out = NULL;
    if (wt_gpu_is_path(name_or_path))
        path = wt_strdup(name_or_path);
    else
        WT_TRY(wt_gpu_find(name_or_path, &path, err));
    struct wt_config *config = NULL;
    enum wt_code code = wt_config_read(path, &config, err);
    if (code == WT_OK)
        code = load(config, out, err);
    wt_config_free(config);
    free(path);
    return code;
}

enum wt_code wt_gpu_parse(const char *text, size_t size, const char *path, struct wt_gpu **out, struct wt_error *err)
{
    struct wt_config *config = NULL;
    *out = NULL;
    WT_TRY(wt_config_parse(text, size, path, &config, err));
    enum wt_code code = load(config, out, err);
    wt_config_free(config);
    return code;
}

void wt_gpu_free(struct wt_gpu *gpu)
{
    struct wt_gpu_file *file = (struct wt_gpu_file *)gpu;
    if (!file)
        return;
    wt_topology_free(&gpu->topology);
    wt_params_free(params, file);
    wt_record_free(&file->record);
    free(gpu->path);
    free(gpu->key);
    free(file);
}

const struct wt_record *wt_gpu_record(const struct wt_gpu *gpu)
{
    return &((const struct wt_gpu_file *)gpu)->record;
}

const char *wt_gpu_source(const struct wt_gpu *gpu, const char *key)
{
    const struct wt_origin *origin = wt_record_origin(wt_gpu_record(gpu), key);
    return origin ? origin->source : NULL;
}

const struct wt_param *wt_gpu_params(void)
{
    return params;
}

double wt_gpu_unloaded_release(const struct wt_gpu *gpu, int sm)
{
    const struct wt_rates *rates = &gpu->rates;
    int tpc = gpu->topology.tpc_of_sm[sm];
    return rates->release_cycles + wt_of_tpc(&rates->launch_offset_cycles, tpc) +
           wt_of_tpc(&rates->report_offset_cycles, tpc);
}
