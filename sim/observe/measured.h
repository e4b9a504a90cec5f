/* A measured trace as a timeline, so that measured and simulated runs go through the same metrics and
 * pictures. */
#ifndef WT_OBSERVE_MEASURED_H
#define WT_OBSERVE_MEASURED_H

#include "core/status.h"
#include "observe/timeline.h"
#include "trace/clocks.h"
#include "trace/trace.h"

/* Times are on the axis of `clocks` (fitted to this trace), from the trace's first start. The timeline's
 * launches are the trace's, by index, with the kernel's name (the launch's where there is none); gpc_of_sm is
 * the clock domain; warps_per_sm stays 0, since a trace does not tell. A span of a persistent launch is a
 * task, under the number of the block that ran it. Slots are given by wt_timeline_assign_slots. Fails when
 * the trace lasts longer than a wt_time can hold. */
enum wt_code wt_timeline_from_trace(const struct wt_trace *trace, const struct wt_clocks *clocks,
                                    struct wt_timeline **out, struct wt_error *err);

#endif
