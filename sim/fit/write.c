/* The calibrated GPU as a config file and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/outfile.h"
#include "fit/calibrate.h"

enum { WIDTH = 118, INDENT = 4 };

/* ---- Text that is broken into lines ---- */

/* Numbers of a list, or words of a string. `close`, `open`: what a broken line of a string ends and the next one begins
 * with; "" outside strings. */
struct lines {
    FILE *stream;
    int indent, column;
    const char *close, *open;
    bool begun; /* the line has a word */
};

static void put_word(struct lines *lines, const char *word)
{
    int length = 1 + (int)strlen(word), rest = 1 + (int)strlen(lines->close);
    if (lines->begun && lines->column + length + rest > WIDTH) {
        fprintf(lines->stream, "%s%s\n%*s%s", *lines->close ? " " : "", lines->close, lines->indent, "", lines->open);
        lines->column = lines->indent + (int)strlen(lines->open);
        lines->begun = false;
    }
    fprintf(lines->stream, "%s%s", lines->begun ? " " : "", word);
    lines->column += length;
    lines->begun = true;
}

/* The words of `text`, which are taken apart at spaces. */
static void put_words(struct lines *lines, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        char *word = wt_format("%.*s", (int)length, text);
        text += length;
        text += strspn(text, " ");
        put_word(lines, word);
        free(word);
    }
}

/* Quotes and backslashes as libconfig wants them; owned by the caller. */
static char *escape(const char *text)
{
    char *out = wt_alloc(2 * strlen(text) + 1, 1), *to = out;
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *to++ = '\\';
        *to++ = *text;
    }
    return out;
}

static void put_string(FILE *stream, int indent, const char *key, const char *text)
{
    char *safe = escape(text);
    fprintf(stream, "%*s%s = \"", indent, "", key);
    struct lines lines = {stream, indent + (int)strlen(key) + 3, indent + (int)strlen(key) + 4, "\"", "\"", false};
    put_words(&lines, safe);
    fputs("\";\n", stream);
    free(safe);
}

/* The length of "a.r" in "a.r0", 0 without a repetition's number. */
static size_t repeated_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot[1] == 'r' && dot[2] ? (size_t)(dot + 1 - name) : 0;
}

/* "a.r0/r1, b.r0": repetitions of one launch stand together. Owned by the caller. */
static char *names_of(const struct wt_evidence *evidence, const bool *used)
{
    char *names = wt_strdup("");
    const char *before = "";
    for (size_t i = 0; i < evidence->trace_count; i++) {
        if (!used[i])
            continue;
        const char *name = evidence->traces[i].name;
        size_t same = repeated_length(name);
        bool again = same > 0 && !strncmp(name, before, same);
        char *longer = wt_format("%s%s%s", names, again ? "/" : *names ? ", " : "", again ? name + same : name);
        free(names);
        names = longer;
        before = name;
    }
    return names;
}

static char *source_of(const struct wt_evidence *evidence, const char *method, const bool *used)
{
    char *names = names_of(evidence, used);
    char *source = wt_format("measured: %s, %s", method, names);
    free(names);
    return source;
}

static void put_source(FILE *stream, int indent, const struct wt_evidence *evidence, const char *method,
                       const bool *used)
{
    char *source = source_of(evidence, method, used);
    put_string(stream, indent, "source", source);
    free(source);
}

static void put_comment(FILE *stream, const char *text)
{
    fputs("# ", stream);
    struct lines lines = {stream, 0, 2, "", "# ", false};
    put_words(&lines, text);
    fputc('\n', stream);
}

/* ---- The arrangement ---- */

static void put_list(FILE *stream, const uint16_t *sms, int count, bool last)
{
    char *text = wt_strdup("[");
    for (int i = 0; i < count; i++) {
        char *longer = wt_format("%s%d%s", text, sms[i], i + 1 < count ? ", " : last ? "]);" : "],");
        free(text);
        text = longer;
    }
    fprintf(stream, "%*s", 3 * INDENT, "");
    struct lines lines = {stream, 3 * INDENT + 1, 3 * INDENT, "", "", false};
    put_words(&lines, text);
    fputc('\n', stream);
    free(text);
}

static int members_of(const struct wt_discovery *d, int domain, uint16_t sms[WT_MAX_SMS])
{
    int count = 0;
    for (int sm = 0; sm < d->sm_count; sm++)
        if (d->domain_of_sm[sm] == domain)
            sms[count++] = (uint16_t)sm;
    return count;
}

