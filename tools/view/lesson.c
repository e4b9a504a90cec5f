/* The words below the views: a lesson's, or those of a captions file. */
#include "lesson.h"

#include <math.h>
#include <stdio.h>

#include "view.h"

enum { MARGIN = 10, BUTTON = 176, GAP = 6, CAPTION_HEIGHT = 60, QUESTION_HEIGHT = 132 /* points */ };

/* ---- Steps ---- */

static bool is_lesson(const struct view *view)
{
    return view->lesson.title != NULL;
}

static bool at_answer(const struct view *view)
{
    return view->lesson.step > view->lesson.cases;
}

bool lesson_hides_future(const struct view *view)
{
    return is_lesson(view) && !at_answer(view);
}

static void play_case(struct view *view, int run)
{
    struct playback *playback = &view->playback;
    view->shown = run;
    view->compare = COMPARE_OFF;
    playback->speed = playback_new(wt_to_cycles(view->runs[run]->whole), view->runs[run]->timeline->clock_mhz, 20).speed;
    playback_go(playback, 0);
    playback->playing = true;
}

/* Shortly after the last caption, of two cases the earlier one's: there the runs differ as the answer says. */
static double telling_moment(const struct view *view)
{
    double last[2] = {-1, -1}, moment = view->playback.end;
    for (size_t i = 0; i < view->captions.count; i++)
        last[view->captions.entries[i].run] = view->captions.entries[i].at;
    for (int run = 0; run < view->lesson.cases; run++)
        if (last[run] >= 0)
            moment = fmin(moment, last[run] + 0.02 * wt_to_cycles(run_makespan(view->runs[run])));
    return moment;
}

void lesson_go(struct view *view, int step)
{
    struct lesson *lesson = &view->lesson;
    lesson->step = step;
    view->panel_open = step > lesson->cases;
    if (step >= 1 && step <= lesson->cases && step <= view->run_count) {
        play_case(view, step - 1);
        return;
    }
    view->playback.playing = false;
    view->shown = 0;
    playback_go(&view->playback, step == 0 ? 0 : telling_moment(view));
    view->compare = step > lesson->cases && view->run_count > 1 ? COMPARE_SIDE : COMPARE_OFF;
}

void lesson_step(struct view *view, int by)
{
    int step = view->lesson.step + by;
    if (is_lesson(view))
        lesson_go(view, step < 0 ? 0 : step > view->lesson.cases + 1 ? 0 : step);
    else if (by > 0 && view->captions.question.text && !view->captions.question.choice_count)
        view->answered = 1;
}

bool lesson_begin(struct view *view)
{
    if (!is_lesson(view) || view->lesson.step != 0)
        return false;
    lesson_go(view, 1);
    return true;
}

void lesson_stop(struct view *view, double before)
{
    const struct question *question = &view->captions.question;
    struct playback *playback = &view->playback;
    if (question->text && !view->answered && before < question->at && playback->now >= question->at) {
        playback->now = question->at;
        playback->playing = false;
    }
    double end = wt_to_cycles(view_run(view)->whole);
    if (is_lesson(view) && !at_answer(view) && playback->playing && playback->now >= end) {
        playback->now = end;
        playback->playing = false;
    }
}

/* ---- A lesson ---- */

static const char *button_text(const struct view *view)
{
    const struct lesson *lesson = &view->lesson;
    if (lesson->step == 0)
        return "Play   (Enter)";
    if (at_answer(view))
        return "Again   (Enter)";
    return lesson->step < lesson->cases ? "Second case   (Enter)" : "Show the answer   (Enter)";
}

static const char *plain_text(const struct view *view)
{
    if (view->lesson.step == 0)
        return view->lesson.scenario;
    if (at_answer(view))
        return view->lesson.answer;
    const char *caption = caption_at(&view->captions, view->shown, view->playback.now);
    return caption ? caption : "";
}

/* The caption that needs most room, so that the words keep their height while a case plays. */
static int plain_height(const struct view *view, int width)
{
    int most = ui_paragraph_height(&view->ui, width, FONT_PLAIN, TEXT_TITLE, plain_text(view));
    for (size_t i = 0; view->lesson.step > 0 && !at_answer(view) && i < view->captions.count; i++) {
        int height = ui_paragraph_height(&view->ui, width, FONT_PLAIN, TEXT_TITLE, view->captions.entries[i].text);
        most = height > most ? height : most;
    }
    return most;
}

static int words_width(const struct view *view, int width)
{
    return width - ui_px(&view->ui, 2 * MARGIN + BUTTON + 16);
}

static void draw_buttons(struct view *view, struct rect rect)
{
    struct ui *ui = &view->ui;
    char place[64];
    rect = ui_cut_right(ui, &rect, BUTTON);
    if (ui_button(ui, ui_cut_top(ui, &rect, 30), button_text(view), true, NULL))
        lesson_step(view, 1);
    ui_cut_top(ui, &rect, 4);
    struct rect line = ui_cut_top(ui, &rect, 24), back = ui_cut_left(ui, &line, 60);
    if (view->lesson.step > 0 && line.h > ui_px(ui, 20) && ui_button(ui, back, "Back", false, "back (Backspace)"))
        lesson_step(view, -1);
    if (view->lesson.step == 0 || at_answer(view) || view->lesson.cases == 1)
        return;
    snprintf(place, sizeof place, "case %d of %d", view->lesson.step, view->lesson.cases);
    ui_text(ui, line, ALIGN_RIGHT, FONT_PLAIN, TEXT_SMALL, ui->theme->soft, place);
}

