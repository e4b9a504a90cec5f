#include "study/unseen.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "study/let_in.h"

/* So long after all of the GPC's reports could have been taken none waits: surely, however unlike each other the blocks'
 * unseen times are; and, where blocks end too often for that, most likely, if they are alike and the start is not kept by more
 * than one other report of its TPC. */
static const double SURELY_QUIET_CYCLES = 400, LIKELY_QUIET_CYCLES = 40;

/* Even a quiet release waits for its group's turn, 0 to 28 cycles on an H200, so the lower quartile lies this much
 * below the median that the GPU's release time stands for. The quartile is used since whatever else delays a release
 * only ever delays it. */
static const double QUARTILE_TO_MEDIAN_CYCLES = 7;

/* What else delays a release, at most. Where three quarters of the times are longer, a block's other warps run on or the next one's
 * starve, and rarely does no other block of the SM end meanwhile: such pairs alone would tell the shortest times. */
static const double DELAYS_CYCLES = 1000;

/* With fewer than MANY, as in a grid whose blocks all end together, no quarter of them may be undelayed: the least
 * counts, as it does where it is not sure which end a start waited for. Below nothing it rather tells of another part's near TPC.
 * With PLENTY there is no need of less quiet ones. */
enum { MANY_SAMPLES = 12, PLENTY_OF_SAMPLES = 24 };

/* How far a TPC is from the distributor differs from part to part, by up to 70 cycles: on another part than the config's the quartile
 * of all releases is that of the TPCs that are nearer there. With so many of each TPC the TPCs' own quartiles are averaged. */
enum { SAMPLES_OF_TPC = 4 };

/* How much longer a release took than the GPU's own. */
struct excess {
    double cycles;
    int tpc;
};

static int by_cycles(const void *left, const void *right)
{
    double a = ((const struct excess *)left)->cycles, b = ((const struct excess *)right)->cycles;
    return (a > b) - (a < b);
}

/* A block's end, or the start of one that waited for room. */
struct moment {
    wt_time time;
    wt_time next; /* of ends: the SM's next one; WT_NEVER: there is none */
    wt_time held; /* of ends: how much longer the TPC's other reports keep the next start */
    uint64_t block;
    uint16_t sm;
};

struct moments {
    struct moment *list; /* owned */
    size_t count;
};

static int by_time(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->sm > b->sm) - (a->sm < b->sm);
}

static int by_sm_and_time(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    return a->sm != b->sm ? (a->sm > b->sm) - (a->sm < b->sm) : by_time(left, right);
}

static struct moments collect(const struct wt_timeline *measured, size_t launch, uint64_t from_block, bool ends)
{
    struct moments moments = {wt_alloc(measured->span_count, sizeof *moments.list), 0};
    for (size_t i = 0; i < measured->span_count; i++) {
        const struct wt_block_run *span = &measured->spans[i];
        if (span->launch == launch && span->block >= from_block)
            moments.list[moments.count++] = (struct moment){.time = ends ? span->end : span->start, .block = span->block,
                                                              .sm = span->sm};
    }
    return moments;
}

/* An SM's starts not yet paired, as a range of `starts`, which is by SM and time. */
struct range {
    size_t next, end;
    wt_time last_start; /* the last one paired; 0: none */
};

static struct range *ranges_by_sm(const struct moments *starts, int sm_count)
{
    struct range *ranges = wt_alloc((size_t)sm_count, sizeof *ranges);
    for (size_t i = 0; i < starts->count; i++) {
        struct range *range = &ranges[starts->list[i].sm];
        if (range->end == 0)
            range->next = i;
        range->end = i + 1;
    }
    return ranges;
}

/* By GPC: from when on a release is quiet. Reports wait for the first wave. */
static wt_time *quiet_from_first_wave(const struct wt_timeline *measured, size_t launch, uint64_t first_wave_blocks,
                                      const struct wt_gpu *gpu)
{
    const struct wt_topology *t = &gpu->topology;
    wt_time *quiet_from = wt_alloc((size_t)t->gpc_count, sizeof *quiet_from);
    for (size_t i = 0; i < measured->span_count; i++) {
        const struct wt_block_run *span = &measured->spans[i];
        wt_time *quiet = &quiet_from[t->gpc_of_sm[span->sm]];
        if (span->launch == launch && span->block < first_wave_blocks && span->start > *quiet)
            *quiet = span->start;
    }
    return quiet_from;
}

/* A block whose warps do not fill all sub-cores alike may not fit where one ended, and waits for another end. */
static bool fits_wherever_one_ended(const struct wt_timeline *measured, size_t launch, const struct wt_gpu *gpu)
{
    return measured->launches[launch].warps_per_block % gpu->limits.subcores == 0;
}

/* Whether a release is quiet that follows this end, the ends being looked at in order of time. */
static bool is_quiet(const struct moment *end, const struct wt_gpu *gpu, double quiet_cycles, wt_time *quiet_from)
{
    const struct wt_topology *t = &gpu->topology;
    wt_time pause = wt_from_cycles(quiet_cycles), report = wt_from_cycles(gpu->rates.report_cycles * t->gpc_count);
    wt_time *from = &quiet_from[t->gpc_of_sm[end->sm]];
    bool quiet = end->time >= *from;
    *from = end->time + pause > *from + report ? end->time + pause : *from + report;
    return quiet;
}

