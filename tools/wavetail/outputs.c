#include "outputs.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

enum { KEY_FILE = 0x2001, KEY_SIZE = 0x2101, KEY_TITLE, GROUP = 10 };

/* Every file that is asked for is written. */
static void add_output(struct outputs *outputs, int exporter, const char *path, struct argp_state *state)
{
    if (outputs->path[exporter])
        argp_error(state, "--%s is given twice, for '%s' and '%s'; one at a time%s", wt_exporters[exporter]->name,
                   outputs->path[exporter], path, exporter == WT_EXPORTER_blocks ? " (--csv is the same)" : "");
    outputs->path[exporter] = path;
    int to_stdout = 0;
    for (int i = 0; i < WT_EXPORTERS; i++)
        to_stdout += outputs->path[i] && !strcmp(outputs->path[i], "-");
    if (to_stdout > 1)
        argp_error(state, "only one file can go to standard output; give --%s a name", wt_exporters[exporter]->name);
}

static error_t parse_output(int key, char *text, struct argp_state *state)
{
    struct outputs *outputs = state->input;
    if (key >= KEY_FILE && key < KEY_FILE + WT_EXPORTERS) {
        add_output(outputs, key - KEY_FILE, text, state);
        return 0;
    }
    switch (key) {
    case KEY_SIZE:
        parse_picture_size(state, text, &outputs->width, &outputs->height);
        return 0;
    case KEY_TITLE:
        outputs->title = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

#define OPTION(name, argument, summary) {#name, KEY_FILE + WT_EXPORTER_##name, argument, 0, summary, GROUP},
static const struct argp_option options[] = {
    {0, 0, 0, 0, "Files to write (\"-\" is standard output):", GROUP},
    WT_EXPORTER_LIST(OPTION)
    {"csv", KEY_FILE + WT_EXPORTER_blocks, "FILE.csv", 0, "the same as --blocks", GROUP},
    {"size", KEY_SIZE, "WxH", 0, "size of pictures in pixels (points for PDF); default: to suit the content", GROUP},
    {"title", KEY_TITLE, "TEXT", 0, "title of pictures", GROUP},
    {0}};

const struct argp outputs_argp = {.options = options, .parser = parse_output};

bool outputs_any(const struct outputs *outputs)
{
    for (int i = 0; i < WT_EXPORTERS; i++)
        if (outputs->path[i])
            return true;
    return false;
}

bool outputs_shows_two(int exporter)
{
    return exporter == WT_EXPORTER_svg || exporter == WT_EXPORTER_png || exporter == WT_EXPORTER_pdf || exporter == WT_EXPORTER_html;
}

FILE *outputs_summary_stream(const struct outputs *outputs)
{
    for (int i = 0; i < WT_EXPORTERS; i++)
        if (outputs->path[i] && !strcmp(outputs->path[i], "-"))
            return stderr;
    return stdout;
}

/* The table of blocks needs no timeline: a run streams it. */
static bool needs_timeline(const struct outputs *outputs)
{
    for (int i = 0; i < WT_EXPORTERS; i++)
        if (outputs->path[i] && i != WT_EXPORTER_blocks)
            return true;
    return false;
}

static enum wt_code write_all(const struct outputs *outputs, const struct wt_export *what, bool with_blocks,
                              struct wt_error *err)
{
    for (int i = 0; i < WT_EXPORTERS; i++)
        if (outputs->path[i] && (with_blocks || i != WT_EXPORTER_blocks))
            WT_TRY(wt_export_write(wt_exporters[i], what, outputs->path[i], err));
    return WT_OK;
}

static struct wt_export export_of(const struct outputs *outputs, struct wt_timeline *simulated,
                                  struct wt_timeline *measured)
{
    return (struct wt_export){.simulated = simulated, .measured = measured, .title = outputs->title,
                              .width = outputs->width, .height = outputs->height};
}

enum wt_code outputs_write_all(const struct outputs *outputs, struct wt_export what, struct wt_error *err)
{
    what.title = outputs->title ? outputs->title : what.title;
    what.width = outputs->width;
    what.height = outputs->height;
    return write_all(outputs, &what, true, err);
}

enum wt_code outputs_write(const struct outputs *outputs, struct wt_timeline *simulated,
                           struct wt_timeline *measured, struct wt_error *err)
{
    struct wt_export what = export_of(outputs, simulated, measured);
    return write_all(outputs, &what, true, err);
}

static void observe(struct outputs_run *run, struct wt_observer observer)
{
    run->observers[run->observer_count++] = observer;
}

enum wt_code outputs_begin(struct outputs_run *run, const struct outputs *outputs, struct wt_timeline *about,
                           bool keep, struct wt_error *err)
{
    *run = (struct outputs_run){.outputs = outputs, .timeline = about};
    const char *blocks = outputs->path[WT_EXPORTER_blocks];
    enum wt_code code = blocks ? wt_blocks_open(&run->blocks, blocks, about, err) : WT_OK;
    if (code != WT_OK) {
        outputs_clear(run);
        return code;
    }
    run->metrics = wt_metrics_stream_new(about);
    observe(run, wt_metrics_stream_observer(run->metrics));
    if (blocks)
        observe(run, wt_blocks_observer(&run->blocks));
    run->keeps_timeline = keep || needs_timeline(outputs);
    if (run->keeps_timeline)
        observe(run, wt_timeline_observer(about));
    return WT_OK;
}

enum wt_code outputs_finish(struct outputs_run *run, struct wt_timeline *measured, struct wt_metrics **metrics,
                            struct wt_error *err)
{
    struct wt_metrics *found = wt_metrics_stream_finish(run->metrics);
    run->metrics = NULL;
    if (metrics)
        *metrics = found;
    else
        wt_metrics_free(found);
    if (run->blocks.out.stream)
        WT_TRY(wt_blocks_commit(&run->blocks, err));
    if (!run->keeps_timeline)
        return WT_OK;
    wt_timeline_sort(run->timeline);
    struct wt_export what = export_of(run->outputs, run->timeline, measured);
    return write_all(run->outputs, &what, false, err);
}

enum wt_code outputs_finish_stuck(struct outputs_run *run, struct wt_error *err)
{
    struct wt_export what = export_of(run->outputs, run->timeline, NULL);
    return write_all(run->outputs, &what, false, err);
}

void outputs_clear(struct outputs_run *run)
{
    if (run->metrics)
        wt_metrics_free(wt_metrics_stream_finish(run->metrics));
    wt_blocks_discard(&run->blocks);
    wt_timeline_free(run->timeline);
    *run = (struct outputs_run){0};
}
