/* The groups, from the first wave. Blocks in index order give a sequence of SMs; in its complete rounds every
 * SM occurs equally often. Inside a visit SM ids ascend, so the sequence is cut where they descend; SMs that
 * are in one piece in every round are a group. That leaves one case: a group whose visits begin in its middle
 * looks like two groups, one always behind the other and wholly below it; these are joined. */
#include "trace/topology.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct wave {
    size_t count;    /* blocks in complete rounds */
    uint16_t *sm;    /* of each, in block order */
    uint16_t *round; /* how many blocks of its SM came before */
    int rounds;
    size_t *position; /* [sm * rounds + round] -> index in the above */
    int *group_of_sm;
};

struct visit {
    size_t position;
    int group;
};

/* How many rows of each SM start before any of its rows ends. Rows are in block order. */
static int *blocks_before_first_end(const struct wt_trace *trace)
{
    int *count = wt_alloc((size_t)trace->sm_count, sizeof *count);
    int64_t *first_end = wt_alloc((size_t)trace->sm_count, sizeof *first_end);
    for (int s = 0; s < trace->sm_count; s++)
        first_end[s] = INT64_MAX;
    for (size_t i = 0; i < trace->row_count; i++) {
        const struct wt_trace_row *row = &trace->rows[i];
        int64_t end = trace->has_clocks ? row->clock_end : row->time_end_ns;
        first_end[row->sm] = end < first_end[row->sm] ? end : first_end[row->sm];
    }
    for (size_t i = 0; i < trace->row_count; i++) {
        const struct wt_trace_row *row = &trace->rows[i];
        count[row->sm] += (trace->has_clocks ? row->clock_start : row->time_start_ns) < first_end[row->sm];
    }
    free(first_end);
    return count;
}

static int complete_rounds(const struct wt_trace *trace)
{
    int *count = blocks_before_first_end(trace), rounds = UINT16_MAX;
    for (int s = 0; s < trace->sm_count; s++)
        rounds = count[s] < rounds ? count[s] : rounds;
    free(count);
    return rounds;
}

static struct wave first_wave(const struct wt_trace *trace, int rounds)
{
    size_t sms = (size_t)trace->sm_count, most = sms * (size_t)rounds;
    struct wave wave = {.rounds = rounds,
                        .sm = wt_alloc(most, sizeof *wave.sm),
                        .round = wt_alloc(most, sizeof *wave.round),
                        .position = wt_alloc(most, sizeof *wave.position),
                        .group_of_sm = wt_alloc(sms, sizeof *wave.group_of_sm)};
    int *seen = wt_alloc(sms, sizeof *seen);
    for (size_t i = 0; i < trace->row_count && wave.count < most; i++) {
        uint16_t sm = trace->rows[i].sm;
        if (seen[sm] == rounds)
            continue;
        wave.sm[wave.count] = sm;
        wave.round[wave.count] = (uint16_t)seen[sm];
        wave.position[(size_t)sm * (size_t)rounds + (size_t)seen[sm]++] = wave.count++;
    }
    free(seen);
    return wave;
}

static void free_wave(struct wave *wave)
{
    free(wave->sm);
    free(wave->round);
    free(wave->position);
    free(wave->group_of_sm);
}

static size_t position(const struct wave *wave, int sm, int round)
{
    return wave->position[(size_t)sm * (size_t)wave->rounds + (size_t)round];
}

/* Numbers SMs by the pieces they are in: two get one number if they share a piece in every round. */
static int split(const struct wt_trace *trace, struct wave *wave)
{
    int sms = trace->sm_count, groups = 0;
    int *piece = wt_alloc(wave->count, sizeof *piece), *leader = wt_alloc((size_t)sms, sizeof *leader);
    for (size_t i = 1; i < wave->count; i++)
        piece[i] = piece[i - 1] + (wave->sm[i] < wave->sm[i - 1]);
    for (int s = 0; s < sms; s++) {
        int group = 0;
        for (; group < groups; group++) {
            int same = 0;
            while (same < wave->rounds &&
                   piece[position(wave, s, same)] == piece[position(wave, leader[group], same)])
                same++;
            if (same == wave->rounds)
                break;
        }
        if (group == groups)
            leader[groups++] = s;
        wave->group_of_sm[s] = group;
    }
    free(piece);
    free(leader);
    return groups;
}