/* An SM's ends and the starts that follow them pair off in order. With `one_by_one`, only those releases count before
 * which the SM was full and during which no other of its blocks ended, so that it is sure which end the start waited
 * for. Returns the number of excesses. */
static size_t pair_off(const struct moments *ends, const struct moments *starts, const struct wt_gpu *gpu,
                       double quiet_cycles, wt_time most_held, bool one_by_one, wt_time *quiet_from, struct excess *excess)
{
    struct range *ranges = ranges_by_sm(starts, gpu->topology.sm_count);
    size_t count = 0;
    for (size_t i = 0; i < ends->count; i++) {
        int sm = ends->list[i].sm;
        wt_time end = ends->list[i].time;
        bool quiet = is_quiet(&ends->list[i], gpu, quiet_cycles, quiet_from);
        if (ranges[sm].next == ranges[sm].end)
            continue;
        wt_time start = starts->list[ranges[sm].next++].time;
        bool alone = ranges[sm].last_start <= end && (ends->list[i].next == WT_NEVER || start <= ends->list[i].next);
        ranges[sm].last_start = start;
        quiet &= ends->list[i].held <= most_held;
        if (quiet && start > end && (alone || !one_by_one))
            excess[count++] = (struct excess){wt_to_cycles(start - end) - wt_gpu_unloaded_release(gpu, sm),
                                              gpu->topology.tpc_of_sm[sm]};
    }
    free(ranges);
    return count;
}

/* `ends` are by time. */
static void link_ends(struct moments *ends, int sm_count)
{
    wt_time *next = wt_alloc((size_t)sm_count, sizeof *next);
    for (int sm = 0; sm < sm_count; sm++)
        next[sm] = WT_NEVER;
    for (size_t i = ends->count; i-- > 0;) {
        struct moment *end = &ends->list[i];
        end->next = next[end->sm];
        next[end->sm] = end->time;
    }
    free(next);
}

/* A TPC sends its reports one by one, in `send` each, and what it is to start waits until none is left. `ends` are by time. */
static void find_held(struct moments *ends, const struct wt_gpu *gpu, wt_time send)
{
    const struct wt_topology *t = &gpu->topology;
    wt_time ready = wt_from_cycles(gpu->rates.report_ready_cycles);
    wt_time *sent = wt_alloc(ends->count, sizeof *sent), *free_at = wt_alloc((size_t)t->tpc_count, sizeof *free_at);
    size_t *after = wt_alloc(ends->count, sizeof *after), *first = wt_alloc((size_t)t->tpc_count, sizeof *first);
    for (size_t i = 0; i < ends->count; i++) {
        wt_time *from = &free_at[t->tpc_of_sm[ends->list[i].sm]];
        sent[i] = wt_later(ends->list[i].time + ready, *from);
        *from = sent[i] + send;
    }
    for (int i = 0; i < t->tpc_count; i++)
        first[i] = ends->count;
    for (size_t i = ends->count; i-- > 0;) {
        size_t *next = &first[t->tpc_of_sm[ends->list[i].sm]];
        after[i] = *next;
        *next = i;
    }
    for (size_t i = 0; i < ends->count; i++) {
        wt_time unloaded = wt_from_cycles(wt_gpu_unloaded_release(gpu, ends->list[i].sm));
        wt_time start = sent[i] + wt_later(unloaded, ready) - ready;
        for (size_t k = after[i]; k < ends->count && sent[k] <= start; k = after[k])
            start = wt_later(start, sent[k] + send);
        ends->list[i].held = wt_later(start, ends->list[i].time + unloaded) - ends->list[i].time - unloaded;
    }
    free(sent);
    free(free_at);
    free(after);
    free(first);
}

/* How ends and starts were paired: each pair is as good as any, or chosen for certainty, or may be wrong, which makes a release
 * seem longer. */
enum pairing { IN_ORDER, CHOSEN, UNSURE };

