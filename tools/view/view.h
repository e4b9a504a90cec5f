/* The view's state, shared by its parts: each draws its rectangle and acts on the mouse in the same call. */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <stdbool.h>

#include "captions.h"
#include "colouring.h"
#include "keys.h"
#include "lesson.h"
#include "load.h"
#include "observe/why.h"
#include "playback.h"
#include "record.h"
#include "smstate.h"
#include "tint.h"
#include "ui.h"

enum page { PAGE_OVERVIEW, PAGE_FLOOR, PAGE_TIMELINE, PAGE_SM, PAGES };
enum compare { COMPARE_OFF, COMPARE_SIDE, COMPARE_OVERLAY, COMPARES };
/* What an SM's cell is filled by. */
enum fill { FILL_SLOTS, FILL_WARPS, FILL_REGISTERS, FILL_SHARED, FILLS };
enum panel { PANEL_FACTS, PANEL_RANGE, PANEL_SEARCH, PANEL_WHY, PANEL_WHATIF, PANELS };

/* A block of one of the runs; span NO_SPAN: none. */
struct pick {
    int run;
    uint32_t span;
};

/* The timeline's window and rows. */
struct axis {
    double t0, t1;      /* cycles, shown from left to right */
    int scroll;         /* pixels hidden above */
    double row_points;  /* height of an SM's row; 0 = so that all fit */
    bool collapsed[WT_MAX_GROUPS];
    bool crowded;       /* too many rows for the room: shown as if all were collapsed */
    bool follow;
    bool selecting;     /* the mouse draws a range */
    double select0, select1; /* the selected range, cycles; equal = none */
    int grab_x, grab_y, grab_scroll; /* where a drag began */
    double grab_t0, grab_t1;
    bool grab_moved;    /* it is no click any more */
};

/* Blocks that match what was searched for; only they are shown in colour. */
struct search {
    char text[UI_FIELD];
    char used[UI_FIELD];   /* what `matches` belongs to */
    uint8_t *matches;      /* per span of the shown run, 0 or 1; NULL = everything; owned */
    const struct run *of;  /* the run it belongs to */
    uint32_t count, current; /* matches, and which of them is picked */
    char problem[128];     /* why the text is not understood; "" = it is */
    unsigned generation;   /* changes whenever `matches` does */
};

struct whatif {
    struct changes changes;
    char block[16], registers[16], shared[16]; /* as typed */
    char gpu[UI_FIELD];
    char **gpus;           /* names that can be loaded; owned */
    size_t gpu_count;
    int gpu_index;         /* -1: the scenario's own */
    struct run *before;    /* the run that was shown before; it stays as ghost; borrowed from view->runs */
    char problem[256];
    bool ran;
};

/* What the Why panel found out last. */
struct asked {
    struct pick pick;          /* the block that `why` is about */
    struct wt_why *why;        /* NULL: not asked, or it cannot be; owned */
    const struct run *run;     /* of `sms`; NULL: there are none yet */
    struct sm_state *sms[WT_MAX_SMS]; /* every SM at the playing head; owned */
    char problem[256];         /* why there is no answer */
};

/* Curves over the run that need the SM model; made when first shown. */
struct shared_curve {
    const struct run *of;
    bool known;
    double *free_bytes, *largest_hole; /* SHARED_POINTS; owned */
};
enum { SHARED_POINTS = 256 };

struct view {
    struct ui ui;
    struct canvas canvas;
    struct fonts *fonts;
    double dots;        /* pixels per point of the screen */
    double letters;     /* the user's own factor */
    bool dark, hatching, microseconds, panel_open, help_open, quitting, wants_fullscreen;

    struct run *runs[2]; /* owned */
    int run_count, shown;
    struct scenario *scenario; /* NULL: no what-if; owned */
    struct scenario *second;   /* of the second run, where it came from a file of its own; owned */
    double error_scale; /* cycles, of start differences; made when the runs change */
    char title[256];

    struct playback playback;
    double marker[2];   /* cycles; negative = not set */
    enum page page;
    enum compare compare;
    enum fill fill;
    enum colour_mode colours;
    enum panel panel;
    struct axis axis;
    struct rect axis_rect; /* where the timeline's time axis was drawn last; for the keys */
    struct pick hover, pinned;
    int sm;             /* of the SM view, and outlined elsewhere; -1 = none yet */
    struct sm_state *sm_states[2]; /* per run, of `sm`; NULL when unknown; owned */
    struct search search;
    struct whatif whatif;
    struct shared_curve shared[2];
    struct asked asked;
    struct tint tints[2]; /* per run */
    char go_text[UI_FIELD];
    bool go_open;
    struct captions captions;
    int answered;       /* the choice taken, from 1; 0 = none yet */
    struct lesson lesson;

