/* Does any text at all make the config reader, the parameter tables or the GPU loader misbehave? */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/param.h"
#include "gpu/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every type there is. */
struct all {
    int a, f;
    int64_t b;
    double c;
    char *d;
    bool e;
    struct wt_ints g;
    struct wt_numbers h;
    struct wt_int_lists i;
    struct wt_curve j;
};

static const char *const choices[] = {"x", "y", NULL};

static const struct wt_param all_params[] = {
    {"a", WT_PARAM_INT, offsetof(struct all, a), .low = -5, .high = 5, .help = "a"},
    {"b", WT_PARAM_INT64, offsetof(struct all, b), .help = "b"},
    {"c.c", WT_PARAM_NUMBER, offsetof(struct all, c), .help = "c"},
    {"c.d.d", WT_PARAM_STRING, offsetof(struct all, d), .help = "d"},
    {"e", WT_PARAM_BOOL, offsetof(struct all, e), .help = "e"},
    {"f", WT_PARAM_CHOICE, offsetof(struct all, f), .choices = choices, .help = "f"},
    {"g", WT_PARAM_INTS, offsetof(struct all, g), .most = 3, .help = "g"},
    {"h", WT_PARAM_NUMBERS, offsetof(struct all, h), .help = "h"},
    {"i", WT_PARAM_INT_LISTS, offsetof(struct all, i), .help = "i"},
    {"j", WT_PARAM_CURVE, offsetof(struct all, j), .help = "j"},
    {"k", WT_PARAM_GROUPS, .help = "k"},
    {0}};

static void echo(const struct wt_record *record)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        abort();
    struct wt_json json = wt_json_begin(stream, true);
    wt_json_object(&json, NULL);
    wt_record_json(record, &json);
    wt_json_close(&json);
    wt_json_end(&json);
    fclose(stream);
    free(text);
    for (size_t i = 0; i < record->count; i++)
        free(wt_param_text(&record->table[i], record->object));
}

static void read_table(const struct wt_config *config, const struct config_setting_t *group)
{
    struct all all;
    struct wt_error err = {0};
    struct wt_record record = wt_record_begin(all_params, &all);
    enum wt_code code = wt_record_read(&record, config, group, &err);
    if ((code == WT_OK) != !err.text[0])
        abort();
    echo(&record);
    wt_record_free(&record);
    wt_params_free(all_params, &all);
}

static void read_tables(const char *text, size_t size)
{
    struct wt_config *config;
    struct wt_error err = {0};
    if (wt_config_parse(text, size, "fuzz.cfg", &config, &err) != WT_OK)
        return;
    const struct config_setting_t *root = wt_config_root(config);
    read_table(config, root);
    for (size_t i = 0; i < wt_config_count(root, "k"); i++)
        read_table(config, wt_config_element(root, "k", i));
    wt_config_free(config);
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
    read_tables((const char *)data, size);
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    enum wt_code code = wt_gpu_parse((const char *)data, size, "fuzz.cfg", &gpu, &err);
    if ((code == WT_OK) != (gpu != NULL) || (code != WT_OK && !err.text[0]))
        abort();
    if (gpu) {
        check(gpu);
        echo(wt_gpu_record(gpu));
    }
    wt_gpu_free(gpu);
    return 0;
}
