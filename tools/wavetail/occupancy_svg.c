/* Step curves of occupancy: colour = what limits, dashed = idealised, dot = the launch asked about. */
#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>

#include "core/outfile.h"
#include "observe/words.h"
#include "occupancy.h"

enum {
    MARGIN = 18,
    HEADING = 58,
    LEGEND = 34,
    PANEL_WIDTH = 470,
    WIDE_PANEL = 760,
    PANEL_HEIGHT = 300,
    LEFT = 46,
    BOTTOM = 44,
    TOP = 22
};

/* Okabe and Ito's colours, told apart with any colour vision. */
static const struct {
    double r, g, b;
    const char *label;
} colours[WT_RES_COUNT] = {
    [WT_RES_BLOCKS] = {0.80, 0.47, 0.65, "block slots"},
    [WT_RES_WARPS] = {0.00, 0.45, 0.70, "warps"},
    [WT_RES_REGISTERS] = {0.84, 0.37, 0.00, "registers"},
    [WT_RES_SHARED_MEMORY] = {0.00, 0.62, 0.45, "shared memory"},
    [WT_RES_BARRIERS] = {0.90, 0.62, 0.00, "barriers"},
};

struct panel {
    cairo_t *cr;
    const struct occ_curve *curve;
    double x, y, width, height; /* of the plot */
};

static double at_x(const struct panel *p, double x)
{
    const struct occ_curve *c = p->curve;
    return p->x + p->width * x / c->points[c->count - 1].x;
}

static double at_y(const struct panel *p, double occupancy)
{
    return p->y + p->height * (1 - fmin(occupancy, 1));
}

static void grey(cairo_t *cr, double level)
{
    cairo_set_source_rgb(cr, level, level, level);
}

