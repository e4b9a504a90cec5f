/* Does a picture of a sweep show what the table says? Tables written in a few lines; the chart that comes of each, and that it
 * can be drawn. What it looks like is for people to judge. */
#include "suites.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "observe/picture.h"
#include "study/plot.h"

static struct wt_table *parsed(const char *text)
{
    struct wt_table *table = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_table_parse(text, strlen(text), "t.csv", &table, &err) == WT_OK, "%s", err.text);
    return table;
}

static struct wt_plot *plotted(const char *text, const struct wt_plot_setup *setup)
{
    struct wt_plot *plot = NULL;
    struct wt_error err = {0};
    struct wt_table *table = parsed(text);
    ck_assert_msg(wt_plot_new(table, setup, "title", &plot, &err) == WT_OK, "%s", err.text);
    wt_table_free(table);
    return plot;
}

static const struct wt_plot_setup unasked = {0};

static void assert_points(const struct wt_chart_series *series, size_t count, const double (*points)[2])
{
    ck_assert_uint_eq(series->count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq(series->points[i].x, points[i][0]);
        ck_assert_double_eq(series->points[i].y, points[i][1]);
    }
}

/* ---- Tables ---- */

START_TEST(quotes_hold_commas)
{
    struct wt_table *table = parsed("a,b\n\"1,5\",\"say \"\"so\"\"\"\n2,\n");
    ck_assert_uint_eq(table->rows, 2);
    ck_assert_str_eq(wt_table_cell(table, 0, 0), "1,5");
    ck_assert_str_eq(wt_table_cell(table, 0, 1), "say \"so\"");
    ck_assert_double_eq(wt_table_number(table, 1, 0), 2);
    ck_assert_double_nan(wt_table_number(table, 1, 1));
    wt_table_free(table);
}
END_TEST

START_TEST(damaged_tables_are_refused)
{
    static const char *const texts[][2] = {
        {"a,b\n1,2\n3\n", "t.csv:3: has not the 2 cells that line 1 names; the table is damaged or cut off"},
        {"", "t.csv:1: is empty; give a table that `wavetail sweep` wrote"}};
    for (size_t i = 0; i < 2; i++) {
        struct wt_table *table = NULL;
        struct wt_error err = {0};
        ck_assert_int_eq(wt_table_parse(texts[i][0], strlen(texts[i][0]), "t.csv", &table, &err), WT_BAD_INPUT);
        ck_assert_ptr_null(table);
        ck_assert_str_eq(err.text, texts[i][1]);
    }
}
END_TEST

/* ---- What is drawn ---- */

/* `registers` follows from `block`, and `kernels` does not vary: no series. Rows need not be in order. */
START_TEST(a_key_runs_from_left_to_right)
{
    struct wt_plot *plot = plotted("point,block,registers,kernels,makespan,error\n0,128,32,1,500,\n1,64,16,1,700,\n2,256,64,1,400,\n",
                                   &unasked);
    const struct wt_chart *chart = wt_plot_chart(plot);
    ck_assert_int_eq(chart->kind, WT_CHART_LINES);
    ck_assert_str_eq(chart->x.title, "block size (threads)");
    ck_assert_str_eq(chart->y.title, "makespan (cycles)");
    ck_assert_uint_eq(chart->series_count, 1);
    assert_points(&chart->series[0], 3, (const double[][2]){{64, 700}, {128, 500}, {256, 400}});
    wt_plot_free(plot);
}
END_TEST

START_TEST(a_second_key_makes_series)
{
    struct wt_plot *plot = plotted("point,order,split,makespan,error\n0,asis,1,19,\n1,asis,2,14,\n2,longest-first,1,13,\n"
                                   "3,longest-first,2,12,\n", &unasked);
    const struct wt_chart *chart = wt_plot_chart(plot);
    ck_assert_uint_eq(chart->series_count, 2);
    ck_assert_str_eq(chart->series_title, "order of blocks");
    ck_assert_str_eq(chart->series[0].name, "asis");
    ck_assert_str_eq(chart->series[1].name, "longest-first");
    assert_points(&chart->series[0], 2, (const double[][2]){{1, 19}, {2, 14}});
    assert_points(&chart->series[1], 2, (const double[][2]){{1, 13}, {2, 12}});
    wt_plot_free(plot);
}
END_TEST

