#include "observe/warp_series.h"

#include <stdlib.h>

#include "core/mem.h"

struct wt_warp_series *wt_warp_series_new(const struct wt_gpu *gpu)
{
    struct wt_warp_series *series = wt_alloc(1, sizeof *series);
    *series = (struct wt_warp_series){.sm_count = gpu->topology.sm_count, .subcores = gpu->limits.subcores};
    return series;
}

void wt_warp_series_free(struct wt_warp_series *series)
{
    if (!series)
        return;
    for (size_t i = 0; i < series->count; i++)
        free(series->intervals[i].sms);
    free(series->intervals);
    free(series);
}

/* The one from … to, which is the last or a new one. */
static struct wt_warp_interval *interval_of(struct wt_warp_series *series, wt_time from, wt_time to)
{
    if (series->count > 0 && series->intervals[series->count - 1].from == from && series->intervals[series->count - 1].to == to)
        return &series->intervals[series->count - 1];
    series->intervals = wt_grow(series->intervals, &series->capacity, series->count + 1, sizeof *series->intervals);
    struct wt_warp_interval *interval = &series->intervals[series->count++];
    *interval = (struct wt_warp_interval){.from = from, .to = to, .sms = wt_alloc((size_t)series->sm_count, sizeof *interval->sms)};
    return interval;
}

void wt_warp_series_add(struct wt_warp_series *series, int sm, wt_time from, wt_time to, const struct wt_warp_counters *counters)
{
    struct wt_warp_interval *interval = interval_of(series, from, to);
    double cycles = wt_to_cycles(to - from) * series->subcores, resident = 0;
    for (int i = 0; i < WT_STALL_COUNT; i++) {
        double warps = (double)counters->warp_cycles[i] / cycles;
        interval->states[i] += (float)(warps / series->sm_count);
        resident += warps;
    }
    uint64_t eligible = counters->warp_cycles[WT_STALL_SELECTED] + counters->warp_cycles[WT_STALL_NOT_SELECTED];
    interval->sms[sm] = (struct wt_warp_short){.resident = (float)resident, .eligible = (float)((double)eligible / cycles),
                                               .issued = (float)((double)counters->issued / cycles)};
}
