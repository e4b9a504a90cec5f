/* Commands in streams, and what waits for what. A command is submitted once; it becomes ready when all it depends on is over
 * and the gaps after each have passed; whoever runs it says when it is over.
 *
 * Each depends on the command before it in its stream. A wait depends also on the event's last record, or, where it has
 * none yet, on its first. */
#ifndef WT_DISPATCH_STREAMS_H
#define WT_DISPATCH_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"
#include "dispatch/program.h"

#define WT_NO_COMMAND UINT32_MAX

enum wt_command_kind {
    WT_COMMAND_KERNEL,
    WT_COMMAND_COPY,
    WT_COMMAND_RECORD,
    WT_COMMAND_WAIT,
    WT_COMMAND_GRAPH_BEGIN, /* the graph's nodes lie between these two */
    WT_COMMAND_GRAPH_END
};

struct wt_command {
    enum wt_command_kind kind;
    const struct wt_call *call; /* that submitted it */
    const struct wt_node *node; /* of a graph; else NULL */
    uint32_t thread;
    uint32_t stream;
    uint32_t kernel;   /* KERNEL */
    uint32_t pending;  /* dependencies that are not over */
    wt_time arrival;   /* at its stream */
    wt_time ready;     /* not before; final once nothing is pending */
    uint32_t cause;    /* the kernel or copy that made it ready so late; WT_NO_COMMAND: its arrival did */
    wt_time begun, end; /* WT_NEVER: not yet */
    uint32_t first_edge; /* commands that wait for this one */
};

struct wt_edge {
    uint32_t to, next;
    bool in_stream; /* because it comes next in the stream */
};

struct wt_event_state {
    uint32_t record;       /* the last; WT_NO_COMMAND: none so far */
    uint32_t *early;       /* waits from before the first record */
    size_t early_count, early_capacity;
};

struct wt_stream_state {
    uint32_t last;        /* submitted; WT_NO_COMMAND: none */
    uint32_t outstanding; /* commands that are not over */
    wt_time kernel_end;   /* of the last that is over */
};

struct wt_streams;

/* When `after` can begin as far as `before` is concerned, a kernel or copy that is over; `in_stream`: nothing lies between them
 * in their stream. */
typedef wt_time (*wt_follow)(void *context, const struct wt_streams *streams, const struct wt_command *before,
                             const struct wt_command *after, bool in_stream);

struct wt_streams {
    struct wt_command *commands;
    size_t count, capacity;
    struct wt_edge *edges;
    size_t edge_count, edge_capacity;
    struct wt_stream_state *streams;
    size_t stream_count;
    struct wt_event_state *events;
    size_t event_count;
    uint32_t *ready; /* commands that became ready since they were last taken */
    size_t ready_count, ready_capacity;
    wt_follow follow;
    void *follow_context;
    wt_time event_time; /* what an event adds */
};

void wt_streams_init(struct wt_streams *streams, size_t stream_count, size_t event_count, wt_time event_time,
                     wt_follow follow, void *follow_context);
void wt_streams_free(struct wt_streams *streams);

/* Appends the call's command to its stream; it cannot begin before `arrival`. Returns the command that is over when all the
 * call submitted is: for a graph, its end. */
uint32_t wt_streams_submit(struct wt_streams *streams, uint32_t thread, const struct wt_call *call, wt_time arrival);

/* The command is over. A wait that nothing but this held back is over, too, and so on. */
void wt_streams_complete(struct wt_streams *streams, uint32_t command, wt_time end);

/* Commands that can begin at their `ready`, in the order in which they became so; false: no more for now. Waits and graph
 * begins and ends complete by themselves and are not among them. */
bool wt_streams_take_ready(struct wt_streams *streams, uint32_t *command);

static inline bool wt_streams_is_over(const struct wt_streams *streams, uint32_t command)
{
    return streams->commands[command].end != WT_NEVER;
}

#endif
