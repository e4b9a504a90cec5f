#include "study/follow.h"

#include <math.h>
#include <stdlib.h>

#include "core/heap.h"
#include "core/mem.h"

/* Ends scale with works but for what starts cost; after so many corrections they do. */
enum { CORRECTIONS = 2, GPU_CORRECTIONS = 2 };

/* An SM's own limit shows on some of the SMs as well: on as many as ran so many blocks together. */
enum { FOLLOWED_BLOCKS = 4096 };

/* Of the next block on an SM, as its clock has it: no time is long enough for nothing to be done. */
static const double LEAST_SPEED = 1e-7;

/* A launch as SMs saw it; shared by all bounds. */
struct launch {
    const struct wt_stays *stays;
    int room, step; /* of SMs' own limits each `step`-th SM is followed */
    double release, wait;
    uint32_t *blocks; /* by SM, then by index, as they were handed out */
    uint32_t *first;  /* of each SM, in `blocks`; one more at the end */
    double stated;    /* works together */
};

static struct launch sort_by_sm(const struct wt_stays *stays, int room, double release, double wait)
{
    size_t sms = (size_t)stays->sm_count;
    struct launch l = {.stays = stays, .room = room, .release = release, .wait = wait,
                       .step = 1 + (int)((stays->count - 1) / FOLLOWED_BLOCKS),
                       .blocks = wt_alloc(stays->count, sizeof *l.blocks), .first = wt_alloc(sms + 1, sizeof *l.first)};
    uint32_t *next = wt_alloc(sms, sizeof *next);
    for (uint64_t i = 0; i < stays->count; i++) {
        l.first[stays->list[i].sm + 1]++;
        l.stated += stays->list[i].work;
    }
    for (size_t sm = 0; sm < sms; sm++) {
        l.first[sm + 1] += l.first[sm];
        next[sm] = l.first[sm];
    }
    for (uint64_t i = 0; i < stays->count; i++)
        l.blocks[next[stays->list[i].sm]++] = (uint32_t)i;
    free(next);
    return l;
}

/* Of a block, in cycles at full speed. */
static double work_of(const struct launch *l, const struct wt_bound *bound, double scale, uint32_t block)
{
    return (l->stays->list[block].work + bound->start) * scale;
}

/* ---- An SM's own limit ---- */

struct running {
    double left; /* cycles at full speed */
    uint32_t block;
};

/* The SM's blocks in the order of their starts: those of the first wave as measured, the others as room gets free. */
struct following {
    const struct wt_bound *bound;
    double scale;
    struct running running[WT_MAX_SLOTS]; /* the oldest first */
    double freed[WT_MAX_SLOTS];           /* a ring: when blocks that are about to work do so */
    double now;
    uint32_t next, last; /* in `blocks`: the next to start, and behind the last one */
    uint32_t freed_count, freed_first;
    int count;
};

static double next_start(const struct launch *l, const struct following *f, uint32_t first)
{
    if (f->next == f->last)
        return INFINITY;
    if (f->next - first < (uint32_t)l->room)
        return l->stays->list[l->blocks[f->next]].start + l->wait;
    return f->freed_count > 0 ? f->freed[f->freed_first] : INFINITY;
}

static void pass(struct following *f, double cycles, const double *speeds)
{
    for (int i = 0; i < f->count; i++)
        f->running[i].left -= cycles * speeds[i];
    f->now += cycles;
}

static void start(const struct launch *l, struct following *f, uint32_t first)
{
    if (f->next - first >= (uint32_t)l->room) {
        f->freed_first = (f->freed_first + 1) % WT_MAX_SLOTS;
        f->freed_count--;
    }
    uint32_t block = l->blocks[f->next++];
    f->running[f->count++] = (struct running){work_of(l, f->bound, f->scale, block), block};
}

static void end(const struct launch *l, struct following *f, int which, double *ends)
{
    ends[f->running[which].block] = f->now;
    f->count--;
    for (int i = which; i < f->count; i++)
        f->running[i] = f->running[i + 1];
    f->freed[(f->freed_first + f->freed_count++) % WT_MAX_SLOTS] = f->now + l->release + l->wait;
}

