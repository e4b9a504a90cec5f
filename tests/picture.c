/* Do pictures show what happened, at any size, and the same every time? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/outfile.h"
#include "observe/picture.h"
#include "scratch.h"
#include "suites.h"
#include "synthetic.h"

struct bytes {
    char *data;
    size_t size, at;
};

struct pixel {
    int red, green, blue;
};

static const struct synthetic textbook = {.sms = 4,
                                          .slots = 1,
                                          .warps_per_block = 8,
                                          .warps_per_sm = 64,
                                          .launches = 1,
                                          .blocks = 10,
                                          .least = 1000 * WT_CYCLE,
                                          .most = 1000 * WT_CYCLE};
static const struct synthetic whole_gpu = {.sms = 132,
                                           .gpcs = 8,
                                           .slots = 8,
                                           .warps_per_block = 8,
                                           .warps_per_sm = 64,
                                           .launches = 1,
                                           .blocks = 10000,
                                           .least = 8000 * WT_CYCLE,
                                           .most = 22000 * WT_CYCLE,
                                           .gap = 400 * WT_CYCLE};

static struct bytes drawn(int exporter, const struct wt_export *what)
{
    struct bytes bytes = {0};
    struct wt_error err = {0};
    FILE *stream = open_memstream(&bytes.data, &bytes.size);
    ck_assert_msg(wt_exporters[exporter]->write(what, stream, &err) == WT_OK, "%s", err.text);
    fclose(stream);
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

static cairo_surface_t *drawn_png(const struct wt_export *what)
{
    struct bytes png = drawn(WT_EXPORTER_png, what);
    cairo_surface_t *surface = cairo_image_surface_create_from_png_stream(give, &png);
    ck_assert_int_eq(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
    free(png.data);
    return surface;
}

/* A timeline's picture, planned and drawn. */
struct sheet {
    struct wt_timeline *timeline;
    struct wt_export what;
    struct wt_picture picture;
    cairo_surface_t *surface; /* NULL: not drawn */
};

/* Takes the timeline over. The sheet must stay where it is. */
static void plan_sheet(struct sheet *sheet, struct wt_timeline *timeline)
{
    *sheet = (struct sheet){.timeline = timeline, .what = {.simulated = timeline}};
    wt_picture_plan(&sheet->picture, &sheet->what, true);
}

static void draw_sheet(struct sheet *sheet, struct wt_timeline *timeline)
{
    plan_sheet(sheet, timeline);
    sheet->surface = drawn_png(&sheet->what);
}

static void clear_sheet(struct sheet *sheet)
{
    cairo_surface_destroy(sheet->surface);
    wt_picture_clear(&sheet->picture);
    wt_timeline_free(sheet->timeline);
}

static struct pixel pixel_at(cairo_surface_t *surface, double x, double y)
{
    const unsigned char *data = cairo_image_surface_get_data(surface);
    const uint32_t *row = (const void *)(data + (size_t)y * (size_t)cairo_image_surface_get_stride(surface));
    uint32_t value = row[(size_t)x];
    return (struct pixel){value >> 16 & 255, value >> 8 & 255, value & 255};
}

static bool is_colour(struct pixel pixel, struct wt_colour colour, double tolerance)
{
    return fabs(pixel.red - 255 * colour.red) <= tolerance && fabs(pixel.green - 255 * colour.green) <= tolerance &&
           fabs(pixel.blue - 255 * colour.blue) <= tolerance;
}

/* Every block has its place, its wave's shade and a label that is not in the corner; free slots show the tail. */
START_TEST(blocks_are_where_they_ran)
{
    struct sheet sheet;
    draw_sheet(&sheet, synthetic_timeline(&textbook));
    const struct wt_timeline *timeline = sheet.timeline;
    const struct wt_picture_side *side = &sheet.picture.sides[0];
    ck_assert_int_eq(side->detail, WT_ONE_BY_ONE);
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct wt_block_run *span = &timeline->spans[i];
        double y = side->row_y[span->sm] + 3, x0 = wt_picture_x(&sheet.picture, span->start),
               x1 = wt_picture_x(&sheet.picture, span->end);
        struct wt_colour colour = wt_launch_colour(0, span->start == 1000 * WT_CYCLE);
        ck_assert(is_colour(pixel_at(sheet.surface, x0 + 3, y), colour, 1));
        ck_assert(is_colour(pixel_at(sheet.surface, x1 - 4, y), colour, 1));
    }
    for (int sm = 2; sm < 4; sm++) {
        struct pixel tail = pixel_at(sheet.surface, wt_picture_x(&sheet.picture, 2500 * WT_CYCLE), side->row_y[sm] + 3);
        ck_assert(!is_colour(tail, wt_launch_colour(0, false), 60) &&
                  !is_colour(tail, wt_launch_colour(0, true), 60));
        ck_assert(!is_colour(tail, wt_faint, 3));
    }
    clear_sheet(&sheet);
}
END_TEST