static void begin_lists(const struct wt_calibration *c, FILE *stream, const char *key, const char *method,
                        enum wt_question question)
{
    fprintf(stream, "    %s = {\n", key);
    put_source(stream, 2 * INDENT, &c->evidence, method, c->arrangement.votes[question].agrees);
    fputs("        value = (\n", stream);
}

/* Sizes that the base gives would contradict the lists. */
static void put_no_sizes(const struct wt_calibration *c, FILE *stream, const char *key)
{
    char *path = wt_format("topology.%s", key);
    if (wt_record_origin(wt_gpu_record(c->base_gpu), path)->given)
        fprintf(stream, "    %s = { value = []; source = \"measured: as lists\"; };\n", key);
    free(path);
}

static void put_groups(const struct wt_calibration *c, FILE *stream)
{
    const struct wt_arrangement *a = &c->arrangement;
    if (a->votes[WT_ASK_GROUPS].winner < 0)
        return;
    begin_lists(c, stream, "groups", "visits of the first wave", WT_ASK_GROUPS);
    for (int g = 0; g < a->group_count; g++)
        put_list(stream, a->groups[g]->sms, a->groups[g]->sm_count, g + 1 == a->group_count);
    fputs("    };\n", stream);
    put_no_sizes(c, stream, "group_sizes");
    fputs("    extra_group = {\n", stream);
    fprintf(stream, "        value = %d;\n", a->extra_group);
    put_source(stream, 2 * INDENT, &c->evidence, "the group that the first wave's rotation leaves out",
               a->votes[WT_ASK_GROUPS].agrees);
    fputs("    };\n", stream);
}

static void put_gpcs(const struct wt_calibration *c, FILE *stream)
{
    const struct wt_discovery *d = wt_winner(&c->evidence, &c->arrangement, WT_ASK_GPCS);
    uint16_t sms[WT_MAX_SMS];
    if (!d)
        return;
    begin_lists(c, stream, "gpcs", "clock64 against globaltimer; of this part", WT_ASK_GPCS);
    for (int domain = 0; domain < d->domain_count; domain++)
        put_list(stream, sms, members_of(d, domain, sms), domain + 1 == d->domain_count);
    fputs("    };\n", stream);
    put_no_sizes(c, stream, "gpc_sizes");
}

static void put_tpcs(const struct wt_calibration *c, FILE *stream)
{
    const struct wt_discovery *d = wt_winner(&c->evidence, &c->arrangement, WT_ASK_TPCS);
    if (!d || d->tpc_pairs_together < d->tpc_pairs)
        return;
    fputs("    sms_per_tpc = {\n        value = 2;\n", stream);
    put_source(stream, 2 * INDENT, &c->evidence, "SM 2k+1 comes right after SM 2k in every visit",
               c->arrangement.votes[WT_ASK_TPCS].agrees);
    fputs("    };\n", stream);
}

static void put_gap(const struct wt_calibration *c, FILE *stream, const char *key, enum wt_question question, int value)
{
    fprintf(stream, "    %s = {\n        value = %d;\n", key, value);
    put_source(stream, 2 * INDENT, &c->evidence, "visits of the first wave", c->arrangement.votes[question].agrees);
    fputs("    };\n", stream);
}

static void put_gaps(const struct wt_calibration *c, FILE *stream)
{
    const struct wt_discovery *first = wt_winner(&c->evidence, &c->arrangement, WT_ASK_FIRST_GAP);
    const struct wt_discovery *later = wt_winner(&c->evidence, &c->arrangement, WT_ASK_GAP);
    if (first)
        put_gap(c, stream, "extra_first_gap", WT_ASK_FIRST_GAP, first->extra_first_gap);
    if (later)
        put_gap(c, stream, "extra_gap", WT_ASK_GAP, later->extra_gap);
}

/* What every trace that is listed states in its header. */
static void put_head(const struct wt_calibration *c, FILE *stream)
{
    const struct wt_trace *trace = c->evidence.traces[0].trace;
    put_string(stream, 0, "base", c->base);
    if (*trace->device)
        put_string(stream, 0, "name", trace->device);
    if (trace->cc_major)
        fprintf(stream, "compute_capability = { value = \"%d.%d\"; source = \"measured: device line of every trace\"; };\n",
                trace->cc_major, trace->cc_minor);
}

