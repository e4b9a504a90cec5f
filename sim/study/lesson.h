/* Lessons: classroom scenarios (configs/lessons/NAME.cfg). A lesson names one workload or two, tells what happens in captions,
 * asks and answers. Figures in its texts come from the simulation: {makespan}, {1:tail} of launch 1, {second:waves} of the second
 * workload, {second:0:makespan}; `wavetail lesson --keys` lists them. */
#ifndef WT_STUDY_LESSON_H
#define WT_STUDY_LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/status.h"
#include "observe/address_space.h"
#include "observe/metrics.h"
#include "observe/timeline.h"
#include "warp/metrics.h"

struct wt_caption {
    double at;   /* share of the workload's or the launch's makespan, see wt_lesson_moment */
    bool second; /* of the second workload */
    int launch;  /* -1: of all */
    char *text;
};

/* Texts still hold their placeholders. All owned. */
struct wt_lesson {
    char *path, *title, *workload, *second, *scenario, *question, *answer; /* second: NULL where there is only one */
    struct wt_caption *captions; /* by time, those of the second workload last */
    size_t caption_count;
    bool tails;         /* pictures mark them */
    bool shared_memory; /* the picture is to show SM 0's shared memory, not the SMs */
};

/* One workload, simulated with its own GPU (the H200 where it names none) and seed. */
struct wt_lesson_run {
    struct wt_timeline *timeline; /* with its deadlock, if there is one; owned */
    struct wt_address_space *space; /* SM 0's shared memory; owned */
    struct wt_metrics *metrics;   /* owned */
    struct wt_warp_result *warps; /* by launch; NULL: no kernel has a program; owned */
};

/* Names, sorted, from $WAVETAIL_CONFIGS/lessons, else the source tree, else the installed share folder. The caller frees each
 * and the array. */
enum wt_code wt_lesson_list(char ***names, size_t *count, struct wt_error *err);

/* A name or a file. On failure *out is NULL; WT_BAD_INPUT names lessons whose titles hold the word,
 * else the nearest name, else lessons whose texts hold it. */
enum wt_code wt_lesson_read(const char *name, struct wt_lesson **out, struct wt_error *err);
void wt_lesson_free(struct wt_lesson *lesson); /* NULL is allowed */

/* Simulates a workload file. A deadlock is a result, not a failure. On failure `out` is zeroed. */
enum wt_code wt_lesson_simulate(const char *workload, struct wt_lesson_run *out, struct wt_error *err);
void wt_lesson_run_clear(struct wt_lesson_run *run);

/* How long what is shown of a run takes: its makespan, of a deadlock what the timeline holds. */
wt_time wt_lesson_length(const struct wt_lesson_run *run);

/* When the caption appears, after its run's first start. */
wt_time wt_lesson_moment(const struct wt_caption *caption, const struct wt_lesson_run runs[2]);

/* The text with figures for placeholders; the caller's. runs[1] is the second workload's, zeroed where there is none. An unknown
 * placeholder fails with the lesson's path. */
enum wt_code wt_lesson_fill(const struct wt_lesson *lesson, const char *text, const struct wt_lesson_run runs[2], char **out,
                            struct wt_error *err);

/* The keys of a lesson file, and the placeholders. */
void wt_lesson_print_keys(FILE *stream);
/* The placeholders alone, in one line. */
void wt_lesson_print_figures(FILE *stream);

#endif
