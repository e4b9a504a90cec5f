#include "ran.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "study/launches.h"

struct kept {
    struct ran *ran;
    size_t run_room, task_room;
};

static void keep_block(void *context, const struct wt_block_run *run)
{
    struct kept *kept = context;
    struct ran *r = kept->ran;
    r->runs = wt_grow(r->runs, &kept->run_room, r->run_count + 1, sizeof *r->runs);
    r->runs[r->run_count++] = *run;
    if (wt_to_cycles(run->end) > r->makespan)
        r->makespan = wt_to_cycles(run->end);
}

static void keep_task(void *context, const struct wt_block_run *run)
{
    struct kept *kept = context;
    struct ran *r = kept->ran;
    r->tasks = wt_grow(r->tasks, &kept->task_room, r->task_count + 1, sizeof *r->tasks);
    r->tasks[r->task_count++] = *run;
}

static enum wt_code simulate(const struct wt_launches *launches, const struct wt_gpu *gpu, struct ran *result)
{
    struct kept kept = {.ran = result};
    struct wt_observer observers[2] = {{.context = &kept, .block_done = keep_block, .task_done = keep_task}};
    struct wt_task_teller teller = {launches, observers, 1};
    observers[1] = wt_task_teller_observer(&teller);
    struct wt_stall stall;
    struct wt_simulation simulation = {.gpu = gpu,
                                       .kernels = launches->kernels,
                                       .kernel_count = launches->count,
                                       .seed = 1,
                                       .first_group = -1,
                                       .first_extra_sm = -1,
                                       .sharing = launches->sharing,
                                       .stall = &stall,
                                       .observers = observers,
                                       .observer_count = 2};
    if (gpu->clock_mhz > 0)
        return wt_launches_simulate(launches, &simulation, launches->about, &result->error);
    enum wt_code code = wt_simulate(&simulation, &result->error);
    return code == WT_DEADLOCK ? wt_launches_explain(launches, &stall, &result->error) : code;
}

static void write_file(const char *path, const char *kernels)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "kernels = (%s);\n", kernels);
    fclose(file);
}

/* Takes the folder out of the message. */
static void strip_folder(struct ran *result, const char *path)
{
    size_t folder = (size_t)(strrchr(path, '/') + 1 - path);
    if (!strncmp(result->error.text, path, folder))
        memmove(result->error.text, result->error.text + folder, strlen(result->error.text + folder) + 1);
}

struct ran ran(const char *gpu_name, const char *kernels)
{
    char folder[] = "/tmp/wt-ran-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char *path = wt_format("%s/w.cfg", folder);
    write_file(path, kernels);
    struct ran result = {0};
    struct wt_gpu *gpu = NULL;
    struct wt_workload *workload = NULL;
    struct wt_launches *launches = NULL;
    ck_assert_int_eq(wt_gpu_load(gpu_name, &gpu, NULL), WT_OK);
    result.code = wt_workload_read(path, &workload, &result.error);
    if (result.code == WT_OK)
        result.code = wt_launches_new(workload, gpu, 1, false, &launches, &result.error);
    if (result.code == WT_OK)
        result.code = simulate(launches, gpu, &result);
    strip_folder(&result, path);
    wt_launches_free(launches);
    wt_workload_free(workload);
    wt_gpu_free(gpu);
    unlink(path);
    rmdir(folder);
    free(path);
    return result;
}

struct ran ran_well(const char *gpu, const char *kernels)
{
    struct ran result = ran(gpu, kernels);
    ck_assert_msg(result.code == WT_OK, "%s", result.error.text);
    return result;
}

void ran_clear(struct ran *result)
{
    free(result->runs);
    free(result->tasks);
    *result = (struct ran){0};
}

const struct wt_block_run *ran_block(const struct ran *result, uint64_t block)
{
    for (size_t i = 0; i < result->run_count; i++)
        if (result->runs[i].launch == 0 && result->runs[i].block == block)
            return &result->runs[i];
    ck_abort_msg("block %llu never ran", (unsigned long long)block);
}
