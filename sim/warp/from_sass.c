#include "warp/from_sass.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "warp/flow.h"
#include "warp/opcodes.h"
#include "warp/operands.h"

enum { MOST_DEPTH = 4 }; /* of calls within calls */

#define MOST_TRIPS 1e9

/* Jumps back that are always taken: loops left in their middle, returns. wt_program_check refuses what never ends. */
static const float almost_always = 0.9999998f;

/* What becomes of one branch. */
struct decision {
    enum wt_branch branch;
    float chance, drift;
    int index;     /* of the loop or split */
    bool leaves;   /* a loop's exit in its middle: taken means staying, and a jump out is put behind it */
    bool parts;    /* the end of the first of two paths: the part of the warp that went it waits for the other, at a BSYNC of its own */
    bool decided;
};

struct builder {
    const struct wt_sass_setup *setup;
    const struct wt_sass_function *function;
    struct wt_flows flows;
    struct decision *decisions; /* by instruction */
    uint32_t *places;           /* by instruction: index in the program of the copy being made */
    struct wt_program *program;
    struct wt_sass_report *report;
    struct wt_reuse reuse; /* of the copy being made */
};

static const struct wt_sass_instruction *at(const struct builder *b, size_t index)
{
    return &b->function->instructions[index];
}

static bool is(const struct builder *b, size_t index, const char *opcode)
{
    return !strcmp(at(b, index)->opcode, opcode);
}

static int warps_per_block(const struct builder *b)
{
    return (b->setup->threads_per_block + 31) / 32;
}

/* ---- Loops ---- */

static bool has_barrier(const struct builder *b, size_t first, size_t last)
{
    for (size_t i = first; i <= last; i++)
        if (is(b, i, "BAR"))
            return true;
    return false;
}

static const struct wt_trip *trip_at(const struct builder *b, size_t index)
{
    for (size_t i = 0; i < b->setup->trip_count; i++)
        if (b->setup->trips[i].address == at(b, index)->address)
            return &b->setup->trips[i];
    return NULL;
}

/* A loop over [first, last] whose body runs `mean` times; -1 when there are too many loops. */
static int add_loop(struct builder *b, size_t branch, size_t first, size_t last, double mean)
{
    const struct wt_trip *trip = trip_at(b, branch);
    struct wt_count count = trip ? trip->count : (struct wt_count){.draw = WT_DRAW_FIXED, .base = mean};
    count.per_block = has_barrier(b, first, last);
    return wt_program_add_loop(b->program, &count);
}

/* How often warps leave [first, last] other than through its end. */
static double leave_early(const struct builder *b, size_t first, size_t last)
{
    double left = 0;
    for (size_t i = first; i < last; i++) {
        double executed = wt_flow_executed(&b->flows, i);
        if (!is(b, i, "BRA") || executed <= 0)
            continue;
        long target = wt_flow_target(&b->flows, i);
        if (target < (long)first || target > (long)last)
            left += executed * (1 - wt_flow_of(&b->flows, i).falls);
    }
    return left;
}

static struct decision by_chance(double chance, double drift)
{
    if (chance <= 1e-9)
        return (struct decision){.branch = WT_BRANCH_NEVER, .decided = true};
    float in_range = chance < 1 ? (float)chance : 1;
    return (struct decision){.branch = WT_BRANCH_CHANCE, .chance = in_range, .drift = (float)drift, .decided = true};
}

/* How often a loop is meant to run whose end is reached `executed` times, `ends` of them the last, and which is left before `early`
 * times: a part of the warps, the same each round, does not see the end. */
static double planned(double executed, double ends, double early)
{
    if (early <= 1e-6 * ends)
        return executed / ends;
    return log(ends / (ends + early)) / log(1 - early / (executed + early));
}

/* A branch back. */
static struct decision repeat(struct builder *b, size_t index, size_t target)
{
    struct wt_flow flow = wt_flow_of(&b->flows, index);
    bool told = trip_at(b, index) != NULL;
    if (!wt_flow_conditional(at(b, index)))
        return by_chance(almost_always, 0);
    if (!flow.known && !told) {
        b->report->assumed_loops++;
        return (struct decision){.branch = WT_BRANCH_NEVER, .decided = true};
    }
    double again = flow.taken < almost_always ? flow.taken : almost_always;
    double executed = wt_flow_executed(&b->flows, index), ends = executed * (1 - again), early = leave_early(b, target, index);
    if (!told && (again <= 0 || early > ends))
        return by_chance(again, flow.drift);
    int loop = add_loop(b, index, target, index, planned(executed, ends, early));
    if (loop < 0)
        return by_chance(again, flow.drift);
    return (struct decision){.branch = WT_BRANCH_LOOP, .index = loop, .decided = true};
}

