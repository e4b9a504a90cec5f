/* How the SMs are arranged, by the vote of all traces. */
#ifndef WT_FIT_ARRANGEMENT_H
#define WT_FIT_ARRANGEMENT_H

#include "fit/evidence.h"

/* What most traces say about one question. */
struct wt_vote {
    int winner;      /* index of the first trace that says it; -1: no trace tells */
    bool *agrees;    /* by trace; owned */
    bool *dissents;  /* by trace: tells something else; owned */
};

enum wt_question { WT_ASK_GPCS, WT_ASK_GROUPS, WT_ASK_FIRST_GAP, WT_ASK_GAP, WT_ASK_TPCS, WT_QUESTIONS };

struct wt_arrangement {
    int sm_count;      /* the largest that a trace states or shows */
    bool *sm_count_of; /* by trace: shows it; owned */
    struct wt_vote votes[WT_QUESTIONS];
    /* Groups in the order of rotation, the extra one last; borrowed from the winner. Told when groups' vote has one. */
    int group_count, extra_group; /* extra_group -1: none */
    const struct wt_group *groups[WT_MAX_GROUPS];
    double clock_mhz;   /* of the trace that tells it best; 0: none does */
    double clock_error; /* half-width of what that trace allows, MHz */
    bool *clock_of;     /* by trace; owned */
};

/* `evidence` must outlive the arrangement. */
struct wt_arrangement wt_arrange(const struct wt_evidence *evidence);
void wt_arrangement_free(struct wt_arrangement *arrangement);

/* The discovery of the trace that won, or NULL. */
const struct wt_discovery *wt_winner(const struct wt_evidence *evidence, const struct wt_arrangement *arrangement,
                                     enum wt_question question);

/* The question in words, e.g. "clock domains". */
const char *wt_question_name(enum wt_question question);

#endif
