/* What the picture says about itself. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "observe/picture.h"
#include "observe/surface.h"
#include "observe/words.h"

enum { TITLE_SIZE = 16, LINE_SIZE = 12 };

static void add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends; what does not fit WT_PICTURE_LINE is dropped. */
static void add(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, WT_PICTURE_LINE - length, format, args);
    va_end(args);
}

static const char *kernel_name(const struct wt_timeline_launch *launch)
{
    return launch->name[0] ? launch->name : "kernel";
}

/* The file's name without its folder; "" when there is none. */
static const char *file_name(const struct wt_timeline *timeline)
{
    const char *slash = strrchr(timeline->title, '/');
    return slash ? slash + 1 : timeline->title;
}

static void title_of(char *text, const struct wt_timeline *timeline)
{
    char count[WT_WORDS];
    const struct wt_timeline_launch *launch = timeline->launches;
    if (timeline->launch_count == 1)
        add(text, "%.120s: %s block%s", kernel_name(launch), wt_words_count(count, launch->grid_blocks),
            launch->grid_blocks == 1 ? "" : "s");
    else
        add(text, "%.120s: %zu launches", *file_name(timeline) ? file_name(timeline) : "Timeline",
            timeline->launch_count);
    if (timeline->launch_count == 1 && launch->threads_per_block > 0)
        add(text, " × %d threads", launch->threads_per_block);
    if (timeline->gpu_name[0])
        add(text, " on %.80s", timeline->gpu_name);
}

static void add_time(char *text, wt_time t, double clock_mhz)
{
    char words[WT_WORDS];
    double cycles = wt_to_cycles(t);
    add(text, "%s", wt_words_cycles(words, cycles));
    if (clock_mhz > 0)
        add(text, " (%s)", wt_words_us(words, cycles / clock_mhz));
}

/* A new item of the text below the title: on the present line while it fits `room`. */
static void add_item(struct wt_picture *picture, cairo_t *cr, double room, const char *item)
{
    char longer[2 * WT_PICTURE_LINE];
    char *line = picture->lines[picture->line_count - 1];
    snprintf(longer, sizeof longer, "%s%s%s", line, line[0] ? "  ·  " : "", item);
    if (line[0] && (wt_text_width(cr, longer) > room || strlen(longer) >= WT_PICTURE_LINE)) {
        if (picture->line_count == WT_PICTURE_LINES)
            return;
        line = picture->lines[picture->line_count++];
        snprintf(longer, sizeof longer, "%s", item);
    }
    snprintf(line, WT_PICTURE_LINE, "%.*s", WT_PICTURE_LINE - 1, longer);
}

static void describe_gpu(char *text, const struct wt_picture_side *side)
{
    const struct wt_metrics_part *whole = &side->metrics->whole;
    add(text, side->timeline->sm_count == 1 ? "%d SM" : "%d SMs", side->timeline->sm_count);
    if (whole->blocks_per_sm)
        add(text, " × %d block%s", whole->blocks_per_sm, whole->blocks_per_sm > 1 ? "s" : "");
    if (!isnan(whole->theoretical_occupancy))
        add(text, " (occupancy %.3g %%)", 100 * whole->theoretical_occupancy);
}

static void describe_run(char *text, const struct wt_picture_side *side)
{
    add(text, "makespan ");
    add_time(text, wt_metrics_makespan(&side->metrics->whole), side->timeline->clock_mhz);
}

static void describe_deadlock(char *text, const struct wt_picture_side *side)
{
    add(text, "a deadlock; nothing happens any more from ");
    add_time(text, wt_timeline_stuck_after(side->timeline), side->timeline->clock_mhz);
    add(text, " on");
}

static void describe_host(char *text, const struct wt_picture_side *side)
{
    add(text, "first call to the end ");
    add_time(text, side->timeline->host->end, side->timeline->clock_mhz);
}

static void describe_tail(char *text, const struct wt_picture_side *side)
{
    const struct wt_tail *tail = &side->metrics->whole.tail;
    if (side->timeline->launch_count > 0 && !wt_metrics_has_tail(side->metrics)) {
        add(text, side->timeline->launch_count > 1 ? "no tail: the last grid is one wave" : "no tail: the grid is one wave");
        return;
    }
    add(text, side->timeline->launch_count > 1 ? "last tail " : "tail ");
    add_time(text, tail->length, side->timeline->clock_mhz);
    add(text, side->timeline->launch_count > 1 ? " = %.1f %% of all" : " = %.1f %%", 100 * tail->fraction);
    if (!isnan(tail->slot_idle) && tail->length)
        add(text, ", %.0f %% of its slot time idle", 100 * tail->slot_idle);
}

