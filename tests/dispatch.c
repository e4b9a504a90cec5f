/* When does each block start? Every timing rule of dispatch/simulate.h on GPUs made up so that only that rule takes
 * time; the expected starts are worked out by hand. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "simulated.h"
#include "suites.h"

/* SMs that share nothing: each a TPC, a group and a GPC of its own. */
#define ALONE "sm_count = 1; sms_per_tpc = 1; groups = ([0]);"
#define TWO_APART "sm_count = 2; sms_per_tpc = 1; groups = ([0], [1]);"
#define FOUR_APART "sm_count = 4; sms_per_tpc = 1; groups = ([0], [1], [2], [3]);"
/* One GPC, served in one visit or in several. */
#define TWO_AT_ONCE "sm_count = 2; sms_per_tpc = 1; groups = ([0, 1]);"
#define FOUR_AT_ONCE "sm_count = 4; sms_per_tpc = 1; groups = ([0, 1, 2, 3]);"
/* The two SMs of a TPC. */
#define PAIR "sm_count = 2; sms_per_tpc = 2; groups = ([0, 1]);"

/* The starts of all blocks of one grid. */
static void check(int slots, const char *topology, const char *rates, struct grid grid, const double *starts)
{
    struct wt_gpu *gpu = gpu_of(slots, topology, rates);
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    assert_starts(runs, grid.blocks, starts);
    free(runs);
    wt_gpu_free(gpu);
}

#define CHECK(slots, topology, rates, grid, ...) check(slots, topology, rates, grid, (double[]){__VA_ARGS__})
#define GRID(n, ...) (struct grid){.blocks = n, .cycles = {__VA_ARGS__}}

/* ---- Handing out ---- */

/* One visit each 10 cycles; all SMs of a visit start together. */
START_TEST(visits_follow_each_other)
{
    CHECK(2, FOUR_APART, "visit_cycles = 10;", GRID(8, 9000), 0, 10, 20, 30, 40, 50, 60, 70);
    CHECK(2, "sm_count = 4; sms_per_tpc = 1; groups = ([0, 1], [2, 3]);", "visit_cycles = 10;", GRID(8, 9000), 0, 0,
          10, 10, 20, 20, 30, 30);
}
END_TEST

/* Of six blocks two are left after the round of four: the next visit, due at 40, comes 7 cycles later for each. */
START_TEST(an_incomplete_round_is_shared_out_first)
{
    CHECK(2, FOUR_APART, "visit_cycles = 10; share_cycles = 7;", GRID(6, 9000), 0, 10, 20, 30, 54, 64);
    CHECK(2, FOUR_APART, "visit_cycles = 10; share_cycles = 7;", GRID(8, 9000), 0, 10, 20, 30, 40, 50, 60, 70);
    CHECK(2, FOUR_APART, "visit_cycles = 10; share_cycles = 7;", GRID(3, 9000), 0, 10, 20);
}
END_TEST

/* Both blocks of SM 0 end at once, so that it has room for two: rounds at 1300 and 1320. Both of SM 1 end during the first round, and it
 * takes part in both; after the second, and it waits until 1390 for a series of its own; one then and one later, which is no series. */
START_TEST(room_for_several_blocks_is_filled_in_rounds)
{
    const char *rates = "release_cycles = 300; round_cycles = 20; rounds_gap_cycles = 50;";
    CHECK(2, TWO_APART, rates, GRID(8, 1000, 1005, 1000, 1005, 9000), 0, 0, 0, 0, 1300, 1305, 1320, 1320);
    CHECK(2, TWO_APART, rates, GRID(8, 1000, 1045, 1000, 1045, 9000), 0, 0, 0, 0, 1300, 1320, 1390, 1410);
    CHECK(2, TWO_APART, rates, GRID(8, 1000, 1045, 1000, 1200, 9000), 0, 0, 0, 0, 1300, 1320, 1390, 1500);
    CHECK(2, TWO_APART, rates, GRID(6, 1000, 1003, 1008, 9000), 0, 0, 0, 0, 1300, 1303);
}
END_TEST

/* Visits come to the one SM at 0, 30, 60, whatever becomes of the block before. */
START_TEST(an_sm_starts_one_block_in_launch_cycles)
{
    CHECK(3, ALONE, "visit_cycles = 30; launch_cycles = 29;", GRID(3, 9000), 0, 30, 60);
    CHECK(3, ALONE, "visit_cycles = 30; launch_cycles = 30;", GRID(3, 9000), 0, 30, 60);
    CHECK(3, ALONE, "visit_cycles = 30; launch_cycles = 31;", GRID(3, 9000), 0, 31, 62);
}
END_TEST

/* Two slots of an SM come free one after the other, their blocks having started 50 apart: refills keep the TPC's lag only. */
START_TEST(refills_do_not_keep_the_launch_interval)
{
    const char *rates = "release_cycles = 300; launch_cycles = 50; tpc_lag_cycles = 30;";
    CHECK(2, ALONE, rates, GRID(4, 1000, 950 + 29, 9000), 0, 50, 1300, 1330);
    CHECK(2, ALONE, rates, GRID(4, 1000, 950 + 30, 9000), 0, 50, 1300, 1330);
    CHECK(2, ALONE, rates, GRID(4, 1000, 950 + 31, 9000), 0, 50, 1300, 1331);
}
END_TEST

