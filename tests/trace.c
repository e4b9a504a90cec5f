/* Does the trace reader take what it should, and say what is wrong with the rest? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "core/mem.h"
#include "suites.h"
#include "trace/trace.h"

#define HEAD "launch,block,sm,clock_start,clock_end,time_start_ns,time_end_ns,work,warp_slot\n"

static char *shipped(const char *name)
{
    return wt_format("%s/traces/h200/%s.csv.zst", WT_SOURCE_ROOT, name);
}

static struct wt_trace *read_text(const char *text)
{
    struct wt_trace *trace;
    struct wt_error err = {0};
    enum wt_code code = wt_trace_read_memory("t.csv", text, strlen(text), &trace, &err);
    ck_assert_msg(code == WT_OK, "%s\nfor\n%s", err.text, text);
    return trace;
}

static void assert_refused(const void *data, size_t size, const char *expected)
{
    struct wt_trace *trace;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_trace_read_memory("t.csv", data, size, &trace, &err), WT_BAD_INPUT);
    ck_assert_ptr_null(trace);
    ck_assert_msg(strstr(err.text, expected) != NULL, "expected '%s' in '%s'", expected, err.text);
}

static void assert_same(const struct wt_trace *a, const struct wt_trace *b)
{
    ck_assert_uint_eq(a->row_count, b->row_count);
    ck_assert_uint_eq(a->launch_count, b->launch_count);
    for (size_t i = 0; i < a->row_count; i++) {
        const struct wt_trace_row *l = &a->rows[i], *r = &b->rows[i];
        ck_assert_msg(l->block == r->block && l->launch == r->launch && l->sm == r->sm &&
                          l->warp_slot == r->warp_slot && l->clock_start == r->clock_start &&
                          l->clock_end == r->clock_end && l->work == r->work &&
                          l->time_start_ns == r->time_start_ns && l->time_end_ns == r->time_end_ns,
                      "row %zu differs", i);
    }
}

/* Values as `zstdcat` shows them. */
START_TEST(a_captured_trace)
{
    char *path = shipped("spin20k_b256.r0");
    struct wt_trace *trace;
    struct wt_error err = {0};
    ck_assert_msg(wt_trace_read(path, &trace, &err) == WT_OK, "%s", err.text);
    ck_assert_str_eq(trace->device, "NVIDIA H200");
    ck_assert_int_eq(trace->cc_major, 9);
    ck_assert_int_eq(trace->cc_minor, 0);
    ck_assert_int_eq(trace->sm_count, 132);
    ck_assert_double_eq(trace->clock_khz, 1980000);
    ck_assert_int_eq(trace->globaltimer_step_ns, 32);
    ck_assert(trace->has_clocks && trace->has_times && trace->has_work && trace->has_warp_slots);
    ck_assert_uint_eq(trace->launch_count, 1);
    const struct wt_trace_launch *launch = &trace->launches[0];
    ck_assert_str_eq(launch->name, "spin20k_b256");
    ck_assert_str_eq(launch->kernel, "spin");
    ck_assert_str_eq(launch->work, "const:20000");
    ck_assert_int_eq(launch->grid[0], 2169);
    ck_assert_int_eq(wt_trace_block_threads(launch), 256);
    ck_assert_int_eq(launch->registers_per_thread, 18);
    ck_assert_int_eq(launch->work_seed, 1);
    ck_assert_int_eq(launch->occupancy_blocks, 8);
    ck_assert_int_eq(launch->carveout_kb, -1);
    ck_assert_uint_eq(trace->row_count, 2169);
    const struct wt_trace_row *row = &trace->rows[1];
    ck_assert_uint_eq(row->block, 1);
    ck_assert_uint_eq(row->sm, 129);
    ck_assert_int_eq(row->clock_start, 37526938687);
    ck_assert_int_eq(row->clock_end, 37526958902);
    ck_assert_int_eq(row->time_start_ns, 1795997999312160352);
    ck_assert_int_eq(row->time_end_ns, 1795997999312170624);
    ck_assert_int_eq(row->work, 20000);
    ck_assert_int_eq(row->warp_slot, 3);
    ck_assert_uint_eq(row->line, 10);
    wt_trace_free(trace);
    free(path);
}
END_TEST

