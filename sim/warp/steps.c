#include "core/mem.h"
#include "warp/machine.h"

static enum wt_pipe pipe_of(const struct wt_instruction *i, const struct wt_access *access)
{
    if (i->op != WT_OP_MEMORY)
        return wt_classes[i->op].pipe;
    return access->space == WT_SPACE_SHARED || access->space == WT_SPACE_CLUSTER ? WT_PIPE_MIO : WT_PIPE_LG;
}

static uint16_t rounded(uint16_t own, double of_class, uint16_t least)
{
    double value = own ? own : of_class + 0.5;
    return value < least ? least : value > 65535 ? 65535 : (uint16_t)value;
}

static struct wt_step step_of(const struct wt_program *program, const struct wt_instruction *i, const struct wt_gpu *gpu)
{
    const struct wt_access *access = i->op == WT_OP_MEMORY ? &program->accesses[i->access] : NULL;
    enum wt_op op = (enum wt_op)i->op;
    return (struct wt_step){.op = i->op,
                            .pipe = (uint8_t)pipe_of(i, access),
                            .stall = i->stall ? i->stall : 1,
                            .wait_boards = i->wait_boards,
                            .write_board = i->write_board,
                            .read_board = i->read_board,
                            .yield = i->yield,
                            .sometimes = i->active < 1,
                            .waits_behind = i->op == WT_OP_CONVERGE && i->branch == WT_BRANCH_ALWAYS,
                            .blocks = i->blocks,
                            .reads = {i->reads[0], i->reads[1]},
                            .interval = rounded(i->interval, wt_class_rate(&gpu->warp.interval, op), 1),
                            .latency = rounded(i->latency, wt_class_rate(&gpu->warp.latency, op), 1),
                            .of = i,
                            .access = access};
}

struct wt_step *wt_steps_make(const struct wt_program *program, const struct wt_gpu *gpu, size_t *line_count)
{
    static const struct wt_instruction last = {
        .op = WT_OP_EXIT, .stall = 1, .write_board = WT_NO_SCOREBOARD, .read_board = WT_NO_SCOREBOARD, .active = 1};
    struct wt_step *steps = wt_alloc(program->count + 1, sizeof *steps);
    for (size_t at = 0; at <= program->count; at++) {
        const struct wt_instruction *i = at < program->count ? &program->instructions[at] : &last;
        steps[at] = step_of(program, i, gpu);
        steps[at].target = &steps[i->op == WT_OP_BRANCH ? i->target : 0];
        steps[at].line = (uint32_t)(*line_count + at / WT_LINE_INSTRUCTIONS);
        steps[at].line_begins = at % WT_LINE_INSTRUCTIONS == 0;
    }
    *line_count += program->count / WT_LINE_INSTRUCTIONS + 1;
    return steps;
}