/* The interval is looked up by the block's warps: 96 threads are 3, half way between 2 and 4. */
START_TEST(the_launch_interval_depends_on_the_warps)
{
    struct grid grid = {.blocks = 2, .cycles = {9000}, .threads = 96};
    CHECK(2, ALONE, "launch_cycles = ([1, 10], [2, 20], [4, 50]);", grid, 0, 35);
    grid.threads = 65;
    CHECK(2, ALONE, "launch_cycles = ([1, 10], [2, 20], [4, 50]);", grid, 0, 35);
    grid.threads = 64;
    CHECK(2, ALONE, "launch_cycles = ([1, 10], [2, 20], [4, 50]);", grid, 0, 20);
}
END_TEST

/* After SM 0's refill at 1300 nothing is visited until SM 1 has room, so that its refill, due 5 cycles after the next
 * visit could be made, is not late. One warp does not fill all sub-cores alike, four do. */
START_TEST(sms_without_room_are_not_visited)
{
    struct grid grid = GRID(4, 1000, 1005, 9000);
    CHECK(1, TWO_APART, "visit_cycles = 10; release_cycles = 300;", grid, 0, 10, 1300, 1315);
    grid.threads = 128;
    CHECK(1, TWO_APART, "visit_cycles = 10; release_cycles = 300;", grid, 0, 10, 1300, 1315);
}
END_TEST

/* One visit gives both SMs a block; the next visit is `visit_cycles` later. SM 0 then waits for its own interval of
 * 24 or for SM 1's block plus the lag: 7 + 7 = 14. */
START_TEST(the_tpcs_other_sm_lags)
{
    CHECK(1, PAIR, "tpc_lag_cycles = 7;", GRID(2, 9000), 0, 7);
    CHECK(2, PAIR, "visit_cycles = 20; launch_cycles = 24; tpc_lag_cycles = 7;", GRID(4, 9000), 0, 7, 24, 31);
    CHECK(2, PAIR, "visit_cycles = 13; tpc_lag_cycles = 7;", GRID(4, 9000), 0, 7, 14, 21);
    CHECK(2, PAIR, "visit_cycles = 14; tpc_lag_cycles = 7;", GRID(4, 9000), 0, 7, 14, 21);
    CHECK(2, PAIR, "visit_cycles = 15; tpc_lag_cycles = 7;", GRID(4, 9000), 0, 7, 15, 22);
}
END_TEST

/* Refills lag whichever SM comes first: SM 0's block ends at 1007, SM 1's, which began at 7, `later`. */
START_TEST(refills_lag_too)
{
    const char *rates = "release_cycles = 300; tpc_lag_cycles = 7;";
    CHECK(1, PAIR, rates, GRID(4, 1007, 1000 + 0, 9000), 0, 7, 1307, 1314);
    CHECK(1, PAIR, rates, GRID(4, 1007, 1000 + 6, 9000), 0, 7, 1307, 1314);
    CHECK(1, PAIR, rates, GRID(4, 1007, 1000 + 7, 9000), 0, 7, 1307, 1314);
    CHECK(1, PAIR, rates, GRID(4, 1007, 1000 + 8, 9000), 0, 7, 1307, 1315);
    CHECK(1, PAIR, rates, GRID(4, 1007 + 6, 1000, 9000), 0, 7, 1307, 1314);
    CHECK(1, PAIR, rates, GRID(4, 1007 + 8, 1000, 9000), 0, 7, 1307, 1315);
}
END_TEST

/* Block 0 leaves at 0 for a TPC 30 cycles further away, block 1 at 10 for a near one: it starts first, at time 0. */
START_TEST(distant_tpcs_start_later)
{
    CHECK(1, TWO_APART, "visit_cycles = 10; launch_offset_cycles = [30, 0];", GRID(2, 9000), 20, 0);
    CHECK(1, TWO_APART, "visit_cycles = 30; launch_offset_cycles = [30, 0];", GRID(2, 9000), 0, 0);
}
END_TEST

/* ---- Replacing ---- */

/* The replacement starts release_cycles after the end, of which the launch latency is a part. */
START_TEST(a_slot_is_refilled_after_the_release_latency)
{
    CHECK(1, ALONE, "release_cycles = 300;", GRID(3, 1000, 500), 0, 1300, 2100);
    CHECK(1, ALONE, "release_cycles = 300; launch_latency_cycles = 1;", GRID(3, 1000, 500), 0, 1300, 2100);
    CHECK(1, ALONE, "release_cycles = 300; launch_latency_cycles = 300;", GRID(3, 1000, 500), 0, 1300, 2100);
}
END_TEST

/* Both ways add up. */
START_TEST(distant_tpcs_are_refilled_later)
{
    const char *rates = "release_cycles = 300; launch_latency_cycles = 100;"
                        "launch_offset_cycles = [0, 5]; report_offset_cycles = [0, 40];";
    CHECK(1, TWO_APART, rates, GRID(4, 1000), 0, 5, 1300, 1005 + 345);
}
END_TEST

