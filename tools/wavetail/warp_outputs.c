#include "warp_outputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "core/mem.h"
#include "observe/stalls.h"

enum { KEY_WARPS = 0x3401, KEY_INTERVAL, KEY_COMPARE, KEY_SCHEDULER, KEY_STALLS, KEY_ISSUE, KEY_DETAIL, GROUP = 8 };

/* ---- Command line ---- */

/* "0.2@1000-1240:FILE.svg", "0.2:FILE.svg". */
static void parse_issue(struct argp_state *state, const char *text, struct warp_outputs *asked)
{
    int used = 0;
    if (sscanf(text, "%d.%d%n", &asked->issue_sm, &asked->issue_subcore, &used) < 2 || asked->issue_sm < 0 || asked->issue_subcore < 0)
        used = 0;
    const char *rest = text + used;
    int more = 0;
    if (*rest == '@' && sscanf(rest, "@%lf-%lf%n", &asked->issue_from, &asked->issue_to, &more) == 2)
        rest += more;
    if (!used || *rest != ':' || !rest[1])
        argp_error(state, "--issue takes SM.SUBCORE[@FROM-TO]:FILE.svg, as in 0.2@1000-1240:issue.svg; not '%s'", text);
    double cycles = asked->issue_to - asked->issue_from;
    if (!(asked->issue_from >= 0 && cycles >= 1 && cycles <= WT_ISSUE_MOST_CYCLES))
        argp_error(state, "--issue shows from 1 to %d cycles, not '%s'", WT_ISSUE_MOST_CYCLES, text);
    asked->issue = rest + 1;
}

/* "full", "sampled", "sampled:16". */
static void parse_detail(struct argp_state *state, const char *text, struct warp_outputs *asked)
{
    char extra;
    asked->sampled_sms = 0;
    if (!strcmp(text, "full"))
        return;
    asked->sampled_sms = WT_SAMPLE_SMS;
    if (strcmp(text, "sampled") && (sscanf(text, "sampled:%d%c", &asked->sampled_sms, &extra) != 1 || asked->sampled_sms < 1))
        argp_error(state, "--detail takes full, sampled or sampled:SMS, not '%s'", text);
}

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
    case KEY_STALLS:
        asked->stalls = text;
        return 0;
    case KEY_DETAIL:
        parse_detail(state, text, asked);
        return 0;
    case KEY_ISSUE:
        parse_issue(state, text, asked);
        return 0;
    case ARGP_KEY_INIT:
        asked->interval = 1000;
        asked->issue_from = 1000;
        asked->issue_to = 1120;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {0, 0, 0, 0, "Kernels with programs, warp by warp:", GROUP},
    {"warps", KEY_WARPS, "FILE.csv", 0, "table: per SM and interval resident, eligible, issued, stalled by reason", GROUP},
    {"interval", KEY_INTERVAL, "CYCLES", 0, "of --warps, and of --perfetto's counters of warps (default 1000)", GROUP},
    {"issue", KEY_ISSUE, "SM.SUBCORE[@FROM-TO]:FILE.svg", 0,
     "picture of one scheduler: each warp's state in each cycle, counted from the first block's start (default 1000-1120)", GROUP},
    {"stalls", KEY_STALLS, "FILE.svg", 0, "picture of where warps spend their time, by state", GROUP},
    {"compare", KEY_COMPARE, "metrics.csv", 0,
     "print figures of ncu --page raw --csv beside these: the row with this kernel, grid and block", GROUP},
    {"detail", KEY_DETAIL, "full|sampled[:SMS]", 0,
     "simulate every SM (default), or some (default 22) and the others like them; tells how far they differ", GROUP},
    {"scheduler", KEY_SCHEDULER, "NAME", 0, "warp scheduler, instead of the GPU's", GROUP},
    {0}};

const struct argp warp_outputs_argp = {.options = options, .parser = parse};

/* ---- Beginning ---- */

