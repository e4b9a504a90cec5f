/* wavetail view: runs wavetail-view, which alone knows SDL, from beside this program or from the path. */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

static const char program[] = "wavetail-view";

/* The program beside this one; NULL when there is none. Owned by the caller. */
static char *beside(void)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return NULL;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    char *path = wt_format("%.*s/%s", (int)(slash - self), self, program);
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

enum wt_code start_view(char **argv, const char *instead, struct wt_error *err)
{
    char *path = beside();
    if (path)
        execv(path, argv);
    else
        execvp(program, argv);
    free(path);
    return wt_fail(err, WT_BAD_INPUT, "%s cannot be started (%s); it is built where SDL2 and SDL2_ttf are: run tools/setup.sh, "
                   "then make%s", program, strerror(errno), instead);
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    (void)argc;
    return start_view(argv, "", err);
}

const struct command view_command = {
    .name = "view", .summary = "watch blocks enter and leave the SMs, compare runs, try other settings", .run = run};
