/* What the view opens: a trace, a result file, or a workload. */
#ifndef VIEW_LOAD_H
#define VIEW_LOAD_H

#include "captions.h"
#include "lesson.h"
#include "run.h"
#include "scenario.h"

struct loaded {
    struct run *runs[2]; /* owned; a trace that can be replayed and many result files give two */
    int count;
    struct scenario *scenario; /* for the what-if panel; NULL: cannot be simulated again; owned */
    struct scenario *second;   /* that the second run's origin refers to; NULL: none; owned */
    struct captions captions;  /* of a lesson; empty: none; owned */
    struct lesson lesson;      /* title NULL: it is none; owned */
    char note[1100];           /* what the user should know, e.g. why a trace was not replayed; "" = nothing */
};

struct load_setup {
    const char *gpu; /* NULL: what the file names */
    uint64_t seed;
    bool seed_given;
    bool no_replay; /* show a trace alone */
};

/* On failure `out` is zeroed and `err` says FILE:LINE, what, and what to do. */
enum wt_code load_input(const char *path, const struct load_setup *setup, struct loaded *out, struct wt_error *err);
/* A lesson by name or file: its workloads are the runs. */
enum wt_code load_lesson(const char *name, const struct load_setup *setup, struct loaded *out, struct wt_error *err);
void loaded_clear(struct loaded *loaded);

#endif
