/* Whatever the text, the reader of kernel programs returns a program or a message; written, it can be read again; and a short
 * program runs to its end, every warp in one state each cycle. */
#include <stdint.h>
#include <stdlib.h>

#include "dispatch/simulate.h"
#include "sm/shape.h"
#include "warp/text.h"
#include "warp/warp.h"

enum { MOST_SIMULATED = 200, MOST_LOOPS_SIMULATED = 2, MOST_TRIPS = 6, MOST_WORK = 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends soon: few loops that run seldom, and no jumps back by chance. */
static bool is_short(const struct wt_program *program)
{
    if (program->count > MOST_SIMULATED || program->loop_count > MOST_LOOPS_SIMULATED || program->work > MOST_WORK)
        return false;
    for (size_t i = 0; i < program->loop_count; i++) {
        const struct wt_count *count = &program->loops[i];
        if (count->base + count->spread + count->per_work * program->work > MOST_TRIPS || count->draw == WT_DRAW_GEOMETRIC)
            return false;
    }
    for (size_t i = 0; i < program->count; i++) {
        const struct wt_instruction *instruction = &program->instructions[i];
        bool back = instruction->op == WT_OP_BRANCH && instruction->target <= i;
        if (back && instruction->branch != WT_BRANCH_LOOP)
            return false;
    }
    return true;
}

static const struct wt_gpu *small_gpu(void)
{
    static struct wt_gpu *gpu;
    struct wt_error err = {0};
    if (!gpu && wt_gpu_load("four-sms", &gpu, &err) != WT_OK)
        abort();
    return gpu;
}

static void simulate(const struct wt_program *program)
{
    struct wt_error err = {0};
    struct wt_launch_needs needs = {.threads = 96, .registers_per_thread = 32, .carveout_kb = WT_CARVEOUT_DEFAULT, .barriers = 1};
    struct wt_kernel kernel = {.name = "k", .grid_blocks = 3};
    struct wt_warp_kernel warps = {.program = program, .warps = 3};
    struct wt_warp_setup setup = {.gpu = small_gpu(), .kernels = &warps, .kernel_count = 1, .seed = 1, .threads = 1};
    struct wt_warp *warp;
    if (wt_shape_make(&setup.gpu->limits, &needs, &kernel.shape, &err) != WT_OK || wt_warp_new(&setup, &warp, &err) != WT_OK)
        abort();
    struct wt_sharing sharing = wt_warp_sharing(warp);
    struct wt_simulation simulation = {.gpu = setup.gpu, .kernels = &kernel, .kernel_count = 1, .seed = 1,
                                       .first_group = -1, .first_extra_sm = -1, .sharing = &sharing};
    if (wt_simulate(&simulation, &err) != WT_OK)
        abort();
    struct wt_warp_counters total = wt_warp_result(warp, 0).total;
    if (total.warps != 9 || total.warp_cycles[WT_STALL_SELECTED] != total.issued || total.issued < 9)
        abort();
    wt_warp_free(warp);
}

static void write_and_read(const struct wt_program *program)
{
    char *text = NULL;
    size_t size = 0;
    struct wt_program *again;
    struct wt_error err = {0};
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        abort();
    wt_text_write(program, false, stream);
    fclose(stream);
    if (wt_text_parse(text, size, "again.wtp", &again, &err) != WT_OK)
        abort();
    if (again->count != program->count || again->loop_count != program->loop_count || again->access_count > program->access_count)
        abort();
    wt_program_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wt_program *program;
    struct wt_error err = {0};
    enum wt_code code = wt_text_parse((const char *)data, size, "fuzz.wtp", &program, &err);
    if ((code == WT_OK) != (program != NULL) || (code == WT_OK) != (err.text[0] == '\0'))
        abort();
    if (program && program->count <= MOST_SIMULATED)
        write_and_read(program);
    if (program && is_short(program))
        simulate(program);
    wt_program_free(program);
    return 0;
}
