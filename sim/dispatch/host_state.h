/* Of dispatch/host.c and dispatch/stuck.c alone: what a running program is made of. */
#ifndef WT_DISPATCH_HOST_STATE_H
#define WT_DISPATCH_HOST_STATE_H

#include "dispatch/copies.h"
#include "dispatch/host.h"
#include "dispatch/streams.h"

enum wt_thread_phase {
    WT_THREAD_RUNS,
    WT_THREAD_QUEUES,        /* its stream is full */
    WT_THREAD_AWAITS,        /* commands */
    WT_THREAD_AWAITS_RECORD, /* an event that nobody has recorded yet */
    WT_THREAD_ENDED
};

struct wt_thread_state {
    enum wt_thread_phase phase;
    size_t next_call;    /* past the call being made, once that has been submitted */
    bool in_call;        /* waits for room in its stream */
    wt_time call_begun;
    wt_time cost_end;    /* the call's own work is done */
    uint32_t *awaited;   /* commands; owned */
    size_t awaited_count, awaited_capacity;
};

/* In the order in which they happen at equal times. */
enum wt_agenda_kind { WT_AGENDA_COMMAND, WT_AGENDA_THREAD };

struct wt_agenda_item {
    wt_time time;
    enum wt_agenda_kind kind;
    uint32_t which;
};

struct wt_host {
    const struct wt_host_program *program;
    const struct wt_gpu *gpu;
    const struct wt_kernel *kernels;
    const struct wt_host_observer *observer;
    double cycles_per_us;
    wt_time launch_latency;
    wt_time now;
    struct wt_thread_state *threads;
    struct wt_streams streams;
    struct wt_copies copies;
    struct wt_agenda_item *agenda; /* a heap */
    size_t agenda_count, agenda_capacity;
    uint32_t *command_of_kernel;
    size_t told; /* commands before it are over, and their records told */
};

static inline const struct wt_call *wt_thread_call(const struct wt_host *host, uint32_t thread)
{
    return &host->program->threads[thread].calls[host->threads[thread].next_call - 1];
}

/* WT_DEADLOCK with who waits for whom; WT_OK when everything is over. */
enum wt_code wt_host_explain_stuck(const struct wt_host *host, struct wt_error *err);

#endif
