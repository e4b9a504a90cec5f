/* Do blocks last as long as the workload's distribution says? Statistical bounds are for fixed seeds; each says how
 * unlikely a correct generator is to miss it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/draw.h"
#include "core/mem.h"
#include "core/portable.h"
#include "cost/fixed.h"
#include "suites.h"

enum { DRAWS = 400000 };

/* ---- Elementary functions ---- */

START_TEST(exp_is_within_two_units_in_the_last_place)
{
    for (double x = -699.9; x < 700; x += 0.00973)
        ck_assert_msg(fabsl((wt_exp(x) - expl(x)) / expl(x)) < 2 * 0x1p-52L, "exp(%.17g)", x);
    ck_assert_double_eq(wt_exp(0), 1);
}
END_TEST

START_TEST(ln_is_within_four_units_in_the_last_place)
{
    for (double x = 1e-300; x < 1e300; x *= 1.0037)
        ck_assert_msg(fabsl(wt_ln(x) - logl(x)) <= 4 * 0x1p-52L * fabsl(logl(x)), "ln(%.17g)", x);
    ck_assert_double_eq(wt_ln(1), 0);
}
END_TEST

/* Leaping ahead is stepping. */
START_TEST(advance_is_that_many_steps)
{
    static const uint64_t steps[] = {0, 1, 2, 511, 1000};
    for (size_t i = 0; i < 5; i++) {
        struct wt_random walked = wt_random_stream(3, "test", i), leapt = walked;
        for (uint64_t k = 0; k < steps[i]; k++)
            wt_random_u32(&walked);
        wt_random_advance(&leapt, steps[i]);
        ck_assert_uint_eq(leapt.state, walked.state);
    }
}
END_TEST

/* ---- Goodness of fit ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Largest distance between the sample's distribution and `cdf`, times the root of the sample's size (Kolmogorov and
 * Smirnov): above 2.2 with probability 2 exp(-2 * 2.2^2) = 1.3e-4. Sorts the sample. */
static double ks_statistic(double *sample, int count, double (*cdf)(double))
{
    qsort(sample, (size_t)count, sizeof *sample, ascending);
    double worst = 0;
    for (int i = 0; i < count; i++) {
        double p = cdf(sample[i]);
        worst = fmax(worst, fmax(p - (double)i / count, (i + 1.0) / count - p));
    }
    return worst * sqrt(count);
}

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static double unit_exponential_cdf(double x)
{
    return -expm1(-x);
}

START_TEST(draws_follow_normal_and_exponential)
{
    struct wt_random r = wt_random_stream(1, "test", 0);
    double *sample = wt_alloc(DRAWS, sizeof *sample);
    wt_draw_normal(&r, sample, DRAWS);
    ck_assert_double_lt(ks_statistic(sample, DRAWS, normal_cdf), 2.2);
    wt_draw_exponential(&r, sample, DRAWS);
    ck_assert_double_lt(ks_statistic(sample, DRAWS, unit_exponential_cdf), 2.2);
    free(sample);
}
END_TEST

/* A count of rare events is within 5 sigma of n p (a miss: 1 in a million). */
static void assert_share(const char *what, int hits, double n, double p)
{
    double expected = n * p;
    ck_assert_msg(fabs(hits - expected) < 5 * sqrt(expected * (1 - p)), "%s: %d, expected %.1f", what, hits, expected);
}

/* The tails have code of their own, which a goodness-of-fit test hardly sees: beyond the ziggurat's last strip
 * (3.654 and 7.697), and far beyond it. */
START_TEST(tails_hold_their_share)
{
    enum { ROUNDS = 4000, BATCH = 1000 };
    struct wt_random r = wt_random_stream(2, "test", 0);
    double out[BATCH];
    int normal_near = 0, normal_far = 0, negative = 0, exponential_near = 0, exponential_far = 0;
    for (int i = 0; i < ROUNDS; i++) {
        wt_draw_normal(&r, out, BATCH);
        for (int k = 0; k < BATCH; k++) {
            normal_near += fabs(out[k]) > 3.66;
            normal_far += fabs(out[k]) > 4.5;
            negative += out[k] < 0;
        }
        wt_draw_exponential(&r, out, BATCH);
        for (int k = 0; k < BATCH; k++) {
            exponential_near += out[k] > 7.7;
            exponential_far += out[k] > 12;
        }
    }
    double n = (double)ROUNDS * BATCH;
    assert_share("normal beyond 3.66", normal_near, n, 2 * normal_cdf(-3.66));
    assert_share("normal beyond 4.5", normal_far, n, 2 * normal_cdf(-4.5));
    assert_share("normal below 0", negative, n, 0.5);
    assert_share("exponential beyond 7.7", exponential_near, n, exp(-7.7));
    assert_share("exponential beyond 12", exponential_far, n, exp(-12));
}
END_TEST

