#include "command.h"

#include <math.h>
#include <stdio.h>

#include "core/json.h"
#include "trace/topology.h"

struct options {
    struct common common;
    const char *trace, *out;
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o':
        o->out = text;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->common;
        return 0;
    case ARGP_KEY_ARG:
        if (o->trace)
            argp_error(state, "one trace at a time; '%s' is the second", text);
        o->trace = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name a trace");
        return 0;
    case ARGP_KEY_END:
        if (o->common.gpu)
            argp_error(state, "--gpu is not for topology; what it finds is the trace's own");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option argp_options[] = {
    {"output", 'o', "FILE.cfg", 0, "write a GPU config with what was found", 0}, {0}};
static const struct argp_child children[] = {{&common_argp, 0, "Common options:", 0}, {0}};
static const struct argp argp = {
    .options = argp_options,
    .parser = parse,
    .args_doc = "TRACE",
    .children = children,
    .doc = "Finds how a GPU's SMs are arranged: clock domains (GPCs) from each SM's clock against "
           "globaltimer, TPCs, and "
           "the distributor's groups and their rotation from the order in which the first wave visits the "
           "SMs. The "
           "groups need one plain launch with at least two blocks per SM in its first wave."};

/* "0-7, 16, 18-19" */
static void print_ranges(const uint16_t *sms, int count)
{
    for (int i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && sms[last + 1] == sms[last] + 1; last++)
            ;
        printf("%s%d", i ? ", " : "", sms[i]);
        if (last > i)
            printf("-%d", sms[last]);
    }
    putchar('\n');
}

static int domain_members(const struct wt_discovery *found, int domain, uint16_t sms[WT_MAX_SMS])
{
    int count = 0;
    for (int s = 0; s < found->sm_count; s++)
        if (found->domain_of_sm[s] == domain)
            sms[count++] = (uint16_t)s;
    return count;
}

static void print_domains(const struct wt_discovery *found, const struct wt_clocks *clocks)
{
    uint16_t sms[WT_MAX_SMS];
    if (!clocks->curves) {
        printf("Clock domains: not told; they need both clocks and times\n");
        return;
    }
    printf("Clock domains (GPCs): %d\n", found->domain_count);
    for (int d = 0; d < found->domain_count; d++) {
        int count = domain_members(found, d, sms);
        printf("  %-3d %4d SMs  offset %+.0f cycles  SMs ", d, count, clocks->offset_cycles[d]);
        print_ranges(sms, count);
    }
}

static void print_clocks(const struct wt_clocks *clocks)
{
    printf(
        "Clock: %.1f MHz +- %.1f%s, globaltimer step %d ns; aligned to %.1f cycles (median; 95 %%: %.1f)\n",
        clocks->mhz, clocks->mhz_uncertainty,
        clocks->mhz_is_stated ? " (stated; the trace is too short to tell)" : "", clocks->step_ns,
        clocks->residual_p50_cycles, clocks->residual_p95_cycles);
}

static void print_rotation(const struct wt_discovery *found)
{
    printf("Rotation%s:", found->cycle_holds ? "" : " (not regular)");
    for (int i = 0; i < found->cycle_length && found->cycle_holds; i++)
        printf(" %d", found->cycle[i]);
    printf("\n");
    if (found->extra_group < 0) {
        printf("No group has a cadence of its own.\n");
        return;
    }
    printf("Extra group: %d, from SM %d on; visited first", found->extra_group,
           found->groups[found->extra_group].sms[found->first_extra_sm]);
    if (found->extra_first_gap >= 0)
        printf(", again after %d visits to others", found->extra_first_gap);
    if (found->extra_gap >= 0)
        printf(", then after every %d%s", found->extra_gap, found->gaps_hold ? "" : " (not always)");
    printf("\n");
}

static void print_groups(const struct wt_discovery *found)
{
    if (found->groups_missing) {
        printf("Distributor's groups: not told: %s\n", found->groups_missing);
        return;
    }
    printf("Distributor's groups: %d (from %d visits, %d blocks of each SM)\n", found->group_count,
           found->visits, found->rounds);
    for (int g = 0; g < found->group_count; g++) {
        printf("  %-3d %4d SMs  SMs ", g, found->groups[g].sm_count);
        print_ranges(found->groups[g].sms, found->groups[g].sm_count);
    }
    print_rotation(found);
}

