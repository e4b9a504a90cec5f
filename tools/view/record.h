/* Pictures out of the window: PNG files, and videos through ffmpeg, or numbered PNGs where it is not installed. */
#ifndef VIEW_RECORD_H
#define VIEW_RECORD_H

#include "canvas.h"
#include "core/status.h"

enum { RECORD_RATE = 30 /* pictures per second */ };

enum wt_code canvas_save_png(const struct canvas *canvas, const char *path, struct wt_error *err);

struct recorder; /* opaque */

/* `path` ends in .mp4 or .gif. Without ffmpeg, pictures go to PATH-00001.png, … (path without its ending). The size
 * is that of the first picture. */
enum wt_code recorder_new(const char *path, struct recorder **out, struct wt_error *err);
/* false: numbered PNGs. */
bool recorder_makes_video(const struct recorder *recorder);
/* Adds the pictures for `seconds` more of time; a picture of another size than the first is cut or filled up. */
enum wt_code recorder_add(struct recorder *recorder, const struct canvas *canvas, double seconds, struct wt_error *err);
/* Finishes the file and frees the recorder; NULL is allowed. `pictures` (may be NULL): how many there are. */
enum wt_code recorder_finish(struct recorder *recorder, int *pictures, struct wt_error *err);

#endif