/* ---- Distributions ---- */

/* A distribution as a workload file gives it. */
struct chosen {
    const struct wt_distribution *distribution;
    void *values;
};

static struct chosen choose(const char *name, const char *parameters)
{
    struct chosen c = {.distribution = wt_distribution_find(name)};
    ck_assert_msg(c.distribution != NULL, "no distribution %s", name);
    c.values = wt_alloc(1, c.distribution->size);
    char *text = wt_format("distribution = \"%s\"; %s", name, parameters);
    struct wt_config *config = NULL;
    struct wt_error err = {0};
    enum wt_code code = wt_config_parse(text, strlen(text), "test", &config, &err);
    if (code == WT_OK)
        code = wt_params_read(c.distribution->params, config, wt_config_root(config), c.values, &err);
    ck_assert_msg(code == WT_OK, "%s", err.text);
    wt_config_free(config);
    free(text);
    return c;
}

static void let_go(struct chosen *c)
{
    wt_params_free(c->distribution->params, c->values);
    free(c->values);
}

static struct wt_fixed_setup setup_of(const struct chosen *c, uint64_t grid_blocks)
{
    return (struct wt_fixed_setup){
        .distribution = c->distribution, .values = c->values, .grid_blocks = grid_blocks, .seed = 1};
}

static struct wt_fixed *make(const struct wt_fixed_setup *setup)
{
    struct wt_fixed *fixed = NULL;
    struct wt_error err = {0};
    ck_assert_msg(wt_fixed_new(setup, &fixed, &err) == WT_OK, "%s", err.text);
    return fixed;
}

static double cycles_of(struct wt_fixed *fixed, uint64_t block)
{
    struct wt_cost cost = wt_fixed_cost(fixed);
    return wt_to_cycles(cost.duration(cost.context, block));
}

/* Blocks 0..count-1, in cycles; owned by the caller. */
static double *sample_of(const struct wt_fixed_setup *setup, int count)
{
    struct wt_fixed *fixed = make(setup);
    double *sample = wt_alloc((size_t)count, sizeof *sample);
    for (int i = 0; i < count; i++)
        sample[i] = cycles_of(fixed, (uint64_t)i);
    wt_fixed_free(fixed);
    return sample;
}

static double uniform_cdf(double x)
{
    return x < 500 ? 0 : x > 1500 ? 1 : (x - 500) / 1000;
}

static double shifted_normal_cdf(double x)
{
    return normal_cdf((x - 5000) / 400);
}

static double lognormal_cdf(double x)
{
    return normal_cdf((log(x / 10000) + 0.5 * 0.8 * 0.8) / 0.8);
}

static double exponential_cdf(double x)
{
    return x < 300 ? 0 : -expm1(-(x - 300) / 2000);
}

static double pareto_cdf(double x)
{
    return x < 1000 ? 0 : 1 - pow(1000 / x, 2.5);
}

/* Mean and variance in closed form. */
static const struct fit {
    const char *name, *parameters;
    double mean, variance;
    double (*cdf)(double); /* NULL: not continuous */
} fits[] = {
    {"uniform", "low = 500; high = 1500;", 1000, 1000.0 * 1000 / 12, uniform_cdf},
    {"normal", "mean = 5000; deviation = 400;", 5000, 400 * 400, shifted_normal_cdf},
    /* mean^2 (exp(sigma^2) - 1) */
    {"lognormal", "mean = 10000; sigma = 0.8;", 10000, 1e8 * 0.8964808793049515, lognormal_cdf},
    {"exponential", "mean = 2300; least = 300;", 2300, 2000.0 * 2000, exponential_cdf},
    /* scale alpha / (alpha - 1); scale^2 alpha / ((alpha - 1)^2 (alpha - 2)) */
    {"pareto", "scale = 1000; alpha = 2.5;", 2500.0 / 1.5, 2.5e6 / (1.5 * 1.5 * 0.5), pareto_cdf},
    {"bimodal", "usual = 1000; other = 9000; share = 0.25;", 3000, 0.25 * 0.75 * 8000 * 8000, NULL},
};

