/* The clock that drives globaltimer, found from a trace. */
#ifndef WT_TRACE_DRIVER_H
#define WT_TRACE_DRIVER_H

#include "trace/clock_curve.h"
#include "trace/ticks.h"

/* Sets the driving clock's period and phase in `ticks` when readings agree clearly better with it than without; otherwise
 * leaves none. `domains`: readings per clock domain, whose low and high may be overwritten; `delay`: cycles between the two reads
 * of a block's start or end, as far as it is known yet. */
void wt_ticks_find_driver(struct wt_ticks *ticks, struct wt_readings *domains, int domain_count,
                          double cycles_per_ns, double delay);

/* Sets low and high of all readings to when `ticks` says that they were taken. */
void wt_ticks_bound(const struct wt_ticks *ticks, struct wt_readings *domains, int domain_count);

#endif
