#include "font.h"

#include <SDL.h>
#include <SDL_ttf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/text.h"

enum { SIZES = 128, LETTERS = 1024 /* power of two */ };

/* A letter's coverage, drawn at (left, top) from the pen's line top. */
struct letter {
    uint32_t code; /* 0 = free */
    int left, top, width, height, advance;
    uint8_t *coverage; /* width * height; NULL for spaces; owned */
};

struct face {
    TTF_Font *font;
    int height;
    struct letter letters[LETTERS];
};

struct fonts {
    char *paths[FONT_FACES];
    struct face *faces[FONT_FACES][SIZES]; /* by size; made when first used */
    bool keep_log;
    char *log;
    size_t log_length, log_capacity;
    struct rect *places; /* of the logged texts, in order */
    size_t place_count, place_capacity;
};

static const char *const file_names[FONT_FACES] = {"DejaVuSans.ttf", "DejaVuSans-Bold.ttf"};
static const char *const folders[] = {"/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-fonts",
                                      "/usr/share/fonts/dejavu", "/usr/share/fonts/TTF", "/usr/local/share/fonts"};

static char *find_file(const char *name)
{
    const char *own = getenv("WAVETAIL_FONTS");
    for (size_t i = 0; i < (own ? 1 : sizeof folders / sizeof *folders); i++) {
        char *path = wt_format("%s/%s", own ? own : folders[i], name);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static enum wt_code fail_missing(const char *name, struct wt_error *err)
{
    const char *own = getenv("WAVETAIL_FONTS");
    return wt_fail(err, WT_BAD_INPUT, "the font %s is not in %s; install fonts-dejavu-core, or set WAVETAIL_FONTS to the "
                   "folder that has it", name, own ? own : "any of the usual places");
}

static struct face *open_face(struct fonts *fonts, enum font_face which, int size)
{
    struct face *face = wt_alloc(1, sizeof *face);
    face->font = TTF_OpenFont(fonts->paths[which], size);
    if (face->font) {
        TTF_SetFontHinting(face->font, TTF_HINTING_LIGHT);
        face->height = TTF_FontHeight(face->font);
    }
    return face;
}

static struct face *face_of(struct fonts *fonts, const struct text_style *style)
{
    int size = style->size < 5 ? 5 : style->size >= SIZES ? SIZES - 1 : style->size;
    struct face **face = &fonts->faces[style->face][size];
    if (!*face)
        *face = open_face(fonts, style->face, size);
    return *face;
}

static void keep_coverage(struct letter *letter, SDL_Surface *surface)
{
    letter->width = surface->w;
    letter->height = surface->h;
    letter->coverage = wt_alloc((size_t)surface->w * (size_t)surface->h, 1);
    for (int y = 0; y < surface->h; y++) {
        const uint32_t *row = (const void *)((const uint8_t *)surface->pixels + (size_t)y * (size_t)surface->pitch);
        for (int x = 0; x < surface->w; x++)
            letter->coverage[(size_t)y * (size_t)surface->w + (size_t)x] = (uint8_t)(row[x] >> 24);
    }
}

static void rasterise(const struct face *face, struct letter *letter, uint32_t code)
{
    int left = 0, right, bottom, top;
    letter->code = code;
    if (!face->font)
        return;
    TTF_GlyphMetrics32(face->font, code, &left, &right, &bottom, &top, &letter->advance);
    letter->left = left < 0 ? left : 0; /* SDL_ttf leaves the bearing to the right in the picture */
    SDL_Surface *surface = TTF_RenderGlyph32_Blended(face->font, code, (SDL_Color){255, 255, 255, 255});
    if (surface)
        keep_coverage(letter, surface);
    SDL_FreeSurface(surface);
}

/* A full table draws all further letters as the one in the way; 1024 different letters are not expected. */
static const struct letter *letter_of(struct face *face, uint32_t code)
{
    struct letter *letter = NULL;
    for (uint32_t i = 0; i < LETTERS; i++) {
        letter = &face->letters[(code * 2654435761u + i) % LETTERS];
        if (letter->code == code || letter->code == 0)
            break;
    }
    if (letter->code == 0)
        rasterise(face, letter, code);
    return letter;
}

static uint32_t next_code(const char **text)
{
    static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t length = wt_utf8_length(*text);
    if (length == 0 || (unsigned char)**text < ' ') {
        (*text)++;
        return '?';
    }
    uint32_t code = (unsigned char)**text & masks[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)(*text)[i] & 0x3f);
    *text += length;
    return code;
}

static void draw_letter(struct canvas *canvas, const struct letter *letter, int x, int y, colour ink)
{
    struct rect r = rect_intersect(canvas->clip, (struct rect){x + letter->left, y, letter->width, letter->height});
    for (int line = r.y; letter->coverage && line < r.y + r.h; line++) {
        const uint8_t *from = letter->coverage + (size_t)(line - y) * (size_t)letter->width + (r.x - x - letter->left);
        colour *row = canvas->pixels + (size_t)line * (size_t)canvas->width + r.x;
        for (int i = 0; i < r.w; i++)
            if (from[i])
                row[i] = colour_mix(row[i], ink, from[i] / 255.0);
    }
}

static void log_text(struct fonts *fonts, const char *text, struct rect place)
{
    fonts->places = wt_grow(fonts->places, &fonts->place_capacity, fonts->place_count + 1, sizeof *fonts->places);
    fonts->places[fonts->place_count++] = place;
    size_t length = strlen(text);
    fonts->log = wt_grow(fonts->log, &fonts->log_capacity, fonts->log_length + length + 2, 1);
    memcpy(fonts->log + fonts->log_length, text, length);
    fonts->log_length += length;
    fonts->log[fonts->log_length++] = '\n';
    fonts->log[fonts->log_length] = '\0';
}

enum wt_code fonts_open(struct fonts **out, struct wt_error *err)
{
    struct fonts *fonts = wt_alloc(1, sizeof *fonts);
    *out = NULL;
    for (int i = 0; i < FONT_FACES; i++) {
        fonts->paths[i] = find_file(file_names[i]);
        if (fonts->paths[i])
            continue;
        fonts_close(fonts);
        return fail_missing(file_names[i], err);
    }
    if (TTF_Init() != 0) {
        fonts_close(fonts);
        return wt_fail(err, WT_BAD_INPUT, "SDL_ttf cannot be used (%s)", TTF_GetError());
    }
    *out = fonts;
    return WT_OK;
}

static void close_face(struct face *face)
{
    if (!face)
        return;
    for (int i = 0; i < LETTERS; i++)
        free(face->letters[i].coverage);
    if (face->font)
        TTF_CloseFont(face->font);
    free(face);
}

void fonts_close(struct fonts *fonts)
{
    if (!fonts)
        return;
    for (int i = 0; i < FONT_FACES; i++) {
        for (int size = 0; size < SIZES; size++)
            close_face(fonts->faces[i][size]);
        free(fonts->paths[i]);
    }
    if (TTF_WasInit())
        TTF_Quit();
    free(fonts->log);
    free(fonts->places);
    free(fonts);
}

int font_height(struct fonts *fonts, const struct text_style *style)
{
    return face_of(fonts, style)->height;
}

int text_width(struct fonts *fonts, const struct text_style *style, const char *text)
{
    struct face *face = face_of(fonts, style);
    int width = 0;
    while (*text)
        width += letter_of(face, next_code(&text))->advance;
    return width;
}

int text_draw(struct canvas *canvas, struct fonts *fonts, const struct text_style *style, int x, int y, const char *text)
{
    struct face *face = face_of(fonts, style);
    int pen = x;
    const char *begin = text;
    while (*text) {
        const struct letter *letter = letter_of(face, next_code(&text));
        draw_letter(canvas, letter, pen, y, style->ink);
        pen += letter->advance;
    }
    if (fonts->keep_log)
        log_text(fonts, begin, (struct rect){x, y, pen - x, face->height});
    return pen - x;
}

void text_log_keep(struct fonts *fonts, bool keep)
{
    fonts->keep_log = keep;
}

void text_log_clear(struct fonts *fonts)
{
    fonts->log_length = fonts->place_count = 0;
    if (fonts->log)
        fonts->log[0] = '\0';
}

const char *text_log(const struct fonts *fonts)
{
    return fonts->log ? fonts->log : "";
}

bool text_log_find(struct fonts *fonts, const char *part, int *x, int *y)
{
    const char *line = text_log(fonts), *found = strstr(line, part);
    size_t index = 0;
    if (!found)
        return false;
    for (; line < found; line++)
        index += *line == '\n';
    *x = fonts->places[index].x + fonts->places[index].w / 2;
    *y = fonts->places[index].y + fonts->places[index].h / 2;
    return true;
}
