/* Where a SASS function's branches go and how often, from the counts of the source page; private to sim/warp. */
#ifndef WT_WARP_FLOW_H
#define WT_WARP_FLOW_H

#include <stdbool.h>

#include "warp/from_sass.h"

/* Of a branch or EXIT, per execution by a warp. */
struct wt_flow {
    double taken, falls; /* parts of the executions that go there; more than 1 together where warps diverge */
    double both;         /* part that does */
    double drift;        /* how much neighbouring warps differ (wt_instruction.drift), by how few warps diverge */
    bool known;          /* from counts; else assumed */
};

struct wt_flows {
    const struct wt_sass_setup *setup;
    int *sources; /* per instruction: branches that lead to it and are executed; owned */
};

struct wt_flows wt_flows_begin(const struct wt_sass_setup *setup);
void wt_flows_end(struct wt_flows *flows);

/* May go on or elsewhere: guarded, or with a predicate among its operands. */
bool wt_flow_conditional(const struct wt_sass_instruction *instruction);

/* Control never reaches the next instruction from here. */
bool wt_flow_ends(const struct wt_sass_instruction *instruction);

/* Index that a BRA or CALL leads to, or -1. */
long wt_flow_target(const struct wt_flows *flows, size_t index);

/* For an instruction that is executed (or anything, without counts). */
struct wt_flow wt_flow_of(const struct wt_flows *flows, size_t index);

/* Executions by warps; 1 without counts. */
double wt_flow_executed(const struct wt_flows *flows, size_t index);

#endif
