#include "study/plot_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"

static const struct {
    const char *name;
    struct wt_column_meaning meaning;
} known[] = {
    {"point", {"point", 1, true, 0}},
    {"error", {"error", 1, true, 0}},
    {"blocks_per_sm", {"blocks per SM", 1, true, 1}},
    {"occupancy", {"theoretical occupancy (%)", 100, true, 1}},
    {"limiter", {"what limits occupancy", 1, true, 0}},
    {"idealised_blocks_per_sm", {"blocks per SM, idealised", 1, true, 1}},
    {"idealised_occupancy", {"theoretical occupancy, idealised (%)", 100, true, 1}},
    {"blocks", {"blocks", 1, true, 0}},
    {"waves", {"waves", 1, true, 0}},
    {"makespan", {"makespan (cycles)", 1, true, -1}},
    {"makespan_us", {"makespan (µs)", 1, true, -1}},
    {"blocks_per_cycle", {"throughput (blocks per cycle)", 1, true, 1}},
    {"achieved_occupancy", {"achieved occupancy (%)", 100, true, 1}},
    {"busy", {"time that SMs are busy (%)", 100, true, 1}},
    {"tail", {"tail (cycles)", 1, true, -1}},
    {"tail_fraction", {"tail (% of the makespan)", 100, true, -1}},
    {"warps_active", {"resident warps per scheduler", 1, true, 0}},
    {"warps_eligible", {"eligible warps per scheduler", 1, true, 1}},
    {"issue_active", {"instructions per cycle and scheduler", 1, true, 1}},
    {"stall", {"most frequent stall", 1, true, 0}},
    {"elapsed", {"first call to the end (cycles)", 1, true, -1}},
    {"elapsed_us", {"first call to the end (µs)", 1, true, -1}},
    {"program", {"program", 1, false, 0}},
    {"grid", {"grid (blocks)", 1, false, 0}},
    {"block", {"block size (threads)", 1, false, 0}},
    {"registers", {"registers per thread", 1, false, 0}},
    {"static_shared", {"static shared memory per block (KB)", 1.0 / 1024, false, 0}},
    {"dynamic_shared", {"dynamic shared memory per block (KB)", 1.0 / 1024, false, 0}},
    {"carveout_kb", {"shared-memory configuration (KB)", 1, false, 0}},
    {"persistent.tasks", {"tasks", 1, false, 0}},
    {"persistent.overhead", {"overhead per task (cycles)", 1, false, 0}},
    {"split", {"parts of each block", 1, false, 0}},
    {"split_overhead", {"overhead per part (cycles)", 1, false, 0}},
    {"order", {"order of blocks", 1, false, 0}},
    {"gpu", {"GPU", 1, false, 0}},
    {"placement", {"placement policy", 1, false, 0}},
    {"seed", {"seed", 1, false, 0}},
    {"duration.cycles", {"duration of a block (cycles)", 1, false, 0}},
    {"duration.mean", {"mean duration (cycles)", 1, false, 0}},
    {"duration.sigma", {"spread of durations (σ of their logarithm)", 1, false, 0}},
    {"demand.issue", {"instructions a warp issues per cycle", 1, false, 0}},
    {"demand.l2_bytes", {"L2 traffic of a warp (bytes per cycle)", 1, false, 0}},
    {"demand.dram_bytes", {"DRAM traffic of a warp (bytes per cycle)", 1, false, 0}},
    {"demand.sm_saturation", {"warps that use up an SM", 1, false, 0}},
    {"demand.gpu_saturation", {"warps that use up the GPU", 1, false, 0}},
};

struct wt_column_meaning wt_column_meaning(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name))
            return known[i].meaning;
    return (struct wt_column_meaning){.title = name, .scale = 1};
}

static bool all_numbers(const struct wt_table *table, const bool *use, size_t column)
{
    for (size_t row = 0; row < table->rows; row++)
        if (use[row] && isnan(wt_table_number(table, row, column)))
            return false;
    return true;
}

static size_t find_number(const struct wt_distinct *d, double value)
{
    size_t low = 0, high = d->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_numbers(struct wt_distinct *d, const struct wt_table *table, const bool *use, size_t column, double scale)
{
    double *all = wt_alloc(table->rows, sizeof *all);
    size_t count = 0;
    for (size_t row = 0; row < table->rows; row++)
        if (use[row])
            all[count++] = scale * wt_table_number(table, row, column);
    wt_sort_numbers(all, count);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || all[i] != all[d->count - 1])
            all[d->count++] = all[i];
    d->values = all;
    for (size_t row = 0; row < table->rows; row++) {
        if (!use[row])
            continue;
        d->of_row[row] = find_number(d, scale * wt_table_number(table, row, column));
        d->texts[d->of_row[row]] = wt_table_cell(table, row, column);
    }
}

static void take_texts(struct wt_distinct *d, const struct wt_table *table, const bool *use, size_t column)
{
    for (size_t row = 0; row < table->rows; row++) {
        if (!use[row])
            continue;
        const char *cell = wt_table_cell(table, row, column);
        size_t i = 0;
        while (i < d->count && strcmp(d->texts[i], cell))
            i++;
        d->texts[i] = cell;
        d->count += i == d->count;
        d->of_row[row] = i;
    }
}

struct wt_distinct wt_distinct(const struct wt_table *table, const bool *use, size_t column, double scale)
{
    struct wt_distinct d = {.numbers = all_numbers(table, use, column), .texts = wt_alloc(table->rows, sizeof *d.texts),
                            .of_row = wt_alloc(table->rows, sizeof *d.of_row)};
    if (d.numbers)
        take_numbers(&d, table, use, column, scale);
    else
        take_texts(&d, table, use, column);
    return d;
}

void wt_distinct_clear(struct wt_distinct *distinct)
{
    free(distinct->values);
    free(distinct->texts);
    free(distinct->of_row);
    *distinct = (struct wt_distinct){0};
}
