/* Rows of figures under the timeline: resident blocks, occupancy, queue, shared memory, and the difference of two
 * runs. Every pixel is the exact mean over its time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "observe/words.h"
#include "timeline.h"

struct counter {
    const char *name;
    /* Mean over [t0, t1); NaN = not known. */
    double (*value)(struct view *view, int run, wt_time t0, wt_time t1);
    double (*most)(const struct view *view, int run);
    const char *unit;
    bool is_difference;
};

/* ---- Values ---- */

static double blocks_value(struct view *view, int run, wt_time t0, wt_time t1)
{
    return density_mean(&view->runs[run]->blocks, t0, t1);
}

static double blocks_most(const struct view *view, int run)
{
    return (double)view->runs[run]->slots * view->runs[run]->sms;
}

static double occupancy_value(struct view *view, int run, wt_time t0, wt_time t1)
{
    const struct run *shown = view->runs[run];
    return 100 * run_mean_warps(shown, t0, t1) / ((double)shown->timeline->warps_per_sm * shown->sms);
}

static double hundred(const struct view *view, int run)
{
    (void)view, (void)run;
    return 100;
}

static double queue_value(struct view *view, int run, wt_time t0, wt_time t1)
{
    return (double)run_waiting(view->runs[run], t0 + (t1 - t0) / 2);
}

static double queue_most(const struct view *view, int run)
{
    return (double)view->runs[run]->grid_blocks;
}

static double of_curve(const struct view *view, int run, const double *curve, wt_time t0, wt_time t1)
{
    double middle = ((double)t0 + (double)t1) / 2 / (double)view->runs[run]->end;
    int point = (int)(middle * SHARED_POINTS);
    return curve[point < 0 ? 0 : point >= SHARED_POINTS ? SHARED_POINTS - 1 : point] / 1024;
}

static double free_value(struct view *view, int run, wt_time t0, wt_time t1)
{
    return of_curve(view, run, view->shared[run].free_bytes, t0, t1);
}

static double hole_value(struct view *view, int run, wt_time t0, wt_time t1)
{
    return of_curve(view, run, view->shared[run].largest_hole, t0, t1);
}

static double shared_most(const struct view *view, int run)
{
    return view->runs[run]->gpu->limits.shared_bytes_per_sm / 1024.0;
}

static double difference_value(struct view *view, int run, wt_time t0, wt_time t1)
{
    return blocks_value(view, run, t0, t1) - blocks_value(view, 1 - run, t0, t1);
}

static double difference_most(const struct view *view, int run)
{
    return blocks_most(view, run) / 2;
}

static const struct counter resident = {"resident", blocks_value, blocks_most, "", false};
static const struct counter occupancy = {"occupancy", occupancy_value, hundred, " %", false};
static const struct counter queue = {"waiting", queue_value, queue_most, "", false};
static const struct counter free_shared = {"free shared", free_value, shared_most, " KB", false};
static const struct counter hole = {"largest hole", hole_value, shared_most, " KB", false};
static const struct counter difference = {"difference", difference_value, difference_most, " blocks", true};

/* ---- Which ---- */

static bool shared_known(struct view *view, int run)
{
    struct shared_curve *curve = &view->shared[run];
    if (curve->of != view->runs[run]) {
        curve->of = view->runs[run];
        curve->known = sm_shared_curve(curve->of, SHARED_POINTS, &curve->free_bytes, &curve->largest_hole);
    }
    return curve->known;
}

enum { MOST_COUNTERS = 6 };

static int list_counters(struct view *view, int run, const struct counter *list[MOST_COUNTERS])
{
    int count = 0;
    list[count++] = &resident;
    if (view->compare != COMPARE_OFF && view->run_count > 1)
        list[count++] = &difference;
    if (view->runs[run]->timeline->warps_per_sm > 0)
        list[count++] = &occupancy;
    list[count++] = &queue;
    if (shared_known(view, run)) {
        list[count++] = &free_shared;
        list[count++] = &hole;
    }
    return count;
}

int counters_height(const struct view *view, const int *runs, int run_count)
{
    const struct counter *list[MOST_COUNTERS];
    (void)run_count;
    return COUNTER * list_counters((struct view *)(uintptr_t)view, runs[0], list);
}

/* ---- Drawing ---- */

static double value_at(struct view *view, const struct counter *counter, int run, struct rect plot, int x)
{
    wt_time t0 = timeline_edge(view, plot, x), t1 = timeline_edge(view, plot, x + 1);
    if (t1 <= t0 || t0 >= view->runs[run]->end)
        return 0;
    return counter->value(view, run, t0, t1);
}

static double top_of(const struct view *view, const struct counter *counter)
{
    double most = counter->most(view, 0);
    return view->run_count > 1 ? fmax(most, counter->most(view, 1)) : most;
}

