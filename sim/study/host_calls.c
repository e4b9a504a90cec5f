#include "study/host_calls.h"

#include <assert.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "study/workload.h"

/* ---- The keys ---- */

enum { DEEPEST = 8 };

struct stream_values {
    char *name;
    int priority;
};

struct thread_values {
    char *name;
};

/* Of a call and of a graph's node alike. */
struct call_values {
    char *launch, *graph, *record, *wait, *event;
    struct wt_ints streams, after;
    int copy, memory, synchronize, programmatic, repeat;
    int64_t bytes;
    double pause_us;
};

struct graph_values {
    char *name;
};

static const char *const directions[] = {"h2d", "d2h", "d2d", NULL};
static const char *const memories[] = {"pinned", "pageable", NULL};
static const char *const synchronizations[] = {"device", "stream", "event", NULL};
const char *const wt_triggers[] = {"no", "end", "start", NULL};

#define CALL(field) offsetof(struct call_values, field)

const struct wt_param wt_stream_params[] = {
    {"name", WT_PARAM_STRING, offsetof(struct stream_values, name), .help = "shown in pictures; default: its number"},
    {"priority", WT_PARAM_INT, offsetof(struct stream_values, priority), .low = -5, .high = 0,
     .help = "of its kernels: the lower, the more urgent"},
    {0}};

const struct wt_param wt_call_params[] = {
    {"launch", WT_PARAM_STRING, CALL(launch), .help = "launches the kernel of this name"},
    {"programmatic", WT_PARAM_CHOICE, CALL(programmatic), .choices = wt_triggers,
     .help = "programmatic dependent launch after the kernel before it in the stream: what triggers it, that kernel's end "
             "or, by griddepcontrol.launch_dependents, its start"},
    {"copy", WT_PARAM_CHOICE, CALL(copy), .choices = directions,
     .help = "copies: host to device, device to host, within the device"},
    {"bytes", WT_PARAM_INT64, CALL(bytes), .unit = "bytes", .low = 1, .high = 1e15, .help = "size of the copy"},
    {"memory", WT_PARAM_CHOICE, CALL(memory), .choices = memories, .help = "the host's memory that is copied"},
    {"graph", WT_PARAM_STRING, CALL(graph), .help = "launches the graph of this name"},
    {"record", WT_PARAM_STRING, CALL(record), .help = "records this event in the stream"},
    {"wait", WT_PARAM_STRING, CALL(wait),
     .help = "the stream waits for this event's last record; for its first, where there is none yet"},
    {"synchronize", WT_PARAM_CHOICE, CALL(synchronize), .choices = synchronizations,
     .help = "the thread waits for the device, the stream or the event"},
    {"event", WT_PARAM_STRING, CALL(event), .help = "of synchronize = \"event\""},
    {"pause_us", WT_PARAM_NUMBER, CALL(pause_us), .unit = "us", .low = 0, .high = 1e9,
     .help = "the thread does something else for so long"},
    {"repeat", WT_PARAM_INT, CALL(repeat), .low = 1, .high = WT_MOST_CALLS, .help = "makes `calls` so often"},
    {"calls", WT_PARAM_GROUPS, .help = "of repeat: calls as here"},
    {"stream", WT_PARAM_INTS, CALL(streams), .low = 0, .high = WT_MOST_STREAMS - 1,
     .help = "number of the stream, default 0; of several, each repetition takes the next"},
    {0}};

const struct wt_param wt_thread_params[] = {
    {"name", WT_PARAM_STRING, offsetof(struct thread_values, name), .help = "shown in pictures; default host0, host1, …"},
    {"calls", WT_PARAM_GROUPS, .groups = wt_call_params, .required = true, .help = "what the thread does, in order"},
    {0}};

