/* The distributions a workload may name. Their parameters are cycles unless a unit says otherwise. */
#include <inttypes.h>
#include <math.h>

#include "core/draw.h"
#include "core/portable.h"
#include "cost/fixed.h"

#define NAME_PARAM(type)                                                                                     \
    {"distribution", WT_PARAM_STRING, offsetof(struct type, distribution), .required = true,                 \
     .help = "the distribution's name"}
#define CYCLES_PARAM(type, field, text)                                                                      \
    {#field, WT_PARAM_NUMBER, offsetof(struct type, field), .unit = "cycles", .low = 1, .high = WT_FIXED_MOST, \
     .required = true, .help = text}

/* ---- constant ---- */

struct constant_values {
    char *distribution;
    double cycles;
};

static const struct wt_param constant_params[] = {
    NAME_PARAM(constant_values), CYCLES_PARAM(constant_values, cycles, "every block's duration"), {0}};

static void fill_constant(const void *values, struct wt_fixed_batch *batch)
{
    const struct constant_values *v = values;
    for (int i = 0; i < WT_FIXED_BATCH; i++)
        batch->cycles[i] = v->cycles;
}

static const struct wt_distribution constant = {.name = "constant",
                                                .help = "all blocks last equally long",
                                                .params = constant_params,
                                                .size = sizeof(struct constant_values),
                                                .fill = fill_constant};

/* ---- uniform ---- */

struct uniform_values {
    char *distribution;
    double low, high;
};

static const struct wt_param uniform_params[] = {
    NAME_PARAM(uniform_values), CYCLES_PARAM(uniform_values, low, "shortest duration"),
    CYCLES_PARAM(uniform_values, high, "longest duration"), {0}};

static enum wt_code check_uniform(const void *values, uint64_t grid_blocks, struct wt_error *err)
{
    (void)grid_blocks;
    const struct uniform_values *v = values;
    if (v->low > v->high)
        return wt_fail(err, WT_BAD_INPUT, "low = %g is above high = %g; exchange them", v->low, v->high);
    return WT_OK;
}

static double uniform_mean(const void *values)
{
    const struct uniform_values *v = values;
    return 0.5 * (v->low + v->high);
}

static void fill_uniform(const void *values, struct wt_fixed_batch *batch)
{
    const struct uniform_values *v = values;
    for (int i = 0; i < WT_FIXED_BATCH; i++)
        batch->cycles[i] = v->low + (v->high - v->low) * wt_random_unit(&batch->random);
}

static const struct wt_distribution uniform = {.name = "uniform",
                                               .help = "evenly spread between two bounds",
                                               .params = uniform_params,
                                               .size = sizeof(struct uniform_values),
                                               .check = check_uniform,
                                               .mean = uniform_mean,
                                               .fill = fill_uniform};

/* ---- normal ---- */

struct normal_values {
    char *distribution;
    double mean, deviation;
};

static const struct wt_param normal_params[] = {
    NAME_PARAM(normal_values),
    CYCLES_PARAM(normal_values, mean, "mean duration (of the bell curve before draws below 1 cycle become 1)"),
    {"deviation", WT_PARAM_NUMBER, offsetof(struct normal_values, deviation), .unit = "cycles", .low = 0,
     .high = WT_FIXED_MOST, .required = true, .help = "standard deviation"},
    {0}};

static double normal_mean(const void *values)
{
    return ((const struct normal_values *)values)->mean;
}

static void fill_normal(const void *values, struct wt_fixed_batch *batch)
{
    const struct normal_values *v = values;
    wt_draw_normal(&batch->random, batch->cycles, WT_FIXED_BATCH);
    for (int i = 0; i < WT_FIXED_BATCH; i++)
        batch->cycles[i] = v->mean + v->deviation * batch->cycles[i];
}

static const struct wt_distribution normal = {.name = "normal",
                                              .help = "bell curve",
                                              .params = normal_params,
                                              .size = sizeof(struct normal_values),
                                              .mean = normal_mean,
                                              .fill = fill_normal};

