/* The comment lines of a trace file: one table of keys serves reading and writing. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/gpu.h"
#include "trace/reader.h"

enum key_type { KEY_TEXT, KEY_INT, KEY_LONG, KEY_BOOL, KEY_DIM };

struct key {
    const char *name;
    enum key_type type;
    size_t offset; /* in struct wt_trace_launch */
    long low, high;
    long missing; /* a number that is not written out */
};

#define FIELD(member) offsetof(struct wt_trace_launch, member)

static const struct key keys[] = {
    {"name", KEY_TEXT, FIELD(name)},
    {"kernel", KEY_TEXT, FIELD(kernel)},
    {"grid", KEY_DIM, FIELD(grid), 1, INT_MAX},
    {"block", KEY_DIM, FIELD(block), 1, 1024},
    {"cluster", KEY_DIM, FIELD(cluster), 1, 1024},
    {"regs", KEY_INT, FIELD(registers_per_thread), 0, 65536, -1},
    {"static_smem", KEY_INT, FIELD(static_shared_bytes), 0, 1 << 30, -1},
    {"dynamic_smem", KEY_INT, FIELD(dynamic_shared_bytes), 0, 1 << 30, -1},
    {"carveout_kb", KEY_INT, FIELD(carveout_kb), 0, 1 << 20, -1},
    {"stream", KEY_INT, FIELD(stream), INT_MIN, INT_MAX, INT_MIN},
    {"priority", KEY_INT, FIELD(priority), INT_MIN, INT_MAX, INT_MIN},
    {"cooperative", KEY_BOOL, FIELD(cooperative), 0, 1},
    {"tasks", KEY_LONG, FIELD(tasks), 0, LONG_MAX, 0},
    {"work", KEY_TEXT, FIELD(work)},
    {"work_seed", KEY_LONG, FIELD(work_seed), LONG_MIN, LONG_MAX, 0},
    {"occupancy_api_blocks", KEY_INT, FIELD(occupancy_blocks), 0, 1 << 20, 0},
};
enum { KEYS = sizeof keys / sizeof *keys };

struct span {
    const char *at, *end;
};

