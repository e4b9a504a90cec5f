/* Metrics as a summary for people and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "observe/metrics.h"
#include "observe/words.h"

enum { LABEL = 12, DIGITS = 10, CURVE_POINTS = 256, DETAILED_LAUNCHES = 3, LISTED_LAUNCHES = 20 };

static void label(FILE *stream, const char *indent, const char *text)
{
    fprintf(stream, "%s%-*s", indent, LABEL, text);
}

static void time_text(FILE *stream, double cycles, double clock_mhz)
{
    char text[WT_WORDS];
    fputs(wt_words_cycles(text, cycles), stream);
    if (clock_mhz > 0)
        fprintf(stream, " = %s", wt_words_us(text, cycles / clock_mhz));
}

static void percent(FILE *stream, double fraction)
{
    if (isnan(fraction))
        fputs("unknown", stream);
    else
        fprintf(stream, "%.1f %%", 100 * fraction);
}

/* Of a timeline of persistent launches, whose spans are tasks. */
static bool counts_tasks(const struct wt_metrics_part *part, const struct wt_timeline *about, const struct wt_timeline_launch *launch)
{
    uint64_t blocks = 0, tasks = 0;
    for (size_t i = 0; i < about->launch_count; i++)
        if (!launch || launch == &about->launches[i]) {
            blocks += about->launches[i].grid_blocks;
            tasks += about->launches[i].tasks;
        }
    return tasks > 0 && part->blocks > blocks;
}

/* `launch`: NULL for several together. */
static void print_rate(FILE *stream, const char *indent, const struct wt_metrics_part *part,
                       const struct wt_timeline_launch *launch, double clock_mhz, const char *what)
{
    char text[WT_WORDS];
    label(stream, indent, what);
    fputs(wt_words_count(text, part->blocks), stream);
    if (launch && launch->tasks == 0 && part->blocks < launch->grid_blocks)
        fprintf(stream, " of the grid's %s (an incomplete capture)", wt_words_count(text, launch->grid_blocks));
    if (!isnan(part->waves))
        fprintf(stream, ", %.2f waves (%d per SM)", part->waves, part->blocks_per_sm);
    if (clock_mhz > 0)
        fprintf(stream, ", %.4g %s/µs\n", part->blocks_per_cycle * clock_mhz, what);
    else
        fprintf(stream, ", %.4g %s/cycle\n", part->blocks_per_cycle, what);
}

static void print_durations(FILE *stream, const char *indent, const struct wt_durations *duration, const char *whose)
{
    char least[WT_WORDS], median[WT_WORDS], mean[WT_WORDS], most[WT_WORDS];
    label(stream, indent, whose);
    fprintf(stream, "least %s, median %s, mean %s, most %s\n", wt_words_number(least, duration->least),
            wt_words_number(median, duration->median), wt_words_number(mean, duration->mean),
            wt_words_cycles(most, duration->most));
}

static void print_occupancy(FILE *stream, const char *indent, const struct wt_metrics_part *part)
{
    label(stream, indent, "occupancy");
    percent(stream, part->occupancy_active);
    fputs(" achieved while an SM is busy, ", stream);
    percent(stream, part->occupancy_elapsed);
    fputs(" over the makespan; theoretical ", stream);
    percent(stream, part->theoretical_occupancy);
    putc('\n', stream);
}

static void print_busy(FILE *stream, const char *indent, const struct wt_busy *busy)
{
    label(stream, indent, "SM busy");
    fprintf(stream, "least %.1f %%, median %.1f %%, most %.1f %% of the makespan\n", 100 * busy->least,
            100 * busy->median, 100 * busy->most);
}

static void print_tail(FILE *stream, const char *indent, const struct wt_metrics_part *part,
                       const struct wt_timeline_launch *launch, double clock_mhz)
{
    const struct wt_tail *tail = &part->tail;
    label(stream, indent, "tail");
    if (launch && wt_metrics_one_wave(part, launch)) {
        fputs("none, the grid is one wave; ", stream);
    } else {
        time_text(stream, wt_to_cycles(tail->length), clock_mhz);
        fprintf(stream, ", %.1f %% of the makespan; in it ", 100 * tail->fraction);
    }
    fprintf(stream, "%.1f %% of SM time", 100 * tail->sm_idle);
    if (!isnan(tail->slot_idle))
        fprintf(stream, " and %.1f %% of slot time", 100 * tail->slot_idle);
    fputs(" idle\n", stream);
}

/* `launch`: NULL for all together. */
static void print_part(FILE *stream, const char *indent, const struct wt_metrics_part *part, const struct wt_timeline *about,
                       const struct wt_timeline_launch *launch)
{
    bool tasks = counts_tasks(part, about, launch);
    const struct wt_timeline_launch *one = launch ? launch : about->launch_count == 1 ? about->launches : NULL;
    label(stream, indent, "makespan");
    time_text(stream, wt_to_cycles(wt_metrics_makespan(part)), about->clock_mhz);
    putc('\n', stream);
    print_rate(stream, indent, part, one, about->clock_mhz, tasks ? "tasks" : "blocks");
    print_durations(stream, indent, &part->duration, tasks ? "task time" : "block time");
    print_occupancy(stream, indent, part);
    print_busy(stream, indent, &part->busy);
    print_tail(stream, indent, part, one, about->clock_mhz);
}

