/* A kernel as its warps execute it: instructions in the form in which the hardware schedules them. One form for
 * kernels written by hand (warp/text.h) and for SASS with Nsight Compute's counts.
 *
 * An instruction carries what the compiler put into its control bits: how many cycles the warp waits before its next
 * instruction (`stall`), which of six scoreboards its result or its operands' reading is booked on, and which
 * scoreboards it waits for. Registers do not appear: whoever makes a program has turned them into these (warp/text.h
 * does it as the compiler does). What the control bits cannot say, because it depends on data, stands beside them:
 * where branches go, how often loops run, how memory accesses fall into sectors and caches.
 *
 * A program starts at instruction 0 and ends a warp at an EXIT; running past the last instruction ends it, too. */
#ifndef WT_WARP_PROGRAM_H
#define WT_WARP_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum {
    WT_SCOREBOARDS = 6,
    WT_NO_SCOREBOARD = 7, /* as in the control bits */
    WT_MOST_INSTRUCTIONS = 1 << 20,
    WT_MOST_LOOPS = 32,
    WT_MOST_SPLITS = 32,
    WT_MOST_ACCESSES = 65535
};

/* What an instruction does to the machine. Which pipe a class takes and what its latencies are: warp/classes.h and the
 * GPU's config (`warp.*`). */
enum wt_op {
    WT_OP_FMA,     /* FFMA, FMUL, FADD */
    WT_OP_IMAD,    /* integer multiply-add, IMAD.MOV and the like, on the heavy half of the FMA pipe */
    WT_OP_ALU,     /* integer add, logic, shifts, compares, select, moves, FP32 compare and min/max */
    WT_OP_HALF,    /* HFMA2, HADD2, HMUL2, … */
    WT_OP_FP64,    /* DFMA, DMUL, DADD, DSETP */
    WT_OP_SFU,     /* MUFU */
    WT_OP_CONVERT, /* I2F, F2I, F2F of the conversion unit; POPC, FLO, BREV */
    WT_OP_TENSOR,  /* HMMA, IMMA, DMMA, HGMMA, … */
    WT_OP_UNIFORM, /* uniform datapath: UIADD3, UMOV, ULDC, R2UR, … */
    WT_OP_SPECIAL, /* S2R, S2UR: special registers */
    WT_OP_CLOCK,   /* CS2R */
    WT_OP_CONSTANT, /* LDC: indexed constant bank */
    WT_OP_SHUFFLE, /* SHFL, and what else crosses lanes through shared memory's data path */
    WT_OP_VOTE,    /* VOTE, MATCH, REDUX */
    WT_OP_MEMORY,  /* loads, stores, atomics: needs an access */
    WT_OP_BARRIER, /* BAR.SYNC over the block's warps that have not exited */
    WT_OP_BRANCH,  /* BRA, CALL, RET, JMP, BRX: goes where `branch` says */
    WT_OP_CONVERGE, /* BSSY, BSYNC, WARPSYNC, BMOV, …: branch unit, control goes on with the next instruction */
    WT_OP_EXIT,
    WT_OP_FENCE,   /* MEMBAR, ERRBAR, CCTL: until the warp's stores have been acknowledged */
    WT_OP_SLEEP,   /* NANOSLEEP */
    WT_OP_NOP,     /* NOP, and instructions without a unit of their own */
    WT_OP_COMMIT,  /* LDGDEPBAR: what the warp has begun to copy, by loads of global memory without a scoreboard, is a group */
    WT_OP_AWAIT,   /* DEPBAR.LE: until all groups but the `index` latest are there */
    WT_OP_COUNT
};

