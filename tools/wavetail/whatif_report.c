#include "whatif_points.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "sm/occupancy.h"

enum { MOST_NOTES = 24 };

/* Part of the resident warps that an SM has on average, above which its tail is no concern. */
static const double WELL_FILLED = 0.75;

/* ---- Settings ---- */

static double gpu_index(const struct whatif_report *report, const struct wt_gpu *gpu)
{
    double index = 0;
    for (size_t i = 0; i < report->count; i++) {
        bool new = true;
        for (size_t k = 0; k < i; k++)
            new &= report->outcomes[k].point.gpu != report->outcomes[i].point.gpu;
        if (report->outcomes[i].point.gpu == gpu)
            break;
        index += new;
    }
    return index;
}

double whatif_value(const struct whatif_report *report, const struct whatif_outcome *o, enum whatif_setting setting)
{
    const struct wt_whatif_point *p = &o->point;
    const struct wt_launch_needs *needs = &report->measured.needs;
    switch (setting) {
    case WHATIF_BLOCK: return p->threads > 0 ? p->threads : needs->threads;
    case WHATIF_SMEM: return p->dynamic_shared_bytes >= 0 ? p->dynamic_shared_bytes : needs->dynamic_shared_bytes;
    case WHATIF_REGS: return p->registers_per_thread >= 0 ? p->registers_per_thread : needs->registers_per_thread;
    case WHATIF_SPLIT: return p->split;
    case WHATIF_ORDER: return p->order;
    case WHATIF_PERSISTENT: return p->persistent;
    case WHATIF_GPU: return gpu_index(report, p->gpu);
    case WHATIF_SETTINGS: break;
    }
    return 0;
}

size_t whatif_values(const struct whatif_report *report, enum whatif_setting setting)
{
    size_t values = 0;
    for (size_t i = 0; i < report->count; i++) {
        size_t k = 0;
        double value = whatif_value(report, &report->outcomes[i], setting);
        while (k < i && whatif_value(report, &report->outcomes[k], setting) != value)
            k++;
        values += k == i;
    }
    return values;
}

const char *whatif_limiter(const struct whatif_outcome *o)
{
    for (int i = 0; i < WT_RES_COUNT; i++)
        if (o->result.occupancy.limiter[i])
            return wt_resource_name((enum wt_resource)i);
    return "none";
}

/* ---- Advice ---- */

struct notes {
    char *list[MOST_NOTES]; /* owned */
    size_t count;
};

__attribute__((format(printf, 2, 3))) static void note(struct notes *notes, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (notes->count == MOST_NOTES)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    notes->list[notes->count++] = wt_strdup(text);
}

static size_t launchable(const struct whatif_report *report)
{
    size_t count = 0;
    while (count < report->count && !report->outcomes[count].error.code)
        count++;
    return count;
}

/* Whether two points differ in nothing but this setting. */
static bool differ_only_in(const struct whatif_report *report, const struct whatif_outcome *a, const struct whatif_outcome *b,
                           enum whatif_setting setting)
{
    for (int s = 0; s < WHATIF_SETTINGS; s++)
        if (s != (int)setting && whatif_value(report, a, (enum whatif_setting)s) != whatif_value(report, b, (enum whatif_setting)s))
            return false;
    return true;
}

struct along {
    const struct whatif_report *report;
    const struct whatif_outcome *list[64];
    size_t count;
};

/* The points that differ from the fastest in one setting alone, by its value. */
static struct along points_along(const struct whatif_report *report, enum whatif_setting setting)
{
    struct along a = {.report = report};
    for (size_t i = 0; i < launchable(report) && a.count < 64; i++) {
        const struct whatif_outcome *o = &report->outcomes[i];
        if (!differ_only_in(report, o, &report->outcomes[0], setting))
            continue;
        size_t place = a.count++;
        for (; place > 0 && whatif_value(report, a.list[place - 1], setting) > whatif_value(report, o, setting); place--)
            a.list[place] = a.list[place - 1];
        a.list[place] = o;
    }
    return a;
}

