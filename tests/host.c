/* What do host threads, streams, events and copy engines do, and when? Rules of dispatch/host.h on a GPU made up so that only
 * that rule takes time, worked out by hand; random programs recounted; pipelines against the H200's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/random.h"
#include "scratch.h"
#include "simulated.h"
#include "study/host_calls.h"
#include "study/launches.h"
#include "suites.h"
#include "trace/trace.h"

/* One cycle is a microsecond, and nothing takes time but what `more` gives. */
static struct wt_gpu *gpu_with(const char *more)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    char *base = scratch_put("w.cfg", "base = \"four-sms\"; name = \"made up\"; clock_mhz = 1;\n"
                     "host = { source = \"assumed: a test\"; launch_call_us = 0; graph_call_us = 0; graph_node_call_us = 0;\n"
                     "record_call_us = 0; wait_call_us = 0; copy_call_us = 0; synchronize_call_us = 0; submit_us = 0;\n"
                     "return_us = 0; event_us = 0; graph_gap_us = 0; programmatic_end_gap_us = 0;\n"
                     "programmatic_start_gap_us = 0; carveout_us = 0; queue_depth = 1000; };\n"
                     "copy = { source = \"assumed: a test\"; engines = 2; h2d_gbs = 1; d2h_gbs = 1; d2d_gbs = 1;\n"
                     "pageable_h2d_gbs = 0.5; pageable_d2h_gbs = 0.5; h2d_both_ways = 1; d2h_both_ways = 1;\n"
                     "h2d_setup_us = 0; d2h_setup_us = 0; d2d_setup_us = 0; pageable_setup_us = 0;\n"
                     "after_kernel_us = 0; after_copy_us = 0; after_same_us = 0; switch_us = 0; before_kernel_us = 0;\n"
                     "look_first_us = 0; look_us = 0.001; };\n");
    char *text = wt_format("base = \"%s\"; %s", base, more);
    ck_assert_msg(wt_gpu_parse(text, strlen(text), "test.cfg", &gpu, &err) == WT_OK, "%s", err.text);
    free(text);
    free(base);
    return gpu;
}

static struct wt_workload *workload_of(const char *text)
{
    struct wt_workload *workload;
    struct wt_error err = {0};
    char *path = scratch_put("w.cfg", text);
    ck_assert_msg(wt_workload_read(path, &workload, &err) == WT_OK, "%s", err.text);
    free(path);
    return workload;
}

/* The host's side of a run; owned by the caller. */
static struct wt_host_timeline *run(const struct wt_gpu *gpu, const char *text)
{
    struct wt_workload *workload = workload_of(text);
    struct wt_launches *launches;
    struct wt_error err = {0};
    ck_assert_msg(wt_launches_new(workload, gpu, 1, false, &launches, &err) == WT_OK, "%s", err.text);
    struct wt_observer observer = wt_timeline_observer(launches->about);
    struct wt_simulation simulation = {.gpu = gpu, .kernels = launches->kernels, .kernel_count = launches->count, .seed = 1,
                                       .first_group = -1, .first_extra_sm = -1, .observers = &observer,
                                       .observer_count = 1};
    enum wt_code code = wt_launches_simulate(launches, &simulation, launches->about, &err);
    ck_assert_msg(code == WT_OK, "%s", err.text);
    struct wt_host_timeline *host = launches->about->host;
    launches->about->host = NULL;
    wt_launches_free(launches);
    wt_workload_free(workload);
    return host;
}

#define KERNEL "kernels = ({ name = \"k\"; grid = 1; block = 32; duration = { distribution = \"constant\"; cycles = 100; }; });\n"

