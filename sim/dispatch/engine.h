/* Of dispatch/simulate.c, dispatch/run.c and dispatch/tell.c alone: what a running simulation is made of. */
#ifndef WT_DISPATCH_ENGINE_H
#define WT_DISPATCH_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/mem.h"
#include "dispatch/clusters.h"
#include "dispatch/endqueue.h"
#include "dispatch/links.h"
#include "dispatch/simulate.h"

/* A block on its way to its SM, or running there. */
struct wt_resident {
    uint64_t block;
    wt_time start;
    struct wt_grid *grid;
};

/* A block that has ended and is not reported. */
struct wt_leaving {
    wt_time start, over;
    uint16_t grid; /* its number */
    uint8_t slot;
};

/* What the distributor knows of one SM. */
struct wt_launcher {
    _Alignas(WT_LINE_BYTES) wt_time launch_latency; /* distributor to first instruction */
    uint32_t turn;          /* of the latest grid that ran on the TPC; 0: none did */
    uint16_t partner;       /* the TPC's other SM, or the SM itself */
    uint16_t leaving_head;
    uint16_t early;         /* of the first ones leaving the room is known to be free */
    int32_t clustered;      /* resident blocks of clusters */
    struct wt_leaving leaving[WT_MAX_SLOTS]; /* a ring, in the order of the ends */
};

/* A kernel that has reached the grid scheduler and is not over. */
struct wt_grid {
    struct wt_grid *next; /* the one after it in the queue, or in the list of free ones */
    const struct wt_kernel *kernel;
    uint32_t index;  /* the kernel's */
    uint32_t turn;   /* how many were the head before it, counting the launch before the simulation, and one; 0: it has not been */
    uint16_t number; /* its own, of those that fit into the grid scheduler */
    uint64_t next_block, remaining;
    uint64_t running;    /* blocks that have started and not ended */
    uint64_t unreported; /* blocks that have started and are not known to be over */
    struct wt_launch_kind first, replacement;
    struct wt_report report;
    wt_time shortest;
    wt_time wait; /* from when a block could start until it does */
    int64_t outlast;
    bool by_tpc; /* an SM takes several blocks of the clusters, which then go to whole TPCs */
    int spare_warps; /* of an SM full of its blocks, wherever the sub-cores' pointer is */
    int least_leaving; /* blocks of an SM have to, for the room of one to be known before its report */
    int most_early;  /* blocks whose room may be known before their report; 0 where warps are not what an SM runs out of */
    wt_time first_start, last_start, last_end;
};

struct wt_engine {
    const struct wt_simulation *simulation;
    const struct wt_sharing *sharing; /* the simulation's */
    bool watched; /* somebody asks why */
    const struct wt_policy *policy;
    struct wt_front_end front_end;
    struct wt_serial serial; /* behind front_end when the simulation has none */
    void *policy_state;
    int sm_count;
    struct wt_sm **sms;
    struct wt_launcher *launchers; /* by SM */
    uint8_t *leaving;              /* by SM: blocks that have ended and are not reported; apart, for whoever looks at many */
    struct wt_resident *residents; /* by id */
    struct wt_links *links;
    const wt_time *next_link; /* when something happens on them */
    struct wt_endqueue ends;
    struct wt_room room;        /* for the head */
    struct wt_visit visit;
    struct wt_clusters clusters;
    int *cluster_room;          /* by SM; of the head, when it has clusters */
    struct wt_sm *spare;        /* an SM that stays empty */
    struct wt_grid *grids;      /* limits.resident_grids of them */
    struct wt_grid *free_grids;
    struct wt_grid *head;       /* of the queue: whose blocks are being handed out; NULL: none waits */
    uint64_t grid_count;
    uint32_t turns;             /* grids that have been the head, and the launch before the simulation */
    uint64_t unreported;        /* of all grids */
    bool placed;                /* where blocks lie in shared memory matters */
    struct wt_shape unplaced;   /* the head's, without shared memory */
    wt_time next_arrival;       /* of a kernel at the grid scheduler */
    wt_time now;                /* the distributor's */
    wt_time origin;             /* WT_NEVER until the first block has ended */
    wt_time visit_time, ready_time, view_time, launch_latency, used_time;
};

/* An SM and a block slot of it. */
static inline int wt_sm_of(uint32_t id)
{
    return (int)(id / WT_MAX_SLOTS);
}

static inline int wt_slot_of(uint32_t id)
{
    return (int)(id % WT_MAX_SLOTS);
}

static inline uint32_t wt_place_id(int sm, int slot)
{
    return (uint32_t)sm * WT_MAX_SLOTS + (uint32_t)slot;
}

/* Runs until nothing happens any more. Kernels that are not over then never will be. */
void wt_engine_run(struct wt_engine *engine);

#endif
