#include "theme.h"

#include <math.h>

const struct theme theme_light = {.name = "light",
                                  .page = 0xf3f4f6,
                                  .surface = 0xffffff,
                                  .raised = 0xeceef1,
                                  .well = 0xe6e8ec,
                                  .edge = 0xc9cdd4,
                                  .ink = 0x1a1c20,
                                  .soft = 0x5a6069,
                                  .accent = 0xd55e00,
                                  .focus = 0x0b5cad,
                                  .on_focus = 0xffffff,
                                  .playhead = 0xb00020,
                                  .marker_a = 0x6a3d9a,
                                  .marker_b = 0x00694a};

const struct theme theme_dark = {.name = "dark",
                                 .page = 0x14161a,
                                 .surface = 0x1d2026,
                                 .raised = 0x2b2f37,
                                 .well = 0x282c34,
                                 .edge = 0x434955,
                                 .ink = 0xe9ebee,
                                 .soft = 0xa3aab6,
                                 .accent = 0xff8a3d,
                                 .focus = 0x62b0ff,
                                 .on_focus = 0x0b1520,
                                 .playhead = 0xff5d73,
                                 .marker_a = 0xc9a2ff,
                                 .marker_b = 0x5be0b0};

/* Okabe and Ito's less vermillion, which marks the tail, and black, which is text. */
static const colour categories[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xf0e442};
enum { CATEGORIES = sizeof categories / sizeof *categories };

/* Cividis at equal steps. */
static const colour sequence[] = {0x00224e, 0x1b3366, 0x35456c, 0x4c566d, 0x62676f, 0x787877,
                                  0x908b79, 0xa99f74, 0xc3b369, 0xdfc95a, 0xfee838};
enum { STEPS = sizeof sequence / sizeof *sequence - 1 };

colour palette_category(const struct theme *theme, unsigned index)
{
    colour base = categories[index % CATEGORIES];
    double shade = index / CATEGORIES % 3 * 0.28;
    return colour_mix(base, theme->ink, shade);
}

enum hatch palette_hatch(unsigned index)
{
    return (enum hatch)(index % HATCHES);
}

colour palette_sequence(const struct theme *theme, double share)
{
    double low = colour_luminance(theme->page) < 0.5 ? 0.22 : 0, at = (low + (1 - low) * fmin(fmax(share, 0), 1)) * STEPS;
    int step = (int)fmin(floor(at), STEPS - 1);
    return colour_mix(sequence[step], sequence[step + 1], at - step);
}

colour palette_diverging(const struct theme *theme, double share)
{
    colour neutral = colour_mix(theme->well, theme->ink, 0.12);
    return colour_mix(neutral, share < 0 ? 0x0072b2 : 0xe69f00, fmin(fabs(share), 1));
}

colour palette_text_on(colour background)
{
    return colour_luminance(background) > 0.5 ? 0x101214 : 0xffffff;
}
