/* Finding blocks: a few words that all must hold. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/words.h"
#include "panels.h"

enum { TERMS = 8 };

/* "sm=3", "duration>5000", "kernel=scale", "128". */
struct term {
    enum { TERM_BLOCK, TERM_SM, TERM_SLOT, TERM_GPC, TERM_DURATION, TERM_START, TERM_KERNEL } what;
    char compare; /* '=', '<', '>' */
    double number, to; /* = from number to `to` */
    char text[UI_FIELD];
};

struct query {
    struct term terms[TERMS];
    int count;
};

static const char *const fields[] = {[TERM_BLOCK] = "block", [TERM_SM] = "sm", [TERM_SLOT] = "slot", [TERM_GPC] = "gpc",
                                     [TERM_DURATION] = "duration", [TERM_START] = "start", [TERM_KERNEL] = "kernel"};
enum { FIELDS = sizeof fields / sizeof *fields };

/* ---- Understanding what was typed ---- */

static bool read_number(const char *text, double *from, double *to)
{
    char *end;
    *from = *to = strtod(text, &end);
    if (end == text)
        return false;
    if (*end == '-' || (end[0] == '.' && end[1] == '.')) {
        const char *second = end + (*end == '-' ? 1 : 2);
        *to = strtod(second, &end);
        return end != second && !*end;
    }
    return !*end;
}

static int field_of(const char *word, size_t length)
{
    for (int i = 0; i < FIELDS; i++)
        if (length > 0 && length <= strlen(fields[i]) && !strncasecmp(fields[i], word, length))
            return i;
    return -1;
}

/* A word without a field is a block's number, or a part of a kernel's name. */
static bool read_term(const char *word, struct term *term)
{
    size_t sign = strcspn(word, "=<>:");
    *term = (struct term){.what = TERM_BLOCK, .compare = '='};
    if (!word[sign]) {
        if (!read_number(*word == '#' ? word + 1 : word, &term->number, &term->to)) {
            term->what = TERM_KERNEL;
            snprintf(term->text, sizeof term->text, "%s", word);
        }
        return true;
    }
    int field = field_of(word, sign);
    if (field < 0)
        return false;
    term->what = (unsigned)field;
    term->compare = word[sign] == ':' ? '=' : word[sign];
    snprintf(term->text, sizeof term->text, "%s", word + sign + 1);
    return field == TERM_KERNEL ? term->text[0] != '\0' : read_number(term->text, &term->number, &term->to);
}

static bool read_query(const char *text, struct query *query, char *problem, size_t size)
{
    char copy[UI_FIELD], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", text);
    query->count = 0;
    problem[0] = '\0';
    while ((word = strsep(&rest, " ")) && query->count < TERMS) {
        if (!*word)
            continue;
        if (!read_term(word, &query->terms[query->count++])) {
            snprintf(problem, size, "'%.40s' is not understood", word);
            return false;
        }
    }
    return query->count > 0;
}

/* ---- Looking ---- */

static double value_of(const struct run *run, const struct wt_block_run *span, const struct term *term)
{
    switch (term->what) {
    case TERM_SM:
        return span->sm;
    case TERM_SLOT:
        return span->slot;
    case TERM_GPC:
        return run->timeline->gpc_of_sm[span->sm];
    case TERM_DURATION:
        return wt_to_cycles(span->end - span->start);
    case TERM_START:
        return wt_to_cycles(span->start);
    default:
        return (double)span->block;
    }
}

static bool holds(const struct run *run, const struct wt_block_run *span, const struct term *term)
{
    if (term->what == TERM_KERNEL)
        return strcasestr(run->timeline->launches[span->launch].name, term->text) != NULL;
    double value = value_of(run, span, term);
    if (term->compare == '=')
        return value >= term->number && value <= term->to;
    return term->compare == '<' ? value < term->number : value > term->number;
}

static bool all_hold(const struct run *run, const struct wt_block_run *span, const struct query *query)
{
    for (int i = 0; i < query->count; i++)
        if (!holds(run, span, &query->terms[i]))
            return false;
    return true;
}

void search_clear(struct view *view)
{
    free(view->search.matches);
    view->search = (struct search){.generation = view->search.generation + 1};
}

