/* A lesson's words: captions that appear as the run plays, and a question whose answer the run shows. Read from a
 * file in config syntax (`--captions FILE.cfg`):
 *
 *     captions = ( { at = 0.0; text = "Ten blocks wait for four SMs."; }, { at = 2000.0; text = "…"; } );
 *     question = { at = 2500.0; text = "How many SMs are idle now?"; choice1 = "none"; choice2 = "two";
 *                  answer = 2; explanation = "…"; };
 */
#ifndef VIEW_CAPTIONS_H
#define VIEW_CAPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum { QUESTION_CHOICES = 6 };

struct caption {
    int run;   /* index of the run that it speaks of; -1: of any */
    double at; /* cycles; shown from then on, until the next */
    char *text;
};

struct question {
    double at;   /* cycles: playing stops here until it is answered; the explanation follows */
    char *text;  /* NULL: there is no question */
    char *choices[QUESTION_CHOICES];
    int choice_count; /* of the first ones that are given */
    int answer;  /* from 1; 0: no choice is marked as right */
    char *explanation;
};

/* All owned. */
struct captions {
    struct caption *entries; /* by `at` */
    size_t count;
    struct question question;
};

enum wt_code captions_read(const char *path, struct captions *out, struct wt_error *err);
void captions_clear(struct captions *captions);
/* The run's caption at that time, or NULL. */
const char *caption_at(const struct captions *captions, int run, double cycles);

#endif
