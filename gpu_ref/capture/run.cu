/* Runs experiments and writes their traces. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "../wavetail_trace.cuh"
#include "capture.h"
#include "catalog.h"
#include "kernels.h"

namespace
{

enum { MOST_ATTRIBUTES = 4 };

/* A launch of the list, made ready: everything that the launching loop needs. */
struct Prepared {
    const LaunchSpec *spec;
    const void *function;
    cudaLaunchConfig_t config;
    cudaLaunchAttribute attributes[MOST_ATTRIBUTES];
    long long *work; /* on the device; NULL = constant */
    Params params;
    cudaEvent_t after, over; /* waited for, recorded; NULL = none */
};

class Runner
{
  public:
    explicit Runner(const RunOptions &options) : options_(options)
    {
        size_t elements = 1 << 20;
        while (elements * 2 * sizeof(float) <= options.memory_mb << 20)
            elements *= 2;
        mask_ = elements - 1;
        sm_count_ = device_attribute(cudaDevAttrMultiProcessorCount);
        stop_on(cudaMalloc(&data_, elements * sizeof(float)), "data; choose a smaller --memory");
        stop_on(cudaMemset(data_, 0, elements * sizeof(float)), "data");
        stop_on(cudaMalloc(&ring_, RING_ENTRIES * sizeof(unsigned)), "memory for the ring");
        fill_ring(ring_);
        stop_on(cudaDeviceSynchronize(), "filling the ring");
        step_ns_ = globaltimer_step_ns();
        if (options.makespans.empty())
            return;
        makespans_ = std::fopen(options.makespans.c_str(), "w");
        if (!makespans_ || std::fprintf(makespans_, "experiment,repetition,makespan_ns\n") < 0)
            stop(options.makespans + ": cannot be written; choose another --makespans");
    }

    ~Runner()
    {
        if (makespans_ && std::fclose(makespans_) != 0)
            std::fprintf(stderr, "%s: not all could be written\n", options_.makespans.c_str());
        cudaFree(data_);
        cudaFree(ring_);
    }

