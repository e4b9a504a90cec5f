#include "warp/opcodes.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY(name, space, kind) {name, WT_OP_MEMORY, WT_SPACE_##space, WT_ACCESS_##kind}

/* In alphabetical order, for bsearch. */
static const struct wt_opcode opcodes[] = {
    {"ACQBULK", WT_OP_NOP}, {"ACQSHMINIT", WT_OP_NOP}, {"ARRIVES", WT_OP_NOP}, MEMORY("ATOM", GLOBAL, ATOMIC),
    MEMORY("ATOMG", GLOBAL, ATOMIC), MEMORY("ATOMS", SHARED, ATOMIC), {"B2R", WT_OP_SPECIAL}, {"BAR", WT_OP_BARRIER},
    {"BMMA", WT_OP_TENSOR}, {"BMOV", WT_OP_CONVERGE}, {"BMSK", WT_OP_ALU}, {"BPT", WT_OP_NOP}, {"BRA", WT_OP_BRANCH},
    {"BREAK", WT_OP_CONVERGE}, {"BREV", WT_OP_CONVERT}, {"BRX", WT_OP_BRANCH}, {"BRXU", WT_OP_BRANCH},
    {"BSSY", WT_OP_CONVERGE}, {"BSYNC", WT_OP_CONVERGE}, {"CALL", WT_OP_BRANCH}, {"CCTL", WT_OP_FENCE},
    {"CCTLL", WT_OP_FENCE}, {"CCTLT", WT_OP_FENCE}, {"CGAERRBAR", WT_OP_FENCE}, {"CS2R", WT_OP_CLOCK},
    {"CS2UR", WT_OP_CLOCK}, {"CSMTEST", WT_OP_ALU}, {"DADD", WT_OP_FP64}, {"DEPBAR", WT_OP_AWAIT}, {"DFMA", WT_OP_FP64},
    {"DMMA", WT_OP_TENSOR}, {"DMUL", WT_OP_FP64}, {"DSETP", WT_OP_FP64}, {"ELECT", WT_OP_UNIFORM},
    {"ENDCOLLECTIVE", WT_OP_CONVERGE},
    {"ERRBAR", WT_OP_FENCE}, {"EXIT", WT_OP_EXIT}, {"F2F", WT_OP_CONVERT}, {"F2FP", WT_OP_ALU},
    {"F2I", WT_OP_CONVERT}, {"F2IP", WT_OP_ALU}, {"FADD", WT_OP_FMA}, {"FADD2", WT_OP_FMA}, {"FCHK", WT_OP_CONVERT},
    {"FENCE", WT_OP_FENCE}, {"FFMA", WT_OP_FMA}, {"FFMA2", WT_OP_FMA}, {"FHADD", WT_OP_FMA}, {"FHFMA", WT_OP_FMA},
    {"FLO", WT_OP_CONVERT}, {"FMNMX", WT_OP_ALU}, {"FMNMX3", WT_OP_ALU}, {"FMUL", WT_OP_FMA}, {"FMUL2", WT_OP_FMA},
    {"FRND", WT_OP_CONVERT}, {"FSEL", WT_OP_ALU}, {"FSET", WT_OP_ALU}, {"FSETP", WT_OP_ALU}, {"FSWZADD", WT_OP_FMA},
    {"GETLMEMBASE", WT_OP_SPECIAL}, {"HADD2", WT_OP_HALF}, {"HFMA2", WT_OP_HALF}, {"HGMMA", WT_OP_TENSOR},
    {"HMMA", WT_OP_TENSOR}, {"HMNMX2", WT_OP_ALU}, {"HMUL2", WT_OP_HALF}, {"HSET2", WT_OP_HALF},
    {"HSETP2", WT_OP_HALF}, {"I2F", WT_OP_CONVERT}, {"I2FP", WT_OP_ALU}, {"I2I", WT_OP_CONVERT}, {"I2IP", WT_OP_ALU},
    {"IABS", WT_OP_ALU}, {"IADD", WT_OP_ALU}, {"IADD3", WT_OP_ALU}, {"IDP", WT_OP_IMAD}, {"IDP4A", WT_OP_IMAD},
    {"IGMMA", WT_OP_TENSOR}, {"IMAD", WT_OP_IMAD}, {"IMMA", WT_OP_TENSOR}, {"IMNMX", WT_OP_ALU}, {"IMUL", WT_OP_IMAD},
    {"ISCADD", WT_OP_ALU}, {"ISETP", WT_OP_ALU}, {"JMP", WT_OP_BRANCH}, {"JMX", WT_OP_BRANCH}, {"JMXU", WT_OP_BRANCH},
    {"KILL", WT_OP_EXIT}, MEMORY("LD", GLOBAL, LOAD), {"LDC", WT_OP_CONSTANT}, {"LDCU", WT_OP_CONSTANT},
    MEMORY("LDG", GLOBAL, LOAD), {"LDGDEPBAR", WT_OP_COMMIT}, MEMORY("LDGMC", GLOBAL, LOAD),
    MEMORY("LDGSTS", GLOBAL, LOAD), MEMORY("LDL", LOCAL, LOAD), MEMORY("LDS", SHARED, LOAD),
    MEMORY("LDSM", SHARED, LOAD), {"LEA", WT_OP_ALU}, {"LEPC", WT_OP_ALU}, {"LOP", WT_OP_ALU}, {"LOP3", WT_OP_ALU},
    {"MATCH", WT_OP_VOTE}, {"MEMBAR", WT_OP_FENCE}, {"MOV", WT_OP_ALU}, {"MOVM", WT_OP_SHUFFLE}, {"MUFU", WT_OP_SFU},
    {"NANOSLEEP", WT_OP_SLEEP}, {"NOP", WT_OP_NOP}, {"OMMA", WT_OP_TENSOR}, {"P2R", WT_OP_ALU}, {"PLOP3", WT_OP_ALU},
    {"PMTRIG", WT_OP_NOP}, {"POPC", WT_OP_CONVERT}, {"PREEXIT", WT_OP_NOP}, {"PRMT", WT_OP_ALU}, {"PSETP", WT_OP_ALU},
    {"QGMMA", WT_OP_TENSOR}, {"QMMA", WT_OP_TENSOR}, {"QSPC", WT_OP_SPECIAL}, {"R2B", WT_OP_CONVERGE},
    {"R2P", WT_OP_ALU}, {"R2UR", WT_OP_UNIFORM}, MEMORY("RED", GLOBAL, REDUCE), MEMORY("REDAS", CLUSTER, REDUCE),
    MEMORY("REDG", GLOBAL, REDUCE), {"REDUX", WT_OP_VOTE}, {"RET", WT_OP_BRANCH}, {"RPCMOV", WT_OP_ALU},
    {"S2R", WT_OP_SPECIAL}, {"S2UR", WT_OP_SPECIAL}, {"SEL", WT_OP_ALU}, {"SETCTAID", WT_OP_SPECIAL},
    {"SETLMEMBASE", WT_OP_SPECIAL}, {"SGXT", WT_OP_ALU}, {"SHF", WT_OP_ALU}, {"SHFL", WT_OP_SHUFFLE},
    {"SHL", WT_OP_ALU}, {"SHR", WT_OP_ALU}, MEMORY("ST", GLOBAL, STORE), MEMORY("STAS", CLUSTER, STORE),
    MEMORY("STG", GLOBAL, STORE), MEMORY("STL", LOCAL, STORE), MEMORY("STS", SHARED, STORE),
    MEMORY("STSM", SHARED, STORE), MEMORY("SUATOM", TEXTURE, ATOMIC), MEMORY("SULD", TEXTURE, LOAD),
    MEMORY("SURED", TEXTURE, REDUCE), MEMORY("SUST", TEXTURE, STORE), {"SYNCS", WT_OP_SHUFFLE},
    MEMORY("TEX", TEXTURE, LOAD), MEMORY("TLD", TEXTURE, LOAD), MEMORY("TLD4", TEXTURE, LOAD),
    {"TMML", WT_OP_SPECIAL}, MEMORY("TXD", TEXTURE, LOAD), {"TXQ", WT_OP_SPECIAL}, {"UBLKCP", WT_OP_UNIFORM},
    {"UBMSK", WT_OP_UNIFORM}, {"UBREV", WT_OP_UNIFORM}, {"UCGABAR_ARV", WT_OP_NOP}, {"UCGABAR_WAIT", WT_OP_NOP},
    {"UCLEA", WT_OP_UNIFORM}, {"UF2FP", WT_OP_UNIFORM}, {"UFLO", WT_OP_UNIFORM}, {"UIADD3", WT_OP_UNIFORM},
    {"UIMAD", WT_OP_UNIFORM}, {"UISETP", WT_OP_UNIFORM}, {"ULDC", WT_OP_UNIFORM}, {"ULEA", WT_OP_UNIFORM},
    {"ULEPC", WT_OP_UNIFORM}, {"ULOP", WT_OP_UNIFORM}, {"ULOP3", WT_OP_UNIFORM}, {"UMOV", WT_OP_UNIFORM},
    {"UP2UR", WT_OP_UNIFORM}, {"UPLOP3", WT_OP_UNIFORM}, {"UPOPC", WT_OP_UNIFORM}, {"UPRMT", WT_OP_UNIFORM},
    {"UPSETP", WT_OP_UNIFORM}, {"UR2UP", WT_OP_UNIFORM}, {"USEL", WT_OP_UNIFORM}, {"USETMAXREG", WT_OP_NOP},
    {"USGXT", WT_OP_UNIFORM}, {"USHF", WT_OP_UNIFORM}, {"USHL", WT_OP_UNIFORM}, {"USHR", WT_OP_UNIFORM},
    {"UTMALDG", WT_OP_UNIFORM}, {"UTMASTG", WT_OP_UNIFORM}, {"VABSDIFF", WT_OP_ALU}, {"VABSDIFF4", WT_OP_ALU},
    {"VHMNMX", WT_OP_ALU}, {"VIADD", WT_OP_ALU}, {"VIADDMNMX", WT_OP_ALU}, {"VIMNMX", WT_OP_ALU},
    {"VIMNMX3", WT_OP_ALU}, {"VOTE", WT_OP_VOTE}, {"VOTEU", WT_OP_VOTE}, {"WARPGROUP", WT_OP_NOP},
    {"WARPGROUPSET", WT_OP_NOP}, {"WARPSYNC", WT_OP_CONVERGE}, {"YIELD", WT_OP_NOP},
};