const struct wt_param wt_node_params[] = {
    {"launch", WT_PARAM_STRING, CALL(launch), .help = "launches the kernel of this name"},
    {"copy", WT_PARAM_CHOICE, CALL(copy), .choices = directions, .help = "copies"},
    {"bytes", WT_PARAM_INT64, CALL(bytes), .unit = "bytes", .low = 1, .high = 1e15, .help = "size of the copy"},
    {"after", WT_PARAM_INTS, CALL(after), .low = 0, .high = WT_MOST_CALLS,
     .help = "the nodes it waits for, by position from 0; default: the one before it; []: none"},
    {0}};

const struct wt_param wt_graph_params[] = {
    {"name", WT_PARAM_STRING, offsetof(struct graph_values, name), .required = true, .help = "for calls to name"},
    {"nodes", WT_PARAM_GROUPS, .groups = wt_node_params, .required = true, .help = "kernels and copies"},
    {0}};

/* ---- Reading ---- */

struct reader {
    const struct wt_config *config;
    const struct wt_workload *workload;
    struct wt_workload_host *host;
    struct wt_error *err;
    const char **events; /* names */
    long *waited_line;   /* by event: where something first waits for it; 0: nothing does */
    bool *recorded;      /* by event */
    size_t event_count, event_capacity, line_capacity, recorded_capacity;
    size_t stream_limit; /* 0: any */
    size_t stream_count;
    struct wt_call *calls; /* of the thread being read */
    size_t call_count, call_capacity;
};

/* A call as it stands in the file. */
struct place {
    const config_setting_t *group;
    struct wt_record record;
    struct call_values values;
};

static void *own(struct wt_workload_host *host, void *what)
{
    host->owned = wt_grow(host->owned, &host->owned_capacity, host->owned_count + 1, sizeof *host->owned);
    return host->owned[host->owned_count++] = what;
}

static enum wt_code fail(const struct reader *r, const config_setting_t *at, const char *what)
{
    return wt_config_fail(r->config, at, r->err, "%s", what);
}

static bool given(const struct place *place, const char *key)
{
    const struct wt_origin *origin = wt_record_origin(&place->record, key);
    return origin && origin->given;
}

static enum wt_code find_kernel(const struct reader *r, const config_setting_t *at, const char *name, uint32_t *out)
{
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < r->workload->kernel_count; i++) {
        if (!strcmp(r->workload->kernels[i].name, name)) {
            *out = (uint32_t)i;
            return WT_OK;
        }
        if (count < sizeof names / sizeof *names)
            names[count++] = r->workload->kernels[i].name;
    }
    const char *nearest = wt_nearest(name, names, count);
    return wt_config_fail(r->config, at, r->err, "no kernel is named '%s'; %s%s%s", name,
                          nearest ? "did you mean '" : "give it that name in 'kernels'", nearest ? nearest : "",
                          nearest ? "'?" : "");
}

static enum wt_code find_graph(const struct reader *r, const config_setting_t *at, const char *name, uint32_t *out)
{
    for (size_t i = 0; i < r->host->graph_count; i++)
        if (!strcmp(r->host->graphs[i].name, name)) {
            *out = (uint32_t)i;
            return WT_OK;
        }
    return wt_config_fail(r->config, at, r->err, "no graph is named '%s'; describe it in 'graphs'", name);
}

static uint32_t find_event(struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->event_count; i++)
        if (!strcmp(r->events[i], name))
            return (uint32_t)i;
    size_t count = r->event_count + 1;
    r->events = wt_grow(r->events, &r->event_capacity, count, sizeof *r->events);
    r->waited_line = wt_grow(r->waited_line, &r->line_capacity, count, sizeof *r->waited_line);
    r->recorded = wt_grow(r->recorded, &r->recorded_capacity, count, sizeof *r->recorded);
    r->events[r->event_count] = own(r->host, wt_strdup(name));
    r->waited_line[r->event_count] = 0;
    r->recorded[r->event_count] = false;
    return (uint32_t)r->event_count++;
}

