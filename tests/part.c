/* Is it seen that another part of a GPU captured a trace, whose GPCs lie at other distances from the distributor? */
#include <math.h>

#include "study/part.h"
#include "replayed.h"
#include "simulated.h"
#include "suites.h"

/* Clock domains as the config has GPCs, but in the opposite order, with SM 126's TPC in the domain of SM 8. */
static struct wt_clocks domains(const struct wt_gpu *gpu, bool as_the_config, int16_t *domain_of_sm)
{
    for (int sm = 0; sm < gpu->topology.sm_count; sm++)
        domain_of_sm[sm] = (int16_t)(gpu->topology.gpc_count - 1 - gpu->topology.gpc_of_sm[!as_the_config && sm / 2 == 63 ? 8 : sm]);
    return (struct wt_clocks){.sm_count = gpu->topology.sm_count, .domain_count = gpu->topology.gpc_count, .domain_of_sm = domain_of_sm};
}

/* Each SM's first start, by GPC so much later than the config has it, the SMs of a GPC up to `apart` cycles unlike each other. */
static size_t late_starts(const struct wt_gpu *gpu, const double *late, double apart, struct wt_first_start *starts)
{
    for (int sm = 0; sm < gpu->topology.sm_count; sm++)
        starts[sm] = (struct wt_first_start){100 + sm + late[gpu->topology.gpc_of_sm[sm]] + sm % 3 * apart / 2, 100 + sm, (uint16_t)sm};
    return (size_t)gpu->topology.sm_count;
}

static double least_of(const struct wt_numbers *offsets)
{
    double least = INFINITY;
    for (int i = 0; i < offsets->count; i++)
        least = fmin(least, offsets->values[i]);
    return least;
}

/* GPC g comes 10 x g cycles late: of launches and reports alike, and the nearest TPC is as near as any. */
START_TEST(gpcs_are_moved_as_far_as_they_are_late)
{
    const double late[8] = {0, 10, 20, 30, 40, 50, 60, 70};
    struct wt_gpu *gpu = gpu_named("h200"), *config = gpu_named("h200");
    struct wt_first_start starts[132];
    int16_t domain_of_sm[132];
    struct wt_clocks clocks = domains(gpu, true, domain_of_sm);
    ck_assert_double_eq(wt_part_adopt(gpu, &clocks, starts, late_starts(gpu, late, 4, starts)), 70);
    const struct wt_numbers *now[] = {&gpu->rates.launch_offset_cycles, &gpu->rates.report_offset_cycles};
    const struct wt_numbers *then[] = {&config->rates.launch_offset_cycles, &config->rates.report_offset_cycles};
    for (int way = 0; way < 2; way++) {
        double first = now[way]->values[0] - then[way]->values[0];
        ck_assert_double_eq(least_of(now[way]), 0);
        for (int sm = 0; sm < 132; sm += 2)
            ck_assert_double_eq_tol(now[way]->values[sm / 2] - then[way]->values[sm / 2] - first,
                                    late[gpu->topology.gpc_of_sm[sm]] - late[gpu->topology.gpc_of_sm[0]], 1e-9);
    }
    wt_gpu_free(gpu);
    wt_gpu_free(config);
}
END_TEST

/* A TPC that lies in another GPC is as far as its own starts tell, here as it was; GPCs keep the config's numbers. */
START_TEST(gpcs_are_the_clock_domains)
{
    const double late[8] = {0};
    struct wt_gpu *gpu = gpu_named("h200"), *config = gpu_named("h200");
    struct wt_first_start starts[132];
    int16_t domain_of_sm[132];
    struct wt_clocks clocks = domains(gpu, false, domain_of_sm);
    wt_part_adopt(gpu, &clocks, starts, late_starts(gpu, late, 0, starts));
    for (int sm = 0; sm < 132; sm++)
        ck_assert_int_eq(gpu->topology.gpc_of_sm[sm], config->topology.gpc_of_sm[sm / 2 == 63 ? 8 : sm]);
    for (int i = 0; i < 66; i++)
        ck_assert_double_eq(gpu->rates.launch_offset_cycles.values[i], config->rates.launch_offset_cycles.values[i]);
    wt_gpu_free(gpu);
    wt_gpu_free(config);
}
END_TEST

