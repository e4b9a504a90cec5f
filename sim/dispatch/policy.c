#include "dispatch/policy.h"

#include <stdio.h>
#include <string.h>

const struct wt_policy *const wt_policies[] = {
    &wt_policy_h200, &wt_policy_most_room, &wt_policy_round_robin, &wt_policy_shuffle, NULL,
};

enum wt_code wt_policy_find(const char *name, const struct wt_policy **out, struct wt_error *err)
{
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; wt_policies[i]; i++) {
        if (!strcmp(wt_policies[i]->name, name)) {
            *out = wt_policies[i];
            return WT_OK;
        }
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", wt_policies[i]->name);
    }
    *out = NULL;
    return wt_fail(err, WT_BAD_INPUT, "no placement policy '%s'; there are: %s", name, known);
}