    char message[256];  /* shown for a while */
    double message_left; /* seconds */
    struct recorder *recorder; /* NULL: not recording; owned */
    const char *record_path;   /* where F9 records; borrowed; NULL = "wavetail.mp4" */
    bool wants_screenshot;     /* taken when the frame is drawn */
};

/* Takes over what was loaded. */
void view_open(struct view *view, struct fonts *fonts, struct loaded *loaded);
void view_close(struct view *view);
/* A new canvas of that size, in pixels. */
void view_resize(struct view *view, int width, int height);

/* Draws one frame and acts on view->ui.in; `seconds` since the one before. */
void view_frame(struct view *view, double seconds);

/* Keys and text that were typed; they go to the text field in focus, else they are actions. */
void view_key(struct view *view, int key);
void view_text(struct view *view, const char *text);
void view_act(struct view *view, enum action action);

/* ---- What the parts ask of each other ---- */

static inline struct run *view_run(const struct view *view)
{
    return view->runs[view->shown];
}

/* NULL: only one is open. */
static inline struct run *view_other(const struct view *view)
{
    return view->run_count > 1 ? view->runs[1 - view->shown] : NULL;
}

static inline struct run *view_other_of(const struct view *view, int run)
{
    return view->run_count > 1 ? view->runs[1 - run] : NULL;
}

wt_time view_now(const struct view *view);
void view_say(struct view *view, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct colouring view_colouring(const struct view *view, int run);
/* Is the block among what was searched for? */
bool view_matches(const struct view *view, const struct run *run, uint32_t span);
void view_pin(struct view *view, struct pick pick);
void view_show_sm(struct view *view, int sm);
void view_set_panel(struct view *view, enum panel panel);
/* Puts `run` in the place `index`; the old one there is freed, and all that referred to it is forgotten. */
void view_replace_run(struct view *view, int index, struct run *run);
/* "12,345 cycles" or "6.23 µs", as the user chose. `text` holds 64 bytes. */
const char *view_time_text(const struct view *view, double cycles, char *text);
/* Length of time text `a` without its unit where `b`, which follows, has the same; else of all. */
int view_without_unit(const char *a, const char *b);
/* The range that is selected, or else between the markers; false: neither. */
bool view_range(const struct view *view, double *t0, double *t1);

/* floor.c, timeline.c, smview.c: the views, each in its rectangle. */
void floor_draw(struct view *view, struct rect rect, int run);
void timeline_draw(struct view *view, struct rect rect, const int *runs, int run_count);
void smview_draw(struct view *view, struct rect rect, int run);
/* minimap.c: the whole run, with the timeline's window to drag. */
void minimap_draw(struct view *view, struct rect rect);
/* bars.c: above and below. */
void bars_draw_top(struct view *view, struct rect rect);
void bars_draw_bottom(struct view *view, struct rect rect);
/* lesson.c: the words below the views; height in points, 0: there are none. */
double lesson_height(const struct view *view, int width);
void lesson_draw(struct view *view, struct rect rect);
/* Playing stops where the question is put, and where a lesson's case ends. `before`: where the head was. */
void lesson_stop(struct view *view, double before);
/* Steps of a lesson: the question, each case, the answer. */
void lesson_go(struct view *view, int step);
void lesson_step(struct view *view, int by);
/* What has not happened yet is hidden, since it would answer the question. */
bool lesson_hides_future(const struct view *view);
/* From the question to the first case; false: it is not there. */
bool lesson_begin(struct view *view);
/* panels.c and the files of single panels. */
void panels_draw(struct view *view, struct rect rect);
void panel_facts(struct view *view, struct rect rect);
void panel_range(struct view *view, struct rect rect);
void panel_search(struct view *view, struct rect rect);
void panel_why(struct view *view, struct rect rect);
void panel_whatif(struct view *view, struct rect rect);
/* overlay.c: the help, going to a time, messages. */
void overlay_draw(struct view *view);
/* "12000", "6.5us", "40%", "#128"; false: no time or block of this run. */
bool view_go_to(struct view *view, const char *text);

/* axis.c: the timeline's window. */
void axis_reset(struct view *view);
void axis_zoom(struct view *view, double factor, double at);
void axis_pan(struct view *view, double share);
void axis_fit(struct view *view);
void axis_follow(struct view *view);
double axis_x(const struct view *view, struct rect rect, double cycles);
double axis_cycles(const struct view *view, struct rect rect, double x);
/* The time under the mouse where it is over the timeline, else the playing head. */
double axis_focus(const struct view *view);

/* search.c */
void search_update(struct view *view);
void search_clear(struct view *view);
void search_step(struct view *view, int by);
void search_go(struct view *view);

/* why.c */
void asked_clear(struct asked *asked);

/* whatif.c */
void whatif_open(struct view *view);
void whatif_clear(struct whatif *whatif);

#endif
