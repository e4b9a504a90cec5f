#include "progress.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"

enum { BLOCKS_BETWEEN_LOOKS = 1 << 16 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_left(double seconds)
{
    if (seconds < 100)
        fprintf(stderr, ", %.0f s left", seconds);
    else if (seconds < 6000)
        fprintf(stderr, ", %.0f min left", seconds / 60);
    else
        fprintf(stderr, ", %.0f h %.0f min left", floor(seconds / 3600), floor(fmod(seconds, 3600) / 60));
}

static void print_bar(const struct progress *p, double at)
{
    enum { WIDTH = 20 };
    double left = p->done ? (at - p->begun) * (double)(p->total - p->done) / (double)p->done : 0;
    int full = (int)(p->done * WIDTH / p->total);
    fprintf(stderr, "[%.*s%*s] %llu of %llu %s", full, "####################", WIDTH - full, "", (unsigned long long)p->done,
            (unsigned long long)p->total, p->things);
    if (p->done)
        print_left(left);
}

static void print_amount(const struct progress *p, double at)
{
    if (p->things)
        print_bar(p, at);
    else
        fprintf(stderr, "%.1f of %.1f million blocks, %.1f million a second", (double)p->done * 1e-6,
                (double)p->total * 1e-6, (double)p->done * 1e-6 / (at - p->begun));
}

static void show(struct progress *p, double at)
{
    p->shown = at;
    fputs(p->rewrites ? "\r" : "", stderr);
    print_amount(p, at);
    fputs(p->rewrites ? "\033[K" : "\n", stderr);
    fflush(stderr);
}

static void look(struct progress *p)
{
    p->look = p->done + (p->things ? 1 : BLOCKS_BETWEEN_LOOKS);
    double at = now();
    if (at - p->begun > 1 && at - p->shown > (p->rewrites ? 0.25 : 10))
        show(p, at);
}

void progress_step(struct progress *p)
{
    if (++p->done >= p->look)
        look(p);
}

static void count(void *context, const struct wt_block_run *run)
{
    (void)run;
    progress_step(context);
}

struct progress progress_begin(uint64_t total, bool quiet)
{
    return (struct progress){.total = total,
                             .look = quiet ? UINT64_MAX : BLOCKS_BETWEEN_LOOKS,
                             .begun = now(),
                             .rewrites = isatty(STDERR_FILENO)};
}

struct progress progress_begin_things(uint64_t total, const char *things, bool quiet)
{
    struct progress p = progress_begin(total, quiet);
    p.things = things;
    p.look = quiet ? UINT64_MAX : 1;
    return p;
}

struct wt_observer progress_observer(struct progress *progress)
{
    return (struct wt_observer){.context = progress, .block_done = count};
}

void progress_end(struct progress *p)
{
    if (p->rewrites && p->shown > 0)
        fputs("\r\033[K", stderr);
}

/* ---- Waiting ---- */

struct progress_wait {
    const char *doing;
    bool over, shown, started;
    pthread_t thread;
    pthread_mutex_t lock; /* of `over` */
    pthread_cond_t changed;
};

static void show_wait(struct progress_wait *w, double seconds)
{
    fprintf(stderr, "\r%s, %.0f s\033[K", w->doing, seconds);
    fflush(stderr);
    w->shown = true;
}

static void *watch(void *context)
{
    struct progress_wait *w = context;
    double begun = now();
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        next.tv_sec++;
        while (!w->over && pthread_cond_timedwait(&w->changed, &w->lock, &next) == 0)
            ;
        if (!w->over)
            show_wait(w, now() - begun);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct progress_wait *progress_wait_begin(const char *doing, bool quiet)
{
    struct progress_wait *w = wt_alloc(1, sizeof *w);
    *w = (struct progress_wait){.doing = doing};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&w->lock, NULL);
    w->started = !quiet && isatty(STDERR_FILENO) && pthread_create(&w->thread, NULL, watch, w) == 0;
    return w;
}

void progress_wait_end(struct progress_wait *w)
{
    pthread_mutex_lock(&w->lock);
    w->over = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (w->started)
        pthread_join(w->thread, NULL);
    if (w->shown)
        fputs("\r\033[K", stderr);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