/* Where a group's visit in `round` begins and ends; false when its SMs are not side by side there. */
static bool extent(const struct wt_trace *trace, const struct wave *wave, int group, int round, size_t *first,
                   size_t *last)
{
    size_t members = 0;
    *first = SIZE_MAX;
    *last = 0;
    for (int s = 0; s < trace->sm_count; s++) {
        if (wave->group_of_sm[s] != group)
            continue;
        size_t at = position(wave, s, round);
        *first = at < *first ? at : *first;
        *last = at > *last ? at : *last;
        members++;
    }
    return members > 0 && *last - *first + 1 == members;
}

static void id_range(const struct wt_trace *trace, const struct wave *wave, int group, int *lowest,
                     int *highest)
{
    *lowest = trace->sm_count;
    *highest = -1;
    for (int s = 0; s < trace->sm_count; s++)
        if (wave->group_of_sm[s] == group) {
            *lowest = s < *lowest ? s : *lowest;
            *highest = s > *highest ? s : *highest;
        }
}

/* Whether `second` always comes right behind `first` and lies wholly below it: then they are one group. */
static bool is_rotated(const struct wt_trace *trace, const struct wave *wave, int first, int second)
{
    int low1, high1, low2, high2;
    size_t begin1, end1, begin2, end2;
    id_range(trace, wave, first, &low1, &high1);
    id_range(trace, wave, second, &low2, &high2);
    if (high2 >= low1)
        return false;
    for (int round = 0; round < wave->rounds; round++)
        if (!extent(trace, wave, first, round, &begin1, &end1) ||
            !extent(trace, wave, second, round, &begin2, &end2) || begin2 != end1 + 1)
            return false;
    return true;
}

static int join_rotated(const struct wt_trace *trace, struct wave *wave, int groups)
{
    for (int first = 0; first < groups; first++)
        for (int second = 0; second < groups; second++) {
            if (first == second || !is_rotated(trace, wave, first, second))
                continue;
            for (int s = 0; s < trace->sm_count; s++)
                if (wave->group_of_sm[s] == first)
                    wave->group_of_sm[s] = second;
            for (int s = 0; s < trace->sm_count; s++)
                if (wave->group_of_sm[s] == groups - 1)
                    wave->group_of_sm[s] = first;
            return join_rotated(trace, wave, groups - 1);
        }
    return groups;
}

static int by_position(const void *left, const void *right)
{
    const struct visit *a = left, *b = right;
    return (a->position > b->position) - (a->position < b->position);
}

/* All visits in order; NULL when a group's SMs were not side by side in some round. */
static struct visit *list_visits(const struct wt_trace *trace, const struct wave *wave, int groups)
{
    size_t count = 0;
    struct visit *visits = wt_alloc((size_t)groups * (size_t)wave->rounds, sizeof *visits);
    for (int group = 0; group < groups; group++)
        for (int round = 0; round < wave->rounds; round++) {
            size_t first, last;
            if (!extent(trace, wave, group, round, &first, &last)) {
                free(visits);
                return NULL;
            }
            visits[count++] = (struct visit){first, group};
        }
    qsort(visits, count, sizeof *visits, by_position);
    return visits;
}

/* Whether the visits, those to `extra` left out, go round in one fixed order. Fills the cycle. */
static bool rotates(const struct visit *visits, int count, int groups, int extra, int cycle[], int *length)
{
    int period = groups - (extra >= 0), seen = 0;
    for (int i = 0; i < count; i++) {
        if (visits[i].group == extra)
            continue;
        if (seen < period)
            cycle[seen] = visits[i].group;
        else if (cycle[seen % period] != visits[i].group)
            return false;
        seen++;
    }
    *length = period;
    for (int i = 0; i < period; i++)
        for (int k = 0; k < i; k++)
            if (cycle[i] == cycle[k])
                return false;
    return true;
}

