/* Which SMs share a clock: the SMs of one clock domain (a GPC) have clock64 counters that agree within a few
 * cycles; those of different domains are offset by up to millions, and drift against each other under load.
 */
#ifndef WT_TRACE_DOMAINS_H
#define WT_TRACE_DOMAINS_H

#include "trace/trace.h"

/* Fills domain_of_sm[0 … sm_count-1] with domains numbered from 0 in the order of their lowest SM, -1 for an
 * SM without rows, and returns how many there are. Compares readings of two SMs only where they are close in
 * time, since clock rates wander: two SMs are in one domain when nearly all such readings agree as far as
 * globaltimer's step can tell. Two domains that happen to be closer than that (at most 2 * step * rate
 * cycles) count as one. `khz` > 0: the clock rate, within 3 %. The trace needs clocks and times. */
int wt_domains_find(const struct wt_trace *trace, double khz, int step_ns, int16_t *domain_of_sm);

#endif
