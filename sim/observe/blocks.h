/* The table of blocks (`--blocks`): launch,block,sm,slot,start,end; one row per block, times in cycles from the
 * first block's start, exact (a time unit is 1/1024 cycle) and without trailing zeros; `launch` is the trace's
 * launch number. Where a launch is persistent, its rows are tasks, and a last column `task` numbers them. */
#ifndef WT_OBSERVE_BLOCKS_H
#define WT_OBSERVE_BLOCKS_H

#include "core/outfile.h"
#include "observe/exporter.h"

/* Streams rows while a simulation runs, in the order of block ends. */
struct wt_blocks {
    struct wt_outfile out;
    const struct wt_timeline *about;
    wt_time origin;
    bool begun, with_tasks;
};

/* `about` gives the launches and must outlive the table. */
enum wt_code wt_blocks_open(struct wt_blocks *blocks, const char *path, const struct wt_timeline *about,
                            struct wt_error *err);
struct wt_observer wt_blocks_observer(struct wt_blocks *blocks);
enum wt_code wt_blocks_commit(struct wt_blocks *blocks, struct wt_error *err);
/* Gives up: no file is left. Harmless after commit and on a zeroed struct. */
void wt_blocks_discard(struct wt_blocks *blocks);

/* `cycles` with up to ten decimals, the shortest text that says t exactly. Returns the length; `text` holds at
 * least WT_CYCLES_TEXT bytes. */
enum { WT_CYCLES_TEXT = 32 };
int wt_cycles_text(char *text, wt_time t);

extern const struct wt_exporter wt_blocks_exporter;

#endif