    /* Keeps the whole GPU busy until its clocks have had time to rise. */
    void warm_up()
    {
        Params params = base_params();
        params.constant = 1000000;
        void *arguments[] = {&params};
        auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.warm_ms);
        while (std::chrono::steady_clock::now() < end) {
            stop_on(cudaLaunchKernel(named_kernel("fma4")->function, dim3((unsigned)sm_count_), dim3(1024), arguments, 0, 0),
                    "warm-up");
            stop_on(cudaDeviceSynchronize(), "warm-up");
        }
    }

    void run(const Experiment &experiment)
    {
        if (!supported(experiment))
            return;
        uint64_t records = prepare(experiment);
        wavetail::Tracer tracer(std::min((size_t)records, options_.capacity));
        tracer.device().globaltimer_step_ns = step_ns_;
        for (long n = 0; n < experiment.warmup; n++)
            launch_all(experiment, nullptr);
        for (long rep = 0; rep < experiment.reps; rep++) {
            std::string name = options_.folder + "/" + experiment.name + ".r" + std::to_string(rep);
            tracer.reset();
            launch_all(experiment, &tracer);
            if (rep < experiment.traces && !tracer.write(name + suffix()))
                stop("experiment " + experiment.name + " stopped");
            if (makespans_)
                std::fprintf(makespans_, "%s,%ld,%lld\n", experiment.name.c_str(), rep, tracer.span_ns());
            if (experiment.sync > 0)
                write_sync_pairs(name + ".sync" + suffix(), take_sync_pairs((int)experiment.sync));
        }
        std::fprintf(stderr, "%s: %zu launches, %ld repetitions\n", experiment.name.c_str(), prepared_.size(),
                     experiment.reps);
        release();
    }

  private:
    std::string suffix() const { return options_.compress ? ".csv.zst" : ".csv"; }

    Params base_params()
    {
        Params params = {};
        params.data = data_;
        params.mask = mask_;
        params.ring = ring_;
        return params;
    }

    static bool supported(const Experiment &experiment)
    {
        int major = device_attribute(cudaDevAttrComputeCapabilityMajor);
        for (const LaunchSpec &spec : experiment.launches)
            if ((spec.cluster[0] * spec.cluster[1] * spec.cluster[2] > 1 || spec.pdl) && major < 9) {
                std::fprintf(stderr, "%s: skipped: clusters and pdl need compute capability 9.0\n", experiment.name.c_str());
                return false;
            }
        return true;
    }

    /* Fills prepared_; returns how many records the experiment wants. */
    uint64_t prepare(const Experiment &experiment)
    {
        uint64_t records = 0;
        for (const LaunchSpec &spec : experiment.launches) {
            long long *work = upload_work(spec);
            allow(spec);
            for (long n = 0; n < spec.count; n++)
                prepared_.push_back(prepare_launch(spec, work));
            if (!spec.after.empty())
                follow(spec);
            records += spec.records() * (uint64_t)spec.count;
        }
        stop_on(cudaMalloc(&counters_, prepared_.size() * sizeof(unsigned)), "memory for queues");
        for (size_t i = 0; i < prepared_.size(); i++) {
            prepared_[i].params.counter = counters_ + i;
            prepared_[i].config.attrs = prepared_[i].attributes;
        }
        return records;
    }

    /* The first of the launches just added waits for the last one that has the name. */
    void follow(const LaunchSpec &spec)
    {
        Prepared &follower = prepared_[prepared_.size() - (size_t)spec.count];
        for (Prepared &launch : prepared_)
            if (launch.spec->name == spec.after)
                follower.after = launch.over;
        if (follower.after)
            return;
        for (size_t i = prepared_.size(); i-- > 0;)
            if (prepared_[i].spec->name == spec.after) {
                stop_on(cudaEventCreateWithFlags(&prepared_[i].over, cudaEventDisableTiming), "an event");
                follower.after = prepared_[i].over;
                return;
            }
    }

    long long *upload_work(const LaunchSpec &spec)
    {
        if (spec.work.kind == Work::NONE || spec.work.kind == Work::CONST)
            return nullptr;
        std::vector<long long> values = draw_work(spec.work, spec.units(), (uint64_t)spec.seed, sm_count_);
        if (spec.work_shared)
            values = share_work(values, (uint64_t)spec.work_threads, spec.blocks(), spec.threads() / spec.blocks());
        values = split_work(values, (uint64_t)spec.split);
        order_work(&values, spec.order, (uint64_t)spec.seed);
        long long *on_device = nullptr;
        stop_on(cudaMalloc(&on_device, values.size() * sizeof values[0]), "memory for work");
        stop_on(cudaMemcpy(on_device, values.data(), values.size() * sizeof values[0], cudaMemcpyHostToDevice), "work");
        works_.push_back(on_device);
        return on_device;
    }

    static const void *function_of(const LaunchSpec &spec)
    {
        const NamedKernel *kernel = named_kernel(catalog[spec.kernel].name);
        return spec.queue > 0 ? kernel->from_queue : kernel->function;
    }

    /* Large shared memory and large clusters must be asked for. */
    static void allow(const LaunchSpec &spec)
    {
        const void *function = function_of(spec);
        cudaFuncAttributes attributes;
        stop_on(cudaFuncGetAttributes(&attributes, function), spec.name);
        int most = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - (int)attributes.sharedSizeBytes;
        if (spec.dynamic_smem > most)
            stop(spec.name + ": dynamic_smem is more than the " + std::to_string(most) + " bytes that this GPU has for it");
        stop_on(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most), spec.name);
        if (spec.cluster[0] * spec.cluster[1] * spec.cluster[2] > 8)
            stop_on(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), spec.name);
    }

    Prepared prepare_launch(const LaunchSpec &spec, long long *work)
    {
        Prepared launch = {};
        launch.spec = &spec;
        launch.function = function_of(spec);
        launch.work = work;
        launch.params = base_params();
        launch.params.work = work;
        launch.params.constant = spec.work.kind == Work::CONST ? (long long)spec.work.a / spec.split : 0;
        launch.params.work_threads = spec.work_shared ? 0 : (unsigned)spec.work_threads;
        launch.params.tasks = tasks_of(spec);
        launch.params.columns = (unsigned)spec.grid[0];
        launch.config.gridDim = spec.queue > 0 ? dim3((unsigned)spec.queue) : size(spec.grid);
        launch.config.blockDim = size(spec.block);
        launch.config.dynamicSmemBytes = (size_t)spec.dynamic_smem;
        launch.config.stream = stream(spec);
        launch.config.numAttrs = set_attributes(spec, launch.attributes);
        return launch;
    }

    /* 0: an ordinary launch. */
    static long tasks_of(const LaunchSpec &spec)
    {
        return spec.queue > 0 ? (long)spec.blocks() : spec.tasks;
    }

    static dim3 size(const long (&value)[3])
    {
        return dim3((unsigned)value[0], (unsigned)value[1], (unsigned)value[2]);
    }

    static unsigned set_attributes(const LaunchSpec &spec, cudaLaunchAttribute *attributes)
    {
        unsigned count = 0;
        dim3 cluster = size(spec.cluster);
        if (cluster.x * cluster.y * cluster.z > 1) {
            attributes[count].id = cudaLaunchAttributeClusterDimension;
            attributes[count].val.clusterDim.x = cluster.x;
            attributes[count].val.clusterDim.y = cluster.y;
            attributes[count++].val.clusterDim.z = cluster.z;
        }
        if (spec.pdl) {
            attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attributes[count++].val.programmaticStreamSerializationAllowed = 1;
        }
        if (spec.cooperative) {
            attributes[count].id = cudaLaunchAttributeCooperative;
            attributes[count++].val.cooperative = 1;
        }
#if CUDART_VERSION >= 12050
        if (spec.carveout_kb >= 0) {
            long largest = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 1024;
            attributes[count].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
            attributes[count++].val.sharedMemCarveout =
                (unsigned)std::min(100L, (spec.carveout_kb * 100 + largest - 1) / largest);
        }
#endif
        return count;
    }

    cudaStream_t stream(const LaunchSpec &spec)
    {
        auto found = streams_.find(spec.stream);
        if (found != streams_.end())
            return found->second;
        cudaStream_t created;
        stop_on(cudaStreamCreateWithPriority(&created, cudaStreamNonBlocking, (int)spec.priority), "a stream");
        return streams_[spec.stream] = created;
    }

    /* All launches back to back; with a tracer they are recorded. Returns when all have ended. */
    void launch_all(const Experiment &experiment, wavetail::Tracer *tracer)
    {
        stop_on(cudaMemset(counters_, 0, prepared_.size() * sizeof(unsigned)), "queues");
        for (Prepared &launch : prepared_)
            launch.params.trace = tracer ? trace_of(tracer, launch) : wavetail::Trace();
        stop_on(cudaDeviceSynchronize(), experiment.name);
        if (experiment.graph)
            launch_graph(experiment);
        else
            for (Prepared &launch : prepared_)
                launch_one(launch);
        stop_on(cudaDeviceSynchronize(), experiment.name);
    }

    void launch_one(Prepared &launch)
    {
        void *arguments[] = {&launch.params};
        wait_us(launch.spec->wait_us);
        if (launch.after)
            stop_on(cudaStreamWaitEvent(launch.config.stream, launch.after, 0), launch.spec->name);
        stop_on(cudaLaunchKernelExC(&launch.config, launch.function, arguments), launch.spec->name);
        if (launch.over)
            stop_on(cudaEventRecord(launch.over, launch.config.stream), launch.spec->name);
    }

    void launch_graph(const Experiment &experiment)
    {
        cudaStream_t stream = prepared_[0].config.stream;
        cudaGraph_t graph;
        cudaGraphExec_t made;
        stop_on(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), experiment.name);
        for (Prepared &launch : prepared_)
            launch_one(launch);
        stop_on(cudaStreamEndCapture(stream, &graph), experiment.name);
        stop_on(cudaGraphInstantiate(&made, graph, 0), experiment.name);
        stop_on(cudaGraphLaunch(made, stream), experiment.name);
        stop_on(cudaStreamSynchronize(stream), experiment.name);
        cudaGraphExecDestroy(made);
        cudaGraphDestroy(graph);
    }

    static wavetail::Trace trace_of(wavetail::Tracer *tracer, const Prepared &launch)
    {
        wavetail::Launch described;
        described.name = launch.spec->name;
        described.kernel = catalog[launch.spec->kernel].name;
        described.work = launch.spec->work_text();
        described.work_seed = launch.spec->seed;
        described.tasks = tasks_of(*launch.spec);
        described.stream = (int)launch.spec->stream;
        described.carveout_kb = (int)launch.spec->carveout_kb;
        return tracer->add(described, launch.function, launch.config);
    }

    static void wait_us(long us)
    {
        auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
        while (us > 0 && std::chrono::steady_clock::now() < end)
            ;
    }

    void release()
    {
        for (long long *work : works_)
            cudaFree(work);
        for (auto &stream : streams_)
            cudaStreamDestroy(stream.second);
        for (Prepared &launch : prepared_)
            if (launch.over)
                cudaEventDestroy(launch.over);
        cudaFree(counters_);
        works_.clear();
        streams_.clear();
        prepared_.clear();
    }

    RunOptions options_;
    int sm_count_ = 0, step_ns_ = 0;
    float *data_ = nullptr;
    unsigned *ring_ = nullptr, *counters_ = nullptr;
    unsigned long long mask_ = 0;
    FILE *makespans_ = nullptr;
    std::vector<Prepared> prepared_;
    std::vector<long long *> works_;
    std::map<long, cudaStream_t> streams_;
};

} // namespace

void run_experiments(const std::vector<Experiment> &experiments, const RunOptions &options)
{
    Runner runner(options);
    runner.warm_up();
    for (const Experiment &experiment : experiments)
        runner.run(experiment);
}
