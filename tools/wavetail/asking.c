#include "asking.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/outfile.h"

enum { KEY_WHY = 0x1201, KEY_SHARED_MEMORY };

static void parse_why(struct asking *asking, const char *text, struct argp_state *state)
{
    char extra;
    asking->asked = true;
    asking->moment = text[0] == '@';
    bool good = asking->moment ? sscanf(text + 1, "%lf%c", &asking->cycles, &extra) == 1
                               : sscanf(text, "%ld:%" SCNu64 "%c", &asking->launch, &asking->block, &extra) == 2;
    if (!good)
        argp_error(state, "'%s' is neither a block, as in --why 0:300 (launch:block), nor a moment, as in --why @12000", text);
}

static void parse_map(struct asking *asking, const char *text, struct argp_state *state)
{
    int used = 0;
    if (sscanf(text, "%d:%n", &asking->map_sm, &used) != 1 || used == 0 || asking->map_sm < 0 || !text[used])
        argp_error(state, "'%s' does not say which SM and file, as in --shared-memory 0:FILE.svg", text);
    asking->map_path = text + used;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    switch (key) {
    case KEY_WHY:
        parse_why(state->input, text, state);
        return 0;
    case KEY_SHARED_MEMORY:
        parse_map(state->input, text, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"why", KEY_WHY, "LAUNCH:BLOCK|@CYCLE", 0,
     "say why the simulation did not dispatch a block earlier, or what it waited for at a time", 0},
    {"shared-memory", KEY_SHARED_MEMORY, "SM:FILE.svg", 0,
     "picture of one SM's shared memory in the simulation: which block held which addresses when", 0},
    {0}};

const struct argp asking_argp = {.options = options, .parser = parse};

static bool find_launch(const struct wt_timeline *about, long number, uint32_t *index)
{
    for (size_t i = 0; i < about->launch_count; i++)
        if (about->launches[i].number == number) {
            *index = (uint32_t)i;
            return true;
        }
    return false;
}

static enum wt_code make_why(const struct asking *asking, const struct wt_timeline *about, const char *path,
                             struct wt_why **why, struct wt_error *err)
{
    struct wt_why_question question = {.moment = asking->moment, .block = asking->block, .cycles = asking->cycles};
    if (!asking->moment) {
        if (!find_launch(about, asking->launch, &question.launch))
            return wt_fail_at(err, path, 0, "has no launch %ld; its launches are numbered up to %ld", asking->launch,
                              about->launches[about->launch_count - 1].number);
        if (asking->block >= about->launches[question.launch].grid_blocks)
            return wt_fail_at(err, path, 0, "launch %ld has no block %" PRIu64 "; it has %" PRIu64 " blocks",
                              asking->launch, asking->block, about->launches[question.launch].grid_blocks);
    }
    *why = wt_why_new(&question, about->sm_count);
    return WT_OK;
}

enum wt_code asking_begin(const struct asking *asking, const struct wt_timeline *about, const char *path, struct wt_why **why,
                          struct wt_address_space **space, struct wt_error *err)
{
    *why = NULL;
    *space = NULL;
    if (asking->map_path && asking->map_sm >= about->sm_count)
        return wt_fail(err, WT_BAD_INPUT, "--shared-memory: there is no SM %d; they are numbered up to %d", asking->map_sm,
                       about->sm_count - 1);
    if (asking->asked)
        WT_TRY(make_why(asking, about, path, why, err));
    if (asking->map_path)
        *space = wt_address_space_new(asking->map_sm);
    return WT_OK;
}

enum wt_code asking_finish(const struct asking *asking, const struct wt_address_space *space, const struct wt_timeline *about,
                           struct wt_error *err)
{
    if (!space)
        return WT_OK;
    struct wt_outfile file;
    WT_TRY(wt_outfile_open(&file, asking->map_path, err));
    enum wt_code code = wt_address_space_svg(space, about, 0, file.stream, err);
    if (code == WT_OK)
        return wt_outfile_commit(&file, err);
    wt_outfile_discard(&file);
    return code;
}
