#include "sm_replay.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "sm/sm.h"

enum {
    RELEASE_CYCLES =
        200, /* a block whose room is taken ended at least so long before the taker's first instruction */
    ANSWER_CYCLES = 2500,   /* a block that starts so soon after an end took the room it left */
    QUIET_CYCLES = 5000,    /* no start or end for so long: whatever could start has started */
    SUBMITTED_NS = 20000,   /* after the first kernel's first block: the host has launched the second */
    STRETCHED_CYCLES = 2000 /* a block that lasts so much longer than its work was starved: its other warps
                               may end later than thread 0, whose clock a trace holds */
};

struct stay {
    const struct wt_trace_row *row;
    int64_t admitted_by; /* clock */
    int slot;            /* -1: not resident */
};

struct launch {
    struct wt_shape shape;
    int64_t ready_ns, last_start_ns;
};

struct context {
    struct sm_replay *replay;
    const struct wt_trace *trace;
    struct launch *launches;
    struct wt_sm *sm;
    struct stay *stays; /* one SM's, in admission order */
    size_t count;
    int64_t since; /* clock of the SM's last start or end */
    bool unsure;   /* a block that ended since the last start may hold its room longer than known */
};

static void note(struct sm_replay *replay, long *counter, const struct wt_trace_row *row, const char *what)
{
    if (!replay->first_problem[0])
        snprintf(replay->first_problem, sizeof replay->first_problem,
                 "launch %u block %" PRIu64 " on SM %d: %s", row->launch, row->block, row->sm, what);
    ++*counter;
}