/* Three seeds at each grid: 5, 7, 30 and 4, 4, 4. Microseconds where all rows have them. */
START_TEST(seeds_become_a_median_and_a_band)
{
    struct wt_plot *plot = plotted("point,seed,grid,makespan,makespan_us\n0,1,10,0,7\n1,1,20,0,4\n2,2,10,0,30\n3,2,20,0,4\n"
                                   "4,3,10,0,5\n5,3,20,0,4\n", &unasked);
    const struct wt_chart *chart = wt_plot_chart(plot);
    ck_assert_str_eq(chart->y.title, "makespan (µs)");
    assert_points(&chart->series[0], 2, (const double[][2]){{10, 7}, {20, 4}});
    ck_assert_double_eq(chart->series[0].points[0].low, 5);
    ck_assert_double_eq(chart->series[0].points[0].high, 30);
    ck_assert_double_eq(chart->series[0].points[1].high, 4);
    wt_plot_free(plot);
}
END_TEST

START_TEST(words_make_bars_from_zero)
{
    struct wt_plot *plot = plotted("point,order,makespan\n0,asis,19\n1,shuffle,18\n", &unasked);
    const struct wt_chart *chart = wt_plot_chart(plot);
    ck_assert_uint_eq(chart->x.name_count, 2);
    ck_assert_str_eq(chart->x.names[1], "shuffle");
    ck_assert_double_eq(chart->y.low, 0);
    wt_plot_free(plot);
}
END_TEST

START_TEST(what_cannot_be_launched_is_counted)
{
    struct wt_plot *plot = plotted("point,dynamic_shared,makespan,error\n0,1024,5,\n1,3072,,\"too much\"\n2,2048,6,\n", &unasked);
    const struct wt_chart *chart = wt_plot_chart(plot);
    ck_assert_str_eq(chart->x.title, "dynamic shared memory per block (KB)");
    assert_points(&chart->series[0], 2, (const double[][2]){{1, 5}, {2, 6}});
    ck_assert_str_eq(chart->note, "2 points  ·  1 more has no result");
    wt_plot_free(plot);
}
END_TEST

/* ---- Scales ---- */

static bool is_log(const char *values, bool of_x, int scale)
{
    char *table = wt_strdup("point,grid,makespan\n");
    int length;
    for (double x, y; sscanf(values, "%lf:%lf%n", &x, &y, &length) == 2; values += length) {
        char *longer = wt_format("%s0,%g,%g\n", table, x, y);
        free(table);
        table = longer;
    }
    struct wt_plot *plot = plotted(table, &(struct wt_plot_setup){.x_scale = of_x ? scale : 0, .y_scale = of_x ? 0 : scale});
    bool log = of_x ? wt_plot_chart(plot)->x.log : wt_plot_chart(plot)->y.log;
    wt_plot_free(plot);
    free(table);
    return log;
}

START_TEST(ratios_make_logarithmic_axes)
{
    ck_assert(is_log("1:1 10:1 100:1", true, WT_SCALE_AUTO));
    ck_assert(!is_log("1:1 50:1 100:1", true, WT_SCALE_AUTO));
    ck_assert(!is_log("0:1 10:1 100:1", true, WT_SCALE_AUTO));
    ck_assert(!is_log("1:1 10:1 100:1", true, WT_SCALE_LINEAR));
    ck_assert(is_log("1:1 50:1 100:1", true, WT_SCALE_LOG));
    ck_assert(is_log("1:1 2:31", false, WT_SCALE_AUTO));
    ck_assert(!is_log("1:1 2:29", false, WT_SCALE_AUTO));
}
END_TEST

/* ---- Maps ---- */

/* 8 x 7 values; the cell at (i, j) is 100 - i j, so the last is the best; (0, 0) was not launched. */
START_TEST(two_ranges_make_a_map)
{
    char *text = wt_strdup("point,block,registers,makespan,error\n");
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 7; j++) {
            char *value = i + j > 0 ? wt_format("%d,", 100 - i * j) : wt_strdup(",no");
            char *longer = wt_format("%s0,%d,%d,%s\n", text, 64 + 64 * i, 16 + 8 * j, value);
            free(value);
            free(text);
            text = longer;
        }
    struct wt_plot *plot = plotted(text, &unasked);
    const struct wt_chart *chart = wt_plot_chart(plot);
    ck_assert_int_eq(chart->kind, WT_CHART_MAP);
    ck_assert_uint_eq(chart->x.name_count, 8);
    ck_assert_uint_eq(chart->y.name_count, 7);
    ck_assert_double_nan(chart->cells[0]);
    for (size_t i = 1; i < 56; i++)
        ck_assert_double_eq(chart->cells[i], 100.0 - (double)(i % 8) * (double)(i / 8));
    ck_assert_int_eq(chart->best, 55);
    ck_assert_double_eq(chart->value.low, 100 - 42);
    ck_assert_double_eq(chart->value.high, 100);
    wt_plot_free(plot);
    free(text);
}
END_TEST

