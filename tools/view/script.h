/* Scripts: what a user would do, a line each, with a clock of their own, so that every run is the same.
 *
 *   key w | key Left | key F12      press a key                action play      what the key table calls it
 *   type TEXT                       type text                  wait SECONDS     let time pass
 *   move X Y, click X Y, doubleclick X Y, rightclick X Y       the mouse, in pixels
 *   drag X0 Y0 X1 Y1                with the left button       wheel N [shift|ctrl]   turn it
 *   press TEXT                      click on the first text drawn that contains it
 *   size WxH                        resize the window          screenshot FILE.png
 *   expect TEXT | refuse TEXT       fails unless a text on the screen contains it; the opposite
 *   quit                            # and empty lines are left out */
#ifndef VIEW_SCRIPT_H
#define VIEW_SCRIPT_H

#include "core/status.h"
#include "view.h"

struct script; /* opaque */

enum wt_code script_open(const char *path, struct script **out, struct wt_error *err);
void script_free(struct script *script);

/* Does the next line, with the frames it takes. *more: there are further lines. Fails with FILE:LINE. */
enum wt_code script_step(struct script *script, struct view *view, bool *more, struct wt_error *err);

#endif