static void font(cairo_t *cr, double size, bool bold)
{
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

/* `anchor`: 0 = x is the left end, 0.5 the middle, 1 the right end. Returns the text's width. */
static double write_text(cairo_t *cr, double x, double y, double anchor, const char *text)
{
    cairo_text_extents_t extents;
    cairo_text_extents(cr, text, &extents);
    cairo_move_to(cr, x - anchor * extents.x_advance, y);
    cairo_show_text(cr, text);
    return extents.x_advance;
}

static void draw_grid(const struct panel *p)
{
    font(p->cr, 11, false);
    for (int percent = 0; percent <= 100; percent += 25) {
        double y = at_y(p, percent / 100.0);
        char text[16];
        snprintf(text, sizeof text, "%d", percent);
        grey(p->cr, 0.86);
        cairo_set_line_width(p->cr, 1);
        cairo_move_to(p->cr, p->x, y);
        cairo_line_to(p->cr, p->x + p->width, y);
        cairo_stroke(p->cr);
        grey(p->cr, 0.25);
        write_text(p->cr, p->x - 6, y + 4, 1, text);
    }
}

/* Distance of the marks, and what their labels count in. */
static int mark_step(const struct occ_curve *curve, int *unit)
{
    static const int steps[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
    *unit = curve->axis == OCC_SHARED ? 1024 : 1;
    int last = curve->points[curve->count - 1].x / *unit;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (last / steps[i] <= 8)
            return steps[i] * *unit;
    return last * *unit;
}

static void draw_axis(const struct panel *p)
{
    int unit, last = p->curve->points[p->curve->count - 1].x, step = mark_step(p->curve, &unit);
    grey(p->cr, 0.25);
    for (int x = 0; x <= last; x += step > 0 ? step : last + 1) {
        char text[16];
        snprintf(text, sizeof text, "%d", x / unit);
        cairo_move_to(p->cr, at_x(p, x), p->y + p->height);
        cairo_rel_line_to(p->cr, 0, 4);
        cairo_stroke(p->cr);
        write_text(p->cr, at_x(p, x), p->y + p->height + 17, 0.5, text);
    }
    font(p->cr, 12, false);
    write_text(p->cr, p->x + p->width / 2, p->y + p->height + 35, 0.5,
               p->curve->axis == OCC_SHARED ? "KB of shared memory per block"
                                            : occ_axis_label(p->curve->axis));
}

/* The n-th resource that limits, counted from 0; -1 when there are not so many. */
static int limiter(const struct wt_occupancy *o, int n)
{
    for (int r = 0; r < WT_RES_COUNT; r++)
        if (o->limiter[r] && n-- == 0)
            return r;
    return -1;
}

static void use_colour(cairo_t *cr, int resource, double alpha)
{
    cairo_set_source_rgba(cr, colours[resource].r, colours[resource].g, colours[resource].b, alpha);
}

/* One run of points with the same answer, from `from` (x of the point before) on. */
static void draw_step(const struct panel *p, double from, const struct occ_point *last)
{
    double x = at_x(p, from), width = at_x(p, last->x) - x, y = at_y(p, last->real.occupancy);
    if (last->real.blocks_per_sm == 0) {
        grey(p->cr, 0.93);
        cairo_rectangle(p->cr, x, p->y, width, p->height);
        cairo_fill(p->cr);
        return;
    }
    use_colour(p->cr, limiter(&last->real, 0), 0.22);
    cairo_rectangle(p->cr, x, y, width, p->y + p->height - y);
    cairo_fill(p->cr);
    for (int n = 0; n < 2 && limiter(&last->real, n) >= 0; n++) {
        static const double dash[] = {5, 5};
        use_colour(p->cr, limiter(&last->real, n), 1);
        cairo_set_dash(p->cr, dash, n ? 2 : 0, 0);
        cairo_set_line_width(p->cr, 3);
        cairo_move_to(p->cr, x, y);
        cairo_rel_line_to(p->cr, width, 0);
        cairo_stroke(p->cr);
    }
    cairo_set_dash(p->cr, NULL, 0, 0);
}

static bool same_step(const struct occ_point *a, const struct occ_point *b)
{
    return a->real.occupancy == b->real.occupancy && a->real.blocks_per_sm == b->real.blocks_per_sm &&
           limiter(&a->real, 0) == limiter(&b->real, 0) && limiter(&a->real, 1) == limiter(&b->real, 1);
}

static void draw_steps(const struct panel *p)
{
    const struct occ_curve *c = p->curve;
    double from = 0;
    for (int i = 0; i < c->count; i++)
        if (i + 1 == c->count || !same_step(&c->points[i], &c->points[i + 1])) {
            draw_step(p, from, &c->points[i]);
            from = c->points[i].x;
        }
}

static void draw_idealised(const struct panel *p)
{
    static const double dash[] = {2, 3};
    const struct occ_curve *c = p->curve;
    double from = 0;
    grey(p->cr, 0.35);
    cairo_set_line_width(p->cr, 1.2);
    cairo_set_dash(p->cr, dash, 2, 0);
    cairo_new_path(p->cr);
    for (int i = 0; i < c->count; i++)
        if (i + 1 == c->count || c->points[i].idealised != c->points[i + 1].idealised) {
            cairo_line_to(p->cr, at_x(p, from), at_y(p, c->points[i].idealised));
            from = c->points[i].x;
            cairo_line_to(p->cr, at_x(p, from), at_y(p, c->points[i].idealised));
        }
    cairo_stroke(p->cr);
    cairo_set_dash(p->cr, NULL, 0, 0);
}

static void draw_current(const struct panel *p, const struct occ_answer *answer)
{
    const struct occ_curve *c = p->curve;
    double x = at_x(p, c->current), y = at_y(p, answer->real.occupancy);
    int unit = c->axis == OCC_SHARED ? 1024 : 1;
    if (c->current > c->points[c->count - 1].x)
        return;
    char text[64];
    snprintf(text, sizeof text, "%.4g: %.1f %%", (double)c->current / unit, 100 * answer->real.occupancy);
    grey(p->cr, 0);
    cairo_set_line_width(p->cr, 1);
    cairo_move_to(p->cr, x, p->y);
    cairo_line_to(p->cr, x, p->y + p->height);
    cairo_stroke(p->cr);
    cairo_arc(p->cr, x, y, 5, 0, 2 * M_PI);
    cairo_fill(p->cr);
    font(p->cr, 12, true);
    bool right = c->current > c->points[c->count - 1].x * 3 / 4;
    write_text(p->cr, x + (right ? -6 : 6), p->y - 6, right ? 1 : 0, text);
}

static void draw_panel(cairo_t *cr, const struct occ_curve *curve, const struct occ_answer *answer, double x,
                       double width)
{
    struct panel panel = {cr, curve, x + LEFT, HEADING + TOP, width - LEFT - 14, PANEL_HEIGHT - TOP - BOTTOM};
    draw_grid(&panel);
    draw_steps(&panel);
    draw_idealised(&panel);
    draw_axis(&panel);
    draw_current(&panel, answer);
}

static void draw_heading(cairo_t *cr, const struct occ_question *q, const struct occ_answer *a)
{
    char shared[WT_WORDS], registers[32] = "", text[256], limits[96] = "";
    wt_words_count(shared, (uint64_t)q->needs.static_shared_bytes + (uint64_t)q->needs.dynamic_shared_bytes);
    if (q->registers_given)
        snprintf(registers, sizeof registers, "%d registers, ", q->needs.registers_per_thread);
    for (int n = 0, used = 0; limiter(&a->real, n) >= 0; n++)
        used += snprintf(limits + used, sizeof limits - (size_t)used, "%s%s", n ? ", " : "",
                         colours[limiter(&a->real, n)].label);
    grey(cr, 0);
    font(cr, 15, true);
    snprintf(text, sizeof text, "Occupancy %.1f %%: %d block%s per SM, limited by %s",
             100 * a->real.occupancy, a->real.blocks_per_sm, a->real.blocks_per_sm == 1 ? "" : "s", limits);
    write_text(cr, MARGIN, MARGIN + 14, 0, text);
    font(cr, 12, false);
    snprintf(text, sizeof text, "%s%s: %d threads, %s%s bytes of shared memory per block", q->gpu->name,
             q->overridden ? " with other limits" : "", q->needs.threads, registers, shared);
    write_text(cr, MARGIN, MARGIN + 34, 0, text);
}

static bool occurs(const struct occ_curve *curves, int count, int resource)
{
    for (int c = 0; c < count; c++)
        for (int i = 0; i < curves[c].count; i++)
            if (curves[c].points[i].real.blocks_per_sm && curves[c].points[i].real.limiter[resource])
                return true;
    return false;
}

static void draw_legend(cairo_t *cr, const struct occ_curve *curves, int count, double y)
{
    static const double dash[] = {2, 3};
    double x = MARGIN;
    font(cr, 12, false);
    grey(cr, 0.25);
    x += write_text(cr, x, y, 0, "occupancy in %, limited by") + 12;
    for (int r = 0; r < WT_RES_COUNT; r++) {
        if (!occurs(curves, count, r))
            continue;
        use_colour(cr, r, 1);
        cairo_rectangle(cr, x, y - 9, 12, 10);
        cairo_fill(cr);
        grey(cr, 0.25);
        x += 17 + write_text(cr, x + 17, y, 0, colours[r].label) + 14;
    }
    cairo_set_dash(cr, dash, 2, 0);
    cairo_set_line_width(cr, 1.2);
    cairo_move_to(cr, x, y - 4);
    cairo_rel_line_to(cr, 18, 0);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    write_text(cr, x + 23, y, 0, "idealised");
}

static cairo_status_t write_bytes(void *stream, const unsigned char *data, unsigned length)
{
    return fwrite(data, 1, length, stream) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

enum wt_code occ_draw(const struct occ_question *q, const struct occ_answer *answer,
                      const struct occ_curve *curves, int count, const char *path, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, path, err));
    double panel = count > 1 ? PANEL_WIDTH : WIDE_PANEL;
    double width = 2 * MARGIN + count * panel, height = HEADING + PANEL_HEIGHT + LEGEND + MARGIN;
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(write_bytes, out.stream, width, height);
    cairo_t *cr = cairo_create(surface);
    grey(cr, 1);
    cairo_paint(cr);
    draw_heading(cr, q, answer);
    for (int i = 0; i < count; i++)
        draw_panel(cr, &curves[i], answer, MARGIN + i * panel, panel);
    draw_legend(cr, curves, count, HEADING + PANEL_HEIGHT + LEGEND - 6);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    cairo_status_t status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        return wt_outfile_commit(&out, err);
    wt_outfile_discard(&out);
    return wt_fail_at(err, path, 0, "cannot be drawn (%s)", cairo_status_to_string(status));
}
