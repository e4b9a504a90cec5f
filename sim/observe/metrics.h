/* What a run was like: makespan, occupancy, busy SMs, waves, the tail. Two producers give the same struct: a
 * stream of block runs in constant memory, and a timeline. They agree exactly except where a field says
 * otherwise. */
#ifndef WT_OBSERVE_METRICS_H
#define WT_OBSERVE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/json.h"
#include "core/time.h"
#include "dispatch/observer.h"
#include "observe/residency.h"
#include "observe/timeline.h"

/* From the moment the queue is empty (the last block is handed out) to the last end. */
struct wt_tail {
    wt_time start;    /* the queue is empty */
    wt_time length;
    double fraction;  /* of the makespan */
    double sm_idle;   /* SM-time without any resident block / (SMs * length) */
    double slot_idle; /* 1 - mean resident blocks in the tail / (SMs * blocks_per_sm); NaN when that is unknown */
};

/* Cycles. */
struct wt_durations {
    double least, median, mean, most; /* the stream's median is a mean of those within 1 % of it */
};

/* Fractions of the makespan in which an SM holds at least one block, over all SMs. The stream is exact unless
 * one block outlasts more than 32 idle gaps of its SM. */
struct wt_busy {
    double least, median, mean, most;
};

/* One launch, or everything. Fractions are 0 when the makespan is 0. */
struct wt_metrics_part {
    uint64_t blocks;     /* that ran; a persistent block's tasks count one each */
    wt_time begin, end;  /* first start, last end; their difference is the makespan */
    int blocks_per_sm;   /* theoretical occupancy; 0 = unknown, or launches differ */
    double theoretical_occupancy; /* resident warps at blocks_per_sm / the SM's limit; NaN = unknown */
    /* Achieved occupancy: mean resident warps / the SM's limit; NaN when the limit is unknown. */
    double occupancy_active;  /* over the time in which each SM holds a block: Nsight Compute's
                                 sm__warps_active.avg.pct_of_peak_sustained_active */
    double occupancy_elapsed; /* over all SMs and the whole makespan (…pct_of_peak_sustained_elapsed) */
    double mean_resident_blocks; /* whole GPU, over the makespan */
    double waves;             /* grid blocks / (SMs * blocks_per_sm); NaN when that is unknown */
    double blocks_per_cycle;  /* blocks / makespan */
    struct wt_durations duration;
    struct wt_busy busy;
    struct wt_tail tail;
};

struct wt_metrics {
    struct wt_timeline *about; /* GPU, clock, launches; no spans; owned */
    struct wt_metrics_part whole;
    struct wt_metrics_part *launches; /* about->launch_count entries; owned */
    double *sm_busy;                  /* per SM, whole run, fraction of the makespan; owned */
    struct wt_residency_curve residency; /* whole run; >= 2048 buckets unless it has fewer cycles */
};

struct wt_metrics_stream; /* a few hundred KB per launch running at once */

/* `about` gives the GPU and the launches in the simulation's order; it is copied. */
struct wt_metrics_stream *wt_metrics_stream_new(const struct wt_timeline *about);
struct wt_observer wt_metrics_stream_observer(struct wt_metrics_stream *stream);
/* Ends the stream and frees it. */
struct wt_metrics *wt_metrics_stream_finish(struct wt_metrics_stream *stream);

/* Sorts the timeline; launches' queue_empty must be set. */
struct wt_metrics *wt_metrics_of_timeline(struct wt_timeline *timeline);

/* NULL is allowed. */
void wt_metrics_free(struct wt_metrics *metrics);

wt_time wt_metrics_makespan(const struct wt_metrics_part *part);
/* All blocks of the launch are handed out at once: nothing waits in the queue, and no tail follows. `part` is the launch's. */
bool wt_metrics_one_wave(const struct wt_metrics_part *part, const struct wt_timeline_launch *launch);
/* The whole run has a tail: the launch whose last block is handed out last is not one wave. */
bool wt_metrics_has_tail(const struct wt_metrics *metrics);

/* A summary of some ten lines for people; two or three launches follow in as much detail, more of them as a table of the
 * first twenty (cycles since the run's first start). A grid of one wave or less has no tail to speak of, whatever
 * struct wt_tail holds: its queue is empty from the beginning. */
void wt_metrics_print(FILE *stream, const struct wt_metrics *metrics);

/* One object under `key`: the whole run's members (cycles, and µs where the clock is known), `launches` and
 * `residency` (at most 256 points). Unknown values are null. */
void wt_metrics_json(struct wt_json *json, const char *key, const struct wt_metrics *metrics);

#endif
