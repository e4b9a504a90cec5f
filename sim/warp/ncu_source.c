#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/lines.h"
#include "core/mem.h"
#include "warp/ncu.h"
#include "warp/ncu_csv.h"
#include "warp/sass.h"

struct column {
    const char *name;
    size_t offset; /* of a double in struct wt_ncu_row */
};

static const struct column columns[] = {
    {"Instructions Executed", offsetof(struct wt_ncu_row, executed)},
    {"Thread Instructions Executed", offsetof(struct wt_ncu_row, threads)},
    {"Predicated-On Thread Instructions Executed", offsetof(struct wt_ncu_row, threads_on)},
    {"Divergent Branches", offsetof(struct wt_ncu_row, divergent)},
    {"L1 Tag Requests Global", offsetof(struct wt_ncu_row, tags)},
    {"L2 Theoretical Sectors Global", offsetof(struct wt_ncu_row, sectors)},
    {"L1 Wavefronts Shared", offsetof(struct wt_ncu_row, wavefronts)},
    {"L1 Conflicts Shared N-Way", offsetof(struct wt_ncu_row, ways)},
    {"# Samples", offsetof(struct wt_ncu_row, samples)},
};

enum { COLUMNS = sizeof columns / sizeof *columns, NECESSARY = 3 };

struct reader {
    const char *path, *kernel;
    struct wt_ncu_source *source;
    struct wt_csv_line csv;
    bool wanted; /* the page being read is the one that was asked for */
    size_t address_field;         /* + 1; 0: no header yet */
    size_t fields[COLUMNS];       /* + 1; 0: not there */
    uint64_t origin;              /* address of the page's first instruction */
};

/* "_Z11shared_rateILi1EEvPfi" holds the name of "void shared_rate<(int)1>(float *, int)", with its length before it. */
static bool is_mangled(const char *signature, const char *kernel)
{
    signature += strncmp(signature, "void ", 5) ? 0 : 5;
    int length = (int)strcspn(signature, "<(");
    char *counted = wt_format("%d%.*s", length, length, signature);
    bool same = length > 0 && strstr(kernel, counted);
    free(counted);
    return same;
}

/* "void shared_rate<(int)1>(float *, int)" and "k_fma(Arg)" fit "shared_rate" and "k_fma". */
static bool names(const char *signature, const char *kernel)
{
    if (!strncmp(kernel, "_Z", 2))
        return is_mangled(signature, kernel);
    size_t length = strlen(kernel);
    if (!kernel[0] || !strcmp(signature, kernel))
        return !strcmp(signature, kernel);
    const char *at = signature;
    for (; (at = strstr(at, kernel)); at++)
        if ((at == signature || strchr(" :", at[-1])) && strchr("<( ", at[length]))
            return true;
    return false;
}

static void begin_page(struct reader *reader, const char *signature)
{
    reader->wanted = !reader->kernel || names(signature, reader->kernel);
    reader->address_field = 0;
    if (!reader->wanted)
        return;
    free(reader->source->kernel);
    reader->source->kernel = wt_strdup(signature);
}

static enum wt_code take_header(struct reader *reader, const struct wt_line *line, struct wt_error *err)
{
    memset(reader->fields, 0, sizeof reader->fields);
    for (size_t i = 0; i < reader->csv.count; i++) {
        if (!strcmp(reader->csv.fields[i], "Address"))
            reader->address_field = i + 1;
        for (size_t c = 0; c < COLUMNS; c++)
            if (!strcmp(reader->csv.fields[i], columns[c].name))
                reader->fields[c] = i + 1;
    }
    for (size_t c = 0; c < NECESSARY; c++)
        if (!reader->fields[c])
            return wt_fail_at(err, reader->path, line->number,
                              "lacks the column '%s'; profile with --section SourceCounters and print the SASS view",
                              columns[c].name);
    return WT_OK;
}

static enum wt_code take_address(struct reader *reader, const struct wt_line *line, uint32_t *address, struct wt_error *err)
{
    const char *field = reader->csv.count >= reader->address_field ? reader->csv.fields[reader->address_field - 1] : "";
    char *rest;
    errno = 0;
    uint64_t value = strtoull(field, &rest, 16);
    if (!*field || *rest || errno)
        return wt_fail_at(err, reader->path, line->number, "'%.40s' is no address; copy the page again", field);
    if (reader->source->count == 0)
        reader->origin = value;
    if (value - reader->origin != (uint64_t)reader->source->count * WT_SASS_BYTES || reader->source->count >= WT_SASS_MOST)
        return wt_fail_at(err, reader->path, line->number,
                          "is address 0x%" PRIx64 ", not %d bytes after the line before; lines are missing", value, WT_SASS_BYTES);
    *address = (uint32_t)(value - reader->origin);
    return WT_OK;
}

