/* wavetail-view: opens one or two runs in a window, or makes pictures and videos of them without one. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/mem.h"
#include "script.h"
#include "view.h"
#include "window.h"

struct options {
    const char *files[2];
    int file_count;
    struct load_setup load;
    int width, height;
    bool size_given;
    double scale, letters, seconds;
    const char *at, *render, *script, *record, *captions, *lesson;
    int page, compare, colours, fill, panel;
    bool dark, hatching, bench, window;
};

enum { KEY_SEED = 0x1001, KEY_SIZE, KEY_SCALE, KEY_LETTERS, KEY_AT, KEY_RENDER, KEY_SCRIPT, KEY_RECORD, KEY_SECONDS, KEY_CAPTIONS,
       KEY_LESSON, KEY_PAGE, KEY_COMPARE, KEY_COLOUR, KEY_FILL, KEY_PANEL, KEY_DARK, KEY_HATCH, KEY_BENCH, KEY_WINDOW, KEY_NO_REPLAY };

static const char *const page_names[] = {"overview", "floor", "timeline", "sm", NULL};
static const char *const compare_names[] = {"off", "side", "overlay", NULL};
static const char *const colour_names[] = {"kernel", "stream", "age", "limiter", "block", "duration", "start-error", NULL};
static const char *const fill_options[] = {"slots", "warps", "registers", "shared", NULL};
static const char *const panel_names[] = {"facts", "range", "search", "why", "whatif", NULL};

/* ---- The command line ---- */

static int choose(struct argp_state *state, const char *option, const char *const *names, const char *text)
{
    char *list = wt_strdup("");
    for (int i = 0; names[i]; i++) {
        if (!strcmp(names[i], text)) {
            free(list);
            return i;
        }
        char *longer = wt_format("%s%s%s", list, i ? ", " : "", names[i]);
        free(list);
        list = longer;
    }
    argp_error(state, "--%s: '%s' is none of %s", option, text, list);
    return 0;
}

static double read_number(struct argp_state *state, const char *option, const char *text, double low, double high)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high))
        argp_error(state, "--%s: '%s' is not a number from %g to %g", option, text, low, high);
    return value;
}

static void read_size(struct argp_state *state, struct options *o, const char *text)
{
    char more;
    if (sscanf(text, "%dx%d%c", &o->width, &o->height, &more) != 2 || o->width < 200 || o->height < 200 || o->width > 8192 ||
        o->height > 8192)
        argp_error(state, "--size: '%s' is not WIDTHxHEIGHT with both from 200 to 8192", text);
    o->size_given = true;
}

static void take_file(struct argp_state *state, struct options *o, const char *text)
{
    if (o->file_count == 2)
        argp_error(state, "at most two files, not also '%s'", text);
    o->files[o->file_count++] = text;
}

static error_t parse_look(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_SIZE:
        read_size(state, o, text);
        return 0;
    case KEY_SCALE:
        o->scale = read_number(state, "scale", text, 0.5, 4);
        return 0;
    case KEY_LETTERS:
        o->letters = read_number(state, "letters", text, 0.6, 3);
        return 0;
    case KEY_PAGE:
        o->page = choose(state, "page", page_names, text);
        return 0;
    case KEY_COMPARE:
        o->compare = choose(state, "compare", compare_names, text);
        return 0;
    case KEY_COLOUR:
        o->colours = choose(state, "colour", colour_names, text);
        return 0;
    case KEY_FILL:
        o->fill = choose(state, "fill", fill_options, text);
        return 0;
    case KEY_PANEL:
        o->panel = choose(state, "panel", panel_names, text);
        return 0;
    case KEY_DARK:
        o->dark = true;
        return 0;
    case KEY_HATCH:
        o->hatching = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'g':
        o->load.gpu = text;
        return 0;
    case KEY_SEED:
        o->load.seed = (uint64_t)read_number(state, "seed", text, 0, 9e15);
        o->load.seed_given = true;
        return 0;
    case KEY_NO_REPLAY:
        o->load.no_replay = true;
        return 0;
    case KEY_AT:
        o->at = text;
        return 0;
    case KEY_RENDER:
        o->render = text;
        return 0;
    case KEY_SCRIPT:
        o->script = text;
        return 0;
    case KEY_RECORD:
        o->record = text;
        return 0;
    case KEY_SECONDS:
        o->seconds = read_number(state, "seconds", text, 0.1, 3600);
        return 0;
    case KEY_CAPTIONS:
        o->captions = text;
        return 0;
    case KEY_LESSON:
        o->lesson = text;
        return 0;
    case KEY_BENCH:
        o->bench = true;
        return 0;
    case KEY_WINDOW:
        o->window = true;
        return 0;
    case ARGP_KEY_ARG:
        take_file(state, o, text);
        return 0;
    case ARGP_KEY_END:
        if (!o->lesson && o->file_count == 0)
            argp_error(state, "which trace, result or workload file?");
        if (o->lesson && o->file_count > 0)
            argp_error(state, "a lesson brings its own workloads; leave '%s' out", o->files[0]);
        return 0;
    default:
        return parse_look(key, text, state);
    }
}

