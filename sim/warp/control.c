#include <math.h>

#include "warp/machine.h"

static uint32_t clamped(double value)
{
    return value <= 0 ? 0 : value >= 4e9 ? (uint32_t)4e9 : (uint32_t)value;
}

uint32_t wt_count_draw(const struct wt_count *count, double work, struct wt_random *random)
{
    double value = count->base + count->per_work * work;
    if (count->draw == WT_DRAW_UNIFORM)
        return clamped(value + floor(wt_random_unit(random) * (count->spread + 1)));
    if (count->draw == WT_DRAW_GEOMETRIC)
        return count->base <= 1 ? 1 : clamped(1 + floor(log(wt_random_unit(random)) / log(1 - 1 / count->base)));
    double whole = floor(value);
    return clamped(whole + (value > whole && wt_random_unit(random) < value - whole));
}

/* How often the loop's body is to run now. */
static uint32_t runs(const struct wt_core *core, struct wt_one_warp *warp, int loop)
{
    const struct wt_block *block = &core->blocks[warp->block];
    const struct wt_count *count = &core->machine->setup->kernels[block->kernel].program->loops[loop];
    return count->per_block ? block->loop_counts[loop] : wt_count_draw(count, block->work, &warp->random);
}

static bool goes_back(const struct wt_core *core, struct wt_one_warp *warp, int loop)
{
    uint32_t bit = (uint32_t)1 << loop;
    if (!(warp->open_loops & bit)) {
        warp->left[loop] = runs(core, warp, loop);
        warp->open_loops |= bit;
    }
    if (warp->left[loop] > 1) {
        warp->left[loop]--;
        return true;
    }
    warp->open_loops &= ~bit;
    return false;
}

static bool skips(const struct wt_core *core, struct wt_one_warp *warp, int loop)
{
    warp->left[loop] = runs(core, warp, loop);
    if (warp->left[loop] == 0)
        return true;
    warp->open_loops |= (uint32_t)1 << loop;
    return false;
}

/* ---- Branches ---- */

/* A step of a walk from warp to warp that turns back at 0 and 1; the sum of three is normal enough. */
static double neighbour(double value, double drift, struct wt_random *random)
{
    double step = 2 * (wt_random_unit(random) + wt_random_unit(random) + wt_random_unit(random) - 1.5);
    value = fabs(value + drift * step);
    value -= 2 * floor(value / 2);
    return value > 1 ? 2 - value : value;
}

/* The value of this warp's data. Every warp of the block walks the same way, from the first one's. */
static double draw_likeness(const struct wt_core *core, const struct wt_one_warp *warp, double drift)
{
    const struct wt_block *block = &core->blocks[warp->block];
    struct wt_random walk =
        wt_random_stream(core->machine->setup->seed, "likeness", block->number ^ ((uint64_t)block->kernel << 56));
    double value = wt_random_unit(&walk);
    for (int i = 0; i < warp->number; i++)
        value = neighbour(value, drift, &walk);
    return value;
}

/* A number from 0 to 1 that decides whether a branch of that chance is taken; the closer to the chance, the closer the warp is to
 * going the other way. What its value says beyond that decides the next branch. */
static double draw(const struct wt_core *core, struct wt_one_warp *warp, const struct wt_instruction *i)
{
    if (i->drift <= 0)
        return wt_random_unit(&warp->random);
    if (warp->likeness < 0)
        warp->likeness = draw_likeness(core, warp, (double)i->drift);
    double value = warp->likeness, chance = (double)i->chance;
    warp->likeness = value < chance ? value / chance : (value - chance) / (1 - chance);
    return value;
}

static bool goes_second(const struct wt_core *core, struct wt_one_warp *warp, const struct wt_instruction *i)
{
    const struct wt_program *program = core->machine->setup->kernels[core->blocks[warp->block].kernel].program;
    uint32_t bit = (uint32_t)1 << i->index;
    double drawn = draw(core, warp, i);
    warp->diverged &= ~bit;
    if (drawn < (double)i->chance)
        return true;
    if (drawn < (double)i->chance + (double)program->splits[i->index].both)
        warp->diverged |= bit;
    return false;
}

bool wt_control_taken(const struct wt_core *core, struct wt_one_warp *warp, const struct wt_instruction *i)
{
    switch ((enum wt_branch)i->branch) {
    case WT_BRANCH_ALWAYS:
        return true;
    case WT_BRANCH_NEVER:
        return false;
    case WT_BRANCH_LOOP:
        return goes_back(core, warp, i->index);
    case WT_BRANCH_SKIP:
        return skips(core, warp, i->index);
    case WT_BRANCH_EVERY:
        return !goes_back(core, warp, i->index);
    case WT_BRANCH_CHANCE:
        return i->chance >= 1 || draw(core, warp, i) < (double)i->chance;
    case WT_BRANCH_LATER_WARPS:
        return warp->number > 0;
    case WT_BRANCH_SPLIT:
        return goes_second(core, warp, i);
    case WT_BRANCH_UNITE:
        return !(warp->diverged >> i->index & 1);
    }
    return false;
}
