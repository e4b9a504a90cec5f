/* Does an SM keep its books right, whatever comes and goes? Random histories against a slow model that
 * recounts everything from the list of resident blocks and a map of every shared-memory unit. */
#include <math.h>
#include <string.h>

#include "core/random.h"
#include "sm_limits.h"
#include "sm/occupancy.h"
#include "sm/sm.h"
#include "suites.h"

enum { SHAPES = 24, STEPS = 4000, CELLS = 233472 / 128, FREE = -1 };

struct model {
    const struct wt_limits *limits;
    struct {
        const struct wt_shape *shape; /* NULL: the slot is free */
        int pointer;
    } block[WT_MAX_SLOTS];
    int pointer, carveout_kb;
    signed char owner[CELLS]; /* slot that holds the unit of shared memory, or FREE */
};

struct use {
    int blocks, barriers, all_warps, all_registers, free_cells;
    int warps[WT_MAX_SUBCORES], registers[WT_MAX_SUBCORES];
};

static int cells_of(const struct model *model)
{
    return model->carveout_kb * 1024 / model->limits->shared_unit_bytes;
}

static void add_block(struct use *use, const struct model *model, const struct wt_shape *shape, int pointer)
{
    use->blocks++;
    use->barriers += shape->barriers;
    for (int w = 0; w < shape->warps; w++) {
        int subcore = (pointer + w) % model->limits->subcores;
        int registers = shape->register_units_per_warp * model->limits->register_unit;
        use->warps[subcore]++;
        use->all_warps++;
        use->registers[subcore] += registers;
        use->all_registers += registers;
    }
}

static struct use recount(const struct model *model)
{
    struct use use = {0};
    for (int i = 0; i < WT_MAX_SLOTS; i++)
        if (model->block[i].shape)
            add_block(&use, model, model->block[i].shape, model->block[i].pointer);
    for (int c = 0; c < cells_of(model); c++)
        use.free_cells += model->owner[c] == FREE;
    return use;
}

/* Free units from `start` on, around the end; at most `most`. */
static int run_from(const struct model *model, int start, int most)
{
    int cells = cells_of(model), run = 0;
    while (run < most && run < cells && model->owner[(start + run) % cells] == FREE)
        run++;
    return run;
}

/* The hole around unit 0 from its beginning, which may lie near the end; else the lowest hole. */
static int first_fit(const struct model *model, int units)
{
    int cells = cells_of(model), origin = 0;
    while (origin > -cells && model->owner[0] == FREE && model->owner[(origin - 1 + cells) % cells] == FREE)
        origin--;
    origin = (origin + cells) % cells;
    if (model->owner[0] == FREE && run_from(model, origin, units) == units)
        return origin;
    for (int start = 0; start < cells; start++)
        if (run_from(model, start, units) == units)
            return start;
    return -1;
}

/* The reason against one more block, strongest first; WT_RES_COUNT = none. */
static struct wt_refusal expected_refusal(const struct model *model, const struct wt_shape *shape)
{
    const struct wt_limits *l = model->limits;
    struct use now = recount(model), then = now;
    add_block(&then, model, shape, model->pointer);
    int units = shape->shared_bytes / l->shared_unit_bytes;
    const struct {
        bool refused;
        struct wt_refusal why;
    } total[] = {
        {model->carveout_kb < shape->carveout_kb, {WT_RES_SHARED_MEMORY, WT_SHORT_CARVEOUT, -1}},
        {then.blocks > l->blocks_per_sm, {WT_RES_BLOCKS, WT_SHORT_TOTAL, -1}},
        {then.all_warps > l->warps_per_sm, {WT_RES_WARPS, WT_SHORT_TOTAL, -1}},
        {then.all_registers > l->registers_per_sm, {WT_RES_REGISTERS, WT_SHORT_TOTAL, -1}},
        {units > now.free_cells, {WT_RES_SHARED_MEMORY, WT_SHORT_TOTAL, -1}},
        {l->barriers_per_sm && then.barriers > l->barriers_per_sm, {WT_RES_BARRIERS, WT_SHORT_TOTAL, -1}},
    };
    for (size_t i = 0; i < sizeof total / sizeof *total; i++)
        if (total[i].refused)
            return total[i].why;
    for (int s = 0; s < l->subcores; s++)
        if (then.warps[s] > l->warps_per_sm / l->subcores)
            return (struct wt_refusal){WT_RES_WARPS, WT_SHORT_SUBCORE, s};
    for (int s = 0; s < l->subcores; s++)
        if (then.registers[s] > l->registers_per_sm / l->subcores)
            return (struct wt_refusal){WT_RES_REGISTERS, WT_SHORT_SUBCORE, s};
    if (units && first_fit(model, units) < 0)
        return (struct wt_refusal){WT_RES_SHARED_MEMORY, WT_SHORT_FRAGMENTED, -1};
    return (struct wt_refusal){.resource = WT_RES_COUNT};
}

