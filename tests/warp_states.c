/* Do the warp states of single cycles add up to the counters, which the warp level keeps in another way?
 *
 * Sampled in every cycle, each state's samples are its warp cycles: scheduler by scheduler a warp is in one state a cycle. Not
 * pinned: which slot a warp is in. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "observe/warp_states.h"
#include "suites.h"
#include "warp/text.h"
#include "warp_part.h"

static const struct {
    const char *text;
    int threads;
    uint64_t blocks;
} cases[] = {
    {"loop 30 { repeat 4 { ffma r1, r1, r1 }\n bar }\nexit\n", 256, 40},
    {"loop 10 { ldg r1, [r8] l1=0.5 l2=0.5\n imad r2, r1, r1\n mufu r3, r2\n"
     " sts [r9], r3\n lds r4, [r9]\n iadd3 r8, r4 }\nexit\n", 128, 60},
    {"loop 20 { repeat 6 { imad r1, r2, r2 }\n repeat 6 { dfma r4, r4, r4 } }\nexit\n", 512, 9},
};
enum { CASES = sizeof cases / sizeof *cases };

static wt_time count_all(void *context, int sm, wt_time at, const struct wt_warp_sample *slots, int count)
{
    uint64_t(*sums)[WT_STALL_COUNT] = context;
    for (int i = 0; i < count; i++)
        if (slots[i].state < WT_STALL_COUNT)
            sums[sm][slots[i].state]++;
    return at + WT_CYCLE;
}

START_TEST(every_cycle_sampled_is_what_the_counters_hold)
{
    static uint64_t sums[WT_MAX_SMS][WT_STALL_COUNT];
    memset(sums, 0, sizeof sums);
    struct wt_warp_observer observer = {.context = sums, .sample = count_all};
    struct warp_part_run run = {.gpu = part_of_h200(), .program = parsed_program(cases[_i].text), .threads = cases[_i].threads,
                                .blocks = cases[_i].blocks, .observer = &observer};
    simulate_part(&run);
    for (int state = 0; state < WT_STALL_COUNT; state++) {
        uint64_t sampled = 0;
        for (int sm = 0; sm < run.gpu->topology.sm_count; sm++)
            sampled += sums[sm][state];
        ck_assert_msg(sampled == run.result.total.warp_cycles[state], "%s: %llu samples, %llu warp cycles",
                      wt_stall_name((enum wt_stall_reason)state), (unsigned long long)sampled,
                      (unsigned long long)run.result.total.warp_cycles[state]);
    }
    wt_program_free(run.program);
    wt_gpu_free(run.gpu);
}
END_TEST

/* Within little memory samples become rare, but each is still of the cycle it says. */
START_TEST(rarer_samples_are_among_the_frequent_ones)
{
    struct wt_gpu *gpu = part_of_h200();
    struct wt_warp_states *all = wt_warp_states_new(gpu, (size_t)256 << 20), *few = wt_warp_states_new(gpu, 1);
    struct wt_warp_states *both[] = {all, few};
    for (int i = 0; i < 2; i++) {
        struct wt_warp_observer observer = wt_warp_states_observer(both[i]);
        struct warp_part_run run = {.gpu = gpu, .program = parsed_program(cases[0].text), .threads = cases[0].threads,
                                    .blocks = cases[0].blocks, .observer = &observer};
        simulate_part(&run);
        wt_program_free(run.program);
    }
    wt_time every, at, each, finest;
    size_t bytes = (size_t)wt_warp_states_slots(few) * sizeof(struct wt_warp_sample);
    for (wt_time t = 0; t < 3000 * WT_CYCLE; t += 100 * WT_CYCLE) {
        const struct wt_warp_sample *rare = wt_warp_states_at(few, 0, t, &at, &every);
        const struct wt_warp_sample *same = wt_warp_states_at(all, 0, at, &each, &finest);
        ck_assert_uint_eq(finest, WT_CYCLE);
        ck_assert_uint_gt(every, WT_CYCLE);
        ck_assert_uint_eq(at, each);
        ck_assert_uint_le(at, t);
        ck_assert_int_eq(memcmp(rare, same, bytes), 0);
    }
    wt_warp_states_free(all);
    wt_warp_states_free(few);
    wt_gpu_free(gpu);
}
END_TEST

Suite *warp_states_suite(void)
{
    Suite *suite = suite_create("warp-states");
    TCase *tcase = tcase_create("warp-states");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, every_cycle_sampled_is_what_the_counters_hold, 0, CASES);
    tcase_add_test(tcase, rarer_samples_are_among_the_frequent_ones);
    suite_add_tcase(suite, tcase);
    return suite;
}
