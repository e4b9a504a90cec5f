/* Placement of thread block clusters, whichever policy places single blocks: as measured on the H200 (cluster*, clpack_*).
 *
 * All blocks of a cluster go to distinct SMs of one group: to those with the most room for the kernel, listed in TPC order.
 * Where an SM takes several of the kernel's blocks, a TPC has only as much room as the lesser of its SMs, so that clusters take
 * whole TPCs; where it takes one, they take any SMs. Of the groups that can take a cluster, those where the fullest of its SMs
 * would have the most room come first; among them the extra group, which then gets as many clusters as it takes at that level,
 * then the others in rotation, a cluster each. */
#ifndef WT_DISPATCH_CLUSTERS_H
#define WT_DISPATCH_CLUSTERS_H

#include <stdint.h>

#include "dispatch/policy.h"

struct wt_clusters {
    const struct wt_topology *topology;
    int next;        /* group that the rotation visits next */
    int extra_start; /* rank at which visits to the extra group begin */
};

/* `first_group` and `first_extra_sm` as in struct wt_simulation. `topology` must outlive it. */
void wt_clusters_init(struct wt_clusters *clusters, const struct wt_topology *topology, int first_group,
                      int first_extra_sm);

/* The largest cluster the group takes: its SMs, but fewer in the extra group. */
int wt_clusters_most(const struct wt_topology *topology, int group);

/* The next visit, for at most `remaining` blocks, a multiple of `size`. `rooms[sm]`: blocks the SM would still take, by the rule above.
 * visit->count is a multiple of `size`; 0 when no group can take a cluster now. */
void wt_clusters_visit(struct wt_clusters *clusters, const int *rooms, int size, uint64_t remaining,
                       struct wt_visit *visit);

#endif
