/* Files made from a run: one exporter per format, all behind one descriptor. */
#ifndef WT_OBSERVE_EXPORTER_H
#define WT_OBSERVE_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/status.h"
#include "observe/timeline.h"

struct wt_address_space;

/* Words that belong to a moment. */
struct wt_remark {
    int side;   /* 0: of `measured`, or of the only timeline; 1: of `simulated` beside it */
    wt_time at; /* after the side's first start */
    const char *text;
};

/* A lesson's words, for pictures and pages. */
struct wt_story {
    const char *scenario, *question, *answer;
    const struct wt_remark *remarks; /* by side, then by time */
    size_t remark_count;
    bool without_tails; /* they are not what it is about */
};

/* What to export. At least one timeline is given; an exporter may sort them. Not owned. */
struct wt_export {
    struct wt_timeline *simulated;
    struct wt_timeline *measured;   /* shown first */
    const char *labels[2]; /* what `measured` and `simulated` are called where both are there; NULL: so. With labels they may be
                              any two runs that are to be compared */
    const struct wt_address_space *spaces[2]; /* of theirs, shown instead of the SMs' rows; NULL: none */
    const struct wt_story *story;   /* NULL: none */
    const char *title;  /* of a picture; NULL: made from the timeline */
    int width, height;  /* of a picture, in pixels (points for PDF); 0: chosen to suit the content */
};

struct wt_exporter {
    const char *name; /* also the command-line option that takes the file's name */
    enum wt_code (*write)(const struct wt_export *what, FILE *stream, struct wt_error *err);
};

/* The table: descriptor wt_NAME_exporter, the option's argument and help. */
#define WT_EXPORTER_LIST(X)                                                                                  \
    X(svg, "FILE.svg", "picture of the timeline as SVG")                                                    \
    X(png, "FILE.png", "picture as PNG")                                                                    \
    X(pdf, "FILE.pdf", "picture as PDF")                                                                    \
    X(html, "FILE.html", "page for a browser: timeline with zoom and hover, metrics; needs no network")          \
    X(perfetto, "FILE.json", "trace for ui.perfetto.dev, one track per SM slot")                             \
    X(save, "FILE", "result file for `wavetail export` and `wavetail view`")                                 \
    X(blocks, "FILE.csv", "table of blocks: launch,block,sm,slot,start,end in cycles")

#define WT_EXPORTER_INDEX(name, argument, summary) WT_EXPORTER_##name,
enum { WT_EXPORTER_LIST(WT_EXPORTER_INDEX) WT_EXPORTERS };
#undef WT_EXPORTER_INDEX

extern const struct wt_exporter *const wt_exporters[WT_EXPORTERS];

/* Writes `path` through a temporary name; "-" is standard output. */
enum wt_code wt_export_write(const struct wt_exporter *exporter, const struct wt_export *what, const char *path,
                             struct wt_error *err);

/* The simulated timeline, or the measured one where there is no other. */
struct wt_timeline *wt_export_main(const struct wt_export *what);

#endif
