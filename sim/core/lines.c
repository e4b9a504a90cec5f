#include "core/lines.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "core/mem.h"

enum { INPUT_SIZE = 1 << 18, TEXT_SIZE = 2 * WT_LINE_MAX };

struct wt_lines {
    char *name;
    FILE *file;           /* NULL when reading from memory */
    unsigned char *chunk; /* bytes as they are in the file; owned unless reading from memory */
    ZSTD_inBuffer input;
    bool input_ended;
    ZSTD_DStream *zstd; /* NULL: plain text */
    size_t frame_hint;  /* 0: between frames */
    const char
        *damage; /* what zstd says of data it cannot decode; told once the lines before are handed out */
    char *text;  /* decoded bytes; [begin, end) not yet handed out */
    size_t begin, end;
    bool text_ended;
    long number;
};

static enum wt_code refill_input(struct wt_lines *lines, struct wt_error *err)
{
    if (lines->input_ended || lines->input.pos < lines->input.size)
        return WT_OK;
    size_t got = lines->file ? fread(lines->chunk, 1, INPUT_SIZE, lines->file) : 0;
    lines->input = (ZSTD_inBuffer){lines->chunk, got, 0};
    if (got > 0)
        return WT_OK;
    lines->input_ended = true;
    if (lines->file && ferror(lines->file))
        return wt_fail_at(err, lines->name, lines->number, "cannot be read (%s)", strerror(errno));
    return WT_OK;
}

static void decode_plain(struct wt_lines *lines)
{
    size_t room = TEXT_SIZE - lines->end, have = lines->input.size - lines->input.pos;
    size_t count = room < have ? room : have;
    if (count == 0)
        return;
    memcpy(lines->text + lines->end, (const char *)lines->input.src + lines->input.pos, count);
    lines->input.pos += count;
    lines->end += count;
}

static void decode_zstd(struct wt_lines *lines)
{
    ZSTD_outBuffer output = {lines->text, TEXT_SIZE, lines->end};
    size_t before = lines->input.pos;
    size_t hint = ZSTD_decompressStream(lines->zstd, &output, &lines->input);
    if (ZSTD_isError(hint)) {
        lines->damage = ZSTD_getErrorName(hint);
        return;
    }
    if (output.pos > lines->end || lines->input.pos > before)
        lines->frame_hint = hint;
    lines->end = output.pos;
}

/* Moves the undelivered rest to the front and decodes until the buffer is full or the input ends. */
static enum wt_code refill_text(struct wt_lines *lines, struct wt_error *err)
{
    memmove(lines->text, lines->text + lines->begin, lines->end - lines->begin);
    lines->end -= lines->begin;
    lines->begin = 0;
    while (lines->end < TEXT_SIZE && !lines->text_ended) {
        size_t before = lines->end;
        WT_TRY(refill_input(lines, err));
        if (lines->zstd)
            decode_zstd(lines);
        else
            decode_plain(lines);
        lines->text_ended = lines->damage || (lines->input_ended && lines->end == before);
    }
    return WT_OK;
}

/* Called when no whole line is left. */
static enum wt_code check_frame(const struct wt_lines *lines, struct wt_error *err)
{
    if (!lines->text_ended || !lines->zstd)
        return WT_OK;
    if (lines->damage)
        return wt_fail_at(err, lines->name, lines->number + 1,
                          "the zstd data are damaged here (%s); copy the file again from its source",
                          lines->damage);
    if (lines->frame_hint != 0)
        return wt_fail_at(err, lines->name, lines->number + 1,
                          "the zstd frame is cut off here; copy the file again from its source");
    return WT_OK;
}

static bool starts_with(const ZSTD_inBuffer *input, const char *magic, size_t length)
{
    return input->size >= length && !memcmp(input->src, magic, length);
}

static enum wt_code recognise(struct wt_lines *lines, struct wt_error *err)
{
    WT_TRY(refill_input(lines, err));
    if (lines->input.size == 0)
        return wt_fail_at(err, lines->name, 0, "is empty; write it again, or give another");
    if (starts_with(&lines->input, "\x1f\x8b", 2) ||
        starts_with(&lines->input,
                    "\xfd"
                    "7zXZ",
                    5) ||
        starts_with(&lines->input, "BZh", 3) || starts_with(&lines->input, "PK\3\4", 4))
        return wt_fail_at(err, lines->name, 0, "is compressed, but not with zstd; decompress it first");
    if (starts_with(&lines->input, "\x28\xb5\x2f\xfd", 4)) {
        lines->zstd = ZSTD_createDStream();
        lines->frame_hint = 1;
    } else if (starts_with(&lines->input, "\xef\xbb\xbf", 3)) {
        lines->input.pos = 3;
    }
    return WT_OK;
}

static enum wt_code start(struct wt_lines *lines, struct wt_lines **out, struct wt_error *err)
{
    lines->text = wt_alloc(TEXT_SIZE, 1);
    enum wt_code code = recognise(lines, err);
    if (code != WT_OK) {
        wt_lines_close(lines);
        lines = NULL;
    }
    *out = lines;
    return code;
}

enum wt_code wt_lines_open(const char *path, struct wt_lines **out, struct wt_error *err)
{
    *out = NULL;
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (!file)
        return wt_fail_at(err, path, 0, "cannot be opened (%s); check the name", strerror(errno));
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        return wt_fail_at(err, path, 0, "is a folder; name a file in it");
    }
    struct wt_lines *lines = wt_alloc(1, sizeof *lines);
    lines->name = wt_strdup(path);
    lines->file = file;
    lines->chunk = wt_alloc(INPUT_SIZE, 1);
    return start(lines, out, err);
}

enum wt_code wt_lines_open_memory(const char *name, const void *data, size_t size, struct wt_lines **out,
                                  struct wt_error *err)
{
    struct wt_lines *lines = wt_alloc(1, sizeof *lines);
    lines->name = wt_strdup(name);
    lines->input = (ZSTD_inBuffer){data, size, 0};
    return start(lines, out, err);
}

enum wt_code wt_lines_next(struct wt_lines *lines, struct wt_line *line, bool *more, struct wt_error *err)
{
    char *text = lines->text + lines->begin;
    char *end = memchr(text, '\n', lines->end - lines->begin);
    if (!end) {
        WT_TRY(refill_text(lines, err));
        text = lines->text + lines->begin;
        end = memchr(text, '\n', lines->end - lines->begin);
        if (!end)
            WT_TRY(check_frame(lines, err));
    }
    size_t length = end ? (size_t)(end - text) : lines->end - lines->begin;
    *more = end || length > 0;
    if (!*more)
        return WT_OK;
    lines->number++;
    if (length > WT_LINE_MAX)
        return wt_fail_at(err, lines->name, lines->number,
                          "the line is longer than 1 MiB; this is not text that can be read here");
    if (memchr(text, '\0', length))
        return wt_fail_at(err, lines->name, lines->number,
                          "holds a NUL byte; this is not a text file");
    lines->begin += length + (end != NULL);
    if (length > 0 && text[length - 1] == '\r')
        length--;
    *line = (struct wt_line){text, length, lines->number};
    return WT_OK;
}

void wt_lines_close(struct wt_lines *lines)
{
    if (!lines)
        return;
    if (lines->file) {
        fclose(lines->file);
        free(lines->chunk);
    }
    ZSTD_freeDStream(lines->zstd);
    free(lines->text);
    free(lines->name);
    free(lines);
}
