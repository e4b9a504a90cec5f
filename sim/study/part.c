#include "study/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"

/* Of the config's own part GPCs differ by up to 22 cycles in captures of one wave of empty blocks, by 75 on another part. */
static const double OTHER_PART_CYCLES = 30;

/* A GPC's first starts: late alike, or something else is going on, as where a kernel is fetched from memory. */
enum { LEAST_STARTS = 5 };
static const double ALIKE_CYCLES = 16;

/* The config's GPC with most SMs of the domain. */
static int likeliest(const struct wt_topology *topology, const int16_t *domain_of_sm, int domain)
{
    int common[WT_MAX_GROUPS] = {0}, best = 0;
    for (int sm = 0; sm < topology->sm_count; sm++)
        if (domain_of_sm[sm] == domain)
            common[topology->gpc_of_sm[sm]]++;
    for (int gpc = 1; gpc < topology->gpc_count; gpc++)
        best = common[gpc] > common[best] ? gpc : best;
    return best;
}

/* The domains by the config's numbers of GPCs. False: they are not as many, or which is which is not told. */
static bool number_domains(const struct wt_topology *topology, const struct wt_clocks *clocks, uint16_t *gpc_of_sm)
{
    int number[WT_MAX_GROUPS];
    bool taken[WT_MAX_GROUPS] = {0};
    if (clocks->domain_count != topology->gpc_count || clocks->sm_count < topology->sm_count)
        return false;
    for (int domain = 0; domain < clocks->domain_count; domain++) {
        number[domain] = likeliest(topology, clocks->domain_of_sm, domain);
        if (taken[number[domain]])
            return false;
        taken[number[domain]] = true;
    }
    for (int sm = 0; sm < topology->sm_count; sm++) {
        if (clocks->domain_of_sm[sm] < 0)
            return false;
        gpc_of_sm[sm] = (uint16_t)number[clocks->domain_of_sm[sm]];
    }
    return true;
}

static double late_by(const struct wt_first_start *start)
{
    return start->measured - start->predicted;
}

/* Of the starts on SMs that lie in that GPC and did so before. NaN: too few, or not alike. */
static double shift_of(const struct wt_topology *topology, const uint16_t *gpc_of_sm, int gpc, const struct wt_first_start *starts,
                       size_t count, double *room)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (gpc_of_sm[starts[i].sm] == gpc && topology->gpc_of_sm[starts[i].sm] == gpc)
            room[found++] = late_by(&starts[i]);
    wt_sort_numbers(room, found);
    if (found < LEAST_STARTS || wt_quantile(room, found, 75) - wt_quantile(room, found, 25) > ALIKE_CYCLES)
        return NAN;
    return wt_quantile(room, found, 50);
}

/* By TPC: as its GPC's, or, where it lay in another, as its own first starts tell. */
static double *shifts_of_tpcs(const struct wt_topology *topology, const uint16_t *gpc_of_sm, const double *shifts,
                              const struct wt_first_start *starts, size_t count)
{
    double *of_tpc = wt_alloc((size_t)topology->tpc_count, sizeof *of_tpc);
    for (int sm = 0; sm < topology->sm_count; sm++)
        of_tpc[topology->tpc_of_sm[sm]] = shifts[gpc_of_sm[sm]];
    for (size_t i = 0; i < count; i++)
        if (gpc_of_sm[starts[i].sm] != topology->gpc_of_sm[starts[i].sm])
            of_tpc[topology->tpc_of_sm[starts[i].sm]] = late_by(&starts[i]);
    return of_tpc;
}

static void move(struct wt_numbers *offsets, int tpc_count, const double *shifts)
{
    double nearest = INFINITY;
    if (offsets->count == 0)
        *offsets = (struct wt_numbers){wt_alloc((size_t)tpc_count, sizeof *offsets->values), tpc_count};
    for (int i = 0; i < tpc_count; i++)
        nearest = fmin(nearest, offsets->values[i] += shifts[i]);
    for (int i = 0; i < tpc_count; i++)
        offsets->values[i] -= nearest;
}

static double adopt(struct wt_gpu *gpu, const uint16_t *gpc_of_sm, const struct wt_first_start *starts, size_t count)
{
    struct wt_topology *topology = &gpu->topology;
    double shifts[WT_MAX_GROUPS], least = INFINITY, most = -INFINITY, *room = wt_alloc(count + 1, sizeof *room);
    bool told = true, others = memcmp(gpc_of_sm, topology->gpc_of_sm, (size_t)topology->sm_count * sizeof *gpc_of_sm) != 0;
    for (int gpc = 0; gpc < topology->gpc_count; gpc++) {
        shifts[gpc] = shift_of(topology, gpc_of_sm, gpc, starts, count, room);
        told &= !isnan(shifts[gpc]);
        least = fmin(least, shifts[gpc]);
        most = fmax(most, shifts[gpc]);
    }
    free(room);
    if (!told || (!others && most - least < OTHER_PART_CYCLES))
        return 0;
    double *of_tpc = shifts_of_tpcs(topology, gpc_of_sm, shifts, starts, count);
    memcpy(topology->gpc_of_sm, gpc_of_sm, (size_t)topology->sm_count * sizeof *gpc_of_sm);
    move(&gpu->rates.launch_offset_cycles, topology->tpc_count, of_tpc);
    move(&gpu->rates.report_offset_cycles, topology->tpc_count, of_tpc);
    free(of_tpc);
    return most - least;
}

double wt_part_adopt(struct wt_gpu *gpu, const struct wt_clocks *clocks, const struct wt_first_start *starts, size_t count)
{
    uint16_t *gpc_of_sm = wt_alloc((size_t)gpu->topology.sm_count, sizeof *gpc_of_sm);
    double moved = 0;
    if (number_domains(&gpu->topology, clocks, gpc_of_sm))
        moved = adopt(gpu, gpc_of_sm, starts, count);
    free(gpc_of_sm);
    return moved;
}
