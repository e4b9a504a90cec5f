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

static bool goes_second(const struct wt_core *core, struct wt_one_warp *warp, const struct wt_instruction *i)
{
    const struct wt_program *program = core->machine->setup->kernels[core->blocks[warp->block].kernel].program;
    uint32_t bit = (uint32_t)1 << i->index;
    double draw = wt_random_unit(&warp->random);
    warp->diverged &= ~bit;
    if (draw < i->chance)
        return true;
    if (draw < (double)i->chance + program->splits[i->index].both)
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
    case WT_BRANCH_CHANCE:
        return i->chance >= 1 || wt_random_unit(&warp->random) < i->chance;
    case WT_BRANCH_LATER_WARPS:
        return warp->number > 0;
    case WT_BRANCH_SPLIT:
        return goes_second(core, warp, i);
    case WT_BRANCH_UNITE:
        return !(warp->diverged >> i->index & 1);
    }
    return false;
}
