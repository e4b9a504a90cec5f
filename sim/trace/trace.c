/* Reading the rows of a trace. Rows of plain numbers, nearly all, are parsed in place; whatever that finds
 * odd goes through libcsv, which also gives the messages. */
#include "trace/trace.h"

#include <csv.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "gpu/gpu.h"
#include "trace/reader.h"

enum column {
    COL_LAUNCH,
    COL_BLOCK,
    COL_SM,
    COL_CLOCK_START,
    COL_CLOCK_END,
    COL_TIME_START,
    COL_TIME_END,
    COL_WORK,
    COL_SLOT,
    COL_COUNT,
    COL_IGNORED = COL_COUNT
};
enum { MAX_COLUMNS = 256 };

#define BIG (INT64_C(1) << 62) /* differences of values up to this fit in 64 bits */

static const struct {
    const char *name;
    int64_t low, high;
} columns[COL_COUNT] = {
    [COL_LAUNCH] = {"launch", 0, WT_TRACE_MAX_LAUNCH},
    [COL_BLOCK] = {"block", 0, BIG},
    [COL_SM] = {"sm", 0, WT_MAX_SMS - 1},
    [COL_CLOCK_START] = {"clock_start", -BIG, BIG},
    [COL_CLOCK_END] = {"clock_end", -BIG, BIG},
    [COL_TIME_START] = {"time_start_ns", -BIG, BIG},
    [COL_TIME_END] = {"time_end_ns", -BIG, BIG},
    [COL_WORK] = {"work", -BIG, BIG},
    [COL_SLOT] = {"warp_slot", -1, INT16_MAX},
};

/* One CSV line split by libcsv; the texts end with NUL. */
struct fields {
    char *text; /* all fields one after another */
    size_t length, capacity;
    size_t start[MAX_COLUMNS];
    size_t count;
};

struct table {
    struct wt_trace_reader reader;
    bool has_header;
    enum column kind[MAX_COLUMNS];
    size_t column_count;
    bool has[COL_COUNT];
    struct fields fields;
    struct csv_parser csv;
};

static void add_field(void *data, size_t length, void *context)
{
    struct fields *fields = context;
    if (fields->count < MAX_COLUMNS) {
        fields->text = wt_grow(fields->text, &fields->capacity, fields->length + length + 1, 1);
        fields->start[fields->count] = fields->length;
        if (length)
            memcpy(fields->text + fields->length, data, length);
        fields->text[fields->length + length] = '\0';
        fields->length += length + 1;
    }
    fields->count++;
}

static enum wt_code split(struct table *table, const struct wt_line *line, struct wt_error *err)
{
    struct fields *fields = &table->fields;
    fields->count = fields->length = 0;
    size_t done = csv_parse(&table->csv, line->text, line->length, add_field, NULL, fields);
    if (done != line->length || csv_fini(&table->csv, add_field, NULL, fields)) {
        csv_free(&table->csv);
        csv_init(&table->csv, CSV_STRICT | CSV_STRICT_FINI);
        return wt_fail_at(err, table->reader.trace->path, line->number,
                          "the quotes in this line do not match; close them or double the inner ones");
    }
    if (fields->count > MAX_COLUMNS)
        return wt_fail_at(err, table->reader.trace->path, line->number,
                          "has more than %d columns; this is not a trace", MAX_COLUMNS);
    return WT_OK;
}

static enum column column_named(const char *name)
{
    for (int c = 0; c < COL_COUNT; c++)
        if (!strcmp(columns[c].name, name))
            return (enum column)c;
    return COL_IGNORED;
}

static enum wt_code need_column(const struct table *table, enum column wanted, long line,
                                struct wt_error *err)
{
    if (table->has[wanted])
        return WT_OK;
    const char *names[MAX_COLUMNS];
    for (size_t i = 0; i < table->column_count; i++)
        names[i] = table->fields.text + table->fields.start[i];
    const char *near = wt_nearest(columns[wanted].name, names, table->column_count);
    return wt_fail_at(err, table->reader.trace->path, line, "the header has no column '%s'%s%s%s; add it",
                      columns[wanted].name, near ? " (is it '" : "",
                      near ? wt_excerpt_of(near, strlen(near)).text : "", near ? "'?)" : "");
}

