/* Whatever the text, the reader of workloads returns a workload or a message; one that it accepts can be put on a GPU, or says
 * why not. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "study/launches.h"
#include "study/workload.h"

enum { MOST_BLOCKS = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void agree(enum wt_code code, const void *result, const struct wt_error *err)
{
    if ((code == WT_OK) != (result != NULL) || (code == WT_OK) != (err->text[0] == '\0'))
        abort();
}

static bool is_small(const struct wt_workload *workload)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < workload->kernel_count; i++) {
        uint64_t parts = workload->kernels[i].grid_blocks * (uint64_t)workload->kernels[i].split;
        blocks += parts > MOST_BLOCKS ? MOST_BLOCKS : parts * (uint64_t)workload->kernels[i].repeat;
    }
    return blocks < MOST_BLOCKS;
}

static void launch(const struct wt_workload *workload)
{
    static struct wt_gpu *gpu;
    struct wt_launches *launches;
    struct wt_error err = {0};
    if (!gpu && wt_gpu_load("four-sms", &gpu, &err) != WT_OK)
        abort();
    agree(wt_launches_new(workload, gpu, 1, false, &launches, &err), launches, &err);
    wt_launches_free(launches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wt_config *config;
    struct wt_workload *workload;
    struct wt_error err = {0};
    if (memmem(data, size, "@include", 8) || wt_config_parse((const char *)data, size, "fuzz.cfg", &config, &err) != WT_OK)
        return 0;
    agree(wt_workload_from(config, &workload, &err), workload, &err);
    if (workload && is_small(workload))
        launch(workload);
    wt_workload_free(workload);
    wt_config_free(config);
    return 0;
}
