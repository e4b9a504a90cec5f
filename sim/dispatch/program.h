/* What host threads do: the calls that submit kernels, copies and events to streams, and those that wait. Data alone;
 * dispatch/host.h runs it. Everything is owned by whoever made it and must outlive the run. */
#ifndef WT_DISPATCH_PROGRAM_H
#define WT_DISPATCH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wt_direction { WT_H2D, WT_D2H, WT_D2D, WT_DIRECTIONS };

struct wt_copy {
    enum wt_direction direction;
    bool pageable; /* host memory that is not pinned; the call returns when the copy is over. Not for WT_D2D. */
    uint64_t bytes; /* >= 1 */
};

/* Programmatic dependent launch after the kernel before it in the stream, and what triggers it. */
enum wt_programmatic { WT_PROGRAMMATIC_NO, WT_PROGRAMMATIC_END, WT_PROGRAMMATIC_START };

/* A kernel or copy of a graph. */
struct wt_node {
    const char *name;
    bool is_copy;
    struct wt_copy copy;    /* is_copy */
    uint32_t kernel;        /* otherwise: index in wt_simulation.kernels, counted from the call's `kernel` */
    const uint32_t *after;  /* nodes before this one in the graph that it depends on */
    size_t after_count;     /* 0: it begins with the graph */
};

enum wt_call_kind {
    WT_CALL_LAUNCH,
    WT_CALL_COPY,
    WT_CALL_GRAPH,
    WT_CALL_RECORD,      /* event, in a stream */
    WT_CALL_WAIT,        /* a stream waits for an event; never recorded so far: for its first record */
    WT_CALL_SYNC_STREAM, /* the thread waits until all that was submitted to the stream so far is over */
    WT_CALL_SYNC_DEVICE, /* the same for all streams */
    WT_CALL_SYNC_EVENT,  /* the thread waits for the event's last record; none so far: for its first */
    WT_CALL_PAUSE
};

/* Fields that a kind does not name are not used by it. */
struct wt_call {
    enum wt_call_kind kind;
    const char *name;
    uint32_t stream;              /* all but SYNC_DEVICE, SYNC_EVENT, PAUSE */
    uint32_t event;               /* RECORD, WAIT, SYNC_EVENT */
    uint32_t kernel;              /* LAUNCH: index in wt_simulation.kernels; GRAPH: of its first kernel */
    enum wt_programmatic programmatic; /* LAUNCH */
    struct wt_copy copy;          /* COPY */
    const struct wt_node *nodes;  /* GRAPH */
    size_t node_count;
    double pause_us;              /* PAUSE */
    long line;                    /* where the file has it, for messages */
};

struct wt_thread {
    const char *name;
    const struct wt_call *calls;
    size_t call_count;
};

struct wt_host_program {
    const char *path; /* for messages */
    const struct wt_thread *threads;
    size_t thread_count;
    const char *const *streams; /* names */
    const int *priorities;      /* of the streams, as in CUDA: the lower, the more urgent */
    size_t stream_count;
    const char *const *events;  /* names */
    size_t event_count;
};

#endif
