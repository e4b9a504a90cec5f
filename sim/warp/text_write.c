#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "warp/text.h"
#include "warp/text_words.h"

struct writer {
    const struct wt_program *program;
    FILE *stream;
    bool has_addresses;
    bool *is_target; /* by instruction, and the end */
};

/* ---- Loops and splits ---- */

static void write_count(FILE *stream, const struct wt_count *count)
{
    if (count->draw == WT_DRAW_UNIFORM)
        fprintf(stream, "uniform %.17g %.17g", count->base, count->base + count->spread);
    else if (count->draw == WT_DRAW_GEOMETRIC)
        fprintf(stream, "geometric %.17g", count->base);
    else if (count->per_work != 0 && count->base != 0)
        fprintf(stream, "%.17g * work %c %.17g", count->per_work, count->base < 0 ? '-' : '+',
                count->base < 0 ? -count->base : count->base);
    else if (count->per_work != 0)
        fprintf(stream, "%.17g * work", count->per_work);
    else
        fprintf(stream, "%.17g", count->base);
    fputs(count->per_block ? " per block\n" : "\n", stream);
}

static void write_declarations(const struct writer *w)
{
    const struct wt_program *program = w->program;
    fprintf(w->stream, "control given\nwork %.17g\n", program->work);
    for (size_t i = 0; i < program->loop_count; i++) {
        fprintf(w->stream, "count %zu ", i);
        write_count(w->stream, &program->loops[i]);
    }
    for (size_t i = 0; i < program->split_count; i++)
        fprintf(w->stream, "split %zu %.9g\n", i, (double)program->splits[i].both);
}

/* ---- Instructions ---- */

static void write_control(FILE *stream, const struct wt_instruction *i)
{
    fprintf(stream, " stall=%d", i->stall);
    if (i->wait_boards)
        fputs(" wait=", stream);
    for (int board = 0, first = 1; board < WT_SCOREBOARDS; board++)
        if (i->wait_boards >> board & 1) {
            fprintf(stream, "%s%d", first ? "" : "+", board);
            first = 0;
        }
    if (i->write_board < WT_SCOREBOARDS)
        fprintf(stream, " write=%d", i->write_board);
    if (i->read_board < WT_SCOREBOARDS)
        fprintf(stream, " read=%d", i->read_board);
    if (i->yield)
        fputs(" yield", stream);
    if (i->blocks)
        fputs(" blocks", stream);
    if (i->op == WT_OP_AWAIT)
        fprintf(stream, " groups=%d", i->index);
    if (i->reads[0] > 0)
        fprintf(stream, " even=%d", i->reads[0]);
    if (i->reads[1] > 0)
        fprintf(stream, " odd=%d", i->reads[1]);
    if (i->active < 1)
        fprintf(stream, " active=%.9g", (double)i->active);
    if (i->latency)
        fprintf(stream, " latency=%d", i->latency);
    if (i->interval)
        fprintf(stream, " interval=%d", i->interval);
}

static void write_access(FILE *stream, const struct wt_access *access)
{
    fprintf(stream, " width=%d lines=%.9g sectors=%.9g ways=%.9g", access->width_bytes, (double)access->lines,
            (double)access->sectors, (double)access->wavefronts);
    if (access->sectors > 0)
        fprintf(stream, " bytes=%.9g", (double)access->bytes);
    if (access->l1_hit >= 0)
        fprintf(stream, " l1=%.9g", (double)access->l1_hit);
    if (access->l2_hit >= 0)
        fprintf(stream, " l2=%.9g", (double)access->l2_hit);
    if (access->footprint_mib > 0)
        fprintf(stream, " footprint=%.9g", (double)access->footprint_mib);
    if (access->words > 0)
        fprintf(stream, " words=%.9g", (double)access->words);
    if (access->dirty >= 0)
        fprintf(stream, " dirty=%.9g", (double)access->dirty);
    if (access->scattered)
        fputs(" scattered", stream);
}