static void print_launch_title(FILE *stream, const struct wt_timeline_launch *launch)
{
    char grid[WT_WORDS];
    fprintf(stream, "%s: %s block%s", launch->name[0] ? launch->name : "kernel", wt_words_count(grid, launch->grid_blocks),
            launch->grid_blocks == 1 ? "" : "s");
    if (launch->threads_per_block > 0)
        fprintf(stream, " x %d threads", launch->threads_per_block);
}

static void print_title(FILE *stream, const struct wt_timeline *about)
{
    if (about->launch_count == 1)
        print_launch_title(stream, &about->launches[0]);
    else
        fprintf(stream, "%s: %zu launches", about->title[0] ? about->title : "run", about->launch_count);
    fprintf(stream, " on %s (%d SM%s", about->gpu_name[0] ? about->gpu_name : "a GPU", about->sm_count,
            about->sm_count == 1 ? "" : "s");
    if (about->clock_mhz > 0)
        fprintf(stream, ", %.6g MHz", about->clock_mhz);
    fputs(")\n", stream);
}

static void print_launches(FILE *stream, const struct wt_metrics *metrics)
{
    const struct wt_timeline *about = metrics->about;
    for (size_t i = 0; i < about->launch_count; i++) {
        fprintf(stream, "  launch %ld: ", about->launches[i].number);
        print_launch_title(stream, &about->launches[i]);
        putc('\n', stream);
        print_part(stream, "    ", &metrics->launches[i], about, &about->launches[i]);
    }
}

static void list_launch(FILE *stream, const struct wt_timeline_launch *launch, const struct wt_metrics_part *part,
                        wt_time begin)
{
    char blocks[WT_WORDS], start[WT_WORDS], makespan[WT_WORDS], threads[WT_WORDS] = "-";
    if (launch->threads_per_block > 0)
        snprintf(threads, sizeof threads, "%d", launch->threads_per_block);
    fprintf(stream, "  %6ld %10s %7s %12s %12s", launch->number, wt_words_count(blocks, launch->grid_blocks), threads,
            wt_words_number(start, wt_to_cycles(part->begin - begin)),
            wt_words_number(makespan, wt_to_cycles(wt_metrics_makespan(part))));
    if (isnan(part->waves))
        fprintf(stream, " %7s", "-");
    else
        fprintf(stream, " %7.2f", part->waves);
    if (isnan(part->occupancy_elapsed))
        fprintf(stream, " %10s", "-");
    else
        fprintf(stream, " %8.1f %%", 100 * part->occupancy_elapsed);
    fprintf(stream, "  %s\n", launch->name[0] ? launch->name : "kernel");
}

static void list_launches(FILE *stream, const struct wt_metrics *metrics)
{
    const struct wt_timeline *about = metrics->about;
    size_t listed = about->launch_count < LISTED_LAUNCHES ? about->launch_count : LISTED_LAUNCHES;
    fprintf(stream, "  %6s %10s %7s %12s %12s %7s %10s  %s\n", "launch", "blocks", "threads", "first start", "makespan",
            "waves", "occupancy", "kernel");
    for (size_t i = 0; i < listed; i++)
        list_launch(stream, &about->launches[i], &metrics->launches[i], metrics->whole.begin);
    if (listed < about->launch_count)
        fprintf(stream, "  … and %zu more launches; --json has them all\n", about->launch_count - listed);
}

void wt_metrics_print(FILE *stream, const struct wt_metrics *metrics)
{
    const struct wt_timeline *about = metrics->about;
    print_title(stream, about);
    print_part(stream, "  ", &metrics->whole, about, NULL);
    if (about->launch_count < 2)
        return;
    if (about->launch_count <= DETAILED_LAUNCHES)
        print_launches(stream, metrics);
    else
        list_launches(stream, metrics);
}

static void json_time(struct wt_json *json, const char *name, double cycles, double clock_mhz)
{
    char key[64];
    snprintf(key, sizeof key, "%s_cycles", name);
    wt_json_number(json, key, cycles, 15);
    snprintf(key, sizeof key, "%s_us", name);
    wt_json_number(json, key, clock_mhz > 0 ? cycles / clock_mhz : NAN, DIGITS);
}

static void json_duration(struct wt_json *json, const struct wt_durations *duration)
{
    wt_json_object(json, "block_cycles");
    wt_json_number(json, "min", duration->least, DIGITS);
    wt_json_number(json, "median", duration->median, DIGITS);
    wt_json_number(json, "mean", duration->mean, DIGITS);
    wt_json_number(json, "max", duration->most, DIGITS);
    wt_json_close(json);
}

