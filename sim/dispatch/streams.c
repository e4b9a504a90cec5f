#include "dispatch/streams.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"

void wt_streams_init(struct wt_streams *streams, size_t stream_count, size_t event_count, wt_time event_time,
                     wt_follow follow, void *follow_context)
{
    *streams = (struct wt_streams){.stream_count = stream_count, .event_count = event_count, .event_time = event_time,
                                   .follow = follow, .follow_context = follow_context};
    streams->streams = wt_alloc(stream_count, sizeof *streams->streams);
    streams->events = wt_alloc(event_count, sizeof *streams->events);
    for (size_t i = 0; i < stream_count; i++)
        streams->streams[i].last = WT_NO_COMMAND;
    for (size_t i = 0; i < event_count; i++)
        streams->events[i].record = WT_NO_COMMAND;
}

void wt_streams_free(struct wt_streams *streams)
{
    for (size_t i = 0; i < streams->event_count; i++)
        free(streams->events[i].early);
    free(streams->events);
    free(streams->streams);
    free(streams->commands);
    free(streams->edges);
    free(streams->ready);
}

static inline bool is_work(const struct wt_command *command)
{
    return command->kind == WT_COMMAND_KERNEL || command->kind == WT_COMMAND_COPY;
}

/* `before` is over. Records, waits and the ends of graphs pass on the work that made them ready; only work takes time to
 * follow work. */
static void satisfy(struct wt_streams *s, uint32_t before, uint32_t after, bool in_stream)
{
    const struct wt_command *from = &s->commands[before];
    struct wt_command *to = &s->commands[after];
    uint32_t cause = is_work(from) ? before : from->cause;
    wt_time when = from->end;
    if (from->kind == WT_COMMAND_RECORD && to->kind == WT_COMMAND_WAIT && from->stream != to->stream)
        when += s->event_time;
    if (is_work(to) && cause != WT_NO_COMMAND)
        when = s->follow(s->follow_context, s, &s->commands[cause], to, in_stream) + (from->end - s->commands[cause].end);
    if (when < to->ready || cause == WT_NO_COMMAND)
        to->ready = wt_later(to->ready, when);
    else {
        to->ready = when;
        to->cause = cause;
    }
}

/* `after` begins only when `before` is over; both exist. */
static void depend(struct wt_streams *s, uint32_t before, uint32_t after, bool in_stream)
{
    if (wt_streams_is_over(s, before)) {
        satisfy(s, before, after, in_stream);
        return;
    }
    s->edges = wt_grow(s->edges, &s->edge_capacity, s->edge_count + 1, sizeof *s->edges);
    s->edges[s->edge_count] = (struct wt_edge){after, s->commands[before].first_edge, in_stream};
    s->commands[before].first_edge = (uint32_t)s->edge_count++;
    s->commands[after].pending++;
}

/* A graph is one command of its stream, whatever is in it. */
static inline bool is_counted(const struct wt_command *command)
{
    return !command->node && command->kind != WT_COMMAND_GRAPH_BEGIN;
}

static uint32_t add(struct wt_streams *s, const struct wt_command *command)
{
    s->commands = wt_grow(s->commands, &s->capacity, s->count + 1, sizeof *s->commands);
    s->commands[s->count] = *command;
    s->commands[s->count].first_edge = s->commands[s->count].cause = WT_NO_COMMAND;
    s->commands[s->count].begun = s->commands[s->count].end = WT_NEVER;
    s->streams[command->stream].outstanding += is_counted(command);
    return (uint32_t)s->count++;
}

/* Nothing holds the command back any more. */
static void become_ready(struct wt_streams *s, uint32_t index)
{
    struct wt_command *command = &s->commands[index];
    if (is_work(command)) {
        s->ready = wt_grow(s->ready, &s->ready_capacity, s->ready_count + 1, sizeof *s->ready);
        s->ready[s->ready_count++] = index;
        return;
    }
    command->begun = command->ready;
    wt_streams_complete(s, index, command->ready);
}

static void release_if_free(struct wt_streams *s, uint32_t index)
{
    if (s->commands[index].pending == 0)
        become_ready(s, index);
}

