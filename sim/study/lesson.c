#include "study/lesson.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/config.h"
#include "core/mem.h"
#include "core/param.h"
#include "core/text.h"
#include "gpu/gpu.h"

enum { ALIKE = 3 }; /* letters at the begin of names that are taken for the same */

static const struct wt_param caption_params[] = {
    {"at", WT_PARAM_NUMBER, offsetof(struct wt_caption, at), .low = 0, .high = 1,
     .help = "when it appears, as a share of the makespan"},
    {"launch", WT_PARAM_INT, offsetof(struct wt_caption, launch), .low = -1, .high = 99999, .fallback = "-1",
     .help = "`at` is a share of this launch's makespan, from 0 on; -1: of the whole run's"},
    {"second", WT_PARAM_BOOL, offsetof(struct wt_caption, second), .help = "of the second workload, and of its makespan"},
    {"text", WT_PARAM_STRING, offsetof(struct wt_caption, text), .required = true, .help = "what happens"},
    {0}};

#define FIELD(field) offsetof(struct wt_lesson, field)
static const struct wt_param lesson_params[] = {
    {"title", WT_PARAM_STRING, FIELD(title), .required = true, .help = "one line"},
    {"workload", WT_PARAM_STRING, FIELD(workload), .required = true, .help = "its file, found from the lesson's folder"},
    {"second", WT_PARAM_STRING, FIELD(second), .help = "a workload to compare with"},
    {"scenario", WT_PARAM_STRING, FIELD(scenario), .required = true, .help = "what is launched where"},
    {"question", WT_PARAM_STRING, FIELD(question), .required = true, .help = "to ask before the simulation is shown"},
    {"answer", WT_PARAM_STRING, FIELD(answer), .required = true, .help = "what the simulation shows"},
    {"tails", WT_PARAM_BOOL, FIELD(tails), .fallback = "true", .help = "pictures mark tails"},
    {"shared_memory", WT_PARAM_BOOL, FIELD(shared_memory), .help = "pictures show the shared memory of SM 0 instead of the SMs"},
    {"captions", WT_PARAM_GROUPS, .groups = caption_params, .required = true, .help = "texts that appear as it plays, by time"},
    {0}};

/* ---- Finding ---- */

/* The first folder that exists; owned by the caller. */
static char *folder(void)
{
    const char *own = getenv("WAVETAIL_CONFIGS");
    char *path = wt_format("%s/lessons", own && *own ? own : WT_SOURCE_CONFIGS);
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    path = wt_strdup(WT_SOURCE_CONFIGS "/lessons");
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return wt_strdup(WT_INSTALLED_CONFIGS "/lessons");
}

static int is_config(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && entry->d_name[0] != '.' && !strcmp(entry->d_name + length - 4, ".cfg");
}

