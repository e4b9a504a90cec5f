#include "canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static colour *pixel_at(struct canvas *canvas, int x, int y)
{
    return canvas->pixels + (size_t)y * (size_t)canvas->width + x;
}

/* Red and blue together, then green: two multiplications for three channels. */
static colour blended(colour under, colour over, uint32_t alpha)
{
    uint32_t a = alpha + (alpha >> 7), b = 256 - a;
    uint32_t red_blue = ((over & 0xff00ff) * a + (under & 0xff00ff) * b) >> 8 & 0xff00ff;
    uint32_t green = ((over & 0x00ff00) * a + (under & 0x00ff00) * b) >> 8 & 0x00ff00;
    return red_blue | green;
}

static void blend_pixel(struct canvas *canvas, int x, int y, colour value, double share)
{
    if (share <= 0 || !rect_holds(canvas->clip, x, y))
        return;
    colour *pixel = pixel_at(canvas, x, y);
    *pixel = blended(*pixel, value, (uint32_t)(255 * (share > 1 ? 1 : share) + 0.5));
}

struct canvas canvas_new(int width, int height)
{
    struct canvas canvas = {.width = width, .height = height, .clip = {0, 0, width, height}};
    canvas.pixels = wt_alloc((size_t)width * (size_t)height, sizeof *canvas.pixels);
    return canvas;
}

void canvas_free(struct canvas *canvas)
{
    free(canvas->pixels);
    *canvas = (struct canvas){0};
}

struct rect rect_intersect(struct rect a, struct rect b)
{
    int x0 = most(a.x, b.x), y0 = most(a.y, b.y);
    int x1 = least(a.x + a.w, b.x + b.w), y1 = least(a.y + a.h, b.y + b.h);
    return (struct rect){x0, y0, most(0, x1 - x0), most(0, y1 - y0)};
}

struct rect rect_inset(struct rect rect, int by)
{
    return (struct rect){rect.x + by, rect.y + by, most(0, rect.w - 2 * by), most(0, rect.h - 2 * by)};
}

bool rect_holds(struct rect rect, int x, int y)
{
    return x >= rect.x && x < rect.x + rect.w && y >= rect.y && y < rect.y + rect.h;
}

struct rect canvas_clip_to(struct canvas *canvas, struct rect rect)
{
    struct rect old = canvas->clip;
    canvas->clip = rect_intersect(old, rect);
    return old;
}

void canvas_set_clip(struct canvas *canvas, struct rect clip)
{
    canvas->clip = clip;
}

colour colour_mix(colour under, colour over, double share)
{
    return blended(under, over, (uint32_t)(255 * fmin(fmax(share, 0), 1) + 0.5));
}

double colour_luminance(colour value)
{
    return (0.2126 * (value >> 16 & 255) + 0.7152 * (value >> 8 & 255) + 0.0722 * (value & 255)) / 255;
}

void canvas_fill(struct canvas *canvas, struct rect rect, colour value)
{
    struct rect r = rect_intersect(canvas->clip, rect);
    for (int y = r.y; y < r.y + r.h; y++) {
        colour *row = pixel_at(canvas, r.x, y);
        for (int x = 0; x < r.w; x++)
            row[x] = value;
    }
}

void canvas_blend(struct canvas *canvas, struct rect rect, colour value, int alpha)
{
    if (alpha >= 255) {
        canvas_fill(canvas, rect, value);
        return;
    }
    struct rect r = rect_intersect(canvas->clip, rect);
    for (int y = r.y; alpha > 0 && y < r.y + r.h; y++) {
        colour *row = pixel_at(canvas, r.x, y);
        for (int x = 0; x < r.w; x++)
            row[x] = blended(row[x], value, (uint32_t)alpha);
    }
}

void canvas_span(struct canvas *canvas, double x0, double x1, int y, int h, colour value, int alpha)
{
    x0 = fmax(x0, canvas->clip.x - 1);
    x1 = fmin(x1, canvas->clip.x + canvas->clip.w + 1);
    if (!(x1 > x0))
        return;
    int first = (int)floor(x0), last = (int)floor(x1);
    if (first == last) {
        canvas_blend(canvas, (struct rect){first, y, 1, h}, value, (int)(alpha * (x1 - x0) + 0.5));
        return;
    }
    canvas_blend(canvas, (struct rect){first, y, 1, h}, value, (int)(alpha * (first + 1 - x0) + 0.5));
    canvas_blend(canvas, (struct rect){first + 1, y, last - first - 1, h}, value, alpha);
    canvas_blend(canvas, (struct rect){last, y, 1, h}, value, (int)(alpha * (x1 - last) + 0.5));
}

void canvas_columns(struct canvas *canvas, int x, int y, int h, const colour *colours, const uint8_t *alphas, int count)
{
    struct rect r = rect_intersect(canvas->clip, (struct rect){x, y, count, h});
    colours += r.x - x;
    alphas += r.x - x;
    for (int line = r.y; line < r.y + r.h; line++) {
        colour *row = pixel_at(canvas, r.x, line);
        for (int i = 0; i < r.w; i++)
            row[i] = blended(row[i], colours[i], alphas[i]);
    }
}

void canvas_frame(struct canvas *canvas, struct rect r, int t, colour value)
{
    t = least(t, least(r.w, r.h));
    canvas_fill(canvas, (struct rect){r.x, r.y, r.w, t}, value);
    canvas_fill(canvas, (struct rect){r.x, r.y + r.h - t, r.w, t}, value);
    canvas_fill(canvas, (struct rect){r.x, r.y + t, t, r.h - 2 * t}, value);
    canvas_fill(canvas, (struct rect){r.x + r.w - t, r.y + t, t, r.h - 2 * t}, value);
}

