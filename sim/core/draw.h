/* Random draws from the normal and the exponential distribution, by the ziggurat method (Marsaglia and Tsang 2000,
 * "The Ziggurat Method for Generating Random Variables", with 256 layers; the layer and the position in it come
 * from different random bits, as Doornik 2005 advises). Same bits on every machine. */
#ifndef WT_CORE_DRAW_H
#define WT_CORE_DRAW_H

#include "core/random.h"

/* Mean 0, deviation 1. */
void wt_draw_normal(struct wt_random *r, double *out, int count);

/* Mean 1. */
void wt_draw_exponential(struct wt_random *r, double *out, int count);

#endif
