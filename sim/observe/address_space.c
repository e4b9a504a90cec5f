#include "observe/address_space.h"

#include <math.h>
#include <stdlib.h>

#include <cairo-svg.h>

#include "core/mem.h"
#include "observe/picture.h"
#include "observe/surface.h"
#include "observe/words.h"

struct wt_address_space *wt_address_space_new(int sm)
{
    struct wt_address_space *space = wt_alloc(1, sizeof *space);
    *space = (struct wt_address_space){.sm = sm, .origin = WT_NEVER};
    space->present = wt_alloc(WT_MAX_SLOTS, sizeof *space->present);
    for (int slot = 0; slot < WT_MAX_SLOTS; slot++)
        space->present[slot] = -1;
    return space;
}

void wt_address_space_free(struct wt_address_space *space)
{
    if (!space)
        return;
    free(space->ranges);
    free(space->present);
    free(space);
}

/* ---- Recording ---- */

static void handed_out(void *context, const struct wt_handout *handout)
{
    struct wt_address_space *space = context;
    int offset, bytes;
    if (handout->sm != space->sm || !wt_sm_shared_range(handout->place, handout->slot, &offset, &bytes) || bytes == 0)
        return;
    space->ranges = wt_grow(space->ranges, &space->capacity, space->count + 1, sizeof *space->ranges);
    space->present[handout->slot] = (long)space->count;
    space->ranges[space->count++] = (struct wt_held_range){.launch = handout->launch,
                                                           .block = handout->block,
                                                           .slot = handout->slot,
                                                           .offset = offset,
                                                           .bytes = bytes,
                                                           .total = wt_sm_shared_use(handout->place).total_bytes,
                                                           .held = handout->at,
                                                           .start = WT_NEVER,
                                                           .end = WT_NEVER,
                                                           .known = WT_NEVER};
}

static void started(void *context, const struct wt_started *started)
{
    struct wt_address_space *space = context;
    space->origin = started->start < space->origin ? started->start : space->origin;
    if (started->sm == space->sm && space->present[started->slot] >= 0)
        space->ranges[space->present[started->slot]].start = started->start;
}

static void ended(void *context, uint16_t sm, uint16_t slot, wt_time end)
{
    struct wt_address_space *space = context;
    if (sm == space->sm && space->present[slot] >= 0)
        space->ranges[space->present[slot]].end = end;
}

static void known(void *context, const struct wt_known_end *end)
{
    struct wt_address_space *space = context;
    if (end->sm != space->sm || space->present[end->slot] < 0)
        return;
    space->ranges[space->present[end->slot]].known = end->at;
    space->present[end->slot] = -1;
}

struct wt_watch wt_address_space_watch(struct wt_address_space *space)
{
    return (struct wt_watch){.context = space, .ended = ended, .known = known, .handed_out = handed_out, .started = started};
}

/* ---- The picture ---- */

enum { WIDTH = 1000, HEIGHT = 480, LEFT = 64, RIGHT = 20, TOP = 64, BOTTOM = 74, KB_STEP = 32 };

struct map {
    cairo_t *cr;
    const struct wt_address_space *space;
    const struct wt_timeline *about;
    uint32_t first_launch;
    struct wt_box box;
    double begin, end; /* cycles from the origin */
    int total;         /* bytes shown */
};

static double cycles_of(const struct wt_address_space *space, wt_time at)
{
    return wt_to_cycles(at) - wt_to_cycles(space->origin);
}

static double at_x(const struct map *m, double cycles)
{
    return m->box.x + m->box.width * (cycles - m->begin) / (m->end - m->begin);
}

static double at_y(const struct map *m, double bytes)
{
    return m->box.y + m->box.height * (1 - bytes / m->total);
}

static struct wt_box box_of(const struct map *m, double from, double to, int low, int high)
{
    double x = at_x(m, from), y = at_y(m, high);
    return (struct wt_box){x, y, at_x(m, to) - x, at_y(m, low) - y};
}

static void fill(const struct map *m, struct wt_box box, struct wt_colour colour, double alpha)
{
    cairo_rectangle(m->cr, box.x, box.y, box.width, box.height);
    wt_set_colour(m->cr, colour, alpha);
    cairo_fill(m->cr);
}

