/* What the parts of the capture program share. */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "list.h"

/* Ends the program with "capture: WHAT: the CUDA error", status 1. */
void stop_on(cudaError_t error, const std::string &what);
[[noreturn]] void stop(const std::string &message);

int device_attribute(cudaDeviceAttr which); /* of the current device */

/* One experiment after another into `folder`: NAME.rREP.csv, with .zst at its end where `compress`. */
struct RunOptions {
    std::string folder = ".";
    bool compress = true;
    size_t memory_mb = 512;      /* data that kernels load and store; rounded down to a power of two */
    size_t capacity = 20000000; /* most records of one file */
    long warm_ms = 300;         /* work before the first experiment, for the clocks to rise */
    std::string makespans;      /* a table of all repetitions' makespans; "": none */
};
void run_experiments(const std::vector<Experiment> &experiments, const RunOptions &options);

struct SyncPair {
    long long clock, time_ns;
    int sm;
};
/* `count` pairs per SM, each taken just after %globaltimer advanced. */
std::vector<SyncPair> take_sync_pairs(int count);
void write_sync_pairs(const std::string &path, const std::vector<SyncPair> &pairs);
int globaltimer_step_ns(); /* measured */

/* To standard output: a GPU config (for `wavetail gpus FILE`), and tables as CSV. */
void print_device_config();
void print_max_clusters();
void print_occupancy();
void print_overhead();
void print_host();   /* measure.h says what a row holds */
void print_copies(); /* the same */

#endif
