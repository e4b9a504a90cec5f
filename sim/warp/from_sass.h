/* A kernel program made of SASS: what the control bits say is taken as it is; where branches go, how often loops run and how
 * memory accesses fall into sectors comes from Nsight Compute's counts, from the user, or is assumed and counted as such. */
#ifndef WT_WARP_FROM_SASS_H
#define WT_WARP_FROM_SASS_H

#include <stddef.h>
#include <stdint.h>

#include "warp/hits.h"
#include "warp/ncu.h"
#include "warp/program.h"
#include "warp/sass.h"

/* How often the loop runs whose branch back stands at `address`. */
struct wt_trip {
    uint32_t address;
    struct wt_count count; /* per_block is set by whether the loop has barriers */
};

/* How many different words all of the grid's executions of the atomic at `address` meet in. */
struct wt_atomic_words {
    uint32_t address;
    double words;
};

struct wt_sass_setup {
    const char *path; /* of the SASS, for messages */
    const struct wt_sass_function *function;
    const struct wt_ncu_source *source; /* NULL: no counts */
    const struct wt_trip *trips;        /* overrule the counts */
    size_t trip_count;
    const struct wt_atomic_words *words; /* likewise */
    size_t words_count;
    int threads_per_block;
    struct wt_hit_rates hits; /* of global accesses */
};

enum { WT_UNKNOWN_OPCODES = 16 };

/* What had to be assumed. */
struct wt_sass_report {
    struct {
        char name[16];
        int count;
        enum wt_op op; /* the class it was given */
    } unknown[WT_UNKNOWN_OPCODES]; /* further ones are only counted */
    int unknown_names, unknown_count;
    int assumed_loops;    /* run once, since nothing says how often */
    int assumed_branches; /* not taken, since nothing says how often */
    double executed;      /* warp instructions of the source page; 0 without */
    double warps;         /* that entered the kernel, likewise */
};

/* Fails when the source page is of other code, a trip names no branch, words name no atomic, or the program cannot be run.
 * *report is filled in any case. On failure *out is NULL. */
enum wt_code wt_program_from_sass(const struct wt_sass_setup *setup, struct wt_program **out,
                                  struct wt_sass_report *report, struct wt_error *err);

/* "0x820=16", "0x820=work", "0x820=0.25*work", "820=4+2*work"; "0x820=4..67" for a count drawn evenly from these, "0x820=~12" for a
 * geometric one of that mean. False when it is none of these. */
bool wt_trip_parse(const char *text, struct wt_trip *trip);

/* "0x820=256": 1 to 1e9 words. */
bool wt_atomic_words_parse(const char *text, struct wt_atomic_words *words);

#endif
