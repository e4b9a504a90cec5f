/* Output files that appear only when complete: written to a temporary name beside the target, then renamed. */
#ifndef WT_CORE_OUTFILE_H
#define WT_CORE_OUTFILE_H

#include <stdio.h>

#include "core/status.h"

struct wt_outfile {
    FILE *stream;  /* write here; NULL when not open */
    char *path;    /* target */
    char *temporary; /* NULL: written directly (standard output, a device, a pipe) */
};

/* Fails with the path and the reason. "-" is standard output; it, devices and pipes are written directly. What a
 * symbolic link leads to is replaced, not the link. */
enum wt_code wt_outfile_open(struct wt_outfile *out, const char *path, struct wt_error *err);

/* Flushes, checks for write errors, renames. On failure the target is untouched and the temporary removed. */
enum wt_code wt_outfile_commit(struct wt_outfile *out, struct wt_error *err);

/* Removes the temporary. Harmless after commit. */
void wt_outfile_discard(struct wt_outfile *out);

/* Removes the temporaries of up to 64 files that are open. For signal handlers that end the program: safe there, and nothing can be
 * written afterwards. */
void wt_outfile_abandon_all(void);

#endif