/* Where a BRANCH (and whether an EXIT) goes. All are decided per warp and execution. */
enum wt_branch {
    WT_BRANCH_ALWAYS, /* taken; for an EXIT: the warp ends */
    WT_BRANCH_NEVER,
    WT_BRANCH_LOOP,   /* end of loop `index`: taken until its body has run as often as the loop's count says */
    WT_BRANCH_SKIP,   /* before loop `index`: draws the count; taken when it is 0. A loop without one runs at least once */
    WT_BRANCH_EVERY,  /* taken each time it has been executed as often as the count of loop `index` says; not in between */
    WT_BRANCH_CHANCE, /* taken with probability `chance` */
    WT_BRANCH_LATER_WARPS, /* taken by all warps of a block but its first: `if (threadIdx.x == 0)` */
    WT_BRANCH_SPLIT,  /* two paths, the first right behind it and the second at the target. With probability `chance` the
                         warp takes the second alone; with the split's `both` it diverges, and goes through the first and
                         then the second; else the first alone */
    WT_BRANCH_UNITE   /* end of the first path of split `index`: taken unless the warp has diverged there */
};

enum wt_space {
    WT_SPACE_GLOBAL, /* and generic */
    WT_SPACE_LOCAL,
    WT_SPACE_SHARED, /* of the own block */
    WT_SPACE_CLUSTER, /* another block's shared memory */
    WT_SPACE_TEXTURE,
    WT_SPACE_COUNT
};

enum wt_access_kind {
    WT_ACCESS_LOAD,
    WT_ACCESS_STORE,
    WT_ACCESS_ATOMIC, /* returns a value */
    WT_ACCESS_REDUCE, /* returns none */
    WT_ACCESS_KINDS
};

/* What a warp's execution of a memory instruction asks of the memory system, on average. */
struct wt_access {
    uint8_t space; /* enum wt_space */
    uint8_t kind;  /* enum wt_access_kind */
    uint8_t width_bytes; /* per thread: 1, 2, 4, 8, 16 */
    float lines;   /* global, local: 128-byte lines touched, i.e. L1 tag look-ups; 1 … 32 */
    float sectors; /* global, local: 32-byte sectors, 1 … 128 */
    float bytes;   /* global, local: what the threads ask for, at most 512; 0: whole sectors */
    float wavefronts; /* shared: passes through the banks (1: free of conflicts); 1 … 32 times the width / 4.
                         Global atomics: most threads that meet in one address. Global loads at random addresses: the same
                         passes, in place of one per line; else 1 */
    float words;   /* global atomics: different words that the whole grid's threads meet in; 0: as many as there are slices of
                      L2, or a single one where a warp's threads meet or just one takes part */
    float dirty;   /* stores: of the sectors, those that wait to be written to DRAM for the first time; negative: by `bytes` */
    float l1_hit;  /* of the sectors, 0 … 1; negative: estimated (none of global, all of local) */
    float l2_hit;  /* of those that miss in L1; negative: estimated from the footprint and the GPU's L2. Of stores: of the
                      sectors, those that need not be fetched before they can be written in part */
    float footprint_mib; /* what the whole grid touches this way, for estimates; 0: too much for any cache */
    bool scattered; /* lines lie apart: DRAM opens a row for each, and transfers at least its granule */
};

struct wt_instruction {
    uint8_t op;     /* enum wt_op */
    uint8_t branch; /* enum wt_branch; of BRANCH and EXIT. Of CONVERGE: ALWAYS where it waits for the warp's other threads
                       (BSYNC, WARPSYNC), NEVER where not (BSSY) */
    uint8_t index;  /* groups that AWAIT leaves; the loop of LOOP, SKIP and EVERY, the split of SPLIT and UNITE */
    uint8_t stall;  /* cycles until the warp may issue its next instruction, 0 … 15; 0 counts as 1 */
    uint8_t write_board; /* released when the result is there; WT_NO_SCOREBOARD: none */
    uint8_t read_board;  /* released when the operands have been read */
    uint8_t wait_boards; /* bit mask: issues once these are released */
    bool yield;     /* the scheduler should prefer another warp next */
    uint8_t reads[2]; /* operands from even and from odd registers, less those that the last instruction has left for reuse */
    bool blocks;    /* holds up the dispatcher: IMAD.WIDE, IMAD.HI */
    uint16_t access; /* index into the program's accesses; of MEMORY */
    uint16_t latency; /* cycles from issue to result where it differs from the class's; 0: the class's */
    uint16_t interval; /* cycles its pipe takes it for, likewise (tensor shapes, 64-bit forms); 0: the class's */
    float active;   /* of the executions: fraction in which at least one thread is predicated on. Else it issues, and
                       does nothing. 1 when not predicated */
    float chance;   /* of CHANCE and SPLIT */
    float drift;    /* likewise, where neighbours have like data and go the same way: a warp goes by a value of its data, spread
                       evenly from 0 to 1, that lies as far (standard deviation) from its neighbour's in the block. 0: the warp
                       goes on its own */
    uint32_t target; /* instruction index; of BRANCH, save NEVER */
};

