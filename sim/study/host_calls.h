/* The host's side of a workload file: `host`, `streams` and `graphs`; or, where it has none of these but kernels in several
 * streams, one thread that launches them in order. */
#ifndef WT_STUDY_HOST_CALLS_H
#define WT_STUDY_HOST_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/config.h"
#include "core/param.h"
#include "core/status.h"
#include "dispatch/program.h"

enum { WT_MOST_CALLS = 1000000, WT_MOST_STREAMS = 1024 };

struct wt_workload;

struct wt_workload_graph {
    char *name;
    struct wt_node *nodes; /* owned; `kernel` counts the graph's kernels */
    size_t node_count;
    uint32_t *kernels; /* of the workload, by that count */
    size_t kernel_count;
};

struct wt_workload_host {
    struct wt_host_program program; /* a call's `kernel`: LAUNCH: of the workload's kernels; GRAPH: of the graphs */
    struct wt_workload_graph *graphs;
    size_t graph_count;
    void **owned; /* everything that the program and the graphs point to */
    size_t owned_count, owned_capacity;
};

extern const char *const wt_triggers[]; /* choices for enum wt_programmatic */
extern const struct wt_param wt_stream_params[], wt_thread_params[], wt_call_params[], wt_graph_params[], wt_node_params[];

/* After the workload's kernels have been read. *out is NULL where the file needs no host. Fails with FILE:LINE. */
enum wt_code wt_host_calls_read(const struct wt_config *config, const struct wt_workload *workload,
                                struct wt_workload_host **out, struct wt_error *err);

/* NULL is allowed. */
void wt_host_calls_free(struct wt_workload_host *host);

#endif