static const char plain[] =
    HEAD "0,0,2,100,200,1000,1064,7,0\n0,1,3,110,220,1032,1096,8,1\n0,2,2,210,300,1096,1128,9,2\n";

/* Every text says the same as `plain`. */
START_TEST(the_same_trace_in_other_shapes)
{
    static const char *const shapes[] = {
        /* CRLF, byte order mark, no newline at the end */
        "\xef\xbb\xbf"
        "launch,block,sm,clock_start,clock_end,time_start_ns,time_end_ns,work,warp_slot\r\n0,0,2,100,200,"
        "1000,1064,7,0\r\n"
        "0,1,3,110,220,1032,1096,8,1\r\n0,2,2,210,300,1096,1128,9,2",
        /* unsorted, blank lines, comments between rows */
        HEAD "\n0,2,2,210,300,1096,1128,9,2\n# a remark\n0,1,3,110,220,1032,1096,8,1\n   "
             "\n0,0,2,100,200,1000,1064,7,0\n",
        /* other columns, another order, quotes, spaces */
        "sm,kernel,launch,block,time_start_ns,time_end_ns,clock_start,clock_end,warp_slot,work\n"
        "2,\"f<int, 3>(\"\"a\"\")\",0,0,1000,1064,100,200,0,7\n3,,0,1,1032,1096, 110 "
        ",220,1,8\n2,g,\"0\",2,1096,1128,210,\"300\",2,9\n",
        /* no launch column */
        "block,sm,clock_start,clock_end,time_start_ns,time_end_ns,work,warp_slot\n"
        "0,2,100,200,1000,1064,7,0\n1,3,110,220,1032,1096,8,1\n2,2,210,300,1096,1128,9,2\n",
    };
    struct wt_trace *expected = read_text(plain);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct wt_trace *trace = read_text(shapes[i]);
        assert_same(expected, trace);
        wt_trace_free(trace);
    }
    ck_assert_int_eq(expected->sm_count, 4);
    ck_assert_int_eq(expected->launches[0].grid[0], 3);
    ck_assert_str_eq(expected->launches[0].name, "");
    wt_trace_free(expected);
}
END_TEST

START_TEST(missing_columns_leave_zeros)
{
    struct wt_trace *trace =
        read_text("launch,block,sm,clock_start,clock_end,time_start_ns,time_end_ns,work\n0,0,0,1,2,3,4,5\n");
    ck_assert(trace->has_work && !trace->has_warp_slots);
    ck_assert_int_eq(trace->rows[0].warp_slot, -1);
    wt_trace_free(trace);
    trace = read_text("block,sm,time_start_ns,time_end_ns\n0,0,3,4\n");
    ck_assert(!trace->has_clocks && trace->has_times && !trace->has_work);
    ck_assert_int_eq(trace->rows[0].time_end_ns, 4);
    wt_trace_free(trace);
    trace = read_text("block,sm,clock_start,clock_end\n0,0,-9000000000,4\n");
    ck_assert(trace->has_clocks && !trace->has_times);
    ck_assert_int_eq(trace->rows[0].clock_start, -9000000000);
    wt_trace_free(trace);
}
END_TEST