static struct wt_colour blend(struct wt_colour a, struct wt_colour b, double share)
{
    return (struct wt_colour){a.red + (b.red - a.red) * share, a.green + (b.green - a.green) * share,
                              a.blue + (b.blue - a.blue) * share};
}

/* 5000 blocks per SM, each a quarter of a pixel, with gaps three times as long: every pixel is a quarter blue. */
START_TEST(narrow_blocks_show_their_density)
{
    struct wt_timeline *timeline = wt_timeline_new("", "", 4);
    struct wt_timeline_launch launch = {.name = "k", .blocks_per_sm = 1, .grid_blocks = 20000};
    wt_timeline_add_launch(timeline, &launch);
    for (uint64_t i = 0; i < 20000; i++) {
        struct wt_block_run run = {.block = i, .sm = i % 4, .start = i / 4 * 1000, .end = i / 4 * 1000 + 250};
        wt_timeline_add(timeline, &run);
    }
    wt_timeline_find_queue_empty(timeline);
    struct sheet sheet;
    draw_sheet(&sheet, timeline);
    ck_assert_int_eq(sheet.picture.sides[0].detail, WT_AVERAGED);
    struct wt_colour expected = blend(wt_faint, wt_launch_colour(0, false), 0.25);
    for (int sm = 0; sm < 4; sm++)
        for (double x = sheet.picture.x + 1; x < sheet.picture.x + sheet.picture.plot_width - 2; x++)
            ck_assert(is_colour(pixel_at(sheet.surface, x, sheet.picture.sides[0].row_y[sm] + 5), expected, 12));
    clear_sheet(&sheet);
}
END_TEST

/* Red falls from that of a free slot to 0 of a full one, so the mean red of the rows before the tail tells how
 * much of the slots' time was taken. */
static double taken_by_pixels(cairo_surface_t *surface, const struct wt_picture *picture, double until)
{
    const struct wt_picture_side *side = &picture->sides[0];
    double sum = 0, count = 0;
    for (int row = 0; row < side->timeline->sm_count; row++)
        for (double y = ceil(side->row_y[row]); y < side->row_y[row] + picture->pitch - picture->gap - 0.5; y++)
            for (double x = picture->x; x < until; x++, count++)
                sum += 1 - pixel_at(surface, x, y).red / (255 * wt_faint.red);
    return sum / count;
}

static double taken_by_blocks(const struct wt_timeline *timeline, wt_time until, int slots)
{
    double sum = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        wt_time end = timeline->spans[i].end < until ? timeline->spans[i].end : until;
        sum += end > timeline->spans[i].start ? (double)(end - timeline->spans[i].start) : 0;
    }
    return sum / ((double)until * timeline->sm_count * slots);
}

/* Tiny blocks of random length on 132 SMs x 32 slots: no ink is lost or added by the drawing. */
START_TEST(ink_is_conserved)
{
    struct synthetic how = {.sms = 132,
                            .gpcs = 8,
                            .slots = 32,
                            .warps_per_block = 1,
                            .warps_per_sm = 64,
                            .launches = 1,
                            .blocks = 60000,
                            .least = 1,
                            .most = 600 * WT_CYCLE,
                            .gap = 500 * WT_CYCLE,
                            .seed = 4};
    struct wt_timeline *timeline = synthetic_timeline(&how);
    struct sheet sheet;
    draw_sheet(&sheet, timeline);
    double until = floor(wt_picture_x(&sheet.picture, timeline->launches[0].queue_empty)) - 1;
    wt_time moment = (wt_time)((until - sheet.picture.x) / sheet.picture.plot_width * (double)sheet.picture.length);
    double pixels = taken_by_pixels(sheet.surface, &sheet.picture, until), blocks = taken_by_blocks(timeline, moment, 32);
    ck_assert(blocks > 0.3 && blocks < 0.9);
    ck_assert_double_eq_tol(pixels, blocks, 0.01);
    clear_sheet(&sheet);
}
END_TEST

