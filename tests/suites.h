/* The suites, one per question; each lives in tests/NAME.c and is listed in tests/main.c. */
#ifndef WT_TESTS_SUITES_H
#define WT_TESTS_SUITES_H

#include <check.h>

Suite *core_suite(void);
Suite *unseen_suite(void);
Suite *calibrate_suite(void);
Suite *cli_suite(void);
Suite *cost_suite(void);
Suite *fluid_suite(void);
Suite *sharing_suite(void);
Suite *plot_suite(void);
Suite *studies_suite(void);
Suite *whatif_suite(void);
Suite *workload_suite(void);
Suite *host_suite(void);
Suite *endqueue_suite(void);
Suite *dispatch_suite(void);
Suite *first_wave_suite(void);
Suite *policies_suite(void);
Suite *replay_suite(void);
Suite *together_suite(void);
Suite *clusters_suite(void);
Suite *validate_suite(void);
Suite *invariants_suite(void);
Suite *timeline_suite(void);
Suite *config_suite(void);
Suite *metrics_suite(void);
Suite *exports_suite(void);
Suite *html_suite(void);
Suite *browser_suite(void);
Suite *lessons_suite(void);
Suite *picture_suite(void);
Suite *sm_suite(void);
Suite *sm_random_suite(void);
Suite *sm_measured_suite(void);
Suite *occupancy_suite(void);
Suite *gpu_suite(void);
Suite *trace_suite(void);
Suite *clocks_suite(void);
Suite *topology_suite(void);
Suite *capture_suite(void);
Suite *waiting_suite(void);
Suite *remedies_suite(void);
Suite *persistent_suite(void);
Suite *sweep_suite(void);
Suite *view_suite(void);
Suite *warp_suite(void);
Suite *warp_states_suite(void);
Suite *sass_suite(void);
Suite *ncu_suite(void);
Suite *import_suite(void);
Suite *issue_suite(void);
Suite *view_model_suite(void);

#endif
