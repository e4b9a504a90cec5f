/* Does any text at all make the config reader, the parameter tables or the GPU loader misbehave? */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/param.h"
#include "gpu/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void echo(const struct wt_gpu *gpu)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        abort();
    struct wt_json json = wt_json_begin(stream, true);
    wt_json_object(&json, NULL);
    wt_record_json(wt_gpu_record(gpu), &json);
    wt_json_close(&json);
    wt_json_end(&json);
    fclose(stream);
    free(text);
}

/* What every reader of a loaded GPU relies on. */
static void check(const struct wt_gpu *gpu)
{
    const struct wt_topology *t = &gpu->topology;
    int members = 0;
    for (int g = 0; g < t->group_count; g++)
        for (int k = 0; k < t->groups[g].sm_count; k++, members++)
            if (t->group_of_sm[t->groups[g].sms[k]] != g || t->rank_in_group[t->groups[g].sms[k]] != k)
                abort();
    if (members != t->sm_count)
        abort();
    for (int sm = 0; sm < t->sm_count; sm++)
        if (t->gpc_of_sm[sm] >= t->gpc_count || t->tpc_of_sm[sm] >= t->tpc_count)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    enum wt_code code = wt_gpu_parse((const char *)data, size, "fuzz.cfg", &gpu, &err);
    if ((code == WT_OK) != (gpu != NULL) || (code != WT_OK && !err.text[0]))
        abort();
    if (gpu) {
        check(gpu);
        echo(gpu);
    }
    wt_gpu_free(gpu);
    return 0;
}