static enum wt_code check_asked(const struct warp_run *run, const char *path, struct wt_error *err)
{
    const struct warp_outputs *asked = run->asked;
    const char *option = asked->warps       ? "--warps"
                         : asked->issue     ? "--issue"
                         : asked->stalls    ? "--stalls"
                         : asked->compare   ? "--compare"
                         : asked->scheduler ? "--scheduler"
                         : asked->sampled_sms ? "--detail"
                                              : NULL;
    if (run->has_programs && asked->sampled_sms && (asked->warps || asked->issue))
        return wt_fail(err, WT_BAD_USAGE, "%s tells what an SM did, which --detail sampled does not know of all; take --detail full",
                       option);
    if (!option || run->has_programs)
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

static void take_interval(void *context, int sm, wt_time from, wt_time to, const struct wt_warp_counters *counters)
{
    struct warp_run *run = context;
    if (run->table.stream)
        wt_warps_csv_row(run->table.stream, run->gpu->limits.subcores, sm, from, to, counters);
    if (run->series)
        wt_warp_series_add(run->series, sm, from, to, counters);
}

static void take_state(void *context, const struct wt_warp_span *span)
{
    struct warp_run *run = context;
    wt_issue_record_add(run->record, span);
}

static enum wt_code begin_record(struct warp_run *run, struct wt_error *err)
{
    const struct warp_outputs *asked = run->asked;
    if (asked->issue_sm >= run->gpu->topology.sm_count || asked->issue_subcore >= run->gpu->limits.subcores)
        return wt_fail(err, WT_BAD_USAGE, "--issue: there is no SM %d with sub-core %d; SMs are numbered up to %d, sub-cores up to %d",
                       asked->issue_sm, asked->issue_subcore, run->gpu->topology.sm_count - 1, run->gpu->limits.subcores - 1);
    run->record = wt_issue_record_new(asked->issue_sm, asked->issue_subcore, wt_from_cycles(asked->issue_from),
                                      wt_from_cycles(asked->issue_to));
    run->observer.state = take_state;
    run->observer.issue_sm = asked->issue_sm;
    run->observer.watched_subcore = asked->issue_subcore;
    return WT_OK;
}

static enum wt_code begin_outputs(struct warp_run *run, bool series, struct wt_error *err)
{
    const struct warp_outputs *asked = run->asked;
    run->observer = (struct wt_warp_observer){.context = run, .interval_length = (wt_time)asked->interval * WT_CYCLE};
    if (asked->warps) {
        WT_TRY(wt_outfile_open(&run->table, asked->warps, err));
        wt_warps_csv_header(run->table.stream);
    }
    if (series)
        run->series = wt_warp_series_new(run->gpu);
    if (asked->warps || series)
        run->observer.interval = take_interval;
    return asked->issue ? begin_record(run, err) : WT_OK;
}

static enum wt_code sample(struct warp_run *run, struct wt_launches *launches, const struct wt_scheduler *scheduler, uint64_t seed,
                           struct wt_error *err)
{
    int sms = run->asked->sampled_sms, all = run->gpu->topology.sm_count;
    if (sms == WT_SAMPLE_SMS && sms > all)
        sms = all;
    WT_TRY(wt_sampled_run(launches, run->gpu, sms, seed, scheduler, &run->sample, err));
    wt_sampled_use(run->sample, launches);
    return WT_OK;
}

enum wt_code warp_run_begin(struct warp_run *run, const struct warp_outputs *asked, struct wt_launches *launches,
                            const struct wt_gpu *gpu, const char *path, uint64_t seed, bool series, struct wt_error *err)
{
    *run = (struct warp_run){.asked = asked, .launches = launches, .gpu = gpu, .has_programs = launches->warp != NULL};
    WT_TRY(check_asked(run, path, err));
    if (!run->has_programs)
        return WT_OK;
    struct wt_warp_setup setup = {.observer = &run->observer};
    if (asked->scheduler && !(setup.scheduler = wt_scheduler_find(asked->scheduler)))
        return no_scheduler(asked->scheduler, err);
    if (asked->compare)
        WT_TRY(wt_ncu_metrics_read(asked->compare, &run->metrics, err));
    if (asked->sampled_sms)
        return sample(run, launches, setup.scheduler, seed, err);
    WT_TRY(begin_outputs(run, series, err));
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

static const struct wt_ncu_metrics *metrics_of(const struct warp_run *run, size_t launch)
{
    return run->rows && run->rows[launch] >= 0 ? run->metrics : NULL;
}

static enum wt_code write_issue(const struct warp_run *run, struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, run->asked->issue, err));
    enum wt_code code = wt_issue_svg(run->record, run->about, out.stream, err);
    if (code == WT_OK)
        return wt_outfile_commit(&out, err);
    wt_outfile_discard(&out);
    return code;
}

static struct wt_warp_result result_of(const struct warp_run *run, size_t launch)
{
    return run->sample ? run->sample->launches[launch].result : wt_warp_result(run->launches->warp, (uint32_t)launch);
}

/* A sample took another time than the whole GPU. */
static struct wt_warp_result result_with(const struct warp_run *run, size_t launch, const struct wt_metrics *metrics)
{
    struct wt_warp_result result = result_of(run, launch);
    if (run->sample)
        result.elapsed_cycles = wt_to_cycles(metrics->launches[launch].end - metrics->launches[launch].begin);
    return result;
}

