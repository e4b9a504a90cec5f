/* The picture of one or two timelines, in parts. Private to sim/observe.
 *
 * Units are pixels (points for PDF), y grows downwards. Time is shown from each timeline's first start, or, where the host's
 * side is known, from its first call. */
#ifndef WT_OBSERVE_PICTURE_H
#define WT_OBSERVE_PICTURE_H

#include <cairo.h>
#include <stdbool.h>

#include "observe/address_space.h"
#include "observe/exporter.h"
#include "observe/metrics.h"

struct wt_colour {
    double red, green, blue;
};

struct wt_box {
    double x, y, width, height;
};

enum { WT_PICTURE_LINES = 6, WT_PICTURE_LINE = 256 };

/* How blocks are drawn: the wider and fewer, the more of each is shown. */
enum wt_detail {
    WT_ONE_BY_ONE, /* as shapes */
    WT_LANES,      /* as an image in which every pixel holds the share of its slots' time that is taken */
    WT_AVERAGED    /* the same with all slots of an SM together: single blocks could not be seen any more */
};

/* A lesson's words, broken into lines. */
struct wt_story_line {
    char text[WT_PICTURE_LINE];
    double indent;
    bool bold;
    int number; /* of a remark, in a disc before its first line; 0: none */
};

struct wt_story_lines {
    struct wt_story_line *list; /* owned */
    size_t count, capacity;
};

/* One timeline in the picture. */
struct wt_picture_side {
    const struct wt_timeline *timeline;
    struct wt_metrics *metrics;
    const struct wt_address_space *space; /* drawn in `rows` instead of the SMs; NULL: none */
    wt_time origin; /* of the blocks' times: begin less lead, which may wrap */
    wt_time lead;   /* from the host's first call to the first block; 0 where nothing is known of it */
    bool is_prediction;
    int slots;          /* lanes of every SM's row */
    int full;           /* blocks that fill an SM: slots, but less where a trace had more at once than fit, for moments */
    size_t *lane_spans; /* indices of spans by (SM, slot), then by start */
    size_t *lane_first; /* sm_count * slots + 1 offsets into lane_spans */
    int *sm_of_row;     /* from top to bottom: by GPC, then by id */
    double *row_y;      /* top of every row */
    char caption[WT_PICTURE_LINE]; /* over the rows; empty when there is only one side */
    struct wt_box tracks; /* the host's; height 0 = none */
    struct wt_box marks; /* of a lesson's remarks; height 0 = none */
    struct wt_box bars;  /* of launches; height 0 = none */
    struct wt_box band;  /* between bars and rows: the tail's bracket */
    struct wt_box rows;  /* all SMs */
    double caption_y;    /* baseline */
    enum wt_detail detail;
};

struct wt_picture {
    const struct wt_export *what;
    struct wt_picture_side sides[2]; /* measured before predicted */
    int side_count;
    bool pixels;         /* the output has pixels: PNG */
    double width, height;
    struct wt_story_lines above, below; /* below the title, and at the bottom */
    double above_y, below_y, lines_y;   /* tops; lines_y: of `lines` */
    double x, plot_width; /* of everything over the time axis */
    wt_time length;      /* time shown */
    size_t blocks;       /* of all sides */
    double pitch, gap;   /* from SM row to SM row, and the part of it between two rows */
    double group_gap;    /* more between two GPCs */
    bool has_gpcs;
    char title[WT_PICTURE_LINE];
    char lines[WT_PICTURE_LINES][WT_PICTURE_LINE]; /* below the title */
    int line_count;
    struct wt_box curve; /* residency; height 0 = left out */
    double curve_most;   /* value at the top */
    double capacity;     /* of what the curve shows; 0 = unknown */
    bool curve_in_warps;
    double axis_y;       /* of the time axis */
    double legend_y;     /* top; 0 = left out */
};

/* picture_layout.c: fills the picture from what->…; release it with wt_picture_clear. */
void wt_picture_plan(struct wt_picture *picture, const struct wt_export *what, bool pixels);
void wt_picture_clear(struct wt_picture *picture);

/* x of a moment `t` after the side's origin. */
double wt_picture_x(const struct wt_picture *picture, wt_time t);
/* Height of one slot's lane. */
double wt_picture_lane_height(const struct wt_picture *picture, const struct wt_picture_side *side);
/* Does a new GPC begin with row i? */
bool wt_picture_new_group(const struct wt_picture_side *side, int i);
/* The tails: of each launch when launches follow one another, else of the whole run. NULL: there is none, or it is
 * too narrow to be shown among many. */
