#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_JSON = 0x1001, KEY_SEED, KEY_QUIET };

static error_t parse_common(int key, char *text, struct argp_state *state)
{
    struct common *common = state->input;
    switch (key) {
    case 'g':
        common->gpu = text;
        return 0;
    case KEY_JSON:
        common->json = true;
        return 0;
    case KEY_QUIET:
        common->quiet = true;
        return 0;
    case KEY_SEED:
        common->seed = (uint64_t)parse_integer(state, "seed", text, 0, INT64_MAX);
        common->seed_given = true;
        return 0;
    case ARGP_KEY_INIT:
        common->seed = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"gpu", 'g', "NAME|FILE.cfg", 0, "the GPU: a name from `wavetail gpus`, or a config file", 100},
    {"json", KEY_JSON, 0, 0, "print one JSON object on standard output", 100},
    {"seed", KEY_SEED, "N", 0, "seed of all random streams (default 1)", 100},
    {"quiet", KEY_QUIET, 0, 0, "no progress and no notes on standard error", 100},
    {0}};

const struct argp common_argp = {.options = options, .parser = parse_common};

enum wt_code parse_arguments(const struct argp *argp, int argc, char **argv, void *input)
{
    argp_err_exit_status = WT_BAD_USAGE;
    return argp_parse(argp, argc, argv, 0, NULL, input) ? WT_BAD_USAGE : WT_OK;
}

long long parse_integer(struct argp_state *state, const char *option, const char *text, long long low,
                        long long high)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        argp_error(state, "--%s: '%s' is not a whole number from %lld to %lld", option, text, low, high);
    return value;
}

long long parse_bytes(struct argp_state *state, const char *option, const char *text, long long low, long long high)
{
    char *end = NULL;
    errno = 0;
    long long bytes = strtoll(text, &end, 10);
    bool kilo = end != text && (*end == 'K' || *end == 'k');
    if (kilo)
        end += !strcmp(end + 1, "iB") ? 3 : !strcmp(end + 1, "B") ? 2 : 1;
    if (kilo && bytes <= high)
        bytes *= 1024;
    if (errno || end == text || *end || bytes < low || bytes > high)
        argp_error(state, "--%s: '%s' is not a number of bytes from %lld to %lld (20480 or 20K)", option, text, low, high);
    return bytes;
}

void parse_picture_size(struct argp_state *state, const char *text, int *width, int *height)
{
    enum { LEAST = 200, MOST = 20000 };
    char rest;
    if (sscanf(text, "%dx%d%c", width, height, &rest) != 2 || *width < LEAST || *width > MOST || *height < LEAST || *height > MOST)
        argp_error(state, "--size: '%s' is not WIDTHxHEIGHT with both from %d to %d", text, LEAST, MOST);
}
