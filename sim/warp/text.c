#include "warp/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "warp/assemble.h"
#include "warp/text_words.h"

enum { MOST_DEPTH = 32, MOST_NAME = 64 };

/* A branch whose label may still come. */
struct jump {
    char label[MOST_NAME];
    uint32_t instruction;
    long line;
};

struct label {
    char name[MOST_NAME];
    uint32_t at;
    long line;
};

struct parser {
    const char *path;
    struct wt_tokens words; /* of the line being read, or what is left of it */
    struct wt_program *program;
    struct wt_operands *operands; /* one per instruction */
    size_t operand_capacity;
    struct jump *jumps;
    size_t jump_count, jump_capacity;
    struct label *labels;
    size_t label_count, label_capacity;
    int depth;
    long repeats; /* so far */
    bool control_given;
    struct wt_error *err;
};

static enum wt_code fail(const struct parser *p, const char *what, const char *word)
{
    return wt_fail_at(p->err, p->path, p->words.line, what, word);
}

/* ---- Emitting ---- */

static enum wt_code emit(struct parser *p, const struct wt_instruction *i, const struct wt_operands *operands, uint32_t *at)
{
    if (p->program->count >= WT_MOST_INSTRUCTIONS)
        return fail(p, "the program is too long%s; write loops instead of repeats", "");
    *at = wt_program_add(p->program, i, p->words.text, (uint32_t)p->words.line);
    p->operands = wt_grow(p->operands, &p->operand_capacity, p->program->count, sizeof *p->operands);
    p->operands[*at] = *operands;
    return WT_OK;
}

static const struct wt_operands no_operands = {.destination = -1};

static enum wt_code emit_branch(struct parser *p, enum wt_branch kind, int index, double chance, uint32_t *at)
{
    struct wt_instruction i = wt_instruction_of(WT_OP_BRANCH);
    i.branch = (uint8_t)kind;
    i.index = (uint8_t)index;
    i.chance = (float)chance;
    return emit(p, &i, &no_operands, at);
}

static enum wt_code emit_converge(struct parser *p, bool waits)
{
    struct wt_instruction i = wt_instruction_of(WT_OP_CONVERGE);
    uint32_t at;
    i.branch = waits ? WT_BRANCH_ALWAYS : WT_BRANCH_NEVER;
    return emit(p, &i, &no_operands, &at);
}

static void come_here(struct parser *p, uint32_t branch)
{
    p->program->instructions[branch].target = (uint32_t)p->program->count;
}

/* ---- Numbers and counts ---- */

static enum wt_code number(struct parser *p, const char *word, double low, double high, double *out)
{
    char *end;
    errno = 0;
    double value = strtod(word, &end);
    if (end == word || *end || errno == ERANGE || !(value >= low && value <= high))
        return wt_fail_at(p->err, p->path, p->words.line, "'%s' is not a number from %g to %g", word, low, high);
    *out = value;
    return WT_OK;
}

static enum wt_code next_number(struct parser *p, double low, double high, double *out)
{
    if (!wt_tokens_number(&p->words, out)) {
        const char *word = wt_tokens_peek(&p->words);
        return fail(p, "a number is expected instead of '%s'", word ? word : "the line's end");
    }
    if (!(*out >= low && *out <= high))
        return wt_fail_at(p->err, p->path, p->words.line, "%g is not from %g to %g", *out, low, high);
    return WT_OK;
}

/* N, work, N * work, work / N. */
static enum wt_code read_term(struct parser *p, struct wt_count *count)
{
    double value = 1;
    if (!wt_tokens_accept(&p->words, "work")) {
        WT_TRY(next_number(p, 0, 1e12, &value));
        if (!wt_tokens_accept(&p->words, "*")) {
            count->base = value;
            return WT_OK;
        }
        if (!wt_tokens_accept(&p->words, "work"))
            return fail(p, "only `work` can be multiplied%s; write e.g. 4 * work", "");
    }
    count->per_work = value;
    if (wt_tokens_accept(&p->words, "/")) {
        WT_TRY(next_number(p, 1e-9, 1e12, &value));
        count->per_work /= value;
    }
    return WT_OK;
}

