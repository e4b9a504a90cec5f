#include "dispatch/clusters.h"

#include <string.h>

#include "sm/occupancy.h"

void wt_clusters_init(struct wt_clusters *clusters, const struct wt_topology *topology, int first_group,
                      int first_extra_sm)
{
    *clusters = (struct wt_clusters){.topology = topology};
    if (first_group >= 0 && first_group < topology->group_count)
        clusters->next = first_group;
    int extra = topology->extra_group;
    if (extra >= 0 && first_extra_sm > 0 && first_extra_sm < topology->groups[extra].sm_count)
        clusters->extra_start = first_extra_sm;
}

int wt_clusters_most(const struct wt_topology *topology, int group)
{
    return group == topology->extra_group ? WT_EXTRA_GROUP_CLUSTER : topology->groups[group].sm_count;
}

/* The `size`-th largest room in the group: that of the cluster's fullest SM. 0: no cluster fits. */
static int level_of(const struct wt_clusters *c, int group, const int *rooms, int size)
{
    const struct wt_group *g = &c->topology->groups[group];
    if (size > wt_clusters_most(c->topology, group))
        return 0;
    int with_room[WT_MAX_SLOTS + 1] = {0};
    for (int i = 0; i < g->sm_count; i++)
        with_room[rooms[g->sms[i]]]++;
    int level = WT_MAX_SLOTS;
    for (int seen = with_room[level]; level > 0 && seen < size; seen += with_room[level])
        level--;
    return level;
}

static int following(const struct wt_topology *t, int group)
{
    return group + 1 == t->group_count ? 0 : group + 1;
}

/* -1: none takes a cluster. */
static int choose_group(const struct wt_clusters *c, const int *rooms, int size, int *level)
{
    const struct wt_topology *t = c->topology;
    int chosen = t->extra_group, group = c->next;
    *level = chosen < 0 ? 0 : level_of(c, chosen, rooms, size);
    for (int i = 0; i < t->group_count; i++, group = following(t, group)) {
        int its = group == t->extra_group ? 0 : level_of(c, group, rooms, size);
        if (its > *level) {
            *level = its;
            chosen = group;
        }
    }
    return *level > 0 ? chosen : -1;
}

/* A cluster on the group's SMs with more room than `level`, and on the first of those with just that. */
static void list_cluster(const struct wt_clusters *c, int group, const int *rooms, int size, int level,
                         struct wt_visit *visit)
{
    const struct wt_group *g = &c->topology->groups[group];
    int start = group == c->topology->extra_group ? c->extra_start : 0;
    int at_level = size;
    for (int i = 0; i < g->sm_count; i++)
        at_level -= rooms[g->sms[i]] > level;
    for (int i = 0; i < g->sm_count; i++) {
        int sm = g->sms[(start + i) % g->sm_count];
        if (rooms[sm] > level || (rooms[sm] == level && at_level-- > 0))
            visit->sms[visit->count++] = (uint16_t)sm;
    }
}

/* As many clusters of the extra group as it takes at `level`. */
static void list_extra(const struct wt_clusters *c, const int *rooms, int size, int level, uint64_t remaining,
                       struct wt_visit *visit)
{
    int left[WT_MAX_SMS];
    memcpy(left, rooms, (size_t)c->topology->sm_count * sizeof *left);
    do {
        int first = visit->count;
        list_cluster(c, c->topology->extra_group, left, size, level, visit);
        for (int i = first; i < visit->count; i++)
            left[visit->sms[i]]--;
    } while ((uint64_t)visit->count < remaining && level_of(c, c->topology->extra_group, left, size) == level);
}

void wt_clusters_visit(struct wt_clusters *clusters, const int *rooms, int size, uint64_t remaining,
                       struct wt_visit *visit)
{
    int level, group = choose_group(clusters, rooms, size, &level);
    visit->count = 0;
    visit->first_wave = false;
    if (group < 0)
        return;
    if (group == clusters->topology->extra_group) {
        list_extra(clusters, rooms, size, level, remaining, visit);
        return;
    }
    list_cluster(clusters, group, rooms, size, level, visit);
    clusters->next = following(clusters->topology, group);
}
