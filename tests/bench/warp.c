/* How fast is the warp level? Warp instructions per second of one core, every SM simulated, for a kernel that computes and
 * one that streams, with the grids of the captured traces fma_b256 and stream_b256. Targets are printed with what was
 * reached; the exit code is 0 unless something fails to run. */
#include <inttypes.h>
#include <stdio.h>

#include "measure.h"
#include "sm/shape.h"
#include "warp/text.h"
#include "warp/warp.h"

static const double target_rate = 10e6, target_mb = 200;

static enum wt_code simulate(const struct wt_gpu *gpu, const struct wt_program *program, struct wt_warp_result *result,
                             struct wt_error *err)
{
    struct wt_launch_needs needs = {.threads = 256, .registers_per_thread = 32, .carveout_kb = WT_CARVEOUT_DEFAULT};
    struct wt_kernel kernel = {.name = program->name, .grid_blocks = 4096};
    WT_TRY(wt_shape_make(&gpu->limits, &needs, &kernel.shape, err));
    struct wt_warp_kernel warps = {.program = program, .warps = kernel.shape.warps};
    struct wt_warp_setup setup = {.gpu = gpu, .kernels = &warps, .kernel_count = 1, .seed = 1, .threads = 1};
    struct wt_warp *warp = NULL;
    WT_TRY(wt_warp_new(&setup, &warp, err));
    struct wt_sharing sharing = wt_warp_sharing(warp);
    struct wt_simulation simulation = {.gpu = gpu,
                                       .kernels = &kernel,
                                       .kernel_count = 1,
                                       .seed = 1,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .sharing = &sharing};
    enum wt_code code = wt_simulate(&simulation, err);
    *result = wt_warp_result(warp, 0);
    wt_warp_free(warp);
    return code;
}

static enum wt_code measure(const struct wt_gpu *gpu, const char *name, struct wt_error *err)
{
    char path[512];
    snprintf(path, sizeof path, WT_SOURCE_CONFIGS "/workloads/programs/%s.wtp", name);
    struct wt_program *program = NULL;
    struct wt_warp_result result;
    WT_TRY(wt_text_read(path, &program, err));
    double begun = now();
    enum wt_code code = simulate(gpu, program, &result, err);
    double rate = (double)result.total.issued / (now() - begun), mb = peak_mb();
    wt_program_free(program);
    if (code == WT_OK)
        printf("  %-7s %6.1f M warp instructions, %5.1f M/s  (target >= %.0f: %s)  peak memory %5.1f MB (target <= %.0f: %s)\n",
               name, (double)result.total.issued * 1e-6, rate * 1e-6, target_rate * 1e-6,
               rate >= target_rate ? "met" : "MISSED", mb, target_mb, mb <= target_mb ? "met" : "MISSED");
    return code;
}

int main(void)
{
    struct wt_error err = {0};
    struct wt_gpu *gpu = NULL;
    enum wt_code code = wt_gpu_load("h200", &gpu, &err);
    if (code == WT_OK)
        printf("warp: 4096 blocks of 256 threads on %s, every SM, one core\n", gpu->name);
    if (code == WT_OK)
        code = measure(gpu, "fma", &err);
    if (code == WT_OK)
        code = measure(gpu, "stream", &err);
    if (code != WT_OK)
        fprintf(stderr, "%s\n", err.text);
    wt_gpu_free(gpu);
    return (int)code;
}
