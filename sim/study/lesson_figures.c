/* The figures that a lesson's texts name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "observe/words.h"
#include "study/lesson.h"

/* What a figure is told from. */
struct told {
    const struct wt_lesson_run *run;
    const struct wt_metrics_part *part;
    const struct wt_warp_counters *warps; /* NULL: of the whole run, or the launch has no program */
};

static double clock_mhz(const struct told *t)
{
    return t->run->timeline->clock_mhz;
}

static char *cycles(wt_time time)
{
    char words[WT_WORDS];
    return wt_strdup(wt_words_cycles(words, wt_to_cycles(time)));
}

static char *microseconds(const struct told *t, wt_time time)
{
    char words[WT_WORDS];
    return clock_mhz(t) > 0 ? wt_strdup(wt_words_us(words, wt_to_cycles(time) / clock_mhz(t))) : cycles(time);
}

static char *percent(double share)
{
    return wt_format("%.1f %%", 100 * share);
}

static char *makespan(const struct told *t)
{
    return cycles(wt_metrics_makespan(t->part));
}

static char *makespan_us(const struct told *t)
{
    return microseconds(t, wt_metrics_makespan(t->part));
}

static char *begin(const struct told *t)
{
    return cycles(t->part->begin - t->run->metrics->whole.begin);
}

static char *begin_us(const struct told *t)
{
    return microseconds(t, t->part->begin - t->run->metrics->whole.begin);
}

static char *end_us(const struct told *t)
{
    return microseconds(t, t->part->end - t->run->metrics->whole.begin);
}

static char *tail(const struct told *t)
{
    return cycles(t->part->tail.length);
}

static char *tail_share(const struct told *t)
{
    return percent(t->part->tail.fraction);
}

static char *tail_idle(const struct told *t)
{
    return percent(t->part->tail.slot_idle);
}

static char *waves(const struct told *t)
{
    return wt_format("%.2f", t->part->waves);
}

static char *occupancy(const struct told *t)
{
    return percent(t->part->theoretical_occupancy);
}

static char *blocks_per_sm(const struct told *t)
{
    return wt_format("%d", t->part->blocks_per_sm);
}

static char *blocks(const struct told *t)
{
    char words[WT_WORDS];
    return wt_strdup(wt_words_count(words, t->part->blocks));
}

/* The most at once. */
static char *resident(const struct told *t)
{
    const struct wt_residency_curve *curve = &t->run->metrics->residency;
    double most = 0;
    for (size_t i = 0; i < curve->count; i++)
        most = fmax(most, curve->blocks[i]);
    return wt_format("%.0f", most);
}

static char *eligible(const struct told *t)
{
    return t->warps ? wt_format("%.2f", wt_warps_eligible(t->warps)) : NULL;
}

static char *issued(const struct told *t)
{
    return t->warps ? wt_format("%.2f", wt_issue_active(t->warps)) : NULL;
}

static char *at_barrier(const struct told *t)
{
    if (!t->warps || t->warps->scheduler_cycles == 0)
        return NULL;
    return wt_format("%.2f", (double)t->warps->warp_cycles[WT_STALL_BARRIER] / (double)t->warps->scheduler_cycles);
}

static char *sms(const struct told *t)
{
    return wt_format("%d", t->run->timeline->sm_count);
}

static char *idle_sms(const struct told *t)
{
    int idle = 0;
    for (int i = 0; i < t->run->timeline->sm_count; i++)
        idle += t->run->metrics->sm_busy[i] == 0;
    return wt_format("%d", idle);
}

static char *host_us(const struct told *t)
{
    const struct wt_host_timeline *host = t->run->timeline->host;
    return host ? microseconds(t, host->end) : wt_strdup("?");
}

static char *deadlock(const struct told *t)
{
    return wt_strdup(t->run->timeline->stuck ? t->run->timeline->stuck : "no deadlock");
}

static const struct {
    const char *name;
    char *(*tell)(const struct told *told);
} figures[] = {
    {"makespan", makespan}, {"makespan_us", makespan_us}, {"begin", begin}, {"begin_us", begin_us}, {"end_us", end_us},
    {"tail", tail}, {"tail_share", tail_share}, {"tail_idle", tail_idle}, {"waves", waves}, {"occupancy", occupancy},
    {"blocks_per_sm", blocks_per_sm}, {"blocks", blocks}, {"resident", resident}, {"sms", sms}, {"idle_sms", idle_sms},
    {"eligible", eligible}, {"issued", issued}, {"at_barrier", at_barrier}, {"host_us", host_us}, {"deadlock", deadlock}};

enum { FIGURES = sizeof figures / sizeof *figures };

void wt_lesson_print_figures(FILE *stream)
{
    for (int i = 0; i < FIGURES; i++)
        fprintf(stream, "%s%s", figures[i].name, i + 1 < FIGURES ? ", " : "\n");
}

/* NULL: there is no such figure. */
static char *figure(const char *name, size_t length, const struct wt_lesson_run runs[2])
{
    static const char second[] = "second:";
    const char *end = name + length;
    struct told told = {.run = &runs[0]};
    if (!strncmp(name, second, strlen(second))) {
        told.run = &runs[1];
        name += strlen(second);
    }
    if (!told.run->metrics)
        return NULL;
    told.part = &told.run->metrics->whole;
    if (*name >= '0' && *name <= '9') {
        char *colon;
        unsigned long launch = strtoul(name, &colon, 10);
        if (*colon != ':' || launch >= told.run->metrics->about->launch_count)
            return NULL;
        told.part = &told.run->metrics->launches[launch];
        told.warps = told.run->warps ? &told.run->warps[launch].total : NULL;
        name = colon + 1;
    }
    for (int i = 0; i < FIGURES; i++)
        if (name < end && strlen(figures[i].name) == (size_t)(end - name) && !strncmp(figures[i].name, name, (size_t)(end - name)))
            return figures[i].tell(&told);
    return NULL;
}

enum wt_code wt_lesson_fill(const struct wt_lesson *lesson, const char *text, const struct wt_lesson_run runs[2], char **out,
                            struct wt_error *err)
{
    size_t size = 0;
    *out = NULL;
    FILE *stream = open_memstream(out, &size);
    if (!stream)
        abort();
    enum wt_code code = WT_OK;
    while (code == WT_OK && *text) {
        size_t plain = strcspn(text, "{"), length = text[plain] ? strcspn(text + plain + 1, "}") : 0;
        fwrite(text, 1, plain, stream);
        text += plain;
        if (!*text)
            break;
        char *value = text[1 + length] ? figure(text + 1, length, runs) : NULL;
        if (!value) {
            code = wt_fail_at(err, lesson->path, 0, "no figure '{%.*s}'; `wavetail lesson --keys` lists them", (int)length, text + 1);
            break;
        }
        fputs(value, stream);
        free(value);
        text += length + 2;
    }
    fclose(stream);
    if (code != WT_OK) {
        free(*out);
        *out = NULL;
    }
    return code;
}
