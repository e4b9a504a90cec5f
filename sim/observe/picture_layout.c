/* Where everything goes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "observe/picture.h"

enum {
    WIDTH = 1280,
    TOP = 14, BOTTOM = 12, SIDE = 18,       /* margins */
    TITLE = 24, LINE = 17, HEAD_SPACE = 8,  /* heights of text lines, and below them */
    CAPTION = 30, BAND = 20, BAR = 15,      /* above the rows of each side */
    CURVE_CAPTION = 24, CURVE = 104, CURVE_LEAST = 40,
    AXIS = 20, SECOND_AXIS = 15, LEGEND = 30,
    GPC_LABELS = 46, LABELS = 48, TRACK_LABELS = 24, /* left of the rows */
    ROWS_ONE = 1190, ROWS_TWO = 740,        /* the height rows may take when none was asked for */
    LANE_MOST = 26, LANE_MOST_ASKED = 60,
    ROWS_STORY = 460, ROWS_STORY_TWO = 300, SPACE_ROWS = 230, MARKS = 22, /* of a lesson's picture */
    BAR_LEVELS = 3,
    TAIL_LEAST = 14,                        /* width of a tail that is marked although it is one of several */
    SEEN = 6,                               /* width at which a block among many is still seen */
    VECTOR_MOST = 25000                     /* blocks drawn one by one: about 80 bytes each in SVG */
};

static int most_blocks_per_sm(const struct wt_timeline *timeline)
{
    int most = 1;
    for (size_t i = 0; i < timeline->launch_count; i++)
        if (timeline->launches[i].blocks_per_sm > most)
            most = timeline->launches[i].blocks_per_sm;
    return most < WT_MAX_SLOTS ? most : WT_MAX_SLOTS; /* files may claim anything */
}

/* Spans are sorted by start, so a counting sort by lane keeps that order within lanes. */
static void sort_into_lanes(struct wt_picture_side *side)
{
    const struct wt_timeline *timeline = side->timeline;
    size_t lanes = (size_t)timeline->sm_count * (size_t)side->slots;
    size_t *next = wt_alloc(lanes + 1, sizeof *next);
    side->lane_first = wt_alloc(lanes + 1, sizeof *side->lane_first);
    side->lane_spans = wt_alloc(timeline->span_count, sizeof *side->lane_spans);
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        side->lane_first[(size_t)span->sm * (size_t)side->slots + span->slot + 1]++;
    }
    for (size_t i = 0; i < lanes; i++)
        side->lane_first[i + 1] += side->lane_first[i];
    memcpy(next, side->lane_first, (lanes + 1) * sizeof *next);
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        side->lane_spans[next[(size_t)span->sm * (size_t)side->slots + span->slot]++] = i;
    }
    free(next);
}

static void order_rows(struct wt_picture_side *side)
{
    const struct wt_timeline *timeline = side->timeline;
    int count = 0;
    side->sm_of_row = wt_alloc((size_t)timeline->sm_count, sizeof *side->sm_of_row);
    side->row_y = wt_alloc((size_t)timeline->sm_count, sizeof *side->row_y);
    for (int gpc = 0; count < timeline->sm_count; gpc++)
        for (int sm = 0; sm < timeline->sm_count; sm++)
            if (timeline->gpc_of_sm[sm] == gpc)
                side->sm_of_row[count++] = sm;
}

static int group_count(const struct wt_picture_side *side)
{
    int groups = 1;
    for (int i = 1; i < side->timeline->sm_count; i++)
        groups += wt_picture_new_group(side, i);
    return groups;
}

static int bar_levels(const struct wt_picture_side *side)
{
    int most = 0;
    for (size_t i = 0; i < side->timeline->launch_count; i++) {
        int level = wt_picture_bar_level(side, i);
        most = level > most ? level : most;
    }
    return side->timeline->launch_count > 1 && !side->timeline->host ? most + 1 : 0;
}

static void add_side(struct wt_picture *picture, struct wt_timeline *timeline, const struct wt_address_space *space,
                     bool is_prediction)
{
    if (!timeline)
        return;
    struct wt_picture_side *side = &picture->sides[picture->side_count++];
    side->space = space;
    side->timeline = timeline;
    side->is_prediction = is_prediction;
    side->metrics = wt_metrics_of_timeline(timeline);
    side->lead = timeline->host ? timeline->host->lead : 0;
    side->origin = side->metrics->whole.begin - side->lead;
    int used = wt_timeline_slots(timeline), known = most_blocks_per_sm(timeline);
    side->slots = used > known ? used : known;
    side->full = known > 0 ? known : used;
    sort_into_lanes(side);
    order_rows(side);
    picture->has_gpcs |= !space && group_count(side) > 1;
    wt_time end = wt_metrics_makespan(&side->metrics->whole) + side->lead;
    end = timeline->host && timeline->host->end > end ? timeline->host->end : end;
    picture->length = end > picture->length ? end : picture->length;
    picture->blocks += timeline->span_count;
}

