/* Why a block was not dispatched earlier, or what the distributor was waiting for at a moment: one question per
 * simulation, answered from what wt_simulate tells its watch. */
#ifndef WT_OBSERVE_WHY_H
#define WT_OBSERVE_WHY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/json.h"
#include "dispatch/watch.h"
#include "observe/timeline.h"

struct wt_why_question {
    bool moment;     /* about a time, not about a block */
    uint32_t launch; /* index in the simulation */
    uint64_t block;
    double cycles;   /* of the moment, from the first block's start */
};

/* Times are cycles from the first block's start, so those before it are negative; NaN where a thing did not happen. */
struct wt_why {
    struct wt_why_question question;
    /* What is added to all times and to launch indices when they are shown: for a simulation of some launches of a file. */
    double shown_from;
    uint32_t first_launch;

    bool found;            /* about a block: it was handed out; about a moment: something was to be handed out */
    uint32_t launch;       /* whose block it is: the asked one, or the next at the moment */
    uint64_t block;
    double arrived;        /* its kernel at the grid scheduler */
    double headed;         /* its kernel's turn began */
    int behind;            /* the launch whose blocks were handed out when its kernel arrived; -1: none */
    double previous;       /* the block before it was handed out; NaN: it is its kernel's first */
    double waited_from;    /* no SM took it from then on; NaN: there was room at once */
    int cluster;           /* blocks that had to find room together; 0 or 1: it was alone */
    int sms_with_room;     /* at waited_from: too few, or too far apart, for the cluster */
    struct wt_refusal_kind reasons[WT_REFUSAL_KINDS]; /* at waited_from */
    int reason_count;
    int launches_behind;   /* about a moment: kernels that had arrived and had had no turn */
    double next_arrival;   /* about a moment with nothing to hand out: when the next kernel arrives */

    /* The handing out; not about moments. */
    bool freed;            /* the SM's last known end before made the room */
    uint32_t freed_launch;
    uint64_t freed_block;
    double ended, ready, known; /* that block's end; its report's arrival through an idle port, and really */
    int sm, slot;
    double visited, earliest, start; /* the visit; the start with a free launcher, and really */

    struct wt_why_state *state; /* of the recording; owned */
};

/* Records for a GPU of `sm_count` SMs. Released with wt_why_free. */
struct wt_why *wt_why_new(const struct wt_why_question *question, int sm_count);
void wt_why_free(struct wt_why *why); /* NULL is allowed */

/* For the simulation; valid as long as `why`. */
struct wt_watch wt_why_watch(struct wt_why *why);

/* When the simulation is over: fixes the times. */
void wt_why_finish(struct wt_why *why);

/* A line of the answer in words. */
struct wt_why_line {
    enum { WT_WHY_HEADING, WT_WHY_STEP, WT_WHY_DETAIL } kind; /* a detail belongs to the step before it */
    double at;        /* of a step: cycles, shown_from included */
    const char *text; /* valid during the call */
};

/* Gives the answer line by line; `about` names the launches. */
void wt_why_tell(const struct wt_why *why, const struct wt_timeline *about,
                 void (*line)(void *context, const struct wt_why_line *line), void *context);

/* The same lines as text, and the answer as members of an object. */
void wt_why_print(FILE *stream, const struct wt_why *why, const struct wt_timeline *about);
void wt_why_json(struct wt_json *json, const char *key, const struct wt_why *why, const struct wt_timeline *about);

/* What the SM lacks, in the words used wherever a block is refused; `size` as for snprintf. */
void wt_why_describe(const struct wt_refusal *refusal, char *text, size_t size);
/* The same for many SMs: "3 SMs: 8 warp slots wanted, 4 free (on the first of them)". */
void wt_why_describe_kind(const struct wt_refusal_kind *kind, char *text, size_t size);

#endif
