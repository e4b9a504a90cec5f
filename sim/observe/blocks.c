#include "observe/blocks.h"

#include <assert.h>
#include <string.h>

/* The longest row: six numbers of 20 digits, two of them with 11 more, and a task. */
enum { ROW = 224 };

static char *put_number(char *at, uint64_t value)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *at++ = digits[--count];
    return at;
}

/* 1/1024 = 9765625 / 10^10: ten decimals say every fraction exactly. */
static char *put_cycles(char *at, wt_time t)
{
    at = put_number(at, t / WT_CYCLE);
    uint64_t fraction = t % WT_CYCLE * 9765625;
    if (!fraction)
        return at;
    *at++ = '.';
    for (uint64_t unit = 1000000000; fraction; unit /= 10) {
        *at++ = (char)('0' + fraction / unit);
        fraction %= unit;
    }
    return at;
}

int wt_cycles_text(char *text, wt_time t)
{
    char *end = put_cycles(text, t);
    *end = '\0';
    return (int)(end - text);
}

static bool has_tasks(const struct wt_timeline *about)
{
    for (size_t i = 0; i < about->launch_count; i++)
        if (about->launches[i].tasks > 0)
            return true;
    return false;
}

static void write_row(FILE *stream, const struct wt_timeline *about, const struct wt_block_run *run, wt_time origin,
                      bool with_tasks)
{
    char row[ROW], *at = row;
    long number = about->launches[run->launch].number;
    if (number < 0)
        *at++ = '-';
    at = put_number(at, number < 0 ? -(uint64_t)number : (uint64_t)number);
    *at++ = ',';
    at = put_number(at, run->block);
    *at++ = ',';
    at = put_number(at, run->sm);
    *at++ = ',';
    at = put_number(at, run->slot);
    *at++ = ',';
    at = put_cycles(at, run->start - origin);
    *at++ = ',';
    at = put_cycles(at, run->end - origin);
    if (with_tasks)
        *at++ = ',';
    if (about->launches[run->launch].tasks > 0)
        at = put_number(at, run->task);
    *at++ = '\n';
    fwrite(row, 1, (size_t)(at - row), stream);
}

static void write_header(FILE *stream, bool with_tasks)
{
    fputs(with_tasks ? "launch,block,sm,slot,start,end,task\n" : "launch,block,sm,slot,start,end\n", stream);
}

static void on_launch_begin(void *context, uint32_t launch, wt_time first_start)
{
    struct wt_blocks *blocks = context;
    (void)launch;
    if (!blocks->begun)
        blocks->origin = first_start;
    blocks->begun = true;
}

static void on_block(void *context, const struct wt_block_run *run)
{
    struct wt_blocks *blocks = context;
    assert(run->launch < blocks->about->launch_count && run->start >= blocks->origin);
    if (blocks->about->launches[run->launch].tasks == 0)
        write_row(blocks->out.stream, blocks->about, run, blocks->origin, blocks->with_tasks);
}

static void on_task(void *context, const struct wt_block_run *run)
{
    struct wt_blocks *blocks = context;
    write_row(blocks->out.stream, blocks->about, run, blocks->origin, true);
}

enum wt_code wt_blocks_open(struct wt_blocks *blocks, const char *path, const struct wt_timeline *about,
                            struct wt_error *err)
{
    *blocks = (struct wt_blocks){.about = about, .with_tasks = has_tasks(about)};
    WT_TRY(wt_outfile_open(&blocks->out, path, err));
    write_header(blocks->out.stream, blocks->with_tasks);
    return WT_OK;
}

struct wt_observer wt_blocks_observer(struct wt_blocks *blocks)
{
    return (struct wt_observer){.context = blocks, .launch_begins = on_launch_begin, .block_done = on_block,
                                .task_done = on_task};
}

enum wt_code wt_blocks_commit(struct wt_blocks *blocks, struct wt_error *err)
{
    return wt_outfile_commit(&blocks->out, err);
}

void wt_blocks_discard(struct wt_blocks *blocks)
{
    wt_outfile_discard(&blocks->out);
}

static enum wt_code write_blocks(const struct wt_export *what, FILE *stream, struct wt_error *err)
{
    struct wt_timeline *timeline = wt_export_main(what);
    (void)err;
    wt_timeline_sort(timeline);
    wt_time origin = wt_timeline_begin(timeline);
    bool with_tasks = has_tasks(timeline);
    write_header(stream, with_tasks);
    for (size_t i = 0; i < timeline->span_count; i++)
        if (!wt_timeline_never_ends(timeline, &timeline->spans[i]))
            write_row(stream, timeline, &timeline->spans[i], origin, with_tasks);
    return WT_OK;
}

const struct wt_exporter wt_blocks_exporter = {.name = "blocks", .write = write_blocks};