/* Begins and ends, in us, of all spans of one kind, by time. */
static void check(const char *more, const char *calls, enum wt_activity_kind kind, const double *times, size_t count)
{
    struct wt_gpu *gpu = gpu_with(more);
    char *text = wt_format(KERNEL "host = ({ calls = (%s); });\n", calls);
    struct wt_host_timeline *host = run(gpu, text);
    size_t found = 0;
    for (size_t i = 0; i < host->span_count; i++) {
        const struct wt_host_span *span = &host->spans[i];
        if (span->kind != kind)
            continue;
        double begin = wt_to_cycles(span->begin), end = wt_to_cycles(span->end);
        ck_assert_msg(found + 2 <= count, "more than %zu spans: %g to %g", count / 2, begin, end);
        double worst = fmax(fabs(begin - times[found]), fabs(end - times[found + 1]));
        ck_assert_msg(worst < 0.01, "span %zu is %g to %g, not %g to %g", found / 2, begin, end, times[found], times[found + 1]);
        found += 2;
    }
    ck_assert_uint_eq(found, count);
    wt_host_timeline_free(host);
    wt_gpu_free(gpu);
    free(text);
}

#define CHECK(more, kind, calls, ...) \
    check(more, calls, WT_ACTIVITY_##kind, (double[]){__VA_ARGS__}, sizeof(double[]){__VA_ARGS__} / sizeof(double))

/* ---- Calls ---- */

START_TEST(calls_follow_each_other)
{
    CHECK("host = { launch_call_us = 3; copy_call_us = 2; record_call_us = 1; submit_us = 50; };", CALL,
          "{ launch = \"k\"; }, { copy = \"h2d\"; bytes = 1000; }, { record = \"e\"; }, { pause_us = 10; }", 0, 3, 3, 5, 5, 6, 6,
          16);
}
END_TEST

/* The kernel of 100 us begins 3 + 50 after its call; the wait for it ends 7 after its end. */
START_TEST(a_kernel_begins_when_it_has_been_submitted)
{
    static const char gpu[] = "host = { launch_call_us = 3; submit_us = 50; synchronize_call_us = 1; return_us = 7; };";
    static const char calls[] = "{ launch = \"k\"; }, { synchronize = \"device\"; }";
    CHECK(gpu, KERNEL, calls, 53, 153);
    CHECK(gpu, CALL, calls, 0, 3, 3, 160);
}
END_TEST

START_TEST(synchronising_with_nothing_costs_only_the_call)
{
    CHECK("host = { synchronize_call_us = 2; return_us = 7; };", CALL,
          "{ synchronize = \"device\"; }, { synchronize = \"stream\"; stream = 3; }", 0, 2, 2, 4);
}
END_TEST

/* Room for two: the third call waits until the first kernel is over, the fourth for the second. */
START_TEST(a_full_stream_makes_calls_wait)
{
    CHECK("host = { queue_depth = 2; launch_call_us = 1; };", CALL, "{ repeat = 4; calls = ({ launch = \"k\"; }); }", 0, 1, 1, 2,
          2, 102, 102, 202);
    CHECK("host = { queue_depth = 4; launch_call_us = 1; };", CALL, "{ repeat = 4; calls = ({ launch = \"k\"; }); }", 0, 1, 1, 2,
          2, 3, 3, 4);
}
END_TEST

START_TEST(copies_of_pageable_memory_hold_the_caller)
{
    static const char calls[] = "{ copy = \"h2d\"; bytes = 1000; memory = \"pageable\"; }, { copy = \"h2d\"; bytes = 1000; }";
    CHECK("copy = { pageable_setup_us = 0.5; }; host = { return_us = 0.25; copy_call_us = 0.125; };", CALL, calls, 0, 2.875,
          2.875, 3);
    CHECK("copy = { pageable_setup_us = 0.5; };", COPY, calls, 0, 2.5, 2.5, 3.5);
}
END_TEST

/* ---- From one thing to the next ---- */

START_TEST(gaps_within_a_stream)
{
    CHECK("rates = { kernel_gap_cycles = 5; };", KERNEL, "{ launch = \"k\"; }, { launch = \"k\"; }", 0, 100, 105, 205);
    CHECK("rates = { kernel_gap_cycles = 5; };", KERNEL, "{ launch = \"k\"; }, { record = \"e\"; }, { launch = \"k\"; }", 0, 100,
          105, 205);
    CHECK("rates = { kernel_gap_cycles = 5; }; host = { programmatic_end_gap_us = 2; };", KERNEL,
          "{ launch = \"k\"; }, { launch = \"k\"; programmatic = \"end\"; }, { launch = \"k\"; }", 0, 100, 102, 202, 207, 307);
    CHECK("rates = { kernel_gap_cycles = 5; }; host = { programmatic_start_gap_us = 1; };", KERNEL,
          "{ launch = \"k\"; }, { launch = \"k\"; programmatic = \"start\"; }", 0, 100, 101, 201);
}
END_TEST

/* Launched first, so that without the event it would run first. */
START_TEST(an_event_orders_two_streams)
{
    CHECK("rates = { kernel_gap_cycles = 5; }; host = { event_us = 2; };", KERNEL,
          "{ launch = \"k\"; stream = 1; }, { record = \"e\"; stream = 1; }, { wait = \"e\"; stream = 0; }, "
          "{ launch = \"k\"; stream = 0; }", 0, 100, 107, 207);
    CHECK("host = { record_call_us = 300; };", KERNEL,
          "{ wait = \"e\"; stream = 0; }, { launch = \"k\"; stream = 0; }, { pause_us = 40; }, { record = \"e\"; stream = 1; }",
          340, 440);
}
END_TEST

START_TEST(copies_and_kernels_of_one_stream_take_turns)
{
    static const char calls[] = "{ launch = \"k\"; }, { copy = \"h2d\"; bytes = 10000; }, { copy = \"d2h\"; bytes = 5000; }, "
                                "{ copy = \"d2h\"; bytes = 1000; }";
    CHECK("copy = { after_kernel_us = 3; after_copy_us = 4; after_same_us = 1; };", COPY, calls, 103, 113, 117, 122, 123, 124);
}
END_TEST

/* It waits from 0 on and can start at 6, 14, 22, …; the copy is over at 10, and known 2 later. */
START_TEST(a_kernel_looks_whether_its_copy_is_over)
{
    static const char calls[] = "{ copy = \"h2d\"; bytes = 10000; }, { launch = \"k\"; }";
    CHECK("copy = { look_first_us = 6; look_us = 8; before_kernel_us = 2; };", KERNEL, calls, 14, 114);
    CHECK("copy = { look_first_us = 6; look_us = 8; before_kernel_us = 4; };", KERNEL, calls, 14, 114);
    CHECK("copy = { look_first_us = 6; look_us = 8; before_kernel_us = 4.1; };", KERNEL, calls, 22, 122);
    CHECK("copy = { look_first_us = 16; look_us = 8; before_kernel_us = 2; };", KERNEL, calls, 16, 116);
}
END_TEST

/* The diamond 0 → 1, 2 → 3 within a stream. */
START_TEST(a_graph_keeps_its_order)
{
    struct wt_gpu *gpu = gpu_with("host = { graph_gap_us = 3; graph_call_us = 5; graph_node_call_us = 0.5; };");
    struct wt_host_timeline *host =
        run(gpu, KERNEL "graphs = ({ name = \"g\"; nodes = ({ launch = \"k\"; }, { copy = \"h2d\"; bytes = 20000; after = [0]; }, "
                        "{ copy = \"d2h\"; bytes = 30000; after = [0]; }, { launch = \"k\"; after = [1, 2]; }); });\n"
                        "host = ({ calls = ({ graph = \"g\"; }, { launch = \"k\"; }); });\n");
    double kernels[3], copies[2][2];
    size_t kernel = 0, copy = 0;
    for (size_t i = 0; i < host->span_count; i++)
        if (host->spans[i].kind == WT_ACTIVITY_KERNEL)
            kernels[kernel++] = wt_to_cycles(host->spans[i].begin);
        else if (host->spans[i].kind == WT_ACTIVITY_COPY) {
            copies[copy][0] = wt_to_cycles(host->spans[i].begin);
            copies[copy++][1] = wt_to_cycles(host->spans[i].end);
        }
    ck_assert_uint_eq(kernel, 3);
    ck_assert_uint_eq(copy, 2);
    ck_assert_double_eq_tol(kernels[0], 7, 0.01); /* 5 for the graph, 4 nodes of 0.5 */
    ck_assert_double_eq_tol(copies[0][0], 107, 0.01);
    ck_assert_double_eq_tol(copies[1][1], 137, 0.01);
    ck_assert_double_eq_tol(kernels[1], 137, 0.01);
    ck_assert_double_eq_tol(kernels[2], 237, 0.01);
    wt_host_timeline_free(host);
    wt_gpu_free(gpu);
}
END_TEST

/* ---- Copy engines ---- */

#define TWO_WAYS "{ copy = \"h2d\"; bytes = 10000; stream = 0; }, { copy = \"d2h\"; bytes = 10000; stream = 1; }"

START_TEST(two_engines_copy_both_ways_at_once)
{
    CHECK("", COPY, TWO_WAYS, 0, 10, 0, 10);
    CHECK("copy = { engines = 1; };", COPY, TWO_WAYS, 0, 10, 10, 20);
    CHECK("copy = { h2d_setup_us = 2; };", COPY, "{ copy = \"h2d\"; bytes = 10000; }, { copy = \"h2d\"; bytes = 10000; }", 0, 12,
          12, 24);
}
END_TEST

/* At 0.8 and 0.5 of their bandwidth: the first is over after 10/0.8 = 12.5, when the other has 3.75 left. */
START_TEST(copies_both_ways_share_the_bus)
{
    CHECK("copy = { h2d_both_ways = 0.8; d2h_both_ways = 0.5; };", COPY, TWO_WAYS, 0, 12.5, 0, 16.25);
    CHECK("copy = { h2d_both_ways = 0.8; d2h_both_ways = 0.5; };", COPY,
          TWO_WAYS ", { copy = \"d2d\"; bytes = 10000; stream = 2; }", 0, 10, 0, 12.5, 0, 16.25);
}
END_TEST

/* ---- Random programs, recounted ---- */

enum { PROGRAMS = 150, STREAMS = 3, EVENTS = 3, CALLS = 40 };

struct program_text {
    char *text;
    size_t size;
    FILE *stream;
    struct wt_random random;
    bool recorded[EVENTS];
    int kernels, copies, records;
};

static unsigned pick(struct program_text *p, unsigned below)
{
    return wt_random_below(&p->random, below);
}

static void add_random_call(struct program_text *p)
{
    static const char *const directions[] = {"h2d", "d2h", "d2d"};
    unsigned stream = pick(p, STREAMS), event = pick(p, EVENTS);
    switch (pick(p, 6)) {
    case 0:
    case 1:
        p->kernels++;
        fprintf(p->stream, "{ launch = \"k%u\"; stream = %u; },\n", pick(p, 2), stream);
        break;
    case 2:
        p->copies++;
        fprintf(p->stream, "{ copy = \"%s\"; bytes = %u; stream = %u; },\n", directions[pick(p, 3)], 1 + pick(p, 5000000), stream);
        break;
    case 3:
        p->records++;
        p->recorded[event] = true;
        fprintf(p->stream, "{ record = \"e%u\"; stream = %u; },\n", event, stream);
        break;
    case 4: /* never one that could wait for ever */
        if (p->recorded[event])
            fprintf(p->stream, "{ wait = \"e%u\"; stream = %u; },\n", event, stream);
        break;
    default:
        fprintf(p->stream, "{ pause_us = %u; },\n", pick(p, 30));
    }
}

static struct program_text random_program(uint64_t seed)
{
    struct program_text p = {.random = wt_random_stream(seed, "programs", 0)};
    p.stream = open_memstream(&p.text, &p.size);
    fputs("kernels = ({ name = \"k0\"; grid = 200; block = 128; duration = { distribution = \"constant\"; cycles = 5000; }; },\n"
          "{ name = \"k1\"; grid = 7; block = 64; duration = { distribution = \"uniform\"; low = 10; high = 90000; }; });\n"
          "host = ({ calls = (\n",
          p.stream);
    for (int i = 0; i < CALLS; i++)
        add_random_call(&p);
    fputs("{ synchronize = \"device\"; }); });\n", p.stream);
    fclose(p.stream);
    return p;
}

/* What one stream did, as its calls say: nothing overlaps, and all is in the order of the calls. */
static void check_stream(const struct wt_host_timeline *host, uint32_t stream)
{
    const struct wt_host_span *spans[3 * CALLS];
    size_t count = 0;
    for (size_t i = 0; i < host->span_count; i++)
        if (host->spans[i].stream == stream && host->spans[i].kind != WT_ACTIVITY_CALL)
            spans[count++] = &host->spans[i];
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            ck_assert(i == k || spans[i]->end <= spans[k]->begin || spans[k]->end <= spans[i]->begin);
}

static void check_engines(const struct wt_host_timeline *host)
{
    for (size_t i = 0; i < host->span_count; i++)
        for (size_t k = i + 1; k < host->span_count; k++) {
            const struct wt_host_span *a = &host->spans[i], *b = &host->spans[k];
            if (a->kind == WT_ACTIVITY_COPY && b->kind == WT_ACTIVITY_COPY && a->track == b->track)
                ck_assert_msg(a->end <= b->begin, "an engine does two copies at once");
        }
}

static int count_kind(const struct wt_host_timeline *host, enum wt_activity_kind kind)
{
    int count = 0;
    for (size_t i = 0; i < host->span_count; i++)
        count += host->spans[i].kind == kind;
    return count;
}

/* Everything happens once; nothing before its call; the last wait is for all. */
static void check_whole(const struct wt_host_timeline *host, const struct program_text *p)
{
    ck_assert_int_eq(count_kind(host, WT_ACTIVITY_KERNEL), p->kernels);
    ck_assert_int_eq(count_kind(host, WT_ACTIVITY_COPY), p->copies);
    ck_assert_int_eq(count_kind(host, WT_ACTIVITY_RECORD), p->records);
    wt_time returned = 0;
    for (size_t i = 0; i < host->span_count; i++)
        if (host->spans[i].kind == WT_ACTIVITY_CALL && host->spans[i].end > returned)
            returned = host->spans[i].end;
    ck_assert_uint_eq(returned, host->end);
}

START_TEST(random_programs_keep_the_rules)
{
    struct wt_gpu *gpu = gpu_named("h200");
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct program_text p = random_program(seed);
        struct wt_host_timeline *host = run(gpu, p.text);
        for (uint32_t s = 0; s < host->stream_count; s++)
            check_stream(host, s);
        check_engines(host);
        check_whole(host, &p);
        wt_host_timeline_free(host);
        free(p.text);
    }
    wt_gpu_free(gpu);
}
END_TEST

