/* Colours of warp states, and the legend that explains them. For sim/observe and the view. */
#ifndef WT_OBSERVE_WARP_STYLE_H
#define WT_OBSERVE_WARP_STYLE_H

#include "observe/picture.h"
#include "warp/metrics.h"

/* What issues is green, what could issue pale green; the rest can be told apart by colour-blind people where they are common. */
struct wt_colour wt_state_colour(enum wt_stall_reason state);

/* "not_selected" → "not selected", in a buffer of at least 32 bytes. */
const char *wt_state_words(enum wt_stall_reason state, char *words);

/* Those of the bit mask `states`, in lines of `width` from (x, y) on; returns its height. Draws nothing without `cr`'s font set
 * by the caller beforehand. */
double wt_state_legend(cairo_t *cr, uint32_t states, double x, double y, double width);

#endif
