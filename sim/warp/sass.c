#include "warp/sass.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct reader {
    const char *path;
    struct wt_sass *sass;
    bool half; /* the last instruction's upper half is still to come */
};

/* ---- Words of a line ---- */

struct span {
    const char *at, *end;
};

static struct span trimmed(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    return (struct span){at, end};
}

static bool skip(struct span *text, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length))
        return false;
    *text = trimmed(text->at + length, text->end);
    return true;
}

static const char *find(struct span text, const char *word)
{
    return memmem(text.at, (size_t)(text.end - text.at), word, strlen(word));
}

/* Hexadecimal digits, at least one and at most 16. */
static bool hex(struct span *text, uint64_t *value)
{
    int digits = 0;
    for (*value = 0; text->at < text->end && isxdigit((unsigned char)*text->at); text->at++, digits++)
        *value = *value << 4 | (uint64_t)(isdigit((unsigned char)*text->at) ? *text->at - '0' : (*text->at | 32) - 'a' + 10);
    return digits > 0 && digits <= 16;
}

/* The 64 bits of the comment that ends the line. */
static bool encoding(struct span text, uint64_t *bits)
{
    return skip(&text, "/*") && skip(&text, "0x") && hex(&text, bits) && trimmed(text.at, text.end).end - text.at >= 2;
}

/* ---- Instructions ---- */

static struct wt_sass_control control_of(uint64_t upper)
{
    return (struct wt_sass_control){.stall = upper >> 41 & 15,
                                    .yield = !(upper >> 45 & 1),
                                    .write_board = upper >> 46 & 7,
                                    .read_board = upper >> 49 & 7,
                                    .wait_boards = upper >> 52 & 63,
                                    .reuse = upper >> 58 & 15};
}

static uint32_t target_in(struct span text)
{
    uint32_t target = WT_SASS_NO_TARGET;
    for (const char *at; (at = find(text, "0x")); ) {
        uint64_t value;
        text.at = at + 2;
        if (hex(&text, &value) && value < WT_SASS_NO_TARGET)
            target = (uint32_t)value;
    }
    return target;
}

static bool jumps(const char *opcode)
{
    static const char *const names[] = {"BRA", "CALL", "JMP", "BSSY", "BRX", "RET"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(opcode, names[i]))
            return true;
    return false;
}

static void take_guard(struct span *text, struct wt_sass_instruction *out)
{
    if (text->at == text->end || *text->at != '@')
        return;
    const char *at = text->at;
    while (at < text->end && !isspace((unsigned char)*at))
        at++;
    out->guarded = at[-1] != 'T';
    *text = trimmed(at, text->end);
}

static bool take_text(struct span text, struct wt_sass_instruction *out)
{
    skip(&text, "{");
    take_guard(&text, out);
    size_t length = 0;
    while (text.at + length < text.end && (isalnum((unsigned char)text.at[length]) || text.at[length] == '_'))
        length++;
    if (length == 0 || length >= sizeof out->opcode)
        return false;
    memcpy(out->opcode, text.at, length);
    out->target = jumps(out->opcode) ? target_in(text) : WT_SASS_NO_TARGET;
    out->text = wt_format("%.*s", (int)(text.end - text.at), text.at);
    return true;
}

static enum wt_code add_instruction(struct reader *reader, const struct wt_line *line, struct span text, struct wt_error *err)
{
    uint64_t address, lower;
    const char *end = find(text, ";");
    if (!hex(&text, &address) || !skip(&text, "*/") || !end)
        return wt_fail_at(err, reader->path, line->number, "is no instruction; give the output of cuobjdump -sass as it is");
    if (!encoding(trimmed(end + 1, text.end), &lower))
        return wt_fail_at(err, reader->path, line->number,
                          "lacks the encoding behind the instruction; give the output of cuobjdump -sass, not of nvdisasm");
    if (reader->sass->count == 0)
        return wt_fail_at(err, reader->path, line->number, "is an instruction before any 'Function :' line; the start is missing");
    struct wt_sass_function *function = &reader->sass->functions[reader->sass->count - 1];
    if (address != function->count * WT_SASS_BYTES)
        return wt_fail_at(err, reader->path, line->number,
                          "is address 0x%" PRIx64 ", where 0x%zx comes next; lines are missing, or the code is older than "
                          "compute capability 7.0", address, function->count * WT_SASS_BYTES);
    if (function->count >= WT_SASS_MOST)
        return wt_fail_at(err, reader->path, line->number, "is one instruction too many: at most %d", WT_SASS_MOST);
    struct wt_sass_instruction instruction = {.address = (uint32_t)address, .line = line->number};
    if (!take_text(trimmed(text.at, end), &instruction))
        return wt_fail_at(err, reader->path, line->number, "has no opcode of at most 15 letters; the line is damaged");
    function->instructions =
        wt_grow(function->instructions, &function->capacity, function->count + 1, sizeof *function->instructions);
    function->instructions[function->count++] = instruction;
    reader->half = true;
    return WT_OK;
}

static enum wt_code add_upper(struct reader *reader, const struct wt_line *line, struct span text, struct wt_error *err)
{
    uint64_t upper;
    if (!encoding(text, &upper))
        return wt_fail_at(err, reader->path, line->number,
                          "should be the upper half of the instruction's encoding, as in /* 0x000fe20000000800 */; "
                          "copy the file again");
    struct wt_sass_function *function = &reader->sass->functions[reader->sass->count - 1];
    function->instructions[function->count - 1].control = control_of(upper);
    reader->half = false;
    return WT_OK;
}

/* ---- Lines ---- */

