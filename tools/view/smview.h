/* The SM view's parts. Private to its files. */
#ifndef VIEW_SMVIEW_H
#define VIEW_SMVIEW_H

#include "view.h"

/* What the parts draw from. */
struct opened {
    struct view *view;
    const struct run *run;
    int index;
    const struct sm_state *state;
    struct colouring colouring;
};

/* A line off the top of *rect: `text`, and `figure` at its right. */
void smview_heading(const struct opened *o, struct rect *rect, const char *text, const char *figure);
/* Where a sub-core's warp slot, of `slots`, lies. */
struct rect smview_warp_cell(const struct opened *o, struct rect rect, int slots, int slot);
/* The mouse on a piece of the block, and its frame where it is pointed at or pinned. */
void smview_touch_piece(const struct opened *o, struct rect piece, uint32_t span);

/* smwarps.c, where the run has warp states: a sub-core's warps in the colours of their states; what the colours mean, and the
 * SM's warps by state over the timeline's window. */
void smview_draw_warps(const struct opened *o, struct rect rect, int subcore);
void smview_draw_states(const struct opened *o, struct rect rect);

#endif