size_t wt_picture_tail_count(const struct wt_picture_side *side);
const struct wt_metrics_part *wt_picture_tail(const struct wt_picture *picture, const struct wt_picture_side *side,
                                              size_t i);
/* On which line of the bars above the rows a launch is shown, so that none overlap. */
int wt_picture_bar_level(const struct wt_picture_side *side, size_t launch);

/* picture_tracks.c: the host's side; 0 where nothing is known of it. */
double wt_picture_tracks_height(const struct wt_picture_side *side);
void wt_picture_draw_tracks(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side);
struct wt_colour wt_copy_colour(int direction);

/* picture_story.c: a lesson's words; nothing where there is no lesson. */
void wt_picture_write_story(struct wt_picture *picture);
void wt_picture_clear_story(struct wt_picture *picture);
double wt_story_height(const struct wt_story_lines *lines);
bool wt_picture_has_marks(const struct wt_picture *picture, const struct wt_picture_side *side);
void wt_picture_draw_story(cairo_t *cr, const struct wt_picture *picture);
void wt_picture_draw_marks(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side);

/* address_space.c: addresses against time, with KB left of the box, whose left end is `begin` and whose right end is `end`
 * (cycles after the first start). */
void wt_address_space_draw(cairo_t *cr, const struct wt_address_space *space, struct wt_box box, double begin, double end);

/* What a side is called. */
const char *wt_picture_label(const struct wt_picture *picture, const struct wt_picture_side *side);

/* picture_text.c: the words: title, lines, captions. */
void wt_picture_words(struct wt_picture *picture);

/* A walk over the blocks of one slot, in the order of their starts. */
struct wt_lane_block {
    const struct wt_block_run *span; /* NULL before the first */
    bool second_shade;   /* shades alternate from block to block of a launch */
    const size_t *index; /* of the blocks still to come */
    size_t left;
};

/* picture_blocks.c */
struct wt_lane_block wt_first_in_lane(const struct wt_picture_side *side, int row, int slot);
/* false when there is none. */
bool wt_next_in_lane(const struct wt_picture_side *side, struct wt_lane_block *block);

/* picture_blocks.c, picture_raster.c, picture_curve.c, picture_frame.c: the parts. */
void wt_picture_draw_rows(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side);
void wt_picture_draw_raster(cairo_t *cr, const struct wt_picture *picture, const struct wt_picture_side *side);
void wt_picture_draw_curve(cairo_t *cr, const struct wt_picture *picture);
void wt_picture_draw_frame(cairo_t *cr, const struct wt_picture *picture);

/* picture_style.c: colours that colour-blind people can tell apart (Okabe and Ito 2008), and text. */
struct wt_colour wt_launch_colour(size_t launch, bool second_shade);
enum { WT_LAUNCH_COLOURS = 6 };
extern const struct wt_colour wt_ink, wt_grey, wt_faint, wt_accent, wt_measured, wt_predicted;
double wt_luminance(struct wt_colour colour);
void wt_set_colour(cairo_t *cr, struct wt_colour colour, double alpha);
void wt_set_font(cairo_t *cr, double size, bool bold);
/* Copies at most WT_PICTURE_LINE bytes of `text` to `clean` (WT_PRINTABLE bytes) and returns it; what is not UTF-8 or
 * not printable becomes '?'. The text functions below do so themselves. */
enum { WT_PRINTABLE = WT_PICTURE_LINE + 8 };
const char *wt_printable(char *clean, const char *text);
double wt_text_width(cairo_t *cr, const char *text);
/* Draws with the baseline at y; `align` 0 = x is the left end, 0.5 = the middle, 1 = the right end. */
void wt_text(cairo_t *cr, double x, double y, double align, const char *text);
/* The same, cut with "…" to fit `room`. */
void wt_text_within(cairo_t *cr, double x, double y, double room, const char *text);
/* A tint with thin diagonal lines: nothing waits any more. */
void wt_tail_background(cairo_t *cr, struct wt_box box);
void wt_dashed_line(cairo_t *cr, double x0, double y0, double x1, double y1);
/* Bounds are put on whole pixels so that lines of width 1 are sharp. */
double wt_sharp(double at);

#endif