static void add_function(struct reader *reader, const struct wt_line *line, struct span name)
{
    struct wt_sass *sass = reader->sass;
    sass->functions = wt_grow(sass->functions, &sass->capacity, sass->count + 1, sizeof *sass->functions);
    sass->functions[sass->count++] = (struct wt_sass_function){
        .name = wt_format("%.*s", (int)(name.end - name.at), name.at), .line = line->number};
}

static enum wt_code take_architecture(struct reader *reader, const struct wt_line *line, struct span text, struct wt_error *err)
{
    int architecture = 0;
    for (; text.at < text.end && isdigit((unsigned char)*text.at) && architecture < 1000; text.at++)
        architecture = architecture * 10 + *text.at - '0';
    if (architecture < 70)
        return wt_fail_at(err, reader->path, line->number,
                          "is for sm_%d; code for 7.0 and later can be read: compile with -arch=sm_75 or later", architecture);
    reader->sass->architecture = architecture;
    return WT_OK;
}

static enum wt_code take_line(struct reader *reader, const struct wt_line *line, struct wt_error *err)
{
    struct span text = trimmed(line->text, line->text + line->length);
    if (reader->half)
        return add_upper(reader, line, text, err);
    if (skip(&text, "Function :"))
        add_function(reader, line, text);
    else if (skip(&text, "code for sm_"))
        return take_architecture(reader, line, text, err);
    else if (skip(&text, "/*"))
        return add_instruction(reader, line, text, err);
    return WT_OK;
}

static enum wt_code read_lines(struct reader *reader, struct wt_lines *lines, struct wt_error *err)
{
    struct wt_line line = {0};
    for (bool more = true;;) {
        WT_TRY(wt_lines_next(lines, &line, &more, err));
        if (!more)
            break;
        WT_TRY(take_line(reader, &line, err));
    }
    if (reader->half)
        return wt_fail_at(err, reader->path, line.number, "ends in the middle of an instruction; the file is cut off");
    for (size_t i = 0; i < reader->sass->count; i++)
        if (reader->sass->functions[i].count > 0)
            return WT_OK;
    return wt_fail_at(err, reader->path, 0, "has no function with instructions; give the output of cuobjdump -sass");
}

static enum wt_code read_all(const char *path, struct wt_lines *lines, struct wt_sass **out, struct wt_error *err)
{
    struct reader reader = {.path = path, .sass = wt_alloc(1, sizeof *reader.sass)};
    enum wt_code code = read_lines(&reader, lines, err);
    wt_lines_close(lines);
    if (code == WT_OK)
        *out = reader.sass;
    else
        wt_sass_free(reader.sass);
    return code;
}

enum wt_code wt_sass_read(const char *path, struct wt_sass **out, struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open(path, &lines, err));
    return read_all(path, lines, out, err);
}

enum wt_code wt_sass_read_memory(const char *name, const void *data, size_t size, struct wt_sass **out,
                                 struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open_memory(name, data, size, &lines, err));
    return read_all(name, lines, out, err);
}

void wt_sass_free(struct wt_sass *sass)
{
    if (!sass)
        return;
    for (size_t i = 0; i < sass->count; i++) {
        struct wt_sass_function *function = &sass->functions[i];
        for (size_t j = 0; j < function->count; j++)
            free(function->instructions[j].text);
        free(function->instructions);
        free(function->name);
    }
    free(sass->functions);
    free(sass);
}

/* ---- Questions ---- */

/* "matmul" is the plain name in "_Z6matmulPKf": the mangling puts its length before it. */
static bool fits(const char *mangled, const char *name)
{
    if (!strcmp(mangled, name))
        return true;
    char *counted = wt_format("%zu%s", strlen(name), name);
    bool found = !strncmp(mangled, "_Z", 2) && strstr(mangled, counted);
    free(counted);
    return found;
}

static bool is_choice(const struct wt_sass_function *function, const char *name)
{
    return function->count > 0 && (!name || fits(function->name, name));
}

/* The first dozen that fit. */
static char *names_of(const struct wt_sass *sass, const char *name)
{
    char *all = wt_strdup("");
    for (size_t i = 0, listed = 0; i < sass->count && listed < 12; i++) {
        if (!is_choice(&sass->functions[i], name))
            continue;
        char *longer = wt_format("%s%s%.60s", all, listed++ ? ", " : "", sass->functions[i].name);
        free(all);
        all = longer;
    }
    return all;
}

enum wt_code wt_sass_find(const struct wt_sass *sass, const char *path, const char *name,
                          const struct wt_sass_function **out, struct wt_error *err)
{
    size_t found = 0;
    for (size_t i = 0; i < sass->count; i++)
        if (is_choice(&sass->functions[i], name)) {
            *out = &sass->functions[i];
            found += name && !strcmp(sass->functions[i].name, name) ? sass->count + 1 : 1;
        }
    if (found == 1 || found > sass->count)
        return WT_OK;
    char *names = names_of(sass, found ? name : NULL);
    enum wt_code code = wt_fail_at(err, path, 0, "has %s%s%s; choose one with --kernel: %s",
                                   found ? "several functions" : "no function", name ? " of name " : "", name ? name : "", names);
    free(names);
    return code;
}

long wt_sass_at(const struct wt_sass_function *function, uint32_t address)
{
    size_t index = address / WT_SASS_BYTES;
    return address % WT_SASS_BYTES == 0 && index < function->count ? (long)index : -1;
}

bool wt_sass_has(const struct wt_sass_instruction *instruction, const char *modifier)
{
    size_t length = strlen(modifier);
    const char *at = instruction->text;
    for (; *at && !isspace((unsigned char)*at); at++)
        if (*at == '.' && !strncmp(at + 1, modifier, length) && !isalnum((unsigned char)at[1 + length]))
            return true;
    return false;
}
