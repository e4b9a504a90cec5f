#include "warp_outputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "core/mem.h"

enum { KEY_WARPS = 0x3401, KEY_INTERVAL, KEY_COMPARE, KEY_SCHEDULER, GROUP = 8 };

/* ---- Command line ---- */

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct warp_outputs *asked = state->input;
    switch (key) {
    case KEY_WARPS:
        asked->warps = text;
        return 0;
    case KEY_INTERVAL:
        asked->interval = parse_integer(state, "interval", text, 1, 1000000000);
        return 0;
    case KEY_COMPARE:
        asked->compare = text;
        return 0;
    case KEY_SCHEDULER:
        asked->scheduler = text;
        return 0;
    case ARGP_KEY_INIT:
        asked->interval = 1000;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {0, 0, 0, 0, "Kernels with programs, warp by warp:", GROUP},
    {"warps", KEY_WARPS, "FILE.csv", 0, "table: per SM and interval resident, eligible, issued, stalled by reason", GROUP},
    {"interval", KEY_INTERVAL, "CYCLES", 0, "of --warps (default 1000)", GROUP},
    {"compare", KEY_COMPARE, "metrics.csv", 0,
     "print figures of ncu --page raw --csv beside these: the row with this kernel, grid and block", GROUP},
    {"scheduler", KEY_SCHEDULER, "NAME", 0, "warp scheduler, instead of the GPU's", GROUP},
    {0}};

const struct argp warp_outputs_argp = {.options = options, .parser = parse};

/* ---- Beginning ---- */

static enum wt_code check_asked(const struct warp_run *run, const char *path, struct wt_error *err)
{
    const struct warp_outputs *asked = run->asked;
    const char *option = asked->warps ? "--warps" : asked->compare ? "--compare" : asked->scheduler ? "--scheduler" : NULL;
    if (!option || run->launches->warp)
        return WT_OK;
    return wt_fail_at(err, path, 0, "%s is of kernels with programs, and this has durations; give 'program' or --sass", option);
}

static enum wt_code no_scheduler(const char *name, struct wt_error *err)
{
    char *all = wt_strdup("");
    for (const struct wt_scheduler *s = wt_schedulers; s->name; s++) {
        char *longer = wt_format("%s%s%s", all, all[0] ? ", " : "", s->name);
        free(all);
        all = longer;
    }
    enum wt_code code = wt_fail(err, WT_BAD_USAGE, "there is no scheduler '%s'; there are %s", name, all);
    free(all);
    return code;
}

enum wt_code warp_run_begin(struct warp_run *run, const struct warp_outputs *asked, struct wt_launches *launches,
                            const struct wt_gpu *gpu, const char *path, uint64_t seed, struct wt_error *err)
{
    *run = (struct warp_run){.asked = asked, .launches = launches, .gpu = gpu};
    WT_TRY(check_asked(run, path, err));
    if (!launches->warp)
        return WT_OK;
    struct wt_warp_setup setup = {0};
    if (asked->scheduler && !(setup.scheduler = wt_scheduler_find(asked->scheduler)))
        return no_scheduler(asked->scheduler, err);
    if (asked->compare)
        WT_TRY(wt_ncu_metrics_read(asked->compare, &run->metrics, err));
    if (asked->warps) {
        WT_TRY(wt_outfile_open(&run->table, asked->warps, err));
        run->observer = wt_warps_csv(run->table.stream, (wt_time)asked->interval * WT_CYCLE);
        setup.observer = &run->observer;
    }
    return wt_launches_set_warps(launches, &setup, seed, err);
}

/* ---- Finishing ---- */

static enum wt_code find_rows(struct warp_run *run, const struct wt_timeline *about, struct wt_error *err)
{
    size_t found = 0;
    run->rows = wt_alloc(about->launch_count, sizeof *run->rows);
    for (size_t i = 0; i < about->launch_count; i++) {
        const struct wt_timeline_launch *launch = &about->launches[i];
        run->rows[i] = wt_ncu_launch(run->metrics, launch->name, launch->grid_blocks, (uint64_t)launch->threads_per_block,
                                     (uint64_t)launch->needs.static_shared_bytes, (uint64_t)launch->needs.dynamic_shared_bytes);
        found += run->rows[i] >= 0;
    }
    if (found > 0)
        return WT_OK;
    const struct wt_timeline_launch *first = &about->launches[0];
    return wt_fail_at(err, run->asked->compare, 0, "has no launch of %s with grid %" PRIu64 ", block %d and this shared memory",
                      first->name, first->grid_blocks, first->threads_per_block);
}

enum wt_code warp_run_finish(struct warp_run *run, const struct wt_timeline *about, struct wt_error *err)
{
    if (!run->launches->warp)
        return WT_OK;
    run->about = about;
    wt_warp_finish(run->launches->warp);
    if (run->asked->warps)
        WT_TRY(wt_outfile_commit(&run->table, err));
    return run->metrics ? find_rows(run, about, err) : WT_OK;
}

/* ---- Reporting ---- */

static const struct wt_ncu_metrics *metrics_of(const struct warp_run *run, size_t launch)
{
    return run->rows && run->rows[launch] >= 0 ? run->metrics : NULL;
}

void warp_run_print(const struct warp_run *run, FILE *stream)
{
    if (!run->launches->warp)
        return;
    for (size_t i = 0; i < run->launches->count; i++) {
        struct wt_warp_result result = wt_warp_result(run->launches->warp, (uint32_t)i);
        fprintf(stream, "\n%s, warp by warp\n", run->launches->kernels[i].name);
        wt_warp_print(stream, &result, run->gpu, metrics_of(run, i), run->rows ? (size_t)run->rows[i] : 0);
    }
}

static void json_of(const struct warp_run *run, struct wt_json *json, size_t launch)
{
    struct wt_warp_result result = wt_warp_result(run->launches->warp, (uint32_t)launch);
    wt_json_string(json, "kernel", run->about->launches[launch].name);
    wt_json_int(json, "occupancy_blocks", run->about->launches[launch].blocks_per_sm);
    wt_warp_json(json, &result, run->gpu);
    if (metrics_of(run, launch))
        wt_warp_measured_json(json, run->metrics, (size_t)run->rows[launch]);
}

void warp_run_json(const struct warp_run *run, struct wt_json *json)
{
    if (!run->launches->warp)
        return;
    if (run->launches->count == 1) {
        json_of(run, json, 0);
        return;
    }
    wt_json_array(json, "warp_launches");
    for (size_t i = 0; i < run->launches->count; i++) {
        wt_json_object(json, NULL);
        json_of(run, json, i);
        wt_json_close(json);
    }
    wt_json_close(json);
}

void warp_run_clear(struct warp_run *run)
{
    wt_outfile_discard(&run->table);
    wt_ncu_metrics_free(run->metrics);
    free(run->rows);
    *run = (struct warp_run){0};
}
