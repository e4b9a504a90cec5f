#include "ui.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double sizes[] = {[TEXT_SMALL] = 11, [TEXT_BODY] = 13, [TEXT_TITLE] = 15, [TEXT_LARGE] = 20};

int ui_px(const struct ui *ui, double points)
{
    return (int)lround(points * ui->scale);
}

struct text_style ui_style(const struct ui *ui, enum font_face face, enum text_size size, colour ink)
{
    return (struct text_style){face, ui_px(ui, sizes[size]), ink};
}

int ui_line_height(const struct ui *ui, enum text_size size)
{
    struct text_style style = ui_style(ui, FONT_PLAIN, size, 0);
    return font_height(ui->fonts, &style);
}

int ui_text_width(const struct ui *ui, enum font_face face, enum text_size size, const char *text)
{
    struct text_style style = ui_style(ui, face, size, 0);
    return text_width(ui->fonts, &style, text);
}

/* ---- Text ---- */

/* The last byte of a UTF-8 sequence has no continuation byte after it. */
static size_t shorter(const char *text, size_t length)
{
    do
        length--;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80);
    return length;
}

static void cut_to(const struct ui *ui, const struct text_style *style, int room, const char *text, char *cut, size_t size)
{
    size_t length = strlen(text);
    length = length < size - 4 ? length : size - 4;
    memcpy(cut, text, length);
    cut[length] = '\0';
    while (length > 0 && text_width(ui->fonts, style, cut) > room) {
        length = shorter(cut, length);
        memcpy(cut + length, "…", sizeof "…");
    }
}

void ui_text(const struct ui *ui, struct rect rect, enum align align, enum font_face face, enum text_size size, colour ink,
             const char *text)
{
    char cut[512];
    struct text_style style = ui_style(ui, face, size, ink);
    cut_to(ui, &style, rect.w, text, cut, sizeof cut);
    int left = align == ALIGN_LEFT ? 0 : rect.w - text_width(ui->fonts, &style, cut);
    int x = rect.x + (align == ALIGN_MIDDLE ? left / 2 : left);
    text_draw(ui->canvas, ui->fonts, &style, x, rect.y + (rect.h - font_height(ui->fonts, &style)) / 2, cut);
}

void ui_text_over(const struct ui *ui, struct rect rect, enum align align, enum text_size size, int split, const colour inks[2],
                  const char *text)
{
    struct rect sides[] = {{rect.x, rect.y, split - rect.x, rect.h}, {split, rect.y, rect.x + rect.w - split, rect.h}};
    for (int i = 0; i < 2; i++) {
        if (sides[i].w <= 0)
            continue;
        struct rect old = canvas_clip_to(ui->canvas, sides[i]);
        ui_text(ui, rect, align, FONT_PLAIN, size, inks[i], text);
        canvas_set_clip(ui->canvas, old);
    }
}

/* Bytes of `text` that go on one line: up to a space, or all; at least one word. */
static size_t line_length(const struct ui *ui, const struct text_style *style, int room, const char *text)
{
    size_t best = 0;
    char line[512];
    for (size_t at = 1; at < sizeof line; at++) {
        bool end = text[at] == '\0' || text[at] == '\n';
        if (!end && text[at] != ' ')
            continue;
        memcpy(line, text, at);
        line[at] = '\0';
        if (best > 0 && text_width(ui->fonts, style, line) > room)
            return best;
        best = at;
        if (end)
            break;
    }
    return best ? best : strlen(text);
}

int ui_paragraph_height(const struct ui *ui, int width, enum font_face face, enum text_size size, const char *text)
{
    struct text_style style = ui_style(ui, face, size, 0);
    int lines = 0;
    for (; *text; lines++) {
        text += *text == '\n' ? 0 : line_length(ui, &style, width, text);
        text += *text == ' ' || *text == '\n';
    }
    return lines * font_height(ui->fonts, &style);
}

int ui_paragraph(const struct ui *ui, struct rect rect, enum font_face face, enum text_size size, colour ink,
                 const char *text)
{
    struct text_style style = ui_style(ui, face, size, ink);
    int height = font_height(ui->fonts, &style), y = 0;
    while (*text && y + height <= rect.h) {
        char line[512];
        size_t length = *text == '\n' ? 0 : line_length(ui, &style, rect.w, text);
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        text_draw(ui->canvas, ui->fonts, &style, rect.x, rect.y + y, line);
        y += height;
        text += length;
        text += *text == ' ' || *text == '\n';
    }
    return y;
}

/* ---- Mouse ---- */

bool ui_over(const struct ui *ui, struct rect rect)
{
    return !ui->covered && rect_holds(rect, ui->in.x, ui->in.y);
}

bool ui_clicked(const struct ui *ui, struct rect rect)
{
    return ui->in.pressed && ui_over(ui, rect);
}

bool ui_dragged(struct ui *ui, const void *what, struct rect rect)
{
    if (ui_clicked(ui, rect) && !ui->active)
        ui->active = what;
    return ui->active == what && (ui->in.down || ui->in.pressed);
}

void ui_set_tip(struct ui *ui, struct rect rect, const char *tip)
{
    if (tip && ui_over(ui, rect))
        snprintf(ui->tip, sizeof ui->tip, "%s", tip);
}

