#include "study/behaviour.h"

#include <inttypes.h>
#include <stddef.h>

#define PERSISTENT(field) offsetof(struct wt_persistent, field)
#define WAITS(field) offsetof(struct wt_waits, field)

static const char *const queues[] = {[WT_QUEUE_DYNAMIC] = "dynamic", [WT_QUEUE_STATIC] = "static", NULL};

static const char *const patterns[] = {[WT_WAIT_PREVIOUS] = "previous",
                                       [WT_WAIT_NEXT] = "next",
                                       [WT_WAIT_FIRST] = "first",
                                       [WT_WAIT_LIST] = "blocks",
                                       [WT_WAIT_ALL] = "all",
                                       NULL};

/* Two barriers of the block, the number shared, a loop: untraced kernels of one block per SM on an H200 take 610 cycles
 * from task to task, of which the addition takes 402. */
const struct wt_param wt_persistent_params[] = {
    {"tasks", WT_PARAM_INT64, PERSISTENT(tasks), .low = 1, .high = 1 << 28, .required = true,
     .help = "tasks; `duration` is then theirs, and without `grid` as many blocks are launched as fit at once"},
    {"queue", WT_PARAM_CHOICE, PERSISTENT(queue), .choices = queues,
     .help = "where the next task comes from: an atomic counter, or a fixed share for each block"},
    {"overhead", WT_PARAM_NUMBER, PERSISTENT(overhead_cycles), .unit = "cycles", .low = 0, .high = 1e9, .fallback = "208",
     .help = "from one task to the next besides asking the counter"},
    {0}};

const struct wt_param wt_waits_params[] = {
    {"pattern", WT_PARAM_CHOICE, WAITS(pattern), .choices = patterns, .required = true,
     .help = "which blocks each one waits for; all: a barrier of the grid"},
    {"blocks", WT_PARAM_INTS, WAITS(blocks), .low = 0, .high = 2147483647, .most = 1024,
     .help = "their numbers, for the pattern \"blocks\""},
    {"at", WT_PARAM_NUMBER, WAITS(at), .low = 0, .high = 1, .fallback = "1",
     .help = "fraction of its duration after which a block arrives, and waits until the others have"},
    {"latency", WT_PARAM_NUMBER, WAITS(latency_cycles), .unit = "cycles", .low = 0, .high = 1e9,
     .help = "from an arrival until those who wait for it go on"},
    {"chained", WT_PARAM_BOOL, WAITS(chained),
     .help = "a block has arrived for others only when it goes on itself"},
    {0}};

static enum wt_code read_persistent(const struct wt_config *config, const struct config_setting_t *group,
                                    struct wt_persistent *out, struct wt_error *err)
{
    WT_TRY(wt_params_read(wt_persistent_params, config, group, out, err));
    out->line = wt_config_line(group);
    return WT_OK;
}

static enum wt_code check_waits(const struct wt_config *config, const struct config_setting_t *group,
                                const struct wt_waits *waits, struct wt_error *err)
{
    if ((waits->pattern == WT_WAIT_LIST) != (waits->blocks.count > 0))
        return wt_config_fail(config, group, err, "'blocks' belongs to pattern = \"blocks\", which needs at least one");
    if (waits->chained && waits->pattern == WT_WAIT_ALL)
        return wt_config_fail(config, group, err,
                              "a chained barrier never opens, since every block waits for every other; remove 'chained'");
    return WT_OK;
}

static enum wt_code read_waits(const struct wt_config *config, const struct config_setting_t *group, struct wt_waits *out,
                               struct wt_error *err)
{
    WT_TRY(wt_params_read(wt_waits_params, config, group, out, err));
    out->line = wt_config_line(group);
    enum wt_code code = check_waits(config, group, out, err);
    if (code != WT_OK)
        wt_params_free(wt_waits_params, out);
    return code;
}

enum wt_code wt_behaviour_read(const struct wt_config *config, const struct config_setting_t *kernel,
                               struct wt_behaviour *out, struct wt_error *err)
{
    *out = (struct wt_behaviour){0};
    const struct config_setting_t *persistent = wt_config_group(kernel, "persistent");
    const struct config_setting_t *waiting = wt_config_group(kernel, "waiting");
    if (persistent && waiting)
        return wt_config_fail(config, waiting, err, "blocks of a persistent kernel that wait for each other are not "
                              "simulated; remove 'waiting' or 'persistent'");
    if (persistent)
        return read_persistent(config, persistent, &out->persistent, err);
    return waiting ? read_waits(config, waiting, &out->waits, err) : WT_OK;
}

void wt_behaviour_clear(struct wt_behaviour *behaviour)
{
    wt_params_free(wt_waits_params, &behaviour->waits);
}

enum wt_code wt_behaviour_check(const struct wt_behaviour *behaviour, uint64_t grid_blocks, const char *path,
                                struct wt_error *err)
{
    const struct wt_ints *blocks = &behaviour->waits.blocks;
    for (int i = 0; i < blocks->count; i++)
        if ((uint64_t)blocks->values[i] >= grid_blocks)
            return wt_fail_at(err, path, behaviour->waits.line, "block %d is waited for, but the grid's last block is %" PRIu64
                              "; give a block of the grid", blocks->values[i], grid_blocks - 1);
    return WT_OK;
}
