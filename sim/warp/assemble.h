/* From registers to control bits, as the compiler does it: stall counts for results that come after a fixed number of
 * cycles, six scoreboards for the others. Internal to warp/text.h. */
#ifndef WT_WARP_ASSEMBLE_H
#define WT_WARP_ASSEMBLE_H

#include "gpu/gpu.h"
#include "warp/program.h"

enum {
    WT_FIRST_PREDICATE = 256, /* P0 … P7 */
    WT_FIRST_UNIFORM = 264,   /* UR0 … UR63 */
    WT_REGISTERS = 328,
    WT_MOST_SOURCES = 5
};

/* What one instruction reads and writes. Numbers of registers; -1: none. */
struct wt_operands {
    int destination, destination_count;
    int sources[WT_MOST_SOURCES];
    int source_count;
    bool own_stall, own_boards; /* the text gave the control bits itself */
};

/* Sets stall, write_board and wait_boards of every instruction that has not its own. `operands` has one element per
 * instruction. Latencies are those of fixed pipes in general (warp/assemble.c), not one GPU's: a program is the same on all. */
void wt_assemble(struct wt_program *program, const struct wt_operands *operands);

#endif