static int by_sm_and_block(const void *a, const void *b)
{
    const struct wt_trace_row *x = ((const struct stay *)a)->row, *y = ((const struct stay *)b)->row;
    if (x->sm != y->sm)
        return x->sm - y->sm;
    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static int by_sm_and_admission(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;
    if (x->row->sm == y->row->sm && x->admitted_by != y->admitted_by)
        return x->admitted_by < y->admitted_by ? -1 : 1;
    return by_sm_and_block(a, b);
}

/* Blocks of a kernel come to an SM in index order; their first instructions may run in another order, so a
 * block was admitted before the first of its successors there ran. */
static struct stay *admission_order(const struct wt_trace *trace)
{
    struct stay *stays = wt_alloc(trace->row_count, sizeof *stays);
    for (size_t i = 0; i < trace->row_count; i++)
        stays[i] = (struct stay){&trace->rows[i], trace->rows[i].clock_start, -1};
    qsort(stays, trace->row_count, sizeof *stays, by_sm_and_block);
    for (size_t i = trace->row_count - 1; i-- > 0;) {
        const struct stay *next = &stays[i + 1];
        if (next->row->sm == stays[i].row->sm && next->row->launch == stays[i].row->launch &&
            next->admitted_by < stays[i].admitted_by)
            stays[i].admitted_by = next->admitted_by;
    }
    qsort(stays, trace->row_count, sizeof *stays, by_sm_and_admission);
    return stays;
}

static struct wt_shape shape_of(const struct wt_trace_launch *launch, const struct wt_limits *limits,
                                int carveout_kb)
{
    struct wt_launch_needs needs = {
        .threads = launch->block[0] * launch->block[1] * launch->block[2],
        .registers_per_thread = launch->registers_per_thread,
        .static_shared_bytes = launch->static_shared_bytes,
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .carveout_kb = carveout_kb,
        .barriers = 1,
    };
    struct wt_shape shape;
    struct wt_error err = {0};
    ck_assert_msg(wt_shape_make(limits, &needs, &shape, &err) == WT_OK, "%s", err.text);
    return shape;
}

/* The second kernel is launched right behind the first; when later ones are is not known before they start.
 */
static struct launch *describe_launches(const struct sm_replay *replay, const struct wt_trace *trace)
{
    struct launch *launches = wt_alloc(trace->launch_count, sizeof *launches);
    for (size_t k = 0; k < trace->launch_count; k++) {
        launches[k].ready_ns = INT64_MAX;
        launches[k].shape = shape_of(&trace->launches[k], replay->limits,
                                     k == 0 ? replay->first_carveout_kb : trace->launches[k].carveout_kb);
    }
    for (size_t i = 0; i < trace->row_count; i++) {
        const struct wt_trace_row *row = &trace->rows[i];
        struct launch *launch = &launches[row->launch];
        launch->ready_ns = row->time_start_ns < launch->ready_ns ? row->time_start_ns : launch->ready_ns;
        launch->last_start_ns =
            row->time_start_ns > launch->last_start_ns ? row->time_start_ns : launch->last_start_ns;
    }
    if (trace->launch_count > 1 && trace->launches[1].stream != trace->launches[0].stream &&
        launches[1].ready_ns > launches[0].ready_ns + SUBMITTED_NS)
        launches[1].ready_ns = launches[0].ready_ns + SUBMITTED_NS;
    return launches;
}

/* The kernel whose next block waits at `time_ns`, or NULL. */
static const struct launch *head(const struct context *c, int64_t time_ns)
{
    for (size_t k = 0; k < c->trace->launch_count; k++)
        if (c->launches[k].ready_ns <= time_ns && time_ns < c->launches[k].last_start_ns)
            return &c->launches[k];
    return NULL;
}

static int64_t time_of(const struct context *c, int64_t clock)
{
    const struct wt_trace_row *row = c->stays[0].row;
    return row->time_start_ns + (int64_t)((double)(clock - row->clock_start) * 1e6 / c->trace->clock_khz);
}

/* The resident block that ends first, or NULL. */
static struct stay *next_to_end(const struct context *c, size_t admitted)
{
    struct stay *next = NULL;
    for (size_t i = 0; i < admitted; i++) {
        struct stay *stay = &c->stays[i];
        if (stay->slot >= 0 && (!next || stay->row->clock_end < next->row->clock_end))
            next = stay;
    }
    return next;
}

/* Nothing began or ended on the SM from c->since to `until`: would what waits have fitted? */
static void ask_in_quiet_time(struct context *c, int64_t until)
{
    if (c->unsure || until - c->since < QUIET_CYCLES)
        return;
    const struct launch *waiting = head(c, time_of(c, until - ANSWER_CYCLES));
    if (!waiting)
        return;
    c->replay->waits++;
    if (wt_sm_room(c->sm, &waiting->shape) > 0)
        note(c->replay, &c->replay->early, c->stays[0].row,
             "later on this SM a block waits although it fits");
}

static void release(struct context *c, struct stay *stay)
{
    const struct wt_trace_row *row = stay->row;
    ask_in_quiet_time(c, row->clock_end);
    wt_sm_release(c->sm, stay->slot);
    stay->slot = -1;
    c->since = row->clock_end;
    c->unsure |= c->trace->has_work && row->clock_end - row->clock_start > row->work + STRETCHED_CYCLES;
}

static bool admit(struct context *c, struct stay *stay)
{
    int pointer = wt_sm_subcore_pointer(c->sm), subcores = c->replay->limits->subcores;
    stay->slot = wt_sm_admit(c->sm, &c->launches[stay->row->launch].shape);
    if (stay->slot < 0)
        return false;
    c->replay->starts++;
    c->since = stay->row->clock_start;
    c->unsure = false;
    if (stay->row->warp_slot >= 0 && stay->row->warp_slot % subcores != pointer)
        note(c->replay, &c->replay->wrong_subcore, stay->row, "its first warp is in another sub-core");
    return true;
}

/* Releases what ended up to `until`. */
static void release_until(struct context *c, size_t admitted, int64_t until)
{
    struct stay *ended;
    while ((ended = next_to_end(c, admitted)) && ended->row->clock_end <= until)
        release(c, ended);
}

/* A waiting block goes in `lag` after an end has made enough room for it, or before its first instruction. */
static bool admit_after_release(struct context *c, size_t i, int64_t lag)
{
    const struct wt_shape *shape = &c->launches[c->stays[i].row->launch].shape;
    int64_t latest = c->stays[i].admitted_by - RELEASE_CYCLES;
    struct wt_refusal refusal;
    bool answers = i && c->stays[i].admitted_by - c->since <= ANSWER_CYCLES;
    if (answers && !wt_sm_refusal(c->sm, shape, &refusal))
        return admit(c, &c->stays[i]);
    struct stay *ended;
    while ((ended = next_to_end(c, i)) && ended->row->clock_end <= latest) {
        release(c, ended);
        if (c->stays[i].admitted_by - c->since <= ANSWER_CYCLES && !wt_sm_refusal(c->sm, shape, &refusal)) {
            release_until(c, i, c->since + lag < latest ? c->since + lag : latest);
            return admit(c, &c->stays[i]);
        }
    }
    ask_in_quiet_time(c, c->stays[i].admitted_by);
    return admit(c, &c->stays[i]);
}

static void replay_with_lag(struct context *c, int64_t lag)
{
    int16_t warp_slot = c->stays[0].row->warp_slot;
    c->sm = wt_sm_new(c->replay->limits);
    c->since = c->stays[0].row->clock_start;
    c->unsure = false;
    if (warp_slot >= 0)
        wt_sm_set_subcore_pointer(c->sm, warp_slot % c->replay->limits->subcores);
    for (size_t i = 0; i < c->count; i++)
        c->stays[i].slot = -1;
    for (size_t i = 0; i < c->count; i++)
        if (!admit_after_release(c, i, lag)) {
            note(c->replay, &c->replay->refused, c->stays[i].row, "refused");
            break;
        }
    release_until(c, c->count, INT64_MAX);
    wt_sm_free(c->sm);
}

/* How long after an end the distributor looks at the SM again is not in the trace: any lag that explains the
 * SM's history will do. */
static void replay_sm(struct context *c)
{
    static const int64_t lags[] = {0, 10, 20, 40, 80, 160, 320, 640};
    struct sm_replay before = *c->replay, first = {0};
    for (size_t i = 0; i < sizeof lags / sizeof *lags; i++) {
        *c->replay = before;
        replay_with_lag(c, lags[i]);
        if (i == 0)
            first = *c->replay;
        if (c->replay->refused == before.refused && c->replay->early == before.early) {
            c->replay->lagging += i > 0;
            return;
        }
    }
    *c->replay = first;
}

void sm_replay_trace(struct sm_replay *replay, const struct wt_trace *trace)
{
    struct context c = {.replay = replay, .trace = trace, .launches = describe_launches(replay, trace)};
    struct stay *stays = admission_order(trace);
    for (size_t i = 0; i < trace->row_count; i += c.count) {
        c.stays = &stays[i];
        c.count = 1;
        while (i + c.count < trace->row_count && stays[i + c.count].row->sm == stays[i].row->sm)
            c.count++;
        replay_sm(&c);
    }
    free(stays);
    free(c.launches);
}
