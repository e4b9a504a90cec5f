#include "dispatch/host.h"

#include <assert.h>
#include <stdlib.h>

#include "core/heap.h"
#include "core/mem.h"
#include "dispatch/copies.h"
#include "dispatch/host_state.h"
#include "dispatch/streams.h"

static wt_time from_us(const struct wt_host *h, double us)
{
    return wt_from_cycles(us * h->cycles_per_us);
}

/* ---- The agenda: a heap ---- */

static bool is_sooner(const void *left, const void *right)
{
    const struct wt_agenda_item *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time;
    return a->kind != b->kind ? a->kind < b->kind : a->which < b->which;
}

/* Not before what has happened already. */
static void plan(struct wt_host *h, wt_time time, enum wt_agenda_kind kind, uint32_t which)
{
    h->agenda = wt_grow(h->agenda, &h->agenda_capacity, h->agenda_count + 1, sizeof *h->agenda);
    struct wt_agenda_item item = {wt_later(time, h->now), kind, which};
    wt_heap_push(h->agenda, &h->agenda_count, sizeof item, &item, is_sooner);
}

static struct wt_agenda_item take_item(struct wt_host *h)
{
    struct wt_agenda_item first;
    wt_heap_pop(h->agenda, &h->agenda_count, sizeof first, &first, is_sooner);
    return first;
}

static wt_time agenda_next(const struct wt_host *h)
{
    return h->agenda_count ? h->agenda[0].time : WT_NEVER;
}

/* ---- From one thing to the next ---- */

static const struct wt_copy *copy_of(const struct wt_command *command)
{
    return command->node ? &command->node->copy : &command->call->copy;
}

/* A copy within the device is a kernel of the driver's. */
static bool acts_as_kernel(const struct wt_command *command)
{
    return command->kind == WT_COMMAND_KERNEL || copy_of(command)->direction == WT_D2D;
}

static bool changes_carveout(const struct wt_host *h, const struct wt_command *before, const struct wt_command *after)
{
    if (before->kind != WT_COMMAND_KERNEL || after->kind != WT_COMMAND_KERNEL)
        return false;
    return h->kernels[before->kernel].shape.carveout_kb != h->kernels[after->kernel].shape.carveout_kb;
}

static double kernel_gap_cycles(const struct wt_host *h, const struct wt_command *before, const struct wt_command *after,
                                bool in_stream)
{
    const struct wt_host_rates *rates = &h->gpu->host;
    double extra = changes_carveout(h, before, after) ? rates->carveout_us * h->cycles_per_us : 0;
    if (after->node && before->call == after->call)
        return extra + rates->graph_gap_us * h->cycles_per_us;
    bool follows = in_stream && before->kind == WT_COMMAND_KERNEL && after->kind == WT_COMMAND_KERNEL;
    if (follows && !after->node && after->call->programmatic == WT_PROGRAMMATIC_END)
        return extra + rates->programmatic_end_gap_us * h->cycles_per_us;
    if (follows && !after->node && after->call->programmatic == WT_PROGRAMMATIC_START)
        return extra + rates->programmatic_start_gap_us * h->cycles_per_us;
    return extra + h->gpu->rates.kernel_gap_cycles;
}

/* A stream's kernels look whether the copy is over at fixed times from when they began to wait. */
static wt_time after_looking(const struct wt_host *h, wt_time waits_since, wt_time over)
{
    const struct wt_copy_rates *rates = &h->gpu->copy;
    wt_time first = waits_since + from_us(h, rates->look_first_us), step = from_us(h, rates->look_us);
    wt_time needed = over + from_us(h, rates->before_kernel_us);
    return needed <= first ? first : first + (needed - first + step - 1) / step * step;
}

static wt_time follow_as_kernel(const struct wt_host *h, const struct wt_streams *streams, const struct wt_command *before,
                                const struct wt_command *after, bool in_stream)
{
    if (acts_as_kernel(before))
        return before->end + wt_from_cycles(kernel_gap_cycles(h, before, after, in_stream));
    return after_looking(h, wt_later(after->arrival, streams->streams[after->stream].kernel_end), before->end);
}

static wt_time follow_as_copy(const struct wt_host *h, const struct wt_command *before, const struct wt_command *after)
{
    const struct wt_copy_rates *rates = &h->gpu->copy;
    if (acts_as_kernel(before))
        return before->end + from_us(h, rates->after_kernel_us);
    if (copy_of(before)->direction == copy_of(after)->direction) /* the engine goes on with it */
        return before->end;
    return before->end + from_us(h, rates->after_copy_us);
}

