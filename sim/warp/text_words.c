#include "warp/text_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "warp/classes.h"
#include "warp/text.h"

/* ---- Splitting ---- */

static bool ends_line(const struct wt_tokens *words)
{
    return words->at == words->end || *words->at == '\n' || *words->at == '#';
}

static void skip_blanks(struct wt_tokens *words)
{
    while (words->at < words->end && *words->at != '\n' && (isspace((unsigned char)*words->at) || *words->at == ','))
        words->at++;
}

/* The line that begins at `at`, for messages and listings. */
static void note_line(struct wt_tokens *words)
{
    size_t length = 0;
    const char *from = words->at;
    while (from < words->end && isspace((unsigned char)*from) && *from != '\n')
        from++;
    while (from + length < words->end && from[length] != '\n' && from[length] != '#' && length < sizeof words->text - 1)
        length++;
    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    memcpy(words->text, from, length);
    words->text[length] = 0;
}

struct wt_tokens wt_tokens_begin(const char *text, size_t size)
{
    struct wt_tokens words = {.at = text, .end = text + size, .line = 1};
    note_line(&words);
    return words;
}

static size_t word_length(const struct wt_tokens *words)
{
    const char *at = words->at;
    if (*at == '{' || *at == '}')
        return 1;
    while (at < words->end && !isspace((unsigned char)*at) && !strchr(",{}#", *at))
        at++;
    return (size_t)(at - words->at);
}

const char *wt_tokens_peek(struct wt_tokens *words)
{
    skip_blanks(words);
    if (ends_line(words))
        return NULL;
    size_t length = word_length(words);
    if (length > sizeof words->word - 1)
        length = sizeof words->word - 1;
    for (size_t i = 0; i < length; i++)
        words->word[i] = (char)tolower((unsigned char)words->at[i]);
    words->word[length] = 0;
    return words->word;
}

const char *wt_tokens_take(struct wt_tokens *words)
{
    const char *word = wt_tokens_peek(words);
    if (word)
        words->at += word_length(words);
    return word;
}

bool wt_tokens_accept(struct wt_tokens *words, const char *expected)
{
    size_t length = strlen(expected);
    const char *word = wt_tokens_peek(words);
    if (!word || strncmp(word, expected, length) != 0)
        return false;
    bool in_word = isalnum((unsigned char)expected[length - 1]);
    if (in_word && (isalnum((unsigned char)word[length]) || (word[length] && strchr("_:=.", word[length]))))
        return false;
    words->at += length;
    return true;
}

bool wt_tokens_number(struct wt_tokens *words, double *value)
{
    const char *word = wt_tokens_peek(words);
    if (!word || !(isdigit((unsigned char)*word) || *word == '.'))
        return false;
    char *end;
    *value = strtod(word, &end);
    if (end == word || (*end && !strchr("*/+-", *end)))
        return false;
    words->at += end - word;
    return true;
}

void wt_tokens_skip(struct wt_tokens *words, size_t count)
{
    words->at += count;
}

bool wt_tokens_more(struct wt_tokens *words)
{
    while (!wt_tokens_peek(words)) {
        while (words->at < words->end && *words->at != '\n')
            words->at++;
        if (words->at == words->end)
            return false;
        words->at++;
        words->line++;
        note_line(words);
    }
    return true;
}

/* ---- Mnemonics ---- */

#define PLAIN(word, of) {word, of, 0, 0, true, 0}
#define QUIET(word, of) {word, of, 0, 0, false, 0}
#define ACCESS(word, in, is, result) {word, WT_OP_MEMORY, in, is, result, 0}