enum { FITS = sizeof fits / sizeof *fits };

/* The mean within 5 standard errors (for pareto, whose tail is heavy, that is generous); the shape by Kolmogorov and
 * Smirnov. */
START_TEST(distribution_has_its_mean_and_shape)
{
    const struct fit *fit = &fits[_i];
    struct chosen c = choose(fit->name, fit->parameters);
    struct wt_fixed_setup setup = setup_of(&c, DRAWS);
    double *sample = sample_of(&setup, DRAWS);
    double sum = 0;
    for (int i = 0; i < DRAWS; i++)
        sum += sample[i];
    ck_assert_msg(fabs(sum / DRAWS - fit->mean) < 5 * sqrt(fit->variance / DRAWS), "%s: mean %g, expected %g",
                  fit->name, sum / DRAWS, fit->mean);
    if (fit->cdf)
        ck_assert_msg(ks_statistic(sample, DRAWS, fit->cdf) < 2.2, "%s", fit->name);
    free(sample);
    let_go(&c);
}
END_TEST

START_TEST(mean_is_what_remains_without_randomness)
{
    const struct fit *fit = &fits[_i];
    struct chosen c = choose(fit->name, fit->parameters);
    struct wt_fixed_setup setup = setup_of(&c, 1000);
    setup.mean_only = true;
    struct wt_fixed *fixed = make(&setup);
    for (uint64_t block = 0; block < 1000; block += 37)
        ck_assert_double_eq_tol(cycles_of(fixed, block), fit->mean, 0.5 / 1024);
    wt_fixed_free(fixed);
    let_go(&c);
}
END_TEST

/* E[min(X, cap)] in closed form, against the capped draws and against the mean given without randomness. */
START_TEST(capped_pareto_has_a_mean_at_any_alpha)
{
    static const struct {
        const char *parameters;
        double mean, sigma;
    } cases[] = {
        {"scale = 1000; alpha = 1; cap = 100000;", 1000 * (1 + 4.605170185988092), 100000},
        {"scale = 1000; alpha = 0.5; cap = 100000;", 1000 + 2 * 31.622776601683793 * (316.22776601683796 - 31.622776601683793), 100000},
    };
    for (size_t i = 0; i < 2; i++) {
        struct chosen c = choose("pareto", cases[i].parameters);
        struct wt_fixed_setup setup = setup_of(&c, DRAWS);
        double *sample = sample_of(&setup, DRAWS);
        double sum = 0, most = 0;
        for (int k = 0; k < DRAWS; k++) {
            sum += sample[k];
            most = fmax(most, sample[k]);
        }
        ck_assert_double_eq(most, 100000);
        ck_assert_double_eq_tol(sum / DRAWS, cases[i].mean, 2.5 * cases[i].sigma / sqrt(DRAWS)); /* sigma <= half the range */
        setup.mean_only = true;
        struct wt_fixed *fixed = make(&setup);
        ck_assert_double_eq_tol(cycles_of(fixed, 0), cases[i].mean, 0.5 / 1024);
        free(sample);
        wt_fixed_free(fixed);
        let_go(&c);
    }
}
END_TEST

START_TEST(bimodal_takes_two_values_in_their_share)
{
    struct chosen c = choose("bimodal", "usual = 1000; other = 9000; share = 0.25;");
    struct wt_fixed_setup setup = setup_of(&c, DRAWS);
    double *sample = sample_of(&setup, DRAWS);
    int others = 0;
    for (int i = 0; i < DRAWS; i++) {
        ck_assert(sample[i] == 1000 || sample[i] == 9000);
        others += sample[i] == 9000;
    }
    assert_share("others", others, DRAWS, 0.25);
    free(sample);
    let_go(&c);
}
END_TEST

/* ---- Durations by rule ---- */

