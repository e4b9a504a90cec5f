/* Reading a lesson's texts. */
#include <stdlib.h>

#include "core/mem.h"
#include "lesson.h"

struct filling {
    const struct wt_lesson *from;
    const struct wt_lesson_run *figures;
    struct wt_error *err;
};

static enum wt_code fill_captions(const struct filling *f, struct run *const runs[2], struct captions *captions)
{
    captions->entries = wt_alloc(f->from->caption_count, sizeof *captions->entries);
    for (; captions->count < f->from->caption_count; captions->count++) {
        const struct wt_caption *from = &f->from->captions[captions->count];
        struct caption *to = &captions->entries[captions->count];
        to->run = from->second && f->from->second ? 1 : 0;
        const struct run *run = runs[to->run];
        to->at = wt_to_cycles(run->begin + wt_lesson_moment(from, f->figures));
        WT_TRY(wt_lesson_fill(f->from, from->text, f->figures, &to->text, f->err));
    }
    return WT_OK;
}

static enum wt_code fill_all(const struct filling *f, struct run *const runs[2], struct lesson *out, struct captions *captions)
{
    out->title = wt_strdup(f->from->title);
    out->inside = f->from->shared_memory || runs[0]->warp_states;
    out->cases = f->from->second ? 2 : 1;
    WT_TRY(wt_lesson_fill(f->from, f->from->scenario, f->figures, &out->scenario, f->err));
    WT_TRY(wt_lesson_fill(f->from, f->from->question, f->figures, &out->question, f->err));
    WT_TRY(wt_lesson_fill(f->from, f->from->answer, f->figures, &out->answer, f->err));
    return fill_captions(f, runs, captions);
}

enum wt_code lesson_words(const struct wt_lesson *lesson, struct run *const runs[2], struct lesson *out, struct captions *captions,
                          struct wt_error *err)
{
    struct wt_lesson_run figures[2] = {{0}};
    struct filling filling = {lesson, figures, err};
    enum wt_code code = wt_lesson_simulate(lesson->workload, &figures[0], err);
    if (code == WT_OK && lesson->second)
        code = wt_lesson_simulate(lesson->second, &figures[1], err);
    if (code == WT_OK)
        code = fill_all(&filling, runs, out, captions);
    for (int i = 0; i < 2; i++)
        wt_lesson_run_clear(&figures[i]);
    return code;
}

void lesson_clear(struct lesson *lesson)
{
    free(lesson->title);
    free(lesson->scenario);
    free(lesson->question);
    free(lesson->answer);
    *lesson = (struct lesson){0};
}