static void add_words(struct wt_picture *picture, cairo_t *cr, double room,
                      void (*describe)(char *, const struct wt_picture_side *), const struct wt_picture_side *side)
{
    char item[WT_PICTURE_LINE] = "";
    describe(item, side);
    if (item[0])
        add_item(picture, cr, room, item);
}

static void add_waves(struct wt_picture *picture, cairo_t *cr, double room)
{
    char item[WT_PICTURE_LINE] = "";
    double waves = picture->sides[0].metrics->whole.waves;
    if (isnan(waves) || picture->sides[0].timeline->launch_count > 1)
        return;
    add(item, waves < 0.1 ? "%.2g waves" : "%.2f waves", waves);
    add_item(picture, cr, room, item);
}

static void add_achieved(struct wt_picture *picture, cairo_t *cr, double room)
{
    char item[WT_PICTURE_LINE] = "";
    double achieved = picture->sides[0].metrics->whole.occupancy_active;
    if (isnan(achieved))
        return;
    add(item, "achieved occupancy %.1f %%", 100 * achieved);
    add_item(picture, cr, room, item);
}

/* Of two runs that are no measurement and its prediction. */
static void describe_ratio(char *text, const struct wt_picture_side *sides)
{
    double first = (double)wt_metrics_makespan(&sides[0].metrics->whole);
    double second = (double)wt_metrics_makespan(&sides[1].metrics->whole);
    if (first > 0 && !sides[0].timeline->stuck_since && !sides[1].timeline->stuck_since)
        add(text, "the second takes %.3g times the makespan of the first", second / first);
}

static void describe_error(char *text, const struct wt_picture_side *sides)
{
    double measured = (double)wt_metrics_makespan(&sides[0].metrics->whole);
    double predicted = (double)wt_metrics_makespan(&sides[1].metrics->whole);
    double error = measured > 0 ? (predicted - measured) / measured : 0;
    const char *sign = error <= -0.00005 ? "−" : error >= 0.00005 ? "+" : ""; /* none for what rounds to 0 */
    add(text, "error of the predicted makespan %s%.2f %%", sign, 100 * fabs(error));
}

const char *wt_picture_label(const struct wt_picture *picture, const struct wt_picture_side *side)
{
    const char *own = picture->what->labels[side->is_prediction];
    return own ? own : side->is_prediction ? "Predicted" : "Measured";
}

static void caption_of(char *text, const struct wt_picture *picture, const struct wt_picture_side *side)
{
    add(text, "%.120s: ", wt_picture_label(picture, side));
    if (side->timeline->stuck_since) {
        describe_deadlock(text, side);
        return;
    }
    if (side->timeline->host) {
        describe_host(text, side);
        return;
    }
    describe_run(text, side);
    if (side->timeline->launch_count > 1 && picture->what->labels[0])
        return;
    add(text, "  ·  ");
    describe_tail(text, side);
}

static void write_words(struct wt_picture *picture, cairo_t *cr)
{
    const struct wt_picture_side *sides = picture->sides;
    double room = picture->width - 2 * 18;
    if (picture->what->title)
        add(picture->title, "%.250s", picture->what->title);
    else
        title_of(picture->title, sides[0].timeline);
    wt_set_font(cr, LINE_SIZE, false);
    picture->line_count = 1;
    if (sides[0].timeline->launch_count == 1 && *file_name(sides[0].timeline))
        add_item(picture, cr, room, file_name(sides[0].timeline));
    add_words(picture, cr, room, describe_gpu, &sides[0]);
    add_waves(picture, cr, room);
    if (picture->side_count > 1) {
        add_words(picture, cr, room, picture->what->labels[0] ? describe_ratio : describe_error, sides);
        for (int i = 0; i < 2; i++)
            caption_of(picture->sides[i].caption, picture, &sides[i]);
        return;
    }
    if (sides[0].timeline->stuck_since) {
        add_words(picture, cr, room, describe_deadlock, &sides[0]);
        return;
    }
    if (sides[0].timeline->host)
        add_words(picture, cr, room, describe_host, &sides[0]);
    add_words(picture, cr, room, describe_run, &sides[0]);
    add_achieved(picture, cr, room);
    if (!picture->what->story || !picture->what->story->without_tails)
        add_words(picture, cr, room, describe_tail, &sides[0]);
}

void wt_picture_words(struct wt_picture *picture)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1); /* to measure with */
    cairo_t *cr = cairo_create(surface);
    wt_surface_fonts(cr);
    write_words(picture, cr);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}