void wt_streams_complete(struct wt_streams *s, uint32_t index, wt_time end)
{
    assert(s->commands[index].end == WT_NEVER && s->commands[index].pending == 0);
    s->commands[index].end = end;
    struct wt_stream_state *stream = &s->streams[s->commands[index].stream];
    stream->outstanding -= is_counted(&s->commands[index]);
    if (s->commands[index].kind == WT_COMMAND_KERNEL)
        stream->kernel_end = wt_later(stream->kernel_end, end);
    for (uint32_t e = s->commands[index].first_edge; e != WT_NO_COMMAND; e = s->edges[e].next) {
        uint32_t to = s->edges[e].to;
        satisfy(s, index, to, s->edges[e].in_stream);
        s->commands[to].pending--;
        release_if_free(s, to);
    }
}

/* ---- Submitting ---- */

static enum wt_command_kind kind_of(const struct wt_call *call)
{
    switch (call->kind) {
    case WT_CALL_LAUNCH: return WT_COMMAND_KERNEL;
    case WT_CALL_COPY: return WT_COMMAND_COPY;
    case WT_CALL_GRAPH: return WT_COMMAND_GRAPH_BEGIN;
    case WT_CALL_RECORD: return WT_COMMAND_RECORD;
    default: return WT_COMMAND_WAIT;
    }
}

static void follow_stream(struct wt_streams *s, uint32_t index)
{
    struct wt_stream_state *stream = &s->streams[s->commands[index].stream];
    if (stream->last != WT_NO_COMMAND)
        depend(s, stream->last, index, true);
    stream->last = index;
}

static void wait_for_event(struct wt_streams *s, uint32_t index, uint32_t event)
{
    struct wt_event_state *state = &s->events[event];
    if (state->record != WT_NO_COMMAND) {
        depend(s, state->record, index, false);
        return;
    }
    state->early = wt_grow(state->early, &state->early_capacity, state->early_count + 1, sizeof *state->early);
    state->early[state->early_count++] = index;
    s->commands[index].pending++;
}

static void record_event(struct wt_streams *s, uint32_t index, uint32_t event)
{
    struct wt_event_state *state = &s->events[event];
    state->record = index;
    for (size_t i = 0; i < state->early_count; i++) {
        depend(s, index, state->early[i], false);
        s->commands[state->early[i]].pending--;
        release_if_free(s, state->early[i]);
    }
    state->early_count = 0;
}

/* The nodes between the graph's begin, which is there, and its end, which is returned. */
static uint32_t add_graph(struct wt_streams *s, uint32_t begin)
{
    struct wt_command base = s->commands[begin];
    const struct wt_call *call = base.call;
    uint32_t first = (uint32_t)s->count;
    for (size_t i = 0; i < call->node_count; i++) {
        const struct wt_node *node = &call->nodes[i];
        struct wt_command command = {.kind = node->is_copy ? WT_COMMAND_COPY : WT_COMMAND_KERNEL, .call = call, .node = node,
                                     .thread = base.thread, .stream = base.stream, .kernel = call->kernel + node->kernel,
                                     .arrival = base.arrival, .ready = base.arrival};
        uint32_t index = add(s, &command);
        for (size_t k = 0; k < node->after_count; k++)
            depend(s, first + node->after[k], index, false);
        if (node->after_count == 0)
            depend(s, begin, index, false);
    }
    struct wt_command command = {.kind = WT_COMMAND_GRAPH_END, .call = call, .thread = base.thread, .stream = base.stream,
                                 .arrival = base.arrival};
    uint32_t end = add(s, &command);
    for (size_t i = 0; i < call->node_count; i++)
        depend(s, first + (uint32_t)i, end, false);
    s->streams[base.stream].last = end;
    return end;
}

uint32_t wt_streams_submit(struct wt_streams *s, uint32_t thread, const struct wt_call *call, wt_time arrival)
{
    struct wt_command command = {.kind = kind_of(call), .call = call, .thread = thread, .stream = call->stream,
                                 .kernel = call->kernel, .arrival = arrival, .ready = arrival};
    uint32_t index = add(s, &command), last = index;
    follow_stream(s, index);
    if (call->kind == WT_CALL_WAIT)
        wait_for_event(s, index, call->event);
    if (call->kind == WT_CALL_GRAPH)
        last = add_graph(s, index);
    release_if_free(s, index);
    if (call->kind == WT_CALL_RECORD) /* after the record itself may be over */
        record_event(s, index, call->event);
    return last;
}

bool wt_streams_take_ready(struct wt_streams *s, uint32_t *command)
{
    if (s->ready_count == 0)
        return false;
    *command = s->ready[0];
    for (size_t i = 1; i < s->ready_count; i++)
        s->ready[i - 1] = s->ready[i];
    s->ready_count--;
    return true;
}