/* `speeds` as wt_bound_speeds() has them. */
static void follow_sm(const struct launch *l, uint32_t sm, const struct wt_bound *bound, double scale, const double *speeds, double *ends)
{
    uint32_t first = l->first[sm];
    struct following f = {.bound = bound, .scale = scale, .next = first, .last = l->first[sm + 1]};
    while (f.next < f.last || f.count > 0) {
        const double *now = &speeds[f.count * (WT_MAX_SLOTS + 1)];
        double least = INFINITY, starts = next_start(l, &f, first) - f.now;
        int which = 0;
        for (int i = 0; i < f.count; i++) {
            double left = f.running[i].left / (now[i] > LEAST_SPEED ? now[i] : LEAST_SPEED);
            which = left < least ? i : which;
            least = left < least ? left : least;
        }
        pass(&f, fmax(0, fmin(starts, least)), now);
        if (starts <= least)
            start(l, &f, first);
        else
            end(l, &f, which, ends);
    }
}

static void follow_sms(const struct launch *l, const struct wt_bound *bound, double scale, double *ends)
{
    double *speeds = wt_bound_speeds(bound, l->stays->warps, l->room);
    for (int sm = 0; sm < l->stays->sm_count; sm += l->step)
        follow_sm(l, (uint32_t)sm, bound, scale, speeds, ends);
    free(speeds);
}

/* ---- What all SMs share ---- */

/* A block that runs, by the GPU's clock; or one that starts, by cycles. */
struct coming {
    double when;
    uint32_t block;
};

struct heap {
    struct coming *list;
    size_t count;
};

static bool comes_before(const void *left, const void *right)
{
    return ((const struct coming *)left)->when < ((const struct coming *)right)->when;
}

static void push(struct heap *heap, struct coming coming)
{
    wt_heap_push(heap->list, &heap->count, sizeof coming, &coming, comes_before);
}

static struct coming pop(struct heap *heap)
{
    struct coming first;
    wt_heap_pop(heap->list, &heap->count, sizeof first, &first, comes_before);
    return first;
}

static double when(const struct heap *heap)
{
    return heap->count > 0 ? heap->list[0].when : INFINITY;
}

/* `parts`: by SM, of what it would get if all got alike. */
static void follow_gpu(const struct launch *l, const struct wt_bound *bound, double scale, const double *parts, double *ends)
{
    const struct wt_stays *stays = l->stays;
    size_t sms = (size_t)stays->sm_count;
    uint32_t *next = wt_alloc(sms, sizeof *next);
    struct heap running = {.list = wt_alloc(sms * (size_t)l->room + 1, sizeof(struct coming))};
    struct heap starting = {.list = wt_alloc(sms * (size_t)l->room + 1, sizeof(struct coming))};
    double now = 0, clock = 0, *speeds = wt_alloc(sms * (size_t)l->room + 1, sizeof *speeds);
    for (size_t sm = 0; sm < sms; sm++)
        for (next[sm] = l->first[sm]; next[sm] < l->first[sm + 1] && next[sm] - l->first[sm] < (uint32_t)l->room; next[sm]++)
            push(&starting, (struct coming){stays->list[l->blocks[next[sm]]].start + l->wait, l->blocks[next[sm]]});
    while (running.count + starting.count > 0) {
        if (speeds[running.count] <= 0)
            speeds[running.count] = wt_bound_part(bound, (double)running.count * stays->warps / (double)sms);
        double speed = speeds[running.count];
        double end = now + fmax(0, when(&running) - clock) / speed, until = fmin(end, fmax(now, when(&starting)));
        clock += (until - now) * speed;
        now = until;
        if (until < end || running.count == 0) {
            uint32_t block = pop(&starting).block;
            push(&running, (struct coming){clock + work_of(l, bound, scale, block) / parts[stays->list[block].sm], block});
            continue;
        }
        uint32_t block = pop(&running).block, sm = stays->list[block].sm;
        ends[block] = now;
        if (next[sm] < l->first[sm + 1])
            push(&starting, (struct coming){now + l->release + l->wait, l->blocks[next[sm]++]});
    }
    free(next);
    free(running.list);
    free(starting.list);
    free(speeds);
}

