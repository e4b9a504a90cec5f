/* What the host's calls cost, how long commands take to reach the GPU, and the gaps between dependent kernels. */
#include <cstdlib>
#include <memory>
#include <thread>

#include "capture.h"
#include "measure.h"

namespace
{

enum { REPETITIONS = 15, CALLS = 100, CHAIN = 20, MOST_QUEUED = 5000, PINGS = 60 };

std::string with(const char *name, long long value)
{
    return name + std::string(" ") + std::to_string(value);
}

/* A chain of kernels as a graph. */
class Chain
{
  public:
    Chain(int nodes, const std::function<void(int, cudaStream_t)> &add)
    {
        cudaGraph_t graph;
        std::vector<cudaStream_t> streams = make_streams(1);
        stop_on(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal), "a graph");
        for (int i = 0; i < nodes; i++)
            add(i, streams[0]);
        stop_on(cudaStreamEndCapture(streams[0], &graph), "a graph");
        stop_on(cudaGraphInstantiate(&made_, graph, 0), "a graph");
        cudaGraphDestroy(graph);
        free_streams(streams);
    }
    ~Chain() { cudaGraphExecDestroy(made_); }
    void launch(cudaStream_t stream) { stop_on(cudaGraphLaunch(made_, stream), "a graph"); }

  private:
    cudaGraphExec_t made_;
};

/* ---- Calls ---- */

/* The host's time per call, one after another; `gated`: while nothing of it can run. */
void time_calls(const char *name, bool gated, int calls, cudaStream_t stream, const std::function<void()> &call)
{
    Gate gate;
    std::vector<double> us;
    for (int rep = 0; rep < REPETITIONS + 2; rep++) {
        stop_on(cudaDeviceSynchronize(), name);
        if (gated)
            gate.close(stream);
        double begin = now_us();
        for (int i = 0; i < calls; i++)
            call();
        double end = now_us();
        gate.open();
        if (rep >= 2)
            us.push_back((end - begin) / calls);
    }
    stop_on(cudaDeviceSynchronize(), name);
    print_row("call", std::string(name) + (gated ? " behind a closed gate" : ""), 0, us);
}

void print_copy_calls(cudaStream_t stream)
{
    enum { BYTES = 65536 };
    void *device, *other, *pinned, *pageable = std::malloc(BYTES);
    stop_on(cudaMalloc(&device, BYTES), "memory");
    stop_on(cudaMalloc(&other, BYTES), "memory");
    stop_on(cudaMallocHost(&pinned, BYTES), "memory");
    auto copy = [&](void *to, const void *from) {
        return [=] { stop_on(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDefault, stream), "a copy"); };
    };
    time_calls("copy h2d pinned 64 KB", true, CALLS, stream, copy(device, pinned));
    time_calls("copy d2h pinned 64 KB", true, CALLS, stream, copy(pinned, device));
    time_calls("copy d2d 64 KB", true, CALLS, stream, copy(other, device));
    time_calls("copy h2d pageable 64 KB", false, CALLS, stream, copy(device, pageable));
    time_calls("copy d2h pageable 64 KB", false, CALLS, stream, copy(pageable, device));
    cudaFree(device);
    cudaFree(other);
    cudaFreeHost(pinned);
    std::free(pageable);
}

void print_graph_calls(cudaStream_t stream)
{
    for (int nodes : {1, 2, 8, 32, 128}) {
        Chain chain(nodes, [](int, cudaStream_t s) { launch_empty(s); });
        time_calls(with("graph launch; nodes", nodes).c_str(), true, 3, stream, [&] { chain.launch(stream); });
    }
}

void print_calls()
{
    std::vector<cudaStream_t> streams = make_streams(2);
    cudaStream_t stream = streams[0];
    cudaEvent_t timed, untimed;
    stop_on(cudaEventCreate(&timed), "an event");
    stop_on(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), "an event");
    time_calls("launch", true, CALLS, stream, [=] { launch_empty(stream); });
    time_calls("launch", false, CALLS, stream, [=] { launch_empty(stream); });
    time_calls("launch pdl", true, CALLS, stream, [=] { launch_empty(stream, Stamps::IMPLICIT); });
    time_calls("event record", true, CALLS, stream, [=] { cudaEventRecord(timed, stream); });
    time_calls("event record untimed", true, CALLS, stream, [=] { cudaEventRecord(untimed, stream); });
    cudaEventRecord(untimed, stream);
    time_calls("stream wait event", true, CALLS, streams[1], [=] { cudaStreamWaitEvent(streams[1], untimed, 0); });
    time_calls("stream synchronize idle", false, CALLS, stream, [=] { cudaStreamSynchronize(stream); });
    time_calls("device synchronize idle", false, CALLS, stream, [=] { cudaDeviceSynchronize(); });
    time_calls("event synchronize idle", false, CALLS, stream, [=] { cudaEventSynchronize(untimed); });
    time_calls("stream query idle", false, CALLS, stream, [=] { cudaStreamQuery(stream); });
    print_graph_calls(stream);
    print_copy_calls(stream);
    cudaEventDestroy(timed);
    cudaEventDestroy(untimed);
    free_streams(streams);
}

