/* The options --why and --shared-memory of `run` and `replay`. */
#ifndef WT_ASKING_H
#define WT_ASKING_H

#include "command.h"
#include "observe/address_space.h"
#include "observe/timeline.h"
#include "observe/why.h"

/* Put `asking_argp` among the argp children with a `struct asking *` as its input. */
struct asking {
    bool asked;
    bool moment;
    long launch; /* its number */
    uint64_t block;
    double cycles;
    int map_sm;           /* of the picture of its shared memory */
    const char *map_path; /* NULL: none */
};

extern const struct argp asking_argp;

/* What is asked, about the launches of `about`; NULL where nothing is. Fails where there is no such block or SM; `path` names
 * the file in the message. */
enum wt_code asking_begin(const struct asking *asking, const struct wt_timeline *about, const char *path, struct wt_why **why,
                          struct wt_address_space **space, struct wt_error *err);

/* Writes the picture where one is asked for. */
enum wt_code asking_finish(const struct asking *asking, const struct wt_address_space *space, const struct wt_timeline *about,
                           struct wt_error *err);

#endif
