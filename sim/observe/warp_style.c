#include "observe/warp_style.h"

#include <stdio.h>

#define RGB(hex) {((hex) >> 16 & 255) / 255.0, ((hex) >> 8 & 255) / 255.0, ((hex) & 255) / 255.0}

static const struct wt_colour colours[WT_STALL_COUNT] = {
    [WT_STALL_BARRIER] = RGB(0xcc79a7),          [WT_STALL_BRANCH_RESOLVING] = RGB(0xb08a72),
    [WT_STALL_DISPATCH] = RGB(0x4a4f58),         [WT_STALL_DRAIN] = RGB(0x8a6fb5),
    [WT_STALL_IMC_MISS] = RGB(0x9c9a3a),         [WT_STALL_LG_THROTTLE] = RGB(0xd55e00),
    [WT_STALL_LONG_SCOREBOARD] = RGB(0xe69f00),  [WT_STALL_MATH_PIPE_THROTTLE] = RGB(0x0072b2),
    [WT_STALL_MEMBAR] = RGB(0x7a3e86),           [WT_STALL_MIO_THROTTLE] = RGB(0x56b4e9),
    [WT_STALL_MISC] = RGB(0x303030),             [WT_STALL_NO_INSTRUCTION] = RGB(0x7d4f33),
    [WT_STALL_NOT_SELECTED] = RGB(0xa9dccb),     [WT_STALL_SELECTED] = RGB(0x009e73),
    [WT_STALL_SHORT_SCOREBOARD] = RGB(0xf0e442), [WT_STALL_SLEEPING] = RGB(0xb9c4d6),
    [WT_STALL_TEX_THROTTLE] = RGB(0x3f8f9e),     [WT_STALL_WAIT] = RGB(0x9fb0bf),
};

struct wt_colour wt_state_colour(enum wt_stall_reason state)
{
    return colours[state];
}

const char *wt_state_words(enum wt_stall_reason state, char *words)
{
    snprintf(words, 32, "%s", wt_stall_name(state));
    for (char *c = words; *c; c++)
        if (*c == '_')
            *c = ' ';
    return words;
}

enum { SWATCH = 11, LINE = 17, BETWEEN = 16 };

double wt_state_legend(cairo_t *cr, uint32_t states, double x, double y, double width)
{
    double at = x, top = y;
    for (int i = 0; i < WT_STALL_COUNT; i++) {
        if (!(states >> i & 1))
            continue;
        char words[32];
        double room = SWATCH + 5 + wt_text_width(cr, wt_state_words((enum wt_stall_reason)i, words));
        if (at > x && at + room > x + width) {
            at = x;
            y += LINE;
        }
        cairo_rectangle(cr, at, y, SWATCH, SWATCH);
        wt_set_colour(cr, colours[i], 1);
        cairo_fill(cr);
        wt_set_colour(cr, wt_ink, 1);
        wt_text(cr, at + SWATCH + 5, y + SWATCH - 1.5, 0, words);
        at += room + BETWEEN;
    }
    return y + LINE - top;
}
