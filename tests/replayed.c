#include "replayed.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

const struct wt_replay_setup as_captured = {.seed = 1, .unseen_cycles = NAN};

struct wt_replay *replayed_file(const char *path, const struct wt_replay_setup *setup)
{
    struct wt_replay *replay;
    struct wt_error err = {0};
    ck_assert_msg(wt_replay_trace(path, setup, &replay, &err) == WT_OK, "%s", err.text);
    return replay;
}

struct wt_replay *replayed_with(const char *name, const struct wt_replay_setup *setup)
{
    char *path = wt_format("%s/traces/h200/%s.csv.zst", WT_SOURCE_ROOT, name);
    struct wt_replay *replay = replayed_file(path, setup);
    free(path);
    return replay;
}

struct wt_replay *replayed(const char *name)
{
    return replayed_with(name, &as_captured);
}