static enum wt_code take_row(struct reader *reader, const struct wt_line *line, struct wt_error *err)
{
    struct wt_ncu_row row = {0};
    WT_TRY(take_address(reader, line, &row.address, err));
    for (size_t c = 0; c < COLUMNS; c++) {
        double *value = (double *)((char *)&row + columns[c].offset);
        if (!reader->fields[c] || reader->fields[c] > reader->csv.count || !reader->csv.fields[reader->fields[c] - 1][0])
            continue;
        if (!wt_csv_number(reader->csv.fields[reader->fields[c] - 1], value) || *value < 0)
            return wt_fail_at(err, reader->path, line->number, "'%.40s' under '%s' is no count; copy the page again",
                              reader->csv.fields[reader->fields[c] - 1], columns[c].name);
    }
    if (row.wavefronts <= 0)
        row.wavefronts = row.ways * row.executed;
    struct wt_ncu_source *source = reader->source;
    source->rows = wt_grow(source->rows, &source->capacity, source->count + 1, sizeof *source->rows);
    source->rows[source->count++] = row;
    return WT_OK;
}

static enum wt_code take_line(struct reader *reader, const struct wt_line *line, struct wt_error *err)
{
    WT_TRY(wt_csv_split(&reader->csv, reader->path, line, err));
    const char *first = reader->csv.fields[0];
    if (!strcmp(first, "Kernel Name")) {
        begin_page(reader, reader->csv.count > 1 ? reader->csv.fields[1] : "");
        return WT_OK;
    }
    if (!reader->wanted || !line->length)
        return WT_OK;
    if (!strcmp(first, "Address") || !strcmp(first, "#"))
        return take_header(reader, line, err);
    if (reader->address_field)
        return take_row(reader, line, err);
    return WT_OK;
}

static enum wt_code read_lines(struct reader *reader, struct wt_lines *lines, struct wt_error *err)
{
    struct wt_line line = {0};
    for (bool more = true;;) {
        WT_TRY(wt_lines_next(lines, &line, &more, err));
        if (!more)
            break;
        if (reader->source->count > 0 && line.length > 13 && !memcmp(line.text, "\"Kernel Name\"", 13))
            break;
        WT_TRY(take_line(reader, &line, err));
    }
    if (reader->source->count == 0)
        return wt_fail_at(err, reader->path, 0, "has no source page%s%s; give the output of ncu --page source --csv",
                          reader->kernel ? " of kernel " : "", reader->kernel ? reader->kernel : "");
    return WT_OK;
}

static enum wt_code read_all(const char *path, struct wt_lines *lines, const char *kernel, struct wt_ncu_source **out,
                             struct wt_error *err)
{
    struct reader reader = {
        .path = path, .kernel = kernel, .wanted = !kernel, .source = wt_alloc(1, sizeof *reader.source)};
    reader.source->kernel = wt_strdup("");
    enum wt_code code = read_lines(&reader, lines, err);
    wt_lines_close(lines);
    wt_csv_clear(&reader.csv);
    if (code == WT_OK)
        *out = reader.source;
    else
        wt_ncu_source_free(reader.source);
    return code;
}

enum wt_code wt_ncu_source_read(const char *path, const char *kernel, struct wt_ncu_source **out, struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open(path, &lines, err));
    return read_all(path, lines, kernel, out, err);
}

enum wt_code wt_ncu_source_read_memory(const char *name, const void *data, size_t size, const char *kernel,
                                       struct wt_ncu_source **out, struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open_memory(name, data, size, &lines, err));
    return read_all(name, lines, kernel, out, err);
}

/* The header of a source page stands in its first line, or behind the kernel's name. */
static enum wt_code look_at_first(struct wt_lines *lines, const char *path, struct wt_csv_line *csv, bool *is_source,
                                  struct wt_error *err)
{
    int seen = 0;
    for (bool more = true; seen < 2 && !*is_source;) {
        struct wt_line line;
        WT_TRY(wt_lines_next(lines, &line, &more, err));
        if (!more)
            return WT_OK;
        if (!line.length || line.text[0] == '=')
            continue;
        WT_TRY(wt_csv_split(csv, path, &line, err));
        *is_source = !strcmp(csv->fields[0], "Address") || !strcmp(csv->fields[0], "#");
        seen++;
    }
    return WT_OK;
}

enum wt_code wt_ncu_is_source(const char *path, bool *is_source, struct wt_error *err)
{
    struct wt_lines *lines;
    struct wt_csv_line csv = {0};
    *is_source = false;
    WT_TRY(wt_lines_open(path, &lines, err));
    enum wt_code code = look_at_first(lines, path, &csv, is_source, err);
    wt_lines_close(lines);
    wt_csv_clear(&csv);
    return code;
}

static void write_quoted(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

void wt_ncu_source_write(const struct wt_ncu_source *source, FILE *stream)
{
    fputs("\"Kernel Name\",", stream);
    write_quoted(stream, source->kernel);
    fputs("\n\"Address\"", stream);
    for (size_t c = 0; c < COLUMNS; c++)
        fprintf(stream, ",\"%s\"", columns[c].name);
    fputc('\n', stream);
    for (size_t i = 0; i < source->count; i++) {
        fprintf(stream, "0x%" PRIx32, source->rows[i].address);
        for (size_t c = 0; c < COLUMNS; c++)
            fprintf(stream, ",%.17g", *(const double *)((const char *)&source->rows[i] + columns[c].offset));
        fputc('\n', stream);
    }
}

void wt_ncu_source_free(struct wt_ncu_source *source)
{
    if (!source)
        return;
    free(source->kernel);
    free(source->rows);
    free(source);
}
