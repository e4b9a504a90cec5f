/* Writing a trace: text through a buffer, compressed on its way out when the name asks for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "core/mem.h"
#include "core/outfile.h"
#include "trace/reader.h"

struct sink {
    FILE *file;
    ZSTD_CStream *zstd;
};

static ssize_t write_compressed(void *cookie, const char *data, size_t size)
{
    struct sink *sink = cookie;
    ZSTD_inBuffer input = {data, size, 0};
    char packed[1 << 16];
    while (input.pos < input.size) {
        ZSTD_outBuffer output = {packed, sizeof packed, 0};
        if (ZSTD_isError(ZSTD_compressStream2(sink->zstd, &output, &input, ZSTD_e_continue)) ||
            fwrite(packed, 1, output.pos, sink->file) != output.pos)
            return 0;
    }
    return (ssize_t)size;
}

static int end_frame(void *cookie)
{
    struct sink *sink = cookie;
    ZSTD_inBuffer input = {NULL, 0, 0};
    char packed[1 << 16];
    size_t left;
    do {
        ZSTD_outBuffer output = {packed, sizeof packed, 0};
        left = ZSTD_compressStream2(sink->zstd, &output, &input, ZSTD_e_end);
        if (ZSTD_isError(left) || fwrite(packed, 1, output.pos, sink->file) != output.pos)
            return EOF;
    } while (left > 0);
    return 0;
}

static void print_columns(FILE *stream, const struct wt_trace *trace)
{
    fputs("launch,block,sm", stream);
    fputs(trace->has_clocks ? ",clock_start,clock_end" : "", stream);
    fputs(trace->has_times ? ",time_start_ns,time_end_ns" : "", stream);
    fputs(trace->has_work ? ",work" : "", stream);
    fputs(trace->has_warp_slots ? ",warp_slot" : "", stream);
    putc('\n', stream);
}

static void print_row(FILE *stream, const struct wt_trace *trace, const struct wt_trace_row *row)
{
    fprintf(stream, "%ld,%llu,%u", trace->launches[row->launch].number, (unsigned long long)row->block,
            row->sm);
    if (trace->has_clocks)
        fprintf(stream, ",%lld,%lld", (long long)row->clock_start, (long long)row->clock_end);
    if (trace->has_times)
        fprintf(stream, ",%lld,%lld", (long long)row->time_start_ns, (long long)row->time_end_ns);
    if (trace->has_work)
        fprintf(stream, ",%lld", (long long)row->work);
    if (trace->has_warp_slots)
        fprintf(stream, ",%d", row->warp_slot);
    putc('\n', stream);
}

static void print_trace(FILE *stream, const struct wt_trace *trace)
{
    wt_trace_print_header(stream, trace);
    print_columns(stream, trace);
    for (size_t i = 0; i < trace->row_count; i++)
        print_row(stream, trace, &trace->rows[i]);
}

/* False when the compressed stream could not be written completely. */
static bool print_compressed(FILE *file, const struct wt_trace *trace)
{
    struct sink sink = {file, ZSTD_createCStream()};
    ZSTD_CCtx_setParameter(sink.zstd, ZSTD_c_checksumFlag, 1);
    FILE *stream =
        fopencookie(&sink, "w", (cookie_io_functions_t){.write = write_compressed, .close = end_frame});
    print_trace(stream, trace);
    bool good = !ferror(stream);
    good &= fclose(stream) == 0;
    ZSTD_freeCStream(sink.zstd);
    return good;
}

enum wt_code wt_trace_write(const char *path, const struct wt_trace *trace, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, path, err));
    size_t length = strlen(path);
    bool good = true;
    if (length > 4 && !strcmp(path + length - 4, ".zst"))
        good = print_compressed(out.stream, trace);
    else
        print_trace(out.stream, trace);
    if (good)
        return wt_outfile_commit(&out, err);
    wt_outfile_discard(&out);
    return wt_fail_at(err, path, 0, "cannot be written completely; free some space or choose another folder");
}