static void label(const struct map *m, struct wt_box box, struct wt_colour under, uint64_t block)
{
    char text[32];
    static const struct wt_colour white = {1, 1, 1};
    snprintf(text, sizeof text, "%llu", (unsigned long long)block);
    wt_set_font(m->cr, 10, false);
    if (box.width < wt_text_width(m->cr, text) + 6 || box.height < 12)
        return;
    wt_set_colour(m->cr, wt_luminance(under) > 0.4 ? wt_ink : white, 1);
    wt_text(m->cr, box.x + box.width / 2, box.y + box.height / 2 + 3.5, 0.5, text);
}

/* Faint while held, full while the block runs; framed so that neighbours can be told apart. */
static void draw_part(const struct map *m, const struct wt_held_range *range, int low, int high)
{
    const struct wt_address_space *space = m->space;
    struct wt_colour colour = wt_launch_colour(range->launch + m->first_launch, false);
    double end = range->end == WT_NEVER ? m->end : cycles_of(space, range->end);
    double given_back = range->known == WT_NEVER ? m->end : cycles_of(space, range->known);
    struct wt_box held = box_of(m, cycles_of(space, range->held), given_back, low, high);
    struct wt_box runs = box_of(m, cycles_of(space, range->start), end, low, high);
    fill(m, held, colour, 0.35);
    fill(m, runs, colour, 1);
    cairo_rectangle(m->cr, held.x + 0.5, held.y + 0.5, fmax(held.width - 1, 0.5), fmax(held.height - 1, 0.5));
    wt_set_colour(m->cr, (struct wt_colour){1, 1, 1}, 1);
    cairo_set_line_width(m->cr, 1);
    cairo_stroke(m->cr);
    label(m, runs, colour, range->block);
}

static void draw_range(const struct map *m, const struct wt_held_range *range)
{
    int high = range->offset + range->bytes;
    if (high <= range->total) {
        draw_part(m, range, range->offset, high);
        return;
    }
    draw_part(m, range, range->offset, range->total);
    draw_part(m, range, 0, high - range->total);
}

static void draw_addresses(const struct map *m)
{
    char text[32];
    wt_set_font(m->cr, 11, false);
    for (int kb = 0; kb * 1024 <= m->total; kb += KB_STEP) {
        double y = wt_sharp(at_y(m, kb * 1024));
        wt_set_colour(m->cr, wt_faint, 1);
        cairo_set_line_width(m->cr, 1);
        cairo_move_to(m->cr, m->box.x, y);
        cairo_line_to(m->cr, m->box.x + m->box.width, y);
        cairo_stroke(m->cr);
        wt_set_colour(m->cr, wt_grey, 1);
        snprintf(text, sizeof text, "%d", kb);
        wt_text(m->cr, m->box.x - 8, y + 4, 1, text);
    }
    wt_text(m->cr, m->box.x - 8, m->box.y - 8, 1, "KB");
}

static double nice_step(double span)
{
    double step = pow(10, floor(log10(span / 4)));
    return span / step > 20 ? step * 5 : span / step > 8 ? step * 2 : step;
}

static void draw_times(const struct map *m)
{
    char text[WT_WORDS];
    double step = nice_step(m->end - m->begin), y = HEIGHT - BOTTOM;
    wt_set_font(m->cr, 11, false);
    wt_set_colour(m->cr, wt_grey, 1);
    for (double at = ceil(m->begin / step) * step; at <= m->end; at += step) {
        double x = wt_sharp(at_x(m, at));
        cairo_move_to(m->cr, x, y);
        cairo_line_to(m->cr, x, y + 4);
        cairo_set_line_width(m->cr, 1);
        cairo_stroke(m->cr);
        wt_text(m->cr, x, y + 17, 0.5, wt_words_number(text, at == 0 ? 0 : at)); /* not -0 */
    }
    wt_text(m->cr, LEFT, y + 33, 0, "cycles from the first block's start");
}

