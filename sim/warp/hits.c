#include "warp/hits.h"

#include <math.h>

#include "warp/opcodes.h"

struct sectors {
    double load, store, atomic;
    double random; /* of the loads */
};

bool wt_ncu_is_random(const struct wt_ncu_row *row)
{
    double lines = row->executed > 0 ? row->tags / row->executed : 0;
    return lines > 2 && fabs(lines - round(lines)) > 1e-6 * lines;
}

static struct sectors count_sectors(const struct wt_sass_function *function, const struct wt_ncu_source *source)
{
    struct sectors sum = {0};
    for (size_t i = 0; i < function->count && i < source->count; i++) {
        const struct wt_opcode *opcode = wt_opcode_find(function->instructions[i].opcode);
        if (!opcode || opcode->op != WT_OP_MEMORY || opcode->space != WT_SPACE_GLOBAL)
            continue;
        double *kind = opcode->kind == WT_ACCESS_LOAD ? &sum.load : opcode->kind == WT_ACCESS_STORE ? &sum.store : &sum.atomic;
        *kind += source->rows[i].sectors;
        if (kind == &sum.load && wt_ncu_is_random(&source->rows[i]))
            sum.random += source->rows[i].sectors;
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

/* Of `sectors`, those that hit when DRAM was read for *fetched; what is left of it is for others. */
static double hits_of(double sectors, double *fetched)
{
    double missed = *fetched < sectors ? *fetched : sectors;
    *fetched -= missed;
    return 1 - part(missed, sectors);
}

struct wt_hit_rates wt_hit_rates_of(const struct wt_ncu_metrics *metrics, size_t row, const struct wt_sass_function *function,
                                    const struct wt_ncu_source *source)
{
    struct sectors sectors = count_sectors(function, source);
    struct wt_hit_rates rates = {.l1 = l1_of_loads(metrics, row, sectors), .l1_random = -1, .l2 = -1, .atomic = -1, .store = -1};
    rates.l1_random = rates.l1;
    double regular = sectors.load - sectors.random, missed = sectors.load * (1 - rates.l1);
    if (rates.l1 >= 0 && sectors.random > 0 && regular > 0) {
        rates.l1 = 1 - part(missed, regular);
        rates.l1_random = 1 - part(missed - regular, sectors.random);
    }
    double bytes, loads = rates.l1 < 0 ? sectors.load : missed;
    bool read_alone = wt_ncu_number(metrics, row, "dram__bytes_read.sum", &bytes);
    if (!read_alone && !wt_ncu_number(metrics, row, "dram__bytes.sum", &bytes))
        return rates;
    double fetched = bytes / 32;
    rates.l2 = hits_of(loads, &fetched);
    if (!read_alone)
        return rates;
    rates.atomic = hits_of(sectors.atomic, &fetched);
    rates.store = hits_of(sectors.store, &fetched);
    return rates;
}