static enum wt_code read_count(struct parser *p, struct wt_count *count)
{
    double value;
    *count = (struct wt_count){.draw = WT_DRAW_FIXED};
    if (wt_tokens_accept(&p->words, "uniform")) {
        count->draw = WT_DRAW_UNIFORM;
        WT_TRY(next_number(p, 0, 1e9, &count->base));
        WT_TRY(next_number(p, count->base, 1e9, &value));
        count->spread = value - count->base;
    } else if (wt_tokens_accept(&p->words, "geometric")) {
        count->draw = WT_DRAW_GEOMETRIC;
        WT_TRY(next_number(p, 1, 1e9, &count->base));
    } else {
        WT_TRY(read_term(p, count));
        bool minus = wt_tokens_accept(&p->words, "-");
        if (minus || wt_tokens_accept(&p->words, "+")) {
            WT_TRY(next_number(p, 0, 1e12, &value));
            count->base += minus ? -value : value;
        }
    }
    if (wt_tokens_accept(&p->words, "per")) {
        if (!wt_tokens_accept(&p->words, "block"))
            return fail(p, "write `per block`%s", "");
        count->per_block = true;
    }
    return WT_OK;
}

static enum wt_code new_loop(struct parser *p, const struct wt_count *count, int *index)
{
    *index = wt_program_add_loop(p->program, count);
    return *index < 0 ? fail(p, "too many loops%s; a program has at most 32", "") : WT_OK;
}

/* ---- Instructions ---- */

/* The register a word names, with its number of words; -1: none. */
static int register_of(const char *word)
{
    int offset = 0, most = 254;
    const char *digits = word + 1;
    if (*word == 'p') {
        offset = WT_FIRST_PREDICATE;
        most = 6;
    } else if (*word == 'u' && word[1] == 'r') {
        offset = WT_FIRST_UNIFORM;
        most = 62;
        digits = word + 2;
    } else if (*word != 'r') {
        return -1;
    }
    if (!isdigit((unsigned char)*digits))
        return -1;
    char *end;
    long value = strtol(digits, &end, 10);
    return *end || value > most ? -1 : offset + (int)value;
}

/* Words like "[r8+4]", "-r3", "r5.reuse", "!p0": the register inside, or -1. */
static int register_in(const char *word)
{
    char bare[MOST_NAME];
    size_t length = 0;
    while (*word && strchr("[-!~|+", *word))
        word++;
    while (isalnum((unsigned char)word[length]) && length < sizeof bare - 1) {
        bare[length] = word[length];
        length++;
    }
    bare[length] = 0;
    return register_of(bare);
}

static void add_source(struct wt_operands *o, int r)
{
    if (r >= 0 && o->source_count < WT_MOST_SOURCES)
        o->sources[o->source_count++] = r;
}

static void read_operands(struct parser *p, const struct wt_mnemonic *m, int wide, struct wt_operands *o)
{
    bool first = m->has_result;
    for (const char *word = wt_tokens_peek(&p->words); word && !strchr(word, '=') && *word != '}' && !wt_is_flag(word);
         word = wt_tokens_peek(&p->words)) {
        int r = register_in(wt_tokens_take(&p->words));
        if (first && r >= 0) {
            o->destination = r;
            o->destination_count = r < WT_FIRST_PREDICATE ? wide : 1;
        } else {
            add_source(o, r);
        }
        first = false;
    }
}