/* How many launches are accepted while nothing can run: the call after those blocks until the gate opens. */
void print_queue_depth(int stream_count)
{
    std::vector<cudaStream_t> streams = make_streams(stream_count);
    std::vector<double> accepted;
    for (int rep = 0; rep < 3; rep++) {
        Gate gate;
        for (cudaStream_t stream : streams)
            gate.close(stream);
        std::thread opener([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(150));
            gate.open();
        });
        int n = 0;
        for (double took = 0; n < MOST_QUEUED && took < 20000; n++) {
            double begin = now_us();
            launch_empty(streams[(size_t)(n % stream_count)]);
            took = now_us() - begin;
        }
        opener.join();
        stop_on(cudaDeviceSynchronize(), "queue");
        accepted.push_back(n - 1);
    }
    print_row("queue depth (commands)", with("streams", stream_count), 0, accepted);
    free_streams(streams);
}

/* ---- Latencies ---- */

struct Mail {
    volatile int asked, answered;
    volatile long long time_ns;
};

__global__ void answer(Mail *mail, int count)
{
    for (int i = 1; i <= count; i++) {
        while (mail->asked < i)
            ;
        long long ns;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
        mail->time_ns = ns;
        __threadfence_system();
        mail->answered = i;
    }
}

/* Host time minus %globaltimer, in us, from the quickest of many questions; *round_trip is how long that took. */
double clock_offset(Mail *mail, double *round_trip)
{
    mail->asked = mail->answered = 0;
    answer<<<1, 1>>>(mail, PINGS);
    double best = 1e9, offset = 0;
    for (int i = 1; i <= PINGS; i++) {
        double begin = now_us();
        mail->asked = i;
        while (mail->answered < i)
            ;
        double took = now_us() - begin;
        if (took < best) {
            best = took;
            offset = begin + took / 2 - (double)mail->time_ns / 1e3;
        }
    }
    stop_on(cudaDeviceSynchronize(), "clock offset");
    *round_trip = best;
    return offset;
}

__global__ void note(long long *times)
{
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(times[0]));
    long long end = clock64() + 20000;
    while (clock64() < end)
        ;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(times[1]));
}

void print_latency(const char *name, const std::function<void(cudaStream_t, long long *)> &submit,
                   const std::function<void(cudaStream_t)> &wait)
{
    Mail *mail;
    long long *times, found[2];
    stop_on(cudaMallocHost((void **)&mail, sizeof *mail), "memory");
    stop_on(cudaMalloc(&times, sizeof found), "memory");
    std::vector<cudaStream_t> streams = make_streams(1);
    std::vector<double> to_start, call, to_return, trips;
    for (int rep = 0; rep < REPETITIONS + 2; rep++) {
        double trip, offset = clock_offset(mail, &trip);
        double idle = now_us() + 200;
        while (now_us() < idle)
            ;
        double begin = now_us();
        submit(streams[0], times);
        double called = now_us();
        wait(streams[0]);
        double end = now_us();
        stop_on(cudaMemcpy(found, times, sizeof found, cudaMemcpyDeviceToHost), "times");
        if (rep < 2)
            continue;
        to_start.push_back((double)found[0] / 1e3 + offset - begin);
        to_return.push_back(end - (double)found[1] / 1e3 - offset);
        call.push_back(called - begin);
        trips.push_back(trip);
    }
    print_row("latency: call to first block", name, 0, to_start);
    print_row("latency: call", name, 0, call);
    print_row("latency: last block to return", name, 0, to_return);
    print_row("latency: question and answer", name, 0, trips);
    free_streams(streams);
    cudaFreeHost(mail);
    cudaFree(times);
}

void print_latencies()
{
    auto launch = [](cudaStream_t stream, long long *times) { note<<<1, 1, 0, stream>>>(times); };
    print_latency("launch and stream synchronize", launch, [](cudaStream_t s) { cudaStreamSynchronize(s); });
    print_latency("launch and device synchronize", launch, [](cudaStream_t) { cudaDeviceSynchronize(); });
    std::unique_ptr<Chain> chain;
    auto graph = [&](cudaStream_t stream, long long *times) {
        if (!chain)
            chain.reset(new Chain(1, [&](int, cudaStream_t s) { note<<<1, 1, 0, s>>>(times); }));
        chain->launch(stream);
    };
    print_latency("graph of one node and stream synchronize", graph, [](cudaStream_t s) { cudaStreamSynchronize(s); });
}

