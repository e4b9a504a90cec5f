/* Experiment lists: what to run, as text. One line is one experiment with its first kernel launch; a line that
 * begins with + adds a launch to the experiment above it, in the same trace. # begins a comment.
 *
 *     defaults reps=5 block=256                 what the lines below need not say
 *     NAME kernel=spin grid=2169 work=const:20000
 *     + NAME_B kernel=spin grid=500 block=128 stream=1 priority=-1
 *
 * Keys of a launch (values when missing): kernel; grid and block, N or NxN or NxNxN (1, 256);
 * dynamic_smem, bytes (0); carveout_kb, preferred shared memory (-1: the default); cluster (1); work, see work.h
 * (none); seed (1); stream, 0 to 15 (0); priority, as CUDA has it, lower is more urgent (0); cooperative, 0 or 1;
 * work_threads, so that work is given to every so many threads in index order, whatever the block size, and a block's end
 * is its last thread's; a multiple of 32 (0: to blocks); work_shared, 0 or 1: the threads of a block do equal parts of what its
 * work_threads were given (0); split, so that works are given to every so many blocks, which do equal parts of them (1); order of the
 * works: asis, longest-first, reversed or shuffle (asis; split first); tasks, for persistent kernels; queue, of others the launch
 * of so many blocks that take the grid's from a counter (0: none, an ordinary launch); count, the launch that many times
 * (1); wait_us, before launching (0); pdl, 0 or 1: programmatic dependent launch after the launch before it in its stream
 * (0); after, the name of a launch above, in another stream, that it waits for by an event.
 * Keys of an experiment, on its first line: graph, 0 or 1: all its launches, in one stream, as a graph (0); reps (3);
 * traces, of so many repetitions, the others' makespans alone (all); warmup, runs that are not recorded (2); sync, clock pairs
 * per SM taken after each repetition (0). */
#ifndef CAPTURE_LIST_H
#define CAPTURE_LIST_H

#include <string>
#include <vector>

#include "work.h"

struct LaunchSpec {
    std::string name;
    long line = 0;
    int kernel = -1; /* in the catalog */
    long grid[3] = {1, 1, 1}, block[3] = {256, 1, 1}, cluster[3] = {1, 1, 1};
    long dynamic_smem = 0, carveout_kb = -1, seed = 1, stream = 0, priority = 0, cooperative = 0, tasks = 0, count = 1,
         wait_us = 0, work_threads = 0, work_shared = 0, pdl = 0, split = 1, queue = 0;
    WorkOrder order = WorkOrder::ASIS;
    std::string after;
    Work work;

    uint64_t blocks() const { return (uint64_t)grid[0] * (uint64_t)grid[1] * (uint64_t)grid[2]; }
    uint64_t threads() const { return blocks() * (uint64_t)block[0] * (uint64_t)block[1] * (uint64_t)block[2]; }

    /* That work is given to. */
    uint64_t units() const
    {
        if (work_threads > 0)
            return (threads() + (uint64_t)work_threads - 1) / (uint64_t)work_threads;
        return (tasks > 0 ? (uint64_t)tasks : blocks()) / (uint64_t)split;
    }

    /* As traces state it. */
    std::string work_text() const;

    uint64_t records() const { return tasks > 0 ? (uint64_t)tasks : blocks(); }
};

struct Experiment {
    std::string name;
    long reps = 3, warmup = 2, sync = 0, graph = 0, traces = 1000;
    std::vector<LaunchSpec> launches; /* at least one */
};

/* "" or "FILE:LINE: what is wrong, and what to do". */
std::string read_list(const std::string &path, std::vector<Experiment> *experiments);

#endif