static const struct {
    enum whatif_setting setting;
    const char *unit;
} ranges[] = {{WHATIF_BLOCK, "threads per block"}, {WHATIF_SMEM, "bytes of shared memory"}, {WHATIF_REGS, "registers"},
              {WHATIF_SPLIT, "parts of a block"}};

/* Whether none of the others may be as fast as the fastest. */
static bool is_sure(const struct along *a)
{
    const struct whatif_outcome *best = &a->report->outcomes[0];
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i] != best && a->list[i]->result.low < best->result.high)
            return false;
    return true;
}

/* Ranges of neighbouring values within 1 % of the fastest: "128 to 512". */
static void note_plateau(struct notes *notes, const struct whatif_report *report, size_t which)
{
    struct along a = points_along(report, ranges[which].setting);
    char text[300] = "";
    size_t length = 0, within = 0;
    if (a.count < 2)
        return;
    for (size_t i = 0, next; i < a.count; i = next + 1) {
        for (next = i; next < a.count && a.list[next]->result.speedup > 0.99 * report->outcomes[0].result.speedup;)
            next++;
        if (next == i || length >= sizeof text)
            continue;
        double low = whatif_value(report, a.list[i], ranges[which].setting);
        double high = whatif_value(report, a.list[next - 1], ranges[which].setting);
        within += next - i;
        length += (size_t)snprintf(text + length, sizeof text - length, next - i > 1 ? "%s%.0f to %.0f" : "%s%.0f",
                                   length > 0 ? ", " : "", low, high);
    }
    if (within > 1)
        note(notes, "%s %s lie within 1 %% of the fastest", text, ranges[which].unit);
    else
        note(notes, "%s %s is the fastest by more than 1 %%%s", text, ranges[which].unit,
             is_sure(&a) ? "" : ", but others lie within its range");
}

static void note_flips(struct notes *notes, const struct whatif_report *report, size_t which)
{
    struct along a = points_along(report, ranges[which].setting);
    for (size_t i = 1; i < a.count; i++)
        if (whatif_limiter(a.list[i]) != whatif_limiter(a.list[i - 1]))
            note(notes, "from %.0f to %.0f %s the limiter changes from %s to %s (%d to %d warps per SM)",
                 whatif_value(report, a.list[i - 1], ranges[which].setting), whatif_value(report, a.list[i], ranges[which].setting),
                 ranges[which].unit, whatif_limiter(a.list[i - 1]), whatif_limiter(a.list[i]),
                 a.list[i - 1]->result.occupancy.warps_per_sm, a.list[i]->result.occupancy.warps_per_sm);
}

static void note_measured(struct notes *notes, const struct whatif_report *report)
{
    const struct wt_whatif_measured *m = &report->measured;
    const struct wt_whatif_result *best = &report->outcomes[0].result;
    if (best->low <= m->makespan && best->high >= m->makespan && !report->outcomes[0].point.gpu && !m->simulated)
        note(notes, "the launch as measured may be as fast as the fastest: that lies within its range");
    if (m->enough_warps > 0)
        note(notes, "occupancy pays up to %d warps per SM; more give less than 1 %%", m->enough_warps);
    if (m->cached)
        note(notes, "shared memory takes from the L1 cache, which may be what made the other traces slower; a trace with as much "
                    "shared memory at another residency would tell");
    if (best->waves < 1)
        note(notes, "the grid is smaller than the GPU: %.0f %% of one wave", 100 * best->waves);
    if (best->tail_fraction > 0.2)
        note(notes, "the tail, after the last block was handed out, takes %.0f %% of the fastest point; %s", 100 * best->tail_fraction,
             best->achieved_occupancy > WELL_FILLED * best->occupancy.occupancy
                 ? "SMs are well filled for most of it"
                 : "smaller blocks, --split or --order longest-first may shorten it");
}

