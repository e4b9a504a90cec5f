/* Inside study/whatif: an explanation of what was measured, and one simulation of a launch's shape under it. */
#ifndef WT_STUDY_WHATIF_RUN_H
#define WT_STUDY_WHATIF_RUN_H

#include "study/stays.h"
#include "study/whatif.h"

enum {
    WT_WHATIF_MOST = 96,   /* explanations that are looked at */
    WT_WHATIF_STEPS = 13,  /* saturations that are tried */
    WT_WHATIF_VARIANTS = 3 /* most simulations, where warps have works of their own or none are stated */
};

/* An SM that favours its oldest eight warps less than this favours nobody. */
#define WT_FAVOURED 0.08
/* And less than this one whose warps wait for each other or for memory: at barriers or where they diverge (0.1 to 0.35; arithmetic
 * alone 0.5 to 0.7). */
#define WT_WAITING 0.4

/* Works whose logarithms differ more than this (standard deviation) make the makespan a matter of when the longest blocks start:
 * repeated launches of such kernels differ by 3 to 11 %. */
#define WT_UNEQUAL 0.3

/* How DRAM slows down under load, where blocks with unequal works read here and there: chosen with 12 kernels of the first captures
 * (imbalance.txt), whose makespans in other sizes are 1.1 % off in the median with it and 3 % without; eight of the second 0.8 and 1.5.
 * L2 alone comes to its limit at once, but so far below what asks for it that this makes no difference. */
#define WT_CROWDING 0.4

/* From a block's start until it works, where works are stated and explain how long blocks took: before it knows what to do it waits for
 * memory, a load that no cache has. It shows where nobody else works meanwhile: single blocks of 512 and 768 threads on an SM need 600 to
 * 780 cycles more each than their works and replacements (r80, r128 of imbalance2.txt). */
#define WT_FIRST_LOAD_CYCLES 600

/* What there is not enough of. */
enum wt_whatif_mode { WT_MODE_SM, WT_MODE_GPU, WT_MODE_COUNT };

struct wt_explanation {
    enum wt_whatif_mode mode;
    struct wt_bound bound;
    double cache;  /* >= 1: so much more work where shared memory leaves less to the L1 cache than it did when measured */
    double scale;  /* work of a block in cycles at full speed / its part in the mode's `parts` */
    double distance; /* how far simulated ends are from the trace's, of the makespan; NAN: not simulated yet */
    double base;   /* simulated makespan of the measured launch, cycles */
    double spread; /* of such makespans, if several were simulated: variance, of the mean's square */
    double misfit; /* the less, the better it explains */
    double chance; /* standard deviation of the logarithm of blocks' works, from launch to launch */
};

struct wt_whatif {
    struct wt_gpu *gpu;
    struct wt_stays *stays;
    struct wt_occupancy occupancy; /* as measured */
    double *parts[WT_MODE_COUNT];  /* by block: its work against the others'; owned */
    double favour[WT_MODE_COUNT], saturation[WT_MODE_COUNT], distance[WT_MODE_COUNT]; /* nearest to the trace */
    struct wt_explanation by_memory[WT_WHATIF_STEPS]; /* of the whole GPU, by saturation, as simulated first */
    double most_saturation; /* of an SM: more would not let its shortest block be as short */
    bool unequal_sms; /* they did so different numbers of blocks that what they share must be the limit */
    double typical; /* saturation of an SM, where the trace tells nothing */
    double *ends;   /* measured ones, ascending; cycles; owned */
    bool chance;    /* blocks are so unequal that when the longest ones start decides */
    int variants;   /* simulations whose mean makespan counts: more than one only where it is up to chance */
    struct wt_explanation list[WT_WHATIF_MOST]; /* kept ones, the best first */
    int count;
    bool by_work; /* stated works, which are very unequal, explain how long each block took */
    uint32_t *drawn[WT_WHATIF_VARIANTS]; /* where `unit`: by variant and unit, the measured block whose stated work it has; owned */
    int unit; /* warps that have a work of their own, where these are fewer than a block's; 0: blocks have */
    double *chances; /* as many as blocks, from a normal distribution; NULL: there is no chance; owned */
    double trust; /* 0 to 1, where works explain: how far the measured makespan is trusted, one launch of many, against the simulated */
    bool simulated; /* there is no trace, so that nothing is unknown */
    bool fixed;   /* blocks take as long as measured, whatever runs beside them */
    bool cached;  /* the other traces may be slower for want of cache as well as for want of warps */
    int others;   /* traces besides the first */
    double least_warps, most_warps; /* per SM, of all traces */
};

struct wt_whatif_run {
    const struct wt_whatif *whatif;
    const struct wt_explanation *explanation;
    const struct wt_whatif_point *point;
    const struct wt_gpu *gpu;
    struct wt_launch_needs needs;
    struct wt_shape shape;
    uint64_t blocks;
    uint64_t *order;            /* NULL: as it is; owned by the caller */
    double *ends; /* cycles, as blocks end; NULL: not wanted; the caller's */
    uint64_t end_count;
    bool coarse;                /* an SM as a whole, whose sub-cores share their work: faster */
    int variant;                /* each starts its blocks so many cycles later that others come to lie side by side */
    double scale;               /* cycles at full speed of a block's warp / its part in the mode's `parts` */
    double makespan, queue_empty, warp_cycles; /* results */
    double spread; /* of the variants' makespans: variance, of the mean's square; that of the measured launch where there is one variant;
                      a result of wt_whatif_mean */
};

extern const struct wt_whatif_point wt_whatif_as_measured;

/* Fills whatif, point, gpu, needs, shape and blocks. */
enum wt_code wt_whatif_begin(struct wt_whatif_run *run, const struct wt_whatif *whatif, const struct wt_whatif_point *point,
                             struct wt_error *err);

/* How many simulations of a shape under each explanation, `least` to `most`: as many as take a tenth of a second together. The more, the
 * better their mean is known: to 2 % with 6, 1 % with 20. */
int wt_whatif_simulations(const struct wt_whatif *whatif, int least, int most);

/* Whose stated work each unit of warps has: the block's own where the unit is its first, otherwise any block's, by lot. Owned by the
 * caller. */
uint32_t *wt_whatif_draw(const struct wt_whatif *whatif, int variant);

/* The run's order of blocks under its explanation; NULL: as it is. Owned by the caller. */
uint64_t *wt_whatif_order(const struct wt_whatif_run *run);

enum wt_code wt_whatif_simulate(struct wt_whatif_run *run, struct wt_error *err);

/* The mean makespan of the variants, in *makespan; the rest is the last one's. */
enum wt_code wt_whatif_mean(struct wt_whatif_run *run, double *makespan, struct wt_error *err);

/* How an SM's throughput grows with its warps: what `warps` are served, as so many at full speed. */
double wt_bound_served(const struct wt_bound *bound, double warps);

/* The same where traces state very unequal works, and these explain how long blocks took; then `by_work` is set. Where these are the works
 * of a block's first warps alone, `unit` is (study/whatif_stated.c). */
enum wt_code wt_whatif_explain_stated(struct wt_whatif *whatif, struct wt_stays *const *others, size_t count, struct wt_error *err);

/* Reads the traces into explanations (study/whatif_fit.c). */
enum wt_code wt_whatif_explain(struct wt_whatif *whatif, struct wt_stays *const *others, size_t count, struct wt_error *err);

#endif