static void json_busy(struct wt_json *json, const struct wt_busy *busy)
{
    wt_json_object(json, "sm_busy");
    wt_json_number(json, "min", busy->least, DIGITS);
    wt_json_number(json, "median", busy->median, DIGITS);
    wt_json_number(json, "mean", busy->mean, DIGITS);
    wt_json_number(json, "max", busy->most, DIGITS);
    wt_json_close(json);
}

static void json_part(struct wt_json *json, const struct wt_metrics_part *part, const struct wt_timeline *about,
                      const struct wt_timeline_launch *launch)
{
    double clock_mhz = about->clock_mhz;
    wt_json_int(json, "blocks", (int64_t)part->blocks);
    wt_json_bool(json, "blocks_are_tasks", counts_tasks(part, about, launch));
    json_time(json, "makespan", wt_to_cycles(wt_metrics_makespan(part)), clock_mhz);
    wt_json_int(json, "blocks_per_sm", part->blocks_per_sm);
    wt_json_number(json, "waves", part->waves, DIGITS);
    wt_json_number(json, "theoretical_occupancy", part->theoretical_occupancy, DIGITS);
    wt_json_number(json, "achieved_occupancy", part->occupancy_active, DIGITS);
    wt_json_number(json, "achieved_occupancy_elapsed", part->occupancy_elapsed, DIGITS);
    wt_json_number(json, "mean_resident_blocks", part->mean_resident_blocks, DIGITS);
    wt_json_number(json, "blocks_per_cycle", part->blocks_per_cycle, DIGITS);
    wt_json_number(json, "blocks_per_us", clock_mhz > 0 ? part->blocks_per_cycle * clock_mhz : NAN, DIGITS);
    json_duration(json, &part->duration);
    json_busy(json, &part->busy);
    json_time(json, "tail", wt_to_cycles(part->tail.length), clock_mhz);
    wt_json_number(json, "tail_fraction", part->tail.fraction, DIGITS);
    wt_json_number(json, "tail_sm_idle", part->tail.sm_idle, DIGITS);
    wt_json_number(json, "tail_slot_idle", part->tail.slot_idle, DIGITS);
}

static void json_launches(struct wt_json *json, const struct wt_metrics *metrics)
{
    const struct wt_timeline *about = metrics->about;
    wt_json_array(json, "launches");
    for (size_t i = 0; i < about->launch_count; i++) {
        const struct wt_timeline_launch *launch = &about->launches[i];
        wt_json_object(json, NULL);
        wt_json_int(json, "launch", launch->number);
        wt_json_string(json, "kernel", launch->name);
        wt_json_int(json, "grid_blocks", (int64_t)launch->grid_blocks);
        wt_json_number(json, "threads_per_block", launch->threads_per_block > 0 ? launch->threads_per_block : NAN, DIGITS);
        json_part(json, &metrics->launches[i], about, launch);
        wt_json_close(json);
    }
    wt_json_close(json);
}

/* Joins `step` neighbouring buckets; only the run's last one can be short. */
static double joined(const struct wt_residency_curve *curve, const double *value, size_t first, size_t step)
{
    double sum = 0, weight = 0;
    for (size_t i = first; i < first + step && i < curve->count; i++) {
        wt_time begin = curve->origin + i * curve->width, left = curve->end - begin;
        double width = (double)(left < curve->width ? left : curve->width);
        sum += value[i] * width;
        weight += width;
    }
    return weight > 0 ? sum / weight : 0;
}

static void json_series(struct wt_json *json, const char *key, const struct wt_residency_curve *curve,
                        const double *value, size_t step)
{
    wt_json_array(json, key);
    for (size_t i = 0; i < curve->count; i += step)
        wt_json_number(json, NULL, joined(curve, value, i, step), 6);
    wt_json_close(json);
}

static void json_residency(struct wt_json *json, const struct wt_residency_curve *curve, wt_time begin)
{
    size_t step = 1;
    while ((curve->count + step - 1) / step > CURVE_POINTS)
        step *= 2;
    wt_json_object(json, "residency");
    wt_json_number(json, "start_cycles", wt_to_cycles(curve->origin) - wt_to_cycles(begin), 15);
    wt_json_number(json, "step_cycles", wt_to_cycles(curve->width * step), 15);
    json_series(json, "blocks", curve, curve->blocks, step);
    json_series(json, "warps", curve, curve->warps, step);
    wt_json_close(json);
}

void wt_metrics_json(struct wt_json *json, const char *key, const struct wt_metrics *metrics)
{
    const struct wt_timeline *about = metrics->about;
    wt_json_object(json, key);
    wt_json_string(json, "title", about->title);
    wt_json_string(json, "gpu", about->gpu_name);
    wt_json_int(json, "sm_count", about->sm_count);
    wt_json_number(json, "clock_mhz", about->clock_mhz > 0 ? about->clock_mhz : NAN, DIGITS);
    json_part(json, &metrics->whole, about, NULL);
    json_launches(json, metrics);
    json_residency(json, &metrics->residency, metrics->whole.begin);
    wt_json_close(json);
}
