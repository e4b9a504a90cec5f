#include "fit/arrangement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* ---- The questions ---- */

static bool tells_domains(const struct wt_discovery *d)
{
    return d->domain_count > 1 && d->sms_seen == d->sm_count;
}

static bool same_domains(const struct wt_discovery *a, const struct wt_discovery *b)
{
    return !memcmp(a->domain_of_sm, b->domain_of_sm, (size_t)a->sm_count * sizeof *a->domain_of_sm);
}

static bool tells_groups(const struct wt_discovery *d)
{
    return !d->groups_missing && d->cycle_holds;
}

static int place_in_cycle(const struct wt_discovery *d, int group)
{
    for (int i = 0; i < d->cycle_length; i++)
        if (d->cycle[i] == group)
            return i;
    return 0;
}

/* Whether the cycles are the same when both begin at one group. */
static bool same_cycle(const struct wt_discovery *a, const struct wt_discovery *b)
{
    int shift = place_in_cycle(b, a->cycle[0]);
    for (int i = 0; i < a->cycle_length; i++)
        if (a->cycle[i] != b->cycle[(i + shift) % b->cycle_length])
            return false;
    return true;
}

static bool same_groups(const struct wt_discovery *a, const struct wt_discovery *b)
{
    if (a->group_count != b->group_count || a->extra_group != b->extra_group || a->cycle_length != b->cycle_length)
        return false;
    for (int g = 0; g < a->group_count; g++)
        if (a->groups[g].sm_count != b->groups[g].sm_count ||
            memcmp(a->groups[g].sms, b->groups[g].sms, (size_t)a->groups[g].sm_count * sizeof(uint16_t)))
            return false;
    return same_cycle(a, b);
}

static bool tells_first_gap(const struct wt_discovery *d)
{
    return tells_groups(d) && d->extra_first_gap > 0;
}

static bool same_first_gap(const struct wt_discovery *a, const struct wt_discovery *b)
{
    return a->extra_first_gap == b->extra_first_gap;
}

static bool tells_gap(const struct wt_discovery *d)
{
    return tells_groups(d) && d->extra_gap > 0 && d->gaps_hold;
}

static bool same_gap(const struct wt_discovery *a, const struct wt_discovery *b)
{
    return a->extra_gap == b->extra_gap;
}

/* Only visits show that SMs 2k and 2k + 1 go together. */
static bool tells_tpcs(const struct wt_discovery *d)
{
    return tells_groups(d) && 2 * d->tpc_pairs == d->sm_count;
}

static bool same_tpcs(const struct wt_discovery *a, const struct wt_discovery *b)
{
    return (a->tpc_pairs_together == a->tpc_pairs) == (b->tpc_pairs_together == b->tpc_pairs);
}

static const struct {
    const char *name;
    bool (*tells)(const struct wt_discovery *d);
    bool (*same)(const struct wt_discovery *a, const struct wt_discovery *b); /* both tell */
} questions[WT_QUESTIONS] = {
    [WT_ASK_GPCS] = {"clock domains", tells_domains, same_domains},
    [WT_ASK_GROUPS] = {"groups", tells_groups, same_groups},
    [WT_ASK_FIRST_GAP] = {"extra_first_gap", tells_first_gap, same_first_gap},
    [WT_ASK_GAP] = {"extra_gap", tells_gap, same_gap},
    [WT_ASK_TPCS] = {"TPCs", tells_tpcs, same_tpcs},
};

const char *wt_question_name(enum wt_question question)
{
    return questions[question].name;
}

/* ---- The vote ---- */

