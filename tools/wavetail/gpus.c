#include "command.h"

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    (void)argc, (void)argv;
    return wt_fail(err, WT_BAD_INPUT, "not there yet");
}

const struct command gpus_command = {.name = "gpus", .summary = "list known GPUs and their limits", .run = run};
