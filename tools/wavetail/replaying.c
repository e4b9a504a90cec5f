#include "replaying.h"

#include <math.h>
#include <string.h>

enum { KEY_UNSEEN = 0x1101 };

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct replaying *replaying = state->input;
    switch (key) {
    case 'p':
        replaying->placement = text;
        return 0;
    case KEY_UNSEEN:
        replaying->unseen =
            strcmp(text, "auto") ? (double)parse_integer(state, "unseen", text, -100000, 1000000000) : NAN;
        return 0;
    case ARGP_KEY_INIT:
        replaying->unseen = NAN;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"policy", 'p', "NAME", 0, "placement policy instead of the GPU's; `wavetail run --policies` lists them", 0},
    {"unseen", KEY_UNSEEN, "CYCLES|auto", 0,
     "what a block stays on its SM beyond its clock reads; auto (the default): as the trace's own releases tell", 0},
    {0}};

const struct argp replaying_argp = {.options = options, .parser = parse};

struct wt_replay_setup replaying_setup(const struct replaying *replaying, const struct common *common)
{
    return (struct wt_replay_setup){.gpu = common->gpu, .placement = replaying->placement, .seed = common->seed,
                                    .unseen_cycles = replaying->unseen};
}