/* Waits stand for nothing in the timeline, so a kernel behind each shows when it was over: 60 random rings of streams, each
 * waiting for the one before. */
START_TEST(a_waiter_is_never_earlier_than_its_event)
{
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_random random = wt_random_stream(5, "rings", 0);
    for (int n = 0; n < 60; n++) {
        char *text = wt_format(
            "kernels = ({ name = \"k\"; grid = %u; block = 128; duration = { distribution = \"constant\"; cycles = %u; }; });\n"
            "host = ({ calls = ({ launch = \"k\"; stream = 0; }, { record = \"a\"; stream = 0; }, { pause_us = %u; },\n"
            "{ wait = \"a\"; stream = 1; }, { copy = \"d2h\"; bytes = %u; stream = 1; }, { record = \"b\"; stream = 1; },\n"
            "{ wait = \"b\"; stream = 2; }, { launch = \"k\"; stream = 2; }); });\n",
            1 + wt_random_below(&random, 3000), 1 + wt_random_below(&random, 50000), wt_random_below(&random, 60),
            1 + wt_random_below(&random, 9000000));
        struct wt_host_timeline *host = run(gpu, text);
        const struct wt_host_span *kernels[2] = {0}, *copy = NULL;
        for (size_t i = 0; i < host->span_count; i++)
            if (host->spans[i].kind == WT_ACTIVITY_KERNEL)
                kernels[kernels[0] != NULL] = &host->spans[i];
            else if (host->spans[i].kind == WT_ACTIVITY_COPY)
                copy = &host->spans[i];
        ck_assert(kernels[0] && kernels[1] && copy);
        ck_assert(kernels[0]->end <= copy->begin && copy->end <= kernels[1]->begin);
        wt_host_timeline_free(host);
        free(text);
    }
    wt_gpu_free(gpu);
}
END_TEST