/* An empty SM takes the kernel's configuration. */
static void reconfigure(struct model *model, const struct wt_shape *shape)
{
    if (recount(model).blocks == 0)
        model->carveout_kb = shape->carveout_kb;
}

static void place(struct model *model, const struct wt_shape *shape, int slot)
{
    int units = shape->shared_bytes / model->limits->shared_unit_bytes;
    int start = units ? first_fit(model, units) : 0;
    for (int i = 0; i < units; i++)
        model->owner[(start + i) % cells_of(model)] = (signed char)slot;
    model->block[slot].shape = shape;
    model->block[slot].pointer = model->pointer;
    int step = shape->warps % model->limits->subcores;
    model->pointer = (model->pointer + (step ? step : 1)) % model->limits->subcores;
}

static void clear(struct model *model, int slot)
{
    for (int c = 0; c < CELLS; c++)
        if (model->owner[c] == slot)
            model->owner[c] = FREE;
    model->block[slot].shape = NULL;
}

static void expect_same_refusal(const struct wt_sm *sm, const struct wt_shape *shape,
                                struct wt_refusal expected)
{
    struct wt_refusal refusal;
    ck_assert(wt_sm_refusal(sm, shape, &refusal));
    ck_assert_int_eq(refusal.shortage, expected.shortage);
    ck_assert_int_eq(refusal.resource, expected.resource);
    ck_assert_int_eq(refusal.subcore, expected.subcore);
    ck_assert_int_gt(refusal.wanted, refusal.available);
}

static void expect_same_range(const struct wt_sm *sm, const struct model *model, int slot)
{
    int offset = -1, bytes = -1, unit = model->limits->shared_unit_bytes;
    ck_assert(wt_sm_shared_range(sm, slot, &offset, &bytes));
    int wrong = 0;
    for (int i = 0; i < bytes / unit; i++)
        wrong += model->owner[(offset / unit + i) % cells_of(model)] != slot;
    ck_assert_int_eq(wrong, 0);
}

static int largest_run(const struct model *model, bool empty)
{
    int cells = cells_of(model), largest = empty ? cells : 0;
    for (int start = 0; start < cells; start++) {
        if (model->owner[(start + cells - 1) % cells] == FREE)
            continue;
        int run = run_from(model, start, cells);
        largest = run > largest ? run : largest;
    }
    return largest;
}

static bool same_subcores(const struct wt_sm *sm, const struct model *model, const struct use *use)
{
    const struct wt_limits *l = model->limits;
    bool same = wt_sm_subcore_pointer(sm) == model->pointer;
    for (int s = 0; s < l->subcores; s++)
        same = same && wt_sm_free_warp_slots(sm, s) == l->warps_per_sm / l->subcores - use->warps[s] &&
               wt_sm_free_registers(sm, s) == l->registers_per_sm / l->subcores - use->registers[s];
    return same;
}

