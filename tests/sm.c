/* What can an SM hold? Rules one by one. Random histories are in sm_random.c, the hardware's in
 * sm_measured.c. */
#include "sm_limits.h"
#include "sm/occupancy.h"
#include "sm/sm.h"
#include "suites.h"

static struct wt_shape shape_of(const struct wt_limits *limits, int threads, int registers, int shared,
                                int carveout_kb, int barriers)
{
    struct wt_launch_needs needs = {.threads = threads,
                                    .registers_per_thread = registers,
                                    .dynamic_shared_bytes = shared,
                                    .carveout_kb = carveout_kb,
                                    .barriers = barriers};
    struct wt_shape shape;
    struct wt_error err = {0};
    ck_assert_msg(wt_shape_make(limits, &needs, &shape, &err) == WT_OK, "%s", err.text);
    return shape;
}

static struct wt_refusal refusal_of(const struct wt_sm *sm, const struct wt_shape *shape)
{
    struct wt_refusal refusal = {0};
    ck_assert(wt_sm_refusal(sm, shape, &refusal));
    return refusal;
}

/* Admits `count` blocks and expects all to fit; their slots are 0, 1, … on an empty SM. */
static void fill(struct wt_sm *sm, const struct wt_shape *shape, int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_int_ge(wt_sm_admit(sm, shape), 0);
}

START_TEST(shape_counts_in_allocation_units)
{
    struct wt_shape shape = shape_of(&limits_cc90, 100, 33, 5000, WT_CARVEOUT_DEFAULT, 2);
    ck_assert_int_eq(shape.warps, 4);
    ck_assert_int_eq(shape.register_units_per_warp, 5); /* 33 * 32 = 1056 */
    ck_assert_int_eq(shape.shared_bytes, 6144);         /* 5000 + 1024 = 6024 */
    shape = shape_of(&limits_cc60, 100, 33, 5000, WT_CARVEOUT_DEFAULT, 0);
    ck_assert_int_eq(shape.shared_bytes, 5120);
}
END_TEST

START_TEST(each_slot_is_the_lowest_free_one)
{
    struct wt_sm *sm = wt_sm_new(&limits_cc90);
    struct wt_shape shape = shape_of(&limits_cc90, 32, 16, 0, WT_CARVEOUT_DEFAULT, 0);
    for (int i = 0; i < 32; i++)
        ck_assert_int_eq(wt_sm_admit(sm, &shape), i);
    struct wt_refusal refusal = refusal_of(sm, &shape);
    ck_assert_int_eq(refusal.resource, WT_RES_BLOCKS);
    ck_assert_int_eq(refusal.shortage, WT_SHORT_TOTAL);
    wt_sm_release(sm, 21);
    wt_sm_release(sm, 6);
    wt_sm_release(sm, 2); /* the pointer waits for the sub-core of 6, not of 2 or 21: all have warp slots */
    ck_assert_int_eq(wt_sm_admit(sm, &shape), 2);
    ck_assert_int_eq(wt_sm_admit(sm, &shape), 6);
    ck_assert_int_eq(wt_sm_admit(sm, &shape), 21);
    wt_sm_free(sm);
}
END_TEST

START_TEST(the_pointer_advances_by_warps_mod_subcores_or_one)
{
    static const int expected[9] = {-1, 1, 2, 3, 1, 1, 2, 3, 1};
    for (int warps = 1; warps <= 8; warps++) {
        struct wt_sm *sm = wt_sm_new(&limits_cc90);
        struct wt_shape shape = shape_of(&limits_cc90, 32 * warps, 16, 0, WT_CARVEOUT_DEFAULT, 0);
        fill(sm, &shape, 1);
        ck_assert_int_eq(wt_sm_subcore_pointer(sm), expected[warps]);
        fill(sm, &shape, 1);
        ck_assert_int_eq(wt_sm_subcore_pointer(sm), 2 * expected[warps] % 4);
        wt_sm_free(sm);
    }
}
END_TEST

START_TEST(a_one_warp_block_waits_for_its_subcore)
{
    struct wt_sm *sm = wt_sm_new(&limits_cc90);
    struct wt_shape shape = shape_of(&limits_cc90, 32, 255, 0, WT_CARVEOUT_DEFAULT, 0);
    fill(sm, &shape, 8); /* two warps of 8,192 registers in each sub-core */
    wt_sm_release(sm, 1);
    struct wt_refusal refusal = refusal_of(sm, &shape);
    ck_assert_int_eq(refusal.resource, WT_RES_REGISTERS);
    ck_assert_int_eq(refusal.shortage, WT_SHORT_SUBCORE);
    ck_assert_int_eq(refusal.subcore, 0);
    ck_assert_int_eq(refusal.wanted, 8192);
    ck_assert_int_eq(refusal.available, 0);
    wt_sm_release(sm, 4);
    ck_assert_int_eq(wt_sm_admit(sm, &shape), 1);
    ck_assert_int_eq(wt_sm_free_registers(sm, 0), 0);
    ck_assert_int_eq(wt_sm_free_registers(sm, 1), 8192);
    wt_sm_free(sm);
}
END_TEST

static void expect_range(const struct wt_sm *sm, int slot, int offset, int bytes)
{
    int at = -1, size = -1;
    ck_assert(wt_sm_shared_range(sm, slot, &at, &size));
    ck_assert_int_eq(at, offset);
    ck_assert_int_eq(size, bytes);
}

