/* From what a config says of its SMs to who is where. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "gpu/file.h"

enum { NOWHERE = UINT16_MAX, LIKELY_SMS = 16 };

/* One partition of the SMs, by explicit lists or by sizes: the groups, or the clock domains. */
struct partition {
    const struct wt_int_lists *lists;
    const struct wt_ints *sizes;
    const char *lists_key, *sizes_key;
    int last_part; /* the part that takes the last SMs instead of sharing in the interleaving, or -1 */
};

static enum wt_code put(const struct wt_gpu_file *file, const struct partition *p, int sm, int part,
                        uint16_t *part_of_sm, struct wt_error *err)
{
    if (sm >= file->sm_count)
        return wt_record_fail(&file->record, p->lists_key, file->gpu.path, err,
                              "'%s' names SM %d, but the GPU has SMs 0 to %d; correct topology.sm_count or the list",
                              p->lists_key, sm, file->sm_count - 1);
    if (part_of_sm[sm] != NOWHERE)
        return wt_record_fail(&file->record, p->lists_key, file->gpu.path, err,
                              "'%s' names SM %d twice; every SM is in exactly one list", p->lists_key, sm);
    part_of_sm[sm] = (uint16_t)part;
    return WT_OK;
}

static enum wt_code from_lists(const struct wt_gpu_file *file, const struct partition *p, uint16_t *part_of_sm,
                               struct wt_error *err)
{
    for (int i = 0; i < p->lists->count; i++) {
        const struct wt_ints *list = &p->lists->lists[i];
        if (list->count == 0)
            return wt_record_fail(&file->record, p->lists_key, file->gpu.path, err,
                                  "list %d of '%s' is empty; remove it", i, p->lists_key);
        for (int k = 0; k < list->count; k++)
            WT_TRY(put(file, p, list->values[k], i, part_of_sm, err));
    }
    for (int sm = 0; sm < file->sm_count; sm++)
        if (part_of_sm[sm] == NOWHERE)
            return wt_record_fail(&file->record, p->lists_key, file->gpu.path, err,
                                  "'%s' leaves out SM %d; every SM is in exactly one list", p->lists_key, sm);
    return WT_OK;
}

static enum wt_code check_sizes(const struct wt_gpu_file *file, const struct partition *p, struct wt_error *err)
{
    long sum = 0;
    for (int i = 0; i < p->sizes->count; i++) {
        sum += p->sizes->values[i];
        if (p->sizes->values[i] % file->sms_per_tpc)
            return wt_record_fail(&file->record, p->sizes_key, file->gpu.path, err,
                                  "'%s' has %d, which is no whole number of TPCs of %d SMs", p->sizes_key,
                                  p->sizes->values[i], file->sms_per_tpc);
    }
    if (sum == file->sm_count)
        return WT_OK;
    return wt_record_fail(&file->record, p->sizes_key, file->gpu.path, err,
                          "'%s' adds up to %ld, but topology.sm_count is %d; correct one, or give []", p->sizes_key, sum,
                          file->sm_count);
}

/* SM ids go round the parts TPC by TPC, as the H200's do: TPC k goes to the next part that still has room. */
static void interleave(const struct wt_gpu_file *file, const struct partition *p, uint16_t *part_of_sm)
{
    int *room = wt_alloc((size_t)p->sizes->count, sizeof *room);
    memcpy(room, p->sizes->values, (size_t)p->sizes->count * sizeof *room);
    int last = p->last_part >= 0 && p->last_part < p->sizes->count ? p->last_part : -1;
    int shared = file->sm_count - (last >= 0 ? room[last] : 0);
    for (int sm = shared; sm < file->sm_count; sm++)
        part_of_sm[sm] = (uint16_t)last;
    for (int sm = 0, part = 0; sm < shared; sm += file->sms_per_tpc) {
        while (part == last || room[part] == 0)
            part = (part + 1) % p->sizes->count;
        for (int k = 0; k < file->sms_per_tpc; k++)
            part_of_sm[sm + k] = (uint16_t)part;
        room[part] -= file->sms_per_tpc;
        part = (part + 1) % p->sizes->count;
    }
    free(room);
}

/* Fills part_of_sm; *count = 0 and nothing filled when the config says nothing. */
static enum wt_code divide(const struct wt_gpu_file *file, const struct partition *p, uint16_t *part_of_sm, int *count,
                           struct wt_error *err)
{
    memset(part_of_sm, 0xff, (size_t)file->sm_count * sizeof *part_of_sm);
    *count = p->lists->count + p->sizes->count;
    if (p->lists->count && p->sizes->count)
        return wt_record_fail(&file->record, p->sizes_key, file->gpu.path, err,
                              "both '%s' and '%s' are given; set one of them to []", p->lists_key, p->sizes_key);
    if (p->lists->count)
        return from_lists(file, p, part_of_sm, err);
    if (p->sizes->count) {
        WT_TRY(check_sizes(file, p, err));
        interleave(file, p, part_of_sm);
    }
    return WT_OK;
}

/* Of a GPU about which nothing is known: as many parts as give none more than LIKELY_SMS, TPCs going round them. */
static int divide_evenly(const struct wt_gpu_file *file, uint16_t *part_of_sm)
{
    int parts = (file->sm_count + LIKELY_SMS - 1) / LIKELY_SMS;
    for (int sm = 0; sm < file->sm_count; sm++)
        part_of_sm[sm] = (uint16_t)(sm / file->sms_per_tpc % parts);
    return parts;
}

