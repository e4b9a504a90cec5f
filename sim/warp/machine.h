/* The inside of the warp level: one SM, its four sub-cores, and its share of L2 and DRAM.
 *
 * Time is in whole cycles. A warp's instruction issues at the earliest in the cycle in which
 *   - the stall count of its previous instruction has run down ("wait"),
 *   - after a taken branch, the target is known (branch_cycles, or converge_cycles behind a BSYNC) and fetched
 *     (fetch_cycles); a line of instructions the SM meets for the first time takes cold_cycles more, a
 *     kernel's first one first_fetch_cycles,
 *   - the scoreboards it waits for have been released,
 *   - its pipe is free: each takes one instruction per interval. FP32 has two halves, and only one of them multiplies
 *     integers. Shared memory, special functions and the like go through a queue per sub-core (mio_queue), global
 *     memory through another (lg_queue); an instruction leaves its queue in order, when its unit takes it.
 * Registers lie in two banks that deliver an operand a cycle each; where operands come later than operand_slack, nothing issues.
 * Of the warps for which all this holds, the scheduler picks one a cycle. A product of 64 bits or its high half (IMAD.WIDE,
 * IMAD.HI) takes the dispatcher block_cycles longer: nothing issues meanwhile ("dispatch stall"), and stall counts stand still.
 *
 * What a memory instruction will find is worked out when it issues: each unit has a time from which it is free again
 * (the banks, L1's tags and data, the SM's port to L2, the SM's share of what L2 sends, of what its port takes to L2, of what
 * crosses between L2's halves, of the time that L2's slices have for atomics and of DRAM's bandwidth), and the result comes
 * when the last of them has served it, plus the latency of the level that answered.
 * Stores and atomics wait in a buffer (store_buffer_bytes; dram_buffer_bytes once L2 writes back); when it is full, what
 * follows them waits in the queues, and a warp that has ended stays until its last store has left them ("drain").
 *
 * Nothing happens in cycles in which no warp changes state: a sub-core knows its next one. */
#ifndef WT_WARP_MACHINE_H
#define WT_WARP_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/random.h"
#include "core/time.h"
#include "warp/classes.h"
#include "warp/warp.h"

typedef uint64_t wt_cycle;

enum {
    WT_STALL_WHEEL = 32,  /* more than a stall count */
    WT_WHEEL = 64,        /* cycles ahead that a wake-up is found by its cycle; later ones are searched */
    WT_MOST_SUBCORE_WARPS = 64,
    WT_MOST_QUEUE = 64,
    WT_MOST_GROUPS = 8, /* of copies, that a warp can tell apart */
    WT_LINE_INSTRUCTIONS = 8 /* 128 bytes of 16 */
};

/* A server that takes requests one after another. */
struct wt_channel {
    double free;   /* cycle from which it is free */
    double rate;   /* bytes per cycle: this epoch's share */
    double demand; /* bytes asked for in this epoch */
};

struct wt_block {
    uint64_t number;
    uint64_t age; /* of its blocks, the SM's how many-th */
    uint32_t kernel;
    uint16_t slot;
    uint16_t warps, alive, arrived; /* alive: have not exited; arrived: wait at the barrier */
    bool running;
    double work;
    uint64_t members[WT_MAX_SUBCORES]; /* its warps' slots, by sub-core */
    uint32_t *loop_counts;             /* of loops that the block draws once; owned */
};

/* An instruction with what this GPU makes of it. */
struct wt_step {
    uint8_t op, pipe, stall, wait_boards, write_board, read_board;
    bool yield, sometimes; /* sometimes: `active` below 1 */
    bool waits_behind;     /* a converge that waits for the warp's other threads */
    bool line_begins;
    bool blocks; /* holds up the dispatcher */
    uint8_t reads[2]; /* operands, by the registers' bank */
    uint16_t interval, latency;
    uint32_t line; /* into lines_ready */
    const struct wt_instruction *of;
    const struct wt_access *access;
    const struct wt_step *target;
};

