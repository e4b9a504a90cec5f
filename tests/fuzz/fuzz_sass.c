/* Whatever the bytes, the reader of SASS returns functions or a message, and each function becomes a program that can be run or a
 * message: without counts, and with a source page where one follows behind a line "%%". */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "warp/from_sass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_program(const struct wt_sass_function *function, const struct wt_ncu_source *source)
{
    struct wt_trip trip = {.address = 0x20, .count = {.base = 3, .per_work = 1}};
    struct wt_sass_setup setup = {.path = "fuzz", .function = function, .source = source, .trips = &trip,
                                  .threads_per_block = 96, .hits = WT_HITS_UNKNOWN};
    for (setup.trip_count = 0; setup.trip_count < 2; setup.trip_count++) {
        struct wt_program *program;
        struct wt_sass_report report;
        struct wt_error err = {0};
        enum wt_code code = wt_program_from_sass(&setup, &program, &report, &err);
        if ((code == WT_OK) != (program != NULL) || (code == WT_OK) != (err.text[0] == '\0'))
            abort();
        if (program && wt_program_check(program, &err) != WT_OK)
            abort();
        wt_program_free(program);
    }
}

static void use(const struct wt_sass *sass, const struct wt_ncu_source *source)
{
    for (size_t i = 0; i < sass->count; i++)
        if (sass->functions[i].count > 0 && sass->functions[i].count < 4096)
            make_program(&sass->functions[i], source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *page = memmem(data, size, "\n%%\n", 4);
    size_t length = page ? (size_t)(page - (const char *)data) : size;
    struct wt_sass *sass;
    struct wt_ncu_source *source = NULL;
    struct wt_error err = {0};
    enum wt_code code = wt_sass_read_memory("fuzz", data, length, &sass, &err);
    if ((code == WT_OK) != (sass != NULL) || (code == WT_OK) != (err.text[0] == '\0'))
        abort();
    if (page)
        wt_ncu_source_read_memory("page", page + 4, size - length - 4, NULL, &source, &err);
    if (sass)
        use(sass, source);
    wt_ncu_source_free(source);
    wt_sass_free(sass);
    return 0;
}