enum wt_code wt_lesson_list(char ***names, size_t *count, struct wt_error *err)
{
    struct dirent **entries;
    char *path = folder();
    int found = scandir(path, &entries, is_config, alphasort);
    *count = 0;
    *names = NULL;
    if (found <= 0) {
        wt_fail(err, WT_BAD_INPUT, "%s: no lessons there; set WAVETAIL_CONFIGS to the folder that holds lessons/", path);
        free(path);
        return WT_BAD_INPUT;
    }
    *names = wt_alloc((size_t)found, sizeof **names);
    for (int i = 0; i < found; i++) {
        (*names)[(*count)++] = wt_format("%.*s", (int)strlen(entries[i]->d_name) - 4, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    free(path);
    return WT_OK;
}

/* Adds " 'NAME'" to the list. */
static void add_name(char **list, const char *name)
{
    char *longer = wt_format("%s%s'%s'", *list ? *list : "", *list ? " or " : "", name);
    free(*list);
    *list = longer;
}

static bool title_holds(const struct wt_lesson *lesson, const char *name, const char *word)
{
    (void)name;
    return strcasestr(lesson->title, word) != NULL;
}

static bool text_holds(const struct wt_lesson *lesson, const char *name, const char *word)
{
    (void)name;
    return strcasestr(lesson->scenario, word) || strcasestr(lesson->question, word);
}

static bool begins_alike(const struct wt_lesson *lesson, const char *name, const char *word)
{
    (void)lesson;
    return !strncasecmp(name, word, ALIKE);
}

/* The lessons that a rule accepts; NULL: none; the caller's. */
static char *accepted(bool (*rule)(const struct wt_lesson *, const char *, const char *), const char *word, char *const *names,
                      size_t count)
{
    char *list = NULL;
    for (size_t i = 0; i < count; i++) {
        struct wt_lesson *lesson;
        struct wt_error ignored = {0};
        if (wt_lesson_read(names[i], &lesson, &ignored) == WT_OK && rule(lesson, names[i], word))
            add_name(&list, names[i]);
        wt_lesson_free(lesson);
    }
    return list;
}

/* What was meant, by the first way that finds anything; NULL: nothing is like it; the caller's. */
static char *meant_by(const char *name, char *const *names, size_t count)
{
    size_t length = strlen(name);
    char *list = NULL, *word = wt_format("%.*s", (int)(length > ALIKE && name[length - 1] == 's' ? length - 1 : length), name);
    const char *nearest = wt_nearest(name, (const char *const *)names, count);
    list = accepted(title_holds, word, names, count);
    if (!list && nearest)
        add_name(&list, nearest);
    list = list ? list : accepted(text_holds, word, names, count);
    list = list || length < ALIKE ? list : accepted(begins_alike, word, names, count);
    free(word);
    return list;
}

static enum wt_code unknown(const char *name, struct wt_error *err)
{
    char **names;
    size_t count;
    WT_TRY(wt_lesson_list(&names, &count, err));
    char *meant = meant_by(name, names, count);
    wt_fail(err, WT_BAD_INPUT, "no lesson '%s'%s%s%s; `wavetail lesson` lists them", name, meant ? "; did you mean " : "",
            meant ? meant : "", meant ? "?" : "");
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    free(meant);
    return WT_BAD_INPUT;
}

/* ---- Reading ---- */

static char *beside(const char *path, char *file)
{
    const char *slash = strrchr(path, '/');
    if (!file || !slash || file[0] == '/')
        return file;
    char *whole = wt_format("%.*s/%s", (int)(slash - path), path, file);
    free(file);
    return whole;
}

/* NULL: they are in order. */
static const char *wrong_order(const struct wt_caption *before, const struct wt_caption *caption)
{
    if (before->second && !caption->second)
        return "captions of the second workload stand last; move this one up";
    bool alike = before->second == caption->second && before->launch == caption->launch;
    return alike && caption->at < before->at ? "captions stand in the order of their times; move this one up" : NULL;
}

static enum wt_code read_captions(const struct wt_config *config, struct wt_lesson *lesson, struct wt_error *err)
{
    const struct config_setting_t *root = wt_config_root(config);
    size_t count = wt_config_count(root, "captions");
    lesson->captions = wt_alloc(count, sizeof *lesson->captions);
    for (; lesson->caption_count < count; lesson->caption_count++) {
        size_t i = lesson->caption_count;
        const struct config_setting_t *group = wt_config_element(root, "captions", i);
        WT_TRY(wt_params_read(caption_params, config, group, &lesson->captions[i], err));
        const char *wrong = i > 0 ? wrong_order(&lesson->captions[i - 1], &lesson->captions[i]) : NULL;
        if (lesson->captions[i].second && !lesson->second)
            wrong = "there is no second workload; remove 'second'";
        if (wrong) {
            wt_params_free(caption_params, &lesson->captions[i]);
            return wt_config_fail(config, group, err, "%s", wrong);
        }
    }
    return WT_OK;
}

static enum wt_code read_file(const char *path, struct wt_lesson *lesson, struct wt_error *err)
{
    struct wt_config *config;
    WT_TRY(wt_config_read(path, &config, err));
    enum wt_code code = wt_params_read(lesson_params, config, wt_config_root(config), lesson, err);
    if (code == WT_OK) {
        lesson->path = wt_strdup(path);
        lesson->workload = beside(path, lesson->workload);
        lesson->second = beside(path, lesson->second);
        code = read_captions(config, lesson, err);
    }
    wt_config_free(config);
    return code;
}

enum wt_code wt_lesson_read(const char *name, struct wt_lesson **out, struct wt_error *err)
{
    char *where = folder();
    char *path = wt_gpu_is_path(name) ? wt_strdup(name) : wt_format("%s/%s.cfg", where, name);
    struct wt_lesson *lesson = wt_alloc(1, sizeof *lesson);
    enum wt_code code = wt_gpu_is_path(name) || access(path, F_OK) == 0 ? read_file(path, lesson, err) : unknown(name, err);
    free(where);
    free(path);
    if (code != WT_OK) {
        wt_lesson_free(lesson);
        lesson = NULL;
    }
    *out = lesson;
    return code;
}

void wt_lesson_free(struct wt_lesson *lesson)
{
    if (!lesson)
        return;
    for (size_t i = 0; i < lesson->caption_count; i++)
        wt_params_free(caption_params, &lesson->captions[i]);
    free(lesson->captions);
    wt_params_free(lesson_params, lesson);
    free(lesson->path);
    free(lesson);
}

void wt_lesson_print_keys(FILE *stream)
{
    wt_params_print(lesson_params, stream);
    fputs("\nFigures in texts, of the whole run, or of launch N as {N:…}; of the second workload as {second:…}:\n  ", stream);
    wt_lesson_print_figures(stream);
}