static bool same_shared(const struct wt_sm *sm, const struct model *model, const struct use *use)
{
    int unit = model->limits->shared_unit_bytes;
    struct wt_shared_use shared = wt_sm_shared_use(sm);
    double largest = largest_run(model, use->free_cells == cells_of(model));
    double fragmentation = use->free_cells ? 1.0 - largest / use->free_cells : 0;
    return wt_sm_carveout_kb(sm) == model->carveout_kb && shared.total_bytes == model->carveout_kb * 1024 &&
           shared.free_bytes == use->free_cells * unit && shared.largest_hole_bytes == (int)largest * unit &&
           fabs(shared.fragmentation - fragmentation) < 1e-12;
}

/* One assertion for all: Check's are slow. */
static void expect_same_state(const struct wt_sm *sm, const struct model *model)
{
    struct use use = recount(model);
    bool blocks = wt_sm_resident_blocks(sm) == use.blocks && wt_sm_resident_warps(sm) == use.all_warps;
    bool subcores = same_subcores(sm, model, &use), shared = same_shared(sm, model, &use);
    if (!blocks || !subcores || !shared)
        ck_abort_msg("%d blocks; right: blocks %d, sub-cores %d, shared memory %d", use.blocks, blocks,
                     subcores, shared);
}

static void random_shapes(struct wt_shape *shapes, const struct wt_limits *limits, struct wt_random *random)
{
    static const int warps[] = {1, 2, 3, 4, 5, 7, 8, 16};
    for (int i = 0; i < SHAPES;) {
        struct wt_launch_needs needs = {
            .threads = 32 * warps[wt_random_below(random, 8)],
            .registers_per_thread = wt_random_below(random, 3) ? 16 : (int)wt_random_below(random, 256),
            .dynamic_shared_bytes = (int)(wt_random_below(random, 3) * wt_random_below(random, 24000)),
            .carveout_kb = limits->carveout_count && wt_random_below(random, 8) ? 228 : WT_CARVEOUT_DEFAULT,
            .barriers = (int)wt_random_below(random, 9),
        };
        i += wt_shape_make(limits, &needs, &shapes[i], NULL) == WT_OK;
    }
}

/* One attempt to bring a block in. The SM is left as it was when the answer is no. */
static void try_admit(struct wt_sm *sm, struct model *model, const struct wt_shape *shape)
{
    struct model trial = *model;
    reconfigure(&trial, shape);
    struct wt_refusal expected = expected_refusal(&trial, shape), refusal;
    if (expected.resource != WT_RES_COUNT) {
        expect_same_refusal(sm, shape, expected);
        ck_assert_int_eq(wt_sm_room(sm, shape), 0);
        ck_assert_int_eq(wt_sm_admit(sm, shape), -1);
        return;
    }
    ck_assert(!wt_sm_refusal(sm, shape, &refusal));
    ck_assert_int_ge(wt_sm_room(sm, shape), 1);
    int slot = wt_sm_admit(sm, shape), lowest = 0;
    while (model->block[lowest].shape)
        lowest++;
    ck_assert_int_eq(slot, lowest);
    *model = trial;
    place(model, shape, slot);
    expect_same_range(sm, model, slot);
}

static void release_one(struct wt_sm *sm, struct model *model, struct wt_random *random)
{
    int blocks = recount(model).blocks;
    if (blocks == 0)
        return;
    int nth = (int)wt_random_below(random, (uint32_t)blocks), slot = -1;
    while (nth >= 0)
        nth -= model->block[++slot].shape != NULL;
    wt_sm_release(sm, slot);
    clear(model, slot);
}

/* Long stretches with one shape, as kernels have; the share of releases moves between filling and draining.
 */
