/* A GPU config file in memory: the public description plus the values it is built from. Private to sim/gpu. */
#ifndef WT_GPU_FILE_H
#define WT_GPU_FILE_H

#include "core/param.h"
#include "gpu/gpu.h"

struct wt_gpu_file {
    struct wt_gpu gpu; /* first: a wt_gpu handed out is one of these */
    struct wt_record record;
    char *base;
    char *compute_capability;
    struct wt_ints carveouts_kb;
    int sm_count, sms_per_tpc, extra_group;
    struct wt_ints group_sizes, gpc_sizes;
    struct wt_int_lists groups, gpcs;
};

/* Builds file->gpu.topology; fails with the place of the value that is wrong. */
enum wt_code wt_topology_build(struct wt_gpu_file *file, struct wt_error *err);
void wt_topology_free(struct wt_topology *topology);

/* Copies the carve-outs and checks that the limits agree with each other. */
enum wt_code wt_limits_build(struct wt_gpu_file *file, struct wt_error *err);

/* The path of the file that `name` (no path) stands for, owned by the caller; fails naming similar GPUs. */
enum wt_code wt_gpu_find(const char *name, char **path, struct wt_error *err);

#endif