static enum wt_code check_columns(struct table *table, long line, struct wt_error *err)
{
    const bool *has = table->has;
    WT_TRY(need_column(table, COL_BLOCK, line, err));
    WT_TRY(need_column(table, COL_SM, line, err));
    bool clocks = has[COL_CLOCK_START] || has[COL_CLOCK_END];
    bool times = has[COL_TIME_START] || has[COL_TIME_END];
    if (clocks || !times) {
        WT_TRY(need_column(table, COL_CLOCK_START, line, err));
        WT_TRY(need_column(table, COL_CLOCK_END, line, err));
    }
    if (times) {
        WT_TRY(need_column(table, COL_TIME_START, line, err));
        WT_TRY(need_column(table, COL_TIME_END, line, err));
    }
    struct wt_trace *trace = table->reader.trace;
    trace->has_clocks = clocks;
    trace->has_times = times;
    trace->has_work = has[COL_WORK];
    trace->has_warp_slots = has[COL_SLOT];
    return WT_OK;
}

static enum wt_code take_header(struct table *table, const struct wt_line *line, struct wt_error *err)
{
    const char *path = table->reader.trace->path;
    WT_TRY(split(table, line, err));
    table->column_count = table->fields.count;
    size_t known = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        enum column c = column_named(table->fields.text + table->fields.start[i]);
        table->kind[i] = c;
        if (c == COL_IGNORED)
            continue;
        if (table->has[c])
            return wt_fail_at(err, path, line->number, "the header has column '%s' twice; remove one",
                              columns[c].name);
        table->has[c] = true;
        known++;
    }
    if (known == 0)
        return wt_fail_at(
            err, path, line->number,
            "expected the header 'launch,block,sm,clock_start,...', found '%s'; is this a wavetail trace?",
            wt_excerpt_of(line->text, line->length).text);
    table->has_header = true;
    return check_columns(table, line->number, err);
}

/* Parses a line of plain numbers. False when anything is unusual; nothing is lost by that but time. */
static bool parse_plain(const struct table *table, const struct wt_line *line, int64_t values[COL_COUNT + 1])
{
    const char *p = line->text, *end = p + line->length;
    for (size_t i = 0; i < table->column_count; i++) {
        if (i > 0 && (p == end || *p++ != ','))
            return false;
        const char *first = p;
        if (table->kind[i] == COL_IGNORED) {
            for (; p < end && *p != ','; p++)
                if (*p == '"')
                    return false;
            continue;
        }
        uint64_t value = 0;
        for (; p < end && (unsigned char)(*p - '0') <= 9; p++)
            value = value * 10 + (unsigned char)(*p - '0');
        if (p == first || p - first > 19 || value > (uint64_t)columns[table->kind[i]].high)
            return false;
        values[table->kind[i]] = (int64_t)value;
    }
    return p == end;
}

static enum wt_code parse_field(const struct table *table, enum column c, const char *text, long line,
                                int64_t *value, struct wt_error *err)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    const char *path = table->reader.trace->path;
    if (end == text || *end)
        return wt_fail_at(err, path, line, "%s '%s' is not a whole number; correct or remove the row",
                          columns[c].name, wt_excerpt_of(text, strlen(text)).text);
    if (errno || number < columns[c].low || number > columns[c].high)
        return wt_fail_at(err, path, line, "%s %s is not from %lld to %lld; correct or remove the row",
                          columns[c].name, wt_excerpt_of(text, strlen(text)).text, (long long)columns[c].low,
                          (long long)columns[c].high);
    *value = number;
    return WT_OK;
}

static enum wt_code parse_odd(struct table *table, const struct wt_line *line, int64_t values[COL_COUNT + 1],
                              struct wt_error *err)
{
    WT_TRY(split(table, line, err));
    const struct fields *fields = &table->fields;
    if (fields->count != table->column_count)
        return wt_fail_at(err, table->reader.trace->path, line->number,
                          "has %zu fields where the header has %zu; correct or remove the row", fields->count,
                          table->column_count);
    for (size_t i = 0; i < fields->count; i++)
        if (table->kind[i] != COL_IGNORED)
            WT_TRY(parse_field(table, table->kind[i], fields->text + fields->start[i], line->number,
                               &values[table->kind[i]], err));
    return WT_OK;
}

static enum wt_code launch_of_row(struct wt_trace_reader *reader, int64_t number, long line, long *launch,
                                  struct wt_error *err)
{
    *launch = wt_trace_find_launch(reader, number);
    if (*launch >= 0)
        return WT_OK;
    if (reader->launches_stated)
        return wt_fail_at(err, reader->trace->path, line,
                          "no line '# launch %lld: ...' describes this row's launch; add it",
                          (long long)number);
    wt_trace_add_launch(reader, (long)number, 0);
    *launch = (long)reader->trace->launch_count - 1;
    return WT_OK;
}

