#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS_BETWEEN_LOOKS = 1 << 16 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show(struct progress *p, double at)
{
    p->shown = at;
    fprintf(stderr, "%s%.1f of %.1f million blocks, %.1f million a second%s", p->rewrites ? "\r" : "", (double)p->done * 1e-6,
            (double)p->total * 1e-6, (double)p->done * 1e-6 / (at - p->begun), p->rewrites ? "\033[K" : "\n");
    fflush(stderr);
}

static void look(struct progress *p)
{
    p->look = p->done + BLOCKS_BETWEEN_LOOKS;
    double at = now();
    if (at - p->begun > 1 && at - p->shown > (p->rewrites ? 0.25 : 10))
        show(p, at);
}

static void count(void *context, const struct wt_block_run *run)
{
    (void)run;
    struct progress *p = context;
    if (++p->done >= p->look)
        look(p);
}

struct progress progress_begin(uint64_t total, bool quiet)
{
    return (struct progress){.total = total,
                             .look = quiet ? UINT64_MAX : BLOCKS_BETWEEN_LOOKS,
                             .begun = now(),
                             .rewrites = isatty(STDERR_FILENO)};
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
