/* How a GPU's SMs are arranged, found from a trace: clock domains (GPCs) from the clocks, TPCs, and the
 * distributor's groups from the order in which the first wave visits SMs.
 *
 * The first wave is breadth first in visits: a visit gives one block to every SM of a group that has room, in
 * TPC order. Groups rotate in a fixed cycle, except for one extra group that has a cadence of its own: it is
 * visited first, then after extra_first_gap visits to others, then after every extra_gap (H200: 5 and 6). */
#ifndef WT_TRACE_TOPOLOGY_H
#define WT_TRACE_TOPOLOGY_H

#include "gpu/gpu.h"
#include "trace/clocks.h"
#include "trace/trace.h"

struct wt_discovery {
    int sm_count;                /* the trace's */
    int sms_seen;                /* SMs with rows */
    int domain_count;            /* 0 without clocks */
    const int16_t *domain_of_sm; /* the clocks', which must outlive this; -1: not known */

    int tpc_pairs;          /* pairs (2k, 2k+1) of which both SMs have rows */
    int tpc_pairs_together; /* those that nothing speaks against: one domain, and one after the other in every
                               visit */

    char *groups_missing;                  /* why the trace does not tell the groups; NULL when it does */
    int group_count;                       /* 0 = not told; groups by their lowest SM */
    struct wt_group groups[WT_MAX_GROUPS]; /* SMs in visiting order from the lowest; owned */
    int rounds;                            /* blocks of each SM in the first wave that were looked at, >= 2 */
    int visits;                            /* to all groups, in those rounds */
    int cycle[WT_MAX_GROUPS]; /* the groups in the order of rotation, from the first one visited; without the
                                 extra one */
    int cycle_length;
    bool cycle_holds;               /* every visit was to the cycle's next group or to the extra group */
    int extra_group;                /* -1: all groups rotate */
    int first_extra_sm;             /* where the extra group's visits begin, as an index into its SMs */
    int extra_first_gap, extra_gap; /* visits to others between the extra group's first two visits, and later
                                       ones; -1: not told */
    bool gaps_hold;                 /* all later gaps were extra_gap */
};

/* Never fails: what the trace does not tell is left out, and groups_missing says why. */
struct wt_discovery wt_discover_topology(const struct wt_trace *trace, const struct wt_clocks *clocks);
void wt_discovery_free(struct wt_discovery *discovery);

/* Writes a GPU config with what was found to `path`, on top of the compute capability's own config. Fails
 * when the groups are missing, saying why. */
enum wt_code wt_discovery_write_config(const struct wt_discovery *discovery, const struct wt_trace *trace,
                                       const struct wt_clocks *clocks, const char *path,
                                       struct wt_error *err);

/* Where the first wave of a launch began, given the GPU's groups: the first group visited that is not the
 * extra one, and the extra group's first SM as an index into its order; -1 for what the launch does not tell.
 * False when it tells neither: no rows, its first block missing, or an SM that the GPU does not have. */
bool wt_first_wave_start(const struct wt_trace *trace, size_t launch, const struct wt_gpu *gpu,
                         int *first_group, int *first_extra_sm);

#endif