static const struct wt_mnemonic mnemonics[] = {
    PLAIN("ffma", WT_OP_FMA), PLAIN("fadd", WT_OP_FMA), PLAIN("fmul", WT_OP_FMA), PLAIN("fma", WT_OP_FMA),
    PLAIN("imad", WT_OP_IMAD), PLAIN("imul", WT_OP_IMAD),
    PLAIN("iadd3", WT_OP_ALU), PLAIN("iadd", WT_OP_ALU), PLAIN("lop3", WT_OP_ALU), PLAIN("isetp", WT_OP_ALU),
    PLAIN("fsetp", WT_OP_ALU), PLAIN("fmnmx", WT_OP_ALU), PLAIN("imnmx", WT_OP_ALU), PLAIN("sel", WT_OP_ALU),
    PLAIN("mov", WT_OP_ALU), PLAIN("shf", WT_OP_ALU), PLAIN("lea", WT_OP_ALU), PLAIN("prmt", WT_OP_ALU),
    PLAIN("alu", WT_OP_ALU),
    PLAIN("hfma2", WT_OP_HALF), PLAIN("hadd2", WT_OP_HALF), PLAIN("hmul2", WT_OP_HALF), PLAIN("half", WT_OP_HALF),
    PLAIN("dfma", WT_OP_FP64), PLAIN("dadd", WT_OP_FP64), PLAIN("dmul", WT_OP_FP64), PLAIN("fp64", WT_OP_FP64),
    PLAIN("mufu", WT_OP_SFU), PLAIN("sfu", WT_OP_SFU),
    PLAIN("i2f", WT_OP_CONVERT), PLAIN("f2i", WT_OP_CONVERT), PLAIN("f2f", WT_OP_CONVERT), PLAIN("popc", WT_OP_CONVERT),
    PLAIN("convert", WT_OP_CONVERT),
    PLAIN("hmma", WT_OP_TENSOR), PLAIN("imma", WT_OP_TENSOR), PLAIN("dmma", WT_OP_TENSOR), PLAIN("tensor", WT_OP_TENSOR),
    PLAIN("uiadd3", WT_OP_UNIFORM), PLAIN("umov", WT_OP_UNIFORM), PLAIN("uldc", WT_OP_UNIFORM),
    PLAIN("uniform", WT_OP_UNIFORM),
    PLAIN("s2r", WT_OP_SPECIAL), PLAIN("special", WT_OP_SPECIAL), PLAIN("cs2r", WT_OP_CLOCK), PLAIN("ldc", WT_OP_CONSTANT),
    PLAIN("shfl", WT_OP_SHUFFLE), PLAIN("vote", WT_OP_VOTE), PLAIN("match", WT_OP_VOTE), PLAIN("redux", WT_OP_VOTE),
    QUIET("bar", WT_OP_BARRIER), QUIET("bssy", WT_OP_CONVERGE), QUIET("bsync", WT_OP_CONVERGE), QUIET("exit", WT_OP_EXIT),
    QUIET("membar", WT_OP_FENCE), QUIET("nanosleep", WT_OP_SLEEP), QUIET("nop", WT_OP_NOP),
    QUIET("ldgdepbar", WT_OP_COMMIT), QUIET("depbar", WT_OP_AWAIT),
    ACCESS("ldg", WT_SPACE_GLOBAL, WT_ACCESS_LOAD, true), ACCESS("stg", WT_SPACE_GLOBAL, WT_ACCESS_STORE, false),
    ACCESS("atomg", WT_SPACE_GLOBAL, WT_ACCESS_ATOMIC, true), ACCESS("red", WT_SPACE_GLOBAL, WT_ACCESS_REDUCE, false),
    ACCESS("ldl", WT_SPACE_LOCAL, WT_ACCESS_LOAD, true), ACCESS("stl", WT_SPACE_LOCAL, WT_ACCESS_STORE, false),
    ACCESS("lds", WT_SPACE_SHARED, WT_ACCESS_LOAD, true), ACCESS("sts", WT_SPACE_SHARED, WT_ACCESS_STORE, false),
    ACCESS("atoms", WT_SPACE_SHARED, WT_ACCESS_ATOMIC, true), ACCESS("stas", WT_SPACE_CLUSTER, WT_ACCESS_STORE, false),
    ACCESS("redas", WT_SPACE_CLUSTER, WT_ACCESS_REDUCE, false), ACCESS("tex", WT_SPACE_TEXTURE, WT_ACCESS_LOAD, true),
    ACCESS("sust", WT_SPACE_TEXTURE, WT_ACCESS_STORE, false), ACCESS("suatom", WT_SPACE_TEXTURE, WT_ACCESS_ATOMIC, true),
    ACCESS("sured", WT_SPACE_TEXTURE, WT_ACCESS_REDUCE, false),
};

enum { MNEMONICS = sizeof mnemonics / sizeof *mnemonics };

static size_t base_length(const char *word)
{
    return strcspn(word, ".");
}

const struct wt_mnemonic *wt_mnemonic_of(const char *word)
{
    size_t length = base_length(word);
    for (size_t i = 0; i < MNEMONICS; i++)
        if (strlen(mnemonics[i].name) == length && !strncmp(mnemonics[i].name, word, length))
            return &mnemonics[i];
    return NULL;
}

