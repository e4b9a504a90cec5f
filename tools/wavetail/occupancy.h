/* The parts of `wavetail occupancy`: the question, the answer, curves over one quantity, and their picture.
 */
#ifndef WT_TOOL_OCCUPANCY_H
#define WT_TOOL_OCCUPANCY_H

#include "core/json.h"
#include "gpu/gpu.h"
#include "sm/occupancy.h"

/* What is asked. */
struct occ_question {
    const struct wt_gpu *gpu;
    struct wt_limits limits; /* the GPU's, with the user's overrides */
    bool overridden;         /* some limit is the user's */
    struct wt_launch_needs needs;
    int block[3];
    bool registers_given;
    uint64_t grid; /* blocks; 0 = not given */
    int cluster;   /* blocks per cluster; 1 = none */
};

/* Both kinds of answer. A launch that cannot happen has blocks_per_sm 0 and a reason. */
struct occ_answer {
    struct wt_occupancy real, idealised;
    struct wt_error real_error, idealised_error; /* code WT_OK when it can be launched */
};

struct occ_answer occ_solve(const struct occ_question *question);

/* --- text and JSON --- */

void occ_print(const struct occ_question *question, const struct occ_answer *answer);
/* Without the outermost object's braces: the caller may add to it. */
void occ_json(const struct occ_question *question, const struct occ_answer *answer, struct wt_json *json);

/* --- curves --- */

enum occ_axis { OCC_BLOCK, OCC_REGISTERS, OCC_SHARED, OCC_AXES };

/* Holds from the point before (exclusive; from the curve's `first`, inclusive) to x: threads, registers per
 * thread, or bytes of shared memory per block. */
struct occ_point {
    int x;
    struct wt_occupancy real;
    double idealised; /* occupancy */
};

struct occ_curve {
    enum occ_axis axis;
    struct occ_point *points; /* ascending x; owned */
    int count;
    int first;
    int current; /* x of the question */
};

/* "block", "regs", "smem"; OCC_AXES when there is no such axis. */
enum occ_axis occ_axis_of(const char *name);
const char *occ_axis_name(enum occ_axis axis);
/* "threads per block", … */
const char *occ_axis_label(enum occ_axis axis);

struct occ_curve occ_curve_make(const struct occ_question *question, enum occ_axis axis);
void occ_curve_free(struct occ_curve *curve);
void occ_curve_print(const struct occ_curve *curve);
void occ_curve_json(const struct occ_curve *curve, struct wt_json *json);

/* --- picture --- */

/* One panel per curve, side by side, the question marked on each. */
enum wt_code occ_draw(const struct occ_question *question, const struct occ_answer *answer,
                      const struct occ_curve *curves, int count, const char *path, struct wt_error *err);

#endif
