#include "window.h"

#include <stdlib.h>
#include <string.h>

#define SDL_MAIN_HANDLED
#include <SDL.h>

struct window {
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    int texture_w, texture_h;
    double dots_x, dots_y; /* pixels per unit of SDL's mouse */
    double scale;
    bool fullscreen;
};

static const struct {
    SDL_Keycode sdl;
    int key;
} special_keys[] = {{SDLK_LEFT, KEY_LEFT},     {SDLK_RIGHT, KEY_RIGHT},         {SDLK_UP, KEY_UP},
                    {SDLK_DOWN, KEY_DOWN},     {SDLK_HOME, KEY_HOME},           {SDLK_END, KEY_END},
                    {SDLK_PAGEUP, KEY_PAGE_UP}, {SDLK_PAGEDOWN, KEY_PAGE_DOWN}, {SDLK_RETURN, KEY_ENTER},
                    {SDLK_KP_ENTER, KEY_ENTER}, {SDLK_ESCAPE, KEY_ESCAPE},      {SDLK_BACKSPACE, KEY_BACKSPACE},
                    {SDLK_TAB, KEY_TAB},       {SDLK_F9, KEY_F9},               {SDLK_F11, KEY_F11},
                    {SDLK_F12, KEY_F12}};

/* ---- Opening ---- */

/* Where nothing can be seen SDL takes a driver that draws into memory. That counts only if it was asked for. */
static bool is_display(const char *driver)
{
    return getenv("SDL_VIDEODRIVER") || (strcmp(driver, "offscreen") != 0 && strcmp(driver, "dummy") != 0 &&
                                         strcmp(driver, "evdev") != 0);
}

static enum wt_code no_display(const struct view *view, const char *why, struct wt_error *err)
{
    return wt_fail(err, WT_BAD_INPUT, "there is no display (%s); without one, %s--render FILE.png makes a picture, --record FILE.mp4 "
                   "a video, and --script FILE plays a script", why, view->lesson.title ?
                   "`wavetail lesson NAME --text` prints the lesson and --svg FILE draws it; of wavetail-view --lesson NAME, " : "");
}

static enum wt_code open_window(struct window *window, const struct view *view, const struct window_setup *setup,
                                struct wt_error *err)
{
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0)
        return no_display(view, SDL_GetError(), err);
    if (!is_display(SDL_GetCurrentVideoDriver()))
        return no_display(view, "neither X nor Wayland answers", err);
    window->window = SDL_CreateWindow(view->title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, setup->width, setup->height,
                                      SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (window->window)
        window->renderer = SDL_CreateRenderer(window->window, -1, SDL_RENDERER_PRESENTVSYNC);
    if (window->window && !window->renderer)
        window->renderer = SDL_CreateRenderer(window->window, -1, SDL_RENDERER_SOFTWARE);
    if (!window->renderer)
        return wt_fail(err, WT_BAD_INPUT, "the window cannot be opened (%s)", SDL_GetError());
    window->scale = setup->scale;
    SDL_StartTextInput();
    return WT_OK;
}

static void close_window(struct window *window)
{
    if (window->texture)
        SDL_DestroyTexture(window->texture);
    if (window->renderer)
        SDL_DestroyRenderer(window->renderer);
    if (window->window)
        SDL_DestroyWindow(window->window);
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
}

/* The canvas has as many pixels as the window, and points are as large as the screen wants them. */
static void follow_size(struct window *window, struct view *view)
{
    int points_w, points_h, pixels_w, pixels_h;
    SDL_GetWindowSize(window->window, &points_w, &points_h);
    if (SDL_GetRendererOutputSize(window->renderer, &pixels_w, &pixels_h) != 0 || points_w < 1 || points_h < 1)
        return;
    window->dots_x = (double)pixels_w / points_w;
    window->dots_y = (double)pixels_h / points_h;
    view->dots = window->scale > 0 ? window->scale : window->dots_x;
    view_resize(view, pixels_w, pixels_h);
}

/* ---- Events ---- */

static void on_key(struct view *view, const SDL_KeyboardEvent *event)
{
    for (size_t i = 0; i < sizeof special_keys / sizeof *special_keys; i++)
        if (special_keys[i].sdl == event->keysym.sym)
            view_key(view, special_keys[i].key);
}