/* The freed slot gets the next block: ends at 50 (SM 1), 60 (SM 3), 70 (SM 2), 100 (SM 0). */
START_TEST(a_slot_is_refilled_on_its_own_sm)
{
    struct grid grid = GRID(8, 100, 50, 70, 60, 9000);
    struct wt_gpu *gpu = gpu_of(1, FOUR_APART, "release_cycles = 300;");
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    assert_sms(runs, 8, (int[]){0, 1, 2, 3, 1, 3, 2, 0});
    assert_starts(runs, 8, (double[]){0, 0, 0, 0, 350, 360, 370, 400});
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* Everything ends at 1000, so that at 1300 all have room: visits go on where the first wave's rotation was. */
static void check_rotation(const char *topology, int slots, struct start start, struct grid grid, const int *sms)
{
    struct wt_gpu *gpu = gpu_of(slots, topology, "visit_cycles = 10; release_cycles = 300; extra_first_gap = 2;"
                                                 "extra_gap = 2;");
    struct wt_block_run *runs = simulated(gpu, &start, &grid, 1);
    assert_sms(runs, grid.blocks, sms);
    for (uint64_t i = grid.blocks / 2; i < grid.blocks; i++)
        ck_assert_uint_eq(runs[i].start, (1300 + 10 * (i - grid.blocks / 2)) * WT_CYCLE);
    free(runs);
    wt_gpu_free(gpu);
}

START_TEST(refills_go_on_in_the_rotation)
{
    struct start start = {.first_group = 2, .first_extra_sm = -1};
    check_rotation(FOUR_APART, 1, start, GRID(8, 1000, 990, 980, 970, 9000), (int[]){2, 3, 0, 1, 2, 3, 0, 1});
}
END_TEST

/* SM 3 is the extra group, due after 2 visits to others: 3 0 1 3 2 0 1 2, for the first wave and for the refills. */
START_TEST(refills_keep_the_extra_groups_cadence)
{
    check_rotation("sm_count = 4; sms_per_tpc = 1; groups = ([0], [1], [2], [3]); extra_group = 3;", 2, from_anew,
                   GRID(16, 1000, 990, 980, 970, 960, 950, 940, 930, 9000),
                   (int[]){3, 0, 1, 3, 2, 0, 1, 2, 3, 0, 1, 3, 2, 0, 1, 2});
}
END_TEST

/* A block ends when its cost says, but its slot is not free before launch_cycles + drain_cycles = 100 after its
 * start. */
START_TEST(a_slot_is_not_free_before_all_warps_are_gone)
{
    const char *rates = "release_cycles = 300; launch_cycles = 20; drain_cycles = 80;";
    CHECK(1, ALONE, rates, GRID(2, 1), 0, 400);
    CHECK(1, ALONE, rates, GRID(2, 99), 0, 400);
    CHECK(1, ALONE, rates, GRID(2, 100), 0, 400);
    CHECK(1, ALONE, rates, GRID(2, 101), 0, 401);
    struct wt_gpu *gpu = gpu_of(1, ALONE, rates);
    struct grid grid = GRID(2, 99);
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    ck_assert_uint_eq(runs[0].end, 99 * WT_CYCLE);
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* ---- Reports at the distributor ---- */

#define INPUT "release_cycles = 300; launch_latency_cycles = 100; report_cycles = 10;"

/* Four blocks end together: they are replaced 10 cycles apart, whether one GPC reports them or four; GPCs take turns. */
START_TEST(blocks_are_replaced_one_by_one)
{
    CHECK(1, FOUR_AT_ONCE, INPUT, GRID(8, 1000), 0, 0, 0, 0, 1300, 1310, 1320, 1330);
    CHECK(1, FOUR_APART, INPUT, GRID(8, 1000), 0, 0, 0, 0, 1300, 1310, 1320, 1330);
    struct grid grid = GRID(8, 1000);
    struct wt_gpu *gpu = gpu_of(1, "sm_count = 4; sms_per_tpc = 1; groups = ([0, 1, 2, 3]); gpcs = ([0, 1], [2, 3]);", INPUT);
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    assert_sms(runs, 8, (int[]){0, 1, 2, 3, 0, 2, 1, 3});
    assert_starts(runs, 8, (double[]){0, 0, 0, 0, 1300, 1310, 1320, 1330});
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* The second report waits while the first one takes its 10 cycles, and no longer; a third long after does not. */
START_TEST(the_distributor_is_busy_for_report_cycles)
{
    CHECK(1, TWO_AT_ONCE, INPUT, GRID(4, 1000, 1009, 9000), 0, 0, 1300, 1310);
    CHECK(1, TWO_AT_ONCE, INPUT, GRID(4, 1000, 1010, 9000), 0, 0, 1300, 1310);
    CHECK(1, TWO_AT_ONCE, INPUT, GRID(4, 1000, 1011, 9000), 0, 0, 1300, 1311);
    CHECK(1, FOUR_AT_ONCE, INPUT, GRID(8, 1000, 1001, 1019, 1030, 9000), 0, 0, 0, 0, 1300, 1310, 1320, 1330);
    CHECK(1, FOUR_AT_ONCE, INPUT, GRID(8, 1000, 1001, 1021, 1040, 9000), 0, 0, 0, 0, 1300, 1310, 1321, 1340);
}
END_TEST

/* At time 0 too. */
START_TEST(the_distributor_begins_free)
{
    CHECK(1, ALONE, "report_cycles = 10;", GRID(4, 3), 0, 3, 13, 23);
}
END_TEST

/* TPC 0's reports take 40 cycles more: those of TPC 1 are there first unless they left 40 later. */
START_TEST(reports_go_in_the_order_of_their_arrival)
{
    const char *rates = "release_cycles = 300; report_cycles = 10; report_offset_cycles = [40, 0];";
    CHECK(1, TWO_AT_ONCE, rates, GRID(4, 1000, 1001, 9000), 0, 0, 1301, 1340);
    CHECK(1, TWO_AT_ONCE, rates, GRID(4, 1001, 1000, 9000), 0, 0, 1300, 1341);
    CHECK(1, TWO_AT_ONCE, rates, GRID(4, 1000, 1039, 9000), 0, 0, 1339, 1349);
    CHECK(1, TWO_AT_ONCE, rates, GRID(4, 1000, 1041, 9000), 0, 0, 1340, 1350);
}
END_TEST

/* What ended first is reported first, whatever the SM's number. */
START_TEST(reports_go_in_the_order_of_the_ends)
{
    struct grid grid = GRID(8, 1003, 1001, 1002, 1000, 9000);
    struct wt_gpu *gpu = gpu_of(1, FOUR_AT_ONCE, INPUT);
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    assert_sms(runs, 8, (int[]){0, 1, 2, 3, 3, 1, 2, 0});
    assert_starts(runs, 8, (double[]){0, 0, 0, 0, 1300, 1310, 1320, 1330});
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* ---- Reports on their way ---- */

#define LINK "release_cycles = 300; report_ready_cycles = 100; report_send_cycles = 20;"

/* A TPC's second report leaves when the first has been sent; one that is ready later leaves at once. */
START_TEST(a_tpc_sends_one_report_at_a_time)
{
    CHECK(2, ALONE, LINK, GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1320);
    CHECK(2, ALONE, LINK, GRID(4, 1000, 1019, 9000), 0, 0, 1300, 1320);
    CHECK(2, ALONE, LINK, GRID(4, 1000, 1021, 9000), 0, 0, 1300, 1321);
    CHECK(1, PAIR, LINK, GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1320);
    CHECK(1, TWO_AT_ONCE, LINK, GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1300);
}
END_TEST

/* It is looked up by the block's warps. */
START_TEST(sending_depends_on_the_warps)
{
    const char *rates = "release_cycles = 300; report_send_cycles = ([1, 30], [3, 10]);";
    struct grid grid = GRID(4, 1000, 1000, 9000);
    CHECK(2, ALONE, rates, grid, 0, 0, 1300, 1330);
    grid.threads = 64;
    CHECK(2, ALONE, rates, grid, 0, 0, 1300, 1320);
}
END_TEST

/* Block 1 comes to the SM at 1000. Block 0's report is sent from 100 to 120 after its end. */
START_TEST(a_tpc_starts_nothing_while_it_sends)
{
    const char *rates = "visit_cycles = 1000;" LINK;
    CHECK(2, ALONE, rates, GRID(2, 879, 9000), 0, 1000);
    CHECK(2, ALONE, rates, GRID(2, 880, 9000), 0, 1000);
    CHECK(2, ALONE, rates, GRID(2, 881, 9000), 0, 1001);
    CHECK(2, ALONE, rates, GRID(2, 900, 9000), 0, 1020);
    CHECK(2, ALONE, rates, GRID(2, 901, 9000), 0, 1000);
}
END_TEST

/* Block 2 of the first wave is due at 1000. Block 0's report is sent from 100 after its end on, and for 20 cycles, or 27. */
START_TEST(a_report_takes_longer_while_a_first_wave_waits)
{
    const char *plain = "launch_cycles = 500;" LINK, *held = "launch_cycles = 500; report_held_cycles = 7;" LINK;
    CHECK(3, ALONE, plain, GRID(3, 880, 9000), 0, 500, 1000);
    CHECK(3, ALONE, plain, GRID(3, 881, 9000), 0, 500, 1001);
    CHECK(3, ALONE, held, GRID(3, 873, 9000), 0, 500, 1000);
    CHECK(3, ALONE, held, GRID(3, 880, 9000), 0, 500, 1007);
    CHECK(3, ALONE, held, GRID(3, 901, 9000), 0, 500, 1000);
}
END_TEST

/* The second cluster has room when both SMs have, at 1500, and 300 + 40 + 25 later all of its warps are there, and start. The
 * first one came as much later, which nobody sees. Single blocks start 300 after an end. */
START_TEST(a_cluster_starts_when_all_of_its_warps_are_there)
{
    const char *rates = "release_cycles = 300; launch_cycles = 40; cluster_start_cycles = 25;";
    struct grid grid = GRID(4, 1000, 1500, 9000), single = grid;
    grid.cluster = 2;
    CHECK(1, TWO_AT_ONCE, rates, grid, 0, 0, 1865, 1865);
    CHECK(1, TWO_AT_ONCE, rates, single, 0, 0, 1300, 1800);
    grid.threads = 96;
    CHECK(1, TWO_AT_ONCE, "release_cycles = 300; launch_cycles = ([1, 10], [3, 70]); cluster_start_cycles = 0;", grid, 0, 0, 1870, 1870);
}
END_TEST

/* Three blocks are over at 800. Block 4 comes at 950 with the first report, and all three are out at 960. */
START_TEST(a_block_waits_for_all_reports)
{
    CHECK(4, ALONE, "visit_cycles = 0; release_cycles = 150; report_ready_cycles = 100; report_send_cycles = 20;",
          GRID(6, 800, 800, 800, 9000), 0, 0, 0, 0, 960, 970);
}
END_TEST

/* Block 4 starts at 1140, when both first reports are out, and block 5, there since then, 130 later. But from 1250 on two more
 * reports go out, in 20 cycles each, or 27. What comes only while reports go out does not hold them: block 4 starts at 1180 at the end. */
START_TEST(a_report_takes_longer_while_a_replacement_waits)
{
#define HELD "visit_cycles = 0; release_cycles = 120; report_ready_cycles = 100; report_send_cycles = 20; replacement_lag_cycles = 130;"
    CHECK(4, ALONE, HELD, GRID(6, 1000, 1000, 1150, 1150, 9000), 0, 0, 0, 0, 1140, 1290);
    CHECK(4, ALONE, HELD "replacement_held_cycles = 7;", GRID(6, 1000, 1000, 1150, 1150, 9000), 0, 0, 0, 0, 1140, 1304);
    CHECK(4, ALONE, HELD "replacement_held_cycles = 7; report_queue = 3;", GRID(5, 1000, 1000, 1000, 1000, 9000), 0, 0, 0, 0, 1180);
}
END_TEST

/* Block 1 comes to the SM at 1000. Block 0's report can leave 100 after its end; nothing starts from 60 after it on. */
START_TEST(a_tpc_stops_before_its_first_report)
{
    const char *rates = "visit_cycles = 1000; report_lead_cycles = 40;" LINK;
    CHECK(2, ALONE, rates, GRID(2, 939, 9000), 0, 1020 + 39);
    CHECK(2, ALONE, rates, GRID(2, 941, 9000), 0, 1000);
    CHECK(2, ALONE, rates, GRID(2, 880, 9000), 0, 1000);
    CHECK(2, ALONE, rates, GRID(2, 881, 9000), 0, 1001);
}
END_TEST

/* Two blocks end together: the second replacement starts when the TPC's lag is over, and 5 cycles more. */
START_TEST(replacements_keep_a_lag_of_their_own)
{
    CHECK(2, ALONE, "release_cycles = 300; tpc_lag_cycles = 30;", GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1330);
    CHECK(2, ALONE, "release_cycles = 300; tpc_lag_cycles = 30; replacement_lag_cycles = 5;", GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1335);
}
END_TEST

/* A TPC's way holds one report, which takes 300 cycles to the distributor: the second one leaves when the first has been taken. */
START_TEST(a_full_queue_holds_reports_back)
{
    CHECK(2, ALONE, "release_cycles = 300; report_queue = 1;", GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1600);
    CHECK(2, ALONE, "release_cycles = 300; report_queue = 1;", GRID(4, 1000, 1299, 9000), 0, 0, 1300, 1600);
    CHECK(2, ALONE, "release_cycles = 300; report_queue = 1;", GRID(4, 1000, 1301, 9000), 0, 0, 1300, 1601);
    CHECK(2, ALONE, "release_cycles = 300; report_queue = 2;", GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1300);
    CHECK(1, PAIR, "release_cycles = 300; report_queue = 1;", GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1600);
    CHECK(1, TWO_AT_ONCE, "release_cycles = 300; report_queue = 1;", GRID(4, 1000, 1000, 9000), 0, 0, 1300, 1300);
}
END_TEST

/* TPC 0 is further away: its way has room for two. */
START_TEST(a_queue_is_full_for_near_tpcs_first)
{
    const char *rates = "release_cycles = 300; report_queue = 1; report_queue_per_tpc = 1; report_offset_cycles = [10, 0];";
    CHECK(2, TWO_AT_ONCE, rates, GRID(8, 1000, 1000, 1000, 1000, 9000), 0, 0, 0, 0, 1300, 1310, 1310, 1600);
}
END_TEST

/* Four blocks end together, and two reports fit: the third leaves when the first is taken, with which block 4 comes. That one starts
 * 500 after block 3, and where it takes a place the fourth report waits until the second is taken, too. */
START_TEST(replacements_take_places)
{
#define PLACES "release_cycles = 300; report_queue = 2; starts_per_report = 0;"
    CHECK(4, ALONE, PLACES, GRID(8, 1000, 1000, 1000, 1000, 9000), 0, 0, 0, 0, 1300, 1300, 1600, 1600);
}
END_TEST

/* 100 TPCs in one GPC: all of their reports are served, one each 10 cycles. */
START_TEST(a_gpc_may_have_many_tpcs)
{
    struct grid grid = GRID(200, 1000);
    struct wt_gpu *gpu = gpu_of(1, "sm_count = 100; sms_per_tpc = 1; group_sizes = [100]; gpc_sizes = [100];", INPUT);
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    for (int i = 0; i < 100; i++) {
        ck_assert_double_eq(wt_to_cycles(runs[100 + i].start), 1300 + 10 * i);
        ck_assert_int_eq(runs[100 + i].sm, i);
    }
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* Block 0's report leaves at 110 and is taken at 410, when block 1's, which waits from 210 on, may leave. From 110 to 410 the TPC
 * starts one block, or two, or three. */
START_TEST(between_reports_that_wait_some_blocks_start)
{
#define WAITING "release_cycles = 300; launch_cycles = 100; report_queue = 1;"
    CHECK(5, ALONE, WAITING "starts_per_report = 1;", GRID(5, 110, 110, 9000), 0, 100, 200, 410, 510);
    CHECK(5, ALONE, WAITING "starts_per_report = 1.5;", GRID(5, 110, 110, 9000), 0, 100, 200, 410, 510);
    CHECK(5, ALONE, WAITING "starts_per_report = 2;", GRID(5, 110, 110, 9000), 0, 100, 200, 300, 410);
    CHECK(5, ALONE, WAITING "starts_per_report = 3;", GRID(5, 110, 110, 9000), 0, 100, 200, 300, 400);
}
END_TEST

/* Blocks come at 0, 100, 200 and so on. Seven end at 710 and send reports from 810 on, one each 50 cycles. Two of the blocks that wait
 * start all the same, half a block for each report and half a one more with the first. */
START_TEST(some_blocks_start_between_reports)
{
#define SLIPPING "release_cycles = 300; report_ready_cycles = 100; report_send_cycles = 50; visit_cycles = 100;"
    struct grid grid = GRID(12, 710, 610, 510, 410, 310, 210, 110, 9000);
    CHECK(12, ALONE, SLIPPING "report_queue = 20;", grid, 0, 100, 200, 300, 400, 500, 600, 700, 800, 1160, 1160, 1160);
    CHECK(12, ALONE, SLIPPING "report_queue = 20; starts_while_sending = 0.5;", grid, 0, 100, 200, 300, 400, 500, 600, 700, 800, 910,
          1010, 1110);
}
END_TEST

/* Twelve blocks end together, and each TPC's queue holds two reports: while TPCs wait to send their third one, one of each is taken in
 * turn: of TPCs 0 and 3, then of 1 and 2. If all three fit reports are taken as they come. */
START_TEST(tpcs_take_turns_while_some_wait)
{
    struct grid grid = GRID(20, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 9000);
    struct wt_gpu *waiting = gpu_of(3, FOUR_AT_ONCE, INPUT "report_send_cycles = 1; report_queue = 2;");
    struct wt_block_run *runs = simulated(waiting, &from_anew, &grid, 1);
    assert_sms(runs + 12, 4, (int[]){0, 3, 1, 2});
    for (int i = 12; i < 20; i++)
        ck_assert_double_eq(wt_to_cycles(runs[i].start), 1300 + 10 * (i - 12));
    free(runs);
    wt_gpu_free(waiting);
    struct wt_gpu *idle = gpu_of(3, FOUR_AT_ONCE, INPUT "report_send_cycles = 1; report_queue = 3;");
    runs = simulated(idle, &from_anew, &grid, 1);
    assert_sms(runs + 12, 8, (int[]){0, 1, 2, 3, 0, 1, 2, 3});
    free(runs);
    wt_gpu_free(idle);
}
END_TEST

/* ---- Room that is known early ---- */

static struct grid of_eight_warps(struct grid grid)
{
    grid.threads = 256;
    return grid;
}

/* Eight blocks of 8 warps fill the SM's 64 and end together. The first report tells of itself and of 7 warps of each of the
 * other seven: 49 make room for 6 blocks. The last one comes with the last report, 7 x 10 later. With 10 slots two are free before
 * their blocks are reported, so that each of the next four reports frees one. */
START_TEST(all_warps_but_one_of_each_block_are_known_early)
{
    struct grid grid = of_eight_warps(GRID(16, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 9000));
    CHECK(32, ALONE, INPUT, grid, 0, 0, 0, 0, 0, 0, 0, 0, 1300, 1300, 1300, 1300, 1300, 1300, 1300, 1370);
    CHECK(10, ALONE, INPUT, grid, 0, 0, 0, 0, 0, 0, 0, 0, 1300, 1300, 1300, 1310, 1320, 1330, 1340, 1370);
    CHECK(8, ALONE, INPUT, grid, 0, 0, 0, 0, 0, 0, 0, 0, 1300, 1310, 1320, 1330, 1340, 1350, 1360, 1370);
}
END_TEST

/* Without a view beyond a block's own end the first report tells of itself, the second of two more with its end (14 warps, one block),
 * the fifth of three (21 warps, two). With 50 cycles the first tells of three, the second of all that are left. */
START_TEST(a_report_tells_of_blocks_that_end_soon_after)
{
    struct grid grid = of_eight_warps(GRID(16, 1000, 1050, 1050, 1050, 1051, 1051, 1051, 1051, 9000));
    CHECK(32, ALONE, INPUT, grid, 0, 0, 0, 0, 0, 0, 0, 0, 1300, 1350, 1350, 1370, 1380, 1380, 1380, 1410);
    CHECK(32, ALONE, INPUT "report_view_cycles = 50;", grid, 0, 0, 0, 0, 0, 0, 0, 0, 1300, 1300, 1300, 1350, 1350, 1350, 1350, 1410);
}
END_TEST

/* When blocks 8 to 15 end, 1000 after they started, no report is on its way: of six the room is known with the first. The seventh
 * and the last, which started 70 later, come with their own. */
START_TEST(every_series_tells_of_what_ran_when_it_began)
{
    struct grid grid = of_eight_warps(GRID(24, 1000));
    CHECK(32, ALONE, INPUT, grid, 0, 0, 0, 0, 0, 0, 0, 0, 1300, 1300, 1300, 1300, 1300, 1300, 1300, 1370, 2600, 2600, 2600,
          2600, 2600, 2600, 2660, 2670);
}
END_TEST

/* Where the distributor takes a report each 100 cycles those of the first eight blocks, from 1000 on, are still on their way when
 * blocks 8 to 14 end at 1400, with no pause over 500. These ran not yet when that series began, and one block comes with each of their
 * reports. */
START_TEST(a_series_does_not_tell_of_what_started_later)
{
    struct grid grid = of_eight_warps(GRID(24, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 100));
    const char *rates = "release_cycles = 300; launch_latency_cycles = 100; report_cycles = 100; report_pause_cycles = 500;";
    CHECK(32, ALONE, rates, grid, 0, 0, 0, 0, 0, 0, 0, 0, 1300, 1300, 1300, 1300, 1300, 1300, 1300, 2000,
          2100, 2200, 2300, 2400, 2500, 2600, 2700, 2800);
}
END_TEST

/* ---- Several kernels ---- */

/* The first kernel's last block ends at 1210. */
START_TEST(kernels_are_a_gap_apart)
{
    struct wt_gpu *gpu = gpu_of(1, FOUR_APART, "visit_cycles = 10; kernel_gap_cycles = 3000; release_cycles = 300;"
                                               "launch_latency_cycles = 100;");
    struct grid grids[] = {GRID(4, 1000, 1200, 1100, 900), GRID(3, 500), GRID(1, 500)};
    struct wt_block_run *runs = simulated(gpu, &from_anew, grids, 3);
    assert_starts(runs, 8, (double[]){0, 10, 20, 30, 4210, 4220, 4230, 4230 + 500 + 3000});
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* A kernel whose blocks would have fitted beside the first one's starts no sooner. */
START_TEST(kernels_of_one_stream_do_not_overlap)
{
    struct wt_gpu *gpu = gpu_of(2, FOUR_APART, "kernel_gap_cycles = 50;");
    struct grid grids[] = {GRID(1, 1000), GRID(1, 10)};
    struct wt_block_run *runs = simulated(gpu, &from_anew, grids, 2);
    assert_starts(runs, 2, (double[]){0, 1050});
    free(runs);
    wt_gpu_free(gpu);
}
END_TEST

/* ---- What cannot run ---- */

/* Of the second kernel the GPU has too little; nothing of the first is run then. */
static void assert_refused(const struct wt_limits *made_for, struct wt_launch_needs needs, const char *message)
{
    struct wt_gpu *gpu = gpu_of(4, ALONE, "");
    struct wt_launch_needs fitting = {.threads = 64, .carveout_kb = WT_CARVEOUT_DEFAULT};
    struct wt_kernel kernels[2] = {{.name = "fits", .grid_blocks = 1}, {.name = "too-large", .grid_blocks = 1}};
    struct wt_error err = {0};
    ck_assert_int_eq(wt_shape_make(&gpu->limits, &fitting, &kernels[0].shape, &err), WT_OK);
    ck_assert_int_eq(wt_shape_make(made_for, &needs, &kernels[1].shape, &err), WT_OK);
    struct wt_simulation simulation = {
        .gpu = gpu, .kernels = kernels, .kernel_count = 2, .first_group = -1, .first_extra_sm = -1};
    ck_assert_int_eq(wt_simulate(&simulation, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, message);
    wt_gpu_free(gpu);
}

/* For an SM twice as large as the GPU's. */
START_TEST(a_block_that_never_fits_is_refused)
{
    struct wt_gpu *h200 = gpu_named("h200");
    struct wt_limits large = h200->limits;
    large.registers_per_sm = large.registers_per_block = 2 * 65536;
    large.shared_bytes_per_sm = large.shared_bytes_per_block_opt_in = 400 * 1024;
    large.carveout_count = 0;
    struct wt_launch_needs needs = {.threads = 1024, .registers_per_thread = 80, .carveout_kb = WT_CARVEOUT_DEFAULT};
    assert_refused(&large, needs,
                   "kernel 'too-large': a block fits no SM of made up: it needs 81920 of registers, an SM has 65536");
    needs = (struct wt_launch_needs){.threads = 32, .dynamic_shared_bytes = 300 * 1024, .carveout_kb = WT_CARVEOUT_DEFAULT};
    assert_refused(&large, needs, "kernel 'too-large': a block fits no SM of made up: it needs 308224 of shared_memory, an "
                                  "SM has 233472");
    wt_gpu_free(h200);
}
END_TEST

START_TEST(a_gpu_with_an_unknown_policy_is_refused)
{
    const char *text = "base = \"four-sms\";\nplacement = { value = \"by-colour\"; source = \"assumed: a test\"; };";
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_gpu_parse(text, strlen(text), "test.cfg", &gpu, &err), WT_OK);
    struct wt_simulation simulation = {.gpu = gpu, .first_group = -1, .first_extra_sm = -1};
    ck_assert_int_eq(wt_simulate(&simulation, &err), WT_BAD_INPUT);
    ck_assert_str_eq(err.text, "test.cfg: no placement policy 'by-colour'; there are: h200, most-room, round-robin, "
                               "shuffle");
    wt_gpu_free(gpu);
}
END_TEST

/* ---- The whole machine ---- */

/* The last start of `blocks` blocks of one cycle, cycles. */
static double queue_empty(const struct wt_gpu *gpu, uint64_t blocks)
{
    struct grid grid = GRID(blocks, 1);
    struct wt_block_run *runs = simulated(gpu, &from_anew, &grid, 1);
    double last = wt_to_cycles(runs[blocks - 1].start);
    free(runs);
    return last;
}

/* Blocks of no length: one is reported in report_cycles, and that many are handed out. The first 40,000 are left out of the
 * count. An H200 hands out 60,000 empty ones at 0.84 a cycle. */
START_TEST(reports_limit_the_steady_state)
{
    struct wt_gpu *gpu = gpu_named("h200");
    double rate = 100000 / (queue_empty(gpu, 140000) - queue_empty(gpu, 40000));
    ck_assert_double_eq_tol(rate, 1 / gpu->rates.report_cycles, 0.01 * rate);
    ck_assert_double_eq_tol(rate, 0.84, 0.01);
    wt_gpu_free(gpu);
}
END_TEST

Suite *dispatch_suite(void)
{
    Suite *suite = suite_create("dispatch");
    TCase *tcase = tcase_create("dispatch");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, visits_follow_each_other);
    tcase_add_test(tcase, an_incomplete_round_is_shared_out_first);
    tcase_add_test(tcase, room_for_several_blocks_is_filled_in_rounds);
    tcase_add_test(tcase, an_sm_starts_one_block_in_launch_cycles);
    tcase_add_test(tcase, refills_do_not_keep_the_launch_interval);
    tcase_add_test(tcase, the_launch_interval_depends_on_the_warps);
    tcase_add_test(tcase, sms_without_room_are_not_visited);
    tcase_add_test(tcase, the_tpcs_other_sm_lags);
    tcase_add_test(tcase, refills_lag_too);
    tcase_add_test(tcase, distant_tpcs_start_later);
    tcase_add_test(tcase, a_slot_is_refilled_after_the_release_latency);
    tcase_add_test(tcase, distant_tpcs_are_refilled_later);
    tcase_add_test(tcase, a_slot_is_refilled_on_its_own_sm);
    tcase_add_test(tcase, refills_go_on_in_the_rotation);
    tcase_add_test(tcase, refills_keep_the_extra_groups_cadence);
    tcase_add_test(tcase, a_slot_is_not_free_before_all_warps_are_gone);
    tcase_add_test(tcase, blocks_are_replaced_one_by_one);
    tcase_add_test(tcase, the_distributor_is_busy_for_report_cycles);
    tcase_add_test(tcase, the_distributor_begins_free);
    tcase_add_test(tcase, reports_go_in_the_order_of_their_arrival);
    tcase_add_test(tcase, reports_go_in_the_order_of_the_ends);
    tcase_add_test(tcase, a_tpc_sends_one_report_at_a_time);
    tcase_add_test(tcase, sending_depends_on_the_warps);
    tcase_add_test(tcase, a_tpc_starts_nothing_while_it_sends);
    tcase_add_test(tcase, a_report_takes_longer_while_a_first_wave_waits);
    tcase_add_test(tcase, a_cluster_starts_when_all_of_its_warps_are_there);
    tcase_add_test(tcase, a_block_waits_for_all_reports);
    tcase_add_test(tcase, a_report_takes_longer_while_a_replacement_waits);
    tcase_add_test(tcase, a_tpc_stops_before_its_first_report);
    tcase_add_test(tcase, replacements_keep_a_lag_of_their_own);
    tcase_add_test(tcase, a_full_queue_holds_reports_back);
    tcase_add_test(tcase, a_queue_is_full_for_near_tpcs_first);
    tcase_add_test(tcase, replacements_take_places);
    tcase_add_test(tcase, between_reports_that_wait_some_blocks_start);
    tcase_add_test(tcase, some_blocks_start_between_reports);
    tcase_add_test(tcase, tpcs_take_turns_while_some_wait);
    tcase_add_test(tcase, a_gpc_may_have_many_tpcs);
    tcase_add_test(tcase, all_warps_but_one_of_each_block_are_known_early);
    tcase_add_test(tcase, a_report_tells_of_blocks_that_end_soon_after);
    tcase_add_test(tcase, every_series_tells_of_what_ran_when_it_began);
    tcase_add_test(tcase, a_series_does_not_tell_of_what_started_later);
    tcase_add_test(tcase, kernels_are_a_gap_apart);
    tcase_add_test(tcase, kernels_of_one_stream_do_not_overlap);
    tcase_add_test(tcase, a_block_that_never_fits_is_refused);
    tcase_add_test(tcase, a_gpu_with_an_unknown_policy_is_refused);
    tcase_add_test(tcase, reports_limit_the_steady_state);
    suite_add_tcase(suite, tcase);
    return suite;
}