struct wt_excerpt wt_excerpt_of(const char *text, size_t length)
{
    struct wt_excerpt excerpt = {{0}};
    size_t count = length < 40 ? length : 40;
    for (size_t i = 0; i < count; i++)
        excerpt.text[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    if (length > count)
        strcpy(excerpt.text + count, "...");
    return excerpt;
}

static void skip_spaces(struct span *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
        text->at++;
}

static void trim_end(struct span *text)
{
    while (text->end > text->at && (text->end[-1] == ' ' || text->end[-1] == '\t'))
        text->end--;
}

static bool is_key_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Length of "identifier=" at `at`, without the '='; 0 if there is none. */
static size_t key_length(const char *at, const char *end)
{
    size_t length = 0;
    while (at + length < end && is_key_byte(at[length]))
        length++;
    return at + length < end && at[length] == '=' ? length : 0;
}

/* An unquoted value ends where the next " key=" begins, so kernel names with spaces need no quotes. */
static const char *unquoted_end(const char *at, const char *end)
{
    for (const char *p = at; p < end; p++)
        if (*p == ' ' && key_length(p + 1, end) > 0)
            return p;
    return end;
}

/* The value at text->at, unquoted and copied; text->at moves behind it. NULL: a quote is not closed. */
static char *take_value(struct span *text)
{
    if (text->at == text->end || *text->at != '"') {
        struct span value = {text->at, unquoted_end(text->at, text->end)};
        text->at = value.end;
        trim_end(&value);
        return wt_format("%.*s", (int)(value.end - value.at), value.at);
    }
    char *copy = wt_alloc((size_t)(text->end - text->at), 1), *to = copy;
    for (const char *p = text->at + 1; p < text->end; p++) {
        bool doubled = *p == '"' && p + 1 < text->end && p[1] == '"';
        if (*p == '"' && !doubled) {
            text->at = p + 1;
            return copy;
        }
        *to++ = *p;
        p += doubled;
    }
    free(copy);
    return NULL;
}

/* Reads a whole number from [low, high] and says where it ended; NULL when there is none. */
static const char *take_number(const char *text, long low, long high, long *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtol(text, &end, 10);
    return errno || end == text || *value < low || *value > high ? NULL : end;
}

static bool parse_dim(const char *text, const struct key *key, int dim[3])
{
    for (int i = 0; i < 3; i++) {
        long value;
        text = take_number(text, key->low, key->high, &value);
        if (!text)
            return false;
        dim[i] = (int)value;
        if (*text == '\0') {
            while (++i < 3)
                dim[i] = 1;
            return true;
        }
        if (*text != ',' && *text != 'x')
            return false;
        text++;
    }
    return false;
}

static bool set_key(struct wt_trace_launch *launch, const struct key *key, const char *text)
{
    char *field = (char *)launch + key->offset;
    if (key->type == KEY_TEXT) {
        free(*(char **)field);
        *(char **)field = wt_strdup(text);
        return true;
    }
    if (key->type == KEY_DIM)
        return parse_dim(text, key, (int *)field);
    long value;
    const char *end = take_number(text, key->low, key->high, &value);
    if (!end || *end)
        return false;
    if (key->type == KEY_INT)
        *(int *)field = (int)value;
    else if (key->type == KEY_LONG)
        *(long *)field = value;
    else
        *(bool *)field = value != 0;
    return true;
}

static const char *expectation(enum key_type type)
{
    return type == KEY_DIM ? "expected one to three whole numbers like 128,1,1" : "expected a whole number";
}

static const struct key *find_key(const char *name, size_t length)
{
    for (int i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == length && !memcmp(keys[i].name, name, length))
            return &keys[i];
    return NULL;
}

static enum wt_code take_pair(struct wt_trace_reader *reader, struct wt_trace_launch *launch,
                              struct span *text, struct wt_error *err)
{
    const char *path = reader->trace->path, *name = text->at;
    size_t length = key_length(text->at, text->end);
    if (length == 0)
        return wt_fail_at(err, path, launch->line, "'%s' is not key=value; quote values that hold quotes",
                          wt_excerpt_of(name, (size_t)(text->end - name)).text);
    text->at += length + 1;
    char *value = take_value(text);
    if (!value)
        return wt_fail_at(err, path, launch->line, "the quote after %s= is not closed",
                          wt_excerpt_of(name, length).text);
    const struct key *key = find_key(name, length);
    enum wt_code code = WT_OK;
    if (key && !set_key(launch, key, value))
        code = wt_fail_at(err, path, launch->line, "%s=%s is out of range or garbled; %s", key->name,
                          wt_excerpt_of(value, strlen(value)).text, expectation(key->type));
    free(value);
    return code;
}

static enum wt_code check_launch(struct wt_trace_reader *reader, const struct wt_trace_launch *launch,
                                 struct wt_error *err)
{
    const char *path = reader->trace->path;
    if ((long)launch->block[0] * launch->block[1] * launch->block[2] > 1024)
        return wt_fail_at(err, path, launch->line,
                          "block=%d,%d,%d has more than 1024 threads; correct the line", launch->block[0],
                          launch->block[1], launch->block[2]);
    if (launch->grid[1] > 65535 || launch->grid[2] > 65535)
        return wt_fail_at(err, path, launch->line, "grid=%d,%d,%d: y and z go to 65535; correct the line",
                          launch->grid[0], launch->grid[1], launch->grid[2]);
    return WT_OK;
}

static enum wt_code launch_comment(struct wt_trace_reader *reader, struct span text, long line,
                                   struct wt_error *err)
{
    const char *path = reader->trace->path;
    char *end = NULL, number[24];
    snprintf(number, sizeof number, "%.*s", (int)(text.end - text.at < 20 ? text.end - text.at : 20),
             text.at);
    long value = strtol(number, &end, 10);
    if (end == number || *end != ':' || value < 0 || value > WT_TRACE_MAX_LAUNCH)
        return wt_fail_at(err, path, line, "expected '# launch K: key=value ...' with K from 0 to %d",
                          WT_TRACE_MAX_LAUNCH);
    if (wt_trace_find_launch(reader, value) >= 0)
        return wt_fail_at(err, path, line,
                          "launch %ld is described twice, or after its first row; remove this line", value);
    struct wt_trace_launch *launch = wt_trace_add_launch(reader, value, line);
    reader->launches_stated = true;
    text.at += end - number + 1;
    for (skip_spaces(&text); text.at < text.end; skip_spaces(&text))
        WT_TRY(take_pair(reader, launch, &text, err));
    return check_launch(reader, launch, err);
}

static enum wt_code device_number(struct wt_trace_reader *reader, const char *key, const char *value,
                                  long line, double low, double high, double *out, struct wt_error *err)
{
    char *end = NULL;
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= low && number <= high))
        return wt_fail_at(err, reader->trace->path, line,
                          "%s = %s is garbled or not from %g to %g; correct or remove the line", key,
                          wt_excerpt_of(value, strlen(value)).text, low, high);
    *out = number;
    return WT_OK;
}

