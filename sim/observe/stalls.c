#include "observe/stalls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/surface.h"
#include "observe/warp_style.h"
#include "observe/warps.h"

enum { LEFT = 170, PLOT = 560, VALUE = 170, TOP = 44, ROW = 21, HEAD = 46, LEAST = 5 /* thousandths of a warp that are shown */ };

/* One state of a kernel. */
struct bar {
    enum wt_stall_reason state;
    double value, measured; /* measured negative: not told */
};

struct group {
    const struct wt_stall_bars *of;
    struct bar bars[WT_STALL_COUNT];
    int count;
    double y;
};

struct picture {
    const char *title;
    struct group *groups;
    size_t count;
    double most; /* value of a full bar */
    double width, height;
};

static int descending(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;
    return (x->value < y->value) - (x->value > y->value);
}

static double measured_of(const struct wt_stall_bars *bars, enum wt_stall_reason state)
{
    char name[96];
    double value;
    wt_stall_figure_name(state, name, sizeof name);
    return bars->metrics && wt_ncu_number(bars->metrics, bars->row, name, &value) ? value : -1;
}

static void fill_group(struct group *group, const struct wt_stall_bars *bars)
{
    group->of = bars;
    for (int i = 0; i < WT_STALL_COUNT; i++) {
        struct bar bar = {(enum wt_stall_reason)i, wt_stalled_per_issue(&bars->result.total, (enum wt_stall_reason)i), 0};
        bar.measured = measured_of(bars, bar.state);
        if (bar.value * 1000 >= LEAST || bar.measured * 1000 >= LEAST)
            group->bars[group->count++] = bar;
    }
    qsort(group->bars, (size_t)group->count, sizeof *group->bars, descending);
}

static void draw_bar(cairo_t *cr, const struct picture *p, const struct bar *bar, double y)
{
    char text[64], words[32];
    double width = PLOT * bar->value / p->most;
    wt_set_font(cr, 11.5, false);
    wt_set_colour(cr, wt_ink, 1);
    wt_text(cr, LEFT - 8, y + 13, 1, wt_state_words(bar->state, words));
    wt_set_colour(cr, wt_state_colour(bar->state), 1);
    cairo_rectangle(cr, LEFT, y + 2, fmax(width, 1), ROW - 6);
    cairo_fill(cr);
    if (bar->measured >= 0) {
        double x = LEFT + PLOT * bar->measured / p->most;
        wt_set_colour(cr, wt_ink, 1);
        cairo_set_line_width(cr, 2);
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x, y + ROW - 3);
        cairo_stroke(cr);
        snprintf(text, sizeof text, "%.2f, measured %.2f", bar->value, bar->measured);
    } else {
        snprintf(text, sizeof text, "%.2f", bar->value);
    }
    wt_set_colour(cr, wt_grey, 1);
    wt_text(cr, LEFT + fmax(width, PLOT * bar->measured / p->most) + 7, y + 13, 0, text);
}

static void draw_group(cairo_t *cr, const struct picture *p, const struct group *group)
{
    char line[256];
    const struct wt_warp_counters *total = &group->of->result.total;
    wt_set_font(cr, 12.5, true);
    wt_set_colour(cr, wt_ink, 1);
    wt_text_within(cr, 16, group->y + 16, p->width - 32, group->of->name);
    wt_set_font(cr, 11.5, false);
    wt_set_colour(cr, wt_grey, 1);
    snprintf(line, sizeof line, "%.2f warps resident per scheduler, %.2f eligible, %.2f issued per cycle%s", wt_warps_active(total),
             wt_warps_eligible(total), wt_issue_active(total), group->of->metrics ? "; black marks: measured by Nsight Compute" : "");
    wt_text_within(cr, 16, group->y + 33, p->width - 32, line);
    for (int i = 0; i < group->count; i++)
        draw_bar(cr, p, &group->bars[i], group->y + HEAD - 4 + ROW * i);
}

static void draw(cairo_t *cr, const void *context)
{
    const struct picture *p = context;
    char line[320];
    snprintf(line, sizeof line, "What warps do between two instructions: warps per issue, by state. %s", p->title);
    wt_set_font(cr, 14, true);
    wt_set_colour(cr, wt_ink, 1);
    wt_text_within(cr, 16, 26, p->width - 32, line);
    for (size_t i = 0; i < p->count; i++)
        draw_group(cr, p, &p->groups[i]);
}

enum wt_code wt_stalls_svg(const char *title, const struct wt_stall_bars *bars, size_t count, FILE *stream, struct wt_error *err)
{
    struct picture p = {.title = title, .groups = wt_alloc(count, sizeof *p.groups), .count = count, .most = 1,
                        .width = LEFT + PLOT + VALUE, .height = TOP};
    for (size_t i = 0; i < count; i++) {
        fill_group(&p.groups[i], &bars[i]);
        p.groups[i].y = p.height;
        p.height += HEAD + ROW * p.groups[i].count + 8;
        for (int b = 0; b < p.groups[i].count; b++)
            p.most = fmax(p.most, fmax(p.groups[i].bars[b].value, p.groups[i].bars[b].measured));
    }
    struct wt_drawing drawing = {.width = p.width, .height = p.height + 8, .title = title, .draw = draw, .context = &p};
    enum wt_code code = wt_surface_svg(&drawing, stream, err);
    free(p.groups);
    return code;
}