static void draw_legend(const struct map *m)
{
    double x = LEFT, y = HEIGHT - 16;
    bool shown[WT_LAUNCH_COLOURS] = {false};
    wt_set_font(m->cr, 11, false);
    for (size_t i = 0; i < m->space->count && x < WIDTH - 160; i++) {
        size_t launch = m->space->ranges[i].launch + m->first_launch;
        if (shown[launch % WT_LAUNCH_COLOURS])
            continue;
        shown[launch % WT_LAUNCH_COLOURS] = true;
        char text[WT_PICTURE_LINE];
        snprintf(text, sizeof text, "launch %ld (%.60s)", m->about->launches[launch].number, m->about->launches[launch].name);
        fill(m, (struct wt_box){x, y - 10, 12, 12}, wt_launch_colour(launch, false), 1);
        wt_set_colour(m->cr, wt_ink, 1);
        wt_text(m->cr, x + 17, y, 0, text);
        x += 34 + wt_text_width(m->cr, text);
    }
}

static void draw_title(const struct map *m)
{
    char text[WT_PICTURE_LINE];
    snprintf(text, sizeof text, "Shared memory of SM %d, %.150s", m->space->sm, m->about->title);
    wt_set_font(m->cr, 15, true);
    wt_set_colour(m->cr, wt_ink, 1);
    wt_text_within(m->cr, LEFT, 24, WIDTH - LEFT - RIGHT, text);
    wt_set_font(m->cr, 11, false);
    wt_set_colour(m->cr, wt_grey, 1);
    wt_text(m->cr, LEFT, 42, 0, "Addresses held by blocks, with block numbers; pale: reserved before the start, and after the end until "
                                "the distributor knows");
}

static int most_bytes(const struct wt_address_space *space)
{
    int most = 1;
    for (size_t i = 0; i < space->count; i++)
        most = space->ranges[i].total > most ? space->ranges[i].total : most;
    return most;
}

static void find_extent(struct map *m)
{
    m->begin = INFINITY;
    for (size_t i = 0; i < m->space->count; i++) {
        const struct wt_held_range *range = &m->space->ranges[i];
        wt_time last = range->known != WT_NEVER ? range->known : range->end != WT_NEVER ? range->end : range->start;
        m->begin = fmin(m->begin, cycles_of(m->space, range->held));
        m->end = fmax(m->end, cycles_of(m->space, last));
    }
    m->end = fmax(m->end, m->begin + 1);
}

void wt_address_space_draw(cairo_t *cr, const struct wt_address_space *space, struct wt_box box, double begin, double end)
{
    struct map map = {.cr = cr, .space = space, .box = box, .begin = begin, .end = end, .total = most_bytes(space)};
    draw_addresses(&map);
    for (size_t i = 0; i < space->count; i++)
        draw_range(&map, &space->ranges[i]);
}

static void draw(struct map *m)
{
    wt_surface_fonts(m->cr);
    cairo_set_source_rgb(m->cr, 1, 1, 1);
    cairo_paint(m->cr);
    draw_title(m);
    draw_addresses(m);
    for (size_t i = 0; i < m->space->count; i++)
        draw_range(m, &m->space->ranges[i]);
    draw_times(m);
    draw_legend(m);
}

static cairo_status_t put(void *closure, const unsigned char *data, unsigned int length)
{
    return fwrite(data, 1, length, closure) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

enum wt_code wt_address_space_svg(const struct wt_address_space *space, const struct wt_timeline *about,
                                  uint32_t first_launch, FILE *stream, struct wt_error *err)
{
    if (space->count == 0)
        return wt_fail(err, WT_BAD_INPUT, "no block with shared memory was on SM %d; name another SM", space->sm);
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(put, stream, WIDTH, HEIGHT);
    struct map map = {.cr = cairo_create(surface), .space = space, .about = about, .first_launch = first_launch,
                      .box = {LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM}, .total = most_bytes(space)};
    find_extent(&map);
    draw(&map);
    cairo_destroy(map.cr);
    cairo_surface_finish(surface);
    cairo_status_t status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status != CAIRO_STATUS_SUCCESS)
        return wt_fail(err, WT_BAD_INPUT, "the picture cannot be drawn (%s)", cairo_status_to_string(status));
    return WT_OK;
}
