#include "bench.h"

#include <math.h>
#include <time.h>

#include "core/quantile.h"

enum { FRAMES = 60 };

struct bench_case {
    const char *name;
    enum page page;
    void (*each)(struct view *view, int frame); /* before a frame */
};

static void play(struct view *view, int frame)
{
    playback_go(&view->playback, view->playback.end * (frame + 0.5) / FRAMES);
}

static void zoom(struct view *view, int frame)
{
    axis_zoom(view, frame < FRAMES / 2 ? 1.2 : 1 / 1.2, view->playback.end * 0.6);
}

static void pan(struct view *view, int frame)
{
    if (frame == 0)
        axis_zoom(view, 10, 0);
    axis_pan(view, 0.15);
}

static void scroll(struct view *view, int frame)
{
    view->axis.row_points = 48;
    view->axis.scroll = frame * 60;
}

static const struct bench_case cases[] = {
    {"overview, playing", PAGE_OVERVIEW, play}, {"floor, playing", PAGE_FLOOR, play},
    {"timeline, playing", PAGE_TIMELINE, play}, {"timeline, zooming", PAGE_TIMELINE, zoom},
    {"timeline, panning", PAGE_TIMELINE, pan},  {"timeline, slots", PAGE_TIMELINE, scroll},
    {"SM, playing", PAGE_SM, play},
};

double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_case(struct view *view, const struct bench_case *bench, FILE *stream)
{
    double times[FRAMES];
    view->page = bench->page;
    view->axis.row_points = 0;
    view->axis.scroll = 0;
    axis_reset(view);
    view_frame(view, 0);
    for (int i = 0; i < FRAMES; i++) {
        bench->each(view, i);
        double begin = bench_seconds();
        view_frame(view, 1.0 / 60);
        times[i] = 1000 * (bench_seconds() - begin);
    }
    wt_sort_numbers(times, FRAMES);
    double median = wt_quantile(times, FRAMES, 50);
    fprintf(stream, "%-20s %7.2f ms median %7.2f ms 95 %%  %6.0f frames/s\n", bench->name, median,
            wt_quantile(times, FRAMES, 95), 1000 / fmax(median, 0.001));
}

void bench_run(struct view *view, FILE *stream)
{
    fprintf(stream, "%dx%d, %zu blocks on %d SMs\n", view->canvas.width, view->canvas.height, view_run(view)->timeline->span_count,
            view_run(view)->sms);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(view, &cases[i], stream);
}