/* As seen by the grid scheduler, for a kernel: from there on the engine counts. */
static wt_time follow(void *context, const struct wt_streams *streams, const struct wt_command *before,
                      const struct wt_command *after, bool in_stream)
{
    const struct wt_host *h = context;
    if (!acts_as_kernel(after))
        return follow_as_copy(h, before, after);
    wt_time start = follow_as_kernel(h, streams, before, after, in_stream);
    return after->kind == WT_COMMAND_KERNEL ? wt_later(start - before->end, h->launch_latency) - h->launch_latency + before->end
                                            : start;
}

/* ---- Commands ---- */

static const char *name_of(const struct wt_command *command)
{
    return command->node ? command->node->name : command->call->name;
}

static void tell(const struct wt_host *h, const struct wt_activity *activity)
{
    if (h->observer && h->observer->activity)
        h->observer->activity(h->observer->context, activity);
}

static void tell_command(const struct wt_host *h, uint32_t index, enum wt_activity_kind kind, int engine)
{
    const struct wt_command *command = &h->streams.commands[index];
    struct wt_activity activity = {.kind = kind, .thread = command->thread, .call = command->call, .node = command->node,
                                   .name = name_of(command), .engine = engine, .copy = engine < 0 ? NULL : copy_of(command),
                                   .kernel = command->kernel, .begin = command->begun, .end = command->end};
    tell(h, &activity);
}

static void submit_copy(struct wt_host *h, uint32_t index)
{
    const struct wt_command *command = &h->streams.commands[index];
    wt_copies_submit(&h->copies, index, command->stream, copy_of(command), h->now);
}

/* What has become ready goes on the agenda; a copy that can begin now, to its engine. */
static void plan_ready(struct wt_host *h)
{
    uint32_t index;
    while (wt_streams_take_ready(&h->streams, &index)) {
        const struct wt_command *command = &h->streams.commands[index];
        if (command->kind == WT_COMMAND_COPY && command->ready <= h->now)
            submit_copy(h, index);
        else
            plan(h, command->ready, WT_AGENDA_COMMAND, index);
    }
}

static void resume(struct wt_host *h, uint32_t thread, wt_time time)
{
    h->threads[thread].phase = WT_THREAD_RUNS;
    plan(h, time, WT_AGENDA_THREAD, thread);
}

/* Whether all that the thread waits for is over, and since when. */
static bool is_satisfied(const struct wt_host *h, const struct wt_thread_state *thread, wt_time *since)
{
    *since = 0;
    for (size_t i = 0; i < thread->awaited_count; i++) {
        if (!wt_streams_is_over(&h->streams, thread->awaited[i]))
            return false;
        *since = wt_later(*since, h->streams.commands[thread->awaited[i]].end);
    }
    return true;
}

static bool has_queue_room(const struct wt_host *h, uint32_t stream)
{
    return h->streams.streams[stream].outstanding < (uint32_t)h->gpu->host.queue_depth;
}

/* Ends the call that the thread is in, at `time`. */
static void return_from(struct wt_host *h, uint32_t index, wt_time time)
{
    struct wt_thread_state *thread = &h->threads[index];
    const struct wt_call *call = wt_thread_call(h, index);
    struct wt_activity activity = {.kind = WT_ACTIVITY_CALL, .thread = index, .call = call, .name = call->name, .engine = -1,
                                   .begin = thread->call_begun, .end = time, .waited = time - thread->cost_end};
    tell(h, &activity);
    thread->awaited_count = 0;
    resume(h, index, time);
}

/* Threads that can go on now that something is over, since `end`. */
static void wake_threads(struct wt_host *h, wt_time end)
{
    for (uint32_t i = 0; i < h->program->thread_count; i++) {
        const struct wt_thread_state *thread = &h->threads[i];
        wt_time since;
        if (thread->phase == WT_THREAD_AWAITS && is_satisfied(h, thread, &since))
            return_from(h, i, wt_later(thread->cost_end, since + from_us(h, h->gpu->host.return_us)));
        else if (thread->phase == WT_THREAD_QUEUES &&
                 has_queue_room(h, h->program->threads[i].calls[thread->next_call].stream))
            resume(h, i, end);
    }
}

static void tell_records(struct wt_host *h)
{
    for (; h->told < h->streams.count; h->told++) /* in the order of submission: later ones wait for their turn */
        if (!wt_streams_is_over(&h->streams, (uint32_t)h->told))
            break;
        else if (h->streams.commands[h->told].kind == WT_COMMAND_RECORD)
            tell_command(h, (uint32_t)h->told, WT_ACTIVITY_RECORD, -1);
}

