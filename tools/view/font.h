/* Text on a canvas: DejaVu Sans through SDL_ttf, rasterised once per size and letter. */
#ifndef VIEW_FONT_H
#define VIEW_FONT_H

#include "canvas.h"
#include "core/status.h"

struct fonts; /* opaque */

enum font_face { FONT_PLAIN, FONT_BOLD, FONT_FACES };

/* Looks for the font files in $WAVETAIL_FONTS (a folder), then where distributions put them. Fails saying what to
 * install. */
enum wt_code fonts_open(struct fonts **out, struct wt_error *err);
/* NULL is allowed. */
void fonts_close(struct fonts *fonts);

struct text_style {
    enum font_face face;
    int size; /* pixels, as the font counts them */
    colour ink;
};

/* Height of a line, and from its top to the baseline. */
int font_height(struct fonts *fonts, const struct text_style *style);
int text_width(struct fonts *fonts, const struct text_style *style, const char *text);

/* (x, y) is the top left corner. Returns the width. What is not UTF-8 becomes '?'. */
int text_draw(struct canvas *canvas, struct fonts *fonts, const struct text_style *style, int x, int y, const char *text);

/* Keeps what is drawn, a line for each text, until text_log_clear: for scripts that check what is shown. */
void text_log_keep(struct fonts *fonts, bool keep);
void text_log_clear(struct fonts *fonts);
const char *text_log(const struct fonts *fonts);
/* Where the first logged text that contains `part` was drawn: its middle. */
bool text_log_find(struct fonts *fonts, const char *part, int *x, int *y);

#endif