START_TEST(launch_lines_hold_any_kernel_name)
{
    struct wt_trace *trace =
        read_text("# launch 7: name=a b kernel=void f<int, 4>(float const*) grid=2,3 block=32x2x1 cluster=2 "
                  "regs=20 oddity=1\n"
                  "# launch 2: kernel=\"say \"\"x=1\"\" twice\" grid=5 tasks=9 cooperative=1 carveout_kb=100 "
                  "dynamic_smem=1024\n" HEAD "7,5,0,1,2,1,2,0,0\n2,4,0,5,6,5,6,0,0\n");
    const struct wt_trace_launch *a = &trace->launches[0], *b = &trace->launches[1];
    ck_assert_int_eq(a->number, 7);
    ck_assert_str_eq(a->name, "a b");
    ck_assert_str_eq(a->kernel, "void f<int, 4>(float const*)");
    ck_assert_uint_eq(wt_trace_grid_blocks(a), 6);
    ck_assert_int_eq(wt_trace_block_threads(a), 64);
    ck_assert_int_eq(a->cluster[0], 2);
    ck_assert_int_eq(a->registers_per_thread, 20);
    ck_assert_str_eq(b->kernel, "say \"x=1\" twice");
    ck_assert_int_eq(b->tasks, 9);
    ck_assert(b->cooperative && !a->cooperative);
    ck_assert_int_eq(b->carveout_kb, 100);
    ck_assert_int_eq(b->dynamic_shared_bytes, 1024);
    ck_assert_int_eq(b->registers_per_thread, -1);
    ck_assert_uint_eq(trace->rows[1].launch, 1);
    wt_trace_free(trace);
}
END_TEST

#define LAUNCH "# launch 0: name=a grid=4 block=32\n"