/* The SMs of a TPC share a launcher, so they must be in one group and one clock domain. */
static enum wt_code check_tpcs(const struct wt_gpu_file *file, const struct partition *p, const uint16_t *part_of_sm,
                               struct wt_error *err)
{
    for (int sm = 1; sm < file->sm_count; sm++)
        if (sm % file->sms_per_tpc && part_of_sm[sm] != part_of_sm[sm - 1])
            return wt_record_fail(&file->record, p->lists_key, file->gpu.path, err,
                                  "'%s' parts SMs %d and %d, which are one TPC; keep them together", p->lists_key, sm - 1,
                                  sm);
    return WT_OK;
}

/* Group members in visiting order: as listed, or by id. */
static void list_members(const struct wt_gpu_file *file, struct wt_topology *t)
{
    uint16_t *next = wt_alloc((size_t)t->sm_count, sizeof *next);
    for (int g = 0; g < t->group_count; g++) {
        struct wt_group *group = &t->groups[g];
        group->sms = next;
        for (int k = 0; file->groups.count && k < file->groups.lists[g].count; k++)
            group->sms[group->sm_count++] = (uint16_t)file->groups.lists[g].values[k];
        for (int sm = 0; !file->groups.count && sm < t->sm_count; sm++)
            if (t->group_of_sm[sm] == g)
                group->sms[group->sm_count++] = (uint16_t)sm;
        for (int k = 0; k < group->sm_count; k++)
            t->rank_in_group[group->sms[k]] = (uint16_t)k;
        next += group->sm_count;
    }
}

static enum wt_code build_groups(struct wt_gpu_file *file, struct wt_error *err)
{
    struct wt_topology *t = &file->gpu.topology;
    struct partition p = {&file->groups, &file->group_sizes, "topology.groups", "topology.group_sizes",
                          file->extra_group};
    WT_TRY(divide(file, &p, t->group_of_sm, &t->group_count, err));
    if (t->group_count == 0)
        t->group_count = divide_evenly(file, t->group_of_sm);
    WT_TRY(check_tpcs(file, &p, t->group_of_sm, err));
    if (file->extra_group >= t->group_count)
        return wt_record_fail(&file->record, "topology.extra_group", file->gpu.path, err,
                              "'topology.extra_group' is %d, but groups are 0 to %d; correct it, or give -1",
                              file->extra_group, t->group_count - 1);
    t->extra_group = file->extra_group;
    list_members(file, t);
    return WT_OK;
}

static enum wt_code build_domains(struct wt_gpu_file *file, struct wt_error *err)
{
    struct wt_topology *t = &file->gpu.topology;
    struct partition p = {&file->gpcs, &file->gpc_sizes, "topology.gpcs", "topology.gpc_sizes", -1};
    WT_TRY(divide(file, &p, t->gpc_of_sm, &t->gpc_count, err));
    if (t->gpc_count == 0) {
        t->gpc_count = t->group_count;
        memcpy(t->gpc_of_sm, t->group_of_sm, (size_t)t->sm_count * sizeof *t->gpc_of_sm);
    }
    return check_tpcs(file, &p, t->gpc_of_sm, err);
}

static enum wt_code check_offsets(const struct wt_gpu_file *file, const char *key, const struct wt_numbers *list,
                                  struct wt_error *err)
{
    int tpcs = file->gpu.topology.tpc_count;
    if (list->count == 0 || list->count == tpcs)
        return WT_OK;
    return wt_record_fail(&file->record, key, file->gpu.path, err,
                          "'%s' has %d values, but the GPU has %d TPCs; give one for each, or []", key, list->count, tpcs);
}

enum wt_code wt_topology_build(struct wt_gpu_file *file, struct wt_error *err)
{
    struct wt_topology *t = &file->gpu.topology;
    size_t n = (size_t)file->sm_count;
    t->sm_count = file->sm_count;
    t->group_of_sm = wt_alloc(n, sizeof *t->group_of_sm);
    t->rank_in_group = wt_alloc(n, sizeof *t->rank_in_group);
    t->tpc_of_sm = wt_alloc(n, sizeof *t->tpc_of_sm);
    t->gpc_of_sm = wt_alloc(n, sizeof *t->gpc_of_sm);
    for (int sm = 0; sm < t->sm_count; sm++)
        t->tpc_of_sm[sm] = (uint16_t)(sm / file->sms_per_tpc);
    t->tpc_count = t->tpc_of_sm[t->sm_count - 1] + 1;
    WT_TRY(build_groups(file, err));
    WT_TRY(check_offsets(file, "rates.launch_offset_cycles", &file->gpu.rates.launch_offset_cycles, err));
    WT_TRY(check_offsets(file, "rates.report_offset_cycles", &file->gpu.rates.report_offset_cycles, err));
    return build_domains(file, err);
}

void wt_topology_free(struct wt_topology *t)
{
    if (t->group_count)
        free(t->groups[0].sms);
    free(t->group_of_sm);
    free(t->rank_in_group);
    free(t->tpc_of_sm);
    free(t->gpc_of_sm);
}
