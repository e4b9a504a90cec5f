#include "trace/used_tpcs.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/quantile.h"

/* TPCs by group, in the order of visits, and when each started its first block, less what is known of it. NaN: it did not. */
struct first_wave {
    const struct wt_topology *topology;
    int tpcs[WT_MAX_GROUPS];       /* of a group */
    int begin[WT_MAX_GROUPS];      /* of its TPCs in the arrays below */
    int *number;
    double *start;
};

static void list_tpcs(struct first_wave *wave)
{
    const struct wt_topology *t = wave->topology;
    bool *listed = wt_alloc((size_t)t->tpc_count, sizeof *listed);
    int count = 0;
    for (int g = 0; g < t->group_count; g++) {
        wave->begin[g] = count;
        for (int i = 0; i < t->groups[g].sm_count; i++) {
            int tpc = t->tpc_of_sm[t->groups[g].sms[i]];
            if (!listed[tpc])
                wave->number[count++] = tpc;
            listed[tpc] = true;
        }
        wave->tpcs[g] = count - wave->begin[g];
    }
    free(listed);
}

/* Each SM's first block tells. */
static void take_starts(struct first_wave *wave, const struct wt_rates *rates, const struct wt_block_start *starts,
                        size_t count)
{
    const struct wt_topology *t = wave->topology;
    double visited[WT_MAX_GROUPS], *of_tpc = wt_alloc((size_t)t->tpc_count, sizeof *of_tpc);
    bool *seen = wt_alloc((size_t)t->sm_count, sizeof *seen);
    int visits = 0;
    for (int g = 0; g < t->group_count; g++)
        visited[g] = -1;
    for (int i = 0; i < t->tpc_count; i++)
        of_tpc[i] = NAN;
    for (size_t i = 0; i < count; i++) {
        if (seen[starts[i].sm])
            continue;
        seen[starts[i].sm] = true;
        double *visit = &visited[t->group_of_sm[starts[i].sm]], *start = &of_tpc[t->tpc_of_sm[starts[i].sm]];
        *visit = *visit < 0 ? rates->visit_cycles * visits++ : *visit;
        *start = fmin(*start, starts[i].cycles - *visit);
    }
    for (int i = 0; i < t->tpc_count; i++)
        wave->start[i] = of_tpc[wave->number[i]] - wt_of_tpc(&rates->launch_offset_cycles, wave->number[i]);
    free(of_tpc);
    free(seen);
}

/* One TPC of each group after another, but of the extra group all first, as grids of less than a wave are spread. By place in the
 * arrays. */
static void order_tpcs(const struct first_wave *wave, int *order)
{
    const struct wt_topology *t = wave->topology;
    int count = 0;
    for (int i = 0; t->extra_group >= 0 && i < wave->tpcs[t->extra_group]; i++)
        order[count++] = wave->begin[t->extra_group] + i;
    for (int i = 0; count < t->tpc_count; i++)
        for (int g = 0; g < t->group_count; g++)
            if (g != t->extra_group && i < wave->tpcs[g])
                order[count++] = wave->begin[g] + i;
}

/* How far a group's TPCs start apart when `late` of them are; its middle goes to *middle. */
static double apart(const struct first_wave *wave, int g, const double *late, double *room, double *middle)
{
    size_t count = 0;
    double sum = 0;
    for (int i = wave->begin[g]; i < wave->begin[g] + wave->tpcs[g]; i++)
        if (!isnan(wave->start[i]))
            room[count++] = wave->start[i] - late[i];
    wt_sort_numbers(room, count);
    *middle = count > 0 ? wt_quantile(room, count, 50) : NAN;
    for (size_t i = 0; i < count; i++)
        sum += fabs(room[i] - *middle);
    return sum;
}

static double misfit(const struct first_wave *wave, const double *late, bool distances, double *room)
{
    double middles[WT_MAX_GROUPS], sum = 0;
    size_t count = 0;
    for (int g = 0; g < wave->topology->group_count; g++) {
        double middle;
        sum += apart(wave, g, late, room, &middle);
        if (distances && !isnan(middle))
            middles[count++] = middle;
    }
    wt_sort_numbers(middles, count);
    double middle = count > 0 ? wt_quantile(middles, count, 50) : 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(middles[i] - middle);
    return sum;
}

/* As many of the first ones in `order` as leave the starts closest; more than none only if that is not chance. */
static int likeliest(const struct first_wave *wave, const struct wt_rates *rates, const int *order)
{
    int tpcs = wave->topology->tpc_count, best = 0;
    double *late = wt_alloc((size_t)tpcs, sizeof *late), *room = wt_alloc((size_t)tpcs, sizeof *room);
    bool distances = rates->launch_offset_cycles.count > 0;
    double least = misfit(wave, late, distances, room) - rates->used_tpc_cycles / 2;
    for (int used = 1; used < tpcs; used++) {
        late[order[used - 1]] = rates->used_tpc_cycles;
        double sum = misfit(wave, late, distances, room);
        best = sum < least ? used : best;
        least = fmin(least, sum);
    }
    free(late);
    free(room);
    return best;
}

int wt_used_tpcs(const struct wt_gpu *gpu, const struct wt_block_start *starts, size_t count, bool *used)
{
    size_t tpcs = (size_t)gpu->topology.tpc_count;
    struct first_wave wave = {.topology = &gpu->topology, .number = wt_alloc(tpcs, sizeof *wave.number),
                              .start = wt_alloc(tpcs, sizeof *wave.start)};
    int *order = wt_alloc(tpcs, sizeof *order);
    list_tpcs(&wave);
    take_starts(&wave, &gpu->rates, starts, count);
    order_tpcs(&wave, order);
    int found = gpu->rates.used_tpc_cycles > 0 ? likeliest(&wave, &gpu->rates, order) : 0;
    for (size_t i = 0; i < tpcs; i++)
        used[i] = false;
    for (int i = 0; i < found; i++)
        used[wave.number[order[i]]] = true;
    free(wave.number);
    free(wave.start);
    free(order);
    return found;
}