/* ---- Against the H200 ---- */

struct measured_pipeline {
    bool pageable, breadth_first;
    int chunks, streams, kernel_us;
    long bytes;
    double us;
};

static bool read_pipeline(const char *line, struct measured_pipeline *p)
{
    char memory[16], order[16];
    int fields = sscanf(line, "pipeline,%15s %15[a-z]-first; chunks %d; streams %d; kernel us %d,%ld,%lf", memory, order,
                        &p->chunks, &p->streams, &p->kernel_us, &p->bytes, &p->us);
    p->pageable = !strcmp(memory, "pageable");
    p->breadth_first = !strcmp(order, "breadth");
    return fields == 7;
}

/* As gpu_ref/capture/copies.cu submits it; a block lasts its time and the reading of a few clocks. */
static char *pipeline_text(const struct measured_pipeline *p)
{
    const char *all = "0, 1, 2, 3, 4, 5, 6, 7", *memory = p->pageable ? "pageable" : "pinned";
    int length = 3 * p->streams - 2;
    char *next = p->breadth_first ? wt_format("); }, { repeat = %d; calls = (", p->chunks) : wt_strdup(", ");
    char *text = wt_format(
        "kernels = ({ name = \"work\"; grid = 132; block = 256; duration = { distribution = \"constant\"; cycles = %d; }; });\n"
        "host = ({ calls = ({ repeat = %d; calls = ({ copy = \"h2d\"; bytes = %ld; stream = [%.*s]; memory = \"%s\"; }%s"
        "{ launch = \"work\"; stream = [%.*s]; }%s{ copy = \"d2h\"; bytes = %ld; stream = [%.*s]; memory = \"%s\"; }); },\n"
        "{ synchronize = \"device\"; }); });\n",
        p->kernel_us * 1980 + 100, p->chunks, p->bytes / p->chunks, length, all, memory, next, length, all, next,
        p->bytes / p->chunks, length, all, memory);
    free(next);
    return text;
}

