#include "trace/domains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum {
    PER_SM = 64,      /* readings kept of an SM, from its first and last rows in time */
    COMPARED = 16,    /* pairs of readings that decide, the closest in time */
    NOISE_CYCLES = 40 /* delay between the two clock reads, skew inside a GPC, irregular steps */
};
static const double WANDER = 0.02; /* rates differ from the nominal one by up to this */

struct reading {
    int64_t time;
    double offset; /* clock - rate * time, from a common origin */
};

struct sm_readings {
    struct reading first[PER_SM];
    int count;
};

struct pair {
    double distance_ns, difference;
};

static int by_time(const void *left, const void *right)
{
    const struct reading *a = left, *b = right;
    return (a->time > b->time) - (a->time < b->time);
}

static size_t *count_rows(const struct wt_trace *trace)
{
    size_t *count = wt_alloc((size_t)trace->sm_count, sizeof *count);
    for (size_t i = 0; i < trace->row_count; i++)
        count[trace->rows[i].sm]++;
    return count;
}

/* Keeps both readings of evenly chosen rows of each SM. */
static struct sm_readings *gather(const struct wt_trace *trace, double cycles_per_ns)
{
    struct sm_readings *all = wt_alloc((size_t)trace->sm_count, sizeof *all);
    size_t *rows = count_rows(trace), *seen = wt_alloc((size_t)trace->sm_count, sizeof *seen);
    int64_t clock0 = trace->rows[0].clock_start, time0 = trace->rows[0].time_start_ns;
    for (size_t i = 0; i < trace->row_count; i++) {
        const struct wt_trace_row *row = &trace->rows[i];
        struct sm_readings *sm = &all[row->sm];
        size_t stride = (rows[row->sm] + PER_SM / 2 - 1) / (PER_SM / 2);
        if (seen[row->sm]++ % stride)
            continue;
        sm->first[sm->count++] =
            (struct reading){row->time_start_ns, (double)(row->clock_start - clock0) -
                                                     cycles_per_ns * (double)(row->time_start_ns - time0)};
        sm->first[sm->count++] =
            (struct reading){row->time_end_ns, (double)(row->clock_end - clock0) -
                                                   cycles_per_ns * (double)(row->time_end_ns - time0)};
    }
    for (int s = 0; s < trace->sm_count; s++)
        qsort(all[s].first, (size_t)all[s].count, sizeof *all[s].first, by_time);
    free(rows);
    free(seen);
    return all;
}

/* Keeps the closest, in order; of equals those that came first. */
static int keep(struct pair pairs[COMPARED], int count, struct pair pair)
{
    if (count == COMPARED && pair.distance_ns >= pairs[COMPARED - 1].distance_ns)
        return count;
    int place = count < COMPARED ? count : COMPARED - 1;
    for (; place > 0 && pair.distance_ns < pairs[place - 1].distance_ns; place--)
        pairs[place] = pairs[place - 1];
    pairs[place] = pair;
    return count < COMPARED ? count + 1 : COMPARED;
}

/* Readings of one SM beside the next ones in time of the other; returns how many there are. */
static int neighbours(const struct sm_readings *a, const struct sm_readings *b, struct pair pairs[COMPARED])
{
    int count = 0, j = 0;
    for (int i = 0; i < a->count; i++) {
        while (j + 1 < b->count &&
               llabs(b->first[j + 1].time - a->first[i].time) <= llabs(b->first[j].time - a->first[i].time))
            j++;
        count = keep(pairs, count, (struct pair){(double)llabs(b->first[j].time - a->first[i].time),
                                                 fabs(b->first[j].offset - a->first[i].offset)});
    }
    return count;
}

static bool agree(const struct sm_readings *a, const struct sm_readings *b, double cycles_per_ns, int step_ns)
{
    struct pair pairs[COMPARED];
    int count = neighbours(a, b, pairs), good = 0;
    for (int i = 0; i < count; i++)
        good +=
            pairs[i].difference <= cycles_per_ns * (step_ns + WANDER * pairs[i].distance_ns) + NOISE_CYCLES;
    return good * 5 >= count * 4;
}

static void merge(int16_t *domain_of_sm, int sm_count, int16_t from, int16_t into)
{
    for (int s = 0; s < sm_count; s++)
        if (domain_of_sm[s] == from)
            domain_of_sm[s] = into;
}

static int renumber(int16_t *domain_of_sm, int sm_count)
{
    int16_t *fresh = wt_alloc((size_t)sm_count, sizeof *fresh);
    int16_t count = 0;
    memset(fresh, -1, (size_t)sm_count * sizeof *fresh);
    for (int s = 0; s < sm_count; s++) {
        if (domain_of_sm[s] < 0)
            continue;
        if (fresh[domain_of_sm[s]] < 0)
            fresh[domain_of_sm[s]] = count++;
        domain_of_sm[s] = fresh[domain_of_sm[s]];
    }
    free(fresh);
    return count;
}

int wt_domains_find(const struct wt_trace *trace, double khz, int step_ns, int16_t *domain_of_sm)
{
    double cycles_per_ns = khz * 1e-6;
    struct sm_readings *all = gather(trace, cycles_per_ns);
    for (int s = 0; s < trace->sm_count; s++)
        domain_of_sm[s] = all[s].count > 0 ? (int16_t)s : -1;
    for (int s = 1; s < trace->sm_count; s++)
        for (int other = 0; other < s && domain_of_sm[s] >= 0; other++)
            if (domain_of_sm[other] >= 0 && domain_of_sm[other] != domain_of_sm[s] &&
                agree(&all[other], &all[s], cycles_per_ns, step_ns))
                merge(domain_of_sm, trace->sm_count, domain_of_sm[s], domain_of_sm[other]);
    free(all);
    return renumber(domain_of_sm, trace->sm_count);
}