/* Without an extra group if that explains the visits, else with the first-visited one, else with any. */
static void find_cycle(struct wt_discovery *found, const struct visit *visits)
{
    int candidate[WT_MAX_GROUPS + 2] = {-1, visits[0].group}, count = 2;
    for (int group = 0; group < found->group_count; group++)
        candidate[count++] = group;
    for (int i = 0; i < count && !found->cycle_holds; i++) {
        found->extra_group = candidate[i];
        found->cycle_holds = rotates(visits, found->visits, found->group_count, candidate[i], found->cycle,
                                     &found->cycle_length);
    }
    if (!found->cycle_holds)
        found->extra_group = -1;
}

static void find_gaps(struct wt_discovery *found, const struct visit *visits)
{
    int last = -1, times = 0;
    found->extra_first_gap = found->extra_gap = -1;
    found->gaps_hold = true;
    for (int i = 0; i < found->visits && found->extra_group >= 0; i++) {
        if (visits[i].group != found->extra_group)
            continue;
        int gap = i - last - 1;
        if (times == 1)
            found->extra_first_gap = gap;
        else if (times == 2)
            found->extra_gap = gap;
        else if (times > 2 && gap != found->extra_gap)
            found->gaps_hold = false;
        last = i;
        times++;
    }
}

static void list_groups(struct wt_discovery *found, const struct wave *wave)
{
    for (int s = 0; s < found->sm_count; s++)
        found->groups[wave->group_of_sm[s]].sm_count++;
    for (int g = 0; g < found->group_count; g++) {
        found->groups[g].sms = wt_alloc((size_t)found->groups[g].sm_count, sizeof(uint16_t));
        found->groups[g].sm_count = 0;
    }
    for (int s = 0; s < found->sm_count; s++) {
        struct wt_group *group = &found->groups[wave->group_of_sm[s]];
        group->sms[group->sm_count++] = (uint16_t)s;
    }
}

/* Numbers groups by their lowest SM. */
static void renumber(struct wave *wave, int sm_count, int groups)
{
    int *fresh = wt_alloc((size_t)groups, sizeof *fresh), next = 0;
    for (int g = 0; g < groups; g++)
        fresh[g] = -1;
    for (int s = 0; s < sm_count; s++) {
        int *number = &fresh[wave->group_of_sm[s]];
        if (*number < 0)
            *number = next++;
        wave->group_of_sm[s] = *number;
    }
    free(fresh);
}

static int rank(const struct wt_group *group, int sm)
{
    for (int i = 0; i < group->sm_count; i++)
        if (group->sms[i] == sm)
            return i;
    return -1;
}

/* Whether the TPC's second SM came right behind its first in every round. */
static bool side_by_side(const struct wave *wave, int sm)
{
    for (int round = 0; round < wave->rounds; round++)
        if (position(wave, sm + 1, round) != position(wave, sm, round) + 1)
            return false;
    return true;
}

static void check_tpcs(struct wt_discovery *found, const struct wave *wave)
{
    const int16_t *domain = found->domain_of_sm;
    found->tpc_pairs_together = 0;
    for (int s = 0; s + 1 < found->sm_count; s += 2)
        found->tpc_pairs_together +=
            side_by_side(wave, s) && (found->domain_count == 0 || domain[s] == domain[s + 1]);
}

static void find_first_extra_sm(struct wt_discovery *found, const struct wave *wave,
                                const struct visit *visits)
{
    for (int i = 0; i < found->visits && found->first_extra_sm < 0; i++)
        if (visits[i].group == found->extra_group)
            found->first_extra_sm = rank(&found->groups[found->extra_group], wave->sm[visits[i].position]);
}

static void find_groups(struct wt_discovery *found, const struct wt_trace *trace, int rounds)
{
    struct wave wave = first_wave(trace, rounds);
    int groups = join_rotated(trace, &wave, split(trace, &wave));
    renumber(&wave, trace->sm_count, groups);
    struct visit *visits = groups <= WT_MAX_GROUPS ? list_visits(trace, &wave, groups) : NULL;
    if (visits) {
        found->group_count = groups;
        found->rounds = rounds;
        found->visits = groups * rounds;
        list_groups(found, &wave);
        find_cycle(found, visits);
        find_gaps(found, visits);
        find_first_extra_sm(found, &wave, visits);
        check_tpcs(found, &wave);
    } else {
        found->groups_missing =
            wt_strdup("its first wave does not go from group to group; is it a plain launch?");
    }
    free(visits);
    free_wave(&wave);
}

