/* The window: SDL shows the canvas and brings the events. */
#ifndef VIEW_WINDOW_H
#define VIEW_WINDOW_H

#include "script.h"
#include "view.h"

struct window_setup {
    int width, height;
    double scale;          /* pixels per point; 0 = as the screen says */
    struct script *script; /* plays it in the window; NULL = the user */
};

/* Runs until the user quits or the script ends. Fails when there is no display, or the script does. */
enum wt_code window_run(struct view *view, const struct window_setup *setup, struct wt_error *err);

#endif