static void note_spills(struct notes *notes, const struct whatif_report *report)
{
    for (size_t i = 0; i < launchable(report); i++) {
        const struct wt_whatif_point *p = &report->outcomes[i].point;
        if (p->registers_per_thread >= 0 && p->registers_per_thread < report->measured.needs.registers_per_thread &&
            p->spill_cost <= 0) {
            note(notes, "registers are cut at no cost here; what spills cost, --spill-cost tells");
            return;
        }
    }
}

static struct notes advise(const struct whatif_report *report)
{
    struct notes notes = {.count = 0};
    if (launchable(report) == 0)
        return notes;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        note_plateau(&notes, report, i);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        note_flips(&notes, report, i);
    note_measured(&notes, report);
    note_spills(&notes, report);
    return notes;
}

static void free_notes(struct notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->list[i]);
}

/* ---- Text ---- */

static int gpu_width(const struct whatif_report *report)
{
    int width = 8;
    for (size_t i = 0; i < report->count; i++) {
        const struct wt_gpu *gpu = report->outcomes[i].point.gpu;
        int length = gpu ? (int)strlen(gpu->key) : 0;
        width = length > width ? length : width;
    }
    return width;
}

static void print_row(const struct whatif_report *report, const struct whatif_outcome *o, int gpu)
{
    const struct wt_whatif_result *r = &o->result;
    const struct wt_whatif_point *p = &o->point;
    printf("%5.0f %4.0f %7.0f %-13s %5d %-10s %-*s", whatif_value(report, o, WHATIF_BLOCK), whatif_value(report, o, WHATIF_REGS),
           whatif_value(report, o, WHATIF_SMEM), wt_order_names[p->order], p->split, p->persistent ? "persistent" : "-", gpu,
           p->gpu ? p->gpu->key : "-");
    if (o->error.code) {
        printf(" cannot be launched: %s\n", o->error.text);
        return;
    }
    printf(" %10.0f %10.0f…%-10.0f %7.3f %5.0f %5.0f %-13s %6.2f %5.1f  %s\n", r->makespan, r->low, r->high, r->speedup,
           100 * r->occupancy.occupancy, 100 * r->achieved_occupancy, whatif_limiter(o), r->waves, 100 * r->tail_fraction, r->why);
}

static void print_works(const struct wt_whatif_measured *m)
{
    if (m->work_warps == 1)
        puts("works are very unequal, each warp's own; a block's first warp states one, the others' are drawn from these");
    else if (m->work_warps * 32 < m->needs.threads)
        printf("works are very unequal, those of every %d warps their own; the first of a block state one, the others' are drawn\n",
               m->work_warps);
    else
        puts("works are very unequal, each block's own; larger blocks last as long as their longest part (but --work block)");
}

static void print_head(const struct wt_whatif_measured *m)
{
    printf("%s: %llu block%s of %d threads, %s %.0f cycles\n", m->name, (unsigned long long)m->blocks, m->blocks == 1 ? "" : "s",
           m->needs.threads, m->simulated ? "simulated" : "measured", m->makespan);
    if (m->work_warps > 0)
        print_works(m);
    if (m->fixed)
        puts("blocks take as long as they do, whatever runs beside them\n");
    else if (m->simulated)
        printf("limited by %s, saturated by %.1f warps per SM\n\n", m->gpu_limits ? "the GPU's memory" : "each SM", m->saturation);
    else
        printf("limited by %s, saturated by about %.0f warps per SM (%.0f to %.0f explain it nearly as well); %s\n\n",
               m->gpu_limits ? "the GPU's memory" : "each SM", m->saturation, m->saturation_low, m->saturation_high,
               m->favour > 0.08 ? "an SM's oldest blocks go first" : "all blocks of an SM are served alike");
}

