#include "warp/program.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

/* ---- Building ---- */

struct wt_program *wt_program_new(const char *name)
{
    struct wt_program *program = wt_alloc(1, sizeof *program);
    program->name = wt_strdup(name);
    return program;
}

void wt_program_free(struct wt_program *program)
{
    if (!program)
        return;
    for (size_t i = 0; i < program->count; i++)
        free(program->texts[i]);
    free(program->texts);
    free(program->places);
    free(program->instructions);
    free(program->accesses);
    free(program->name);
    free(program);
}

struct wt_instruction wt_instruction_of(enum wt_op op)
{
    return (struct wt_instruction){.op = (uint8_t)op,
                                   .stall = 1,
                                   .write_board = WT_NO_SCOREBOARD,
                                   .read_board = WT_NO_SCOREBOARD,
                                   .active = 1};
}

/* Room for one more element when the count is 0 or a power of two. */
static void *grown(void *block, size_t count, size_t size)
{
    if (count & (count - 1))
        return block;
    size_t capacity = count;
    return wt_grow(block, &capacity, count + 1, size);
}

uint32_t wt_program_add(struct wt_program *program, const struct wt_instruction *instruction, const char *text,
                        uint32_t place)
{
    size_t at = program->count;
    program->instructions = grown(program->instructions, at, sizeof *program->instructions);
    program->texts = grown(program->texts, at, sizeof *program->texts);
    program->places = grown(program->places, at, sizeof *program->places);
    program->instructions[at] = *instruction;
    program->texts[at] = text ? wt_strdup(text) : NULL;
    program->places[at] = place;
    return (uint32_t)program->count++;
}

uint16_t wt_program_add_access(struct wt_program *program, const struct wt_access *access)
{
    size_t at = program->access_count;
    program->accesses = grown(program->accesses, at, sizeof *program->accesses);
    program->accesses[at] = *access;
    program->access_count++;
    return (uint16_t)at;
}

int wt_program_add_loop(struct wt_program *program, const struct wt_count *count)
{
    if (program->loop_count == WT_MOST_LOOPS)
        return -1;
    program->loops[program->loop_count] = *count;
    return (int)program->loop_count++;
}

int wt_program_add_split(struct wt_program *program, const struct wt_split *split)
{
    if (program->split_count == WT_MOST_SPLITS)
        return -1;
    program->splits[program->split_count] = *split;
    return (int)program->split_count++;
}

/* ---- Checking ---- */


static bool is_share(double value)
{
    return value >= 0 && value <= 1;
}

/* What is wrong with it; NULL: nothing. */
static const char *access_fault(const struct wt_access *access)
{
    if (access->space >= WT_SPACE_COUNT || access->kind >= WT_ACCESS_KINDS)
        return "its access is of no known space or kind";
    if (!(access->lines >= 0 && access->lines <= 32 && access->sectors >= 0 && access->sectors <= 128))
        return "a warp touches 0 to 32 lines and 0 to 128 sectors";
    if (!(access->wavefronts >= 0 && access->wavefronts <= 128))
        return "a warp takes 0 to 128 wavefronts";
    if (!(access->l1_hit <= 1 && access->l2_hit <= 1))
        return "a hit rate is at most 1";
    if (!(access->words >= 0 && access->dirty <= 1))
        return "atomics meet in 0 words or more, and at most all that is stored is dirty";
    return NULL;
}

static const char *branch_fault(const struct wt_program *p, size_t at)
{
    const struct wt_instruction *i = &p->instructions[at];
    if (i->branch > WT_BRANCH_UNITE)
        return "there is no such kind of branch";
    if (i->op == WT_OP_BRANCH && i->branch != WT_BRANCH_NEVER && i->target > p->count)
        return "its target lies outside the program";
    bool of_loop = i->branch == WT_BRANCH_LOOP || i->branch == WT_BRANCH_SKIP || i->branch == WT_BRANCH_EVERY;
    if (of_loop && i->index >= p->loop_count)
        return "it belongs to no loop";
    if (i->branch == WT_BRANCH_SKIP && i->target <= at)
        return "what skips a loop must go forward";
    bool of_split = i->branch == WT_BRANCH_SPLIT || i->branch == WT_BRANCH_UNITE;
    if (of_split && (i->index >= p->split_count || i->target <= at))
        return "it belongs to no split, or goes backward";
    if (!is_share(i->chance) || (i->branch == WT_BRANCH_SPLIT && !is_share(i->chance + p->splits[i->index].both)))
        return "probabilities are from 0 to 1";
    if (!is_share(i->drift))
        return "the drift is from 0 to 1";
    if (i->op == WT_OP_BRANCH && i->target <= at &&
        (i->branch == WT_BRANCH_ALWAYS || (i->branch == WT_BRANCH_CHANCE && i->chance > 0.9999999)))
        return "it goes back for ever; give the loop a count";
    return NULL;
}