static const struct argp_option options[] = {
    {"gpu", 'g', "NAME|FILE.cfg", 0, "the GPU, where the file does not name it", 1},
    {"seed", KEY_SEED, "N", 0, "seed of all random streams (default 1, or the workload's)", 1},
    {"lesson", KEY_LESSON, "NAME|FILE.cfg", 0, "a lesson (`wavetail lesson` lists them) instead of files", 1},
    {"no-replay", KEY_NO_REPLAY, 0, 0, "show a trace alone, without its simulated counterpart", 1},
    {"at", KEY_AT, "TIME", 0, "begin at a time or block: 12000 (cycles), 6.5us, 40%, #128; first, last (a lesson's answer)", 2},
    {"page", KEY_PAGE, "NAME", 0, "overview (default), floor, timeline, sm", 2},
    {"compare", KEY_COMPARE, "MODE", 0, "off, side, overlay", 2},
    {"colour", KEY_COLOUR, "BY", 0, "kernel (default), stream, age, limiter, block, duration, start-error", 2},
    {"fill", KEY_FILL, "BY", 0, "SMs filled by slots (default), warps, registers, shared", 2},
    {"panel", KEY_PANEL, "NAME", 0, "facts (default), range, search, why, whatif", 2},
    {"dark", KEY_DARK, 0, 0, "light letters on dark", 2},
    {"hatch", KEY_HATCH, 0, 0, "patterns beside colours", 2},
    {"letters", KEY_LETTERS, "FACTOR", 0, "size of letters, 0.6 to 3", 2},
    {"font-size", 0, 0, OPTION_ALIAS, 0, 2},
    {"scale", KEY_SCALE, "FACTOR", 0, "pixels per point, for screens of high resolution (default: as the screen says)", 2},
    {"size", KEY_SIZE, "WxH", 0, "size in pixels (default 1280x720)", 2},
    {"captions", KEY_CAPTIONS, "FILE.cfg", 0, "captions and a question, shown as the run plays", 2},
    {"render", KEY_RENDER, "FILE.png", 0, "make a picture and stop; needs no display", 3},
    {"record", KEY_RECORD, "FILE.mp4|gif", 0, "record the run from --at to its end and stop; needs no display", 3},
    {"seconds", KEY_SECONDS, "S", 0, "how long the recording plays (default 15)", 3},
    {"script", KEY_SCRIPT, "FILE", 0, "play keys, mouse and waits from a file; needs no display", 3},
    {"window", KEY_WINDOW, 0, 0, "play the script in a window", 3},
    {"bench", KEY_BENCH, 0, 0, "print how long opening and drawing take, and stop; needs no display", 3},
    {0}};

static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "TRACE|RESULT|WORKLOAD [SECOND]",
    .doc = "Shows blocks entering and leaving the SMs. A trace is shown beside its simulated counterpart; with a second file, the "
           "two are compared on one clock.\vThe key ? shows all keys."};