static size_t svg_size(uint64_t blocks, wt_time least, wt_time most, bool both)
{
    struct synthetic how = whole_gpu;
    how.blocks = blocks;
    how.least = least;
    how.most = most;
    struct wt_timeline *timeline = synthetic_timeline(&how), *other = both ? synthetic_timeline(&how) : NULL;
    struct wt_export what = {.simulated = timeline, .measured = other};
    struct bytes svg = drawn(WT_EXPORTER_svg, &what);
    wt_timeline_free(timeline);
    wt_timeline_free(other);
    free(svg.data);
    return svg.size;
}

START_TEST(svg_stays_small)
{
    static const uint64_t blocks[] = {1000, 10000, 25000, 26000, 60000};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        ck_assert_uint_le(svg_size(blocks[i], 8000 * WT_CYCLE, 22000 * WT_CYCLE, false), 3 << 20);
    ck_assert_uint_le(svg_size(30000, 1, 22000 * WT_CYCLE, true), 3 << 20);
}
END_TEST

/* Odd sizes: everything can be drawn, and the file is as large as asked. */
START_TEST(any_size_can_be_drawn)
{
    static const int sizes[][2] = {{200, 200}, {200, 2000}, {3000, 200}, {640, 480}, {1920, 1080}};
    struct synthetic how = whole_gpu;
    how.blocks = 1500;
    how.launches = 2;
    struct wt_timeline *timeline = synthetic_timeline(&how), *other = synthetic_timeline(&how);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct wt_export what = {
            .simulated = timeline, .measured = other, .width = sizes[i][0], .height = sizes[i][1]};
        cairo_surface_t *surface = drawn_png(&what);
        ck_assert_int_eq(cairo_image_surface_get_width(surface), sizes[i][0]);
        ck_assert_int_eq(cairo_image_surface_get_height(surface), sizes[i][1]);
        cairo_surface_destroy(surface);
    }
    wt_timeline_free(timeline);
    wt_timeline_free(other);
}
END_TEST

/* Nothing of the layout lies outside the picture or on something else. */
START_TEST(parts_do_not_overlap)
{
    static const int heights[] = {0, 300, 420, 500, 600, 800, 1200};
    struct wt_timeline *timeline = synthetic_timeline(&whole_gpu), *other = synthetic_timeline(&whole_gpu);
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
        for (int both = 0; both < 2; both++) {
            if (both && heights[i] && heights[i] < 500)
                continue; /* rows of 2 x 132 SMs do not fit */
            struct wt_export what = {.simulated = timeline,
                                     .measured = both ? other : NULL,
                                     .width = heights[i] ? 700 : 0,
                                     .height = heights[i]};
            struct wt_picture p;
            wt_picture_plan(&p, &what, true);
            double y = 0;
            for (int k = 0; k < p.side_count; k++) {
                ck_assert_double_ge(p.sides[k].band.y, y);
                ck_assert_double_ge(p.sides[k].rows.y, p.sides[k].band.y + p.sides[k].band.height);
                y = p.sides[k].rows.y + p.sides[k].rows.height;
            }
            ck_assert_double_ge(p.curve.y, y);
            ck_assert_double_ge(p.axis_y, p.curve.y + p.curve.height);
            ck_assert_double_le(p.axis_y + 30, p.height + 0.5);
            ck_assert(p.legend_y == 0 || (p.legend_y >= p.axis_y + 30 && p.legend_y + 30 <= p.height));
            wt_picture_clear(&p);
        }
    wt_timeline_free(timeline);
    wt_timeline_free(other);
}
END_TEST

/* Of few launches every tail is marked; of hundreds none, or the marks would hide the blocks. */
START_TEST(only_visible_tails_are_marked)
{
    for (size_t launches = 2; launches <= 200; launches += 198) {
        struct synthetic how = textbook;
        how.launches = launches;
        struct sheet sheet;
        plan_sheet(&sheet, synthetic_timeline(&how));
        ck_assert_uint_eq(wt_picture_tail_count(&sheet.picture.sides[0]), launches);
        for (size_t i = 0; i < launches; i++)
            ck_assert_int_eq(wt_picture_tail(&sheet.picture, &sheet.picture.sides[0], i) != NULL, launches == 2);
        clear_sheet(&sheet);
    }
}
END_TEST

