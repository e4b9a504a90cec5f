#include <stdlib.h>

#include "suites.h"

static Suite *(*const suites[])(void) = {
    core_suite,
    cost_suite,
    fluid_suite,
    sharing_suite,
    plot_suite,
    studies_suite,
    whatif_suite,
    unequal_suite,
    reworked_suite,
    workload_suite,
    host_suite,
    endqueue_suite,
    dispatch_suite,
    first_wave_suite,
    policies_suite,
    replay_suite, together_suite, clusters_suite,
    validate_suite,
    invariants_suite,
    cli_suite,
    timeline_suite,
    config_suite,
    metrics_suite,
    exports_suite,
    html_suite, browser_suite,
    lessons_suite,
    picture_suite,
    sm_suite,
    sm_random_suite,
    sm_measured_suite,
    occupancy_suite,
    gpu_suite,
    trace_suite,
    clocks_suite,
    topology_suite,
    part_suite,
    used_tpcs_suite,
    unseen_suite,
    capture_suite,
    calibrate_suite,
    waiting_suite,
    persistent_suite,
    remedies_suite,
    sweep_suite,
    view_model_suite,
    view_suite,
    warp_suite, warp_states_suite, sass_suite, ncu_suite, import_suite, issue_suite, course_warps_suite, profiled_suite,
};

int main(void)
{
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
