/* How a bound explains a measured launch, SM by SM: each SM is followed through the very blocks that it was given, and these end
 * when the bound lets them. Where blocks went is thereby as measured, which a simulation of the whole launch cannot be: there a
 * block that goes elsewhere sends all later ones elsewhere. When blocks start is not taken from the trace, except for the first
 * wave: an SM that favours its oldest blocks lets the youngest read their clocks late, by tens of thousands of cycles. */
#ifndef WT_STUDY_FOLLOW_H
#define WT_STUDY_FOLLOW_H

#include "study/stays.h"

struct wt_followed {
    double misfit; /* root mean square of blocks' ends, and as much of SMs' last ends, against those that were read; of the makespan */
    double chance; /* standard deviation of the logarithm of blocks' works that would let their ends miss as far as they do */
    double scale;  /* cycles at full speed / stated work, so that ends come when they were read on average; > 0 */
};

/* Of `count` bounds, in parallel. `room`: blocks that an SM holds at once, 1 to WT_MAX_SLOTS. `release`: cycles from an end until
 * the next block starts; `wait`: from a start until the block works. What all SMs share they need not share alike: each comes to the mean
 * end that was read. */
void wt_follow(const struct wt_stays *stays, int room, double release, double wait, const struct wt_bound *bounds, int count,
               struct wt_followed *followed);

#endif
