/* One scheduler cycle by cycle: which warp issued, what the others waited for. */
#ifndef WT_OBSERVE_ISSUE_H
#define WT_OBSERVE_ISSUE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"
#include "observe/timeline.h"
#include "warp/warp.h"

enum { WT_ISSUE_MOST_CYCLES = 2000 }; /* of a picture */

struct wt_issue_record {
    int sm, subcore;
    wt_time from, to; /* the window, from the first block's start on */
    struct wt_warp_span *spans; /* clipped to it; owned */
    size_t count, capacity;
    size_t last[UINT8_MAX + 1]; /* by slot: 1 + index of its latest span; 0: none */
};

/* Released with wt_issue_record_free. */
struct wt_issue_record *wt_issue_record_new(int sm, int subcore, wt_time from, wt_time to);
void wt_issue_record_free(struct wt_issue_record *record); /* NULL is allowed */

/* As the `state` of a wt_warp_observer tells it; `context` is the record. */
void wt_issue_record_add(void *context, const struct wt_warp_span *span);

/* Rows are warps, columns cycles, colours states. Fails where no warp was there in the window. */
enum wt_code wt_issue_svg(const struct wt_issue_record *record, const struct wt_timeline *about, FILE *stream, struct wt_error *err);

#endif