static const char *instruction_fault(const struct wt_program *p, size_t at)
{
    const struct wt_instruction *i = &p->instructions[at];
    if (i->op >= WT_OP_COUNT)
        return "there is no such class of instructions";
    if (i->stall > 15 || i->wait_boards >= 1 << WT_SCOREBOARDS)
        return "stall is 0 to 15, and there are six scoreboards";
    if ((i->write_board >= WT_SCOREBOARDS && i->write_board != WT_NO_SCOREBOARD) ||
        (i->read_board >= WT_SCOREBOARDS && i->read_board != WT_NO_SCOREBOARD))
        return "there are six scoreboards, 0 to 5";
    if (!is_share(i->active))
        return "the active part is from 0 to 1";
    if (i->op == WT_OP_MEMORY) {
        if (i->access >= p->access_count)
            return "a memory instruction needs an access";
        return access_fault(&p->accesses[i->access]);
    }
    return i->op == WT_OP_BRANCH || i->op == WT_OP_EXIT ? branch_fault(p, at) : NULL;
}

static bool is_count(const struct wt_count *count)
{
    bool finite = isfinite(count->base) && isfinite(count->per_work) && isfinite(count->spread);
    bool in_range = fabs(count->base) <= 1e12 && fabs(count->per_work) <= 1e12 && count->spread >= 0 && count->spread <= 1e9;
    return finite && in_range && (count->draw != WT_DRAW_GEOMETRIC || count->base >= 1);
}

const char *wt_program_fault(const struct wt_program *program, size_t *at)
{
    *at = SIZE_MAX;
    if (program->count == 0 || program->count > WT_MOST_INSTRUCTIONS)
        return "a program has from 1 to 1048576 instructions";
    for (size_t i = 0; i < program->loop_count; i++)
        if (!is_count(&program->loops[i]))
            return "a loop's count is out of range";
    for (*at = 0; *at < program->count; (*at)++) {
        const char *fault = instruction_fault(program, *at);
        if (fault)
            return fault;
    }
    return NULL;
}

enum wt_code wt_program_check(const struct wt_program *program, struct wt_error *err)
{
    size_t at;
    const char *fault = wt_program_fault(program, &at);
    if (!fault)
        return WT_OK;
    if (at >= program->count)
        return wt_fail(err, WT_BAD_INPUT, "%s: %s", program->name, fault);
    const char *text = program->texts[at] ? program->texts[at] : "";
    return wt_fail(err, WT_BAD_INPUT, "%s: instruction %zu (place %u) %s: %s", program->name, at,
                   (unsigned)program->places[at], text, fault);
}

/* ---- Coalescing ---- */

static int distinct(const long *values, int count)
{
    int distinct_count = 0;
    for (int i = 0; i < count; i++) {
        int j = 0;
        while (j < i && values[j] != values[i])
            j++;
        distinct_count += j == i;
    }
    return distinct_count;
}

/* Passes through the 32 banks of one word each: 4-byte accesses go as one group, 8-byte as two halves, 16-byte as four
 * quarters of the warp (CUDA C++ Programming Guide, "Shared Memory"; each group is free of conflicts when its words lie
 * in different banks or are the same word). */
static int bank_passes(int width, int stride, int lanes)
{
    int group = width <= 4 ? 32 : 128 / width, passes = 0;
    for (int first = 0; first < lanes; first += group) {
        int per_bank[32] = {0}, worst = 0;
        long words[32];
        int count = 0;
        for (int lane = first; lane < first + group && lane < lanes; lane++)
            for (int byte = 0; byte < (width < 4 ? 4 : width) && count < 32; byte += 4)
                words[count++] = ((long)lane * stride + byte) / 4;
        for (int i = 0; i < count; i++) {
            int j = 0;
            while (j < i && words[j] != words[i])
                j++;
            if (j == i && ++per_bank[words[i] % 32] > worst)
                worst = per_bank[words[i] % 32];
        }
        passes += worst;
    }
    return passes;
}

struct wt_access wt_access_strided(enum wt_space space, enum wt_access_kind kind, int width_bytes, int stride_bytes,
                                   int lanes)
{
    long lines[128], sectors[128];
    int count = 0;
    for (int lane = 0; lane < lanes; lane++)
        for (int byte = 0; byte < width_bytes && count < 128; byte += 4) {
            long address = (long)lane * stride_bytes + byte;
            lines[count] = address / 128;
            sectors[count++] = address / 32;
        }
    bool banked = space == WT_SPACE_SHARED || space == WT_SPACE_CLUSTER;
    return (struct wt_access){.space = (uint8_t)space,
                              .kind = (uint8_t)kind,
                              .width_bytes = (uint8_t)width_bytes,
                              .lines = banked ? 0 : (float)distinct(lines, count),
                              .sectors = banked ? 0 : (float)distinct(sectors, count),
                              .bytes = banked ? 0 : (float)(lanes * width_bytes),
                              .wavefronts = banked ? (float)bank_passes(width_bytes, stride_bytes, lanes) : 1,
                              .l1_hit = -1,
                              .l2_hit = -1,
                              .dirty = -1,
                              .scattered = !banked && stride_bytes >= 128};
}