static uint32_t wait_for_event(struct reader *r, const char *name, long line)
{
    uint32_t event = find_event(r, name);
    if (r->waited_line[event] == 0)
        r->waited_line[event] = line;
    return event;
}

static enum wt_code check_stream(struct reader *r, const struct place *place, uint32_t stream)
{
    if (r->stream_limit > 0 && stream >= r->stream_limit)
        return wt_record_fail(&place->record, "stream", wt_config_path(r->config), r->err,
                              "stream %u is not among the %zu of 'streams'; add it there, or use 0 to %zu", stream,
                              r->stream_limit, r->stream_limit - 1);
    if (stream >= r->stream_count)
        r->stream_count = stream + 1;
    return WT_OK;
}

/* ---- One call ---- */

static enum wt_code take_copy(const struct reader *r, const struct place *place, struct wt_copy *out)
{
    const struct call_values *v = &place->values;
    if (!given(place, "bytes"))
        return fail(r, place->group, "'bytes' is missing; say how much is copied, e.g. bytes = 1048576;");
    *out = (struct wt_copy){(enum wt_direction)v->copy, v->memory == 1, (uint64_t)v->bytes};
    if (out->pageable && out->direction == WT_D2D)
        return fail(r, place->group, "a copy within the device touches no host memory; remove 'memory'");
    return WT_OK;
}

static const char *copy_name(struct wt_workload_host *host, const struct wt_copy *copy)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)copy->bytes;
    int unit = 0;
    for (; size >= 1024 && unit < 4; unit++)
        size /= 1024;
    return own(host, wt_format("%s %.4g %s", directions[copy->direction], size, units[unit]));
}

static enum wt_code take_launch(struct reader *r, const struct place *place, struct wt_call *call)
{
    call->kind = WT_CALL_LAUNCH;
    call->programmatic = (enum wt_programmatic)place->values.programmatic;
    WT_TRY(find_kernel(r, place->group, place->values.launch, &call->kernel));
    call->name = r->workload->kernels[call->kernel].name;
    return WT_OK;
}

static enum wt_code take_copy_call(struct reader *r, const struct place *place, struct wt_call *call)
{
    call->kind = WT_CALL_COPY;
    WT_TRY(take_copy(r, place, &call->copy));
    call->name = copy_name(r->host, &call->copy);
    return WT_OK;
}

static enum wt_code take_graph(struct reader *r, const struct place *place, struct wt_call *call)
{
    call->kind = WT_CALL_GRAPH;
    WT_TRY(find_graph(r, place->group, place->values.graph, &call->kernel));
    call->name = r->host->graphs[call->kernel].name;
    return WT_OK;
}

static enum wt_code take_record(struct reader *r, const struct place *place, struct wt_call *call)
{
    call->kind = WT_CALL_RECORD;
    call->event = find_event(r, place->values.record);
    call->name = own(r->host, wt_format("record of event '%s'", place->values.record));
    r->recorded[call->event] = true;
    return WT_OK;
}

static enum wt_code take_wait(struct reader *r, const struct place *place, struct wt_call *call)
{
    call->kind = WT_CALL_WAIT;
    call->event = wait_for_event(r, place->values.wait, call->line);
    call->name = own(r->host, wt_format("wait for event '%s'", place->values.wait));
    return WT_OK;
}

static enum wt_code take_synchronize(struct reader *r, const struct place *place, struct wt_call *call)
{
    static const enum wt_call_kind kinds[] = {WT_CALL_SYNC_DEVICE, WT_CALL_SYNC_STREAM, WT_CALL_SYNC_EVENT};
    const struct call_values *v = &place->values;
    call->kind = kinds[v->synchronize];
    call->name = call->kind == WT_CALL_SYNC_DEVICE
                     ? "synchronize device"
                     : (const char *)own(r->host, wt_format("synchronize stream %u", call->stream));
    if (call->kind != WT_CALL_SYNC_EVENT)
        return WT_OK;
    if (!v->event)
        return fail(r, place->group, "'event' is missing; say which event to wait for, e.g. event = \"done\";");
    call->event = wait_for_event(r, v->event, call->line);
    call->name = own(r->host, wt_format("synchronize event '%s'", v->event));
    return WT_OK;
}