static enum wt_code check_row(const struct wt_trace *trace, const int64_t v[],
                              const struct wt_trace_launch *launch, long line, struct wt_error *err)
{
    if (v[COL_CLOCK_END] < v[COL_CLOCK_START] || v[COL_TIME_END] < v[COL_TIME_START])
        return wt_fail_at(err, trace->path, line,
                          "the block ends before it starts; correct or remove the row");
    if (launch->grid[0] > 0 && (uint64_t)v[COL_BLOCK] >= wt_trace_grid_blocks(launch))
        return wt_fail_at(err, trace->path, line,
                          "block %lld is outside the grid of %llu blocks (line %ld); correct either",
                          (long long)v[COL_BLOCK], (unsigned long long)wt_trace_grid_blocks(launch),
                          launch->line);
    if (trace->sm_count > 0 && v[COL_SM] >= trace->sm_count)
        return wt_fail_at(err, trace->path, line, "sm %lld, but sm_count = %d; correct either",
                          (long long)v[COL_SM], trace->sm_count);
    return WT_OK;
}

static enum wt_code take_row(struct table *table, const struct wt_line *line, struct wt_error *err)
{
    struct wt_trace_reader *reader = &table->reader;
    struct wt_trace *trace = reader->trace;
    int64_t v[COL_COUNT + 1] = {[COL_SLOT] = -1};
    if (!parse_plain(table, line, v))
        WT_TRY(parse_odd(table, line, v, err));
    long launch;
    WT_TRY(launch_of_row(reader, v[COL_LAUNCH], line->number, &launch, err));
    WT_TRY(check_row(trace, v, &trace->launches[launch], line->number, err));
    if (trace->row_count == reader->row_capacity)
        trace->rows = wt_grow(trace->rows, &reader->row_capacity, trace->row_count + 1, sizeof *trace->rows);
    trace->rows[trace->row_count++] =
        (struct wt_trace_row){.block = (uint64_t)v[COL_BLOCK],
                              .clock_start = v[COL_CLOCK_START],
                              .clock_end = v[COL_CLOCK_END],
                              .time_start_ns = v[COL_TIME_START],
                              .time_end_ns = v[COL_TIME_END],
                              .work = v[COL_WORK],
                              .launch = (uint32_t)launch,
                              .line = line->number > UINT32_MAX ? UINT32_MAX : (uint32_t)line->number,
                              .sm = (uint16_t)v[COL_SM],
                              .warp_slot = (int16_t)v[COL_SLOT]};
    trace->launches[launch].row_count++;
    return WT_OK;
}

static bool is_blank(const struct wt_line *line)
{
    for (size_t i = 0; i < line->length; i++)
        if (line->text[i] != ' ' && line->text[i] != '\t' && line->text[i] != '\r')
            return false;
    return true;
}

static enum wt_code take_lines(struct table *table, struct wt_lines *lines, struct wt_error *err)
{
    struct wt_line line;
    for (bool more;;) {
        WT_TRY(wt_lines_next(lines, &line, &more, err));
        if (!more)
            return WT_OK;
        if (line.length > 0 && line.text[0] == '#')
            WT_TRY(wt_trace_comment(&table->reader, &line, err));
        else if (is_blank(&line))
            continue;
        else if (table->has_header)
            WT_TRY(take_row(table, &line, err));
        else
            WT_TRY(take_header(table, &line, err));
    }
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_launch_block_start(const void *left, const void *right)
{
    const struct wt_trace_row *a = left, *b = right;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->clock_start != b->clock_start)
        return order(a->clock_start, b->clock_start);
    if (a->time_start_ns != b->time_start_ns)
        return order(a->time_start_ns, b->time_start_ns);
    return order(a->line, b->line);
}

static void sort_rows(struct wt_trace *trace)
{
    for (size_t i = 1; i < trace->row_count; i++)
        if (by_launch_block_start(&trace->rows[i - 1], &trace->rows[i]) > 0) {
            qsort(trace->rows, trace->row_count, sizeof *trace->rows, by_launch_block_start);
            return;
        }
}

static enum wt_code check_duplicates(const struct wt_trace *trace, struct wt_error *err)
{
    for (size_t i = 1; i < trace->row_count; i++) {
        const struct wt_trace_row *a = &trace->rows[i - 1], *b = &trace->rows[i];
        if (a->launch != b->launch || a->block != b->block || trace->launches[a->launch].tasks > 0)
            continue;
        uint32_t first = a->line < b->line ? a->line : b->line,
                 second = a->line < b->line ? b->line : a->line;
        return wt_fail_at(
            err, trace->path, second,
            "block %llu of launch %ld is on line %u already; remove one, or if blocks take several tasks "
            "say tasks=N in a '# launch' line",
            (unsigned long long)b->block, trace->launches[a->launch].number, first);
    }
    return WT_OK;
}

