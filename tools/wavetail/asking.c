#include "asking.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_WHY = 0x1201 };

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

static error_t parse(int key, char *text, struct argp_state *state)
{
    if (key != KEY_WHY)
        return ARGP_ERR_UNKNOWN;
    parse_why(state->input, text, state);
    return 0;
}

static const struct argp_option options[] = {
    {"why", KEY_WHY, "LAUNCH:BLOCK|@CYCLE", 0,
     "say why the simulation did not dispatch a block earlier, or what it waited for at a time", 0},
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

enum wt_code asking_begin(const struct asking *asking, const struct wt_timeline *about, const char *path, struct wt_why **out,
                          struct wt_error *err)
{
    *out = NULL;
    if (!asking->asked)
        return WT_OK;
    struct wt_why_question question = {.moment = asking->moment, .block = asking->block, .cycles = asking->cycles};
    if (!asking->moment) {
        if (!find_launch(about, asking->launch, &question.launch))
            return wt_fail_at(err, path, 0, "has no launch %ld; its launches are numbered up to %ld", asking->launch,
                              about->launches[about->launch_count - 1].number);
        if (asking->block >= about->launches[question.launch].grid_blocks)
            return wt_fail_at(err, path, 0, "launch %ld has no block %" PRIu64 "; it has %" PRIu64 " blocks",
                              asking->launch, asking->block, about->launches[question.launch].grid_blocks);
    }
    *out = wt_why_new(&question, about->sm_count);
    return WT_OK;
}