/* Place and remedy of every kind of damage. */
START_TEST(what_is_wrong_and_where)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "t.csv: is empty"},
        {"\n\n", "t.csv: has no header"},
        {"hello, world\n1,2\n", "t.csv:1: expected the header"},
        {"0,0,2,100,200,1000,1064,7,0\n", "t.csv:1: expected the header"},
        {HEAD, "t.csv: has no rows"},
        {"# wavetail-trace 2\n" HEAD, "t.csv:1: trace format version '2'"},
        {"# wavetail-trace one\n" HEAD, "t.csv:1: trace format version 'one'"},
        {"block,clock_start,clock_end\n0,1,2\n", "t.csv:1: the header has no column 'sm'"},
        {"block,sm,clock_start,clock_ends\n0,0,1,2\n", "no column 'clock_end' (is it 'clock_ends'?)"},
        {"block,sm,time_start_ns,time_end_ns,clock_start\n", "no column 'clock_end'"},
        {"block,sm\n0,0\n", "no column 'clock_start'"},
        {"block,sm,sm,clock_start,clock_end\n", "t.csv:1: the header has column 'sm' twice"},
        {HEAD "0,0,0,1,2,1,2,0\n", "t.csv:2: has 8 fields where the header has 9"},
        {HEAD "0,0,0,1,2,1,2,0,0\n0,1,0,1,2,1,2,0,0,5\n", "t.csv:3: has 10 fields where the header has 9"},
        {HEAD "0,0,0,1,2,1,2,0,0\n0,1,0,1,2,1,2,0,\n", "t.csv:3: warp_slot '' is not a whole number"},
        {HEAD "0,0,0,1,2.5,1,2,0,0\n", "t.csv:2: clock_end '2.5' is not a whole number"},
        {HEAD "0,0,0,1,99999999999999999999,1,2,0,0\n",
         "t.csv:2: clock_end 99999999999999999999 is not from"},
        {HEAD "0,0,0,1,9223372036854775807,1,2,0,0\n", "t.csv:2: clock_end 9223372036854775807 is not from"},
        {HEAD "0,-1,0,1,2,1,2,0,0\n", "t.csv:2: block -1 is not from 0"},
        {HEAD "0,0,1024,1,2,1,2,0,0\n", "t.csv:2: sm 1024 is not from 0 to 1023"},
        {HEAD "0,0,-1,1,2,1,2,0,0\n", "t.csv:2: sm -1 is not from 0"},
        {"# sm_count = 4\n" HEAD "0,0,4,1,2,1,2,0,0\n", "t.csv:3: sm 4, but sm_count = 4"},
        {HEAD "0,0,4,1,2,1,2,0,0\n# sm_count = 4\n", "t.csv: has rows of sm 4, but sm_count = 4"},
        {"# sm_count = 0\n" HEAD, "t.csv:1: sm_count = 0"},
        {"# sm_count = 2000\n" HEAD, "t.csv:1: sm_count = 2000"},
        {"# clock_khz = fast\n" HEAD, "t.csv:1: clock_khz = fast"},
        {"# compute_capability = ninety\n" HEAD, "t.csv:1: compute_capability = ninety"},
        {HEAD "0,0,0,2,1,1,2,0,0\n", "t.csv:2: the block ends before it starts"},
        {HEAD "0,0,0,1,2,2,1,0,0\n", "t.csv:2: the block ends before it starts"},
        {LAUNCH HEAD "1,0,0,1,2,1,2,0,0\n", "t.csv:3: no line '# launch 1: ...'"},
        {LAUNCH HEAD "0,4,0,1,2,1,2,0,0\n", "t.csv:3: block 4 is outside the grid of 4 blocks (line 1)"},
        {HEAD "0,2,0,1,2,1,2,0,0\n0,1,0,1,2,1,2,0,0\n0,2,0,5,6,5,6,0,0\n",
         "t.csv:4: block 2 of launch 0 is on line 2 already"},
        {HEAD "0,3000000000,0,1,2,1,2,0,0\n", "t.csv:2: block 3000000000 is beyond any grid's x size"},
        {HEAD "2000000,0,0,1,2,1,2,0,0\n", "t.csv:2: launch 2000000 is not from 0"},
        {HEAD "0,0,0,1,\"2,1,2,0,0\n", "t.csv:2: the quotes in this line do not match"},
        {"# launch zero: grid=1\n", "t.csv:1: expected '# launch K: key=value ...'"},
        {"# launch 0 grid=1\n", "t.csv:1: expected '# launch K: key=value ...'"},
        {LAUNCH "# launch 0: grid=1\n", "t.csv:2: launch 0 is described twice"},
        {HEAD "0,0,0,1,2,1,2,0,0\n# launch 0: grid=4\n",
         "t.csv:3: launch 0 is described twice, or after its first row"},
        {"# launch 0: grid=0\n", "t.csv:1: grid=0 is out of range"},
        {"# launch 0: grid=1,2,3,4\n", "t.csv:1: grid=1,2,3,4 is out of range"},
        {"# launch 0: grid=1,70000\n", "y and z go to 65535"},
        {"# launch 0: block=1025\n", "t.csv:1: block=1025 is out of range"},
        {"# launch 0: block=32,33\n", "has more than 1024 threads"},
        {"# launch 0: grid=4 cluster=3\n" HEAD "0,0,0,1,2,1,2,0,0\n", "t.csv:1: launch 0: cluster=3,1,1 has more than 16 blocks or"},
        {"# launch 0: cluster=2\n" HEAD "0,0,0,1,2,1,2,0,0\n", "does not divide grid=1,1,1"},
        {"# launch 0: grid=4,8 cluster=4,8\n" HEAD "0,0,0,1,2,1,2,0,0\n", "t.csv:1: launch 0: cluster=4,8,1"},
        {"# launch 0: regs=many\n", "t.csv:1: regs=many is out of range or garbled"},
        {"# launch 0: kernel=\"f\n", "t.csv:1: the quote after kernel= is not closed"},
        {"# launch 0: nonsense\n", "t.csv:1: 'nonsense' is not key=value"},
        {"\x1f\x8b\x08 gzip", "t.csv: is compressed, but not with zstd"},
        {"\x7f"
         "ELF\x02\x01\x01\n",
         "t.csv:1: expected the header"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].expected);
    assert_refused("block,sm\0", 10, "t.csv:1: holds a NUL byte");
}
END_TEST

