#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const double frame_seconds = 1.0 / 60;

struct script {
    char *path;
    FILE *stream;
    long line;
    char *text;
    size_t capacity;
};

typedef enum wt_code command(struct script *script, struct view *view, const char *rest, struct wt_error *err);

static enum wt_code fail(const struct script *script, struct wt_error *err, const char *what, const char *rest)
{
    return wt_fail_at(err, script->path, script->line, "%s '%s'", what, rest);
}

static void frame(struct view *view)
{
    view_frame(view, frame_seconds);
}

/* ---- Commands ---- */

static enum wt_code do_key(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    int key = key_by_name(rest);
    if (!key)
        return fail(script, err, "there is no key", rest);
    char text[2] = {(char)key, '\0'};
    if (key < 0x100)
        view_text(view, text);
    else
        view_key(view, key);
    frame(view);
    return WT_OK;
}

static enum wt_code do_action(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    enum action action = action_by_name(rest);
    if (action == ACTIONS)
        return fail(script, err, "there is no action", rest);
    view_act(view, action);
    frame(view);
    return WT_OK;
}

static enum wt_code do_type(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    (void)script, (void)err;
    view_text(view, rest);
    frame(view);
    return WT_OK;
}

static enum wt_code do_wait(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    char *end;
    double seconds = strtod(rest, &end);
    if (end == rest || *end || seconds < 0 || seconds > 600)
        return fail(script, err, "wait for 0 to 600 seconds, not", rest);
    for (double passed = 0; passed < seconds - 1e-9; passed += frame_seconds)
        frame(view);
    return WT_OK;
}

static bool read_numbers(const char *rest, int *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        numbers[i] = (int)strtol(rest, &end, 10);
        if (end == rest)
            return false;
        rest = end;
    }
    return rest[strspn(rest, " ")] == '\0';
}

static void move_to(struct view *view, int x, int y)
{
    view->ui.in.x = x;
    view->ui.in.y = y;
    frame(view);
}

static void press_and_release(struct view *view)
{
    view->ui.in.pressed = view->ui.in.down = true;
    frame(view);
    view->ui.in.down = false;
    view->ui.in.released = true;
    frame(view);
    frame(view);
}

static enum wt_code do_move(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    int at[2];
    if (!read_numbers(rest, at, 2))
        return fail(script, err, "X and Y are missing:", rest);
    move_to(view, at[0], at[1]);
    return WT_OK;
}

static enum wt_code do_click(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    WT_TRY(do_move(script, view, rest, err));
    press_and_release(view);
    return WT_OK;
}

static enum wt_code do_double_click(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    WT_TRY(do_click(script, view, rest, err));
    view->ui.in.double_click = true;
    press_and_release(view);
    return WT_OK;
}

static enum wt_code do_right_click(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    WT_TRY(do_move(script, view, rest, err));
    view->ui.in.right_pressed = true;
    frame(view);
    return WT_OK;
}

static enum wt_code do_drag(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    enum { STEPS = 4 };
    int at[4];
    if (!read_numbers(rest, at, 4))
        return fail(script, err, "X0 Y0 X1 Y1 are missing:", rest);
    move_to(view, at[0], at[1]);
    view->ui.in.pressed = view->ui.in.down = true;
    frame(view);
    for (int i = 1; i <= STEPS; i++)
        move_to(view, at[0] + (at[2] - at[0]) * i / STEPS, at[1] + (at[3] - at[1]) * i / STEPS);
    view->ui.in.down = false;
    view->ui.in.released = true;
    frame(view);
    frame(view);
    return WT_OK;
}

static enum wt_code do_wheel(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    char *end;
    double steps = strtod(rest, &end);
    if (end == rest)
        return fail(script, err, "how far? wheel", rest);
    view->ui.in.shift = strstr(end, "shift") != NULL;
    view->ui.in.ctrl = strstr(end, "ctrl") != NULL;
    view->ui.in.wheel = steps;
    frame(view);
    view->ui.in.shift = view->ui.in.ctrl = false;
    return WT_OK;
}

static enum wt_code do_press(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    int x, y;
    frame(view);
    if (!text_log_find(view->fonts, rest, &x, &y))
        return fail(script, err, "nothing on the screen says", rest);
    move_to(view, x, y);
    press_and_release(view);
    return WT_OK;
}

static enum wt_code do_size(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    int width, height;
    char more;
    if (sscanf(rest, "%dx%d%c", &width, &height, &more) != 2 || width < 64 || height < 64 || width > 8192 || height > 8192)
        return fail(script, err, "a size is WIDTHxHEIGHT, not", rest);
    view_resize(view, width, height);
    frame(view);
    return WT_OK;
}

static enum wt_code do_screenshot(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    (void)script;
    frame(view);
    return canvas_save_png(&view->canvas, rest, err);
}

static enum wt_code do_expect(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    frame(view);
    return strstr(text_log(view->fonts), rest) ? WT_OK : fail(script, err, "nothing on the screen says", rest);
}

static enum wt_code do_refuse(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    frame(view);
    return strstr(text_log(view->fonts), rest) ? fail(script, err, "something on the screen says", rest) : WT_OK;
}

static enum wt_code do_quit(struct script *script, struct view *view, const char *rest, struct wt_error *err)
{
    (void)script, (void)rest, (void)err;
    view->quitting = true;
    return WT_OK;
}

static const struct {
    const char *name;
    command *run;
} commands[] = {{"key", do_key},         {"action", do_action},  {"type", do_type},
                {"wait", do_wait},       {"move", do_move},      {"click", do_click},
                {"drag", do_drag},       {"wheel", do_wheel},    {"doubleclick", do_double_click},
                {"press", do_press},     {"size", do_size},      {"rightclick", do_right_click},
                {"expect", do_expect},   {"refuse", do_refuse},  {"screenshot", do_screenshot},
                {"quit", do_quit}};

/* ---- Reading ---- */

enum wt_code script_open(const char *path, struct script **out, struct wt_error *err)
{
    FILE *stream = fopen(path, "r");
    *out = NULL;
    if (!stream)
        return wt_fail_at(err, path, 0, "cannot be opened (%s)", strerror(errno));
    *out = wt_alloc(1, sizeof **out);
    **out = (struct script){.path = wt_strdup(path), .stream = stream};
    return WT_OK;
}

void script_free(struct script *script)
{
    if (!script)
        return;
    fclose(script->stream);
    free(script->path);
    free(script->text);
    free(script);
}

static enum wt_code carry_out(struct script *script, struct view *view, struct wt_error *err)
{
    char *line = script->text + strspn(script->text, " \t");
    line[strcspn(line, "\r\n")] = '\0';
    if (!*line || *line == '#')
        return WT_OK;
    size_t length = strcspn(line, " ");
    const char *rest = line + length + (line[length] == ' ');
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == length && !strncmp(commands[i].name, line, length))
            return commands[i].run(script, view, rest, err);
    return fail(script, err, "not a command of scripts:", line);
}

enum wt_code script_step(struct script *script, struct view *view, bool *more, struct wt_error *err)
{
    *more = getline(&script->text, &script->capacity, script->stream) > 0 && !view->quitting;
    script->line++;
    return *more ? carry_out(script, view, err) : WT_OK;
}