enum wt_draw {
    WT_DRAW_FIXED,     /* base + per_work * work */
    WT_DRAW_UNIFORM,   /* uniform from base to base + spread, ends included */
    WT_DRAW_GEOMETRIC  /* 1, 2, …: mean `base` */
};

/* How often a loop's body runs. A fraction is rounded up or down at random, so that the mean is right. */
struct wt_count {
    enum wt_draw draw;
    double base, per_work, spread;
    bool per_block; /* all warps of a block draw the same; else each warp its own each time it enters */
};

struct wt_split {
    float both; /* probability that the warp diverges; 0 … 1 - the branch's chance */
};

/* All arrays are owned by the program. */
struct wt_program {
    char *name;
    struct wt_instruction *instructions;
    size_t count;
    struct wt_access *accesses;
    size_t access_count;
    struct wt_count loops[WT_MOST_LOOPS];
    size_t loop_count;
    struct wt_split splits[WT_MOST_SPLITS];
    size_t split_count;
    double work; /* what a block's `work` is where the launch says nothing */
    /* Per instruction, for listings and traces; NULL: not known. */
    char **texts;       /* e.g. "FFMA R10, R10, R11, R12"; single ones may be NULL */
    uint32_t *places;   /* address in the SASS or line of the text */
};

/* An empty program. Owned by the caller, released with wt_program_free. */
struct wt_program *wt_program_new(const char *name);

/* NULL is allowed. */
void wt_program_free(struct wt_program *program);

/* An instruction that does nothing special: stall 1, no scoreboards, always active. */
struct wt_instruction wt_instruction_of(enum wt_op op);

/* Appends; returns the index. `text` may be NULL; it is copied. */
uint32_t wt_program_add(struct wt_program *program, const struct wt_instruction *instruction, const char *text,
                        uint32_t place);

/* Appends; returns the index for wt_instruction.access. */
uint16_t wt_program_add_access(struct wt_program *program, const struct wt_access *access);

/* Appends; returns the index, or -1 when there are WT_MOST_LOOPS (WT_MOST_SPLITS) already. */
int wt_program_add_loop(struct wt_program *program, const struct wt_count *count);
int wt_program_add_split(struct wt_program *program, const struct wt_split *split);

/* What keeps the simulation from running it, NULL: nothing; *at is then the instruction, or SIZE_MAX where it is none in
 * particular. */
const char *wt_program_fault(const struct wt_program *program, size_t *at);

/* Whether the simulation can run it: indices, targets and probabilities in range, loops that end, accesses that make
 * sense. Fails with WT_BAD_INPUT and the instruction's place. To be called once a program is complete. */
enum wt_code wt_program_check(const struct wt_program *program, struct wt_error *err);

/* An access as the coalescer makes it of consecutive threads: `lanes` threads of `width_bytes` each, `stride_bytes`
 * from one to the next, 32-byte sectors of 128-byte lines; banks for shared memory. Hit rates are left at
 * "estimated". */
struct wt_access wt_access_strided(enum wt_space space, enum wt_access_kind kind, int width_bytes, int stride_bytes,
                                   int lanes);

#endif
