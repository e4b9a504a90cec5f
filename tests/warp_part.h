/* The warp level on a part of an H200: 4 SMs with a 33rd of the bandwidth and blocks, since all its SMs do the same. */
#ifndef WT_TESTS_WARP_PART_H
#define WT_TESTS_WARP_PART_H

#include "warp/warp.h"

struct warp_part_run {
    struct wt_gpu *gpu;         /* of wt_part_of_h200 */
    struct wt_program *program;
    int threads, shared;        /* of a block; dynamic bytes */
    int registers;              /* of a thread; 0: 32 */
    uint64_t blocks;
    int workers;                /* threads; 0: as OpenMP has it */
    const struct wt_warp_observer *observer;
    struct wt_warp_result result; /* filled in */
};

/* Owned by the caller. */
struct wt_gpu *part_of_h200(void);

void simulate_part(struct warp_part_run *run);

/* The program of a text that must be right; owned by the caller. */
struct wt_program *parsed_program(const char *text);

/* value is within `part` of expected, on either side. */
void check_within(double value, double expected, double part);

#endif
