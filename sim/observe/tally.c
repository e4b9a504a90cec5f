#include "observe/tally.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static int compare_times(const void *left, const void *right)
{
    wt_time a = *(const wt_time *)left, b = *(const wt_time *)right;
    return (a > b) - (a < b);
}

static struct wt_busy busy_fractions(wt_time *busy_of_sm, int sms, double makespan)
{
    qsort(busy_of_sm, (size_t)sms, sizeof *busy_of_sm, compare_times);
    double sum = 0;
    for (int i = 0; i < sms; i++)
        sum += (double)busy_of_sm[i];
    double middle = ((double)busy_of_sm[(sms - 1) / 2] + (double)busy_of_sm[sms / 2]) / 2;
    return (struct wt_busy){
        .least = share((double)busy_of_sm[0], makespan),
        .median = share(middle, makespan),
        .mean = share(sum / sms, makespan),
        .most = share((double)busy_of_sm[sms - 1], makespan),
    };
}

static struct wt_tail tail_of(const struct wt_tally *tally, int sms, int blocks_per_sm)
{
    wt_time start = tally->queue_empty < tally->begin ? tally->begin : tally->queue_empty;
    start = start > tally->end ? tally->end : start;
    double area = (double)sms * (double)(tally->end - start);
    double resident = share((double)tally->tail_block_time, area * blocks_per_sm);
    return (struct wt_tail){
        .start = start,
        .length = tally->end - start,
        .fraction = share((double)(tally->end - start), (double)(tally->end - tally->begin)),
        .sm_idle = share((double)tally->tail_sm_idle, area),
        .slot_idle = blocks_per_sm == 0 ? NAN : area > 0 ? 1 - resident : 0,
    };
}

static struct wt_durations durations_of(const struct wt_tally *tally)
{
    return (struct wt_durations){
        .least = wt_to_cycles(tally->least),
        .median = tally->median / (double)WT_CYCLE,
        .mean = (double)tally->block_time / (double)tally->blocks / (double)WT_CYCLE,
        .most = wt_to_cycles(tally->most),
    };
}

/* The shape all launches share; 0 in fields in which they differ. */
static struct wt_timeline_launch common_launch(const struct wt_timeline *about)
{
    struct wt_timeline_launch common = {0};
    for (size_t i = 0; i < about->launch_count; i++) {
        const struct wt_timeline_launch *launch = &about->launches[i];
        if (i == 0)
            common = *launch;
        if (launch->blocks_per_sm != common.blocks_per_sm)
            common.blocks_per_sm = 0;
        if (launch->warps_per_block != common.warps_per_block)
            common.warps_per_block = 0;
    }
    return common;
}

static double grid_of(const struct wt_timeline *about, const struct wt_timeline_launch *launch)
{
    double blocks = 0;
    for (size_t i = 0; i < about->launch_count; i++)
        if (!launch || launch == &about->launches[i])
            blocks += (double)about->launches[i].grid_blocks;
    return blocks;
}

/* A launch whose block is not described may have any number of warps. */
static bool warps_are_known(const struct wt_timeline *about, const struct wt_timeline_launch *launch)
{
    for (size_t i = 0; i < about->launch_count; i++)
        if ((!launch || launch == &about->launches[i]) && about->launches[i].warps_per_block == 0)
            return false;
    return true;
}

struct wt_metrics_part wt_tally_finish(const struct wt_tally *tally, const struct wt_timeline *about,
                                       const struct wt_timeline_launch *launch, wt_time *busy_of_sm)
{
    struct wt_timeline_launch shape = launch ? *launch : common_launch(about);
    double resident_warps = (double)shape.blocks_per_sm * shape.warps_per_block;
    double limit = warps_are_known(about, launch) ? about->warps_per_sm : 0, sms = about->sm_count;
    double theoretical = resident_warps > 0 && limit > 0 ? resident_warps / limit : NAN;
    if (tally->blocks == 0)
        return (struct wt_metrics_part){.blocks_per_sm = shape.blocks_per_sm, .theoretical_occupancy = theoretical};
    double makespan = (double)(tally->end - tally->begin);
    struct wt_busy busy = busy_fractions(busy_of_sm, about->sm_count, makespan);
    return (struct wt_metrics_part){
        .blocks = tally->blocks,
        .begin = tally->begin,
        .end = tally->end,
        .blocks_per_sm = shape.blocks_per_sm,
        .theoretical_occupancy = theoretical,
        .occupancy_active = limit > 0 ? share((double)tally->warp_time, limit * busy.mean * sms * makespan) : NAN,
        .occupancy_elapsed = limit > 0 ? share((double)tally->warp_time, limit * sms * makespan) : NAN,
        .mean_resident_blocks = share((double)tally->block_time, makespan),
        .waves = shape.blocks_per_sm > 0 ? grid_of(about, launch) / (sms * shape.blocks_per_sm) : NAN,
        .blocks_per_cycle = share((double)tally->blocks, makespan / (double)WT_CYCLE),
        .duration = durations_of(tally),
        .busy = busy,
        .tail = tail_of(tally, about->sm_count, shape.blocks_per_sm),
    };
}

struct wt_metrics *wt_metrics_new(const struct wt_timeline *about)
{
    struct wt_metrics *metrics = wt_alloc(1, sizeof *metrics);
    metrics->about = wt_timeline_copy_description(about);
    metrics->launches = wt_alloc(about->launch_count, sizeof *metrics->launches);
    metrics->sm_busy = wt_alloc((size_t)about->sm_count, sizeof *metrics->sm_busy);
    return metrics;
}

void wt_metrics_set_busy(struct wt_metrics *metrics, const wt_time *busy_of_sm, wt_time makespan)
{
    for (int i = 0; i < metrics->about->sm_count; i++)
        metrics->sm_busy[i] = share((double)busy_of_sm[i], (double)makespan);
}

void wt_metrics_free(struct wt_metrics *metrics)
{
    if (!metrics)
        return;
    wt_residency_curve_free(&metrics->residency);
    wt_timeline_free(metrics->about);
    free(metrics->launches);
    free(metrics->sm_busy);
    free(metrics);
}

wt_time wt_metrics_makespan(const struct wt_metrics_part *part)
{
    return part->end - part->begin;
}

bool wt_metrics_one_wave(const struct wt_metrics_part *part, const struct wt_timeline_launch *launch)
{
    return part->waves <= 1 && part->blocks <= launch->grid_blocks;
}

bool wt_metrics_has_tail(const struct wt_metrics *metrics)
{
    size_t last = 0;
    for (size_t i = 1; i < metrics->about->launch_count; i++)
        if (metrics->launches[i].tail.start >= metrics->launches[last].tail.start)
            last = i;
    return metrics->about->launch_count > 0 && !wt_metrics_one_wave(&metrics->launches[last], &metrics->about->launches[last]);
}
