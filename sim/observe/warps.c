#include "observe/warps.h"
#include "observe/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* ---- Figures ---- */

static double active(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    (void)gpu;
    return wt_warps_active(&result->total);
}

static double eligible(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    (void)gpu;
    return wt_warps_eligible(&result->total);
}

static double issued(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    (void)gpu;
    return wt_issue_active(&result->total);
}

double wt_warp_elapsed(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    return result->elapsed_cycles + gpu->warp.launch_overhead_cycles;
}

static double sm_active(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    return (double)result->total.sm_cycles / gpu->topology.sm_count;
}

static double instructions(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    (void)gpu;
    return (double)result->total.issued;
}

static double per_cent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double l1_hits(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    (void)gpu;
    return per_cent(result->total.l1_hits, result->total.l1_sectors);
}

static double l2_hits(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    (void)gpu;
    return per_cent(result->total.l2_hits, result->total.l2_sectors);
}

static double dram_bytes(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    (void)gpu;
    return (double)result->total.dram_bytes;
}

static double occupancy(const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    return 100 * wt_warps_active(&result->total) * gpu->limits.subcores / gpu->limits.warps_per_sm;
}

const struct wt_warp_figure wt_warp_figures[] = {
    {"sm__cycles_elapsed.avg", "cycles", wt_warp_elapsed},
    {"sm__cycles_active.avg", "cycles with a block, per SM", sm_active},
    {"smsp__warps_active.avg.per_cycle_active", "resident warps per scheduler", active},
    {"smsp__warps_eligible.avg.per_cycle_active", "eligible warps per scheduler", eligible},
    {"smsp__issue_active.avg.per_cycle_active", "issued per cycle and scheduler", issued},
    {"smsp__inst_executed.sum", "warp instructions", instructions},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "achieved occupancy, %", occupancy},
    {"l1tex__t_sector_hit_rate.pct", "L1 hits, %", l1_hits},
    {"lts__t_sector_hit_rate.pct", "L2 hits, %", l2_hits},
    {"dram__bytes.sum", "DRAM bytes", dram_bytes},
    {0}};

