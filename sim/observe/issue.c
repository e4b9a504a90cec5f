#include "observe/issue.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "observe/surface.h"
#include "observe/warp_style.h"
#include "observe/words.h"

/* ---- Recording ---- */

struct wt_issue_record *wt_issue_record_new(int sm, int subcore, wt_time from, wt_time to)
{
    struct wt_issue_record *record = wt_alloc(1, sizeof *record);
    *record = (struct wt_issue_record){.sm = sm, .subcore = subcore, .from = from, .to = to};
    return record;
}

void wt_issue_record_free(struct wt_issue_record *record)
{
    if (!record)
        return;
    free(record->spans);
    free(record);
}

/* Cycles of issue stay apart, so that each can be seen. */
static bool goes_on(const struct wt_warp_span *span, const struct wt_warp_span *next)
{
    return span->state == next->state && span->state != WT_STALL_SELECTED && span->to == next->from && span->block == next->block &&
           span->warp == next->warp && span->launch == next->launch;
}

void wt_issue_record_add(void *context, const struct wt_warp_span *span)
{
    struct wt_issue_record *record = context;
    size_t *last = &record->last[span->slot];
    if (span->to <= record->from || span->from >= record->to)
        return;
    struct wt_warp_span clipped = *span;
    clipped.from = clipped.from < record->from ? record->from : clipped.from;
    clipped.to = clipped.to > record->to ? record->to : clipped.to;
    if (*last > 0 && goes_on(&record->spans[*last - 1], &clipped)) {
        record->spans[*last - 1].to = clipped.to;
        return;
    }
    record->spans = wt_grow(record->spans, &record->capacity, record->count + 1, sizeof *record->spans);
    record->spans[record->count++] = clipped;
    *last = record->count;
}

/* ---- The picture ---- */

enum { LEFT = 150, RIGHT = 24, TOP = 66, ROW = 17, STRIP = 22, AXIS = 34, LEGEND = 46, LEAST_WIDTH = 760, MOST_PLOT = 1400 };

struct row {
    uint32_t launch;
    uint64_t block;
    uint16_t warp;
    uint8_t slot;
};

struct picture {
    const struct wt_issue_record *record;
    const struct wt_timeline *about;
    struct row *rows; /* by slot, then in the order of coming */
    size_t row_count;
    size_t *row_of; /* by span */
    double width, height, plot, cycles; /* plot: width of all cycles */
    double first; /* cycle at the left */
    uint32_t states; /* bit mask of those that occur */
    double issued, resident, eligible; /* warp cycles */
};

static bool is_of(const struct row *row, const struct wt_warp_span *span)
{
    return row->block == span->block && row->warp == span->warp && row->launch == span->launch && row->slot == span->slot;
}

static int by_slot(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

/* A warp's row; there are as many as warps have been in the window. */
static void find_rows(struct picture *p)
{
    const struct wt_issue_record *record = p->record;
    size_t capacity = 0;
    for (size_t i = 0; i < record->count; i++) {
        size_t r = 0;
        while (r < p->row_count && !is_of(&p->rows[r], &record->spans[i]))
            r++;
        if (r < p->row_count)
            continue;
        const struct wt_warp_span *span = &record->spans[i];
        p->rows = wt_grow(p->rows, &capacity, p->row_count + 1, sizeof *p->rows);
        p->rows[p->row_count++] = (struct row){span->launch, span->block, span->warp, span->slot};
    }
    /* Stable, since a slot's warps come one after another. */
    for (size_t i = 1; i < p->row_count; i++)
        for (size_t j = i; j > 0 && by_slot(&p->rows[j - 1], &p->rows[j]) > 0; j--) {
            struct row moved = p->rows[j];
            p->rows[j] = p->rows[j - 1];
            p->rows[j - 1] = moved;
        }
    p->row_of = wt_alloc(record->count, sizeof *p->row_of);
    for (size_t i = 0; i < record->count; i++)
        while (!is_of(&p->rows[p->row_of[i]], &record->spans[i]))
            p->row_of[i]++;
}

static void sum_up(struct picture *p)
{
    for (size_t i = 0; i < p->record->count; i++) {
        const struct wt_warp_span *span = &p->record->spans[i];
        double cycles = wt_to_cycles(span->to - span->from);
        p->states |= (uint32_t)1 << span->state;
        p->resident += cycles;
        p->issued += span->state == WT_STALL_SELECTED ? cycles : 0;
        p->eligible += span->state == WT_STALL_SELECTED || span->state == WT_STALL_NOT_SELECTED ? cycles : 0;
    }
}

static double at_x(const struct picture *p, wt_time t)
{
    return LEFT + p->plot * wt_to_cycles(t - p->record->from) / p->cycles;
}

static double row_y(const struct picture *p, size_t row)
{
    (void)p;
    return TOP + STRIP + (double)row * ROW;
}

static void draw_spans(cairo_t *cr, const struct picture *p)
{
    double gap = p->plot / p->cycles >= 5 ? 1 : 0;
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (size_t i = 0; i < p->record->count; i++) {
        const struct wt_warp_span *span = &p->record->spans[i];
        bool issues = span->state == WT_STALL_SELECTED;
        double x = at_x(p, span->from), y = row_y(p, p->row_of[i]);
        wt_set_colour(cr, wt_state_colour((enum wt_stall_reason)span->state), 1);
        cairo_rectangle(cr, x, y + 1, at_x(p, span->to) - x - (issues ? gap : 0), ROW - 2);
        if (issues)
            cairo_rectangle(cr, x, TOP, at_x(p, span->to) - x - gap, STRIP - 8);
        cairo_fill(cr);
    }
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_DEFAULT);
}