/* The quiet releases' excesses, sorted. */
static size_t quiet_excesses(const struct wt_timeline *measured, size_t launch, uint64_t first_wave_blocks,
                             const struct wt_gpu *gpu, struct excess *excess, enum pairing *pairing)
{
    struct moments ends = collect(measured, launch, 0, true);
    struct moments starts = collect(measured, launch, first_wave_blocks, false);
    qsort(ends.list, ends.count, sizeof *ends.list, by_time);
    qsort(starts.list, starts.count, sizeof *starts.list, by_sm_and_time);
    link_ends(&ends, gpu->topology.sm_count);
    wt_time send = wt_from_cycles(wt_curve_at(&gpu->rates.report_send_cycles, measured->launches[launch].warps_per_block));
    find_held(&ends, gpu, send);
    bool one_by_one = !fits_wherever_one_ended(measured, launch, gpu);
    const double quiet_cycles[] = {SURELY_QUIET_CYCLES, LIKELY_QUIET_CYCLES, SURELY_QUIET_CYCLES};
    const wt_time most_held[] = {WT_NEVER, send, WT_NEVER};
    size_t count = 0, enough[] = {PLENTY_OF_SAMPLES, PLENTY_OF_SAMPLES, one_by_one ? WT_UNSEEN_SAMPLES : 0};
    for (int i = 0; i < 3 && count < enough[i]; i++) {
        wt_time *quiet_from = quiet_from_first_wave(measured, launch, first_wave_blocks, gpu);
        *pairing = i == 2 ? UNSURE : one_by_one ? CHOSEN : IN_ORDER;
        count = pair_off(&ends, &starts, gpu, quiet_cycles[i], most_held[i], *pairing == CHOSEN, quiet_from, excess);
        free(quiet_from);
    }
    qsort(excess, count, sizeof *excess, by_cycles);
    free(ends.list);
    free(starts.list);
    return count;
}

/* Of quiet releases by the rules of admission, sorted; 0: they do not tell. */
static size_t admitted_excesses(const struct wt_timeline *measured, size_t launch, uint64_t first_wave_blocks,
                                const struct wt_shape *shape, const struct wt_gpu *gpu, struct excess *excess)
{
    double *waits = wt_alloc(measured->launches[launch].grid_blocks, sizeof *waits);
    size_t count = 0;
    if (wt_let_in(measured, launch, shape, gpu, waits)) {
        struct moments ends = collect(measured, launch, 0, true);
        qsort(ends.list, ends.count, sizeof *ends.list, by_time);
        wt_time *quiet_from = quiet_from_first_wave(measured, launch, first_wave_blocks, gpu);
        for (size_t i = 0; i < ends.count; i++)
            if (is_quiet(&ends.list[i], gpu, LIKELY_QUIET_CYCLES, quiet_from) && !isnan(waits[ends.list[i].block]))
                excess[count++] = (struct excess){waits[ends.list[i].block] - wt_gpu_unloaded_release(gpu, ends.list[i].sm),
                                                  gpu->topology.tpc_of_sm[ends.list[i].sm]};
        free(quiet_from);
        free(ends.list);
    }
    qsort(excess, count, sizeof *excess, by_cycles);
    free(waits);
    return count;
}

/* Without outliers. */
static double middle_mean(const struct excess *sorted, size_t count)
{
    size_t left_out = count / 20;
    double sum = 0;
    for (size_t i = left_out; i < count - left_out; i++)
        sum += sorted[i].cycles;
    return sum / (double)(count - 2 * left_out);
}

/* The lower quartile, of each TPC's own where each has samples enough. */
static double quartile(const struct excess *sorted, size_t count, int tpc_count)
{
    size_t *of_tpc = wt_alloc((size_t)tpc_count, sizeof *of_tpc), *seen = wt_alloc((size_t)tpc_count, sizeof *seen);
    double sum = 0;
    size_t tpcs = 0;
    for (size_t i = 0; i < count; i++)
        tpcs += ++of_tpc[sorted[i].tpc] == SAMPLES_OF_TPC;
    for (size_t i = 0; i < count; i++) {
        size_t all = of_tpc[sorted[i].tpc];
        if (seen[sorted[i].tpc]++ == all / 4 && all >= SAMPLES_OF_TPC)
            sum += sorted[i].cycles;
    }
    free(of_tpc);
    free(seen);
    return 10 * tpcs >= 9 * (size_t)tpc_count ? sum / (double)tpcs : sorted[count / 4].cycles;
}

struct wt_unseen wt_unseen_time(const struct wt_timeline *measured, size_t launch, uint64_t first_wave_blocks,
                                bool alone, const struct wt_shape *shape, const struct wt_gpu *gpu)
{
    struct excess *excess = wt_alloc(measured->span_count, sizeof *excess);
    enum pairing pairing = CHOSEN;
    struct wt_unseen unseen = {0};
    if (alone && shape && !fits_wherever_one_ended(measured, launch, gpu))
        unseen.samples = admitted_excesses(measured, launch, first_wave_blocks, shape, gpu, excess);
    bool admitted = unseen.samples >= PLENTY_OF_SAMPLES && excess[unseen.samples / 4].cycles > DELAYS_CYCLES;
    if (!admitted)
        unseen.samples = quiet_excesses(measured, launch, first_wave_blocks, gpu, excess, &pairing);
    if (unseen.samples >= MANY_SAMPLES && pairing == CHOSEN && alone)
        unseen.cycles = middle_mean(excess, unseen.samples);
    else if (unseen.samples >= MANY_SAMPLES && pairing != UNSURE)
        unseen.cycles = quartile(excess, unseen.samples, gpu->topology.tpc_count) + QUARTILE_TO_MEDIAN_CYCLES;
    else if (unseen.samples >= WT_UNSEEN_SAMPLES)
        unseen.cycles = fmax(excess[0].cycles, 0);
    free(excess);
    return unseen;
}