static enum wt_code take_pause(struct reader *r, const struct place *place, struct wt_call *call)
{
    (void)r;
    call->kind = WT_CALL_PAUSE;
    call->pause_us = place->values.pause_us;
    call->name = "pause";
    return WT_OK;
}

/* The one key that says what a call does. */
struct deed {
    const char *key;
    enum wt_code (*take)(struct reader *r, const struct place *place, struct wt_call *call); /* NULL: repeat */
};

static const struct deed deeds[] = {{"launch", take_launch}, {"copy", take_copy_call}, {"graph", take_graph},
                                    {"record", take_record}, {"wait", take_wait}, {"synchronize", take_synchronize},
                                    {"pause_us", take_pause}, {"repeat", NULL}, {0}};

static enum wt_code find_deed(const struct reader *r, const struct place *place, const struct deed **out)
{
    *out = NULL;
    for (const struct deed *deed = deeds; deed->key; deed++) {
        if (!given(place, deed->key))
            continue;
        if (*out)
            return wt_config_fail(r->config, place->group, r->err, "one call does one thing, not both '%s' and '%s'; "
                                  "make it two", (*out)->key, deed->key);
        *out = deed;
    }
    return *out ? WT_OK : fail(r, place->group, "a call needs one of launch, copy, graph, record, wait, synchronize, "
                                                "pause_us, repeat");
}

static enum wt_code read_calls(struct reader *r, const config_setting_t *group, int iteration, int depth);

static enum wt_code add_call(struct reader *r, const struct place *place, const struct deed *deed, int iteration)
{
    const struct wt_ints *streams = &place->values.streams;
    struct wt_call call = {.line = wt_config_line(place->group)};
    if (streams->count > 0)
        call.stream = (uint32_t)streams->values[iteration % streams->count];
    WT_TRY(check_stream(r, place, call.stream));
    WT_TRY(deed->take(r, place, &call));
    if (r->call_count == WT_MOST_CALLS)
        return wt_config_fail(r->config, place->group, r->err, "more than %d calls; repeat less", WT_MOST_CALLS);
    r->calls = wt_grow(r->calls, &r->call_capacity, r->call_count + 1, sizeof *r->calls);
    r->calls[r->call_count++] = call;
    return WT_OK;
}

static enum wt_code take_place(struct reader *r, const struct place *place, int iteration, int depth)
{
    const struct deed *deed;
    WT_TRY(find_deed(r, place, &deed));
    if (deed->take)
        return add_call(r, place, deed, iteration);
    if (wt_config_count(place->group, "calls") == 0)
        return fail(r, place->group, "'calls' is missing; say what to repeat");
    for (int i = 0; i < place->values.repeat; i++)
        WT_TRY(read_calls(r, place->group, i, depth + 1));
    return WT_OK;
}

static enum wt_code read_place(const struct reader *r, const struct wt_param *params, struct place *place)
{
    place->record = wt_record_begin(params, &place->values);
    return wt_record_read(&place->record, r->config, place->group, r->err);
}

static void free_place(const struct wt_param *params, struct place *place)
{
    wt_record_free(&place->record);
    wt_params_free(params, &place->values);
}

/* The calls of `group`, in the given repetition of it. */
static enum wt_code read_calls(struct reader *r, const config_setting_t *group, int iteration, int depth)
{
    enum wt_code code = depth < DEEPEST ? WT_OK : fail(r, group, "repetitions within repetitions too deep; unfold some");
    for (size_t i = 0; code == WT_OK && i < wt_config_count(group, "calls"); i++) {
        struct place place = {.group = wt_config_element(group, "calls", i)};
        code = read_place(r, wt_call_params, &place);
        if (code == WT_OK)
            code = take_place(r, &place, iteration, depth);
        free_place(wt_call_params, &place);
    }
    return code;
}