/* A key's value goes where its row says. */
static enum wt_code read_key(struct parser *p, const char *word, struct wt_instruction_text *t)
{
    char name[MOST_NAME];
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const struct wt_text_key *key = wt_text_key(name);
    if (!key) {
        const char *nearest = wt_text_nearest_key(name);
        if (nearest)
            return wt_fail_at(p->err, p->path, p->words.line, "no key '%s'; did you mean '%s'?", name, nearest);
        return fail(p, "no key '%s'; --help lists them", name);
    }
    if (key->of_memory && t->mnemonic->op != WT_OP_MEMORY)
        return fail(p, "'%s' is of memory instructions only", name);
    enum wt_op op = t->mnemonic->op;
    if (key->of_control && op != WT_OP_BRANCH && op != WT_OP_EXIT && op != WT_OP_CONVERGE)
        return fail(p, "'%s' is of branches only", name);
    double value = 1;
    if (key->is_flag != !equals)
        return fail(p, key->is_flag ? "'%s' takes no value" : "'%s' needs a value", name);
    t->gave_boards |= key->is_boards;
    if (key->is_boards)
        return wt_text_boards(equals + 1, &t->instruction.wait_boards) ? WT_OK : fail(p, "'%s': write e.g. wait=0+2", word);
    if (equals)
        WT_TRY(number(p, equals + 1, key->low, key->high, &value));
    key->set(t, value);
    return WT_OK;
}

static enum wt_code read_keys(struct parser *p, struct wt_instruction_text *t)
{
    for (const char *word = wt_tokens_peek(&p->words); word && *word != '}'; word = wt_tokens_peek(&p->words))
        WT_TRY(read_key(p, wt_tokens_take(&p->words), t));
    return WT_OK;
}

/* "@p0", "@!p0": the register, or -1. */
static enum wt_code read_guard(struct parser *p, struct wt_operands *o)
{
    const char *word = wt_tokens_peek(&p->words);
    if (!word || *word != '@')
        return WT_OK;
    int r = register_in(wt_tokens_take(&p->words) + 1);
    if (r < WT_FIRST_PREDICATE)
        return fail(p, "after @ comes a predicate%s, e.g. @p0", "");
    add_source(o, r);
    return WT_OK;
}

static enum wt_code unknown_mnemonic(const struct parser *p, const char *word)
{
    const char *nearest = wt_text_nearest_mnemonic(word);
    if (nearest)
        return wt_fail_at(p->err, p->path, p->words.line, "no instruction '%s'; did you mean '%s'?", word, nearest);
    return fail(p, "no instruction '%s'; --help lists them", word);
}

static enum wt_code read_bra(struct parser *p, const struct wt_operands *operands);

static enum wt_code read_instruction(struct parser *p)
{
    struct wt_instruction_text t = {.operands = no_operands};
    uint32_t at;
    WT_TRY(read_guard(p, &t.operands));
    if (wt_tokens_accept(&p->words, "bra"))
        return read_bra(p, &t.operands);
    const char *word = wt_tokens_take(&p->words);
    if (!word)
        return fail(p, "an instruction is missing%s", "");
    t.mnemonic = wt_mnemonic_of(word);
    if (!t.mnemonic)
        return unknown_mnemonic(p, word);
    wt_text_begin(&t, word);
    read_operands(p, t.mnemonic, t.width / 4 > 1 ? t.width / 4 : 1, &t.operands);
    WT_TRY(read_keys(p, &t));
    t.operands.own_stall = t.gave_stall;
    t.operands.own_boards = t.gave_boards;
    if (t.mnemonic->op == WT_OP_MEMORY) {
        if (p->program->access_count >= WT_MOST_ACCESSES)
            return fail(p, "too many memory instructions%s", "");
        struct wt_access access = wt_text_access(&t);
        t.instruction.access = wt_program_add_access(p->program, &access);
    }
    return emit(p, &t.instruction, &t.operands, &at);
}

/* ---- Branches by label ---- */

static const struct wt_mnemonic bra = {.name = "bra", .op = WT_OP_BRANCH};

static enum wt_code read_trips(struct parser *p, struct wt_instruction *i)
{
    struct wt_count count;
    int index;
    wt_tokens_skip(&p->words, strlen("trips="));
    WT_TRY(read_count(p, &count));
    WT_TRY(new_loop(p, &count, &index));
    i->branch = WT_BRANCH_LOOP;
    i->index = (uint8_t)index;
    return WT_OK;
}

