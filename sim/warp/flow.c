#include "warp/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const struct wt_sass_instruction *at(const struct wt_flows *flows, size_t index)
{
    return &flows->setup->function->instructions[index];
}

static const struct wt_ncu_row *row(const struct wt_flows *flows, size_t index)
{
    return flows->setup->source ? &flows->setup->source->rows[index] : NULL;
}

static bool is(const struct wt_sass_instruction *instruction, const char *opcode)
{
    return !strcmp(instruction->opcode, opcode);
}

static bool is_jump(const struct wt_sass_instruction *i)
{
    return is(i, "BRA") || is(i, "JMP") || is(i, "BRX") || is(i, "RET") || is(i, "EXIT") || is(i, "KILL");
}

bool wt_flow_conditional(const struct wt_sass_instruction *instruction)
{
    if (instruction->guarded)
        return true;
    const char *comma = strchr(instruction->text, ',');
    return (is(instruction, "BRA") && comma) || wt_sass_has(instruction, "DIV");
}

bool wt_flow_ends(const struct wt_sass_instruction *instruction)
{
    return is_jump(instruction) && !wt_flow_conditional(instruction);
}

long wt_flow_target(const struct wt_flows *flows, size_t index)
{
    uint32_t target = at(flows, index)->target;
    return target == WT_SASS_NO_TARGET ? -1 : wt_sass_at(flows->setup->function, target);
}

double wt_flow_executed(const struct wt_flows *flows, size_t index)
{
    const struct wt_ncu_row *counts = row(flows, index);
    return counts ? counts->executed : 1;
}

struct wt_flows wt_flows_begin(const struct wt_sass_setup *setup)
{
    struct wt_flows flows = {setup, wt_alloc(setup->function->count, sizeof *flows.sources)};
    for (size_t i = 0; i < setup->function->count; i++) {
        long target = wt_flow_target(&flows, i);
        if (target >= 0 && (is(at(&flows, i), "BRA") || is(at(&flows, i), "CALL")) && wt_flow_executed(&flows, i) > 0)
            flows.sources[target]++;
    }
    return flows;
}

void wt_flows_end(struct wt_flows *flows)
{
    free(flows->sources);
}

/* How often warps go on behind a BSYNC: parts of a diverged warp execute it each, and go on together. Its BSSYs, which name the
 * instruction behind it, are executed by the undivided warp. */
static double goes_on(const struct wt_flows *flows, size_t index)
{
    double executed = wt_flow_executed(flows, index), entered = 0;
    if (!is(at(flows, index), "BSYNC"))
        return executed;
    for (size_t i = 0; i < index; i++)
        if (is(at(flows, i), "BSSY") && wt_flow_target(flows, i) == (long)index + 1)
            entered += wt_flow_executed(flows, i);
    return entered > 0 && entered < executed ? entered : executed;
}

/* How often `index` is reached through the one branch that leads there; negative: cannot be told apart. */
static double reached_by_branch(const struct wt_flows *flows, long index)
{
    if (index < 0 || flows->sources[index] != 1)
        return -1;
    double executed = wt_flow_executed(flows, (size_t)index);
    if (index == 0 || wt_flow_ends(at(flows, (size_t)index - 1)))
        return executed;
    double before = goes_on(flows, (size_t)index - 1);
    if (is_jump(at(flows, (size_t)index - 1)) && before > 0)
        return -1;
    return executed > before ? executed - before : 0;
}

/* How often control goes on to the next instruction; negative: cannot be told apart. */
static double reached_from_above(const struct wt_flows *flows, size_t index)
{
    if (index + 1 >= flows->setup->function->count)
        return 0;
    return flows->sources[index + 1] ? -1 : wt_flow_executed(flows, index + 1);
}

static double within(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Far fewer warps diverge than if every thread went its own way: neighbouring threads have like data. Seen as a walk from thread to
 * thread, as many warps diverge as its range over a warp is wide, 1.6 standard deviations of where it leads to; the next warp
 * begins there. Where no warp diverges, the condition may be one of whole warps, and says nothing of their likeness. */
static double drift(const struct wt_ncu_row *counts, double on)
{
    double threads = within(counts->threads / counts->executed, 1, 32), part = counts->divergent / counts->executed;
    double if_each = 1 - pow(on, threads) - pow(1 - on, threads);
    return part < 0.5 * if_each ? part / 1.6 : 0;
}

static struct wt_flow from_counts(const struct wt_flows *flows, size_t index, const struct wt_ncu_row *counts)
{
    double executed = counts->executed, divergent = within(counts->divergent, 0, executed);
    double on = counts->threads > 0 ? counts->threads_on / counts->threads : 0;
    double falls = reached_from_above(flows, index), taken = reached_by_branch(flows, wt_flow_target(flows, index));
    if (divergent == 0 && on <= 0 && at(flows, index)->guarded)
        taken = 0, falls = executed;
    else if (divergent == 0 && on >= 1 && at(flows, index)->guarded)
        taken = executed, falls = 0;
    if (falls < 0 && taken < 0)
        taken = executed * within(on, 0, 1) + divergent * within(1 - on, 0, 1);
    if (taken < 0)
        taken = executed + divergent - falls;
    if (falls < 0)
        falls = executed + divergent - taken;
    struct wt_flow flow = {.taken = within(taken / executed, 0, 1), .falls = within(falls / executed, 0, 1), .known = true};
    flow.drift = on > 0 && on < 1 ? drift(counts, on) : 0;
    flow.both = within(flow.taken + flow.falls - 1, 0, 1);
    if (flow.both < 1e-9)
        flow.falls = 1 - flow.taken;
    return flow;
}

struct wt_flow wt_flow_of(const struct wt_flows *flows, size_t index)
{
    const struct wt_ncu_row *counts = row(flows, index);
    if (!wt_flow_conditional(at(flows, index)))
        return (struct wt_flow){.taken = 1, .known = true};
    if (!counts)
        return (struct wt_flow){.falls = 1};
    if (counts->executed <= 0)
        return (struct wt_flow){.falls = 1, .known = true};
    return from_counts(flows, index, counts);
}