/* ---- The front ---- */

/* Against the definition: on the front is who has nobody that is at least as good in both and better in one. */
START_TEST(the_front_is_what_nothing_beats)
{
    enum { MANY = 60 };
    double latency[MANY], throughput[MANY];
    struct wt_random random = wt_random_stream((uint64_t)_i, "plot test", 0);
    char *text = wt_strdup("point,grid,makespan,blocks_per_cycle\n");
    for (int i = 0; i < MANY; i++) {
        latency[i] = floor(30 * wt_random_unit(&random));
        throughput[i] = floor(30 * wt_random_unit(&random));
        char *longer = wt_format("%s%d,%d,%g,%g\n", text, i, i, latency[i], throughput[i]);
        free(text);
        text = longer;
    }
    struct wt_plot *plot = plotted(text, &(struct wt_plot_setup){.kind = WT_PLOT_FRONT});
    const struct wt_chart *chart = wt_plot_chart(plot);
    for (int i = 0; i < MANY; i++) {
        bool beaten = false, twin = false;
        for (int j = 0; j < MANY; j++) {
            beaten |= latency[j] <= latency[i] && throughput[j] >= throughput[i] &&
                      (latency[j] < latency[i] || throughput[j] > throughput[i]);
            twin |= j != i && latency[j] == latency[i] && throughput[j] == throughput[i];
        }
        const struct wt_chart_point *point = &chart->series[0].points[i];
        ck_assert_double_eq(point->x, latency[i]);
        ck_assert_double_eq(point->y, throughput[i]);
        ck_assert(twin || point->on_front == !beaten);
    }
    wt_plot_free(plot);
    free(text);
}
END_TEST

/* ---- What is refused ---- */

START_TEST(what_cannot_be_drawn_says_why)
{
    static const char table[] = "point,grid,order,makespan\n0,1,asis,5\n1,2,asis,6\n";
    static const struct {
        struct wt_plot_setup setup;
        const char *message;
    } cases[] = {
        {{.x = "grids"}, "there is no column 'grids'; did you mean 'grid'?"},
        {{.y = "order"}, "no row has a number in column 'order'; name another with 'y'"},
        {{.kind = WT_PLOT_MAP}, "a map needs two keys that vary; name the second with 'by'"},
        {{.kind = WT_PLOT_POINTS, .x = "order"}, "points need numbers, which 'order' has not; draw lines"}};
    struct wt_table *t = parsed(table);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wt_plot *plot = NULL;
        struct wt_error err = {0};
        ck_assert_int_eq(wt_plot_new(t, &cases[i].setup, "", &plot, &err), WT_BAD_INPUT);
        ck_assert_ptr_null(plot);
        ck_assert_str_eq(err.text, cases[i].message);
    }
    wt_table_free(t);
}
END_TEST

/* ---- Pictures ---- */

static void assert_words(double value, const char *words)
{
    char text[WT_CHART_TICK_TEXT];
    wt_chart_words(text, value);
    ck_assert_str_eq(text, words);
}

START_TEST(ticks_are_short)
{
    assert_words(0, "0");
    assert_words(0.25, "0.25");
    assert_words(1, "1");
    assert_words(0.0001, "0.0001");
    assert_words(5e-5, "5×10⁻⁵");
    assert_words(12000, "12,000");
    assert_words(2500000, "2.5 M");
    assert_words(3e9, "3 G");
    assert_words(1e13, "10¹³");
    assert_words(-20, "−20");
}
END_TEST

struct bytes {
    char *data;
    size_t size, at;
};

static struct bytes drawn(const struct wt_chart *chart, enum wt_code (*write)(const struct wt_chart *, FILE *, struct wt_error *))
{
    struct bytes bytes = {0};
    FILE *stream = open_memstream(&bytes.data, &bytes.size);
    ck_assert_int_eq(write(chart, stream, NULL), WT_OK);
    fclose(stream);
    ck_assert_uint_gt(bytes.size, 1000);
    return bytes;
}

