/* Widgets, drawn and asked in one call each frame. Lengths are in points: a point is `scale` pixels. */
#ifndef VIEW_UI_H
#define VIEW_UI_H

#include <stdbool.h>
#include <stddef.h>

#include "canvas.h"
#include "font.h"
#include "theme.h"

/* What the user did since the last frame. */
struct input {
    int x, y; /* mouse, pixels; far outside when the mouse is */
    bool down, pressed, released, double_click; /* left button */
    bool right_pressed;
    double wheel; /* steps; > 0 is up */
    bool ctrl, shift;
};

enum { UI_FIELD = 64, UI_TIP = 256 };

struct ui {
    struct canvas *canvas;
    struct fonts *fonts;
    const struct theme *theme;
    double scale;
    struct input in;
    const void *active; /* what is being dragged; any address that names it */
    char *field;        /* the text field that has the keyboard, or NULL */
    size_t field_size;
    bool field_done;    /* Enter was pressed in it */
    bool covered;       /* something lies over what is drawn now: it takes no mouse */
    char tip[UI_TIP];   /* shown beside the mouse at the frame's end */
    double blink;       /* seconds, for the cursor */
};

enum align { ALIGN_LEFT, ALIGN_MIDDLE, ALIGN_RIGHT };
enum text_size { TEXT_SMALL, TEXT_BODY, TEXT_TITLE, TEXT_LARGE };

int ui_px(const struct ui *ui, double points);

struct text_style ui_style(const struct ui *ui, enum font_face face, enum text_size size, colour ink);
int ui_line_height(const struct ui *ui, enum text_size size);
int ui_text_width(const struct ui *ui, enum font_face face, enum text_size size, const char *text);

/* In the middle of the rectangle's height, cut with "…" where it is too long. */
void ui_text(const struct ui *ui, struct rect rect, enum align align, enum font_face face, enum text_size size, colour ink,
             const char *text);
/* The same over two grounds: the text's part left of `split` has the first ink, the rest the second. */
void ui_text_over(const struct ui *ui, struct rect rect, enum align align, enum text_size size, int split, const colour inks[2],
                  const char *text);
/* Broken at spaces from the top of the rectangle; returns the height used. What does not fit below is left out. */
int ui_paragraph(const struct ui *ui, struct rect rect, enum font_face face, enum text_size size, colour ink,
                 const char *text);

/* Height that ui_paragraph needs for all of the text. */
int ui_paragraph_height(const struct ui *ui, int width, enum font_face face, enum text_size size, const char *text);

/* Is the mouse over it, with nothing on top? */
bool ui_over(const struct ui *ui, struct rect rect);
bool ui_clicked(const struct ui *ui, struct rect rect);
/* While the mouse, once pressed in `rect`, stays down. `what` names it. */
bool ui_dragged(struct ui *ui, const void *what, struct rect rect);
void ui_set_tip(struct ui *ui, struct rect rect, const char *tip);

/* true in the frame in which it is clicked. `tip` may be NULL. */
bool ui_button(struct ui *ui, struct rect rect, const char *label, bool on, const char *tip);
/* The same, with the label left to the caller. */
bool ui_blank_button(struct ui *ui, struct rect rect, bool on, const char *tip);
/* A line of text to edit; true when Enter was pressed in it. `hint` stands there while it is empty. */
bool ui_field(struct ui *ui, struct rect rect, char *text, size_t size, const char *hint);
void ui_focus_field(struct ui *ui, char *text, size_t size);
/* The keyboard's text and keys for the field in focus; false: there is none. */
bool ui_type(struct ui *ui, const char *text);
bool ui_erase(struct ui *ui);
void ui_leave_field(struct ui *ui, bool done);

/* Takes `height` points off the top of *rect and returns it. */
struct rect ui_cut_top(const struct ui *ui, struct rect *rect, double height);
struct rect ui_cut_left(const struct ui *ui, struct rect *rect, double width);
struct rect ui_cut_right(const struct ui *ui, struct rect *rect, double width);
struct rect ui_cut_bottom(const struct ui *ui, struct rect *rect, double height);

/* After everything: the tip, if one was set. */
void ui_finish(struct ui *ui);

#endif
