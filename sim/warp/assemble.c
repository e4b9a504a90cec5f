#include "warp/assemble.h"

#include <string.h>

#include "warp/classes.h"

/* Cycles from issue to use of results that have no scoreboard: what SASS for cc 9.0 shows (gpu_ref's kernels: 4 within
 * the FP32 and integer pipes, 5 between them, 13 from a compare to a predicate's use, 8 for FP64). */
enum { SAME_PIPE = 4, OTHER_PIPE = 5, PREDICATE = 13, DOUBLE = 8, UNIFORM = 6, BRANCH_STALL = 5, BARRIER_STALL = 6, MOST_STALL = 15 };

/* What is under way in front of an instruction. */
struct state {
    long clock; /* issue time, if nothing else held it up */
    long ready[WT_REGISTERS]; /* fixed: result can be used from then on */
    uint8_t pipe[WT_REGISTERS];
    int8_t board[WT_REGISTERS]; /* scoreboard its result is booked on; -1: none */
    int next_board;
    size_t goes_to; /* of a loop's end */
};

static int latency_of(const struct wt_instruction *i, bool predicate)
{
    if (i->latency)
        return i->latency;
    if (predicate)
        return PREDICATE;
    if (i->op == WT_OP_FP64)
        return DOUBLE;
    return i->op == WT_OP_UNIFORM ? UNIFORM : SAME_PIPE;
}

/* The earliest issue by what register `r` still has to come; boards to wait for are added to the mask. */
static long earliest(const struct state *s, int r, uint8_t pipe, uint8_t *boards)
{
    if (s->board[r] >= 0)
        *boards |= (uint8_t)(1u << s->board[r]);
    long extra = s->ready[r] > s->clock && s->pipe[r] != pipe && r < WT_FIRST_PREDICATE ? OTHER_PIPE - SAME_PIPE : 0;
    return s->ready[r] + extra;
}

static void forget_boards(struct state *s, uint8_t boards)
{
    for (int r = 0; r < WT_REGISTERS; r++)
        if (s->board[r] >= 0 && boards >> s->board[r] & 1)
            s->board[r] = -1;
}

static bool is_variable(const struct wt_instruction *i)
{
    return wt_classes[i->op].variable;
}

static void write_results(struct state *s, struct wt_instruction *i, const struct wt_operands *o)
{
    if (o->destination < 0)
        return;
    bool booked = is_variable(i);
    if (booked && !o->own_boards) {
        i->write_board = (uint8_t)s->next_board;
        s->next_board = (s->next_board + 1) % WT_SCOREBOARDS;
    }
    for (int k = 0; k < o->destination_count && o->destination + k < WT_REGISTERS; k++) {
        int r = o->destination + k;
        s->board[r] = booked && i->write_board < WT_SCOREBOARDS ? (int8_t)i->write_board : -1;
        s->ready[r] = booked ? 0 : s->clock + latency_of(i, r >= WT_FIRST_PREDICATE && r < WT_FIRST_UNIFORM);
        s->pipe[r] = (uint8_t)wt_classes[i->op].pipe;
    }
}

static uint8_t least_stall(enum wt_op op)
{
    if (op == WT_OP_BARRIER)
        return BARRIER_STALL;
    return op == WT_OP_BRANCH || op == WT_OP_EXIT || op == WT_OP_CONVERGE ? BRANCH_STALL : 1;
}

/* `before` may wait longer for this one's sake. */
static void place(struct state *s, struct wt_instruction *i, const struct wt_operands *o, struct wt_instruction *before,
                  bool before_is_own)
{
    uint8_t boards = 0;
    long from = s->clock;
    for (int k = 0; k < o->source_count; k++) {
        long at = earliest(s, o->sources[k], (uint8_t)wt_classes[i->op].pipe, &boards);
        from = at > from ? at : from;
    }
    for (int k = 0; k < o->destination_count && o->destination >= 0 && o->destination + k < WT_REGISTERS; k++)
        earliest(s, o->destination + k, 0, &boards);
    if (before && !before_is_own && from > s->clock) {
        long stall = before->stall + from - s->clock;
        before->stall = (uint8_t)(stall > MOST_STALL ? MOST_STALL : stall);
    }
    s->clock = from;
    if (!o->own_boards) {
        i->wait_boards = boards;
        forget_boards(s, boards);
    }
    if (!o->own_stall)
        i->stall = least_stall((enum wt_op)i->op);
    write_results(s, i, o);
    s->clock += i->stall;
}

/* What may be under way where control comes from `other`, too. */
static void merge(struct state *s, const struct state *other)
{
    for (int r = 0; r < WT_REGISTERS; r++) {
        long left = other->ready[r] - other->clock;
        if (left > s->ready[r] - s->clock) {
            s->ready[r] = s->clock + left;
            s->pipe[r] = other->pipe[r];
        }
        if (other->board[r] >= 0)
            s->board[r] = other->board[r];
    }
}

/* Twice over the program: the second time, the beginning of a loop knows what its end has under way. */
void wt_assemble(struct wt_program *program, const struct wt_operands *operands)
{
    struct state at_end[WT_MOST_LOOPS];
    bool known[WT_MOST_LOOPS] = {false};
    for (int pass = 0; pass < 2; pass++) {
        struct state s = {0};
        memset(s.board, -1, sizeof s.board);
        for (size_t at = 0; at < program->count; at++) {
            for (size_t l = 0; pass == 1 && l < program->loop_count; l++)
                if (known[l] && at_end[l].goes_to == at)
                    merge(&s, &at_end[l]);
            struct wt_instruction *i = &program->instructions[at];
            place(&s, i, &operands[at], at ? i - 1 : NULL, at ? operands[at - 1].own_stall : false);
            if (i->op == WT_OP_BRANCH && i->branch == WT_BRANCH_LOOP && i->target <= at) {
                at_end[i->index] = s;
                at_end[i->index].goes_to = i->target;
                known[i->index] = true;
            }
        }
    }
}