static void print_text(const struct wt_trace *trace, const struct wt_discovery *found,
                       const struct wt_clocks *clocks)
{
    printf("%s: %s, %d SMs, %d with blocks\n", trace->path, *trace->device ? trace->device : "unnamed GPU",
           found->sm_count, found->sms_seen);
    print_clocks(clocks);
    print_domains(found, clocks);
    if (found->tpc_pairs > 0)
        printf("TPCs (SMs 2k, 2k+1; assumed): %d of %d pairs are together in clock domain%s\n",
               found->tpc_pairs_together, found->tpc_pairs, found->group_count ? " and in every visit" : "");
    print_groups(found);
}

static void json_sms(struct wt_json *json, const uint16_t *sms, int count)
{
    wt_json_array(json, NULL);
    for (int i = 0; i < count; i++)
        wt_json_int(json, NULL, sms[i]);
    wt_json_close(json);
}

static void json_domains(struct wt_json *json, const struct wt_discovery *found,
                         const struct wt_clocks *clocks)
{
    uint16_t sms[WT_MAX_SMS];
    wt_json_array(json, "gpcs");
    for (int d = 0; d < found->domain_count && clocks->curves; d++)
        json_sms(json, sms, domain_members(found, d, sms));
    wt_json_close(json);
    wt_json_array(json, "gpc_offset_cycles");
    for (int d = 0; d < found->domain_count && clocks->curves; d++)
        wt_json_number(json, NULL, clocks->offset_cycles[d], 12);
    wt_json_close(json);
}

static void json_groups(struct wt_json *json, const struct wt_discovery *found)
{
    wt_json_array(json, "groups");
    for (int g = 0; g < found->group_count; g++)
        json_sms(json, found->groups[g].sms, found->groups[g].sm_count);
    wt_json_close(json);
    wt_json_string(json, "groups_missing", found->groups_missing);
    wt_json_array(json, "cycle");
    for (int i = 0; i < found->cycle_length && found->cycle_holds; i++)
        wt_json_int(json, NULL, found->cycle[i]);
    wt_json_close(json);
    bool extra = found->extra_group >= 0;
    wt_json_int(json, "extra_group", found->extra_group);
    wt_json_int(json, "extra_first_sm",
                extra ? found->groups[found->extra_group].sms[found->first_extra_sm] : -1);
    wt_json_int(json, "extra_first_gap", found->extra_first_gap);
    wt_json_int(json, "extra_gap", found->extra_gap);
    wt_json_bool(json, "regular", found->cycle_holds && found->gaps_hold);
}

static void print_json(const struct wt_trace *trace, const struct wt_discovery *found,
                       const struct wt_clocks *clocks)
{
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "trace", trace->path);
    wt_json_string(&json, "device", trace->device);
    wt_json_int(&json, "sm_count", found->sm_count);
    wt_json_int(&json, "sms_seen", found->sms_seen);
    wt_json_number(&json, "clock_mhz", clocks->mhz, 7);
    wt_json_number(&json, "clock_mhz_uncertainty", clocks->mhz_uncertainty, 3);
    wt_json_number(&json, "clock_mhz_spread", clocks->mhz_spread, 3);
    wt_json_bool(&json, "clock_mhz_stated", clocks->mhz_is_stated);
    wt_json_int(&json, "globaltimer_step_ns", clocks->step_ns);
    wt_json_number(&json, "residual_p50_cycles", clocks->residual_p50_cycles, 4);
    wt_json_number(&json, "residual_p95_cycles", clocks->residual_p95_cycles, 4);
    json_domains(&json, found, clocks);
    wt_json_int(&json, "tpc_pairs", found->tpc_pairs);
    wt_json_int(&json, "tpc_pairs_together", found->tpc_pairs_together);
    json_groups(&json, found);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code report(const struct options *o, const struct wt_trace *trace,
                           const struct wt_clocks *clocks, struct wt_error *err)
{
    struct wt_discovery found = wt_discover_topology(trace, clocks);
    enum wt_code code = o->out ? wt_discovery_write_config(&found, trace, clocks, o->out, err) : WT_OK;
    if (code == WT_OK && o->common.json)
        print_json(trace, &found, clocks);
    else if (code == WT_OK)
        print_text(trace, &found, clocks);
    wt_discovery_free(&found);
    return code;
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    struct options o = {0};
    struct wt_trace *trace;
    struct wt_clocks *clocks;
    WT_TRY(parse_arguments(&argp, argc, argv, &o));
    WT_TRY(wt_trace_read(o.trace, &trace, err));
    enum wt_code code = wt_clocks_fit(trace, &clocks, err);
    if (code == WT_OK) {
        code = report(&o, trace, clocks, err);
        wt_clocks_free(clocks);
    }
    wt_trace_free(trace);
    return code;
}

const struct command topology_command = {
    .name = "topology", .summary = "find GPCs, TPCs and distributor groups in a trace", .run = run};
