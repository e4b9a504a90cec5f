/* Traces prepared for calibration: every block's stay on one time axis, first waves, releases. */
#ifndef WT_FIT_EVIDENCE_H
#define WT_FIT_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "gpu/gpu.h"
#include "sm/shape.h"
#include "trace/clocks.h"
#include "trace/topology.h"
#include "trace/trace.h"

/* A block's stay; cycles on the trace's axis. */
struct wt_stay {
    double start, end;
    uint16_t sm;
};

/* A block's end and the start that followed it on its SM: an SM's ends and its starts beyond the first wave pair off
 * in order, whichever slot they belong to. */
struct wt_release {
    double end, wait; /* cycles; wait: from the end to the start */
    uint16_t sm;
    bool quiet; /* no other block of the GPC had ended shortly before, so nothing queued for its port */
};

/* One launch of which every block has a row. */
struct wt_launch_evidence {
    size_t trace;  /* index into the set */
    size_t launch; /* index into the trace's launches */
    size_t blocks;
    const struct wt_stay *stays; /* by block */
    struct wt_shape shape;
    size_t first_wave; /* blocks that found room at once: block 0 on */
    int rounds;        /* blocks that every SM got in the first wave */
    uint32_t *of_sm;   /* blocks by SM, ascending; SM s has of_sm[begin[s]] … of_sm[begin[s + 1] - 1]; owned */
    size_t *begin;     /* owned */
    struct wt_release *releases; /* in order of ends; owned */
    size_t release_count;
    double median_duration;
    bool calm; /* the TPCs' second SMs start their first block one and the same lag after the first SMs': nothing but
                  the launchers sets the first wave's starts. Kernels whose first instructions must be fetched from
                  memory are not calm. */
};

struct wt_trace_evidence {
    const char *path; /* the caller's */
    char *name;       /* without folder, ".csv", ".zst"; owned */
    struct wt_trace *trace;
    struct wt_clocks *clocks;
    struct wt_discovery discovery;
    struct wt_stay *stays; /* by row; owned */
};

struct wt_evidence {
    struct wt_trace_evidence *traces; /* in order of names, whatever the order they were given in */
    size_t trace_count;
    struct wt_launch_evidence *launches; /* of usable launches; empty before wt_evidence_prepare */
    size_t launch_count;
};

/* Reads the traces (in parallel). Fails on the first, in order of names, that cannot be read, has launches of a kind
 * that tells nothing of the ordinary distributor, or comes from another device than the first. */
enum wt_code wt_evidence_read(const char *const *paths, size_t count, struct wt_evidence *out, struct wt_error *err);

/* Works out launches on that GPU (its limits and topology). Launches that do not state what they need, or do not fit,
 * or lack blocks are left out. */
void wt_evidence_prepare(struct wt_evidence *evidence, const struct wt_gpu *gpu);

void wt_evidence_free(struct wt_evidence *evidence);

/* The block that was the SM's `k`-th, from 0. */
const struct wt_stay *wt_stay_of(const struct wt_launch_evidence *launch, int sm, int k);

/* By TPC: whether the launch before it ran there, by that GPU's rates. The caller frees. */
bool *wt_evidence_used_tpcs(const struct wt_launch_evidence *launch, const struct wt_gpu *gpu);

/* Whether `sm` shares its TPC with `sm - 1`. */
bool wt_is_second_of_tpc(const struct wt_topology *topology, int sm);

#endif
