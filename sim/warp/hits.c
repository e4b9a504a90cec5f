#include "warp/hits.h"

#include <math.h>

#include "warp/opcodes.h"

/* Of the parts that Nsight Compute's counters come from, as far as seen (configs/gpus/_h200-base.cfg), in bytes: what DRAM
 * transfers at least, how much L2 keeps before it writes back, how much lies in one of its slices after the other. */
enum { GRANULE = 64, KEPT = 16 << 20, SLICE = 512 };

struct sectors {
    double load, store, atomic;
    double random; /* of the loads */
    double load_bytes, part_bytes, atomic_bytes; /* that DRAM would have to read for them; scattered ones take a granule each */
};

bool wt_ncu_is_random(const struct wt_ncu_row *row)
{
    double lines = row->executed > 0 ? row->tags / row->executed : 0;
    return lines > 2 && fabs(lines - round(lines)) > 1e-6 * lines;
}

bool wt_ncu_is_scattered(double lines, double sectors)
{
    return lines >= 16 && sectors < 1.5 * lines;
}

bool wt_ncu_touches_parts(const struct wt_ncu_row *row, int width)
{
    double taken = row->threads_on * width, touched = 32 * row->sectors;
    return !wt_ncu_is_random(row) && (taken < 0.5 * touched || taken > 1.01 * touched);
}

/* What DRAM reads for the instruction's sectors, where L2 has none. */
static double dram_bytes(const struct wt_ncu_row *row)
{
    bool scattered = row->executed > 0 && wt_ncu_is_scattered(row->tags / row->executed, row->sectors / row->executed);
    return row->sectors * (scattered ? GRANULE : 32);
}

static struct sectors count_sectors(const struct wt_sass_function *function, const struct wt_ncu_source *source)
{
    struct sectors sum = {0};
    for (size_t i = 0; i < function->count && i < source->count; i++) {
        const struct wt_opcode *opcode = wt_opcode_find(function->instructions[i].opcode);
        const struct wt_ncu_row *row = &source->rows[i];
        if (!opcode || opcode->op != WT_OP_MEMORY || opcode->space != WT_SPACE_GLOBAL)
            continue;
        if (opcode->kind == WT_ACCESS_STORE) {
            sum.store += row->sectors;
        } else if (opcode->kind == WT_ACCESS_LOAD) {
            sum.load += row->sectors;
            bool parts = wt_ncu_touches_parts(row, wt_opcode_width(&function->instructions[i]));
            *(parts ? &sum.part_bytes : &sum.load_bytes) += dram_bytes(row);
            sum.random += wt_ncu_is_random(row) ? row->sectors : 0;
        } else {
            sum.atomic += row->sectors;
            sum.atomic_bytes += dram_bytes(row);
        }
    }
    return sum;
}

static double part(double value, double whole)
{
    double quotient = whole > 0 ? value / whole : 0;
    return quotient < 0 ? 0 : quotient > 1 ? 1 : quotient;
}

static double l1_of_loads(const struct wt_ncu_metrics *metrics, size_t row, struct sectors sectors)
{
    double rate;
    if (wt_ncu_number(metrics, row, "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", &rate))
        return part(rate, 100);
    if (wt_ncu_number(metrics, row, "l1tex__t_sector_hit_rate.pct", &rate))
        return part(rate / 100 * (sectors.load + sectors.store + sectors.atomic), sectors.load);
    return -1;
}

/* Of what DRAM would read for `bytes`, the part that hits when it was read for *fetched; what is left of that is for others. */
static double hits_of(double bytes, double *fetched)
{
    double missed = *fetched < bytes ? *fetched : bytes;
    *fetched -= missed;
    return 1 - part(missed, bytes);
}

/* L2 keeps the first that is stored; from then on as much is written to DRAM as is stored for the first time. */
static double dirty_of(const struct wt_ncu_metrics *metrics, size_t row, double stored)
{
    double written;
    if (stored <= 0 || !wt_ncu_number(metrics, row, "dram__bytes_write.sum", &written))
        return -1;
    return part(written + KEPT, 32 * stored);
}

/* Atomics' sectors and the slices of L2 that took them in. */
static void find_slices(const struct wt_ncu_metrics *metrics, size_t row, double sectors,
                        struct wt_hit_rates *rates)
{
    double mean, most, cycles, of_all;
    if (sectors <= 0 || !wt_ncu_number(metrics, row, "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed", &mean) ||
        !wt_ncu_number(metrics, row, "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed", &most) ||
        !wt_ncu_number(metrics, row, "lts__cycles_elapsed.avg", &cycles) ||
        !wt_ncu_number(metrics, row, "lts__cycles_elapsed.sum", &of_all) || mean <= 0 || most <= 0 || cycles <= 0)
        return;
    double slices = round(of_all / cycles), used = slices * part(mean, most);
    rates->slice_bytes = SLICE * fmax(used, 1);
    rates->meet = fmax(mean / 100 * of_all / sectors, 1);
}

static struct wt_hit_rates of_l1(const struct wt_ncu_metrics *metrics, size_t row, struct sectors sectors)
{
    struct wt_hit_rates rates = WT_HITS_UNKNOWN;
    rates.l1 = rates.l1_random = l1_of_loads(metrics, row, sectors);
    double regular = sectors.load - sectors.random, missed = sectors.load * (1 - rates.l1);
    if (rates.l1 >= 0 && sectors.random > 0 && regular > 0) {
        rates.l1 = 1 - part(missed, regular);
        rates.l1_random = 1 - part(missed - regular, sectors.random);
    }
    return rates;
}

struct wt_hit_rates wt_hit_rates_of(const struct wt_ncu_metrics *metrics, size_t row, const struct wt_sass_function *function,
                                    const struct wt_ncu_source *source)
{
    struct sectors sectors = count_sectors(function, source);
    double all_l1 = l1_of_loads(metrics, row, sectors);
    struct wt_hit_rates rates = of_l1(metrics, row, sectors);
    rates.dirty = dirty_of(metrics, row, sectors.store);
    find_slices(metrics, row, sectors.atomic, &rates);
    double bytes, missed = all_l1 < 0 ? 1 : 1 - all_l1;
    bool read_alone = wt_ncu_number(metrics, row, "dram__bytes_read.sum", &bytes);
    if (!read_alone && !wt_ncu_number(metrics, row, "dram__bytes.sum", &bytes))
        return rates;
    double fetched = bytes;
    rates.l2 = hits_of(missed * sectors.load_bytes, &fetched);
    rates.l2_part = hits_of(missed * sectors.part_bytes, &fetched);
    if (!read_alone)
        return rates;
    rates.atomic = hits_of(sectors.atomic_bytes, &fetched);
    rates.store = hits_of(32 * sectors.store, &fetched);
    return rates;
}
