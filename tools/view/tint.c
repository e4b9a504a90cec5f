#include "tint.h"

#include <stdlib.h>

#include "core/mem.h"

static bool is_for(const struct tint *tint, const struct colouring *c, unsigned generation)
{
    return tint->sums && tint->run == c->run && tint->other == c->other && tint->mode == c->mode && tint->theme == c->theme &&
           tint->error_scale == c->error_scale && tint->generation == generation;
}

void tint_update(struct tint *tint, const struct colouring *c, const uint8_t *matches, colour unmatched, unsigned generation)
{
    size_t count = c->run->timeline->span_count;
    if (is_for(tint, c, generation))
        return;
    tint_free(tint);
    *tint = (struct tint){wt_alloc(count + 1, sizeof *tint->sums), wt_alloc(count, sizeof *tint->of_lanes),
                          c->run, c->other, c->mode, c->theme, c->error_scale, generation};
    colour *of_spans = wt_alloc(count, sizeof *of_spans);
    for (size_t i = 0; i < count; i++)
        of_spans[i] = matches && !matches[i] ? unmatched : block_colour(c, (uint32_t)i);
    for (size_t i = 0; i < count; i++) {
        colour value = of_spans[c->run->sm_spans[i]];
        const struct tint_sum *sum = &tint->sums[i];
        tint->of_lanes[i] = of_spans[c->run->lane_spans[i]];
        tint->sums[i + 1] = (struct tint_sum){sum->red + (value >> 16 & 255), sum->green + (value >> 8 & 255),
                                              sum->blue + (value & 255)};
    }
    free(of_spans);
}

void tint_free(struct tint *tint)
{
    free(tint->sums);
    free(tint->of_lanes);
    *tint = (struct tint){0};
}
