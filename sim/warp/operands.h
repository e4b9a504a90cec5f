/* Which registers a SASS function's instructions read, as far as their timing depends on it; private to sim/warp.
 *
 * Registers lie in two banks, even and odd ones. What an instruction marks `.reuse` is kept for the next one that has a
 * register in the same place of its encoding, and need not be read again there (places: bits of `.reuse` in SASS of cc 9.0). A
 * register that is named twice is read once. Of FP64's pairs, whose pipe takes two cycles anyway, nothing is to be counted. */
#ifndef WT_WARP_OPERANDS_H
#define WT_WARP_OPERANDS_H

#include <stdint.h>

#include "warp/sass.h"

enum { WT_OPERAND_PLACES = 8 };

struct wt_reuse {
    int kept[WT_OPERAND_PLACES]; /* registers */
};

/* What is kept where a function begins: nothing. */
struct wt_reuse wt_reuse_begin(void);

/* How many operands it reads from even and from odd registers; instructions are to be asked for in their order. */
void wt_reuse_reads(struct wt_reuse *reuse, const struct wt_sass_instruction *instruction, uint8_t reads[2]);

#endif
