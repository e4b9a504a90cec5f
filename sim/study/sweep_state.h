/* A study that was read. Private to sim/study/sweep*.c. */
#ifndef WT_STUDY_SWEEP_STATE_H
#define WT_STUDY_SWEEP_STATE_H

#include "core/config.h"
#include "study/sweep.h"

/* A value for a key of the workload. */
struct wt_sweep_axis {
    char *key;
    int kernel; /* -1: all that the workload has */
    struct wt_config_value *values;
    size_t count;
    char *with; /* an axis whose choice decides this one's, too; NULL: none */
    int leader; /* its index; -1 */
    long line;
};

/* value * times / over, where these are axes of the study (NULL: 1). */
struct wt_sweep_derived {
    char *key;
    int kernel;
    int round; /* enum rounding of sweep.c */
    double value;
    char *times, *over;
    long line;
};

struct wt_sweep {
    char *path;            /* of the study */
    struct wt_config *own; /* the study's tree, which values point into */
    char *base_path;       /* of the workload; names it in messages */
    char *base;            /* its text */
    size_t base_size;
    uint64_t base_hash;
    char *title, *gpu;     /* gpu: overrides the workload's; NULL: does not */
    uint64_t seed;         /* overrides the workload's where seed_given */
    bool seed_given, zip;
    bool has_warps, has_host; /* its workload has programs, or a host's side */
    struct wt_plot_setup plot;
    struct wt_sweep_axis *axes;
    size_t axis_count;
    struct wt_sweep_derived *derived;
    size_t derived_count;
    size_t count;
    struct wt_sweep_gpus *gpus; /* loaded so far */
};

/* The workload of a point, as a tree. On failure *out is NULL, and the message is the workload's or the study's. */
enum wt_code wt_sweep_tree(const struct wt_sweep *sweep, size_t point, struct wt_config **out, struct wt_error *err);

/* sweep_values.c: an axis's values from its group of the study. */
struct config_setting_t;
enum wt_code wt_sweep_values(const struct wt_config *config, const struct config_setting_t *group, uint64_t seed, size_t index,
                             struct wt_sweep_axis *axis, struct wt_error *err);
extern const struct wt_param wt_sweep_axis_params[];

/* The choice of a point on an axis, and a derived key's value. */
const struct wt_config_value *wt_sweep_choice(const struct wt_sweep *sweep, size_t point, size_t axis);
double wt_sweep_derive(const struct wt_sweep *sweep, size_t point, size_t derived);
/* As it stands in the table; owned by the caller. */
char *wt_sweep_value_text(const struct wt_config_value *value);

/* sweep_row.c */
struct wt_sweep_gpus *wt_sweep_gpus_new(void);
void wt_sweep_gpus_free(struct wt_sweep_gpus *gpus);

#endif