static void put_clock(const struct wt_calibration *c, FILE *stream)
{
    const struct wt_arrangement *a = &c->arrangement;
    if (a->clock_mhz <= 0)
        return;
    fprintf(stream, "clock_mhz = {\n    value = %.0f;\n", a->clock_mhz);
    put_source(stream, INDENT, &c->evidence, "clock64 against globaltimer", a->clock_of);
    fprintf(stream, "    error = \"at most %.1f\";\n};\n", a->clock_error);
}

static void put_topology(const struct wt_calibration *c, FILE *stream)
{
    fputs("topology = {\n", stream);
    fprintf(stream, "    sm_count = { value = %d; source = \"measured: device line of every trace\"; };\n",
            c->arrangement.sm_count);
    put_tpcs(c, stream);
    put_groups(c, stream);
    put_gpcs(c, stream);
    fputs("};\n", stream);
}

/* Leaves the rates open. */
static void put_arrangement(const struct wt_calibration *c, FILE *stream)
{
    put_head(c, stream);
    put_clock(c, stream);
    put_topology(c, stream);
    fputs("rates = {\n", stream);
    put_gaps(c, stream);
}

void wt_calibration_print_arrangement(const struct wt_calibration *c, FILE *stream)
{
    put_arrangement(c, stream);
    fputs("};\n", stream);
}

/* ---- The rates ---- */

static char *curve_text(const struct wt_curve *curve)
{
    char *text = wt_strdup("(");
    for (int i = 0; i < curve->count; i++) {
        char *longer = wt_format("%s%s[%.10g, %.10g]", text, i ? ", " : "", curve->x[i], curve->y[i]);
        free(text);
        text = longer;
    }
    char *closed = wt_format("%s)", text);
    free(text);
    return closed;
}

static char *numbers_text(const struct wt_numbers *numbers)
{
    char *text = wt_strdup("[");
    for (int i = 0; i < numbers->count; i++) {
        char *longer = wt_format("%s%s%.10g", text, i ? ", " : "", numbers->values[i]);
        free(text);
        text = longer;
    }
    char *closed = wt_format("%s]", text);
    free(text);
    return closed;
}

char *wt_fitted_text(const struct wt_fitted *fitted)
{
    switch (fitted->estimator->kind) {
    case WT_RATE_CURVE:
        return curve_text(&fitted->estimate.curve);
    case WT_RATE_PER_TPC:
        return numbers_text(&fitted->estimate.per_tpc);
    default:
        return wt_format("%.10g", fitted->estimate.value);
    }
}

static void put_rate(const struct wt_calibration *c, const struct wt_fitted *rate, FILE *stream)
{
    const char *key = strchr(rate->estimator->key, '.') + 1;
    char *text = wt_fitted_text(rate);
    fprintf(stream, "    %s = {\n%*svalue = ", key, 2 * INDENT, "");
    struct lines lines = {stream, 2 * INDENT + 9, 2 * INDENT + 8, "", "", false};
    put_words(&lines, text);
    fputs(";\n", stream);
    put_source(stream, 2 * INDENT, &c->evidence, rate->estimator->method, rate->estimate.used);
    if (rate->estimate.spread)
        put_string(stream, 2 * INDENT, "spread", rate->estimate.spread);
    char *error = wt_format("%s%s%zu %s", rate->estimate.error ? rate->estimate.error : "",
                            rate->estimate.error ? "; " : "", rate->estimate.samples, rate->estimator->unit);
    put_string(stream, 2 * INDENT, "error", error);
    fputs("    };\n", stream);
    free(error);
    free(text);
}

/* ---- What was not told, and who says otherwise ---- */

static void print_kept(const struct wt_calibration *c, FILE *stream)
{
    for (size_t i = 0; i < c->rate_count; i++) {
        const struct wt_fitted *rate = &c->rates[i];
        if (rate->told)
            continue;
        char *text = rate->estimate.unclear
                         ? wt_format("%s is the base's: %s.", rate->estimator->key, rate->estimate.unclear)
                         : wt_format("%s is the base's: the traces have %zu of the %zu %s needed. It takes %s.",
                                     rate->estimator->key, rate->estimate.samples, rate->estimator->least,
                                     rate->estimator->unit, rate->estimator->needs);
        put_comment(stream, text);
        free(text);
    }
    for (int q = 0; q < WT_QUESTIONS; q++) {
        if (c->arrangement.votes[q].winner >= 0)
            continue;
        char *text = wt_format("What these traces do not tell and the base says: %s.", wt_question_name((enum wt_question)q));
        put_comment(stream, text);
        free(text);
    }
}

