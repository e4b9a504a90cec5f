/* The option --why of `run` and `replay`. */
#ifndef WT_ASKING_H
#define WT_ASKING_H

#include "command.h"
#include "observe/timeline.h"
#include "observe/why.h"

/* Put `asking_argp` among the argp children with a `struct asking *` as its input. */
struct asking {
    bool asked;
    bool moment;
    long launch; /* its number */
    uint64_t block;
    double cycles;
};

extern const struct argp asking_argp;

/* What is asked, about the launches of `about`: *out is NULL when nothing is. Fails where there is no such block; `path`
 * names the file in the message. */
enum wt_code asking_begin(const struct asking *asking, const struct wt_timeline *about, const char *path, struct wt_why **out,
                          struct wt_error *err);

#endif
