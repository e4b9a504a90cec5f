/* Captures how the GPU at hand runs the kernels of an experiment list, and asks its runtime what it knows. */
#include <argp.h>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>

#include "capture.h"
#include "catalog.h"

void stop(const std::string &message)
{
    std::fprintf(stderr, "capture: %s\n", message.c_str());
    std::exit(1);
}

void stop_on(cudaError_t error, const std::string &what)
{
    if (error != cudaSuccess)
        stop(what + ": " + cudaGetErrorString(error));
}

int device_attribute(cudaDeviceAttr which)
{
    int device = 0, value = 0;
    stop_on(cudaGetDevice(&device), "cudaGetDevice");
    stop_on(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

namespace
{

enum { DEVICE = 256, KERNELS, CHECK, CLOCK_SYNC, DEVICEQUERY, MAX_CLUSTERS, OCCUPANCY, OVERHEAD, HOST, COPIES,
       ONLY, REPS, PLAIN, MEMORY, CAPACITY, WARM, MAKESPANS };

struct Options {
    int action = 0; /* a query's key; 0 = run the lists */
    long device = 0, reps = 0, pairs = 0;
    std::string only;
    std::vector<std::string> lists;
    RunOptions run;
};

const argp_option option_table[] = {
    {nullptr, 0, nullptr, 0, "Running lists:", 1},
    {"output", 'o', "FOLDER", 0, "where traces go (.)", 1},
    {"only", ONLY, "NAME", 0, "this experiment alone", 1},
    {"reps", REPS, "N", 0, "repetitions, whatever the list says", 1},
    {"plain", PLAIN, nullptr, 0, "write .csv, not .csv.zst", 1},
    {"memory", MEMORY, "MB", 0, "data that kernels load and store (512)", 1},
    {"capacity", CAPACITY, "N", 0, "most blocks recorded in one file (20000000)", 1},
    {"warm", WARM, "MS", 0, "busy time before the first experiment (300)", 1},
    {"makespans", MAKESPANS, "FILE.csv", 0, "also a table of makespans, a line per repetition", 1},
    {"device", DEVICE, "N", 0, "CUDA device (0)", 1},
    {nullptr, 0, nullptr, 0, "Instead, to standard output:", 2},
    {"check", CHECK, nullptr, 0, "only check the lists; needs no GPU", 2},
    {"kernels", KERNELS, nullptr, 0, "the kernels that lists can name; needs no GPU", 2},
    {"clock-sync", CLOCK_SYNC, "N", 0, "N pairs of clock64 and globaltimer per SM, as clock_sync.csv.zst", 2},
    {"devicequery", DEVICEQUERY, nullptr, 0, "a config of this GPU, for wavetail --gpu", 2},
    {"max-clusters", MAX_CLUSTERS, nullptr, 0, "clusters that fit at once, sizes 1 to 16 (-1: refused)", 2},
    {"occupancy", OCCUPANCY, nullptr, 0, "the runtime's blocks per SM over kernels, block sizes, shared memory", 2},
    {"overhead", OVERHEAD, nullptr, 0, "what tracing costs: registers, cycles per block, makespan", 2},
    {"host", HOST, nullptr, 0, "the host's calls, launch latency, gaps between dependent kernels", 2},
    {"copies", COPIES, nullptr, 0, "copies between host and device, alone, together and in pipelines", 2},
    {nullptr, 0, nullptr, 0, nullptr, 0},
};

long number(const char *text, long low, long high, argp_state *state)
{
    char *end = nullptr;
    long value = std::strtol(text, &end, 10);
    if (end == text || *end || value < low || value > high)
        argp_error(state, "'%s' is not a whole number from %ld to %ld", text, low, high);
    return value;
}

error_t parse_option(int key, char *argument, argp_state *state)
{
    Options *options = (Options *)state->input;
    switch (key) {
    case 'o': options->run.folder = argument; return 0;
    case ONLY: options->only = argument; return 0;
    case REPS: options->reps = number(argument, 1, 1000, state); return 0;
    case PLAIN: options->run.compress = false; return 0;
    case MEMORY: options->run.memory_mb = (size_t)number(argument, 4, 1 << 20, state); return 0;
    case CAPACITY: options->run.capacity = (size_t)number(argument, 1, 1 << 30, state); return 0;
    case WARM: options->run.warm_ms = number(argument, 0, 600000, state); return 0;
    case MAKESPANS: options->run.makespans = argument; return 0;
    case DEVICE: options->device = number(argument, 0, 1000, state); return 0;
    case CLOCK_SYNC: options->pairs = number(argument, 1, 100000, state); options->action = key; return 0;
    case CHECK: case KERNELS: case DEVICEQUERY: case MAX_CLUSTERS: case OCCUPANCY: case OVERHEAD:
    case HOST: case COPIES:
        options->action = key;
        return 0;
    case ARGP_KEY_ARG: options->lists.push_back(argument); return 0;
    case ARGP_KEY_END:
        if (options->lists.empty() && (options->action == 0 || options->action == CHECK))
            argp_error(state, "name an experiment list, e.g. gpu_ref/experiments/example.txt");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

std::vector<Experiment> read_lists(const Options &options)
{
    std::vector<Experiment> all, chosen;
    for (const std::string &path : options.lists) {
        std::string wrong = read_list(path, &all);
        if (!wrong.empty()) {
            std::fprintf(stderr, "%s\n", wrong.c_str());
            std::exit(1);
        }
    }
    for (Experiment &experiment : all) {
        if (options.reps > 0)
            experiment.reps = options.reps;
        if (options.only.empty() || options.only == experiment.name)
            chosen.push_back(experiment);
    }
    if (chosen.empty())
        stop("no experiment is named '" + options.only + "'");
    return chosen;
}

void print_kernels()
{
    for (int i = 0; i < catalog_size; i++)
        std::printf("%-14s %s\n", catalog[i].name, catalog[i].what);
}

void write_clock_sync(const Options &options)
{
    std::string path = options.run.folder + "/clock_sync.csv" + (options.run.compress ? ".zst" : "");
    write_sync_pairs(path, take_sync_pairs((int)options.pairs));
}

void act(const Options &options, const std::vector<Experiment> &experiments)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 0); /* loading waits for the device, which may wait for what is loaded */
    stop_on(cudaSetDevice((int)options.device), "device " + std::to_string(options.device));
    mkdir(options.run.folder.c_str(), 0777);
    switch (options.action) {
    case CLOCK_SYNC: return write_clock_sync(options);
    case DEVICEQUERY: return print_device_config();
    case MAX_CLUSTERS: return print_max_clusters();
    case OCCUPANCY: return print_occupancy();
    case OVERHEAD: return print_overhead();
    case HOST: return print_host();
    case COPIES: return print_copies();
    default: return run_experiments(experiments, options.run);
    }
}

} // namespace

int main(int argc, char **argv)
{
    const argp parser = {option_table, parse_option, "LIST...",
                         "Runs the kernels of experiment lists (gpu_ref/capture/list.h says what they can hold) and "
                         "writes a trace for each repetition.",
                         nullptr, nullptr, nullptr};
    Options options;
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, nullptr, &options);
    std::vector<Experiment> experiments;
    if (options.action == 0 || options.action == CHECK)
        experiments = read_lists(options);
    if (options.action == KERNELS)
        print_kernels();
    else if (options.action != CHECK)
        act(options, experiments);
    return 0;
}