/* ---- Widgets ---- */

bool ui_blank_button(struct ui *ui, struct rect rect, bool on, const char *tip)
{
    const struct theme *theme = ui->theme;
    colour back = on ? theme->focus : theme->raised;
    if (ui_over(ui, rect))
        back = colour_mix(back, theme->ink, 0.12);
    canvas_round(ui->canvas, rect, ui_px(ui, 4), back, 255);
    ui_set_tip(ui, rect, tip);
    return ui_clicked(ui, rect);
}

bool ui_button(struct ui *ui, struct rect rect, const char *label, bool on, const char *tip)
{
    bool clicked = ui_blank_button(ui, rect, on, tip);
    ui_text(ui, rect_inset(rect, ui_px(ui, 3)), ALIGN_MIDDLE, FONT_PLAIN, TEXT_BODY,
            on ? ui->theme->on_focus : ui->theme->ink, label);
    return clicked;
}

void ui_focus_field(struct ui *ui, char *text, size_t size)
{
    ui->field = text;
    ui->field_size = size;
    ui->field_done = false;
    ui->blink = 0;
}

static void draw_cursor(struct ui *ui, struct rect inner, const char *text)
{
    int width = ui_text_width(ui, FONT_PLAIN, TEXT_BODY, text);
    int x = inner.x + (width < inner.w ? width : inner.w);
    if (fmod(ui->blink, 1.0) < 0.6)
        canvas_fill(ui->canvas, (struct rect){x, inner.y + ui_px(ui, 3), ui_px(ui, 1.5), inner.h - ui_px(ui, 6)},
                    ui->theme->focus);
}

bool ui_field(struct ui *ui, struct rect rect, char *text, size_t size, const char *hint)
{
    bool focused = ui->field == text;
    struct rect inner = {rect.x + ui_px(ui, 6), rect.y, rect.w - ui_px(ui, 12), rect.h};
    canvas_round(ui->canvas, rect, ui_px(ui, 4), ui->theme->raised, 255);
    canvas_frame(ui->canvas, rect, ui_px(ui, 1), focused ? ui->theme->focus : ui->theme->edge);
    ui_text(ui, inner, ALIGN_LEFT, FONT_PLAIN, TEXT_BODY, *text ? ui->theme->ink : ui->theme->soft, *text ? text : hint);
    if (focused)
        draw_cursor(ui, inner, text);
    if (ui_clicked(ui, rect))
        ui_focus_field(ui, text, size);
    bool done = focused && ui->field_done;
    if (done)
        ui->field_done = false;
    return done;
}

bool ui_type(struct ui *ui, const char *text)
{
    if (!ui->field)
        return false;
    size_t used = strlen(ui->field), more = strlen(text);
    if (used + more < ui->field_size)
        memcpy(ui->field + used, text, more + 1);
    ui->blink = 0;
    return true;
}

bool ui_erase(struct ui *ui)
{
    if (!ui->field)
        return false;
    size_t used = strlen(ui->field);
    if (used > 0)
        ui->field[shorter(ui->field, used)] = '\0';
    return true;
}

void ui_leave_field(struct ui *ui, bool done)
{
    if (done)
        ui->field_done = true;
    else
        ui->field = NULL;
}

/* ---- Rectangles ---- */

static int within(int length, int room)
{
    return length < room ? length : room > 0 ? room : 0;
}

struct rect ui_cut_top(const struct ui *ui, struct rect *rect, double height)
{
    int h = within(ui_px(ui, height), rect->h);
    struct rect cut = {rect->x, rect->y, rect->w, h};
    rect->y += h;
    rect->h -= h;
    return cut;
}

struct rect ui_cut_left(const struct ui *ui, struct rect *rect, double width)
{
    int w = within(ui_px(ui, width), rect->w);
    struct rect cut = {rect->x, rect->y, w, rect->h};
    rect->x += w;
    rect->w -= w;
    return cut;
}

struct rect ui_cut_right(const struct ui *ui, struct rect *rect, double width)
{
    int w = within(ui_px(ui, width), rect->w);
    rect->w -= w;
    return (struct rect){rect->x + rect->w, rect->y, w, rect->h};
}

struct rect ui_cut_bottom(const struct ui *ui, struct rect *rect, double height)
{
    int h = within(ui_px(ui, height), rect->h);
    rect->h -= h;
    return (struct rect){rect->x, rect->y + rect->h, rect->w, h};
}

/* ---- The tip ---- */

void ui_finish(struct ui *ui)
{
    if (!ui->tip[0])
        return;
    int width = ui_text_width(ui, FONT_PLAIN, TEXT_SMALL, ui->tip) + ui_px(ui, 14), height = ui_px(ui, 22);
    struct rect box = {ui->in.x + ui_px(ui, 12), ui->in.y + ui_px(ui, 18), width, height};
    if (box.x + box.w > ui->canvas->width)
        box.x = ui->canvas->width - box.w;
    if (box.y + box.h > ui->canvas->height)
        box.y = ui->in.y - box.h - ui_px(ui, 6);
    canvas_round(ui->canvas, box, ui_px(ui, 4), ui->theme->ink, 255);
    ui_text(ui, box, ALIGN_MIDDLE, FONT_PLAIN, TEXT_SMALL, ui->theme->surface, ui->tip);
}
