/* Replay: a trace's measured block durations go through the simulated distributor, and what it does is compared
 * with what the hardware did. */
#ifndef WT_STUDY_REPLAY_H
#define WT_STUDY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/json.h"
#include "core/status.h"
#include "dispatch/policy.h"
#include "gpu/gpu.h"
#include "observe/address_space.h"
#include "observe/timeline.h"
#include "observe/why.h"
#include "trace/clocks.h"
#include "trace/trace.h"

/* Cycles; of one launch, with both starts counted from the launch's own first start, or of the whole file. */
struct wt_replay_part {
    uint64_t blocks;
    uint64_t tasks; /* of a persistent launch, whose starts and ends are its tasks'; 0: an ordinary one */
    double makespan_measured, makespan_predicted;
    double makespan_error; /* (predicted - measured) / measured */
    double start_error_p50, start_error_p95; /* of |predicted - measured| over blocks, by nearest rank */
    /* Predicted minus measured, on the file's axis, so that of several launches they tell how long each waited; of the
     * whole file: its first and last launch's. */
    double first_start_error, last_start_error;
    uint64_t first_wave_blocks;
    double first_wave_placement_match; /* fraction of them on the very SM */
    int occupancy_blocks; /* blocks per SM; of the whole file: the first launch's */
    /* Blocks that started on an SM before the first of them ended there, median over the SMs with blocks. More than
     * occupancy_blocks: the launch or the GPU is not described as it was (single SMs have more where warps end before their
     * block). 0 for a persistent launch; of the whole file: the first launch's. */
    int resident_measured;
    double unseen_cycles; /* added to every release; of a persistent launch the tasks' mean; of the whole file: the first
                             launch's */
    /* Of a persistent launch: medians over blocks, also of |predicted - measured| / measured. */
    double tasks_per_block_measured, tasks_per_block_predicted, tasks_per_block_error_p50;
};

/* Questions about a replay's simulation: the caller makes what they need once the launches are known, and it is the replay's
 * then. Either may stay NULL. */
struct wt_replay_questions {
    struct wt_why *why;
    struct wt_address_space *space;
};

struct wt_replay {
    struct wt_trace *trace;
    struct wt_clocks *clocks;
    bool together; /* launches had to do with each other, and are simulated together */
    struct wt_timeline *measured, *predicted; /* launches by the trace's index; same time axis */
    double part_cycles; /* by so much GPCs lie otherwise than those of the config's part (part.h); 0: as far as is told they do not */
    struct wt_replay_part whole;
    struct wt_replay_part *launches; /* trace->launch_count of them */
    struct wt_replay_questions questions; /* with their answers */
};

/* Makes the questions; see above. */
struct wt_replay_asker {
    void *context;
    enum wt_code (*ask)(void *context, const struct wt_timeline *launches, struct wt_replay_questions *out,
                        struct wt_error *err);
};

struct wt_replay_setup {
    const char *gpu;       /* as for wt_gpu_load; NULL: the GPU that the trace names */
    const char *placement; /* policy; NULL: the GPU's */
    uint64_t seed;
    double unseen_cycles; /* what a block stays beyond its clock reads; NaN: as each launch itself tells (unseen.h) */
    const struct wt_replay_asker *asker; /* NULL: nothing is asked */
};

/* Refuses by name what it would simulate wrongly: persistent launches beside others. Launches that were on the GPU at
 * once are simulated together (study/arrivals.h says when each arrives); of others each is replayed on its own,
 * beginning when it really began. On failure *out is NULL. */
enum wt_code wt_replay_trace(const char *path, const struct wt_replay_setup *setup, struct wt_replay **out,
                             struct wt_error *err);

/* NULL is allowed. */
void wt_replay_free(struct wt_replay *replay);

/* The members of `replay --json` for one file, into the open object. */
void wt_replay_json(struct wt_json *json, const struct wt_replay *replay);

#endif