/* --- heights --- */

static double side_head(const struct wt_picture *picture, const struct wt_picture_side *side)
{
    return (picture->side_count > 1 ? CAPTION : 0) + wt_picture_tracks_height(side) + bar_levels(side) * BAR + BAND +
           (wt_picture_has_marks(picture, side) ? MARKS : 0);
}

static double axis_height(const struct wt_picture *picture)
{
    return picture->sides[0].timeline->clock_mhz > 0 ? AXIS + SECOND_AXIS : AXIS;
}

/* Everything but rows, curve and legend. */
static double fixed_height(const struct wt_picture *picture)
{
    double height = TOP + TITLE + picture->line_count * LINE + HEAD_SPACE + axis_height(picture) + BOTTOM +
                    wt_story_height(&picture->above) + wt_story_height(&picture->below);
    for (int i = 0; i < picture->side_count; i++)
        height += side_head(picture, &picture->sides[i]);
    return height;
}

static double rows_height(const struct wt_picture *picture, const struct wt_picture_side *side)
{
    if (side->space)
        return SPACE_ROWS;
    return side->timeline->sm_count * picture->pitch - picture->gap + (group_count(side) - 1) * picture->group_gap;
}

static double all_rows_height(const struct wt_picture *picture)
{
    double height = 0;
    for (int i = 0; i < picture->side_count; i++)
        height += rows_height(picture, &picture->sides[i]);
    return height;
}

static int most_slots(const struct wt_picture *picture)
{
    int first = picture->sides[0].slots, second = picture->side_count > 1 ? picture->sides[1].slots : 1;
    return first > second ? first : second;
}

static double gap_for(double pitch)
{
    return pitch >= 12 ? fmin(4, floor(pitch / 10) + 1) : pitch >= 8 ? 1 : pitch >= 4 ? 0.5 : 0;
}

/* `room` for all rows; lanes get a whole number of pixels each where they can. */
static void choose_pitch(struct wt_picture *picture, double room, double lane_most)
{
    int rows = 0, groups = 0, slots = most_slots(picture);
    for (int i = 0; i < picture->side_count; i++) {
        if (picture->sides[i].space)
            continue;
        rows += picture->sides[i].timeline->sm_count;
        groups += group_count(&picture->sides[i]) - 1;
    }
    rows = rows > 0 ? rows : 1;
    picture->group_gap = !picture->has_gpcs ? 0 : room / rows >= 4 ? 6 : 2;
    double pitch = (room - groups * picture->group_gap) / rows;
    pitch = fmax(0.25, pitch >= 4 ? floor(pitch) : pitch >= 2 ? floor(2 * pitch) / 2 : pitch);
    picture->gap = gap_for(pitch);
    double lane = (pitch - picture->gap) / slots;
    if (lane >= 1)
        pitch = fmin(floor(lane), lane_most) * slots + picture->gap;
    picture->pitch = pitch;
}

/* What the rows cannot do without. */
static double least_rows(const struct wt_picture *picture)
{
    double least = 0;
    for (int i = 0; i < picture->side_count; i++)
        least += picture->sides[i].space ? SPACE_ROWS : fmax(1.1 * picture->sides[i].timeline->sm_count, 40);
    return least;
}

/* Leaves out what a low picture has no room for: lines of text, then the legend, then the curve. */
static void fit_height(struct wt_picture *picture, double *legend)
{
    double least = least_rows(picture), asked = picture->what->height, curve_least = CURVE_CAPTION + CURVE_LEAST;
    while (picture->line_count > 1 && fixed_height(picture) + least + *legend + curve_least > asked)
        picture->line_count--;
    if (fixed_height(picture) + least + *legend + curve_least > asked)
        *legend = 0;
    double left = asked - fixed_height(picture) - *legend - least - CURVE_CAPTION;
    picture->curve.height = left < CURVE_LEAST ? 0 : fmin(CURVE, left);
    double caption = picture->curve.height > 0 ? CURVE_CAPTION : 0;
    double room = asked - fixed_height(picture) - *legend - caption - picture->curve.height;
    choose_pitch(picture, room, LANE_MOST_ASKED);
    if (picture->curve.height > 0)
        picture->curve.height += fmax(0, room - all_rows_height(picture));
}

