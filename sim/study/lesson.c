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
#include "study/launches.h"
#include "study/workload.h"

static const char default_gpu[] = "h200";

enum { ALIKE = 3 }; /* letters at the begin of names that are taken for the same */

static const struct wt_param caption_params[] = {
    {"at", WT_PARAM_NUMBER, offsetof(struct wt_caption, at), .low = 0, .high = 1, .required = true,
     .help = "when it appears, as a share of the makespan"},
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
    return before->second == caption->second && caption->at < before->at
               ? "captions stand in the order of their times; move this one up" : NULL;
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

/* ---- Simulating ---- */

static void take_warps(const struct wt_launches *launches, struct wt_lesson_run *out)
{
    out->warps = wt_alloc(launches->count, sizeof *out->warps);
    for (size_t i = 0; i < launches->count; i++)
        out->warps[i] = wt_warp_result(launches->warp, (uint32_t)i);
}

static enum wt_code simulate(struct wt_launches *launches, const struct wt_workload *workload, const struct wt_gpu *gpu,
                             struct wt_lesson_run *out, struct wt_error *err)
{
    out->timeline = launches->about;
    launches->about = NULL;
    struct wt_metrics_stream *metrics = wt_metrics_stream_new(out->timeline);
    struct wt_observer observers[3] = {wt_metrics_stream_observer(metrics), wt_timeline_observer(out->timeline)};
    struct wt_task_teller teller = {launches, observers, 2};
    observers[2] = wt_task_teller_observer(&teller);
    struct wt_simulation simulation = {.gpu = gpu, .kernels = launches->kernels, .kernel_count = launches->count,
                                       .seed = workload->seed, .first_group = -1, .first_extra_sm = -1,
                                       .sharing = launches->sharing, .observers = observers, .observer_count = 3};
    struct wt_error stuck = {0};
    enum wt_code code = wt_launches_simulate(launches, &simulation, out->timeline, &stuck);
    out->metrics = wt_metrics_stream_finish(metrics);
    if (launches->warp)
        take_warps(launches, out);
    if (code != WT_DEADLOCK)
        return code == WT_OK ? WT_OK : wt_fail(err, code, "%s", stuck.text);
    const char *text = strstr(stuck.text, "deadlock: ");
    out->deadlock = wt_strdup(text ? text : stuck.text);
    return WT_OK;
}

static enum wt_code simulate_on(const struct wt_workload *workload, struct wt_lesson_run *out, struct wt_error *err)
{
    struct wt_gpu *gpu;
    struct wt_launches *launches = NULL;
    WT_TRY(wt_gpu_load(workload->gpu ? workload->gpu : default_gpu, &gpu, err));
    enum wt_code code = wt_launches_new(workload, gpu, workload->seed, false, &launches, err);
    if (code == WT_OK)
        code = simulate(launches, workload, gpu, out, err);
    wt_launches_free(launches);
    wt_gpu_free(gpu);
    return code;
}

enum wt_code wt_lesson_simulate(const char *path, struct wt_lesson_run *out, struct wt_error *err)
{
    struct wt_workload *workload;
    *out = (struct wt_lesson_run){0};
    WT_TRY(wt_workload_read(path, &workload, err));
    enum wt_code code = simulate_on(workload, out, err);
    wt_workload_free(workload);
    if (code != WT_OK)
        wt_lesson_run_clear(out);
    return code;
}

void wt_lesson_run_clear(struct wt_lesson_run *run)
{
    wt_timeline_free(run->timeline);
    wt_metrics_free(run->metrics);
    free(run->warps);
    free(run->deadlock);
    *run = (struct wt_lesson_run){0};
}

void wt_lesson_print_keys(FILE *stream)
{
    wt_params_print(lesson_params, stream);
    fputs("\ncaptions:\n", stream);
    wt_params_print(caption_params, stream);
    fputs("\nFigures in texts, of the whole run, or of launch N as {N:…}; of the second workload as {second:…}:\n  ", stream);
    wt_lesson_print_figures(stream);
}
