/* Do the limits of a GPU agree with each other? The simulation divides by some and sizes arrays by others. */
#include <string.h>

#include "gpu/file.h"

static enum wt_code check_carveouts(struct wt_gpu_file *file, struct wt_error *err)
{
    const struct wt_limits *l = &file->gpu.limits;
    const char *key = "limits.carveouts_kb";
    for (int i = 1; i < l->carveout_count; i++)
        if (l->carveouts_kb[i] <= l->carveouts_kb[i - 1])
            return wt_record_fail(&file->record, key, file->gpu.path, err, "'%s' must rise; sort it", key);
    if (l->carveout_count && l->carveouts_kb[l->carveout_count - 1] * 1024 != l->shared_bytes_per_sm)
        return wt_record_fail(&file->record, key, file->gpu.path, err,
                              "the largest of '%s', %d KB, is not limits.shared_bytes_per_sm, %d; make them agree", key,
                              l->carveouts_kb[l->carveout_count - 1], l->shared_bytes_per_sm);
    return WT_OK;
}

enum wt_code wt_limits_build(struct wt_gpu_file *file, struct wt_error *err)
{
    struct wt_limits *l = &file->gpu.limits;
    l->carveout_count = file->carveouts_kb.count;
    if (l->carveout_count)
        memcpy(l->carveouts_kb, file->carveouts_kb.values, (size_t)l->carveout_count * sizeof(int));
    const struct {
        bool wrong;
        const char *key, *what;
    } rules[] = {
        {l->warps_per_sm % l->subcores, "limits.warps_per_sm", "must be a multiple of limits.subcores"},
        {l->threads_per_sm != l->warps_per_sm * WT_WARP_SIZE, "limits.threads_per_sm",
         "must be 32 times limits.warps_per_sm"},
        {l->threads_per_block > l->threads_per_sm, "limits.threads_per_block", "exceeds limits.threads_per_sm"},
        {l->registers_per_sm % (l->subcores * l->register_unit), "limits.registers_per_sm",
         "must be a multiple of limits.subcores times limits.register_unit"},
        {l->registers_per_block > l->registers_per_sm, "limits.registers_per_block", "exceeds limits.registers_per_sm"},
        {l->shared_bytes_per_sm % l->shared_unit_bytes, "limits.shared_bytes_per_sm",
         "must be a multiple of limits.shared_unit_bytes"},
        {l->shared_bytes_per_block > l->shared_bytes_per_block_opt_in, "limits.shared_bytes_per_block",
         "exceeds limits.shared_bytes_per_block_opt_in"},
        {l->shared_bytes_per_block_opt_in + l->shared_reserved_bytes > l->shared_bytes_per_sm,
         "limits.shared_bytes_per_block_opt_in", "with limits.shared_reserved_bytes exceeds limits.shared_bytes_per_sm"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            return wt_record_fail(&file->record, rules[i].key, file->gpu.path, err, "'%s' %s; correct one of them",
                                  rules[i].key, rules[i].what);
    return check_carveouts(file, err);
}