static void random_history(const struct wt_limits *limits, uint64_t seed)
{
    struct wt_random random = wt_random_stream(seed, "sm-history", 0);
    static struct wt_shape shapes[SHAPES];
    random_shapes(shapes, limits, &random);
    struct wt_sm *sm = wt_sm_new(limits);
    static struct model model;
    model = (struct model){.limits = limits, .carveout_kb = wt_sm_carveout_kb(sm)};
    memset(model.owner, FREE, sizeof model.owner);
    const struct wt_shape *shape = shapes;
    uint32_t release_share = 40;
    for (int step = 0; step < STEPS; step++) {
        if (wt_random_below(&random, 6) == 0)
            shape = &shapes[wt_random_below(&random, SHAPES)];
        if (step % 100 == 0)
            release_share = 30 + wt_random_below(&random, 40);
        if (wt_random_below(&random, 100) < release_share)
            release_one(sm, &model, &random);
        else
            try_admit(sm, &model, shape);
        expect_same_state(sm, &model);
    }
    wt_sm_free(sm);
}

START_TEST(random_histories_agree_with_a_recount)
{
    random_history(&limits_cc90, (uint64_t)_i);
    random_history(&limits_cc60, (uint64_t)_i);
}
END_TEST

START_TEST(room_is_what_can_be_admitted)
{
    struct wt_random random = wt_random_stream((uint64_t)_i, "sm-room", 0);
    struct wt_shape shapes[SHAPES];
    random_shapes(shapes, &limits_cc90, &random);
    struct wt_sm *sm = wt_sm_new(&limits_cc90);
    for (int step = 0; step < 300; step++) {
        const struct wt_shape *shape = &shapes[wt_random_below(&random, SHAPES)];
        int room = wt_sm_room(sm, shape), slots[WT_MAX_SLOTS], admitted = 0;
        while ((slots[admitted] = wt_sm_admit(sm, shape)) >= 0)
            admitted++;
        ck_assert_int_eq(room, admitted);
        for (int i = 0; i < admitted; i++)
            if (wt_random_below(&random, 4))
                wt_sm_release(sm, slots[i]);
        if (step % 20 == 0) {
            wt_sm_free(sm);
            sm = wt_sm_new(&limits_cc90);
        }
    }
    wt_sm_free(sm);
}
END_TEST

/* An SM filled with one kernel holds what the occupancy arithmetic says, wherever its pointer stands. */
START_TEST(an_empty_sm_holds_the_occupancy)
{
    struct wt_random random = wt_random_stream(7, "sm-occupancy", 0);
    for (int i = 0; i < 20000; i++) {
        const struct wt_limits *limits = i % 2 ? &limits_cc90 : &limits_cc60;
        struct wt_launch_needs needs = {
            .threads = 1 + (int)wt_random_below(&random, 1024),
            .registers_per_thread = (int)wt_random_below(&random, 256),
            .dynamic_shared_bytes = (int)(wt_random_below(&random, 2) * wt_random_below(&random, 100000)),
            .carveout_kb = WT_CARVEOUT_DEFAULT,
            .barriers = (int)wt_random_below(&random, 17),
        };
        struct wt_occupancy occupancy;
        struct wt_shape shape;
        enum wt_code code = wt_occupancy(limits, &needs, &occupancy, NULL);
        ck_assert_int_eq(code == WT_OK, occupancy.blocks_per_sm > 0);
        if (code != WT_OK)
            continue;
        wt_shape_make(limits, &needs, &shape, NULL);
        struct wt_sm *sm = wt_sm_new(limits);
        wt_sm_set_subcore_pointer(sm, i / 2 % limits->subcores);
        ck_assert_int_eq(wt_sm_room(sm, &shape), occupancy.blocks_per_sm);
        wt_sm_free(sm);
    }
}
END_TEST

Suite *sm_random_suite(void)
{
    Suite *suite = suite_create("sm_random");
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, random_histories_agree_with_a_recount, 0, 4);
    tcase_add_loop_test(tcase, room_is_what_can_be_admitted, 0, 4);
    tcase_add_test(tcase, an_empty_sm_holds_the_occupancy);
    suite_add_tcase(suite, tcase);
    return suite;
}