/* ---- Opening ---- */

static void rename_run(struct run *run, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = wt_strdup(slash ? slash + 1 : path);
    name[strcspn(name, ".")] = '\0';
    free(run->label);
    run->label = name;
}

/* Of each of two files the first run is compared. */
static enum wt_code add_second(const struct options *o, struct loaded *loaded, struct wt_error *err)
{
    struct loaded second;
    WT_TRY(load_input(o->files[1], &o->load, &second, err));
    run_free(loaded->runs[1]);
    loaded->runs[1] = second.runs[0];
    loaded->second = second.scenario;
    second.runs[0] = NULL;
    second.scenario = NULL;
    loaded->count = 2;
    rename_run(loaded->runs[0], o->files[0]);
    rename_run(loaded->runs[1], o->files[1]);
    loaded_clear(&second);
    return WT_OK;
}

static enum wt_code load_all(const struct options *o, struct loaded *loaded, struct wt_error *err)
{
    if (o->lesson)
        return load_lesson(o->lesson, &o->load, loaded, err);
    WT_TRY(load_input(o->files[0], &o->load, loaded, err));
    if (o->file_count < 2)
        return WT_OK;
    enum wt_code code = add_second(o, loaded, err);
    if (code != WT_OK)
        loaded_clear(loaded);
    return code;
}

/* A lesson about what happens inside an SM shows one, one with host calls what happens when. */
static enum page first_page(const struct view *view, int asked)
{
    if (asked >= 0 || !view->lesson.title)
        return asked >= 0 ? (enum page)asked : PAGE_OVERVIEW;
    const struct run *run = view->runs[0];
    return view->lesson.inside ? PAGE_SM : run->timeline->host ? PAGE_TIMELINE : PAGE_OVERVIEW;
}

static enum wt_code begin_at(struct view *view, const char *at, struct wt_error *err)
{
    bool last = at && !strcmp(at, "last"), first = !at || !strcmp(at, "first");
    if (view->lesson.title)
        lesson_go(view, last ? view->lesson.cases + 1 : first ? 0 : 1);
    view->playback.playing = false;
    if (first || (last && view->lesson.title))
        return WT_OK;
    if (!view_go_to(view, last ? "100%" : at))
        return wt_fail(err, WT_BAD_USAGE, "--at: '%s' is no time or block of this run; give 12000 (cycles), 6.5us, 40%%, #128, first "
                       "or last", at);
    return WT_OK;
}

static enum wt_code set_up(struct view *view, const struct options *o, struct wt_error *err)
{
    view->dots = o->scale > 0 ? o->scale : 1;
    view->letters = o->letters;
    view->dark = o->dark;
    view->hatching = o->hatching;
    view->page = first_page(view, o->page);
    view->colours = (enum colour_mode)o->colours;
    view->fill = (enum fill)o->fill;
    view->compare = view->run_count > 1 ? (enum compare)o->compare : COMPARE_OFF;
    view_set_panel(view, (enum panel)o->panel);
    view_resize(view, o->width, o->height);
    view->ui.in.x = view->ui.in.y = -1000;
    if (o->captions)
        WT_TRY(captions_read(o->captions, &view->captions, err));
    return begin_at(view, o->at, err);
}

/* ---- Without a window ---- */

static enum wt_code render(struct view *view, const char *path, struct wt_error *err)
{
    view->message_left = 0;
    view_frame(view, 0);
    view_frame(view, 0); /* what the first laid out */
    return canvas_save_png(&view->canvas, path, err);
}

static enum wt_code record_frames(struct view *view, struct recorder *recorder, double seconds, struct wt_error *err)
{
    double step = 1.0 / RECORD_RATE;
    for (double t = 0; t < seconds; t += step) {
        view_frame(view, step);
        WT_TRY(recorder_add(recorder, &view->canvas, step, err));
    }
    return WT_OK;
}