static void write_chance(FILE *stream, const struct wt_instruction *i)
{
    fprintf(stream, " chance=%.9g", (double)i->chance);
    if (i->drift > 0)
        fprintf(stream, " drift=%.9g", (double)i->drift);
}

/* Where it goes, of a branch or EXIT. */
static void write_way(FILE *stream, const struct wt_instruction *i)
{
    static const char *const indexed[] = {[WT_BRANCH_LOOP] = "loop", [WT_BRANCH_SKIP] = "skip", [WT_BRANCH_EVERY] = "every",
                                          [WT_BRANCH_SPLIT] = "split",
                                          [WT_BRANCH_UNITE] = "unite"};
    switch ((enum wt_branch)i->branch) {
    case WT_BRANCH_ALWAYS:
        break;
    case WT_BRANCH_NEVER:
        fputs(" never", stream);
        break;
    case WT_BRANCH_LATER_WARPS:
        fputs(" later-warps", stream);
        break;
    case WT_BRANCH_CHANCE:
        write_chance(stream, i);
        break;
    default:
        fprintf(stream, " %s=%d", indexed[i->branch], i->index);
        if (i->branch == WT_BRANCH_SPLIT)
            write_chance(stream, i);
    }
}

/* That of its text where the language has it for the same thing, else the class's first. */
static const char *mnemonic_of(const struct writer *w, size_t at, const struct wt_access *access)
{
    const struct wt_instruction *i = &w->program->instructions[at];
    const char *text = w->program->texts[at] ? w->program->texts[at] : "";
    char word[16] = "";
    for (size_t k = 0; isalnum((unsigned char)text[k]) && k < sizeof word - 1; k++)
        word[k] = (char)tolower((unsigned char)text[k]);
    const struct wt_mnemonic *own = wt_mnemonic_of(word);
    bool same = own && own->op == i->op && !own->interval &&
                (i->op != WT_OP_MEMORY || (own->space == access->space && own->kind == access->kind));
    if (!same)
        own = wt_mnemonic_for((enum wt_op)i->op, (enum wt_space)access->space, (enum wt_access_kind)access->kind);
    return own->name;
}

static void write_name(const struct writer *w, size_t at)
{
    const struct wt_instruction *i = &w->program->instructions[at];
    const struct wt_access none = {0}, *access = i->op == WT_OP_MEMORY ? &w->program->accesses[i->access] : &none;
    if (i->op == WT_OP_BRANCH)
        fprintf(w->stream, "    bra l%" PRIu32, i->target);
    else if (i->op == WT_OP_CONVERGE)
        fputs(i->branch == WT_BRANCH_NEVER ? "    bssy" : "    bsync", w->stream);
    else
        fprintf(w->stream, "    %s", mnemonic_of(w, at, access));
    if (i->op == WT_OP_MEMORY)
        write_access(w->stream, access);
    if (i->op == WT_OP_BRANCH || i->op == WT_OP_EXIT)
        write_way(w->stream, i);
}

static void write_instruction(const struct writer *w, size_t at)
{
    const struct wt_program *program = w->program;
    if (w->is_target[at])
        fprintf(w->stream, "l%zu:\n", at);
    write_name(w, at);
    write_control(w->stream, &program->instructions[at]);
    if (program->texts[at] && w->has_addresses)
        fprintf(w->stream, "  # %04" PRIx32 " %s", program->places[at], program->texts[at]);
    else if (program->texts[at])
        fprintf(w->stream, "  # %s", program->texts[at]);
    fputc('\n', w->stream);
}

void wt_text_write(const struct wt_program *program, bool has_addresses, FILE *stream)
{
    struct writer w = {program, stream, has_addresses, wt_alloc(program->count + 1, sizeof(bool))};
    for (size_t i = 0; i < program->count; i++)
        if (program->instructions[i].op == WT_OP_BRANCH && program->instructions[i].target <= program->count)
            w.is_target[program->instructions[i].target] = true;
    write_declarations(&w);
    for (size_t i = 0; i < program->count; i++)
        write_instruction(&w, i);
    if (w.is_target[program->count])
        fprintf(stream, "l%zu:\n", program->count);
    free(w.is_target);
}