static int by_name(const void *name, const void *opcode)
{
    return strcmp(name, ((const struct wt_opcode *)opcode)->name);
}

const struct wt_opcode *wt_opcode_find(const char *name)
{
    return bsearch(name, opcodes, sizeof opcodes / sizeof *opcodes, sizeof *opcodes, by_name);
}

static enum wt_op guess(const char *name)
{
    switch (name[0]) {
    case 'U':
        return WT_OP_UNIFORM;
    case 'D':
        return WT_OP_FP64;
    case 'H':
        return WT_OP_HALF;
    case 'F':
        return WT_OP_FMA;
    default:
        return WT_OP_ALU;
    }
}

enum wt_op wt_opcode_class(const struct wt_sass_instruction *instruction, bool *known)
{
    const struct wt_opcode *opcode = wt_opcode_find(instruction->opcode);
    *known = opcode != NULL;
    if (!opcode)
        return guess(instruction->opcode);
    /* HFMA2.MMA, which the compiler takes to move constants, goes where FFMA goes on its heavy half. */
    if (opcode->op == WT_OP_HALF && wt_sass_has(instruction, "MMA"))
        return WT_OP_IMAD;
    return opcode->op;
}

int wt_opcode_width(const struct wt_sass_instruction *instruction)
{
    static const struct {
        const char *modifier;
        int bytes;
    } widths[] = {{"128", 16}, {"64", 8}, {"U8", 1}, {"S8", 1}, {"U16", 2}, {"S16", 2}, {"16", 4}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (wt_sass_has(instruction, widths[i].modifier))
            return widths[i].bytes;
    return 4;
}