static void draw_lesson(struct view *view, struct rect rect)
{
    struct ui *ui = &view->ui;
    struct rect buttons = rect;
    rect.w -= ui_px(ui, BUTTON + 16);
    bool begins = view->lesson.step == 0;
    if (begins)
        ui_text(ui, ui_cut_top(ui, &rect, 28), ALIGN_LEFT, FONT_BOLD, TEXT_LARGE, ui->theme->ink, view->lesson.title);
    int question = ui_paragraph_height(ui, rect.w, FONT_BOLD, TEXT_TITLE, view->lesson.question);
    struct rect first = ui_cut_top(ui, &rect, (begins ? plain_height(view, rect.w) : question) / ui->scale + GAP);
    ui_paragraph(ui, begins ? first : rect, FONT_PLAIN, TEXT_TITLE, ui->theme->ink, plain_text(view));
    ui_paragraph(ui, begins ? rect : first, FONT_BOLD, TEXT_TITLE, begins || at_answer(view) ? ui->theme->ink : ui->theme->soft,
                 view->lesson.question);
    draw_buttons(view, buttons);
}

static double height_of_lesson(const struct view *view, int width)
{
    int inner = words_width(view, width);
    int pixels = plain_height(view, inner) + ui_paragraph_height(&view->ui, inner, FONT_BOLD, TEXT_TITLE, view->lesson.question);
    double words = pixels / view->ui.scale + GAP + (view->lesson.step == 0 ? 28 : 0);
    return fmax(words, 58) + 2 * MARGIN + 2;
}

/* ---- A captions file ---- */

static void draw_choices(struct view *view, struct rect rect)
{
    const struct question *question = &view->captions.question;
    for (int i = 0; i < question->choice_count; i++) {
        char label[160];
        snprintf(label, sizeof label, "%d  %.140s", i + 1, question->choices[i]);
        double width = ui_text_width(&view->ui, FONT_PLAIN, TEXT_BODY, label) / view->ui.scale + 22;
        bool right = view->answered && question->answer == i + 1;
        struct rect box = ui_cut_left(&view->ui, &rect, width);
        if (ui_button(&view->ui, box, label, right, NULL) && !view->answered)
            view->answered = i + 1;
        if (view->answered == i + 1 && question->answer && !right)
            canvas_frame(&view->canvas, box, ui_px(&view->ui, 2), view->ui.theme->accent);
        ui_cut_left(&view->ui, &rect, 8);
    }
}

static void draw_question(struct view *view, struct rect rect)
{
    const struct question *question = &view->captions.question;
    struct ui *ui = &view->ui;
    int used = ui_paragraph(ui, rect, FONT_BOLD, TEXT_TITLE, ui->theme->ink, question->text);
    ui_cut_top(ui, &rect, used / ui->scale + 6);
    if (question->choice_count > 0) {
        draw_choices(view, ui_cut_top(ui, &rect, 28));
        ui_cut_top(ui, &rect, 6);
    } else if (!view->answered && ui_button(ui, ui_cut_left(ui, &rect, 120), "Show the answer", false, NULL)) {
        view->answered = 1;
    }
    if (view->answered && question->explanation)
        ui_paragraph(ui, rect, FONT_PLAIN, TEXT_BODY, ui->theme->ink, question->explanation);
}

static void draw_words(struct view *view, struct rect rect)
{
    const struct question *question = &view->captions.question;
    const char *caption = caption_at(&view->captions, view->shown, view->playback.now);
    if (question->text && view->playback.now >= question->at)
        draw_question(view, rect);
    else if (caption)
        ui_paragraph(&view->ui, rect, FONT_PLAIN, TEXT_TITLE, view->ui.theme->ink, caption);
}

/* ---- Both ---- */

double lesson_height(const struct view *view, int width)
{
    const struct question *question = &view->captions.question;
    if (is_lesson(view))
        return height_of_lesson(view, width);
    if (view->captions.count == 0 && !question->text)
        return 0;
    return question->text && view->playback.now >= question->at ? QUESTION_HEIGHT : CAPTION_HEIGHT;
}

void lesson_draw(struct view *view, struct rect rect)
{
    struct ui *ui = &view->ui;
    canvas_fill(ui->canvas, rect, colour_mix(ui->theme->surface, ui->theme->focus, 0.1));
    canvas_fill(ui->canvas, (struct rect){rect.x, rect.y, ui_px(ui, 4), rect.h}, ui->theme->focus);
    rect = rect_inset(rect, ui_px(ui, MARGIN));
    rect.x += ui_px(ui, 4);
    rect.w -= ui_px(ui, 4);
    (is_lesson(view) ? draw_lesson : draw_words)(view, rect);
}
