/* A picture in memory, and drawing on it. Every view draws here, so the window, screenshots, videos and headless
 * pictures are the same pixels on every machine. Nothing is drawn outside the clip. */
#ifndef VIEW_CANVAS_H
#define VIEW_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

/* 0x00RRGGBB */
typedef uint32_t colour;

struct rect {
    int x, y, w, h; /* pixels; y grows downwards */
};

struct canvas {
    colour *pixels; /* owned; rows of `width`, from the top */
    int width, height;
    struct rect clip; /* inside the canvas */
};

/* Black; width and height >= 1. */
struct canvas canvas_new(int width, int height);
void canvas_free(struct canvas *canvas);

struct rect rect_intersect(struct rect a, struct rect b);
/* Shrunk by `by` on all sides; never negative. */
struct rect rect_inset(struct rect rect, int by);
bool rect_holds(struct rect rect, int x, int y);

/* Narrows the clip; returns the old one, for canvas_set_clip. */
struct rect canvas_clip_to(struct canvas *canvas, struct rect rect);
void canvas_set_clip(struct canvas *canvas, struct rect clip);

/* share 0..1 of `over`, the rest `under`. */
colour colour_mix(colour under, colour over, double share);
/* Relative luminance, 0..1 (sRGB weights, without linearising). */
double colour_luminance(colour value);

void canvas_fill(struct canvas *canvas, struct rect rect, colour value);
/* alpha 0..255 */
void canvas_blend(struct canvas *canvas, struct rect rect, colour value, int alpha);
/* From x0 to x1 with partly covered pixels at the ends. */
void canvas_span(struct canvas *canvas, double x0, double x1, int y, int h, colour value, int alpha);
/* Column x + i gets colours[i] with alphas[i], over the height h. */
void canvas_columns(struct canvas *canvas, int x, int y, int h, const colour *colours, const uint8_t *alphas, int count);
/* The border inside the rectangle. */
void canvas_frame(struct canvas *canvas, struct rect rect, int thickness, colour value);
void canvas_dashed_frame(struct canvas *canvas, struct rect rect, int thickness, int dash, colour value);
void canvas_round(struct canvas *canvas, struct rect rect, int radius, colour value, int alpha);
/* Smooth edges. */
void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1, double width, colour value);
void canvas_disc(struct canvas *canvas, double x, double y, double radius, colour value);
void canvas_dashed_vertical(struct canvas *canvas, int x, int y0, int y1, int dash, colour value);
/* A triangle in the rectangle, pointing right (direction 0), down (1), left (2) or up (3). */
void canvas_arrow(struct canvas *canvas, struct rect rect, int direction, colour value);

/* Patterns that tell colours apart without colour. */
enum hatch { HATCH_NONE, HATCH_RISING, HATCH_FALLING, HATCH_LEVEL, HATCH_UPRIGHT, HATCH_DOTS, HATCH_CROSSED, HATCHES };
void canvas_hatch(struct canvas *canvas, struct rect rect, enum hatch hatch, int step, colour value, int alpha);

/* Copies all of `from` to (x, y). */
void canvas_copy(struct canvas *canvas, const struct canvas *from, int x, int y);

#endif
