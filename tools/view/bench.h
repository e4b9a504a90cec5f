/* How fast frames are: playing, zooming, panning, in each view. */
#ifndef VIEW_BENCH_H
#define VIEW_BENCH_H

#include <stdio.h>

#include "view.h"

/* Prints a line for each case: median and 95th percentile of the frame times, and frames per second by the median. */
void bench_run(struct view *view, FILE *stream);

double bench_seconds(void);

#endif
