/* A GPU config from what a trace told; every value says that it was measured, and on what. */
#include <stdio.h>
#include <string.h>

#include "core/outfile.h"
#include "trace/topology.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A libconfig string. */
static void print_string(FILE *stream, const char *text)
{
    putc('"', stream);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

static void print_source(FILE *stream, const char *how, const char *file)
{
    fputs("source = ", stream);
    char text[512];
    snprintf(text, sizeof text, "measured: %s, %s", how, file);
    print_string(stream, text);
    putc(';', stream);
}

static void print_list(FILE *stream, const uint16_t *sms, int count)
{
    fputs("            [", stream);
    for (int i = 0; i < count; i++)
        fprintf(stream, "%s%d", i ? ", " : "", sms[i]);
    putc(']', stream);
}

static void print_domain(FILE *stream, const struct wt_discovery *found, int domain)
{
    uint16_t sms[WT_MAX_SMS];
    int count = 0;
    for (int s = 0; s < found->sm_count; s++)
        if (found->domain_of_sm[s] == domain)
            sms[count++] = (uint16_t)s;
    print_list(stream, sms, count);
}

static void print_topology(FILE *stream, const struct wt_discovery *found, const char *file)
{
    fprintf(stream, "topology = {\n    sm_count = { value = %d; ", found->sm_count);
    print_source(stream, "SMs with blocks", file);
    fputs(" };\n    groups = {\n        ", stream);
    print_source(stream, "visits of the first wave", file);
    fputs("\n        value = (\n", stream);
    for (int g = 0; g < found->group_count; g++) {
        print_list(stream, found->groups[g].sms, found->groups[g].sm_count);
        fputs(g + 1 < found->group_count ? ",\n" : ");\n    };\n", stream);
    }
    fprintf(stream, "    extra_group = { value = %d; ", found->extra_group);
    print_source(stream, "cadence of the first wave's visits", file);
    fputs(" };\n", stream);
    if (found->domain_count > 0) {
        fputs("    gpcs = {\n        ", stream);
        print_source(stream, "clock64 against globaltimer", file);
        fputs("\n        value = (\n", stream);
        for (int d = 0; d < found->domain_count; d++) {
            print_domain(stream, found, d);
            fputs(d + 1 < found->domain_count ? ",\n" : ");\n    };\n", stream);
        }
    }
    fputs("};\n", stream);
}

static void print_rates(FILE *stream, const struct wt_discovery *found, const char *file)
{
    if (found->extra_first_gap < 0)
        return;
    fprintf(stream, "rates = {\n    extra_first_gap = { value = %d; ", found->extra_first_gap);
    print_source(stream, "visits of the first wave", file);
    fputs(" };\n", stream);
    if (found->extra_gap >= 0) {
        fprintf(stream, "    extra_gap = { value = %d; ", found->extra_gap);
        print_source(stream, "visits of the first wave", file);
        fputs(" };\n", stream);
    }
    fputs("};\n", stream);
}

static void print_head(FILE *stream, const struct wt_trace *trace, const struct wt_clocks *clocks,
                       const char *file)
{
    fprintf(stream, "base = \"cc%d.%d\";\nname = ", trace->cc_major, trace->cc_minor);
    print_string(stream, *trace->device ? trace->device : "unnamed GPU");
    fprintf(stream, ";\ncompute_capability = { value = \"%d.%d\"; ", trace->cc_major, trace->cc_minor);
    print_source(stream, "header", file);
    fputs(" };\n", stream);
    if (clocks->mhz > 0) {
        fprintf(stream, "clock_mhz = { value = %.1f; ", clocks->mhz);
        if (clocks->mhz_is_stated)
            fputs("source = \"documented: clock_khz in the trace\";", stream);
        else
            print_source(stream, "clock64 against globaltimer", file);
        fputs(" };\n", stream);
    }
}

enum wt_code wt_discovery_write_config(const struct wt_discovery *found, const struct wt_trace *trace,
                                       const struct wt_clocks *clocks, const char *path, struct wt_error *err)
{
    struct wt_outfile out;
    const char *file = base_name(trace->path);
    if (found->groups_missing)
        return wt_fail_at(err, trace->path, 0, "does not tell the distributor's groups: %s",
                          found->groups_missing);
    if (trace->cc_major == 0)
        return wt_fail_at(err, trace->path, 0,
                          "does not state the compute capability; add a line '# compute_capability = X.Y'");
    WT_TRY(wt_outfile_open(&out, path, err));
    fprintf(out.stream, "# Found by wavetail topology in %s. What is not here comes from the base.\n", file);
    print_head(out.stream, trace, clocks, file);
    print_topology(out.stream, found, file);
    print_rates(out.stream, found, file);
    return wt_outfile_commit(&out, err);
}
