#include "warp/classes.h"

#include <stddef.h>

#define RATE(member) (int)(offsetof(struct wt_class_rates, member) / sizeof(double))

const struct wt_class wt_classes[WT_OP_COUNT] = {
    [WT_OP_FMA] = {"fma", "FP32 multiply-add, add, multiply", WT_PIPE_FMA, false, RATE(fma)},
    [WT_OP_IMAD] = {"imad", "integer multiply-add", WT_PIPE_HEAVY, false, RATE(imad)},
    [WT_OP_ALU] = {"alu", "integer add, logic, shift, compare, select, move", WT_PIPE_ALU, false, RATE(alu)},
    [WT_OP_HALF] = {"half", "packed half precision", WT_PIPE_HALF, false, RATE(half)},
    [WT_OP_FP64] = {"fp64", "double precision", WT_PIPE_FP64, false, RATE(fp64)},
    [WT_OP_SFU] = {"sfu", "special functions: MUFU", WT_PIPE_XU, true, RATE(sfu)},
    [WT_OP_CONVERT] = {"convert", "conversions, bit counts", WT_PIPE_XU, true, RATE(convert)},
    [WT_OP_TENSOR] = {"tensor", "tensor cores", WT_PIPE_TENSOR, false, RATE(tensor)},
    [WT_OP_UNIFORM] = {"uniform", "uniform datapath", WT_PIPE_UNIFORM, false, RATE(uniform)},
    [WT_OP_SPECIAL] = {"special", "special registers: S2R", WT_PIPE_MIO, true, RATE(special)},
    [WT_OP_CLOCK] = {"clock", "CS2R", WT_PIPE_ALU, false, RATE(clock)},
    [WT_OP_CONSTANT] = {"constant", "indexed constants: LDC", WT_PIPE_MIO, true, RATE(constant)},
    [WT_OP_SHUFFLE] = {"shuffle", "SHFL", WT_PIPE_MIO, true, RATE(shuffle)},
    [WT_OP_VOTE] = {"vote", "VOTE, MATCH, REDUX", WT_PIPE_ALU, true, RATE(vote)},
    [WT_OP_MEMORY] = {"memory", "loads, stores, atomics", WT_PIPE_LG, true, -1},
    [WT_OP_BARRIER] = {"barrier", "BAR.SYNC", WT_PIPE_BARRIER, false, -1},
    [WT_OP_BRANCH] = {"branch", "BRA, CALL, RET", WT_PIPE_BRANCH, false, RATE(branch)},
    [WT_OP_CONVERGE] = {"converge", "BSSY, BSYNC", WT_PIPE_BRANCH, false, RATE(branch)},
    [WT_OP_EXIT] = {"exit", "the warp ends", WT_PIPE_BRANCH, false, RATE(branch)},
    [WT_OP_FENCE] = {"fence", "MEMBAR", WT_PIPE_LG, false, -1},
    [WT_OP_SLEEP] = {"sleep", "NANOSLEEP", WT_PIPE_BRANCH, false, -1},
    [WT_OP_COMMIT] = {"commit", "LDGDEPBAR: copies to shared memory so far are a group", WT_PIPE_BRANCH, false, -1},
    [WT_OP_AWAIT] = {"await", "DEPBAR: until all but the latest groups are there", WT_PIPE_BRANCH, false, -1},
    [WT_OP_NOP] = {"nop", "no unit of its own", WT_PIPE_BRANCH, false, -1},
};

const enum wt_stall_reason wt_pipe_stalls[WT_PIPE_COUNT] = {
    [WT_PIPE_FMA] = WT_STALL_MATH_PIPE_THROTTLE,     [WT_PIPE_HEAVY] = WT_STALL_MATH_PIPE_THROTTLE,
    [WT_PIPE_ALU] = WT_STALL_MATH_PIPE_THROTTLE,     [WT_PIPE_HALF] = WT_STALL_MATH_PIPE_THROTTLE,
    [WT_PIPE_FP64] = WT_STALL_MATH_PIPE_THROTTLE,    [WT_PIPE_TENSOR] = WT_STALL_MATH_PIPE_THROTTLE,
    [WT_PIPE_UNIFORM] = WT_STALL_MATH_PIPE_THROTTLE, [WT_PIPE_BRANCH] = WT_STALL_DISPATCH,
    [WT_PIPE_MIO] = WT_STALL_MIO_THROTTLE,           [WT_PIPE_LG] = WT_STALL_LG_THROTTLE,
    [WT_PIPE_BARRIER] = WT_STALL_MIO_THROTTLE,       [WT_PIPE_XU] = WT_STALL_MIO_THROTTLE,
};