/* ---- Graphs ---- */

static enum wt_code take_after(const struct reader *r, const struct place *place, struct wt_node *node, size_t index)
{
    const struct wt_ints *after = &place->values.after;
    bool chained = !given(place, "after");
    node->after_count = chained ? index > 0 : (size_t)after->count;
    uint32_t *list = own(r->host, wt_alloc(node->after_count, sizeof *list));
    for (size_t i = 0; i < node->after_count; i++) {
        list[i] = chained ? (uint32_t)index - 1 : (uint32_t)after->values[i];
        if (list[i] >= index)
            return wt_record_fail(&place->record, "after", wt_config_path(r->config), r->err,
                                  "node %zu can only come after nodes before it, not after %u; order them", index, list[i]);
    }
    node->after = list;
    return WT_OK;
}

static enum wt_code take_node(struct reader *r, const struct place *place, struct wt_workload_graph *graph, size_t index)
{
    struct wt_node *node = &graph->nodes[index];
    if (given(place, "launch") == given(place, "copy"))
        return fail(r, place->group, "a node is either a launch or a copy; give one of the two");
    WT_TRY(take_after(r, place, node, index));
    node->is_copy = given(place, "copy");
    if (node->is_copy) {
        WT_TRY(take_copy(r, place, &node->copy));
        node->name = copy_name(r->host, &node->copy);
        return WT_OK;
    }
    node->kernel = (uint32_t)graph->kernel_count;
    WT_TRY(find_kernel(r, place->group, place->values.launch, &graph->kernels[graph->kernel_count++]));
    node->name = r->workload->kernels[graph->kernels[node->kernel]].name;
    return WT_OK;
}

static enum wt_code read_nodes(struct reader *r, const config_setting_t *group, struct wt_workload_graph *graph)
{
    graph->node_count = wt_config_count(group, "nodes");
    if (graph->node_count == 0)
        return fail(r, group, "'nodes' is empty; describe at least one");
    graph->nodes = own(r->host, wt_alloc(graph->node_count, sizeof *graph->nodes));
    graph->kernels = own(r->host, wt_alloc(graph->node_count, sizeof *graph->kernels));
    enum wt_code code = WT_OK;
    for (size_t i = 0; code == WT_OK && i < graph->node_count; i++) {
        struct place place = {.group = wt_config_element(group, "nodes", i)};
        code = read_place(r, wt_node_params, &place);
        if (code == WT_OK)
            code = take_node(r, &place, graph, i);
        free_place(wt_node_params, &place);
    }
    return code;
}

static enum wt_code read_graphs(struct reader *r)
{
    const config_setting_t *root = wt_config_root(r->config);
    size_t count = wt_config_count(root, "graphs");
    r->host->graphs = own(r->host, wt_alloc(count, sizeof *r->host->graphs));
    for (size_t i = 0; i < count; i++) {
        const config_setting_t *group = wt_config_element(root, "graphs", i);
        struct graph_values values;
        WT_TRY(wt_params_read(wt_graph_params, r->config, group, &values, r->err));
        r->host->graphs[i].name = own(r->host, values.name);
        WT_TRY(read_nodes(r, group, &r->host->graphs[i]));
        r->host->graph_count++;
    }
    return WT_OK;
}

/* ---- Threads ---- */

/* Moves the calls read to `thread`. */
static void finish_thread(struct reader *r, struct wt_thread *thread, char *name)
{
    thread->name = own(r->host, name);
    thread->calls = own(r->host, r->calls);
    thread->call_count = r->call_count;
    r->calls = NULL;
    r->call_count = r->call_capacity = 0;
}

static enum wt_code read_thread(struct reader *r, size_t index, struct wt_thread *thread)
{
    const config_setting_t *group = wt_config_element(wt_config_root(r->config), "host", index);
    struct thread_values values;
    WT_TRY(wt_params_read(wt_thread_params, r->config, group, &values, r->err));
    char *name = values.name ? values.name : wt_format("host%zu", index);
    enum wt_code code = read_calls(r, group, 0, 0);
    finish_thread(r, thread, name);
    return code;
}