/* ---- lognormal ---- */

/* The mean, not the median, is given: changing sigma then leaves the total work as it is. */
struct lognormal_values {
    char *distribution;
    double mean, sigma;
};

static const struct wt_param lognormal_params[] = {
    NAME_PARAM(lognormal_values), CYCLES_PARAM(lognormal_values, mean, "mean duration; the median is mean exp(-sigma^2/2)"),
    {"sigma", WT_PARAM_NUMBER, offsetof(struct lognormal_values, sigma), .low = 0, .high = 10, .required = true,
     .help = "standard deviation of the duration's natural logarithm"},
    {0}};

static double lognormal_mean(const void *values)
{
    return ((const struct lognormal_values *)values)->mean;
}

static void fill_lognormal(const void *values, struct wt_fixed_batch *batch)
{
    const struct lognormal_values *v = values;
    double sigma = v->sigma, median_log = wt_ln(v->mean) - 0.5 * sigma * sigma;
    wt_draw_normal(&batch->random, batch->cycles, WT_FIXED_BATCH);
    for (int i = 0; i < WT_FIXED_BATCH; i++)
        batch->cycles[i] = wt_exp(median_log + sigma * batch->cycles[i]);
}

static const struct wt_distribution lognormal = {.name = "lognormal",
                                                 .help = "the logarithm is a bell curve: a few blocks last much longer",
                                                 .params = lognormal_params,
                                                 .size = sizeof(struct lognormal_values),
                                                 .mean = lognormal_mean,
                                                 .fill = fill_lognormal};

/* ---- exponential ---- */

struct exponential_values {
    char *distribution;
    double mean, least;
};

static const struct wt_param exponential_params[] = {
    NAME_PARAM(exponential_values),
    CYCLES_PARAM(exponential_values, mean, "mean duration, `least` included"),
    {"least", WT_PARAM_NUMBER, offsetof(struct exponential_values, least), .unit = "cycles", .low = 0,
     .high = WT_FIXED_MOST, .help = "shortest duration; the rest is exponential"},
    {0}};

static enum wt_code check_exponential(const void *values, uint64_t grid_blocks, struct wt_error *err)
{
    (void)grid_blocks;
    const struct exponential_values *v = values;
    if (v->least > v->mean)
        return wt_fail(err, WT_BAD_INPUT, "least = %g is above mean = %g; the mean includes it", v->least, v->mean);
    return WT_OK;
}

static double exponential_mean(const void *values)
{
    return ((const struct exponential_values *)values)->mean;
}

static void fill_exponential(const void *values, struct wt_fixed_batch *batch)
{
    const struct exponential_values *v = values;
    wt_draw_exponential(&batch->random, batch->cycles, WT_FIXED_BATCH);
    for (int i = 0; i < WT_FIXED_BATCH; i++)
        batch->cycles[i] = v->least + (v->mean - v->least) * batch->cycles[i];
}

static const struct wt_distribution exponential = {.name = "exponential",
                                                   .help = "memoryless, beyond a least duration",
                                                   .params = exponential_params,
                                                   .size = sizeof(struct exponential_values),
                                                   .check = check_exponential,
                                                   .mean = exponential_mean,
                                                   .fill = fill_exponential};

/* ---- pareto ---- */

struct pareto_values {
    char *distribution;
    double scale, alpha, cap;
};

static const struct wt_param pareto_params[] = {
    NAME_PARAM(pareto_values), CYCLES_PARAM(pareto_values, scale, "shortest duration"),
    {"alpha", WT_PARAM_NUMBER, offsetof(struct pareto_values, alpha), .low = 0.1, .high = 100, .required = true,
     .help = "tail index: a duration exceeds x with probability (scale/x)^alpha; up to 1 the mean is infinite"},
    {"cap", WT_PARAM_NUMBER, offsetof(struct pareto_values, cap), .unit = "cycles", .low = 0, .high = WT_FIXED_MOST,
     .help = "longer draws last this long; 0: no cap"},
    {0}};