START_TEST(shared_memory_is_first_fit_and_never_moved)
{
    struct wt_sm *sm = wt_sm_new(&limits_cc90);
    struct wt_shape small = shape_of(&limits_cc90, 64, 16, 20 * 1024 - 1024, 100, 0);
    struct wt_shape large = shape_of(&limits_cc90, 64, 16, 40 * 1024 - 1024, 100, 0);
    fill(sm, &small, 5);
    wt_sm_release(sm, 1);
    wt_sm_release(sm, 3);
    struct wt_refusal refusal = refusal_of(sm, &large);
    ck_assert_int_eq(refusal.resource, WT_RES_SHARED_MEMORY);
    ck_assert_int_eq(refusal.shortage, WT_SHORT_FRAGMENTED);
    ck_assert_int_eq(refusal.wanted, 40 * 1024);
    ck_assert_int_eq(refusal.available, 20 * 1024);
    struct wt_shared_use use = wt_sm_shared_use(sm);
    ck_assert_int_eq(use.total_bytes, 100 * 1024);
    ck_assert_int_eq(use.free_bytes, 40 * 1024);
    ck_assert_int_eq(use.largest_hole_bytes, 20 * 1024);
    ck_assert_double_eq(use.fragmentation, 0.5);
    wt_sm_release(sm, 2);
    fill(sm, &large, 1);
    expect_range(sm, 1, 20 * 1024, 40 * 1024);
    fill(sm, &small, 1);
    expect_range(sm, 2, 60 * 1024, 20 * 1024);
    wt_sm_free(sm);
}
END_TEST

/* The hole at the end and the one at the beginning are one; it is used from its beginning, though its part
 * from address 0 on would do (smpat_bot shows it). */
START_TEST(the_hole_around_the_origin_comes_first)
{
    struct wt_sm *sm = wt_sm_new(&limits_cc90);
    struct wt_shape small = shape_of(&limits_cc90, 64, 16, 20 * 1024 - 1024, 100, 0);
    struct wt_shape large = shape_of(&limits_cc90, 64, 16, 40 * 1024 - 1024, 100, 0);
    fill(sm, &small, 5);
    wt_sm_release(sm, 0);
    wt_sm_release(sm, 4);
    ck_assert_int_eq(wt_sm_shared_use(sm).largest_hole_bytes, 40 * 1024);
    fill(sm, &large, 1);
    expect_range(sm, 0, 80 * 1024, 40 * 1024);
    ck_assert_int_eq(wt_sm_shared_use(sm).free_bytes, 0);
    wt_sm_release(sm, 0);
    wt_sm_release(sm, 2);
    fill(sm, &small, 3);
    expect_range(sm, 0, 80 * 1024, 20 * 1024);
    expect_range(sm, 2, 0, 20 * 1024);
    expect_range(sm, 4, 40 * 1024, 20 * 1024);
    wt_sm_free(sm);
}
END_TEST

START_TEST(a_larger_configuration_waits_for_an_empty_sm)
{
    struct wt_sm *sm = wt_sm_new(&limits_cc90);
    struct wt_shape small = shape_of(&limits_cc90, 64, 16, 0, 8, 0);
    struct wt_shape large = shape_of(&limits_cc90, 64, 16, 0, 16, 0);
    fill(sm, &small, 1);
    ck_assert_int_eq(wt_sm_carveout_kb(sm), 8);
    struct wt_refusal refusal = refusal_of(sm, &large);
    ck_assert_int_eq(refusal.resource, WT_RES_SHARED_MEMORY);
    ck_assert_int_eq(refusal.shortage, WT_SHORT_CARVEOUT);
    ck_assert_int_eq(refusal.wanted, 16 * 1024);
    ck_assert_int_eq(refusal.available, 8 * 1024);
    ck_assert_int_eq(wt_sm_admit(sm, &large), -1);
    wt_sm_release(sm, 0);
    fill(sm, &large, 1);
    ck_assert_int_eq(wt_sm_carveout_kb(sm), 16);
    fill(sm, &small, 1);
    ck_assert_int_eq(wt_sm_carveout_kb(sm), 16);
    wt_sm_release(sm, 0);
    wt_sm_release(sm, 1);
    fill(sm, &small, 1);
    ck_assert_int_eq(wt_sm_carveout_kb(sm), 8);
    wt_sm_free(sm);
}
END_TEST

START_TEST(barriers_run_out)
{
    struct wt_sm *sm = wt_sm_new(&limits_cc90);
    struct wt_shape shape = shape_of(&limits_cc90, 32, 16, 0, WT_CARVEOUT_DEFAULT, 16);
    fill(sm, &shape, 4);
    struct wt_refusal refusal = refusal_of(sm, &shape);
    ck_assert_int_eq(refusal.resource, WT_RES_BARRIERS);
    ck_assert_int_eq(refusal.shortage, WT_SHORT_TOTAL);
    wt_sm_free(sm);
    sm = wt_sm_new(&limits_cc60); /* no such limit */
    shape = shape_of(&limits_cc60, 32, 16, 0, WT_CARVEOUT_DEFAULT, 16);
    fill(sm, &shape, 32);
    wt_sm_free(sm);
}
END_TEST

Suite *sm_suite(void)
{
    Suite *suite = suite_create("sm");
    TCase *tcase = tcase_create("rules");
    tcase_add_test(tcase, shape_counts_in_allocation_units);
    tcase_add_test(tcase, each_slot_is_the_lowest_free_one);
    tcase_add_test(tcase, the_pointer_advances_by_warps_mod_subcores_or_one);
    tcase_add_test(tcase, a_one_warp_block_waits_for_its_subcore);
    tcase_add_test(tcase, shared_memory_is_first_fit_and_never_moved);
    tcase_add_test(tcase, the_hole_around_the_origin_comes_first);
    tcase_add_test(tcase, a_larger_configuration_waits_for_an_empty_sm);
    tcase_add_test(tcase, barriers_run_out);
    suite_add_tcase(suite, tcase);
    return suite;
}