static enum wt_code set_device_key(struct wt_trace_reader *reader, const char *key, const char *value,
                                   long line, struct wt_error *err)
{
    struct wt_trace *trace = reader->trace;
    double number = 0;
    if (!strcmp(key, "device")) {
        free(trace->device);
        trace->device = wt_strdup(value);
    } else if (!strcmp(key, "compute_capability")) {
        if (sscanf(value, "%3d.%3d", &trace->cc_major, &trace->cc_minor) != 2 || trace->cc_major < 0 ||
            trace->cc_minor < 0)
            return wt_fail_at(err, trace->path, line, "compute_capability = %s: expected a number like 9.0",
                              wt_excerpt_of(value, strlen(value)).text);
    } else if (!strcmp(key, "sm_count")) {
        WT_TRY(device_number(reader, key, value, line, 1, WT_MAX_SMS, &number, err));
        trace->sm_count = (int)number;
        trace->sm_count_stated = true;
    } else if (!strcmp(key, "clock_khz")) {
        return device_number(reader, key, value, line, 0, 1e8, &trace->clock_khz, err);
    } else if (!strcmp(key, "globaltimer_step_ns")) {
        WT_TRY(device_number(reader, key, value, line, 0, 1e9, &number, err));
        trace->globaltimer_step_ns = (int)number;
    }
    return WT_OK;
}

static enum wt_code device_comment(struct wt_trace_reader *reader, struct span text, long line,
                                   struct wt_error *err)
{
    struct span key = text;
    while (key.at < key.end && is_key_byte(*key.at))
        key.at++;
    key = (struct span){text.at, key.at};
    text.at = key.end;
    skip_spaces(&text);
    if (text.at == text.end || *text.at != '=' || key.at == key.end)
        return WT_OK;
    text.at++;
    skip_spaces(&text);
    char *name = wt_format("%.*s", (int)(key.end - key.at), key.at);
    char *value = wt_format("%.*s", (int)(text.end - text.at), text.at);
    enum wt_code code = set_device_key(reader, name, value, line, err);
    free(name);
    free(value);
    return code;
}

static bool skip_word(struct span *text, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) <= length || memcmp(text->at, word, length) || text->at[length] != ' ')
        return false;
    text->at += length;
    skip_spaces(text);
    return true;
}

enum wt_code wt_trace_comment(struct wt_trace_reader *reader, const struct wt_line *line,
                              struct wt_error *err)
{
    struct span text = {line->text + 1, line->text + line->length};
    skip_spaces(&text);
    trim_end(&text);
    if (skip_word(&text, "wavetail-trace")) {
        if (text.end - text.at != 1 || *text.at != '1')
            return wt_fail_at(
                err, reader->trace->path, line->number,
                "trace format version '%s' is not known, only 1 is; use a newer wavetail or capture again",
                wt_excerpt_of(text.at, (size_t)(text.end - text.at)).text);
        return WT_OK;
    }
    struct span rest = text;
    if (skip_word(&rest, "launch") && rest.at < rest.end && *rest.at != '=')
        return launch_comment(reader, rest, line->number, err);
    return device_comment(reader, text, line->number, err);
}