static void draw_area(struct view *view, const struct counter *counter, int run, struct rect plot)
{
    double most = top_of(view, counter);
    colour value = counter->is_difference ? 0 : view->ui.theme->focus;
    for (int x = plot.x; x < plot.x + plot.w; x++) {
        double share = value_at(view, counter, run, plot, x) / most;
        if (counter->is_difference) {
            double h = fmin(fabs(share), 1) * plot.h / 2, middle = plot.y + plot.h / 2.0;
            value = palette_diverging(view->ui.theme, share < 0 ? -1 : 1);
            canvas_fill(&view->canvas, (struct rect){x, (int)lround(share > 0 ? middle - h : middle), 1, (int)lround(h)}, value);
            continue;
        }
        int h = (int)lround(fmin(fmax(share, 0), 1) * plot.h);
        canvas_blend(&view->canvas, (struct rect){x, plot.y + plot.h - h, 1, h}, value, 70);
        canvas_fill(&view->canvas, (struct rect){x, plot.y + plot.h - h, 1, h ? 1 : 0}, value);
    }
}

/* The other run as a line. */
static void draw_line(struct view *view, const struct counter *counter, int run, struct rect plot)
{
    double most = top_of(view, counter);
    int last = 0;
    for (int x = plot.x; x < plot.x + plot.w; x++) {
        double share = value_at(view, counter, run, plot, x) / most;
        int y = plot.y + plot.h - 1 - (int)lround(fmin(fmax(share, 0), 1) * (plot.h - 1));
        int from = x > plot.x && last < y ? last : y, to = x > plot.x && last > y ? last : y;
        canvas_fill(&view->canvas, (struct rect){x, from, 1, to - from + ui_px(&view->ui, 1.5)}, view->ui.theme->ink);
        last = y;
    }
}

static void draw_reading(struct view *view, const struct counter *counter, int run, struct rect gutter, struct rect plot)
{
    char text[96], number[WT_WORDS];
    struct rect name = gutter;
    name.x += ui_px(&view->ui, 4);
    name.w -= ui_px(&view->ui, 8);
    name.h = gutter.h / 2;
    ui_text(&view->ui, name, ALIGN_LEFT, FONT_PLAIN, TEXT_SMALL, view->ui.theme->soft, counter->name);
    wt_time now = view_now(view);
    double value = ui_over(&view->ui, plot)      ? value_at(view, counter, run, plot, view->ui.in.x)
                   : now < view->runs[run]->end ? counter->value(view, run, now, now + 1)
                                                 : 0;
    snprintf(text, sizeof text, "%s%s%s", value <= -0.005 ? "−" : counter->is_difference && value >= 0.005 ? "+" : "",
             wt_words_number(number, fabs(value)), counter->unit);
    bool untold = (counter == &free_shared || counter == &hole) && now >= view->runs[run]->end && !ui_over(&view->ui, plot);
    name.y += name.h;
    if (untold)
        return;
    ui_text(&view->ui, name, ALIGN_LEFT, FONT_BOLD, TEXT_SMALL, view->ui.theme->ink, text);
}

static void draw_counter(struct view *view, const struct counter *counter, struct rect gutter, struct rect plot, int run,
                         bool both)
{
    struct rect old = canvas_clip_to(&view->canvas, plot);
    canvas_fill(&view->canvas, plot, view->ui.theme->well);
    timeline_draw_tails(view, plot, view->runs[run]);
    draw_area(view, counter, run, plot);
    if (both && !counter->is_difference && (counter != &free_shared || shared_known(view, 1 - run)))
        draw_line(view, counter, 1 - run, plot);
    canvas_set_clip(&view->canvas, old);
    draw_reading(view, counter, run, gutter, plot);
}

void counters_draw(struct view *view, struct rect gutter, struct rect rect, const int *runs, int run_count)
{
    const struct counter *list[MOST_COUNTERS];
    int count = list_counters(view, runs[0], list);
    bool both = view->compare != COMPARE_OFF && view->run_count > 1;
    (void)run_count;
    canvas_fill(&view->canvas, gutter, view->ui.theme->page);
    for (int i = 0; i < count; i++) {
        struct rect left = ui_cut_top(&view->ui, &gutter, COUNTER), plot = ui_cut_top(&view->ui, &rect, COUNTER);
        if (plot.h < ui_px(&view->ui, COUNTER) - 1)
            return;
        plot.h -= ui_px(&view->ui, 3);
        if (list[i] == &hole || list[i] == &free_shared)
            draw_counter(view, list[i], left, plot, runs[0], both && shared_known(view, 1 - runs[0]));
        else
            draw_counter(view, list[i], left, plot, runs[0], both);
    }
}
