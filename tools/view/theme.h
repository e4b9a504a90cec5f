/* Colours: light and dark, and scales that colour-blind people can read. */
#ifndef VIEW_THEME_H
#define VIEW_THEME_H

#include "canvas.h"

struct theme {
    const char *name;
    colour page;     /* behind everything */
    colour surface;  /* panels and bars */
    colour raised;   /* buttons, fields */
    colour well;     /* empty SM cells, timeline background */
    colour edge;     /* thin borders */
    colour ink;      /* text */
    colour soft;     /* secondary text; at least 4.5:1 on `surface` */
    colour accent;   /* the tail, warnings */
    colour focus;    /* selection, buttons that are on */
    colour on_focus; /* text on it */
    colour playhead;
    colour marker_a, marker_b;
};

extern const struct theme theme_light, theme_dark;

/* Six colours that differ for all kinds of colour vision (Okabe and Ito 2008), then again in other shades. */
colour palette_category(const struct theme *theme, unsigned index);
/* With it, so that the six differ without colour. */
enum hatch palette_hatch(unsigned index);
/* share 0..1: dark blue (in the dark theme not quite as dark) to yellow, lightness rising (Nuñez et al. 2018, "cividis"). */
colour palette_sequence(const struct theme *theme, double share);
/* share -1..1: blue, the theme's neutral, orange. */
colour palette_diverging(const struct theme *theme, double share);

/* Black or white, whichever reads better on `background`. */
colour palette_text_on(colour background);

#endif
