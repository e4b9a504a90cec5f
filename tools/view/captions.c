#include "captions.h"

#include <stddef.h>
#include <stdlib.h>

#include "core/config.h"
#include "core/mem.h"
#include "core/param.h"

/* The choices as a file gives them are single keys, so that the table checks them as it does everything else. */
static const struct wt_param caption_params[] = {
    {"at", WT_PARAM_NUMBER, offsetof(struct caption, at), .unit = "cycles", .low = 0, .high = 1e15, .fallback = "0",
     .help = "shown from then on, until the next caption"},
    {"text", WT_PARAM_STRING, offsetof(struct caption, text), .required = true, .help = "what is said"},
    {0}};

#define CHOICE(n)                                                                                                    \
    {"choice" #n, WT_PARAM_STRING, offsetof(struct question, choices) + (n - 1) * sizeof(char *),                    \
     .help = "answer to choose from"}
static const struct wt_param question_params[] = {
    {"at", WT_PARAM_NUMBER, offsetof(struct question, at), .unit = "cycles", .low = 0, .high = 1e15, .fallback = "0",
     .help = "playing stops here and the question is asked"},
    {"text", WT_PARAM_STRING, offsetof(struct question, text), .required = true, .help = "the question"},
    CHOICE(1), CHOICE(2), CHOICE(3), CHOICE(4), CHOICE(5), CHOICE(6),
    {"answer", WT_PARAM_INT, offsetof(struct question, answer), .low = 0, .high = QUESTION_CHOICES, .fallback = "0",
     .help = "number of the right choice; 0: none is marked"},
    {"explanation", WT_PARAM_STRING, offsetof(struct question, explanation), .help = "shown after the answer"},
    {0}};

static const struct wt_param file_params[] = {
    {"captions", WT_PARAM_GROUPS, 0, .groups = caption_params, .help = "what is said as the run plays"},
    {"question", WT_PARAM_GROUP, 0, .groups = question_params, .help = "asked once"},
    {0}};

static int compare_captions(const void *left, const void *right)
{
    const struct caption *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

static void count_choices(struct question *question)
{
    while (question->choice_count < QUESTION_CHOICES && question->choices[question->choice_count])
        question->choice_count++;
}

static enum wt_code read_groups(const struct wt_config *config, struct captions *out, struct wt_error *err)
{
    const struct config_setting_t *root = wt_config_root(config);
    struct wt_record whole = wt_record_begin(file_params, out);
    enum wt_code code = wt_record_read(&whole, config, root, err);
    wt_record_free(&whole);
    WT_TRY(code);
    size_t count = wt_config_count(root, "captions");
    out->entries = wt_alloc(count, sizeof *out->entries);
    for (; out->count < count; out->count++) {
        out->entries[out->count].run = -1;
        WT_TRY(wt_params_read(caption_params, config, wt_config_element(root, "captions", out->count),
                              &out->entries[out->count], err));
    }
    if (wt_config_group(root, "question"))
        WT_TRY(wt_params_read(question_params, config, wt_config_group(root, "question"), &out->question, err));
    return WT_OK;
}

enum wt_code captions_read(const char *path, struct captions *out, struct wt_error *err)
{
    struct wt_config *config;
    *out = (struct captions){0};
    WT_TRY(wt_config_read(path, &config, err));
    enum wt_code code = read_groups(config, out, err);
    wt_config_free(config);
    if (code != WT_OK) {
        captions_clear(out);
        return code;
    }
    count_choices(&out->question);
    qsort(out->entries, out->count, sizeof *out->entries, compare_captions);
    return WT_OK;
}

void captions_clear(struct captions *captions)
{
    for (size_t i = 0; i < captions->count; i++)
        free(captions->entries[i].text);
    free(captions->entries);
    free(captions->question.text);
    free(captions->question.explanation);
    for (int i = 0; i < QUESTION_CHOICES; i++)
        free(captions->question.choices[i]);
    *captions = (struct captions){0};
}

const char *caption_at(const struct captions *captions, int run, double cycles)
{
    const char *text = NULL;
    for (size_t i = 0; i < captions->count; i++)
        if (captions->entries[i].at <= cycles && (captions->entries[i].run < 0 || captions->entries[i].run == run))
            text = captions->entries[i].text;
    return text;
}
