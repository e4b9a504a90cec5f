/* Why a program cannot go on: from one thing that is not over to what it waits for, until the chain closes. */
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "dispatch/host_state.h"

/* A thread in its call, or a command. */
struct waiter {
    bool is_thread;
    uint32_t index;
};

enum { LONGEST_SHOWN = 6 };

static struct waiter thread(uint32_t index)
{
    return (struct waiter){true, index};
}

static struct waiter command(uint32_t index)
{
    return (struct waiter){false, index};
}

static const struct wt_call *call_of(const struct wt_host *h, struct waiter w)
{
    if (!w.is_thread)
        return h->streams.commands[w.index].call;
    bool queues = h->threads[w.index].phase == WT_THREAD_QUEUES;
    return &h->program->threads[w.index].calls[h->threads[w.index].next_call - (queues ? 0 : 1)];
}

/* The thread that has yet to record the event. */
static struct waiter recorder(const struct wt_host *h, uint32_t event, struct waiter otherwise)
{
    for (uint32_t i = 0; i < h->program->thread_count; i++) {
        const struct wt_thread *of = &h->program->threads[i];
        for (size_t c = h->threads[i].next_call; c < of->call_count; c++)
            if (of->calls[c].kind == WT_CALL_RECORD && of->calls[c].event == event)
                return thread(i);
    }
    return otherwise;
}

static bool holds_back(const struct wt_host *h, uint32_t before, uint32_t after)
{
    for (uint32_t e = h->streams.commands[before].first_edge; e != WT_NO_COMMAND; e = h->streams.edges[e].next)
        if (h->streams.edges[e].to == after)
            return true;
    return false;
}

/* An event's wait waits for the event rather than for its turn in the stream, where both hold it back. */
static struct waiter blocker_of_command(const struct wt_host *h, uint32_t index)
{
    const struct wt_command *waiting = &h->streams.commands[index];
    if (waiting->kind == WT_COMMAND_WAIT) {
        uint32_t record = h->streams.events[waiting->call->event].record;
        if (record == WT_NO_COMMAND)
            return recorder(h, waiting->call->event, command(index));
        if (!wt_streams_is_over(&h->streams, record) && holds_back(h, record, index))
            return command(record);
    }
    for (uint32_t i = 0; i < h->streams.count; i++)
        if (!wt_streams_is_over(&h->streams, i) && holds_back(h, i, index))
            return command(i);
    return command(index);
}

static struct waiter blocker_of_thread(const struct wt_host *h, uint32_t index)
{
    const struct wt_thread_state *state = &h->threads[index];
    const struct wt_call *call = call_of(h, thread(index));
    if (state->phase == WT_THREAD_AWAITS_RECORD)
        return recorder(h, call->event, thread(index));
    for (size_t i = 0; i < state->awaited_count; i++)
        if (!wt_streams_is_over(&h->streams, state->awaited[i]))
            return command(state->awaited[i]);
    for (uint32_t i = 0; i < h->streams.count; i++)
        if (!wt_streams_is_over(&h->streams, i) && h->streams.commands[i].stream == call->stream)
            return command(i);
    return thread(index);
}

static struct waiter blocker(const struct wt_host *h, struct waiter w)
{
    return w.is_thread ? blocker_of_thread(h, w.index) : blocker_of_command(h, w.index);
}

static const char *article(const struct wt_call *call)
{
    switch (call->kind) {
    case WT_CALL_LAUNCH: return "kernel ";
    case WT_CALL_GRAPH: return "graph ";
    case WT_CALL_COPY: return "copy ";
    default: return "the ";
    }
}

/* Owned by the caller. */
static char *describe(const struct wt_host *h, struct waiter w)
{
    const struct wt_call *call = call_of(h, w);
    if (w.is_thread)
        return wt_format("host thread '%s' in %s (line %ld)", h->program->threads[w.index].name, call->name, call->line);
    return wt_format("%s%s in stream %s (line %ld)", article(call), call->name, h->program->streams[call->stream], call->line);
}

static bool is_same(struct waiter a, struct waiter b)
{
    return a.is_thread == b.is_thread && a.index == b.index;
}

static bool find_stuck(const struct wt_host *h, struct waiter *out)
{
    for (uint32_t i = 0; i < h->streams.count; i++)
        if (!wt_streams_is_over(&h->streams, i)) {
            *out = command(i);
            return true;
        }
    for (uint32_t i = 0; i < h->program->thread_count; i++)
        if (h->threads[i].phase != WT_THREAD_ENDED) {
            *out = thread(i);
            return true;
        }
    return false;
}

/* As many steps as there are waiters lead into the circle. */
static struct waiter enter_circle(const struct wt_host *h, struct waiter w)
{
    size_t waiters = h->program->thread_count;
    for (uint32_t i = 0; i < h->streams.count; i++)
        waiters += !wt_streams_is_over(&h->streams, i);
    for (size_t i = 0; i < waiters; i++)
        w = blocker(h, w);
    return w;
}

enum wt_code wt_host_explain_stuck(const struct wt_host *h, struct wt_error *err)
{
    struct waiter w;
    if (!find_stuck(h, &w))
        return WT_OK;
    struct waiter first = enter_circle(h, w);
    char *chain = describe(h, first);
    long line = call_of(h, first)->line;
    w = blocker(h, first);
    for (int shown = 1; !is_same(w, first); w = blocker(h, w), shown++) {
        char *next = shown < LONGEST_SHOWN ? describe(h, w) : NULL, *longer;
        if (!next)
            break;
        longer = wt_format("%s waits for %s, which", chain, next);
        free(next);
        free(chain);
        chain = longer;
    }
    bool closed = is_same(w, first);
    enum wt_code code = wt_fail(err, WT_DEADLOCK, "%s:%ld: deadlock: %s waits for %s; record each event before what waits for it",
                                h->program->path, line, chain, closed ? "the first" : "more");
    free(chain);
    return code;
}