/* Four blocks on four SMs leave none in the queue; a lesson can do without tails. */
START_TEST(one_wave_has_no_tail)
{
    static const struct wt_story about_something_else = {.scenario = "", .question = "", .answer = "", .without_tails = true};
    for (uint64_t blocks = 4; blocks <= 5; blocks++) {
        struct synthetic how = textbook;
        how.blocks = blocks;
        struct sheet sheet;
        plan_sheet(&sheet, synthetic_timeline(&how));
        ck_assert_int_eq(wt_picture_tail(&sheet.picture, &sheet.picture.sides[0], 0) != NULL, blocks == 5);
        sheet.picture.what = &(struct wt_export){.simulated = sheet.timeline, .story = &about_something_else};
        ck_assert_ptr_null(wt_picture_tail(&sheet.picture, &sheet.picture.sides[0], 0));
        clear_sheet(&sheet);
    }
}
END_TEST

/* No blocks, no launches, a name that is no text, and one that is far too long. */
START_TEST(odd_content_can_be_drawn)
{
    struct wt_timeline *timeline = wt_timeline_new("t", NULL, 1);
    struct wt_export what = {.simulated = timeline};
    cairo_surface_destroy(drawn_png(&what));
    char name[4000];
    memset(name, 'n', sizeof name);
    name[0] = (char)0xff;
    name[1] = '\n';
    name[2] = (char)0xc3;
    name[sizeof name - 1] = '\0';
    struct wt_timeline_launch launch = {.name = name, .grid_blocks = UINT64_MAX, .threads_per_block = 1 << 30};
    struct wt_block_run run = {.block = UINT64_MAX, .start = 7, .end = 7};
    wt_timeline_add_launch(timeline, &launch);
    wt_timeline_add(timeline, &run);
    for (int launches = 1; launches <= 2; launches++) {
        for (int i = WT_EXPORTER_svg; i <= WT_EXPORTER_pdf; i++)
            free(drawn(i, &what).data);
        wt_timeline_add_launch(timeline, &launch);
    }
    wt_timeline_free(timeline);
}
END_TEST

START_TEST(pdf_does_not_tell_the_date)
{
    struct wt_timeline *timeline = synthetic_timeline(&textbook);
    struct wt_export what = {.simulated = timeline};
    struct bytes pdf = drawn(WT_EXPORTER_pdf, &what);
    ck_assert_ptr_nonnull(memmem(pdf.data, pdf.size, "CreationDate (20000101", 22));
    ck_assert_ptr_null(memmem(pdf.data, pdf.size, "ModDate", 7));
    free(pdf.data);
    wt_timeline_free(timeline);
}
END_TEST

/* Okabe and Ito's colours are told apart by lightness, too, where they lie side by side: the shades of a launch. */
START_TEST(shades_differ_in_lightness)
{
    for (size_t launch = 0; launch < WT_LAUNCH_COLOURS; launch++) {
        double a = wt_luminance(wt_launch_colour(launch, false)), b = wt_luminance(wt_launch_colour(launch, true));
        ck_assert_double_ge(fabs(a - b), 0.15);
        ck_assert_double_ge(fabs(a - wt_luminance(wt_faint)), 0.04);
    }
}
END_TEST

/* --- golden pictures: all but the letters' outlines, which are the font's --- */

static char *without_outlines(const char *svg)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool inside = false;
    while (*svg) {
        size_t length = strcspn(svg, "\n");
        inside |= !strncmp(svg, "<symbol", 7);
        if (!inside)
            fprintf(out, "%.*s\n", (int)length, svg);
        inside &= strncmp(svg, "</symbol", 8) != 0;
        svg += length + (svg[length] == '\n');
    }
    fclose(out);
    return text;
}

static char *read_golden(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return wt_strdup("");
    char *text = text_of(stream);
    fclose(stream);
    return text;
}

static void refresh(const char *path, const char *text)
{
    struct wt_outfile out;
    struct wt_error err = {0};
    ck_assert_msg(wt_outfile_open(&out, path, &err) == WT_OK, "%s", err.text);
    fputs(text, out.stream);
    ck_assert_msg(wt_outfile_commit(&out, &err) == WT_OK, "%s", err.text);
}

