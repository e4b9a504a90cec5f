/* Where a kernel's warps spend their time, as bars: warps per issued instruction by state, beside the hardware's if known. */
#ifndef WT_OBSERVE_STALLS_H
#define WT_OBSERVE_STALLS_H

#include <stdio.h>

#include "core/status.h"
#include "warp/ncu.h"
#include "warp/metrics.h"

struct wt_stall_bars {
    const char *name; /* the kernel's */
    struct wt_warp_result result;
    const struct wt_ncu_metrics *metrics; /* NULL: no hardware's figures */
    size_t row;
};

/* A group of bars for each kernel. */
enum wt_code wt_stalls_svg(const char *title, const struct wt_stall_bars *bars, size_t count, FILE *stream, struct wt_error *err);

#endif