static const char *refusal(const struct wt_trace *trace)
{
    unsigned kinds = wt_trace_kinds(trace);
    return kinds & WT_TRACE_CONCURRENT    ? "its launches run at once (concurrent)"
           : kinds & WT_TRACE_CLUSTERED   ? "its blocks are placed in clusters"
           : kinds & WT_TRACE_COOPERATIVE ? "its launch is cooperative"
           : kinds & WT_TRACE_PERSISTENT  ? "its launch is persistent: rows are tasks"
           : kinds & WT_TRACE_SEVERAL     ? "it holds several launches"
           : trace->rows[0].block != 0 || trace->launches[trace->rows[0].launch].row_count <
                                              wt_trace_grid_blocks(&trace->launches[trace->rows[0].launch])
               ? "blocks are missing (an incomplete capture)"
               : NULL;
}

static void look_at_sms(struct wt_discovery *found, const struct wt_trace *trace)
{
    bool *seen = wt_alloc((size_t)trace->sm_count, sizeof *seen);
    for (size_t i = 0; i < trace->row_count; i++)
        seen[trace->rows[i].sm] = true;
    for (int s = 0; s < trace->sm_count; s++) {
        found->sms_seen += seen[s];
        if (s % 2 == 0 && s + 1 < trace->sm_count && seen[s] && seen[s + 1]) {
            found->tpc_pairs++;
            found->tpc_pairs_together +=
                found->domain_count == 0 || found->domain_of_sm[s] == found->domain_of_sm[s + 1];
        }
    }
    free(seen);
}

struct wt_discovery wt_discover_topology(const struct wt_trace *trace, const struct wt_clocks *clocks)
{
    struct wt_discovery found = {.sm_count = trace->sm_count,
                                 .domain_count = clocks->domain_count,
                                 .domain_of_sm = clocks->domain_of_sm,
                                 .extra_group = -1,
                                 .first_extra_sm = -1,
                                 .extra_first_gap = -1,
                                 .extra_gap = -1};
    look_at_sms(&found, trace);
    const char *no = refusal(trace);
    int rounds = complete_rounds(trace);
    if (no)
        found.groups_missing = wt_format("%s; capture one plain launch alone", no);
    else if (found.sms_seen < found.sm_count)
        found.groups_missing = wt_format("only %d of %d SMs got a block; launch at least 2 blocks per SM",
                                         found.sms_seen, found.sm_count);
    else if (rounds < 2)
        found.groups_missing =
            wt_format("not every SM got 2 blocks before its first one ended; launch more blocks, "
                      "smaller or longer ones");
    else
        find_groups(&found, trace, rounds);
    return found;
}

void wt_discovery_free(struct wt_discovery *found)
{
    for (int g = 0; g < found->group_count; g++)
        free(found->groups[g].sms);
    free(found->groups_missing);
    *found = (struct wt_discovery){0};
}

bool wt_first_wave_start(const struct wt_trace *trace, size_t launch, const struct wt_gpu *gpu,
                         int *first_group, int *first_extra_sm)
{
    const struct wt_topology *t = &gpu->topology;
    const struct wt_trace_row *rows = wt_trace_rows_of(trace, launch);
    *first_group = *first_extra_sm = -1;
    uint64_t next = 0;
    for (size_t i = 0; i < trace->launches[launch].row_count && *first_group < 0; i++) {
        if (next > 0 && rows[i].block == next - 1) /* another task of a persistent block */
            continue;
        if (rows[i].block != next++ || rows[i].sm >= t->sm_count)
            break;
        int group = t->group_of_sm[rows[i].sm];
        if (group != t->extra_group)
            *first_group = group;
        else if (*first_extra_sm < 0)
            *first_extra_sm = t->rank_in_group[rows[i].sm];
    }
    return *first_group >= 0 || *first_extra_sm >= 0;
}