START_TEST(tasks_of_a_persistent_block_are_no_duplicates)
{
    struct wt_trace *trace = read_text("# launch 0: grid=2 block=32 tasks=3\n" HEAD
                                       "0,1,0,5,6,5,6,0,0\n0,0,0,1,2,1,2,1,0\n0,0,0,3,4,3,4,2,0\n");
    ck_assert_uint_eq(trace->row_count, 3);
    ck_assert_int_eq(trace->rows[1].clock_start, 3);
    ck_assert_uint_eq(trace->rows[2].block, 1);
    ck_assert_uint_eq(wt_trace_kinds(trace), WT_TRACE_PERSISTENT);
    wt_trace_free(trace);
}
END_TEST

START_TEST(overlong_lines_are_refused)
{
    size_t size = (1 << 20) + 100;
    char *text = wt_alloc(size + 1, 1);
    memset(text, ' ', size);
    memcpy(text, HEAD, strlen(HEAD));
    assert_refused(text, size, "t.csv:2: the line is longer than 1 MiB");
    free(text);
}
END_TEST

static char *packed(const char *text, size_t *size)
{
    size_t room = ZSTD_compressBound(strlen(text));
    char *data = wt_alloc(room, 1);
    *size = ZSTD_compress(data, room, text, strlen(text), 3);
    ck_assert(!ZSTD_isError(*size));
    return data;
}

/* Rows with little in common, so that a cut leaves some of them whole. */
static char *long_text(int rows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    fputs(HEAD, stream);
    for (int i = 0; i < rows; i++)
        fprintf(stream, "0,%d,%d,%d,%d,%d,%d,%d,%d\n", i, i % 7, i * 77, i * 77 + i % 1001, i * 40,
                i * 40 + i % 499, i % 3, i % 64);
    fclose(stream);
    return text;
}

START_TEST(zstd_is_recognised_by_content)
{
    size_t size;
    char *text = long_text(50000), *data = packed(text, &size);
    struct wt_trace *expected = read_text(text), *trace;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_trace_read_memory("named.csv", data, size, &trace, &err), WT_OK);
    assert_same(expected, trace);
    wt_trace_free(trace);
    wt_trace_free(expected);
    free(data);
    free(text);
}
END_TEST

START_TEST(cut_off_zstd_is_an_error_at_every_length)
{
    size_t size;
    char *text = long_text(20000), *data = packed(text, &size);
    for (size_t cut = 4; cut < size; cut += size / 40)
        assert_refused(data, cut, "zstd frame is cut off here; copy the file again");
    assert_refused(data, size - 1, "zstd frame is cut off here");
    free(data);
    free(text);
}
END_TEST

/* Pins that damage is found and that what follows a frame must be one; not which message zstd has for it. */
START_TEST(garbled_zstd_is_an_error)
{
    size_t size;
    char *text = long_text(20000), *data = packed(text, &size);
    char *longer = wt_alloc(size + 8, 1);
    memcpy(longer, data, size);
    memcpy(longer + size, "leftover", 8);
    assert_refused(longer, size + 8, "zstd data are damaged");
    memcpy(data, "\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff", 12);
    assert_refused(data, size, "zstd data are damaged");
    free(longer);
    free(data);
    free(text);
}
END_TEST

START_TEST(paths_that_are_no_files)
{
    struct wt_trace *trace;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_trace_read("/tmp", &trace, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "/tmp: is a folder; name a file in it"));
    err = (struct wt_error){0};
    ck_assert_int_eq(wt_trace_read("/nowhere/t.csv", &trace, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "/nowhere/t.csv: cannot be opened"));
}
END_TEST