/* ---- Gaps ---- */

/* What a chain is submitted with. */
struct Lines {
    Stamps stamps;
    std::vector<cudaStream_t> streams;
    std::vector<cudaEvent_t> events; /* one per kernel */

    Lines(int grid, long long cycles) : stamps(CHAIN, grid, cycles), streams(make_streams(2)), events(CHAIN)
    {
        for (cudaEvent_t &event : events)
            stop_on(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
    }
    ~Lines()
    {
        for (cudaEvent_t event : events)
            cudaEventDestroy(event);
        free_streams(streams);
    }
};

typedef std::function<void(Lines &)> Submit;

struct Gaps {
    std::vector<double> gap, start, go;
};

/* From each kernel's last end to the next one's first start; the first two kernels are not counted. */
void add_gaps(const std::vector<Stamps::Span> &spans, Gaps *gaps)
{
    for (size_t i = 3; i < spans.size(); i++) {
        gaps->gap.push_back(spans[i].first_start - spans[i - 1].end);
        gaps->start.push_back(spans[i].first_start - spans[i - 1].last_start);
        gaps->go.push_back(spans[i].go - spans[i - 1].end);
    }
}

void print_gap(const std::string &name, int grid, double us, bool gated, const Submit &submit)
{
    Lines lines(grid, (long long)(us * device_attribute(cudaDevAttrClockRate) / 1e3));
    Gaps gaps;
    Gate gate;
    for (int rep = 0; rep < REPETITIONS + 1; rep++) {
        if (gated)
            gate.close(lines.streams[0]);
        submit(lines);
        gate.open();
        stop_on(cudaDeviceSynchronize(), name);
        if (rep > 0)
            add_gaps(lines.stamps.read(), &gaps);
    }
    std::string detail = name + "; blocks " + std::to_string(grid) + "; us " + std::to_string((int)us);
    print_row("gap: end to start", detail, 0, gaps.gap);
    if (name.find("pdl") == std::string::npos)
        return;
    print_row("gap: start to start", detail, 0, gaps.start);
    print_row("gap: end to dependency over", detail, 0, gaps.go);
}

Submit in_stream(Stamps::Mode mode)
{
    return [=](Lines &lines) {
        for (int i = 0; i < CHAIN; i++)
            lines.stamps.launch(i, lines.streams[0], mode);
    };
}

Submit in_graph(Stamps::Mode mode)
{
    return [=](Lines &lines) {
        Chain chain(CHAIN, [&](int i, cudaStream_t s) { lines.stamps.launch(i, s, i > 0 ? mode : Stamps::ORDINARY); });
        chain.launch(lines.streams[0]);
        stop_on(cudaStreamSynchronize(lines.streams[0]), "a graph");
    };
}

/* `hop`: each kernel in another stream than the one before, which it waits for. */
Submit with_events(bool hop)
{
    return [=](Lines &lines) {
        for (int i = 0; i < CHAIN; i++) {
            cudaStream_t stream = lines.streams[hop ? (size_t)(i % 2) : 0];
            if (hop && i > 0)
                stop_on(cudaStreamWaitEvent(stream, lines.events[(size_t)i - 1], 0), "an event");
            lines.stamps.launch(i, stream);
            stop_on(cudaEventRecord(lines.events[(size_t)i], stream), "an event");
        }
    };
}

void print_gaps()
{
    for (int grid : {1, 132, 1056})
        for (double us : {0.0, 2.0, 5.0, 20.0}) {
            print_gap("stream; queued", grid, us, true, in_stream(Stamps::ORDINARY));
            print_gap("stream", grid, us, false, in_stream(Stamps::ORDINARY));
            print_gap("event between; queued", grid, us, true, with_events(false));
            print_gap("event across streams; queued", grid, us, true, with_events(true));
            print_gap("graph", grid, us, false, in_graph(Stamps::ORDINARY));
            if (device_attribute(cudaDevAttrComputeCapabilityMajor) < 9)
                continue;
            print_gap("pdl at the end; queued", grid, us, true, in_stream(Stamps::IMPLICIT));
            print_gap("pdl at the start; queued", grid, us, true, in_stream(Stamps::EARLY));
            print_gap("graph pdl at the start", grid, us, false, in_graph(Stamps::EARLY));
        }
}

} // namespace

void print_host()
{
    print_table_header();
    print_calls();
    for (int streams : {1, 2, 8})
        print_queue_depth(streams);
    print_latencies();
    print_gaps();
}