/* The jump back, behind `index`, of the innermost loop around it that this branch leaves; or -1. */
static long loop_left(const struct builder *b, size_t index, size_t target)
{
    for (size_t i = index + 1; i < target; i++) {
        long first = wt_flow_target(&b->flows, i);
        if (is(b, i, "BRA") && !wt_flow_conditional(at(b, i)) && first >= 0 && first <= (long)index &&
            wt_flow_executed(&b->flows, i) > 0)
            return (long)i;
    }
    return -1;
}

static struct decision leave(struct builder *b, size_t index, size_t last, double taken)
{
    size_t first = (size_t)wt_flow_target(&b->flows, last);
    int loop = taken > 0 && taken < 1 ? add_loop(b, index, first, last, 1 / taken) : -1;
    if (loop < 0)
        return by_chance(taken, 0);
    return (struct decision){.branch = WT_BRANCH_LOOP, .index = loop, .leaves = true, .decided = true};
}

/* ---- Forward branches ---- */

/* One in 2 … 32: the part of the warps that a block's first one is, in blocks of a whole number of warps. */
static bool is_one_of_a_block(double part)
{
    double warps = part > 0 ? 1 / part : 0;
    return warps > 1.5 && warps < 32.5 && fabs(warps - round(warps)) < 0.02 * warps;
}

/* More than once by each warp. */
static bool is_repeated(const struct builder *b, size_t index)
{
    return wt_flow_executed(&b->flows, index) >= 2 * wt_flow_executed(&b->flows, 0);
}

/* `if (threadIdx.x == 0)`, `if (threadIdx.x < 32)`: one warp of each block goes on. A single thread tells it also where the
 * counts are those of another block size. In a loop, and where no barrier lets the others wait for the first, it is as likely one
 * round in so many. */
static bool only_first_warp(const struct builder *b, size_t index, double falls)
{
    int warps = warps_per_block(b);
    if (warps > 1 && fabs(falls * warps - 1) < 0.02 && !(is_repeated(b, index) && !has_barrier(b, 0, b->function->count - 1)))
        return true;
    const struct wt_ncu_row *next = b->setup->source && index + 1 < b->function->count ? &b->setup->source->rows[index + 1] : NULL;
    return next && next->executed > 0 && next->threads == next->executed && is_one_of_a_block(falls);
}

/* The jump over the second path, where the first one lies between the branch and its target. */
static bool unites(const struct builder *b, size_t index, size_t target)
{
    long end = (long)target - 1;
    return end > (long)index && is(b, (size_t)end, "BRA") && !wt_flow_conditional(at(b, (size_t)end)) &&
           wt_flow_target(&b->flows, (size_t)end) > end && !b->decisions[end].decided;
}

/* Whole warps go one way or the other, again and again: as `i % 16 == 0` makes them, at even intervals. */
static struct decision evenly(struct builder *b, size_t index, size_t target, double taken)
{
    bool mostly = taken > 0.5;
    int loop = add_loop(b, index, index, target - 1, 1 / (mostly ? 1 - taken : taken));
    if (loop < 0)
        return by_chance(taken, 0);
    return (struct decision){.branch = mostly ? WT_BRANCH_LOOP : WT_BRANCH_EVERY, .index = loop, .decided = true};
}

static struct decision fork(struct builder *b, size_t index, size_t target, struct wt_flow flow)
{
    double taken = 1 - flow.falls;
    if (flow.both <= 1e-9 && taken > 1e-9 && taken < 1 && is_repeated(b, index))
        return evenly(b, index, target, taken);
    struct wt_split split = {.both = flow.both};
    int number = flow.both > 1e-6 ? wt_program_add_split(b->program, &split) : -1;
    if (number < 0)
        return by_chance(taken, flow.drift);
    if (unites(b, index, target))
        b->decisions[target - 1] = (struct decision){.branch = WT_BRANCH_UNITE, .index = number, .parts = true, .decided = true};
    struct decision split_here = {.branch = WT_BRANCH_SPLIT, .index = number, .decided = true};
    split_here.chance = (float)taken;
    split_here.drift = (float)flow.drift;
    return split_here;
}