static bool has_part(const char *word, const char *part)
{
    size_t length = strlen(part);
    for (const char *dot = strchr(word, '.'); dot; dot = strchr(dot + 1, '.'))
        if (!strncmp(dot + 1, part, length) && (dot[1 + length] == 0 || dot[1 + length] == '.'))
            return true;
    return false;
}

static int width_of(const struct wt_mnemonic *m, const char *word)
{
    if (has_part(word, "128"))
        return 16;
    if (has_part(word, "64") || has_part(word, "wide") || m->op == WT_OP_FP64)
        return 8;
    if (m->op != WT_OP_MEMORY)
        return 4;
    return has_part(word, "u8") || has_part(word, "s8") ? 1 : has_part(word, "u16") || has_part(word, "s16") ? 2 : 4;
}

void wt_text_begin(struct wt_instruction_text *t, const char *word)
{
    t->instruction = wt_instruction_of(t->mnemonic->op);
    t->instruction.interval = t->mnemonic->interval;
    if (t->mnemonic->op == WT_OP_HALF && has_part(word, "mma"))
        t->instruction.interval = 2;
    if (t->mnemonic->op == WT_OP_IMAD && has_part(word, "hi"))
        t->instruction.interval = 4;
    t->instruction.blocks = t->mnemonic->op == WT_OP_IMAD && (has_part(word, "hi") || has_part(word, "wide"));
    if (!strcmp(t->mnemonic->name, "bssy"))
        t->instruction.branch = WT_BRANCH_NEVER;
    t->width = width_of(t->mnemonic, word);
    t->stride = -1;
    t->lanes = 32;
    t->lines = t->sectors = t->bytes = t->ways = t->l1_hit = t->l2_hit = t->dirty = -1;
}

struct wt_access wt_text_access(const struct wt_instruction_text *t)
{
    int stride = t->stride < 0 ? t->width : t->stride;
    struct wt_access access = wt_access_strided(t->mnemonic->space, t->mnemonic->kind, t->width, stride, t->lanes);
    if (t->sectors >= 0)
        access.sectors = (float)t->sectors;
    if (t->lines >= 0)
        access.lines = (float)t->lines;
    else if (t->sectors >= 0)
        access.lines = (float)(t->sectors > 4 ? t->sectors / 4 : 1);
    if (t->bytes >= 0)
        access.bytes = (float)t->bytes;
    if (t->ways >= 0)
        access.wavefronts = (float)t->ways;
    access.l1_hit = (float)t->l1_hit;
    access.l2_hit = (float)t->l2_hit;
    access.footprint_mib = (float)t->footprint_mib;
    access.words = (float)t->words;
    access.dirty = (float)t->dirty;
    access.scattered |= t->scattered;
    return access;
}

/* ---- Keys ---- */

#define SETTER(name, statement)                                                                              \
    static void set_##name(struct wt_instruction_text *t, double value)                                      \
    {                                                                                                        \
        (void)value;                                                                                         \
        statement;                                                                                           \
    }

SETTER(active, t->instruction.active = (float)value)
SETTER(latency, t->instruction.latency = (uint16_t)value)
SETTER(interval, t->instruction.interval = (uint16_t)value)
SETTER(stall, t->instruction.stall = (uint8_t)value; t->gave_stall = true)
SETTER(write, t->instruction.write_board = (uint8_t)value; t->gave_boards = true)
SETTER(read, t->instruction.read_board = (uint8_t)value; t->gave_boards = true)
SETTER(yield, t->instruction.yield = true)
SETTER(blocks, t->instruction.blocks = true)
SETTER(even, t->instruction.reads[0] = (uint8_t)value)
SETTER(odd, t->instruction.reads[1] = (uint8_t)value)
SETTER(groups, t->instruction.index = (uint8_t)value)
SETTER(later, t->instruction.branch = WT_BRANCH_LATER_WARPS)
SETTER(never, t->instruction.branch = WT_BRANCH_NEVER)
SETTER(loop, t->instruction.branch = WT_BRANCH_LOOP; t->instruction.index = (uint8_t)value)
SETTER(skip, t->instruction.branch = WT_BRANCH_SKIP; t->instruction.index = (uint8_t)value)
SETTER(every, t->instruction.branch = WT_BRANCH_EVERY; t->instruction.index = (uint8_t)value)
SETTER(split, t->instruction.branch = WT_BRANCH_SPLIT; t->instruction.index = (uint8_t)value)
SETTER(unite, t->instruction.branch = WT_BRANCH_UNITE; t->instruction.index = (uint8_t)value)