/* From the first call to the return of synchronising. What a copy waits for is looked at every 8 us, which stays undecided in
 * short chunks; pageable memory is as fast as the host's caches let it. */
static double bound_of(const struct measured_pipeline *p)
{
    if (p->pageable)
        return 0.05;
    return p->bytes / p->chunks < 1 << 20 ? 0.12 : 0.02;
}

START_TEST(pipelines_take_as_long_as_on_the_h200)
{
    struct wt_gpu *gpu = gpu_named("h200");
    FILE *file = fopen(WT_SOURCE_ROOT "/traces/h200/host/copies.csv", "r");
    ck_assert_ptr_nonnull(file);
    char line[512];
    int count = 0;
    while (fgets(line, sizeof line, file)) {
        struct measured_pipeline p;
        if (!read_pipeline(line, &p))
            continue;
        char *text = pipeline_text(&p);
        struct wt_host_timeline *host = run(gpu, text);
        double us = wt_to_cycles(host->end) / gpu->clock_mhz;
        ck_assert_msg(fabs(us / p.us - 1) < bound_of(&p), "%.80s: %.1f us simulated", line, us);
        count++;
        wt_host_timeline_free(host);
        free(text);
    }
    fclose(file);
    wt_gpu_free(gpu);
    ck_assert_int_eq(count, 28);
}
END_TEST