static void check_left_alone(const double *late, double apart, size_t missing)
{
    struct wt_gpu *gpu = gpu_named("h200");
    double before = gpu->rates.launch_offset_cycles.values[1];
    struct wt_first_start starts[132];
    int16_t domain_of_sm[132];
    struct wt_clocks clocks = domains(gpu, true, domain_of_sm);
    ck_assert_double_eq(wt_part_adopt(gpu, &clocks, starts + missing, late_starts(gpu, late, apart, starts) - missing), 0);
    ck_assert_double_eq(gpu->rates.launch_offset_cycles.values[1], before);
    wt_gpu_free(gpu);
}

/* 28 cycles may be alignment; SMs of a GPC up to 40 apart are something else; and without SMs 0 to 119 most GPCs do not tell. */
START_TEST(what_tells_nothing_of_the_part_leaves_the_config)
{
    check_left_alone((double[8]){0, 4, 8, 12, 16, 20, 24, 28}, 0, 0);
    check_left_alone((double[8]){0, 10, 20, 30, 40, 50, 60, 70}, 40, 0);
    check_left_alone((double[8]){0, 10, 20, 30, 40, 50, 60, 70}, 0, 120);
}
END_TEST

/* Captured on a part where SMs 126 to 129 belong to other GPCs than on the config's, whose GPCs 1 to 3 come 70 cycles sooner than those of
 * 0, 5 and 6; on the config's they come 30 later. Else starts would be 31 to 34 cycles off, makespans of empty blocks 1 to 4 %. */
static const struct {
    const char *trace;
    double starts;
} on_another[] = {{"part/empty_b256_g183.r0", 5}, {"part/empty_b256_g526.r0", 5}, {"part/empty_b128_g527.r0", 5},
                  {"part/empty_b64_g478.r0", 5}, {"part/spin350_b256.r0", 12}};

static void check_replay(const char *trace, bool other, double makespan, double starts)
{
    struct wt_replay *replay = replayed(trace);
    ck_assert_msg(other ? fabs(replay->part_cycles - 75) < 15 : replay->part_cycles == 0, "%s: %g", trace, replay->part_cycles);
    ck_assert_double_le(fabs(replay->whole.makespan_error), makespan);
    ck_assert_double_le(replay->whole.start_error_p50, starts);
    const uint16_t *gpc = replay->predicted->gpc_of_sm;
    ck_assert(gpc[124] == gpc[0] && gpc[126] == gpc[other ? 8 : 0] && gpc[128] == gpc[other ? 10 : 0] && gpc[130] == gpc[0]);
    wt_replay_free(replay);
}

START_TEST(replays_are_of_the_part_that_was_measured)
{
    check_replay(on_another[_i].trace, true, 0.03, on_another[_i].starts);
}
END_TEST

START_TEST(the_configs_own_part_keeps_its_distances)
{
    check_replay("fit/empty_g264.r0", false, 0.06, 15);
    check_replay("test/long/lognormal_b256.r0", false, 0.002, 15);
    check_replay("empty_g1056.r0", false, 0.03, 10);
}
END_TEST

Suite *part_suite(void)
{
    Suite *suite = suite_create("part");
    TCase *tcase = tcase_create("part");
    tcase_add_test(tcase, gpcs_are_moved_as_far_as_they_are_late);
    tcase_add_test(tcase, gpcs_are_the_clock_domains);
    tcase_add_test(tcase, what_tells_nothing_of_the_part_leaves_the_config);
    tcase_add_loop_test(tcase, replays_are_of_the_part_that_was_measured, 0, sizeof on_another / sizeof *on_another);
    tcase_add_test(tcase, the_configs_own_part_keeps_its_distances);
    suite_add_tcase(suite, tcase);
    return suite;
}