static void set_chance(struct wt_instruction_text *t, double value)
{
    t->instruction.chance = (float)value;
    if (t->instruction.branch == WT_BRANCH_ALWAYS)
        t->instruction.branch = WT_BRANCH_CHANCE;
}

SETTER(drift, t->instruction.drift = (float)value)
SETTER(width, t->width = (int)value)
SETTER(stride, t->stride = (int)value)
SETTER(lanes, t->lanes = (int)value)
SETTER(lines, t->lines = value)
SETTER(sectors, t->sectors = value)
SETTER(bytes, t->bytes = value)
SETTER(ways, t->ways = value)
SETTER(l1, t->l1_hit = value)
SETTER(l2, t->l2_hit = value)
SETTER(footprint, t->footprint_mib = value)
SETTER(words, t->words = value)
SETTER(dirty, t->dirty = value)
SETTER(scattered, t->scattered = true)

static const struct wt_text_key keys[] = {
    {"active", "part of the executions in which a predicated instruction does something", 0, 1, set_active},
    {"latency", "cycles from issue to result; default: the class's", 1, 65535, set_latency},
    {"interval", "cycles its pipe is taken; default: the class's", 1, 65535, set_interval},
    {"stall", "cycles until the next instruction; default: by the registers", 0, 15, set_stall},
    {"wait", "scoreboards it waits for, e.g. 0+2; default: by the registers", 0, 0, NULL, .is_boards = true},
    {"write", "scoreboard of its result; default: by the registers", 0, 5, set_write},
    {"read", "scoreboard of its operands", 0, 5, set_read},
    {"yield", "the scheduler should prefer another warp next", 0, 0, set_yield, .is_flag = true},
    {"blocks", "holds up the dispatcher; default: imad.wide and imad.hi do", 0, 0, set_blocks, .is_flag = true},
    {"even", "operands from even registers, of which one is read each cycle; default: none that counts", 0, 8, set_even},
    {"odd", "likewise from odd ones", 0, 8, set_odd},
    {"groups", "of depbar: it waits for copies of all groups but the latest so many; ldgdepbar ends a group", 0, 255, set_groups},
    {"later-warps", "of bra and exit: all warps of the block but the first", 0, 0, set_later, .is_flag = true, .of_control = true},
    {"never", "of bra, exit and bsync: has no effect", 0, 0, set_never, .is_flag = true, .of_control = true},
    {"chance", "of bra and exit: probability that it is taken; with split: of the second path alone", 0, 1, set_chance,
     .of_control = true},
    {"drift", "with chance: neighbours go alike, by values spread from 0 to 1 that differ by this; 0: each on its own", 0, 1, set_drift,
     .of_control = true},
    {"loop", "of bra: the end of the loop that runs as often as `count` of this number says", 0, WT_MOST_LOOPS - 1, set_loop,
     .of_control = true},
    {"skip", "of bra: in front of that loop, taken where it does not run at all", 0, WT_MOST_LOOPS - 1, set_skip, .of_control = true},
    {"every", "of bra: taken once in as many times as `count` of this number says", 0, WT_MOST_LOOPS - 1, set_every, .of_control = true},
    {"split", "of bra: in front of two paths; `split` of this number says how often both are gone", 0, WT_MOST_SPLITS - 1, set_split,
     .of_control = true},
    {"unite", "of bra: behind the first of those paths", 0, WT_MOST_SPLITS - 1, set_unite, .of_control = true},
    {"width", "bytes per thread; default: by the mnemonic's dots, 4", 1, 16, set_width, true},
    {"stride", "bytes from one thread's address to the next; default: the width", 0, 1 << 20, set_stride, true},
    {"lanes", "threads that take part", 1, 32, set_lanes, true},
    {"lines", "128-byte lines; default: by stride and width", 0, 32, set_lines, true},
    {"sectors", "32-byte sectors; default: by stride and width", 0, 128, set_sectors, true},
    {"bytes", "what the threads ask for; default: by width and lanes", 0, 512, set_bytes, true},
    {"ways", "passes through the banks, or threads that meet in one address", 0, 128, set_ways, true},
    {"l1", "part of the sectors that L1 has; default: none of global memory, all of local", 0, 1, set_l1, true},
    {"l2", "part of the rest that L2 has; default: by the footprint, of atomics all", 0, 1, set_l2, true},
    {"footprint", "MiB that the grid touches this way; default: more than any cache", 0, 1e9, set_footprint, true},
    {"words", "of global atomics: different words that all the grid's threads meet in; default: many", 0, 1e9, set_words, true},
    {"dirty", "of stores: part of the sectors that DRAM gets in the end; default: by the bytes", 0, 1, set_dirty, true},
    {"scattered", "lines lie apart in DRAM; default: from a stride of 128 bytes on", 0, 0, set_scattered, true, true},
};