/* Each launch of the trace in its stream, with the durations it had. */
static char *text_of_trace(const struct wt_trace *trace)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    fputs("kernels = (\n", stream);
    for (size_t i = 0; i < trace->launch_count; i++)
        fprintf(stream, "%s{ stream = %d; priority = %d; duration = { distribution = \"trace\"; file = \"%s\"; launch = %ld; }; }\n",
                i ? "," : "", trace->launches[i].stream, trace->launches[i].priority, trace->path, trace->launches[i].number);
    fputs(");\n", stream);
    fclose(stream);
    return text;
}

static double first_start_us(const struct wt_trace *trace, size_t launch)
{
    const struct wt_trace_row *rows = wt_trace_rows_of(trace, launch);
    int64_t first = rows[0].time_start_ns;
    for (size_t i = 1; i < trace->launches[launch].row_count; i++)
        first = rows[i].time_start_ns < first ? rows[i].time_start_ns : first;
    return (double)first / 1e3;
}

static double kernel_begin_us(const struct wt_host_timeline *host, const struct wt_gpu *gpu, uint32_t launch)
{
    for (size_t i = 0; i < host->span_count; i++)
        if (host->spans[i].kind == WT_ACTIVITY_KERNEL && host->spans[i].launch == launch)
            return wt_to_cycles(host->spans[i].begin) / gpu->clock_mhz;
    ck_abort_msg("launch %u never ran", launch);
}

