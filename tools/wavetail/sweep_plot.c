#include "sweep_plot.h"

#include <string.h>

#include "command.h"
#include "core/outfile.h"

enum { KEY_SVG = 0x5001, KEY_PNG, KEY_PDF, KEY_SIZE, KEY_PLOT, KEY_X, KEY_Y, KEY_BY, GROUP = 2 };

static const struct {
    int key;
    enum wt_code (*write)(const struct wt_chart *chart, FILE *stream, struct wt_error *err);
} pictures[SWEEP_PICTURES] = {{KEY_SVG, wt_chart_svg}, {KEY_PNG, wt_chart_png}, {KEY_PDF, wt_chart_pdf}};

static void parse_kind(struct argp_state *state, struct sweep_plot *plot, const char *text)
{
    for (int kind = 0; wt_plot_kinds[kind]; kind++)
        if (!strcmp(wt_plot_kinds[kind], text)) {
            plot->setup.kind = kind;
            plot->kind_given = true;
            return;
        }
    argp_error(state, "--plot: '%s' is none of auto, lines, points, map, front", text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct sweep_plot *plot = state->input;
    for (int i = 0; i < SWEEP_PICTURES; i++)
        if (key == pictures[i].key) {
            plot->path[i] = text;
            return 0;
        }
    switch (key) {
    case KEY_SIZE:
        parse_picture_size(state, text, &plot->width, &plot->height);
        return 0;
    case KEY_PLOT:
        parse_kind(state, plot, text);
        return 0;
    case KEY_X:
        plot->setup.x = text;
        return 0;
    case KEY_Y:
        plot->setup.y = text;
        return 0;
    case KEY_BY:
        plot->setup.by = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {0, 0, 0, 0, "Pictures of the table (\"-\" is standard output):", GROUP},
    {"svg", KEY_SVG, "FILE.svg", 0, "draw it as SVG", GROUP},
    {"png", KEY_PNG, "FILE.png", 0, "draw it as PNG", GROUP},
    {"pdf", KEY_PDF, "FILE.pdf", 0, "draw it as PDF", GROUP},
    {"size", KEY_SIZE, "WxH", 0, "size of the picture in pixels (points for PDF)", GROUP},
    {"plot", KEY_PLOT, "KIND", 0, "lines over a key, points, map over two keys, or front of two results (throughput against latency); "
     "default: the study's, else what suits the table", GROUP},
    {"x", KEY_X, "COLUMN", 0, "what runs from left to right", GROUP},
    {"y", KEY_Y, "COLUMN", 0, "what runs upwards; in a map: what colours the cells", GROUP},
    {"by", KEY_BY, "COLUMN", 0, "a series (in a map: a row) for each of its values; \"\": none", GROUP},
    {0}};

const struct argp sweep_plot_argp = {.options = options, .parser = parse};

bool sweep_plot_any(const struct sweep_plot *plot)
{
    return plot->path[0] || plot->path[1] || plot->path[2];
}

bool sweep_plot_takes_stdout(const struct sweep_plot *plot)
{
    for (int i = 0; i < SWEEP_PICTURES; i++)
        if (plot->path[i] && !strcmp(plot->path[i], "-"))
            return true;
    return false;
}

/* What the user said counts before the study; with another kind of picture the study's columns mean nothing. */
static struct wt_plot_setup merge(const struct sweep_plot *plot, const struct wt_plot_setup *study)
{
    struct wt_plot_setup setup = study ? *study : (struct wt_plot_setup){0};
    if (plot->kind_given && plot->setup.kind != setup.kind)
        setup = (struct wt_plot_setup){.kind = plot->setup.kind, .title = setup.title};
    if (plot->setup.x) {
        setup.x = plot->setup.x;
        setup.x_title = NULL;
        setup.x_scale = 0;
    }
    if (plot->setup.y) {
        setup.y = plot->setup.y;
        setup.y_title = NULL;
        setup.y_scale = 0;
    }
    setup.by = plot->setup.by ? plot->setup.by : setup.by;
    return setup;
}

static enum wt_code write_picture(const struct wt_chart *chart, int which, const char *path, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, path, err));
    enum wt_code code = pictures[which].write(chart, out.stream, err);
    if (code == WT_OK)
        return wt_outfile_commit(&out, err);
    wt_outfile_discard(&out);
    return code;
}

enum wt_code sweep_plot_draw(const struct sweep_plot *plot, const struct wt_table *table, const struct wt_plot_setup *study,
                             const char *title, const char *path, struct wt_error *err)
{
    struct wt_plot_setup setup = merge(plot, study);
    struct wt_plot *made = NULL;
    struct wt_error inner = {0};
    if (wt_plot_new(table, &setup, title, &made, &inner) != WT_OK)
        return wt_fail_at(err, path, 0, "cannot be drawn: %s", inner.text);
    struct wt_chart *chart = wt_plot_chart(made);
    chart->width = plot->width;
    chart->height = plot->height;
    enum wt_code code = WT_OK;
    for (int i = 0; i < SWEEP_PICTURES && code == WT_OK; i++)
        if (plot->path[i])
            code = write_picture(chart, i, plot->path[i], err);
    wt_plot_free(made);
    return code;
}