static enum wt_code read_bra(struct parser *p, const struct wt_operands *operands)
{
    struct jump jump = {.line = p->words.line};
    struct wt_instruction_text t = {.mnemonic = &bra, .instruction = wt_instruction_of(WT_OP_BRANCH), .operands = *operands};
    const char *label = wt_tokens_take(&p->words);
    if (!label)
        return fail(p, "bra needs a label%s", "");
    snprintf(jump.label, sizeof jump.label, "%s", label);
    for (const char *word = wt_tokens_peek(&p->words); word && *word != '}'; word = wt_tokens_peek(&p->words)) {
        if (!strncmp(word, "trips=", 6))
            WT_TRY(read_trips(p, &t.instruction));
        else
            WT_TRY(read_key(p, wt_tokens_take(&p->words), &t));
    }
    t.operands.own_stall = t.gave_stall;
    t.operands.own_boards = t.gave_boards;
    WT_TRY(emit(p, &t.instruction, &t.operands, &jump.instruction));
    p->jumps = wt_grow(p->jumps, &p->jump_capacity, p->jump_count + 1, sizeof *p->jumps);
    p->jumps[p->jump_count++] = jump;
    return WT_OK;
}

static enum wt_code read_label(struct parser *p)
{
    struct label label = {.at = (uint32_t)p->program->count, .line = p->words.line};
    const char *word = wt_tokens_take(&p->words);
    snprintf(label.name, sizeof label.name, "%.*s", (int)strlen(word) - 1, word);
    if (p->label_count == WT_MOST_INSTRUCTIONS)
        return fail(p, "too many labels%s", "");
    p->labels = wt_grow(p->labels, &p->label_capacity, p->label_count + 1, sizeof *p->labels);
    p->labels[p->label_count++] = label;
    return WT_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int is_named(const void *name, const void *label)
{
    return strcmp(name, ((const struct label *)label)->name);
}

static enum wt_code join_labels(struct parser *p)
{
    if (p->label_count > 0)
        qsort(p->labels, p->label_count, sizeof *p->labels, by_name);
    for (size_t i = 1; i < p->label_count; i++)
        if (!strcmp(p->labels[i].name, p->labels[i - 1].name))
            return wt_fail_at(p->err, p->path, p->labels[i].line, "the label '%s' stands twice; labels do not go into a repeat",
                              p->labels[i].name);
    for (size_t i = 0; i < p->jump_count; i++) {
        const struct jump *jump = &p->jumps[i];
        const struct label *label =
            p->label_count ? bsearch(jump->label, p->labels, p->label_count, sizeof *p->labels, is_named) : NULL;
        if (!label)
            return wt_fail_at(p->err, p->path, jump->line, "no label '%s'", jump->label);
        p->program->instructions[jump->instruction].target = label->at;
    }
    return WT_OK;
}

/* ---- Declarations ---- */

/* `control given`, `count K COUNT`, `split K Q`. */
static enum wt_code read_control(struct parser *p)
{
    if (!wt_tokens_accept(&p->words, "given"))
        return fail(p, "write `control given`%s", "");
    p->control_given = true;
    return WT_OK;
}

static enum wt_code read_number_of(struct parser *p, size_t expected)
{
    double number;
    WT_TRY(next_number(p, 0, 1e6, &number));
    if (number != (double)expected)
        return wt_fail_at(p->err, p->path, p->words.line, "number %g where %zu comes next; they count from 0", number, expected);
    return WT_OK;
}

static enum wt_code declare_count(struct parser *p)
{
    struct wt_count count;
    int index;
    WT_TRY(read_number_of(p, p->program->loop_count));
    WT_TRY(read_count(p, &count));
    return new_loop(p, &count, &index);
}

static enum wt_code declare_split(struct parser *p)
{
    double both;
    WT_TRY(read_number_of(p, p->program->split_count));
    WT_TRY(next_number(p, 0, 1, &both));
    if (wt_program_add_split(p->program, &(struct wt_split){(float)both}) < 0)
        return fail(p, "too many splits%s; a program has at most 32", "");
    return WT_OK;
}

/* ---- Blocks ---- */

static enum wt_code read_block(struct parser *p);

static enum wt_code expect(struct parser *p, const char *word)
{
    if (!wt_tokens_more(&p->words) || !wt_tokens_accept(&p->words, word))
        return fail(p, "'%s' is missing", word);
    return WT_OK;
}

static enum wt_code read_loop(struct parser *p)
{
    struct wt_count count;
    int index;
    uint32_t skip, back;
    WT_TRY(read_count(p, &count));
    WT_TRY(new_loop(p, &count, &index));
    WT_TRY(expect(p, "{"));
    WT_TRY(emit_branch(p, WT_BRANCH_SKIP, index, 0, &skip));
    WT_TRY(read_block(p));
    WT_TRY(emit_branch(p, WT_BRANCH_LOOP, index, 0, &back));
    p->program->instructions[back].target = skip + 1;
    come_here(p, skip);
    return WT_OK;
}

static enum wt_code read_repeat(struct parser *p)
{
    double times;
    WT_TRY(next_number(p, 1, WT_MOST_INSTRUCTIONS, &times));
    WT_TRY(expect(p, "{"));
    struct wt_tokens begin = p->words;
    for (int i = 0; i < (int)times; i++) {
        if (++p->repeats > WT_MOST_INSTRUCTIONS)
            return fail(p, "too many repeats%s; write loops", "");
        p->words = begin;
        WT_TRY(read_block(p));
    }
    return WT_OK;
}

static enum wt_code read_if(struct parser *p)
{
    double first, both = 0;
    uint32_t split, unite;
    WT_TRY(next_number(p, 0, 1, &first));
    const char *word = wt_tokens_peek(&p->words);
    if (word && !strncmp(word, "both=", 5))
        WT_TRY(number(p, wt_tokens_take(&p->words) + 5, 0, 1 - first, &both));
    struct wt_split of = {(float)both};
    int index = wt_program_add_split(p->program, &of);
    if (index < 0)
        return fail(p, "too many ifs%s; a program has at most 32", "");
    WT_TRY(expect(p, "{"));
    if (both > 0)
        WT_TRY(emit_converge(p, false));
    double chance = 1 - first - both;
    WT_TRY(emit_branch(p, WT_BRANCH_SPLIT, index, chance > 0 ? chance : 0, &split));
    WT_TRY(read_block(p));
    struct wt_tokens behind = p->words;
    if (wt_tokens_more(&p->words) && wt_tokens_accept(&p->words, "else")) {
        WT_TRY(expect(p, "{"));
        WT_TRY(emit_branch(p, WT_BRANCH_UNITE, index, 0, &unite));
        come_here(p, split);
        WT_TRY(read_block(p));
        come_here(p, unite);
    } else {
        p->words = behind;
        come_here(p, split);
    }
    return both > 0 ? emit_converge(p, true) : WT_OK;
}

static enum wt_code read_first_warp(struct parser *p)
{
    uint32_t over;
    WT_TRY(expect(p, "{"));
    WT_TRY(emit_branch(p, WT_BRANCH_LATER_WARPS, 0, 0, &over));
    WT_TRY(read_block(p));
    come_here(p, over);
    return WT_OK;
}

static enum wt_code read_statement(struct parser *p)
{
    const char *word = wt_tokens_peek(&p->words);
    if (wt_tokens_accept(&p->words, "loop"))
        return read_loop(p);
    if (wt_tokens_accept(&p->words, "repeat"))
        return read_repeat(p);
    if (wt_tokens_accept(&p->words, "if"))
        return read_if(p);
    if (wt_tokens_accept(&p->words, "first-warp"))
        return read_first_warp(p);
    if (wt_tokens_accept(&p->words, "work"))
        return next_number(p, 0, 1e12, &p->program->work);
    if (wt_tokens_accept(&p->words, "control"))
        return read_control(p);
    if (wt_tokens_accept(&p->words, "count"))
        return declare_count(p);
    if (wt_tokens_accept(&p->words, "split"))
        return declare_split(p);
    if (word[strlen(word) - 1] == ':')
        return read_label(p);
    return read_instruction(p);
}

/* What follows a statement on its line: nothing, or the end of the block. */
static enum wt_code end_statement(struct parser *p)
{
    const char *word = wt_tokens_peek(&p->words);
    return word && strcmp(word, "}") ? fail(p, "'%s' is not expected here; one statement a line", word) : WT_OK;
}

/* Up to the closing brace. */
static enum wt_code read_block(struct parser *p)
{
    if (++p->depth > MOST_DEPTH)
        return fail(p, "blocks are nested too deeply%s", "");
    for (;;) {
        if (!wt_tokens_more(&p->words))
            return fail(p, "'%s' is missing at the end of the file", "}");
        if (wt_tokens_accept(&p->words, "}"))
            break;
        WT_TRY(read_statement(p));
        WT_TRY(end_statement(p));
    }
    p->depth--;
    return WT_OK;
}

static enum wt_code check_program(const struct parser *p)
{
    const struct wt_program *program = p->program;
    size_t at;
    const char *fault = wt_program_fault(program, &at);
    if (!fault)
        return WT_OK;
    if (at >= program->count)
        return wt_fail_at(p->err, p->path, 0, "%s", fault);
    return wt_fail_at(p->err, p->path, program->places[at], "'%s': %s", program->texts[at], fault);
}

static enum wt_code read_program(struct parser *p)
{
    while (wt_tokens_more(&p->words)) {
        if (!strcmp(wt_tokens_peek(&p->words), "}"))
            return fail(p, "'%s' closes nothing", "}");
        WT_TRY(read_statement(p));
        const char *word = wt_tokens_peek(&p->words);
        if (word && !strcmp(word, "}"))
            return fail(p, "'%s' closes nothing", "}");
        WT_TRY(end_statement(p));
    }
    WT_TRY(join_labels(p));
    if (!p->control_given)
        wt_assemble(p->program, p->operands);
    return check_program(p);
}

/* ---- Files ---- */

/* The file's name without folder and what follows the last dot. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return wt_format("%.*s", (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name)), name);
}

enum wt_code wt_text_parse(const char *text, size_t size, const char *path, struct wt_program **out, struct wt_error *err)
{
    *out = NULL;
    if (size > WT_TEXT_MOST_BYTES || memchr(text, 0, size))
        return wt_fail_at(err, path, 0, "is not a program: it is too large or holds NUL bytes");
    char *name = name_of(path);
    struct parser p = {.path = path, .words = wt_tokens_begin(text, size), .program = wt_program_new(name), .err = err};
    enum wt_code code = read_program(&p);
    free(name);
    free(p.operands);
    free(p.jumps);
    free(p.labels);
    if (code == WT_OK)
        *out = p.program;
    else
        wt_program_free(p.program);
    return code;
}

enum wt_code wt_text_read(const char *path, struct wt_program **out, struct wt_error *err)
{
    *out = NULL;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return wt_fail_at(err, path, 0, "cannot be opened (%s); check the name", strerror(errno));
    char *text = NULL;
    size_t capacity = 0, size = 0, got;
    do {
        text = wt_grow(text, &capacity, size + 65536, 1);
        got = fread(text + size, 1, 65536, stream);
        size += got;
    } while (got > 0 && size <= WT_TEXT_MOST_BYTES);
    bool broken = ferror(stream);
    fclose(stream);
    enum wt_code code = broken ? wt_fail_at(err, path, 0, "cannot be read; is it a file?")
                               : wt_text_parse(text, size, path, out, err);
    free(text);
    return code;
}
