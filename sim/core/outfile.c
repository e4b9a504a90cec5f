#include "core/outfile.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

enum { MOST_NOTED = 64 };

/* Those of open files, for wt_outfile_abandon_all. */
static char *_Atomic temporaries[MOST_NOTED];

static void exchange(char *from, char *to)
{
    for (int i = 0; i < MOST_NOTED; i++) {
        char *expected = from;
        if (atomic_compare_exchange_strong(&temporaries[i], &expected, to))
            return;
    }
}

void wt_outfile_abandon_all(void)
{
    for (int i = 0; i < MOST_NOTED; i++) {
        const char *name = temporaries[i];
        if (name)
            unlink(name);
    }
}

static void forget(struct wt_outfile *out)
{
    if (out->temporary)
        exchange(out->temporary, NULL);
    free(out->path);
    free(out->temporary);
    *out = (struct wt_outfile){0};
}

static enum wt_code fail_to_open(struct wt_outfile *out, const char *path, struct wt_error *err)
{
    enum wt_code code = wt_fail_at(err, path, 0, "cannot be written (%s); check the folder and its permissions",
                                   strerror(errno));
    forget(out);
    return code;
}

/* A device or pipe is written as it is; a file is replaced where it really lies, and keeps its permissions. */
enum wt_code wt_outfile_open(struct wt_outfile *out, const char *path, struct wt_error *err)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    char *real = exists && S_ISREG(old.st_mode) ? realpath(path, NULL) : NULL;
    *out = (struct wt_outfile){.path = real ? real : wt_strdup(path)};
    if (!strcmp(path, "-")) {
        out->stream = stdout;
        return WT_OK;
    }
    if (!exists || real)
        out->temporary = wt_format("%s.%ld.tmp", out->path, (long)getpid());
    out->stream = fopen(out->temporary ? out->temporary : path, "wb");
    if (!out->stream)
        return fail_to_open(out, path, err);
    if (out->temporary)
        exchange(NULL, out->temporary);
    if (real && fchmod(fileno(out->stream), old.st_mode & 07777) != 0)
        errno = 0; /* the default permissions will do */
    return WT_OK;
}

static bool close_stream(struct wt_outfile *out)
{
    bool failed = ferror(out->stream) != 0;
    failed |= (out->stream == stdout ? fflush(stdout) : fclose(out->stream)) != 0;
    out->stream = NULL;
    return failed;
}

enum wt_code wt_outfile_commit(struct wt_outfile *out, struct wt_error *err)
{
    bool failed = close_stream(out);
    if (!failed && (!out->temporary || rename(out->temporary, out->path) == 0)) {
        forget(out);
        return WT_OK;
    }
    const char *name = strcmp(out->path, "-") ? out->path : "standard output";
    enum wt_code code =
        wt_fail_at(err, name, 0, "cannot be written (%s); free some space or choose another place", strerror(errno));
    wt_outfile_discard(out);
    return code;
}

void wt_outfile_discard(struct wt_outfile *out)
{
    if (out->stream && out->stream != stdout)
        fclose(out->stream);
    if (out->temporary)
        unlink(out->temporary);
    forget(out);
}