static void assert_same_launch(const struct wt_trace_launch *a, const struct wt_trace_launch *b)
{
    ck_assert_int_eq(a->number, b->number);
    ck_assert_str_eq(a->name, b->name);
    ck_assert_str_eq(a->kernel, b->kernel);
    ck_assert_str_eq(a->work, b->work);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(a->grid[i], b->grid[i]);
        ck_assert_int_eq(a->block[i], b->block[i]);
        ck_assert_int_eq(a->cluster[i], b->cluster[i]);
    }
    ck_assert_int_eq(a->registers_per_thread, b->registers_per_thread);
    ck_assert_int_eq(a->static_shared_bytes, b->static_shared_bytes);
    ck_assert_int_eq(a->dynamic_shared_bytes, b->dynamic_shared_bytes);
    ck_assert_int_eq(a->carveout_kb, b->carveout_kb);
    ck_assert_int_eq(a->stream, b->stream);
    ck_assert_int_eq(a->priority, b->priority);
    ck_assert_int_eq(a->cooperative, b->cooperative);
    ck_assert_int_eq(a->tasks, b->tasks);
    ck_assert_int_eq(a->work_seed, b->work_seed);
    ck_assert_int_eq(a->occupancy_blocks, b->occupancy_blocks);
}

static void assert_survives_writing(const struct wt_trace *trace, const char *path)
{
    struct wt_trace *again;
    struct wt_error err = {0};
    ck_assert_msg(wt_trace_write(path, trace, &err) == WT_OK, "%s", err.text);
    ck_assert_msg(wt_trace_read(path, &again, &err) == WT_OK, "%s", err.text);
    assert_same(trace, again);
    ck_assert_str_eq(trace->device, again->device);
    ck_assert_int_eq(trace->cc_major, again->cc_major);
    ck_assert_int_eq(trace->sm_count, again->sm_count);
    ck_assert_double_eq(trace->clock_khz, again->clock_khz);
    ck_assert_int_eq(trace->globaltimer_step_ns, again->globaltimer_step_ns);
    ck_assert_int_eq(trace->has_work, again->has_work);
    ck_assert_int_eq(trace->has_clocks, again->has_clocks);
    for (size_t i = 0; i < trace->launch_count; i++)
        assert_same_launch(&trace->launches[i], &again->launches[i]);
    wt_trace_free(again);
    unlink(path);
}

START_TEST(written_traces_read_back_the_same)
{
    static const char *const names[] = {"conc_A.r0", "persist_g264.r0", "cluster2_ds200k.r0",
                                        "mechanisms/carve_0.r0"};
    char folder[] = "/tmp/wavetail-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char *text = wt_format("%s/t.csv", folder), *zstd = wt_format("%s/t.csv.zst", folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = shipped(names[i]);
        struct wt_trace *trace;
        ck_assert_int_eq(wt_trace_read(path, &trace, NULL), WT_OK);
        assert_survives_writing(trace, i % 2 ? text : zstd);
        wt_trace_free(trace);
        free(path);
    }
    struct wt_trace *odd =
        read_text("# launch 3: name=a b kernel=\"x=1 \"\"y\"\" z=2\" carveout_kb=8\nblock,sm,time_start_ns,"
                  "time_end_ns,launch\n0,5,-1,2,3\n");
    assert_survives_writing(odd, text);
    assert_survives_writing(odd, zstd);
    ck_assert_msg(rmdir(folder) == 0, "something was left behind");
    struct wt_error err = {0};
    ck_assert_int_eq(wt_trace_write(zstd, odd, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, zstd));
    wt_trace_free(odd);
    free(text);
    free(zstd);
}
END_TEST

START_TEST(kinds_of_launches)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } cases[] = {
        {"spin20k_b256.r0", 0},
        {"mechanisms/partial_2.r0", 0},
        {"conc_A.r0", WT_TRACE_CONCURRENT},
        {"prio_lo.r0", WT_TRACE_CONCURRENT},
        {"small_A.r0", WT_TRACE_CONCURRENT},
        {"mechanisms/many_0.r0", WT_TRACE_CONCURRENT},
        {"seq_A.r0", WT_TRACE_SEVERAL},
        {"mechanisms/gap_0.r0", WT_TRACE_SEVERAL},
        {"mechanisms/carve_0.r0", WT_TRACE_SEVERAL},
        {"cluster8_ds100k.r0", WT_TRACE_CLUSTERED},
        {"coop_ok.r0", WT_TRACE_COOPERATIVE},
        {"persist_g264.r0", WT_TRACE_PERSISTENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = shipped(cases[i].name);
        struct wt_trace *trace;
        ck_assert_int_eq(wt_trace_read(path, &trace, NULL), WT_OK);
        ck_assert_msg(wt_trace_kinds(trace) == cases[i].kinds, "%s: %u", cases[i].name,
                      wt_trace_kinds(trace));
        wt_trace_free(trace);
        free(path);
    }
}
END_TEST

