/* What the blocks of a workload's kernel do besides lasting a while: take tasks, wait for each other, stand in another
 * order. Read from the kernel's keys `persistent`, `waiting`, `order`, `split` and `split_overhead`. */
#ifndef WT_STUDY_BEHAVIOUR_H
#define WT_STUDY_BEHAVIOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"
#include "core/param.h"
#include "core/status.h"
#include "cost/rework.h"
#include "cost/waiting.h"

enum wt_queue { WT_QUEUE_DYNAMIC, WT_QUEUE_STATIC };

/* As the keys of the groups have it. `line`: the group's; 0 where there is none, and then nothing else holds. */
struct wt_persistent {
    long line;
    int64_t tasks;
    int queue; /* enum wt_queue */
    double overhead_cycles;
};

struct wt_waits {
    long line;
    int pattern; /* enum wt_waiting_for */
    struct wt_ints blocks;
    double at, latency_cycles;
    bool chained;
};

struct wt_behaviour {
    struct wt_persistent persistent;
    struct wt_waits waits;
};

extern const struct wt_param wt_persistent_params[], wt_waits_params[];

/* From the kernel's group. On success release with wt_behaviour_clear. Fails with FILE:LINE. */
enum wt_code wt_behaviour_read(const struct wt_config *config, const struct config_setting_t *kernel,
                               struct wt_behaviour *out, struct wt_error *err);
/* Harmless on a zeroed struct. */
void wt_behaviour_clear(struct wt_behaviour *behaviour);

/* What only the grid tells: that every block of a list exists. */
enum wt_code wt_behaviour_check(const struct wt_behaviour *behaviour, uint64_t grid_blocks, const char *path,
                                struct wt_error *err);

#endif