static struct decision forward(struct builder *b, size_t index, size_t target)
{
    struct wt_flow flow = wt_flow_of(&b->flows, index);
    if (!wt_flow_conditional(at(b, index)))
        return (struct decision){.branch = WT_BRANCH_ALWAYS, .decided = true};
    long last = loop_left(b, index, target);
    if (trip_at(b, index) && last >= 0)
        return leave(b, index, (size_t)last, 0.5);
    if (!flow.known) {
        b->report->assumed_branches++;
        return by_chance(0, 0);
    }
    if (last >= 0 && flow.both < 1e-6)
        return leave(b, index, (size_t)last, flow.taken);
    if (only_first_warp(b, index, flow.falls) && last < 0)
        return (struct decision){.branch = WT_BRANCH_LATER_WARPS, .decided = true};
    return fork(b, index, target, flow);
}

static struct decision decide_exit(struct builder *b, size_t index)
{
    struct wt_flow flow = wt_flow_of(&b->flows, index);
    if (!flow.known)
        b->report->assumed_branches++;
    if (!wt_flow_conditional(at(b, index)))
        return (struct decision){.branch = WT_BRANCH_ALWAYS, .decided = true};
    if (only_first_warp(b, index, flow.falls))
        return (struct decision){.branch = WT_BRANCH_LATER_WARPS, .decided = true};
    return by_chance(1 - flow.falls, flow.drift);
}

static struct decision decide(struct builder *b, size_t index)
{
    if (is(b, index, "EXIT") || is(b, index, "KILL"))
        return decide_exit(b, index);
    long target = wt_flow_target(&b->flows, index);
    if (target < 0 || !(is(b, index, "BRA") || is(b, index, "JMP")))
        return (struct decision){.branch = WT_BRANCH_NEVER, .decided = true};
    return target <= (long)index ? repeat(b, index, (size_t)target) : forward(b, index, (size_t)target);
}

static void decide_all(struct builder *b)
{
    for (size_t i = 0; i < b->function->count; i++) {
        bool known;
        enum wt_op op = wt_opcode_class(at(b, i), &known);
        if ((op == WT_OP_BRANCH || op == WT_OP_EXIT) && !b->decisions[i].decided)
            b->decisions[i] = decide(b, i);
    }
}

/* ---- Instructions ---- */

static void count_unknown(struct wt_sass_report *report, const char *name, enum wt_op op)
{
    report->unknown_count++;
    for (int i = 0; i < report->unknown_names; i++)
        if (!strcmp(report->unknown[i].name, name)) {
            report->unknown[i].count++;
            return;
        }
    if (report->unknown_names == WT_UNKNOWN_OPCODES)
        return;
    memcpy(report->unknown[report->unknown_names].name, name, strlen(name) + 1);
    report->unknown[report->unknown_names].count = 1;
    report->unknown[report->unknown_names++].op = op;
}

/* Part of the executions in which a thread is predicated on: exact where all are or none is; where only some are, they are
 * taken to be spread over the warps as thinly as can be. */
static double active_part(const struct builder *b, size_t index)
{
    if (!b->setup->source || !at(b, index)->guarded)
        return 1;
    const struct wt_ncu_row *counts = &b->setup->source->rows[index];
    if (counts->executed <= 0 || counts->threads_on >= counts->executed)
        return 1;
    return counts->threads_on / counts->executed;
}