START_TEST(constant_ramp_and_outlier_are_exact)
{
    struct chosen constant = choose("constant", "cycles = 1234.5;"), ramp = choose("ramp", "first = 1000; last = 3000;"),
                  outlier = choose("outlier", "usual = 1000; outlier = 10000; block = 700;");
    struct wt_fixed_setup setups[] = {setup_of(&constant, 1001), setup_of(&ramp, 1001), setup_of(&outlier, 1001)};
    double *samples[3];
    for (int i = 0; i < 3; i++) {
        setups[i].mean_only = i % 2; /* nothing here is random: no difference */
        samples[i] = sample_of(&setups[i], 1001);
    }
    for (int block = 0; block <= 1000; block++) {
        ck_assert_double_eq(samples[0][block], 1234.5);
        ck_assert_double_eq(samples[1][block], 1000 + 2 * block);
        ck_assert_double_eq(samples[2][block], block == 700 ? 10000 : 1000);
    }
    for (int i = 0; i < 3; i++)
        free(samples[i]);
    let_go(&constant);
    let_go(&ramp);
    let_go(&outlier);
}
END_TEST

START_TEST(ramp_of_one_block_is_its_first_value)
{
    struct chosen c = choose("ramp", "first = 1000; last = 3000;");
    struct wt_fixed_setup setup = setup_of(&c, 1);
    struct wt_fixed *fixed = make(&setup);
    ck_assert_double_eq(cycles_of(fixed, 0), 1000);
    wt_fixed_free(fixed);
    let_go(&c);
}
END_TEST

/* The list's length does not divide the batch in which durations are made. */
START_TEST(list_is_by_index_and_may_cycle)
{
    struct chosen whole = choose("list", "cycles = [10, 20.5, 30];");
    struct chosen cycled = choose("list", "cycles = [10, 20.5, 30]; cycle = true;");
    static const double expected[] = {10, 20.5, 30};
    struct wt_fixed_setup exact = setup_of(&whole, 3), longer = setup_of(&cycled, 1000);
    double *three = sample_of(&exact, 3), *thousand = sample_of(&longer, 1000);
    for (int i = 0; i < 1000; i++)
        ck_assert_double_eq(thousand[i], expected[i % 3]);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(three[i], expected[i]);
    free(three);
    free(thousand);
    let_go(&whole);
    let_go(&cycled);
}
END_TEST

START_TEST(durations_stay_within_bounds)
{
    struct chosen low = choose("list", "cycles = [0, 0.4];");
    struct chosen high = choose("pareto", "scale = 1e11; alpha = 0.1;");
    struct wt_fixed_setup setups[] = {setup_of(&low, 2), setup_of(&high, 1000)};
    double *small = sample_of(&setups[0], 2), *large = sample_of(&setups[1], 1000);
    ck_assert_double_eq(small[0], 1);
    ck_assert_double_eq(small[1], 1);
    for (int i = 0; i < 1000; i++)
        ck_assert(large[i] >= 1e11 && large[i] <= WT_FIXED_MOST);
    free(small);
    free(large);
    let_go(&low);
    let_go(&high);
}
END_TEST

/* ---- Reproducibility ---- */

/* The same block has the same duration in whatever order blocks are asked for, in every distribution. */
START_TEST(duration_depends_on_the_block_alone)
{
    struct chosen c = choose(fits[_i].name, fits[_i].parameters);
    struct wt_fixed_setup setup = setup_of(&c, 5000);
    double *sample = sample_of(&setup, 5000);
    struct wt_fixed *fixed = make(&setup);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t block = i * 2887 % 5000; /* a permutation that jumps */
        ck_assert_double_eq(cycles_of(fixed, block), sample[block]);
    }
    wt_fixed_free(fixed);
    free(sample);
    let_go(&c);
}
END_TEST

/* Equal durations of two samples that should have nothing in common: a lognormal draw has some 2^23 values here. */
static int coincidences(const struct wt_fixed_setup *a, const struct wt_fixed_setup *b)
{
    double *x = sample_of(a, 10000), *y = sample_of(b, 10000);
    int equal = 0;
    for (int i = 0; i < 10000; i++)
        equal += x[i] == y[i];
    free(x);
    free(y);
    return equal;
}