/* ---- Against the trace ---- */

static double sum_of_ends(const struct launch *l, const double *ends, uint32_t sm)
{
    double sum = 0;
    for (uint32_t i = l->first[sm]; i < l->first[sm + 1]; i++)
        sum += ends ? ends[l->blocks[i]] : l->stays->list[l->blocks[i]].read;
    return sum;
}

/* Makes the scale right, nearly, and the SMs' parts. */
static void correct(const struct launch *l, const double *ends, bool gpu, double *scale, double *parts)
{
    double came = 0, were = 0;
    for (int sm = 0; sm < l->stays->sm_count; sm += gpu ? 1 : l->step) {
        double is = sum_of_ends(l, ends, (uint32_t)sm), was = sum_of_ends(l, NULL, (uint32_t)sm);
        came += is;
        were += was;
        if (gpu && is > 0 && was > 0)
            parts[sm] *= is / was;
    }
    if (came <= 0 || were <= 0)
        return;
    *scale *= were / came;
    for (int sm = 0; gpu && sm < l->stays->sm_count; sm++)
        parts[sm] *= were / came;
}

static struct wt_followed compare(const struct launch *l, const double *ends, bool gpu, double scale)
{
    double squares = 0, lasts = 0, sms = 0, lasted = 0, count = 0;
    for (int sm = 0; sm < l->stays->sm_count; sm += gpu ? 1 : l->step) {
        double last = 0, was = 0;
        for (uint32_t i = l->first[sm]; i < l->first[sm + 1]; i++) {
            double end = ends[l->blocks[i]], read = l->stays->list[l->blocks[i]].read;
            squares += (end - read) * (end - read);
            last = fmax(last, end);
            was = fmax(was, read);
            lasted += read - l->stays->list[l->blocks[i]].start;
            count++;
        }
        lasts += (last - was) * (last - was);
        sms += was > 0;
    }
    return (struct wt_followed){.misfit = sqrt(squares / count + lasts / sms) / l->stays->makespan,
                                .chance = sqrt(squares * count) / lasted, .scale = scale};
}

static struct wt_followed follow(const struct launch *l, const struct wt_bound *bound)
{
    const struct wt_stays *stays = l->stays;
    double *ends = wt_alloc(stays->count, sizeof *ends), *parts = wt_alloc((size_t)stays->sm_count, sizeof *parts);
    double resident = fmin(l->room, (double)stays->count / stays->sm_count) * stays->warps;
    double work = (l->stated + bound->start * (double)stays->count) * stays->warps;
    double scale = stays->makespan * stays->sm_count * resident * wt_bound_part(bound, resident) / work;
    for (int sm = 0; sm < stays->sm_count; sm++)
        parts[sm] = 1;
    for (int i = 0, count = bound->gpu ? GPU_CORRECTIONS : CORRECTIONS; i <= count; i++) {
        if (i > 0)
            correct(l, ends, bound->gpu, &scale, parts);
        if (bound->gpu)
            follow_gpu(l, bound, scale, parts, ends);
        else
            follow_sms(l, bound, scale, ends);
    }
    struct wt_followed followed = compare(l, ends, bound->gpu, scale);
    free(ends);
    free(parts);
    return followed;
}

void wt_follow(const struct wt_stays *stays, int room, double release, double wait, const struct wt_bound *bounds, int count,
               struct wt_followed *followed)
{
    struct launch l = sort_by_sm(stays, room, release, wait);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < count; i++)
        followed[i] = l.stated > 0 ? follow(&l, &bounds[i]) : (struct wt_followed){INFINITY, 0, 1};
    free(l.blocks);
    free(l.first);
}