static double rows_room(const struct wt_picture *picture)
{
    if (picture->what->story && picture->sides[0].timeline->host && picture->side_count > 1)
        return ROWS_STORY_TWO;
    if (picture->what->story)
        return picture->side_count > 1 ? 2 * ROWS_STORY_TWO : ROWS_STORY;
    return picture->side_count > 1 ? 2 * ROWS_TWO : ROWS_ONE;
}

static void choose_heights(struct wt_picture *picture)
{
    double legend = LEGEND;
    picture->height = picture->what->height;
    if (picture->height > 0) {
        fit_height(picture, &legend);
    } else {
        choose_pitch(picture, rows_room(picture), LANE_MOST);
        picture->curve.height = CURVE;
        picture->height = ceil(fixed_height(picture) + legend + CURVE + CURVE_CAPTION + all_rows_height(picture));
    }
    picture->below_y = picture->height - BOTTOM - wt_story_height(&picture->below);
    picture->legend_y = legend > 0 ? picture->below_y - LEGEND : 0;
}

/* --- places --- */

static double place_side(struct wt_picture *picture, struct wt_picture_side *side, double y)
{
    if (picture->side_count > 1) {
        side->caption_y = y + CAPTION - 6;
        y += CAPTION;
    }
    side->tracks = (struct wt_box){picture->x, y, picture->plot_width, wt_picture_tracks_height(side)};
    y += side->tracks.height;
    side->marks = (struct wt_box){picture->x, y, picture->plot_width, wt_picture_has_marks(picture, side) ? MARKS : 0};
    y += side->marks.height;
    side->bars = (struct wt_box){picture->x, y, picture->plot_width, bar_levels(side) * BAR};
    y += side->bars.height;
    side->band = (struct wt_box){picture->x, y, picture->plot_width, BAND};
    y += BAND;
    side->rows = (struct wt_box){picture->x, y, picture->plot_width, rows_height(picture, side)};
    for (int i = 0; i < side->timeline->sm_count; i++) {
        y += wt_picture_new_group(side, i) ? picture->group_gap : 0;
        side->row_y[i] = y;
        y += picture->pitch;
    }
    return side->rows.y + side->rows.height;
}

static void place_all(struct wt_picture *picture)
{
    picture->above_y = TOP + TITLE;
    picture->lines_y = picture->above_y + wt_story_height(&picture->above);
    double y = picture->lines_y + picture->line_count * LINE + HEAD_SPACE;
    for (int i = 0; i < picture->side_count; i++)
        y = place_side(picture, &picture->sides[i], y);
    if (picture->curve.height > 0)
        y += CURVE_CAPTION;
    picture->curve = (struct wt_box){picture->x, y, picture->plot_width, picture->curve.height};
    picture->axis_y = y + picture->curve.height;
}

/* --- what the curve shows --- */

static bool counts_blocks(const struct wt_picture *picture)
{
    for (int i = 0; i < picture->side_count; i++)
        if (picture->sides[i].timeline->launch_count > 1 && picture->sides[i].metrics->whole.blocks_per_sm == 0)
            return false;
    return true;
}

static double highest(const struct wt_picture *picture)
{
    double most = 0;
    for (int k = 0; k < picture->side_count; k++) {
        const struct wt_residency_curve *curve = &picture->sides[k].metrics->residency;
        const double *values = picture->curve_in_warps ? curve->warps : curve->blocks;
        for (size_t i = 0; i < curve->count; i++)
            most = fmax(most, values[i]);
    }
    return most;
}

static void choose_curve(struct wt_picture *picture)
{
    const struct wt_picture_side *side = &picture->sides[picture->side_count - 1];
    const struct wt_timeline *timeline = side->timeline;
    picture->curve_in_warps = !counts_blocks(picture) && timeline->warps_per_sm > 0;
    int per_sm = picture->curve_in_warps ? timeline->warps_per_sm : side->metrics->whole.blocks_per_sm;
    picture->capacity = (double)timeline->sm_count * per_sm;
    double most = fmax(picture->capacity, highest(picture));
    picture->curve_most = most > 0 ? 1.25 * most : 1;
}

/* --- one by one, or as an image --- */