static void draw_labels(cairo_t *cr, const struct picture *p)
{
    wt_set_font(cr, 11, false);
    wt_set_colour(cr, wt_ink, 1);
    wt_text(cr, LEFT - 8, TOP + 11, 1, "a warp issues");
    for (size_t r = 0; r < p->row_count; r++) {
        char text[64];
        snprintf(text, sizeof text, "block %" PRIu64 ", warp %d", p->rows[r].block, p->rows[r].warp);
        bool same = r > 0 && p->rows[r].slot == p->rows[r - 1].slot;
        wt_set_colour(cr, same ? wt_grey : wt_ink, 1);
        wt_text(cr, LEFT - 8, row_y(p, r) + ROW - 5, 1, text);
    }
}

static double tick_step(double cycles)
{
    static const double steps[] = {5, 10, 20, 50, 100, 200, 500};
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof *steps && cycles / steps[i] > 14)
        i++;
    return steps[i];
}

static void draw_axis(cairo_t *cr, const struct picture *p)
{
    double bottom = row_y(p, p->row_count), step = tick_step(p->cycles);
    wt_set_font(cr, 11, false);
    cairo_set_line_width(cr, 1);
    for (double c = ceil(p->first / step) * step; c <= p->first + p->cycles; c += step) {
        double x = wt_sharp(LEFT + p->plot * (c - p->first) / p->cycles);
        char text[32];
        wt_set_colour(cr, wt_grey, 1);
        cairo_move_to(cr, x, bottom + 2);
        cairo_line_to(cr, x, bottom + 6);
        cairo_stroke(cr);
        snprintf(text, sizeof text, "%.0f", c);
        wt_text(cr, x, bottom + 18, 0.5, text);
    }
    wt_text(cr, LEFT - 30, bottom + 18, 1, "cycle");
}

static void draw_head(cairo_t *cr, const struct picture *p)
{
    char line[256];
    const struct wt_issue_record *record = p->record;
    wt_set_colour(cr, wt_ink, 1);
    wt_set_font(cr, 15, true);
    snprintf(line, sizeof line, "SM %d, scheduler %d, cycle by cycle: %s on %s", record->sm, record->subcore, p->about->title,
             p->about->gpu_name);
    wt_text_within(cr, 16, 24, p->width - 32, line);
    wt_set_font(cr, 11.5, false);
    wt_set_colour(cr, wt_grey, 1);
    snprintf(line, sizeof line, "cycles %.0f to %.0f after the first block's start: a warp issues in %.0f %% of them; on average %.1f "
             "warps are resident, %.1f eligible", p->first, p->first + p->cycles, 100 * p->issued / p->cycles,
             p->resident / p->cycles, p->eligible / p->cycles);
    wt_text_within(cr, 16, 44, p->width - 32, line);
}

static void draw(cairo_t *cr, const void *context)
{
    const struct picture *p = context;
    draw_head(cr, p);
    draw_spans(cr, p);
    draw_labels(cr, p);
    draw_axis(cr, p);
    wt_set_font(cr, 11, false);
    wt_state_legend(cr, p->states, LEFT, row_y(p, p->row_count) + AXIS, p->plot);
}

enum wt_code wt_issue_svg(const struct wt_issue_record *record, const struct wt_timeline *about, FILE *stream, struct wt_error *err)
{
    if (record->count == 0)
        return wt_fail(err, WT_BAD_INPUT, "--issue: no warp was on SM %d, sub-core %d between cycles %.0f and %.0f; choose others "
                       "(--blocks tells who was where when)", record->sm, record->subcore, wt_to_cycles(record->from),
                       wt_to_cycles(record->to));
    struct picture p = {.record = record, .about = about, .first = wt_to_cycles(record->from)};
    p.cycles = wt_to_cycles(record->to - record->from);
    double pitch = fmin(12, fmax(1, floor(MOST_PLOT / p.cycles)));
    p.plot = fmax(LEAST_WIDTH - LEFT - RIGHT, pitch * p.cycles);
    p.width = LEFT + p.plot + RIGHT;
    find_rows(&p);
    sum_up(&p);
    p.height = row_y(&p, p.row_count) + AXIS + LEGEND;
    struct wt_drawing drawing = {.width = p.width, .height = p.height, .title = about->title, .draw = draw, .context = &p};
    enum wt_code code = wt_surface_svg(&drawing, stream, err);
    free(p.rows);
    free(p.row_of);
    return code;
}
