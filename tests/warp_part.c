#include "warp_part.h"

#include <check.h>
#include <string.h>

#include "sm/shape.h"
#include "warp/text.h"

static const char small_gpu[] = "base = \"_h200-base\"; name = \"part of an H200\"; memory_gbs = 145.45;\n"
                                "topology = { sm_count = 4; }; memory = { l2_gpu_bytes = 171; "
                                "l2_write_port_bytes = 65; l2_dirty_mib = 0.485; "
                                "l2_fabric_bytes = 73.3; atomic_interval = 47.7; l2_slice_request = 41.9; };\n";

struct wt_gpu *part_of_h200(void)
{
    struct wt_error err = {0};
    struct wt_gpu *gpu = NULL;
    ck_assert_msg(wt_gpu_parse(small_gpu, strlen(small_gpu), WT_SOURCE_CONFIGS "/gpus/part.cfg", &gpu, &err) == WT_OK, "%s",
                  err.text);
    return gpu;
}

struct wt_program *parsed_program(const char *text)
{
    struct wt_error err = {0};
    struct wt_program *program = NULL;
    ck_assert_msg(wt_text_parse(text, strlen(text), "t.wtp", &program, &err) == WT_OK, "%s", err.text);
    return program;
}

void simulate_part(struct warp_part_run *run)
{
    struct wt_error err = {0};
    struct wt_launch_needs needs = {.threads = run->threads,
                                    .registers_per_thread = run->registers ? run->registers : 32,
                                    .dynamic_shared_bytes = run->shared,
                                    .carveout_kb = WT_CARVEOUT_DEFAULT};
    struct wt_kernel kernel = {.name = "k", .grid_blocks = run->blocks};
    ck_assert_int_eq(wt_shape_make(&run->gpu->limits, &needs, &kernel.shape, &err), WT_OK);
    struct wt_warp_kernel warps = {.program = run->program, .warps = kernel.shape.warps};
    struct wt_warp_setup setup = {.gpu = run->gpu,
                                  .kernels = &warps,
                                  .kernel_count = 1,
                                  .seed = 1,
                                  .threads = run->workers,
                                  .observer = run->observer};
    struct wt_warp *warp = NULL;
    ck_assert_msg(wt_warp_new(&setup, &warp, &err) == WT_OK, "%s", err.text);
    struct wt_sharing sharing = wt_warp_sharing(warp);
    struct wt_simulation simulation = {.gpu = run->gpu,
                                       .kernels = &kernel,
                                       .kernel_count = 1,
                                       .seed = 1,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .sharing = &sharing};
    ck_assert_msg(wt_simulate(&simulation, &err) == WT_OK, "%s", err.text);
    wt_warp_finish(warp);
    run->result = wt_warp_result(warp, 0);
    wt_warp_free(warp);
}

void check_within(double value, double expected, double part)
{
    ck_assert_msg(value >= expected * (1 - part) && value <= expected * (1 + part), "%g is not within %g %% of %g", value,
                  100 * part, expected);
}