/* A grid is made of whole clusters, of at most as many blocks as CUDA's largest, 16. */
static enum wt_code check_clusters(const struct wt_trace *trace, struct wt_error *err)
{
    for (size_t i = 0; i < trace->launch_count; i++) {
        const struct wt_trace_launch *launch = &trace->launches[i];
        const int *grid = launch->grid, *cluster = launch->cluster;
        if ((int64_t)cluster[0] * cluster[1] * cluster[2] <= 16 && grid[0] % cluster[0] == 0 && grid[1] % cluster[1] == 0 &&
            grid[2] % cluster[2] == 0)
            continue;
        return wt_fail_at(err, trace->path, launch->line,
                          "launch %ld: cluster=%d,%d,%d has more than 16 blocks or does not divide grid=%d,%d,%d; correct either",
                          launch->number, cluster[0], cluster[1], cluster[2], grid[0], grid[1], grid[2]);
    }
    return WT_OK;
}

/* What the file did not state and the rows tell. */
static enum wt_code complete(struct wt_trace_reader *reader, struct wt_error *err)
{
    struct wt_trace *trace = reader->trace;
    int highest_sm = 0;
    for (size_t i = 0; i < trace->row_count; i++) {
        const struct wt_trace_row *row = &trace->rows[i];
        struct wt_trace_launch *launch = &trace->launches[row->launch];
        highest_sm = row->sm > highest_sm ? row->sm : highest_sm;
        bool last = i + 1 == trace->row_count || row[1].launch != row->launch;
        if (!last || launch->grid[0] > 0)
            continue;
        if (row->block >= INT32_MAX)
            return wt_fail_at(err, trace->path, row->line,
                              "block %llu is beyond any grid's x size; state grid=X,Y,Z",
                              (unsigned long long)row->block);
        launch->grid[0] = (int)row->block + 1;
        launch->grid[1] = launch->grid[2] = 1;
    }
    if (!trace->sm_count_stated)
        trace->sm_count = highest_sm + 1;
    else if (highest_sm >= trace->sm_count)
        return wt_fail_at(err, trace->path, 0, "has rows of sm %d, but sm_count = %d; correct either",
                          highest_sm, trace->sm_count);
    for (size_t i = 0; i < trace->launch_count; i++)
        if (trace->launches[i].grid[0] == 0)
            trace->launches[i].grid[0] = trace->launches[i].grid[1] = trace->launches[i].grid[2] = 1;
    return check_clusters(trace, err);
}

static enum wt_code finish(struct table *table, struct wt_error *err)
{
    struct wt_trace *trace = table->reader.trace;
    if (!table->has_header)
        return wt_fail_at(err, trace->path, 0,
                          "has no header line 'launch,block,sm,...'; this is not a complete trace");
    if (trace->row_count == 0)
        return wt_fail_at(err, trace->path, 0, "has no rows; capture again");
    sort_rows(trace);
    WT_TRY(check_duplicates(trace, err));
    return complete(&table->reader, err);
}

static enum wt_code read_all(const char *name, struct wt_lines *lines, struct wt_trace **out,
                             struct wt_error *err)
{
    struct table *table = wt_alloc(1, sizeof *table);
    struct wt_trace *trace = wt_alloc(1, sizeof *trace);
    trace->path = wt_strdup(name);
    trace->device = wt_strdup("");
    table->reader.trace = trace;
    csv_init(&table->csv, CSV_STRICT | CSV_STRICT_FINI);
    enum wt_code code = take_lines(table, lines, err);
    if (code == WT_OK)
        code = finish(table, err);
    if (code != WT_OK) {
        wt_trace_free(trace);
        trace = NULL;
    }
    csv_free(&table->csv);
    free(table->fields.text);
    free(table->reader.index_of_number);
    free(table);
    wt_lines_close(lines);
    *out = trace;
    return code;
}

enum wt_code wt_trace_read(const char *path, struct wt_trace **out, struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open(path, &lines, err));
    return read_all(path, lines, out, err);
}

enum wt_code wt_trace_read_memory(const char *name, const void *data, size_t size, struct wt_trace **out,
                                  struct wt_error *err)
{
    struct wt_lines *lines;
    *out = NULL;
    WT_TRY(wt_lines_open_memory(name, data, size, &lines, err));
    return read_all(name, lines, out, err);
}

void wt_trace_free(struct wt_trace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; i < trace->launch_count; i++) {
        free(trace->launches[i].name);
        free(trace->launches[i].kernel);
        free(trace->launches[i].work);
    }
    free(trace->launches);
    free(trace->rows);
    free(trace->device);
    free(trace->path);
    free(trace);
}
