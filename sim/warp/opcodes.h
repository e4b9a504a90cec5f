/* What the opcodes of SASS do: their class (warp/program.h) and, for memory, the space and kind of access. Names are those of
 * NVIDIA's "CUDA Binary Utilities", instruction set reference, Turing to Blackwell; the class of those that no capture
 * here shows follows from that text alone. */
#ifndef WT_WARP_OPCODES_H
#define WT_WARP_OPCODES_H

#include <stdbool.h>

#include "warp/program.h"
#include "warp/sass.h"

struct wt_opcode {
    const char *name; /* up to the first '.' */
    enum wt_op op;
    enum wt_space space;      /* of MEMORY */
    enum wt_access_kind kind; /* of MEMORY */
};

/* NULL: not in the table. */
const struct wt_opcode *wt_opcode_find(const char *name);

/* The class that an instruction is given: the table's, with what modifiers change (HFMA2.MMA). An opcode
 * that is not in the table: by its first letter (U: uniform, D: FP64, H: half, F: FP32, else ALU); *known is then false. */
enum wt_op wt_opcode_class(const struct wt_sass_instruction *instruction, bool *known);

/* Bytes per thread of a memory instruction, from its modifiers: 1, 2, 4, 8 or 16. */
int wt_opcode_width(const struct wt_sass_instruction *instruction);

#endif