/* The answer that most traces give; of two given equally often, the one of the trace that comes first by name. */
static struct wt_vote vote(const struct wt_evidence *evidence, enum wt_question question, int sm_count)
{
    size_t count = evidence->trace_count;
    struct wt_vote vote = {-1, wt_alloc(count, sizeof(bool)), wt_alloc(count, sizeof(bool))};
    bool *tells = wt_alloc(count, sizeof *tells);
    int most = 0;
    for (size_t i = 0; i < count; i++)
        tells[i] = evidence->traces[i].discovery.sm_count == sm_count &&
                   questions[question].tells(&evidence->traces[i].discovery);
    for (size_t i = 0; i < count; i++) {
        int agreeing = 0;
        for (size_t k = 0; k < count && tells[i]; k++)
            agreeing += tells[k] && questions[question].same(&evidence->traces[i].discovery,
                                                             &evidence->traces[k].discovery);
        if (agreeing > most) {
            most = agreeing;
            vote.winner = (int)i;
        }
    }
    for (size_t k = 0; k < count && vote.winner >= 0; k++) {
        vote.agrees[k] = tells[k] && questions[question].same(&evidence->traces[vote.winner].discovery,
                                                              &evidence->traces[k].discovery);
        vote.dissents[k] = tells[k] && !vote.agrees[k];
    }
    free(tells);
    return vote;
}

const struct wt_discovery *wt_winner(const struct wt_evidence *evidence, const struct wt_arrangement *arrangement,
                                     enum wt_question question)
{
    int winner = arrangement->votes[question].winner;
    return winner < 0 ? NULL : &evidence->traces[winner].discovery;
}

/* ---- The arrangement ---- */

/* The rotation goes up the group numbers, so they follow it, from the group with SM 0's neighbourhood on; the extra
 * group, which is out of turn, comes last. */
static void order_groups(struct wt_arrangement *a, const struct wt_discovery *d)
{
    int lowest = 0;
    for (int i = 0; i < d->cycle_length; i++)
        lowest = d->cycle[i] < d->cycle[lowest] ? i : lowest;
    for (int i = 0; i < d->cycle_length; i++)
        a->groups[a->group_count++] = &d->groups[d->cycle[(lowest + i) % d->cycle_length]];
    a->extra_group = -1;
    if (d->extra_group >= 0) {
        a->extra_group = a->group_count;
        a->groups[a->group_count++] = &d->groups[d->extra_group];
    }
}

/* The rate of the trace that tells it best, which is the longest: means of many would weigh in what short ones, whose
 * clocks may still be on their way up, cannot know. */
static void find_clock(struct wt_arrangement *a, const struct wt_evidence *evidence)
{
    a->clock_of = wt_alloc(evidence->trace_count, sizeof *a->clock_of);
    a->clock_error = INFINITY;
    size_t best = 0;
    for (size_t i = 0; i < evidence->trace_count; i++) {
        const struct wt_clocks *clocks = evidence->traces[i].clocks;
        if (!clocks->curves || clocks->mhz_is_stated || clocks->mhz <= 0 || clocks->mhz_uncertainty >= a->clock_error)
            continue;
        a->clock_mhz = clocks->mhz;
        a->clock_error = clocks->mhz_uncertainty;
        best = i;
    }
    a->clock_of[best] = a->clock_mhz > 0;
}

struct wt_arrangement wt_arrange(const struct wt_evidence *evidence)
{
    struct wt_arrangement a = {.extra_group = -1,
                               .sm_count_of = wt_alloc(evidence->trace_count, sizeof *a.sm_count_of)};
    for (size_t i = 0; i < evidence->trace_count; i++)
        a.sm_count = evidence->traces[i].trace->sm_count > a.sm_count ? evidence->traces[i].trace->sm_count : a.sm_count;
    for (size_t i = 0; i < evidence->trace_count; i++)
        a.sm_count_of[i] = evidence->traces[i].trace->sm_count == a.sm_count;
    for (int q = 0; q < WT_QUESTIONS; q++)
        a.votes[q] = vote(evidence, (enum wt_question)q, a.sm_count);
    const struct wt_discovery *groups = wt_winner(evidence, &a, WT_ASK_GROUPS);
    if (groups)
        order_groups(&a, groups);
    find_clock(&a, evidence);
    return a;
}

void wt_arrangement_free(struct wt_arrangement *a)
{
    for (int q = 0; q < WT_QUESTIONS; q++) {
        free(a->votes[q].agrees);
        free(a->votes[q].dissents);
    }
    free(a->sm_count_of);
    free(a->clock_of);
    *a = (struct wt_arrangement){0};
}