static void print_dissent(const struct wt_calibration *c, FILE *stream)
{
    for (int q = 0; q < WT_QUESTIONS; q++) {
        char *names = names_of(&c->evidence, c->arrangement.votes[q].dissents);
        if (c->arrangement.votes[q].winner >= 0 && *names) {
            char *text = wt_format("Not all traces agree on the %s; otherwise: %s.",
                                   wt_question_name((enum wt_question)q), names);
            put_comment(stream, text);
            free(text);
        }
        free(names);
    }
}

void wt_calibration_print(const struct wt_calibration *c, FILE *stream)
{
    put_comment(stream, "Calibrated from traces by `wavetail calibrate`; what is not here comes from the base. Groups are "
                        "what the distributor serves in turn (logical), gpcs the clock domains of the part measured "
                        "(physical).");
    print_kept(c, stream);
    print_dissent(c, stream);
    put_arrangement(c, stream);
    for (size_t i = 0; i < c->rate_count; i++)
        if (c->rates[i].told)
            put_rate(c, &c->rates[i], stream);
    fputs("};\n", stream);
}

enum wt_code wt_calibration_write(const struct wt_calibration *c, const char *path, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, path, err));
    wt_calibration_print(c, out.stream);
    return wt_outfile_commit(&out, err);
}

/* ---- JSON ---- */

static void json_names(struct wt_json *json, const char *key, const struct wt_evidence *evidence, const bool *used)
{
    wt_json_array(json, key);
    for (size_t i = 0; i < evidence->trace_count; i++)
        if (used[i])
            wt_json_string(json, NULL, evidence->traces[i].name);
    wt_json_close(json);
}

static void json_value(struct wt_json *json, const struct wt_fitted *rate)
{
    const struct wt_curve *curve = &rate->estimate.curve;
    const struct wt_numbers *numbers = &rate->estimate.per_tpc;
    if (rate->estimator->kind == WT_RATE_NUMBER) {
        wt_json_number(json, "value", rate->estimate.value, 10);
        return;
    }
    wt_json_array(json, "value");
    for (int i = 0; i < curve->count; i++) {
        wt_json_array(json, NULL);
        wt_json_number(json, NULL, curve->x[i], 10);
        wt_json_number(json, NULL, curve->y[i], 10);
        wt_json_close(json);
    }
    for (int i = 0; i < numbers->count; i++)
        wt_json_number(json, NULL, numbers->values[i], 10);
    wt_json_close(json);
}

static void json_rate(struct wt_json *json, const struct wt_calibration *c, const struct wt_fitted *rate)
{
    wt_json_object(json, rate->estimator->key);
    wt_json_bool(json, "measured", rate->told);
    wt_json_int(json, "samples", (int64_t)rate->estimate.samples);
    wt_json_int(json, "samples_needed", (int64_t)rate->estimator->least);
    wt_json_string(json, "samples_are", rate->estimator->unit);
    if (rate->told) {
        json_value(json, rate);
        wt_json_string(json, "spread", rate->estimate.spread);
        wt_json_string(json, "error", rate->estimate.error);
        json_names(json, "traces", &c->evidence, rate->estimate.used);
    } else {
        wt_json_string(json, "needs", rate->estimator->needs);
    }
    wt_json_close(json);
}

static void json_votes(struct wt_json *json, const struct wt_calibration *c)
{
    wt_json_object(json, "arrangement");
    wt_json_int(json, "sm_count", c->arrangement.sm_count);
    for (int q = 0; q < WT_QUESTIONS; q++) {
        wt_json_object(json, wt_question_name((enum wt_question)q));
        wt_json_bool(json, "measured", c->arrangement.votes[q].winner >= 0);
        json_names(json, "traces", &c->evidence, c->arrangement.votes[q].agrees);
        json_names(json, "traces_otherwise", &c->evidence, c->arrangement.votes[q].dissents);
        wt_json_close(json);
    }
    wt_json_close(json);
}

void wt_calibration_json(const struct wt_calibration *c, struct wt_json *json)
{
    wt_json_string(json, "device", c->evidence.traces[0].trace->device);
    wt_json_string(json, "base", c->base);
    wt_json_int(json, "traces", (int64_t)c->evidence.trace_count);
    json_votes(json, c);
    wt_json_object(json, "rates");
    for (size_t i = 0; i < c->rate_count; i++)
        json_rate(json, c, &c->rates[i]);
    wt_json_close(json);
}
