/* The command line: one file per subcommand, one const descriptor each, one line in the table of main.c. */
#ifndef WT_COMMAND_H
#define WT_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

struct command {
    const char *name;
    const char *summary; /* one line for `wavetail --help` */
    /* argv[0] is "wavetail NAME". Returns the exit code's wt_code; a failure's message is in `err`. */
    enum wt_code (*run)(int argc, char **argv, struct wt_error *err);
};

/* Options every subcommand takes. Put `common_argp` among the argp children with a `struct common *` as its
 * input (state->child_inputs[i] = &common in ARGP_KEY_INIT). */
struct common {
    const char *gpu; /* NULL = not given */
    bool json;
    bool quiet;
    uint64_t seed; /* default 1 */
    bool seed_given;
};

extern const struct argp common_argp;

/* Parses; returns WT_BAD_USAGE after argp printed its message. `--help` prints and exits 0. */
enum wt_code parse_arguments(const struct argp *argp, int argc, char **argv, void *input);

/* For option parsers: "123" → 123 within [low, high], else argp_error naming the option. */
long long parse_integer(struct argp_state *state, const char *option, const char *text, long long low,
                        long long high);

/* The same of bytes: "20480", "20K", "20KB" or "20KiB", K = 1024. `high` at most 2^50. */
long long parse_bytes(struct argp_state *state, const char *option, const char *text, long long low, long long high);

/* "1100x900", both from 200 to 20000, else argp_error naming --size. */
void parse_picture_size(struct argp_state *state, const char *text, int *width, int *height);

/* view.c: becomes wavetail-view; returns only where that cannot be started. `instead` ends the message; "" for nothing. */
enum wt_code start_view(char **argv, const char *instead, struct wt_error *err);

#endif
