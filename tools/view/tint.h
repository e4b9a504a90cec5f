/* Colours in bulk: each block's, side by side in memory, and the mean colour of any stretch of an SM's blocks, in constant time:
 * prefix sums of their colours. Made anew when what colours stand for changes. */
#ifndef VIEW_TINT_H
#define VIEW_TINT_H

#include "colouring.h"

struct tint_sum {
    uint32_t red, green, blue; /* modulo 2^32 on purpose: only differences are read */
};

struct tint {
    struct tint_sum *sums; /* as run->sm_spans, one more; owned; NULL = not made */
    colour *of_lanes;      /* each block's, as run->lane_spans; owned */
    /* What it was made for. */
    const struct run *run, *other;
    enum colour_mode mode;
    const struct theme *theme;
    double error_scale;
    unsigned generation;
};

/* Makes it anew if it is not for this. `matches`: per span, 0 = drawn in `unmatched`; NULL: all match; `generation`
 * changes whenever it does. */
void tint_update(struct tint *tint, const struct colouring *colouring, const uint8_t *matches, colour unmatched,
                 unsigned generation);
void tint_free(struct tint *tint);

/* The mean over entries [first, last) of run->sm_spans; last > first. */
static inline colour tint_mean(const struct tint *tint, size_t first, size_t last)
{
    const struct tint_sum *a = &tint->sums[first], *b = &tint->sums[last];
    uint32_t count = (uint32_t)(last - first);
    return (b->red - a->red) / count << 16 | (b->green - a->green) / count << 8 | (b->blue - a->blue) / count;
}

#endif