void whatif_print_table(const struct whatif_report *report)
{
    struct notes notes = advise(report);
    int gpu = gpu_width(report);
    print_head(&report->measured);
    printf("%5s %4s %7s %-13s %5s %-10s %-*s %10s %21s %7s %11s %-13s %6s %5s  %s\n", "block", "regs", "smem", "order", "split",
           "launch", gpu, "gpu", "cycles", "range         ", "speedup", "occupancy %", "limiter", "waves", "tail%", "why");
    for (size_t i = 0; i < report->count; i++)
        print_row(report, &report->outcomes[i], gpu);
    puts("");
    for (size_t i = 0; i < notes.count; i++)
        printf("%s%s\n", i == 0 ? "Advice: " : "        ", notes.list[i]);
    free_notes(&notes);
}

/* ---- JSON ---- */

static void point_json(struct wt_json *json, const struct whatif_report *report, const struct whatif_outcome *o)
{
    const struct wt_whatif_point *p = &o->point;
    const struct wt_whatif_result *r = &o->result;
    wt_json_object(json, NULL);
    wt_json_int(json, "block", (int64_t)whatif_value(report, o, WHATIF_BLOCK));
    wt_json_int(json, "regs", (int64_t)whatif_value(report, o, WHATIF_REGS));
    wt_json_int(json, "smem", (int64_t)whatif_value(report, o, WHATIF_SMEM));
    wt_json_string(json, "order", wt_order_names[p->order]);
    wt_json_int(json, "split", p->split);
    wt_json_bool(json, "persistent", p->persistent);
    wt_json_string(json, "gpu", p->gpu ? p->gpu->key : NULL);
    if (o->error.code) {
        wt_json_string(json, "error", o->error.text);
        wt_json_close(json);
        return;
    }
    wt_json_number(json, "makespan", r->makespan, 9);
    wt_json_number(json, "makespan_low", r->low, 9);
    wt_json_number(json, "makespan_high", r->high, 9);
    wt_json_number(json, "speedup", r->speedup, 6);
    wt_json_number(json, "occupancy", r->occupancy.occupancy, 6);
    wt_json_number(json, "achieved_occupancy", r->achieved_occupancy, 6);
    wt_json_number(json, "waves", r->waves, 6);
    wt_json_number(json, "tail_fraction", r->tail_fraction, 6);
    wt_json_string(json, "limiter", whatif_limiter(o));
    wt_json_string(json, "why", r->why);
    wt_json_close(json);
}

void whatif_print_json(const struct whatif_report *report)
{
    const struct wt_whatif_measured *m = &report->measured;
    struct notes notes = advise(report);
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_string(&json, "name", m->name);
    wt_json_string(&json, "model", m->fixed ? "fixed" : "fluid");
    wt_json_number(&json, m->simulated ? "makespan_simulated" : "makespan_measured", m->makespan, 9);
    if (!m->fixed) {
        wt_json_string(&json, "limited_by", m->gpu_limits ? "gpu" : "sm");
        wt_json_number(&json, "saturation_warps_per_sm", m->saturation, 6);
        wt_json_number(&json, "saturation_low", m->saturation_low, 6);
        wt_json_number(&json, "saturation_high", m->saturation_high, 6);
        wt_json_number(&json, "favour", m->favour, 6);
        wt_json_int(&json, "enough_warps_per_sm", m->enough_warps);
    }
    if (m->work_warps > 0)
        wt_json_int(&json, "work_warps", m->work_warps);
    wt_json_array(&json, "points");
    for (size_t i = 0; i < report->count; i++)
        point_json(&json, report, &report->outcomes[i]);
    wt_json_close(&json);
    wt_json_array(&json, "advice");
    for (size_t i = 0; i < notes.count; i++)
        wt_json_string(&json, NULL, notes.list[i]);
    wt_json_close(&json);
    wt_json_close(&json);
    wt_json_end(&json);
    free_notes(&notes);
}
