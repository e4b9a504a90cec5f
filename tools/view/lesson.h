/* A lesson's words in the window: the question is put, its workloads play with their captions, the answer is shown. */
#ifndef VIEW_LESSON_H
#define VIEW_LESSON_H

#include "captions.h"
#include "run.h"
#include "study/lesson.h"

/* All texts owned, with the simulation's figures in them. */
struct lesson {
    char *title; /* NULL: there is no lesson */
    char *scenario, *question, *answer;
    bool inside; /* it is about what happens inside an SM */
    int cases;   /* workloads: 1 or 2 */
    int step;    /* 0: the question; 1 to cases: that case plays; cases + 1: the answer */
};

/* Fills both; runs[1] is looked at where the lesson has two workloads. Fails where a text asks for a figure that there is not. */
enum wt_code lesson_words(const struct wt_lesson *lesson, struct run *const runs[2], struct lesson *out, struct captions *captions,
                          struct wt_error *err);
void lesson_clear(struct lesson *lesson);

#endif