void canvas_dashed_frame(struct canvas *canvas, struct rect r, int t, int dash, colour value)
{
    for (int x = 0; x < r.w; x += 2 * dash) {
        canvas_fill(canvas, (struct rect){r.x + x, r.y, least(dash, r.w - x), t}, value);
        canvas_fill(canvas, (struct rect){r.x + x, r.y + r.h - t, least(dash, r.w - x), t}, value);
    }
    for (int y = 0; y < r.h; y += 2 * dash) {
        canvas_fill(canvas, (struct rect){r.x, r.y + y, t, least(dash, r.h - y)}, value);
        canvas_fill(canvas, (struct rect){r.x + r.w - t, r.y + y, t, least(dash, r.h - y)}, value);
    }
}

/* How far the corner cuts into line `line` of a rectangle `h` high. */
static double corner_inset(int line, int h, int radius)
{
    int from_edge = least(line, h - 1 - line);
    if (from_edge >= radius)
        return 0;
    double dy = radius - from_edge - 0.5;
    return radius - sqrt(fmax(0, (double)radius * radius - dy * dy));
}

void canvas_round(struct canvas *canvas, struct rect r, int radius, colour value, int alpha)
{
    radius = least(radius, least(r.w, r.h) / 2);
    for (int line = 0; line < r.h; line++) {
        double inset = corner_inset(line, r.h, radius);
        canvas_span(canvas, r.x + inset, r.x + r.w - inset, r.y + line, 1, value, alpha);
    }
}

void canvas_line(struct canvas *canvas, double x0, double y0, double x1, double y1, double width, colour value)
{
    double dx = x1 - x0, dy = y1 - y0, length = hypot(dx, dy), half = width / 2;
    struct rect box = {(int)floor(fmin(x0, x1) - half) - 1, (int)floor(fmin(y0, y1) - half) - 1, 0, 0};
    box.w = (int)ceil(fmax(x0, x1) + half) + 2 - box.x;
    box.h = (int)ceil(fmax(y0, y1) + half) + 2 - box.y;
    box = rect_intersect(box, canvas->clip);
    for (int y = box.y; length > 0 && y < box.y + box.h; y++)
        for (int x = box.x; x < box.x + box.w; x++) {
            double px = x + 0.5 - x0, py = y + 0.5 - y0;
            double along = (px * dx + py * dy) / length, across = fabs(px * dy - py * dx) / length;
            double beyond = fmax(fmax(-along, along - length), 0);
            blend_pixel(canvas, x, y, value, fmin(half + 0.5 - across, 0.5 + half - beyond));
        }
}

void canvas_disc(struct canvas *canvas, double x, double y, double radius, colour value)
{
    for (int j = (int)(y - radius - 1); j <= (int)(y + radius + 1); j++)
        for (int i = (int)(x - radius - 1); i <= (int)(x + radius + 1); i++)
            blend_pixel(canvas, i, j, value, radius + 0.5 - hypot(i + 0.5 - x, j + 0.5 - y));
}

void canvas_dashed_vertical(struct canvas *canvas, int x, int y0, int y1, int dash, colour value)
{
    for (int y = y0; y < y1; y += 2 * dash)
        canvas_fill(canvas, (struct rect){x, y, 1, least(dash, y1 - y)}, value);
}

void canvas_arrow(struct canvas *canvas, struct rect r, int direction, colour value)
{
    bool lying = direction % 2 == 0;
    int steps = lying ? r.w : r.h, breadth = lying ? r.h : r.w;
    for (int i = 0; i < steps; i++) {
        double share = (i + 0.5) / steps, half = breadth * (direction < 2 ? 1 - share : share) / 2;
        if (!lying) {
            canvas_span(canvas, r.x + breadth / 2.0 - half, r.x + breadth / 2.0 + half, r.y + i, 1, value, 255);
            continue;
        }
        for (int j = 0; j < breadth; j++)
            blend_pixel(canvas, r.x + i, r.y + j, value, half + 0.5 - fabs(j + 0.5 - breadth / 2.0));
    }
}

static bool on_pattern(enum hatch hatch, int x, int y, int step)
{
    int rising = (x + y) % step, falling = ((x - y) % step + step) % step;
    switch (hatch) {
    case HATCH_RISING:
        return rising == 0;
    case HATCH_FALLING:
        return falling == 0;
    case HATCH_LEVEL:
        return y % step == 0;
    case HATCH_UPRIGHT:
        return x % step == 0;
    case HATCH_DOTS:
        return x % step < 2 && y % step < 2;
    case HATCH_CROSSED:
        return rising == 0 || falling == 0;
    default:
        return false;
    }
}

void canvas_hatch(struct canvas *canvas, struct rect rect, enum hatch hatch, int step, colour value, int alpha)
{
    struct rect r = rect_intersect(canvas->clip, rect);
    for (int y = r.y; hatch != HATCH_NONE && y < r.y + r.h; y++) {
        colour *row = pixel_at(canvas, 0, y);
        for (int x = r.x; x < r.x + r.w; x++)
            if (on_pattern(hatch, x, y, step))
                row[x] = blended(row[x], value, (uint32_t)alpha);
    }
}

void canvas_copy(struct canvas *canvas, const struct canvas *from, int x, int y)
{
    struct rect r = rect_intersect(canvas->clip, (struct rect){x, y, from->width, from->height});
    for (int line = r.y; line < r.y + r.h; line++)
        memcpy(pixel_at(canvas, r.x, line), from->pixels + (size_t)(line - y) * (size_t)from->width + (r.x - x),
               (size_t)r.w * sizeof *from->pixels);
}