enum { KEYS = sizeof keys / sizeof *keys };

const struct wt_text_key *wt_text_key(const char *name)
{
    for (size_t i = 0; i < KEYS; i++)
        if (!strcmp(keys[i].name, name))
            return &keys[i];
    return NULL;
}

bool wt_is_flag(const char *word)
{
    const struct wt_text_key *key = wt_text_key(word);
    return key && key->is_flag;
}

bool wt_text_boards(const char *text, uint8_t *mask)
{
    *mask = 0;
    for (;; text++) {
        if (*text < '0' || *text >= '0' + WT_SCOREBOARDS)
            return false;
        *mask |= (uint8_t)(1u << (*text - '0'));
        if (*++text == 0)
            return true;
        if (*text != '+')
            return false;
    }
}

const struct wt_mnemonic *wt_mnemonic_for(enum wt_op op, enum wt_space space, enum wt_access_kind kind)
{
    for (size_t i = 0; i < MNEMONICS; i++)
        if (mnemonics[i].op == op && (op != WT_OP_MEMORY || (mnemonics[i].space == space && mnemonics[i].kind == kind)))
            return &mnemonics[i];
    return NULL;
}

const char *wt_text_nearest_mnemonic(const char *word)
{
    const char *names[MNEMONICS];
    for (size_t i = 0; i < MNEMONICS; i++)
        names[i] = mnemonics[i].name;
    return wt_nearest(word, names, MNEMONICS);
}

const char *wt_text_nearest_key(const char *word)
{
    const char *names[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        names[i] = keys[i].name;
    return wt_nearest(word, names, KEYS);
}

/* ---- Reference ---- */

static const char statements[] =
    "A kernel as each of its warps executes it; a workload names the file: program = \"FILE.wtp\";\n\n"
    "    work 2000                     # a block's `work`, where the launch gives none\n"
    "        ldg r3, [r8] l1=0.9 l2=1  # a load: result in r3, address from r8; part of it hits in L1, the rest in L2\n"
    "    loop work / 16 {\n"
    "        repeat 16 { ffma r10, r10, r3 }\n"
    "        isetp p1, r9\n"
    "    }\n"
    "    if 0.25 both=0.5 { mufu r4, r4 } else { fadd r4, r4 }\n"
    "    first-warp { stg [r8], r10 }\n"
    "        bar\n"
    "        exit\n\n"
    "Each instruction waits for the registers it reads. One statement a line, or several in braces; `#` begins a comment.\n\n"
    "Statements:\n"
    "  work N                        a block's `work` where the launch gives none\n"
    "  loop COUNT [per block] { }    COUNT: N, work, N*work, work/N, each with +N or -N; uniform A B; geometric MEAN\n"
    "  repeat N { }                  written out N times\n"
    "  if P [both=Q] { } [else { }]  the warp takes the first path (P) or, diverged, both (Q)\n"
    "  first-warp { }                only the block's first warp\n"
    "  NAME:                         a label\n"
    "  bra NAME [chance=P [drift=S] | trips=COUNT | later-warps | never]\n"
    "  [@p0] MNEMONIC operands key=value    the first operand is the result; registers r0 to r254, p0 to p6, ur0 to ur62\n"
    "As `wavetail import sass` writes them:\n"
    "  control given                 nothing is worked out from the registers: stall, wait, write and read are as written\n"
    "  count K COUNT [per block]     for `bra NAME loop=K`, `skip=K` and `every=K`; K = 0, 1, ...\n"
    "  split K Q                     for `bra NAME split=K chance=P` and `unite=K`\n";

void wt_text_print_reference(FILE *stream)
{
    fprintf(stream, "%s\nInstructions:\n", statements);
    for (int op = 0; op < WT_OP_COUNT; op++) {
        fprintf(stream, "  %s:%s", wt_classes[op].help, op == WT_OP_BRANCH ? " bra" : "");
        for (size_t i = 0; i < MNEMONICS; i++)
            if ((int)mnemonics[i].op == op)
                fprintf(stream, " %s", mnemonics[i].name);
        fputc('\n', stream);
    }
    fprintf(stream, "\nKeys:\n");
    for (size_t i = 0; i < KEYS; i++)
        fprintf(stream, "  %-12s %s\n", keys[i].name, keys[i].help);
}
