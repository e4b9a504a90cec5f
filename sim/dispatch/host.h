/* Host threads, streams and copy engines: what reaches the GPU, and when.
 *
 * A thread makes its calls one after another; each costs it time (gpu->host). What a call submits reaches its stream
 * host.submit_us after the call's own time and goes on once all it depends on is over (dispatch/streams.h). Kernels go to the
 * grid scheduler, copies to their engine (dispatch/copies.h). A thread whose stream
 * holds host.queue_depth commands waits for one of them to end. A call that waits returns host.return_us after what it
 * waits for; so does a copy of pageable memory.
 *
 * From the end of one command to the first block or the copy engine of the next:
 *   kernel, then kernel: rates.kernel_gap_cycles, or gpu->host's value where the launch is programmatic or within a graph;
 *   host.carveout_us more where the two have different shared-memory configurations;
 *   otherwise what the one takes to be known to be over and the other to begin, and for events on the way, the
 *   time to record and to wait.
 *
 * The program runs on the engine's axis: 0 is the first call. It drives wt_simulate through the front end. */
#ifndef WT_DISPATCH_HOST_H
#define WT_DISPATCH_HOST_H

#include "core/status.h"
#include "dispatch/program.h"
#include "dispatch/simulate.h"
#include "gpu/gpu.h"

enum wt_activity_kind {
    WT_ACTIVITY_CALL,   /* of a thread: from its begin to its return */
    WT_ACTIVITY_COPY,   /* on a copy engine */
    WT_ACTIVITY_RECORD, /* an event: begin = end */
    WT_ACTIVITY_KERNEL  /* in its stream: from reaching the grid scheduler to its last block's end */
};

struct wt_activity {
    enum wt_activity_kind kind;
    uint32_t thread;            /* that made the call */
    const struct wt_call *call;
    const struct wt_node *node; /* of a graph; NULL: the call's own */
    const char *name;
    int engine;                 /* COPY; else -1 */
    const struct wt_copy *copy; /* COPY; else NULL */
    uint32_t kernel;            /* KERNEL */
    wt_time begin, end;
    wt_time waited;             /* CALL: of it, time spent waiting */
};

struct wt_host_observer {
    void *context;
    void (*activity)(void *context, const struct wt_activity *activity); /* in the order in which they end, by and large */
};

struct wt_host; /* opaque */

/* All must outlive it. Fails (WT_BAD_INPUT) where the GPU's clock is not known. Owned by the caller. */
enum wt_code wt_host_new(const struct wt_host_program *program, const struct wt_gpu *gpu, const struct wt_kernel *kernels,
                         size_t kernel_count, const struct wt_host_observer *observer, struct wt_host **out, struct wt_error *err);
/* NULL is allowed. */
void wt_host_free(struct wt_host *host);

struct wt_front_end wt_host_front_end(struct wt_host *host);

/* After wt_simulate: carries out what does not depend on kernels any more. Fails (WT_DEADLOCK), naming who waits for whom, when
 * something can never happen. */
enum wt_code wt_host_finish(struct wt_host *host, struct wt_error *err);

#endif