static size_t first_difference(const char *a, const char *b)
{
    size_t i = 0, line = 1;
    for (; a[i] && a[i] == b[i]; i++)
        line += a[i] == '\n';
    return line;
}

static void compare_golden(const char *name, const struct wt_export *what)
{
    struct bytes svg = drawn(WT_EXPORTER_svg, what);
    char *path = wt_format("%s/tests/golden/%s.svg", WT_SOURCE_ROOT, name), *text = without_outlines(svg.data);
    if (getenv("WT_REFRESH"))
        refresh(path, text);
    char *golden = read_golden(path);
    ck_assert_msg(!strcmp(text, golden),
                  "%s: line %zu differs; look at the picture, and if it is right run WT_REFRESH=1", path,
                  first_difference(text, golden));
    free(golden);
    free(text);
    free(path);
    free(svg.data);
}

START_TEST(textbook_picture)
{
    struct wt_timeline *timeline = synthetic_timeline(&textbook);
    struct wt_export what = {.simulated = timeline};
    compare_golden("textbook", &what);
    wt_timeline_free(timeline);
}
END_TEST

START_TEST(comparison_picture)
{
    struct synthetic how = {.sms = 4,
                            .gpcs = 2,
                            .slots = 2,
                            .warps_per_block = 8,
                            .warps_per_sm = 64,
                            .launches = 2,
                            .blocks = 11,
                            .least = 600 * WT_CYCLE,
                            .most = 1400 * WT_CYCLE,
                            .gap = 50 * WT_CYCLE,
                            .seed = 1};
    struct wt_timeline *simulated = synthetic_timeline(&how);
    how.seed = 2;
    struct wt_timeline *measured = synthetic_timeline(&how);
    struct wt_export what = {.simulated = simulated, .measured = measured, .title = "Two launches", .width = 800};
    compare_golden("comparison", &what);
    wt_timeline_free(simulated);
    wt_timeline_free(measured);
}
END_TEST

/* A lesson's: its words, numbers at their moments, two runs with names of their own, the second a deadlock from 500 on. */
START_TEST(lesson_picture)
{
    static const struct wt_remark remarks[] = {
        {0, 0, "Four blocks start."}, {0, 2000 * WT_CYCLE, "The queue is empty."}, {1, 500 * WT_CYCLE, "All of them wait."}};
    static const struct wt_story story = {
        "Ten blocks on four SMs, and four blocks that wait for a fifth. This line is long enough to be broken, which is why it goes on.",
        "What happens?", "Ten blocks take three rounds; the four wait for ever.", remarks, 3, false};
    struct synthetic how = textbook;
    struct wt_timeline *rounds = synthetic_timeline(&how);
    how.blocks = 4;
    struct wt_timeline *stuck = synthetic_timeline(&how);
    stuck->stuck_since = 500 * WT_CYCLE;
    struct wt_export what = {.simulated = stuck, .measured = rounds, .labels = {"ten blocks", "four that wait"},
                             .title = "A lesson", .story = &story, .width = 800};
    compare_golden("lesson", &what);
    wt_timeline_free(rounds);
    wt_timeline_free(stuck);
}
END_TEST

Suite *picture_suite(void)
{
    Suite *suite = suite_create("picture");
    TCase *tcase = tcase_create("picture");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, blocks_are_where_they_ran);
    tcase_add_test(tcase, narrow_blocks_show_their_density);
    tcase_add_test(tcase, ink_is_conserved);
    tcase_add_test(tcase, svg_stays_small);
    tcase_add_test(tcase, any_size_can_be_drawn);
    tcase_add_test(tcase, parts_do_not_overlap);
    tcase_add_test(tcase, only_visible_tails_are_marked);
    tcase_add_test(tcase, one_wave_has_no_tail);
    tcase_add_test(tcase, odd_content_can_be_drawn);
    tcase_add_test(tcase, pdf_does_not_tell_the_date);
    tcase_add_test(tcase, shades_differ_in_lightness);
    tcase_add_test(tcase, textbook_picture);
    tcase_add_test(tcase, comparison_picture);
    tcase_add_test(tcase, lesson_picture);
    suite_add_tcase(suite, tcase);
    return suite;
}
