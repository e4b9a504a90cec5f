/* A folder for a test's files, and text out of files. */
#ifndef WT_TESTS_SCRATCH_H
#define WT_TESTS_SCRATCH_H

#include <stdio.h>

/* Fixtures: `scratch` is an empty folder from enter to leave, which removes it with all that is in it. */
extern char scratch[];
void scratch_enter(void);
void scratch_leave(void);

/* The path of a file in it; owned by the caller. */
char *scratch_path(const char *name);
void scratch_write(const char *name, const char *text);
/* The same; the file's path, owned by the caller. */
char *scratch_put(const char *name, const char *text);
/* What the file holds, owned by the caller; NULL: there is none. */
char *scratch_text(const char *name);
/* The exit status of a shell line that runs in it; 128: it was killed. */
int scratch_shell(const char *line);

/* The rest of a stream, up to the first NUL; owned by the caller. */
char *text_of(FILE *stream);

#endif