void search_update(struct view *view)
{
    struct search *search = &view->search;
    struct query query;
    const struct run *run = view_run(view);
    if (search->of == run && !strcmp(search->used, search->text))
        return;
    free(search->matches);
    search->matches = NULL;
    search->count = search->current = 0;
    search->generation++;
    search->of = run;
    memcpy(search->used, search->text, sizeof search->used);
    if (!read_query(search->text, &query, search->problem, sizeof search->problem))
        return;
    search->matches = wt_alloc(run->timeline->span_count, 1);
    for (size_t i = 0; i < run->timeline->span_count; i++)
        search->count += search->matches[i] = all_hold(run, run_span(run, (uint32_t)i), &query);
}

/* The match number `index`, by start. */
static uint32_t match_at(const struct search *search, uint32_t index)
{
    for (uint32_t i = 0, seen = 0; i < search->of->timeline->span_count; i++)
        if (search->matches[i] && seen++ == index)
            return i;
    return NO_SPAN;
}

static void show_match(struct view *view)
{
    uint32_t span = match_at(&view->search, view->search.current);
    if (span == NO_SPAN)
        return;
    const struct wt_block_run *found = run_span(view_run(view), span);
    double start = wt_to_cycles(found->start), middle = (start + wt_to_cycles(found->end)) / 2;
    view_pin(view, (struct pick){view->shown, span});
    view_show_sm(view, found->sm);
    playback_go(&view->playback, start);
    double half = (view->axis.t1 - view->axis.t0) / 2;
    if (middle < view->axis.t0 || middle > view->axis.t1) {
        view->axis.t0 = middle - half;
        view->axis.t1 = middle + half;
        axis_pan(view, 0);
    }
}

void search_step(struct view *view, int by)
{
    struct search *search = &view->search;
    search_update(view);
    if (!search->matches || search->count == 0)
        return;
    search->current = (search->current + search->count + (uint32_t)(by + (int)search->count)) % search->count;
    show_match(view);
}

void search_go(struct view *view)
{
    search_update(view);
    view->search.current = 0;
    if (view->search.matches && view->search.count > 0)
        show_match(view);
}

/* ---- The panel ---- */

static void list_matches(struct view *view, struct rect rect)
{
    const struct run *run = view_run(view);
    struct search *search = &view->search;
    uint32_t place = 0;
    for (uint32_t i = 0; i < run->timeline->span_count && rect.h > ui_px(&view->ui, 20); i++) {
        if (!search->matches[i])
            continue;
        char text[128], time[64];
        const struct wt_block_run *span = run_span(run, i);
        struct rect line = ui_cut_top(&view->ui, &rect, 20);
        snprintf(text, sizeof text, "block %llu, SM %d, %s", (unsigned long long)span->block, span->sm,
                 view_time_text(view, wt_to_cycles(span->end - span->start), time));
        if (ui_button(&view->ui, rect_inset(line, 1), text, place == search->current, "go there")) {
            search->current = place;
            show_match(view);
            return;
        }
        place++;
    }
}

void panel_search(struct view *view, struct rect rect)
{
    static const char *const steps[] = {"previous (P)", "next (N)", "clear"};
    struct search *search = &view->search;
    char count[WT_WORDS];
    panel_heading(view, &rect, "Search");
    if (ui_field(&view->ui, ui_cut_top(&view->ui, &rect, 28), search->text, sizeof search->text, "128   sm=3   duration>5000")) {
        search_go(view);
        ui_leave_field(&view->ui, false);
    }
    search_update(view);
    ui_cut_top(&view->ui, &rect, 6);
    int clicked = panel_choice(view, &rect, steps, 3, -1);
    if (clicked == 0 || clicked == 1)
        search_step(view, clicked ? 1 : -1);
    if (clicked == 2)
        search_clear(view);
    if (search->problem[0])
        panel_words(view, &rect, true, "%s", search->problem);
    else if (search->matches && search->count == 0)
        panel_words(view, &rect, true, "No block matches.");
    else if (search->matches)
        panel_words(view, &rect, true, "%s of the blocks match; the others are grey.", wt_words_count(count, search->count));
    else
        panel_words(view, &rect, false, "Words that all must hold: block=10-20, sm=3, slot=0, gpc=2, duration>5000, start<9000, "
                    "kernel=name. A number alone is a block, a word alone a part of a kernel's name.");
    if (search->matches && search->count > 0)
        list_matches(view, rect);
}