static cairo_status_t give(void *closure, unsigned char *data, unsigned int length)
{
    struct bytes *bytes = closure;
    if (bytes->at + length > bytes->size)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(data, bytes->data + bytes->at, length);
    bytes->at += length;
    return CAIRO_STATUS_SUCCESS;
}

/* Pixels of exactly a colour. */
static size_t count_pixels(struct bytes png, struct wt_colour colour)
{
    size_t count = 0;
    uint32_t wanted = (uint32_t)(colour.red * 255 + 0.5) << 16 | (uint32_t)(colour.green * 255 + 0.5) << 8 |
                      (uint32_t)(colour.blue * 255 + 0.5);
    cairo_surface_t *surface = cairo_image_surface_create_from_png_stream(give, &png);
    for (int y = 0; y < cairo_image_surface_get_height(surface); y++) {
        const uint32_t *row = (const void *)(cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface));
        for (int x = 0; x < cairo_image_surface_get_width(surface); x++)
            count += (row[x] & 0xffffff) == wanted;
    }
    cairo_surface_destroy(surface);
    return count;
}

static const char *const tables[] = {
    "point,order,split,makespan\n0,asis,1,19\n1,asis,2,14\n2,longest-first,1,13\n3,longest-first,2,12\n",
    "point,split,makespan\n0,1,19\n"};

START_TEST(each_series_is_there_in_its_colour)
{
    struct wt_plot *plot = plotted(tables[0], &unasked);
    struct bytes png = drawn(wt_plot_chart(plot), wt_chart_png);
    ck_assert_uint_gt(count_pixels(png, wt_launch_colour(0, false)), 20);
    ck_assert_uint_gt(count_pixels(png, wt_launch_colour(1, false)), 20);
    ck_assert_uint_eq(count_pixels(png, wt_launch_colour(2, false)), 0);
    free(png.data);
    wt_plot_free(plot);
}
END_TEST

START_TEST(pictures_are_the_same_every_time)
{
    static enum wt_code (*const writers[])(const struct wt_chart *, FILE *, struct wt_error *) = {wt_chart_svg, wt_chart_png,
                                                                                                 wt_chart_pdf};
    static const enum wt_plot_kind kinds[] = {WT_PLOT_LINES, WT_PLOT_MAP, WT_PLOT_POINTS};
    for (size_t k = 0; k < 3; k++) {
        struct wt_plot *plot = plotted(tables[0], &(struct wt_plot_setup){.kind = kinds[k]});
        for (size_t w = 0; w < 3; w++) {
            struct bytes one = drawn(wt_plot_chart(plot), writers[w]), two = drawn(wt_plot_chart(plot), writers[w]);
            ck_assert_uint_eq(one.size, two.size);
            ck_assert_mem_eq(one.data, two.data, one.size);
            free(one.data);
            free(two.data);
        }
        wt_plot_free(plot);
    }
}
END_TEST

/* A single point, and less room than the words need. */
START_TEST(little_is_drawn_too)
{
    struct wt_plot *plot = plotted(tables[1], &(struct wt_plot_setup){.x = "split"});
    struct wt_chart *chart = wt_plot_chart(plot);
    chart->width = chart->height = 200;
    free(drawn(chart, wt_chart_png).data);
    wt_plot_free(plot);
}
END_TEST

Suite *plot_suite(void)
{
    Suite *suite = suite_create("plot");
    TCase *tests = tcase_create("plot");
    tcase_add_test(tests, quotes_hold_commas);
    tcase_add_test(tests, damaged_tables_are_refused);
    tcase_add_test(tests, a_key_runs_from_left_to_right);
    tcase_add_test(tests, a_second_key_makes_series);
    tcase_add_test(tests, seeds_become_a_median_and_a_band);
    tcase_add_test(tests, words_make_bars_from_zero);
    tcase_add_test(tests, what_cannot_be_launched_is_counted);
    tcase_add_test(tests, ratios_make_logarithmic_axes);
    tcase_add_test(tests, two_ranges_make_a_map);
    tcase_add_loop_test(tests, the_front_is_what_nothing_beats, 0, 20);
    tcase_add_test(tests, what_cannot_be_drawn_says_why);
    tcase_add_test(tests, ticks_are_short);
    tcase_add_test(tests, each_series_is_there_in_its_colour);
    tcase_add_test(tests, pictures_are_the_same_every_time);
    tcase_add_test(tests, little_is_drawn_too);
    suite_add_tcase(suite, tests);
    return suite;
}