long wt_trace_find_launch(const struct wt_trace_reader *reader, int64_t number)
{
    if (number < 0 || (uint64_t)number >= reader->number_capacity)
        return -1;
    return (long)reader->index_of_number[number] - 1;
}

struct wt_trace_launch *wt_trace_add_launch(struct wt_trace_reader *reader, long number, long line)
{
    struct wt_trace *trace = reader->trace;
    size_t had = reader->number_capacity;
    reader->index_of_number = wt_grow(reader->index_of_number, &reader->number_capacity, (size_t)number + 1,
                                      sizeof *reader->index_of_number);
    memset(reader->index_of_number + had, 0,
           (reader->number_capacity - had) * sizeof *reader->index_of_number);
    trace->launches =
        wt_grow(trace->launches, &reader->launch_capacity, trace->launch_count + 1, sizeof *trace->launches);
    struct wt_trace_launch *launch = &trace->launches[trace->launch_count++];
    *launch = (struct wt_trace_launch){
        .number = number, .line = line, .cluster = {1, 1, 1}, .registers_per_thread = -1, .carveout_kb = -1};
    launch->name = wt_strdup("");
    launch->kernel = wt_strdup("");
    launch->work = wt_strdup("");
    reader->index_of_number[number] = (uint32_t)trace->launch_count;
    return launch;
}

static void print_text(FILE *stream, const char *name, const char *value)
{
    if (!*value)
        return;
    fprintf(stream, " %s=", name);
    if (!strpbrk(value, " \t\"")) {
        fputs(value, stream);
        return;
    }
    putc('"', stream);
    for (; *value; value++) {
        if (*value == '"')
            putc('"', stream);
        putc(*value, stream);
    }
    putc('"', stream);
}

static void print_key(FILE *stream, const struct key *key, const struct wt_trace_launch *launch)
{
    const char *field = (const char *)launch + key->offset;
    const int *dim = (const int *)field;
    if (key->type == KEY_TEXT)
        print_text(stream, key->name, *(char *const *)field);
    else if (key->type == KEY_DIM && dim[0] > 0)
        fprintf(stream, " %s=%d,%d,%d", key->name, dim[0], dim[1], dim[2]);
    else if (key->type == KEY_INT && *dim != key->missing)
        fprintf(stream, " %s=%d", key->name, *dim);
    else if (key->type == KEY_LONG && *(const long *)field != key->missing)
        fprintf(stream, " %s=%ld", key->name, *(const long *)field);
    else if (key->type == KEY_BOOL)
        fprintf(stream, " %s=%d", key->name, *(const bool *)field);
}

void wt_trace_print_header(FILE *stream, const struct wt_trace *trace)
{
    fputs("# wavetail-trace 1\n", stream);
    if (*trace->device)
        fprintf(stream, "# device = %s\n", trace->device);
    if (trace->cc_major > 0)
        fprintf(stream, "# compute_capability = %d.%d\n", trace->cc_major, trace->cc_minor);
    if (trace->sm_count_stated)
        fprintf(stream, "# sm_count = %d\n", trace->sm_count);
    if (trace->clock_khz > 0)
        fprintf(stream, "# clock_khz = %.10g\n", trace->clock_khz);
    if (trace->globaltimer_step_ns > 0)
        fprintf(stream, "# globaltimer_step_ns = %d\n", trace->globaltimer_step_ns);
    for (size_t i = 0; i < trace->launch_count; i++) {
        fprintf(stream, "# launch %ld:", trace->launches[i].number);
        for (int k = 0; k < KEYS; k++)
            print_key(stream, &keys[k], &trace->launches[i]);
        putc('\n', stream);
    }
}