START_TEST(seeds_and_kernels_have_durations_of_their_own)
{
    struct chosen c = choose("lognormal", "mean = 10000; sigma = 0.8;");
    struct wt_fixed_setup base = setup_of(&c, 10000), kernel = base, seed = base, longer = base;
    kernel.kernel = 1;
    seed.seed = 2;
    longer.grid_blocks = 20000;
    ck_assert_int_eq(coincidences(&base, &base), 10000);
    ck_assert_int_eq(coincidences(&base, &longer), 10000);
    ck_assert_int_le(coincidences(&base, &kernel), 5);
    ck_assert_int_le(coincidences(&base, &seed), 5);
    let_go(&c);
}
END_TEST

/* Neighbouring batches come from stretches of one stream that must not repeat each other. */
START_TEST(batches_do_not_resemble_each_other)
{
    struct chosen c = choose("uniform", "low = 1000; high = 2000;");
    struct wt_fixed_setup setup = setup_of(&c, DRAWS);
    double *sample = sample_of(&setup, DRAWS);
    for (int lag = 1; lag <= 4 * WT_FIXED_BATCH; lag++) {
        double sum = 0;
        for (int i = 0; i + lag < DRAWS; i++)
            sum += (sample[i] - 1500) * (sample[i + lag] - 1500);
        double correlation = sum / DRAWS / (1000.0 * 1000 / 12);
        ck_assert_msg(fabs(correlation) < 5 / sqrt(DRAWS), "lag %d: %g", lag, correlation);
    }
    free(sample);
    let_go(&c);
}
END_TEST

/* ---- Refusals ---- */

static void assert_refused(const char *name, const char *parameters, uint64_t grid_blocks, bool mean_only,
                           const char *message)
{
    struct chosen c = choose(name, parameters);
    struct wt_fixed_setup setup = setup_of(&c, grid_blocks);
    setup.mean_only = mean_only;
    struct wt_fixed *fixed = NULL;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_fixed_new(&setup, &fixed, &err), WT_BAD_INPUT);
    ck_assert_ptr_null(fixed);
    ck_assert_msg(strstr(err.text, message) != NULL, "%s", err.text);
    let_go(&c);
}

START_TEST(impossible_parameters_are_refused)
{
    assert_refused("uniform", "low = 5; high = 4;", 10, false, "low = 5 is above high = 4");
    assert_refused("exponential", "mean = 5; least = 6;", 10, false, "least = 6 is above mean = 5");
    assert_refused("pareto", "scale = 5; alpha = 1; cap = 4;", 10, false, "cap = 4 is below scale = 5");
    assert_refused("pareto", "scale = 5; alpha = 1;", 10, true, "has no mean");
    assert_refused("outlier", "usual = 5; outlier = 50; block = 10;", 10, false, "outside the grid of 10 blocks");
    assert_refused("list", "cycles = [1, 2];", 3, false, "2 durations for a grid of 3 blocks");
    assert_refused("list", "cycles = []; cycle = true;", 3, false, "empty");
}
END_TEST

Suite *cost_suite(void)
{
    Suite *suite = suite_create("cost");
    TCase *tcase = tcase_create("cost");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, exp_is_within_two_units_in_the_last_place);
    tcase_add_test(tcase, ln_is_within_four_units_in_the_last_place);
    tcase_add_test(tcase, advance_is_that_many_steps);
    tcase_add_test(tcase, draws_follow_normal_and_exponential);
    tcase_add_test(tcase, tails_hold_their_share);
    tcase_add_loop_test(tcase, distribution_has_its_mean_and_shape, 0, FITS);
    tcase_add_loop_test(tcase, mean_is_what_remains_without_randomness, 0, FITS);
    tcase_add_test(tcase, capped_pareto_has_a_mean_at_any_alpha);
    tcase_add_test(tcase, bimodal_takes_two_values_in_their_share);
    tcase_add_test(tcase, constant_ramp_and_outlier_are_exact);
    tcase_add_test(tcase, ramp_of_one_block_is_its_first_value);
    tcase_add_test(tcase, list_is_by_index_and_may_cycle);
    tcase_add_test(tcase, durations_stay_within_bounds);
    tcase_add_loop_test(tcase, duration_depends_on_the_block_alone, 0, FITS);
    tcase_add_test(tcase, seeds_and_kernels_have_durations_of_their_own);
    tcase_add_test(tcase, batches_do_not_resemble_each_other);
    tcase_add_test(tcase, impossible_parameters_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