struct wt_one_warp {
    const struct wt_step *next;
    wt_cycle wake;          /* when it is looked at again; WT_NEVER: when another warp says so */
    wt_cycle since;         /* its state holds since */
    wt_cycle resolved, fetched; /* after a branch */
    wt_cycle barrier_until; /* WT_NEVER: until the others arrive */
    wt_cycle blocked_from;  /* by the barrier */
    wt_cycle sleep_until, fence_until, await_until;
    wt_cycle copied;        /* all copies begun so far are there */
    wt_cycle groups[WT_MOST_GROUPS]; /* the latest of them, each group's, in turn */
    uint32_t group_count;
    bool aside; /* one of these times may lie ahead */
    bool leaving; /* has executed EXIT */
    float l1_due; /* lines that the next access to L1 misses, in part; 0: not drawn yet */
    wt_cycle boards[WT_SCOREBOARDS]; /* released from this cycle on */
    wt_cycle stores_until;  /* its stores have been acknowledged */
    wt_cycle drained;       /* its last store has left the queue */
    uint8_t long_boards;    /* bit mask: booked by L1TEX */
    uint8_t state;          /* enum wt_stall_reason */
    uint16_t number;        /* in its block */
    uint16_t block;         /* slot */
    uint32_t open_loops;    /* bit mask: `left` holds */
    uint32_t diverged;      /* bit mask, by split */
    double likeness;        /* what decides branches that neighbours take alike; negative: not drawn yet */
    uint32_t left[WT_MOST_LOOPS];
    struct wt_random random;
};

/* Instructions on their way to a unit, by the cycle in which they leave. */
struct wt_queue {
    wt_cycle leaves[WT_MOST_QUEUE];
    uint32_t entered;
    uint32_t depth;
    wt_cycle last; /* the latest leaving */
};

struct wt_subcore {
    wt_cycle now_counted; /* ready warps are accounted for up to here */
    wt_cycle next;        /* next cycle in which something may happen */
    uint64_t ready[WT_PIPE_COUNT]; /* warps that wait for nothing but this pipe and their turn */
    wt_cycle free[WT_PIPE_COUNT];
    uint32_t waiting_pipes; /* bit mask: ready[] is not 0 */
    wt_cycle blocked_until; /* the dispatcher issues nothing before */
    wt_cycle frozen; /* cycles for which stall counts have stood still */
    uint64_t stalls[WT_STALL_WHEEL]; /* warps by the cycle, less `frozen`, in which their stall count has run down */
    uint32_t stalls_used; /* bit mask of its cycles */
    uint64_t wheel[WT_WHEEL];
    uint64_t wheel_used; /* bit mask of the wheel's cycles */
    uint64_t far;        /* warps that wake later than the wheel reaches */
    wt_cycle far_next;
    wt_cycle halves[2]; /* FP32: light, heavy */
    wt_cycle operands[2]; /* by bank of the registers: all that were asked for have been read */
    double special_free, registers_free; /* special functions; special registers and constants */
    struct wt_queue mio, lg, barriers, special;
    uint64_t resident;
    wt_cycle active_since;
    wt_cycle issued_at; /* the last cycle in which something issued: `choice` is of then; WT_NEVER: none yet */
    struct wt_choice choice;
    uint64_t ages[WT_MOST_SUBCORE_WARPS];
    uint64_t ready_since[WT_MOST_SUBCORE_WARPS];
    struct wt_one_warp *warps;
};

/* A block that has been announced. */
struct wt_coming {
    wt_cycle start;
    double spacing; /* cycles from one warp to the next */
    uint16_t slot, first_subcore, begun;
};

struct wt_block_end {
    wt_cycle time;
    uint16_t slot;
};

struct wt_core {
    const struct wt_machine *machine;
    int index; /* the SM's number */
    struct wt_subcore subcores[WT_MAX_SUBCORES];
    struct wt_block blocks[WT_MAX_SLOTS];
    struct wt_coming coming[WT_MAX_SLOTS];
    int coming_count;
    wt_cycle coming_next;
    int pointer; /* sub-core that the next block's first warp goes to (sm/sm.h) */
    uint64_t arrivals; /* blocks that have come */
    int resident_blocks;
    wt_cycle active_since;
    struct wt_block_end ends[WT_MAX_SLOTS]; /* of this epoch */
    int end_count;
    double banks_free, tags_free, port_free, barrier_free;
    bool banks_stored;
    struct wt_channel l2, l2_in, dram; /* l2_in: stores and atomics */
    struct wt_channel fabric; /* what L2 takes in */
    struct wt_channel slices; /* of L2, for atomics: cycles of all that hold the words, in place of bytes */
    double stored, written; /* in this epoch: bytes of L2 that stores take for the first time, cost of writing back to DRAM */
    struct wt_warp_counters counters;
    bool reports_issues; /* to the observer */
    struct wt_watched *watched; /* the sub-core whose warps' states it wants; owned; NULL: none of this SM's */
    wt_cycle next_sample; /* WT_NEVER: none is wanted */
    wt_cycle *lines_ready; /* per kernel and line of instructions: fetched by then; 0: not asked for yet */
};

