/* wavetail lesson: classroom scenarios. */
#include "command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/text.h"
#include "observe/words.h"
#include "outputs.h"
#include "study/lesson.h"

enum { KEY_TEXT = 0x3001, KEY_KEYS, WIDTH = 100 };

struct arguments {
    struct common common;
    struct outputs outputs;
    const char *name;
    bool text;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_TEXT:
        arguments->text = true;
        return 0;
    case KEY_KEYS:
        wt_lesson_print_keys(stdout);
        exit(WT_OK);
    case ARGP_KEY_ARG:
        if (arguments->name)
            argp_error(state, "one lesson at a time, not also '%s'", text);
        arguments->name = text;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->outputs;
        state->child_inputs[1] = &arguments->common;
        return 0;
    case ARGP_KEY_END:
        if (arguments->common.gpu || arguments->common.seed_given)
            argp_error(state, "a lesson's workloads state their GPU and seed; for others `wavetail run` them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"text", KEY_TEXT, 0, 0, "print scenario, question, what happens and the answer", 1},
    {"keys", KEY_KEYS, 0, 0, "print every key a lesson file may have, and stop", 1},
    {0}};

static const struct argp_child children[] = {{&outputs_argp, 0, 0, 2}, {&common_argp, 0, "Common options:", 3}, {0}};

static const struct argp argp = {.options = options, .parser = parse, .args_doc = "[NAME|FILE.cfg]",
                                 .doc = "Shows a classroom scenario, simulated: in a window, or as text or picture; without a name lists "
                                        "them.\v"
                                        "Pictures show all that is compared, with the texts; other files hold the first workload's "
                                        "timeline. Lessons are in configs/lessons.",
                                 .children = children};

/* `json`: NULL for people. */
static enum wt_code print_one(const char *name, struct wt_json *json, struct wt_error *err)
{
    struct wt_lesson *lesson;
    WT_TRY(wt_lesson_read(name, &lesson, err));
    if (json) {
        wt_json_object(json, NULL);
        wt_json_string(json, "name", name);
        wt_json_string(json, "title", lesson->title);
        wt_json_close(json);
    } else {
        printf("%-14s %s\n", name, lesson->title);
    }
    wt_lesson_free(lesson);
    return WT_OK;
}

static enum wt_code print_all(char *const *names, size_t count, struct wt_json *json, struct wt_error *err)
{
    for (size_t i = 0; i < count; i++)
        WT_TRY(print_one(names[i], json, err));
    return WT_OK;
}

static enum wt_code print_list(bool as_json, struct wt_error *err)
{
    char **names;
    size_t count;
    WT_TRY(wt_lesson_list(&names, &count, err));
    enum wt_code code;
    if (as_json) {
        struct wt_json json = wt_json_begin(stdout, false);
        wt_json_object(&json, NULL);
        wt_json_array(&json, "lessons");
        code = print_all(names, count, &json, err);
        wt_json_close(&json);
        wt_json_close(&json);
        wt_json_end(&json);
    } else {
        code = print_all(names, count, NULL, err);
    }
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return code;
}

/* ---- A lesson's words with their figures ---- */

struct filled {
    char *scenario, *question, *answer;
    struct wt_remark *remarks;
    size_t count;
};

static void free_filled(struct filled *filled)
{
    for (size_t i = 0; i < filled->count; i++)
        free((char *)(uintptr_t)filled->remarks[i].text);
    free(filled->remarks);
    free(filled->scenario);
    free(filled->question);
    free(filled->answer);
}

static enum wt_code fill_remark(const struct wt_lesson *lesson, const struct wt_caption *caption, const struct wt_lesson_run runs[2],
                                struct wt_remark *remark, struct wt_error *err)
{
    char *text;
    WT_TRY(wt_lesson_fill(lesson, caption->text, runs, &text, err));
    *remark = (struct wt_remark){.side = caption->second, .text = text, .at = wt_lesson_moment(caption, runs)};
    return WT_OK;
}

/* On failure, too, free_filled frees it. */
static enum wt_code fill(const struct wt_lesson *lesson, const struct wt_lesson_run runs[2], struct filled *filled,
                         struct wt_error *err)
{
    filled->remarks = wt_alloc(lesson->caption_count, sizeof *filled->remarks);
    WT_TRY(wt_lesson_fill(lesson, lesson->scenario, runs, &filled->scenario, err));
    WT_TRY(wt_lesson_fill(lesson, lesson->question, runs, &filled->question, err));
    WT_TRY(wt_lesson_fill(lesson, lesson->answer, runs, &filled->answer, err));
    for (; filled->count < lesson->caption_count; filled->count++)
        WT_TRY(fill_remark(lesson, &lesson->captions[filled->count], runs, &filled->remarks[filled->count], err));
    return WT_OK;
}

static void print_part(FILE *stream, const char *heading, const char *text)
{
    fprintf(stream, "\n%s\n", heading);
    wt_print_wrapped(stream, 2, WIDTH, text);
}

static void print_text(FILE *stream, const struct wt_lesson *lesson, const struct filled *filled)
{
    fprintf(stream, "%s\n", lesson->title);
    print_part(stream, "Scenario", filled->scenario);
    print_part(stream, "Question", filled->question);
    for (size_t i = 0; i < filled->count; i++) {
        const struct wt_remark *remark = &filled->remarks[i];
        char heading[WT_WORDS + 16], at[WT_WORDS];
        wt_words_cycles(at, round(wt_to_cycles(remark->at)));
        snprintf(heading, sizeof heading, "%s %s", remark->side ? "The second, at" : "At", at);
        print_part(stream, heading, remark->text);
    }
    print_part(stream, "Answer", filled->answer);
}

static void json_run(struct wt_json *json, const char *key, const struct wt_lesson_run *run)
{
    if (run->timeline && !run->timeline->stuck) {
        wt_metrics_json(json, key, run->metrics);
    } else if (run->timeline) {
        wt_json_object(json, key);
        wt_json_string(json, "title", run->timeline->title);
        wt_json_string(json, "deadlock", run->timeline->stuck + strlen("deadlock: "));
        wt_json_close(json);
    }
}

static void print_json(FILE *stream, const struct wt_lesson *lesson, const struct wt_lesson_run runs[2], const struct filled *filled)
{
    struct wt_json json = wt_json_begin(stream, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "title", lesson->title);
    wt_json_string(&json, "scenario", filled->scenario);
    wt_json_string(&json, "question", filled->question);
    wt_json_array(&json, "captions");
    for (size_t i = 0; i < filled->count; i++) {
        wt_json_object(&json, NULL);
        wt_json_string(&json, "of", filled->remarks[i].side ? "second" : "first");
        wt_json_number(&json, "at_cycles", wt_to_cycles(filled->remarks[i].at), 15);
        wt_json_string(&json, "text", filled->remarks[i].text);
        wt_json_close(&json);
    }
    wt_json_close(&json);
    wt_json_string(&json, "answer", filled->answer);
    json_run(&json, "first", &runs[0]);
    json_run(&json, "second", &runs[1]);
    wt_json_close(&json);
    wt_json_end(&json);
}

/* ---- Showing ---- */

static enum wt_code write_files(const struct outputs *outputs, const struct wt_lesson *lesson, const struct wt_lesson_run runs[2],
                                const struct filled *filled, struct wt_error *err)
{
    struct wt_story story = {filled->scenario, filled->question, filled->answer, filled->remarks, filled->count, !lesson->tails};
    struct wt_export what = {.simulated = runs[0].timeline, .title = lesson->title, .story = &story};
    if (lesson->second) {
        what.measured = runs[0].timeline;
        what.simulated = runs[1].timeline;
        what.labels[0] = runs[0].timeline->title;
        what.labels[1] = runs[1].timeline->title;
    }
    for (int i = 0; lesson->shared_memory && i < 2; i++)
        what.spaces[i] = lesson->second || i == 1 ? runs[lesson->second ? i : 0].space : NULL;
    struct outputs pictures = *outputs, tables = *outputs;
    for (int i = 0; i < WT_EXPORTERS; i++)
        (outputs_shows_two(i) ? &tables : &pictures)->path[i] = NULL;
    WT_TRY(outputs_write_all(&pictures, what, err));
    return outputs_write(&tables, runs[0].timeline, NULL, err);
}

static enum wt_code tell(const struct arguments *arguments, const struct wt_lesson *lesson, const struct wt_lesson_run runs[2],
                         struct wt_error *err)
{
    struct filled filled = {0};
    FILE *stream = outputs_summary_stream(&arguments->outputs);
    enum wt_code code = fill(lesson, runs, &filled, err);
    if (code == WT_OK && arguments->common.json)
        print_json(stream, lesson, runs, &filled);
    else if (code == WT_OK && arguments->text)
        print_text(stream, lesson, &filled);
    if (code == WT_OK && outputs_any(&arguments->outputs))
        code = write_files(&arguments->outputs, lesson, runs, &filled, err);
    free_filled(&filled);
    return code;
}

static enum wt_code show(const struct arguments *arguments, const struct wt_lesson *lesson, struct wt_error *err)
{
    struct wt_lesson_run runs[2] = {{0}};
    enum wt_code code = wt_lesson_simulate(lesson->workload, &runs[0], err);
    if (code == WT_OK && lesson->second)
        code = wt_lesson_simulate(lesson->second, &runs[1], err);
    if (code == WT_OK)
        code = tell(arguments, lesson, runs, err);
    for (int i = 0; i < 2; i++)
        wt_lesson_run_clear(&runs[i]);
    return code;
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct arguments arguments = {0};
    struct wt_lesson *lesson;
    WT_TRY(parse_arguments(&argp, argc, argv, &arguments));
    if (!arguments.name)
        return print_list(arguments.common.json, err);
    if (!arguments.text && !arguments.common.json && !outputs_any(&arguments.outputs)) {
        char *view[] = {"wavetail lesson", "--lesson", (char *)(uintptr_t)arguments.name, NULL};
        return start_view(view, "; --text prints the lesson, --svg FILE draws it", err);
    }
    WT_TRY(wt_lesson_read(arguments.name, &lesson, err));
    enum wt_code code = show(&arguments, lesson, err);
    wt_lesson_free(lesson);
    return code;
}

const struct command lesson_command = {.name = "lesson", .summary = "classroom scenarios, simulated and explained", .run = run};
