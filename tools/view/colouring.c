#include "colouring.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/quantile.h"
#include "observe/words.h"
#include "sm/sm.h"

const char *const colour_mode_names[COLOUR_MODES] = {"kernel", "stream", "age", "limiter", "block", "duration", "start error"};

static unsigned category_of(const struct colouring *c, const struct wt_block_run *span)
{
    switch (c->mode) {
    case COLOUR_STREAM:
        return (unsigned)c->run->timeline->launches[span->launch].stream;
    case COLOUR_LIMITER:
        return (unsigned)run_limiter(c->run, span->launch);
    default:
        return span->launch;
    }
}

bool colour_is_category(enum colour_mode mode)
{
    return mode == COLOUR_KERNEL || mode == COLOUR_STREAM || mode == COLOUR_LIMITER;
}

static double share_of_block(const struct colouring *c, const struct wt_block_run *span)
{
    uint64_t blocks = c->run->timeline->launches[span->launch].grid_blocks;
    return blocks > 1 ? (double)span->block / (double)(blocks - 1) : 0;
}

/* By rank: durations often differ by orders of magnitude. */
static double share_of_duration(const struct colouring *c, const struct wt_block_run *span)
{
    const wt_time *sorted = c->run->sorted_durations;
    wt_time least = sorted[0], most = sorted[c->run->timeline->span_count - 1], it = span->end - span->start;
    if (most == least)
        return 0.5;
    if (least > 0 && most / least >= 8)
        return log((double)it / (double)least) / log((double)most / (double)least);
    return (double)(it - least) / (double)(most - least);
}

static double share_of_age(const struct colouring *c, const struct wt_block_run *span)
{
    if (c->now <= span->start || span->end == span->start)
        return 0;
    return fmin((double)(c->now - span->start) / (double)(span->end - span->start), 1);
}

static colour error_colour(const struct colouring *c, uint32_t span)
{
    double cycles;
    if (!c->other || !start_difference(c->run, c->other, span, &cycles))
        return c->theme->soft;
    return palette_diverging(c->theme, cycles / c->error_scale);
}

struct colouring colouring_new(const struct theme *theme, enum colour_mode mode, const struct run *run,
                               const struct run *other, wt_time now)
{
    return (struct colouring){.theme = theme, .mode = mode, .run = run, .other = other, .error_scale = 1, .now = now};
}

colour block_colour(const struct colouring *c, uint32_t index)
{
    const struct wt_block_run *span = run_span(c->run, index);
    switch (c->mode) {
    case COLOUR_AGE:
        return palette_sequence(c->theme, 1 - share_of_age(c, span));
    case COLOUR_BLOCK:
        return palette_sequence(c->theme, share_of_block(c, span));
    case COLOUR_DURATION:
        return palette_sequence(c->theme, share_of_duration(c, span));
    case COLOUR_START_ERROR:
        return error_colour(c, index);
    default:
        return palette_category(c->theme, category_of(c, span));
    }
}

enum hatch block_hatch(const struct colouring *c, uint32_t span)
{
    return !colour_is_category(c->mode) ? HATCH_NONE : palette_hatch(category_of(c, run_span(c->run, span)));
}

bool start_difference(const struct run *run, const struct run *other, uint32_t index, double *cycles)
{
    const struct wt_block_run *span = run_span(run, index);
    uint32_t match = run_find_block(other, span->launch, span->block);
    if (match == NO_SPAN)
        return false;
    *cycles = wt_to_cycles(span->start) - wt_to_cycles(run_span(other, match)->start);
    return true;
}

double start_difference_scale(const struct run *run, const struct run *other)
{
    enum { MOST = 20000 };
    size_t count = run->timeline->span_count, step = count / MOST + 1, found = 0;
    double *values = wt_alloc(count / step + 1, sizeof *values);
    for (size_t i = 0; i < count; i += step)
        if (start_difference(run, other, (uint32_t)i, &values[found])) {
            values[found] = fabs(values[found]);
            found++;
        }
    wt_sort_numbers(values, found);
    double scale = found ? wt_quantile(values, found, 95) : 1;
    free(values);
    return fmax(scale, 1);
}

