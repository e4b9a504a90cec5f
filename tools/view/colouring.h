/* What a block's colour stands for. */
#ifndef VIEW_COLOURING_H
#define VIEW_COLOURING_H

#include "run.h"
#include "theme.h"

enum colour_mode {
    COLOUR_KERNEL, COLOUR_STREAM, COLOUR_AGE, COLOUR_LIMITER, COLOUR_BLOCK, COLOUR_DURATION, COLOUR_START_ERROR, COLOUR_MODES
};
extern const char *const colour_mode_names[COLOUR_MODES];

/* Categories have a colour each; the others are scales. */
bool colour_is_category(enum colour_mode mode);

struct colouring {
    const struct theme *theme;
    enum colour_mode mode;
    const struct run *run, *other; /* other: for start errors; NULL = there is none */
    double error_scale; /* cycles that are shown at full strength */
    wt_time now;        /* for the age */
};

struct colouring colouring_new(const struct theme *theme, enum colour_mode mode, const struct run *run,
                               const struct run *other, wt_time now);
colour block_colour(const struct colouring *colouring, uint32_t span);
/* The pattern of a category; HATCH_NONE for scales. */
enum hatch block_hatch(const struct colouring *colouring, uint32_t span);

/* The block's start less the same block's start in the other run, cycles; false when that has no such block. */
bool start_difference(const struct run *run, const struct run *other, uint32_t span, double *cycles);
/* 95th percentile of its absolute value, over at most 20,000 blocks evenly chosen; 1 when there are none. */
double start_difference_scale(const struct run *run, const struct run *other);

/* The legend: entries of a category (colour, pattern, text), or the ends of a scale. */
enum { LEGEND_ENTRIES = 6 };
struct legend {
    bool is_scale;
    int count; /* categories */
    colour colours[LEGEND_ENTRIES];
    enum hatch hatches[LEGEND_ENTRIES];
    char texts[LEGEND_ENTRIES][80]; /* of a scale: [0] left end, [1] right end */
};
struct legend colouring_legend(const struct colouring *colouring);
/* Of a scale, share 0..1 from its left end. */
colour legend_colour(const struct colouring *colouring, double share);

#endif
