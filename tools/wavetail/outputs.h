/* The files `run`, `replay` and `export` can leave: their options, and writing all those asked for. */
#ifndef WT_OUTPUTS_H
#define WT_OUTPUTS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "observe/blocks.h"
#include "observe/exporter.h"
#include "observe/metrics.h"

/* What the user asked for. Put `outputs_argp` among the argp children with a `struct outputs *` as its input. */
struct outputs {
    const char *path[WT_EXPORTERS]; /* by exporter; NULL = not asked for */
    const char *title;
    int width, height;
};

/* --blocks (also --csv), --perfetto, --html, --svg, --png, --pdf, --save FILE; --size WxH, --title TEXT. */
extern const struct argp outputs_argp;

bool outputs_any(const struct outputs *outputs);

/* Pictures and pages can show any two runs; other files hold one, or one and its prediction. */
bool outputs_shows_two(int exporter);

/* Where the summary goes: standard output, or standard error when a file takes that. */
FILE *outputs_summary_stream(const struct outputs *outputs);

/* Writes all files asked for; `what`'s title and size become those asked for, where they are. */
enum wt_code outputs_write_all(const struct outputs *outputs, struct wt_export what, struct wt_error *err);

/* The same of timelines alone; either may be NULL. */
enum wt_code outputs_write(const struct outputs *outputs, struct wt_timeline *simulated,
                           struct wt_timeline *measured, struct wt_error *err);

/* A simulation's observers: metrics always, the table of blocks streamed when asked for, a timeline only when a
 * file needs one, so that a summary of a billion blocks takes no memory. */
struct outputs_run {
    const struct outputs *outputs;
    struct wt_timeline *timeline;
    bool keeps_timeline; /* otherwise the timeline gets no spans */
    struct wt_metrics_stream *metrics;
    struct wt_blocks blocks;
    struct wt_observer observers[3]; /* give these to wt_simulation */
    size_t observer_count;
};

/* `about`: GPU and launches, no spans; taken over. `keep` keeps the timeline even if no file needs it. On failure
 * nothing is left open. */
enum wt_code outputs_begin(struct outputs_run *run, const struct outputs *outputs, struct wt_timeline *about,
                           bool keep, struct wt_error *err);

/* After the simulation: writes the files; *metrics (may be NULL) is the caller's. `measured` may be NULL. The
 * timeline stays in run->timeline until outputs_clear. On failure *metrics is set all the same. */
enum wt_code outputs_finish(struct outputs_run *run, struct wt_timeline *measured, struct wt_metrics **metrics,
                            struct wt_error *err);

/* After a deadlock, which run->timeline tells (observe/standing.h), instead: writes all files but the table of blocks. */
enum wt_code outputs_finish_stuck(struct outputs_run *run, struct wt_error *err);

/* Frees everything; unfinished files vanish. Call it always, also after a failed simulation. */
void outputs_clear(struct outputs_run *run);

#endif