/* ---- The legend ---- */

static void add_entry(struct legend *legend, const struct colouring *c, unsigned category, const char *text)
{
    if (legend->count == LEGEND_ENTRIES)
        return;
    legend->colours[legend->count] = palette_category(c->theme, category);
    legend->hatches[legend->count] = palette_hatch(category);
    snprintf(legend->texts[legend->count++], sizeof *legend->texts, "%s", text);
}

/* Launches the legend looks at: a run may have 100,000. */
static size_t legend_launches(const struct colouring *c)
{
    return c->run->timeline->launch_count < 256 ? c->run->timeline->launch_count : 256;
}

static void add_streams(struct legend *legend, const struct colouring *c)
{
    char text[32];
    for (size_t i = 0; i < legend_launches(c); i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen |= c->run->timeline->launches[j].stream == c->run->timeline->launches[i].stream;
        snprintf(text, sizeof text, "stream %d", c->run->timeline->launches[i].stream);
        if (!seen)
            add_entry(legend, c, (unsigned)c->run->timeline->launches[i].stream, text);
    }
}

static void add_limiters(struct legend *legend, const struct colouring *c)
{
    for (int resource = 0; resource <= WT_RES_COUNT; resource++)
        for (size_t i = 0; i < legend_launches(c); i++)
            if (run_limiter(c->run, i) == (enum wt_resource)resource) {
                add_entry(legend, c, (unsigned)resource,
                          resource == WT_RES_COUNT ? "not known" : wt_resource_name((enum wt_resource)resource));
                break;
            }
}

static void name_ends(struct legend *legend, const struct colouring *c)
{
    char low[WT_WORDS], high[WT_WORDS];
    size_t last = c->run->timeline->span_count - 1;
    const char *left = "first block", *right = "last block";
    if (c->mode == COLOUR_AGE) {
        left = "about to end";
        right = "just begun";
    } else if (c->mode == COLOUR_DURATION) {
        left = wt_words_cycles(low, wt_to_cycles(c->run->sorted_durations[0]));
        right = wt_words_number(high, wt_to_cycles(c->run->sorted_durations[last]));
    } else if (c->mode == COLOUR_START_ERROR) {
        left = "earlier";
        wt_words_number(high, c->error_scale);
        snprintf(legend->texts[1], sizeof *legend->texts, "%.20s cycles later than in %.14s", high,
                 c->other ? c->other->label : "…");
    }
    snprintf(legend->texts[0], sizeof *legend->texts, "%s", left);
    if (!legend->texts[1][0])
        snprintf(legend->texts[1], sizeof *legend->texts, "%s", right);
}

/* Launches of one name are told apart by their numbers. */
static void add_launch(struct legend *legend, const struct colouring *c, unsigned launch)
{
    const struct wt_timeline_launch *launches = c->run->timeline->launches;
    bool alone = true;
    char text[80];
    for (size_t i = 0; i < legend_launches(c); i++)
        alone &= i == launch || strcmp(launches[i].name, launches[launch].name) != 0;
    snprintf(text, sizeof text, alone ? "%.60s" : "%.60s %ld", launches[launch].name, launches[launch].number);
    add_entry(legend, c, launch, text);
}

struct legend colouring_legend(const struct colouring *c)
{
    struct legend legend = {.is_scale = !colour_is_category(c->mode)};
    if (legend.is_scale)
        name_ends(&legend, c);
    else if (c->mode == COLOUR_STREAM)
        add_streams(&legend, c);
    else if (c->mode == COLOUR_LIMITER)
        add_limiters(&legend, c);
    else
        for (unsigned i = 0; i < legend_launches(c); i++)
            add_launch(&legend, c, i);
    return legend;
}

colour legend_colour(const struct colouring *c, double share)
{
    if (c->mode == COLOUR_START_ERROR)
        return palette_diverging(c->theme, 2 * share - 1);
    return palette_sequence(c->theme, share);
}