/* When each launch's first block starts, counted from the first one's: launches back to back (gap_0), in several streams
 * (three_A, small_A), one after another (seq_A), with another shared-memory configuration each (carve_0). */
START_TEST(launches_begin_when_they_do_on_the_h200)
{
    static const char *const names[] = {"mechanisms/gap_0.r0", "mechanisms/three_A.r0", "small_A.r0", "seq_A.r0",
                                        "mechanisms/carve_0.r0"};
    const char *name = names[_i];
    struct wt_gpu *gpu = gpu_named("h200");
    struct wt_trace *trace;
    struct wt_error err = {0};
    char *path = wt_format("%s/traces/h200/%s.csv.zst", WT_SOURCE_ROOT, name);
    ck_assert_msg(wt_trace_read(path, &trace, &err) == WT_OK, "%s", err.text);
    char *text = text_of_trace(trace);
    if (strstr(text, "stream = 1") == NULL) { /* one stream alone would need no host */
        char *calls = wt_format("%.*s, { stream = 1; grid = 1; block = 32; duration = { distribution = \"constant\"; cycles = 1; }; });\n",
                                (int)(strlen(text) - 3), text);
        free(text);
        text = calls;
    }
    struct wt_host_timeline *host = run(gpu, text);
    for (uint32_t i = 1; i < trace->launch_count; i++) {
        double measured = first_start_us(trace, i) - first_start_us(trace, 0);
        double simulated = kernel_begin_us(host, gpu, i) - kernel_begin_us(host, gpu, 0);
        ck_assert_msg(fabs(simulated - measured) < fmax(1, 0.1 * measured), "%s: launch %u begins after %.2f us, on the H200 "
                      "after %.2f", name, i, simulated, measured);
    }
    wt_host_timeline_free(host);
    wt_trace_free(trace);
    wt_gpu_free(gpu);
    free(text);
    free(path);
}
END_TEST

Suite *host_suite(void)
{
    Suite *suite = suite_create("host");
    TCase *rules = tcase_create("rules");
    tcase_add_unchecked_fixture(rules, scratch_enter, scratch_leave);
    tcase_add_test(rules, calls_follow_each_other);
    tcase_add_test(rules, a_kernel_begins_when_it_has_been_submitted);
    tcase_add_test(rules, synchronising_with_nothing_costs_only_the_call);
    tcase_add_test(rules, a_full_stream_makes_calls_wait);
    tcase_add_test(rules, copies_of_pageable_memory_hold_the_caller);
    tcase_add_test(rules, gaps_within_a_stream);
    tcase_add_test(rules, an_event_orders_two_streams);
    tcase_add_test(rules, copies_and_kernels_of_one_stream_take_turns);
    tcase_add_test(rules, a_kernel_looks_whether_its_copy_is_over);
    tcase_add_test(rules, a_graph_keeps_its_order);
    tcase_add_test(rules, two_engines_copy_both_ways_at_once);
    tcase_add_test(rules, copies_both_ways_share_the_bus);
    tcase_add_test(rules, random_programs_keep_the_rules);
    tcase_add_test(rules, a_waiter_is_never_earlier_than_its_event);
    tcase_add_loop_test(rules, launches_begin_when_they_do_on_the_h200, 0, 5);
    tcase_add_test(rules, pipelines_take_as_long_as_on_the_h200);
    suite_add_tcase(suite, rules);
    return suite;
}
