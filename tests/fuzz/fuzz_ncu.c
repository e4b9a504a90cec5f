/* Whatever the bytes, the readers of Nsight Compute's pages return a page or a message; what they accept can be asked. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "observe/warps.h"
#include "warp/ncu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void agree(enum wt_code code, const void *result, const struct wt_error *err)
{
    if ((code == WT_OK) != (result != NULL) || (code == WT_OK) != (err->text[0] == '\0'))
        abort();
}

static void read_source(const uint8_t *data, size_t size, const char *kernel)
{
    struct wt_ncu_source *source;
    struct wt_error err = {0};
    agree(wt_ncu_source_read_memory("fuzz", data, size, kernel, &source, &err), source, &err);
    for (size_t i = 0; source && i < source->count; i++)
        if (source->rows[i].address != 16 * i || !isfinite(source->rows[i].executed) || source->rows[i].executed < 0)
            abort();
    wt_ncu_source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wt_ncu_metrics *metrics;
    struct wt_error err = {0};
    read_source(data, size, NULL);
    read_source(data, size, "_Z5k_fma3Arg");
    agree(wt_ncu_metrics_read_memory("fuzz", data, size, &metrics, &err), metrics, &err);
    for (size_t row = 0; metrics && row < metrics->rows; row++)
        for (size_t i = 0; i < metrics->columns; i++) {
            double value = 0;
            if (wt_ncu_number(metrics, row, metrics->names[i], &value) && !isfinite(value))
                abort();
        }
    if (metrics && wt_ncu_launch(metrics, "_Z5k_fma3Arg", 4096, 256, 0, 0) >= (long)metrics->rows)
        abort();
    wt_ncu_metrics_free(metrics);
    return 0;
}