static void complete(struct wt_host *h, uint32_t command, wt_time end)
{
    wt_streams_complete(&h->streams, command, end);
    plan_ready(h);
    wake_threads(h, end);
    tell_records(h);
}

/* ---- Calls ---- */

static double cost_us(const struct wt_host *h, const struct wt_call *call)
{
    const struct wt_host_rates *rates = &h->gpu->host;
    switch (call->kind) {
    case WT_CALL_LAUNCH: return rates->launch_call_us;
    case WT_CALL_COPY: return call->copy.direction == WT_D2D ? rates->launch_call_us : rates->copy_call_us;
    case WT_CALL_GRAPH: return rates->graph_call_us + rates->graph_node_call_us * (double)call->node_count;
    case WT_CALL_RECORD: return rates->record_call_us;
    case WT_CALL_WAIT: return rates->wait_call_us;
    case WT_CALL_PAUSE: return call->pause_us;
    default: return rates->synchronize_call_us;
    }
}

static bool submits(const struct wt_call *call)
{
    return call->kind <= WT_CALL_WAIT;
}

static void await(struct wt_thread_state *thread, uint32_t command)
{
    thread->awaited = wt_grow(thread->awaited, &thread->awaited_capacity, thread->awaited_count + 1, sizeof *thread->awaited);
    thread->awaited[thread->awaited_count++] = command;
    thread->phase = WT_THREAD_AWAITS;
}

static void await_stream(struct wt_host *h, struct wt_thread_state *thread, size_t stream)
{
    if (h->streams.streams[stream].last != WT_NO_COMMAND)
        await(thread, h->streams.streams[stream].last);
}

static void begin_waiting(struct wt_host *h, struct wt_thread_state *thread, const struct wt_call *call)
{
    switch (call->kind) {
    case WT_CALL_SYNC_STREAM:
        await_stream(h, thread, call->stream);
        break;
    case WT_CALL_SYNC_DEVICE:
        for (size_t i = 0; i < h->program->stream_count; i++)
            await_stream(h, thread, i);
        break;
    case WT_CALL_SYNC_EVENT:
        if (h->streams.events[call->event].record == WT_NO_COMMAND)
            thread->phase = WT_THREAD_AWAITS_RECORD;
        else
            await(thread, h->streams.events[call->event].record);
        break;
    default:
        break;
    }
}

/* Threads that wait for this event's first record now wait for it to be over. */
static void announce_record(struct wt_host *h, uint32_t event)
{
    for (uint32_t i = 0; i < h->program->thread_count; i++) {
        struct wt_thread_state *thread = &h->threads[i];
        if (thread->phase != WT_THREAD_AWAITS_RECORD)
            continue;
        if (wt_thread_call(h, i)->event == event)
            await(thread, h->streams.events[event].record);
    }
}

/* At the stream: a kernel's is when it would reach the grid scheduler. */
static wt_time arrival(const struct wt_host *h, const struct wt_thread_state *thread)
{
    return thread->cost_end + wt_later(from_us(h, h->gpu->host.submit_us), h->launch_latency) - h->launch_latency;
}

static void submit(struct wt_host *h, uint32_t index, const struct wt_call *call)
{
    struct wt_thread_state *thread = &h->threads[index];
    size_t before = h->streams.count;
    uint32_t last = wt_streams_submit(&h->streams, index, call, arrival(h, thread));
    for (size_t i = before; i < h->streams.count; i++)
        if (h->streams.commands[i].kind == WT_COMMAND_KERNEL)
            h->command_of_kernel[h->streams.commands[i].kernel] = (uint32_t)i;
    if (call->kind == WT_CALL_COPY && call->copy.pageable)
        await(thread, last);
    if (call->kind == WT_CALL_RECORD)
        announce_record(h, call->event);
    plan_ready(h);
}

static void make_call(struct wt_host *h, uint32_t index)
{
    struct wt_thread_state *thread = &h->threads[index];
    const struct wt_call *call = &h->program->threads[index].calls[thread->next_call];
    if (!thread->in_call)
        thread->call_begun = h->now;
    thread->in_call = submits(call) && !has_queue_room(h, call->stream);
    if (thread->in_call) {
        thread->phase = WT_THREAD_QUEUES;
        return;
    }
    thread->next_call++;
    thread->cost_end = h->now + from_us(h, cost_us(h, call));
    if (submits(call))
        submit(h, index, call);
    else
        begin_waiting(h, thread, call);
    if (thread->phase == WT_THREAD_RUNS)
        return_from(h, index, thread->cost_end);
    wake_threads(h, h->now);
    tell_records(h);
}

