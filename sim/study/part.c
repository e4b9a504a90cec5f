#include "study/part.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/quantile.h"

/* Of the config's own part GPCs differ by up to 22 cycles in captures of one wave of empty blocks, by 75 on another part. */
static const double OTHER_PART_CYCLES = 30;

/* A GPC's first starts: late alike, or something else is going on, as where a kernel is fetched from memory. */
enum { LEAST_STARTS = 5 };
static const double ALIKE_CYCLES = 16;

static double late_by(const struct wt_first_start *start)
{
    return start->measured - start->predicted;
}

/* NaN: too few, or not alike. */
static double shift_of(const struct wt_gpu *gpu, int gpc, const struct wt_first_start *starts, size_t count, double *room)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (gpu->topology.gpc_of_sm[starts[i].sm] == gpc)
            room[found++] = late_by(&starts[i]);
    wt_sort_numbers(room, found);
    if (found < LEAST_STARTS || wt_quantile(room, found, 75) - wt_quantile(room, found, 25) > ALIKE_CYCLES)
        return NAN;
    return wt_quantile(room, found, 50);
}

static void move(struct wt_numbers *offsets, const struct wt_topology *topology, const double *shifts)
{
    double nearest = INFINITY;
    if (offsets->count == 0)
        *offsets = (struct wt_numbers){wt_alloc((size_t)topology->tpc_count, sizeof *offsets->values), topology->tpc_count};
    bool *moved = wt_alloc((size_t)topology->tpc_count, sizeof *moved);
    for (int sm = 0; sm < topology->sm_count; sm++) {
        int tpc = topology->tpc_of_sm[sm];
        offsets->values[tpc] += moved[tpc] ? 0 : shifts[topology->gpc_of_sm[sm]];
        moved[tpc] = true;
    }
    free(moved);
    for (int i = 0; i < offsets->count; i++)
        nearest = fmin(nearest, offsets->values[i]);
    for (int i = 0; i < offsets->count; i++)
        offsets->values[i] -= nearest;
}

double wt_part_adopt(struct wt_gpu *gpu, struct wt_first_start *starts, size_t count)
{
    const struct wt_topology *topology = &gpu->topology;
    double shifts[WT_MAX_GROUPS], least = INFINITY, most = -INFINITY;
    double *room = wt_alloc(count + 1, sizeof *room);
    bool told = true;
    for (int gpc = 0; gpc < topology->gpc_count; gpc++) {
        shifts[gpc] = shift_of(gpu, gpc, starts, count, room);
        told &= !isnan(shifts[gpc]);
        least = fmin(least, shifts[gpc]);
        most = fmax(most, shifts[gpc]);
    }
    free(room);
    if (!told || most - least < OTHER_PART_CYCLES)
        return 0;
    move(&gpu->rates.launch_offset_cycles, topology, shifts);
    move(&gpu->rates.report_offset_cycles, topology, shifts);
    return most - least;
}