void wt_stall_figure_name(enum wt_stall_reason reason, char *name, size_t size)
{
    snprintf(name, size, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", wt_stall_name(reason));
}

/* ---- JSON and text ---- */

void wt_warp_json(struct wt_json *json, const struct wt_warp_result *result, const struct wt_gpu *gpu)
{
    for (const struct wt_warp_figure *figure = wt_warp_figures; figure->name; figure++)
        wt_json_number(json, figure->name, figure->of(result, gpu), 8);
    for (int i = 0; i < WT_STALL_COUNT; i++) {
        char name[96];
        wt_stall_figure_name((enum wt_stall_reason)i, name, sizeof name);
        wt_json_number(json, name, wt_stalled_per_issue(&result->total, (enum wt_stall_reason)i), 6);
    }
}

static void measured_number(struct wt_json *json, const struct wt_ncu_metrics *metrics, size_t row, const char *name)
{
    double value;
    if (wt_ncu_number(metrics, row, name, &value))
        wt_json_number(json, name, value, 12);
}

void wt_warp_measured_json(struct wt_json *json, const struct wt_ncu_metrics *metrics, size_t row)
{
    wt_json_object(json, "measured");
    for (const struct wt_warp_figure *figure = wt_warp_figures; figure->name; figure++)
        measured_number(json, metrics, row, figure->name);
    for (int i = 0; i < WT_STALL_COUNT; i++) {
        char name[96];
        wt_stall_figure_name((enum wt_stall_reason)i, name, sizeof name);
        measured_number(json, metrics, row, name);
    }
    wt_json_close(json);
}

/* WT_WORDS bytes of `text`, which it returns. */
static const char *figure_words(char *text, double value)
{
    if (value >= 1000)
        return wt_words_number(text, value);
    snprintf(text, WT_WORDS, "%.4g", value);
    return text;
}

static void print_row(FILE *stream, const char *label, double value, const struct wt_ncu_metrics *metrics, size_t row,
                      const char *name)
{
    double measured;
    char text[WT_WORDS];
    fprintf(stream, "  %-32s %14s", label, figure_words(text, value));
    if (metrics && wt_ncu_number(metrics, row, name, &measured)) {
        fprintf(stream, " %14s", figure_words(text, measured));
        if (measured != 0)
            fprintf(stream, " %+9.1f %%", 100 * (value / measured - 1));
    }
    fputc('\n', stream);
}

static void print_bar(FILE *stream, double share)
{
    for (int i = 0; i < (int)lround(40 * share); i++)
        fputc('#', stream);
}

static void print_stalls(FILE *stream, const struct wt_warp_result *result, const struct wt_ncu_metrics *metrics, size_t row)
{
    double all = wt_warps_active(&result->total) / wt_issue_active(&result->total);
    fprintf(stream, "\nWarps per issue, by state\n");
    for (int i = 0; i < WT_STALL_COUNT; i++) {
        char name[96];
        double value = wt_stalled_per_issue(&result->total, (enum wt_stall_reason)i), measured = 0;
        wt_stall_figure_name((enum wt_stall_reason)i, name, sizeof name);
        bool told = metrics && wt_ncu_number(metrics, row, name, &measured);
        if (value < 0.005 && measured < 0.005)
            continue;
        fprintf(stream, "  %-22s %9.2f ", wt_stall_name((enum wt_stall_reason)i), value);
        if (told)
            fprintf(stream, "%9.2f ", measured);
        print_bar(stream, value / all);
        fputc('\n', stream);
    }
}

void wt_warp_print(FILE *stream, const struct wt_warp_result *result, const struct wt_gpu *gpu,
                   const struct wt_ncu_metrics *metrics, size_t row)
{
    fprintf(stream, "  %-32s %14s%s\n", "", "simulated", metrics ? "       measured      error" : "");
    for (const struct wt_warp_figure *figure = wt_warp_figures; figure->name; figure++)
        print_row(stream, figure->label, figure->of(result, gpu), metrics, row, figure->name);
    if (result->total.issued > 0)
        print_stalls(stream, result, metrics, row);
}

/* ---- Finding the hardware's row ---- */

static bool fits(const struct wt_ncu_metrics *metrics, size_t row, const char *column, uint64_t wanted)
{
    double value;
    return !wt_ncu_number(metrics, row, column, &value) || value == (double)wanted;
}

/* "k_fma(Arg)" and "void hash<4>(float *)" name "_Z5k_fma3Arg" and "_Z4hashILi4EEvPf". */
static bool is_kernel(const struct wt_ncu_metrics *metrics, size_t row, const char *kernel)
{
    const char *signature = wt_ncu_text(metrics, row, "Kernel Name");
    if (!signature)
        return true;
    signature += strncmp(signature, "void ", 5) ? 0 : 5;
    int length = (int)strcspn(signature, "<(");
    char *mangled = wt_format("%d%.*s", length, length, signature);
    bool same = strstr(kernel, mangled) || !strncmp(kernel, signature, (size_t)length);
    free(mangled);
    return same;
}

long wt_ncu_launch(const struct wt_ncu_metrics *metrics, const char *kernel, uint64_t blocks, uint64_t threads,
                   uint64_t static_bytes, uint64_t dynamic_bytes)
{
    for (size_t row = 0; row < metrics->rows; row++)
        if (is_kernel(metrics, row, kernel) &&
            (blocks == 0 || (fits(metrics, row, "launch__grid_size", blocks) && fits(metrics, row, "launch__block_size", threads) &&
                             fits(metrics, row, "launch__shared_mem_per_block_static", static_bytes) &&
                             fits(metrics, row, "launch__shared_mem_per_block_dynamic", dynamic_bytes))))
            return (long)row;
    return -1;
}

/* ---- Table per SM and interval ---- */

void wt_warps_csv_header(FILE *stream)
{
    fputs("sm,start,end,resident,eligible,issued", stream);
    for (int i = 0; i < WT_STALL_COUNT; i++)
        fprintf(stream, ",%s", wt_stall_name((enum wt_stall_reason)i));
    fputc('\n', stream);
}

void wt_warps_csv_row(FILE *stream, int schedulers, int sm, wt_time from, wt_time to, const struct wt_warp_counters *c)
{
    double cycles = wt_to_cycles(to - from) * schedulers;
    uint64_t all = 0;
    for (int i = 0; i < WT_STALL_COUNT; i++)
        all += c->warp_cycles[i];
    uint64_t ready = c->warp_cycles[WT_STALL_SELECTED] + c->warp_cycles[WT_STALL_NOT_SELECTED];
    fprintf(stream, "%d,%.10g,%.10g,%.6g,%.6g,%.6g", sm, wt_to_cycles(from), wt_to_cycles(to), (double)all / cycles,
            (double)ready / cycles, (double)c->issued / cycles);
    for (int i = 0; i < WT_STALL_COUNT; i++)
        fprintf(stream, ",%.6g", (double)c->warp_cycles[i] / cycles);
    fputc('\n', stream);
}