static void step_thread(struct wt_host *h, uint32_t index)
{
    struct wt_thread_state *thread = &h->threads[index];
    if (thread->next_call < h->program->threads[index].call_count)
        make_call(h, index);
    else
        thread->phase = WT_THREAD_ENDED;
}

/* ---- Going on ---- */

static uint32_t begin_command(struct wt_host *h, uint32_t index)
{
    struct wt_command *command = &h->streams.commands[index];
    command->begun = h->now;
    if (command->kind == WT_COMMAND_KERNEL)
        return command->kernel;
    submit_copy(h, index);
    return WT_NO_KERNEL;
}

static void end_copy(struct wt_host *h)
{
    struct wt_copy_done done = wt_copies_take(&h->copies);
    h->streams.commands[done.id].begun = done.begun;
    h->now = done.end;
    complete(h, done.id, done.end);
    tell_command(h, done.id, WT_ACTIVITY_COPY, done.engine);
}

static uint32_t take_from_agenda(struct wt_host *h)
{
    struct wt_agenda_item item = take_item(h);
    h->now = item.time;
    if (item.kind == WT_AGENDA_COMMAND)
        return begin_command(h, item.which);
    step_thread(h, item.which);
    return WT_NO_KERNEL;
}

/* The next thing happens. The kernel that reaches the grid scheduler by it, or WT_NO_KERNEL. */
static uint32_t go_on(struct wt_host *h)
{
    uint32_t kernel = WT_NO_KERNEL;
    if (wt_copies_next(&h->copies) <= agenda_next(h))
        end_copy(h);
    else
        kernel = take_from_agenda(h);
    wt_copies_go_on(&h->copies);
    return kernel;
}

/* ---- The front end ---- */

static wt_time next(void *context)
{
    const struct wt_host *h = context;
    wt_time copies = wt_copies_next(&h->copies), planned = agenda_next(h);
    return copies < planned ? copies : planned;
}

static uint32_t take(void *context)
{
    return go_on(context);
}

/* Told somewhat later than it was: what follows is planned for when it should be, or else for at once. */
static void done(void *context, uint32_t kernel, wt_time end)
{
    struct wt_host *h = context;
    complete(h, h->command_of_kernel[kernel], end);
    tell_command(h, h->command_of_kernel[kernel], WT_ACTIVITY_KERNEL, -1);
}

/* ---- The whole ---- */

enum wt_code wt_host_new(const struct wt_host_program *program, const struct wt_gpu *gpu, const struct wt_kernel *kernels,
                         size_t kernel_count, const struct wt_host_observer *observer, struct wt_host **out,
                         struct wt_error *err)
{
    *out = NULL;
    if (gpu->clock_mhz <= 0)
        return wt_fail_at(err, gpu->path, 0, "the host's times need the GPU's clock; add e.g. clock_mhz = 1500;");
    struct wt_host *h = wt_alloc(1, sizeof *h);
    h->program = program;
    h->gpu = gpu;
    h->kernels = kernels;
    h->observer = observer;
    h->cycles_per_us = gpu->clock_mhz;
    h->launch_latency = wt_from_cycles(gpu->rates.launch_latency_cycles);
    h->threads = wt_alloc(program->thread_count, sizeof *h->threads);
    h->command_of_kernel = wt_alloc(kernel_count, sizeof *h->command_of_kernel);
    wt_streams_init(&h->streams, program->stream_count, program->event_count,
                    from_us(h, gpu->host.event_us), follow, h);
    wt_copies_init(&h->copies, &gpu->copy, gpu->clock_mhz);
    for (uint32_t i = 0; i < program->thread_count; i++)
        plan(h, 0, WT_AGENDA_THREAD, i);
    *out = h;
    return WT_OK;
}

void wt_host_free(struct wt_host *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->program->thread_count; i++)
        free(h->threads[i].awaited);
    wt_streams_free(&h->streams);
    wt_copies_free(&h->copies);
    free(h->threads);
    free(h->command_of_kernel);
    free(h->agenda);
    free(h);
}

struct wt_front_end wt_host_front_end(struct wt_host *h)
{
    return (struct wt_front_end){.context = h, .next = next, .take = take, .done = done};
}

enum wt_code wt_host_finish(struct wt_host *h, struct wt_error *err)
{
    while (next(h) < WT_NEVER)
        go_on(h);
    return wt_host_explain_stuck(h, err);
}