static enum wt_code check_pareto(const void *values, uint64_t grid_blocks, struct wt_error *err)
{
    (void)grid_blocks;
    const struct pareto_values *v = values;
    if (v->cap != 0 && v->cap < v->scale)
        return wt_fail(err, WT_BAD_INPUT, "cap = %g is below scale = %g; raise it, or 0 for no cap", v->cap, v->scale);
    return WT_OK;
}

/* Of min(X, cap): the integral of the probability to exceed x. */
static double pareto_mean(const void *values)
{
    const struct pareto_values *v = values;
    if (v->cap == 0)
        return v->alpha > 1 ? v->scale * v->alpha / (v->alpha - 1) : INFINITY;
    double log_ratio = wt_ln(v->cap / v->scale);
    if (v->alpha == 1)
        return v->scale * (1 + log_ratio);
    return v->scale * (1 + (wt_exp((1 - v->alpha) * log_ratio) - 1) / (1 - v->alpha));
}

/* The logarithm of X / scale is exponential with mean 1 / alpha. */
static void fill_pareto(const void *values, struct wt_fixed_batch *batch)
{
    const struct pareto_values *v = values;
    double cap = v->cap > 0 ? v->cap : WT_FIXED_MOST;
    wt_draw_exponential(&batch->random, batch->cycles, WT_FIXED_BATCH);
    for (int i = 0; i < WT_FIXED_BATCH; i++) {
        double cycles = v->scale * wt_exp(batch->cycles[i] / v->alpha);
        batch->cycles[i] = cycles < cap ? cycles : cap;
    }
}

static const struct wt_distribution pareto = {.name = "pareto",
                                              .help = "power law: a heavy tail of long blocks",
                                              .params = pareto_params,
                                              .size = sizeof(struct pareto_values),
                                              .check = check_pareto,
                                              .mean = pareto_mean,
                                              .fill = fill_pareto};

/* ---- bimodal ---- */

struct bimodal_values {
    char *distribution;
    double usual, other, share;
};

static const struct wt_param bimodal_params[] = {
    NAME_PARAM(bimodal_values), CYCLES_PARAM(bimodal_values, usual, "duration of most blocks"),
    CYCLES_PARAM(bimodal_values, other, "duration of the others"),
    {"share", WT_PARAM_NUMBER, offsetof(struct bimodal_values, share), .low = 0, .high = 1, .required = true,
     .help = "probability of a block being one of the others"},
    {0}};

static double bimodal_mean(const void *values)
{
    const struct bimodal_values *v = values;
    return v->usual + v->share * (v->other - v->usual);
}

static void fill_bimodal(const void *values, struct wt_fixed_batch *batch)
{
    const struct bimodal_values *v = values;
    for (int i = 0; i < WT_FIXED_BATCH; i++)
        batch->cycles[i] = wt_random_unit(&batch->random) < v->share ? v->other : v->usual;
}

static const struct wt_distribution bimodal = {.name = "bimodal",
                                               .help = "two durations, mixed at random",
                                               .params = bimodal_params,
                                               .size = sizeof(struct bimodal_values),
                                               .mean = bimodal_mean,
                                               .fill = fill_bimodal};

/* ---- outlier ---- */

struct outlier_values {
    char *distribution;
    double usual, outlier;
    int64_t block;
};

static const struct wt_param outlier_params[] = {
    NAME_PARAM(outlier_values), CYCLES_PARAM(outlier_values, usual, "duration of all blocks but one"),
    CYCLES_PARAM(outlier_values, outlier, "duration of that one"),
    {"block", WT_PARAM_INT64, offsetof(struct outlier_values, block), .low = 0, .high = 1e15, .required = true,
     .help = "its index in the grid, from 0"},
    {0}};