/* A launch that starts at the very stamp at which the one before it ends is not concurrent; one stamp earlier
 * it is. */
START_TEST(concurrent_means_overlapping)
{
    struct wt_trace *trace = read_text(HEAD "0,0,0,1,9,1000,1064,0,0\n1,0,0,9,20,1064,1096,0,0\n");
    ck_assert_uint_eq(wt_trace_kinds(trace), WT_TRACE_SEVERAL);
    wt_trace_free(trace);
    trace = read_text(HEAD "0,0,0,1,9,1000,1064,0,0\n1,0,0,9,20,1063,1096,0,0\n");
    ck_assert_uint_eq(wt_trace_kinds(trace), WT_TRACE_CONCURRENT);
    wt_trace_free(trace);
}
END_TEST

START_TEST(rows_of_each_launch_are_found)
{
    struct wt_trace *trace = read_text("# launch 0: grid=2\n# launch 1: grid=1\n# launch 2: grid=1\n" HEAD
                                       "2,0,0,9,20,9,20,0,0\n0,1,0,1,2,1,2,0,0\n0,0,0,1,2,1,2,0,0\n");
    ck_assert_uint_eq(trace->launches[0].row_count, 2);
    ck_assert_uint_eq(trace->launches[1].row_count, 0);
    ck_assert_ptr_eq(wt_trace_rows_of(trace, 0), trace->rows);
    ck_assert_ptr_eq(wt_trace_rows_of(trace, 2), trace->rows + 2);
    ck_assert_uint_eq(wt_trace_kinds(trace), WT_TRACE_SEVERAL);
    wt_trace_free(trace);
}
END_TEST

/* The promise is 1,000,000 blocks in 2 s; half of them here, in processor time. Sanitizers make it about 5
 * times slower. */
START_TEST(half_a_million_blocks_within_a_second)
{
    char *text = long_text(500000);
    clock_t begin = clock();
    struct wt_trace *trace = read_text(text);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ck_assert_uint_eq(trace->row_count, 500000);
#if defined __SANITIZE_ADDRESS__ || !defined NDEBUG
    seconds /= 10;
#endif
    ck_assert_msg(seconds < 1, "%.2f s", seconds);
    wt_trace_free(trace);
    free(text);
}
END_TEST

Suite *trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("trace");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_captured_trace);
    tcase_add_test(tcase, the_same_trace_in_other_shapes);
    tcase_add_test(tcase, missing_columns_leave_zeros);
    tcase_add_test(tcase, launch_lines_hold_any_kernel_name);
    tcase_add_test(tcase, what_is_wrong_and_where);
    tcase_add_test(tcase, tasks_of_a_persistent_block_are_no_duplicates);
    tcase_add_test(tcase, overlong_lines_are_refused);
    tcase_add_test(tcase, zstd_is_recognised_by_content);
    tcase_add_test(tcase, cut_off_zstd_is_an_error_at_every_length);
    tcase_add_test(tcase, garbled_zstd_is_an_error);
    tcase_add_test(tcase, paths_that_are_no_files);
    tcase_add_test(tcase, written_traces_read_back_the_same);
    tcase_add_test(tcase, kinds_of_launches);
    tcase_add_test(tcase, concurrent_means_overlapping);
    tcase_add_test(tcase, rows_of_each_launch_are_found);
    tcase_add_test(tcase, half_a_million_blocks_within_a_second);
    suite_add_tcase(suite, tcase);
    return suite;
}
