/* The links between the SMs and the distributor: launches down, reports of ended blocks up. Measured on the H200
 * (traces/h200/README.md, "What holds up launches when very short blocks end").
 *
 * A TPC sends its blocks' reports one at a time, in the order in which they ended, each in rates.report_send_cycles (by warps
 * of the block), from rates.report_ready_cycles after the end on; meanwhile it starts nothing, nor in the report_lead_cycles
 * before one while none is on its way. (Blocks of 1,500 cycles on one SM or one TPC, of 30,000 on all others: no replacement of 32 threads
 * starts before 188 + 27 x n cycles after the first of n ends. Where such blocks are empty, the last one starts 145 after the
 * first end.) While blocks of a first wave wait behind it a report takes report_held_cycles longer, and
 * replacement_held_cycles while others do that came before the first of these reports. (2 to 16 blocks of one TPC end during
 * its first wave of long ones: it stands still for 31 cycles each. One TPC's empty blocks go in turns, some 41 starts and then as
 * many reports, of 34 cycles each. But where 32 blocks end in a TPC one each 60 to 100 cycles, others start in time: spin20k_b32.)
 *
 * A TPC's reports queue up on their way to the distributor. With rates.report_queue of them on it the nearest TPC's next one
 * waits, of the next TPC with report_queue_per_tpc more, and so on, as in a chain whose first links fill up first. Replacements
 * that have not started take replacement_places of it each; whenever one of its reports is taken the TPC sends another.
 * (e_b32_g3300: blocks go on first on TPC 6 of each GPC, then on 0 and 3, 7, 4, 1, 5 and 2: by ascending report_offset_cycles.)
 * Between two reports that wait the TPC starts blocks after all, starts_per_report on average; and starts_while_sending between
 * others, half a block more with the first, of a first wave only as long as fewer than report_queue are on their way. (empty_b64: when
 * the TPCs have stopped they start 0.81 blocks for each three reports up to the 18th, 0.58 more with the first three, 0.36 for each
 * three of the next nine. No block of one warp starts so, nor do replacements of 8 warps: empty_g2112.)
 *
 * Reports of a TPC with pauses of no more than report_pause_cycles between them are a series (simulate.h).
 *
 * The distributor takes one report each rates.report_cycles, of each GPC in turn; of a GPC's reports in the order in which they come,
 * but while TPCs wait with a full queue one of each TPC in turn. (empty_b448 is 5 % too short if TPCs take turns always, empty_b32
 * and empty_b64 are up to 30 % too long if never. Blocks of 1,500 cycles on all SMs: TPCs 0, 3, 6, 1, 4, 7, 2, 5, 8 of each GPC are
 * served once each in 76 cycles where there are eight, in 86 where nine. Eight TPCs of one GPC report at full speed together, those
 * of all GPCs do not.)
 *
 * An SM starts a block of a first wave launch_cycles after the one before, any other tpc_lag_cycles and replacement_lag_cycles
 * after the TPC's last. */
#ifndef WT_DISPATCH_LINKS_H
#define WT_DISPATCH_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/time.h"
#include "gpu/gpu.h"

enum { WT_PARTS = 1024 }; /* of one: blocks and places on average */

/* What launches of a kernel's first wave have in common, and its others. */
struct wt_launch_kind {
    bool first_wave;
    uint32_t places;   /* that one takes of the reports' while it waits, in 1/WT_PARTS */
    wt_time interval;  /* to the SM's next block */
    wt_time lag;       /* to the next block of the TPC's other SM */
    wt_time hold;      /* of reports that it waits for */
};

/* A block on its way to its SM. */
struct wt_launch {
    uint32_t id;       /* of its place */
    wt_time arrival;   /* at the SM */
    wt_time length;    /* of the block, for whoever asked for its launch */
    const struct wt_launch_kind *kind; /* kept until wt_links_step has told of the start */
};

/* What is told of each block of a kernel. */
struct wt_report {
    wt_time lead;   /* report_lead_cycles; no more than report_ready_cycles */
    wt_time send;   /* report_send_cycles */
    uint32_t starts; /* starts_per_report, in 1/WT_PARTS */
    uint32_t slips;  /* starts_while_sending, in 1/WT_PARTS */
};

enum wt_link_kind {
    WT_LINK_NOTHING, /* that anybody else would see */
    WT_LINK_STARTED, /* a block started */
    WT_LINK_REPORT   /* a report reached the distributor */
};

struct wt_link_event {
    enum wt_link_kind kind;
    wt_time at;
    uint32_t id;     /* of the started block's place */
    wt_time length;
    uint16_t sm;     /* where a block ended */
    wt_time ready;   /* when the report would have been there on idle links */
    wt_time series;  /* when the first of its series left the TPC */
};

struct wt_links; /* opaque */

struct wt_links *wt_links_new(const struct wt_gpu *gpu);
void wt_links_free(struct wt_links *links);

/* Sends a block off at `now`, not before anything told so far. Returns its start when that is sure already, else WT_NEVER:
 * wt_links_step will tell. */
wt_time wt_links_launch(struct wt_links *links, int sm, const struct wt_launch *launch, wt_time now);

/* A block of the SM is over. Told in the order of the ends. Keeps `report` until wt_links_step has told of it. */
void wt_links_end(struct wt_links *links, int sm, wt_time over, const struct wt_report *report);

/* Where it is kept up to date when something happens next; WT_NEVER: nothing will by itself. */
const wt_time *wt_links_next(const struct wt_links *links);

/* What happens then. Everything else that happens before must have been told. */
void wt_links_step(struct wt_links *links, struct wt_link_event *event);

#endif