static double mean_width(const struct wt_picture *picture, const struct wt_picture_side *side, size_t *narrow)
{
    const struct wt_timeline *timeline = side->timeline;
    double scale = picture->plot_width / (double)picture->length, sum = 0;
    *narrow = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        double width = (double)(timeline->spans[i].end - timeline->spans[i].start) * scale;
        sum += width;
        *narrow += width < 1;
    }
    return timeline->span_count ? sum / (double)timeline->span_count : 0;
}

static void choose_detail(const struct wt_picture *picture, struct wt_picture_side *side)
{
    size_t narrow, count = side->timeline->span_count;
    double lane = wt_picture_lane_height(picture, side), width = mean_width(picture, side, &narrow);
    if (picture->blocks <= VECTOR_MOST && narrow <= count / 20 && lane >= (picture->pixels ? 3 : 0.9))
        side->detail = WT_ONE_BY_ONE;
    else if (lane >= 0.45 && (width >= SEEN || count < 1000))
        side->detail = WT_LANES;
    else
        side->detail = WT_AVERAGED;
}

void wt_picture_plan(struct wt_picture *picture, const struct wt_export *what, bool pixels)
{
    *picture = (struct wt_picture){.what = what, .pixels = pixels, .width = what->width ? what->width : WIDTH};
    add_side(picture, what->measured, what->spaces[0], false);
    add_side(picture, what->simulated, what->spaces[1], true);
    picture->length = picture->length ? picture->length : 1;
    picture->x = SIDE + (picture->has_gpcs ? GPC_LABELS : 0) + LABELS +
                 (!picture->has_gpcs && picture->sides[0].timeline->host ? TRACK_LABELS : 0);
    picture->plot_width = picture->width - picture->x - SIDE;
    wt_picture_words(picture);
    wt_picture_write_story(picture);
    choose_curve(picture);
    choose_heights(picture);
    place_all(picture);
    for (int i = 0; i < picture->side_count; i++)
        choose_detail(picture, &picture->sides[i]);
}

void wt_picture_clear(struct wt_picture *picture)
{
    wt_picture_clear_story(picture);
    for (int i = 0; i < picture->side_count; i++) {
        struct wt_picture_side *side = &picture->sides[i];
        wt_metrics_free(side->metrics);
        free(side->lane_first);
        free(side->lane_spans);
        free(side->sm_of_row);
        free(side->row_y);
    }
}

double wt_picture_x(const struct wt_picture *picture, wt_time t)
{
    return picture->x + picture->plot_width * ((double)t / (double)picture->length);
}

double wt_picture_lane_height(const struct wt_picture *picture, const struct wt_picture_side *side)
{
    return (picture->pitch - picture->gap) / side->slots;
}

bool wt_picture_new_group(const struct wt_picture_side *side, int i)
{
    const uint16_t *gpc = side->timeline->gpc_of_sm;
    return i > 0 && gpc[side->sm_of_row[i]] != gpc[side->sm_of_row[i - 1]];
}

static bool launches_overlap(const struct wt_metrics *metrics)
{
    for (size_t i = 1; i < metrics->about->launch_count; i++)
        if (metrics->launches[i].begin < metrics->launches[i - 1].end)
            return true;
    return false;
}

size_t wt_picture_tail_count(const struct wt_picture_side *side)
{
    return launches_overlap(side->metrics) ? 1 : side->timeline->launch_count;
}

const struct wt_metrics_part *wt_picture_tail(const struct wt_picture *picture, const struct wt_picture_side *side,
                                              size_t i)
{
    size_t count = wt_picture_tail_count(side);
    const struct wt_metrics_part *part = count == 1 ? &side->metrics->whole : &side->metrics->launches[i];
    double width = picture->plot_width * ((double)part->tail.length / (double)picture->length);
    bool one_wave = count == 1 ? !wt_metrics_has_tail(side->metrics)
                               : wt_metrics_one_wave(part, &side->timeline->launches[i]);
    bool unwanted = picture->what->story && picture->what->story->without_tails;
    return unwanted || one_wave || side->timeline->stuck_since || part->tail.length == 0 || (count > 1 && width < TAIL_LEAST) ? NULL : part;
}

/* The lowest line on which no earlier launch is still running; those beyond the last line share it. */
int wt_picture_bar_level(const struct wt_picture_side *side, size_t launch)
{
    wt_time end[BAR_LEVELS] = {0};
    int level = 0;
    for (size_t i = 0; i <= launch; i++) {
        const struct wt_metrics_part *part = &side->metrics->launches[i];
        for (level = 0; level < BAR_LEVELS - 1 && end[level] > part->begin; level++)
            continue;
        end[level] = part->end > end[level] ? part->end : end[level];
    }
    return level;
}