/* From the head to the run's end, and a second more. */
static enum wt_code record_run(struct view *view, struct recorder *recorder, double seconds, struct wt_error *err)
{
    double end = wt_to_cycles(view_run(view)->whole);
    view->playback.speed = fmax((end - view->playback.now) / seconds, 1);
    view->playback.playing = true;
    return record_frames(view, recorder, seconds + 1, err);
}

/* The question, its cases, the answer. */
static enum wt_code record_lesson(struct view *view, struct recorder *recorder, double seconds, struct wt_error *err)
{
    enum { READ_SECONDS = 5 };
    lesson_go(view, 0);
    WT_TRY(record_frames(view, recorder, READ_SECONDS, err));
    for (int i = 1; i <= view->lesson.cases; i++) {
        lesson_go(view, i);
        WT_TRY(record_run(view, recorder, seconds, err));
    }
    lesson_go(view, view->lesson.cases + 1);
    return record_frames(view, recorder, READ_SECONDS, err);
}

static enum wt_code record(struct view *view, const struct options *o, struct wt_error *err)
{
    struct recorder *recorder;
    int pictures = 0;
    WT_TRY(recorder_new(o->record, &recorder, err));
    bool video = recorder_makes_video(recorder);
    view->message_left = 0;
    enum wt_code code = (view->lesson.title ? record_lesson : record_run)(view, recorder, o->seconds, err);
    enum wt_code finished = recorder_finish(recorder, &pictures, err);
    if (code == WT_OK && finished == WT_OK && !video)
        fprintf(stderr, "ffmpeg is not installed: %s became %d numbered PNG files\n", o->record, pictures);
    return code == WT_OK ? finished : code;
}

static enum wt_code play_script(struct view *view, const struct options *o, struct script *script, struct wt_error *err)
{
    bool more = true;
    if (o->window) {
        struct window_setup setup = {o->width, o->height, o->scale, script};
        return window_run(view, &setup, err);
    }
    while (more && !view->quitting)
        WT_TRY(script_step(script, view, &more, err));
    return WT_OK;
}

static enum wt_code run_script(struct view *view, const struct options *o, struct wt_error *err)
{
    struct script *script;
    WT_TRY(script_open(o->script, &script, err));
    text_log_keep(view->fonts, true);
    view->record_path = o->record;
    enum wt_code code = play_script(view, o, script, err);
    script_free(script);
    return code;
}

static enum wt_code serve(struct view *view, const struct options *o, struct wt_error *err)
{
    WT_TRY(set_up(view, o, err));
    if (o->bench) {
        bench_run(view, stdout);
        return WT_OK;
    }
    if (o->render)
        return render(view, o->render, err);
    if (o->script)
        return run_script(view, o, err);
    if (o->record)
        return record(view, o, err);
    struct window_setup setup = {o->width, o->height, o->scale, NULL};
    return window_run(view, &setup, err);
}

static enum wt_code run(const struct options *o, struct wt_error *err)
{
    struct fonts *fonts;
    struct loaded loaded;
    WT_TRY(fonts_open(&fonts, err));
    double begin = bench_seconds();
    enum wt_code code = load_all(o, &loaded, err);
    if (code == WT_OK) {
        struct view view;
        if (loaded.note[0] && (o->render || o->record)) /* a window says it itself */
            fprintf(stderr, "%s\n", loaded.note);
        view_open(&view, fonts, &loaded);
        if (o->bench)
            printf("opened in %.2f s\n", bench_seconds() - begin);
        code = serve(&view, o, err);
        view_close(&view);
    }
    fonts_close(fonts);
    return code;
}

int main(int argc, char **argv)
{
    struct options o = {.width = 1280, .height = 720, .letters = 1, .seconds = 15, .page = -1, .load = {.seed = 1}};
    struct wt_error err = {0};
    argp_err_exit_status = WT_BAD_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    enum wt_code code = run(&o, &err);
    if (err.text[0])
        fprintf(stderr, "%s\n", err.text);
    return (int)code;
}
