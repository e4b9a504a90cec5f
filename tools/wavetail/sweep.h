/* The subcommand `sweep`, for the command and for wavetail-sweep-mpi, which differ in who works on the points. */
#ifndef WT_SWEEP_COMMAND_H
#define WT_SWEEP_COMMAND_H

#include <stdbool.h>

#include "command.h"
#include "progress.h"
#include "study/sweep.h"
#include "study/sweep_book.h"

struct sweep_work {
    const struct wt_sweep *sweep;
    struct wt_sweep_book *book; /* NULL: this process only helps */
    struct progress *progress;
    int threads; /* 0: not given */
};

/* Who works. `rank`: 0 reads and writes the files; others print nothing. */
struct sweep_workers {
    int rank, default_threads; /* 0: one for each core */
    enum wt_code (*work)(const struct sweep_work *work, struct wt_error *err);
};

/* argv[0] is "wavetail sweep". */
enum wt_code sweep_main(int argc, char **argv, const struct sweep_workers *workers, struct wt_error *err);

/* The rows of `count` points, in threads; `rows` are the caller's. */
void sweep_rows(const struct wt_sweep *sweep, const size_t *points, size_t count, int threads, char **rows);

#endif