static enum wt_code read_threads(struct reader *r)
{
    size_t count = wt_config_count(wt_config_root(r->config), "host");
    struct wt_thread *threads = own(r->host, wt_alloc(count, sizeof *threads));
    r->host->program.threads = threads;
    r->host->program.thread_count = count;
    for (size_t i = 0; i < count; i++)
        WT_TRY(read_thread(r, i, &threads[i]));
    return WT_OK;
}

static enum wt_code refuse_kernel_orders(const struct reader *r)
{
    for (size_t i = 0; i < r->workload->kernel_count; i++) {
        const struct wt_workload_kernel *k = &r->workload->kernels[i];
        if (k->repeat != 1 || k->stream != 0 || k->priority != 0 || k->programmatic != WT_PROGRAMMATIC_NO || k->after_count > 0)
            return wt_fail_at(r->err, r->workload->path, k->line,
                              "kernel '%s': with 'host', its calls say how often and where it is launched; remove 'repeat', "
                              "'stream', 'priority', 'programmatic' and 'after' here", k->name);
    }
    return WT_OK;
}

/* ---- Kernels that say themselves where they run ---- */

static void add_simple(struct reader *r, struct wt_call call)
{
    r->calls = wt_grow(r->calls, &r->call_capacity, r->call_count + 1, sizeof *r->calls);
    r->calls[r->call_count++] = call;
}

static uint32_t event_of_kernel(struct reader *r, uint32_t kernel)
{
    char *name = wt_format("%s (kernel %u) is over", r->workload->kernels[kernel].name, kernel);
    uint32_t event = find_event(r, name);
    free(name);
    return event;
}

static bool is_awaited(const struct wt_workload *workload, size_t kernel)
{
    for (size_t i = kernel + 1; i < workload->kernel_count; i++)
        for (int k = 0; k < workload->kernels[i].after_count; k++)
            if ((size_t)workload->kernels[i].after[k] == kernel)
                return true;
    return false;
}

static void launch_in_order(struct reader *r, uint32_t index)
{
    const struct wt_workload_kernel *kernel = &r->workload->kernels[index];
    struct wt_call call = {.stream = (uint32_t)kernel->stream, .line = kernel->line, .kernel = index, .name = kernel->name};
    if (call.stream >= r->stream_count)
        r->stream_count = call.stream + 1;
    for (int i = 0; i < kernel->after_count; i++) {
        uint32_t event = event_of_kernel(r, (uint32_t)kernel->after[i]);
        add_simple(r, (struct wt_call){.kind = WT_CALL_WAIT, .stream = call.stream, .line = call.line, .event = event,
                                       .name = "wait for a kernel"});
    }
    call.kind = WT_CALL_LAUNCH;
    call.programmatic = kernel->programmatic;
    for (int i = 0; i < kernel->repeat; i++)
        add_simple(r, call);
    if (is_awaited(r->workload, index))
        add_simple(r, (struct wt_call){.kind = WT_CALL_RECORD, .stream = call.stream, .line = call.line,
                                       .event = event_of_kernel(r, index), .name = "record of a kernel's end"});
}

static enum wt_code check_priorities(const struct reader *r)
{
    const struct wt_workload_kernel *kernels = r->workload->kernels;
    for (size_t i = 0; i < r->workload->kernel_count; i++)
        for (size_t k = 0; k < i; k++)
            if (kernels[i].stream == kernels[k].stream && kernels[i].priority != kernels[k].priority)
                return wt_fail_at(r->err, r->workload->path, kernels[i].line,
                                  "stream %d already has priority %d; use another stream", kernels[k].stream,
                                  kernels[k].priority);
    return WT_OK;
}

