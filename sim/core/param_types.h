/* What the parameter types are called and how large their fields are. Shared by the files of core/param.h. */
#ifndef WT_CORE_PARAM_TYPES_H
#define WT_CORE_PARAM_TYPES_H

#include "core/param.h"

struct wt_param_kind {
    const char *name;    /* in the reference: "integer" */
    const char *what;    /* in messages: "a whole number" */
    const char *example; /* as it would stand in a file */
    size_t size;         /* of the field */
};

const struct wt_param_kind *wt_param_kind(enum wt_param_type type);

/* Groups and lists of anything: the table names the key only. */
static inline bool wt_param_is_left_to_caller(const struct wt_param *param)
{
    return param->type == WT_PARAM_GROUPS || param->type == WT_PARAM_GROUP || param->type == WT_PARAM_LIST;
}

/* What is allowed, with the unit: "1 to 1024 cycles"; for choices their names. Owned by the caller. */
char *wt_param_range(const struct wt_param *param);

#endif
