/* What the tables of host calls and copies share: times in microseconds, a gate, and kernels that note when they ran. */
#ifndef CAPTURE_MEASURE_H
#define CAPTURE_MEASURE_H

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

/* The header of all tables; a row is the median, and the 10th and 90th percentile, of `us`. */
void print_table_header();
void print_row(const std::string &what, const std::string &detail, long long bytes, std::vector<double> us);

inline double now_us()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Holds a stream back until it is opened, so that what is queued behind it starts as a whole. */
class Gate
{
  public:
    Gate();
    ~Gate();
    void close(cudaStream_t stream);
    void open();

  private:
    volatile int *flag_;
    int *on_device_;
    int closed_ = 0;
};

/* Kernels of `grid` blocks of 256 threads that last `cycles` each; their blocks note %globaltimer, in nanoseconds: when they
 * started, when what they depend on was over (programmatic dependent launch), when they ended. */
class Stamps
{
  public:
    enum Mode { ORDINARY, IMPLICIT, EARLY }; /* with a programmatic dependency: triggered at the end, or at the start */
    struct Span {
        double first_start, last_start, go, end; /* us */
    };

    Stamps(int kernels, int grid, long long cycles);
    ~Stamps();
    void launch(int kernel, cudaStream_t stream, Mode mode = ORDINARY);
    std::vector<Span> read() const; /* by kernel; the device must be idle */

  private:
    int kernels_, grid_;
    long long cycles_;
    long long *stamps_;
};

void launch_empty(cudaStream_t stream, Stamps::Mode mode = Stamps::ORDINARY);

/* Streams that do not wait for the default stream. */
std::vector<cudaStream_t> make_streams(int count);
void free_streams(std::vector<cudaStream_t> &streams);

#endif
