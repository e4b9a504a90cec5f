#include "core/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

static void forget(struct wt_outfile *out)
{
    free(out->path);
    free(out->temporary);
    *out = (struct wt_outfile){0};
}

enum wt_code wt_outfile_open(struct wt_outfile *out, const char *path, struct wt_error *err)
{
    *out = (struct wt_outfile){.path = wt_strdup(path)};
    if (!strcmp(path, "-")) {
        out->stream = stdout;
        return WT_OK;
    }
    out->temporary = wt_format("%s.%ld.tmp", path, (long)getpid());
    out->stream = fopen(out->temporary, "wb");
    if (out->stream)
        return WT_OK;
    enum wt_code code = wt_fail_at(err, path, 0, "cannot be written (%s); check the folder and its permissions",
                                   strerror(errno));
    forget(out);
    return code;
}

enum wt_code wt_outfile_commit(struct wt_outfile *out, struct wt_error *err)
{
    if (!out->temporary) {
        int failed = fflush(out->stream) || ferror(out->stream);
        forget(out);
        return failed ? wt_fail(err, WT_BAD_INPUT, "standard output: cannot be written (%s)", strerror(errno)) : WT_OK;
    }
    int failed = ferror(out->stream);
    failed |= fclose(out->stream) != 0;
    out->stream = NULL;
    if (!failed && rename(out->temporary, out->path) == 0) {
        forget(out);
        return WT_OK;
    }
    enum wt_code code =
        wt_fail_at(err, out->path, 0, "cannot be written (%s); free some space or choose another folder", strerror(errno));
    wt_outfile_discard(out);
    return code;
}

void wt_outfile_discard(struct wt_outfile *out)
{
    if (out->stream && out->temporary)
        fclose(out->stream);
    if (out->temporary)
        unlink(out->temporary);
    forget(out);
}