/* A sub-core whose warps' states are reported, and what they do in the present cycle. */
struct wt_watched {
    const struct wt_subcore *subcore;
    uint64_t present; /* slots with a span */
    struct wt_warp_span spans[WT_MOST_SUBCORE_WARPS];
};

/* What does not change during a run, in the form the SMs use. */
struct wt_machine {
    const struct wt_gpu *gpu;
    const struct wt_warp_setup *setup;
    const struct wt_scheduler *scheduler;
    int subcore_count, slots; /* warp slots of a sub-core */
    struct wt_step **steps; /* per kernel; behind the program's instructions stands an EXIT */
    size_t line_count;
    double spread;
    double dram_wait;   /* mean delay of an access to DRAM by what others have under way, cycles: of this epoch */
    bool writes_back;   /* L2 holds as much as it keeps from DRAM: what is stored now goes there */
    wt_cycle epoch;     /* after which bandwidth is shared anew */
    wt_time origin;     /* first start of a block: observers' times are from then on */
};

/* ---- core.c ---- */

/* Runs the SM up to, but not including, cycle `until`. */
void wt_core_run(struct wt_core *core, wt_cycle until);

/* The next cycle in which something may happen; WT_NEVER: nothing will. */
wt_cycle wt_core_next(const struct wt_core *core);

/* Credits every warp's present state up to `cycle`, so that the counters are complete. */
void wt_core_settle(struct wt_core *core, wt_cycle cycle);

/* sample.c: the same, telling the observer what it wants to know on the way. */
void wt_core_run_sampled(struct wt_core *core, wt_cycle until);

/* Looks at the warp again in `cycle`; it must not be in the sub-core's past. */
void wt_core_wake(struct wt_subcore *subcore, int slot, wt_cycle cycle);

/* ---- watch.c: for a watched sub-core ---- */

/* Before its present moves on to `now`: what its warps have done since they were last reported. */
void wt_watch_gap(struct wt_core *core, const struct wt_subcore *subcore, wt_cycle now);
/* Before the scheduler chooses in `now`, and after; slot -1: it issued nothing. */
void wt_watch_cycle(struct wt_core *core, const struct wt_subcore *subcore, wt_cycle now);
void wt_watch_chosen(struct wt_core *core, int slot);

/* ---- blocks.c ---- */

void wt_core_announce(struct wt_core *core, int slot, uint32_t kernel, uint64_t number, wt_cycle start);

/* Lets come the warps whose time has come. */
void wt_core_admit(struct wt_core *core, wt_cycle now);

/* The warp arrives at the barrier when the SM has taken it, in `taken`; the last one releases all. */
void wt_block_arrive(struct wt_core *core, struct wt_block *block, wt_cycle taken, wt_cycle now);

/* The warp in `slot` of `subcore` has executed its last instruction in `now`. */
void wt_block_leave(struct wt_core *core, struct wt_subcore *subcore, int slot, wt_cycle now);

/* ---- control.c ---- */

/* Whether the branch, or the EXIT, is taken. */
bool wt_control_taken(const struct wt_core *core, struct wt_one_warp *warp, const struct wt_instruction *i);

/* The program as steps for this GPU; lines are numbered from *line_count on, which is advanced. Owned by the caller. */
struct wt_step *wt_steps_make(const struct wt_program *program, const struct wt_gpu *gpu, size_t *line_count);

/* How often the loop runs, drawn from `random`. */
uint32_t wt_count_draw(const struct wt_count *count, double work, struct wt_random *random);

/* ---- memory.c ---- */

/* What a memory instruction that issues in `now` brings about: books units, queues and counters. Returns the cycle in
 * which its result is there; *read is when its operands have been read. */
wt_cycle wt_memory_access(struct wt_core *core, struct wt_subcore *subcore, struct wt_one_warp *warp,
                          const struct wt_access *access, wt_cycle now, wt_cycle *read);

/* The same for the queue to special units: `interval` is what the unit, free from *unit on, takes. Returns when the
 * instruction leaves the queue. */
wt_cycle wt_queue_pass(struct wt_queue *queue, double *unit, double interval, wt_cycle now);

/* From which cycle on the queue takes another instruction. */
static inline wt_cycle wt_queue_open(const struct wt_queue *queue)
{
    return queue->entered < queue->depth ? 0 : queue->leaves[(queue->entered - queue->depth) % WT_MOST_QUEUE];
}

#endif