static void launch_all_in_order(struct reader *r)
{
    struct wt_thread *thread = own(r->host, wt_alloc(1, sizeof *thread));
    for (size_t i = 0; i < r->workload->kernel_count; i++)
        launch_in_order(r, (uint32_t)i);
    finish_thread(r, thread, wt_strdup("host"));
    r->host->program.threads = thread;
    r->host->program.thread_count = 1;
}

/* ---- The whole ---- */

static enum wt_code name_streams(struct reader *r)
{
    const char **names = own(r->host, wt_alloc(r->stream_count, sizeof *names));
    int *priorities = own(r->host, wt_alloc(r->stream_count, sizeof *priorities));
    for (size_t i = 0; i < r->stream_count; i++) {
        struct stream_values values = {0};
        const config_setting_t *group = wt_config_element(wt_config_root(r->config), "streams", i);
        if (group)
            WT_TRY(wt_params_read(wt_stream_params, r->config, group, &values, r->err));
        priorities[i] = values.priority;
        for (size_t k = 0; k < r->workload->kernel_count && !group; k++)
            if ((size_t)r->workload->kernels[k].stream == i)
                priorities[i] = r->workload->kernels[k].priority;
        names[i] = own(r->host, values.name ? values.name : wt_format("%zu", i));
    }
    r->host->program.streams = names;
    r->host->program.priorities = priorities;
    r->host->program.stream_count = r->stream_count;
    return WT_OK;
}

static enum wt_code check_events(const struct reader *r)
{
    for (size_t i = 0; i < r->event_count; i++)
        if (r->waited_line[i] > 0 && !r->recorded[i])
            return wt_fail_at(r->err, r->workload->path, r->waited_line[i],
                              "event '%s' is waited for but never recorded; record it in a stream, or remove the wait",
                              r->events[i]);
    return WT_OK;
}

static enum wt_code read_host(struct reader *r)
{
    r->stream_limit = wt_config_count(wt_config_root(r->config), "streams");
    r->stream_count = r->stream_limit;
    if (wt_config_count(wt_config_root(r->config), "host") == 0) {
        WT_TRY(check_priorities(r));
        launch_all_in_order(r);
    } else {
        WT_TRY(refuse_kernel_orders(r));
        WT_TRY(read_graphs(r));
        WT_TRY(read_threads(r));
        WT_TRY(check_events(r));
    }
    WT_TRY(name_streams(r));
    const char **events = own(r->host, r->events);
    r->events = NULL;
    r->host->program.events = events;
    r->host->program.event_count = r->event_count;
    r->host->program.path = r->workload->path;
    return WT_OK;
}

static bool needs_host(const struct wt_config *config, const struct wt_workload *workload)
{
    bool needs = wt_config_count(wt_config_root(config), "host") > 0;
    for (size_t i = 0; i < workload->kernel_count; i++) {
        const struct wt_workload_kernel *kernel = &workload->kernels[i];
        needs |= kernel->stream != 0 || kernel->programmatic != WT_PROGRAMMATIC_NO || kernel->after_count > 0;
    }
    return needs;
}

enum wt_code wt_host_calls_read(const struct wt_config *config, const struct wt_workload *workload,
                                struct wt_workload_host **out, struct wt_error *err)
{
    *out = NULL;
    if (!needs_host(config, workload))
        return WT_OK;
    struct wt_workload_host *host = wt_alloc(1, sizeof *host);
    struct reader r = {.config = config, .workload = workload, .host = host, .err = err};
    enum wt_code code = read_host(&r);
    free(r.events);
    free(r.waited_line);
    free(r.recorded);
    free(r.calls);
    if (code == WT_OK)
        *out = host;
    else
        wt_host_calls_free(host);
    return code;
}

void wt_host_calls_free(struct wt_workload_host *host)
{
    if (!host)
        return;
    for (size_t i = 0; i < host->owned_count; i++)
        free(host->owned[i]);
    free(host->owned);
    free(host);
}
