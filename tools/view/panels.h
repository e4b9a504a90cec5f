/* Lines of a panel. Private to the panels. */
#ifndef VIEW_PANELS_H
#define VIEW_PANELS_H

#include "view.h"

/* Each takes what it needs off the top of *rect. */
void panel_heading(struct view *view, struct rect *rect, const char *text);
void panel_fact(struct view *view, struct rect *rect, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Wrapped, in secondary ink unless `strong`. */
void panel_words(struct view *view, struct rect *rect, bool strong, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A row of equal buttons; returns the one clicked, or -1. `on`: the one that is chosen, -1 = none. */
int panel_choice(struct view *view, struct rect *rect, const char *const *labels, int count, int on);

/* The block that panels speak of: the one under the mouse, else the pinned one. */
struct pick panel_subject(const struct view *view);

#endif