static void on_button(struct window *window, struct view *view, const SDL_MouseButtonEvent *event)
{
    struct input *in = &view->ui.in;
    bool down = event->type == SDL_MOUSEBUTTONDOWN;
    in->x = (int)(event->x * window->dots_x);
    in->y = (int)(event->y * window->dots_y);
    if (event->button == SDL_BUTTON_RIGHT) {
        in->right_pressed |= down;
        return;
    }
    if (event->button != SDL_BUTTON_LEFT)
        return;
    in->pressed |= down;
    in->released |= !down;
    in->double_click |= down && event->clicks == 2;
    in->down = down;
}

static void on_event(struct window *window, struct view *view, const SDL_Event *event)
{
    struct input *in = &view->ui.in;
    switch (event->type) {
    case SDL_QUIT:
        view->quitting = true;
        break;
    case SDL_KEYDOWN:
        on_key(view, &event->key);
        break;
    case SDL_TEXTINPUT:
        view_text(view, event->text.text);
        break;
    case SDL_MOUSEMOTION:
        in->x = (int)(event->motion.x * window->dots_x);
        in->y = (int)(event->motion.y * window->dots_y);
        break;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        on_button(window, view, &event->button);
        break;
    case SDL_MOUSEWHEEL:
        in->wheel += event->wheel.preciseY;
        break;
    default:
        break;
    }
    in->ctrl = SDL_GetModState() & KMOD_CTRL;
    in->shift = SDL_GetModState() & KMOD_SHIFT;
}

/* Waits where nothing moves. A press and its release never fall into one frame. */
static void take_events(struct window *window, struct view *view)
{
    SDL_Event event;
    bool still = !view->playback.playing && !view->recorder && view->message_left <= 0;
    int got = still ? SDL_WaitEventTimeout(&event, view->ui.field ? 100 : 400) : SDL_PollEvent(&event);
    while (got) {
        on_event(window, view, &event);
        if (event.type == SDL_MOUSEBUTTONDOWN || event.type == SDL_MOUSEBUTTONUP)
            return;
        got = SDL_PollEvent(&event);
    }
}

/* ---- Showing ---- */

static void show(struct window *window, const struct view *view)
{
    const struct canvas *canvas = &view->canvas;
    if (!window->texture || window->texture_w != canvas->width || window->texture_h != canvas->height) {
        if (window->texture)
            SDL_DestroyTexture(window->texture);
        window->texture = SDL_CreateTexture(window->renderer, SDL_PIXELFORMAT_RGB888, SDL_TEXTUREACCESS_STREAMING,
                                            canvas->width, canvas->height);
        window->texture_w = canvas->width;
        window->texture_h = canvas->height;
    }
    SDL_UpdateTexture(window->texture, NULL, canvas->pixels, 4 * canvas->width);
    SDL_RenderCopy(window->renderer, window->texture, NULL, NULL);
    SDL_RenderPresent(window->renderer);
}

static void toggle_fullscreen(struct window *window, struct view *view)
{
    window->fullscreen = !window->fullscreen;
    view->wants_fullscreen = false;
    SDL_SetWindowFullscreen(window->window, window->fullscreen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
}

static enum wt_code play_script(struct window *window, struct view *view, struct script *script, struct wt_error *err)
{
    SDL_Event event;
    bool more = true;
    while (more && !view->quitting) {
        while (SDL_PollEvent(&event))
            on_event(window, view, &event);
        WT_TRY(script_step(script, view, &more, err));
        show(window, view);
    }
    return WT_OK;
}

static void serve_user(struct window *window, struct view *view)
{
    uint64_t last = SDL_GetPerformanceCounter();
    while (!view->quitting) {
        take_events(window, view);
        follow_size(window, view);
        uint64_t now = SDL_GetPerformanceCounter();
        double seconds = (double)(now - last) / (double)SDL_GetPerformanceFrequency();
        last = now;
        view_frame(view, seconds < 0.25 ? seconds : 0.25);
        show(window, view);
        if (view->wants_fullscreen)
            toggle_fullscreen(window, view);
    }
}

enum wt_code window_run(struct view *view, const struct window_setup *setup, struct wt_error *err)
{
    struct window window = {0};
    enum wt_code code = open_window(&window, view, setup, err);
    if (code == WT_OK) {
        follow_size(&window, view);
        view->ui.in.x = view->ui.in.y = -1000;
        if (setup->script)
            code = play_script(&window, view, setup->script, err);
        else
            serve_user(&window, view);
    }
    close_window(&window);
    return code;
}