static enum wt_code write_stalls(const struct warp_run *run, struct wt_error *err)
{
    size_t count = run->launches->count;
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, run->asked->stalls, err));
    struct wt_stall_bars *bars = wt_alloc(count, sizeof *bars);
    for (size_t i = 0; i < count; i++)
        bars[i] = (struct wt_stall_bars){.name = run->about->launches[i].name,
                                         .result = result_of(run, i),
                                         .metrics = metrics_of(run, i),
                                         .row = metrics_of(run, i) ? (size_t)run->rows[i] : 0};
    enum wt_code code = wt_stalls_svg(run->about->gpu_name, bars, count, out.stream, err);
    free(bars);
    if (code == WT_OK)
        return wt_outfile_commit(&out, err);
    wt_outfile_discard(&out);
    return code;
}

enum wt_code warp_run_finish(struct warp_run *run, struct wt_timeline *about, struct wt_error *err)
{
    if (!run->has_programs)
        return WT_OK;
    run->about = about;
    if (!run->sample)
        wt_warp_finish(run->launches->warp);
    about->warps = run->series;
    run->series = NULL;
    if (run->asked->warps)
        WT_TRY(wt_outfile_commit(&run->table, err));
    if (run->metrics)
        WT_TRY(find_rows(run, about, err));
    if (run->asked->issue)
        WT_TRY(write_issue(run, err));
    return run->asked->stalls ? write_stalls(run, err) : WT_OK;
}

/* ---- Reporting ---- */

static void print_sample(const struct warp_run *run, FILE *stream, size_t launch)
{
    if (!run->sample)
        return;
    const struct wt_sampled_launch *of = &run->sample->launches[launch];
    fprintf(stream, "  %d of %d SMs simulated, %" PRIu64 " of %" PRIu64 " blocks", run->sample->sms, run->sample->of, of->blocks, of->grid);
    if (isfinite(of->standard_error))
        fprintf(stream, "; a block's mean time is known to %.2g %% (standard error by the SMs' means)", 100 * of->standard_error);
    fputc('\n', stream);
}

void warp_run_print(const struct warp_run *run, const struct wt_metrics *metrics, FILE *stream)
{
    if (!run->has_programs)
        return;
    for (size_t i = 0; i < run->launches->count; i++) {
        struct wt_warp_result result = result_with(run, i, metrics);
        fprintf(stream, "\n%s, warp by warp\n", run->launches->kernels[i].name);
        print_sample(run, stream, i);
        wt_warp_print(stream, &result, run->gpu, metrics_of(run, i), run->rows ? (size_t)run->rows[i] : 0);
    }
}

static void json_of_sample(const struct warp_run *run, struct wt_json *json, size_t launch)
{
    const struct wt_sampled_launch *of = &run->sample->launches[launch];
    wt_json_object(json, "sampled");
    wt_json_int(json, "sms", run->sample->sms);
    wt_json_int(json, "of", run->sample->of);
    wt_json_int(json, "blocks", (int64_t)of->blocks);
    wt_json_number(json, "block_cycles_standard_error", of->standard_error, 4);
    wt_json_close(json);
}

static void json_of(const struct warp_run *run, const struct wt_metrics *metrics, struct wt_json *json, size_t launch)
{
    struct wt_warp_result result = result_with(run, launch, metrics);
    wt_json_string(json, "kernel", run->about->launches[launch].name);
    wt_json_int(json, "occupancy_blocks", run->about->launches[launch].blocks_per_sm);
    wt_warp_json(json, &result, run->gpu);
    if (run->sample)
        json_of_sample(run, json, launch);
    if (metrics_of(run, launch))
        wt_warp_measured_json(json, run->metrics, (size_t)run->rows[launch]);
}

void warp_run_json(const struct warp_run *run, const struct wt_metrics *metrics, struct wt_json *json)
{
    if (!run->has_programs)
        return;
    if (run->launches->count == 1) {
        json_of(run, metrics, json, 0);
        return;
    }
    wt_json_array(json, "warp_launches");
    for (size_t i = 0; i < run->launches->count; i++) {
        wt_json_object(json, NULL);
        json_of(run, metrics, json, i);
        wt_json_close(json);
    }
    wt_json_close(json);
}

void warp_run_clear(struct warp_run *run)
{
    wt_outfile_discard(&run->table);
    wt_sampled_free(run->sample);
    wt_warp_series_free(run->series);
    wt_issue_record_free(run->record);
    wt_ncu_metrics_free(run->metrics);
    free(run->rows);
    *run = (struct warp_run){0};
}