static double clamped(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Words at random addresses spread over the banks: most of `words` balls in one of 32 urns, on average. */
static double most_in_a_bank(double words)
{
    return words <= 1 ? 1 : 1 + 2.5 * pow(words / 32, 0.6);
}

/* Threads that meet in a word: those that have one sector for themselves are taken to have one word, others to be spread. */
static double meeting(double threads, double sectors)
{
    return sectors < 1.01 ? threads : threads / (8 * sectors);
}

static void measure_access(const struct wt_ncu_row *counts, double active, struct wt_access *access)
{
    double executions = counts->executed * active;
    if (executions <= 0)
        return;
    if (counts->tags > 0 && counts->sectors > 0) {
        access->lines = (float)clamped(counts->tags / executions, 1, 32);
        access->sectors = (float)clamped(counts->sectors / executions, access->lines, 128);
        access->bytes = (float)clamped(counts->threads_on / executions * access->width_bytes, 1, 512);
    }
    if (counts->wavefronts > 0)
        access->wavefronts = (float)clamped(counts->wavefronts / executions, 1, 128);
    else if (access->kind >= WT_ACCESS_ATOMIC && access->space == WT_SPACE_GLOBAL)
        access->wavefronts = (float)clamped(meeting(counts->threads_on / executions, (double)access->sectors), 1, 32);
    if (access->kind == WT_ACCESS_LOAD && access->space == WT_SPACE_GLOBAL && wt_ncu_is_random(counts))
        access->wavefronts = (float)most_in_a_bank(counts->threads_on / executions);
    access->scattered = wt_ncu_is_scattered((double)access->lines, (double)access->sectors);
}

/* A word that a whole warp reads is one that its block's other warps read, too. */
static const float shared_word_l2_hit = 0.9f;

static void set_hits(const struct wt_hit_rates *hits, const struct wt_ncu_row *counts, struct wt_access *access)
{
    if (access->kind != WT_ACCESS_LOAD) {
        access->l2_hit = (float)(access->kind == WT_ACCESS_STORE ? hits->store : hits->atomic);
        access->dirty = (float)hits->dirty;
        if (access->kind != WT_ACCESS_STORE && hits->slice_bytes > 0)
            access->words = (float)(hits->slice_bytes / access->width_bytes);
        if (access->kind != WT_ACCESS_STORE && hits->meet > 0)
            access->wavefronts = (float)clamped(hits->meet, 1, 32);
        return;
    }
    bool random = counts && wt_ncu_is_random(counts);
    double l2 = counts && wt_ncu_touches_parts(counts, access->width_bytes) ? hits->l2_part : hits->l2;
    access->l1_hit = (float)(random ? hits->l1_random : hits->l1);
    access->l2_hit = l2 >= 0 ? (float)l2 : access->sectors <= 1 ? shared_word_l2_hit : 0;
}

/* What the user says goes before the counters. */
static void set_words(const struct builder *b, size_t index, struct wt_access *access)
{
    for (size_t i = 0; i < b->setup->words_count; i++)
        if (b->setup->words[i].address == at(b, index)->address)
            access->words = (float)b->setup->words[i].words;
}

static uint16_t add_access(struct builder *b, size_t index, double active)
{
    const struct wt_opcode *opcode = wt_opcode_find(at(b, index)->opcode);
    int width = wt_opcode_width(at(b, index));
    struct wt_access access = wt_access_strided(opcode->space, opcode->kind, width, width, 32);
    if (b->setup->source)
        measure_access(&b->setup->source->rows[index], active, &access);
    if (access.space == WT_SPACE_GLOBAL)
        set_hits(&b->setup->hits, b->setup->source ? &b->setup->source->rows[index] : NULL, &access);
    set_words(b, index, &access);
    return wt_program_add_access(b->program, &access);
}

/* "DEPBAR.LE SB0, 0x1"; any other form waits for scoreboards alone. */
static uint8_t groups_left(const char *text)
{
    const char *comma = strchr(text, ',');
    unsigned long left = comma && !strncmp(text, "DEPBAR.LE", 9) ? strtoul(comma + 1, NULL, 0) : UINT8_MAX;
    return left < UINT8_MAX ? (uint8_t)left : UINT8_MAX;
}

static struct wt_instruction translate(struct builder *b, size_t index)
{
    const struct wt_sass_instruction *from = at(b, index);
    bool known;
    struct wt_instruction to = wt_instruction_of(wt_opcode_class(from, &known));
    if (!known)
        count_unknown(b->report, from->opcode, (enum wt_op)to.op);
    to.stall = from->control.stall;
    to.yield = from->control.yield;
    to.write_board = from->control.write_board < WT_SCOREBOARDS ? from->control.write_board : WT_NO_SCOREBOARD;
    to.read_board = from->control.read_board < WT_SCOREBOARDS ? from->control.read_board : WT_NO_SCOREBOARD;
    to.wait_boards = from->control.wait_boards;
    if (to.op == WT_OP_CONVERGE)
        to.branch = is(b, index, "BSYNC") || is(b, index, "WARPSYNC") ? WT_BRANCH_ALWAYS : WT_BRANCH_NEVER;
    if (to.op != WT_OP_BRANCH && to.op != WT_OP_EXIT)
        to.active = (float)active_part(b, index);
    if (to.op == WT_OP_BARRIER && (wt_sass_has(from, "ARV") || to.active < 0.5f))
        to.op = WT_OP_NOP;
    if (to.op == WT_OP_AWAIT)
        to.index = groups_left(from->text);
    if (to.op == WT_OP_IMAD && wt_sass_has(from, "HI"))
        to.interval = 4;
    to.blocks = to.op == WT_OP_IMAD && (wt_sass_has(from, "HI") || wt_sass_has(from, "WIDE"));
    if (to.op == WT_OP_MEMORY)
        to.access = add_access(b, index, to.active);
    uint8_t reads[2];
    wt_reuse_reads(&b->reuse, from, reads);
    if (to.op < WT_OP_FP64)
        memcpy(to.reads, reads, sizeof reads);
    return to;
}

/* ---- Copies: the kernel, and a callee for each call ---- */

struct copy {
    size_t first, end;  /* instructions [first, end) */
    uint32_t returns;   /* index in the program */
    int depth;          /* 0: the kernel itself */
};

static enum wt_code make_copy(struct builder *b, struct copy copy, struct wt_error *err);

/* Where the callee ends: at the next function that is called, or the padding. */
static size_t end_of_callee(const struct builder *b, size_t first)
{
    size_t end = b->function->count;
    for (size_t i = 0; i < b->function->count; i++) {
        long target = is(b, i, "CALL") ? wt_flow_target(&b->flows, i) : -1;
        if (target > (long)first && target < (long)end)
            end = (size_t)target;
    }
    return end;
}

/* A branch right before it jumps over it: where the compiler has arithmetic's rare cases done, say. */
static bool is_jumped_over(const struct builder *b, size_t index)
{
    enum { CLOSE = 6 };
    for (size_t i = index > CLOSE ? index - CLOSE : 0; i < index; i++)
        if (is(b, i, "BRA") && wt_flow_conditional(at(b, i)) && wt_flow_target(&b->flows, i) > (long)index)
            return true;
    return false;
}

static bool is_called(const struct builder *b, size_t index, const struct copy *copy)
{
    return is(b, index, "CALL") && wt_flow_target(&b->flows, index) >= 0 && copy->depth < MOST_DEPTH &&
           wt_flow_executed(&b->flows, index) > 0 && (b->setup->source || !is_jumped_over(b, index));
}

static size_t length_of(const struct builder *b, size_t index)
{
    return b->decisions[index].leaves || b->decisions[index].parts ? 2 : 1;
}

static uint32_t place_of(const struct builder *b, const struct copy *copy, long target)
{
    if (target < (long)copy->first || target >= (long)copy->end)
        return copy->depth ? copy->returns : (uint32_t)b->program->count;
    return b->places[target];
}

static void aim(struct builder *b, const struct copy *copy, size_t index, struct wt_instruction *to)
{
    const struct decision *decision = &b->decisions[index];
    to->branch = (uint8_t)decision->branch;
    to->chance = decision->chance;
    to->drift = decision->drift;
    to->index = (uint8_t)decision->index;
    if (is(b, index, "RET") && copy->depth) {
        to->branch = WT_BRANCH_CHANCE, to->chance = almost_always;
        to->target = copy->returns;
    } else if (to->op == WT_OP_BRANCH && decision->branch != WT_BRANCH_NEVER) {
        long target = wt_flow_target(&b->flows, index);
        to->target = decision->leaves ? b->places[index] + 2 : place_of(b, copy, target);
        if (target == (long)index)
            *to = wt_instruction_of(WT_OP_EXIT);
    }
}

static void add_one(struct builder *b, const struct copy *copy, size_t index)
{
    const struct wt_sass_instruction *from = at(b, index);
    struct wt_instruction to = translate(b, index);
    if (to.op == WT_OP_BRANCH || to.op == WT_OP_EXIT)
        aim(b, copy, index, &to);
    wt_program_add(b->program, &to, from->text, from->address);
    if (b->decisions[index].parts) {
        struct wt_instruction part = wt_instruction_of(WT_OP_CONVERGE);
        part.branch = WT_BRANCH_NEVER;
        part.stall = 5;
        wt_program_add(b->program, &part, NULL, from->address);
    }
    if (!b->decisions[index].leaves)
        return;
    struct wt_instruction out = wt_instruction_of(WT_OP_BRANCH);
    out.branch = WT_BRANCH_ALWAYS;
    out.target = place_of(b, copy, wt_flow_target(&b->flows, index));
    wt_program_add(b->program, &out, NULL, from->address);
}

static void lay_out(struct builder *b, const struct copy *copy)
{
    size_t place = b->program->count;
    for (size_t i = copy->first; i < copy->end; i++) {
        b->places[i] = (uint32_t)place;
        place += length_of(b, i);
    }
}

/* The callees of [copy->first, copy->end), behind it; and the calls aimed at them. */
static enum wt_code add_callees(struct builder *b, const struct copy *copy, const uint32_t *places, struct wt_error *err)
{
    for (size_t i = copy->first; i < copy->end; i++) {
        if (!is_called(b, i, copy))
            continue;
        struct wt_instruction *call = &b->program->instructions[places[i - copy->first]];
        size_t first = (size_t)wt_flow_target(&b->flows, i);
        call->branch = WT_BRANCH_ALWAYS;
        call->target = (uint32_t)b->program->count;
        struct copy callee = {first, end_of_callee(b, first), places[i - copy->first] + 1, copy->depth + 1};
        WT_TRY(make_copy(b, callee, err));
    }
    return WT_OK;
}

static enum wt_code make_copy(struct builder *b, struct copy copy, struct wt_error *err)
{
    if (b->program->count + 2 * (copy.end - copy.first) > WT_MOST_INSTRUCTIONS || b->program->access_count > WT_MOST_ACCESSES / 2)
        return wt_fail_at(err, b->setup->path, b->function->line, "'%s' is too large with all its calls: at most %d instructions",
                          b->function->name, WT_MOST_INSTRUCTIONS);
    lay_out(b, &copy);
    b->reuse = wt_reuse_begin();
    for (size_t i = copy.first; i < copy.end; i++)
        add_one(b, &copy, i);
    size_t count = copy.end - copy.first;
    uint32_t *places = wt_alloc(count, sizeof *places);
    memcpy(places, b->places + copy.first, count * sizeof *places);
    enum wt_code code = add_callees(b, &copy, places, err);
    free(places);
    return code;
}

/* ---- All of it ---- */

static enum wt_code check_setup(const struct wt_sass_setup *setup, struct wt_error *err)
{
    const struct wt_sass_function *function = setup->function;
    if (setup->source && setup->source->count != function->count)
        return wt_fail_at(err, setup->path, function->line,
                          "'%s' has %zu instructions, the source page %zu; give the SASS of the binary that was profiled",
                          function->name, function->count, setup->source->count);
    for (size_t i = 0; i < setup->trip_count; i++) {
        long index = wt_sass_at(function, setup->trips[i].address);
        if (index < 0 || strcmp(function->instructions[index].opcode, "BRA"))
            return wt_fail(err, WT_BAD_INPUT, "--trip 0x%x: there is no branch at that address in '%s'; the loop's BRA is meant",
                           (unsigned)setup->trips[i].address, function->name);
    }
    for (size_t i = 0; i < setup->words_count; i++) {
        long index = wt_sass_at(function, setup->words[i].address);
        const struct wt_opcode *opcode = index < 0 ? NULL : wt_opcode_find(function->instructions[index].opcode);
        if (!opcode || opcode->op != WT_OP_MEMORY || opcode->space != WT_SPACE_GLOBAL || opcode->kind < WT_ACCESS_ATOMIC)
            return wt_fail(err, WT_BAD_INPUT,
                           "--atomic-words 0x%x: there is no global atomic at that address in '%s'; its RED or ATOM is meant",
                           (unsigned)setup->words[i].address, function->name);
    }
    return WT_OK;
}

static void count_executed(const struct wt_sass_setup *setup, struct wt_sass_report *report)
{
    if (!setup->source)
        return;
    report->warps = setup->source->rows[0].executed;
    for (size_t i = 0; i < setup->source->count; i++)
        report->executed += setup->source->rows[i].executed;
}

static enum wt_code build(struct builder *b, struct wt_error *err)
{
    decide_all(b);
    WT_TRY(make_copy(b, (struct copy){0, b->function->count, 0, 0}, err));
    size_t index;
    const char *fault = wt_program_fault(b->program, &index);
    if (!fault)
        return WT_OK;
    long place = index < b->program->count ? wt_sass_at(b->function, b->program->places[index]) : -1;
    long line = place < 0 ? b->function->line : b->function->instructions[place].line;
    return wt_fail_at(err, b->setup->path, line, "cannot be run: %s", fault);
}

enum wt_code wt_program_from_sass(const struct wt_sass_setup *setup, struct wt_program **out,
                                  struct wt_sass_report *report, struct wt_error *err)
{
    *out = NULL;
    *report = (struct wt_sass_report){0};
    WT_TRY(check_setup(setup, err));
    struct builder b = {.setup = setup, .function = setup->function, .report = report};
    b.flows = wt_flows_begin(setup);
    b.decisions = wt_alloc(b.function->count, sizeof *b.decisions);
    b.places = wt_alloc(b.function->count, sizeof *b.places);
    b.program = wt_program_new(b.function->name);
    count_executed(setup, report);
    enum wt_code code = build(&b, err);
    if (code == WT_OK)
        *out = b.program;
    else
        wt_program_free(b.program);
    wt_flows_end(&b.flows);
    free(b.decisions);
    free(b.places);
    return code;
}

/* Terms of a sum: 4, work, 2*work. */
static bool parse_sum(const char *text, struct wt_count *count)
{
    for (const char *term = text;; term++) {
        double factor = 1;
        char *rest = (char *)term;
        bool number = isdigit((unsigned char)*term);
        if (number)
            factor = strtod(term, &rest);
        const char *word = number && *rest == '*' ? rest + 1 : rest;
        bool of_work = !strncmp(word, "work", 4) && (!number || word != rest);
        if (of_work)
            rest = (char *)word + 4;
        if (!number && !of_work)
            return false;
        *(of_work ? &count->per_work : &count->base) += factor;
        if (*rest != '+')
            return !*rest && count->base <= MOST_TRIPS && count->per_work <= MOST_TRIPS;
        term = rest;
    }
}

static bool parse_mean(const char *text, struct wt_count *count)
{
    char *rest;
    count->draw = WT_DRAW_GEOMETRIC;
    count->base = isdigit((unsigned char)*text) ? strtod(text, &rest) : 0;
    return count->base >= 1 && count->base <= MOST_TRIPS && !*rest;
}

static bool parse_range(const char *text, const char *dots, struct wt_count *count)
{
    char *end, *rest;
    if (!isdigit((unsigned char)*text) || !isdigit((unsigned char)dots[2]))
        return false;
    count->draw = WT_DRAW_UNIFORM;
    count->base = (double)strtoul(text, &end, 10);
    count->spread = (double)strtoul(dots + 2, &rest, 10) - count->base;
    return end == dots && !*rest && count->spread >= 0 && count->base + count->spread <= MOST_TRIPS;
}

bool wt_trip_parse(const char *text, struct wt_trip *trip)
{
    char *rest;
    unsigned long address = strtoul(text, &rest, 16);
    *trip = (struct wt_trip){.address = (uint32_t)address};
    if (rest == text || *rest != '=' || address >= UINT32_MAX)
        return false;
    const char *count = rest + 1, *dots = strstr(count, "..");
    if (dots)
        return parse_range(count, dots, &trip->count);
    return *count == '~' ? parse_mean(count + 1, &trip->count) : parse_sum(count, &trip->count);
}

bool wt_atomic_words_parse(const char *text, struct wt_atomic_words *words)
{
    char *rest, *end;
    unsigned long address = strtoul(text, &rest, 16);
    if (rest == text || *rest != '=' || address >= UINT32_MAX)
        return false;
    *words = (struct wt_atomic_words){(uint32_t)address, strtod(rest + 1, &end)};
    return end != rest + 1 && !*end && words->words >= 1 && words->words <= 1e9;
}