static enum wt_code check_outlier(const void *values, uint64_t grid_blocks, struct wt_error *err)
{
    const struct outlier_values *v = values;
    if ((uint64_t)v->block >= grid_blocks)
        return wt_fail(err, WT_BAD_INPUT, "block = %" PRId64 " is outside the grid of %" PRIu64 " blocks; the last is %"
                       PRIu64, v->block, grid_blocks, grid_blocks - 1);
    return WT_OK;
}

static void fill_outlier(const void *values, struct wt_fixed_batch *batch)
{
    const struct outlier_values *v = values;
    for (uint64_t i = 0; i < WT_FIXED_BATCH; i++)
        batch->cycles[i] = batch->first + i == (uint64_t)v->block ? v->outlier : v->usual;
}

static const struct wt_distribution outlier = {.name = "outlier",
                                               .help = "one block differs from all the others",
                                               .params = outlier_params,
                                               .size = sizeof(struct outlier_values),
                                               .check = check_outlier,
                                               .fill = fill_outlier};

/* ---- ramp ---- */

struct ramp_values {
    char *distribution;
    double first, last;
};

static const struct wt_param ramp_params[] = {
    NAME_PARAM(ramp_values), CYCLES_PARAM(ramp_values, first, "duration of the grid's first block"),
    CYCLES_PARAM(ramp_values, last, "duration of its last block; those between lie on a straight line"), {0}};

static void fill_ramp(const void *values, struct wt_fixed_batch *batch)
{
    const struct ramp_values *v = values;
    double steps = batch->grid_blocks > 1 ? (double)(batch->grid_blocks - 1) : 1;
    for (uint64_t i = 0; i < WT_FIXED_BATCH; i++)
        batch->cycles[i] = v->first + (v->last - v->first) * ((double)(batch->first + i) / steps);
}

static const struct wt_distribution ramp = {.name = "ramp",
                                            .help = "rising or falling evenly over the grid",
                                            .params = ramp_params,
                                            .size = sizeof(struct ramp_values),
                                            .fill = fill_ramp};

/* ---- list ---- */

static const struct wt_param list_params[] = {
    NAME_PARAM(wt_list_values),
    {"cycles", WT_PARAM_NUMBERS, offsetof(struct wt_list_values, cycles), .unit = "cycles", .low = 0,
     .high = WT_FIXED_MOST, .required = true, .help = "the blocks' durations by index; below 1 counts as 1"},
    {"cycle", WT_PARAM_BOOL, offsetof(struct wt_list_values, cycle),
     .help = "start again at the list's end; otherwise there must be one duration for each block"},
    {0}};

static enum wt_code check_list(const void *values, uint64_t grid_blocks, struct wt_error *err)
{
    const struct wt_list_values *v = values;
    if (v->cycles.count == 0)
        return wt_fail(err, WT_BAD_INPUT, "the list of durations is empty; give at least one");
    if (!v->cycle && (uint64_t)v->cycles.count != grid_blocks)
        return wt_fail(err, WT_BAD_INPUT, "%d durations for a grid of %" PRIu64 " blocks; give one for each, or "
                       "cycle = true to start again at the list's end", v->cycles.count, grid_blocks);
    return WT_OK;
}

static void fill_list(const void *values, struct wt_fixed_batch *batch)
{
    const struct wt_list_values *v = values;
    uint64_t count = (uint64_t)v->cycles.count, index = batch->first % count;
    for (int i = 0; i < WT_FIXED_BATCH; i++) {
        batch->cycles[i] = v->cycles.values[index];
        index = index + 1 == count ? 0 : index + 1;
    }
}

static const struct wt_distribution list = {.name = "list",
                                            .help = "durations one by one",
                                            .params = list_params,
                                            .size = sizeof(struct wt_list_values),
                                            .check = check_list,
                                            .fill = fill_list};

const struct wt_distribution *const wt_distributions[] = {
    &constant, &uniform, &normal, &lognormal, &exponential, &pareto, &bimodal, &outlier, &ramp, &list, NULL,
};
